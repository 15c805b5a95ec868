//! Long answers in parts, for clients that ask with a token for them: `$/progress` with a part each,
//! and an empty answer at the end, as the protocol has it.

use serde::Serialize;
use tower_lsp::lsp_types as lsp;

use crate::server::transport::Outlet;

/// How many members of a list a part has: more than an editor shows at once.
const PART: usize = 200;

/// Sends a part of the answer to a request.
pub(in crate::server) async fn send_part(
    output: &Outlet,
    token: &lsp::ProgressToken,
    value: &impl Serialize,
) {
    let message = serde_json::json!({
        "jsonrpc": "2.0",
        "method": "$/progress",
        "params": {"token": token, "value": value},
    });
    output.send_json(message.to_string().as_bytes()).await;
}

/// Sends a list in parts, where the client asked for parts and the list is longer than one; returns
/// the items that are left for the answer.
pub(in crate::server) async fn in_parts<T: Serialize>(
    output: &Outlet,
    token: Option<lsp::ProgressToken>,
    items: Vec<T>,
) -> Vec<T> {
    let Some(token) = token.filter(|_| items.len() > PART) else { return items };
    for part in items.chunks(PART) {
        send_part(output, &token, &part).await;
    }
    Vec::new()
}
