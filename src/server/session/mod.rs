//! The state between messages: the open documents and the workspace, the folders, the
//! settings, the findings that the client has; and the task that reads the disk.

mod client_settings;
mod debounce;
mod disk_scans;
mod findings;
mod folders;
mod pages;
pub(super) mod progress;
pub(super) mod puppetdb;
mod reach;
mod refresh;
pub(super) mod scanner;
mod state;
mod status;

use std::sync::Arc;
use std::time::Instant;

use tower_lsp::Client;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types as lsp;

use super::capabilities::Features;
use super::documents::Documents;
use super::to_lsp;
use super::transport::Outlet;
use crate::ide::evaluation::Evaluations;
use crate::settings::Settings;
use crate::text::{FilePath, SourceChange};
use crate::workspace::{Change, Snapshot};
pub(super) use client_settings::ClientSettings;
pub(super) use findings::FileReport;
pub(super) use refresh::{ask_for_findings, ask_for_lenses, ask_for_views};
pub(super) use state::Shared;

/// The server as messages see it. Copies are the same server.
#[derive(Clone)]
pub(super) struct ServerHandle {
    /// Sends the server's own requests and notifications.
    pub(super) client: Client,
    /// Sends messages that are JSON already.
    pub(super) output: Outlet,
    /// The state that all messages share.
    pub(super) shared: Arc<Shared>,
}

/// The client as a request sees it, taken together with the snapshot that answers the request.
pub(super) struct ClientView {
    /// The client's features.
    pub(super) features: Arc<Features>,
    /// The open documents.
    pub(super) documents: Documents,
    /// The settings in force.
    pub(super) settings: Arc<Settings>,
    /// Whether functions of levels may run at the user's request.
    pub(super) evaluates: bool,
    /// For answers that are kept for the next request.
    pub(super) shared: Arc<Shared>,
}

impl ClientView {
    /// Returns the user's evaluations; `None` where functions are switched off.
    pub(super) fn evaluations(&self) -> Option<Evaluations> {
        self.evaluates.then(|| self.shared.evaluator.kept_outcomes())
    }

    /// Returns the edit of a change; `None` for one that the gate stops.
    pub(super) fn workspace_edit(
        &self,
        snapshot: &Snapshot,
        change: SourceChange,
    ) -> Option<lsp::WorkspaceEdit> {
        let change = snapshot.allow_change(change).ok()?;
        Some(to_lsp::workspace_edit(snapshot, &change, &self.features, &self.documents))
    }
}

impl ServerHandle {
    /// Answers a request from the snapshot of this moment. The positions in `document` are those of
    /// its text when the request came, so a text that changed while the folders were read cannot
    /// answer for it. A `long` answer gets a thread of its own at once.
    pub(super) async fn answer<T: Send + 'static>(
        &self,
        document: Option<FilePath>,
        long: bool,
        compute: impl Fn(&Snapshot, &ClientView) -> T + Send + 'static,
    ) -> Result<T> {
        let shared = &self.shared;
        let asked_about = shared.with(|state| {
            state.last_request = Some(Instant::now());
            state.document_version(document.as_ref())
        });
        shared.await_scans().await;
        let (version, snapshot, view) = shared.with(|state| {
            let view = ClientView {
                features: state.features.clone(),
                documents: state.documents.clone(),
                settings: state.settings.clone(),
                evaluates: state.evaluates,
                shared: shared.clone(),
            };
            (state.document_version(document.as_ref()), state.workspace.snapshot(), view)
        });
        if version != asked_about {
            return Err(content_modified());
        }
        let compute = move |snapshot: &Snapshot| compute(snapshot, &view);
        let computed = if long {
            shared.pool.answer_on_thread(snapshot, compute).await
        } else {
            shared.pool.answer(snapshot, compute).await
        };
        computed.ok_or_else(Error::internal_error)
    }

    /// Changes the workspace, and wakes the publisher.
    pub(super) fn apply_change(&self, change: Change) {
        self.shared.with(|state| state.workspace.apply(change));
        self.shared.changed.notify_one();
    }
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
