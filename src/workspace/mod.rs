//! The files of a workspace over time: their names, their contents, and the `hiera.yaml` that
//! governs each. The only layer with the notion of change.
//!
//! A change is applied to the [`Workspace`]; all other code reads a [`Snapshot`].

mod config;
pub mod environments;
pub mod files;
pub mod index;
mod lazy_index;
pub mod manifests;
pub mod nodes;
pub mod queries;
mod saved;
pub mod share;
pub mod snapshot;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{DiskEntry, OsFs, Stamp};
use crate::eyaml::Keys;
pub use config::{EnvironmentConfig, NodesConfig, WorkspaceConfig};
use environments::configs::shapes_environments;
use files::file::{Content, File};
use files::kinds::FileKind;
use files::names::DiskNames;
use files::scan::Scan;
use lazy_index::{Changed, LazyIndex};
use manifests::lazy::LazyManifests;
use nodes::source::NodeSource;
pub use queries::view::EnvironmentView;
pub use saved::SavedFiles;
pub use snapshot::Snapshot;

use crate::hiera::data::Edited;
use crate::text::CancelToken;
use crate::text::{FileId, FilePath, Text, TextRange};

/// The files of some folders, as they are on disk and in editors.
#[derive(Debug)]
pub struct Workspace {
    config: Arc<WorkspaceConfig>,
    folders: Arc<Vec<FilePath>>,
    numbers: foldhash::HashMap<FilePath, FileId>,
    ids: Arc<Vec<FilePath>>,
    disk: Arc<BTreeMap<FilePath, Arc<File>>>,
    overlay: BTreeMap<FilePath, Arc<File>>,
    disk_entries: Arc<BTreeMap<FilePath, DiskEntry>>,
    sources: Arc<Vec<NodeSource>>,
    /// Whether settings or folders changed since the folders were read.
    reconfigured: bool,
    selected: Option<Arc<str>>,
    current: Mutex<Current>,
    /// The number of the current revision, for threads that must not wait for the workspace.
    revision: Arc<AtomicU64>,
}

/// The latest snapshot, as far as it was needed so far.
#[derive(Debug)]
struct Current {
    snapshot: Snapshot,
    stale: Stale,
}

/// The part of the latest snapshot that is outdated. It is rebuilt once for all changes before the
/// next request, as thousands of files may be opened one after another. Each variant includes those
/// before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stale {
    /// Nothing.
    Nothing,
    /// The environments: a file that shapes them has another text.
    Environments,
    /// The names, as files came or went.
    Names,
    /// The files, as the folders were read or settings changed.
    Files,
}

/// Something that happens to a workspace.
#[derive(Debug)]
pub enum Change {
    /// An editor opens a file with this text.
    Open(FilePath, String),
    /// An editor changes an open file: each edit refers to the text after the ones before it.
    Edit(FilePath, Vec<(TextRange, String)>),
    /// An editor replaces the whole text of an open file.
    Replace(FilePath, String),
    /// An editor closes a file: the version on disk is used again.
    Close(FilePath),
    /// The folders were read.
    Scanned(Box<Scan>),
    /// A node is chosen, or none any more.
    SelectNode(Option<String>),
    /// Other settings.
    Configure(Arc<WorkspaceConfig>),
    /// Other folders.
    Folders(Vec<FilePath>),
}

impl Workspace {
    /// Creates a workspace of these folders, which are not read yet.
    pub fn new(config: WorkspaceConfig, folders: Vec<FilePath>) -> Workspace {
        let config = Arc::new(config);
        let folders = Arc::new(without_repeats(folders));
        let snapshot = Snapshot {
            revision: 0,
            complete: false,
            config: config.clone(),
            folders: folders.clone(),
            files: imbl::OrdMap::new(),
            names: Arc::default(),
            unlisted: Arc::default(),
            ids: Arc::default(),
            environments: Arc::default(),
            nodes: Arc::default(),
            source_errors: Arc::default(),
            node_sources: Arc::default(),
            selected: None,
            open: imbl::OrdSet::new(),
            key_index: Arc::default(),
            manifests: Arc::default(),
            eyaml: eyaml_keys(&config, &folders),
            cancel: CancelToken::default(),
        };
        Workspace {
            config,
            folders,
            numbers: foldhash::HashMap::default(),
            ids: Arc::default(),
            disk: Arc::default(),
            overlay: BTreeMap::new(),
            disk_entries: Arc::default(),
            sources: Arc::default(),
            reconfigured: false,
            selected: None,
            current: Mutex::new(Current { snapshot, stale: Stale::Nothing }),
            revision: Arc::default(),
        }
    }

    /// Returns the current revision. O(1), unless files were added or removed, settings changed, or
    /// a file that shapes the environments changed since the last call: then the environments are
    /// discovered again.
    pub fn snapshot(&self) -> Snapshot {
        let mut current = self.current_state();
        self.bring_up(&mut current);
        current.snapshot.clone()
    }

