//! A large fleet of nodes with unknown facts: the cost of the same data for 1,000 and for 10,000
//! nodes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::starts::memory;
use crate::Bench;
use crate::client::Client;
use crate::fleet_shape::{FleetShape, large_fleet};
use crate::report::{Figure, Sample};
use crate::support::file_uri;

/// The check of a repository, the hover in two files that many nodes read, and the opening of the
/// longest file, for two numbers of nodes.
pub fn large_fleets(bench: &Bench) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut costs = Vec::new();
    for nodes in bench.either([1_000, 10_000], [100, 400]) {
        let full = large_fleet(nodes);
        let shape = bench.either(full, FleetShape { roles: 10, keys: 800, lines: 30_000, ..full });
        let root = bench.scratch.join(format!("fleet-{nodes}"));
        shape.write(&root);
        let (wall, cost) = check(&root, &[]);
        figures.push(Figure::new(format!("check, {nodes} nodes"), Sample::times(&[wall])));
        costs.extend(cost);
        if let Some(cost) = cost {
            let what = format!("check, {nodes} nodes: processor time");
            figures.push(Figure::new(what, Sample::times(&[cost])).at_most(10_000.0));
        }
        let (wall, _) = check(&root, &["--select", "syntax-error"]);
        let what = format!("check --select syntax-error, {nodes} nodes");
        figures.push(Figure::new(what, Sample::times(&[wall])));
        figures.extend(session(bench, &root, nodes));
        let _ = fs::remove_dir_all(&root);
    }
    if let [few, many] = costs[..] {
        let ratio = Sample::new(vec![many.as_secs_f64() / few.as_secs_f64()]);
        let what = "check: processor time for ten times the nodes";
        figures.push(Figure::new(what, ratio).in_unit("x").at_most(3.0));
    }
    figures
}

/// Runs `check`; returns how long it took, and its processor time where the system tells it.
fn check(root: &Path, arguments: &[&str]) -> (Duration, Option<Duration>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
    command.arg("check").arg("--root").arg(root).args(arguments);
    let (before, begun) = (processor_time_of_children(), Instant::now());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let wall = begun.elapsed();
    assert!(status.is_ok_and(|status| status.code().is_some()), "hiera-ls ends by itself");
    let cost = processor_time_of_children().zip(before).map(|(after, before)| after - before);
    (wall, cost)
}

/// Returns the processor time of all processes that this one has waited for, as Linux counts it;
/// `None` elsewhere.
fn processor_time_of_children() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may hold blanks; the times of children are fields 16 and 17.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(13..15)?.iter().filter_map(|text| text.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks * 10)) // A tick is a hundredth of a second.
}

fn session(bench: &Bench, root: &Path, nodes: usize) -> Vec<Figure> {
    let mut figures = Vec::new();
    let (mut opened, mut complete) = (Vec::new(), Vec::new());
    let common = root.join("data/common.yaml");
    let text = fs::read_to_string(&common).expect("it was written");
    let mut seen = Vec::new();
    for _ in 0..bench.either(3, 1) {
        let mut client = start(bench, root);
        let begun = client.open(&file_uri(&common), 1, &text);
        opened.push(
            client.diagnostics_that(&file_uri(&common), 1, |it| !it.diagnostics.is_empty()).at
                - begun,
        );
        client.quiet(Duration::from_secs(1));
        complete.extend(client.latest(&file_uri(&common)).map(|last| last.at - begun));
        seen.extend(client.memory());
        client.stop();
    }
    let what = |what: &str| format!("{what}, {nodes} nodes");
    figures.push(
        Figure::new(
            what("opening a file of 22000 lines to first findings"),
            Sample::times(&opened),
        )
        .at_most(200.0),
    );
    figures.push(Figure::new(what("the same: to all findings"), Sample::times(&complete)));
    figures.extend(memory(&what("a large fleet"), &seen, 200.0));
    let mut client = start(bench, root);
    for (name, path) in
        [("common.yaml", common), ("a role's file", root.join("data/roles/role03.yaml"))]
    {
        let lines = fs::read_to_string(&path).expect("it was written").lines().count();
        let count = bench.either(300, 30);
        let mut times = Vec::new();
        for n in 0..count {
            let line = 5 + n * (lines - 10) / count;
            let (time, _) = client.ask("textDocument/hover", &file_uri(&path), line, 3);
            times.push(time);
        }
        let goal = |ours: &Sample| ours.quantile(0.95) <= 20.0;
        let figure = Figure::new(what(&format!("hover in {name}")), Sample::times(&times));
        figures.push(figure.goal("p95 at most 20", goal));
    }
    client.stop();
    figures
}

fn start(bench: &Bench, root: &Path) -> Client {
    let mut client = Client::initialized(&mut bench.ours(), root, &json!({})).0;
    client.progress_end();
    client
}
