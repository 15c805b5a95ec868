//! An immutable view of one revision of the workspace: what requests are answered from.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use super::eyaml::{EnvironmentKeys, Keys};
use super::file::File;
use super::fs::Entry;
use super::index::{KeyIndex, LazyIndex};
use super::layers::{Environment, Layout};
use super::nodes::Node;
use super::seeing::Seeing;
use super::{EnvironmentConfig, WorkspaceConfig};
use crate::hiera::config::{Layer, Reader};
use crate::hiera::data::{DataFile, Format};
use crate::hiera::error::LookupError;
use crate::hiera::glob::{EntryKind, Listing, glob};
use crate::hiera::hierarchy::LocatedLayer;
use crate::hiera::lookup::Context;
use crate::hiera::scope::{Scope, Variable};
use crate::hiera::sources::{Locate, ModuleLayer, Sources};
use crate::hiera::value::{Member, Value};
use crate::hiera::wanted::Wanted;
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
    pub(super) wanted: Wanted,
}

impl Snapshot {
    /// The same for work that is to be left off when it is not wanted any more.
    pub fn while_wanted(self, wanted: Wanted) -> Snapshot {
        Snapshot { wanted, ..self }
    }

    /// Whether somebody still waits for what is computed from this copy of the snapshot.
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

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
        self.ids.get(id.number() as usize)
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

    /// The files of which this and a later revision have different versions, or of which only one has any.
    pub fn files_changed(&self, later: &Snapshot) -> Vec<FilePath> {
        use imbl::ordmap::DiffItem;
        let path = |change| match change {
            DiffItem::Add(path, _) | DiffItem::Remove(path, _) | DiffItem::Update { new: (path, _), .. } => FilePath::clone(path),
        };
        self.files.diff(&later.files).map(path).collect()
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

    /// What the settings say of an environment.
    pub fn config_of(&self, environment: &Environment) -> &EnvironmentConfig {
        self.config.of(&environment.root)
    }

    /// The nodes that the settings name sources for, of all environments.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes that an environment has: those of its own settings, or else of the workspace's.
    pub fn nodes_of(&self, environment: &Environment) -> impl Iterator<Item = &Node> {
        self.numbered_nodes_of(environment).map(|(_, node)| node)
    }

    /// The same with their numbers among all nodes.
    pub(super) fn numbered_nodes_of(&self, environment: &Environment) -> impl Iterator<Item = (usize, &Node)> {
        let own = self.config.environments.get_key_value(&environment.root).map(|(root, _)| root);
        self.nodes.iter().enumerate().filter(move |(_, node)| node.environment.as_ref() == own)
    }

    /// The nodes of all environments, each once: of what a file says, several environments may make their own.
    pub fn distinct_nodes(&self) -> Vec<&Node> {
        if self.config.environments.is_empty() {
            return self.nodes.iter().collect(); // as mostly, and asked after each change
        }
        let mut known = HashSet::new();
        self.nodes.iter().filter(|node| known.insert((&node.source, &node.name))).collect()
    }

    /// What was wrong with those sources.
    pub fn source_errors(&self) -> &[(FilePath, String)] {
        &self.source_errors
    }

    /// The first node with this certname, whatever environment has it.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| &*node.name == name)
    }

    /// The node that was chosen, or that the settings choose; `None` also for one that is not known, or no longer.
    pub fn selected(&self) -> Option<&Node> {
        self.node(self.selected_node()?)
    }

    /// The same among those that an environment has, by its own settings.
    pub fn selected_in(&self, environment: &Environment) -> Option<&Node> {
        let name = self.selected.as_deref().or(self.config_of(environment).nodes.default.as_deref())?;
        self.nodes_of(environment).find(|node| &*node.name == name)
    }

    /// The certname of the node that was chosen, or that the settings choose, whether it is known or not.
    pub fn selected_node(&self) -> Option<&str> {
        self.selected.as_deref().or(self.config.common.nodes.default.as_deref())
    }

