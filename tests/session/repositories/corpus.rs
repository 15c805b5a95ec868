//! Hovers in a large repository without settings: whether they show the values of real nodes.
//!
//! With `HIERA_LS_CORPUS_ROOT`.

use hiera_ls::disk::OsFs;
use hiera_ls::ide::hover::{HoverConfig, hover};
use hiera_ls::settings::open;
use hiera_ls::text::{FilePath, FilePosition};

use crate::support::{require, variable};

/// Whether a line of a hover states that the values are those of known nodes.
fn is_of_known_nodes(line: &str) -> bool {
    let is_node = line.starts_with("node ") && !line.contains("does not read this file");
    let is_only = line.starts_with("in node ") && line.contains("the only known one");
    is_node || is_only || line.starts_with("in ") && line.contains("known node")
}

#[test]
fn nearly_all_files_of_the_corpus_have_a_known_node_in_their_hover() {
    if !require("corpus") {
        return;
    }
    let root = variable("HIERA_LS_CORPUS_ROOT").expect("require(\"corpus\") said so");
    let opened = open(vec![FilePath::new(&root)], &[], Vec::new(), &OsFs);
    let snapshot = opened.workspace.snapshot();
    let environment = &snapshot.environments().all[0];
    let config = HoverConfig { max_value_lines: 10, max_locations: 5, ..HoverConfig::default() };
    let (mut known, mut without, mut empty) = (0, Vec::new(), 0);
    for file in snapshot.files().filter(|file| environment.reaches_file(&file.path)) {
        let data = file.data_as(file.format());
        let first = data.keys().filter_map(|key| key.as_str()).find(|key| *key != "lookup_options");
        let span = first.and_then(|key| data.definition_span(key));
        let Some(offset) = span.map(|span| snapshot.span_bytes(span).start) else {
            empty += 1;
            continue;
        };
        let found = hover(&snapshot, FilePosition { file: file.id, offset }, &config);
        let text = found.unwrap_or_else(|| panic!("no hover in {}", file.path)).text;
        match text.lines().nth(1) {
            Some(line) if is_of_known_nodes(line) => known += 1,
            line => without.push(format!("{}: {}", file.path, line.unwrap_or_default())),
        }
    }
    let all = known + without.len();
    eprintln!("{known} of {all} files have a known node in their hover, {empty} have no key");
    without.iter().for_each(|line| eprintln!("  {line}"));
    assert!(all > 100 && known * 100 >= all * 95, "{known} of {all} files");
}
