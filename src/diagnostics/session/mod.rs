//! The findings of the files in an editor, from one revision to the next. Parts that no change can
//! have touched are not checked again.
//!
//! The findings always equal those of [`check_file`](super::check_file).

mod closed_files;
mod file;

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};

use foldhash::HashMap;
use indexmap::IndexSet;

use super::{FileCheck, Finding, RulesConfig, check_file_early, of_other_file, prepare};
use crate::fleet::answer_cache::AnswerCache;
use crate::text::CancelToken;
use crate::text::{FileId, FilePath};
use crate::workspace::Snapshot;
use crate::workspace::files::parallel::on_all_cores;
use crate::workspace::index::KeyChanges;
use crate::workspace::manifests::CodeChanges;
use closed_files::ClosedFiles;
use file::FileFindings;

/// The findings of the open files, and of every `hiera.yaml`, as of the last revision that was
/// checked.
#[derive(Debug, Default)]
pub struct Findings {
    seen: Option<(Snapshot, RulesConfig)>,
    /// The snapshot before the one in `seen`, and the answers in it: dropping it takes as long as
    /// comparing the two.
    outdated: Option<(Snapshot, RulesConfig, AnswerCache)>,
    /// The answers of lookups for nodes in the last revision.
    answers: AnswerCache,
    files: HashMap<FilePath, FileFindings>,
    /// Files with parts that are still to be checked.
    deferred: BTreeSet<FilePath>,
    /// The findings of closed files.
    closed: ClosedFiles,
}

/// A file, and its findings in the order of their places. A finding stays the same `Arc` as long as
/// the part that it is about is not checked again.
pub type ReportedFindings = (FilePath, Vec<Arc<Finding>>);

/// The number of bytes from which on an opened file is checked after the edited ones. Tests use a
/// small limit.
const LONG: u32 = if cfg!(test) { 100 } else { 128 << 10 };

impl Findings {
    /// Returns empty findings that check every file of a workspace, without a limit.
    pub fn of_all_files() -> Findings {
        Findings { closed: ClosedFiles::without_limit(), ..Findings::default() }
    }

    /// Moves on to a snapshot; returns the findings of each file where they, or places that they
    /// name, may have changed. A file that is no longer checked has none.
    ///
    /// A long file that was opened has its first findings by one call, and more by each call after
    /// it, unless a client asks for findings, as it takes them for all.
    ///
    /// When the snapshot is cancelled, the parts not checked by then are left to the next call. So
    /// are slow parts of unedited files, where there are findings of other files to publish.
    pub fn update(&mut self, snapshot: &Snapshot, rules: &RulesConfig) -> Vec<ReportedFindings> {
        let same_rules = self.seen.as_ref().filter(|(_, same)| same == rules);
        let changes = same_rules.and_then(|(before, _)| changes_between(before, snapshot));
        if changes.as_ref().is_some_and(KeyChanges::is_any) {
            self.track_dependencies(&|| true);
        }
        let mut updates;
        let mut urgent = IndexSet::new();
        match (&self.seen, changes) {
            (Some((before, _)), Some(changes)) => {
                let edited: HashSet<FilePath> =
                    before.files_changed(snapshot).into_iter().collect();
                let opened = before.open_files_changed(snapshot);
                let (begin, stop): (Vec<_>, Vec<_>) =
                    opened.into_iter().partition(|(path, is_open)| {
                        *is_open || is_always_watched(snapshot, rules, path)
                    });
                updates = self.close(snapshot, stop.into_iter().map(|(path, _)| path).collect());
                self.closed.record_change(&changes);
                urgent.extend(self.invalidate(snapshot, rules, &changes, &edited));
                urgent.extend(self.deferred.iter().filter(|path| edited.contains(*path)).cloned());
                for path in begin
                    .into_iter()
                    .map(|(path, _)| path)
                    .filter(|path| !self.files.contains_key(path))
                    .collect::<Vec<_>>()
                {
                    let known = self.closed.reopen(snapshot, rules, &path);
                    let takes_long = known
                        .as_ref()
                        .map_or_else(|| is_long(snapshot, &path), FileFindings::has_much_dirty);
                    self.files.extend(known.map(|file| (path.clone(), file)));
                    let _ =
                        if takes_long { self.deferred.insert(path) } else { urgent.insert(path) };
                }
            }
            (seen, _) => {
                let watched = watched_files(snapshot, rules);
                let edited = seen
                    .as_ref()
                    .map(|(before, _)| before.files_changed(snapshot))
                    .unwrap_or_default();
                urgent.extend(
                    edited
                        .into_iter()
                        .filter(|path| watched.contains(path) && !is_long(snapshot, path)),
                );
                let known: HashSet<&FilePath> = self.files.keys().chain(&self.deferred).collect();
                let gone = known.into_iter().filter(|path| !watched.contains(*path));
                updates = gone.map(|path| (path.clone(), Vec::new())).collect();
                self.files.clear();
                self.closed = self.closed.new_empty();
                self.deferred = watched.into_iter().collect();
            }
        }
        let answers = std::mem::take(&mut self.answers);
        let seen = self.seen.replace((snapshot.clone(), rules.clone()));
        self.outdated = seen.map(|(snapshot, rules)| (snapshot, rules, answers));
        updates.extend(self.check(snapshot, rules, urgent.into_iter().collect()));
        if updates.is_empty() {
            updates = self.check(snapshot, rules, self.deferred.iter().cloned().collect());
        }
        updates
    }

