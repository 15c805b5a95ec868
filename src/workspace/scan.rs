//! Reading folders: which files there are, which of them matter, and the layers that follow. Runs beside the workspace, not in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::file::{Content, File};
use super::fs::{Entry, FileSystem, ReadError, Stamp, WalkLimits};
use super::layout::MODULE_FOLDERS;
use super::nodes::{self, Node};
use super::parallel::on_all_cores;
use super::snapshot::{Names, Snapshot};
use super::{EnvironmentConfig, Workspace, WorkspaceConfig};
use crate::text::FilePath;

/// What to read.
#[derive(Debug)]
pub struct Request {
    /// The settings.
    pub config: Arc<WorkspaceConfig>,
    /// The folders.
    pub folders: Arc<Vec<FilePath>>,
    /// Files that were read before; those that are still the same are not read again.
    pub known: Arc<BTreeMap<FilePath, Arc<File>>>,
    /// The same for the files that nodes come from.
    pub known_sources: Arc<Vec<NodeSource>>,
    /// What existed when they were read, and a snapshot whose layers follow from that; `None` where others may follow.
    pub known_entries: Arc<BTreeMap<FilePath, Entry>>,
    /// See there.
    pub known_layers: Option<Snapshot>,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Scan {
    /// Everything that exists.
    pub entries: BTreeMap<FilePath, Entry>,
    /// The files that matter.
    pub files: BTreeMap<FilePath, Found>,
    /// The files that nodes come from.
    pub sources: Vec<NodeSource>,
    /// Whether there was more in the folders than is listed.
    pub cut_short: bool,
}

/// A file that nodes come from.
#[derive(Clone, Debug)]
pub struct NodeSource {
    /// The file.
    pub path: FilePath,
    /// The folder of the environment whose own settings name it; `None` where the workspace's do.
    pub environment: Option<FilePath>,
    /// Which version of it was read.
    pub stamp: Option<Stamp>,
    /// Its nodes, or what is wrong with it.
    pub nodes: Result<Vec<Node>, String>,
}

impl Scan {
    /// Whether everything is as `request` knew it.
    pub fn is_news(&self, request: &Request, entries: &BTreeMap<FilePath, Entry>) -> bool {
        !self.has_sources(&request.known_sources)
            || self.files.len() != request.known.len()
            || self.files.values().any(|found| matches!(found, Found::New(..)))
            || self.entries != *entries
    }

    /// Whether nodes come from these versions of these files.
    pub(super) fn has_sources(&self, known: &[NodeSource]) -> bool {
        let sources = |sources: &[NodeSource]| {
            sources.iter().map(|source| (source.path.clone(), source.environment.clone(), source.stamp)).collect::<Vec<_>>()
        };
        sources(&self.sources) == sources(known)
    }

    /// Whether the same files and folders are there, whatever their versions.
    pub(super) fn has_names(&self, known: &BTreeMap<FilePath, Entry>) -> bool {
        let is_alike = |new: &Entry, old: &Entry| matches!((new, old), (Entry::File(_), Entry::File(_))) || new == old;
        self.entries.len() == known.len()
            && self.entries.iter().zip(known).all(|(new, old)| new.0 == old.0 && is_alike(new.1, old.1))
    }
}

/// A file that matters.
#[derive(Debug)]
pub enum Found {
    /// It is the version that was known.
    Same(Arc<File>),
    /// It was read.
    New(Content, Stamp),
}

/// How far reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files read.
    pub done: usize,
    /// Files to read.
    pub total: usize,
}

/// Folders that hold no data and many files.
const SKIPPED_FOLDERS: [&str; 6] = [".git", ".hg", ".svn", "node_modules", ".bundle", ".terraform"];
const MAX_ENTRIES: usize = 500_000;
/// How many files are read between two reports of progress.
const STEP: usize = 512;
/// Deeper folders are a loop that escaped notice, or nobody's data.
const MAX_DEPTH: usize = 64;
/// Tells a module's name.
pub(super) const METADATA: &str = "metadata.json";

/// Whether a change of this file may change the layers.
pub fn shapes_layout(config: &WorkspaceConfig, path: &FilePath) -> bool {
    is_config(config, path) || matches!(path.name(), "environment.conf" | METADATA)
}

