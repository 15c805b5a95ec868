//! Code actions: quick fixes, refactorings, and evaluations with functions of levels.

use tower_lsp::lsp_types as lsp;

use super::{Answer, evaluate, overrides, pages};
use crate::ide::quick_fixes::{QuickFix, acceptances, fix_all, quick_fixes};
use crate::ide::refactor::{Refactoring, RefactoringKind, RefactoringRequest, find_refactorings};
use crate::server::capabilities::{
    EVALUATE_KIND, FIX_ALL_KIND, SHOW_KIND, action_kind, action_kinds,
};
use crate::server::lsp318::{CodeAction, WorkspaceEdit};
use crate::server::session::ClientView;
use crate::server::{from_lsp, to_lsp};
use crate::text::{Encoding, FilePosition, SourceChange, Text, TextRange};
use crate::workspace::Snapshot;

/// The most lookups that compare values to state the effect of the refactorings of a place.
const MAX_COMPARED_LOOKUPS: usize = 8_000;
/// The most lookups that compare values where no user asks, but the editor by itself while the
/// cursor moves.
const MAX_LOOKUPS_UNASKED: usize = 2_000;

/// Returns the quick fixes for the findings in a range, each with the diagnostics that the client
/// has of its finding, the refactorings there, and the evaluations of the key there; only the
/// actions of the kinds that the client asks for.
pub(in crate::server) fn code_action(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::CodeActionParams,
) -> Answer<Vec<CodeAction>> {
    Ok(find_actions(snapshot, client, params))
}

fn find_actions(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::CodeActionParams,
) -> Option<Vec<CodeAction>> {
    let only = params.context.only.as_deref();
    if !action_kinds(&client.features, client.evaluates)
        .iter()
        .any(|kind| is_kind_wanted(kind, only))
    {
        return None;
    }
    let uri = &params.text_document.uri;
    let path = from_lsp::path_of_uri(uri)?;
    let file = snapshot.file(&path)?;
    let text = file.text()?;
    let encoding = client.features.encoding;
    let range = TextRange::new(
        position_offset(params.range.start, encoding, text)?,
        position_offset(params.range.end, encoding, text)?,
    );
    let converter = ActionConverter { snapshot, client };
    let mut actions = Vec::new();
    if is_kind_wanted(&lsp::CodeActionKind::QUICKFIX, only) {
        let rules = &client.settings.rules;
        let fixes = quick_fixes(snapshot, &path, range, rules).into_iter();
        let fixes = fixes.chain(acceptances(snapshot, &path, range, rules));
        let known = &params.context.diagnostics;
        actions.extend(fixes.filter_map(|fix| converter.action_of_fix(fix, text, known)));
    }
    if is_kind_wanted(&FIX_ALL_KIND, only)
        && let Some(change) = fix_all(snapshot, &path, &client.settings.rules)
    {
        actions.extend(converter.action_of_fix_all(change));
    }
    let is_by_user = params.context.trigger_kind != Some(lsp::CodeActionTriggerKind::AUTOMATIC);
    let position = FilePosition { file: file.id, offset: range.start };
    if client.evaluates && is_by_user && is_kind_wanted(&EVALUATE_KIND, only) {
        let evaluations = evaluate::evaluate_actions(snapshot, uri, position).into_iter();
        actions.extend(evaluations.map(|action| CodeAction { action, edit: None }));
    }
    let override_kind = action_kind(RefactoringKind::Override);
    let chooses = client.features.choose_override.is_some();
    if chooses && is_kind_wanted(&override_kind, only) {
        let chooser = overrides::chooser_action(snapshot, client, (uri, params.range.start));
        actions.extend(chooser.map(|action| CodeAction { action, edit: None }));
    }
    let request = RefactoringRequest {
        path: &path,
        range,
        creates_files: client.features.creates_files,
        is_by_user,
        lookups: Some(if is_by_user { MAX_COMPARED_LOOKUPS } else { MAX_LOOKUPS_UNASKED }),
        // The chooser offers all levels, and the other override actions offer only some of them.
        kinds: &|kind| {
            is_kind_wanted(&action_kind(kind), only)
                && !(chooses && kind == RefactoringKind::Override)
        },
    };
    let found = find_refactorings(snapshot, request).into_iter();
    actions.extend(found.filter_map(|one| converter.action_of_refactoring(one)));
    if client.features.offers_pages() && is_by_user && is_kind_wanted(&SHOW_KIND, only) {
        let pages = pages::page_actions(snapshot, &path, position).into_iter();
        actions.extend(pages.map(|action| CodeAction { action, edit: None }));
    }
    Some(actions)
}

