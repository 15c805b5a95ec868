//! The shapes of version 3.18 of the protocol that the server uses and lsp-types 0.94 does not have.
//! Each is sent only to clients that announce it, see `capabilities`.

use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types as lsp;

/// The parameters of `workspace/textDocumentContent`, and of the request that the client makes it
/// again.
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
