//! Where answers are computed: one pool of threads, a limited number of slots on them, and the rule
//! which answers are computed in place, as they are likely to be quick.

mod threads;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::hiera::lookup::STACK;
use crate::text::CancelToken;
use crate::workspace::Snapshot;
use crate::workspace::files::parallel::core_count;
pub(super) use threads::Threads;

/// Computes answers, with at most as many threads as there are cores, and at least two. More would
/// wait for a core, each with memory of its own.
pub(super) struct Pool {
    threads: Threads,
    /// For answers that a request waits for.
    free: Arc<Semaphore>,
    /// For cancelled work that has not stopped yet: it stops at its next step, and some steps are
    /// long.
    leaving: Arc<Semaphore>,
    /// How long answers take.
    latency: Arc<LatencyTracker>,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new(Pool::new_threads())
    }
}

impl Pool {
    /// Returns a pool whose answers these threads compute.
    pub(super) fn new(threads: Threads) -> Pool {
        Pool { threads, free: new_slots(), leaving: new_slots(), latency: Arc::default() }
    }

    /// Returns the threads of a server, which are not started yet: besides the answers', some that
    /// check, index, scan, tidy and compare edits.
    pub(super) fn new_threads() -> Threads {
        Threads::new(slot_count() * 2 + 5, STACK)
    }

    /// Computes an answer from a snapshot: in place where answers are quick, else, or where it takes
    /// too long after all, on a thread. `None` when `compute` panicked.
    pub(super) async fn answer<T: Send + 'static>(
        &self,
        snapshot: Snapshot,
        compute: impl Fn(&Snapshot) -> T + Send + 'static,
    ) -> Option<T> {
        if self.latency.is_quick() && snapshot.is_indexed() {
            let budget = InlineBudget::begin();
            let limited = snapshot.clone().with_cancel_token(budget.cancel_token());
            let computed =
                self.latency.measure(|| catch_unwind(AssertUnwindSafe(|| compute(&limited))));
            if !budget.was_too_short() {
                return computed.ok();
            }
        }
        let latency = self.latency.clone();
        self.answer_on_thread(snapshot, move |snapshot| latency.measure(|| compute(snapshot))).await
    }

    /// Computes an answer on a thread. The work is cancelled with the request: then this future is
    /// dropped. `None` when `compute` panicked.
    pub(super) async fn answer_on_thread<T: Send + 'static>(
        &self,
        snapshot: Snapshot,
        compute: impl FnOnce(&Snapshot) -> T + Send + 'static,
    ) -> Option<T> {
        // The client waits for the answer as long as `waiting` lives.
        let waiting = Arc::new(());
        let observed = Arc::downgrade(&waiting);
        let snapshot =
            snapshot.with_cancel_token(CancelToken::new(move || observed.strong_count() == 0));
        let computed = self.run_in_slot(move || compute(&snapshot)).await;
        drop(waiting);
        computed
    }

    /// Runs `work` on a thread as soon as a slot is free; `None` when it panicked. When the request
    /// is cancelled, the slot becomes free for others, but the thread stays taken until the work is
    /// done. The number of such threads is limited, or they would take the threads that read and
    /// write; cancelled work beyond the limit keeps its slot.
    pub(super) async fn run_in_slot<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = self.free.clone().acquire_owned().await.ok()?;
        let held: SlotGuard = Arc::new(Mutex::new(permit));
        let waiting = SlotWaiter { held: held.clone(), leaving: self.leaving.clone() };
        let done = self
            .threads
            .run(move || {
                let _held = held;
                work()
            })
            .await;
        drop(waiting);
        done
    }

    /// Runs work that no request waits for: in place, or on a thread; `None` when it panicked.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        in_place: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if in_place {
            return catch_unwind(AssertUnwindSafe(work)).ok();
        }
        self.threads.run(work).await
    }
}

fn new_slots() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(slot_count()))
}

fn slot_count() -> usize {
    core_count().max(2)
}

/// The slot that a running piece of work holds, of one kind or the other.
type SlotGuard = Arc<Mutex<OwnedSemaphorePermit>>;

