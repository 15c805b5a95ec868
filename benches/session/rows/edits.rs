//! Typing: an edit in files of three lengths, a burst, opening a file, and a long session.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::Bench;
use crate::client::Client;
use crate::generate::{PROBES, Part, Probed, Repo};
use crate::report::{Figure, Sample};
use crate::support::file_uri;
use crate::support::random::{self, Random};
use crate::typing;

/// How many files the repository around an edited file has, and how many lines each.
const AROUND: (usize, usize) = (300, 60);

/// A server with a file open, and the file's probes as they stand in it.
pub struct Editing {
    client: Client,
    uri: String,
    file: Probed,
}

impl Editing {
    /// Both servers with the file open.
    pub fn both(bench: &Bench, repo: &Repo, file: &Probed) -> [Editing; 2] {
        bench.both(&repo.root, &json!({})).map(|mut client| {
            let uri = file_uri(&file.path);
            client.open(&uri, 1, &file.text);
            client.diagnostics(&uri, 1);
            // The client waits for the open file's findings, and for those of the whole repository.
            client.quiet(Duration::from_millis(300));
            Editing { client, uri, file: file.clone() }
        })
    }

    /// One edit of a probe; how long until the findings for it come.
    pub fn edit(&mut self, probe: usize, part: Part) -> Duration {
        let edit = self.file.probes[probe].type_or_delete(part);
        let (version, sent) = self.client.change(&self.uri, &edit);
        self.client.diagnostics(&self.uri, version).at - sent
    }
}

/// Some edits in turns: of each server, how long the findings took.
pub fn in_turns(servers: &mut [Editing], count: usize) -> Vec<Sample> {
    let mut times = vec![Vec::new(); servers.len()];
    for n in 0..count {
        let part = [Part::Value, Part::Key, Part::Token][n % 3];
        for (server, times) in servers.iter_mut().zip(&mut times) {
            let time = server.edit(n * 7 % PROBES, part);
            if n >= 3 {
                times.push(time); // The first ones warm up.
            }
        }
    }
    times.iter().map(|times| Sample::times(times)).collect()
}

/// An edit in files of 1,000, 10,000 and 100,000 lines.
pub fn edits(bench: &Bench) -> Vec<Figure> {
    let sizes = bench.either([1_000, 10_000, 100_000], [1_000, 4_000, 10_000]);
    let mut samples = Vec::new();
    // Each size has its own repository: a long file would be part of the others' index.
    for (lines, count) in sizes.into_iter().zip(bench.either([400, 300, 60], [30, 15, 6])) {
        let mut repo = bench.repo(AROUND.0, AROUND.1);
        let file = repo.add_large(lines);
        let mut servers = Editing::both(bench, &repo, &file);
        samples.push(in_turns(&mut servers, count));
    }
    let name = |n: usize| format!("edit to diagnostics, {} lines", sizes[n]);
    let figure =
        |n: usize| Figure::new(name(n), samples[n][0].clone()).beside(samples[n][1].clone());
    let longer = |n: usize, times: f64| {
        let limit =
            samples[0][0].p50() * times + (samples[n][1].p50() - samples[0][1].p50()).max(0.0);
        figure(n).goal(
            format!("p50 at most {times}x our own of {} lines, plus floor's growth", sizes[0]),
            |ours| ours.p50() <= limit,
        )
    };
    vec![figure(0).at_most_floor(4.0).and_p99(10.0), longer(1, 1.5), longer(2, 3.0)]
}

