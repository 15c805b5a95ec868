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

    /// Where a string differs from this text: the bytes of this one that are not in it, and those of it that stand there instead. Both
    /// begin at the same byte, and cut no character. `None` for equal texts.
    pub fn difference(&self, other: &str) -> Option<(TextRange, TextRange)> {
        let length = self.rope.len_bytes();
        let mut start = common_start(self.rope.chunks(), other.as_bytes());
        if start == length && start == other.len() {
            return None;
        }
        while !self.is_boundary(start) || !other.is_char_boundary(start) {
            start -= 1;
        }
        let behind = &other.as_bytes()[start..];
        let backwards = self.rope.chunks_at_byte(length).0.reversed();
        let mut tail = common_end(backwards, behind).min(length - start);
        while !self.is_boundary(length - tail) || !other.is_char_boundary(other.len() - tail) {
            tail -= 1;
        }
        Some((TextRange::from_usize(start..length - tail), TextRange::from_usize(start..other.len() - tail)))
    }

    fn is_boundary(&self, at: usize) -> bool {
        at == self.rope.len_bytes() || self.rope.byte(at) & 0xc0 != 0x80
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

/// How many bytes at a time are compared: one comparison of that many is much cheaper than that many comparisons.
const STEP: usize = 256;

/// How many bytes at the beginning are the same, of a text in pieces and another.
fn common_start<'a>(pieces: impl Iterator<Item = &'a str>, whole: &[u8]) -> usize {
    let mut same = 0;
    for piece in pieces {
        let rest = &whole[same..];
        let steps = piece.as_bytes().chunks(STEP).zip(rest.chunks(STEP));
        let mut in_piece: usize = steps.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum();
        in_piece += piece.as_bytes()[in_piece..].iter().zip(&rest[in_piece..]).take_while(|(a, b)| a == b).count();
        same += in_piece;
        if in_piece < piece.len() {
            break;
        }
    }
    same
}

/// The same of the end; the last piece comes first.
fn common_end<'a>(pieces: impl Iterator<Item = &'a str>, whole: &[u8]) -> usize {
    let mut same = 0;
    for piece in pieces {
        let (piece, rest) = (piece.as_bytes(), &whole[..whole.len() - same]);
        let steps = piece.rchunks(STEP).zip(rest.rchunks(STEP));
        let mut in_piece: usize = steps.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum();
        let left = (&piece[..piece.len() - in_piece], &rest[..rest.len() - in_piece]);
        in_piece += left.0.iter().rev().zip(left.1.iter().rev()).take_while(|(a, b)| a == b).count();
        same += in_piece;
        if in_piece < piece.len() {
            break;
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_two_texts_is_an_edit() {
        let long = "zeile ä\n".repeat(100);
        let longer = "zeile ä\n".repeat(5_000);
        for (old, new) in [
            ("", "a"),
            ("abc", "abc"),
            ("abc", "abxc"),
            ("aaa", "aa"),
            ("ä", "ö"),
            ("xä", "xäx"),
            (long.as_str(), &long.replacen("zeile", "ä", 90)),
            (&long[..long.len() - 3], &long),
            (&long, &long[..600]),
            // The text, a rope, lies in several pieces.
            (&longer, &longer.replacen("zeile", "öile", 1)),
            (&longer, &longer.replacen("ä\n", "ä\r\n", 3_000)),
            (&longer, &format!("{longer}ö")),
            (&longer, &longer[..longer.len() - 9]),
            (&longer[9..], &longer),
        ] {
            let old_text = Text::new(old);
            let Some((gone, come)) = old_text.difference(new) else {
                assert_eq!(old, new);
                continue;
            };
            assert_eq!(old_text.edit(gone, &new[come.as_usize()]).to_str(), *new, "{old:?} {new:?}");
            assert_eq!(gone.start, come.start);
        }
    }

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
