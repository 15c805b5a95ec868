//! The other definitions of a key, in the order in which its lookup in the file's scope finds them.

use std::sync::Arc;

use super::{LensText, list_or_count};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::{LookupStep, Outcome, Resolution};
use crate::ide::cursor::Subject;
use crate::ide::hover;
use crate::ide::phrases::PlaceNames;
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// Whether another file of the environment defines a key.
pub(super) fn has_others(
    snapshot: &Snapshot,
    environment: &Environment,
    path: &FilePath,
    key: &str,
) -> bool {
    let mut files = snapshot.keys().definitions(key).iter();
    files.any(|file| file != path && environment.reaches_file(file))
}

/// A definition that the lookup finds.
struct LensDefinition<'a> {
    path: &'a FilePath,
    place: Option<Span>,
}

/// Returns the definitions above and below the one in the file, or their number, and their effect
/// on it.
pub(super) fn override_text(snapshot: &Snapshot, subject: &Subject, key: &Arc<str>) -> LensText {
    let Subject { environment, path, .. } = subject;
    let view = snapshot.view(environment);
    let scope = snapshot.scope_for(environment, path);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
    let root = LookupKey::of_root(key);
    let resolution = snapshot.lookup_as_called(environment, &resolver, &root);
    let met: Vec<LensDefinition<'_>> = resolution.steps.iter().filter_map(met_definition).collect();
    let own = met.iter().position(|met| met.path == path);
    let names = PlaceNames { snapshot, root: &environment.root };
    let mut phrases = Vec::new();
    if let Some(own) = own {
        let (above, below) = (&met[..own], &met[own + 1..]);
        let is_redundant = hover::is_redundant(snapshot, subject, &scope, &resolution);
        phrases.extend(describe_effect(&names, &resolution, above, below, is_redundant));
    }
    phrases.extend(describe_unsettled(&resolution, key));
    if phrases.is_empty() {
        let others = snapshot.keys().definitions(key).iter();
        let others: Vec<String> = others
            .filter(|file| *file != path && environment.reaches_file(file))
            .map(|file| names.short_path(file).to_owned())
            .collect();
        phrases.push(format!("also in {}", list_or_count(&others, "files")));
    }
    LensText { title: phrases.join(" · "), places: definition_spans(snapshot, environment, key) }
}

/// Returns where files of the environment define a key.
fn definition_spans(snapshot: &Snapshot, environment: &Environment, key: &str) -> Vec<Span> {
    let view = snapshot.view(environment);
    view.root_members(key).filter_map(|member| member.key_origin).collect()
}

/// Returns the definition at a location, if the file there has the key.
fn met_definition(step: &LookupStep) -> Option<LensDefinition<'_>> {
    match &step.outcome {
        Outcome::Found { path, key, .. } => Some(LensDefinition { path, place: *key }),
        Outcome::NotReached { path: Some(path), shadowed: Some((place, _)), .. } => {
            Some(LensDefinition { path, place: *place })
        }
        _ => None,
    }
}

/// Returns the phrases about a definition with these above and below it.
fn describe_effect(
    names: &PlaceNames<'_>,
    resolution: &Resolution,
    above: &[LensDefinition<'_>],
    below: &[LensDefinition<'_>],
    is_redundant: bool,
) -> Vec<String> {
    let files = |met: &[LensDefinition<'_>]| {
        let files: Vec<String> = met
            .iter()
            .filter(|met| met.place.is_some())
            .map(|met| names.short_path(met.path).to_owned())
            .collect();
        list_or_count(&files, "levels")
    };
    let merges = !resolution.merge.stops_at_first();
    if merges {
        let others: Vec<String> =
            above.iter().chain(below).map(|met| names.short_path(met.path).to_owned()).collect();
        return match (others.is_empty(), is_redundant) {
            (true, _) => Vec::new(),
            (false, true) => {
                vec![format!("adds nothing to {}: redundant", list_or_count(&others, "files"))]
            }
            (false, false) => vec![format!("merged with {}", list_or_count(&others, "files"))],
        };
    }
    let mut phrases = Vec::new();
    if !above.is_empty() {
        phrases.push(format!("overridden by {}", files(above)));
    } else if let (Some(next), true) = (below.first(), is_redundant) {
        phrases.push(format!("same as {}: redundant", names.short_path(next.path)));
    } else if !below.is_empty() {
        phrases.push(format!("overrides {}", files(below)));
    }
    phrases
}

/// Returns the phrase about files that override the key for some nodes.
fn describe_unsettled(resolution: &Resolution, key: &str) -> Option<String> {
    let merges = !resolution.merge.stops_at_first();
    let count = resolution.unsettled.iter().filter(|file| *file.key == *key).count();
    let verb = if merges { "merged with" } else { "overridden in" };
    match count {
        0 => None,
        1 => Some(format!("{verb} 1 file for some nodes")),
        count => Some(format!("{verb} {count} files for some nodes")),
    }
}
