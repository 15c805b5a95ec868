//! The environments of a workspace: the files that each `hiera.yaml` governs, the modules, and the
//! paths that the levels can name.

pub(super) mod cache;
mod candidates;
pub(super) mod configs;
pub mod datadirs;
pub(super) mod discover;
mod discovery;
mod environment_conf;
pub mod overview;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use self::cache::{EnvironmentCache, Role};
use self::datadirs::RelocatedDatadir;
use self::overview::Overview;
use super::nodes::node::Node;
use crate::hiera::config::formats::{format_of_name, has_data_name};
use crate::hiera::config::{DataReader, HieraConfig, Layer, Level, Template};
use crate::hiera::data::DataFormat;
use crate::hiera::hierarchy::{datadir_start, folder_pattern_of, pattern_of};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::pattern::{Bindings, Pattern, PatternMatch};
use crate::hiera::scope::{PinnedFile, Scope};
use crate::puppet::Value;
use crate::text::FilePath;

/// The environments of a workspace.
#[derive(Debug, Default)]
pub struct Environments {
    /// The environments with a config at their usual place first, and of these those with the
    /// longest path, so that the nearest is found first. Others follow in the order of their rank.
    pub all: Vec<Arc<Environment>>,
    /// The configs that govern nothing, in the order of their rank.
    pub(super) candidates: Vec<UnusedConfig>,
    /// The nodes of all environments, each once, once they were asked for.
    pub(super) distinct_nodes: OnceLock<Vec<Arc<Node>>>,
    /// Each environment in few words, once the overviews were asked for.
    pub(super) overviews: OnceLock<Vec<Overview>>,
}

/// An environment: a folder, perhaps with a `hiera.yaml`, its modules, and the global layer above
/// it.
#[derive(Debug)]
pub struct Environment {
    /// The environment's folder.
    pub root: FilePath,
    /// The environment's name, as `%{environment}` gives it.
    pub name: String,
    /// The environment's `hiera.yaml`, or the config that Puppet takes in its place; `None` when
    /// the environment's layer has no data.
    pub config: Option<Arc<HieraConfig>>,
    /// The global layer's `hiera.yaml`, if the user has named one; Puppet's defaults where there is
    /// no such file.
    pub global: Option<Arc<HieraConfig>>,
    /// The modules on the environment's module path, by name.
    pub modules: BTreeMap<String, Module>,
    /// The modules on the environment's module path that Puppet passes over.
    pub refused: Vec<RefusedModule>,
    /// The environment's own manifests, which Puppet reads at the start of every compile: a file or
    /// a folder, whether it exists or not.
    pub main_manifests: FilePath,
    /// The locations of the environment's levels, those of modules included, with the paths that
    /// they can name.
    pub reach: Vec<Reach>,
    /// The folders that the environment's levels read from, up to the first token, where path
    /// mappings put them. A folder that holds the whole environment is left out.
    pub datadirs: Vec<FilePath>,
    /// Whether all locations read one format, as the index does: it reads a file as the first
    /// level that can name it.
    pub are_formats_one: bool,
    /// The datadirs of the environment's configs that are not where the configs say, and were found
    /// elsewhere in the repository.
    pub sought_datadirs: Vec<RelocatedDatadir>,
    /// Other configs that read data which this environment governs.
    pub others: Vec<OtherConfig>,
    /// The environment's levels that cannot be read, those of modules included.
    pub(super) unread: Vec<Arc<Level>>,
    /// Answers computed about the environment.
    pub(super) cache: EnvironmentCache,
}

/// A module of an environment.
#[derive(Clone, Debug)]
pub struct Module {
    /// The module's folder.
    pub root: FilePath,
    /// The module's `hiera.yaml`, if it has one.
    pub config: Option<Arc<HieraConfig>>,
}

/// A module that Puppet passes over for its metadata.json.
#[derive(Clone, Debug)]
pub struct RefusedModule {
    /// The module's name.
    pub name: String,
    /// The module's metadata.json.
    pub metadata: FilePath,
    /// The fault for which Puppet refuses the module.
    pub fault: MetadataFault,
}

/// A fault of a metadata.json for which Puppet refuses the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataFault {
    /// The metadata.json is no JSON, with `strict=error`.
    NotJson,
    /// The metadata.json lacks these members.
    Missing(Vec<&'static str>),
    /// The member `dependencies` of the metadata.json is no list.
    NoListOfDependencies,
}

