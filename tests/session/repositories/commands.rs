//! The commands in each repository of the tables: all of them answer for the environments that
//! `check` finds.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::{Case, Repository, all_repositories, relative};
use crate::support::write_file;

/// Runs a command in a folder, without settings of the user.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
    command.args(arguments).current_dir(folder).output().expect("the program runs")
}

/// Returns the lines of JSON that a command prints.
fn json_lines(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Returns the contradictions between the commands in a repository.
fn contradictions(repository: &Repository, folder: &Path) -> Vec<String> {
    for (path, text) in &repository.files {
        write_file(folder.join(path), text);
    }
    let case = Case::of(repository);
    let environments = &case.snapshot.environments().all;
    let root_of = |line: &Value| {
        let root = Path::new(line["root"].as_str().expect("a root"));
        let below = root.strip_prefix(folder).expect("below the folder").to_str().expect("UTF-8");
        if below.is_empty() { ".".to_owned() } else { below.to_owned() }
    };
    let found: Vec<(String, Value)> = json_lines(folder, &["config", "--json"])
        .iter()
        .map(|line| (root_of(line), line["config"].clone()))
        .collect();
    let expected: Vec<(String, Value)> = environments
        .iter()
        .map(|one| {
            let config = one.governing_config().map(|config| relative(&config.path));
            (relative(&one.root).to_owned(), config.into())
        })
        .collect();
    let mut wrong = Vec::new();
    if found != expected {
        wrong.push(format!("config finds {found:?}, and the library {expected:?}"));
    }
    let check = run(folder, &["check", "--format", "json"]);
    if !matches!(check.status.code(), Some(0 | 1)) {
        wrong.push(format!("check: {check:?}"));
    }
    for arguments in [&["nodes", "--json"][..], &["keys", "--format", "json"]] {
        for line in json_lines(folder, arguments) {
            let root = root_of(&line);
            if !expected.iter().any(|(known, _)| *known == root) {
                wrong.push(format!("{arguments:?} answers for {root}: {line}"));
            }
        }
    }
    wrong.extend(wrong_lookup(folder, &expected));
    wrong
}

/// Returns the difference between the config that `lookup` uses and those that are expected.
fn wrong_lookup(folder: &Path, expected: &[(String, Value)]) -> Option<String> {
    let output = run(folder, &["lookup", "no_such_key", "--explain"]);
    let (text, notes) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    if notes.contains("name one with --root") {
        let is_told = expected.iter().all(|(root, _)| root == "." || notes.contains(&**root));
        return (expected.len() < 2 || !is_told).then_some(notes);
    }
    let used: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Using configuration \""))
        .filter_map(|rest| rest.strip_suffix('"'))
        .map(|path| Path::new(path).strip_prefix(folder).expect("below").to_str().expect("UTF-8"))
        .collect();
    let is_of = |(_, config): &(String, Value)| match config.as_str() {
        Some(config) => used.contains(&config),
        None => used.is_empty(),
    };
    // A config of which no level can be read is used by no lookup.
    (!used.is_empty() && !expected.iter().any(is_of))
        .then(|| format!("lookup uses {used:?}, expected one of {expected:?}\n{text}\n{notes}"))
}

#[test]
fn all_commands_answer_for_the_environments_that_check_finds() {
    let scratch = std::env::temp_dir().join(format!("hiera-ls-commands-{}", std::process::id()));
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (number, repository) in all_repositories().iter().enumerate() {
        let folder = scratch.join(number.to_string());
        std::fs::create_dir_all(&folder).expect("a scratch folder");
        let folder = folder.canonicalize().expect("it is there");
        let found = contradictions(repository, &folder);
        wrong.extend(found.into_iter().map(|one| format!("{}: {one}", repository.name)));
        asked += 1;
    }
    std::fs::remove_dir_all(&scratch).expect("it is there");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(asked > 30, "{asked} repositories");
}
