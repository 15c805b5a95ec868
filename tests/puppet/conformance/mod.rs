//! Conformance with Puppet, topic by topic: scenarios in `tests/puppet/conformance/*.yaml`,
//! Puppet's recorded answers beside them in `*.jsonl`.
//!
//! hiera-ls agrees with all recordings, except for the differences that
//! `tests/puppet/conformance/differences.yaml` lists with a reason; an entry there that no longer
//! differs fails, too. With a Puppet (see `tests/support`) the recordings are checked, and
//! `HIERA_LS_RECORD=1` writes them anew; a topic's name in place of the 1 writes that topic alone.
//!
//! `tests/puppet/scenario/topic.rs` documents the format of a topic. The topic `strict` is asked of
//! a Puppet with `strict=error`, all others of one with its defaults.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::scenario::{
    Agreement, Puppet, Question, Scenario, Written, compare, oracle_puppet, topic,
};
use crate::support;
use crate::support::{in_package, is_asked, json_lines, require, variable};
use hiera_ls::puppet::{PuppetVersion, Strict};
use serde_json::{Value, json};

const FOLDER: &str = "tests/puppet/conformance";

/// How many errors have other words than Puppet's; `HIERA_LS_WORDS=1` prints them: those of broken
/// JSON, which name a line of the reader's C, of Ruby's own failures, which quote a line of
/// Puppet's Ruby, and of HOCON that its library fails over.
const OTHER_WORDS: usize = 28;

#[test]
fn hiera_ls_gives_the_recorded_answers() {
    let mut tally = Tally::of_version(7);
    for topic in topics() {
        let recording = topic.recording();
        let dir = support::scratch(&format!("conformance-{}", topic.name));
        for (n, scenario) in topic.scenarios.iter().enumerate() {
            let given = scenario.write(&dir.join(n.to_string())).ask_hiera_ls(topic.puppet(7));
            let expected = scenario.questions.iter().map(|question| {
                recording.get(&id(scenario, question)).cloned().unwrap_or_else(|| {
                    let ask = question.to_json();
                    panic!(
                        "{}: {}: {ask} is not recorded: record it with HIERA_LS_RECORD=1",
                        topic.name, scenario.name
                    )
                })
            });
            tally.add(&topic, scenario, expected.collect(), given);
        }
    }
    tally.assert_equal(true);
}

/// Compares with a Puppet whose answers are not recorded.
#[test]
fn hiera_ls_answers_as_the_puppet_of_another_version() {
    if !support::require_unrecorded_puppet() {
        return;
    }
    let major = support::puppet_major();
    let mut tally = Tally::of_version(major);
    let mut oracle = Oracle::start();
    for topic in topics() {
        let dir = support::scratch(&format!("version-{}", topic.name));
        for (scenario, tree, expected) in oracle.ask_share(&topic, &dir) {
            tally.add(&topic, scenario, expected, tree.ask_hiera_ls(topic.puppet(major)));
        }
    }
    // A plain run asks about a share of the scenarios only.
    tally.assert_equal(is_asked("puppet", 1));
}

