//! The parts of a file that only Hiera knows, for an editor to color: interpolation tokens with
//! their functions, keys and variables, and encrypted blocks. Plain YAML is left to the editor.

mod scalars;

use std::borrow::Cow;
use std::sync::Arc;

use super::by_run::{RunItems, by_run};
use crate::hiera::data::{DataFile, Part, Reference, TokenUse, placed_parts};
use crate::hiera::key::LookupKey;
use crate::hiera::sources::Sources;
use crate::text::{FilePath, Span, Text, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::file::File;
use crate::workspace::index::DefinedKeys;

/// A colored part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SemanticToken {
    /// The bytes of the part; an encrypted block may have several lines.
    pub range: TextRange,
    /// The kind of the part.
    pub kind: ColorKind,
    /// Whether the part is a key that no level has.
    pub is_unresolved: bool,
}

/// The kinds of colored parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorKind {
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

/// The tokens of a file, run by run of its entries.
#[derive(Clone, Debug)]
pub struct FileTokens {
    /// The runs of the file's entries, in the order of the text. Tokens do not overlap.
    pub runs: Vec<RunItems<SemanticToken>>,
    keys: DefinedKeys,
}

/// Returns the tokens of the file at `path`. Runs of entries that have not changed since `before`
/// keep their tokens. `None` for a file that no environment governs, and when cancelled.
pub fn file_tokens(
    snapshot: &Snapshot,
    path: &FilePath,
    before: Option<&FileTokens>,
) -> Option<FileTokens> {
    let file = FileColoring::from_file(snapshot, path)?;
    let keys = snapshot.defined_keys();
    let before = before.filter(|before| before.keys == keys);
    let runs = by_run(
        &file.data,
        file.text.len(),
        before.map_or(&[], |before| &before.runs),
        |range, parts| {
            let is_cancelled = snapshot.cancel_token().is_cancelled();
            (!is_cancelled).then(|| file.run_tokens(range, parts, None))
        },
    )?;
    Some(FileTokens { runs, keys })
}

/// Returns the tokens of the file at `path` that touch `within`, in the order of the text; they do
/// not overlap. `None` for a file that no environment governs, and when cancelled.
pub fn semantic_tokens(
    snapshot: &Snapshot,
    path: &FilePath,
    within: TextRange,
) -> Option<Vec<SemanticToken>> {
    let file = FileColoring::from_file(snapshot, path)?;
    let mut all = Vec::new();
    let runs = file.data.parts().placed_runs(file.text.len());
    for (range, parts) in runs.filter(|(range, _)| is_near(*range, within)) {
        if snapshot.cancel_token().is_cancelled() {
            return None;
        }
        let tokens = file.run_tokens(range, parts, Some(within)).into_iter();
        all.extend(
            tokens.map(|one| SemanticToken { range: one.range.offset_by(range.start), ..one }),
        );
    }
    all.retain(|token| token.range.start < within.end && within.start < token.range.end);
    Some(all)
}

/// Whether two ranges touch.
fn is_near(range: TextRange, other: TextRange) -> bool {
    range.start <= other.end && other.start <= range.end
}

/// A file with all that decides about its colors.
struct FileColoring<'a> {
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    file: &'a File,
    data: Arc<DataFile>,
    text: &'a Text,
}

