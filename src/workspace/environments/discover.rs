//! Discovery of environments: their folders, their configs and the folders of their modules. The
//! result depends on names, a few small files and the settings alone.
//!
//! A `hiera.yaml` at its usual place makes an environment of its folder.
//! [`candidates`](super::candidates) decides which data other configs govern, such as those under
//! another name, or in a folder beside the code.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::candidates;
use super::configs::Configs;
use super::discovery::Discovery;
use crate::text::FilePath;
use crate::workspace::config::WorkspaceConfig;
use crate::workspace::environments::{Environment, Environments};
use crate::workspace::files::kinds::is_sample;
use crate::workspace::files::names::DiskNames;

/// Discovers the environments that the configs and names in these folders of a workspace make.
///
/// `is_on_disk` answers for folders outside the workspace that `names` does not list.
pub(in crate::workspace) fn discover(
    names: &DiskNames,
    configs: &Configs,
    settings: &WorkspaceConfig,
    folders: &[FilePath],
    is_on_disk: &dyn Fn(&FilePath) -> bool,
) -> Environments {
    let discovery = Discovery { names, configs, settings, folders, is_on_disk };
    let mut roots = discovery.environment_roots();
    let apart: Vec<FilePath> =
        roots.iter().filter(|root| discovery.is_apart_from_code(root)).cloned().collect();
    roots.retain(|root| !apart.contains(root));
    let bare = discovery.bare_roots(&roots);
    roots.extend(bare.iter().cloned());
    // A hiera.yaml in a folder of another root's module path belongs to a module. Configs under
    // another name, or apart from their code, have a root, too.
    let module_paths: BTreeMap<FilePath, Vec<FilePath>> = roots
        .iter()
        .cloned()
        .chain(discovery.named_homes())
        .chain(apart.iter().map(|folder| discovery.home_of(&discovery.config_path(folder))))
        .map(|root| (root.clone(), discovery.module_path(&root)))
        .collect();
    let mut roots_by_module_folder: BTreeMap<&FilePath, Vec<&FilePath>> = BTreeMap::new();
    for (root, folder) in
        module_paths.iter().flat_map(|(root, it)| it.iter().map(move |it| (root, it)))
    {
        roots_by_module_folder.entry(folder).or_default().push(root);
    }
    let opened: HashSet<&FilePath> = folders.iter().collect();
    let global = discovery.global_config();
    let environment = |root: &FilePath| {
        let is_nested = root.ancestors().any(|above| roots.contains(&above));
        discovery.new_environment(root, &module_paths[root], is_nested, global.clone())
    };
    let (bare, configured): (Vec<&FilePath>, Vec<&FilePath>) = roots
        .iter()
        .filter(|root| {
            !is_on_module_path(root, &roots_by_module_folder)
                && !is_sample_below(root, &opened, &roots)
        })
        .partition(|root| bare.contains(root));
    let mut usual: Vec<Environment> = configured.into_iter().map(environment).collect();
    usual.sort_by_key(|environment| Reverse(environment.root.as_str().len()));
    let mut environments =
        candidates::settle(&discovery, usual, global.as_ref(), &|root: &FilePath| {
            is_on_module_path(root, &roots_by_module_folder)
        });
    // A config under another name, or in another folder, may turn out to govern a bare root.
    for root in bare {
        if environments.all.iter().all(|environment| environment.root != *root) {
            environments.all.push(Arc::new(environment(root)));
        }
    }
    environments
}

fn is_sample_below(
    root: &FilePath,
    opened: &HashSet<&FilePath>,
    roots: &BTreeSet<FilePath>,
) -> bool {
    root.ancestors().any(|above| {
        (opened.contains(&above) || roots.contains(&above))
            && root.relative_to(&above).is_some_and(is_sample)
    })
}

fn is_on_module_path(
    root: &FilePath,
    roots_by_module_folder: &BTreeMap<&FilePath, Vec<&FilePath>>,
) -> bool {
    let owners = root.parent().and_then(|parent| roots_by_module_folder.get(&parent));
    owners.is_some_and(|owners| owners.iter().any(|owner| *owner != root))
}
