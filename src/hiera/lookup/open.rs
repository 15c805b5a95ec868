//! The open questions of a resolution besides its value: locations that were not asked and may have
//! the key, and `lookup_options` that unknown variables may add.

use std::sync::Arc;

use super::location::has_key_from;
use super::{LOOKUP_OPTIONS, Resolver, layers_of};
use crate::hiera::config::{DataReader, Layer, Level};
use crate::hiera::hierarchy::located::CandidateFile;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLevel, Location};
use crate::hiera::lookup_options::{LookupOptions, OptionsEntry};
use crate::hiera::resolution::{MergeSource, Resolution, Unsettled};
use crate::text::{Budget, FilePath};

impl Resolver<'_> {
    /// Returns whether a location may have a root key, depending on unknown variables, an unknown
    /// backend or an unreadable file.
    pub(super) fn may_have(&self, located: &LocatedLevel, location: &Location, root: &str) -> bool {
        let reader = located.level.backend.data_reader();
        match &location.place {
            LevelTarget::File { exists: false, .. } | LevelTarget::NoMatch { .. } => false,
            LevelTarget::File { path, .. } => {
                reader.is_none_or(|reader| self.ctx.sources.file_data(path, reader).is_none())
            }
            LevelTarget::Uri(_) | LevelTarget::Nowhere => true,
            LevelTarget::Undetermined(undetermined) => match reader {
                None => {
                    undetermined.pattern.is_none()
                        || !undetermined.candidate_files(self.ctx.sources).is_empty()
                }
                Some(reader) => {
                    let candidates = undetermined.candidates_with(root, self.ctx.sources);
                    candidates.iter().any(|candidate| {
                        has_key_from(&located.level, &candidate.path, root)
                            && self.find_unsettled(candidate, root, reader).is_some()
                    })
                }
            },
        }
    }

    /// Returns the files whose `lookup_options` would choose another merge strategy for the key of
    /// a lookup, if unknown variables had the values that the file's path requires. Empty where the
    /// caller chose the strategy.
    pub fn options_left_open(&self, resolution: &Resolution) -> Vec<Unsettled> {
        let chosen = match &resolution.merge_source {
            MergeSource::Argument => return Vec::new(),
            MergeSource::Options(entry) => Some(entry),
            MergeSource::Default => None,
        };
        let root = resolution.key.root_text();
        let mut is_below = false;
        let mut found = Vec::new();
        for layer in layers_of(&resolution.key) {
            let located = self.cached_levels(&layer);
            let Ok(levels) = located.as_ref() else { continue };
            for level in levels.hierarchy.located.iter() {
                let Some(reader) = level.level.backend.data_reader() else { continue };
                for location in level.locations.iter() {
                    let undetermined = match &location.place {
                        LevelTarget::Undetermined(undetermined) => undetermined,
                        LevelTarget::File { path, exists: true } => {
                            is_below |= chosen.is_some_and(|chosen| {
                                self.entry_in(path, reader, &root)
                                    .is_some_and(|entry| entry.span == chosen.span)
                            });
                            continue;
                        }
                        _ => continue,
                    };
                    let candidates = undetermined.candidates_with(LOOKUP_OPTIONS, self.ctx.sources);
                    found.extend(candidates.iter().filter_map(|candidate| {
                        self.other_strategy((candidate, reader), (chosen, is_below), resolution)
                    }));
                }
            }
        }
        found
    }

    /// Returns the levels, by layer and name, whose backend cannot be evaluated and may hold
    /// `lookup_options` that choose another merge strategy for the key of a lookup. Empty where the
    /// caller chose the strategy.
    pub fn levels_that_may_hold_options(&self, resolution: &Resolution) -> Vec<(Layer, Arc<str>)> {
        let chosen = match &resolution.merge_source {
            MergeSource::Argument => return Vec::new(),
            MergeSource::Options(entry) => Some(entry),
            MergeSource::Default => None,
        };
        let root = resolution.key.root_text();
        let mut found = Vec::new();
        for layer in layers_of(&resolution.key) {
            let located = self.cached_levels(&layer);
            let Ok(levels) = located.as_ref() else { continue };
            for level in levels.hierarchy.located.iter() {
                let holds_chosen = |location: &Location| {
                    chosen.is_some_and(|chosen| self.has_entry(level, location, &root, chosen))
                };
                // No lower level replaces an entry for exactly this key.
                let is_certain = chosen.is_some_and(|chosen| !chosen.pattern);
                if is_certain && level.locations.iter().any(holds_chosen) {
                    return found;
                }
                if self.may_hold_options(level) {
                    found.push((layer.clone(), level.level.name.clone()));
                }
            }
        }
        found
    }

    /// Returns whether the backend of a level cannot be evaluated and may be asked for
    /// `lookup_options`.
    fn may_hold_options(&self, located: &LocatedLevel) -> bool {
        let Level { backend, .. } = &*located.level;
        let is_excluded = located.level.excludes_key(LOOKUP_OPTIONS)
            && !self.ctx.sources.has_function(&backend.name);
        backend.data_reader().is_none()
            && !is_excluded
            && located.locations.iter().any(|it| self.may_have(located, it, LOOKUP_OPTIONS))
    }

    /// Returns whether the file of a location holds this entry for a root key.
    fn has_entry(
        &self,
        located: &LocatedLevel,
        location: &Location,
        root: &str,
        chosen: &OptionsEntry,
    ) -> bool {
        let LevelTarget::File { path, exists: true } = &location.place else { return false };
        let entry =
            located.level.backend.data_reader().and_then(|it| self.entry_in(path, it, root));
        entry.is_some_and(|entry| entry.span == chosen.span)
    }

    /// Returns the candidate, if an entry in it would replace the chosen one (and whether it is in
    /// a lower location than that) with another strategy.
    fn other_strategy(
        &self,
        (candidate, reader): (&CandidateFile, DataReader),
        (chosen, is_below): (Option<&OptionsEntry>, bool),
        resolution: &Resolution,
    ) -> Option<Unsettled> {
        let root = resolution.key.root_text();
        let options = self.find_unsettled(candidate, LOOKUP_OPTIONS, reader)?;
        let entry = self.entry_in(&candidate.path, reader, &root)?;
        let replaces = match chosen {
            None => true,
            // A literal entry precedes patterns. The patterns of a lower file precede the patterns
            // of a higher file, as the entries of the lower file come first in the merged hash.
            Some(chosen) if is_below => chosen.pattern,
            Some(chosen) => chosen.pattern || !entry.pattern,
        };
        let strategy = entry.merge().ok().flatten().unwrap_or_default();
        (replaces && strategy != resolution.merge)
            .then(|| Unsettled { span: entry.span.or(options.span), ..options })
    }

    /// Returns the entry for a root key in the `lookup_options` of one file.
    fn entry_in(&self, path: &FilePath, reader: DataReader, root: &str) -> Option<OptionsEntry> {
        let data = self.ctx.sources.file_data(path, reader)?;
        let options = data.get(LOOKUP_OPTIONS)?.value.clone();
        LookupOptions::new(Some(options)).ok()?.find_entry(root, &Budget::of_request()).ok()?
    }
}
