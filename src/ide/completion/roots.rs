//! Root keys of a data file: parameters of classes and keys of other levels that the file lacks.

use indexmap::IndexSet;

use super::context::CompletionContext;
use super::item::{ItemKind, Items};
use super::shape::ValueShape;
use super::{keys, parameters};
use crate::hiera::config::Layer;
use crate::hiera::data::DataFile;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::manifest::model::Parameter;
use crate::workspace::index::key_prefix;
use crate::workspace::manifests::split_key;

/// The most keys of the file whose classes and prefixes decide which keys are likely in it.
const MAX_NEIGHBOURS: usize = 500;

/// Adds the root keys that fit, those of the classes and prefixes in the file first.
pub(super) fn complete(ctx: &CompletionContext<'_>, items: &mut Items) {
    let Some(data) = ctx.snapshot.view(ctx.environment).data_of(&ctx.file.path) else { return };
    let prefix = ctx.place.typed_content();
    let namespace = module_namespace(ctx);
    let own = own_key(ctx);
    let is_lacking = |key: &str| {
        let is_here = data.get(key).is_some() && key != own;
        let is_reached = namespace.as_deref().is_none_or(|namespace| key.starts_with(namespace));
        !is_here && is_reached
    };
    let is_wanted = |key: &str| key.starts_with(prefix) && is_lacking(key);
    let index = ctx.snapshot.manifests(ctx.environment);
    let (classes, prefixes) = neighbor_names(&data, prefix);
    let parameter =
        |key: &str, parameter: &Parameter| parameters::parameter_item(ctx, key, parameter);
    for class in classes.iter().filter_map(|class| index.loaded_class(class)) {
        parameters::of_class(class.definition, &is_wanted, items, &parameter);
    }
    for near in &prefixes {
        let in_both = if near.starts_with(prefix) { near } else { prefix };
        for key in ctx.snapshot.keys().keys_with_prefix(in_both) {
            if items.is_full() || ctx.snapshot.cancel_token().is_cancelled() {
                return items.note_cut();
            }
            if !items.has_label(key)
                && let Some(item) = is_wanted(key).then(|| keys::key_item(ctx, key)).flatten()
            {
                items.push(item);
            }
        }
    }
    options_key(ctx, &data, prefix, items);
    parameters::of_all(
        ctx,
        &|class: &str| parameters::may_have_parameter(class, prefix),
        &is_wanted,
        items,
        &parameter,
    );
    // Keys that contain the typed text, but do not begin with it, come last.
    keys::with_prefix(ctx, prefix, items, &is_lacking, &|key| keys::key_item(ctx, key));
    if !prefix.is_empty() {
        parameters::of_all(
            ctx,
            &|class| class.contains(prefix),
            &|key: &str| key.contains(prefix) && is_lacking(key),
            items,
            &parameter,
        );
    }
}

/// Returns the beginning of the keys that a module's data is asked for; `None` for other data.
fn module_namespace(ctx: &CompletionContext<'_>) -> Option<String> {
    match ctx.environment.layer_of(&ctx.file.path)? {
        Layer::Module(module) => Some(format!("{module}::")),
        Layer::Global | Layer::Environment => None,
    }
}

/// Returns the whole key that the cursor is in.
fn own_key(ctx: &CompletionContext<'_>) -> String {
    let behind = &ctx.place.behind;
    let end =
        behind.find(|c: char| !(c.is_alphanumeric() || "_-.:".contains(c))).unwrap_or(behind.len());
    format!("{}{}", ctx.place.typed_content(), behind[..end].trim_end_matches(':'))
}

/// Returns the classes and the prefixes of the keys in a file, as far as they agree with the text
/// before the cursor, whose own class comes first.
fn neighbor_names<'d>(
    data: &'d DataFile,
    typed: &'d str,
) -> (IndexSet<&'d str>, IndexSet<&'d str>) {
    let of_typed = typed.rsplit_once("::").map(|(class, _)| class);
    let of_keys = data
        .keys()
        .filter_map(|key| key.as_str())
        .take(MAX_NEIGHBOURS)
        .filter_map(|key| split_key(key))
        .map(|(class, _)| class);
    let classes = of_typed.into_iter().chain(of_keys);
    let prefixes =
        data.keys().filter_map(|key| key.as_str()).take(MAX_NEIGHBOURS).filter_map(key_prefix);
    (
        classes.filter(|text| may_continue(text, typed)).collect(),
        prefixes.filter(|text| may_continue(text, typed)).collect(),
    )
}

fn may_continue(text: &str, typed: &str) -> bool {
    text.starts_with(typed) || typed.starts_with(text)
}

/// Adds `lookup_options` where the file has none.
fn options_key(ctx: &CompletionContext<'_>, data: &DataFile, prefix: &str, items: &mut Items) {
    if LOOKUP_OPTIONS.starts_with(prefix) && data.get(LOOKUP_OPTIONS).is_none() {
        let item = ctx.key_item(ItemKind::Keyword, LOOKUP_OPTIONS, &ValueShape::Hash);
        items.push(item.with_detail("how keys are merged and converted"));
    }
}
