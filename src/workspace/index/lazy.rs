//! The index of a snapshot, computed on first use from the nearest one that is computed already.

use std::sync::{Arc, OnceLock, Weak};

use super::KeyIndex;
use crate::text::FilePath;
use crate::workspace::snapshot::Snapshot;

/// With fewer changed files an index is brought up to them by the way.
const LITTLE: usize = 64;

/// An index that is computed on first use: from an index before it, if there is one.
#[derive(Debug, Default)]
pub(in crate::workspace) struct LazyIndex {
    done: OnceLock<KeyIndex>,
    /// The last index that was computed when this was made, and the changes since.
    before: Option<(KeyIndex, Changed)>,
    /// An index between them that was not computed yet, and the changes since. Another thread may
    /// have computed it by the time when this is needed.
    under_way: Option<(Weak<LazyIndex>, Changed)>,
}

/// The changes from one snapshot to another.
#[derive(Clone, Debug)]
pub(super) enum Changed {
    /// These files and nothing else.
    Files(imbl::OrdSet<FilePath>),
    /// The set of files, or the ways in which they are read.
    Layout,
}

impl Default for Changed {
    fn default() -> Changed {
        Changed::Files(imbl::OrdSet::new())
    }
}

impl Changed {
    fn then(&self, later: &Changed) -> Changed {
        match (self, later) {
            (Changed::Files(earlier), Changed::Files(later)) => {
                Changed::Files(earlier.clone().union(later.clone()))
            }
            _ => Changed::Layout,
        }
    }

    /// Whether bringing an index up to it is a matter of some files that take little to read.
    fn is_little(&self, snapshot: &Snapshot) -> bool {
        let is_soon_read = |path| snapshot.file(path).is_none_or(|file| file.is_soon_read());
        matches!(self, Changed::Files(files) if files.len() < LITTLE && files.iter().all(is_soon_read))
    }
}

impl LazyIndex {
    /// Returns the index after the files at these paths changed.
    pub(in crate::workspace) fn after(
        before: &Arc<LazyIndex>,
        paths: impl IntoIterator<Item = FilePath>,
    ) -> LazyIndex {
        LazyIndex::with(before, Changed::Files(paths.into_iter().collect()))
    }

    /// Returns the index where other files may be there, or be read otherwise.
    pub(in crate::workspace) fn after_layout(before: &Arc<LazyIndex>) -> LazyIndex {
        LazyIndex::with(before, Changed::Layout)
    }

    fn with(index: &Arc<LazyIndex>, changed: Changed) -> LazyIndex {
        if let Some(done) = index.done.get() {
            return LazyIndex { before: Some((done.clone(), changed)), ..LazyIndex::default() };
        }
        let before =
            index.before.as_ref().map(|(done, earlier)| (done.clone(), earlier.then(&changed)));
        let under_way = match &index.under_way {
            Some((other, earlier)) if other.strong_count() > 0 => {
                (other.clone(), earlier.then(&changed))
            }
            _ => (Arc::downgrade(index), changed),
        };
        LazyIndex { done: OnceLock::new(), before, under_way: Some(under_way) }
    }

    /// Returns the nearest index that is computed already, and the changes since.
    fn nearest(&self) -> Option<(KeyIndex, Changed)> {
        let under_way = self.under_way.as_ref().and_then(|(index, changed)| {
            let done = index.upgrade()?.done.get()?.clone();
            Some((done, changed.clone()))
        });
        under_way.or_else(|| self.before.clone())
    }

    /// Whether no more than a little has to be read for it.
    pub(in crate::workspace) fn is_near(&self, snapshot: &Snapshot) -> bool {
        self.done.get().is_some()
            || self.nearest().is_some_and(|(_, changed)| changed.is_little(snapshot))
    }

    /// Returns the index of the snapshot that this belongs to.
    pub(in crate::workspace) fn get(&self, snapshot: &Snapshot) -> &KeyIndex {
        self.done.get_or_init(|| match self.nearest() {
            Some((before, changed)) => before.patched(snapshot, &changed),
            None => KeyIndex::new(snapshot),
        })
    }
}
