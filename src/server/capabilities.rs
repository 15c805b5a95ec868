//! The abilities of client and server: the features that the client announces, as far as answers depend
//! on them, and the capabilities that the server announces in return, its own messages included.

use std::collections::BTreeMap;

use serde_json::Value;
use tower_lsp::lsp_types as lsp;

use super::lsp318::{CodeActionKindDocumentation, TextDocumentContentOptions};
use crate::ide::completion::TRIGGERS;
use crate::ide::refactor::RefactoringKind;
use crate::text::Encoding;

/// The placeholder of a rule's code in the addresses of pages.
const CODE: &str = "{code}";

/// The server's own messages, without `hiera/`: see `docs/protocol.md`.
const OWN_MESSAGES: [&str; 10] = [
    "config",
    "effectiveData",
    "explain",
    "hierarchy",
    "nodes",
    "override",
    "overrideTargets",
    "reach",
    "selectNode",
    "status",
];

/// The types of semantic tokens, in the order of their numbers.
pub(super) const TOKEN_TYPES: [lsp::SemanticTokenType; 6] = [
    lsp::SemanticTokenType::OPERATOR,
    lsp::SemanticTokenType::FUNCTION,
    lsp::SemanticTokenType::VARIABLE,
    lsp::SemanticTokenType::PROPERTY,
    lsp::SemanticTokenType::STRING,
    lsp::SemanticTokenType::MACRO,
];
/// The one modifier of semantic tokens: a key that no level has.
const UNRESOLVED: lsp::SemanticTokenModifier = lsp::SemanticTokenModifier::new("unresolved");

/// The name of the command that evaluates a key with the functions of levels.
pub(super) const EVALUATE_COMMAND: &str = "hiera.runBackends";
/// The kind of the code actions with the command [`EVALUATE_COMMAND`].
pub(super) const EVALUATE_KIND: lsp::CodeActionKind = lsp::CodeActionKind::new("hiera.evaluate");
/// The scheme of the addresses of the server's pages, see `pages`.
pub(super) const PAGE_SCHEME: &str = "hiera";
/// The name of the command that shows a page of the server.
pub(super) const SHOW_COMMAND: &str = "hiera.showPage";
/// The kind of the code actions with the command [`SHOW_COMMAND`].
pub(super) const SHOW_KIND: lsp::CodeActionKind = lsp::CodeActionKind::new("hiera.show");
/// The kinds of code actions with documentation: its title, and the address of its page.
pub(super) const DOCUMENTED_KINDS: [(lsp::CodeActionKind, &str, &str); 2] = [
    (
        lsp::CodeActionKind::REFACTOR,
        "Which refactorings there are, and what their titles state",
        "hiera:/refactorings.md",
    ),
    (lsp::CodeActionKind::QUICKFIX, "Which quick fixes there are", "hiera:/quick-fixes.md"),
];
/// The kind of the action that makes all safe fixes of a file; editors can run it when they save.
pub(super) const FIX_ALL_KIND: lsp::CodeActionKind =
    lsp::CodeActionKind::new("source.fixAll.hiera");

