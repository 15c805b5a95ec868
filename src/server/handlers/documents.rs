//! Notifications about documents, files, folders and settings: each changes the state at once, so
//! that the next message sees it.

use tower_lsp::lsp_types as lsp;

use crate::server::diagnostics::publisher;
use crate::server::from_lsp;
use crate::server::pages;
use crate::server::reach;
use crate::server::session::{ServerHandle, puppetdb, scanner};
use crate::settings::PublishTime;
use crate::text::FilePath;
use crate::workspace::Change;

/// Begins to read the folders and to publish findings.
pub(in crate::server) fn initialized(server: &ServerHandle, _: lsp::InitializedParams) {
    // Never wait for the client within a handler: it may be waiting for the answer.
    tokio::spawn(scanner::run(server.client.clone(), server.shared.clone()));
    tokio::spawn(puppetdb::run(server.client.clone(), server.shared.clone()));
    tokio::spawn(publisher::run(server.clone()));
    tokio::spawn(reach::run(server.clone()));
    tokio::spawn(pages::run(server.clone()));
    tokio::spawn(scanner::register(server.client.clone(), server.shared.clone()));
    server.shared.disk.ask_reading();
}

/// A document is opened.
pub(in crate::server) fn did_open(server: &ServerHandle, params: lsp::DidOpenTextDocumentParams) {
    let document = params.text_document;
    let Some(path) = from_lsp::path_of_uri(&document.uri) else { return };
    let is_new_folder = server.shared.with(|state| {
        state.documents.note_open(&path, &document.uri, document.version);
        let is_new_folder = state.adopt_file(&path);
        state.workspace.apply(Change::Open(path, document.text));
        is_new_folder
    });
    server.shared.changed.notify_one();
    if is_new_folder {
        server.shared.disk.ask_reading();
    } else {
        server.shared.refresh_if_old();
    }
}

/// A document is edited.
pub(in crate::server) fn did_change(
    server: &ServerHandle,
    params: lsp::DidChangeTextDocumentParams,
) {
    let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else { return };
    server.shared.with(|state| {
        for change in params.content_changes {
            let Some(text) = state.workspace.open_text(&path) else { return };
            let change = from_lsp::text_change(path.clone(), change, text, state.features.encoding);
            state.workspace.apply(change);
        }
        state.documents.note_edit(&path, &params.text_document.uri, params.text_document.version);
        // Findings of unsaved files are published later, see `diagnostics::publisher`.
        match state.settings.run {
            PublishTime::OnSave => server.shared.wake_after_findings(),
            PublishTime::OnType | PublishTime::Off => {
                server.shared.restart_pauses();
                server.shared.changed.notify_one();
            }
        }
    });
}

/// A document is saved.
pub(in crate::server) fn did_save(server: &ServerHandle, params: lsp::DidSaveTextDocumentParams) {
    if let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) {
        server.shared.with(|state| state.documents.note_save(&path));
    }
    // Not every client watches files; a save certainly changes a file on disk.
    server.shared.disk.ask_reading();
    server.shared.changed.notify_one();
}

/// A document is closed.
pub(in crate::server) fn did_close(server: &ServerHandle, params: lsp::DidCloseTextDocumentParams) {
    let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else { return };
    if server.shared.with(|state| state.close_document(&path, &params.text_document.uri)) {
        server.shared.findings.note_close(&path);
        server.apply_change(Change::Close(path));
    }
}

/// Files have changed on disk.
pub(in crate::server) fn did_change_watched_files(
    server: &ServerHandle,
    _: lsp::DidChangeWatchedFilesParams,
) {
    server.shared.disk.ask_reading();
}

/// The client adds or removes folders.
pub(in crate::server) fn did_change_workspace_folders(
    server: &ServerHandle,
    params: lsp::DidChangeWorkspaceFoldersParams,
) {
    let read = server.shared.with(|state| {
        let mut folders = state.folders.listed().to_vec();
        let removed: Vec<FilePath> = params
            .event
            .removed
            .iter()
            .filter_map(|folder| from_lsp::path_of_uri(&folder.uri))
            .collect();
        folders.retain(|folder| !removed.contains(folder));
        folders.extend(
            params.event.added.iter().filter_map(|folder| from_lsp::path_of_uri(&folder.uri)),
        );
        state.list_folders(folders);
        state.workspace.folders().to_vec()
    });
    server.shared.disk.ask_reading();
    if server.shared.with(|state| state.features.configuration) {
        // Each folder may have settings of its own.
        tokio::spawn(scanner::pull_settings(server.client.clone(), server.shared.clone(), None));
    }
    // The user removed the folder: its code must not run on.
    let shared = server.shared.clone();
    tokio::spawn(async move {
        let evaluator = shared.evaluator.clone();
        shared.pool.run(false, move || evaluator.end_outside(&read)).await
    });
}

/// The client pushes settings, or states that they have changed.
pub(in crate::server) fn did_change_configuration(
    server: &ServerHandle,
    params: lsp::DidChangeConfigurationParams,
) {
    let pushed = Some(params.settings);
    if server.shared.with(|state| state.features.configuration) {
        tokio::spawn(scanner::pull_settings(server.client.clone(), server.shared.clone(), pushed));
    } else {
        // The server cannot request settings from this client. Taking pushed settings before the
        // first `await` keeps their order.
        server.shared.take_settings(pushed.as_ref(), None);
    }
}
