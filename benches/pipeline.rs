//! The cost of each stage on a synthetic control repo: reading, an edit, a check, a hover, lookups.
//! Read the ratios, not the milliseconds.
//!
//! `cargo bench` runs it; the repo is made in memory, the same each time.

#![allow(missing_docs)] // criterion_group makes a public function

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hiera_ls::diagnostics::{RulesConfig, check_file};
use hiera_ls::disk::MemoryFs;
use hiera_ls::hiera::lookup::Resolver;
use hiera_ls::hiera::merge::{DeepOptions, Strategy};
use hiera_ls::hiera::request::LookupRequest;
use hiera_ls::ide::hover::{HoverConfig, hover};
use hiera_ls::text::{FilePath, FilePosition, TextRange};
use hiera_ls::workspace::files::scan;
use hiera_ls::workspace::{Change, Workspace, WorkspaceConfig};
use hiera_ls::yaml;

const NODES: usize = 300;
const KEYS: usize = 40;

/// A data file: plain values, hashes, lists, and a token in every fourth.
fn data(prefix: &str, keys: usize) -> String {
    let mut text = String::from("---\n");
    for n in 0..keys {
        match n % 4 {
            0 => text.push_str(&format!("profile::k{n}: {prefix} {n}\n")),
            1 => text.push_str(&format!(
                "profile::k{n}:\n  port: {n}\n  name: '{prefix}'\n  list: [a, {prefix}]\n"
            )),
            2 => text.push_str(&format!("profile::k{n}:\n  - {prefix}\n  - common\n")),
            _ => text.push_str(&format!(
                "profile::k{n}: \"%{{lookup('profile::k{}')}} for %{{role}}\"\n",
                n - 3
            )),
        }
    }
    text
}

fn workspace() -> (Workspace, FilePath) {
    let fs = MemoryFs::new();
    fs.write(
        "/repo/hiera.yaml",
        "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n",
    );
    fs.write("/repo/data/common.yaml", data("common", 250));
    for role in 0..20 {
        fs.write(&format!("/repo/data/roles/r{role}.yaml"), data("role", KEYS));
    }
    for node in 0..NODES {
        fs.write(&format!("/repo/data/nodes/n{node}.example.net.yaml"), data("node", KEYS));
    }
    let mut workspace = Workspace::new(WorkspaceConfig::default(), vec![FilePath::new("/repo")]);
    let scanned = scan::scan(&workspace.scan_request(), &fs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    (workspace, FilePath::new("/repo/data/nodes/n7.example.net.yaml"))
}

fn pipeline(criterion: &mut Criterion) {
    let common = data("common", 1_000);
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Bytes(common.len() as u64));
    group.bench_function("parse a file of 1,000 keys", |bencher| {
        bencher.iter(|| yaml::parse(black_box(&common)))
    });
    group.finish();

    let (mut workspace, path) = workspace();
    let rules = RulesConfig::default();
    let snapshot = workspace.snapshot();
    let environment =
        snapshot.environments().environment_of(&path).expect("the repo has an environment").clone();
    let scope = snapshot.scope_for(&environment, &path);
    let view = snapshot.view(&environment);
    let keys: Vec<Arc<str>> = snapshot.keys().keys().cloned().collect();
    let deep = Strategy::Deep(DeepOptions::default());
    let mut group = criterion.benchmark_group("answer");
    group.throughput(Throughput::Elements(keys.len() as u64));
    for (name, merge) in [("every key, first found", None), ("every key, merged deep", Some(&deep))]
    {
        group.bench_function(name, |bencher| {
            let request = |key: &Arc<str>| LookupRequest {
                merge: merge.cloned().map(Ok),
                ..LookupRequest::for_name(key)
            };
            let requests: Vec<LookupRequest> = keys.iter().map(request).collect();
            bencher.iter(|| {
                let resolver = Resolver::new(snapshot.lookup_context(&environment, &view, &scope));
                let answers =
                    requests.iter().map(|it| resolver.answer_request(it, &mut Vec::new()));
                answers.filter(Result::is_ok).count()
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("edit");
    let id = snapshot.file(&path).expect("the file is read").id;
    let link = |_: &FilePath, _: u32| String::new();
    let config = HoverConfig {
        markdown: true,
        link: Some(&link),
        max_value_lines: 40,
        ..HoverConfig::default()
    };
    group.bench_function("hover", |bencher| {
        bencher.iter(|| hover(&snapshot, FilePosition { file: id, offset: 8 }, &config))
    });
    let text = snapshot
        .file(&path)
        .and_then(|file| Some(file.text()?.to_str().into_owned()))
        .expect("a text");
    workspace.apply(Change::Open(path.clone(), text));
    group.bench_function("a character, then the file's findings", |bencher| {
        bencher.iter(|| {
            workspace
                .apply(Change::Edit(path.clone(), vec![(TextRange::new_empty(4), "#".into())]));
            check_file(&workspace.snapshot(), &path, &rules)
        });
    });
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
