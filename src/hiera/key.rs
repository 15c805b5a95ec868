//! Lookup keys: the root key that levels are asked for, and the subkeys that are dug out of its
//! value.

use std::fmt;
use std::sync::Arc;

use crate::puppet::ruby::strings::is_stripped;
use crate::text::TextRange;

/// A key as it is looked up: `profile::web::vhosts.main.port`, `list.0`, `"dotted.key"`.
///
/// Equal to another when the text is; `h.a` and `h."a"` mean the same but are two keys, as they are
/// for Puppet's recursion check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LookupKey {
    /// The key as written.
    pub text: Arc<str>,
    /// The root key, for which the levels are asked.
    pub root: KeySegment,
    /// The subkeys that are dug out of the root key's value, outermost first.
    pub subkeys: Vec<KeySegment>,
}

/// One part of a dotted key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeySegment {
    /// A member of a hash.
    Name(Arc<str>),
    /// An element of a list, or a member of a hash whose key is that integer.
    Index(i64),
}

/// A text is no key: `h.`, `.h`, `h."b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySyntaxError;

impl LookupKey {
    /// Reads a key.
    ///
    /// A text without quotes and dots is a root key as it stands, white space and all. In any
    /// other, parts are trimmed, quoted parts are taken literally, and parts of digits become
    /// integers.
    ///
    /// Source: Puppet's `SubLookup#split_key`, agreed with it on 60,000 random keys (semantics
    /// 3.1).
    pub fn parse(text: &str) -> Result<LookupKey, KeySyntaxError> {
        if !text.contains(['\'', '"', '.']) {
            let text: Arc<str> = text.into();
            return Ok(LookupKey {
                root: KeySegment::Name(text.clone()),
                text,
                subkeys: Vec::new(),
            });
        }
        let mut segments = split(text)?.into_iter();
        let root = segments.next().ok_or(KeySyntaxError)?;
        Ok(LookupKey { text: text.into(), root, subkeys: segments.collect() })
    }

    /// Returns the key of a root key that is taken literally, dots and quotes included.
    pub fn of_root(root: &str) -> LookupKey {
        let quoted = root.contains(['\'', '"', '.']);
        let quote = if root.contains('"') { '\'' } else { '"' };
        let text = if quoted { format!("{quote}{root}{quote}") } else { root.to_owned() };
        LookupKey { text: text.into(), root: KeySegment::Name(root.into()), subkeys: Vec::new() }
    }

    /// Returns the bytes of each part in the key's text, the root key first: without the quotes and
    /// the white space around it.
    pub fn segment_ranges(&self) -> Vec<TextRange> {
        if self.subkeys.is_empty() && !self.text.contains(['\'', '"', '.']) {
            return vec![TextRange::from_usize(0..self.text.len())];
        }
        let (mut ranges, mut rest) = (Vec::new(), &*self.text);
        while let Ok((_, tail)) = parse_segment(rest) {
            let start = self.text.len() - rest.len();
            let written = &rest[..rest.len() - tail.len()];
            let trimmed = written.trim_matches(is_stripped);
            let start = start + (written.len() - written.trim_start_matches(is_stripped).len());
            let quote = usize::from(trimmed.starts_with(['\'', '"']));
            ranges.push(TextRange::from_usize(start + quote..start + trimmed.len() - quote));
            match tail.strip_prefix('.') {
                Some(more) => rest = more,
                None => break,
            }
        }
        ranges
    }

    /// Whether this key asks for a part, or for a part of that: its root key and first subkeys are
    /// `root` and `subkeys`.
    pub fn is_within(&self, root: &str, subkeys: &[KeySegment]) -> bool {
        *self.root_text() == *root && self.subkeys.starts_with(subkeys)
    }

    /// Returns the root key as text.
    pub fn root_text(&self) -> Arc<str> {
        match &self.root {
            KeySegment::Name(name) => name.clone(),
            KeySegment::Index(index) => index.to_string().into(),
        }
    }

    /// Returns the root key of a key with subkeys, where it is a number.
    pub(super) fn number_with_subkeys(&self) -> Option<i64> {
        match self.root {
            KeySegment::Index(number) if !self.subkeys.is_empty() => Some(number),
            _ => None,
        }
    }

    /// Returns the module whose data may hold the key: the text before the first `::` of the root
    /// key.
    pub fn module_name(&self) -> Option<&str> {
        match &self.root {
            // A key with a leading `::` has no module name. By a bug Puppet takes the whole key for
            // the module name, and no module can have that name.
            KeySegment::Name(name) => name
                .split_once("::")
                .map(|(module, _)| if module.is_empty() { &**name } else { module }),
            KeySegment::Index(_) => None,
        }
    }
}