/// The client's features that answers depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    /// The unit of columns.
    pub(super) encoding: Encoding,
    /// Hovers may be Markdown.
    pub(super) markdown: bool,
    /// Hovers in Markdown may have links.
    pub(super) hover_links: bool,
    /// How users call the actions of hovers, by the actions' names.
    pub(super) hover_actions: BTreeMap<String, String>,
    /// Definitions may say for which range they are.
    pub(super) links: bool,
    /// The client's features of completion.
    pub(super) completion: CompletionFeatures,
    /// Findings may name other places.
    pub(super) related_information: bool,
    /// The client shows progress.
    pub(super) progress: bool,
    /// The client can be asked for settings.
    pub(super) configuration: bool,
    /// The client can be asked to watch files.
    pub(super) watches_files: bool,
    /// The client subscribes to the status.
    pub(super) status: bool,
    /// The client can be asked to tell of changed settings.
    pub(super) tells_configuration: bool,
    /// The symbols of a document may be a tree.
    pub(super) nested_symbols: bool,
    /// The client knows the kinds of symbols that the first version of the protocol did not have.
    pub(super) new_symbol_kinds: bool,
    /// The maximum number of folds that the client accepts.
    pub(super) most_folds: Option<usize>,
    /// Links may have tooltips.
    pub(super) link_tooltips: bool,
    /// The client requests findings, and the server can ask it to request them again, as an edit
    /// changes those of other files.
    pub(super) pulls_findings: bool,
    /// The client takes findings of related documents with those of the document that it asks
    /// about.
    pub(super) related_findings: bool,
    /// The tags of diagnostics that the client shows.
    pub(super) tags: Vec<lsp::DiagnosticTag>,
    /// The client sends `workspace/willRenameFiles` before it renames files.
    pub(super) will_rename: bool,
    /// The client takes code actions that are more than commands.
    pub(super) action_literals: bool,
    /// The client shows code actions that cannot be made, with the reason.
    pub(super) disabled_actions: bool,
    /// The client takes edits of documents in certain versions.
    pub(super) document_changes: bool,
    /// Edits of documents may have places to fill in.
    pub(super) snippet_edits: bool,
    /// Commands may have tooltips. No capability states this: the client announces any other
    /// capability of LSP 3.18.
    pub(super) command_tooltips: bool,
    /// The client shows documentation of kinds of code actions.
    documents_actions: bool,
    /// The client takes edits that create files.
    pub(super) creates_files: bool,
    /// The client asks whether a name can be renamed.
    pub(super) prepares_renames: bool,
    /// The client's own command that shows places, for lenses; see `docs/protocol.md`.
    pub(super) show_places: Option<String>,
    /// The client's own command that shows the report about edits, for lenses; see
    /// `docs/protocol.md`.
    pub(super) show_reach: Option<String>,
    /// The client's own command that chooses what an entry is overridden for, for code actions; see
    /// `docs/protocol.md`.
    pub(super) choose_override: Option<String>,
    /// The addresses of the rules' pages that the client can open, with [`CODE`] in place of a
    /// rule's code; see `docs/protocol.md`. `None` where it opens none.
    rule_pages: Option<String>,
    /// The client shows documents whose texts it requests from the server.
    pub(super) requests_pages: bool,
    /// The client can be asked to show a document.
    shows_documents: bool,
    /// The client can be asked to request hints again.
    pub(super) refreshes_hints: bool,
    /// The client can be asked to request lenses again.
    pub(super) refreshes_lenses: bool,
    /// The client can be asked to request semantic tokens again.
    pub(super) refreshes_tokens: bool,
}

/// The format of a text that explains something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// A string: the client knows no formats.
    #[default]
    Unmarked,
    /// Plain text, marked as such.
    Plain,
    /// Markdown.
    Markdown,
}

/// The client's features of completion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompletionFeatures {
    /// Texts may have places to fill in.
    pub(super) snippets: bool,
    /// The format of explanations.
    pub(super) format: TextFormat,
    /// Texts may ask for no indentation by the client.
    pub(super) as_is: bool,
    /// A list may have the range that its items replace.
    pub(super) default_range: bool,
}

/// The client's capabilities as JSON, read by the protocol's own names.
struct Announced(Value);

impl Announced {
    fn get(&self, path: &str) -> &Value {
        path.split('.').fold(&self.0, |value, name| &value[name])
    }

    fn is_set(&self, path: &str) -> bool {
        self.get(path).as_bool() == Some(true)
    }

    /// Whether a list has a member.
    fn has(&self, path: &str, member: impl Into<Value>) -> bool {
        self.get(path).as_array().is_some_and(|list| list.contains(&member.into()))
    }

    /// Returns the format that the client prefers, which it lists first.
    fn format(&self, path: &str) -> TextFormat {
        match self.get(path)[0].as_str() {
            Some("markdown") => TextFormat::Markdown,
            Some(_) => TextFormat::Plain,
            None => TextFormat::Unmarked,
        }
    }
}

