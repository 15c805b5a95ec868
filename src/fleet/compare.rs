//! Two snapshots compared: the nodes whose effective values differ between them.
//!
//! Only keys are looked up whose data differ in the files that changed, and those that
//! `lookup_options` speak of otherwise, each with every merge strategy with which it is read. Keys
//! whose tokens lead to these need no lookup: where the ones that they ask for are the same, they
//! are, too, except in a cycle. Only nodes that read a changed file are looked up, and nodes with
//! one answer share one lookup on each side ([`super::groups`]).

mod answer;
pub mod changes;
mod concerned;
pub mod edits;
mod effort;
pub mod history;
mod kept;
pub mod key_change;
mod keys;
mod known;
mod needed;
pub mod nodes;
pub mod refused;
mod relocated;
mod shadowed;
pub mod upgrade;
mod whole;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use answer::{ComparedAnswer, NodeAnswers};
use concerned::{ComparedChange, ConcernedNodes};
pub use effort::Effort;
pub use known::KnownAnswers;

use super::groups::{FleetQuestion, Group, visit_groups};
use super::node_caches::{CachedScope, NodeCaches};
use super::node_values::NodeValues;
use super::ways::ReadWay;
use crate::hiera::key::LookupKey;
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::Scope;
use crate::text::{FilePath, SourceChange, count_phrase};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::Node;

/// The differences that a change makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The keys that were compared: those that a node may find another value for, without the keys
    /// that ask for these.
    pub keys: BTreeSet<Arc<str>>,
    /// The nodes that were compared, or would have been if the effort had sufficed: the known
    /// nodes of the environments concerned, or the kinds of nodes where none is known.
    pub nodes: usize,
    /// Whether the nodes are kinds of nodes.
    pub are_kinds: bool,
    /// How many of the nodes have another value for one of the keys, in one of the ways in which it
    /// is read.
    pub changed: usize,
    /// How many of the other nodes have keys that could not be compared: the effort ended, or
    /// variables or merge strategies are unknown.
    pub left_out: usize,
    /// Whether an unknown node may get another value: a node without any known variable, or one of
    /// which only the path of a changed file is known.
    pub others_change: bool,
}

impl Comparison {
    /// Whether every value is known to be the same.
    pub fn is_neutral(&self) -> bool {
        self.changed == 0 && self.left_out == 0 && !self.others_change
    }

    /// Returns the nodes that were compared, counted: `3 nodes`.
    pub fn nodes_phrase(&self) -> String {
        count_phrase(self.nodes, if self.are_kinds { "kind of nodes" } else { "node" })
    }

    /// Returns the result as a remark behind a title; empty where no value changes.
    pub fn effect_phrase(&self) -> String {
        let Comparison { nodes, changed, left_out, .. } = *self;
        let all = self.nodes_phrase();
        match (changed, left_out) {
            (0, 0) if !self.others_change => String::new(),
            (0, 0) if nodes == 0 => " (may change values: no node is known)".to_owned(),
            (0, 0) => format!(" (changes none of {all}; others may change)"),
            (0, _) => format!(" (changes not known for {left_out} of {all})"),
            (_, 0) => format!(" (changes {changed} of {all})"),
            _ => format!(" (changes {changed} of {all}; not known for {left_out})"),
        }
    }
}

/// Compares a snapshot with what changes would make of it. The changes share the effort, and the
/// lookups in the snapshot as it is.
pub struct Comparer<'a> {
    before: &'a Snapshot,
    effort: Effort,
    /// The answers that all changes share.
    known: RefCell<KnownAnswers>,
    /// The located levels that all changes share, of each environment in their order.
    caches: Vec<NodeCaches<'static>>,
    /// Whether answers keep their lookups, for callers that show both.
    keeps_lookups: bool,
}

/// An environment in one of two snapshots.
#[derive(Clone, Copy)]
struct ComparedSide<'a> {
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    caches: &'a NodeCaches<'a>,
}

/// A key that is read in a way, on one side; with the kinds of nodes where no node is known.
type AnswerQuestion<'q> = (ComparedSide<'q>, Option<&'q [Arc<Node>]>, &'q str, &'q ReadWay<'q>);

/// The results of a change in one environment.
#[derive(Default)]
struct Verdicts {
    /// Whether the comparison ends at the first difference.
    ends_at_first: bool,
    changed: HashSet<usize>,
    left_out: HashSet<usize>,
    /// Whether an unknown node may get another value.
    others_change: bool,
}

