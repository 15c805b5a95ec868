//! Calls that read data in Ruby code and ERB templates. There is no parser: the text is searched
//! for the names by which Ruby calls functions of Puppet.

pub(super) mod blocks;
mod function;
pub(super) mod tokens;

pub use function::parse_ruby_function;

use super::model::{
    AskedMerge, AskedStrategy, CallForm, Excerpt, Literal, ReaderCall, ReaderFunction, TextPattern,
    TextPiece,
};
use super::strings::single_end;
use crate::text::TextRange;

/// Finds the calls of `call_function('lookup', …)` and of the older `function_hiera([…])` in a
/// text.
///
/// Arguments are read as far as they are literals; a computed key leaves `keys` empty, and a
/// computed strategy is [`AskedStrategy::Unknown`].
pub fn parse_ruby_calls(text: &str) -> Vec<ReaderCall> {
    let mut readers = Vec::new();
    let mut from = 0;
    while let Some(found) = text[from..].find("function") {
        let at = from + found;
        from = at + "function".len();
        readers.extend(call_at(text, at));
    }
    readers
}

/// Reads the call at the word `function` at a place.
fn call_at(text: &str, at: usize) -> Option<ReaderCall> {
    let mut cursor = Cursor { text, at: at + "function".len() };
    if text[..at].ends_with("call_") {
        let start = at - "call_".len();
        if !cursor.is_word_end() {
            return None;
        }
        cursor.skip_blanks();
        cursor.skip("(");
        cursor.skip_blanks();
        let (name, range) = cursor.read_name()?;
        let function = ReaderFunction::from_name(name)?;
        cursor.skip_blanks();
        if !cursor.skip(",") {
            return None;
        }
        return Some(read_reader(&mut cursor, function, start, range));
    }
    if !text[..at].ends_with('.') || !cursor.skip("_") {
        return None;
    }
    let name_start = cursor.at;
    let function = ReaderFunction::from_name(cursor.read_word())?;
    let range = TextRange::from_usize(name_start..cursor.at);
    cursor.skip_blanks();
    cursor.skip("(");
    Some(read_reader(&mut cursor, function, at, range))
}

/// Reads the arguments that begin at the cursor.
fn read_reader(
    cursor: &mut Cursor<'_>,
    function: ReaderFunction,
    start: usize,
    name: TextRange,
) -> ReaderCall {
    cursor.skip_blanks();
    cursor.skip("[");
    let arguments = cursor.read_arguments();
    let own = function.own_strategy().map(|strategy| AskedMerge {
        range: name,
        strategy: AskedStrategy::Literal(Literal::String(strategy.to_owned())),
    });
    let is_lookup = function == ReaderFunction::Lookup;
    let default = arguments.get(if is_lookup { 3 } else { 1 });
    let merge = arguments.get(2).filter(|_| is_lookup).filter(|one| !one.is_nil());
    ReaderCall {
        function,
        form: CallForm::Ruby,
        range: TextRange::from_usize(start..cursor.at),
        keys: arguments.first().and_then(|key| key.parse_pattern()).map(|key| vec![key]),
        value_type: arguments
            .get(1)
            .filter(|one| is_lookup && !one.is_nil())
            .map(RubyArgument::excerpt),
        merge: merge.map(RubyArgument::merge_strategy).or(own),
        default: default.map(RubyArgument::excerpt),
        default_value: default.and_then(RubyArgument::literal_value),
        other_default: false,
        has_override: !is_lookup && arguments.len() > 2,
        includes: function == ReaderFunction::HieraInclude,
        is_wrapped: false,
        definition: None,
    }
}

/// An argument as written.
struct RubyArgument<'t> {
    text: &'t str,
    start: usize,
}

