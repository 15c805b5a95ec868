//! HOCON into the same tree as YAML, as Ruby's library (hocon 1.3.1) reads it: objects merged,
//! values concatenated, substitutions replaced. Each node keeps the place where it was written, so
//! that entries of a merged object stand in no order of place.
//!
//! Other files and the environment are not read. `include file(…)`, `url(…)` and `classpath(…)` are
//! errors that say so. `include "name"` is skipped, as Puppet's own reader finds nothing there. A
//! substitution is looked up in its file only.

mod parse;
mod path;
mod resolve;
mod token;
mod tokens;

use super::psych::{self, Resolved};
use super::tree::{SyntaxError, SyntaxErrorKind, Tree};
use crate::text::TextRange;

/// How deep collections, paths and substitutions may be nested.
const MAX_DEPTH: usize = 200;

/// Reads a HOCON text. Never fails: the first error is the only one in `problems`, and the tree
/// holds the text before it.
///
/// Objects are flow mappings, arrays flow sequences. Strings are
/// [`ScalarStyle::DoubleQuoted`](super::ScalarStyle) where they are one quoted text and
/// [`ScalarStyle::Hocon`](super::ScalarStyle) otherwise; numbers, booleans and null are
/// [`ScalarStyle::JsonLiteral`](super::ScalarStyle) with the text as written, for
/// [`resolve_hocon`].
pub fn parse_hocon(text: &str) -> Tree {
    let text = &text[..super::scan::char_floor(text, u32::MAX as usize)];
    let tokens = tokens::lex_tokens(text);
    let (root, problem) = parse::parse(text, &tokens);
    let mut tree = resolve::resolve(root, problem.is_some());
    // Further problems would only follow from a syntax error.
    if let Some(problem) = problem {
        problem.note_in(&mut tree);
    }
    tree.scattered = true;
    tree.comments = tokens
        .iter()
        .filter(|token| token.kind == token::Kind::Comment)
        .map(|token| token.range)
        .collect();
    tree
}

/// Resolves a literal of HOCON: a number, `true`, `false` or `null`. A number without a fraction is
/// an integer however it is written.
///
/// Source: `Tokenizer#pull_number` and `ConfigNumber.new_number`; integers go through Ruby's
/// `Integer()`, so that `010` is 8.
pub fn resolve_hocon(text: &str) -> Resolved {
    match text {
        "true" => return Resolved::Bool(true),
        "false" => return Resolved::Bool(false),
        "null" | "" => return Resolved::Null,
        _ => {}
    }
    if !text.contains(['.', 'e', 'E']) {
        return psych::resolve_plain(text);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value.fract() == 0.0 => {
            psych::parse_decimal(&format!("{:.0}", value + 0.0))
        }
        Ok(value) => Resolved::Float(value),
        Err(_) => Resolved::String,
    }
}

/// A problem of a text.
#[derive(Clone, Debug)]
struct Problem {
    shown: SyntaxError,
    /// The library's message, where it helps users less than the one shown.
    words: Option<String>,
}

impl Problem {
    /// Returns the problem with this kind.
    fn of_kind(mut self, kind: SyntaxErrorKind) -> Problem {
        self.shown.kind = kind;
        self
    }

    /// Returns the problem with the library's own message.
    fn in_words(self, words: String) -> Problem {
        Problem { words: Some(words), ..self }
    }

    /// Makes the problem the only one of the tree.
    fn note_in(self, tree: &mut Tree) {
        tree.verdict = self.words.map(|message| SyntaxError { message, ..self.shown.clone() });
        tree.problems = vec![self.shown];
    }
}

fn new_problem(message: impl Into<String>, range: TextRange) -> Problem {
    Problem {
        shown: SyntaxError {
            kind: SyntaxErrorKind::Grammar,
            message: message.into(),
            context: None,
            span: range,
        },
        words: None,
    }
}

#[cfg(test)]
mod tests;
