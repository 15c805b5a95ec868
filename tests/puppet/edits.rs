//! Random edits of the sample repository: the answers that an edit changes, as `hiera-ls diff` finds
//! them, are those that real Puppet gives differently before and after it.
//!
//! `HIERA_LS_RANDOM` sets how many edits are made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hiera_ls::disk::MemoryFs;
use hiera_ls::fleet::compare::KnownAnswers;
use hiera_ls::fleet::compare::changes::find_changes;
use hiera_ls::fleet::compare::nodes::NodeChoice;
use hiera_ls::hiera::lookup::LOOKUP_OPTIONS;
use hiera_ls::settings::open_revisions;
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Snapshot;
use serde_json::Value;

use crate::control_repo::questions::Question;
use crate::control_repo::{ask_puppet_in, needs_a_private_key};
use crate::support::random::{self, Random};
use crate::support::{copy, in_package, random_cases, require, same_json, scratch, write_file};

/// The files of a revision, by their paths in the repository.
type Files = BTreeMap<String, String>;

/// A node and a root key.
type NodeKey = (String, String);

/// How many edits are asked about in one run of Puppet.
const BATCH: usize = 25;

/// The most edits in a row that break a file.
const MAX_BROKEN: usize = 1_000;

const VALUES: [&str; 12] = [
    "1",
    "a text",
    "[a, b, '--a']",
    "{a: 1, b: {c: 2}}",
    "{b: {d: 3}}",
    "~",
    "\"%{lookup('company')}\"",
    "\"%{facts.os.family} of %{role}\"",
    "[\"%{site}\", \"%{lookup('nowhere')}\"]",
    "\"%{alias('ntp_servers')}\"",
    "{x: \"%{alias('company')}\"}",
    "\"a %{alias('ntp_servers')}\"",
];

/// A file of data as its root entries, each with the comments below it.
fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        let begins = !line.starts_with([' ', '-', '#', '\n', '\r', '}', ']']);
        match entries.last_mut() {
            Some(last) if !begins => last.push_str(line),
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

fn key_of(entry: &str) -> &str {
    let end = entry.match_indices(':').map(|(at, _)| at);
    let mut end = end.filter(|at| entry[at + 1..].starts_with([' ', '\n']));
    end.next().map_or(entry, |end| &entry[..end])
}

/// Returns the files with another text of one of them, or with one more.
fn changed(files: &Files, path: &str, text: String) -> Files {
    let mut after = files.clone();
    after.insert(path.to_owned(), text);
    after
}

/// Returns the entries as a text that ends with one more.
fn extended(entries: &[String], last: &str) -> String {
    format!("{}\n{last}", entries.concat().trim_end())
}

fn copy_file(files: &Files, from: &str, random: &mut Random) -> (Files, String) {
    let to = random.pick(&[
        "data/nodes/web-01.oslo.example.net.yaml",
        "data/os/Debian.yaml",
        "data/sites/oslo/more.yaml",
        "data/roles/web.yaml",
        "data/tenants/retail.yaml",
    ]);
    (changed(files, to, files[from].clone()), format!("{to} is a copy of {from}"))
}

fn swap_levels(files: &Files, random: &mut Random) -> (Files, String) {
    const LEVEL: &str = "\n  - name:";
    let mut levels: Vec<&str> = files["hiera.yaml"].split(LEVEL).collect();
    let last = levels.len() - 1;
    let one = 1 + random.below(last);
    let other = 1 + (one + random.below(last - 1)) % last;
    levels.swap(one, other);
    let after = changed(files, "hiera.yaml", levels.join(LEVEL));
    (after, format!("levels {one} and {other} change places"))
}

fn change_strategy(files: &Files, random: &mut Random) -> (Files, String) {
    let strategy = random.pick(&["first", "unique", "hash", "deep"]);
    let text = &files["data/common.yaml"];
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_strategy = |line: &str| line.starts_with("    merge: ") && !line.contains('{');
    let all: Vec<usize> = (0..lines.len()).filter(|at| is_strategy(lines[*at])).collect();
    let at = random.pick(&all);
    let line = format!("    merge: {strategy}\n");
    lines[at] = &line;
    let after = changed(files, "data/common.yaml", lines.concat());
    (after, format!("the strategy of line {} is {strategy}", at + 1))
}

/// Returns the files after a random edit, and words for it.
fn edited(files: &Files, random: &mut Random) -> (Files, String) {
    let data: Vec<&String> =
        files.keys().filter(|path| path.starts_with("data/") && path.ends_with(".yaml")).collect();
    let path = random.pick(&data).as_str();
    let other = random.pick(&data).as_str();
    let mut all = entries(&files[path]);
    let number = random.below(all.len());
    let key = key_of(&all[number]).to_owned();
    let is_data = key.starts_with(|c: char| c.is_ascii_alphabetic());
    match random.below(9) {
        0 => {
            let mut after = files.clone();
            after.remove(path);
            (after, format!("{path} is removed"))
        }
        1 => copy_file(files, path, random),
        2 => swap_levels(files, random),
        3 => change_strategy(files, random),
        4 if is_data => {
            all.remove(number);
            (changed(files, path, all.concat()), format!("{key} is removed from {path}"))
        }
        5 | 6 if is_data && key != LOOKUP_OPTIONS => {
            let value = random.pick(&VALUES);
            all[number] = format!("{key}: {value}\n");
            (changed(files, path, all.concat()), format!("{key} of {path} is {value}"))
        }
        7 if is_data => {
            let mut there = entries(&files[other]);
            there.retain(|one| key_of(one) != key);
            let after = changed(files, other, extended(&there, &all[number]));
            (after, format!("{key} of {path} is in {other}, too"))
        }
        _ => {
            let key = random.pick(&["new::key", "company", "ntp_servers", "profile::web::vhosts"]);
            let value = random.pick(&VALUES);
            all.retain(|one| key_of(one) != key);
            let after = changed(files, path, extended(&all, &format!("{key}: {value}\n")));
            (after, format!("{key} of {path} is {value}, at the end"))
        }
    }
}

fn files_in(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).expect("it is a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(folder).expect("it is in the folder");
                files.insert(name.to_str().expect("it is UTF-8").to_owned(), text);
            }
        }
    }
    files
}

