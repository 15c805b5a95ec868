//! How much work a request or the reading of one file may cause, and the limit that it ran into.
//!
//! A short text can ask for endless work: aliases that multiply, merge keys that copy, tokens that
//! insert values twice. Puppet has no limit of this kind; it runs until memory or patience ends.
//! Each limit here lies far above the needs of real repositories, and a message names the limit
//! that was reached. `docs/limits.md` lists them with all others.

use std::cell::Cell;
use std::fmt;

use super::CancelToken;

/// The parts that aliases and merge keys may add to one data file. A part is a scalar, a list or a
/// hash; a long string counts one more for each 64 bytes. The parts that are written out in the
/// file do not count.
pub const MAX_FILE_PARTS: u64 = 2_000_000;
/// The parts that one lookup may merge, insert and convert. A shared part counts each time.
pub const MAX_REQUEST_PARTS: u64 = 20_000_000;
/// The parts of one value: a level's, once its tokens are replaced, or the merged one.
pub const MAX_VALUE_PARTS: u32 = 5_000_000;
/// The bytes of text that one lookup may put together from tokens.
pub const MAX_REQUEST_BYTES: u64 = 32 << 20;
/// The steps of one lookup: the levels and locations that it goes through, those of nested lookups
/// included.
pub const MAX_REQUEST_STEPS: u64 = 50_000_000;
/// The nested lookups that one lookup may need.
pub const MAX_LOOKUPS: u64 = 50_000;

/// The steps back that the patterns of `lookup_options` may need for one lookup, those of nested
/// lookups included; a match without many counts as one. A pattern that the engine gave up has
/// spent all of them.
pub const MAX_PATTERN_STEPS: u64 = 10_000_000;

/// A limit that something ran into. `Display` gives it with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`MAX_FILE_PARTS`].
    FileParts,
    /// [`MAX_REQUEST_PARTS`].
    RequestParts,
    /// [`MAX_VALUE_PARTS`].
    ValueParts,
    /// [`MAX_REQUEST_BYTES`].
    Bytes,
    /// [`MAX_REQUEST_STEPS`].
    Steps,
    /// [`MAX_LOOKUPS`].
    Lookups,
    /// [`MAX_PATTERN_STEPS`], or the steps of one match.
    PatternSteps,
    /// The deepest nesting of lookups: how many.
    NestedLookups(usize),
    /// The deepest value that an alias may stand for: how many collections.
    Nesting(u16),
    /// The patterns that the braces of a glob may stand for: how many.
    Glob(usize),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::FileParts => {
                write!(f, "more than {MAX_FILE_PARTS} parts of values by aliases and merge keys")
            }
            Limit::RequestParts => {
                write!(f, "more than {MAX_REQUEST_PARTS} parts of values to merge and insert")
            }
            Limit::ValueParts => write!(f, "a value of more than {MAX_VALUE_PARTS} parts"),
            Limit::Bytes => write!(f, "more than {} MiB of text", MAX_REQUEST_BYTES >> 20),
            Limit::Steps => write!(f, "more than {MAX_REQUEST_STEPS} levels to go through"),
            Limit::Lookups => write!(f, "more than {MAX_LOOKUPS} nested lookups"),
            Limit::PatternSteps => {
                f.write_str("more steps than are tried to match patterns of lookup_options")
            }
            Limit::NestedLookups(most) => write!(f, "lookups nested more than {most} deep"),
            Limit::Nesting(most) => write!(f, "a value nested more than {most} deep"),
            Limit::Glob(most) => {
                write!(f, "a glob of more than {most} patterns, or of one that is too long")
            }
        }
    }
}

/// The bounds of a long loop: its cancel token, and the budget that it pays from.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// Whether the result is still wanted.
    pub cancel: &'a CancelToken,
    /// The budget that is left.
    pub budget: &'a Budget,
}