/// A config that reads data of an environment that another config governs.
#[derive(Clone, Debug)]
pub struct OtherConfig {
    /// The config.
    pub config: Arc<HieraConfig>,
    /// Whether the config belongs to tests or examples.
    pub is_sample: bool,
    /// The files that the environment governs and this config reads, too.
    pub shared: BTreeSet<FilePath>,
    /// The files that this config reads and no environment does.
    pub own: BTreeSet<FilePath>,
}

/// A config that governs nothing.
#[derive(Debug)]
pub(super) struct UnusedConfig {
    /// The config.
    pub(super) path: FilePath,
    /// The existing files that the config reads.
    pub(super) files: BTreeSet<FilePath>,
    /// Whether the config belongs to tests or examples.
    pub(super) is_sample: bool,
}

/// A location of a level, and the paths that it can name.
#[derive(Debug)]
pub struct Reach {
    /// The layer of the level.
    pub layer: Layer,
    /// The level.
    pub level: Arc<Level>,
    /// The location, as written.
    pub template: Template,
    /// The paths.
    pub pattern: Pattern,
    /// Whether the location is too large to be matched: its pattern names all files of its folder
    /// then.
    pub is_too_large: bool,
}

impl Reach {
    /// Whether a function that hiera-ls does not know reads the files there.
    pub fn is_of_function(&self) -> bool {
        self.level.backend.data_reader().is_none()
    }
}

impl Environments {
    /// Returns the environments in which some level can read the file at `path`, or whose
    /// configuration it is.
    pub fn governing_environments<'a>(
        &'a self,
        path: &'a FilePath,
    ) -> impl Iterator<Item = &'a Arc<Environment>> {
        self.all.iter().filter(move |environment| environment.governs_file(path))
    }

    /// Returns the module whose metadata.json is the file at `path`, where Puppet passes over it,
    /// with its environment.
    pub fn refused_module(&self, path: &FilePath) -> Option<(&Environment, &RefusedModule)> {
        self.all.iter().find_map(|environment| {
            let module = environment.refused.iter().find(|module| module.metadata == *path)?;
            Some((&**environment, module))
        })
    }

    /// Returns the environment that `path` belongs to: the one that governs it, or else the one
    /// whose folder it lies in.
    pub fn environment_of<'a>(&'a self, path: &'a FilePath) -> Option<&'a Arc<Environment>> {
        let mut governing: Vec<_> = self.governing_environments(path).collect();
        governing.sort_by_key(|environment| !path.is_within(&environment.root));
        governing
            .first()
            .copied()
            .or_else(|| self.all.iter().find(|environment| path.is_within(&environment.root)))
    }

    /// Whether several configs may be taken for the one that governs a file: environments have
    /// different ones, or one that governs nothing reads data. Those of tests, examples and installed
    /// modules do not count.
    pub fn has_several_configs(&self) -> bool {
        let mut governing = self.all.iter().filter_map(|one| one.governing_config());
        let Some(first) = governing.next() else { return false };
        governing.any(|config| config.path != first.path)
            || self.candidates.iter().any(|one| !one.is_sample && !one.files.is_empty())
    }
}

impl Environment {
    /// Whether the file is data or configuration of this environment. Encrypted data is, wherever
    /// it lies in the environment's folder.
    pub fn governs_file(&self, path: &FilePath) -> bool {
        let role = self.file_role(path);
        role.is_config
            || role.reach.is_some()
            || (path.extension() == Some("eyaml") && path.is_within(&self.root))
    }

    /// Whether some level can read the file.
    pub fn reaches_file(&self, path: &FilePath) -> bool {
        self.file_role(path).reach.is_some()
    }

    fn file_role(&self, path: &FilePath) -> Role {
        // A scan asks about every file on disk; most have no role.
        self.cache.roles.get_or_if(
            path,
            || Role {
                is_config: self.all_configs().any(|(_, config)| config.path == *path),
                reach: self.reach_of(path),
            },
            |role| role.is_config || role.reach.is_some(),
        )
    }

    /// Returns the first location that names the file as variables mostly are, or else the first
    /// that can, or that leads to it by a detour.
    fn reach_of(&self, path: &FilePath) -> Option<usize> {
        let path = path.as_str();
        let position = |names: fn(&Pattern, &str) -> bool| {
            self.reach.iter().position(|reach| names(&reach.pattern, path))
        };
        position(Pattern::binds)
            .or_else(|| position(Pattern::can_name))
            .or_else(|| position(Pattern::can_lead_to))
    }

