//! Keys that data defines, in the order of their names.

use super::context::{CompletionContext, short_type};
use super::item::{Item, ItemKind, Items, Topic};
use super::shape::ValueShape;
use crate::hiera::lookup::LOOKUP_OPTIONS;

/// The most keys that are searched for a text within them, where few begin with it.
const MAX_SEARCHED: usize = 10_000;

/// Adds the keys that data of the environment defines and that begin with `prefix`, then those that
/// contain it. `is_wanted` is asked first, as it must be cheap. `item` makes the item of a key;
/// `None` leaves it out.
pub(super) fn with_prefix(
    ctx: &CompletionContext<'_>,
    prefix: &str,
    items: &mut Items,
    is_wanted: &dyn Fn(&str) -> bool,
    item: &dyn Fn(&str) -> Option<Item>,
) {
    let index = ctx.snapshot.keys();
    let view = ctx.snapshot.view(ctx.environment);
    let offer = |key: &str, items: &mut Items| {
        if is_wanted(key)
            && key != LOOKUP_OPTIONS
            && !items.has_label(key)
            && view.is_defined(key)
            && let Some(item) = item(key)
        {
            items.push(item);
        }
    };
    for key in index.keys_with_prefix(prefix) {
        if items.is_full() || ctx.snapshot.cancel_token().is_cancelled() {
            return items.note_cut();
        }
        offer(key, items);
    }
    if prefix.is_empty() {
        return;
    }
    if index.key_count() > MAX_SEARCHED {
        items.note_cut();
    }
    for key in index
        .keys()
        .take(MAX_SEARCHED)
        .filter(|key| !key.starts_with(prefix) && key.contains(prefix))
    {
        if items.is_full() {
            return items.note_cut();
        }
        offer(key, items);
    }
}

/// Returns the item that inserts a key of other files, with the type of its parameter; `None` for a
/// key that no other file has.
pub(super) fn key_item(ctx: &CompletionContext<'_>, key: &str) -> Option<Item> {
    let member = ctx.first_other(key)?;
    let data_type = ctx.type_of(key);
    let parameter = ctx.snapshot.manifests(ctx.environment).asking_parameter(key);
    let default = parameter.filter(|_| ctx.may_show(key));
    let default = default.and_then(|found| found.parameter.value.as_ref());
    let shape = match ValueShape::of_type(data_type.as_deref(), default) {
        ValueShape::Unknown => ValueShape::of_value(&member.value),
        known => known,
    };
    let mut item = ctx.key_item(ItemKind::Key, key, &shape);
    let written = parameter.and_then(|found| found.parameter.data_type.as_ref());
    item.detail = written.map(|excerpt| short_type(&excerpt.text));
    item.topic = Some(Topic::Key(key.to_owned()));
    Some(item)
}
