//! An immutable view of one revision of the workspace. Requests are answered from it.

use std::collections::HashSet;
use std::sync::Arc;

use super::environments::{Environment, Environments};
use super::eyaml::{EnvironmentKeys, Keys};
use super::file::{Content, File};
use super::fs::Entry;
use super::functions::FunctionSource;
use super::index::{KeyIndex, LazyIndex};
use super::kinds::{code_language, is_below_installed, is_puppetfile, may_be_installed};
use super::manifests::{LazyManifests, ManifestIndex};
use super::names::Names;
use super::nodes::{Kinds, Node, kinds, list, node_variables};
use super::overview::Overview;
use super::readers::{FileReaders, NodesReading, Reads};
use super::scan::NodeSource;
use super::{EnvironmentConfig, WorkspaceConfig};
use crate::hiera::config::{Layer, Reader};
use crate::hiera::data::DataFile;
use crate::hiera::error::LookupError;
use crate::hiera::hierarchy::located::LocatedLayer;
use crate::hiera::lookup::Context;
use crate::hiera::scope::{Scope, Variable};
use crate::hiera::sources::{Locate, ModuleLayer, Sources};
use crate::puppet::value::{Member, Provenance, Value};
use crate::text::CancelToken;
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
    pub(super) environments: Arc<Environments>,
    pub(super) nodes: Arc<Vec<Arc<Node>>>,
    pub(super) source_errors: Arc<Vec<(FilePath, String)>>,
    pub(super) node_sources: Arc<Vec<NodeSource>>,
    pub(super) selected: Option<Arc<str>>,
    pub(super) open: imbl::OrdSet<FilePath>,
    pub(super) key_index: Arc<LazyIndex>,
    pub(super) manifests: Arc<LazyManifests>,
    pub(super) eyaml: Option<Arc<Keys>>,
    pub(super) cancel: CancelToken,
}

impl Snapshot {
    /// Returns the same snapshot for work that this token cancels.
    pub fn with_cancel_token(self, cancel: CancelToken) -> Snapshot {
        Snapshot { cancel, ..self }
    }

    /// Returns the token that cancels work on this copy of the snapshot.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Returns the file at a path; `None` when it is not one that the workspace reads.
    pub fn file(&self, path: &FilePath) -> Option<&Arc<File>> {
        self.files.get(path)
    }

    /// Returns the file with this number.
    pub fn file_by_id(&self, id: FileId) -> Option<&Arc<File>> {
        self.file(self.path(id)?)
    }

    /// Returns the bytes of a place, counted from the start of its file. Empty at the start for a
    /// place in a part that is no more.
    pub fn place(&self, span: Span) -> TextRange {
        let moved = || self.file_by_id(span.file)?.place(span);
        if span.part == PartId::WHOLE { span.range } else { moved().unwrap_or_default() }
    }

    /// Returns the path of the file with this number, whether it still exists or not.
    pub fn path(&self, id: FileId) -> Option<&FilePath> {
        self.ids.get(id.number() as usize)
    }

    /// Returns all files that the workspace reads, by path, without code.
    pub fn files(&self) -> impl Iterator<Item = &Arc<File>> {
        let is_code = |path: &FilePath| code_language(path).is_some() || is_puppetfile(path);
        self.files.values().filter(move |file| !is_code(&file.path))
    }

    /// Returns the index of the manifests, templates and Ruby code of an environment. The first
    /// call parses them.
    pub fn manifests(&self, environment: &Environment) -> &ManifestIndex {
        self.manifests.get(self, environment)
    }

    /// Whether a file is part of a module that a tool installed: a Puppetfile names it, or it lies
    /// below `vendor` and the like.
    pub fn is_third_party(&self, environment: &Environment, path: &FilePath) -> bool {
        if path.relative_to(&environment.root).is_some_and(is_below_installed) {
            return true;
        }
        let mut modules = environment.modules.iter();
        let Some((name, module)) = modules.find(|(_, module)| path.is_within(&module.root)) else {
            return false;
        };
        let is_installed = || self.manifests(environment).is_installed(name);
        self.complete && may_be_installed(&module.root) && is_installed()
    }

    /// Returns the index of the code of an environment, if it was computed before.
    pub fn known_manifests(&self, environment: &Environment) -> Option<&ManifestIndex> {
        self.manifests.done(&environment.root)
    }

