//! The values that a hover of a shared file states for groups of nodes, nodes inferred from the
//! names of files among them: Puppet is asked for other nodes of each group than the one that
//! hiera-ls looked the key up for. Where the value depends on unknown variables of a node, Puppet
//! is asked under each assumption that the hover states.
//!
//! Where calls in the repository's code ask for a merge, Puppet is asked with it.
//!
//! Of the sample repository without its settings and facts; with `HIERA_LS_CORPUS_ROOT` also of a
//! large one, `HIERA_LS_CASES` questions of it.

use std::collections::BTreeSet;
use std::path::Path;

use hiera_ls::disk::OsFs;
use hiera_ls::fleet::alternatives::find_alternatives;
use hiera_ls::fleet::groups::{
    Assumed, Case, FleetQuestion as GroupQuestion, Group, group_by_answer,
};
use hiera_ls::hiera::error::LookupError;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{LOOKUP_OPTIONS, Resolver};
use hiera_ls::hiera::pattern::Bindings;
use hiera_ls::hiera::resolution::{MergeSource, Resolution};
use hiera_ls::hiera::scope::Scope;
use hiera_ls::puppet::print::{self, PrintOptions};
use hiera_ls::text::FilePath;
use hiera_ls::workspace::environments::Environment;
use hiera_ls::workspace::files::scan;
use hiera_ls::workspace::nodes::same_fact;
use hiera_ls::workspace::{Change, EnvironmentConfig, Snapshot, Workspace, WorkspaceConfig};
use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use crate::control_repo::{ask_puppet_each, needs_a_private_key, questions::Question};
use crate::scenario::oracle_puppet;
use crate::support::{self, in_package, random_cases, require, same_json, variable};

/// The most lookups for one key of a file: more than a hover makes, to have every group.
const MAX_LOOKUPS: usize = 100;

#[test]
fn groups_of_the_sample_have_puppets_values() {
    if !require("puppet") {
        return;
    }
    let root = support::scratch("fleet");
    support::copy(&in_package("tests/control-repo"), &root);
    for gone in [".hiera-ls.yaml", "fleet.jsonl"] {
        let _ = std::fs::remove_file(root.join(gone));
    }
    std::fs::remove_dir_all(root.join("spec")).expect("the sample has facts");
    let compared = compare(&root, usize::MAX);
    assert!(compared > 20, "{compared} values were compared");
}

#[test]
fn groups_of_the_corpus_have_puppets_values() {
    if !require("corpus") || !require("puppet") {
        return;
    }
    let root = variable("HIERA_LS_CORPUS_ROOT").expect("require(\"corpus\") said so");
    let compared = compare(Path::new(&root), random_cases("puppet", 20_000));
    assert!(compared > 100, "{compared} values were compared");
}

/// A value that a hover states, and one of the nodes that it states it for.
struct Stated {
    node: usize,
    key: String,
    /// The merge strategy that calls in code ask for.
    merge: Option<Value>,
    /// The value as the oracle writes answers; tokens of unknown variables are replaced by their
    /// values in [`set`].
    answer: Value,
    /// The names of the unknown variables.
    unknown: Vec<String>,
    /// The assumed variables for which the value is stated: the node's own are unknown.
    assumed: Bindings,
}

