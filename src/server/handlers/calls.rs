//! Call hierarchy: the readers of a key, and the keys that its values read.

use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::call_hierarchy::{
    CallItem, CallItemKind, LookupCall, incoming_calls, outgoing_calls, prepare,
};
use crate::server::session::ClientView;
use crate::server::{from_lsp, to_lsp};
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;

/// Returns the key at a place.
pub(in crate::server) fn prepare_call_hierarchy(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::CallHierarchyPrepareParams,
) -> Answer<Vec<lsp::CallHierarchyItem>> {
    let place = &params.text_document_position_params;
    let item = from_lsp::file_position(snapshot, place, client.features.encoding)
        .and_then(|position| prepare(snapshot, position))
        .and_then(|item| CallConverter { snapshot, client }.convert_item(item));
    Ok(item.map(|item| vec![item]))
}

/// Returns the readers of a key.
pub(in crate::server) fn incoming(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::CallHierarchyIncomingCallsParams,
) -> Answer<Vec<lsp::CallHierarchyIncomingCall>> {
    let Some((path, key)) = item_subject(&params.item) else { return Ok(None) };
    let converter = CallConverter { snapshot, client };
    let calls = incoming_calls(snapshot, &path, &key).into_iter();
    let converted = calls.filter_map(|LookupCall { item, ranges }| {
        let from_ranges = converter.convert_ranges(&item.path, &ranges)?;
        Some(lsp::CallHierarchyIncomingCall { from: converter.convert_item(item)?, from_ranges })
    });
    Ok(Some(converted.collect()))
}

/// Returns the keys that feed a key.
pub(in crate::server) fn outgoing(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::CallHierarchyOutgoingCallsParams,
) -> Answer<Vec<lsp::CallHierarchyOutgoingCall>> {
    let Some((path, key)) = item_subject(&params.item) else { return Ok(None) };
    let converter = CallConverter { snapshot, client };
    let calls = outgoing_calls(snapshot, &path, &key).into_iter();
    let converted = calls.filter_map(|LookupCall { item, ranges }| {
        let from_ranges = converter.convert_ranges(&path, &ranges)?;
        Some(lsp::CallHierarchyOutgoingCall { to: converter.convert_item(item)?, from_ranges })
    });
    Ok(Some(converted.collect()))
}

/// Returns the file and the key of an item; `None` for code, which nothing reads and feeds.
fn item_subject(item: &lsp::CallHierarchyItem) -> Option<(FilePath, String)> {
    let key = item.data.as_ref()?["key"].as_str()?;
    Some((from_lsp::path_of_uri(&item.uri)?, key.to_owned()))
}

struct CallConverter<'a> {
    snapshot: &'a Snapshot,
    client: &'a ClientView,
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
            uri: to_lsp::document_uri(&item.path, &self.client.documents)?,
            range,
            selection_range: range,
        })
    }

    fn convert_ranges(&self, path: &FilePath, ranges: &[TextRange]) -> Option<Vec<lsp::Range>> {
        let text = self.snapshot.file(path)?.text()?;
        Some(
            ranges
                .iter()
                .map(|range| to_lsp::range_in(text, *range, self.client.features.encoding))
                .collect(),
        )
    }

    fn convert_kind(&self, kind: CallItemKind) -> lsp::SymbolKind {
        match kind {
            CallItemKind::Key | CallItemKind::MissingKey
                if self.client.features.new_symbol_kinds =>
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
