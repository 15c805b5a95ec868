//! Random changes of configs, of files that come and go, and of data: the changes that a comparison
//! of two revisions finds equal lookups of all keys for all nodes in both.
//!
//! `HIERA_LS_RANDOM` sets how many changes are made.

use std::collections::{BTreeMap, BTreeSet};

use hiera_ls::disk::MemoryFs;
use hiera_ls::fleet::compare::KnownAnswers;
use hiera_ls::fleet::compare::changes::find_changes;
use hiera_ls::fleet::compare::nodes::NodeChoice;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{LOOKUP_OPTIONS, Resolver};
use hiera_ls::hiera::merge::Strategy;
use hiera_ls::hiera::resolution::Resolution;
use hiera_ls::puppet::value::Value;
use hiera_ls::settings::{GivenSettings, Origin, open_revisions};
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Snapshot;
use serde_json::json;

use crate::refactorings::strategies;
use crate::support::random::{self, Random, widen_letters};

/// A node, a key, and the strategy that a call names.
type Answer = (String, String, Option<String>);

/// The files of a revision.
type Files = BTreeMap<String, String>;

/// Levels of version 5, without their names.
const LEVELS: [&str; 18] = [
    "path: 'nodes/%{trusted.certname}.yaml'",
    "path: 'roles/%{role}.yaml'",
    "path: 'os/%{facts.os.family}.yaml'",
    "paths: ['roles/%{role}-%{facts.os.family}.yaml', 'roles/%{role}.yaml']",
    "paths: ['os/%{facts.os.family}.yaml', 'roles/%{role}.yaml', common.yaml]",
    "paths: [common.yaml, 'none/%{role}.yaml']",
    "glob: 'roles/*.yaml'",
    "glob: 'glob/*.yaml'",
    "globs: ['glob/*.yaml', 'os/%{facts.os.family}.yaml']",
    "mapped_paths: [tiers, tier, 'tiers/%{tier}.yaml']",
    "path: common.yaml",
    "path: common.yaml, datadir: other",
    "path: 'roles/%{role}.yaml', datadir: other",
    "path: common.yaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: /k, pkcs7_public_key: /p}",
    "path: common.yaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: /l, pkcs7_public_key: /p}",
    "path: common.json, data_hash: json_data",
    "path: 'none/%{role}.yaml'",
    "uri: 'http://%{role}.example.net', lookup_key: own_function",
];

/// The data files, without the folder in which they lie.
const DATA: [&str; 16] = [
    "nodes/n0.yaml",
    "nodes/n1.yaml",
    "nodes/n2.yaml",
    "roles/web.yaml",
    "roles/db.yaml",
    "roles/web-Debian.yaml",
    "os/Debian.yaml",
    "os/RedHat.yaml",
    "tiers/one.yaml",
    "tiers/two.yaml",
    "glob/a.yaml",
    "glob/b.yaml",
    "common.yaml",
    "common.json",
    "../other/common.yaml",
    "../other/roles/web.yaml",
];

/// Returns a config of the environment, of a module, or of the global layer.
fn config(layer: &str, random: &mut Random) -> String {
    let levels = (0..1 + random.below(5)).map(|_| random.pick(&LEVELS)).collect();
    config_of(layer, levels, random)
}

fn config_of(layer: &str, levels: Vec<&str>, random: &mut Random) -> String {
    let mut text = "version: 5\n".to_owned();
    if random.one_in(4) {
        text.push_str("defaults: {datadir: other, data_hash: yaml_data}\n");
    }
    let list = |name: &str, levels: &[&str], random: &mut Random| {
        let mut text = format!("{name}:\n");
        for (number, level) in levels.iter().enumerate() {
            let name = if random.one_in(3) { format!("own {number}") } else { format!("{number}") };
            text.push_str(&format!("- {{name: '{name}', {level}}}\n"));
        }
        text
    };
    text.push_str(&list("hierarchy", &levels, random));
    if layer == "module" && !random.one_in(3) {
        let last: Vec<&str> = (0..1 + random.below(2)).map(|_| random.pick(&LEVELS)).collect();
        text.push_str(&list("default_hierarchy", &last, random));
    }
    text
}

