//! The reach of unsaved edits, by the protocol: its lenses equal lookups of all keys for all nodes
//! before and after random edits, and its report equals that of `hiera-ls diff`.
//!
//! `HIERA_LS_RANDOM` sets how many edits are made.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hiera_ls::disk::OsFs;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{LOOKUP_OPTIONS, Resolver};
use hiera_ls::hiera::merge::Strategy;
use hiera_ls::puppet::value::Value;
use hiera_ls::settings::open;
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Snapshot;
use serde_json::json;

use crate::client::Client;
use crate::refactorings::{strategies, write_repository};
use crate::support::{copy, file_uri, hiera_ls, random, random::Random, run, scratch, write_file};

const REFRESH: &str = "workspace/codeLens/refresh";

fn server(root: &Path, options: &serde_json::Value) -> Client {
    let more = json!({
        "workspace": {"codeLens": {"refreshSupport": true}},
        "experimental": {"hiera": {"showReach": "show.reach"}},
    });
    Client::initialized_with(&mut hiera_ls(["server"]), root, options, &more).0
}

/// Returns the lenses of a document that speak of edits, as `line: title`, once they are as they
/// should be.
fn lenses_that(client: &mut Client, uri: &str, right: impl Fn(&[String]) -> bool) -> Vec<String> {
    loop {
        let seen = client.requests(REFRESH);
        let id = client.request("textDocument/codeLens", &json!({"textDocument": {"uri": uri}}));
        let found: Vec<String> = (client.response(id).1.as_array().into_iter().flatten())
            .filter(|lens| lens["command"]["command"] == "show.reach")
            .map(|lens| {
                let title = lens["command"]["title"].as_str().expect("a title");
                format!("{}: {title}", lens["range"]["start"]["line"])
            })
            .collect();
        if right(&found) {
            return found;
        }
        client.more_requests(REFRESH, seen);
    }
}

fn report(client: &mut Client) -> serde_json::Value {
    let id = client.request("hiera/reach", &json!({}));
    client.response(id).1
}

fn write(root: &Path, path: &str, text: &str) -> PathBuf {
    let path = root.join(path);
    write_file(&path, text);
    path
}

fn git(root: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Test", "-c", "user.email=test@example.net"]).args(arguments);
    command.current_dir(root).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let done = run(&mut command, "");
    assert_eq!(done.status, Some(0), "git {arguments:?}: {}{}", done.stdout, done.stderr);
}

fn commit(root: &Path) {
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "first"]);
}

/// Returns a committed repository of three nodes.
fn small(name: &str) -> PathBuf {
    let root = scratch(name);
    let config = "version: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n";
    write(&root, "hiera.yaml", config);
    write(&root, ".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n");
    let nodes = ["web-01 web", "web-02 web", "db-01 db"].map(|node| {
        let (name, role) = node.split_once(' ').expect("a role");
        json!({"facts": {}, "trusted": {"certname": name}, "role": role}).to_string()
    });
    write(&root, "fleet.jsonl", &nodes.join("\n"));
    write(&root, "data/roles/web.yaml", "port: 80\ndb_password: old-secret\n");
    write(&root, "data/common.yaml", "port: 1\nurl: \"http://x:%{lookup('port')}\"\n");
    commit(&root);
    root
}

#[test]
fn an_unsaved_edit_has_lenses_and_a_report() {
    let root = small("reach");
    let mut client = server(&root, &json!({}));
    let (web, common) = (root.join("data/roles/web.yaml"), root.join("data/common.yaml"));
    let (web, common) = (file_uri(&web), file_uri(&common));
    client.open(&web, 1, "port: 80\ndb_password: old-secret\n");
    client.open(&common, 1, "port: 1\nurl: \"http://x:%{lookup('port')}\"\n");
    lenses_that(&mut client, &web, <[String]>::is_empty);
    client.change_with(&web, json!({"text": "port: 81\ndb_password: new-secret\n"}));
    let found = lenses_that(&mut client, &web, |found| !found.is_empty());
    let expected = [
        "0: these 2 edits change 3 keys on 2 of 3 nodes",
        "1: this edit changes 1 key on 2 of 3 nodes",
        "0: this edit changes 2 keys on 2 of 3 nodes",
    ];
    assert_eq!(found, expected);
    let answer = report(&mut client);
    let text = answer["text"].as_str().expect("a text");
    assert_eq!(
        text.lines().next(),
        Some("Effective changes from the saved texts to the editor, for 3 nodes, from fleet.jsonl")
    );
    assert!(text.contains("db_password  (hidden) changed    2 nodes: web-[01,02]"), "{text}");
    assert!(!text.contains("-secret"), "{text}");
    let targets = answer["links"].as_array().expect("links").iter();
    let targets: Vec<&str> = targets.filter_map(|link| link["target"]["uri"].as_str()).collect();
    assert!(targets.contains(&&*web) && targets.contains(&&*common), "{answer}");
    // Puppet would refuse the text that is half typed.
    client.change_with(&web, json!({"text": "port: 81\ndb_password: 'new\n"}));
    lenses_that(&mut client, &web, |found| {
        !found.is_empty() && found.iter().all(|title| title.contains("is not known while"))
    });
    client.change_with(&web, json!({"text": "port: 80\ndb_password: old-secret\n"}));
    lenses_that(&mut client, &web, <[String]>::is_empty);
    client.change_with(&common, json!({"text": "port: 2\nurl: \"http://x:%{lookup('port')}\"\n"}));
    let found = lenses_that(&mut client, &common, |found| !found.is_empty());
    assert_eq!(found, ["0: this edit changes 2 keys on 1 of 3 nodes"]);
    // From this save on, edits are compared with the saved text.
    write(&root, "data/common.yaml", "port: 2\nurl: \"http://x:%{lookup('port')}\"\n");
    client.notify("textDocument/didSave", &json!({"textDocument": {"uri": common}}));
    lenses_that(&mut client, &common, <[String]>::is_empty);
    let config = file_uri(root.join("hiera.yaml"));
    client.open(&config, 1, "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n");
    let found = lenses_that(&mut client, &config, |found| !found.is_empty());
    assert_eq!(found, ["0: this edit changes 3 keys on 2 of 3 nodes"]);
    client.stop();
}

