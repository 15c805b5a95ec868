//! Functions that can be a level's backend: Puppet's own, and those of the environment and its
//! modules whose declarations accept Puppet's arguments for a backend.

use super::context::CompletionContext;
use super::item::{Item, ItemKind, Items};
use super::options::complete_values;
use crate::hiera::config::BackendKind;
use crate::hiera::config::formats::BUILT_INS;
use crate::manifest::model::FunctionSignature;
use crate::text::FilePath;
use crate::workspace::queries::functions::FunctionSource;

/// The folders of a module's functions.
const FOLDERS: [&str; 2] = ["lib/puppet/functions", "functions"];

/// Adds the functions for a kind of backend, by its name in a level.
pub(super) fn complete(ctx: &CompletionContext<'_>, kind: &str, items: &mut Items) {
    let arguments = if kind == BackendKind::DataHash.key() { 2 } else { 3 };
    let own = BUILT_INS.iter().filter(|own| own.kind.key() == kind);
    let words = own.map(|own| (own.name, own.reads));
    complete_values(ctx, ItemKind::Function, words, items);
    let modules = ctx.environment.modules.values().map(|module| &module.root);
    for root in std::iter::once(&ctx.environment.root).chain(modules) {
        for folder in FOLDERS {
            let folder = format!("{root}/{folder}/");
            for path in ctx.snapshot.paths_starting_with(&folder) {
                if ctx.snapshot.cancel_token().is_cancelled() {
                    return items.note_cut();
                }
                items_of(ctx, path, arguments, items);
            }
        }
    }
}

/// Adds the function that a file defines, if Puppet finds it there and it takes so many arguments,
/// with the lookup's context as the last one.
fn items_of(ctx: &CompletionContext<'_>, path: &FilePath, arguments: usize, items: &mut Items) {
    let Some(function) = ctx.snapshot.declared_function(path) else { return };
    let source = FunctionSource::File(path.clone());
    if function.signatures.iter().flatten().any(|one| is_backend_function(one, arguments))
        && ctx.snapshot.function_source(ctx.environment, &function.name) == source
    {
        let item: Item = ctx.value_item(ItemKind::Function, &function.name, Some(&function.name));
        items.push(item.with_detail(ctx.file_name(path)));
    }
}

fn is_backend_function(one: &FunctionSignature, arguments: usize) -> bool {
    let last = one.parameters.last().and_then(|last| last.data_type.as_deref());
    one.parameters.len() == arguments
        && last.is_some_and(|last| last.trim().ends_with("LookupContext"))
}
