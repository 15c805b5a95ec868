//! The map between a scalar's decoded text and the place where it is written, for all five styles
//! and JSON strings.
//!
//! Reads nothing but the scalar's own span; where the style leaves something open (a block scalar's
//! indentation, JSON's escapes) the decoded text of the node decides.

use std::ops::Range;

use super::json;
use super::scan::{break_len, escape};
use super::tree::{Node, NodeKind, ScalarStyle};

/// Where the bytes of a scalar's decoded text are written.
pub struct SourceMap(Pieces);

impl SourceMap {
    /// Returns the pieces of a scalar of `source`. O(its length).
    pub fn from_node(source: &str, node: &Node) -> SourceMap {
        SourceMap(Pieces::from_node(source, node))
    }

    /// Returns the byte of the source at which the decoded text's byte `decoded` is written.
    ///
    /// For a byte within an escape or folded white space, returns the start of the escape or the
    /// white space; at or beyond the end of the decoded text, the end of the source text. For a
    /// node that is no scalar, its start.
    pub fn source_offset(&self, decoded: usize) -> u32 {
        let SourceMap(pieces) = self;
        let behind = pieces.list.partition_point(|piece| piece.decoded.end <= decoded);
        let at = pieces.list.get(behind).map_or(pieces.end, |piece| {
            let inside =
                if piece.verbatim { decoded.saturating_sub(piece.decoded.start) } else { 0 };
            piece.start + inside
        });
        at as u32
    }
}

/// A part of the source that stands for a part of the decoded text.
struct SourcePiece {
    start: usize,
    /// The bytes of the decoded text.
    decoded: Range<usize>,
    /// Whether the source has the same bytes as the decoded text.
    verbatim: bool,
}

/// A scalar in pieces that follow each other in both texts.
struct Pieces {
    list: Vec<SourcePiece>,
    /// The decoded text of the pieces.
    text: String,
    end: usize,
}

impl Pieces {
    fn new(start: usize) -> Pieces {
        Pieces { list: Vec::new(), text: String::new(), end: start }
    }

    fn from_node(source: &str, node: &Node) -> Pieces {
        let span = node.span.as_usize();
        let NodeKind::Scalar { style, text } = &node.kind else { return Pieces::new(span.start) };
        let Some(written) = source.get(span.clone()) else { return Pieces::new(span.start) };
        match style {
            ScalarStyle::Plain | ScalarStyle::JsonLiteral => {
                flow_pieces(source, span.start, span.end, None, false)
            }
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if written.len() < 2 => {
                Pieces::new(span.start)
            }
            ScalarStyle::SingleQuoted => {
                flow_pieces(source, span.start + 1, span.end - 1, Some(b'\''), false)
            }
            ScalarStyle::DoubleQuoted => {
                let yaml = flow_pieces(source, span.start + 1, span.end - 1, Some(b'"'), false);
                if yaml.text == **text {
                    yaml
                } else {
                    flow_pieces(source, span.start + 1, span.end - 1, Some(b'"'), true)
                }
            }
            ScalarStyle::Hocon => match written.find(&**text) {
                Some(at) => {
                    let mut pieces = Pieces::new(span.start + at);
                    pieces.push_verbatim(source, span.start + at, span.start + at + text.len());
                    pieces
                }
                None => {
                    let mut pieces = Pieces::new(span.start);
                    pieces.push_decoded(span.start, span.end, text);
                    pieces
                }
            },
            ScalarStyle::Literal | ScalarStyle::Folded => {
                block_pieces(source, node, text, *style == ScalarStyle::Folded)
            }
        }
    }

    fn push(&mut self, start: usize, decoded: &str, verbatim: bool) {
        let before = self.text.len();
        self.text.push_str(decoded);
        self.list.push(SourcePiece { start, decoded: before..self.text.len(), verbatim });
    }

    fn push_verbatim(&mut self, source: &str, start: usize, end: usize) {
        if start < end {
            self.push(start, &source[start..end], true);
        }
        self.end = end;
    }

    fn push_decoded(&mut self, start: usize, end: usize, decoded: &str) {
        self.push(start, decoded, false);
        self.end = end;
    }
}