impl fmt::Display for LookupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for KeySegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySegment::Name(name) => f.write_str(name),
            KeySegment::Index(index) => write!(f, "{index}"),
        }
    }
}

/// Splits at dots; each segment is quoted as a whole or holds no quote.
fn split(text: &str) -> Result<Vec<KeySegment>, KeySyntaxError> {
    let mut segments = Vec::new();
    let mut rest = text;
    loop {
        let (segment, tail) = parse_segment(rest)?;
        segments.push(segment);
        match tail.strip_prefix('.') {
            Some(more) => rest = more,
            None if tail.is_empty() => return Ok(segments),
            None => return Err(KeySyntaxError),
        }
    }
}

fn parse_segment(text: &str) -> Result<(KeySegment, &str), KeySyntaxError> {
    let start = text.trim_start_matches(is_stripped);
    if let Some(quote) = start.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &start[1..];
        let end = inner.find(quote).filter(|end| *end > 0).ok_or(KeySyntaxError)?;
        let tail = inner[end + 1..].trim_start_matches(is_stripped);
        return Ok((KeySegment::Name(inner[..end].into()), tail));
    }
    let end = text.find(['\'', '"', '.']).unwrap_or(text.len());
    if end == 0 {
        return Err(KeySyntaxError);
    }
    let name = text[..end].trim_matches(is_stripped);
    Ok((
        parse_integer(name).map_or_else(|| KeySegment::Name(name.into()), KeySegment::Index),
        &text[end..],
    ))
}

/// Reads `:?[+-]?\d+` as Ruby's `to_i` does: a leading colon makes it 0.
fn parse_integer(text: &str) -> Option<i64> {
    let number = text.strip_prefix(':').unwrap_or(text);
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if text.starts_with(':') {
        return Some(0);
    }
    // An index beyond 64 bits is beyond every list and in no data that fits memory.
    Some(number.parse().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match LookupKey::parse(text) {
            Ok(key) => std::iter::once(&key.root)
                .chain(&key.subkeys)
                .map(|s| format!("{s:?}"))
                .collect::<Vec<_>>()
                .join(" "),
            Err(KeySyntaxError) => "error".to_owned(),
        }
    }

    #[test]
    fn a_key_without_quotes_and_dots_is_taken_as_it_is() {
        for text in ["", " lead", ":symk", "1", "a::b"] {
            assert_eq!(LookupKey::parse(text).unwrap().root, KeySegment::Name(text.into()));
        }
    }

    #[test]
    fn segments_are_trimmed_quoted_or_integers() {
        for text in ["h.'b.c'", "h.\"b.c\"", " h . \"b.c\" "] {
            assert_eq!(shown(text), r#"Name("h") Name("b.c")"#, "{text}");
        }
        assert_eq!(shown("arr.01"), r#"Name("arr") Index(1)"#);
        assert_eq!(shown("arr.:1"), r#"Name("arr") Index(0)"#);
        assert_eq!(shown("arr.-1.x"), r#"Name("arr") Index(-1) Name("x")"#);
        assert_eq!(shown("h.'1'"), r#"Name("h") Name("1")"#);
        assert_eq!(shown("1.5"), "Index(1) Index(5)");
        assert_eq!(shown("a. .b"), r#"Name("a") Name("") Name("b")"#);
        assert_eq!(shown("\"quo'te\""), r#"Name("quo'te")"#);
    }

    #[test]
    fn what_is_no_key() {
        for text in [
            "h.",
            ".h",
            "h..a",
            ".",
            "\"\"",
            "''",
            "h.\"\"",
            "h.\"b",
            "h.b\"",
            "h.\"b\"c",
            "h.a\"b.c\"",
            "h.'b.c\"",
            "quo'te",
        ] {
            assert_eq!(shown(text), "error", "{text}");
        }
    }

    #[test]
    fn segments_have_their_places() {
        let places = |text: &str| {
            let key = LookupKey::parse(text).unwrap();
            let ranges = key.segment_ranges();
            assert_eq!(ranges.len(), 1 + key.subkeys.len());
            ranges.iter().map(|range| text[range.as_usize()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(places(" lead"), [" lead"]);
        assert_eq!(places("a::b.c.0"), ["a::b", "c", "0"]);
        assert_eq!(places(" h . \"b.c\" .'d'"), ["h", "b.c", "d"]);
    }

    #[test]
    fn the_module_is_what_stands_before_the_first_colons() {
        let module = |text: &str| LookupKey::parse(text).unwrap().module_name().map(str::to_owned);
        assert_eq!(module("a::b::c.d").as_deref(), Some("a"));
        assert_eq!(module("plain"), None);
        assert_eq!(module("::m::k").as_deref(), Some("::m::k"));
    }
}
