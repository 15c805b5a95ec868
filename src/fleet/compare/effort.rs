//! The work that comparisons may do.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A bound of work that the comparisons of one request share. Each of several parts of the work gets
/// the same share of what the parts before it have left.
#[derive(Debug, Default)]
pub struct Effort {
    until: Option<Instant>,
    /// The end of the part that is being worked on.
    part: Cell<Option<Instant>>,
}

impl Effort {
    /// Returns an effort that ends after some time; `None` for one without end.
    pub fn new(time: Option<Duration>) -> Effort {
        let until = time.and_then(|time| Instant::now().checked_add(time));
        Effort { until, part: Cell::new(until) }
    }

    /// Begins the first of so many parts that are left.
    pub fn begin_part(&self, left: usize) {
        let Some(until) = self.until else { return };
        let now = Instant::now();
        let share = until.saturating_duration_since(now) / left.max(1) as u32;
        self.part.set(Some(now + share));
    }

    /// Whether the part that is being worked on is over.
    pub fn is_over(&self) -> bool {
        self.part.get().is_some_and(|until| Instant::now() >= until)
    }
}
