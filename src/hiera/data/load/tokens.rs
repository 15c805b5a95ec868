//! The tokens of a string, with their places in the source text.

use std::cell::OnceCell;
use std::sync::Arc;

use super::super::{ProblemKind, Reference, TokenUse};
use crate::hiera::interpolation::{Method, Token, TokenKind, parse_tokens, unclosed_token};
use crate::hiera::key::{KeySegment, LookupKey};
use crate::hiera::shared::share;
use crate::text::{Span, TextRange};
use crate::yaml::Node;
use crate::yaml::scalar::SourceMap;

/// A string of a part.
pub(super) struct WrittenString<'a> {
    /// The decoded text of the string.
    pub(super) value: &'a str,
    /// The source text of the part.
    pub(super) text: &'a str,
    /// The string's node.
    pub(super) node: &'a Node,
    /// The string's place.
    pub(super) span: Span,
    /// The root key whose value contains the string.
    pub(super) root: &'a Arc<str>,
}

/// A problem with a token, and its place in the part.
pub(super) type TokenProblem = (ProblemKind, TextRange);

/// Adds the tokens of a string to `found`, and returns the problems with them.
pub(super) fn collect(string: &WrittenString, found: &mut Vec<TokenUse>) -> Vec<TokenProblem> {
    let mut reading = TokenLoader { string, written: OnceCell::new(), problems: Vec::new() };
    for token in parse_tokens(string.value) {
        let range = reading.source_range(token.range);
        if let Some((name, reference)) = reading.token_reference(token, range) {
            found.push(TokenUse {
                root: string.root.clone(),
                reference,
                string_span: string.span,
                range,
                name_range: name,
            });
        }
    }
    if let Some(range) = unclosed_token(string.value) {
        let range = reading.source_range(range);
        reading.problems.push((ProblemKind::UnclosedToken, range));
    }
    reading.problems
}

/// Whether a problem is that of a token.
pub(super) fn is_problem(kind: &ProblemKind) -> bool {
    matches!(
        kind,
        ProblemKind::UnclosedToken
            | ProblemKind::MalformedToken
            | ProblemKind::UnknownFunction(_)
            | ProblemKind::BadArgument { .. }
            | ProblemKind::AliasNotWhole
    )
}

struct TokenLoader<'a> {
    string: &'a WrittenString<'a>,
    written: OnceCell<SourceMap>,
    problems: Vec<TokenProblem>,
}

impl TokenLoader<'_> {
    /// Returns the place in the part for these bytes of the decoded string.
    fn source_range(&self, range: TextRange) -> TextRange {
        let WrittenString { text, node, .. } = self.string;
        let written = self.written.get_or_init(|| SourceMap::from_node(text, node));
        let start = written.source_offset(range.start as usize);
        // The end is computed from the last byte of the range, because the line may be folded
        // behind that byte.
        let end = written.source_offset((range.end as usize).saturating_sub(1)) + 1;
        TextRange::new(start, end.max(start))
    }

    /// Returns the key or variable that a token asks for, and the place of its name; `range` is the
    /// place of the token. `None` for a token without a key or variable, and for an invalid one.
    fn token_reference(
        &mut self,
        token: Token,
        range: TextRange,
    ) -> Option<(TextRange, Reference)> {
        match token.kind {
            TokenKind::Empty => None,
            TokenKind::Malformed => {
                self.problems.push((ProblemKind::MalformedToken, range));
                None
            }
            TokenKind::Variable { key, range } => {
                Some((self.source_range(range), Reference::Variable(share_names(key))))
            }
            TokenKind::Call { method, method_range, argument, argument_range } => {
                let Some(function) = Method::from_name(&method) else {
                    let place = self.source_range(method_range);
                    self.problems.push((ProblemKind::UnknownFunction(method), place));
                    return None;
                };
                if function == Method::Alias
                    && token.range.as_usize() != (0..self.string.value.len())
                {
                    self.problems.push((ProblemKind::AliasNotWhole, range));
                }
                let reference =
                    self.argument_reference(function, method, argument, argument_range)?;
                Some((self.source_range(argument_range), reference))
            }
        }
    }

    /// Returns the key or variable that the argument of a function names; `name` is the function's
    /// name as written, and `range` the place of the argument.
    fn argument_reference(
        &mut self,
        function: Method,
        name: String,
        argument: String,
        range: TextRange,
    ) -> Option<Reference> {
        let key = match (function, LookupKey::parse(&argument)) {
            (Method::Literal, _) => return None,
            (_, Ok(key)) => share_names(key),
            (_, Err(_)) => {
                let place = self.source_range(range);
                let kind = ProblemKind::BadArgument { function: name, argument };
                self.problems.push((kind, place));
                return None;
            }
        };
        Some(match function {
            Method::Scope => Reference::Variable(key),
            _ => Reference::Key { key, alias: function == Method::Alias },
        })
    }
}

/// Shares the names of a key with other keys that have them, too.
fn share_names(key: LookupKey) -> LookupKey {
    LookupKey {
        text: share(&key.text),
        root: share_segment(key.root),
        subkeys: key.subkeys.into_iter().map(share_segment).collect(),
    }
}

fn share_segment(segment: KeySegment) -> KeySegment {
    match segment {
        KeySegment::Name(name) => KeySegment::Name(share(&name)),
        index => index,
    }
}
