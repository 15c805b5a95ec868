//! Random data files: YAML in several styles, and JSON.

use serde_json::json;

use super::generator::{KEYS, Making};
use super::options;
pub use super::values::{Node, path_into};
use super::values::{as_json, block, flow, value};

/// Lines of YAML that say more than `key: value`.
const LINES: &[&str] = &[
    "e: {1: one, 2.5: two}",
    "d: .inf",
    "e: 'yes'",
    ":c: 1",
    "e:\n  :s: 1\n  ? :t\n  : 2",
    "5: five",
    "~: nothing",
    "true: t",
    "e: {<<: {q: 1, r: 2}, q: 3}",
    "e: {q: 3, <<: [{q: 1, r: 2}, {r: 5, s: 4}], t: 1}",
    "a: {\"1\": x, 1: y}",
    "b: |\n  text %{hn}\n  more",
    "b: >-\n  folded\n  %{lookup('f')}\n\n   more",
    "c: \"two\n  lines \\x41\\u00e9\"",
    "e: [1, 1.0, '1', true]",
    "'%{hn}': 7",
    "? d\n: - a\n  - b",
    "f: &z [1, 2]\nL: *z",
    "f: {a: &w {p: 1}, b: *w, c: {<<: *w, q: 2}}",
    "e: !!omap [a: 1, b: 2]",
    "e: [.nan, 1, .nan, [.nan]]",
    "d: :default",
    "b: {a: .nan}",
    "e:\n- :undef\n- .nan\n- :default",
    "e: [123456789012345678901234, -9223372036854775809, 1_000, 1:30, 0o17, 0777]",
    "a: {.inf: 1, 123456789012345678901234: 2}",
    "e: !!seq [a]",
    "# a comment\nb: c # d",
    "e: !foo {a: 1}",
    "e: {a: 1, a: 2, b: 3}",
    "...\n---\na: of the second document",
];
const ODD_LINES: &[&str] = &[
    "e: 2020-01-01",
    "e: {.nan: 1}",
    "e:\n  :default: 1",
    "d: : x",
    "c: :symbol",
    "b: {true: 1}",
    "a: {~: 1}",
    "e: *nope",
    "d: [1",
    "- a",
    "e: [1, {on: 2}, 3]",
    "d: {a: {b: :s}}",
    "e: {[1]: 2}",
    "\ta: 1",
    "a: b: c",
    "a: 'x' y",
    "e: {a:1}",
    "e: &r [*r]",
    "c: %{hn}",
    "? [a]\n: 1",
];
const WHOLE: &[&str] = &[
    "",
    "# nothing\n",
    "foo\n",
    "- a\n",
    "~\n",
    "false\n",
    "5\n",
    "---\n",
    "\u{feff}a: bom\n",
    "%YAML 1.1\n---\na: 1\n",
];

/// The content of a data file of `module`, or of none.
pub fn file(making: &mut Making, is_json: bool, module: Option<&str>) -> String {
    let mut entries: Vec<(String, Node)> = Vec::new();
    for _ in 0..3 + making.random.below(9) {
        let key = match module {
            Some(module) if !making.random.one_in(12) => {
                format!("{module}::{}", making.random.pick(&["a", "b", "h"]))
            }
            _ => making.random.pick(KEYS).to_owned(),
        };
        if making.random.one_in(20) || entries.iter().all(|(known, _)| *known != key) {
            let value = value(making, &key, 0);
            entries.push((key, value));
        }
    }
    making.defined.extend(entries.iter().cloned());
    let with_options = making.random.one_in(3);
    if is_json {
        if making.odd(15) {
            return making
                .random
                .pick(&[
                    "",
                    "[]",
                    "null",
                    "{\"a\": }",
                    "5",
                    "{\"a\": 1,}",
                    "{\"a\": 01}",
                    "\u{feff}{\"a\": 1}",
                    "{\"a\": 123456789012345678901, \"b\": 1e400, \"c\": \"\\u00e9\\ud83d\\ude00\"}",
                    "{\"a\": NaN}",
                ])
                .to_owned();
        }
        let mut members: Vec<String> = entries
            .iter()
            .map(|(key, value)| format!("{}: {}", json!(key), as_json(value)))
            .collect();
        if with_options {
            members
                .push(format!("\"lookup_options\": {}", options::lookup_options(making, module)));
        }
        return format!("{{\n{}\n}}\n", members.join(",\n"));
    }
    if making.odd(30) {
        return making.random.pick(WHOLE).to_owned();
    }
    let mut text = making.random.pick(&["", "", "", "---\n", "# data\n---\n"]).to_owned();
    let has_anchor = making.random.one_in(4);
    if has_anchor {
        text.push_str("anchor: &x {p: 1, a: [1, b]}\n");
    }
    for (key, value) in &entries {
        let written = match value {
            Node::Hash(members) if has_anchor && making.random.one_in(2) => {
                let mut members = members.clone();
                let at = making.random.below(members.len() + 1);
                members.insert(at, (Node::Plain("<<"), Node::Plain("*x")));
                flow(making, &Node::Hash(members))
            }
            Node::Text(_) if has_anchor && making.random.one_in(4) => "*x".into(),
            Node::List(_) | Node::Hash(_) if making.random.one_in(3) => {
                block(making, value, 2).trim_start_matches(' ').to_owned()
            }
            Node::Text(_) if making.random.one_in(4) => {
                block(making, value, 2).trim_start_matches(' ').to_owned()
            }
            other => flow(making, other),
        };
        text.push_str(&format!("{}: {written}\n", json!(key)));
    }
    if with_options {
        text.push_str(&format!("lookup_options: {}\n", options::lookup_options(making, module)));
    }
    if making.random.one_in(4) {
        text.push_str(making.random.pick(LINES));
        text.push('\n');
    }
    if making.odd(14) {
        text.push_str(making.random.pick(ODD_LINES));
        text.push('\n');
    }
    text
}
