//! Starting: until `initialize` is answered, until the repository is indexed, with all of it open,
//! and with a large one; and memory.

use std::path::Path;
use std::time::{Duration, Instant};

use hiera_ls::diagnostics::{RulesConfig, check_file};
use serde_json::{Value, json};

use super::Subject;
use super::edits::{Editing, in_turns};
use crate::Bench;
use crate::client::Client;
use crate::library::workspace;
use crate::report::{Figure, Sample};
use crate::support::file_uri;

/// A finding of this rule needs the index of all files.
const NEEDS_INDEX: &str = "unknown-key";

/// A file with such a finding.
fn witness(root: &Path) -> (String, String) {
    let workspace = workspace(root);
    let snapshot = workspace.snapshot();
    let has_it = |path| {
        check_file(&snapshot, path, &RulesConfig::default())
            .iter()
            .any(|finding| finding.rule.code == NEEDS_INDEX)
    };
    let file = snapshot
        .files()
        .find(|file| has_it(&file.path))
        .expect("some file asks for a key that no level defines");
    (
        file_uri(Path::new(file.path.as_str())),
        file.text().expect("it is a text").to_str().into_owned(),
    )
}

/// Starts a server, opens a file at once, and waits for a finding that needs all the others.
fn indexed(
    bench: &Bench,
    root: &Path,
    options: &Value,
    (uri, text): &(String, String),
) -> (Client, Instant) {
    let (mut client, _) = Client::initialized(&mut bench.ours(), root, options);
    client.open(uri, 1, text);
    let at = client.diagnostics_that(uri, 1, |it| it.has(NEEDS_INDEX)).at;
    (client, at)
}

fn megabytes(bytes: &[u64]) -> Sample {
    Sample::new(bytes.iter().map(|bytes| *bytes as f64 / f64::from(1 << 20)).collect())
}

/// Returns both figures of memory, where the system reports them.
pub(super) fn memory(what: &str, seen: &[(u64, u64)], limit: f64) -> Vec<Figure> {
    if seen.is_empty() {
        return Vec::new();
    }
    let (now, highest): (Vec<u64>, Vec<u64>) = seen.iter().copied().unzip();
    vec![
        Figure::new(format!("memory, {what}"), megabytes(&now)).in_unit("MiB").at_most(limit),
        Figure::new(format!("memory, {what}: highest by then"), megabytes(&highest)).in_unit("MiB"),
    ]
}

