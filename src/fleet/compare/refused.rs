//! Files that Puppet refuses in one of two revisions. Each lookup reads the `lookup_options` of all
//! levels, so that one such file fails all lookups of its readers; a module's file fails those of
//! the keys of the module. The parts of such a file that can be read all the same are no values.
//!
//! Source: semantics 7.1 and 1.12.

use std::sync::Arc;

use super::ComparedSide;
use super::nodes::ComparedNodes;
use crate::fleet::node_set::NodeSet;
use crate::hiera::config::Layer;
use crate::text::FilePath;
use crate::text::work::{Work, count_work};

/// A file that Puppet refuses in one revision, with the nodes that read it there.
#[derive(Clone, Debug)]
pub struct RefusedFile {
    /// The file.
    pub path: FilePath,
    /// Whether the file is refused in the revision after.
    pub is_after: bool,
    /// The module whose keys fail; `None` where all keys do.
    pub module: Option<Arc<str>>,
    /// The nodes that read the file, or that may read it where variables are unknown, by their
    /// numbers before.
    pub nodes: NodeSet,
}

impl RefusedFile {
    /// Whether the lookup of a key fails for a node.
    pub(super) fn fails(&self, key: &str, node: usize) -> bool {
        self.module.as_ref().is_none_or(|module| {
            key.strip_prefix(&**module).is_some_and(|rest| rest.starts_with("::"))
        }) && self.nodes.contains(node)
    }
}

/// Returns the files that Puppet refuses on each of two sides.
pub(super) fn refused_files(
    before: ComparedSide<'_>,
    after: ComparedSide<'_>,
    nodes: &ComparedNodes<'_>,
) -> Vec<RefusedFile> {
    let mut all = Vec::new();
    for (side, is_after) in [(before, false), (after, true)] {
        let ComparedSide { snapshot, environment, .. } = side;
        let view = snapshot.view(environment);
        let (known, _) = side.compared_nodes();
        let number = |node: usize| if is_after { nodes.later_number(node) } else { node };
        let files = snapshot.keys().refused_files();
        for path in files.filter(|path| environment.reaches_file(path)) {
            count_work(Work::Step);
            let is_refused = view.data_of(path).is_some_and(|data| data.refusal().is_some());
            if !is_refused || environment.is_read_by_functions(path) {
                continue;
            }
            let module = match environment.layer_of(path) {
                Some(Layer::Module(name)) => Some(name.clone()),
                _ => None,
            };
            let readers = nodes
                .compared
                .iter()
                .copied()
                .filter(|node| snapshot.may_read(environment, &known[number(*node)].scope, path))
                .collect();
            all.push(RefusedFile { path: path.clone(), is_after, module, nodes: readers });
        }
    }
    all
}
