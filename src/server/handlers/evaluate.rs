//! The command that evaluates a key with the functions of levels: the question to the user, the
//! progress, and the outcome. Only this command runs code of a repository, and only where the user
//! switched it on, sends it, and agrees.

use serde::Deserialize;
use serde_json::Value;
use tower_lsp::Client;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::notification::Progress;
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;
use tower_lsp::lsp_types::{self as lsp, MessageType};

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::pages;
use crate::backends::{BackendsConfig, Permit};
use crate::disk::OsFs;
use crate::hiera::key::LookupKey;
use crate::ide::evaluation::{self, Evaluation, EvaluationSubject, Offer};
use crate::ide::phrases::PlaceNames;
use crate::ide::story;
use crate::puppet::print::PrintOptions;
use crate::server::capabilities::{EVALUATE_COMMAND, EVALUATE_KIND, SHOW_COMMAND, commands};
use crate::server::from_lsp;
use crate::server::session::{ServerHandle, Shared};
use crate::server::transport::wait_answer;
use crate::settings::{Origin, Settings};
use crate::text::escape::escape_notification;
use crate::text::{FilePath, FilePosition};
use crate::workspace::Snapshot;

/// The answer that lets functions run.
const RUN: &str = "Run";
/// How long the client may take to show a progress.
const PATIENCE: Duration = Duration::from_secs(10);

/// The argument of the command: a file, and a root key by its name or by its place.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateArgument {
    uri: lsp::Url,
    key: Option<String>,
    position: Option<lsp::Position>,
    /// The node; without one, the node of the file.
    node: Option<String>,
}

/// Whether the settings that came with `initialize` switch the command on.
pub(in crate::server) fn is_switched_on(options: Option<&Value>) -> bool {
    let mut settings = Settings::default();
    options.is_some_and(|options| {
        settings.apply(options, Origin::User);
        settings.run_backends.enabled
    })
}

/// Returns the code actions that evaluate the key at a place.
pub(super) fn evaluate_actions(
    snapshot: &Snapshot,
    uri: &lsp::Url,
    position: FilePosition,
) -> Vec<lsp::CodeAction> {
    evaluation::find_offers(snapshot, position)
        .into_iter()
        .map(|Offer { key, node }: Offer| {
            let of = node.as_ref().map(|node| format!(", for {node}")).unwrap_or_default();
            let title = format!("Evaluate '{key}' with the custom backends{of}");
            let argument = serde_json::json!({"uri": uri, "key": &*key, "node": node.as_deref()});
            let arguments = Some(vec![argument]);
            let command =
                lsp::Command { title: title.clone(), command: EVALUATE_COMMAND.into(), arguments };
            let (kind, command) = (Some(EVALUATE_KIND), Some(command));
            lsp::CodeAction { title, kind, command, ..lsp::CodeAction::default() }
        })
        .collect()
}

/// Takes a command of the server: one of those that it announced.
pub(in crate::server) async fn execute_command(
    server: ServerHandle,
    params: lsp::ExecuteCommandParams,
) -> Result<Option<Value>> {
    server.shared.await_scans().await;
    let offered = server.shared.with(|state| commands(&state.features, state.evaluates));
    let argument = params.arguments.into_iter().next();
    match offered.into_iter().find(|name| *name == params.command) {
        Some(SHOW_COMMAND) => pages::show_page(&server, argument),
        Some(_) => begin_evaluation(server, argument),
        None => Err(Error::invalid_params(format!("there is no command {}", params.command))),
    }
}

/// Takes the command that evaluates a key. It is answered at once: the question, the progress and the
/// outcome come in messages of their own, as editors wait for an answer only so long.
fn begin_evaluation(server: ServerHandle, argument: Option<Value>) -> Result<Option<Value>> {
    let asked: EvaluateArgument = serde_json::from_value(argument.unwrap_or_default())
        .map_err(|error| Error::invalid_params(error.to_string()))?;
    if asked.key.is_none() && asked.position.is_none() {
        return Err(Error::invalid_params("either a position or a key must be given"));
    }
    // Never wait for the client within a handler: it may be waiting for the answer.
    tokio::spawn(evaluate(server.client, server.shared, asked));
    Ok(None)
}

/// The client's user cancels a progress.
pub(in crate::server) fn cancel_progress(
    server: &ServerHandle,
    params: lsp::WorkDoneProgressCancelParams,
) {
    server.shared.evaluator.cancel(&params.token);
}

