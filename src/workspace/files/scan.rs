//! Reads folders: the names of all files, and the contents of those that the environments can use.
//! A scan runs beside the workspace; its result is a change that the workspace applies.

mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use tracing::{debug, info, trace, warn};

use super::file::{Content, File};
use super::kinds::{
    ENVIRONMENT_CONF, FileKind, METADATA, MODULE_FOLDERS, PUPPETFILE, SETTINGS_FILE, may_be_config,
};
use super::names::DiskNames;
use super::parallel::on_all_cores;
use crate::disk::{DiskEntry, FileSystem, ReadError, Stamp, Unlisted, WalkLimits};
use crate::text::{FileId, FilePath};
use crate::workspace::config::{HIERA_CONFIG, WorkspaceConfig};
use crate::workspace::environments::Environments;
use crate::workspace::environments::configs::{Configs, shapes_environments};
use crate::workspace::environments::discover::discover;
use crate::workspace::manifests;
use crate::workspace::nodes::source::NodeSource;

/// The input of a scan.
#[derive(Debug)]
pub struct Request {
    /// The settings.
    pub config: Arc<WorkspaceConfig>,
    /// The folders.
    pub folders: Arc<Vec<FilePath>>,
    /// Files that were read before; those that are still the same are not read again.
    pub known: Arc<BTreeMap<FilePath, Arc<File>>>,
    /// Files of nodes that were read before; unchanged ones are not read again.
    pub known_sources: Arc<Vec<NodeSource>>,
    /// The files of nodes that settings name, of another reading: they take the place of those in the
    /// folders. `None` where the latter are read.
    pub named_sources: Option<Arc<Vec<NodeSource>>>,
    /// Everything that existed when the files in `known` were read.
    pub known_entries: Arc<BTreeMap<FilePath, DiskEntry>>,
    /// The names and environments of the reading of the files in `known`; `None` where settings or
    /// an editor's texts make others.
    pub known_environments: Option<(Arc<DiskNames>, Arc<Environments>)>,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub struct Scan {
    /// Everything that exists.
    pub entries: BTreeMap<FilePath, DiskEntry>,
    /// The files that the environments can use.
    pub files: BTreeMap<FilePath, FileContent>,
    /// The files that nodes come from.
    pub sources: Vec<NodeSource>,
    /// Whether there was more in the folders than is listed.
    pub cut_short: bool,
    /// Entries that were passed over in folders that environments read, with the reasons.
    pub unlisted: Vec<Unlisted>,
}

impl Scan {
    /// Whether anything is not as `request` knew it.
    pub fn is_news(&self, request: &Request, entries: &BTreeMap<FilePath, DiskEntry>) -> bool {
        !self.has_sources(&request.known_sources)
            || self.files.len() != request.known.len()
            || self.files.values().any(|found| matches!(found, FileContent::New(..)))
            || self.entries != *entries
    }

    /// Whether nodes come from these versions of these files.
    pub(in crate::workspace) fn has_sources(&self, known: &[NodeSource]) -> bool {
        source_stamps(&self.sources) == source_stamps(known)
    }

    /// Takes the known versions of files whose texts are the same.
    pub(in crate::workspace) fn share_equal_texts(
        &mut self,
        known: &BTreeMap<FilePath, Arc<File>>,
    ) {
        for (path, found) in &mut self.files {
            let FileContent::New(file) = found else { continue };
            let known =
                known.get(path).filter(|it| it.text().is_some() && it.text() == file.text());
            if let Some(known) = known {
                *found = FileContent::Same(known.clone());
            }
        }
    }

