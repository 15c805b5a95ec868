//! Code actions: quick fixes, refactorings, and evaluations with functions of levels.

use std::time::Duration;

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use super::evaluate;
use crate::ide::quick_fixes::{QuickFix, quick_fixes};
use crate::ide::refactor::{Refactoring, RefactoringKind, RefactoringRequest, find_refactorings};
use crate::server::documents::Documents;
use crate::server::features::Features;
use crate::server::state::ServerState;
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::{FilePosition, SourceChange, Text, TextRange};
use crate::workspace::Snapshot;

/// The longest time for which values are compared to state the effect of refactorings.
const MAX_COMPARING: Duration = Duration::from_millis(100);

impl Backend {
    /// Returns the quick fixes for the findings in a range, each with the diagnostics that the
    /// client has of its finding, the refactorings there, and the evaluations of the key there; of
    /// all those of the kinds that the client asks for.
    pub(in crate::server) async fn actions_in(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        let only = params.context.only.clone();
        let is_wanted = move |kind: &lsp::CodeActionKind| {
            only.as_ref().is_none_or(|kinds| kinds.iter().any(|one| covers_kind(one, kind)))
        };
        let (rules, documents, evaluates) = self.shared.with(|state| {
            let ServerState { settings, documents, evaluates, .. } = state;
            (settings.rules.clone(), documents.clone(), *evaluates)
        });
        if !action_kinds(evaluates).iter().any(&is_wanted) {
            return Ok(None);
        }
        let uri = params.text_document.uri;
        let progress = params.work_done_progress_params.clone();
        let found = self.answer_request(from_lsp::path_of_uri(&uri), move |snapshot, features| {
            let path = from_lsp::path_of_uri(&uri)?;
            let text = snapshot.file(&path)?.text()?;
            let offset = |place| text.offset_at(from_lsp::line_col(place), features.encoding);
            let range = TextRange::new(offset(params.range.start)?, offset(params.range.end)?);
            let client = Client { snapshot, features, documents: &documents };
            let mut actions = Vec::new();
            if is_wanted(&lsp::CodeActionKind::QUICKFIX) {
                let fixes = quick_fixes(snapshot, &path, range, &rules).into_iter();
                let known = &params.context.diagnostics;
                actions.extend(fixes.filter_map(|fix| client.action_of_fix(fix, text, known)));
            }
            let is_by_user =
                params.context.trigger_kind != Some(lsp::CodeActionTriggerKind::AUTOMATIC);
            let file = snapshot.file(&path)?.id;
            if evaluates && is_by_user && is_wanted(&evaluate::KIND) {
                let position = FilePosition { file, offset: range.start };
                actions.extend(evaluate::evaluate_actions(snapshot, &uri, position));
            }
            let wanted = RefactoringRequest {
                path: &path,
                range,
                creates_files: features.announced.creates_files,
                is_by_user,
                time: Some(MAX_COMPARING),
                kinds: &|kind| is_wanted(&action_kind(kind)),
            };
            let found = find_refactorings(snapshot, wanted).into_iter();
            actions.extend(found.filter_map(|one| client.action_of_refactoring(one)));
            Some(actions.into_iter().map(lsp::CodeActionOrCommand::CodeAction).collect())
        });
        self.with_progress(progress, "Comparing values", found).await
    }
}

/// The request that an action is converted for.
struct Client<'a> {
    snapshot: &'a Snapshot,
    features: &'a Features,
    documents: &'a Documents,
}

impl Client<'_> {
    /// Returns the action of a quick fix; `None` for a change that the gate stops.
    fn action_of_fix(
        &self,
        fix: QuickFix,
        text: &Text,
        known: &[lsp::Diagnostic],
    ) -> Option<lsp::CodeAction> {
        let range = to_lsp::range_in(text, fix.range, self.features.encoding);
        let code = lsp::NumberOrString::String(fix.code.to_owned());
        let mends = |one: &&lsp::Diagnostic| one.range == range && one.code.as_ref() == Some(&code);
        Some(lsp::CodeAction {
            title: fix.title,
            kind: Some(lsp::CodeActionKind::QUICKFIX),
            diagnostics: Some(known.iter().filter(mends).cloned().collect()),
            edit: Some(self.workspace_edit(fix.change)?),
            is_preferred: Some(true),
            ..lsp::CodeAction::default()
        })
    }

    /// Returns the action of a refactoring; `None` for one that cannot be made, where the client
    /// does not show these.
    fn action_of_refactoring(&self, found: Refactoring) -> Option<lsp::CodeAction> {
        let action = lsp::CodeAction {
            title: found.title,
            kind: Some(action_kind(found.kind)),
            ..lsp::CodeAction::default()
        };
        match found.change {
            Ok(change) => {
                Some(lsp::CodeAction { edit: Some(self.workspace_edit(change)?), ..action })
            }
            Err(reason) => {
                let disabled = Some(lsp::CodeActionDisabled { reason });
                self.features
                    .announced
                    .disabled_actions
                    .then_some(lsp::CodeAction { disabled, ..action })
            }
        }
    }

    /// Returns the edit of a change; `None` for one that the gate stops.
    fn workspace_edit(&self, change: SourceChange) -> Option<lsp::WorkspaceEdit> {
        let change = self.snapshot.allow_change(change).ok()?;
        Some(to_lsp::workspace_edit(self.snapshot, &change, self.features, self.documents))
    }
}

/// Returns the kinds of actions that there are; `evaluates` is whether functions of levels may run.
pub(super) fn action_kinds(evaluates: bool) -> Vec<lsp::CodeActionKind> {
    let refactorings = RefactoringKind::ALL.into_iter().map(action_kind);
    let evaluations = evaluates.then_some(evaluate::KIND);
    [lsp::CodeActionKind::QUICKFIX].into_iter().chain(refactorings).chain(evaluations).collect()
}

fn action_kind(kind: RefactoringKind) -> lsp::CodeActionKind {
    match kind {
        RefactoringKind::Move => lsp::CodeActionKind::new("refactor.move"),
        RefactoringKind::Extract => lsp::CodeActionKind::REFACTOR_EXTRACT,
        RefactoringKind::Inline => lsp::CodeActionKind::REFACTOR_INLINE,
        RefactoringKind::Rewrite => lsp::CodeActionKind::REFACTOR_REWRITE,
        RefactoringKind::Sort => lsp::CodeActionKind::new("source.sortKeys"),
    }
}

/// Whether a kind of actions is another one, or has it below it.
fn covers_kind(kind: &lsp::CodeActionKind, other: &lsp::CodeActionKind) -> bool {
    kind.as_str().is_empty()
        || kind == other
        || other.as_str().strip_prefix(kind.as_str()).is_some_and(|rest| rest.starts_with('.'))
}
