//! The workspace as it is on disk, beside what editors hold: the state that unsaved changes are
//! compared with.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::environments::configs::shapes_environments;
use super::files::file::File;
use super::files::names::DiskNames;
use super::files::scan;
use super::lazy_index::{Changed, LazyIndex};
use super::manifests::lazy::LazyManifests;
use super::snapshot::Snapshot;
use super::{Change, Current, Stale, Workspace};
use crate::disk::{DiskEntry, FileSystem};
use crate::text::FilePath;

/// The versions on disk of the files that editors hold.
#[derive(Clone, Debug)]
pub struct SavedFiles {
    /// The versions by path; `None` for a file that only an editor has.
    versions: Vec<FileVersion>,
    disk_entries: Arc<BTreeMap<FilePath, DiskEntry>>,
}

impl SavedFiles {
    /// Whether both sets of versions are of one reading of the disk.
    pub fn is_of_same_disk(&self, other: &SavedFiles) -> bool {
        Arc::ptr_eq(&self.disk_entries, &other.disk_entries)
    }
}

impl Workspace {
    /// Returns the versions on disk of the open files.
    pub fn saved_files(&self) -> SavedFiles {
        let versions =
            self.overlay.keys().map(|path| (path.clone(), self.disk.get(path).cloned())).collect();
        SavedFiles { versions, disk_entries: self.disk_entries.clone() }
    }

    /// Returns a workspace with the same settings and files, and without what editors hold: it can
    /// read another revision of the folders.
    pub fn without_editors(&self) -> Workspace {
        let snapshot = self.snapshot().as_saved(&self.saved_files());
        Workspace {
            config: self.config.clone(),
            folders: self.folders.clone(),
            numbers: self.numbers.clone(),
            ids: self.ids.clone(),
            disk: self.disk.clone(),
            overlay: BTreeMap::new(),
            disk_entries: self.disk_entries.clone(),
            sources: self.sources.clone(),
            reconfigured: self.reconfigured,
            selected: self.selected.clone(),
            revision: Arc::new(snapshot.revision.into()),
            current: Mutex::new(Current { snapshot, stale: Stale::Nothing }),
        }
    }

    /// Returns the folders as another file system has them. Files with equal texts are shared, and
    /// nodes of the files that settings name stay the same: a change of the fleet is no change of
    /// data.
    pub fn into_revision(mut self, fs: &dyn FileSystem) -> Snapshot {
        let request = self.scan_request();
        let named_sources = Some(request.known_sources.clone());
        let request = scan::Request { named_sources, ..request };
        let mut scanned = scan::scan(&request, fs, &|_| {});
        scanned.share_equal_texts(&request.known);
        self.apply(Change::Scanned(Box::new(scanned)));
        self.snapshot()
    }
}

impl Snapshot {
    /// Returns the snapshot with the files as they are on disk.
    pub fn as_saved(&self, saved: &SavedFiles) -> Snapshot {
        let SavedFiles { versions, disk_entries } = saved;
        self.with_versions(versions, || DiskNames::new((**disk_entries).clone()))
    }

    /// Whether the files as they are on disk make the same environments: no file that shapes these
    /// has another text, and no file comes or goes.
    pub fn keeps_environments_as_saved(&self, saved: &SavedFiles) -> bool {
        let difference = self.difference_of(&saved.versions);
        difference.are_names_same && !difference.is_shaping
    }

    /// Whether another snapshot has a file with the same text.
    pub fn has_equal_file(&self, other: &Snapshot, path: &FilePath) -> bool {
        let files = self.files.get(path).zip(other.files.get(path));
        files.is_some_and(|(one, other)| one.has_equal_content(other))
    }

    /// Whether both have the same settings and folders.
    pub fn has_same_settings(&self, other: &Snapshot) -> bool {
        Arc::ptr_eq(&self.config, &other.config) && Arc::ptr_eq(&self.folders, &other.folders)
    }

    /// Returns the snapshot with these files as another snapshot has them.
    pub fn with_files_of(&self, other: &Snapshot, paths: &[FilePath]) -> Snapshot {
        let versions: Vec<_> =
            paths.iter().map(|path| (path.clone(), other.files.get(path).cloned())).collect();
        self.with_versions(&versions, || {
            let entries = self.names.entries.iter();
            let kept = entries.filter(|(path, _)| {
                !paths.contains(path) || other.names.entries.contains_key(*path)
            });
            DiskNames::new(kept.map(|(path, entry)| (path.clone(), *entry)).collect())
        })
    }

    /// Returns the snapshot with other versions of files; `None` for a file that is not there. The
    /// names are needed where one is not. Versions with equal texts are no others.
    fn with_versions(
        &self,
        versions: &[FileVersion],
        names: impl FnOnce() -> DiskNames,
    ) -> Snapshot {
        let mut other = self.clone();
        let VersionsDifference { touched, is_shaping, are_names_same } =
            self.difference_of(versions);
        for (path, version) in &touched {
            match version {
                Some(version) => drop(other.files.insert((*path).clone(), Arc::clone(version))),
                None => drop(other.files.remove(*path)),
            }
        }
        let touched: Vec<FilePath> = touched.into_iter().map(|(path, _)| path.clone()).collect();
        if !are_names_same {
            other.names = Arc::new(names());
        }
        if is_shaping || !are_names_same {
            other.lay_out();
        } else if !touched.is_empty() {
            other.manifests = LazyManifests::changed_after(&self.manifests, &touched);
            other.key_index = LazyIndex::changed_after(
                &self.key_index,
                Changed::Files(touched.into_iter().collect()),
            );
        }
        other
    }

