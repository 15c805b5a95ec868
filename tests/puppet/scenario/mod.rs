//! A small control repository with questions: written to disk, asked of hiera-ls (as `hiera-ls
//! lookup --batch` would be) and of Puppet.
//!
//! Paths of files are relative to the environment, or start with `<global>/` for the global layer's
//! folder. In contents, `<env>` and `<global>` stand for the real folders; in answers they stand
//! for them again. A `<global>/hiera.yaml` with the content `<env>/hiera.yaml` names that file as the
//! global layer's. A content `<link TARGET>` makes a symbolic link, and `<byte ef>` stands for a byte
//! that no text can hold.
#![allow(dead_code, reason = "each suite uses its own part of this module")]

pub mod topic;

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use hiera_ls::disk::OsFs;
use hiera_ls::eyaml::EyamlConfig;
use hiera_ls::hiera::eyaml::Decryptor;
use hiera_ls::hiera::lookup::{Context, Resolver, parse_key};
use hiera_ls::hiera::merge::parse_strategy;
use hiera_ls::puppet::PuppetVersion;
use hiera_ls::puppet::print::{PrintOptions, print_json};
use hiera_ls::text::FilePath;
use hiera_ls::workspace::files::scan;
use hiera_ls::workspace::nodes::{from_json, literal_scope};
use hiera_ls::workspace::{Change, EnvironmentConfig, Workspace, WorkspaceConfig};
use serde_json::{Map, Value, json};

use crate::support;

/// A tree of files, a scope, and the questions in it.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    /// Path and content, in the order in which they are shown.
    pub files: Vec<(String, String)>,
    /// The top scope, taken literally.
    pub scope: Map<String, Value>,
    pub questions: Vec<Question>,
}

/// A key, and the merge argument of `lookup()`, if any.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub key: String,
    pub merge: Option<Value>,
    /// The question's other members, for the suites that know them.
    pub more: Map<String, Value>,
}

const GLOBAL: &str = "<global>/";

impl Question {
    pub fn new(key: impl Into<String>, merge: Option<Value>) -> Question {
        Question { key: key.into(), merge, more: Map::new() }
    }

    /// The question as both sides read it.
    pub fn to_json(&self) -> Value {
        match &self.merge {
            Some(merge) => json!({"key": self.key, "merge": merge}),
            None => json!({"key": self.key}),
        }
    }
}

impl Scenario {
    /// Writes the files below `dir`, and returns the tree that can be asked.
    pub fn write(&self, dir: &Path) -> Written<'_> {
        let written = Written { scenario: self, dir: dir.to_owned() };
        std::fs::create_dir_all(written.environment()).expect("a scratch folder can be made");
        for (path, content) in &self.files {
            let path = match path.strip_prefix(GLOBAL) {
                Some(path) => written.global().join(path),
                None => written.environment().join(path),
            };
            std::fs::create_dir_all(path.parent().expect("it lies in a folder"))
                .expect("a scratch folder can be made");
            let content = written.with_real_paths(content);
            match content.strip_prefix("<link ").and_then(|rest| rest.strip_suffix('>')) {
                Some(target) => std::os::unix::fs::symlink(target, &path),
                None => std::fs::write(&path, with_bytes(&content)),
            }
            .expect("a scratch file can be written");
        }
        written
    }

    /// The scenario in the format of `tests/puppet/conformance`.
    pub fn shown(&self) -> String {
        let mut out = format!(
            "- name: {}\n  scope: {}\n  files:\n",
            self.name,
            Value::Object(self.scope.clone())
        );
        for (path, content) in &self.files {
            let indented: String = content.lines().map(|line| format!("      {line}\n")).collect();
            out.push_str(&format!("    {path}: |\n{indented}"));
        }
        let questions: Vec<String> =
            self.questions.iter().map(|question| question.to_json().to_string()).collect();
        format!("{out}  ask: [{}]\n", questions.join(", "))
    }
}

/// A scenario on disk.
pub struct Written<'a> {
    scenario: &'a Scenario,
    dir: PathBuf,
}

