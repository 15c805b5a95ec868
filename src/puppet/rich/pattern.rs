//! Regular expressions as values, and as parts of types.

use crate::puppet::ruby::regex::{RegexError, RubyRegex};

/// A regular expression with the text that it was made of.
#[derive(Debug)]
pub struct RegexPattern {
    source: String,
    regex: RubyRegex,
}

impl PartialEq for RegexPattern {
    fn eq(&self, other: &RegexPattern) -> bool {
        self.source == other.source
    }
}

impl RegexPattern {
    /// Compiles a pattern.
    pub fn new(source: &str) -> Result<RegexPattern, RegexError> {
        Ok(RegexPattern { source: source.to_owned(), regex: RubyRegex::new(source)? })
    }

    /// Whether the pattern matches anywhere in `text`. A pattern that explodes does not match.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text) == Some(true)
    }

    /// The pattern's text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The pattern's text as Ruby writes it between slashes.
    pub fn escaped_source(&self) -> String {
        let mut out = String::new();
        let mut chars = self.source.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => out.extend([Some('\\'), chars.next()].into_iter().flatten()),
                '/' => out.push_str("\\/"),
                c if c.is_ascii_control() && !c.is_ascii_whitespace() => {
                    out.push_str(&format!("\\x{:02X}", u32::from(c)))
                }
                c => out.push(c),
            }
        }
        out
    }

    pub(super) fn has_encoding(&self) -> bool {
        !self.source.is_ascii() || self.source.contains("\\u")
    }

    /// The pattern's text between slashes.
    pub fn with_delimiters(&self) -> String {
        if self.has_encoding() {
            return format!("/(?-mix:{})/", self.escaped_source());
        }
        format!("/{}/", self.escaped_source())
    }
}
