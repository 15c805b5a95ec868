//! Random control repositories, asked of hiera-ls and of the installed Puppet.
//!
//! `HIERA_LS_RANDOM` sets the number of repositories (30), `HIERA_LS_SEED` the first seed. A difference is shrunk to a small scenario
//! and printed with its seed. Skipped without an oracle, unless `HIERA_LS_REQUIRE` contains `puppet`; see `tests/support`.

#[path = "differential/generator.rs"]
mod generator;
mod scenario;
#[path = "differential/shrink.rs"]
mod shrink;
mod support;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use scenario::{Agreement, Puppet, Scenario, Written, compare};
use support::{require, variable};

/// How many differences are shrunk; the others are only counted.
const SHOWN: usize = 12;

#[test]
fn random_repositories_give_puppets_answers() {
    if !require("puppet") {
        return;
    }
    let number = |name: &str| variable(name).map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is no number")));
    let count = number("HIERA_LS_RANDOM").unwrap_or(30);
    let seed = number("HIERA_LS_SEED")
        .unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() * 1000));
    println!("seed {seed}");
    let dir = support::scratch("differential");
    let mut puppet = Puppet::start();
    let mut tally = Tally::default();
    let start = Instant::now();
    let seeds: Vec<u64> = (seed..seed + count).collect();
    for chunk in seeds.chunks(20) {
        let scenarios: Vec<Scenario> = chunk.iter().map(|seed| generator::scenario(*seed)).collect();
        let trees: Vec<Written<'_>> =
            scenarios.iter().map(|scenario| scenario.write(&dir.join(scenario.name.replace(' ', "-")))).collect();
        let expected = puppet.ask_all(&trees);
        for ((scenario, tree), expected) in scenarios.iter().zip(&trees).zip(&expected) {
            let answers = tree.ask_hiera_ls(7);
            for ((question, expected), answer) in scenario.questions.iter().zip(expected).zip(&answers) {
                tally.count(expected, compare(expected, answer));
                match compare(expected, answer) {
                    Agreement::Same => {}
                    Agreement::OtherWords => tally.words(expected, answer, &scenario.name),
                    Agreement::Different => {
                        tally.differences += 1;
                        if tally.differences <= SHOWN {
                            let one = Scenario { questions: vec![question.clone()], ..scenario.clone() };
                            let small = shrink::shrink(one, &dir.join("shrink"), &mut puppet);
                            println!("{}", shrink::shown(&small, &dir.join("shrink"), &mut puppet));
                        }
                        break;
                    }
                }
            }
        }
        chunk.iter().for_each(|seed| drop(std::fs::remove_dir_all(dir.join(format!("seed-{seed}")))));
    }
    tally.show(start.elapsed().as_secs_f64());
    assert_eq!(tally.differences, 0, "seed {seed}");
}

#[derive(Default)]
struct Tally {
    values: usize,
    absent: usize,
    errors: usize,
    other_words: usize,
    differences: usize,
    wordings: std::collections::BTreeMap<String, (usize, String)>,
}

impl Tally {
    fn count(&mut self, expected: &serde_json::Value, agreement: Agreement) {
        match agreement {
            Agreement::Different => {}
            _ if expected.get("error").is_some() => self.errors += 1,
            _ if expected["found"] == true => self.values += 1,
            _ => self.absent += 1,
        }
    }

    fn words(&mut self, expected: &serde_json::Value, answer: &serde_json::Value, name: &str) {
        self.other_words += 1;
        // Alike messages are counted together: names in quotes and numbers do not tell them apart.
        let kind: String =
            expected["error"].as_str().unwrap_or_default().chars().filter(|c| c.is_alphabetic() || *c == ' ').take(60).collect();
        let shown = format!("{name}\n      puppet {}\n      ours   {}", expected["error"], answer["error"]);
        self.wordings.entry(kind).or_insert((0, shown)).0 += 1;
    }

    fn show(&self, seconds: f64) {
        let all = self.values + self.absent + self.errors + self.differences;
        println!(
            "{all} questions in {seconds:.1} s: {} values, {} not found, {} errors ({} in other words), {} repositories differ",
            self.values, self.absent, self.errors, self.other_words, self.differences
        );
        let mut wordings: Vec<_> = self.wordings.values().collect();
        wordings.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        wordings.iter().take(25).for_each(|(count, shown)| println!("  {count} times, such as in {shown}"));
    }
}
