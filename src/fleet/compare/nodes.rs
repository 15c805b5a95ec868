//! The nodes that two snapshots are compared for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::fleet::node_set::NodeSet;
use crate::fleet::node_values::NodeValues;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::Node;
use crate::workspace::share::Share;

/// The nodes that a comparison is about.
pub struct NodeChoice<'c> {
    /// Whether a node is compared.
    pub is_chosen: &'c dyn Fn(&Node) -> bool,
    /// The share of the chosen nodes that is compared.
    pub share: Share,
    /// The results of comparisons of all shares, for each environment that both sides have, in their
    /// order: nodes with one answer are known, so one of them is looked up. `None` where all nodes
    /// are grouped and looked up.
    pub known: Option<&'c [ChangedNodes]>,
}

impl<'c> NodeChoice<'c> {
    /// The nodes of which the function is true.
    pub fn chosen_by(is_chosen: &'c dyn Fn(&Node) -> bool) -> NodeChoice<'c> {
        NodeChoice { is_chosen, share: Share::WHOLE, known: None }
    }

    /// Returns the known results of the environment with this number.
    pub(super) fn known_in(&self, environment: usize) -> Option<&'c ChangedNodes> {
        self.known?.get(environment)
    }
}

/// The keys that change in an environment, with groups of nodes, by their numbers before: each group
/// has one answer before, and another one after.
pub type ChangedNodes = BTreeMap<Arc<str>, Vec<NodeSet>>;

/// Nodes to look a key up for: each stands for itself, or for a group of nodes of which it is known
/// that they have the same answers.
pub(super) struct Witnesses {
    /// The first node of each group; in the order of nodes where each stands for itself.
    pub(super) numbers: Vec<usize>,
    /// The groups by their first nodes; `None` where each node stands for itself.
    groups: Option<HashMap<usize, Vec<usize>>>,
}

impl Witnesses {
    /// Returns the witnesses of these nodes, given in order, for a key. Where changes are known,
    /// nodes without changes have no witness.
    pub(super) fn choose(nodes: Vec<usize>, key: &str, known: Option<&ChangedNodes>) -> Witnesses {
        let Some(known) = known else { return Witnesses { numbers: nodes, groups: None } };
        let changed = known.get(key).into_iter().flatten().enumerate();
        // A key that is read in several ways has groups for each way. The groups of several ways
        // may overlap.
        let mut groups_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, group) in changed {
            for node in group.iter().filter(|node| nodes.binary_search(node).is_ok()) {
                groups_of.entry(node).or_default().push(number);
            }
        }
        let mut parts: HashMap<Vec<usize>, Vec<usize>> = HashMap::new();
        for (node, groups) in groups_of {
            parts.entry(groups).or_default().push(node);
        }
        let groups: HashMap<usize, Vec<usize>> =
            parts.into_values().map(|group| (group[0], group)).collect();
        let mut numbers: Vec<usize> = groups.keys().copied().collect();
        numbers.sort_unstable();
        Witnesses { numbers, groups: Some(groups) }
    }

    /// Returns the nodes that a witness stands for.
    pub(super) fn nodes_of<'w>(&'w self, witness: &'w usize) -> &'w [usize] {
        let group = self.groups.as_ref().and_then(|groups| groups.get(witness));
        group.map_or(std::slice::from_ref(witness), Vec::as_slice)
    }
}

/// Returns the rank of a group of nodes: those of most nodes come first.
pub(super) fn rank_nodes(nodes: &NodeSet) -> (Reverse<usize>, Option<usize>) {
    (Reverse(nodes.len()), nodes.first())
}

/// The nodes of an environment that both sides have, and those that only one has.
pub(super) struct ComparedNodes<'a> {
    pub(super) nodes: &'a [Arc<Node>],
    pub(super) are_kinds: bool,
    /// The later numbers of nodes, by name; `None` where both sides have the same nodes.
    later_numbers: Option<HashMap<&'a str, usize>>,
    /// The numbers of the nodes that are compared, before.
    pub(super) compared: Vec<usize>,
    pub(super) added: Vec<Arc<str>>,
    pub(super) removed: Vec<Arc<str>>,
}

impl<'a> ComparedNodes<'a> {
    /// Returns the nodes of both sides that the caller chose; the share of them is compared.
    pub(super) fn find(
        (before, environment): (&'a Snapshot, &'a Environment),
        (after, environment_after): (&'a Snapshot, &'a Environment),
        NodeChoice { is_chosen, share, .. }: &NodeChoice<'_>,
    ) -> ComparedNodes<'a> {
        let (nodes, are_kinds) = NodeValues::all_nodes(before, environment);
        let (later, _) = NodeValues::all_nodes(after, environment_after);
        // Edits of data leave the nodes as they are.
        let are_same = std::ptr::eq(nodes, later);
        let numbers: HashMap<&str, usize> =
            if are_same { HashMap::new() } else { numbers_by_name(later) };
        let is_later = |node: &Node| are_same || numbers.contains_key(&*node.name);
        let all = 0..nodes.len();
        let mut compared: Vec<usize> =
            all.filter(|number| is_later(&nodes[*number]) && is_chosen(&nodes[*number])).collect();
        if *share != Share::WHOLE {
            // Nodes with similar names mostly have the same answers. Nodes with the same answers
            // cost one lookup together.
            compared.sort_by_key(|number| &nodes[*number].name);
            compared = compared[share.range_of(compared.len())].to_vec();
            compared.sort_unstable();
        }
        let chosen_names = |nodes: &[Arc<Node>], is_other: &dyn Fn(&Node) -> bool| {
            let others = nodes.iter().filter(|node| is_other(node) && is_chosen(node));
            others.map(|node| node.name.clone()).collect::<Vec<_>>()
        };
        let removed = chosen_names(nodes, &|node| !is_later(node));
        let earlier = if are_same { HashMap::new() } else { numbers_by_name(nodes) };
        let added = chosen_names(later, &|node| !are_same && !earlier.contains_key(&*node.name));
        let later_numbers = (!are_same).then_some(numbers);
        ComparedNodes { nodes, are_kinds, later_numbers, compared, added, removed }
    }

    /// Returns the number after of a node that is compared.
    pub(super) fn later_number(&self, node: usize) -> usize {
        self.later_numbers.as_ref().map_or(node, |numbers| numbers[&*self.nodes[node].name])
    }
}

fn numbers_by_name(nodes: &[Arc<Node>]) -> HashMap<&str, usize> {
    nodes.iter().enumerate().map(|(number, node)| (&*node.name, number)).collect()
}