/// Plain and quoted text.
fn flow_pieces(source: &str, start: usize, end: usize, quote: Option<u8>, json: bool) -> Pieces {
    let bytes = &source.as_bytes()[..end];
    let mut pieces = Pieces::new(start);
    let mut piece = start;
    let mut at = start;
    while at < end {
        match bytes[at] {
            b'\'' if quote == Some(b'\'') => {
                pieces.push_verbatim(source, piece, at);
                pieces.push_decoded(at, (at + 2).min(end), "'");
                at = (at + 2).min(end);
                piece = at;
            }
            b'\\' if quote == Some(b'"') => {
                pieces.push_verbatim(source, piece, at);
                at = decode_escape(source, at, end, json, &mut pieces);
                piece = at;
            }
            b' ' | b'\t' | b'\n' | b'\r' | 0xC2 | 0xE2 if !json => {
                let (after, folded) = fold_blanks(source, at, end, false);
                if let Some(folded) = folded {
                    pieces.push_verbatim(source, piece, at);
                    pieces.push_decoded(at, after, &folded);
                    piece = after;
                }
                at = after.max(at + 1);
            }
            _ => at += 1,
        }
    }
    pieces.push_verbatim(source, piece, end);
    pieces
}

/// Decodes the escape at `at`, and returns its end.
fn decode_escape(source: &str, at: usize, end: usize, json: bool, pieces: &mut Pieces) -> usize {
    let bytes = &source.as_bytes()[..end];
    let width = break_len(bytes, at + 1);
    if width > 0 && !json {
        let (after, folded) = fold_blanks(source, at + 1 + width, end, true);
        pieces.push_decoded(at, after, &folded.unwrap_or_default());
        return after;
    }
    let yaml = bytes.get(at + 1).and_then(|byte| escape(*byte)).filter(|_| !json);
    let (decoded, len) = match yaml {
        Some((c, 0)) => (c, 2),
        Some((_, digits)) => {
            let value = source
                .get(at + 2..at + 2 + digits)
                .and_then(|digits| u32::from_str_radix(digits, 16).ok());
            (value.and_then(char::from_u32).unwrap_or('\u{fffd}'), 2 + digits)
        }
        None => json::escape(&source[at..end]).unwrap_or(('\u{fffd}', 1)),
    };
    let after = (at + len).min(end);
    pieces.push_decoded(at, after, decoded.encode_utf8(&mut [0; 4]));
    after
}

/// Returns the end of the white space at `at`, and the text that it is folded to if it holds a line
/// break (or follows an escaped one).
fn fold_blanks(source: &str, at: usize, end: usize, mut broken: bool) -> (usize, Option<String>) {
    let bytes = &source.as_bytes()[..end];
    let (mut leading, mut trailing) = (String::new(), String::new());
    let mut pos = at;
    loop {
        if matches!(bytes.get(pos), Some(b' ' | b'\t')) {
            pos += 1;
            continue;
        }
        let len = break_len(bytes, pos);
        if len == 0 {
            break;
        }
        let into = if broken { &mut trailing } else { &mut leading };
        into.push_str(break_text(source, pos, len));
        broken = true;
        pos += len;
    }
    let folded = if leading == "\n" {
        if trailing.is_empty() { " ".to_owned() } else { trailing }
    } else {
        leading + &trailing
    };
    (pos, broken.then_some(folded))
}

/// Returns the text that a line break of `len` bytes is read as: LS and PS stay.
fn break_text(source: &str, at: usize, len: usize) -> &str {
    if len == 3 { &source[at..at + 3] } else { "\n" }
}

/// Returns the pieces of a block scalar, with the indentation under which it decodes to `text`.
fn block_pieces(source: &str, node: &Node, text: &str, folded: bool) -> Pieces {
    let bytes = source.as_bytes();
    let span = node.span.as_usize();
    let header =
        source[span.clone()].bytes().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
    let mut body = span.start + header.min(line_len(bytes, span.start));
    body += break_len(bytes, body);
    let first = first_indent(bytes, body, span.end);
    let explicit = bytes[span.start..].iter().take(3).any(u8::is_ascii_digit);
    let lowest = if explicit { 1 } else { first };
    let mut indents = (lowest..=first).rev();
    let chosen = indents.find_map(|indent| {
        let pieces = block_lines(source, body, span.end, indent, folded, text);
        pieces.text.eq(text).then_some(pieces)
    });
    chosen.unwrap_or_else(|| Pieces::new(body.min(bytes.len())))
}

fn line_len(bytes: &[u8], at: usize) -> usize {
    (at..bytes.len()).take_while(|at| break_len(bytes, *at) == 0).count()
}

/// Returns how many spaces the first line that holds anything else begins with.
fn first_indent(bytes: &[u8], body: usize, end: usize) -> usize {
    let mut at = body;
    while at < end {
        let spaces = bytes[at..end].iter().take_while(|byte| **byte == b' ').count();
        let len = break_len(bytes, at + spaces);
        if len == 0 {
            return spaces;
        }
        at += spaces + len;
    }
    0
}

