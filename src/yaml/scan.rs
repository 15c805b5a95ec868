//! Text to tokens, deciding exactly as libyaml 0.2.5's scanner does: simple keys, indentation, flow
//! levels, its bugs included.
//!
//! Does not check the order of tokens (see [`super::run`]) and never looks back further than a
//! key's start.

use std::collections::VecDeque;

use super::tree::{ScalarStyle, SyntaxError, SyntaxErrorKind};
use crate::text::TextRange;

mod properties;
mod scalar;

pub(in crate::yaml) use scalar::escape;

/// One token with its place. Tokens without text ([`TokenKind::is_virtual`]) have libyaml's place.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The kind of a token, with its contents.
#[derive(Debug)]
pub(super) enum TokenKind {
    StreamStart,
    StreamEnd,
    VersionDirective { major: u32, minor: u32 },
    TagDirective(Box<TagDirective>),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias,
    Anchor,
    Tag(Box<TagName>),
    Scalar { style: ScalarStyle, text: Box<str> },
}

/// `%TAG handle prefix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagDirective {
    pub(super) handle: String,
    pub(super) prefix: String,
}

/// A tag's two parts; the handle is empty for `!<…>` and for `!` alone.
#[derive(Debug)]
pub(super) struct TagName {
    pub(super) handle: String,
    pub(super) suffix: String,
}

impl TokenKind {
    /// Whether the token stands for a structure rather than for characters of the text.
    pub(super) fn is_virtual(&self) -> bool {
        matches!(
            self,
            TokenKind::BlockSequenceStart
                | TokenKind::BlockMappingStart
                | TokenKind::BlockEnd
                | TokenKind::StreamStart
        )
    }
}

pub(super) type Result<T> = std::result::Result<T, Box<SyntaxError>>;

/// Where a key might have begun whose `:` is still to come.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// Whether nothing else can stand here: the first token of a line at the indentation of the
    /// open block collection.
    required: bool,
    token_number: usize,
    pos: usize,
    line: u32,
    column: usize,
}

/// The scanner; [`Scanner::peek`] and [`Scanner::next`] give its tokens.
pub(super) struct Scanner<'t> {
    text: &'t str,
    /// The text's bytes up to the end of the part to read.
    bytes: &'t [u8],
    pos: usize,
    line: u32,
    /// The byte whose column is `column`; columns count characters and are brought up to date only
    /// when asked for.
    column_at: usize,
    column: usize,
    flow_level: usize,
    /// The column of the innermost open block collection; -1 outside of all.
    indent: isize,
    indents: Vec<isize>,
    simple_key_allowed: bool,
    /// One per flow level, the block context being level 0.
    keys: Vec<SimpleKey>,
    /// The index below which no key is possible any more. Keys stand in the order of their places,
    /// so they go stale from the front.
    first_key: usize,
    tokens: VecDeque<Token>,
    tokens_parsed: usize,
    /// Whether the first of `tokens` is known not to be a key any more.
    ready: bool,
    finished: bool,
    /// Comments passed so far.
    pub(super) comments: Vec<TextRange>,
}

const ORDINARY: u8 = 0;
/// Ends a run of plain text or has to be checked: see [`PLAIN`].
const SPECIAL: u8 = 1;
/// Special within flow collections only.
const FLOW_SPECIAL: u8 = 2;

/// The class of each byte within a plain scalar.
static PLAIN: [u8; 256] = {
    let mut table = [ORDINARY; 256];
    table[b' ' as usize] = SPECIAL;
    table[b'\t' as usize] = SPECIAL;
    table[b'\n' as usize] = SPECIAL;
    table[b'\r' as usize] = SPECIAL;
    table[b':' as usize] = SPECIAL;
    table[0xC2] = SPECIAL; // the first byte of NEL
    table[0xE2] = SPECIAL; // the first byte of LS and PS
    table[b',' as usize] = FLOW_SPECIAL;
    table[b'[' as usize] = FLOW_SPECIAL;
    table[b']' as usize] = FLOW_SPECIAL;
    table[b'{' as usize] = FLOW_SPECIAL;
    table[b'}' as usize] = FLOW_SPECIAL;
    table
};

/// Returns the number of bytes of the line break at `at`; 0 when there is none. CR LF is one break.
pub(super) fn break_len(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'\n') => 1,
        Some(b'\r') => 1 + usize::from(bytes.get(at + 1) == Some(&b'\n')),
        Some(0xC2) if bytes.get(at + 1) == Some(&0x85) => 2,
        Some(0xE2)
            if bytes.get(at + 1) == Some(&0x80)
                && matches!(bytes.get(at + 2), Some(0xA8 | 0xA9)) =>
        {
            3
        }
        _ => 0,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

