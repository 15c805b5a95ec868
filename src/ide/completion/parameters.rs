//! Keys of class parameters: a file that lacks one can set it.

use std::collections::HashMap;
use std::sync::Arc;

use super::context::{CompletionContext, short_type};
use super::item::{Item, ItemKind, Items, Topic};
use super::shape::ValueShape;
use crate::manifest::model::{Definition, DefinitionKind, Parameter};
use crate::puppet::types;
use crate::workspace::manifests::{CodeFile, ManifestIndex};

/// Makes the item of a parameter with this key.
pub(super) type MakeItem<'a> = &'a dyn Fn(&str, &Parameter) -> Item;

/// Adds the parameters of a class whose keys are wanted, required ones first.
pub(super) fn of_class(
    class: &Definition,
    is_wanted: &dyn Fn(&str) -> bool,
    items: &mut Items,
    item: MakeItem<'_>,
) {
    let (required, optional): (Vec<&Parameter>, Vec<&Parameter>) =
        class.parameters.iter().partition(|parameter| parameter.default.is_none());
    for parameter in required.into_iter().chain(optional) {
        let key = format!("{}::{}", class.name, parameter.name);
        if is_wanted(&key) && !items.has_label(&key) {
            items.push(item(&key, parameter).with_detail(parameter_detail(parameter)));
        }
    }
}

/// Adds the parameters of all classes whose keys are wanted: those of the site's own modules first.
/// `may_match` quickly rules out most classes by their names.
pub(super) fn of_all(
    ctx: &CompletionContext<'_>,
    may_match: &dyn Fn(&str) -> bool,
    is_wanted: &dyn Fn(&str) -> bool,
    items: &mut Items,
    item: MakeItem<'_>,
) {
    let index = ctx.snapshot.manifests(ctx.environment);
    let mut installed: Vec<&Definition> = Vec::new();
    let mut is_installed: HashMap<Arc<str>, bool> = HashMap::new();
    for file in index.files() {
        if items.is_full() || ctx.snapshot.cancel_token().is_cancelled() {
            return items.note_cut();
        }
        for class in declared_classes(file).filter(|class| may_match(&class.name)) {
            if !is_loaded(index, file, class) {
                continue;
            }
            let module = file.place.module_name().cloned().unwrap_or_default();
            if *is_installed
                .entry(module)
                .or_insert_with(|| ctx.snapshot.is_third_party(ctx.environment, &file.path))
            {
                installed.push(class);
            } else {
                of_class(class, is_wanted, items, item);
            }
        }
    }
    for class in installed {
        if items.is_full() {
            return items.note_cut();
        }
        of_class(class, is_wanted, items, item);
    }
}

/// Whether a class may have a parameter whose key begins with a text.
pub(super) fn may_have_parameter(class: &str, prefix: &str) -> bool {
    class.starts_with(prefix) || prefix.starts_with(class)
}

fn declared_classes(file: &CodeFile) -> impl Iterator<Item = &Definition> {
    file.manifest.definitions.iter().filter(|one| one.kind == DefinitionKind::Class)
}

/// Whether Puppet loads this class of its name, and no other.
fn is_loaded(index: &ManifestIndex, file: &CodeFile, class: &Definition) -> bool {
    index.loaded_class(&class.name).is_some_and(|found| found.file.path == file.path)
}

/// Returns the item that inserts the key of a parameter, with the beginning of its value.
pub(super) fn parameter_item(
    ctx: &CompletionContext<'_>,
    key: &str,
    parameter: &Parameter,
) -> Item {
    let index = ctx.snapshot.manifests(ctx.environment);
    let text = parameter.data_type.as_ref().map(|excerpt| excerpt.text.as_str());
    let data_type = text
        .and_then(|text| index.judged_type(text).or_else(|| types::parse(text).ok().map(Arc::new)));
    let default = parameter.value.as_ref().filter(|_| ctx.may_show(key));
    let shape = ValueShape::of_type(data_type.as_deref(), default);
    let mut item = ctx.key_item(ItemKind::Parameter, key, &shape);
    item.topic = Some(Topic::Key(key.to_owned()));
    item
}

/// Returns the type of a parameter, and whether the parameter is required.
fn parameter_detail(parameter: &Parameter) -> String {
    let data_type = parameter.data_type.as_ref().map_or("Any", |excerpt| &excerpt.text);
    let required = if parameter.default.is_none() { ", required" } else { "" };
    format!("{}{required}", short_type(data_type))
}