/// How a file is made other than plain.
type Kind = (&'static str, fn(&mut Repo, usize) -> Probed);

const KINDS: [Kind; 5] = [
    ("plain", Repo::add_large),
    ("with anchors that entries share", |repo, lines| repo.add_large(lines).with_shared_anchors()),
    ("of JSON", Repo::add_large_json),
    ("with 120 findings", |repo, lines| repo.add_large(lines).with_findings(12)),
    ("with 500 findings", |repo, lines| repo.add_large(lines).with_findings(50)),
];

/// An edit in files of one size that are plain, and that are not.
pub fn kinds(bench: &Bench) -> Vec<Figure> {
    let (lines, count) = (bench.either(10_000, 4_000), bench.either(300, 15));
    let sample = |(_, add): &Kind| {
        let mut repo = bench.repo(AROUND.0, AROUND.1);
        let file = add(&mut repo, lines);
        in_turns(&mut Editing::both(bench, &repo, &file), count)
    };
    let samples: Vec<_> = KINDS.iter().map(sample).collect();
    let plain = samples[0][0].p50();
    let figure = |((name, _), samples): (&Kind, &Vec<Sample>)| {
        Figure::new(format!("edit to diagnostics, {lines} lines, {name}"), samples[0].clone())
            .beside(samples[1].clone())
            .goal("p50 at most 1.5x the plain file's", |ours| ours.p50() <= 1.5 * plain)
    };
    KINDS.iter().zip(&samples).map(figure).collect()
}

/// Half-typed texts in the middle of a file.
const BROKEN: [(&str, &str); 4] = [
    ("an open quote", "half::typed: \"open"),
    ("an open bracket", "half::typed: [open"),
    ("a wrong indentation", "half::typed: 'closed'\n  member: 1"),
    ("half a key", "half::ty"),
];

/// An edit, while an entry in the middle of the file is broken.
pub fn broken(bench: &Bench) -> Vec<Figure> {
    let sizes = bench.either([10_000, 100_000], [2_000, 4_000]);
    let mut figures = Vec::new();
    for (lines, count) in sizes.into_iter().zip(bench.either([120, 30], [9, 6])) {
        for (what, entry) in BROKEN {
            let mut repo = bench.repo(AROUND.0, AROUND.1);
            let file = repo.add_large(lines).with_broken(entry);
            let [ours, floor] =
                <[Sample; 2]>::try_from(in_turns(&mut Editing::both(bench, &repo, &file), count))
                    .expect("two servers");
            figures.push(
                Figure::new(
                    format!("edit to diagnostics, {lines} lines, with {what} in the middle"),
                    ours,
                )
                .beside(floor),
            );
        }
    }
    figures
}

/// Thirty edits without waiting, and a hundred: from the last one to the findings that are right.
pub fn burst(bench: &Bench) -> Vec<Figure> {
    [30, 100].into_iter().flat_map(|keys| burst_of(bench, keys)).collect()
}

fn burst_of(bench: &Bench, keys: usize) -> Vec<Figure> {
    let mut repo = bench.repo(AROUND.0, AROUND.1);
    let file = repo.add_large(1_000);
    let mut servers = Editing::both(bench, &repo, &file);
    let (mut times, mut answers, mut stale) =
        (vec![Vec::new(), Vec::new()], vec![Vec::new(), Vec::new()], 0);
    for round in 0..bench.either(60, 6) {
        for (n, server) in servers.iter_mut().enumerate() {
            let before = server.client.answers;
            let probe = &mut server.file.probes[round % PROBES];
            let mut last = (0, Instant::now());
            for key in 0..keys {
                last = server.client.change(
                    &server.uri,
                    &probe.type_in_token(if key % 2 == 0 { 'a' } else { 'b' }),
                );
            }
            let token = if n == 0 { probe.token.clone() } else { String::new() };
            let right =
                |it: &crate::client::Published| token.is_empty() || it.says(&format!("'{token}'"));
            let came = server.client.diagnostics_that(&server.uri, last.0, right).at;
            times[n].push(came - last.1);
            server.client.quiet(Duration::from_millis(50));
            answers[n].push((server.client.answers - before) as f64);
            stale += server.client.stale;
            let (version, _) = server
                .client
                .change(&server.uri, &server.file.probes[round % PROBES].delete_in_token(keys));
            server.client.diagnostics(&server.uri, version);
        }
    }
    let answers: Vec<Sample> = answers.into_iter().map(Sample::new).collect();
    vec![
        Figure::new(
            format!("burst of {keys} edits: last one to right diagnostics"),
            Sample::times(&times[0]),
        )
        .beside(Sample::times(&times[1]))
        .at_most(2.0),
        Figure::new(format!("answers to a burst of {keys} ({stale} stale)"), answers[0].clone())
            .beside(answers[1].clone())
            .in_unit("answers"),
    ]
}

/// Opening a long file.
pub fn open_file(bench: &Bench) -> Vec<Figure> {
    let lines = bench.either(10_000, 4_000);
    let mut repo = bench.repo(AROUND.0, AROUND.1);
    let file = repo.add_large(lines);
    let mut clients = bench.both(&repo.root, &json!({}));
    let uri = file_uri(&file.path);
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..bench.either(30, 5) {
        // The text differs from round to round, so that the server can remember nothing.
        let text = file.text.replacen("---", &format!("--- # {round}"), 1);
        for (client, times) in clients.iter_mut().zip(&mut times) {
            let sent = client.open(&uri, 1, &text);
            times.push(client.diagnostics(&uri, 1).at - sent);
            client.close(&uri);
            client.quiet(Duration::from_millis(150));
        }
    }
    let [ours, floor] = times.map(|times| Sample::times(&times));
    vec![
        Figure::new(format!("open a file of {lines} lines to diagnostics"), ours)
            .beside(floor)
            .at_most_floor(3.0),
    ]
}

/// A long session: memory, and that no answer is stale.
pub fn typing_session(bench: &Bench) -> Vec<Figure> {
    let mut repo = bench.repo(AROUND.0, AROUND.1);
    let file = repo.add_large(1_000);
    let seed = random::seed("typing");
    let edits = bench.either(20_000, 500);
    let outcome = typing::session(&mut bench.ours(), &repo, &file, edits, &mut Random::new(seed));
    outcome.wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    let bad = (outcome.stale + outcome.wrong.len()) as f64;
    let growth = outcome.memory_growth().map_or(f64::NAN, |growth| growth * 100.0);
    vec![
        Figure::new(
            format!("{edits} edits: memory, last quarter against first"),
            Sample::new(vec![growth]),
        )
        .in_unit("% growth")
        .goal("at most 5", |ours| ours.p50() <= 5.0),
        Figure::new("the same: stale or wrong answers", Sample::new(vec![bad]))
            .in_unit("answers")
            .goal("0", |ours| ours.p50() == 0.0),
        Figure::new("the same: a hover amid a burst of edits", Sample::times(&outcome.hovers)),
        Figure::new(
            "the same: last edit of a burst to right diagnostics",
            Sample::times(&outcome.settled),
        ),
    ]
}
