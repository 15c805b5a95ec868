//! Flow collections, JSON among them, read up to the cursor.

use super::line::string_end_from;
use super::{CursorStep, Spot, Style};

/// A flow collection that is not closed.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    frames: Vec<FlowFrame>,
    /// The quote of a string that goes on in the next line.
    quote: Option<char>,
}

/// A collection within a flow collection.
#[derive(Clone, Debug, Default)]
struct FlowFrame {
    is_hash: bool,
    /// The keys so far.
    keys: Vec<String>,
    /// Whether the last key has its colon.
    in_value: bool,
    /// The number of elements before the current one.
    index: usize,
}

/// A scalar on the line that is read.
#[derive(Clone, Copy, Debug)]
struct Scalar {
    start: usize,
    end: usize,
    /// Whether the scalar's closing quote was read.
    is_closed: bool,
}

/// The state at the end of a text.
pub(super) enum Reached {
    /// The collection ends at this byte.
    Closed(usize),
    /// A comment.
    Comment,
    /// The collection goes on behind the text.
    Open {
        /// The start of the scalar at the end of the text; the end of the text without a scalar.
        start: usize,
        /// Whether nothing can follow the scalar but a comma or a colon.
        is_complete: bool,
    },
}

impl Flow {
    /// Reads a line from byte `from` on. `is_whole`: the text reaches to the end of the line.
    pub(super) fn read(&mut self, line: &str, from: usize, is_whole: bool) -> Reached {
        let mut at = from;
        let mut scalar: Option<Scalar> = None;
        if let Some(quote) = self.quote {
            match string_end_from(line, at, quote) {
                Some(end) => {
                    self.quote = None;
                    scalar = Some(Scalar { start: at, end, is_closed: true });
                    at = end;
                }
                None => return Reached::Open { start: from, is_complete: false },
            }
        }
        while let Some(c) = line[at..].chars().next() {
            match c {
                '"' | '\'' if scalar.is_none() => match string_end_from(line, at + 1, c) {
                    Some(end) => {
                        scalar = Some(Scalar { start: at, end, is_closed: true });
                        at = end;
                        continue;
                    }
                    None => {
                        self.quote = Some(c);
                        return Reached::Open { start: at, is_complete: false };
                    }
                },
                '{' | '[' if scalar.is_none() => {
                    self.frames.push(FlowFrame { is_hash: c == '{', ..FlowFrame::default() });
                }
                '}' | ']' => {
                    self.frames.pop();
                    if self.frames.is_empty() {
                        return Reached::Closed(at + 1);
                    }
                    scalar = Some(Scalar { start: at, end: at + 1, is_closed: true });
                }
                ',' => {
                    self.next_entry();
                    scalar = None;
                }
                ':' if self.ends_key(&line[at + 1..], scalar, is_whole) => {
                    let key = scalar.map_or("", |scalar| &line[scalar.start..scalar.end]);
                    self.set_key(key);
                    scalar = None;
                }
                '#' if at == 0 || line[..at].ends_with([' ', '\t']) => {
                    return if is_whole { self.open(line, None) } else { Reached::Comment };
                }
                ' ' | '\t' => {}
                _ => match &mut scalar {
                    Some(scalar) => scalar.end = at + c.len_utf8(),
                    None => {
                        let end = at + c.len_utf8();
                        scalar = Some(Scalar { start: at, end, is_closed: false });
                    }
                },
            }
            at += c.len_utf8();
        }
        self.open(line, scalar)
    }

    fn open(&self, line: &str, scalar: Option<Scalar>) -> Reached {
        Reached::Open {
            start: scalar.map_or(line.len(), |scalar| scalar.start),
            is_complete: scalar.is_some_and(|scalar| scalar.is_closed),
        }
    }

    fn ends_key(&self, rest: &str, scalar: Option<Scalar>, is_whole: bool) -> bool {
        let is_in_key = self.frames.last().is_some_and(|frame| frame.is_hash && !frame.in_value);
        let ends_word = match rest.chars().next() {
            None => is_whole,
            Some(next) => matches!(next, ' ' | '\t' | ',' | '[' | ']' | '{' | '}'),
        };
        is_in_key && (ends_word || scalar.is_some_and(|scalar| scalar.is_closed))
    }

    fn set_key(&mut self, written: &str) {
        if let Some(frame) = self.frames.last_mut() {
            frame.keys.push(written.trim_matches(['"', '\'']).to_owned());
            frame.in_value = true;
        }
    }

    fn next_entry(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.in_value = false;
            frame.index += 1;
        }
    }

    /// Returns the role of a scalar at the end of the text read so far.
    pub(super) fn current_spot(&self) -> Spot {
        match self.frames.last() {
            Some(frame) if frame.is_hash && !frame.in_value => Spot::Key,
            _ => Spot::Value,
        }
    }

    /// Returns the style of a scalar that goes on from an earlier line; `None` where none does.
    pub(super) fn open_style(&self) -> Option<Style> {
        self.quote.map(|quote| if quote == '"' { Style::Double } else { Style::Single })
    }

    /// Returns the path from the collection to the node at the end of the text read so far.
    pub(super) fn current_path(&self) -> impl Iterator<Item = CursorStep> + '_ {
        self.frames.iter().filter_map(|frame| match (frame.is_hash, frame.in_value) {
            (true, true) => frame.keys.last().cloned().map(CursorStep::Key),
            (true, false) => None,
            (false, _) => Some(CursorStep::Item(frame.index)),
        })
    }

    /// Returns the keys of the innermost hash.
    pub(super) fn current_keys(&self) -> Vec<String> {
        self.frames.last().map(|frame| frame.keys.clone()).unwrap_or_default()
    }
}
