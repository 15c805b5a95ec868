//! The places of datadirs: a `hiera.yaml` names folders of the server, and the repository holds
//! them elsewhere.

use crate::hiera::config::{ConfigVersion, HieraConfig};
use crate::hiera::hierarchy::pattern_of;
use crate::text::FilePath;
use crate::workspace::files::mapping::PathMappings;
use crate::workspace::files::names::DiskNames;

/// A datadir that does not exist at its config's path, and was found elsewhere in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelocatedDatadir {
    /// The config.
    pub config: FilePath,
    /// The datadir as written.
    pub written: String,
    /// The path at which the datadir was found; tokens are as written.
    pub found: FilePath,
}

/// Places the datadirs of one config.
pub(super) struct DatadirPlacer<'a> {
    pub(super) names: &'a DiskNames,
    /// Whether a folder exists that `names` does not list.
    pub(super) is_on_disk: &'a dyn Fn(&FilePath) -> bool,
    pub(super) mappings: &'a PathMappings,
    /// The environment's folder.
    pub(super) root: &'a FilePath,
    /// The folder above which no datadir is sought.
    pub(super) ceiling: &'a FilePath,
    /// Whether the config belongs to tests or examples, which run where they are.
    pub(super) is_sample: bool,
}

impl DatadirPlacer<'_> {
    /// Has the levels of the config read where the path mappings put their datadirs. One that is
    /// not mapped and does not exist is sought by its suffixes, the longest first, in the folders
    /// from the config's upwards; it must hold a file that one of its levels can name.
    pub(super) fn place_datadirs(&self, config: &mut HieraConfig) -> Vec<RelocatedDatadir> {
        let mut sought = Vec::new();
        let plain = config.clone();
        config.place_datadirs(|written| {
            let placed = self.mappings.map(written, Some(self.root), &|path| self.exists(path));
            let is_decided =
                self.mappings.maps_datadir(written) || !self.may_be_elsewhere(&plain, written);
            if is_decided || self.exists(&literal_folder(&plain, &placed)) {
                return placed;
            }
            let Some(found) = self.seek(&plain, written) else { return placed };
            sought.push(RelocatedDatadir {
                config: plain.path.clone(),
                written: written.to_owned(),
                found: FilePath::new(&found),
            });
            found
        });
        sought
    }

    fn exists(&self, path: &FilePath) -> bool {
        self.names.exists(path) || (self.is_on_disk)(path)
    }

    /// Whether the datadir as written can be that of another place: it is absolute, or the config
    /// is to be deployed to another folder. A relative datadir in an environment's own config
    /// holds, unless it leads through the folder of all environments. Where no file holds the config,
    /// there is nothing to deploy.
    fn may_be_elsewhere(&self, config: &HieraConfig, written: &str) -> bool {
        let is_deployed = config.file.is_some()
            && (config.version == ConfigVersion::V3
                || config.base_folder() != *self.root && !self.is_sample);
        let names_environment =
            written.split('/').any(|part| part == "environments" || part.contains("environment}"));
        written.starts_with('/') || is_deployed || names_environment
    }

    fn seek(&self, config: &HieraConfig, written: &str) -> Option<String> {
        let parts: Vec<&str> =
            written.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let above = std::iter::successors(Some(config.base_folder()), FilePath::parent);
        let folders: Vec<FilePath> =
            above.take_while(|folder| folder.is_within(self.ceiling)).collect();
        for first in 0..parts.len() {
            let suffix = &parts[first..];
            // A suffix of tokens alone names any folder.
            if suffix.iter().all(|part| part.starts_with("%{")) {
                continue;
            }
            let suffix = suffix.join("/");
            for folder in &folders {
                let there = format!("{}/{suffix}", folder.as_str().trim_end_matches('/'));
                if self.holds_files(config, written, &there) {
                    return Some(there);
                }
            }
        }
        None
    }

    /// Whether a level with the datadir `written` can name a file if that lies `there`.
    fn holds_files(&self, config: &HieraConfig, written: &str, there: &str) -> bool {
        if !self.names.exists(&literal_folder(config, there)) {
            return false;
        }
        let mut config = config.clone();
        config
            .place_datadirs(|datadir| if datadir == written { there } else { datadir }.to_owned());
        let levels = config.levels().filter(|level| &*level.datadir.text == written);
        levels.flat_map(|level| level.locations.templates().iter().map(move |it| (level, it))).any(
            |(level, template)| {
                let pattern = pattern_of(&config, level, template);
                pattern.is_some_and(|pattern| self.names.matching_files(&pattern).next().is_some())
            },
        )
    }
}

/// Returns the folder that a datadir starts with, up to the first token.
fn literal_folder(config: &HieraConfig, datadir: &str) -> FilePath {
    let literal = match datadir.find("%{") {
        Some(token) => datadir[..token].rsplit_once('/').map_or("", |(folder, _)| folder),
        None => datadir,
    };
    config.base_folder().join(if literal.is_empty() && datadir.starts_with('/') {
        "/"
    } else {
        literal
    })
}
