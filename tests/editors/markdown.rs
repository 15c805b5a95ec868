//! Hovers of hostile repositories in the Markdown engine of VS Code: no link and no image that is
//! not the server's own.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{self, in_package, npm, scratch, write_file};
use crate::transport_client::Server;

/// Texts that end or begin markup, in case some place does not escape them.
const ATTACKS: [&str; 14] = [
    r"|\r\r![p](https://evil.example/p.png)",
    r"\n\n[x](https://evil.example)",
    r"\r\n\r\n<img src=https://evil.example/p.png>",
    r"`\r\r[x](https://evil.example)`",
    r"``` ![p](https://evil.example/p.png)",
    r"](https://evil.example)",
    r"https://evil.example/a",
    r"www.evil.example",
    r"me@evil.example",
    r"mailto:me@evil.example",
    r"<https://evil.example>",
    r"\u2028\u2028![p](https://evil.example/p.png)",
    r"\v\f\x85![p](https://evil.example/p.png)",
    r"\\](https://evil.example) **x** _y_ ~~z~~ &lt;",
];

fn repository(name: &str, attack: &str) -> std::path::PathBuf {
    let root = scratch(name);
    let quoted = |prefix: &str| format!("\"{prefix}{}\"", attack.replace('"', "\\\""));
    let config = format!(
        "version: 5\nhierarchy:\n- name: {0}\n  path: common.yaml\n- name: {0}\n  data_hash: {1}\n  path: other.yaml\n- name: uris\n  data_hash: {1}\n  uri: {0}\n- name: paths\n  path: {0}\n",
        quoted("n"),
        quoted("backend"),
    );
    let data = format!(
        "lookup_options:\n  {}: {{merge: unique}}\n  {}: {{merge: {{strategy: deep, knockout_prefix: {}}}, convert_to: {}}}\napp::list: [{}]\n{}: {}\ntoken: \"%{{lookup('missing')}} %{{facts.x}}\"\nfails: \"%{{lookup({})}}\"\n",
        quoted("^app"),
        quoted("k"),
        quoted("--"),
        quoted("T"),
        quoted("v"),
        quoted("k"),
        quoted("v"),
        quoted("").replace('"', "'"),
    );
    for (path, text) in [("hiera.yaml", &config), ("data/common.yaml", &data)] {
        write_file(root.join(path), text);
    }
    root
}

/// The hovers at every fourth column of a repository's files.
fn hovers(root: &std::path::Path) -> Vec<String> {
    let mut server = Server::start();
    let address = |path: &str| support::file_uri(root.join(path));
    let capabilities = json!({"textDocument": {"hover": {"contentFormat": ["markdown"]}}});
    let params = json!({"processId": null, "rootUri": address(""), "capabilities": capabilities});
    server.send(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}));
    server.answers_until("i");
    server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let mut found = Vec::new();
    for path in ["hiera.yaml", "data/common.yaml"] {
        let text = std::fs::read_to_string(root.join(path)).expect("it was written");
        for (line, text) in text.split('\n').enumerate() {
            for column in (0..=text.len()).step_by(4) {
                let place = json!({"textDocument": {"uri": address(path)},
                                   "position": {"line": line, "character": column}});
                let request = json!({"jsonrpc": "2.0", "id": "h", "method": "textDocument/hover", "params": place});
                server.send(&request);
                let (_, answer) = server.answers_until("h");
                let hover = answer["result"]["contents"]["value"].as_str().map(str::to_owned);
                found.extend(hover);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn hovers_have_no_links_but_the_servers_own() {
    let modules = match npm::with_packages("markdown", &["marked@14.0.0"]) {
        Ok(modules) => modules,
        Err(obstacle) => {
            support::missing("npm", &obstacle);
            return;
        }
    };
    let script = in_package("tests/editors/markdown.mjs");
    let addresses = |hovers: &[String]| -> Vec<String> {
        let mut node = Command::new("node");
        let run = support::run(node.arg(&script).arg(&modules), json!(hovers).to_string());
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let found: Value = serde_json::from_str(&run.stdout).expect("the script prints JSON");
        serde_json::from_value(found).expect("they are texts")
    };
    let control = ["[a](https://a.example) ![b](c) www.d.example <i>".to_owned()];
    assert_eq!(addresses(&control).len(), 4, "the script finds what there is");
    for (n, attack) in ATTACKS.iter().enumerate() {
        let root = repository(&format!("markdown-{n}"), attack);
        let hovers = hovers(&root);
        assert!(hovers.len() >= 3, "{attack}: {hovers:#?}");
        let own = support::file_uri(&root) + "/";
        let foreign: Vec<String> =
            addresses(&hovers).into_iter().filter(|address| !address.starts_with(&own)).collect();
        assert_eq!(foreign, Vec::<String>::new(), "{attack}: {hovers:#?}");
    }
}
