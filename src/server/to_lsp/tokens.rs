//! Semantic tokens as the protocol writes them, run by run, and the difference between two answers.

use std::collections::HashMap;
use std::sync::Arc;

use tower_lsp::lsp_types as lsp;

use super::range_in;
use crate::ide::semantic_tokens::{ColorKind, FileTokens, SemanticToken, file_tokens};
use crate::text::{Encoding, FilePath, Text, TextRange};
use crate::workspace::Snapshot;

/// The tokens of a document, by runs of its entries.
#[derive(Clone, Debug)]
pub(in crate::server) struct EncodedTokens {
    tokens: Arc<FileTokens>,
    encoded: Arc<[EncodedRun]>,
}

impl EncodedTokens {
    /// Returns the tokens of a document; `None` where it has none. Runs that have not changed since
    /// the answer `before` are taken from it.
    pub(in crate::server) fn from_file(
        snapshot: &Snapshot,
        path: &FilePath,
        before: Option<&EncodedTokens>,
        encoding: Encoding,
    ) -> Option<EncodedTokens> {
        let text = snapshot.file(path)?.text()?;
        let tokens = file_tokens(snapshot, path, before.map(|before| &*before.tokens))?;
        let known: HashMap<*const SemanticToken, &EncodedRun> = before
            .iter()
            .flat_map(|before| before.tokens.runs.iter().zip(&*before.encoded))
            .map(|(run, encoded)| (run.items.as_ptr(), encoded))
            .collect();
        let encoded = tokens
            .runs
            .iter()
            .map(|run| {
                let start = range_in(text, TextRange::new_empty(run.range.start), encoding).start;
                match known.get(&run.items.as_ptr()).filter(|_| !run.items.is_empty()) {
                    Some(known) => known.move_to(start),
                    None => {
                        EncodedRun::encode_run(start, &run.items, &text.slice(run.range), encoding)
                    }
                }
            })
            .collect();
        Some(EncodedTokens { tokens: Arc::new(tokens), encoded })
    }

    /// Returns the tokens as an answer has them.
    pub(in crate::server) fn join_runs(&self) -> Vec<lsp::SemanticToken> {
        chain_runs(lsp::Position::default(), &self.encoded)
    }

    /// Returns the edits that make the later answer `after` of the tokens.
    pub(in crate::server) fn edits_to(
        &self,
        after: &EncodedTokens,
    ) -> Vec<lsp::SemanticTokensEdit> {
        run_edits(&self.encoded, &after.encoded)
    }
}

/// The tokens of a run of entries. The first one is counted from the start of the run, each other
/// from the one before.
#[derive(Clone, Debug)]
struct EncodedRun {
    /// The start of the run in the document.
    start: lsp::Position,
    /// The tokens. An earlier answer shares the `Arc` if the run's tokens have not changed.
    tokens: Arc<[lsp::SemanticToken]>,
    /// The place of the last token, counted from the start of the run.
    last: lsp::Position,
}

impl EncodedRun {
    /// Encodes tokens. Their places are those in `text`, which begins at `start` in the document.
    fn encode_run(
        start: lsp::Position,
        tokens: &[SemanticToken],
        text: &str,
        encoding: Encoding,
    ) -> EncodedRun {
        let (tokens, last) = encode_tokens(tokens, &Text::new(text), encoding);
        EncodedRun { start, tokens: tokens.into(), last }
    }

    /// Returns the same run at another place.
    fn move_to(&self, start: lsp::Position) -> EncodedRun {
        EncodedRun { start, ..self.clone() }
    }

    /// Whether the run is one of an earlier answer, so many lines further down.
    fn is_same(&self, other: &EncodedRun, lines: i64) -> bool {
        Arc::ptr_eq(&self.tokens, &other.tokens)
            && self.start.character == other.start.character
            && i64::from(self.start.line) - i64::from(other.start.line) == lines
    }
}

/// Returns the distance to a place from one before it: in lines, and in characters on its line.
fn position_distance(from: lsp::Position, to: lsp::Position) -> (u32, u32) {
    let lines = to.line - from.line;
    (lines, if lines == 0 { to.character - from.character } else { to.character })
}

/// Returns the place at a distance from another.
fn move_position(from: lsp::Position, lines: u32, characters: u32) -> lsp::Position {
    let first = if lines == 0 { from.character } else { 0 };
    lsp::Position { line: from.line + lines, character: first + characters }
}

