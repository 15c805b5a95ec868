//! Findings for clients that ask for them: `textDocument/diagnostic` and `workspace/diagnostic`. The
//! publisher computes them as it does for other clients, and puts them into the
//! store instead of sending them.
//!
//! A request for a document waits until the publisher has checked the text that the client has. A
//! request for the workspace waits until some findings differ from those that the client has, as
//! clients repeat it soon after each answer (vscode-languageclient: after two seconds). A client
//! requests a document's findings when it changes the document; where an edit changes the findings
//! of other documents, the server asks it to request them again.

use std::collections::{HashMap, HashSet};

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types as lsp;

use crate::server::session::progress::{send_value, with_progress};
use crate::server::session::{FileReport, ServerHandle, Shared};
use crate::server::{from_lsp, to_lsp};
use crate::settings::PublishTime;
use crate::text::FilePath;

/// How many files a part of an answer about the workspace has.
const PART: usize = 100;

/// Returns the findings of a document as the client has it; those of its configs, too, where the
/// client takes findings of related documents.
pub(in crate::server) async fn document_diagnostic(
    ServerHandle { shared, .. }: ServerHandle,
    params: lsp::DocumentDiagnosticParams,
) -> Result<lsp::DocumentDiagnosticReportResult> {
    check_pulls(&shared)?;
    let previous = params.previous_result_id;
    let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else {
        return Ok(document_report(None, previous, None));
    };
    // Before the folders are read, most findings are not known.
    shared.await_scans().await;
    let revision = shared.with(|state| {
        let document = state.documents.get(&path);
        // Unsaved text keeps its earlier findings until it is saved.
        let is_waited_for = state.settings.run != PublishTime::OnSave
            || document.is_none_or(|document| document.is_saved);
        if is_waited_for { state.workspace.revision() } else { 0 }
    });
    let report = shared.findings.wait_document(&path, revision).await;
    let related = related_reports(&shared, &path);
    Ok(document_report(report, previous, related))
}

/// Errors: the client did not announce that it requests findings. They are published, and none
/// are stored for requests.
fn check_pulls(shared: &Shared) -> Result<()> {
    let pulls = shared.with(|state| state.features.pulls_findings);
    if pulls { Ok(()) } else { Err(Error { data: None, ..Error::method_not_found() }) }
}

/// Returns the findings of the configs of a file that are not open; `None` where the client
/// takes none.
fn related_reports(
    shared: &Shared,
    path: &FilePath,
) -> Option<HashMap<lsp::Url, lsp::DocumentDiagnosticReportKind>> {
    let (snapshot, documents, features) = shared.with(|state| {
        (state.workspace.snapshot(), state.documents.clone(), state.features.clone())
    });
    if !features.related_findings {
        return None;
    }
    let governing = snapshot.environments().governing_environments(path);
    let configs = governing.flat_map(|environment| environment.all_configs());
    let paths: HashSet<&FilePath> = configs
        .map(|(_, config)| &config.path)
        .filter(|config| *config != path && !documents.is_open(config))
        .collect();
    Some(
        paths
            .into_iter()
            .filter_map(|config| {
                let report = shared.findings.report(config)?.full_report();
                Some((to_lsp::file_uri(config)?, lsp::DocumentDiagnosticReportKind::Full(report)))
            })
            .collect(),
    )
}

/// Returns the findings of all files where they are others than the client has, as soon as
/// there are some and all files are checked; in parts where the client takes these.
pub(in crate::server) async fn workspace_diagnostic(
    ServerHandle { shared, output, .. }: ServerHandle,
    params: lsp::WorkspaceDiagnosticParams,
) -> Result<lsp::WorkspaceDiagnosticReportResult> {
    check_pulls(&shared)?;
    let before = params.previous_result_ids.into_iter();
    let before: HashMap<FilePath, String> =
        before.filter_map(|one| Some((from_lsp::path_of_uri(&one.uri)?, one.value))).collect();
    let checked = async {
        shared.findings.wait_all_checked().await;
        Ok(())
    };
    // After this check the request waits for changes.
    let token = params.work_done_progress_params.work_done_token;
    let checked = with_progress(&output, token, "Checking all files", checked);
    tokio::select! {
        checked = checked => checked?,
        () = shared.input.wait_end() => {}
    }
    let found = tokio::select! {
        found = shared.findings.wait_workspace(&before) => found,
        // The client no longer waits for the answer.
        () = shared.input.wait_end() => Vec::new(),
    };
    let documents = shared.with(|state| state.documents.clone());
    let mut items: Vec<_> = found
        .into_iter()
        .filter_map(|(path, report)| {
            let full = lsp::WorkspaceFullDocumentDiagnosticReport {
                uri: to_lsp::document_uri(&path, &documents)?,
                version: report.version.map(i64::from),
                full_document_diagnostic_report: report.full_report(),
            };
            Some(lsp::WorkspaceDocumentDiagnosticReport::Full(full))
        })
        .collect();
    let token = params.partial_result_params.partial_result_token;
    if let Some(token) = token.filter(|_| items.len() > PART) {
        for part in items.chunks(PART) {
            let part = serde_json::json!({"items": part});
            send_value(&output, &token, &part.to_string()).await;
        }
        items.clear();
    }
    Ok(lsp::WorkspaceDiagnosticReport { items }.into())
}

fn document_report(
    report: Option<FileReport>,
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
    let report: lsp::DocumentDiagnosticReport = if is_same {
        lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents,
            unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport {
                result_id,
            },
        }
        .into()
    } else {
        lsp::RelatedFullDocumentDiagnosticReport {
            related_documents,
            full_document_diagnostic_report: report.full_report(),
        }
        .into()
    };
    report.into()
}
