//! Nodes that the names of data files show, where no setting names any.
//!
//! A level such as `nodes/%{trusted.certname}.yaml` has a file for each node, and the other
//! variables of its path are known with it. [`positions`](super::positions) adds those that the
//! names themselves tell.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::parts::{Around, Parts};
use super::positions::{KnownValues, Positions, Told};
use super::{Node, VariableSource};
use crate::hiera::config::Layer;
use crate::hiera::interpolation::{TokenKind, tokens};
use crate::hiera::pattern::{Bindings, PatternMatch, variable_name};
use crate::text::FilePath;
use crate::workspace::environments::{Environment, Reach};
use crate::workspace::snapshot::Snapshot;

/// Variables that hold a node's name, or the part of it before the domain.
const NAME_VARIABLES: [&str; 14] = [
    "certname",
    "trusted.certname",
    "clientcert",
    "facts.clientcert",
    "fqdn",
    "facts.fqdn",
    "networking.fqdn",
    "facts.networking.fqdn",
    "host",
    "hostname",
    "facts.hostname",
    "networking.hostname",
    "facts.networking.hostname",
    "trusted.hostname",
];
/// Variables that always have the same value as each other. Source: semantics 1.3 and Facter's
/// legacy facts.
const SAME: [&[&str]; 3] = [
    &["trusted.certname", "clientcert", "facts.clientcert"],
    &["facts.networking.fqdn", "networking.fqdn", "facts.fqdn", "fqdn"],
    &["facts.networking.hostname", "networking.hostname", "facts.hostname", "hostname"],
];
/// Words in the name of a variable or of a level that say that its files are nodes.
const NODE_WORDS: [&str; 6] = ["node", "host", "cert", "fqdn", "machine", "server"];
/// Words in the name of a variable that say the opposite, whatever else is in it.
const KIND_WORDS: [&str; 12] = [
    "group",
    "role",
    "class",
    "type",
    "tier",
    "cluster",
    "pool",
    "environment",
    "family",
    "release",
    "version",
    "site",
];
/// Names of files that hold what several nodes share, and are no nodes.
const SHARED_NAMES: [&str; 6] = ["common", "default", "defaults", "global", "all", "none"];
/// From this number of files on, names with a domain are nodes whatever the variable is called.
const MANY: usize = 20;

/// The nodes that the names of the environment's data files show, by name.
pub(super) fn infer(snapshot: &Snapshot, environment: &Environment) -> Vec<Node> {
    let locations = node_locations(snapshot, environment);
    let named = named_nodes(snapshot, environment, &locations);
    let names: Vec<&str> = named.keys().map(String::as_str).collect();
    let positions = Positions::learn(&names, &known_values(snapshot, environment, &locations));
    named.iter().map(|(name, found)| node(snapshot, environment, name, found, &positions)).collect()
}

/// A location of which each file is a node.
pub(super) struct NodeLocation<'a> {
    pub(super) reach: &'a Reach,
    /// The variable that is the node's name.
    variable: String,
}

/// The locations of the environment of which each file is a node, highest priority first.
pub(super) fn node_locations<'a>(
    snapshot: &Snapshot,
    environment: &'a Environment,
) -> Vec<NodeLocation<'a>> {
    let of_layer = |reach: &&Reach| matches!(reach.layer, Layer::Environment | Layer::Global);
    let is_node_location = |location: &NodeLocation<'_>| {
        NAME_VARIABLES.contains(&location.variable.as_str())
            || shows_nodes(location, &names_at(snapshot, location))
    };
    environment
        .reach
        .iter()
        .filter(of_layer)
        .filter_map(|reach| {
            Some(NodeLocation { reach, variable: last_variable(&reach.template.text)? })
        })
        .filter(is_node_location)
        .collect()
}

/// The variable that is the whole name of the file, but for its extension.
fn last_variable(template: &str) -> Option<String> {
    let name = template.rsplit_once('/').map_or(template, |(_, name)| name);
    let mut tokens = tokens(name).into_iter();
    let first = tokens.next().filter(|token| token.range.start == 0)?;
    let rest = &name[first.range.end as usize..];
    let is_extension = rest.is_empty() || rest.starts_with('.');
    let TokenKind::Variable { key, .. } = first.kind else { return None };
    (is_extension && tokens.next().is_none() && !rest.contains(['*', '?', '[', '{']))
        .then(|| variable_name(&key.text))
}

/// The files of a location, with the variables that their paths tell.
fn files_at<'s>(snapshot: &'s Snapshot, reach: &Reach) -> Vec<(&'s FilePath, Bindings)> {
    let bound = |path: &'s FilePath| match reach.pattern.bind(path.as_str())? {
        PatternMatch::Bound(bindings) => Some((path, bindings)),
        PatternMatch::Ambiguous(_) => None,
    };
    snapshot.paths_starting_with(&reach.pattern.literal_prefix()).filter_map(bound).collect()
}

fn names_at(snapshot: &Snapshot, location: &NodeLocation<'_>) -> Vec<String> {
    let names = files_at(snapshot, location.reach).into_iter();
    names.filter_map(|(_, mut bindings)| bindings.remove(&location.variable)).collect()
}

/// Whether files of these names are nodes, although the variable is none of the usual ones.
fn shows_nodes(location: &NodeLocation<'_>, names: &[String]) -> bool {
    let variable = location.variable.to_lowercase();
    let level = location.reach.level.name.to_lowercase();
    if KIND_WORDS.iter().any(|word| variable.contains(word)) || is_of_the_system(&variable) {
        return false;
    }
    let has_word = |text: &str| NODE_WORDS.iter().any(|word| text.contains(word));
    let are_all = |fits: fn(&str) -> bool| {
        names.iter().filter(|name| fits(name)).count() * 100 >= names.len() * 95
    };
    if has_word(&variable) || has_word(&level) {
        names.len() > 1 && are_all(looks_like_host)
    } else {
        names.len() >= MANY && are_all(|name| looks_like_host(name) && name.contains('.'))
    }
}