impl RubyArgument<'_> {
    fn range(&self) -> TextRange {
        TextRange::from_usize(self.start..self.start + self.text.len())
    }

    fn excerpt(&self) -> Excerpt {
        Excerpt { range: self.range(), text: self.text.to_owned() }
    }

    fn is_nil(&self) -> bool {
        matches!(self.text, "nil" | ":undef" | "undef")
    }

    fn merge_strategy(&self) -> AskedMerge {
        let strategy = self.literal_value().map_or(AskedStrategy::Unknown, AskedStrategy::Literal);
        AskedMerge { range: self.range(), strategy }
    }

    /// Reads the string, with a hole for each interpolation; a string to which something is added
    /// has a hole at its end. `None` for other arguments.
    fn parse_pattern(&self) -> Option<TextPattern> {
        let quote = self.text.bytes().next().filter(|byte| matches!(byte, b'\'' | b'"'))?;
        let end = quoted_end(self.text.as_bytes(), quote)?;
        let content = &self.text[1..end - 1];
        let mut pieces = Vec::new();
        if quote == b'"' {
            split_interpolation(content, &mut pieces);
        } else {
            pieces.push(TextPiece::Text(content.replace("\\'", "'").replace("\\\\", "\\")));
        }
        let rest = self.text[end..].trim_start();
        if rest.starts_with('+') {
            pieces.push(TextPiece::Hole(None));
        } else if !rest.is_empty() {
            return None;
        }
        Some(TextPattern { range: self.range(), pieces, resolved: false })
    }

    fn literal_value(&self) -> Option<Literal> {
        if let Some(pattern) = self.parse_pattern() {
            return pattern.literal_text().map(|text| Literal::String(text.to_owned()));
        }
        Some(match self.text {
            "true" => Literal::Boolean(true),
            "false" => Literal::Boolean(false),
            "nil" | ":undef" => Literal::Undef,
            "[]" => Literal::List(Vec::new()),
            "{}" => Literal::Hash(Vec::new()),
            text => match text.strip_prefix(':') {
                Some(symbol) if symbol.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => {
                    Literal::String(symbol.to_owned())
                }
                _ => Literal::Integer(text.parse().ok()?),
            },
        })
    }
}

/// Cuts the content of a double-quoted string at `#{…}`.
fn split_interpolation(content: &str, pieces: &mut Vec<TextPiece>) {
    let mut rest = content;
    while let Some(hole) = rest.find("#{") {
        if hole > 0 {
            pieces.push(TextPiece::Text(rest[..hole].to_owned()));
        }
        let inner = &rest[hole + 2..];
        let end = inner.find('}').unwrap_or(inner.len());
        let name = inner[..end].trim().trim_start_matches('@');
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        pieces.push(TextPiece::Hole((is_name && !name.is_empty()).then(|| name.to_owned())));
        rest = inner.get(end + 1..).unwrap_or_default();
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(TextPiece::Text(rest.to_owned()));
    }
}

/// Returns the byte behind the string that begins at the first byte.
fn quoted_end(bytes: &[u8], quote: u8) -> Option<usize> {
    if quote == b'\'' {
        return single_end(bytes, 1).0;
    }
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// A place in the text.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn skip(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn is_word_end(&self) -> bool {
        !self.rest().starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    }

    fn read_word(&mut self) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        let word = &rest[..length.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Reads `'lookup'`, `"lookup"` or `:lookup`: the name and its bytes.
    fn read_name(&mut self) -> Option<(&'t str, TextRange)> {
        let quote = self.rest().chars().next().filter(|c| matches!(c, '\'' | '"' | ':'))?;
        self.at += 1;
        let start = self.at;
        let name = self.read_word();
        let range = TextRange::from_usize(start..self.at);
        if quote != ':' && !self.skip(&quote.to_string()) {
            return None;
        }
        Some((name, range))
    }

    /// Reads the arguments up to the bracket that closes them, or the end of a call without
    /// brackets.
    fn read_arguments(&mut self) -> Vec<RubyArgument<'t>> {
        let mut arguments = Vec::new();
        loop {
            self.skip_blanks();
            let start = self.at;
            let goes_on = self.skip_argument();
            let text = self.text[start..self.at].trim_end();
            if !text.is_empty() {
                arguments.push(RubyArgument { text, start });
            }
            if !goes_on || !self.skip(",") {
                return arguments;
            }
        }
    }

    /// Goes to the end of an argument; whether a comma follows.
    fn skip_argument(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while self.at < bytes.len() {
            match bytes[self.at] {
                quote @ (b'\'' | b'"') => match quoted_end(&bytes[self.at..], quote) {
                    Some(length) => {
                        self.at += length;
                        continue;
                    }
                    None => return false,
                },
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => return false,
                b')' | b']' | b'}' => depth -= 1,
                b',' if depth == 0 => return true,
                b'\n'
                    if depth == 0
                        && !self.text[..self.at].trim_end().ends_with(['(', '[', ',']) =>
                {
                    return false;
                }
                b'%' if bytes[self.at..].starts_with(b"%>") => return false,
                _ => {}
            }
            self.at += 1;
        }
        false
    }
}