/// Evaluates a key if the user agrees, and shows the outcome.
async fn evaluate(client: Client, shared: Arc<Shared>, asked: EvaluateArgument) {
    let outcome = try_to_evaluate(&client, &shared, asked).await;
    let (kind, text) = match outcome {
        Ok(None) => return, // The user declined.
        Ok(Some(text)) => (MessageType::INFO, text),
        Err(text) => (MessageType::WARNING, text),
    };
    client.show_message(kind, escape_notification(&format!("Hiera: {text}"))).await;
}

/// A request with the code that it would run now.
struct Prepared {
    snapshot: Snapshot,
    target: EvaluationSubject,
    config: BackendsConfig,
    permit: Permit,
}

/// Returns the words for the user; `None` where the user declined or cancelled.
async fn try_to_evaluate(
    client: &Client,
    shared: &Arc<Shared>,
    asked: EvaluateArgument,
) -> std::result::Result<Option<String>, String> {
    let evaluator = shared.evaluator.clone();
    let _turn = evaluator.wait_turn().await;
    let mut named: Option<BTreeSet<FilePath>> = None;
    let mut last = None;
    loop {
        // Files may have changed while the question was open: the user's answer is about the files
        // that the question named.
        let prepared = prepare(shared, &asked, named.as_ref()).await?;
        let Prepared { snapshot, target, config, permit } = prepared;
        let files = named.take().unwrap_or_else(|| evaluator.named_files(&permit.root));
        if !evaluator.is_allowed(&permit) {
            let decrypts = snapshot.config().eyaml.decrypt;
            let question = question(&snapshot, &target, &permit, decrypts);
            if !ask_consent(client, question).await {
                return last.transpose();
            }
            evaluator.record_consent(permit, files);
            continue;
        }
        let under_way = evaluator.begin_request(target.environment.root.clone());
        let key = target.key.text.clone();
        let shown = begin_progress(client, shared, &under_way.token, &key).await;
        let at = clock_time();
        let outcome = evaluator.evaluate(snapshot, target, config, permit, &under_way, at).await;
        if shown {
            let end = lsp::WorkDoneProgressEnd { message: None };
            send_progress(client, &under_way.token, lsp::WorkDoneProgress::End(end)).await;
        }
        let (evaluation, refused) = match outcome {
            Some(found) => found,
            None if under_way.is_cancelled() => return Ok(None),
            None => return Err(format!("'{key}' was not evaluated: nothing more can run here")),
        };
        shared.pages.expire_all();
        let outcome = outcome_message(&key, &evaluation);
        if refused.is_subset(&files) {
            return outcome.map(Some);
        }
        // The user is asked about the files that the code loads and that no text names.
        named = Some(&files | &refused);
        last = Some(outcome);
    }
}

/// Reads the request and the code that it would run. `named` has the files to ask the user about
/// beside those that are found by reading code; without it, those of the last agreement count.
async fn prepare(
    shared: &Arc<Shared>,
    asked: &EvaluateArgument,
    named: Option<&BTreeSet<FilePath>>,
) -> std::result::Result<Prepared, String> {
    shared.await_scans().await;
    let (snapshot, settings, encoding) = shared.with(|state| {
        let snapshot = state.workspace.snapshot();
        (snapshot, state.settings.run_backends.clone(), state.features.encoding)
    });
    let config = settings.process_config().ok_or("functions of levels are switched off")?;
    let (asked, named, evaluator) = (asked.clone(), named.cloned(), shared.evaluator.clone());
    let prepared = shared
        .pool
        .run_in_slot(move || {
            let target = target(&snapshot, &asked, encoding)?;
            let environment = &target.environment;
            let named = named.unwrap_or_else(|| evaluator.named_files(&environment.root));
            let permit = Permit::from_levels(
                &snapshot,
                environment,
                config.functions.as_deref(),
                &named,
                &OsFs,
            );
            Some(Prepared { snapshot, target, config, permit })
        })
        .await
        .flatten();
    let prepared = prepared.ok_or("there is no key of Hiera here, or no such node")?;
    if prepared.permit.functions.is_empty() {
        return Err("no function that may run decides about this key".to_owned());
    }
    Ok(prepared)
}

