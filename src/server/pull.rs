//! Findings for clients that ask for them: `textDocument/diagnostic` and `workspace/diagnostic`. The
//! publisher computes them as it does for other clients, and keeps them here instead of sending
//! them.
//!
//! The question about a document waits until the publisher has checked the text that the client
//! has. The question about the workspace waits until something is other than what the client has,
//! as clients ask again as soon as they are answered: vscode-languageclient two seconds later.
//! A client asks about a document when it changes it; where an edit changes the findings of other
//! documents, it is told to ask again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tower_lsp::Client;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use super::diagnostics::Diagnostic;
use super::requests::send_part;
use super::state::{Documents, Shared};
use super::transport::answered;
use super::{Backend, from_lsp, to_lsp};
use crate::settings::Run;
use crate::text::FilePath;
use crate::workspace::Snapshot;

/// A client that does not answer must not stop us.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a client has to ask by itself about a document that it changed, before it is told to
/// ask again.
const GRACE: Duration = Duration::from_millis(50);
/// How many files a part of an answer about the workspace has.
const PART: usize = 100;

/// The findings as clients may ask for them.
#[derive(Default)]
pub(super) struct Pulled {
    store: Mutex<Store>,
    /// Counts the changes of the store.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct Store {
    /// The last revision of the workspace that was checked.
    revision: u64,
    /// Whether all closed files have been checked in it.
    is_settled: bool,
    /// Open documents that are still to be checked.
    deferred: HashSet<FilePath>,
    reports: BTreeMap<FilePath, Report>,
    /// The results that the client has of open documents.
    given: HashMap<FilePath, u64>,
    /// The last number that a result got.
    last: u64,
    /// Whether the client will be told to ask again.
    is_refreshing: bool,
}

/// The findings of a file.
#[derive(Clone)]
struct Report {
    /// The number of the result; the same as long as the findings are.
    id: u64,
    /// The version of the document, where it is open.
    version: Option<i32>,
    items: Vec<Diagnostic>,
}

impl Report {
    fn items(&self) -> Vec<lsp::Diagnostic> {
        self.items.iter().filter_map(|json| serde_json::from_str(json).ok()).collect()
    }

    fn full(&self) -> lsp::FullDocumentDiagnosticReport {
        let result_id = Some(self.id.to_string());
        lsp::FullDocumentDiagnosticReport { result_id, items: self.items() }
    }
}

impl Store {
    /// Returns a number that no result had, neither of this process nor of one before it.
    fn next(&mut self) -> u64 {
        if self.last == 0 {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            self.last = since.map_or(0, |since| since.as_micros() as u64);
        }
        self.last += 1;
        self.last
    }

    fn put(&mut self, path: FilePath, items: Vec<Diagnostic>, version: Option<i32>) {
        match self.reports.get_mut(&path) {
            Some(report) if report.items == items => report.version = version,
            _ => {
                let id = self.next();
                self.reports.insert(path, Report { id, version, items });
            }
        }
    }

    /// The open documents of which the client has other findings.
    fn outdated(&self) -> impl Iterator<Item = (&FilePath, u64)> {
        self.given.iter().filter_map(|(path, given)| {
            let now = self.reports.get(path).map_or(0, |report| report.id);
            (now != *given).then_some((path, now))
        })
    }

    /// The files whose findings are others than those of these results.
    fn changed_since(&self, before: &HashMap<FilePath, String>) -> Vec<(FilePath, Report)> {
        let is_new = |(path, report): &(&FilePath, &Report)| match before.get(*path) {
            Some(id) => *id != report.id.to_string(),
            // A client that has no results is told of files without findings, too, so that it has
            // some when it asks again.
            None => !report.items.is_empty() || before.is_empty(),
        };
        let found = self.reports.iter().filter(is_new);
        found.map(|(path, report)| (path.clone(), report.clone())).collect()
    }
}

