//! Texts of the documents that are made from the code: tables of rules and settings, the help of
//! the commands, the differences to Puppet.
//!
//! `HIERA_LS_UPDATE=1 cargo test --test house` writes them anew.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::CommandFactory;
use hiera_ls::cli::Arguments;
use hiera_ls::diagnostics::rules::RULES;
use hiera_ls::settings::schema::{SCHEMA, Setting, SettingType};
use serde::Deserialize;

/// Tests run at the same time, and several of them may write the same document.
static DOCUMENTS: Mutex<()> = Mutex::new(());

/// A file of this package.
pub fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Checks that a file has the text that `make` returns for the present one; with `HIERA_LS_UPDATE`,
/// writes that text.
pub fn check_file(name: &str, make: impl FnOnce(&str) -> String) {
    let _writing = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let present = read(name);
    let expected = make(&present);
    if present == expected {
        return;
    }
    assert!(
        std::env::var_os("HIERA_LS_UPDATE").is_some(),
        "{name} is not current: run `HIERA_LS_UPDATE=1 cargo test --test house`"
    );
    std::fs::write(path(name), expected).expect("a file of this package can be written");
}

/// Checks the text between the comments `<!-- MARK -->` and `<!-- /MARK -->` of a document.
fn check_region(name: &str, mark: &str, made: &str) {
    let (start, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    check_file(name, |text| {
        let (before, rest) = text.split_once(&start).expect("the start of the region");
        let (_, after) = rest.split_once(&end).expect("the end of the region");
        format!("{before}{start}{made}{end}{after}")
    });
}

#[test]
fn the_table_of_rules_is_the_catalogue() {
    let mut table = String::from("| Code | Severity | Finds |\n|---|---|---|\n");
    for rule in RULES {
        table.push_str(&format!(
            "| [`{}`](../src/diagnostics/rules/{}.md) | {} | {} |\n",
            rule.code,
            rule.code.replace('-', "_"),
            rule.severity.name(),
            rule.summary
        ));
    }
    check_region("docs/rules.md", "rules", &table);
}

#[test]
fn the_table_of_settings_is_the_schema() {
    let row = |setting: &Setting| {
        let name =
            if setting.kind == SettingType::Severities { "rules.CODE" } else { setting.name };
        format!("| `{name}` | {} | {} |\n", setting.default_words(), setting.meaning)
    };
    let rows: String = SCHEMA.iter().map(row).collect();
    let table = format!("| Setting | Default | Meaning |\n|---|---|---|\n{rows}");
    check_region("docs/settings.md", "settings", &table);
}

/// A command has the text that its `--help` prints, without the options that all of them have.
#[test]
fn the_page_of_the_command_line_is_the_help_of_the_commands() {
    let mut program = Arguments::command();
    program.build();
    let mut made = String::new();
    for command in program.get_subcommands_mut() {
        if command.is_hide_set() || command.get_name() == "help" {
            continue;
        }
        let name = command.get_name().to_owned();
        for common in ["log", "help"] {
            *command = command.clone().mut_arg(common, |argument| argument.hide(true));
        }
        let help = command.render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        made.push_str(&format!("### {name}\n\n```text\n{}\n```\n\n", lines.join("\n").trim_end()));
    }
    check_region("docs/command-line.md", "help", &made);
}

/// An entry of `differences.yaml`.
#[derive(Deserialize)]
struct Difference {
    topic: String,
    scenario: String,
    key: Option<String>,
    /// The major versions of Puppet that differ; none: all.
    puppet: Option<Vec<u8>>,
    why: String,
}

fn conformance_differences() -> Vec<Difference> {
    let listed = read("tests/puppet/conformance/differences.yaml");
    serde_yaml::from_str(&listed).expect("a list of differences")
}

#[test]
fn the_table_of_differences_is_that_of_the_conformance_suite() {
    let mut table = String::from("| Topic | Scenario | Puppet | Why |\n|---|---|---|---|\n");
    for Difference { topic, scenario, key, puppet, why } in &conformance_differences() {
        let puppet = puppet.as_ref().map(|majors| majors.iter().map(u8::to_string).collect());
        let puppet = puppet.map_or("all".to_owned(), |majors: Vec<String>| majors.join(", "));
        let key = key.as_ref().map(|key| format!(", key `{key}`")).unwrap_or_default();
        let row = format!("{scenario}{key} | {puppet} | {why}").replace('*', "\\*");
        table.push_str(&format!("| `{topic}` | {row} |\n"));
    }
    check_region("docs/compatibility.md", "differences", &table);
}

/// The rows of `benches/README.md` that a user asks about first.
const FIGURES: [&str; 14] = [
    "edit to diagnostics, 1000 lines",
    "edit to diagnostics, 100000 lines",
    "open a file of 10000 lines to diagnostics",
    "hover of a key (corpus)",
    "definition of a key (corpus)",
    "completion of a key (corpus)",
    "references of a key (corpus)",
    "rename of a key in 500 files",
    "spawn to initialize answered",
    "spawn to indexed (corpus, 1083 files)",
    "memory, indexed",
    "lookup, spawn to answer (corpus)",
    "all 2215 keys of all 575 nodes (corpus)",
    "10000 files, 1025967 lines: spawn to indexed",
];

#[test]
fn the_figures_are_those_of_the_benches() {
    let results = read("benches/README.md");
    let mut table =
        String::from("| | p50 | p99 | ratio of p50 to the floor |\n|---|---|---|---|\n");
    for figure in FIGURES {
        let start = format!("| {figure} |");
        // The newest result is the first one.
        let row = results.lines().find(|line| line.starts_with(&start)).expect("a row of a result");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, _, unit, p50, p99, _, _, ratio, ..] = cells[..] else { panic!("cells of {row}") };
        table.push_str(&format!("| {figure} | {p50} {unit} | {p99} {unit} | {ratio} |\n"));
    }
    check_region("docs/performance.md", "figures", &table);
}