/// The work that is left to one request, or to the reading of one file. Callers pay before they
/// work, so that a request that is refused has not yet allocated.
#[derive(Clone, Debug)]
pub struct Budget {
    parts: RemainingBudget,
    bytes: RemainingBudget,
    steps: RemainingBudget,
    lookups: RemainingBudget,
    pattern_steps: RemainingBudget,
}

/// A number that only falls, with the limit to name once it is spent.
#[derive(Clone, Debug)]
struct RemainingBudget(Cell<u64>, Limit);

impl RemainingBudget {
    fn pay_count(&self, count: u64) -> Result<(), Limit> {
        let Some(left) = self.0.get().checked_sub(count) else {
            self.0.set(0);
            return Err(self.1);
        };
        self.0.set(left);
        Ok(())
    }
}

impl Budget {
    /// Returns the budget of a lookup with all that is looked up for it.
    pub fn of_request() -> Budget {
        Budget::new(MAX_REQUEST_PARTS, Limit::RequestParts)
    }

    /// Returns the budget of the reading of one data file.
    pub fn of_file() -> Budget {
        Budget::new(MAX_FILE_PARTS, Limit::FileParts)
    }

    fn new(parts: u64, limit: Limit) -> Budget {
        Budget {
            parts: RemainingBudget(Cell::new(parts), limit),
            bytes: RemainingBudget(Cell::new(MAX_REQUEST_BYTES), Limit::Bytes),
            steps: RemainingBudget(Cell::new(MAX_REQUEST_STEPS), Limit::Steps),
            lookups: RemainingBudget(Cell::new(MAX_LOOKUPS), Limit::Lookups),
            pattern_steps: RemainingBudget(Cell::new(MAX_PATTERN_STEPS), Limit::PatternSteps),
        }
    }

    /// Pays for so many parts of values. An error once they are spent, then and from then on.
    pub fn pay_parts(&self, count: u64) -> Result<(), Limit> {
        self.parts.pay_count(count)
    }

    /// Returns the parts that are left.
    #[cfg(test)]
    pub(crate) fn parts_left(&self) -> u64 {
        self.parts.0.get()
    }

    /// Pays for so many bytes of text.
    pub fn pay_bytes(&self, count: usize) -> Result<(), Limit> {
        self.bytes.pay_count(count as u64)
    }

    /// Pays for the text of a value of so many parts, whose length is not known before it is made.
    /// A part is between a few bytes and some 64, so that the method refuses no text that
    /// [`pay_bytes`](Budget::pay_bytes) takes unless its values are tiny.
    pub fn text_of(&self, parts: u32) -> Result<(), Limit> {
        if u64::from(parts) * 16 > self.bytes.0.get() { Err(Limit::Bytes) } else { Ok(()) }
    }

    /// Pays for so many steps of a search.
    pub fn pay_steps(&self, count: usize) -> Result<(), Limit> {
        self.steps.pay_count(count as u64)
    }

    /// Pays for the match of a pattern, `None` for one that was given up.
    pub fn pay_match(&self, steps: Option<u32>) -> Result<(), Limit> {
        self.pattern_steps.pay_count(steps.map_or(u64::MAX, u64::from))
    }

    /// Pays for a nested lookup.
    pub fn lookup(&self) -> Result<(), Limit> {
        self.lookups.pay_count(1)
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::of_request()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_stays_spent() {
        let budget = Budget::of_file();
        assert_eq!(budget.pay_parts(MAX_FILE_PARTS - 1), Ok(()));
        assert_eq!(budget.pay_parts(1), Ok(()));
        assert_eq!(budget.pay_parts(1), Err(Limit::FileParts));
        let budget = Budget::of_request();
        assert_eq!(budget.pay_parts(u64::MAX), Err(Limit::RequestParts));
        assert_eq!(budget.pay_parts(1), Err(Limit::RequestParts), "a refused payment empties it");
        assert_eq!(budget.pay_bytes(1), Ok(()), "the others are not touched");
        assert_eq!(budget.text_of(u32::MAX), Err(Limit::Bytes));
    }
}
