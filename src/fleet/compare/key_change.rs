//! Changes of a key grouped by the answers before and after, for the nodes that have both.
//!
//! Lookups group nodes by what they read ([`crate::fleet::groups`]), so that their groups depend on
//! the other nodes that are asked about, and on the step of a search that asks. A change has all
//! nodes for which a report states the same, whichever groups they are from.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use foldhash::HashMap as FastMap;
use indexmap::IndexMap;
use indexmap::map::Entry;

use super::answer::NodeAnswers;
use super::nodes::{Witnesses, rank_nodes};
use crate::fleet::leaves::{have_alike_parts, is_same_order};
use crate::fleet::node_set::NodeSet;
use crate::fleet::ways::ReadWay;
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::Variable;
use crate::text::work::{Work, count_work};
use crate::workspace::nodes::Node;

type FastIndexMap<K, V> = IndexMap<K, V, foldhash::fast::RandomState>;

/// A key with another effective value.
#[derive(Clone, Debug)]
pub struct KeyChange {
    /// The root key.
    pub key: Arc<str>,
    /// The merge strategies that calls name and for which both answers are the same; `None` for
    /// that of `lookup_options`.
    pub strategies: BTreeSet<Option<String>>,
    /// Whether only the order of members differs.
    pub is_order: bool,
    /// The lookup before, of one of the nodes that have this answer before. Only comparisons of whole
    /// trees keep its steps.
    pub before: Arc<Resolution>,
    /// The lookup after, of one of the nodes that have this answer after, which may be another node
    /// than that of `before`.
    pub after: Arc<Resolution>,
    /// The nodes, by their numbers before.
    pub nodes: NodeSet,
    /// The keys with edited data that cause the change.
    pub causes: BTreeSet<Arc<str>>,
}

/// Adds the changes of a key in one way: one for each pair of answers that differ. The numbers
/// before and after of the witnesses are given. Returns the nodes for which the answer differs.
pub(super) fn add_changes(
    (key, way): (&Arc<str>, &ReadWay<'_>),
    (nodes, witnesses): (impl Iterator<Item = (usize, usize)>, &Witnesses),
    (old, new): (&NodeAnswers, &NodeAnswers),
    found: &mut Vec<KeyChange>,
) -> NodeSet {
    // Each pair has the numbers of both answers, and a node that has these answers.
    let mut pairs: Vec<((usize, usize), usize)> = Vec::new();
    for (node, later) in nodes {
        if let Some(pair) = old.number(node).zip(new.number(later)) {
            pairs.extend(witnesses.nodes_of(&node).iter().map(|node| (pair, *node)));
        }
    }
    pairs.sort_unstable();
    let mut changed = NodeSet::default();
    for having_pair in pairs.chunk_by(|one, next| one.0 == next.0) {
        let (one, other) = having_pair[0].0;
        let (one, other) = (old.answer(one), new.answer(other));
        let (Some(before), Some(after)) = (&one.lookup, &other.lookup) else { continue };
        let is_order = one.is_same(other) == Some(true);
        let is_reordered = match (&before.value, &after.value) {
            (Ok(Some(before)), Ok(Some(after))) => !is_same_order(before, after),
            _ => false,
        };
        if is_order && !is_reordered {
            continue;
        }
        let nodes = having_pair.iter().map(|(_, node)| *node).collect();
        changed.insert_all(&nodes);
        found.push(KeyChange {
            key: key.clone(),
            strategies: BTreeSet::from([way.strategy_name()]),
            is_order,
            before: before.clone(),
            after: after.clone(),
            nodes,
            causes: BTreeSet::new(),
        });
    }
    changed
}

/// Joins the changes of a key, each in one way: first those that differ in nodes alone, then those
/// that differ in the way alone. Those of most nodes come first in each way; `all` are the nodes
/// before.
pub(super) fn join_changes(found: Vec<KeyChange>, all: &[Arc<Node>]) -> Vec<KeyChange> {
    if found.len() < 2 {
        return found;
    }
    // The ways are few, so a linear search finds the way of a change.
    let mut of_ways: Vec<Vec<KeyChange>> = Vec::new();
    for change in found {
        match of_ways.iter_mut().find(|of_way| of_way[0].strategies == change.strategies) {
            Some(of_way) => of_way.push(change),
            None => of_ways.push(vec![change]),
        }
    }
    let mut joined: Vec<KeyChange> = Vec::new();
    // `numbers` has the numbers of joined changes by their first nodes. In one way, no two changes
    // have a node in common.
    let mut numbers: FastMap<usize, Vec<usize>> = FastMap::default();
    for of_way in of_ways {
        let mut of_way = join_nodes(of_way, all);
        of_way.sort_by_key(|change| rank_nodes(&change.nodes));
        for change in of_way {
            let others = numbers.entry(change.first_node()).or_default();
            match others.iter().find(|other| differ_in_way_alone(&joined[**other], &change)) {
                Some(other) => joined[*other].strategies.extend(change.strategies),
                None => {
                    others.push(joined.len());
                    joined.push(change);
                }
            }
        }
    }
    joined
}

/// Joins the changes of a key in one way that have the same content for reports: the answers, and the
/// values of the variables that these read.
fn join_nodes(of_way: Vec<KeyChange>, all: &[Arc<Node>]) -> Vec<KeyChange> {
    let mut by_answers: FastIndexMap<ReportedAnswers, Vec<KeyChange>> = FastIndexMap::default();
    for change in of_way {
        by_answers.entry(ReportedAnswers::of_change(&change)).or_default().push(change);
    }
    let mut joined = Vec::new();
    for (answers, alike) in by_answers {
        if alike.len() < 2 {
            joined.extend(alike);
            continue;
        }
        let mut by_values: FastIndexMap<Vec<Variable>, KeyChange> = FastIndexMap::default();
        for change in alike {
            let scope = &all[change.first_node()].scope;
            let values = answers.variables().map(|name| scope.get_path(name)).collect();
            match by_values.entry(values) {
                Entry::Vacant(entry) => drop(entry.insert(change)),
                Entry::Occupied(mut entry) => entry.get_mut().add_nodes(change),
            }
        }
        joined.extend(by_values.into_values());
    }
    joined
}

impl KeyChange {
    fn first_node(&self) -> usize {
        self.nodes.first().expect("a change has a node")
    }

    /// Adds the nodes of another change; the lookups are those of the first node.
    fn add_nodes(&mut self, other: KeyChange) {
        if other.first_node() < self.first_node() {
            self.before = other.before;
            self.after = other.after;
        }
        self.nodes.insert_all(&other.nodes);
    }
}

fn differ_in_way_alone(one: &KeyChange, other: &KeyChange) -> bool {
    one.nodes == other.nodes
        && one.is_order == other.is_order
        && has_same_value(&one.before, &other.before)
        && has_same_value(&one.after, &other.after)
}

fn has_same_value(one: &Resolution, other: &Resolution) -> bool {
    match (&one.value, &other.value) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), Err(_)) => true,
        _ => false,
    }
}

