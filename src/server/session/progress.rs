//! The progress of long answers, and their parts, for clients that send a token for these. Progress
//! begins after a moment and ends before the answer; a user cancels it as the request itself. A long
//! list goes into messages of its own, and the answer is empty, as the protocol has it.

use std::future::Future;
use std::time::Duration;

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::server::transport::Outlet;

/// Answers that take no longer show no progress.
const MOMENT: Duration = Duration::from_millis(250);

/// Sends a value, which is JSON, for a token: a part of the answer to a request, or a progress.
pub(in crate::server) async fn send_value(
    output: &Outlet,
    token: &lsp::ProgressToken,
    value: &str,
) {
    let token = serde_json::json!(token);
    let params = format!(r#"{{"token":{token},"value":{value}}}"#);
    let message = format!(r#"{{"jsonrpc":"2.0","method":"$/progress","params":{params}}}"#);
    output.send_json(message.as_bytes()).await;
}

async fn send_progress(output: &Outlet, token: &lsp::ProgressToken, value: lsp::WorkDoneProgress) {
    send_value(output, token, &serde_json::json!(value).to_string()).await;
}

/// Returns the result of some work, and shows its progress where the client has a token and the
/// work takes longer than a moment.
pub(in crate::server) async fn with_progress<T>(
    output: &Outlet,
    token: Option<lsp::ProgressToken>,
    title: &str,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let Some(token) = token else { return work.await };
    tokio::pin!(work);
    if let Ok(done) = tokio::time::timeout(MOMENT, &mut work).await {
        return done;
    }
    let begin = lsp::WorkDoneProgressBegin {
        title: title.to_owned(),
        cancellable: Some(true),
        ..lsp::WorkDoneProgressBegin::default()
    };
    send_progress(output, &token, lsp::WorkDoneProgress::Begin(begin)).await;
    let done = work.await;
    let end = lsp::WorkDoneProgressEnd { message: None };
    send_progress(output, &token, lsp::WorkDoneProgress::End(end)).await;
    done
}