/// A suite beside the conformance suite that has recorded answers.
struct Recording {
    area: &'static str,
    /// The file with one answer a line.
    answers: &'static str,
    /// The list of known differences: a line with this beginning for each.
    differences: Option<(&'static str, &'static str)>,
}

const RECORDINGS: [Recording; 7] = [
    Recording {
        area: "the sample repository",
        answers: "tests/puppet/control_repo/answers.jsonl",
        differences: None,
    },
    Recording {
        area: "the function `lookup()`",
        answers: "tests/puppet/lookup_function/recorded.jsonl",
        differences: None,
    },
    Recording {
        area: "explanations",
        answers: "tests/puppet/explanations/recorded.jsonl",
        differences: Some(("tests/puppet/explanations/differences.yaml", "- ")),
    },
    Recording {
        area: "`convert_to`",
        answers: "tests/puppet/conversions/recorded.jsonl",
        differences: None,
    },
    Recording {
        area: "regular expressions (Ruby's answers)",
        answers: "tests/puppet/regexes/recorded.jsonl",
        differences: Some(("tests/puppet/regexes/known.txt", "")),
    },
    Recording {
        area: "errors of `hiera.yaml`",
        answers: "tests/puppet/configs/answers.jsonl",
        differences: None,
    },
    Recording {
        area: "`hiera.yaml` of versions 3 and 4, converted",
        answers: "tests/puppet/upgrades/answers.jsonl",
        differences: None,
    },
];

#[test]
fn the_figures_of_agreement_are_those_of_the_recordings() {
    let mut table =
        String::from("| Area | Recorded answers | Listed differences |\n|---|---|---|\n");
    let listed = conformance_differences();
    let folder = std::fs::read_dir(path("tests/puppet/conformance")).expect("the suite is there");
    let names = folder.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut topics: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".jsonl")?.to_owned())).collect();
    topics.sort();
    for topic in topics {
        let answers = count_answers(&format!("tests/puppet/conformance/{topic}.jsonl"));
        let is_recorded = |difference: &&Difference| {
            difference.topic == topic
                && difference.puppet.as_ref().is_none_or(|majors| majors.contains(&7))
        };
        let differences = listed.iter().filter(is_recorded).count();
        table.push_str(&format!("| conformance, `{topic}` | {answers} | {differences} |\n"));
    }
    for Recording { area, answers, differences } in RECORDINGS {
        let answers = count_answers(answers);
        let differences = differences.map_or(0, |(list, beginning)| {
            read(list).lines().filter(|line| line.starts_with(beginning)).count()
        });
        table.push_str(&format!("| {area} | {answers} | {differences} |\n"));
    }
    check_region("docs/compatibility.md", "agreement", &table);
}

/// Returns the number of recorded answers in a file. A header names the version of Puppet that gave
/// them.
fn count_answers(file: &str) -> usize {
    let headers = ["{\"puppet\":", "{\"oracle\":"];
    let text = read(file);
    text.lines().filter(|line| !headers.iter().any(|header| line.starts_with(header))).count()
}
