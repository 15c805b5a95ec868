//! `lookup_options`: the keys and patterns that get options, the options, the strategies and the
//! types to convert to.

use super::context::CompletionContext;
use super::item::{Item, ItemKind, Items};
use super::place::{CursorStep, Spot};
use super::shape::ValueShape;
use super::{keys, parameters};

/// A word of a format, with its shape and its meaning.
pub(super) type Word = (&'static str, Form, &'static str);

/// The form of the value behind a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Flag,
    List,
    Hash,
}

impl Form {
    pub(super) fn value_shape(self) -> ValueShape {
        match self {
            Form::Text => ValueShape::Unknown,
            Form::Flag => ValueShape::OneOf(vec!["true".to_owned(), "false".to_owned()]),
            Form::List => ValueShape::List,
            Form::Hash => ValueShape::Hash,
        }
    }
}

const OPTIONS: [Word; 2] = [
    ("merge", Form::Text, "how the values of several levels become one"),
    ("convert_to", Form::Text, "the type that the value is converted to"),
];
const MERGE: [Word; 4] = [
    ("strategy", Form::Text, "the merge strategy"),
    ("knockout_prefix", Form::Text, "the prefix of texts that remove an element or a member"),
    ("sort_merged_arrays", Form::Flag, "whether merged lists are sorted"),
    ("merge_hash_arrays", Form::Flag, "whether lists of hashes are merged position by position"),
];
const STRATEGIES: [(&str, &str); 4] = [
    ("first", "the value of the highest level"),
    ("unique", "all elements of lists, without duplicates"),
    ("hash", "hashes merged by their keys, not recursively"),
    ("deep", "hashes merged recursively, lists united"),
];
const TYPES: [&str; 10] = [
    "Sensitive",
    "Integer",
    "Float",
    "Numeric",
    "Boolean",
    "String",
    "Array",
    "Hash",
    "Timespan",
    "SemVer",
];

/// Adds the words that fit below `lookup_options`.
pub(super) fn complete(ctx: &CompletionContext<'_>, items: &mut Items) {
    let place = ctx.place;
    let keys = place.key_names();
    match (&keys[1..], place.spot) {
        ([], Spot::Key) => complete_entries(ctx, items),
        ([_], Spot::Key) => complete_words(ctx, &OPTIONS, items),
        ([_, "merge"], Spot::Key) => {
            complete_words(ctx, &MERGE, items);
            if place.others.is_empty() {
                complete_strategies(ctx, items);
            }
        }
        ([_, "merge"], _) | ([_, "merge", "strategy"], _) => complete_strategies(ctx, items),
        ([_, "merge", "sort_merged_arrays" | "merge_hash_arrays"], _) => {
            complete_values(ctx, ItemKind::Value, [("true", ""), ("false", "")].into_iter(), items)
        }
        ([_, "convert_to"], _) => convert_to(ctx, items),
        _ => {}
    }
}

/// Adds the words that a hash can have and lacks.
pub(super) fn complete_words(ctx: &CompletionContext<'_>, words: &[Word], items: &mut Items) {
    for (word, form, meaning) in words {
        if !ctx.place.others.iter().any(|other| other == word) {
            items.push(
                ctx.key_item(ItemKind::Keyword, word, &form.value_shape()).with_detail(*meaning),
            );
        }
    }
}

/// Adds values with their meaning.
pub(super) fn complete_values<'w>(
    ctx: &CompletionContext<'_>,
    kind: ItemKind,
    words: impl Iterator<Item = (&'w str, &'w str)>,
    items: &mut Items,
) {
    for (word, meaning) in words {
        let string = !matches!(word, "true" | "false");
        let item = ctx.value_item(kind, word, string.then_some(word));
        items.push(item.with_detail(meaning));
    }
}

fn complete_strategies(ctx: &CompletionContext<'_>, items: &mut Items) {
    complete_values(ctx, ItemKind::EnumMember, STRATEGIES.into_iter(), items);
}

/// Adds types; the first element of a list is the type, others are its arguments.
fn convert_to(ctx: &CompletionContext<'_>, items: &mut Items) {
    if !matches!(ctx.place.path.last(), Some(CursorStep::Item(1..))) {
        complete_values(ctx, ItemKind::EnumMember, TYPES.into_iter().map(|name| (name, "")), items);
    }
}

/// Adds the keys that can get options, then patterns of the modules of these keys.
fn complete_entries(ctx: &CompletionContext<'_>, items: &mut Items) {
    let (place, prefix) = (ctx.place, ctx.place.typed_content());
    if !prefix.starts_with('^') {
        keys::with_prefix(ctx, prefix, items, &|_| true, &|key: &str| {
            is_key_wanted(key, prefix, &place.others).then(|| entry_item(ctx, key))
        });
        parameters::of_all(
            ctx,
            &|class: &str| parameters::may_have_parameter(class, prefix),
            &|key| is_key_wanted(key, prefix, &place.others),
            items,
            &|key, _| entry_item(ctx, key),
        );
    }
    let index = ctx.snapshot.manifests(ctx.environment);
    for module in index.modules().by_name.keys() {
        let pattern = format!("^{module}::");
        if is_key_wanted(&pattern, prefix, &place.others) {
            items.push(entry_item(ctx, &pattern).with_detail("all keys of the module"));
        }
    }
}

fn is_key_wanted(key: &str, prefix: &str, others: &[String]) -> bool {
    key.starts_with(prefix) && !others.iter().any(|other| other == key)
}

fn entry_item(ctx: &CompletionContext<'_>, key: &str) -> Item {
    ctx.key_item(ItemKind::Key, key, &ValueShape::Hash)
}
