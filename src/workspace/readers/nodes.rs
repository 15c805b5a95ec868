//! The nodes that read a file, and nodes by the value of a variable that decides it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::hiera::key::LookupKey;
use crate::hiera::scope::Scope;
use crate::puppet::Value;
use crate::workspace::nodes::node::Node;

/// Whether a node reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Its known variables decide that it does.
    Certainly,
    /// Variables that are unknown decide it.
    Possibly,
}

/// The nodes that read a file: their numbers among the nodes of an environment, in order.
#[derive(Debug, Default)]
pub struct NodesReading {
    /// Nodes whose variables decide that they read it.
    pub certainly: Vec<usize>,
    /// Nodes for which unknown variables decide it.
    pub possibly: Vec<usize>,
    /// All of them with a number for the way in which each reads it: by which location, and whether
    /// that is certain.
    pub(in crate::workspace) ways: Vec<(usize, u32)>,
}

impl NodesReading {
    /// Returns all nodes that read the file, or may read it, in order, each with a number. Two
    /// nodes with equal numbers read it in the same way.
    pub fn all_nodes(&self) -> impl Iterator<Item = (usize, u32)> {
        self.ways.iter().copied()
    }
}

/// The numbers of the nodes, in order, by the text that a variable of theirs has in a path.
#[derive(Debug, Default)]
pub(in crate::workspace) struct NodesByValue {
    plain: HashMap<String, Vec<usize>>,
    /// Those for which its text alone does not decide it.
    others: Vec<usize>,
}

impl NodesByValue {
    /// Returns the nodes by the value of this variable.
    pub(super) fn gather(nodes: &[Arc<Node>], variable: &LookupKey) -> NodesByValue {
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
    pub(super) fn nodes_with(&self, text: &str) -> Vec<usize> {
        self.plain.get(text).into_iter().flatten().chain(&self.others).copied().collect()
    }
}

/// Returns the text of a variable, if the variable means no more than that in a path.
pub(super) fn plain_value<'a>(scope: &'a Scope, variable: &LookupKey) -> Option<&'a str> {
    scope.find_member(variable).and_then(Value::as_str).filter(|text| is_plain(text))
}

/// Whether a variable's value is just itself in a path: no folder, no wildcard, no token.
fn is_plain(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
        && !text.contains(['/', '*', '?', '[', ']', '{', '}', ',', '\\', '%'])
}
