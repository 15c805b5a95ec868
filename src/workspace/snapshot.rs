//! An immutable view of one revision of the workspace: what requests are answered from.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use super::WorkspaceConfig;
use super::file::File;
use super::fs::Entry;
use super::layers::{Environment, Layout};
use super::nodes::{self, Node};
use crate::hiera::config::{Layer, Reader};
use crate::hiera::data::{DataFile, Format};
use crate::hiera::glob::{EntryKind, Listing, glob};
use crate::hiera::hierarchy::{Place, locate};
use crate::hiera::lookup::Context;
use crate::hiera::scope::{Scope, Variable};
use crate::hiera::sources::{ModuleLayer, Sources};
use crate::text::{FileId, FilePath};

/// One revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its number; a later revision's is greater.
    pub revision: u64,
    /// Whether the folders have been read: before that, other files may be missing from it.
    pub complete: bool,
    pub(super) config: Arc<WorkspaceConfig>,
    pub(super) folders: Arc<Vec<FilePath>>,
    pub(super) files: Arc<BTreeMap<FilePath, Arc<File>>>,
    pub(super) entries: Arc<BTreeMap<FilePath, Entry>>,
    pub(super) ids: Arc<Vec<FilePath>>,
    pub(super) layout: Arc<Layout>,
    pub(super) nodes: Arc<Vec<Node>>,
    pub(super) source_errors: Arc<Vec<(FilePath, String)>>,
    pub(super) selected: Option<Arc<str>>,
    pub(super) open: Arc<Vec<FilePath>>,
    pub(super) key_index: Arc<OnceLock<KeyIndex>>,
}

/// Which files define a root key.
pub type KeyIndex = HashMap<Arc<str>, Vec<FilePath>>;

impl Snapshot {
    /// The file at a path; `None` when it is not one that the workspace reads.
    pub fn file(&self, path: &FilePath) -> Option<&Arc<File>> {
        self.files.get(path)
    }

    /// The file with this number.
    pub fn file_by_id(&self, id: FileId) -> Option<&Arc<File>> {
        self.file(self.path(id)?)
    }

    /// The path of the file with this number, whether it still exists or not.
    pub fn path(&self, id: FileId) -> Option<&FilePath> {
        self.ids.get(id.0 as usize)
    }

    /// All files that the workspace reads, by path.
    pub fn files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.files.values()
    }

    /// The files that are open in an editor.
    pub fn open_files(&self) -> &[FilePath] {
        &self.open
    }

    /// The folders of the workspace.
    pub fn folders(&self) -> &[FilePath] {
        &self.folders
    }

    /// The layers.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The settings that it was made with.
    pub fn config(&self) -> &WorkspaceConfig {
        &self.config
    }

    /// The nodes that the settings name sources for.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What was wrong with those sources.
    pub fn source_errors(&self) -> &[(FilePath, String)] {
        &self.source_errors
    }

    /// The node with this certname.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| &*node.name == name)
    }

    /// The certname of the node that was chosen, or that the settings choose.
    pub fn selected_node(&self) -> Option<&str> {
        self.selected.as_deref().or(self.config.nodes.default.as_deref())
    }

    /// The files of an environment, as the resolver sees them.
    pub fn view<'a>(&'a self, environment: &'a Environment) -> EnvironmentView<'a> {
        EnvironmentView { snapshot: self, environment: Some(environment) }
    }

    /// The nodes whose hierarchy includes the file.
    pub fn nodes_seeing(&self, environment: &Environment, path: &FilePath) -> Vec<&Node> {
        let view = self.view(environment);
        self.nodes.iter().filter(|node| sees(environment, &view, &node.scope, path)).collect()
    }

    /// The scope that values are shown for in a file: the chosen node's, or that of the only known node that sees the file,
    /// or what the file's own path tells.
    pub fn scope_for(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        if let Some(node) = self.selected_node().and_then(|name| self.node(name)) {
            return node.scope.clone();
        }
        let inferred = self.inferred_scope(environment, path);
        if !environment.reaches(path) {
            return Arc::new(inferred);
        }
        match self.nodes_seeing(environment, path).as_slice() {
            [only] => only.scope.clone(),
            _ => Arc::new(inferred),
        }
    }

    /// The scope that a file's path tells of, with what the rules derive from that.
    pub fn inferred_scope(&self, environment: &Environment, path: &FilePath) -> Scope {
        let mut scope = environment.inferred_scope(path);
        nodes::derive(&mut scope, &self.config.nodes.derive);
        scope
    }

    /// The context of lookups in an environment, as an editor wants them: broken files are read as far as they go.
    pub fn context<'a>(&'a self, environment: &'a Environment, view: &'a EnvironmentView<'a>, scope: &'a Scope) -> Context<'a> {
        Context {
            sources: view,
            global: environment.global.clone(),
            environment: Some(environment.config.clone()),
            scope,
            profile: self.config.profile,
            tolerant: true,
        }
    }

    /// The files of any environment that define a root key, in the order of their paths.
    pub fn definitions(&self, key: &str) -> &[FilePath] {
        self.keys().get(key).map_or(&[], Vec::as_slice)
    }

    /// All root keys and the files that define them.
    pub fn keys(&self) -> &KeyIndex {
        self.key_index.get_or_init(|| {
            let mut index = KeyIndex::new();
            for file in self.files.values() {
                if !self.layout.environments.iter().any(|environment| environment.reaches(&file.path)) {
                    continue;
                }
                for key in file.data(file.format()).roots.keys() {
                    let Some(key) = key.as_str() else { continue };
                    match index.get_mut(key) {
                        Some(files) => files.push(file.path.clone()),
                        None => drop(index.insert(key.into(), vec![file.path.clone()])),
                    }
                }
            }
            index
        })
    }
}

