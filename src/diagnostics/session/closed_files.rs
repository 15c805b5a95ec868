//! The findings of closed files. They are computed while the server is idle, so that a file that is
//! opened has its findings at once.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::HashMap;
use indexmap::IndexSet;

use super::ReportedFindings;
use super::file::FileFindings;
use crate::diagnostics::{FileCheck, Finding, RulesConfig};
use crate::fleet::answer_cache::AnswerCache;
use crate::text::{FileId, FilePath};
use crate::workspace::Snapshot;
use crate::workspace::index::KeyChanges;

/// Closed files as they were when checked, the changes since, and the files still to check.
#[derive(Debug, Default)]
pub(super) struct ClosedFiles {
    files: HashMap<FilePath, FileFindings>,
    /// Changes not yet applied to `files`.
    pending: KeyChanges,
    /// The files to check; `None` until they have been determined.
    next: Option<Files>,
    /// Whether all files are checked, and not only the first ones.
    is_unlimited: bool,
}

/// Files, each once; the last one is the next.
type Files = IndexSet<FilePath, foldhash::fast::RandomState>;

/// How many bytes of files are checked ahead. The limit bounds the memory: in a large workspace
/// only the first files are ready.
const MOST: u64 = 4 << 20;

impl ClosedFiles {
    /// Returns a set without a limit: every closed file is checked.
    pub(super) fn without_limit() -> ClosedFiles {
        ClosedFiles { is_unlimited: true, ..ClosedFiles::default() }
    }

    /// Returns a set with the same limit, before any file is checked.
    pub(super) fn new_empty(&self) -> ClosedFiles {
        ClosedFiles { is_unlimited: self.is_unlimited, ..ClosedFiles::default() }
    }

    /// Returns the findings of a file that was checked; `None` where something has changed since.
    pub(super) fn current_findings(
        &self,
        snapshot: &Snapshot,
        path: &FilePath,
        rules: &RulesConfig,
    ) -> Option<Vec<Arc<Finding>>> {
        let file = self.files.get(path).filter(|_| !self.pending.is_any())?;
        Some(file.all_findings(snapshot, path, rules))
    }

    /// Takes the findings of a file that was closed. The dependencies of its entries must be
    /// recorded.
    pub(super) fn close(&mut self, path: FilePath, file: FileFindings) {
        self.files.insert(path, file);
    }

    /// Takes a file that was closed before it was checked.
    pub(super) fn close_unchecked(&mut self, path: FilePath) {
        if let Some(next) = &mut self.next {
            next.insert(path);
        }
    }

    /// Returns the findings of a file that was opened, with its outdated parts marked.
    pub(super) fn reopen(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        path: &FilePath,
    ) -> Option<FileFindings> {
        let mut file = self.files.remove(path)?;
        if !self.pending.is_any() {
            return Some(file);
        }
        let answers = AnswerCache::default();
        FileCheck::check_with(snapshot, path, rules, &answers, |check: &FileCheck<'_>| {
            file.invalidate(check, &self.pending)
        })
        .map(|_| file)
    }

    /// Records changes; the files that they touch are determined later.
    pub(super) fn record_change(&mut self, changes: &KeyChanges) {
        if !self.files.is_empty() {
            self.pending.extend(changes);
        }
    }

    /// Whether closed files remain to be checked.
    pub(super) fn has_more_to_do(&self) -> bool {
        self.pending.is_any() || self.next.as_ref().is_none_or(|next| !next.is_empty())
    }

    /// Whether all files are checked.
    pub(super) fn is_unlimited(&self) -> bool {
        self.is_unlimited
    }

    /// Checks files that are not `open`: one, and more as long as `has_time`. A check that was
    /// begun is discarded only when the snapshot is cancelled. Returns the findings of the files
    /// that were checked; a file that has nothing to do with Hiera has none.
    pub(super) fn look_ahead(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        (open, answers): (&HashMap<FilePath, FileFindings>, &AnswerCache),
        has_time: &dyn Fn() -> bool,
    ) -> Vec<ReportedFindings> {
        let cancel = snapshot.cancel_token();
        let most = if self.is_unlimited { u64::MAX } else { MOST };
        let mut next = self.next.take().unwrap_or_else(|| first_files(snapshot, most));
        let mut told = Vec::new();
        if self.pending.is_any() {
            let moved = self.pending.files.iter().filter_map(|path| Some(snapshot.file(path)?.id));
            let moved: HashSet<FileId> = moved.collect();
            for (path, file) in &mut self.files {
                if cancel.is_cancelled() {
                    break;
                }
                if file.names_any(&moved) {
                    next.insert(path.clone());
                }
                if self.pending.files.contains(path) || file.may_depend_on(&self.pending) {
                    FileCheck::check_with(snapshot, path, rules, answers, |check| {
                        file.invalidate(check, &self.pending)
                    });
                    next.insert(path.clone());
                }
            }
            if !cancel.is_cancelled() {
                self.pending = KeyChanges::default();
            }
        }
        while !cancel.is_cancelled()
            && let Some(path) = next.pop()
        {
            if open.contains_key(&path) {
                continue;
            }
            let mut file = self.files.remove(&path).unwrap_or_else(FileFindings::new_unchecked);
            let look = |check: &FileCheck<'_>| {
                file.check(check, usize::MAX);
                file.track_dependencies(snapshot.keys(), &|| !cancel.is_cancelled());
            };
            if FileCheck::check_with(snapshot, &path, rules, answers, look).is_none() {
                told.push((path, Vec::new()));
            } else {
                if !file.is_clean() || !file.is_tracked() {
                    next.insert(path.clone());
                }
                if file.is_clean() {
                    told.push((path.clone(), file.all_findings(snapshot, &path, rules)));
                }
                // Only files whose dependencies are recorded are kept: other files cannot be
                // invalidated later.
                if file.is_tracked() {
                    self.files.insert(path, file);
                }
            }
            if !has_time() {
                break;
            }
        }
        self.next = Some(next);
        told
    }
}

/// Returns the files of a snapshot in the order of their paths, up to so many bytes; the first one is
/// the next.
fn first_files(snapshot: &Snapshot, most: u64) -> Files {
    let mut bytes = 0;
    let is_within = |len: u32| {
        bytes += u64::from(len);
        bytes <= most
    };
    let texts = snapshot.files().filter_map(|file| Some((&file.path, file.text()?.len())));
    let mut first: Files = texts
        .scan(is_within, |is_within, (path, len)| is_within(len).then(|| path.clone()))
        .collect();
    first.reverse();
    first
}
