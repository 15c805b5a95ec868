//! The findings of what an editor looks at, from one revision to the next: what no change can have touched is not looked at again.
//!
//! Equal at any time to what [`check_file`](super::check_file) says.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex};

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
    files: HashMap<FilePath, FileFindings>,
    /// Files with parts that are to be looked at and were not yet.
    put_off: BTreeSet<FilePath>,
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
    /// The parts that are still to be looked at, for the first time or again. Their findings are told when all of them are.
    unseen: Vec<PartId>,
    /// Whether circles are still to be looked for.
    unseen_circles: bool,
    /// Parts of which it is not noted yet what they depend on.
    unnoted: Vec<PartId>,
}

/// How many parts of other files who edits one may wait for, and how many bytes of one that was opened. To tests, a few are many.
const SOME: usize = if cfg!(test) { 1 } else { 500 };
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
                updates = self.look_away(paths(stop).collect());
                urgent.extend(self.follow(snapshot, rules, &changes, &edited));
                urgent.extend(self.put_off.iter().filter(|path| edited.contains(*path)).cloned());
                let begin = paths(begin).filter(|path| !self.files.contains_key(path));
                let (long, short): (Vec<_>, Vec<_>) = begin.partition(|path| is_long(snapshot, path));
                urgent.extend(short);
                self.put_off.extend(long);
            }
            (seen, _) => {
                let watched = watched(snapshot);
                let edited = seen.as_ref().map(|(before, _)| before.files_changed(snapshot)).unwrap_or_default();
                urgent.extend(edited.into_iter().filter(|path| watched.contains(path) && !is_long(snapshot, path)));
                let known = self.files.keys().chain(&self.put_off);
                updates = self.look_away(known.filter(|path| !watched.contains(path)).cloned().collect());
                self.files.clear();
                self.put_off.extend(watched);
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
        let files: Vec<_> = paths
            .into_iter()
            .map(|path| {
                let known = self.files.remove(&path);
                (path, Mutex::new(known))
            })
            .collect();
        let told = on_all_cores(&files, |(path, file)| {
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
        });
        let mut updates = Vec::new();
        for ((path, file), told) in files.into_iter().zip(told) {
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

    /// Stops looking at files.
    fn look_away(&mut self, paths: Vec<FilePath>) -> Vec<(FilePath, Vec<Finding>)> {
        let is_known = |path: &FilePath| self.files.remove(path).is_some() | self.put_off.remove(path);
        paths.into_iter().filter(is_known).map(|path| (path, Vec::new())).collect()
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

impl FileFindings {
    /// Of a file of which nothing was seen yet.
    fn unseen() -> FileFindings {
        FileFindings { unseen_circles: true, ..FileFindings::default() }
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

    fn has_much_unseen(&self) -> bool {
        self.unseen.len() > SOME || self.unseen_circles && self.data.parts().len() > SOME
    }

    /// Notes what these changes may have touched; whether that is anything.
    fn follow(&mut self, check: &FileCheck<'_>, changes: &KeyChanges) -> bool {
        let mut again: HashSet<PartId> = self.readers_of_all.clone();
        again.extend(changes.keys.iter().filter_map(|key| self.readers.get(key)).flatten());
        self.take(check);
        again.extend(changes.keys.iter().flat_map(|key| self.data.parts_with(key)).map(|part| part.id));
        if changes.keys.contains(LOOKUP_OPTIONS) {
            again.extend(self.data.parts().iter().map(|part| part.id));
        }
        again.iter().for_each(|id| self.look_away(*id));
        self.unseen.extend(again);
        // Whether a lookup really goes round, and where, any definition on the way may change.
        self.unseen_circles |= changes.questions || self.may_have_circles && !changes.keys.is_empty();
        self.unseen_circles || !self.unseen.is_empty()
    }

    /// Takes the data of a file that was edited, or is new.
    fn take(&mut self, check: &FileCheck<'_>) {
        if Arc::ptr_eq(&self.data, &check.data) {
            return;
        }
        let old = std::mem::replace(&mut self.data, check.data.clone());
        let (gone, come) = old.parts().changes_to(check.data.parts());
        gone.iter().for_each(|part| self.look_away(part.id));
        self.unseen.extend(come.iter().map(|part| part.id));
        self.of_file = check.file();
    }

    /// Looks at what is unseen; whether all of it was, before somebody ceased to wait for it.
    fn look_at(&mut self, check: &FileCheck<'_>) -> bool {
        let wanted = check.context.snapshot.wanted();
        self.take(check);
        let mut unseen = std::mem::take(&mut self.unseen);
        unseen.sort_unstable();
        unseen.dedup();
        let mut unseen = unseen.into_iter();
        let mut goes_on = wanted.is_so();
        while goes_on && let Some(id) = unseen.next() {
            let Some(part) = check.data.parts().get(id) else { continue };
            self.look_at_part(check, part);
            goes_on = wanted.is_so();
            if !goes_on {
                // What was found may be half of it.
                self.look_away(id);
                self.unseen.push(id);
            }
        }
        self.unseen.extend(unseen);
        if self.unseen_circles && goes_on {
            self.may_have_circles = check.may_have_circles();
            self.circles = if self.may_have_circles { check.circles() } else { Vec::new() };
            self.unseen_circles = !wanted.is_so();
        }
        self.unseen.is_empty() && !self.unseen_circles
    }

    /// Looks at an entry.
    fn look_at_part(&mut self, check: &FileCheck<'_>, part: &Part) {
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
