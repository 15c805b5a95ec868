//! The place of the cursor in text that is being typed, and that may be no valid YAML now: read
//! from the lines of the entry above the cursor, never from a tree.

mod flow;
mod line;
mod scan;
mod window;

use crate::text::{Text, TextRange};
use scan::Scan;

/// The place of the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CursorContext {
    /// The way from the root to the node that is being typed. For a key: to the hash that it is in.
    pub(super) path: Vec<CursorStep>,
    /// The role of the text at the cursor.
    pub(super) spot: Spot,
    /// The style of the scalar at the cursor.
    pub(super) style: Style,
    /// Whether the cursor lies within `{}` or `[]`.
    pub(super) in_flow: bool,
    /// The bytes from the start of the scalar, its quote included, to the cursor; in a scalar of
    /// several lines from the start of the line.
    pub(super) before: TextRange,
    /// The text of `before`.
    pub(super) typed: String,
    /// The text from the cursor to the end of its line.
    pub(super) behind: String,
    /// The column of the scalar.
    pub(super) column: usize,
    /// The other keys of the hash that the key is in.
    pub(super) others: Vec<String>,
}

/// A step from a collection to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ide) enum CursorStep {
    /// To the value of a key.
    Key(String),
    /// To an element of a list.
    Item(usize),
}

/// The role of the text at the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Spot {
    /// A key of a hash. Where nothing else is in the collection, perhaps a scalar in its place.
    Key,
    /// A value, or an element of a list.
    Value,
    /// Text in which nothing but tokens can stand: a later line of a scalar.
    #[default]
    Text,
}

/// The style of a scalar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// Without quotes.
    #[default]
    Plain,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// `|` or `>`.
    Block,
}

impl Style {
    /// Returns the style of a scalar that begins with this text.
    fn from_text(text: &str) -> Style {
        match text.as_bytes().first() {
            Some(b'"') => Style::Double,
            Some(b'\'') => Style::Single,
            _ => Style::Plain,
        }
    }

    /// Returns the quote of a scalar of this style.
    pub(super) fn quote(self) -> &'static str {
        match self {
            Style::Single => "'",
            Style::Double => "\"",
            Style::Plain | Style::Block => "",
        }
    }
}

impl CursorContext {
    /// Returns the place at `offset`; `None` in a comment, where nothing is completed. `is_json`:
    /// the whole text is one flow collection.
    pub(super) fn find_place(text: &Text, offset: u32, is_json: bool) -> Option<CursorContext> {
        let number = text.line_of(offset);
        let line = text.line_range(number)?;
        let offset = text.clamp_range(TextRange::new_empty(offset.min(line.end))).start;
        let window = window::entry_text_above(text, line.start, is_json);
        let mut scan = Scan::default();
        for line in line::split(&window) {
            scan.scan_line(line);
        }
        let prefix = text.slice(TextRange::new(line.start, offset));
        let behind = text.slice(TextRange::new(offset, line.end));
        let found = scan.find_cursor(&prefix, &behind)?;
        let mut place = CursorContext {
            before: TextRange::new(line.start + found.start as u32, offset),
            typed: prefix[found.start..].to_owned(),
            behind: behind.into_owned(),
            column: found.start,
            ..found.place
        };
        if is_json && !place.in_flow {
            place.spot = Spot::Text;
        }
        if place.spot == Spot::Key && !place.in_flow {
            place.look_below(text, number, found.parent_column);
        }
        Some(place)
    }

    /// Adds the keys of the same hash that stand below. Where the lines below belong to a collection
    /// of another column, nothing but a token can be typed.
    fn look_below(&mut self, text: &Text, line: u32, parent: Option<usize>) {
        let mut is_first = true;
        let last = text.line_of(text.len()).min(line.saturating_add(MAX_LINES_BELOW));
        let (Some(first), Some(last)) = (text.line_range(line + 1), text.line_range(last)) else {
            return;
        };
        // The lines are sliced together, as each slice of a long text is a search.
        let below = text.slice(TextRange::new(first.start, last.end.max(first.start)));
        for line in line::split(&below) {
            let content = line.trim_start_matches(' ');
            let column = line.len() - content.len();
            if content.trim().is_empty() || content.starts_with('#') {
                continue;
            }
            if parent.is_some_and(|parent| column <= parent) || line::is_marker(line) {
                return;
            }
            let is_foreign =
                column < self.column || is_first && column > self.column && self.is_alone();
            if is_foreign {
                self.spot = if self.others.is_empty() && is_first { Spot::Text } else { self.spot };
                return;
            }
            is_first = false;
            if column == self.column
                && let Some(key) = line::key_at(content, true)
            {
                self.others.push(key.text);
            }
        }
    }

    /// Whether no key above is in the same hash, so that the lines below decide its column.
    fn is_alone(&self) -> bool {
        self.others.is_empty() && self.typed.is_empty()
    }

    /// Returns the text before the cursor without the scalar's quote.
    pub(super) fn typed_content(&self) -> &str {
        self.typed.strip_prefix(self.style.quote()).unwrap_or(&self.typed)
    }

    /// Returns the root key that the cursor is below.
    pub(super) fn root_key(&self) -> Option<&str> {
        match self.path.first()? {
            CursorStep::Key(key) => Some(key),
            CursorStep::Item(_) => None,
        }
    }

    /// Returns the keys on the way, without the elements of lists.
    pub(super) fn key_names(&self) -> Vec<&str> {
        let keys = self.path.iter().filter_map(|step| match step {
            CursorStep::Key(key) => Some(key.as_str()),
            CursorStep::Item(_) => None,
        });
        keys.collect()
    }

    /// Returns the length of the word that goes on behind the cursor.
    pub(super) fn word_behind(&self, is_part: impl Fn(char) -> bool) -> usize {
        self.behind.find(|c| !is_part(c)).unwrap_or(self.behind.len())
    }

    /// Returns the length of the scalar that follows the cursor: the rest of the one that the cursor
    /// is in, or a whole one. Where a key may follow, only the rest of the word.
    pub(super) fn scalar_behind(&self) -> usize {
        let text = &*self.behind;
        let own = self.style.quote().chars().next();
        let blanks = text.len() - text.trim_start_matches(' ').len();
        let begun = text[blanks..].chars().next().filter(|c| matches!(c, '\'' | '"'));
        match (own, begun) {
            // A quote without a closing quote does not open another scalar.
            (Some(quote), _) => line::string_end_from(text, 0, quote).unwrap_or(text.len()),
            (None, _) if self.spot != Spot::Value => {
                self.word_behind(|c| c.is_alphanumeric() || "_-./:".contains(c))
            }
            (None, Some(_)) if line::string_end(&text[blanks..]).is_some() => {
                blanks + line::string_end(&text[blanks..]).unwrap_or_default()
            }
            (None, _) => {
                let end = text.find(" #").unwrap_or(text.len());
                let end = if self.in_flow {
                    text[..end].find([',', ']', '}']).unwrap_or(end)
                } else {
                    end
                };
                text[..end].trim_end().len()
            }
        }
    }

    /// Returns the bytes from the scalar's start to so many bytes behind the cursor.
    pub(super) fn typed_range(&self, behind: usize) -> TextRange {
        TextRange::new(self.before.start, self.before.end + behind as u32)
    }
}

/// The most lines below the cursor that are searched for keys of the same hash.
const MAX_LINES_BELOW: u32 = 500;

#[cfg(test)]
mod tests;