/// From the start of the process.
pub fn start(bench: &Bench) -> Vec<Figure> {
    let subject = Subject::new(bench);
    let (root, name) = (subject.root.as_path(), subject.name);
    let mut answered = [Vec::new(), Vec::new()];
    for _ in 0..bench.either(40, 5) {
        for (command, answered) in [bench.ours(), bench.floor()].iter_mut().zip(&mut answered) {
            let (client, at) = Client::initialized(command, root, &json!({}));
            answered.push(at - client.started);
            client.stop();
        }
    }
    let [ours, floor] = answered.map(|times| Sample::times(&times));
    let witness = witness(root);
    let (mut times, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..bench.either(15, 3) {
        let (mut client, at) = indexed(bench, root, &json!({}), &witness);
        times.push(at - client.started);
        client.quiet(Duration::from_millis(100));
        seen.extend(client.memory());
    }
    let mut figures = vec![
        Figure::new("spawn to initialize answered", ours).beside(floor).at_most(10.0),
        Figure::new(
            format!("spawn to indexed ({name}, {} files)", subject.files.len()),
            Sample::times(&times),
        )
        .at_most(80.0),
    ];
    figures.extend(memory("indexed", &seen, 40.0));
    figures
}

/// All files of a repository opened at once.
pub fn open_all(bench: &Bench) -> Vec<Figure> {
    let subject = Subject::new(bench);
    let (mut times, mut seen) = ([Vec::new(), Vec::new()], Vec::new());
    for _ in 0..bench.either(3, 1) {
        let mut clients = bench.both(&subject.root, &json!({}));
        for (n, client) in clients.iter_mut().enumerate() {
            client.quiet(Duration::from_millis(200));
            let begun = Instant::now();
            for (path, text) in &subject.files {
                client.open(&file_uri(path), 1, text);
            }
            let last = subject
                .files
                .iter()
                .map(|(path, _)| client.diagnostics(&file_uri(path), 1).at)
                .max();
            times[n].push(last.expect("there are files") - begun);
            if n == 0 {
                client.quiet(Duration::from_millis(500));
                seen.extend(client.memory());
            }
        }
    }
    let [ours, floor] = times.map(|times| Sample::times(&times));
    let what = format!(
        "open all {} files to the last diagnostics ({})",
        subject.files.len(),
        subject.name
    );
    let mut figures = vec![Figure::new(what, ours).beside(floor).at_most_floor(2.0)];
    figures.extend(memory("all of it open", &seen, 80.0));
    figures
}

/// A repository of 10,000 files and 1,000,000 lines.
pub fn large(bench: &Bench) -> Vec<Figure> {
    let (files, lines) = bench.either((10_000, 100), (1_500, 40));
    let mut repo = bench.repo(files, lines);
    let file = repo.add_large(1_000);
    let what = format!("{files} files, {} lines", repo.lines());
    let open = (file_uri(&file.path), file.text.clone());
    let (mut times, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..bench.either(3, 1) {
        let (mut client, at) = indexed(bench, &repo.root, &json!({}), &open);
        times.push(at - client.started);
        client.quiet(Duration::from_millis(500));
        seen.extend(client.memory());
    }
    let mut figures = vec![
        Figure::new(format!("{what}: spawn to indexed"), Sample::times(&times)).at_most(1_500.0),
    ];
    figures.extend(memory(&what, &seen, 600.0));

    let mut small = bench.repo(files / 10, lines);
    let small_file = small.add_large(1_000);
    let [ours, floor] = Editing::both(bench, &repo, &file);
    let [in_small, _] = Editing::both(bench, &small, &small_file);
    let [ours, floor, in_small] = &in_turns(&mut [ours, floor, in_small], bench.either(60, 9))[..]
    else {
        unreachable!("three in, three out")
    };
    let limit = in_small.p50() * 1.5;
    figures.push(
        Figure::new(
            format!("edit to diagnostics, 1,000 lines, among {} files", files / 10),
            in_small.clone(),
        )
        .beside(floor.clone()),
    );
    figures.push(
        Figure::new(format!("the same among {files} files"), ours.clone())
            .beside(floor.clone())
            .goal(format!("p50 at most 1.5x that among {}", files / 10), |ours| {
                ours.p50() <= limit
            }),
    );
    figures
}

/// How many files a checkout swaps, of how many.
const SWAPPED: usize = 10;

/// A checkout that swaps a tenth of the files on disk, beside the first reading of all of them.
pub fn rescan(bench: &Bench) -> Vec<Figure> {
    let (files, lines) = bench.either((10_000, 100), (1_500, 40));
    let mut repo = bench.repo(files, lines);
    let file = repo.add_large(1_000);
    let open = (file_uri(&file.path), file.text.clone());
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for _ in 0..bench.either(3, 1) {
        let (mut client, at) = indexed(bench, &repo.root, &json!({}), &open);
        first.push(at - client.started);
        client.quiet(Duration::from_millis(500));
        for round in 0..bench.either(4, 2) {
            // In one round, a swapped file defines the key that the open file asks for in vain. In
            // the next round, the swapped file no longer defines the key.
            let token = &file.probes[0].token;
            let defines = round % 2 == 0;
            let swapped = repo
                .files
                .iter()
                .filter(|(path, _)| *path != file.path)
                .skip(round)
                .step_by(SWAPPED);
            for (n, (path, text)) in swapped.enumerate() {
                let definition =
                    if n == 0 && defines { format!("{token}: 1\n") } else { String::new() };
                let text = format!("{text}swapped::in_{round}_{n}: {round}\n{definition}");
                std::fs::write(path, text).expect("the scratch folder can be written to");
            }
            if !defines {
                let (path, text) = repo
                    .files
                    .iter()
                    .filter(|(path, _)| *path != file.path)
                    .nth(round - 1)
                    .expect("there are files");
                std::fs::write(path, text).expect("the scratch folder can be written to");
            }
            let told = client.notify("workspace/didChangeWatchedFiles", &json!({"changes": []}));
            let right = |it: &crate::client::Published| it.says(&format!("'{token}'")) != defines;
            again.push(client.diagnostics_that(&open.0, 1, right).at - told);
            client.quiet(Duration::from_millis(500));
        }
        repo.files.iter().for_each(|(path, text)| {
            std::fs::write(path, text).expect("the scratch folder can be written to")
        });
    }
    let (first, again) = (Sample::times(&first), Sample::times(&again));
    let limit = first.p50() / 4.0;
    vec![
        Figure::new(format!("{files} files: first reading, spawn to indexed"), first),
        Figure::new(
            format!(
                "the same after a checkout swapped {} of them: told to findings",
                files / SWAPPED
            ),
            again,
        )
        .goal("p50 at most 0.25x the first reading", |ours| ours.p50() <= limit),
    ]
}