#[test]
fn a_git_revision_takes_the_place_of_the_saved_texts() {
    let root = small("reach-base");
    write(&root, "data/roles/web.yaml", "port: 82\ndb_password: old-secret\n");
    let mut client = server(&root, &json!({"reach": {"base": "HEAD"}}));
    let web = file_uri(root.join("data/roles/web.yaml"));
    client.open(&web, 1, "port: 82\ndb_password: old-secret\n");
    let found = lenses_that(&mut client, &web, |found| !found.is_empty());
    assert_eq!(found, ["0: this edit changes 2 keys on 2 of 3 nodes"], "it is saved");
    let text = report(&mut client)["text"].to_string();
    assert!(text.starts_with("\"Effective changes from HEAD ("), "{text}");
    client.change_with(&web, json!({"text": "port: 80\ndb_password: old-secret\n"}));
    lenses_that(&mut client, &web, <[String]>::is_empty);
    client.stop();
    let mut client = server(&root, &json!({"reach": {"base": "no-such-branch"}}));
    client.open(&web, 1, "port: 80\n");
    let id = client.request("hiera/reach", &json!({}));
    let error = client.error(id);
    assert!(error.contains("no revision 'no-such-branch'"), "{error}");
    client.stop();
}

#[test]
fn a_setting_switches_the_lenses_off_and_the_report_stays() {
    let root = small("reach-off");
    let mut client = server(&root, &json!({"codeLens": {"reach": false}}));
    let web = file_uri(root.join("data/roles/web.yaml"));
    client.open(&web, 1, "port: 81\ndb_password: old-secret\n");
    client.diagnostics(&web, 1);
    lenses_that(&mut client, &web, <[String]>::is_empty);
    let text = report(&mut client)["text"].to_string();
    assert!(text.contains("2 keys change on 2 of 3 nodes"), "{text}");
    client.stop();
}

/// A node, a key, and whether its lookup fails afterwards.
pub(crate) type Change = (String, String, bool);

/// Returns what differs for all nodes and all keys, with each strategy that calls name and that of
/// the data.
pub(crate) fn differing(before: &Snapshot, after: &Snapshot) -> BTreeSet<Change> {
    let [environment, later] = [before, after].map(|side| &side.environments().all[0]);
    let (nodes, kinds) = (before.nodes_of(environment), &before.kinds_of(environment).all);
    let nodes = if nodes.is_empty() { kinds } else { nodes };
    let keys: BTreeSet<_> = before.keys().keys().chain(after.keys().keys()).collect();
    let mut found = BTreeSet::new();
    for node in nodes {
        let scope = node.scope_in(&environment.name);
        let (view, later_view) = (before.view(environment), after.view(later));
        let old = Resolver::new(before.lookup_context(environment, &view, &scope));
        let new = Resolver::new(after.lookup_context(later, &later_view, &scope));
        for name in keys.iter().filter(|key| &****key != LOOKUP_OPTIONS) {
            let key = LookupKey::of_root(name);
            let mut ways: Vec<Option<Strategy>> = strategies(after, later, name);
            ways.push(None);
            for way in ways {
                let value = |resolver: &Resolver<'_>| -> Result<Option<Value>, ()> {
                    resolver.lookup(&key, way.as_ref()).value.map_err(|_| ())
                };
                let (old, new) = (value(&old), value(&new));
                if old != new {
                    found.insert((node.name.to_string(), name.to_string(), new.is_err()));
                }
            }
        }
    }
    found
}

