//! JSON into the same tree as YAML, with the verdicts of Ruby's own library (JSON 2.6): comments
//! are accepted, unknown escapes too; trailing commas, `NaN`, a byte order mark and nesting beyond
//! 100 are not.

pub(super) mod cut;

use super::entry::{Syntax, join_entries};
use super::psych::{self, Resolved};
use super::scan;
use super::tree::{Node, NodeId, NodeKind, ScalarStyle, SyntaxError, SyntaxErrorKind, Tree};
use crate::text::TextRange;

/// How deep Ruby's JSON lets collections be nested.
const MAX_DEPTH: usize = 100;

/// Reads a JSON text. Never fails: `verdict` is the error with which Ruby refuses a text, and the
/// tree holds the members of the root that can be read nevertheless; see `json/cut.rs`.
///
/// Objects are flow mappings, arrays flow sequences, strings [`ScalarStyle::DoubleQuoted`];
/// numbers, `true`, `false` and `null` are [`ScalarStyle::JsonLiteral`] with the text as written. A
/// missing value is a literal without text. A lone low surrogate, for which Ruby makes a string
/// that is no UTF-8, becomes U+FFFD.
pub fn parse_json(text: &str) -> Tree {
    let text = &text[..scan::char_floor(text, u32::MAX as usize)];
    let tree = parse_strictly(text);
    if tree.problems.is_empty() {
        return tree;
    }
    match super::cut_text(text, Syntax::Json) {
        Some(entries) => {
            let verdict = tree.problems.into_iter().next();
            Tree { verdict, ..join_entries(entries, true, tree.comments) }
        }
        None => tree,
    }
}

/// Reads a text up to the first error.
fn parse_strictly(text: &str) -> Tree {
    let mut reader = JsonReader::new(text);
    if text.starts_with('\u{feff}') {
        reader.record_error("unexpected token");
        reader.pos = 3;
    }
    reader.skip_ignored();
    reader.tree.root = reader.read_value();
    reader.skip_ignored();
    if reader.pos < text.len() {
        reader.record_error("unexpected token");
    }
    reader.tree
}

/// Resolves a JSON literal: a number, `true`, `false` or `null`; an empty text is null.
///
/// Numbers with a point or an exponent are floats, infinite when too great; integers are exact;
/// `-0` is 0.
pub fn resolve_json(text: &str) -> Resolved {
    match text {
        "true" => Resolved::Bool(true),
        "false" => Resolved::Bool(false),
        "null" | "" => Resolved::Null,
        number if number.contains(['.', 'e', 'E']) => {
            number.parse().map_or(Resolved::String, Resolved::Float)
        }
        number => psych::parse_decimal(number),
    }
}

struct JsonReader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    depth: usize,
    tree: Tree,
}