impl Features {
    /// Reads the client's capabilities.
    pub(super) fn from_capabilities(capabilities: Value) -> Features {
        let client = Announced(capabilities);
        // `experimental.hiera` holds the extensions of docs/protocol.md.
        let own = client.get("experimental.hiera");
        let is_utf8 = client.has("general.positionEncodings", "utf-8");
        let kinds = "textDocument.documentSymbol.symbolKind.valueSet";
        let new_kinds = [lsp::SymbolKind::OBJECT, lsp::SymbolKind::NULL, lsp::SymbolKind::KEY];
        let new_kinds = new_kinds.map(|kind| serde_json::to_value(kind).unwrap_or_default());
        Features {
            encoding: if is_utf8 { Encoding::Utf8 } else { Encoding::Utf16 },
            markdown: client.format("textDocument.hover.contentFormat") == TextFormat::Markdown,
            hover_links: own["hoverLinks"] != false,
            hover_actions: own["hoverActions"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(name, call)| Some((name.clone(), call.as_str()?.to_owned())))
                .collect(),
            links: client.is_set("textDocument.definition.linkSupport"),
            completion: CompletionFeatures::from_announced(&client),
            related_information: client
                .is_set("textDocument.publishDiagnostics.relatedInformation"),
            progress: client.is_set("window.workDoneProgress"),
            configuration: client.is_set("workspace.configuration"),
            watches_files: client.is_set("workspace.didChangeWatchedFiles.dynamicRegistration"),
            status: own["status"] == true,
            tells_configuration: client
                .is_set("workspace.didChangeConfiguration.dynamicRegistration"),
            nested_symbols: client
                .is_set("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"),
            new_symbol_kinds: new_kinds.into_iter().all(|kind| client.has(kinds, kind)),
            most_folds: client
                .get("textDocument.foldingRange.rangeLimit")
                .as_u64()
                .and_then(|most| usize::try_from(most).ok()),
            show_places: own["showPlaces"].as_str().map(str::to_owned),
            show_reach: own["showReach"].as_str().map(str::to_owned),
            choose_override: own["chooseOverride"].as_str().map(str::to_owned),
            rule_pages: own["rulePages"]
                .as_str()
                .filter(|pages| is_address_of_pages(pages))
                .filter(|_| client.is_set("textDocument.publishDiagnostics.codeDescriptionSupport"))
                .map(str::to_owned),
            requests_pages: client.get("workspace.textDocumentContent").is_object(),
            shows_documents: client.is_set("window.showDocument.support"),
            refreshes_hints: client.is_set("workspace.inlayHint.refreshSupport"),
            refreshes_lenses: client.is_set("workspace.codeLens.refreshSupport"),
            refreshes_tokens: client.is_set("workspace.semanticTokens.refreshSupport"),
            pulls_findings: client.get("textDocument.diagnostic").is_object()
                // lsp-types 0.94, which clients use, too, has the capability under the second name.
                && ["diagnostics", "diagnostic"]
                    .into_iter()
                    .any(|name| client.is_set(&format!("workspace.{name}.refreshSupport"))),
            related_findings: client.is_set("textDocument.diagnostic.relatedDocumentSupport"),
            link_tooltips: client.is_set("textDocument.documentLink.tooltipSupport"),
            tags: serde_json::from_value(
                client.get("textDocument.publishDiagnostics.tagSupport.valueSet").clone(),
            )
            .unwrap_or_default(),
            will_rename: client.is_set("workspace.fileOperations.willRename"),
            action_literals: client
                .get("textDocument.codeAction.codeActionLiteralSupport")
                .is_object(),
            disabled_actions: client.is_set("textDocument.codeAction.disabledSupport"),
            creates_files: client.is_set("workspace.workspaceEdit.documentChanges")
                && client.has("workspace.workspaceEdit.resourceOperations", "create"),
            command_tooltips: client.get("workspace.textDocumentContent").is_object()
                || client.is_set("workspace.workspaceEdit.snippetEditSupport")
                || client.is_set("textDocument.codeAction.documentationSupport"),
            snippet_edits: client.is_set("workspace.workspaceEdit.snippetEditSupport")
                && client.is_set("workspace.workspaceEdit.documentChanges"),
            documents_actions: client.is_set("textDocument.codeAction.documentationSupport"),
            document_changes: client.is_set("workspace.workspaceEdit.documentChanges"),
            prepares_renames: client.is_set("textDocument.rename.prepareSupport"),
        }
    }

    /// Whether the client shows a page of the server when the server asks it to.
    pub(super) fn shows_pages(&self) -> bool {
        self.requests_pages && self.shows_documents
    }

    /// Whether code actions offer the pages about a place: the client shows pages, and has no
    /// command of its own for that.
    pub(super) fn offers_pages(&self) -> bool {
        self.shows_pages() && !self.hover_actions.contains_key("explain")
    }

    /// Returns the page of the rule with this code; `None` where the client opens none.
    pub(super) fn rule_page(&self, code: &str) -> Option<lsp::CodeDescription> {
        let address = self.rule_pages.as_ref()?.replace(CODE, code);
        lsp::Url::parse(&address).ok().map(|href| lsp::CodeDescription { href })
    }
}

impl CompletionFeatures {
    fn from_announced(client: &Announced) -> CompletionFeatures {
        CompletionFeatures {
            snippets: client.is_set(&item_capability("snippetSupport")),
            format: client.format(&item_capability("documentationFormat")),
            as_is: client.has(
                &item_capability("insertTextModeSupport.valueSet"),
                serde_json::to_value(lsp::InsertTextMode::AS_IS).unwrap_or_default(),
            ),
            default_range: client
                .has("textDocument.completion.completionList.itemDefaults", "editRange"),
        }
    }
}

