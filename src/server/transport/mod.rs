//! Replacements for parts of tower-lsp 0.20, in one place: a library that tolerates malformed
//! input, writes without hanging and reports the end of a session would make this folder
//! unnecessary.
//!
//! Of tower-lsp the server uses the state of a session, the cancellation of requests, the client
//! handle and the types. Its loop over standard input and output is replaced, for these reasons:
//! - it knows header names in one spelling, and reads no more after most messages that are wrong;
//!   here [`codec`] and [`message`] answer them, and the session goes on;
//! - it notices `exit` only when the next message arrives, which never comes; see [`session`];
//! - it panics when a client goes away while answers are computed, and when a client answers a
//!   request that nothing waits for any more; see [`peers`] and [`wait_answer`];
//! - it writes through tokio's pool of threads, which hangs where no thread can be had; see
//!   [`output`] and `pool::threads`.
//!
//! Its table of methods is replaced, too: it binds the protocol's names to types of lsp-types 0.94,
//! which lack members that answers have, and copies each result several times before it is written.
//! All methods of [`Routes`] reach the server under two names, [`REQUEST`] and [`NOTIFICATION`], as
//! a [`Call`], and answer with [`Json`]. Unknown methods stay with tower-lsp, which refuses them.
//! `initialize` stays with it, too; the capabilities of both sides pass it as JSON, see
//! [`wrap_capabilities`].
//!
//! A batch is answered as JSON-RPC 2.0 demands in section 6: its messages begin in order, and one
//! array holds the answers. The Language Server Protocol mentions no batches.

mod codec;
mod input;
mod message;
mod output;
mod peers;
mod session;
mod surrogates;

use std::future::Future;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, Sink, SinkExt, Stream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, RequestBuilder, Response};
use tower_lsp::{ClientSocket, ExitedError, LanguageServer, LspService};
use tower_service::Service;

use super::pool::Threads;
pub(super) use input::Input;
use message::Incoming;
pub(super) use output::Outlet;
use output::{Output, Progress};
use session::{End, Session};

/// The name under which tower-lsp knows all requests of [`Routes`].
pub(super) const REQUEST: &str = "request";
/// The name under which tower-lsp knows all notifications of [`Routes`].
pub(super) const NOTIFICATION: &str = "notification";

/// A server that answers messages under their own names.
pub(super) trait Routes {
    /// Whether a message with this method is answered as a [`Call`].
    fn has_method(&self, method: &str) -> bool;
}

/// A message for the server.
#[derive(Debug, Deserialize)]
pub(super) struct Call {
    /// The method, under its own name.
    pub(super) method: String,
    /// The parameters; null where there are none.
    pub(super) params: Value,
}

/// The result of a [`Call`], as JSON. tower-lsp takes it for a string; no other result is one.
#[derive(Debug, Serialize)]
pub(super) struct Json(pub(super) String);

/// How many messages are worked on at a time: with fewer, requests that wait for a thread would
/// hold back changes and cancellations, their own included.
const CONCURRENT_MESSAGES: usize = 4_096;

/// The code of an error for requests that come too early. Source: LSP 3.17, `ErrorCodes`.
const SERVER_NOT_INITIALIZED: i64 = -32002;

/// How long the end of a session waits for answers that are being written.
const FAREWELL: Duration = Duration::from_millis(100);

/// tokio's threads, besides the one that reads messages.
const RUNTIME_THREADS: usize = 2;

/// Serves the protocol over standard input and output until the session ends. `build` makes the
/// service; `threads` have not been started; `stack` is the size of the threads' stacks in bytes.
pub(super) fn run<S: LanguageServer + Routes>(
    threads: &Threads,
    stack: usize,
    build: impl FnOnce(Input, Outlet) -> (LspService<S>, ClientSocket),
) -> ExitCode {
    start(threads, stack, build).unwrap_or_else(|error| {
        print_line(&format!("the server cannot start: {error}"));
        ExitCode::from(2)
    })
}

