//! The nodes of the files that settings name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;

use super::build::NodeSurroundings;
use super::node::Node;
use super::parts::Parts;
use super::source::NodeSource;
use crate::text::FilePath;
use crate::workspace::config::WorkspaceConfig;

/// A node by the environment whose settings name its file, the folder that the file lies in, and
/// its certname. Two folders may be two checkouts of the repository of one fleet.
type GivenNodeKey<'a> = (Option<&'a FilePath>, Option<&'a FilePath>, Arc<str>);

/// Files with the reasons why they have no nodes.
type Errors = Vec<(FilePath, String)>;

/// Returns the nodes in these files, and the errors of files. The parts of one node in several
/// files are joined by its certname; where two files state the same part, the later one wins.
pub(in crate::workspace) fn nodes_of(
    sources: &[NodeSource],
    config: &WorkspaceConfig,
    folders: &[FilePath],
) -> (Vec<Arc<Node>>, Errors) {
    let mut joined: IndexMap<GivenNodeKey<'_>, Arc<Parts>> = IndexMap::new();
    let mut errors: Errors = sources
        .iter()
        .filter_map(|source| Some((source.path.clone(), source.read_error()?.to_owned())))
        .collect();
    for source in sources.iter().filter(|source| source.step.is_none()) {
        let folder = folders.iter().find(|folder| source.path.is_within(folder));
        let mut in_this_file: HashSet<&str> = HashSet::new();
        for parts in source.parts() {
            if !in_this_file.insert(&parts.name) {
                let error = format!("several nodes in it are called {}", parts.name);
                errors.push((source.path.clone(), error));
            }
            let place = (source.environment.as_ref(), folder, parts.name.clone());
            joined
                .entry(place)
                .and_modify(|known| Arc::make_mut(known).join(parts))
                .or_insert_with(|| parts.clone());
        }
    }
    join_outside(&mut joined);
    (
        joined
            .into_iter()
            .map(|((environment, _, _), parts): (GivenNodeKey<'_>, Arc<Parts>)| {
                let own =
                    environment.map_or(&config.common, |root| config.environment_config(root));
                let around = NodeSurroundings {
                    environment: own.environment_name(),
                    puppet: own.puppet,
                    rules: &own.nodes.derive,
                };
                let node = parts.build_node(Vec::new(), &around);
                Arc::new(Node { environment: environment.cloned(), is_given: true, ..node })
            })
            .collect(),
        errors,
    )
}

/// Joins what files outside of all folders state of a node to each folder's node of that name: they
/// are about the fleet of every checkout. The files of the folder win.
fn join_outside(joined: &mut IndexMap<GivenNodeKey<'_>, Arc<Parts>>) {
    let of_folders: HashSet<(Option<&FilePath>, Arc<str>)> = joined
        .keys()
        .filter(|(_, folder, _)| folder.is_some())
        .map(|(environment, _, name)| (*environment, name.clone()))
        .collect();
    let outside: HashMap<(Option<&FilePath>, Arc<str>), Arc<Parts>> = joined
        .iter()
        .filter(|(place, _)| is_outside(place, &of_folders))
        .map(|((environment, _, name), parts)| ((*environment, name.clone()), parts.clone()))
        .collect();
    if outside.is_empty() {
        return;
    }
    joined.retain(|place, _| !is_outside(place, &of_folders));
    for ((environment, _, name), parts) in joined.iter_mut() {
        if let Some(stated) = outside.get(&(*environment, name.clone())) {
            let mut whole = (**stated).clone();
            whole.join(parts);
            *parts = Arc::new(whole);
        }
    }
}

fn is_outside(
    (environment, folder, name): &GivenNodeKey<'_>,
    of_folders: &HashSet<(Option<&FilePath>, Arc<str>)>,
) -> bool {
    folder.is_none() && of_folders.contains(&(*environment, name.clone()))
}
