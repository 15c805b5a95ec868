//! The reach of the texts that the client holds: computed in the background after the findings of
//! each change, and cancelled by the next one. Where it is another one than before, the client is
//! asked to request its lenses again.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tower_lsp::lsp_types as lsp;

use super::session::{ServerHandle, Shared, ask_for_lenses};
use crate::ide::reach::{Reach, ReachPage, Revisions};
use crate::text::CancelToken;
use crate::workspace::git::GitRepository;
use crate::workspace::scan::walk_limits;
use crate::workspace::{SavedFiles, Snapshot};

/// How many digits of a commit's id people see.
const SHORT_ID: usize = 9;

/// The reach that is known, and the revision of git that it is compared with.
#[derive(Default)]
pub(in crate::server) struct ReachStore {
    /// The findings after a change are published, or are not waited for.
    pub(in crate::server) due: Notify,
    known: Mutex<KnownReach>,
    base: Mutex<Option<BaseRevision>>,
}

/// The reach of the edits of a revision of the workspace.
#[derive(Clone, Default)]
pub(in crate::server) struct KnownReach {
    pub(in crate::server) reach: Arc<Reach>,
    pub(in crate::server) revision: u64,
}

/// A revision of git as it was read.
struct BaseRevision {
    commit: String,
    /// The files on disk by then: those that git ignores count in each revision.
    saved: SavedFiles,
    snapshot: Snapshot,
}

/// The texts that the client holds, and what they are compared with.
pub(in crate::server) struct ReachQuestion {
    after: Snapshot,
    saved: SavedFiles,
    /// The name of a git revision; `None` for the texts on disk.
    base: Option<String>,
}

impl ReachStore {
    /// Returns the reach that is known.
    pub(in crate::server) fn known_reach(&self) -> KnownReach {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the reach of the edits of a revision. Returns whether it is another one than before.
    fn put_reach(&self, reach: Reach, revision: u64) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other = *known.reach != reach;
        *known = KnownReach { reach: Arc::new(reach), revision };
        is_other
    }
}

impl ReachQuestion {
    /// Creates the question about a snapshot.
    pub(in crate::server) fn new(shared: &Shared, after: Snapshot) -> ReachQuestion {
        let (saved, settings) =
            shared.with(|state| (state.workspace.saved_files(), state.settings.clone()));
        ReachQuestion { after, saved, base: settings.reach_base.clone() }
    }

    /// Returns the report about the edits; `None` when cancelled.
    ///
    /// Errors: the git revision cannot be read.
    pub(in crate::server) fn find_page(
        &self,
        shared: &Shared,
    ) -> Result<Option<ReachPage>, String> {
        let (before, base) = self.before(shared)?;
        let revisions = Revisions { before: &before, after: &self.after };
        Ok(revisions.find_page((&base, "the editor")))
    }

    /// Returns the reach of the edits; `None` when cancelled. `last` is the one before.
    ///
    /// Errors: the git revision cannot be read.
    fn find_reach(&self, shared: &Shared, last: &Reach) -> Result<Option<Reach>, String> {
        let (before, _) = self.before(shared)?;
        Ok(Revisions { before: &before, after: &self.after }.find_reach(last))
    }

    /// Returns the revision before, and its name for people.
    fn before(&self, shared: &Shared) -> Result<(Snapshot, String), String> {
        let Some(name) = &self.base else {
            return Ok((self.after.as_saved(&self.saved), "the saved texts".to_owned()));
        };
        let folder = self.after.folders().first().ok_or("there is no folder")?;
        let repository = GitRepository::discover(folder)?;
        let revision = repository.resolve(name)?;
        let id: String = revision.commit.chars().take(SHORT_ID).collect();
        let words = format!("{name} ({id})");
        let cancel = self.after.cancel_token().clone();
        let mut known = shared.reach.base.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = &*known
            && base.commit == revision.commit
            && base.saved.is_of_same_disk(&self.saved)
            && base.snapshot.has_same_settings(&self.after)
        {
            return Ok((base.snapshot.clone().with_cancel_token(cancel), words));
        }
        let mut tree = repository.into_tree(&revision)?;
        for folder in self.after.folders() {
            tree.add_ignored(folder, &walk_limits(Vec::new()));
        }
        let workspace = shared.with(|state| state.workspace.without_editors());
        let snapshot = workspace.into_revision(&tree);
        if let Some(path) = tree.missing().first() {
            return Err(format!("{path} is not in this partial clone"));
        }
        let (commit, saved) = (revision.commit, self.saved.clone());
        *known = Some(BaseRevision { commit, saved, snapshot: snapshot.clone() });
        Ok((snapshot.with_cancel_token(cancel), words))
    }
}

/// Finds the reach after each change, until the server ends.
pub(in crate::server) async fn run(ServerHandle { client, shared, .. }: ServerHandle) {
    let mut told: Option<String> = None;
    loop {
        shared.reach.due.notified().await;
        shared.input.wait_settled().await;
        let (snapshot, is_shown) = shared.with(|state| {
            let is_ready = state.is_configured && state.workspace.snapshot().complete;
            let snapshot = state.workspace.snapshot();
            (is_ready.then_some(snapshot), state.settings.lenses.reach)
        });
        let Some(snapshot) = snapshot else { continue };
        let revision = snapshot.revision;
        let snapshot = snapshot.with_cancel_token(while_at(shared.clone(), revision));
        let finding = shared.clone();
        let find = move || {
            if !is_shown {
                return Ok(Some(Reach::default()));
            }
            let last = finding.reach.known_reach();
            ReachQuestion::new(&finding, snapshot).find_reach(&finding, &last.reach)
        };
        let found = match shared.pool.run(false, find).await {
            // A newer change is on its way.
            Some(Ok(None)) => continue,
            Some(Ok(Some(reach))) => {
                told = None;
                reach
            }
            Some(Err(error)) => {
                let message = format!("edits are not compared with `reach.base`: {error}");
                if told.as_ref() != Some(&message) {
                    client.log_message(lsp::MessageType::WARNING, &message).await;
                    told = Some(message);
                }
                Reach::default()
            }
            None => {
                let message = "comparing edits failed; this is a defect of hiera-ls";
                client.log_message(lsp::MessageType::ERROR, message).await;
                Reach::default()
            }
        };
        tracing::debug!(revision, "reach of the edits");
        if shared.reach.put_reach(found, revision) {
            ask_for_lenses(&client, &shared);
        }
    }
}

/// Returns a token that is cancelled when the workspace is at another revision.
fn while_at(shared: Arc<Shared>, revision: u64) -> CancelToken {
    CancelToken::new(move || shared.with(|state| state.workspace.revision()) != revision)
}