impl Written<'_> {
    /// The environment's folder.
    pub fn environment(&self) -> PathBuf {
        self.dir.join("env")
    }

    fn global(&self) -> PathBuf {
        self.dir.join("global")
    }

    /// The global layer's `hiera.yaml`, if there is one.
    pub fn global_config(&self) -> Option<String> {
        let mut files = self.scenario.files.iter();
        let (_, content) = files.find(|(path, _)| path == "<global>/hiera.yaml")?;
        let config = match content.as_str() {
            "<env>/hiera.yaml" => self.environment(),
            _ => self.global(),
        };
        Some(config.join("hiera.yaml").to_str().expect("scratch paths are UTF-8").to_owned())
    }

    fn with_real_paths(&self, text: &str) -> String {
        text.replace("<env>", &self.environment().to_string_lossy())
            .replace("<global>", &self.global().to_string_lossy())
    }

    /// A text without the names of scratch folders.
    pub fn without_real_paths(&self, text: &str) -> String {
        text.replace(&*self.environment().to_string_lossy(), "<env>")
            .replace(&*self.global().to_string_lossy(), "<global>")
    }

    /// The top scope.
    pub fn scope(&self) -> Value {
        let text = self.with_real_paths(&Value::Object(self.scenario.scope.clone()).to_string());
        serde_json::from_str(&text).expect("paths hold nothing that JSON escapes")
    }

    /// Returns the answers of hiera-ls, in the order of the questions, like `hiera-ls lookup
    /// --batch --reveal-sensitive` does.
    pub fn ask_hiera_ls(&self, puppet: PuppetVersion) -> Vec<Value> {
        let questions = &self.scenario.questions;
        self.resolved(puppet, |context| {
            let resolver = Resolver::new(context);
            questions.iter().map(|question| self.tidy(answer_of(&resolver, question))).collect()
        })
    }

    /// Calls `ask` with the tree as hiera-ls reads it, and returns its result.
    pub fn resolved<T>(&self, puppet: PuppetVersion, ask: impl FnOnce(Context<'_>) -> T) -> T {
        let root = FilePath::new(&self.environment().to_string_lossy());
        let snapshot = self.workspace(puppet).snapshot();
        let environments = &snapshot.environments().all;
        let environment = environments
            .iter()
            .find(|environment| environment.root == root)
            .expect("a scenario has a hiera.yaml");
        let view = snapshot.view(environment);
        let mut scope = self.scope();
        if puppet.major >= 8 && scope["server_facts"].is_null() {
            // The oracle is no server: its node has none of a server's facts.
            scope["server_facts"] = json!({});
        }
        let scope = from_json(&scope);
        let scope = literal_scope(
            scope.as_hash().expect("it is made of one"),
            "scenario",
            "production",
            puppet,
        );
        let keys = snapshot.eyaml_decryptor(environment);
        let decryptor = keys.as_ref().map(|keys| keys as &dyn Decryptor);
        ask(Context {
            tolerant: false,
            decryptor,
            ..snapshot.lookup_context(environment, &view, &scope)
        })
    }

    /// The tree as hiera-ls reads it.
    pub fn workspace(&self, puppet: PuppetVersion) -> Workspace {
        let root = FilePath::new(&self.environment().to_string_lossy());
        // The path is the oracle's: without a config of the scenario, the global layer has Puppet's
        // defaults.
        let without = || format!("{}/no-global-layer/hiera.yaml", root.as_str());
        let global = self.global_config().unwrap_or_else(without);
        let config = WorkspaceConfig {
            global_hiera_config: Some(FilePath::new(&global)),
            common: EnvironmentConfig { puppet, ..EnvironmentConfig::default() },
            // Puppet always decrypts.
            eyaml: EyamlConfig {
                decrypt: true,
                key_folders: vec![FilePath::new("/")],
                ..EyamlConfig::default()
            },
            ..WorkspaceConfig::default()
        };
        let mut workspace = Workspace::new(config, vec![root]);
        let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        workspace
    }

    /// The job for the oracle.
    pub fn job(&self, id: usize) -> Value {
        let questions: Vec<Value> = self.scenario.questions.iter().map(Question::to_json).collect();
        let mut job = json!({"id": id, "root": self.environment(), "scope": self.scope(), "questions": questions});
        if let Some(global) = self.global_config() {
            job["global_hiera_config"] = global.into();
        }
        job
    }

    /// Returns an answer without the members that repeat the question, and without the names of
    /// scratch folders.
    pub fn tidy(&self, mut answer: Value) -> Value {
        let fields = answer.as_object_mut().expect("an answer is an object");
        fields.shift_remove("key");
        match serde_json::from_str(&self.without_real_paths(&answer.to_string())) {
            Ok(tidy) => tidy,
            Err(error) => panic!("an answer became no JSON: {error}"),
        }
    }
}

