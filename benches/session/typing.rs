//! A long session at the keyboard: bursts of random edits in a few files, with requests in between,
//! which must be answered.
//!
//! Every burst ends with an edit of the file's first entry, a probe, whose finding names a key that
//! no other burst names: an answer is right only when it names that key, and comes for the last
//! version.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use hiera_ls::text::FilePath;
use hiera_ls::workspace::Change;
use serde_json::{Value, json};

use super::client::Client;
use super::generate::{Probed, Repo};
use super::library::{findings, workspace};
use crate::support::file_uri;
use crate::support::random::Random;

/// The observations.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Answers for a version that was answered for before a later one, or that was never sent.
    pub stale: usize,
    /// Resident memory in bytes after each burst.
    pub memory: Vec<u64>,
    /// How long a hover took that was sent amid a burst.
    pub hovers: Vec<Duration>,
    /// How long after a burst's last edit the right findings came.
    pub settled: Vec<Duration>,
    /// The files whose last answer differs from the library's findings for their last text, with
    /// both.
    pub wrong: Vec<String>,
}

impl Outcome {
    /// By which share the memory of the last quarter is above that of the first.
    pub fn memory_growth(&self) -> Option<f64> {
        let quarter = (self.memory.len() / 4).max(1);
        let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len() as f64;
        let first = mean(self.memory.get(..quarter)?);
        Some(mean(&self.memory[self.memory.len() - quarter..]) / first - 1.0)
    }
}

/// An open file as the editor has it.
struct Document {
    path: PathBuf,
    uri: String,
    original: Vec<String>,
    lines: Vec<String>,
}

impl Document {
    fn text(lines: &[String]) -> String {
        lines.concat()
    }

    /// Replaces bytes of a line, or lines, and gives the protocol's change for it.
    fn replace(
        &mut self,
        (line, start): (usize, usize),
        (end_line, end): (usize, usize),
        text: &str,
    ) -> Value {
        let place = |line: usize, column: usize| json!({"line": line, "character": column});
        let tail = self.lines.get(end_line).map_or("", |last| &last[end..]);
        let joined =
            format!("{}{text}{tail}", self.lines.get(line).map_or("", |first| &first[..start]));
        let after = (end_line + 1).min(self.lines.len());
        self.lines.splice(line..after, joined.split_inclusive('\n').map(str::to_owned));
        json!({"range": {"start": place(line, start), "end": place(end_line, end)}, "text": text})
    }

    /// Returns an edit as a user might make it next. The first two lines are the probe's.
    fn random_edit(&mut self, random: &mut Random) -> Value {
        if self.lines.len() > self.original.len() * 5 / 4
            || self.lines.len() < self.original.len() / 2
            || random.one_in(2_000)
        {
            let probe = self.lines[1].clone();
            self.lines.clone_from(&self.original);
            self.lines[1] = probe;
            return json!({"text": Document::text(&self.lines)}); // Reverted.
        }
        let line = 2 + random.below(self.lines.len() - 2);
        let length = self.lines[line].trim_end_matches('\n').len();
        let within = |random: &mut Random, text: &str| {
            let mut column = random.below(length + 1);
            while !text.is_char_boundary(column) {
                column -= 1;
            }
            column
        };
        let column = within(random, &self.lines[line]);
        match random.below(12) {
            0..=4 => {
                let typed = random.pick(&[
                    "x", " ", "ø", "7", "'", "\"", ":", "-", "%{", "}", "#", "é", "\n", "[", "]",
                ]);
                self.replace((line, column), (line, column), typed)
            }
            5 | 6 => {
                let (from, to) = (column, within(random, &self.lines[line]));
                self.replace((line, from.min(to)), (line, from.max(to)), "")
            }
            7 => self.replace(
                (line, 0),
                (line, 0),
                "typed::key: \"%{lookup('profile::nginx::settings_0')}\"\n",
            ),
            8 if line + 1 < self.lines.len() => self.replace((line, 0), (line + 1, 0), ""),
            9 => {
                let copied = self.lines[2 + random.below(self.lines.len() - 2)].clone();
                self.replace((line, 0), (line, 0), &copied)
            }
            10 => {
                let block = "pasted::hash:\n  one: [1, 2]\n  two: &two {a: b}\n  three: *two\n";
                self.replace((line, 0), (line, 0), block)
            }
            _ => {
                // The edit restores the original line.
                let mended = self.original[line.min(self.original.len() - 1)].clone();
                if line + 1 < self.lines.len() {
                    self.replace((line, 0), (line + 1, 0), &mended)
                } else {
                    self.replace((line, 0), (line, 0), "")
                }
            }
        }
    }
}

