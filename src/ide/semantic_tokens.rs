//! The parts of a file that only Hiera knows, for an editor to color: interpolation tokens with
//! their functions, keys and variables, and encrypted blocks. Plain YAML is left to the editor.

mod scalars;

use std::borrow::Cow;

use crate::hiera::data::{DataFile, Part, Reference, TokenUse};
use crate::hiera::key::LookupKey;
use crate::hiera::sources::Sources;
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::file::File;

/// A colored part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SemanticToken {
    /// The bytes of it; an encrypted block may have several lines.
    pub range: TextRange,
    /// Its kind.
    pub kind: TokenKind,
    /// Whether it is a key that no level has.
    pub is_unresolved: bool,
}

/// The kinds of colored parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenKind {
    /// The `%{` or `}` of an interpolation token.
    Delimiter,
    /// An interpolation function.
    Function,
    /// A variable.
    Variable,
    /// A lookup key.
    Key,
    /// The argument of `literal`.
    Literal,
    /// An encrypted block, `ENC[…]`.
    Encrypted,
}

/// Returns the tokens of the file at `path` that touch `within`, in the order of the text; they do
/// not overlap. `None` for a file that no environment governs.
pub fn semantic_tokens(
    snapshot: &Snapshot,
    path: &FilePath,
    within: Option<TextRange>,
) -> Option<Vec<SemanticToken>> {
    let file = snapshot.file(path)?;
    let environment = snapshot.environments().governing(path).next()?;
    let data = snapshot.view(environment).data_of(path)?;
    // In one piece: each token reads a few bytes of it.
    let (text, mut tokens) = (file.text()?.to_str(), Vec::new());
    let length = text.len() as u32;
    let coloring = Coloring { snapshot, environment, file, data: &data, text };
    for part in data.parts().iter() {
        if snapshot.cancel_token().is_cancelled() {
            break;
        }
        let Some(range) = data.parts().range(part.id, length) else { continue };
        if within.is_none_or(|within| range.start <= within.end && within.start <= range.end) {
            coloring.part(part, range, &mut tokens);
        }
    }
    tokens.retain(|token| {
        !token.range.is_empty()
            && within.is_none_or(|it| token.range.start < it.end && it.start < token.range.end)
    });
    tokens.sort();
    // A token within an encrypted block, or within another token's argument, has no colors.
    let mut end = 0;
    tokens.retain(|token| {
        let is_free = token.range.start >= end;
        end = end.max(token.range.end);
        is_free
    });
    Some(tokens)
}

/// Colors the parts of one file.
struct Coloring<'a> {
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    file: &'a File,
    data: &'a DataFile,
    text: Cow<'a, str>,
}

impl Coloring<'_> {
    fn part(&self, part: &Part, range: TextRange, out: &mut Vec<SemanticToken>) {
        for token in &part.data.tokens {
            self.token(token, out);
        }
        let has_literal = || self.text[range.as_usize()].contains("literal(");
        if part.data.may_be_encrypted || has_literal() {
            self.scalars(range.start, out);
        }
    }

    /// Adds the parts of a token: its delimiters, its function and its name.
    fn token(&self, token: &TokenUse, out: &mut Vec<SemanticToken>) {
        let (Some(all), Some(name)) =
            (self.data.place(token.span), self.data.place(token.name_span))
        else {
            return;
        };
        let (kind, is_unresolved) = match &token.reference {
            Reference::Variable(_) => (TokenKind::Variable, false),
            Reference::Key { key, .. } => (TokenKind::Key, self.is_unresolved(key)),
        };
        self.delimited(all, name, out);
        out.push(SemanticToken { range: name, kind, is_unresolved });
    }

    /// Adds the delimiters of a token, and the function before the place of its argument.
    fn delimited(&self, all: TextRange, argument: TextRange, out: &mut Vec<SemanticToken>) {
        let mut add = |range, kind| out.push(SemanticToken { range, kind, is_unresolved: false });
        add(TextRange::new(all.start, all.start + 2), TokenKind::Delimiter);
        add(TextRange::new(all.end - 1, all.end), TokenKind::Delimiter);
        let head =
            self.text.get(all.start as usize + 2..argument.start as usize).unwrap_or_default();
        let name = head.trim_start();
        let start = all.start + 2 + (head.len() - name.len()) as u32;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = name.find(|c| !is_part(c)).unwrap_or(0) as u32;
        if name[length as usize..].trim_start().starts_with('(') {
            add(TextRange::new(start, start + length), TokenKind::Function);
        }
    }

    /// Whether no level has a key, as far as the levels can be read here.
    fn is_unresolved(&self, key: &LookupKey) -> bool {
        let root = key.root_text();
        let view = self.snapshot.view(self.environment);
        !view.is_defined(&root)
            && self.snapshot.complete
            && !self.environment.may_have_unread(&root, |name| view.has_function(name))
    }
}

#[cfg(test)]
mod tests;
