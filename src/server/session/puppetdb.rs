//! The task that asks PuppetDB for nodes: at the start, and when data reads facts that were not asked
//! for. Its answer is a file that the next reading of the folders reads. No request waits for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tower_lsp::Client;
use tower_lsp::lsp_types as lsp;

use super::scanner::{begin_progress, send_progress};
use super::state::Shared;
use crate::disk::OsFs;
use crate::puppetdb::{Puppetdb, Refreshed};
use crate::settings::{is_other_answer_kept, read_fields};
use crate::text::escape::escape_notification;
use crate::workspace::Snapshot;

/// After a failure PuppetDB is not asked again for so long, unless the settings change.
const PAUSE: Duration = Duration::from_secs(60);
/// The number of nodes between two reports of progress.
const STEP: usize = 250;

/// The last time that PuppetDB was asked.
struct LastAsked {
    source: Puppetdb,
    /// When PuppetDB gave no answer; `None` where it gave one.
    failed: Option<Instant>,
}

impl LastAsked {
    /// Whether the source need not be asked, whatever data reads now.
    fn is_recent_failure(&self, source: &Puppetdb) -> bool {
        self.source == *source && self.failed.is_some_and(|failed| failed.elapsed() < PAUSE)
    }
}

/// Asks after readings of the folders, until the server ends.
pub(in crate::server) async fn run(client: Client, shared: Arc<Shared>) {
    let mut last: Option<LastAsked> = None;
    let mut checked = None;
    loop {
        shared.nodes_due.notified().await;
        let (snapshot, source, max_size) = shared.with(|state| {
            let source = state.settings.usable_puppetdb(state.workspace.folders());
            let max_size = state.settings.workspace.max_file_size;
            (state.workspace.snapshot(), source, max_size)
        });
        let Some(source) = source else { continue };
        let is_known = checked == Some(snapshot.revision);
        if is_known || last.as_ref().is_some_and(|last| last.is_recent_failure(&source)) {
            continue;
        }
        let revision = snapshot.revision;
        let was_answered =
            last.as_ref().is_some_and(|last| last.source == source && last.failed.is_none());
        let question = Question { source: source.clone(), snapshot, was_answered, max_size };
        let Some(answer) = ask(&client, &shared, question).await else { continue };
        checked = Some(revision);
        let snapshot = shared.with(|state| state.workspace.snapshot());
        if is_other_answer_kept(&snapshot, &source, &OsFs) {
            shared.disk.ask_reading();
        }
        match answer {
            Ok(None) => {}
            Ok(Some(refreshed)) => {
                let is_first = last.is_none_or(|last| last.source != source);
                last = Some(LastAsked { source, failed: None });
                for note in refreshed.notes {
                    tell(&client, lsp::MessageType::INFO, &note, is_first).await;
                }
            }
            Err(reason) => {
                let is_first = last.is_none_or(|last| last.failed.is_none());
                last = Some(LastAsked { source, failed: Some(Instant::now()) });
                checked = None;
                tell(&client, lsp::MessageType::WARNING, &reason, is_first).await;
            }
        }
    }
}

/// Shows a message about PuppetDB, or logs it where the user has seen one of its kind.
async fn tell(client: &Client, kind: lsp::MessageType, text: &str, is_first: bool) {
    let text = escape_notification(&format!("hiera-ls: PuppetDB: {text}"));
    if is_first {
        client.show_message(kind, text).await
    } else {
        client.log_message(kind, text).await
    }
}

/// A request to PuppetDB.
struct Question {
    source: Puppetdb,
    snapshot: Snapshot,
    /// Whether PuppetDB has answered in this session, so that only other fields are a reason to
    /// ask.
    was_answered: bool,
    max_size: u64,
}

/// Asks on a thread of its own, as an answer may take long, and shows the progress. `None` within
/// the answer where nothing is to be asked; `None` where no thread can be started.
async fn ask(
    client: &Client,
    shared: &Arc<Shared>,
    question: Question,
) -> Option<Result<Option<Refreshed>, String>> {
    let (steps, receiver) = mpsc::channel(4);
    let (done, answer) = oneshot::channel();
    let work = move || {
        let Question { source, snapshot, was_answered, max_size } = question;
        let fields = read_fields([&snapshot]);
        drop(snapshot);
        if was_answered && source.kept().has_fields(&fields) {
            let _ = done.send(Ok(None));
            return;
        }
        let _ = steps.try_send(0);
        let refreshed = source.refresh(&fields, max_size, &|count| {
            // The display of progress may miss a step.
            if count % STEP == 0 {
                let _ = steps.try_send(count);
            }
        });
        let _ = done.send(refreshed.map(Some));
    };
    let thread = std::thread::Builder::new().name("PuppetDB".to_owned());
    thread.stack_size(STACK).spawn(work).ok()?;
    tokio::spawn(show_progress(client.clone(), shared.clone(), receiver));
    answer.await.ok()
}

/// The stack of the thread, in bytes: it parses data, whose values nest.
const STACK: usize = 64 << 20;

/// Shows how many nodes have come, once the first step is known, until there are no more.
async fn show_progress(client: Client, shared: Arc<Shared>, mut steps: mpsc::Receiver<usize>) {
    if steps.recv().await.is_none() {
        return;
    }
    let (name, title) = ("hiera-ls/puppetdb", "Asking PuppetDB for nodes");
    let Some(token) = begin_progress(&client, &shared, name, title).await else { return };
    while let Some(count) = steps.recv().await {
        let report = lsp::WorkDoneProgressReport {
            cancellable: Some(false),
            message: Some(format!("{count} nodes")),
            percentage: None,
        };
        send_progress(&client, token.clone(), lsp::WorkDoneProgress::Report(report)).await;
    }
    let end = lsp::WorkDoneProgress::End(lsp::WorkDoneProgressEnd { message: None });
    send_progress(&client, token, end).await;
}
