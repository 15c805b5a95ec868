//! The configs that govern the data of a workspace, with all that was assumed: the page behind
//! `hiera-ls config` and the status of an editor.
//!
//! It states names, paths and counts, never a value.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::phrases::{level_title, not_evaluated};
use crate::hiera::config::{HieraConfig, Layer, Level};
use crate::text::{FilePath, count_phrase};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::environments::overview::Overview;
use crate::workspace::environments::overview::choice::{ChosenAs, OtherChoice};
use crate::workspace::files::kinds::SETTINGS_FILE;

/// The config of an environment, and its circumstances.
#[derive(Clone, Debug)]
pub struct GoverningConfig {
    /// The folder of the environment.
    pub root: FilePath,
    /// The name of the environment.
    pub environment: String,
    /// The config of the environment's own layer, or of the global layer where the own layer has
    /// none.
    pub config: Option<FilePath>,
    /// The reason for the choice.
    pub chosen_as: ChosenAs,
    /// The number of data files that the environment's levels read.
    pub data_files: usize,
    /// The other configs that could govern the environment.
    pub others: Vec<OtherChoice>,
    /// The levels of the global and the environment's own layer.
    pub levels: Vec<LevelSummary>,
    /// The datadirs that are read at another place than the config states.
    pub datadirs: Vec<DatadirPlace>,
    /// The assumptions, in words.
    pub assumed: Vec<String>,
    /// The number of the environment's modules, and of those among them with a config of their own.
    pub modules: (usize, usize),
    /// The known nodes, in words.
    pub nodes: String,
    /// The plugins of inventories in the environment's folder whose values are unknown, with their
    /// files.
    pub unread_plugins: Vec<(FilePath, String)>,
}

/// A level in few words.
#[derive(Clone, Debug)]
pub struct LevelSummary {
    /// The name of the level, with the layer where that is not the environment's.
    pub name: String,
    /// The function that reads the level.
    pub function: String,
    /// The number of existing files that the level's locations can name.
    pub files: usize,
    /// The locations of the level, as written.
    pub locations: Vec<String>,
    /// The reason why the level's data is not read; `None` where hiera-ls reads it.
    pub unread: Option<String>,
    /// The value of the setting `backends` that probably describes the files of the level's
    /// function, as one line of YAML; `None` where no file looks like one of them.
    pub described_by: Option<String>,
}

/// A datadir that is read at another place than its config states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatadirPlace {
    /// The datadir as written.
    pub written: String,
    /// The folder that is read.
    pub found: FilePath,
    /// Whether the setting `pathMappings` states the place; otherwise the folder was found by the
    /// end of its path.
    pub is_mapped: bool,
}

/// Returns the governing config of each environment.
pub fn governing_configs(snapshot: &Snapshot) -> Vec<GoverningConfig> {
    snapshot.environments().all.iter().map(|one| governing_config(snapshot, one)).collect()
}

/// Returns the page about all governing configs, as `hiera-ls config` prints it.
pub fn governing_page(snapshot: &Snapshot) -> String {
    let pages: Vec<String> =
        governing_configs(snapshot).iter().map(|one| one.page(snapshot)).collect();
    pages.join("\n")
}

fn governing_config(snapshot: &Snapshot, environment: &Environment) -> GoverningConfig {
    let overview = Overview::from_environment(snapshot, environment);
    let own = environment.all_configs().filter(|(layer, _)| !matches!(layer, Layer::Module(_)));
    let own: Vec<(Layer, &HieraConfig)> = own.map(|(layer, config)| (layer, &**config)).collect();
    let levels = own.iter().flat_map(|(layer, config)| {
        config.hierarchy.iter().map(|level| level_summary(snapshot, environment, layer, level))
    });
    let with_config = environment.modules.values().filter(|module| module.config.is_some()).count();
    GoverningConfig {
        root: environment.root.clone(),
        environment: environment.name.clone(),
        config: environment.governing_config().map(|config| config.path.clone()),
        chosen_as: snapshot.chosen_as(environment),
        data_files: overview.data_files,
        others: snapshot.other_choices(environment),
        levels: levels.collect(),
        datadirs: datadir_places(snapshot, environment, &own),
        nodes: overview.nodes_phrase(),
        assumed: overview.assumed,
        modules: (environment.modules.len(), with_config),
        unread_plugins: snapshot
            .unread_plugins()
            .filter(|(path, _)| path.is_within(&environment.root))
            .map(|(path, plugin)| (path.clone(), plugin.to_owned()))
            .collect(),
    }
}

