//! A snapshot as it would be after a change that is not made yet: features compare it with the
//! current snapshot before they offer the change. It reaches neither the workspace nor the disk.

use std::sync::Arc;

use crate::disk::{DiskEntry, Stamp};
use crate::text::work::{Work, count_work};
use crate::text::{FileId, FilePath, SourceChange, Text, TextEdit};
use crate::workspace::environments::configs::{Configs, shapes_environments};
use crate::workspace::environments::discover::discover;
use crate::workspace::files::file::{Content, File};
use crate::workspace::files::names::DiskNames;
use crate::workspace::lazy_index::{Changed, LazyIndex};
use crate::workspace::manifests::lazy::LazyManifests;
use crate::workspace::snapshot::Snapshot;

impl Snapshot {
    /// Returns the snapshot after a change: files have their new texts, as if an editor held them,
    /// and created files are there. `None` where the change edits a file that has no text here, edits
    /// one place twice, or creates a file that exists.
    ///
    /// The cost depends on the touched files only; a change that creates a file or edits a
    /// `hiera.yaml` costs a discovery of the environments, too.
    pub fn after_change(&self, change: &SourceChange) -> Option<Snapshot> {
        let mut after = self.clone();
        let mut touched = Vec::new();
        let mut is_shaping = false;
        for (path, edits) in &change.edits {
            let file = self.file(path)?;
            if edits.windows(2).any(|two| two[0].range.end > two[1].range.start) {
                return None;
            }
            let text = TextEdit::apply_all(edits, &file.text()?.to_str());
            is_shaping |= shapes_environments(file, &self.config);
            let later = if is_shaping {
                File::new(file.id, path.clone(), Content::Text(Text::new(&text)), None)
            } else {
                file.changed_to(&text)
            };
            is_shaping |= shapes_environments(&later, &self.config);
            after.files.insert(path.clone(), Arc::new(later));
            touched.push(path.clone());
        }
        for (path, text) in &change.created {
            after.create_file(path, text)?;
        }
        if is_shaping || !change.created.is_empty() {
            after.lay_out();
        } else {
            after.manifests = LazyManifests::changed_after(&self.manifests, &touched);
            after.key_index = LazyIndex::changed_after(
                &self.key_index,
                Changed::Files(touched.into_iter().collect()),
            );
        }
        Some(after)
    }

    /// Whether the file at a path may decide which environments there are, or their levels.
    pub fn shapes_environments(&self, path: &FilePath) -> bool {
        self.file(path).is_some_and(|file| shapes_environments(file, &self.config))
    }

    /// Adds a file with the folders that it would be in; `None` where the path exists.
    fn create_file(&mut self, path: &FilePath, text: &str) -> Option<()> {
        if self.names.exists(path) || self.file(path).is_some() {
            return None;
        }
        let id = match self.ids.iter().position(|known| known == path) {
            Some(number) => FileId::new(u32::try_from(number).ok()?),
            None => {
                let id = FileId::new(u32::try_from(self.ids.len()).ok()?);
                Arc::make_mut(&mut self.ids).push(path.clone());
                id
            }
        };
        self.files.insert(
            path.clone(),
            Arc::new(File::new(id, path.clone(), Content::Text(Text::new(text)), None)),
        );
        let mut entries: std::collections::BTreeMap<FilePath, DiskEntry> =
            self.names.entries.iter().map(|(path, entry)| (path.clone(), *entry)).collect();
        entries.insert(path.clone(), DiskEntry::File(Stamp::default()));
        for folder in path.ancestors() {
            if self.folders.iter().any(|root| folder.is_within(root)) {
                entries.entry(folder).or_insert(DiskEntry::Folder { linked: false });
            }
        }
        self.names = Arc::new(DiskNames::new(entries));
        Some(())
    }

    /// Discovers the environments, and renews the indexes that depend on them.
    pub(in crate::workspace) fn lay_out(&mut self) {
        count_work(Work::Layout);
        self.key_index = LazyIndex::changed_after(&self.key_index, Changed::Layout);
        let configs = Configs::select_configs(self.files.values().cloned(), &self.config);
        // The scan has listed the files outside the workspace.
        let found = discover(&self.names, &configs, &self.config, &self.folders, &|_| false);
        self.environments = Arc::new(found);
        self.manifests = LazyManifests::after_layout(&self.manifests, &self.environments);
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;
    use crate::text::{FilePath, SourceChange, TextEdit, TextRange};

    #[test]
    fn a_trial_has_the_change_and_the_snapshot_does_not() {
        let fixture = Fixture::new("#- levels Role Common\n#- /data/common.yaml\na: 1\n");
        let mut change = SourceChange::default();
        let (common, web) = (FilePath::new("/data/common.yaml"), "/data/roles/web.yaml");
        change.push(&common, TextEdit::new(TextRange::new(0, 1), "b"));
        change.created.insert(FilePath::new(web), "a: 2\n".to_owned());
        let after = fixture.snapshot.after_change(&change).expect("both files can change");
        assert_eq!(after.keys().definitions("a"), [FilePath::new(web)]);
        assert_eq!(after.keys().definitions("b"), std::slice::from_ref(&common));
        assert_eq!(fixture.snapshot.keys().definitions("a"), std::slice::from_ref(&common));
        assert!(fixture.snapshot.file(&FilePath::new(web)).is_none());
        assert!(after.after_change(&change).is_none(), "the file exists by now");
        let mut twice = SourceChange::default();
        twice.push(&common, TextEdit::new(TextRange::new(0, 2), ""));
        twice.push(&common, TextEdit::new(TextRange::new(1, 3), ""));
        assert!(fixture.snapshot.after_change(&twice).is_none(), "the edits overlap");
    }
}
