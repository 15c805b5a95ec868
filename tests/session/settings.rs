//! Settings that a client pushes, to a server that cannot ask for them.

use std::fs;

use serde_json::json;

use crate::client::Client;
use crate::support::{self, file_uri};

/// The severities of findings in the settings and in the protocol.
const SEVERITIES: [(&str, u64); 2] = [("info", 3), ("warning", 2)];

#[test]
fn of_settings_that_are_pushed_at_once_the_last_win() {
    let root = support::scratch("pushed");
    fs::write(root.join("hiera.yaml"), "version: 5\nhierarchy: [{name: All, path: all.yaml}]\n")
        .expect("the scratch folder can be written to");
    fs::create_dir_all(root.join("data")).expect("the scratch folder can be written to");
    let (file, text) = (root.join("data/all.yaml"), "a: 1\na: 2\n");
    fs::write(&file, text).expect("the scratch folder can be written to");
    let mut command = support::hiera_ls(["server"]);
    let (mut client, _) = Client::initialized(&mut command, &root, &json!({}));
    client.open(&file_uri(&file), 1, text);
    for round in 0..100 {
        let (last, number) = SEVERITIES[round % 2];
        for severity in ["hint", "error", last] {
            let settings = json!({"hiera": {"rules": {"duplicate-key": severity}}});
            client.notify("workspace/didChangeConfiguration", &json!({"settings": settings}));
        }
        client.diagnostics_that(&file_uri(&file), 1, |published| {
            published.diagnostics.iter().any(|one| one["severity"] == number)
        });
    }
    client.stop();
}
