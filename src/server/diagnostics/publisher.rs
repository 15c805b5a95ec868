//! Computes and sends findings: after each change, for the open files and every `hiera.yaml`.
//!
//! There is no fixed pause: a round begins when all messages that have arrived are handled, see
//! `transport::Input::wait_settled`. Changes that arrive during a round are
//! handled together by the next one. Files that a long round has not finished by then are left to
//! the next round, as are files whose text has changed meanwhile. Unchanged findings are not sent
//! again, nor is an unchanged status.
//!
//! Where the index of all files is still to be made, and takes long, documents that were just opened
//! have the findings of the rules that need no other file until it is made, see [`Indexing`].
//!
//! This applies with the setting `diagnostics.run` at `onType`. At `onSave` a change starts no
//! round, and findings of other rounds in a file with unsaved changes wait until it is saved. At
//! `off` a round withdraws the published findings.
//!
//! After a while without changes and requests, closed files are checked, a little at a time, see
//! [`Findings::look_ahead`].
//!
//! A client that asks for findings is sent none: they are kept for it, those of closed files, too,
//! see [`pull`](super::pull).

use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::{HashMap, HashMapExt as _};
use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tower_lsp::Client;
use tower_lsp::lsp_types as lsp;

use super::encoded::{Diagnostic, DiagnosticEncoder, publish_message};
use super::indexing::Indexing;
use crate::diagnostics::{Findings, ReportedFindings, RulesConfig};
use crate::server::capabilities::Features;
use crate::server::documents::Documents;
use crate::server::pool::LatencyTracker;
use crate::server::session::{ServerHandle, Shared, ask_for_findings};
use crate::server::to_lsp;
use crate::server::to_lsp::status::Status;
use crate::server::transport::Outlet;
use crate::settings::PublishTime;
use crate::text::CancelToken;
use crate::text::FilePath;
use crate::workspace::Snapshot;

/// The input of a round.
struct Round {
    snapshot: Snapshot,
    features: Arc<Features>,
    rules: RulesConfig,
    run: PublishTime,
    documents: Documents,
}

/// The state that the client was sent.
#[derive(Default)]
struct Published {
    /// The task that is sending. The next round need not wait for the task, but the findings of the
    /// round must not overtake those of the task.
    sending: Option<JoinHandle<()>>,
    files: HashMap<FilePath, (lsp::Url, Vec<Diagnostic>)>,
    /// Findings that were not sent because the document had changed meanwhile, or is not saved. The
    /// next round may have no new findings for it.
    withheld: HashMap<FilePath, Vec<Diagnostic>>,
}

impl Published {
    /// Returns an empty list of findings for each file that has been published.
    fn empty_findings(&mut self) -> HashMap<FilePath, Vec<Diagnostic>> {
        self.withheld.clear();
        self.files.keys().map(|path| (path.clone(), Vec::new())).collect()
    }
}

impl Round {
    /// Returns the status, if the client subscribed to it.
    fn new_status(&self) -> Option<Status> {
        self.features.status.then(|| Status::from_snapshot(&self.snapshot))
    }
}

/// Time without changes before closed files are checked; [`IDLE_AFTER_EDIT`] applies while a
/// document is being edited, as the next keystroke would discard work begun between two keystrokes.
const IDLE_AFTER: Duration = Duration::from_millis(30);
const IDLE_AFTER_EDIT: Duration = Duration::from_millis(500);
/// How long a check of closed files may go on before the publisher looks for other work.
const MOMENT: Duration = Duration::from_millis(5);
/// Up to so many messages are sent without a task of their own.
const FEW: usize = 4;

