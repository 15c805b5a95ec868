//! From text to tokens, as Puppet's lexer reads it; text that Puppet refuses is read on.

use std::rc::Rc;

use super::heredoc::{HeredocEnds, heredoc_tag};
use super::strings::{self, Quoted};
use super::token::{Bracket, Code, Kind, Token};
use crate::puppet::escapes::is_blank;
use crate::text::TextRange;

/// The tokens of a text from some byte to its end.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub code: Code,
    /// The first string, heredoc or comment that is not closed.
    pub unclosed: Option<u32>,
    /// Whether the code of a string was passed over, as it is nested too deeply.
    pub is_too_deep: bool,
}

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A manifest.
    Manifest,
    /// A template: code stands between `<%` and `%>`.
    Epp,
}

/// The greatest depth of strings in the interpolation of strings. The code of deeper ones is passed
/// over, and the file counts as incomplete.
const MAX_NESTING: usize = 24;

/// Reads `text` from the byte `from`, which must not stand within a string or comment.
pub(super) fn lex_text(text: &str, from: usize, language: Language) -> Lexed {
    let mut lexer = Lexer::new(text, from, language, 0);
    if language == Language::Epp {
        lexer.lex_rendered(false);
    }
    while lexer.lex_next() {}
    let Lexer { tokens, strings, unclosed, is_too_deep, .. } = lexer;
    Lexed { code: Code::new(tokens, strings), unclosed, is_too_deep }
}

/// The state of reading; nested lexers read the code within strings.
pub(super) struct Lexer<'t> {
    pub text: &'t str,
    pub bytes: &'t [u8],
    pub at: usize,
    /// The end of reading: a lexer of a heredoc does not read beyond it.
    pub end: usize,
    tokens: Vec<Token>,
    strings: Vec<Vec<super::token::StringSegment>>,
    pub unclosed: Option<u32>,
    /// Whether the code of a string was passed over.
    pub is_too_deep: bool,
    language: Language,
    nesting: usize,
    /// The byte behind the texts of the heredocs of this line, which the next line end skips.
    behind_heredocs: Option<usize>,
    /// The lines that end heredocs, found when the first heredoc is read.
    heredoc_ends: Option<Rc<HeredocEnds<'t>>>,
    /// The number of open curly brackets; the code of `${` ends when one too many closes.
    curly: i32,
}

