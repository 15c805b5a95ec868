//! Servers for YAML in general, asked the questions that they answer, too. They know nothing of
//! Hiera: the rows show the time that users of such servers are used to.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::views::{asked, document, press};
use crate::Bench;
use crate::client::Client;
use crate::report::{Figure, Sample};
use crate::support::file_uri;

/// Commands of servers that speak over standard input and output, separated by semicolons.
const PEERS: &str = "HIERA_LS_PEERS";

/// The questions, each with its parameters beside the document.
const QUESTIONS: [(&str, &str); 3] = [
    ("symbols", "textDocument/documentSymbol"),
    ("completion of a key", "textDocument/completion"),
    ("hover", "textDocument/hover"),
];

/// The same questions to each peer and to the real server.
pub fn peers(bench: &Bench) -> Vec<Figure> {
    let commands = std::env::var(PEERS).unwrap_or_default();
    let commands = commands.split(';').map(str::trim).filter(|command| !command.is_empty());
    let repo = bench.repo(200, 60);
    let mut figures = Vec::new();
    for command in commands {
        let mut words = command.split_whitespace();
        let program = words.next().expect("a command has a word");
        let mut command = Command::new(program);
        command.args(words);
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
        figures.extend(measured(bench, &mut command, &name, &repo.root));
    }
    if figures.is_empty() {
        eprintln!("skipped: {PEERS} names no servers");
        return figures;
    }
    figures.extend(measured(bench, &mut bench.ours(), "hiera-ls", &repo.root));
    figures
}

fn measured(bench: &Bench, command: &mut Command, name: &str, root: &Path) -> Vec<Figure> {
    let mut client = Client::initialized(command, root, &json!({})).0;
    let uri = file_uri(root.join("data/common.yaml"));
    let mut figures = Vec::new();
    for lines in [1_000, bench.either(10_000, 2_000)] {
        client.open(&uri, 1, &document(lines));
        for (what, method) in QUESTIONS {
            let params = json!({
                "textDocument": {"uri": uri},
                "position": {"line": 1, "character": "view::".len()},
            });
            let mut times: Vec<Duration> = Vec::new();
            for n in 0..bench.either(60, 10) {
                client.change(&uri, &press(n));
                let (time, _) = asked(&mut client, method, &params);
                if n >= 5 {
                    times.push(time);
                }
            }
            figures
                .push(Figure::new(format!("{name}: {what}, {lines} lines"), Sample::times(&times)));
        }
        client.close(&uri);
    }
    figures
}