fn level_summary(
    snapshot: &Snapshot,
    environment: &Environment,
    layer: &Layer,
    level: &Level,
) -> LevelSummary {
    let backend = &level.backend;
    let is_read = backend.data_reader().is_some();
    LevelSummary {
        name: level_title(layer, &level.name),
        function: backend.name.to_string(),
        files: snapshot.level_file_count(environment, layer, &level.name),
        locations: level.locations.templates().iter().map(|one| one.text.to_string()).collect(),
        unread: (!is_read).then(|| not_evaluated(backend, &backend.name)),
        described_by: if is_read { None } else { description_of(snapshot, environment, level) },
    }
}

/// Returns the description of the function of a level that fits the files which the function
/// probably reads: files named after the level's path, and files in a folder named after it.
fn description_of(snapshot: &Snapshot, environment: &Environment, level: &Level) -> Option<String> {
    let mut files = BTreeSet::new();
    for file in snapshot.files() {
        let path = &file.path;
        let Some(reach) = environment.probable_function(path) else { continue };
        let extension = path.extension().filter(|it| matches!(*it, "yaml" | "yml" | "json"));
        let Some(extension) = extension.filter(|_| reach.level.name == level.name) else {
            continue;
        };
        let folder = path.ancestors().find(|folder| reach.pattern.bind(folder.as_str()).is_some());
        let form = match folder.as_ref().and_then(|folder| path.relative_to(folder)) {
            None => "%{path}",
            Some(below) if below.contains('/') => "%{path}/%{class}",
            Some(_) => "%{path}/%{namespace}",
        };
        files.insert(format!("'{form}.{extension}'"));
    }
    let files: Vec<String> = files.into_iter().collect();
    let function = &level.backend.name;
    (!files.is_empty())
        .then(|| format!("backends: {{'{function}': {{files: [{}]}}}}", files.join(", ")))
}

/// Returns the datadirs of these configs that are read elsewhere, each once.
fn datadir_places(
    snapshot: &Snapshot,
    environment: &Environment,
    configs: &[(Layer, &HieraConfig)],
) -> Vec<DatadirPlace> {
    let mut places: Vec<DatadirPlace> = Vec::new();
    for (config, level) in
        configs.iter().flat_map(|(_, config)| config.hierarchy.iter().map(move |it| (config, it)))
    {
        let (written, placed) = (&*level.datadir.text, config.mapped_datadir(level));
        if written == placed || places.iter().any(|place| place.written == *written) {
            continue;
        }
        let mappings = &snapshot.config_of(environment).path_mappings;
        places.push(DatadirPlace {
            written: written.to_owned(),
            found: config.base_folder().join(placed),
            is_mapped: mappings.maps_datadir(written),
        });
    }
    places
}