    /// Returns the difference that other versions of files make.
    fn difference_of<'v>(&self, versions: &'v [FileVersion]) -> VersionsDifference<'v> {
        let mut all =
            VersionsDifference { touched: Vec::new(), is_shaping: false, are_names_same: true };
        for (path, version) in versions {
            let known = self.files.get(path);
            let is_same = match (known, version) {
                (Some(known), Some(version)) => known.has_equal_content(version),
                (None, None) => true,
                _ => false,
            };
            if !is_same {
                all.are_names_same &= known.is_some() == version.is_some();
                all.is_shaping |= [known, version.as_ref()]
                    .into_iter()
                    .flatten()
                    .any(|file| shapes_environments(file, &self.config));
                all.touched.push((path, version.as_ref()));
            }
        }
        all
    }
}

/// A version of a file; `None` for a file that is not there.
type FileVersion = (FilePath, Option<Arc<File>>);

/// The difference between the files of a snapshot and other versions of files.
struct VersionsDifference<'v> {
    /// The versions with another text.
    touched: Vec<(&'v FilePath, Option<&'v Arc<File>>)>,
    /// Whether one of the touched files shapes environments, before or after.
    is_shaping: bool,
    /// Whether no file comes or goes.
    are_names_same: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::text::work::take;

    const FILES: &str =
        "#- levels Role Common\n#- node a role=web\n#- /data/common.yaml\na: 1\nb: 2\n";

    fn opened(texts: &[(&str, &str)]) -> Workspace {
        let mut workspace = Fixture::new(FILES).workspace;
        for (path, text) in texts {
            workspace.apply(Change::Open(FilePath::new(path), (*text).to_owned()));
        }
        workspace
    }

    #[test]
    fn unsaved_texts_are_taken_back() {
        let workspace =
            opened(&[("/data/common.yaml", "a: 1\nc: 2\n"), ("/data/roles/web.yaml", "d: 1\n")]);
        let snapshot = workspace.snapshot();
        let saved = snapshot.as_saved(&workspace.saved_files());
        let keys = |snapshot: &Snapshot| {
            let keys = snapshot.keys().keys().map(ToString::to_string);
            keys.collect::<Vec<_>>().join(" ")
        };
        assert_eq!((keys(&snapshot).as_str(), keys(&saved).as_str()), ("a c d", "a b"));
        assert!(!saved.is_file(&FilePath::new("/data/roles/web.yaml")));
        let one = snapshot.with_files_of(&saved, &[FilePath::new("/data/roles/web.yaml")]);
        assert_eq!(keys(&one), "a c");
        assert!(!one.is_file(&FilePath::new("/data/roles/web.yaml")));
    }

    #[test]
    fn a_text_that_is_the_saved_one_again_is_no_change() {
        let mut workspace = opened(&[("/data/common.yaml", "a: 1\nc: 2\n")]);
        let path = FilePath::new("/data/common.yaml");
        workspace.apply(Change::Replace(path, "a: 1\nb: 2\n".to_owned()));
        let snapshot = workspace.snapshot();
        let saved = snapshot.as_saved(&workspace.saved_files());
        assert!(saved.files_changed(&snapshot).is_empty());
        assert!(saved.has_same_environments(&snapshot));
    }

    #[test]
    fn a_revision_shares_files_with_equal_texts() {
        let fixture = Fixture::new(FILES);
        let (path, other) = (FilePath::new("/data/common.yaml"), FilePath::new("/hiera.yaml"));
        let mut workspace = fixture.workspace;
        workspace.apply(Change::Open(path.clone(), "c: 2\n".to_owned()));
        fixture.fs.write(path.as_str(), "a: 2\n");
        fixture.fs.write(other.as_str(), workspace_text(&workspace, &other));
        let before = workspace.without_editors().into_revision(&fixture.fs);
        let after = workspace.snapshot();
        assert_eq!(before.files_changed(&after), [path]);
        assert!(before.has_same_environments(&after));
    }

    /// A large fleet is not read in each revision of a history.
    #[test]
    fn a_revision_has_the_nodes_of_the_folders_without_reading_them() {
        let fixture = Fixture::new(FILES);
        let nodes = |snapshot: &Snapshot| snapshot.nodes.len();
        let source = fixture.workspace.scan_request().known_sources[0].path.clone();
        let workspace = fixture.workspace.without_editors();
        fixture.fs.write(source.as_str(), "[]");
        take();
        let revision = workspace.into_revision(&fixture.fs);
        assert_eq!((nodes(&revision), take().sources), (nodes(&fixture.workspace.snapshot()), 0));
    }

    fn workspace_text(workspace: &Workspace, path: &FilePath) -> String {
        let snapshot = workspace.snapshot();
        let text = snapshot.file(path).and_then(|file| file.text()).expect("a text");
        text.to_str().into_owned()
    }
}
