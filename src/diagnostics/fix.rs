//! The fixes of findings. A rule states the edits by places that move with the text; they become a
//! change of the text when a client asks for it.
//!
//! A fix is *safe* if it changes the value of no node. A rule claims so, and [`choose_fixes`] proves
//! it before a change is offered or written: several safe fixes may change a value together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::Finding;
use super::rule::Check;
pub use super::rule::{Fix, FixEdit, Safety};
use crate::fleet::compare::{Comparer, Effort};
use crate::fleet::proof::{dropped_comments, keeps_files_whole, with_own_line_ends};
use crate::hiera::data::DataFormat;
use crate::text::{FileId, LineEnd, SourceChange, TextEdit, TextRange};
use crate::workspace::Snapshot;
use crate::yaml;
use crate::yaml::document::Document;
use comments::CommentPlace;

mod comments;
mod options;

pub(super) use options::is_merge_option;

/// Fixes of several findings that fit together.
#[derive(Clone, Debug, Default)]
pub struct ChosenFixes {
    /// The change.
    pub change: SourceChange,
    /// The numbers of the findings that the change mends, among those that were given.
    pub findings: Vec<usize>,
}

/// Makes changes of fixes; reads each file once.
pub struct FixDrafter<'a> {
    snapshot: &'a Snapshot,
    documents: HashMap<FileId, Option<Rc<Document>>>,
}