/// Returns a config of the global layer, of version 3 or 5.
fn global_config(random: &mut Random) -> String {
    if random.one_in(3) {
        return config("global", random);
    }
    let paths =
        ["nodes/%{::trusted.certname}", "roles/%{::role}", "os/%{::os}", "common", "x/%{role}"];
    let hierarchy: Vec<&str> = (0..1 + random.below(3)).map(|_| random.pick(&paths)).collect();
    let backends = random.pick(&["[yaml]", "[yaml]", "[yaml, json]", "[json, yaml]"]);
    let datadir = random.pick(&["/data", "/other"]);
    format!(
        ":backends: {backends}\n:hierarchy: {hierarchy:?}\n:yaml:\n  :datadir: {datadir}\n:json:\n  :datadir: {datadir}\n"
    )
}

fn value(random: &mut Random) -> String {
    let other = random.pick(&["k0", "k1", "k2", "k3", "k4", "k5", "m::a", "m::b"]);
    let hash = format!("{{\"a\": \"%{{lookup('{other}')}}\", \"c\": 2}}");
    let (lookup, alias) =
        (format!("\"%{{lookup('{other}')}}\""), format!("\"%{{alias('{other}')}}\""));
    random
        .pick(&[
            "[\"one\", \"one\", [\"two\"]]",
            "[\"two\", \"three\"]",
            "{\"a\": 1, \"b\": [\"x\"]}",
            "{\"b\": {\"y\": 1}, \"a\": 1}",
            &hash,
            &lookup,
            &alias,
            "\"on %{facts.os.family}\"",
            "1",
            "2",
            "3",
        ])
        .to_owned()
}

/// Returns a data file: JSON, so that files of both formats can have it.
fn data(random: &mut Random) -> String {
    let mut members = Vec::new();
    if random.one_in(3) {
        let strategy = random.pick(&["unique", "hash", "deep", "first"]);
        let key = random.pick(&["k1", "^k[2-4]", "m::a", "^m::", "%{role}"]);
        members.push(format!("\"lookup_options\": {{\"{key}\": {{\"merge\": \"{strategy}\"}}}}"));
    }
    for key in ["k0", "k1", "k2", "k3", "k4", "k5", "m::a", "m::b", "m::c"] {
        if random.one_in(3) {
            members.push(format!("\"{key}\": {}", value(random)));
        }
    }
    format!("{{{}}}\n", members.join(",\n"))
}

fn repository(random: &mut Random) -> Files {
    let mut files = Files::new();
    let mut fleet = String::new();
    for n in 0..3 + random.below(4) {
        let mut scope = json!({"trusted": {"certname": format!("n{n}")}, "facts": {}});
        if !random.one_in(8) {
            scope["role"] = json!(random.pick(&["web", "db", "none"]));
        }
        scope["facts"]["os"] = json!({"family": random.pick(&["Debian", "RedHat"])});
        scope["tiers"] = random.pick(&[json!(["one", "two"]), json!(["two"]), json!([])]);
        fleet.push_str(&format!("{scope}\n"));
    }
    files.insert("/scopes.jsonl".into(), fleet);
    let mut calls = String::new();
    for key in ["k0", "k1", "k2", "k3", "m::a"] {
        let merge = random.pick(&["", "", ", Data, 'unique'", ", Data, 'deep'", ", Data, 'hash'"]);
        calls.push_str(&format!("$a = lookup('{key}'{merge})\n"));
    }
    files.insert("/manifests/site.pp".into(), calls);
    files.insert("/hiera.yaml".into(), config("environment", random));
    files.insert("/modules/m/hiera.yaml".into(), config("module", random));
    files.insert("/etc/hiera.yaml".into(), global_config(random));
    for folder in ["/data", "/modules/m/data"] {
        for file in DATA {
            if !random.one_in(3) {
                files.insert(path_of(folder, file), data(random));
            }
        }
    }
    files
}

fn path_of(folder: &str, file: &str) -> String {
    FilePath::new(&format!("{folder}/{file}")).to_string()
}

