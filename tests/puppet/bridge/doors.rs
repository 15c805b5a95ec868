//! Nothing of a repository switches functions on, and nothing but the user's request runs them: a
//! function that leaves a mark when its file is loaded shows it.

use std::path::Path;

use serde_json::{Value, json};

use super::{lookup, write};
use crate::support::{self, hiera_ls, require};

/// A repository that asks for evaluation in every file that it can hold. Loading the function, or
/// running anything else of it, makes the file `mark` beside it.
fn repository(root: &Path) {
    let mark = root.join("mark");
    let mark = mark.to_str().unwrap();
    let function = format!(
        "File.write('{mark}', 'ran')\nPuppet::Functions.create_function(:'t::fn') do\n  def fn(key, options, context)\n    key == 'k' ? 'answered' : context.not_found\n  end\nend\n"
    );
    let script = format!("#!/bin/sh\ntouch '{mark}'\n");
    let settings = "backends:\n  run: onRequest\n  command: [./ruby]\n  t::fn: {run: true}\nrunBackends: true\n";
    let editor = json!({"hiera.backends.run": "onRequest", "hiera.runBackends": true, "hiera.backends": {"run": "always", "command": ["./ruby"]}});
    write(
        root,
        &[
            (
                "hiera.yaml",
                "# vim: set hiera_run_backends:\nversion: 5\nhierarchy:\n  - name: Fn\n    lookup_key: t::fn\n    options: {run_backends: true, run: always}\n  - {name: Common, path: common.yaml}\n",
            ),
            (
                "data/common.yaml",
                "# -*- hiera-ls: run-backends -*-\nk: below\nother: \"%{lookup('k')}\"\n",
            ),
            ("modules/t/lib/puppet/functions/t/fn.rb", &function),
            ("modules/t/manifests/init.pp", "class t($a = lookup('k')) { }\n"),
            ("environment.conf", "modulepath = modules\nconfig_version = ./ruby\n"),
            (".hiera-ls.yaml", settings),
            (".vscode/settings.json", &editor.to_string()),
            (".env", "HIERA_LS_RUN_BACKENDS=1\nRUBYOPT=-r./mark.rb\n"),
            ("Gemfile", &function),
            (".ruby-version", "./ruby\n"),
            (".irbrc", &function),
            ("ruby", &script),
        ],
    );
    #[cfg(unix)]
    support::make_program(&root.join("ruby"));
}

fn is_marked(root: &Path) -> bool {
    root.join("mark").exists()
}

fn framed(messages: &[Value]) -> String {
    let frame = |message: &Value| {
        let text = message.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    messages.iter().map(frame).collect()
}

#[test]
fn the_command_line_runs_functions_with_its_flag_only() {
    let root = support::scratch("doors-commands");
    repository(&root);
    let commands: [&[&str]; 8] = [
        &["check"],
        &["lookup", "k"],
        &["lookup", "--explain", "k"],
        &["lookup", "--explain-options", "k"],
        &["keys"],
        &["nodes"],
        &["debug", "entry", "data/common.yaml"],
        &["check", "hiera.yaml"],
    ];
    for command in commands {
        let command_line = hiera_ls(command.iter().copied()).current_dir(&root).output().unwrap();
        assert!(!is_marked(&root), "{command:?} ran something: {command_line:?}");
    }
    let batch = hiera_ls(["lookup", "--batch"]);
    let mut batch = batch;
    support::run(batch.current_dir(&root), "{\"key\":\"k\"}\n");
    assert!(!is_marked(&root));
    if require("puppet") {
        let run = lookup(&root, &["k"]);
        assert_eq!(run.stdout, "answered\n", "{}", run.stderr);
        assert!(is_marked(&root), "the mark shows a function that runs");
    }
}

/// With names, only the functions of these names run.
#[test]
fn a_flag_with_names_runs_these_alone() {
    if !require("puppet") {
        return;
    }
    let root = support::scratch("doors-names");
    repository(&root);
    let run = |names: &str| {
        let flag = format!("--run-backends={names}");
        support::run(hiera_ls(["lookup", &flag, "k"]).current_dir(&root), "")
    };
    assert_eq!(run("other::fn,t::f").stdout, "below\n");
    assert!(!is_marked(&root));
    assert_eq!(run("other::fn,T::Fn").stdout, "answered\n");
    assert!(is_marked(&root));
}

#[test]
fn a_session_of_an_editor_runs_nothing() {
    let root = support::scratch("doors-session");
    repository(&root);
    let uri = |path: &str| support::file_uri(root.join(path));
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let mut messages = vec![
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": null, "rootUri": uri(""), "capabilities": {"workspace": {"configuration": true, "didChangeConfiguration": {"dynamicRegistration": true}}}}}),
        json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
    ];
    for path in ["hiera.yaml", "data/common.yaml", ".hiera-ls.yaml"] {
        messages.push(json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri(path), "languageId": "yaml", "version": 1, "text": text(path)}}}));
    }
    // The client pushes every setting that the settings of a repository may reach.
    let settings = json!({"hiera": {"backends": {"run": "always", "command": ["./ruby"], "roots": ["/"]}, "runBackends": true}});
    messages.push(json!({"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": {"settings": settings}}));
    let mut id = 1;
    for path in ["hiera.yaml", "data/common.yaml"] {
        for method in [
            "textDocument/hover",
            "textDocument/completion",
            "textDocument/definition",
            "textDocument/codeLens",
            "textDocument/inlayHint",
            "textDocument/diagnostic",
            "textDocument/documentSymbol",
            "textDocument/codeAction",
        ] {
            id += 1;
            let position = json!({"line": 1, "character": 1});
            let range =
                json!({"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}});
            messages.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"textDocument": {"uri": uri(path)}, "position": position, "range": range, "context": {"diagnostics": []}}}));
        }
        messages.push(json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": {"uri": uri(path), "version": 2}, "contentChanges": [{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}, "text": "\n"}]}}));
        messages.push(json!({"jsonrpc": "2.0", "method": "textDocument/didSave", "params": {"textDocument": {"uri": uri(path)}}}));
    }
    messages.push(json!({"jsonrpc": "2.0", "id": 900, "method": "shutdown"}));
    messages.push(json!({"jsonrpc": "2.0", "method": "exit"}));
    let run = support::run(hiera_ls(["server"]).current_dir(&root), framed(&messages));
    assert!(run.stdout.contains("\"id\":900"), "the session ran to its end: {}", run.stderr);
    let answered = (2..18).filter(|id| {
        run.stdout.contains(&format!("\"id\":{id}}}"))
            || run.stdout.contains(&format!("\"id\":{id},"))
    });
    assert_eq!(answered.count(), 16, "the requests were answered: {}", run.stdout);
    assert!(!is_marked(&root), "a session ran something");
}