    /// Returns the numbers of the locations that can name the file, in their order. Detours lead to
    /// most files, and hardly a node takes them: they count where there is no other location.
    pub fn locations_leading_to(&self, path: &FilePath) -> Vec<usize> {
        let named = self.locations_where(&|reach| reach.pattern.can_name(path.as_str()));
        if named.is_empty() {
            self.locations_where(&|reach| reach.pattern.can_lead_to(path.as_str()))
        } else {
            named
        }
    }

    fn locations_where(&self, fits: &dyn Fn(&Reach) -> bool) -> Vec<usize> {
        (0..self.reach.len()).filter(|number| fits(&self.reach[*number])).collect()
    }

    /// Whether the environment's folder names it, as `environments/production` does.
    pub fn is_named_by_folder(&self) -> bool {
        self.root.parent().is_some_and(|parent| parent.name() == "environments")
    }

    /// Whether the data of other environments may lie here, too, with files that all of them read:
    /// a location has the environment's name, and no folder tells which environment this is.
    pub(super) fn may_hold_others(&self) -> bool {
        !self.is_named_by_folder()
            && self.reach.iter().any(|reach| {
                let names = reach.pattern.variables();
                names.iter().any(|it| matches!(&**it, "environment" | "::environment"))
            })
    }

    /// Returns all configs of the environment with their layers, in order of priority.
    pub fn all_configs(&self) -> impl Iterator<Item = (Layer, &Arc<HieraConfig>)> {
        let global = self.global.iter().map(|config| (Layer::Global, config));
        let modules = self.modules.iter().filter_map(|(name, module)| {
            Some((Layer::Module(name.as_str().into()), module.config.as_ref()?))
        });
        let own = self.config.iter().map(|config| (Layer::Environment, config));
        global.chain(own).chain(modules)
    }

    /// Returns the config that governs the environment's data: its own, or the global layer's where
    /// the environment has none.
    pub fn governing_config(&self) -> Option<&Arc<HieraConfig>> {
        self.config.as_ref().or(self.global.as_ref())
    }

    /// Returns the config at `path`: one of the environment's own, or another that reads the
    /// environment's data and is no sample.
    pub fn config_at(&self, path: &FilePath) -> Option<&HieraConfig> {
        let own = self.all_configs().map(|(_, config)| &**config);
        let others = self.others.iter().filter(|other| !other.is_sample);
        own.chain(others.map(|other| &*other.config)).find(|config| config.path == *path)
    }

    /// Returns another config that can read the file, which this environment does not.
    pub fn other_reader(&self, path: &FilePath) -> Option<&HieraConfig> {
        let other = self.others.iter().find(|other| other.own.contains(path))?;
        Some(&other.config)
    }

    /// Returns the reader of a data file: that of the first level that can reach it.
    pub fn data_reader(&self, path: &FilePath) -> Option<DataReader> {
        self.reach[self.file_role(path).reach?].level.backend.data_reader()
    }

    /// Whether the file's format is unknown: only an opaque backend reads it, and its extension is
    /// none of a data format (YAML, JSON, HOCON).
    pub fn is_foreign(&self, path: &FilePath) -> bool {
        !has_data_name(path) && self.reaches_file(path) && self.data_reader(path).is_none()
    }

    /// Whether only functions that hiera-ls does not know read the file: errors of Puppet's own
    /// readers about it do not matter.
    pub fn is_read_by_functions(&self, path: &FilePath) -> bool {
        if !self.reach.iter().any(Reach::is_of_function) {
            return false; // as in most: rules ask about each entry
        }
        let matches: Vec<&Reach> = self.path_matches(path).map(|(reach, _)| reach).collect();
        if matches.is_empty() {
            self.probable_function(path).is_some()
        } else {
            matches.iter().all(|reach| reach.is_of_function())
        }
    }

    /// Returns the location through which a function that hiera-ls does not know probably reads a
    /// file: it names a folder above the file, or the file without its extension.
    pub fn probable_function(&self, path: &FilePath) -> Option<&Reach> {
        let mut functions = self.reach.iter().filter(|reach| reach.is_of_function()).peekable();
        functions.peek()?;
        let stem = path.extension().and_then(|it| path.as_str().strip_suffix(&format!(".{it}")));
        let folders = path.ancestors().take_while(|folder| folder.is_within(&self.root));
        let names: Vec<FilePath> = stem.map(FilePath::new).into_iter().chain(folders).collect();
        functions.find(|reach| names.iter().any(|it| reach.pattern.binds(it.as_str())))
    }