    /// Returns the first findings of the files of a snapshot that are open and were not checked yet:
    /// those of the rules that need no index. A caller publishes them where the index that other
    /// rules need takes long.
    pub fn first_findings(
        &self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
    ) -> Vec<ReportedFindings> {
        let unchecked = snapshot.open_files().filter(|path| !self.watches_file(path));
        unchecked.map(|path| (path.clone(), check_file_early(snapshot, path, rules))).collect()
    }

    /// Does the work that can wait until the findings have been published, as long as `is_idle`:
    /// drops data that is no longer needed, and records the dependencies of findings.
    pub fn after_publish(&mut self, is_idle: &dyn Fn() -> bool) {
        self.outdated = None;
        self.track_dependencies(is_idle);
    }

    /// Whether closed files remain to be checked.
    pub fn has_more_ahead(&self) -> bool {
        self.seen.as_ref().is_some_and(|(snapshot, _)| snapshot.complete)
            && self.closed.has_more_to_do()
    }

    /// Returns the snapshot that was checked last.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.seen.as_ref().map(|(snapshot, _)| snapshot)
    }

    /// Whether [`Findings::update`] returns the findings of this file.
    pub fn watches_file(&self, path: &FilePath) -> bool {
        self.files.contains_key(path) || self.deferred.contains(path)
    }

    /// Returns the findings of a closed file that was checked, and that no change since concerns.
    pub fn of_closed(&self, path: &FilePath) -> Option<Vec<Arc<Finding>>> {
        let (snapshot, rules) = self.seen.as_ref()?;
        self.closed.current_findings(snapshot, path, rules)
    }

    /// Checks closed files, so that their findings are ready when they are opened: one file, and
    /// more as long as `has_time`. Stops at once when `cancel` is cancelled; the next call checks
    /// the interrupted file from its start. Returns the findings of the files that were checked.
    pub fn look_ahead(
        &mut self,
        cancel: CancelToken,
        has_time: &dyn Fn() -> bool,
    ) -> Vec<ReportedFindings> {
        let Some((snapshot, rules)) = self.seen.as_ref().filter(|(snapshot, _)| snapshot.complete)
        else {
            return Vec::new();
        };
        self.closed.look_ahead(
            &snapshot.clone().with_cancel_token(cancel),
            rules,
            (&self.files, &self.answers),
            has_time,
        )
    }

    /// Records the dependencies of all findings, while nothing has changed since they were
    /// computed.
    fn track_dependencies(&mut self, is_idle: &dyn Fn() -> bool) {
        let Some((snapshot, _)) = &self.seen else { return };
        for file in self.files.values_mut() {
            file.track_dependencies(snapshot.keys(), is_idle);
        }
    }

    /// Checks the dirty parts of these files; returns their findings, unless the check was
    /// cancelled.
    fn check(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        paths: Vec<FilePath>,
    ) -> Vec<ReportedFindings> {
        prepare(snapshot);
        let (quick, slow): (Vec<_>, Vec<_>) = paths
            .into_iter()
            .map(|path| {
                let known = self.files.remove(&path);
                (path, Mutex::new(known))
            })
            .partition(|(_, known)| {
                known
                    .lock()
                    .expect("no thread holds the lock")
                    .as_ref()
                    .is_some_and(FileFindings::is_clean)
            });
        let answers = &self.answers;
        let look = |(path, file): &(FilePath, Mutex<Option<FileFindings>>)| {
            let mut file = file.lock().expect("each is locked once");
            let may_be_told_in_portions = !self.closed.is_unlimited() && is_long(snapshot, path);
            let is_portion =
                may_be_told_in_portions && file.as_ref().is_none_or(FileFindings::is_new);
            let is_done = match FileCheck::check_with(snapshot, path, rules, answers, |check| {
                let file = file.get_or_insert_with(FileFindings::new_unchecked);
                let most = if is_portion { file.next_portion() } else { usize::MAX };
                file.check(check, most)
            }) {
                Some(is_done) => is_done,
                None => {
                    *file = Some(FileFindings::of_file(of_other_file(snapshot, path, rules)));
                    true
                }
            };
            let is_told = is_done || is_portion && !snapshot.cancel_token().is_cancelled();
            let told = file
                .as_ref()
                .filter(|_| is_told)
                .map(|file| file.all_findings(snapshot, path, rules));
            (is_done, told)
        };
        let mut told: Vec<_> = quick.iter().map(look).collect();
        told.extend(on_all_cores(&slow, look));
        let mut updates = Vec::new();
        for ((path, file), told) in quick.into_iter().chain(slow).zip(told) {
            self.files.extend(
                file.into_inner().expect("no holder panics").map(|file| (path.clone(), file)),
            );
            let (is_done, findings) = told;
            if is_done {
                self.deferred.remove(&path);
            } else {
                self.deferred.insert(path.clone());
            }
            updates.extend(findings.map(|findings| (path, findings)));
        }
        updates
    }

    /// Whether a file was deferred: its findings will be published later.
    pub fn is_deferred(&self, path: &FilePath) -> bool {
        self.deferred.contains(path)
    }

    /// Whether some files were put off.
    pub fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// Stops telling of files.
    fn close(&mut self, snapshot: &Snapshot, paths: Vec<FilePath>) -> Vec<ReportedFindings> {
        let mut updates = Vec::new();
        for path in paths {
            let known = self.files.remove(&path);
            if known.is_some() | self.deferred.remove(&path) {
                updates.push((path.clone(), Vec::new()));
            }
            match known {
                Some(mut file) => {
                    file.track_dependencies(snapshot.keys(), &|| true);
                    self.closed.close(path, file);
                }
                None => self.closed.close_unchecked(path),
            }
        }
        updates
    }

    /// Marks the parts to check again; returns the files to publish in this round.
    fn invalidate(
        &mut self,
        snapshot: &Snapshot,
        rules: &RulesConfig,
        changes: &KeyChanges,
        edited: &HashSet<FilePath>,
    ) -> Vec<FilePath> {
        // Files that no level reads are not in the index, and are checked all the same.
        let moved: HashSet<FileId> = changes
            .files
            .iter()
            .chain(edited)
            .filter_map(|path| Some(snapshot.file(path)?.id))
            .collect();
        if moved.is_empty() {
            return Vec::new();
        }
        let mut urgent = Vec::new();
        for (path, file) in &mut self.files {
            let is_edited = edited.contains(path);
            let mut is_touched = is_edited;
            if is_edited || file.may_depend_on(changes) {
                is_touched |=
                    FileCheck::check_with(snapshot, path, rules, &self.answers, |check| {
                        file.invalidate(check, changes)
                    })
                    .unwrap_or(false);
            }
            if is_edited
                || !self.deferred.contains(path)
                    && !file.has_much_dirty()
                    && (is_touched || file.names_any(&moved))
            {
                urgent.push(path.clone());
            } else if is_touched {
                self.deferred.insert(path.clone());
            }
        }
        urgent
    }
}

