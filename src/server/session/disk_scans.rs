//! The requests for readings of the folders, and how long an answer waits for one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};

/// Before the folders were read once there is no answer worth giving, so requests wait for that;
/// not for ever.
const FIRST_READING: Duration = Duration::from_secs(10);
/// A later reading takes a moment in most workspaces. In the others the answer uses the previous
/// reading.
const LATER_READING: Duration = Duration::from_millis(100);
/// A reading that is merely due is a precaution where the client watches the files.
const DUE_READING: Duration = Duration::from_millis(10);

/// The readings of the folders that were asked for, and those that are done. Many that are asked
/// for at once are done as one.
#[derive(Default)]
pub(in crate::server) struct DiskScans {
    asked: AtomicU64,
    /// The number of the last reading that there was a reason for.
    needed: AtomicU64,
    wake: Notify,
    done: watch::Sender<u64>,
}

impl DiskScans {
    /// Asks for a reading, because something has changed.
    pub(in crate::server) fn ask_reading(&self) {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.needed.fetch_max(number, Ordering::SeqCst);
        self.wake.notify_one();
    }

    /// Asks for a reading, because the last one is old.
    pub(in crate::server) fn ask_periodic(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.wake.notify_one();
    }

    /// Waits until a reading is asked for that is not done.
    pub(in crate::server) async fn wait_request(&self) {
        while self.asked_count() <= *self.done.borrow() {
            self.wake.notified().await;
        }
    }

    /// How many readings were asked for by now.
    pub(in crate::server) fn asked_count(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// Records that the readings up to this number, see [`DiskScans::asked`], are done.
    pub(in crate::server) fn note_finished(&self, number: u64) {
        self.done.send_replace(number);
    }

    /// Waits for the readings that a request should be answered from: the first reading of the
    /// folders, unless that `is_complete`, and for a moment one that was requested (by a save, or
    /// because the last one is old; then for a shorter moment, where the client `watches_files`).
    /// Returns at once where no reading is awaited.
    pub(in crate::server) async fn await_scans(&self, is_complete: bool, watches_files: bool) {
        let patience = if is_complete { LATER_READING } else { FIRST_READING };
        if self.wait(self.needed.load(Ordering::SeqCst), patience).await {
            self.wait(self.asked_count(), if watches_files { DUE_READING } else { LATER_READING })
                .await;
        }
    }

    /// Waits until the readings up to `number` are done, and at least one is; but not for longer
    /// than `patience`. Returns whether they are.
    async fn wait(&self, number: u64, patience: Duration) -> bool {
        let number = number.max(1);
        if *self.done.borrow() >= number {
            return true;
        }
        let mut done = self.done.subscribe();
        // The channel is open: `self` is borrowed, and owns the sender.
        tokio::time::timeout(patience, done.wait_for(|done| *done >= number)).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reading_that_is_due_is_waited_for_longer_where_the_client_watches_no_files() {
        use futures_util::future::{Either, join, select};
        let scans = DiskScans::default();
        scans.ask_reading();
        scans.note_finished(1);
        scans.ask_periodic();
        let reading = async {
            tokio::time::sleep(LATER_READING / 3).await;
            scans.note_finished(2);
        };
        let settled = async {
            scans.await_scans(false, false).await;
            *scans.done.borrow()
        };
        // `join` polls `reading` before `settled`, so that a slow machine does not change the
        // result.
        assert_eq!(join(reading, settled).await.1, 2, "the client watches nothing");
        scans.ask_periodic();
        let (settled, for_long) = (
            std::pin::pin!(scans.await_scans(false, true)),
            std::pin::pin!(tokio::time::sleep(LATER_READING / 2)),
        );
        assert!(
            matches!(select(settled, for_long).await, Either::Left(_)),
            "it would have told of a change"
        );
    }
}
