//! `lookup --explain`: the tree as JSON, member by member, and the text, word by word, as `puppet
//! lookup` prints them.
//!
//! The lookups are those of `tests/puppet/explanations/scenarios.yaml`, and a share of the
//! conformance suite's. Puppet's recorded explanations stand in `recorded.jsonl`; with a Puppet
//! (see `tests/support`) they are checked, every lookup of the conformance suite that Puppet's
//! command line can ask is compared live, and `HIERA_LS_RECORD=1` records anew. `differences.yaml`
//! lists the differences, with a reason; an entry that no longer differs fails.
//!
//! Here a question may also say `also` (more keys), `options` (explain these alone), `type` and
//! `default`.

use std::collections::BTreeMap;

use crate::scenario::{Question, Scenario, Written, oracle_puppet, topic};
use crate::support;
use crate::support::{in_package, is_asked, json_lines, require, variable};
use hiera_ls::hiera::explain::{self, ExplainOptions, Subject};
use hiera_ls::hiera::lookup::{Context, Resolver};
use hiera_ls::hiera::request::LookupRequest;
use hiera_ls::puppet::PuppetVersion;
use hiera_ls::puppet::types;
use hiera_ls::puppet::value::Value as HieraValue;
use hiera_ls::workspace::nodes::from_json;
use serde_json::{Value, json};

const OWN: &str = "tests/puppet/explanations";
const CONFORMANCE: &str = "tests/puppet/conformance";
const TOPICS: [&str; 10] = [
    "config",
    "eyaml",
    "interpolation",
    "keys",
    "layers",
    "merging",
    "options",
    "traps",
    "versions",
    "yaml",
];
/// Of the conformance suite's lookups, one in so many is recorded.
const SHARE: usize = 12;

#[test]
fn hiera_ls_explains_as_recorded() {
    let recording = recording();
    let mut tally = Tally::of_version(7);
    for group in groups() {
        let dir = support::scratch(&format!("explain-{}", group.topic));
        for (n, scenario) in group.scenarios.iter().enumerate() {
            let asked: Vec<&Question> = scenario
                .questions
                .iter()
                .filter(|question| group.is_recorded(scenario, question))
                .collect();
            if asked.is_empty() {
                continue;
            }
            let given = hiera_ls(
                &scenario.write(&dir.join(n.to_string())),
                &asked,
                PuppetVersion::of_major(7),
            );
            for (question, given) in asked.iter().zip(given) {
                let expected = recording.get(&group.id(scenario, question)).unwrap_or_else(|| {
                    panic!(
                        "{:?} is not recorded: record it with HIERA_LS_RECORD=1",
                        group.id(scenario, question)
                    )
                });
                tally.compare(&group, scenario, question, expected, &given);
            }
        }
    }
    assert!(tally.lookups >= 200, "only {} lookups", tally.lookups);
    tally.finish(true);
}

#[test]
fn puppet_explains_as_recorded_and_so_does_hiera_ls_live() {
    if !require("puppet") {
        return;
    }
    let recording = recording();
    let (mut tally, mut recorded, mut outdated) =
        (Tally::of_version(support::puppet_major()), Vec::new(), Vec::new());
    let groups = groups();
    let (mut scenarios, mut trees, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    for group in &groups {
        let dir = support::scratch(&format!("explain-live-{}", group.topic));
        let chosen = group.scenarios.iter().enumerate().filter(|(n, _)| is_asked("puppet", *n));
        for (n, scenario) in chosen {
            scenarios.push((group, scenario));
            trees.push(scenario.write(&dir.join(n.to_string())));
            asked.push(scenario.questions.iter().filter(can_be_asked).collect::<Vec<_>>());
        }
    }
    let answers = puppet(&trees, &asked);
    for ((((group, scenario), tree), asked), answers) in
        scenarios.into_iter().zip(&trees).zip(&asked).zip(answers)
    {
        for ((question, expected), given) in
            asked.iter().zip(answers).zip(hiera_ls(tree, asked, oracle_puppet()))
        {
            tally.compare(group, scenario, question, &expected, &given);
            if group.is_recorded(scenario, question) {
                let (topic, ask) = group.id(scenario, question);
                let known = recording.get(&(topic.clone(), ask.clone()));
                if support::is_recorded_puppet() && known != Some(&expected) {
                    outdated.push(format!("{topic}: {ask}"));
                }
                recorded
                    .push(json!({"scenario": topic, "ask": ask, "explained": expected.to_json()}));
            }
        }
    }
    if support::topic_to_record().is_some() {
        let header = support::oracle_version().clone().expect("require(\"puppet\") said so");
        let text: String =
            std::iter::once(header).chain(recorded).map(|line| format!("{line}\n")).collect();
        let path = in_package(OWN).join("recorded.jsonl");
        // The recording is replaced in one step: the other test may be reading it.
        std::fs::write(path.with_extension("new"), text).expect("the recording can be written");
        std::fs::rename(path.with_extension("new"), path).expect("the recording can be replaced");
    } else {
        assert!(
            outdated.is_empty(),
            "{} recordings are not what Puppet says: {outdated:#?}",
            outdated.len()
        );
    }
    // A plain run asks about a share of the scenarios only.
    tally.finish(!is_asked("puppet", 1));
}

/// An explanation in both forms, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    pub exit: i64,
    pub json: String,
    pub text: String,
    pub error: String,
}

