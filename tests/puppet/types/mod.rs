//! Types held against values: the verdict and the words of real Puppet, recorded and live.
//!
//! `tests/puppet/types/recorded.jsonl` has a line `[type, value, message]` for each case, the
//! message `null` where the value fits. `HIERA_LS_RECORD=1` asks Puppet anew for the cases of
//! `cases.jsonl`.

use std::path::PathBuf;

use crate::support;
use crate::support::random::{self, Random};
use crate::typed;
use hiera_ls::puppet::types::{assert_type, parse};
use hiera_ls::workspace::nodes::from_json;
use serde_json::Value as Json;

fn file(name: &str) -> PathBuf {
    support::in_package("tests/puppet/types").join(name)
}

fn lines(name: &str) -> Vec<Json> {
    let text = std::fs::read_to_string(file(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ours(data_type: &str, value: &Json) -> Option<String> {
    match parse(data_type) {
        Ok(data_type) => assert_type("Found value", &data_type, &from_json(value))
            .err()
            .map(|error| error.message),
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn verdicts_and_words_are_puppets() {
    let mut wrong = Vec::new();
    let recorded = lines("recorded.jsonl");
    assert!(recorded.len() > 100, "the recording is there");
    for case in &recorded {
        let (data_type, value, expected) = (case[0].as_str().unwrap(), &case[1], case[2].as_str());
        let found = ours(data_type, value);
        if found.as_deref() != expected {
            wrong.push(format!(
                "{data_type} <- {value}\n  Puppet   {expected:?}\n  hiera-ls {found:?}"
            ));
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
    let cases = std::fs::read_to_string(file("cases.jsonl")).unwrap();
    let output = support::run(support::ruby().arg(file("types.rb")), &cases);
    let answers = output.stdout;
    let asked: Vec<Json> = lines("cases.jsonl");
    let answers: Vec<Json> =
        answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(asked.len(), answers.len(), "{}", output.stderr);
    let current: Vec<Json> = asked
        .iter()
        .zip(&answers)
        .map(|(case, answer)| serde_json::json!([case[0], case[1], answer[0]]))
        .collect();
    if std::env::var_os("HIERA_LS_RECORD").is_some() {
        let text: String = current.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(file("recorded.jsonl"), text).unwrap();
        return;
    }
    assert_eq!(lines("recorded.jsonl"), current);
}

/// The scripts of the suites load the Puppet that the oracle asks, so that `HIERA_LS_PUPPET_LIB` holds
/// for all of them.
#[test]
fn scripts_ask_the_puppet_of_the_oracle() {
    if !support::require("puppet") {
        return;
    }
    let version = support::oracle_version().as_ref().expect("it is required")["puppet"].clone();
    for mut ruby in [support::ruby(), support::ruby_with_puppet()] {
        let asked = support::run(ruby.args(["-rpuppet", "-e", "print Puppet.version"]), "");
        assert_eq!(Some(&*asked.stdout), version.as_str(), "{}", asked.stderr);
    }
}

/// Random values against random types.
#[test]
fn random_types_and_values_as_puppet_judges_them() {
    if !support::require("puppet") {
        return;
    }
    let (seed, count) = (random::seed("random_types"), support::random_cases("puppet", 4_000));
    let mut random = Random::new(seed);
    let cases: Vec<Json> = (0..count)
        .map(|_| {
            serde_json::json!([typed::data_type(&mut random, 3), typed::value(&mut random, 3)])
        })
        .collect();
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let output = support::run(support::ruby().arg(file("types.rb")), &lines);
    let answers = support::json_lines("types.rb", &output.stdout);
    assert_eq!(cases.len(), answers.len(), "{}", output.stderr);
    let mut wrong = Vec::new();
    let mut undecided = 0;
    for (case, answer) in cases.iter().zip(&answers) {
        let (expected, found) = (answer[0].as_str(), ours(case[0].as_str().unwrap(), &case[1]));
        let left =
            parse(case[0].as_str().unwrap()).is_ok_and(|found| found.undecided_part().is_some());
        undecided += usize::from(left);
        if !left && found.as_deref() != expected {
            wrong.push(format!(
                "{} <- {}\n  Puppet   {expected:?}\n  hiera-ls {found:?}",
                case[0], case[1]
            ));
        }
    }
    println!(
        "seed {seed}: {count} types and values, {undecided} undecided, {} differ",
        wrong.len()
    );
    assert!(undecided * 10 < count, "seed {seed}: {undecided} of {count} are undecided");
    assert!(
        wrong.is_empty(),
        "seed {seed}: {} of {count} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(25)].join("\n")
    );
}
