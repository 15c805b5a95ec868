//! The lines of a text, found once for many positions: an answer about a whole document converts
//! tens of thousands of them, and a search in a rope costs more than one in a list.

use std::borrow::Cow;

use memchr::memchr2_iter;

use super::document::Text;
use super::position::{Encoding, LineCol, Positions};
use super::work::{Work, count_work};

/// The lines of one text, in one piece. Making them takes one pass over the text.
#[derive(Debug)]
pub struct Lines<'a> {
    text: Cow<'a, str>,
    /// The first byte of each line, in order; the first line begins at 0.
    starts: Vec<u32>,
}

/// How many lines of a text are found in the time of one search for a line.
const LINES_A_SEARCH: u32 = 8;

impl Text {
    /// Returns the places of so many offsets: by all lines of the text where these are found in less
    /// time than the line of each offset.
    pub fn positions(&self, count: usize) -> Box<dyn Positions + '_> {
        if count as u64 * u64::from(LINES_A_SEARCH) < u64::from(self.line_count()) {
            Box::new(self)
        } else {
            Box::new(self.lines())
        }
    }

    /// Returns the lines of the text.
    pub fn lines(&self) -> Lines<'_> {
        let text = self.to_str();
        let bytes = text.as_bytes();
        let ends = memchr2_iter(b'\n', b'\r', bytes)
            .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        let starts = std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect();
        count_work(Work::Step);
        Lines { text, starts }
    }
}

impl Positions for Lines<'_> {
    fn line_col(&self, offset: u32, encoding: Encoding) -> LineCol {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_of(offset);
        let column = self.column_at(line as usize, offset as usize, encoding);
        LineCol { line, column }
    }
}

impl Lines<'_> {
    /// Returns the line of a byte, from 0. A line's end belongs to the line.
    pub fn line_of(&self, offset: u32) -> u32 {
        self.starts.partition_point(|start| *start <= offset) as u32 - 1
    }

    /// Returns the text before a byte in its line. The byte begins a character of the text, or is
    /// its end.
    pub fn line_before(&self, offset: u32) -> &str {
        &self.text[self.starts[self.line_of(offset) as usize] as usize..offset as usize]
    }

    /// Returns the first bytes of the lines, in order.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Returns the column of a byte in its line. A byte of the line's end has the column behind the
    /// last character.
    fn column_at(&self, line: usize, mut offset: usize, encoding: Encoding) -> u32 {
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = self.text[self.starts[line] as usize..offset].trim_end_matches('\r');
        match encoding {
            Encoding::Utf8 => before.len() as u32,
            Encoding::Utf16 => before.chars().map(|c| c.len_utf16() as u32).sum(),
            Encoding::Utf32 => before.chars().count() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::work;

    #[test]
    fn positions_are_those_of_the_text() {
        let pieces = ["", "a", "ä", "𝄞", "\n", "\r\n", "\r", "\r\r\n", "long line of words", " "];
        // A text of more than 16 KiB is kept in several pieces.
        for repeats in [1, 400] {
            for n in 0..200_usize {
                let picked = |at: usize| pieces[(n * 7 + at * (n % 9 + 1)) % pieces.len()];
                let text = Text::new(&(0..9).map(picked).collect::<String>().repeat(repeats));
                let lines = text.lines();
                let step = text.len() as usize / 50 + 1;
                for offset in (0..text.len() + 2).step_by(step) {
                    for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                        let expected = text.line_col(offset, encoding);
                        assert_eq!(lines.line_col(offset, encoding), expected, "{text:?} {offset}");
                    }
                }
            }
        }
    }

    #[test]
    fn few_positions_take_no_pass_over_all_lines() {
        let text = Text::new(&"a line\n".repeat(10_000));
        for (count, takes_pass) in [(0, false), (1_000, false), (2_000, true)] {
            work::take();
            let positions = text.positions(count);
            assert_eq!(
                positions.line_col(70_003, Encoding::Utf8),
                text.line_col(70_003, Encoding::Utf8)
            );
            assert_eq!(work::take().steps > 0, takes_pass, "{count}");
        }
    }
}
