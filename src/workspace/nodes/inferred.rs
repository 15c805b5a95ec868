//! Nodes that the names of data files show, where no setting names any.
//!
//! A level such as `nodes/%{trusted.certname}.yaml` has a file for each node, and the other
//! variables of its path are known with it. [`positions`](super::positions) adds those that the
//! names themselves contain.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;

use super::build::{Inferred, NodeSurroundings};
use super::node::Node;
use super::parts::{Included, Parts};
use super::pattern_blocks::PatternBlocks;
use super::positions::{KnownValues, Positions, StatedValue};
use super::source::{SaidAs, VariableSource, VariableSources};
use super::steps::InferStep;
use crate::hiera::config::Layer;
use crate::hiera::interpolation::{TokenKind, parse_tokens};
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
/// Words in the name of a variable that say that its files are no nodes, regardless of its other
/// words.
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
/// Names of files that hold data shared by several nodes, and are no nodes.
const SHARED_NAMES: [&str; 6] = ["common", "default", "defaults", "global", "all", "none"];
/// From this number of files on, names with a domain are nodes, regardless of the variable's name.
const MANY: usize = 20;

/// Returns the nodes whose facts are not all known, by name: those that the names of the
/// environment's data files imply, and those that other files describe (`said`). `blocks` are those
/// for nodes by patterns. `is_own` is true for data files that may be nodes.
pub(super) fn infer(
    snapshot: &Snapshot,
    environment: &Environment,
    said: &IndexMap<Arc<str>, Arc<Parts>>,
    blocks: &PatternBlocks,
    is_own: &dyn Fn(&FilePath) -> bool,
) -> Vec<Node> {
    let config = snapshot.config_of(environment);
    let steps = config.nodes.infer;
    let locations = node_locations(snapshot, environment);
    let mut named = BTreeMap::new();
    if steps.has_step(InferStep::FileNames) {
        named = named_nodes(snapshot, environment, &locations, is_own);
    }
    add_said(&mut named, said);
    let named = without_short_names(named);
    let known = known_values(snapshot, environment, &locations);
    let in_folders = with_values_in_folders(snapshot, environment, known.clone());
    let mut positions = Positions::default();
    if steps.has_step(InferStep::NameParts) {
        let names: Vec<&str> = named.keys().map(String::as_str).collect();
        positions = Positions::learn_positions(&names, &known);
    }
    let around = NodeSurroundings {
        environment: &environment.name,
        puppet: config.puppet,
        rules: &config.nodes.derive,
    };
    let mut nodes: Vec<Node> = named
        .into_iter()
        .map(|(name, found): (String, NodeKnowledge<'_>)| {
            let mut inferred = found.infer_variables(&name);
            let block = found.parts.as_ref().filter(|parts| parts.has_block());
            if let Some(parts) = block.or_else(|| blocks.block_for(&name)) {
                inferred.extend(of_blocks(parts, environment, &in_folders));
            }
            inferred.extend(of_positions(&positions, &name));
            let is_stated = found.parts.is_some() || blocks.may_name(&name);
            let source = found.source.expect("a node has a data file, or another that tells of it");
            let parts = found.parts.unwrap_or_else(|| Arc::new(Parts::of_name(&name, source)));
            Node { is_stated, ..parts.build_node(inferred, &around) }
        })
        .collect();
    share_sources(&mut nodes);
    nodes
}

/// Lets nodes whose variables have the same sources share the list of these: a fleet has many nodes.
fn share_sources(nodes: &mut [Node]) {
    let mut known: HashSet<VariableSources> = HashSet::new();
    for node in nodes {
        match known.get(&node.told) {
            Some(same) => node.told = same.clone(),
            None => drop(known.insert(node.told.clone())),
        }
    }
}

/// A location whose files are one node each.
pub(super) struct NodeLocation<'a> {
    pub(super) reach: &'a Reach,
    /// The variable that is the node's name.
    variable: String,
}