impl Pulled {
    fn with<T>(&self, look: impl FnOnce(&mut Store) -> T) -> T {
        look(&mut self.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the findings of a round, or of closed files; `found` has those of each file where they
    /// may be others.
    pub(super) fn put(&self, found: Vec<(FilePath, Vec<Diagnostic>)>, documents: &Documents) {
        self.with(|store| {
            for (path, items) in found {
                let version = documents.get(&path).map(|document| document.version);
                store.put(path, items, version);
            }
        });
    }

    /// Whether a file is one of those with a result.
    pub(super) fn has(&self, path: &FilePath) -> bool {
        self.with(|store| store.reports.contains_key(path))
    }

    /// Records that a round has ended: of a revision, with open documents that are left to the next
    /// one.
    pub(super) fn finish_round(&self, revision: u64, deferred: HashSet<FilePath>) {
        self.with(|store| {
            store.revision = revision;
            store.deferred = deferred;
        });
        self.news.send_modify(|count| *count += 1);
    }

    /// Records whether all closed files are checked. Those that are gone have no findings.
    pub(super) fn settle(&self, snapshot: Option<&Snapshot>) {
        self.with(|store| {
            store.is_settled = snapshot.is_some();
            let Some(snapshot) = snapshot else { return };
            let gone = |(path, report): &(&FilePath, &Report)| {
                !report.items.is_empty() && snapshot.file(path).is_none()
            };
            let gone: Vec<FilePath> =
                store.reports.iter().filter(gone).map(|(path, _)| path.clone()).collect();
            gone.into_iter().for_each(|path| store.put(path, Vec::new(), None));
        });
        if snapshot.is_some() {
            self.news.send_modify(|count| *count += 1);
        }
    }

    /// Returns an empty list of findings for each file that has some.
    pub(super) fn nothing(&self) -> Vec<(FilePath, Vec<Diagnostic>)> {
        self.with(|store| store.reports.keys().map(|path| (path.clone(), Vec::new())).collect())
    }

    /// Records that a document was closed.
    pub(super) fn closed(&self, path: &FilePath) {
        self.with(|store| store.given.remove(path));
    }

    /// Waits until `ready` returns something.
    async fn until<T>(&self, ready: impl Fn(&mut Store) -> Option<T>) -> Option<T> {
        let mut news = self.news.subscribe();
        loop {
            if let Some(found) = self.with(&ready) {
                return Some(found);
            }
            news.changed().await.ok()?;
        }
    }

    /// Tells the client to ask again, if it does not by itself, about documents of which it has
    /// other findings now.
    pub(super) fn refresh(&self, client: &Client, shared: &Arc<Shared>) {
        let begins = self.with(|store| {
            let begins = !store.is_refreshing && store.outdated().next().is_some();
            store.is_refreshing |= begins;
            begins
        });
        if !begins {
            return;
        }
        let (client, shared) = (client.clone(), shared.clone());
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            let is_needed = shared.pulled.with(|store| {
                store.is_refreshing = false;
                // It is told once: it may not ask about documents that it does not show.
                let told: Vec<_> =
                    store.outdated().map(|(path, now)| (path.clone(), now)).collect();
                let is_needed = !told.is_empty();
                store.given.extend(told);
                is_needed
            });
            if is_needed {
                let asking = async move { client.workspace_diagnostic_refresh().await };
                let _ = answered(asking, PATIENCE).await;
            }
        });
    }
}

impl Backend {
    /// Returns the findings of a document as the client has it; those of its configs, too, where the
    /// client takes findings of related documents.
    pub(super) async fn findings_of_document(
        &self,
        params: lsp::DocumentDiagnosticParams,
    ) -> Result<lsp::DocumentDiagnosticReportResult> {
        let previous = params.previous_result_id;
        let Some(path) = from_lsp::path(&params.text_document.uri) else {
            return Ok(document_report(None, previous, None));
        };
        // Before the folders are read, most findings are not known.
        self.shared.settled().await;
        let revision = self.shared.with(|state| {
            let document = state.documents.get(&path);
            // Findings in text that is not saved are those of before, until it is.
            let is_waited_for = state.settings.run != Run::OnSave
                || document.is_none_or(|document| document.is_saved);
            if is_waited_for { state.workspace.revision() } else { 0 }
        });
        let ready = |store: &mut Store| {
            let is_checked = store.revision >= revision && !store.deferred.contains(&path);
            is_checked.then(|| {
                let report = store.reports.get(&path).cloned();
                let id = report.as_ref().map_or(0, |report| report.id);
                store.given.insert(path.clone(), id);
                report
            })
        };
        let report = self.shared.pulled.until(ready).await.flatten();
        let related = self.related(&path);
        Ok(document_report(report, previous, related))
    }

