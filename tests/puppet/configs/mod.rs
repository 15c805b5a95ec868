//! Compares Puppet's errors about a bad `hiera.yaml` with those of hiera-ls.
//!
//! `tests/puppet/configs/cases.txt` holds the configs, `answers.jsonl` Puppet's
//! answers to a lookup of a key in the config's layer: `null` or its message. The recording is
//! never edited; `HIERA_LS_RECORD=1` writes it anew (see `tests/support`). Puppet runs with
//! `strict=error`, in which version 7 agrees with 8 on old versions of the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support;
use crate::support::{is_asked, json_lines, oracle, require, run};
use hiera_ls::hiera::config::{ConfigProblemKind, ConfigSource, HieraConfig, Layer};
use hiera_ls::hiera::data::{DataFile, DataFormat};
use hiera_ls::puppet::{PuppetVersion, Strict};
use hiera_ls::text::{Encoding, FileId, FilePath, Text};
use hiera_ls::yaml;

const FOLDER: &str = "tests/puppet/configs";

/// Cases that Puppet reports only once a file of the level exists; hiera-ls reports them before.
const TOLERATED: [&str; 1] = ["options with yaml_data and no file"];

/// Puppet's packages have the library of Hiera 3 up to version 7. For later versions hiera-ls
/// reports its absence, also where the machine has it beside Puppet.
const HIERA_3: &str = "Hiera 3 is not installed";

/// A `hiera.yaml` and where it stands.
struct Case {
    name: String,
    layer: Layer,
    text: String,
}

/// The error about a config: nothing when it is accepted.
#[derive(Debug, PartialEq, Eq)]
struct Verdict {
    /// The messages, without the file, in alphabetical order.
    messages: Vec<String>,
    /// The line that the message names, if it names one.
    line: Option<u32>,
}

#[test]
fn problems_are_those_that_puppet_names() {
    let recorded = recording();
    let cases = cases();
    assert_eq!(
        recorded.len(),
        cases.len(),
        "cases.txt has changed: record anew with HIERA_LS_RECORD=1"
    );
    assert_equal(&cases, &recorded, 7);
}

/// Compares the problems that hiera-ls finds for a version of Puppet with the messages of that
/// version; skips a case without a message.
fn assert_equal(cases: &[Case], messages: &BTreeMap<String, Value>, major: u8) {
    let mut differences = String::new();
    for case in cases.iter().filter(|case| !TOLERATED.contains(&&*case.name)) {
        let Some(message) = messages.get(&case.name) else { continue };
        let puppet = puppets_verdict(message);
        let mut ours = our_verdict(
            case,
            PuppetVersion { strict: Strict::Error, ..PuppetVersion::of_major(major) },
        );
        let has_puppet_hiera_3 = puppet.messages.is_empty() && major >= 8;
        if has_puppet_hiera_3 && ours.messages == [HIERA_3] {
            continue;
        }
        if is_of_the_type_itself(&puppet) && !ours.messages.is_empty() {
            continue;
        }
        if puppet.line.is_none() {
            ours.line = None;
        }
        if ours != puppet {
            writeln!(
                differences,
                "{}\n  puppet {puppet:?}\n  ours   {ours:?}\n{}",
                case.name, case.text
            )
            .unwrap();
        }
    }
    assert!(differences.is_empty(), "\n{differences}");
}

#[test]
fn the_recording_is_what_puppet_says() {
    if !require("puppet") {
        return;
    }
    let cases = cases();
    let scratch = support::scratch("config_oracle");
    let jobs: Vec<Value> = cases
        .iter()
        .enumerate()
        .filter(|(id, _)| is_asked("puppet", *id))
        .map(|(id, case)| job(id, case, &scratch.join(id.to_string())))
        .collect();
    let input: String = jobs.iter().map(|job| format!("{job}\n")).collect();
    let answered = run(oracle().args(["--workers", "2", "--strict", "error"]), &input);
    let root = scratch.to_str().expect("the scratch directory's name is text");
    let mut messages: BTreeMap<usize, Value> = BTreeMap::new();
    for answer in json_lines("the oracle", &answered.stdout) {
        let id = answer["id"].as_u64().expect("an answer has its job's id") as usize;
        let error = match &answer["answers"][0]["error"] {
            Value::String(error) => {
                without_objects(&error.replace(&format!("{root}/{id}"), "<root>")).into()
            }
            _ => Value::Null,
        };
        assert!(answer["failed"].is_null(), "{}: {answer}", cases[id].name);
        messages.insert(id, error);
    }
    let lines: Vec<Value> = messages
        .iter()
        .map(|(id, error)| json!({"case": cases[*id].name, "error": error}))
        .collect();
    if support::topic_to_record().is_some() {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(in_folder("answers.jsonl"), text).expect("the recording can be written");
        return;
    }
    if !support::is_recorded_puppet() {
        let told = messages.into_iter().map(|(id, error)| (cases[id].name.clone(), error));
        return assert_equal(&cases, &told.collect(), support::puppet_major());
    }
    let recorded = recording();
    let version = support::oracle_version().clone().expect("require(\"puppet\") said so");
    for line in &lines {
        let name = line["case"].as_str().expect("a name");
        assert_eq!(
            recorded.get(name),
            Some(&line["error"]),
            "{name}: Puppet {} says something else than the recording",
            version["puppet"]
        );
    }
    assert_eq!(lines.len(), jobs.len());
}

/// Returns a message up to an object of Ruby's: the address and the content behind it differ from
/// run to run.
fn without_objects(message: &str) -> &str {
    message.split(":0x").next().unwrap_or(message)
}

