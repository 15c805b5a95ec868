//! The server's own requests, for views beside the text: the hierarchy, the explanation of a
//! lookup, all data of a node, the status. `docs/protocol.md` describes them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::lsp_types as lsp;

use super::Answer;
use crate::hiera::key::LookupKey;
use crate::ide::governing::governing_page;
use crate::ide::hierarchy::{CandidateView, Hierarchy, LevelView, LocationState, LocationView};
use crate::ide::page_links::PageLink;
use crate::ide::reach::ReachPage;
use crate::ide::{effective, hierarchy, story};
use crate::server::session::ClientView;
use crate::server::to_lsp::status::Status;
use crate::server::{from_lsp, to_lsp};
use crate::text::{Encoding, FilePath, LineCol, Span, Text};
use crate::workspace::Snapshot;

/// `hiera/hierarchy`: a file, and the place whose key is looked for in the levels.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct HierarchyParams {
    text_document: lsp::TextDocumentIdentifier,
    position: Option<lsp::Position>,
}

/// `hiera/explain`: a file, and a key by its place or by its name.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct ExplainParams {
    text_document: lsp::TextDocumentIdentifier,
    position: Option<lsp::Position>,
    key: Option<String>,
}

/// `hiera/effectiveData`: a file, in whose scope the values are.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct EffectiveDataParams {
    text_document: lsp::TextDocumentIdentifier,
}

/// `hiera/status` as a request: nothing is asked.
#[derive(Debug, Deserialize)]
pub(in crate::server) struct StatusParams {}

/// `hiera/config` as a request: nothing is asked.
#[derive(Debug, Deserialize)]
pub(in crate::server) struct ConfigParams {}

/// `hiera/reach` as a request: nothing is asked.
#[derive(Debug, Deserialize)]
pub(in crate::server) struct ReachParams {}

/// The answer to `hiera/reach`.
#[derive(Debug, Serialize)]
pub(in crate::server) struct ReachAnswer {
    text: String,
    links: Vec<LinkItem>,
}

/// The answer to `hiera/config`.
#[derive(Debug, Serialize)]
pub(in crate::server) struct ConfigPage {
    /// The page that `hiera-ls config` prints.
    text: String,
}

/// The answer to `hiera/hierarchy`.
#[derive(Debug, Serialize)]
pub(in crate::server) struct HierarchyAnswer {
    scope: String,
    key: Option<String>,
    levels: Vec<LevelItem>,
}

#[derive(Debug, Serialize)]
struct LevelItem {
    layer: String,
    name: String,
    config: lsp::Location,
    locations: Vec<LocationItem>,
}

#[derive(Debug, Serialize)]
struct LocationItem {
    state: &'static str,
    path: String,
    uri: Option<lsp::Url>,
    key: Option<lsp::Range>,
    template: Option<String>,
    candidates: Vec<CandidateItem>,
}

#[derive(Debug, Serialize)]
struct CandidateItem {
    path: String,
    uri: Option<lsp::Url>,
    key: Option<lsp::Range>,
    when: BTreeMap<String, String>,
}

/// The answer to `hiera/explain`.
#[derive(Debug, Serialize)]
pub(in crate::server) struct ExplainAnswer {
    key: String,
    scope: String,
    text: String,
    links: Vec<LinkItem>,
}

/// A place that a text names: where it stands in the text, and the start of the line that it leads
/// to.
#[derive(Debug, Serialize)]
struct LinkItem {
    range: lsp::Range,
    target: lsp::Location,
}

/// The answer to `hiera/effectiveData`.
#[derive(Debug, Serialize)]
pub(in crate::server) struct EffectiveDataAnswer {
    scope: String,
    text: String,
}

/// Returns the levels that a file's scope has.
pub(in crate::server) fn hierarchy(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &HierarchyParams,
) -> Answer<HierarchyAnswer> {
    let encoding = client.features.encoding;
    let HierarchyParams { text_document, position } = params;
    let Some(path) = from_lsp::path_of_uri(&text_document.uri) else { return Ok(None) };
    let key = position.and_then(|position| key_at(snapshot, text_document, position, encoding));
    let key = key.map(|key| LookupKey::of_root(&key.root_text()));
    let found = hierarchy::hierarchy_of(snapshot, &path, key.as_ref());
    let converter = ViewConverter { snapshot, encoding };
    Ok(found.map(|found| converter.convert_hierarchy(found, key)))
}

/// Returns the explanation of a lookup.
pub(in crate::server) fn explain(
    snapshot: &Snapshot,
    client: &ClientView,
    params: &ExplainParams,
) -> Answer<ExplainAnswer> {
    let encoding = client.features.encoding;
    let ExplainParams { text_document, position, key } = params;
    if position.is_none() && key.is_none() {
        return Err(Error::invalid_params("either a position or a key must be given"));
    }
    let Ok(named) = key.as_deref().map(LookupKey::parse).transpose() else {
        return Err(Error::invalid_params("that is not the syntax of a key"));
    };
    let found = from_lsp::path_of_uri(&text_document.uri).and_then(|path| {
        let key = named.or_else(|| key_at(snapshot, text_document, (*position)?, encoding))?;
        let evaluations = client.evaluations().unwrap_or_default();
        Some((key.text.to_string(), story::explain_key(snapshot, &path, &key, &evaluations)?))
    });
    Ok(found.map(|(key, found)| explain_answer(key, found, encoding)))
}

