//! Data files of nodes, roles or sites that are gone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::inferred::is_shared_name;
use super::reading::is_of_the_node;
use crate::hiera::config::Layer;
use crate::hiera::key::LookupKey;
use crate::hiera::pattern::PatternMatch;
use crate::text::FilePath;
use crate::text::work::{Work, count_work};
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
        // Shared data is never out of use, and its findings need no search among the files of nodes.
        let mut own = environment.reach.iter().filter(|reach| is_own(reach));
        if !own.any(|reach| is_node_file(reach, path)) {
            return None;
        }
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
        let prefix = reach.pattern.literal_prefix();
        let files = snapshot.paths_starting_with(&prefix);
        let files: Vec<&FilePath> = files.filter(|path| is_node_file(reach, path)).collect();
        let (read, unread): (Vec<&&FilePath>, Vec<&&FilePath>) = files.iter().partition(|path| {
            count_work(Work::Step);
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

/// Whether the path of a file at a location names a variable of nodes, such as their name or their
/// role. A file that has the name of shared data does not count.
fn is_node_file(reach: &Reach, path: &FilePath) -> bool {
    let Some(PatternMatch::Bound(bindings)) = reach.pattern.bind(path.as_str()) else {
        return false;
    };
    let stem = path.name().split('.').next().unwrap_or_default();
    bindings
        .keys()
        .any(|name| LookupKey::parse(name).is_ok_and(|variable| is_of_the_node(&variable)))
        && !is_shared_name(stem)
}
