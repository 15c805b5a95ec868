//! Folding ranges, selection ranges and links of a document.

use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::document_links::document_links;
use crate::ide::folding::{Fold, file_folds};
use crate::ide::selection::selection_ranges;
use crate::server::capabilities::Features;
use crate::server::session::ClientView;
use crate::server::{from_lsp, to_lsp};
use crate::text::{FilePosition, Text};
use crate::workspace::Snapshot;

/// Returns the folds of a document, at most as many as the client accepts.
pub(in crate::server) fn folding_range(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::FoldingRangeParams,
) -> Answer<Vec<lsp::FoldingRange>> {
    let folds = from_lsp::path_of_uri(&params.text_document.uri)
        .and_then(|path| file_folds(snapshot, &path, client.features.most_folds));
    Ok(folds.map(|folds| folds.into_iter().map(convert_fold).collect()))
}

/// Returns the ranges around each of several places in a document.
pub(in crate::server) fn selection_range(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::SelectionRangeParams,
) -> Answer<Vec<lsp::SelectionRange>> {
    let features = &client.features;
    let around_all = || {
        let file = snapshot.file(&from_lsp::path_of_uri(&params.text_document.uri)?)?;
        snapshot.environments().governing_environments(&file.path).next()?;
        let text = file.text()?;
        params
            .positions
            .iter()
            .map(|position| {
                let place = from_lsp::line_col(*position);
                let offset = text.offset_at(place, features.encoding).unwrap_or(text.len());
                surrounding_ranges(snapshot, FilePosition { file: file.id, offset }, text, features)
            })
            .collect()
    };
    Ok(around_all())
}

/// Returns the links of a document.
pub(in crate::server) fn document_link(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::DocumentLinkParams,
) -> Answer<Vec<lsp::DocumentLink>> {
    let ClientView { features, documents, .. } = client;
    let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else { return Ok(None) };
    let Some(text) = snapshot.file(&path).and_then(|file| file.text()) else { return Ok(None) };
    let links = document_links(snapshot, &path).into_iter().filter_map(|link| {
        Some(lsp::DocumentLink {
            range: to_lsp::range_in(text, link.range, features.encoding),
            target: Some(to_lsp::document_uri(&link.target, documents)?),
            tooltip: features.link_tooltips.then_some(link.tooltip),
            data: None,
        })
    });
    Ok(Some(links.collect()))
}

fn convert_fold(fold: Fold) -> lsp::FoldingRange {
    lsp::FoldingRange {
        start_line: fold.first,
        end_line: fold.last,
        kind: fold.is_comment.then_some(lsp::FoldingRangeKind::Comment),
        ..lsp::FoldingRange::default()
    }
}

/// Returns the ranges around a place: the innermost, with those around it as its parents.
fn surrounding_ranges(
    snapshot: &Snapshot,
    position: FilePosition,
    text: &Text,
    features: &Features,
) -> Option<lsp::SelectionRange> {
    let ranges = selection_ranges(snapshot, position)?;
    ranges.into_iter().rev().fold(None, |parent, range| {
        let range = to_lsp::range_in(text, range, features.encoding);
        Some(lsp::SelectionRange { range, parent: parent.map(Box::new) })
    })
}
