//! "Override for…": the code action with the client's command, and the two requests of that command.
//! `docs/protocol.md` describes them.

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::Error;
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::phrases::PlaceNames;
use crate::ide::refactor::RefactoringKind;
use crate::ide::refactor::chooser::{
    Chosen, OverridePlace, OverrideRequest, OverrideTarget, TargetFile, find_places, list_targets,
    overridable_key,
};
use crate::server::capabilities::action_kind;
use crate::server::session::ClientView;
use crate::server::{from_lsp, to_lsp};
use crate::text::{FilePath, FilePosition};
use crate::workspace::Snapshot;

/// `hiera/overrideTargets`: the place of a key, and a part of the names to list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct TargetsParams {
    #[serde(flatten)]
    place: lsp::TextDocumentPositionParams,
    #[serde(default)]
    filter: String,
}

/// `hiera/override`: the place of a key, and either a node or a file of a level.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct OverrideParams {
    #[serde(flatten)]
    place: lsp::TextDocumentPositionParams,
    node: Option<String>,
    file: Option<lsp::Url>,
}

/// The answer to `hiera/overrideTargets`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct TargetsAnswer {
    key: String,
    nodes: usize,
    are_kinds: bool,
    targets: Vec<TargetItem>,
    left_out: LeftOut,
}

#[derive(Debug, Serialize)]
struct LeftOut {
    files: usize,
    nodes: usize,
}

#[derive(Debug, Serialize)]
struct TargetItem {
    kind: &'static str,
    name: String,
    file: Option<FileItem>,
    value: String,
    stated: Option<lsp::Location>,
}

#[derive(Debug, Serialize)]
struct FileItem {
    path: String,
    uri: Option<lsp::Url>,
    exists: bool,
    level: String,
    readers: usize,
}

/// The answer to `hiera/override`.
#[derive(Debug, Serialize)]
pub(in crate::server) struct OverrideAnswer {
    key: String,
    places: Vec<PlaceItem>,
}

#[derive(Debug, Serialize)]
struct PlaceItem {
    #[serde(flatten)]
    file: FileItem,
    governs: String,
    effect: String,
    remark: Option<String>,
    edit: Option<lsp::WorkspaceEdit>,
    refused: Option<String>,
}

/// Returns the code action with the client's command; `None` where the client has none, and where no
/// entry at the place can be repeated.
pub(super) fn chooser_action(
    snapshot: &Snapshot,
    client: &ClientView,
    (uri, position): (&lsp::Url, lsp::Position),
) -> Option<lsp::CodeAction> {
    let command = client.features.choose_override.clone()?;
    let text_document = lsp::TextDocumentIdentifier { uri: uri.clone() };
    let place = lsp::TextDocumentPositionParams { text_document, position };
    let place = AskedPlace::find(snapshot, client, &place)?;
    let title = format!("Override `{}` for…", overridable_key(snapshot, place.request())?);
    let arguments = serde_json::json!([uri, position]).as_array().cloned();
    Some(lsp::CodeAction {
        command: Some(lsp::Command { title: title.clone(), command, arguments }),
        title,
        kind: Some(action_kind(RefactoringKind::Override)),
        ..lsp::CodeAction::default()
    })
}

/// Answers with the nodes and files that an entry can be overridden for.
pub(in crate::server) fn override_targets(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &TargetsParams,
) -> Answer<TargetsAnswer> {
    let Some(place) = AskedPlace::find(snapshot, client, &params.place) else { return Ok(None) };
    let Some(found) = list_targets(snapshot, place.request(), &params.filter) else {
        return Ok(None);
    };
    let targets = found.targets.into_iter().map(|target| place.target_item(target)).collect();
    Ok(Some(TargetsAnswer {
        key: found.key.to_string(),
        nodes: found.nodes,
        are_kinds: found.are_kinds,
        targets,
        left_out: LeftOut { files: found.left_out_files, nodes: found.left_out_nodes },
    }))
}

/// Answers with the files that take the entry, each with the edit and its reach.
pub(in crate::server) fn override_for(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &OverrideParams,
) -> Answer<OverrideAnswer> {
    let chosen = match (&params.node, &params.file) {
        (Some(name), None) => Chosen::Node(name.as_str().into()),
        (None, Some(uri)) => match from_lsp::path_of_uri(uri) {
            Some(path) => Chosen::File(path),
            None => return Ok(None),
        },
        _ => return Err(Error::invalid_params("either a node or a file must be given")),
    };
    let Some(place) = AskedPlace::find(snapshot, client, &params.place) else { return Ok(None) };
    let Some(key) = overridable_key(snapshot, place.request()) else { return Ok(None) };
    let Some(found) = find_places(snapshot, place.request(), &chosen) else { return Ok(None) };
    let places = found.into_iter().filter_map(|it| place.place_item(it)).collect();
    Ok(Some(OverrideAnswer { key: key.to_string(), places }))
}

/// The place that a request is about.
struct AskedPlace<'a> {
    snapshot: &'a Snapshot,
    client: &'a ClientView,
    path: FilePath,
    offset: u32,
}

impl<'a> AskedPlace<'a> {
    fn find(
        snapshot: &'a Snapshot,
        client: &'a ClientView,
        place: &lsp::TextDocumentPositionParams,
    ) -> Option<AskedPlace<'a>> {
        let encoding = client.features.encoding;
        let FilePosition { file, offset } = from_lsp::file_position(snapshot, place, encoding)?;
        let path = snapshot.path_of(file)?.clone();
        Some(AskedPlace { snapshot, client, path, offset })
    }

    fn request(&self) -> OverrideRequest<'_> {
        // The client's command applies the edits by itself, and creates the files.
        let features = &self.client.features;
        let creates_files = features.creates_files || features.choose_override.is_some();
        OverrideRequest { path: &self.path, offset: self.offset, creates_files }
    }

    fn short_path(&self, path: &FilePath) -> String {
        let environment = self.snapshot.environments().environment_of(&self.path);
        let root = environment.map_or(&self.path, |environment| &environment.root);
        PlaceNames { snapshot: self.snapshot, root }.short_path(path).to_owned()
    }

    fn file_item(&self, file: TargetFile) -> FileItem {
        FileItem {
            path: self.short_path(&file.path),
            uri: to_lsp::document_uri(&file.path, &self.client.documents),
            exists: file.exists,
            level: file.level.to_string(),
            readers: file.readers,
        }
    }

    fn target_item(&self, target: OverrideTarget) -> TargetItem {
        let (kind, name) = match &target.chosen {
            Chosen::Node(name) => ("node", name.to_string()),
            Chosen::File(path) => ("file", self.short_path(path)),
        };
        TargetItem {
            kind,
            name,
            file: target.file.map(|file| self.file_item(file)),
            value: target.value,
            stated: target.stated.and_then(|span| {
                let path = self.snapshot.path_of(span.file)?;
                let uri = to_lsp::document_uri(path, &self.client.documents)?;
                let range =
                    to_lsp::convert_span(self.snapshot, span, self.client.features.encoding);
                Some(lsp::Location { uri, range })
            }),
        }
    }

    /// Returns the entry in a file; `None` for a change that the gate stops.
    fn place_item(&self, place: OverridePlace) -> Option<PlaceItem> {
        let (edit, refused) = match place.change {
            Ok(change) => (Some(self.client.workspace_edit(self.snapshot, change)?), None),
            Err(reason) => (None, Some(reason)),
        };
        let OverridePlace { file, governs, effect, remark, .. } = place;
        Some(PlaceItem { file: self.file_item(file), governs, effect, remark, edit, refused })
    }
}
