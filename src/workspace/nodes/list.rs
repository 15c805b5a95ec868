//! The nodes of an environment: nodes from the sources in the settings, nodes that other files
//! describe, and nodes that its data files show.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;

use super::build::NodeSurroundings;
use super::inferred::{infer, node_locations};
use super::node::Node;
use super::parts::Parts;
use super::pattern_blocks::PatternBlocks;
use super::sources::shapes;
use super::steps::{InferStep, Steps};
use crate::hiera::hierarchy::locate_levels;
use crate::hiera::hierarchy::located::LevelTarget;
use crate::text::FilePath;
use crate::workspace::environments::Environment;
use crate::workspace::snapshot::Snapshot;

/// Returns all nodes of an environment, those of its settings first.
pub(in crate::workspace) fn nodes_of(
    snapshot: &Snapshot,
    environment: &Environment,
) -> Arc<[Arc<Node>]> {
    let own = snapshot.config().environments.get_key_value(&environment.root).map(|(root, _)| root);
    let given = snapshot.given_nodes().iter().filter(|node| node.environment.as_ref() == own);
    let mut nodes: Vec<Arc<Node>> =
        given.map(|node| node.clone().in_environment(&environment.name)).collect();
    let config = snapshot.config_of(environment);
    if config.nodes.infer == Steps::NONE {
        return nodes.into();
    }
    let (mut said, blocks) = said_of(snapshot, environment);
    let around = NodeSurroundings {
        environment: &environment.name,
        puppet: config.puppet,
        rules: &config.nodes.derive,
    };
    for node in &mut nodes {
        let Some(mut parts) = said.shift_remove(&node.name) else { continue };
        Arc::make_mut(&mut parts).join(&node.parts);
        let environment = node.environment.clone();
        *node =
            Arc::new(Node { environment, is_given: true, ..parts.build_node(Vec::new(), &around) });
    }
    let (closed, open): (IndexMap<_, _>, IndexMap<_, _>) =
        said.into_iter().partition(|(_, parts)| parts.is_closed());
    let node = |parts: Arc<Parts>| Arc::new(parts.build_node(Vec::new(), &around));
    let mut others: Vec<Arc<Node>> = closed.into_values().map(node).collect();
    let known = [&nodes[..], &others[..]].concat();
    let names: HashSet<&str> = known.iter().map(|node| &*node.name).collect();
    let read = files_of(snapshot, environment, &known);
    let inferred = infer(snapshot, environment, &open, &blocks, &|path| !read.contains(path));
    others.extend(inferred.into_iter().filter(|node| !names.contains(&*node.name)).map(Arc::new));
    others.sort_by(|one, other| one.name.cmp(&other.name));
    nodes.extend(others);
    nodes.into()
}

/// Returns the parts of an environment's nodes that files state which no setting names, by the
/// names of the nodes, and the blocks for nodes by patterns. More certain sources come later and
/// win.
fn said_of(
    snapshot: &Snapshot,
    environment: &Environment,
) -> (IndexMap<Arc<str>, Arc<Parts>>, PatternBlocks) {
    const ORDER: [InferStep; 6] = [
        InferStep::NodeBlocks,
        InferStep::Rspec,
        InferStep::Bolt,
        InferStep::Classifier,
        InferStep::Facts,
        InferStep::Puppetdb,
    ];
    let steps = snapshot.config_of(environment).nodes.infer;
    let mut joined: IndexMap<Arc<str>, Arc<Parts>> = IndexMap::new();
    let mut blocks = PatternBlocks::default();
    for step in ORDER.into_iter().filter(|step| steps.has_step(*step)) {
        let of_step = snapshot.node_sources().iter().filter(|source| source.step == Some(step));
        for source in of_step
            .filter(|source| shapes::is_of(&source.path, environment, snapshot.environments()))
        {
            if step == InferStep::NodeBlocks {
                blocks.add_source(source);
            }
            for parts in source.parts() {
                joined
                    .entry(parts.name.clone())
                    .and_modify(|known| Arc::make_mut(known).join(parts))
                    .or_insert_with(|| parts.clone());
            }
        }
    }
    (joined, blocks)
}

/// Returns the files of node levels that these nodes read: each belongs to a node that is known
/// already, perhaps under another name.
fn files_of(
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
        let Some((_, config)) = environment.all_configs().find(|(other, _)| other == layer) else {
            continue;
        };
        for node in given {
            let levels = std::slice::from_ref(&location.reach.level);
            let located =
                locate_levels(config, levels, &node.scope, &view, None).unwrap_or_default();
            for place in located.iter().flat_map(|level| level.locations.iter()) {
                if let LevelTarget::File { path, exists: true } = &place.place {
                    files.insert(path.clone());
                }
            }
        }
    }
    files
}
