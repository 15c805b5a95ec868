//! The protocol: the only place with its types and with `async`.
//!
//! The path of an edit: `Backend::did_change` changes the workspace before its first `await` (so
//! changes keep their order) and wakes the publisher. The publisher takes a snapshot, computes the
//! findings, and sends those that still hold. Requests take a snapshot and are answered from it.
//! While the folders are being read, a request waits for the end of that; otherwise it takes the
//! snapshot before its first `await`. Answers that are expected to be quick are computed in place,
//! see `pace::Pace`; all others on another thread.

mod client_settings;
mod diagnostics;
mod documents;
mod evaluator;
mod features;
mod folders;
mod from_lsp;
mod nodes;
mod pace;
mod publish;
mod pull;
mod pulled;
mod readings;
mod requests;
mod scanner;
mod slots;
mod state;
mod status;
#[cfg(test)]
mod tests;
mod to_lsp;
mod transport;
mod views;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types as lsp;
use tower_lsp::{Client, LanguageServer, LspService};

use crate::hiera::lookup::STACK;
use crate::settings::PublishTime;
use crate::text::CancelToken;
use crate::text::FilePath;
use crate::workspace::{Change, Snapshot};
use client_settings::ClientSettings;
use evaluator::Evaluator;
use features::Features;
use pace::InlineBudget;
use slots::WorkerSlots;
use state::Shared;
use transport::{Outlet, Workers};

/// Serves the protocol over standard input and output until the client ends it.
pub fn run() -> ExitCode {
    // Besides the answers', threads that check, scan and tidy.
    let workers = Workers::new(WorkerSlots::thread_count() + 3, STACK);
    let evaluator = Evaluator::default();
    let status = transport::run(&workers, STACK, |input, output| {
        let shared = Shared::new_shared(input, workers.clone(), evaluator.clone());
        LspService::build(|client| Backend { client, output, shared: Arc::new(shared) })
            .custom_method(transport::COMPLETION, Backend::completion_at)
            .custom_method(transport::COMPLETION_ITEM, Backend::completion_item)
            .custom_method(transport::SYMBOLS, Backend::symbols_of_document)
            .custom_method(transport::WORKSPACE_SYMBOLS, Backend::symbols_of_workspace)
            .custom_method(transport::HINTS, Backend::hints_in_range)
            .custom_method(transport::TOKENS, Backend::tokens_of_document)
            .custom_method(transport::TOKEN_CHANGES, Backend::changes_of_tokens)
            .custom_method("hiera/nodes", Backend::nodes_of_file)
            .custom_method("hiera/selectNode", Backend::select_node)
            .custom_method("hiera/hierarchy", Backend::hierarchy_of_file)
            .custom_method("hiera/explain", Backend::explain)
            .custom_method("hiera/effectiveData", Backend::effective_data)
            .custom_method("hiera/status", Backend::status)
            .custom_method("window/workDoneProgress/cancel", Backend::cancel_progress)
            .finish()
    });
    // However the session ended, no process of it is left.
    evaluator.end_all();
    status
}

/// The server: one short method for each message.
pub(crate) struct Backend {
    client: Client,
    output: Outlet,
    shared: Arc<Shared>,
}

