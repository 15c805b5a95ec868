//! Which answers are computed in place, as they are likely to be quick, and for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::text::CancelToken;

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
pub(super) struct InlineBudget {
    started: Instant,
    was_too_short: Arc<AtomicBool>,
}

impl InlineBudget {
    /// Long enough for nearly all that is likely to be short; what takes longer begins again.
    const LENGTH: Duration = Duration::from_millis(2);

    /// From now on.
    pub(super) fn begin() -> InlineBudget {
        InlineBudget { started: Instant::now(), was_too_short: Arc::default() }
    }

    /// Returns the token that cancels the work.
    pub(super) fn cancel_token(&self) -> CancelToken {
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
    pub(super) fn was_too_short(&self) -> bool {
        self.was_too_short.load(Ordering::Relaxed)
    }
}
