//! References and document highlight.

use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::highlight::{Highlight, find_highlights};
use crate::ide::references::find_references;
use crate::server::session::ClientView;
use crate::server::{from_lsp, to_lsp};
use crate::text::{Encoding, Text};
use crate::workspace::Snapshot;

/// Returns the places that name the subject at a place.
pub(in crate::server) fn references(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::ReferenceParams,
) -> Answer<Vec<lsp::Location>> {
    let ClientView { features, documents, .. } = client;
    let place = &params.text_document_position;
    let found = from_lsp::file_position(snapshot, place, features.encoding).and_then(|position| {
        find_references(snapshot, position, params.context.include_declaration)
    });
    Ok(found.map(|found| {
        found
            .all
            .iter()
            .filter_map(|one| {
                let text = snapshot.file(&one.path)?.text()?;
                let range = to_lsp::range_in(text, one.range, features.encoding);
                Some(lsp::Location { uri: to_lsp::document_uri(&one.path, documents)?, range })
            })
            .collect()
    }))
}

/// Returns the places of a document that name the subject at a place.
pub(in crate::server) fn document_highlight(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::DocumentHighlightParams,
) -> Answer<Vec<lsp::DocumentHighlight>> {
    let encoding = client.features.encoding;
    let place = &params.text_document_position_params;
    let Some((text, highlights)) = find_document_highlights(encoding, snapshot, place) else {
        return Ok(None);
    };
    let converted = highlights.into_iter().map(|one| lsp::DocumentHighlight {
        range: to_lsp::range_in(text, one.range, encoding),
        kind: Some(if one.is_definition {
            lsp::DocumentHighlightKind::WRITE
        } else {
            lsp::DocumentHighlightKind::READ
        }),
    });
    Ok(Some(converted.collect()))
}

fn find_document_highlights<'a>(
    encoding: Encoding,
    snapshot: &'a Snapshot,
    place: &lsp::TextDocumentPositionParams,
) -> Option<(&'a Text, Vec<Highlight>)> {
    let position = from_lsp::file_position(snapshot, place, encoding)?;
    let text = snapshot.file_by_id(position.file)?.text()?;
    Some((text, find_highlights(snapshot, position)?))
}
