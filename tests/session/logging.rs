//! The log of a session on standard error, which contains no value.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{self, file_uri, write_file};
use crate::transport::client::Server;

/// Stands in every value, fact and edit.
const MARKER: &str = "Marker-7f3a";

/// A repository in which each value holds the marker, and its data file.
fn repository(name: &str) -> (PathBuf, PathBuf) {
    let root = support::scratch(name);
    let data = format!(
        "lookup_options:\n  '^b': {{merge: deep, convert_to: Sensitive}}\na: {MARKER}\nb: {{x: '{MARKER}'}}\n\
         c: \"{MARKER} %{{lookup('a')}} %{{facts.f}} %{{nope}}\"\nbad: \"%{{{MARKER}('x')}}\"\nd: [ENC[PKCS7,{MARKER}]]\n"
    );
    let facts = json!({"certname": "web01", "f": MARKER, "role": "web"});
    for (path, text) in [
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: Role, path: 'roles/%{role}.yaml'}, {name: Common, path: common.yaml}]\n",
        ),
        (".hiera-ls.yaml", "nodes: {sources: [web01.json], default: web01}\n"),
        ("web01.json", &facts.to_string()),
        ("data/roles/web.yaml", &data),
        ("data/common.yaml", &format!("a: {MARKER}\nb: {{y: {MARKER}}}\n")),
        ("data/broken.yaml", &format!("a: [{MARKER}\n")),
    ] {
        write_file(root.join(path), text);
    }
    let file = root.join("data/roles/web.yaml");
    (root, file)
}

/// All requests of an editor, and messages that it should not send.
fn messages(root: &Path, file: &Path) -> Vec<Value> {
    let (folder, document) = (file_uri(root), file_uri(file));
    let text = fs::read_to_string(file).unwrap();
    let page = json!({"textDocument": {"uri": document}});
    let notify =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let ask = |id: String, method: &str, params: &Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let mut all = vec![
        ask(
            "i".into(),
            "initialize",
            &json!({"processId": null, "rootUri": folder, "capabilities": {}, "workspaceFolders": [{"uri": folder, "name": "x"}]}),
        ),
        notify("initialized", json!({})),
        notify(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": document, "languageId": "yaml", "version": 1, "text": text}}),
        ),
        notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": document, "version": 2}, "contentChanges": [{"text": format!("{text}e: {MARKER}\n")}]}),
        ),
        notify(
            "workspace/didChangeConfiguration",
            json!({"settings": {"hiera": {"rules": MARKER, MARKER: 1}}}),
        ),
        notify("$/setTrace", json!({"value": MARKER})),
        ask("unknown".into(), "$/unknown", &json!([MARKER])),
        json!({"jsonrpc": "2.0", "id": "wrong", "method": "textDocument/hover", "params": MARKER}),
    ];
    for line in 0..text.lines().count() {
        for method in
            ["textDocument/hover", "textDocument/definition", "hiera/explain", "hiera/hierarchy"]
        {
            let mut place = page.clone();
            place["position"] = json!({"line": line, "character": 3});
            all.push(ask(format!("{method} {line}"), method, &place));
        }
    }
    all.push(ask("nodes".into(), "hiera/nodes", &page));
    all.push(ask("select".into(), "hiera/selectNode", &json!({"name": "web01"})));
    all.push(ask("last".into(), "hiera/effectiveData", &page));
    all
}

#[test]
fn a_session_is_logged_without_values() {
    let (root, file) = repository("logging");
    let mut server = Server::spawn(&mut support::hiera_ls(["server", "--log", "trace"]));
    let all = messages(&root, &file);
    all.iter().for_each(|message| server.send(message));
    server.answers_until("last");
    server.send(&json!({"jsonrpc": "2.0", "id": "end", "method": "shutdown"}));
    server.answers_until("end");
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    let (status, log) = server.end();
    assert_eq!(status, Some(0), "{log}");
    for told in [
        "folders read",
        "environment ",
        "file read path=",
        "request method=\"textDocument/hover\"",
        "notification method=\"textDocument/didChange\"",
        "round of findings revision=",
        "session ended",
    ] {
        assert!(log.contains(told), "{told} is not told:\n{log}");
    }
    assert!(!log.contains(MARKER), "{log}");
}

#[test]
fn commands_are_logged_without_values() {
    let (root, file) = repository("logging-commands");
    let root = root.to_str().expect("scratch paths are UTF-8");
    let file = file.to_str().expect("scratch paths are UTF-8");
    let commands: [&[&str]; 5] = [
        &["check", root],
        &["lookup", "--root", root, "a", "b", "c"],
        &["lookup", "--root", root, "c", "--explain"],
        &["debug", "scope", file],
        &["debug", "tree", file],
    ];
    for command in commands {
        let log = |level: &str| {
            let arguments = command.iter().copied().chain(["--log", level]);
            support::run(&mut support::hiera_ls(arguments), "").stderr
        };
        let told = log("trace");
        assert!(told.contains("command ended"), "{command:?}: {told}");
        assert!(!told.contains(MARKER), "{command:?}: {told}");
        assert!(!log("off").contains("command ended"), "{command:?}");
    }
}

#[test]
fn the_variable_sets_the_level_where_no_argument_does() {
    let run = |level: &str, arguments: &[&str]| {
        let mut command = support::hiera_ls(["rules"].iter().chain(arguments));
        support::run(command.env("HIERA_LS_LOG", level), "").stderr
    };
    assert!(run("info", &[]).contains("command ended"));
    assert!(run("INFO", &[]).contains("command ended"));
    assert_eq!(run("", &[]), "");
    assert_eq!(run("error", &[]), "");
    assert_eq!(run("info", &["--log", "off"]), "");
    assert!(run("loud", &[]).contains("HIERA_LS_LOG is no level of the log: loud"));
}
