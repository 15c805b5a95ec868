//! A text as tokens. Source: `Tokenizer` of hocon 1.3.1.

use super::path;
use super::token::{Kind, Token};
use crate::text::TextRange;

/// Returns the tokens of a text; the last one is [`Kind::End`], or [`Kind::Bad`].
pub(super) fn lex_tokens(text: &str) -> Vec<Token> {
    let mut scanner = Scanner { text, pos: 0 };
    let mut found: Vec<Token> = Vec::new();
    loop {
        let token = scanner.next_into(&mut found);
        let is_last = matches!(token.kind, Kind::End | Kind::Bad(..));
        found.push(token);
        if is_last {
            return found;
        }
    }
}

struct Scanner<'t> {
    text: &'t str,
    pos: usize,
}

const RESERVED: &str = "$\"{}[]:=,+#`^?!@*&\\";

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.pos..].chars().next()
    }

    fn rest(&self) -> &str {
        &self.text[self.pos..]
    }

    fn range_from(&self, start: usize) -> TextRange {
        TextRange::from_usize(start..self.pos)
    }

    fn bad_token(&self, start: usize, reason: impl Into<String>) -> Token {
        let len = self.text[start..].chars().next().map_or(0, char::len_utf8);
        Token {
            kind: Kind::Bad(reason.into(), None),
            range: TextRange::from_usize(start..self.pos.max(start + len)),
        }
    }

    /// Returns a bad token for text that the library's lexer accepts and its parser refuses.
    fn bad_in_words(&self, start: usize, reason: &str, token: String, words: String) -> Token {
        Token {
            kind: Kind::Bad(reason.to_owned(), Some(Box::new((token, words)))),
            ..self.bad_token(start, "")
        }
    }

    /// A `+` where none may be; the library leaves a blank out.
    fn bad_plus(&self, at: usize) -> Token {
        let reason = "Reserved character '+' is not allowed outside quotes";
        self.bad_in_words(at, reason, "+".into(), reason.replacen("' is", "'is", 1))
    }

    fn is_comment(&self) -> bool {
        self.rest().starts_with('#') || self.rest().starts_with("//")
    }

    /// Reads the next token; white space before it that counts is added to `found`.
    fn next_into(&mut self, found: &mut Vec<Token>) -> Token {
        let start = self.pos;
        while self.peek().is_some_and(|c| c.is_whitespace() && c != '\n') {
            self.pos += self.peek().map_or(0, char::len_utf8);
        }
        let blank = self.range_from(start);
        let token = self.lex_token();
        if !blank.is_empty()
            && token.is_simple_value()
            && found.last().is_some_and(Token::is_simple_value)
        {
            found.push(Token { kind: Kind::Unquoted, range: blank });
        }
        token
    }

    fn lex_token(&mut self) -> Token {
        let start = self.pos;
        let Some(c) = self.peek() else {
            return Token { kind: Kind::End, range: self.range_from(start) };
        };
        if self.is_comment() {
            self.pos += self.rest().find('\n').unwrap_or(self.rest().len());
            return Token { kind: Kind::Comment, range: self.range_from(start) };
        }
        let kind = match c {
            '\n' => Kind::Newline,
            '"' => return self.lex_quoted(),
            '$' => return self.lex_substitution(),
            ':' | ',' | '=' | '{' | '}' | '[' | ']' => Kind::Mark(c as u8),
            '+' if self.rest().starts_with("+=") => {
                self.pos += 1;
                Kind::PlusEquals
            }
            '0'..='9' | '-' => return self.lex_number(),
            '+' => {
                let next = self.text[start + 1..]
                    .chars()
                    .next()
                    .map_or_else(|| "-1".to_owned(), String::from);
                let words = format!("'+' not followed by =, '{next}' not allowed after '+'");
                return self.bad_in_words(
                    start,
                    "Reserved character '+' is not allowed outside quotes",
                    next,
                    words,
                );
            }
            _ if RESERVED.contains(c) => {
                let reason = format!("Reserved character '{c}' is not allowed outside quotes");
                return self.bad_in_words(start, &reason, c.into(), reason.clone());
            }
            _ => return self.lex_unquoted(),
        };
        self.pos += 1;
        Token { kind, range: self.range_from(start) }
    }

    fn lex_number(&mut self) -> Token {
        let start = self.pos;
        self.pos += 1 + self.rest()[1..]
            .bytes()
            .take_while(|byte| b"0123456789eE+-.".contains(byte))
            .count();
        let text = &self.text[start..self.pos];
        if is_number(text) {
            if text.contains(['e', 'E']) && text.parse().is_ok_and(f64::is_infinite) {
                return self.bad_token(start, "a number is greater than Ruby can hold");
            }
            return Token { kind: Kind::Literal, range: self.range_from(start) };
        }
        match text.find('+') {
            Some(at) => self.bad_plus(start + at),
            None => Token { kind: Kind::Unquoted, range: self.range_from(start) },
        }
    }

    fn lex_unquoted(&mut self) -> Token {
        let start = self.pos;
        while let Some(c) = self.peek() {
            if RESERVED.contains(c) || c.is_whitespace() || self.is_comment() {
                break;
            }
            self.pos += c.len_utf8();
            if matches!(&self.text[start..self.pos], "true" | "null" | "false") {
                return Token { kind: Kind::Literal, range: self.range_from(start) };
            }
        }
        Token { kind: Kind::Unquoted, range: self.range_from(start) }
    }

    fn lex_quoted(&mut self) -> Token {
        let start = self.pos;
        if self.rest().starts_with("\"\"\"") {
            return self.triple_quoted();
        }
        self.pos += 1;
        let mut text = String::new();
        loop {
            let at = self.pos;
            match self.peek() {
                None => {
                    let reason = "End of input but string quote was still open";
                    return self.bad_in_words(start, reason, "-1".into(), reason.into());
                }
                Some('"') => break,
                Some('\\') => match escape(self.rest()) {
                    Some((decoded, len)) => {
                        text.push(decoded);
                        self.pos += len;
                    }
                    None => {
                        return self.bad_token(
                            at,
                            "a backslash is followed by what is no escape sequence",
                        );
                    }
                },
                Some(c) if c.is_control() => {
                    let reason =
                        "JSON does not allow unescaped control characters in quoted strings";
                    let words = format!(
                        "JSON does not allow unescaped {c} in quoted strings, use a backslash escape"
                    );
                    return self.bad_in_words(at, reason, c.into(), words);
                }
                Some(c) => {
                    text.push(c);
                    self.pos += c.len_utf8();
                }
            }
        }
        self.pos += 1;
        Token { kind: Kind::Quoted(text), range: self.range_from(start) }
    }

    /// All quotes but the last three of those that end the string are its own.
    fn triple_quoted(&mut self) -> Token {
        let start = self.pos;
        let inner = start + 3;
        let Some(end) = self.text[inner..].find("\"\"\"").map(|at| inner + at) else {
            self.pos = self.text.len();
            let reason = "End of input but triple-quoted string was still open";
            return self.bad_in_words(start, reason, "-1".into(), reason.into());
        };
        let quotes = self.text[end..].bytes().take_while(|byte| *byte == b'"').count();
        self.pos = end + quotes;
        let text = self.text[inner..self.pos - 3].to_owned();
        Token { kind: Kind::Quoted(text), range: self.range_from(start) }
    }

    fn lex_substitution(&mut self) -> Token {
        let start = self.pos;
        if !self.rest().starts_with("${") {
            self.pos += 1;
            let next = self.peek().map_or_else(|| "-1".to_owned(), String::from);
            let words = format!("'$' not followed by {{, '{next}' not allowed after '$'");
            return self.bad_in_words(start, "'$' not followed by {", next, words);
        }
        let optional = self.rest().starts_with("${?");
        self.pos += if optional { 3 } else { 2 };
        let mut inner = Vec::new();
        loop {
            // A substitution within another is never right, and a thousand nested substitutions
            // would be a thousand nested calls.
            if self.rest().trim_start().starts_with('$') {
                return self.bad_token(start, "Token not allowed in path expression");
            }
            let token = self.next_into(&mut inner);
            match token.kind {
                Kind::Mark(b'}') => break,
                Kind::End => {
                    let reason = "Substitution ${ was not closed with a }";
                    return self.bad_in_words(start, reason, "end of file".into(), reason.into());
                }
                Kind::Bad(..) => return token,
                Kind::Mark(b'{') => return self.bad_token(start, path::not_allowed("{")),
                _ => inner.push(token),
            }
        }
        match path::parse_segments(self.text, &inner) {
            Ok(path) => {
                Token { kind: Kind::Substitution { path, optional }, range: self.range_from(start) }
            }
            Err(reason) => self.bad_token(start, reason.to_string()),
        }
    }
}

