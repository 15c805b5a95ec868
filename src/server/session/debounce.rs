//! Work that begins in the first pause after changes.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The pause that the work of one task waits for. Only the first change wakes the task, as a wake at
/// each keystroke would cost more than the record of a time.
#[derive(Default)]
pub(in crate::server) struct Debounce {
    /// The beginning of the pause; `None` where no work is due.
    since: Mutex<Option<Instant>>,
    /// Wakes the task when work becomes due.
    due: Notify,
}

impl Debounce {
    /// Makes the work due after a pause that begins now.
    pub(in crate::server) fn note_change(&self) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if since.replace(Instant::now()).is_none() {
            self.due.notify_one();
        }
    }

    /// Lets the pause begin now where work is due. A change whose findings are not published yet makes
    /// no work due, but ends the pause.
    pub(in crate::server) fn restart_pause(&self) {
        self.restart_pause_at(Instant::now());
    }

    fn restart_pause_at(&self, now: Instant) {
        if let Some(since) = &mut *self.since.lock().unwrap_or_else(PoisonError::into_inner) {
            *since = now;
        }
    }

    /// Waits until work is due and the pause has lasted this long. The work is not due any more then.
    pub(in crate::server) async fn wait_pause(&self, length: Duration) {
        loop {
            match self.take_due(length, Instant::now()) {
                Some(left) if left.is_zero() => return,
                Some(left) => tokio::time::sleep(left).await,
                None => self.due.notified().await,
            }
        }
    }

    /// Returns how much of the pause is left; `None` where no work is due. Work whose pause has ended is
    /// not due any more.
    fn take_due(&self, length: Duration, now: Instant) -> Option<Duration> {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let left = length.saturating_sub(now.saturating_duration_since((*since)?));
        if left.is_zero() {
            *since = None;
        }
        Some(left)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_change_restarts_the_pause_and_makes_no_work_due() {
        let debounce = Debounce::default();
        let begin = Instant::now();
        let after = |milliseconds| begin + Duration::from_millis(milliseconds);
        let left = |at| debounce.take_due(Duration::from_millis(20), after(at));
        debounce.restart_pause_at(begin);
        assert_eq!(left(0), None);
        *debounce.since.lock().expect("no thread panicked") = Some(begin);
        assert_eq!(left(10), Some(Duration::from_millis(10)));
        debounce.restart_pause_at(after(15));
        assert_eq!(left(20), Some(Duration::from_millis(15)));
        assert_eq!(left(35), Some(Duration::ZERO));
        assert_eq!(left(36), None);
    }

    #[tokio::test]
    async fn changes_that_follow_each_other_cause_one_piece_of_work() {
        let debounce = Arc::new(Debounce::default());
        let done = Arc::new(AtomicUsize::new(0));
        let (waiting, count) = (debounce.clone(), done.clone());
        let work = tokio::spawn(async move {
            loop {
                waiting.wait_pause(Duration::from_millis(20)).await;
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        for expected in 1..4 {
            // The task runs on this thread, and only while the thread waits.
            for _ in 0..50 {
                debounce.note_change();
            }
            while done.load(Ordering::SeqCst) < expected {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert_eq!(done.load(Ordering::SeqCst), 3);
        work.abort();
    }
}
