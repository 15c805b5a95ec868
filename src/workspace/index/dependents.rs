//! The keys that a lookup may come to, and the keys whose values ask for a key.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use indexmap::IndexSet;

use super::circles::find_cycles;
use super::key_index::KeyIndex;
use super::siblings::group;
use crate::text::FilePath;

/// The number of tokens that a search for one cycle follows before all cycles are computed.
const NEARBY: usize = 64;
/// The most keys to return that a lookup may come to, besides those that it starts from.
const FAR: usize = 500;

impl KeyIndex {
    /// Whether tokens lead from each of two root keys to the other, the first of which asks for the
    /// second; levels are not considered.
    pub fn in_one_cycle(&self, one: &str, other: &str) -> bool {
        if one == other || self.keys.asks_for(other).len() == 0 {
            return one == other; // as with most
        }
        let mut seen = HashSet::from([other]);
        let mut open = vec![other];
        let mut looked_at = 0;
        while let Some(key) = open.pop() {
            if key == one {
                return true;
            }
            looked_at += self.keys.asks_for(key).len();
            if looked_at > NEARBY {
                let circles = self.circles.get_or_init(|| find_cycles(&self.keys));
                return circles.get(one).is_some_and(|circle| circles.get(other) == Some(circle));
            }
            let targets = self.keys.asks_for(key).map(|target| &**target);
            open.extend(targets.filter(|target| seen.insert(target)));
        }
        false
    }

    /// Whether a token in some value of a root key asks for a key.
    pub fn has_question(&self, key: &str) -> bool {
        self.keys.asks_for(key).len() > 0
    }

    /// Whether a token of any value asks for a root key.
    pub fn is_asked_for(&self, key: &str) -> bool {
        !self.keys.asked_by(key).is_empty()
    }

    /// Returns the root keys that values ask for, defined or not, in no order.
    pub fn asked_keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.keys.asked_keys()
    }

    /// Returns the root keys that the values of a root key ask for, each once, in no order.
    pub fn asks_for(&self, key: &str) -> impl Iterator<Item = &Arc<str>> {
        self.keys.asks_for(key)
    }

    /// Returns the root keys whose values ask for a root key, in the order of their bytes: the
    /// tokens stand in the files that define these.
    pub fn asked_by(&self, key: &str) -> &[Arc<str>] {
        self.keys.asked_by(key)
    }

    /// Returns the files in which tokens may ask for a root key, in the order of their paths; no
    /// other file has such a token.
    pub fn files_asking_for(&self, key: &str) -> Vec<&FilePath> {
        let askers = self.asked_by(key);
        // A member that a merge key brings into the root has no definition, and neither has a root
        // key that is no string.
        if askers.iter().any(|asker| self.definitions(asker).is_empty()) {
            return self.files().collect();
        }
        let files = askers.iter().flat_map(|asker| self.definitions(asker));
        files.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the root keys that a lookup of these keys may reach, regardless of levels: the keys
    /// themselves, the keys that their values ask for, and so on; for keys without a definition,
    /// the group of their siblings, too. `None` when there are too many others.
    pub fn reach_of(&self, keys: impl Iterator<Item = Arc<str>>) -> Option<Box<[Arc<str>]>> {
        let mut seen: IndexSet<Arc<str>, foldhash::fast::RandomState> = keys.collect();
        let undefined = seen.iter().filter(|key| !self.keys.defined.contains(&***key));
        let groups: Vec<Arc<str>> = undefined.filter_map(|key| group(key)).collect();
        seen.extend(groups);
        let most = seen.len() + FAR;
        let mut next = 0;
        while let Some(key) = seen.get_index(next) {
            if seen.len() > most {
                return None;
            }
            seen.extend(self.keys.asks_for(&key.clone()).cloned());
            next += 1;
        }
        Some(seen.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(edges: &[(&str, &str)]) -> KeyIndex {
        let mut index = KeyIndex::default();
        for (from, to) in edges {
            index.keys.count_question(&Arc::from(*from), &Arc::from(*to), true);
        }
        index
    }

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let index =
            index(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("s", "s")]);
        assert!(
            index.in_one_cycle("a", "b")
                && index.in_one_cycle("b", "c")
                && index.in_one_cycle("s", "s")
        );
        assert!(!index.in_one_cycle("c", "d") && !index.in_one_cycle("d", "e"));
    }

    #[test]
    fn the_reach_of_many_keys_is_bounded() {
        let names: Vec<String> = (0..4 * FAR).map(|n| format!("k{n}")).collect();
        let (starts, others) = names.split_at(2 * FAR);
        let reach = |others: &[String]| {
            let edges: Vec<(&str, &str)> =
                starts.iter().zip(others).map(|(from, to)| (from.as_str(), to.as_str())).collect();
            index(&edges)
                .reach_of(starts.iter().map(|key| Arc::from(key.as_str())))
                .map(|reach| reach.len())
        };
        assert_eq!(reach(&[]), Some(2 * FAR));
        assert_eq!(reach(&others[..FAR]), Some(3 * FAR));
        assert_eq!(reach(others), None);
    }

    #[test]
    fn a_circle_too_long_to_be_searched_is_found() {
        let names: Vec<String> = (0..500).map(|n| format!("k{n}")).collect();
        let next = |n: usize| names[(n + 1) % names.len()].as_str();
        let mut edges: Vec<(&str, &str)> =
            names.iter().enumerate().map(|(n, name)| (name.as_str(), next(n))).collect();
        assert!(index(&edges).in_one_cycle("k0", "k1"));
        edges.pop();
        assert!(!index(&edges).in_one_cycle("k0", "k1"));
    }
}
