//! Hover with the effective value, and definition.

use serde_json::json;

use super::Subject;
use crate::Bench;
use crate::report::{Figure, Sample};
use crate::support::file_uri;
use crate::support::random::Random;

/// Where to ask: the address, line and column of a root key.
pub(super) type Place = (String, usize, usize);

/// The root keys of some files, as far as they stand at the start of a line.
pub(super) fn keys(
    files: &[(std::path::PathBuf, String)],
    wanted: impl Fn(&str) -> bool,
) -> Vec<Place> {
    let mut places = Vec::new();
    for (path, text) in files {
        for (line, content) in text.lines().enumerate() {
            let is_key =
                content.contains(':') && content.starts_with(|c: char| c.is_ascii_lowercase());
            if is_key && !content.starts_with("lookup_options") && wanted(content) {
                places.push((file_uri(path), line, 2));
            }
        }
    }
    places
}

/// Hover and definition over keys of all files.
pub fn requests(bench: &Bench) -> Vec<Figure> {
    let subject = Subject::new(bench);
    let name = subject.name;
    let mut figures =
        measured(bench, &subject.root, &subject.options, name, &keys(&subject.files, |_| true));
    // Every key of this choice is merged deep over some levels.
    let repo = bench.repo(1_000, 60);
    let deep = keys(&repo.files, |line| line.contains("::settings_"));
    figures.extend(measured(bench, &repo.root, &json!({}), "synthetic, merged deep", &deep));
    figures
}

fn measured(
    bench: &Bench,
    root: &std::path::Path,
    options: &serde_json::Value,
    name: &str,
    places: &[Place],
) -> Vec<Figure> {
    let mut clients = bench.both(root, options);
    let mut random = Random::new(7);
    let mut figures = Vec::new();
    for method in ["hover", "definition"] {
        let mut times = [Vec::new(), Vec::new()];
        for n in 0..bench.either(1_000, 60) {
            let (uri, line, column) = random.pick(places);
            for (client, times) in clients.iter_mut().zip(&mut times) {
                let (time, answer) =
                    client.ask(&format!("textDocument/{method}"), &uri, line, column);
                assert!(!answer.is_null(), "a {method} of the key at {uri}:{} is empty", line + 1);
                if n >= 5 {
                    times.push(time);
                }
            }
        }
        let [ours, floor] = times.map(|times| Sample::times(&times));
        let figure = Figure::new(format!("{method} of a key ({name})"), ours).beside(floor);
        figures.push(match method {
            "hover" => figure.at_most_floor(4.0).and_p99(5.0),
            _ => figure.goal("p95 at most 5", |ours| ours.quantile(0.95) <= 5.0),
        });
    }
    figures
}