/// Returns the locations of the environment whose files are one node each, highest priority first.
pub(super) fn node_locations<'a>(
    snapshot: &Snapshot,
    environment: &'a Environment,
) -> Vec<NodeLocation<'a>> {
    environment
        .reach
        .iter()
        .filter(|reach| matches!(reach.layer, Layer::Environment | Layer::Global))
        .filter_map(|reach| {
            Some(NodeLocation { reach, variable: last_variable(&reach.template.text)? })
        })
        .filter(|location| {
            NAME_VARIABLES.contains(&location.variable.as_str())
                || shows_nodes(location, &names_at(snapshot, location))
        })
        .collect()
}

/// Returns the variables that are the names of nodes in these locations, each once.
pub(in crate::workspace) fn node_variables(
    snapshot: &Snapshot,
    environment: &Environment,
) -> Vec<String> {
    let locations = node_locations(snapshot, environment).into_iter();
    locations.map(|location| location.variable).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the variable that is the whole name of the file, but for its extension.
fn last_variable(template: &str) -> Option<String> {
    let name = template.rsplit_once('/').map_or(template, |(_, name)| name);
    let mut tokens = parse_tokens(name).into_iter();
    let first = tokens.next().filter(|token| token.range.start == 0)?;
    let rest = &name[first.range.end as usize..];
    let is_extension = rest.is_empty() || rest.starts_with('.');
    let TokenKind::Variable { key, .. } = first.kind else { return None };
    (is_extension && tokens.next().is_none() && !rest.contains(['*', '?', '[', '{']))
        .then(|| variable_name(&key.text))
}

/// Returns the files of a location, with the variables in their paths.
pub(super) fn files_at<'s>(snapshot: &'s Snapshot, reach: &Reach) -> Vec<(&'s FilePath, Bindings)> {
    snapshot
        .paths_starting_with(&reach.pattern.literal_prefix())
        .filter_map(|path| match reach.pattern.bind(path.as_str())? {
            PatternMatch::Bound(bindings) => Some((path, bindings)),
            PatternMatch::Ambiguous(_) => None,
        })
        .collect()
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
    if has_node_word(&variable) || has_node_word(&level) {
        names.len() > 1 && are_nearly_all(looks_like_host, names)
    } else {
        names.len() >= MANY
            && are_nearly_all(|name| looks_like_host(name) && name.contains('.'), names)
    }
}

fn are_nearly_all(fits: fn(&str) -> bool, names: &[String]) -> bool {
    names.iter().filter(|name| fits(name)).count() * 100 >= names.len() * 95
}

fn has_node_word(text: &str) -> bool {
    NODE_WORDS.iter().any(|word| text.contains(word))
}

/// Whether a variable names an operating system or its kernel.
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

/// Whether a name is a word for data that several nodes share.
pub(super) fn is_shared_name(name: &str) -> bool {
    SHARED_NAMES.contains(&name)
}

/// Whether a name has only the characters of a host's name.
pub(super) fn is_host_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// Returns the known values, and those with slashes: `role/mail/server.yaml` is that of a role
/// `mail/server` where no other location names the file.
fn with_values_in_folders(
    snapshot: &Snapshot,
    environment: &Environment,
    mut known: KnownValues,
) -> KnownValues {
    for reach in &environment.reach {
        let [variable] = reach.pattern.variables() else { continue };
        let Some((_, end)) = reach.template.text.rsplit_once('}') else { continue };
        let prefix = reach.pattern.literal_prefix();
        for path in snapshot.paths_starting_with(&prefix) {
            let value = path.as_str().get(prefix.len()..).and_then(|rest| rest.strip_suffix(end));
            let nested = value.filter(|value| value.contains('/') && !end.is_empty());
            if let Some(value) = nested.filter(|_| environment.path_matches(path).next().is_none())
            {
                known.entry(variable.clone()).or_default().insert(value.to_owned());
            }
        }
    }
    known
}

/// The knowledge about a node.
#[derive(Default)]
struct NodeKnowledge<'a> {
    /// The node's own data file, or else the file that describes the node.
    source: Option<&'a FilePath>,
    /// The variable that is the node's name, in the path of the node's data file.
    variable: Option<&'a str>,
    /// The variables in the paths of the node's data files.
    bindings: Bindings,
    /// The parts that other files state.
    parts: Option<Arc<Parts>>,
}