pub(super) fn is_config(config: &WorkspaceConfig, path: &FilePath) -> bool {
    path.name() == "hiera.yaml" || is_named(config, path) || config.global_hiera_config.as_ref() == Some(path)
}

/// Whether it is the file that the setting names: whole parts of the path, `my-hiera.yaml` is another.
pub(super) fn is_named(config: &WorkspaceConfig, path: &FilePath) -> bool {
    let named = FilePath::new(&config.hiera_config);
    let rest = path.as_str().strip_suffix(named.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Reads the folders: first the names and every `hiera.yaml`, then the data files that these can reach, and those that lie among them.
pub fn scan(request: &Request, fs: &dyn FileSystem, progress: &dyn Fn(Progress)) -> Scan {
    let limits = WalkLimits {
        skipped_folders: SKIPPED_FOLDERS.map(str::to_owned).to_vec(),
        trusted: request.folders.to_vec(),
        max_entries: MAX_ENTRIES,
        max_depth: MAX_DEPTH,
    };
    let mut scan = Scan::default();
    for folder in request.folders.iter() {
        walk(&mut scan, folder, fs, &limits);
    }
    let mut reading = Reading { request, fs, scan };
    let entries = &reading.scan.entries;
    let mut configs: Vec<FilePath> = entries.keys().filter(|path| shapes_layout(&request.config, path)).cloned().collect();
    configs.extend(governing_above(request, fs));
    configs.extend(request.config.global_hiera_config.clone());
    configs.iter().for_each(|path| reading.read(path));
    let snapshot = reading.known_layers().unwrap_or_else(|| {
        // A trial workspace of the configs alone tells what their levels can reach.
        let snapshot = reading.trial().snapshot();
        let outside = outside_folders(&snapshot, &reading.scan.entries);
        if outside.is_empty() {
            return snapshot;
        }
        outside.iter().for_each(|folder| walk(&mut reading.scan, folder, fs, &limits));
        reading.trial().snapshot()
    });
    let environments = &snapshot.layout().environments;
    let wanted: Vec<FilePath> = reading
        .scan
        .entries
        .iter()
        .filter(|(_, entry)| matches!(entry, Entry::File(_)))
        .map(|(path, _)| path)
        .filter(|path| environments.iter().any(|environment| environment.governs(path) || environment.lies_in_datadir(path)))
        .cloned()
        .collect();
    for (number, some) in wanted.chunks(STEP).enumerate() {
        progress(Progress { done: number * STEP, total: wanted.len() });
        let found = on_all_cores(some, |path| reading.look_at(path));
        some.iter().zip(found).for_each(|(path, found)| reading.keep(path, found));
    }
    reading.nodes(&snapshot, &limits);
    progress(Progress { done: wanted.len(), total: wanted.len() });
    reading.scan
}

fn walk(scan: &mut Scan, folder: &FilePath, fs: &dyn FileSystem, limits: &WalkLimits) {
    let found = fs.walk(folder, limits);
    scan.entries.extend(found.entries);
    scan.cut_short |= found.cut_short;
}

struct Reading<'a> {
    request: &'a Request,
    fs: &'a dyn FileSystem,
    scan: Scan,
}

impl Reading<'_> {
    fn read(&mut self, path: &FilePath) {
        let found = self.look_at(path);
        self.keep(path, found);
    }

    fn keep(&mut self, path: &FilePath, found: Option<(Found, Stamp)>) {
        let Some((found, stamp)) = found else { return };
        self.scan.files.insert(path.clone(), found);
        self.scan.entries.entry(path.clone()).or_insert(Entry::File(stamp));
    }

    /// Reads a file, unless the version that is known is still there; `None` for what is no file, and for one that was read already.
    fn look_at(&self, path: &FilePath) -> Option<(Found, Stamp)> {
        if self.scan.files.contains_key(path) {
            return None;
        }
        let entry = self.scan.entries.get(path).copied().or_else(|| self.fs.entry(path));
        let Some(Entry::File(stamp)) = entry else { return None };
        let max_size = self.request.config.max_file_size;
        let known = self.request.known.get(path).filter(|file| file.stamp == Some(stamp) && stamp.modified.is_some());
        // The limit may be another since; and what could not be read may be readable without having been changed.
        let is_read = |file: &&Arc<File>| match &file.content {
            Content::Unreadable(ReadError::TooLarge(size)) => *size > max_size,
            Content::Unreadable(_) => false,
            Content::Text(_) | Content::NotUtf8(_) => stamp.size <= max_size,
        };
        if let Some(file) = known.filter(is_read) {
            return Some((Found::Same(file.clone()), stamp));
        }
        let content = Content::new(self.fs.read(path, max_size));
        let is_as_before = |file: &&Arc<File>| match (&file.content, &content) {
            (Content::Unreadable(before), Content::Unreadable(now)) => before == now,
            _ => false,
        };
        let found = match known.filter(is_as_before) {
            Some(file) => Found::Same(file.clone()),
            None => Found::New(content, stamp),
        };
        Some((found, stamp))
    }

    /// The layers that were known, if they still are what the configs make of the files that there are.
    fn known_layers(&self) -> Option<Snapshot> {
        let known = self.request.known_layers.as_ref()?;
        let are_same = self.scan.files.values().all(|config| matches!(config, Found::Same(_)))
            && self.scan.has_names(&self.request.known_entries)
            && outside_folders(known, &self.scan.entries).is_empty();
        are_same.then(|| known.clone())
    }

    fn trial(&self) -> Workspace {
        let mut trial = Workspace::new((*self.request.config).clone(), self.request.folders.to_vec());
        let clone = |found: &Found| match found {
            Found::Same(file) => Found::New(file.content.clone(), file.stamp.expect("a file from disk has a stamp")),
            Found::New(content, stamp) => Found::New(content.clone(), *stamp),
        };
        let files = self.scan.files.iter().map(|(path, found)| (path.clone(), clone(found))).collect();
        trial.apply(super::Change::Scanned(Box::new(Scan { entries: self.scan.entries.clone(), files, ..Scan::default() })));
        trial
    }

    /// Reads the nodes of the workspace, and those of each environment that has settings of its own.
    fn nodes(&mut self, snapshot: &Snapshot, limits: &WalkLimits) {
        let (config, folders) = (self.request.config.clone(), self.request.folders.clone());
        self.nodes_of(None, &config.common, &folders, snapshot, limits);
        for (root, own) in &config.environments {
            let within: Vec<FilePath> = folders.iter().filter(|folder| root.is_within(folder)).cloned().collect();
            self.nodes_of(Some(root), own, &within, snapshot, limits);
        }
    }

    /// Reads the nodes that a config names, relative to these folders.
    fn nodes_of(
        &mut self,
        environment: Option<&FilePath>,
        config: &EnvironmentConfig,
        folders: &[FilePath],
        snapshot: &Snapshot,
        limits: &WalkLimits,
    ) {
        let mut seen = BTreeSet::new();
        let patterns = folders.iter().flat_map(|folder| config.nodes.sources.iter().map(|source| folder.join(source)));
        let paths = patterns.flat_map(|pattern| self.files_named(pattern.as_str(), snapshot, limits).to_vec());
        for path in paths.collect::<Vec<_>>() {
            if !seen.insert(path.clone()) {
                continue; // Globs may overlap, and so may folders.
            }
            let stamp = match self.fs.entry(&path) {
                Some(Entry::File(stamp)) => Some(stamp),
                _ => None,
            };
            let is_it = |known: &&NodeSource| {
                (&known.path, known.environment.as_ref(), known.stamp) == (&path, environment, stamp) && stamp.is_some()
            };
            let known = self.request.known_sources.iter().find(is_it).cloned();
            let source = known.unwrap_or_else(|| NodeSource {
                nodes: self.read_nodes(&path, environment, config),
                environment: environment.cloned(),
                path,
                stamp,
            });
            self.scan.sources.push(source);
        }
    }
}

