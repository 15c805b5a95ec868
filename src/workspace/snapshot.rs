//! An immutable view of one revision of the workspace. Requests are answered from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::config::{EnvironmentConfig, WorkspaceConfig};
use super::environments::{Environment, Environments};
use super::files::file::File;
use super::files::kinds::{code_language, is_puppetfile};
use super::files::names::DiskNames;
use super::index::KeyIndex;
use super::lazy_index::LazyIndex;
use super::manifests::lazy::LazyManifests;
use super::nodes::node::Node;
use super::nodes::source::NodeSource;
use crate::disk::{Stamp, UnlistedReason};
use crate::eyaml::Keys;
use crate::text::{CancelToken, FileId, FilePath, PartId, Span, TextRange};

/// One revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The revision's number; a later revision's is greater.
    pub revision: u64,
    /// Whether the folders have been read: before that, other files may be missing from the
    /// snapshot.
    pub complete: bool,
    pub(super) config: Arc<WorkspaceConfig>,
    pub(super) folders: Arc<Vec<FilePath>>,
    pub(super) files: imbl::OrdMap<FilePath, Arc<File>>,
    pub(super) names: Arc<DiskNames>,
    /// The files and folders that the scan passed over, such as links out of the folders.
    pub(super) unlisted: Arc<BTreeMap<FilePath, UnlistedReason>>,
    pub(super) ids: Arc<Vec<FilePath>>,
    pub(super) environments: Arc<Environments>,
    pub(super) nodes: Arc<Vec<Arc<Node>>>,
    pub(super) source_errors: Arc<Vec<(FilePath, String)>>,
    pub(super) node_sources: Arc<Vec<NodeSource>>,
    pub(super) selected: Option<Arc<str>>,
    pub(super) open: imbl::OrdSet<FilePath>,
    pub(super) key_index: Arc<LazyIndex<KeyIndex>>,
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

    /// Returns the text of a file as one string; `None` for a file that is not there or is no text.
    pub fn file_text(&self, path: &FilePath) -> Option<String> {
        Some(self.file(path)?.text()?.to_str().into_owned())
    }

    /// Returns the file with this number.
    pub fn file_by_id(&self, id: FileId) -> Option<&Arc<File>> {
        self.file(self.path_of(id)?)
    }

    /// Returns the bytes of a place, counted from the start of its file. Empty at the start for a
    /// place in a part that is no more.
    pub fn span_bytes(&self, span: Span) -> TextRange {
        let moved = || self.file_by_id(span.file)?.part_bytes(span);
        if span.part == PartId::WHOLE { span.range } else { moved().unwrap_or_default() }
    }

    /// Returns the line on which the part of a file begins that a place is counted from; `None` where
    /// that is the whole file.
    pub fn part_line(&self, span: Span) -> Option<u32> {
        let file = self.file_by_id(span.file).filter(|_| span.part != PartId::WHOLE)?;
        let start = file.data_as(file.format()).parts().start(span.part)?;
        Some(file.text()?.line_of(start))
    }

    /// Whether two spans are the same bytes of a file. Two levels may read the file in different
    /// formats, and only the reading in the format of its name is in parts.
    pub fn is_same_place(&self, one: Span, other: Span) -> bool {
        one == other
            || one.file == other.file
                && one.part != other.part
                && self.span_bytes(one) == self.span_bytes(other)
    }

    /// Returns the path of the file with this number, whether it still exists or not.
    pub fn path_of(&self, id: FileId) -> Option<&FilePath> {
        self.ids.get(id.number() as usize)
    }

    /// Returns all files that the workspace reads, by path, without code.
    pub fn files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.files
            .values()
            .filter(move |file| !(code_language(&file.path).is_some() || is_puppetfile(&file.path)))
    }

    /// Returns all files that the workspace reads, by path, code among them.
    pub fn files_and_code(&self) -> impl Iterator<Item = &Arc<File>> {
        self.files.values()
    }

    /// Returns the files that Ruby's `Dir.glob` finds for an absolute pattern, in its order.
    pub fn glob_files(&self, pattern: &str) -> Arc<[FilePath]> {
        self.names.glob_files(pattern)
    }

    /// Whether there is a file with this path, on disk or in an editor.
    pub(crate) fn is_file(&self, path: &FilePath) -> bool {
        self.names.is_file(path)
    }

    /// Returns the paths of the files whose paths start with this text, in order.
    pub fn paths_starting_with(&self, prefix: &str) -> impl Iterator<Item = &FilePath> {
        let from = FilePath::new(prefix.rsplit_once('/').map_or("", |(folder, _)| folder));
        let paths = self.files.range(from..).map(|(path, _)| path);
        paths
            .skip_while(move |path| path.as_str() < prefix && !path.as_str().starts_with(prefix))
            .take_while(move |path| path.as_str().starts_with(prefix))
    }

    /// Whether all folders that levels may read could be listed.
    pub fn are_sources_listed(&self) -> bool {
        !self.unlisted.keys().any(|path| {
            self.environments.all.iter().any(|environment| {
                environment.reach.iter().any(|reach| {
                    let start = reach.pattern.literal_prefix();
                    path.as_str().starts_with(&start) || start.starts_with(path.as_str())
                })
            })
        })
    }

    /// Returns the files that are open in an editor.
    pub fn open_files(&self) -> impl Iterator<Item = &FilePath> {
        self.open.iter()
    }

    /// Returns the files that are open in only one of this and a later revision, and whether they
    /// are in the later one.
    pub fn open_files_changed(&self, later: &Snapshot) -> Vec<(FilePath, bool)> {
        self.open
            .diff(&later.open)
            .map(|change| match change {
                imbl::ordset::DiffItem::Add(path) => (FilePath::clone(path), true),
                imbl::ordset::DiffItem::Remove(path) => (FilePath::clone(path), false),
            })
            .collect()
    }

    /// Returns the files whose versions differ between this and a later revision, and those that
    /// only one of them has.
    pub fn files_changed(&self, later: &Snapshot) -> Vec<FilePath> {
        use imbl::ordmap::DiffItem;
        self.files
            .diff(&later.files)
            .map(|change| match change {
                DiffItem::Add(path, _)
                | DiffItem::Remove(path, _)
                | DiffItem::Update { new: (path, _), .. } => FilePath::clone(path),
            })
            .collect()
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

    /// Returns the settings that the snapshot was made with.
    pub fn config(&self) -> &WorkspaceConfig {
        &self.config
    }

    /// Returns the settings of an environment.
    pub fn config_of(&self, environment: &Environment) -> &EnvironmentConfig {
        self.config.environment_config(&environment.root)
    }

    /// Returns the nodes that the settings name sources for, of all environments.
    pub fn given_nodes(&self) -> &[Arc<Node>] {
        &self.nodes
    }

    /// Whether the file names nodes: the settings name it, or nodes were read from it.
    pub fn is_node_source(&self, path: &FilePath) -> bool {
        self.node_sources().iter().any(|source| source.path == *path)
    }

    /// Whether the nodes of this file were read from this version; `None` is the version of a missing
    /// file, which has no nodes.
    pub fn has_read_source(&self, path: &FilePath, version: Option<Stamp>) -> bool {
        let mut read = self.node_sources().iter().filter(|source| source.path == *path).peekable();
        read.peek().is_some() == version.is_some() && read.all(|source| source.stamp == version)
    }

    /// Returns the files that nodes come from.
    pub(super) fn node_sources(&self) -> &[NodeSource] {
        &self.node_sources
    }

    /// Returns the plugins of Bolt inventories whose values are unknown, with their files.
    pub fn unread_plugins(&self) -> impl Iterator<Item = (&FilePath, &str)> {
        self.node_sources.iter().flat_map(|source| {
            source.unread_plugins().iter().map(|plugin| (&source.path, plugin.as_str()))
        })
    }

    /// Returns the errors of the sources of nodes, with their files.
    pub fn source_errors(&self) -> &[(FilePath, String)] {
        &self.source_errors
    }

    /// Returns the certname of the node that was chosen, or that the settings choose, whether it is
    /// known or not.
    pub fn selected_node(&self) -> Option<&str> {
        self.selected.as_deref().or(self.config.common.nodes.default.as_deref())
    }

    /// Returns the names of the environment's own levels with a location that names no existing
    /// file. The data of that location is not in this workspace, so it may hold any key.
    pub fn levels_without_files<'a>(&self, environment: &'a Environment) -> &'a [String] {
        environment.cache.levels_without_files.get_or_init(|| {
            let paths: Vec<&FilePath> = self.files().map(|file| &file.path).collect();
            environment.find_levels_without(&paths)
        })
    }
}
