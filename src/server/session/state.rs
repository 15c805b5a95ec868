//! The server's state between messages. Locked for moments only, never across an `await`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Notify;
use tower_lsp::lsp_types as lsp;

use super::client_settings::{ClientSettings, SettingsAnswer};
use super::disk_scans::DiskScans;
use super::findings::FindingsStore;
use super::folders::Folders;
use super::pages::PageStore;
use super::reach::{ReachQuestion, ReachStore};
use super::status::ToldStatus;
use crate::ide::code_lens::FileLenses;
use crate::ide::document_symbols::FileSymbols;
use crate::ide::reach::{Reach, ReachPage};
use crate::server::capabilities::Features;
use crate::server::documents::Documents;
use crate::server::evaluator::Evaluator;
use crate::server::pool::{Pool, Threads};
use crate::server::to_lsp::tokens::EncodedTokens;
use crate::server::transport::Input;
use crate::settings::{SettingProblem, Settings};
use crate::text::FilePath;
use crate::workspace::{Change, Snapshot, Workspace, WorkspaceConfig};

/// The state that the handlers and the background tasks share.
#[derive(Default)]
pub(in crate::server) struct Shared {
    state: Mutex<ServerState>,
    /// Something changed that findings depend on.
    pub(in crate::server) changed: Notify,
    /// Something may have changed on disk, or the settings did.
    pub(in crate::server) disk: DiskScans,
    /// The folders were read, and PuppetDB may have to be asked for nodes.
    pub(in crate::server) nodes_due: Notify,
    /// The findings, for a client that requests them.
    pub(in crate::server) findings: FindingsStore,
    /// Functions of levels that run at the user's request.
    pub(in crate::server) evaluator: Evaluator,
    /// The reach of the edits.
    pub(in crate::server) reach: ReachStore,
    /// The status that the client has.
    pub(in crate::server) status: ToldStatus,
    /// The pages that the client has.
    pub(in crate::server) pages: PageStore,
    /// Where messages come from.
    pub(in crate::server) input: Input,
    /// Where answers are computed.
    pub(in crate::server) pool: Pool,
}

/// The server's memory.
pub(in crate::server) struct ServerState {
    /// The files.
    pub(in crate::server) workspace: Workspace,
    /// The folders of the client.
    pub(in crate::server) folders: Folders,
    /// The client's features.
    pub(in crate::server) features: Arc<Features>,
    /// The settings in force.
    pub(in crate::server) settings: Arc<Settings>,
    /// Whether functions of levels may run at the user's request: settings that come later do not
    /// change that.
    pub(in crate::server) evaluates: bool,
    /// The settings of the client.
    pub(in crate::server) client_settings: ClientSettings,
    /// The open documents.
    pub(in crate::server) documents: Documents,
    /// The last semantic tokens of open documents.
    pub(in crate::server) last_tokens: LastTokens,
    /// The last symbols of open documents.
    pub(in crate::server) last_symbols: HashMap<FilePath, Arc<FileSymbols>>,
    /// The last lenses of open documents.
    pub(in crate::server) last_lenses: HashMap<FilePath, Arc<FileLenses>>,
    /// The problems of the settings when they were last put together.
    pub(in crate::server) settings_problems: Vec<SettingProblem>,
    /// Whether the settings have been put together.
    pub(in crate::server) is_configured: bool,
    /// When a request came last that is answered from a snapshot.
    pub(in crate::server) last_request: Option<Instant>,
    last_scan: Option<Instant>,
}

/// The age beyond which a reading of the disk is repeated when a request arrives, as not every
/// client reports changed files.
const OLD: Duration = Duration::from_secs(3);

impl Default for ServerState {
    fn default() -> ServerState {
        ServerState {
            workspace: Workspace::new(WorkspaceConfig::default(), Vec::new()),
            folders: Folders::default(),
            features: Arc::default(),
            settings: Arc::default(),
            evaluates: false,
            client_settings: ClientSettings::default(),
            documents: Documents::default(),
            last_tokens: LastTokens::default(),
            last_symbols: HashMap::new(),
            last_lenses: HashMap::new(),
            settings_problems: Vec::new(),
            is_configured: false,
            last_request: None,
            last_scan: None,
        }
    }
}

impl Shared {
    /// Returns the state before the first message arrives on `input`.
    pub(in crate::server) fn new_shared(
        input: Input,
        threads: Threads,
        evaluator: Evaluator,
    ) -> Shared {
        Shared { input, evaluator, pool: Pool::new(threads), ..Shared::default() }
    }

