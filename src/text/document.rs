//! A text as editors change it. Cloning is O(1), an edit makes a new value; the only user of ropey.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr2, memmem, memrchr2};
use ropey::{Rope, str_utils};

use super::range::TextRange;

/// An immutable text. Lines end with `\n`, `\r\n` or `\r` and nothing else, as the Language Server
/// Protocol counts them.
#[derive(Clone, Debug)]
pub struct Text {
    form: Form,
}

/// How a text is kept.
#[derive(Clone, Debug)]
enum Form {
    /// In one piece, as most files are short: nothing is smaller, or sooner made.
    Piece(Arc<str>),
    Rope(Rope),
}

/// Up to how many bytes a text is kept in one piece: going through so many takes about a
/// microsecond.
const SHORT: usize = 16 << 10;

impl Text {
    /// Returns the text of a string.
    pub fn new(text: &str) -> Text {
        Text {
            form: if text.len() <= SHORT {
                Form::Piece(text.into())
            } else {
                Form::Rope(Rope::from_str(text))
            },
        }
    }

    /// Returns how many bytes the text holds.
    pub fn len(&self) -> u32 {
        u32::try_from(self.byte_count()).unwrap_or(u32::MAX)
    }

    /// Returns whether the text holds no byte.
    pub fn is_empty(&self) -> bool {
        self.byte_count() == 0
    }

    fn byte_count(&self) -> usize {
        match &self.form {
            Form::Piece(text) => text.len(),
            Form::Rope(rope) => rope.len_bytes(),
        }
    }

    /// Returns how many lines the text has; at least one, and one more than it has line ends.
    pub fn line_count(&self) -> u32 {
        match &self.form {
            Form::Piece(_) => self.line_of(u32::MAX) + 1,
            Form::Rope(rope) => u32::try_from(rope.len_lines()).unwrap_or(u32::MAX),
        }
    }

    /// Returns this text with the bytes of `range` replaced by `insert`.
    ///
    /// A range beyond the end, or within a character, is moved to the nearest place before it that
    /// is possible.
    pub fn replace_range(&self, range: TextRange, insert: &str) -> Text {
        let range = self.clamp_range(range).as_usize();
        match &self.form {
            Form::Piece(text) => {
                Text::new(&[&text[..range.start], insert, &text[range.end..]].concat())
            }
            Form::Rope(rope) => {
                let start = rope.byte_to_char(range.start);
                let mut rope = rope.clone();
                rope.remove(start..rope.byte_to_char(range.end));
                rope.insert(start, insert);
                Text { form: Form::Rope(rope) }
            }
        }
    }

    /// Returns where a string differs from this text: the bytes of the text that are not in the
    /// string, and the bytes of the string that stand there instead. Both ranges begin at the same
    /// byte, and cut no character. `None` for equal texts.
    pub fn find_difference(&self, other: &str) -> Option<(TextRange, TextRange)> {
        let length = self.byte_count();
        let mut start = match &self.form {
            Form::Piece(text) => common_start([&**text].into_iter(), other.as_bytes()),
            Form::Rope(rope) => common_start(rope.chunks(), other.as_bytes()),
        };
        if start == length && start == other.len() {
            return None;
        }
        while !self.is_boundary(start) || !other.is_char_boundary(start) {
            start -= 1;
        }
        let behind = &other.as_bytes()[start..];
        let tail = match &self.form {
            Form::Piece(text) => common_end([&**text].into_iter(), behind),
            Form::Rope(rope) => common_end(rope.chunks_at_byte(length).0.reversed(), behind),
        };
        let mut tail = tail.min(length - start);
        while !self.is_boundary(length - tail) || !other.is_char_boundary(other.len() - tail) {
            tail -= 1;
        }
        Some((
            TextRange::from_usize(start..length - tail),
            TextRange::from_usize(start..other.len() - tail),
        ))
    }

    fn is_boundary(&self, at: usize) -> bool {
        match &self.form {
            Form::Piece(text) => text.is_char_boundary(at),
            Form::Rope(rope) => at == rope.len_bytes() || rope.byte(at) & 0xc0 != 0x80,
        }
    }

