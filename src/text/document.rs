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

    /// Where another text differs from this one: the bytes of this one that are not in it, and those of it that stand there instead. Both
    /// begin at the same byte, and cut no character. `None` for equal texts.
    pub fn difference(&self, other: &Text) -> Option<(TextRange, TextRange)> {
        let (old, new) = (self.to_str(), other.to_str());
        let mut start = common_start(old.as_bytes(), new.as_bytes());
        if start == old.len() && start == new.len() {
            return None;
        }
        while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
            start -= 1;
        }
        let common = |a: &[u8], b: &[u8]| a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        let mut tail = common(&old.as_bytes()[start..], &new.as_bytes()[start..]);
        while !old.is_char_boundary(old.len() - tail) || !new.is_char_boundary(new.len() - tail) {
            tail -= 1;
        }
        Some((TextRange::from_usize(start..old.len() - tail), TextRange::from_usize(start..new.len() - tail)))
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

/// How many bytes at the beginning of both are the same.
fn common_start(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 256;
    let same = a.chunks(STEP).zip(b.chunks(STEP)).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum::<usize>();
    same + a[same..].iter().zip(&b[same.min(b.len())..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_two_texts_is_an_edit() {
        let long = "zeile ä\n".repeat(100);
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
        ] {
            let (old_text, new_text) = (Text::new(old), Text::new(new));
            let Some((gone, come)) = old_text.difference(&new_text) else {
                assert_eq!(old, new);
                continue;
            };
            assert_eq!(old_text.edit(gone, &new_text.slice(come)), new_text, "{old:?} {new:?}");
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
