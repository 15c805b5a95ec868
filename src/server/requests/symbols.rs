//! The outline of a document, and keys of the workspace by name.

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::ide::document_symbols::{Symbol, SymbolKind, document_symbols};
use crate::ide::workspace_symbols::{KeySymbol, workspace_symbols};
use crate::server::requests::parts::in_parts;
use crate::server::state::{Documents, Features};
use crate::server::transport::Written;
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::Lines;
use crate::workspace::Snapshot;

impl Backend {
    /// Returns the symbols of a document: a tree, or a list for a client that reads no tree.
    pub(in crate::server) async fn symbols_of_document(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<Written>> {
        let uri = params.text_document.uri;
        self.answer(from_lsp::path(&uri), move |snapshot, features| {
            let path = from_lsp::path(&uri)?;
            let symbols = document_symbols(snapshot, &path)?;
            let converting = Converting { lines: snapshot.file(&path)?.text()?.lines(), features };
            match features.announced.nested_symbols {
                true => {
                    let all = symbols.into_iter().map(|symbol| converting.nested(symbol));
                    Written::of(&all.collect::<Vec<_>>())
                }
                false => {
                    let mut all = Vec::new();
                    converting.flat(symbols, None, &uri, &mut all);
                    Written::of(&all)
                }
            }
        })
        .await
    }

    /// Returns the definitions of keys that a query may mean. They come with their ranges: there
    /// are few enough.
    pub(in crate::server) async fn symbols_of_workspace(
        &self,
        params: lsp::WorkspaceSymbolParams,
    ) -> Result<Option<Written>> {
        let token = params.partial_result_params.partial_result_token;
        let progress = params.work_done_progress_params;
        let documents = self.shared.with(|state| state.documents.clone());
        let found = self.answer(None, move |snapshot, features| {
            let found = workspace_symbols(snapshot, &params.query);
            let convert = |symbol| key_symbol(snapshot, symbol, features, &documents);
            found.into_iter().filter_map(convert).collect()
        });
        let found = self.with_progress(progress, "Searching for keys", found).await?;
        Ok(Written::of(&in_parts(&self.output, token, found).await))
    }
}

/// Converts the symbols of one text.
struct Converting<'a> {
    lines: Lines<'a>,
    features: &'a Features,
}

impl Converting<'_> {
    #[allow(deprecated)] // The protocol's type has a deprecated member.
    fn nested(&self, symbol: Symbol) -> lsp::DocumentSymbol {
        let range = |range| to_lsp::range_in(&self.lines, range, self.features.encoding);
        let children: Vec<lsp::DocumentSymbol> =
            symbol.children.into_iter().map(|child| self.nested(child)).collect();
        lsp::DocumentSymbol {
            name: symbol.name,
            detail: symbol.detail,
            kind: kind(symbol.kind, self.features),
            tags: None,
            deprecated: None,
            range: range(symbol.range),
            selection_range: range(symbol.selection),
            children: (!children.is_empty()).then_some(children),
        }
    }

    /// Adds symbols and those in them, each behind the one that contains it.
    fn flat(
        &self,
        symbols: Vec<Symbol>,
        container: Option<&str>,
        uri: &lsp::Url,
        all: &mut Vec<lsp::SymbolInformation>,
    ) {
        for symbol in symbols {
            let range = to_lsp::range_in(&self.lines, symbol.range, self.features.encoding);
            let location = lsp::Location { uri: uri.clone(), range };
            let kind = kind(symbol.kind, self.features);
            all.push(information(symbol.name.clone(), kind, location, container.map(Into::into)));
            self.flat(symbol.children, Some(&symbol.name), uri, all);
        }
    }
}

fn key_symbol(
    snapshot: &Snapshot,
    symbol: KeySymbol,
    features: &Features,
    documents: &Documents,
) -> Option<lsp::SymbolInformation> {
    let range = to_lsp::range(snapshot, symbol.place, features.encoding);
    let location = lsp::Location { uri: to_lsp::address(&symbol.path, documents)?, range };
    let kind = match features.announced.new_symbol_kinds {
        true => lsp::SymbolKind::KEY,
        false => lsp::SymbolKind::PROPERTY,
    };
    Some(information(symbol.key.to_string(), kind, location, Some(symbol.container)))
}

#[allow(deprecated)] // The protocol's type has a deprecated member.
fn information(
    name: String,
    kind: lsp::SymbolKind,
    location: lsp::Location,
    container_name: Option<String>,
) -> lsp::SymbolInformation {
    lsp::SymbolInformation { name, kind, tags: None, deprecated: None, location, container_name }
}

fn kind(kind: SymbolKind, features: &Features) -> lsp::SymbolKind {
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
        SymbolKind::Level => lsp::SymbolKind::NAMESPACE,
        SymbolKind::Location => lsp::SymbolKind::FILE,
    }
}
