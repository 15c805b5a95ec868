//! The gate of changes: a change that is offered to a client touches files within the opened folders
//! only.

use crate::text::{FilePath, SourceChange};
use crate::workspace::files::scan::SKIPPED_FOLDERS;
use crate::workspace::snapshot::Snapshot;

/// A change whose files all lie within the opened folders. Only the gate makes one, and only such a
/// change is converted for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedChange(SourceChange);

impl AllowedChange {
    /// Returns the change.
    pub fn change(&self) -> &SourceChange {
        &self.0
    }
}

impl Snapshot {
    /// Lets a change pass. Errors: the first file that the change may not touch.
    pub fn allow_change(&self, change: SourceChange) -> Result<AllowedChange, FilePath> {
        let mut files = change.edits.keys().chain(change.created.keys());
        match files.find(|path| !self.may_change(path)) {
            Some(path) => Err(path.clone()),
            None => Ok(AllowedChange(change)),
        }
    }

    /// Returns whether a change may edit or create the file at a path: the file lies in an opened
    /// folder, in no folder that a scan skips, and not behind a link that leads out of the opened
    /// folders or behind anything else that the scan could not list.
    pub fn may_change(&self, path: &FilePath) -> bool {
        self.folders().iter().any(|folder| {
            path.relative_to(folder).is_some_and(|rest| {
                let mut parts = rest.split('/');
                !rest.is_empty()
                    && parts.all(|part| part != ".." && !SKIPPED_FOLDERS.contains(&part))
            })
        }) && !self.unlisted.contains_key(path)
            && !path.ancestors().any(|folder| self.unlisted.contains_key(&folder))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;
    use crate::text::FilePath;

    #[test]
    fn files_in_skipped_folders_and_the_folder_itself_are_not_changed() {
        let fixture = Fixture::new("a: 1\n");
        let folder = &fixture.snapshot.folders()[0];
        let may_change = |path: &FilePath| fixture.snapshot.may_change(path);
        assert!(may_change(&folder.join("data/new.yaml")));
        for skipped in [".git/config", "data/.git/hooks/x", "node_modules/a/b.yaml"] {
            assert!(!may_change(&folder.join(skipped)), "{skipped}");
        }
        assert!(!may_change(folder));
    }
}
