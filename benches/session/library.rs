//! A repository as the library sees it, without a server in between.

use std::path::Path;

use hiera_ls::diagnostics::{RulesConfig, check_file};
use hiera_ls::disk::OsFs;
use hiera_ls::settings::{FILE_NAME, Settings};
use hiera_ls::text::{Encoding, FilePath};
use hiera_ls::workspace::files::scan;
use hiera_ls::workspace::{Change, Snapshot, Workspace};

/// The workspace of a folder, as the command line opens it.
pub fn workspace(root: &Path) -> Workspace {
    let root = FilePath::new(root.to_str().expect("paths here are UTF-8"));
    let mut settings = Settings::default();
    if let Ok(text) = std::fs::read_to_string(root.join(FILE_NAME).as_str()) {
        settings.apply_file(&text, &root, &[]);
    }
    let mut workspace = Workspace::new(settings.workspace, vec![root]);
    let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    workspace
}

/// The findings of a file: line (from 0) and message.
pub fn findings(snapshot: &Snapshot, path: &Path) -> Vec<(u64, String)> {
    let path = FilePath::new(path.to_str().expect("paths here are UTF-8"));
    let text = snapshot
        .file(&path)
        .and_then(|file| file.text())
        .expect("the file is a text that the workspace reads");
    let found = check_file(snapshot, &path, &RulesConfig::default());
    let line = |offset| u64::from(text.line_col(offset, Encoding::Utf8).line);
    found
        .into_iter()
        .map(|finding| (line(snapshot.span_bytes(finding.span).start), finding.message))
        .collect()
}
