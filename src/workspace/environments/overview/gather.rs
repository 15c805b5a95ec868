//! Gathers the overview of an environment from a snapshot.

use std::collections::BTreeMap;

use super::{NodesFrom, Overview};
use crate::text::FilePath;
use crate::workspace::environments::Environment;
use crate::workspace::snapshot::Snapshot;

impl Snapshot {
    /// Returns the environments in few words.
    pub fn overviews(&self) -> &[Overview] {
        self.environments.overviews.get_or_init(|| {
            self.environments.all.iter().map(|one| Overview::from_environment(self, one)).collect()
        })
    }
}

impl Overview {
    /// Returns the overview of an environment.
    pub fn from_environment(snapshot: &Snapshot, environment: &Environment) -> Overview {
        Overview {
            root: environment.root.clone(),
            config: governing_config(environment),
            data_files: snapshot
                .files()
                .filter(|file| environment.reaches_file(&file.path))
                .count(),
            assumed: assumed_variables(snapshot, environment),
            nodes: nodes_from(snapshot, environment),
            kinds: snapshot.kinds_of(environment).all.len(),
            kinds_from: snapshot.kinds_of(environment).folders.clone(),
        }
    }
}

fn governing_config(environment: &Environment) -> Option<FilePath> {
    if let Some(own) = &environment.config {
        return Some(own.path.clone());
    }
    let mut modules = environment.modules.values().filter_map(|module| module.config.as_ref());
    let only = modules.next().filter(|_| modules.next().is_none())?;
    Some(only.path.clone())
}

fn assumed_variables(snapshot: &Snapshot, environment: &Environment) -> Vec<String> {
    let is_told =
        environment.is_named_by_folder() || snapshot.config_of(environment).name.is_some();
    let asks = !is_told
        && environment.reach.iter().any(|reach| {
            let names = reach.pattern.variables().iter();
            names
                .into_iter()
                .any(|name| name == "environment" || name == "server_facts.environment")
        });
    let name = asks.then(|| format!("environment = {}", environment.name));
    let datadirs = environment.sought_datadirs.iter().map(|sought| {
        let found = sought.found.relative_to(&environment.root).unwrap_or(sought.found.as_str());
        format!("{} is {found}", sought.written)
    });
    name.into_iter().chain(datadirs).collect()
}

/// Returns the nodes by source: a file that holds several, the folder of files that are called as
/// their nodes, and the folder below which data files or specs lie.
fn nodes_from(snapshot: &Snapshot, environment: &Environment) -> Vec<NodesFrom> {
    let mut by_file: BTreeMap<&FilePath, (usize, bool)> = BTreeMap::new();
    for node in snapshot.nodes_of(environment) {
        let stem = node.source.name().strip_prefix(&*node.name);
        let is_called_so = stem.is_some_and(|rest| rest.starts_with('.'));
        let (count, are_called_so) = by_file.entry(&node.source).or_insert((0, true));
        *count += 1;
        *are_called_so &= is_called_so;
    }
    let mut found: BTreeMap<FilePath, usize> = BTreeMap::new();
    let (mut data, mut specs) = (None, None);
    for (path, (count, is_called_so)) in by_file {
        let folder = path.parent().unwrap_or_else(|| path.clone());
        if environment.reaches_file(path) {
            note_folder(&mut data, folder, count);
        } else if path.name().ends_with("_spec.rb") {
            note_folder(&mut specs, folder, count);
        } else {
            let place = if count == 1 && is_called_so { folder } else { path.clone() };
            *found.entry(place).or_default() += count;
        }
    }
    let all = found.into_iter().chain(data).chain(specs);
    let mut sources: Vec<NodesFrom> =
        all.map(|(place, count)| NodesFrom { place, count }).collect();
    sources.sort_by_key(|from| std::cmp::Reverse(from.count));
    sources
}

fn note_folder(common: &mut Option<(FilePath, usize)>, folder: FilePath, count: usize) {
    *common = Some(match common.take() {
        None => (folder, count),
        Some((known, before)) => (known.common_folder(&folder), before + count),
    });
}
