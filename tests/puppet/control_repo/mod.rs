//! hiera-ls against real Puppet, question by question.
//!
//! `tests/puppet/control_repo/answers.jsonl` holds Puppet's answers about `tests/control-repo`: a
//! first line with the versions of Puppet and the libraries that matter, then one line for each
//! node and question. The recording is never edited; `HIERA_LS_RECORD=1` writes it anew, with a
//! Puppet (see `tests/support`). A difference is a bug of hiera-ls or a documented decision.
//!
//! Answers that need a private key are not in the recording: hiera-ls shows such values as opaque.

pub mod questions;

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::support;
use crate::support::{in_package, is_asked, json_lines, require, same_json, shortened, variable};
use questions::Question;

const RECORDING: &str = "tests/puppet/control_repo/answers.jsonl";

/// How many nodes of a foreign repository are asked in one go: their answers are held in memory.
const NODES_AT_ONCE: usize = 20;

#[test]
fn recorded_answers_agree() {
    let recorded = Recording::read();
    let questions = recorded.questions();
    let answers = ask_hiera_ls(&control_repo(), &control_repo().join("fleet.jsonl"), &questions, 7);
    let mut tally = Tally::of("hiera-ls");
    for (node, question, expected) in &recorded.answers {
        let asked = questions
            .iter()
            .position(|other| other == question)
            .expect("the questions come from the recording");
        match answers.get(node) {
            Some(answers) => tally.compare(node, question, expected, &answers[asked]),
            None => panic!("hiera-ls gave no answers for {node}"),
        }
    }
    eprintln!("{tally}");
    assert!(
        tally.differences.is_empty(),
        "hiera-ls differs from what Puppet {} said\n{tally}",
        recorded.header["puppet"]
    );
}

#[test]
fn recorded_questions_follow_from_the_data() {
    if support::topic_to_record().is_some() {
        return;
    }
    let recorded = Recording::read().questions();
    let asked = questions::thorough(&control_repo());
    let unasked: Vec<String> = recorded
        .iter()
        .filter(|question| !asked.contains(question))
        .map(Question::to_string)
        .collect();
    let unrecorded: Vec<String> = asked
        .iter()
        .filter(|question| !recorded.contains(question))
        .map(Question::to_string)
        .collect();
    assert!(
        unasked.is_empty() && unrecorded.is_empty(),
        "tests/control-repo has changed: record anew with HIERA_LS_RECORD=1\nno longer asked: {unasked:#?}\nnot recorded: {unrecorded:#?}"
    );
}

#[test]
fn recorded_answers_are_puppets() {
    if !require("puppet") {
        return;
    }
    // Some questions occur more than once, also in the recording.
    let mut questions = questions::thorough(&control_repo());
    let numbered = questions.iter().enumerate().filter(|(n, _)| is_asked("puppet", *n));
    let asked: Vec<Question> = numbered.map(|(_, question)| question.clone()).collect();
    questions.retain(|question| asked.contains(question));
    let scopes = read_scopes(&control_repo().join("fleet.jsonl"));
    let mut lines: Vec<Value> = Vec::new();
    for (node, answers) in ask_puppet(&control_repo(), &scopes, &questions, "none") {
        for (question, answer) in questions.iter().zip(answers) {
            if !needs_a_private_key(&answer) {
                lines.push(json!({"node": node, "key": question.key, "merge": question.merge, "answer": answer}));
            }
        }
    }
    lines.iter_mut().filter(|line| line["merge"].is_null()).for_each(|line| {
        line.as_object_mut().expect("made an object above").shift_remove("merge");
    });
    if !support::is_recorded_puppet() {
        return assert_hiera_ls_answers(&questions, &lines);
    }
    let header = support::oracle_version().clone().expect("require(\"puppet\") said so");
    if support::topic_to_record().is_some() {
        let text: String =
            std::iter::once(&header).chain(&lines).map(|line| format!("{line}\n")).collect();
        // The recording is replaced in one step: other tests may be reading it.
        let new = in_package(RECORDING).with_extension("new");
        std::fs::write(&new, text).expect("the recording can be written");
        std::fs::rename(&new, in_package(RECORDING)).expect("the recording can be replaced");
        eprintln!("recorded {} answers", lines.len());
        return;
    }
    let recorded = Recording::read();
    if recorded.header != header {
        eprintln!("recorded with {}, asked now {header}", recorded.header);
    }
    let mut tally = Tally::of("recording");
    let is_asked = |question: &Question| questions.contains(question);
    let answers = recorded.answers.iter().filter(|(_, question, _)| is_asked(question));
    let answers: Vec<_> = answers.collect();
    assert_eq!(
        answers.len(),
        lines.len(),
        "the recording has another number of answers than Puppet gave"
    );
    for ((node, question, expected), line) in answers.into_iter().zip(&lines) {
        assert_eq!(
            (node.as_str(), &question.to_json()["key"]),
            (line["node"].as_str().unwrap_or_default(), &line["key"])
        );
        tally.compare(node, question, &line["answer"], expected);
    }
    assert!(tally.differences.is_empty(), "the recording differs from what Puppet says\n{tally}");
}

