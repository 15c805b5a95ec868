//! Two snapshots compared: the nodes whose effective values differ between them.
//!
//! Only keys are looked up whose data differ in the files that changed, and those that
//! `lookup_options` speak of otherwise. Keys whose tokens lead to these need no lookup: where the
//! ones that they ask for are the same, they are, too. Nodes with one answer share one lookup on
//! each side ([`super::groups`]).

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::groups::{FleetQuestion, Group, Groups, group_by_answer};
use crate::hiera::data::DataFile;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{LOOKUP_OPTIONS, Resolver};
use crate::hiera::pattern::Bindings;
use crate::hiera::resolution::{Resolution, Unsettled};
use crate::hiera::scope::Scope;
use crate::puppet::value::{Key, Value};
use crate::text::{FilePath, SourceChange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::manifests::CalledMerge;
use crate::workspace::nodes::Node;

/// The most groups of nodes that one key is looked up for: with more of them grouping costs more
/// than it saves.
const MAX_GROUPS: usize = 100;

/// The work that comparisons may do, shared by all that one request makes.
#[derive(Debug)]
pub struct Effort {
    lookups: Cell<usize>,
}

/// The differences that a change makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The keys that were compared: those that a node may find another value for, without the keys
    /// that ask for these.
    pub keys: BTreeSet<Arc<str>>,
    /// The nodes that were compared, or would have been if the effort had sufficed: the known
    /// nodes of the environments concerned, or the kinds of nodes where none is known.
    pub nodes: usize,
    /// Whether these are kinds of nodes.
    pub are_kinds: bool,
    /// How many of them have another value for one of the keys.
    pub changed: usize,
    /// How many of the others have keys that could not be compared: the effort ended, or variables
    /// are unknown.
    pub left_out: usize,
    /// Whether an unknown node may get another value: a node without any known variable, or one of
    /// which only the path of a changed file is known.
    pub others_change: bool,
}

impl Effort {
    /// Returns an effort of so many lookups.
    pub fn new(lookups: usize) -> Effort {
        Effort { lookups: Cell::new(lookups) }
    }

    /// Takes one lookup; `false` where none is left.
    fn take(&self) -> bool {
        let left = self.lookups.get();
        self.lookups.set(left.saturating_sub(1));
        left > 0
    }
}

impl Comparison {
    /// Whether every value is known to be the same.
    pub fn is_neutral(&self) -> bool {
        self.changed == 0 && self.left_out == 0 && !self.others_change
    }
}

/// Compares a snapshot with the one after a change, but for these keys, which the change makes and
/// nothing else asks for. `None` when cancelled.
pub fn compare(
    before: &Snapshot,
    after: &Snapshot,
    change: &SourceChange,
    (new_keys, effort): (&[Arc<str>], &Effort),
) -> Option<Comparison> {
    let files: Vec<&FilePath> = change.edits.keys().chain(change.created.keys()).collect();
    let mut all = Comparison::default();
    for environment in &before.environments().all {
        let same_root = |one: &&Arc<Environment>| one.root == environment.root;
        let Some(later) = after.environments().all.iter().find(same_root) else {
            all.others_change = true;
            continue;
        };
        let concerns =
            |path: &&&FilePath| environment.governs_file(path) || later.governs_file(path);
        if !files.iter().any(|path| concerns(&path)) {
            continue;
        }
        let sides = Sides { before: (before, environment), after: (after, later), effort };
        let mut keys = sides.affected_keys(&files);
        keys.retain(|key| !new_keys.contains(key));
        if keys.is_empty() {
            all.nodes += sides.compared_nodes().0.len();
            all.are_kinds |= sides.compared_nodes().1;
            continue;
        }
        sides.compare(&keys, &files, &mut all);
        all.keys.extend(keys);
        if before.cancel_token().is_cancelled() {
            return None;
        }
    }
    Some(all)
}

/// One environment before and after the change.
struct Sides<'a> {
    before: (&'a Snapshot, &'a Environment),
    after: (&'a Snapshot, &'a Environment),
    effort: &'a Effort,
}

impl<'a> Sides<'a> {
    /// Returns the nodes that are compared, and whether they are kinds of nodes.
    fn compared_nodes(&self) -> (&'a [Arc<Node>], bool) {
        let (snapshot, environment) = self.before;
        match snapshot.nodes_of(environment) {
            [] => (&snapshot.kinds_of(environment).all, true),
            nodes => (nodes, false),
        }
    }

