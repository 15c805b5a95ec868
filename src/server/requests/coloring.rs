//! Semantic tokens: all of a document, the changes since the last answer, or those of a range.
//!
//! The last answer about each open document is kept until the document is closed: the next one
//! takes from it all that has not changed, and tells the difference.

mod runs;

use std::collections::HashMap;
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::ide::by_run::RunItems;
use crate::ide::semantic_tokens::{
    ColorKind, FileTokens, SemanticToken, file_tokens, semantic_tokens,
};
use crate::server::transport::SerializedResult;
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::{Encoding, FilePath, Text, TextRange};
use crate::workspace::Snapshot;
use runs::{EncodedRun, join_runs, position_distance, run_edits};

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

/// An answer about a document.
#[derive(Clone, Debug)]
struct Answered {
    tokens: Arc<FileTokens>,
    encoded: Arc<[EncodedRun]>,
}

/// The last answers about open documents, with their numbers.
#[derive(Debug, Default)]
pub(in crate::server) struct LastTokens {
    number: u64,
    by_path: HashMap<FilePath, (u64, Answered)>,
}

impl LastTokens {
    /// Keeps the answer about a document in place of the one before. Returns its number.
    fn keep_answer(&mut self, path: &FilePath, answer: Answered) -> u64 {
        self.number += 1;
        self.by_path.insert(path.clone(), (self.number, answer));
        self.number
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
    ) -> Result<Option<SerializedResult>> {
        self.tokens_since(&params.text_document.uri, None).await
    }

    /// Returns the changes of a document's tokens since the last answer, or all of them if that is
    /// not the one which the client has.
    pub(in crate::server) async fn changes_of_tokens(
        &self,
        params: lsp::SemanticTokensDeltaParams,
    ) -> Result<Option<SerializedResult>> {
        self.tokens_since(&params.text_document.uri, Some(params.previous_result_id)).await
    }

    /// Returns the tokens of a document, or their changes since the answer with a number.
    async fn tokens_since(
        &self,
        uri: &lsp::Url,
        since: Option<String>,
    ) -> Result<Option<SerializedResult>> {
        let Some(path) = from_lsp::path_of_uri(uri) else { return Ok(None) };
        let last = self.shared.with(|state| state.last_tokens.by_path.get(&path).cloned());
        let asked_about = path.clone();
        let computed = self.answer_request(Some(path.clone()), move |snapshot, features| {
            let last = last.as_ref();
            let before = last.map(|(_, answer)| answer);
            let answer = answer_tokens(snapshot, &asked_about, before, features.encoding)?;
            let known = last.filter(|(number, _)| since.as_ref() == Some(&number.to_string()));
            Some((known.map(|(_, before)| run_edits(&before.encoded, &answer.encoded)), answer))
        });
        let Some((changes, answer)) = computed.await? else { return Ok(None) };
        let encoded = answer.encoded.clone();
        let result_id = self.shared.with(|state| {
            let is_open = state.documents.is_open(&path);
            is_open.then(|| state.last_tokens.keep_answer(&path, answer).to_string())
        });
        Ok(match changes {
            Some(edits) => {
                SerializedResult::from_result(&lsp::SemanticTokensDelta { result_id, edits })
            }
            None => SerializedResult::from_result(&lsp::SemanticTokens {
                result_id,
                data: join_runs(&encoded),
            }),
        })
    }

    /// Returns the tokens of a range of a document.
    pub(in crate::server) async fn tokens_of_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        let path = from_lsp::path_of_uri(&params.text_document.uri);
        self.answer_request(path.clone(), move |snapshot, features| {
            let path = path.as_ref()?;
            let text = snapshot.file(path)?.text()?;
            let offset = |place: lsp::Position| {
                text.offset_at(from_lsp::line_col(place), features.encoding).unwrap_or(text.len())
            };
            let (start, end) = (offset(params.range.start), offset(params.range.end));
            let within = TextRange::new(start, end.max(start));
            let tokens = semantic_tokens(snapshot, path, within)?;
            let data = encode_tokens(&tokens, text, features.encoding).0;
            Some(lsp::SemanticTokens { result_id: None, data }.into())
        })
        .await
    }
}