impl<'t> JsonReader<'t> {
    fn new(text: &'t str) -> JsonReader<'t> {
        JsonReader { text, bytes: text.as_bytes(), pos: 0, depth: 0, tree: Tree::default() }
    }

    /// Reads the text between a member of an object and the next one; returns whether there is a
    /// comma.
    fn read_comma(&mut self) -> bool {
        if !self.tree.problems.is_empty() {
            return false;
        }
        self.skip_ignored();
        match self.peek_byte() {
            Some(b',') => {
                self.pos += 1;
                self.skip_ignored();
                if matches!(self.peek_byte(), None | Some(b'}' | b'/')) {
                    self.record_error("unexpected token");
                }
                return true;
            }
            Some(b'}') => {}
            _ => self.record_error("unexpected token"),
        }
        false
    }

    fn peek_byte(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    /// Records the error; only the first one counts.
    fn record_error(&mut self, message: &str) {
        if self.tree.problems.is_empty() {
            let len = self.text[self.pos..].chars().next().map_or(0, char::len_utf8);
            let span = TextRange::from_usize(self.pos..self.pos + len);
            self.tree.problems.push(SyntaxError {
                kind: SyntaxErrorKind::Grammar,
                message: message.to_owned(),
                context: None,
                span,
            });
        }
    }

    fn add(&mut self, kind: NodeKind, start: usize, end: usize) -> NodeId {
        let id = NodeId(self.tree.nodes.len() as u32);
        self.tree.nodes.push(Node {
            kind,
            span: TextRange::from_usize(start..end),
            anchor: None,
            tag: None,
        });
        id
    }

    fn add_literal(&mut self, start: usize) -> NodeId {
        let text = self.text[start..self.pos].into();
        self.add(NodeKind::Scalar { style: ScalarStyle::JsonLiteral, text }, start, self.pos)
    }

    /// Skips white space and comments. An unfinished comment stays.
    fn skip_ignored(&mut self) {
        loop {
            while matches!(self.peek_byte(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.pos += 1;
            }
            let rest = &self.text[self.pos..];
            let len = if rest.starts_with("//") {
                rest.find('\n')
            } else if let Some(inner) = rest.strip_prefix("/*") {
                inner.find("*/").map(|len| len + 4)
            } else {
                None
            };
            let Some(len) = len else { return };
            let comment = self.text[self.pos..self.pos + len].trim_end_matches('\r').len();
            self.tree.comments.push(TextRange::from_usize(self.pos..self.pos + comment));
            self.pos += len;
        }
    }

    /// Reads a value; `None` and an error when there is none.
    fn read_value(&mut self) -> Option<NodeId> {
        match self.peek_byte() {
            Some(b'{') => self.read_nested(Self::read_object),
            Some(b'[') => self.read_nested(Self::read_array),
            Some(b'"') => self.read_string(),
            Some(b'-' | b'0'..=b'9') => self.read_number(),
            _ => {
                let rest = &self.text[self.pos..];
                let Some(word) =
                    ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word))
                else {
                    self.record_error("unexpected token");
                    return None;
                };
                let start = self.pos;
                self.pos += word.len();
                Some(self.add_literal(start))
            }
        }
    }

    fn read_nested(&mut self, read: fn(&mut Self) -> NodeId) -> Option<NodeId> {
        if self.depth == MAX_DEPTH {
            self.record_error(&format!("nesting of {} is too deep", MAX_DEPTH + 1));
            return None;
        }
        self.depth += 1;
        let id = read(self);
        self.depth -= 1;
        Some(id)
    }

    fn read_object(&mut self) -> NodeId {
        let start = self.pos;
        self.pos += 1;
        let mut entries = Vec::new();
        self.read_members(b'}', |reader| reader.read_entry(&mut entries));
        self.add(NodeKind::Mapping { flow: true, entries }, start, self.pos)
    }

    fn read_array(&mut self) -> NodeId {
        let start = self.pos;
        self.pos += 1;
        let mut items = Vec::new();
        self.read_members(b']', |reader| items.extend(reader.read_value()));
        self.add(NodeKind::Sequence { flow: true, items }, start, self.pos)
    }

    /// Reads members up to the closing bracket or the first error.
    fn read_members(&mut self, close: u8, mut member: impl FnMut(&mut Self)) {
        self.skip_ignored();
        if self.peek_byte() == Some(close) {
            self.pos += 1;
            return;
        }
        loop {
            let before = self.tree.problems.len();
            member(self);
            if self.tree.problems.len() > before {
                return;
            }
            self.skip_ignored();
            match self.peek_byte() {
                Some(b',') => self.pos += 1,
                Some(byte) if byte == close => {
                    self.pos += 1;
                    return;
                }
                _ => return self.record_error("unexpected token"),
            }
            self.skip_ignored();
        }
    }

    fn read_entry(&mut self, entries: &mut Vec<(NodeId, NodeId)>) {
        if self.peek_byte() != Some(b'"') {
            return self.record_error("unexpected token");
        }
        let Some(key) = self.read_string() else { return };
        let mut end = self.pos;
        self.skip_ignored();
        let value = if self.peek_byte() == Some(b':') {
            self.pos += 1;
            end = self.pos;
            self.skip_ignored();
            self.read_value()
        } else {
            self.record_error("unexpected token");
            None
        };
        let omitted = NodeKind::Scalar { style: ScalarStyle::JsonLiteral, text: "".into() };
        let value = value.unwrap_or_else(|| self.add(omitted, end, end));
        entries.push((key, value));
    }

    fn read_number(&mut self) -> Option<NodeId> {
        let start = self.pos;
        let len = number_len(&self.bytes[start..]);
        if len == 0 {
            self.record_error("unexpected token");
            return None;
        }
        self.pos += len;
        if self.bytes[self.pos - 1] == b'0' && matches!(self.peek_byte(), Some(b'0'..=b'9')) {
            // Only leading zeros lead here: `number_len` counts all digits of any other number.
            self.record_error("unexpected token");
        }
        Some(self.add_literal(start))
    }

    fn read_string(&mut self) -> Option<NodeId> {
        let start = self.pos;
        self.pos += 1;
        let mut text = String::new();
        let mut piece = self.pos;
        loop {
            match self.peek_byte() {
                Some(b'"') => break,
                Some(b'\\') => {
                    text.push_str(&self.text[piece..self.pos]);
                    let Some((decoded, len)) = escape(&self.text[self.pos..]) else {
                        self.record_error("unexpected token");
                        return None;
                    };
                    text.push(decoded);
                    self.pos += len;
                    piece = self.pos;
                }
                None | Some(0..=0x1F) => {
                    self.record_error("unexpected token");
                    return None;
                }
                Some(_) => self.pos += 1,
            }
        }
        text.push_str(&self.text[piece..self.pos]);
        self.pos += 1;
        Some(self.add(
            NodeKind::Scalar { style: ScalarStyle::DoubleQuoted, text: text.into() },
            start,
            self.pos,
        ))
    }
}

/// Returns how many of the bytes are a number: the longest beginning that is one.
fn number_len(bytes: &[u8]) -> usize {
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match bytes.get(at) {
        Some(b'0') => 1,
        Some(b'1'..=b'9') => digit_count(at, bytes),
        _ => return 0,
    };
    if bytes.get(at) == Some(&b'.') && digit_count(at + 1, bytes) > 0 {
        at += 1 + digit_count(at + 1, bytes);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if digit_count(at + 1 + sign, bytes) > 0 {
            at += 1 + sign + digit_count(at + 1 + sign, bytes);
        }
    }
    at
}

fn digit_count(from: usize, bytes: &[u8]) -> usize {
    bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the character that the escape at the start of `text` stands for, and its length; `None`
/// when it is none.
///
/// A letter without a meaning of its own stands for itself; a pair of surrogates is one escape.
pub(super) fn escape(text: &str) -> Option<(char, usize)> {
    let decoded = match text[1..].chars().next()? {
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unicode_escape(text),
        '\0'..='\x1f' => return None,
        other => return Some((other, 1 + other.len_utf8())),
    };
    Some((decoded, 2))
}

fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let high = read_unit(0, text)?;
    if high & 0xFC00 != 0xD800 {
        return Some((char::from_u32(high).unwrap_or('\u{fffd}'), 6));
    }
    // Ruby does not look whether the second unit is a low surrogate.
    let low = read_unit(6, text)?;
    let value = ((high & 0x3F) << 10 | ((high >> 6 & 0xF) + 1) << 16) | low & 0x3FF;
    Some((char::from_u32(value)?, 12))
}

fn read_unit(at: usize, text: &str) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem_at(text: &str) -> Option<u32> {
        parse_json(text).problems.first().map(|problem| problem.span.start)
    }

