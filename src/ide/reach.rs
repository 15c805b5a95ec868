//! The reach of edits: the keys and nodes for which they change values, as lenses at the edited
//! entries and as a page. The comparison and the page are those of `hiera-ls diff`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change_report::masking::Masking;
use super::change_report::model::{ChangeKind, Reporter};
use super::change_report::page::links_of;
use super::change_report::{ChangeReport, page};
use super::page_links::PageLink;
use crate::fleet::compare::KnownAnswers;
use crate::fleet::compare::changes::{EnvironmentChanges, find_changes};
use crate::fleet::compare::edits::{Edit, EditKind, find_edits};
use crate::fleet::compare::key_change::KeyChange;
use crate::fleet::compare::nodes::NodeChoice;
use crate::fleet::node_set::NodeSet;
use crate::hiera::data::DataFormat;
use crate::text::{FilePath, TextRange, count_phrase};
use crate::workspace::Snapshot;

/// The title of a lens of a file that cannot be read.
const UNREADABLE: &str = "the reach of this edit is not known while the file cannot be read";

/// The reach of all edits between two revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The lenses of each edited file. The first is that of the file where it has one.
    lenses: BTreeMap<FilePath, Vec<ReachLens>>,
    /// The words for all edits together; `None` where no entry and no config is edited.
    pub total: Option<String>,
    /// Whether all edits are known to change no value.
    pub is_neutral: bool,
}

/// The reach of an edit of a file, or of all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachLens {
    /// The root key of the edited entry; `None` for all edits of the file.
    pub key: Option<Arc<str>>,
    /// The words for people.
    pub title: String,
}

/// Two revisions of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Revisions<'a> {
    /// The revision before.
    pub before: &'a Snapshot,
    /// The revision after.
    pub after: &'a Snapshot,
}

/// A report about edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachPage {
    /// The page: the nodes that are known, edits with the keys and nodes that they change, totals.
    pub text: String,
    /// The places in the page.
    pub links: Vec<PageLink>,
}

