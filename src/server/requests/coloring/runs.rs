//! Tokens as the protocol writes them, run by run, and the difference between two answers.

use std::sync::Arc;

use tower_lsp::lsp_types as lsp;

use super::encode_tokens;
use crate::ide::semantic_tokens::SemanticToken;
use crate::text::{Encoding, Text};

/// The tokens of a run of entries. The first one is counted from the start of the run, each other
/// from the one before.
#[derive(Clone, Debug)]
pub(super) struct EncodedRun {
    /// The start of the run in the document.
    start: lsp::Position,
    /// The tokens. An earlier answer shares the `Arc` if the run's tokens have not changed.
    tokens: Arc<[lsp::SemanticToken]>,
    /// The place of the last token, counted from the start of the run.
    last: lsp::Position,
}

impl EncodedRun {
    /// Encodes tokens. Their places are those in `text`, which begins at `start` in the document.
    pub(super) fn encode_run(
        start: lsp::Position,
        tokens: &[SemanticToken],
        text: &str,
        encoding: Encoding,
    ) -> EncodedRun {
        let (tokens, last) = encode_tokens(tokens, &Text::new(text), encoding);
        EncodedRun { start, tokens: tokens.into(), last }
    }

    /// Returns the same run at another place.
    pub(super) fn move_to(&self, start: lsp::Position) -> EncodedRun {
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
pub(super) fn position_distance(from: lsp::Position, to: lsp::Position) -> (u32, u32) {
    let lines = to.line - from.line;
    (lines, if lines == 0 { to.character - from.character } else { to.character })
}

/// Returns the place at a distance from another.
fn move_position(from: lsp::Position, lines: u32, characters: u32) -> lsp::Position {
    let first = if lines == 0 { from.character } else { 0 };
    lsp::Position { line: from.line + lines, character: first + characters }
}

/// Returns the tokens of runs that follow each other, as an answer has them.
pub(super) fn join_runs(runs: &[EncodedRun]) -> Vec<lsp::SemanticToken> {
    chain_runs(lsp::Position::default(), runs)
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
pub(super) fn run_edits(
    before: &[EncodedRun],
    after: &[EncodedRun],
) -> Vec<lsp::SemanticTokensEdit> {
    let same = |(old, new): &(&EncodedRun, &EncodedRun)| new.is_same(old, 0);
    let prefix = before.iter().zip(after).take_while(same).count();
    let (kept, before, after) = (&before[..prefix], &before[prefix..], &after[prefix..]);
    let lines = match (before.last(), after.last()) {
        (Some(old), Some(new)) => i64::from(new.start.line) - i64::from(old.start.line),
        _ => 0,
    };
    let moved_alike = |(old, new): &(&EncodedRun, &EncodedRun)| new.is_same(old, lines);
    let suffix = before.iter().rev().zip(after.iter().rev()).take_while(moved_alike).count();
    // The first token behind the difference may be counted from another one.
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
