//! The environment that a config makes: its name, its layers and the modules of its module path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cache::EnvironmentCache;
use super::configs::Configs;
use super::datadirs::{DatadirPlacer, RelocatedDatadir};
use super::environment_conf::EnvironmentConf;
use crate::hiera::config::{ConfigSource, ConfigVersion, HieraConfig, Layer, select};
use crate::hiera::data::DataFormat;
use crate::puppet::ruby::glob::EntryKind;
use crate::puppet::{PuppetVersion, Strict};
use crate::text::FilePath;
use crate::workspace::config::{HIERA_CONFIG, WorkspaceConfig};
use crate::workspace::environments::{Environment, MetadataFault, Module, RefusedModule};
use crate::workspace::files::kinds::{
    DEFAULT_MODULE_FOLDER, ENVIRONMENT_CONF, ENVIRONMENTS, FileKind, MAIN_MANIFESTS, METADATA,
    MODULE_FOLDERS, PUPPETFILE, is_below_installed, is_module_name, is_named, is_test,
};
use crate::workspace::files::names::DiskNames;
use crate::yaml::parse_json;

/// Files and folders that a module has one of.
const MODULE_PARTS: [&str; 6] = ["manifests", METADATA, "hiera.yaml", "lib", "files", "templates"];

/// The input of the discovery of environments.
pub(super) struct Discovery<'a> {
    pub(super) names: &'a DiskNames,
    pub(super) configs: &'a Configs,
    pub(super) settings: &'a WorkspaceConfig,
    pub(super) folders: &'a [FilePath],
    pub(super) is_on_disk: &'a dyn Fn(&FilePath) -> bool,
}

/// A config that may govern data.
pub(super) struct Candidate {
    /// The config, with its datadirs placed.
    pub(super) config: HieraConfig,
    /// The layer that the config configures.
    pub(super) role: Layer,
    /// The folder of the environment that the config would make.
    pub(super) root: FilePath,
    /// The datadirs that were found elsewhere.
    pub(super) sought: Vec<RelocatedDatadir>,
    /// Whether the config belongs to tests or examples.
    pub(super) is_sample: bool,
    /// The existing files that the config reads.
    pub(super) files: BTreeSet<FilePath>,
}

/// The part of an environment that its modules' configs depend on.
struct Outer<'a> {
    root: &'a FilePath,
    name: &'a str,
    puppet: PuppetVersion,
}

/// The layers of an environment before its datadirs are placed.
struct Layers {
    global: Option<Arc<HieraConfig>>,
    config: Option<HieraConfig>,
    modules: Modules,
}

/// The modules of an environment.
#[derive(Default)]
struct Modules {
    taken: BTreeMap<String, Module>,
    refused: Vec<RefusedModule>,
}

impl Modules {
    /// Creates the modules of a folder that is one module.
    fn new_lone((name, module): (String, Module)) -> Modules {
        Modules { taken: BTreeMap::from([(name, module)]), refused: Vec::new() }
    }
}

