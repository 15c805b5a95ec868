//! One key through the history of a repository: the changes of its value between two revisions, and
//! whether there can be any.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::changes::EnvironmentChanges;
use super::keys::{has_other_options, keys_that_differ};
use super::nodes::NodeChoice;
use super::whole::{find_one_sided_changes, find_whole_changes};
use super::{ComparedSide, environment_after};
use crate::fleet::node_caches::NodeCaches;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::Node;

/// Returns the changes of one key in each environment, for the nodes whose names `is_chosen`
/// accepts. Of a key with subkeys the part below them is compared. Where only one revision has an
/// environment, nothing is found in the other. `None` when cancelled.
pub fn find_key_changes<'a>(
    before: &'a Snapshot,
    after: &'a Snapshot,
    key: &LookupKey,
    is_chosen: &dyn Fn(&Node) -> bool,
) -> Option<Vec<EnvironmentChanges<'a>>> {
    let keys = std::slice::from_ref(key);
    let choice = &NodeChoice::chosen_by(is_chosen);
    let mut all = Vec::new();
    for environment in &before.environments().all {
        all.push(match environment_after(before, after, environment) {
            Some(later) => {
                find_whole_changes((before, environment), (after, later), keys, (choice, None))?
            }
            None => find_one_sided_changes((before, environment), key, false, choice),
        });
    }
    for environment in &after.environments().all {
        if environment_after(after, before, environment).is_none() {
            all.push(find_one_sided_changes((after, environment), key, true, choice));
        }
    }
    Some(all)
}

/// Whether a key may have another value for a node of both revisions. The answer costs no lookup.
pub fn may_change(before: &Snapshot, after: &Snapshot, key: &LookupKey) -> bool {
    if !before.has_same_environments(after) {
        return true;
    }
    let files = before.files_changed(after);
    let mut environments = before.environments().all.iter();
    let concerns = |environment: &Arc<Environment>| {
        let Some(later) = environment_after(before, after, environment) else { return true };
        let caches = NodeCaches::default();
        let sides = (
            ComparedSide { snapshot: before, environment, caches: &caches },
            ComparedSide { snapshot: after, environment: later, caches: &caches },
        );
        let files: Vec<&FilePath> = files
            .iter()
            .filter(|path| environment.reaches_file(path) || later.reaches_file(path))
            .collect();
        if files.is_empty() {
            return false;
        }
        let differing = keys_that_differ(sides.0, sides.1, &files);
        let needed = needed_keys(sides, key);
        files.iter().any(|path| is_broken(sides, path))
            || needed.iter().any(|key| differing.contains(key))
            || files.iter().any(|path| has_other_options(sides, path))
    };
    environments.any(concerns)
}

/// Returns the root keys whose values a lookup of a key may need, on either side.
fn needed_keys(
    (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    key: &LookupKey,
) -> BTreeSet<Arc<str>> {
    let mut needed: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut open: Vec<Arc<str>> = vec![key.root_text(), LOOKUP_OPTIONS.into()];
    while let Some(key) = open.pop() {
        for side in [before, after] {
            open.extend(
                side.snapshot.keys().asks_for(&key).filter(|it| !needed.contains(*it)).cloned(),
            );
        }
        needed.insert(key);
    }
    needed
}

/// Whether a file makes the lookups of its readers fail on a side.
fn is_broken((before, after): (ComparedSide<'_>, ComparedSide<'_>), path: &FilePath) -> bool {
    let fails = |side: ComparedSide<'_>| {
        let data = side.snapshot.view(side.environment).data_of(path).unwrap_or_default();
        let has_other_keys = data.keys().any(|key| key.as_str().is_none());
        data.refusal().is_some() || data.is_no_hash() || has_other_keys
    };
    fails(before) || fails(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::text::{SourceChange, TextEdit, TextRange};

    /// Whether `k` may change where the file of its reader is this text, and not `k: 1`.
    fn may_change_with(text: &str) -> bool {
        let fixture = Fixture::new("#- levels Common\n#- /data/common.yaml\nk: 1\n");
        let mut change = SourceChange::default();
        let edit = TextEdit::new(TextRange::new(0, 5), text);
        change.push(&FilePath::new("/data/common.yaml"), edit);
        let after = fixture.snapshot.after_change(&change).expect("it can change");
        may_change(&fixture.snapshot, &after, &LookupKey::of_root("k"))
    }

    #[test]
    fn a_key_may_change_where_its_entry_does_or_the_file_is_broken() {
        let texts = ["k: 2\n", "k: 1\nother: 1\n", "# comment\nk: 1\n", "k: 1\nx: [\n", "- 1\n"];
        assert_eq!(texts.map(may_change_with), [true, false, false, true, true]);
    }
}
