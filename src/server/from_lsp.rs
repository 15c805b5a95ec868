//! Converts types of the protocol to the crate's own.

use tower_lsp::lsp_types as lsp;

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

/// Converts a change of an open document, whose text is `text` before the change.
pub(super) fn text_change(
    path: FilePath,
    change: lsp::TextDocumentContentChangeEvent,
    text: &Text,
    encoding: Encoding,
) -> Change {
    let Some(range) = change.range else { return Change::Replace(path, change.text) };
    Change::Edit(
        path,
        vec![(
            TextRange::new(
                position_offset(range.start, encoding, text),
                position_offset(range.end, encoding, text),
            ),
            change.text,
        )],
    )
}

/// Returns the bytes of a range that a client asks about; empty where the end lies before the start.
pub(super) fn text_range(range: lsp::Range, encoding: Encoding, text: &Text) -> TextRange {
    let start = position_offset(range.start, encoding, text);
    TextRange::new(start, position_offset(range.end, encoding, text).max(start))
}

/// A place beyond the text can only mean its end.
fn position_offset(place: lsp::Position, encoding: Encoding, text: &Text) -> u32 {
    text.offset_at(line_col(place), encoding).unwrap_or(text.len())
}

/// Converts a line and a column.
pub(super) fn line_col(position: lsp::Position) -> LineCol {
    LineCol { line: position.line, column: position.character }
}
