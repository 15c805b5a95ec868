//! The floor: a server that only echoes, over the same transport as the real one, tower-lsp and
//! tokio as they come. (The real one reads its input on a thread of its own, looks at more messages
//! at a time, and has another allocator.)

use tower_lsp::jsonrpc::Result;
use tower_lsp::{Client, LanguageServer, LspService, Server, lsp_types as lsp};

struct Floor {
    client: Client,
}

#[tower_lsp::async_trait]
impl LanguageServer for Floor {
    async fn initialize(&self, _: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let capabilities = lsp::ServerCapabilities {
            position_encoding: Some(lsp::PositionEncodingKind::UTF8),
            text_document_sync: Some(lsp::TextDocumentSyncCapability::Kind(
                lsp::TextDocumentSyncKind::INCREMENTAL,
            )),
            hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
            definition_provider: Some(lsp::OneOf::Left(true)),
            completion_provider: Some(lsp::CompletionOptions::default()),
            ..lsp::ServerCapabilities::default()
        };
        Ok(lsp::InitializeResult { capabilities, server_info: None })
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.client.publish_diagnostics(document.uri, Vec::new(), Some(document.version)).await;
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let document = params.text_document;
        self.client.publish_diagnostics(document.uri, Vec::new(), Some(document.version)).await;
    }

    async fn hover(&self, _: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        let contents = lsp::HoverContents::Scalar(lsp::MarkedString::String("floor".into()));
        Ok(Some(lsp::Hover { contents, range: None }))
    }

    async fn completion(
        &self,
        _: lsp::CompletionParams,
    ) -> Result<Option<lsp::CompletionResponse>> {
        let item = lsp::CompletionItem::new_simple("floor".into(), "floor".into());
        Ok(Some(lsp::CompletionResponse::Array(vec![item])))
    }

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        let uri = params.text_document_position_params.text_document.uri;
        Ok(Some(lsp::GotoDefinitionResponse::Scalar(lsp::Location {
            uri,
            range: lsp::Range::default(),
        })))
    }
}

/// Serves until standard input ends, with as many threads for messages as the real server has.
pub fn run() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime
        .worker_threads(2)
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let (service, socket) = LspService::new(|client| Floor { client });
        Server::new(tokio::io::stdin(), tokio::io::stdout(), socket)
            .concurrency_level(64)
            .serve(service)
            .await;
    });
    runtime.shutdown_background();
}
