//! Which layers the configs of a snapshot make: where environments are, and which folders are their modules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::WorkspaceConfig;
use super::fs::Entry;
use super::layers::{Environment, Known, Layout, Module};
use super::scan::{METADATA, is_config, is_named};
use super::snapshot::{Names, Snapshot};
use crate::hiera::config::{ConfigSource, HieraConfig, Layer, select};
use crate::hiera::data::Format;
use crate::hiera::glob::EntryKind;
use crate::hiera::lookup::Profile;
use crate::text::FilePath;

/// The modules' folders of an environment that does not name any.
pub(super) const MODULE_FOLDERS: [&str; 3] = ["modules", "site", "site-modules"];
/// Folders of an environment, or of a module, in which a `hiera.yaml` configures nothing.
const SAMPLE_FOLDERS: [&str; 6] = ["spec", "fixtures", "files", "templates", "examples", "vendor"];
const ENVIRONMENT_CONF: &str = "environment.conf";

/// What a module's layer takes from the environment that it is in.
struct Of<'a> {
    environment: &'a str,
    profile: Profile,
}

/// The layers that the configs of a snapshot make.
pub fn layout(snapshot: &Snapshot) -> Layout {
    let config = snapshot.config();
    let roots = roots(snapshot);
    // A hiera.yaml in a folder of another's module path is that module's.
    let module_folders: BTreeMap<&FilePath, Vec<FilePath>> =
        roots.iter().map(|root| (root, module_path(snapshot, root))).collect();
    let is_module = |root: &FilePath| {
        root.parent()
            .is_some_and(|parent| module_folders.iter().any(|(other, folders)| *other != root && folders.contains(&parent)))
            || roots.iter().any(|other| other != root && is_sample(root, other))
    };
    // Where the global layer has no file, Puppet's defaults apply.
    let global = config.global_hiera_config.as_ref().map(|path| {
        let written = read_config(snapshot, path, &Layer::Global, config.common.profile);
        Arc::new(written.unwrap_or_else(|| HieraConfig::default_at(path)))
    });
    let mut environments = Vec::new();
    for root in roots.iter().filter(|root| !is_module(root)) {
        let name = match root.parent().as_ref().map(FilePath::name) {
            Some("environments") => root.name().to_owned(),
            _ => config.of(root).name.clone(),
        };
        let of = Of { environment: &name, profile: config.of(root).profile };
        let lone = if root.ancestors().any(|above| roots.contains(&above)) { None } else { lone_module(snapshot, root, &of) };
        let (environment_config, modules) = match lone {
            Some(module) => (None, BTreeMap::from([module])),
            None => (environment_config(snapshot, root, &name), modules(snapshot, &module_folders[root], &of)),
        };
        let environment = Environment {
            root: root.clone(),
            name,
            config: environment_config.map(Arc::new),
            global: global.clone(),
            modules,
            reach: Vec::new(),
            datadirs: Vec::new(),
            are_formats_one: false,
            known: Known::default(),
        };
        environments.push(Arc::new(environment.with_reach(snapshot)));
    }
    environments.sort_by_key(|environment| std::cmp::Reverse(environment.root.as_str().len()));
    Layout { environments }
}

/// The folders with a `hiera.yaml` of their own, and those that are environments without one.
fn roots(snapshot: &Snapshot) -> BTreeSet<FilePath> {
    let config = snapshot.config();
    let is_global = |path: &FilePath| config.global_hiera_config.as_ref() == Some(path);
    let configs = snapshot.files.keys().filter(|path| is_config(config, path) && !is_global(path));
    let mut roots: BTreeSet<FilePath> = configs.filter_map(|path| root_of(config, path)).collect();
    // Without a hiera.yaml an environment still has the layers above and below it, or what an older setting says.
    let has_global = config.global_hiera_config.is_some();
    let confs = snapshot.files.keys().filter(|path| path.name() == ENVIRONMENT_CONF);
    let folders = confs.filter_map(FilePath::parent);
    roots.extend(folders.filter(|root| has_global || environment_data_provider(snapshot, root).is_some()));
    if has_global {
        let has_environment = |folder: &FilePath| {
            let modules = module_path(snapshot, folder);
            let is_environment =
                |root: &FilePath| root.is_within(folder) && !root.parent().is_some_and(|it| modules.contains(&it));
            roots.iter().any(|root| folder.is_within(root) || is_environment(root))
        };
        let without: Vec<FilePath> = snapshot.folders().iter().filter(|folder| !has_environment(folder)).cloned().collect();
        roots.extend(without);
    }
    roots
}

/// The environment's own config, if it has one.
fn environment_config(snapshot: &Snapshot, root: &FilePath, name: &str) -> Option<HieraConfig> {
    let path = config_path(snapshot, root);
    let written = if snapshot.config().global_hiera_config.as_ref() == Some(&path) {
        None
    } else {
        read_config(snapshot, &path, &Layer::Environment, snapshot.config().of(root).profile)
    };
    select(written, environment_data_provider(snapshot, root).as_deref(), &Layer::Environment, name, &path)
}

