//! The tokens of a string, with their places in the source text.

use std::cell::OnceCell;
use std::sync::Arc;

use super::super::{ProblemKind, Reference, TokenUse};
use crate::hiera::interpolation::{Method, Token, TokenKind, tokens, unclosed};
use crate::hiera::key::{LookupKey, Segment};
use crate::hiera::shared::shared;
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
    let mut reading = Reading { string, written: OnceCell::new(), problems: Vec::new() };
    for token in tokens(string.value) {
        let range = reading.source(token.range);
        if let Some((name, reference)) = reading.reference(token, range) {
            found.push(TokenUse {
                root: string.root.clone(),
                span: Span { range, ..string.span },
                name_span: Span { range: name, ..string.span },
                reference,
                string_span: string.span,
            });
        }
    }
    if let Some(range) = unclosed(string.value) {
        let range = reading.source(range);
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

struct Reading<'a> {
    string: &'a WrittenString<'a>,
    written: OnceCell<SourceMap>,
    problems: Vec<TokenProblem>,
}

impl Reading<'_> {
    /// Returns the place in the part for these bytes of the decoded string.
    fn source(&self, range: TextRange) -> TextRange {
        let WrittenString { text, node, .. } = self.string;
        let written = self.written.get_or_init(|| SourceMap::from_node(text, node));
        let start = written.source_offset(range.start as usize);
        // The end is that of the last byte: behind it a line may be folded.
        let end = written.source_offset((range.end as usize).saturating_sub(1)) + 1;
        TextRange::new(start, end.max(start))
    }

    /// Returns the key or variable that a token asks for, and the place of its name; `range` is the
    /// place of the token. `None` for a token without a key or variable, and for an invalid one.
    fn reference(&mut self, token: Token, range: TextRange) -> Option<(TextRange, Reference)> {
        match token.kind {
            TokenKind::Empty => None,
            TokenKind::Malformed => {
                self.problems.push((ProblemKind::MalformedToken, range));
                None
            }
            TokenKind::Variable { key, range } => {
                Some((self.source(range), Reference::Variable(kept(key))))
            }
            TokenKind::Call { method, method_range, argument, argument_range } => {
                let Some(function) = Method::from_name(&method) else {
                    let place = self.source(method_range);
                    self.problems.push((ProblemKind::UnknownFunction(method), place));
                    return None;
                };
                if function == Method::Alias
                    && token.range.as_usize() != (0..self.string.value.len())
                {
                    self.problems.push((ProblemKind::AliasNotWhole, range));
                }
                let reference = self.argument(function, method, argument, argument_range)?;
                Some((self.source(argument_range), reference))
            }
        }
    }

    /// Returns the key or variable that the argument of a function names; `name` is the function's
    /// name as written, and `range` the place of the argument.
    fn argument(
        &mut self,
        function: Method,
        name: String,
        argument: String,
        range: TextRange,
    ) -> Option<Reference> {
        let key = match (function, LookupKey::parse(&argument)) {
            (Method::Literal, _) => return None,
            (_, Ok(key)) => kept(key),
            (_, Err(_)) => {
                let place = self.source(range);
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
fn kept(key: LookupKey) -> LookupKey {
    let segment = |segment: Segment| match segment {
        Segment::Name(name) => Segment::Name(shared(&name)),
        index => index,
    };
    LookupKey {
        text: shared(&key.text),
        root: segment(key.root),
        subkeys: key.subkeys.into_iter().map(segment).collect(),
    }
}
