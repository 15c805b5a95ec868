//! The reach of the texts that the client holds, and the revision that they are compared with.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::ide::reach::{Reach, ReachPage, Revisions};
use crate::workspace::git::GitRepository;
use crate::workspace::scan::walk_limits;
use crate::workspace::{SavedFiles, Snapshot, Workspace};

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
pub(super) struct ReachQuestion {
    pub(super) after: Snapshot,
    pub(super) saved: SavedFiles,
    /// The name of a git revision; `None` for the texts on disk.
    pub(super) base: Option<String>,
}

impl ReachStore {
    /// Returns the reach that is known.
    pub(in crate::server) fn known_reach(&self) -> KnownReach {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the reach of the edits of a revision. Returns whether it is another one than before.
    pub(in crate::server) fn put_reach(&self, reach: Reach, revision: u64) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other = *known.reach != reach;
        *known = KnownReach { reach: Arc::new(reach), revision };
        is_other
    }
}

impl ReachQuestion {
    /// Returns the report about the edits; `None` when cancelled. `without_editors` returns the
    /// workspace as it is on disk.
    ///
    /// Errors: the git revision cannot be read.
    pub(super) fn find_page(
        &self,
        store: &ReachStore,
        without_editors: impl FnOnce() -> Workspace,
    ) -> Result<Option<ReachPage>, String> {
        let (before, base) = self.before(store, without_editors)?;
        let revisions = Revisions { before: &before, after: &self.after };
        Ok(revisions.find_page((&base, "the editor")))
    }

    /// Returns the reach of the edits; `None` when cancelled.
    ///
    /// Errors: the git revision cannot be read.
    pub(super) fn find_reach(
        &self,
        store: &ReachStore,
        without_editors: impl FnOnce() -> Workspace,
    ) -> Result<Option<Reach>, String> {
        let last = store.known_reach();
        let (before, _) = self.before(store, without_editors)?;
        Ok(Revisions { before: &before, after: &self.after }.find_reach(&last.reach))
    }

    /// Returns the revision before, and its name for people.
    fn before(
        &self,
        store: &ReachStore,
        without_editors: impl FnOnce() -> Workspace,
    ) -> Result<(Snapshot, String), String> {
        let Some(name) = &self.base else {
            return Ok((self.after.as_saved(&self.saved), "the saved texts".to_owned()));
        };
        let folder = self.after.folders().first().ok_or("there is no folder")?;
        let repository = GitRepository::discover(folder)?;
        let revision = repository.resolve(name)?;
        let id: String = revision.commit.chars().take(SHORT_ID).collect();
        let words = format!("{name} ({id})");
        let cancel = self.after.cancel_token().clone();
        let mut known = store.base.lock().unwrap_or_else(PoisonError::into_inner);
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
        let snapshot = without_editors().into_revision(&tree);
        if let Some(path) = tree.missing().first() {
            return Err(format!("{path} is not in this partial clone"));
        }
        let (commit, saved) = (revision.commit, self.saved.clone());
        *known = Some(BaseRevision { commit, saved, snapshot: snapshot.clone() });
        Ok((snapshot.with_cancel_token(cancel), words))
    }
}
