//! The findings of what an editor looks at, from one revision to the next: what no change can have touched is not looked at again.
//!
//! Equal at any time to what [`check_file`](super::check_file) says.

mod file;
mod resting;

use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;

use foldhash::HashMap;
use indexmap::IndexSet;

use super::{FileCheck, Finding, RulesConfig};
use crate::hiera::Wanted;
use crate::text::{FileId, FilePath};
use crate::workspace::Snapshot;
use crate::workspace::index::KeyChanges;
use crate::workspace::parallel::on_all_cores;
use file::FileFindings;
use resting::Resting;

/// The findings of the open files, and of every `hiera.yaml`, as of the last revision that was looked at.
#[derive(Debug, Default)]
pub struct Findings {
    seen: Option<(Snapshot, RulesConfig)>,
    /// What was seen before that: taking it apart takes as long as finding out what changed.
    outdated: Option<(Snapshot, RulesConfig)>,
    files: HashMap<FilePath, FileFindings>,
    /// Files with parts that are to be looked at and were not yet.
    put_off: BTreeSet<FilePath>,
    /// Those of files that nobody has open.
    resting: Resting,
}

/// From how many bytes on a file that was opened is looked at after those that were edited. To tests, a few are many.
const LONG: u32 = if cfg!(test) { 100 } else { 128 << 10 };

impl Findings {
    /// Goes on to a snapshot; tells the findings of each file where they, or places that they name, may be others than before.
    /// A file that is not looked at any more has none.
    ///
    /// When the snapshot is not wanted any more, what has not been looked at by then is put off until the next call. So is what takes long in
    /// files that nobody has edited, where there are findings to be told of others.
    pub fn update(&mut self, snapshot: &Snapshot, rules: &RulesConfig) -> Vec<(FilePath, Vec<Finding>)> {
        let changes = match &self.seen {
            Some((before, same)) if same == rules && is_same_world(before, snapshot) => {
                Some(before.keys().changes_to(snapshot.keys()))
            }
            _ => None,
        };
        if changes.as_ref().is_some_and(KeyChanges::is_any) {
            self.note_readers(&|| true);
        }
        let mut updates;
        let mut urgent = IndexSet::new();
        match (&self.seen, changes) {
            (Some((before, _)), Some(changes)) => {
                let edited: HashSet<FilePath> = before.files_changed(snapshot).into_iter().collect();
                let opened = before.open_files_changed(snapshot);
                let (begin, stop): (Vec<_>, Vec<_>) =
                    opened.into_iter().partition(|(path, is_open)| *is_open || is_config(snapshot, path));
                let paths = |files: Vec<(FilePath, bool)>| files.into_iter().map(|(path, _)| path);
                updates = self.lay_to_rest(snapshot, paths(stop).collect());
                self.resting.miss(&changes);
                urgent.extend(self.follow(snapshot, rules, &changes, &edited));
                urgent.extend(self.put_off.iter().filter(|path| edited.contains(*path)).cloned());
                for path in paths(begin).filter(|path| !self.files.contains_key(path)).collect::<Vec<_>>() {
                    let known = self.resting.wake(snapshot, rules, &path);
                    let takes_long = known.as_ref().map_or_else(|| is_long(snapshot, &path), FileFindings::has_much_unseen);
                    self.files.extend(known.map(|file| (path.clone(), file)));
                    let _ = if takes_long { self.put_off.insert(path) } else { urgent.insert(path) };
                }
            }
            (seen, _) => {
                let watched = watched(snapshot);
                let edited = seen.as_ref().map(|(before, _)| before.files_changed(snapshot)).unwrap_or_default();
                urgent.extend(edited.into_iter().filter(|path| watched.contains(path) && !is_long(snapshot, path)));
                let known: HashSet<&FilePath> = self.files.keys().chain(&self.put_off).collect();
                let gone = known.into_iter().filter(|path| !watched.contains(*path));
                updates = gone.map(|path| (path.clone(), Vec::new())).collect();
                self.files.clear();
                self.resting = Resting::default();
                self.put_off = watched.into_iter().collect();
            }
        }
        self.outdated = self.seen.replace((snapshot.clone(), rules.clone()));
        updates.extend(self.look_at(snapshot, rules, urgent.into_iter().collect()));
        if updates.is_empty() {
            updates = self.look_at(snapshot, rules, self.put_off.iter().cloned().collect());
        }
        updates
    }

    /// Does what can wait until the findings have been told, as long as it `is_idle`: lets go of what is not needed any more,
    /// and notes what findings depend on.
    pub fn tidy(&mut self, is_idle: &dyn Fn() -> bool) {
        self.outdated = None;
        self.note_readers(is_idle);
    }

    /// Whether some files that nobody has open are still to be looked at.
    pub fn has_more_ahead(&self) -> bool {
        self.seen.as_ref().is_some_and(|(snapshot, _)| snapshot.complete) && self.resting.has_more_to_do()
    }

    /// Looks at files that nobody has open, so that there is little to do when somebody opens one: at one of them, and at more as long as it
    /// `has_time`. Leaves off at once when it is not `wanted` any more; then what was begun is begun anew.
    pub fn look_ahead(&mut self, wanted: Wanted, has_time: &dyn Fn() -> bool) {
        let Some((snapshot, rules)) = self.seen.as_ref().filter(|(snapshot, _)| snapshot.complete) else { return };
        self.resting.look_ahead(&snapshot.clone().while_wanted(wanted), rules, &self.files, has_time);
    }

