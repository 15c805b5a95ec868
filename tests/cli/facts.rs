//! Files of facts as `puppet lookup --facts` reads them: the values of their scalars, and the texts
//! that make Puppet refuse a file. Each answer is Puppet 7.23's; where `HIERA_LS_REQUIRE` names
//! puppet, the test asks Puppet again.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::support::random::{self, Random};
use super::support::{in_package, is_required, json_lines, require, ruby, run};
use super::{CONFIG, at, repo};

/// How both programs are asked, up to the file of facts and the key.
const ARGUMENTS: [&str; 5] = ["--node", "n1", "--render-as", "s", "--facts"];

/// The name of a file, its text, and the value of `"%{facts.q}"`; `None` where the file is refused.
const CASES: &[(&str, &str, Option<&str>)] = &[
    ("a.yaml", "q: yes", Some("true")),
    ("a.yaml", "q: 0777", Some("511")),
    ("a.yaml", "q: 1_000", Some("1000")),
    ("a.yaml", "q: 1,000", Some("1000")),
    ("a.yaml", "q: 1:30", Some("5400")),
    ("a.yaml", "q: 1e3", Some("1e3")),
    ("a.yaml", "q: 0o17", Some("0o17")),
    ("a.yaml", "q: {<<: {x: 1}, y: 2}", Some("{\"x\"=>1, \"y\"=>2}")),
    ("a.yaml", "q: {1: x, yes: z}", Some("{1=>\"x\", true=>\"z\"}")),
    ("a.yaml", "q: !!binary aGVsbG8=", Some("hello")),
    ("a.yaml", "q: 9223372036854775808", Some("9223372036854775808")),
    ("a.yaml", "q: 18446744073709551616", Some("18446744073709551616")),
    ("a.yaml", "q: -123456789012345678901234567890", Some("-123456789012345678901234567890")),
    ("a.yaml", "q: .nan", Some("NaN")),
    ("a.yaml", "q: [~, 1]", Some("[\"\", 1]")),
    ("a.yaml", "q: 1\n---\nq: 2", Some("1")),
    ("a.yaml", "x: &x 1\nq: *x", Some("1")),
    ("a.yaml", "q: 2020-01-01", None),
    ("a.yaml", "q: 2020-01-01 10:00:00", None),
    ("a.yaml", "- 1", None),
    ("a.yaml", "{\"q\": 1}", Some("1")),
    ("a.json", "{\"q\": 123456789012345678901}", Some("123456789012345678901")),
    ("a.json", "{\"q\": [1, 123456789012345678901, 1.5]}", Some("[1, 123456789012345678901, 1.5]")),
    ("a.json", "{\"q\": 9223372036854775807}", Some("9223372036854775807")),
    ("a.json", "{\"q\": 1, \"q\": 2}", Some("2")),
    ("a.json", "{\"q\": NaN}", None),
    ("a.json", "{\"q\": \"\\ud800\"}", None),
    ("a.json", "q: 1", None),
    ("facts", "q: 0777", Some("511")),
    ("facts", "{\"q\": 123456789012345678901}", Some("123456789012345678901")),
];

#[test]
fn facts_are_read_as_puppet_reads_them() {
    let tree = "code/environments/production/";
    let [config, data] = [("hiera.yaml", CONFIG.1), ("data/common.yaml", "k: \"%{facts.q}\"\n")];
    let root = repo(
        "cli-facts",
        &[(&format!("{tree}{}", config.0), config.1), (&format!("{tree}{}", data.0), data.1)],
    );
    let mut files = Vec::new();
    for (n, (name, text, expected)) in CASES.iter().enumerate() {
        let file = root.join(n.to_string()).join(name);
        fs::create_dir(root.join(n.to_string())).unwrap();
        fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap().to_owned();
        let ours = [&["lookup", "--root", tree], &ARGUMENTS[..], &[&file, "k"]].concat();
        let (status, out, err) = at(&root, &ours, "");
        let place = format!("{name}: {text}");
        match expected {
            Some(expected) => {
                assert_eq!((status, out.trim_end()), (0, *expected), "{place}: {err}")
            }
            None => assert_eq!((status, out.as_str()), (2, ""), "{place}"),
        }
        files.push(file);
    }
    if !is_required("puppet") || !require("puppet") {
        return;
    }
    for ((name, text, expected), answer) in CASES.iter().zip(puppet(&root, &files)) {
        assert_eq!(answer.as_deref(), *expected, "Puppet: {name}: {text}");
    }
}

/// Scalars that YAML may type otherwise than they look; none that makes Puppet refuse the file.
const SCALARS: &[&str] = &[
    "a",
    "yes",
    "Off",
    "~",
    "null",
    "''",
    "'5'",
    "\"a\\tb\"",
    "0",
    "-7",
    "+1",
    "010",
    "08",
    "0777",
    "0o17",
    "0b101",
    "0x1F",
    "1_000",
    "1,000",
    "1:30",
    "12:30:45",
    "1:60",
    "1_",
    "1.",
    ".5",
    "1.0",
    "-0.5",
    "1e3",
    "1.0e+10",
    "1.0e-07",
    "-0.0",
    ".inf",
    "-.inf",
    ".nan",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "!!str 5",
    "!!int '7'",
    "!!float 1",
    "!!binary YWJj",
    "!foo 12",
    "y",
    "2020-01",
    "2020-13-45",
    "1.2.3.4",
    "é",
    "k:v",
    "100%",
    "a b",
];

