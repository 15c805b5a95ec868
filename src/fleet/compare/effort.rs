//! The work that comparisons may do, in lookups: a bound in time would make the result depend on
//! what else the machine does.

use std::cell::Cell;

/// A bound of lookups that the comparisons of one request share. Each of several parts of the work
/// gets the same share of what the parts before it have left.
#[derive(Debug, Default)]
pub struct Effort {
    /// The lookups that are left; `None` for an effort without end.
    left: Cell<Option<usize>>,
    /// The lookups that are left for the part that is being worked on.
    part: Cell<Option<usize>>,
}

impl Effort {
    /// Returns an effort of so many lookups; `None` for one without end.
    pub fn new(lookups: Option<usize>) -> Effort {
        Effort { left: Cell::new(lookups), part: Cell::new(lookups) }
    }

    /// Begins the first of so many parts that are left.
    pub fn begin_part(&self, parts: usize) {
        self.part.set(self.left.get().map(|left| left.div_ceil(parts.max(1))));
    }

    /// Counts a lookup for the part that is being worked on.
    pub fn spend_lookup(&self) {
        self.spend_shared_lookup();
        self.part.set(self.part.get().map(|left| left.saturating_sub(1)));
    }

    /// Counts a lookup that serves all parts: no part has fewer lookups of its own for that.
    pub fn spend_shared_lookup(&self) {
        self.left.set(self.left.get().map(|left| left.saturating_sub(1)));
    }

    /// Whether the part that is being worked on is over.
    pub fn is_over(&self) -> bool {
        self.part.get() == Some(0) || self.left.get() == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_leaves_what_it_does_not_need_to_those_behind_it() {
        let effort = Effort::new(Some(10));
        effort.begin_part(2);
        (0..2).for_each(|_| effort.spend_lookup());
        assert!(!effort.is_over(), "two of five");
        effort.begin_part(1);
        (0..7).for_each(|_| effort.spend_lookup());
        assert!(!effort.is_over(), "seven of eight");
        effort.spend_lookup();
        assert!(effort.is_over());
        let shared = Effort::new(Some(10));
        shared.begin_part(5);
        (0..7).for_each(|_| shared.spend_shared_lookup());
        assert!(!shared.is_over(), "the part has its two");
        (0..2).for_each(|_| shared.spend_lookup());
        assert!(shared.is_over());
        shared.begin_part(1);
        shared.spend_shared_lookup();
        assert!(shared.is_over(), "nothing is left");
        let endless = Effort::new(None);
        endless.begin_part(1);
        endless.spend_lookup();
        assert!(!endless.is_over());
    }
}
