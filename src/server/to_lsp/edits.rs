//! Converts changes of texts.

use tower_lsp::lsp_types as lsp;

use super::{document_uri, range_in};
use crate::server::capabilities::Features;
use crate::server::documents::Documents;
use crate::text::{FilePath, TextEdit};
use crate::workspace::Snapshot;
use crate::workspace::change_gate::AllowedChange;

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
    let document = |(uri, version, edits): (lsp::Url, Option<i32>, Vec<lsp::TextEdit>)| {
        lsp::DocumentChangeOperation::Edit(lsp::TextDocumentEdit {
            text_document: lsp::OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(lsp::OneOf::Left).collect(),
        })
    };
    created.extend(edited.into_iter().map(document));
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
    let edit = |edit: &TextEdit| lsp::TextEdit {
        range: range_in(text, edit.range, features.encoding),
        new_text: edit.text.clone(),
    };
    edits.iter().map(edit).collect()
}
