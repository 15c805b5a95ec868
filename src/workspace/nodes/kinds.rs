//! Kinds of nodes, where no node is known: the combinations of variables that the names of data
//! files show, as `role = web, facts.os.family = Debian`.
//!
//! A hierarchy distinguishes these kinds; a kind does not claim that such a node exists. A variable
//! that only occurs beside another one has the values that files show beside that one's.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::inferred::{files_at, is_shared_name, node_locations};
use super::node::{Kinds, Node};
use super::parts::Parts;
use super::source::VariableSource;
use super::steps::InferStep;
use crate::hiera::config::Layer;
use crate::hiera::scope::Scope;
use crate::puppet::{LegacyFacts, Value};
use crate::text::FilePath;
use crate::text::work::{Work, count_work};
use crate::workspace::environments::{Environment, Reach};
use crate::workspace::snapshot::Snapshot;

/// The most kinds of an environment: a variable with which there would be more stays open.
const MAX_KINDS: usize = 1000;
/// The most variables of a kind: further ones stay open.
const MAX_VARIABLES: usize = 64;
/// Facts of the operating system and the network, which are variables of their own as well.
const FACTS: [&str; 7] =
    ["os", "networking", "kernel", "kernelversion", "kernelmajversion", "virtual", "processors"];

/// Returns the other name of a fact of the operating system or the network: `os.name` is
/// `facts.os.name`.
pub fn same_fact(name: &str) -> Option<String> {
    let (plain, other) = match name.strip_prefix("facts.") {
        Some(plain) => (plain, plain.to_owned()),
        None => (name, format!("facts.{name}")),
    };
    FACTS.contains(&plain.split('.').next().unwrap_or(plain)).then_some(other)
}

/// Variables with their values, by name.
type Values = BTreeMap<String, String>;

/// A location whose files show values of variables.
struct VariableFiles<'a> {
    reach: &'a Reach,
    /// The location's variables, each once; facts by the first name under which a location uses
    /// them.
    variables: Vec<String>,
    combinations: BTreeSet<Values>,
}

impl VariableFiles<'_> {
    /// Returns the folder that all files of the location are below.
    fn folder(&self) -> FilePath {
        let prefix = self.reach.pattern.literal_prefix();
        FilePath::new(prefix.rsplit_once('/').map_or("", |(folder, _)| folder))
    }
}

/// Returns the kinds of an environment without known nodes.
pub(in crate::workspace) fn kinds_of(snapshot: &Snapshot, environment: &Environment) -> Kinds {
    let is_on = snapshot.config_of(environment).nodes.infer.has_step(InferStep::Kinds);
    if !is_on || !snapshot.nodes_of(environment).is_empty() {
        return Kinds::default();
    }
    let shown = shown_values(snapshot, environment);
    let mut kinds = Kinds::default();
    let mut combined: Vec<Values> = vec![Values::new()];
    for (variable, locations) in locations_by_variable(&shown) {
        let is_full = kinds.variables.len() >= MAX_VARIABLES;
        let next = if is_full { None } else { combine(&combined, &variable, &locations) };
        match next {
            Some(next) => {
                combined = next;
                kinds.variables.push(variable);
            }
            None => {
                let count = values_of(&variable, &locations).len();
                kinds.open.push((variable, count));
            }
        }
    }
    let folders: IndexSet<FilePath> = shown.iter().map(VariableFiles::folder).collect();
    kinds.folders.extend(folders);
    combined.retain(|values| !values.is_empty());
    let lacks_legacy_facts =
        snapshot.config_of(environment).puppet.legacy_facts == LegacyFacts::LeftOut;
    kinds.all = combined
        .iter()
        .map(|values| {
            let mut kind = new_kind(environment, values, &kinds.variables);
            if lacks_legacy_facts {
                Arc::make_mut(&mut kind.scope).leave_out_legacy_facts(|_| false);
            }
            Arc::new(kind).in_environment(&environment.name)
        })
        .collect();
    kinds
}

