//! An index of a snapshot, computed on first use from the nearest one that is computed already.

use std::sync::{Arc, OnceLock, Weak};

use crate::text::FilePath;

/// An index that is computed on first use: from an index before it, if there is one.
#[derive(Debug)]
pub(super) struct LazyIndex<I> {
    done: OnceLock<I>,
    /// The last index that was computed when this lazy index was made, and the changes since.
    before: Option<(I, Changed)>,
    /// An index between `before` and this lazy index that was not computed yet, and the changes
    /// since. Another thread may have computed it by the time this lazy index is needed.
    under_way: Option<(Weak<LazyIndex<I>>, Changed)>,
}

impl<I> Default for LazyIndex<I> {
    fn default() -> LazyIndex<I> {
        LazyIndex { done: OnceLock::new(), before: None, under_way: None }
    }
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

impl<I: Clone> LazyIndex<I> {
    /// Returns the index after these changes.
    pub(super) fn changed_after(index: &Arc<LazyIndex<I>>, changed: Changed) -> Arc<LazyIndex<I>> {
        if let Some(done) = index.done.get() {
            let before = Some((done.clone(), changed));
            return Arc::new(LazyIndex { before, ..LazyIndex::default() });
        }
        let before =
            index.before.as_ref().map(|(done, earlier)| (done.clone(), earlier.combine(&changed)));
        let under_way = match &index.under_way {
            Some((other, earlier)) if other.strong_count() > 0 => {
                (other.clone(), earlier.combine(&changed))
            }
            _ => (Arc::downgrade(index), changed),
        };
        Arc::new(LazyIndex { done: OnceLock::new(), before, under_way: Some(under_way) })
    }

    /// Returns the index; `compute` makes it of the nearest one that is computed already, and of the
    /// changes since.
    pub(super) fn get_or_compute(&self, compute: impl FnOnce(Option<(I, Changed)>) -> I) -> &I {
        self.done.get_or_init(|| compute(self.nearest_done()))
    }

    /// Returns the index if it is computed already.
    pub(super) fn finished(&self) -> Option<&I> {
        self.done.get()
    }

    /// Returns the nearest index that is computed already, and the changes since.
    pub(super) fn nearest_done(&self) -> Option<(I, Changed)> {
        let under_way = self.under_way.as_ref().and_then(|(index, changed)| {
            let done = index.upgrade()?.done.get()?.clone();
            Some((done, changed.clone()))
        });
        under_way.or_else(|| self.before.clone())
    }
}
