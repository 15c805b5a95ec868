//! The choice of the files that are read for nodes without a setting: by path and name first, then
//! by content.
//!
//! A file that the hierarchy reads is data, even if its content looks like facts. Files of modules,
//! fixtures and examples are about no node of the fleet.

use std::sync::Arc;

use super::super::inferred::{is_host_name, is_shared_name};
use super::super::parts::Parts;
use super::super::read::{NodeFormat, first_shape, read_parts_with};
use super::super::source::SourceContent;
use super::super::steps::InferStep;
use super::plugins::{FileLoader, Plugins};
use super::{blocks, specs};
use crate::manifest::Manifest;
use crate::text::FilePath;
use crate::workspace::environments::{Environment, Environments};
use crate::workspace::files::kinds::METADATA;

/// Folders whose files are not about the fleet.
const FOREIGN_FOLDERS: [&str; 10] = [
    "modules",
    "site",
    "site-modules",
    "dist",
    "vendor",
    "fixtures",
    "examples",
    "acceptance",
    "r10k_modules",
    "node_modules",
];
/// Folders for the output of programs about nodes.
const NODE_FOLDERS: [&str; 10] = [
    "facts",
    "factsets",
    "enc",
    "classifier",
    "classifiers",
    "external_nodes",
    "node_classifier",
    "node",
    "nodes",
    "puppetdb",
];
/// Words in the names of files with the output of programs about nodes.
const NODE_NAMES: [&str; 3] = ["inventory", "puppetdb", "factset"];
/// Facts that every set has one of.
const USUAL_FACTS: [&str; 8] =
    ["os", "networking", "kernel", "fqdn", "hostname", "osfamily", "operatingsystem", "clientcert"];

/// The way in which a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workspace) enum Candidate {
    /// A spec of rspec-puppet.
    Spec,
    /// JSON or YAML.
    Data,
}

/// Returns the way in which the file at `path` is read for nodes; `None` for all other files.
/// `folders` are those of the workspace.
pub(in crate::workspace) fn source_candidate(
    path: &FilePath,
    environments: &Environments,
    folders: &[FilePath],
) -> Option<Candidate> {
    let is_spec = path.name().ends_with("_spec.rb");
    let is_data =
        matches!(path.extension(), Some("yaml" | "yml" | "json" | "facts" | "jsonl" | "ndjson"));
    if !is_spec && !is_data {
        return None;
    }
    let root = root_of(path, environments, folders)?;
    let below = path.relative_to(root)?;
    let (folder, _) = below.rsplit_once('/').unwrap_or(("", below));
    if folder.split('/').any(|name| FOREIGN_FOLDERS.contains(&name) || name.starts_with('.')) {
        return None;
    }
    if is_spec {
        return (below.starts_with("spec/hosts/")).then_some(Candidate::Spec);
    }
    if !has_name(path, folder) {
        return None;
    }
    (!environments
        .all
        .iter()
        .any(|environment| environment.governs_file(path) || environment.lies_in_datadir(path)))
    .then_some(Candidate::Data)
}

/// Whether the name of a file, or of one of the folders that it lies in, suggests nodes.
fn has_name(path: &FilePath, folders: &str) -> bool {
    let name = path.name().to_ascii_lowercase();
    NODE_NAMES.iter().any(|word| name.contains(word))
        || folders.split('/').any(|folder| NODE_FOLDERS.contains(&folder))
}

/// Returns the folder that a file belongs to: the nearest environment's, unless that is a module,
/// or else the workspace's.
fn root_of<'a>(
    path: &FilePath,
    environments: &'a Environments,
    folders: &'a [FilePath],
) -> Option<&'a FilePath> {
    match environments.all.iter().find(|environment| path.is_within(&environment.root)) {
        Some(environment) => {
            let mut modules = environment.modules.values();
            (!modules.any(|module| module.root == environment.root)).then_some(&environment.root)
        }
        None => folders.iter().find(|folder| path.is_within(folder)),
    }
}

/// Whether nodes of a file belong to an environment: it is the nearest one around the file, or
/// there is none around it, and the file is about all of them.
pub(in crate::workspace::nodes) fn is_of(
    path: &FilePath,
    environment: &Environment,
    environments: &Environments,
) -> bool {
    match environments.all.iter().find(|one| path.is_within(&one.root)) {
        Some(nearest) => nearest.root == environment.root,
        None => true,
    }
}

/// The nodes that a file states, or why they are not known.
pub(in crate::workspace) type StatedNodes = Result<SourceContent, String>;

/// Reads a file: the step that it belongs to, and its nodes; `None` where its content does not fit
/// its name.
pub(in crate::workspace) fn read(
    candidate: Candidate,
    path: &FilePath,
    text: &str,
    load: &FileLoader<'_>,
) -> Option<(InferStep, StatedNodes)> {
    let (step, found) = match candidate {
        Candidate::Spec => {
            let nodes = of_nodes(specs::nodes_in(path, text));
            (InferStep::Rspec, Ok(SourceContent { nodes, ..SourceContent::default() }))
        }
        Candidate::Data => {
            let (shape, first) = first_shape(path, text)?;
            let is_sure = match shape {
                NodeFormat::Facts => USUAL_FACTS.iter().any(|name| first.get(name).is_some()),
                NodeFormat::Scope => first.get("trusted").is_some(),
                _ => true,
            };
            if !is_sure || path.name() == METADATA {
                return None;
            }
            let found = read_named(path, text, load).map(|mut found| {
                found.nodes.retain(|parts| is_certname(&parts.name));
                found
            });
            // A refused file that has not the shape of a Bolt inventory is taken for a file that is
            // not about nodes.
            if found.is_err() && shape != NodeFormat::Bolt {
                return None;
            }
            (shape.infer_step(), found)
        }
    };
    Some((step, found))
}

/// Reads the nodes of a file that is named as their source, and of the files that a Bolt inventory
/// includes.
pub(in crate::workspace) fn read_named(
    path: &FilePath,
    text: &str,
    load: &FileLoader<'_>,
) -> StatedNodes {
    let mut plugins = Plugins::new(path, load);
    let nodes = read_parts_with(path, text, &mut plugins)?.into_iter().map(Arc::new).collect();
    let (included, plugins) = plugins.into_parts();
    Ok(SourceContent { nodes, included, plugins, patterns: Vec::new() })
}

/// Returns the content of the `node` blocks of a manifest.
pub(in crate::workspace) fn in_manifest(path: &FilePath, manifest: &Manifest) -> SourceContent {
    let (nodes, patterns) = blocks::nodes_in(path, manifest);
    SourceContent { nodes: of_nodes(nodes), patterns, ..SourceContent::default() }
}

/// Leaves out parts without a certname.
fn of_nodes(found: Vec<Parts>) -> Vec<Arc<Parts>> {
    found.into_iter().filter(|parts| is_certname(&parts.name)).map(Arc::new).collect()
}

/// Whether a name can be a certname: these are in lower case, and words for all nodes are none.
fn is_certname(name: &str) -> bool {
    !name.is_empty()
        && is_host_name(name)
        && !is_shared_name(name)
        && !name.contains(|c: char| c.is_ascii_uppercase())
}
