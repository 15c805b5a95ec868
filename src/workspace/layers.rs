//! Which `hiera.yaml` governs what: environments, their modules, and the files that their levels can reach.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use foldhash::HashMap;

use super::Snapshot;
use super::seeing::NodesByValue;
use crate::hiera::config::{HieraConfig, Layer, Level, Reader, Template};
use crate::hiera::data::Format;
use crate::hiera::error::LookupError;
use crate::hiera::hierarchy::{LocatedLayer, datadir_start, pattern_of};
use crate::hiera::key::LookupKey;
use crate::hiera::pattern::{Bindings, Pattern, PatternMatch};
use crate::hiera::scope::{PinnedFile, Scope};
use crate::hiera::sources::Locate;
use crate::text::FilePath;

/// The layers of a workspace.
#[derive(Debug, Default)]
pub struct Layout {
    /// The environments, those with the longest path first, so that the nearest is found first.
    pub environments: Vec<Arc<Environment>>,
}

/// An environment: a folder with a `hiera.yaml` perhaps, its modules, and the global layer above it.
#[derive(Debug)]
pub struct Environment {
    /// Its folder.
    pub root: FilePath,
    /// Its name, as `%{environment}` gives it.
    pub name: String,
    /// Its `hiera.yaml`, or what stands for it; `None` when its layer has nothing.
    pub config: Option<Arc<HieraConfig>>,
    /// The global layer's `hiera.yaml`, if the user has named one; Puppet's defaults where there is no such file.
    pub global: Option<Arc<HieraConfig>>,
    /// The modules on its module path, by name.
    pub modules: BTreeMap<String, Module>,
    /// What its levels can read, those of modules included.
    pub reach: Vec<Reach>,
    /// The folders that its levels read from, up to the first token, as path mappings say; none that all of it lies in.
    pub datadirs: Vec<FilePath>,
    /// Whether all of them read one format, as the index does: it has a file as the first level that can name it reads it.
    pub are_formats_one: bool,
    /// What was found out of it.
    pub known: Known,
}

/// What was found out of an environment: each time the same, and asked for with every keystroke.
#[derive(Debug, Default)]
pub struct Known {
    roles: RwLock<HashMap<FilePath, Role>>,
    levels_without_files: OnceLock<Vec<String>>,
    /// The number of the only node that sees a file. Layers are read anew whenever the nodes are.
    only_nodes: RwLock<HashMap<FilePath, Option<usize>>>,
    scopes: RwLock<HashMap<FilePath, Arc<Scope>>>,
    /// The levels in the scopes that answers were given for of late, by where these scopes are in memory.
    located: RwLock<HashMap<usize, Arc<LevelsInScope>>>,
    /// The nodes by the value of a variable that locations name.
    nodes_by_value: RwLock<HashMap<LookupKey, Arc<NodesByValue>>>,
}

/// How many scopes levels are remembered in: those of the files and nodes that somebody is looking at.
const MAX_SCOPES: usize = 256;

/// The levels of layers in a scope.
#[derive(Debug)]
struct LevelsInScope {
    /// Kept, so that no other scope can come to lie where it is.
    _scope: Arc<Scope>,
    layers: Mutex<HashMap<Layer, LocatedLayer>>,
}

fn place_of(scope: &Scope) -> usize {
    std::ptr::from_ref(scope).addr()
}

/// What is known of a file, or of something else, or else what `find` says, which is remembered.
fn remembered<K: Clone + Eq + Hash, T: Clone>(known: &RwLock<HashMap<K, T>>, of: &K, find: impl FnOnce() -> T) -> T {
    remembered_if(|_| true, known, of, find)
}

/// The same, but what is not worth it is not remembered.
fn remembered_if<K: Clone + Eq + Hash, T: Clone>(
    is_worth_it: impl FnOnce(&T) -> bool,
    known: &RwLock<HashMap<K, T>>,
    of: &K,
    find: impl FnOnce() -> T,
) -> T {
    if let Some(known) = known.read().unwrap_or_else(PoisonError::into_inner).get(of) {
        return known.clone();
    }
    let found = find();
    if is_worth_it(&found) {
        known.write().unwrap_or_else(PoisonError::into_inner).insert(of.clone(), found.clone());
    }
    found
}

/// What a file is to an environment.
#[derive(Clone, Debug)]
struct Role {
    is_config: bool,
    /// The number of the level's location that decides how it is read, if some level can read it.
    reach: Option<usize>,
}

/// A module of an environment.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its folder.
    pub root: FilePath,
    /// Its `hiera.yaml`, if it has one.
    pub config: Option<Arc<HieraConfig>>,
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
}

fn is_data_name(path: &FilePath) -> bool {
    matches!(path.extension(), Some("yaml" | "yml" | "json" | "eyaml" | "hocon"))
}

