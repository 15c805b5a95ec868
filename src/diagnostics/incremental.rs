//! The findings of what an editor looks at, from one revision to the next: what no change can have touched is not looked at again.
//!
//! Equal at any time to what [`check_file`](super::check_file) says.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexSet;

use super::{FileCheck, Finding, RulesConfig, in_order};
use crate::hiera::data::{DataFile, Part};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FileId, FilePath, PartId};
use crate::workspace::Snapshot;
use crate::workspace::index::{KeyChanges, KeyIndex};
use crate::workspace::parallel::on_all_cores;

/// The findings of the open files, and of every `hiera.yaml`, as of the last revision that was looked at.
#[derive(Debug, Default)]
pub struct Findings {
    seen: Option<(Snapshot, RulesConfig)>,
    /// What was seen before that: taking it apart takes as long as finding out what changed.
    outdated: Option<(Snapshot, RulesConfig)>,
    /// Files that are to be looked at and were not yet.
    put_off: BTreeSet<FilePath>,
    files: HashMap<FilePath, FileFindings>,
}

/// The findings of a file; none for one that no environment governs.
#[derive(Debug, Default)]
struct FileFindings {
    data: Arc<DataFile>,
    of_file: Vec<Finding>,
    circles: Vec<Finding>,
    may_have_circles: bool,
    /// Those of each part of the data that has any.
    of_entries: BTreeMap<PartId, Vec<Finding>>,
    /// The root keys on whose definitions the findings of a part depend, if they are others than its own; `None` for all.
    reads: HashMap<PartId, Option<Box<[Arc<str>]>>, foldhash::fast::RandomState>,
    /// Those parts, by root key.
    readers: HashMap<Arc<str>, Vec<PartId>, foldhash::fast::RandomState>,
    /// The parts whose findings depend on all.
    readers_of_all: HashSet<PartId>,
    /// Parts of which it is not noted yet what they depend on.
    unnoted: Vec<PartId>,
}