/// Returns the title of a file all of whose edits make these changes.
pub(crate) fn title(found: &BTreeSet<Change>) -> String {
    let mut phrases = Vec::new();
    for (fails, words) in [(true, "lookups fail for"), (false, "change")] {
        let of_kind = || found.iter().filter(move |change| change.2 == fails);
        let keys: BTreeSet<_> = of_kind().map(|change| &change.1).collect();
        let nodes: BTreeSet<_> = of_kind().map(|change| &change.0).collect();
        if !keys.is_empty() {
            let s = if keys.len() == 1 { "" } else { "s" };
            phrases.push(format!("{words} {} key{s} on {} of ", keys.len(), nodes.len()));
        }
    }
    if phrases.is_empty() { "nothing".to_owned() } else { phrases.join("…") }
}

/// Returns another text of a data file: an entry with another value, without one, or with one more.
fn edited(text: &str, random: &mut Random) -> String {
    let entry = |random: &mut Random| {
        let other = random.below(10);
        let token = format!("\"%{{lookup('k{other}')}}\"");
        let values = [
            "[one, two]",
            "{a: 1, b: {c: 2}}",
            "\"on %{facts.os.family}\"",
            &token,
            &token,
            "1",
            "2",
        ];
        format!("k{}: {}\n", random.below(12), random.pick(&values))
    };
    let starts: Vec<usize> = text
        .match_indices('\n')
        .map(|(at, _)| at + 1)
        .filter(|at| text[*at..].starts_with('k'))
        .collect();
    match (random.below(4), &starts[..]) {
        (0, _) => format!("{}\n{}", text.trim_end(), entry(random)),
        (1, [first, second, ..]) => format!("{}{}", &text[..*first], &text[*second..]),
        (_, [.., last]) => format!("{}{}", &text[..*last], entry(random)),
        _ => entry(random),
    }
}

#[test]
fn the_reach_of_random_edits_equals_all_lookups_and_the_report_of_diff() {
    let seed = random::seed("the_reach_of_random_edits_equals_all_lookups_and_the_report_of_diff");
    let wanted = random::count(60);
    let mut random = Random::new(seed);
    let folder = scratch("reach-random");
    let snapshot = |root: &Path| {
        let root = FilePath::new(&root.display().to_string());
        open(vec![root], &[], Vec::new(), &OsFs).workspace.snapshot()
    };
    let (mut edits, mut repositories, mut effective) = (0, 0, 0);
    while edits < wanted {
        let root = folder.join(format!("r{repositories}"));
        write_repository(&root, repositories, &mut random);
        let saved = folder.join(format!("s{repositories}"));
        copy(&root, &saved);
        commit(&saved);
        repositories += 1;
        let before = snapshot(&root);
        let mut client = server(&root, &json!({}));
        for file in ["roles/web", "os/Debian", "common", "common", "nodes/n0"] {
            let path = format!("data/{file}.yaml");
            let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
            let address = file_uri(root.join(&path));
            client.open(&address, 1, &text);
            lenses_that(&mut client, &address, <[String]>::is_empty);
            // The later edits of a series are compared with answers that the server keeps.
            let mut later = text.clone();
            for _ in 0..random.below(3) + 1 {
                later = edited(&later, &mut random);
                let context =
                    format!("HIERA_LS_SEED={seed}, {path} of repository {repositories}: {later}");
                eprintln!("{context}");
                client.change_with(&address, json!({"text": later}));
                let page = report(&mut client)["text"].as_str().expect("a text").to_owned();
                write(&saved, &path, &later);
                let diff = run(hiera_ls(["diff", "--base", "HEAD"]).current_dir(&saved), "");
                let body = |text: &str| {
                    text.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>()
                };
                assert_eq!(body(&page), body(&diff.stdout), "{context}");
                let forced = differing(&before, &snapshot(&saved));
                write(&saved, &path, &text);
                let has_edits = !page.contains(", 0 edits)");
                if has_edits && !page.contains("cannot be parsed any more") {
                    edits += 1;
                    effective += usize::from(!forced.is_empty());
                    let words = title(&forced);
                    // The lenses of the edit before may be there for a moment.
                    lenses_that(&mut client, &address, |found| {
                        let told = found.first().map(|told| told.replace("changes", "change"));
                        let told = told.unwrap_or_default();
                        // Unknown variables decide the answer, and no lookup shows that.
                        let is_open = forced.is_empty() && told.contains("may change");
                        is_open || words.split('…').all(|part| told.contains(part))
                    });
                }
            }
            client.change_with(&address, json!({"text": text}));
            lenses_that(&mut client, &address, <[String]>::is_empty);
            client.close(&address);
        }
        client.stop();
    }
    eprintln!("{edits} edits of {repositories} repositories, {effective} with an effect");
    assert!(effective * 3 > edits, "most edits have an effect");
}
