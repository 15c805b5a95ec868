//! Topics: files of scenarios, many of them short.
//!
//! A topic is a list of groups. A group is one scenario (`name`, `files`, `ask`, perhaps `scope`),
//! or many short ones:
//!
//! | | |
//! |---|---|
//! | `sources: ["[a] \| [b]", …]` | each text is a scenario: the values of key `k` in levels of falling priority, `-` where a level has none |
//! | `texts: ["k: 010\n", …]` | each text is a scenario: the content of the only data file |
//! | `values: ["010", …]` | one scenario in which each text is the value of a key `v0`, `v1`, … |
//! | `configs: [[name, text], …]` | each is a scenario: the environment's `hiera.yaml` |
//! | `variants: [[name, {path: text}], …]` | each is a scenario: more files, or others in their place |
//! | `ask: [k, {key: k, merge: deep}]` | the questions; for `sources` and `texts` key `k` if there are none |
//! | `merges: [unique, …]` | asks everything with each of these |
//!
//! Without a `hiera.yaml` among the files there is one level, `data/common.yaml`; with `hiera.yaml:
//! ~` there is none.

use serde_json::{Map, Value, json};

use super::{Question, Scenario};
use crate::support::in_package;

/// The entries of a YAML file below `folder`, named without its extension.
pub fn read_yaml(folder: &str, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(in_package(folder).join(name).with_extension("yaml"))
        .expect("the file is there");
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{name}.yaml: {error}"))
}

/// The scenarios of a topic.
pub fn scenarios(folder: &str, topic: &str) -> Vec<Scenario> {
    let all: Vec<Scenario> = read_yaml(folder, topic).iter().flat_map(scenarios_of).collect();
    for (n, scenario) in all.iter().enumerate() {
        assert!(
            all[..n].iter().all(|other| other.name != scenario.name),
            "{topic}: two scenarios are called '{}'",
            scenario.name
        );
    }
    all
}

fn scenarios_of(group: &Value) -> Vec<Scenario> {
    let name = group["name"].as_str().unwrap_or_else(|| panic!("a group without a name: {group}"));
    let scope = group["scope"].as_object().cloned().unwrap_or_else(default_scope);
    let files = group["files"].as_object().cloned().unwrap_or_default();
    let has_config = files.contains_key("hiera.yaml");
    let files = files.iter().filter(|(_, content)| !content.is_null());
    let files: Vec<(String, String)> =
        files.map(|(path, content)| (path.clone(), text(content))).collect();
    let one = |name: String, more: Vec<(String, String)>, default_question: &[String]| {
        let mut files: Vec<(String, String)> = files.iter().cloned().chain(more).collect();
        if !has_config && files.iter().all(|(path, _)| path != "hiera.yaml") {
            files.insert(
                0,
                (
                    "hiera.yaml".into(),
                    "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n".into(),
                ),
            );
        }
        Scenario {
            name,
            files,
            scope: scope.clone(),
            questions: questions(group, default_question),
        }
    };
    let rows = |key: &str| {
        group[key].as_array().map(|rows| rows.iter().map(text).collect::<Vec<String>>())
    };
    if let Some(configs) = group["configs"].as_array() {
        let config =
            |pair: &Value| (text(&pair[0]), vec![("hiera.yaml".to_owned(), text(&pair[1]))]);
        return configs
            .iter()
            .map(config)
            .map(|(config, more)| one(format!("{name}: {config}"), more, &[]))
            .collect();
    }
    if let Some(variants) = group["variants"].as_array() {
        let variant = |pair: &Value| {
            let own = pair[1].as_object().unwrap_or_else(|| panic!("no files: {pair}"));
            let own = own.iter().map(|(path, content)| (path.clone(), text(content)));
            one(format!("{name}: {}", text(&pair[0])), own.collect(), &[])
        };
        return variants.iter().map(variant).collect();
    }
    if let Some(rows) = rows("sources") {
        return rows
            .iter()
            .map(|row| one(format!("{name}: {row}"), sources(row), &["k".into()]))
            .collect();
    }
    if let Some(rows) = rows("texts") {
        let data = |row: &String| vec![("data/common.yaml".to_owned(), row.clone())];
        return rows
            .iter()
            .map(|row| one(format!("{name}: {row}"), data(row), &["k".into()]))
            .collect();
    }
    if let Some(rows) = rows("values") {
        let content = rows.iter().enumerate().map(|(n, row)| format!("v{n}: {row}\n")).collect();
        let keys: Vec<String> = (0..rows.len()).map(|n| format!("v{n}")).collect();
        return vec![one(name.to_owned(), vec![("data/common.yaml".into(), content)], &keys)];
    }
    vec![one(name.to_owned(), Vec::new(), &[])]
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("it should be a string: {value}")).to_owned()
}

/// The files of `[1] | - | [2]`.
fn sources(row: &str) -> Vec<(String, String)> {
    let values: Vec<&str> = row.split(" | ").collect();
    let paths = (0..values.len()).map(|n| format!("  - {{name: l{n}, path: l{n}.yaml}}\n"));
    let config = format!("version: 5\nhierarchy:\n{}", paths.collect::<String>());
    let files = values.iter().enumerate().filter(|(_, value)| **value != "-");
    let files = files.map(|(n, value)| (format!("data/l{n}.yaml"), format!("k: {value}\n")));
    std::iter::once(("hiera.yaml".to_owned(), config)).chain(files).collect()
}

fn questions(group: &Value, default: &[String]) -> Vec<Question> {
    let asked = match group["ask"].as_array() {
        Some(asked) => asked.iter().map(question).collect(),
        None => default.iter().map(|key| Question::new(key, None)).collect::<Vec<Question>>(),
    };
    match group["merges"].as_array() {
        Some(merges) => {
            let with = |merge: &Value| {
                let merge = merge.clone();
                asked.iter().map(move |question| {
                    Question::new(
                        &question.key,
                        Some(merge.clone()).filter(|merge| !merge.is_null()),
                    )
                })
            };
            merges.iter().flat_map(with).collect()
        }
        None => asked,
    }
}

fn question(asked: &Value) -> Question {
    match asked {
        Value::String(key) => Question::new(key, None),
        _ => {
            let mut more = asked.as_object().expect("a question is a text or a hash").clone();
            let key = more
                .shift_remove("key")
                .and_then(|key| key.as_str().map(str::to_owned))
                .expect("a question has a key");
            let merge = more.shift_remove("merge");
            Question { key, merge, more }
        }
    }
}

/// The scope of a scenario that names none.
pub fn default_scope() -> Map<String, Value> {
    let scope = json!({
        "facts": {
            "os": {"family": "Debian", "l": ["x", "y"]}, "hn": "host", "num": 5, "float": 1.5, "flag": true, "list": ["a", "b"],
            "hash": {"a": 1, "b": 2}, "null": null, "empty": "", "tok": "%{facts.os.family}", "lk": "%{lookup('z')}",
            "loop": "%{facts.pool}", "pool": "%{facts.loop}", "m": "unique", "d": "<env>/abs", "glob": "{9,10}",
        },
        "hn": "host",
        "a::b": "qualified",
        "trusted": {"certname": "n1", "extensions": {}},
    });
    scope.as_object().expect("it is one").clone()
}
