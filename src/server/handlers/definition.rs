//! Hover, definition and implementation.

use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide;
use crate::ide::definition::Definitions;
use crate::server::session::ClientView;
use crate::server::{from_lsp, to_lsp};
use crate::text::FilePosition;
use crate::workspace::Snapshot;

/// Returns the hover over a place.
pub(in crate::server) fn hover(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::HoverParams,
) -> Answer<lsp::Hover> {
    let (features, evaluations) = (&client.features, client.evaluations());
    let place = &params.text_document_position_params;
    let Some(position) = from_lsp::file_position(snapshot, place, features.encoding) else {
        return Ok(None);
    };
    let link: Option<ide::hover::Link<'_>> =
        if features.hover_links { Some(&to_lsp::line_link) } else { None };
    let config = ide::hover::HoverConfig {
        markdown: features.markdown,
        link,
        action: Some(&|action, path, key| to_lsp::action_call(action, path, key, features)),
        evaluations: evaluations.as_ref(),
        ..ide::hover::HoverConfig::default()
    };
    let hover = ide::hover::hover(snapshot, position, &config);
    Ok(hover.map(|hover| to_lsp::hover(snapshot, position.file, hover, features)))
}

/// Returns the places that the value of the key at a place comes from.
pub(in crate::server) fn definition(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::GotoDefinitionParams,
) -> Answer<lsp::GotoDefinitionResponse> {
    Ok(find_places(snapshot, client, params, ide::definition::find_definitions))
}

/// Returns all definitions of the subject at a place.
pub(in crate::server) fn implementation(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::GotoDefinitionParams,
) -> Answer<lsp::GotoDefinitionResponse> {
    Ok(find_places(snapshot, client, params, ide::definition::find_implementations))
}

fn find_places(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::GotoDefinitionParams,
    find: fn(&Snapshot, FilePosition) -> Option<Definitions>,
) -> Option<lsp::GotoDefinitionResponse> {
    let ClientView { features, documents, .. } = client;
    let place = &params.text_document_position_params;
    let position = from_lsp::file_position(snapshot, place, features.encoding)?;
    let definitions = find(snapshot, position)?;
    let file = position.file;
    Some(to_lsp::definition_response(snapshot, file, &definitions, features, documents))
}
