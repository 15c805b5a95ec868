//! Ruby's regular expressions: matches and refusals, compared with real Ruby.
//!
//! `tests/puppet/regexes/cases.jsonl` has a line `[pattern, subject]` for each case,
//! `recorded.jsonl` Ruby's answer; `known.txt` the patterns that differ, each with why. The figures
//! in the docs of `src/hiera/ruby_regex.rs` are counted from here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support;
use hiera_ls::puppet::ruby::regex::RubyRegex;
use serde_json::{Value as Json, json};

fn file(name: &str) -> PathBuf {
    support::in_package("tests/puppet/regexes").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

fn ours(case: &Json) -> Json {
    match RubyRegex::new(case[0].as_str().unwrap()) {
        Ok(regex) => json!([regex.is_match(case[1].as_str().unwrap())]),
        Err(error) => json!([{ "error": error.message }]),
    }
}

#[test]
fn patterns_are_what_ruby_takes_them_for() {
    let cases = support::json_lines("cases.jsonl", &text("cases.jsonl"));
    let recorded = support::json_lines("recorded.jsonl", &text("recorded.jsonl"));
    assert!(recorded.len() > 1_000, "the recording is there");
    assert_eq!(cases.len(), recorded.len());
    let mut different: BTreeMap<&str, String> = BTreeMap::new();
    for (case, expected) in cases.iter().zip(&recorded) {
        let found = ours(case);
        // The verdict counts here; Oniguruma's words for a refusal are mostly, not always, Ruby's.
        let alike = found == *expected || found[0].is_object() && expected[0].is_object();
        if !alike {
            different.insert(
                case[0].as_str().unwrap(),
                format!("{case}: Ruby {expected}, here {found}"),
            );
        }
    }
    let refused = cases.iter().zip(&recorded).filter(|(_, expected)| expected[0].is_object());
    let (same, other): (Vec<_>, Vec<_>) =
        refused.partition(|(case, expected)| ours(case) == **expected);
    println!("{} refusals in Ruby's words, {} in others", same.len(), other.len());
    assert!(same.len() > 3 * other.len(), "most refusals are in Ruby's words");
    let listed = text("known.txt");
    let known: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
    let unknown: Vec<&String> = different
        .iter()
        .filter(|(pattern, _)| !known.contains(pattern))
        .map(|(_, line)| line)
        .collect();
    assert!(
        unknown.is_empty(),
        "{} patterns differ:\n{}",
        unknown.len(),
        unknown.iter().map(|line| format!("{line}\n")).collect::<String>()
    );
    let mended: Vec<&&str> =
        known.iter().filter(|pattern| !different.contains_key(**pattern)).collect();
    assert!(mended.is_empty(), "known.txt lists what no longer differs: {mended:?}");
}

#[test]
fn the_recording_is_what_ruby_says() {
    if !support::require("puppet") {
        return;
    }
    let output = support::run(support::ruby().arg(file("regex.rb")), text("cases.jsonl"));
    let current = support::json_lines("regex.rb", &output.stdout);
    if std::env::var_os("HIERA_LS_RECORD").is_some() {
        let lines: String = current.iter().map(|answer| format!("{answer}\n")).collect();
        std::fs::write(file("recorded.jsonl"), lines).unwrap();
        return;
    }
    assert_eq!(
        support::json_lines("recorded.jsonl", &text("recorded.jsonl")),
        current,
        "{}",
        output.stderr
    );
}
