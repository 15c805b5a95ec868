//! The server's requests that the client request answers again: findings, and words beside the text.

use std::sync::Arc;
use std::time::Duration;

use tower_lsp::Client;

use super::state::Shared;
use crate::server::transport::wait_answer;

/// The longest time that the server waits for a client's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the server waits for a client's own request after a change, before it asks the client
/// to request findings again.
const GRACE: Duration = Duration::from_millis(50);

/// Asks the client to request findings again, unless it does so by itself, if those that it has of
/// some documents are outdated.
pub(in crate::server) fn ask_for_findings(client: &Client, shared: &Arc<Shared>) {
    if !shared.findings.begin_refresh() {
        return;
    }
    let (client, shared) = (client.clone(), shared.clone());
    tokio::spawn(async move {
        tokio::time::sleep(GRACE).await;
        if shared.findings.ends_refresh() {
            let asking = async move { client.workspace_diagnostic_refresh().await };
            let _ = wait_answer(asking, PATIENCE).await;
        }
    });
}

/// Asks the client to request lenses again, if it can be asked. Waits for no answer.
pub(in crate::server) fn ask_for_lenses(client: &Client, shared: &Shared) {
    if shared.with(|state| state.features.refreshes_lenses) {
        let client = client.clone();
        let asking = async move { client.code_lens_refresh().await };
        tokio::spawn(wait_answer(asking, PATIENCE));
    }
}

/// Asks the client to request hints, lenses and semantic tokens again, which depend on other files,
/// nodes and settings. Waits for no answer.
pub(in crate::server) fn ask_for_views(client: &Client, shared: &Shared) {
    let features = shared.with(|state| state.features.clone());
    if features.refreshes_hints {
        let client = client.clone();
        let asking = async move { client.inlay_hint_refresh().await };
        tokio::spawn(wait_answer(asking, PATIENCE));
    }
    ask_for_lenses(client, shared);
    if features.refreshes_tokens {
        let client = client.clone();
        let asking = async move { client.semantic_tokens_refresh().await };
        tokio::spawn(wait_answer(asking, PATIENCE));
    }
}