#[test]
fn the_recordings_are_what_puppet_says() {
    if !support::require_recorded_puppet() {
        return;
    }
    let header = support::oracle_version().clone().expect("require(\"puppet\") said so");
    let mut oracle = Oracle::start();
    let mut wrong = Vec::new();
    let recorded = support::topic_to_record().filter(|topic| topic != "1");
    for topic in topics() {
        if recorded.as_ref().is_some_and(|name| *name != topic.name) {
            continue;
        }
        let dir = support::scratch(&format!("recording-{}", topic.name));
        let all = oracle.ask_share(&topic, &dir).into_iter().flat_map(|(scenario, _, answers)| {
            scenario
                .questions
                .iter()
                .zip(answers)
                .map(move |(question, answer)| (id(scenario, question), answer))
        });
        if support::topic_to_record().is_some() {
            let lines =
                all.map(|((scenario, question), answer)| json!({"scenario": scenario, "ask": question, "answer": answer}));
            let text: String = std::iter::once(header.clone())
                .chain(lines)
                .map(|line| format!("{line}\n"))
                .collect();
            // The recording is replaced in one step: the other test may be reading it.
            let new = topic.path("new");
            std::fs::write(&new, text).expect("the recording can be written");
            std::fs::rename(&new, topic.path("jsonl")).expect("the recording can be replaced");
            continue;
        }
        let recording = topic.recording();
        wrong.extend(all.filter_map(|(id, answer)| {
            let recorded = recording.get(&id);
            (recorded != Some(&answer)).then(|| {
                format!("{}: {id:?}\n  recorded {recorded:?}\n  Puppet   {answer}", topic.name)
            })
        }));
    }
    assert!(
        wrong.is_empty(),
        "{} recorded answers are not Puppet's\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A Puppet with its defaults and one with `strict=error`.
struct Oracle {
    usual: Puppet,
    strict: Puppet,
}

impl Oracle {
    fn start() -> Oracle {
        Oracle { usual: Puppet::start(), strict: Puppet::start_with(&["--strict", "error"]) }
    }

    /// The scenarios of a topic that this run asks about, written below `dir`, with the answers in
    /// the order of the questions.
    fn ask_share<'a>(
        &mut self,
        topic: &'a Topic,
        dir: &Path,
    ) -> Vec<(&'a Scenario, Written<'a>, Vec<Value>)> {
        let asked = topic.scenarios.iter().enumerate().filter(|(n, _)| is_asked("puppet", *n));
        let (scenarios, trees): (Vec<&Scenario>, Vec<Written<'_>>) =
            asked.map(|(n, scenario)| (scenario, scenario.write(&dir.join(n.to_string())))).unzip();
        let puppet = if topic.is_strict() { &mut self.strict } else { &mut self.usual };
        let answers = puppet.ask_all(&trees);
        let all = scenarios.into_iter().zip(trees).zip(answers);
        all.map(|((scenario, tree), answers)| (scenario, tree, answers)).collect()
    }
}

/// Compares answers of hiera-ls with those of one version of Puppet.
struct Tally {
    major: u8,
    differences: Differences,
    /// For each difference, whether an answer had it.
    seen: Vec<bool>,
    scenarios: usize,
    answers: usize,
    other_words: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn of_version(major: u8) -> Tally {
        let mut differences = Differences::read();
        differences.entries.retain(|entry| is_about(entry, major));
        let seen = vec![false; differences.entries.len()];
        Tally {
            major,
            differences,
            seen,
            scenarios: 0,
            answers: 0,
            other_words: 0,
            wrong: Vec::new(),
        }
    }

    fn add(&mut self, topic: &Topic, scenario: &Scenario, expected: Vec<Value>, given: Vec<Value>) {
        self.scenarios += 1;
        for ((question, expected), given) in scenario.questions.iter().zip(expected).zip(given) {
            self.answers += 1;
            let place = format!("{}: {}: {}", topic.name, scenario.name, question.to_json());
            let listed = self.differences.of(&topic.name, scenario, question);
            match (compare(&expected, &given), listed) {
                (Agreement::Different, Some(entry)) => self.seen[entry] = true,
                (Agreement::Different, None) => {
                    self.wrong.push(format!("{place}\n  Puppet   {expected}\n  hiera-ls {given}"));
                }
                (Agreement::OtherWords, _) => {
                    self.other_words += 1;
                    if variable("HIERA_LS_WORDS").is_some() {
                        let (theirs, ours) = (&expected["error"], &given["error"]);
                        println!("{place}\n  Puppet   {theirs}\n  hiera-ls {ours}");
                    }
                }
                (Agreement::Same, _) => {}
            }
        }
    }

    /// `is_whole`: whether all scenarios were asked about, so that each difference has its answer.
    fn assert_equal(self, is_whole: bool) {
        let Tally { major, differences, seen, scenarios, answers, other_words, wrong } = self;
        println!(
            "Puppet {major}: {scenarios} scenarios, {answers} answers, {other_words} errors in other words, {} documented differences",
            seen.len()
        );
        assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
        assert!(
            other_words <= OTHER_WORDS,
            "{other_words} errors have other words than Puppet's, not just {OTHER_WORDS}"
        );
        let listed = differences.entries.iter().zip(seen);
        let unneeded: Vec<&Value> =
            listed.filter(|(_, seen)| !seen).map(|(entry, _)| entry).collect();
        assert!(
            !is_whole || unneeded.is_empty(),
            "differences.yaml lists what does not differ: {unneeded:#?}"
        );
    }
}

/// Whether a listed difference is one from this version of Puppet: from all without `puppet`.
fn is_about(entry: &Value, major: u8) -> bool {
    entry["puppet"].as_array().is_none_or(|all| all.contains(&major.into()))
}

/// Every trap of semantics 13 has a test with its number: a scenario `trap 7: …`, or a test
/// `trap_39_…` of the command line.
#[test]
fn every_trap_has_its_test() {
    let scenarios =
        topics().into_iter().flat_map(|topic| topic.scenarios).map(|scenario| scenario.name);
    let numbered =
        scenarios.filter_map(|name| name.strip_prefix("trap ")?.split_once(':')?.0.parse().ok());
    let command_line =
        std::fs::read_to_string(in_package("tests/cli/main.rs")).expect("the suite is there");
    let tests = command_line
        .lines()
        .filter_map(|line| line.strip_prefix("fn trap_")?.split_once('_')?.0.parse().ok());
    let tested: BTreeSet<usize> = numbered.chain(tests).collect();
    assert_eq!(tested, (1..=42).collect());
}

/// The default datadir of a version 3 `hiera.yaml` lies below Puppet's codedir; in a workspace the
/// environment's folder stands for it.
#[test]
fn the_default_datadir_of_version_3_is_the_environments() {
    if !require("puppet") {
        return;
    }
    let files = [
        ("<global>/hiera.yaml", ""),
        ("hieradata/common.yaml", "k: common\nc: 1\n"),
        ("hieradata/nodes/n1.yaml", "k: node\nn: \"%{lookup('c')}\"\n"),
        ("data/common.yaml", "c: 2\n"),
    ];
    let scenario = Scenario {
        name: "the default datadir".into(),
        files: files.map(|(path, content)| (path.to_owned(), content.to_owned())).to_vec(),
        scope: topic::default_scope(),
        questions: ["k", "c", "n", "nope"].map(|key| Question::new(key, None)).to_vec(),
    };
    let dir = support::scratch("default-datadir");
    let written = scenario.write(&dir);
    let environments = dir.join("code/environments");
    std::fs::create_dir_all(&environments).expect("the scratch directory is ours");
    std::os::unix::fs::symlink(dir.join("env"), environments.join("production"))
        .expect("the scratch directory is ours");
    let codedir = dir.join("code");
    let puppet =
        Puppet::start_with(&["--codedir", codedir.to_str().expect("scratch paths are UTF-8")])
            .ask(&written);
    assert_eq!(puppet, written.ask_hiera_ls(oracle_puppet()));
    assert_eq!(puppet[0]["value"], "node");
}

/// hyera is a port of Hiera to Python whose author measured it against Puppet 8.10: a second source
/// for the behaviour that is new in version 8.
///
/// `tests/puppet/hyera/differences.yaml` lists the differences, each with the reason: `hiera-ls` is
/// right, by Puppet 7.23 or by observations of 8.11, or it is a limit of hyera.
#[test]
fn a_port_of_puppet_8_agrees() {
    let requirements = std::fs::read_to_string(in_package("tests/puppet/hyera/requirements.txt"))
        .expect("the list of packages");
    let interpreter = match support::python::with_packages("hyera", "hyera", &requirements) {
        Ok(interpreter) => interpreter,
        Err(obstacle) => {
            support::missing("hyera", &obstacle);
            return;
        }
    };
    let puppet = PuppetVersion::of_major(8);
    // In the other topics there is nothing new in version 8.
    let concerned = ["config", "strict", "versions"];
    let topics: Vec<Topic> =
        topics().into_iter().filter(|topic| concerned.contains(&&*topic.name)).collect();
    let dirs: Vec<PathBuf> =
        topics.iter().map(|topic| support::scratch(&format!("hyera-{}", topic.name))).collect();
    let trees: Vec<(&Topic, &Scenario, Written<'_>)> = topics
        .iter()
        .zip(&dirs)
        .flat_map(|(topic, dir)| {
            let written = topic.scenarios.iter().enumerate();
            written.map(move |(n, scenario)| {
                (topic, scenario, scenario.write(&dir.join(n.to_string())))
            })
        })
        .collect();
    let job = |(id, (_, _, tree)): (usize, &(&Topic, &Scenario, Written<'_>))| {
        let mut job = tree.job(id);
        job["strict"] = "error".into();
        format!("{job}\n")
    };
    let jobs: String = trees.iter().enumerate().map(job).collect();
    let mut python = std::process::Command::new(interpreter);
    let run = support::run(
        python.arg(in_package("tests/puppet/hyera/ask.py")).env("PYTHONDONTWRITEBYTECODE", "1"),
        &jobs,
    );
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let differences = Differences::read_from("tests/puppet/hyera/differences.yaml");
    let mut seen = vec![false; differences.entries.len()];
    let (mut answers, mut wrong) = (0, Vec::new());
    for (line, (topic, scenario, tree)) in json_lines("hyera", &run.stdout).into_iter().zip(&trees)
    {
        let ours = tree.ask_hiera_ls(puppet);
        let theirs = line["answers"].as_array().expect("a list of answers");
        for ((question, theirs), ours) in scenario.questions.iter().zip(theirs).zip(ours) {
            answers += 1;
            let theirs = &tree.tidy(theirs.clone());
            // hyera agrees with Puppet on values, missing keys and failures; the texts of its
            // errors are its own.
            if theirs["error"].is_string() && ours["error"].is_string() || *theirs == ours {
                continue;
            }
            match differences.of(&topic.name, scenario, question) {
                Some(entry) => seen[entry] = true,
                None => {
                    let place =
                        format!("{}: {}: {}", topic.name, scenario.name, question.to_json());
                    wrong.push(format!("{place}\n  hyera    {theirs}\n  hiera-ls {ours}"));
                }
            }
        }
    }
    println!("{answers} answers of hyera, {} documented differences", seen.len());
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
    let unneeded: Vec<&Value> = differences
        .entries
        .iter()
        .zip(seen)
        .filter(|(_, seen)| !seen)
        .map(|(entry, _)| entry)
        .collect();
    assert!(
        unneeded.is_empty(),
        "tests/puppet/hyera/differences.yaml lists what does not differ: {unneeded:#?}"
    );
}

/// Answers by scenario and question.
pub type Recording = BTreeMap<(String, String), Value>;

pub fn id(scenario: &Scenario, question: &Question) -> (String, String) {
    (scenario.name.clone(), question.to_json().to_string())
}

pub struct Topic {
    pub name: String,
    pub scenarios: Vec<Scenario>,
}

impl Topic {
    pub fn is_strict(&self) -> bool {
        self.name == "strict"
    }

    /// Puppet's settings for the topic, in a version.
    pub fn puppet(&self, major: u8) -> PuppetVersion {
        let usual = PuppetVersion::of_major(major);
        if self.is_strict() { PuppetVersion { strict: Strict::Error, ..usual } } else { usual }
    }

    fn path(&self, extension: &str) -> PathBuf {
        in_package(FOLDER).join(&self.name).with_extension(extension)
    }

    pub fn recording(&self) -> Recording {
        let text = std::fs::read_to_string(self.path("jsonl")).unwrap_or_default();
        let text_of =
            |value: &Value| value.as_str().expect("scenario and question are text").to_owned();
        let lines = json_lines(&self.name, &text).into_iter().skip(1);
        lines
            .map(|mut line| {
                ((text_of(&line["scenario"]), text_of(&line["ask"])), line["answer"].take())
            })
            .collect()
    }
}

pub fn topics() -> Vec<Topic> {
    let listing = std::fs::read_dir(in_package(FOLDER)).expect("the folder is there");
    let mut names: Vec<String> = listing
        .filter_map(|entry| {
            entry
                .expect("it can be listed")
                .file_name()
                .to_str()?
                .strip_suffix(".yaml")
                .map(str::to_owned)
        })
        .filter(|name| name != "differences")
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| Topic { scenarios: topic::scenarios(FOLDER, &name), name })
        .collect()
}

/// The differences, with their reasons.
struct Differences {
    entries: Vec<Value>,
}

impl Differences {
    fn read() -> Differences {
        Differences::read_from("tests/puppet/conformance/differences.yaml")
    }

    fn read_from(path: &str) -> Differences {
        let text = std::fs::read_to_string(in_package(path)).expect("the file is there");
        let entries: Vec<Value> =
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        entries.iter().for_each(|entry| {
            assert!(entry["why"].is_string(), "a difference without a reason: {entry}")
        });
        Differences { entries }
    }

    fn of(&self, topic: &str, scenario: &Scenario, question: &Question) -> Option<usize> {
        self.entries.iter().position(|entry| {
            entry["topic"] == topic
                && entry["scenario"] == scenario.name.as_str()
                && entry.get("key").is_none_or(|key| *key == question.key.as_str())
        })
    }
}
