//! Cancelled work, without a clock: a cancelled request is answered as cancelled and leaves the
//! server free, and interrupted findings are in the end those of a new workspace.

use std::path::Path;
use std::time::Duration;

use crate::client::Client;
use crate::generate::{self, Part, Repo, Shape};
use crate::library::{findings, workspace};
use crate::support::random::{self, Random};
use crate::support::{self, file_uri};
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Change;
use serde_json::json;

fn server(repo: &Repo) -> Client {
    let (mut client, _) =
        Client::initialized(&mut support::hiera_ls(["server"]), &repo.root, &json!({}));
    client.progress_end();
    client
}

#[test]
fn more_cancelled_requests_than_are_looked_at_at_a_time_leave_the_server_free() {
    const MANY: usize = 150;
    let mut repo = Shape { seed: 3, files: 80, lines: 60 }.write(&support::scratch("cancelled"));
    let (path, text, line) = repo.add_huge_merge(400);
    let mut client = server(&repo);
    let document = file_uri(&path);
    client.open(&document, 1, &text);
    client.diagnostics(&document, 1);
    let (_, before) = client.ask("textDocument/hover", &document, line, 2);
    assert!(
        before["contents"]["value"].as_str().is_some_and(|text| text.contains("member_800")),
        "{before}"
    );
    let place =
        json!({"textDocument": {"uri": document}, "position": {"line": line, "character": 2}});
    let page = json!({"textDocument": {"uri": document}});
    for (method, params) in [
        ("hiera/effectiveData", &page),
        ("textDocument/hover", &place),
        ("hiera/explain", &place),
        ("hiera/effectiveData", &page),
    ] {
        let ids: Vec<i64> = (0..MANY).map(|_| client.request(method, params)).collect();
        for id in &ids {
            client.cancel(*id);
        }
        let (_, after) = client.ask("textDocument/hover", &document, line, 2);
        assert_eq!(after, before, "another request is answered as before");
        // Requests that were finished before their cancellation have an answer. All other requests
        // say that they were cancelled.
        let cancelled = ids.into_iter().filter(|id| client.cancelled(*id).1).count();
        if method == "hiera/effectiveData" {
            assert!(cancelled > MANY / 2, "only {cancelled} of {MANY} long requests were stopped");
        }
    }
    client.quiet(Duration::from_millis(100));
    client.stop();
}

#[test]
fn findings_after_rounds_that_were_left_off_are_those_of_a_fresh_workspace() {
    let mut random = Random::new(random::seed("stopping"));
    let mut repo = Shape { seed: 4, files: 80, lines: 30 }.write(&support::scratch("superseded"));
    let mut files = [repo.add_large(4_000), repo.add_for_site(400)];
    let mut texts: Vec<String> = files.iter().map(|file| file.text.clone()).collect();
    let common = repo.files[0].clone();
    let mut client = server(&repo);
    let mut is_open = [false, false];
    client.open(&file_uri(&common.0), 1, &common.1);
    let mut options = 0;
    for round in 0..120 {
        let n = random.below(2);
        let document = file_uri(&files[n].path);
        match random.below(10) {
            0 if is_open[n] => {
                client.close(&document);
                is_open[n] = false;
            }
            1 => {
                let severity = random.pick(&["hint", "info", "warning"]);
                let settings = json!({"hiera": {"rules": {"unknown-key": severity}}});
                client.notify("workspace/didChangeConfiguration", &json!({"settings": settings}));
            }
            2 => {
                // The edit adds or removes an option: every entry may have other findings.
                let line = common
                    .1
                    .lines()
                    .position(|line| line == "lookup_options:")
                    .expect("common.yaml has them")
                    + 1;
                let place = |line: usize| json!({"line": line, "character": 0});
                let (end, text) = if options % 2 == 0 {
                    (line, "  '^large::': {merge: hash}\n")
                } else {
                    (line + 1, "")
                };
                client.change_with(
                    &file_uri(&common.0),
                    json!({"range": {"start": place(line), "end": place(end)}, "text": text}),
                );
                options += 1;
            }
            3 => {
                let (path, text) = random.pick(&repo.files[1..60]);
                std::fs::write(&path, format!("{text}swapped::in_{round}: 1\n"))
                    .expect("the scratch folder can be written to");
                client.notify("workspace/didChangeWatchedFiles", &json!({"changes": []}));
            }
            _ if !is_open[n] => {
                client.open(&document, 1, &texts[n]);
                is_open[n] = true;
            }
            _ => {
                let (probe, part) = (
                    random.below(generate::PROBES),
                    random.pick(&[Part::Value, Part::Key, Part::Token]),
                );
                let edit = files[n].probes[probe].type_or_delete(part);
                client.change(&document, &edit);
                let mut lines: Vec<String> =
                    texts[n].split_inclusive('\n').map(str::to_owned).collect();
                lines[edit.line].replace_range(edit.start..edit.end, &edit.text);
                texts[n] = lines.concat();
            }
        }
        if random.one_in(4) {
            std::thread::sleep(Duration::from_millis(random.below(40) as u64));
        }
    }
    let mut fresh = workspace(&repo.root);
    let common_text = match options % 2 {
        0 => common.1.clone(),
        _ => common.1.replacen(
            "lookup_options:\n",
            "lookup_options:\n  '^large::': {merge: hash}\n",
            1,
        ),
    };
    let path = |path: &Path| FilePath::new(path.to_str().expect("paths here are UTF-8"));
    let mut open = vec![(common.0.clone(), common_text)];
    let others = files.iter().zip(&texts).zip(is_open).filter(|(_, is_open)| *is_open);
    open.extend(others.map(|((file, text), _)| (file.path.clone(), text.clone())));
    for (file, text) in &open {
        fresh.apply(Change::Open(path(file), text.to_owned()));
    }
    let expected: Vec<_> =
        open.iter().map(|(file, _)| (file_uri(file), findings(&fresh.snapshot(), file))).collect();
    client.settle(Duration::from_secs(1), &expected);
    for (document, findings) in expected {
        assert_eq!(client.told(&document), findings, "{document}");
    }
    client.stop();
}
