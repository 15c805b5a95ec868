//! Words beside the text: inlay hints, and lenses with the places that they lead to. The server
//! asks clients to refresh them when the answers may have changed.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;
use tower_lsp::{Client, jsonrpc};

use crate::ide::code_lens::{Lens, LensKind, LensText, code_lenses, lens_text};
use crate::ide::inlay_hints::{Hint, inlay_hints};
use crate::server::documents::Documents;
use crate::server::features::Features;
use crate::server::state::Shared;
use crate::server::transport::{SerializedResult, wait_answer};
use crate::server::{Backend, from_lsp, to_lsp};
use crate::text::{Lines, TextRange};
use crate::workspace::Snapshot;

/// A client that does not answer must not stop us.
const PATIENCE: Duration = Duration::from_secs(5);

/// The subject of a lens, as the client sends it back to have its text.
#[derive(Debug, Serialize)]
struct LensData {
    uri: lsp::Url,
    key: String,
    kind: &'static str,
}

impl Backend {
    /// Returns the hints in a range of a document, as far as the settings switch them on.
    pub(in crate::server) async fn hints_in_range(
        &self,
        params: lsp::InlayHintParams,
    ) -> Result<Option<SerializedResult>> {
        let path = from_lsp::path_of_uri(&params.text_document.uri);
        let shared = self.shared.clone();
        self.answer_request(path.clone(), move |snapshot, features| {
            // By now the settings are read.
            let config = shared.with(|state| state.settings.hints);
            let path = path.as_ref()?;
            let text = snapshot.file(path)?.text()?;
            let offset = |place| {
                text.offset_at(from_lsp::line_col(place), features.encoding).unwrap_or(text.len())
            };
            let (start, end) = (offset(params.range.start), offset(params.range.end));
            let within = TextRange::new(start, end.max(start));
            let hints = inlay_hints(snapshot, path, within, config);
            let lines = text.lines();
            let hints = hints.into_iter().map(|hint| inlay_hint(hint, &lines, features));
            SerializedResult::from_result(&hints.collect::<Vec<_>>())
        })
        .await
    }

    /// Returns the lenses of a document without their texts, as far as the settings switch them on.
    pub(in crate::server) async fn lenses_of_document(
        &self,
        params: lsp::CodeLensParams,
    ) -> Result<Option<Vec<lsp::CodeLens>>> {
        let uri = params.text_document.uri;
        let path = from_lsp::path_of_uri(&uri);
        let shared = self.shared.clone();
        self.answer_request(path.clone(), move |snapshot, features| {
            let config = shared.with(|state| state.settings.lenses);
            let path = path.as_ref()?;
            let text = snapshot.file(path)?.text()?;
            let convert = |lens: Lens| {
                let data = LensData {
                    uri: uri.clone(),
                    key: lens.key.to_string(),
                    kind: lens_name(lens.kind),
                };
                lsp::CodeLens {
                    range: to_lsp::range_in(text, lens.range, features.encoding),
                    command: None,
                    data: serde_json::to_value(data).ok(),
                }
            };
            Some(code_lenses(snapshot, path, config).into_iter().map(convert).collect())
        })
        .await
    }

    /// Returns a lens with its text.
    pub(in crate::server) async fn lens_with_text(
        &self,
        lens: lsp::CodeLens,
    ) -> Result<lsp::CodeLens> {
        let data = lens.data.clone().unwrap_or_default();
        let (uri, key) = (data["uri"].as_str(), data["key"].as_str());
        let kind = data["kind"].as_str().and_then(lens_kind);
        let (Some(uri), Some(key), Some(kind)) =
            (uri.and_then(|uri| lsp::Url::parse(uri).ok()), key.map(Arc::from), kind)
        else {
            return Err(jsonrpc::Error::invalid_params("the data of the lens is not the server's"));
        };
        let documents = self.shared.with(|state| state.documents.clone());
        // A text that has changed has other lenses, for which the client asks by itself.
        self.answer_request(None, move |snapshot, features| {
            let path = from_lsp::path_of_uri(&uri);
            let text = path.and_then(|path| lens_text(snapshot, &path, &key, kind));
            let start = lens.range.start;
            let command = lens_command(snapshot, text, (&uri, start), features, &documents);
            lsp::CodeLens { command: Some(command), ..lens.clone() }
        })
        .await
    }
}

fn inlay_hint(hint: Hint, text: &Lines<'_>, features: &Features) -> lsp::InlayHint {
    lsp::InlayHint {
        position: to_lsp::range_in(text, TextRange::new_empty(hint.offset), features.encoding)
            .start,
        label: lsp::InlayHintLabel::String(hint.text),
        kind: hint.is_type.then_some(lsp::InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

/// Returns the command of a lens: the client's own that shows places, if it announced one. Without
/// it, and without places, a lens is a text that does nothing.
fn lens_command(
    snapshot: &Snapshot,
    text: Option<LensText>,
    (uri, position): (&lsp::Url, lsp::Position),
    features: &Features,
    documents: &Documents,
) -> lsp::Command {
    let LensText { title, places } = text.unwrap_or_default();
    let location = |place: &crate::text::Span| {
        let uri = to_lsp::document_uri(snapshot.path_of(place.file)?, documents)?;
        Some(lsp::Location {
            uri,
            range: to_lsp::convert_span(snapshot, *place, features.encoding),
        })
    };
    let locations: Vec<lsp::Location> = places.iter().filter_map(location).collect();
    let show = features.announced.show_places.as_ref().filter(|_| !locations.is_empty());
    match show {
        None => lsp::Command { title, command: String::new(), arguments: None },
        Some(show) => {
            let arguments = [
                serde_json::to_value(uri),
                serde_json::to_value(position),
                serde_json::to_value(locations),
            ];
            let arguments = arguments.into_iter().map(std::result::Result::unwrap_or_default);
            lsp::Command { title, command: show.clone(), arguments: Some(arguments.collect()) }
        }
    }
}

fn lens_name(kind: LensKind) -> &'static str {
    match kind {
        LensKind::Overrides => "overrides",
        LensKind::Readers => "readers",
        LensKind::Nodes => "nodes",
    }
}

fn lens_kind(name: &str) -> Option<LensKind> {
    [LensKind::Overrides, LensKind::Readers, LensKind::Nodes]
        .into_iter()
        .find(|it| self::lens_name(*it) == name)
}

/// Asks the client to refresh hints and lenses, which depend on other files, nodes and settings.
/// Waits for no answer.
pub(in crate::server) fn refresh(client: &Client, shared: &Shared) {
    let announced = shared.with(|state| state.features.announced.clone());
    if announced.refreshes_hints {
        let client = client.clone();
        let asking = async move { client.inlay_hint_refresh().await };
        tokio::spawn(wait_answer(asking, PATIENCE));
    }
    if announced.refreshes_lenses {
        let client = client.clone();
        let asking = async move { client.code_lens_refresh().await };
        tokio::spawn(wait_answer(asking, PATIENCE));
    }
    if announced.refreshes_tokens {
        let client = client.clone();
        let asking = async move { client.semantic_tokens_refresh().await };
        tokio::spawn(wait_answer(asking, PATIENCE));
    }
}
