//! The names of all files and folders that exist.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::disk::DiskEntry;
use crate::hiera::pattern::Pattern;
use crate::puppet::ruby::glob::{EntryKind, Listing, glob_files, glob_folders};
use crate::text::FilePath;
use crate::text::Memo;

/// The most globs to keep: with variables in them there may be any number.
const GLOBS: usize = 4096;

/// The names of files and folders on disk, and of files that only an editor has.
#[derive(Debug)]
pub struct DiskNames {
    /// All entries, by path: those on disk, and every file of the snapshot.
    pub entries: foldhash::HashMap<FilePath, DiskEntry>,
    /// The names directly in each folder, sorted by bytes.
    pub children: HashMap<FilePath, Vec<(String, EntryKind)>>,
    /// The files that globs name.
    globs: Memo<String, Arc<[FilePath]>>,
}

impl DiskNames {
    /// Creates the names of these entries.
    pub fn new(entries: BTreeMap<FilePath, DiskEntry>) -> DiskNames {
        let mut children: HashMap<FilePath, Vec<(String, EntryKind)>> = HashMap::new();
        for (path, entry) in &entries {
            let Some(folder) = path.parent() else { continue };
            let kind = match entry {
                DiskEntry::File(_) => EntryKind::File,
                DiskEntry::Folder { linked: false } => EntryKind::Folder,
                DiskEntry::Folder { linked: true } => EntryKind::LinkedFolder,
            };
            children.entry(folder).or_default().push((path.name().to_owned(), kind));
        }
        children.values_mut().for_each(|names| names.sort_by(|a, b| a.0.cmp(&b.0)));
        DiskNames { entries: entries.into_iter().collect(), children, globs: Memo::new(GLOBS) }
    }

    /// Whether there is a file or a folder at `path`.
    pub fn exists(&self, path: &FilePath) -> bool {
        self.entries.contains_key(path)
    }

    /// Whether there is a file at `path`.
    pub fn is_file(&self, path: &FilePath) -> bool {
        matches!(self.entries.get(path), Some(DiskEntry::File(_)))
    }

    /// Returns the files that a location's pattern names for variables as they mostly are, in no
    /// certain order. Looks only below the folder that the pattern starts with.
    pub fn matching_files<'a>(
        &'a self,
        pattern: &'a Pattern,
    ) -> Box<dyn Iterator<Item = FilePath> + 'a> {
        let prefix = pattern.literal_prefix();
        if prefix.len() == pattern.literal_len() {
            let path = FilePath::new(&prefix);
            return Box::new(self.is_file(&path).then_some(path).into_iter());
        }
        let folder = FilePath::new(prefix.rsplit_once('/').map_or("/", |(folder, _)| folder));
        let named = self.files_below(folder).filter(|path| pattern.bind(path.as_str()).is_some());
        Box::new(named)
    }

    /// Returns the files in a folder and in the folders below it, in no certain order.
    pub fn files_below(&self, folder: FilePath) -> impl Iterator<Item = FilePath> + '_ {
        let mut folders = vec![folder];
        let mut files = Vec::new();
        std::iter::from_fn(move || {
            while files.is_empty() {
                let folder = folders.pop()?;
                for (name, kind) in self.list_folder(&folder).iter() {
                    match kind {
                        EntryKind::File => files.push(folder.join(name)),
                        EntryKind::Folder | EntryKind::LinkedFolder => {
                            folders.push(folder.join(name))
                        }
                    }
                }
            }
            files.pop()
        })
    }

    /// Returns the files that a pattern names, in Ruby's order.
    pub fn glob_files(&self, pattern: &str) -> Arc<[FilePath]> {
        self.globs.get_or(&pattern.to_owned(), || glob_files(pattern, self).into())
    }

    /// Returns the folders that an absolute pattern names, in Ruby's order.
    pub(in crate::workspace) fn glob_folders(&self, pattern: &str) -> Vec<FilePath> {
        glob_folders(pattern, self)
    }
}

impl Default for DiskNames {
    fn default() -> DiskNames {
        DiskNames::new(BTreeMap::new())
    }
}

impl Listing for DiskNames {
    fn list_folder(&self, folder: &FilePath) -> Cow<'_, [(String, EntryKind)]> {
        Cow::Borrowed(self.children.get(folder).map_or(&[], Vec::as_slice))
    }
}
