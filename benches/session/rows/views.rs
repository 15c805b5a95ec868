//! The requests of an editor for a whole document, or the workspace, after each key press: symbols,
//! semantic tokens and their differences, lenses and hints. Each is measured beside a hover of the
//! floor.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Bench;
use crate::client::{Client, LineEdit};
use crate::report::{Figure, Sample};
use crate::support::file_uri;

/// The answers about long documents and many keys.
pub fn views(bench: &Bench) -> Vec<Figure> {
    let mut figures = documents(bench);
    figures.push(workspace_symbols(bench));
    figures
}

/// A question about a document, with the longest p95 in ms that is aimed at, if one is.
struct Question {
    what: &'static str,
    method: &'static str,
    most: Option<f64>,
}

fn documents(bench: &Bench) -> Vec<Figure> {
    let long = bench.either(10_000, 1_000);
    let repo = bench.repo(200, 60);
    let mut clients = bench.both(&repo.root, &json!({}));
    let mut figures = Vec::new();
    let questions = [
        (1_000, "symbols", "textDocument/documentSymbol", Some(5.0)),
        // The answer about symbols is five times as long as the file.
        (long, "symbols", "textDocument/documentSymbol", None),
        (long, "semantic tokens", "textDocument/semanticTokens/full", Some(5.0)),
        (long, "changed semantic tokens", "textDocument/semanticTokens/full/delta", Some(1.0)),
        (1_000, "lenses", "textDocument/codeLens", Some(5.0)),
        (1_000, "hints", "textDocument/inlayHint", Some(5.0)),
    ];
    for (lines, what, method, most) in questions {
        let question = Question { what, method, most };
        let text = document(lines);
        let uri = file_uri(repo.root.join("data/common.yaml"));
        figures.push(asked_about(bench, &mut clients, &uri, &text, &question));
    }
    figures
}

/// Keys with tokens, one a line; other files define many of them, too.
pub(super) fn document(lines: usize) -> String {
    let line = |n: usize| match n % 4 {
        0 => format!(
            "view::key_{n}: \"%{{lookup('view::key_{}')}} at %{{facts.os.family}}\"\n",
            n + 1
        ),
        1 => format!("view::key_{n}: {n}\n"),
        2 => format!("view::key_{n}: \"%{{alias('view::none_{n}')}}\"\n"),
        _ => format!("view::key_{n}: [a, b, {n}]\n"),
    };
    (0..lines).map(line).collect()
}

fn asked_about(
    bench: &Bench,
    clients: &mut [Client; 2],
    uri: &str,
    text: &str,
    question: &Question,
) -> Figure {
    let lines = text.lines().count();
    let mut times = [Vec::new(), Vec::new()];
    let mut last = Value::Null;
    for client in clients.iter_mut() {
        client.open(uri, 1, text);
    }
    for n in 0..bench.either(300, 20) {
        for (number, (client, times)) in clients.iter_mut().zip(&mut times).enumerate() {
            client.change(uri, &press(n));
            let (time, answer) = match number {
                0 => asked(client, question.method, &about(uri, lines, &last)),
                _ => client.ask("textDocument/hover", uri, 0, 0),
            };
            if number == 0 {
                assert!(!answer.is_null(), "{} has no answer", question.method);
                last = answer["resultId"].clone();
            }
            if n >= 5 {
                times.push(time);
            }
        }
    }
    for client in clients.iter_mut() {
        client.close(uri);
    }
    let [ours, floor] = times.map(|times| Sample::times(&times));
    let figure = Figure::new(format!("{}, {lines} lines", question.what), ours).beside(floor);
    match question.most {
        Some(most) => {
            figure.goal(format!("p95 at most {most}"), move |ours| ours.quantile(0.95) <= most)
        }
        None => figure,
    }
}

/// The parameters of every question.
fn about(uri: &str, lines: usize, last: &Value) -> Value {
    json!({
        "textDocument": {"uri": uri},
        "range": {
            "start": {"line": 0, "character": 0},
            "end": {"line": lines, "character": 0},
        },
        "previousResultId": last.as_str().unwrap_or("none"),
    })
}

/// A digit at the end of the second line, or its removal, in turn.
pub(super) fn press(number: usize) -> LineEdit {
    let column = "view::key_1: 1".len();
    let is_typed = number.is_multiple_of(2);
    let (end, text) = if is_typed { (column, "7") } else { (column + 1, "") };
    LineEdit { line: 1, start: column, end, text: text.to_owned() }
}

fn workspace_symbols(bench: &Bench) -> Figure {
    let repo = bench.repo(200, 60);
    let keys = bench.either(100_000, 2_000);
    let many: String = (0..keys).map(|n| format!("profile::many::key_{n}: {n}\n")).collect();
    std::fs::write(repo.root.join("data/large.yaml"), many).expect("the folder can be written to");
    let [mut client, mut floor] = bench.both(&repo.root, &json!({}));
    let uri = file_uri(repo.root.join("data/common.yaml"));
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..bench.either(200, 20) {
        let query = ["pmk", "key_77", "many::k", "profile::"][n % 4];
        let (time, answer) = asked(&mut client, "workspace/symbol", &json!({"query": query}));
        assert!(answer.as_array().is_some_and(|found| !found.is_empty()), "{query}: {answer}");
        let (echoed, _) = floor.ask("textDocument/hover", &uri, 0, 0);
        if n >= 5 {
            times[0].push(time);
            times[1].push(echoed);
        }
    }
    let [ours, floor] = times.map(|times| Sample::times(&times));
    Figure::new(format!("symbols of the workspace, {keys} keys"), ours)
        .beside(floor)
        .goal("p95 at most 30", |ours| ours.quantile(0.95) <= 30.0)
}

/// Asks a question and waits; gives how long that took, and the answer.
pub(super) fn asked(client: &mut Client, method: &str, params: &Value) -> (Duration, Value) {
    let at = Instant::now();
    let id = client.request(method, params);
    let (answered, answer) = client.response(id);
    (answered - at, answer)
}
