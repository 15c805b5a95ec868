//! The indexes of a snapshot. Each is computed on first use: from an index before it, if there is
//! one.

use std::sync::{Arc, OnceLock};

use foldhash::HashMap;

use super::files::CodeModules;
use super::index::ManifestIndex;
use crate::text::FilePath;
use crate::workspace::environments::Environments;
use crate::workspace::files::kinds::{code_language, is_puppetfile};
use crate::workspace::lazy_index::{Changed, LazyIndex};

/// The indexes of the environments of one snapshot.
#[derive(Debug, Default)]
pub(in crate::workspace) struct LazyManifests {
    /// The indexes, by the folder of the environment.
    pub(super) indexes: HashMap<FilePath, Arc<LazyIndex<ManifestIndex>>>,
    /// The modules of each environment; the same as long as the names and environments.
    pub(super) modules: Arc<OnceLock<Vec<CodeModules>>>,
    pub(super) nothing: ManifestIndex,
}

impl LazyManifests {
    /// Returns the indexes after these files changed.
    pub(in crate::workspace) fn changed_after(
        before: &Arc<LazyManifests>,
        paths: &[FilePath],
    ) -> Arc<LazyManifests> {
        let code: imbl::OrdSet<FilePath> = paths
            .iter()
            .filter(|path| code_language(path).is_some() || is_puppetfile(path))
            .cloned()
            .collect();
        if code.is_empty() {
            return before.clone();
        }
        let changed = Changed::Files(code);
        let indexes = before.indexes.iter();
        let indexes = indexes
            .map(|(root, index)| (root.clone(), LazyIndex::changed_after(index, changed.clone())))
            .collect();
        let modules = before.modules.clone();
        Arc::new(LazyManifests { indexes, modules, nothing: ManifestIndex::default() })
    }

    /// Returns the indexes where other files may be there, or belong to other environments.
    pub(in crate::workspace) fn after_layout(
        before: &LazyManifests,
        environments: &Environments,
    ) -> Arc<LazyManifests> {
        let indexes = environments
            .all
            .iter()
            .map(|environment| {
                let known = before.indexes.get(&environment.root);
                let index = known
                    .map(|known| LazyIndex::changed_after(known, Changed::Layout))
                    .unwrap_or_default();
                (environment.root.clone(), index)
            })
            .collect();
        Arc::new(LazyManifests { indexes, ..LazyManifests::default() })
    }

    /// Returns the index that was already made.
    pub(in crate::workspace) fn finished_index(&self, root: &FilePath) -> Option<&ManifestIndex> {
        self.indexes.get(root)?.finished()
    }
}
