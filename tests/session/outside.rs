//! No change that the server offers leaves the opened folders, goes through a link out of them, or
//! touches a folder that is not read.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{file_uri, scratch, write_file};
use crate::transport::client::Server;

/// Writes a repository whose levels name files everywhere; returns its folder.
fn write(folder: &Path) -> PathBuf {
    let root = folder.join("work/repository");
    let outside = folder.join("outside");
    let files = [
        (
            "hiera.yaml",
            format!(
                "version: 5\nhierarchy:\n\
                 - {{name: Role, path: 'roles/web.yaml'}}\n\
                 - {{name: Linked, path: 'link/linked.yaml'}}\n\
                 - {{name: Absolute, datadir: '{}', path: absolute.yaml}}\n\
                 - {{name: Up, datadir: ../.., path: up.yaml}}\n\
                 - {{name: Across, path: roles/../../../across.yaml}}\n\
                 - {{name: Hook, datadir: ., path: .git/hooks/pre-commit.yaml}}\n\
                 - {{name: Modules, datadir: ., path: node_modules/x.yaml}}\n\
                 - {{name: New, path: new.yaml}}\n\
                 - {{name: Moved, path: moved.yaml}}\n\
                 - {{name: Common, path: common.yaml}}\n",
                outside.display()
            ),
        ),
        ("data/roles/web.yaml", "a: 1\nshared: long text\nother: long text\n".into()),
        ("data/common.yaml", "b: \"%{alias('a')}\"\nc: [1, 2]\nshared: long text\n".into()),
        ("data/moved.yaml", "d: 1\n".into()),
        (".git/hooks/pre-commit.yaml", "hook: 1\n".into()),
        ("node_modules/x.yaml", "x: 1\n".into()),
        ("../../outside/absolute.yaml", "shared: long text\nabsolute: 1\n".into()),
        ("../../outside/linked.yaml", "linked: 1\n".into()),
        ("../../up.yaml", "up: 1\n".into()),
    ];
    for (path, text) in files {
        write_file(root.join(path), text);
    }
    symlink(&outside, root.join("data/link")).expect("a link");
    root
}

/// Adds the addresses that the edits of an answer touch.
fn collect_uris(answer: &Value, uris: &mut BTreeSet<String>) {
    match answer {
        Value::Array(items) => items.iter().for_each(|item| collect_uris(item, uris)),
        Value::Object(members) => {
            if let Some(changes) = members.get("changes").and_then(Value::as_object) {
                uris.extend(changes.keys().cloned());
            }
            for (name, value) in members {
                if let ("uri", Some(uri)) = (name.as_str(), value.as_str()) {
                    uris.insert(uri.to_owned());
                }
                collect_uris(value, uris);
            }
        }
        _ => {}
    }
}

#[test]
fn no_offered_change_leaves_the_opened_folders() {
    let folder = std::fs::canonicalize(scratch("outside")).expect("a folder");
    let root = write(&folder);
    let mut server = Server::start();
    let params = json!({
        "processId": null,
        "rootUri": file_uri(&root),
        "workspaceFolders": [{"uri": file_uri(&root), "name": "repository"}],
        "capabilities": {
            "general": {"positionEncodings": ["utf-8"]},
            "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}},
            "workspace": {
                "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create"]},
                "fileOperations": {"willRename": true},
            },
        },
    });
    let mut number = 0;
    let mut ask = |server: &mut Server, method: &str, params: Value| -> Value {
        number += 1;
        let id = format!("r{number}");
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        server.answers_until(&id).1
    };
    ask(&mut server, "initialize", params);
    server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let (mut uris, mut titles) = (BTreeSet::new(), Vec::new());
    for path in ["data/roles/web.yaml", "data/common.yaml", "data/moved.yaml", "hiera.yaml"] {
        let document = json!({"uri": file_uri(root.join(path))});
        let text = std::fs::read_to_string(root.join(path)).expect("it was written");
        for (line, content) in text.lines().enumerate() {
            for character in [0, content.len() / 2, content.len().saturating_sub(2)] {
                let place = json!({"line": line, "character": character});
                let actions = ask(
                    &mut server,
                    "textDocument/codeAction",
                    json!({
                        "textDocument": document,
                        "range": {"start": place, "end": place},
                        "context": {"diagnostics": [], "triggerKind": 1},
                    }),
                );
                collect_uris(&actions["result"], &mut uris);
                let actions = actions["result"].as_array().cloned().unwrap_or_default();
                titles.extend(
                    actions.iter().filter_map(|one| Some(one["title"].as_str()?.to_owned())),
                );
                let place =
                    json!({"textDocument": document, "position": place, "newName": "renamed"});
                let renamed = ask(&mut server, "textDocument/rename", place);
                collect_uris(&renamed["result"], &mut uris);
            }
        }
    }
    let mut rename = |new: &str| {
        let renames = json!({"files": [{
            "oldUri": file_uri(root.join("data/moved.yaml")),
            "newUri": file_uri(root.join(new)),
        }]});
        let answer = ask(&mut server, "workspace/willRenameFiles", renames);
        collect_uris(&answer["result"], &mut uris);
        !answer["result"].is_null()
    };
    assert!(rename("data/elsewhere.yaml"), "a rename within the folder changes hiera.yaml");
    for outside in ["../../outside/moved.yaml", "data/link/moved.yaml", ".git/moved.yaml"] {
        assert!(!rename(outside), "{outside}");
    }
    let inside = format!("{}/", file_uri(&root));
    for uri in &uris {
        let rest = uri.strip_prefix(&inside).unwrap_or_else(|| panic!("{uri} lies outside"));
        let forbidden = ["..", ".git", "node_modules", "link"];
        assert!(!rest.split('/').any(|part| forbidden.contains(&part)), "{uri}");
    }
    for wanted in ["common.yaml", "new.yaml"] {
        assert!(uris.iter().any(|uri| uri.ends_with(wanted)), "{uris:?}");
    }
    for title in titles {
        let forbidden =
            ["outside", "absolute.yaml", "up.yaml", "across", "pre-commit", "linked.yaml"];
        assert!(!forbidden.iter().any(|part| title.contains(part)), "{title}");
    }
}
