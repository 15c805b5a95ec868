//! The locations below the one that answered, which a lookup leaves out.

use super::location::is_among;
use super::{Invocation, Resolver, layers_of};
use crate::hiera::hierarchy::located::LevelTarget;
use crate::hiera::key::LookupKey;
use crate::hiera::resolution::{LookupStep, Outcome};

impl Resolver<'_> {
    /// Adds the locations below the one that answered to the steps.
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
