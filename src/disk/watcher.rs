//! Waits for changes of files, for commands that run again after each.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::text::FilePath;

/// How long no file must change before a change is reported: an editor saves in several steps, and
/// git changes many files.
const QUIET: Duration = Duration::from_millis(100);

/// Reports changes of the files in some folders.
pub struct Watcher {
    inner: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    /// The folders without their subfolders.
    single: BTreeSet<FilePath>,
}

impl Watcher {
    /// Watches a folder with its subfolders, also those that are made later. It follows no link: files
    /// behind a link within the folder are watched where they are, others are not read.
    ///
    /// Errors: the system's, such as a limit of watched folders, in words with the path.
    pub fn new(root: &FilePath) -> Result<Watcher, String> {
        let (sender, events) = channel();
        let inner = start_watch(sender, root)
            .map_err(|error| format!("{root} cannot be watched: {error}"))?;
        Ok(Watcher { inner, events, single: BTreeSet::new() })
    }

    /// Watches a folder without its subfolders, once.
    ///
    /// Errors: as in [`Watcher::new`].
    pub fn add_folder(&mut self, folder: FilePath) -> Result<(), String> {
        if self.single.contains(&folder) {
            return Ok(());
        }
        self.inner
            .watch(Path::new(folder.as_str()), RecursiveMode::NonRecursive)
            .map_err(|error| format!("{folder} cannot be watched: {error}"))?;
        self.single.insert(folder);
        Ok(())
    }

    /// Waits until files have changed, and then until none does any more for a moment. Returns the
    /// changed files that `is_meant` accepts; there is at least one. `None`: the system reports no
    /// changes any more.
    pub fn wait(&self, is_meant: impl Fn(&FilePath) -> bool) -> Option<BTreeSet<FilePath>> {
        let mut changed = BTreeSet::new();
        loop {
            let event = if changed.is_empty() {
                self.events.recv().ok()?
            } else {
                match self.events.recv_timeout(QUIET) {
                    Ok(event) => event,
                    Err(RecvTimeoutError::Timeout) => return Some(changed),
                    Err(RecvTimeoutError::Disconnected) => return None,
                }
            };
            let paths = event.map(changed_paths).unwrap_or_default();
            changed.extend(paths.iter().filter_map(|path| path.to_str()).map(FilePath::new));
            changed.retain(&is_meant);
        }
    }
}

fn start_watch(
    sender: Sender<notify::Result<Event>>,
    root: &FilePath,
) -> notify::Result<RecommendedWatcher> {
    let config = Config::default().with_follow_symlinks(false);
    let mut inner = RecommendedWatcher::new(sender, config)?;
    inner.watch(Path::new(root.as_str()), RecursiveMode::Recursive)?;
    Ok(inner)
}

/// Returns the paths that an event changes. A reader changes nothing.
fn changed_paths(event: Event) -> Vec<PathBuf> {
    match event.kind {
        EventKind::Access(_) => Vec::new(),
        _ => event.paths,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