/// Returns the values that the files of each location show. A file that several locations can name
/// is one of the most literal of them.
fn shown_values<'a>(snapshot: &Snapshot, environment: &'a Environment) -> Vec<VariableFiles<'a>> {
    let of_nodes = node_locations(snapshot, environment);
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut longest: HashMap<&FilePath, usize> = HashMap::new();
    let mut shown: Vec<VariableFiles<'a>> = Vec::new();
    for reach in environment
        .reach
        .iter()
        .filter(|reach| !of_nodes.iter().any(|location| std::ptr::eq(location.reach, *reach)))
    {
        if reach.pattern.variables().is_empty() || matches!(reach.layer, Layer::Module(_)) {
            continue;
        }
        let mut combinations = BTreeSet::new();
        for (path, bindings) in files_at(snapshot, reach) {
            let is_elsewhere = environment.is_named_by_folder()
                && bindings.get("environment").is_some_and(|other| *other != environment.name);
            let is_shared = bindings.values().any(|value| is_shared_name(value));
            if is_elsewhere || is_shared {
                continue;
            }
            let most_literal = *longest.entry(path).or_insert_with(|| {
                let all = environment.path_matches(path);
                all.map(|(it, _)| it.pattern.literal_len()).max().unwrap_or_default()
            });
            if reach.pattern.literal_len() >= most_literal {
                let own = bindings
                    .into_iter()
                    .filter(|(name, _)| name != "environment" || !environment.is_named_by_folder());
                combinations.insert(
                    own.map(|(name, value)| (fact_name(&name, &mut names), value)).collect(),
                );
            }
        }
        let stated: BTreeSet<&String> = combinations.iter().flat_map(Values::keys).collect();
        let names = reach.pattern.variables().iter().map(|name| fact_name(name, &mut names));
        let variables: IndexSet<String> = names.filter(|name| stated.contains(name)).collect();
        if !variables.is_empty() {
            let variables = variables.into_iter().collect();
            shown.push(VariableFiles { reach, variables, combinations });
        }
    }
    shown
}

fn fact_name(name: &str, names: &mut BTreeMap<String, String>) -> String {
    let plain = if same_fact(name).is_some() { name.trim_start_matches("facts.") } else { name };
    names.entry(plain.to_owned()).or_insert_with(|| name.to_owned()).clone()
}

/// Returns each variable with the locations that have the variable: variables that a location has
/// alone first, otherwise in the order of the levels.
fn locations_by_variable<'s, 'a>(
    shown: &'s [VariableFiles<'a>],
) -> Vec<(String, Vec<&'s VariableFiles<'a>>)> {
    let mut locations: IndexMap<&String, Vec<&VariableFiles<'_>>> = IndexMap::new();
    for location in shown {
        for name in &location.variables {
            locations.entry(name).or_default().push(location);
        }
    }
    locations.sort_by_cached_key(|_, all| all.iter().map(|it| it.variables.len()).min());
    locations.into_iter().map(|(name, all)| (name.clone(), all)).collect()
}

/// Returns the values of a variable in the files of the locations that have the variable.
fn values_of<'s>(variable: &str, locations: &[&'s VariableFiles<'_>]) -> BTreeSet<&'s String> {
    let all = locations.iter().flat_map(|location| &location.combinations);
    all.filter_map(|values| values.get(variable)).collect()
}

/// Combines each of these combinations with each value that a variable may have beside it,
/// according to the locations that have the variable; `None` where there would be too many.
fn combine(
    combined: &[Values],
    variable: &str,
    locations: &[&VariableFiles<'_>],
) -> Option<Vec<Values>> {
    let is_alone = locations.iter().any(|location| location.variables == [variable]);
    let all = values_of(variable, locations);
    let mut next = Vec::new();
    for known in combined {
        let values = if is_alone {
            all.clone()
        } else {
            {
                let combinations =
                    locations.iter().flat_map(|location| &location.combinations).filter(|values| {
                        count_work(Work::Step);
                        values
                            .iter()
                            .all(|(name, value)| known.get(name).is_none_or(|own| own == value))
                    });
                combinations.filter_map(|values| values.get(variable)).collect()
            }
        };
        if values.is_empty() {
            next.push(known.clone());
        }
        for value in values {
            let mut more = known.clone();
            more.insert(variable.to_owned(), value.clone());
            next.push(more);
        }
        if next.len() > MAX_KINDS {
            return None;
        }
    }
    Some(next)
}

fn new_kind(environment: &Environment, values: &Values, variables: &[String]) -> Node {
    let own = variables.iter().filter_map(|name| Some((name, values.get(name)?)));
    let texts: Vec<String> = own.clone().map(|(name, value)| format!("{name} = {value}")).collect();
    let name: Arc<str> = texts.join(", ").into();
    let mut scope = Scope::open(name.clone());
    let mut told = Vec::new();
    for (name, value) in own {
        scope.set_path(name, Value::from_argument(value));
        told.push((name.as_str().into(), VariableSource::FileNames));
        if let Some(other) = same_fact(name) {
            scope.set_path(&other, Value::from_argument(value));
            told.push((other.into(), VariableSource::FileNames));
        }
    }
    let states_environment = values.contains_key("environment");
    let config = environment.governing_config().map(|config| config.path.clone());
    let source = config.unwrap_or_else(|| environment.root.clone());
    Node {
        name: name.clone(),
        scope: Arc::new(scope),
        source: source.clone(),
        environment: None,
        states_environment,
        is_given: false,
        is_stated: false,
        told: told.into(),
        parts: Arc::new(Parts::of_name(&name, &source)),
    }
}

#[cfg(test)]
mod tests;
