//! Semantic tokens: all of a document, the changes since the last answer, or those of a range.
//!
//! The last answer about each open document is kept for the next one to be compared with, until the
//! document is closed.

use std::collections::HashMap;
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::ide::semantic_tokens::{SemanticToken, TokenKind, semantic_tokens};
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::{Encoding, FilePath, Text, TextRange};

/// The types of tokens, in the order of their numbers.
const TYPES: [lsp::SemanticTokenType; 6] = [
    lsp::SemanticTokenType::OPERATOR,
    lsp::SemanticTokenType::FUNCTION,
    lsp::SemanticTokenType::VARIABLE,
    lsp::SemanticTokenType::PROPERTY,
    lsp::SemanticTokenType::STRING,
    lsp::SemanticTokenType::MACRO,
];
/// The one modifier: a key that no level has.
const UNRESOLVED: lsp::SemanticTokenModifier = lsp::SemanticTokenModifier::new("unresolved");

/// The tokens of a document.
type Tokens = Arc<[lsp::SemanticToken]>;
/// An answer about a document: its number and the tokens.
type Answered = (u64, Tokens);

/// The last answers about open documents, with their numbers.
#[derive(Debug, Default)]
pub(in crate::server) struct LastTokens {
    number: u64,
    by_path: HashMap<FilePath, Answered>,
}

impl LastTokens {
    /// Keeps the answer about a document in place of the one before, which it returns with its
    /// number. The first part is the number of the new one.
    fn replace(&mut self, path: &FilePath, tokens: Tokens) -> (u64, Option<Answered>) {
        self.number += 1;
        (self.number, self.by_path.insert(path.clone(), (self.number, tokens)))
    }

    /// Forgets the answer about a document that is closed.
    pub(in crate::server) fn forget(&mut self, path: &FilePath) {
        self.by_path.remove(path);
    }
}

impl Backend {
    /// Returns the tokens of a document.
    pub(in crate::server) async fn tokens_of_document(
        &self,
        params: lsp::SemanticTokensParams,
    ) -> Result<Option<lsp::SemanticTokensResult>> {
        let uri = params.text_document.uri;
        let Some(tokens) = self.tokens_in(&uri, None).await? else { return Ok(None) };
        let result_id = self.keep(&uri, &tokens).map(|(id, _)| id.to_string());
        let data = tokens.to_vec();
        Ok(Some(lsp::SemanticTokensResult::Tokens(lsp::SemanticTokens { result_id, data })))
    }

    /// Returns the changes of a document's tokens since the last answer, or all of them if that is
    /// not the one which the client has.
    pub(in crate::server) async fn changes_of_tokens(
        &self,
        params: lsp::SemanticTokensDeltaParams,
    ) -> Result<Option<lsp::SemanticTokensFullDeltaResult>> {
        let uri = params.text_document.uri;
        let Some(tokens) = self.tokens_in(&uri, None).await? else { return Ok(None) };
        let kept = self.keep(&uri, &tokens);
        let result_id = kept.as_ref().map(|(id, _)| id.to_string());
        let known = kept.and_then(|(_, before)| before);
        let known = known.filter(|(id, _)| id.to_string() == params.previous_result_id);
        Ok(Some(match known {
            Some((_, before)) => {
                let edits = edit(&before, &tokens).into_iter().collect();
                lsp::SemanticTokensFullDeltaResult::TokensDelta(lsp::SemanticTokensDelta {
                    result_id,
                    edits,
                })
            }
            None => lsp::SemanticTokensFullDeltaResult::Tokens(lsp::SemanticTokens {
                result_id,
                data: tokens.to_vec(),
            }),
        }))
    }

    /// Returns the tokens of a range of a document.
    pub(in crate::server) async fn tokens_of_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        let tokens = self.tokens_in(&params.text_document.uri, Some(params.range)).await?;
        Ok(tokens.map(|tokens| {
            let data = tokens.to_vec();
            lsp::SemanticTokens { result_id: None, data }.into()
        }))
    }

    async fn tokens_in(&self, uri: &lsp::Url, range: Option<lsp::Range>) -> Result<Option<Tokens>> {
        let path = from_lsp::path(uri);
        self.answer(path.clone(), move |snapshot, features| {
            let path = path.as_ref()?;
            let text = snapshot.file(path)?.text()?;
            let offset = |place: lsp::Position| {
                text.offset(from_lsp::line_col(place), features.encoding).unwrap_or(text.len())
            };
            let within = range.map(|range| {
                let (start, end) = (offset(range.start), offset(range.end));
                TextRange::new(start, end.max(start))
            });
            let tokens = semantic_tokens(snapshot, path, within)?;
            Some(encoded(&tokens, text, features.encoding).into())
        })
        .await
    }

    /// Keeps the tokens of a document if it is open. Returns the number of the answer, and the one
    /// before.
    fn keep(&self, uri: &lsp::Url, tokens: &Tokens) -> Option<(u64, Option<Answered>)> {
        let path = from_lsp::path(uri)?;
        self.shared.with(|state| {
            let is_open = state.documents.contains_key(&path);
            is_open.then(|| state.last_tokens.replace(&path, tokens.clone()))
        })
    }
}

