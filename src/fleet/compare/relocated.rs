//! The keys that other levels may give other values, node by node: those of files that come, go or
//! change their order among the files that a node reads.
//!
//! A lookup of any other key asks the same files that have the key, in the same order and at levels
//! with the same function and options. So its answer stays the same unless it asks for a key whose
//! answer changes. A merge treats a lone list otherwise than one of several, by the number of
//! locations and of levels (semantics 6.4), so that these numbers count, too.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::ComparedSide;
use super::keys::keys_of_options;
use super::nodes::ComparedNodes;
use crate::hiera::config::{
    BackendKind, DataReader, HieraConfig, KeyPart, Layer, Level, Locations,
};
use crate::hiera::data::DataFile;
use crate::hiera::hierarchy::located::{LevelTarget, Location};
use crate::hiera::hierarchy::{datadir_as_written, locate_levels};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::pattern::Bindings;
use crate::hiera::scope::Scope;
use crate::hiera::sources::Sources as _;
use crate::puppet::value::Value;
use crate::text::FilePath;
use crate::workspace::environments::Environment;

/// The properties of a level that lookups depend on, apart from its locations.
#[derive(PartialEq)]
struct LevelTraits<'a> {
    layer: Layer,
    is_default: bool,
    /// Whether its hierarchy has no other level.
    is_alone: bool,
    kind: BackendKind,
    function: &'a str,
    key_part: Option<KeyPart>,
    options: Option<&'a Value>,
    extension: Option<&'a str>,
}

impl<'a> LevelTraits<'a> {
    fn new(layer: &Layer, is_default: bool, level: &'a Level, is_alone: bool) -> LevelTraits<'a> {
        LevelTraits {
            layer: layer.clone(),
            is_default,
            is_alone,
            kind: level.backend.kind,
            function: &level.backend.name,
            key_part: match &level.locations {
                Locations::ByKey(part, _) => Some(*part),
                _ => None,
            },
            options: level.options.as_ref(),
            extension: level.extension.as_deref(),
        }
    }
}

/// A place that a level reads for a node.
#[derive(PartialEq, Eq, Hash)]
enum DataSource {
    /// A file that exists.
    File(FilePath, DataReader),
    /// The existing files of which unknown variables decide whether they are read.
    Candidates(Arc<str>, Vec<(FilePath, Bindings)>, DataReader),
    /// A place whose keys are unknown.
    Unknown(Arc<str>, Arc<str>),
}

/// A level with the places that it reads for a node.
#[derive(PartialEq, Eq, Hash)]
struct LevelSources {
    /// The number of its traits.
    traits: usize,
    /// Whether it has one location: those of files that do not exist count.
    is_single: bool,
    sources: Vec<DataSource>,
}

/// The numbers of the levels that have a source for a node, in the order of the lookup; `None` where
/// a token fails.
type NodeLevels = Option<Vec<u32>>;

/// The levels of both sides with their sources, each once.
#[derive(Default)]
struct LevelTable<'a> {
    traits: Vec<LevelTraits<'a>>,
    levels: Vec<Rc<LevelSources>>,
    numbers: HashMap<Rc<LevelSources>, u32>,
}

impl<'a> LevelTable<'a> {
    /// Returns the levels of each scope, without those of configs that are left out.
    fn levels_of(
        &mut self,
        side: ComparedSide<'a>,
        scopes: &[&Scope],
        counts: &dyn Fn(&Layer) -> bool,
    ) -> Vec<NodeLevels> {
        let mut all = vec![Some(Vec::new()); scopes.len()];
        let configs = side.environment.all_configs();
        for (layer, config) in configs.filter(|(layer, _)| counts(layer)) {
            for (is_default, level, is_alone) in levels_of_config(config) {
                let traits = LevelTraits::new(&layer, is_default, level, is_alone);
                let traits = self.number_of_traits(traits);
                self.add_level(side, (config, level, traits), scopes, &mut all);
            }
        }
        all
    }

    fn number_of_traits(&mut self, traits: LevelTraits<'a>) -> usize {
        let known = self.traits.iter().position(|known| *known == traits);
        known.unwrap_or_else(|| {
            self.traits.push(traits);
            self.traits.len() - 1
        })
    }

    fn add_level(
        &mut self,
        side: ComparedSide<'a>,
        (config, level, traits): (&HieraConfig, &Arc<Level>, usize),
        scopes: &[&Scope],
        all: &mut [NodeLevels],
    ) {
        let view = side.snapshot.view(side.environment);
        // Scopes with the same locations share them.
        let mut known: HashMap<*const Location, (Arc<[Location]>, Option<u32>)> = HashMap::new();
        for (scope, levels) in scopes.iter().zip(all) {
            let Some(found) = levels else { continue };
            let located = locate_levels(config, std::slice::from_ref(level), scope, &view, None);
            let Some(located) = located.ok().and_then(|mut levels| levels.pop()) else {
                *levels = None;
                continue;
            };
            let (_, number) = known.entry(located.locations.as_ptr()).or_insert_with(|| {
                let number = self.number_of(side, (level, traits), &located.locations);
                (located.locations.clone(), number)
            });
            found.extend(*number);
        }
    }

