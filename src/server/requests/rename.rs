//! Rename, with the question whether and which name can be renamed.

use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types as lsp;

use crate::ide::file_renames::{FileRename, file_renames};
use crate::ide::rename::{RenameError, prepare, rename};
use crate::server::{Backend, from_lsp, to_lsp};

impl Backend {
    /// Returns the name at a place that can be renamed; an error with the reason where it cannot.
    pub(in crate::server) async fn prepare_rename_at(
        &self,
        place: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        self.answer_request(
            from_lsp::path_of_uri(&place.text_document.uri),
            move |snapshot, features| {
                let Some(position) = from_lsp::file_position(snapshot, &place, features.encoding)
                else {
                    return Ok(None);
                };
                let file = snapshot.file_by_id(position.file).and_then(|file| file.text());
                let prepared = match prepare(snapshot, position) {
                    Err(RenameError::NoName) => return Ok(None),
                    prepared => prepared.map_err(request_failed)?,
                };
                Ok(file.map(|text| lsp::PrepareRenameResponse::RangeWithPlaceholder {
                    range: to_lsp::range_in(text, prepared.range, features.encoding),
                    placeholder: prepared.placeholder,
                }))
            },
        )
        .await?
    }

    /// Returns the change that renames the name at a place; an error with the reason where it
    /// cannot be renamed.
    pub(in crate::server) async fn rename_at(
        &self,
        params: lsp::RenameParams,
    ) -> Result<Option<lsp::WorkspaceEdit>> {
        let place = params.text_document_position;
        let progress = params.work_done_progress_params;
        let documents = self.shared.with(|state| state.documents.clone());
        let renamed = self.answer_request(
            from_lsp::path_of_uri(&place.text_document.uri),
            move |snapshot, features| {
                let Some(position) = from_lsp::file_position(snapshot, &place, features.encoding)
                else {
                    return Ok(None);
                };
                let change = rename(snapshot, position, &params.new_name)
                    .and_then(|change| snapshot.allow_change(change).map_err(RenameError::Outside))
                    .map_err(request_failed)?;
                Ok(Some(to_lsp::workspace_edit(snapshot, &change, features, &documents)))
            },
        );
        self.with_progress(progress, "Renaming", renamed).await?
    }
}

impl Backend {
    /// Returns the change of `hiera.yaml` files that goes with renames of files and folders.
    pub(in crate::server) async fn change_for_renames(
        &self,
        params: lsp::RenameFilesParams,
    ) -> Result<Option<lsp::WorkspaceEdit>> {
        let path = |uri: &str| from_lsp::path_of_uri(&lsp::Url::parse(uri).ok()?);
        let renames = params.files.iter().filter_map(|file| {
            Some(FileRename { old: path(&file.old_uri)?, new: path(&file.new_uri)? })
        });
        let renames: Vec<FileRename> = renames.collect();
        let documents = self.shared.with(|state| state.documents.clone());
        self.answer_request(None, move |snapshot, features| {
            let change = file_renames(snapshot, &renames);
            let change = snapshot.allow_change(change).ok().filter(|it| !it.change().is_empty())?;
            Some(to_lsp::workspace_edit(snapshot, &change, features, &documents))
        })
        .await
    }
}

/// Returns the protocol's RequestFailed: the client shows its message.
fn request_failed(error: RenameError) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: error.to_string().into(), data: None }
}
