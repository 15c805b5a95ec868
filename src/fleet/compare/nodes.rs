//! The nodes that two snapshots are compared for.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::fleet::node_values::NodeValues;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::Node;

/// The nodes of an environment that both sides have, and those that only one has.
pub(super) struct ComparedNodes<'a> {
    pub(super) nodes: &'a [Arc<Node>],
    pub(super) are_kinds: bool,
    /// The later numbers of nodes, by name.
    pub(super) numbers: HashMap<&'a str, usize>,
    /// The numbers of those that are compared, before.
    pub(super) compared: Vec<usize>,
    pub(super) added: Vec<Arc<str>>,
    pub(super) removed: Vec<Arc<str>>,
}

impl<'a> ComparedNodes<'a> {
    /// Returns the nodes of both sides that the caller chose.
    pub(super) fn find(
        (before, environment): (&'a Snapshot, &'a Environment),
        (after, environment_after): (&'a Snapshot, &'a Environment),
        is_chosen: &dyn Fn(&Node) -> bool,
    ) -> ComparedNodes<'a> {
        let (nodes, are_kinds) = NodeValues::all_nodes(before, environment);
        let (later, _) = NodeValues::all_nodes(after, environment_after);
        let numbers: HashMap<&str, usize> =
            later.iter().enumerate().map(|(number, node)| (&*node.name, number)).collect();
        let known: BTreeSet<&str> = nodes.iter().map(|node| &*node.name).collect();
        let is_added = |node: &&Arc<Node>| !known.contains(&*node.name) && is_chosen(node);
        let is_removed = |node: &&Arc<Node>| !numbers.contains_key(&*node.name) && is_chosen(node);
        let both = nodes.iter().enumerate();
        let both = both.filter(|(_, node)| numbers.contains_key(&*node.name) && is_chosen(node));
        ComparedNodes {
            compared: both.map(|(number, _)| number).collect(),
            added: later.iter().filter(is_added).map(|node| node.name.clone()).collect(),
            removed: nodes.iter().filter(is_removed).map(|node| node.name.clone()).collect(),
            nodes,
            are_kinds,
            numbers,
        }
    }

    /// Returns the number after of a node that is compared.
    pub(super) fn later_number(&self, node: usize) -> usize {
        self.numbers[&*self.nodes[node].name]
    }
}