/// Runs a session of about so many edits in the file and some others of the repository.
pub fn session(
    command: &mut Command,
    repo: &Repo,
    file: &Probed,
    edits: usize,
    random: &mut Random,
) -> Outcome {
    let (mut client, _) = Client::initialized(command, &repo.root, &json!({}));
    let others = (0..3).map(|_| random.pick(&repo.files));
    let mut documents: Vec<Document> = Vec::new();
    for (path, text) in std::iter::once((file.path.clone(), file.text.clone())).chain(others) {
        let uri = file_uri(&path);
        if documents.iter().any(|document| document.uri == uri) {
            continue;
        }
        let text = format!(
            "---\nprobe::first: \"%{{lookup('nowhere')}}\"\n{}",
            text.trim_start_matches("---\n")
        );
        client.open(&uri, 1, &text);
        let original: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        documents.push(Document { path, uri, lines: original.clone(), original });
    }
    client.progress_end();
    let mut outcome = Outcome::default();
    let mut done = 0;
    while done < edits {
        let number = random.below(documents.len());
        let document = &mut documents[number];
        let size = random.pick(&[1, 1, 2, 5, 12, 40]);
        let mut asked = Vec::new();
        for n in 0..size {
            let change = document.random_edit(random);
            client.change_with(&document.uri, change);
            if random.one_in(8) || n == size / 2 {
                let method = random.pick(&["textDocument/hover", "textDocument/definition"]);
                let line = random.below(document.lines.len());
                asked.push((
                    Instant::now(),
                    method,
                    client.ask_only(method, &document.uri, line, random.below(30)),
                ));
            }
        }
        done += size + 1;
        let key = format!("nowhere::after_{done}");
        let before = document.lines[1].trim_end().len();
        let change = document.replace(
            (1, 0),
            (1, before),
            &format!("probe::first: \"%{{lookup('{key}')}}\""),
        );
        let (version, sent) = client.change_with(&document.uri, change);
        let right =
            client.diagnostics_that(&document.uri, version, |it| it.says(&format!("'{key}'")));
        outcome.settled.push(right.at - sent);
        for (sent, method, id) in asked {
            // The answer may be the error that the text has changed since: that is an answer, too.
            let (answered, _) = client.response_or_error(id);
            if method == "textDocument/hover" {
                outcome.hovers.push(answered - sent);
            }
        }
        outcome.memory.extend(client.memory().map(|(now, _)| now));
    }
    let mut fresh = workspace(&repo.root);
    for document in &documents {
        let path = FilePath::new(document.path.to_str().expect("paths here are UTF-8"));
        fresh.apply(Change::Open(path, Document::text(&document.lines)));
    }
    let expected =
        |document: &Document| (document.uri.clone(), findings(&fresh.snapshot(), &document.path));
    let expected: Vec<_> = documents.iter().map(expected).collect();
    client.settle(Duration::from_millis(500), &expected);
    outcome.stale = client.stale;
    for (uri, expected) in expected {
        let said = client.told(&uri);
        if said != expected {
            outcome
                .wrong
                .push(format!("{uri}: the server says {said:#?}, the library {expected:#?}"));
        }
    }
    client.stop();
    outcome
}
