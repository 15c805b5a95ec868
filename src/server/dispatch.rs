//! All messages of the client, once each under their names, and the way from a message to its
//! answer.
//!
//! Of a request that is a function of a snapshot, this file reads the parameters, takes the
//! snapshot, chooses the thread (see `pool`), shows progress, sends long lists in parts, and writes
//! the answer as JSON. `initialize` and `shutdown` are tower-lsp's, which keeps the state of the
//! session by them; `exit` and `$/cancelRequest` never come here.

use std::collections::HashMap;
use std::future::Future;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types as lsp;

use super::diagnostics::pull;
use super::from_lsp::path_of_uri;
use super::handlers::{
    Answer, actions, calls, completion, definition, documents, evaluate, hints_and_lenses, nodes,
    overrides, pages, references, rename, semantic_tokens, structure, symbols, views,
};
use super::session::progress::{send_value, with_progress};
use super::session::{ClientView, ServerHandle};
use super::transport::{Call, Json};
use crate::text::FilePath;
use crate::workspace::Snapshot;

/// The number of members in a part of a list: more than an editor shows at once.
const PART: usize = 200;

/// Returns the methods that the server answers.
pub(super) fn methods() -> Methods {
    let mut all = Methods::default();
    all.add_notification("initialized", documents::initialized);
    all.add_notification("textDocument/didOpen", documents::did_open);
    all.add_notification("textDocument/didChange", documents::did_change);
    all.add_notification("textDocument/didSave", documents::did_save);
    all.add_notification("textDocument/didClose", documents::did_close);
    all.add_notification("workspace/didChangeWatchedFiles", documents::did_change_watched_files);
    all.add_notification("workspace/didChangeConfiguration", documents::did_change_configuration);
    all.add_notification(
        "workspace/didChangeWorkspaceFolders",
        documents::did_change_workspace_folders,
    );
    all.add_notification("window/workDoneProgress/cancel", evaluate::cancel_progress);

    all.add("textDocument/hover", definition::hover);
    all.add("textDocument/definition", definition::definition);
    all.add("textDocument/implementation", definition::implementation);
    all.add("textDocument/completion", completion::completion);
    all.add_async("completionItem/resolve", completion::resolve_item);
    all.add_list("textDocument/references", references::references).progress =
        Some("Finding references");
    all.add("textDocument/documentHighlight", references::document_highlight);
    all.add("textDocument/prepareCallHierarchy", calls::prepare_call_hierarchy);
    all.add_list("callHierarchy/incomingCalls", calls::incoming);
    all.add_list("callHierarchy/outgoingCalls", calls::outgoing);
    all.add("textDocument/prepareRename", rename::prepare_rename);
    all.add_async("textDocument/rename", rename::rename).progress = Some("Renaming");
    all.add("workspace/willRenameFiles", rename::will_rename_files);
    all.add("textDocument/codeAction", actions::code_action).progress = Some("Comparing values");
    all.add_async("workspace/executeCommand", evaluate::execute_command);
    all.add_async("textDocument/diagnostic", pull::document_diagnostic);
    all.add_async("workspace/diagnostic", pull::workspace_diagnostic);
    all.add("workspace/textDocumentContent", pages::text_document_content).is_long = true;
    all.add("textDocument/documentSymbol", symbols::document_symbol);
    all.add_list("workspace/symbol", symbols::workspace_symbol).progress =
        Some("Searching for keys");
    all.add("textDocument/foldingRange", structure::folding_range);
    all.add("textDocument/selectionRange", structure::selection_range);
    all.add("textDocument/documentLink", structure::document_link);
    all.add("textDocument/inlayHint", hints_and_lenses::inlay_hint);
    all.add("textDocument/codeLens", hints_and_lenses::code_lens);
    all.add("codeLens/resolve", hints_and_lenses::resolve_lens);
    all.add("textDocument/semanticTokens/full", semantic_tokens::full);
    all.add("textDocument/semanticTokens/full/delta", semantic_tokens::delta);
    all.add("textDocument/semanticTokens/range", semantic_tokens::range);

    // These methods are the server's own, see `docs/protocol.md`. A request is about a file, and
    // about the file's text only where the request has a place in it.
    all.add("hiera/nodes", nodes::nodes).is_about_text = has_place;
    all.add_async("hiera/selectNode", nodes::select_node);
    all.add("hiera/hierarchy", views::hierarchy).is_about_text = has_place;
    all.add("hiera/explain", views::explain).is_about_text = has_place;
    let effective_data = all.add("hiera/effectiveData", views::effective_data);
    effective_data.is_about_text = has_place;
    effective_data.is_long = true;
    let reach = all.add("hiera/reach", views::reach);
    reach.is_about_text = has_place;
    reach.is_long = true;
    all.add("hiera/overrideTargets", overrides::override_targets).is_long = true;
    all.add("hiera/override", overrides::override_for).is_long = true;
    all.add("hiera/status", views::status);
    all.add("hiera/config", views::config_page);
    all
}

