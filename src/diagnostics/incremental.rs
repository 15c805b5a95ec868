//! The findings of what an editor looks at, from one revision to the next: what no change can have touched is not looked at again.
//!
//! Equal at any time to what [`check_file`](super::check_file) says.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{FileCheck, Finding, RulesConfig, in_order};
use crate::hiera::data::{DataFile, Facts};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FileId, FilePath, PartId};
use crate::workspace::Snapshot;
use crate::workspace::file::File;
use crate::workspace::index::KeyChanges;

/// The findings of the open files, and of every `hiera.yaml`, as of the last revision that was looked at.
#[derive(Debug, Default)]
pub struct Findings {
    seen: Option<(Snapshot, RulesConfig)>,
    files: HashMap<FilePath, FileFindings>,
}

/// The findings of a file; none for one that no environment governs.
#[derive(Debug, Default)]
struct FileFindings {
    version: Option<Arc<File>>,
    data: Arc<DataFile>,
    of_file: Vec<Finding>,
    circles: Vec<Finding>,
    may_have_circles: bool,
    /// For each part of the data.
    of_entries: Vec<EntryFindings>,
    /// The parts whose findings depend on a root key, by the key.
    readers: HashMap<Arc<str>, Vec<PartId>>,
}

/// The findings of an entry.
#[derive(Debug)]
struct EntryFindings {
    found: Vec<Finding>,
    /// The root keys on whose definitions they depend; `None` for all.
    reads: Option<HashSet<Arc<str>>>,
}

impl Findings {
    /// Goes on to a snapshot; tells the findings of each file where they, or places that they name, may be others than before.
    /// A file that is not looked at any more has none.
    pub fn update(&mut self, snapshot: &Snapshot, rules: &RulesConfig) -> Vec<(FilePath, Vec<Finding>)> {
        let changes = match &self.seen {
            Some((before, same)) if same == rules && is_same_world(before, snapshot) => {
                Some(before.keys().changes_to(snapshot.keys()))
            }
            _ => None,
        };
        let mut updates = match &changes {
            Some(changes) => self.follow(snapshot, rules, changes),
            None => self.begin_anew(snapshot, rules),
        };
        match (&self.seen, changes) {
            (Some((before, _)), Some(_)) => {
                for (path, is_open) in before.open_files_changed(snapshot) {
                    updates.extend(self.look_at(snapshot, rules, &path, is_open || is_config(snapshot, &path)));
                }
            }
            _ => {
                let watched = watched(snapshot);
                let known: Vec<FilePath> = self.files.keys().filter(|path| !watched.contains(path)).cloned().collect();
                known.iter().for_each(|path| updates.extend(self.look_at(snapshot, rules, path, false)));
                watched.iter().for_each(|path| updates.extend(self.look_at(snapshot, rules, path, true)));
            }
        }
        self.seen = Some((snapshot.clone(), rules.clone()));
        updates
    }

    fn begin_anew(&mut self, snapshot: &Snapshot, rules: &RulesConfig) -> Vec<(FilePath, Vec<Finding>)> {
        for (path, file) in &mut self.files {
            *file = FileFindings::new(snapshot, path, rules);
        }
        self.files.iter().map(|(path, file)| (path.clone(), file.all(snapshot))).collect()
    }

    /// Begins to look at a file, or stops; what there is to tell of it if that is new.
    fn look_at(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        path: &FilePath,
        wanted: bool,
    ) -> Option<(FilePath, Vec<Finding>)> {
        match (self.files.contains_key(path), wanted) {
            (false, true) => {
                let file = FileFindings::new(snapshot, path, rules);
                let all = file.all(snapshot);
                self.files.insert(path.clone(), file);
                Some((path.clone(), all))
            }
            (true, false) => {
                self.files.remove(path);
                Some((path.clone(), Vec::new()))
            }
            _ => None,
        }
    }

    fn follow(&mut self, snapshot: &Snapshot, rules: &RulesConfig, changes: &KeyChanges) -> Vec<(FilePath, Vec<Finding>)> {
        // Files that no level reads are not in the index, and are looked at all the same.
        let is_edited = |(path, file): &(&FilePath, &FileFindings)| match (&file.version, snapshot.file(path)) {
            (Some(before), Some(now)) => !Arc::ptr_eq(before, now),
            (before, now) => before.is_some() != now.is_some(),
        };
        let edited: HashSet<FilePath> = self.files.iter().filter(is_edited).map(|(path, _)| path.clone()).collect();
        let moved: HashSet<FileId> =
            changes.files.iter().chain(&edited).filter_map(|path| Some(snapshot.file(path)?.id)).collect();
        if moved.is_empty() {
            return Vec::new();
        }
        let mut updates = Vec::new();
        for (path, file) in &mut self.files {
            let mut is_new = edited.contains(path);
            if is_new || file.may_depend_on(changes) {
                is_new |= FileCheck::of(snapshot, path, rules, |check| file.follow(check, changes)).unwrap_or(false);
                file.version = snapshot.file(path).cloned();
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
            let mut new = FileFindings {
                data: check.data.clone(),
                of_file: check.file(),
                circles: check.circles(),
                may_have_circles: check.may_have_circles(),
                of_entries: check.data.parts().iter().map(|part| EntryFindings::new(check, &part.facts)).collect(),
                ..FileFindings::default()
            };
            (0..new.of_entries.len()).for_each(|number| new.reads(number));
            new
        });
        FileFindings { version: snapshot.file(path).cloned(), ..found.unwrap_or_default() }
    }

