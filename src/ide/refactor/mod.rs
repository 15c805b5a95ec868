//! Refactorings of data: changes that keep the values of all nodes, or state how many nodes get
//! other values.
//!
//! Each refactoring is a file here that drafts a change from the text alone. Before a draft is
//! offered, `proof` applies it to a copy of the snapshot, and looks the touched keys up before and
//! after the change, for all known nodes and for unknown ones. The title has the result of the
//! comparison, and its limit if it reached one.

pub mod chooser;
mod config;
mod encrypt;
mod extract;
mod facts;
mod inline;
mod move_key;
mod options;
mod override_key;
mod proof;
mod pull;
mod quote;
mod secrets;
mod sort;
mod targets;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::yaml::document::{Document, DocumentEntry};

use crate::fleet::compare::{Comparer, Effort};
use crate::text::{FilePath, SourceChange, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// How many times as many lookups the refactorings of a `hiera.yaml` have.
pub const CONFIG_SHARE: usize = 2;

/// A refactoring, or the reason why it cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refactoring {
    /// The title of the refactoring, for a menu. It has the number of nodes that get other values,
    /// if any do.
    pub title: String,
    /// The kind of the refactoring.
    pub kind: RefactoringKind,
    /// The change; `Err` with a reason for people where it cannot be made.
    pub change: Result<SourceChange, String>,
    /// Whether no node gets another value for any key.
    pub is_neutral: bool,
    /// How many known nodes, or kinds of nodes, get another value, or may get one.
    pub changed: usize,
    /// The key that the change makes and names by itself; `None` where it makes none.
    pub new_key: Option<Arc<str>>,
}

/// The kinds of refactorings, as editors group them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefactoringKind {
    /// Data goes to another place.
    Move,
    /// Data is repeated where it can be changed for some nodes.
    Override,
    /// A part becomes an entry of its own.
    Extract,
    /// A reference is replaced by its target's text.
    Inline,
    /// The text is written otherwise.
    Rewrite,
    /// A whole file is put in order.
    Sort,
}

impl Refactoring {
    /// Returns a refactoring that cannot be made for a reason.
    fn new_refused(kind: RefactoringKind, title: String, reason: String) -> Refactoring {
        Refactoring {
            title,
            kind,
            change: Err(reason),
            is_neutral: true,
            changed: 0,
            new_key: None,
        }
    }
}

impl RefactoringKind {
    /// All kinds.
    pub const ALL: [RefactoringKind; 6] = [
        RefactoringKind::Move,
        RefactoringKind::Override,
        RefactoringKind::Extract,
        RefactoringKind::Inline,
        RefactoringKind::Rewrite,
        RefactoringKind::Sort,
    ];
}

/// The place and the refactorings that are wanted there.
#[derive(Clone, Copy)]
pub struct RefactoringRequest<'a> {
    /// The file.
    pub path: &'a FilePath,
    /// The selected bytes; empty at the cursor.
    pub range: TextRange,
    /// Whether a change may create files.
    pub creates_files: bool,
    /// Whether the user asked, and not the editor by itself while the cursor moves. Changes for
    /// which all environments are discovered again are offered only to a user who asks.
    pub is_by_user: bool,
    /// How many lookups compare values for the titles; `None`: as many as it takes. A `hiera.yaml`,
    /// whose refactorings concern all keys, has [`CONFIG_SHARE`] times that.
    pub lookups: Option<usize>,
    /// Whether refactorings of a kind are wanted.
    pub kinds: &'a dyn Fn(RefactoringKind) -> bool,
}

