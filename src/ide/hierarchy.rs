//! The hierarchy in the scope of a file: the levels in order, the files that they name, and the
//! files that have a key.

mod page;

use std::sync::Arc;

use super::audience::Audience;
use super::phrases::{PlaceNames, layer_name};
use crate::hiera::config::{HieraConfig, Layer, Level};
use crate::hiera::hierarchy::locate_levels;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLevel, Location};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::pattern::Bindings;
use crate::hiera::resolution::{Outcome, Resolution};
use crate::hiera::sources::Sources;
use crate::text::{FilePath, Span};
use crate::workspace::environments::Environment;
use crate::workspace::{EnvironmentView, Snapshot};

/// The hierarchy of a file.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// The audience, in words.
    pub scope: String,
    /// The levels, highest priority first: those of the global layer, of the environment, and of
    /// the module that the key or the file belongs to.
    pub levels: Vec<LevelView>,
}

/// A level.
#[derive(Clone, Debug)]
pub struct LevelView {
    /// The name of the level's layer.
    pub layer: String,
    /// The name of the level.
    pub name: String,
    /// The `hiera.yaml` that has the level.
    pub config: FilePath,
    /// Where the `hiera.yaml` names the level's first location, or the level.
    pub span: Option<Span>,
    /// The locations of the level; none when the layer cannot be read in the scope.
    pub locations: Vec<LocationView>,
}

/// A location of a level.
#[derive(Clone, Debug)]
pub struct LocationView {
    /// How the location is.
    pub state: LocationState,
    /// The name of the location: a path relative to the environment, or a text in place of one.
    pub name: String,
    /// The file, if it exists.
    pub file: Option<FilePath>,
    /// Where the file has the key.
    pub key: Option<Span>,
    /// The location as written.
    pub template: Option<String>,
    /// The files that an undetermined location may turn out to be.
    pub candidates: Vec<CandidateView>,
}

/// How a location is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationState {
    /// The file has the key, and the value comes from it, alone or merged.
    Value,
    /// The file has the key, and a higher location answers.
    Overridden,
    /// The file does not have the key, or there is none to look for.
    File,
    /// There is no file.
    Missing,
    /// Unknown variables decide.
    Undetermined,
    /// A backend or an address that hiera-ls does not read.
    Opaque,
}

/// A file that a location may turn out to be.
#[derive(Clone, Debug)]
pub struct CandidateView {
    /// The name of the file for people.
    pub name: String,
    /// The file.
    pub file: FilePath,
    /// Where the file has the key.
    pub key: Option<Span>,
    /// The values of unknown variables under which the location is the file.
    pub when: Bindings,
}

/// Returns the page about the hierarchy of a file, see [`hierarchy_of`].
pub fn hierarchy_page(
    snapshot: &Snapshot,
    path: &FilePath,
    key: Option<&LookupKey>,
) -> Option<String> {
    let environment = snapshot.environments().governing_environments(path).next()?;
    let names = PlaceNames { snapshot, root: &environment.root };
    Some(hierarchy_of(snapshot, path, key)?.to_page(&names, key))
}

/// Returns the hierarchy that the scope of the file at `path` has, with regard to a root key if
/// there is one to look for.
///
/// `None` for a file that no environment governs.
pub fn hierarchy_of(
    snapshot: &Snapshot,
    path: &FilePath,
    key: Option<&LookupKey>,
) -> Option<Hierarchy> {
    let environment = snapshot.environments().governing_environments(path).next()?;
    let scope = snapshot.scope_for(environment, path);
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
    let resolution = key.map(|key| snapshot.lookup_as_called(environment, &resolver, key));
    let viewer =
        Viewer { view, names: PlaceNames { snapshot, root: &environment.root }, key, resolution };
    let mut levels = Vec::new();
    for (layer, config) in environment
        .all_configs()
        .filter(|(layer, config)| is_concerned(layer, config, environment, path, key))
    {
        let all: Vec<Arc<Level>> = config.levels().cloned().collect();
        match locate_levels(config, &all, &scope, &viewer.view, None) {
            Ok(located) => {
                levels.extend(located.iter().map(|level| viewer.level_view(&layer, config, level)))
            }
            // One bad token fails the whole layer; the layer's levels are listed all the same.
            Err(_) => levels.extend(all.iter().map(|level| bare_level(&layer, config, level))),
        }
    }
    let scope = Audience::of_scope(snapshot, environment, &scope, path).to_phrase(str::to_owned);
    Some(Hierarchy { scope, levels })
}