    fn all(&self, snapshot: &Snapshot) -> Vec<Finding> {
        in_order(snapshot, self.each().cloned().collect())
    }

    fn each(&self) -> impl Iterator<Item = &Finding> {
        self.of_file.iter().chain(&self.circles).chain(self.of_entries.iter().flat_map(|entry| &entry.found))
    }

    /// Whether a finding may be another after these changes of other files.
    fn may_depend_on(&self, changes: &KeyChanges) -> bool {
        changes.questions
            || changes.keys.contains(LOOKUP_OPTIONS)
            || self.may_have_circles && !changes.keys.is_empty()
            || self.of_entries.iter().any(|entry| entry.reads.is_none())
            || changes.keys.iter().any(|key| self.readers.contains_key(key))
    }

    /// Whether a finding points into one of these files.
    fn names_any(&self, files: &HashSet<FileId>) -> bool {
        self.each().any(|finding| finding.related.iter().any(|place| files.contains(&place.span.file)))
    }

    /// Goes on to the data of another revision; whether anything was looked at again.
    fn follow(&mut self, check: &FileCheck<'_>, changes: &KeyChanges) -> bool {
        let is_edited = !Arc::ptr_eq(&self.data, &check.data);
        let mut again: HashSet<PartId> = changes.keys.iter().filter_map(|key| self.readers.get(key)).flatten().copied().collect();
        if is_edited {
            self.take(check);
            self.of_file = check.file();
        }
        let parts = self.data.parts();
        if changes.keys.contains(LOOKUP_OPTIONS) {
            again.extend(parts.iter().map(|part| part.id));
        }
        again.extend(parts.iter().zip(&self.of_entries).filter(|(_, entry)| entry.reads.is_none()).map(|(part, _)| part.id));
        let numbers: Vec<usize> = again.iter().filter_map(|id| self.data.part_number(*id)).collect();
        for number in numbers {
            self.reads_no_more(number, self.data.parts()[number].id);
            self.of_entries[number] = EntryFindings::new(check, &check.data.parts()[number].facts);
            self.reads(number);
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

    /// Takes the data of an edited file; entries that are new are checked.
    fn take(&mut self, check: &FileCheck<'_>) {
        let old = std::mem::replace(&mut self.data, check.data.clone());
        let (head, tail) = old.same_parts(&self.data);
        let gone = head..old.parts().len() - tail;
        gone.clone().for_each(|number| self.reads_no_more(number, old.parts()[number].id));
        let come = head..check.data.parts().len() - tail;
        let found = check.data.parts()[come.clone()].iter().map(|part| EntryFindings::new(check, &part.facts));
        self.of_entries.splice(gone, found);
        come.for_each(|number| self.reads(number));
    }

    fn reads(&mut self, number: usize) {
        let id = self.data.parts()[number].id;
        for key in self.of_entries[number].reads.iter().flatten() {
            self.readers.entry(key.clone()).or_default().push(id);
        }
    }

    fn reads_no_more(&mut self, number: usize, id: PartId) {
        for key in self.of_entries[number].reads.iter().flatten() {
            if let Some(readers) = self.readers.get_mut(key) {
                readers.retain(|reader| *reader != id);
                if readers.is_empty() {
                    self.readers.remove(key);
                }
            }
        }
    }
}

impl EntryFindings {
    /// Looks at an entry. What is found depends on its own keys, on those that its tokens ask for, and on whatever their values ask for in
    /// turn: a rule may look them up.
    fn new(check: &FileCheck<'_>, facts: &Facts) -> EntryFindings {
        let own = facts.members.iter().filter_map(|(key, _)| key.as_str());
        let asked: Vec<String> = facts.tokens.iter().filter_map(|token| Some(token.reference.key()?.root_text())).collect();
        let reads = check.context.snapshot.keys().reach_of(own.chain(asked.iter().map(String::as_str)));
        EntryFindings { found: check.entry(facts), reads }
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
