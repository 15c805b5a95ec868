//! `diff` between revisions of real git repositories: what it reports equals all keys of all nodes
//! looked up in both trees, with each strategy that calls name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hiera_ls::disk::OsFs;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{LOOKUP_OPTIONS, Resolver};
use hiera_ls::hiera::merge::Strategy;
use hiera_ls::puppet::value::Value as PuppetValue;
use hiera_ls::settings::open;
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Snapshot;
use hiera_ls::workspace::environments::Environment;
use hiera_ls::workspace::manifests::asked_strategy;
use serde_json::{Value, json};

use super::at;
use crate::support::random::{self, Random};
use crate::support::{copy, hiera_ls, require, run, scratch, write_file};

/// A node, a key, and the strategy that a call names.
type Answer = (String, String, Option<String>);

/// Runs git without the user's settings.
pub fn git(root: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Test", "-c", "user.email=test@example.net"]).args(arguments);
    command.current_dir(root).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let done = run(&mut command, "");
    assert_eq!(done.status, Some(0), "git {arguments:?}: {}{}", done.stdout, done.stderr);
    done.stdout
}

pub fn commit(root: &Path, message: &str) {
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "--allow-empty", "-m", message]);
}

pub fn write(root: &Path, path: &str, text: &str) {
    write_file(root.join(path), text);
}

/// A new repository with these files, committed.
pub fn repository(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = scratch(name);
    files.iter().for_each(|(path, text)| write(&root, path, text));
    git(&root, &["init", "-q", "-b", "main"]);
    commit(&root, "first");
    root
}

