//! Anchors, aliases, tags and directives.

use super::{Result, Scanner, TagDirective, TagName, Token, TokenKind, is_word};

impl Scanner<'_> {
    pub(super) fn fetch_anchor(&mut self, indicator: u8) -> Result<()> {
        self.save_key()?;
        self.simple_key_allowed = false;
        let start = self.pos;
        self.pos += 1;
        while self.peek_byte(0).is_some_and(is_word) {
            self.pos += 1;
        }
        let ended = self.is_blank_or_end(self.pos)
            || matches!(
                self.peek_byte(0),
                Some(b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`')
            );
        if self.pos == start + 1 || !ended {
            let context = if indicator == b'&' {
                "while scanning an anchor"
            } else {
                "while scanning an alias"
            };
            return Err(self.new_error(
                Some(context),
                start,
                "did not find expected alphabetic or numeric character",
            ));
        }
        self.push(if indicator == b'&' { TokenKind::Anchor } else { TokenKind::Alias }, start);
        Ok(())
    }

    pub(super) fn fetch_directive(&mut self) -> Result<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.simple_key_allowed = false;
        let context = Some("while scanning a directive");
        let start = self.pos;
        self.pos += 1;
        while self.peek_byte(0).is_some_and(is_word) {
            self.pos += 1;
        }
        let name = &self.text[start + 1..self.pos];
        if name.is_empty() {
            return Err(self.new_error(context, start, "could not find expected directive name"));
        }
        if !self.is_blank_or_end(self.pos) {
            return Err(self.new_error(
                context,
                start,
                "found unexpected non-alphabetical character",
            ));
        }
        let kind = match name {
            "YAML" => self.scan_version(start)?,
            "TAG" => self.scan_tag_directive(start)?,
            _ => return Err(self.new_error(context, start, "found unknown directive name")),
        };
        let end = self.pos;
        self.end_line(context, start)?;
        self.tokens.push_back(Token { kind, start: start as u32, end: end as u32 });
        Ok(())
    }

    fn scan_version(&mut self, start: usize) -> Result<TokenKind> {
        self.skip_blanks();
        let major = self.scan_version_number(start)?;
        if self.peek_byte(0) != Some(b'.') {
            let context = Some("while scanning a %YAML directive");
            return Err(self.new_error(
                context,
                start,
                "did not find expected digit or '.' character",
            ));
        }
        self.pos += 1;
        let minor = self.scan_version_number(start)?;
        Ok(TokenKind::VersionDirective { major, minor })
    }

    fn scan_version_number(&mut self, start: usize) -> Result<u32> {
        let context = Some("while scanning a %YAML directive");
        let first = self.pos;
        let mut value = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek_byte(0) {
            if self.pos - first == 9 {
                return Err(self.new_error(context, start, "found extremely long version number"));
            }
            value = value * 10 + u32::from(digit - b'0');
            self.pos += 1;
        }
        if self.pos == first {
            return Err(self.new_error(context, start, "did not find expected version number"));
        }
        Ok(value)
    }

    fn scan_tag_directive(&mut self, start: usize) -> Result<TokenKind> {
        let context = Some("while scanning a %TAG directive");
        self.skip_blanks();
        let handle = self.scan_tag_handle(true, start)?;
        if !matches!(self.peek_byte(0), Some(b' ' | b'\t')) {
            return Err(self.new_error(context, start, "did not find expected whitespace"));
        }
        self.skip_blanks();
        let prefix = self.scan_tag_uri(true, true, "", start)?;
        if !self.is_blank_or_end(self.pos) {
            return Err(self.new_error(
                context,
                start,
                "did not find expected whitespace or line break",
            ));
        }
        Ok(TokenKind::TagDirective(Box::new(TagDirective { handle, prefix })))
    }

    pub(super) fn fetch_tag(&mut self) -> Result<()> {
        self.save_key()?;
        self.simple_key_allowed = false;
        let context = Some("while scanning a tag");
        let start = self.pos;
        let (mut handle, mut suffix);
        if self.peek_byte(1) == Some(b'<') {
            self.pos += 2;
            handle = String::new();
            suffix = self.scan_tag_uri(true, false, "", start)?;
            if self.peek_byte(0) != Some(b'>') {
                return Err(self.new_error(context, start, "did not find the expected '>'"));
            }
            self.pos += 1;
        } else {
            handle = self.scan_tag_handle(false, start)?;
            if handle.len() > 1 && handle.ends_with('!') {
                suffix = self.scan_tag_uri(false, false, "", start)?;
            } else {
                suffix = self.scan_tag_uri(false, false, &handle, start)?;
                handle = "!".to_owned();
                if suffix.is_empty() {
                    std::mem::swap(&mut handle, &mut suffix);
                }
            }
        }
        let comma = self.flow_level > 0 && self.peek_byte(0) == Some(b',');
        if !comma && !self.is_blank_or_end(self.pos) {
            return Err(self.new_error(
                context,
                start,
                "did not find expected whitespace or line break",
            ));
        }
        self.push(TokenKind::Tag(Box::new(TagName { handle, suffix })), start);
        Ok(())
    }

    fn scan_tag_handle(&mut self, directive: bool, start: usize) -> Result<String> {
        let context =
            Some(if directive { "while scanning a tag directive" } else { "while scanning a tag" });
        if self.peek_byte(0) != Some(b'!') {
            return Err(self.new_error(context, start, "did not find expected '!'"));
        }
        let first = self.pos;
        self.pos += 1;
        while self.peek_byte(0).is_some_and(is_word) {
            self.pos += 1;
        }
        if self.peek_byte(0) == Some(b'!') {
            self.pos += 1;
        } else if directive && self.pos > first + 1 {
            return Err(self.new_error(
                Some("while parsing a tag directive"),
                start,
                "did not find expected '!'",
            ));
        }
        Ok(self.text[first..self.pos].to_owned())
    }

    /// Reads the characters of a tag behind `head`, whose leading `!` is left out.
    fn scan_tag_uri(
        &mut self,
        verbatim: bool,
        directive: bool,
        head: &str,
        start: usize,
    ) -> Result<String> {
        let context =
            Some(if directive { "while parsing a %TAG directive" } else { "while parsing a tag" });
        let mut uri = head.as_bytes().get(1..).unwrap_or_default().to_vec();
        let mut empty = head.is_empty();
        while let Some(byte) = self.peek_byte(0) {
            match byte {
                b'%' => self.scan_uri_escape(context, start, &mut uri)?,
                b';' | b'/' | b'?' | b':' | b'@' | b'&' | b'=' | b'+' | b'$' | b'.' | b'!'
                | b'~' | b'*' | b'\'' | b'(' | b')' => {
                    uri.push(byte);
                    self.pos += 1;
                }
                b',' | b'[' | b']' if verbatim => {
                    uri.push(byte);
                    self.pos += 1;
                }
                byte if is_word(byte) => {
                    uri.push(byte);
                    self.pos += 1;
                }
                _ => break,
            }
            empty = false;
        }
        if empty {
            return Err(self.new_error(context, start, "did not find expected tag URI"));
        }
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    /// One character written as `%XX` for each of its UTF-8 bytes.
    fn scan_uri_escape(
        &mut self,
        context: Option<&str>,
        start: usize,
        uri: &mut Vec<u8>,
    ) -> Result<()> {
        let mut left = 0;
        loop {
            let (Some(b'%'), Some(high), Some(low)) =
                (self.peek_byte(0), self.digit_at(1), self.digit_at(2))
            else {
                return Err(self.new_error(context, start, "did not find URI escaped octet"));
            };
            let octet = (high * 16 + low) as u8;
            if left == 0 {
                left = match octet {
                    0..=0x7F => 1,
                    0xC0..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF7 => 4,
                    _ => {
                        return Err(self.new_error(
                            context,
                            start,
                            "found an incorrect leading UTF-8 octet",
                        ));
                    }
                };
            } else if octet & 0xC0 != 0x80 {
                return Err(self.new_error(
                    context,
                    start,
                    "found an incorrect trailing UTF-8 octet",
                ));
            }
            uri.push(octet);
            self.pos += 3;
            left -= 1;
            if left == 0 {
                return Ok(());
            }
        }
    }

    fn digit_at(&self, at: usize) -> Option<u32> {
        self.peek_byte(at).and_then(|byte| (byte as char).to_digit(16))
    }
}