impl Layout {
    /// The environments in which some level can read the file at `path`, or whose configuration it is.
    pub fn governing<'a>(&'a self, path: &'a FilePath) -> impl Iterator<Item = &'a Arc<Environment>> {
        self.environments.iter().filter(move |environment| environment.governs(path))
    }

    /// The environment that `path` belongs to: the one that governs it, or else the one whose folder it lies in.
    pub fn environment_of<'a>(&'a self, path: &'a FilePath) -> Option<&'a Arc<Environment>> {
        let within = |environment: &&Arc<Environment>| path.is_within(&environment.root);
        let mut governing: Vec<_> = self.governing(path).collect();
        governing.sort_by_key(|environment| !path.is_within(&environment.root));
        governing.first().copied().or_else(|| self.environments.iter().find(within))
    }
}

impl Environment {
    /// Whether the file is data or configuration of this environment. Encrypted data is, wherever it lies in its folder.
    pub fn governs(&self, path: &FilePath) -> bool {
        let is_eyaml = || path.extension() == Some("eyaml") && path.is_within(&self.root);
        let role = self.role(path);
        role.is_config || role.reach.is_some() || is_eyaml()
    }

    /// Whether some level can read the file.
    pub fn reaches(&self, path: &FilePath) -> bool {
        self.role(path).reach.is_some()
    }

    fn role(&self, path: &FilePath) -> Role {
        // A scan asks of every file on disk; most are nothing to it.
        let is_any = |role: &Role| role.is_config || role.reach.is_some();
        remembered_if(is_any, &self.known.roles, path, || Role {
            is_config: self.configs().any(|(_, config)| config.path == *path),
            reach: self.reach_of(path),
        })
    }

    /// The first location that names the file as variables mostly are, or else the first that can, or that leads to it by a detour.
    fn reach_of(&self, path: &FilePath) -> Option<usize> {
        let named: Vec<usize> = (0..self.reach.len()).filter(|n| self.reach[*n].pattern.can_name(path.as_str())).collect();
        let settled = named.iter().find(|n| self.reach[**n].pattern.bind(path.as_str()).is_some());
        settled
            .or(named.first())
            .copied()
            .or_else(|| self.reach.iter().position(|reach| reach.pattern.can_lead_to(path.as_str())))
    }

    /// All its configs with their layers, in order of priority.
    pub fn configs(&self) -> impl Iterator<Item = (Layer, &Arc<HieraConfig>)> {
        let global = self.global.iter().map(|config| (Layer::Global, config));
        let modules =
            self.modules.iter().filter_map(|(name, module)| Some((Layer::Module(name.as_str().into()), module.config.as_ref()?)));
        let own = self.config.iter().map(|config| (Layer::Environment, config));
        global.chain(own).chain(modules)
    }

    /// How a data file is read: by the first level that can reach it.
    pub fn reader(&self, path: &FilePath) -> Option<Reader> {
        self.reach[self.role(path).reach?].level.backend.reader()
    }

    /// Whether the file is in a format of its own: only a backend that is opaque reads it, and its name says neither YAML nor JSON.
    pub fn is_foreign(&self, path: &FilePath) -> bool {
        !is_data_name(path) && self.reaches(path) && self.reader(path).is_none()
    }

    /// The layer that a data file belongs to.
    pub fn layer(&self, path: &FilePath) -> Option<&Layer> {
        Some(&self.reach[self.role(path).reach?].layer)
    }

    /// Whether a file lies in a folder that some level reads data from: below the literal start of its locations, deeper than the environment itself.
    pub fn lies_in_datadir(&self, path: &FilePath) -> bool {
        is_data_name(path) && self.datadirs.iter().any(|datadir| path.is_within(datadir))
    }

    /// The number of the only node that sees a file, as `find` says the first time.
    pub(super) fn only_node_seeing(&self, path: &FilePath, find: impl FnOnce() -> Option<usize>) -> Option<usize> {
        remembered(&self.known.only_nodes, path, find)
    }

    /// The nodes by the value of a variable, as `gather` says the first time.
    pub(super) fn nodes_by_value(&self, variable: &LookupKey, gather: impl FnOnce() -> NodesByValue) -> Arc<NodesByValue> {
        remembered(&self.known.nodes_by_value, variable, || Arc::new(gather()))
    }

    /// The scope that a file's own path tells of, with all that is derived from it, as `infer` says the first time.
    pub(super) fn inferred_scope(&self, path: &FilePath, infer: impl FnOnce() -> Scope) -> Arc<Scope> {
        remembered(&self.known.scopes, path, || Arc::new(infer()))
    }

    /// Has the levels in this scope remembered once they are located.
    pub(super) fn remember_levels_of(&self, scope: &Arc<Scope>) {
        let place = place_of(scope);
        // One that nobody keeps is not asked for again.
        if Arc::strong_count(scope) < 2 {
            return;
        }
        if self.known.located.read().unwrap_or_else(PoisonError::into_inner).contains_key(&place) {
            return;
        }
        let mut located = self.known.located.write().unwrap_or_else(PoisonError::into_inner);
        if located.len() >= MAX_SCOPES {
            located.clear();
        }
        located.insert(place, Arc::new(LevelsInScope { _scope: scope.clone(), layers: Mutex::default() }));
    }

