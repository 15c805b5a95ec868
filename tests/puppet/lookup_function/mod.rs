//! Puppet's `lookup` function with all its options, asked through `hiera-ls lookup --batch`:
//! recorded answers, and live ones.
//!
//! `tests/puppet/lookup_function/cases.jsonl` has an options hash a line, `recorded.jsonl` the
//! answers of Puppet's own function to them.

use std::path::PathBuf;

use crate::support;
use crate::support::{hiera_ls, json_lines, run};
use serde_json::{Value as Json, json};

fn file(name: &str) -> PathBuf {
    support::in_package("tests/puppet/lookup_function").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

/// Returns the answers of `hiera-ls` for a version of Puppet, in the form of the recording.
fn ours(cases: &str, puppet: u8) -> Vec<Json> {
    let root = file("environment");
    let scope = file("scope.yaml");
    let arguments = ["lookup", "--batch", "--reveal-sensitive", "--root"];
    let output = run(
        hiera_ls(arguments)
            .arg(root)
            .arg("--scope")
            .arg(scope)
            .args(["--puppet-version", &puppet.to_string()]),
        cases,
    );
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let answer = |answer: &Json| match (answer.get("value"), answer.get("error")) {
        (Some(value), _) => json!({ "value": value }),
        (None, Some(error)) => json!({ "error": error }),
        (None, None) => json!({ "found": false }),
    };
    json_lines("hiera-ls", &output.stdout).iter().map(answer).collect()
}

#[test]
fn answers_are_puppets() {
    let cases = text("cases.jsonl");
    let recorded = json_lines("recorded.jsonl", &text("recorded.jsonl"));
    assert_equal(&cases, &recorded, &ours(&cases, 7));
}

fn assert_equal(cases: &str, recorded: &[Json], ours: &[Json]) {
    assert!(recorded.len() > 1000, "the recording is there");
    assert_eq!(recorded.len(), ours.len());
    let mut wrong = Vec::new();
    for ((case, expected), found) in cases.lines().zip(recorded).zip(ours) {
        // A test beside the code checks the wording of the message for missing keys.
        let expected =
            if expected.get("found").is_some() { &json!({ "found": false }) } else { expected };
        if !support::same_json(expected, found) {
            wrong.push(format!("{case}\n  Puppet   {expected}\n  hiera-ls {found}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        recorded.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_recording_is_what_puppet_says() {
    if !support::require("puppet") {
        return;
    }
    let output =
        run(support::ruby().arg(file("lookup.rb")).arg(file("environment")), text("cases.jsonl"));
    let current = json_lines("lookup.rb", &output.stdout);
    if std::env::var_os("HIERA_LS_RECORD").is_some() {
        let lines: String = current.iter().map(|answer| format!("{answer}\n")).collect();
        std::fs::write(file("recorded.jsonl"), lines).unwrap();
        return;
    }
    let cases = text("cases.jsonl");
    assert_equal(&cases, &current, &ours(&cases, support::puppet_major()));
    if !support::is_recorded_puppet() {
        return;
    }
    assert_eq!(json_lines("recorded.jsonl", &text("recorded.jsonl")), current, "{}", output.stderr);
}