impl NodeKnowledge<'_> {
    /// Returns the variables that the paths of the node's files and the node's name contain.
    fn infer_variables(&self, name: &str) -> Vec<Inferred> {
        let mut all: Vec<Inferred> = Vec::new();
        for (variable, text) in &self.bindings {
            all.push((variable.clone(), text.clone(), VariableSource::Path));
        }
        if let Some(variable) = self.variable {
            // Another file may name the node with its domain.
            add_implied(
                variable,
                self.bindings.get(variable).map_or(name, String::as_str),
                &mut all,
            );
        }
        if self.parts.as_ref().is_some_and(|parts| parts.is_certname) {
            add_implied(SAME[0][0], name, &mut all);
            // Puppet's default for a certname is the host's name with its domain.
            add_implied(if name.contains('.') { SAME[1][0] } else { SAME[2][0] }, name, &mut all);
        }
        all
    }
}

fn add_implied(variable: &str, value: &str, all: &mut Vec<(String, String, VariableSource)>) {
    let implied = implied_variables(variable, value).into_iter();
    all.extend(implied.map(|(name, text)| (name, text, VariableSource::Name)));
}

/// Adds the parts of nodes that other files state. A data file that is called as the host of
/// exactly one of them, without the domain, is that node's.
fn add_said<'a>(
    named: &mut BTreeMap<String, NodeKnowledge<'a>>,
    said: &'a IndexMap<Arc<str>, Arc<Parts>>,
) {
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    let names: BTreeSet<&str> =
        said.keys().map(|name| &**name).chain(named.keys().map(String::as_str)).collect();
    for (host, _) in names.iter().filter_map(|name| name.split_once('.')) {
        *hosts.entry(host.to_owned()).or_default() += 1;
    }
    for (name, parts) in said {
        let host = name.split_once('.').map(|(host, _)| host);
        let of_host = host.filter(|host| hosts[*host] == 1);
        let mut found =
            named.remove(&**name).or_else(|| named.remove(of_host?)).unwrap_or_default();
        found.source = found.source.or(Some(&parts.named_by));
        found.parts = Some(parts.clone());
        named.insert(name.to_string(), found);
    }
}

/// Returns the variables that a node's block in a manifest sets or includes.
fn of_blocks(parts: &Parts, environment: &Environment, known: &KnownValues) -> Vec<Inferred> {
    let mut all = Vec::new();
    if let Some(said) = &parts.block {
        let source = VariableSource::Said(SaidAs::Variable, said.by.clone());
        for (key, member) in said.value.as_hash().into_iter().flatten() {
            let is_plain = member.value.as_array().is_none() && member.value.as_hash().is_none();
            let name = key.to_text().into_owned();
            if is_plain && !reads_top_scope(environment, &name) {
                all.push((name, member.value.to_text().into_owned(), source.clone()));
            }
        }
    }
    if let Some(said) = &parts.included {
        let source = VariableSource::Said(SaidAs::Class, said.by.clone());
        let found = included_values(&said.value, known).into_iter();
        all.extend(found.map(|(variable, text)| (variable, text, source.clone())));
    }
    all
}

/// Whether a location reads a variable with a leading `::`, so that it does not see the variables
/// that a `node` block sets. Source: a real compiler.
fn reads_top_scope(environment: &Environment, name: &str) -> bool {
    let token = format!("%{{::{name}}}");
    environment.reach.iter().any(|reach| reach.template.text.contains(&token))
}

/// Returns the variables whose data files are called as a class that a node block includes, or as
/// the argument of a function: `role::web` and `role(web)` are `web` for a variable `role`, if its
/// files say so. A variable that two of them fit has neither.
fn included_values(included: &[Included], known: &KnownValues) -> Vec<(String, String)> {
    let value = |variable: &str, values: &BTreeSet<String>| -> Option<String> {
        let word = variable.rsplit('.').next().unwrap_or(variable).to_lowercase();
        let mut texts: BTreeSet<String> = BTreeSet::new();
        for one in included {
            let named = match &one.function {
                Some(function) => Some((function.as_str(), one.name.as_str())),
                None => one.name.split_once("::"),
            };
            let Some((kind, rest)) = named else { continue };
            let kind = kind.rsplit("::").next().unwrap_or(kind).trim_end_matches('s');
            if kind.is_empty() || !word.split('_').any(|it| it.trim_end_matches('s') == kind) {
                continue;
            }
            let rest = rest.strip_prefix("::").unwrap_or(rest);
            let spellings = [
                one.name.clone(),
                rest.to_owned(),
                rest.replace("::", "/"),
                rest.replace("::", "_"),
                rest.replace("::", "-"),
            ];
            texts.extend(spellings.into_iter().find(|text| values.contains(text)));
        }
        texts.pop_first().filter(|_| texts.is_empty())
    };
    known
        .iter()
        .filter_map(|(variable, values)| Some((variable.clone(), value(variable, values)?)))
        .collect()
}

