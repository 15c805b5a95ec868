//! The features of a client that answers about the structure of files depend on, and those of the
//! server that it announces in return.

use tower_lsp::lsp_types as lsp;

use super::{actions, coloring, evaluate, progress};

/// The placeholder of a rule's code in the addresses of pages.
const CODE: &str = "{code}";

/// The client's features.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct Announced {
    /// The symbols of a document may be a tree.
    pub(in crate::server) nested_symbols: bool,
    /// It knows the kinds of symbols that the first version of the protocol did not have.
    pub(in crate::server) new_symbol_kinds: bool,
    /// The maximum number of folds that it accepts.
    pub(in crate::server) most_folds: Option<usize>,
    /// Links may have tooltips.
    pub(in crate::server) link_tooltips: bool,
    /// It requests findings, and the server can ask it to request them again, as an edit changes
    /// those of other files.
    pub(in crate::server) pulls_findings: bool,
    /// It takes findings of related documents with those of the one that it asks about.
    pub(in crate::server) related_findings: bool,
    /// The tags of diagnostics that it shows.
    pub(in crate::server) tags: Vec<lsp::DiagnosticTag>,
    /// It sends `workspace/willRenameFiles` before it renames files.
    pub(in crate::server) will_rename: bool,
    /// It takes code actions that are more than commands.
    pub(in crate::server) action_literals: bool,
    /// It shows code actions that cannot be made, with the reason.
    pub(in crate::server) disabled_actions: bool,
    /// It takes edits of documents in certain versions.
    pub(in crate::server) document_changes: bool,
    /// It takes edits that create files.
    pub(in crate::server) creates_files: bool,
    /// It asks whether a name can be renamed.
    pub(in crate::server) prepares_renames: bool,
    /// The client's own command that shows places, for lenses; see `docs/protocol.md`.
    pub(in crate::server) show_places: Option<String>,
    /// The addresses of the rules' pages that the client can open, with [`CODE`] in place of a
    /// rule's code; see `docs/protocol.md`. `None` where it opens none.
    rule_pages: Option<String>,
    /// It can be asked to ask again for hints.
    pub(in crate::server) refreshes_hints: bool,
    /// It can be asked to ask again for lenses.
    pub(in crate::server) refreshes_lenses: bool,
    /// It can be asked to ask again for semantic tokens.
    pub(in crate::server) refreshes_tokens: bool,
}

