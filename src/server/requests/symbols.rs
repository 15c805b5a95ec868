//! The outline of a document, and keys of the workspace by name.

use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::ide::by_run::RunItems;
use crate::ide::document_symbols::{FileSymbols, Symbol, SymbolKind, document_symbols};
use crate::ide::workspace_symbols::{KeySymbol, workspace_symbols};
use crate::server::documents::Documents;
use crate::server::features::Features;
use crate::server::requests::parts::in_parts;
use crate::server::transport::SerializedResult;
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::{Lines, TextRange};
use crate::workspace::Snapshot;

impl Backend {
    /// Returns the symbols of a document: a tree, or a list for a client that reads no tree.
    pub(in crate::server) async fn symbols_of_document(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<SerializedResult>> {
        let uri = params.text_document.uri;
        let Some(path) = from_lsp::path_of_uri(&uri) else { return Ok(None) };
        let before = self.shared.with(|state| state.last_symbols.get(&path).cloned());
        let asked_about = path.clone();
        let answered = self.answer_request(Some(path.clone()), move |snapshot, features| {
            let symbols = document_symbols(snapshot, &asked_about, before.as_deref())?;
            let lines = snapshot.file(&asked_about)?.text()?.lines();
            let written = match features.announced.nested_symbols {
                true => SerializedResult::from_result(&convert_nested(&symbols, &lines, features)),
                false => {
                    SerializedResult::from_result(&convert_flat(&symbols, &lines, features, &uri))
                }
            };
            Some((written, symbols))
        });
        let Some((written, symbols)) = answered.await? else { return Ok(None) };
        self.shared.with(|state| {
            if state.documents.is_open(&path) {
                state.last_symbols.insert(path, Arc::new(symbols));
            }
        });
        Ok(written)
    }

    /// Returns the definitions of keys that a query may mean. They come with their ranges: there
    /// are few enough.
    pub(in crate::server) async fn symbols_of_workspace(
        &self,
        params: lsp::WorkspaceSymbolParams,
    ) -> Result<Option<SerializedResult>> {
        let token = params.partial_result_params.partial_result_token;
        let progress = params.work_done_progress_params;
        let documents = self.shared.with(|state| state.documents.clone());
        let found = self.answer_request(None, move |snapshot, features| {
            let found = workspace_symbols(snapshot, &params.query);
            let convert = |symbol| key_symbol(snapshot, symbol, features, &documents);
            found.into_iter().filter_map(convert).collect()
        });
        let found = self.with_progress(progress, "Searching for keys", found).await?;
        Ok(SerializedResult::from_result(&in_parts(&self.output, token, found).await))
    }
}

/// Converts the symbols of a text to a tree.
fn convert_nested(
    symbols: &FileSymbols,
    lines: &Lines,
    features: &Features,
) -> Vec<lsp::DocumentSymbol> {
    let in_run = |run: &RunItems<Symbol>| {
        let converting = SymbolConverter { lines, start: run.range.start, features };
        run.items.iter().map(|symbol| converting.nested_symbol(symbol)).collect::<Vec<_>>()
    };
    symbols.runs.iter().flat_map(in_run).collect()
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
        to_lsp::range_in(self.lines, range.shift_left(self.start), self.features.encoding)
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
    let kind = match features.announced.new_symbol_kinds {
        true => lsp::SymbolKind::KEY,
        false => lsp::SymbolKind::PROPERTY,
    };
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
    let is_new = features.announced.new_symbol_kinds;
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
    }
}
