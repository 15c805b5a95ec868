//! Random merges and `lookup_options`.

use serde_json::{Map, Value, json};

use super::generator::{KEYS, Making};

const PATTERNS: &[&str] = &[
    "^a",
    "^.*",
    "^[bc]$",
    "^m::",
    "^n::(a|b)",
    "^(?!a)",
    "^\\w::",
    "a.a",
    "b.*",
    "^x\\.y",
    "^zz|h",
    "^(?i)l",
    "^[[:lower:]]$",
    "^\\w$",
    "^\\W",
    "^(?i)É",
    "é",
];
const TYPES: &[&str] = &[
    "String",
    "Sensitive",
    "Array",
    "Integer",
    "Boolean",
    "Hash",
    "Float",
    "Numeric",
    "Any",
    "Init[Integer]",
    "Init[Boolean]",
    "Init[Sensitive]",
    "Init[String]",
    "Init[String, '%p']",
    "File",
    "Optional[Package]",
];

/// The value of `lookup_options` in a file of `module`, or of none.
pub fn lookup_options(making: &mut Making, module: Option<&str>) -> Value {
    if making.odd(25) {
        return making.random.pick(&[json!("x"), json!([]), Value::Null, json!(5)]);
    }
    let mut options = Map::new();
    for _ in 0..1 + making.random.below(4) {
        let key = match module {
            _ if making.odd(40) => making
                .random
                .pick(&["^(", "^[", "^a{2,1}", "%{letter}", "%{lookup('a')}"])
                .to_owned(),
            Some(module) if !making.odd(20) => {
                let (start, end) = (
                    making.random.pick(&["", "", "^"]),
                    making.random.pick(&["a", "b", "h", ".*"]),
                );
                format!("{start}{module}::{end}")
            }
            _ if making.random.one_in(3) => making.random.pick(PATTERNS).to_owned(),
            _ => making.random.pick(KEYS).to_owned(),
        };
        let entry = entry(making, module);
        options.insert(key, entry);
    }
    options.into()
}

fn entry(making: &mut Making, module: Option<&str>) -> Value {
    if making.odd(20) {
        return making.random.pick(&[
            json!("x"),
            json!("merge"),
            json!("no convert_to"),
            json!(["merge"]),
            Value::Null,
            json!(5),
            json!(true),
            json!({}),
            json!(1.5),
        ]);
    }
    let mut entry = Map::new();
    if !making.random.one_in(5) {
        let merge = if making.random.one_in(12) { "%{facts.m}".into() } else { merge(making) };
        entry.insert("merge".into(), merge);
    }
    if making.random.one_in(8) {
        let name = if making.random.one_in(2) { "Sensitive" } else { making.random.pick(TYPES) };
        let given = match name {
            // Only the options of a module get a type in a list: see the documented difference on a
            // type in a list.
            "Array" if module.is_some() => json!(["Array", true]),
            name if module.is_some() && making.random.one_in(3) => json!([name]),
            name => json!(name),
        };
        entry.insert("convert_to".into(), given);
    }
    entry.into()
}

/// A merge as data and `lookup()` take it.
pub fn merge(making: &mut Making) -> Value {
    if making.odd(10) {
        return making.random.pick(&[
            json!("foo"),
            json!(""),
            json!(true),
            json!(false),
            Value::Null,
            json!({}),
            json!({"strategy": "foo"}),
            json!({"strategy": "unique", "foo": 1}),
            json!({"strategy": "deep", "overwrite_arrays": true}),
            json!(["deep"]),
            json!({"strategy": "deep", "sort_merged_arrays": "x"}),
        ]);
    }
    let names = [
        "first",
        "unique",
        "unique",
        "hash",
        "hash",
        "deep",
        "deep",
        "deep",
        "default",
        "reverse_deep",
        "unconstrained_deep",
    ];
    let name = making.random.pick(&names);
    if !name.contains("deep") || making.random.one_in(2) {
        return if making.random.one_in(5) { json!({"strategy": name}) } else { json!(name) };
    }
    let mut merge = json!({"strategy": name});
    if !making.eyaml && making.random.one_in(2) {
        merge["knockout_prefix"] = "--".into();
    }
    if making.random.one_in(3) {
        merge["merge_hash_arrays"] = true.into();
    }
    if making.random.one_in(6) {
        merge["sort_merged_arrays"] = true.into();
    }
    merge
}
