//! The hovers of all root keys of the repositories of the tables, and of a large repository with
//! `HIERA_LS_CORPUS_ROOT`: each has a value or states why it has none, `any node` stands only where
//! all nodes get the value, and no two alternatives look the same.

use std::collections::BTreeMap;

use hiera_ls::disk::OsFs;
use hiera_ls::ide::hover::{HoverConfig, hover};
use hiera_ls::settings::open;
use hiera_ls::text::{FilePath, FilePosition};
use hiera_ls::workspace::Snapshot;

use super::{Case, all_repositories, relative};
use crate::support::{require, variable};

/// What the hovers of some keys show.
#[derive(Default)]
struct Tally {
    keys: usize,
    any_node: usize,
    alternatives: usize,
    wrong: Vec<String>,
}

/// Whether a file lies in a folder of data, as its name tells.
fn is_data(path: &FilePath) -> bool {
    let folders = path.as_str().split('/').rev().skip(1);
    let is_yaml = [".yaml", ".yml", ".json"].iter().any(|end| path.as_str().ends_with(end));
    is_yaml && folders.into_iter().any(|name| name.starts_with("data") || name == "hieradata")
}

/// An alternative of a hover.
struct Alternative {
    /// The value, as far as it is shown.
    value: String,
    line: String,
}

/// Returns the lists of alternatives of a hover.
fn alternatives(text: &str) -> Vec<Vec<Alternative>> {
    let mut lists: Vec<Vec<Alternative>> = Vec::new();
    // The map has, for each indentation, the number of the list that lines of this indentation
    // continue.
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        open.retain(|other, _| *other <= depth);
        let Some(item) = line.trim_start().strip_prefix("- ") else { continue };
        let shown = item.split(" ← ").next().unwrap_or(item);
        let condition = [" otherwise", " where ", " in "].iter().filter_map(|it| shown.rfind(it));
        let Some(at) = condition.max() else { continue };
        let value = shown[..at].trim_end_matches(" otherwise,").to_owned();
        let number = *open.entry(depth).or_insert_with(|| {
            lists.push(Vec::new());
            lists.len() - 1
        });
        lists[number].push(Alternative { value, line: item.to_owned() });
    }
    lists
}

/// Returns the pairs of alternatives of a list that look the same: with values that are cut, or one
/// right after the other, so that one line would do. Those of nodes that are not known, and values
/// that further files may change, are told apart by their words.
fn look_alikes(list: &[Alternative]) -> Vec<String> {
    let has_words = |line: &str| line.contains("in other nodes") || line.contains(", unless ");
    let mut found = Vec::new();
    for (number, one) in list.iter().enumerate() {
        for (distance, other) in list[number + 1..].iter().enumerate() {
            let is_same = one.value == other.value && !one.value.is_empty();
            let is_told = has_words(&one.line) || has_words(&other.line);
            if is_same && (one.value.ends_with('…') || distance == 0 && !is_told) {
                found.push(format!("{} | {}", one.line, other.line));
            }
        }
    }
    found
}

/// Hovers over each root key of each data file.
fn hover_all(snapshot: &Snapshot, name: &str, shown: &mut Tally) {
    let config = HoverConfig { max_value_lines: 10, max_locations: 5, ..HoverConfig::default() };
    for file in snapshot.files().filter(|file| is_data(&file.path)) {
        let data = file.data_as(file.format());
        for key in data.keys().filter_map(|key| key.as_str()) {
            let span = data.definition_span(key).map(|span| snapshot.span_bytes(span).start);
            let Some(offset) = span else { continue };
            let place = format!("{name}: {} {key}", relative(&file.path));
            shown.keys += 1;
            let found = hover(snapshot, FilePosition { file: file.id, offset }, &config);
            let Some(text) = found.map(|found| found.text) else {
                shown.wrong.push(format!("{place}: no hover"));
                continue;
            };
            if text.trim().lines().count() < 2 && !text.contains("reads this file") {
                shown.wrong.push(format!("{place}: says nothing: {text}"));
            }
            if let Some(line) = text.lines().find(|line| line.starts_with("for any node")) {
                shown.any_node += 1;
                let environments = snapshot.environments();
                let environment = environments.environment_of(&file.path);
                let nodes = environment.map_or(0, |one| snapshot.nodes_of(one).len());
                if nodes > 0 || line.trim_end() != "for any node, as none is known" {
                    shown.wrong.push(format!("{place}: {line}, and {nodes} are known"));
                }
            }
            for list in alternatives(&text) {
                shown.alternatives += list.len();
                let alike = look_alikes(&list).into_iter();
                shown.wrong.extend(alike.map(|one| format!("{place}: {one}")));
            }
        }
    }
}

#[test]
fn hovers_of_all_root_keys_have_a_value_or_a_reason() {
    let mut shown = Tally::default();
    for repository in all_repositories() {
        let case = Case::of(&repository);
        hover_all(&case.snapshot, &repository.name, &mut shown);
    }
    let Tally { keys, any_node, alternatives, wrong } = &shown;
    eprintln!("{keys} keys, {any_node} for any node, {alternatives} alternatives");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(*keys > 150 && *alternatives > 60, "{keys} keys, {alternatives} alternatives");
}

#[test]
fn hovers_of_all_root_keys_of_the_corpus_have_a_value_or_a_reason() {
    if !require("corpus") {
        return;
    }
    let root = variable("HIERA_LS_CORPUS_ROOT").expect("require(\"corpus\") said so");
    let opened = open(vec![FilePath::new(&root)], &[], Vec::new(), &OsFs);
    let mut shown = Tally::default();
    hover_all(&opened.workspace.snapshot(), "corpus", &mut shown);
    let Tally { keys, any_node, alternatives, wrong } = &shown;
    eprintln!("{keys} keys, {any_node} for any node, {alternatives} alternatives");
    assert!(wrong.is_empty(), "{} of {keys}:\n{}", wrong.len(), wrong.join("\n"));
}