fn start<S: LanguageServer + Routes>(
    threads: &Threads,
    stack: usize,
    build: impl FnOnce(Input, Outlet) -> (LspService<S>, ClientSocket),
) -> io::Result<ExitCode> {
    threads.start(RUNTIME_THREADS)?;
    let runtime = start_runtime(stack)?;
    let session = Session::default();
    let progress = Progress::default();
    let (output, written) =
        Output::write_to(standard_output()?, session.clone(), progress.clone())?;
    let input = Input::read_from(io::stdin())?;
    peers::watch_output(session.clone());
    let hang_up = peers::watch_input();
    let end = runtime.block_on(async {
        let (service, socket) = build(input.clone(), output.downgrade());
        let (requests, responses) = socket.split();
        let server = Server {
            service,
            responses,
            output,
            session: session.clone(),
            parent: None,
            is_initialized: false,
        };
        // The input of a client that reads no answer is not read to its end either.
        let ending = input.clone();
        let unread = async {
            tokio::select! {
                () = ending.wait_end() => {}
                () = hang_up.notified() => {}
            }
            progress.wait_stall().await;
        };
        let serving = server.serve(input, requests, written);
        tokio::pin!(serving);
        tokio::select! {
            biased;
            end = session.wait_end() => {
                let _ = tokio::time::timeout(FAREWELL, &mut serving).await;
                end
            }
            end = &mut serving => end,
            () = unread => End::Lost(
                "standard input has ended, and nothing reads standard output".to_owned(),
            ),
        }
    });
    let (status, word) = session.exit_outcome(&end);
    tracing::info!(lost = matches!(end, End::Lost(_)), "session ended");
    if let Some(word) = word {
        print_line(&word);
    }
    // A worker may still compute: its result has no reader.
    runtime.shutdown_background();
    Ok(status)
}

/// Starts tokio's runtime. Where the system has no thread for it after all, tokio panics, and waits
/// for its other threads while it unwinds: the process ends before that.
fn start_runtime(stack: usize) -> io::Result<Runtime> {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(|panic| {
        let why = panic.payload().downcast_ref::<String>().map_or("a panic", String::as_str);
        print_line(&format!("the server cannot start: {why}"));
        std::process::exit(2);
    }));
    let mut runtime = Builder::new_multi_thread();
    let runtime =
        runtime.worker_threads(RUNTIME_THREADS).thread_stack_size(stack).enable_all().build();
    std::panic::set_hook(usual);
    runtime
}

/// Standard output without the standard library's buffer, which would write each message in parts.
fn standard_output() -> io::Result<io::PipeWriter> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
    }
}

/// Prints a line for people, if standard error still has a reader.
fn print_line(text: &str) {
    let _ = writeln!(io::stderr(), "hiera-ls: {text}");
}

/// Returns the answer to a request to the client; `None` when `patience` ends first. A background
/// task waits for the request even then: tower-lsp panics at an answer that nothing waits for.
pub(super) async fn wait_answer<T: Send + 'static>(
    request: impl Future<Output = T> + Send + 'static,
    patience: Duration,
) -> Option<T> {
    tokio::time::timeout(patience, tokio::spawn(request)).await.ok()?.ok()
}

/// Returns the position that a request is about, as ` at line 1, character 12` with both counted
/// from 0 as in the protocol; empty for a request without a position.
fn position_of(request: &Request) -> String {
    let position = request.params().and_then(|params| params.get("position"));
    match (number_of("line", position), number_of("character", position)) {
        (Some(line), Some(character)) => format!(" at line {line}, character {character}"),
        _ => String::new(),
    }
}

fn number_of(name: &str, position: Option<&Value>) -> Option<u64> {
    position.and_then(|position| position.get(name)?.as_u64())
}

/// Logs a message that was handled: a response, or none for a notification.
fn log_answer(method: &str, response: Option<&Response>, start: Instant) {
    let us = start.elapsed().as_micros();
    match response {
        None => tracing::trace!(method, us, "notification"),
        Some(response) => {
            let error = response.error().map_or(0, |error| error.code.code());
            tracing::debug!(method, us, error, "request");
        }
    }
}

/// The loop over messages, and its state.
struct Server<S, R> {
    service: LspService<S>,
    /// Where responses to the server's own requests go.
    responses: R,
    output: Output,
    session: Session,
    /// The process that is watched, once `initialize` named it.
    parent: Option<i64>,
    /// Whether the client has sent `initialized`: then the folders are read.
    is_initialized: bool,
}

/// The work for a message.
type Task = BoxFuture<'static, ()>;