impl Backend {
    /// Answers a request from the snapshot of this moment, on a thread of its own unless answers
    /// are quick, see [`pace`]: a slow answer holds back nothing, and a panic ends nothing but the
    /// request. Positions in the document `about` are those of its text when the
    /// request came, so a text that changed while the folders were read is no text to answer for.
    async fn answer_request<T: Send + 'static>(
        &self,
        about: Option<FilePath>,
        compute: impl Fn(&Snapshot, &Features) -> T + Send + 'static,
    ) -> Result<T> {
        let asked_of = self.shared.with(|state| {
            state.last_request = Some(Instant::now());
            state.document_version(about.as_ref())
        });
        self.shared.wait_settled().await;
        let (version, snapshot, features) = self.shared.with(|state| {
            (
                state.document_version(about.as_ref()),
                state.workspace.snapshot(),
                state.features.clone(),
            )
        });
        if version != asked_of {
            return Err(content_modified());
        }
        let pace = &self.shared.pace;
        if pace.is_quick() && snapshot.is_indexed() {
            let moment = InlineBudget::begin();
            let for_now = snapshot.clone().with_cancel_token(moment.cancel_token());
            let computed =
                pace.measure(|| catch_unwind(AssertUnwindSafe(|| compute(&for_now, &features))));
            if !moment.was_too_short() {
                return computed.map_err(|_| Error::internal_error());
            }
        }
        let shared = self.shared.clone();
        self.on_a_thread(snapshot, move |snapshot| {
            shared.pace.measure(|| compute(snapshot, &features))
        })
        .await
    }

    /// Computes where it blocks nothing else. The work is cancelled with the request: then this
    /// future is dropped.
    async fn on_a_thread<T: Send + 'static>(
        &self,
        snapshot: Snapshot,
        compute: impl FnOnce(&Snapshot) -> T + Send + 'static,
    ) -> Result<T> {
        // The client waits for the answer as long as this lives.
        let waiting = Arc::new(());
        let seen_from_there = Arc::downgrade(&waiting);
        let snapshot = snapshot
            .with_cancel_token(CancelToken::new(move || seen_from_there.strong_count() == 0));
        let computed = self.shared.slots.run(move || compute(&snapshot)).await;
        drop(waiting);
        computed.ok_or_else(Error::internal_error)
    }

    fn apply_change(&self, change: Change) {
        self.shared.with(|state| state.workspace.apply(change));
        self.shared.changed.notify_one();
    }
}

/// Settings out of the section that some clients send them in.
fn unwrap_section(mut options: serde_json::Value) -> serde_json::Value {
    options.get_mut("hiera").map(serde_json::Value::take).unwrap_or(options)
}

