//! Block YAML, read line by line up to the cursor. Only the shape matters: which key or element a
//! line belongs to. A line that is indented less than its collection ends it, so that an open quote
//! or bracket above spoils nothing but its own entry.

use super::flow::{Flow, Reached};
use super::line::{dash_length, is_marker, key_at, properties_length, string_end, string_end_from};
use super::{CursorContext, CursorStep, Spot, Style};

/// The collections that are open, and the state in which the last line ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    frames: Vec<BlockFrame>,
    mode: Mode,
}

/// A block collection.
#[derive(Clone, Debug)]
struct BlockFrame {
    column: usize,
    kind: FrameKind,
}

#[derive(Clone, Debug)]
enum FrameKind {
    /// A hash with its keys so far.
    Hash(Vec<String>),
    /// A list, and the number of its element.
    List(usize),
}

/// The state between two lines. `above` is the column of the key or dash that the value belongs to;
/// `None` for the root.
#[derive(Clone, Debug, Default)]
enum Mode {
    /// Between entries, or behind a key without a value.
    #[default]
    Entries,
    /// In a block scalar, a plain one or a quoted one.
    Scalar { style: Style, above: Option<usize> },
    /// In a flow collection.
    Flow { flow: Flow, above: Option<usize> },
    /// Behind the flow collection that is the whole document.
    Ended,
}

/// The place at the end of a line.
pub(super) struct LineEnd {
    /// The path, the spot, the style and the other keys.
    pub(super) place: CursorContext,
    /// The start of the scalar on the line.
    pub(super) start: usize,
    /// The column of the key or dash that the place is below.
    pub(super) parent_column: Option<usize>,
}

impl Scan {
    /// Reads a line above the cursor.
    pub(super) fn scan_line(&mut self, line: &str) {
        let content = line.trim_start_matches(' ');
        let column = line.len() - content.len();
        if content.trim().is_empty() {
            return;
        }
        self.leave_outdented(column, content);
        match &mut self.mode {
            Mode::Scalar { style, .. } => {
                let quote = style.quote().chars().next();
                if quote.is_some_and(|quote| string_end_from(line, column, quote).is_some()) {
                    self.mode = Mode::Entries;
                }
            }
            Mode::Flow { flow, above } => {
                if let Reached::Closed(_) = flow.read(line, column, true) {
                    self.mode = behind_flow(*above);
                }
            }
            Mode::Ended => {
                if is_marker(line) {
                    self.mode = Mode::Entries;
                }
            }
            Mode::Entries => self.scan_entries(line, column),
        }
    }

    /// Ends the value above where a line is indented too little to belong to it.
    fn leave_outdented(&mut self, column: usize, content: &str) {
        let is_closer = content.starts_with([']', '}']);
        let is_out = match &self.mode {
            Mode::Entries | Mode::Ended => false,
            Mode::Scalar { above, .. } => above.is_some_and(|above| column <= above),
            Mode::Flow { above, .. } => {
                above.is_some_and(|above| column <= above) && !is_closer && !content.is_empty()
            }
        };
        if is_out {
            self.mode = Mode::Entries;
        }
    }

    fn scan_entries(&mut self, line: &str, column: usize) {
        if line[column..].starts_with('#') {
            return;
        }
        if is_marker(line) {
            self.frames.clear();
            return;
        }
        let at = self.scan_dashes(line, column, true);
        match key_at(&line[at..], true) {
            Some(key) => {
                self.open_key(at, key.text);
                self.mode = value_mode(&line[at + key.value..], Some(at));
            }
            None => {
                self.close(at);
                self.mode = value_mode(&line[at..], self.frames.last().map(|frame| frame.column));
            }
        }
    }

    /// Opens the elements that begin on a line, which is not cut if `is_whole`; returns the column
    /// of the content behind the dashes.
    fn scan_dashes(&mut self, line: &str, column: usize, is_whole: bool) -> usize {
        let mut at = column;
        while let Some(length) = dash_length(&line[at..], is_whole) {
            self.frames.retain(|frame| frame.column <= at);
            match self.frames.last_mut() {
                Some(BlockFrame { column, kind: FrameKind::List(index) }) if *column == at => {
                    *index += 1
                }
                _ => self.frames.push(BlockFrame { column: at, kind: FrameKind::List(0) }),
            }
            at += length;
        }
        at
    }