/// Returns the tokens of runs, the first one counted from the place of the token before.
fn chain_runs(mut last: lsp::Position, runs: &[EncodedRun]) -> Vec<lsp::SemanticToken> {
    let mut all = Vec::with_capacity(runs.iter().map(|run| run.tokens.len()).sum());
    for run in runs {
        let Some((first, others)) = run.tokens.split_first() else { continue };
        let place = move_position(run.start, first.delta_line, first.delta_start);
        let (delta_line, delta_start) = position_distance(last, place);
        all.push(lsp::SemanticToken { delta_line, delta_start, ..*first });
        all.extend_from_slice(others);
        last = move_position(run.start, run.last.line, run.last.character);
    }
    all
}

/// Returns the edits that make one answer of another: at most one, of the tokens between the first
/// and the last difference. The protocol counts numbers, five for each token.
fn run_edits(before: &[EncodedRun], after: &[EncodedRun]) -> Vec<lsp::SemanticTokensEdit> {
    let prefix = before.iter().zip(after).take_while(|(old, new)| new.is_same(old, 0)).count();
    let (kept, before, after) = (&before[..prefix], &before[prefix..], &after[prefix..]);
    let lines = match (before.last(), after.last()) {
        (Some(old), Some(new)) => i64::from(new.start.line) - i64::from(old.start.line),
        _ => 0,
    };
    let suffix = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take_while(|(old, new)| new.is_same(old, lines))
        .count();
    // The place of the first token behind the difference may be counted from another token.
    let behind = &after[after.len() - suffix..];
    let suffix =
        suffix - behind.iter().position(|run| !run.tokens.is_empty()).map_or(suffix, |n| n + 1);
    let last = kept.iter().rfind(|run| !run.tokens.is_empty());
    let last = last.map_or(lsp::Position::default(), |run| {
        move_position(run.start, run.last.line, run.last.character)
    });
    let [before, after] =
        [before, after].map(|runs| chain_runs(last, &runs[..runs.len() - suffix]));
    let offset: usize = kept.iter().map(|run| run.tokens.len()).sum();
    token_edit(&before, &after, offset as u32).into_iter().collect()
}

/// Returns the edit that makes one list of tokens of another, behind `offset` tokens: what lies
/// between the first and the last difference. `None` where there is none.
fn token_edit(
    before: &[lsp::SemanticToken],
    after: &[lsp::SemanticToken],
    offset: u32,
) -> Option<lsp::SemanticTokensEdit> {
    let is_same = |(a, b): &(&lsp::SemanticToken, &lsp::SemanticToken)| a == b;
    let prefix = before.iter().zip(after).take_while(is_same).count();
    let (before, after) = (&before[prefix..], &after[prefix..]);
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let suffix = before.iter().rev().zip(after.iter().rev()).take_while(is_same).count();
    let come = &after[..after.len() - suffix];
    Some(lsp::SemanticTokensEdit {
        start: (offset + prefix as u32) * 5,
        delete_count: (before.len() - suffix) as u32 * 5,
        data: (!come.is_empty()).then(|| come.to_vec()),
    })
}

/// Returns tokens as the protocol writes them: each counted from the one before, on one line. A
/// token of several lines becomes one for each line, without the indentation. The second part is
/// the place of the last one.
pub(in crate::server) fn encode_tokens(
    tokens: &[SemanticToken],
    text: &Text,
    encoding: Encoding,
) -> (Vec<lsp::SemanticToken>, lsp::Position) {
    let mut all = Vec::with_capacity(tokens.len());
    let (mut last, lines) = (lsp::Position::default(), text.lines());
    for token in tokens {
        for piece in lines_of(text, token.range) {
            let lsp::Range { start, end } = range_in(&lines, piece, encoding);
            let (delta_line, delta_start) = position_distance(last, start);
            all.push(lsp::SemanticToken {
                delta_line,
                delta_start,
                length: end.character - start.character,
                token_type: kind_number(token.kind),
                token_modifiers_bitset: u32::from(token.is_unresolved),
            });
            last = start;
        }
    }
    (all, last)
}

/// Returns the parts of a range on each of its lines, without blanks around them.
fn lines_of(text: &Text, range: TextRange) -> Vec<TextRange> {
    let slice = text.slice(range);
    if !slice.contains(['\n', '\r']) {
        return vec![range]; // as with most
    }
    let lines = slice.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            TextRange::new(
                start_of_line(line, &slice, range.start),
                start_of_line(line, &slice, range.start) + line.len() as u32,
            )
        })
        .collect()
}

fn start_of_line(line: &str, slice: &str, start: u32) -> u32 {
    start + (line.as_ptr() as usize - slice.as_ptr() as usize) as u32
}

