//! The parts of one line of block YAML: dashes, a key, the beginning of a value.

/// A key of a hash on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineKey {
    /// The key's text, without quotes.
    pub(super) text: String,
    /// The first byte of the value of the key, or the end of the line.
    pub(super) value: usize,
}

/// Returns the lines of a text without their ends. An end of the text ends no line.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').flat_map(|line| {
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line).split('\r')
    })
}

/// Whether a line begins or ends a document.
pub(super) fn is_marker(line: &str) -> bool {
    (line.starts_with("---") || line.starts_with("..."))
        && line[3..].chars().next().is_none_or(char::is_whitespace)
}

/// Returns the number of bytes from a dash that begins an element to the content behind it; `None`
/// where there is no such dash. A dash at the end of the text counts if the line ends there
/// (`is_whole`).
pub(super) fn dash_length(text: &str, is_whole: bool) -> Option<usize> {
    let rest = text.strip_prefix('-')?;
    let content = rest.trim_start_matches([' ', '\t']);
    (rest.is_empty() && is_whole || content.len() < rest.len()).then(|| text.len() - content.len())
}

/// Returns the key that a text begins with. A colon at the end of the text ends a key if the line
/// ends there (`is_whole`).
pub(super) fn key_at(text: &str, is_whole: bool) -> Option<LineKey> {
    let start = properties_length(text);
    let (key, colon) = match text[start..].chars().next()? {
        quote @ ('"' | '\'') => {
            let end = start + string_end(&text[start..])?;
            let colon = end + text[end..].find(|c| c != ' ')?;
            let is_key = text[colon..].starts_with(':') && ends_key(colon, is_whole, text);
            let key = is_key.then(|| unquote(&text[start + 1..end - 1], quote))?;
            (key, colon)
        }
        '[' | '{' | '|' | '>' | '#' | '%' | '@' | '`' | ']' | '}' | ',' => return None,
        _ => {
            let mut colons = text[start..].match_indices(':').map(|(at, _)| start + at);
            let colon = colons.find(|at| ends_key(*at, is_whole, text))?;
            let key = &text[start..colon];
            if key.contains(" #") {
                return None;
            }
            (key.trim_end().to_owned(), colon)
        }
    };
    let value = &text[colon + 1..];
    let blanks = value.len() - value.trim_start_matches([' ', '\t']).len();
    Some(LineKey { text: key, value: colon + 1 + blanks })
}

fn ends_key(at: usize, is_whole: bool, text: &str) -> bool {
    match text[at + 1..].chars().next() {
        None => is_whole,
        Some(next) => next == ' ' || next == '\t',
    }
}

/// Returns the number of bytes of anchors and tags, with the blanks behind them, that a text begins
/// with.
pub(super) fn properties_length(text: &str) -> usize {
    let mut at = 0;
    while text[at..].starts_with(['&', '!']) {
        let Some(end) = text[at..].find(' ') else { return at };
        let rest = text[at + end..].trim_start_matches(' ');
        at = text.len() - rest.len();
    }
    at
}

/// Returns the end of the quoted string that a text begins with, its closing quote included; `None`
/// for one that is not closed.
pub(super) fn string_end(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    string_end_from(text, 1, quote)
}

/// Returns the end of a string from byte `from` within it.
pub(super) fn string_end_from(text: &str, from: usize, quote: char) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match (byte, quote) {
            (b'\\', '"') => at += 2,
            (b'\'', '\'') if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            (b'"', '"') | (b'\'', '\'') => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Returns the text of a quoted string, good enough to compare it with keys.
fn unquote(text: &str, quote: char) -> String {
    match quote {
        '\'' => text.replace("''", "'"),
        _ => serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned()),
    }
}