/// A content with the bytes that it names.
fn with_bytes(content: &str) -> Vec<u8> {
    let mut pieces = content.split("<byte ");
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (byte, rest) = piece.split_once('>').expect("a byte ends with >");
        bytes.push(u8::from_str_radix(byte, 16).expect("a byte has two hexadecimal digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

/// Returns the answer of a resolver.
pub fn answer_of(resolver: &Resolver<'_>, question: &Question) -> Value {
    let merge = match &question.merge {
        None => Ok(None),
        Some(given) => parse_strategy(&from_json(given)).map_err(|error| error.to_string()),
    };
    let found = merge.and_then(|merge| {
        parse_key(&question.key)
            .and_then(|key| resolver.lookup(&key, merge.as_ref()).value)
            .map_err(|error| error.revealed_message())
    });
    match found {
        Ok(Some(value)) => {
            let text = print_json(
                &value,
                &PrintOptions {
                    reveal_sensitive: true,
                    reveal_decrypted: true,
                    ..PrintOptions::default()
                },
            );
            let value: Value = serde_json::from_str(&text).expect("values are printed as JSON");
            json!({"found": true, "value": value})
        }
        Ok(None) => json!({"found": false}),
        Err(message) => json!({"error": message}),
    }
}

/// The version of the Puppet that the oracle asks, with its default settings. Call only after
/// `require("puppet")`.
pub fn oracle_puppet() -> PuppetVersion {
    PuppetVersion::of_major(support::puppet_major())
}

/// A running oracle.
pub struct Puppet {
    process: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Puppet {
    /// Starts the oracle; call only after `require("puppet")`.
    pub fn start() -> Puppet {
        Puppet::start_with(&[])
    }

    /// Starts the oracle with settings of Puppet's.
    pub fn start_with(arguments: &[&str]) -> Puppet {
        let mut process = support::oracle()
            .args(["--workers", "2"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the oracle starts: it told its version");
        let input = process.stdin.take();
        let output =
            BufReader::new(process.stdout.take().expect("stdout was asked to be a pipe")).lines();
        Puppet { process, input, output }
    }

    /// Answers for many trees, in their order.
    pub fn ask_all(&mut self, trees: &[Written<'_>]) -> Vec<Vec<Value>> {
        let answers = self.ask_all_in_time(trees).into_iter();
        answers
            .map(|answered| answered.unwrap_or_else(|reason| panic!("the oracle failed: {reason}")))
            .collect()
    }

    /// Answers for many trees, in their order; for one that took longer than the oracle's
    /// `--seconds`, the oracle's message about that.
    pub fn ask_all_in_time(&mut self, trees: &[Written<'_>]) -> Vec<Result<Vec<Value>, String>> {
        let mut answers: Vec<Option<Result<Vec<Value>, String>>> = vec![None; trees.len()];
        let input = self.input.as_mut().expect("it is open until the end");
        let output = &mut self.output;
        std::thread::scope(|threads| {
            threads.spawn(move || {
                for (id, tree) in trees.iter().enumerate() {
                    writeln!(input, "{}", tree.job(id)).expect("the oracle reads its jobs");
                }
                input.flush().expect("the oracle reads its jobs");
            });
            for _ in 0..trees.len() {
                let line = output
                    .next()
                    .expect("the oracle answers every job")
                    .expect("the oracle writes UTF-8");
                let mut job: Value = serde_json::from_str(&line).expect("the oracle writes JSON");
                let id = job["id"].as_u64().expect("a job's answer carries its id") as usize;
                answers[id] = Some(match (job["failed"].take(), job["answers"].take()) {
                    (Value::Null, Value::Array(found)) => {
                        Ok(found.into_iter().map(|answer| trees[id].tidy(answer)).collect())
                    }
                    (reason, _) => Err(reason.to_string()),
                });
            }
        });
        answers.into_iter().map(|found| found.expect("every job was answered")).collect()
    }

    /// Answers for one tree.
    pub fn ask(&mut self, tree: &Written<'_>) -> Vec<Value> {
        self.ask_all(std::slice::from_ref(tree)).remove(0)
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        drop(self.input.take());
        drop(self.process.wait());
    }
}

/// How two answers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    Same,
    /// Both are errors, with different words.
    OtherWords,
    Different,
}

pub fn compare(expected: &Value, answer: &Value) -> Agreement {
    // Ruby shows the line of its own source below the message of an error of its own.
    let message = |answer: &Value| {
        answer["error"]
            .as_str()
            .map(|text| text.split("\n\n").next().unwrap_or_default().to_owned())
    };
    match (message(expected), message(answer)) {
        (Some(theirs), Some(ours)) if theirs == ours => Agreement::Same,
        (Some(_), Some(_)) => Agreement::OtherWords,
        _ if support::same_json(expected, answer) => Agreement::Same,
        _ => Agreement::Different,
    }
}