impl Explained {
    fn to_json(&self) -> Value {
        json!({"exit": self.exit, "json": self.json, "text": self.text, "error": self.error})
    }

    fn from_json(value: &Value) -> Explained {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Explained {
            exit: value["exit"].as_i64().expect("an exit status"),
            json: text("json"),
            text: text("text"),
            error: text("error"),
        }
    }
}

/// The scenarios of a topic.
struct Group {
    topic: &'static str,
    scenarios: Vec<Scenario>,
}

fn groups() -> Vec<Group> {
    let conformance =
        TOPICS.map(|topic| Group { topic, scenarios: topic::scenarios(CONFORMANCE, topic) });
    let own = Group { topic: "own", scenarios: topic::scenarios(OWN, "scenarios") };
    std::iter::once(own).chain(conformance).collect()
}

impl Group {
    fn id(&self, scenario: &Scenario, question: &Question) -> (String, String) {
        let mut ask = question.to_json();
        ask.as_object_mut().expect("it is one").extend(question.more.clone());
        (format!("{}: {}", self.topic, scenario.name), ask.to_string())
    }

    /// Whether a lookup is recorded: all of this suite's own are, and an even share of the others.
    fn is_recorded(&self, scenario: &Scenario, question: &Question) -> bool {
        let (scenario, ask) = self.id(scenario, question);
        let sum = scenario
            .bytes()
            .chain(ask.bytes())
            .fold(7usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
        can_be_asked(&question) && (self.topic == "own" || sum % SHARE == 0)
    }
}

/// The command takes names of strategies only.
pub fn can_be_asked(question: &&Question) -> bool {
    let names = ["first", "unique", "hash", "deep"];
    question
        .merge
        .as_ref()
        .is_none_or(|merge| merge.as_str().is_some_and(|name| names.contains(&name)))
}

fn keys(question: &Question) -> Vec<String> {
    let also = question.more.get("also").and_then(Value::as_array).cloned().unwrap_or_default();
    let also = also.iter().map(|key| key.as_str().expect("a key is text").to_owned());
    std::iter::once(question.key.clone()).chain(also).collect()
}

/// Returns the explanations of hiera-ls, as Puppet writes them: candidates of a value that becomes
/// Sensitive are shown.
fn hiera_ls(tree: &Written<'_>, asked: &[&Question], puppet: PuppetVersion) -> Vec<Explained> {
    tree.resolved(puppet, |context| {
        asked.iter().map(|question| explained(tree, &context, question)).collect()
    })
}

/// Returns the explanation of hiera-ls in a context.
pub fn explained(tree: &Written<'_>, context: &Context<'_>, question: &Question) -> Explained {
    let mut request = LookupRequest { names: keys(question), ..LookupRequest::default() };
    match question.merge.as_ref().and_then(Value::as_str) {
        // The command `puppet lookup` turns its flags into these options.
        Some("deep") => {
            let deep = json!({"strategy": "deep", "sort_merged_arrays": false, "merge_hash_arrays": false});
            request.set_merge(&from_json(&deep));
        }
        Some(name) => request.set_merge(&HieraValue::from_argument(name)),
        None => {}
    }
    let more = |name: &str| question.more.get(name).and_then(Value::as_str);
    request.value_type = more("type").map(|text| types::parse(text).expect("it is a type"));
    request.default_value = more("default").map(HieraValue::from_argument);
    let subject =
        if question.more.contains_key("options") { Subject::Options } else { Subject::Lookup };
    // The resolver is new, so that it explains the assembly of its options.
    let explanation = Resolver::new(context.clone()).explain(&request, subject);
    match explanation.answer {
        Err(error) if !error.is_lookup_error() => Explained {
            exit: 1,
            json: String::new(),
            text: String::new(),
            error: tree.without_real_paths(&error.to_string()),
        },
        _ => {
            let shown = ExplainOptions { reveal: true, ..ExplainOptions::default() };
            let json = tree.without_real_paths(&explain::render_json(&explanation.tree, shown));
            let text = tree.without_real_paths(&explain::render_text(&explanation.tree, shown));
            Explained { exit: 0, json, text, error: String::new() }
        }
    }
}

/// Returns the explanations of Puppet.
pub fn puppet(trees: &[Written<'_>], asked: &[Vec<&Question>]) -> Vec<Vec<Explained>> {
    let jobs = trees.iter().zip(asked).map(|(tree, asked)| {
        let asks: Vec<Value> =
            asked.iter().flat_map(|question| ["json", "s"].map(|format| puppet_ask(question, format))).collect();
        json!({"root": tree.environment(), "global": tree.global_config(), "scope": tree.scope(), "asks": asks})
    });
    let input: String = jobs.map(|job| format!("{job}\n")).collect();
    let run = support::run(
        support::ruby_with_puppet().arg(in_package(OWN).join("puppet-explain.rb")),
        &input,
    );
    assert_eq!(run.status, Some(0), "Puppet fails: {}", run.stderr);
    let lines = json_lines("Puppet's answers", &run.stdout);
    assert_eq!(lines.len(), trees.len(), "Puppet answers every job: {}", run.stderr);
    let of_tree = |(answers, tree): (Value, &Written<'_>)| {
        let answers = answers.as_array().expect("a list of answers").clone();
        answers.chunks(2).map(|pair| from_puppet(tree, &pair[0], &pair[1])).collect()
    };
    lines.into_iter().zip(trees).map(of_tree).collect()
}

fn puppet_ask(question: &Question, format: &str) -> Value {
    let mut arguments = serde_json::Map::new();
    let subject = if question.more.contains_key("options") { "explain_options" } else { "explain" };
    arguments.insert(subject.into(), true.into());
    arguments.insert("render_as".into(), format.into());
    arguments.extend(question.merge.clone().map(|merge| ("merge".into(), merge)));
    arguments.extend(question.more.get("type").map(|value| ("type".into(), value.clone())));
    arguments
        .extend(question.more.get("default").map(|value| ("default_value".into(), value.clone())));
    json!({"keys": keys(question), "arguments": arguments})
}

fn from_puppet(tree: &Written<'_>, as_json: &Value, as_text: &Value) -> Explained {
    let text = |answer: &Value, name: &str| {
        tree.without_real_paths(answer[name].as_str().unwrap_or_default())
    };
    // The command `puppet lookup` adds a line end to output that has none.
    let mut json = text(as_json, "out").trim_end_matches('\n').to_owned();
    if as_json["exit"] != as_text["exit"] {
        json = text(as_json, "error"); // of values that JSON has no words for
    }
    // Ruby shows the line of its own source below the message of an error of its own.
    let error = text(as_json, "error").split("\n\n").next().unwrap_or_default().to_owned();
    let text = without_source_line(&text(as_text, "out")).to_owned();
    Explained { exit: as_text["exit"].as_i64().expect("an exit status"), json, text, error }
}

/// An explanation without the line of Ruby's own source that ends it, carets below it, when an
/// error of Ruby's does.
fn without_source_line(text: &str) -> &str {
    let carets = text.trim_end().rsplit('\n').next().unwrap_or_default().trim();
    let shows_source = !carets.is_empty() && carets.bytes().all(|byte| byte == b'^');
    match text.rfind("\n\n").filter(|_| shows_source) {
        Some(end) => &text[..=end],
        None => text,
    }
}

fn recording() -> BTreeMap<(String, String), Explained> {
    let text = std::fs::read_to_string(in_package(OWN).join("recorded.jsonl")).unwrap_or_default();
    let text_of =
        |value: &Value| value.as_str().expect("scenario and question are text").to_owned();
    let lines = json_lines("recorded.jsonl", &text).into_iter().skip(1);
    lines
        .map(|line| {
            (
                (text_of(&line["scenario"]), text_of(&line["ask"])),
                Explained::from_json(&line["explained"]),
            )
        })
        .collect()
}

/// Whether two texts are the same up to their last lines, an error with these words.
fn differs_in_last_line(expected: &str, given: &str, words: &str) -> bool {
    let parts = |text: &str| {
        text.trim_end().rsplit_once('\n').map(|(before, last)| (before.to_owned(), last.to_owned()))
    };
    match (parts(expected), parts(given)) {
        (Some(expected), Some(given)) => {
            expected.0 == given.0 && expected.1.contains(words) && given.1.contains(words)
        }
        _ => false,
    }
}

/// The number of compared explanations, and those that differ.
struct Tally {
    lookups: usize,
    trees: usize,
    texts: usize,
    unexplained: usize,
    other_words: usize,
    differences: Vec<Value>,
    seen: Vec<bool>,
    wrong: Vec<String>,
}

impl Tally {
    /// Returns a tally for a Puppet of this major version; entries may name versions.
    fn of_version(major: u8) -> Tally {
        let mut differences = topic::read_yaml(OWN, "differences");
        differences.iter().for_each(|entry| {
            assert!(entry["why"].is_string(), "a difference without a reason: {entry}")
        });
        differences.retain(|entry| {
            entry["puppet"].as_array().is_none_or(|majors| majors.contains(&major.into()))
        });
        let seen = vec![false; differences.len()];
        Tally {
            lookups: 0,
            trees: 0,
            texts: 0,
            unexplained: 0,
            other_words: 0,
            differences,
            seen,
            wrong: Vec::new(),
        }
    }

    fn compare(
        &mut self,
        group: &Group,
        scenario: &Scenario,
        question: &Question,
        expected: &Explained,
        given: &Explained,
    ) {
        self.lookups += 1;
        let forms: [(&str, &str, &str); 2] =
            [("json", &expected.json, &given.json), ("text", &expected.text, &given.text)];
        let place =
            format!("{}: {:?}: {}", group.topic, scenario.name, group.id(scenario, question).1);
        if expected.exit != 0 && given.exit == expected.exit {
            self.unexplained += 1;
            if expected.error != given.error {
                self.other_words += 1;
                if variable("HIERA_LS_WORDS").is_some() {
                    println!("{place}\n  Puppet   {}\n  hiera-ls {}", expected.error, given.error);
                }
            }
            return;
        }
        for (form, expected_form, given_form) in forms {
            if expected_form == given_form && expected.exit == given.exit {
                *(if form == "json" { &mut self.trees } else { &mut self.texts }) += 1;
                continue;
            }
            let entry = self.differences.iter().position(|entry| {
                if let Some(words) = entry["words"].as_str() {
                    return form == "text"
                        && expected.exit == given.exit
                        && differs_in_last_line(expected_form, given_form, words);
                }
                let fits = |name: &str, value: &str| {
                    let is_listed = |listed: &Value| {
                        *listed == value
                            || listed.as_array().is_some_and(|all| all.contains(&value.into()))
                    };
                    entry.get(name).is_none_or(is_listed)
                };
                fits("topic", group.topic)
                    && fits("scenario", &scenario.name)
                    && fits("key", &question.key)
                    && fits("form", form)
            });
            match entry {
                Some(entry) => self.seen[entry] = true,
                None => self.wrong.push(format!(
                    "{place} ({form})\n--- Puppet (exit {}) {}\n{expected_form}\n--- hiera-ls (exit {}) {}\n{given_form}",
                    expected.exit, expected.error, given.exit, given.error
                )),
            }
        }
    }

    /// `share`: whether only some of the lookups were compared, so that an entry may be about another.
    fn finish(self, share: bool) {
        let Tally { lookups, trees, texts, unexplained, other_words, differences, seen, wrong } =
            self;
        println!(
            "{lookups} lookups: {trees} equal trees, {texts} equal texts; {unexplained} that Puppet does not explain ({other_words} in other words); {} documented differences",
            seen.iter().filter(|seen| **seen).count()
        );
        assert!(wrong.is_empty(), "{} explanations differ\n{}", wrong.len(), wrong.join("\n\n"));
        let unneeded: Vec<&Value> = differences
            .iter()
            .zip(seen)
            .filter(|(_, seen)| !seen)
            .map(|(entry, _)| entry)
            .collect();
        assert!(
            share || unneeded.is_empty(),
            "differences.yaml lists what does not differ: {unneeded:#?}"
        );
    }
}