/// Compares at most so many values of a repository with Puppet's. How many there were.
fn compare(root: &Path, most: usize) -> usize {
    let snapshot = opened(root);
    let environment = &snapshot.environments().all[0];
    let nodes = snapshot.nodes_of(environment);
    assert!(nodes.iter().all(|node| !node.is_given), "the repository tells of its nodes itself");
    let (stated, open) = stated(&snapshot, environment);
    let step = stated.len().div_ceil(most).max(1);
    let mut by_node: Vec<((usize, &Bindings), Vec<&Stated>)> = Vec::new();
    let mut chosen: Vec<&Stated> = stated.iter().step_by(step).collect();
    chosen.sort_by_key(|one| (one.node, &one.assumed));
    for one in &chosen {
        let whom = (one.node, &one.assumed);
        match by_node.last_mut() {
            Some((known, of_node)) if *known == whom => of_node.push(one),
            _ => by_node.push((whom, vec![one])),
        }
    }
    let jobs: Vec<(Value, Vec<Question>)> = by_node
        .iter()
        .map(|((node, assumed), of_node)| {
            let mut own = (*nodes[*node].scope_in(&environment.name)).clone();
            own.assume_values(assumed);
            let mut scope = scope_as_json(&own);
            of_node.iter().flat_map(|one| &one.unknown).for_each(|name| set(&mut scope, name));
            let keys = of_node
                .iter()
                .map(|one| Question { key: one.key.clone(), merge: one.merge.clone() });
            (scope, keys.collect())
        })
        .collect();
    let answers = ask_puppet_each(root, &jobs, "catalog");
    let mut differences = Vec::new();
    for (((node, assumed), of_node), answers) in by_node.iter().zip(answers) {
        for (one, answer) in of_node.iter().zip(answers) {
            let both_fail = one.answer.get("error").is_some() && answer.get("error").is_some();
            if !both_fail && !same_json(&one.answer, &answer) && !needs_a_private_key(&answer) {
                let name = &nodes[*node].name;
                let (key, own) = (&one.key, &one.answer);
                differences.push(format!("{name} with {assumed:?}: {key}\n  {own}\n  {answer}"));
            }
        }
    }
    eprintln!(
        "{} nodes; {} values of groups, {} compared, {} of them under assumptions, {} of them merged as calls ask, {open} not settled, {} differ",
        nodes.len(),
        stated.len(),
        chosen.len(),
        chosen.iter().filter(|one| !one.assumed.is_empty()).count(),
        chosen.iter().filter(|one| one.merge.is_some()).count(),
        differences.len()
    );
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    chosen.len()
}

/// Returns the values that hovers state in all shared files, and the number of groups without a
/// settled value.
fn stated(snapshot: &Snapshot, environment: &Environment) -> (Vec<Stated>, usize) {
    let (mut all, mut open) = (Vec::new(), 0);
    let view = snapshot.view(environment);
    let lookup = |key: &str, scope: &Scope| {
        let resolver = Resolver::new(snapshot.lookup_context(environment, &view, scope));
        snapshot.lookup_as_called(environment, &resolver, &LookupKey::of_root(key))
    };
    let files = snapshot.files().filter(|file| environment.reaches_file(&file.path));
    for file in files {
        let readers = snapshot.readers_of(environment, &file.path);
        let data = file.data_as(file.format());
        for key in data.keys().filter_map(|key| key.as_str()) {
            if readers.certainly.len() < 2 || key == LOOKUP_OPTIONS {
                continue;
            }
            let question = GroupQuestion {
                snapshot,
                environment,
                root: key,
                lookup: &|scope, _| lookup(key, scope),
                ends_at_first: false,
                is_enough: &|made| made >= MAX_LOOKUPS,
                asked: None,
            };
            for group in group_by_answer(&question, &readers.certainly).groups {
                for case in cases(&question, &group) {
                    let settled = case
                        .resolution
                        .filter(|found| found.unsettled.is_empty() && !found.is_secret());
                    let Some(resolution) = settled else {
                        open += 1;
                        continue;
                    };
                    let merge = asked_merge(&resolution);
                    let (answer, unknown) = without_tokens(&answer(&resolution.value));
                    let assumed = values_of(&case.when);
                    if unknown.iter().any(|name| assumed.contains_key(name)) {
                        // An assumption about variables side by side does not state single values.
                        continue;
                    }
                    let (last, middle) = (group.nodes.len() - 1, group.nodes.len() / 2);
                    for number in BTreeSet::from([middle, last]) {
                        let (answer, unknown) = (answer.clone(), unknown.clone());
                        all.push(Stated {
                            node: group.nodes[number],
                            key: key.to_owned(),
                            merge: merge.clone(),
                            answer,
                            unknown,
                            assumed: assumed.clone(),
                        });
                    }
                }
            }
        }
    }
    (all, open)
}

