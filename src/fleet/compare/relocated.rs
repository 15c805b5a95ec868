//! The keys that other levels may give other values, node by node: those of files that come, go or
//! change their order among the files that a node reads.
//!
//! A lookup of any other key asks the same files that have the key, in the same order and at levels
//! with the same function and options. So its answer stays the same unless it asks for a key whose
//! answer changes. A merge treats a lone list otherwise than one of several, by the number of
//! locations and of levels (semantics 6.4), so that these numbers count, too.

mod levels;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use self::levels::{DataSource, LevelTable, has_same_levels};
use super::ComparedSide;
use super::keys::keys_of_options;
use super::nodes::ComparedNodes;
use crate::fleet::node_set::NodeSet;
use crate::hiera::config::{DataReader, Layer};
use crate::hiera::data::DataFile;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::scope::Scope;
use crate::hiera::sources::Sources as _;
use crate::text::FilePath;
use crate::workspace::environments::Environment;

/// Whether both sides differ in levels, files and data alone: versions of configs decide how tokens
/// are read, modules which types there are.
fn differ_in_levels_alone(before: ComparedSide<'_>, after: ComparedSide<'_>) -> bool {
    let (one, other) = (before.environment, after.environment);
    let versions = |environment: &Environment| {
        [&environment.global, &environment.config].map(|it| it.as_ref().map(|it| it.version))
    };
    let puppet = |side: ComparedSide<'_>| side.snapshot.config_of(side.environment).puppet;
    one.name == other.name
        && versions(one) == versions(other)
        && puppet(before) == puppet(after)
        && one.modules.keys().eq(other.modules.keys())
}

/// Returns the keys that other levels may give other values, with the numbers before of the nodes
/// that they may. `has_same_files` tells that no file comes or goes. `None` where all keys of all
/// nodes may have other values. Keys of which the data differ are left to the caller.
pub(super) fn relocated_keys(
    (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    nodes: &ComparedNodes<'_>,
    has_same_files: bool,
) -> Option<BTreeMap<Arc<str>, NodeSet>> {
    if !differ_in_levels_alone(before, after) {
        return None;
    }
    let counts = |layer: &Layer| {
        !has_same_files || !has_same_levels(before.environment, after.environment, layer)
    };
    let ((all, _), (later, _)) = (before.compared_nodes(), after.compared_nodes());
    let scopes: Vec<&Scope> = nodes.compared.iter().map(|it| &*all[*it].scope).collect();
    let later: Vec<&Scope> =
        nodes.compared.iter().map(|it| &*later[nodes.later_number(*it)].scope).collect();
    let mut table = LevelTable::default();
    let old = table.levels_of(before, &scopes, &counts);
    let new = table.levels_of(after, &later, &counts);
    let mut windows: HashMap<(&[u32], &[u32]), Vec<usize>> = HashMap::new();
    let mut open: Vec<usize> = Vec::new();
    for ((number, old), new) in nodes.compared.iter().zip(&old).zip(&new) {
        match (old, new) {
            (Some(old), Some(new)) if old == new => {}
            (Some(old), Some(new)) => {
                windows.entry(differing_part(old, new)).or_default().push(*number);
            }
            _ => open.push(*number),
        }
    }
    let mut finding = RelocatedKeys::new((before, after), &table);
    let mut found: BTreeMap<Arc<str>, NodeSet> = BTreeMap::new();
    for ((old, new), nodes) in windows {
        if before.snapshot.cancel_token().is_cancelled() {
            break;
        }
        match finding.keys_between(old, new) {
            Some(keys) => {
                let nodes = nodes.into_iter().collect();
                keys.iter().for_each(|key| {
                    found.entry(key.clone()).or_default().insert_all(&nodes);
                });
            }
            None => open.extend(nodes),
        }
    }
    if !open.is_empty() {
        let keys = [before, after].into_iter().flat_map(|side| side.snapshot.keys().keys());
        let open = open.into_iter().collect();
        for key in keys.filter(|key| ***key != *LOOKUP_OPTIONS) {
            found.entry(key.clone()).or_default().insert_all(&open);
        }
    }
    Some(found)
}

/// Returns two lists without the elements at their beginnings and ends that are the same.
fn differing_part<'l>(old: &'l [u32], new: &'l [u32]) -> (&'l [u32], &'l [u32]) {
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    (&old[..old.len() - end], &new[..new.len() - end])
}