    #[test]
    fn verdicts() {
        for good in [
            "{}",
            "/* c */ {\"a\" // c\n: 1}",
            r#"["\x", "\ud83d\ude00"]"#,
            "[-0, 1e3, 1E400]",
            "null",
            " [1] ",
        ] {
            assert_eq!(problem_at(good), None, "{good}");
        }
        for (bad, at) in [
            ("", 0),
            (" ", 1),
            ("{\"a\": 1,}", 8),
            ("[1,]", 3),
            ("[NaN]", 1),
            ("[01]", 2),
            ("{'a': 1}", 1),
            ("[\"a\tb\"]", 3),
            ("\u{feff}{}", 0),
            ("{} x", 3),
            ("{} // c", 3),
            (r#"["\ud83d"]"#, 2),
        ] {
            assert_eq!(problem_at(bad), Some(at), "{bad}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(problem_at(&nested(100)), None);
        assert_eq!(parse_json(&nested(101)).problems[0].message, "nesting of 101 is too deep");
    }

    #[test]
    fn what_stands_before_the_error_stays() {
        let tree = parse_json("{\"a\": 1, \"b\": {\"c\": [2, \"d");
        let root = tree.root.unwrap();
        assert_eq!(tree.entries(root).len(), 2);
        let inner = tree.entries(root)[1].1;
        assert_eq!(tree.scalar(tree.entries(inner)[0].0), Some("c"));
        let tree = parse_json("{\"a\": ");
        assert_eq!(tree.entries(tree.root.unwrap()).len(), 1);
    }

    #[test]
    fn literals() {
        assert_eq!(resolve_json("-0"), Resolved::Integer(0));
        assert_eq!(resolve_json("1e3"), Resolved::Float(1000.0));
        assert_eq!(resolve_json("1E400"), Resolved::Float(f64::INFINITY));
        assert_eq!(
            resolve_json("-9223372036854775809"),
            Resolved::BigInteger("-9223372036854775809".into())
        );
        assert_eq!(resolve_json("null"), Resolved::Null);
    }
}
