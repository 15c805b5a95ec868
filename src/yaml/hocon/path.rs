//! Paths: the keys of fields and the targets of substitutions. Source: `PathParser` of hocon 1.3.1.

use std::fmt;

use super::MAX_DEPTH;
use super::token::{Kind, PathSegment, Token};
use crate::text::TextRange;

/// Why tokens are no path. `Display` gives the library's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathError {
    /// A part of the path is empty and not in quotes.
    EmptyElement,
    /// Any other reason, in the library's words.
    Other(String),
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PathError::EmptyElement => {
                "path has a leading, trailing, or two adjacent period '.' (use quoted \"\" empty string if you want an empty element)"
            }
            PathError::Other(message) => message,
        })
    }
}

/// Returns the parts of the path that `tokens` write: dots outside quotes part them, blanks count.
pub(super) fn parse_segments(text: &str, tokens: &[Token]) -> Result<Vec<PathSegment>, PathError> {
    let first = tokens.first().ok_or_else(|| {
        PathError::Other("Expecting a field name or path here, but got nothing".to_owned())
    })?;
    let start = first.range.start;
    let mut found = vec![Building {
        segment: PathSegment { text: String::new(), range: TextRange::new_empty(start) },
        may_be_empty: false,
    }];
    for token in tokens {
        let written = &text[token.range.as_usize()];
        match &token.kind {
            Kind::Quoted(text) => {
                let building = found.last_mut().expect("there is always one");
                building.add(text, token.range);
                building.may_be_empty |= building.segment.text.is_empty();
            }
            Kind::Literal | Kind::Unquoted => {
                let mut at = token.range.start;
                for (n, part) in written.split('.').enumerate() {
                    let range = TextRange::new(at, at + part.len() as u32);
                    if n > 0 {
                        let segment = PathSegment {
                            text: String::new(),
                            range: TextRange::new_empty(range.start),
                        };
                        found.push(Building { segment, may_be_empty: false });
                    }
                    found.last_mut().expect("there is always one").add(part, range);
                    at = range.end + 1;
                }
            }
            _ => return Err(PathError::Other(not_allowed(written))),
        }
    }
    if found.iter().any(|building| building.segment.text.is_empty() && !building.may_be_empty) {
        return Err(PathError::EmptyElement);
    }
    if found.len() > MAX_DEPTH {
        let message = format!("hiera-ls reads no path of more than {MAX_DEPTH} elements");
        return Err(PathError::Other(message));
    }
    Ok(found.into_iter().map(|building| building.segment).collect())
}

/// Returns the message about a token that no path may contain.
pub(super) fn not_allowed(token: &str) -> String {
    format!(
        "Token not allowed in path expression: '{token}' (you can double-quote this token if you really want it here)"
    )
}

struct Building {
    segment: PathSegment,
    may_be_empty: bool,
}

impl Building {
    fn add(&mut self, text: &str, range: TextRange) {
        let own = &mut self.segment;
        own.range = if own.range.is_empty() { range } else { own.range.cover(range) };
        own.text.push_str(text);
    }
}