    /// Returns the layer that a data file belongs to.
    pub fn layer_of(&self, path: &FilePath) -> Option<&Layer> {
        Some(&self.reach[self.file_role(path).reach?].layer)
    }

    /// Whether a path lies in a folder that some level reads data from, or is one.
    pub fn is_below_datadir(&self, path: &FilePath) -> bool {
        self.datadirs.iter().any(|datadir| path.is_within(datadir))
    }

    /// Returns the module in whose data Puppet passes over a root key of the file at `path`: a
    /// module's data are asked for keys of its own namespace, and for `lookup_options`. `None`
    /// where some level asks the file for the key.
    ///
    /// Source: `Puppet::Pops::Lookup::ModuleDataProvider`.
    pub fn module_passing_over<'a>(&'a self, path: &'a FilePath, root: &str) -> Option<&'a str> {
        let mut modules = self.path_matches(path).map(|(reach, _)| match &reach.layer {
            Layer::Module(module) => {
                let name = root.strip_prefix(&**module);
                let is_asked =
                    root == LOOKUP_OPTIONS || name.is_some_and(|it| it.starts_with("::"));
                (!is_asked).then_some(&**module)
            }
            Layer::Global | Layer::Environment => None,
        });
        let first = modules.next()??;
        modules.all(|module| module.is_some()).then_some(first)
    }

    /// Whether a data file lies in a folder that some level reads data from: below the literal start
    /// of its locations, deeper than the environment itself. A `.conf` is one where a level reads
    /// HOCON.
    pub fn lies_in_datadir(&self, path: &FilePath) -> bool {
        let is_data = has_data_name(path)
            || format_of_name(path) == Some(DataFormat::Hocon) && self.reads_hocon();
        is_data && self.datadirs.iter().any(|datadir| path.is_within(datadir))
    }

    fn reads_hocon(&self) -> bool {
        let mut levels = self.reach.iter().map(|reach| &reach.level);
        levels.any(|level| {
            level.backend.data_reader().is_some_and(|it| it.format == DataFormat::Hocon)
        })
    }

    /// Returns the names of the environment's own levels with a location that can name none of
    /// these files.
    pub(super) fn find_levels_without(&self, files: &[&FilePath]) -> Vec<String> {
        let has_own_name = self
            .reach
            .iter()
            .any(|reach| files.iter().any(|path| self.is_own_name(reach, path) == Some(true)));
        // Without a config of its own, the environment's data is that of the global layer.
        let own_layer = if self.config.is_some() { Layer::Environment } else { Layer::Global };
        let own = self.reach.iter().filter(|reach| reach.layer == own_layer);
        let mut levels: Vec<&Arc<Level>> = own
            .filter(|reach: &&Reach| {
                let named = |path: &&&FilePath| reach.pattern.bind(path.as_str()).is_some();
                let mut named = files.iter().filter(named);
                if is_bound_by_name(reach, has_own_name) {
                    named.all(|path| self.is_own_name(reach, path) == Some(false))
                } else {
                    named.next().is_none()
                }
            })
            .map(|reach| &reach.level)
            .collect();
        levels.dedup_by(|a, b| Arc::ptr_eq(a, b));
        levels.into_iter().map(|level| level.name.to_string()).collect()
    }

    fn is_own_name(&self, reach: &Reach, path: &FilePath) -> Option<bool> {
        match reach.pattern.bind(path.as_str()) {
            Some(found) => found.bindings().get("environment").map(|name| *name == self.name),
            None => None,
        }
    }

    /// Whether some level of the environment cannot be read, and may hold a root key. `has_source`
    /// returns whether the source of a function is here: that function may differ from the
    /// published one.
    pub fn may_have_unread(&self, root: &str, has_source: impl Fn(&str) -> bool) -> bool {
        self.unread.iter().any(|level| !level.excludes_key(root) || has_source(&level.backend.name))
    }