/// Compares the answers of hiera-ls for the oracle's version with `lines` of Puppet.
fn assert_hiera_ls_answers(questions: &[Question], lines: &[Value]) {
    let (root, major) = (control_repo(), support::puppet_major());
    let answers = ask_hiera_ls(&root, &root.join("fleet.jsonl"), questions, major);
    let mut tally = Tally::of("hiera-ls");
    for line in lines {
        let node = line["node"].as_str().expect("a node's name");
        let key = line["key"].as_str().expect("a key").to_owned();
        let question = Question { key, merge: line.get("merge").cloned() };
        let asked = questions.iter().position(|other| *other == question).expect("it was asked");
        tally.compare(node, &question, &line["answer"], &answers[node][asked]);
    }
    eprintln!("{tally}");
    assert!(tally.differences.is_empty(), "hiera-ls differs from Puppet {major}\n{tally}");
}

#[test]
fn corpus_agrees() {
    if !require("corpus") || !require("puppet") {
        return;
    }
    let path = |name| PathBuf::from(variable(name).expect("require(\"corpus\") said so"));
    let root = path("HIERA_LS_CORPUS_ROOT");
    let scopes = read_scopes(&path("HIERA_LS_CORPUS_SCOPES"));
    let (scopes, merges) = match variable("HIERA_LS_CORPUS_NODES").as_deref() {
        // The whole fleet is asked with the configured merges only: the sample of nodes has been
        // asked with every merge.
        Some("all") => (scopes, &questions::EVERY_MERGE[..1]),
        count => {
            let count = count.map_or(20, |count| {
                count.parse().expect("HIERA_LS_CORPUS_NODES is a number, or `all`")
            });
            (spread(scopes, count), questions::EVERY_MERGE)
        }
    };
    let (questions, unread) = questions::of_root_keys(&root, merges);
    unread.iter().for_each(|file| eprintln!("no keys taken from {}", file.display()));
    let chosen = support::scratch("corpus").join("scopes.jsonl");
    let mut tally = Tally::of("hiera-ls");
    for scopes in scopes.chunks(NODES_AT_ONCE) {
        let lines: String = scopes.iter().map(|scope| format!("{scope}\n")).collect();
        std::fs::write(&chosen, lines).expect("a scratch file can be written");
        let (ours, theirs) = std::thread::scope(|threads| {
            let ours = threads.spawn(|| {
                timed("hiera-ls", || {
                    ask_hiera_ls(&root, &chosen, &questions, support::puppet_major())
                })
            });
            let theirs = timed("Puppet", || ask_puppet(&root, scopes, &questions, "catalog"));
            (ours.join().expect("asking hiera-ls did not fail"), theirs)
        });
        for (node, expected) in &theirs {
            let answers =
                ours.get(node).unwrap_or_else(|| panic!("hiera-ls gave no answers for {node}"));
            for ((question, expected), answer) in questions.iter().zip(expected).zip(answers) {
                tally.compare(node, question, expected, answer);
            }
        }
    }
    eprintln!("{} questions to each of {} nodes\n{tally}", questions.len(), scopes.len());
    assert!(tally.differences.is_empty(), "hiera-ls differs from Puppet\n{tally}");
}

fn control_repo() -> PathBuf {
    in_package("tests/control-repo")
}

fn read_scopes(path: &Path) -> Vec<Value> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    json_lines(&path.to_string_lossy(), &text)
}

fn name_of(scope: &Value) -> String {
    scope["trusted"]["certname"].as_str().expect("each scope has trusted.certname").to_owned()
}

/// `count` of `scopes`, spread evenly over them, the first and the last included.
fn spread(scopes: Vec<Value>, count: usize) -> Vec<Value> {
    let last = scopes.len() - 1;
    let mut chosen: Vec<usize> =
        (0..count).map(|i| if count > 1 { i * last / (count - 1) } else { 0 }).collect();
    chosen.dedup();
    chosen.into_iter().map(|i| scopes[i].clone()).collect()
}

