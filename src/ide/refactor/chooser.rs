//! "Override for…": the nodes, roles and levels for which an entry can be repeated, and for one of them
//! the files that can take the entry, each with the change and its reach.
//!
//! A file can take the entry where it stands above the place that now has the value, for a node that
//! reads both. The entry gets the present value, so that nothing changes until the user edits it.

mod entry_text;
mod listing;
mod subjects;

use std::sync::Arc;

use entry_text::Written;
use subjects::Subjects;

use super::targets::MoveTarget;
use super::{RefactorContext, RefactoringRequest, secrets};
use crate::fleet::compare::KnownAnswers;
use crate::ide::node_names::name_ranges;
use crate::ide::reach::{Reach, Revisions};
use crate::text::{FilePath, SourceChange, Span, TextRange};
use crate::workspace::Snapshot;

/// The most files that a node, or a group of nodes, can take an entry in.
const MAX_PLACES: usize = 8;
/// The most names of nodes beside a file.
const MAX_NAMES: usize = 4;

/// The place of an entry.
#[derive(Clone, Copy, Debug)]
pub struct OverrideRequest<'a> {
    /// The file.
    pub path: &'a FilePath,
    /// The offset of the key, in bytes.
    pub offset: u32,
    /// Whether a change may create files.
    pub creates_files: bool,
}

/// A node or a file that a user can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// A node, or a kind of nodes where no node is known: its name.
    Node(Arc<str>),
    /// A file of a level, whether it exists or not.
    File(FilePath),
}

/// The nodes and files for which an entry can be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverrideList {
    /// The root key.
    pub key: Arc<str>,
    /// How many nodes there are, or kinds of nodes where none is known.
    pub nodes: usize,
    /// Whether `nodes` counts kinds of nodes.
    pub are_kinds: bool,
    /// The files of levels that several nodes may share, those of most nodes first, then nodes.
    pub targets: Vec<OverrideTarget>,
    /// How many files of levels fit the filter and are not listed.
    pub left_out_files: usize,
    /// How many nodes fit the filter and are not listed.
    pub left_out_nodes: usize,
}

/// A node or a file that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverrideTarget {
    /// The choice.
    pub chosen: Chosen,
    /// The file that would be written: of a node the one that fewest nodes read. `None` where no file
    /// of the node can take the entry.
    pub file: Option<TargetFile>,
    /// The place that has the key already, where no file can take it for that reason.
    pub stated: Option<Span>,
    /// The present value in words; of a file, that of its nodes. Secrets are hidden.
    pub value: String,
}

/// A file that can take an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetFile {
    /// The path of the file.
    pub path: FilePath,
    /// Whether the file is there.
    pub exists: bool,
    /// The name of the file's level.
    pub level: Arc<str>,
    /// How many nodes certainly read the file.
    pub readers: usize,
}

impl TargetFile {
    fn new(target: &MoveTarget, readers: usize) -> TargetFile {
        let MoveTarget { path, exists, level, .. } = target;
        TargetFile { path: path.clone(), exists: *exists, level: level.name.clone(), readers }
    }
}

/// A file that takes the entry for the chosen node or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverridePlace {
    /// The file.
    pub file: TargetFile,
    /// The nodes that the entry governs, in words: `governs 1 of 3 nodes: web-01`.
    pub governs: String,
    /// The reach of the change, in words: `changes nothing for the 3 known nodes`.
    pub effect: String,
    /// The values that differ, in words; `None` where the entry has the value of all nodes.
    pub remark: Option<String>,
    /// The change; `Err` with a reason for people where it cannot be made.
    pub change: Result<SourceChange, String>,
}

/// Returns the root key of the entry at a place that can be repeated elsewhere; `None` where there is
/// no entry, and where its text must stay in its file.
pub fn overridable_key(snapshot: &Snapshot, request: OverrideRequest<'_>) -> Option<Arc<str>> {
    let context = RefactorContext::from_override(snapshot, request)?;
    context.overridable_key()
}

/// Returns what the entry at a place can be repeated for: nodes and files whose names have `filter`
/// in them, in any case of letters. `None` where [`overridable_key`] is, and when cancelled.
pub fn list_targets(
    snapshot: &Snapshot,
    request: OverrideRequest<'_>,
    filter: &str,
) -> Option<OverrideList> {
    let context = RefactorContext::from_override(snapshot, request)?;
    let found = context.list_targets(context.overridable_key()?, filter);
    (!snapshot.cancel_token().is_cancelled()).then_some(found)
}

/// Returns the files that take the entry at a place for the chosen node or file, that of fewest nodes
/// first. `None` where [`overridable_key`] is, where there is no such node, and when cancelled.
pub fn find_places(
    snapshot: &Snapshot,
    request: OverrideRequest<'_>,
    chosen: &Chosen,
) -> Option<Vec<OverridePlace>> {
    let context = RefactorContext::from_override(snapshot, request)?;
    let places = context.find_places(&context.overridable_key()?, chosen)?;
    (!snapshot.cancel_token().is_cancelled()).then_some(places)
}

