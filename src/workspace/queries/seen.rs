//! A record of the parts of a snapshot that work outside of it used, to check later whether they
//! have changed.

use std::sync::Arc;

use crate::text::FilePath;
use crate::workspace::config::WorkspaceConfig;
use crate::workspace::files::file::File;
use crate::workspace::snapshot::Snapshot;

/// The files that a revision reads (data, configs, code), and its settings. Copies are cheap.
#[derive(Clone, Debug)]
pub struct Seen {
    files: imbl::OrdMap<FilePath, Arc<File>>,
    config: Arc<WorkspaceConfig>,
}

impl Snapshot {
    /// Returns the files and settings of this revision.
    pub fn seen(&self) -> Seen {
        Seen { files: self.files.clone(), config: self.config.clone() }
    }
}

impl Seen {
    /// Whether another revision reads the same files with the same texts, and has the same settings.
    /// A file that an editor opened with the text that it has on disk is the same. Files that are
    /// not read do not count: logs, swap files and caches come and go.
    pub fn is_same(&self, later: &Snapshot) -> bool {
        (Arc::ptr_eq(&self.config, &later.config) || self.config == later.config)
            && !self.has_other_texts(later)
    }

    fn has_other_texts(&self, later: &Snapshot) -> bool {
        use imbl::ordmap::DiffItem;
        self.files.diff(&later.files).any(|change| match change {
            DiffItem::Update { old: (_, old), new: (_, new) } => {
                !old.is_read_as(new) && !old.text().zip(new.text()).is_some_and(|(a, b)| a == b)
            }
            DiffItem::Add(..) | DiffItem::Remove(..) => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemoryFs;
    use crate::fixture::Fixture;
    use crate::workspace::files::scan;
    use crate::workspace::{Change, Workspace};

    const COMMON: &str = "/repo/data/common.yaml";

    fn opened(fs: &MemoryFs) -> Workspace {
        let mut workspace =
            Workspace::new(WorkspaceConfig::default(), vec![FilePath::new("/repo")]);
        read(&mut workspace, fs);
        workspace
    }

    fn read(workspace: &mut Workspace, fs: &MemoryFs) {
        let scanned = scan::scan(&workspace.scan_request(), fs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
    }

    #[test]
    fn changes_of_files_that_functions_may_read_are_noticed() {
        let fs = MemoryFs::new();
        fs.write("/repo/hiera.yaml", "version: 5\n");
        fs.write(COMMON, "a: 1\n");
        fs.write("/repo/modules/t/lib/puppet/functions/t/fn.rb", "# first\n");
        let mut workspace = opened(&fs);
        let seen = workspace.snapshot().seen();
        let is_same = |workspace: &Workspace| seen.is_same(&workspace.snapshot());
        assert!(is_same(&workspace));
        workspace.apply(Change::Open(FilePath::new(COMMON), "a: 1\n".into()));
        workspace.apply(Change::SelectNode(Some("x".into())));
        read(&mut workspace, &fs);
        assert!(is_same(&workspace), "a file that is opened, a node that is chosen");
        workspace.apply(Change::Replace(FilePath::new(COMMON), "a: 2\n".into()));
        assert!(!is_same(&workspace), "another text");
        workspace.apply(Change::Replace(FilePath::new(COMMON), "a: 1\n".into()));
        assert!(is_same(&workspace), "the same text again");
        fs.write("/repo/modules/t/lib/puppet/functions/t/fn.rb", "# second\n");
        read(&mut workspace, &fs);
        assert!(!is_same(&workspace), "the source of a function");
    }

    #[test]
    fn files_that_are_read_come_and_go_and_others_do_not_count() {
        let fs = MemoryFs::new();
        let config = "version: 5\nhierarchy: [{name: Nodes, glob: 'nodes/*.yaml'}]\n";
        fs.write("/repo/hiera.yaml", config);
        let mut workspace = opened(&fs);
        let seen = workspace.snapshot().seen();
        fs.write("/repo/list.log", "x\n");
        fs.write("/repo/data/nodes/.web01.yaml.swp", "x\n");
        read(&mut workspace, &fs);
        assert!(seen.is_same(&workspace.snapshot()));
        fs.write("/repo/data/nodes/web01.yaml", "a: 1\n");
        read(&mut workspace, &fs);
        assert!(!seen.is_same(&workspace.snapshot()));
        assert!(!Fixture::new("a: 1\n").snapshot.seen().is_same(&workspace.snapshot()));
    }
}
