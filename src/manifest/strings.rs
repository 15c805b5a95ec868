//! Strings and heredocs: their ends, their texts and the code in their interpolations.

use std::borrow::Cow;

use super::lexer::Lexer;
use super::token::{Kind, StringSegment, Token};
use crate::puppet::escapes::decode_escape;
use crate::text::TextRange;

/// A string in double quotes.
pub(super) enum Quoted {
    /// The string has neither escapes nor interpolation.
    Plain,
    Segments(Vec<StringSegment>),
}

/// Returns the byte behind the closing quote of a single-quoted string, and whether it has a
/// backslash.
pub(super) fn single_end(bytes: &[u8], mut at: usize) -> (Option<usize>, bool) {
    let mut escaped = false;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => {
                escaped = true;
                at += 1;
            }
            b'\'' => return (Some(at + 1), escaped),
            _ => {}
        }
        at += 1;
    }
    (None, escaped)
}

/// Returns the length in bytes of the variable's name at the beginning: `a`, `::a::b`. No `::` ends
/// it.
pub(super) fn variable_length(bytes: &[u8]) -> usize {
    let mut at = if bytes.starts_with(b"::") { 2 } else { 0 };
    let first = word_length(at, bytes);
    if first == 0 {
        return 0;
    }
    at += first;
    while bytes[at..].starts_with(b"::") && word_length(at + 2, bytes) > 0 {
        at += 2 + word_length(at + 2, bytes);
    }
    at
}

fn word_length(from: usize, bytes: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// Reads a double-quoted string up to its closing quote; the opening one has been read.
pub(super) fn lex_double_quoted(lexer: &mut Lexer<'_>) -> Quoted {
    let start = lexer.at;
    let plain = lexer.bytes[start..lexer.end]
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | b'$'))
        .filter(|found| lexer.bytes[start + found] == b'"');
    if let Some(length) = plain {
        lexer.at += length + 1;
        return Quoted::Plain;
    }
    let mut segments = Segments::default();
    while lexer.at < lexer.end {
        match lexer.peek_byte(0) {
            b'"' => {
                lexer.at += 1;
                return Quoted::Segments(segments.finish());
            }
            b'\\' => segments.escape(lexer),
            b'$' => segments.lex_interpolation(lexer),
            _ => segments.lex_text(lexer, b"\"\\$"),
        }
    }
    lexer.note_unclosed(start - 1);
    Quoted::Segments(segments.finish())
}

/// Returns the segments of a heredoc's text; escapes stay as they are.
pub(super) fn lex_heredoc_text(lexer: &mut Lexer<'_>) -> Vec<StringSegment> {
    let mut segments = Segments::default();
    while lexer.at < lexer.end {
        match lexer.peek_byte(0) {
            b'$' => segments.lex_interpolation(lexer),
            b'\\' => {
                segments.text.push('\\');
                lexer.at += 1;
                if lexer.peek_byte(0) == b'$' {
                    segments.text.push('$');
                    lexer.at += 1;
                }
            }
            _ => segments.lex_text(lexer, b"\\$"),
        }
    }
    segments.finish()
}

/// Segments in the making.
#[derive(Default)]
struct Segments {
    text: String,
    done: Vec<StringSegment>,
}

impl Segments {
    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.done.push(StringSegment::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Vec<StringSegment> {
        self.end_text();
        self.done
    }

    /// Takes text up to one of `stops`.
    fn lex_text(&mut self, lexer: &mut Lexer<'_>, stops: &[u8]) {
        let rest = &lexer.bytes[lexer.at..lexer.end];
        let length = rest.iter().position(|byte| stops.contains(byte)).unwrap_or(rest.len()).max(1);
        self.text.push_str(&lexer.text[lexer.at..lexer.at + length]);
        lexer.at += length;
    }

    fn escape(&mut self, lexer: &mut Lexer<'_>) {
        let rest = &lexer.text[lexer.at + 1..lexer.end];
        let Some(first) = rest.chars().next() else {
            lexer.at += 1;
            return self.text.push('\\');
        };
        let (replacement, length) = decode_escape(first, rest);
        self.text.push_str(&replacement);
        lexer.at += 1 + length;
    }

    fn lex_interpolation(&mut self, lexer: &mut Lexer<'_>) {
        if lexer.peek_byte(1) == b'{' {
            lexer.at += 2;
            let start = lexer.at;
            let (code, closed) = lexer.code_of_interpolation();
            if !closed {
                lexer.note_unclosed(start - 2);
            }
            self.end_text();
            self.done.push(StringSegment::Code(code));
            return;
        }
        let length = variable_length(&lexer.bytes[lexer.at + 1..lexer.end]);
        if length == 0 {
            self.text.push('$');
            lexer.at += 1;
            return;
        }
        self.end_text();
        let start = lexer.at + 1;
        lexer.at = start + length;
        let range = TextRange::from_usize(start..lexer.at);
        let name = lexer.text[range.as_usize()].to_owned();
        self.done.push(StringSegment::Variable { name, range });
    }
}

/// Returns the value of a string token without interpolation; `None` for other tokens and for
/// strings with interpolation. Heredocs have none: their margin and escapes are not resolved.
pub(super) fn string_value<'t>(
    text: &'t str,
    token: Token,
    strings: &[Vec<StringSegment>],
) -> Option<Cow<'t, str>> {
    let within = &text[token.range.as_usize()];
    match token.kind {
        Kind::Plain => Some(within[1..within.len() - 1].into()),
        Kind::Single => {
            let content = within[1..].strip_suffix('\'').unwrap_or(&within[1..]);
            let mut out = String::with_capacity(content.len());
            let mut characters = content.chars().peekable();
            while let Some(character) = characters.next() {
                match characters.peek() {
                    Some(next @ ('\\' | '\'')) if character == '\\' => {
                        out.push(*next);
                        characters.next();
                    }
                    _ => out.push(character),
                }
            }
            Some(out.into())
        }
        Kind::Double(index) => match strings.get(index as usize)?.as_slice() {
            [] => Some("".into()),
            [StringSegment::Text(text)] => Some(text.clone().into()),
            _ => None,
        },
        _ => None,
    }
}
