//! The files that a key can move to: those that a node reads together with the key's file.

use std::collections::HashMap;
use std::sync::Arc;

use super::{DocumentEntry, RefactorContext, secrets};
use crate::hiera::config::{HieraConfig, Layer, Level, Locations, Template};
use crate::hiera::data::DataFormat;
use crate::hiera::hierarchy::locate_levels;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLevel, Location};
use crate::hiera::pattern::PatternMatch;
use crate::hiera::scope::{Scope, Variable};
use crate::text::FilePath;
use crate::workspace::environments::Reach;
use crate::workspace::index::key_prefix;

/// The most other keys of a key's class or prefix whose files are searched.
const MAX_SIBLINGS: usize = 1_000;

/// A file that some level reads.
#[derive(Clone)]
pub(super) struct MoveTarget {
    /// The path of the file.
    pub(super) path: FilePath,
    /// Whether the file is there.
    pub(super) exists: bool,
    /// The level.
    pub(super) level: Arc<Level>,
    /// The location of the level that names the file, as written.
    template: Option<Template>,
    /// Whether every node reads the file.
    pub(super) is_for_all: bool,
}

/// The files with other keys of a key's class or prefix, each with their number.
pub(super) type SiblingFiles = HashMap<FilePath, usize>;

impl RefactorContext<'_> {
    /// Returns the config and the layer that read this file.
    fn reading_config(&self) -> Option<(Layer, &Arc<HieraConfig>)> {
        let layer = self.environment.layer_of(self.wanted.path)?;
        self.environment.all_configs().find(|(one, _)| one == layer)
    }

    /// Returns the other files of YAML that the scope of this file reads in its layer, in the order
    /// of the levels. Those that would be created are among them where that is possible.
    pub(super) fn located_targets(&self) -> Vec<MoveTarget> {
        let Some((_, config)) = self.reading_config() else { return Vec::new() };
        let scope = self.snapshot.scope_for(self.environment, self.wanted.path);
        let mut targets: Vec<MoveTarget> = Vec::new();
        for level in self.located_levels(config, &config.hierarchy, &scope) {
            for location in level.locations.iter() {
                let target = self.target_of(&level.level, location, &scope);
                targets.extend(target.filter(|one| !targets.iter().any(|it| it.path == one.path)));
            }
        }
        targets
    }

    /// Returns levels of a config with their locations in a scope; none where a token of theirs is
    /// an error.
    pub(super) fn located_levels(
        &self,
        config: &HieraConfig,
        levels: &[Arc<Level>],
        scope: &Scope,
    ) -> Vec<LocatedLevel> {
        let view = self.snapshot.view(self.environment);
        locate_levels(config, levels, scope, &view, None).unwrap_or_default()
    }

    /// Returns the file of a location that a level has in a scope as a target; `None` for a file that
    /// is not there and cannot be created, and where [`RefactorContext::target`] is `None`.
    pub(super) fn target_of(
        &self,
        level: &Arc<Level>,
        location: &Location,
        scope: &Scope,
    ) -> Option<MoveTarget> {
        let LevelTarget::File { path, exists } = &location.place else { return None };
        let template = location.template.clone();
        let is_new = || {
            self.wanted.creates_files
                && self.wanted.is_by_user
                && matches!(level.locations, Locations::Paths(_))
                && template.as_ref().is_some_and(|it| self.has_values(level, it, scope))
        };
        if *exists || is_new() { self.target(path, *exists, level, template) } else { None }
    }

    /// Whether the level of a target stands above those that read this file.
    pub(super) fn is_above(&self, target: &MoveTarget) -> bool {
        let Some((_, config)) = self.reading_config() else { return false };
        let rank = |level: &Level| config.hierarchy.iter().position(|it| it.name == level.name);
        let own = self.environment.path_matches(self.wanted.path);
        let own = own.filter_map(|(reach, _)| rank(&reach.level)).min();
        own.is_some_and(|own| rank(&target.level).is_some_and(|rank| rank < own))
    }

    /// Whether each variable of a location has a value that is not empty.
    fn has_values(&self, level: &Level, template: &Template, scope: &Scope) -> bool {
        let reach =
            self.environment.reach.iter().find(|reach| {
                reach.level.name == level.name && reach.template.text == template.text
            });
        reach.is_some_and(|reach| {
            reach.pattern.variables().iter().all(|name| {
                match scope.get_path(name.trim_start_matches(':')) {
                    Variable::Known(value) => !value.to_text().is_empty(),
                    Variable::Undefined | Variable::Unknown => false,
                }
            })
        })
    }

    /// Returns an existing file as a target by the location that names it most literally; `None` for
    /// one that no node reads together with this file.
    fn target_at(&self, path: &FilePath) -> Option<MoveTarget> {
        let matches = self.environment.path_matches(path);
        let reach = matches.map(|(reach, _): (&Reach, PatternMatch)| reach);
        let reach = reach.max_by_key(|reach| reach.pattern.literal_len())?;
        if self.environment.layer_of(self.wanted.path) != Some(&reach.layer) {
            return None;
        }
        let target = self.target(path, true, &reach.level, Some(reach.template.clone()))?;
        (target.is_for_all || self.is_read_together(path)).then_some(target)
    }

    /// Returns the target of a file; `None` for this file, and for one that must not change or whose
    /// level reads no YAML.
    fn target(
        &self,
        path: &FilePath,
        exists: bool,
        level: &Arc<Level>,
        template: Option<Template>,
    ) -> Option<MoveTarget> {
        let is_yaml = level.backend.data_reader().is_some_and(|it| it.format == DataFormat::Yaml);
        if !is_yaml
            || *path == *self.wanted.path
            || self.snapshot.is_third_party(self.environment, path)
            || !self.snapshot.may_change(path)
        {
            return None;
        }
        let is_for_all = !template.as_ref().is_some_and(|template| template.text.contains("%{"))
            && !level.datadir.text.contains("%{")
            && matches!(level.locations, Locations::Paths(_));
        Some(MoveTarget { path: path.clone(), exists, level: level.clone(), template, is_for_all })
    }

    /// Whether a node may read a file and this one: a known one, or any where none is known.
    fn is_read_together(&self, path: &FilePath) -> bool {
        let Self { snapshot, environment, wanted, .. } = self;
        if snapshot.scope_reading(environment, &[wanted.path, path]).is_none() {
            return false;
        }
        let readers = snapshot.readers_of(environment, path);
        let own = snapshot.readers_of(environment, wanted.path);
        snapshot.nodes_of(environment).is_empty()
            || readers.all_nodes().any(|(node, _)| own.all_nodes().any(|(one, _)| one == node))
    }

    /// Returns the files that define other keys of the class or the prefix of a key.
    pub(super) fn sibling_files(&self, key: &str) -> SiblingFiles {
        let mut files = SiblingFiles::new();
        let Some(prefix) = key_prefix(key) else { return files };
        let index = self.snapshot.keys();
        let siblings = index.keys_with_prefix(prefix).filter(|name| &***name != key);
        for name in siblings.take(MAX_SIBLINGS) {
            for path in index.definitions(name) {
                *files.entry(path.clone()).or_default() += 1;
            }
        }
        files
    }

    /// Returns the best target of each location of a level for a key, in the order of the levels:
    /// files with other keys of its class or prefix before others. Of a glob, and of a location
    /// whose file unknown variables decide, only such files count.
    pub(super) fn best_targets(
        &self,
        entry: &DocumentEntry,
        siblings: &SiblingFiles,
    ) -> Vec<MoveTarget> {
        let mut files: Vec<&FilePath> = siblings.keys().collect();
        files.sort_unstable();
        let more = files.into_iter().filter_map(|path| self.target_at(path));
        let located = self.located_targets();
        let located = located.into_iter().filter(|it| {
            matches!(it.level.locations, Locations::Paths(_)) || siblings.contains_key(&it.path)
        });
        let mut best: Vec<MoveTarget> = Vec::new();
        let text = self.document.text_of(entry);
        for target in located
            .chain(more)
            .filter(|target| self.can_take(target, &entry.name, (self.wanted.path, &text)))
        {
            let count =
                |target: &MoveTarget| siblings.get(&target.path).copied().unwrap_or_default();
            match best.iter_mut().find(|other| other.is_of_location(&target)) {
                Some(known) if count(known) < count(&target) => *known = target,
                Some(_) => {}
                None => best.push(target),
            }
        }
        best
    }

    /// Whether a file can take an entry with this text, which stands in the file at `from`: it has no
    /// such key, reads encrypted text likewise, and does not mix plain text with secrets.
    pub(super) fn can_take(
        &self,
        target: &MoveTarget,
        key: &str,
        (from, text): (&FilePath, &str),
    ) -> bool {
        let view = self.snapshot.view(self.environment);
        let data = view.data_of(&target.path);
        if data.is_some_and(|data| data.get(key).is_some()) {
            return false;
        }
        if secrets::is_encrypted(text) {
            self.is_read_alike(target, from)
        } else {
            self.is_as_open(target, from)
        }
    }

    /// Whether a level decrypts as those do that read the file at `from`.
    fn is_read_alike(&self, target: &MoveTarget, from: &FilePath) -> bool {
        self.environment.path_matches(from).all(|(reach, _)| {
            reach.level.backend == target.level.backend
                && reach.level.options == target.level.options
        })
    }

    /// Whether plain text of the file at `from` may stand in a target: either both are for secrets, or
    /// neither is.
    fn is_as_open(&self, target: &MoveTarget, from: &FilePath) -> bool {
        let own = self.environment.path_matches(from).map(|(reach, _)| &reach.level);
        let own: Vec<&Arc<Level>> = own.collect();
        let own_decrypts = own.iter().any(|level| decrypts_values(level));
        let own_is_named = own.iter().any(|level| self.is_named_secret(from, level));
        own_is_named == self.is_named_secret(&target.path, &target.level)
            && (own_decrypts
                || !decrypts_values(&target.level) && !self.has_ciphertext(&target.path))
    }

    fn has_ciphertext(&self, path: &FilePath) -> bool {
        let text = self.snapshot.file(path).and_then(|file| file.text());
        text.is_some_and(|text| secrets::is_encrypted(&text.to_str()))
    }

    fn is_named_secret(&self, path: &FilePath, level: &Level) -> bool {
        secrets::names_secrets(self.short_path(path)) || secrets::names_secrets(&level.name)
    }
}

fn decrypts_values(level: &Level) -> bool {
    level.backend.data_reader().is_some_and(|reader| reader.decrypts)
}

impl MoveTarget {
    /// Whether both are named by one location of one level.
    fn is_of_location(&self, other: &MoveTarget) -> bool {
        self.level.name == other.level.name && template_text(self) == template_text(other)
    }
}

fn template_text(target: &MoveTarget) -> Option<Arc<str>> {
    target.template.as_ref().map(|it| it.text.clone())
}
