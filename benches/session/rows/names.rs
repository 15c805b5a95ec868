//! References of keys, and the rename of a key that many files have.

use std::time::Instant;

use serde_json::{Value, json};

use super::Subject;
use super::requests::keys;
use crate::Bench;
use crate::client::Client;
use crate::report::{Figure, Sample};
use crate::support::file_uri;
use crate::support::random::Random;

/// How many files have the key that is renamed.
const FILES: usize = 500;
/// That key.
const KEY: &str = "named_in_many_files";

/// References of random keys, and the rename of a key in many files.
pub fn names(bench: &Bench) -> Vec<Figure> {
    vec![references(bench), rename(bench)]
}

fn references(bench: &Bench) -> Figure {
    let subject = Subject::new(bench);
    let places = keys(&subject.files, |_| true);
    let [mut client, floor] = bench.both(&subject.root, &subject.options);
    floor.stop();
    let mut random = Random::new(7);
    let mut times = Vec::new();
    for n in 0..bench.either(1_000, 60) {
        let (uri, line, column) = random.pick(&places);
        let params = json!({
            "textDocument": {"uri": uri},
            "position": {"line": line, "character": column},
            "context": {"includeDeclaration": true},
        });
        let (time, answer) = asked(&mut client, "textDocument/references", &params);
        assert!(!answer.is_null(), "the key at {uri}:{} has no references", line + 1);
        if n >= 5 {
            times.push(time);
        }
    }
    Figure::new(format!("references of a key ({})", subject.name), Sample::times(&times))
        .goal("p95 at most 5", |ours| ours.quantile(0.95) <= 5.0)
}

fn rename(bench: &Bench) -> Figure {
    let repo = bench.repo(1_000, 60);
    let files: Vec<_> = repo.files.iter().take(FILES).collect();
    for (path, text) in &files {
        std::fs::write(path, format!("{text}{KEY}: 1\n")).expect("a file can be written");
    }
    let [mut client, floor] = bench.both(&repo.root, &json!({}));
    floor.stop();
    let (path, text) = files[0];
    let params = json!({
        "textDocument": {"uri": file_uri(path)},
        "position": {"line": text.lines().count(), "character": 2},
        "newName": "renamed_in_many_files",
    });
    let mut times = Vec::new();
    for n in 0..bench.either(100, 10) {
        let (time, answer) = asked(&mut client, "textDocument/rename", &params);
        let changed = answer["changes"].as_object().map(|changes| changes.len());
        assert_eq!(changed, Some(FILES), "{answer}");
        if n >= 3 {
            times.push(time);
        }
    }
    // Other rows use the same files, without the key.
    for (path, text) in &files {
        std::fs::write(path, text).expect("a file can be written");
    }
    let sample = Sample::times(&times);
    Figure::new(format!("rename of a key in {FILES} files"), sample)
        .goal("p95 at most 50", |ours| ours.quantile(0.95) <= 50.0)
}

fn asked(client: &mut Client, method: &str, params: &Value) -> (std::time::Duration, Value) {
    let at = Instant::now();
    let id = client.request(method, params);
    let (answered, answer) = client.response(id);
    (answered - at, answer)
}