/// Returns the answers that the comparison of both revisions finds different; `None` where Puppet
/// refuses a file of one revision, as keys that fail for that are reported with the file.
fn changed_answers(before: &Snapshot, after: &Snapshot) -> Option<BTreeSet<NodeKey>> {
    let files = before.files_changed(after);
    let everyone = NodeChoice::chosen_by(&|_| true);
    let all = find_changes(before, after, &files, &everyone, &mut KnownAnswers::default());
    let mut found = BTreeSet::new();
    for environment in all.expect("it is not cancelled") {
        if !environment.refused.is_empty() {
            return None;
        }
        for change in environment.changes.iter().filter(|change| change.strategies.contains(&None))
        {
            if change.before.value.is_err() && change.after.value.is_err() {
                continue; // Words of errors are compared by other tests.
            }
            let names = change.nodes.iter().map(|node| environment.nodes[node].name.to_string());
            found.extend(names.map(|node| (node, change.key.to_string())));
        }
    }
    Some(found)
}

/// An edit, and where Puppet finds the files after it.
struct Case {
    words: String,
    found: BTreeSet<NodeKey>,
    root: std::path::PathBuf,
    keys: Vec<String>,
}

#[test]
fn edits_change_the_answers_that_puppet_gives_differently() {
    if !require("puppet") {
        return;
    }
    let seed = random::seed("edits_change_the_answers_that_puppet_gives_differently");
    let mut random = Random::new(seed);
    let folder = scratch("edits");
    let root = folder.join("before");
    copy(&in_package("tests/control-repo"), &root);
    let settings = "environment: production\nnodes: {sources: [fleet.jsonl]}\n";
    std::fs::write(root.join(".hiera-ls.yaml"), settings).expect("it can be written");
    let files = files_in(&root);
    let scopes: Vec<Value> = files["fleet.jsonl"]
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    let place = FilePath::new("/repository");
    let in_memory = |files: &Files| {
        let fs = MemoryFs::new();
        files.iter().for_each(|(path, text)| fs.write(place.join(path).as_str(), text.as_str()));
        fs
    };
    let base = in_memory(&files);
    let mut left = random_cases("puppet", 24);
    let (mut differing, mut number) = (0, 0);
    while left > 0 {
        let (mut cases, mut broken) = (Vec::new(), 0);
        while cases.len() < left.min(BATCH) {
            let (after, words) = edited(&files, &mut random);
            let opened = open_revisions(vec![place.clone()], &[], &base, &in_memory(&after));
            let Some(found) = changed_answers(&opened.before, &opened.after) else {
                broken += 1;
                assert!(broken < MAX_BROKEN, "HIERA_LS_SEED={seed}: edits break files only");
                continue;
            };
            let sides = [&opened.before, &opened.after];
            let keys: BTreeSet<String> =
                sides.iter().flat_map(|side| side.keys().keys()).map(ToString::to_string).collect();
            let keys = keys.into_iter().filter(|key| key != LOOKUP_OPTIONS).collect();
            let root = folder.join(format!("after-{number}"));
            after.iter().for_each(|(path, text)| write_file(root.join(path), text));
            cases.push(Case { words, found, root, keys });
            number += 1;
        }
        left -= cases.len();
        let jobs = cases.iter().flat_map(|case| {
            [&root, &case.root].into_iter().flat_map(|root| {
                let questions: Vec<Question> = case
                    .keys
                    .iter()
                    .map(|key| Question { key: key.clone(), merge: None })
                    .collect();
                scopes.iter().map(move |scope| (root.as_path(), scope.clone(), questions.clone()))
            })
        });
        let jobs: Vec<(&Path, Value, Vec<Question>)> = jobs.collect();
        let mut answers = ask_puppet_in(&jobs, "none").into_iter();
        for Case { words, mut found, keys, root } in &mut cases.drain(..) {
            let mut expected = BTreeSet::new();
            let before: Vec<_> = answers.by_ref().take(scopes.len()).collect();
            let after: Vec<_> = answers.by_ref().take(scopes.len()).collect();
            for ((scope, before), after) in scopes.iter().zip(before).zip(after) {
                let name = scope["trusted"]["certname"].as_str().expect("it has a name");
                for ((key, before), after) in keys.iter().zip(before).zip(after) {
                    let answer = (name.to_owned(), key.clone());
                    let both_fail = before["error"].is_string() && after["error"].is_string();
                    if needs_a_private_key(&before) || needs_a_private_key(&after) {
                        found.remove(&answer);
                    } else if !both_fail && !same_json(&before, &after) {
                        expected.insert(answer);
                    }
                }
            }
            let missing: Vec<_> = expected.difference(&found).collect();
            let added: Vec<_> = found.difference(&expected).collect();
            assert!(
                missing.is_empty() && added.is_empty(),
                "HIERA_LS_SEED={seed}, {}, {words}: missing {missing:?}, added {added:?}",
                root.display()
            );
            differing += expected.len();
        }
    }
    println!("{number} edits change {differing} answers");
    // A single edit may change nothing.
    assert!(number < 20 || 2 * differing > number, "{differing} answers of {number} edits differ");
}
