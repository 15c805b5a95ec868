//! A text as a rope. Cloning is O(1), an edit makes a new value; the only user of ropey.

use std::borrow::Cow;

use ropey::Rope;

use super::range::TextRange;

/// An immutable text. Lines end with `\n`, `\r\n` or `\r` and nothing else, as the Language Server Protocol counts them.
#[derive(Clone, Debug, Default)]
pub struct Text {
    rope: Rope,
}

impl Text {
    /// The text of a string.
    pub fn new(text: &str) -> Text {
        Text { rope: Rope::from_str(text) }
    }

    /// How many bytes it holds.
    pub fn len(&self) -> u32 {
        u32::try_from(self.rope.len_bytes()).unwrap_or(u32::MAX)
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.rope.len_bytes() == 0
    }

    /// How many lines it has; at least one, and one more than it has line ends.
    pub fn line_count(&self) -> u32 {
        u32::try_from(self.rope.len_lines()).unwrap_or(u32::MAX)
    }

    /// This text with the bytes of `range` replaced by `insert`.
    ///
    /// A range beyond the end, or within a character, is moved to the nearest place before it that is possible.
    pub fn edit(&self, range: TextRange, insert: &str) -> Text {
        let start = self.char_at(range.start);
        let end = self.char_at(range.end).max(start);
        let mut rope = self.rope.clone();
        rope.remove(start..end);
        rope.insert(start, insert);
        Text { rope }
    }

    /// The nearest range that lies in the text and cuts no character.
    pub fn clamped(&self, range: TextRange) -> TextRange {
        let clamp = |offset| self.rope.char_to_byte(self.char_at(offset));
        TextRange::from_usize(clamp(range.start)..clamp(range.end))
    }

    /// The bytes of `range`, clamped to the text and to whole characters.
    pub fn slice(&self, range: TextRange) -> Cow<'_, str> {
        let start = self.char_at(range.start);
        let end = self.char_at(range.end).max(start);
        Cow::from(self.rope.slice(start..end))
    }

    /// The whole text in one piece: borrowed when it is small enough to lie in one.
    pub fn to_str(&self) -> Cow<'_, str> {
        Cow::from(&self.rope)
    }

    /// The line (0-based) that holds the byte at `offset`; the last line for an offset beyond the end.
    pub fn line_of(&self, offset: u32) -> u32 {
        let line = self.rope.byte_to_line((offset as usize).min(self.rope.len_bytes()));
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The bytes of a line without its line end; `None` when there is no such line.
    pub fn line_range(&self, line: u32) -> Option<TextRange> {
        if line >= self.line_count() {
            return None;
        }
        let start = self.rope.line_to_byte(line as usize);
        let mut end = self.rope.line_to_byte(line as usize + 1);
        while end > start && matches!(self.rope.byte(end - 1), b'\n' | b'\r') {
            end -= 1;
        }
        Some(TextRange::from_usize(start..end))
    }

    /// The text of a line without its line end; `None` when there is no such line.
    pub fn line(&self, line: u32) -> Option<Cow<'_, str>> {
        self.line_range(line).map(|range| self.slice(range))
    }

    fn char_at(&self, offset: u32) -> usize {
        self.rope.byte_to_char((offset as usize).min(self.rope.len_bytes()))
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.rope == other.rope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_protocols_line_ends_count() {
        let text = Text::new("a\u{2028}b\u{85}c\u{b}d\ne\r\nf\rg");
        let lines: Vec<_> = (0..text.line_count()).map(|n| text.line(n).unwrap().into_owned()).collect();
        assert_eq!(lines, ["a\u{2028}b\u{85}c\u{b}d", "e", "f", "g"]);
    }

    #[test]
    fn an_edit_replaces_bytes_and_leaves_the_old_text() {
        let old = Text::new("key: värde\n");
        let new = old.edit(TextRange::new(5, 11), "x");
        assert_eq!((old.to_str().as_ref(), new.to_str().as_ref()), ("key: värde\n", "key: x\n"));
    }

    #[test]
    fn an_edit_beyond_the_end_or_within_a_character_is_moved() {
        assert_eq!(Text::new("ab").edit(TextRange::new(9, 12), "c").to_str(), "abc");
        assert_eq!(Text::new("ä").edit(TextRange::new(1, 1), "x").to_str(), "xä");
    }
}