/// The data of a source on one side.
enum SourceData {
    File(FilePath, Arc<DataFile>),
    Candidates(Vec<Arc<DataFile>>),
    Unknown,
}

impl SourceData {
    fn files(&self) -> impl Iterator<Item = &Arc<DataFile>> {
        let (one, several) = match self {
            SourceData::File(_, data) => (Some(data), &[][..]),
            SourceData::Candidates(all) => (None, &all[..]),
            SourceData::Unknown => (None, &[][..]),
        };
        one.into_iter().chain(several)
    }

    fn has_key(&self, key: &str) -> bool {
        self.files().any(|data| data.get(key).is_some())
    }

    /// Returns how many keys the source has.
    fn weight(&self) -> usize {
        /// More than the keys of all files.
        const UNKNOWN: usize = 1 << 32;
        match self {
            SourceData::Unknown => UNKNOWN,
            _ => self.files().map(|data| data.keys().count()).sum(),
        }
    }
}

/// The search for the keys whose files differ between lists of levels.
struct RelocatedKeys<'t, 'a> {
    sides: [ComparedSide<'a>; 2],
    table: &'t LevelTable<'a>,
    /// The data of the levels before and after, as far as they were asked for.
    data: [HashMap<u32, Rc<Vec<SourceData>>>; 2],
    /// The keys that the `lookup_options` of a file concern.
    options: HashMap<FilePath, BTreeSet<Arc<str>>>,
}

impl<'t, 'a> RelocatedKeys<'t, 'a> {
    fn new(
        (before, after): (ComparedSide<'a>, ComparedSide<'a>),
        table: &'t LevelTable<'a>,
    ) -> RelocatedKeys<'t, 'a> {
        let (data, options) = (Default::default(), HashMap::new());
        RelocatedKeys { sides: [before, after], table, data, options }
    }

    fn data_of(&mut self, side: usize, level: u32) -> Rc<Vec<SourceData>> {
        let ComparedSide { snapshot, environment, .. } = self.sides[side];
        let view = snapshot.view(environment);
        let read = |path: &FilePath, reader: &DataReader| {
            view.file_data(path, *reader).unwrap_or_default()
        };
        let sources = &self.table.levels[level as usize].sources;
        let known = self.data[side].entry(level);
        known
            .or_insert_with(|| {
                Rc::new(
                    sources
                        .iter()
                        .map(|source| match source {
                            DataSource::File(path, reader) => {
                                SourceData::File(path.clone(), read(path, reader))
                            }
                            DataSource::Candidates(_, files, reader) => SourceData::Candidates(
                                files.iter().map(|(path, _)| read(path, reader)).collect(),
                            ),
                            DataSource::Unknown(..) => SourceData::Unknown,
                        })
                        .collect(),
                )
            })
            .clone()
    }

    /// Returns the keys for which two lists of levels have other sources, or the sources in another
    /// order; `None` where a source with unknown keys comes, goes or moves.
    fn keys_between(&mut self, old: &[u32], new: &[u32]) -> Option<BTreeSet<Arc<str>>> {
        let data = [(0, old), (1, new)].map(|(side, levels)| {
            levels.iter().map(|level| self.data_of(side, *level)).collect::<Vec<_>>()
        });
        let weights: Vec<usize> = data[0]
            .iter()
            .map(|all| all.iter().map(SourceData::weight).sum::<usize>() + 1)
            .collect();
        let kept = heaviest_common(old, new, &weights);
        let is_kept = |side: usize, at: usize| kept.iter().any(|it| [it.0, it.1][side] == at);
        let moved: Vec<&SourceData> = (0..2)
            .flat_map(|side| data[side].iter().enumerate().map(move |(at, all)| (side, at, all)))
            .filter(|(side, at, _)| !is_kept(*side, *at))
            .flat_map(|(.., all)| all.iter())
            .collect();
        if moved.iter().any(|source| matches!(source, SourceData::Unknown)) {
            return None;
        }
        let keys: BTreeSet<&Arc<str>> = moved
            .iter()
            .flat_map(|source| source.files())
            .flat_map(|data| data.keys().filter_map(|key| key.as_arc()))
            .collect();
        let mut found: BTreeSet<Arc<str>> = keys
            .into_iter()
            .filter(|key| {
                let before = self.sources_with(key, old, &data[0]);
                !before.eq(self.sources_with(key, new, &data[1]))
            })
            .cloned()
            .collect();
        if found.remove(LOOKUP_OPTIONS) {
            for source in moved {
                if let SourceData::File(path, data) = source {
                    found.extend(self.keys_of_options(path, data).iter().cloned());
                }
            }
        }
        Some(found)
    }