impl<S: LanguageServer + Routes, R: Sink<Response, Error = ExitedError> + Unpin> Server<S, R> {
    /// Handles messages until the session ends, then waits for pending output.
    async fn serve(
        mut self,
        input: Input,
        requests: impl Stream<Item = Request> + Send + Unpin + 'static,
        written: oneshot::Receiver<()>,
    ) -> End {
        let forwarding = tokio::spawn(forward_requests(requests, self.output.clone()));
        let mut tasks = FuturesUnordered::new();
        while !self.session.has_ended() {
            tokio::select! {
                // A message is begun before the next one is taken, so that changes keep their order.
                biased;
                Some(()) = tasks.next() => {}
                message = input.next(), if tasks.len() < CONCURRENT_MESSAGES => match message {
                    Some(message) => tasks.extend(self.begin_message(message).map(|task| input.wrap_work(task))),
                    None => break,
                },
            }
        }
        // An `exit` that was just taken in counts before the end of the input.
        let reason = self.session.end_reason();
        let end = reason
            .unwrap_or_else(|| input.end_reason().map_or_else(End::Lost, |()| End::InputEnded));
        if end != End::InputEnded {
            self.session.end_session(end.clone());
        }
        while tasks.next().await.is_some() {}
        forwarding.abort();
        let _ = forwarding.await;
        let session = self.session.clone();
        drop((tasks, self));
        let _ = written.await;
        // Answers to the last messages may be lost after the end of the input.
        match (&end, session.end_reason()) {
            (End::InputEnded, Some(lost @ End::Lost(_))) => lost,
            _ => end,
        }
    }

    /// Takes a message; returns the future that handles it.
    fn begin_message(&mut self, message: Incoming) -> Option<Task> {
        let output = self.output.clone();
        match message {
            Incoming::Ignored => None,
            Incoming::Response(response) => {
                // This sink takes every response at once.
                let _ = self.responses.start_send_unpin(response);
                None
            }
            Incoming::Refused(refusal) => {
                let answer = refusal.to_json().into_bytes();
                Some(async move { output.send_json(&answer).await }.boxed())
            }
            Incoming::Request(request) => {
                let answer = self.call_service(request);
                let task = async move {
                    if let Some(answer) = answer.await {
                        output.send_json(answer.as_bytes()).await;
                    }
                };
                Some(task.boxed())
            }
            Incoming::Batch(messages) => {
                let answers: Vec<_> = messages
                    .into_iter()
                    .filter_map(|message| self.begin_of_batch(message))
                    .collect();
                let task = async move {
                    let answers: Vec<String> =
                        join_all(answers).await.into_iter().flatten().collect();
                    if !answers.is_empty() {
                        output.send_json(format!("[{}]", answers.join(",")).as_bytes()).await;
                    }
                };
                Some(task.boxed())
            }
        }
    }

    /// Takes a message of a batch; returns the future that computes its answer, as JSON.
    fn begin_of_batch(&mut self, message: Incoming) -> Option<BoxFuture<'static, Option<String>>> {
        match message {
            Incoming::Refused(refusal) => Some(std::future::ready(Some(refusal.to_json())).boxed()),
            Incoming::Request(request) => Some(self.call_service(request)),
            other => {
                let none = self.begin_message(other);
                debug_assert!(none.is_none(), "a response is not answered, batches do not nest");
                None
            }
        }
    }

    /// Begins to handle a request or a notification; returns the future that computes the answer, as
    /// JSON.
    fn call_service(&mut self, request: Request) -> BoxFuture<'static, Option<String>> {
        self.observe(&request);
        let refusal = request
            .id()
            .cloned()
            .and_then(|id| Some(Response::from_error(id, self.refuse_request(request.method())?)));
        let method = request.method().to_owned();
        let position = position_of(&request);
        let start = Instant::now();
        let answer = refusal.is_none().then(|| {
            let is_routed = self.service.inner().has_method(&method);
            self.service.call(if is_routed { wrap_call(request) } else { adapt_params(request) })
        });
        async move {
            let response = match answer {
                Some(answer) if method == "initialize" => {
                    answer.await.ok().flatten().map(unwrap_capabilities)
                }
                Some(answer) => answer.await.ok().flatten(),
                None => refusal,
            };
            let error = response.as_ref().and_then(Response::error);
            if error.is_some_and(|error| error.code == ErrorCode::InternalError) {
                print_line(&format!("the answer to {method}{position} failed"));
            }
            log_answer(&method, response.as_ref(), start);
            response_text(response?)
        }
        .boxed()
    }

    /// Returns the error of a request that gets no answer from tower-lsp; `None` for a request that
    /// does.
    ///
    /// tower-lsp ignores requests that begin with `$/`; the protocol requires an answer. It passes on
    /// requests that come before `initialized`, which would wait for the folders for ever.
    fn refuse_request(&self, method: &str) -> Option<Error> {
        if method.starts_with("$/") {
            return Some(Error { data: None, ..Error::method_not_found() });
        }
        let is_early = !self.is_initialized && !self.session.has_shut_down();
        (is_early && !matches!(method, "initialize" | "shutdown")).then(|| Error {
            code: ErrorCode::ServerError(SERVER_NOT_INITIALIZED),
            message: "the client has not sent 'initialized' yet".into(),
            data: None,
        })
    }

    /// Learns from a request how the session may end, and whether it has begun.
    fn observe(&mut self, request: &Request) {
        match request.method() {
            "initialize" if self.parent.is_none() => {
                self.parent = request.params().and_then(|params| params["processId"].as_i64());
                if let Some(parent) = self.parent {
                    peers::watch_process(parent, self.session.clone());
                }
            }
            "initialized" => self.is_initialized = true,
            "shutdown" => self.session.request_shutdown(),
            "exit" => self.session.end_session(End::Exit),
            _ => {}
        }
    }
}

