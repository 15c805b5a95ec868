//! The nodes that read a file, and nodes by the value of a variable that decides it.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::HashMap as FastMap;

use crate::hiera::key::LookupKey;
use crate::hiera::scope::Scope;
use crate::puppet::Value;
use crate::workspace::nodes::node::Node;

/// Whether a node reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reads {
    /// The node's known variables decide that it reads the file.
    Certainly,
    /// Variables that are unknown decide whether the node reads the file.
    Possibly,
}

/// A location by which a node reads a file.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::workspace) struct Step {
    /// The number of the level among those that can name the file.
    pub level: usize,
    /// The number of the location in its level.
    pub rank: usize,
    /// Whether the node certainly reads the file by the location.
    pub reads: Reads,
    /// Whether the level has no other location for the node. A merge takes the value of a lone location
    /// otherwise than one of several locations, even if no other file has the key (semantics 6.4).
    pub is_alone: bool,
}

/// Whether the locations name a file certainly; `None` where there is no location.
pub(in crate::workspace) fn most_certain(steps: &[Step]) -> Option<Reads> {
    let certain = steps.iter().map(|step| step.reads).find(|reads| *reads == Reads::Certainly);
    certain.or_else(|| steps.first().map(|step| step.reads))
}

/// The nodes that read a file: their numbers among the nodes of an environment, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NodesReading {
    /// Nodes whose variables decide that they read the file.
    pub certainly: Vec<usize>,
    /// Nodes for which unknown variables decide whether they read the file.
    pub possibly: Vec<usize>,
    /// All nodes of `certainly` and `possibly` with a number for the way in which each reads the
    /// file: by which locations, and which of these are certain.
    ways: Vec<(u32, u32)>,
    /// Whether all nodes of the environment read the file in the same way.
    is_read_alike: bool,
    /// The turn of the file in the lookups of the environment.
    pub turn: FileTurn,
}

/// The turn of a file in lookups: they ask the locations of an environment one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileTurn {
    /// The number, among the locations of the environment, of the first one that can lead to the
    /// file; `None` for a file of another layer than the environment's, which is asked in an order of
    /// its own.
    pub location: Option<usize>,
    /// Whether no other location can lead to the file, and Puppet's own function reads the file
    /// there: a lookup that ends at the first value ends at this file, for each node that certainly
    /// reads it, if it has the key.
    pub may_end_lookup: bool,
}

impl NodesReading {
    /// Returns no node, for a file that has this turn in lookups.
    pub(in crate::workspace) fn new_readers(turn: FileTurn) -> NodesReading {
        NodesReading { turn, ..NodesReading::default() }
    }

    /// Returns all nodes that read the file, or may read it, in order, each with a number. Two
    /// nodes with equal numbers read it in the same way.
    pub fn all_nodes(&self) -> impl ExactSizeIterator<Item = (usize, u32)> {
        self.ways.iter().map(|(node, way)| (*node as usize, *way))
    }

    /// Returns the number of the way in which a node reads the file; `None` for a node that does
    /// not.
    pub fn way_of(&self, node: usize) -> Option<u32> {
        let at = self.ways.binary_search_by_key(&(node as u32), |(node, _)| *node).ok()?;
        Some(self.ways[at].1)
    }

    /// Whether a node reads the file whatever the unknown variables are.
    pub fn is_certain(&self, node: usize) -> bool {
        self.certainly.binary_search(&node).is_ok()
    }

    /// Whether some nodes read the file in another way than others, or not at all.
    pub fn tells_nodes_apart(&self) -> bool {
        !self.is_read_alike
    }

    /// Notes that all nodes, of which there are `count`, are added.
    pub(in crate::workspace) fn end_nodes(&mut self, count: usize) {
        let first = self.ways.first().map(|(_, way)| *way);
        self.is_read_alike =
            self.ways.len() == count && self.ways.iter().all(|(_, way)| Some(*way) == first);
    }

    /// Adds a node behind all others, with the number of the way in which it reads the file.
    pub(in crate::workspace) fn add_node(&mut self, node: usize, reads: Reads, way: u32) {
        match reads {
            Reads::Certainly => self.certainly.push(node),
            Reads::Possibly => self.possibly.push(node),
        }
        self.ways.push((node as u32, way));
    }
}

