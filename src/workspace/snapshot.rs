//! An immutable view of one revision of the workspace: what requests are answered from.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::WorkspaceConfig;
use super::eyaml::{EnvironmentKeys, Keys};
use super::file::File;
use super::fs::Entry;
use super::index::{KeyIndex, LazyIndex};
use super::layers::{Environment, Layout};
use super::nodes::Node;
use crate::hiera::config::Reader;
use crate::hiera::data::{DataFile, Format};
use crate::hiera::glob::{EntryKind, Listing, glob};
use crate::hiera::hierarchy::{Place, locate};
use crate::hiera::lookup::Context;
use crate::hiera::scope::{Scope, Variable};
use crate::hiera::sources::{ModuleLayer, Sources};
use crate::hiera::value::{Member, Value};
use crate::text::{FileId, FilePath, PartId, Span, TextRange};

/// One revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its number; a later revision's is greater.
    pub revision: u64,
    /// Whether the folders have been read: before that, other files may be missing from it.
    pub complete: bool,
    pub(super) config: Arc<WorkspaceConfig>,
    pub(super) folders: Arc<Vec<FilePath>>,
    pub(super) files: imbl::OrdMap<FilePath, Arc<File>>,
    pub(super) names: Arc<Names>,
    pub(super) ids: Arc<Vec<FilePath>>,
    pub(super) layout: Arc<Layout>,
    pub(super) nodes: Arc<Vec<Node>>,
    pub(super) source_errors: Arc<Vec<(FilePath, String)>>,
    pub(super) selected: Option<Arc<str>>,
    pub(super) open: imbl::OrdSet<FilePath>,
    pub(super) key_index: Arc<LazyIndex>,
    pub(super) eyaml: Option<Arc<Keys>>,
}

impl Snapshot {
    /// The file at a path; `None` when it is not one that the workspace reads.
    pub fn file(&self, path: &FilePath) -> Option<&Arc<File>> {
        self.files.get(path)
    }

    /// The file with this number.
    pub fn file_by_id(&self, id: FileId) -> Option<&Arc<File>> {
        self.file(self.path(id)?)
    }

