//! Words beside the text: inlay hints, and lenses with the places that they lead to.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::Error;
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::ide::code_lens::{LensKind, LensText, code_lenses, lens_text};
use crate::ide::inlay_hints::{Hint, inlay_hints};
use crate::ide::reach::{ReachLens, key_range};
use crate::server::capabilities::Features;
use crate::server::lsp318::{CodeLens, Command};
use crate::server::session::ClientView;
use crate::server::{from_lsp, to_lsp};
use crate::text::{Encoding, FilePath, Positions, Span, Text, TextRange};
use crate::workspace::Snapshot;

/// The most places that the tooltip of a lens lists.
const MAX_TOOLTIP_PLACES: usize = 10;

/// The subject of a lens, as the client sends it back to have its text.
#[derive(Debug, Serialize, Deserialize)]
struct LensData {
    uri: lsp::Url,
    key: String,
    kind: LensKind,
}

/// Returns the hints in a range of a document, as far as the settings switch them on.
pub(in crate::server) fn inlay_hint(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::InlayHintParams,
) -> Answer<Vec<lsp::InlayHint>> {
    let features = &client.features;
    let Some(path) = from_lsp::path_of_uri(&params.text_document.uri) else { return Ok(None) };
    let Some(text) = snapshot.file(&path).and_then(|file| file.text()) else { return Ok(None) };
    let within = from_lsp::text_range(params.range, features.encoding, text);
    let hints = inlay_hints(snapshot, &path, within, client.settings.hints);
    let text = text.positions(hints.len());
    Ok(Some(hints.into_iter().map(|hint| convert_hint(hint, &*text, features)).collect()))
}

/// Returns the lenses of a document without their texts, as far as the settings switch them on.
pub(in crate::server) fn code_lens(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &lsp::CodeLensParams,
) -> Answer<Vec<lsp::CodeLens>> {
    let uri = &params.text_document.uri;
    let Some(path) = from_lsp::path_of_uri(uri) else { return Ok(None) };
    let Some(text) = snapshot.file(&path).and_then(|file| file.text()) else { return Ok(None) };
    let before = client.shared.with(|state| state.last_lenses.get(&path).cloned());
    let found = code_lenses(snapshot, &path, client.settings.lenses, before.as_deref());
    let positions = text.positions(found.lenses.len() * 2);
    let converted = found.lenses.iter().map(|lens| {
        let data = LensData { uri: uri.clone(), key: lens.key.to_string(), kind: lens.kind };
        lsp::CodeLens {
            range: to_lsp::range_in(&*positions, lens.range, client.features.encoding),
            command: None,
            data: serde_json::to_value(data).ok(),
        }
    });
    let all = reach_lenses(snapshot, client, (&path, text)).chain(converted).collect();
    client.shared.with(|state| {
        // A cancelled computation may be incomplete.
        if state.documents.is_open(&path) && !snapshot.cancel_token().is_cancelled() {
            state.last_lenses.insert(path, Arc::new(found));
        }
    });
    Ok(Some(all))
}

/// Returns the lenses of edits of a file. They have their texts at once.
fn reach_lenses(
    snapshot: &Snapshot,
    ClientView { features, settings, shared, .. }: &ClientView,
    (path, text): (&FilePath, &Text),
) -> impl Iterator<Item = lsp::CodeLens> {
    let shown = settings.lenses.reach.then(|| {
        let known = shared.reach.known_reach();
        // Without a refresh, a client would go on to show the reach of an older text.
        (features.refreshes_lenses || known.revision == snapshot.revision).then_some(known.reach)
    });
    let reach = shown.flatten().unwrap_or_default();
    reach
        .lenses_of(path)
        .iter()
        .filter_map(|lens: &ReachLens| {
            let range = match &lens.key {
                None => TextRange::new_empty(0),
                Some(key) => key_range(snapshot, path, key)?,
            };
            let command = features.show_reach.clone().unwrap_or_default();
            let command = lsp::Command { title: lens.title.clone(), command, arguments: None };
            let range = to_lsp::range_in(text, range, features.encoding);
            Some(lsp::CodeLens { range, command: Some(command), data: None })
        })
        .collect::<Vec<_>>()
        .into_iter()
}