/// Publishes after each change, until the server ends.
pub(in crate::server) async fn run(ServerHandle { client, output, shared }: ServerHandle) {
    let pulls = shared.with(|state| state.features.pulls_findings);
    let mut published = Published::default();
    let mut findings = no_findings(pulls);
    let mut encoder = DiagnosticEncoder::default();
    let mut indexing: Option<Indexing> = None;
    let pace = Arc::new(LatencyTracker::default());
    let (mut idle_after, mut may_look_ahead) = (IDLE_AFTER, true);
    loop {
        let is_idle = if may_look_ahead && findings.has_more_ahead() {
            timeout(idle_after, shared.changed.notified()).await.is_err()
        } else {
            shared.changed.notified().await;
            false
        };
        if is_idle {
            // Closed files are not checked while requests arrive, either.
            let since_request =
                shared.with(|state| state.last_request).map_or(IDLE_AFTER, |at| at.elapsed());
            idle_after = IDLE_AFTER.saturating_sub(since_request);
            if !idle_after.is_zero() {
                continue;
            }
            // Files that may be opened next are checked, for a moment at a time.
            let cancel = shared.with(|state| state.workspace.until_next_revision());
            let begun = Instant::now();
            let (after, told) = match shared
                .pool
                .run(false, move || {
                    let told = findings.look_ahead(cancel, &|| begun.elapsed() < MOMENT);
                    (findings, told)
                })
                .await
            {
                Some(done) => done,
                None => {
                    // A panic in optional work must not cause a full check with each change.
                    may_look_ahead = false;
                    shared.changed.notify_one();
                    (recover(&client, &shared, &mut published).await, Vec::new())
                }
            };
            findings = after;
            if pulls {
                keep_closed(&shared, &findings, &mut encoder, told);
                settle(&shared, &findings, may_look_ahead);
            }
            continue;
        }
        shared.input.wait_settled().await;
        // All changes so far are part of this round.
        let _ = shared.changed.notified().now_or_never();
        // Before the settings are read, the enabled rules are not known.
        if !shared.with(|state| state.is_configured) {
            continue;
        }
        let round = shared.with(|state| Round {
            snapshot: state
                .workspace
                .snapshot()
                .with_cancel_token(cancel_token(state.workspace.until_next_revision())),
            features: state.features.clone(),
            rules: state.settings.rules.clone(),
            run: state.settings.run,
            documents: state.documents.clone(),
        });
        let documents = round.documents.clone();
        idle_after = if documents.iter().all(|(_, document)| document.is_saved) {
            IDLE_AFTER
        } else {
            IDLE_AFTER_EDIT
        };
        let (run, revision) = (round.run, round.snapshot.revision);
        if run != PublishTime::Off
            && !round.snapshot.is_soon_indexed()
            && !indexing.as_ref().is_some_and(Indexing::has_ended)
        {
            indexing.get_or_insert_with(|| Indexing::start(&shared, &round.snapshot));
            if !pulls {
                let Some((mut found, known, written)) = shared
                    .pool
                    .run(false, move || {
                        let found = first_findings(&findings, &mut encoder, &round);
                        (found, findings, encoder)
                    })
                    .await
                else {
                    encoder = DiagnosticEncoder::default();
                    findings = recover(&client, &shared, &mut published).await;
                    continue;
                };
                (findings, encoder) = (known, written);
                found.retain(|path, all| !all.is_empty() || published.files.contains_key(path));
                send(&output, &shared, run, &documents, found, &mut published).await;
            }
            continue;
        }
        let is_quick = pace.is_quick() && round.snapshot.is_indexed();
        let (mut before, mut written) =
            (std::mem::take(&mut findings), std::mem::take(&mut encoder));
        let timed = pace.clone();
        // Most rounds during typing are quick, and run in place.
        let Some((mut found, status, after, written)) = shared
            .pool
            .run(is_quick, move || {
                timed.measure(|| {
                    let found = check(&mut before, &mut written, &round);
                    (found, round.new_status(), before, written)
                })
            })
            .await
        else {
            findings = recover(&client, &shared, &mut published).await;
            continue;
        };
        findings = after;
        encoder = written;
        indexing = None;
        // Withheld findings of deferred files come from an older text and will be replaced.
        published.withheld.retain(|path, _| !findings.is_deferred(path));
        if run == PublishTime::Off {
            found = published.empty_findings();
            found.extend(shared.findings.empty_findings());
        }
        if pulls {
            keep_findings(&shared, run, &documents, found, &mut published);
            let deferred =
                documents.iter().map(|(path, _)| path).filter(|path| findings.is_deferred(path));
            shared.findings.finish_round(revision, deferred.cloned().collect());
            settle(&shared, &findings, may_look_ahead);
            ask_for_findings(&client, &shared);
        } else {
            send(&output, &shared, run, &documents, found, &mut published).await;
        }
        if status.is_some() {
            shared.status.tell(&client, &shared.reach, status).await;
        }
        let now = shared.clone();
        findings = match shared
            .pool
            .run(is_quick, move || {
                findings
                    .after_publish(&|| now.with(|state| state.workspace.revision()) == revision);
                findings
            })
            .await
        {
            Some(after) => after,
            None => recover(&client, &shared, &mut published).await,
        };
        match findings.has_deferred() {
            // The work that depends on a change waits until no file's findings are deferred.
            true => {
                shared.restart_pauses();
                shared.changed.notify_one();
            }
            false => shared.wake_after_findings(),
        }
    }
}

