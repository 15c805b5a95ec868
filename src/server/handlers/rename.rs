//! Rename, with the question whether and which name can be renamed.

use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::file_renames::{FileRename, file_renames};
use crate::ide::rename::{self, RenameError};
use crate::server::session::{ClientView, ServerHandle};
use crate::server::{from_lsp, to_lsp};
use crate::text::FilePath;
use crate::text::escape::escape_notification;
use crate::workspace::Snapshot;

/// Returns the name at a place that can be renamed; an error with the reason where it cannot.
pub(in crate::server) fn prepare_rename(
    snapshot: &Snapshot,
    client: &ClientView,
    place: &lsp::TextDocumentPositionParams,
) -> Answer<lsp::PrepareRenameResponse> {
    let encoding = client.features.encoding;
    let Some(position) = from_lsp::file_position(snapshot, place, encoding) else {
        return Ok(None);
    };
    let prepared = match rename::prepare(snapshot, position) {
        Err(RenameError::NoName) => return Ok(None),
        prepared => prepared.map_err(request_failed)?,
    };
    let text = snapshot.file_by_id(position.file).and_then(|file| file.text());
    Ok(text.map(|text| lsp::PrepareRenameResponse::RangeWithPlaceholder {
        range: to_lsp::range_in(text, prepared.range, encoding),
        placeholder: prepared.placeholder,
    }))
}

/// Returns the change that renames the name at a place, and tells the user about comments that keep
/// the old name; an error with the reason where the name cannot be renamed.
pub(in crate::server) async fn rename(
    server: ServerHandle,
    params: lsp::RenameParams,
) -> Result<Option<lsp::WorkspaceEdit>> {
    let path = from_lsp::path_of_uri(&params.text_document_position.text_document.uri);
    let renamed = server.answer(path, false, move |snapshot, client| {
        let ClientView { features, documents, .. } = client;
        let place = &params.text_document_position;
        let Some(position) = from_lsp::file_position(snapshot, place, features.encoding) else {
            return Ok(None);
        };
        let renamed =
            rename::rename(snapshot, position, &params.new_name).map_err(request_failed)?;
        let note = renamed.comments_note();
        let change = snapshot
            .allow_change(renamed.change)
            .map_err(|path| request_failed(RenameError::Outside(path.to_string())))?;
        let edit = to_lsp::workspace_edit(snapshot, &change, features, documents);
        Ok(Some((edit, note)))
    });
    let Some((edit, note)) = renamed.await?? else { return Ok(None) };
    if let Some(note) = note {
        let note = escape_notification(&format!("Hiera: {note}"));
        server.client.show_message(lsp::MessageType::INFO, note).await;
    }
    Ok(Some(edit))
}

/// Returns the change of `hiera.yaml` files that goes with renames of files and folders.
pub(in crate::server) fn will_rename_files(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::RenameFilesParams,
) -> Answer<lsp::WorkspaceEdit> {
    let ClientView { features, documents, .. } = client;
    let renames = params.files.iter().filter_map(|file| {
        Some(FileRename { old: parse_path(&file.old_uri)?, new: parse_path(&file.new_uri)? })
    });
    let change = file_renames(snapshot, &renames.collect::<Vec<_>>());
    let change = snapshot.allow_change(change).ok().filter(|it| !it.change().is_empty());
    Ok(change.map(|change| to_lsp::workspace_edit(snapshot, &change, features, documents)))
}

fn parse_path(uri: &str) -> Option<FilePath> {
    from_lsp::path_of_uri(&lsp::Url::parse(uri).ok()?)
}

/// Returns the protocol's RequestFailed: the client shows its message.
fn request_failed(error: RenameError) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: error.to_string().into(), data: None }
}