/// Whether a layer is to be shown: a module's is, if the key or the file is the module's.
fn is_concerned(
    layer: &Layer,
    config: &HieraConfig,
    environment: &Environment,
    path: &FilePath,
    key: Option<&LookupKey>,
) -> bool {
    let Layer::Module(name) = layer else { return true };
    key.and_then(LookupKey::module_name) == Some(name)
        || config.path == *path
        || environment.layer_of(path) == Some(layer)
}

struct Viewer<'a> {
    view: EnvironmentView<'a>,
    names: PlaceNames<'a>,
    key: Option<&'a LookupKey>,
    resolution: Option<Resolution>,
}

impl Viewer<'_> {
    fn level_view(&self, layer: &Layer, config: &HieraConfig, located: &LocatedLevel) -> LevelView {
        let locations = located
            .locations
            .iter()
            .map(|location| self.location_view(&located.level, location))
            .collect();
        LevelView { locations, ..bare_level(layer, config, &located.level) }
    }

    fn location_view(&self, level: &Level, location: &Location) -> LocationView {
        let template = location.template.as_ref().map(|template| template.text.to_string());
        let named = |state, name: &str| LocationView {
            state,
            name: name.to_owned(),
            file: None,
            key: None,
            template: template.clone(),
            candidates: Vec::new(),
        };
        match &location.place {
            LevelTarget::File { path, exists: false } => {
                named(LocationState::Missing, self.names.short_path(path))
            }
            LevelTarget::File { path, .. } => {
                let key = self.key_in(level, path);
                let state = match key {
                    _ if level.backend.data_reader().is_none() => LocationState::Opaque,
                    None => LocationState::File,
                    Some(_) if self.contributes_value(path) => LocationState::Value,
                    Some(_) => LocationState::Overridden,
                };
                LocationView {
                    file: Some(path.clone()),
                    key,
                    ..named(state, self.names.short_path(path))
                }
            }
            LevelTarget::NoMatch { pattern } => {
                named(LocationState::Missing, self.names.short_path(&FilePath::new(pattern)))
            }
            LevelTarget::Uri(uri) => named(LocationState::Opaque, uri),
            LevelTarget::Nowhere => named(LocationState::Opaque, &level.backend.name),
            LevelTarget::Undetermined(undetermined) => {
                let candidates = undetermined
                    .candidate_files(&self.view)
                    .into_iter()
                    .map(|found| CandidateView {
                        name: self.names.short_path(&found.path).to_owned(),
                        key: self.key_in(level, &found.path),
                        file: found.path,
                        when: found.when,
                    })
                    .collect();
                LocationView {
                    candidates,
                    ..named(LocationState::Undetermined, template.as_deref().unwrap_or_default())
                }
            }
        }
    }

    /// Returns the place where a file of this level has the key.
    fn key_in(&self, level: &Level, path: &FilePath) -> Option<Span> {
        let data = self.view.file_data(path, level.backend.data_reader()?)?;
        data.definition_span(&self.key?.root_text())
    }

    fn contributes_value(&self, file: &FilePath) -> bool {
        let steps = self.resolution.iter().flat_map(|resolution| &resolution.steps);
        steps
            .into_iter()
            .any(|step| matches!(&step.outcome, Outcome::Found { path, .. } if path == file))
    }
}

/// Returns a level without its locations.
fn bare_level(layer: &Layer, config: &HieraConfig, level: &Level) -> LevelView {
    LevelView {
        layer: layer_name(layer),
        name: level.name.to_string(),
        config: config.path.clone(),
        span: level.locations.templates().first().and_then(|template| template.span).or(level.span),
        locations: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
