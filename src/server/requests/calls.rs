//! Call hierarchy: the readers of a key, and the keys that its values read.

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use super::parts::in_parts;
use crate::ide::call_hierarchy::{
    CallItem, CallItemKind, LookupCall, incoming_calls, outgoing_calls, prepare,
};
use crate::server::documents::Documents;
use crate::server::features::Features;
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;

impl Backend {
    /// Returns the key at a place.
    pub(in crate::server) async fn key_at_place(
        &self,
        params: lsp::CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyItem>>> {
        let place = params.text_document_position_params;
        let documents = self.shared.with(|state| state.documents.clone());
        self.answer_request(
            from_lsp::path_of_uri(&place.text_document.uri),
            move |snapshot, features| {
                let position = from_lsp::file_position(snapshot, &place, features.encoding)?;
                let converting = CallConverter { snapshot, features, documents: &documents };
                Some(vec![converting.convert_item(prepare(snapshot, position)?)?])
            },
        )
        .await
    }

    /// Returns the readers of a key.
    pub(in crate::server) async fn readers_of_key(
        &self,
        params: lsp::CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyIncomingCall>>> {
        let token = params.partial_result_params.partial_result_token;
        let documents = self.shared.with(|state| state.documents.clone());
        let found = self.answer_request(None, move |snapshot, features| {
            let (path, key) = item_subject(&params.item)?;
            let converting = CallConverter { snapshot, features, documents: &documents };
            let call = |LookupCall { item, ranges }: LookupCall| {
                let from_ranges = converting.convert_ranges(&item.path, &ranges)?;
                Some(lsp::CallHierarchyIncomingCall {
                    from: converting.convert_item(item)?,
                    from_ranges,
                })
            };
            Some(incoming_calls(snapshot, &path, &key).into_iter().filter_map(call).collect())
        });
        match found.await? {
            None => Ok(None),
            Some(found) => Ok(Some(in_parts(&self.output, token, found).await)),
        }
    }

    /// Returns the keys that feed a key.
    pub(in crate::server) async fn feeders_of_key(
        &self,
        params: lsp::CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyOutgoingCall>>> {
        let token = params.partial_result_params.partial_result_token;
        let documents = self.shared.with(|state| state.documents.clone());
        let found = self.answer_request(None, move |snapshot, features| {
            let (path, key) = item_subject(&params.item)?;
            let converting = CallConverter { snapshot, features, documents: &documents };
            let call = |LookupCall { item, ranges }: LookupCall| {
                let from_ranges = converting.convert_ranges(&path, &ranges)?;
                Some(lsp::CallHierarchyOutgoingCall {
                    to: converting.convert_item(item)?,
                    from_ranges,
                })
            };
            Some(outgoing_calls(snapshot, &path, &key).into_iter().filter_map(call).collect())
        });
        match found.await? {
            None => Ok(None),
            Some(found) => Ok(Some(in_parts(&self.output, token, found).await)),
        }
    }
}

/// Returns the file and the key of an item; `None` for code, which nothing reads and feeds.
fn item_subject(item: &lsp::CallHierarchyItem) -> Option<(FilePath, String)> {
    let key = item.data.as_ref()?["key"].as_str()?;
    Some((from_lsp::path_of_uri(&item.uri)?, key.to_owned()))
}

struct CallConverter<'a> {
    snapshot: &'a Snapshot,
    features: &'a Features,
    documents: &'a Documents,
}

impl CallConverter<'_> {
    fn convert_item(&self, item: CallItem) -> Option<lsp::CallHierarchyItem> {
        let range = self.convert_ranges(&item.path, &[item.range])?.pop()?;
        let is_key = matches!(item.kind, CallItemKind::Key | CallItemKind::MissingKey);
        Some(lsp::CallHierarchyItem {
            data: is_key.then(|| serde_json::json!({"key": item.name})),
            kind: self.convert_kind(item.kind),
            name: item.name,
            tags: None,
            detail: Some(item.detail),
            uri: to_lsp::document_uri(&item.path, self.documents)?,
            range,
            selection_range: range,
        })
    }

    fn convert_ranges(&self, path: &FilePath, ranges: &[TextRange]) -> Option<Vec<lsp::Range>> {
        let text = self.snapshot.file(path)?.text()?;
        let range = |range: &TextRange| to_lsp::range_in(text, *range, self.features.encoding);
        Some(ranges.iter().map(range).collect())
    }

    fn convert_kind(&self, kind: CallItemKind) -> lsp::SymbolKind {
        match kind {
            CallItemKind::Key | CallItemKind::MissingKey
                if self.features.announced.new_symbol_kinds =>
            {
                lsp::SymbolKind::KEY
            }
            CallItemKind::Key | CallItemKind::MissingKey => lsp::SymbolKind::PROPERTY,
            CallItemKind::Options => lsp::SymbolKind::PROPERTY,
            CallItemKind::Class => lsp::SymbolKind::CLASS,
            CallItemKind::File => lsp::SymbolKind::FILE,
        }
    }
}