    /// Returns the nearest range that lies in the text and cuts no character.
    pub fn clamp_range(&self, range: TextRange) -> TextRange {
        TextRange::from_usize(self.clamp_offset(range.start)..self.clamp_offset(range.end))
    }

    fn clamp_offset(&self, offset: u32) -> usize {
        let mut at = (offset as usize).min(self.byte_count());
        while !self.is_boundary(at) {
            at -= 1;
        }
        at
    }

    /// Returns the bytes of `range`, clamped to the text and to whole characters.
    pub fn slice(&self, range: TextRange) -> Cow<'_, str> {
        let range = self.clamp_range(range).as_usize();
        match &self.form {
            Form::Piece(text) => Cow::from(&text[range]),
            Form::Rope(rope) => Cow::from(rope.byte_slice(range)),
        }
    }

    /// Returns how many characters `range` holds, clamped as for a slice. O(log n).
    pub fn char_count(&self, range: TextRange) -> u32 {
        let range = self.clamp_range(range).as_usize();
        match &self.form {
            Form::Piece(text) => text[range].chars().count() as u32,
            Form::Rope(rope) => {
                (rope.byte_to_char(range.end) - rope.byte_to_char(range.start)) as u32
            }
        }
    }

    /// Returns how many UTF-16 code units `range` holds, clamped as for a slice. O(log n).
    pub fn utf16_units(&self, range: TextRange) -> u32 {
        let range = self.clamp_range(range).as_usize();
        match &self.form {
            Form::Piece(text) => text[range].chars().map(|c| c.len_utf16() as u32).sum(),
            Form::Rope(rope) => {
                (utf16_offset(range.end, rope) - utf16_offset(range.start, rope)) as u32
            }
        }
    }

    /// Returns the whole text in one piece: borrowed when it lies in one.
    pub fn to_str(&self) -> Cow<'_, str> {
        match &self.form {
            Form::Piece(text) => Cow::from(&**text),
            Form::Rope(rope) => Cow::from(rope),
        }
    }

    /// Returns the first byte of each place where a word stands in the text, in order. No place
    /// overlaps the one before it. The text is not put together.
    pub fn find_all(&self, word: &str) -> Vec<u32> {
        let finder = memmem::Finder::new(word);
        let Form::Rope(rope) = &self.form else {
            return finder.find_iter(self.to_str().as_bytes()).map(|at| at as u32).collect();
        };
        let mut found = Vec::new();
        // The seam begins with the end of the text before a piece. That end is too short for a
        // word, so that a word that begins in it ends in the piece.
        let (mut end, mut seam) = (0, Vec::new());
        let kept = word.len().saturating_sub(1);
        for piece in rope.chunks().map(str::as_bytes) {
            let before = seam.len();
            seam.extend_from_slice(&piece[..kept.min(piece.len())]);
            found.extend(finder.find_iter(&seam).map(|at| end - before + at));
            found.extend(finder.find_iter(piece).map(|at| end + at));
            end += piece.len();
            if piece.len() >= kept {
                seam.clear();
                seam.extend_from_slice(&piece[piece.len() - kept..]);
            } else {
                seam.drain(..seam.len().saturating_sub(kept));
            }
        }
        found.into_iter().map(|at| at as u32).collect()
    }

    /// Returns the line (0-based) that holds the byte at `offset`; the last line for an offset
    /// beyond the end.
    pub fn line_of(&self, offset: u32) -> u32 {
        let offset = (offset as usize).min(self.byte_count());
        let line = match &self.form {
            Form::Piece(text) => str_utils::byte_to_line_idx(text, offset),
            Form::Rope(rope) => rope.byte_to_line(offset),
        };
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// Returns the line (0-based) that holds the byte at `offset`, with its bytes without the line
    /// end; the last line for an offset beyond the end.
    pub(super) fn line_around(&self, offset: u32) -> (u32, TextRange) {
        let line = self.line_of(offset);
        let range = match &self.form {
            Form::Piece(text) => {
                let offset = (offset as usize).min(text.len());
                let bytes = text.as_bytes();
                // A line feed behind a carriage return belongs to the line before.
                let is_within_line_end =
                    bytes[..offset].ends_with(b"\r") && bytes[offset..].starts_with(b"\n");
                let before = offset - usize::from(is_within_line_end);
                let start = memrchr2(b'\n', b'\r', &bytes[..before]).map_or(0, |end| end + 1);
                TextRange::from_usize(start..end_of_line(bytes, start))
            }
            Form::Rope(_) => self.line_range(line).unwrap_or_default(),
        };
        (line, range)
    }

    /// Returns the bytes of a line without its line end; `None` when there is no such line.
    pub fn line_range(&self, line: u32) -> Option<TextRange> {
        if let Form::Piece(text) = &self.form {
            let start = self.start_of_line(line as usize);
            // All lines behind the last one would start at the end.
            if start == text.len() && line >= self.line_count() {
                return None;
            }
            return Some(TextRange::from_usize(start..end_of_line(text.as_bytes(), start)));
        }
        if line >= self.line_count() {
            return None;
        }
        let (start, end) =
            (self.start_of_line(line as usize), self.start_of_line(line as usize + 1));
        // A line may be long, but its line end is short.
        let tail = self.slice(TextRange::from_usize(end.saturating_sub(2).max(start)..end));
        let line_end = tail.len() - tail.trim_end_matches(['\n', '\r']).len();
        Some(TextRange::from_usize(start..end - line_end))
    }

    /// Returns the first byte of a line; the end of the text for the one behind the last.
    fn start_of_line(&self, line: usize) -> usize {
        match &self.form {
            Form::Piece(text) => str_utils::line_to_byte_idx(text, line),
            Form::Rope(rope) => rope.line_to_byte(line),
        }
    }

    /// Returns the text of a line without its line end; `None` when there is no such line.
    pub fn line_text(&self, line: u32) -> Option<Cow<'_, str>> {
        self.line_range(line).map(|range| self.slice(range))
    }
}

