//! The proof of a draft: only the values that the draft is meant to change may change, and the
//! title has the number of nodes that get other values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Draft, RefactorContext, Refactoring};
use crate::fleet::compare::Comparison;
use crate::hiera::data::DataFile;
use crate::text::{FilePath, LineEnd, SourceChange};
use crate::workspace::Snapshot;
use crate::yaml;

impl RefactorContext<'_> {
    /// Returns the refactoring of a draft; `None` where its change would break a file or touch
    /// other keys, and when cancelled.
    pub(super) fn offer_draft(&self, draft: Draft) -> Option<Refactoring> {
        let Draft { title, kind, change, keys, new_keys, remark, is_encrypted, .. } = draft;
        let change = match change {
            Ok(change) => with_own_line_ends(self.snapshot, self.wanted.path, change),
            Err(reason) => return Some(Refactoring::new_refused(kind, title, reason)),
        };
        self.snapshot.allow_change(change.clone()).ok()?;
        let after = self.snapshot.after_change(&change)?;
        if !self.keeps_files_whole(&after, &change, &keys) {
            return None;
        }
        if is_encrypted {
            let is_neutral = remark.is_empty();
            let title = format!("{title}{remark}");
            return Some(Refactoring { title, kind, change: Ok(change), is_neutral, changed: 0 });
        }
        let found = self.comparer.compare(&after, &change, &new_keys)?;
        // Values are read as far as they go; Puppet finds none of them.
        let mut files = change.edits.keys();
        let is_refused = files
            .any(|path| file_data(self.snapshot, path).is_some_and(|it| it.refusal().is_some()));
        let (effect, is_neutral) = match is_refused {
            true => (" (Puppet refuses the file as it is)".to_owned(), false),
            false => (effect_phrase(&found), found.is_neutral()),
        };
        let dropped = match dropped_comments(self.snapshot, &after, &change) {
            0 => String::new(),
            1 => ", drops 1 comment".to_owned(),
            count => format!(", drops {count} comments"),
        };
        let title = format!("{title}{effect}{remark}{dropped}");
        let changed = found.changed + found.left_out;
        Some(Refactoring { title, kind, change: Ok(change), is_neutral, changed })
    }

    /// Whether each file can be read as before, has no new problem, and differs in the data of
    /// these keys alone.
    fn keeps_files_whole(
        &self,
        after: &Snapshot,
        change: &SourceChange,
        keys: &[Arc<str>],
    ) -> bool {
        let mut problems = 0;
        for path in change.edits.keys().chain(change.created.keys()) {
            let (old, new) = (file_data(self.snapshot, path), file_data(after, path));
            let Some(new) = new else { return false };
            if new.refusal().is_some() {
                return false;
            }
            problems += new.problems().count() as isize;
            problems -= old.as_ref().map_or(0, |old| old.problems().count()) as isize;
            let empty = DataFile::default();
            let old = old.as_deref().unwrap_or(&empty);
            let value = |data: &DataFile, key: &str| data.get(key).map(|it| it.value.clone());
            let mut names = old.keys().chain(new.keys()).filter_map(|key| key.as_arc());
            if names.any(|key| !keys.contains(key) && value(old, key) != value(&new, key)) {
                return false;
            }
        }
        problems <= 0
    }
}

/// Returns a change whose new text has the ends of lines of each file; of files to create, those of
/// the file at `path`.
pub(super) fn with_own_line_ends(
    snapshot: &Snapshot,
    path: &FilePath,
    mut change: SourceChange,
) -> SourceChange {
    let line_end = |path: &FilePath| match snapshot.file(path).and_then(|file| file.text()) {
        Some(text) => LineEnd::of_text(&text.to_str()),
        None => LineEnd::default(),
    };
    change.set_line_ends(line_end, line_end(path));
    change
}

/// Returns the number of comments that a change removes and puts nowhere else.
fn dropped_comments(before: &Snapshot, after: &Snapshot, change: &SourceChange) -> usize {
    let mut removed: BTreeMap<String, usize> = BTreeMap::new();
    let mut added: BTreeSet<String> = BTreeSet::new();
    for path in change.edits.keys().chain(change.created.keys()) {
        let (old, new) = (comments(before, path), comments(after, path));
        for (text, count) in &old {
            let left = new.get(text).copied().unwrap_or_default();
            *removed.entry(text.clone()).or_default() += count.saturating_sub(left);
        }
        let is_more =
            |(text, count): &(&String, &usize)| old.get(*text).is_none_or(|it| it < *count);
        added.extend(new.iter().filter(is_more).map(|(text, _)| text.clone()));
    }
    removed.iter().filter(|(text, _)| !added.contains(*text)).map(|(_, count)| count).sum()
}

/// Returns the texts of the comments of a file, each with how often it stands there.
fn comments(snapshot: &Snapshot, path: &FilePath) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    let Some(text) = snapshot.file(path).and_then(|file| file.text()) else { return all };
    let text = text.to_str();
    for comment in yaml::parse(&text).comments {
        let comment = text[comment.as_usize()].trim_end();
        *all.entry(comment.to_owned()).or_default() += 1;
    }
    all
}

fn file_data(snapshot: &Snapshot, path: &FilePath) -> Option<Arc<DataFile>> {
    let environment = snapshot.environments().governing_environments(path).next()?;
    snapshot.view(environment).data_of(path)
}

/// Returns the result of a comparison, as a remark behind a title; empty where nothing changes.
pub(super) fn effect_phrase(found: &Comparison) -> String {
    let Comparison { nodes, changed, left_out, .. } = *found;
    let noun = match (found.are_kinds, nodes) {
        (false, 1) => "node",
        (false, _) => "nodes",
        (true, 1) => "kind of nodes",
        (true, _) => "kinds of nodes",
    };
    match (changed, left_out) {
        (0, 0) if !found.others_change => String::new(),
        (0, 0) if nodes == 0 => " (may change values: no node is known)".to_owned(),
        (0, 0) => format!(" (changes none of {nodes} {noun}; others may change)"),
        (0, _) => format!(" (changes not known for {left_out} of {nodes} {noun})"),
        (_, 0) => format!(" (changes {changed} of {nodes} {noun})"),
        _ => format!(" (changes {changed} of {nodes} {noun}; not known for {left_out})"),
    }
}