impl<'t> Lexer<'t> {
    fn new(text: &'t str, at: usize, language: Language, nesting: usize) -> Lexer<'t> {
        Lexer {
            text,
            bytes: text.as_bytes(),
            at,
            end: text.len(),
            tokens: Vec::new(),
            strings: Vec::new(),
            unclosed: None,
            is_too_deep: false,
            language,
            nesting,
            behind_heredocs: None,
            heredoc_ends: None,
            curly: 0,
        }
    }

    pub(super) fn peek_byte(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        if at < self.end { self.bytes[at] } else { 0 }
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.tokens.push(Token { kind, range: TextRange::from_usize(start..self.at) });
    }

    fn take(&mut self, kind: Kind, length: usize) {
        let start = self.at;
        self.at = (self.at + length).min(self.end);
        self.push(kind, start);
    }

    pub(super) fn note_unclosed(&mut self, at: usize) {
        self.unclosed.get_or_insert(at as u32);
    }

    /// Takes over the notes of a lexer that read a part of the text.
    fn take_notes(&mut self, inner: &Lexer<'_>) {
        self.unclosed = self.unclosed.or(inner.unclosed);
        self.is_too_deep |= inner.is_too_deep;
    }

    /// Reads the code of `${` at the current place up to its `}`; the code, and whether the `}` was
    /// found.
    pub(super) fn code_of_interpolation(&mut self) -> (Code, bool) {
        if self.nesting >= MAX_NESTING {
            self.is_too_deep = true; // Where it ends is a guess.
            let close = self.text[self.at..self.end].find(['}', '"']);
            let closed = close.is_some_and(|found| self.bytes[self.at + found] == b'}');
            self.at = close.map_or(self.end, |found| self.at + found + usize::from(closed));
            return (Code::default(), closed);
        }
        let mut inner = Lexer::new(self.text, self.at, Language::Manifest, self.nesting + 1);
        inner.end = self.end;
        inner.heredoc_ends = self.heredoc_ends.clone();
        while inner.curly >= 0 && inner.lex_next() {}
        let closed = inner.curly < 0;
        if closed {
            inner.tokens.pop();
        }
        self.at = inner.at;
        self.heredoc_ends = inner.heredoc_ends.take();
        self.take_notes(&inner);
        (Code::new(inner.tokens, inner.strings), closed)
    }

    /// Reads a token, a comment or white space; `false` at the end.
    fn lex_next(&mut self) -> bool {
        if self.at >= self.end {
            return false;
        }
        let (byte, next) = (self.bytes[self.at], self.peek_byte(1));
        match byte {
            b'\n' => self.at = self.behind_heredocs.take().unwrap_or(self.at + 1),
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'#' => self.at = self.line_end(),
            b'/' if next == b'*' => self.block_comment(),
            b'/' => self.lex_slash(),
            b'\'' => self.lex_single_quoted(),
            b'"' => self.lex_double_quoted(),
            b'@' if next == b'(' => self.lex_heredoc(),
            b'$' => self.lex_variable(),
            b'a'..=b'z' | b'_' => self.lex_name(),
            b'A'..=b'Z' => self.lex_reference(),
            b'0'..=b'9' => self.lex_number(),
            b':' if next == b':' && self.peek_byte(2).is_ascii_uppercase() => self.lex_reference(),
            b':' if next == b':'
                && (self.peek_byte(2).is_ascii_lowercase() || self.peek_byte(2) == b'_') =>
            {
                self.lex_name();
            }
            b'%' | b'-' if self.language == Language::Epp => self.tag_end(),
            128.. if self.blank_length() > 0 => self.at += self.blank_length(),
            _ => self.lex_operator(byte, next),
        }
        true
    }

    fn line_end(&self) -> usize {
        self.text[self.at..self.end].find('\n').map_or(self.end, |found| self.at + found)
    }

    fn block_comment(&mut self) {
        match self.text[self.at + 2..self.end].find("*/") {
            Some(found) => self.at += found + 4,
            None => {
                self.note_unclosed(self.at);
                self.at = self.end;
            }
        }
    }

    fn lex_operator(&mut self, byte: u8, next: u8) {
        let third = self.peek_byte(2);
        let (kind, length) = match (byte, next) {
            (b'(', _) => (Kind::Open(Bracket::Round), 1),
            (b'[', _) => (Kind::Open(Bracket::Square), 1),
            (b'{', _) => (Kind::Open(Bracket::Curly), 1),
            (b')', _) => (Kind::Close(Bracket::Round), 1),
            (b']', _) => (Kind::Close(Bracket::Square), 1),
            (b'}', _) => (Kind::Close(Bracket::Curly), 1),
            (b',', _) => (Kind::Comma, 1),
            (b'.', _) => (Kind::Dot, 1),
            (b';', _) => (Kind::Semicolon, 1),
            (b':', b':') => (Kind::Operator, 2),
            (b':', _) => (Kind::Colon, 1),
            (b'*', _) => (Kind::Star, 1),
            (b'=', b'>') => (Kind::Arrow, 2),
            (b'=', b'=' | b'~') => (Kind::Operator, 2),
            (b'=', _) => (Kind::Assign, 1),
            (b'+', b'>') => (Kind::PlusArrow, 2),
            (b'|', b'>') => (Kind::CollectorEnd, if third == b'>' { 3 } else { 2 }),
            (b'|', _) => (Kind::Pipe, 1),
            (b'<', b'<') => (Kind::Operator, if third == b'|' { 3 } else { 2 }),
            (b'<', b'=' | b'|' | b'-' | b'~') => (Kind::Operator, 2),
            (b'>', b'>') => (Kind::ShiftRight, 2),
            (b'>', b'=')
            | (b'+' | b'-' | b'!', b'=')
            | (b'!', b'~')
            | (b'-' | b'~', b'>')
            | (b'@', b'@') => (Kind::Operator, 2),
            _ => (Kind::Operator, self.char_length()),
        };
        match kind {
            Kind::Open(Bracket::Curly) => self.curly += 1,
            Kind::Close(Bracket::Curly) => self.curly -= 1,
            _ => {}
        }
        self.take(kind, length);
    }

    /// Returns the length of the character at the current place.
    fn char_length(&self) -> usize {
        self.text[self.at..].chars().next().map_or(1, char::len_utf8)
    }

    /// Returns the length of the blank beyond ASCII at the current place; 0 if there is none.
    fn blank_length(&self) -> usize {
        let character = self.text[self.at..].chars().next();
        character.filter(|c| is_blank(*c)).map_or(0, char::len_utf8)
    }

    /// A division or a regular expression, by the token before (M30).
    fn lex_slash(&mut self) {
        let before = self.tokens.last().map(|token| token.kind);
        let divides = match before {
            Some(Kind::Name) => {
                let word = &self.text[self.tokens[self.tokens.len() - 1].range.as_usize()];
                !is_keyword(word) || matches!(word, "true" | "false")
            }
            Some(
                Kind::Reference
                | Kind::Variable
                | Kind::Number
                | Kind::Plain
                | Kind::Single
                | Kind::Double(_)
                | Kind::Heredoc(_)
                | Kind::Regex
                | Kind::Close(Bracket::Round | Bracket::Square)
                | Kind::CollectorEnd,
            ) => true,
            _ => false,
        };
        // Puppet lets a regular expression go over lines. After `}` and keywords half-typed text is
        // more likely, and the rest of the file must stay readable.
        let over_lines = matches!(
            before,
            Some(Kind::Operator | Kind::Comma | Kind::Open(Bracket::Round | Bracket::Square))
        );
        match (!divides).then(|| self.regex_end(over_lines)).flatten() {
            Some(end) => self.take(Kind::Regex, end - self.at),
            None => self.take(Kind::Operator, 1),
        }
    }

    /// Returns the byte behind the regular expression that begins here.
    fn regex_end(&self, over_lines: bool) -> Option<usize> {
        let mut at = self.at + 1;
        while at < self.end {
            match self.bytes[at] {
                b'\\' => at += 1,
                b'/' => return Some(at + 1),
                b'\n' if !over_lines => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn lex_variable(&mut self) {
        let start = self.at;
        self.at += 1;
        self.at += strings::variable_length(&self.bytes[self.at..self.end]);
        self.push(Kind::Variable, start);
    }

    /// A bare word: segments of letters, digits, `_` and `-`, each begun by a lower letter or `_`,
    /// with `::` between them.
    fn lex_name(&mut self) {
        let start = self.at;
        loop {
            if self.peek_byte(0) == b':' {
                self.at += 2;
            }
            let segment = self.bytes[self.at..self.end]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
                .count();
            let dashes = self.bytes[self.at..self.at + segment]
                .iter()
                .rev()
                .take_while(|byte| **byte == b'-')
                .count();
            self.at += segment - dashes;
            let goes_on = dashes == 0
                && self.peek_byte(0) == b':'
                && self.peek_byte(1) == b':'
                && (self.peek_byte(2).is_ascii_lowercase() || self.peek_byte(2) == b'_');
            if !goes_on {
                break;
            }
        }
        self.push(Kind::Name, start);
    }

    fn lex_reference(&mut self) {
        let start = self.at;
        loop {
            if self.peek_byte(0) == b':' {
                self.at += 2;
            }
            while self.peek_byte(0).is_ascii_alphanumeric() || self.peek_byte(0) == b'_' {
                self.at += 1;
            }
            let goes_on = self.peek_byte(0) == b':'
                && self.peek_byte(1) == b':'
                && self.peek_byte(2).is_ascii_uppercase();
            if !goes_on {
                break;
            }
        }
        self.push(Kind::Reference, start);
    }

    /// A number; letters that follow are taken with it, as Puppet refuses them (M36).
    fn lex_number(&mut self) {
        let start = self.at;
        skip_word(self);
        if self.peek_byte(0) == b'.' && self.peek_byte(1).is_ascii_digit() {
            self.at += 1;
            skip_word(self);
        }
        let exponent = matches!(self.bytes[self.at - 1], b'e' | b'E')
            && !self.text[start..self.at].starts_with("0x");
        if exponent && self.peek_byte(0) == b'-' && self.peek_byte(1).is_ascii_digit() {
            self.at += 1;
            skip_word(self);
        }
        self.push(Kind::Number, start);
    }

    fn lex_single_quoted(&mut self) {
        let start = self.at;
        let (end, escaped) = strings::single_end(&self.bytes[..self.end], start + 1);
        match end {
            Some(end) => self.at = end,
            None => {
                self.note_unclosed(start);
                self.at = self.end;
            }
        }
        let plain = !escaped && end.is_some();
        self.push(if plain { Kind::Plain } else { Kind::Single }, start);
    }

    fn lex_double_quoted(&mut self) {
        let start = self.at;
        self.at += 1;
        match strings::lex_double_quoted(self) {
            Quoted::Plain => self.push(Kind::Plain, start),
            Quoted::Segments(segments) => {
                self.push(Kind::Double(self.strings.len() as u32), start);
                self.strings.push(segments);
            }
        }
    }

    fn lex_heredoc(&mut self) {
        let start = self.at;
        let Some(tag) = heredoc_tag(&self.text[start..self.end]) else {
            return self.take(Kind::Operator, 1);
        };
        self.at = start + tag.length;
        let first_line =
            self.behind_heredocs.unwrap_or_else(|| (self.line_end() + 1).min(self.end));
        // The line end is recorded also for a heredoc without an end, so that no other heredoc of
        // the line searches for it.
        self.behind_heredocs = Some(first_line);
        let ends =
            self.heredoc_ends.get_or_insert_with(|| Rc::new(HeredocEnds::new(self.text))).clone();
        let Some((content, behind)) = ends.find(tag.name, first_line, self.end) else {
            self.note_unclosed(start);
            self.push(Kind::Heredoc(self.strings.len() as u32), start);
            self.strings.push(Vec::new());
            return;
        };
        let mut segments = Vec::new();
        if tag.interpolates {
            let mut inner =
                Lexer::new(self.text, content.start, Language::Manifest, self.nesting + 1);
            inner.end = content.end;
            inner.heredoc_ends = Some(ends);
            segments = strings::lex_heredoc_text(&mut inner);
            self.take_notes(&inner);
        }
        self.behind_heredocs = Some(behind);
        self.push(Kind::Heredoc(self.strings.len() as u32), start);
        self.strings.push(segments);
    }

    /// `%>` or `-%>` of a template; else an operator.
    fn tag_end(&mut self) {
        let rest = &self.bytes[self.at..self.end];
        let trims = rest.starts_with(b"-%>");
        if !trims && !rest.starts_with(b"%>") {
            return self.lex_operator(self.peek_byte(0), self.peek_byte(1));
        }
        self.at += if trims { 3 } else { 2 };
        self.lex_rendered(true);
    }

    /// The text of a template up to the next tag that holds code.
    fn lex_rendered(&mut self, separates: bool) {
        let start = self.at;
        while let Some(found) = self.text[self.at..self.end].find("<%") {
            self.at += found + 2;
            match self.peek_byte(0) {
                b'%' => self.at += 1,
                b'#' => {
                    let comment = self.text[self.at..self.end].find("%>");
                    self.at = comment.map_or(self.end, |found| self.at + found + 2);
                }
                next => {
                    self.at += usize::from(matches!(next, b'-' | b'='));
                    if separates || next == b'=' {
                        self.push(Kind::Rendered, start);
                    }
                    return;
                }
            }
        }
        self.at = self.end;
        self.push(Kind::Rendered, start);
    }
}

fn skip_word(lexer: &mut Lexer) {
    while lexer.peek_byte(0).is_ascii_alphanumeric() || lexer.peek_byte(0) == b'_' {
        lexer.at += 1;
    }
}

/// Whether Puppet reserves a word.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "case"
            | "class"
            | "default"
            | "define"
            | "if"
            | "elsif"
            | "else"
            | "inherits"
            | "node"
            | "and"
            | "or"
            | "undef"
            | "false"
            | "true"
            | "in"
            | "unless"
            | "function"
            | "type"
            | "attr"
            | "private"
    )
}