pub const CONFIG: &str = "version: 5
hierarchy:
- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Common, path: common.yaml}
";
pub const FLEET: &str =
    "{\"facts\":{},\"trusted\":{\"certname\":\"web-01\"},\"role\":\"web\",\"location\":\"osl\"}
{\"facts\":{},\"trusted\":{\"certname\":\"web-02\"},\"role\":\"web\",\"location\":\"osl\"}
{\"facts\":{},\"trusted\":{\"certname\":\"web-03\"},\"role\":\"web\",\"location\":\"bgo\"}
{\"facts\":{},\"trusted\":{\"certname\":\"db-01\"},\"role\":\"db\",\"location\":\"bgo\"}
";

pub fn small(name: &str) -> PathBuf {
    repository(
        name,
        &[
            ("hiera.yaml", CONFIG),
            (".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n"),
            ("fleet.jsonl", FLEET),
            ("data/roles/web.yaml", "port: 80\n"),
            ("data/roles/app.yaml", "port: 90\n"),
            (
                "data/common.yaml",
                "port: 1\nasks: \"%{lookup('port')}\"\ndns: \"ns.%{location}.net\"\ndb_password: one\n",
            ),
        ],
    )
}

#[test]
fn a_report_is_grouped_by_edit_with_counts_and_names() {
    if !require("git") {
        return;
    }
    let root = small("diff-human");
    let (status, out, err) = at(&root, &["diff"], "");
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("0 keys change on 0 of 4 nodes (0 values, 0 edits)"), "{out}");
    write(&root, "data/roles/web.yaml", "port: 8080\nnew: 1\n");
    write(&root, "data/roles/app.yaml", "port: 91\n");
    let (status, out, err) = at(&root, &["diff"], "");
    assert_eq!((status, err.as_str()), (1, ""));
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("Effective changes from HEAD ("), "{out}");
    assert!(lines[0].ends_with(") to the working tree, for 4 nodes, from fleet.jsonl"), "{out}");
    assert_eq!(
        lines[3..].join("\n"),
        "data/roles/web.yaml:2  1 entry added, 1 edited
  ~ asks  '80' (data/common.yaml:2) -> '8080'    3 nodes: web-[01-03]
  ~ port  80 (data/roles/web.yaml:1) -> 8080    the same 3
  + new  not found -> 1    the same 3

data/roles/app.yaml:1  1 entry edited
  nothing changes: no known node has role=app

3 keys change on 3 of 4 nodes (9 values, 3 edits, 1 without effect)"
    );
    let (status, out, _) = at(&root, &["diff", "--nodes", "db-*"], "");
    assert_eq!(status, 0, "{out}");
    assert!(
        out.ends_with("0 keys change on 0 of 1 nodes (0 values, 3 edits, 3 without effect)\n"),
        "{out}"
    );
    assert_eq!(at(&root, &["diff", "--exit-zero"], "").0, 0);
    assert_eq!(at(&root, &["diff", "--fail-on", "error,lost"], "").0, 0);
    assert_eq!(at(&root, &["diff", "--base", "nope"], "").0, 2);
}

#[test]
fn a_key_that_changes_in_several_ways_is_one_key() {
    if !require("git") {
        return;
    }
    let root = small("diff-ways");
    write(
        &root,
        "manifests/site.pp",
        "$one = lookup('list')\n$all = lookup('list', Array, 'unique')\n",
    );
    write(&root, "data/common.yaml", "list: [a]\n");
    write(&root, "data/roles/web.yaml", "list: [b]\n");
    commit(&root, "a list that calls merge");
    write(&root, "data/roles/web.yaml", "list: [c]\n");
    let (_, out, _) = at(&root, &["diff"], "");
    assert!(out.contains("~ list  ") && out.contains("~ list (merge unique)  "), "{out}");
    assert!(out.contains("1 key changes on 3 of 4 nodes (6 values, 1 edit)"), "{out}");
    for format in ["markdown", "html", "github"] {
        let (_, out, _) = at(&root, &["diff", "--format", format], "");
        assert!(out.contains("1 key") && !out.contains("2 keys"), "{format}:\n{out}");
    }
}

#[test]
fn texts_that_differ_in_a_variable_are_one_change() {
    if !require("git") {
        return;
    }
    let root = small("diff-folded");
    write(
        &root,
        "fleet.jsonl",
        &FLEET.replace(
            "web-02\"},\"role\":\"web\",\"location\":\"osl",
            "web-02\"},\"role\":\"web\",\"location\":\"tos",
        ),
    );
    commit(&root, "a third location");
    let common = std::fs::read_to_string(root.join("data/common.yaml")).expect("it is there");
    write(&root, "data/common.yaml", &common.replace("ns.%", "dns.%"));
    let (_, out, _) = at(&root, &["diff"], "");
    assert!(
        out.contains(
            "  ~ dns  ns.<location>.net (data/common.yaml:3) -> dns.<location>.net    all 4 nodes\n"
        ),
        "{out}"
    );
}

#[test]
fn secrets_are_hidden_in_every_format() {
    if !require("git") {
        return;
    }
    let root = small("diff-secrets");
    let web = "lookup_options: {pin: {convert_to: Sensitive}}\nport: 80\npin: SECRET-1\nurl: \"x %{lookup('db_password')}\"\nusers: {ada: {password: SECRET-2}}\nsealed: ENC[PKCS7,U0VDUkVU]\n";
    write(&root, "data/roles/web.yaml", web);
    commit(&root, "secrets");
    let changed = web.replace("SECRET-", "SECRET-9").replace("U0VDUkVU", "U0VDUkVUMg==");
    write(&root, "data/roles/web.yaml", &changed);
    let common = std::fs::read_to_string(root.join("data/common.yaml")).expect("it is there");
    write(&root, "data/common.yaml", &common.replace("one", "SECRET-3"));
    for format in ["human", "markdown", "json", "github", "html"] {
        let (status, out, err) = at(&root, &["diff", "--format", format], "");
        assert_eq!(status, 1, "{err}");
        for key in ["pin", "url", "users", "sealed", "db_password"] {
            assert!(out.contains(key), "{format} does not report {key}:\n{out}");
        }
        assert!(!out.contains("SECRET-") && !out.contains("U0VDUkVU"), "{format}:\n{out}");
    }
    let (_, out, _) = at(&root, &["diff", "--reveal"], "");
    assert!(out.contains("SECRET-3") && !out.contains("SECRET-91"), "{out}");
}

#[test]
fn what_fails_comes_first_and_a_broken_file_is_named() {
    if !require("git") {
        return;
    }
    let root = small("diff-fails");
    write(&root, "data/roles/web.yaml", "port: \"%{lookup('asks')}\"\nother: 2\n");
    let (_, out, _) = at(&root, &["diff"], "");
    let first = out.lines().nth(4).unwrap_or_default();
    assert!(
        first.starts_with("  ! asks  '80' (data/common.yaml:2) -> the lookup fails: "),
        "{out}"
    );
    // The readable entries of a file that Puppet refuses give no values.
    write(&root, "data/roles/web.yaml", "port: 1\nother: [\n");
    write(&root, "data/common.yaml", "port: 2\n");
    let (status, out, _) = at(&root, &["diff"], "");
    assert_eq!(status, 1);
    let sections: Vec<&str> = out.split("\n\n").skip(1).collect();
    assert_eq!(
        sections[0],
        "data/roles/web.yaml  cannot be parsed any more\n  ! all lookups fail    3 nodes: web-[01-03]"
    );
    assert!(
        sections[1].starts_with("data/common.yaml:2  1 entry edited, 3 removed\n")
            && !sections[1].contains("web-"),
        "{out}"
    );
    assert!(sections[2].starts_with("lookups fail for a broken file on 3 of 4 nodes; "), "{out}");
    let (_, json, _) = at(&root, &["diff", "--format", "json"], "");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let refused = &json["environments"][0]["refused"][0];
    assert_eq!((refused["kind"].as_str(), refused["count"].as_u64()), (Some("broken"), Some(3)));
    let (_, out, _) = at(&root, &["diff", "--format", "github"], "");
    assert!(out.starts_with("::warning file=data/roles/web.yaml::! all lookups fail"), "{out}");
    let (status, _, _) = at(&root, &["diff", "--fail-on", "error"], "");
    assert_eq!(status, 1);
    commit(&root, "broken");
    write(&root, "data/roles/web.yaml", "port: 1\n");
    let (_, out, _) = at(&root, &["diff"], "");
    assert!(
        out.contains("data/roles/web.yaml  can be parsed again\n  + all lookups failed before    3 nodes: web-[01-03]\n"),
        "{out}"
    );
    assert!(out.contains("\n0 keys change on 0 of 4 nodes (0 values, 1 edit)"), "{out}");
}

#[test]
fn a_report_in_markdown_is_cut_between_edits() {
    if !require("git") {
        return;
    }
    let root = small("diff-markdown");
    for n in 0..20 {
        write(&root, &format!("data/nodes/n{n}.yaml"), "a: 1\n");
    }
    write(&root, "data/roles/web.yaml", "port: \"```\"\n");
    let (_, whole, _) = at(&root, &["diff", "--format", "markdown"], "");
    assert!(
        whole.starts_with("<!-- hiera-ls diff -->\n**2 keys change on 3 of 4 nodes"),
        "{whole}"
    );
    assert!(whole.contains("````diff\n- 80  # data/roles/web.yaml:1\n+ '```'\n````\n"), "{whole}");
    let (_, cut, _) = at(&root, &["diff", "--format", "markdown", "--max-chars", "1200"], "");
    assert!(cut.chars().count() <= 1200, "{}", cut.len());
    assert!(cut.contains("more edits: run `hiera-ls diff --base "), "{cut}");
    assert_eq!(cut.matches("````").count() % 2, 0, "{cut}");
}

#[test]
fn git_shows_effective_changes_with_the_driver() {
    if !require("git") {
        return;
    }
    let root = small("diff-driver");
    let program = hiera_ls([""; 0]);
    let program = program.get_program().to_str().expect("it is UTF-8");
    write(&root, ".gitattributes", "*.yaml diff=hiera\n");
    git(&root, &["config", "diff.hiera.command", &format!("'{program}' diff --git-driver")]);
    commit(&root, "driver");
    write(&root, "data/roles/web.yaml", "port: 81\n");
    let out = git(&root, &["diff"]);
    assert!(out.starts_with("diff --hiera data/roles/web.yaml\n"), "{out}");
    assert!(out.contains("  ~ port  80 (data/roles/web.yaml:1) -> 81"), "{out}");
    commit(&root, "port");
    std::fs::remove_file(root.join("data/roles/web.yaml")).expect("it is there");
    let out = git(&root, &["show", "--ext-diff", "HEAD"]);
    assert!(out.contains("80 (data/roles/web.yaml:1) -> 81"), "{out}");
    let out = git(&root, &["diff"]);
    assert!(out.contains("~ port  81 (data/roles/web.yaml:1) -> 1"), "{out}");
}

#[test]
fn ignored_files_count_on_both_sides_of_the_working_tree() {
    if !require("git") {
        return;
    }
    let root = small("diff-ignored");
    write(&root, ".gitignore", "/data/nodes/\n");
    commit(&root, "ignore");
    write(&root, "data/nodes/web-01.yaml", "port: 7\n");
    write(&root, "data/roles/web.yaml", "port: 82\n");
    let (_, out, _) = at(&root, &["diff"], "");
    assert!(out.contains("-> '82'    2 nodes: web-[02,03]\n"), "{out}");
    commit(&root, "port");
    let (_, out, _) = at(&root, &["diff", "HEAD^..HEAD"], "");
    assert!(out.contains("-> '82'    3 nodes: web-[01-03]\n"), "{out}");
}

/// Returns the answers that differ between two folders, for the nodes of both.
fn forced(before: &Path, after: &Path) -> BTreeSet<Answer> {
    let [before, after] = [before, after].map(|root| {
        let root = FilePath::new(root.to_str().expect("it is UTF-8"));
        open(vec![root], &[], Vec::new(), &OsFs).workspace.snapshot()
    });
    let mut differing = BTreeSet::new();
    let (environment, later) = (&before.environments().all[0], &after.environments().all[0]);
    let keys: BTreeSet<Arc<str>> =
        before.keys().keys().chain(after.keys().keys()).cloned().collect();
    for node in before.nodes_of(environment) {
        let Some(now) = after.nodes_of(later).iter().find(|one| one.name == node.name) else {
            continue;
        };
        let (scope, now) = (node.scope_in(&environment.name), now.scope_in(&later.name));
        let (view, later_view) = (before.view(environment), after.view(later));
        let old = Resolver::new(before.lookup_context(environment, &view, &scope));
        let new = Resolver::new(after.lookup_context(later, &later_view, &now));
        for name in keys.iter().filter(|key| ***key != *LOOKUP_OPTIONS) {
            let key = LookupKey::of_root(name);
            for strategy in strategies(&after, later, name) {
                let value = |resolver: &Resolver<'_>| -> Result<Option<PuppetValue>, ()> {
                    resolver.lookup(&key, strategy.as_ref()).value.map_err(|_| ())
                };
                if value(&old) != value(&new) {
                    let strategy = strategy.map(|strategy| strategy.name().to_owned());
                    differing.insert((node.name.to_string(), name.to_string(), strategy));
                }
            }
        }
    }
    differing
}