    /// Notes of all entries what their findings depend on, while nothing has changed since they were looked at.
    fn note_readers(&mut self, is_idle: &dyn Fn() -> bool) {
        let Some((snapshot, _)) = &self.seen else { return };
        for file in self.files.values_mut() {
            file.note_readers(snapshot.keys(), is_idle);
        }
    }

    /// Looks at what is unseen in these files; tells their findings, unless that was left off.
    fn look_at(&mut self, snapshot: &Snapshot, rules: &RulesConfig, paths: Vec<FilePath>) -> Vec<(FilePath, Vec<Finding>)> {
        snapshot.keys(); // Once, before all threads wait for it.
        let take = |path: FilePath| {
            let known = self.files.remove(&path);
            (path, Mutex::new(known))
        };
        let is_seen = |known: &Option<FileFindings>| known.as_ref().is_some_and(FileFindings::is_seen);
        let (quick, slow): (Vec<_>, Vec<_>) =
            paths.into_iter().map(take).partition(|(_, known)| is_seen(&known.lock().expect("nobody holds it")));
        let look = |(path, file): &(FilePath, Mutex<Option<FileFindings>>)| {
            let mut file = file.lock().expect("each is locked once");
            let is_done = match FileCheck::of(snapshot, path, rules, |check| {
                file.get_or_insert_with(FileFindings::unseen).look_at(check)
            }) {
                Some(is_done) => is_done,
                None => {
                    *file = Some(FileFindings::default());
                    true
                }
            };
            file.as_ref().filter(|_| is_done).map(|file| file.all(snapshot))
        };
        let mut told: Vec<_> = quick.iter().map(look).collect();
        told.extend(on_all_cores(&slow, look));
        let mut updates = Vec::new();
        for ((path, file), told) in quick.into_iter().chain(slow).zip(told) {
            self.files.extend(file.into_inner().expect("no holder panics").map(|file| (path.clone(), file)));
            match told {
                Some(all) => {
                    self.put_off.remove(&path);
                    updates.push((path, all));
                }
                None => drop(self.put_off.insert(path)),
            }
        }
        updates
    }

    /// Whether a file was put off: its findings will be told later.
    pub fn owes(&self, path: &FilePath) -> bool {
        self.put_off.contains(path)
    }

    /// Whether some files were put off.
    pub fn has_more_to_do(&self) -> bool {
        !self.put_off.is_empty()
    }

    /// Stops telling of files.
    fn lay_to_rest(&mut self, snapshot: &Snapshot, paths: Vec<FilePath>) -> Vec<(FilePath, Vec<Finding>)> {
        let mut updates = Vec::new();
        for path in paths {
            let known = self.files.remove(&path);
            if known.is_some() | self.put_off.remove(&path) {
                updates.push((path.clone(), Vec::new()));
            }
            if let Some(mut file) = known {
                file.note_readers(snapshot.keys(), &|| true);
                self.resting.rest(path, file);
            }
        }
        updates
    }

    /// Notes what is to be looked at again; gives the files of which that is to be told at once.
    fn follow(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        changes: &KeyChanges,
        edited: &HashSet<FilePath>,
    ) -> Vec<FilePath> {
        // Files that no level reads are not in the index, and are looked at all the same.
        let moved: HashSet<FileId> =
            changes.files.iter().chain(edited).filter_map(|path| Some(snapshot.file(path)?.id)).collect();
        if moved.is_empty() {
            return Vec::new();
        }
        let mut urgent = Vec::new();
        for (path, file) in &mut self.files {
            let is_edited = edited.contains(path);
            let mut is_touched = is_edited;
            if is_edited || file.may_depend_on(changes) {
                is_touched |= FileCheck::of(snapshot, path, rules, |check| file.follow(check, changes)).unwrap_or(false);
            }
            if is_edited || !self.put_off.contains(path) && !file.has_much_unseen() && (is_touched || file.names_any(&moved)) {
                urgent.push(path.clone());
            } else if is_touched {
                self.put_off.insert(path.clone());
            }
        }
        urgent
    }
}

/// The files whose findings an editor is told: the open ones, and every `hiera.yaml`.
fn watched(snapshot: &Snapshot) -> HashSet<FilePath> {
    let configs = snapshot.layout().environments.iter().flat_map(|environment| environment.configs());
    snapshot.open_files().cloned().chain(configs.map(|(_, config)| config.path.clone())).collect()
}

fn is_long(snapshot: &Snapshot, path: &FilePath) -> bool {
    snapshot.file(path).and_then(|file| file.text()).is_some_and(|text| text.len() > LONG)
}

fn is_config(snapshot: &Snapshot, path: &FilePath) -> bool {
    snapshot.layout().environments.iter().any(|environment| environment.configs().any(|(_, config)| config.path == *path))
}

/// Whether all but the data is the same: files, configs, settings, nodes.
fn is_same_world(before: &Snapshot, now: &Snapshot) -> bool {
    before.complete == now.complete && before.has_same_layout(now) && before.selected_node() == now.selected_node()
}