/// Both answers of a change, as far as reports state them: with the places and the order of their
/// parts.
struct ReportedAnswers {
    before: Arc<Resolution>,
    after: Arc<Resolution>,
    is_order: bool,
}

impl ReportedAnswers {
    fn of_change(change: &KeyChange) -> ReportedAnswers {
        let KeyChange { before, after, is_order, .. } = change;
        ReportedAnswers { before: before.clone(), after: after.clone(), is_order: *is_order }
    }

    /// Returns the variables that the answers read: equal answers read the same ones.
    fn variables(&self) -> impl Iterator<Item = &String> {
        self.before.reads.variables.iter().chain(&self.after.reads.variables)
    }
}

impl PartialEq for ReportedAnswers {
    fn eq(&self, other: &ReportedAnswers) -> bool {
        count_work(Work::Step);
        self.is_order == other.is_order
            && is_reported_alike(&self.before, &other.before)
            && is_reported_alike(&self.after, &other.after)
    }
}

impl Eq for ReportedAnswers {}

impl Hash for ReportedAnswers {
    // Nodes often have equal values from files of their own, so the hash covers the origin.
    fn hash<H: Hasher>(&self, state: &mut H) {
        for side in [&self.before, &self.after] {
            match &side.value {
                Ok(value) => (value, value.as_ref().map(|value| value.origin)).hash(state),
                Err(error) => error.to_string().hash(state),
            }
        }
    }
}