/// Whether a node with this scope reads the file.
fn sees(environment: &Environment, view: &EnvironmentView<'_>, scope: &Scope, path: &FilePath) -> bool {
    let environment_matches = !matches!(scope.get("environment"), Variable::Known(name) if name.to_text() != environment.name.as_str());
    environment_matches
        && environment.reach.iter().filter(|reach| reach.pattern.can_name(path.as_str())).any(|reach| {
            let Some((_, config)) = environment.configs().find(|(layer, _)| *layer == reach.layer) else { return false };
            let located = locate(config, std::slice::from_ref(&reach.level), scope, view).unwrap_or_default();
            let is_it = |place: &Place| matches!(place, Place::File { path: found, .. } if found == path);
            located.iter().flat_map(|level| &level.locations).any(|location| is_it(&location.place))
        })
}

/// A snapshot as one environment's lookups see it: modules are the environment's own.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentView<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) environment: Option<&'a Environment>,
}

impl Sources for EnvironmentView<'_> {
    fn data(&self, path: &FilePath, reader: Reader) -> Option<Arc<DataFile>> {
        let format = match reader {
            Reader::Json => Format::Json,
            Reader::Yaml | Reader::Eyaml => Format::Yaml,
        };
        Some(self.snapshot.file(path)?.data(format))
    }

    fn exists(&self, path: &FilePath) -> bool {
        self.snapshot.entries.contains_key(path) || self.snapshot.files.contains_key(path)
    }

    fn glob(&self, pattern: &str) -> Vec<FilePath> {
        glob(pattern, self)
    }

    fn files_starting_with(&self, prefix: &str) -> Vec<FilePath> {
        let from = FilePath::new(prefix.rsplit_once('/').map_or("", |(folder, _)| folder));
        let files = self.snapshot.files.range(from..);
        files.map(|(path, _)| path).skip_while(|path| path.as_str() < prefix && !path.as_str().starts_with(prefix)).take_while(|path| path.as_str().starts_with(prefix)).cloned().collect()
    }

    fn module(&self, name: &str) -> ModuleLayer {
        match self.environment.and_then(|environment| environment.modules.get(name)) {
            None => ModuleLayer::NotFound,
            Some(module) => module.config.clone().map_or(ModuleLayer::WithoutConfig, ModuleLayer::Config),
        }
    }

    fn map_datadir(&self, datadir: &str, base: &FilePath) -> String {
        let exists = |path: &FilePath| self.snapshot.entries.contains_key(path);
        self.snapshot.config.path_mappings.map(datadir, base, &exists)
    }
}

impl EnvironmentView<'_> {
    /// The data of a file as the level that reads it reads it.
    pub fn data_of(&self, path: &FilePath) -> Option<Arc<DataFile>> {
        let reader = self.environment.and_then(|environment| environment.reader(path)).unwrap_or(Reader::Yaml);
        self.data(path, reader)
    }

    /// The layer of a file, if some level can read it.
    pub fn layer_of(&self, path: &FilePath) -> Option<&Layer> {
        self.environment?.layer(path)
    }
}

impl Listing for EnvironmentView<'_> {
    fn list(&self, folder: &FilePath) -> Vec<(String, EntryKind)> {
        let mut found = Vec::new();
        let prefix = if folder.as_str() == "/" { "/".to_owned() } else { format!("{folder}/") };
        let mut from = FilePath::new(folder.as_str());
        loop {
            // Steps over what lies deeper: `a/b` is followed by the first path behind all of `a/b/…`.
            let mut range = self.snapshot.entries.range((std::ops::Bound::Excluded(from.clone()), std::ops::Bound::Unbounded));
            let Some((path, entry)) = range.next() else { break };
            let Some(rest) = path.as_str().strip_prefix(&prefix) else {
                if path.as_str() < prefix.as_str() {
                    from = path.clone();
                    continue;
                }
                break;
            };
            if !rest.contains('/') {
                let kind = match entry {
                    Entry::File(_) => EntryKind::File,
                    Entry::Folder { linked: false } => EntryKind::Folder,
                    Entry::Folder { linked: true } => EntryKind::LinkedFolder,
                };
                found.push((rest.to_owned(), kind));
            }
            from = path.clone();
        }
        found.sort();
        found
    }
}
