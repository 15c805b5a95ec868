//! The choice of the config that governs data among several configs, where not all of them are
//! called `hiera.yaml` and lie in the folder of an environment.
//!
//! A config at its usual place comes first, then one that does not belong to tests or examples, then
//! the one that reads the most existing files: a sample reads what production reads, and its own data
//! besides. Each governs the data that none before it reads. An environment knows the other configs
//! that read its data.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::discovery::{Candidate, Discovery};
use crate::hiera::config::{ConfigVersion, HieraConfig, Layer};
use crate::hiera::hierarchy::pattern_of;
use crate::text::FilePath;
use crate::workspace::environments::{Environment, Environments, OtherConfig, UnusedConfig};
use crate::workspace::files::kinds::FileKind;
use crate::workspace::files::names::DiskNames;

/// Returns the environments of all configs: those of the configs at their usual places, and those
/// of other configs that read data that none of these read. `is_of_module` is true for folders of
/// modules.
pub(super) fn settle(
    discovery: &Discovery<'_>,
    usual: Vec<Environment>,
    global: Option<&Arc<HieraConfig>>,
    is_of_module: &dyn Fn(&FilePath) -> bool,
) -> Environments {
    let mut all = usual;
    let mut others = Vec::new();
    for candidate in find_candidates(discovery, &all, global.is_some(), is_of_module) {
        let is_below = |environment: &Environment| {
            candidate.config.path.is_within(&environment.root)
                && (candidate.is_sample || is_of_setting(discovery, environment))
        };
        let reads_more = candidate.files.iter().any(|path| governing_index(&all, path).is_none());
        if all.is_empty() || reads_more && !all.iter().any(is_below) {
            all.push(discovery.environment_of_config(candidate, global));
        } else {
            others.push(candidate);
        }
    }
    let unused = |candidate: &Candidate| UnusedConfig {
        path: candidate.config.path.clone(),
        files: candidate.files.clone(),
        is_sample: candidate.is_sample,
    };
    let unused = others.iter().map(unused).collect();
    let others: Vec<(usize, OtherConfig)> = among_environments(discovery.names, &all)
        .into_iter()
        .chain(others.into_iter().flat_map(|candidate| candidate.into_entries(&all)))
        .collect();
    for (number, other) in others {
        all[number].others.push(other);
    }
    let all = all.into_iter().map(Arc::new).collect();
    Environments { all, candidates: unused, ..Environments::default() }
}

/// Whether the setting `hieraConfig` names the config of an environment.
fn is_of_setting(discovery: &Discovery<'_>, environment: &Environment) -> bool {
    let configs = environment.config.iter().chain(&environment.global);
    configs.map(|config| &config.path).any(|path| discovery.is_of_setting(path))
}

/// Returns the number of the environment that governs a data file.
fn governing_index(all: &[Environment], path: &FilePath) -> Option<usize> {
    let reaching = all.iter().enumerate().filter(|(_, environment)| environment.reaches_file(path));
    reaching
        .min_by_key(|(number, environment)| (!path.is_within(&environment.root), *number))
        .map(|(number, _)| number)
}

/// Returns the configs that no environment uses, in the order of their rank.
fn find_candidates(
    discovery: &Discovery<'_>,
    usual: &[Environment],
    has_global: bool,
    is_of_module: &dyn Fn(&FilePath) -> bool,
) -> Vec<Candidate> {
    // The set includes the config at the usual place even if it is unused: an older setting may
    // have that effect.
    let used: HashSet<FilePath> = usual
        .iter()
        .flat_map(|environment| environment.all_configs().map(|(_, config)| config.path.clone()))
        .chain(usual.iter().map(|environment| discovery.config_path(&environment.root)))
        .chain(discovery.settings.global_hiera_config.clone())
        .collect();
    let files = discovery.configs.files().filter(|file| {
        let is_config = FileKind::of_path(&file.path, discovery.settings) == FileKind::HieraConfig;
        let is_modules = is_config && file.path.parent().is_some_and(|it| is_of_module(&it));
        !is_modules && !used.contains(&file.path)
    });
    let mut found: Vec<Candidate> = files
        .filter_map(|file| {
            let version = file.config_version();
            let is_config =
                FileKind::of_path(&file.path, discovery.settings) == FileKind::HieraConfig;
            let role = match version {
                // The user's settings name the global config, and there is only one.
                Some(ConfigVersion::V3) if has_global => return None,
                Some(ConfigVersion::V3) => Layer::Global,
                Some(_) => Layer::Environment,
                None if is_config => Layer::Environment,
                None => return None,
            };
            Candidate::new(discovery, &file.path, role)
        })
        .collect();
    found.sort_by_cached_key(|it| {
        let path = it.config.path.clone();
        let is_last = !discovery.is_of_setting(&path);
        (is_last, it.files.is_empty(), it.is_sample, Reverse(it.files.len()), path)
    });
    found
}

