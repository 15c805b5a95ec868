//! The end of a session, however the client ends it: `exit` after `shutdown`, `exit` alone, or a closed standard input.
//!
//! Also what is forgiven to clients on the way in.
//!
//! tower-lsp notices `exit` only when the next message arrives, which never comes; so the messages are watched on their way in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tower_lsp::jsonrpc::{Request, Response};
use tower_lsp::{ExitedError, LspService};

use super::input::{Input, Message};

/// What is known of the session's end.
#[derive(Clone, Default)]
pub(super) struct Ended {
    exit: Arc<Notify>,
    was_asked: Arc<AtomicBool>,
    exited: Arc<AtomicBool>,
}

impl Ended {
    /// Waits for `exit`.
    pub(super) async fn exit(&self) {
        self.exit.notified().await;
    }

    /// Whether the client asked for the end as it should, or just went away; `exit` without `shutdown` is the one bad way.
    pub(super) fn was_clean(&self) -> bool {
        self.was_asked.load(Ordering::SeqCst) || !self.exited.load(Ordering::SeqCst)
    }
}

/// The service whose messages come from `input`, and what it will know of its end.
pub(super) fn watched<S>(inner: LspService<S>, input: Input) -> (Watched<S>, Ended) {
    let ended = Ended::default();
    (Watched { inner, input, ended: ended.clone() }, ended)
}

/// A service whose messages are looked at.
pub(super) struct Watched<S> {
    inner: LspService<S>,
    input: Input,
    ended: Ended,
}

impl<S: tower_lsp::LanguageServer> tower_service::Service<Request> for Watched<S> {
    type Response = Option<Response>;
    type Error = ExitedError;
    type Future = Message<<LspService<S> as tower_service::Service<Request>>::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ExitedError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match request.method() {
            "shutdown" => self.ended.was_asked.store(true, Ordering::SeqCst),
            "exit" => {
                self.ended.exited.store(true, Ordering::SeqCst);
                self.ended.exit.notify_one();
            }
            _ => {}
        }
        self.input.message(self.inner.call(tolerated(request)))
    }
}

/// tower-lsp refuses parameters where the protocol has none, but Emacs's eglot sends `"params": null` with `shutdown`; and it does
/// without `initialized` unless that has an object.
fn tolerated(request: Request) -> Request {
    let params = match request.method() {
        "shutdown" => None,
        "initialized" | "hiera/nodes" | "hiera/selectNode" if request.params().is_none_or(|params| params.is_null()) => {
            Some(serde_json::json!({}))
        }
        _ => return request,
    };
    let (method, id, _) = request.into_parts();
    let request = Request::build(method);
    let request = match id {
        Some(id) => request.id(id),
        None => request,
    };
    match params {
        Some(params) => request.params(params).finish(),
        None => request.finish(),
    }
}