    /// Whether the same files and folders are there, regardless of their versions.
    pub(in crate::workspace) fn has_names(&self, known: &BTreeMap<FilePath, DiskEntry>) -> bool {
        self.entries.len() == known.len()
            && self
                .entries
                .iter()
                .zip(known)
                .all(|(new, old)| new.0 == old.0 && is_alike(new.1, old.1))
    }
}

fn is_alike(new: &DiskEntry, old: &DiskEntry) -> bool {
    matches!((new, old), (DiskEntry::File(_), DiskEntry::File(_))) || new == old
}

fn source_stamps(sources: &[NodeSource]) -> Vec<(FilePath, Option<FilePath>, Option<Stamp>)> {
    sources
        .iter()
        .map(|source| (source.path.clone(), source.environment.clone(), source.stamp))
        .collect::<Vec<_>>()
}

/// The content of a file that was read.
#[derive(Debug)]
pub enum FileContent {
    /// The file is the version that was known.
    Same(Arc<File>),
    /// The file was read. A workspace numbers the file when it applies the scan.
    New(Arc<File>),
}

impl FileContent {
    /// Returns the version.
    pub(in crate::workspace) fn file(&self) -> &Arc<File> {
        match self {
            FileContent::Same(file) | FileContent::New(file) => file,
        }
    }
}

/// The number of each file that a scan reads, until a workspace numbers the file. No place in such a
/// file is reported.
const UNNUMBERED: FileId = FileId::new(0);

/// The progress of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files read.
    pub done: usize,
    /// Files to read.
    pub total: usize,
}

/// Folders that hold no data and many files.
pub(in crate::workspace) const SKIPPED_FOLDERS: [&str; 6] =
    [".git", ".hg", ".svn", "node_modules", ".bundle", ".terraform"];
const MAX_ENTRIES: usize = 500_000;
/// The number of files between two reports of progress.
const STEP: usize = 512;
/// Deeper folders are taken for a cycle of links.
const MAX_DEPTH: usize = 64;

/// Whether a folder holds more than so many of the files and folders that a scan lists.
pub fn holds_more_than(most: usize, folder: &FilePath, fs: &dyn FileSystem) -> bool {
    fs.walk(folder, &WalkLimits { max_entries: most, ..walk_limits(Vec::new()) }).cut_short
}

/// Returns the limits of a scan's walk, which follows links into these folders.
pub fn walk_limits(trusted: Vec<FilePath>) -> WalkLimits {
    WalkLimits {
        skipped_folders: SKIPPED_FOLDERS.map(str::to_owned).to_vec(),
        trusted,
        max_entries: MAX_ENTRIES,
        max_depth: MAX_DEPTH,
    }
}

/// Reads the folders: first the names and the files that shape the environments, then the data
/// files that their levels can reach, and those that lie among them.
pub fn scan(request: &Request, fs: &dyn FileSystem, progress: &dyn Fn(Progress)) -> Scan {
    scan_at_most(MAX_ENTRIES, request, fs, progress)
}

/// Reads the folders as [`scan`] does, and lists so many files and folders of each at most.
pub(crate) fn scan_at_most(
    max_entries: usize,
    request: &Request,
    fs: &dyn FileSystem,
    progress: &dyn Fn(Progress),
) -> Scan {
    let start = Instant::now();
    let trusted = request.folders.iter().filter_map(|folder| fs.real_path(folder)).collect();
    let limits = WalkLimits { max_entries, ..walk_limits(trusted) };
    let mut reading =
        FolderScan { request, fs, limits, scan: Scan::default(), named: BTreeSet::new() };
    request.folders.iter().for_each(|folder| reading.walk(folder));
    reading.read_configs();
    let (mut names, mut environments) =
        reading.known_environments().unwrap_or_else(|| reading.discover_environments());
    while reading.read_data(&environments, progress) {
        (names, environments) = reading.discover_environments();
    }
    reading.read_code(&environments, &names);
    reading.read_nodes(&names);
    reading.read_unnamed_nodes(&environments);
    reading.log(&environments, start);
    reading.scan
}

/// A scan under way.
struct FolderScan<'a> {
    request: &'a Request,
    fs: &'a dyn FileSystem,
    limits: WalkLimits,
    scan: Scan,
    /// The files in the folders that settings name as files of nodes.
    named: BTreeSet<FilePath>,
}

