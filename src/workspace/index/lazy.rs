//! The index of a snapshot, computed on first use from the nearest one that is computed already.

use std::sync::{Arc, OnceLock, Weak};

use super::key_index::KeyIndex;
use crate::text::FilePath;

/// An index that is computed on first use: from an index before it, if there is one.
#[derive(Debug, Default)]
pub(in crate::workspace) struct LazyIndex {
    pub(super) done: OnceLock<KeyIndex>,
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
    fn combine(&self, later: &Changed) -> Changed {
        match (self, later) {
            (Changed::Files(earlier), Changed::Files(later)) => {
                Changed::Files(earlier.clone().union(later.clone()))
            }
            _ => Changed::Layout,
        }
    }
}

impl LazyIndex {
    /// Returns the index after the files at these paths changed.
    pub(in crate::workspace) fn changed_after(
        before: &Arc<LazyIndex>,
        paths: impl IntoIterator<Item = FilePath>,
    ) -> LazyIndex {
        LazyIndex::with_changes(before, Changed::Files(paths.into_iter().collect()))
    }

    /// Returns the index where other files may be there, or be read otherwise.
    pub(in crate::workspace) fn after_layout(before: &Arc<LazyIndex>) -> LazyIndex {
        LazyIndex::with_changes(before, Changed::Layout)
    }

    fn with_changes(index: &Arc<LazyIndex>, changed: Changed) -> LazyIndex {
        if let Some(done) = index.done.get() {
            return LazyIndex { before: Some((done.clone(), changed)), ..LazyIndex::default() };
        }
        let before =
            index.before.as_ref().map(|(done, earlier)| (done.clone(), earlier.combine(&changed)));
        let under_way = match &index.under_way {
            Some((other, earlier)) if other.strong_count() > 0 => {
                (other.clone(), earlier.combine(&changed))
            }
            _ => (Arc::downgrade(index), changed),
        };
        LazyIndex { done: OnceLock::new(), before, under_way: Some(under_way) }
    }

    /// Returns the nearest index that is computed already, and the changes since.
    pub(super) fn nearest_done(&self) -> Option<(KeyIndex, Changed)> {
        let under_way = self.under_way.as_ref().and_then(|(index, changed)| {
            let done = index.upgrade()?.done.get()?.clone();
            Some((done, changed.clone()))
        });
        under_way.or_else(|| self.before.clone())
    }
}
