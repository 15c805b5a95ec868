//! Assembled `lookup_options`, kept for all scopes that read them from the same files.
//!
//! Limit: only for lookups that pass over problems of files, call no function and decrypt nothing;
//! and not for options with tokens.

use std::sync::{PoisonError, RwLock};

use foldhash::HashMap;

use super::location::is_among;
use super::{Invocation, LOOKUP_OPTIONS, Options, OptionsOf, Resolver};
use crate::hiera::config::Layer;
use crate::hiera::hierarchy::located::LevelTarget;
use crate::text::FilePath;

/// Assembled options of one environment by the files that they come from, for several threads. They
/// are of one state of the data.
#[derive(Debug, Default)]
pub struct SharedOptions {
    by_files: RwLock<HashMap<OptionsFiles, Options>>,
}

/// The files with `lookup_options` that a lookup reads, in order, each with its layer.
pub(super) type OptionsFiles = Vec<(Layer, FilePath)>;

/// How many lists of files have options at a time. Where there are more, all are dropped.
const MAX_LISTS: usize = 4096;

impl SharedOptions {
    pub(super) fn get(&self, files: &OptionsFiles) -> Option<Options> {
        self.by_files.read().unwrap_or_else(PoisonError::into_inner).get(files).cloned()
    }

    pub(super) fn insert(&self, files: OptionsFiles, options: Options) {
        let mut by_files = self.by_files.write().unwrap_or_else(PoisonError::into_inner);
        if by_files.len() >= MAX_LISTS {
            by_files.clear();
        }
        by_files.insert(files, options);
    }
}

impl Resolver<'_> {
    /// Returns the files that the options come from; `None` where the files do not decide them.
    pub(super) fn files_with_options(
        &self,
        inv: &Invocation,
        wanted: &OptionsOf,
    ) -> Option<OptionsFiles> {
        let is_plain = self.ctx.tolerant
            && self.ctx.backends.is_none()
            && self.ctx.decryptor.is_none()
            && inv.explainer.is_none()
            && inv.stack.iter().all(|frame| &*frame.text != LOOKUP_OPTIONS);
        if !is_plain {
            return None;
        }
        let mut layers = vec![Layer::Global];
        if !wanted.global_only {
            layers.push(Layer::Environment);
            layers.extend(wanted.module.clone().map(Layer::Module));
        }
        let sources = self.ctx.sources;
        let defining = sources.files_defining(LOOKUP_OPTIONS);
        let mut files = OptionsFiles::new();
        for layer in layers {
            let located = self.cached_levels(&layer);
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
        }
        Some(files)
    }
}
