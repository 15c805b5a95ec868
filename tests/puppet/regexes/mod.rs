//! Ruby's regular expressions: matches and refusals, compared with real Ruby.
//!
//! Recorded, and at random. `tests/puppet/regexes/cases.jsonl` has a line `[pattern, subject]` for each case,
//! `recorded.jsonl` Ruby's answer; `known.txt` the patterns that differ, each with why. The figures
//! in the docs of `src/puppet/ruby/regex.rs` are counted from here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support;
use crate::support::random::{self, Random};
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

/// Random patterns over random texts: the verdicts, and whether a pattern is refused.
#[test]
fn random_patterns_are_rubys() {
    if !support::require("puppet") {
        return;
    }
    let (seed, count) = (random::seed("random_patterns"), support::random_cases("puppet", 20_000));
    let mut random = Random::new(seed);
    let cases: Vec<Json> = (0..count)
        .map(|_| match random.one_in(4) {
            true => json!([
                format!("(?i){}", random_pattern(&mut random, &ASCII, 0)),
                subject(&mut random, &ASCII)
            ]),
            false => {
                json!([random_pattern(&mut random, &UNICODE, 0), subject(&mut random, &UNICODE)])
            }
        })
        .filter(|case| {
            let pattern = case[0].as_str().unwrap();
            !has_groups_in_look_behind(pattern) && !has_any_behind_boundary(pattern)
        })
        .collect();
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let output = support::run(support::ruby().arg(file("regex.rb")), &lines);
    let answers = support::json_lines("regex.rb", &output.stdout);
    assert_eq!(cases.len(), answers.len(), "{}", output.stderr);
    let (mut matched, mut refused, mut wrong) = (0, 0, Vec::new());
    for (case, expected) in cases.iter().zip(&answers).filter(|(_, answer)| !answer[0].is_null()) {
        matched += usize::from(expected[0] == json!(true));
        refused += usize::from(expected[0].is_object());
        let found = ours(case);
        if found != *expected && !(found[0].is_object() && expected[0].is_object()) {
            wrong.push(format!("{case}: Ruby {expected}, here {found}"));
        }
    }
    println!("seed {seed}: {count} patterns, {matched} match, {refused} are refused");
    assert!(
        wrong.is_empty(),
        "seed {seed}: {} of {count} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(25)].join("\n")
    );
    assert!(matched * 10 > count && refused * 4 < count, "the patterns test too little");
}

/// The parts of random patterns and texts.
struct Parts {
    letters: &'static [&'static str],
    /// Classes with blanks between them.
    classes: &'static str,
    openings: &'static [&'static str],
}

/// Parts for `(?i)`: `known.txt` lists how Ruby folds the case of other letters, of `ss`, and of classes
/// in look-behinds.
const ASCII: Parts = Parts {
    letters: &["a", "b", "z", "A", "K", "k", "c", "C", "_", "0", "7", " ", "-", "\n", "\t"],
    classes: r"\d \D \w \W \s \S \h . [ab] [^A] [a-z] [\w-] [^\W_] [\d\s] [\S&&[^a]] [[:alpha:]] [[:^alpha:]] [[:word:]] [[:upper:]_] [[:lower:]] [[:punct:]] \p{L} \p{Lu} \p{^Ll} \P{L} [\p{Lu}0]",
    openings: &["(", "(?:", "(?i:", "(?m:", "(?x:", "(?-i:", "(?=", "(?!", "(?>"],
};

/// The letters differ in one respect: case, kind, length in bytes, composition.
const UNICODE: Parts = Parts {
    letters: &[
        "a", "b", "z", "A", "K", "s", "S", "_", "0", "7", " ", "-", "\n", "\t", "é", "É", "ß", "ẞ",
        "ſ", "σ", "ς", "İ", "ı", "\u{212a}", "\u{301}", "\u{a0}", "\u{85}", "日", "😀", "€",
    ],
    classes: r"\d \D \w \W \s \S \h \H . [ab] [^a] [a-z] [à-ü] [^é] [\w-] [^\W_] [\d\s] [\S&&[^a]] [a-z&&[^b]] [[:alpha:]] [[:^alpha:]] [[:word:]] [[:upper:]_] [[:lower:]] [[:space:]] [[:digit:]] [[:punct:]] [[:^punct:]] \p{L} \p{Lu} \p{^L} \P{Greek} [\p{Han}b] \R \X []a] [^]\w]",
    openings: &["(", "(?:", "(?m:", "(?x:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?<n>"],
};

/// Whether a look-behind holds another one, or a group with alternatives, as `known.txt` lists.
fn has_groups_in_look_behind(pattern: &str) -> bool {
    // For each open group: whether it is a look-behind, and whether it stands in one.
    let mut open = vec![(false, false)];
    pattern.match_indices(['(', ')', '|']).any(|(at, found)| {
        let is_behind = pattern[at..].starts_with("(?<=") || pattern[at..].starts_with("(?<!");
        let (outer_is, is_within) = open.last().copied().unwrap_or_default();
        match found {
            "(" => open.push((is_behind, outer_is || is_within)),
            ")" => drop(open.pop()),
            _ => return is_within,
        }
        is_behind && (outer_is || is_within)
    })
}

/// Whether `.` stands somewhere behind `\b` or `\B`: Ruby and Oniguruma both pass over some matches of
/// such a pattern, and not always over the same, as `known.txt` lists.
fn has_any_behind_boundary(pattern: &str) -> bool {
    let boundary = pattern.find(r"\b").into_iter().chain(pattern.find(r"\B")).min();
    boundary.is_some_and(|at| pattern[at..].contains('.'))
}

fn subject(random: &mut Random, parts: &Parts) -> String {
    (0..random.below(7)).map(|_| random.pick(parts.letters)).collect()
}

fn random_pattern(random: &mut Random, parts: &Parts, depth: usize) -> String {
    const ANCHORS: [&str; 8] = ["^", "$", r"\A", r"\z", r"\Z", r"\b", r"\B", r"\u00e9"];
    const QUANTIFIERS: [&str; 9] = ["*", "+", "?", "{2}", "{1,2}", "{,2}", "*?", "+?", "++"];
    let classes: Vec<&str> = parts.classes.split(' ').collect();
    let mut pattern = String::new();
    if depth == 0 && random.one_in(8) {
        pattern.push_str(random.pick(&["(?m)", "(?x)"]));
    }
    for _ in 0..1 + random.below(3) {
        match random.below(12) {
            0..=3 => pattern.push_str(random.pick(parts.letters)),
            4..=7 => pattern.push_str(random.pick(&classes)),
            8 => pattern.push_str(random.pick(&ANCHORS)),
            9 => pattern.push('|'),
            _ if depth < 2 => {
                let inner = random_pattern(random, parts, depth + 1);
                pattern.push_str(&format!("{}{inner})", random.pick(parts.openings)));
            }
            _ => pattern.push_str(r"\1"),
        }
        if random.one_in(3) {
            pattern.push_str(random.pick(&QUANTIFIERS));
        }
    }
    pattern
}
