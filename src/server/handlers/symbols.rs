//! The outline of a document, and keys of the workspace by name.

use std::sync::Arc;

use serde::Serialize;
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::document_symbols::{FileSymbols, Symbol, SymbolKind, document_symbols};
use crate::ide::workspace_symbols::{KeySymbol, workspace_symbols};
use crate::server::capabilities::Features;
use crate::server::documents::Documents;
use crate::server::session::ClientView;
use crate::server::{from_lsp, to_lsp};
use crate::text::{Lines, TextRange};
use crate::workspace::Snapshot;

/// The symbols of a document.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::server) enum SymbolsAnswer {
    /// A tree.
    Nested(Vec<lsp::DocumentSymbol>),
    /// A list, for a client that reads no tree.
    Flat(Vec<lsp::SymbolInformation>),
}

/// Returns the symbols of a document.
pub(in crate::server) fn document_symbol(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::DocumentSymbolParams,
) -> Answer<SymbolsAnswer> {
    let (features, uri) = (&client.features, &params.text_document.uri);
    let Some(path) = from_lsp::path_of_uri(uri) else { return Ok(None) };
    let before = client.shared.with(|state| state.last_symbols.get(&path).cloned());
    let text = snapshot.file(&path).and_then(|file| file.text());
    let symbols = document_symbols(snapshot, &path, before.as_deref());
    let Some((text, symbols)) = text.zip(symbols) else { return Ok(None) };
    let lines = text.lines();
    let outline = if features.nested_symbols {
        SymbolsAnswer::Nested(convert_nested(&symbols, &lines, features))
    } else {
        SymbolsAnswer::Flat(convert_flat(&symbols, &lines, features, uri))
    };
    client.shared.with(|state| {
        // A cancelled computation may be incomplete.
        if state.documents.is_open(&path) && !snapshot.cancel_token().is_cancelled() {
            state.last_symbols.insert(path, Arc::new(symbols));
        }
    });
    Ok(Some(outline))
}

/// Returns the definitions of keys that a query may mean. They come with their ranges: there are
/// few enough.
pub(in crate::server) fn workspace_symbol(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::WorkspaceSymbolParams,
) -> Answer<Vec<lsp::SymbolInformation>> {
    let found = workspace_symbols(snapshot, &params.query).into_iter();
    Ok(Some(
        found
            .filter_map(|symbol| key_symbol(snapshot, symbol, &client.features, &client.documents))
            .collect(),
    ))
}

/// Converts the symbols of a text to a tree.
fn convert_nested(
    symbols: &FileSymbols,
    lines: &Lines,
    features: &Features,
) -> Vec<lsp::DocumentSymbol> {
    symbols
        .runs
        .iter()
        .flat_map(|run| {
            let converting = SymbolConverter { lines, start: run.range.start, features };
            run.items.iter().map(|symbol| converting.nested_symbol(symbol)).collect::<Vec<_>>()
        })
        .collect()
}

/// Converts the symbols of a text to a list: each is followed by those that it contains.
fn convert_flat(
    symbols: &FileSymbols,
    lines: &Lines,
    features: &Features,
    uri: &lsp::Url,
) -> Vec<lsp::SymbolInformation> {
    let mut all = Vec::new();
    for run in &symbols.runs {
        let converting = SymbolConverter { lines, start: run.range.start, features };
        converting.add_flat(&run.items, None, uri, &mut all);
    }
    all
}

/// Converts the symbols of one run of entries.
struct SymbolConverter<'a> {
    lines: &'a Lines<'a>,
    /// The first byte of the run.
    start: u32,
    features: &'a Features,
}

impl SymbolConverter<'_> {
    fn convert_range(&self, range: TextRange) -> lsp::Range {
        to_lsp::range_in(self.lines, range.offset_by(self.start), self.features.encoding)
    }

    #[allow(deprecated)] // The protocol's type has a deprecated member.
    fn nested_symbol(&self, symbol: &Symbol) -> lsp::DocumentSymbol {
        let children: Vec<lsp::DocumentSymbol> =
            symbol.children.iter().map(|child| self.nested_symbol(child)).collect();
        lsp::DocumentSymbol {
            name: symbol.name.clone(),
            detail: symbol.detail.clone(),
            kind: convert_kind(symbol.kind, self.features),
            tags: None,
            deprecated: None,
            range: self.convert_range(symbol.range),
            selection_range: self.convert_range(symbol.selection),
            children: (!children.is_empty()).then_some(children),
        }
    }

    /// Adds symbols; each is followed by those that it contains.
    fn add_flat(
        &self,
        symbols: &[Symbol],
        container: Option<&str>,
        uri: &lsp::Url,
        all: &mut Vec<lsp::SymbolInformation>,
    ) {
        for symbol in symbols {
            let location =
                lsp::Location { uri: uri.clone(), range: self.convert_range(symbol.range) };
            let kind = convert_kind(symbol.kind, self.features);
            all.push(new_information(
                symbol.name.clone(),
                kind,
                location,
                container.map(Into::into),
            ));
            self.add_flat(&symbol.children, Some(&symbol.name), uri, all);
        }
    }
}

fn key_symbol(
    snapshot: &Snapshot,
    symbol: KeySymbol,
    features: &Features,
    documents: &Documents,
) -> Option<lsp::SymbolInformation> {
    let range = to_lsp::convert_span(snapshot, symbol.place, features.encoding);
    let location = lsp::Location { uri: to_lsp::document_uri(&symbol.path, documents)?, range };
    let kind =
        if features.new_symbol_kinds { lsp::SymbolKind::KEY } else { lsp::SymbolKind::PROPERTY };
    Some(new_information(symbol.key.to_string(), kind, location, Some(symbol.container)))
}

#[allow(deprecated)] // The protocol's type has a deprecated member.
fn new_information(
    name: String,
    kind: lsp::SymbolKind,
    location: lsp::Location,
    container_name: Option<String>,
) -> lsp::SymbolInformation {
    lsp::SymbolInformation { name, kind, tags: None, deprecated: None, location, container_name }
}

fn convert_kind(kind: SymbolKind, features: &Features) -> lsp::SymbolKind {
    let is_new = features.new_symbol_kinds;
    match kind {
        SymbolKind::Hash if is_new => lsp::SymbolKind::OBJECT,
        SymbolKind::Hash => lsp::SymbolKind::MODULE,
        SymbolKind::List => lsp::SymbolKind::ARRAY,
        SymbolKind::Text => lsp::SymbolKind::STRING,
        SymbolKind::Number => lsp::SymbolKind::NUMBER,
        SymbolKind::Boolean => lsp::SymbolKind::BOOLEAN,
        SymbolKind::Null if is_new => lsp::SymbolKind::NULL,
        SymbolKind::Null => lsp::SymbolKind::CONSTANT,
        SymbolKind::Alias => lsp::SymbolKind::VARIABLE,
        SymbolKind::Level => lsp::SymbolKind::NAMESPACE,
        SymbolKind::Location => lsp::SymbolKind::FILE,
        SymbolKind::Class => lsp::SymbolKind::CLASS,
        SymbolKind::DefinedType if is_new => lsp::SymbolKind::STRUCT,
        SymbolKind::DefinedType => lsp::SymbolKind::CLASS,
        SymbolKind::Function => lsp::SymbolKind::FUNCTION,
        SymbolKind::Parameter => lsp::SymbolKind::VARIABLE,
        SymbolKind::TypeAlias => lsp::SymbolKind::INTERFACE,
    }
}
