//! The values that Puppet gives the parameters of classes, and the findings of hiera-ls about keys
//! that do not become the parameters that they seem to be: small environments of `cases.yaml`, with
//! Puppet's recorded answers and live ones. `HIERA_LS_RECORD=1` asks Puppet anew.

use std::path::{Path, PathBuf};

use crate::support;
use serde_json::Value as Json;

const LEVELS: &str = "version: 5
hierarchy:
  - {name: Node, path: node.yaml}
  - {name: Common, path: common.yaml}
";
const RULES: &str = "null-keeps-default,merge-in-default,never-consulted,missing-parameter,single-colon-key,parameter-type,unknown-parameter,unknown-class,define-parameter,unread-key,unwrapped-secret";

/// The cases to which Puppet answers otherwise since version 8, with the answer: a variable without
/// a value is an error.
const SINCE_PUPPET_8: [(&str, &str); 1] =
    [("a type that names a parameter", "Evaluation Error: Unknown variable: 'a'.")];

fn file(name: &str) -> PathBuf {
    support::in_package("tests/puppet/parameters").join(name)
}

fn cases() -> Vec<Json> {
    serde_yaml::from_str(&std::fs::read_to_string(file("cases.yaml")).unwrap()).unwrap()
}

/// Writes the environment of a case.
fn write(case: &Json, root: &Path) {
    let settings = "rules: {missing-parameter: warning}\n";
    let own = [("hiera.yaml", LEVELS), (".hiera-ls.yaml", settings)];
    let files = case["files"].as_object().unwrap().iter();
    let files = files.map(|(path, text)| (path.as_str(), text.as_str().unwrap()));
    for (path, text) in own.into_iter().chain(files) {
        support::write_file(root.join(path), text);
    }
}

/// The findings of a case as `FILE:LINE CODE`, with `info` behind one that no node is known to get.
fn found(root: &Path) -> Vec<String> {
    let arguments = ["check", "--format", "jsonl", "--select", RULES, "."];
    let run = support::run(support::hiera_ls(arguments).current_dir(root), "");
    let finding = |one: &Json| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        let info = if one["severity"] == "info" { " info" } else { "" };
        format!("{}:{} {}{info}", text("path"), one["line"], text("code"))
    };
    support::json_lines("check", &run.stdout).iter().map(finding).collect()
}

fn recorded() -> Vec<Json> {
    support::json_lines("recorded.jsonl", &std::fs::read_to_string(file("recorded.jsonl")).unwrap())
}

/// Puppet's answers for environments in these folders.
fn ask(roots: &[PathBuf]) -> Vec<Json> {
    let lines: String = roots.iter().map(|root| format!("{}\n", root.display())).collect();
    let output = support::run(support::ruby().arg(file("parameters.rb")), &lines);
    let answers = support::json_lines("parameters.rb", &output.stdout);
    assert_eq!(roots.len(), answers.len(), "{}", output.stderr);
    answers
}

#[test]
fn findings_are_those_of_the_cases() {
    let scratch = support::scratch("parameters-found");
    for (number, case) in cases().iter().enumerate() {
        let root = scratch.join(number.to_string());
        write(case, &root);
        assert_eq!(Json::from(found(&root)), case["finds"], "{}", case["name"]);
    }
}

/// Each finding predicts the parameter `x` of the class `m`, and Puppet's answer confirms it.
#[test]
fn recorded_parameters_bear_findings_out() {
    let (cases, recorded) = (cases(), recorded());
    assert_eq!(cases.len(), recorded.len(), "every case has its answer");
    let mut borne_out = 0;
    for (case, answer) in cases.iter().zip(&recorded) {
        let finds = case["finds"].to_string();
        let x = &answer["classes"]["m"]["x"];
        let expected = if finds.contains("null-keeps-default") {
            *x == "default"
        } else if finds.contains("merge-in-default") {
            *x == serde_json::json!(["a"])
        } else if finds.contains("never-consulted") {
            *x == "given"
        } else if finds.contains("single-colon-key") {
            *x == "default"
        } else if finds.contains("missing-parameter") {
            answer["error"].as_str().unwrap().contains("expects a value for parameter 'x'")
        } else if finds.contains("unknown-class") && answer.get("classes").is_none() {
            let error = answer["error"].as_str().unwrap();
            error.contains("Could not find class") || error.contains("Unacceptable location")
        } else if finds.contains(" info") {
            // Puppet takes another value than the one that the finding is about.
            answer.get("error").is_none()
        } else if finds.contains("parameter-type") || finds.contains("unwrapped-secret") {
            answer["error"].as_str().unwrap().contains("parameter 'x' ")
        } else {
            continue;
        };
        borne_out += 1;
        assert!(expected, "{}: {answer}", case["name"]);
    }
    assert!(borne_out >= 18, "{borne_out}");
}

#[test]
fn puppet_gives_parameters_as_recorded() {
    if !support::require("puppet") {
        return;
    }
    let scratch = support::scratch("parameters-asked");
    let cases = cases();
    let root = |number: usize| scratch.join(number.to_string());
    cases.iter().enumerate().for_each(|(number, case)| write(case, &root(number)));
    let roots: Vec<PathBuf> = (0..cases.len()).map(root).collect();
    let answers = ask(&roots);
    if support::topic_to_record().is_some() {
        let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
        std::fs::write(file("recorded.jsonl"), lines).unwrap();
    }
    for ((case, answer), recorded) in cases.iter().zip(&answers).zip(&recorded()) {
        let since_8 = SINCE_PUPPET_8.iter().find(|(name, _)| case["name"] == *name);
        match since_8.filter(|_| !support::is_recorded_puppet()) {
            Some((name, error)) => assert_eq!(answer["error"], *error, "{name}"),
            None => assert_eq!(answer, recorded, "{}", case["name"]),
        }
    }
}