/// Moves cancelled work from the slots for answers to those for leaving work, where there is room.
struct SlotWaiter {
    held: SlotGuard,
    leaving: Arc<Semaphore>,
}

impl Drop for SlotWaiter {
    fn drop(&mut self) {
        if Arc::strong_count(&self.held) > 1
            && let Ok(leaving) = self.leaving.clone().try_acquire_owned()
        {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = leaving;
        }
    }
}

/// How long work of one kind takes. After some pieces in a row that were short the next one gets no
/// thread of its own: to wake one takes as long as most pieces do. After one that was not, the next
/// ones do.
#[derive(Debug, Default)]
pub(super) struct LatencyTracker {
    short_in_a_row: AtomicU32,
}

impl LatencyTracker {
    /// Work that is shorter is worth no thread of its own.
    const SHORT: Duration = Duration::from_millis(1);
    /// How many short pieces make the next one likely to be short.
    const SOME: u32 = 4;

    /// Whether the last pieces were short.
    pub(super) fn is_quick(&self) -> bool {
        self.short_in_a_row.load(Ordering::Relaxed) >= LatencyTracker::SOME
    }

    /// Does a piece of work.
    pub(super) fn measure<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        if started.elapsed() < LatencyTracker::SHORT {
            let _ =
                self.short_in_a_row.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                    count.checked_add(1)
                });
        } else {
            self.short_in_a_row.store(0, Ordering::Relaxed);
        }
        done
    }
}

/// The time that work may take where others wait for it, and whether it was enough.
struct InlineBudget {
    started: Instant,
    was_too_short: Arc<AtomicBool>,
}

impl InlineBudget {
    /// Long enough for nearly all work that is likely to be short; longer work begins again.
    const LENGTH: Duration = Duration::from_millis(2);

    /// Returns the budget of work that begins now.
    fn begin() -> InlineBudget {
        InlineBudget { started: Instant::now(), was_too_short: Arc::default() }
    }

    /// Returns the token that cancels the work.
    fn cancel_token(&self) -> CancelToken {
        let (started, was_too_short) = (self.started, self.was_too_short.clone());
        CancelToken::new(move || {
            let is_over = started.elapsed() > InlineBudget::LENGTH;
            if is_over {
                was_too_short.store(true, Ordering::Relaxed);
            }
            is_over
        })
    }

    /// Whether the work was cancelled, so that its result is not valid.
    fn was_too_short(&self) -> bool {
        self.was_too_short.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn cancelled_work_leaves_its_slot_to_others_as_long_as_there_are_threads() {
        let pool = Pool::default();
        let number = slot_count();
        let (begin, begun) = std::sync::mpsc::channel();
        let mut ends = Vec::new();
        for _ in 0..number * 2 {
            let (begin, (end, ended)) = (begin.clone(), std::sync::mpsc::channel::<()>());
            let work = move || {
                begin.send(()).expect("the test listens");
                ended.recv().expect("the test tells");
            };
            let cancelled =
                tokio::time::timeout(Duration::from_millis(50), pool.run_in_slot(work)).await;
            assert!(
                cancelled.is_err() && begun.recv().is_ok(),
                "it was begun and is not waited for any more"
            );
            ends.push(end);
            if ends.len() <= number {
                assert_eq!(pool.free.available_permits(), number, "others have all slots");
            }
        }
        assert_eq!(
            (pool.free.available_permits(), pool.leaving.available_permits()),
            (0, 0),
            "there are no more threads"
        );
        for end in ends {
            end.send(()).expect("the work goes on");
        }
        let all = u32::try_from(number).expect("few cores");
        for kind in [&pool.free, &pool.leaving] {
            assert!(
                tokio::time::timeout(Duration::from_secs(10), kind.acquire_many(all)).await.is_ok()
            );
        }
        assert_eq!(pool.run_in_slot(|| 1).await, Some(1));
        assert_eq!(
            (pool.free.available_permits(), pool.leaving.available_permits()),
            (number, number)
        );
    }
}
