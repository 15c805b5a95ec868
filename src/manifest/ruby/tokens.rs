//! Ruby as tokens, as far as blocks and literals need it. Code whose meaning in Ruby differs from
//! its characters (interpolation, regexes, heredocs, `%w`) is [`Token::Other`], and no literal.

use crate::manifest::model::Literal;
use crate::manifest::strings::single_end;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::manifest) enum Token {
    /// A name or keyword.
    Word(String),
    /// A string without interpolation.
    Text(String),
    /// `:name` or `:'name'`.
    Symbol(String),
    /// `name:` or `'name':`, the key of a hash.
    Label(String),
    /// An integer or a float.
    Number(Literal),
    /// `=>`
    Arrow,
    /// One character.
    Mark(char),
    /// The end of one line or several.
    Line,
    /// Anything else.
    Other,
}

impl Token {
    pub(in crate::manifest) fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(found) if found == word)
    }
}

/// Reads the tokens of a text.
pub(in crate::manifest) fn lex_tokens(text: &str) -> Vec<Token> {
    tokens_with_starts(text).0
}

/// Reads the tokens of a text, and the byte at which each begins.
pub(super) fn tokens_with_starts(text: &str) -> (Vec<Token>, Vec<usize>) {
    let mut lexer = Lexer { text, at: 0, found: Vec::new() };
    let mut starts = Vec::new();
    while lexer.at < text.len() {
        let start = lexer.at;
        lexer.lex_next();
        starts.resize(lexer.found.len(), start);
    }
    (lexer.found, starts)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    found: Vec<Token>,
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn push(&mut self, token: Token, length: usize) {
        self.found.push(token);
        self.at += length;
    }

    fn lex_next(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        let starts_line = matches!(self.found.last(), None | Some(Token::Line));
        match first {
            '\n' => {
                if !starts_line {
                    self.found.push(Token::Line);
                }
                self.at += 1;
                if self.rest().starts_with("=begin") {
                    let end = self.rest().find("\n=end").map_or(self.rest().len(), |at| at + 5);
                    self.at += end;
                }
            }
            '#' => self.at += rest.find('\n').unwrap_or(rest.len()),
            '\\' if rest[1..].starts_with('\n') => self.at += 2,
            c if c.is_whitespace() => self.at += c.len_utf8(),
            '\'' | '"' => self.lex_string(first, 0),
            ':' if rest.starts_with("::") => self.push(Token::Other, 2),
            ':' if rest[1..].starts_with(['\'', '"']) => {
                let quote = if rest[1..].starts_with('"') { '"' } else { '\'' };
                self.lex_string(quote, 1);
                if let Some(Token::Text(text)) = self.found.last_mut() {
                    let text = std::mem::take(text);
                    self.found.pop();
                    self.found.push(Token::Symbol(text));
                }
            }
            ':' if rest[1..].starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                let length = rest[1..].find(|c| !is_name(c)).unwrap_or(rest.len() - 1);
                self.push(Token::Symbol(rest[1..=length].to_owned()), 1 + length);
            }
            '=' if rest.starts_with("=>") => self.push(Token::Arrow, 2),
            '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.lex_number(1),
            c if c.is_ascii_digit() => self.lex_number(0),
            c if c.is_alphabetic() || c == '_' => self.lex_word(),
            '<' if rest.starts_with("<<~") || rest.starts_with("<<-") => self.lex_heredoc(),
            '%' if rest[1..].starts_with(['w', 'i', 'q', 'Q', 'r']) => self.lex_percent(),
            '/' if self.is_value_next() => {
                let end = rest[1..].find(['/', '\n']).map_or(rest.len(), |at| at + 2);
                self.push(Token::Other, end.min(rest.len()));
            }
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | '.' | ';' | '=' => {
                self.push(Token::Mark(first), 1);
            }
            c => self.push(Token::Other, c.len_utf8()),
        }
    }

    /// Whether a value may follow, so that a slash begins a regex.
    fn is_value_next(&self) -> bool {
        !matches!(
            self.found.last(),
            Some(Token::Word(_) | Token::Text(_) | Token::Number(_) | Token::Mark(')' | ']' | '}'))
        )
    }

    /// The string whose quote stands `before` bytes behind here.
    fn lex_string(&mut self, quote: char, before: usize) {
        let rest = &self.rest()[before..];
        let bytes = rest.as_bytes();
        let end = if quote == '\'' { single_end(bytes, 1).0 } else { double_end(bytes) };
        let Some(end) = end else {
            return self.push(Token::Other, before + rest.len());
        };
        let content = &rest[1..end - 1];
        let token = if quote == '\'' {
            Token::Text(content.replace("\\'", "'").replace("\\\\", "\\"))
        } else if content.contains(['\\', '#']) {
            Token::Other
        } else {
            Token::Text(content.to_owned())
        };
        let is_label = rest[end..].starts_with(':') && !rest[end..].starts_with("::");
        match token {
            Token::Text(text) if is_label => self.push(Token::Label(text), before + end + 1),
            token => self.push(token, before + end),
        }
    }

    fn lex_number(&mut self, sign: usize) {
        let rest = self.rest();
        let mut end = digits_end(sign, rest);
        let is_float = rest[end..].starts_with('.')
            && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit());
        if is_float {
            end = digits_end(end + 1, rest);
        }
        let text = rest[..end].replace('_', "");
        let goes_on = rest[end..].starts_with(is_name);
        let is_octal = text.trim_start_matches('-').len() > 1
            && text.trim_start_matches('-').starts_with('0')
            && !is_float;
        let literal = if goes_on || is_octal {
            None
        } else if is_float {
            text.parse().ok().map(Literal::Float)
        } else {
            text.parse().ok().map(Literal::Integer)
        };
        self.push(literal.map_or(Token::Other, Token::Number), end);
    }

    fn lex_word(&mut self) {
        let rest = self.rest();
        let mut end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let is_label = rest[end..].starts_with(':') && !rest[end..].starts_with("::");
        if is_label {
            return self.push(Token::Label(rest[..end].to_owned()), end + 1);
        }
        if rest[end..].starts_with(['?', '!']) && !rest[end + 1..].starts_with('=') {
            end += 1;
        }
        self.push(Token::Word(rest[..end].to_owned()), end);
    }

    /// A heredoc: to the line that ends it.
    fn lex_heredoc(&mut self) {
        let rest = self.rest();
        let name = rest[3..].trim_start_matches(['\'', '"']);
        let name = &name[..name.find(|c| !is_name(c)).unwrap_or(name.len())];
        if name.is_empty() {
            return self.push(Token::Other, 3);
        }
        let line = rest.find('\n').unwrap_or(rest.len());
        let mut end = line;
        for one in rest[line..].split_inclusive('\n') {
            end += one.len();
            if one.trim() == name {
                break;
            }
        }
        // The rest of the heredoc's first line is left out, which can only make the text
        // unbalanced.
        self.found.push(Token::Other);
        self.push(Token::Line, end);
    }

    fn lex_percent(&mut self) {
        let rest = self.rest();
        let open = rest[2..].chars().next();
        let close = match open {
            Some('(') => ')',
            Some('[') => ']',
            Some('{') => '}',
            Some('<') => '>',
            Some(c @ ('|' | '!')) => c,
            _ => return self.push(Token::Other, 1),
        };
        let end = rest[3..].find(close).map_or(rest.len(), |at| at + 4);
        self.push(Token::Other, end);
    }
}

fn digits_end(from: usize, rest: &str) -> usize {
    rest[from..]
        .find(|c: char| !(c.is_ascii_digit() || c == '_'))
        .map_or(rest.len(), |at| from + at)
}

/// Returns the byte behind the closing quote of a double-quoted string.
fn double_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    let mut depth = 0_usize;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'#' if bytes.get(at + 1) == Some(&b'{') => {
                depth += 1;
                at += 1;
            }
            b'}' if depth > 0 => depth -= 1,
            b'"' if depth == 0 => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}