fn of_positions(positions: &Positions, name: &str) -> Vec<Inferred> {
    positions
        .told_by(name)
        .into_iter()
        .map(|(variable, told)| match told {
            StatedValue::At(_, text) => (variable, text, VariableSource::NamePart),
            StatedValue::NoSuchPart => (variable, String::new(), VariableSource::NoNamePart),
        })
        .collect()
}

/// Returns the nodes by name. A name that two paths contradict each other about is the first one's.
fn named_nodes<'a>(
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    locations: &'a [NodeLocation<'a>],
    is_own: &dyn Fn(&FilePath) -> bool,
) -> BTreeMap<String, NodeKnowledge<'a>> {
    let mut named: BTreeMap<String, NodeKnowledge<'a>> = BTreeMap::new();
    for location in locations {
        for (path, bindings) in files_at(snapshot, location.reach) {
            let Some(name) = bindings.get(&location.variable).cloned() else { continue };
            let is_elsewhere =
                bindings.get("environment").is_some_and(|other| *other != environment.name);
            let is_none = !is_host_name(&name) || is_shared_name(&name);
            if is_elsewhere || is_none || !is_own(path) {
                continue;
            }
            match named.get_mut(&name) {
                None => {
                    let variable = Some(location.variable.as_str());
                    let found =
                        NodeKnowledge { source: Some(path), variable, bindings, parts: None };
                    named.insert(name, found);
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
    named
}

/// Leaves out host names that are also known with a domain: `web01` beside `web01.example.net` is
/// the same node.
fn without_short_names(
    mut named: BTreeMap<String, NodeKnowledge<'_>>,
) -> BTreeMap<String, NodeKnowledge<'_>> {
    let with_domain: std::collections::HashSet<String> =
        named.keys().filter_map(|name| Some(name.split_once('.')?.0.to_owned())).collect();
    named.retain(|name, _| name.contains('.') || !with_domain.contains(name));
    named
}

/// Returns the values that files show of each variable, those of nodes' own files left out.
fn known_values(
    snapshot: &Snapshot,
    environment: &Environment,
    locations: &[NodeLocation<'_>],
) -> KnownValues {
    let mut known = KnownValues::new();
    for reach in environment
        .reach
        .iter()
        .filter(|reach| !locations.iter().any(|location| std::ptr::eq(location.reach, *reach)))
    {
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

/// Returns the variables that follow from a node's name, where `variable` holds it.
fn implied_variables(variable: &str, name: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    if let Some(same) = SAME.iter().find(|same| same.contains(&variable)) {
        add_values(same, name, &mut all);
    }
    let parts = name.split_once('.');
    if SAME[0].contains(&variable) {
        add_values(&["trusted.hostname"], parts.map_or(name, |(host, _)| host), &mut all);
        if let Some((_, domain)) = parts {
            add_values(&["trusted.domain"], domain, &mut all);
        }
    }
    if let Some((host, domain)) = parts.filter(|_| SAME[1].contains(&variable)) {
        add_values(SAME[2], host, &mut all);
        add_values(
            &["facts.networking.domain", "networking.domain", "facts.domain", "domain"],
            domain,
            &mut all,
        );
    }
    all
}

fn add_values(names: &[&str], text: &str, all: &mut Vec<(String, String)>) {
    all.extend(names.iter().map(|name| ((*name).to_owned(), text.to_owned())));
}

#[cfg(test)]
mod tests;