/// A name that stands for all code where changes are recorded. No key is called like it.
pub(crate) const CODE: &str = "\u{1}code";

/// Returns the changes from a snapshot to a later one, in data and in the code that reads it; `None`
/// where more than these may differ: files, configs, settings, nodes.
pub(crate) fn changes_between(before: &Snapshot, now: &Snapshot) -> Option<KeyChanges> {
    if !is_same_world(before, now) {
        return None;
    }
    let mut changes = before.keys().changes_to(now.keys());
    for environment in &now.environments().all {
        let Some(known) = before.known_manifests(environment) else { continue };
        let code = known.changes_to(now.manifests(environment));
        if code.is_any() {
            changes.keys.extend(concerned_keys(now, &code));
            changes.keys.insert(CODE.into()); // Some findings depend on any code.
        }
    }
    Some(changes)
}

/// Returns the root keys of data that a change of code concerns.
fn concerned_keys(now: &Snapshot, code: &CodeChanges) -> HashSet<Arc<str>> {
    let index = now.keys();
    match code.key_prefixes() {
        None => index.keys().filter(|key| code.concerns_key(key)).cloned().collect(),
        Some(beginnings) => {
            let mut keys = HashSet::new();
            for beginning in beginnings {
                let found = index.keys_with_prefix(&beginning).filter(|key| code.concerns_key(key));
                keys.extend(found.cloned());
            }
            keys
        }
    }
}