/// After a panic all findings are computed again; files that are no longer checked have none.
async fn recover(client: &Client, shared: &Shared, published: &mut Published) -> Findings {
    client
        .log_message(lsp::MessageType::ERROR, "checking failed; this is a defect of hiera-ls")
        .await;
    let gone: Vec<_> = published.files.keys().map(|path| (path.clone(), Vec::new())).collect();
    published.withheld.extend(gone);
    no_findings(shared.with(|state| state.features.pulls_findings))
}

/// Returns findings with nothing checked yet. For a client that pulls findings they include all
/// closed files.
fn no_findings(pulls: bool) -> Findings {
    if pulls { Findings::of_all_files() } else { Findings::default() }
}

/// Stores the findings of a round for a client that requests them. Findings in unsaved text wait
/// for a save, where the settings ask for that.
fn keep_findings(
    shared: &Shared,
    run: PublishTime,
    documents: &Documents,
    mut found: HashMap<FilePath, Vec<Diagnostic>>,
    Published { withheld, .. }: &mut Published,
) {
    for (path, diagnostics) in withheld.drain() {
        found.entry(path).or_insert(diagnostics);
    }
    let (later, now): (Vec<_>, Vec<_>) = found.into_iter().partition(|(path, _)| {
        run == PublishTime::OnSave && documents.get(path).is_some_and(|one| !one.is_saved)
    });
    withheld.extend(later);
    shared.findings.put_findings(now, |path| documents.get(path).map(|document| document.version));
}

/// Keeps the findings of closed files for a client that asks for them.
fn keep_closed(
    shared: &Shared,
    findings: &Findings,
    encoder: &mut DiagnosticEncoder,
    told: Vec<ReportedFindings>,
) {
    let Some(snapshot) = findings.snapshot() else { return };
    let (features, documents) =
        shared.with(|state| (state.features.clone(), state.documents.clone()));
    // A file that was opened meanwhile belongs to the next round.
    let closed = told.into_iter().filter(|(path, _)| !documents.is_open(path));
    let written = closed.map(|(path, findings)| {
        let written = encoder.encode(snapshot, &path, &findings, &features, &documents);
        (path, written)
    });
    shared.findings.put_findings(
        written
            .filter(|(path, items)| !items.is_empty() || shared.findings.has_result(path))
            .collect(),
        |_| None,
    );
}

/// Records whether all closed files are checked, or will not be.
fn settle(shared: &Shared, findings: &Findings, may_look_ahead: bool) {
    let is_settled = !findings.has_more_ahead() || !may_look_ahead;
    let snapshot = findings.snapshot().filter(|snapshot| snapshot.complete && is_settled);
    shared.findings.note_settled(snapshot);
}

/// Whether a round is worth going on with: nothing has changed since, or it will be done in a
/// moment.
fn cancel_token(until_change: CancelToken) -> CancelToken {
    const MOMENT: Duration = Duration::from_millis(10);
    let started = Instant::now();
    CancelToken::new(move || started.elapsed() >= MOMENT && until_change.is_cancelled())
}

