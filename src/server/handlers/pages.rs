//! Pages for clients that show documents and no views of their own: their texts, the command that
//! shows one, and the code actions with that command. See `server::pages` for the addresses.

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::hiera::key::LookupKey;
use crate::ide::{effective, hierarchy, story};
use crate::server::capabilities::{SHOW_COMMAND, SHOW_KIND};
use crate::server::handlers::views::{config_text, request_failed};
use crate::server::lsp318::{TextDocumentContentParams, TextDocumentContentResult};
use crate::server::pages::Page;
use crate::server::session::{ClientView, ServerHandle};
use crate::text::{FilePath, FilePosition};
use crate::workspace::Snapshot;

/// The text of a page about a file that no level can read.
const NOT_GOVERNED: &str = "No level can read this file, so that no node is meant.\n";
/// The documentation of the features, of which some sections are pages.
const FEATURES: &str = include_str!("../../../docs/features.md");

/// `workspace/textDocumentContent`: returns the text of a page.
pub(in crate::server) fn text_document_content(
    snapshot: &Snapshot,
    client: &ClientView,
    TextDocumentContentParams { uri }: &TextDocumentContentParams,
) -> Answer<TextDocumentContentResult> {
    let page = Page::from_address(uri)
        .ok_or_else(|| Error::invalid_params(format!("there is no page {uri}")))?;
    let shared = &client.shared;
    shared.pages.note_request(uri, snapshot.revision);
    // A change that came before this page was recorded did not ask the client to request the page
    // again.
    if shared.with(|state| state.workspace.revision()) != snapshot.revision {
        shared.pages.due.note_change();
    }
    let text = page_text(snapshot, client, page)?.unwrap_or_else(|| NOT_GOVERNED.to_owned());
    Ok(Some(TextDocumentContentResult { text }))
}

fn page_text(snapshot: &Snapshot, client: &ClientView, page: Page) -> Answer<String> {
    Ok(match page {
        Page::Explanation { key, file } => {
            let key = parse_key(&key)?;
            let evaluations = client.evaluations().unwrap_or_default();
            file_or_any(file, snapshot)
                .and_then(|file| story::explain_key(snapshot, &file, &key, &evaluations))
                .map(|found| found.text)
        }
        Page::Hierarchy { key, file } => {
            let key = key.as_deref().map(parse_key).transpose()?;
            let key = key.map(|key| LookupKey::of_root(&key.root_text()));
            file_or_any(file, snapshot)
                .and_then(|file| hierarchy::hierarchy_page(snapshot, &file, key.as_ref()))
        }
        Page::FileData { file } => file_or_any(file, snapshot)
            .and_then(|file| effective::effective_data(snapshot, &file))
            .map(|found| found.text),
        Page::NodeData { name } => match effective::node_data(snapshot, &name) {
            Some(found) => Some(found.text),
            None => Some(format!("# No node '{}' is known.\n", name.replace('\n', " "))),
        },
        Page::Reach => client
            .shared
            .find_reach_page(snapshot.clone())
            .map_err(request_failed)?
            .map(|found| found.text),
        Page::Governing => Some(config_text(snapshot, client)),
        Page::Refactorings => Some(section("Refactorings")),
        Page::QuickFixes => Some(section("Quick fixes")),
    })
}

fn file_or_any(file: Option<FilePath>, snapshot: &Snapshot) -> Option<FilePath> {
    file.or_else(|| {
        let mut configs =
            snapshot.environments().all.iter().filter_map(|one| one.governing_config());
        configs.next().map(|config| config.path.clone())
    })
}

fn parse_key(key: &str) -> Result<LookupKey> {
    LookupKey::parse(key).map_err(|_| Error::invalid_params("that is not the syntax of a key"))
}

/// Returns a section of the documentation of the features, with its title.
fn section(title: &str) -> String {
    let start = FEATURES.find(&format!("\n## {title}\n")).map_or(0, |at| at + 1);
    let text = &FEATURES[start..];
    let end = text[1..].find("\n## ").map_or(text.len(), |at| at + 2);
    // The heading moves one level up: the section is a document of its own.
    text[1..end].trim_end().to_owned() + "\n"
}

/// Returns the actions that show the pages about a place.
pub(super) fn page_actions(
    snapshot: &Snapshot,
    path: &FilePath,
    position: FilePosition,
) -> Vec<lsp::CodeAction> {
    if snapshot.environments().governing_environments(path).next().is_none() {
        return Vec::new();
    }
    let mut pages = Vec::new();
    if let Some(key) = story::key_at(snapshot, position) {
        let root = key.root_text().to_string();
        let title = format!("Explain the lookup of '{}'", key.text);
        pages.push((
            title,
            Page::Explanation { key: key.text.to_string(), file: Some(path.clone()) },
        ));
        let title = format!("Show the hierarchy with '{root}'");
        pages.push((title, Page::Hierarchy { key: Some(root), file: Some(path.clone()) }));
    } else {
        let title = "Show the hierarchy".to_owned();
        pages.push((title, Page::Hierarchy { key: None, file: Some(path.clone()) }));
    }
    let title = "Show all keys with their effective values".to_owned();
    pages.push((title, Page::FileData { file: Some(path.clone()) }));
    pages
        .into_iter()
        .map(|(title, page)| lsp::CodeAction {
            command: Some(show_command(title.clone(), &page)),
            title,
            kind: Some(SHOW_KIND),
            ..lsp::CodeAction::default()
        })
        .collect()
}

/// Returns the command that shows a page.
pub(in crate::server) fn show_command(title: String, page: &Page) -> lsp::Command {
    let arguments = Some(vec![page.to_address().into()]);
    lsp::Command { title, command: SHOW_COMMAND.to_owned(), arguments }
}

/// Takes the command, with the address of a page: asks the client to show it. The command is
/// answered at once, as the client may request the page before it answers.
pub(super) fn show_page(server: &ServerHandle, argument: Option<Value>) -> Result<Option<Value>> {
    let address = argument.as_ref().and_then(Value::as_str).map(lsp::Url::parse);
    let Some(Ok(uri)) = address else {
        return Err(Error::invalid_params("the argument is the address of a page"));
    };
    if Page::from_address(&uri).is_none() {
        return Err(Error::invalid_params(format!("there is no page {uri}")));
    }
    let client = server.client.clone();
    let params = lsp::ShowDocumentParams {
        uri,
        external: Some(false),
        take_focus: Some(true),
        selection: None,
    };
    tokio::spawn(async move { client.show_document(params).await });
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_section_of_the_documentation_is_a_page() {
        for (title, text) in [("Refactorings", "**moves**"), ("Quick fixes", "most similar")] {
            let page = section(title);
            assert!(page.starts_with(&format!("# {title}\n\n")), "{page}");
            assert!(page.contains(text) && !page.contains("\n#"), "{page}");
            assert!(!page.contains("]("), "a link of the book leads nowhere here: {page}");
        }
    }
}