impl Verdicts {
    /// Takes in whether the answer of a node is the same in a way; `None` where that is not known.
    fn add(&mut self, node: usize, is_same: Option<bool>, way: &ReadWay<'_>) {
        match is_same {
            Some(true) => {}
            Some(false) if way.is_certain => drop(self.changed.insert(node)),
            _ => drop(self.left_out.insert(node)),
        }
    }

    /// Whether the comparison is over.
    fn are_enough(&self) -> bool {
        let is_same = self.changed.is_empty() && self.left_out.is_empty() && !self.others_change;
        self.ends_at_first && !is_same
    }
}

impl<'a> Comparer<'a> {
    /// Creates a comparer of changes to a snapshot.
    pub fn new(before: &'a Snapshot, effort: Effort) -> Comparer<'a> {
        let caches = before.environments().all.iter().map(|_| NodeCaches::default()).collect();
        let known = RefCell::default();
        Comparer { before, effort, known, caches, keeps_lookups: false }
    }

    /// Begins the first of so many changes that are left to compare: it gets its share of the
    /// effort.
    pub fn begin_change(&self, left: usize) {
        self.effort.begin_part(left);
    }

    /// Compares the snapshot with the one after a change, but for these keys, which the change makes
    /// and nothing else asks for. `None` when cancelled.
    pub fn compare(
        &self,
        after: &Snapshot,
        change: &SourceChange,
        new_keys: &[Arc<str>],
    ) -> Option<Comparison> {
        self.compare_until((after, change), new_keys, false)
    }

    /// Whether a change keeps every value. The comparison ends at the first value that may be
    /// another. `false` when cancelled.
    pub fn keeps_values(&self, after: &Snapshot, change: &SourceChange) -> bool {
        let found = self.compare_until((after, change), &[], true);
        found.is_some_and(|found| found.is_neutral())
    }

    /// Compares as `compare` does, and ends at the first difference if `ends_at_first`.
    fn compare_until(
        &self,
        (after, change): (&Snapshot, &SourceChange),
        new_keys: &[Arc<str>],
        ends_at_first: bool,
    ) -> Option<Comparison> {
        let mut all = Comparison::default();
        let visit = |sides: Option<(ComparedSide<'_>, ComparedSide<'_>)>, files: &[&FilePath]| {
            let Some(sides) = sides else {
                all.others_change = true;
                return ControlFlow::Continue(());
            };
            let mut keys = keys::keys_that_differ(sides.0, sides.1, files);
            keys.retain(|key| !new_keys.contains(key));
            let (nodes, are_kinds) = sides.0.compared_nodes();
            all.nodes += nodes.len();
            all.are_kinds |= are_kinds;
            let mut verdicts = Verdicts { ends_at_first, ..Verdicts::default() };
            if !keys.is_empty() {
                self.compare_keys(sides, (&keys, files), &mut verdicts);
            }
            all.keys.extend(keys);
            all.others_change |= verdicts.others_change;
            all.left_out += verdicts.left_out.difference(&verdicts.changed).count();
            all.changed += verdicts.changed.len();
            if verdicts.are_enough() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.visit_environments((after, change), visit)?;
        Some(all)
    }

    /// Passes on both sides of each environment that a change concerns, and the files of the change;
    /// no sides for an environment that is gone afterwards. `None` when cancelled.
    fn visit_environments(
        &self,
        (after, change): (&Snapshot, &SourceChange),
        mut visit: impl FnMut(
            Option<(ComparedSide<'_>, ComparedSide<'_>)>,
            &[&FilePath],
        ) -> ControlFlow<()>,
    ) -> Option<()> {
        let files: Vec<&FilePath> = change.edits.keys().chain(change.created.keys()).collect();
        for (number, environment) in self.before.environments().all.iter().enumerate() {
            let Some(later) = environment_after(self.before, after, environment) else {
                let _ = visit(None, &files);
                continue;
            };
            if !files.iter().any(|path| environment.governs_file(path) || later.governs_file(path))
            {
                continue;
            }
            let has_same_files = std::ptr::eq(environment, later) && change.created.is_empty();
            let known = &self.caches[number];
            let caches = NodeCaches::of_later(known, has_same_files);
            let before = ComparedSide { snapshot: self.before, environment, caches: known };
            let after = ComparedSide { snapshot: after, environment: later, caches: &caches };
            let is_over = visit(Some((before, after)), &files).is_break();
            if self.before.cancel_token().is_cancelled() {
                return None;
            }
            if is_over {
                break;
            }
        }
        Some(())
    }

    fn compare_keys(
        &self,
        sides: (ComparedSide<'_>, ComparedSide<'_>),
        (keys, files): (&BTreeSet<Arc<str>>, &[&FilePath]),
        verdicts: &mut Verdicts,
    ) {
        let change = ComparedChange::new(sides, keys, files);
        for key in keys {
            self.compare_key(&change, key, verdicts);
            if verdicts.are_enough() || self.before.cancel_token().is_cancelled() {
                return;
            }
        }
    }

    /// Compares one of the keys of a change in each way in which the key is read.
    fn compare_key(&self, change: &ComparedChange<'_>, key: &Arc<str>, verdicts: &mut Verdicts) {
        let ComparedChange { sides: (before, after), files, .. } = *change;
        let only_merge_differs = keys::differs_in_merge_alone((before, after), key, files);
        for way in before.ways(key).iter() {
            if only_merge_differs && way.names_strategy() {
                continue;
            }
            verdicts.others_change |= self.differs_for_others(change, key, way);
            if verdicts.are_enough() {
                return;
            }
            let (nodes, edited) = change.concerned();
            let old = self.known_answers((before, nodes.kinds), (key, way), &nodes.numbers);
            let is_shadowed = |node: &usize| {
                let answer = old.number(*node).map(|number| old.answer(number));
                let found = answer.and_then(|answer| answer.found.as_ref());
                edited.as_ref().is_some_and(|it| it.lie_below(before, way, (*node, found)))
            };
            let open: Vec<usize> =
                nodes.numbers.iter().copied().filter(|node| !is_shadowed(node)).collect();
            self.compare_answers(after, (key, way), (nodes, &open, &old), verdicts);
            self.keep_answers(before, (key, way), old);
            if verdicts.are_enough() || self.before.cancel_token().is_cancelled() {
                return;
            }
        }
    }

    /// Compares the known answers of nodes with those after the change: of the nodes with the numbers
    /// in `open`.
    fn compare_answers(
        &self,
        after: ComparedSide<'_>,
        (key, way): (&str, &ReadWay<'_>),
        (nodes, open, old): (&ConcernedNodes<'_>, &[usize], &NodeAnswers),
        verdicts: &mut Verdicts,
    ) {
        let mut left: HashSet<usize> = open.iter().copied().collect();
        let later: Vec<usize> = open.iter().filter_map(|node| nodes.number_after(*node)).collect();
        let is_enough = Cell::new(false);
        let question = (after, nodes.kinds, key, way);
        self.visit_answers(question, &later, &|| is_enough.get(), |group, answer| {
            let mut known: HashMap<usize, Option<bool>> = HashMap::new();
            for later in group {
                let Some(node) = nodes.number_before(later) else { continue };
                let Some(number) = old.number(node) else { continue };
                let is_same =
                    *known.entry(number).or_insert_with(|| old.answer(number).is_same(&answer));
                left.remove(&node);
                verdicts.add(node, is_same, way);
            }
            is_enough.set(verdicts.are_enough());
        });
        if !is_enough.get() {
            left.into_iter().for_each(|node| verdicts.add(node, None, way));
        }
    }

    /// Whether a key has another value for a node without any known variable, or for one of which
    /// only the path of one of the files is known.
    fn differs_for_others(
        &self,
        change: &ComparedChange<'_>,
        key: &str,
        way: &ReadWay<'_>,
    ) -> bool {
        let ComparedChange { sides: (before, after), files, .. } = *change;
        // A key that was not looked up may have another value.
        change.unknown_scopes().iter().any(|(scope, cached)| {
            let look_up = |side| self.lookup(side, key, way, (scope, Some(cached)));
            if self.effort.is_over() {
                return true;
            }
            let old = look_up(before);
            if change.is_beyond(&old) {
                return false;
            }
            let old = ComparedAnswer::new(&old, before, files);
            old.is_same(&ComparedAnswer::new(&look_up(after), after, files)) != Some(true)
        })
    }

    /// Looks a key up on one side, at the expense of the effort. Lookups in the snapshot as it is
    /// serve all changes.
    fn lookup(
        &self,
        side: ComparedSide<'_>,
        key: &str,
        way: &ReadWay<'_>,
        scope: (&Scope, Option<&CachedScope>),
    ) -> Resolution {
        if std::ptr::eq(side.snapshot, self.before) {
            self.effort.spend_shared_lookup()
        } else {
            self.effort.spend_lookup()
        }
        side.lookup(key, way, scope)
    }

    fn compared_answer(&self, resolution: Resolution, side: ComparedSide<'_>) -> ComparedAnswer {
        let answer = ComparedAnswer::new(&resolution, side, &[]);
        if !self.keeps_lookups {
            return answer;
        }
        answer.with_lookup(Resolution { steps: Vec::new(), ..resolution })
    }

    /// Adds the answers of the nodes, or of these kinds of nodes, with these numbers that are not
    /// known yet, as far as the effort reaches.
    fn add_answers(
        &self,
        (side, kinds): (ComparedSide<'_>, Option<&[Arc<Node>]>),
        (key, way): (&str, &ReadWay<'_>),
        numbers: &[usize],
        answers: &mut NodeAnswers,
    ) {
        let rest: Vec<usize> = numbers.iter().copied().filter(|node| !answers.has(*node)).collect();
        let question = (side, kinds, key, way);
        self.visit_answers(question, &rest, &|| false, |nodes, answer| answers.add(nodes, answer));
    }

    /// Looks a key up for the nodes, or for these kinds of nodes, with these numbers, as far as the
    /// effort reaches and until `is_enough`, and passes on the nodes of each answer.
    fn visit_answers(
        &self,
        (side, kinds, key, way): AnswerQuestion<'_>,
        numbers: &[usize],
        is_enough: &dyn Fn() -> bool,
        mut visit: impl FnMut(Vec<usize>, ComparedAnswer),
    ) {
        let is_over =
            || self.effort.is_over() || side.snapshot.cancel_token().is_cancelled() || is_enough();
        if let Some(kinds) = kinds {
            for number in numbers {
                if is_over() {
                    return;
                }
                let scope = &kinds[*number].scope;
                let resolution =
                    self.lookup(side, key, way, (scope, Some(&CachedScope::Node(*number))));
                visit(vec![*number], self.compared_answer(resolution, side));
            }
            return;
        }
        let ComparedSide { snapshot, environment, .. } = side;
        let lookup = |scope: &Scope, node: Option<usize>| {
            self.lookup(side, key, way, (scope, node.map(CachedScope::Node).as_ref()))
        };
        let question = FleetQuestion {
            snapshot,
            environment,
            root: key,
            lookup: &lookup,
            ends_at_first: way.ends_at_first(snapshot, key),
            is_enough: &|_| is_over(),
            asked: Some(&side.caches.asked),
        };
        visit_groups(&question, numbers, |Group { nodes, resolution, .. }| {
            visit(nodes, self.compared_answer(resolution, side));
        });
    }
}

/// Returns an environment after a change: the one with the same root, and of several with one root
/// the one with the same config.
fn environment_after<'s>(
    before: &Snapshot,
    after: &'s Snapshot,
    environment: &Environment,
) -> Option<&'s Arc<Environment>> {
    let is_same_root = |one: &&Arc<Environment>| one.root == environment.root;
    let config = |one: &Environment| one.config.as_ref().map(|config| config.path.clone());
    let is_alone = before.environments().all.iter().filter(is_same_root).count() == 1;
    let mut later = after.environments().all.iter().filter(is_same_root);
    later.find(|one| is_alone || config(one) == config(environment))
}

impl<'a> ComparedSide<'a> {
    /// Returns the nodes that are compared, and whether they are kinds of nodes.
    fn compared_nodes(self) -> (&'a [Arc<Node>], bool) {
        NodeValues::all_nodes(self.snapshot, self.environment)
    }

    /// Returns the kinds of nodes, if these are compared.
    fn compared_kinds(self) -> Option<&'a [Arc<Node>]> {
        let (all, are_kinds) = self.compared_nodes();
        are_kinds.then_some(all)
    }

    /// Returns the ways in which a key is read.
    fn ways<'k>(self, key: &'k str) -> Vec<ReadWay<'k>>
    where
        'a: 'k,
    {
        ReadWay::ways_of_key(self.snapshot, self.environment, key)
    }

    /// Looks a key up in a scope. The steps end with the location that answered.
    fn lookup(
        self,
        key: &str,
        way: &ReadWay<'_>,
        (scope, cached): (&Scope, Option<&CachedScope>),
    ) -> Resolution {
        let view = self.snapshot.view(self.environment);
        let context = self.snapshot.lookup_context(self.environment, &view, scope);
        let resolver = self.caches.resolver(context, cached).without_unreached();
        way.lookup(&resolver, &LookupKey::of_root(key))
    }

    /// Looks a key up in a scope, with the steps below the location that answered.
    fn lookup_whole(
        self,
        key: &str,
        way: &ReadWay<'_>,
        (scope, cached): (&Scope, &CachedScope),
    ) -> Resolution {
        let view = self.snapshot.view(self.environment);
        let context = self.snapshot.lookup_context(self.environment, &view, scope);
        way.lookup(&self.caches.resolver(context, Some(cached)), &LookupKey::of_root(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::text::{TextEdit, TextRange, work};

    const FLEET: &str = "#- levels Role Common\n#- node a role=web\n#- node b role=web\n#- node c role=db\n#- /data/roles/web.yaml\nk: 1\n#- /data/roles/db.yaml\nx: 1\n#- /data/common.yaml\nasks: \"%{lookup('k')}\"\nk: 3\n";

    fn compare_texts(path: &str, text: &str, lookups: Option<usize>) -> Comparison {
        compare_in(FLEET, path, text, lookups)
    }

    fn compare_in(fleet: &str, path: &str, text: &str, lookups: Option<usize>) -> Comparison {
        let fixture = Fixture::new(fleet);
        let path = FilePath::new(path);
        let old = fixture.snapshot.file(&path).and_then(|file| file.text()).expect("a text").len();
        let mut change = SourceChange::default();
        change.push(&path, TextEdit::new(TextRange::new(0, old), text));
        let after = fixture.snapshot.after_change(&change).expect("it can change");
        let comparer = Comparer::new(&fixture.snapshot, Effort::new(lookups));
        comparer.compare(&after, &change, &[]).expect("not cancelled")
    }

    #[test]
    fn nodes_and_dependents_that_differ_are_counted() {
        let found = compare_texts("/data/roles/web.yaml", "k: 2\n", None);
        assert_eq!((found.changed, found.nodes, found.left_out), (2, 3, 0));
        assert!(found.others_change && found.keys.contains("k"));
        let found = compare_texts("/data/roles/web.yaml", "# comment\n'k': 1\n", None);
        assert_eq!((found.changed, found.nodes, found.keys.len()), (0, 3, 0));
        assert!(found.is_neutral());
    }

    #[test]
    fn options_concern_the_keys_that_they_name_or_match() {
        let options = "lookup_options: {'^k': {merge: unique}}\nk: 3\nasks: \"%{lookup('k')}\"\n";
        let found = compare_texts("/data/common.yaml", options, None);
        assert_eq!(found.keys.iter().map(|key| &**key).collect::<Vec<_>>(), ["k"]);
        assert_eq!((found.changed, found.nodes), (3, 3), "a list takes the place of a number");
    }

    #[test]
    fn nodes_beyond_the_effort_are_counted_and_not_called_equal() {
        let found = compare_texts("/data/roles/web.yaml", "k: 2\n", Some(0));
        assert_eq!((found.changed, found.left_out, found.nodes), (0, 2, 3));
        assert!(!found.is_neutral() && found.others_change);
    }

    /// Returns a comparison in a repository with this code, of two nodes of one role.
    fn compare_with_code(code: &str, path: &str, text: &str) -> Comparison {
        let fleet = format!(
            "#- levels Node Role Common\n#- node n1 trusted.certname=n1 role=web\n#- node n2 trusted.certname=n2 role=db\n#- /manifests/site.pp\n{code}\n#- /data/nodes/n1.yaml\nk: {{own: 1}}\n#- /data/nodes/n2.yaml\nk: {{own: 2}}\n#- /data/roles/web.yaml\nk: {{web: 2}}\n#- /data/roles/db.yaml\nk: {{db: 3}}\n#- /data/common.yaml\nx: 1\n"
        );
        compare_in(&fleet, path, text, None)
    }

    #[test]
    fn each_strategy_that_calls_name_is_compared() {
        let deep = "class a { lookup('k', Hash, 'deep') }";
        let first = "class b { lookup('k', Hash, 'first') }";
        let common = ("/data/common.yaml", "x: 1\nk: {common: 1}\n");
        let found = compare_with_code(&format!("{deep}\n{first}"), common.0, common.1);
        assert_eq!((found.changed, found.left_out), (2, 0), "the deep call finds more");
        let found = compare_with_code(first, common.0, common.1);
        assert_eq!((found.changed, found.left_out), (0, 0));
        let found = compare_with_code("class a { lookup('k') }", common.0, common.1);
        assert_eq!((found.changed, found.left_out), (0, 0));
        let found =
            compare_with_code("class a($how) { lookup('k', Hash, $how) }", common.0, common.1);
        assert_eq!((found.changed, found.left_out), (0, 2), "the strategy is not known");
    }

    #[test]
    fn options_change_nothing_where_each_call_names_a_strategy() {
        let calls = "class a { lookup('k', Hash, 'deep') }\nclass b { lookup('k', Hash, 'first') }";
        let options = ("/data/common.yaml", "lookup_options: {k: {merge: hash}}\nx: 1\n");
        let found = compare_with_code(calls, options.0, options.1);
        assert!(found.is_neutral(), "{found:?}");
        let plain = format!("{calls}\nclass c {{ lookup('k') }}");
        assert_eq!(compare_with_code(&plain, options.0, options.1).changed, 2);
        let token = "lookup_options: {k: {merge: hash}}\nx: \"%{lookup('k.own')}\"\n";
        assert_eq!(compare_with_code(calls, options.0, token).changed, 2);
    }

    #[test]
    fn a_call_that_names_its_strategy_needs_no_lookup_where_a_merge_option_is_added() {
        let call = "class a { lookup('k', Hash, 'deep') }";
        let options = "lookup_options: {k: {merge: hash}}\nx: 1\n";
        work::take();
        assert!(compare_with_code(call, "/data/common.yaml", options).is_neutral());
        assert_eq!(work::take().lookups, 0);
    }

    #[test]
    fn a_merge_option_that_hides_a_conversion_changes_the_value_of_each_call() {
        let fleet = "#- levels Role Common\n#- node n1 role=web\n#- /manifests/site.pp\nclass a { lookup('k', Data, 'first') }\n#- /data/roles/web.yaml\nk: 1\n#- /data/common.yaml\nlookup_options: {k: {convert_to: String}}\n";
        let text = "lookup_options: {k: {merge: first}}\nk: 1\n";
        let found = compare_in(fleet, "/data/roles/web.yaml", text, None);
        let plain = compare_in(fleet, "/data/roles/web.yaml", "lookup_options: {}\nk: 1\n", None);
        assert_eq!((found.changed + found.left_out, plain.changed), (1, 0), "{found:?}");
    }

    #[test]
    fn a_call_that_meets_a_cycle_is_compared_where_only_the_tokens_change() {
        let fleet = "#- levels Role Common\n#- node n1 role=web\n#- /manifests/site.pp\n$a = lookup('k', Data, 'unique')\n#- /data/roles/web.yaml\nk: 1\nl: \"%{lookup('k')}\"\n#- /data/common.yaml\nk: \"%{lookup('l')}\"\n";
        let found = compare_in(fleet, "/data/roles/web.yaml", "k: 1\nl: '1'\n", None);
        assert_eq!(found.changed, 1, "the call fails before: k asks for l, which asks for k");
    }

    #[test]
    fn an_environment_that_is_gone_afterwards_is_not_called_the_same() {
        let fleet = "#- /ops/hiera_live.yaml\nversion: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n#- /ops/data/common.yaml\nk: 1\n";
        let found = compare_in(fleet, "/ops/hiera_live.yaml", "k: 1\n", None);
        assert!(found.others_change && !found.is_neutral(), "{found:?}");
    }

    #[test]
    fn nodes_that_do_not_read_the_file_are_not_looked_up() {
        let nodes: String = (0..300)
            .map(|n| format!("#- node n{n} trusted.certname=n{n} role=r{}\n", n % 100))
            .collect();
        let fleet = format!(
            "#- levels Role Common\n{nodes}#- /data/roles/r1.yaml\nk: \"%{{trusted.certname}}\"\n#- /data/common.yaml\nk: 1\n"
        );
        let fixture_cost = |path: &str, text: &str| {
            work::take();
            let found = compare_in(&fleet, path, text, None);
            (found.changed, found.left_out, work::take().lookups)
        };
        let (changed, left_out, lookups) = fixture_cost("/data/roles/r1.yaml", "k: 2\n");
        assert_eq!((changed, left_out), (3, 0));
        // Three nodes are looked up before and one group after. The scope of the file and the scope
        // of any node are looked up as well.
        assert!(lookups <= 8, "{lookups}");
    }

    /// Nodes with a file each that has the key, above a role and a level for all.
    fn fleet_of_own_files(count: usize) -> String {
        let nodes: String = (0..count)
            .map(|n| format!("#- node n{n} trusted.certname=n{n} role=web\n#- /data/nodes/n{n}.yaml\nk: \"{n}-%{{role}}\"\n"))
            .collect();
        format!(
            "#- levels Node Role Common\n{nodes}#- node last trusted.certname=last role=web\n#- /data/roles/web.yaml\nk: 1\n#- /data/common.yaml\nx: 1\n"
        )
    }

    #[test]
    fn nodes_with_a_value_above_the_edited_file_are_not_asked_again() {
        let fleet = fleet_of_own_files(40);
        work::take();
        let found = compare_in(&fleet, "/data/roles/web.yaml", "k: 2\n", None);
        assert_eq!((found.changed, found.left_out, found.nodes), (1, 0, 41));
        let lookups = work::take().lookups;
        // The lookups give 41 answers before, one answer after, and the answers of two scopes for
        // unknown nodes.
        assert!(lookups <= 41 + 1 + 4, "{lookups}");
        let found = compare_in(&fleet, "/data/roles/web.yaml", "x: 1\n", None);
        assert_eq!((found.changed, found.left_out), (1, 0), "the last node loses its value");
        let options = "k: 1\nlookup_options: {k: {merge: unique}}\n";
        let found = compare_in(&fleet, "/data/roles/web.yaml", options, None);
        assert_eq!((found.changed, found.left_out), (41, 0), "options concern all");
    }

    #[test]
    fn a_value_above_that_asks_for_an_edited_key_is_asked_again() {
        let fleet = "#- levels Node Role Common\n#- node n trusted.certname=n role=web\n#- /data/nodes/n.yaml\nk: \"%{lookup('l')}\"\n#- /data/roles/web.yaml\nl: {a: 1, b: 2}\nk: 1\n#- /data/common.yaml\nx: 1\n";
        let found = compare_in(fleet, "/data/roles/web.yaml", "l: {a: 1, b: 3}\nk: 2\n", None);
        assert_eq!((found.changed, found.left_out), (1, 0));
    }

    #[test]
    fn lookups_before_the_change_leave_each_change_its_share() {
        let fixture = Fixture::new(&fleet_of_own_files(40));
        let path = FilePath::new("/data/common.yaml");
        let comparer = Comparer::new(&fixture.snapshot, Effort::new(Some(41 + 3 * (41 + 4))));
        let found = ["hash", "deep", "unique"].into_iter().enumerate().map(|(done, strategy)| {
            let mut change = SourceChange::default();
            let text = format!("lookup_options: {{k: {{merge: {strategy}}}}}\n");
            change.push(&path, TextEdit::new(TextRange::new_empty(0), &*text));
            let after = fixture.snapshot.after_change(&change).expect("it can change");
            comparer.begin_change(3 - done);
            comparer.compare(&after, &change, &[]).expect("not cancelled").left_out
        });
        assert_eq!(found.collect::<Vec<_>>(), [0, 0, 0]);
    }

    #[test]
    fn text_that_is_no_whole_token_is_compared_beside_unknown_tokens() {
        let text = |text: &str| format!("k: {{x: '{text}%{{alias', y: '%{{facts.kernel}}'}}\n");
        let fleet = format!(
            "#- levels Node Common\n#- /data/nodes/web01.yaml\n{}#- /data/nodes/web02.yaml\nx: 1\n",
            text("a")
        );
        let found = compare_in(&fleet, "/data/nodes/web01.yaml", &text("b"), None);
        assert_eq!((found.changed, found.left_out), (1, 0), "{found:?}");
        let token = "k: {x: '%{facts.os}', y: '%{facts.kernel}'}\n";
        let found = compare_in(&fleet, "/data/nodes/web01.yaml", token, None);
        assert_eq!((found.changed, found.left_out), (0, 1), "the token may become the text");
    }
}
