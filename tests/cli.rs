//! The command line as scripts see it: exit status, what is on stdout and what is not.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{hiera_ls, in_package, run, scratch};

/// A folder with these files.
fn repo(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = scratch(name);
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// Status, stdout and stderr of a run in `folder`.
fn at(folder: &Path, args: &[&str], stdin: &str) -> (i32, String, String) {
    let output = run(hiera_ls(args).current_dir(folder), stdin);
    (output.status.expect("it ends by itself"), output.stdout, output.stderr)
}

const CONFIG: (&str, &str) = ("hiera.yaml", "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n");

#[test]
fn lookup_tells_found_from_missing_from_broken() {
    let sample = in_package("tests/control-repo");
    let node = ["--node", "db-01.oslo.example.net"];
    let lookup = |args: &[&str]| at(&sample, &[&["lookup"], &node[..], args].concat(), "");
    assert_eq!(lookup(&["company", "--render-as", "json"]), (0, "\"Fjordkaffe\"\n".into(), String::new()));
    let (status, out, err) = lookup(&["nowhere"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("'nowhere'"));
    assert_eq!(lookup(&["nowhere", "--default", "x"]).0, 0);
    assert_eq!(lookup(&["nowhere", "company"]).0, 0, "the first that is found");
    let (status, out, err) = lookup(&["company", "--type", "Integer"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("expects an Integer value, got String"));
    assert_eq!(at(&scratch("cli-empty"), &["lookup", "company"], "").0, 2, "no hiera.yaml");
}

#[test]
fn lookup_takes_what_the_lookup_function_takes() {
    let sample = in_package("tests/control-repo");
    let lookup = |args: &[&str]| at(&sample, &[&["lookup", "--render-as", "json"], args].concat(), "");
    let answer = |text: &str| (0, format!("{text}\n"), String::new());
    assert_eq!(lookup(&["company", "--override", r#"{"company":[1]}"#]), answer("[1]"));
    assert_eq!(lookup(&["nowhere", "--default-values-hash", r#"{"nowhere":null}"#]), answer("null"));
    let options = r#"{"name":["nowhere","company"],"override":{"nowhere":"x"},"value_type":"Integer"}"#;
    let (status, _, err) = lookup(&["--options", options]);
    assert_eq!(status, 2);
    assert!(err.contains("Value found for key 'nowhere' in override hash has wrong type, expects an Integer value"), "{err}");
    assert_eq!(lookup(&["--options", options, "--type", "String"]), answer("\"x\""), "an argument goes before the options");
    assert_eq!(lookup(&["nowhere", "--options", r#"{"default_value":null}"#]), answer("null"));
    for bad in ["[]", "{", r#"{"nope":1}"#, r#"{"name":1}"#, r#"{"override":1}"#, r#"{"value_type":"Integer["}"#] {
        assert_eq!(lookup(&["company", "--options", bad]).0, 2, "{bad}");
    }
    assert_eq!(lookup(&["--options", "{}"]).0, 2, "no key");
    let questions = "{\"name\":[\"nowhere\",\"k\"],\"override\":{\"k\":1}}\n{\"key\":\"k\",\"nope\":1}\n";
    let (_, out, _) = at(&sample, &["lookup", "--batch"], questions);
    assert_eq!(
        out,
        "{\"key\":[\"nowhere\",\"k\"],\"found\":true,\"value\":1}\n\
         {\"key\":\"k\",\"error\":\"the lookup function has no option 'nope'\"}\n"
    );
}

#[test]
fn check_tells_clean_from_findings_from_broken() {
    let clean = in_package("tests/control-repo");
    assert_eq!(at(&clean, &["check"], "").0, 0);
    let broken = repo("cli-check", &[CONFIG, ("data/common.yaml", "a: 1\na: 2\nb: \"%{lookup('nope')}\"\n")]);
    let (status, out, _) = at(&broken, &["check"], "");
    assert_eq!(status, 1);
    assert!(out.contains("data/common.yaml:2:1: error:") && out.contains("[duplicate-key]"), "{out}");
    assert_eq!(at(&broken, &["check", "--ignore", "duplicate-key"], "").0, 0, "a warning does not count");
    assert_eq!(at(&broken, &["check", "--ignore", "duplicate-key", "--fail-on", "warning"], "").0, 1);
    assert_eq!(at(&broken, &["check", "data/nope.yaml"], "").0, 2, "there is no such file");
    assert_eq!(at(&broken, &["check", "--select", "no-such-rule"], "").0, 2);
    let other = repo("cli-other", &[CONFIG]);
    let other = other.to_str().unwrap();
    assert_eq!(at(&broken, &["check", "data", other], "").0, 2, "two environments are two runs, not one and silence");
}

#[test]
fn reports_for_programs_are_whole_without_findings_too() {
    let clean = in_package("tests/control-repo");
    let report: serde_json::Value = serde_json::from_str(&at(&clean, &["check", "--format", "json"], "").1).unwrap();
    assert_eq!(report["findings"], serde_json::json!([]));
    let broken = repo("cli-json", &[CONFIG, ("data/common.yaml", "å: 1\n\"å\": 2\n")]);
    let report: serde_json::Value = serde_json::from_str(&at(&broken, &["check", "--format", "json"], "").1).unwrap();
    let finding = &report["findings"][0];
    assert_eq!((&finding["code"], &finding["line"], &finding["endColumn"]), (&"duplicate-key".into(), &2.into(), &4.into()));
    assert_eq!(finding["related"][0]["line"], 1);
}

#[test]
fn a_message_stays_on_its_line() {
    let hostile =
        repo("cli-hostile", &[CONFIG, ("data/common.yaml", "\"a\\n::warning::x\\e[31m\": 1\n\"a\\n::warning::x\\e[31m\": 2\n")]);
    let (_, out, _) = at(&hostile, &["check"], "");
    assert!(!out.lines().any(|line| line.starts_with("::")) && !out.contains('\u{1b}'), "{out}");
}

#[test]
fn a_scope_is_chosen_not_guessed() {
    let scopes = "{\"trusted\":{\"certname\":\"a\"},\"v\":\"A\"}\n{\"trusted\":{\"certname\":\"b\"},\"v\":\"B\"}\n";
    let root = repo("cli-scopes", &[CONFIG, ("data/common.yaml", "k: '%{v}'\n"), ("fleet.jsonl", scopes)]);
    let lookup = |args: &[&str]| at(&root, &[&["lookup", "--scope", "fleet.jsonl"], args].concat(), "{\"key\":\"k\"}\n");
    assert_eq!(lookup(&["k", "--node", "b"]).1, "B\n");
    assert_eq!(lookup(&["k", "--node", "c"]).0, 2);
    assert_eq!(lookup(&["k"]).0, 2, "which of the two?");
    let lines = "{\"node\":\"a\",\"key\":\"k\",\"found\":true,\"value\":\"A\"}\n{\"node\":\"b\",\"key\":\"k\",\"found\":true,\"value\":\"B\"}\n";
    assert_eq!(lookup(&["--batch"]).1, lines);
}

#[test]
fn a_batch_answers_every_line() {
    let sample = in_package("tests/control-repo");
    let questions = "{\"key\":\"company\"}\nno json\n{}\n\n{\"key\":\"nowhere\"}\n{\"key\":\"company\",\"merge\":\"odd\"}\n";
    let (status, out, _) = at(&sample, &["lookup", "--batch", "--node", "db-01.oslo.example.net"], questions);
    let answers: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, answers.len()), (0, 5));
    assert_eq!((&answers[0]["value"], &answers[3]["found"]), (&"Fjordkaffe".into(), &false.into()));
    assert!([1, 2, 4].iter().all(|n: &usize| answers[*n]["error"].is_string()), "{out}");
}

#[test]
fn secrets_are_printed_only_on_demand() {
    let data = "lookup_options: {pw: {convert_to: Sensitive}}\npw: hunter2\n";
    let root = repo("cli-secret", &[CONFIG, ("data/common.yaml", data)]);
    for args in [&["lookup", "pw"][..], &["lookup", "pw", "--explain"], &["lookup", "pw", "--explain", "--render-as", "json"]] {
        let (status, out, err) = at(&root, args, "");
        assert!(status == 0 && !out.contains("hunter2") && !err.contains("hunter2"), "{args:?}: {out}");
    }
    assert!(at(&root, &["lookup", "pw", "--reveal-sensitive"], "").1.contains("hunter2"));
}

#[test]
fn every_rule_is_listed_and_explained() {
    let (status, out, _) = at(&in_package("."), &["rules"], "");
    assert!(status == 0 && out.lines().count() > 20);
    for line in out.lines() {
        let code = line.split_whitespace().next().unwrap();
        let (status, page, _) = at(&in_package("."), &["rules", code], "");
        assert!(status == 0 && page.starts_with(&format!("# {code}\n")), "{code}");
    }
    assert_eq!(at(&in_package("."), &["rules", "nope"], "").0, 2);
}

/// What `puppet lookup` does with the same folder and facts: status and stdout.
fn puppet_lookup(root: &Path, args: &[&str]) -> (i32, String) {
    let name = root.file_name().and_then(|name| name.to_str()).expect("scratch names are UTF-8");
    let away = scratch(&format!("{name}-puppet"));
    let mut command = std::process::Command::new("puppet");
    command
        .arg("lookup")
        .args(args)
        .args(["--environment", name, "--environmentpath"])
        .arg(root.parent().expect("it lies in a folder"));
    for setting in ["--confdir", "--vardir", "--codedir"] {
        command.arg(setting).arg(away.join(setting.trim_matches('-')));
    }
    let output = run(&mut command, "");
    (output.status.expect("it ends by itself"), output.stdout)
}

/// A repository for the traps of semantics 13 that are about the command line; Puppet wants names of environments without dashes.
fn trap_repo(name: &str) -> PathBuf {
    let config = "version: 5\nhierarchy: [{name: Common, paths: ['nodes/%{trusted.certname}.yaml', common.yaml]}]\n";
    let data = "lookup_options: {s: {convert_to: Sensitive}}\ns: secret\nbad: \"%{foo('x')}\"\nc: '%{trusted.certname}'\n";
    let whole = r#"{"clientcert":"n1.example","hostname":"n1","domain":"example","fqdn":"n1.example"}"#;
    repo(
        name,
        &[
            ("hiera.yaml", config),
            ("data/common.yaml", data),
            ("data/nodes/.yaml", "k: of nobody\n"),
            ("some.json", r#"{"os":"x"}"#),
            ("whole.json", whole),
        ],
    )
}

#[test]
fn trap_39_an_error_is_said_where_puppet_is_silent() {
    let root = trap_repo("trap39");
    let facts = root.join("whole.json");
    let facts = facts.to_str().expect("scratch paths are UTF-8");
    let (status, out, err) = at(&root, &["lookup", "bad", "--facts", facts], "");
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("Unknown interpolation method 'foo'"), "{err}");
    let (status, out, _) = at(&root, &["lookup", "bad", "--explain", "--facts", facts], "");
    assert!(status == 0 && out.ends_with("Unknown interpolation method 'foo'\n"), "explained, the error is part of it: {out}");
    if support::require("puppet") {
        assert_eq!(puppet_lookup(&root, &["bad", "--facts", facts]), (1, String::new()));
        let (status, out) = puppet_lookup(&root, &["bad", "--explain", "--facts", facts]);
        assert!(status == 0 && out.trim_end().ends_with("Unknown interpolation method 'foo'"), "{out}");
    }
}

/// `tests/explain_oracle.rs` runs the command's code in a process of its own; here is the command itself.
#[test]
fn explanations_are_those_of_the_real_command() {
    if !support::require("puppet") {
        return;
    }
    let root = trap_repo("explained");
    let facts = root.join("whole.json");
    let facts = facts.to_str().expect("scratch paths are UTF-8");
    let asks: [&[&str]; 7] = [
        &["k", "--explain"],
        &["k.x", "--explain", "--render-as", "json"],
        &["bad", "--explain"],
        &["nope", "k", "--explain", "--render-as", "json"],
        &["k", "--explain-options"],
        &["k", "--explain", "--merge", "deep"],
        &["--explain-options", "--render-as", "json"],
    ];
    for ask in asks {
        let ask = [ask, &["--facts", facts]].concat();
        let (status, out, _) = at(&root, &[&["lookup", "--puppet-version", "7"], &ask[..]].concat(), "");
        let (expected_status, expected) = puppet_lookup(&root, &ask);
        assert_eq!((status, out.trim_end()), (expected_status, expected.trim_end()), "{ask:?}");
    }
}

#[test]
fn trap_40_the_certname_is_the_fact_clientcert() {
    let root = trap_repo("trap40");
    let facts = root.join("whole.json");
    let args = ["c", "--facts", facts.to_str().expect("scratch paths are UTF-8"), "--render-as", "json"];
    assert_eq!(at(&root, &[&["lookup"], &args[..]].concat(), "").1, "\"n1.example\"\n");
    if support::require("puppet") {
        assert_eq!(puppet_lookup(&root, &args), (0, "\"n1.example\"\n".into()));
        // The node's name is not asked.
        assert_eq!(puppet_lookup(&root, &[&args[..], &["--node", "other"]].concat()), (0, "\"n1.example\"\n".into()));
    }
}

#[test]
fn trap_41_no_output_reveals_a_sensitive_value() {
    let root = trap_repo("trap41");
    let facts = root.join("whole.json");
    let facts = facts.to_str().expect("scratch paths are UTF-8");
    for format in ["yaml", "json", "s"] {
        let (status, out, err) = at(&root, &["lookup", "s", "--facts", facts, "--render-as", format], "");
        assert!(status == 0 && out.contains("Sensitive [value redacted]") && !format!("{out}{err}").contains("secret"), "{out}");
    }
    if support::require("puppet") {
        let (status, out) = puppet_lookup(&root, &["s", "--facts", facts, "--render-as", "yaml"]);
        assert!(status == 0 && out.contains("value: secret"), "{out}");
    }
}