/// Returns the refactorings at a place, those that move data first.
pub fn find_refactorings(snapshot: &Snapshot, wanted: RefactoringRequest<'_>) -> Vec<Refactoring> {
    if let Some(file) = config::ConfigFile::from_wanted(snapshot, wanted) {
        return file.offer_all();
    }
    let Some(context) = RefactorContext::from_wanted(snapshot, wanted) else { return Vec::new() };
    type Draw = fn(&RefactorContext<'_>, &mut Vec<Draft>);
    let sources: [(RefactoringKind, Draw); 9] = [
        (RefactoringKind::Move, pull::draft_pull),
        (RefactoringKind::Override, override_key::draft_overrides),
        (RefactoringKind::Extract, extract::draft_extraction),
        (RefactoringKind::Inline, inline::draft_inlining),
        (RefactoringKind::Rewrite, facts::draft_facts),
        (RefactoringKind::Rewrite, quote::draft_quotes),
        (RefactoringKind::Rewrite, options::draft_options),
        (RefactoringKind::Rewrite, encrypt::draft_encryption),
        (RefactoringKind::Sort, sort::draft_sorting),
    ];
    let (mut moves, mut others) = (Vec::new(), Vec::new());
    if (wanted.kinds)(RefactoringKind::Move) {
        move_key::draft_moves(&context, &mut moves);
    }
    for (kind, draw) in sources {
        if (wanted.kinds)(kind) && !snapshot.cancel_token().is_cancelled() {
            draw(&context, &mut others);
        }
    }
    let move_count = moves.len();
    let mut drafts: Vec<(usize, Draft)> = moves.into_iter().chain(others).enumerate().collect();
    // A change with few readers leaves the rest of its share of the effort to changes with many
    // readers.
    drafts.sort_by_key(|(number, draft)| (context.count_readers(draft), *number));
    let mut left = drafts.len();
    let mut offered = BTreeMap::new();
    for (number, draft) in drafts {
        context.comparer.begin_change(left);
        left -= 1;
        let is_likely = draft.is_likely;
        offered.extend(context.offer_draft(draft).map(|one| (number, (is_likely, one))));
    }
    let others = offered.split_off(&move_count).into_values().map(|(_, other)| other);
    let moves = offered.into_values().collect();
    move_key::choose_moves(moves).into_iter().chain(others).collect()
}

/// Returns the refactoring that moves a key from all files which define it with one value to the
/// lowest level that every node reads. `range` is the key's place in one of the files. `None` where
/// the files differ, or no such level has a file.
pub fn find_pull(snapshot: &Snapshot, path: &FilePath, range: TextRange) -> Option<Refactoring> {
    let wanted = RefactoringRequest {
        path,
        range,
        creates_files: false,
        is_by_user: true,
        lookups: None,
        kinds: &|kind| kind == RefactoringKind::Move,
    };
    let context = RefactorContext::from_wanted(snapshot, wanted)?;
    let mut drafts = Vec::new();
    pull::draft_pull(&context, &mut drafts);
    context.offer_draft(drafts.pop()?)
}

/// A change that is not proved yet, or a reason against it.
struct Draft {
    title: String,
    kind: RefactoringKind,
    change: Result<SourceChange, String>,
    /// The root keys whose data in the files may differ afterwards; none for a change of the text
    /// alone.
    keys: Vec<Arc<str>>,
    /// The root keys that the change makes.
    new_keys: Vec<Arc<str>>,
    /// Of a move: whether the level is likely to be meant.
    is_likely: bool,
    /// A remark behind the title.
    remark: String,
    /// Whether the value is the same to Puppet although it is written as a ciphertext, which no lookup
    /// here decrypts.
    is_encrypted: bool,
}

impl Draft {
    fn new(
        kind: RefactoringKind,
        title: String,
        change: SourceChange,
        keys: impl IntoIterator<Item = Arc<str>>,
    ) -> Draft {
        let keys = keys.into_iter().collect();
        let change = Ok(change);
        let (new_keys, remark) = (Vec::new(), String::new());
        let (is_likely, is_encrypted) = (false, false);
        Draft { title, kind, change, keys, new_keys, is_likely, remark, is_encrypted }
    }

    fn new_refused(kind: RefactoringKind, title: String, reason: &str) -> Draft {
        let draft = Draft::new(kind, title, SourceChange::default(), []);
        Draft { change: Err(reason.to_owned()), ..draft }
    }

    /// Returns the draft of a change that makes a key.
    fn with_new_key(mut self, key: Arc<str>) -> Draft {
        self.keys.push(key.clone());
        self.new_keys.push(key);
        self
    }
}

/// The place that refactorings are asked for.
struct RefactorContext<'a> {
    snapshot: &'a Snapshot,
    environment: &'a Arc<Environment>,
    wanted: RefactoringRequest<'a>,
    document: Document,
    comparer: Comparer<'a>,
}

impl<'a> RefactorContext<'a> {
    /// `None` for a file that is no data of an environment, or that cannot be taken apart.
    fn from_wanted(
        snapshot: &'a Snapshot,
        wanted: RefactoringRequest<'a>,
    ) -> Option<RefactorContext<'a>> {
        let environment = snapshot.environments().governing_environments(wanted.path).next()?;
        if !environment.reaches_file(wanted.path) {
            return None;
        }
        let document = snapshot.file(wanted.path).and_then(|file| file.document())?;
        let comparer = Comparer::new(snapshot, Effort::new(wanted.lookups));
        Some(RefactorContext { snapshot, environment, wanted, document, comparer })
    }

    /// Returns the entry whose key the cursor, or the selection, is on.
    fn entry_of_key(&self) -> Option<&DocumentEntry> {
        let entry = self.document.entry_at(self.wanted.range.start)?;
        let key = self.document.tree.node(entry.key).span;
        let (start, end) = (self.wanted.range.start, self.wanted.range.end);
        let is_on_key =
            key.touches_offset(start) && end <= key.end || key.contains_range(self.wanted.range);
        is_on_key.then_some(entry)
    }

    /// Returns how many nodes read the files of a draft that concerns values.
    fn count_readers(&self, draft: &Draft) -> usize {
        let files = draft.change.iter().flat_map(|change| change.edits.keys());
        let files = files.filter(|_| !draft.keys.is_empty());
        let readers = files.map(|path| self.snapshot.readers_of(self.environment, path));
        readers.map(|readers| readers.all_nodes().len()).sum()
    }

    /// Returns a path for people.
    fn short_path<'p>(&self, path: &'p FilePath) -> &'p str {
        path.relative_to(&self.environment.root).unwrap_or(path.as_str())
    }
}

#[cfg(test)]
mod tests;
