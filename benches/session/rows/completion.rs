//! Completion: keys and tokens in a half-typed line, beside the floor; and keys among 100,000.

use serde_json::json;

use super::Subject;
use crate::Bench;
use crate::client::{Client, LineEdit};
use crate::report::{Figure, Sample};
use crate::support::file_uri;

/// The text that is typed on a line of its own, up to the cursor.
const TYPED: [(&str, &str); 3] =
    [("a key", "profile::"), ("a token", "new: \"%{"), ("an argument", "new: \"%{lookup('p")];

/// Completion in an open file of the repository.
pub fn completion(bench: &Bench) -> Vec<Figure> {
    let subject = Subject::new(bench);
    let (path, text) = subject.files.first().expect("the repository has data");
    let mut clients = bench.both(&subject.root, &subject.options);
    let mut figures = measured(bench, &mut clients, &file_uri(path), text, subject.name);
    drop(clients);
    // One file has a key on each line.
    let mut repo = bench.repo(200, 60);
    let keys = bench.either(100_000, 2_000);
    let many: String = (0..keys).map(|n| format!("profile::many::key_{n}: {n}\n")).collect();
    let large = repo.root.join("data/large.yaml");
    std::fs::write(&large, &many).expect("the scratch folder can be written to");
    repo.files.push((large, many));
    let (path, text) = repo.files.first().expect("a repository has files").clone();
    let mut clients = bench.both(&repo.root, &json!({}));
    figures.extend(measured(bench, &mut clients, &file_uri(&path), &text, "100,000 keys"));
    figures
}

fn measured(
    bench: &Bench,
    clients: &mut [Client; 2],
    uri: &str,
    text: &str,
    name: &str,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (kind, typed) in TYPED {
        let line = middle(text);
        let mut lines: Vec<&str> = text.lines().collect();
        lines.insert(line, typed);
        let text = lines.join("\n") + "\n";
        let mut times = [Vec::new(), Vec::new()];
        for client in clients.iter_mut() {
            client.open(uri, 1, &text);
        }
        for n in 0..bench.either(1_000, 60) {
            for (client, times) in clients.iter_mut().zip(&mut times) {
                // Each question follows a key press behind the word, as in an editor.
                let edit = press(line, typed.len(), n);
                client.change(uri, &edit);
                let (time, _) = client.ask("textDocument/completion", uri, line, typed.len());
                if n >= 5 {
                    times.push(time);
                }
            }
        }
        for client in clients.iter_mut() {
            client.close(uri);
        }
        let [ours, floor] = times.map(|times| Sample::times(&times));
        let figure = Figure::new(format!("completion of {kind} ({name})"), ours).beside(floor);
        figures.push(figure.at_most_floor(4.0));
    }
    figures
}

/// Returns the number of a line in the middle of a text where an entry of the root begins. Users
/// type anywhere, and text before the first entry may change how a whole file is read.
fn middle(text: &str) -> usize {
    let begins_entry = |line: &str| {
        line.starts_with(|c: char| c.is_alphabetic())
            && (line.contains(": ") || line.ends_with(':'))
    };
    let lines = text.lines().enumerate().filter(|(_, line)| begins_entry(line));
    let entries: Vec<usize> = lines.map(|(number, _)| number).collect();
    entries.get(entries.len() / 2).copied().unwrap_or_default()
}

/// A letter behind the word, or its removal, in turn.
fn press(line: usize, column: usize, number: usize) -> LineEdit {
    let is_typed = number.is_multiple_of(2);
    let (end, text) = if is_typed { (column, "x") } else { (column + 1, "") };
    LineEdit { line, start: column, end, text: text.to_owned() }
}
