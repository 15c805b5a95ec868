//! The texts that hiera-ls prints of values: Psych reads the same values from them.

use hiera_ls::hiera::data::{DataFile, DataFormat};
use hiera_ls::puppet::Value as HieraValue;
use hiera_ls::puppet::print::{self, PrintOptions};
use hiera_ls::text::{FileId, Span};
use hiera_ls::yaml;
use serde_json::{Map, Value, json};

use super::{ruby, scalars, values};
use crate::support::random::{self, Random};
use crate::support::{random_cases, require};

/// Returns a value of scalars that need care in YAML, in lists and hashes of at most three levels.
fn random_value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth < 3 { 9 } else { 6 }) {
        0 => json!(random.below(100_000)),
        1 => random.pick(&[Value::Null, json!(true), json!(-1.5), json!(1e300)]),
        2 => json!(random.pick(&["web", "ntp1.example.net", "192.0.2.0/24", "two words"])),
        3..6 => json!(random_text(random)),
        6 => (0..random.below(5)).map(|_| random_value(random, depth + 1)).collect(),
        _ => {
            let members = (0..random.below(5)).map(|_| {
                let key = if random.one_in(3) { random_text(random) } else { "key".into() };
                (key, random_value(random, depth + 1))
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

/// Characters that a reader of YAML refuses, ends a line at, or that a display obeys.
const UNPRINTABLE: [&str; 18] = [
    "\0",
    "\u{1}",
    "\u{8}",
    "\u{1b}",
    "\r",
    "\r\n",
    "\t",
    "\u{7f}",
    "\u{80}",
    "\u{85}",
    "\u{9b}",
    "\u{a0}",
    "\u{2028}",
    "\u{2029}",
    "\u{202e}",
    "\u{feff}",
    "\u{fffe}",
    "\u{10ffff}",
];

fn random_text(random: &mut Random) -> String {
    let piece = |random: &mut Random| match random.one_in(3) {
        true if random.one_in(3) => random.pick(&UNPRINTABLE),
        true => random.pick(&[", ", ": ", " #", "{", "}", "a\nb", "\n", "- ", "? ", ":?", "ENC["]),
        false => random.pick(scalars::PIECES),
    };
    (0..random.below(5)).map(|_| piece(random)).collect()
}

/// Returns the value in each layout: in block style, on one line, with lists and small hashes on one
/// line, and that with comments of which each second place has another.
fn printed(value: &HieraValue) -> [String; 4] {
    let options = PrintOptions::default();
    let comment = |origin: Span| {
        Some(if origin.range.start.is_multiple_of(2) { "Common" } else { "Role" }.to_owned())
    };
    let compact = print::compact_lines(value, &options, &|_| None);
    let commented = print::compact_lines(value, &options, &comment);
    [
        print::print_yaml(value, &options),
        print::print_inline(value, &options),
        print::with_comments(&compact, &|_| None),
        print::with_comments(&commented, &comment),
    ]
}

#[test]
fn printed_values_are_read_back_the_same() {
    if !require("ruby") {
        return;
    }
    let mut random = Random::new(random::seed("printed_values_are_read_back_the_same"));
    let (mut texts, mut meant) = (Vec::new(), Vec::new());
    for _ in 0..random_cases("ruby", 5_000) {
        let source = random_value(&mut random, 0).to_string();
        let json = yaml::parse_json(&source);
        let file = DataFile::read_whole(&json, &source, FileId::new(0), DataFormat::Json);
        let Some(value) = file.root_value() else { continue };
        for text in printed(&value) {
            texts.push(text);
            meant.push(values::encode(&value));
        }
    }
    let answers = ruby::ask("values.rb", &texts);
    let mut others: Vec<_> = texts
        .iter()
        .zip(answers.iter().zip(&meant))
        .filter(|(_, (theirs, meant))| theirs.get("value") != Some(meant))
        .collect();
    others.sort_by_key(|(text, _)| text.len());
    for (text, (theirs, meant)) in others.iter().take(12) {
        eprintln!("{text}  meant  {meant}\n  theirs {theirs}");
    }
    assert!(others.is_empty(), "{} of {} texts mean something else", others.len(), texts.len());
    let has_flow = |text: &&String| text.contains(", ") && text.contains('[');
    let flowing = texts.iter().filter(has_flow).count();
    assert!(flowing > texts.len() / 50, "{flowing} of {} texts in flow style", texts.len());
}