    /// Returns the files that Ruby's `Dir.glob` finds for an absolute pattern, in its order.
    pub fn glob(&self, pattern: &str) -> Arc<[FilePath]> {
        self.names.glob(pattern)
    }

    /// Returns the paths of the files whose paths start with this text, in order.
    pub fn paths_starting_with(&self, prefix: &str) -> impl Iterator<Item = &FilePath> {
        let from = FilePath::new(prefix.rsplit_once('/').map_or("", |(folder, _)| folder));
        let paths = self.files.range(from..).map(|(path, _)| path);
        paths
            .skip_while(move |path| path.as_str() < prefix && !path.as_str().starts_with(prefix))
            .take_while(move |path| path.as_str().starts_with(prefix))
    }

    /// Returns the files that are open in an editor.
    pub fn open_files(&self) -> impl Iterator<Item = &FilePath> {
        self.open.iter()
    }

    /// Returns the files that are open in only one of this and a later revision, and whether they
    /// are in the later one.
    pub fn open_files_changed(&self, later: &Snapshot) -> Vec<(FilePath, bool)> {
        let change = |change| match change {
            imbl::ordset::DiffItem::Add(path) => (FilePath::clone(path), true),
            imbl::ordset::DiffItem::Remove(path) => (FilePath::clone(path), false),
        };
        self.open.diff(&later.open).map(change).collect()
    }

    /// Returns the files whose versions differ between this and a later revision, and those that
    /// only one of them has.
    pub fn files_changed(&self, later: &Snapshot) -> Vec<FilePath> {
        use imbl::ordmap::DiffItem;
        let path = |change| match change {
            DiffItem::Add(path, _)
            | DiffItem::Remove(path, _)
            | DiffItem::Update { new: (path, _), .. } => FilePath::clone(path),
        };
        self.files.diff(&later.files).map(path).collect()
    }

    /// Whether another revision has the same files, configs, settings and nodes, so that only the
    /// data in the files may differ.
    pub fn has_same_environments(&self, other: &Snapshot) -> bool {
        Arc::ptr_eq(&self.environments, &other.environments)
            && Arc::ptr_eq(&self.config, &other.config)
            && Arc::ptr_eq(&self.nodes, &other.nodes)
    }

    /// Returns the folders of the workspace.
    pub fn folders(&self) -> &[FilePath] {
        &self.folders
    }

    /// Returns the environments.
    pub fn environments(&self) -> &Environments {
        &self.environments
    }

    /// Returns the settings that it was made with.
    pub fn config(&self) -> &WorkspaceConfig {
        &self.config
    }

    /// Returns the settings of an environment.
    pub fn config_of(&self, environment: &Environment) -> &EnvironmentConfig {
        self.config.of(&environment.root)
    }

    /// Returns the nodes that the settings name sources for, of all environments.
    pub fn given_nodes(&self) -> &[Arc<Node>] {
        &self.nodes
    }

    /// Returns the files that nodes come from.
    pub(super) fn node_sources(&self) -> &[NodeSource] {
        &self.node_sources
    }