impl Announced {
    /// Reads the client's capabilities.
    pub(in crate::server) fn from_capabilities(
        capabilities: &lsp::ClientCapabilities,
    ) -> Announced {
        let text = capabilities.text_document.clone().unwrap_or_default();
        let workspace = capabilities.workspace.clone().unwrap_or_default();
        let symbols = text.document_symbol.unwrap_or_default();
        let kinds = symbols.symbol_kind.and_then(|kinds| kinds.value_set).unwrap_or_default();
        let shows_pages = text
            .publish_diagnostics
            .as_ref()
            .and_then(|diagnostics| diagnostics.code_description_support)
            .unwrap_or(false);
        Announced {
            nested_symbols: symbols.hierarchical_document_symbol_support.unwrap_or(false),
            new_symbol_kinds: kinds.contains(&lsp::SymbolKind::OBJECT)
                && kinds.contains(&lsp::SymbolKind::NULL)
                && kinds.contains(&lsp::SymbolKind::KEY),
            most_folds: text
                .folding_range
                .and_then(|folding| folding.range_limit)
                .and_then(|most| usize::try_from(most).ok()),
            show_places: capabilities
                .experimental
                .as_ref()
                .and_then(|own| own["hiera"]["showPlaces"].as_str())
                .map(str::to_owned),
            rule_pages: capabilities
                .experimental
                .as_ref()
                .and_then(|own| own["hiera"]["rulePages"].as_str())
                .filter(|pages| is_address_of_pages(pages))
                .filter(|_| shows_pages)
                .map(str::to_owned),
            refreshes_hints: workspace
                .inlay_hint
                .and_then(|hints| hints.refresh_support)
                .unwrap_or(false),
            refreshes_lenses: workspace
                .code_lens
                .and_then(|lenses| lenses.refresh_support)
                .unwrap_or(false),
            refreshes_tokens: workspace
                .semantic_tokens
                .and_then(|tokens| tokens.refresh_support)
                .unwrap_or(false),
            pulls_findings: text.diagnostic.is_some()
                && workspace.diagnostic.and_then(|own| own.refresh_support).unwrap_or(false),
            related_findings: text
                .diagnostic
                .and_then(|diagnostic| diagnostic.related_document_support)
                .unwrap_or(false),
            link_tooltips: text
                .document_link
                .and_then(|links| links.tooltip_support)
                .unwrap_or(false),
            tags: text
                .publish_diagnostics
                .and_then(|diagnostics| diagnostics.tag_support)
                .map(|tags| tags.value_set)
                .unwrap_or_default(),
            will_rename: workspace
                .file_operations
                .and_then(|operations| operations.will_rename)
                .unwrap_or(false),
            action_literals: text
                .code_action
                .as_ref()
                .is_some_and(|action| action.code_action_literal_support.is_some()),
            disabled_actions: text
                .code_action
                .as_ref()
                .and_then(|action| action.disabled_support)
                .unwrap_or(false),
            creates_files: workspace.workspace_edit.as_ref().is_some_and(|edit| {
                let operations = edit.resource_operations.as_deref().unwrap_or_default();
                edit.document_changes == Some(true)
                    && operations.contains(&lsp::ResourceOperationKind::Create)
            }),
            document_changes: capabilities
                .workspace
                .as_ref()
                .and_then(|workspace| workspace.workspace_edit.as_ref())
                .and_then(|edit| edit.document_changes)
                .unwrap_or(false),
            prepares_renames: text
                .rename
                .and_then(|rename| rename.prepare_support)
                .unwrap_or(false),
        }
    }

    /// Returns the page of the rule with this code; `None` where the client opens none.
    pub(in crate::server) fn rule_page(&self, code: &str) -> Option<lsp::CodeDescription> {
        let address = self.rule_pages.as_ref()?.replace(CODE, code);
        lsp::Url::parse(&address).ok().map(|href| lsp::CodeDescription { href })
    }
}

/// Whether each code gets an address of its own; a client that announces anything else has no
/// pages.
fn is_address_of_pages(pages: &str) -> bool {
    let is_address =
        pages.contains(CODE) && lsp::Url::parse(&pages.replace(CODE, "a-code")).is_ok();
    if !is_address {
        tracing::warn!("`rulePages` is passed over: it is no address with {CODE} in it");
    }
    is_address
}