    fn open_key(&mut self, column: usize, key: String) {
        self.close_lists(column);
        match self.frames.last_mut() {
            Some(BlockFrame { column: at, kind: FrameKind::Hash(keys) }) if *at == column => {
                keys.push(key)
            }
            _ => self.frames.push(BlockFrame { column, kind: FrameKind::Hash(vec![key]) }),
        }
    }

    /// Closes the collections that cannot contain a key at this column: deeper ones, and a list at
    /// the column.
    fn close_lists(&mut self, column: usize) {
        self.frames.retain(|frame| match frame.kind {
            FrameKind::Hash(_) => frame.column <= column,
            FrameKind::List(_) => frame.column < column,
        });
    }

    /// Closes the collections at this column and deeper ones.
    fn close(&mut self, column: usize) {
        self.frames.retain(|frame| frame.column < column);
    }

    /// Returns the place at the end of `prefix`, the cursor's line up to the cursor; `None` in a
    /// comment.
    pub(super) fn find_cursor(mut self, prefix: &str, behind: &str) -> Option<LineEnd> {
        let content = prefix.trim_start_matches(' ');
        let column = prefix.len() - content.len();
        self.leave_outdented(column, content);
        match std::mem::take(&mut self.mode) {
            Mode::Scalar { style, .. } => self.in_scalar(style, prefix, column),
            Mode::Flow { flow, .. } => self.in_flow(flow, prefix, column),
            Mode::Ended => behind_value(prefix, column),
            Mode::Entries if content.is_empty() => Some(self.on_blank(column, behind)),
            Mode::Entries => self.in_entry(prefix, column),
        }
    }

    /// In a later line of a scalar.
    fn in_scalar(&self, style: Style, prefix: &str, column: usize) -> Option<LineEnd> {
        if style == Style::Plain && is_commented(&prefix[column..]) {
            return None;
        }
        let quote = style.quote().chars().next();
        if let Some(end) = quote.and_then(|quote| string_end_from(prefix, column, quote)) {
            return behind_value(prefix, end);
        }
        let place = CursorContext {
            spot: Spot::Text,
            style,
            path: self.current_path(),
            ..CursorContext::default()
        };
        Some(LineEnd { place, start: column, parent_column: None })
    }

    fn in_flow(&self, mut flow: Flow, prefix: &str, from: usize) -> Option<LineEnd> {
        let continued = flow.open_style();
        let (start, is_complete) = match flow.read(prefix, from, false) {
            Reached::Comment => return None,
            Reached::Closed(end) => return behind_value(prefix, end),
            Reached::Open { start, is_complete } => (start, is_complete),
        };
        let goes_on = continued.is_some() && start == from && flow.open_style().is_some();
        let style = if goes_on {
            continued.unwrap_or_default()
        } else {
            Style::from_text(&prefix[start..])
        };
        let spot = if is_complete || goes_on { Spot::Text } else { flow.current_spot() };
        let path = self.current_path().into_iter().chain(flow.current_path()).collect();
        let others = flow.current_keys();
        let place =
            CursorContext { path, spot, style, in_flow: true, others, ..CursorContext::default() };
        Some(LineEnd { place, start, parent_column: None })
    }

    /// At a column of a line without text before the cursor.
    fn on_blank(mut self, column: usize, behind: &str) -> LineEnd {
        let is_before_text = behind.starts_with([' ', '\t']) && !behind.trim().is_empty();
        let mut found = self.entry_at(column, column);
        if is_before_text {
            found.place.spot = Spot::Text;
        }
        found
    }

    /// On a line with text before the cursor, in no value of an earlier line.
    fn in_entry(mut self, prefix: &str, column: usize) -> Option<LineEnd> {
        if prefix[column..].starts_with('#') || is_marker(prefix) {
            return None;
        }
        let at = self.scan_dashes(prefix, column, false);
        if let Some(key) = key_at(&prefix[at..], false) {
            self.open_key(at, key.text);
            return self.in_value(prefix, at + key.value, Spot::Value);
        }
        match prefix[at..].chars().next() {
            Some('[' | '{' | '&' | '!' | '|' | '>') => self.in_value(prefix, at, Spot::Key),
            Some('#') if at > 0 => None,
            Some('"' | '\'') if string_end(&prefix[at..]).is_some() => {
                behind_value(prefix, prefix.len())
            }
            _ if Style::from_text(&prefix[at..]) == Style::Plain && is_commented(&prefix[at..]) => {
                None
            }
            _ => {
                let mut found = self.entry_at(at, at);
                found.place.style = Style::from_text(&prefix[at..]);
                Some(found)
            }
        }
    }