fn position_offset(place: lsp::Position, encoding: Encoding, text: &Text) -> Option<u32> {
    text.offset_at(from_lsp::line_col(place), encoding)
}

fn is_kind_wanted(kind: &lsp::CodeActionKind, only: Option<&[lsp::CodeActionKind]>) -> bool {
    only.is_none_or(|kinds| kinds.iter().any(|one| covers_kind(one, kind)))
}

/// Converts the actions of a request.
struct ActionConverter<'a> {
    snapshot: &'a Snapshot,
    client: &'a ClientView,
}

impl ActionConverter<'_> {
    /// Returns the action of a quick fix; `None` for a change that the gate stops.
    fn action_of_fix(
        &self,
        fix: QuickFix,
        text: &Text,
        known: &[lsp::Diagnostic],
    ) -> Option<CodeAction> {
        let range = to_lsp::range_in(text, fix.range, self.client.features.encoding);
        let code = lsp::NumberOrString::String(fix.code.to_owned());
        let action = lsp::CodeAction {
            title: fix.title,
            kind: Some(lsp::CodeActionKind::QUICKFIX),
            diagnostics: Some(
                known
                    .iter()
                    .filter(|one| one.range == range && one.code.as_ref() == Some(&code))
                    .cloned()
                    .collect(),
            ),
            is_preferred: Some(fix.is_single),
            ..lsp::CodeAction::default()
        };
        let edit = Some(WorkspaceEdit::Plain(self.workspace_edit(fix.change)?));
        Some(CodeAction { action, edit })
    }

    /// Returns the action that makes all safe fixes; `None` for a change that the gate stops.
    fn action_of_fix_all(&self, change: SourceChange) -> Option<CodeAction> {
        let action = lsp::CodeAction {
            title: "Make all fixes of this file that change no value".to_owned(),
            kind: Some(FIX_ALL_KIND),
            ..lsp::CodeAction::default()
        };
        let edit = Some(WorkspaceEdit::Plain(self.workspace_edit(change)?));
        Some(CodeAction { action, edit })
    }

    /// Returns the action of a refactoring; `None` for one that cannot be made, where the client
    /// does not show these.
    fn action_of_refactoring(&self, found: Refactoring) -> Option<CodeAction> {
        let action = lsp::CodeAction {
            title: found.title,
            kind: Some(action_kind(found.kind)),
            ..lsp::CodeAction::default()
        };
        match found.change {
            Ok(change) => {
                let edit = self.workspace_edit(change)?;
                let name = found.new_key.filter(|_| self.client.features.snippet_edits);
                let edit = match name {
                    Some(name) => to_lsp::with_name_to_fill_in(edit, &name),
                    None => WorkspaceEdit::Plain(edit),
                };
                Some(CodeAction { action, edit: Some(edit) })
            }
            Err(reason) => {
                let disabled = Some(lsp::CodeActionDisabled { reason });
                let shows = self.client.features.disabled_actions;
                let action = lsp::CodeAction { disabled, ..action };
                shows.then_some(CodeAction { action, edit: None })
            }
        }
    }

    /// Returns the edit of a change; `None` for one that the gate stops.
    fn workspace_edit(&self, change: SourceChange) -> Option<lsp::WorkspaceEdit> {
        self.client.workspace_edit(self.snapshot, change)
    }
}

/// Whether a kind of actions is the other one, or has the other one below it.
fn covers_kind(kind: &lsp::CodeActionKind, other: &lsp::CodeActionKind) -> bool {
    kind.as_str().is_empty()
        || kind == other
        || other.as_str().strip_prefix(kind.as_str()).is_some_and(|rest| rest.starts_with('.'))
}
