//! The backends of Hiera 3 in the global layer: made known before the first call, and called.
//!
//! Source: semantics 9.5 and 10, and Puppet's `HieraConfig#create_hiera3_backend_provider`.

use std::sync::Arc;

use super::called::{FunctionAnswer, FunctionQuery, check_legal, within_root};
use super::{Invocation, Resolver, parse_key};
use crate::hiera::backends::{CallKey, Hiera3, Hiera3Backend, Returned};
use crate::hiera::config::{
    BackendKind, ConfigVersion, HieraConfig, Layer, Level, Locations, Template,
};
use crate::hiera::error::LookupError;
use crate::hiera::explain::Event;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLayer, LocatedLevel, Location};
use crate::hiera::hierarchy::{
    datadir_as_written, datadir_for_call, locate_levels, options_for_call,
};

impl Resolver<'_> {
    /// Returns whether backends of Hiera 3 in this config may be called. The library that they need
    /// is then that of the Ruby that calls them.
    pub(super) fn may_call_hiera3(&self, config: &HieraConfig) -> bool {
        self.ctx.backends.is_some_and(|backends| {
            config.levels().any(|level| {
                level.backend.kind == BackendKind::Hiera3 && backends.may_call(&level.backend.name)
            })
        })
    }

    /// Makes the backends of Hiera 3 in the global layer known, as Puppet does when it needs the
    /// levels. Where an unknown variable takes part in one, none is called.
    ///
    /// Errors: those of tokens, and Puppet's where the library is absent.
    pub(super) fn prepare_hiera3(&self, located: &LocatedLayer) -> Result<(), LookupError> {
        let (Some(backends), Some(config)) = (self.ctx.backends, &self.ctx.global) else {
            return Ok(());
        };
        if !self.may_call_hiera3(config) {
            return Ok(());
        }
        let levels =
            located.hierarchy.iter().filter(|it| it.level.backend.kind == BackendKind::Hiera3);
        let mut known = Vec::new();
        for level in levels {
            match self.hiera3_backend(config, level)? {
                Some(backend) => known.push(backend),
                None => return Ok(()),
            }
        }
        let text = (config.version == ConfigVersion::V3).then(|| config.text().into());
        backends.prepare(&Hiera3 { config: config.path.clone(), text, backends: known })?;
        self.cache.called.borrow_mut().knows_hiera3 = true;
        Ok(())
    }

    /// Returns the backend of a level; `None` where an unknown variable takes part in it.
    fn hiera3_backend(
        &self,
        config: &HieraConfig,
        located: &LocatedLevel,
    ) -> Result<Option<Hiera3Backend>, LookupError> {
        let level = &located.level;
        if located
            .locations
            .iter()
            .any(|location| matches!(location.place, LevelTarget::Undetermined(_)))
        {
            return Ok(None);
        }
        let mut backend = Hiera3Backend {
            level: self.number_of(located),
            title: level.name.clone(),
            name: level.backend.name.clone(),
            datadir: None,
            sources: Vec::new(),
            options: None,
        };
        if config.version == ConfigVersion::V3 {
            let is_named = level.option_value("datadir").is_some_and(|it| it.as_str().is_some());
            backend.datadir = is_named.then(|| datadir_as_written(config, level));
            return Ok(Some(backend));
        }
        let puppet = (!self.ctx.tolerant).then_some(self.ctx.puppet);
        backend.datadir = datadir_for_call(config, level, self.ctx.scope, puppet)?;
        backend.options = match &level.options {
            Some(options) => options_for_call(options, self.ctx.scope, puppet)?,
            None => None,
        };
        if backend.datadir.is_none() || backend.options.is_some() != level.options.is_some() {
            return Ok(None);
        }
        let sources = located.locations.iter().filter(|location| {
            !matches!(&location.place, LevelTarget::NoMatch { .. } | LevelTarget::Nowhere)
        });
        backend.sources = sources.map(|location| location.original.clone()).collect();
        Ok(Some(backend))
    }

    /// Asks a backend of Hiera 3 for the key that is being looked up. Its answers are not kept.
    pub(super) fn ask_hiera3(
        &self,
        inv: &mut Invocation,
        asked: FunctionQuery<'_>,
    ) -> Result<FunctionAnswer, LookupError> {
        if !self.cache.called.borrow().knows_hiera3 {
            return Ok(FunctionAnswer::Unknown);
        }
        let text = inv.stack.last().map_or_else(|| "".into(), |frame| frame.text.clone());
        let key = parse_key(&text)?;
        let merge = inv.merge.clone();
        let order_override = inv.order_override.clone();
        let asked_for = CallKey::Hiera3 {
            text: &text,
            merge: &merge,
            order_override: &order_override,
            global_only: inv.reading.is_confined,
        };
        match self.call_function(inv, asked, asked_for)? {
            None => Ok(FunctionAnswer::Unknown),
            Some(Returned::Value(checked)) => {
                let value = check_legal(asked, &text, checked)?;
                inv.record_event(|| Event::Found { key: text, value: value.clone(), at: None });
                within_root(&key, value).map(FunctionAnswer::Value)
            }
            // Puppet's explanation has no entry for a key that was not found.
            Some(_) => Ok(FunctionAnswer::Nothing),
        }
    }

    /// Returns, for each level of the global layer, the locations that are looked into before its
    /// own: those of the sources that the function `hiera` was given. Levels of version 3 that
    /// hiera-ls reads itself have them.
    pub(super) fn overriding_locations(
        &self,
        inv: &Invocation,
        layer: &Layer,
        levels: &[LocatedLevel],
    ) -> Result<Vec<Vec<Location>>, LookupError> {
        let none = || vec![Vec::new(); levels.len()];
        let config = match &self.ctx.global {
            Some(config) if config.version == ConfigVersion::V3 && *layer == Layer::Global => {
                config
            }
            _ => return Ok(none()),
        };
        let templates: Vec<Template> = inv
            .order_override
            .iter()
            .filter_map(|source| source.as_str())
            .map(|text| Template { text: text.into(), span: None })
            .collect();
        if templates.is_empty() {
            return Ok(none());
        }
        let puppet = (!self.ctx.tolerant).then_some(self.ctx.puppet);
        levels
            .iter()
            .map(|located: &LocatedLevel| {
                if located.level.backend.data_reader().is_none() {
                    return Ok(Vec::new());
                }
                let level = Level {
                    locations: Locations::Paths(templates.clone()),
                    extension: Some(format!(".{}", located.level.name).into()),
                    options: None,
                    ..(*located.level).clone()
                };
                let (scope, sources) = (self.ctx.scope, self.ctx.sources);
                let found = locate_levels(config, &[Arc::new(level)], scope, sources, puppet)?;
                Ok(found.iter().flat_map(|located| located.locations.to_vec()).collect())
            })
            .collect()
    }
}
