//! Upgrades of Puppet rehearsed (`diff --puppet-version`): the nodes and keys whose values differ
//! between two versions, against all lookups of hiera-ls in two folders, and against the installed
//! Puppet 7 and that of `HIERA_LS_PUPPET_LIB`.
//!
//! Before the upgrade, nodes have legacy facts. The tests take them out of the scopes for the
//! version after themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use hiera_ls::disk::OsFs;
use hiera_ls::fleet::compare::nodes::NodeChoice;
use hiera_ls::fleet::compare::upgrade::{causes_of_change, find_upgrade_changes};
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{Context, LOOKUP_OPTIONS, Resolver};
use hiera_ls::puppet::Value as PuppetValue;
use hiera_ls::settings::{GivenSettings, Origin, open, open_versions};
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Snapshot;
use serde_json::{Map, Value, json};

use crate::control_repo::questions::Question;
use crate::control_repo::{ask_oracle, ask_puppet_each, needs_a_private_key};
use crate::support::random::{self, Random};
use crate::support::{
    copy, in_package, puppet_major, require_unrecorded_puppet, same_json, write_file,
};
use crate::support::{oracle_of, random_cases, scratch};

/// The legacy facts that the tests give to nodes.
const LEGACY: [&str; 4] = ["hostname", "ipaddress", "operatingsystem", "osfamily"];

/// A node and a root key.
type Answer = (String, String);

fn settings(major: u8) -> [GivenSettings; 1] {
    [GivenSettings::new(json!({"puppet": {"version": major}}), Origin::User)]
}

/// Returns the answers that the rehearsal calls different. Each has a cause with words.
fn rehearsed(root: &Path, versions: [u8; 2]) -> BTreeSet<Answer> {
    let folder = FilePath::new(root.to_str().expect("it is UTF-8"));
    let [before, after] = versions.map(settings);
    let opened = open_versions(vec![folder], [&before, &after], &OsFs);
    let found =
        find_upgrade_changes(&opened.before, &opened.after, &NodeChoice::chosen_by(&|_| true));
    let mut answers = BTreeSet::new();
    for (changes, edits) in found.expect("it is not cancelled") {
        for change in changes.changes.iter().filter(|change| !change.is_order) {
            let (environment, snapshot) = (changes.after, &opened.after);
            let causes = causes_of_change((snapshot, environment), change, &edits);
            assert!(!causes.is_empty(), "{} has no cause: {edits:?}", change.key);
            assert!(causes.iter().all(|cause| edits[*cause].note.is_some()));
            let nodes = change.nodes.iter().map(|node| changes.nodes[node].name.to_string());
            answers.extend(nodes.map(|node| (node, change.key.to_string())));
        }
    }
    answers
}

/// Returns the answers that differ between a folder under one version and another one under the
/// other, each looked up by itself.
fn forced(before: &Path, after: &Path, versions: [u8; 2]) -> BTreeSet<Answer> {
    let snapshots: Vec<Snapshot> = [before, after]
        .into_iter()
        .zip(versions)
        .map(|(root, major)| {
            let root = FilePath::new(root.to_str().expect("it is UTF-8"));
            open(vec![root], &settings(major), Vec::new(), &OsFs).workspace.snapshot()
        })
        .collect();
    // A version may pass over a module and the keys of the module: these keys are looked up all the
    // same.
    let keys: BTreeSet<&Arc<str>> = snapshots.iter().flat_map(|it| it.keys().keys()).collect();
    let answers: Vec<BTreeMap<Answer, Result<Option<PuppetValue>, ()>>> =
        snapshots.iter().map(|snapshot| all_answers(snapshot, &keys)).collect();
    let differing =
        answers[0].iter().filter(|(answer, value)| answers[1].get(answer) != Some(value));
    differing.map(|(answer, _)| answer.clone()).collect()
}

