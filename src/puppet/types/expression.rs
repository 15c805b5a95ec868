//! The text of a type as an expression, before its names are given a meaning. Source: Puppet's
//! grammar, as far as types need it.

use std::fmt;

use crate::puppet::escapes::{decode_escape, is_blank};

/// Why a text is no type, in Puppet's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSyntaxError(pub String);

impl fmt::Display for TypeSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TypeSyntaxError {}

/// Parses the text as an expression, before its names are given a meaning.
pub(super) fn expression(text: &str) -> Result<Expression, TypeSyntaxError> {
    if text.trim_matches(is_blank).is_empty() {
        return Err(invalid_syntax(""));
    }
    let mut reader = TypeReader { text, at: 0, is_too_deep: false };
    let expression = reader.read_expression(0)?;
    let mut is_only = true;
    loop {
        reader.skip_blanks();
        if reader.at == text.len() {
            break;
        }
        // Puppet reads a list of statements, and then refuses any list but one type.
        reader.read_expression(0)?;
        is_only = false;
    }
    if is_only { Ok(expression) } else { Err(invalid_syntax(text.trim_matches(is_blank))) }
}

/// Whether a text nests deeper than is read, so that it may be a type in spite of an error.
pub(super) fn is_too_deep(text: &str) -> bool {
    let mut reader = TypeReader { text, at: 0, is_too_deep: false };
    reader.read_expression(0).is_err() && reader.is_too_deep
}

/// An expression between the brackets of a type.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Type { name: String, parameters: Option<Vec<Expression>>, text: String },
    Text(String),
    Integer(i128),
    Float(f64),
    Bool(bool),
    Regex(String),
    Default,
    Undef,
    List(Vec<Expression>),
    Hash(Vec<(Expression, Expression)>),
}

impl Expression {
    /// Returns the Ruby class of the value; `None` for a type, which has a class of its own.
    pub(super) fn ruby_class(&self) -> Option<&'static str> {
        Some(match self {
            Expression::Type { .. } => return None,
            Expression::Text(_) => "String",
            Expression::Integer(_) => "Integer",
            Expression::Float(_) => "Float",
            Expression::Bool(true) => "TrueClass",
            Expression::Bool(false) => "FalseClass",
            Expression::Regex(_) => "Regexp",
            Expression::Default => "Symbol",
            Expression::Undef => "NilClass",
            Expression::List(_) => "Array",
            Expression::Hash(_) => "Hash",
        })
    }
}

pub(super) fn invalid_syntax(text: &str) -> TypeSyntaxError {
    TypeSyntaxError(format!("The expression <{text}> is not a valid type specification."))
}

/// Reads a number as Puppet writes it: decimal, octal or hexadecimal; a float.
fn number_of(text: &str) -> Option<Expression> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return parse_radix(digits, 16);
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return if text.len() > 1 && text.starts_with('0') {
            parse_radix(text, 8)
        } else {
            parse_radix(text, 10)
        };
    }
    let plain =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E'));
    text.parse().ok().filter(|_| plain).map(Expression::Float)
}

fn parse_radix(digits: &str, radix: u32) -> Option<Expression> {
    i128::from_str_radix(digits, radix).ok().map(Expression::Integer)
}

/// Returns the length of the name of a type at the start of a text; 0 where there is none.
///
/// Source: `Lexer2::PATTERN_CLASSREF`.
fn type_name_len(text: &str) -> usize {
    segments_len(text, |byte| byte.is_ascii_uppercase(), false)
}

/// Returns the length of a word without quotes at the start of a text; 0 where there is none.
///
/// Source: `Lexer2::PATTERN_BARE_WORD`.
fn bare_word_len(text: &str) -> usize {
    segments_len(text, |byte| byte.is_ascii_lowercase() || byte == b'_', true)
}

/// Returns the length of segments at the start of a text, with `::` before and between them. `begins`
/// accepts the first byte of a segment, which hyphens may be inside, but not at its end.
fn segments_len(text: &str, begins: impl Fn(u8) -> bool, has_hyphens: bool) -> usize {
    let mut end = 0;
    loop {
        let start = end + if text[end..].starts_with("::") { 2 } else { 0 };
        let segment = &text[start..];
        if !segment.bytes().next().is_some_and(&begins) {
            return end;
        }
        let len = segment
            .bytes()
            .take_while(|byte| {
                byte.is_ascii_alphanumeric() || *byte == b'_' || has_hyphens && *byte == b'-'
            })
            .count();
        end = start + segment[..len].trim_end_matches('-').len();
    }
}

struct TypeReader<'t> {
    text: &'t str,
    at: usize,
    /// Whether the greatest nesting was reached.
    is_too_deep: bool,
}

/// The maximum nesting of a type that is read.
const MAX_DEPTH: usize = 50;

