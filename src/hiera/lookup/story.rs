//! The parts of a resolution beyond the lookup itself: the locations below the one that answered,
//! and the files and levels that could change the answer.

use super::location::is_among;
use super::{Invocation, LOOKUP_OPTIONS, Resolver, layers_of};
use crate::hiera::config::Layer;
use crate::hiera::eyaml::has_encrypted_text;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLevel, Location};
use crate::hiera::key::LookupKey;
use crate::hiera::resolution::{LookupStep, Outcome, Unevaluated, Unsettled, UnsettledLevel};
use crate::puppet::value::Value;

impl Invocation {
    /// Adds the outcome at a location to the steps, if these are of the key that was asked for.
    pub(super) fn record_step(
        &mut self,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        outcome: Outcome,
    ) {
        if let Some(steps) = &mut self.steps {
            steps.push(LookupStep {
                layer: layer.clone(),
                level: located.level.clone(),
                template: location.template.clone(),
                outcome,
            });
        }
    }
}

impl Invocation {
    /// Returns whether it counts for this root key that a level cannot be evaluated. Options that
    /// it may hold do not: every answer would be open.
    pub(super) fn notes_unsettled_levels(&self, root: &str) -> bool {
        (self.tells_story || self.notes_unsettled) && root != LOOKUP_OPTIONS
    }

    /// Notes that a level could not be evaluated for a root key.
    pub(super) fn cannot_evaluate(
        &mut self,
        layer: &Layer,
        located: &LocatedLevel,
        root: &str,
        reason: Unevaluated,
    ) {
        if !self.notes_unsettled_levels(root) {
            return;
        }
        self.is_unsettled = true;
        if !matches!(reason, Unevaluated::Encrypted(_)) {
            self.open_keys.insert(root.into());
        }
        if self.tells_story {
            self.unsettled_levels.push(UnsettledLevel {
                layer: layer.clone(),
                level: located.level.name.clone(),
                key: root.into(),
                reason,
            });
        }
    }
}

impl Resolver<'_> {
    /// Notes that the file of a level was asked for options and could not be read. An editor shows
    /// a finding at such a file instead.
    pub(super) fn note_unread_options(
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

impl Invocation {
    /// Returns whether a level that could not be evaluated may have a key that was not found.
    pub(super) fn leaves_open(&self, key: &str) -> bool {
        let Ok(key) = LookupKey::parse(key) else { return false };
        self.open_keys.contains(&*key.root_text())
    }
}

impl Resolver<'_> {
    /// Adds the locations below the one that answered, which the lookup leaves out.
    pub(super) fn add_unreached(
        &self,
        inv: &Invocation,
        key: &LookupKey,
        steps: &mut Vec<LookupStep>,
    ) {
        let located: Vec<_> =
            layers_of(key).into_iter().map(|layer| (self.cached_levels(&layer), layer)).collect();
        let root = key.root_text();
        let mut all = Vec::new();
        for (levels, layer) in &located {
            let Ok(levels) = &**levels else { return };
            let levels = levels.hierarchy.located.iter();
            all.extend(levels.flat_map(|level| {
                level.locations.iter().map(move |location| (layer, level, location))
            }));
        }
        let defining = self.files_defining(inv, &root);
        let unreached = all.into_iter().skip(steps.len()).map(|(layer, located, location)| {
            let path = match &location.place {
                LevelTarget::File { path, exists: true } => Some(path.clone()),
                _ => None,
            };
            let data = path
                .as_ref()
                .filter(|path| {
                    !location.is_indexed || defining.is_none_or(|defining| is_among(defining, path))
                })
                .zip(located.level.backend.data_reader())
                .and_then(|(path, reader)| Some((path, self.ctx.sources.file_data(path, reader)?)));
            let member = data.as_ref().and_then(|(path, data)| {
                self.find_member((path, data), layer, &located.level, &root).ok().flatten()
            });
            let shadowed = member.map(|member| (member.key_origin, member.value.clone()));
            let is_open = shadowed.is_none() && self.may_have(located, location, &root);
            let outcome = Outcome::NotReached { path, shadowed, is_open };
            LookupStep {
                layer: layer.clone(),
                level: located.level.clone(),
                template: location.template.clone(),
                outcome,
            }
        });
        steps.extend(unreached);
    }
}

/// Returns the levels that leave the answer open once all is known: of undetermined ones those
/// whose files are still among the `unsettled`, of encrypted ones those whose text is in the value.
pub(super) fn that_matter(
    levels: Vec<UnsettledLevel>,
    value: Option<&Value>,
    unsettled: &[Unsettled],
) -> Vec<UnsettledLevel> {
    let is_encrypted = value.is_some_and(has_encrypted_text);
    let mut kept: Vec<UnsettledLevel> = Vec::new();
    for mut level in levels {
        let matters = match &mut level.reason {
            Unevaluated::Undetermined { files, .. } => {
                files.retain(|path| {
                    unsettled.iter().any(|file| file.path == *path && file.key == level.key)
                });
                !files.is_empty()
            }
            Unevaluated::Encrypted(_) => is_encrypted,
            Unevaluated::Backend(_) | Unevaluated::Unread(..) => true,
        };
        if matters && !kept.contains(&level) {
            kept.push(level);
        }
    }
    kept
}

/// Each file once, as the most literal location names it, or with the least that must be so for it
/// to be seen; files that are seen anyway say nothing new.
///
/// A file in `common/` is one that `%{location}/…` can name, too, if only by accident, and
/// `web-Debian.yaml` one for a role `web-Debian`.
pub(super) fn without_repeats(unsettled: Vec<Unsettled>, steps: &[LookupStep]) -> Vec<Unsettled> {
    let is_seen = |file: &Unsettled| {
        steps.iter().any(|step| match &step.outcome {
            Outcome::Found { path, .. } | Outcome::NotReached { path: Some(path), .. } => {
                *path == file.path
            }
            _ => false,
        })
    };
    let rank = |file: &Unsettled| (std::cmp::Reverse(file.literal_len), file.when.len());
    let mut kept: Vec<Unsettled> = Vec::new();
    for file in unsettled.into_iter().filter(|file| !is_seen(file)) {
        match kept.iter_mut().find(|known| known.path == file.path && known.key == file.key) {
            Some(known) if rank(&file) < rank(known) => *known = file,
            Some(_) => {}
            None => kept.push(file),
        }
    }
    kept
}