impl<'a> RefactorContext<'a> {
    fn from_override(
        snapshot: &'a Snapshot,
        request: OverrideRequest<'a>,
    ) -> Option<RefactorContext<'a>> {
        let wanted = RefactoringRequest {
            path: request.path,
            range: TextRange::new_empty(request.offset),
            creates_files: request.creates_files,
            is_by_user: true,
            lookups: None,
            kinds: &|_| false,
        };
        RefactorContext::from_wanted(snapshot, wanted)
    }

    fn overridable_key(&self) -> Option<Arc<str>> {
        let entry = self.movable_entry()?;
        let is_open = !self.is_sensitive(&entry.name) && self.document.find_entry("sops").is_none();
        is_open.then(|| entry.name.clone())
    }

    fn find_places(&self, key: &Arc<str>, chosen: &Chosen) -> Option<Vec<OverridePlace>> {
        let subjects = Subjects::of_context(self);
        let targets = match chosen {
            Chosen::Node(name) => {
                let node = subjects.number_of(name)?;
                let answers = subjects.answers_of(key, &[node], 1);
                subjects.open_targets(node, answers.lookup_of(node)?)
            }
            Chosen::File(path) => subjects.targets_at(path),
        };
        let mut found: Vec<(usize, MoveTarget)> = targets
            .into_iter()
            .map(|target| (subjects.readers_of(&target.path).len(), target))
            .collect();
        found.sort_by_key(|(readers, _)| *readers);
        found.truncate(MAX_PLACES);
        let places = found.into_iter().filter_map(|(_, it)| self.place_at(key, it, &subjects));
        let mut places: Vec<OverridePlace> = places.collect();
        // Reasons are shown only where no place has a change.
        if places.iter().any(|place| place.change.is_ok()) {
            places.retain(|place| place.change.is_ok());
        }
        Some(places)
    }

    /// Returns the entry in a target, with its reach; `None` for a target that no node reads above the
    /// place that has the value, for one that cannot be changed, and when cancelled.
    fn place_at(
        &self,
        key: &Arc<str>,
        target: MoveTarget,
        subjects: &Subjects<'_>,
    ) -> Option<OverridePlace> {
        let readers = subjects.readers_of(&target.path);
        let answers = subjects.answers_of(key, &readers, usize::MAX);
        let governed = subjects.governed_by(&target.path, &readers, &answers);
        if governed.is_empty() {
            return None;
        }
        let file = TargetFile::new(&target, readers.len());
        let governs = subjects.governs_phrase(&governed, readers.len());
        let texts = match self.entry_texts(key, &governed, &answers) {
            Ok(texts) => texts,
            Err(reason) => return Some(refused_place(reason, &file, &governs)),
        };
        let texts: Vec<Written> = texts
            .into_iter()
            .filter(|one| {
                one.from.iter().all(|from| self.can_take(&target, key, (from, &one.text)))
            })
            .collect();
        if texts.is_empty() {
            return Some(refused_place(secrets::MIXED, &file, &governs));
        }
        let (mut best, mut known) = (None, KnownAnswers::default());
        for Written { text, remark, .. } in texts {
            let mut change = SourceChange::default();
            self.add_to(&target, key, &text, &mut change)?;
            let Some((change, after)) = self.try_change(change, std::slice::from_ref(key)) else {
                continue;
            };
            let revisions = Revisions { before: self.snapshot, after: &after };
            let reach = revisions.find_reach(&Reach::default(), &mut known)?;
            let is_neutral = reach.is_neutral;
            let effect = reach.total.unwrap_or_default();
            let effect = effect.strip_prefix("this edit ").unwrap_or(&effect).to_owned();
            if best.is_none() || is_neutral {
                best = Some((change, effect, remark));
            }
            if is_neutral {
                break;
            }
        }
        let (change, effect, remark) = best?;
        Some(OverridePlace { file, governs, effect, remark, change: Ok(change) })
    }
}

fn refused_place(reason: &str, file: &TargetFile, governs: &str) -> OverridePlace {
    OverridePlace {
        file: file.clone(),
        governs: governs.to_owned(),
        effect: String::new(),
        remark: None,
        change: Err(reason.to_owned()),
    }
}

impl Subjects<'_> {
    /// Returns the nodes that an entry governs, in words.
    fn governs_phrase(&self, governed: &[usize], readers: usize) -> String {
        let names: Vec<&str> = governed.iter().map(|node| self.name_of(*node)).collect();
        let Some(all) = self.nodes_phrase() else {
            return "governs the nodes that read the file".to_owned();
        };
        let above = match readers - governed.len() {
            0 => String::new(),
            1 => "; 1 more has a value from above".to_owned(),
            more => format!("; {more} more have a value from above"),
        };
        let names = name_ranges(&names, MAX_NAMES);
        format!("governs {} of {all}: {names}{above}", governed.len())
    }
}