    /// Returns the revision that the workspace is at.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::SeqCst)
    }

    /// Returns a token that is cancelled when the workspace is at another revision than now. Asking
    /// the token waits for no lock.
    pub fn until_next_revision(&self) -> CancelToken {
        let (revision, now) = (self.revision.clone(), self.revision());
        CancelToken::new(move || revision.load(Ordering::SeqCst) != now)
    }

    /// Returns the workspace's folders, each once.
    pub fn folders(&self) -> &[FilePath] {
        &self.folders
    }

    fn current_state(&self) -> MutexGuard<'_, Current> {
        // Rebuilt parts are marked as fresh last, so that they are rebuilt after a panic.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the text of an open file.
    pub fn open_text(&self, path: &FilePath) -> Option<&Text> {
        self.overlay.get(path)?.text()
    }

    /// Returns the input of a scan: settings, folders and the versions that need not be read again.
    pub fn scan_request(&self) -> files::scan::Request {
        let snapshot = self.snapshot();
        // Files that only an editor has, and texts that it holds, shape the environments, too.
        let is_as_on_disk = snapshot.complete
            && !self.reconfigured
            && snapshot.names.entries.len() == self.disk_entries.len()
            && !self.overlay.values().any(|file| shapes_environments(file, &self.config));
        files::scan::Request {
            config: self.config.clone(),
            folders: self.folders.clone(),
            known: self.disk.clone(),
            known_sources: self.sources.clone(),
            named_sources: None,
            known_entries: self.disk_entries.clone(),
            known_environments: is_as_on_disk
                .then(|| (snapshot.names.clone(), snapshot.environments.clone())),
        }
    }

    /// Applies a change and makes a new revision. Nothing is parsed.
    pub fn apply(&mut self, change: Change) {
        let touched = match change {
            Change::Open(path, text) | Change::Replace(path, text) => {
                Some(vec![self.put_file(path, &text)])
            }
            Change::Edit(path, edits) => {
                let Some(mut file) = self.overlay.get(&path).cloned() else { return };
                for (range, insert) in &edits {
                    let Some(text) = file.text() else { return };
                    let range = text.clamp_range(*range);
                    let edited = text.replace_range(range, insert);
                    file = Arc::new(
                        file.edit_version(Edited::new(range, insert.len() as u32), edited),
                    );
                }
                self.overlay.insert(path.clone(), file);
                Some(vec![path])
            }
            Change::Close(path) => {
                self.overlay.remove(&path);
                Some(vec![path])
            }
            Change::Scanned(scan) => {
                if self.current_state().snapshot.complete
                    && !scan.is_news(&self.scan_request(), &self.disk_entries)
                    && !self.reconfigured
                {
                    return; // The disk has not changed.
                }
                self.apply_scan(*scan)
            }
            Change::SelectNode(name) => {
                self.selected = name.map(Into::into);
                Some(Vec::new())
            }
            Change::Configure(config) => {
                self.config = config;
                // The new config may have other rules for nodes.
                self.sources = Arc::default();
                self.reconfigured = true;
                None
            }
            Change::Folders(folders) => {
                self.folders = Arc::new(without_repeats(folders));
                self.reconfigured = true;
                None
            }
        };
        self.renew_revision(touched.as_deref());
    }

    fn put_file(&mut self, path: FilePath, text: &str) -> FilePath {
        let id = self.file_number(&path);
        let file = self.held_file(id, &path, text);
        self.overlay.insert(path.clone(), Arc::new(file));
        path
    }

    /// Creates a file as an editor holds it. Files that shape the environments are small, and
    /// parsed as a whole.
    fn held_file(&self, id: FileId, path: &FilePath, text: &str) -> File {
        if FileKind::of_path(path, &self.config).shapes_environments() {
            return File::new(id, path.clone(), Content::Text(Text::new(text)), None);
        }
        match self.overlay.get(path).or_else(|| self.disk.get(path)) {
            Some(before) => before.changed_to(text),
            None => File::open_version(id, path.clone(), Text::new(text)),
        }
    }

    fn file_number(&mut self, path: &FilePath) -> FileId {
        if let Some(id) = self.numbers.get(path) {
            return *id;
        }
        let id = FileId::new(
            u32::try_from(self.ids.len()).expect("fewer than four thousand million files"),
        );
        self.numbers.insert(path.clone(), id);
        Arc::make_mut(&mut self.ids).push(path.clone());
        id
    }

    /// Takes the result of a scan; returns the files that changed, or `None` where more than these
    /// may have.
    fn apply_scan(&mut self, scan: Scan) -> Option<Vec<FilePath>> {
        let is_same_world = self.current_state().snapshot.complete
            && !self.reconfigured
            && scan.has_sources(&self.sources)
            && scan.has_names(&self.disk_entries);
        self.reconfigured = false;
        let unlisted = scan.unlisted.into_iter().map(|one| (one.path, one.reason)).collect();
        self.current_state().snapshot.unlisted = Arc::new(unlisted);
        self.disk_entries = Arc::new(scan.entries);
        let mut disk = BTreeMap::new();
        let mut changed = Vec::new();
        for (path, found) in scan.files {
            let file = match found {
                files::scan::FileContent::Same(file) => file,
                files::scan::FileContent::New(file) => {
                    changed.push(path.clone());
                    Arc::new(file.with_id(self.file_number(&path)))
                }
            };
            disk.insert(path, file);
        }
        let before = std::mem::replace(&mut self.disk, Arc::new(disk));
        // The keys for encrypted values are files, too.
        self.current_state().snapshot.eyaml = eyaml_keys(&self.config, &self.folders);
        if is_same_world {
            changed.extend(before.keys().filter(|path| !self.disk.contains_key(*path)).cloned());
            return Some(changed);
        }
        let (nodes, errors) = nodes::given::nodes_of(&scan.sources, &self.config, &self.folders);
        self.sources = Arc::new(scan.sources);
        let snapshot = &mut self.current_state().snapshot;
        snapshot.nodes = Arc::new(nodes);
        snapshot.source_errors = Arc::new(errors);
        snapshot.node_sources = self.sources.clone();
        snapshot.complete = true;
        None
    }

    /// Makes a new revision of the current state. `touched` are the files that changed, or `None`
    /// for anything else.
    ///
    /// Where neither the files that there are nor a `hiera.yaml` changed, all but these files is
    /// the snapshot's before it.
    fn renew_revision(&mut self, touched: Option<&[FilePath]>) {
        let Current { snapshot, stale } = &mut *self.current_state();
        snapshot.revision += 1;
        self.revision.store(snapshot.revision, Ordering::SeqCst);
        let Some(touched) = touched.filter(|_| *stale != Stale::Files) else {
            *stale = Stale::Files;
            return;
        };
        snapshot.selected = self.selected.clone();
        let mut read = Vec::new();
        for path in touched {
            let now = self.overlay.get(path).or_else(|| self.disk.get(path));
            let before = match now {
                Some(file) => snapshot.files.insert(path.clone(), file.clone()),
                None => snapshot.files.remove(path),
            };
            if self.overlay.contains_key(path) {
                drop(snapshot.open.insert(path.clone()));
            } else {
                drop(snapshot.open.remove(path));
            }
            if before.is_some() != now.is_some() {
                *stale = Stale::Names.max(*stale);
            }
            if now.is_some_and(|file| shapes_environments(file, &self.config))
                || before.as_ref().is_some_and(|file| shapes_environments(file, &self.config))
            {
                *stale = Stale::Environments.max(*stale);
            }
            // An editor opens most files as they are on disk.
            if !before.zip(now).is_some_and(|(before, now)| before.is_read_as(now)) {
                read.push(path.clone());
            }
        }
        if *stale == Stale::Nothing && !read.is_empty() {
            snapshot.manifests = LazyManifests::changed_after(&snapshot.manifests, &read);
            snapshot.key_index = LazyIndex::changed_after(
                &snapshot.key_index,
                Changed::Files(read.into_iter().collect()),
            );
        }
    }

    /// Rebuilds the stale parts of the latest snapshot.
    fn bring_up(&self, Current { snapshot, stale }: &mut Current) {
        if *stale == Stale::Files {
            snapshot.config = self.config.clone();
            snapshot.folders = self.folders.clone();
            snapshot.selected = self.selected.clone();
            let files = self.disk.iter().chain(&self.overlay);
            snapshot.files = files.map(|(path, file)| (path.clone(), file.clone())).collect();
            snapshot.open = self.overlay.keys().cloned().collect();
        }
        if *stale >= Stale::Names {
            snapshot.ids = self.ids.clone();
            snapshot.names = Arc::new(self.known_names());
        }
        if *stale >= Stale::Environments {
            self.lay_out(snapshot);
        }
        *stale = Stale::Nothing;
    }

    /// Returns the files and folders on disk, and those that only an editor has: they are included
    /// as if they were saved, with the folders that they would be in.
    fn known_names(&self) -> DiskNames {
        let mut entries = (*self.disk_entries).clone();
        for path in self.overlay.keys().filter(|path| !self.disk_entries.contains_key(path)) {
            entries.insert(path.clone(), DiskEntry::File(Stamp::default()));
            for folder in path
                .ancestors()
                .take_while(|folder| self.folders.iter().any(|root| folder.is_within(root)))
            {
                entries.entry(folder).or_insert(DiskEntry::Folder { linked: false });
            }
        }
        DiskNames::new(entries)
    }

    /// Discovers the environments, and renews the indexes and keys that depend on them.
    fn lay_out(&self, snapshot: &mut Snapshot) {
        // The config may name other keys for encrypted values now. Keys that it no longer names
        // must not stay in memory.
        snapshot.eyaml = eyaml_keys(&self.config, &self.folders);
        snapshot.lay_out();
    }
}

/// Returns the keys for encrypted values, if the user wants them used. They are read from the disk
/// when the first value is decrypted.
fn eyaml_keys(config: &WorkspaceConfig, folders: &Arc<Vec<FilePath>>) -> Option<Arc<Keys>> {
    Keys::new(&config.eyaml, folders, Arc::new(OsFs)).map(Arc::new)
}

/// Returns the same folders, each once: clients list a folder twice, and its files would be there
/// twice, too.
fn without_repeats(mut folders: Vec<FilePath>) -> Vec<FilePath> {
    let mut seen = HashSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

#[cfg(test)]
mod tests;
