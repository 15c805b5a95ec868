//! Strings that are the same in many files, keys above all: kept once, as long as they are in use.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::puppet::value::{Data, Provenance, Value};

/// Longer strings are seldom the same as others.
const SHORT: usize = 48;
/// How many sets there are: threads that read files do not wait for each other.
const SETS: usize = 64;
/// How many strings more than were left a set takes in at least, before it is looked through for
/// those that are out of use.
const MORE: usize = 16;

/// Some of the strings.
#[derive(Default)]
struct Set {
    strings: HashSet<Arc<str>, foldhash::fast::RandomState>,
    /// With how many strings the set is looked through next.
    full: usize,
}

static SETS_OF_STRINGS: LazyLock<[Mutex<Set>; SETS]> =
    LazyLock::new(|| std::array::from_fn(|_| Mutex::default()));

/// Returns a new string, or the one that is in use already.
pub(crate) fn share(text: &str) -> Arc<str> {
    if text.len() > SHORT {
        return text.into();
    }
    let (first, last) = (
        text.as_bytes().first().copied().unwrap_or_default(),
        text.as_bytes().last().copied().unwrap_or_default(),
    );
    let number = text.len() + usize::from(first) * 7 + usize::from(last) * 31;
    let mut set = SETS_OF_STRINGS[number % SETS].lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = set.strings.get(text) {
        return known.clone();
    }
    if set.strings.len() >= set.full.max(MORE) {
        let before = set.strings.len();
        set.strings.retain(|string| Arc::strong_count(string) > 1);
        let left = set.strings.len();
        // Where few strings go, as while a repository is read for the first time, a more frequent
        // search would be in vain. Where many strings go, as while a user types, the set does not
        // keep them for long.
        let full = left + MORE.max(left / 4).max(left.saturating_sub(3 * (before - left)));
        set.strings.shrink_to(full);
        set.full = full;
    }
    let new: Arc<str> = text.into();
    set.strings.insert(new.clone());
    new
}

/// Returns such a string as a value that no file holds and that was not decrypted.
pub(crate) fn share_value(text: &str) -> Value {
    Value::new(Data::String(share(text)), Provenance::from_source(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_kept_once_and_no_longer_than_it_is_needed() {
        let (one, other) = (share("a::key"), share("a::key"));
        assert!(Arc::ptr_eq(&one, &other));
        assert!(!Arc::ptr_eq(&share(&"x".repeat(SHORT + 1)), &share(&"x".repeat(SHORT + 1))));
        let passing: Vec<std::sync::Weak<str>> =
            (0..SETS * 1_000).map(|n| Arc::downgrade(&share(&format!("passing {n}")))).collect();
        let left = passing.iter().filter(|string| string.strong_count() > 0).count();
        assert!(left < passing.len() / 20, "{left} of {} are left", passing.len());
        assert!(Arc::ptr_eq(&one, &share("a::key")));
    }
}