impl TypeReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) {
        loop {
            self.at += self.rest().len() - self.rest().trim_start_matches(is_blank).len();
            let end = match self.rest() {
                rest if rest.starts_with('#') => rest.find('\n').unwrap_or(rest.len()),
                rest if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
                _ => return,
            };
            self.at += end;
        }
    }

    fn syntax_error(&self) -> TypeSyntaxError {
        let word = self
            .rest()
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(self.rest().len());
        let Some(first) = self.rest().chars().next() else {
            return TypeSyntaxError("Syntax error at end of input".into());
        };
        // Puppet's message shows nothing of a character that begins no token.
        let begins_none = !first.is_ascii()
            || first.is_ascii_control()
            || matches!(first, '^' | '&' | '`' | '\\');
        let token = if begins_none { "" } else { &self.rest()[..word.max(1)] };
        let before = &self.text[..self.at];
        let (line, start) =
            (before.matches('\n').count() + 1, before.rfind('\n').map_or(0, |at| at + 1));
        let column = before[start..].chars().count() + 1;
        TypeSyntaxError(format!("Syntax error at '{token}' (line: {line}, column: {column})"))
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn read_word(&mut self, belongs: impl Fn(char) -> bool) -> String {
        self.read_bytes(self.rest().find(|c| !belongs(c)).unwrap_or(self.rest().len()))
    }

    fn read_bytes(&mut self, len: usize) -> String {
        let word = self.rest()[..len].to_owned();
        self.at += len;
        word
    }

    fn read_expression(&mut self, depth: usize) -> Result<Expression, TypeSyntaxError> {
        self.skip_blanks();
        self.is_too_deep |= depth >= MAX_DEPTH;
        let first = self.rest().chars().next().filter(|_| !self.is_too_deep);
        let first = first.ok_or_else(|| self.syntax_error())?;
        match first {
            '\'' | '"' => {
                self.at += 1;
                let text = self.read_string(first)?;
                Ok(Expression::Text(text))
            }
            '/' => {
                self.at += 1;
                let bytes = self.rest().as_bytes();
                let end = (0..bytes.len())
                    .find(|n| bytes[*n] == b'/' && (*n == 0 || bytes[n - 1] != b'\\'));
                let end = end.ok_or_else(|| self.syntax_error())?;
                let source = self.rest()[..end].replace("\\/", "/");
                self.at += end + 1;
                Ok(Expression::Regex(source))
            }
            '{' => self.hash(depth),
            '[' => {
                self.at += 1;
                Ok(Expression::List(self.read_list("]", depth)?))
            }
            c if c.is_ascii_digit() || c == '-' => {
                self.at += usize::from(c == '-');
                self.skip_blanks();
                let number = self.read_word(|c| c.is_ascii_alphanumeric() || c == '.');
                let number = number_of(&number).ok_or_else(|| self.syntax_error())?;
                Ok(match number {
                    Expression::Integer(number) if c == '-' => Expression::Integer(-number),
                    Expression::Float(number) if c == '-' => Expression::Float(-number),
                    number => number,
                })
            }
            _ if type_name_len(self.rest()) > 0 => {
                let start = self.at;
                let name = self.read_bytes(type_name_len(self.rest()));
                let end = self.at;
                self.skip_blanks();
                let is_apart = self.text[..self.at].ends_with(is_blank);
                // Behind a blank, a bracket begins a list.
                let parameters = if !is_apart && self.take("[") {
                    self.skip_blanks();
                    if self.rest().starts_with(']') {
                        return Err(self.syntax_error());
                    }
                    Some(self.read_list("]", depth)?)
                } else {
                    self.at = end; // blanks behind a name are not its own
                    None
                };
                Ok(Expression::Type {
                    name,
                    parameters,
                    text: self.text[start..self.at].to_owned(),
                })
            }
            _ if bare_word_len(self.rest()) > 0 => {
                let word = self.read_bytes(bare_word_len(self.rest()));
                Ok(match word.as_str() {
                    "true" => Expression::Bool(true),
                    "false" => Expression::Bool(false),
                    "default" => Expression::Default,
                    "undef" => Expression::Undef,
                    _ => Expression::Text(word),
                })
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// Reads a string in quotes. In single ones only the quote and the backslash are escaped.
    fn read_string(&mut self, quote: char) -> Result<String, TypeSyntaxError> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.at += at + 1;
                    return Ok(text);
                }
                '\\' => match chars.next() {
                    Some((_, c)) if c == quote || c == '\\' => text.push(c),
                    Some((at, c)) if quote == '"' => {
                        let (decoded, len) = decode_escape(c, &self.rest()[at..]);
                        text.push_str(&decoded);
                        // `decode_escape` takes ASCII alone behind the first letter: a byte is a character.
                        for _ in c.len_utf8()..len {
                            chars.next();
                        }
                    }
                    Some((_, c)) => text.extend(['\\', c]),
                    None => break,
                },
                c => text.push(c),
            }
        }
        self.at = self.text.len();
        Err(self.syntax_error())
    }

    /// Expressions up to `end`; pairs without braces, which may come last, are a hash.
    fn read_list(&mut self, end: &str, depth: usize) -> Result<Vec<Expression>, TypeSyntaxError> {
        let mut items = Vec::new();
        let mut pairs = Vec::new();
        while !self.take(end) {
            let item = self.read_expression(depth + 1)?;
            if self.take("=>") {
                pairs.push((item, self.read_expression(depth + 1)?));
            } else if pairs.is_empty() {
                items.push(item);
            } else {
                return Err(self.syntax_error());
            }
            if !self.take(",") {
                if !self.take(end) {
                    return Err(self.syntax_error());
                }
                break;
            }
        }
        if !pairs.is_empty() {
            items.push(Expression::Hash(pairs));
        }
        Ok(items)
    }

    fn hash(&mut self, depth: usize) -> Result<Expression, TypeSyntaxError> {
        self.at += 1;
        let mut members = Vec::new();
        while !self.take("}") {
            let key = self.read_expression(depth + 1)?;
            if !self.take("=>") {
                return Err(self.syntax_error());
            }
            members.push((key, self.read_expression(depth + 1)?));
            if !self.take(",") {
                return if self.take("}") {
                    Ok(Expression::Hash(members))
                } else {
                    Err(self.syntax_error())
                };
            }
        }
        Ok(Expression::Hash(members))
    }
}
