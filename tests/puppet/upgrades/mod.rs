//! `hiera.yaml` of versions 3 and 4 converted to version 5: each scenario of
//! `tests/puppet/conformance` that has one is converted by the refactoring, and asked again.
//!
//! Puppet's answers before a conversion are recorded there, those afterwards in `answers.jsonl`
//! here. A conversion that is offered as one that changes no value leaves all of Puppet's answers
//! the same, and hiera-ls answers as Puppet does afterwards. `refused.txt` lists the scenarios that
//! are not converted, with the reason. `HIERA_LS_RECORD=1` writes both anew.

use std::collections::BTreeMap;

use hiera_ls::ide::refactor::{
    Refactoring, RefactoringKind, RefactoringRequest, find_refactorings,
};
use hiera_ls::puppet::PuppetVersion;
use hiera_ls::text::{FilePath, TextEdit, TextRange};
use serde_json::{Value, json};

use crate::conformance::{self, Topic, id};
use crate::scenario::{Agreement, Puppet, Scenario, Written, compare};
use crate::support::{self, in_package, is_asked, json_lines};

const ANSWERS: &str = "tests/puppet/upgrades/answers.jsonl";
const REFUSED: &str = "tests/puppet/upgrades/refused.txt";

/// A scenario with its configs converted.
struct Upgrade {
    topic: String,
    puppet: PuppetVersion,
    is_strict: bool,
    before: Scenario,
    after: Scenario,
    /// Whether the titles of all conversions state that no value changes.
    is_neutral: bool,
    titles: Vec<String>,
    recorded: conformance::Recording,
}

/// The scenarios that are converted, and the reasons against the others; written to scratch folders
/// of this name; for a version of Puppet.
fn upgrades(name: &str, major: u8) -> (Vec<Upgrade>, Vec<String>) {
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    for topic in conformance::topics() {
        let dir = support::scratch(&format!("{name}-{}", topic.name));
        let is_old = |scenario: &&Scenario| {
            scenario
                .files
                .iter()
                .any(|(path, text)| path.ends_with("hiera.yaml") && !text.contains("version: 5"))
        };
        for (n, scenario) in topic.scenarios.iter().filter(is_old).enumerate() {
            upgrade(&topic, scenario, &dir.join(n.to_string()), major, &mut all, &mut refused);
        }
    }
    (all, refused)
}

fn upgrade(
    topic: &Topic,
    scenario: &Scenario,
    dir: &std::path::Path,
    major: u8,
    all: &mut Vec<Upgrade>,
    refused: &mut Vec<String>,
) {
    let written = scenario.write(dir);
    let snapshot = written.workspace(topic.puppet(major)).snapshot();
    let mut configs: BTreeMap<FilePath, Refactoring> = BTreeMap::new();
    let written_configs = snapshot.environments().all.iter().flat_map(|it| it.all_configs());
    for path in written_configs.map(|(_, config)| config.path.clone()) {
        let wanted = RefactoringRequest {
            path: &path,
            range: TextRange::new_empty(0),
            creates_files: true,
            is_by_user: true,
            lookups: None,
            kinds: &|kind| kind == RefactoringKind::Rewrite,
        };
        let found = find_refactorings(&snapshot, wanted).into_iter();
        let mut found = found.filter(|one| one.title.starts_with("Convert to version 5"));
        configs.extend(found.next().map(|one| (path.clone(), one)));
    }
    let mut after = Scenario { name: scenario.name.clone(), ..scenario.clone() };
    let (mut is_neutral, mut titles) = (true, Vec::new());
    for (path, one) in configs {
        let change = match one.change {
            Ok(change) => change,
            Err(reason) => {
                let reason = written.without_real_paths(&reason);
                return refused.push(format!("{}: {}: {reason}", topic.name, scenario.name));
            }
        };
        let shown = written.without_real_paths(path.as_str());
        let name = shown.strip_prefix("<env>/").unwrap_or(&shown);
        let text = snapshot.file(&path).and_then(|file| file.text()).expect("it was read").to_str();
        let new = TextEdit::apply_all(&change.edits[&path], &text);
        let file = after.files.iter_mut().find(|(path, _)| path == name).expect("it was written");
        file.1 = written.without_real_paths(&new);
        is_neutral &= one.is_neutral;
        titles.push(one.title);
    }
    if titles.is_empty() {
        return;
    }
    all.push(Upgrade {
        topic: topic.name.clone(),
        puppet: topic.puppet(major),
        is_strict: topic.is_strict(),
        before: scenario.clone(),
        after,
        is_neutral,
        titles,
        recorded: topic.recording(),
    });
}

