//! The files that shape environments: configs, and the small files that name modules.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::text::FilePath;
use crate::workspace::config::WorkspaceConfig;
use crate::workspace::files::file::File;
use crate::workspace::files::kinds::FileKind;

/// The files that shape environments, see [`shapes_environments`].
#[derive(Debug, Default)]
pub(in crate::workspace) struct Configs(BTreeMap<FilePath, Arc<File>>);

impl Configs {
    /// Selects the files that shape environments among these files.
    pub(in crate::workspace) fn select_configs(
        files: impl Iterator<Item = Arc<File>>,
        settings: &WorkspaceConfig,
    ) -> Configs {
        Configs(
            files
                .filter(|file| shapes_environments(file, settings))
                .map(|file| (file.path.clone(), file))
                .collect(),
        )
    }

    pub(in crate::workspace) fn file(&self, path: &FilePath) -> Option<&Arc<File>> {
        self.0.get(path)
    }

    /// Returns the paths of the files, in order.
    pub(in crate::workspace) fn paths(&self) -> impl Iterator<Item = &FilePath> + Clone {
        self.0.keys()
    }

    /// Returns the files, in the order of their paths.
    pub(in crate::workspace) fn files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.0.values()
    }

    /// Returns the text of one of the files.
    pub(in crate::workspace) fn text_of(&self, path: &FilePath) -> Option<String> {
        Some(self.file(path)?.text()?.to_str().into_owned())
    }
}

/// Whether a change of the file may change which environments there are, or their levels: by its
/// name, or because it is a config by its content.
pub(in crate::workspace) fn shapes_environments(file: &File, settings: &WorkspaceConfig) -> bool {
    FileKind::of_path(&file.path, settings).shapes_environments() || file.config_version().is_some()
}