    /// Returns the nodes that an environment has: those of its own settings, or else of the
    /// workspace's, and those that the names of its data files show.
    pub fn nodes_of<'a>(&self, environment: &'a Environment) -> &'a [Arc<Node>] {
        environment.cache.nodes.get_or_init(|| list::nodes_of(self, environment))
    }

    /// Returns the kinds of nodes of an environment without known nodes; none in others.
    pub fn kinds_of<'a>(&self, environment: &'a Environment) -> &'a Kinds {
        environment.cache.kinds.get_or_init(|| kinds::kinds_of(self, environment))
    }

    /// Returns the kinds of nodes of all environments, each once.
    pub fn distinct_kinds(&self) -> Vec<&Arc<Node>> {
        let mut known = HashSet::new();
        let all = self.environments.all.iter().flat_map(|one| &self.kinds_of(one).all);
        all.filter(|kind| known.insert(kind.name.clone())).collect()
    }

    /// Returns the nodes of all environments, each once: several environments may make nodes of
    /// their own from one file.
    pub fn distinct_nodes(&self) -> &[Arc<Node>] {
        self.environments.distinct_nodes.get_or_init(|| {
            let mut known = HashSet::new();
            let all = self.environments.all.iter().flat_map(|one| self.nodes_of(one));
            all.chain(self.nodes.iter())
                .filter(|node| known.insert((node.source.clone(), node.name.clone())))
                .cloned()
                .collect()
        })
    }

    /// Returns the environments in few words.
    pub fn overviews(&self) -> &[Overview] {
        self.environments.overviews.get_or_init(|| {
            self.environments.all.iter().map(|one| Overview::of(self, one)).collect()
        })
    }

    /// Returns the errors of those sources, with their files.
    pub fn source_errors(&self) -> &[(FilePath, String)] {
        &self.source_errors
    }

    /// Returns the first node with this certname, or kind of nodes of this name, in any
    /// environment.
    pub fn node(&self, name: &str) -> Option<&Node> {
        let of = |nodes: &'_ [Arc<Node>]| nodes.iter().position(|node| &*node.name == name);
        match of(&self.nodes) {
            Some(number) => Some(&self.nodes[number]),
            None => {
                let node = of(self.distinct_nodes()).map(|number| &*self.distinct_nodes()[number]);
                let mut kinds =
                    self.environments.all.iter().flat_map(|one| &self.kinds_of(one).all);
                node.or_else(|| kinds.find(|kind| &*kind.name == name).map(|kind| &**kind))
            }
        }
    }

    /// Returns the node that was chosen, or that the settings choose; `None` also for one that is
    /// not known, or no longer.
    pub fn selected(&self) -> Option<&Node> {
        self.node(self.selected_node()?)
    }

    /// Returns the selected node among those that an environment has, by its own settings.
    pub fn selected_in<'a>(&self, environment: &'a Environment) -> Option<&'a Node> {
        let name =
            self.selected.as_deref().or(self.config_of(environment).nodes.default.as_deref())?;
        let mut all = self.nodes_of(environment).iter().chain(&self.kinds_of(environment).all);
        all.find(|node| &*node.name == name).map(|node| &**node)
    }

    /// Returns the certname of the node that was chosen, or that the settings choose, whether it is
    /// known or not.
    pub fn selected_node(&self) -> Option<&str> {
        self.selected.as_deref().or(self.config.common.nodes.default.as_deref())
    }

    /// Returns the files of an environment, as the resolver sees them.
    pub fn view<'a>(&'a self, environment: &'a Environment) -> EnvironmentView<'a> {
        EnvironmentView { snapshot: self, environment: Some(environment) }
    }

    /// Whether a node with this scope reads the file.
    pub fn reads(&self, environment: &Environment, scope: &Scope, path: &FilePath) -> bool {
        let readers = FileReaders::of(environment, path);
        readers.is_read_by(scope, &self.view(environment)) == Some(Reads::Certainly)
    }

    /// Whether a node with this scope may read the file: its variables do not speak against it.
    pub fn may_read(&self, environment: &Environment, scope: &Scope, path: &FilePath) -> bool {
        FileReaders::of(environment, path).is_read_by(scope, &self.view(environment)).is_some()
    }

    /// Returns the nodes that read a file.
    pub fn readers_of(&self, environment: &Environment, path: &FilePath) -> Arc<NodesReading> {
        environment.cache.readers.get_or(path, || {
            let (view, readers) = (self.view(environment), FileReaders::of(environment, path));
            let nodes = self.nodes_of(environment);
            let mut found = NodesReading::default();
            for number in readers.candidates(nodes) {
                let scope = nodes[number].scope_in(&environment.name);
                let Some((reads, route)) = readers.way_of(&scope, &view) else { continue };
                let is_certain = reads == Reads::Certainly;
                let list = if is_certain { &mut found.certainly } else { &mut found.possibly };
                list.push(number);
                found.ways.push((number, route as u32 * 2 + u32::from(is_certain)));
            }
            Arc::new(found)
        })
    }

    /// Returns the nodes whose hierarchy certainly includes the file.
    pub fn nodes_reading<'a>(
        &self,
        environment: &'a Environment,
        path: &FilePath,
    ) -> Vec<&'a Arc<Node>> {
        let nodes = self.nodes_of(environment);
        self.readers_of(environment, path).certainly.iter().map(|number| &nodes[*number]).collect()
    }

    /// Returns the node whose hierarchy includes the file, if no other one can include it.
    ///
    /// Of an inferred node only its own files are: there may be nodes that have no file.
    pub fn only_node_reading<'a>(
        &self,
        environment: &'a Environment,
        path: &FilePath,
    ) -> Option<&'a Node> {
        let readers = self.readers_of(environment, path);
        let ([number], []) = (&readers.certainly[..], &readers.possibly[..]) else { return None };
        let node = &*self.nodes_of(environment)[*number];
        let is_named = |(_, value): (&str, &Value)| holds_text(value, &node.name);
        let is_own =
            node.is_given || self.inferred_scope(environment, path).variables().any(is_named);
        is_own.then_some(node)
    }

    /// Returns the scope that values are shown for in a file: the chosen node's, or that of the
    /// only known node that reads the file, or the one that follows from the file's own path.
    pub fn scope_for(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        let scope = self.find_scope_for(environment, path);
        // Callers look several keys up in one scope.
        environment.cache.keep_levels_of(&scope);
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
        match self.only_node_reading(environment, path) {
            Some(only) => only.scope_in(&environment.name),
            None => inferred,
        }
    }

    /// Returns the scope that follows from a file's path, with the variables that the rules derive
    /// from it.
    pub fn inferred_scope(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        let infer = || {
            let mut scope = environment.infer_scope(path);
            scope.derive(self.config_of(environment).nodes.derive.clone());
            scope
        };
        environment.cache.scopes.get_or(path, || Arc::new(infer()))
    }

    /// Returns the context of lookups in an environment, as an editor wants them: broken files are
    /// read as far as they go.
    pub fn context<'a>(
        &'a self,
        environment: &'a Environment,
        view: &'a EnvironmentView<'a>,
        scope: &'a Scope,
    ) -> Context<'a> {
        Context {
            sources: view,
            global: environment.global.clone(),
            environment: environment.config.clone(),
            scope,
            puppet: self.config_of(environment).puppet,
            decryptor: None,
            tolerant: true,
            cancel: &self.cancel,
        }
    }

    /// Returns the decryptor for values of an environment; `None` unless the user has switched it
    /// on. [`Snapshot::context`] leaves it out: rules decrypt nothing, only answers to the user's
    /// own questions do.
    pub fn decryptor<'a>(&'a self, environment: &'a Environment) -> Option<EnvironmentKeys<'a>> {
        self.eyaml.as_ref().map(|keys| keys.decryptor(&environment.root))
    }

    /// Whether [`keys`](Snapshot::keys) need not read much first, as they must where files or
    /// layers are others than before, or a long file is.
    pub fn is_indexed(&self) -> bool {
        self.key_index.is_near(self)
    }

    /// Returns the index of keys and of the files that define them.
    pub fn keys(&self) -> &KeyIndex {
        self.key_index.get(self)
    }

    /// Returns the variables of locations whose files are one node each: their value is the node's
    /// name.
    pub fn node_variables<'a>(&self, environment: &'a Environment) -> &'a [String] {
        environment.cache.node_variables.get_or_init(|| node_variables(self, environment))
    }

    /// Returns the names of the environment's own levels with a location that names no existing
    /// file. The data of that location is not in this workspace, so it may hold any key.
    pub fn levels_without_files<'a>(&self, environment: &'a Environment) -> &'a [String] {
        let find = || {
            let paths: Vec<&FilePath> = self.files().map(|file| &file.path).collect();
            environment.find_levels_without(&paths)
        };
        environment.cache.levels_without_files.get_or_init(find)
    }

    /// Returns the least scope in which a node reads all these files: the variables in their paths.
    /// `None` when no node can read them all, or when that is unknown.
    pub fn scope_reading(&self, environment: &Environment, files: &[&FilePath]) -> Option<Scope> {
        let mut scope = Scope::open(files.first()?.as_str());
        let inferred: Vec<Arc<Scope>> =
            files.iter().map(|path| self.inferred_scope(environment, path)).collect();
        scope.set("environment", Value::given(&environment.name));
        let mut is_told = false;
        for (path, one) in files.iter().zip(&inferred) {
            for (name, value) in one.variables() {
                // Most paths do not show the environment.
                if name == "environment" {
                    if !environment.tells_environment(path) {
                        continue;
                    }
                    if !std::mem::replace(&mut is_told, true) {
                        scope.set(name, value.clone());
                        continue;
                    }
                }
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

/// Whether a value, or a part of it, is this text.
fn holds_text(value: &Value, text: &str) -> bool {
    match value.as_hash() {
        Some(hash) => hash.values().any(|member| holds_text(&member.value, text)),
        None => value.as_str() == Some(text),
    }
}

/// Two partial values of one variable as one; `None` when they differ.
fn united(one: &Value, other: &Value) -> Option<Value> {
    let (Some(a), Some(b)) = (one.as_hash(), other.as_hash()) else {
        return (one == other).then(|| one.clone());
    };
    let mut both = a.clone();
    for (key, member) in b {
        let value = match a.get(key) {
            Some(known) => united(&known.value, &member.value)?,
            None => member.value.clone(),
        };
        both.insert(key.clone(), Member { key_origin: None, value });
    }
    Some(Value::hash(both, Provenance::written(None)))
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

    fn has_function(&self, name: &str) -> bool {
        let find = |environment| self.snapshot.function_source(environment, name);
        matches!(self.environment.map(find), Some(FunctionSource::File(_)))
    }

    fn is_folder(&self, path: &FilePath) -> bool {
        matches!(self.snapshot.names.entries.get(path), Some(Entry::Folder { .. }))
    }

    fn is_unread(&self, path: &FilePath) -> bool {
        self.snapshot.file(path).is_some_and(|file| matches!(file.content, Content::Unreadable(_)))
    }

    fn glob(&self, pattern: &str) -> Arc<[FilePath]> {
        self.snapshot.names.glob(pattern)
    }

    fn files_defining(&self, root: &str) -> &[FilePath] {
        self.snapshot.keys().definitions(root)
    }

    fn is_named_plainly(&self, path: &FilePath) -> bool {
        self.environment.is_some_and(|environment| environment.matches(path).next().is_some())
    }

    fn is_indexed(&self, path: &FilePath) -> bool {
        self.environment
            .is_some_and(|environment| environment.are_formats_one && environment.reaches(path))
    }

    fn files_starting_with(&self, prefix: &str) -> Vec<FilePath> {
        self.snapshot.paths_starting_with(prefix).cloned().collect()
    }

    fn located(
        &self,
        scope: &Scope,
        layer: &Layer,
        locate: Locate<'_>,
    ) -> Result<LocatedLayer, LookupError> {
        self.environment
            .map_or_else(locate, |environment| environment.cache.located(scope, layer, locate))
    }

    fn module(&self, name: &str) -> ModuleLayer {
        match self.environment.and_then(|environment| environment.modules.get(name)) {
            None => ModuleLayer::NotFound,
            Some(module) => {
                module.config.clone().map_or(ModuleLayer::WithoutConfig, ModuleLayer::Config)
            }
        }
    }
}

impl EnvironmentView<'_> {
    /// Returns the data of a file, read as the level that reads the file does.
    pub fn data_of(&self, path: &FilePath) -> Option<Arc<DataFile>> {
        let reader = self
            .environment
            .and_then(|environment| environment.reader(path))
            .unwrap_or(Reader::Yaml);
        self.data(path, reader)
    }

    /// Returns the members under a root key in the files that the environment's levels read, in the
    /// order of their paths.
    pub fn definitions(&self, root: &str) -> impl Iterator<Item = Member> {
        let is_read = |path: &&FilePath| {
            self.environment.is_some_and(|environment| environment.reaches(path))
        };
        let files = self.snapshot.keys().definitions(root).iter().filter(is_read);
        files.filter_map(move |path| Some(self.data_of(path)?.get(root)?.clone()))
    }

    /// Whether any of them defines a root key.
    pub fn is_defined(&self, root: &str) -> bool {
        // Some environment reads each file in the index. Most workspaces have one environment: then
        // it is the reader.
        let is_the_only_one = self.snapshot.environments.all.len() == 1;
        if is_the_only_one {
            !self.snapshot.keys().definitions(root).is_empty()
        } else {
            self.definitions(root).next().is_some()
        }
    }
}
