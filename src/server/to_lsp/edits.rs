//! Converts changes of texts.

use tower_lsp::lsp_types as lsp;

use super::{document_uri, range_in};
use crate::server::capabilities::Features;
use crate::server::documents::Documents;
use crate::server::lsp318;
use crate::text::{FilePath, TextEdit};
use crate::workspace::Snapshot;
use crate::workspace::queries::change_gate::AllowedChange;

/// Converts a change: to edits of documents in the versions that the client has, where it takes
/// these, and else to edits of files.
pub(in crate::server) fn workspace_edit(
    snapshot: &Snapshot,
    change: &AllowedChange,
    features: &Features,
    documents: &Documents,
) -> lsp::WorkspaceEdit {
    let change = change.change();
    let mut created = Vec::new();
    let mut edited = Vec::new();
    for (path, text) in &change.created {
        let Some(uri) = document_uri(path, documents) else { continue };
        let file = lsp::CreateFile { uri: uri.clone(), options: None, annotation_id: None };
        created.push(lsp::DocumentChangeOperation::Op(lsp::ResourceOp::Create(file)));
        edited.push((uri, None, vec![lsp::TextEdit::new(lsp::Range::default(), text.clone())]));
    }
    for (path, edits) in &change.edits {
        let Some(uri) = document_uri(path, documents) else { continue };
        let version = documents.get(path).map(|document| document.version);
        edited.push((uri, version, text_edits(snapshot, path, edits, features)));
    }
    if !features.document_changes {
        let changes = edited.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
        return lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() };
    }
    created.extend(edited.into_iter().map(|(uri, version, edits)| {
        lsp::DocumentChangeOperation::Edit(lsp::TextDocumentEdit {
            text_document: lsp::OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(lsp::OneOf::Left).collect(),
        })
    }));
    lsp::WorkspaceEdit {
        document_changes: Some(lsp::DocumentChanges::Operations(created)),
        ..lsp::WorkspaceEdit::default()
    }
}

fn text_edits(
    snapshot: &Snapshot,
    path: &FilePath,
    edits: &[TextEdit],
    features: &Features,
) -> Vec<lsp::TextEdit> {
    let Some(text) = snapshot.file(path).and_then(|file| file.text()) else { return Vec::new() };
    edits
        .iter()
        .map(|edit| lsp::TextEdit {
            range: range_in(text, edit.range, features.encoding),
            new_text: edit.text.clone(),
        })
        .collect()
}

/// Returns a change of one document in which the name of a new key is filled in by the user, at all
/// of its places at once; the change as it is where that cannot be said, see [`snippet_of`].
pub(in crate::server) fn with_name_to_fill_in(
    edit: lsp::WorkspaceEdit,
    name: &str,
) -> lsp318::WorkspaceEdit {
    let document = match &edit.document_changes {
        Some(lsp::DocumentChanges::Operations(all)) => match &all[..] {
            [lsp::DocumentChangeOperation::Edit(document)] => document,
            _ => return lsp318::WorkspaceEdit::Plain(edit),
        },
        _ => return lsp318::WorkspaceEdit::Plain(edit),
    };
    let edits = document.edits.iter().map(|edit| {
        let lsp::OneOf::Left(edit) = edit else { return None };
        // Editors indent the further lines of a snippet as the line where it begins.
        let is_indented = edit.new_text.contains('\n') && edit.range.start.character > 0;
        Some(match snippet_of(&edit.new_text, name) {
            Some(_) if is_indented => return None,
            Some(value) => lsp318::DocumentEdit::Snippet(lsp318::SnippetTextEdit {
                range: edit.range,
                snippet: lsp318::Snippet { value },
            }),
            None => lsp318::DocumentEdit::Text(edit.clone()),
        })
    });
    match edits.collect::<Option<Vec<_>>>() {
        Some(edits) => {
            let text_document = document.text_document.clone();
            let document_changes = vec![lsp318::TextDocumentEdit { text_document, edits }];
            lsp318::WorkspaceEdit::WithSnippets { document_changes }
        }
        None => lsp318::WorkspaceEdit::Plain(edit),
    }
}