/// The methods that the server answers.
#[derive(Default)]
pub(super) struct Methods(HashMap<&'static str, MethodHandler>);

enum MethodHandler {
    Request(RequestHandler),
    Notification(Box<NotificationHandler>),
}

type NotificationHandler = dyn Fn(&ServerHandle, Value) -> Result<()> + Send + Sync;

struct RequestHandler {
    /// The title of the request's progress; `None` where the request shows none.
    progress: Option<&'static str>,
    /// Whether the answer always takes long: it gets a thread of its own at once.
    is_long: bool,
    /// Whether the answer is about the text of the parameters' `textDocument`: the request is refused
    /// where that text has changed before it could be answered.
    is_about_text: fn(&Value) -> bool,
    handle: Box<AnswerFunction>,
}

type AnswerFunction = dyn Fn(PendingRequest) -> BoxFuture<'static, Result<Encoded>> + Send + Sync;

/// A request, with the fields of its [`RequestHandler`].
struct PendingRequest {
    server: ServerHandle,
    params: Value,
    document: Option<FilePath>,
    is_long: bool,
}

/// An answer as JSON.
struct Encoded {
    /// The parts of a long list, for a client that takes these.
    parts: Vec<String>,
    /// The result of the request.
    result: String,
}

impl Methods {
    /// Adds a request that is answered from a snapshot.
    fn add<P: DeserializeOwned + Send + 'static, T: Serialize + 'static>(
        &mut self,
        method: &'static str,
        handler: fn(&Snapshot, &ClientView, &P) -> Answer<T>,
    ) -> &mut RequestHandler {
        self.add_computed(method, handler, |answer, _| Encoded::whole(&answer))
    }

    /// Adds a request whose answer is a list, which goes into parts where the client asks for parts
    /// and the list is longer than one.
    fn add_list<P: DeserializeOwned + Send + 'static, T: Serialize + 'static>(
        &mut self,
        method: &'static str,
        handler: fn(&Snapshot, &ClientView, &P) -> Answer<Vec<T>>,
    ) -> &mut RequestHandler {
        self.add_computed(method, handler, |answer, has_parts| match answer {
            Some(list) if has_parts && list.len() > PART => Encoded::in_parts(&list),
            answer => Encoded::whole(&answer),
        })
    }

    fn add_computed<P: DeserializeOwned + Send + 'static, T: 'static>(
        &mut self,
        method: &'static str,
        handler: fn(&Snapshot, &ClientView, &P) -> Answer<T>,
        encode: fn(Option<T>, bool) -> Result<Encoded>,
    ) -> &mut RequestHandler {
        self.add_request(method, move |PendingRequest { server, params, document, is_long }| {
            let has_parts = !params["partialResultToken"].is_null();
            let params: Result<P> = parse_params(params);
            async move {
                let params = params?;
                server
                    .answer(document, is_long, move |snapshot, client| {
                        encode(handler(snapshot, client, &params)?, has_parts)
                    })
                    .await?
            }
            .boxed()
        })
    }

    /// Adds a request that waits for more than a snapshot, or changes the state.
    fn add_async<P, T, F>(
        &mut self,
        method: &'static str,
        handler: fn(ServerHandle, P) -> F,
    ) -> &mut RequestHandler
    where
        P: DeserializeOwned + Send + 'static,
        T: Serialize,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.add_request(method, move |PendingRequest { server, params, .. }| {
            match parse_params(params) {
                Ok(params) => {
                    handler(server, params).map(|answer| Encoded::whole(&answer?)).boxed()
                }
                Err(error) => std::future::ready(Err(error)).boxed(),
            }
        })
    }

    fn add_request(
        &mut self,
        method: &'static str,
        handle: impl Fn(PendingRequest) -> BoxFuture<'static, Result<Encoded>> + Send + Sync + 'static,
    ) -> &mut RequestHandler {
        let handler = RequestHandler {
            progress: None,
            is_long: false,
            is_about_text: |_| true,
            handle: Box::new(handle),
        };
        match self.0.entry(method).insert_entry(MethodHandler::Request(handler)).into_mut() {
            MethodHandler::Request(handler) => handler,
            MethodHandler::Notification(_) => unreachable!("a request was added"),
        }
    }

    /// Adds a notification.
    fn add_notification<P: DeserializeOwned + 'static>(
        &mut self,
        method: &'static str,
        handler: fn(&ServerHandle, P),
    ) {
        self.0.insert(
            method,
            MethodHandler::Notification(Box::new(move |server: &ServerHandle, params| {
                handler(server, parse_params(params)?);
                Ok(())
            })),
        );
    }
}

