//! `log KEY`: the commits at which the effective value of a key changed, against all lookups in the
//! tree of each commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hiera_ls::disk::OsFs;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{Context, Resolver};
use hiera_ls::puppet::value::Value as PuppetValue;
use hiera_ls::settings::open;
use hiera_ls::text::FilePath;
use serde_json::Value;

use super::at;
use crate::diff::{change, commit, git, small, strategies, write, write_fleet};
use crate::support::random::{self, Random};
use crate::support::{copy, hiera_ls, json_lines, require, run, scratch};

/// A node, a key, and the strategy that a call names.
type Asked = (String, String, Option<String>);
type Answers = BTreeMap<Asked, Result<Option<PuppetValue>, ()>>;

#[test]
fn commits_are_listed_with_places_and_nodes_the_newest_first() {
    if !require("git") {
        return;
    }
    let root = small("log");
    write(&root, "README", "text\n");
    commit(&root, "text");
    write(&root, "data/roles/web.yaml", "# remark\n\nport: 80\n");
    commit(&root, "remark");
    write(&root, "data/roles/web.yaml", "# remark\n\nport: 8080\n");
    commit(&root, "\u{1b}[31mport of the web");
    git(&root, &["mv", "data/roles", "data/kinds"]);
    let config = std::fs::read_to_string(root.join("hiera.yaml")).expect("it was written");
    write(&root, "hiera.yaml", &config.replace("roles/", "kinds/"));
    commit(&root, "other names of files");
    git(&root, &["checkout", "-q", "-b", "topic"]);
    write(&root, "data/nodes/db-01.yaml", "port: 5432\ndb_password: two\n");
    commit(&root, "on a branch");
    git(&root, &["checkout", "-q", "main"]);
    git(&root, &["-c", "user.name=Test", "merge", "-q", "--no-ff", "-m", "merge topic", "topic"]);
    let log = |arguments: &[&str]| {
        let (status, out, err) = at(&root, &[&["log"], arguments].concat(), "");
        assert_eq!((status, err.as_str()), (0, ""), "{arguments:?}");
        // Ids and dates differ from run to run.
        let line = |line: &str| match line.split_once("  Test  ") {
            Some((_, subject)) => format!("* {subject}\n"),
            None => format!("{line}\n"),
        };
        out.lines().map(line).collect::<String>()
    };
    assert_eq!(
        log(&["port"]),
        "Changes of port, the newest first, for 4 nodes, from fleet.jsonl

* merge topic
  ~ port  1 (data/common.yaml:1) -> 5432 (data/nodes/db-01.yaml:1)    1 node: db-01

* \\u{1b}[31mport of the web
  ~ port  80 (data/roles/web.yaml:3) -> 8080 (data/roles/web.yaml:3)    3 nodes: web-[01-03]

* first
  + port    all 4 nodes
      not found -> 80 (data/roles/web.yaml:1)    3 nodes: web-[01-03]
      not found -> 1 (data/common.yaml:1)    1 node: db-01
"
    );
    let asks = log(&["asks", "--node", "web-02", "-n", "1"]);
    assert!(asks.contains("port of the web\n  ~ asks  '80' (data/common.yaml:2) -> '8080' (data/common.yaml:2)    1 node: web-02\n"), "{asks}");
    assert!(!asks.contains("* first"), "{asks}");
    let behind = log(&["port", "HEAD~2..HEAD"]);
    assert!(behind.contains("* merge topic") && !behind.contains("port of the web"), "{behind}");
    assert!(log(&["port", "--since", "2020-01-01"]).contains("* first"));
    assert!(log(&["port", "--since", "2999-01-01"]).contains("no commit changes it"));
    assert!(log(&["db_password"]).contains("(hidden)"));
    assert!(log(&["db_password", "--reveal"]).contains("-> two"));
}

#[test]
fn what_is_no_history_is_refused() {
    if !require("git") {
        return;
    }
    let root = small("log-refused");
    for (arguments, words) in [
        (&["port", "nowhere"][..], "no revision 'nowhere'"),
        (&["port", "HEAD...main"], "the history of two branches is no line"),
        (&["h.", "HEAD"], "'h.' is no key"),
        (&["port", "--node", "zz-*"], "no node is named 'zz-*'"),
        (&["port", "--since", "yesterday"], "must be a date"),
    ] {
        let (status, _, err) = at(&root, &[&["log"], arguments].concat(), "");
        assert!(status == 2 && err.contains(words), "{arguments:?}: {err}");
    }
    let clone = scratch("log-shallow").join("clone");
    let (from, to) = (format!("file://{}", root.display()), clone.to_str().expect("it is UTF-8"));
    commit(&root, "second");
    git(&root, &["clone", "-q", "--depth", "1", &from, to]);
    let (status, out, err) = at(&clone, &["log", "port"], "");
    assert!(status == 0 && err.contains("git fetch --unshallow"), "{err}");
    assert!(!out.contains("not found ->"), "the first commit of a shallow clone is no first one");
}

/// Returns all answers in a folder.
fn answers(root: &Path, keys: &[String]) -> Answers {
    let root = FilePath::new(root.to_str().expect("it is UTF-8"));
    let snapshot = open(vec![root], &[], Vec::new(), &OsFs).workspace.snapshot();
    let environment = &snapshot.environments().all[0];
    let view = snapshot.view(environment);
    let mut all = Answers::new();
    for node in snapshot.nodes_of(environment) {
        let scope = node.scope_in(&environment.name);
        let context = snapshot.lookup_context(environment, &view, &scope);
        let resolver = Resolver::new(Context { tolerant: false, ..context });
        for key in keys {
            for strategy in strategies(&snapshot, environment, key) {
                let value = resolver.lookup(&LookupKey::of_root(key), strategy.as_ref()).value;
                let strategy = strategy.map(|strategy| strategy.name().to_owned());
                let asked = (node.name.to_string(), key.clone(), strategy);
                all.insert(asked, value.map_err(|_| ()));
            }
        }
    }
    all
}

/// Makes one random commit: of data and configs, of text that is no data, or the merge of a branch
/// with two.
fn random_commit(root: &Path, random: &mut Random) -> String {
    match random.below(8) {
        0 => {
            write(root, "README.md", &format!("{}\n", random.below(1000)));
            commit(root, "text");
            "text".to_owned()
        }
        1 => {
            git(root, &["checkout", "-q", "-b", "topic"]);
            let told = [change(root, random), change(root, random)].map(|told| {
                commit(root, &told);
                told
            });
            git(root, &["checkout", "-q", "main"]);
            git(root, &["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
            git(root, &["branch", "-q", "-D", "topic"]);
            format!("merge of {told:?}")
        }
        2 => {
            let file = random.pick(&["roles/web", "os/Debian", "common"]);
            let broken = random.pick(&["- no hash\n", "k1: [\n", "1: number\nk1: 2\n"]);
            write(root, &format!("data/{file}.yaml"), broken);
            commit(root, "broken");
            format!("{file} is broken: {broken:?}")
        }
        _ => {
            let told = change(root, random);
            commit(root, &told);
            told
        }
    }
}

#[test]
fn commits_of_random_histories_equal_all_lookups_in_their_trees() {
    if !require("git") {
        return;
    }
    let seed = random::seed("commits_of_random_histories_equal_all_lookups_in_their_trees");
    let mut random = Random::new(seed);
    let folder = scratch("log-random");
    let keys: Vec<String> =
        (0..10).map(|n| format!("k{n}")).chain((0..3).map(|n| format!("new{n}"))).collect();
    let wanted = random::count(20);
    let (mut commits, mut differing, mut number) = (0, 0, 0);
    while commits < wanted {
        let root = folder.join(format!("r{number}/repository"));
        write_fleet(&root, &mut random);
        git(&root, &["init", "-q", "-b", "main"]);
        commit(&root, "first");
        let mut before = answers(&root, &keys);
        let mut expected: BTreeMap<String, BTreeSet<Asked>> = BTreeMap::new();
        let mut told = BTreeMap::new();
        for step in 0..20 {
            let name = random_commit(&root, &mut random);
            let tree = folder.join(format!("r{number}/tree{step}"));
            copy(&root, &tree);
            let after = answers(&tree, &keys);
            let id = git(&root, &["rev-parse", "HEAD"]).trim().to_owned();
            let is_other = |one: &&Asked| before.get(*one) != after.get(*one);
            let others: BTreeSet<Asked> = after.keys().filter(is_other).cloned().collect();
            told.insert(id.clone(), name);
            expected.insert(id, others);
            before = after;
            commits += 1;
        }
        let mut found: BTreeMap<String, BTreeSet<Asked>> = BTreeMap::new();
        for key in &keys {
            let arguments = ["log", key, "HEAD~20..HEAD", "--format", "json"];
            let done = run(hiera_ls(arguments).current_dir(&root), "");
            // The command reports a key as unknown where no commit changes the key and the last
            // commit does not define it.
            let is_unknown =
                done.stdout.is_empty() && done.stderr.contains("no file of HEAD defines");
            let expected = Some(i32::from(is_unknown));
            assert_eq!(done.status, expected, "HIERA_LS_SEED={seed}: {}", done.stderr);
            for line in json_lines("log", &done.stdout) {
                let id = line["commit"].as_str().expect("an id").to_owned();
                found.entry(id).or_default().extend(changes_of(&line));
            }
        }
        for (id, expected) in &expected {
            let found = found.get(id).cloned().unwrap_or_default();
            let missing: Vec<_> = expected.difference(&found).take(5).collect();
            let added: Vec<_> = found.difference(expected).take(5).collect();
            assert!(
                missing.is_empty() && added.is_empty(),
                "HIERA_LS_SEED={seed}, repository {number}, {id} {}: missing {missing:?}, added {added:?}",
                told[id]
            );
            differing += expected.len();
        }
        number += 1;
    }
    println!("{commits} commits, {differing} answers differ");
    assert!(differing > 50, "{differing} answers differ");
}

/// Returns the answers that a line about a commit calls different.
fn changes_of(line: &Value) -> BTreeSet<Asked> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut all = BTreeSet::new();
    for change in line["changes"].as_array().expect("a list") {
        if change["kind"] == "open" {
            continue;
        }
        for strategy in change["strategies"].as_array().expect("a list") {
            for node in change["nodes"].as_array().expect("a list") {
                let strategy = strategy.as_str().map(str::to_owned);
                all.insert((text(node), text(&change["key"]), strategy));
            }
        }
    }
    all
}