/// Returns the protocol's ContentModified: the client repeats the request if it still needs the
/// answer.
fn content_modified() -> Error {
    Error {
        code: ErrorCode::ServerError(-32801),
        message: "the document has changed since".into(),
        data: None,
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Backend {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let features = from_lsp::client_features(&params.capabilities);
        let folders = from_lsp::workspace_folders(&params);
        let mut capabilities = to_lsp::server_capabilities(features.encoding);
        let options = params.initialization_options.map(unwrap_section);
        let evaluates = requests::is_switched_on(options.as_ref());
        requests::add_capabilities(&mut capabilities, &features.announced, evaluates);
        self.shared.with(|state| {
            state.features = features;
            state.evaluates = evaluates;
            state.client_settings = ClientSettings::of_options(options);
            state.list_folders(folders);
        });
        let server_info = lsp::ServerInfo {
            name: "hiera-ls".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        };
        Ok(lsp::InitializeResult { capabilities, server_info: Some(server_info) })
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        // Never wait for the client within a handler: it may be waiting for us.
        tokio::spawn(scanner::run(self.client.clone(), self.shared.clone()));
        tokio::spawn(publish::run(self.client.clone(), self.output.clone(), self.shared.clone()));
        tokio::spawn(scanner::register(self.client.clone(), self.shared.clone()));
        self.shared.disk.ask_reading();
    }

    async fn shutdown(&self) -> Result<()> {
        let evaluator = self.shared.evaluator.clone();
        let _ = self.shared.slots.workers().run(move || evaluator.end_all()).await;
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        let document = params.text_document;
        let Some(path) = from_lsp::path_of_uri(&document.uri) else { return };
        let is_new_folder = self.shared.with(|state| {
            state.documents.note_open(&path, &document.uri, document.version);
            let is_new_folder = state.adopt_file(&path);
            state.workspace.apply(Change::Open(path, document.text));
            is_new_folder
        });
        self.shared.changed.notify_one();
        match is_new_folder {
            true => self.shared.disk.ask_reading(),
            false => self.shared.refresh_if_old(),
        }
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else { return };
        self.shared.with(|state| {
            for change in params.content_changes {
                let Some(text) = state.workspace.open_text(&path) else { return };
                let change =
                    from_lsp::text_change(path.clone(), change, text, state.features.encoding);
                state.workspace.apply(change);
            }
            state.documents.note_edit(
                &path,
                &params.text_document.uri,
                params.text_document.version,
            );
            // Findings of unsaved files are published later, see `publish`.
            if state.settings.run != PublishTime::OnSave {
                self.shared.changed.notify_one();
            }
        });
    }

    async fn did_save(&self, params: lsp::DidSaveTextDocumentParams) {
        if let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) {
            self.shared.with(|state| state.documents.note_save(&path));
        }
        // Not every client watches files; a save certainly changes a file on disk.
        self.shared.disk.ask_reading();
        self.shared.changed.notify_one();
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else { return };
        if self.shared.with(|state| state.close_document(&path, &params.text_document.uri)) {
            self.shared.pulled.note_close(&path);
            self.apply_change(Change::Close(path));
        }
    }

    async fn did_change_watched_files(&self, _: lsp::DidChangeWatchedFilesParams) {
        self.shared.disk.ask_reading();
    }

    async fn did_change_workspace_folders(&self, params: lsp::DidChangeWorkspaceFoldersParams) {
        let read = self.shared.with(|state| {
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
        self.shared.disk.ask_reading();
        // The user removed the folder: its code must not run on.
        let shared = self.shared.clone();
        tokio::spawn(async move {
            let evaluator = shared.evaluator.clone();
            shared.slots.workers().run(move || evaluator.end_outside(&read)).await
        });
    }

    async fn did_change_configuration(&self, params: lsp::DidChangeConfigurationParams) {
        let pushed = Some(params.settings);
        if self.shared.with(|state| state.features.configuration) {
            tokio::spawn(scanner::pull_settings(self.client.clone(), self.shared.clone(), pushed));
        } else {
            // The server cannot request settings from this client. Taking them before the first
            // `await` keeps the order of pushed ones.
            self.shared.take_settings(pushed.as_ref(), None);
        }
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        self.hover_at(params).await
    }

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        self.definition_at(params).await
    }

    async fn goto_implementation(
        &self,
        params: lsp::request::GotoImplementationParams,
    ) -> Result<Option<lsp::request::GotoImplementationResponse>> {
        self.implementations_at(params).await
    }

    async fn diagnostic(
        &self,
        params: lsp::DocumentDiagnosticParams,
    ) -> Result<lsp::DocumentDiagnosticReportResult> {
        self.findings_of_document(params).await
    }

    async fn workspace_diagnostic(
        &self,
        params: lsp::WorkspaceDiagnosticParams,
    ) -> Result<lsp::WorkspaceDiagnosticReportResult> {
        self.findings_of_workspace(params).await
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        self.references_at(params).await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: lsp::CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyItem>>> {
        self.key_at_place(params).await
    }

    async fn incoming_calls(
        &self,
        params: lsp::CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyIncomingCall>>> {
        self.readers_of_key(params).await
    }

    async fn outgoing_calls(
        &self,
        params: lsp::CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyOutgoingCall>>> {
        self.feeders_of_key(params).await
    }

    async fn prepare_rename(
        &self,
        params: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        self.prepare_rename_at(params).await
    }

    async fn code_action(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        self.actions_in(params).await
    }

    async fn execute_command(
        &self,
        params: lsp::ExecuteCommandParams,
    ) -> Result<Option<serde_json::Value>> {
        self.execute(params).await
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        self.rename_at(params).await
    }

    async fn will_rename_files(
        &self,
        params: lsp::RenameFilesParams,
    ) -> Result<Option<lsp::WorkspaceEdit>> {
        self.change_for_renames(params).await
    }

    async fn document_highlight(
        &self,
        params: lsp::DocumentHighlightParams,
    ) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
        self.highlights_at(params).await
    }

    async fn folding_range(
        &self,
        params: lsp::FoldingRangeParams,
    ) -> Result<Option<Vec<lsp::FoldingRange>>> {
        self.folds_of_document(params).await
    }

    async fn selection_range(
        &self,
        params: lsp::SelectionRangeParams,
    ) -> Result<Option<Vec<lsp::SelectionRange>>> {
        self.selections_around(params).await
    }

    async fn document_link(
        &self,
        params: lsp::DocumentLinkParams,
    ) -> Result<Option<Vec<lsp::DocumentLink>>> {
        self.links_of_document(params).await
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        self.lenses_of_document(params).await
    }

    async fn code_lens_resolve(&self, lens: lsp::CodeLens) -> Result<lsp::CodeLens> {
        self.lens_with_text(lens).await
    }

    async fn semantic_tokens_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        self.tokens_of_range(params).await
    }
}
