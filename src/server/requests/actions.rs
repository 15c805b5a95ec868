//! Code actions.

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

use crate::ide::quick_fixes::{QuickFix, quick_fixes};
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::TextRange;

impl Backend {
    /// Returns the quick fixes for the findings in a range, each with the diagnostics that the
    /// client has of its finding; `None` where the client asks for other kinds of actions alone.
    pub(in crate::server) async fn actions_in(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        let wanted = params.context.only.as_ref();
        let quick_fix = lsp::CodeActionKind::QUICKFIX;
        if wanted.is_some_and(|kinds| !kinds.iter().any(|kind| covers(kind, &quick_fix))) {
            return Ok(None);
        }
        let (rules, documents) =
            self.shared.with(|state| (state.settings.rules.clone(), state.documents.clone()));
        let uri = params.text_document.uri;
        self.answer(from_lsp::path(&uri), move |snapshot, features| {
            let path = from_lsp::path(&uri)?;
            let text = snapshot.file(&path)?.text()?;
            let offset = |place| text.offset(from_lsp::line_col(place), features.encoding);
            let range = TextRange::new(offset(params.range.start)?, offset(params.range.end)?);
            let action = |fix: QuickFix| {
                let range = to_lsp::range_in(text, fix.range, features.encoding);
                let code = lsp::NumberOrString::String(fix.code.to_owned());
                let mends =
                    |one: &&lsp::Diagnostic| one.range == range && one.code.as_ref() == Some(&code);
                let mended = params.context.diagnostics.iter().filter(mends).cloned().collect();
                lsp::CodeActionOrCommand::CodeAction(lsp::CodeAction {
                    title: fix.title,
                    kind: Some(lsp::CodeActionKind::QUICKFIX),
                    diagnostics: Some(mended),
                    edit: Some(to_lsp::workspace_edit(snapshot, &fix.change, features, &documents)),
                    is_preferred: Some(true),
                    ..lsp::CodeAction::default()
                })
            };
            let fixes = quick_fixes(snapshot, &path, range, &rules);
            Some(fixes.into_iter().map(action).collect())
        })
        .await
    }
}

/// Whether a kind of actions is another one, or has it below it.
fn covers(kind: &lsp::CodeActionKind, other: &lsp::CodeActionKind) -> bool {
    kind.as_str().is_empty()
        || kind == other
        || other.as_str().strip_prefix(kind.as_str()).is_some_and(|rest| rest.starts_with('.'))
}