impl Reading<'_> {
    /// The files that a pattern names: in the workspace, or where the user's own settings lead out of it.
    fn files_named(&self, pattern: &str, snapshot: &Snapshot, limits: &WalkLimits) -> Arc<[FilePath]> {
        let special = pattern.find(['*', '?', '[', '{', '\\']);
        let (start, rest) = match special.and_then(|at| pattern[..at].rfind('/')) {
            Some(slash) => pattern.split_at(slash),
            None => (pattern, ""),
        };
        let start = FilePath::new(if start.is_empty() { "/" } else { start });
        if self.request.folders.iter().any(|folder| start.is_within(folder)) {
            return snapshot.names.glob(pattern);
        }
        let max_depth = if rest.contains("**") { limits.max_depth } else { rest.matches('/').count() };
        Names::new(self.fs.walk(&start, &WalkLimits { max_depth, ..limits.clone() }).entries).glob(pattern)
    }

    fn read_nodes(
        &self,
        path: &FilePath,
        environment: Option<&FilePath>,
        config: &EnvironmentConfig,
    ) -> Result<Vec<Node>, String> {
        let text = match Content::new(self.fs.read(path, self.request.config.max_file_size)) {
            Content::Text(text) => text,
            Content::NotUtf8(_) => return Err("it is not UTF-8".into()),
            Content::Unreadable(error) => return Err(format!("it cannot be read: {error:?}")),
        };
        let found = nodes::read_nodes(path, &text.to_str(), &config.name, config.profile)?;
        let derived = |node: Node| {
            let mut scope = (*node.scope).clone();
            scope.derive(config.nodes.derive.clone());
            Node { scope: Arc::new(scope), environment: environment.cloned(), ..node }
        };
        Ok(found.into_iter().map(derived).collect())
    }
}