    /// Returns the keys that a lookup may find another value for.
    fn affected_keys(&self, files: &[&FilePath]) -> BTreeSet<Arc<str>> {
        let (before, environment) = self.before;
        let (after, later) = self.after;
        let is_config =
            |path: &&&FilePath| !environment.reaches_file(path) && !later.reaches_file(path);
        let mut keys: BTreeSet<Arc<str>> = if files.iter().any(|path| is_config(&path)) {
            before.keys().keys().chain(after.keys().keys()).cloned().collect()
        } else {
            files.iter().flat_map(|path| self.keys_of_file(path)).collect()
        };
        keys.remove(LOOKUP_OPTIONS);
        keys
    }

    /// Returns the keys whose data in a file differ, with those that its options concern.
    fn keys_of_file(&self, path: &FilePath) -> BTreeSet<Arc<str>> {
        let data = |(snapshot, environment): (&Snapshot, &Environment)| {
            snapshot.view(environment).data_of(path).unwrap_or_default()
        };
        let (old, new) = (data(self.before), data(self.after));
        if old.refusal().is_some() != new.refusal().is_some() {
            return all_keys(&old).chain(all_keys(&new)).collect();
        }
        let is_other =
            |key: &Arc<str>| old.get(key).map(|it| &it.value) != new.get(key).map(|it| &it.value);
        let mut keys: BTreeSet<Arc<str>> =
            all_keys(&old).chain(all_keys(&new)).filter(is_other).collect();
        if keys.contains(LOOKUP_OPTIONS) {
            keys.extend(self.keys_of_options(&old, &new));
        }
        keys
    }