/// Returns a text as a snippet in which a key is one place to fill in: where the key is the argument
/// of a function, in quotes, and where it begins a line. `None` where it is neither.
fn snippet_of(text: &str, key: &str) -> Option<String> {
    let is_place = |(at, _): &(usize, &str)| {
        let (before, after) = (&text[..*at], &text[at + key.len()..]);
        let is_argument = before.ends_with('\'') && after.starts_with('\'');
        let is_entry = (before.is_empty() || before.ends_with('\n')) && after.starts_with(':');
        is_argument || is_entry
    };
    let (mut snippet, mut done) = (String::new(), 0);
    for (at, _) in text.match_indices(key).filter(is_place) {
        snippet.push_str(&escape_snippet(&text[done..at]));
        snippet.push_str(&format!("${{1:{key}}}"));
        done = at + key.len();
    }
    (done > 0).then(|| snippet + &escape_snippet(&text[done..]))
}

fn escape_snippet(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_filled_in_where_it_is_a_key() {
        let snippet = |text: &str| snippet_of(text, "shared_a");
        assert_eq!(
            snippet(" \"%{alias('shared_a')}\"").as_deref(),
            Some(" \"%{alias('${1:shared_a}')\\}\"")
        );
        assert_eq!(
            snippet("shared_a:\n  - shared_a: '$x\\'\n").as_deref(),
            Some("${1:shared_a}:\n  - shared_a: '\\$x\\\\'\n")
        );
        let quoted = "'%{lookup(''shared_a'')} shared_a %{lookup(''shared_a'')}'";
        assert_eq!(
            snippet(quoted).as_deref(),
            Some("'%{lookup(''${1:shared_a}'')\\} shared_a %{lookup(''${1:shared_a}'')\\}'")
        );
        assert_eq!(snippet("shared_ab: shared_a"), None);
    }

    /// Returns the change of these edits, each with the column that it begins in.
    fn change(edits: &[(u32, &str)]) -> lsp::WorkspaceEdit {
        let edit = |(column, text): &(u32, &str)| {
            let start = lsp::Position::new(1, *column);
            lsp::OneOf::Left(lsp::TextEdit::new(lsp::Range::new(start, start), (*text).to_owned()))
        };
        let uri = lsp::Url::parse("file:///a.yaml").expect("an address");
        let text_document = lsp::OptionalVersionedTextDocumentIdentifier { uri, version: Some(1) };
        let edits = edits.iter().map(edit).collect();
        let document = lsp::TextDocumentEdit { text_document, edits };
        lsp::WorkspaceEdit {
            document_changes: Some(lsp::DocumentChanges::Operations(vec![
                lsp::DocumentChangeOperation::Edit(document),
            ])),
            ..lsp::WorkspaceEdit::default()
        }
    }

    #[test]
    fn a_change_that_an_editor_would_indent_has_no_snippets() {
        let entry = change(&[(0, "shared_a:\n  b: 1\n"), (4, "\"%{alias('shared_a')}\"")]);
        let filled = serde_json::to_value(with_name_to_fill_in(entry, "shared_a"));
        let filled = filled.expect("it is JSON");
        let edits = &filled["documentChanges"][0]["edits"];
        assert_eq!(edits[0]["snippet"]["kind"], "snippet");
        assert_eq!(edits[0]["snippet"]["value"], "${1:shared_a}:\n  b: 1\n");
        assert_eq!(edits[1]["snippet"]["value"], "\"%{alias('${1:shared_a}')\\}\"");
        let indented = change(&[(6, "\nshared_a:\n  b: 1\n")]);
        let plain = lsp318::WorkspaceEdit::Plain(indented.clone());
        assert_eq!(with_name_to_fill_in(indented, "shared_a"), plain);
    }
}