    /// The files of an environment, as the resolver sees them.
    pub fn view<'a>(&'a self, environment: &'a Environment) -> EnvironmentView<'a> {
        EnvironmentView { snapshot: self, environment: Some(environment) }
    }

    /// Whether a node with this scope reads the file.
    pub fn sees(&self, environment: &Environment, scope: &Scope, path: &FilePath) -> bool {
        Seeing::of(environment, path).by(scope, &self.view(environment))
    }

    /// The nodes whose hierarchy includes the file.
    pub fn nodes_seeing(&self, environment: &Environment, path: &FilePath) -> Vec<&Node> {
        self.numbers_of_nodes_seeing(environment, path).filter_map(|number| self.nodes.get(number)).collect()
    }

    /// The node whose hierarchy includes the file, if it is the only one.
    pub fn only_node_seeing(&self, environment: &Environment, path: &FilePath) -> Option<&Node> {
        let number = environment.only_node_seeing(path, || {
            let mut numbers = self.numbers_of_nodes_seeing(environment, path);
            numbers.next().filter(|_| numbers.next().is_none())
        });
        number.and_then(|number| self.nodes.get(number))
    }

    fn numbers_of_nodes_seeing<'a>(
        &'a self,
        environment: &'a Environment,
        path: &'a FilePath,
    ) -> impl Iterator<Item = usize> + 'a {
        let (view, seeing) = (self.view(environment), Seeing::of(environment, path));
        let candidates = seeing.candidates(self).into_iter();
        candidates.filter(move |number| seeing.by(&self.nodes[*number].scope_in(&environment.name), &view))
    }

    /// The scope that values are shown for in a file: the chosen node's, or that of the only known node that sees the file,
    /// or what the file's own path tells.
    pub fn scope_for(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        let scope = self.find_scope_for(environment, path);
        // It is asked for by who looks something up, most often more than once.
        environment.remember_levels_of(&scope);
        scope
    }

    fn find_scope_for(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        if let Some(node) = self.selected_in(environment) {
            return node.scope_in(&environment.name);
        }
        let inferred = self.inferred_scope(environment, path);
        if !environment.reaches(path) {
            return inferred;
        }
        match self.only_node_seeing(environment, path) {
            Some(only) => only.scope_in(&environment.name),
            None => inferred,
        }
    }

    /// The scope that a file's path tells of, with what the rules derive from that.
    pub fn inferred_scope(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        let infer = || {
            let mut scope = environment.infer_scope(path);
            scope.derive(self.config_of(environment).nodes.derive.clone());
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
            profile: self.config_of(environment).profile,
            decryptor: None,
            tolerant: true,
            wanted: &self.wanted,
        }
    }

    /// What decrypts values of an environment; `None` unless the user has switched it on. [`Snapshot::context`] leaves it out: rules
    /// decrypt nothing, only answers to the user's own questions do.
    pub fn decryptor<'a>(&'a self, environment: &'a Environment) -> Option<EnvironmentKeys<'a>> {
        self.eyaml.as_ref().map(|keys| keys.decryptor(&environment.root))
    }

    /// Whether [`keys`](Snapshot::keys) need not read much first, as they must where files or layers are others than before, or a long file is.
    pub fn is_indexed(&self) -> bool {
        self.key_index.is_near(self)
    }

    /// Which files define which keys.
    pub fn keys(&self) -> &KeyIndex {
        self.key_index.get(self)
    }

    /// The least that must be so for a node to see all these files: a scope with the variables that their paths tell.
    /// `None` when no node can see them all, or when it cannot be told.
    pub fn scope_seeing(&self, environment: &Environment, files: &[&FilePath]) -> Option<Scope> {
        let mut scope = Scope::open(files.first()?.as_str());
        let inferred: Vec<Arc<Scope>> = files.iter().map(|path| self.inferred_scope(environment, path)).collect();
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
        scope.derive(self.config_of(environment).nodes.derive.clone());
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

/// A snapshot as one environment's lookups see it: modules are the environment's own.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentView<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) environment: Option<&'a Environment>,
}