/// Writes the server's own requests and notifications in their order.
async fn forward_requests(mut requests: impl Stream<Item = Request> + Unpin, output: Output) {
    while let Some(request) = requests.next().await {
        output.send(&without_null(request)).await;
    }
}

/// tower-lsp writes `"params": null` where a request has no parameters; by JSON-RPC 2.0, section
/// 4.2, there are an object, an array, or none.
fn without_null(request: Request) -> Request {
    if !request.params().is_some_and(serde_json::Value::is_null) {
        return request;
    }
    let (method, id, _) = request.into_parts();
    with_id(Request::build(method), id).finish()
}

/// Moves the client's capabilities as they are into `experimental`, the one member that lsp-types
/// 0.94 takes with any content: of all others it drops what version 3.17 does not have, and it has
/// `workspace.diagnostics` under another name.
fn wrap_capabilities(mut params: Value) -> Value {
    if let Some(capabilities) = params.get_mut("capabilities").filter(|all| all.is_object()) {
        *capabilities = json!({"experimental": capabilities.take()});
    }
    params
}

/// Moves the server's capabilities out of `experimental`, where they are for the same reason as
/// those of the client, see [`wrap_capabilities`].
fn unwrap_capabilities(response: Response) -> Response {
    match response.into_parts() {
        (id, Ok(mut result)) => {
            result["capabilities"] = result["capabilities"]["experimental"].take();
            Response::from_ok(id, result)
        }
        (id, Err(error)) => Response::from_error(id, error),
    }
}

fn with_id(request: RequestBuilder, id: Option<Id>) -> RequestBuilder {
    match id {
        Some(id) => request.id(id),
        None => request,
    }
}

/// Wraps a message of [`Routes`] into the call that tower-lsp passes on.
fn wrap_call(request: Request) -> Request {
    let (method, id, params) = request.into_parts();
    let name = if id.is_some() { REQUEST } else { NOTIFICATION };
    // `json!` would copy the parameters, and with them the text of a file that is opened.
    let mut call = serde_json::Map::new();
    call.insert("method".to_owned(), Value::String(method.into_owned()));
    call.insert("params".to_owned(), params.unwrap_or_default());
    with_id(Request::build(name), id).params(Value::Object(call)).finish()
}

/// tower-lsp refuses parameters where the protocol has none, but Emacs's eglot sends `"params":
/// null` with `shutdown`.
fn adapt_params(request: Request) -> Request {
    let params = match request.method() {
        "shutdown" | "exit" => None,
        "initialize" => request.params().cloned().map(wrap_capabilities),
        _ => return request,
    };
    let (method, id, _) = request.into_parts();
    let request = with_id(Request::build(method), id);
    match params {
        Some(params) => request.params(params).finish(),
        None => request.finish(),
    }
}

/// Returns a response as JSON; `None` where it has none. The result of a [`Call`] is JSON already.
fn response_text(response: Response) -> Option<String> {
    let Some(Value::String(result)) = response.result() else {
        return serde_json::to_string(&response).ok();
    };
    let id = serde_json::to_string(response.id()).ok()?;
    Some(format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_a_call_is_the_result_of_its_response() {
        let result = json!({"a": [1, "\"\u{1f600}"]});
        let carried = serde_json::to_value(Json(result.to_string())).expect("it is JSON");
        let text = response_text(Response::from_ok(Id::String("x\"".into()), carried));
        let response: Value = serde_json::from_str(&text.expect("a text")).expect("it is JSON");
        assert_eq!(response, json!({"jsonrpc": "2.0", "id": "x\"", "result": result}));
        let failed = response_text(Response::from_error(Id::Number(7), Error::internal_error()));
        let failed: Value = serde_json::from_str(&failed.expect("a text")).expect("it is JSON");
        assert_eq!((&failed["error"]["code"], &failed["id"]), (&json!(-32603), &json!(7)));
    }
}
