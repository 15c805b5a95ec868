//! The choice of the config of an environment: the reason for it, the configs that it was preferred
//! to, and the line of settings that would choose one of them.

use std::collections::BTreeMap;

use crate::hiera::config::Layer;
use crate::text::FilePath;
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::is_named;
use crate::workspace::snapshot::Snapshot;

/// The reason for which a config governs an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenAs {
    /// The setting `hieraConfig` names the config.
    Named,
    /// The setting `globalHieraConfig` names the config, and the environment has none of its own.
    Global,
    /// The config lies in the folder of the environment.
    Usual,
    /// No config lies in the folder of the environment, and no config but the chosen one reads
    /// data.
    Only,
    /// No config lies in the folder of the environment, and all configs but the chosen one belong
    /// to tests or examples.
    NoSample,
    /// No config lies in the folder of the environment, and no config but the chosen one reads as
    /// many data files.
    ReadsMost,
    /// There is no config for the environment's own layer.
    Nothing,
}

impl ChosenAs {
    /// Returns the reason in words, as the continuation of `because`.
    pub fn phrase(self) -> &'static str {
        match self {
            ChosenAs::Named => "the setting hieraConfig names it",
            ChosenAs::Global => "the setting globalHieraConfig names it",
            ChosenAs::Usual => "it lies in the folder of the environment",
            ChosenAs::Only => "it is the only config here that reads data",
            ChosenAs::NoSample => "the other configs belong to tests or examples",
            ChosenAs::ReadsMost => "it reads more data files than the other configs",
            ChosenAs::Nothing => "no config was found for it",
        }
    }
}

/// A config that could govern an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherChoice {
    /// The config.
    pub path: FilePath,
    /// The value of the setting `hieraConfig` that chooses the config, in the settings file of the
    /// opened folder; `None` where the config lies in no opened folder.
    pub hiera_config: Option<String>,
    /// The number of existing files that the environment governs and that this config reads, too.
    pub shared: usize,
    /// The number of existing files that the config reads and no environment does.
    pub own: usize,
    /// Whether the config belongs to tests or examples.
    pub is_sample: bool,
}

impl Snapshot {
    /// Returns the reason for which the governing config of an environment was chosen.
    pub fn chosen_as(&self, environment: &Environment) -> ChosenAs {
        let Some(config) = environment.governing_config() else { return ChosenAs::Nothing };
        let is_usual = config.path.parent().as_ref() == Some(&environment.root)
            && config.path.name() == crate::workspace::config::HIERA_CONFIG;
        let others = self.other_choices(environment);
        let reading: Vec<&OtherChoice> =
            others.iter().filter(|other| other.shared + other.own > 0).collect();
        if self.config.has_named_config() && is_named(&self.config, &config.path) {
            ChosenAs::Named
        } else if self.config.global_hiera_config.as_ref() == Some(&config.path) {
            ChosenAs::Global
        } else if is_usual {
            ChosenAs::Usual
        } else if reading.is_empty() {
            ChosenAs::Only
        } else if reading.iter().all(|other| other.is_sample) {
            ChosenAs::NoSample
        } else {
            ChosenAs::ReadsMost
        }
    }

    /// Returns the other configs that could govern an environment, in the order of their paths:
    /// those that read its data, and those below its folder that govern nothing.
    pub fn other_choices(&self, environment: &Environment) -> Vec<OtherChoice> {
        let choice = |path: &FilePath, shared: usize, own: usize, is_sample: bool| OtherChoice {
            path: path.clone(),
            hiera_config: self.hiera_config_setting(path),
            shared,
            own,
            is_sample,
        };
        let governing = environment.governing_config().map(|config| &config.path);
        let mut found = BTreeMap::new();
        for other in &environment.others {
            let (shared, own) = (other.shared.len(), other.own.len());
            let one = choice(&other.config.path, shared, own, other.is_sample);
            found.insert(other.config.path.clone(), one);
        }
        let below =
            self.environments.candidates.iter().filter(|it| it.path.is_within(&environment.root));
        for unused in below {
            let entry = found.entry(unused.path.clone());
            entry.or_insert_with(|| choice(&unused.path, 0, unused.files.len(), unused.is_sample));
        }
        found.into_values().filter(|one| Some(&one.path) != governing).collect()
    }

    /// Returns the value of the setting `hieraConfig` that chooses a config: its path below the
    /// opened folder. `None` where it lies in no opened folder.
    pub fn hiera_config_setting(&self, config: &FilePath) -> Option<String> {
        let holding = self.folders.iter().filter(|folder| config.is_within(folder));
        let folder = holding.max_by_key(|folder| folder.as_str().len())?;
        config.relative_to(folder).map(str::to_owned)
    }

    /// Returns the path as people read it: below the opened folder that holds it, or absolute.
    pub fn shown_path<'p>(&self, path: &'p FilePath) -> &'p str {
        let holding = self.folders.iter().filter(|folder| path.is_within(folder));
        let folder = holding.max_by_key(|folder| folder.as_str().len());
        let below = folder.and_then(|folder| path.relative_to(folder));
        below.filter(|below| !below.is_empty()).unwrap_or(path.as_str())
    }

    /// Returns the number of existing data files that a level's locations can name.
    pub fn level_file_count(&self, environment: &Environment, layer: &Layer, level: &str) -> usize {
        let reaches: Vec<_> = environment
            .reach
            .iter()
            .filter(|reach| reach.layer == *layer && *reach.level.name == *level)
            .collect();
        self.files()
            .filter(|file| {
                reaches.iter().any(|reach| reach.pattern.bind(file.path.as_str()).is_some())
            })
            .count()
    }
}