impl Methods {
    /// Whether a method is one that the server answers.
    pub(super) fn has_method(&self, method: &str) -> bool {
        self.0.contains_key(method)
    }

    /// Answers a request.
    pub(super) async fn answer(
        &self,
        server: &ServerHandle,
        Call { method, params }: Call,
    ) -> Result<Json> {
        let Some(MethodHandler::Request(handler)) = self.0.get(&*method) else {
            return Err(Error::invalid_request());
        };
        let token = |name: &str| serde_json::from_value(params[name].clone()).ok();
        let (partial, progress): (Option<lsp::ProgressToken>, _) = (
            token("partialResultToken"),
            token("workDoneToken").filter(|_| handler.progress.is_some()),
        );
        let output = &server.output;
        let document = if (handler.is_about_text)(&params) { document_path(&params) } else { None };
        let (server, is_long) = (server.clone(), handler.is_long);
        let answering = (handler.handle)(PendingRequest { server, params, document, is_long });
        let title = handler.progress.unwrap_or_default();
        let Encoded { parts, result } = with_progress(output, progress, title, answering).await?;
        if let Some(token) = partial {
            for part in parts {
                send_value(output, &token, &part).await;
            }
        }
        Ok(Json(result))
    }

    /// Handles a notification.
    pub(super) fn notify(&self, server: &ServerHandle, Call { method, params }: Call) {
        if let Some(MethodHandler::Notification(handle)) = self.0.get(&*method)
            && let Err(error) = handle(server, params)
        {
            tracing::debug!(method, %error, "notification that cannot be read");
        }
    }
}

impl Encoded {
    fn whole(answer: &impl Serialize) -> Result<Encoded> {
        Ok(Encoded { parts: Vec::new(), result: to_json(answer)? })
    }

    fn in_parts<T: Serialize>(list: &[T]) -> Result<Encoded> {
        let parts = list.chunks(PART).map(|part| to_json(&part)).collect::<Result<_>>()?;
        Ok(Encoded { parts, result: "[]".to_owned() })
    }
}

/// Returns the path of the document that a request names.
fn document_path(params: &Value) -> Option<FilePath> {
    let uri = params["textDocument"]["uri"].as_str()?;
    path_of_uri(&lsp::Url::parse(uri).ok()?)
}

/// Whether a request names a place in a text, and no key in its stead.
fn has_place(params: &Value) -> bool {
    !params["position"].is_null() && params["key"].is_null()
}

fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error { message: error.to_string().into(), ..Error::internal_error() })
}

/// Reads the parameters of a message. A message without parameters has an object without members.
fn parse_params<P: DeserializeOwned>(params: Value) -> Result<P> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    serde_json::from_value(params).map_err(|error| Error::invalid_params(error.to_string()))
}
