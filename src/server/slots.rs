//! Where answers are computed that take longer: a limited number of threads, and the slots on them.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::transport::Workers;
use crate::hiera::lookup::STACK;
use crate::workspace::parallel::core_count;

/// Threads for answers: as many as there are cores, and at least two. More would wait for a core,
/// each with memory of its own.
pub(super) struct WorkerSlots {
    /// For answers that a request waits for.
    free: Arc<Semaphore>,
    /// For cancelled work that has not stopped yet: it stops at its next step, and some steps are
    /// long.
    leaving: Arc<Semaphore>,
    workers: Workers,
}

impl Default for WorkerSlots {
    fn default() -> WorkerSlots {
        WorkerSlots::new_slots(Workers::new(WorkerSlots::thread_count(), STACK))
    }
}

/// The slot that a running piece of work holds, of one kind or the other.
type SlotGuard = Arc<Mutex<OwnedSemaphorePermit>>;

/// Moves cancelled work from the slots for answers to those for leaving work, where there is room.
struct SlotWaiter {
    place: SlotGuard,
    leaving: Arc<Semaphore>,
}

impl Drop for SlotWaiter {
    fn drop(&mut self) {
        if Arc::strong_count(&self.place) > 1
            && let Ok(leaving) = self.leaving.clone().try_acquire_owned()
        {
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) = leaving;
        }
    }
}

impl WorkerSlots {
    /// Slots for answers that these threads compute.
    pub(super) fn new_slots(workers: Workers) -> WorkerSlots {
        let slots = || Arc::new(Semaphore::new(WorkerSlots::slot_count()));
        WorkerSlots { free: slots(), leaving: slots(), workers }
    }

    /// Returns the threads, for work other than answers.
    pub(super) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// How many there are.
    fn slot_count() -> usize {
        core_count().max(2)
    }

    /// How many threads they may take.
    pub(super) fn thread_count() -> usize {
        WorkerSlots::slot_count() * 2
    }

    /// Runs `work` on a thread as soon as one is free; `None` when it panicked. When the request is
    /// cancelled, the slot becomes free for others, but the thread stays taken until the work is
    /// done. The number of such threads is limited, or they would take the threads that read and
    /// write; cancelled work beyond the limit keeps its slot.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let slot = self.free.clone().acquire_owned().await.ok()?;
        let place: SlotGuard = Arc::new(Mutex::new(slot));
        let waiting = SlotWaiter { place: place.clone(), leaving: self.leaving.clone() };
        let work = move || {
            let _place = place;
            work()
        };
        let done = self.workers.run(work).await;
        drop(waiting);
        done
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn cancelled_work_leaves_its_slot_to_others_as_long_as_there_are_threads() {
        let slots = WorkerSlots::default();
        let number = WorkerSlots::slot_count();
        let (begin, begun) = std::sync::mpsc::channel();
        let mut ends = Vec::new();
        for _ in 0..number * 2 {
            let (begin, (end, ended)) = (begin.clone(), std::sync::mpsc::channel::<()>());
            let work = move || {
                begin.send(()).expect("the test listens");
                ended.recv().expect("the test tells");
            };
            let cancelled = tokio::time::timeout(Duration::from_millis(50), slots.run(work)).await;
            assert!(
                cancelled.is_err() && begun.recv().is_ok(),
                "it was begun and is not waited for any more"
            );
            ends.push(end);
            if ends.len() <= number {
                assert_eq!(slots.free.available_permits(), number, "others have all slots");
            }
        }
        assert_eq!(
            (slots.free.available_permits(), slots.leaving.available_permits()),
            (0, 0),
            "there are no more threads"
        );
        for end in ends {
            end.send(()).expect("the work goes on");
        }
        let all = u32::try_from(number).expect("few cores");
        for kind in [&slots.free, &slots.leaving] {
            assert!(
                tokio::time::timeout(Duration::from_secs(10), kind.acquire_many(all)).await.is_ok()
            );
        }
        assert_eq!(slots.run(|| 1).await, Some(1));
        assert_eq!(
            (slots.free.available_permits(), slots.leaving.available_permits()),
            (number, number)
        );
    }
}
