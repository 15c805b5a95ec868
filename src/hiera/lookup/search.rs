//! The three loops of the lookup: layers, levels and locations, and which levels a layer has.

use std::rc::Rc;
use std::sync::Arc;

use super::{Invocation, LOOKUP_OPTIONS, LayerLevels, Located, Reading, Resolver, Strict, enter};
use crate::hiera::config::{HieraConfig, Layer, Level, Version};
use crate::hiera::error::{Frame, LookupError, LookupErrorKind};
use crate::hiera::hierarchy::{LocatedLevel, Location, Place, locate};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup_options::{LookupOptions, check_layer_options};
use crate::hiera::merge::{Strategy, fold};
use crate::hiera::resolution::{Outcome, Step};
use crate::hiera::sources::ModuleLayer;
use crate::hiera::value::{Data, Value};

impl Resolver<'_> {
    pub(super) fn search_layer(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        root: &str,
        frame: &Frame,
        merge: &Strategy,
    ) -> Result<Option<Value>, LookupError> {
        let reading_before = inv.reading;
        inv.reading = self.reading(layer);
        let found = enter(inv, frame.clone(), |inv| {
            let located = self.located(layer);
            let levels = Result::as_ref(&located).map_err(Clone::clone)?;
            self.search_levels(inv, layer, &levels.hierarchy, root, merge)
        });
        inv.reading = reading_before;
        match layer {
            // Without a config the layer has nothing to say, and still checks for recursion.
            Layer::Global => found.map_err(|error| error.passed_on_for(&frame.text)),
            _ => found,
        }
    }

    /// How tokens in the data of a layer are read. A nested lookup that is confined stays in the global layer, so that nothing is inherited.
    fn reading(&self, layer: &Layer) -> Reading {
        let has_version =
            |config: &Option<Arc<HieraConfig>>, version| config.as_ref().is_some_and(|config| config.version == version);
        let is_classic = *layer == Layer::Global && has_version(&self.ctx.global, Version::V3);
        Reading { is_classic, is_confined: is_classic && !has_version(&self.ctx.environment, Version::V5) }
    }

    fn search_levels(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        levels: &[LocatedLevel],
        root: &str,
        merge: &Strategy,
    ) -> Result<Option<Value>, LookupError> {
        fold::<LookupError>(merge, levels.len(), &mut |n| {
            let located = &levels[n];
            // A glob that names nothing is no location to Puppet; it is one to the story.
            let (real, empty): (Vec<&Location>, Vec<&Location>) =
                located.locations.iter().partition(|location| !matches!(location.place, Place::NoMatch { .. }));
            for location in empty {
                self.search_location(inv, layer, located, location, root)?;
            }
            fold::<LookupError>(merge, real.len(), &mut |n| self.search_location(inv, layer, located, real[n], root))
        })
    }

    fn search_location(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        root: &str,
    ) -> Result<Option<Value>, LookupError> {
        let result = self.ask(inv, layer, located, location, root);
        let outcome = match &result {
            Ok(outcome) => outcome.clone(),
            Err(_) => match &location.place {
                Place::File { path, .. } => Outcome::Failed(path.clone()),
                _ => Outcome::Opaque(located.level.backend.clone()),
            },
        };
        if let Some(steps) = &mut inv.steps {
            steps.push(Step { layer: layer.clone(), level: located.level.clone(), template: location.template.clone(), outcome });
        }
        Ok(match result? {
            Outcome::Found { value, .. } => Some(value),
            _ => None,
        })
    }

    pub(super) fn search_default_hierarchy(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        root: &str,
        frame: &Frame,
    ) -> Result<Option<Value>, LookupError> {
        let Some(module) = key.module() else { return Ok(None) };
        let layer = Layer::Module(module.into());
        let located = self.located(&layer);
        let levels = Result::as_ref(&located).map_err(Clone::clone)?.default_hierarchy.as_slice();
        if levels.is_empty() {
            return Ok(None);
        }
        let recording = inv.steps.take();
        let options_frame = Frame { text: LOOKUP_OPTIONS.into(), asked_by: None };
        let options = enter(inv, options_frame, |inv| self.search_levels(inv, &layer, levels, LOOKUP_OPTIONS, &Strategy::Hash));
        inv.steps = recording;
        let options = options?.filter(|options| !matches!(options.data, Data::Null));
        if let Some(options) = &options {
            check_layer_options(options, &layer)?;
        }
        // Only what the default hierarchy itself says about merging counts in it.
        let merge = match LookupOptions::new(options)?.entry(root) {
            Some(entry) => entry.merge()?.unwrap_or(Strategy::First),
            None => Strategy::First,
        };
        enter(inv, frame.clone(), |inv| self.search_levels(inv, &layer, levels, root, &merge))
    }

    pub(super) fn located(&self, layer: &Layer) -> Located {
        if let Some(known) = self.located.borrow().get(layer) {
            return known.clone();
        }
        let located = Rc::new(self.locate(layer));
        self.located.borrow_mut().insert(layer.clone(), located.clone());
        located
    }

    /// Puppet locates all levels of a config when the first is needed, so an error in one hits the others.
    fn locate(&self, layer: &Layer) -> Result<LayerLevels, LookupError> {
        let config = match layer {
            Layer::Global => self.ctx.global.clone(),
            Layer::Environment => self.ctx.environment.clone(),
            Layer::Module(name) => match self.ctx.sources.module(name) {
                ModuleLayer::Config(config) => Some(config),
                ModuleLayer::NotFound | ModuleLayer::WithoutConfig => None,
            },
        };
        let Some(config) = config else { return Ok(LayerLevels::default()) };
        if let Some(message) = &config.refused
            && !self.ctx.tolerant
        {
            let kind = LookupErrorKind::File { path: config.path.clone(), message: format!("({}): {message}", config.path) };
            return Err(LookupError::new(kind, None));
        }
        if let Some(problem) = config.fatal()
            && !self.ctx.tolerant
        {
            if config.may_be_passed_over() && self.ctx.profile.strict != Strict::Error {
                return Ok(LayerLevels::default());
            }
            return Err(config.refusal(problem));
        }
        let profile = (!self.ctx.tolerant).then_some(self.ctx.profile);
        let located = |levels: &[Level]| locate(&config, levels, self.ctx.scope, self.ctx.sources, profile);
        Ok(LayerLevels { hierarchy: located(&config.hierarchy)?, default_hierarchy: located(&config.default_hierarchy)? })
    }
}
