//! Keys whose values a change of several keys keeps: one comparison serves as many changes of one
//! key each.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{ComparedChange, ComparedSide, Comparer, Verdicts, keys};
use crate::text::SourceChange;
use crate::workspace::Snapshot;

impl Comparer<'_> {
    /// Returns a subset of the keys in which no key decides the value of another, neither by tokens nor
    /// by a merge strategy. A key on which other values depend beyond its own value is left out.
    pub fn independent_keys(&self, keys: &BTreeSet<Arc<str>>) -> BTreeSet<Arc<str>> {
        let index = self.before.keys();
        if index.has_live_options() {
            return BTreeSet::new();
        }
        let (mut found, mut asked) = (BTreeSet::new(), BTreeSet::new());
        // A key that many other keys ask for would keep all these keys out.
        let mut sorted: Vec<&Arc<str>> = keys.iter().collect();
        sorted.sort_by_key(|key| index.asked_by(key).len());
        for key in sorted {
            if asked.contains(key) || self.has_dependents(key) {
                continue;
            }
            let Some(reach) = index.reach_of([key.clone()].into_iter()) else { continue };
            if reach.iter().all(|other| other == key || !found.contains(other)) {
                asked.extend(reach.iter().filter(|other| *other != key).cloned());
                found.insert(key.clone());
            }
        }
        found
    }

    /// Whether the values of other keys may change where the data of a key does and its value stays
    /// the same, or another key decides with which merge strategy the key is read.
    fn has_dependents(&self, key: &str) -> bool {
        self.before.environments().all.iter().zip(&self.caches).any(|(environment, caches)| {
            let side = ComparedSide { snapshot: self.before, environment, caches };
            keys::has_dependents(side, key)
                || side.ways(key).iter().any(|way| way.deciding_parameter().is_some())
        })
    }

    /// Returns whether the change of a root key alone keeps the key's value for every node, for each
    /// of some independent keys whose values a change edits together. Empty where the change edits
    /// other keys as well, or levels, and when cancelled.
    pub fn kept_keys(
        &self,
        after: &Snapshot,
        change: &SourceChange,
        keys: &BTreeSet<Arc<str>>,
    ) -> BTreeMap<Arc<str>, bool> {
        let mut kept: BTreeMap<Arc<str>, bool> =
            keys.iter().map(|key| (key.clone(), true)).collect();
        let found = self.visit_environments((after, change), |sides, files| {
            let data_sides = sides.filter(|it| !keys::has_config(it.0, it.1, files));
            let differing = data_sides.map(|it| keys::keys_that_differ(it.0, it.1, files));
            let differing = differing.filter(|differing| differing.is_subset(keys));
            let (Some(sides), Some(differing)) = (data_sides, differing) else {
                kept.clear();
                return ControlFlow::Break(());
            };
            let change = ComparedChange::new(sides, &differing, files);
            for (key, is_kept) in kept.iter_mut().filter(|(key, _)| differing.contains(*key)) {
                let mut verdicts = Verdicts { ends_at_first: true, ..Verdicts::default() };
                self.compare_key(&change, key, &mut verdicts);
                *is_kept &= !verdicts.are_enough();
            }
            ControlFlow::Continue(())
        });
        found.map(|()| kept).unwrap_or_default()
    }
}
