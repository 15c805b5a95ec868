//! Levels with functions of a module: the findings of hiera-ls in `hiera.yaml` without running the
//! functions, and Puppet's errors when it runs them. `cases.yaml` has the levels, `recorded.jsonl`
//! Puppet's answers; `HIERA_LS_RECORD=1` asks Puppet anew.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::support;

fn file(name: &str) -> PathBuf {
    support::in_package("tests/puppet/backends").join(name)
}

fn cases() -> Vec<Json> {
    serde_yaml::from_str(&std::fs::read_to_string(file("cases.yaml")).unwrap()).unwrap()
}

fn text<'a>(case: &'a Json, name: &str) -> Option<&'a str> {
    case[name].as_str()
}

/// Writes the environment of a case: the level that it is about, and one below that has the key.
fn write(case: &Json, root: &Path) {
    let function = text(case, "function").unwrap_or("t::fn");
    let mut level = format!("  - name: Level\n    {}: {function}\n", text(case, "kind").unwrap());
    level.extend(text(case, "location").map(|location| format!("    {location}\n")));
    level.extend(text(case, "options").map(|options| format!("    options: {options}\n")));
    let config =
        format!("version: 5\nhierarchy:\n{level}  - {{name: Common, path: common.yaml}}\n");
    let mut files = vec![
        ("hiera.yaml", config),
        ("data/common.yaml", "k: below\n".to_owned()),
        ("modules/t/manifests/init.pp", "class t { }\n".to_owned()),
    ];
    let ruby = text(case, "ruby").map(str::to_owned).or_else(|| ruby_of(case));
    files.extend(ruby.map(|text| ("modules/t/lib/puppet/functions/t/fn.rb", text)));
    files.extend(text(case, "pp").map(|text| ("modules/t/functions/fn.pp", text.to_owned())));
    files.extend(text(case, "alias").map(|text| ("modules/t/types/options.pp", text.to_owned())));
    for (path, text) in files {
        support::write_file(root.join(path), text);
    }
}

/// The Ruby function with the dispatches of a case, if it has some.
fn ruby_of(case: &Json) -> Option<String> {
    let dispatches = case["dispatch"].as_array().filter(|all| !all.is_empty())?;
    let dispatch = |one: &Json| {
        let lines = one.as_str().unwrap().replace("; ", "\n    ");
        format!("  dispatch :answer do\n    {lines}\n  end\n\n")
    };
    let all: String = dispatches.iter().map(dispatch).collect();
    let value = if text(case, "kind") == Some("data_hash") { "{ 'k' => 1 }" } else { "nil" };
    let method = format!("  def answer(*)\n    {value}\n  end\n");
    Some(format!("Puppet::Functions.create_function(:'t::fn') do\n{all}{method}end\n"))
}

/// The findings of a case in its hiera.yaml.
fn found(root: &Path) -> Vec<Json> {
    let arguments = ["check", "--format", "jsonl", "hiera.yaml"];
    let run = support::run(support::hiera_ls(arguments).current_dir(root), "");
    support::json_lines("check", &run.stdout)
}

/// Puppet's message without the words around it: the prefix of the layer, and places.
fn message(answer: &Json) -> Option<String> {
    let message = answer["error"].as_str()?;
    let message = message.split(" (file: ").next().unwrap();
    Some(message.trim_end().to_owned())
}

fn recorded() -> Vec<Json> {
    support::json_lines("recorded.jsonl", &std::fs::read_to_string(file("recorded.jsonl")).unwrap())
}

/// Each expected finding is there, with Puppet's message; where there is none, Puppet has no error,
/// or one that occurs only when the code runs.
#[test]
fn findings_have_puppets_messages() {
    let scratch = support::scratch("backends-found");
    let (cases, recorded) = (cases(), recorded());
    assert_eq!(cases.len(), recorded.len(), "every case has its answer");
    for (number, (case, answer)) in cases.iter().zip(&recorded).enumerate() {
        let root = scratch.join(number.to_string());
        write(case, &root);
        let (found, name) = (found(&root), &case["name"]);
        let codes: Vec<&Json> = found.iter().map(|one| &one["code"]).collect();
        let expected: Vec<&Json> =
            Some(&case["finds"]).filter(|it| !it.is_null()).into_iter().collect();
        assert_eq!(codes, expected, "{name}: {found:?}");
        let is_left = case["left_to_puppet"] == true || case["as_hint"] == true;
        match (message(answer), found.first()) {
            (Some(theirs), Some(finding)) => {
                let ours = finding["message"].as_str().unwrap();
                assert!(says(ours, &theirs), "{name}:\n{ours}\n{theirs}");
            }
            (Some(theirs), None) => assert!(is_left, "{name}: {theirs}"),
            (None, Some(_)) => assert!(is_left, "{name}: {found:?}, and Puppet answers {answer}"),
            (None, None) => {}
        }
    }
}

/// Whether a finding holds Puppet's message; files are named from the environment's folder on.
fn says(ours: &str, theirs: &str) -> bool {
    let theirs = theirs.replace("<root>/", "");
    // For a function in Puppet's language, Puppet's message goes on with the place, and the finding
    // with the expected name.
    let unacceptable = ours.split(", where").next().is_some_and(|ours| theirs.starts_with(ours));
    ours.contains(&theirs) || theirs.starts_with("Unacceptable location.") && unacceptable
}

#[test]
fn recorded_answers_about_backends_are_puppets() {
    if !support::require("puppet") {
        return;
    }
    let scratch = support::scratch("backends-asked");
    let cases = cases();
    let job = |(number, case): (usize, &Json)| {
        let root = scratch.join(number.to_string());
        write(case, &root);
        format!(
            "{}\n",
            // Since Puppet 8, a token of a variable without a value is an error.
            json!({"id": number, "root": root, "scope": {"x": ""}, "questions": [{"key": "k"}]})
        )
    };
    let jobs: String = cases.iter().enumerate().map(job).collect();
    let run = support::run(&mut support::oracle(), jobs);
    let answers = support::json_lines("the oracle", &run.stdout);
    assert_eq!(answers.len(), cases.len(), "{}", run.stderr);
    let root = scratch.to_str().unwrap();
    let plain = |(number, answer): (usize, &Json)| {
        let here = format!("{root}/{number}");
        let text = answer["answers"][0].to_string().replace(&here, "<root>");
        serde_json::from_str::<Json>(&text).unwrap()
    };
    let answers: Vec<Json> = answers.iter().enumerate().map(plain).collect();
    if support::topic_to_record().is_some() {
        let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
        std::fs::write(file("recorded.jsonl"), lines).unwrap();
    }
    for ((case, answer), recorded) in cases.iter().zip(&answers).zip(&recorded()) {
        assert_eq!(answer, recorded, "{}", case["name"]);
    }
}