impl GoverningConfig {
    /// Returns the page for people, with paths below the opened folders.
    pub fn page(&self, snapshot: &Snapshot) -> String {
        let mut out = String::new();
        let shown = |path: &FilePath| snapshot.shown_path(path).to_owned();
        let folder = if snapshot.folders().contains(&self.root) {
            "this folder".to_owned()
        } else {
            shown(&self.root)
        };
        let files = count_phrase(self.data_files, "data file");
        let _ = match self.config.as_ref().map(shown) {
            Some(config) => writeln!(out, "{config} governs {files} of {folder}"),
            None => writeln!(out, "no hiera.yaml governs {folder}; its modules read {files}"),
        };
        let _ = writeln!(out, "  because {}", self.chosen_as.phrase());
        let _ = writeln!(out, "  environment: {}", self.environment);
        self.write_others(&mut out, &shown);
        self.write_levels(&mut out);
        if !self.datadirs.is_empty() {
            out.push_str("  datadirs that are elsewhere:\n");
        }
        for place in &self.datadirs {
            let how = if place.is_mapped {
                "by pathMappings"
            } else {
                "found by the end of its path; pathMappings states another place"
            };
            let _ = writeln!(out, "    {} is {} ({how})", place.written, shown(&place.found));
        }
        if !self.assumed.is_empty() {
            let _ = writeln!(out, "  assumed: {}", self.assumed.join(", "));
        }
        let (modules, with_config) = self.modules;
        if modules > 0 {
            let modules = count_phrase(modules, "module");
            let _ = writeln!(out, "  {modules}, {with_config} with a hiera.yaml of their own");
        }
        let _ = writeln!(out, "  {}", self.nodes);
        for (path, plugin) in &self.unread_plugins {
            let path = shown(path);
            let _ = writeln!(out, "    {path}: the values of the plugin {plugin} are unknown");
        }
        out
    }

    fn write_others(&self, out: &mut String, shown: &dyn Fn(&FilePath) -> String) {
        if !self.others.is_empty() {
            out.push_str("  other configs:\n");
        }
        for other in &self.others {
            let mut facts = vec![match (other.shared, other.own) {
                (0, 0) => "reads no file that is here".to_owned(),
                (0, own) => format!("reads {} that nothing else reads", count_phrase(own, "file")),
                (shared, 0) => format!("reads {} of these files", shared),
                (shared, own) => format!("reads {shared} of these files, and {own} more"),
            }];
            if other.is_sample {
                facts.push("belongs to tests or examples".to_owned());
            }
            let _ = writeln!(out, "    {}: {}", shown(&other.path), facts.join(", "));
            if let Some(setting) = &other.hiera_config {
                let _ =
                    writeln!(out, "      `hieraConfig: {setting}` in {SETTINGS_FILE} chooses it");
            }
        }
    }

    fn write_levels(&self, out: &mut String) {
        let names = text_width(&mut self.levels.iter().map(|level| &level.name));
        let functions = text_width(&mut self.levels.iter().map(|level| &level.function));
        let abouts: Vec<String> = self.levels.iter().map(files_phrase).collect();
        let read = self.levels.iter().zip(&abouts).filter(|(level, _)| level.unread.is_none());
        let counts = text_width(&mut read.map(|(_, about)| about));
        if !self.levels.is_empty() {
            out.push_str("  levels:\n");
        }
        for (level, about) in self.levels.iter().zip(&abouts) {
            let LevelSummary { name, function, locations, described_by, .. } = level;
            let mut listed: Vec<&str> = locations.iter().take(3).map(String::as_str).collect();
            if locations.len() > 3 {
                listed.push("…");
            }
            let listed = listed.join(", ");
            let line =
                format!("    {name:names$}  {function:functions$}  {about:counts$}  {listed}");
            let _ = writeln!(out, "{}", line.trim_end());
            if let Some(setting) = described_by {
                let _ = writeln!(
                    out,
                    "      `{setting}` in {SETTINGS_FILE} describes it, if these are its files"
                );
            }
        }
    }
}

fn text_width(texts: &mut dyn Iterator<Item = &String>) -> usize {
    texts.map(|text| text.chars().count()).filter(|width| *width <= 40).max().unwrap_or(0)
}

/// Returns the number of files of a level, or the reason why hiera-ls does not read it.
fn files_phrase(level: &LevelSummary) -> String {
    match (&level.unread, level.files) {
        (Some(reason), 0) => reason.clone(),
        (Some(reason), files) => format!("{reason}; {} there", count_phrase(files, "file")),
        (None, 0) => "no file here".to_owned(),
        (None, files) => count_phrase(files, "file"),
    }
}