/// Returns the strategies that calls name, and that of `lookup_options`.
pub fn strategies(
    snapshot: &Snapshot,
    environment: &Environment,
    key: &str,
) -> Vec<Option<Strategy>> {
    let mut all = vec![None];
    let index = snapshot.manifests(environment);
    for strategy in index.readers_of_key(key).filter_map(|call| asked_strategy(call.reader)) {
        if !all.contains(&Some(strategy.clone())) {
            all.push(Some(strategy));
        }
    }
    all
}

/// Returns the answers that `diff` reports, with their kinds counted.
fn reported(out: &str, kinds: &mut BTreeMap<String, usize>) -> BTreeSet<Answer> {
    let document: Value = serde_json::from_str(out).expect("the report is JSON");
    let mut answers = BTreeSet::new();
    for environment in document["environments"].as_array().expect("a list") {
        for change in environment["changes"].as_array().expect("a list") {
            let kind = change["kind"].as_str().expect("a kind");
            *kinds.entry(kind.to_owned()).or_default() += 1;
            assert!(!change["edits"].as_array().expect("a list").is_empty(), "{change}");
            if kind == "open" || kind == "order" {
                continue;
            }
            for strategy in change["strategies"].as_array().expect("a list") {
                for node in change["nodes"].as_array().expect("a list") {
                    let text = |value: &Value| value.as_str().expect("a text").to_owned();
                    let strategy = strategy.as_str().map(str::to_owned);
                    answers.insert((text(node), text(&change["key"]), strategy));
                }
            }
        }
    }
    answers
}

