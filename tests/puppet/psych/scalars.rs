//! The values of plain scalars.

use hiera_ls::yaml::{Resolved, resolve_plain};
use serde_json::{Value, json};

use super::ruby;
use crate::support::random::{self, Random};
use crate::support::{random_cases, require};

pub const PIECES: &[&str] = &[
    "0",
    "1",
    "2",
    "5",
    "9",
    "12",
    "59",
    "60",
    "00",
    "07",
    "08",
    "1234",
    "2020",
    "9223372036854775808",
    "01",
    "10",
    "31",
    "-",
    "-",
    "+",
    ".",
    ".",
    ":",
    ":",
    "_",
    ",",
    "e",
    "E",
    "e+",
    "e-3",
    "0x",
    "0b",
    "0o",
    "ff",
    "F",
    "T",
    "t",
    "Z",
    "z",
    " ",
    "+02:00",
    "-1",
    "inf",
    "Inf",
    "nan",
    "NaN",
    "yes",
    "No",
    "on",
    "oFF",
    "true",
    "False",
    "null",
    "~",
    "a",
    "x",
    "ä",
    "ſ",
    "ﬀ",
    "İ",
    "²",
    "٣",
    "\"",
    "'",
    "/",
    "%",
    "$",
    "@",
    "!",
    "#",
    "[",
    "]",
    "`",
    "?",
    "\u{a0}",
    "\n",
    "\t",
    "\u{b}",
    "2020-01-01",
    "10:00:00",
    "1:30",
    ":foo",
    "\\",
    "|",
    "=",
    ";",
    "日",
];

fn ours(text: &str) -> Value {
    match resolve_plain(text) {
        Resolved::Null => json!(["NilClass", ""]),
        Resolved::Bool(value) => json!(["Bool", value.to_string()]),
        Resolved::Integer(value) => json!(["Integer", value.to_string()]),
        Resolved::BigInteger(value) => json!(["Integer", value]),
        Resolved::Float(value) if value.is_nan() => json!(["Float", "NaN"]),
        Resolved::Float(value) => json!(["Float", format!("{:016x}", value.to_bits())]),
        Resolved::Symbol(name) => json!(["Symbol", name]),
        Resolved::String => json!(["String", text]),
        Resolved::Date => json!(["Refused", "Date"]),
        Resolved::Time => json!(["Refused", "Time"]),
        Resolved::BadNumber(message) => json!(["BadNumber", message]),
    }
}

#[test]
fn random_scalars() {
    if !require("ruby") {
        return;
    }
    let mut random = Random::new(random::seed("random_scalars"));
    let texts: Vec<String> = (0..random_cases("ruby", 5000))
        .map(|_| (0..1 + random.below(7)).map(|_| random.pick(PIECES)).collect())
        .collect();
    let mut differences: Vec<_> = texts
        .iter()
        .zip(ruby::ask("scalars.rb", &texts))
        .filter(|(text, theirs)| ours(text) != *theirs)
        .collect();
    differences.sort_by_key(|(text, _)| text.len());
    for (text, theirs) in differences.iter().take(20) {
        eprintln!("{text:?}\n  ours   {}\n  theirs {theirs}", ours(text));
    }
    assert!(
        differences.is_empty(),
        "{} of {} scalars mean something else",
        differences.len(),
        texts.len()
    );
    eprintln!("{} scalars compared", texts.len());
}