/// Makes a change of some files, and returns its name.
fn change(files: &mut Files, random: &mut Random) -> String {
    let folder = random.pick(&["/data", "/data", "/modules/m/data"]);
    let file = path_of(folder, random.pick(&DATA));
    let (config_path, layer) = random.pick(&[
        ("/hiera.yaml", "environment"),
        ("/hiera.yaml", "environment"),
        ("/modules/m/hiera.yaml", "module"),
        ("/etc/hiera.yaml", "global"),
    ]);
    let text = files.get(config_path).cloned().unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let levels: Vec<usize> =
        (0..lines.len()).filter(|line| lines[*line].starts_with("- {")).collect();
    let named = |path: &str, what: &str| format!("{what} {path}");
    let level = |random: &mut Random| {
        format!("- {{name: 'new {}', {}}}", random.below(1000), random.pick(&LEVELS))
    };
    let what = match (random.below(11), &levels[..]) {
        (0, _) => {
            let text =
                if layer == "global" { global_config(random) } else { config(layer, random) };
            lines = vec![text.trim_end().to_owned()];
            "rewrite"
        }
        (1 | 2, [_, .., _]) => {
            let at = random.below(levels.len() - 1);
            lines.swap(levels[at], levels[at + 1]);
            "swap levels of"
        }
        (3, [_, .., _]) => {
            lines.remove(random.pick(&levels));
            "remove a level of"
        }
        (4, [first, ..]) => {
            lines.insert(*first + random.below(levels.len() + 1), level(random));
            "add a level to"
        }
        (5, [_, ..]) => {
            lines[random.pick(&levels)] = level(random);
            "replace a level of"
        }
        (6, [_, ..]) => {
            let at = random.pick(&levels);
            lines[at] = lines[at].replacen("name: '", "name: 'other ", 1);
            "rename a level of"
        }
        (7, _) => {
            files.remove(&file);
            return named(&file, "remove");
        }
        (8, _) => {
            files.insert(file.clone(), data(random));
            return named(&file, "write");
        }
        (9, _) => {
            lines.insert(0, "# comment".into());
            "comment"
        }
        _ => {
            let more = value(random);
            let text = files.entry(file.clone()).or_insert_with(|| "{}\n".into());
            let rest = text.trim_start_matches('{');
            let comma = if rest.trim() == "}" { "" } else { "," };
            *text = format!("{{\"k{}\": {more}{comma}{rest}", random.below(7));
            return named(&file, "edit");
        }
    };
    files.insert(config_path.into(), lines.join("\n") + "\n");
    named(config_path, what)
}

/// Returns the files with letters beyond ASCII in some keys, values and paths.
fn widen(files: &Files) -> Files {
    files.iter().map(|(path, text)| (widen_letters(path), widen_letters(text))).collect()
}

fn snapshots(before: &Files, after: &Files) -> (Snapshot, Snapshot) {
    let [before, after] = [before, after].map(|files| {
        let fs = MemoryFs::new();
        files.iter().for_each(|(path, text)| fs.write(path, text.as_str()));
        fs
    });
    let settings =
        json!({"nodes": {"sources": ["scopes.jsonl"]}, "globalHieraConfig": "/etc/hiera.yaml"});
    let given = [GivenSettings::new(settings, Origin::User)];
    let opened = open_revisions(vec![FilePath::new("/")], &given, &before, &after);
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    (opened.before, opened.after)
}

fn outcome(resolution: &Resolution) -> Result<&Option<Value>, ()> {
    resolution.value.as_ref().map_err(|_| ())
}

