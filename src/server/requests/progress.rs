//! Progress of long answers, for clients that ask with a token for it: it begins after a moment and
//! ends before the answer. A user cancels it as the request itself, as the protocol has it.

use std::future::Future;
use std::time::Duration;

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::server::Backend;
use crate::server::requests::parts::send_part;

/// Answers that take no longer show nothing.
const MOMENT: Duration = Duration::from_millis(250);

/// Returns the option with which the server announces progress.
pub(super) fn progress_options() -> lsp::WorkDoneProgressOptions {
    lsp::WorkDoneProgressOptions { work_done_progress: Some(true) }
}

impl Backend {
    /// Returns the result of some work, and shows its progress where the client has a token and the
    /// work takes longer than a moment.
    pub(in crate::server) async fn with_progress<T>(
        &self,
        params: lsp::WorkDoneProgressParams,
        title: &str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(token) = params.work_done_token else { return work.await };
        tokio::pin!(work);
        if let Ok(done) = tokio::time::timeout(MOMENT, &mut work).await {
            return done;
        }
        let begin = lsp::WorkDoneProgressBegin {
            title: title.to_owned(),
            cancellable: Some(true),
            ..lsp::WorkDoneProgressBegin::default()
        };
        send_part(&self.output, &token, &lsp::WorkDoneProgress::Begin(begin)).await;
        let done = work.await;
        let end = lsp::WorkDoneProgressEnd { message: None };
        send_part(&self.output, &token, &lsp::WorkDoneProgress::End(end)).await;
        done
    }
}
