//! Compares the answers of levels' functions through hiera-ls with Puppet's answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hiera_ls::backends::{Functions, Permit};
use hiera_ls::disk::OsFs;
use hiera_ls::hiera::backends::Backends;
use hiera_ls::hiera::lookup::{Context, Resolver};
use hiera_ls::puppet::{PuppetVersion, Strict};
use hiera_ls::text::FilePath;
use serde_json::{Value, json};

use super::ready::Ready;
use crate::explanations::{Explained, can_be_asked, explained, puppet};
use crate::scenario::{Puppet, Question, Scenario, Written, answer_of, oracle_puppet, topic};
use crate::support;
use crate::support::{in_package, is_asked, json_lines, require};

const FOLDER: &str = "tests/puppet/bridge";
const TOPICS: [&str; 4] = ["functions", "explained", "hiera3", "loading"];
/// The topics that are explained, too: of a function that cannot be loaded there is an error.
const EXPLAINED: [&str; 3] = ["functions", "explained", "hiera3"];

/// Questions whose answers differ, with the reason.
const DIFFERENCES: [(&str, &str); 3] = [
    ("latin", "hiera-ls has the characters of the text, the oracle writes its bytes"),
    ("utf16", "the same"),
    ("rational", "an object of Ruby's own that is a number is its text"),
];

/// Scenarios whose answers and explanations differ with `strict=error`, the default since Puppet 8, with the
/// reason.
const DIFFERENT_WHEN_STRICT: [(&str, &str); 1] = [(
    "version 3 where the environment has no data of its own",
    "Puppet refuses a version 3 in the environment's folder, hiera-ls takes it as the global layer's alone",
)];

fn is_different_when_strict(scenario: &Scenario) -> bool {
    oracle_puppet().strict == Strict::Error
        && DIFFERENT_WHEN_STRICT.iter().any(|(name, _)| *name == scenario.name)
}

fn is_listed(scenario: &Scenario, question: &Question) -> bool {
    if is_different_when_strict(scenario) {
        return true;
    }
    UNEXPLAINED.iter().any(|(name, key, _)| *name == scenario.name && *key == question.key)
}

/// Scenarios that are not explained: values that explanations show as Ruby's own objects, and
/// exceptions that end Puppet.
const NOT_EXPLAINED: [&str; 2] =
    ["every kind of value", "an exception of the library that is no error"];
/// Scenarios and questions whose explanations differ, with the reason.
const UNEXPLAINED: [(&str, &str, &str); 5] = [
    (
        "a function in Puppet's language",
        "type",
        "a type stands there as Puppet's language writes it, not as Ruby inspects it",
    ),
    ("values and failures", "bytes", "bytes that are no text stand there as Ruby inspects them"),
    ("values and failures", "exit", "Puppet ends without a word"),
    (
        "order_override of a function",
        "second",
        "Puppet tells of tokens in sources that are given to the function `hiera`",
    ),
    ("order_override of a function", "both", "the same"),
];

/// Recorded answers of Puppet, by scenario and question.
type Recording = BTreeMap<(String, String), Value>;

fn path(topic: &str, extension: &str) -> PathBuf {
    in_package(FOLDER).join(topic).with_extension(extension)
}

fn recording(topic: &str) -> Recording {
    let text = std::fs::read_to_string(path(topic, "jsonl")).unwrap_or_default();
    let member = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    json_lines(topic, &text)
        .into_iter()
        .map(|mut line| ((member(&line, "scenario"), member(&line, "ask")), line["answer"].take()))
        .collect()
}

/// Lets all functions of a tree run.
fn permit(tree: &Written<'_>, puppet: PuppetVersion) -> Permit {
    let snapshot = tree.workspace(puppet).snapshot();
    let root = FilePath::new(&tree.environment().to_string_lossy());
    let mut all = snapshot.environments().all.iter();
    let environment = all.find(|one| one.root == root).expect("a scenario has a hiera.yaml");
    Permit::from_levels(&snapshot, environment, None, &BTreeSet::new(), &OsFs)
}

/// Returns the explanations of hiera-ls, with functions run by the oracle's Puppet.
fn explained_by_hiera_ls(tree: &Written<'_>, asked: &[&Question], ready: &Ready) -> Vec<Explained> {
    let puppet = oracle_puppet();
    let functions = Functions::new(ready.config(), permit(tree, puppet), puppet);
    tree.resolved(puppet, |context| {
        let one = |question: &&Question| {
            let session = functions.open_session("production", context.scope);
            let backends = Some(&session as &dyn Backends);
            explained(tree, &Context { backends, ..context.clone() }, question)
        };
        asked.iter().map(one).collect()
    })
}