/// Adds the capabilities of the server for such a client. `evaluates` is whether functions of
/// levels may run at the user's request.
pub(in crate::server) fn add_capabilities(
    server: &mut lsp::ServerCapabilities,
    client: &Announced,
    evaluates: bool,
) {
    server.execute_command_provider = evaluates.then(|| lsp::ExecuteCommandOptions {
        commands: vec![evaluate::COMMAND.into()],
        work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
    });
    server.references_provider = Some(lsp::OneOf::Right(lsp::ReferencesOptions {
        work_done_progress_options: progress::progress_options(),
    }));
    server.call_hierarchy_provider = Some(lsp::CallHierarchyServerCapability::Simple(true));
    server.document_highlight_provider = Some(lsp::OneOf::Left(true));
    server.code_action_provider = client.action_literals.then(|| {
        lsp::CodeActionProviderCapability::Options(lsp::CodeActionOptions {
            code_action_kinds: Some(actions::action_kinds(evaluates)),
            work_done_progress_options: progress::progress_options(),
            ..lsp::CodeActionOptions::default()
        })
    });
    server.rename_provider = Some(match client.prepares_renames {
        true => lsp::OneOf::Right(lsp::RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: progress::progress_options(),
        }),
        false => lsp::OneOf::Left(true),
    });
    server.diagnostic_provider = client.pulls_findings.then(|| {
        lsp::DiagnosticServerCapabilities::Options(lsp::DiagnosticOptions {
            identifier: Some("hiera-ls".into()),
            inter_file_dependencies: true,
            workspace_diagnostics: true,
            work_done_progress_options: progress::progress_options(),
        })
    });
    if let Some(workspace) = server.workspace.as_mut().filter(|_| client.will_rename) {
        workspace.file_operations = Some(lsp::WorkspaceFileOperationsServerCapabilities {
            will_rename: Some(renamed_files()),
            ..lsp::WorkspaceFileOperationsServerCapabilities::default()
        });
    }
    server.document_symbol_provider = Some(lsp::OneOf::Left(true));
    server.workspace_symbol_provider = Some(lsp::OneOf::Right(lsp::WorkspaceSymbolOptions {
        work_done_progress_options: progress::progress_options(),
        resolve_provider: None,
    }));
    server.folding_range_provider = Some(lsp::FoldingRangeProviderCapability::Simple(true));
    server.selection_range_provider = Some(lsp::SelectionRangeProviderCapability::Simple(true));
    server.document_link_provider = Some(lsp::DocumentLinkOptions {
        resolve_provider: None,
        work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
    });
    server.code_lens_provider = Some(lsp::CodeLensOptions { resolve_provider: Some(true) });
    server.inlay_hint_provider = Some(lsp::OneOf::Left(true));
    server.semantic_tokens_provider = Some(
        lsp::SemanticTokensOptions {
            legend: coloring::token_legend(),
            range: Some(true),
            full: Some(lsp::SemanticTokensFullOptions::Delta { delta: Some(true) }),
            ..lsp::SemanticTokensOptions::default()
        }
        .into(),
    );
}

/// The files and folders that a path of a `hiera.yaml` may name.
fn renamed_files() -> lsp::FileOperationRegistrationOptions {
    let filter = |glob: &str, matches| lsp::FileOperationFilter {
        scheme: Some("file".into()),
        pattern: lsp::FileOperationPattern {
            glob: glob.into(),
            matches: Some(matches),
            options: None,
        },
    };
    lsp::FileOperationRegistrationOptions {
        filters: vec![
            filter("**/*", lsp::FileOperationPatternKind::File),
            filter("**/*", lsp::FileOperationPatternKind::Folder),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::catalogue;
    use serde_json::{Value, json};

    /// Returns the page of `unknown-key`, for a client that announces this.
    fn page(rule_pages: &Value, shows_pages: &Value) -> Option<String> {
        let capabilities = json!({
            "textDocument": {"publishDiagnostics": {"codeDescriptionSupport": shows_pages}},
            "experimental": {"hiera": {"rulePages": rule_pages}},
        });
        let capabilities = serde_json::from_value(capabilities).expect("capabilities");
        let page = Announced::from_capabilities(&capabilities).rule_page("unknown-key")?;
        Some(page.href.into())
    }

    #[test]
    fn a_rules_page_has_the_address_that_the_client_announces() {
        let pages = json!("own:/{code}.md");
        assert_eq!(page(&pages, &json!(true)).as_deref(), Some("own:/unknown-key.md"));
        let twice = json!("https://example.net/{code}#{code}");
        let expected = "https://example.net/unknown-key#unknown-key";
        assert_eq!(page(&twice, &json!(true)).as_deref(), Some(expected));
        for refused in [json!(false), json!(null)] {
            assert_eq!(page(&pages, &refused), None, "a client that shows no pages: {refused}");
        }
        for wrong in [json!(null), json!(true), json!("own:/page.md"), json!("{code}"), json!("")] {
            assert_eq!(page(&wrong, &json!(true)), None, "{wrong}");
        }
        assert!(
            Announced::from_capabilities(&lsp::ClientCapabilities::default())
                .rule_page("any")
                .is_none()
        );
    }

    #[test]
    fn no_code_needs_escaping_in_an_address() {
        let pages = Some("own:/{code}.md".to_owned());
        let announced = Announced { rule_pages: pages, ..Announced::default() };
        for rule in catalogue::RULES {
            let page = announced.rule_page(rule.code).map(|page| page.href.to_string());
            assert_eq!(page, Some(format!("own:/{}.md", rule.code)));
        }
    }
}
