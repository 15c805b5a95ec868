//! The findings of one file, entry by entry.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use foldhash::HashMap;

use crate::diagnostics::ignores::{apply_ignores, unaccepted_findings};
use crate::diagnostics::{FileCheck, Finding, Needs, RulesConfig, in_order};
use crate::hiera::data::{DataFile, Part};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::work::{Work, count_work};
use crate::text::{FileId, FilePath, PartId};
use crate::workspace::Snapshot;
use crate::workspace::index::{KeyChanges, KeyIndex};

/// How many parts of a long file are checked before its first findings are published. Then three
/// times as many as before are checked, so that the client is sent few findings twice.
const FIRST_PARTS: usize = 250;
/// How many parts of other files the editor of one file may wait for. Tests use a small limit.
const SOME: usize = if cfg!(test) { 1 } else { 500 };
/// Up to how many keys are searched in a file one by one; of more keys, the file's own are searched
/// among them.
const FEW: usize = if cfg!(test) { 1 } else { 64 };

/// The findings of a file; none for one that no environment governs.
#[derive(Debug, Default)]
pub(super) struct FileFindings {
    data: Arc<DataFile>,
    of_file: Vec<Arc<Finding>>,
    cycles: Vec<Arc<Finding>>,
    may_have_cycles: bool,
    /// The findings of each part of the data that has any.
    of_entries: BTreeMap<PartId, Vec<Arc<Finding>>>,
    /// The root keys on whose definitions the findings of a part depend, if they are others than
    /// its own; `None` for all.
    reads: HashMap<PartId, Option<Box<[Arc<str>]>>>,
    /// The parts whose findings depend on definitions of root keys, by root key.
    readers: HashMap<Arc<str>, Vec<PartId>>,
    /// The parts whose findings depend on all root keys.
    readers_of_all: HashSet<PartId>,
    /// The parts that are still to be checked, for the first time or again. Findings are published
    /// when all of them are checked.
    dirty: Vec<PartId>,
    /// Whether the search for cycles is still to be done.
    dirty_cycles: bool,
    /// Whether all parts were checked at some time.
    was_clean: bool,
    /// Parts whose dependencies are not recorded yet.
    untracked: Vec<PartId>,
}

impl FileFindings {
    /// Returns the state of a file that was not checked yet.
    pub(super) fn new_unchecked() -> FileFindings {
        FileFindings { dirty_cycles: true, ..FileFindings::default() }
    }

    /// Returns the state of a file with these findings, which depend on no other file.
    pub(super) fn of_file(findings: Vec<Finding>) -> FileFindings {
        FileFindings { of_file: share_findings(findings), ..FileFindings::default() }
    }

    /// Returns the findings of the file at a path that are not accepted. Until all of its parts are
    /// checked, no comment counts as one that accepts none.
    pub(super) fn all_findings(
        &self,
        snapshot: &Snapshot,
        path: &FilePath,
        rules: &RulesConfig,
    ) -> Vec<Arc<Finding>> {
        let findings = in_order(snapshot, self.each_finding().cloned().collect());
        if self.is_clean() {
            apply_ignores(snapshot, path, rules, findings)
        } else {
            unaccepted_findings(snapshot, path, rules, findings)
        }
    }

    fn each_finding(&self) -> impl Iterator<Item = &Arc<Finding>> {
        self.of_file.iter().chain(&self.cycles).chain(self.of_entries.values().flatten())
    }

    /// Whether a finding may be another after these changes of other files.
    pub(super) fn may_depend_on(&self, changes: &KeyChanges) -> bool {
        changes.questions
            || changes.keys.contains(LOOKUP_OPTIONS)
            || self.may_have_cycles && !changes.keys.is_empty()
            || !self.readers_of_all.is_empty()
            || self.has_any_of(&changes.keys)
    }

    /// Whether some of these root keys are the file's own, or read by the file.
    fn has_any_of(&self, keys: &HashSet<Arc<str>>) -> bool {
        if keys.len() <= FEW {
            return keys
                .iter()
                .any(|key| self.readers.contains_key(key) || self.data.get(key).is_some());
        }
        let mut own = self.data.keys().filter_map(|key| key.as_str());
        self.readers.keys().any(|key| keys.contains(key)) || own.any(|key| keys.contains(key))
    }