/// The nodes of an environment by a property: the number of each node's value. Equal values have
/// equal numbers.
#[derive(Debug)]
pub struct NodeColumn {
    numbers: Vec<u32>,
    /// The number that the next value would have.
    count: u32,
    are_equal: bool,
}

impl NodeColumn {
    /// The number of nodes for which the value is unknown.
    pub const UNKNOWN: u32 = 0;

    /// Returns the column of the values that `value` writes as texts; `?` is unknown. A node without
    /// a text has a number of its own.
    pub(in crate::workspace) fn gather<'s>(
        scopes: impl Iterator<Item = &'s Scope>,
        value: impl Fn(&Scope) -> Option<String>,
    ) -> NodeColumn {
        let mut known: FastMap<String, u32> = FastMap::default();
        known.insert("?".to_owned(), NodeColumn::UNKNOWN);
        let mut next = 1;
        let mut new_number = || {
            next += 1;
            next - 1
        };
        let numbers = scopes.map(|scope| match value(scope) {
            Some(text) => *known.entry(text).or_insert_with(&mut new_number),
            None => new_number(),
        });
        let numbers: Vec<u32> = numbers.collect();
        let are_equal = numbers.iter().all(|number| Some(number) == numbers.first());
        NodeColumn { numbers, count: next, are_equal }
    }

    /// Returns the number of a node's value.
    pub fn number_of(&self, node: usize) -> u32 {
        self.numbers[node]
    }

    /// Whether the value is unknown for a node.
    pub fn is_unknown(&self, node: usize) -> bool {
        self.numbers[node] == NodeColumn::UNKNOWN
    }

    /// Returns the number of different values, unknown ones included.
    pub fn value_count(&self) -> u32 {
        self.count
    }

    /// Returns the first node of each value, in the order of the nodes.
    pub(in crate::workspace) fn first_nodes(&self) -> Vec<usize> {
        let mut seen = vec![false; self.count as usize];
        let is_first =
            |node: &usize| !std::mem::replace(&mut seen[self.numbers[*node] as usize], true);
        (0..self.numbers.len()).filter(is_first).collect()
    }

    /// Whether two nodes have other values.
    pub fn tells_nodes_apart(&self) -> bool {
        !self.are_equal
    }
}

/// The numbers of the nodes, in order, by the text that a variable of theirs has in a path.
#[derive(Debug, Default)]
pub(in crate::workspace) struct NodesByValue {
    plain: HashMap<String, Vec<usize>>,
    /// The nodes for which the variable's text alone does not decide its text in a path.
    others: Vec<usize>,
}

impl NodesByValue {
    /// Returns the nodes by the value of this variable.
    pub(in crate::workspace) fn gather(nodes: &[Arc<Node>], variable: &LookupKey) -> NodesByValue {
        let mut all = NodesByValue::default();
        for (number, node) in nodes.iter().enumerate() {
            match plain_value(&node.scope, variable) {
                Some(text) => all.plain.entry(text.to_owned()).or_default().push(number),
                None => all.others.push(number),
            }
        }
        all
    }

    /// Returns the nodes for which the variable may mean this text.
    pub(in crate::workspace) fn nodes_with(&self, text: &str) -> Vec<usize> {
        self.plain.get(text).into_iter().flatten().chain(&self.others).copied().collect()
    }
}

/// Returns the text of a variable, if the variable means no more than that in a path.
pub(in crate::workspace) fn plain_value<'a>(
    scope: &'a Scope,
    variable: &LookupKey,
) -> Option<&'a str> {
    scope.find_member(variable).and_then(Value::as_str).filter(|text| is_plain(text))
}

/// Whether a variable's value is just itself in a path: no folder, no wildcard, no token.
fn is_plain(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
        && !text.contains(['/', '*', '?', '[', ']', '{', '}', ',', '\\', '%'])
}

/// Whether a variable is the same in every environment that the node is looked at in, see
/// [`Node::scope_in`].
pub(in crate::workspace) fn is_of_the_node(variable: &LookupKey) -> bool {
    !matches!(
        &*variable.root_text(),
        "environment" | "::environment" | "server_facts" | "::server_facts"
    )
}