    /// Reads or changes the state. Must not take long: messages wait for it.
    pub(in crate::server) fn with<T>(&self, look: impl FnOnce(&mut ServerState) -> T) -> T {
        // A panic under the lock leaves the state as it was between two assignments: such a state
        // is better than no server.
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes settings that the client pushed, and its answer when it was asked for them. A new
    /// reading of the folders applies them.
    pub(in crate::server) fn take_settings(
        &self,
        pushed: Option<&Value>,
        answer: Option<SettingsAnswer>,
    ) {
        let is_new = self.with(|state| state.client_settings.take_settings(pushed, answer));
        if is_new || pushed.is_some() {
            self.disk.ask_reading();
        }
    }

    /// Records that the findings after a change are published, or are not waited for: what else
    /// depends on the change is due.
    pub(in crate::server) fn wake_after_findings(&self) {
        self.reach.due.note_change();
        self.pages.due.note_change();
    }

    /// Records that something has changed whose findings are still to be published.
    pub(in crate::server) fn restart_pauses(&self) {
        self.reach.due.restart_pause();
        self.pages.due.restart_pause();
    }

    /// Returns the reach of the edits in a snapshot; `None` when cancelled.
    ///
    /// Errors: the git revision of the settings cannot be read.
    pub(in crate::server) fn find_reach(&self, after: Snapshot) -> Result<Option<Reach>, String> {
        self.reach_question(after).find_reach(&self.reach, || self.workspace_on_disk())
    }

    /// Returns the report about the edits in a snapshot; `None` when cancelled.
    ///
    /// Errors: the git revision of the settings cannot be read.
    pub(in crate::server) fn find_reach_page(
        &self,
        after: Snapshot,
    ) -> Result<Option<ReachPage>, String> {
        self.reach_question(after).find_page(&self.reach, || self.workspace_on_disk())
    }

    fn reach_question(&self, after: Snapshot) -> ReachQuestion {
        self.with(|state| {
            let (saved, base) = (state.workspace.saved_files(), state.settings.reach_base.clone());
            let is_current = state.workspace.revision() == after.revision;
            ReachQuestion { after, saved, base, is_current }
        })
    }

    fn workspace_on_disk(&self) -> Workspace {
        self.with(|state| state.workspace.without_editors())
    }

    /// Requests another reading of the disk, in the background, if the last one is old.
    pub(in crate::server) fn refresh_if_old(&self) {
        if self.with(is_scan_old) {
            self.disk.ask_periodic();
        }
    }

    /// Waits for the readings that a request should be answered from, see [`DiskScans::await_scans`].
    pub(in crate::server) async fn await_scans(&self) {
        self.refresh_if_old();
        let (is_complete, watches_files) =
            self.with(|state| (state.workspace.snapshot().complete, state.features.watches_files));
        self.disk.await_scans(is_complete, watches_files).await;
    }
}

fn is_scan_old(state: &mut ServerState) -> bool {
    let old = state.last_scan.is_some_and(|last| last.elapsed() > OLD);
    if old {
        state.note_scan(); // As good as: it is asked for once, not by every request that comes meanwhile.
    }
    old
}

/// The last answers with the semantic tokens of open documents, with their numbers. The next answer
/// takes from the last one all that has not changed, and states the difference.
#[derive(Debug, Default)]
pub(in crate::server) struct LastTokens {
    number: u64,
    by_path: HashMap<FilePath, (u64, EncodedTokens)>,
}

impl LastTokens {
    /// Returns the last answer about a document, with its number.
    pub(in crate::server) fn get(&self, path: &FilePath) -> Option<&(u64, EncodedTokens)> {
        self.by_path.get(path)
    }

    /// Keeps the answer about a document in place of the one before. Returns its number.
    pub(in crate::server) fn keep_answer(&mut self, path: &FilePath, answer: EncodedTokens) -> u64 {
        self.number += 1;
        self.by_path.insert(path.clone(), (self.number, answer));
        self.number
    }

    /// Forgets the answer about a document that is closed.
    fn forget(&mut self, path: &FilePath) {
        self.by_path.remove(path);
    }
}

impl ServerState {
    /// Returns the version of a document; `None` when it is not open.
    pub(in crate::server) fn document_version(&self, path: Option<&FilePath>) -> Option<i32> {
        self.documents.get(path?).map(|document| document.version)
    }

    /// Closes a document under one spelling of its address. Returns whether that was the last one.
    pub(in crate::server) fn close_document(&mut self, path: &FilePath, uri: &lsp::Url) -> bool {
        let is_closed = self.documents.close_document(path, uri);
        if is_closed {
            self.last_tokens.forget(path);
            self.last_symbols.remove(path);
            self.last_lenses.remove(path);
        }
        is_closed
    }

    /// Takes the folders that the client has.
    pub(in crate::server) fn list_folders(&mut self, listed: Vec<FilePath>) {
        let folders = self.folders.list_folders(listed);
        self.workspace.apply(Change::Folders(folders));
    }

    /// Takes the environment of a file that lies in no folder of the workspace into the workspace.
    /// Returns whether there was one.
    pub(in crate::server) fn adopt_file(&mut self, path: &FilePath) -> bool {
        let Some(folders) = self.folders.adopt_file(path, self.workspace.folders()) else {
            return false;
        };
        self.workspace.apply(Change::Folders(folders));
        self.note_scan(); // In a moment.
        true
    }

    /// Records that the disk was read.
    pub(in crate::server) fn note_scan(&mut self) {
        self.last_scan = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::text::Encoding;

    #[test]
    fn answers_about_closed_documents_are_forgotten() {
        let fixture = Fixture::new("a: '%{b}'\n");
        let path = FilePath::new("/data/common.yaml");
        let answer = EncodedTokens::from_file(&fixture.snapshot, &path, None, Encoding::Utf16)
            .expect("it is data");
        let mut last = LastTokens::default();
        assert_eq!(last.keep_answer(&path, answer.clone()), 1);
        assert_eq!(last.keep_answer(&path, answer.clone()), 2);
        last.forget(&path);
        assert!(last.by_path.is_empty());
        assert_eq!(last.keep_answer(&path, answer), 3, "a number is not used again");
    }
}
