//! The task that reads the folders, at the start and whenever something may have changed on disk;
//! and its requests to the client: progress, settings, watching.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tower_lsp::Client;
use tower_lsp::lsp_types as lsp;
use tower_lsp::lsp_types::notification::Progress as ProgressNotification;
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;

use super::client_settings::SettingsAnswer;
use super::folders::{MAX_FOLDERS, SettingScope};
use super::refresh::ask_for_views;
use super::state::{ServerState, Shared};
use crate::disk::OsFs;
use crate::hiera::config::formats::BUILT_INS;
use crate::server::to_lsp;
use crate::server::transport::wait_answer;
use crate::settings::{READINGS, Settings, gather, of_environments};
use crate::text::FilePath;
use crate::text::escape::{escape_notification, escape_terminal};
use crate::workspace::files::scan;
use crate::workspace::{Change, Snapshot};

/// The longest time that the server waits for a client's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the first reading waits for the client's settings.
const MOMENT: Duration = Duration::from_secs(1);

/// The unreadable sources and folders that were last reported to the client.
#[derive(Default)]
struct LastTold {
    /// The sources of nodes that could not be read, and why.
    sources: Vec<(FilePath, String)>,
    /// How many folders are left out.
    left_out: usize,
}

/// Reads the folders each time that a reading is asked for, until the server ends.
pub(in crate::server) async fn run(client: Client, shared: Arc<Shared>) {
    let mut first = true;
    let mut told = LastTold::default();
    loop {
        shared.disk.wait_request().await;
        if first {
            // The client's settings usually come at once, and then the folders are read once.
            // Settings that come later come into force when they arrive.
            let asked = tokio::spawn(pull_settings(client.clone(), shared.clone(), None));
            let _ = tokio::time::timeout(MOMENT, asked).await;
        }
        // This reading may not be enough for a request that arrives from here on.
        let number = shared.disk.asked_count();
        let before = shared.with(|state| (state.workspace.snapshot(), state.settings.clone()));
        configure(&client, &shared).await;
        for _ in 0..READINGS {
            shared.changed.notify_one();
            read(&client, &shared, first, &mut told).await;
            first = false;
            // The environments are known by now, and with them their settings files.
            if !configure(&client, &shared).await {
                break;
            }
        }
        shared.disk.note_finished(number);
        shared.changed.notify_one();
        shared.nodes_due.notify_one();
        if shared.with(|state| has_changed(&before, state)) {
            ask_for_views(&client, &shared);
        }
    }
}

/// Whether answers about open documents may be others than before a reading.
fn has_changed((snapshot, settings): &(Snapshot, Arc<Settings>), state: &ServerState) -> bool {
    let now = state.workspace.snapshot();
    state.settings != *settings
        || !snapshot.has_same_environments(&now)
        || !snapshot.files_changed(&now).is_empty()
}