/// Returns the findings of each file where they may be others than in the round before, for the
/// client.
fn check(
    findings: &mut Findings,
    encoder: &mut DiagnosticEncoder,
    round: &Round,
) -> HashMap<FilePath, Vec<Diagnostic>> {
    let snapshot = &round.snapshot;
    if round.run == PublishTime::Off {
        *findings = Findings::default();
        *encoder = DiagnosticEncoder::default();
        return HashMap::new();
    }
    let start = Instant::now();
    let mut told = findings.update(snapshot, &round.rules);
    if round.features.pulls_findings {
        told.retain_mut(|told| has_news(findings, round, told));
    }
    let found: HashMap<_, _> = told
        .into_iter()
        .map(|(path, findings)| {
            let written =
                encoder.encode(snapshot, &path, &findings, &round.features, &round.documents);
            (path, written)
        })
        .collect();
    let count = found.values().map(Vec::len).sum::<usize>();
    let (revision, files) = (snapshot.revision, found.len());
    tracing::debug!(
        revision,
        files,
        findings = count,
        us = start.elapsed().as_micros(),
        "round of findings"
    );
    found
}

/// Returns the first findings of documents, for the client.
fn first_findings(
    findings: &Findings,
    encoder: &mut DiagnosticEncoder,
    round: &Round,
) -> HashMap<FilePath, Vec<Diagnostic>> {
    let Round { snapshot, features, documents, .. } = round;
    let told = findings.first_findings(snapshot, &round.rules).into_iter();
    let written = told.map(|(path, findings)| {
        let written = encoder.encode(snapshot, &path, &findings, features, documents);
        (path, written)
    });
    written.collect()
}

/// Gives a file that is no longer open the findings that it has as a closed one; `false` where these
/// come later.
fn has_news(findings: &Findings, round: &Round, (path, told): &mut ReportedFindings) -> bool {
    if round.documents.is_open(path) || !told.is_empty() || findings.watches_file(path) {
        return true;
    }
    let closed = findings.of_closed(path);
    let is_known = closed.is_some();
    *told = closed.unwrap_or_default();
    is_known || round.snapshot.file(path).is_none()
}

async fn send(
    output: &Outlet,
    shared: &Shared,
    run: PublishTime,
    documents: &Documents,
    mut found: HashMap<FilePath, Vec<Diagnostic>>,
    Published { files: published, withheld, sending }: &mut Published,
) {
    for (path, diagnostics) in withheld.drain() {
        found.entry(path).or_insert(diagnostics);
    }
    let mut messages = Vec::new();
    for (path, diagnostics) in found {
        let document = documents.get(&path);
        let now = shared.with(|state| state.documents.get(&path).map(|document| document.version));
        let is_for_later =
            run == PublishTime::OnSave && document.is_some_and(|document| !document.is_saved);
        // If the document has another version by now, the next round is on its way.
        if now != document.map(|document| document.version) || is_for_later {
            withheld.insert(path, diagnostics);
            continue;
        }
        let known = published.get(&path);
        let was_opened_since = known.is_none() && document.is_some();
        // Clients spell an address as they like, and keep findings under the spelling that they
        // came with.
        let respelt = known
            .zip(document)
            .filter(|(known, document)| known.0 != document.uri)
            .map(|(known, _)| known.0.clone());
        if known.map_or(&[][..], |known| &known.1) == diagnostics.as_slice()
            && !was_opened_since
            && respelt.is_none()
        {
            continue;
        }
        let Some(uri) = document
            .map(|document| document.uri.clone())
            .or_else(|| known.map(|known| known.0.clone()))
            .or_else(|| to_lsp::file_uri(&path))
        else {
            continue;
        };
        let version = document.map(|document| document.version);
        // The client may treat both spellings as one address.
        let before = respelt.map(|old| publish_message(&old, &[], None));
        let now = publish_message(&uri, &diagnostics, version);
        let output = output.clone();
        messages.push(async move {
            for message in before.into_iter().chain([now]) {
                output.send_json(message.as_bytes()).await;
            }
        });
        if diagnostics.is_empty() && document.is_none() {
            published.remove(&path);
        } else {
            published.insert(path, (uri, diagnostics));
        }
    }
    if let Some(before) = sending.take() {
        let _ = before.await;
    }
    let are_many = messages.len() > FEW;
    // The messages are sent together: sent one by one, each message would wait until the message
    // before it is written.
    let all = async move { drop(join_all(messages).await) };
    if are_many { *sending = Some(tokio::spawn(all)) } else { all.await }
}