/// Returns the files whose findings are published: the open ones, every `hiera.yaml`, settings
/// files with problems, and the metadata.json of each module that Puppet passes over.
fn watched_files(snapshot: &Snapshot, rules: &RulesConfig) -> HashSet<FilePath> {
    let configs =
        snapshot.environments().all.iter().flat_map(|environment| environment.all_configs());
    let configs = configs.map(|(_, config)| config.path.clone());
    let settings = rules.settings.iter().map(|wrong| wrong.file.clone());
    let refused = snapshot.environments().all.iter().flat_map(|environment| &environment.refused);
    let refused = refused.map(|module| module.metadata.clone());
    snapshot.open_files().cloned().chain(configs).chain(settings).chain(refused).collect()
}

fn is_long(snapshot: &Snapshot, path: &FilePath) -> bool {
    snapshot.file(path).and_then(|file| file.text()).is_some_and(|text| text.len() > LONG)
}

fn is_always_watched(snapshot: &Snapshot, rules: &RulesConfig, path: &FilePath) -> bool {
    let is_settings = rules.settings.iter().any(|wrong| wrong.file == *path);
    let is_config = snapshot
        .environments()
        .all
        .iter()
        .any(|environment| environment.all_configs().any(|(_, config)| config.path == *path));
    is_settings || is_config || snapshot.environments().refused_module(path).is_some()
}

/// Whether all but the data is the same: files, configs, settings, nodes.
fn is_same_world(before: &Snapshot, now: &Snapshot) -> bool {
    before.complete == now.complete
        && before.has_same_environments(now)
        && before.selected_node() == now.selected_node()
        && installs_the_same(before, now)
        && before.has_same_functions(now)
}

/// Whether Puppetfiles name the same modules, as far as that was asked for.
fn installs_the_same(before: &Snapshot, now: &Snapshot) -> bool {
    now.environments().all.iter().all(|environment| {
        let known = before.known_manifests(environment);
        known.is_none_or(|known| known.installs_as(now.manifests(environment)))
    })
}