/// Reads the folders; the `first` time the client sees the progress. New problems with sources of
/// nodes, and with too many folders, are reported to the client.
async fn read(client: &Client, shared: &Arc<Shared>, first: bool, told: &mut LastTold) {
    let request = shared.with(|state| state.workspace.scan_request());
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    if first {
        tokio::spawn(show_progress(client.clone(), shared.clone(), receiver));
    }
    let scanning = shared.pool.run(false, move || {
        // The display of progress may miss a step; the reading does not wait for it.
        scan::scan(&request, &OsFs, &|step| {
            let _ = sender.try_send(step);
        })
    });
    let Some(scan) = scanning.await else {
        client
            .log_message(
                lsp::MessageType::ERROR,
                "reading the workspace failed; this is a defect of hiera-ls",
            )
            .await;
        return;
    };
    let errors: Vec<(FilePath, String)> = scan
        .sources
        .iter()
        .filter_map(|source| Some((source.path.clone(), source.read_error()?.to_owned())))
        .collect();
    let (cut_short, unlisted) = (scan.cut_short, scan.unlisted.clone());
    let unlisted = shared.with(|state| {
        state.workspace.apply(Change::Scanned(Box::new(scan)));
        state.note_scan();
        of_environments(&state.workspace.snapshot(), unlisted)
    });
    for one in unlisted.iter().filter(|_| first) {
        client.log_message(lsp::MessageType::WARNING, escape_terminal(&one.to_string())).await;
    }
    if first && cut_short {
        client
            .log_message(
                lsp::MessageType::WARNING,
                "there are too many files in the workspace; some were not read",
            )
            .await;
    }
    let left_out = shared.with(|state| state.folders.left_out());
    // Thousands of folders may arrive one by one: one message is enough.
    if std::mem::replace(&mut told.left_out, left_out) == 0 && left_out > 0 {
        let text = format!(
            "hiera-ls reads {MAX_FOLDERS} folders of a workspace; {left_out} more were not read"
        );
        client.show_message(lsp::MessageType::WARNING, text).await;
    }
    for (path, error) in errors.iter().filter(|error| !told.sources.contains(error)) {
        client
            .log_message(
                lsp::MessageType::WARNING,
                escape_terminal(&format!("{path}: no nodes read from it: {error}")),
            )
            .await;
    }
    told.sources = errors;
}

/// Updates the settings: those of the client's answer, else those that it pushed, if any. VS Code
/// pushes all members of the section with their defaults, which the user has not set.
pub(in crate::server) async fn pull_settings(
    client: Client,
    shared: Arc<Shared>,
    pushed: Option<serde_json::Value>,
) {
    let (can_ask, folders) =
        shared.with(|state| (state.features.configuration, state.folders.setting_scopes()));
    let answer = if can_ask { ask_settings(client, folders).await } else { None };
    shared.take_settings(pushed.as_ref(), answer);
}

/// Asks the client for its settings, and for those of each of several folders; `None` where it does
/// not answer in time.
async fn ask_settings(client: Client, folders: Vec<SettingScope>) -> Option<SettingsAnswer> {
    let items = match &folders[..] {
        // The settings of a single folder are those of the whole workspace.
        [only] => vec![configuration_item(Some(&only.listed))],
        all => [None]
            .into_iter()
            .chain(all.iter().map(|it| Some(&it.listed)))
            .map(configuration_item)
            .collect(),
    };
    let asking = async move { client.configuration(items).await };
    let mut sections = wait_answer(asking, PATIENCE).await?.ok()?.into_iter();
    let section = sections.next();
    let environments = folders.into_iter().map(|folder| folder.environment);
    Some(SettingsAnswer { section, of_folders: environments.zip(sections).collect() })
}

fn configuration_item(scope: Option<&FilePath>) -> lsp::ConfigurationItem {
    lsp::ConfigurationItem {
        scope_uri: scope.and_then(to_lsp::file_uri),
        section: Some("hiera".into()),
    }
}

/// Puts the settings of all places together and reports new problems with them; returns whether the
/// folders are to be read with other settings than before.
async fn configure(client: &Client, shared: &Shared) -> bool {
    let (snapshot, given) =
        shared.with(|state| (state.workspace.snapshot(), state.client_settings.all_settings()));
    let (settings, problems) = gather(&snapshot, &given, &OsFs);
    let (is_other, news) = shared.with(|state| {
        let news: Vec<_> = problems
            .iter()
            // Problems of a settings file are findings in that file.
            .filter(|problem| problem.file.is_none())
            .filter(|problem| !state.settings_problems.contains(problem))
            .cloned()
            .collect();
        state.settings_problems = problems;
        state.is_configured = true;
        // Settings are merged again at each scan of the disk; mostly they have not changed.
        let is_other = settings.workspace != state.settings.workspace;
        if is_other {
            state.workspace.apply(Change::Configure(Arc::new(settings.workspace.clone())));
        }
        state.settings = settings.into();
        (is_other, news)
    });
    for problem in news {
        let text = escape_notification(&format!("hiera-ls: {problem}"));
        client.show_message(lsp::MessageType::WARNING, text).await;
    }
    is_other
}

