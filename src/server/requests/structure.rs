//! Folding ranges, selection ranges and links of a document.

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::ide::document_links::document_links;
use crate::ide::folding::{Fold, file_folds};
use crate::ide::selection::selection_ranges;
use crate::server::features::Features;
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::{FilePosition, Text};
use crate::workspace::Snapshot;

impl Backend {
    /// Returns the folds of a document, at most as many as the client accepts.
    pub(in crate::server) async fn folds_of_document(
        &self,
        params: lsp::FoldingRangeParams,
    ) -> Result<Option<Vec<lsp::FoldingRange>>> {
        let path = from_lsp::path_of_uri(&params.text_document.uri);
        self.answer_request(path.clone(), move |snapshot, features| {
            let found = file_folds(snapshot, path.as_ref()?, features.announced.most_folds)?;
            Some(found.into_iter().map(folding_range).collect())
        })
        .await
    }

    /// Returns the ranges around each of several places in a document.
    pub(in crate::server) async fn selections_around(
        &self,
        params: lsp::SelectionRangeParams,
    ) -> Result<Option<Vec<lsp::SelectionRange>>> {
        let path = from_lsp::path_of_uri(&params.text_document.uri);
        self.answer_request(path.clone(), move |snapshot, features| {
            let file = snapshot.file(path.as_ref()?)?;
            snapshot.environments().governing_environments(&file.path).next()?;
            let text = file.text()?;
            let around = |position: &lsp::Position| {
                let place = from_lsp::line_col(*position);
                let offset = text.offset_at(place, features.encoding).unwrap_or(text.len());
                selection_range(snapshot, FilePosition { file: file.id, offset }, text, features)
            };
            params.positions.iter().map(around).collect()
        })
        .await
    }

    /// Returns the links of a document.
    pub(in crate::server) async fn links_of_document(
        &self,
        params: lsp::DocumentLinkParams,
    ) -> Result<Option<Vec<lsp::DocumentLink>>> {
        let path = from_lsp::path_of_uri(&params.text_document.uri);
        let documents = self.shared.with(|state| state.documents.clone());
        self.answer_request(path.clone(), move |snapshot, features| {
            let path = path.as_ref()?;
            let text = snapshot.file(path)?.text()?;
            let convert = |link: crate::ide::document_links::Link| {
                Some(lsp::DocumentLink {
                    range: to_lsp::range_in(text, link.range, features.encoding),
                    target: Some(to_lsp::document_uri(&link.target, &documents)?),
                    tooltip: features.announced.link_tooltips.then_some(link.tooltip),
                    data: None,
                })
            };
            Some(document_links(snapshot, path).into_iter().filter_map(convert).collect())
        })
        .await
    }
}

fn folding_range(fold: Fold) -> lsp::FoldingRange {
    lsp::FoldingRange {
        start_line: fold.first,
        end_line: fold.last,
        kind: fold.is_comment.then_some(lsp::FoldingRangeKind::Comment),
        ..lsp::FoldingRange::default()
    }
}

/// Converts the ranges around a place: the innermost, with those around it as its parents.
fn selection_range(
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