/// Returns the target of the request.
fn target(
    snapshot: &Snapshot,
    asked: &EvaluateArgument,
    encoding: crate::text::Encoding,
) -> Option<EvaluationSubject> {
    let path = from_lsp::path_of_uri(&asked.uri)?;
    let key = match (&asked.key, asked.position) {
        (Some(key), _) => LookupKey::of_root(key),
        (None, position) => {
            let text_document = lsp::TextDocumentIdentifier { uri: asked.uri.clone() };
            let place = lsp::TextDocumentPositionParams { text_document, position: position? };
            story::key_at(snapshot, from_lsp::file_position(snapshot, &place, encoding)?)?
        }
    };
    evaluation::find_target(snapshot, &path, &key, asked.node.as_deref())
}

/// Returns the question to the user, which names the functions and all files that may run.
fn question(
    snapshot: &Snapshot,
    target: &EvaluationSubject,
    permit: &Permit,
    decrypts: bool,
) -> String {
    let root: &FilePath = &target.environment.root;
    let names = PlaceNames { snapshot, root };
    let listed: Vec<String> = permit
        .functions
        .iter()
        .map(|one| {
            let kind = if one.is_hiera3 { "the Hiera 3 backend " } else { "" };
            let place = match &one.file {
                Some(path) => names.short_path(path),
                None => "in no file of the opened folders",
            };
            format!("{kind}{} ({place})", one.name)
        })
        .collect();
    let libraries: Vec<&str> = permit.libraries.iter().map(|path| names.short_path(path)).collect();
    let libraries = match &libraries[..] {
        [] => String::new(),
        _ => format!(", and what they load: {}", libraries.join(", ")),
    };
    let decrypted = if decrypts { " They may look decrypted values up." } else { "" };
    escape_notification(&format!(
        "Run the custom backends of {root} to evaluate '{}'? They are code of that repository, and run with your rights, without a sandbox: {}{libraries}.{decrypted}",
        target.key.text,
        listed.join(", ")
    ))
}

async fn ask_consent(client: &Client, question: String) -> bool {
    let actions = Some(vec![message_action(RUN), message_action("Cancel")]);
    let client = client.clone();
    // The question has a task of its own: the client may answer when this function no longer waits.
    let asking = tokio::spawn(async move {
        client.show_message_request(MessageType::WARNING, question, actions).await
    });
    matches!(asking.await, Ok(Ok(Some(answer))) if answer.title == RUN)
}

fn message_action(title: &str) -> lsp::MessageActionItem {
    lsp::MessageActionItem { title: title.to_owned(), properties: std::collections::HashMap::new() }
}

/// Shows a progress that the user can cancel. Returns whether the client shows it.
async fn begin_progress(
    client: &Client,
    shared: &Shared,
    token: &lsp::ProgressToken,
    key: &str,
) -> bool {
    if !shared.with(|state| state.features.progress) {
        return false;
    }
    let params = lsp::WorkDoneProgressCreateParams { token: token.clone() };
    let asking = client.clone();
    let create = async move { asking.send_request::<WorkDoneProgressCreate>(params).await };
    if !matches!(wait_answer(create, PATIENCE).await, Some(Ok(()))) {
        return false;
    }
    let begin = lsp::WorkDoneProgressBegin {
        title: escape_notification(&format!("Evaluating '{key}' with the custom backends")),
        cancellable: Some(true),
        ..lsp::WorkDoneProgressBegin::default()
    };
    send_progress(client, token, lsp::WorkDoneProgress::Begin(begin)).await;
    true
}

async fn send_progress(client: &Client, token: &lsp::ProgressToken, value: lsp::WorkDoneProgress) {
    let value = lsp::ProgressParamsValue::WorkDone(value);
    client.send_notification::<Progress>(lsp::ProgressParams { token: token.clone(), value }).await;
}

/// Returns the words for an outcome. They hold no value.
fn outcome_message(key: &str, evaluation: &Evaluation) -> std::result::Result<String, String> {
    let of = if evaluation.scope.is_node {
        format!(" for {}", evaluation.scope.name)
    } else {
        String::new()
    };
    match &evaluation.resolution.value {
        Ok(_) => Ok(format!("'{key}' is evaluated{of}; its hover has the value")),
        Err(error) => {
            let masked = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
            Err(format!("'{key}' is evaluated{of}, and fails: {}", error.print_message(&masked)))
        }
    }
}

/// Returns the time of the user's clock: `10:04`.
fn clock_time() -> String {
    chrono::Local::now().format("%H:%M").to_string()
}
