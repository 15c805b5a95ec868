//! Changes of texts that a feature proposes.

use std::collections::BTreeMap;

use super::path::FilePath;
use super::range::TextRange;

/// A replacement of one range of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes that are replaced, in the text before all edits. Empty for an insertion.
    pub range: TextRange,
    /// The text that replaces the bytes of the range.
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

/// The bytes at the end of each line of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnd {
    /// `\n`
    #[default]
    Lf,
    /// `\r\n`
    CrLf,
}

impl LineEnd {
    /// Returns the end of the first line of a text; `\n` for a text of one line.
    pub fn of_text(text: &str) -> LineEnd {
        match text.split_once('\n') {
            Some((line, _)) if line.ends_with('\r') => LineEnd::CrLf,
            _ => LineEnd::Lf,
        }
    }

    /// Returns a text with `self` as the end of each line.
    fn end_lines(self, text: &str) -> String {
        let text = text.replace("\r\n", "\n");
        match self {
            LineEnd::Lf => text,
            LineEnd::CrLf => text.replace('\n', "\r\n"),
        }
    }
}

impl SourceChange {
    /// Gives the new text of each file the ends of lines that the file has; of files to create,
    /// those that `created` states.
    pub fn set_line_ends(&mut self, line_end: impl Fn(&FilePath) -> LineEnd, created: LineEnd) {
        for (path, edits) in &mut self.edits {
            let line_end = line_end(path);
            for edit in edits {
                edit.text = line_end.end_lines(&edit.text);
            }
        }
        for text in self.created.values_mut() {
            *text = created.end_lines(text);
        }
    }

    /// Adds an edit of a file, and keeps the edits of that file in order.
    pub fn push(&mut self, path: &FilePath, edit: TextEdit) {
        let edits = self.edits.entry(path.clone()).or_default();
        let place = edits.partition_point(|other| other.range.start <= edit.range.start);
        edits.insert(place, edit);
    }

    /// Adds the edits of another change of existing files; `false`, with nothing added, where both
    /// edit one place.
    pub fn join(&mut self, other: &SourceChange) -> bool {
        let fits = |edits: &[TextEdit], range: TextRange| {
            let place = edits.partition_point(|edit| edit.range.start <= range.start);
            let (above, below) = edits.split_at(place);
            !above.last().is_some_and(|edit| do_overlap(edit.range, range))
                && !below.first().is_some_and(|edit| do_overlap(range, edit.range))
        };
        let can_join = other.edits.iter().all(|(path, edits)| {
            let own = self.edits.get(path).map_or(&[][..], |own| own);
            edits.iter().all(|edit| fits(own, edit.range))
                && !edits.windows(2).any(|two| do_overlap(two[0].range, two[1].range))
        });
        if can_join {
            for (path, edits) in &other.edits {
                edits.iter().for_each(|edit| self.push(path, edit.clone()));
            }
        }
        can_join
    }

    /// Whether the change has no edit and creates no file.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.created.is_empty()
    }
}

fn do_overlap(one: TextRange, next: TextRange) -> bool {
    one.end > next.start || one == next
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

    #[test]
    fn new_text_has_the_ends_of_lines_of_its_file() {
        let (one, other) = (FilePath::new("/crlf.yaml"), FilePath::new("/lf.yaml"));
        let mut change = SourceChange::default();
        for path in [&one, &other] {
            change.push(path, TextEdit::new(TextRange::new_empty(0), "a\r\nb\nc"));
        }
        change.created.insert(FilePath::new("/new.yaml"), "a\n".to_owned());
        let line_end = |path: &FilePath| {
            LineEnd::of_text(if *path == one { "k: 1\r\nl: 1\n" } else { "k: 1\n" })
        };
        change.set_line_ends(line_end, LineEnd::CrLf);
        assert_eq!(change.edits[&one][0].text, "a\r\nb\r\nc");
        assert_eq!(change.edits[&other][0].text, "a\nb\nc");
        assert_eq!(change.created[&FilePath::new("/new.yaml")], "a\r\n");
    }
}
