//! Items of a feature in a file (symbols, semantic tokens), grouped by runs of entries. A run that
//! an edit does not change keeps its items.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::hiera::data::{DataFile, Part};
use crate::text::TextRange;

/// The items in a run of neighbouring entries.
#[derive(Clone, Debug)]
pub struct RunItems<T> {
    /// The bytes of the entries in the text.
    pub range: TextRange,
    /// The items in the order of the text, with places counted from the start of the run. The
    /// `Arc` is that of an earlier version of the file if the run is the same in both.
    pub items: Arc<[T]>,
    /// The entries that the items are from; they live as long as some version of the file has them.
    parts: Weak<[Part]>,
}

impl<T> RunItems<T> {
    /// Returns the items of a text without entries, as one run. No later version of the file reuses
    /// it.
    pub(super) fn without_entries(range: TextRange, items: Vec<T>) -> RunItems<T> {
        let parts: Weak<[Part; 0]> = Weak::new();
        RunItems { range, items: items.into(), parts }
    }
}

/// Returns the items in a file that is `length` bytes long. A run that is also in `before` keeps
/// its items; `find` returns those of any other run. `None` if `find` returns `None`, as it does
/// when cancelled.
pub(super) fn by_run<T>(
    data: &DataFile,
    length: u32,
    before: &[RunItems<T>],
    mut find: impl FnMut(TextRange, &[Part]) -> Option<Vec<T>>,
) -> Option<Vec<RunItems<T>>> {
    let known: HashMap<*const Part, &RunItems<T>> =
        before.iter().map(|run| (run.parts.as_ptr().cast(), run)).collect();
    data.parts()
        .placed_runs(length)
        .map(|(range, parts)| {
            let items = match known.get(&parts.as_ptr()) {
                Some(run) => run.items.clone(),
                None => find(range, parts)?.into(),
            };
            Some(RunItems { range, items, parts: Arc::downgrade(parts) })
        })
        .collect()
}
