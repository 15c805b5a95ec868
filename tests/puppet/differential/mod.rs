//! Random control repositories, asked of hiera-ls and of the installed Puppet.
//!
//! `HIERA_LS_RANDOM` sets the number of repositories (300). A difference is shrunk to a small
//! scenario and printed with its seed. Needs Puppet; see `tests/support`.

mod config;
mod data;
mod flow;
mod generator;
mod options;
mod shrink;
mod values;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use crate::scenario::{Agreement, Puppet, Scenario, Written, compare, oracle_puppet};
use crate::support;
use crate::support::{random, require};
use hiera_ls::puppet::PuppetVersion;
use serde_json::Value;

/// How many repositories are written and asked at a time.
const AT_ONCE: usize = 20;
/// How many seconds Puppet has for the questions of one repository; most need less than one.
const PATIENCE: &str = "30";
/// How many differences are shrunk; the others are only counted.
const SHOWN: usize = 12;

#[test]
fn random_repositories_give_puppets_answers() {
    if !require("puppet") {
        return;
    }
    let count = support::random_cases("puppet", 300) as u64;
    let seed = random::seed("random_repositories_give_puppets_answers");
    let dir = support::scratch("differential");
    let mut puppet = Puppet::start_with(&["--seconds", PATIENCE]);
    let mut tally = Tally::default();
    let start = Instant::now();
    let seeds: Vec<u64> = (0..count).map(|n| seed.wrapping_add(n)).collect();
    for chunk in seeds.chunks(AT_ONCE) {
        let scenarios: Vec<Scenario> =
            chunk.iter().map(|seed| generator::scenario(*seed)).collect();
        let trees: Vec<Written<'_>> = scenarios
            .iter()
            .map(|scenario| scenario.write(&dir.join(scenario.name.replace(' ', "-"))))
            .collect();
        let expected = puppet.ask_all_in_time(&trees);
        for ((scenario, tree), expected) in scenarios.iter().zip(&trees).zip(&expected) {
            let answers = tree.ask_hiera_ls(oracle_puppet());
            // Puppet looks up a key again for each token that asks for the key: a few keys that
            // name each other can keep Puppet busy for hours.
            let Ok(expected) = expected else {
                tally.unanswered += 1;
                continue;
            };
            let mut differs = None;
            for ((question, expected), answer) in
                scenario.questions.iter().zip(expected).zip(&answers)
            {
                let mut agreement = compare(expected, answer);
                if agreement == Agreement::Different {
                    // A knockout in Puppet empties strings and lists in place, also those of a file
                    // that Puppet keeps in memory. Only the answer of a Puppet that is asked
                    // nothing else counts.
                    let alone = Scenario { questions: vec![question.clone()], ..scenario.clone() };
                    let (expected, answer) = both(&alone, &dir.join("alone"), &mut puppet);
                    agreement = compare(&expected, &answer);
                    tally.after_effects += usize::from(agreement != Agreement::Different);
                    // A documented difference concerns a file that two locations name. Puppet
                    // shares the strings of both locations: a knockout in one location empties the
                    // strings of the other.
                    if agreement == Agreement::Different {
                        let mut copies = Puppet::start_with(&["--copies"]);
                        let (expected, answer) = both(&alone, &dir.join("alone"), &mut copies);
                        agreement = compare(&expected, &answer);
                        tally.shared_texts += usize::from(agreement != Agreement::Different);
                    }
                }
                tally.count(expected, answer, agreement, &scenario.name);
                if agreement == Agreement::Different {
                    differs.get_or_insert(question);
                }
            }
            if let Some(question) = differs {
                tally.repositories += 1;
                if tally.repositories <= SHOWN {
                    let one = Scenario { questions: vec![question.clone()], ..scenario.clone() };
                    let mut ask =
                        |scenario: &Scenario| both(scenario, &dir.join("shrink"), &mut puppet);
                    let small = shrink::shrink(one, &mut |scenario| {
                        let (expected, answer) = ask(scenario);
                        compare(&expected, &answer) == Agreement::Different
                    });
                    let (expected, answer) = ask(&small);
                    println!("{}  # Puppet   {expected}\n  # hiera-ls {answer}", small.shown());
                }
            }
        }
        chunk
            .iter()
            .for_each(|seed| drop(std::fs::remove_dir_all(dir.join(format!("seed-{seed}")))));
    }
    tally.show(start.elapsed().as_secs_f64());
    assert_eq!(tally.differences, 0, "HIERA_LS_SEED={seed}");
    assert!(
        tally.after_effects as u64 <= 1 + count / 100,
        "{} answers depend on earlier questions",
        tally.after_effects
    );
    assert!(
        tally.shared_texts as u64 <= 1 + count / 100,
        "{} answers depend on a text that two locations share",
        tally.shared_texts
    );
    assert!(
        tally.unanswered as u64 <= 1 + count / 100,
        "Puppet did not answer for {} repositories",
        tally.unanswered
    );
    assert!(
        tally.values * 3 > tally.all(),
        "the questions are too often about nothing, or in vain"
    );
}