/// Returns the legend of the tokens' numbers.
pub(super) fn legend() -> lsp::SemanticTokensLegend {
    lsp::SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: vec![UNRESOLVED] }
}

/// Returns tokens as the protocol writes them: each counted from the one before, on one line. A
/// token of several lines becomes one for each line, without the indentation.
fn encoded(tokens: &[SemanticToken], text: &Text, encoding: Encoding) -> Vec<lsp::SemanticToken> {
    let mut all = Vec::with_capacity(tokens.len());
    let (mut last, lines) = (lsp::Position::default(), text.lines());
    for token in tokens {
        for piece in lines_of(text, token.range) {
            let lsp::Range { start, end } = to_lsp::range_in(&lines, piece, encoding);
            let delta_line = start.line - last.line;
            let from = if delta_line == 0 { last.character } else { 0 };
            all.push(lsp::SemanticToken {
                delta_line,
                delta_start: start.character - from,
                length: end.character - start.character,
                token_type: number(token.kind),
                token_modifiers_bitset: u32::from(token.is_unresolved),
            });
            last = start;
        }
    }
    all
}

/// Returns the parts of a range on each of its lines, without blanks around them.
fn lines_of(text: &Text, range: TextRange) -> Vec<TextRange> {
    let slice = text.slice(range);
    if !slice.contains(['\n', '\r']) {
        return vec![range]; // as with most
    }
    let start =
        |line: &str| range.start + (line.as_ptr() as usize - slice.as_ptr() as usize) as u32;
    let lines = slice.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| TextRange::new(start(line), start(line) + line.len() as u32)).collect()
}

/// Returns the number of a kind in [`TYPES`].
fn number(kind: TokenKind) -> u32 {
    match kind {
        TokenKind::Delimiter => 0,
        TokenKind::Function => 1,
        TokenKind::Variable => 2,
        TokenKind::Key => 3,
        TokenKind::Literal => 4,
        TokenKind::Encrypted => 5,
    }
}

/// Returns the edit that makes one list of tokens of another: what lies between the first and the
/// last difference. `None` where there is none. The protocol counts numbers, five for each token.
fn edit(
    before: &[lsp::SemanticToken],
    after: &[lsp::SemanticToken],
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
        start: prefix as u32 * 5,
        delete_count: (before.len() - suffix) as u32 * 5,
        data: (!come.is_empty()).then(|| come.to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(number: u32) -> lsp::SemanticToken {
        lsp::SemanticToken { delta_line: 1, length: number, ..lsp::SemanticToken::default() }
    }

    /// The list that an edit makes.
    fn applied(before: &[lsp::SemanticToken], edit: lsp::SemanticTokensEdit) -> Vec<u32> {
        let (start, count) = (edit.start as usize / 5, edit.delete_count as usize / 5);
        let mut after = before.to_vec();
        after.splice(start..start + count, edit.data.unwrap_or_default());
        after.iter().map(|token| token.length).collect()
    }

    #[test]
    fn an_edit_makes_one_list_of_another() {
        let lists: [&[u32]; 7] =
            [&[], &[1], &[1, 1], &[1, 2, 1], &[2, 1, 1], &[1, 2, 3, 4], &[1, 4]];
        for one in lists {
            for other in lists {
                let tokens = |list: &[u32]| -> Vec<_> { list.iter().map(|n| token(*n)).collect() };
                let (before, after) = (tokens(one), tokens(other));
                match edit(&before, &after) {
                    Some(edit) => assert_eq!(applied(&before, edit), other, "{one:?}"),
                    None => assert_eq!(one, other),
                }
            }
        }
        let (before, after) = ([1, 2, 3].map(token), [1, 9, 3].map(token));
        let least = edit(&before, &after).expect("they differ");
        assert_eq!((least.start, least.delete_count), (5, 5), "no more than what differs");
    }

    #[test]
    fn tokens_are_split_into_lines_and_counted_from_each_other() {
        let text = Text::new("é%{x}\n  ENC[a\n    b]\n");
        let at = |text_: &str| {
            let start = text.to_str().find(text_).expect("it is there");
            TextRange::from_usize(start..start + text_.len())
        };
        let token = |range, kind| SemanticToken { range, kind, is_unresolved: false };
        let tokens =
            [token(at("x"), TokenKind::Variable), token(at("ENC[a\n    b]"), TokenKind::Encrypted)];
        let numbers: Vec<_> = encoded(&tokens, &text, Encoding::Utf16)
            .iter()
            .map(|it| (it.delta_line, it.delta_start, it.length, it.token_type))
            .collect();
        assert_eq!(numbers, [(0, 3, 1, 2), (1, 2, 5, 5), (1, 4, 2, 5)]);
    }

    #[test]
    fn answers_about_closed_documents_are_forgotten() {
        let (mut last, path) = (LastTokens::default(), FilePath::new("/a.yaml"));
        assert_eq!(last.replace(&path, Arc::default()), (1, None));
        assert_eq!(last.replace(&path, Arc::default()).1.map(|(id, _)| id), Some(1));
        last.forget(&path);
        assert_eq!(last.replace(&path, Arc::default()), (3, None));
    }
}
