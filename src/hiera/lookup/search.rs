//! The three loops of the lookup: layers, levels and locations, and which levels a layer has.

use std::rc::Rc;
use std::sync::Arc;

use super::explained::location_kind;
use super::location::is_among;
use super::options;
use super::ready::Levels;
use super::{
    Choice, Invocation, LOOKUP_OPTIONS, LayerLevels, Located, Resolver, TokenRules, enter_frame,
    layers_of,
};
use crate::hiera::config::{
    ConfigProblem, ConfigProblemKind, ConfigVersion, HieraConfig, Layer, Level,
};
use crate::hiera::error::{LookupError, LookupErrorKind, LookupFrame};
use crate::hiera::explain::{Event, Kind};
use crate::hiera::hierarchy::locate_levels;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLayer, LocatedLevel, Location};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup_options::{LookupOptions, check_layer_options};
use crate::hiera::merge::Strategy;
use crate::hiera::resolution::Outcome;
use crate::hiera::sources::ModuleLayer;
use crate::puppet::value::{Data, Value};
use crate::text::{FilePath, Span};

impl Resolver<'_> {
    /// Searches all layers for a key and, where they have none, the module's default hierarchy.
    pub(super) fn search(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        choice: &Choice,
        asked_by: Option<Span>,
    ) -> Result<Option<Value>, LookupError> {
        let merge = choice.merge.as_ref().map_err(Clone::clone)?;
        let root = key.root_text();
        let frame = LookupFrame { text: key.text.clone(), asked_by };
        if inv.reading.is_confined {
            let found = self.search_layer(inv, &Layer::Global, &root, &frame, merge)?;
            return found.map_or(Ok(None), |found| inv.dig(&found, key));
        }
        let layers = layers_of(key);
        // Puppet always counts three layers, whether or not it asks a module.
        let found = inv.fold(merge, 3, self.ctx.cancel, &mut |inv, n| match layers.get(n) {
            Some(layer) => self.search_layer(inv, layer, &root, &frame, merge),
            None => Ok(None),
        })?;
        if let Some(found) = found
            && let Some(value) = inv.dig(&found, key)?
        {
            return Ok(Some(value));
        }
        match self.search_default_hierarchy(inv, key, &root, &frame)? {
            Some(found) => inv.dig(&found, key),
            None => Ok(None),
        }
    }

    pub(super) fn search_layer(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        root: &str,
        frame: &LookupFrame,
        merge: &Strategy,
    ) -> Result<Option<Value>, LookupError> {
        let located = self.cached_levels(layer);
        let mut node = None;
        if inv.trace.explainer.is_some() {
            match &*located {
                Ok(levels) if !levels.takes_part => self.explain_missing_module(inv, layer),
                _ => node = self.layer_kind(layer),
            }
        }
        if let Err(error) = &*located
            && *layer != Layer::Global
            && node.is_none()
        {
            // Puppet reads the config of the global layer within the check for recursion, and the
            // configs of the other layers before that check.
            return Err(error.clone());
        }
        let reading_before = inv.reading;
        inv.reading = self.token_rules(layer);
        let needs_merge = self.ctx.backends.is_some() && *layer == Layer::Global;
        let merge_before = needs_merge.then(|| std::mem::replace(&mut inv.merge, merge.clone()));
        let found = enter_frame(inv, frame.clone(), |inv| {
            if *layer == Layer::Global && inv.reading.is_classic {
                self.check_environment_config()?;
            }
            let levels = || Result::as_ref(&located).map_err(Clone::clone);
            let Some(node) = node else {
                return self.search_levels(inv, layer, &levels()?.hierarchy, root, merge);
            };
            inv.record_part(
                || node,
                |inv| {
                    let levels = &levels()?.hierarchy;
                    if levels.located.is_empty() {
                        inv.record_event(|| Event::NotFound(frame.text.clone()));
                    }
                    self.search_levels(inv, layer, levels, root, merge)
                },
            )
        });
        inv.reading = reading_before;
        if let Some(before) = merge_before {
            inv.merge = before;
        }
        match layer {
            // The global layer without a config has no value, and still checks for recursion.
            Layer::Global => found.map_err(|error| error.passed_on_for(&frame.text)),
            _ => found,
        }
    }

    /// How tokens in the data of a layer are read. A nested lookup that is confined stays in the
    /// global layer, so that nothing is inherited.
    fn token_rules(&self, layer: &Layer) -> TokenRules {
        let has_version = |config: &Option<Arc<HieraConfig>>, version| {
            config.as_ref().is_some_and(|config| config.version == version)
        };
        let is_classic =
            *layer == Layer::Global && has_version(&self.ctx.global, ConfigVersion::V3);
        TokenRules {
            is_classic,
            is_confined: is_classic && !has_version(&self.ctx.environment, ConfigVersion::V5),
        }
    }

    fn search_levels(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        levels: &Levels,
        root: &str,
        merge: &Strategy,
    ) -> Result<Option<Value>, LookupError> {
        let defining = self.files_defining(inv, root);
        let looks_elsewhere = !inv.order_override.is_empty();
        if inv.trace.is_off() && defining.is_none() && !looks_elsewhere {
            return self.search_ready(inv, layer, levels, root, merge);
        }
        let levels = &levels.located;
        let before_own = if looks_elsewhere {
            self.overriding_locations(inv, layer, levels)?
        } else {
            Vec::new()
        };
        inv.fold(merge, levels.len(), self.ctx.cancel, &mut |inv, n| {
            let located = &levels[n];
            // A glob that names nothing is no location to Puppet, but the steps list it as a
            // location.
            let overriding = before_own.get(n).into_iter().flatten();
            let locations = overriding.chain(located.locations.iter());
            let is_empty =
                |location: &&Location| matches!(location.place, LevelTarget::NoMatch { .. });
            for location in locations.clone().filter(is_empty) {
                let outcome = self.ask_location(inv, layer, located, location, root, defining)?;
                inv.trace.record_step(layer, located, location, outcome);
            }
            let mut real = locations.filter(|location| !is_empty(location));
            let count = real.clone().count();
            let mut search_next = |inv: &mut Invocation, _| {
                let Some(location) = real.next() else { return Ok(None) };
                self.search_location(inv, layer, located, location, root, defining)
            };
            inv.record_part(
                || Kind::Level(located.level.name.clone()),
                |inv| inv.fold(merge, count, self.ctx.cancel, &mut search_next),
            )
        })
    }

    fn search_location(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        root: &str,
        defining: Option<&[FilePath]>,
    ) -> Result<Option<Value>, LookupError> {
        if let (Some(defining), LevelTarget::File { path, exists: true }) =
            (defining, &location.place)
            && location.is_indexed
            && inv.trace.is_off()
            && !is_among(defining, path)
        {
            return Ok(None); // as with most
        }
        let ask = |inv: &mut Invocation| {
            let outcome = self.ask_location(inv, layer, located, location, root, defining)?;
            inv.explain_outcome(&outcome, root);
            Ok(outcome)
        };
        let result: Result<Outcome, LookupError> =
            match if inv.trace.explainer.is_some() { location_kind(location) } else { None } {
                Some(node) => inv.record_part(|| node, ask),
                None => ask(inv),
            };
        let value = match &result {
            Ok(Outcome::Found { value, .. } | Outcome::Answered { value, .. }) => {
                Ok(Some(value.clone()))
            }
            Ok(_) => Ok(None),
            Err(error) => Err(error.clone()),
        };
        let outcome = result.unwrap_or_else(|_| match &location.place {
            LevelTarget::File { path, .. } => Outcome::Failed(path.clone()),
            _ => Outcome::Opaque(located.level.backend.clone()),
        });
        inv.trace.record_step(layer, located, location, outcome);
        value
    }

    pub(super) fn search_default_hierarchy(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        root: &str,
        frame: &LookupFrame,
    ) -> Result<Option<Value>, LookupError> {
        let Some(module) = key.module_name() else { return Ok(None) };
        let layer = Layer::Module(module.into());
        let located = self.cached_levels(&layer);
        let levels = &Result::as_ref(&located).map_err(Clone::clone)?.default_hierarchy;
        if levels.located.is_empty() {
            return Ok(None);
        }
        inv.record_part(
            || Kind::Scope(format!("Searching default_hierarchy of module \"{module}\"")),
            |inv| {
                let options = self.default_options(inv, &layer, module, levels)?;
                inv.note_secrecy(options.secrecy());
                inv.record_part(
                    || Kind::Scope(format!("Searching for \"{}\"", frame.text)),
                    |inv| {
                        // Only the options in the default hierarchy itself choose its merge
                        // strategy.
                        let merge = match options.find_entry(root, &inv.budget)? {
                            Some(entry) => entry.merge()?.unwrap_or(Strategy::First),
                            None => Strategy::First,
                        };
                        self.search_default_levels(inv, &layer, levels, root, frame, &merge)
                    },
                )
            },
        )
    }

    /// Returns the options that a module's default hierarchy has for itself.
    fn default_options(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        module: &str,
        levels: &Levels,
    ) -> Result<Rc<LookupOptions>, LookupError> {
        if let Some(known) = self.cache.default_options.borrow().get(module) {
            return Ok(known.clone());
        }
        let options = inv.record_part(
            || Kind::Scope(format!("Searching for \"{LOOKUP_OPTIONS}\"")),
            |inv| {
                let options = inv.nest(|inv| {
                    let (root, frame) = (LOOKUP_OPTIONS, options::options_frame());
                    self.search_default_levels(inv, layer, levels, root, &frame, &Strategy::Hash)
                });
                let options = options?.filter(|options| !matches!(options.data(), Data::Null));
                if let Some(options) = &options {
                    check_layer_options(options, layer)?;
                }
                Ok::<_, LookupError>(Rc::new(LookupOptions::new(options)?))
            },
        )?;
        self.cache.default_options.borrow_mut().insert(module.into(), options.clone());
        Ok(options)
    }

    fn search_default_levels(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        levels: &Levels,
        root: &str,
        frame: &LookupFrame,
        merge: &Strategy,
    ) -> Result<Option<Value>, LookupError> {
        let node = if inv.trace.explainer.is_some() { self.layer_kind(layer) } else { None };
        enter_frame(inv, frame.clone(), |inv| {
            let search = |inv: &mut Invocation| self.search_levels(inv, layer, levels, root, merge);
            match node {
                Some(node) => inv.record_part(|| node, search),
                None => search(inv),
            }
        })
    }

    pub(super) fn cached_levels(&self, layer: &Layer) -> Located {
        if let Some(known) = self.cache.located.borrow().get(layer) {
            return known.clone();
        }
        let located = self.locate_layer(layer);
        let located = located.and_then(|located: LocatedLayer| {
            if *layer == Layer::Global {
                self.prepare_hiera3(&located)?;
            }
            Ok(located)
        });
        let located = Rc::new(located.map(|located: LocatedLayer| LayerLevels {
            takes_part: located.takes_part,
            hierarchy: Levels::new(located.hierarchy),
            default_hierarchy: Levels::new(located.default_hierarchy),
        }));
        self.cache.located.borrow_mut().insert(layer.clone(), located.clone());
        located
    }

    /// Puppet locates all levels of a config when the first is needed, so an error in one hits the
    /// others.
    fn locate_layer(&self, layer: &Layer) -> Result<LocatedLayer, LookupError> {
        let config = match layer {
            Layer::Global => self.ctx.global.clone(),
            Layer::Environment => self.ctx.environment.clone(),
            Layer::Module(name) => match self.ctx.sources.module_layer(name) {
                ModuleLayer::Config(config) => Some(config),
                ModuleLayer::NotFound | ModuleLayer::WithoutConfig => None,
            },
        };
        let Some(config) = config else {
            return Ok(LocatedLayer {
                takes_part: *layer == Layer::Global,
                ..LocatedLayer::default()
            });
        };
        if !self.takes_part(&config)? {
            return Ok(LocatedLayer::default());
        }
        let puppet = (!self.ctx.tolerant).then_some(self.ctx.puppet);
        let located = |levels: &[Arc<Level>]| -> Result<Vec<LocatedLevel>, LookupError> {
            let mut found =
                locate_levels(&config, levels, self.ctx.scope, self.ctx.sources, puppet)?;
            // A tolerant lookup keeps levels without files, because editors offer the files that
            // such a level would read.
            found.retain(|level| {
                self.ctx.tolerant || config.file.is_some() || !is_without_files(level)
            });
            Ok(found)
        };
        Ok(LocatedLayer {
            takes_part: true,
            hierarchy: located(&config.hierarchy)?.into(),
            default_hierarchy: located(&config.default_hierarchy)?.into(),
        })
    }

    /// Whether a config takes part; one with a fatal problem may be passed over.
    ///
    /// Errors: Puppet refuses it.
    fn takes_part(&self, config: &HieraConfig) -> Result<bool, LookupError> {
        if self.ctx.tolerant {
            return Ok(true);
        }
        if let Some(message) = &config.refused {
            let kind = LookupErrorKind::ConfigSyntax(format!("({}): {message}", config.path));
            return Err(LookupError::new(kind, None));
        }
        // The Ruby that calls the backends of Hiera 3 provides the library of Hiera 3.
        let is_told = |problem: &&ConfigProblem| {
            problem.kind == ConfigProblemKind::Library && self.may_call_hiera3(config)
        };
        match config.fatal_problem().filter(|problem| !is_told(problem)) {
            None => Ok(true),
            Some(_) if config.is_passed_over(self.ctx.puppet) => Ok(false),
            Some(problem) => Err(config.lookup_error(problem)),
        }
    }

    /// A global config of version 3 is searched in the global layer alone unless the environment has
    /// a provider of data, so that Puppet reads the environment's config first.
    ///
    /// Errors: Puppet refuses that config. Source: `GlobalDataProvider#unchecked_key_lookup`.
    fn check_environment_config(&self) -> Result<(), LookupError> {
        match &self.ctx.environment {
            Some(config) => self.takes_part(config).map(drop),
            None => Ok(()),
        }
    }
}

/// Whether a level has locations and none is there. Of the hierarchy that Puppet makes up where no
/// hiera.yaml is written, it leaves out such levels.
///
/// Source: `HieraConfig#create_configured_data_providers`.
fn is_without_files(level: &LocatedLevel) -> bool {
    !level.locations.is_empty()
        && level.locations.iter().all(|location: &Location| match &location.place {
            LevelTarget::File { exists, .. } => !exists,
            LevelTarget::NoMatch { .. } => true,
            _ => false,
        })
}