/// Returns a lens with its text. A text that has changed has other lenses, which the client
/// requests by itself.
pub(in crate::server) fn resolve_lens(
    snapshot: &Snapshot,
    client: &ClientView,
    lens: &lsp::CodeLens,
) -> Answer<CodeLens> {
    let data = serde_json::from_value(lens.data.clone().unwrap_or_default());
    let Ok(LensData { uri, key, kind }) = data else {
        return Err(Error::invalid_params("the data of the lens is not the server's"));
    };
    let path = from_lsp::path_of_uri(&uri);
    let text = path.and_then(|path| lens_text(snapshot, &path, &Arc::from(key), kind));
    let command = lens_command(snapshot, text, (&uri, lens.range.start), client);
    let lens = lsp::CodeLens { command: None, ..lens.clone() };
    Ok(Some(CodeLens { lens, command }))
}

fn convert_hint(hint: Hint, text: &dyn Positions, features: &Features) -> lsp::InlayHint {
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
    ClientView { features, documents, .. }: &ClientView,
) -> Command {
    let LensText { title, places } = text.unwrap_or_default();
    let tooltip = features.command_tooltips.then(|| places_tooltip(snapshot, &places)).flatten();
    let locations: Vec<lsp::Location> = places
        .iter()
        .filter_map(|place| {
            let uri = to_lsp::document_uri(snapshot.path_of(place.file)?, documents)?;
            Some(lsp::Location {
                uri,
                range: to_lsp::convert_span(snapshot, *place, features.encoding),
            })
        })
        .collect();
    let show = features.show_places.as_ref().filter(|_| !locations.is_empty());
    let arguments = show.map(|_| {
        let arguments = [
            serde_json::to_value(uri),
            serde_json::to_value(position),
            serde_json::to_value(locations),
        ];
        arguments.into_iter().map(std::result::Result::unwrap_or_default).collect()
    });
    let command = show.cloned().unwrap_or_default();
    Command { command: lsp::Command { title, command, arguments }, tooltip }
}

/// Returns the places of a lens, one a line; `None` where it has none.
fn places_tooltip(snapshot: &Snapshot, places: &[Span]) -> Option<String> {
    let mut lines: Vec<String> = places
        .iter()
        .take(MAX_TOOLTIP_PLACES)
        .filter_map(|place| {
            let path = snapshot.path_of(place.file)?;
            let text = snapshot.file(path)?.text()?;
            let start = to_lsp::range_in(text, snapshot.span_bytes(*place), Encoding::Utf32).start;
            Some(format!("{}:{}", snapshot.shown_path(path), start.line + 1))
        })
        .collect();
    let more = places.len().saturating_sub(MAX_TOOLTIP_PLACES);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_tooltip_counts_places_beyond_the_first() {
        let path = FilePath::new("/data/common.yaml");
        let fixture = Fixture::new("#- /data/common.yaml\na: 1\nb: 2\n");
        let file = fixture.snapshot.file(&path).expect("it is there").id;
        let place = Span::in_file(file, TextRange::new(5, 6));
        let tooltip = |count: usize| places_tooltip(&fixture.snapshot, &vec![place; count]);
        assert_eq!(tooltip(0), None);
        assert_eq!(tooltip(1).as_deref(), Some("data/common.yaml:2"));
        let told = tooltip(MAX_TOOLTIP_PLACES + 3).expect("places");
        assert_eq!(told.lines().count(), MAX_TOOLTIP_PLACES + 1);
        assert!(told.ends_with("\nand 3 more"), "{told}");
    }
}