fn item_capability(name: &str) -> String {
    format!("textDocument.completion.completionItem.{name}")
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

/// Returns the server's capabilities for a client with `features`; each of them is implemented.
/// `evaluates` is whether functions of levels may run at the user's request.
pub(super) fn server_capabilities(features: &Features, evaluates: bool) -> Value {
    let known = known_capabilities(features, evaluates);
    let mut all = serde_json::to_value(known).unwrap_or_default();
    if features.requests_pages {
        let pages = TextDocumentContentOptions { schemes: vec![PAGE_SCHEME] };
        all["workspace"]["textDocumentContent"] = serde_json::to_value(pages).unwrap_or_default();
    }
    if features.action_literals && features.documents_actions && features.shows_pages() {
        let documentation = DOCUMENTED_KINDS.map(|(kind, title, page)| {
            let (title, arguments) = (title.to_owned(), Some(vec![page.into()]));
            let command = lsp::Command { title, command: SHOW_COMMAND.to_owned(), arguments };
            CodeActionKindDocumentation { kind, command }
        });
        let documentation = serde_json::to_value(documentation).unwrap_or_default();
        all["codeActionProvider"]["documentation"] = documentation;
    }
    all
}

/// Returns the capabilities that lsp-types has.
fn known_capabilities(features: &Features, evaluates: bool) -> lsp::ServerCapabilities {
    let sync = lsp::TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
        save: Some(lsp::TextDocumentSyncSaveOptions::SaveOptions(lsp::SaveOptions {
            include_text: Some(false),
        })),
        ..lsp::TextDocumentSyncOptions::default()
    };
    let folders = lsp::WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(lsp::OneOf::Left(true)),
    };
    let own_messages: serde_json::Map<_, _> =
        OWN_MESSAGES.map(|name| (name.to_owned(), true.into())).into_iter().collect();
    lsp::ServerCapabilities {
        position_encoding: Some(match features.encoding {
            Encoding::Utf8 => lsp::PositionEncodingKind::UTF8,
            Encoding::Utf16 => lsp::PositionEncodingKind::UTF16,
            Encoding::Utf32 => lsp::PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
        definition_provider: Some(lsp::OneOf::Left(true)),
        implementation_provider: Some(lsp::ImplementationProviderCapability::Simple(true)),
        completion_provider: Some(completion_options()),
        workspace: Some(lsp::WorkspaceServerCapabilities {
            workspace_folders: Some(folders),
            file_operations: features.will_rename.then(|| {
                lsp::WorkspaceFileOperationsServerCapabilities {
                    will_rename: Some(renamed_files()),
                    ..lsp::WorkspaceFileOperationsServerCapabilities::default()
                }
            }),
        }),
        experimental: Some(serde_json::json!({"hiera": own_messages})),
        execute_command_provider: Some(commands(features, evaluates))
            .filter(|commands| !commands.is_empty())
            .map(|commands| lsp::ExecuteCommandOptions {
                commands: commands.into_iter().map(str::to_owned).collect(),
                work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
            }),
        references_provider: Some(lsp::OneOf::Right(lsp::ReferencesOptions {
            work_done_progress_options: progress_options(),
        })),
        call_hierarchy_provider: Some(lsp::CallHierarchyServerCapability::Simple(true)),
        document_highlight_provider: Some(lsp::OneOf::Left(true)),
        code_action_provider: features.action_literals.then(|| {
            lsp::CodeActionProviderCapability::Options(lsp::CodeActionOptions {
                code_action_kinds: Some(action_kinds(features, evaluates)),
                work_done_progress_options: progress_options(),
                ..lsp::CodeActionOptions::default()
            })
        }),
        rename_provider: Some(if features.prepares_renames {
            lsp::OneOf::Right(lsp::RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: progress_options(),
            })
        } else {
            lsp::OneOf::Left(true)
        }),
        diagnostic_provider: features.pulls_findings.then(|| {
            lsp::DiagnosticServerCapabilities::Options(lsp::DiagnosticOptions {
                identifier: Some("hiera-ls".into()),
                inter_file_dependencies: true,
                workspace_diagnostics: true,
                work_done_progress_options: progress_options(),
            })
        }),
        document_symbol_provider: Some(lsp::OneOf::Left(true)),
        workspace_symbol_provider: Some(lsp::OneOf::Right(lsp::WorkspaceSymbolOptions {
            work_done_progress_options: progress_options(),
            resolve_provider: None,
        })),
        folding_range_provider: Some(lsp::FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(lsp::SelectionRangeProviderCapability::Simple(true)),
        document_link_provider: Some(lsp::DocumentLinkOptions {
            resolve_provider: None,
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        }),
        code_lens_provider: Some(lsp::CodeLensOptions { resolve_provider: Some(true) }),
        inlay_hint_provider: Some(lsp::OneOf::Left(true)),
        semantic_tokens_provider: Some(
            lsp::SemanticTokensOptions {
                legend: token_legend(),
                range: Some(true),
                full: Some(lsp::SemanticTokensFullOptions::Delta { delta: Some(true) }),
                ..lsp::SemanticTokensOptions::default()
            }
            .into(),
        ),
        ..lsp::ServerCapabilities::default()
    }
}

fn completion_options() -> lsp::CompletionOptions {
    lsp::CompletionOptions {
        resolve_provider: Some(true),
        trigger_characters: Some(TRIGGERS.iter().map(char::to_string).collect()),
        ..lsp::CompletionOptions::default()
    }
}

fn progress_options() -> lsp::WorkDoneProgressOptions {
    lsp::WorkDoneProgressOptions { work_done_progress: Some(true) }
}

fn token_legend() -> lsp::SemanticTokensLegend {
    let (token_types, token_modifiers) = (TOKEN_TYPES.to_vec(), vec![UNRESOLVED]);
    lsp::SemanticTokensLegend { token_types, token_modifiers }
}

/// Returns the commands that the server takes; `evaluates` is whether functions of levels may run.
pub(super) fn commands(features: &Features, evaluates: bool) -> Vec<&'static str> {
    let pages = features.shows_pages().then_some(SHOW_COMMAND);
    evaluates.then_some(EVALUATE_COMMAND).into_iter().chain(pages).collect()
}