#[test]
fn converted_configs_answer_as_puppet_does_and_as_before() {
    let (all, refused) = upgrades("upgrades", 7);
    if support::topic_to_record().is_some() {
        let text: String = refused.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(in_package(REFUSED), text).expect("the list can be written");
        return;
    }
    let recording = recording();
    let dir = support::scratch("upgraded");
    let (mut wrong, mut other_words, mut answers, mut neutral) = (Vec::new(), 0, 0, 0);
    for (n, one) in all.iter().enumerate() {
        let ask = |scenario: &Scenario, side: &str| {
            scenario.write(&dir.join(format!("{n}-{side}"))).ask_hiera_ls(one.puppet)
        };
        let (old, given) = (ask(&one.before, "before"), ask(&one.after, "after"));
        neutral += usize::from(one.is_neutral);
        for ((question, given), old) in one.after.questions.iter().zip(given).zip(old) {
            answers += 1;
            let place = format!("{}: {}: {}", one.topic, one.before.name, question.to_json());
            let key = (one.topic.clone(), id(&one.after, question));
            let expected = recording
                .get(&key)
                .unwrap_or_else(|| panic!("{place} is not recorded: HIERA_LS_RECORD=1"));
            match compare(expected, &given) {
                Agreement::Different => {
                    wrong.push(format!("{place}\n  Puppet   {expected}\n  hiera-ls {given}"));
                }
                Agreement::OtherWords => other_words += 1,
                Agreement::Same => {}
            }
            let before = &one.recorded[&id(&one.before, question)];
            // The topic's differences list the data that hiera-ls and Puppet read differently.
            let is_read_alike = compare(before, &old) != Agreement::Different;
            let is_same = compare(before, expected) != Agreement::Different;
            if one.is_neutral && is_read_alike && !is_same {
                wrong.push(format!(
                    "{place}, {:?}\n  before {before}\n  after  {expected}\n{}",
                    one.titles,
                    one.after.shown()
                ));
            }
        }
    }
    println!(
        "{} scenarios converted ({neutral} with a title that promises no change), {} refused, {answers} answers, {other_words} errors in other words",
        all.len(),
        refused.len()
    );
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(other_words, 0, "errors in other words than Puppet's");
    assert!(neutral >= 6, "too few scenarios show something");
    let listed = std::fs::read_to_string(in_package(REFUSED)).expect("the list is there");
    assert_eq!(refused.join("\n"), listed.trim_end());
}

/// Compares with a Puppet whose answers are not recorded: it is asked before and after the
/// conversion.
#[test]
fn converted_configs_answer_as_the_puppet_of_another_version() {
    if !support::require_unrecorded_puppet() {
        return;
    }
    let (all, _) = upgrades("upgrades-version", support::puppet_major());
    let dir = support::scratch("upgraded-version");
    let (mut usual, mut strict) = (Puppet::start(), Puppet::start_with(&["--strict", "error"]));
    let (mut wrong, mut answers) = (Vec::new(), 0);
    for (n, one) in all.iter().enumerate().filter(|(n, _)| is_asked("puppet", *n)) {
        let puppet = if one.is_strict { &mut strict } else { &mut usual };
        let before = puppet.ask(&one.before.write(&dir.join(format!("{n}-before"))));
        let tree = one.after.write(&dir.join(format!("{n}-after")));
        let after = puppet.ask(&tree);
        let given = tree.ask_hiera_ls(one.puppet);
        let asked = one.after.questions.iter().zip(before).zip(after).zip(given);
        for (((question, before), after), given) in asked {
            answers += 1;
            // A config that a version refuses gives no value before the change.
            let is_same =
                before["error"].is_string() || compare(&before, &after) != Agreement::Different;
            let is_puppets = compare(&after, &given) != Agreement::Different;
            if !is_puppets || one.is_neutral && !is_same {
                let place = format!("{}: {}: {}", one.topic, one.before.name, question.to_json());
                wrong.push(format!(
                    "{place}, {:?}\n  before   {before}\n  after    {after}\n  hiera-ls {given}\n{}",
                    one.titles,
                    one.after.shown()
                ));
            }
        }
    }
    println!("Puppet {}: {answers} answers", support::puppet_major());
    assert!(wrong.is_empty(), "{} of {answers} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_recorded_answers_are_puppets() {
    if !support::require_recorded_puppet() {
        return;
    }
    let (all, _) = upgrades("upgrades-recorded", 7);
    let dir = support::scratch("upgraded-puppet");
    let (mut usual, mut strict) = (Puppet::start(), Puppet::start_with(&["--strict", "error"]));
    let recording = recording();
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for is_strict in [false, true] {
        let asked: Vec<(usize, &Upgrade)> = all
            .iter()
            .enumerate()
            .filter(|(n, one)| one.is_strict == is_strict && is_asked("puppet", *n))
            .collect();
        let trees: Vec<Written<'_>> =
            asked.iter().map(|(n, one)| one.after.write(&dir.join(n.to_string()))).collect();
        let puppet = if is_strict { &mut strict } else { &mut usual };
        for ((_, one), answers) in asked.iter().zip(puppet.ask_all(&trees)) {
            for (question, answer) in one.after.questions.iter().zip(answers) {
                let key = (one.topic.clone(), id(&one.after, question));
                lines.push(
                    json!({"topic": key.0, "scenario": key.1.0, "ask": key.1.1, "answer": answer}),
                );
                if recording.get(&key) != Some(&answer) {
                    wrong.push(format!("{key:?}\n  Puppet {answer}"));
                }
            }
        }
    }
    if support::topic_to_record().is_some() {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        return std::fs::write(in_package(ANSWERS), text).expect("the answers can be written");
    }
    assert!(wrong.is_empty(), "{} recorded answers differ\n{}", wrong.len(), wrong.join("\n"));
}

fn recording() -> BTreeMap<(String, (String, String)), Value> {
    let text = std::fs::read_to_string(in_package(ANSWERS)).unwrap_or_default();
    let word = |value: &Value| value.as_str().expect("it is text").to_owned();
    let lines = json_lines("answers", &text).into_iter();
    lines
        .map(|mut line| {
            let id = (word(&line["scenario"]), word(&line["ask"]));
            ((word(&line["topic"]), id), line["answer"].take())
        })
        .collect()
}
