//! The lookup's half of `lookup_options`: assembling them from all layers, and their settings for
//! one key.

use std::sync::Arc;

use super::location::is_among;
use super::trace::Trace;
use super::{Choice, Invocation, LOOKUP_OPTIONS, Options, OptionsOf, Resolver, is_reserved};
use crate::hiera::config::Layer;
use crate::hiera::error::{LookupError, LookupErrorKind, LookupFrame};
use crate::hiera::explain::{Event, Kind};
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLevel};
use crate::hiera::key::{KeySegment, LookupKey};
use crate::hiera::lookup_options::{LookupOptions, OptionsFiles, check_layer_options};
use crate::hiera::merge::{Strategy, fold};
use crate::hiera::resolution::{MergeSource, Unevaluated, UnsettledLevel};
use crate::hiera::sources::ModuleLayer;
use crate::puppet::value::{Data, Value};
use crate::text::Bounds;

impl Resolver<'_> {
    pub(super) fn choose_strategy(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        merge: Option<&Strategy>,
    ) -> Result<Choice, LookupError> {
        let mut choice = Choice::default();
        if is_reserved(&key.text) {
            return Ok(choice);
        }
        let KeySegment::Name(root) = &key.root else {
            return Err(LookupError::crash(format!(
                "undefined method `index' for {}:Integer",
                key.root
            )));
        };
        let options = self.module_options(inv, key.module_name())?;
        let options = Result::as_ref(&options).map_err(Clone::clone)?;
        inv.note_secrecy(options.secrecy());
        if let Some(entry) = options.find_entry(root, &inv.budget)? {
            choice.convert_to = entry.convert_to();
            if merge.is_none() {
                choice.merge = entry.merge().map(Option::unwrap_or_default);
                if entry.says_merge() {
                    inv.record_part(|| Kind::MergeSource, |_| {});
                    choice.merge_source = MergeSource::Options(entry);
                }
            }
        }
        if let Some(strategy) = merge {
            choice.merge = Ok(strategy.clone());
            choice.merge_source = MergeSource::Argument;
        }
        Ok(choice)
    }

    /// Returns the options for keys of a module, or for keys of none. Source: semantics 7.1.
    pub(super) fn module_options(
        &self,
        inv: &mut Invocation,
        module: Option<&str>,
    ) -> Result<Options, LookupError> {
        let module: Option<Arc<str>> = module.map(Into::into);
        // The options of the key that was asked for, and those for keys of no module, are known
        // before any layer is read.
        let global_only = inv.reading.is_confined && module.is_some() && module != inv.module;
        let wanted = OptionsOf { module, global_only };
        if let Some(known) = self.cache.options.borrow().get(&wanted) {
            return Ok(known.clone());
        }
        if self.has_shared_options_only(inv, &wanted) {
            let shared = self.module_options(inv, None)?;
            if shared.is_ok() || inv.stack.is_empty() {
                self.cache.options.borrow_mut().insert(wanted, shared.clone());
            }
            return Ok(shared);
        }
        let files = self.files_with_options(inv, &wanted);
        let shared = files.and_then(|files| Some((self.ctx.sources.shared_options()?, files)));
        if let Some(known) = shared.as_ref().and_then(|(shared, files)| shared.get(files)) {
            self.cache.options.borrow_mut().insert(wanted, known.clone());
            return Ok(known);
        }
        let unread = self.cache.unread_options.borrow().len();
        let mut meta = Invocation {
            stack: inv.stack.clone(),
            module: inv.module.clone(),
            budget: inv.budget.clone(),
            trace: Trace::of_options(inv.trace.explainer.take()),
            ..Invocation::default()
        };
        let assembled = meta.record_part(
            || Kind::Lookup { key: LOOKUP_OPTIONS.into(), secret: false },
            |meta| {
                if let Some(first) =
                    meta.stack.iter().position(|frame| &*frame.text == LOOKUP_OPTIONS)
                {
                    let frames = meta.stack[first..].to_vec();
                    return Err(LookupError::new(
                        LookupErrorKind::Recursion { frames, again: options_frame() },
                        None,
                    ));
                }
                self.assemble_options(meta, &wanted)
            },
        );
        let assembled = Arc::new(assembled.map_err(|error| meta.guard_error(error)));
        inv.trace.explainer = meta.trace.explainer;
        // Options with tokens depend on more than the files. The tokens of the global layer and of
        // the environment are read once for all modules.
        let reads = meta.trace.reads.unwrap_or_default();
        if !reads.variables.is_empty() || !reads.keys.is_empty() {
            self.cache.has_live_options.set(true);
        }
        let is_complete = self.cache.unread_options.borrow().len() == unread;
        if !self.cache.has_live_options.get() && assembled.is_ok() && is_complete {
            shared.into_iter().for_each(|(shared, files)| shared.insert(files, assembled.clone()));
        }
        // An error depends on the lookups in progress, so it is kept only if no lookup is in
        // progress.
        if assembled.is_ok() || inv.stack.is_empty() {
            self.cache.options.borrow_mut().insert(wanted, assembled.clone());
        }
        Ok(assembled)
    }

    /// Whether the options of a module are those for keys of no module, as the module has no levels.
    /// An explanation shows that the module was asked, and within the search for `lookup_options`
    /// only the options that are known already cause no recursion.
    fn has_shared_options_only(&self, inv: &Invocation, wanted: &OptionsOf) -> bool {
        let has_levels =
            |module| matches!(self.ctx.sources.module_layer(module), ModuleLayer::Config(_));
        !wanted.global_only
            && wanted.module.as_deref().is_some_and(|module| !has_levels(module))
            && inv.trace.explainer.is_none()
            && inv.stack.iter().all(|frame| &*frame.text != LOOKUP_OPTIONS)
    }

    /// Returns the files that the options come from; `None` where the files do not decide them.
    fn files_with_options(&self, inv: &Invocation, wanted: &OptionsOf) -> Option<OptionsFiles> {
        let is_plain = self.ctx.tolerant
            && self.ctx.backends.is_none()
            && self.ctx.decryptor.is_none()
            && inv.trace.explainer.is_none()
            && inv.stack.iter().all(|frame| &*frame.text != LOOKUP_OPTIONS);
        if !is_plain {
            return None;
        }
        // All modules share the files of the global layer and the environment.
        let mut files = self.options_files_of(&Layer::Global)?;
        if !wanted.global_only {
            files.extend(self.options_files_of(&Layer::Environment)?);
            if let Some(module) = &wanted.module {
                files.extend(self.options_files_of(&Layer::Module(module.clone()))?);
            }
        }
        Some(files)
    }

    /// Returns the files of a layer that have `lookup_options`; `None` where the files do not decide
    /// them.
    fn options_files_of(&self, layer: &Layer) -> Option<OptionsFiles> {
        if let Some(known) = self.cache.options_files.borrow().get(layer) {
            return known.clone();
        }
        let found = self.find_options_files(layer);
        self.cache.options_files.borrow_mut().insert(layer.clone(), found.clone());
        found
    }

    fn find_options_files(&self, layer: &Layer) -> Option<OptionsFiles> {
        let sources = self.ctx.sources;
        let defining = sources.files_defining(LOOKUP_OPTIONS);
        let mut files = OptionsFiles::new();
        let located = self.cached_levels(layer);
        let levels = located.as_ref().as_ref().ok()?.hierarchy.located.iter();
        let readable = levels.filter(|level| level.level.backend.data_reader().is_some());
        for location in readable.flat_map(|level| level.locations.iter()) {
            match &location.place {
                LevelTarget::File { exists: true, .. } if !location.is_indexed => return None,
                LevelTarget::File { path, exists: true } if is_among(defining, path) => {
                    files.push((layer.clone(), path.clone()));
                }
                LevelTarget::File { path, exists: true } if sources.is_unread(path) => {
                    return None;
                }
                LevelTarget::File { path, exists: false }
                    if sources.unlisted_reason(path).is_some() =>
                {
                    return None;
                }
                _ => {}
            }
        }
        Some(files)
    }

    /// Global options over the environment's, and those over the module's.
    fn assemble_options(
        &self,
        inv: &mut Invocation,
        wanted: &OptionsOf,
    ) -> Result<LookupOptions, LookupError> {
        if wanted.global_only {
            return Ok(LookupOptions::new(self.global_options(inv)?)?);
        }
        let shared = self.shared_options(inv)?;
        let Some(module) = &wanted.module else { return Ok(LookupOptions::new(shared)?) };
        // The shared options are also the options for keys of no module.
        let of_none = LookupOptions::new(shared.clone())?;
        let none = OptionsOf { module: None, global_only: false };
        self.cache.options.borrow_mut().entry(none).or_insert_with(|| Arc::new(Ok(of_none)));
        let layer = Layer::Module(module.clone());
        let Some(own) =
            self.search_layer(inv, &layer, LOOKUP_OPTIONS, &options_frame(), &Strategy::Hash)?
        else {
            return Ok(LookupOptions::new(shared)?);
        };
        if matches!(own.data(), Data::Null) {
            return Ok(LookupOptions::default()); // a bug of Puppet: null removes all options
        }
        check_layer_options(&own, &layer)?;
        let Some(shared) = shared else { return Ok(LookupOptions::new(Some(own))?) };
        let sides =
            [("Global and Environment".to_owned(), shared), (format!("Module {module}"), own)];
        let merged = inv.fold(&Strategy::Hash, 2, self.ctx.cancel, &mut |inv, n| {
            let (name, value) = &sides[n];
            inv.record_part(
                || Kind::Scope(name.clone()),
                |inv| {
                    inv.record_event(|| Event::Found {
                        key: LOOKUP_OPTIONS.into(),
                        value: value.clone(),
                        at: None,
                    })
                },
            );
            Ok(Some(value.clone()))
        })?;
        Ok(LookupOptions::new(merged)?)
    }

    /// Returns the options of the global layer.
    fn global_options(&self, inv: &mut Invocation) -> Result<Option<Value>, LookupError> {
        if let Some(known) = &*self.cache.global_options.borrow() {
            return Ok(known.clone());
        }
        let options = self.options_of_layer(inv, &Layer::Global)?;
        *self.cache.global_options.borrow_mut() = Some(options.clone());
        Ok(options)
    }

    /// Returns the merged options of the global layer and the environment.
    fn shared_options(&self, inv: &mut Invocation) -> Result<Option<Value>, LookupError> {
        if let Some(known) = &*self.cache.shared_options.borrow() {
            return Ok(known.clone());
        }
        let mut values =
            [self.global_options(inv)?, self.options_of_layer(inv, &Layer::Environment)?];
        let bounds = Bounds { cancel: self.ctx.cancel, budget: &inv.budget };
        let shared =
            fold::<LookupError>(&Strategy::Hash, 2, bounds, &mut |n| Ok(values[n].take()))?;
        *self.cache.shared_options.borrow_mut() = Some(shared.clone());
        Ok(shared)
    }

    fn options_of_layer(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
    ) -> Result<Option<Value>, LookupError> {
        let found =
            self.search_layer(inv, layer, LOOKUP_OPTIONS, &options_frame(), &Strategy::Hash)?;
        let options = found.filter(|found| !matches!(found.data(), Data::Null));
        if let Some(options) = &options {
            check_layer_options(options, layer)?;
        }
        Ok(options)
    }

    /// Records that the file of a level was asked for options and could not be read. An editor shows
    /// a finding at such a file instead.
    pub(super) fn record_unread_options(
        &self,
        layer: &Layer,
        located: &LocatedLevel,
        reason: &Unevaluated,
    ) {
        let level = UnsettledLevel {
            layer: layer.clone(),
            level: located.level.name.clone(),
            key: LOOKUP_OPTIONS.into(),
            reason: reason.clone(),
        };
        let mut known = self.cache.unread_options.borrow_mut();
        if !self.ctx.tolerant && !known.contains(&level) {
            known.push(level);
        }
    }

    /// Returns the levels that may hold options of a key, and whose files could not be read.
    pub(super) fn unread_options_of(&self, key: &LookupKey) -> Vec<UnsettledLevel> {
        self.cache
            .unread_options
            .borrow()
            .iter()
            .filter(|level| match &level.layer {
                Layer::Module(module) => key.module_name() == Some(&**module),
                Layer::Global | Layer::Environment => true,
            })
            .cloned()
            .collect()
    }
}

/// Returns the options among the lookups in progress.
pub(super) fn options_frame() -> LookupFrame {
    LookupFrame { text: LOOKUP_OPTIONS.into(), asked_by: None }
}