    /// Returns the keys for which `lookup_options` of a file say something else.
    fn keys_of_options(&self, old: &DataFile, new: &DataFile) -> BTreeSet<Arc<str>> {
        let (before, after) = (self.before.0.keys(), self.after.0.keys());
        let all = || before.keys().chain(after.keys()).cloned().collect();
        let entries = |data: &DataFile| -> Option<BTreeMap<Arc<str>, Value>> {
            let Some(options) = data.get(LOOKUP_OPTIONS) else { return Some(BTreeMap::new()) };
            let entry = |(key, member): (&Key, &crate::puppet::value::Member)| {
                Some((key.as_arc()?.clone(), member.value.clone()))
            };
            Some(options.value.as_hash()?.iter().filter_map(entry).collect())
        };
        let (Some(old), Some(new)) = (entries(old), entries(new)) else { return all() };
        let names: BTreeSet<&Arc<str>> =
            old.keys().chain(new.keys()).filter(|key| old.get(*key) != new.get(*key)).collect();
        if names.iter().any(|name| name.contains("%{")) {
            return all();
        }
        let (patterns, literal): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| name.starts_with('^'));
        let mut keys: BTreeSet<Arc<str>> = literal.into_iter().cloned().collect();
        if !patterns.is_empty() {
            let is_matched = |key: &&Arc<str>| {
                let entries = before.options_of(key).chain(after.options_of(key));
                entries.into_iter().any(|entry| patterns.contains(&&entry.key))
            };
            keys.extend(before.keys().chain(after.keys()).filter(is_matched).cloned());
        }
        keys
    }

    fn compare(&self, keys: &BTreeSet<Arc<str>>, files: &[&FilePath], all: &mut Comparison) {
        let (nodes, are_kinds) = self.compared_nodes();
        let mut changed: HashSet<usize> = HashSet::new();
        let mut left_out: HashSet<usize> = HashSet::new();
        for key in keys.iter().flat_map(|key| self.lookup_ways(key)) {
            if self.before.0.cancel_token().is_cancelled() {
                return;
            }
            all.others_change |= self.differs_for_others(key, files);
            if !are_kinds {
                self.nodes_that_differ(key, nodes, &mut changed, &mut left_out);
                continue;
            }
            for (number, kind) in nodes.iter().enumerate() {
                match self.has_other_value(key, &kind.scope) {
                    Some(true) => drop(changed.insert(number)),
                    Some(false) => {}
                    None => drop(left_out.insert(number)),
                }
            }
        }
        all.nodes += nodes.len();
        all.are_kinds |= are_kinds;
        all.left_out += left_out.difference(&changed).count();
        all.changed += changed.len();
    }

    /// Returns the ways in which a key is looked up: as code calls for it, and as tokens do, where
    /// these differ.
    fn lookup_ways<'k>(&self, key: &'k str) -> impl Iterator<Item = ComparedLookup<'k>> + use<'k> {
        let (snapshot, environment) = self.before;
        let called = snapshot.manifests(environment).called_merge(key);
        let is_called = matches!(called, CalledMerge::One(_));
        let ways = if is_called { &[true, false][..] } else { &[false] };
        ways.iter().map(move |as_called| ComparedLookup { key, as_called: *as_called })
    }

    /// Whether a key has another value for a node without any known variable, or for one of which
    /// only the path of one of the files is known.
    fn differs_for_others(&self, key: ComparedLookup<'_>, files: &[&FilePath]) -> bool {
        let (before, environment) = self.before;
        let any = before.any_scope(environment);
        let inferred = |path: &&FilePath| {
            environment.reaches_file(path).then(|| before.inferred_scope(environment, path))
        };
        let scopes = files.iter().filter_map(inferred).chain([Arc::new(any)]);
        // A key that was not looked up may have another value.
        scopes.into_iter().any(|scope| self.has_other_value(key, &scope) != Some(false))
    }

    /// Whether a key has another value in a scope; `None` where that is not known.
    fn has_other_value(&self, key: ComparedLookup<'_>, scope: &Arc<Scope>) -> Option<bool> {
        if !self.effort.take() {
            return None;
        }
        let before = ComparedValue::from_resolution(&lookup(self.before, key, scope), self.before);
        let after = ComparedValue::from_resolution(&lookup(self.after, key, scope), self.after);
        before.is_same(&after).map(|is_same| !is_same)
    }

    fn nodes_that_differ(
        &self,
        key: ComparedLookup<'_>,
        nodes: &[Arc<Node>],
        changed: &mut HashSet<usize>,
        left_out: &mut HashSet<usize>,
    ) {
        let (after, later) = self.after;
        let numbers: Vec<usize> = (0..nodes.len()).collect();
        let old = self.group_answers(self.before, key, &numbers);
        // Discovery may have found other nodes, too.
        let later_nodes = after.nodes_of(later);
        let by_name: HashMap<&str, usize> =
            later_nodes.iter().enumerate().map(|(number, node)| (&*node.name, number)).collect();
        let same: Vec<Option<usize>> =
            nodes.iter().map(|node| by_name.get(&*node.name).copied()).collect();
        let asked: Vec<usize> = same.iter().flatten().copied().collect();
        let new = self.group_answers(self.after, key, &asked);
        let mut pairs: HashMap<(usize, usize), Option<bool>> = HashMap::new();
        for (number, later_number) in same.iter().enumerate() {
            let (Some(one), Some(other)) =
                (old.of.get(&number), later_number.and_then(|number| new.of.get(&number)))
            else {
                left_out.insert(number);
                continue;
            };
            let is_same = *pairs
                .entry((*one, *other))
                .or_insert_with(|| old.answers[*one].is_same(&new.answers[*other]));
            match is_same {
                Some(true) => {}
                Some(false) => drop(changed.insert(number)),
                None => drop(left_out.insert(number)),
            }
        }
    }

    /// Returns the answers of the nodes with these numbers, as far as the effort reaches.
    fn group_answers(
        &self,
        side: (&Snapshot, &Environment),
        key: ComparedLookup<'_>,
        numbers: &[usize],
    ) -> Answers {
        let (snapshot, environment) = side;
        let question = FleetQuestion {
            snapshot,
            environment,
            root: key.key,
            lookup: &|scope| {
                self.effort.take();
                lookup(side, key, scope)
            },
            max_lookups: self.effort.lookups.get().min(MAX_GROUPS),
        };
        let Groups { groups, .. } = group_by_answer(&question, numbers);
        let mut answers = Answers::default();
        for Group { nodes, resolution, .. } in groups {
            answers.of.extend(nodes.iter().map(|node| (*node, answers.answers.len())));
            answers.answers.push(ComparedValue::from_resolution(&resolution, side));
        }
        answers
    }
}

/// A root key, and a way to look it up.
#[derive(Clone, Copy)]
struct ComparedLookup<'k> {
    key: &'k str,
    /// With the merge strategy that calls in code ask for.
    as_called: bool,
}

/// The answers of nodes.
#[derive(Default)]
struct Answers {
    answers: Vec<ComparedValue>,
    /// The number of the answer of each node.
    of: HashMap<usize, usize>,
}

/// An answer without its places.
struct ComparedValue {
    /// The value. All errors are equal, as their messages name places.
    value: Result<Option<Value>, ()>,
    conversions: usize,
    /// The files that may change the value under conditions that are unknown. A file that itself
    /// changes is looked up in the scope of its own path.
    unsettled: Vec<(Arc<str>, Bindings, FilePath)>,
    /// Whether tokens of unknown variables stand in the value.
    has_unknown: bool,
}