impl Reach {
    /// Returns the lenses of a file.
    pub fn lenses_of(&self, path: &FilePath) -> &[ReachLens] {
        self.lenses.get(path).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Revisions<'a> {
    /// Returns the reach of the edits; `None` when cancelled. `last` is the reach of the revision
    /// before the last edit: a file that cannot be read keeps its lenses where they were. `known` are
    /// the answers of the revision before that earlier comparisons found.
    pub fn find_reach(self, last: &Reach, known: &mut KnownAnswers) -> Option<Reach> {
        let files = self.edited_files();
        let unreadable: Vec<FilePath> =
            files.iter().filter(|path| self.cannot_be_read(path)).cloned().collect();
        let mut lenses = BTreeMap::new();
        for path in &unreadable {
            let known = last.lenses_of(path).iter().map(|lens| lens.key.clone());
            let keys = if known.len() == 0 { vec![None] } else { known.collect() };
            lenses.insert(
                path.clone(),
                keys.into_iter()
                    .map(|key| ReachLens { key, title: UNREADABLE.to_owned() })
                    .collect(),
            );
        }
        let mut total = (!unreadable.is_empty()).then(|| UNREADABLE.to_owned());
        let mut is_neutral = unreadable.is_empty();
        if unreadable.len() < files.len() {
            // The edits of the other files are compared as if the unreadable files were not edited.
            let readable = match &unreadable[..] {
                [] => self.after,
                paths => &self.after.with_files_of(self.before, paths),
            };
            let mut counts: BTreeMap<FilePath, FileReach> = BTreeMap::new();
            Revisions { after: readable, ..self }.count_changes(&mut counts, known)?;
            total = FileReach::title_of_all(counts.values()).or(total);
            is_neutral &= counts.values().all(|file| file.all.is_empty());
            let written = counts.into_iter().map(|(path, reach)| (path, reach.into_lenses()));
            lenses.extend(written.filter(|(_, lenses)| !lenses.is_empty()));
        }
        Some(Reach { lenses, total, is_neutral })
    }

    /// Returns the files with another text, and those that only one revision has.
    fn edited_files(self) -> Vec<FilePath> {
        let mut files = self.before.files_changed(self.after);
        files.retain(|path| !self.before.has_equal_file(self.after, path));
        files
    }

    /// Whether Puppet refuses the text of a file after the edits, and did not before.
    fn cannot_be_read(self, path: &FilePath) -> bool {
        is_file_refused(self.after, path) && !is_file_refused(self.before, path)
    }

    /// Adds the changes that each edit causes; `None` when cancelled.
    fn count_changes(
        self,
        counts: &mut BTreeMap<FilePath, FileReach>,
        known: &mut KnownAnswers,
    ) -> Option<()> {
        let Revisions { before, after } = self;
        let files = self.edited_files();
        let root = FilePath::new("/");
        let reporter = self.reporter(&root);
        let everyone = NodeChoice::chosen_by(&|_| true);
        let all = find_changes(before, after, &files, &everyone, known)?;
        for (environment, changes) in all.into_iter().enumerate() {
            let sides = ((before, changes.before), (after, changes.after));
            let edits = find_edits(sides.0, sides.1, &files);
            for edit in &edits {
                let file = counts.entry(edit.path.clone()).or_default();
                file.add_edit(edit);
                file.environments.insert(environment, changes.compared.len());
                file.are_kinds |= changes.are_kinds;
            }
            for change in changes.changes.iter().filter(|change| !change.is_order) {
                for number in reporter.causing_edits(&changes, change, &edits) {
                    let edit = &edits[number];
                    let file = counts.entry(edit.path.clone()).or_default();
                    file.add_change(edit, change, environment);
                }
            }
        }
        Some(())
    }

    fn reporter(self, root: &'a FilePath) -> Reporter<'a> {
        let Revisions { before, after } = self;
        Reporter {
            before,
            after,
            root,
            masking: Masking { snapshots: [before, after], reveals: false },
            shows_order: false,
            shows_places_after: false,
        }
    }

    /// Returns the report about the edits, as `hiera-ls diff` writes it; `None` when cancelled.
    /// `base` and `head` name the revisions. `known` are the answers of the revision before that
    /// earlier comparisons found.
    pub fn find_page(
        self,
        (base, head): (&str, &str),
        known: &mut KnownAnswers,
    ) -> Option<ReachPage> {
        let Revisions { before, after } = self;
        let files = self.edited_files();
        let root = after.folders().first().cloned().unwrap_or(FilePath::new("/"));
        let reporter = self.reporter(&root);
        let everyone = NodeChoice::chosen_by(&|_| true);
        let changes = find_changes(before, after, &files, &everyone, known)?;
        let report = |changes: EnvironmentChanges<'a>| {
            let sides = ((before, changes.before), (after, changes.after));
            let edits = find_edits(sides.0, sides.1, &files);
            reporter.report(changes, edits, &|changes, change, edits| {
                reporter.causing_edits(changes, change, edits)
            })
        };
        let environments = changes.into_iter().map(report).collect();
        let report = ChangeReport { before, after, root: &root, base, head, environments };
        let mut text = Vec::new();
        page::write(&report, &mut text).ok()?;
        let text = String::from_utf8(text).ok()?;
        let links = links_of(&report, &text);
        Some(ReachPage { text, links })
    }
}

fn is_file_refused(snapshot: &Snapshot, path: &FilePath) -> bool {
    let mut environments = snapshot.environments().governing_environments(path);
    match environments.find(|one| one.reaches_file(path)) {
        Some(environment) => {
            let data = snapshot.view(environment).data_of(path);
            data.is_some_and(|data| data.refusal().is_some())
        }
        None => {
            snapshot.shapes_environments(path)
                && snapshot
                    .file(path)
                    .is_some_and(|file| file.data_as(DataFormat::Yaml).refusal().is_some())
        }
    }
}

/// Returns the bytes of a root key in a data file; `None` where the file does not have it.
pub fn key_range(snapshot: &Snapshot, path: &FilePath, key: &str) -> Option<TextRange> {
    let mut environments = snapshot.environments().governing_environments(path);
    let environment = environments.find(|one| one.reaches_file(path))?;
    let span = snapshot.view(environment).data_of(path)?.definition_span(key)?;
    Some(snapshot.span_bytes(span))
}

/// The changes that the edits of a file cause, over all environments that read it.
#[derive(Default)]
struct FileReach {
    /// The edited entries that the file has, by their keys.
    entries: BTreeMap<Arc<str>, Counts>,
    /// How many edits there are: entries that are gone, and edits of configs, among them.
    edits: BTreeSet<Option<Arc<str>>>,
    all: Counts,
    /// How many nodes are compared in each environment, by its number.
    environments: BTreeMap<usize, usize>,
    are_kinds: bool,
}

/// Keys, and the nodes for which one of the keys changes, by the numbers of their environments.
type KeysAndNodes = (BTreeSet<Arc<str>>, BTreeMap<usize, NodeSet>);

/// The keys and nodes that change.
#[derive(Default)]
struct Counts {
    /// The lookups that fail afterwards.
    failing: KeysAndNodes,
    changed: KeysAndNodes,
    /// The keys and nodes whose change depends on unknown variables.
    open: KeysAndNodes,
}

impl FileReach {
    fn add_edit(&mut self, edit: &Edit) {
        self.edits.insert(edit.key.clone());
        if let Some(key) = edit.key.as_ref().filter(|_| edit.kind != EditKind::Removed) {
            self.entries.entry(key.clone()).or_default();
        }
    }