    /// Returns the findings of the configs of a file that are not open; `None` where the client
    /// takes none.
    fn related(
        &self,
        path: &FilePath,
    ) -> Option<HashMap<lsp::Url, lsp::DocumentDiagnosticReportKind>> {
        let (snapshot, documents, features) = self.shared.with(|state| {
            (state.workspace.snapshot(), state.documents.clone(), state.features.clone())
        });
        if !features.announced.related_findings {
            return None;
        }
        let governing = snapshot.environments().governing(path);
        let configs = governing.flat_map(|environment| environment.configs());
        let paths: HashSet<&FilePath> = configs
            .map(|(_, config)| &config.path)
            .filter(|config| *config != path && !documents.contains_key(*config))
            .collect();
        let reports = |store: &mut Store| {
            let report = |config: &FilePath| {
                let report = store.reports.get(config)?.full();
                Some((to_lsp::uri(config)?, lsp::DocumentDiagnosticReportKind::Full(report)))
            };
            paths.into_iter().filter_map(report).collect()
        };
        Some(self.shared.pulled.with(reports))
    }

    /// Returns the findings of all files where they are others than the client has, as soon as
    /// there are some and all files are checked; in parts where the client takes these.
    pub(super) async fn findings_of_workspace(
        &self,
        params: lsp::WorkspaceDiagnosticParams,
    ) -> Result<lsp::WorkspaceDiagnosticReportResult> {
        let before = params.previous_result_ids.into_iter();
        let before: HashMap<FilePath, String> =
            before.filter_map(|one| Some((from_lsp::path(&one.uri)?, one.value))).collect();
        let changed = |store: &mut Store| {
            let changed = store.is_settled.then(|| store.changed_since(&before));
            changed.filter(|changed| !changed.is_empty())
        };
        let found = tokio::select! {
            found = self.shared.pulled.until(changed) => found.unwrap_or_default(),
            // Nothing waits for the answer any more.
            () = self.shared.input.ended() => Vec::new(),
        };
        let documents = self.shared.with(|state| state.documents.clone());
        let report = |(path, report): (FilePath, Report)| {
            let full = lsp::WorkspaceFullDocumentDiagnosticReport {
                uri: to_lsp::address(&path, &documents)?,
                version: report.version.map(i64::from),
                full_document_diagnostic_report: report.full(),
            };
            Some(lsp::WorkspaceDocumentDiagnosticReport::Full(full))
        };
        let mut items: Vec<_> = found.into_iter().filter_map(report).collect();
        let token = params.partial_result_params.partial_result_token;
        if let Some(token) = token.filter(|_| items.len() > PART) {
            for part in items.chunks(PART) {
                let part = lsp::WorkspaceDiagnosticReport { items: part.to_vec() };
                send_part(&self.output, &token, &part).await;
            }
            items.clear();
        }
        Ok(lsp::WorkspaceDiagnosticReport { items }.into())
    }
}

fn document_report(
    report: Option<Report>,
    previous: Option<String>,
    related_documents: Option<HashMap<lsp::Url, lsp::DocumentDiagnosticReportKind>>,
) -> lsp::DocumentDiagnosticReportResult {
    let Some(report) = report else {
        let none = lsp::FullDocumentDiagnosticReport::default();
        return lsp::DocumentDiagnosticReport::from(lsp::RelatedFullDocumentDiagnosticReport {
            related_documents,
            full_document_diagnostic_report: none,
        })
        .into();
    };
    let result_id = report.id.to_string();
    let is_same = previous.as_ref() == Some(&result_id);
    let report: lsp::DocumentDiagnosticReport = match is_same {
        true => lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents,
            unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport {
                result_id,
            },
        }
        .into(),
        false => lsp::RelatedFullDocumentDiagnosticReport {
            related_documents,
            full_document_diagnostic_report: report.full(),
        }
        .into(),
    };
    report.into()
}
