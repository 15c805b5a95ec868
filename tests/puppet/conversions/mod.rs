//! `convert_to` compared with real Puppet: results and errors, recorded and at random.
//!
//! `tests/puppet/conversions/cases.jsonl` has a line `[value, convert_to]` for each case,
//! `recorded.jsonl` Puppet's result. `HIERA_LS_RECORD=1` asks Puppet anew. Conversions that
//! hiera-ls leaves to Puppet are counted, and must stay rare.

use std::path::PathBuf;

use crate::support;
use crate::support::random::{self, Random};
use crate::typed;
use hiera_ls::hiera::lookup_options::LookupOptions;
use hiera_ls::puppet::convert::{Conversion, convert};
use hiera_ls::puppet::print::{self, PrintOptions};
use hiera_ls::text::Budget;
use hiera_ls::workspace::nodes::from_json;
use serde_json::{Value as Json, json};

fn file(name: &str) -> PathBuf {
    support::in_package("tests/puppet/conversions").join(name)
}

fn lines(name: &str) -> Vec<Json> {
    support::json_lines(name, &std::fs::read_to_string(file(name)).unwrap())
}

fn puppet(cases: &[Json]) -> Vec<Json> {
    let text: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let output = support::run(support::ruby().arg(file("convert.rb")), &text);
    let answers = support::json_lines("convert.rb", &output.stdout);
    assert_eq!(answers.len(), cases.len(), "{}", output.stderr);
    answers
}

/// Returns the answer of hiera-ls to a case; `None` where it leaves that to Puppet.
fn ours(case: &Json) -> Option<Json> {
    let options =
        LookupOptions::new(Some(from_json(&json!({"k": {"convert_to": case[1]}})))).unwrap();
    let entry = options.find_entry("k", &Budget::of_request()).unwrap().unwrap();
    let to = entry.convert_to().unwrap()?;
    let shown = PrintOptions { reveal_sensitive: true, ..PrintOptions::default() };
    Some(match convert(from_json(&case[0]), &to, |_| false) {
        Conversion::Done(value) => {
            json!({"value": serde_json::from_str::<Json>(&print::print_json(&value, &shown)).unwrap()})
        }
        Conversion::NotApplied(_) => return None,
        Conversion::Failed(message) => {
            json!({"error": format!("The convert_to lookup_option for key 'k' raised error: {message}")})
        }
        Conversion::NoType(reason) => json!({
            "error": format!("Invalid data type in lookup_options for key 'k' could not parse '{}', error: '{reason}", to.written())
        }),
    })
}

/// The cases that differ, and how many hiera-ls left to Puppet.
fn compare(cases: &[Json], expected: &[Json]) -> (Vec<String>, usize) {
    let mut wrong = Vec::new();
    let mut left = 0;
    for (case, expected) in cases.iter().zip(expected) {
        match ours(case) {
            None => left += 1,
            Some(found) if support::same_json(&found, expected) => {}
            Some(found) => wrong.push(format!("{case}\n  Puppet   {expected}\n  hiera-ls {found}")),
        }
    }
    (wrong, left)
}

/// Whether a conversion makes a list of so many numbers that Puppet takes seconds, or ends.
fn is_long_list(case: &Json) -> bool {
    let name = case[1].as_str().or_else(|| case[1][0].as_str()).unwrap_or_default();
    case[0].as_f64().is_some_and(|number| number > 50_000.0)
        && ["Array", "Hash", "Tuple", "Struct"].iter().any(|list| name.contains(list))
}

#[test]
fn conversions_are_puppets() {
    let (cases, recorded) = (lines("cases.jsonl"), lines("recorded.jsonl"));
    assert!(recorded.len() > 500, "the recording is there");
    assert_eq!(cases.len(), recorded.len());
    let (wrong, left) = compare(&cases, &recorded);
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(left * 50 <= cases.len(), "{left} of {} are left to Puppet", cases.len());
}

/// Puppet compares such types by the address of their bounds, and takes them for equal by chance in
/// one run of hundreds, so that its answer is not recorded.
#[test]
fn a_variant_keeps_both_types_with_equal_bounds_in_time() {
    for one in ["Timespan[1, 5]", "Timestamp[5]", "Array[Timespan['1-00:00:00']]"] {
        let answer = ours(&json!(["a", format!("Variant[{one}, {one}]")])).unwrap();
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains("Creation of new instance of type 'Variant["), "{error}");
    }
    let unbounded = ours(&json!(["a", "Variant[Timespan, Timespan]"])).unwrap();
    assert!(unbounded["error"].as_str().unwrap().contains("Unable to parse 'a'"), "{unbounded}");
}

#[test]
fn the_recording_is_what_puppet_says() {
    if !support::require("puppet") {
        return;
    }
    let current = puppet(&lines("cases.jsonl"));
    if std::env::var_os("HIERA_LS_RECORD").is_some() {
        let text: String = current.iter().map(|answer| format!("{answer}\n")).collect();
        std::fs::write(file("recorded.jsonl"), text).unwrap();
        return;
    }
    assert_eq!(lines("recorded.jsonl"), current);
}

/// Random values, types and arguments.
#[test]
fn random_conversions_are_puppets() {
    if !support::require("puppet") {
        return;
    }
    let (seed, count) =
        (random::seed("random_conversions"), support::random_cases("puppet", 4_000));
    let mut random = Random::new(seed);
    let cases: Vec<Json> = (0..count)
        .map(|_| json!([typed::convertible(&mut random), typed::convert_to(&mut random)]))
        .filter(|case| !is_long_list(case))
        .collect();
    let count = cases.len();
    let (wrong, left) = compare(&cases, &puppet(&cases));
    println!("seed {seed}: {count} conversions, {left} left to Puppet, {} differ", wrong.len());
    assert!(
        wrong.is_empty(),
        "seed {seed}: {} of {count} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(25)].join("\n")
    );
    assert!(left * 20 <= count, "seed {seed}: {left} of {count} are left to Puppet");
}
