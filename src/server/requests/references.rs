//! References and document highlight.

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::ide::highlight::{Highlight, find_highlights};
use crate::ide::references::{Occurrence, find_references};
use crate::server::requests::parts::in_parts;
use crate::server::{Backend, from_lsp, to_lsp};

impl Backend {
    /// Returns the places that name the subject at a place; many of them in parts where the client
    /// asks for parts.
    pub(in crate::server) async fn references_at(
        &self,
        params: lsp::ReferenceParams,
    ) -> Result<Option<Vec<lsp::Location>>> {
        let place = params.text_document_position;
        let token = params.partial_result_params.partial_result_token;
        let documents = self.shared.with(|state| state.documents.clone());
        let progress = params.work_done_progress_params;
        let found = self.answer_request(
            from_lsp::path_of_uri(&place.text_document.uri),
            move |snapshot, features| {
                let position = from_lsp::file_position(snapshot, &place, features.encoding)?;
                let found =
                    find_references(snapshot, position, params.context.include_declaration)?;
                let location = |one: &Occurrence| {
                    let text = snapshot.file(&one.path)?.text()?;
                    let range = to_lsp::range_in(text, one.range, features.encoding);
                    Some(lsp::Location { uri: to_lsp::document_uri(&one.path, &documents)?, range })
                };
                Some(found.all.iter().filter_map(location).collect())
            },
        );
        match self.with_progress(progress, "Finding references", found).await? {
            None => Ok(None),
            Some(found) => Ok(Some(in_parts(&self.output, token, found).await)),
        }
    }

    /// Returns the places of a document that name the subject at a place.
    pub(in crate::server) async fn highlights_at(
        &self,
        params: lsp::DocumentHighlightParams,
    ) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
        let place = params.text_document_position_params;
        self.answer_request(
            from_lsp::path_of_uri(&place.text_document.uri),
            move |snapshot, features| {
                let position = from_lsp::file_position(snapshot, &place, features.encoding)?;
                let text = snapshot.file_by_id(position.file)?.text()?;
                let found = find_highlights(snapshot, position)?.into_iter();
                let highlight = |one: Highlight| lsp::DocumentHighlight {
                    range: to_lsp::range_in(text, one.range, features.encoding),
                    kind: Some(match one.is_definition {
                        true => lsp::DocumentHighlightKind::WRITE,
                        false => lsp::DocumentHighlightKind::READ,
                    }),
                };
                Some(found.map(highlight).collect())
            },
        )
        .await
    }
}