/// Returns where the line that starts with a byte ends, without its line end.
fn end_of_line(text: &[u8], start: usize) -> usize {
    memchr2(b'\n', b'\r', &text[start..]).map_or(text.len(), |at| start + at)
}

fn utf16_offset(at: usize, rope: &Rope) -> usize {
    rope.char_to_utf16_cu(rope.byte_to_char(at))
}

impl Default for Text {
    fn default() -> Text {
        Text::new("")
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        match (&self.form, &other.form) {
            (Form::Piece(one), Form::Piece(other)) => one == other,
            (Form::Rope(one), Form::Rope(other)) => one == other,
            (Form::Piece(piece), Form::Rope(rope)) | (Form::Rope(rope), Form::Piece(piece)) => {
                *rope == **piece
            }
        }
    }
}

/// How many bytes at a time are compared: one comparison of that many is much cheaper than that
/// many comparisons.
const STEP: usize = 256;

/// Returns how many bytes at the beginning are the same, of a text in pieces and another.
fn common_start<'a>(pieces: impl Iterator<Item = &'a str>, whole: &[u8]) -> usize {
    let mut same = 0;
    for piece in pieces {
        let rest = &whole[same..];
        let steps = piece.as_bytes().chunks(STEP).zip(rest.chunks(STEP));
        let mut in_piece: usize = steps.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum();
        in_piece += piece.as_bytes()[in_piece..]
            .iter()
            .zip(&rest[in_piece..])
            .take_while(|(a, b)| a == b)
            .count();
        same += in_piece;
        if in_piece < piece.len() {
            break;
        }
    }
    same
}