/// Returns the pieces of a block scalar's lines; the line ends behind the last line come from
/// `text`, already chomped.
fn block_lines(
    source: &str,
    body: usize,
    end: usize,
    indent: usize,
    folded: bool,
    text: &str,
) -> Pieces {
    let bytes = source.as_bytes();
    let mut pieces = Pieces::new(body.min(bytes.len()));
    let (mut leading, mut trailing) = (String::new(), String::new());
    let mut leading_blank = false;
    let mut at = body;
    let mut gap = body;
    while at < end {
        let spaces = bytes[at..end].iter().take(indent).take_while(|byte| **byte == b' ').count();
        let content = at + spaces;
        let len = break_len(bytes, content);
        if len > 0 {
            trailing.push_str(break_text(source, content, len));
            at = content + len;
            continue;
        }
        let blank = matches!(bytes.get(content), Some(b' ' | b'\t'));
        let joined = folded && leading == "\n" && !leading_blank && !blank;
        let between = match joined {
            true if trailing.is_empty() => " ".to_owned(),
            true => std::mem::take(&mut trailing),
            false => std::mem::take(&mut leading) + &std::mem::take(&mut trailing),
        };
        leading.clear();
        trailing.clear();
        leading_blank = blank;
        pieces.push_decoded(gap, content, &between);
        let line_end = content + line_len(bytes, content);
        pieces.push_verbatim(source, content, line_end.min(end));
        let len = break_len(bytes, line_end);
        if len > 0 {
            leading.push_str(break_text(source, line_end, len));
        }
        gap = line_end;
        at = line_end + len.max(1);
    }
    if let Some(chomped) = text.strip_prefix(&*pieces.text)
        && chomped.chars().all(|c| matches!(c, '\n' | '\u{2028}' | '\u{2029}'))
        && !chomped.is_empty()
    {
        let chomped = chomped.to_owned();
        pieces.push_decoded(gap, gap, &chomped);
    }
    pieces
}

/// Whether the pieces of a scalar decode to its text; the tests check this for every node.
#[cfg(test)]
fn is_faithful(source: &str, node: &Node) -> bool {
    match &node.kind {
        NodeKind::Scalar { text, .. } => Pieces::from_node(source, node).text == **text,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{parse, parse_json};

    /// Every character of every scalar: there and back; letters are found where they are written.
    fn check(source: &str, tree: &crate::yaml::Tree) {
        for node in &tree.nodes {
            let NodeKind::Scalar { text, .. } = &node.kind else { continue };
            assert!(is_faithful(source, node), "{source:?} {node:?}");
            let written = SourceMap::from_node(source, node);
            let mut last = 0;
            for (at, c) in text.char_indices() {
                let offset = written.source_offset(at);
                assert!(
                    offset >= last && node.span.touches_offset(offset),
                    "{source:?} {node:?} at {at}"
                );
                last = offset;
                let is_escape = source[offset as usize..].starts_with('\\');
                assert!(
                    !c.is_alphabetic() || is_escape || source[offset as usize..].starts_with(c),
                    "{source:?} {node:?} at {at}"
                );
            }
        }
    }

    #[test]
    fn all_styles() {
        for source in [
            "a: plain text\n  over  lines\n\n  and more\n",
            "a: 'it''s\n  x'\nb: \"\\x41\\u00e4 \\\n   b\\n  \n\n c\"\n",
            "a: |\n  one\n   two\n\n  three\n\n\nb: >-\n  x\n  y\n\n  z\n   more\n  end\n",
            "a: |2\n    x\n   y\nb: |+\n  x\n\n",
            "a: |\nb: ''\nc: \"\"\nd:\n",
            "a: >\r\n  x\r\n  y\r\nb: |\r  z\r",
            "- |1-\n  a\n- >+2 # c\n    b\n   c\n",
        ] {
            let tree = parse(source);
            assert_eq!(tree.problems, [], "{source:?}");
            check(source, &tree);
        }
    }

    #[test]
    fn json_strings() {
        let source = r#"{"a\n": "\x \ud83d\ude00 \/ \u0041b", "c": 1}"#;
        check(source, &parse_json(source));
    }

    #[test]
    fn places() {
        let source = "a: \"x\\n%{b}\"\nc: 'it''s %{d}'\ne: >\n  f\n  %{g}\n";
        let tree = parse(source);
        for node in &tree.nodes {
            let NodeKind::Scalar { text, .. } = &node.kind else { continue };
            let Some(at) = text.find("%{") else { continue };
            let offset = SourceMap::from_node(source, node).source_offset(at);
            assert!(source[offset as usize..].starts_with("%{"), "{node:?}");
        }
    }
}