    /// Returns the number of a level with its sources; `None` for a level without any.
    fn number_of(
        &mut self,
        side: ComparedSide<'_>,
        (level, traits): (&Level, usize),
        locations: &[Location],
    ) -> Option<u32> {
        let sources: Vec<DataSource> =
            locations.iter().filter_map(|location| source_of(side, level, location)).collect();
        if sources.is_empty() {
            return None;
        }
        let real = locations.iter().filter(|it| !matches!(it.place, LevelTarget::NoMatch { .. }));
        let is_single = real.count() == 1;
        let level = Rc::new(LevelSources { traits, is_single, sources });
        Some(*self.numbers.entry(level.clone()).or_insert_with(|| {
            self.levels.push(level);
            (self.levels.len() - 1) as u32
        }))
    }
}

/// Returns the levels of a config, each with whether it is one of the default hierarchy, and whether
/// its hierarchy has no other.
fn levels_of_config(config: &HieraConfig) -> impl Iterator<Item = (bool, &Arc<Level>, bool)> {
    let hierarchies = [(false, &config.hierarchy), (true, &config.default_hierarchy)];
    hierarchies.into_iter().flat_map(|(is_default, levels)| {
        levels.iter().map(move |level| (is_default, level, levels.len() == 1))
    })
}

/// Returns the source at a location; `None` where there is nothing to read.
fn source_of(side: ComparedSide<'_>, level: &Level, location: &Location) -> Option<DataSource> {
    let view = side.snapshot.view(side.environment);
    let reader = level.backend.data_reader().filter(|_| level.backend.kind != BackendKind::Hiera3);
    let unknown = || DataSource::Unknown(location.original.clone(), location.name.clone());
    let Some(reader) = reader else {
        let is_real = !matches!(location.place, LevelTarget::NoMatch { .. });
        return is_real.then(unknown);
    };
    match &location.place {
        LevelTarget::File { path, exists: true } => Some(DataSource::File(path.clone(), reader)),
        LevelTarget::File { path, .. } => view.unlisted_reason(path).map(|_| unknown()),
        LevelTarget::NoMatch { .. } => None,
        LevelTarget::Uri(_) | LevelTarget::Nowhere => Some(unknown()),
        LevelTarget::Undetermined(undetermined) if undetermined.pattern.is_none() => {
            Some(unknown())
        }
        LevelTarget::Undetermined(undetermined) => {
            let candidates = undetermined.candidate_files(&view).into_iter();
            let files: Vec<_> = candidates.map(|file| (file.path, file.when)).collect();
            (!files.is_empty())
                .then(|| DataSource::Candidates(location.original.clone(), files, reader))
        }
    }
}

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

/// Whether a layer has the same levels on both sides, written in the same way.
fn has_same_levels(before: &Environment, after: &Environment, layer: &Layer) -> bool {
    let config = |environment: &'_ Environment| -> Option<Arc<HieraConfig>> {
        environment.all_configs().find(|(one, _)| one == layer).map(|(_, config)| config.clone())
    };
    let (Some(one), Some(other)) = (config(before), config(after)) else { return false };
    let variants = |level: &Level| std::mem::discriminant(&level.locations);
    let texts = |config: &HieraConfig, level: &Level| {
        let templates = level.templates().map(|template| template.text.clone());
        (datadir_as_written(config, level), templates.collect::<Vec<_>>())
    };
    levels_of_config(&one).count() == levels_of_config(&other).count()
        && levels_of_config(&one).zip(levels_of_config(&other)).all(|(a, b)| {
            LevelTraits::new(layer, a.0, a.1, a.2) == LevelTraits::new(layer, b.0, b.1, b.2)
                && variants(a.1) == variants(b.1)
                && texts(&one, a.1) == texts(&other, b.1)
        })
}

/// Returns the keys that other levels may give other values, with the numbers before of the nodes
/// that they may. `has_same_files` tells that no file comes or goes. `None` where all keys of all
/// nodes may have other values. Keys of which the data differ are left to the caller.
pub(super) fn relocated_keys(
    (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    nodes: &ComparedNodes<'_>,
    has_same_files: bool,
) -> Option<BTreeMap<Arc<str>, BTreeSet<usize>>> {
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
    let mut found: BTreeMap<Arc<str>, BTreeSet<usize>> = BTreeMap::new();
    for ((old, new), nodes) in windows {
        if before.snapshot.cancel_token().is_cancelled() {
            break;
        }
        match finding.keys_between(old, new) {
            Some(keys) => keys.iter().for_each(|key| {
                found.entry(key.clone()).or_default().extend(&nodes);
            }),
            None => open.extend(nodes),
        }
    }
    if !open.is_empty() {
        let keys = [before, after].into_iter().flat_map(|side| side.snapshot.keys().keys());
        for key in keys.filter(|key| ***key != *LOOKUP_OPTIONS) {
            found.entry(key.clone()).or_default().extend(&open);
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

    /// Returns how many keys it has.
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
        let before = Fixture::new(FLEET).snapshot;
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
        // Two keys on two sides, and the key that one of them asks for.
        assert!(lookups <= 6, "{lookups}");
        let fewer = "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n";
        let (changed, _) = changed_keys("/hiera.yaml", fewer);
        assert_eq!(changed, ["asks 2", "both 2", "web 2"]);
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