impl FolderScan<'_> {
    fn log(&self, environments: &Environments, start: Instant) {
        for (path, found) in &self.scan.files {
            let FileContent::New(file) = found else { continue };
            match &file.content {
                Content::Text(text) => trace!(%path, bytes = text.len(), "file read"),
                Content::NotUtf8(_) => warn!(%path, "file is not UTF-8"),
                Content::Unreadable(_) => warn!(%path, "file cannot be read"),
            }
        }
        for environment in &environments.all {
            let (modules, locations) = (environment.modules.len(), environment.reach.len());
            debug!(root = %environment.root, name = %environment.name, modules, locations, "environment");
        }
        let read =
            self.scan.files.values().filter(|found| matches!(found, FileContent::New(..))).count();
        info!(
            names = self.scan.entries.len(),
            files = self.scan.files.len(),
            read,
            environments = environments.all.len(),
            sources = self.scan.sources.len(),
            cut_short = self.scan.cut_short,
            us = start.elapsed().as_micros(),
            "folders read"
        );
    }

    fn walk(&mut self, folder: &FilePath) {
        let found = self.fs.walk(folder, &self.limits);
        self.scan.entries.extend(found.entries);
        self.scan.cut_short |= found.cut_short;
        self.scan.unlisted.extend(found.unlisted);
    }

    /// Reads the files that shape the environments.
    fn read_configs(&mut self) {
        let config = &self.request.config;
        let mut paths: Vec<FilePath> = self
            .scan
            .entries
            .iter()
            .filter(|(path, entry)| match entry {
                DiskEntry::File(stamp) => {
                    FileKind::of_path(path, config).shapes_environments()
                        || may_be_config(path, stamp.size)
                        || path.name() == SETTINGS_FILE
                }
                DiskEntry::Folder { .. } => false,
            })
            .map(|(path, _)| path.clone())
            .collect();
        paths.extend(configs_above(self.request, self.fs));
        paths.extend(config.global_hiera_config.clone());
        let found = on_all_cores(&paths, |path| self.look_at(path));
        paths.iter().zip(found).for_each(|(path, found)| self.keep_file(path, found));
    }

    /// Returns the environments that were known, if the same names and configs are still there.
    fn known_environments(&self) -> Option<(Arc<DiskNames>, Arc<Environments>)> {
        let (names, environments) = self.request.known_environments.as_ref()?;
        let are_same = self.scan.files.iter().all(|(path, found)| !self.shapes_anew(path, found))
            && self.scan.has_names(&self.request.known_entries)
            && self.outside_folders(environments).is_empty();
        are_same.then(|| (names.clone(), environments.clone()))
    }

    /// Discovers the environments that the names and configs make, with the folders outside the
    /// workspace that they name.
    fn discover_environments(&mut self) -> (Arc<DiskNames>, Arc<Environments>) {
        let configs = self.collect_configs();
        let names = Arc::new(DiskNames::new(self.scan.entries.clone()));
        let (config, folders) = (&*self.request.config, &self.request.folders[..]);
        let fs = self.fs;
        let environments = discover(&names, &configs, config, folders, &|folder: &FilePath| {
            fs.entry(folder).is_some()
        });
        let outside = self.outside_folders(&environments);
        if outside.is_empty() {
            return (names, Arc::new(environments));
        }
        outside.iter().for_each(|folder| self.walk(folder));
        let names = Arc::new(DiskNames::new(self.scan.entries.clone()));
        let environments =
            Arc::new(discover(&names, &configs, config, folders, &|folder: &FilePath| {
                fs.entry(folder).is_some()
            }));
        (names, environments)
    }

    /// Whether a file was read whose new or known content shapes the environments.
    fn shapes_anew(&self, path: &FilePath, found: &FileContent) -> bool {
        let FileContent::New(file) = found else { return false };
        let config = &self.request.config;
        let known = self.request.known.get(path);
        known.is_some_and(|known| shapes_environments(known, config))
            || shapes_environments(file, config)
    }

    /// Returns the files that shape the environments; all of them have been read.
    fn collect_configs(&self) -> Configs {
        Configs::select_configs(
            self.scan.files.values().map(|found| found.file().clone()),
            &self.request.config,
        )
    }

    /// Reads the files that the environments' levels can reach, and those that lie among them.
    /// Returns whether a config is among them, so that there may be other environments.
    fn read_data(&mut self, environments: &Environments, progress: &dyn Fn(Progress)) -> bool {
        let files = self.scan.entries.iter().filter(|(_, it)| matches!(it, DiskEntry::File(_)));
        let paths: Vec<FilePath> = files
            .map(|(path, _)| path)
            .filter(|path| {
                let mut all = environments.all.iter();
                all.any(|environment| {
                    environment.governs_file(path) || environment.lies_in_datadir(path)
                })
            })
            .cloned()
            .collect();
        let mut has_configs = false;
        for (number, some) in paths.chunks(STEP).enumerate() {
            progress(Progress { done: number * STEP, total: paths.len() });
            let found = on_all_cores(some, |path| self.look_at(path));
            for (path, found) in some.iter().zip(found) {
                has_configs |= found.as_ref().is_some_and(|(found, _)| match found {
                    FileContent::Same(file) => shapes_environments(file, &self.request.config),
                    FileContent::New(..) => self.shapes_anew(path, found),
                });
                self.keep_file(path, found);
            }
        }
        progress(Progress { done: paths.len(), total: paths.len() });
        has_configs
    }

    /// Reads the manifests, templates and Ruby code of the environments.
    fn read_code(&mut self, environments: &Environments, names: &DiskNames) {
        let modules = manifests::find_modules(environments, names);
        let mut paths = BTreeSet::new();
        for (environment, modules) in environments.all.iter().zip(&modules) {
            let files = manifests::code_files(environment, modules, names);
            paths.extend(files.into_iter().map(|(path, _)| path));
        }
        let paths: Vec<FilePath> = paths.into_iter().collect();
        let found = on_all_cores(&paths, |path| self.look_at(path));
        paths.iter().zip(found).for_each(|(path, found)| self.keep_file(path, found));
    }

    fn keep_file(&mut self, path: &FilePath, found: Option<(FileContent, Stamp)>) {
        let Some((found, stamp)) = found else { return };
        self.scan.files.insert(path.clone(), found);
        self.scan.entries.entry(path.clone()).or_insert(DiskEntry::File(stamp));
    }

    /// Reads a file, unless the version that is known is still there. `None` where there is no file,
    /// and for a file that was read already.
    fn look_at(&self, path: &FilePath) -> Option<(FileContent, Stamp)> {
        if self.scan.files.contains_key(path) {
            return None;
        }
        let entry = self.scan.entries.get(path).copied().or_else(|| self.fs.entry(path));
        let Some(DiskEntry::File(stamp)) = entry else { return None };
        let max_size = self.request.config.max_file_size;
        let known = self
            .request
            .known
            .get(path)
            .filter(|file| file.stamp == Some(stamp) && stamp.modified.is_some());
        // The limit may have changed, and a file that could not be read may have become readable
        // with the same stamp.
        let is_read = |file: &&Arc<File>| match &file.content {
            Content::Unreadable(ReadError::TooLarge(size)) => *size > max_size,
            Content::Unreadable(_) => false,
            Content::Text(_) | Content::NotUtf8(_) => stamp.size <= max_size,
        };
        if let Some(file) = known.filter(is_read) {
            return Some((FileContent::Same(file.clone()), stamp));
        }
        let content = Content::new(self.fs.read(path, max_size));
        let found = match known.filter(|file| is_as_before(file, &content)) {
            Some(file) => FileContent::Same(file.clone()),
            None => FileContent::New(Arc::new(File::new(
                UNNUMBERED,
                path.clone(),
                content,
                Some(stamp),
            ))),
        };
        Some((found, stamp))
    }

    /// Folders outside the workspace that configs name as datadirs, or that hold modules of an
    /// environment above the opened folder, as far as they have not been walked.
    fn outside_folders(&self, environments: &Environments) -> BTreeSet<FilePath> {
        let opened = &self.request.folders;
        let mut folders = BTreeSet::new();
        for environment in &environments.all {
            for reach in &environment.reach {
                let prefix = reach.pattern.literal_prefix();
                let folder = FilePath::new(prefix.rsplit_once('/').map_or("", |it| it.0));
                // A pattern that starts with a token may name anything on the machine.
                let is_specific = folder.as_str().matches('/').count() >= 2;
                let is_walked = self.scan.entries.contains_key(&folder)
                    || opened.iter().any(|root| folder.is_within(root));
                if is_specific && !is_walked {
                    folders.insert(folder);
                }
            }
            let root = &environment.root;
            if !opened.iter().any(|folder| root.is_within(folder)) {
                folders.extend(MODULE_FOLDERS.iter().map(|name| root.join(name)));
            }
        }
        folders
    }
}

