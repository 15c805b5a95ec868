//! Lookups: as a process, and warm in the library.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hiera_ls::hiera::lookup::{Context, LOOKUP_OPTIONS, Resolver};
use hiera_ls::hiera::merge::{DeepOptions, Strategy};
use hiera_ls::hiera::request::LookupRequest;
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Snapshot;

use super::{Subject, scopes};
use crate::Bench;
use crate::library::workspace;
use crate::report::{Figure, Sample};

/// Every root key of a repository, in order.
fn keys(snapshot: &Snapshot) -> Vec<Arc<str>> {
    let mut keys: Vec<Arc<str>> =
        snapshot.keys().keys().filter(|key| &***key != LOOKUP_OPTIONS).cloned().collect();
    keys.sort();
    keys
}

/// Returns a request for each key, as `lookup --batch` makes them.
fn requests(keys: &[Arc<str>], merge: Option<&Strategy>) -> Vec<LookupRequest> {
    let merge = merge.cloned().map(Ok);
    let request =
        |key: &Arc<str>| LookupRequest { merge: merge.clone(), ..LookupRequest::for_name(key) };
    keys.iter().map(request).collect()
}

/// The scopes of the subject's nodes, and a file with only the first.
fn scope_files(
    bench: &Bench,
    subject: &Subject,
) -> Option<(std::path::PathBuf, std::path::PathBuf)> {
    let Some(all) = subject.scopes.clone() else {
        eprintln!("skipped: HIERA_LS_CORPUS_SCOPES is not set");
        return None;
    };
    let text = std::fs::read_to_string(&all).expect("the scopes can be read");
    let one = bench.scratch.join("scope.json");
    let first = text.lines().next().expect("there is a node");
    std::fs::create_dir_all(&bench.scratch)
        .and_then(|()| std::fs::write(&one, first))
        .expect("the scratch folder can be written to");
    Some((all, one))
}

/// Runs `hiera-ls lookup` with questions on stdin; gives how long it took, and how many lines it
/// answered.
fn lookup(root: &Path, scope: &Path, arguments: &[&str], questions: String) -> (Duration, usize) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
    command.arg("lookup").arg("--root").arg(root).arg("--scope").arg(scope).args(arguments);
    let begun = Instant::now();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("hiera-ls starts");
    let mut stdin = child.stdin.take().expect("stdin was asked to be a pipe");
    let writing = std::thread::spawn(move || drop(stdin.write_all(questions.as_bytes())));
    let mut stdout = child.stdout.take().expect("stdout was asked to be a pipe");
    let (mut buffer, mut lines) = (vec![0; 1 << 16], 0);
    while let Ok(count @ 1..) = stdout.read(&mut buffer) {
        lines += buffer[..count].iter().filter(|byte| **byte == b'\n').count();
    }
    child.wait().expect("a child that was started can be waited for");
    let time = begun.elapsed();
    writing.join().expect("writing does not panic");
    (time, lines)
}

fn questions(keys: &[Arc<str>]) -> String {
    keys.iter().map(|key| format!("{}\n", serde_json::json!({"key": &**key}))).collect()
}

