//! Nodes grouped by the answer to one lookup.
//!
//! Two nodes have the same answer if they read the same files of those that define the key, and
//! have the same values of the variables that the data use. So one lookup serves a group of any
//! size.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::questions::{KeyQuestions, Questions};
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::Scope;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// An assumption: variables with their values, in the order in which the levels ask for them.
pub type Assumed = Vec<(String, String)>;

/// An answer under an assumption. Of several, the first one whose assumption holds is the answer.
#[derive(Debug)]
pub struct Case {
    /// The assumption; empty for the last one, which holds where no other does.
    pub when: Assumed,
    /// The lookup; `None` where none was made, as there were too many.
    pub resolution: Option<Resolution>,
}

/// Nodes with one answer.
#[derive(Debug)]
pub struct Group {
    /// The numbers of the nodes among those of the environment, in order.
    pub nodes: Vec<usize>,
    /// The scope of the first node.
    pub scope: Arc<Scope>,
    /// The lookup for the first node, which is the lookup for all nodes of the group.
    pub resolution: Resolution,
    /// The answers by the variables that are unknown for the nodes, as `find_alternatives` gives
    /// them; empty where they make no difference, or were not asked for.
    pub cases: Vec<Case>,
}

impl Group {
    /// Returns the rank among groups: those with most nodes first.
    pub(super) fn rank(&self) -> (Reverse<usize>, Option<usize>) {
        (Reverse(self.nodes.len()), self.nodes.first().copied())
    }

    /// Returns the answers that the nodes may get: those of the cases, or the only one.
    pub fn resolutions(&self) -> impl Iterator<Item = &Resolution> {
        let only = self.cases.is_empty().then_some(&self.resolution);
        only.into_iter().chain(self.cases.iter().filter_map(|case| case.resolution.as_ref()))
    }
}

/// The nodes of a question in groups.
#[derive(Debug, Default)]
pub struct Groups {
    /// The groups, those with most nodes first.
    pub groups: Vec<Group>,
    /// The nodes that no lookup was made for, as there were too many groups or the work was
    /// cancelled.
    pub rest: Vec<usize>,
}

/// A lookup to make for nodes.
pub struct FleetQuestion<'a> {
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// The environment in which keys are looked up for the nodes.
    pub environment: &'a Environment,
    /// The root key.
    pub root: &'a str,
    /// Looks the root key up in a scope: in that of the node with this number, or in one with
    /// assumptions.
    pub lookup: &'a dyn Fn(&Scope, Option<usize>) -> Resolution,
    /// Whether each lookup ends at the first value, and the caller needs nothing of the locations
    /// behind it: nodes with other files there share a group.
    pub ends_at_first: bool,
    /// Whether no lookup is to be made beyond so many.
    pub is_enough: &'a dyn Fn(usize) -> bool,
    /// The questions that other lookups in the environment asked; `None` where this question shares
    /// none with others.
    pub asked: Option<&'a KeyQuestions>,
}

/// Groups these nodes, given by their numbers, by the answer to a question.
pub fn group_by_answer(question: &FleetQuestion<'_>, nodes: &[usize]) -> Groups {
    let mut groups = Vec::new();
    let rest = visit_groups(question, nodes, |group| groups.push(group));
    groups.sort_by_key(Group::rank);
    Groups { groups, rest }
}

/// Groups these nodes, given by their numbers, and passes each group on before the next lookup.
/// Returns the nodes that no lookup was made for, in order.
pub fn visit_groups(
    question: &FleetQuestion<'_>,
    nodes: &[usize],
    mut visit: impl FnMut(Group),
) -> Vec<usize> {
    let FleetQuestion { snapshot, environment, root, ends_at_first, .. } = *question;
    let asked = Questions::of_key(snapshot, environment, root, ends_at_first);
    let mut waiting: BinaryHeap<WaitingClass> =
        asked.split_nodes(nodes).into_iter().map(WaitingClass).collect();
    let own = KeyQuestions::default();
    let question = &FleetQuestion { asked: question.asked.or(Some(&own)), ..*question };
    let (mut made, mut rest) = (0, Vec::new());
    while let Some(WaitingClass(class)) = waiting.pop() {
        if (question.is_enough)(made) || snapshot.cancel_token().is_cancelled() {
            rest.extend(class);
            continue;
        }
        let (group, others) = answer_class(question, class);
        made += 1;
        visit(group);
        waiting.extend(others.into_iter().map(WaitingClass));
    }
    rest.sort_unstable();
    rest
}

/// Nodes that no lookup was made for yet. Those of the largest class come first.
#[derive(PartialEq, Eq)]
struct WaitingClass(Vec<usize>);

impl Ord for WaitingClass {
    fn cmp(&self, other: &WaitingClass) -> Ordering {
        let (WaitingClass(one), WaitingClass(other)) = (self, other);
        one.len().cmp(&other.len()).then_with(|| other.cmp(one))
    }
}

impl PartialOrd for WaitingClass {
    fn partial_cmp(&self, other: &WaitingClass) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the group of the first node of a class, and the classes of the nodes that are not in it.
fn answer_class(question: &FleetQuestion<'_>, class: Vec<usize>) -> (Group, Vec<Vec<usize>>) {
    let FleetQuestion { snapshot, environment, asked: known, .. } = *question;
    let first = class[0];
    let scope = snapshot.nodes_of(environment)[first].scope.clone();
    let resolution = (question.lookup)(&scope, Some(first));
    let asked = Questions::of_open_lookup(snapshot, environment, &resolution, known);
    let (nodes, others) = asked.split_off(first, class);
    (Group { nodes, scope, resolution, cases: Vec::new() }, others)
}