/// The `hiera.yaml` above each folder: an editor may be opened on a part of a control repo.
fn governing_above(request: &Request, fs: &dyn FileSystem) -> Vec<FilePath> {
    let mut found = Vec::new();
    for folder in request.folders.iter() {
        for ancestor in folder.ancestors() {
            for name in [request.config.hiera_config.as_str(), "environment.conf", "Puppetfile", METADATA] {
                let path = ancestor.join(name);
                if matches!(fs.entry(&path), Some(Entry::File(_))) {
                    found.push(path);
                }
            }
        }
    }
    found
}

/// Folders outside the workspace that a config names as datadirs: its own, and what lies beside it.
fn outside_folders(snapshot: &Snapshot, entries: &BTreeMap<FilePath, Entry>) -> BTreeSet<FilePath> {
    let mut folders = BTreeSet::new();
    for environment in &snapshot.layout().environments {
        for reach in &environment.reach {
            let prefix = reach.pattern.literal_prefix();
            let folder = FilePath::new(prefix.rsplit_once('/').map_or("", |(folder, _)| folder));
            let depth = folder.as_str().matches('/').count();
            // A pattern that starts with a token may name anything on the machine: that is not naming it.
            if depth >= 2 && !entries.contains_key(&folder) && !snapshot.folders().iter().any(|root| folder.is_within(root)) {
                folders.insert(folder);
            }
        }
        let root = &environment.root;
        if !snapshot.folders().iter().any(|folder| root.is_within(folder)) {
            // Opened below the environment's folder: its modules' configs are needed, too.
            folders.extend(MODULE_FOLDERS.iter().map(|name| root.join(name)));
        }
    }
    folders
}

/// The environment's folder for a path: the nearest folder upwards with a `hiera.yaml`, past a module's own.
///
/// A `hiera.yaml` is a module's where a folder further up has one, too, and looks like an environment's, or lies two folders above it.
pub fn environment_above(path: &FilePath, fs: &dyn FileSystem) -> Option<FilePath> {
    let has = |folder: &FilePath, name: &str| fs.entry(&folder.join(name)).is_some();
    let folders: Vec<FilePath> =
        std::iter::once(path.clone()).chain(path.ancestors()).filter(|folder| has(folder, "hiera.yaml")).collect();
    let nearest = folders.first()?;
    let module_folder = nearest.parent().and_then(|folder| folder.parent());
    let is_root = |root: &&FilePath| {
        module_folder.as_ref() == Some(*root) || ["environment.conf", "Puppetfile"].iter().any(|name| has(root, name))
    };
    Some(folders.iter().skip(1).find(is_root).unwrap_or(nearest).clone())
}
