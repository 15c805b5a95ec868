//! Work on many files at once, on all cores.

mod output;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

pub use output::write_on_all_cores;

use crate::hiera::lookup::STACK;

/// The number of items that a thread takes at a time: enough that taking costs nothing, few enough
/// that no thread is left with all the long ones.
const BATCH: usize = 16;

/// Returns the number of cores. It is determined once: the system reads limits from several files.
pub fn core_count() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Applies `work` to each item on all cores; returns the results in the order of the items.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = core_count().min(items.len().div_ceil(BATCH));
    if cores < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len().div_ceil(BATCH)));
    let take = || {
        loop {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(batch) =
                items.get(start..items.len().min(start + BATCH)).filter(|batch| !batch.is_empty())
            else {
                return;
            };
            let results: Vec<R> = batch.iter().map(&work).collect();
            done.lock().expect("no holder panics").push((start, results));
        }
    };
    thread::scope(|scope| {
        // This thread only waits: an allocator gives new threads the heaps that the fewest have;
        // one that has long had a heap may have the same as one of them, and then both wait for
        // each other.
        let begun =
            (0..cores).map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, take));
        // Threads that cannot be had are done without.
        if begun.filter(Result::is_ok).count() < cores {
            take();
        }
    });
    let mut done = done.into_inner().expect("no holder panics");
    done.sort_by_key(|(start, _)| *start);
    done.into_iter().flat_map(|(_, results)| results).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        for count in [0, 1, 15, 16, 17, 1_000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(
                on_all_cores(&items, |n| n * 2),
                items.iter().map(|n| n * 2).collect::<Vec<_>>()
            );
        }
    }
}