/// Returns the answers of Puppet and of hiera-ls to the scenario's only question.
fn both(scenario: &Scenario, dir: &Path, puppet: &mut Puppet) -> (Value, Value) {
    drop(std::fs::remove_dir_all(dir));
    let tree = scenario.write(dir);
    (puppet.ask(&tree).remove(0), tree.ask_hiera_ls(oracle_puppet()).remove(0))
}

/// The shrinker at work on something that it can be judged by: the same answer from as little as
/// possible.
#[test]
fn scenarios_are_shrunk() {
    let dir = support::scratch("shrinking");
    let ask = |scenario: &Scenario| {
        drop(std::fs::remove_dir_all(&dir));
        scenario.write(&dir).ask_hiera_ls(PuppetVersion::of_major(7)).remove(0)
    };
    for seed in 1..=8 {
        let scenario = generator::scenario(seed);
        drop(std::fs::remove_dir_all(&dir));
        let all = scenario.write(&dir).ask_hiera_ls(PuppetVersion::of_major(7));
        // A long text may show everything that the scenario has, so that nothing could be removed.
        let short = |answer: &Value| answer["value"].as_str().is_some_and(|text| text.len() < 12);
        let mut answered = all.iter().zip(&scenario.questions).filter(|(answer, _)| short(answer));
        let Some((expected, question)) = answered.next_back() else { continue };
        let one = Scenario { questions: vec![question.clone()], ..scenario.clone() };
        let small = shrink::shrink(one.clone(), &mut |scenario| ask(scenario) == *expected);
        assert_eq!(ask(&small), *expected, "seed {seed}");
        let lines = |scenario: &Scenario| {
            scenario.files.iter().map(|(_, content)| content.lines().count()).sum::<usize>()
        };
        assert!(
            lines(&small) <= 10 && lines(&small) < lines(&one),
            "seed {seed} is still {}",
            small.shown()
        );
        assert!(small.scope.len() <= 1, "seed {seed} is still {}", small.shown());
    }
}

#[derive(Default)]
struct Tally {
    values: usize,
    absent: usize,
    errors: usize,
    other_words: usize,
    differences: usize,
    repositories: usize,
    /// Questions to which Puppet's answer depended on the questions before.
    after_effects: usize,
    /// Answers that depend on a text that two locations share.
    shared_texts: usize,
    /// Repositories for which Puppet took too long.
    unanswered: usize,
    wordings: BTreeMap<String, (usize, String)>,
}

impl Tally {
    fn count(&mut self, expected: &Value, answer: &Value, agreement: Agreement, name: &str) {
        match agreement {
            Agreement::Different => self.differences += 1,
            _ if expected.get("error").is_some() => self.errors += 1,
            _ if expected["found"] == true => self.values += 1,
            _ => self.absent += 1,
        }
        if agreement == Agreement::OtherWords {
            self.words(expected, answer, name);
        }
    }

    fn words(&mut self, expected: &Value, answer: &Value, name: &str) {
        self.other_words += 1;
        // Messages that differ only in quoted names and numbers are counted together.
        let kind: String = expected["error"]
            .as_str()
            .unwrap_or_default()
            .chars()
            .filter(|c| c.is_alphabetic() || *c == ' ')
            .take(60)
            .collect();
        let shown =
            format!("{name}\n      puppet {}\n      ours   {}", expected["error"], answer["error"]);
        self.wordings.entry(kind).or_insert((0, shown)).0 += 1;
    }

    fn all(&self) -> usize {
        self.values + self.absent + self.errors + self.differences
    }

    fn show(&self, seconds: f64) {
        println!(
            "{} questions in {seconds:.1} s: {} values, {} not found, {} errors ({} in other words), {} differ in {} repositories; \
             Puppet took too long for {} repositories and went by earlier questions in {} answers and by a shared text in {}",
            self.all(),
            self.values,
            self.absent,
            self.errors,
            self.other_words,
            self.differences,
            self.repositories,
            self.unanswered,
            self.after_effects,
            self.shared_texts
        );
        let mut wordings: Vec<_> = self.wordings.values().collect();
        wordings.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        wordings
            .iter()
            .take(25)
            .for_each(|(count, shown)| println!("  {count} times, such as in {shown}"));
    }
}