/// Asks the client for notifications of changed files and settings.
pub(in crate::server) async fn register(client: Client, shared: Arc<Shared>) {
    let features = shared.with(|state| state.features.clone());
    let mut registrations = Vec::new();
    if features.watches_files {
        let data = BUILT_INS.iter().flat_map(|own| own.extensions).copied();
        let extensions: Vec<&str> = data.chain(["jsonl"]).collect();
        let watchers = vec![
            file_watcher(&format!("**/*.{{{}}}", extensions.join(","))),
            file_watcher("**/environment.conf"),
            file_watcher("**/*.{pp,epp,erb,rb}"),
            file_watcher("**/*Puppetfile"),
        ];
        let options =
            serde_json::to_value(lsp::DidChangeWatchedFilesRegistrationOptions { watchers }).ok();
        registrations.push(new_registration("workspace/didChangeWatchedFiles", options));
    }
    if features.tells_configuration {
        registrations.push(new_registration(
            "workspace/didChangeConfiguration",
            Some(serde_json::json!({"section": "hiera"})),
        ));
    }
    if !registrations.is_empty() {
        // Without the registration, a save or the next request makes up for missed notifications.
        let registering = async move { client.register_capability(registrations).await };
        let _ = wait_answer(registering, PATIENCE).await;
    }
}

fn file_watcher(glob: &str) -> lsp::FileSystemWatcher {
    lsp::FileSystemWatcher { glob_pattern: lsp::GlobPattern::String(glob.into()), kind: None }
}

fn new_registration(
    method: &str,
    register_options: Option<serde_json::Value>,
) -> lsp::Registration {
    lsp::Registration { id: format!("hiera-ls:{method}"), method: method.into(), register_options }
}

/// Begins to show a progress; `None` where the client shows none.
pub(super) async fn begin_progress(
    client: &Client,
    shared: &Shared,
    name: &str,
    title: &str,
) -> Option<lsp::ProgressToken> {
    if !shared.with(|state| state.features.progress) {
        return None;
    }
    let token = lsp::ProgressToken::String(name.to_owned());
    let params = lsp::WorkDoneProgressCreateParams { token: token.clone() };
    let asking = client.clone();
    let create = async move { asking.send_request::<WorkDoneProgressCreate>(params).await };
    wait_answer(create, PATIENCE).await?.ok()?;
    let begin = lsp::WorkDoneProgressBegin {
        title: title.to_owned(),
        cancellable: Some(false),
        message: None,
        percentage: Some(0),
    };
    send_progress(client, token.clone(), lsp::WorkDoneProgress::Begin(begin)).await;
    Some(token)
}

/// Shows how far the reading has come, until it ends. The reading does not wait for the display: a
/// client may be slow, or never answer.
async fn show_progress(client: Client, shared: Arc<Shared>, mut steps: Receiver<scan::Progress>) {
    let (name, title) = ("hiera-ls/scan", "Reading Hiera data");
    let Some(token) = begin_progress(&client, &shared, name, title).await else { return };
    while let Some(step) = steps.recv().await {
        let percentage = u32::try_from(step.done * 100 / step.total.max(1)).ok();
        let message = Some(format!("{} of {} files", step.done, step.total));
        let report = lsp::WorkDoneProgressReport { cancellable: Some(false), message, percentage };
        send_progress(&client, token.clone(), lsp::WorkDoneProgress::Report(report)).await;
    }
    send_progress(
        &client,
        token,
        lsp::WorkDoneProgress::End(lsp::WorkDoneProgressEnd { message: None }),
    )
    .await;
}

/// Sends a step of a progress.
pub(super) async fn send_progress(
    client: &Client,
    token: lsp::ProgressToken,
    value: lsp::WorkDoneProgress,
) {
    client
        .send_notification::<ProgressNotification>(lsp::ProgressParams {
            token,
            value: lsp::ProgressParamsValue::WorkDone(value),
        })
        .await;
}