    /// Returns the sources that have a key, each with the number of its level's traits and whether
    /// the level has one location, and with the level's place in the list.
    fn sources_with<'k>(
        &'k self,
        key: &'k str,
        levels: &'k [u32],
        data: &'k [Rc<Vec<SourceData>>],
    ) -> impl Iterator<Item = (usize, bool, bool, &'k DataSource)> {
        levels.iter().zip(data).flat_map(move |(level, data)| {
            let level = &*self.table.levels[*level as usize];
            let having = level.sources.iter().zip(&**data).filter(|(_, data)| data.has_key(key));
            // Sources of one level are merged before those of different levels.
            having
                .enumerate()
                .map(|(number, (source, _))| (level.traits, level.is_single, number == 0, source))
        })
    }

    fn keys_of_options(&mut self, path: &FilePath, data: &DataFile) -> &BTreeSet<Arc<str>> {
        let [before, after] = self.sides;
        self.options
            .entry(path.clone())
            .or_insert_with(|| keys_of_options((before, after), path, data, &DataFile::default()))
    }
}

/// Returns the places in both lists of the elements of the common subsequence with the largest
/// weight, the weights of the first list's elements given.
fn heaviest_common(old: &[u32], new: &[u32], weights: &[usize]) -> Vec<(usize, usize)> {
    let mut best = vec![vec![0usize; new.len() + 1]; old.len() + 1];
    for (i, level) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            let taken = if level == other { best[i + 1][j + 1] + weights[i] } else { 0 };
            best[i][j] = taken.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if old[i] == new[j] && best[i][j] == best[i + 1][j + 1] + weights[i] {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[i][j] == best[i + 1][j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::fleet::compare::KnownAnswers;
    use crate::fleet::compare::changes::find_changes;
    use crate::fleet::compare::nodes::NodeChoice;
    use crate::text::{SourceChange, TextEdit, TextRange, work};

    const FLEET: &str = "#- node a role=web\n#- node b role=web\n#- node c role=db\n#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n#- /data/roles/web.yaml\nboth: 1\nweb: 1\n#- /data/common.yaml\nboth: 2\ncommon: 2\nasks: \"%{lookup('both')}\"\n#- /modules/m/hiera.yaml\nversion: 5\nhierarchy: [{name: Common, path: common.yaml}]\n#- /modules/m/data/common.yaml\nm::a: 1\nm::b: 1\n";

    /// Returns the keys that another text of a file changes, each with its nodes counted, and the
    /// number of lookups.
    fn changed_keys(path: &str, text: &str) -> (Vec<String>, usize) {
        changed_keys_in(FLEET, path, text)
    }

    fn changed_keys_in(fleet: &str, path: &str, text: &str) -> (Vec<String>, usize) {
        let before = Fixture::new(fleet).snapshot;
        let path = FilePath::new(path);
        let old = before.file(&path).and_then(|file| file.text()).expect("a text").len();
        let mut change = SourceChange::default();
        change.push(&path, TextEdit::new(TextRange::new(0, old), text));
        let after = before.after_change(&change).expect("it can change");
        work::take();
        let everyone = NodeChoice::chosen_by(&|_| true);
        let all = find_changes(&before, &after, &[path], &everyone, &mut KnownAnswers::default());
        let lookups = work::take().lookups;
        let all = all.expect("not cancelled");
        let changes = all.iter().flat_map(|environment| &environment.changes);
        let told = changes.map(|change| format!("{} {}", change.key, change.nodes.len()));
        (told.collect(), lookups)
    }

    #[test]
    fn only_keys_of_files_in_another_order_are_looked_up() {
        let swapped = "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n- {name: Role, path: 'roles/%{role}.yaml'}\n";
        let (changed, lookups) = changed_keys("/hiera.yaml", swapped);
        assert_eq!(changed, ["asks 2", "both 2"]);
        // Two keys are looked up on two sides, and so is the key that one of the two keys asks for.
        assert!(lookups <= 6, "{lookups}");
        let fewer = "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n";
        let (changed, _) = changed_keys("/hiera.yaml", fewer);
        assert_eq!(changed, ["asks 2", "both 2", "web 2"]);
        let other = "version: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: none.yaml}\n";
        let (changed, _) = changed_keys("/hiera.yaml", other);
        assert_eq!(changed, ["asks 2", "asks 1", "both 1", "common 3"]);
    }

    #[test]
    fn levels_with_other_names_and_comments_need_no_lookup() {
        let same = "# comment\nversion: 5\nhierarchy:\n- {name: One, path: 'roles/%{role}.yaml'}\n- {name: Two, path: common.yaml}\n";
        assert_eq!(changed_keys("/hiera.yaml", same), (Vec::new(), 0));
        let module = "version: 5\nhierarchy: [{name: One, path: common.yaml}]\n";
        assert_eq!(changed_keys("/modules/m/hiera.yaml", module), (Vec::new(), 0));
    }

    #[test]
    fn options_of_a_module_for_foreign_keys_fail_the_keys_of_the_module() {
        let text = "lookup_options: {both: {merge: deep}}\nm::a: 1\nm::b: 1\n";
        let (changed, _) = changed_keys("/modules/m/data/common.yaml", text);
        assert_eq!(changed, ["m::a 3", "m::b 3"]);
    }

    #[test]
    fn options_that_fail_an_undefined_key_fail_the_keys_that_ask_for_it() {
        let fleet = FLEET.replace("common: 2\n", "common: \"%{lookup('m::none')}\"\n");
        let text = "lookup_options: {both: {merge: deep}}\nm::a: 1\nm::b: 1\n";
        let (changed, _) = changed_keys_in(&fleet, "/modules/m/data/common.yaml", text);
        assert_eq!(changed, ["common 3", "m::a 3", "m::b 3", "m::none 3"]);
    }

    /// A merge fails for the hash of a lone location, and takes the hash of one of two.
    #[test]
    fn nodes_differ_by_the_number_of_locations_of_a_level() {
        let fleet = "#- node a os=RedHat\n#- node b os=Debian\n#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n- {name: Old, path: old.yaml}\n#- /data/common.yaml\nlookup_options: {k: {merge: unique}}\nk: 3\n#- /data/old.yaml\nk: {a: 1}\n#- /data/parts/b.yaml\nk: {a: 1}\n#- /data/os/Debian.yaml\nother: 1\n";
        let text = "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n- {name: Parts, globs: ['parts/*.yaml', 'os/%{os}.yaml']}\n";
        assert_eq!(changed_keys_in(fleet, "/hiera.yaml", text).0, ["k 1", "other 1"]);
    }

    #[test]
    fn the_common_levels_with_the_most_keys_stay() {
        let heaviest = |old: &[u32], new: &[u32], weights: &[usize]| -> Vec<u32> {
            heaviest_common(old, new, weights).iter().map(|(at, _)| old[*at]).collect()
        };
        assert_eq!(heaviest(&[1, 2, 3], &[2, 1, 3], &[5, 9, 1]), [2, 3]);
        assert_eq!(heaviest(&[1, 2, 3], &[3, 1, 2], &[1, 1, 9]), [3]);
        assert_eq!(heaviest(&[1, 2], &[3], &[1, 1]), [] as [u32; 0]);
        assert_eq!(heaviest(&[1, 1, 2], &[1, 2, 1], &[1, 1, 1]), [1, 2]);
    }

    #[test]
    fn beginnings_and_ends_that_are_the_same_are_left_out() {
        assert_eq!(differing_part(&[1, 2, 3, 4], &[1, 3, 2, 4]), (&[2, 3][..], &[3, 2][..]));
        assert_eq!(differing_part(&[1, 2], &[1, 2, 2]), (&[][..], &[2][..]));
        assert_eq!(differing_part(&[1, 2], &[1, 2]), (&[][..], &[][..]));
    }
}
