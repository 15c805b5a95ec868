//! The proof of a draft: only the values that the draft is meant to change may change, and the
//! title has the number of nodes that get other values.

use std::sync::Arc;

use super::{Draft, RefactorContext, Refactoring};
use crate::fleet::proof::{dropped_comments, file_data, keeps_files_whole, with_own_line_ends};
use crate::text::SourceChange;
use crate::workspace::Snapshot;

impl RefactorContext<'_> {
    /// Returns a change with the ends of lines of its files, and the snapshot after it; `None` where
    /// the gate stops it, where it would break a file, or where it would change data of keys other
    /// than these.
    pub(super) fn try_change(
        &self,
        change: SourceChange,
        keys: &[Arc<str>],
    ) -> Option<(SourceChange, Snapshot)> {
        let change = with_own_line_ends(self.snapshot, self.wanted.path, change);
        self.snapshot.allow_change(change.clone()).ok()?;
        let after = self.snapshot.after_change(&change)?;
        let is_whole = keeps_files_whole(self.snapshot, &after, &change, Some(keys));
        is_whole.then_some((change, after))
    }

    /// Returns the refactoring of a draft; `None` where its change would break a file or touch
    /// other keys, and when cancelled.
    pub(super) fn offer_draft(&self, draft: Draft) -> Option<Refactoring> {
        let Draft { title, kind, change, keys, new_keys, remark, is_encrypted, .. } = draft;
        let change = match change {
            Ok(change) => change,
            Err(reason) => return Some(Refactoring::new_refused(kind, title, reason)),
        };
        let (change, after) = self.try_change(change, &keys)?;
        if is_encrypted {
            let is_neutral = remark.is_empty();
            let title = format!("{title}{remark}");
            let (change, new_key) = (Ok(change), None);
            return Some(Refactoring { title, kind, change, is_neutral, changed: 0, new_key });
        }
        let found = self.comparer.compare(&after, &change, &new_keys)?;
        // The comparison uses the readable values of a refused file; Puppet finds none of these
        // values.
        let mut files = change.edits.keys();
        let is_refused = files
            .any(|path| file_data(self.snapshot, path).is_some_and(|it| it.refusal().is_some()));
        let (effect, is_neutral) = if is_refused {
            (" (Puppet refuses the file as it is)".to_owned(), false)
        } else {
            (found.effect_phrase(), found.is_neutral())
        };
        let dropped = match dropped_comments(self.snapshot, &after, &change) {
            0 => String::new(),
            1 => ", drops 1 comment".to_owned(),
            count => format!(", drops {count} comments"),
        };
        let title = format!("{title}{effect}{remark}{dropped}");
        let changed = found.changed + found.left_out;
        let (change, new_key) = (Ok(change), new_keys.into_iter().next());
        Some(Refactoring { title, kind, change, is_neutral, changed, new_key })
    }
}