/// Whether reports state the same about two lookups of a key.
fn is_reported_alike(one: &Resolution, other: &Resolution) -> bool {
    let is_same_value = match (&one.value, &other.value) {
        (Ok(Some(one)), Ok(Some(other))) => {
            one == other && have_alike_parts(one, other, &|one, other| one.origin == other.origin)
        }
        (one, other) => one == other,
    };
    is_same_value
        && one.is_secret() == other.is_secret()
        && one.unsettled_levels.is_empty() == other.unsettled_levels.is_empty()
        && one.reads.variables == other.reads.variables
        && one.reads.keys == other.reads.keys
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;
    use crate::fleet::compare::KnownAnswers;
    use crate::fleet::compare::changes::find_changes;
    use crate::fleet::compare::nodes::NodeChoice;
    use crate::text::{FilePath, SourceChange, TextEdit, TextRange, work};

    /// Returns the changes that replacements of texts in files make: keys with their nodes.
    fn changes(fleet: &str, edits: &[(&str, &str, &str)]) -> Vec<String> {
        let before = Fixture::new(fleet).snapshot;
        let mut change = SourceChange::default();
        let mut paths = Vec::new();
        for (path, old, new) in edits {
            let path = FilePath::new(path);
            let text = before.file(&path).and_then(|file| file.text()).expect("a text");
            let start = text.find_all(old)[0];
            let end = start + old.len() as u32;
            change.push(&path, TextEdit::new(TextRange::new(start, end), *new));
            paths.push(path);
        }
        let after = before.after_change(&change).expect("it can change");
        let everyone = NodeChoice::chosen_by(&|_| true);
        let all = find_changes(&before, &after, &paths, &everyone, &mut KnownAnswers::default());
        let all = all.expect("not cancelled");
        let changes = all.iter().flat_map(|one| one.changes.iter().map(move |it| (one, it)));
        let told = changes.map(|(one, change)| {
            let nodes: Vec<&str> = change.nodes.iter().map(|it| &*one.nodes[it].name).collect();
            format!("{}: {} by {}", change.key, nodes.join(" "), {
                let causes: Vec<&str> = change.causes.iter().map(|cause| &**cause).collect();
                causes.join(" ")
            })
        });
        told.collect()
    }

    #[test]
    fn nodes_share_a_change_whatever_the_lookup_of_another_node_reads() {
        // The lookup for `n0` alone asks for `a`, which distinguishes the other nodes.
        let fleet = "#- node n0 kind=odd role=r0\n#- node n1 kind=plain role=r1\n#- node n2 kind=plain role=r2\n#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Kind, path: 'kinds/%{kind}.yaml'}\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n#- /data/kinds/odd.yaml\nx: \"%{lookup('a')}\"\n#- /data/roles/r1.yaml\na: 1\n#- /data/roles/r2.yaml\na: 1\n#- /data/common.yaml\na: 0\nx: 0\nk: \"1 %{lookup('x')}\"\n";
        let edit = ("/data/common.yaml", "1 %", "2 %");
        assert_eq!(changes(fleet, &[edit]), ["k: n1 n2 by k", "k: n0 by k"]);
    }

    #[test]
    fn nodes_share_a_change_whichever_step_of_the_search_finds_it() {
        // `x` is read from another file for `web`; `y` changes for both nodes.
        let fleet = "#- node db role=db\n#- node web role=web\n#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n#- /data/roles/web.yaml\nx: {a: 1, b: 1}\n#- /data/common.yaml\nx: {a: 1, b: 2}\ny: 1\nk: \"%{lookup('x.a')} %{lookup('y')}\"\n";
        let swap = (
            "/hiera.yaml",
            "- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n",
            "- {name: Common, path: common.yaml}\n- {name: Role, path: 'roles/%{role}.yaml'}\n",
        );
        assert_eq!(
            changes(fleet, &[swap, ("/data/common.yaml", "y: 1", "y: 2")]),
            ["k: db web by k x y", "x: web by x", "y: db web by y"]
        );
    }

    #[test]
    fn changes_from_other_places_or_variables_stay_apart() {
        let fleet = "#- node a role=web\n#- node b role=db\n#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n#- /data/roles/web.yaml\nk: 1\n#- /data/roles/db.yaml\nk: 1\n#- /data/common.yaml\nother: \"1 %{role}\"\nasks: \"%{lookup('k')}\"\n";
        let edits = ["web", "db"].map(|role| format!("/data/roles/{role}.yaml"));
        let edits: Vec<(&str, &str, &str)> =
            edits.iter().map(|path| (path.as_str(), "k: 1", "k: 2")).collect();
        assert_eq!(changes(fleet, &edits), ["asks: a b by k", "k: a by k", "k: b by k"]);
        assert_eq!(
            changes(fleet, &[("/data/common.yaml", "1 %", "2 %")]),
            ["other: a by other", "other: b by other"]
        );
    }

    #[test]
    fn changes_of_equal_answers_are_not_compared_in_pairs() {
        const NODES: usize = 300;
        let nodes: String = (0..NODES).map(|n| format!("#- node n{n} role=r{n}\n")).collect();
        let fleet = format!(
            "{nodes}#- /hiera.yaml\nversion: 5\nhierarchy: [{{name: Common, path: common.yaml}}]\n#- /data/common.yaml\nl: 1\n"
        );
        // The lookup finds another value of the variable `role` for each node, and then fails with
        // the same message for all nodes.
        let edit = ("/data/common.yaml", "l: 1", "l: 1\nk: \"%{role} %{nofunc('a')}\"");
        work::take();
        assert_eq!(changes(&fleet, &[edit]).len(), NODES);
        let steps = work::take().steps;
        assert!(steps < 4 * NODES, "{steps} comparisons");
    }
}