/// Returns the length of the common end; the last piece comes first.
fn common_end<'a>(pieces: impl Iterator<Item = &'a str>, whole: &[u8]) -> usize {
    let mut same = 0;
    for piece in pieces {
        let (piece, rest) = (piece.as_bytes(), &whole[..whole.len() - same]);
        let steps = piece.rchunks(STEP).zip(rest.rchunks(STEP));
        let mut in_piece: usize = steps.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum();
        let left = (&piece[..piece.len() - in_piece], &rest[..rest.len() - in_piece]);
        in_piece +=
            left.0.iter().rev().zip(left.1.iter().rev()).take_while(|(a, b)| a == b).count();
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
    fn a_word_is_found_across_the_pieces_of_a_text() {
        for gap in 0..9 {
            let line = format!("{}word: ä\n", "x".repeat(gap));
            for count in [3, 40_000] {
                let text = line.repeat(count);
                let expected: Vec<u32> =
                    text.match_indices("word:").map(|(at, _)| at as u32).collect();
                assert_eq!(Text::new(&text).find_all("word:"), expected, "{line:?} {count} times");
            }
        }
    }

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
            let Some((gone, come)) = old_text.find_difference(new) else {
                assert_eq!(old, new);
                continue;
            };
            assert_eq!(
                old_text.replace_range(gone, &new[come.as_usize()]).to_str(),
                *new,
                "{old:?} {new:?}"
            );
            assert_eq!(gone.start, come.start);
        }
    }

    #[test]
    fn only_the_protocols_line_ends_count() {
        let text = Text::new("a\u{2028}b\u{85}c\u{b}d\ne\r\nf\rg");
        let lines: Vec<_> =
            (0..text.line_count()).map(|n| text.line_text(n).unwrap().into_owned()).collect();
        assert_eq!(lines, ["a\u{2028}b\u{85}c\u{b}d", "e", "f", "g"]);
    }

    #[test]
    fn a_text_in_one_piece_has_the_lines_of_a_rope() {
        for text in
            ["", "a", "\n", "\r\n", "\n\r\r\n\n", "ä\r\nb\rc\n\nd", "x\r", "x\r\n\r\ny\u{2028}"]
        {
            let piece = Text::new(text);
            let rope = Text { form: Form::Rope(Rope::from_str(text)) };
            assert_eq!(piece.line_count(), rope.line_count(), "{text:?}");
            for line in 0..rope.line_count() + 2 {
                assert_eq!(piece.line_range(line), rope.line_range(line), "{line} of {text:?}");
            }
            for offset in 0..rope.len() + 2 {
                let (one, other) = (piece.line_around(offset), rope.line_around(offset));
                assert_eq!(one, other, "{offset} of {text:?}");
            }
        }
    }

    #[test]
    fn an_edit_replaces_bytes_and_leaves_the_old_text() {
        let old = Text::new("key: värde\n");
        let new = old.replace_range(TextRange::new(5, 11), "x");
        assert_eq!((old.to_str().as_ref(), new.to_str().as_ref()), ("key: värde\n", "key: x\n"));
    }

    #[test]
    fn a_short_text_and_a_long_one_say_the_same() {
        let text = "a: ä\r\nb\u{2028}c: '𝄞'\rd\n\n e";
        let (piece, rope) = (Text::new(text), Text { form: Form::Rope(Rope::from_str(text)) });
        assert_eq!(piece, rope);
        assert_eq!(rope, piece);
        assert_eq!(piece.line_count(), rope.line_count());
        for at in 0..text.len() as u32 + 2 {
            assert_eq!(
                (piece.line_of(at), piece.line_text(at)),
                (rope.line_of(at), rope.line_text(at))
            );
            for end in at..text.len() as u32 + 2 {
                let range = TextRange::new(at, end);
                assert_eq!(
                    (piece.clamp_range(range), piece.slice(range)),
                    (rope.clamp_range(range), rope.slice(range))
                );
                assert!(piece.replace_range(range, "ö\n") == rope.replace_range(range, "ö\n"));
            }
        }
        let grown = piece.replace_range(TextRange::new_empty(0), &"x\n".repeat(SHORT));
        assert!(
            matches!(grown.form, Form::Rope(_))
                && grown.line_count() == piece.line_count() + SHORT as u32
        );
    }

    #[test]
    fn an_edit_beyond_the_end_or_within_a_character_is_moved() {
        assert_eq!(Text::new("ab").replace_range(TextRange::new(9, 12), "c").to_str(), "abc");
        assert_eq!(Text::new("ä").replace_range(TextRange::new(1, 1), "x").to_str(), "xä");
    }
}