    /// The levels of a layer in a scope, as `locate` says the first time if they are remembered.
    ///
    /// Errors: those of `locate`.
    pub(super) fn located(&self, scope: &Scope, layer: &Layer, locate: Locate<'_>) -> Result<LocatedLayer, LookupError> {
        let in_scope = self.known.located.read().unwrap_or_else(PoisonError::into_inner).get(&place_of(scope)).cloned();
        let Some(in_scope) = in_scope else { return locate() };
        let layers = || in_scope.layers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = layers().get(layer).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = locate()?;
        layers().insert(layer.clone(), found.clone());
        Ok(found)
    }

    /// Its own levels whose data is not here at all: no existing file is one of their locations. They may hold any key.
    pub fn levels_without_files(&self, snapshot: &Snapshot) -> &[String] {
        self.known.levels_without_files.get_or_init(|| self.find_levels_without_files(snapshot))
    }

    fn find_levels_without_files(&self, snapshot: &Snapshot) -> Vec<String> {
        let names = |level: &Arc<Level>| {
            let mut reaches = self.reach.iter().filter(|reach| Arc::ptr_eq(&reach.level, level));
            !reaches.any(|reach| snapshot.files().any(|file| reach.pattern.bind(file.path.as_str()).is_some()))
        };
        let mut levels: Vec<&Arc<Level>> =
            self.reach.iter().filter(|reach| reach.layer == Layer::Environment).map(|reach| &reach.level).collect();
        levels.dedup_by(|a, b| Arc::ptr_eq(a, b));
        levels.into_iter().filter(|level| names(level)).map(|level| level.name.to_string()).collect()
    }

    /// Whether some level of it cannot be read, so that it may hold any key.
    pub fn has_opaque_level(&self) -> bool {
        self.configs().any(|(_, config)| config.levels().any(|level| level.backend.reader().is_none()))
    }

    /// Computes what its levels can read.
    pub fn with_reach(mut self, snapshot: &Snapshot) -> Environment {
        let sources = snapshot.view(&self);
        let mut reach = Vec::new();
        let mut datadirs = Vec::new();
        for (layer, config) in self.configs() {
            for level in config.levels() {
                let datadir = datadir_start(config, level, &sources);
                if datadir != config.base() && !self.root.is_within(&datadir) && !datadirs.contains(&datadir) {
                    datadirs.push(datadir);
                }
                for template in level.locations.templates() {
                    let Some(pattern) = pattern_of(config, level, template, &sources) else { continue };
                    reach.push(Reach { layer: layer.clone(), level: level.clone(), template: template.clone(), pattern });
                }
            }
        }
        // What only an opaque backend reads is in the index as YAML.
        let mut formats = reach.iter().map(|reach| reach.level.backend.reader().map_or(Format::Yaml, Reader::format));
        self.are_formats_one = formats.next().is_none_or(|first| formats.all(|other| other == first));
        self.reach = reach;
        self.datadirs = datadirs;
        self
    }

    /// The ways in which its levels can name a file.
    pub fn matches<'a>(&'a self, path: &'a FilePath) -> impl Iterator<Item = (&'a Reach, PatternMatch)> {
        self.reach.iter().filter_map(move |reach| Some((reach, reach.pattern.bind(path.as_str())?)))
    }

    /// The scope that a file's own path tells of: variables that are the same in all ways to name it are known, all others are not.
    ///
    /// A file that some location names without any variable is seen by every node: its path tells nothing.
    pub(super) fn infer_scope(&self, path: &FilePath) -> Scope {
        let mut scope = Scope::open(path.relative_to(&self.root).unwrap_or(path.as_str()));
        scope.set("environment", self.name.as_str().into());
        let matches: Vec<(&Reach, PatternMatch)> = self.matches(path).collect();
        let Some((_, first)) = matches.first() else { return scope };
        let mut agreed: Bindings = first.bindings().clone();
        for (_, other) in &matches {
            agreed.retain(|name, value| other.bindings().get(name) == Some(value));
        }
        for (name, value) in &agreed {
            if name != "environment" {
                scope.set_path(name, value.as_str().into());
            }
        }
        let settled =
            |(reach, _): &&(&Reach, PatternMatch)| reach.pattern.variables().iter().all(|name| agreed.contains_key(name));
        if !matches.iter().any(|found| settled(&found)) {
            let closest = matches.iter().max_by_key(|(reach, _)| reach.pattern.literal_len());
            scope.pinned = closest.map(|(reach, _)| PinnedFile { template: reach.template.text.clone(), path: path.clone() });
        }
        scope
    }
}
