//! Threads for work that takes long.
//!
//! tokio's own pool hangs where the system gives it no thread: it queues the work behind threads
//! that never become free. Here the first threads are started before the session begins, or there
//! is no session, and work waits for one of those where no further one can be had.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

/// How many threads are kept, and started first: one computes answers, one reads the disk.
const KEPT: usize = 2;

/// How long the threads beyond [`KEPT`] wait for work before they end.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// A pool of threads. Copies are the same pool.
#[derive(Clone)]
pub(in crate::server) struct Threads(Arc<ThreadsState>);

struct ThreadsState {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// The most threads.
    most: usize,
    stack: usize,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl Threads {
    /// Returns a pool of at most so many threads. No thread is started yet.
    pub(in crate::server) fn new(most: usize, stack: usize) -> Threads {
        let (queue, wake) = (Mutex::default(), Condvar::new());
        Threads(Arc::new(ThreadsState { queue, wake, most: most.max(KEPT), stack }))
    }

    /// Starts the threads without which no work would be done, and shows that `others` more can be
    /// had.
    pub(in crate::server) fn start(&self, others: usize) -> io::Result<()> {
        for _ in 0..KEPT {
            self.start_thread(&mut self.lock_queue())?;
        }
        let barrier = Arc::new(Barrier::new(others));
        let probe = |_| {
            let barrier = barrier.clone();
            thread::Builder::new()
                .stack_size(self.0.stack)
                .spawn(move || barrier.wait().is_leader())
        };
        let probes: Vec<_> = (0..others).map(probe).collect::<io::Result<_>>()?;
        probes.into_iter().for_each(|probe| drop(probe.join()));
        Ok(())
    }

    /// Runs `work` and returns its result; `None` after a panic. The work is done even where the
    /// future is dropped.
    pub(in crate::server) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        self.push(Box::new(move || {
            if let Ok(value) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = done.send(value);
            }
        }));
        result.await.ok()
    }

    fn push(&self, job: Job) {
        let mut queue = self.lock_queue();
        queue.jobs.push_back(job);
        if queue.idle < queue.jobs.len() && queue.threads < self.0.most {
            // If no further thread can be started, the job waits for a thread that exists.
            let _ = self.start_thread(&mut queue);
        }
        drop(queue);
        self.0.wake.notify_one();
    }

    fn lock_queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_thread(&self, queue: &mut Queue) -> io::Result<()> {
        let pool = self.clone();
        let builder = thread::Builder::new().name("worker".to_owned()).stack_size(self.0.stack);
        builder.spawn(move || pool.run_jobs())?;
        queue.threads += 1;
        Ok(())
    }

    fn run_jobs(&self) {
        let mut queue = self.lock_queue();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                drop(queue);
                job();
                queue = self.lock_queue();
                continue;
            }
            queue.idle += 1;
            let waited = self.0.wake.wait_timeout(queue, IDLE);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            queue = guard;
            queue.idle -= 1;
            if timeout.timed_out() && queue.jobs.is_empty() && queue.threads > KEPT {
                queue.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_and_a_panic_is_none() {
        let threads = Threads::new(4, 1 << 20);
        threads.start(2).expect("threads can be started");
        assert_eq!(threads.run(|| 7).await, Some(7));
        assert_eq!(threads.run(|| -> i32 { panic!("on purpose") }).await, None);
        let all = (0..50).map(|n| threads.run(move || n));
        let results: Vec<Option<i32>> = futures_util::future::join_all(all).await;
        assert_eq!(results, (0..50).map(Some).collect::<Vec<_>>());
        let queue = threads.lock_queue();
        assert!((KEPT..=4).contains(&queue.threads));
    }

    #[tokio::test]
    async fn work_waits_for_the_threads_that_there_are() {
        let threads = Threads::new(4, 1 << 20);
        threads.start(0).expect("threads can be started");
        // No system has room for such a stack.
        let impossible = Threads::new(4, (usize::MAX >> 2) & !0xffff);
        assert!(impossible.start(0).is_err());
        let (release, released) = std::sync::mpsc::channel::<()>();
        let first = threads.run(move || released.recv().is_ok());
        let results = futures_util::future::join(first, async {
            let second = threads.run(|| 1).await;
            release.send(()).expect("the first job listens");
            second
        });
        assert_eq!(results.await, (Some(true), Some(1)));
    }
}
