//! `--watch`: a command that runs again after each change of the files that it reads.

use std::io::{IsTerminal as _, Write};

use super::{Failure, RootArguments, Status, absolute_path, find_root, print_note};
use crate::disk::{DiskEntry, FileSystem as _, OsFs, Watcher};
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::files::kinds::{self, FileKind};

/// Clears the screen, and puts the cursor into its first column and line.
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";

/// The folders and files that a command watches.
pub(super) struct WatchTarget<'a> {
    pub(super) root: &'a RootArguments,
    /// The first path that the arguments name, if they name one.
    pub(super) near: Option<FilePath>,
    /// The files besides those of the workspace that arguments name.
    pub(super) files: Vec<&'a String>,
}

/// Runs `round`, and runs it again after each change, until the output has no reader any more.
/// `round` prints a report, and returns the snapshot that the report is about. A round that fails
/// says so, and the next change starts another. A terminal shows the last report alone. Elsewhere a
/// report that is the same as the last is not printed again, so that a report that is written into
/// the folder ends the rounds that it causes.
///
/// Errors: the system cannot watch the folder.
pub(super) fn run_rounds(
    target: &WatchTarget<'_>,
    out: &mut dyn Write,
    mut round: impl FnMut(&mut dyn Write) -> Result<(Status, Snapshot), Failure>,
) -> Result<Status, Failure> {
    let root = find_root(target.root, target.near.as_ref())?;
    // The watch begins before the files are read, so that no change is missed.
    let mut watcher = Watcher::new(&root)?;
    let files: Vec<FilePath> =
        target.files.iter().map(|file| absolute_path(file)).collect::<Result<_, _>>()?;
    for file in &files {
        watch_folder(&mut watcher, file)?;
    }
    let has_screen = std::io::stdout().is_terminal();
    let (mut last_report, mut known): (_, Option<Snapshot>) = (Vec::new(), None);
    loop {
        let mut report = Vec::new();
        match round(&mut report) {
            Ok((_, snapshot)) => {
                let outside = snapshot.files().map(|file| &file.path);
                for path in outside.filter(|path| !path.is_within(&root)) {
                    watch_folder(&mut watcher, path)?;
                }
                known = Some(snapshot);
            }
            Err(failure) => print_note(&failure.0),
        }
        if has_screen {
            out.write_all(CLEAR.as_bytes())?;
        }
        if has_screen || report != last_report {
            out.write_all(&report)?;
        }
        if out.flush().is_err() {
            return Ok(Status::Good); // The reader has gone.
        }
        last_report = report;
        print_note("watching for changes (Ctrl+C ends)");
        let changed = watcher
            .wait(|path| files.contains(path) || may_read(path, known.as_ref()))
            .ok_or("the system reports no changes any more")?;
        if !has_screen {
            print_note(&describe_change(changed.iter(), &root));
        }
    }
}

fn watch_folder(watcher: &mut Watcher, file: &FilePath) -> Result<(), Failure> {
    Ok(file.parent().map_or(Ok(()), |folder| watcher.add_folder(folder))?)
}

/// Whether a report may depend on a file or folder, by its name and by the files of the last round.
fn may_read(path: &FilePath, known: Option<&Snapshot>) -> bool {
    if path.as_str().split('/').any(|part| part == ".git") {
        return false;
    }
    let config = known.map(Snapshot::config).cloned().unwrap_or_default();
    let has_name = FileKind::of_path(path, &config) != FileKind::Other
        || kinds::is_puppetfile(path)
        || path.extension() == Some("jsonl");
    // A report may depend on a folder that is new, or that had files which are gone.
    has_name
        || matches!(OsFs.entry(path), Some(DiskEntry::Folder { .. }))
        || known.is_some_and(|known| {
            known.is_node_source(path) || known.files().any(|file| file.path.is_within(path))
        })
}

/// Returns the changed files in words.
fn describe_change<'a>(
    mut changed: impl ExactSizeIterator<Item = &'a FilePath>,
    root: &FilePath,
) -> String {
    let others = changed.len().saturating_sub(1);
    let Some(first) = changed.next() else { return String::new() };
    let first = first.relative_to(root).unwrap_or(first.as_str());
    match others {
        0 => format!("{first} has changed"),
        1 => format!("{first} and another file have changed"),
        _ => format!("{first} and {others} other files have changed"),
    }
}
