//! Hover, definition and implementation.

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::ide;
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::FilePosition;
use crate::workspace::Snapshot;

impl Backend {
    /// Returns the hover over a place.
    pub(in crate::server) async fn hover_at(
        &self,
        params: lsp::HoverParams,
    ) -> Result<Option<lsp::Hover>> {
        let place = params.text_document_position_params;
        let evaluations = self.kept_evaluations();
        self.answer_request(
            from_lsp::path_of_uri(&place.text_document.uri),
            move |snapshot, features| {
                let position = from_lsp::file_position(snapshot, &place, features.encoding)?;
                let link: Option<ide::hover::Link<'_>> =
                    if features.hover_links { Some(&to_lsp::line_link) } else { None };
                let config = ide::hover::HoverConfig {
                    markdown: features.markdown,
                    link,
                    action: Some(&|action, path, key| {
                        to_lsp::action_call(action, path, key, features)
                    }),
                    evaluations: evaluations.as_ref(),
                    ..ide::hover::HoverConfig::default()
                };
                let hover = ide::hover::hover(snapshot, position, &config)?;
                Some(to_lsp::hover(snapshot, position.file, hover, features))
            },
        )
        .await
    }

    /// Returns the places that the value of the key at a place comes from.
    pub(in crate::server) async fn definition_at(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        self.places_at(params.text_document_position_params, ide::definition::find_definitions)
            .await
    }

    /// Returns all definitions of the subject at a place.
    pub(in crate::server) async fn implementations_at(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        let place = params.text_document_position_params;
        self.places_at(place, ide::definition::find_implementations).await
    }

    async fn places_at(
        &self,
        place: lsp::TextDocumentPositionParams,
        find: fn(&Snapshot, FilePosition) -> Option<ide::definition::Definitions>,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        let documents = self.shared.with(|state| state.documents.clone());
        self.answer_request(
            from_lsp::path_of_uri(&place.text_document.uri),
            move |snapshot, features| {
                let position = from_lsp::file_position(snapshot, &place, features.encoding)?;
                let definitions = find(snapshot, position)?;
                Some(to_lsp::definition_response(
                    snapshot,
                    position.file,
                    &definitions,
                    features,
                    &documents,
                ))
            },
        )
        .await
    }
}