/// The values that are stated for a group.
fn cases(question: &GroupQuestion<'_>, group: &Group) -> Vec<Case> {
    let (scope, resolution) = (&group.scope, &group.resolution);
    let mut cases = Vec::new();
    if !resolution.unsettled.is_empty() {
        cases =
            find_alternatives(question, scope, resolution, &|_| false, &mut MAX_LOOKUPS.clone());
    }
    if cases.is_empty() {
        cases.push(Case { when: Assumed::new(), resolution: Some(resolution.clone()) });
    }
    cases
}

/// Variables that fit an assumption, with the other names of the same facts. Of variables side by
/// side, `%{a}%{b}`, the first one has the whole text.
fn values_of(assumed: &Assumed) -> Bindings {
    let mut values = Bindings::new();
    for (name, value) in assumed {
        let own: Vec<&str> = name.split(['%', '{', '}']).filter(|it| !it.is_empty()).collect();
        for (number, name) in own.iter().enumerate() {
            let value = if number == 0 { value.as_str() } else { "" };
            values.insert((*name).to_owned(), value.to_owned());
        }
        values.extend(same_fact(name).map(|other| (other, value.clone())));
    }
    values
}

/// The strategy that calls ask for, as Puppet's `lookup` takes it.
fn asked_merge(resolution: &Resolution) -> Option<Value> {
    let MergeSource::Argument = resolution.merge_source else { return None };
    let name = resolution.merge.name();
    Some(match resolution.merge.options() {
        None => name.into(),
        Some(options) => {
            let mut all = as_json(&hiera_ls::puppet::Value::hash_of(options.clone(), None));
            all["strategy"] = name.into();
            all
        }
    })
}

fn opened(root: &Path) -> Snapshot {
    let common = EnvironmentConfig { puppet: oracle_puppet(), ..EnvironmentConfig::default() };
    let config = WorkspaceConfig { common, ..WorkspaceConfig::default() };
    let folder = FilePath::new(&root.to_string_lossy());
    let mut workspace = Workspace::new(config, vec![folder]);
    let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    workspace.snapshot()
}

/// The variables of a node as the top scope that the oracle takes.
fn scope_as_json(scope: &Scope) -> Value {
    let variables = scope.known_variables().map(|(name, value)| (name.to_owned(), as_json(value)));
    Value::Object(variables.collect::<Map<_, _>>())
}

fn as_json(value: &hiera_ls::puppet::Value) -> Value {
    serde_json::from_str(&print::print_json(value, &PrintOptions::default()))
        .expect("it was printed as JSON")
}

/// The answer as the oracle writes it, but for the text of an error.
fn answer(value: &Result<Option<hiera_ls::puppet::Value>, LookupError>) -> Value {
    match value {
        Ok(Some(value)) => json!({"found": true, "value": as_json(value)}),
        Ok(None) => json!({"found": false}),
        Err(error) => json!({"error": error.to_string()}),
    }
}

/// An answer in which tokens of variables are their values in [`set`], and the variables' names.
fn without_tokens(answer: &Value) -> (Value, Vec<String>) {
    let token = Regex::new(r"%\{(?:::)?([a-z0-9_.:]+)\}").expect("it is a regex");
    let text = answer.to_string();
    let names = token.captures_iter(&text).map(|found| found[1].to_owned()).collect();
    let text = token.replace_all(&text, |found: &Captures<'_>| value_of(&found[1]));
    (serde_json::from_str(&text).expect("a token is within a string"), names)
}

/// Gives a variable, dotted where it is part of a hash, a value that names it. A variable of a class
/// keeps its `::`, as the oracle takes it.
fn set(scope: &mut Value, name: &str) {
    let mut place = scope;
    for part in name.split('.') {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[part];
    }
    *place = value_of(name).into();
}

fn value_of(variable: &str) -> String {
    format!("<{variable}>")
}
