//! Renames there and back over the keys of whole repositories: the texts are those of before, and
//! in between no node has another effective value.
//!
//! The sample repository, and with `HIERA_LS_CORPUS_ROOT` a part of the keys of that one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hiera_ls::disk::OsFs;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::Resolver;
use hiera_ls::hiera::scope::Scope;
use hiera_ls::ide::rename::rename;
use hiera_ls::puppet::value::Value;
use hiera_ls::settings::open;
use hiera_ls::text::{FilePath, FilePosition, SourceChange, TextEdit};
use hiera_ls::workspace::environments::Environment;
use hiera_ls::workspace::{Change, Snapshot, Workspace};

use crate::support::{self, random::Random, require, variable};

/// The numbers of a run.
#[derive(Debug, Default)]
struct Tally {
    renamed: usize,
    edits: usize,
    values: usize,
    refused: BTreeMap<String, usize>,
}

#[test]
fn the_control_repo_there_and_back() {
    let root = support::in_package("tests/control-repo");
    let tally = there_and_back(&root.display().to_string(), None, usize::MAX);
    assert!(tally.renamed >= 20, "{tally:#?}");
}

#[test]
fn the_corpus_there_and_back() {
    if !require("corpus") {
        return;
    }
    let root = variable("HIERA_LS_CORPUS_ROOT").expect("require(\"corpus\") said so");
    let tally = there_and_back(&root, Some(120), 6);
    assert!(tally.renamed > 0, "{tally:#?}");
}

/// Renames each key, or some of them, and compares the values for so many nodes and the key's
/// dependents.
fn there_and_back(root: &str, sample: Option<usize>, nodes: usize) -> Tally {
    let mut workspace = open(vec![FilePath::new(root)], &[], Vec::new(), &OsFs).workspace;
    let mut keys: Vec<Arc<str>> = workspace.snapshot().keys().keys().cloned().collect();
    if let Some(count) = sample {
        let mut random = Random::new(support::random::seed("the_corpus_there_and_back"));
        keys = (0..count).map(|_| random.pick(&keys)).collect();
    }
    let mut tally = Tally::default();
    for key in keys.iter().filter(|key| &***key != "lookup_options") {
        let before = workspace.snapshot();
        let new = format!("{key}_renamed");
        match rename_key(&before, key, &new) {
            Err(reason) => *tally.refused.entry(reason).or_default() += 1,
            Ok(change) => {
                check(&mut workspace, &before, &change, (key, &new), nodes, &mut tally);
            }
        }
    }
    eprintln!("{tally:#?}");
    tally
}

fn check(
    workspace: &mut Workspace,
    before: &Snapshot,
    change: &SourceChange,
    (key, new): (&str, &str),
    nodes: usize,
    tally: &mut Tally,
) {
    apply(workspace, before, change);
    let between = workspace.snapshot();
    assert!(between.keys().definitions(key).is_empty(), "{key} is still there");
    let concerned = concerned(before, key);
    let names: HashMap<&str, &str> = concerned
        .iter()
        .map(|name| (&**name, if **name == *key { new } else { &**name }))
        .collect();
    for (old_name, new_name) in names {
        let old = values(before, old_name, nodes);
        let later = values(&between, new_name, nodes);
        assert_eq!(old, later, "the values of {old_name} after {key} became {new}");
        tally.values += old.len();
    }
    let back = rename_key(&between, new, key)
        .unwrap_or_else(|reason| panic!("{new} cannot become {key} again: {reason}"));
    apply(workspace, &between, &back);
    let after = workspace.snapshot();
    for path in change.edits.keys() {
        assert_eq!(text(before, path), text(&after, path), "{key} in {path}");
        workspace.apply(Change::Close(path.clone()));
    }
    tally.renamed += 1;
    tally.edits += change.edits.values().map(Vec::len).sum::<usize>();
}

/// The keys whose values may change with a key: it and all whose tokens lead to it.
fn concerned(snapshot: &Snapshot, key: &str) -> Vec<Arc<str>> {
    let mut all: Vec<Arc<str>> = vec![key.into()];
    let mut next = 0;
    while next < all.len() {
        let askers = snapshot.keys().asked_by(&all[next].clone()).to_vec();
        let new: Vec<_> = askers.into_iter().filter(|asker| !all.contains(asker)).collect();
        all.extend(new);
        next += 1;
    }
    all
}

/// The values of a key for nodes of all environments, with errors as text.
fn values(snapshot: &Snapshot, key: &str, nodes: usize) -> Vec<Result<Option<Value>, String>> {
    let mut all = Vec::new();
    for environment in &snapshot.environments().all {
        let scopes = snapshot.nodes_of(environment).iter().take(nodes);
        for node in scopes {
            all.push(value(snapshot, environment, &node.scope_in(&environment.name), key));
        }
    }
    all
}

fn value(
    snapshot: &Snapshot,
    environment: &Environment,
    scope: &Scope,
    key: &str,
) -> Result<Option<Value>, String> {
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, scope));
    // The messages of errors name the key, and so are not compared.
    let resolution = snapshot.lookup_as_called(environment, &resolver, &LookupKey::of_root(key));
    resolution.value.map_err(|_| "an error".to_owned())
}

fn rename_key(snapshot: &Snapshot, key: &str, new: &str) -> Result<SourceChange, String> {
    let path = snapshot.keys().definitions(key).first().expect("a file defines it");
    let file = snapshot.file(path).expect("it is there");
    let data = file.data_as(file.format());
    let Some(span) = data.definition_span(key) else { return Err("no place".to_owned()) };
    let position = FilePosition { file: file.id, offset: snapshot.span_bytes(span).start + 1 };
    rename(snapshot, position, new).map(|it| it.change).map_err(|error| shown(&error.to_string()))
}

/// A reason without the names in it, so that equal ones are counted together.
fn shown(reason: &str) -> String {
    let plain = |word: &str| !word.contains('/') && !word.contains('`');
    reason.split(' ').filter(|word| plain(word)).collect::<Vec<_>>().join(" ")
}

fn text(snapshot: &Snapshot, path: &FilePath) -> String {
    let file = snapshot.file(path).expect("it is there");
    file.text().expect("it is a text").to_str().into_owned()
}

fn apply(workspace: &mut Workspace, snapshot: &Snapshot, change: &SourceChange) {
    for (path, edits) in &change.edits {
        let after = TextEdit::apply_all(edits, &text(snapshot, path));
        workspace.apply(Change::Open(path.clone(), after));
    }
}