    /// Whether a finding points into one of these files.
    pub(super) fn names_any(&self, files: &HashSet<FileId>) -> bool {
        self.each_finding()
            .any(|finding| finding.related.iter().any(|place| files.contains(&place.span.file)))
    }

    /// Whether the dependencies of all checked parts are recorded.
    pub(super) fn is_tracked(&self) -> bool {
        self.untracked.is_empty()
    }

    /// Whether no part is dirty.
    pub(super) fn is_clean(&self) -> bool {
        self.dirty.is_empty() && !self.dirty_cycles
    }

    /// Whether checking the dirty parts takes long.
    pub(super) fn has_much_dirty(&self) -> bool {
        self.dirty.len() > SOME || self.dirty_cycles && self.data.parts().len() > SOME
    }

    /// Whether some parts were never checked.
    pub(super) fn is_new(&self) -> bool {
        !self.was_clean
    }

    /// Returns how many parts of a new file are checked before its findings are published.
    pub(super) fn next_portion(&self) -> usize {
        let checked = self.data.parts().len().saturating_sub(self.dirty.len());
        FIRST_PARTS.max(checked * 3)
    }

    /// Marks the parts that these changes may have touched; returns whether there are any.
    pub(super) fn invalidate(&mut self, check: &FileCheck<'_>, changes: &KeyChanges) -> bool {
        let mut again: HashSet<PartId> = self.readers_of_all.clone();
        self.add_readers(&changes.keys, &mut again);
        self.take_data(check);
        self.add_owners(&changes.keys, &mut again);
        if changes.keys.contains(LOOKUP_OPTIONS) {
            again.extend(self.data.parts().iter().map(|part| part.id));
        }
        again.iter().for_each(|id| self.forget(*id));
        self.dirty.extend(again);
        // A part may be invalidated again before it is checked.
        self.dirty.sort_unstable();
        self.dirty.dedup();
        // A change of any definition on a cycle may open or close it.
        self.dirty_cycles |= changes.questions || self.may_have_cycles && !changes.keys.is_empty();
        self.dirty_cycles || !self.dirty.is_empty()
    }

    /// Adds the parts whose findings depend on definitions of some of these root keys.
    fn add_readers(&self, keys: &HashSet<Arc<str>>, parts: &mut HashSet<PartId>) {
        if keys.len() <= FEW {
            parts.extend(keys.iter().filter_map(|key| self.readers.get(key)).flatten());
            return;
        }
        for (key, readers) in &self.readers {
            count_work(Work::Step);
            if keys.contains(key) {
                parts.extend(readers);
            }
        }
    }

    /// Adds the parts in which some of these root keys stand.
    fn add_owners(&self, keys: &HashSet<Arc<str>>, parts: &mut HashSet<PartId>) {
        if keys.len() <= FEW {
            let owners = keys.iter().flat_map(|key| {
                count_work(Work::Step);
                self.data.parts_with(key)
            });
            parts.extend(owners.map(|part| part.id));
            return;
        }
        for part in self.data.parts().iter() {
            count_work(Work::Step);
            let mut own = part.data.members.iter().filter_map(|(key, _)| key.as_str());
            if own.any(|key| keys.contains(key)) {
                parts.insert(part.id);
            }
        }
    }

    /// Takes the data of a file that was edited, or is new.
    fn take_data(&mut self, check: &FileCheck<'_>) {
        if Arc::ptr_eq(&self.data, &check.data) {
            return;
        }
        let old = std::mem::replace(&mut self.data, check.data.clone());
        let (gone, come) = old.parts().changes_to(check.data.parts());
        gone.iter().for_each(|part| self.forget(part.id));
        self.dirty.extend(come.iter().map(|part| part.id));
        let known = Needs::known_at_most(check.context.snapshot);
        self.of_file = share_findings(check.check_file(known));
    }

