//! Converts types of the protocol to the crate's own.

use tower_lsp::lsp_types as lsp;

use super::features::{CompletionFeatures, Features, TextFormat};
use super::requests::Announced;
use crate::text::{Encoding, FilePath, FilePosition, LineCol, Text, TextRange};
use crate::workspace::{Change, Snapshot};

/// Returns the path of a file's address; `None` if the address is not one of a file.
pub(super) fn path_of_uri(uri: &lsp::Url) -> Option<FilePath> {
    if uri.scheme() != "file" {
        return None;
    }
    uri.to_file_path().ok()?.to_str().map(FilePath::new)
}

/// Returns the folders of the workspace: those that the client lists, or else its root.
pub(super) fn workspace_folders(params: &lsp::InitializeParams) -> Vec<FilePath> {
    let listed: Vec<FilePath> = params
        .workspace_folders
        .iter()
        .flatten()
        .filter_map(|folder| path_of_uri(&folder.uri))
        .collect();
    if !listed.is_empty() {
        return listed;
    }
    params.root_uri.iter().filter_map(path_of_uri).collect()
}

/// Reads the client's capabilities.
pub(super) fn client_features(capabilities: &lsp::ClientCapabilities) -> Features {
    let offered = capabilities
        .general
        .as_ref()
        .and_then(|general| general.position_encodings.clone())
        .unwrap_or_default();
    let encoding = if offered.contains(&lsp::PositionEncodingKind::UTF8) {
        Encoding::Utf8
    } else {
        Encoding::Utf16
    };
    let text = capabilities.text_document.as_ref();
    let hover = text
        .and_then(|text| text.hover.as_ref())
        .and_then(|hover| hover.content_format.clone())
        .unwrap_or_default();
    let workspace = capabilities.workspace.as_ref();
    // The extensions of docs/protocol.md.
    let own = |name: &str| {
        capabilities.experimental.as_ref().and_then(|own| own["hiera"][name].as_bool())
    };
    Features {
        encoding,
        // The client lists the format that it prefers first.
        markdown: hover.first() == Some(&lsp::MarkupKind::Markdown),
        hover_links: own("hoverLinks") != Some(false),
        hover_actions: capabilities
            .experimental
            .as_ref()
            .and_then(|own| own["hiera"]["hoverActions"].as_object())
            .into_iter()
            .flatten()
            .filter_map(|(name, call)| Some((name.clone(), call.as_str()?.to_owned())))
            .collect(),
        links: text
            .and_then(|text| text.definition.as_ref())
            .and_then(|definition| definition.link_support)
            .unwrap_or(false),
        completion: completion_features(text),
        related_information: text
            .and_then(|text| text.publish_diagnostics.as_ref())
            .and_then(|diagnostics| diagnostics.related_information)
            .unwrap_or(false),
        progress: capabilities
            .window
            .as_ref()
            .and_then(|window| window.work_done_progress)
            .unwrap_or(false),
        configuration: workspace.and_then(|workspace| workspace.configuration).unwrap_or(false),
        watches_files: workspace
            .and_then(|workspace| workspace.did_change_watched_files.as_ref())
            .and_then(|watched| watched.dynamic_registration)
            .unwrap_or(false),
        status: own("status") == Some(true),
        tells_configuration: workspace
            .and_then(|workspace| workspace.did_change_configuration.as_ref())
            .and_then(|configuration| configuration.dynamic_registration)
            .unwrap_or(false),
        announced: Announced::from_capabilities(capabilities),
    }
}

/// Reads the client's capabilities of completion.
fn completion_features(text: Option<&lsp::TextDocumentClientCapabilities>) -> CompletionFeatures {
    let completion = text.and_then(|text| text.completion.as_ref());
    let item = completion.and_then(|completion| completion.completion_item.as_ref());
    let formats = item.and_then(|item| item.documentation_format.as_ref());
    let defaults = completion.and_then(|completion| completion.completion_list.as_ref());
    let defaults = defaults.and_then(|list| list.item_defaults.as_ref());
    let modes = item.and_then(|item| item.insert_text_mode_support.as_ref());
    let resolved = item.and_then(|item| item.resolve_support.as_ref());
    CompletionFeatures {
        resolves_details: resolved.is_some_and(|it| it.properties.iter().any(|it| it == "detail")),
        snippets: item.and_then(|item| item.snippet_support) == Some(true),
        format: match formats.and_then(|all| all.first()) {
            Some(lsp::MarkupKind::Markdown) => TextFormat::Markdown,
            Some(lsp::MarkupKind::PlainText) => TextFormat::Plain,
            None => TextFormat::Unmarked,
        },
        default_range: defaults.is_some_and(|all| all.iter().any(|name| name == "editRange")),
        as_is: modes.is_some_and(|modes| modes.value_set.contains(&lsp::InsertTextMode::AS_IS)),
    }
}

/// Converts a place in a file of the snapshot.
pub(super) fn file_position(
    snapshot: &Snapshot,
    place: &lsp::TextDocumentPositionParams,
    encoding: Encoding,
) -> Option<FilePosition> {
    let file = snapshot.file(&path_of_uri(&place.text_document.uri)?)?;
    let offset = file.text()?.offset_at(line_col(place.position), encoding)?;
    Some(FilePosition { file: file.id, offset })
}

/// Converts a change of an open document, whose text is `text` before it.
pub(super) fn text_change(
    path: FilePath,
    change: lsp::TextDocumentContentChangeEvent,
    text: &Text,
    encoding: Encoding,
) -> Change {
    let Some(range) = change.range else { return Change::Replace(path, change.text) };
    // A place beyond the text can only mean its end.
    let offset =
        |place: lsp::Position| text.offset_at(line_col(place), encoding).unwrap_or(text.len());
    Change::Edit(path, vec![(TextRange::new(offset(range.start), offset(range.end)), change.text)])
}

/// Converts a line and a column.
pub(super) fn line_col(position: lsp::Position) -> LineCol {
    LineCol { line: position.line, column: position.character }
}