fn all_answers(
    snapshot: &Snapshot,
    keys: &BTreeSet<&Arc<str>>,
) -> BTreeMap<Answer, Result<Option<PuppetValue>, ()>> {
    let environment = &snapshot.environments().all[0];
    let view = snapshot.view(environment);
    let mut answers = BTreeMap::new();
    for node in snapshot.nodes_of(environment) {
        let scope = node.scope_in(&environment.name);
        let context = snapshot.lookup_context(environment, &view, &scope);
        let resolver = Resolver::new(Context { tolerant: false, ..context });
        for key in keys.iter().filter(|key| ****key != *LOOKUP_OPTIONS) {
            let value = resolver.lookup(&LookupKey::of_root(key), None).value.map_err(|_| ());
            answers.insert((node.name.to_string(), key.to_string()), value);
        }
    }
    answers
}

fn write(root: &Path, path: &str, text: &str) {
    write_file(root.join(path), text);
}

fn scopes_in(root: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(root.join("fleet.jsonl")).expect("it was written");
    text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn write_scopes(root: &Path, scopes: &[Value]) {
    let lines: String = scopes.iter().map(|scope| format!("{scope}\n")).collect();
    write(root, "fleet.jsonl", &lines);
}

/// Takes the legacy facts out of a scope.
fn without_legacy_facts(scope: &Value) -> Value {
    let mut scope = scope.clone();
    let drop = |hash: &mut Map<String, Value>| {
        LEGACY.iter().for_each(|name| drop(hash.shift_remove(*name)));
    };
    drop(scope.as_object_mut().expect("a scope is a hash"));
    drop(scope["facts"].as_object_mut().expect("facts are a hash"));
    scope
}

/// Writes a random repository with nodes that have legacy facts.
fn write_repository(root: &Path, random: &mut Random) {
    let levels = [
        "path: 'nodes/%{trusted.certname}.yaml'",
        "path: 'os/%{facts.osfamily}.yaml'",
        "path: 'os/%{::osfamily}.yaml'",
        "path: 'os/%{facts.os.family}.yaml'",
        "glob: 'more/%{operatingsystem}/*.yaml'",
        "mapped_paths: [facts.osfamily, it, 'os/%{it}.yaml']",
        "path: 'roles/%{role}.yaml'",
        "path: 'roles/%{nope}.yaml'",
    ];
    let mut config = "version: 5\nhierarchy:\n".to_owned();
    for (number, level) in levels.iter().enumerate() {
        if random.one_in(2) {
            writeln!(config, "- {{name: l{number}, {level}}}").expect("a string");
        }
    }
    config.push_str("- {name: common, path: common.yaml}\n");
    if random.one_in(6) {
        config
            .push_str("default_hierarchy:\n- {name: rest, path: rest.yaml, datadir: 'd%{nope}'}\n");
    }
    write(root, "hiera.yaml", &config);
    write(root, ".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n");
    let mut scopes = Vec::new();
    for number in 0..3 + random.below(3) {
        let (family, role) = (random.pick(&["Debian", "RedHat"]), random.pick(&["web", "db"]));
        let mut facts = json!({"os": {"family": family}, "custom": number});
        for name in LEGACY {
            if !random.one_in(4) {
                facts[name] = if name == "osfamily" {
                    family.into()
                } else {
                    json!(format!("{name}{}", number % 2))
                };
            }
        }
        let mut scope = json!({"trusted": {"certname": format!("n{number}"), "extensions": {}}, "server_facts": {"environment": "production"}, "environment": "production", "role": role});
        for (name, value) in facts.as_object().expect("a hash") {
            scope[name] = value.clone();
        }
        scope["facts"] = facts;
        scopes.push(scope);
    }
    write_scopes(root, &scopes);
    for file in [
        "nodes/n0",
        "nodes/n1",
        "os/Debian",
        "os/RedHat",
        "more/operatingsystem0/a",
        "roles/web",
        "common",
    ] {
        if file == "common" || !random.one_in(3) {
            write(root, &format!("data/{file}.yaml"), &data(random, file == "common"));
        }
    }
    if random.one_in(3) {
        let config = random.pick(&[
            "---\n:backends: [yaml]\n:hierarchy: [common]\n",
            "version: 5\n",
            "version: 4\n",
        ]);
        write(root, "modules/m/hiera.yaml", config);
        write(root, "modules/m/data/common.yaml", "m::k: '%{osfamily}'\nm::l: 1\n");
        write(root, "modules/m/manifests/init.pp", "class m {}\n");
    }
    if random.one_in(8) {
        write(root, "modules/n/metadata.json", random.pick(&["no json", "", "{}"]));
        write(root, "modules/n/data/common.yaml", "n::k: 1\n");
        write(root, "modules/n/hiera.yaml", "version: 5\n");
    }
}

fn data(random: &mut Random, is_hash: bool) -> String {
    if !is_hash && random.one_in(10) {
        return random.pick(&["- a\n", "", "text\n"]).to_owned();
    }
    let mut text = String::new();
    if random.one_in(4) {
        let key = random.pick(&["k1", "'^k[2-4]'", "'%{osfamily}'"]);
        let merge = random.pick(&["unique", "hash", "deep"]);
        writeln!(text, "lookup_options: {{{key}: {{merge: {merge}}}}}").expect("a string");
    }
    for key in 0..8 {
        if random.one_in(2) {
            let other = random.below(8);
            let value = match random.below(10) {
                0 => "\"on %{osfamily}\"".to_owned(),
                1 => "\"on %{facts.osfamily}\"".to_owned(),
                2 => "\"%{::hostname} %{facts.os.family}\"".to_owned(),
                3 => "[\"%{nope}\", 1]".to_owned(),
                4 => "\"%{facts.nope}\"".to_owned(),
                5 => format!("\"%{{lookup('k{other}')}}\""),
                6 => format!("{{a: \"%{{alias('k{other}')}}\"}}"),
                7 => "\"%{facts.nope.deeper} %{role}\"".to_owned(),
                _ => random.below(3).to_string(),
            };
            writeln!(text, "k{key}: {value}").expect("a string");
        }
    }
    if text.is_empty() { "k0: 1\n".to_owned() } else { text }
}

/// Writes a copy of the sample repository with legacy facts in its levels and its data.
fn write_sample(root: &Path) {
    copy(&in_package("tests/control-repo"), root);
    let extended = |path: &str, more: &str| {
        let text = std::fs::read_to_string(root.join(path)).expect("the sample has it");
        write(root, path, &format!("{text}{more}"));
    };
    extended(
        "data/common.yaml",
        "sample::legacy: 'on %{osfamily}'\nsample::fact: '%{facts.osfamily}'\nsample::undefined: 'a %{no_such} b'\nsample::asks: \"%{lookup('sample::undefined')}\"\nsample::plain: 1\n",
    );
    extended("data/os/Debian.yaml", "sample::of_os: Debian\n");
    let config = std::fs::read_to_string(root.join("hiera.yaml")).expect("the sample has it");
    write(
        root,
        "hiera.yaml",
        &config.replace("os/%{facts.os.family}.yaml", "os/%{::osfamily}.yaml"),
    );
    write(root, "data/roles/db.yaml", "- this is no hash\n");
    write(root, ".hiera-ls.yaml", "environment: production\nnodes: {sources: [fleet.jsonl]}\n");
    let mut scopes = scopes_in(root);
    for scope in &mut scopes {
        let family = scope["facts"]["os"]["family"].clone();
        let host = scope["trusted"]["hostname"].clone();
        for (name, value) in [("osfamily", family), ("hostname", host)] {
            scope["facts"][name] = value.clone();
            scope[name] = value;
        }
    }
    write_scopes(root, &scopes);
}

#[test]
fn rehearsals_equal_all_lookups_in_both_versions() {
    let seed = random::seed("rehearsals_equal_all_lookups_in_both_versions");
    let mut random = Random::new(seed);
    let folder = scratch("rehearsals");
    let mut answers = 0;
    for number in 0..random::count(40) {
        let (root, after) = (folder.join(format!("r{number}")), folder.join(format!("a{number}")));
        let is_sample = number == 0;
        match is_sample {
            true => write_sample(&root),
            false => write_repository(&root, &mut random),
        }
        copy(&root, &after);
        let scopes: Vec<Value> = scopes_in(&root).iter().map(without_legacy_facts).collect();
        write_scopes(&after, &scopes);
        let versions = random.pick(&[[7, 8], [7, 9], [8, 9]]);
        let versions = if is_sample { [7, 8] } else { versions };
        let later = if versions[0] == 7 { &after } else { &root };
        let (forced, found) = (forced(&root, later, versions), rehearsed(&root, versions));
        assert_eq!(found, forced, "HIERA_LS_SEED={seed}, repository {number}, {versions:?}");
        answers += forced.len();
    }
    assert!(answers > 100, "{answers} answers differ");
}

#[test]
fn rehearsals_differ_where_two_puppets_do() {
    if !require_unrecorded_puppet() {
        return;
    }
    let major = puppet_major();
    let seed = random::seed("rehearsals_differ_where_two_puppets_do");
    let mut random = Random::new(seed);
    let folder = scratch("rehearsals-puppet");
    let mut differing = 0;
    for number in 0..1 + random_cases("unrecorded-puppet", 60) {
        let root = folder.join(format!("r{number}"));
        match number {
            0 => write_sample(&root),
            _ => write_repository(&root, &mut random),
        }
        let (expected, encrypted) = of_puppets(&root);
        let found: BTreeSet<Answer> =
            rehearsed(&root, [7, major]).difference(&encrypted).cloned().collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        let added: Vec<_> = found.difference(&expected).collect();
        assert!(
            missing.is_empty() && added.is_empty(),
            "HIERA_LS_SEED={seed}, {}: missing {missing:?}, added {added:?}",
            root.display()
        );
        differing += expected.len();
    }
    println!("Puppet 7 and {major}: {differing} answers differ");
    assert!(differing > 10, "{differing} answers differ");
}

/// Returns the answers in which the installed Puppet and that of the oracle differ, and those that a
/// Puppet without the private key does not have.
fn of_puppets(root: &Path) -> (BTreeSet<Answer>, BTreeSet<Answer>) {
    let folder = FilePath::new(root.to_str().expect("it is UTF-8"));
    let snapshot = open(vec![folder], &settings(7), Vec::new(), &OsFs).workspace.snapshot();
    let keys: Vec<String> = snapshot.keys().keys().map(ToString::to_string).collect();
    let keys: Vec<String> = keys.into_iter().filter(|key| key != LOOKUP_OPTIONS).collect();
    let jobs = |change: &dyn Fn(&Value) -> Value| -> Vec<(Value, Vec<Question>)> {
        let questions = || keys.iter().map(|key| Question { key: key.clone(), merge: None });
        scopes_in(root).iter().map(|scope| (change(scope), questions().collect())).collect()
    };
    let old = ask_oracle(oracle_of(None), root, &jobs(&Value::clone), "none");
    let new = ask_puppet_each(root, &jobs(&without_legacy_facts), "none");
    let (mut differing, mut encrypted) = (BTreeSet::new(), BTreeSet::new());
    for ((scope, old), new) in scopes_in(root).iter().zip(old).zip(new) {
        for ((key, old), new) in keys.iter().zip(old).zip(new) {
            let both_fail = old["error"].is_string() && new["error"].is_string();
            let name = scope["trusted"]["certname"].as_str().expect("it has a name");
            let answer = (name.to_owned(), key.clone());
            if needs_a_private_key(&old) {
                encrypted.insert(answer);
            } else if !both_fail && !same_json(&old, &new) {
                differing.insert(answer);
            }
        }
    }
    (differing, encrypted)
}
