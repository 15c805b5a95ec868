//! The nodes of the files that settings name.

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
    let failed = |source: &NodeSource| Some((source.path.clone(), source.read_error()?.to_owned()));
    let mut errors: Errors = sources.iter().filter_map(failed).collect();
    for source in sources.iter().filter(|source| source.step.is_none()) {
        let folder = folders.iter().find(|folder| source.path.is_within(folder));
        let mut in_this_file: std::collections::HashSet<&str> = std::collections::HashSet::new();
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
    let node = |((environment, _, _), parts): (GivenNodeKey<'_>, Arc<Parts>)| {
        let own = environment.map_or(&config.common, |root| config.environment_config(root));
        let around = NodeSurroundings {
            environment: own.environment_name(),
            puppet: own.puppet,
            rules: &own.nodes.derive,
        };
        let node = parts.build_node(Vec::new(), &around);
        Arc::new(Node { environment: environment.cloned(), is_given: true, ..node })
    };
    (joined.into_iter().map(node).collect(), errors)
}