    /// The bytes of a place, counted from the start of its file. Empty at the start for a place in a part that is no more.
    pub fn place(&self, span: Span) -> TextRange {
        let moved = || self.file_by_id(span.file)?.data(Format::Yaml).place(span);
        if span.part == PartId::WHOLE { span.range } else { moved().unwrap_or_default() }
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
    pub fn open_files(&self) -> impl Iterator<Item = &FilePath> {
        self.open.iter()
    }

    /// The files that are open in only one of this and a later revision, and whether they are in the later one.
    pub fn open_files_changed(&self, later: &Snapshot) -> Vec<(FilePath, bool)> {
        let change = |change| match change {
            imbl::ordset::DiffItem::Add(path) => (FilePath::clone(path), true),
            imbl::ordset::DiffItem::Remove(path) => (FilePath::clone(path), false),
        };
        self.open.diff(&later.open).map(change).collect()
    }

    /// Whether another revision has the same files, configs, settings and nodes, so that only the data in the files may differ.
    pub fn has_same_layout(&self, other: &Snapshot) -> bool {
        Arc::ptr_eq(&self.layout, &other.layout)
            && Arc::ptr_eq(&self.config, &other.config)
            && Arc::ptr_eq(&self.nodes, &other.nodes)
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

    /// The node that was chosen, or that the settings choose; `None` also for one that is not known, or no longer.
    pub fn selected(&self) -> Option<&Node> {
        self.node(self.selected_node()?)
    }

    /// The certname of the node that was chosen, or that the settings choose, whether it is known or not.
    pub fn selected_node(&self) -> Option<&str> {
        self.selected.as_deref().or(self.config.nodes.default.as_deref())
    }

    /// The files of an environment, as the resolver sees them.
    pub fn view<'a>(&'a self, environment: &'a Environment) -> EnvironmentView<'a> {
        EnvironmentView { snapshot: self, environment: Some(environment) }
    }

    /// Whether a node with this scope reads the file.
    pub fn sees(&self, environment: &Environment, scope: &Scope, path: &FilePath) -> bool {
        sees(environment, &self.view(environment), scope, path)
    }

    /// The nodes whose hierarchy includes the file.
    pub fn nodes_seeing(&self, environment: &Environment, path: &FilePath) -> Vec<&Node> {
        let view = self.view(environment);
        self.nodes.iter().filter(|node| sees(environment, &view, &node.scope_in(&environment.name), path)).collect()
    }

    /// The node whose hierarchy includes the file, if it is the only one.
    pub fn only_node_seeing(&self, environment: &Environment, path: &FilePath) -> Option<&Node> {
        let view = self.view(environment);
        let number = environment.only_node_seeing(path, || {
            let sees = |node: &Node| sees(environment, &view, &node.scope_in(&environment.name), path);
            let mut seeing = (0..self.nodes.len()).filter(|n| sees(&self.nodes[*n]));
            seeing.next().filter(|_| seeing.next().is_none())
        });
        number.and_then(|number| self.nodes.get(number))
    }

    /// The scope that values are shown for in a file: the chosen node's, or that of the only known node that sees the file,
    /// or what the file's own path tells.
    pub fn scope_for(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        if let Some(node) = self.selected() {
            return node.scope_in(&environment.name);
        }
        let inferred = self.inferred_scope(environment, path);
        if !environment.reaches(path) {
            return Arc::new(inferred);
        }
        match self.only_node_seeing(environment, path) {
            Some(only) => only.scope_in(&environment.name),
            None => Arc::new(inferred),
        }
    }

    /// The scope that a file's path tells of, with what the rules derive from that.
    pub fn inferred_scope(&self, environment: &Environment, path: &FilePath) -> Scope {
        let infer = || {
            let mut scope = environment.infer_scope(path);
            scope.derive(self.config.nodes.derive.clone());
            scope
        };
        environment.inferred_scope(path, infer)
    }

    /// The context of lookups in an environment, as an editor wants them: broken files are read as far as they go.
    pub fn context<'a>(&'a self, environment: &'a Environment, view: &'a EnvironmentView<'a>, scope: &'a Scope) -> Context<'a> {
        Context {
            sources: view,
            global: environment.global.clone(),
            environment: environment.config.clone(),
            scope,
            profile: self.config.profile,
            decryptor: None,
            tolerant: true,
        }
    }

    /// What decrypts values of an environment; `None` unless the user has switched it on. [`Snapshot::context`] leaves it out: rules
    /// decrypt nothing, only answers to the user's own questions do.
    pub fn decryptor<'a>(&'a self, environment: &'a Environment) -> Option<EnvironmentKeys<'a>> {
        self.eyaml.as_ref().map(|keys| keys.decryptor(&environment.root))
    }

    /// Which files define which keys.
    pub fn keys(&self) -> &KeyIndex {
        self.key_index.get(self)
    }

    /// The least that must be so for a node to see all these files: a scope with the variables that their paths tell.
    /// `None` when no node can see them all, or when it cannot be told.
    pub fn scope_seeing(&self, environment: &Environment, files: &[&FilePath]) -> Option<Scope> {
        let mut scope = Scope::open(files.first()?.as_str());
        let inferred: Vec<Scope> = files.iter().map(|path| self.inferred_scope(environment, path)).collect();
        for one in &inferred {
            for (name, value) in one.variables() {
                let value = match scope.get(name) {
                    Variable::Known(known) => united(&known, value)?,
                    _ => value.clone(),
                };
                scope.set(name, value);
            }
            match (&scope.pinned, &one.pinned) {
                (Some(known), Some(other)) if known != other => return None,
                (None, Some(_)) => scope.pinned = one.pinned.clone(),
                _ => {}
            }
        }
        // Each has what rules derive from its path, so that contradictions have shown by now.
        scope.derive(self.config.nodes.derive.clone());
        Some(scope)
    }
}

/// Two partial values of one variable as one; `None` when they differ.
fn united(one: &Value, other: &Value) -> Option<Value> {
    let (Some(a), Some(b)) = (one.as_hash(), other.as_hash()) else { return (one == other).then(|| one.clone()) };
    let mut both = a.clone();
    for (key, member) in b {
        let value = match a.get(key) {
            Some(known) => united(&known.value, &member.value)?,
            None => member.value.clone(),
        };
        both.insert(key.clone(), Member { key_origin: None, value });
    }
    Some(Value::hash(both, None))
}

