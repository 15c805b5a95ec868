//! Commits of files that hiera-ls has written. No hook runs.

use std::path::Path;

use git2::{Status, StatusOptions};

use super::GitRepository;
use crate::disk::{FileSystem as _, OsFs};
use crate::text::FilePath;

impl GitRepository {
    /// Returns the path of a file that is changed or staged and not committed; `None` where there is
    /// none. Files that git does not track do not count.
    ///
    /// Errors: git's, in words.
    pub fn uncommitted_file(&self) -> Result<Option<String>, String> {
        let mut options = StatusOptions::new();
        options.include_untracked(false).include_ignored(false);
        let statuses = self.inner.statuses(Some(&mut options)).map_err(message_of)?;
        let mut changed = statuses.iter().filter(|entry| entry.status() != Status::CURRENT);
        Ok(changed.next().map(|entry| String::from_utf8_lossy(entry.path_bytes()).into_owned()))
    }

    /// Returns the first of these files that git does not track; `None` where git tracks all.
    ///
    /// Errors: git's, in words.
    pub fn untracked_file<'a>(
        &self,
        mut files: impl Iterator<Item = &'a FilePath>,
    ) -> Result<Option<&'a FilePath>, String> {
        let index = self.inner.index().map_err(message_of)?;
        Ok(files.find(|file| !self.is_tracked(file, &index)))
    }

    fn is_tracked(&self, file: &FilePath, index: &git2::Index) -> bool {
        let below = file.relative_to(&self.mount);
        below.is_some_and(|below| index.get_path(Path::new(below), 0).is_some())
    }

    /// Commits the files at these paths as they are on disk, those that are gone among them, on the
    /// branch that is checked out. Returns the short id of the commit.
    ///
    /// Errors: a file lies outside the repository, the user has no name in git's configuration, or
    /// git refuses, in words.
    pub fn commit_files<'a>(
        &self,
        files: impl Iterator<Item = &'a FilePath>,
        message: &str,
    ) -> Result<String, String> {
        let mut index = self.inner.index().map_err(message_of)?;
        for file in files {
            let below = file.relative_to(&self.mount);
            let below = below.ok_or_else(|| format!("{file} lies outside the git repository"))?;
            let path = Path::new(below);
            if OsFs.entry(file).is_some() { index.add_path(path) } else { index.remove_path(path) }
                .map_err(message_of)?;
        }
        self.commit_index(&mut index, message).map_err(message_of)
    }

    fn commit_index(&self, index: &mut git2::Index, message: &str) -> Result<String, git2::Error> {
        index.write()?;
        let tree = self.inner.find_tree(index.write_tree()?)?;
        let parent = self.inner.head()?.peel_to_commit()?;
        let user = self.inner.signature()?;
        let id = self.inner.commit(Some("HEAD"), &user, &user, message, &tree, &[&parent])?;
        Ok(id.to_string().chars().take(8).collect())
    }
}

fn message_of(error: git2::Error) -> String {
    error.message().to_owned()
}
