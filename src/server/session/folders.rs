//! The folders that are read: the environments of the client's folders, and those of open files
//! that lie in none of these.

use std::collections::{HashMap, HashSet};

use crate::disk::OsFs;
use crate::text::FilePath;
use crate::workspace::files::scan;

/// The most folders of a client, or environments of files in none of them, that are read. Real
/// workspaces have a handful, and each environment is compared with all files.
pub(in crate::server) const MAX_FOLDERS: usize = 500;

/// The folders of the client, and the environments that they stand for.
#[derive(Default)]
pub(in crate::server) struct Folders {
    /// The folders that the client has, as it lists them.
    listed: Vec<FilePath>,
    /// The environments of open files that lie in none of the client's folders.
    adopted: Vec<FilePath>,
    /// The folders that were listed last, with the environment that each stands for.
    whole: HashMap<FilePath, FilePath>,
    /// How many folders are left out, as there are too many.
    left_out: usize,
}

/// A folder of the client, which may have settings of its own there.
pub(in crate::server) struct SettingScope {
    /// The folder as the client lists it.
    pub(in crate::server) listed: FilePath,
    /// The environment that the folder stands for.
    pub(in crate::server) environment: FilePath,
}

impl Folders {
    /// Returns the folders that the client is asked for the settings of.
    pub(in crate::server) fn setting_scopes(&self) -> Vec<SettingScope> {
        self.listed
            .iter()
            .filter_map(|listed| {
                let environment = self.whole.get(listed)?.clone();
                Some(SettingScope { listed: listed.clone(), environment })
            })
            .collect()
    }

    /// Returns the folders that the client has, as it lists them.
    pub(in crate::server) fn listed(&self) -> &[FilePath] {
        &self.listed
    }

    /// Returns how many folders are left out, as there are too many.
    pub(in crate::server) fn left_out(&self) -> usize {
        self.left_out
    }

    /// Takes the folders that the client has; returns those to read.
    pub(in crate::server) fn list_folders(&mut self, listed: Vec<FilePath>) -> Vec<FilePath> {
        self.listed = listed;
        self.choose_folders()
    }

    /// Adds the environment of a file that lies in none of the folders that are `read`; returns
    /// those to read. `None` where there is no such environment, or it is left out.
    pub(in crate::server) fn adopt_file(
        &mut self,
        path: &FilePath,
        read: &[FilePath],
    ) -> Option<Vec<FilePath>> {
        if read.iter().any(|folder| path.is_within(folder)) {
            return None;
        }
        let root = scan::environment_above(&path.parent()?, &OsFs)?;
        if self.adopted.contains(&root) {
            return None;
        }
        self.adopted.push(root);
        Some(self.choose_folders())
    }

    /// A folder within an environment stands for all of it: modules, nodes and settings lie beside
    /// it. Folders beyond [`MAX_FOLDERS`] are left out.
    fn choose_folders(&mut self) -> Vec<FilePath> {
        let mut before = std::mem::take(&mut self.whole);
        let mut folders: Vec<FilePath> = Vec::new();
        for folder in self.listed.iter().take(MAX_FOLDERS) {
            // Thousands of folders may come one by one, each in a list with all folders before it.
            let whole = before.remove(folder).unwrap_or_else(|| {
                scan::environment_above(folder, &OsFs).unwrap_or_else(|| folder.clone())
            });
            self.whole.insert(folder.clone(), whole.clone());
            folders.push(whole);
        }
        folders.extend(self.adopted.iter().cloned());
        let mut seen = HashSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        self.left_out = self.listed.len().saturating_sub(MAX_FOLDERS)
            + folders.len().saturating_sub(MAX_FOLDERS);
        folders.truncate(MAX_FOLDERS);
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_beyond_the_limit_are_left_out_and_counted() {
        let mut folders = Folders::default();
        let folder = |n: usize| FilePath::new(&format!("/nowhere/folder{n}"));
        let read = folders.list_folders((0..MAX_FOLDERS).map(folder).collect());
        assert_eq!((read.len(), folders.left_out()), (MAX_FOLDERS, 0));
        let read = folders.list_folders((0..MAX_FOLDERS + 7).map(folder).collect());
        assert_eq!((read.len(), folders.left_out()), (MAX_FOLDERS, 7));
        let read = folders.list_folders(vec![folder(1), folder(1)]);
        assert_eq!((read, folders.left_out()), (vec![folder(1)], 0));
    }
}
