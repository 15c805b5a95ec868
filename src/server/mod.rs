//! The protocol: the only place with its types and with `async`.
//!
//! `dispatch` has all methods. The path of an edit: `handlers::documents::did_change` changes the
//! workspace before the next message begins, and wakes the publisher. The publisher takes a snapshot,
//! computes the findings, and sends those that still hold. Requests take a snapshot and are answered
//! from it by one function of `handlers` each. While the folders are being read, a request waits for
//! the end of that. Answers that are expected to be quick are computed in place, all others on
//! another thread, see `pool`.

mod capabilities;
mod diagnostics;
mod dispatch;
mod documents;
mod evaluator;
mod from_lsp;
mod handlers;
mod lsp318;
mod pages;
mod pool;
mod reach;
mod session;
#[cfg(test)]
mod tests;
mod to_lsp;
mod transport;

use std::process::ExitCode;
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;
use tower_lsp::{LanguageServer, LspService};

use crate::hiera::lookup::STACK;
use dispatch::Methods;
use evaluator::Evaluator;
use pool::Pool;
use session::{ClientSettings, ServerHandle, Shared};
use transport::{Call, Json, Routes};

/// Serves the protocol over standard input and output until the client ends it.
pub fn run() -> ExitCode {
    let threads = Pool::new_threads();
    let evaluator = Evaluator::default();
    let status = transport::run(&threads, STACK, |input, output| {
        let shared = Arc::new(Shared::new_shared(input, threads.clone(), evaluator.clone()));
        LspService::build(|client| RoutedServer {
            server: ServerHandle { client, output, shared },
            methods: dispatch::methods(),
        })
        .custom_method(transport::REQUEST, RoutedServer::answer)
        .custom_method(transport::NOTIFICATION, RoutedServer::notify)
        .finish()
    });
    // However the session ended, no process of it is left.
    evaluator.end_all();
    status
}

/// The server as tower-lsp sees it.
struct RoutedServer {
    server: ServerHandle,
    methods: Methods,
}

impl RoutedServer {
    async fn answer(&self, call: Call) -> Result<Json> {
        self.methods.answer(&self.server, call).await
    }

    async fn notify(&self, call: Call) {
        self.methods.notify(&self.server, call);
    }
}

impl Routes for RoutedServer {
    fn has_method(&self, method: &str) -> bool {
        self.methods.has_method(method)
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for RoutedServer {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let announced = params.capabilities.experimental.clone().unwrap_or_default();
        let features = capabilities::Features::from_capabilities(announced);
        let folders = from_lsp::workspace_folders(&params);
        let options = params.initialization_options.map(unwrap_section);
        let evaluates = handlers::evaluate::is_switched_on(options.as_ref());
        let capabilities = lsp::ServerCapabilities {
            experimental: Some(capabilities::server_capabilities(&features, evaluates)),
            ..lsp::ServerCapabilities::default()
        };
        self.server.shared.with(|state| {
            state.features = features.into();
            state.evaluates = evaluates;
            state.client_settings = ClientSettings::of_options(options);
            state.list_folders(folders);
        });
        let server_info = lsp::ServerInfo {
            name: "hiera-ls".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        };
        Ok(lsp::InitializeResult { capabilities, server_info: Some(server_info) })
    }

    async fn shutdown(&self) -> Result<()> {
        let evaluator = self.server.shared.evaluator.clone();
        let _ = self.server.shared.pool.run(false, move || evaluator.end_all()).await;
        Ok(())
    }
}

/// Settings out of the section that some clients send them in.
fn unwrap_section(mut options: serde_json::Value) -> serde_json::Value {
    options.get_mut("hiera").map(serde_json::Value::take).unwrap_or(options)
}
