//! The entries of `editors/registries`, the GitHub Action and the JSON schemas, with the tools and
//! the recorded answers that can judge them here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{self, json_lines, python};
use crate::{Index, packages};

/// Brings jsonschema, ruamel.yaml, and the schemas of GitHub's actions and GitLab's pipelines.
const SCHEMAS: &str = "check-jsonschema==0.39.0\n";

/// What YAML 1.1 has and YAML 1.2 lacks, so that a schema cannot see it: bare `yes` and symbols.
/// And JSON has one type of numbers.
const BEYOND_SCHEMAS: [&str; 6] = [
    "version 5.0",
    "name is a boolean",
    "option name 1",
    "option name yes",
    "a symbol in place of a name",
    "the symbol default in place of a name",
];

/// The verdicts of a schema about texts: the error by the name, `None` where the schema accepts.
fn verdicts(
    interpreter: &Path,
    schema: &str,
    cases: &[(String, String)],
) -> BTreeMap<String, Option<String>> {
    let lines: Vec<String> =
        cases.iter().map(|(name, text)| json!({"name": name, "text": text}).to_string()).collect();
    let mut command = Command::new(interpreter);
    command.arg(support::in_package("tests/packages/schemas.py")).arg(support::in_package(schema));
    let run = support::run(&mut command, lines.join("\n"));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let verdicts: BTreeMap<_, _> = json_lines(schema, &run.stdout)
        .into_iter()
        .map(|line| {
            let name = line["name"].as_str().expect("a verdict has a name").to_owned();
            (name, line["error"].as_str().map(str::to_owned))
        })
        .collect();
    assert_eq!(verdicts.len(), cases.len(), "two cases have one name");
    verdicts
}

/// All files of this name in the repository.
fn files(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder is listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, name, found);
        } else if entry.file_name() == name {
            found.push(path);
        }
    }
}

/// One test, as two would make the environment of Python at the same time.
#[test]
fn schemas_and_workflows_are_valid() {
    let interpreter = match python::with_packages("packages", "packages-schemas", SCHEMAS) {
        Ok(interpreter) => interpreter,
        Err(obstacle) => {
            support::missing("packages", &obstacle);
            return;
        }
    };
    the_schema_of_hiera_yaml_agrees_with_puppet(&interpreter);
    the_schema_of_the_settings_accepts_the_files_at_hand(&interpreter);
    the_action_and_the_component_are_valid(&interpreter);
}

/// The recorded answers of Puppet to hundreds of configs: the schema refuses none that Puppet
/// accepts, and all whose type Puppet refuses.
fn the_schema_of_hiera_yaml_agrees_with_puppet(interpreter: &Path) {
    let read = |name: &str| {
        std::fs::read_to_string(support::in_package("tests/puppet/configs").join(name))
            .expect("the cases are in the repository")
    };
    let recorded: BTreeMap<String, Value> = json_lines("answers.jsonl", &read("answers.jsonl"))
        .into_iter()
        .map(|line| (line["case"].as_str().expect("a name").to_owned(), line["error"].clone()))
        .collect();
    let cases = read("cases.txt");
    let mut texts: Vec<(String, String)> = cases
        .split("\n#- ")
        .skip(1)
        .map(|block| {
            let (header, text) = block.split_once('\n').unwrap_or((block, ""));
            let (_, name) = header.split_once(": ").expect("`layer: name`");
            (name.to_owned(), text.to_owned())
        })
        .filter(|(_, text)| !text.contains("version: 3") && !text.contains("version: 4"))
        .filter(|(name, _)| !name.starts_with("version 3: ") && !name.starts_with("version 4: "))
        .collect();
    let mut found = Vec::new();
    files(&support::in_package("tests"), "hiera.yaml", &mut found);
    for file in &found {
        let text = std::fs::read_to_string(file).expect("a config is read");
        if text.contains("version: 5") {
            texts.push((file.display().to_string(), text));
        }
    }
    let (mut accepted, mut refused) = (0, 0);
    for (name, error) in
        verdicts(interpreter, "editors/registries/schemastore/hiera-5.json", &texts)
    {
        let puppet = recorded.get(&name).and_then(Value::as_str);
        let is_of_the_type = puppet.is_some_and(|message| {
            message.contains("has wrong type") || message.contains("Only one of")
        });
        match (puppet, error) {
            (None, error) => {
                assert_eq!(error, None, "Puppet accepts {name}");
                accepted += 1;
            }
            (Some(_), Some(_)) => refused += 1,
            (Some(message), None) => assert!(
                !is_of_the_type || BEYOND_SCHEMAS.contains(&name.as_str()),
                "the schema accepts {name}, of which Puppet says: {message}"
            ),
        }
    }
    assert!(accepted > 30 && refused > 100, "{accepted} accepted, {refused} refused");
}

