//! Data files of nodes, roles or sites that are gone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::inferred::{files_at, is_shared_name};
use super::reading::is_of_the_node;
use crate::hiera::config::Layer;
use crate::hiera::key::LookupKey;
use crate::text::FilePath;
use crate::workspace::environments::{Environment, Reach};
use crate::workspace::snapshot::Snapshot;

/// The fewest files of a level that nodes read, for the nodes to tell anything about the others.
const FEWEST_READ: usize = 3;

/// A data file that no stated node reads, while stated nodes read most files of its level.
#[derive(Debug)]
pub struct StaleFile {
    /// The name of the level.
    pub level: Arc<str>,
    /// How many files of the level's location stated nodes read.
    pub read: usize,
    /// How many files the level's location has.
    pub all: usize,
    /// The node that only the name of the file tells of, if it is a node's file.
    pub node: Option<Arc<str>>,
}

impl Snapshot {
    /// Returns why a data file is probably out of use; `None` where some stated node reads it, and
    /// where the stated nodes are too few to tell.
    pub fn stale_file<'a>(
        &self,
        environment: &'a Environment,
        path: &FilePath,
    ) -> Option<&'a StaleFile> {
        environment.cache.stale_files.get_or_init(|| find_stale(self, environment)).get(path)
    }
}

fn find_stale(snapshot: &Snapshot, environment: &Environment) -> BTreeMap<FilePath, StaleFile> {
    let nodes = snapshot.nodes_of(environment);
    let mut all_stale = BTreeMap::new();
    if !nodes.iter().any(|node| node.is_stated) {
        return all_stale;
    }
    let own = environment.reach.iter().filter(|reach| is_own(reach));
    for reach in own {
        let files = node_files(snapshot, reach);
        let (read, unread): (Vec<&&FilePath>, Vec<&&FilePath>) = files.iter().partition(|path| {
            let readers = snapshot.readers_of(environment, path);
            readers.all_nodes().any(|(number, _)| nodes[number].is_stated)
        });
        let tells = read.len() >= FEWEST_READ && read.len() > 3 * unread.len();
        for path in unread.iter().filter(|_| tells) {
            let readers = snapshot.readers_of(environment, path);
            let node = readers.all_nodes().next().map(|(number, _)| nodes[number].name.clone());
            let level = reach.level.name.clone();
            let stale = StaleFile { level, read: read.len(), all: files.len(), node };
            all_stale.entry((**path).clone()).or_insert(stale);
        }
    }
    all_stale
}

/// Whether a location is of a layer whose files belong to nodes.
fn is_own(reach: &Reach) -> bool {
    matches!(reach.layer, Layer::Environment | Layer::Global) && !reach.is_of_function()
}

/// Returns the files of a location for each of which nodes have other variables, without those that
/// have the name of shared data.
fn node_files<'s>(snapshot: &'s Snapshot, reach: &Reach) -> Vec<&'s FilePath> {
    let found = files_at(snapshot, reach).into_iter().filter(|(path, bindings)| {
        let stem = path.name().split('.').next().unwrap_or_default();
        bindings
            .keys()
            .any(|name| LookupKey::parse(name).is_ok_and(|variable| is_of_the_node(&variable)))
            && !is_shared_name(stem)
    });
    found.map(|(path, _)| path).collect()
}