impl ComparedValue {
    /// Whether two answers are the same; `None` where unknown variables decide that.
    fn is_same(&self, other: &ComparedValue) -> Option<bool> {
        if self.value == other.value {
            return Some(
                self.conversions == other.conversions && self.unsettled == other.unsettled,
            );
        }
        let are_open = self.has_unknown && other.has_unknown;
        (!are_open).then_some(false)
    }

    fn from_resolution(
        resolution: &Resolution,
        (snapshot, environment): (&Snapshot, &Environment),
    ) -> ComparedValue {
        let view = snapshot.view(environment);
        let value = resolution.value.clone().map_err(|_| ());
        let is_same = |one: &Unsettled| {
            let data = view.data_of(&one.path).filter(|_| *one.key == *resolution.key.root_text());
            let other = data.as_ref().and_then(|data| data.get(&one.key)).map(|it| &it.value);
            other.is_some() && other == value.as_ref().ok().and_then(Option::as_ref)
        };
        // Whichever of these files a node reads, it finds the same.
        let is_settled =
            resolution.merge.stops_at_first() && resolution.unsettled.iter().all(is_same);
        let unsettled = resolution.unsettled.iter().filter(|_| !is_settled);
        let unsettled =
            unsettled.map(|one| (one.key.clone(), one.when.clone(), one.path.clone())).collect();
        ComparedValue {
            value,
            conversions: resolution.unapplied_conversions.len(),
            unsettled,
            has_unknown: !resolution.reads.unknown.is_empty(),
        }
    }
}

fn all_keys(data: &DataFile) -> impl Iterator<Item = Arc<str>> {
    data.keys().filter_map(|key| key.as_arc().cloned())
}

fn lookup(
    (snapshot, environment): (&Snapshot, &Environment),
    asked: ComparedLookup<'_>,
    scope: &Scope,
) -> Resolution {
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, scope));
    let key = LookupKey::of_root(asked.key);
    match asked.as_called {
        true => snapshot.lookup_as_called(environment, &resolver, &key),
        false => resolver.lookup(&key, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::text::{TextEdit, TextRange};

    const FLEET: &str = "#- levels Role Common\n#- node a role=web\n#- node b role=web\n#- node c role=db\n#- /data/roles/web.yaml\nk: 1\n#- /data/roles/db.yaml\nx: 1\n#- /data/common.yaml\nasks: \"%{lookup('k')}\"\nk: 3\n";

    fn compared(path: &str, text: &str, lookups: usize) -> Comparison {
        let fixture = Fixture::new(FLEET);
        let path = FilePath::new(path);
        let old = fixture.snapshot.file(&path).and_then(|file| file.text()).expect("a text").len();
        let mut change = SourceChange::default();
        change.push(&path, TextEdit::new(TextRange::new(0, old), text));
        let after = fixture.snapshot.after_change(&change).expect("it can change");
        compare(&fixture.snapshot, &after, &change, (&[], &Effort::new(lookups)))
            .expect("not cancelled")
    }

    #[test]
    fn nodes_and_dependents_that_differ_are_counted() {
        let found = compared("/data/roles/web.yaml", "k: 2\n", 100);
        assert_eq!((found.changed, found.nodes, found.left_out), (2, 3, 0));
        assert!(found.others_change && found.keys.contains("k"));
        let found = compared("/data/roles/web.yaml", "# comment\n'k': 1\n", 100);
        assert_eq!((found.changed, found.nodes, found.keys.len()), (0, 3, 0));
        assert!(found.is_neutral());
    }

    #[test]
    fn options_concern_the_keys_that_they_name_or_match() {
        let options = "lookup_options: {'^k': {merge: unique}}\nk: 3\nasks: \"%{lookup('k')}\"\n";
        let found = compared("/data/common.yaml", options, 100);
        assert_eq!(found.keys.iter().map(|key| &**key).collect::<Vec<_>>(), ["k"]);
        assert_eq!((found.changed, found.nodes), (3, 3), "a list takes the place of a number");
    }

    #[test]
    fn nodes_beyond_the_effort_are_counted_and_not_called_equal() {
        let found = compared("/data/roles/web.yaml", "k: 2\n", 2);
        assert!(found.left_out > 0 && !found.is_neutral(), "{found:?}");
        assert_eq!(found.changed + found.left_out, 3);
    }
}
