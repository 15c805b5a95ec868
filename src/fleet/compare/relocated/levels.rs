//! The levels of both sides with the places that they read for a node, each once, so that the levels
//! of a node are a list of numbers.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::fleet::compare::ComparedSide;
use crate::hiera::config::{
    BackendKind, DataReader, HieraConfig, KeyPart, Layer, Level, Locations,
};
use crate::hiera::hierarchy::located::{LevelTarget, Location};
use crate::hiera::hierarchy::{datadir_as_written, locate_levels};
use crate::hiera::pattern::Bindings;
use crate::hiera::scope::Scope;
use crate::hiera::sources::Sources as _;
use crate::puppet::value::Value;
use crate::text::FilePath;
use crate::workspace::environments::Environment;

/// The properties of a level that lookups depend on, apart from its locations.
#[derive(PartialEq)]
struct LevelTraits<'a> {
    layer: Layer,
    is_default: bool,
    /// Whether the level's hierarchy has no other level.
    is_alone: bool,
    kind: BackendKind,
    function: &'a str,
    key_part: Option<KeyPart>,
    options: Option<&'a Value>,
    extension: Option<&'a str>,
}

impl<'a> LevelTraits<'a> {
    fn new(layer: &Layer, is_default: bool, level: &'a Level, is_alone: bool) -> LevelTraits<'a> {
        LevelTraits {
            layer: layer.clone(),
            is_default,
            is_alone,
            kind: level.backend.kind,
            function: &level.backend.name,
            key_part: match &level.locations {
                Locations::ByKey(part, _) => Some(*part),
                _ => None,
            },
            options: level.options.as_ref(),
            extension: level.extension.as_deref(),
        }
    }
}

/// A place that a level reads for a node.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum DataSource {
    /// A file that exists.
    File(FilePath, DataReader),
    /// The existing files of which unknown variables decide whether they are read.
    Candidates(Arc<str>, Vec<(FilePath, Bindings)>, DataReader),
    /// A place whose keys are unknown.
    Unknown(Arc<str>, Arc<str>),
}

/// A level with the places that it reads for a node.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct LevelSources {
    /// The number of the level's traits.
    pub(super) traits: usize,
    /// Whether the level has one location: those of files that do not exist count.
    pub(super) is_single: bool,
    pub(super) sources: Vec<DataSource>,
}

/// The numbers of the levels that have a source for a node, in the order of the lookup; `None` where
/// a token fails.
pub(super) type NodeLevels = Option<Vec<u32>>;

/// The levels of both sides with their sources, each once.
#[derive(Default)]
pub(super) struct LevelTable<'a> {
    traits: Vec<LevelTraits<'a>>,
    pub(super) levels: Vec<Rc<LevelSources>>,
    numbers: HashMap<Rc<LevelSources>, u32>,
}

impl<'a> LevelTable<'a> {
    /// Returns the levels of each scope, without those of configs that are left out.
    pub(super) fn levels_of(
        &mut self,
        side: ComparedSide<'a>,
        scopes: &[&Scope],
        counts: &dyn Fn(&Layer) -> bool,
    ) -> Vec<NodeLevels> {
        let mut all = vec![Some(Vec::new()); scopes.len()];
        let configs = side.environment.all_configs();
        for (layer, config) in configs.filter(|(layer, _)| counts(layer)) {
            for (is_default, level, is_alone) in levels_of_config(config) {
                let traits = LevelTraits::new(&layer, is_default, level, is_alone);
                let traits = self.number_of_traits(traits);
                self.add_level(side, (config, level, traits), scopes, &mut all);
            }
        }
        all
    }

    fn number_of_traits(&mut self, traits: LevelTraits<'a>) -> usize {
        let known = self.traits.iter().position(|known| *known == traits);
        known.unwrap_or_else(|| {
            self.traits.push(traits);
            self.traits.len() - 1
        })
    }

