//! When findings are computed and sent: after each change, for the open files and every `hiera.yaml`.
//!
//! There is no fixed pause: while one round computes, changes pile up and are answered by the next, all at once. A file whose
//! text has moved on meanwhile is left to that round, and what has not changed is not sent again. The same goes for the status.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tower_lsp::Client;
use tower_lsp::lsp_types as lsp;

use super::state::{Document, Features, Shared};
use super::status::{Status, StatusNotification};
use super::to_lsp;
use crate::diagnostics::{RulesConfig, check_file};
use crate::text::FilePath;
use crate::workspace::Snapshot;

/// What a round starts from.
struct Round {
    snapshot: Snapshot,
    features: Features,
    rules: RulesConfig,
    documents: HashMap<FilePath, Document>,
}

impl Round {
    /// The status, if the client wants to be told.
    fn status(&self) -> Option<Status> {
        self.features.status.then(|| Status::of(&self.snapshot))
    }
}

type Published = HashMap<FilePath, (lsp::Url, Vec<lsp::Diagnostic>)>;

/// Publishes after each change, until the server ends.
pub(super) async fn run(client: Client, shared: Arc<Shared>) {
    let mut published = Published::new();
    let mut told = None;
    loop {
        shared.changed.notified().await;
        let round = shared.with(|state| Round {
            snapshot: state.workspace.snapshot(),
            features: state.features.clone(),
            rules: state.settings.rules.clone(),
            documents: state.documents.clone(),
        });
        let documents = round.documents.clone();
        let Ok((found, status)) = tokio::task::spawn_blocking(move || (check(&round), round.status())).await else {
            client.log_message(lsp::MessageType::ERROR, "checking failed; this is a defect of hiera-ls").await;
            continue;
        };
        send(&client, &shared, &documents, found, &mut published).await;
        if let Some(news) = status.filter(|status| told.as_ref() != Some(status)) {
            client.send_notification::<StatusNotification>(news.clone()).await;
            told = Some(news);
        }
    }
}

/// The findings of each file that is to have any.
fn check(round: &Round) -> HashMap<FilePath, Vec<lsp::Diagnostic>> {
    let snapshot = &round.snapshot;
    let mut paths: BTreeSet<FilePath> = snapshot.open_files().iter().cloned().collect();
    for environment in &snapshot.layout().environments {
        paths.extend(environment.configs().map(|(_, config)| config.path.clone()));
    }
    let diagnostics = |path: FilePath| {
        let findings = check_file(snapshot, &path, &round.rules);
        let converted =
            findings.iter().map(|finding| to_lsp::diagnostic(snapshot, finding, &round.features, &round.documents)).collect();
        (path, converted)
    };
    paths.into_iter().map(diagnostics).collect()
}

async fn send(
    client: &Client,
    shared: &Shared,
    documents: &HashMap<FilePath, Document>,
    mut found: HashMap<FilePath, Vec<lsp::Diagnostic>>,
    published: &mut Published,
) {
    // What had findings and is not looked at any more has none.
    for path in published.keys() {
        found.entry(path.clone()).or_default();
    }
    for (path, diagnostics) in found {
        let document = documents.get(&path);
        let now = shared.with(|state| state.documents.get(&path).map(|document| document.version));
        if now != document.map(|document| document.version) {
            continue; // Its text has moved on, and the next round is on its way.
        }
        let known = published.get(&path);
        let was_opened_since = known.is_none() && document.is_some();
        // Clients spell an address as they like, and keep findings under the spelling that they came with.
        let respelt = known.zip(document).filter(|(known, document)| known.0 != document.uri).map(|(known, _)| known.0.clone());
        if known.map_or(&[][..], |known| &known.1) == diagnostics.as_slice() && !was_opened_since && respelt.is_none() {
            continue;
        }
        if let Some(old) = respelt {
            client.publish_diagnostics(old, Vec::new(), None).await;
        }
        let Some(uri) = document
            .map(|document| document.uri.clone())
            .or_else(|| known.map(|known| known.0.clone()))
            .or_else(|| to_lsp::uri(&path))
        else {
            continue;
        };
        client.publish_diagnostics(uri.clone(), diagnostics.clone(), document.map(|document| document.version)).await;
        if diagnostics.is_empty() && document.is_none() {
            published.remove(&path);
        } else {
            published.insert(path, (uri, diagnostics));
        }
    }
}
