//! All that a revision changes: each key with another effective value, before and after, with the
//! nodes that see the change, and the edited entries that cause it.
//!
//! Unlike a comparison of counts, keys whose tokens lead to a changed key are looked up, too, on the
//! nodes for which that key changes: for all others each answer that they ask for is the same.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::answer::NodeAnswers;
use super::concerned::nodes_concerned;
use super::key_change::{KeyChange, add_changes, join_changes};
use super::nodes::{ChangedNodes, ComparedNodes, NodeChoice, Witnesses};
use super::refused::{RefusedFile, refused_files};
use super::relocated::relocated_keys;
use super::{ComparedSide, Comparer, Effort, KnownAnswers, environment_after, keys};
use crate::fleet::node_caches::NodeCaches;
use crate::fleet::node_set::NodeSet;
use crate::fleet::ways::ReadWay;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::FilePath;
use crate::text::work::{Work, count_work};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::parallel::{on_all_cores_with, thread_count};
use crate::workspace::nodes::Node;

/// The changes in an environment.
pub struct EnvironmentChanges<'a> {
    /// The environment before.
    pub before: &'a Environment,
    /// The environment after.
    pub after: &'a Environment,
    /// The nodes, or kinds of nodes where none is known, before.
    pub nodes: &'a [Arc<Node>],
    /// Whether the nodes are kinds of nodes.
    pub are_kinds: bool,
    /// The numbers of the nodes that were compared: those of both sides that the caller chose.
    pub compared: Vec<usize>,
    /// The names of nodes that only the revision after has.
    pub added: Vec<Arc<str>>,
    /// The names of nodes that only the revision before has.
    pub removed: Vec<Arc<str>>,
    /// The changes, in the order of keys.
    pub changes: Vec<KeyChange>,
    /// The files that Puppet refuses in one revision. Keys that fail for them are no changes.
    pub refused: Vec<RefusedFile>,
}

impl EnvironmentChanges<'_> {
    /// Returns the keys that change, with the nodes of each change.
    pub fn changed_nodes(&self) -> ChangedNodes {
        let mut all = ChangedNodes::new();
        for KeyChange { key, nodes, .. } in &self.changes {
            let groups = all.entry(key.clone()).or_default();
            if !groups.contains(nodes) {
                groups.push(nodes.clone());
            }
        }
        all
    }
}

impl<'a> ComparedNodes<'a> {
    /// Returns the changes of the nodes.
    pub(super) fn into_changes(
        self,
        (before, after): (&'a Environment, &'a Environment),
        changes: Vec<KeyChange>,
    ) -> EnvironmentChanges<'a> {
        EnvironmentChanges {
            before,
            after,
            nodes: self.nodes,
            are_kinds: self.are_kinds,
            compared: self.compared,
            added: self.added,
            removed: self.removed,
            changes,
            refused: Vec::new(),
        }
    }
}

/// A key to look up: the nodes of the lookup, and the edited keys because of which it is made.
#[derive(Default)]
struct Stake {
    nodes: NodeSet,
    causes: BTreeSet<Arc<str>>,
}

/// Returns what a revision changes in each environment that both sides have, for the chosen nodes.
/// `files` are those that differ. `known` has answers before, and gets those that this comparison
/// needs, as far as it has room. `None` when cancelled.
pub fn find_changes<'a>(
    before: &'a Snapshot,
    after: &'a Snapshot,
    files: &[FilePath],
    choice: &NodeChoice<'_>,
    known: &mut KnownAnswers,
) -> Option<Vec<EnvironmentChanges<'a>>> {
    let comparer = Comparer { keeps_lookups: true, ..Comparer::new(before, Effort::default()) };
    comparer.known.replace(std::mem::replace(known, KnownAnswers::new(0)));
    comparer.known.borrow_mut().begin_round();
    let found = comparer.changes_of_environments(after, files, choice);
    *known = comparer.known.take();
    found
}