/// Returns the number of a kind in `capabilities::TOKEN_TYPES`.
fn kind_number(kind: ColorKind) -> u32 {
    match kind {
        ColorKind::Delimiter => 0,
        ColorKind::Function => 1,
        ColorKind::Variable => 2,
        ColorKind::Key => 3,
        ColorKind::Literal => 4,
        ColorKind::Encrypted => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::workspace::{Change, Workspace};

    #[test]
    fn tokens_are_split_into_lines_and_counted_from_each_other() {
        let text = Text::new("é%{x}\n  ENC[a\n    b]\n");
        let at = |text_: &str| {
            let start = text.to_str().find(text_).expect("it is there");
            TextRange::from_usize(start..start + text_.len())
        };
        let token = |range, kind| SemanticToken { range, kind, is_unresolved: false };
        let tokens =
            [token(at("x"), ColorKind::Variable), token(at("ENC[a\n    b]"), ColorKind::Encrypted)];
        let numbers: Vec<_> = encode_tokens(&tokens, &text, Encoding::Utf16)
            .0
            .iter()
            .map(|it| (it.delta_line, it.delta_start, it.length, it.token_type))
            .collect();
        assert_eq!(numbers, [(0, 3, 1, 2), (1, 2, 5, 5), (1, 4, 2, 5)]);
    }

    /// Applies edits as a client does.
    fn applied(
        before: &[lsp::SemanticToken],
        edits: Vec<lsp::SemanticTokensEdit>,
    ) -> Vec<lsp::SemanticToken> {
        let mut all = before.to_vec();
        for edit in edits {
            let (start, count) = (edit.start as usize / 5, edit.delete_count as usize / 5);
            all.splice(start..start + count, edit.data.unwrap_or_default());
        }
        all
    }

    #[test]
    fn after_each_edit_the_changes_lead_to_all_tokens() {
        let lines: String = (0..400)
            .map(|n| format!("key_{n}: 'é%{{a}} %{{lookup(\"key_{}\")}}'\n", n + 3))
            .collect();
        let Fixture { mut workspace, .. } = Fixture::new(&lines);
        let path = FilePath::new("/data/common.yaml");
        workspace.apply(Change::Open(path.clone(), lines));
        let now = |workspace: &Workspace, before: Option<&EncodedTokens>| {
            EncodedTokens::from_file(&workspace.snapshot(), &path, before, Encoding::Utf16)
                .expect("it is data")
        };
        let mut last = now(&workspace, None);
        // Each edit has a text that shows its place, the number of bytes to replace from there, and
        // the text to insert.
        let edits = [
            ("key_7:", 0, "# a comment\n"),
            ("key_200: ", 9, "other: "),
            ("key_399", 0, "new: '%{literal(\"%\")} %{x}'\n\n\n"),
            ("key_0:", 6, "key_0: '%{z}' #"),
            ("key_300: 'é", 10, "key_300: \"%{"),
            ("key_300: \"%{", 12, "key_300: '"),
            ("# a comment\n", 12, ""),
            ("key_390", 0, "twice: '%{x}'\ntwice: '%{y}'\n"),
            ("key_3: ", 7, "key_4: "),
        ];
        for (number, (at, length, text)) in edits.into_iter().enumerate() {
            let old = workspace.open_text(&path).expect("it is open").to_str().into_owned();
            let start = old.find(at).expect("it is there");
            let range = TextRange::from_usize(start..start + length);
            workspace.apply(Change::Edit(path.clone(), vec![(range, text.to_owned())]));
            let answer = now(&workspace, Some(&last));
            let (told, anew) = (answer.join_runs(), now(&workspace, None).join_runs());
            assert_eq!(told, anew, "edit {number}");
            let edits = last.edits_to(&answer);
            assert_eq!(applied(&last.join_runs(), edits), anew, "edit {number}");
            last = answer;
        }
        assert_eq!(last.edits_to(&last), []);
    }

    #[test]
    fn an_edit_tells_no_more_than_has_changed() {
        let text = |number: u32| format!("a: '%{{b}}'\nc: '%{{{number}}}'\nd: '%{{e}}'\n");
        let answer = |number| {
            let fixture = Fixture::new(&text(number));
            let path = FilePath::new("/data/common.yaml");
            EncodedTokens::from_file(&fixture.snapshot, &path, None, Encoding::Utf16)
                .expect("it is data")
        };
        let edits = answer(1).edits_to(&answer(10));
        // The edit changes the length of one variable, and the place of the brace behind it.
        let edit = edits.first().expect("they differ");
        assert_eq!((edits.len(), edit.start, edit.delete_count), (1, 4 * 5, 2 * 5));
    }
}
