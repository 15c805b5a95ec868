//! Refusals of the disk, one at a time, over the sample repository: each file that is read, each
//! folder that is listed, each write of a report. Nothing hangs, and nothing is missing without a
//! message: every answer is the same as on a sound disk, or an error, or a message reports the
//! fault.
//!
//! `transport/ends.rs` tests missing threads and missing memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Mutex;

use clap::Parser as _;
use hiera_ls::cli::{self, Arguments, Status};
use hiera_ls::diagnostics::check_all;
use hiera_ls::disk::{
    DiskEntry, FileSystem, OsFs, ReadError, Unlisted, UnlistedReason, Walk, WalkLimits,
};
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{Context, Resolver};
use hiera_ls::puppet::print::{PrintOptions, print_json};
use hiera_ls::settings::{self, Opened};
use hiera_ls::text::FilePath;

use crate::support::in_package;

/// A question that can be asked of a disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    Read(FilePath),
    List(FilePath),
}

/// The disk, which refuses one question, and remembers all that were asked.
#[derive(Default)]
struct Refusing {
    refused: Option<Question>,
    asked: Mutex<BTreeSet<Question>>,
}

impl Refusing {
    fn refuses(&self, question: Question) -> bool {
        let is_refused = self.refused.as_ref() == Some(&question);
        self.asked.lock().expect("no holder panics").insert(question);
        is_refused
    }
}

const WORDS: &str = "Input/output error (os error 5)";

impl FileSystem for Refusing {
    fn walk(&self, root: &FilePath, limits: &WalkLimits) -> Walk {
        let mut walk = OsFs.walk(root, limits);
        let is_folder = |(path, entry): (&FilePath, &DiskEntry)| {
            matches!(entry, DiskEntry::Folder { .. }).then(|| path.clone())
        };
        let folders: Vec<FilePath> = walk.entries.iter().filter_map(is_folder).collect();
        for folder in folders {
            if self.refuses(Question::List(folder.clone())) {
                walk.entries.retain(|path, _| *path == folder || !path.is_within(&folder));
                let reason = UnlistedReason::Io(WORDS.into());
                walk.unlisted.push(Unlisted { path: folder, reason });
            }
        }
        walk
    }

    fn read(&self, path: &FilePath, max_size: u64) -> Result<Vec<u8>, ReadError> {
        let is_there = OsFs.entry(path).is_some();
        if is_there && self.refuses(Question::Read(path.clone())) {
            return Err(ReadError::Other(WORDS.into()));
        }
        OsFs.read(path, max_size)
    }

    fn entry(&self, path: &FilePath) -> Option<DiskEntry> {
        OsFs.entry(path)
    }

    fn real_path(&self, path: &FilePath) -> Option<FilePath> {
        OsFs.real_path(path)
    }
}

fn sample() -> FilePath {
    FilePath::new(in_package("tests/control-repo").to_str().expect("paths here are UTF-8"))
}

fn opened(disk: &Refusing) -> Opened {
    settings::open(vec![sample()], &[], Vec::new(), disk)
}

/// The values of all keys for all nodes, by node and key; `None` for an error.
fn answers(opened: &Opened) -> BTreeMap<(String, String), Option<String>> {
    let snapshot = opened.workspace.snapshot();
    let mut all = BTreeMap::new();
    let keys: Vec<_> = snapshot.keys().keys().cloned().collect();
    for environment in &snapshot.environments().all {
        let view = snapshot.view(environment);
        for node in snapshot.nodes_of(environment) {
            let scope = node.scope_in(&environment.name);
            let context = snapshot.lookup_context(environment, &view, &scope);
            let resolver = Resolver::new(Context { tolerant: false, ..context });
            for key in &keys {
                let found = resolver.lookup(&LookupKey::of_root(key), None);
                let value = found.value.ok().map(|value| match value {
                    Some(value) => print_json(&value, &PrintOptions::default()),
                    None => "not found".into(),
                });
                all.insert((node.name.to_string(), key.to_string()), value);
            }
        }
    }
    all
}

