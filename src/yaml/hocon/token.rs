//! One token of a text in HOCON.

use crate::text::TextRange;

/// A piece of the text. White space that means nothing is no token.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    pub range: TextRange,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// One of `{ } [ ] : = ,`.
    Mark(u8),
    /// `+=`
    PlusEquals,
    Newline,
    Comment,
    /// A quoted string, decoded.
    Quoted(String),
    /// A number, `true`, `false` or `null`.
    Literal,
    /// A text without quotes, or the white space between two values.
    Unquoted,
    /// `${path}`, or `${?path}`, which may be missing.
    Substitution {
        path: Vec<PathSegment>,
        optional: bool,
    },
    /// Text that is no token, with the reason. Where the library reports it only on reaching it,
    /// also the token and the reason in the library's words. No token follows.
    Bad(String, Option<Box<(String, String)>>),
    End,
}

impl Token {
    /// Whether the token is a value by itself, so that white space between it and another counts.
    pub(super) fn is_simple_value(&self) -> bool {
        matches!(
            self.kind,
            Kind::Quoted(_) | Kind::Literal | Kind::Unquoted | Kind::Substitution { .. }
        )
    }

    pub(super) fn is_mark(&self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

/// A part of a path, and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathSegment {
    pub text: String,
    pub range: TextRange,
}
