//! Changes of keys in a part of `diff`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::fleet::compare::nodes::ChangedNodes;
use crate::fleet::node_set::NodeSet;

/// A key that changes for a group of nodes with one answer before, and another one after.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::cli) struct KeyNodes {
    key: String,
    /// The numbers of the nodes: the first and the last of each run.
    nodes: Vec<(usize, usize)>,
}

impl KeyNodes {
    /// Returns the changes of an environment.
    pub(in crate::cli) fn of_environment(changes: &ChangedNodes) -> Vec<KeyNodes> {
        changes
            .iter()
            .flat_map(|(key, groups): (&Arc<str>, &Vec<NodeSet>)| -> Vec<KeyNodes> {
                groups
                    .iter()
                    .map(|nodes| KeyNodes { key: key.to_string(), nodes: runs_of(nodes) })
                    .collect()
            })
            .collect()
    }

    /// Returns the changes of an environment, joined from keys with their nodes.
    pub(in crate::cli) fn join(all: &[KeyNodes]) -> ChangedNodes {
        let mut joined = ChangedNodes::new();
        for KeyNodes { key, nodes } in all {
            let nodes = nodes.iter().flat_map(|(first, last)| *first..=*last).collect();
            joined.entry(key.as_str().into()).or_default().push(nodes);
        }
        joined
    }
}

/// Returns the first and the last number of each run of numbers without a gap.
fn runs_of(nodes: &NodeSet) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in nodes.iter() {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_nodes_survive_a_part() {
        let groups = vec![NodeSet::from_iter([0, 1, 2, 5, 7, 8]), NodeSet::from_iter([3])];
        let changes = ChangedNodes::from([(Arc::from("k"), groups)]);
        let records = KeyNodes::of_environment(&changes);
        assert_eq!(records[0].nodes, [(0, 2), (5, 5), (7, 8)]);
        assert_eq!(KeyNodes::join(&records), changes);
    }
}