    fn add_change(&mut self, edit: &Edit, change: &KeyChange, environment: usize) {
        let entry = edit.key.as_ref().and_then(|key| self.entries.get_mut(key));
        for counts in entry.into_iter().chain([&mut self.all]) {
            let (keys, known) = match ChangeKind::of_change(change) {
                ChangeKind::Error => &mut counts.failing,
                ChangeKind::Open => &mut counts.open,
                _ => &mut counts.changed,
            };
            keys.insert(change.key.clone());
            known.entry(environment).or_default().insert_all(&change.nodes);
        }
    }

    /// Returns a lens for each edited entry, and one for the file where that says more.
    fn into_lenses(self) -> Vec<ReachLens> {
        let is_covered = self.edits.len() == 1 && self.entries.len() == 1;
        let file = (!is_covered)
            .then(|| ReachLens { key: None, title: self.title(self.edits.len(), &self.all) });
        let entries = self.entries.iter().map(|(key, counts)| ReachLens {
            key: Some(key.clone()),
            title: self.title(1, counts),
        });
        file.into_iter().chain(entries).collect()
    }

    /// Returns the words for the edits of all files; `None` where there are none.
    fn title_of_all<'r>(files: impl Iterator<Item = &'r FileReach>) -> Option<String> {
        let (mut joined, mut edits) = (FileReach::default(), 0);
        for file in files {
            edits += file.edits.len();
            joined.environments.extend(&file.environments);
            joined.are_kinds |= file.are_kinds;
            joined.all.add(&file.all);
        }
        (edits > 0).then(|| joined.title(edits, &joined.all))
    }

    /// Returns the words for so many edits.
    fn title(&self, edits: usize, counts: &Counts) -> String {
        let count: usize = self.environments.values().sum();
        let nouns =
            if self.are_kinds { ["kind of nodes", "kinds of nodes"] } else { ["node", "nodes"] };
        let nodes = (count, if count == 1 { nouns[0] } else { nouns[1] });
        let subject = match edits {
            1 => "this edit".to_owned(),
            _ => format!("these {edits} edits"),
        };
        format!("{subject} {}", counts.title(edits == 1, nodes))
    }
}

impl Counts {
    /// Whether nothing changes, as far as all variables are known.
    fn is_empty(&self) -> bool {
        [&self.failing, &self.changed, &self.open].iter().all(|(keys, _)| keys.is_empty())
    }

    fn add(&mut self, other: &Counts) {
        for (all, more) in [
            (&mut self.failing, &other.failing),
            (&mut self.changed, &other.changed),
            (&mut self.open, &other.open),
        ] {
            all.0.extend(more.0.iter().cloned());
            for (environment, nodes) in &more.1 {
                all.1.entry(*environment).or_default().insert_all(nodes);
            }
        }
    }

    /// Returns `changes 3 keys on 214 of 575 nodes`, or `change nothing for the 575 known nodes`.
    /// `all` is the number of all nodes, and `noun` the noun for them.
    fn title(&self, is_one: bool, (all, noun): (usize, &'static str)) -> String {
        let s = if is_one { "s" } else { "" };
        let mut phrases = Vec::new();
        for (verb, (keys, changed)) in [
            (format!("make{s} lookups fail for"), &self.failing),
            (format!("change{s}"), &self.changed),
            ("may change".to_owned(), &self.open),
        ] {
            if !keys.is_empty() {
                let keys = count_phrase(keys.len(), "key");
                let changed: usize = changed.values().map(NodeSet::len).sum();
                phrases.push(format!("{verb} {keys} on {changed} of {all} {noun}"));
            }
        }
        match (phrases.is_empty(), all) {
            (false, _) => phrases.join(", "),
            (true, 0) => format!("change{s} nothing: no node is known"),
            (true, 1) => format!("change{s} nothing for the known {noun}"),
            (true, _) => format!("change{s} nothing for the {all} known {noun}"),
        }
    }
}

#[cfg(test)]
mod tests;