/// What there is of the environment of a module that is opened without one: this module.
fn lone_module(snapshot: &Snapshot, root: &FilePath, of: &Of<'_>) -> Option<(String, Module)> {
    let has = |name: &str| snapshot.names.entries.contains_key(&root.join(name));
    if !has(METADATA) || [ENVIRONMENT_CONF, "Puppetfile"].into_iter().any(has) {
        return None;
    }
    let name = module_name(snapshot, root);
    let module = module(snapshot, root.clone(), &name, of);
    Some((name, module))
}

/// A module's name: metadata.json has the author's before it, and so has the folder often.
fn module_name(snapshot: &Snapshot, root: &FilePath) -> String {
    let metadata = metadata(snapshot, root, "name");
    let full = metadata.as_ref().and_then(|metadata| metadata["name"].as_str()).unwrap_or(root.name());
    full.split_once(['-', '/']).map_or(full, |(_, name)| name).to_owned()
}

/// A module's metadata.json, if it is read and says anything about `member`.
fn metadata(snapshot: &Snapshot, root: &FilePath, member: &str) -> Option<serde_json::Value> {
    let text = snapshot.file(&root.join(METADATA))?.text()?.to_str().into_owned();
    if text.contains(member) { serde_json::from_str(&text).ok() } else { None }
}

fn root_of(config: &WorkspaceConfig, path: &FilePath) -> Option<FilePath> {
    let depth = FilePath::new(&config.hiera_config).as_str().matches('/').count();
    if is_named(config, path) { path.ancestors().nth(depth) } else { path.parent() }
}

fn config_path(snapshot: &Snapshot, root: &FilePath) -> FilePath {
    let named = root.join(&snapshot.config().hiera_config);
    if snapshot.files.contains_key(&named) { named } else { root.join("hiera.yaml") }
}

/// Whether a `hiera.yaml` at `root` is what tests, templates or examples of the environment at `other` are made of.
fn is_sample(root: &FilePath, other: &FilePath) -> bool {
    root.relative_to(other).is_some_and(|below| below.split('/').any(|folder| SAMPLE_FOLDERS.contains(&folder)))
}

fn module_path(snapshot: &Snapshot, root: &FilePath) -> Vec<FilePath> {
    let named = snapshot.config().of(root).module_path.clone().or_else(|| environment_conf_module_path(snapshot, root));
    match named {
        Some(folders) => folders.iter().map(|folder| root.join(folder)).collect(),
        None => MODULE_FOLDERS.iter().map(|folder| root.join(folder)).collect(),
    }
}

/// `modulepath` of environment.conf; `$basemodulepath` and absolute folders are not the repository's.
fn environment_conf_module_path(snapshot: &Snapshot, root: &FilePath) -> Option<Vec<String>> {
    let value = environment_conf(snapshot, root, "modulepath")?;
    let folders = value.split(':').map(str::trim).filter(|folder| !folder.is_empty() && !folder.starts_with(['$', '/']));
    Some(folders.map(str::to_owned).collect())
}

/// The setting that chose an environment's data before Hiera 5. OpenVox has it no more.
fn environment_data_provider(snapshot: &Snapshot, root: &FilePath) -> Option<String> {
    let is_known = snapshot.config().of(root).profile.version < 9;
    environment_conf(snapshot, root, "environment_data_provider").filter(|_| is_known)
}

fn environment_conf(snapshot: &Snapshot, root: &FilePath, setting: &str) -> Option<String> {
    let text = snapshot.file(&root.join(ENVIRONMENT_CONF))?.text()?.to_str().into_owned();
    text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == setting).then(|| value.trim().to_owned())
    })
}

/// The modules in these folders; of two with one name the first counts.
fn modules(snapshot: &Snapshot, folders: &[FilePath], of: &Of<'_>) -> BTreeMap<String, Module> {
    let mut modules = BTreeMap::new();
    let Names { children, .. } = &*snapshot.names;
    for folder in folders {
        for (name, kind) in children.get(folder).map_or(&[][..], Vec::as_slice) {
            if *kind == EntryKind::File || modules.contains_key(name) {
                continue;
            }
            modules.insert(name.clone(), module(snapshot, folder.join(name), name, of));
        }
    }
    modules
}

fn module(snapshot: &Snapshot, root: FilePath, name: &str, of: &Of<'_>) -> Module {
    let layer = Layer::Module(name.into());
    let path = root.join("hiera.yaml");
    let metadata = metadata(snapshot, &root, "data_provider");
    let provider = metadata.as_ref().and_then(|metadata| metadata["data_provider"].as_str());
    let config = select(read_config(snapshot, &path, &layer, of.profile), provider, &layer, of.environment, &path);
    Module { root, config: config.map(Arc::new) }
}

fn read_config(snapshot: &Snapshot, path: &FilePath, layer: &Layer, profile: Profile) -> Option<HieraConfig> {
    let file = snapshot.file(path)?;
    let is_here = matches!(snapshot.names.entries.get(path), Some(Entry::File(_))) || snapshot.files.contains_key(path);
    let text = file.text().cloned().unwrap_or_default();
    let source = ConfigSource { file: file.id, path, text: &text, layer, profile };
    is_here.then(|| HieraConfig::read(source, &file.data(Format::Yaml)))
}