/// Texts of functions stand in explanations where Puppet has them, and the searches that functions
/// begin.
#[test]
fn functions_explain_as_in_puppet() {
    if !require("puppet") {
        return;
    }
    let dir = support::scratch("bridge-explanations");
    let scenarios: Vec<Scenario> = EXPLAINED
        .iter()
        .flat_map(|topic| topic::scenarios(FOLDER, topic))
        .enumerate()
        .filter(|(n, scenario)| is_asked("puppet", *n) && !NOT_EXPLAINED.contains(&&*scenario.name))
        .map(|(_, scenario)| scenario)
        .collect();
    let trees: Vec<Written<'_>> = scenarios
        .iter()
        .enumerate()
        .map(|(n, scenario)| scenario.write(&dir.join(n.to_string())))
        .collect();
    let asked: Vec<Vec<&Question>> = scenarios
        .iter()
        .map(|scenario| scenario.questions.iter().filter(can_be_asked).collect())
        .collect();
    let answers = puppet(&trees, &asked);
    let ready = Ready::start();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (((scenario, tree), asked), theirs) in scenarios.iter().zip(&trees).zip(&asked).zip(answers)
    {
        let ours = explained_by_hiera_ls(tree, asked, &ready);
        for ((question, ours), theirs) in asked.iter().zip(ours).zip(theirs) {
            compared += 1;
            let is_same = (ours.exit, &ours.text) == (theirs.exit, &theirs.text);
            if is_same == is_listed(scenario, question) {
                let place = format!("{}: {}", scenario.name, question.to_json());
                wrong.push(format!(
                    "{place}\n--- Puppet ({})\n{}{}\n--- hiera-ls ({})\n{}{}",
                    theirs.exit, theirs.text, theirs.error, ours.exit, ours.text, ours.error
                ));
            }
        }
    }
    println!("{compared} explanations");
    assert!(wrong.is_empty(), "{} of {compared} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the answers of hiera-ls, with functions run by the oracle's Puppet.
fn asked_of_hiera_ls(tree: &Written<'_>, scenario: &Scenario, ready: &Ready) -> Vec<Value> {
    let puppet = oracle_puppet();
    let functions = Functions::new(ready.config(), permit(tree, puppet), puppet);
    tree.resolved(puppet, |context| {
        let asked = scenario.questions.iter().map(|question| {
            // Each question has a session of its own, as the oracle forgets between questions, too.
            let session = functions.open_session("production", context.scope);
            let backends = Some(&session as &dyn Backends);
            let resolver = Resolver::new(Context { backends, ..context.clone() });
            tree.tidy(answer_of(&resolver, question))
        });
        asked.collect()
    })
}

#[test]
fn functions_answer_as_in_puppet() {
    if !require("puppet") {
        return;
    }
    let (mut asked, mut wrong, mut outdated) = (0, Vec::new(), Vec::new());
    let mut puppet = Puppet::start();
    let ready = Ready::start();
    for topic in TOPICS {
        let dir = support::scratch(&format!("bridge-{topic}"));
        let scenarios: Vec<Scenario> = topic::scenarios(FOLDER, topic)
            .into_iter()
            .enumerate()
            .filter(|(n, _)| is_asked("puppet", *n))
            .map(|(_, scenario)| scenario)
            .collect();
        let trees: Vec<Written<'_>> = scenarios
            .iter()
            .enumerate()
            .map(|(n, scenario)| scenario.write(&dir.join(n.to_string())))
            .collect();
        let answers = puppet.ask_all(&trees);
        let recording = recording(topic);
        let mut lines = String::new();
        for ((scenario, tree), theirs) in scenarios.iter().zip(&trees).zip(answers) {
            let ours = asked_of_hiera_ls(tree, scenario, &ready);
            // A scenario whose every answer is the error of a misspelt file shows nothing.
            let distinct: BTreeSet<String> = theirs.iter().map(Value::to_string).collect();
            if support::is_recorded_puppet() && 5 * distinct.len() < theirs.len() {
                wrong.push(format!("{topic}: {}: too few distinct answers", scenario.name));
            }
            for ((question, ours), theirs) in scenario.questions.iter().zip(ours).zip(theirs) {
                asked += 1;
                let ask = question.to_json().to_string();
                let place = format!("{topic}: {}: {ask}", scenario.name);
                let is_listed = is_different_when_strict(scenario)
                    || DIFFERENCES.iter().any(|(key, _)| *key == question.key);
                if (ours != theirs) != is_listed {
                    wrong.push(format!("{place}\n  Puppet   {theirs}\n  hiera-ls {ours}"));
                }
                let recorded = recording.get(&(scenario.name.clone(), ask.clone()));
                if support::is_recorded_puppet() && recorded != Some(&theirs) {
                    outdated.push(place);
                }
                let line = json!({"scenario": scenario.name, "ask": ask, "answer": theirs});
                lines.push_str(&format!("{line}\n"));
            }
        }
        if support::topic_to_record().is_some() {
            std::fs::write(path(topic, "jsonl"), lines).unwrap();
            outdated.clear();
        }
    }
    println!("{asked} answers");
    assert!(wrong.is_empty(), "{} of {asked} answers differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(outdated.is_empty(), "recordings are not Puppet's: {outdated:#?}");
}