    /// Checks the dirty parts, at most so many, in their order; returns whether none is left. The
    /// others have the findings of the rules that need no index, as they were published before. A
    /// cancelled snapshot leaves parts, too.
    pub(super) fn check(&mut self, check: &FileCheck<'_>, most: usize) -> bool {
        let cancel = check.context.snapshot.cancel_token();
        self.take_data(check);
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.sort_unstable();
        dirty.dedup();
        let parts = check.data.parts();
        check.removals.expect_parts(dirty.iter().take(most).filter_map(|id| parts.get(*id)));
        let mut dirty = dirty.into_iter();
        let mut goes_on = !cancel.is_cancelled();
        let mut left = most;
        while goes_on
            && left > 0
            && let Some(id) = dirty.next()
        {
            left -= 1;
            let Some(part) = check.data.parts().get(id) else { continue };
            self.check_entry(check, part);
            goes_on = !cancel.is_cancelled();
            if !goes_on {
                // The findings of a cancelled check may be incomplete.
                self.forget(id);
                self.dirty.push(id);
            }
        }
        let known = Needs::known_at_once(check.context.snapshot);
        for id in dirty {
            let part = check.data.parts().get(id).filter(|_| goes_on);
            let early = part.map_or_else(Vec::new, |part| check.check_entry(&part.data, known));
            self.put_findings(id, early);
            self.dirty.push(id);
        }
        if self.dirty_cycles && goes_on && self.dirty.is_empty() {
            self.may_have_cycles = check.may_have_cycles();
            self.cycles = if self.may_have_cycles {
                share_findings(check.check_cycles())
            } else {
                Vec::new()
            };
            self.dirty_cycles = cancel.is_cancelled();
        }
        self.was_clean |= self.is_clean();
        self.is_clean()
    }

    /// Checks an entry.
    fn check_entry(&mut self, check: &FileCheck<'_>, part: &Part) {
        count_work(Work::Check);
        let known = Needs::known_at_most(check.context.snapshot);
        self.put_findings(part.id, check.check_entry(&part.data, known));
        if check.depends_on_all(&part.data) {
            self.readers_of_all.insert(part.id);
        }
        self.untracked.push(part.id);
    }

    /// Records the dependencies of the findings of entries: their own keys, the keys that their
    /// tokens ask for, and the keys that the values of these ask for in turn, as a rule may look
    /// them up.
    pub(super) fn track_dependencies(&mut self, index: &KeyIndex, is_idle: &dyn Fn() -> bool) {
        self.untracked.sort_unstable();
        self.untracked.dedup();
        while let Some(id) = self.untracked.pop_if(|_| is_idle()) {
            let Some(part) = self.data.parts().get(id) else { continue };
            let own = part.data.members.iter().filter_map(|(key, _)| key.as_arc());
            let tokens = part.data.tokens.iter();
            let written = tokens.filter_map(|token| Some(token.reference.key()?.root_text()));
            let borrowed = part.data.borrowed().iter().flat_map(|of| of.asks.iter().cloned());
            let asked = written.chain(borrowed);
            if asked.clone().next().is_none() && !own.clone().any(|key| index.has_question(key)) {
                continue; // as with most
            }
            let reads = index.reach_of(own.cloned().chain(asked));
            match &reads {
                Some(keys) => keys
                    .iter()
                    .for_each(|key| self.readers.entry(key.clone()).or_default().push(part.id)),
                None => drop(self.readers_of_all.insert(part.id)),
            }
            self.reads.insert(part.id, reads);
        }
    }

    /// Puts the findings of an entry in the place of those that it had.
    fn put_findings(&mut self, id: PartId, found: Vec<Finding>) {
        if found.is_empty() {
            drop(self.of_entries.remove(&id))
        } else {
            drop(self.of_entries.insert(id, share_findings(found)))
        }
    }

    /// Drops the findings of an entry.
    fn forget(&mut self, id: PartId) {
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

/// Returns findings for several owners, without memory for more: they are kept for long, and a large
/// workspace has many.
fn share_findings(findings: Vec<Finding>) -> Vec<Arc<Finding>> {
    let mut shared = Vec::with_capacity(findings.len());
    // `collect` would keep the memory that the findings took before they were shared.
    shared.extend(findings.into_iter().map(|mut finding| {
        finding.message.shrink_to_fit();
        finding.related.shrink_to_fit();
        Arc::new(finding)
    }));
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::rules::RULES;
    use crate::text::Span;

    #[test]
    fn shared_findings_keep_no_memory_of_those_that_they_were_made_of() {
        let span = Span::in_file(FileId::new(1), Default::default());
        let mut findings = Vec::with_capacity(100);
        let mut message = String::with_capacity(100);
        message.push_str("one");
        findings.push(Finding::new(RULES[0], span, message).with_related(Some(span), "here"));
        let shared = share_findings(findings);
        let finding = &shared[0];
        let capacities =
            (shared.capacity(), finding.message.capacity(), finding.related.capacity());
        assert_eq!(capacities, (1, 3, 1));
    }
}