/// Returns the kinds of code actions that there are; `evaluates` is whether functions of levels may
/// run.
pub(super) fn action_kinds(features: &Features, evaluates: bool) -> Vec<lsp::CodeActionKind> {
    let refactorings = RefactoringKind::ALL.into_iter().map(action_kind);
    let evaluations = evaluates.then_some(EVALUATE_KIND);
    let pages = features.offers_pages().then_some(SHOW_KIND);
    let fixes = [lsp::CodeActionKind::QUICKFIX, FIX_ALL_KIND];
    fixes.into_iter().chain(refactorings).chain(evaluations).chain(pages).collect()
}

/// Returns the kind of the code actions for refactorings of a kind.
pub(super) fn action_kind(kind: RefactoringKind) -> lsp::CodeActionKind {
    match kind {
        RefactoringKind::Move => lsp::CodeActionKind::new("refactor.move"),
        RefactoringKind::Override => lsp::CodeActionKind::new("refactor.override"),
        RefactoringKind::Extract => lsp::CodeActionKind::REFACTOR_EXTRACT,
        RefactoringKind::Inline => lsp::CodeActionKind::REFACTOR_INLINE,
        RefactoringKind::Rewrite => lsp::CodeActionKind::REFACTOR_REWRITE,
        RefactoringKind::Sort => lsp::CodeActionKind::new("source.sortKeys"),
    }
}

/// The files and folders that a path of a `hiera.yaml` may name.
fn renamed_files() -> lsp::FileOperationRegistrationOptions {
    lsp::FileOperationRegistrationOptions {
        filters: vec![
            file_filter("**/*", lsp::FileOperationPatternKind::File),
            file_filter("**/*", lsp::FileOperationPatternKind::Folder),
        ],
    }
}

fn file_filter(glob: &str, matches: lsp::FileOperationPatternKind) -> lsp::FileOperationFilter {
    lsp::FileOperationFilter {
        scheme: Some("file".into()),
        pattern: lsp::FileOperationPattern {
            glob: glob.into(),
            matches: Some(matches),
            options: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::rules;
    use serde_json::{Value, json};

    /// Returns the page of `unknown-key`, for a client that announces the two values.
    fn page(rule_pages: &Value, shows_pages: &Value) -> Option<String> {
        let capabilities = json!({
            "textDocument": {"publishDiagnostics": {"codeDescriptionSupport": shows_pages}},
            "experimental": {"hiera": {"rulePages": rule_pages}},
        });
        let page = Features::from_capabilities(capabilities).rule_page("unknown-key")?;
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
        assert!(Features::from_capabilities(json!({})).rule_page("any").is_none());
    }

    #[test]
    fn no_code_needs_escaping_in_an_address() {
        let pages = Some("own:/{code}.md".to_owned());
        let features = Features { rule_pages: pages, ..Features::default() };
        for rule in rules::RULES {
            let page = features.rule_page(rule.code).map(|page| page.href.to_string());
            assert_eq!(page, Some(format!("own:/{}.md", rule.code)));
        }
    }
}
