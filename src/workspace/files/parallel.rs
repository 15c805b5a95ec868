//! Work on many files at once, on all cores.

mod output;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

pub use output::write_on_all_cores;

use crate::hiera::lookup::STACK;

/// The highest number of items that a thread takes at a time: enough that taking costs nothing, few
/// enough that no thread is left with all the long ones. Fewer items are work for one thread.
const BATCH: usize = 16;

/// Returns the number of cores. It is determined once: the system reads limits from several files.
pub fn core_count() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Returns the number of threads that work on so many items.
pub fn thread_count(items: usize) -> usize {
    core_count().min(items.div_ceil(BATCH))
}

/// Applies `work` to each item on all cores; returns the results in the order of the items.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    on_all_cores_with(items, || (), |(), item| work(item))
}

/// Works as [`on_all_cores`], with a value that each thread creates once.
pub fn on_all_cores_with<S, T: Sync, R: Send>(
    items: &[T],
    create: impl Fn() -> S + Sync,
    work: impl Fn(&S, &T) -> R + Sync,
) -> Vec<R> {
    let cores = thread_count(items.len());
    if cores < 2 {
        let own = create();
        return items.iter().map(|item| work(&own, item)).collect();
    }
    let size = (items.len() / (16 * cores)).clamp(1, BATCH);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len().div_ceil(size)));
    let take = || {
        let own = create();
        loop {
            let start = next.fetch_add(size, Ordering::Relaxed);
            let Some(batch) =
                items.get(start..items.len().min(start + size)).filter(|batch| !batch.is_empty())
            else {
                return;
            };
            let results: Vec<R> = batch.iter().map(|item| work(&own, item)).collect();
            done.lock().expect("no holder panics").push((start, results));
        }
    };
    thread::scope(|scope| {
        // This thread only waits. An allocator gives new threads the heaps that the fewest threads
        // have. A thread that has long had a heap may have the same heap as a new thread, and then
        // both wait for each other.
        let begun =
            (0..cores).map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, take));
        // Where a thread cannot be started, this thread takes items, too.
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