/// Returns the messages beside answers: findings, and notes about folders, settings and sources of
/// nodes.
fn told(opened: &Opened) -> BTreeSet<String> {
    let snapshot = opened.workspace.snapshot();
    let findings = check_all(&snapshot, &opened.settings.rules);
    let findings = findings.iter().map(|it| format!("{}: {}", it.rule.code, it.message));
    let unlisted = opened.unlisted.iter().map(Unlisted::to_string);
    let problems = opened.problems.iter().map(|problem| format!("settings: {problem}"));
    let sources = snapshot.source_errors().iter().map(|(path, why)| format!("{path}: {why}"));
    findings.chain(unlisted).chain(problems).chain(sources).collect()
}

#[test]
fn what_the_disk_refuses_is_told_or_changes_nothing() {
    let sound = Refusing::default();
    let before = opened(&sound);
    let (right, usual) = (answers(&before), told(&before));
    let asked = sound.asked.into_inner().expect("no holder panics");
    let reads = asked.iter().filter(|it| matches!(it, Question::Read(_))).count();
    assert!(reads > 20 && asked.len() > reads + 8, "{reads} of {}", asked.len());
    assert!(right.len() > 50, "keys are looked up: {}", right.len());
    let mut silent = Vec::new();
    let mut differing = 0;
    for question in &asked {
        let disk = Refusing { refused: Some(question.clone()), ..Refusing::default() };
        let opened = opened(&disk);
        let now = answers(&opened);
        let is_lost = |(question, value): (&(String, String), &Option<String>)| {
            now.get(question).is_none_or(|now| now.is_some() && now != value)
        };
        let lost = right.iter().filter(|it| is_lost(*it)).count();
        differing += usize::from(now != right);
        let news = told(&opened);
        if lost > 0 && news.difference(&usual).next().is_none() {
            silent.push(format!("{question:?}: {lost} answers"));
        }
    }
    assert!(silent.is_empty(), "{} of {}:\n{}", silent.len(), asked.len(), silent.join("\n"));
    assert!(differing > 10, "faults have effects: {differing}");
}

#[test]
fn settings_and_sources_of_nodes_that_cannot_be_read_are_reported() {
    for name in [settings::FILE_NAME, "spec/facts/web-01.oslo.example.net.json"] {
        let refused = Some(Question::Read(sample().join(name)));
        let opened = opened(&Refusing { refused, ..Refusing::default() });
        let told = told(&opened);
        assert!(told.iter().any(|line| line.contains("Input/output error")), "{name}: {told:#?}");
    }
}

/// Takes some writes, and refuses those after them.
struct Full {
    left: usize,
    refused: bool,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(bytes.len())
            }
            None => {
                self.refused = true;
                Err(io::Error::from(io::ErrorKind::StorageFull))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_write_that_fails_fails_the_command() {
    let root = sample();
    let mut commands: Vec<Vec<&str>> = ["human", "json", "jsonl", "github", "sarif", "junit"]
        .map(|format| vec!["check", root.as_str(), "--format", format, "--fail-on", "hint"])
        .to_vec();
    commands.extend([
        vec!["nodes", "--root", root.as_str()],
        vec!["nodes", "--root", root.as_str(), "--json"],
        vec!["lookup", "--root", root.as_str(), "profile::base::motd", "--explain"],
        vec![
            "lookup",
            "--root",
            root.as_str(),
            "profile::web::vhosts",
            "--node",
            "web-01.oslo.example.net",
        ],
        vec!["rules"],
    ]);
    let run = |arguments: &[&str], left: usize| {
        let arguments = [&["hiera-ls"], arguments].concat();
        let command = Arguments::try_parse_from(&arguments).expect("they are arguments").command;
        let mut out = Full { left, refused: false };
        let status = cli::run(command.expect("it is a command"), &mut out);
        (status, out)
    };
    let mut refused = 0;
    for arguments in commands {
        let written = usize::MAX - run(&arguments, usize::MAX).1.left;
        // Each of the first writes fails in turn, and some of the others.
        for left in (0..written).filter(|left| *left < 6 || left % (written / 6).max(1) == 0) {
            let (status, out) = run(&arguments, left);
            assert!(out.refused, "{arguments:?} writes {written} times");
            assert_eq!(status, Status::CouldNotRun, "{arguments:?}, write {left}");
            refused += 1;
        }
    }
    assert!(refused > 30, "{refused} writes were refused");
}