/// Whether a node with this scope reads the file.
fn sees(environment: &Environment, view: &EnvironmentView<'_>, scope: &Scope, path: &FilePath) -> bool {
    let environment_matches =
        !matches!(scope.get("environment"), Variable::Known(name) if name.to_text() != environment.name.as_str());
    environment_matches
        && environment.reach.iter().filter(|reach| reach.pattern.can_name(path.as_str())).any(|reach| {
            let Some((_, config)) = environment.configs().find(|(layer, _)| *layer == reach.layer) else { return false };
            let located = locate(config, std::slice::from_ref(&reach.level), scope, view, None).unwrap_or_default();
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
            Reader::Hocon => Format::Hocon,
            Reader::Yaml | Reader::Eyaml => Format::Yaml,
        };
        Some(self.snapshot.file(path)?.data(format))
    }

    fn exists(&self, path: &FilePath) -> bool {
        self.snapshot.names.entries.contains_key(path) || self.snapshot.files.contains_key(path)
    }

    fn is_folder(&self, path: &FilePath) -> bool {
        matches!(self.snapshot.names.entries.get(path), Some(Entry::Folder { .. }))
    }

    fn glob(&self, pattern: &str) -> Vec<FilePath> {
        glob(pattern, self)
    }

    fn files_defining(&self, root: &str) -> Vec<FilePath> {
        self.snapshot.keys().definitions(root).to_vec()
    }

    fn files_starting_with(&self, prefix: &str) -> Vec<FilePath> {
        let from = FilePath::new(prefix.rsplit_once('/').map_or("", |(folder, _)| folder));
        let files = self.snapshot.files.range(from..);
        files
            .map(|(path, _)| path)
            .skip_while(|path| path.as_str() < prefix && !path.as_str().starts_with(prefix))
            .take_while(|path| path.as_str().starts_with(prefix))
            .cloned()
            .collect()
    }

    fn module(&self, name: &str) -> ModuleLayer {
        match self.environment.and_then(|environment| environment.modules.get(name)) {
            None => ModuleLayer::NotFound,
            Some(module) => module.config.clone().map_or(ModuleLayer::WithoutConfig, ModuleLayer::Config),
        }
    }

    fn map_datadir(&self, datadir: &str) -> String {
        let exists = |path: &FilePath| self.snapshot.names.entries.contains_key(path);
        let root = self.environment.map(|environment| &environment.root);
        self.snapshot.config.path_mappings.map(datadir, root, &exists)
    }
}

impl EnvironmentView<'_> {
    /// The data of a file as the level that reads it reads it.
    pub fn data_of(&self, path: &FilePath) -> Option<Arc<DataFile>> {
        let reader = self.environment.and_then(|environment| environment.reader(path)).unwrap_or(Reader::Yaml);
        self.data(path, reader)
    }
}

impl Listing for EnvironmentView<'_> {
    fn list(&self, folder: &FilePath) -> Vec<(String, EntryKind)> {
        self.snapshot.names.children.get(folder).cloned().unwrap_or_default()
    }
}

/// The names of files and folders on disk, and of files that only an editor has.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Everything, by path.
    pub entries: BTreeMap<FilePath, Entry>,
    /// What lies directly in each folder, sorted by bytes.
    pub children: HashMap<FilePath, Vec<(String, EntryKind)>>,
}

impl Names {
    /// The names of these entries.
    pub fn new(entries: BTreeMap<FilePath, Entry>) -> Names {
        let mut children: HashMap<FilePath, Vec<(String, EntryKind)>> = HashMap::new();
        for (path, entry) in &entries {
            let Some(folder) = path.parent() else { continue };
            let kind = match entry {
                Entry::File(_) => EntryKind::File,
                Entry::Folder { linked: false } => EntryKind::Folder,
                Entry::Folder { linked: true } => EntryKind::LinkedFolder,
            };
            children.entry(folder).or_default().push((path.name().to_owned(), kind));
        }
        children.values_mut().for_each(|names| names.sort_by(|a, b| a.0.cmp(&b.0)));
        Names { entries, children }
    }
}
