//! Semantic tokens: all of a document, the changes since the last answer, or those of a range.

use serde::Serialize;
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::semantic_tokens::semantic_tokens;
use crate::server::from_lsp;
use crate::server::session::ClientView;
use crate::server::to_lsp::tokens::{EncodedTokens, encode_tokens};
use crate::workspace::Snapshot;

/// The tokens of a document, or their changes since an answer that the client has.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::server) enum TokensAnswer {
    /// All tokens of the document.
    All(lsp::SemanticTokens),
    /// The changes.
    Changes(lsp::SemanticTokensDelta),
}

/// Returns the tokens of a document.
pub(in crate::server) fn full(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::SemanticTokensParams,
) -> Answer<TokensAnswer> {
    Ok(tokens_since(snapshot, client, &params.text_document.uri, None))
}

/// Returns the changes of a document's tokens since the last answer, or all of them if that is not
/// the one which the client has.
pub(in crate::server) fn delta(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::SemanticTokensDeltaParams,
) -> Answer<TokensAnswer> {
    let since = Some(params.previous_result_id.as_str());
    Ok(tokens_since(snapshot, client, &params.text_document.uri, since))
}

/// Returns the tokens of a document, or their changes since the answer with a number.
fn tokens_since(
    snapshot: &Snapshot,
    client: &ClientView,
    uri: &lsp::Url,
    since: Option<&str>,
) -> Option<TokensAnswer> {
    let path = from_lsp::path_of_uri(uri)?;
    let last = client.shared.with(|state| state.last_tokens.get(&path).cloned());
    let before = last.as_ref().map(|(_, answer)| answer);
    let answer = EncodedTokens::from_file(snapshot, &path, before, client.features.encoding)?;
    let known = last.as_ref().filter(|(number, _)| since == Some(&*number.to_string()));
    let edits = known.map(|(_, before)| before.edits_to(&answer));
    let data = if edits.is_none() { answer.join_runs() } else { Vec::new() };
    let result_id = client.shared.with(|state| {
        // A cancelled computation may be incomplete.
        let is_kept = state.documents.is_open(&path) && !snapshot.cancel_token().is_cancelled();
        is_kept.then(|| state.last_tokens.keep_answer(&path, answer).to_string())
    });
    Some(match edits {
        Some(edits) => TokensAnswer::Changes(lsp::SemanticTokensDelta { result_id, edits }),
        None => TokensAnswer::All(lsp::SemanticTokens { result_id, data }),
    })
}

/// Returns the tokens of a range of a document.
pub(in crate::server) fn range(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::SemanticTokensRangeParams,
) -> Answer<lsp::SemanticTokens> {
    let encoding = client.features.encoding;
    let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else { return Ok(None) };
    let Some(text) = snapshot.file(&path).and_then(|file| file.text()) else { return Ok(None) };
    let range = from_lsp::text_range(params.range, encoding, text);
    let tokens = semantic_tokens(snapshot, &path, range);
    Ok(tokens.map(|tokens| {
        let data = encode_tokens(&tokens, text, encoding).0;
        lsp::SemanticTokens { result_id: None, data }
    }))
}