#[test]
fn reports_of_random_commits_equal_all_lookups_in_both_trees() {
    if !require("git") {
        return;
    }
    let seed = random::seed("reports_of_random_commits_equal_all_lookups_in_both_trees");
    let mut random = Random::new(seed);
    let folder = scratch("diff-random");
    let mut kinds = BTreeMap::new();
    let wanted = random::count(40);
    let (mut commits, mut answers, mut number) = (0, 0, 0);
    while commits < wanted {
        let root = folder.join(format!("r{number}/repository"));
        write_fleet(&root, &mut random);
        git(&root, &["init", "-q", "-b", "main"]);
        commit(&root, "first");
        for step in 0..8 {
            let before = folder.join(format!("r{number}/before{step}"));
            copy(&root, &before);
            let told = change(&root, &mut random);
            commit(&root, &told);
            let done =
                run(hiera_ls(["diff", "HEAD^..HEAD", "--format", "json"]).current_dir(&root), "");
            let context = format!("HIERA_LS_SEED={seed}, repository {number}, step {step}: {told}");
            assert_ne!(done.status, Some(2), "{context}: {}", done.stderr);
            let forced = forced(&before, &root);
            let found = reported(&done.stdout, &mut kinds);
            let missing: Vec<_> = forced.difference(&found).take(5).collect();
            let added: Vec<_> = found.difference(&forced).take(5).collect();
            assert!(
                missing.is_empty() && added.is_empty(),
                "{context}: missing {missing:?}, added {added:?}"
            );
            answers += forced.len();
            commits += 1;
        }
        number += 1;
    }
    println!("{commits} commits, {answers} answers, {kinds:?}");
    assert!(answers > 100 && kinds.len() >= 4, "{answers} answers, {kinds:?}");
}

