//! The scanner's scalars: plain, quoted and block, with their folding.

use super::{FLOW_SPECIAL, ORDINARY, PLAIN, Result, Scanner, Token, TokenKind, break_len};
use crate::yaml::tree::ScalarStyle;

/// Line breaks between two pieces of text, until it is known whether they are folded.
#[derive(Default)]
struct Breaks {
    /// The first break: a line feed, or LS or PS as they are; empty when there was none.
    leading: String,
    /// The breaks behind the first one.
    trailing: String,
}

impl Breaks {
    /// Appends the folded breaks: one line feed is a space, several lose the first, LS and PS stay.
    fn fold_into(&mut self, text: &mut String) {
        if self.leading == "\n" {
            text.push_str(if self.trailing.is_empty() { " " } else { &self.trailing });
        } else {
            text.push_str(&self.leading);
            text.push_str(&self.trailing);
        }
        self.leading.clear();
        self.trailing.clear();
    }
}

impl Scanner<'_> {
    /// Skips the break of `len` bytes and records the text that it stands for.
    fn read_break(&mut self, len: usize, into: &mut String) {
        into.push_str(if len == 3 { &self.text[self.pos..self.pos + 3] } else { "\n" });
        self.skip_line(len);
    }

    fn at_document_marker(&mut self) -> bool {
        matches!(self.peek_byte(0), Some(b'-' | b'.'))
            && self.current_column() == 0
            && self.document_marker().is_some()
    }

    pub(super) fn fetch_plain(&mut self) -> Result<()> {
        self.save_key()?;
        self.simple_key_allowed = false;
        let start = self.pos;
        let end = self.plain_piece(start)?;
        let mut token_end = end;
        // Most plain scalars end with their line: no text is put together for them.
        let mut text: Option<String> = None;
        let mut breaks = Breaks::default();
        let mut ends_with_break;
        let indent = self.indent + 1;
        loop {
            let mut leading_blanks = false;
            loop {
                match self.peek_byte(0) {
                    Some(b' ') => self.pos += 1,
                    Some(b'\t') => {
                        if leading_blanks && (self.current_column() as isize) < indent {
                            let problem = "found a tab character that violates indentation";
                            return Err(self.new_error(
                                Some("while scanning a plain scalar"),
                                start,
                                problem,
                            ));
                        }
                        self.pos += 1;
                    }
                    _ => match break_len(self.bytes, self.pos) {
                        0 => break,
                        len => {
                            let into = if leading_blanks {
                                &mut breaks.trailing
                            } else {
                                &mut breaks.leading
                            };
                            into.push_str(if len == 3 {
                                &self.text[self.pos..self.pos + 3]
                            } else {
                                "\n"
                            });
                            self.skip_line(len);
                            leading_blanks = true;
                        }
                    },
                }
            }
            ends_with_break = leading_blanks;
            let over = self.pos == token_end && !leading_blanks
                || leading_blanks
                    && self.flow_level == 0
                    && (self.current_column() as isize) < indent
                || matches!(self.peek_byte(0), None | Some(b'#'))
                || self.at_document_marker();
            if over {
                break;
            }
            let piece = self.pos;
            let piece_end = self.plain_piece(start)?;
            if piece_end == piece {
                break;
            }
            if leading_blanks || text.is_some() {
                let text = text.get_or_insert_with(|| self.text[start..token_end].to_owned());
                if leading_blanks {
                    breaks.fold_into(text);
                    text.push_str(&self.text[piece..piece_end]);
                } else {
                    text.push_str(&self.text[token_end..piece_end]);
                }
            }
            token_end = piece_end;
        }
        if ends_with_break {
            self.simple_key_allowed = true;
        }
        let text = text.map_or_else(|| self.text[start..token_end].into(), String::into_boxed_str);
        let kind = TokenKind::Scalar { style: ScalarStyle::Plain, text };
        self.tokens.push_back(Token { kind, start: start as u32, end: token_end as u32 });
        Ok(())
    }

    /// Skips plain text without white space and returns where it ends.
    fn plain_piece(&mut self, start: usize) -> Result<usize> {
        let flow = self.flow_level > 0;
        let bytes = self.bytes;
        loop {
            while bytes.get(self.pos).is_some_and(|byte| PLAIN[*byte as usize] == ORDINARY) {
                self.pos += 1;
            }
            let Some(&byte) = bytes.get(self.pos) else { return Ok(self.pos) };
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => return Ok(self.pos),
                b':' if flow
                    && matches!(
                        self.peek_byte(1),
                        Some(b',' | b'?' | b'[' | b']' | b'{' | b'}')
                    ) =>
                {
                    return Err(self.new_error(
                        Some("while scanning a plain scalar"),
                        start,
                        "found unexpected ':'",
                    ));
                }
                b':' if self.is_blank_or_end(self.pos + 1) => return Ok(self.pos),
                0xC2 | 0xE2 if break_len(bytes, self.pos) > 0 => return Ok(self.pos),
                byte if flow && PLAIN[byte as usize] == FLOW_SPECIAL => return Ok(self.pos),
                _ => self.pos += 1,
            }
        }
    }

    pub(super) fn fetch_flow_scalar(&mut self, style: ScalarStyle) -> Result<()> {
        self.save_key()?;
        self.simple_key_allowed = false;
        let single = style == ScalarStyle::SingleQuoted;
        let quote = if single { b'\'' } else { b'"' };
        let start = self.pos;
        self.pos += 1;
        if let Some(end) = self.verbatim_end(single, quote) {
            let text = self.text[self.pos..end].into();
            self.pos = end + 1;
            self.push(TokenKind::Scalar { style, text }, start);
            return Ok(());
        }
        let mut text = String::new();
        let mut breaks = Breaks::default();
        loop {
            let context = Some("while scanning a quoted scalar");
            if self.at_document_marker() {
                return Err(self.new_error(context, start, "found unexpected document indicator"));
            }
            if self.pos >= self.bytes.len() {
                return Err(self.new_error(context, start, "found unexpected end of stream"));
            }
            let escaped_break = self.quoted_piece(single, quote, start, &mut text)?;
            if self.peek_byte(0) == Some(quote) {
                break;
            }
            self.quoted_blanks(escaped_break, &mut breaks, &mut text);
        }
        self.pos += 1;
        let kind = TokenKind::Scalar { style, text: text.into_boxed_str() };
        self.push(kind, start);
        Ok(())
    }

    /// Returns the place of the closing quote if nothing has to be decoded before it: the usual
    /// case.
    fn verbatim_end(&self, single: bool, quote: u8) -> Option<usize> {
        let rest = &self.bytes[self.pos..];
        let len = rest.iter().position(|byte| stops_at(*byte, quote, single))?;
        (rest[len] == quote && !(single && rest.get(len + 1) == Some(&b'\'')))
            .then_some(self.pos + len)
    }

    /// Reads up to the closing quote, white space or the end; returns whether the piece stopped
    /// behind an escaped line break.
    fn quoted_piece(
        &mut self,
        single: bool,
        quote: u8,
        start: usize,
        text: &mut String,
    ) -> Result<bool> {
        let mut piece = self.pos;
        loop {
            match self.peek_byte(0) {
                None | Some(b' ' | b'\t' | b'\n' | b'\r') => break,
                Some(0xC2 | 0xE2) if break_len(self.bytes, self.pos) > 0 => break,
                Some(b'\'') if single && self.peek_byte(1) == Some(b'\'') => {
                    text.push_str(&self.text[piece..self.pos + 1]);
                    self.pos += 2;
                    piece = self.pos;
                }
                Some(byte) if byte == quote => break,
                Some(b'\\') if !single => {
                    text.push_str(&self.text[piece..self.pos]);
                    match break_len(self.bytes, self.pos + 1) {
                        0 => self.read_escape(start, text)?,
                        len => {
                            self.skip_line(1 + len);
                            return Ok(true);
                        }
                    }
                    piece = self.pos;
                }
                Some(_) => self.pos += 1,
            }
        }
        text.push_str(&self.text[piece..self.pos]);
        Ok(false)
    }

    /// White space within quotes: kept within a line, dropped around breaks, breaks folded.
    fn quoted_blanks(&mut self, escaped_break: bool, breaks: &mut Breaks, text: &mut String) {
        let mut leading_blanks = escaped_break;
        let start = self.pos;
        loop {
            match self.peek_byte(0) {
                Some(b' ' | b'\t') => self.pos += 1,
                _ => match break_len(self.bytes, self.pos) {
                    0 => break,
                    len if leading_blanks => self.read_break(len, &mut breaks.trailing),
                    len => {
                        self.read_break(len, &mut breaks.leading);
                        leading_blanks = true;
                    }
                },
            }
        }
        if leading_blanks {
            breaks.fold_into(text)
        } else {
            text.push_str(&self.text[start..self.pos])
        }
    }

    fn read_escape(&mut self, start: usize, text: &mut String) -> Result<()> {
        let context = Some("while parsing a quoted scalar");
        let Some((plain, digits)) = self.peek_byte(1).and_then(escape) else {
            return Err(self.new_error(context, start, "found unknown escape character"));
        };
        self.pos += 2;
        if digits == 0 {
            text.push(plain);
            return Ok(());
        }
        let mut value = 0u32;
        for at in 0..digits {
            let Some(digit) = self.peek_byte(at).and_then(|byte| (byte as char).to_digit(16))
            else {
                return Err(self.new_error(
                    context,
                    start,
                    "did not find expected hexdecimal number",
                ));
            };
            value = value.wrapping_shl(4) | digit;
        }
        let Some(char) = char::from_u32(value) else {
            return Err(self.new_error(
                context,
                start,
                "found invalid Unicode character escape code",
            ));
        };
        text.push(char);
        self.pos += digits;
        Ok(())
    }

    pub(super) fn fetch_block_scalar(&mut self, style: ScalarStyle) -> Result<()> {
        self.remove_key()?;
        self.simple_key_allowed = true;
        let context = Some("while scanning a block scalar");
        let start = self.pos;
        self.pos += 1;
        let (chomp, increment) = self.block_header(start)?;
        let mut content_end = self.pos;
        self.end_line(context, start)?;
        let mut indent = increment.map_or(0, |increment| self.indent.max(0) as usize + increment);
        let literal = style == ScalarStyle::Literal;
        let mut text = String::new();
        let mut breaks = Breaks::default();
        let mut leading_blank = false;
        self.block_breaks(&mut indent, &mut breaks.trailing, start)?;
        while self.pos < self.bytes.len() && self.current_column() == indent {
            let blank = matches!(self.peek_byte(0), Some(b' ' | b'\t'));
            if !literal && breaks.leading == "\n" && !leading_blank && !blank {
                breaks.fold_into(&mut text);
            } else {
                text.push_str(&breaks.leading);
                text.push_str(&breaks.trailing);
                breaks.leading.clear();
                breaks.trailing.clear();
            }
            leading_blank = blank;
            let line = self.pos;
            while self.pos < self.bytes.len() && break_len(self.bytes, self.pos) == 0 {
                self.pos += 1;
            }
            text.push_str(&self.text[line..self.pos]);
            content_end = self.pos;
            let len = break_len(self.bytes, self.pos);
            if len > 0 {
                self.read_break(len, &mut breaks.leading);
            }
            self.block_breaks(&mut indent, &mut breaks.trailing, start)?;
        }
        if chomp != Chomp::Strip {
            text.push_str(&breaks.leading);
        }
        if chomp == Chomp::Keep {
            text.push_str(&breaks.trailing);
        }
        let kind = TokenKind::Scalar { style, text: text.into_boxed_str() };
        self.tokens.push_back(Token { kind, start: start as u32, end: content_end as u32 });
        Ok(())
    }

    /// Reads the indicators behind `|` or `>`, in either order.
    fn block_header(&mut self, start: usize) -> Result<(Chomp, Option<usize>)> {
        let mut chomp = self.block_chomp();
        let mut increment = None;
        if let Some(digit @ b'0'..=b'9') = self.peek_byte(0) {
            if digit == b'0' {
                let problem = "found an indentation indicator equal to 0";
                return Err(self.new_error(Some("while scanning a block scalar"), start, problem));
            }
            increment = Some(usize::from(digit - b'0'));
            self.pos += 1;
            if chomp.is_none() {
                chomp = self.block_chomp();
            }
        }
        Ok((chomp.unwrap_or(Chomp::Clip), increment))
    }

    fn block_chomp(&mut self) -> Option<Chomp> {
        let chomp = match self.peek_byte(0)? {
            b'+' => Chomp::Keep,
            b'-' => Chomp::Strip,
            _ => return None,
        };
        self.pos += 1;
        Some(chomp)
    }

    /// Skips empty lines and the next line's indentation; finds out the indentation if `indent` is
    /// still 0.
    fn block_breaks(
        &mut self,
        indent: &mut usize,
        breaks: &mut String,
        start: usize,
    ) -> Result<()> {
        let mut widest = 0;
        loop {
            let mut column = self.current_column();
            while (*indent == 0 || column < *indent) && self.peek_byte(0) == Some(b' ') {
                self.pos += 1;
                column += 1;
            }
            widest = widest.max(column);
            if (*indent == 0 || column < *indent) && self.peek_byte(0) == Some(b'\t') {
                let problem = "found a tab character where an indentation space is expected";
                return Err(self.new_error(Some("while scanning a block scalar"), start, problem));
            }
            match break_len(self.bytes, self.pos) {
                0 => break,
                len => self.read_break(len, breaks),
            }
        }
        if *indent == 0 {
            *indent = widest.max((self.indent + 1) as usize).max(1);
        }
        Ok(())
    }
}