fn timed<T>(who: &str, ask: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let answers = ask();
    eprintln!("{who} took {:.1} s", start.elapsed().as_secs_f64());
    answers
}

/// The recorded answers, in the order of the file.
struct Recording {
    header: Value,
    answers: Vec<(String, Question, Value)>,
}

impl Recording {
    fn read() -> Recording {
        let text = std::fs::read_to_string(in_package(RECORDING)).expect("there is a recording");
        let mut lines = json_lines(RECORDING, &text).into_iter();
        let header = lines.next().expect("the recording has a header");
        let text = |value: &Value| value.as_str().expect("node and key are strings").to_owned();
        let answers = lines
            .map(|line| {
                let question =
                    Question { key: text(&line["key"]), merge: line.get("merge").cloned() };
                (text(&line["node"]), question, line["answer"].clone())
            })
            .collect();
        Recording { header, answers }
    }

    /// Each question once, in the order of their first answers.
    fn questions(&self) -> Vec<Question> {
        let mut questions: Vec<Question> = Vec::new();
        for (_, question, _) in &self.answers {
            if !questions.contains(question) {
                questions.push(question.clone());
            }
        }
        questions
    }
}

/// Asks the built binary all `questions` for every scope of a file. The answers of each node, in
/// the order of the questions.
fn ask_hiera_ls(
    root: &Path,
    scopes: &Path,
    questions: &[Question],
    puppet: u8,
) -> HashMap<String, Vec<Value>> {
    let mut command = support::hiera_ls(["lookup", "--batch", "--reveal-sensitive"]);
    command.arg("--root").arg(root).arg("--scope").arg(scopes);
    command.args(["--puppet-version", &puppet.to_string()]);
    let input: String =
        questions.iter().map(|question| format!("{}\n", question.to_json())).collect();
    let run = support::run(&mut command, &input);
    assert!(matches!(run.status, Some(0 | 1)), "hiera-ls lookup --batch failed\n{}", run.stderr);

    // Answers may come node by node or question by question; those of one node are in order either
    // way.
    let mut answers: HashMap<String, Vec<Value>> = HashMap::new();
    for answer in json_lines("hiera-ls", &run.stdout) {
        let node = answer["node"]
            .as_str()
            .unwrap_or_else(|| panic!("an answer without a node: {answer}"))
            .to_owned();
        let of_node = answers.entry(node).or_default();
        let question =
            questions.get(of_node.len()).unwrap_or_else(|| panic!("one answer too many: {answer}"));
        assert_eq!(answer["key"], question.key.as_str(), "answers do not follow the questions");
        of_node.push(without_names(answer, root));
    }
    for (node, answers) in &answers {
        assert_eq!(
            answers.len(),
            questions.len(),
            "hiera-ls did not answer all questions for {node}\n{}",
            run.stderr
        );
    }
    answers
}

/// Asks Puppet all `questions` for every scope; `memory` states the data that one lookup may keep
/// for the next (see the oracle's README). Returns the answers of each node, in the order of scopes
/// and questions.
fn ask_puppet(
    root: &Path,
    scopes: &[Value],
    questions: &[Question],
    memory: &str,
) -> Vec<(String, Vec<Value>)> {
    let jobs: Vec<(Value, Vec<Question>)> =
        scopes.iter().map(|scope| (scope.clone(), questions.to_vec())).collect();
    scopes.iter().map(name_of).zip(ask_puppet_each(root, &jobs, memory)).collect()
}

/// Asks Puppet other questions for each scope. Returns the answers in the order of the jobs.
pub fn ask_puppet_each(
    root: &Path,
    jobs: &[(Value, Vec<Question>)],
    memory: &str,
) -> Vec<Vec<Value>> {
    ask_oracle(support::oracle(), root, jobs, memory)
}

/// Asks Puppet questions about several repositories. Returns the answers in the order of the jobs.
pub fn ask_puppet_in(jobs: &[(&Path, Value, Vec<Question>)], memory: &str) -> Vec<Vec<Value>> {
    ask_oracle_in(support::oracle(), jobs, memory)
}

/// Asks an oracle of some Puppet. Returns the answers in the order of the jobs.
pub fn ask_oracle(
    oracle: Command,
    root: &Path,
    jobs: &[(Value, Vec<Question>)],
    memory: &str,
) -> Vec<Vec<Value>> {
    let jobs = jobs.iter().map(|(scope, questions)| (root, scope.clone(), questions.clone()));
    ask_oracle_in(oracle, &jobs.collect::<Vec<_>>(), memory)
}