/// The content of the schema is made from the list of settings (tests/house/settings.rs).
fn the_schema_of_the_settings_accepts_the_files_at_hand(interpreter: &Path) {
    let mut found = Vec::new();
    files(&support::in_package("tests"), ".hiera-ls.yaml", &mut found);
    assert!(!found.is_empty(), "no settings file is at hand");
    let mut texts: Vec<(String, String)> = found
        .iter()
        .map(|file| {
            let text = std::fs::read_to_string(file).expect("a settings file is read");
            (file.display().to_string(), text)
        })
        .collect();
    let good = texts.len();
    for text in ["rules: {unknown-key: loud}", "puppetVersion: 6", "nodes: {sources: x}", "nope: 1"]
    {
        texts.push((text.to_owned(), text.to_owned()));
    }
    let schema = "editors/vscode/schemas/hiera-ls.schema.json";
    let verdicts = verdicts(interpreter, schema, &texts);
    for (name, _) in &texts[..good] {
        assert_eq!(verdicts[name], None, "{name}");
    }
    for (name, _) in &texts[good..] {
        assert!(verdicts[name].is_some(), "the schema accepts {name}");
    }
}

fn the_action_and_the_component_are_valid(interpreter: &Path) {
    let folder = support::scratch("packages-schemas");
    let verdict = |schema: &str, text: &str| {
        let file = folder.join(format!("{schema}.yaml"));
        std::fs::write(&file, text).expect("a file can be written");
        let mut check = Command::new(interpreter);
        let schema = format!("vendor.{schema}");
        check.args(["-m", "check_jsonschema", "--builtin-schema", &schema]).arg(&file);
        let run = support::run(&mut check, "");
        (run.status, run.stdout + &run.stderr)
    };
    let read = |path: &str| {
        std::fs::read_to_string(support::in_package(path)).expect("a file of this package")
    };
    let action = read("action.yml");
    let component = read("editors/registries/gitlab/templates/check.yml");
    // The inputs are a YAML document of their own. GitLab replaces them before it reads the
    // pipeline.
    let (_, pipeline) = component.split_once("\n---\n").expect("the inputs end");
    let pipeline = pipeline.replace("$[[ inputs.stage ]]", "test");
    let dependabot = read(".github/dependabot.yml");
    for (schema, text, slip) in [
        ("github-actions", action.as_str(), ("using: composite", "used: composite")),
        ("gitlab-ci", pipeline.as_str(), ("script:", "scripts:")),
        ("dependabot", dependabot.as_str(), ("interval:", "every:")),
    ] {
        let (status, out) = verdict(schema, text);
        assert_eq!(status, Some(0), "{schema}: {out}");
        let (status, out) = verdict(schema, &text.replace(slip.0, slip.1));
        assert_eq!(status, Some(1), "{schema}: {out}");
    }
}

/// The steps of the GitHub Action as the runner runs them: the first installs the wheel, the second
/// reports a finding as an annotation.
#[test]
fn the_action_reports_findings() {
    let Some(folder) = packages() else { return };
    let index = Index::serve(folder);
    let temporary = support::scratch("packages-action");
    let repo = temporary.join("control-repo");
    support::copy(&support::in_package("tests/control-repo"), &repo);
    let common = repo.join("data/common.yaml");
    let text = std::fs::read_to_string(&common).expect("a file of the sample");
    let broken = text.replace("\"%{alias('ntp_servers')}\"", "\"x %{alias('ntp_servers')}\"");
    assert_ne!(text, broken);
    std::fs::write(&common, broken).expect("a file can be written");

    let action = std::fs::read_to_string(support::in_package("action.yml")).expect("the action");
    let action: serde_yaml::Value = serde_yaml::from_str(&action).expect("the action is YAML");
    let steps = action["runs"]["steps"].as_sequence().expect("a list of steps");
    let path_file = temporary.join("path");
    let mut path = std::env::var("PATH").expect("PATH is a text");
    let mut last = None;
    for step in steps {
        let mut command = Command::new("bash");
        command
            .args(["-e", "-o", "pipefail", "-c", step["run"].as_str().expect("a step runs")])
            .current_dir(&repo)
            .env("RUNNER_TEMP", &temporary)
            .env("GITHUB_PATH", &path_file)
            .env("PIP_INDEX_URL", format!("{}/simple/", index.address))
            .env("PATH", &path);
        for (name, value) in step["env"].as_mapping().expect("a step has variables") {
            let value = value.as_str().expect("a variable is a text");
            let input = value.strip_prefix("${{ inputs.").and_then(|name| name.strip_suffix(" }}"));
            let input = input.expect("it is an input");
            let default = action["inputs"][input]["default"].as_str().expect("it has a default");
            command.env(name.as_str().expect("a name"), default);
        }
        last = Some(support::run(&mut command, ""));
        if let Ok(added) = std::fs::read_to_string(&path_file) {
            path = format!("{}:{path}", added.trim_end());
        }
    }
    let run = last.expect("the action has steps");
    assert_eq!(run.status, Some(1), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("::error file=data/common.yaml,line="), "{}", run.stdout);
}
