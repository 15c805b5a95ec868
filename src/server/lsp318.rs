//! The shapes of version 3.18 of the protocol that the server uses and lsp-types 0.94 does not have.
//! Each is sent only to clients that announce it, see `capabilities`.

use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types as lsp;

/// The parameters of `workspace/textDocumentContent`, and of the server's request to send it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TextDocumentContentParams {
    /// The address of the document.
    pub(super) uri: lsp::Url,
}

/// The answer to `workspace/textDocumentContent`.
#[derive(Debug, Serialize)]
pub(super) struct TextDocumentContentResult {
    /// The text of the document.
    pub(super) text: String,
}

/// The server's request that the client asks for the text of a document again.
pub(super) enum TextDocumentContentRefresh {}

impl lsp::request::Request for TextDocumentContentRefresh {
    type Params = TextDocumentContentParams;
    type Result = ();
    const METHOD: &'static str = "workspace/textDocumentContent/refresh";
}

/// The capability `workspace.textDocumentContent` of a server.
#[derive(Debug, Serialize)]
pub(super) struct TextDocumentContentOptions {
    /// The schemes of the documents.
    pub(super) schemes: Vec<&'static str>,
}

/// A code action; `action` has no edit.
#[derive(Debug, Serialize)]
pub(super) struct CodeAction {
    #[serde(flatten)]
    pub(super) action: lsp::CodeAction,
    /// The change that the action makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edit: Option<WorkspaceEdit>,
}

/// A change, whose edits may be snippets.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum WorkspaceEdit {
    /// A change without snippets.
    Plain(lsp::WorkspaceEdit),
    /// Edits of documents.
    #[serde(rename_all = "camelCase")]
    WithSnippets { document_changes: Vec<TextDocumentEdit> },
}

/// The edits of a document.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextDocumentEdit {
    pub(super) text_document: lsp::OptionalVersionedTextDocumentIdentifier,
    pub(super) edits: Vec<DocumentEdit>,
}

/// An edit of a document.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum DocumentEdit {
    Text(lsp::TextEdit),
    Snippet(SnippetTextEdit),
}

/// An edit that leaves places to fill in.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct SnippetTextEdit {
    pub(super) range: lsp::Range,
    pub(super) snippet: Snippet,
}

/// The text of an edit with places to fill in.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "snippet")]
pub(super) struct Snippet {
    pub(super) value: String,
}

/// A lens; `command` is absent before it is resolved.
#[derive(Debug, Serialize)]
pub(super) struct CodeLens {
    #[serde(flatten)]
    pub(super) lens: lsp::CodeLens,
    /// The text, and what a click does.
    pub(super) command: Command,
}

/// A command with a text for the pointer that rests on it.
#[derive(Debug, Serialize)]
pub(super) struct Command {
    #[serde(flatten)]
    pub(super) command: lsp::Command,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tooltip: Option<String>,
}

/// The documentation of a kind of code actions.
#[derive(Debug, Serialize)]
pub(super) struct CodeActionKindDocumentation {
    pub(super) kind: lsp::CodeActionKind,
    /// The command that shows the documentation.
    pub(super) command: lsp::Command,
}
