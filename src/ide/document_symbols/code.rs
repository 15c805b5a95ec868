//! The outline of a manifest: its definitions with their parameters, and its type aliases.

use super::{Symbol, SymbolKind};
use crate::manifest::model::{Definition, DefinitionKind, Excerpt, Manifest, Parameter, TypeAlias};

/// Returns the symbols of a manifest in the order of its text.
pub(super) fn manifest_symbols(manifest: &Manifest) -> Vec<Symbol> {
    let definitions = manifest.definitions.iter().map(definition_symbol);
    let aliases = manifest.aliases.iter().map(alias_symbol);
    let mut symbols: Vec<Symbol> = definitions.chain(aliases).collect();
    symbols.sort_by_key(|symbol| symbol.range.start);
    symbols
}

fn definition_symbol(definition: &Definition) -> Symbol {
    Symbol {
        name: definition.name.clone(),
        detail: definition.return_type.as_ref().map(one_line),
        kind: match definition.kind {
            DefinitionKind::Class => SymbolKind::Class,
            DefinitionKind::DefinedType => SymbolKind::DefinedType,
            DefinitionKind::Function | DefinitionKind::Plan => SymbolKind::Function,
        },
        range: definition.range,
        selection: definition.name_range,
        children: definition.parameters.iter().map(parameter_symbol).collect(),
    }
}

fn parameter_symbol(parameter: &Parameter) -> Symbol {
    Symbol {
        name: format!("${}", parameter.name),
        detail: parameter.data_type.as_ref().map(one_line),
        kind: SymbolKind::Parameter,
        range: parameter.range,
        selection: parameter.range,
        children: Vec::new(),
    }
}

fn alias_symbol(alias: &TypeAlias) -> Symbol {
    Symbol {
        name: alias.name.clone(),
        detail: Some(one_line(&alias.data_type)),
        kind: SymbolKind::TypeAlias,
        range: alias.range,
        selection: alias.name_range,
        children: Vec::new(),
    }
}

fn one_line(excerpt: &Excerpt) -> String {
    excerpt.text.split_whitespace().collect::<Vec<_>>().join(" ")
}