    /// Computes the paths that the environment's levels can read, and the levels that cannot be
    /// read.
    pub(super) fn with_reach(mut self) -> Environment {
        let mut reach = Vec::new();
        let mut datadirs = Vec::new();
        let mut unread = Vec::new();
        for (layer, config) in self.all_configs() {
            for level in config.levels() {
                if level.backend.data_reader().is_none() {
                    unread.push(level.clone());
                }
                let datadir = datadir_start(config, level);
                if datadir != config.base_folder()
                    && !self.root.is_within(&datadir)
                    && !datadirs.contains(&datadir)
                {
                    datadirs.push(datadir);
                }
                for template in level.locations.templates() {
                    let own = pattern_of(config, level, template);
                    let is_too_large = own.is_none();
                    let pattern = own.or_else(|| folder_pattern_of(config, level, template));
                    reach.extend(pattern.map(|pattern| Reach {
                        layer: layer.clone(),
                        level: level.clone(),
                        template: template.clone(),
                        pattern,
                        is_too_large,
                    }));
                }
            }
        }
        // The index reads the files of opaque backends as YAML.
        let mut formats = reach.iter().map(|reach| {
            reach.level.backend.data_reader().map_or(DataFormat::Yaml, |reader| reader.format)
        });
        self.are_formats_one =
            formats.next().is_none_or(|first| formats.all(|other| other == first));
        // The first location whose pattern matches a file decides how it is read. Locations whose
        // pattern was too large, and is known in part only, come last.
        reach.sort_by_key(|reach| reach.is_too_large);
        self.reach = reach;
        self.datadirs = datadirs;
        self.unread = unread;
        self
    }

    /// Returns the ways in which the environment's levels can name a file.
    pub fn path_matches<'a>(
        &'a self,
        path: &'a FilePath,
    ) -> impl Iterator<Item = (&'a Reach, PatternMatch)> {
        self.reach.iter().filter_map(move |reach| Some((reach, reach.pattern.bind(path.as_str())?)))
    }

    /// Returns the locations with the most literal bytes among those that can name a file, in the
    /// order of the levels. A literal folder or name is no value of a variable of another location.
    pub fn literal_matches<'a>(&'a self, path: &'a FilePath) -> Vec<(&'a Reach, PatternMatch)> {
        let mut matches: Vec<_> = self.path_matches(path).collect();
        if matches.is_empty() {
            // A value with slashes is considered only where no location names the file with values
            // that have no slashes.
            matches.extend(
                self.reach
                    .iter()
                    .filter_map(|reach| Some((reach, reach.pattern.bind_nested(path.as_str())?))),
            );
        }
        let literal_len = |(reach, _): &(&Reach, PatternMatch)| reach.pattern.literal_len();
        let most = matches.iter().map(literal_len).max();
        matches.retain(|found| Some(literal_len(found)) == most);
        matches
    }

    /// Whether the path of a file shows the environment of the nodes that read it.
    pub fn tells_environment(&self, path: &FilePath) -> bool {
        self.reach
            .iter()
            .any(|reach| reach.pattern.variables().iter().any(|it| it == "environment"))
            && self.agreed_variables(path).contains_key("environment")
    }

    /// Returns the variables that are the same in the most literal ways in which the environment's
    /// levels can name a file.
    fn agreed_variables(&self, path: &FilePath) -> Bindings {
        let mut matches = self.literal_matches(path).into_iter();
        let mut agreed = matches.next().map(|(_, it)| it.bindings().clone()).unwrap_or_default();
        for (_, other) in matches {
            agreed.retain(|name, value| other.bindings().get(name) == Some(value));
        }
        agreed
    }

    /// Returns the scope that follows from a file's own path: variables that are the same in all
    /// ways to name it are known, all others are not.
    ///
    /// A file that some location names without any variable is read by every node: its path shows
    /// the environment alone, which is the one that holds the file.
    pub(super) fn infer_scope(&self, path: &FilePath) -> Scope {
        let mut scope = Scope::open(path.relative_to(&self.root).unwrap_or(path.as_str()));
        scope.set_variable("environment", Value::from_argument(&self.name));
        let matches = self.literal_matches(path);
        let agreed = self.agreed_variables(path);
        // The environment's name in the path wins over the name of the environment's folder.
        for (name, value) in &agreed {
            scope.set_path(name, Value::from_argument(value));
        }
        if !matches.iter().any(|found| is_settled(&found, &agreed)) {
            // Of several locations with equally many literal bytes the first one counts.
            scope.pinned = matches.first().map(|(reach, _)| PinnedFile {
                template: reach.template.text.clone(),
                path: path.clone(),
            });
        }
        scope
    }
}

fn is_settled((reach, _): &&(&Reach, PatternMatch), agreed: &BTreeMap<String, String>) -> bool {
    reach.pattern.variables().iter().all(|name| agreed.contains_key(name))
}

/// Of a path with the environment's name alone, the file for the current name counts: those
/// of other environments hold none of its data.
fn is_bound_by_name(reach: &Reach, has_own_name: bool) -> bool {
    has_own_name && reach.pattern.variables().iter().all(|name| name == "environment")
}
