//! Nodes that are inferred from the names of files, and the hover in a shared file over all of
//! them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use crate::Bench;
use crate::library::workspace;
use crate::report::{Figure, Sample};
use crate::support::file_uri;

const CONFIG: &str = "version: 5
hierarchy:
  - {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
  - {name: Role, path: 'roles/%{role}.yaml'}
  - {name: Site, path: 'sites/%{site}.yaml'}
  - {name: Common, path: common.yaml}
";
const ROLES: [&str; 8] = ["api", "cache", "db", "dns", "login", "mail", "proxy", "web"];
const SITES: [&str; 3] = ["kyoto", "lima", "oslo"];
/// The keys of `data/common.yaml`, a line each: all nodes get the same value, some another one of
/// their own, each role and each site its own, and a text that asks for a variable.
const COMMON: &str = "motd: hello
port: 80
workers: 1
ntp: [ntp.example.net]
banner: 'this is %{role} in %{site}'
limits: {soft: 1, hard: 2}
lookup_options: {limits: {merge: deep}}
";
/// How many lines of `data/common.yaml` have a key to hover.
const KEYS: usize = 6;

/// Writes a control repository with so many nodes.
fn write(root: &Path, nodes: usize) {
    let put = |file: &str, text: &str| {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file in a scratch folder");
    };
    put("hiera.yaml", CONFIG);
    put("data/common.yaml", COMMON);
    for (number, role) in ROLES.iter().enumerate() {
        put(
            &format!("data/roles/{role}.yaml"),
            &format!("workers: {number}\nlimits: {{hard: {number}}}\n"),
        );
    }
    for site in SITES {
        put(&format!("data/sites/{site}.yaml"), &format!("ntp: [ntp.{site}.example.net]\n"));
    }
    for number in 0..nodes {
        let (role, site) = (ROLES[number % ROLES.len()], SITES[number % SITES.len()]);
        let own = if number % 40 == 0 { "port: 8080\n" } else { "" };
        put(
            &format!("data/nodes/{role}-{number:05}.{site}.example.net.yaml"),
            &format!("serial: n{number}\n{own}"),
        );
    }
}

/// The hover of the keys of a file that all nodes read, over two numbers of nodes; and how long it
/// takes to know the nodes once the names of files are known.
pub fn groups(bench: &Bench) -> Vec<Figure> {
    let sizes = bench.either([(575, 2.0), (10_000, 10.0)], [(100, 2.0), (400, 10.0)]);
    let mut figures = Vec::new();
    for (nodes, limit) in sizes {
        let root: PathBuf = bench.scratch.join(format!("nodes-{nodes}"));
        write(&root, nodes);
        figures.push(hovers(bench, &root, nodes, limit));
        figures.push(known(bench, &root, nodes));
    }
    figures
}

fn hovers(bench: &Bench, root: &Path, nodes: usize, limit: f64) -> Figure {
    let mut clients = bench.both(root, &json!({}));
    let shared = file_uri(root.join("data/common.yaml"));
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..bench.either(600, 30) {
        for (client, times) in clients.iter_mut().zip(&mut times) {
            let (time, answer) = client.ask("textDocument/hover", &shared, n % KEYS, 2);
            assert!(!answer.is_null(), "a hover of line {} is empty", n % KEYS + 1);
            if n >= KEYS {
                times.push(time); // The first round is not warm.
            }
        }
    }
    let [ours, floor] = times.map(|times| Sample::times(&times));
    Figure::new(format!("hover of a shared key, {nodes} inferred nodes"), ours)
        .beside(floor)
        .goal(format!("p50 at most {limit}"), |ours| ours.p50() <= limit)
}

fn known(bench: &Bench, root: &Path, nodes: usize) -> Figure {
    let times: Vec<_> = (0..bench.either(7, 2))
        .map(|_| {
            let snapshot = workspace(root).snapshot();
            let environment = &snapshot.environments().all[0];
            let start = Instant::now();
            assert_eq!(snapshot.nodes_of(environment).len(), nodes, "a node for each file");
            start.elapsed()
        })
        .collect();
    Figure::new(format!("{nodes} nodes inferred from known names"), Sample::times(&times))
        .goal("p50 at most 300", |ours| ours.p50() <= 300.0)
}