/// Returns the tokens of a document. What the answer before has of them is taken from there.
fn answer_tokens(
    snapshot: &Snapshot,
    path: &FilePath,
    before: Option<&Answered>,
    encoding: Encoding,
) -> Option<Answered> {
    let text = snapshot.file(path)?.text()?;
    let tokens = file_tokens(snapshot, path, before.map(|before| &*before.tokens))?;
    let known: HashMap<*const SemanticToken, &EncodedRun> = before
        .iter()
        .flat_map(|before| before.tokens.runs.iter().zip(&*before.encoded))
        .map(|(run, encoded)| (run.items.as_ptr(), encoded))
        .collect();
    let encode = |run: &RunItems<SemanticToken>| {
        let start = to_lsp::range_in(text, TextRange::new_empty(run.range.start), encoding).start;
        match known.get(&run.items.as_ptr()).filter(|_| !run.items.is_empty()) {
            Some(known) => known.move_to(start),
            None => EncodedRun::encode_run(start, &run.items, &text.slice(run.range), encoding),
        }
    };
    let encoded = tokens.runs.iter().map(encode).collect();
    Some(Answered { tokens: Arc::new(tokens), encoded })
}

/// Returns the legend of the tokens' numbers.
pub(super) fn token_legend() -> lsp::SemanticTokensLegend {
    lsp::SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: vec![UNRESOLVED] }
}

/// Returns tokens as the protocol writes them: each counted from the one before, on one line. A
/// token of several lines becomes one for each line, without the indentation. The second part is
/// the place of the last one.
fn encode_tokens(
    tokens: &[SemanticToken],
    text: &Text,
    encoding: Encoding,
) -> (Vec<lsp::SemanticToken>, lsp::Position) {
    let mut all = Vec::with_capacity(tokens.len());
    let (mut last, lines) = (lsp::Position::default(), text.lines());
    for token in tokens {
        for piece in lines_of(text, token.range) {
            let lsp::Range { start, end } = to_lsp::range_in(&lines, piece, encoding);
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
    let start =
        |line: &str| range.start + (line.as_ptr() as usize - slice.as_ptr() as usize) as u32;
    let lines = slice.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| TextRange::new(start(line), start(line) + line.len() as u32)).collect()
}

/// Returns the number of a kind in [`TYPES`].
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

    #[test]
    fn answers_about_closed_documents_are_forgotten() {
        let fixture = Fixture::new("a: '%{b}'\n");
        let path = FilePath::new("/data/common.yaml");
        let answer =
            answer_tokens(&fixture.snapshot, &path, None, Encoding::Utf16).expect("it is data");
        let mut last = LastTokens::default();
        assert_eq!(last.keep_answer(&path, answer.clone()), 1);
        assert_eq!(last.keep_answer(&path, answer.clone()), 2);
        last.forget(&path);
        assert!(last.by_path.is_empty());
        assert_eq!(last.keep_answer(&path, answer), 3, "a number is not used again");
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
        let now = |workspace: &Workspace, before: Option<&Answered>| {
            answer_tokens(&workspace.snapshot(), &path, before, Encoding::Utf16)
                .expect("it is data")
        };
        let mut last = now(&workspace, None);
        // Inserted before the place that a text has, in place of so many bytes.
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
            let (told, anew) =
                (join_runs(&answer.encoded), join_runs(&now(&workspace, None).encoded));
            assert_eq!(told, anew, "edit {number}");
            let edits = run_edits(&last.encoded, &answer.encoded);
            assert_eq!(applied(&join_runs(&last.encoded), edits), anew, "edit {number}");
            last = answer;
        }
        assert_eq!(run_edits(&last.encoded, &last.encoded), []);
    }

    #[test]
    fn an_edit_tells_no_more_than_has_changed() {
        let text = |number: u32| format!("a: '%{{b}}'\nc: '%{{{number}}}'\nd: '%{{e}}'\n");
        let answer = |number| {
            let fixture = Fixture::new(&text(number));
            let path = FilePath::new("/data/common.yaml");
            answer_tokens(&fixture.snapshot, &path, None, Encoding::Utf16).expect("it is data")
        };
        let edits = run_edits(&answer(1).encoded, &answer(10).encoded);
        // The length of one variable, and the place of the brace behind it.
        let edit = edits.first().expect("they differ");
        assert_eq!((edits.len(), edit.start, edit.delete_count), (1, 4 * 5, 2 * 5));
    }
}
