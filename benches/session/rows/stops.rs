//! Work whose result is no longer needed: requests that are cancelled, and findings that an edit
//! has made obsolete.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Bench;
use crate::client::Client;
use crate::generate::{PROBES, Part};
use crate::report::{Figure, Sample};
use crate::support::file_uri;

/// The longest time that counts as "at once", in milliseconds.
const AT_ONCE: f64 = 20.0;
/// How long work goes on before it is stopped.
const UNDER_WAY: Duration = Duration::from_millis(5);

/// Requests that take long, taken back: until that is answered, and until others are answered
/// again.
pub fn cancel(bench: &Bench) -> Vec<Figure> {
    let (files, lines) = bench.either((10_000, 100), (1_500, 40));
    let mut repo = bench.repo(files, lines);
    let (path, text, line) = repo.add_huge_merge(bench.either(4_000, 1_000));
    let (mut client, _) = Client::initialized(&mut bench.ours(), &repo.root, &json!({}));
    client.progress_end();
    let document = file_uri(&path);
    client.open(&document, 1, &text);
    client.diagnostics(&document, 1);
    client.quiet(Duration::from_millis(500));
    let place =
        json!({"textDocument": {"uri": document}, "position": {"line": line, "character": 2}});
    let long: [(&str, &str, Value); 3] = [
        ("all data of a node", "hiera/effectiveData", json!({"textDocument": {"uri": document}})),
        ("hover of a huge merge", "textDocument/hover", place.clone()),
        ("story of a huge merge", "hiera/explain", place),
    ];
    long.iter()
        .flat_map(|(what, method, params)| cancelled(bench, &mut client, (what, method, params)))
        .collect()
}

fn cancelled(
    bench: &Bench,
    client: &mut Client,
    (what, method, params): (&str, &str, &Value),
) -> Vec<Figure> {
    let short =
        json!({"textDocument": params["textDocument"], "position": {"line": 2, "character": 2}});
    let whole = |client: &mut Client| {
        let begun = Instant::now();
        let id = client.request(method, params);
        client.response(id).0 - begun
    };
    let whole: Vec<Duration> = (0..bench.either(5, 2)).map(|_| whole(client)).collect();
    let (mut answered, mut free) = (Vec::new(), Vec::new());
    // The client sends as many requests as the server works on at a time.
    let slots = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    for round in 0..bench.either(40, 6) {
        let ids: Vec<i64> = (0..slots).map(|_| client.request(method, params)).collect();
        if round % 2 == 0 {
            std::thread::sleep(UNDER_WAY * (round / 2 % 4 + 1));
        }
        let sent: Vec<Instant> = ids.iter().map(|id| client.cancel(*id)).collect();
        let begun = Instant::now();
        let id = client.request("textDocument/hover", &short);
        free.push(client.response(id).0 - begun);
        for (id, sent) in ids.into_iter().zip(sent) {
            let (at, is_cancelled) = client.cancelled(id);
            if is_cancelled {
                answered.push(at - sent);
            }
        }
    }
    assert!(!answered.is_empty(), "every {method} was answered before it could be taken back");
    vec![
        Figure::new(format!("{what}, not taken back"), Sample::times(&whole)),
        Figure::new("the same, taken back: until that is answered", Sample::times(&answered))
            .at_most(AT_ONCE)
            .and_p99(AT_ONCE),
        Figure::new(
            "the same, as many as there are cores: until a short hover is answered",
            Sample::times(&free),
        )
        .at_most(AT_ONCE)
        .and_p99(AT_ONCE),
    ]
}

/// An edit while a long file is looked at: until the edit's findings.
pub fn superseded(bench: &Bench) -> Vec<Figure> {
    let lines = bench.either(100_000, 10_000);
    let mut repo = bench.repo(300, 60);
    let long = repo.add_large(lines);
    let mut edited = repo.add_for_site(1_000);
    let (mut client, _) = Client::initialized(&mut bench.ours(), &repo.root, &json!({}));
    client.progress_end();
    let (long_uri, edited_uri) = (file_uri(&long.path), file_uri(&edited.path));
    client.open(&edited_uri, 1, &edited.text);
    client.diagnostics(&edited_uri, 1);
    client.quiet(Duration::from_millis(500));
    let mut edit = |client: &mut Client, n: usize| {
        std::thread::sleep(UNDER_WAY);
        let edit =
            edited.probes[n % PROBES].type_or_delete([Part::Value, Part::Key, Part::Token][n % 3]);
        let (version, sent) = client.change(&edited_uri, &edit);
        client.diagnostics(&edited_uri, version).at - sent
    };
    let (mut opened, mut told, mut reconfigured) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.either(20, 4) {
        let sent = client.open(&long_uri, 1, &long.text);
        opened.push(edit(&mut client, round));
        told.push(client.diagnostics(&long_uri, 1).at - sent);
        client.quiet(Duration::from_millis(100));
        let severity = ["hint", "info"][round % 2];
        let settings = json!({"hiera": {"rules": {"unknown-key": severity}}});
        client.notify("workspace/didChangeConfiguration", &json!({"settings": settings}));
        reconfigured.push(edit(&mut client, round));
        client.quiet(Duration::from_millis(500));
        client.close(&long_uri);
        client.quiet(Duration::from_millis(100));
    }
    vec![
        Figure::new(
            format!("a file of {lines} lines is opened, 5 ms later another is edited: edit to diagnostics"),
            Sample::times(&opened),
        )
        .at_most(AT_ONCE),
        Figure::new("the same: opening to diagnostics of the long file", Sample::times(&told)),
        Figure::new(
            "settings change while both are open, 5 ms later one is edited: edit to diagnostics",
            Sample::times(&reconfigured),
        )
        .at_most(AT_ONCE),
    ]
}