impl Sources for EnvironmentView<'_> {
    fn data(&self, path: &FilePath, reader: Reader) -> Option<Arc<DataFile>> {
        Some(self.snapshot.file(path)?.data(reader.format()))
    }

    fn exists(&self, path: &FilePath) -> bool {
        self.snapshot.names.entries.contains_key(path)
    }

    fn is_folder(&self, path: &FilePath) -> bool {
        matches!(self.snapshot.names.entries.get(path), Some(Entry::Folder { .. }))
    }

    fn glob(&self, pattern: &str) -> Arc<[FilePath]> {
        self.snapshot.names.glob(pattern)
    }

    fn files_defining(&self, root: &str) -> &[FilePath] {
        self.snapshot.keys().definitions(root)
    }

    fn is_indexed(&self, path: &FilePath) -> bool {
        self.environment.is_some_and(|environment| environment.are_formats_one && environment.reaches(path))
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

    fn located(&self, scope: &Scope, layer: &Layer, locate: Locate<'_>) -> Result<LocatedLayer, LookupError> {
        self.environment.map_or_else(locate, |environment| environment.located(scope, layer, locate))
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
        let config = root.map_or(&self.snapshot.config.common, |root| self.snapshot.config.of(root));
        config.path_mappings.map(datadir, root, &exists)
    }
}

impl EnvironmentView<'_> {
    /// The data of a file as the level that reads it reads it.
    pub fn data_of(&self, path: &FilePath) -> Option<Arc<DataFile>> {
        let reader = self.environment.and_then(|environment| environment.reader(path)).unwrap_or(Reader::Yaml);
        self.data(path, reader)
    }

    /// What stands under a root key in the files that the environment's levels read, in the order of their paths.
    pub fn definitions(&self, root: &str) -> impl Iterator<Item = Member> {
        let is_read = |path: &&FilePath| self.environment.is_some_and(|environment| environment.reaches(path));
        let files = self.snapshot.keys().definitions(root).iter().filter(is_read);
        files.filter_map(move |path| Some(self.data_of(path)?.get(root)?.clone()))
    }

    /// Whether any of them defines a root key.
    pub fn is_defined(&self, root: &str) -> bool {
        // What is in the index is read by some environment: with one there is, most of the time, it is by that.
        let is_the_only_one = self.snapshot.layout.environments.len() == 1;
        if is_the_only_one { !self.snapshot.keys().definitions(root).is_empty() } else { self.definitions(root).next().is_some() }
    }
}

impl Listing for Names {
    fn list(&self, folder: &FilePath) -> Cow<'_, [(String, EntryKind)]> {
        Cow::Borrowed(self.children.get(folder).map_or(&[], Vec::as_slice))
    }
}

/// The names of files and folders on disk, and of files that only an editor has.
#[derive(Debug, Default)]
pub struct Names {
    /// Everything, by path: what is on disk, and every file of the snapshot.
    pub entries: foldhash::HashMap<FilePath, Entry>,
    /// What lies directly in each folder, sorted by bytes.
    pub children: HashMap<FilePath, Vec<(String, EntryKind)>>,
    /// What globs name, once they were asked for: the same ones are with every lookup.
    globs: RwLock<HashMap<String, Arc<[FilePath]>>>,
}

/// How many globs are remembered: variables may make more of one than are worth it.
const MAX_GLOBS: usize = 4096;

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
        Names { entries: entries.into_iter().collect(), children, globs: RwLock::default() }
    }

    /// The files and folders that a pattern names, in Ruby's order.
    pub fn glob(&self, pattern: &str) -> Arc<[FilePath]> {
        if let Some(known) = self.globs.read().unwrap_or_else(PoisonError::into_inner).get(pattern) {
            return known.clone();
        }
        let found: Arc<[FilePath]> = glob(pattern, self).into();
        let mut globs = self.globs.write().unwrap_or_else(PoisonError::into_inner);
        if globs.len() < MAX_GLOBS {
            globs.insert(pattern.to_owned(), found.clone());
        }
        found
    }
}