impl Discovery<'_> {
    /// Returns the folders with a `hiera.yaml` of their own, and those that are environments
    /// without one.
    pub(super) fn environment_roots(&self) -> BTreeSet<FilePath> {
        let paths = self.configs.paths();
        let mut roots: BTreeSet<FilePath> = paths
            .clone()
            .filter(|path| {
                FileKind::of_path(path, self.settings) == FileKind::HieraConfig
                    && self.settings.global_hiera_config.as_ref() != Some(path)
            })
            .filter_map(|path| self.root_of(path))
            .collect();
        // Without a hiera.yaml, an environment still has the layers above and below it, or the
        // config that an older setting asks for.
        let has_global = self.settings.global_hiera_config.is_some();
        let confs = paths.filter(|path| path.name() == ENVIRONMENT_CONF);
        roots.extend(
            confs
                .filter_map(FilePath::parent)
                .filter(|root| has_global || self.environment_data_provider(root).is_some()),
        );
        if has_global {
            let without: Vec<FilePath> = self
                .folders
                .iter()
                .filter(|folder| !self.has_environment(folder, &roots))
                .cloned()
                .collect();
            roots.extend(without);
        }
        roots
    }

    fn has_environment(&self, folder: &FilePath, roots: &BTreeSet<FilePath>) -> bool {
        let modules = self.module_path(folder);
        let is_environment = |root: &FilePath| {
            root.is_within(folder) && !root.parent().is_some_and(|it| modules.contains(&it))
        };
        roots.iter().any(|root| folder.is_within(root) || is_environment(root))
    }

    /// Returns the folders that are environments although no config governs them: those with an
    /// environment.conf, and opened folders that hold modules with data. Puppet answers from the
    /// modules' data there. `roots` are the folders with configs.
    pub(super) fn bare_roots(&self, roots: &BTreeSet<FilePath>) -> BTreeSet<FilePath> {
        let paths = self.configs.paths();
        let confs = paths.filter(|path| path.name() == ENVIRONMENT_CONF);
        let opened = self
            .folders
            .iter()
            .filter(|folder| {
                let modules = self.module_path(folder);
                let mut below = roots.iter().filter(|root| root.is_within(folder));
                let is_apart = !folder.ancestors().any(|above| roots.contains(&above));
                is_apart
                    && below.clone().next().is_some()
                    && below.all(|root| root.parent().is_some_and(|it| modules.contains(&it)))
            })
            .cloned();
        let bare = confs.filter_map(FilePath::parent).chain(opened);
        bare.filter(|root| !roots.contains(root)).collect()
    }

    /// Returns the folders of the environments that configs under other names would make.
    pub(super) fn named_homes(&self) -> impl Iterator<Item = FilePath> {
        let others = self.configs.files().filter(move |file| {
            FileKind::of_path(&file.path, self.settings) != FileKind::HieraConfig
                && file.config_version().is_some()
        });
        others.map(|file| self.home_of(&file.path))
    }

    /// Returns the folder of the environment that a config elsewhere governs: the nearest one above it
    /// that looks like a control repository, or else the folder of the workspace.
    pub(super) fn home_of(&self, config: &FilePath) -> FilePath {
        let folder = self.folder_of(config);
        let above = config.parent().and_then(|parent| self.code_folder_above(&parent));
        above
            .or_else(|| folder.cloned())
            .or_else(|| config.parent())
            .unwrap_or_else(|| config.clone())
    }

    /// Returns the nearest folder from `start` upwards that holds an environment's code, within the
    /// folder of the workspace.
    pub(super) fn code_folder_above(&self, start: &FilePath) -> Option<FilePath> {
        let folder = self.folder_of(start)?;
        let above = std::iter::once(start.clone()).chain(start.ancestors());
        above.take_while(|above| above.is_within(folder)).find(|above| self.has_code(above))
    }

    /// Whether a folder holds the code of an environment: modules, a file that names them, or
    /// a manifest with nodes.
    pub(super) fn has_code(&self, folder: &FilePath) -> bool {
        [ENVIRONMENT_CONF, PUPPETFILE]
            .iter()
            .chain(&MAIN_MANIFESTS)
            .any(|name| self.names.exists(&folder.join(name)))
            || MODULE_FOLDERS.iter().any(|name| self.holds_modules(&folder.join(name)))
    }

    /// Whether a folder holds a module. Data may lie in a folder of the same name (`data/site`).
    fn holds_modules(&self, folder: &FilePath) -> bool {
        let children = self.names.children.get(folder).map_or(&[][..], Vec::as_slice);
        children.iter().any(|(name, _)| {
            let root = folder.join(name);
            MODULE_PARTS.iter().any(|part| self.names.exists(&root.join(part)))
        })
    }

    /// Whether the setting `hieraConfig` names the config.
    pub(super) fn is_of_setting(&self, config: &FilePath) -> bool {
        self.settings.has_named_config() && is_named(self.settings, config)
    }

    /// Whether the config at its usual place in a folder configures another folder: this one holds
    /// no code, and the config reads data below the code of that one.
    pub(super) fn is_apart_from_code(&self, root: &FilePath) -> bool {
        let is_named_environment =
            root.parent().is_some_and(|parent| parent.name() == ENVIRONMENTS);
        if is_named_environment || self.has_code(root) || self.is_in_module_folder(root) {
            return false;
        }
        let path = self.config_path(root);
        let candidate = Candidate::new(self, &path, Layer::Environment);
        candidate.is_some_and(|it| it.root != *root && !it.files.is_empty())
    }

    /// Whether a folder lies in a folder of modules of the code above it.
    fn is_in_module_folder(&self, root: &FilePath) -> bool {
        let Some(parent) = root.parent() else { return false };
        let code = self.code_folder_above(&parent);
        code.is_some_and(|code| self.module_path(&code).contains(&parent))
    }

    /// Returns the folder of the environment that a config configures.
    pub(super) fn root_of(&self, config: &FilePath) -> Option<FilePath> {
        if !is_named(self.settings, config) {
            return config.parent();
        }
        let depth = FilePath::new(&self.settings.hiera_config).as_str().matches('/').count();
        config.ancestors().nth(depth)
    }

    /// Returns the global layer's config; Puppet's defaults where its file does not exist.
    pub(super) fn global_config(&self) -> Option<Arc<HieraConfig>> {
        let path = self.settings.global_hiera_config.as_ref()?;
        let puppet = self.settings.common.puppet;
        let config = self
            .written_config(path, &Layer::Global, puppet)
            .unwrap_or_else(|| HieraConfig::default_at(path));
        Some(Arc::new(config))
    }

    /// Returns the environment in a folder: one with a config at its usual place, or without any.
    pub(super) fn new_environment(
        &self,
        root: &FilePath,
        module_path: &[FilePath],
        is_nested: bool,
        global: Option<Arc<HieraConfig>>,
    ) -> Environment {
        let name = self.name_of(root);
        let outer =
            Outer { root, name: &name, puppet: self.settings.environment_config(root).puppet };
        let mut sought = Vec::new();
        let lone = if is_nested { None } else { self.lone_module(&outer) };
        let layers = match lone {
            Some(module) => Layers { global, config: None, modules: Modules::new_lone(module) },
            None => {
                let own_global =
                    if global.is_none() { self.own_global_config(&outer) } else { None };
                let config = match own_global {
                    Some(_) => None,
                    None => self.environment_config(&outer, &mut sought),
                };
                let global = own_global.map(Arc::new).or(global);
                Layers { global, config, modules: self.find_modules(module_path, &outer) }
            }
        };
        self.build_environment(root, name.clone(), layers, sought)
    }

    /// Returns the environment that a config governs which lies elsewhere or has another name.
    pub(super) fn environment_of_config(
        &self,
        candidate: Candidate,
        global: Option<&Arc<HieraConfig>>,
    ) -> Environment {
        let Candidate { config, role, root, .. } = candidate;
        let name = self.name_of(&root);
        let outer = Outer {
            root: &root,
            name: &name,
            puppet: self.settings.environment_config(&root).puppet,
        };
        let modules = match self.lone_module(&outer) {
            Some(module) => Modules::new_lone(module),
            None => self.find_modules(&self.module_path(&root), &outer),
        };
        let layers = match role {
            Layer::Global => Layers { global: Some(Arc::new(config)), config: None, modules },
            _ => Layers { global: global.cloned(), config: Some(config), modules },
        };
        self.build_environment(&root, name.clone(), layers, candidate.sought)
    }

    fn build_environment(
        &self,
        root: &FilePath,
        name: String,
        Layers { mut global, config, modules }: Layers,
        mut sought: Vec<RelocatedDatadir>,
    ) -> Environment {
        // Each environment may have path mappings of its own.
        if let Some(global) = &mut global {
            for found in self.place_datadirs(Arc::make_mut(global), root) {
                if !sought.contains(&found) {
                    sought.push(found);
                }
            }
        }
        let environment = Environment {
            root: root.clone(),
            config: config.map(Arc::new),
            global,
            modules: modules.taken,
            refused: modules.refused,
            main_manifests: self.main_manifests(root),
            reach: Vec::new(),
            datadirs: Vec::new(),
            are_formats_one: false,
            sought_datadirs: sought,
            others: Vec::new(),
            unread: Vec::new(),
            cache: EnvironmentCache::default(),
            name,
        };
        environment.with_reach()
    }

    /// Returns the name of the environment in a folder.
    fn name_of(&self, root: &FilePath) -> String {
        match root.parent().as_ref().map(FilePath::name) {
            Some("environments") => root.name().to_owned(),
            _ => self.settings.environment_config(root).environment_name().to_owned(),
        }
    }

    /// Returns the config in the environment's folder where it is of version 3: no environment can
    /// have that, so that it is kept there to be deployed as the global layer's. `None` also where
    /// environment.conf chooses where the data of the environment come from.
    fn own_global_config(&self, outer: &Outer<'_>) -> Option<HieraConfig> {
        if self.environment_data_provider(outer.root).is_some() {
            return None;
        }
        let path = self.config_path(outer.root);
        let file = self.configs.file(&path)?;
        if file.config_version() != Some(ConfigVersion::V3) {
            return None;
        }
        self.written_config(&path, &Layer::Global, outer.puppet)
    }

    /// Returns the environment's own config, if it has one.
    fn environment_config(
        &self,
        outer: &Outer<'_>,
        sought: &mut Vec<RelocatedDatadir>,
    ) -> Option<HieraConfig> {
        let path = self.config_path(outer.root);
        let is_global = self.settings.global_hiera_config.as_ref() == Some(&path);
        let layer = Layer::Environment;
        let written =
            if is_global { None } else { self.written_config(&path, &layer, outer.puppet) };
        if let Some(Err(message)) = self.read_environment_conf(outer.root) {
            return Some(HieraConfig::refused_by(message, &path));
        }
        let selector = self.environment_data_provider(outer.root);
        let mut config =
            select(written, selector.as_deref(), &layer, outer.name, &path, outer.puppet)?;
        *sought = self.place_datadirs(&mut config, outer.root);
        Some(config)
    }

    /// Returns the path of the config of the environment in a folder, whether it exists or not.
    pub(super) fn config_path(&self, root: &FilePath) -> FilePath {
        let named = root.join(&self.settings.hiera_config);
        if self.configs.file(&named).is_some() { named } else { root.join(HIERA_CONFIG) }
    }

    /// Returns the one module that an opened folder is, where it is no environment.
    fn lone_module(&self, outer: &Outer<'_>) -> Option<(String, Module)> {
        if !self.names.exists(&outer.root.join(METADATA))
            || self.names.exists(&outer.root.join(ENVIRONMENT_CONF))
            || self.names.exists(&outer.root.join(PUPPETFILE))
        {
            return None;
        }
        let name = self.module_name(outer.root);
        let module = self.read_module(outer.root.clone(), &name, outer);
        Some((name, module))
    }

    /// Returns the name of a module. In metadata.json, and often in the folder's name, the author's
    /// name stands before it.
    fn module_name(&self, root: &FilePath) -> String {
        let metadata = self.read_metadata(root, "name");
        let full = metadata.as_ref().and_then(|metadata| metadata["name"].as_str());
        let full = full.unwrap_or(root.name());
        full.split_once(['-', '/']).map_or(full, |(_, name)| name).to_owned()
    }

    /// Reads the metadata.json of a module, if it is JSON and mentions `member`.
    fn read_metadata(&self, root: &FilePath, member: &str) -> Option<serde_json::Value> {
        let text = self.configs.text_of(&root.join(METADATA))?;
        if text.contains(member) { serde_json::from_str(&text).ok() } else { None }
    }

    pub(super) fn module_path(&self, root: &FilePath) -> Vec<FilePath> {
        let below = |folder: &str| root.join(folder);
        if let Some(folders) = &self.settings.environment_config(root).module_path {
            return folders.iter().map(|folder| below(folder)).collect();
        }
        match self.environment_conf(root) {
            Some(conf) => conf
                .module_folders(root, self.names)
                .unwrap_or_else(|| vec![below(DEFAULT_MODULE_FOLDER)]),
            // Without an environment.conf, only the Puppet server's own settings may name the
            // folders.
            None => MODULE_FOLDERS.map(below).to_vec(),
        }
    }

    /// Returns the path of the environment's own manifests, by `manifest` of environment.conf or
    /// Puppet's habit.
    fn main_manifests(&self, root: &FilePath) -> FilePath {
        let conf = self.environment_conf(root).unwrap_or_default();
        root.join(conf.manifest().unwrap_or("manifests"))
    }

    /// Returns the setting that chose an environment's data before Hiera 5. OpenVox 9 has dropped
    /// it.
    fn environment_data_provider(&self, root: &FilePath) -> Option<String> {
        let is_known = self.settings.environment_config(root).puppet.major < 9;
        let conf = self.environment_conf(root).filter(|_| is_known)?;
        conf.data_provider().map(str::to_owned)
    }

    /// Reads the environment.conf in a folder, if there is one; its settings are empty if Puppet
    /// refuses it.
    fn environment_conf(&self, root: &FilePath) -> Option<EnvironmentConf> {
        self.read_environment_conf(root).map(Result::unwrap_or_default)
    }

    fn read_environment_conf(&self, root: &FilePath) -> Option<Result<EnvironmentConf, String>> {
        let text = self.configs.text_of(&root.join(ENVIRONMENT_CONF))?;
        Some(EnvironmentConf::read(&text))
    }

    /// Returns the modules in these folders; the first of two with the same name wins.
    fn find_modules(&self, folders: &[FilePath], outer: &Outer<'_>) -> Modules {
        let mut modules = Modules::default();
        let mut seen = BTreeSet::new();
        for folder in folders {
            for (name, kind) in self.names.children.get(folder).map_or(&[][..], Vec::as_slice) {
                // The first module of a name wins, even where Puppet then refuses it.
                if *kind == EntryKind::File || !is_module_name(name) || !seen.insert(name) {
                    continue;
                }
                let root = folder.join(name);
                match self.refused_module(&root, name, outer.puppet) {
                    Some(refused) => modules.refused.push(refused),
                    None => {
                        modules.taken.insert(name.clone(), self.read_module(root, name, outer));
                    }
                }
            }
        }
        modules
    }

    /// Returns the refusal of a module that Puppet ignores because of its metadata.json, with an
    /// error in its log: a file with any member needs all of these, and `dependencies` must be a
    /// list; with `strict=error`, a file with any text must be JSON. Source:
    /// `Puppet::Module#load_metadata`.
    fn refused_module(
        &self,
        root: &FilePath,
        name: &str,
        puppet: PuppetVersion,
    ) -> Option<RefusedModule> {
        const NEEDED: [&str; 5] = ["source", "author", "version", "license", "dependencies"];
        let text = self.configs.text_of(&root.join(METADATA))?;
        // Puppet 7 has no exception for an empty file.
        if text.is_empty() && puppet.major >= 8 {
            return None;
        }
        if puppet.strict == Strict::Error && !parse_json(&text).problems.is_empty() {
            return refuse_module(MetadataFault::NotJson, name, root);
        }
        let metadata = self.read_metadata(root, "")?;
        if metadata.as_object().is_none_or(serde_json::Map::is_empty) {
            return None;
        }
        let missing: Vec<_> = NEEDED.into_iter().filter(|it| metadata[*it].is_null()).collect();
        if !missing.is_empty() {
            return refuse_module(MetadataFault::Missing(missing), name, root);
        }
        if metadata["dependencies"].is_array() {
            return None;
        }
        refuse_module(MetadataFault::NoListOfDependencies, name, root)
    }

    fn read_module(&self, root: FilePath, name: &str, outer: &Outer<'_>) -> Module {
        let layer = Layer::Module(name.into());
        let path = root.join(HIERA_CONFIG);
        let metadata = self.read_metadata(&root, "data_provider");
        let selector = metadata.as_ref().and_then(|metadata| metadata["data_provider"].as_str());
        let written = self.written_config(&path, &layer, outer.puppet);
        let mut config = select(written, selector, &layer, outer.name, &path, outer.puppet);
        if let Some(config) = &mut config {
            // Modules are deployed as they are, so that none of their datadirs is elsewhere.
            let mappings = &self.settings.environment_config(outer.root).path_mappings;
            config.place_datadirs(|datadir| {
                mappings.map(datadir, Some(outer.root), &|path| self.names.exists(path))
            });
        }
        Module { root, config: config.map(Arc::new) }
    }

    /// Replaces the datadirs of a config by those that the path mappings of the environment at
    /// `root` give, or by folders that are found elsewhere in the repository; returns the latter.
    pub(super) fn place_datadirs(
        &self,
        config: &mut HieraConfig,
        root: &FilePath,
    ) -> Vec<RelocatedDatadir> {
        let folder = self.folder_of(&config.path);
        let placer = DatadirPlacer {
            names: self.names,
            is_on_disk: self.is_on_disk,
            mappings: &self.settings.environment_config(root).path_mappings,
            root,
            ceiling: folder.unwrap_or(root),
            is_sample: self.is_sample(&config.path),
        };
        placer.place_datadirs(config)
    }

    /// Whether a config belongs to tests, examples or installed modules of the workspace.
    pub(super) fn is_sample(&self, config: &FilePath) -> bool {
        let below = self.folder_of(config).and_then(|folder| config.relative_to(folder));
        let folders = below.and_then(|below| below.rsplit_once('/'));
        folders.is_some_and(|(folders, _)| is_test(folders) || is_below_installed(folders))
    }

    /// Returns the folder of the workspace that a file lies in.
    pub(super) fn folder_of(&self, path: &FilePath) -> Option<&FilePath> {
        let holding = self.folders.iter().filter(|folder| path.is_within(folder));
        holding.max_by_key(|folder| folder.as_str().len())
    }

    /// Returns the config that the file at `path` holds, if it exists.
    pub(super) fn written_config(
        &self,
        path: &FilePath,
        layer: &Layer,
        puppet: PuppetVersion,
    ) -> Option<HieraConfig> {
        let file = self.configs.file(path)?;
        let text = file.text().cloned().unwrap_or_default();
        let source = ConfigSource { file: file.id, path, text: &text, layer, puppet };
        let mut config = HieraConfig::read(source, &file.data_as(DataFormat::Yaml));
        config.describe_backends(&self.settings.of_file(path).backends);
        Some(config)
    }
}

fn refuse_module(fault: MetadataFault, name: &str, root: &FilePath) -> Option<RefusedModule> {
    Some(RefusedModule { name: name.to_owned(), metadata: root.join(METADATA), fault })
}