impl<'a> FixDrafter<'a> {
    /// Creates a drafter of changes to a snapshot.
    pub fn new(snapshot: &'a Snapshot) -> FixDrafter<'a> {
        FixDrafter { snapshot, documents: HashMap::new() }
    }

    /// Returns the change that mends a finding. `None` where no fix is known, where the text leaves no
    /// certain place for it, and for a file that must not change.
    pub fn draft(&mut self, finding: &Finding) -> Option<SourceChange> {
        self.draft_fix(finding.span.file, finding.fix.as_deref()?)
    }

    /// Returns the change that a fix in a file makes; `None` as for `draft`.
    pub(super) fn draft_fix(&mut self, file: FileId, fix: &Fix) -> Option<SourceChange> {
        let path = self.snapshot.path_of(file)?.clone();
        let mut change = SourceChange::default();
        for edit in &fix.edits {
            for edit in self.draft_edit(edit)? {
                change.push(&path, edit);
            }
        }
        let change = with_own_line_ends(self.snapshot, &path, change);
        self.snapshot.allow_change(change.clone()).ok().map(|_| change)
    }

    /// Whether the fix of a finding keeps all values, as its rule knows, and all comments.
    pub fn is_safe(&mut self, finding: &Finding) -> bool {
        finding.fix.as_deref().is_some_and(|fix| fix.safety == Safety::KeepsValues)
            && self.draft(finding).is_some_and(|change| self.keeps_comments(finding, &change))
    }

    /// Whether a fix drops no comment but the one that it is about.
    fn keeps_comments(&mut self, finding: &Finding, change: &SourceChange) -> bool {
        if matches!(finding.rule.check, Check::Ignore(_)) || self.has_none_to_drop(finding, change)
        {
            return true;
        }
        let after = self.snapshot.after_change(change);
        after.is_some_and(|after| dropped_comments(self.snapshot, &after, change) == 0)
    }

    /// Whether the fix of a finding removes whole members, and no comment stands in them.
    fn has_none_to_drop(&mut self, finding: &Finding, change: &SourceChange) -> bool {
        let file = finding.span.file;
        let edits = self.snapshot.path_of(file).and_then(|path| change.edits.get(path));
        let (Some(edits), Some(document)) = (edits, self.document(file)) else { return false };
        finding.fix.as_deref().is_some_and(Fix::only_removes)
            && !edits.iter().any(|edit| document.has_comment_in(edit.range))
    }

    fn draft_edit(&mut self, edit: &FixEdit) -> Option<Vec<TextEdit>> {
        match edit {
            FixEdit::Replace { span, wrong, right } => {
                let range = self.snapshot.span_bytes(*span);
                let file = self.snapshot.file_by_id(span.file)?;
                let text = file.text()?.slice(range);
                // Text with escapes, or with the wrong part twice, is left to the user.
                let mut places = text.match_indices(wrong.as_str());
                let (start, _) =
                    places.next().filter(|_| !wrong.is_empty() && places.next().is_none())?;
                let start = range.start + u32::try_from(start).ok()?;
                let end = start + u32::try_from(wrong.len()).ok()?;
                Some(vec![TextEdit::new(TextRange::new(start, end), right.as_str())])
            }
            FixEdit::RemoveMember(key) => {
                let start = self.snapshot.span_bytes(*key).start;
                Some(vec![self.document(key.file)?.member_removal_edit(start)?])
            }
            FixEdit::MoveBelowMerge(option) => {
                let start = self.snapshot.span_bytes(*option).start;
                let document = self.document(option.file)?;
                options::move_below_merge(&document, start)
            }
            FixEdit::RemoveIgnore(code) => {
                let text = self.snapshot.file_by_id(code.file)?.text()?.to_str();
                Some(vec![comments::remove_code(&text, self.snapshot.span_bytes(*code))?])
            }
        }
    }

    fn document(&mut self, file: FileId) -> Option<Rc<Document>> {
        let snapshot = self.snapshot;
        self.documents
            .entry(file)
            .or_insert_with(|| snapshot.file_by_id(file)?.document().map(Rc::new))
            .clone()
    }
}

/// Returns the fixes of these findings that can be made at once: of two that edit one place, the first.
/// Those that keep values are proved to keep all of them together; with `Safety::KeepsValues` as `most`
/// there are no others.
pub fn choose_fixes(snapshot: &Snapshot, findings: &[&Finding], most: Safety) -> ChosenFixes {
    let mut drafter = FixDrafter::new(snapshot);
    let (mut safe, mut others) = (Vec::new(), Vec::new());
    for (number, finding) in findings.iter().enumerate() {
        let Some(change) = drafter.draft(finding) else { continue };
        let claim = finding.fix.as_deref().map(|fix| fix.safety);
        if claim == Some(Safety::KeepsValues) && drafter.keeps_comments(finding, &change) {
            safe.push((number, change));
        } else {
            others.push((number, change));
        }
    }
    let comparer = Comparer::new(snapshot, Effort::new(None));
    let mut chosen = ChosenFixes::default();
    add_fixes(snapshot, &mut chosen, &safe, &|after, change| comparer.keeps_values(after, change));
    if most == Safety::ChangesValues {
        add_fixes(snapshot, &mut chosen, &others, &|_, _| true);
    }
    chosen.findings.sort_unstable();
    chosen
}

/// Adds the drafts that keep all files readable and fit, together with those chosen already; a draft
/// that does not is found by halves.
fn add_fixes(
    snapshot: &Snapshot,
    chosen: &mut ChosenFixes,
    drafts: &[(usize, SourceChange)],
    fits: &dyn Fn(&Snapshot, &SourceChange) -> bool,
) {
    if drafts.is_empty() || snapshot.cancel_token().is_cancelled() {
        return;
    }
    let mut joined = chosen.clone();
    for (number, change) in drafts {
        if joined.change.join(change) {
            joined.findings.push(*number);
        }
    }
    let after = snapshot.after_change(&joined.change);
    let is_good = after.is_some_and(|after| {
        keeps_files_whole(snapshot, &after, &joined.change, None) && fits(&after, &joined.change)
    });
    if is_good {
        *chosen = joined;
    } else if drafts.len() > 1 {
        let (one, other) = drafts.split_at(drafts.len() / 2);
        add_fixes(snapshot, chosen, one, fits);
        add_fixes(snapshot, chosen, other, fits);
    }
}

/// Returns the change that writes comments which accept these findings, each with the same reason.
/// Findings in files other than YAML have none.
pub fn accept_with_comments(
    snapshot: &Snapshot,
    findings: &[&Finding],
    reason: &str,
) -> SourceChange {
    type Codes = BTreeSet<&'static str>;
    let mut files: BTreeMap<FileId, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        files.entry(finding.span.file).or_default().push(finding);
    }
    let mut change = SourceChange::default();
    for (id, findings) in files {
        let file = snapshot.file_by_id(id).filter(|file| file.format() == DataFormat::Yaml);
        let Some((file, text)) = file.and_then(|file| Some((file, file.text()?))) else { continue };
        let text = text.to_str();
        let tree = yaml::parse(&text);
        let mut places: BTreeMap<CommentPlace, Codes> = BTreeMap::new();
        for finding in findings {
            let start = snapshot.span_bytes(finding.span).start;
            let place = comments::place_above(&text, &tree, start);
            places.entry(place).or_default().insert(finding.rule.code);
        }
        for (place, codes) in places {
            let codes: Vec<&str> = codes.into_iter().collect();
            change.push(&file.path, comments::comment_edit(place, &codes, reason));
        }
    }
    change.set_line_ends(
        |path| match snapshot.file(path).and_then(|file| file.text()) {
            Some(text) => LineEnd::of_text(&text.to_str()),
            None => LineEnd::default(),
        },
        LineEnd::default(),
    );
    change
}