const FILES: [&str; 8] = [
    "nodes/n0",
    "nodes/n1",
    "nodes/n2",
    "roles/web",
    "roles/db",
    "os/Debian",
    "os/RedHat",
    "common",
];

pub fn write_fleet(root: &Path, random: &mut Random) {
    write(root, "hiera.yaml", &config(&["node", "role", "os", "common"]));
    write(root, ".hiera-ls.yaml", "nodes: {sources: [scopes.jsonl]}\n");
    let mut fleet = String::new();
    for n in 0..4 + random.below(5) {
        let (role, os) = (random.pick(&["web", "db", "none"]), random.pick(&["Debian", "RedHat"]));
        let scope = json!({"role": role, "trusted": {"certname": format!("n{n}")}, "facts": {"os": {"family": os}}});
        writeln!(fleet, "{scope}").expect("a string");
    }
    write(root, "scopes.jsonl", &fleet);
    let mut calls = String::new();
    for key in 0..10 {
        let merge = random.pick(&["", "", ", Data, 'unique'", ", Data, 'deep'", ", Data, 'hash'"]);
        writeln!(calls, "$a{key} = lookup('k{key}'{merge})").expect("a string");
    }
    write(root, "manifests/site.pp", &calls);
    for file in FILES {
        if file == "common" || !random.one_in(3) {
            write(root, &format!("data/{file}.yaml"), &data(random, file == "common"));
        }
    }
}