/// Returns the files that one revision alone refuses.
fn one_sided(mut all: Vec<RefusedFile>) -> Vec<RefusedFile> {
    let paths = |is_after: bool| -> BTreeSet<FilePath> {
        all.iter().filter(|one| one.is_after == is_after).map(|one| one.path.clone()).collect()
    };
    let both: BTreeSet<FilePath> = paths(false).intersection(&paths(true)).cloned().collect();
    all.retain(|one| !both.contains(&one.path));
    all
}

/// Whether a file is data of an environment, or shapes it.
fn concerns((before, after): (ComparedSide<'_>, ComparedSide<'_>), path: &FilePath) -> bool {
    let reaches = before.environment.reaches_file(path) || after.environment.reaches_file(path);
    let is_shaping = |side: ComparedSide<'_>| {
        side.environment.governs_file(path) && side.snapshot.shapes_environments(path)
    };
    reaches || is_shaping(before) || is_shaping(after)
}

impl<'a> Comparer<'a> {
    fn changes_of_environments(
        &self,
        after: &'a Snapshot,
        files: &[FilePath],
        choice: &NodeChoice<'_>,
    ) -> Option<Vec<EnvironmentChanges<'a>>> {
        let before = self.before;
        let mut all = Vec::new();
        for (environment, known) in before.environments().all.iter().zip(&self.caches) {
            let Some(later) = environment_after(before, after, environment) else { continue };
            let has_same_files = std::ptr::eq(environment, later)
                && files
                    .iter()
                    .all(|path| before.file(path).is_some() == after.file(path).is_some());
            let caches = NodeCaches::of_later(known, has_same_files);
            let sides = (
                ComparedSide { snapshot: before, environment, caches: known },
                ComparedSide { snapshot: after, environment: later, caches: &caches },
            );
            let files = files.iter().filter(|path| concerns(sides, path)).collect::<Vec<_>>();
            let nodes = ComparedNodes::find((before, environment), (after, later), choice);
            let refused = refused_files(sides.0, sides.1, &nodes);
            let known = (&nodes, choice.known_in(all.len()));
            let changes = self.environment_changes(sides, &files, known, &refused)?;
            let refused = one_sided(refused);
            all.push(EnvironmentChanges {
                refused,
                ..nodes.into_changes((environment, later), changes)
            });
        }
        Some(all)
    }

    fn environment_changes(
        &self,
        (before, after): (ComparedSide<'_>, ComparedSide<'_>),
        files: &[&FilePath],
        (nodes, known): (&ComparedNodes<'_>, Option<&ChangedNodes>),
        refused: &[RefusedFile],
    ) -> Option<Vec<KeyChange>> {
        let mut tracing = ChangeTracing {
            comparer: self,
            before,
            after,
            nodes,
            known,
            refused,
            stakes: HashMap::new(),
            changes: BTreeMap::new(),
        };
        if !files.is_empty() {
            let mut at_stake: NodeSet = nodes.compared.iter().copied().collect();
            if !nodes.are_kinds {
                let concerned = nodes_concerned(before, after, files).into_iter().collect();
                at_stake = at_stake.intersection(&concerned);
            }
            let has_same_files = files.iter().all(|path| {
                before.snapshot.file(path).is_some() == after.snapshot.file(path).is_some()
            });
            let relocated = if has_same_files && !keys::has_config(before, after, files) {
                Some(BTreeMap::new())
            } else {
                relocated_keys((before, after), nodes, has_same_files)
            };
            let edited = match relocated {
                Some(_) => keys::edited_keys(before, after, files),
                None => keys::keys_that_differ(before, after, files),
            };
            let mut stakes: BTreeMap<Arc<str>, Stake> = edited
                .into_iter()
                .map(|key| {
                    let causes = BTreeSet::from([key.clone()]);
                    (key, Stake { nodes: at_stake.clone(), causes })
                })
                .collect();
            for (key, nodes) in relocated.into_iter().flatten() {
                let keys = keys::with_dependents((before, after), BTreeSet::from([key]));
                for key in keys {
                    let stake = stakes.entry(key.clone()).or_default();
                    stake.nodes.insert_all(&nodes);
                    stake.causes.insert(key);
                }
            }
            add_other_nodes((before, after), nodes, &mut stakes);
            tracing.trace(stakes)?;
        }
        Some(tracing.into_changes())
    }
}