    fn add_level(
        &mut self,
        side: ComparedSide<'a>,
        (config, level, traits): (&HieraConfig, &Arc<Level>, usize),
        scopes: &[&Scope],
        all: &mut [NodeLevels],
    ) {
        let view = side.snapshot.view(side.environment);
        // Scopes with the same locations share one list of locations.
        let mut known: HashMap<*const Location, (Arc<[Location]>, Option<u32>)> = HashMap::new();
        for (scope, levels) in scopes.iter().zip(all) {
            let Some(found) = levels else { continue };
            let located = locate_levels(config, std::slice::from_ref(level), scope, &view, None);
            let Some(located) = located.ok().and_then(|mut levels| levels.pop()) else {
                *levels = None;
                continue;
            };
            let (_, number) = known.entry(located.locations.as_ptr()).or_insert_with(|| {
                let number = self.number_of(side, (level, traits), &located.locations);
                (located.locations.clone(), number)
            });
            found.extend(*number);
        }
    }

    /// Returns the number of a level with its sources; `None` for a level without any.
    fn number_of(
        &mut self,
        side: ComparedSide<'_>,
        (level, traits): (&Level, usize),
        locations: &[Location],
    ) -> Option<u32> {
        let sources: Vec<DataSource> =
            locations.iter().filter_map(|location| source_of(side, level, location)).collect();
        if sources.is_empty() {
            return None;
        }
        let real = locations.iter().filter(|it| !matches!(it.place, LevelTarget::NoMatch { .. }));
        let is_single = real.count() == 1;
        let level = Rc::new(LevelSources { traits, is_single, sources });
        Some(*self.numbers.entry(level.clone()).or_insert_with(|| {
            self.levels.push(level);
            (self.levels.len() - 1) as u32
        }))
    }
}

/// Returns the levels of a config, each with whether it is one of the default hierarchy, and whether
/// its hierarchy has no other.
fn levels_of_config(config: &HieraConfig) -> impl Iterator<Item = (bool, &Arc<Level>, bool)> {
    let hierarchies = [(false, &config.hierarchy), (true, &config.default_hierarchy)];
    hierarchies.into_iter().flat_map(|(is_default, levels)| {
        levels.iter().map(move |level| (is_default, level, levels.len() == 1))
    })
}

/// Returns the source at a location; `None` where there is nothing to read.
fn source_of(side: ComparedSide<'_>, level: &Level, location: &Location) -> Option<DataSource> {
    let view = side.snapshot.view(side.environment);
    let reader = level.backend.data_reader().filter(|_| level.backend.kind != BackendKind::Hiera3);
    let unknown = || DataSource::Unknown(location.original.clone(), location.name.clone());
    let Some(reader) = reader else {
        let is_real = !matches!(location.place, LevelTarget::NoMatch { .. });
        return is_real.then(unknown);
    };
    match &location.place {
        LevelTarget::File { path, exists: true } => Some(DataSource::File(path.clone(), reader)),
        LevelTarget::File { path, .. } => view.unlisted_reason(path).map(|_| unknown()),
        LevelTarget::NoMatch { .. } => None,
        LevelTarget::Uri(_) | LevelTarget::Nowhere => Some(unknown()),
        LevelTarget::Undetermined(undetermined) if undetermined.pattern.is_none() => {
            Some(unknown())
        }
        LevelTarget::Undetermined(undetermined) => {
            let candidates = undetermined.candidate_files(&view).into_iter();
            let files: Vec<_> = candidates.map(|file| (file.path, file.when)).collect();
            (!files.is_empty())
                .then(|| DataSource::Candidates(location.original.clone(), files, reader))
        }
    }
}

/// Whether a layer has the same levels on both sides, written in the same way.
pub(super) fn has_same_levels(before: &Environment, after: &Environment, layer: &Layer) -> bool {
    let config = |environment: &'_ Environment| -> Option<Arc<HieraConfig>> {
        environment.all_configs().find(|(one, _)| one == layer).map(|(_, config)| config.clone())
    };
    let (Some(one), Some(other)) = (config(before), config(after)) else { return false };
    let variants = |level: &Level| std::mem::discriminant(&level.locations);
    let texts = |config: &HieraConfig, level: &Level| {
        let templates = level.templates().map(|template| template.text.clone());
        (datadir_as_written(config, level), templates.collect::<Vec<_>>())
    };
    levels_of_config(&one).count() == levels_of_config(&other).count()
        && levels_of_config(&one).zip(levels_of_config(&other)).all(|(a, b)| {
            LevelTraits::new(layer, a.0, a.1, a.2) == LevelTraits::new(layer, b.0, b.1, b.2)
                && variants(a.1) == variants(b.1)
                && texts(&one, a.1) == texts(&other, b.1)
        })
}