/// Whether Ruby's `Integer()` or `Float()` takes the text, whichever is asked.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if !text.contains(['.', 'e', 'E']) {
        // A zero before other digits makes the number octal.
        return are_digits(unsigned)
            && (unsigned.len() == 1
                || !unsigned.starts_with('0')
                || !unsigned.contains(['8', '9']));
    }
    let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((digits, exponent)) => {
            (digits, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
        }
        None => (unsigned, None),
    };
    let digits_are_right = match digits.split_once('.') {
        Some((whole, fraction)) => are_digits(whole) && are_digits(fraction),
        None => are_digits(digits),
    };
    digits_are_right && exponent.is_none_or(are_digits)
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the character that the escape at the start of `text` stands for, and its length.
/// Surrogates, which Ruby makes broken text of, are U+FFFD.
fn escape(text: &str) -> Option<(char, usize)> {
    let decoded = match text[1..].chars().next()? {
        'u' => {
            // Ruby takes any other character than a hexadecimal digit for the end of the number.
            let digits = text.get(2..6)?;
            let hex: String = digits.chars().take_while(char::is_ascii_hexdigit).collect();
            let code = u32::from_str_radix(&hex, 16).unwrap_or(0);
            return Some((char::from_u32(code).unwrap_or('\u{fffd}'), 6));
        }
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        c @ ('"' | '\\' | '/') => c,
        _ => return None,
    };
    Some((decoded, 2))
}