/// A value on one line.
fn value(random: &mut Random, depth: usize) -> String {
    let count = random.below(4);
    match random.below(8) {
        0 if depth < 2 => {
            let items: Vec<String> = (0..count).map(|_| value(random, depth + 1)).collect();
            format!("[{}]", items.join(", "))
        }
        1 if depth < 2 => {
            let mut member = |_| {
                let key = random.pick(&["a", "b", "1", "yes", "2.5", "'c d'", "<<x"]);
                format!("{key}: {}", value(random, depth + 1))
            };
            let members: Vec<String> = (0..count).map(&mut member).collect();
            format!("{{{}}}", members.join(", "))
        }
        // A comma ends a scalar within a collection.
        _ => random.pick(SCALARS).replace("1,000", if depth == 0 { "1,000" } else { "1000" }),
    }
}

#[test]
fn random_facts_are_read_as_puppet_reads_them() {
    if !is_required("puppet") || !require("puppet") {
        return;
    }
    const FACTS: usize = 40;
    let tree = "code/environments/production/";
    let tokens: Vec<String> = (0..FACTS).map(|n| format!("%{{facts.q{n}}}")).collect();
    let data = format!("k: \"{}\"\n", tokens.join("|"));
    let files =
        [(format!("{tree}hiera.yaml"), CONFIG.1), (format!("{tree}data/common.yaml"), &*data)];
    let root = repo("cli-random-facts", &files.each_ref().map(|(path, text)| (&**path, *text)));
    let mut random = Random::new(random::seed("random_facts_are_read_as_puppet_reads_them"));
    let (mut files, mut answers) = (Vec::new(), Vec::new());
    for round in 0..8 {
        let facts: String =
            (0..FACTS).map(|n| format!("q{n}: {}\n", value(&mut random, 0))).collect();
        let file = root.join(format!("facts-{round}.yaml"));
        fs::write(&file, &facts).unwrap();
        let file = file.to_str().unwrap().to_owned();
        let ours = [&["lookup", "--root", tree], &ARGUMENTS[..], &[&file, "k"]].concat();
        let (status, out, err) = at(&root, &ours, "");
        answers.push(((status == 0).then(|| out.trim_end().to_owned()), err, facts));
        files.push(file);
    }
    for ((ours, err, facts), theirs) in answers.into_iter().zip(puppet(&root, &files)) {
        assert_eq!(ours, theirs, "{err}\n{facts}");
    }
}

/// Returns the output of `puppet lookup` for each file of facts; `None` where it fails.
fn puppet(root: &Path, files: &[String]) -> Vec<Option<String>> {
    let mut settings = Vec::new();
    for (setting, folder) in [("--confdir", "conf"), ("--vardir", "var"), ("--codedir", "code")] {
        let folder = root.join(folder).to_str().unwrap().to_owned();
        settings.extend([setting.to_owned(), folder]);
    }
    let command = |file: &String| {
        let asked = ARGUMENTS.into_iter().chain([file, "k"]).map(str::to_owned);
        let all = ["lookup".to_owned()].into_iter().chain(settings.iter().cloned()).chain(asked);
        format!("{}\n", json!(all.collect::<Vec<String>>()))
    };
    let commands: String = files.iter().map(command).collect();
    let program = in_package("tests/cli/puppet.rb");
    let ended = run(ruby().arg(program).current_dir(root), commands);
    let answers = json_lines("Puppet's answers", &ended.stdout);
    assert_eq!(answers.len(), files.len(), "Puppet answers every command: {}", ended.stderr);
    let text = |answer: &serde_json::Value| {
        let out = answer["out"].as_str().expect("a text").trim_end().to_owned();
        (answer["status"] == 0).then_some(out)
    };
    answers.iter().map(text).collect()
}

/// Puppet answers from the data of modules where an environment has no hiera.yaml.
#[test]
fn an_environment_without_hiera_yaml_is_asked_for_its_modules_data() {
    let module = [
        ("modules/app/hiera.yaml", "version: 5\n"),
        ("modules/app/data/common.yaml", "app::port: 80\n"),
    ];
    let root = repo("cli-without-hiera-yaml", &module);
    let lookup = |key: &str| at(&root, &["lookup", key, "--render-as", "s"], "");
    assert_eq!(lookup("app::port"), (0, "80\n".into(), String::new()));
    assert_eq!(lookup("app::nope").0, 1);
    assert_eq!(lookup("k").0, 1);
}

#[test]
fn a_node_of_a_file_with_many_has_its_own_facts() {
    let root = repo(
        "cli-facts-of-many",
        &[
            ("hiera.yaml", CONFIG.1),
            ("data/common.yaml", "k: '%{facts.q}'\n"),
            (
                "pdb.json",
                r#"[{"certname": "a", "name": "q", "value": "A"}, {"certname": "b", "name": "q", "value": "B"}]"#,
            ),
            (
                "fleet.jsonl",
                "{\"certname\": \"a\", \"facts\": {\"q\": \"A\"}}\n{\"certname\": \"b\", \"facts\": {\"q\": \"B\"}}\n",
            ),
            ("one.yaml", "q: O"),
        ],
    );
    for (file, node, expected) in [
        ("pdb.json", "a", "A\n"),
        ("pdb.json", "b", "B\n"),
        ("fleet.jsonl", "a", "A\n"),
        ("fleet.jsonl", "b", "B\n"),
        ("one.yaml", "z", "O\n"),
    ] {
        let (_, out, err) = at(&root, &["lookup", "--facts", file, "--node", node, "k"], "");
        assert_eq!((out.as_str(), err.as_str()), (expected, ""), "{file} {node}");
    }
    let (status, _, err) =
        at(&root, &["lookup", "--facts", "fleet.jsonl", "--node", "web-b", "k"], "");
    assert!(status == 2 && err.contains("holds no scope of the node 'web-b'"), "{err}");
}