fn ask_oracle_in(
    mut oracle: Command,
    jobs: &[(&Path, Value, Vec<Question>)],
    memory: &str,
) -> Vec<Vec<Value>> {
    let mut oracle = oracle
        .args(["--workers", "2", "--seconds", "1800"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts: it told its version");
    let mut pipe = oracle.stdin.take().expect("stdin was asked to be a pipe");
    let lines =
        BufReader::new(oracle.stdout.take().expect("stdout was asked to be a pipe")).lines();
    let mut answered: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    std::thread::scope(|threads| {
        threads.spawn(move || {
            for (id, (root, scope, questions)) in jobs.iter().enumerate() {
                let questions: Vec<Value> = questions.iter().map(Question::to_json).collect();
                let job = json!({"id": id, "root": root, "scope": scope, "memory": memory, "questions": questions});
                writeln!(pipe, "{job}").expect("the oracle reads its jobs");
            }
        });
        for line in lines {
            let mut job: Value = serde_json::from_str(&line.expect("the oracle writes UTF-8"))
                .expect("the oracle writes JSON");
            assert!(job.get("failed").is_none(), "the oracle failed: {}", job["failed"]);
            let Value::Array(answers) = job["answers"].take() else {
                panic!("a job without answers")
            };
            let id = job["id"].as_u64().expect("a job's answer carries its id");
            let root = jobs[id as usize].0;
            answered.insert(
                id,
                answers.into_iter().map(|answer| without_names(answer, root)).collect(),
            );
        }
    });
    assert!(
        oracle.wait().expect("a child that was started can be waited for").success(),
        "the oracle failed"
    );
    assert_eq!(answered.len(), jobs.len(), "the oracle did not answer for every scope");
    answered.into_values().collect()
}

/// Returns an answer without the members that repeat the question, and without the path of the
/// repository in error messages.
fn without_names(mut answer: Value, root: &Path) -> Value {
    let fields = answer.as_object_mut().expect("an answer is an object");
    fields.shift_remove("key");
    fields.shift_remove("node");
    if let Some(Value::String(error)) = fields.get_mut("error") {
        *error = error.replace(&*root.to_string_lossy(), "<env>");
    }
    answer
}

pub fn needs_a_private_key(answer: &Value) -> bool {
    answer["error"]
        .as_str()
        .is_some_and(|error| error.starts_with("hiera-eyaml backend error decrypting"))
}

/// How many answers agree, and those that do not.
struct Tally {
    /// The name of the program that answered beside Puppet.
    who: &'static str,
    values: usize,
    not_found: usize,
    errors: usize,
    /// Errors on both sides with different words: not a difference, but worth a look.
    wordings: Vec<String>,
    differences: Vec<String>,
}

impl Tally {
    fn of(who: &'static str) -> Tally {
        Tally {
            who,
            values: 0,
            not_found: 0,
            errors: 0,
            wordings: Vec::new(),
            differences: Vec::new(),
        }
    }

    fn compare(&mut self, node: &str, question: &Question, expected: &Value, answer: &Value) {
        let error = |answer: &Value| answer["error"].as_str().map(str::to_owned);
        let side_by_side = || {
            let shown = |answer: &Value| shortened(&answer.to_string(), 400);
            format!(
                "{node}: {question}\n    {:10} {}\n    {:10} {}",
                "Puppet",
                shown(expected),
                self.who,
                shown(answer)
            )
        };
        match (error(expected), error(answer)) {
            (Some(theirs), Some(ours)) => {
                self.errors += 1;
                if theirs != ours {
                    self.wordings.push(side_by_side());
                }
            }
            (None, None) if same_json(expected, answer) => match expected["found"] == true {
                true => self.values += 1,
                false => self.not_found += 1,
            },
            _ => self.differences.push(side_by_side()),
        }
    }

    fn agreeing(&self) -> usize {
        self.values + self.not_found + self.errors
    }

    fn percentage(&self) -> f64 {
        100.0 * self.agreeing() as f64 / (self.agreeing() + self.differences.len()).max(1) as f64
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} agree ({} values, {} not found, {} errors), {} differ: {:.3}%",
            self.agreeing(),
            self.values,
            self.not_found,
            self.errors,
            self.differences.len(),
            self.percentage()
        )?;
        self.differences
            .iter()
            .take(50)
            .try_for_each(|difference| writeln!(f, "  {difference}"))?;
        if !self.wordings.is_empty() {
            writeln!(f, "{} errors have other words than Puppet's, such as:", self.wordings.len())?;
        }
        self.wordings.iter().take(10).try_for_each(|wording| writeln!(f, "  {wording}"))
    }
}
