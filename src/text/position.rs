//! Lines and columns to byte offsets and back; the only code that counts columns.

use super::document::Text;
use super::range::TextRange;

/// The unit of a column. Negotiated with the client; UTF-16 when it offers nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: one, or two for a character beyond U+FFFF.
    #[default]
    Utf16,
    /// Characters (Unicode scalar values): the unit that people are shown, counted from 1.
    Utf32,
}

impl Encoding {
    fn char_width(self, c: char) -> u32 {
        match self {
            Encoding::Utf8 => c.len_utf8() as u32,
            Encoding::Utf16 => c.len_utf16() as u32,
            Encoding::Utf32 => 1,
        }
    }
}

/// A line and a column, both counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineCol {
    /// The line.
    pub line: u32,
    /// The column, in units of an [`Encoding`].
    pub column: u32,
}

/// A text whose bytes have lines and columns.
pub trait Positions {
    /// Returns the line and column of the byte at `offset`. An offset beyond the end gives the end,
    /// one within a character its start, one within a `\r\n` the end of the line.
    fn line_col(&self, offset: u32, encoding: Encoding) -> LineCol;
}

impl<P: Positions + ?Sized> Positions for &P {
    fn line_col(&self, offset: u32, encoding: Encoding) -> LineCol {
        (**self).line_col(offset, encoding)
    }
}

impl Positions for Text {
    fn line_col(&self, offset: u32, encoding: Encoding) -> LineCol {
        Text::line_col(self, offset, encoding)
    }
}

impl Text {
    /// Returns the line and column of the byte at `offset`, see [`Positions::line_col`].
    pub fn line_col(&self, offset: u32, encoding: Encoding) -> LineCol {
        let (line, range) = self.line_around(offset);
        LineCol { line, column: self.column_in(range, offset, encoding) }
    }

    /// Returns the column of the byte at `offset` in the line whose bytes are `line`. An offset
    /// outside of the line gives its nearer end.
    pub fn column_in(&self, line: TextRange, offset: u32, encoding: Encoding) -> u32 {
        let before = TextRange::new(line.start, offset.clamp(line.start, line.end));
        match encoding {
            Encoding::Utf8 => self.clamp_range(before).len(),
            Encoding::Utf16 => self.utf16_units(before),
            Encoding::Utf32 => self.char_count(before),
        }
    }

    /// Returns the byte offset of a place.
    ///
    /// A column beyond the end of its line is the end of the line; a column within a character is
    /// its start. A line that does not exist gives `None`, but the line just behind the last is the
    /// end of the text: clients send it for "everything".
    pub fn offset_at(&self, place: LineCol, encoding: Encoding) -> Option<u32> {
        if place.line == self.line_count() {
            return Some(self.len());
        }
        let range = self.line_range(place.line)?;
        let text = self.slice(range);
        let before = text.as_bytes().get(..place.column as usize);
        if before.is_some_and(|before| before.is_ascii()) {
            return Some(range.start + place.column);
        }
        let mut left = place.column;
        let mut bytes = 0;
        for c in text.chars() {
            let width = encoding.char_width(c);
            if left < width {
                break;
            }
            left -= width;
            bytes += c.len_utf8() as u32;
        }
        Some(range.start + bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> LineCol {
        LineCol { line, column }
    }

    #[test]
    fn columns_in_three_encodings() {
        let text = Text::new("a: ä𝄞b\n");
        let b = text.to_str().find('b').unwrap() as u32;
        assert_eq!(text.line_col(b, Encoding::Utf8), at(0, 9));
        assert_eq!(text.line_col(b, Encoding::Utf16), at(0, 6));
        assert_eq!(text.line_col(b, Encoding::Utf32), at(0, 5));
    }

    #[test]
    fn there_and_back_at_every_character() {
        let text = Text::new("ä𝄞: x\r\n\u{2028}y\rz\n\n");
        let all = text.to_str().into_owned();
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (offset, _) in all
                .char_indices()
                .filter(|(at, _)| !all[..*at].ends_with('\r') || !all[*at..].starts_with('\n'))
            {
                let place = text.line_col(offset as u32, encoding);
                assert_eq!(
                    text.offset_at(place, encoding),
                    Some(offset as u32),
                    "{encoding:?} {place:?}"
                );
            }
        }
    }

    #[test]
    fn a_stale_place_is_clamped_and_an_unknown_line_is_none() {
        let text = Text::new("𝄞\nab");
        assert_eq!(text.offset_at(at(0, 99), Encoding::Utf16), Some(4));
        assert_eq!(text.offset_at(at(0, 1), Encoding::Utf16), Some(0), "within a surrogate pair");
        assert_eq!(text.offset_at(at(2, 0), Encoding::Utf16), Some(7), "just behind the last line");
        assert_eq!(text.offset_at(at(3, 0), Encoding::Utf16), None);
    }
}
