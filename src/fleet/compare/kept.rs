//! Keys whose values a change of several keys keeps: one comparison serves as many changes of one
//! key each.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{ComparedChange, Comparer, Verdicts, keys};
use crate::fleet::ways::ReadWay;
use crate::text::SourceChange;
use crate::workspace::Snapshot;

impl Comparer<'_> {
    /// Returns whether the change of a root key alone keeps the key's value for every node, for each
    /// of some keys whose values a change edits together. A key that asks for others, or is asked
    /// for, is left out, as is a key whose merge strategy another key decides: the edits of the
    /// others may change its value. Empty where the change edits other keys as well, or levels, and
    /// when cancelled.
    pub fn kept_keys(
        &self,
        after: &Snapshot,
        change: &SourceChange,
        keys: &BTreeSet<Arc<str>>,
    ) -> BTreeMap<Arc<str>, bool> {
        let index = self.before.keys();
        let stands_alone = |key: &&Arc<str>| !index.has_question(key) && !index.is_asked_for(key);
        let mut kept: BTreeMap<Arc<str>, bool> =
            keys.iter().filter(stands_alone).map(|key| (key.clone(), true)).collect();
        let found = self.visit_environments((after, change), |sides, known, files| {
            let data_sides = sides.filter(|it| !keys::has_config(it.0, it.1, files));
            let differing = data_sides.map(|it| keys::keys_that_differ(it.0, it.1, files));
            let differing = differing.filter(|differing| differing.is_subset(keys));
            let (Some(sides), Some(differing)) = (data_sides, differing) else {
                kept.clear();
                return ControlFlow::Break(());
            };
            let change = ComparedChange::new(sides, &differing, files);
            let is_decided = |way: &ReadWay<'_>| way.deciding_parameter().is_some();
            kept.retain(|key, _| !sides.0.ways(key).iter().any(is_decided));
            for (key, is_kept) in kept.iter_mut().filter(|(key, _)| differing.contains(*key)) {
                let mut verdicts = Verdicts { ends_at_first: true, ..Verdicts::default() };
                self.compare_key(&change, known, key, &mut verdicts);
                *is_kept &= !verdicts.are_enough();
            }
            ControlFlow::Continue(())
        });
        found.map(|()| kept).unwrap_or_default()
    }
}
