//! Lines above the root keys of a data file: the levels that a key overrides or that override it,
//! the code that reads it, the nodes that read the file.
//!
//! A lens is found by the index alone; its text needs a lookup, which is made when the lens is seen.
//! Lenses of overrides need one before, too: most definitions override a lower level, or are merged,
//! as the hierarchy has it, and a lens above each of them would be noise.

mod overrides;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use overrides::{KnownNews, SharedReaders};

use super::phrases::PlaceNames;
use super::readers::{ReaderKind, readers_of};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FilePath, Span, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// The most names in a lens.
const MAX_NAMES: usize = 3;
/// The most lookups for the lenses of a file. Keys beyond this limit have a lens also where their
/// definition is no news.
const MAX_LOOKUPS: usize = 2_000;

/// The lenses to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LensConfig {
    /// The levels that a key overrides, or that override it, where that is news.
    pub overrides: bool,
    /// The lenses of overrides also for keys that win over lower levels, or are merged with other
    /// levels, for all readers of the file, as the hierarchy has it.
    pub all_overrides: bool,
    /// The code and the tokens that read a key.
    pub readers: bool,
    /// The known nodes that read the file.
    pub nodes: bool,
    /// The keys and nodes that an edit changes, see [`super::reach`].
    pub reach: bool,
}

impl Default for LensConfig {
    fn default() -> LensConfig {
        LensConfig {
            overrides: true,
            all_overrides: false,
            readers: false,
            nodes: false,
            reach: true,
        }
    }
}

/// A lens without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The key that the lens is above; empty at the start for the whole file.
    pub range: TextRange,
    /// The root key; empty for the whole file.
    pub key: Arc<str>,
    /// The kind of the lens.
    pub kind: LensKind,
}

/// The kinds of lenses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LensKind {
    /// Other definitions of the key.
    Overrides,
    /// The readers of the key.
    Readers,
    /// The nodes that read the file.
    Nodes,
}

/// The text of a lens, and the places that it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LensText {
    /// The text.
    pub title: String,
    /// The places.
    pub places: Vec<Span>,
}

/// The lenses of a file without their texts.
#[derive(Debug, Default)]
pub struct FileLenses {
    /// The lenses in the order of the text.
    pub lenses: Vec<Lens>,
    /// The results of lookups, for the next version of the file; `None` for a file that is no data.
    known: Option<KnownNews>,
}

/// Returns the lenses of the data file at `path`; `before` are those of an earlier version of the
/// file, whose lookups are not made again where nothing that they read has changed.
pub fn code_lenses(
    snapshot: &Snapshot,
    path: &FilePath,
    config: LensConfig,
    before: Option<&FileLenses>,
) -> FileLenses {
    let environment =
        snapshot.environments().governing_environments(path).find(|it| it.reaches_file(path));
    let Some(environment) = environment else { return FileLenses::default() };
    let Some(data) = snapshot.view(environment).data_of(path) else { return FileLenses::default() };
    let known = before.and_then(|before| before.known.as_ref());
    let mut shared = SharedReaders::new(snapshot, environment, path, known);
    let mut all = Vec::new();
    if config.nodes && !snapshot.nodes_of(environment).is_empty() {
        all.push(Lens { range: TextRange::new_empty(0), key: "".into(), kind: LensKind::Nodes });
    }
    for (key, member) in data.members() {
        if snapshot.cancel_token().is_cancelled() {
            break;
        }
        let place = member.key_origin.and_then(|origin| data.part_bytes(origin));
        let (Some(key), Some(range)) = (key.as_arc(), place) else { continue };
        if **key == *LOOKUP_OPTIONS {
            continue;
        }
        let mut add = |kind| all.push(Lens { range, key: key.clone(), kind });
        if config.overrides
            && shared.has_definition(key)
            && (config.all_overrides || shared.may_have_news(key))
        {
            add(LensKind::Overrides);
        }
        if config.readers && has_readers(snapshot, environment, key) {
            add(LensKind::Readers);
        }
    }
    all.sort_by_key(|lens| lens.range);
    FileLenses { lenses: all, known: Some(shared.into_known()) }
}

/// Returns the text of a lens of the file at `path`; `None` where the file or the key is no more.
pub fn lens_text(
    snapshot: &Snapshot,
    path: &FilePath,
    key: &Arc<str>,
    kind: LensKind,
) -> Option<LensText> {
    let environment =
        snapshot.environments().governing_environments(path).find(|it| it.reaches_file(path))?;
    match kind {
        LensKind::Nodes => Some(node_text(snapshot, environment, path)),
        LensKind::Readers => Some(reader_text(snapshot, environment, key)),
        LensKind::Overrides => {
            snapshot.view(environment).data_of(path)?.definition_span(key)?;
            overrides::override_text(snapshot, environment, path, key)
        }
    }
}

fn has_readers(snapshot: &Snapshot, environment: &Environment, key: &str) -> bool {
    let code = snapshot.manifests(environment);
    code.asking_parameter(key).is_some()
        || code.readers_of_key(key).next().is_some()
        || snapshot.keys().is_asked_for(key)
}

/// Returns `read by profile::web, lookup() in init.pp`.
fn reader_text(snapshot: &Snapshot, environment: &Environment, key: &str) -> LensText {
    let names = PlaceNames { snapshot, root: &environment.root };
    let all = readers_of(snapshot, environment, key);
    let sure = all.iter().filter(|one| !matches!(one.kind, ReaderKind::ComputedCall { .. }));
    let mut shown = Vec::new();
    for reader in sure.clone() {
        let name = match &reader.kind {
            ReaderKind::Parameter { class } => class.clone(),
            ReaderKind::Token { root } => root.to_string(),
            _ => names.place_name(reader.place),
        };
        if !shown.contains(&name) {
            shown.push(name);
        }
    }
    let places = sure.map(|reader| reader.place).collect();
    LensText { title: format!("read by {}", list_or_count(&shown, "readers")), places }
}

/// Returns `12 of 40 nodes read this file`.
fn node_text(snapshot: &Snapshot, environment: &Environment, path: &FilePath) -> LensText {
    let all = snapshot.nodes_of(environment).len();
    let readers = snapshot.readers_of(environment, path);
    let certain: BTreeSet<usize> = readers.certainly.iter().copied().collect();
    let possible = readers.possibly.iter().filter(|node| !certain.contains(node)).count();
    let title = match (certain.len(), possible) {
        (certain, 0) => format!("{certain} of {all} nodes"),
        (certain, possible) => format!("{certain} of {all} nodes, perhaps {possible} more"),
    };
    LensText { title, places: Vec::new() }
}

/// Returns some names, or their number.
fn list_or_count(names: &[String], noun: &str) -> String {
    match names.len() {
        0 => format!("no {noun}"),
        count if count <= MAX_NAMES => names.join(", "),
        count => format!("{count} {noun}"),
    }
}

#[cfg(test)]
mod tests;