impl Findings {
    /// Goes on to a snapshot; tells the findings of each file where they, or places that they name, may be others than before.
    /// A file that is not looked at any more has none.
    ///
    /// Once the snapshot `is_wanted` no more, files that would have to be looked at as if for the first time are put off until the next one.
    pub fn update(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Vec<(FilePath, Vec<Finding>)> {
        let changes = match &self.seen {
            Some((before, same)) if same == rules && is_same_world(before, snapshot) => {
                Some(before.keys().changes_to(snapshot.keys()))
            }
            _ => None,
        };
        if changes.as_ref().is_some_and(KeyChanges::is_any) {
            self.note_readers(&|| true);
        }
        let updates = match (&self.seen, changes) {
            (Some((before, _)), Some(changes)) => {
                let edited: HashSet<FilePath> = before.files_changed(snapshot).into_iter().collect();
                let opened = before.open_files_changed(snapshot);
                let mut updates = self.follow(snapshot, rules, &changes, &edited);
                let (begin, stop): (Vec<_>, Vec<_>) =
                    opened.into_iter().partition(|(path, is_open)| *is_open || is_config(snapshot, path));
                let paths = |files: Vec<(FilePath, bool)>| files.into_iter().map(|(path, _)| path);
                updates.extend(self.look_away(paths(stop).collect()));
                // What was put off before waits for what is new.
                let mut new: IndexSet<FilePath> = self.put_off.iter().filter(|path| edited.contains(*path)).cloned().collect();
                new.extend(paths(begin).filter(|path| !self.files.contains_key(path)));
                new.extend(self.put_off.iter().cloned());
                updates.extend(self.look_at(snapshot, rules, new.into_iter().collect(), is_wanted));
                updates
            }
            _ => {
                let watched = watched(snapshot);
                let known = self.files.keys().chain(&self.put_off);
                let mut updates = self.look_away(known.filter(|path| !watched.contains(path)).cloned().collect());
                updates.extend(self.look_at(snapshot, rules, watched.into_iter().collect(), is_wanted));
                updates
            }
        };
        self.outdated = self.seen.replace((snapshot.clone(), rules.clone()));
        updates
    }

    /// Does what can wait until the findings have been told, as long as it `is_idle`: lets go of what is not needed any more,
    /// and notes what findings depend on.
    pub fn tidy(&mut self, is_idle: &dyn Fn() -> bool) {
        self.outdated = None;
        self.note_readers(is_idle);
    }

    /// Notes of all entries what their findings depend on, while nothing has changed since they were looked at.
    fn note_readers(&mut self, is_idle: &dyn Fn() -> bool) {
        let Some((snapshot, _)) = &self.seen else { return };
        for file in self.files.values_mut() {
            file.note_readers(snapshot.keys(), is_idle);
        }
    }

    /// Looks at files as if for the first time.
    fn look_at(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        paths: Vec<FilePath>,
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Vec<(FilePath, Vec<Finding>)> {
        snapshot.keys(); // Once, before all threads wait for it.
        let look = |path: &FilePath| {
            let file = FileFindings::new(snapshot, path, rules);
            let all = file.all(snapshot);
            (file, all)
        };
        let found = on_all_cores(&paths, |path| is_wanted().then(|| look(path)));
        let mut updates = Vec::new();
        for (path, found) in paths.into_iter().zip(found) {
            match found {
                Some((file, all)) => {
                    self.put_off.remove(&path);
                    self.files.insert(path.clone(), file);
                    updates.push((path, all));
                }
                None => {
                    self.files.remove(&path);
                    self.put_off.insert(path);
                }
            }
        }
        updates
    }

    /// Whether some files were put off.
    pub fn has_more_to_do(&self) -> bool {
        !self.put_off.is_empty()
    }

    /// Stops looking at files.
    fn look_away(&mut self, paths: Vec<FilePath>) -> Vec<(FilePath, Vec<Finding>)> {
        let is_known = |path: &FilePath| self.files.remove(path).is_some() | self.put_off.remove(path);
        paths.into_iter().filter(is_known).map(|path| (path, Vec::new())).collect()
    }

    fn follow(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        changes: &KeyChanges,
        edited: &HashSet<FilePath>,
    ) -> Vec<(FilePath, Vec<Finding>)> {
        // Files that no level reads are not in the index, and are looked at all the same.
        let moved: HashSet<FileId> =
            changes.files.iter().chain(edited).filter_map(|path| Some(snapshot.file(path)?.id)).collect();
        if moved.is_empty() {
            return Vec::new();
        }
        let mut updates = Vec::new();
        for (path, file) in &mut self.files {
            let mut is_new = edited.contains(path);
            if is_new || file.may_depend_on(changes) {
                is_new |= FileCheck::of(snapshot, path, rules, |check| file.follow(check, changes)).unwrap_or(false);
            }
            if is_new || file.names_any(&moved) {
                updates.push((path.clone(), file.all(snapshot)));
            }
        }
        updates
    }
}

impl FileFindings {
    fn new(snapshot: &Snapshot, path: &FilePath, rules: &RulesConfig) -> FileFindings {
        let found = FileCheck::of(snapshot, path, rules, |check| {
            let may_have_circles = check.may_have_circles();
            let mut new = FileFindings {
                data: check.data.clone(),
                of_file: check.file(),
                circles: if may_have_circles { check.circles() } else { Vec::new() },
                may_have_circles,
                ..FileFindings::default()
            };
            check.data.parts().iter().for_each(|part| new.look_at(check, part));
            new
        });
        found.unwrap_or_default()
    }

    fn all(&self, snapshot: &Snapshot) -> Vec<Finding> {
        in_order(snapshot, self.each().cloned().collect())
    }

    fn each(&self) -> impl Iterator<Item = &Finding> {
        self.of_file.iter().chain(&self.circles).chain(self.of_entries.values().flatten())
    }

    /// Whether a finding may be another after these changes of other files.
    fn may_depend_on(&self, changes: &KeyChanges) -> bool {
        changes.questions
            || changes.keys.contains(LOOKUP_OPTIONS)
            || self.may_have_circles && !changes.keys.is_empty()
            || !self.readers_of_all.is_empty()
            || changes.keys.iter().any(|key| self.readers.contains_key(key) || self.data.get(key).is_some())
    }

    /// Whether a finding points into one of these files.
    fn names_any(&self, files: &HashSet<FileId>) -> bool {
        self.each().any(|finding| finding.related.iter().any(|place| files.contains(&place.span.file)))
    }

    /// Goes on to the data of another revision; whether anything was looked at again.
    fn follow(&mut self, check: &FileCheck<'_>, changes: &KeyChanges) -> bool {
        let is_edited = !Arc::ptr_eq(&self.data, &check.data);
        let new = if is_edited { self.take(check) } else { HashSet::new() };
        if is_edited {
            self.of_file = check.file();
        }
        let mut again: HashSet<PartId> = self.readers_of_all.clone();
        for key in &changes.keys {
            again.extend(self.readers.get(key).into_iter().flatten());
            again.extend(self.data.parts_with(key).map(|part| part.id));
        }
        if changes.keys.contains(LOOKUP_OPTIONS) {
            again.extend(self.data.parts().iter().map(|part| part.id));
        }
        for part in again.difference(&new).filter_map(|id| check.data.parts().get(*id)) {
            self.look_away(part.id);
            self.look_at(check, part);
        }
        if changes.questions {
            self.may_have_circles = check.may_have_circles();
        }
        // Whether a lookup really goes round, and where, any definition on the way may change.
        let circles = changes.questions || self.may_have_circles && !changes.keys.is_empty();
        if circles {
            self.circles = check.circles();
        }
        is_edited || circles || !again.is_empty()
    }

    /// Takes the data of an edited file; entries that are new are looked at, and told.
    fn take(&mut self, check: &FileCheck<'_>) -> HashSet<PartId> {
        let old = std::mem::replace(&mut self.data, check.data.clone());
        let (gone, come) = old.parts().changes_to(check.data.parts());
        gone.iter().for_each(|part| self.look_away(part.id));
        come.iter().for_each(|part| self.look_at(check, part));
        come.iter().map(|part| part.id).collect()
    }

    /// Looks at an entry.
    fn look_at(&mut self, check: &FileCheck<'_>, part: &Part) {
        let found = check.entry(&part.facts);
        if !found.is_empty() {
            self.of_entries.insert(part.id, found);
        }
        self.unnoted.push(part.id);
    }

    /// Notes what the findings of entries depend on: on their own keys, on those that their tokens ask for, and on whatever the values of
    /// these ask for in turn: a rule may look them up.
    fn note_readers(&mut self, index: &KeyIndex, is_idle: &dyn Fn() -> bool) {
        self.unnoted.sort_unstable();
        self.unnoted.dedup();
        while let Some(id) = self.unnoted.pop_if(|_| is_idle()) {
            let Some(part) = self.data.parts().get(id) else { continue };
            let own = part.facts.members.iter().filter_map(|(key, _)| key.as_arc());
            let asked = part.facts.tokens.iter().filter_map(|token| Some(token.reference.key()?.root_text()));
            if asked.clone().next().is_none() && !own.clone().any(|key| index.asks(key)) {
                continue; // as with most
            }
            let reads = index.reach_of(own.cloned().chain(asked));
            match &reads {
                Some(keys) => keys.iter().for_each(|key| self.readers.entry(key.clone()).or_default().push(part.id)),
                None => drop(self.readers_of_all.insert(part.id)),
            }
            self.reads.insert(part.id, reads);
        }
    }

    /// Forgets what was found in an entry.
    fn look_away(&mut self, id: PartId) {
        self.of_entries.remove(&id);
        self.readers_of_all.remove(&id);
        for key in self.reads.remove(&id).flatten().iter().flatten() {
            if let Some(readers) = self.readers.get_mut(key) {
                readers.retain(|reader| *reader != id);
                if readers.is_empty() {
                    self.readers.remove(key);
                }
            }
        }
    }
}

/// The files whose findings an editor is told: the open ones, and every `hiera.yaml`.
fn watched(snapshot: &Snapshot) -> HashSet<FilePath> {
    let configs = snapshot.layout().environments.iter().flat_map(|environment| environment.configs());
    snapshot.open_files().cloned().chain(configs.map(|(_, config)| config.path.clone())).collect()
}

fn is_config(snapshot: &Snapshot, path: &FilePath) -> bool {
    snapshot.layout().environments.iter().any(|environment| environment.configs().any(|(_, config)| config.path == *path))
}

/// Whether all but the data is the same: files, configs, settings, nodes.
fn is_same_world(before: &Snapshot, now: &Snapshot) -> bool {
    before.complete == now.complete && before.has_same_layout(now) && before.selected_node() == now.selected_node()
}
