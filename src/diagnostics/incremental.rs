//! The findings of what an editor looks at, from one revision to the next: what no change can have touched is not looked at again.
//!
//! Equal at any time to what [`check_file`](super::check_file) says.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{FileCheck, Finding, RulesConfig, in_order};
use crate::hiera::data::{DataFile, Facts, Reference};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FileId, FilePath, PartId};
use crate::workspace::Snapshot;
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
    data: Arc<DataFile>,
    of_file: Vec<Finding>,
    circles: Vec<Finding>,
    may_have_circles: bool,
    /// For each part of the data.
    of_entries: Vec<Vec<Finding>>,
    /// The parts whose findings depend on a root key, by the key.
    readers: HashMap<Arc<str>, Vec<PartId>>,
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
        if changes.files.is_empty() {
            return Vec::new();
        }
        let moved: HashSet<FileId> = changes.files.iter().filter_map(|path| Some(snapshot.file(path)?.id)).collect();
        let mut updates = Vec::new();
        for (path, file) in &mut self.files {
            let is_new = FileCheck::of(snapshot, path, rules, |check| file.follow(check, changes)).unwrap_or(false);
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
            let of_entries = check.data.parts().iter().map(|part| check.entry(&part.facts)).collect();
            let mut new = FileFindings {
                data: check.data.clone(),
                of_file: check.file(),
                circles: check.circles(),
                may_have_circles: check.may_have_circles(),
                of_entries,
                readers: HashMap::new(),
            };
            check.data.parts().iter().for_each(|part| new.reads(part.id, &part.facts));
            new
        });
        found.unwrap_or_default()
    }

    fn all(&self, snapshot: &Snapshot) -> Vec<Finding> {
        let found = self.of_file.iter().chain(&self.circles).chain(self.of_entries.iter().flatten());
        in_order(snapshot, found.cloned().collect())
    }

    /// Whether a finding points into one of these files, or is in one.
    fn names_any(&self, files: &HashSet<FileId>) -> bool {
        let mut found = self.of_file.iter().chain(&self.circles).chain(self.of_entries.iter().flatten());
        found.any(|finding| finding.related.iter().any(|place| files.contains(&place.span.file)))
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
        for number in again.iter().filter_map(|id| self.data.part_number(*id)) {
            self.of_entries[number] = check.entry(&parts[number].facts);
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
        old.parts()[head..old.parts().len() - tail].iter().for_each(|part| self.reads_no_more(part.id, &part.facts));
        let new = &check.data.parts()[head..check.data.parts().len() - tail];
        new.iter().for_each(|part| self.reads(part.id, &part.facts));
        let found = new.iter().map(|part| check.entry(&part.facts));
        self.of_entries.splice(head..old.parts().len() - tail, found);
    }

    fn reads(&mut self, id: PartId, facts: &Facts) {
        for key in keys_read(facts) {
            let readers = self.readers.entry(key).or_default();
            if !readers.contains(&id) {
                readers.push(id);
            }
        }
    }

    fn reads_no_more(&mut self, id: PartId, facts: &Facts) {
        for key in keys_read(facts) {
            if let Some(readers) = self.readers.get_mut(&key) {
                readers.retain(|reader| *reader != id);
                if readers.is_empty() {
                    self.readers.remove(&key);
                }
            }
        }
    }
}

/// The root keys on whose definitions an entry's findings depend: its own, and those that its tokens ask for.
fn keys_read(facts: &Facts) -> impl Iterator<Item = Arc<str>> {
    let own = facts.members.iter().filter_map(|(key, _)| key.as_str()).map(Arc::from);
    let asked = facts.tokens.iter().filter_map(|token| match &token.reference {
        Reference::Key { key, .. } => Some(Arc::from(key.root_text())),
        Reference::Variable(_) => None,
    });
    own.chain(asked)
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
