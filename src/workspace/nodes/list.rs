//! The nodes of an environment: those that the settings name sources for, and those that its data
//! files show.

use std::collections::HashSet;
use std::sync::Arc;

use super::Node;
use super::inferred::{infer, node_locations};
use crate::hiera::hierarchy::locate;
use crate::hiera::hierarchy::located::Place;
use crate::text::FilePath;
use crate::workspace::environments::Environment;
use crate::workspace::snapshot::Snapshot;

/// All nodes of an environment, those of its sources first.
pub(in crate::workspace) fn nodes_of(
    snapshot: &Snapshot,
    environment: &Environment,
) -> Arc<[Arc<Node>]> {
    let own = snapshot.config().environments.get_key_value(&environment.root).map(|(root, _)| root);
    let given = snapshot.given_nodes().iter().filter(|node| node.environment.as_ref() == own);
    let given: Vec<Arc<Node>> = given.cloned().collect();
    if !snapshot.config_of(environment).nodes.infer {
        return given.into();
    }
    let names: HashSet<&str> = given.iter().map(|node| &*node.name).collect();
    let read = files_of_given(snapshot, environment, &given);
    let is_new = |node: &Node| !names.contains(&*node.name) && !read.contains(&node.source);
    let inferred = infer(snapshot, environment).into_iter().filter(is_new).map(Arc::new);
    inferred
        .fold(given.clone(), |mut all, node| {
            all.push(node);
            all
        })
        .into()
}

/// The files of nodes that the given nodes read: each belongs to a node that is known already,
/// perhaps under another name.
fn files_of_given(
    snapshot: &Snapshot,
    environment: &Environment,
    given: &[Arc<Node>],
) -> HashSet<FilePath> {
    if given.is_empty() {
        return HashSet::new();
    }
    let view = snapshot.view(environment);
    let mut files = HashSet::new();
    for location in node_locations(snapshot, environment) {
        let layer = &location.reach.layer;
        let Some((_, config)) = environment.configs().find(|(other, _)| other == layer) else {
            continue;
        };
        for node in given {
            let scope = node.scope_in(&environment.name);
            let levels = std::slice::from_ref(&location.reach.level);
            let located = locate(config, levels, &scope, &view, None).unwrap_or_default();
            for place in located.into_iter().flat_map(|level| level.locations) {
                if let Place::File { path, exists: true } = place.place {
                    files.insert(path);
                }
            }
        }
    }
    files
}
