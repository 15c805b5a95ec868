//! The findings that are stored for a client that requests them, with the results that it has. The
//! publisher puts them here, `diagnostics::pull` answers with them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::sync::watch;
use tower_lsp::lsp_types as lsp;

use crate::text::FilePath;
use crate::workspace::Snapshot;

/// A diagnostic of the protocol, as JSON.
type Diagnostic = Arc<str>;

/// The findings as clients may ask for them.
#[derive(Default)]
pub(in crate::server) struct FindingsStore {
    store: Mutex<Store>,
    /// Counts the changes of the store.
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct Store {
    /// The last revision of the workspace that was checked.
    revision: u64,
    /// Whether all closed files have been checked in the last revision that was checked.
    is_settled: bool,
    /// Open documents that are still to be checked.
    deferred: HashSet<FilePath>,
    reports: BTreeMap<FilePath, FileReport>,
    /// The results that the client has of open documents.
    given: HashMap<FilePath, u64>,
    /// The last number that a result got.
    last: u64,
    /// Whether the server is about to ask the client to request findings again.
    is_refreshing: bool,
}

/// The findings of a file.
#[derive(Clone)]
pub(in crate::server) struct FileReport {
    /// The number of the result; the same as long as the findings are.
    pub(in crate::server) id: u64,
    /// The version of the document, where it is open.
    pub(in crate::server) version: Option<i32>,
    items: Vec<Diagnostic>,
}

impl FileReport {
    fn parse_items(&self) -> Vec<lsp::Diagnostic> {
        self.items.iter().filter_map(|json| serde_json::from_str(json).ok()).collect()
    }

