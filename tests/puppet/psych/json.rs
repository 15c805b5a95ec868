//! JSON texts: verdicts and values.

use hiera_ls::yaml::{NodeId, NodeKind, Resolved, ScalarStyle, Tree, parse_json, resolve_json};
use serde_json::{Value, json};

use super::ruby;
use crate::support::random::{self, Random};
use crate::support::{random_cases, require};

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"a\"",
    "\"b\":",
    "\"",
    "\"c\": 1",
    "1",
    "-1",
    "0",
    "01",
    "-0",
    "1.5",
    "1e3",
    "1E-2",
    "1.",
    ".5",
    "-",
    "+1",
    "1e",
    "1E400",
    "12345678901234567890",
    "true",
    "false",
    "null",
    "nul",
    "NaN",
    "Infinity",
    "-Infinity",
    "'a'",
    "/* c */",
    "// c\n",
    "// c",
    "/*",
    "/",
    " ",
    "\n",
    "\t",
    "\r",
    "\"\\n\"",
    "\"\\x\"",
    "\"\\u00e4\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\"\\u12\"",
    "\"\\ud83d\\u0041\"",
    "\"\\\"",
    "\\",
    "\"ä\"",
    "\"\u{7f}\"",
    "\"\u{1}\"",
    "\u{feff}",
    "[]",
    "{}",
    "[1, 2]",
    "{\"a\": {\"b\": []}}",
    "\u{b}",
    "x",
];

fn spelled(tree: &Tree, id: NodeId) -> Value {
    match &tree.node(id).kind {
        NodeKind::Scalar { style: ScalarStyle::JsonLiteral, text } => match resolve_json(text) {
            Resolved::Float(value) => json!(["float", format!("{:016x}", value.to_bits())]),
            Resolved::Integer(value) => json!(["integer", value.to_string()]),
            Resolved::BigInteger(value) => json!(["integer", value]),
            Resolved::Bool(value) => json!(["other", value.to_string()]),
            _ => json!(["other", "nil"]),
        },
        NodeKind::Scalar { text, .. } => json!(["string", text]),
        NodeKind::Sequence { items, .. } => {
            json!(["array", items.iter().map(|item| spelled(tree, *item)).collect::<Vec<_>>()])
        }
        NodeKind::Mapping { entries, .. } => {
            let mut pairs: Vec<(&str, Value)> = Vec::new();
            for (key, value) in entries {
                let key = tree.scalar(*key).expect("keys of JSON are strings");
                let value = spelled(tree, *value);
                match pairs.iter_mut().find(|pair| pair.0 == key) {
                    Some(pair) => pair.1 = value,
                    None => pairs.push((key, value)),
                }
            }
            json!(["hash", pairs])
        }
        NodeKind::Alias { .. } => Value::Null,
    }
}

fn ours(text: &str) -> Value {
    let tree = parse_json(text);
    match tree.root {
        Some(root) if tree.problems.is_empty() => {
            json!({"ok": true, "value": spelled(&tree, root)})
        }
        _ => json!({"ok": false}),
    }
}

fn random_value(random: &mut Random, depth: usize) -> String {
    let blank = if random.below(50) == 0 {
        "/"
    } else {
        random.pick(&["", "", "", " ", "\n", "/* c */", "// c\n"])
    };
    let value = match random.below(if depth == 0 { 2 } else { 4 }) {
        0 | 1 => random.pick(PIECES).to_owned(),
        2 => {
            let items: Vec<_> =
                (0..random.below(3)).map(|_| random_value(random, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            let entries: Vec<_> = (0..random.below(3))
                .map(|_| format!("\"k\"{blank}:{}", random_value(random, depth - 1)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
    };
    format!("{blank}{value}{}", random.pick(&["", "", " ", "/**/", "\n"]))
}

#[test]
fn random_json() {
    if !require("ruby") {
        return;
    }
    let mut random = Random::new(random::seed("random_json"));
    let texts: Vec<String> = (0..random_cases("ruby", 5000))
        .map(|_| {
            if random.below(2) == 0 {
                random_value(&mut random, 3)
            } else {
                (0..1 + random.below(8)).map(|_| random.pick(PIECES)).collect()
            }
        })
        .collect();
    let mut differences: Vec<_> = texts
        .iter()
        .zip(ruby::ask("json.rb", &texts))
        .filter(|(text, theirs)| ours(text) != *theirs)
        .collect();
    differences.sort_by_key(|(text, _)| text.len());
    for (text, theirs) in differences.iter().take(20) {
        eprintln!("{text:?}\n  ours   {}\n  theirs {theirs}", ours(text));
    }
    assert!(
        differences.is_empty(),
        "{} of {} texts are read differently",
        differences.len(),
        texts.len()
    );
    eprintln!("{} JSON texts compared", texts.len());
}
