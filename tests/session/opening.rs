//! A long document is opened: its first findings do not wait for the index of all files.

use std::fmt::Write as _;

use serde_json::json;

use crate::client::{Client, Published};
use crate::generate::Shape;
use crate::support::{self, file_uri};

#[test]
fn the_first_findings_of_a_long_document_need_no_index() {
    let repo = Shape { seed: 5, files: 20, lines: 20 }.write(&support::scratch("opening"));
    let (mut client, _) =
        Client::initialized(&mut support::hiera_ls(["server"]), &repo.root, &json!({}));
    client.progress_end();
    let document = file_uri(&repo.files[0].0);
    let mut text = String::from("first: \"%{lookup('nowhere')}\"\n");
    for number in 0..12_000 {
        let _ = writeln!(text, "long::key_{number}: a value");
    }
    text.push_str("lookup_options: {first: {merge: frist}}\n");
    text.push_str("last: \"%{odd('x')}\"\n");
    let codes = |published: &Published| {
        let found = published.diagnostics.iter().map(|finding| finding["code"].clone());
        found.collect::<Vec<_>>()
    };
    client.open(&document, 1, &text);
    let first = client.diagnostics(&document, 1);
    assert_eq!(codes(&first), ["unknown-strategy", "unknown-function"]);
    let more = client.diagnostics_that(&document, 1, |it| it.has("unknown-key"));
    let stays = |code: &&str| more.has(code);
    assert!(["unknown-strategy", "unknown-function"].iter().all(stays), "while others come");
    client.stop();
}
