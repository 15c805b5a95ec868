//! The server's state between messages. Locked for moments only, never across an `await`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Notify;
use tower_lsp::lsp_types as lsp;

use super::client_settings::ClientSettings;
use super::documents::Documents;
use super::evaluator::Evaluator;
use super::features::Features;
use super::folders::Folders;
use super::pace::LatencyTracker;
use super::pulled::Pulled;
use super::readings::Readings;
use super::requests::LastTokens;
use super::slots::WorkerSlots;
use super::transport::{Input, Workers};
use crate::ide::document_symbols::FileSymbols;
use crate::settings::{SettingProblem, Settings};
use crate::text::FilePath;
use crate::workspace::{Change, Workspace, WorkspaceConfig};

/// The state that the handlers and the two background tasks share.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<ServerState>,
    /// Something changed that findings depend on.
    pub(super) changed: Notify,
    /// Something may have changed on disk, or the settings did.
    pub(super) disk: Readings,
    /// The findings, for a client that asks for them.
    pub(super) pulled: Pulled,
    /// Functions of levels that run at the user's request.
    pub(super) evaluator: Evaluator,
    /// Where messages come from.
    pub(super) input: Input,
    /// How long answers to requests take.
    pub(super) pace: LatencyTracker,
    /// Where answers are computed that take longer.
    pub(super) slots: WorkerSlots,
}

/// The server's memory.
pub(super) struct ServerState {
    /// The files.
    pub(super) workspace: Workspace,
    /// The folders of the client.
    pub(super) folders: Folders,
    /// The client's features.
    pub(super) features: Features,
    /// The settings in force.
    pub(super) settings: Settings,
    /// Whether functions of levels may run at the user's request: settings that come later do not
    /// change that.
    pub(super) evaluates: bool,
    /// The settings of the client.
    pub(super) client_settings: ClientSettings,
    /// The open documents.
    pub(super) documents: Documents,
    /// The last semantic tokens of open documents.
    pub(super) last_tokens: LastTokens,
    /// The last symbols of open documents.
    pub(super) last_symbols: HashMap<FilePath, Arc<FileSymbols>>,
    /// The problems of the settings when they were last put together.
    pub(super) settings_problems: Vec<SettingProblem>,
    /// Whether the settings have been put together.
    pub(super) is_configured: bool,
    /// When a request came last that is answered from a snapshot.
    pub(super) last_request: Option<Instant>,
    last_scan: Option<Instant>,
}

/// Not every client reports changed files; a reading of the disk that is older than this is
/// repeated when a request arrives.
const OLD: Duration = Duration::from_secs(3);

impl Default for ServerState {
    fn default() -> ServerState {
        ServerState {
            workspace: Workspace::new(WorkspaceConfig::default(), Vec::new()),
            folders: Folders::default(),
            features: Features::default(),
            settings: Settings::default(),
            evaluates: false,
            client_settings: ClientSettings::default(),
            documents: Documents::default(),
            last_tokens: LastTokens::default(),
            last_symbols: HashMap::new(),
            settings_problems: Vec::new(),
            is_configured: false,
            last_request: None,
            last_scan: None,
        }
    }
}

impl Shared {
    /// Returns the state before the first message arrives on `input`.
    pub(super) fn new_shared(input: Input, workers: Workers, evaluator: Evaluator) -> Shared {
        Shared { input, evaluator, slots: WorkerSlots::new_slots(workers), ..Shared::default() }
    }

    /// Reads or changes the state. Must not take long: messages wait for it.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut ServerState) -> T) -> T {
        // A panic under the lock leaves the state as it was between two assignments: better than no
        // server.
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes settings that the client pushed, and its answer when it was asked for them. A new
    /// reading of the folders applies them.
    pub(super) fn take_settings(&self, pushed: Option<&Value>, answer: Option<Value>) {
        let is_new = self.with(|state| state.client_settings.take_settings(pushed, answer));
        if is_new || pushed.is_some() {
            self.disk.ask_reading();
        }
    }

    /// Requests another reading of the disk, in the background, if the last one is old.
    pub(super) fn refresh_if_old(&self) {
        let is_old = |state: &mut ServerState| {
            let old = state.last_scan.is_some_and(|last| last.elapsed() > OLD);
            if old {
                state.note_scan(); // As good as: it is asked for once, not by every request that comes meanwhile.
            }
            old
        };
        if self.with(is_old) {
            self.disk.ask_periodic();
        }
    }

    /// Waits for the readings that a request should be answered from, see [`Readings::wait_settled`].
    pub(super) async fn wait_settled(&self) {
        self.refresh_if_old();
        let (is_complete, watches_files) =
            self.with(|state| (state.workspace.snapshot().complete, state.features.watches_files));
        self.disk.wait_settled(is_complete, watches_files).await;
    }
}

impl ServerState {
    /// Returns the version of a document; `None` when it is not open.
    pub(super) fn document_version(&self, path: Option<&FilePath>) -> Option<i32> {
        self.documents.get(path?).map(|document| document.version)
    }

    /// Closes a document under one spelling of its address. Returns whether that was the last one.
    pub(super) fn close_document(&mut self, path: &FilePath, uri: &lsp::Url) -> bool {
        let is_closed = self.documents.close_document(path, uri);
        if is_closed {
            self.last_tokens.forget(path);
            self.last_symbols.remove(path);
        }
        is_closed
    }

    /// Takes the folders that the client has.
    pub(super) fn list_folders(&mut self, listed: Vec<FilePath>) {
        let folders = self.folders.list_folders(listed);
        self.workspace.apply(Change::Folders(folders));
    }

    /// Takes the environment of a file that lies in no folder of the workspace into it.
    /// Says whether there was one.
    pub(super) fn adopt_file(&mut self, path: &FilePath) -> bool {
        let Some(folders) = self.folders.adopt_file(path, self.workspace.folders()) else {
            return false;
        };
        self.workspace.apply(Change::Folders(folders));
        self.note_scan(); // In a moment.
        true
    }

    /// Records that the disk was read.
    pub(super) fn note_scan(&mut self) {
        self.last_scan = Some(Instant::now());
    }
}
