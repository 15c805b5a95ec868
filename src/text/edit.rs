//! Changes of texts that a feature proposes.

use std::collections::BTreeMap;

use super::path::FilePath;
use super::range::TextRange;

/// A replacement of one range of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes that are replaced, in the text before all edits. Empty for an insertion.
    pub range: TextRange,
    /// The text that replaces them.
    pub text: String,
}

/// A change of several files at once. The edits of one file never overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceChange {
    /// The edits of each file that exists, in the order of their ranges.
    pub edits: BTreeMap<FilePath, Vec<TextEdit>>,
    /// The files to create, with their text.
    pub created: BTreeMap<FilePath, String>,
}

impl TextEdit {
    /// Returns a replacement of `range` by `text`.
    pub fn new(range: TextRange, text: impl Into<String>) -> TextEdit {
        TextEdit { range, text: text.into() }
    }

    /// Applies edits that do not overlap, in the order of their ranges, to the text that they were
    /// made for.
    pub fn apply_all(edits: &[TextEdit], text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut done = 0;
        for edit in edits {
            result.push_str(&text[done..edit.range.start as usize]);
            result.push_str(&edit.text);
            done = edit.range.end as usize;
        }
        result.push_str(&text[done..]);
        result
    }
}

impl SourceChange {
    /// Adds an edit of a file, and keeps the edits of that file in order.
    pub fn push(&mut self, path: &FilePath, edit: TextEdit) {
        let edits = self.edits.entry(path.clone()).or_default();
        let place = edits.partition_point(|other| other.range.start <= edit.range.start);
        edits.insert(place, edit);
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.created.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_in_the_order_of_their_ranges() {
        let path = FilePath::new("/data/common.yaml");
        let mut change = SourceChange::default();
        change.push(&path, TextEdit::new(TextRange::new(3, 4), "Z"));
        change.push(&path, TextEdit::new(TextRange::new(0, 1), "X"));
        change.push(&path, TextEdit::new(TextRange::new(1, 1), "Y"));
        assert_eq!(TextEdit::apply_all(&change.edits[&path], "abcdef"), "XYbcZef");
    }
}