/// One lookup, and all keys of one node, each by a process of its own.
pub fn process(bench: &Bench) -> Vec<Figure> {
    let subject = Subject::new(bench);
    let Some((_, one)) = scope_files(bench, &subject) else { return Vec::new() };
    let keys = keys(&workspace(&subject.root).snapshot());
    let (mut first, mut missing, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let has_value =
        |key: &&Arc<str>| lookup(&subject.root, &one, &[key.as_ref()], String::new()).1 > 0;
    let key = keys[keys.len() / 2..].iter().find(has_value).expect("the node has some value");
    for _ in 0..bench.either(15, 3) {
        first.push(lookup(&subject.root, &one, &[key.as_ref()], String::new()).0);
        missing.push(lookup(&subject.root, &one, &[&format!("{key}x")], String::new()).0);
        let (time, answers) =
            lookup(&subject.root, &one, &["--batch", "--merge", "deep"], questions(&keys));
        assert_eq!(answers, keys.len(), "each question has an answer");
        all.push(time);
    }
    let name = subject.name;
    vec![
        Figure::new(format!("lookup, spawn to answer ({name})"), Sample::times(&first))
            .at_most(40.0),
        Figure::new(
            format!("lookup of a misspelt key, spawn to the nearest one ({name})"),
            Sample::times(&missing),
        ),
        Figure::new(
            format!("all {} keys of one node, deep merge, as a process ({name})", keys.len()),
            Sample::times(&all),
        )
        .at_most(70.0),
    ]
}

/// Warm lookups of all keys of a node, in the library, on one core.
pub fn library(bench: &Bench) -> Vec<Figure> {
    let subject = Subject::new(bench);
    let Some((all, _)) = scope_files(bench, &subject) else { return Vec::new() };
    let workspace = workspace(&subject.root);
    let snapshot = workspace.snapshot();
    let root = FilePath::new(subject.root.to_str().expect("paths here are UTF-8"));
    let environment = snapshot
        .environments()
        .all
        .iter()
        .find(|it| it.root == root)
        .expect("the repository has a hiera.yaml");
    let view = snapshot.view(environment);
    let (keys, scopes) = (keys(&snapshot), scopes(&all));
    let deep = Strategy::Deep(DeepOptions::default());
    let resolver = |n: usize| {
        Resolver::new(Context {
            tolerant: false,
            ..snapshot.lookup_context(environment, &view, &scopes[n])
        })
    };

    let (deep, first) = (requests(&keys, Some(&deep)), requests(&keys, None));
    let answer = |resolver: &Resolver<'_>, requests: &[LookupRequest]| {
        let answers = requests.iter().map(|it| resolver.answer_request(it, &mut Vec::new()));
        answers.filter(|answer| matches!(answer, Ok(Some(_)))).count()
    };
    assert!(answer(&resolver(0), &deep) > 0, "the first node has some key");
    let timed = |n: usize| {
        let begun = Instant::now();
        answer(&resolver(n % scopes.len()), &deep);
        begun.elapsed()
    };
    let times: Vec<Duration> = (0..bench.either(40, 5)).map(timed).collect();

    let resolvers: Vec<Resolver<'_>> = (0..scopes.len().min(20)).map(resolver).collect();
    assert!(
        resolvers.iter().map(|resolver| answer(resolver, &first)).sum::<usize>() > 0,
        "some node has some key"
    );
    let speed = |resolver: &Resolver<'_>| {
        let begun = Instant::now();
        answer(resolver, &first);
        keys.len() as f64 / begun.elapsed().as_secs_f64()
    };
    let speeds: Vec<f64> = resolvers.iter().map(speed).collect();
    let name = subject.name;
    vec![
        Figure::new(
            format!("all {} keys of one node, deep merge, warm ({name})", keys.len()),
            Sample::times(&times),
        )
        .at_most(20.0),
        Figure::new(format!("warm lookups a second, one core ({name})"), Sample::new(speeds))
            .in_unit("1/s")
            .goal("at least 200,000", |ours| ours.p50() >= 2e5),
    ]
}

/// All keys of all nodes, by one process.
pub fn fleet(bench: &Bench) -> Vec<Figure> {
    let subject = Subject::new(bench);
    let Some((all, _)) = scope_files(bench, &subject) else { return Vec::new() };
    let keys = keys(&workspace(&subject.root).snapshot());
    let nodes = scopes(&all).len();
    let mut times = Vec::new();
    for _ in 0..bench.either(3, 1) {
        let (time, answers) = lookup(&subject.root, &all, &["--batch"], questions(&keys));
        assert_eq!(answers, keys.len() * nodes, "each question has an answer for each node");
        times.push(time);
    }
    vec![
        Figure::new(
            format!("all {} keys of all {nodes} nodes ({})", keys.len(), subject.name),
            Sample::times(&times),
        )
        .at_most(5_000.0),
    ]
}