    /// Returns the report of the protocol.
    pub(in crate::server) fn full_report(&self) -> lsp::FullDocumentDiagnosticReport {
        let result_id = Some(self.id.to_string());
        lsp::FullDocumentDiagnosticReport { result_id, items: self.parse_items() }
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

    fn put_items(&mut self, path: FilePath, items: Vec<Diagnostic>, version: Option<i32>) {
        match self.reports.get_mut(&path) {
            Some(report) if report.items == items => report.version = version,
            _ => {
                let id = self.next();
                self.reports.insert(path, FileReport { id, version, items });
            }
        }
    }

    /// Returns the open documents for which the client has outdated findings.
    fn outdated_documents(&self) -> impl Iterator<Item = (&FilePath, u64)> {
        self.given.iter().filter_map(|(path, given)| {
            let now = self.reports.get(path).map_or(0, |report| report.id);
            (now != *given).then_some((path, now))
        })
    }

    /// Returns the files whose findings are others than those of the results `before`.
    fn changed_since(&self, before: &HashMap<FilePath, String>) -> Vec<(FilePath, FileReport)> {
        let found = self.reports.iter().filter(|(path, report)| match before.get(*path) {
            Some(id) => *id != report.id.to_string(),
            // A client without results gets those of files without findings, too, so that its next
            // request includes their results.
            None => !report.items.is_empty() || before.is_empty(),
        });
        found.map(|(path, report)| (path.clone(), report.clone())).collect()
    }
}

impl FindingsStore {
    fn with<T>(&self, look: impl FnOnce(&mut Store) -> T) -> T {
        look(&mut self.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the findings of a round, or of closed files; `found` has those of each file where they
    /// may be others, and `version` the version of an open document.
    pub(in crate::server) fn put_findings(
        &self,
        found: Vec<(FilePath, Vec<Diagnostic>)>,
        version: impl Fn(&FilePath) -> Option<i32>,
    ) {
        self.with(|store| {
            for (path, items) in found {
                let version = version(&path);
                store.put_items(path, items, version);
            }
        });
    }

    /// Whether a file is one of those with a result.
    pub(in crate::server) fn has_result(&self, path: &FilePath) -> bool {
        self.with(|store| store.reports.contains_key(path))
    }

    /// Records that a round has ended: of a revision, with open documents that are left to the next
    /// one.
    pub(in crate::server) fn finish_round(&self, revision: u64, deferred: HashSet<FilePath>) {
        self.with(|store| {
            store.revision = revision;
            store.deferred = deferred;
        });
        self.news.send_modify(|count| *count += 1);
    }

    /// Records whether all closed files are checked. Those that are gone have no findings.
    pub(in crate::server) fn note_settled(&self, snapshot: Option<&Snapshot>) {
        self.with(|store| {
            store.is_settled = snapshot.is_some();
            let Some(snapshot) = snapshot else { return };
            let gone = |(path, report): &(&FilePath, &FileReport)| {
                !report.items.is_empty() && snapshot.file(path).is_none()
            };
            let gone: Vec<FilePath> =
                store.reports.iter().filter(gone).map(|(path, _)| path.clone()).collect();
            gone.into_iter().for_each(|path| store.put_items(path, Vec::new(), None));
        });
        if snapshot.is_some() {
            self.news.send_modify(|count| *count += 1);
        }
    }

    /// Returns an empty list of findings for each file that has some.
    pub(in crate::server) fn empty_findings(&self) -> Vec<(FilePath, Vec<Diagnostic>)> {
        self.with(|store| store.reports.keys().map(|path| (path.clone(), Vec::new())).collect())
    }

    /// Records that a document was closed.
    pub(in crate::server) fn note_close(&self, path: &FilePath) {
        self.with(|store| store.given.remove(path));
    }

    /// Waits until `ready` returns something.
    async fn wait_until<T>(&self, ready: impl Fn(&mut Store) -> Option<T>) -> Option<T> {
        let mut news = self.news.subscribe();
        loop {
            if let Some(found) = self.with(&ready) {
                return Some(found);
            }
            news.changed().await.ok()?;
        }
    }

    /// Records that the server is about to ask the client to request findings again, as those of
    /// open documents are outdated. `false` where none are, or where the server is about to ask
    /// already.
    pub(in crate::server) fn begin_refresh(&self) -> bool {
        self.with(|store| {
            let begins = !store.is_refreshing && store.outdated_documents().next().is_some();
            store.is_refreshing |= begins;
            begins
        })
    }

    /// Whether the client still has outdated findings. They count as sent from now on, so that the
    /// server asks once: a client may not request documents that it does not show.
    pub(in crate::server) fn ends_refresh(&self) -> bool {
        self.with(|store| {
            store.is_refreshing = false;
            let told: Vec<_> =
                store.outdated_documents().map(|(path, now)| (path.clone(), now)).collect();
            let is_needed = !told.is_empty();
            store.given.extend(told);
            is_needed
        })
    }

    /// Waits until an open document was checked in a revision, and returns its findings; `None`
    /// where it has none because it has nothing to do with Hiera.
    pub(in crate::server) async fn wait_document(
        &self,
        path: &FilePath,
        revision: u64,
    ) -> Option<FileReport> {
        self.wait_until(|store| {
            let is_checked = store.revision >= revision && !store.deferred.contains(path);
            is_checked.then(|| {
                let report = store.reports.get(path).cloned();
                store.given.insert(path.clone(), report.as_ref().map_or(0, |report| report.id));
                report
            })
        })
        .await
        .flatten()
    }

    /// Waits until all files are checked.
    pub(in crate::server) async fn wait_all_checked(&self) {
        self.wait_until(|store| store.is_settled.then_some(())).await;
    }

    /// Waits until all files are checked and some have other findings than the results `before`;
    /// returns those files.
    pub(in crate::server) async fn wait_workspace(
        &self,
        before: &HashMap<FilePath, String>,
    ) -> Vec<(FilePath, FileReport)> {
        self.wait_until(|store| {
            let changed = store.is_settled.then(|| store.changed_since(before));
            changed.filter(|changed| !changed.is_empty())
        })
        .await
        .unwrap_or_default()
    }

    /// Returns the findings of a file as they are known.
    pub(in crate::server) fn report(&self, path: &FilePath) -> Option<FileReport> {
        self.with(|store| store.reports.get(path).cloned())
    }
}
