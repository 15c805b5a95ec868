//! The findings of one file, entry by entry.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use foldhash::HashMap;

use crate::diagnostics::{FileCheck, Finding, in_order};
use crate::hiera::data::{DataFile, Part};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FileId, PartId};
use crate::workspace::Snapshot;
use crate::workspace::index::{KeyChanges, KeyIndex};

/// How many parts of other files who edits one may wait for. To tests, a few are many.
const SOME: usize = if cfg!(test) { 1 } else { 500 };
/// How many keys are looked for in a file one by one; among more the file's own are looked for.
const FEW: usize = if cfg!(test) { 1 } else { 64 };

/// The findings of a file; none for one that no environment governs.
#[derive(Debug, Default)]
pub(super) struct FileFindings {
    data: Arc<DataFile>,
    of_file: Vec<Finding>,
    circles: Vec<Finding>,
    may_have_circles: bool,
    /// Those of each part of the data that has any.
    of_entries: BTreeMap<PartId, Vec<Finding>>,
    /// The root keys on whose definitions the findings of a part depend, if they are others than its own; `None` for all.
    reads: HashMap<PartId, Option<Box<[Arc<str>]>>>,
    /// Those parts, by root key.
    readers: HashMap<Arc<str>, Vec<PartId>>,
    /// The parts whose findings depend on all.
    readers_of_all: HashSet<PartId>,
    /// The parts that are still to be looked at, for the first time or again. Their findings are told when all of them are.
    unseen: Vec<PartId>,
    /// Whether circles are still to be looked for.
    unseen_circles: bool,
    /// Parts of which it is not noted yet what they depend on.
    unnoted: Vec<PartId>,
}

impl FileFindings {
    /// Of a file of which nothing was seen yet.
    pub(super) fn unseen() -> FileFindings {
        FileFindings { unseen_circles: true, ..FileFindings::default() }
    }

    pub(super) fn all(&self, snapshot: &Snapshot) -> Vec<Finding> {
        in_order(snapshot, self.each().cloned().collect())
    }

    fn each(&self) -> impl Iterator<Item = &Finding> {
        self.of_file.iter().chain(&self.circles).chain(self.of_entries.values().flatten())
    }

    /// Whether a finding may be another after these changes of other files.
    pub(super) fn may_depend_on(&self, changes: &KeyChanges) -> bool {
        changes.questions
            || changes.keys.contains(LOOKUP_OPTIONS)
            || self.may_have_circles && !changes.keys.is_empty()
            || !self.readers_of_all.is_empty()
            || self.has_any_of(&changes.keys)
    }

    /// Whether some of these root keys are its own, or read by it.
    fn has_any_of(&self, keys: &HashSet<Arc<str>>) -> bool {
        if keys.len() <= FEW {
            return keys.iter().any(|key| self.readers.contains_key(key) || self.data.get(key).is_some());
        }
        let mut own = self.data.keys().filter_map(|key| key.as_str());
        self.readers.keys().any(|key| keys.contains(key)) || own.any(|key| keys.contains(key))
    }

    /// Whether a finding points into one of these files.
    pub(super) fn names_any(&self, files: &HashSet<FileId>) -> bool {
        self.each().any(|finding| finding.related.iter().any(|place| files.contains(&place.span.file)))
    }

    /// Whether it is noted of all that was looked at what it depends on.
    pub(super) fn is_noted(&self) -> bool {
        self.unnoted.is_empty()
    }

    /// Whether it takes no time to look at what is unseen.
    pub(super) fn is_seen(&self) -> bool {
        self.unseen.is_empty() && !self.unseen_circles
    }

    /// Whether it takes long.
    pub(super) fn has_much_unseen(&self) -> bool {
        self.unseen.len() > SOME || self.unseen_circles && self.data.parts().len() > SOME
    }

    /// Notes what these changes may have touched; whether that is anything.
    pub(super) fn follow(&mut self, check: &FileCheck<'_>, changes: &KeyChanges) -> bool {
        let mut again: HashSet<PartId> = self.readers_of_all.clone();
        again.extend(changes.keys.iter().filter_map(|key| self.readers.get(key)).flatten());
        self.take(check);
        again.extend(changes.keys.iter().flat_map(|key| self.data.parts_with(key)).map(|part| part.id));
        if changes.keys.contains(LOOKUP_OPTIONS) {
            again.extend(self.data.parts().iter().map(|part| part.id));
        }
        again.iter().for_each(|id| self.look_away(*id));
        self.unseen.extend(again);
        // It may follow again before it is looked at.
        self.unseen.sort_unstable();
        self.unseen.dedup();
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
    pub(super) fn look_at(&mut self, check: &FileCheck<'_>) -> bool {
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
        self.is_seen()
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
    pub(super) fn note_readers(&mut self, index: &KeyIndex, is_idle: &dyn Fn() -> bool) {
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
