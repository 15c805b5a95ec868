//! Findings for clients that ask for them: `textDocument/diagnostic` and `workspace/diagnostic`. The
//! publisher computes them as it does for other clients, and puts them into `pulled` instead of
//! sending them.
//!
//! A request for a document waits until the publisher has checked the text that the client has. A
//! request for the workspace waits until some findings differ from those that the client has, as
//! clients repeat it soon after each answer (vscode-languageclient: after two seconds). A client
//! requests a document's findings when it changes the document; where an edit changes the findings
//! of other documents, the server asks it to request them again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tower_lsp::Client;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types as lsp;

use super::pulled::Report;
use super::requests::send_part;
use super::state::Shared;
use super::transport::wait_answer;
use super::{Backend, from_lsp, to_lsp};
use crate::settings::PublishTime;
use crate::text::FilePath;

/// The server waits no longer than this for a client's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the server waits for a client's own request after a change, before it asks the client
/// to request findings again.
const GRACE: Duration = Duration::from_millis(50);
/// How many files a part of an answer about the workspace has.
const PART: usize = 100;

/// Asks the client to request findings again, unless it does so by itself, if those that it has of
/// some documents are outdated.
pub(super) fn refresh(client: &Client, shared: &Arc<Shared>) {
    if !shared.pulled.begin_refresh() {
        return;
    }
    let (client, shared) = (client.clone(), shared.clone());
    tokio::spawn(async move {
        tokio::time::sleep(GRACE).await;
        if shared.pulled.ends_refresh() {
            let asking = async move { client.workspace_diagnostic_refresh().await };
            let _ = wait_answer(asking, PATIENCE).await;
        }
    });
}

impl Backend {
    /// Returns the findings of a document as the client has it; those of its configs, too, where the
    /// client takes findings of related documents.
    pub(super) async fn findings_of_document(
        &self,
        params: lsp::DocumentDiagnosticParams,
    ) -> Result<lsp::DocumentDiagnosticReportResult> {
        self.check_pulls()?;
        let previous = params.previous_result_id;
        let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else {
            return Ok(document_report(None, previous, None));
        };
        // Before the folders are read, most findings are not known.
        self.shared.wait_settled().await;
        let revision = self.shared.with(|state| {
            let document = state.documents.get(&path);
            // Findings in text that is not saved are those of before, until it is.
            let is_waited_for = state.settings.run != PublishTime::OnSave
                || document.is_none_or(|document| document.is_saved);
            if is_waited_for { state.workspace.revision() } else { 0 }
        });
        let report = self.shared.pulled.of_document(&path, revision).await;
        let related = self.related_reports(&path);
        Ok(document_report(report, previous, related))
    }

    /// Errors: the client did not announce that it requests findings. They are published, and none
    /// are stored for requests.
    fn check_pulls(&self) -> Result<()> {
        let pulls = self.shared.with(|state| state.features.announced.pulls_findings);
        if pulls { Ok(()) } else { Err(Error { data: None, ..Error::method_not_found() }) }
    }

    /// Returns the findings of the configs of a file that are not open; `None` where the client
    /// takes none.
    fn related_reports(
        &self,
        path: &FilePath,
    ) -> Option<HashMap<lsp::Url, lsp::DocumentDiagnosticReportKind>> {
        let (snapshot, documents, features) = self.shared.with(|state| {
            (state.workspace.snapshot(), state.documents.clone(), state.features.clone())
        });
        if !features.announced.related_findings {
            return None;
        }
        let governing = snapshot.environments().governing_environments(path);
        let configs = governing.flat_map(|environment| environment.all_configs());
        let paths: HashSet<&FilePath> = configs
            .map(|(_, config)| &config.path)
            .filter(|config| *config != path && !documents.is_open(config))
            .collect();
        let report = |config: &FilePath| {
            let report = self.shared.pulled.report(config)?.full_report();
            Some((to_lsp::file_uri(config)?, lsp::DocumentDiagnosticReportKind::Full(report)))
        };
        Some(paths.into_iter().filter_map(report).collect())
    }

    /// Returns the findings of all files where they are others than the client has, as soon as
    /// there are some and all files are checked; in parts where the client takes these.
    pub(super) async fn findings_of_workspace(
        &self,
        params: lsp::WorkspaceDiagnosticParams,
    ) -> Result<lsp::WorkspaceDiagnosticReportResult> {
        self.check_pulls()?;
        let before = params.previous_result_ids.into_iter();
        let before: HashMap<FilePath, String> =
            before.filter_map(|one| Some((from_lsp::path_of_uri(&one.uri)?, one.value))).collect();
        let checked = async {
            self.shared.pulled.all_checked().await;
            Ok(())
        };
        // Then the request waits for changes.
        let checked =
            self.with_progress(params.work_done_progress_params, "Checking all files", checked);
        tokio::select! {
            checked = checked => checked?,
            () = self.shared.input.wait_end() => {}
        }
        let found = tokio::select! {
            found = self.shared.pulled.of_workspace(&before) => found,
            // The client no longer waits for the answer.
            () = self.shared.input.wait_end() => Vec::new(),
        };
        let documents = self.shared.with(|state| state.documents.clone());
        let report = |(path, report): (FilePath, Report)| {
            let full = lsp::WorkspaceFullDocumentDiagnosticReport {
                uri: to_lsp::document_uri(&path, &documents)?,
                version: report.version.map(i64::from),
                full_document_diagnostic_report: report.full_report(),
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
            full_document_diagnostic_report: report.full_report(),
        }
        .into(),
    };
    report.into()
}
