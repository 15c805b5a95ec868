//! The commits of a branch, each with what it changes: read from git's objects.

use git2::{DiffOptions, FileMode, Oid, Sort};

use super::{GitRepository, GitRevision};
use crate::text::FilePath;

/// A commit.
#[derive(Clone, Debug)]
pub struct GitCommit {
    /// The commit's id as a revision.
    pub revision: GitRevision,
    /// The time of the commit, in seconds since 1970.
    pub seconds: i64,
    /// How many minutes the clock of the committer was ahead of universal time.
    pub offset_minutes: i32,
    /// The author's name.
    pub author: String,
    /// The first line of the commit's message.
    pub subject: String,
    /// Whether the commit has a parent that is not in a shallow clone.
    pub is_cut: bool,
}

/// A path that differs between two revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// The path.
    pub path: FilePath,
    /// Whether the path is a link in one of the revisions.
    pub is_link: bool,
}

impl GitRepository {
    /// Returns the commits from a revision back along first parents, the newest first, without
    /// those that lead to `until`. A merge is one commit, with all that it brings in.
    ///
    /// Errors: objects are missing.
    pub fn first_parents(
        &self,
        from: &GitRevision,
        until: Option<&GitRevision>,
    ) -> Result<Vec<GitCommit>, String> {
        self.walk_first_parents(until, &from.commit).map_err(|error| error.message().to_owned())
    }

    fn walk_first_parents(
        &self,
        until: Option<&GitRevision>,
        commit: &str,
    ) -> Result<Vec<GitCommit>, git2::Error> {
        let mut walk = self.inner.revwalk()?;
        walk.set_sorting(Sort::TOPOLOGICAL)?;
        walk.simplify_first_parent()?;
        walk.push(Oid::from_str(commit)?)?;
        if let Some(until) = until {
            walk.hide(Oid::from_str(&until.commit)?)?;
        }
        walk.map(|id| self.commit(id?)).collect()
    }

    fn commit(&self, id: Oid) -> Result<GitCommit, git2::Error> {
        let commit = self.inner.find_commit(id)?;
        let time = commit.time();
        Ok(GitCommit {
            revision: GitRevision {
                name: id.to_string(),
                commit: id.to_string(),
                tree: commit.tree_id(),
            },
            seconds: time.seconds(),
            offset_minutes: time.offset_minutes(),
            author: message_text(commit.author().name_bytes()),
            subject: message_text(commit.summary_bytes().unwrap_or_default()),
            is_cut: commit.parent_count() == 0 && self.inner.is_shallow(),
        })
    }

    /// Returns the first parent of a commit; `None` for a first commit, and where a shallow clone
    /// lacks it.
    pub fn parent_of(&self, commit: &GitCommit) -> Option<GitRevision> {
        let id = Oid::from_str(&commit.revision.commit).ok()?;
        let parent = self.inner.find_commit(id).ok()?.parent(0).ok()?;
        let id = parent.id().to_string();
        Some(GitRevision { name: id.clone(), commit: id, tree: parent.tree_id() })
    }

    /// Returns the paths that differ between two revisions. Trees with one id are not read.
    ///
    /// Errors: objects are missing.
    pub fn paths_changed(
        &self,
        one: &GitRevision,
        other: &GitRevision,
    ) -> Result<Vec<ChangedPath>, String> {
        let find = || -> Result<Vec<ChangedPath>, git2::Error> {
            let trees = (self.inner.find_tree(one.tree)?, self.inner.find_tree(other.tree)?);
            let mut options = DiffOptions::new();
            options.skip_binary_check(true).include_typechange(true);
            let diff =
                self.inner.diff_tree_to_tree(Some(&trees.0), Some(&trees.1), Some(&mut options))?;
            let files = diff.deltas().flat_map(|delta| [delta.old_file(), delta.new_file()]);
            Ok(files
                .filter_map(|file| {
                    let path = self.mount.join(file.path()?.to_str()?);
                    Some(ChangedPath { path, is_link: file.mode() == FileMode::Link })
                })
                .collect())
        };
        let mut paths = find().map_err(|error| error.message().to_owned())?;
        paths.dedup();
        Ok(paths)
    }
}

fn message_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