/// Whether Puppet prints the whole type of a `hiera.yaml`, which it does for keys that are no
/// strings. No one could read that.
fn is_of_the_type_itself(verdict: &Verdict) -> bool {
    let of_type = [
        "expects a Struct[{",
        "expects a Hash[",
        "undefined method `string' for #<Puppet::Pops::Types",
    ];
    verdict.messages.iter().any(|message| of_type.iter().any(|words| message.contains(words)))
}

/// A tree for one case and the question that makes Puppet read its config.
fn job(id: usize, case: &Case, root: &Path) -> Value {
    let (folder, key) = match &case.layer {
        Layer::Global => (root.join("global"), "k"),
        Layer::Environment => (root.to_owned(), "k"),
        Layer::Module(_) => (root.join("modules/m"), "m::k"),
    };
    std::fs::create_dir_all(folder.join("data")).expect("the scratch directory is ours");
    std::fs::write(folder.join("hiera.yaml"), &case.text).expect("the scratch directory is ours");
    std::fs::write(folder.join("data/common.yaml"), format!("{key}: 1\n"))
        .expect("the scratch directory is ours");
    std::fs::write(folder.join("data/common.json"), format!("{{\"{key}\": 1}}"))
        .expect("the scratch directory is ours");
    let mut job =
        json!({"id": id, "root": root, "scope": {"x": "x", "a": "a"}, "questions": [{"key": key}]});
    if case.layer == Layer::Global {
        job["global_hiera_config"] = json!(folder.join("hiera.yaml"));
    }
    job
}

/// Puppet's message, cut into its problems.
fn puppets_verdict(message: &Value) -> Verdict {
    let Some(message) = message.as_str() else {
        return Verdict { messages: Vec::new(), line: None };
    };
    // A message about the global layer names the key of the lookup that failed.
    let message =
        message.strip_prefix("Lookup of key 'lookup_options' failed: ").unwrap_or(message);
    if message.trim_start().starts_with("The Lookup Configuration at ")
        && let Some((_, structure)) = message.split_once("' has wrong type, ")
    {
        let own_words = |line: &str| {
            line.rsplit_once("' has wrong type, ")
                .map_or(line.trim(), |(_, words)| words)
                .to_owned()
        };
        let mut messages: Vec<String> = structure.lines().map(own_words).collect();
        messages.sort();
        return Verdict { messages, line: None };
    }
    // Below its message, Ruby shows the line of code that failed.
    let message = message.lines().next().unwrap_or(message);
    let (words, place) = message.rsplit_once(" (file: ").unwrap_or((message, ""));
    let line =
        place.split_once("line: ").and_then(|(_, line)| line.trim_end_matches(')').parse().ok());
    let words = words.strip_prefix("(<root>/hiera.yaml): ").unwrap_or(words);
    // An editor needs the place of the mistake, not the place where the reader gave up.
    let words = words.split(" at line ").next().unwrap_or(words);
    let words = words.split(" First defined at ").next().unwrap_or(words).trim_end_matches('.');
    Verdict { messages: vec![words.to_owned()], line }
}

/// The problems that hiera-ls finds, as Puppet reports them: all problems of structure together, or
/// the first of the others.
fn our_verdict(case: &Case, puppet: PuppetVersion) -> Verdict {
    let path = FilePath::new("/hiera.yaml");
    let data = DataFile::read_whole(
        &yaml::parse(&case.text),
        &case.text,
        FileId::new(0),
        DataFormat::Yaml,
    );
    if let Some(refused) = data.refusal() {
        let refused = refused.to_string();
        let words = refused.split(" at line ").next().unwrap_or(&refused);
        return Verdict { messages: vec![words.to_owned()], line: None };
    }
    let text = Text::new(&case.text);
    let config = HieraConfig::read(
        ConfigSource { file: FileId::new(0), path: &path, text: &text, layer: &case.layer, puppet },
        &data,
    );
    let structure =
        config.problems.iter().filter(|problem| problem.kind == ConfigProblemKind::Structure);
    let mut messages: Vec<String> = structure.map(|problem| problem.message.clone()).collect();
    messages.sort();
    // A config that can be used may still have a level whose function fails when it is called.
    let failure = config.fatal_problem().or_else(|| {
        config.problems.iter().find(|problem| problem.kind != ConfigProblemKind::Deprecated)
    });
    if messages.is_empty() {
        messages.extend(failure.map(|problem| problem.message.clone()));
    }
    let line =
        failure.map(|problem| text.line_col(problem.span.range.start, Encoding::Utf8).line + 1);
    Verdict { messages, line }
}

fn cases() -> Vec<Case> {
    let text =
        std::fs::read_to_string(in_folder("cases.txt")).expect("the cases are in the repository");
    let case = |block: &str| {
        let (header, text) = block.split_once('\n').unwrap_or((block, ""));
        let (layer, name) = header.split_once(": ").expect("`layer: name`");
        let layer = match layer {
            "global" => Layer::Global,
            "environment" => Layer::Environment,
            "module" => Layer::Module("m".into()),
            other => panic!("{other} is no layer"),
        };
        Case { name: name.to_owned(), layer, text: text.to_owned() }
    };
    text.split("\n#- ").skip(1).map(case).collect()
}

fn recording() -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(in_folder("answers.jsonl")).unwrap_or_default();
    let lines = json_lines("answers.jsonl", &text).into_iter();
    lines
        .map(|line| (line["case"].as_str().expect("a name").to_owned(), line["error"].clone()))
        .collect()
}

fn in_folder(name: &str) -> PathBuf {
    support::in_package(FOLDER).join(name)
}