/// Returns the outcome of a lookup alone, as a phrase.
fn outcome_phrase(snapshot: &Snapshot, node: &str, key: &str) -> String {
    let environment = &snapshot.environments().all[0];
    let view = snapshot.view(environment);
    let mut nodes = snapshot.nodes_of(environment).iter();
    let node = nodes.find(|one| &*one.name == node).expect("it is known");
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &node.scope));
    match resolver.lookup(&LookupKey::of_root(key), None).value {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the answers that differ between two revisions.
fn forced(before: &Snapshot, after: &Snapshot) -> BTreeSet<Answer> {
    let [environment, later] = [before, after].map(|side| &side.environments().all[0]);
    let keys: BTreeSet<_> = before.keys().keys().chain(after.keys().keys()).collect();
    let mut found = BTreeSet::new();
    for node in before.nodes_of(environment) {
        let mut same = after.nodes_of(later).iter();
        let Some(now) = same.find(|one| one.name == node.name) else { continue };
        let (view, later_view) = (before.view(environment), after.view(later));
        let context = || before.lookup_context(environment, &view, &node.scope);
        let later_context = || after.lookup_context(later, &later_view, &now.scope);
        for name in keys.iter().filter(|key| &****key != LOOKUP_OPTIONS) {
            let key = LookupKey::of_root(name);
            let mut ways: Vec<Option<Strategy>> = strategies(after, later, name);
            ways.push(None);
            for way in ways {
                // Each lookup is made alone, with a resolver of its own.
                let old = Resolver::new(context()).lookup(&key, way.as_ref());
                let new = Resolver::new(later_context()).lookup(&key, way.as_ref());
                if outcome(&old) != outcome(&new) {
                    let way = way.map(|way| way.name().to_owned());
                    found.insert((node.name.to_string(), name.to_string(), way));
                }
            }
        }
    }
    found
}

/// Returns the answers of which a comparison finds that they differ.
fn compared(before: &Snapshot, after: &Snapshot) -> BTreeSet<Answer> {
    let files = before.files_changed(after);
    let everyone = NodeChoice::chosen_by(&|_| true);
    let all = find_changes(before, after, &files, &everyone, &mut KnownAnswers::default());
    let mut found = BTreeSet::new();
    for environment in all.expect("not cancelled") {
        for change in &environment.changes {
            // Options may name a key that no file defines: its lookup may fail or not.
            let is_defined = |side: &Snapshot| !side.keys().definitions(&change.key).is_empty();
            let is_defined = is_defined(before) || is_defined(after);
            if !is_defined || outcome(&change.before) == outcome(&change.after) {
                continue;
            }
            for strategy in &change.strategies {
                found.extend(change.nodes.iter().map(|node| {
                    let node = environment.nodes[node].name.to_string();
                    (node, change.key.to_string(), strategy.clone())
                }));
            }
        }
    }
    found
}

#[test]
fn changes_of_random_levels_equal_all_lookups() {
    let seed = random::seed("changes_of_random_levels_equal_all_lookups");
    let wanted = random::count(940);
    let mut random = Random::new(seed);
    let (mut effective, mut answers) = (BTreeMap::<String, [usize; 2]>::new(), 0);
    let mut made = 0;
    while made < wanted {
        let mut files = repository(&mut random);
        for _ in 0..6 {
            let mut later = files.clone();
            let told: Vec<String> =
                (0..1 + random.below(2)).map(|_| change(&mut later, &mut random)).collect();
            let (before, after) = match made % 3 {
                1 => snapshots(&widen(&files), &widen(&later)),
                _ => snapshots(&files, &later),
            };
            let (forced, found) = (forced(&before, &after), compared(&before, &after));
            let missing: Vec<_> = forced.difference(&found).take(5).collect();
            let added: Vec<_> = found.difference(&forced).take(5).collect();
            for (node, key, _) in missing.iter().chain(&added) {
                let sides = [&before, &after].map(|side| outcome_phrase(side, node, key));
                eprintln!("{node} {key}: {} -> {}", sides[0], sides[1]);
            }
            assert!(
                missing.is_empty() && added.is_empty(),
                "HIERA_LS_SEED={seed}, change {made}, {told:?}: missing {missing:?}, added {added:?}\nbefore {files:#?}\nafter {later:#?}"
            );
            for one in told {
                let kind = one.rsplit_once(' ').map_or(&*one, |(kind, _)| kind).to_owned();
                let [all, changed] = effective.entry(kind).or_default();
                *all += 1;
                *changed += usize::from(!forced.is_empty());
            }
            answers += forced.len();
            made += 1;
            files = later;
        }
    }
    println!("{made} changes, {answers} answers, with and without effect: {effective:?}");
    assert!(answers > made, "{answers} answers of {made} changes");
}