fn stops_at(byte: u8, quote: u8, single: bool) -> bool {
    byte == quote || matches!(byte, b'\n' | b'\r' | 0xC2 | 0xE2) || byte == b'\\' && !single
}

/// The treatment of the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

/// Returns the meaning of `\` and this byte: a character, or how many hexadecimal digits follow.
pub(in crate::yaml) fn escape(byte: u8) -> Option<(char, usize)> {
    Some(match byte {
        b'0' => ('\0', 0),
        b'a' => ('\x07', 0),
        b'b' => ('\x08', 0),
        b't' | b'\t' => ('\t', 0),
        b'n' => ('\n', 0),
        b'v' => ('\x0b', 0),
        b'f' => ('\x0c', 0),
        b'r' => ('\r', 0),
        b'e' => ('\x1b', 0),
        b' ' => (' ', 0),
        b'"' => ('"', 0),
        b'/' => ('/', 0),
        b'\\' => ('\\', 0),
        b'N' => ('\u{85}', 0),
        b'_' => ('\u{a0}', 0),
        b'L' => ('\u{2028}', 0),
        b'P' => ('\u{2029}', 0),
        b'x' => ('\0', 2),
        b'u' => ('\0', 4),
        b'U' => ('\0', 8),
        _ => return None,
    })
}