/// Whether a variable tells an operating system or its kernel.
fn is_of_the_system(variable: &str) -> bool {
    let name = variable.strip_prefix("facts.").unwrap_or(variable);
    ["os", "operatingsystem", "lsb", "kernel", "virtual"].iter().any(|word| name.starts_with(word))
}

/// Whether a name is one of a host, and not a word: it has a domain, or a number at the end.
fn looks_like_host(name: &str) -> bool {
    let has_number =
        name.split('.').next().is_some_and(|label| label.ends_with(|c: char| c.is_ascii_digit()));
    let has_letter = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.contains(|c: char| c.is_ascii_alphabetic());
    has_letter && is_host_name(name) && (has_number || name.contains('.'))
}

/// Whether a name has only the characters of one.
pub(super) fn is_host_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// What is known of a node from the paths of its files.
struct Found<'a> {
    source: &'a FilePath,
    /// The variable that is its name.
    variable: &'a str,
    bindings: Bindings,
}

/// The nodes by name. A name that two paths contradict each other about is the first one's.
fn named_nodes<'a>(
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    locations: &'a [NodeLocation<'a>],
) -> BTreeMap<String, Found<'a>> {
    let mut named: BTreeMap<String, Found<'a>> = BTreeMap::new();
    for location in locations {
        for (path, bindings) in files_at(snapshot, location.reach) {
            let Some(name) = bindings.get(&location.variable).cloned() else { continue };
            let is_elsewhere =
                bindings.get("environment").is_some_and(|other| *other != environment.name);
            if is_elsewhere || !is_host_name(&name) || SHARED_NAMES.contains(&name.as_str()) {
                continue;
            }
            match named.get_mut(&name) {
                None => {
                    let variable = location.variable.as_str();
                    named.insert(name, Found { source: path, variable, bindings });
                }
                Some(known) => {
                    let contradicts = |(name, value)| {
                        known.bindings.get(name).is_some_and(|other| other != value)
                    };
                    if !bindings.iter().any(contradicts) {
                        known.bindings.extend(bindings);
                    }
                }
            }
        }
    }
    without_short_names(named)
}

/// Leaves out host names of which a node with a domain is known as well: `web01` beside
/// `web01.example.net` is the same node.
fn without_short_names(mut named: BTreeMap<String, Found<'_>>) -> BTreeMap<String, Found<'_>> {
    let with_domain: std::collections::HashSet<String> =
        named.keys().filter_map(|name| Some(name.split_once('.')?.0.to_owned())).collect();
    named.retain(|name, _| name.contains('.') || !with_domain.contains(name));
    named
}

/// The values that files show of each variable, those of nodes' own files left out.
fn known_values(
    snapshot: &Snapshot,
    environment: &Environment,
    locations: &[NodeLocation<'_>],
) -> KnownValues {
    let mut known = KnownValues::new();
    let is_node_location =
        |reach: &Reach| locations.iter().any(|location| std::ptr::eq(location.reach, reach));
    for reach in environment.reach.iter().filter(|reach| !is_node_location(reach)) {
        if reach.pattern.variables().is_empty() || matches!(reach.layer, Layer::Module(_)) {
            continue;
        }
        for (name, value) in files_at(snapshot, reach).into_iter().flat_map(|(_, known)| known) {
            if name != "environment" {
                known.entry(name).or_default().insert(value);
            }
        }
    }
    known
}

fn node(
    snapshot: &Snapshot,
    environment: &Environment,
    name: &str,
    found: &Found<'_>,
    positions: &Positions,
) -> Node {
    let path = found
        .bindings
        .iter()
        .map(|(variable, text)| (variable.clone(), text.clone(), VariableSource::Path));
    let implied = implied(found.variable, name);
    let implied =
        implied.into_iter().map(|(variable, text)| (variable, text, VariableSource::Name));
    let parts = positions.told_by(name).into_iter().map(|(variable, told)| match told {
        Told::At(_, text) => (variable, text, VariableSource::NamePart),
        Told::NoSuchPart => (variable, String::new(), VariableSource::NoNamePart),
    });
    let inferred = path.chain(implied).chain(parts).collect();
    let config = snapshot.config_of(environment);
    let around = Around {
        environment: &environment.name,
        puppet: config.puppet,
        rules: &config.nodes.derive,
    };
    Arc::new(Parts::called(name, found.source)).node(inferred, &around)
}

/// The variables that follow from a node's name, where `variable` is what holds it.
fn implied(variable: &str, name: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |names: &[&str], text: &str| {
        all.extend(names.iter().map(|name| ((*name).to_owned(), text.to_owned())));
    };
    if let Some(same) = SAME.iter().find(|same| same.contains(&variable)) {
        add(same, name);
    }
    let parts = name.split_once('.');
    if SAME[0].contains(&variable) {
        add(&["trusted.hostname"], parts.map_or(name, |(host, _)| host));
        if let Some((_, domain)) = parts {
            add(&["trusted.domain"], domain);
        }
    }
    if let Some((host, domain)) = parts.filter(|_| SAME[1].contains(&variable)) {
        add(SAME[2], host);
        add(&["facts.networking.domain", "networking.domain", "facts.domain", "domain"], domain);
    }
    all
}

#[cfg(test)]
mod tests;