impl<'t> Scanner<'t> {
    /// Returns a scanner of `text` from `start`, which must be the start of a line, up to `end`, as
    /// if that were the whole text.
    pub(super) fn new(text: &'t str, start: usize, end: usize) -> Scanner<'t> {
        Scanner {
            text,
            bytes: &text.as_bytes()[..end],
            pos: start,
            line: 0,
            column_at: start,
            column: 0,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: true,
            keys: vec![SimpleKey::default()],
            first_key: 0,
            tokens: VecDeque::from([Token {
                kind: TokenKind::StreamStart,
                start: start as u32,
                end: start as u32,
            }]),
            tokens_parsed: 0,
            ready: false,
            finished: false,
            comments: Vec::new(),
        }
    }

    /// Goes on as within a block collection at this column.
    pub(super) fn enter_block(&mut self, column: usize) {
        self.indents.push(self.indent);
        self.indent = column as isize;
    }

    /// Returns the next token, left in place.
    pub(super) fn peek(&mut self) -> Result<&Token> {
        if !self.ready {
            self.fill()?;
            self.ready = true;
        }
        Ok(self.tokens.front().expect("fill leaves at least one token"))
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Result<Token> {
        self.peek()?;
        Ok(self.skip())
    }

    /// Takes the token that [`Scanner::peek`] has just shown.
    pub(super) fn skip(&mut self) -> Token {
        self.tokens_parsed += 1;
        self.ready = false;
        self.tokens.pop_front().expect("a token was peeked at")
    }

    /// How far the text has been read.
    pub(super) fn position(&self) -> usize {
        self.pos
    }

    /// Returns the text read so far and to come, bytes counted from the start of the whole.
    pub(super) fn source_text(&self) -> &'t str {
        &self.text[..self.bytes.len()]
    }

    /// Reads on until the first token can no longer turn out to be a key.
    fn fill(&mut self) -> Result<()> {
        loop {
            if !self.tokens.is_empty() {
                self.drop_stale_keys()?;
                let waiting = self
                    .keys
                    .get(self.first_key)
                    .is_some_and(|key| key.token_number == self.tokens_parsed);
                if !waiting {
                    return Ok(());
                }
            }
            if self.finished {
                self.push(TokenKind::StreamEnd, self.pos);
                return Ok(());
            }
            self.fetch_tokens()?;
        }
    }

    fn fetch_tokens(&mut self) -> Result<()> {
        self.skip_to_token();
        self.drop_stale_keys()?;
        if self.flow_level == 0 && self.indent >= 0 {
            let column = self.current_column() as isize;
            self.unroll_indent(column);
        }
        let Some(byte) = self.peek_byte(0) else { return self.fetch_stream_end() };
        let blank_after = self.is_blank_or_end(self.pos + 1);
        if matches!(byte, b'%' | b'-' | b'.') && self.current_column() == 0 {
            if byte == b'%' {
                return self.fetch_directive();
            }
            if let Some(kind) = self.document_marker() {
                return self.fetch_document_marker(kind);
            }
        }
        let flow = self.flow_level > 0;
        match byte {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if blank_after => self.fetch_block_entry(),
            b'?' if flow || blank_after => self.fetch_key(),
            b':' if flow || blank_after => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(byte),
            b'!' => self.fetch_tag(),
            b'|' if !flow => self.fetch_block_scalar(ScalarStyle::Literal),
            b'>' if !flow => self.fetch_block_scalar(ScalarStyle::Folded),
            b'\'' => self.fetch_flow_scalar(ScalarStyle::SingleQuoted),
            b'"' => self.fetch_flow_scalar(ScalarStyle::DoubleQuoted),
            b'-' | b'?' | b':' => self.fetch_plain(),
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' | b' ' => Err(self.new_error(
                Some("while scanning for the next token"),
                self.pos,
                "found character that cannot start any token",
            )),
            _ => self.fetch_plain(),
        }
    }

    // The next methods work on places in the text.

    fn peek_byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.pos + ahead).copied()
    }

    fn is_blank_or_end(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            None | Some(b' ' | b'\t' | b'\n' | b'\r') => true,
            Some(0xC2 | 0xE2) => break_len(self.bytes, at) > 0,
            Some(_) => false,
        }
    }

    /// Returns the column of the next character, in characters.
    fn current_column(&mut self) -> usize {
        if self.column_at == self.pos {
            return self.column;
        }
        self.column += count_chars(&self.bytes[self.column_at..self.pos]);
        self.column_at = self.pos;
        self.column
    }

    fn skip_line(&mut self, len: usize) {
        self.pos += len;
        self.line += 1;
        self.column = 0;
        self.column_at = self.pos;
    }

    /// Skips to the end of the line, as behind a `#`.
    fn skip_comment(&mut self) {
        let start = self.pos;
        loop {
            match self.peek_byte(0) {
                None | Some(b'\n' | b'\r') => break,
                Some(0xC2 | 0xE2) if break_len(self.bytes, self.pos) > 0 => break,
                Some(_) => self.pos += 1,
            }
        }
        self.comments.push(TextRange::from_usize(start..self.pos));
    }

    /// Goes on to the next line, where nothing but a comment may stand on the rest of this one.
    fn end_line(&mut self, context: Option<&str>, start: usize) -> Result<()> {
        self.skip_blanks();
        if self.peek_byte(0) == Some(b'#') {
            self.skip_comment();
        }
        if self.pos < self.bytes.len() {
            match break_len(self.bytes, self.pos) {
                0 => {
                    return Err(self.new_error(
                        context,
                        start,
                        "did not find expected comment or line break",
                    ));
                }
                len => self.skip_line(len),
            }
        }
        Ok(())
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek_byte(0), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
    }

    /// Tabs are allowed in flow collections and where no key may start, thus not as indentation.
    fn skip_to_token(&mut self) {
        loop {
            // A byte order mark is skipped at the start of every line, but counts as a column.
            if self.peek_byte(0) == Some(0xEF)
                && self.current_column() == 0
                && self.bytes[self.pos..].starts_with(b"\xEF\xBB\xBF")
            {
                self.pos += 3;
            }
            if self.column_at == self.pos {
                let spaces =
                    self.bytes[self.pos..].iter().take_while(|byte| **byte == b' ').count();
                self.pos += spaces;
                self.column += spaces;
                self.column_at = self.pos;
            }
            let tabs = self.flow_level > 0 || !self.simple_key_allowed;
            while matches!(self.peek_byte(0), Some(b' '))
                || tabs && matches!(self.peek_byte(0), Some(b'\t'))
            {
                self.pos += 1;
            }
            if self.peek_byte(0) == Some(b'#') {
                self.skip_comment();
            }
            match break_len(self.bytes, self.pos) {
                0 => return,
                len => self.skip_line(len),
            }
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    fn document_marker(&self) -> Option<TokenKind> {
        if !self.is_blank_or_end(self.pos + 3) {
            return None;
        }
        match self.bytes.get(self.pos..self.pos + 3)? {
            b"---" => Some(TokenKind::DocumentStart),
            b"..." => Some(TokenKind::DocumentEnd),
            _ => None,
        }
    }

    fn new_error(&self, context: Option<&str>, start: usize, message: &str) -> Box<SyntaxError> {
        let context = context
            .map(|context| (context.to_owned(), TextRange::from_usize(start..self.pos.max(start))));
        Box::new(SyntaxError {
            kind: SyntaxErrorKind::Grammar,
            message: message.to_owned(),
            context,
            span: self.char_range(self.pos),
        })
    }

    /// Returns the character at `at` as a range; empty at the end of the text.
    pub(super) fn char_range(&self, at: usize) -> TextRange {
        let len = self
            .source_text()
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        TextRange::from_usize(at..at + len)
    }

    // The next methods work on keys and indentation.

    fn save_key(&mut self) -> Result<()> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        let column = if self.flow_level == 0 { self.current_column() } else { 0 };
        let required = self.flow_level == 0 && self.indent == column as isize;
        let token_number = self.tokens_parsed + self.tokens.len();
        self.remove_key()?;
        let top = self.keys.len() - 1;
        self.keys[top] = SimpleKey {
            possible: true,
            required,
            token_number,
            pos: self.pos,
            line: self.line,
            column,
        };
        self.first_key = self.first_key.min(top);
        Ok(())
    }

    fn remove_key(&mut self) -> Result<()> {
        let top = self.keys.len() - 1;
        let key = self.keys[top];
        if key.possible && key.required {
            return Err(self.new_error(
                Some("while scanning a simple key"),
                key.pos,
                "could not find expected ':'",
            ));
        }
        self.keys[top].possible = false;
        Ok(())
    }

    /// A key must stand on one line and within 1024 characters before its `:`.
    fn drop_stale_keys(&mut self) -> Result<()> {
        while let Some(key) = self.keys.get_mut(self.first_key) {
            if key.possible {
                let stale = key.line < self.line
                    || self.pos - key.pos > 1024
                        && count_chars(&self.bytes[key.pos..self.pos]) > 1024;
                if !stale {
                    return Ok(());
                }
                if key.required {
                    let pos = key.pos;
                    return Err(self.new_error(
                        Some("while scanning a simple key"),
                        pos,
                        "could not find expected ':'",
                    ));
                }
                key.possible = false;
            }
            self.first_key += 1;
        }
        Ok(())
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push_back(Token { kind, start: start as u32, end: self.pos as u32 });
    }

    /// Adds a token of `len` bytes here and skips them.
    fn push_skip(&mut self, kind: TokenKind, len: usize) {
        let start = self.pos;
        self.pos += len;
        self.push(kind, start);
    }

    /// Opens a block collection at `column` unless one is open there; `number` is that of the token
    /// before which it opens; `None` for the next one.
    fn roll_indent(&mut self, column: usize, number: Option<usize>, kind: TokenKind, pos: usize) {
        if self.flow_level > 0 || self.indent >= column as isize {
            return;
        }
        self.indents.push(self.indent);
        self.indent = column as isize;
        let token = Token { kind, start: pos as u32, end: pos as u32 };
        match number {
            Some(number) => self.tokens.insert(number - self.tokens_parsed, token),
            None => self.tokens.push_back(token),
        }
    }

    /// Closes the block collections that stand further to the right than `column`.
    fn unroll_indent(&mut self, column: isize) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.pos);
            self.indent =
                self.indents.pop().expect("an indent was pushed for each open collection");
        }
    }

    // Each of the next methods fetches one kind of token.

    fn fetch_stream_end(&mut self) -> Result<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.simple_key_allowed = false;
        self.push(TokenKind::StreamEnd, self.pos);
        // libyaml ends the last line here, so no key stays possible.
        self.line += 1;
        self.finished = true;
        Ok(())
    }

    fn fetch_document_marker(&mut self, kind: TokenKind) -> Result<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.simple_key_allowed = false;
        self.push_skip(kind, 3);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<()> {
        self.save_key()?;
        self.keys.push(SimpleKey::default());
        self.flow_level += 1;
        self.simple_key_allowed = true;
        self.push_skip(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<()> {
        self.remove_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            self.keys.pop();
            self.first_key = self.first_key.min(self.keys.len());
        }
        self.simple_key_allowed = false;
        self.push_skip(kind, 1);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<()> {
        self.remove_key()?;
        self.simple_key_allowed = true;
        self.push_skip(TokenKind::FlowEntry, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<()> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.new_error(
                    None,
                    self.pos,
                    "block sequence entries are not allowed in this context",
                ));
            }
            let column = self.current_column();
            self.roll_indent(column, None, TokenKind::BlockSequenceStart, self.pos);
        }
        self.remove_key()?;
        self.simple_key_allowed = true;
        self.push_skip(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<()> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.new_error(
                    None,
                    self.pos,
                    "mapping keys are not allowed in this context",
                ));
            }
            let column = self.current_column();
            self.roll_indent(column, None, TokenKind::BlockMappingStart, self.pos);
        }
        self.remove_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.push_skip(TokenKind::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<()> {
        let top = self.keys.len() - 1;
        let key = self.keys[top];
        if key.possible {
            let token = Token { kind: TokenKind::Key, start: key.pos as u32, end: key.pos as u32 };
            self.tokens.insert(key.token_number - self.tokens_parsed, token);
            self.roll_indent(
                key.column,
                Some(key.token_number),
                TokenKind::BlockMappingStart,
                key.pos,
            );
            self.keys[top].possible = false;
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return Err(self.new_error(
                        None,
                        self.pos,
                        "mapping values are not allowed in this context",
                    ));
                }
                let column = self.current_column();
                self.roll_indent(column, None, TokenKind::BlockMappingStart, self.pos);
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.push_skip(TokenKind::Value, 1);
        Ok(())
    }
}

/// Returns the greatest offset up to `at` that lies between two characters of the text.
pub fn char_floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the number of characters that begin in these bytes.
pub(super) fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count()
}