/// Returns all keys with their effective values.
pub(in crate::server) fn effective_data(
    snapshot: &Snapshot,
    _: &ClientView,
    params: &EffectiveDataParams,
) -> Answer<EffectiveDataAnswer> {
    let found = from_lsp::path_of_uri(&params.text_document.uri)
        .and_then(|path| effective::effective_data(snapshot, &path));
    Ok(found.map(|found| EffectiveDataAnswer { scope: found.scope, text: found.text }))
}

/// Returns the report about the texts that the client holds.
pub(in crate::server) fn reach(
    snapshot: &Snapshot,
    client: &ClientView,
    _: &ReachParams,
) -> Answer<ReachAnswer> {
    let page = client.shared.find_reach_page(snapshot.clone()).map_err(request_failed)?;
    Ok(page.map(|ReachPage { text, links }| {
        let links = link_items(&text, links, client.features.encoding);
        ReachAnswer { text, links }
    }))
}

/// Answers a request for the status, for clients that do not receive the notification.
pub(in crate::server) fn status(
    snapshot: &Snapshot,
    client: &ClientView,
    _: &StatusParams,
) -> Answer<Status> {
    let known = client.shared.reach.known_reach();
    Ok(Some(Status::from_snapshot(snapshot).with_reach(&known.reach)))
}

/// Answers with the configs that govern, the reasons, and the other configs.
pub(in crate::server) fn config_page(
    snapshot: &Snapshot,
    client: &ClientView,
    _: &ConfigParams,
) -> Answer<ConfigPage> {
    Ok(Some(ConfigPage { text: config_text(snapshot, client) }))
}

/// Returns the page about the configs that govern, and about PuppetDB where nodes come from one.
pub(super) fn config_text(snapshot: &Snapshot, client: &ClientView) -> String {
    governing_page(snapshot) + &client.settings.puppetdb_page(snapshot.folders())
}

/// Returns the protocol's RequestFailed, with a reason for people.
pub(super) fn request_failed(reason: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: reason.into(), data: None }
}

fn explain_answer(key: String, found: story::KeyExplanation, encoding: Encoding) -> ExplainAnswer {
    let links = link_items(&found.text, found.links, encoding);
    ExplainAnswer { key, scope: found.scope, text: found.text, links }
}

fn link_items(text: &str, links: Vec<PageLink>, encoding: Encoding) -> Vec<LinkItem> {
    let text = Text::new(text);
    links
        .into_iter()
        .filter_map(|link: PageLink| {
            let start = lsp::Position { line: link.line.saturating_sub(1), character: 0 };
            Some(LinkItem {
                range: lsp::Range {
                    start: position_at(link.range.start, &text, encoding),
                    end: position_at(link.range.end, &text, encoding),
                },
                target: lsp::Location {
                    uri: to_lsp::file_uri(&link.path)?,
                    range: lsp::Range { start, end: start },
                },
            })
        })
        .collect()
}

fn position_at(offset: u32, text: &Text, encoding: Encoding) -> lsp::Position {
    let LineCol { line, column } = text.line_col(offset, encoding);
    lsp::Position { line, character: column }
}

fn key_at(
    snapshot: &Snapshot,
    document: &lsp::TextDocumentIdentifier,
    position: lsp::Position,
    encoding: Encoding,
) -> Option<LookupKey> {
    let place = lsp::TextDocumentPositionParams { text_document: document.clone(), position };
    story::key_at(snapshot, from_lsp::file_position(snapshot, &place, encoding)?)
}

struct ViewConverter<'a> {
    snapshot: &'a Snapshot,
    encoding: Encoding,
}

impl ViewConverter<'_> {
    fn convert_hierarchy(&self, found: Hierarchy, key: Option<LookupKey>) -> HierarchyAnswer {
        let levels =
            found.levels.into_iter().filter_map(|level| self.convert_level(level)).collect();
        HierarchyAnswer {
            scope: found.scope,
            key: key.map(|key| key.root_text().to_string()),
            levels,
        }
    }

    /// `None` only for a `hiera.yaml` whose path cannot be an address, which the workspace reads
    /// none of.
    fn convert_level(&self, level: LevelView) -> Option<LevelItem> {
        let config = lsp::Location {
            uri: to_lsp::file_uri(&level.config)?,
            range: self.convert_range(level.span).unwrap_or_default(),
        };
        let locations =
            level.locations.into_iter().map(|location| self.convert_location(location)).collect();
        Some(LevelItem { layer: level.layer, name: level.name, config, locations })
    }

    fn convert_location(&self, location: LocationView) -> LocationItem {
        LocationItem {
            state: match location.state {
                LocationState::Value => "value",
                LocationState::Overridden => "overridden",
                LocationState::File => "file",
                LocationState::Missing => "missing",
                LocationState::Undetermined => "undetermined",
                LocationState::Opaque => "opaque",
            },
            path: location.name,
            uri: location.file.as_ref().and_then(|file: &FilePath| to_lsp::file_uri(file)),
            key: self.convert_range(location.key),
            template: location.template,
            candidates: location
                .candidates
                .into_iter()
                .map(|candidate| self.convert_candidate(candidate))
                .collect(),
        }
    }

    fn convert_candidate(&self, candidate: CandidateView) -> CandidateItem {
        CandidateItem {
            uri: to_lsp::file_uri(&candidate.file),
            path: candidate.name,
            key: self.convert_range(candidate.key),
            when: candidate.when.into_iter().collect(),
        }
    }

    fn convert_range(&self, span: Option<Span>) -> Option<lsp::Range> {
        Some(to_lsp::convert_span(self.snapshot, span?, self.encoding))
    }
}
