//! Keys looked up for all nodes in two snapshots, as Puppet does: a file or a config that Puppet
//! refuses fails all lookups of its readers.

use super::ComparedSide;
use super::answer::{ComparedAnswer, NodeAnswers};
use super::changes::EnvironmentChanges;
use super::key_change::{KeyChange, add_changes, join_changes};
use super::nodes::{ChangedNodes, ComparedNodes, NodeChoice, Witnesses};
use crate::fleet::node_caches::NodeCaches;
use crate::fleet::node_values::NodeValues;
use crate::fleet::ways::ReadWay;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Context, Resolver};
use crate::hiera::resolution::Resolution;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// An environment of a snapshot.
pub(super) type Side<'a> = (&'a Snapshot, &'a Environment);

/// Returns the changes of keys between an environment of two snapshots, for the chosen nodes of both,
/// as far as changes are not `known`: with each merge strategy that calls in code certainly name, and with
/// that of the data. `None` when cancelled.
pub(super) fn find_whole_changes<'a>(
    before: Side<'a>,
    after: Side<'a>,
    keys: &[LookupKey],
    (choice, known): (&NodeChoice<'_>, Option<&ChangedNodes>),
) -> Option<EnvironmentChanges<'a>> {
    let nodes = ComparedNodes::find(before, after, choice);
    let views = [before, after].map(|(snapshot, environment)| snapshot.view(environment));
    let later: Vec<usize> = nodes.compared.iter().map(|node| nodes.later_number(*node)).collect();
    let values = (
        NodeValues::new(before.0, before.1, &views[0], &nodes.compared),
        NodeValues::new(after.0, after.1, &views[1], &later),
    );
    let mut changes = Vec::new();
    for key in keys {
        if before.0.cancel_token().is_cancelled() {
            return None;
        }
        let root = key.root_text();
        let name = if key.subkeys.is_empty() { root.clone() } else { key.text.clone() };
        let mut of_key: Vec<KeyChange> = Vec::new();
        let witnesses = Witnesses::choose(nodes.compared.clone(), &name, known);
        let asked = &witnesses.numbers;
        if asked.is_empty() {
            continue;
        }
        let asked_later: Vec<usize> = asked.iter().map(|node| nodes.later_number(*node)).collect();
        let mut sorted_later = asked_later.clone();
        sorted_later.sort_unstable();
        for way in ReadWay::certain_ways(after.0, after.1, &root) {
            let answers = |values: &NodeValues<'_>, side: Side<'_>, numbers: &[usize]| {
                let mut answers = NodeAnswers::default();
                for group in values.answers((key, &way), numbers) {
                    answers.add(group.nodes, compared_answer(group.resolution, side));
                }
                answers
            };
            let old = answers(&values.0, before, asked);
            let new = answers(&values.1, after, &sorted_later);
            let pairs = asked.iter().copied().zip(asked_later.iter().copied());
            let pairs = (pairs, &witnesses);
            add_changes((&name, &way), pairs, (&old, &new), &mut of_key);
        }
        changes.extend(join_changes(of_key, nodes.nodes));
    }
    Some(nodes.into_changes((before.1, after.1), changes))
}

/// Returns the changes of a key for the nodes of an environment that the other revision does not
/// have, where nothing is found; the environment is that of the revision after if `is_new`.
pub(super) fn find_one_sided_changes<'a>(
    side: Side<'a>,
    key: &LookupKey,
    is_new: bool,
    choice: &NodeChoice<'_>,
) -> EnvironmentChanges<'a> {
    let nodes = ComparedNodes::find(side, side, choice);
    let witnesses = Witnesses::choose(nodes.compared.clone(), &key.root_text(), None);
    let view = side.0.view(side.1);
    let values = NodeValues::new(side.0, side.1, &view, &nodes.compared);
    let root = key.root_text();
    let name = if key.subkeys.is_empty() { root.clone() } else { key.text.clone() };
    let mut changes = Vec::new();
    for way in ReadWay::certain_ways(side.0, side.1, &root) {
        let (mut found, mut missing) = (NodeAnswers::default(), NodeAnswers::default());
        for group in values.answers((key, &way), &nodes.compared) {
            let context = side.0.lookup_context(side.1, &view, &group.scope);
            // The context `nothing` has no configs, and so no levels.
            let nothing = Context { global: None, environment: None, ..context };
            let resolution = way.lookup(&Resolver::new(nothing), &LookupKey::of_root(""));
            missing.add(group.nodes.clone(), compared_answer(resolution, side));
            found.add(group.nodes, compared_answer(group.resolution, side));
        }
        let (old, new) = if is_new { (&missing, &found) } else { (&found, &missing) };
        let pairs = (nodes.compared.iter().map(|node| (*node, *node)), &witnesses);
        add_changes((&name, &way), pairs, (old, new), &mut changes);
    }
    let changes = join_changes(changes, nodes.nodes);
    nodes.into_changes((side.1, side.1), changes)
}

fn compared_answer(resolution: Resolution, (snapshot, environment): Side<'_>) -> ComparedAnswer {
    let caches = NodeCaches::default();
    let side = ComparedSide { snapshot, environment, caches: &caches };
    ComparedAnswer::new(&resolution, side, &[]).with_lookup(resolution)
}