fn is_as_before(file: &Arc<File>, content: &Content) -> bool {
    match (&file.content, &content) {
        (Content::Unreadable(before), Content::Unreadable(now)) => before == now,
        _ => false,
    }
}

/// Returns the files above each folder that shape its environment: a command may be run on a part of
/// a control repository. Files above the environment's folder are not read, as they belong to
/// another repository, or to none.
fn configs_above(request: &Request, fs: &dyn FileSystem) -> Vec<FilePath> {
    let names = [request.config.hiera_config.as_str(), ENVIRONMENT_CONF, PUPPETFILE, METADATA];
    let folders = request.folders.iter();
    let above = folders.filter_map(|folder| Some((folder, environment_above(folder, fs)?)));
    let above: BTreeSet<FilePath> = above
        .flat_map(|(folder, root)| folder.ancestors().take_while(move |it| it.is_within(&root)))
        .collect();
    above
        .iter()
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .filter(|path| matches!(fs.entry(path), Some(DiskEntry::File(_))))
        .collect()
}

/// Returns the environment's folder for a path: the nearest folder upwards with a `hiera.yaml`,
/// past a module's own, or else with another file that marks a control repository. `None` where
/// there is no such folder.
///
/// A `hiera.yaml` is a module's where a folder further up has one, too, and looks like an
/// environment's, or lies two folders above it.
pub fn environment_above(path: &FilePath, fs: &dyn FileSystem) -> Option<FilePath> {
    let above: Vec<FilePath> = std::iter::once(path.clone()).chain(path.ancestors()).collect();
    let folders: Vec<&FilePath> =
        above.iter().filter(|folder| has_entry(folder, HIERA_CONFIG, fs)).collect();
    let Some(nearest) = folders.first() else {
        let names = [SETTINGS_FILE, ENVIRONMENT_CONF, PUPPETFILE];
        return above
            .iter()
            .find(|folder| names.iter().any(|name| has_entry(folder, name, fs)))
            .cloned();
    };
    let module_folder = nearest.parent().and_then(|folder| folder.parent());
    Some(
        (*folders
            .iter()
            .skip(1)
            .find(|root| {
                module_folder.as_ref() == Some(**root)
                    || [ENVIRONMENT_CONF, PUPPETFILE].iter().any(|name| has_entry(root, name, fs))
            })
            .unwrap_or(nearest))
        .clone(),
    )
}

fn has_entry(folder: &FilePath, name: &str, fs: &dyn FileSystem) -> bool {
    fs.entry(&folder.join(name)).is_some()
}