/// Adds all keys for the nodes that have other variables afterwards, as the names of data files show
/// others.
fn add_other_nodes(
    (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    compared: &ComparedNodes<'_>,
    stakes: &mut BTreeMap<Arc<str>, Stake>,
) {
    if std::ptr::eq(before.environment, after.environment) {
        return;
    }
    let ((nodes, _), (later, _)) = (before.compared_nodes(), after.compared_nodes());
    let others: NodeSet = compared
        .compared
        .iter()
        .filter(|number: &&usize| {
            let node = &nodes[**number];
            let now = &later[compared.later_number(**number)];
            let variables = |node: &Node| -> BTreeMap<String, crate::puppet::Value> {
                let known = node.scope.known_variables();
                known.map(|(name, value)| (name.to_owned(), value.clone())).collect()
            };
            node.scope.open != now.scope.open
                || !Arc::ptr_eq(&node.scope, &now.scope) && variables(node) != variables(now)
        })
        .copied()
        .collect();
    if others.is_empty() {
        return;
    }
    let keys = [before, after].into_iter().flat_map(|side| side.snapshot.keys().keys());
    for key in keys.filter(|key| ***key != *LOOKUP_OPTIONS) {
        stakes.entry(key.clone()).or_default().nodes.insert_all(&others);
    }
}

/// The number of keys whose answers are held at a time, before only the changes are kept.
const KEYS_AT_ONCE: usize = 256;

/// The search for changes in an environment.
struct ChangeTracing<'t, 'a> {
    comparer: &'t Comparer<'t>,
    before: ComparedSide<'a>,
    after: ComparedSide<'a>,
    nodes: &'t ComparedNodes<'a>,
    /// The changes, where they are known already.
    known: Option<&'t ChangedNodes>,
    refused: &'t [RefusedFile],
    /// The stakes of each key that was looked up, in the order of the steps.
    stakes: HashMap<Arc<str>, Vec<Stake>>,
    /// The changes that each step found, without causes.
    changes: BTreeMap<Arc<str>, Vec<KeyChange>>,
}

impl ChangeTracing<'_, '_> {
    /// Looks the keys up, then those that ask for a key that changes, and so on. `None` when
    /// cancelled.
    fn trace(&mut self, mut waiting: BTreeMap<Arc<str>, Stake>) -> Option<()> {
        while !waiting.is_empty() {
            let mut changed: BTreeMap<Arc<str>, NodeSet> = BTreeMap::new();
            let mut left: Vec<(&Arc<str>, NodeSet)> = Vec::new();
            for (key, stake) in &waiting {
                let (known, nodes) = self.changed_before(key, stake);
                changed.insert(key.clone(), known);
                left.push((key, nodes));
            }
            for keys in left.chunks(KEYS_AT_ONCE) {
                for (key, nodes) in self.look_up(keys)? {
                    changed.entry(key).or_default().insert_all(&nodes);
                }
            }
            let mut next: BTreeMap<Arc<str>, Stake> = BTreeMap::new();
            for (key, stake) in waiting {
                let changed = &changed[&key];
                let askers =
                    if changed.is_empty() { BTreeSet::new() } else { self.askers_of(&key) };
                for asker in askers {
                    let known = next.entry(asker).or_default();
                    known.nodes.insert_all(changed);
                    known.causes.extend(stake.causes.iter().cloned());
                }
                self.stakes.entry(key).or_default().push(stake);
            }
            waiting = next;
        }
        Some(())
    }

    /// Returns the keys whose tokens, or whose callers' strategies, depend on a key; all keys where
    /// `lookup_options` do.
    fn askers_of(&self, key: &str) -> BTreeSet<Arc<str>> {
        let sides = [self.before, self.after].map(|side| side.snapshot.keys());
        let mut askers: BTreeSet<Arc<str>> =
            sides.iter().flat_map(|index| index.asked_by(key)).cloned().collect();
        askers.extend(self.keys_merged_by(key));
        if askers.remove(LOOKUP_OPTIONS) {
            askers.extend(sides.iter().flat_map(|index| index.keys()).cloned());
            askers.remove(LOOKUP_OPTIONS);
        }
        askers
    }

    /// Returns the keys that calls read with a strategy that the class parameter of a key decides.
    fn keys_merged_by(&self, key: &str) -> Vec<Arc<str>> {
        let ComparedSide { snapshot, environment, .. } = self.after;
        if !snapshot.manifests(environment).decides_merges(key) {
            return Vec::new(); // as with most
        }
        let is_merged_by = |one: &&Arc<str>| {
            count_work(Work::Step);
            let ways = ReadWay::ways_of_key(snapshot, environment, one);
            ways.iter().any(|way| way.deciding_parameter() == Some(key))
        };
        snapshot.keys().keys().filter(is_merged_by).cloned().collect()
    }

    /// Returns the nodes of a stake for which the key is known to change, and now has other causes: the
    /// changes of the keys that ask for this one have them, too; and the nodes for which the key is
    /// still to be looked up.
    fn changed_before(&self, key: &Arc<str>, stake: &Stake) -> (NodeSet, NodeSet) {
        let Some(stakes) = self.stakes.get(key) else {
            return (NodeSet::default(), stake.nodes.clone());
        };
        let changes = self.changes.get(key).into_iter().flatten();
        let known = NodeSet::union(changes.map(|change| &change.nodes));
        let mut changed = known.intersection(&stake.nodes);
        let mut left = stake.nodes.clone();
        for earlier in stakes {
            left.remove_all(&earlier.nodes);
            if earlier.causes.is_superset(&stake.causes) {
                changed.remove_all(&earlier.nodes);
            }
        }
        (changed, left)
    }

    /// Looks each key up for its nodes in each way in which it is read, and once as the data say;
    /// many keys on all cores. Returns the nodes for which an answer of a key differs; `None` when
    /// cancelled.
    fn look_up(&mut self, left: &[(&Arc<str>, NodeSet)]) -> Option<Vec<(Arc<str>, NodeSet)>> {
        let ComparedSide { snapshot, environment, .. } = self.after;
        let mut questions: Vec<WayQuestion<'_>> = Vec::new();
        for &(key, ref nodes) in left {
            let is_refused = |node: usize| self.refused.iter().any(|file| file.fails(key, node));
            let nodes: Vec<usize> = nodes.iter().filter(|node| !is_refused(*node)).collect();
            if nodes.is_empty() {
                continue;
            }
            for way in ReadWay::certain_ways(snapshot, environment, key) {
                let witnesses = Witnesses::choose(nodes.clone(), key, self.known);
                let later = |node: &usize| self.nodes.later_number(*node);
                let later = witnesses.numbers.iter().map(later).collect();
                let old = self.comparer.take_answers(self.before, (key, &way));
                let number = questions.len();
                questions.push(WayQuestion {
                    number,
                    key,
                    way,
                    witnesses,
                    later,
                    old: Mutex::new(old),
                });
            }
        }
        // Each question is expected to have as many answers as before. The question with the most
        // answers comes first, so that no core is left with the longest question.
        let mut order: Vec<&WayQuestion<'_>> = questions.iter().collect();
        order.sort_by_key(|question| Reverse(question.known_count()));
        let mut answers = self.answer_all(&order);
        answers.sort_by_key(|answer| answer.number);
        let mut changed = Vec::new();
        for (WayQuestion { key, way, .. }, answer) in questions.iter().zip(answers) {
            // The search after the next keystroke, which has cancelled this search, needs the
            // answers before the change, too.
            if let Some(old) = answer.old {
                self.comparer.put_answers(self.before, (*key, way), old);
            }
            self.changes.entry((*key).clone()).or_default().extend(answer.changes);
            changed.push(((*key).clone(), answer.changed));
        }
        (!is_cancelled((self.before, self.after))).then_some(changed)
    }

    /// Returns the answer to each question.
    fn answer_all(&self, questions: &[&WayQuestion<'_>]) -> Vec<WayAnswer> {
        if thread_count(questions.len()) < 2 {
            let sides = (self.before, self.after);
            return questions.iter().map(|it| it.answer(self.comparer, sides)).collect();
        }
        // Each thread has its own caches.
        let sides = [self.before, self.after].map(|side| (side.snapshot, side.environment));
        let create = || {
            let comparer =
                Comparer { keeps_lookups: true, ..Comparer::new(sides[0].0, Effort::default()) };
            (comparer, [NodeCaches::default(), NodeCaches::default()])
        };
        on_all_cores_with(questions, create, |(comparer, caches), question| {
            let side = |number: usize| {
                let (snapshot, environment) = sides[number];
                ComparedSide { snapshot, environment, caches: &caches[number] }
            };
            question.answer(comparer, (side(0), side(1)))
        })
    }

    /// Returns the changes, in the order of keys, each with the causes of its nodes.
    fn into_changes(self) -> Vec<KeyChange> {
        let ChangeTracing { changes, stakes, nodes, .. } = self;
        let mut all = Vec::new();
        for (key, found) in changes {
            for mut change in join_changes(found, nodes.nodes) {
                let of_nodes =
                    stakes[&key].iter().filter(|it| !it.nodes.is_disjoint(&change.nodes));
                change.causes = of_nodes.flat_map(|stake| &stake.causes).cloned().collect();
                all.push(change);
            }
        }
        all
    }
}

fn is_cancelled((before, after): (ComparedSide<'_>, ComparedSide<'_>)) -> bool {
    [before, after].iter().any(|side| side.snapshot.cancel_token().is_cancelled())
}

/// A key to look up in one way, for some witnesses.
struct WayQuestion<'q> {
    /// The question's number among the questions of a step.
    number: usize,
    key: &'q Arc<str>,
    way: ReadWay<'q>,
    witnesses: Witnesses,
    /// The numbers of the witnesses after.
    later: Vec<usize>,
    /// The answers before that are known.
    old: Mutex<NodeAnswers>,
}

/// The answer to the question about a key in one way.
struct WayAnswer {
    /// The number of the question.
    number: usize,
    /// The answers before; `None` where one may be of a cancelled lookup, which is no answer.
    old: Option<NodeAnswers>,
    changes: Vec<KeyChange>,
    /// The nodes for which the answer differs.
    changed: NodeSet,
}

impl WayQuestion<'_> {
    /// Returns the number of answers before that are known.
    fn known_count(&self) -> usize {
        self.old.lock().unwrap_or_else(PoisonError::into_inner).count()
    }

    fn answer(
        &self,
        comparer: &Comparer<'_>,
        (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    ) -> WayAnswer {
        let asked = (&**self.key, &self.way);
        let number = self.number;
        let mut old = std::mem::take(&mut *self.old.lock().unwrap_or_else(PoisonError::into_inner));
        if is_cancelled((before, after)) {
            let (changes, changed) = Default::default();
            return WayAnswer { number, old: Some(old), changes, changed };
        }
        comparer.add_answers(
            (before, before.compared_kinds()),
            asked,
            &self.witnesses.numbers,
            &mut old,
        );
        let mut new = NodeAnswers::default();
        comparer.add_answers((after, after.compared_kinds()), asked, &self.later, &mut new);
        let mut changes = Vec::new();
        let pairs = self.witnesses.numbers.iter().copied().zip(self.later.iter().copied());
        let asked = (self.key, &self.way);
        let changed = add_changes(asked, (pairs, &self.witnesses), (&old, &new), &mut changes);
        WayAnswer { number, old: (!is_cancelled((before, after))).then_some(old), changes, changed }
    }
}