impl Candidate {
    /// Returns the config at `path` with the environment that it would make: the folder with code
    /// above the data that it reads, or else above the config.
    pub(super) fn new(
        discovery: &Discovery<'_>,
        path: &FilePath,
        role: Layer,
    ) -> Option<Candidate> {
        let mut home = Candidate::at_root(discovery, path, &role, discovery.home_of(path))?;
        let with_code = home.data_folder().and_then(|folder| discovery.code_folder_above(&folder));
        let has_code = with_code.is_some();
        if let Some(root) = with_code.filter(|root| *root != home.root) {
            home = Candidate::at_root(discovery, path, &role, root)?;
        }
        let own = discovery
            .root_of(path)
            .filter(|_| FileKind::of_path(path, discovery.settings) == FileKind::HieraConfig);
        // With data beside it, a file of the usual name makes an environment of its folder, unless it
        // is the config of the code above.
        let is_apart = |root: &FilePath| {
            let holds_data = home.files.iter().any(|file| file.is_within(root));
            let is_of_code = has_code
                && !home.is_sample
                && !discovery.has_code(root)
                && discovery.configs.file(&discovery.config_path(&home.root)).is_none();
            holds_data && !is_of_code && !home.root.is_within(root)
        };
        match own.filter(is_apart) {
            Some(root) => Candidate::at_root(discovery, path, &role, root),
            None => Some(home),
        }
    }

    /// Returns the deepest folder that holds all files that the config reads.
    fn data_folder(&self) -> Option<FilePath> {
        let mut folders = self.files.iter().filter_map(FilePath::parent);
        let first = folders.next()?;
        Some(folders.fold(first, |one, other| one.common_folder(&other)))
    }

    fn at_root(
        discovery: &Discovery<'_>,
        path: &FilePath,
        role: &Layer,
        root: FilePath,
    ) -> Option<Candidate> {
        let puppet = discovery.settings.environment_config(&root).puppet;
        let mut config = discovery.written_config(path, role, puppet)?;
        let sought = discovery.place_datadirs(&mut config, &root);
        let files = files_of(discovery.names, &config);
        let is_sample = discovery.is_sample(path);
        Some(Candidate { config, role: role.clone(), root, is_sample, sought, files })
    }

    /// Returns the entries that the environments get for this config, with the numbers of the
    /// environments.
    fn into_entries(self, all: &[Environment]) -> Vec<(usize, OtherConfig)> {
        let mut shared: BTreeMap<usize, BTreeSet<FilePath>> = BTreeMap::new();
        let mut own = BTreeSet::new();
        for path in self.files {
            match governing_index(all, &path) {
                Some(number) => drop(shared.entry(number).or_default().insert(path)),
                None => drop(own.insert(path)),
            }
        }
        if let Some(number) = all
            .iter()
            .position(|environment| self.config.path.is_within(&environment.root))
            .filter(|_| !own.is_empty())
        {
            shared.entry(number).or_default();
        }
        let (config, is_sample) = (Arc::new(self.config), self.is_sample);
        shared
            .into_iter()
            .map(|(number, shared)| {
                let (config, own) = (config.clone(), own.clone());
                (number, OtherConfig { config, is_sample, shared, own })
            })
            .collect()
    }
}

/// Returns the existing files that the levels of a config name.
fn files_of(names: &DiskNames, config: &HieraConfig) -> BTreeSet<FilePath> {
    let mut patterns = Vec::new();
    for level in config.levels() {
        let templates = level.locations.templates().iter();
        patterns.extend(templates.filter_map(|template| pattern_of(config, level, template)));
    }
    names.files_of_patterns(&patterns)
}

/// Returns the own configs of environments that read data which others govern, with the numbers of
/// the governing environments.
fn among_environments(names: &DiskNames, all: &[Environment]) -> Vec<(usize, OtherConfig)> {
    let mut told = Vec::new();
    let sharing = find_sharing(all);
    // Nearly all environments share no files with others.
    for (number, environment) in all.iter().enumerate().filter(|(number, _)| sharing[*number]) {
        for config in environment.config.iter().chain(&environment.global) {
            let mut shared: BTreeMap<usize, BTreeSet<FilePath>> = BTreeMap::new();
            for path in files_of(names, config) {
                if let Some(other) = governing_index(all, &path).filter(|other| *other != number) {
                    shared.entry(other).or_default().insert(path);
                }
            }
            told.extend(shared.into_iter().map(|(other, shared)| {
                let config = config.clone();
                (other, OtherConfig { config, is_sample: false, shared, own: BTreeSet::new() })
            }));
        }
    }
    told
}

/// Finds the environments that read from a folder that holds, or lies in, a folder that another one
/// reads from.
fn find_sharing(all: &[Environment]) -> Vec<bool> {
    let folders: Vec<BTreeSet<FilePath>> = all.iter().map(folders_of).collect();
    let mut readers: HashMap<&FilePath, Vec<usize>> = HashMap::new();
    for (number, folder) in
        folders.iter().enumerate().flat_map(|(n, it)| it.iter().map(move |it| (n, it)))
    {
        readers.entry(folder).or_default().push(number);
    }
    let mut share = vec![false; all.len()];
    for (number, own) in folders.iter().enumerate() {
        for above in own.iter().flat_map(|it| std::iter::once(it.clone()).chain(it.ancestors())) {
            for other in readers.get(&above).into_iter().flatten().filter(|it| **it != number) {
                share[number] = true;
                share[*other] = true;
            }
        }
    }
    share
}

/// Returns the folders that the levels of an environment's own layers start with.
fn folders_of(environment: &Environment) -> BTreeSet<FilePath> {
    let own = environment.reach.iter().filter(|reach| !matches!(reach.layer, Layer::Module(_)));
    own.map(|reach| {
        let prefix = reach.pattern.literal_prefix();
        FilePath::new(prefix.rsplit_once('/').map_or("/", |(folder, _)| folder))
    })
    .collect()
}
