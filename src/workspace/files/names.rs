//! The names of all files and folders that exist.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::disk::DiskEntry;
use crate::hiera::pattern::Pattern;
use crate::puppet::ruby::glob::{EntryKind, Listing, glob_files, glob_folders};
use crate::text::FilePath;
use crate::text::Memo;
use crate::text::work::{Work, count_work};

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
        let Some(folder) = searched_folder(pattern) else {
            let path = FilePath::new(&pattern.literal_prefix());
            return Box::new(self.is_file(&path).then_some(path).into_iter());
        };
        let named = self.files_below(folder).filter(|path| pattern.binds(path.as_str()));
        Box::new(named)
    }

    /// Returns the files that some of these patterns name, each found as by
    /// [`DiskNames::matching_files`]. Lists the files of each folder once: most locations of a config
    /// start with the same folder.
    pub fn files_of_patterns(&self, patterns: &[Pattern]) -> BTreeSet<FilePath> {
        let mut files = BTreeSet::new();
        let mut searched: BTreeMap<FilePath, Vec<&Pattern>> = BTreeMap::new();
        for pattern in patterns {
            match searched_folder(pattern) {
                None => files.extend(self.matching_files(pattern)),
                Some(folder) => searched.entry(folder).or_default().push(pattern),
            }
        }
        for (folder, patterns) in searched {
            files.extend(self.files_below(folder).filter(|path| {
                count_work(Work::Step);
                patterns.iter().any(|pattern| pattern.binds(path.as_str()))
            }));
        }
        files
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

/// Returns the folder that a location's pattern starts with; `None` for a pattern that names one
/// file.
fn searched_folder(pattern: &Pattern) -> Option<FilePath> {
    let prefix = pattern.literal_prefix();
    if prefix.len() == pattern.literal_len() {
        return None;
    }
    Some(FilePath::new(prefix.rsplit_once('/').map_or("/", |(folder, _)| folder)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Stamp;
    use crate::hiera::pattern::parse_pieces;
    use crate::text::work;

    #[test]
    fn several_patterns_list_the_files_of_a_folder_once() {
        let stamp = Stamp { modified: None, touched: None, size: 0 };
        let file = |path: &str| (FilePath::new(path), DiskEntry::File(stamp));
        let files = ["common.yaml", "roles/web.yaml", "sites/oslo/web.yaml", "unread.json"];
        let files = files.map(|name| file(&format!("/repo/data/{name}")));
        let folders = ["/repo", "/repo/data", "/repo/data/roles", "/repo/data/sites"]
            .into_iter()
            .chain(["/repo/data/sites/oslo"])
            .map(|path| (FilePath::new(path), DiskEntry::Folder { linked: false }));
        let names = DiskNames::new(files.into_iter().chain(folders).collect());
        let pattern = |path: &str| {
            Pattern::new(parse_pieces(&format!("/repo/data/{path}"), false)).expect("it is small")
        };
        let patterns = ["%{a}/%{b}.yaml", "%{a}/%{b}/%{c}.yaml", "common.yaml", "roles/%{a}.yaml"];
        let patterns = patterns.map(pattern);

        work::take();
        let found = names.files_of_patterns(&patterns);

        let each = patterns.iter().flat_map(|pattern| names.matching_files(pattern));
        assert_eq!(found, each.collect::<BTreeSet<_>>());
        assert_eq!(found.len(), 3);
        // The four files of `data`, and that of `roles`.
        assert_eq!(work::take().steps, 5);
    }
}
