//! Document highlight: the places of one file that name the subject under the cursor.

use super::references::{find_occurrences, named_at};
use crate::text::{FilePosition, TextRange};
use crate::workspace::Snapshot;

/// A place of a file that names the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The bytes of the name; of a key of data with its quotes.
    pub range: TextRange,
    /// Whether the place gives the subject a value, or introduces it.
    pub is_definition: bool,
}

/// Returns the places of the file at `position` that name the subject there, in order; `None` where
/// there is no subject, and when the request is cancelled.
pub fn find_highlights(snapshot: &Snapshot, position: FilePosition) -> Option<Vec<Highlight>> {
    let named = named_at(snapshot, position)?;
    let path = snapshot.path_of(position.file)?;
    let all = find_occurrences(snapshot, &named.environments, &named.name, Some(path))?;
    let mut found: Vec<Highlight> = all
        .iter()
        .map(|one| Highlight { range: one.range, is_definition: one.role.is_declaration() })
        .collect();
    found.sort_by_key(|one| (one.range.start, !one.is_definition));
    found.dedup_by_key(|one| one.range);
    Some(found)
}