    /// In a value that begins at `from` on the cursor's line.
    fn in_value(mut self, prefix: &str, from: usize, spot: Spot) -> Option<LineEnd> {
        let start = from + properties_length(&prefix[from..]);
        let value = &prefix[start..];
        match value.chars().next() {
            Some('#') => None,
            Some('[' | '{') => self.in_flow(Flow::default(), prefix, start),
            Some('|' | '>') => behind_value(prefix, prefix.len()),
            Some('"' | '\'') if string_end(value).is_some() => {
                behind_value(prefix, start + string_end(value).unwrap_or_default())
            }
            first => {
                if !matches!(first, Some('"' | '\'')) && is_commented(value) {
                    return None;
                }
                if spot == Spot::Key {
                    self.close(start);
                }
                let (path, style) = (self.current_path(), Style::from_text(value));
                let place =
                    CursorContext { path, spot: Spot::Value, style, ..CursorContext::default() };
                Some(LineEnd { place, start, parent_column: None })
            }
        }
    }

    /// At the start of an entry at `column`: a key of the hash at that column, or of a new one.
    fn entry_at(&mut self, column: usize, start: usize) -> LineEnd {
        let depth = self.frames.len();
        self.close_lists(column);
        let was_deeper = self.frames.len() < depth;
        let (mut others, mut spot) = (Vec::new(), Spot::Key);
        match self.frames.last() {
            Some(BlockFrame { column: at, kind: FrameKind::Hash(_) }) if *at == column => {
                if let Some(BlockFrame { kind: FrameKind::Hash(keys), .. }) = self.frames.pop() {
                    others = keys;
                }
            }
            // Behind children in another column, no key can be added at this column.
            Some(_) if was_deeper => spot = Spot::Text,
            _ => {}
        }
        let parent_column = self.frames.last().map(|frame| frame.column);
        let place =
            CursorContext { path: self.current_path(), spot, others, ..CursorContext::default() };
        LineEnd { place, start, parent_column }
    }

    fn current_path(&self) -> Vec<CursorStep> {
        self.frames
            .iter()
            .map(|frame| match &frame.kind {
                FrameKind::Hash(keys) => CursorStep::Key(keys.last().cloned().unwrap_or_default()),
                FrameKind::List(index) => CursorStep::Item(*index),
            })
            .collect()
    }
}

/// Returns the state behind the beginning of a value.
fn value_mode(text: &str, above: Option<usize>) -> Mode {
    let value = &text[properties_length(text)..];
    match value.chars().next() {
        None | Some('#' | '&' | '!' | '*') => Mode::Entries,
        Some('|' | '>') => Mode::Scalar { style: Style::Block, above },
        Some('"' | '\'') if string_end(value).is_some() => Mode::Entries,
        Some('"' | '\'') => Mode::Scalar { style: Style::from_text(value), above },
        Some('[' | '{') => {
            let mut flow = Flow::default();
            match flow.read(value, 0, true) {
                Reached::Closed(_) => behind_flow(above),
                _ => Mode::Flow { flow, above },
            }
        }
        // A word at the root is a key that is being typed.
        Some(_) if above.is_none() => Mode::Entries,
        Some(_) => Mode::Scalar { style: Style::Plain, above },
    }
}

/// Returns the state behind a flow collection.
fn behind_flow(above: Option<usize>) -> Mode {
    if above.is_none() { Mode::Ended } else { Mode::Entries }
}

/// Returns the place behind a value, where nothing is completed; `None` in a comment.
fn behind_value(prefix: &str, end: usize) -> Option<LineEnd> {
    if is_commented(&prefix[end..]) {
        return None;
    }
    Some(LineEnd { place: CursorContext::default(), start: prefix.len(), parent_column: None })
}

/// Whether a comment begins in a text without quotes.
fn is_commented(text: &str) -> bool {
    text.contains(" #") || text.contains("\t#")
}
