//! The reach of the texts that the client holds, and the revision that they are compared with.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use super::debounce::Debounce;
use crate::fleet::compare::KnownAnswers;
use crate::ide::reach::{Reach, ReachPage, Revisions};
use crate::workspace::files::git::GitRepository;
use crate::workspace::files::scan::walk_limits;
use crate::workspace::{SavedFiles, Snapshot, Workspace};

/// How many digits of a commit's id people see.
const SHORT_ID: usize = 9;

/// The reach that is known, and the revision of git that it is compared with.
#[derive(Default)]
pub(in crate::server) struct ReachStore {
    /// The findings after a change are published, or are not waited for.
    pub(in crate::server) due: Debounce,
    known: Mutex<KnownReach>,
    base: Mutex<Option<BaseRevision>>,
}

/// The reach of the edits of a revision of the workspace.
#[derive(Clone, Default)]
pub(in crate::server) struct KnownReach {
    pub(in crate::server) reach: Arc<Reach>,
    pub(in crate::server) revision: u64,
}

/// The room for answers of the revision that texts are compared with, in bytes: of the keys that
/// depend on an edited value, for thousands of nodes.
const ROOM: usize = 16 << 20;

/// The revision that texts are compared with. It is the same one for many keystrokes.
#[derive(Clone)]
struct BaseRevision {
    /// The commit; `None` for the texts on disk.
    commit: Option<String>,
    /// The files on disk when the revision was read: those that git ignores count in each revision.
    saved: SavedFiles,
    snapshot: Snapshot,
    /// The answers that comparisons have found.
    known: Arc<Mutex<KnownAnswers>>,
}

/// The texts that the client holds, and what they are compared with.
pub(super) struct ReachQuestion {
    pub(super) after: Snapshot,
    pub(super) saved: SavedFiles,
    /// The name of a git revision; `None` for the texts on disk.
    pub(super) base: Option<String>,
    /// Whether the snapshot was the last one when the files on disk were taken.
    pub(super) is_current: bool,
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
        let (base, words) = self.base_revision(store, without_editors)?;
        let revisions = Revisions { before: &base.snapshot, after: &self.after };
        Ok(base.with_known(|known| revisions.find_page((&words, "the editor"), known)))
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
        let (base, _) = self.base_revision(store, without_editors)?;
        let revisions = Revisions { before: &base.snapshot, after: &self.after };
        Ok(base.with_known(|known| revisions.find_reach(&last.reach, known)))
    }

    /// Returns the revision that the texts are compared with, for work that is cancelled with this
    /// question, and the revision's name for people.
    fn base_revision(
        &self,
        store: &ReachStore,
        without_editors: impl FnOnce() -> Workspace,
    ) -> Result<(BaseRevision, String), String> {
        let Some(name) = &self.base else {
            // A new layout creates other environments, even where nothing in them has changed: data
            // is compared within one environment.
            let may_be_kept = |base: &Snapshot| {
                base.has_same_environments(&self.after)
                    || !self.after.keeps_environments_as_saved(&self.saved)
            };
            let base = self
                .kept_revision(store, None, may_be_kept, || Ok(self.after.as_saved(&self.saved)))?;
            return Ok((base, "the saved texts".to_owned()));
        };
        let folder = self.after.folders().first().ok_or("there is no folder")?;
        let repository = GitRepository::discover(folder)?;
        let revision = repository.resolve(name)?;
        let id: String = revision.commit.chars().take(SHORT_ID).collect();
        let words = format!("{name} ({id})");
        let base = self.kept_revision(
            store,
            Some(&revision.commit),
            |_| true,
            || {
                let mut tree = repository.into_tree(&revision)?;
                for folder in self.after.folders() {
                    tree.add_ignored(folder, &walk_limits(Vec::new()));
                }
                let snapshot = without_editors().into_revision(&tree);
                match tree.missing().first() {
                    Some(path) => Err(format!("{path} is not in this partial clone")),
                    None => Ok(snapshot),
                }
            },
        )?;
        Ok((base, words))
    }

    /// Returns the revision that is kept, where it is still the one, or else keeps and returns the
    /// one that `read` reads.
    ///
    /// Errors: those of `read`.
    fn kept_revision(
        &self,
        store: &ReachStore,
        commit: Option<&str>,
        may_be_kept: impl FnOnce(&Snapshot) -> bool,
        read: impl FnOnce() -> Result<Snapshot, String>,
    ) -> Result<BaseRevision, String> {
        let mut kept = store.base.lock().unwrap_or_else(PoisonError::into_inner);
        let base = match kept.as_ref().filter(|base: &&BaseRevision| {
            base.commit.as_deref() == commit
                && base.saved.is_of_same_disk(&self.saved)
                && base.snapshot.has_same_settings(&self.after)
                && may_be_kept(&base.snapshot)
        }) {
            Some(base) => base.clone(),
            None => BaseRevision {
                commit: commit.map(str::to_owned),
                saved: self.saved.clone(),
                snapshot: read()?,
                known: Arc::new(Mutex::new(KnownAnswers::new(ROOM))),
            },
        };
        // Texts of another revision than that of the files on disk are no base for later questions.
        if self.is_current {
            *kept = Some(base.clone());
        }
        let snapshot = base.snapshot.with_cancel_token(self.after.cancel_token().clone());
        Ok(BaseRevision { snapshot, ..base })
    }
}

impl BaseRevision {
    /// Calls `find` with the known answers, or with none where another thread completes them.
    fn with_known<T>(&self, find: impl FnOnce(&mut KnownAnswers) -> T) -> T {
        match self.known.try_lock() {
            Ok(mut known) => find(&mut known),
            Err(TryLockError::Poisoned(known)) => find(&mut known.into_inner()),
            Err(TryLockError::WouldBlock) => find(&mut KnownAnswers::new(0)),
        }
    }
}