fn config(levels: &[&str]) -> String {
    let mut text = "version: 5\nhierarchy:\n".to_owned();
    for level in levels {
        let path = match *level {
            "node" => "nodes/%{trusted.certname}.yaml",
            "role" => "roles/%{role}.yaml",
            "os" => "os/%{facts.os.family}.yaml",
            _ => "common.yaml",
        };
        writeln!(text, "- {{name: {level}, path: '{path}'}}").expect("a string");
    }
    text
}

fn data(random: &mut Random, with_options: bool) -> String {
    let mut text = String::new();
    if with_options && random.one_in(2) {
        let strategy = random.pick(&["unique", "hash", "deep", "first"]);
        let key = random.pick(&["k1", "'^k[2-4]'"]);
        writeln!(text, "lookup_options: {{{key}: {{merge: {strategy}}}}}").expect("a string");
    }
    for key in 0..10 {
        if random.one_in(2) {
            writeln!(text, "k{key}: {}", value(random)).expect("a string");
        }
    }
    if text.is_empty() { "k0: 1\n".to_owned() } else { text }
}

fn value(random: &mut Random) -> String {
    let other = random.below(11);
    match random.below(12) {
        0 => "[one, two]".to_owned(),
        1 => "[two, three]".to_owned(),
        2 => "{a: 1, b: [x]}".to_owned(),
        3 => format!("{{a: \"%{{lookup('k{other}')}}\", c: 2}}"),
        4 => format!("\"%{{lookup('k{other}')}}\""),
        5 => "\"on %{facts.os.family}\"".to_owned(),
        6 => format!("\"%{{alias('k{other}')}}\""),
        7 | 8 => random::odd_value(random).to_owned(),
        _ => random.below(4).to_string(),
    }
}

/// Makes one to three random changes, and says which.
pub fn change(root: &Path, random: &mut Random) -> String {
    let mut told = Vec::new();
    for _ in 0..1 + random.below(3) {
        let file = format!("data/{}.yaml", random.pick(&FILES));
        let text = std::fs::read_to_string(root.join(&file)).ok();
        match (random.below(10), text) {
            (0, Some(_)) if !file.ends_with("common.yaml") => {
                std::fs::remove_file(root.join(&file)).expect("it is there");
                told.push(format!("remove {file}"));
            }
            (1, _) => {
                let levels = random.pick(&[
                    &["role", "node", "os", "common"][..],
                    &["node", "role", "common"],
                    &["node", "os", "role", "common"],
                    &["node", "role", "os", "common"],
                ]);
                write(root, "hiera.yaml", &config(levels));
                told.push(format!("levels {levels:?}"));
            }
            (2, _) => {
                write(root, &file, &data(random, true));
                told.push(format!("rewrite {file}"));
            }
            (3, Some(text)) => {
                write(
                    root,
                    &file,
                    &format!(
                        "{text}new{}: \"%{{lookup('k{}')}}\"\n",
                        random.below(3),
                        random.below(10)
                    ),
                );
                told.push(format!("append to {file}"));
            }
            (_, Some(text)) => {
                let lines: Vec<&str> = text.lines().collect();
                let at = random.below(lines.len());
                let key = lines[at].split(": ").next().unwrap_or_default();
                let edited = match key == "lookup_options" || random.one_in(5) {
                    true => String::new(),
                    false => format!("{key}: {}\n", value(random)),
                };
                let line = |(n, line): (usize, &&str)| {
                    if n == at { edited.clone() } else { format!("{line}\n") }
                };
                let text: String = lines.iter().enumerate().map(line).collect();
                write(root, &file, if text.is_empty() { "k0: 1\n" } else { &text });
                told.push(format!("edit {key} in {file}"));
            }
            (_, None) => {
                write(root, &file, &data(random, false));
                told.push(format!("create {file}"));
            }
        }
    }
    told.join(", ")
}
