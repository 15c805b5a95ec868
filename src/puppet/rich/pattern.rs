//! Regular expressions as values, and as parts of types.

use crate::puppet::ruby::regex::{RegexError, RubyRegex};
use crate::puppet::ruby::strings::is_space;

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

    pub(super) fn has_encoding(&self) -> bool {
        !self.source.is_ascii() || self.source.contains("\\u")
    }

    /// The pattern's text between slashes.
    pub fn with_delimiters(&self) -> String {
        match self.has_encoding() {
            true => format!("/{}/", self.with_options()),
            false => format!("/{}/", escape(&self.source)),
        }
    }

    /// Returns the pattern as Ruby's `Regexp#to_s` writes patterns: options at the start of the pattern
    /// move into the outer group. Source: `rb_reg_str_with_opt`.
    pub fn with_options(&self) -> String {
        let mut options = [false; 3];
        let mut rest = self.source.as_str();
        while let Some(group) = rest.strip_prefix("(?").filter(|_| rest.len() >= 4) {
            let letters = group.trim_start_matches(OPTIONS);
            let mut switched = options;
            switch(&mut switched, &group[..group.len() - letters.len()], true);
            let off = letters.strip_prefix('-').unwrap_or(letters);
            let end = off.trim_start_matches(OPTIONS);
            let (off, end) = if off.len() < letters.len() { (off, end) } else { (off, off) };
            switch(&mut switched, &off[..off.len() - end.len()], false);
            let inner = end.strip_prefix(':').and_then(|rest| rest.strip_suffix(')'));
            if let Some(behind) = end.strip_prefix(')') {
                (options, rest) = (switched, behind);
            } else if let Some(inner) = inner.filter(|inner| RubyRegex::new(inner).is_ok()) {
                (options, rest) = (switched, inner);
                break;
            } else {
                (options, rest) = ([false; 3], &self.source);
                break;
            }
        }
        let (mut on, mut off) = (String::new(), String::new());
        for (letter, is_on) in OPTIONS.into_iter().zip(options) {
            if is_on { &mut on } else { &mut off }.push(letter);
        }
        let dash = if off.is_empty() { "" } else { "-" };
        format!("(?{on}{dash}{off}:{})", escape(rest))
    }
}

/// The options of a pattern, in Ruby's order.
const OPTIONS: [char; 3] = ['m', 'i', 'x'];

fn switch(options: &mut [bool; 3], letters: &str, is_on: bool) {
    for (option, letter) in options.iter_mut().zip(OPTIONS) {
        if letters.contains(letter) {
            *option = is_on;
        }
    }
}

/// Returns the source with slashes and control characters escaped, as Ruby writes a source between
/// slashes.
fn escape(source: &str) -> String {
    let mut out = String::new();
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend([Some('\\'), chars.next()].into_iter().flatten()),
            '/' => out.push_str("\\/"),
            c if c.is_ascii_control() && !is_space(c) => {
                out.push_str(&format!("\\x{:02X}", u32::from(c)))
            }
            c => out.push(c),
        }
    }
    out
}