impl<'a> FileColoring<'a> {
    fn from_file(snapshot: &'a Snapshot, path: &'a FilePath) -> Option<FileColoring<'a>> {
        let file = snapshot.file(path)?;
        let environment = snapshot.environments().governing_environments(path).next()?;
        let data = snapshot.view(environment).data_of(path)?;
        Some(FileColoring { snapshot, environment, file, data, text: file.text()? })
    }

    /// Returns the tokens of a run, counted from its start; of the entries that touch `within`
    /// alone, if it is given.
    fn run_tokens(
        &self,
        run: TextRange,
        parts: &[Part],
        within: Option<TextRange>,
    ) -> Vec<SemanticToken> {
        let coloring = Coloring { file: self, text: self.text.slice(run), start: run.start };
        let mut tokens = Vec::new();
        for (range, part) in placed_parts(run, parts) {
            if within.is_none_or(|within| is_near(range, within)) {
                coloring.color_part(part, range, &mut tokens);
            }
        }
        tokens.retain(|token| !token.range.is_empty());
        tokens.sort();
        // A token within an encrypted block, or within another token's argument, has no colors.
        let mut end = 0;
        tokens.retain(|token| {
            let is_free = token.range.start >= end;
            end = end.max(token.range.end);
            is_free
        });
        tokens
    }
}

/// Colors the entries of one run.
struct Coloring<'a> {
    file: &'a FileColoring<'a>,
    /// The text of the run, which starts at `start` in the file.
    text: Cow<'a, str>,
    start: u32,
}

impl Coloring<'_> {
    fn color_part(&self, part: &Part, range: TextRange, out: &mut Vec<SemanticToken>) {
        for token in &part.data.tokens {
            self.color_token(token, out);
        }
        if part.data.may_be_encrypted
            || self.run_text(range).is_some_and(|text| text.contains("literal("))
        {
            self.color_scalars(range, out);
        }
    }

    fn run_text(&self, range: TextRange) -> Option<&str> {
        self.text.get(self.in_run(range)?.as_usize())
    }

    /// Returns a place of the file counted from the start of the run; `None` for one outside.
    fn in_run(&self, range: TextRange) -> Option<TextRange> {
        let start = range.start.checked_sub(self.start)?;
        let end = range.end - self.start;
        (end as usize <= self.text.len()).then(|| TextRange::new(start, end))
    }

    /// Adds the parts of a token: its delimiters, its function and its name.
    fn color_token(&self, token: &TokenUse, out: &mut Vec<SemanticToken>) {
        let (Some(all), Some(name)) =
            (self.place_in_run(token.span()), self.place_in_run(token.name_span()))
        else {
            return;
        };
        let (kind, is_unresolved) = match &token.reference {
            Reference::Variable(_) => (ColorKind::Variable, false),
            Reference::Key { key, .. } => (ColorKind::Key, self.is_unresolved(key)),
        };
        self.color_delimiters(all, name, out);
        out.push(SemanticToken { range: name, kind, is_unresolved });
    }

    fn place_in_run(&self, span: Span) -> Option<TextRange> {
        self.in_run(self.file.data.part_bytes(span)?)
    }

    /// Adds the delimiters of a token, and the function before the place of its argument.
    fn color_delimiters(&self, all: TextRange, argument: TextRange, out: &mut Vec<SemanticToken>) {
        add_token(TextRange::new(all.start, all.start + 2), ColorKind::Delimiter, out);
        add_token(TextRange::new(all.end - 1, all.end), ColorKind::Delimiter, out);
        let head =
            self.text.get(all.start as usize + 2..argument.start as usize).unwrap_or_default();
        let name = head.trim_start();
        let start = all.start + 2 + (head.len() - name.len()) as u32;
        let length =
            name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(0) as u32;
        if name[length as usize..].trim_start().starts_with('(') {
            add_token(TextRange::new(start, start + length), ColorKind::Function, out);
        }
    }

    /// Whether no level has a key, as far as the levels can be read here.
    fn is_unresolved(&self, key: &LookupKey) -> bool {
        let (root, file) = (key.root_text(), self.file);
        let view = file.snapshot.view(file.environment);
        !view.is_defined(&root)
            && file.snapshot.complete
            && !file.environment.may_have_unread(&root, |name| view.has_function(name))
    }
}

fn add_token(range: TextRange, kind: ColorKind, out: &mut Vec<SemanticToken>) {
    out.push(SemanticToken { range, kind, is_unresolved: false })
}

#[cfg(test)]
mod tests;
