//! The messages of the suite against the protocol's types as the reference implementation has
//! them: `vscode-languageserver-protocol`, from whose sources the specification's metamodel is
//! generated. The TypeScript compiler checks each message as a literal, in which it refuses members
//! that the type does not have, `null` where the type has none, and numbers outside of an
//! enumeration. Messages whose methods begin with `hiera/` are not the protocol's.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support;
use crate::support::npm;

/// The versions of the protocol, with the packages that have their types.
const VERSIONS: [(&str, &str); 2] = [
    ("lsp317", "vscode-languageserver-protocol@3.17.5"),
    ("lsp318", "vscode-languageserver-protocol@3.18.5"),
];

/// The version of which only clients that announce parts of it are sent messages.
const NEWER: &str = "lsp318";
/// What such clients announce.
const ANNOUNCED: [&str; 3] = [
    "/workspace/textDocumentContent",
    "/workspace/workspaceEdit/snippetEditSupport",
    "/textDocument/codeAction/documentationSupport",
];

const TYPESCRIPT: &str = "typescript@5.9.3";

/// Declares the functions that a file of messages calls, for one version. A request's type has a
/// member `_` with the types of its parameters, result and error; one without parameters lacks the
/// first, and a notification has its parameters alone.
const PRELUDE: &str = r#"import type * as All from "VERSION";

type Signature<M extends string> = {
  [K in keyof typeof All]: (typeof All)[K] extends { method: M; type: infer T } ? T : never;
}[keyof typeof All];
type Types<T> = T extends { _: infer Tuple } ? Exclude<Tuple, undefined> : never;
type ParamsOf<T> = [Types<T>] extends [[infer P, unknown, unknown, unknown] | [infer P, unknown]] ? P : undefined;
type Nothing<T> = [T] extends [void] ? null : T;
type ResultOf<T> = Nothing<[Types<T>] extends [[unknown, infer R, unknown, unknown] | [infer R, unknown, unknown]] ? R : never>;
type PartOf<T> = T extends { _pr: infer P } ? Exclude<P, undefined> : never;
type Method = { [K in keyof typeof All]: (typeof All)[K] extends { method: infer M } ? M : never }[keyof typeof All] & string;

declare function params<M extends Method>(method: M, params: ParamsOf<Signature<M>>): void;
declare function result<M extends Method>(method: M, result: ResultOf<Signature<M>>): void;
declare function partial<M extends Method>(method: M, value: PartOf<Signature<M>>): void;
declare function progress(params: { token: All.ProgressToken; value: All.WorkDoneProgressBegin | All.WorkDoneProgressReport | All.WorkDoneProgressEnd }): void;
declare function error(error: { code: All.integer; message: string; data?: All.LSPAny }): void;

"#;

/// Messages that the compiler must refuse, as calls of the prelude's functions.
const REFUSED: [&str; 12] = [
    r#"result("textDocument/hover", {"contents": {"kind": "html", "value": ""}})"#,
    r#"result("textDocument/hover", {"contents": {"kind": "markdown", "value": "", "extra": 1}})"#,
    r#"result("textDocument/hover", {"content": ""})"#,
    r#"result("textDocument/documentLink", [{"range": {"start": {"line": 1, "character": 0}}}])"#,
    r#"result("initialize", {"capabilities": {"hoverProvider": "yes"}})"#,
    r#"params("textDocument/publishDiagnostics", {"uri": "file:///a", "diagnostics": [], "version": null})"#,
    r#"params("window/showMessage", {"type": 9, "message": ""})"#,
    r#"params("no/such/method", {})"#,
    r#"params("workspace/inlayHint/refresh", null)"#,
    r#"partial("textDocument/references", [{"uri": "file:///a"}])"#,
    r#"progress({"token": "a", "value": {"kind": "begin"}})"#,
    r#"error({"code": "1", "message": ""})"#,
];

/// Checks the sessions that were recorded in a folder, one file each, a message of either side a
/// line; prints the number of different messages. Skipped without npm.
pub fn check(recorded: &Path) {
    let packages = VERSIONS.map(|(name, package)| format!("{name}@npm:{package}"));
    let packages: Vec<&str> = packages.iter().map(String::as_str).chain([TYPESCRIPT]).collect();
    let modules = match npm::with_packages("protocol-types", &packages) {
        Ok(modules) => modules,
        Err(obstacle) => {
            support::missing("npm", &obstacle);
            return;
        }
    };
    let [mut calls, mut newer] = [BTreeSet::new(), BTreeSet::new()];
    for entry in std::fs::read_dir(recorded).expect("the suite records its messages") {
        let path = entry.expect("the folder can be listed").path();
        let text = std::fs::read_to_string(&path).expect("a recording can be read");
        let session = if announces_318(&text) { &mut newer } else { &mut calls };
        session.extend(calls_of(&text));
    }
    assert!(calls.len() > 100, "{} messages in {}", calls.len(), recorded.display());
    assert!(newer.len() > 10, "{} messages of clients of 3.18", newer.len());
    let folder = modules.parent().expect("it is in a folder");
    for (version, package) in VERSIONS {
        if version == NEWER {
            calls.append(&mut newer);
        }
        let wrong = refused_by(folder, version, &calls);
        assert!(wrong.is_empty(), "{package} refuses\n{wrong}");
    }
    eprintln!("{} different messages fit the types of {VERSIONS:?}", calls.len());
}

/// Whether the client of a session announces what only version 3.18 has.
fn announces_318(recording: &str) -> bool {
    let lines = recording.lines().map(|line| serde_json::from_str(line).expect("JSON lines"));
    let mut messages = lines.map(|mut line: Value| line["message"].take());
    let begins = messages.find(|message| message["method"] == "initialize").unwrap_or_default();
    let client = &begins["params"]["capabilities"];
    ANNOUNCED.iter().any(|path| client.pointer(path).is_some_and(|value| !value.is_null()))
}

/// The calls that check the messages of a session.
fn calls_of(recording: &str) -> Vec<String> {
    let mut methods: HashMap<(bool, String), String> = HashMap::new();
    let mut partial: HashMap<String, String> = HashMap::new();
    let mut calls = Vec::new();
    for line in recording.lines() {
        let line: Value = serde_json::from_str(line).expect("a recording is JSON lines");
        let (is_servers, message) = (line["from"] == "server", &line["message"]);
        let method = message["method"].as_str();
        let id = message.get("id").map(Value::to_string);
        if let (Some(method), Some(id)) = (method, &id) {
            methods.insert((is_servers, id.clone()), method.to_owned());
            if let Some(token) = message["params"].get("partialResultToken") {
                partial.insert(token.to_string(), method.to_owned());
            }
        }
        let asked = id.and_then(|id| methods.get(&(!is_servers, id)));
        // A test may send nonsense: only the messages of the server must follow the protocol.
        match (method, asked) {
            (Some("$/progress"), _) if is_servers => {
                let params = &message["params"];
                calls.push(match partial.get(&params["token"].to_string()) {
                    Some(method) => call("partial", method, params.get("value")),
                    None => format!("progress({params})"),
                });
            }
            (Some(method), _) if is_servers && !is_own(method) => {
                calls.push(call("params", method, message.get("params")));
            }
            (None, Some(method)) if is_servers => match message.get("error") {
                Some(error) => calls.push(format!("error({error})")),
                None if is_own(method) => {}
                None => calls.push(call("result", method, message.get("result"))),
            },
            _ => {}
        }
    }
    calls
}

fn is_own(method: &str) -> bool {
    method.starts_with("hiera/")
}

fn call(function: &str, method: &str, value: Option<&Value>) -> String {
    let value = value.map_or_else(|| "undefined".to_owned(), Value::to_string);
    format!("{function}({method:?}, {value})")
}

/// The compiler's errors about the messages by one version of the types, each with the beginning of
/// its message; nothing where all of them fit. It must refuse those of [`REFUSED`]; else the result
/// has a line about it.
fn refused_by(folder: &Path, version: &str, calls: &BTreeSet<String>) -> String {
    let mut source = PRELUDE.replace("VERSION", version);
    for call in REFUSED {
        // The compiler reports this directive where the line after it has no error.
        let _ = writeln!(source, "// @ts-expect-error\n{call};");
    }
    for call in calls {
        let _ = writeln!(source, "{call};");
    }
    let name = format!("{version}.ts");
    std::fs::write(folder.join(&name), &source).expect("the folder can be written to");
    let mut compiler = Command::new("node");
    compiler
        .arg(folder.join("node_modules/typescript/bin/tsc"))
        .args(["--noEmit", "--strict", "--skipLibCheck", "--pretty", "false"])
        .args(["--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022"])
        .arg(&name)
        .current_dir(folder);
    let run = support::run(&mut compiler, "");
    let lines: Vec<&str> = source.lines().collect();
    let quoted = |error: &str| {
        let number = error.split(['(', ',']).nth(1).and_then(|line| line.parse::<usize>().ok());
        let line = number.and_then(|number| lines.get(number - 1)).copied().unwrap_or_default();
        format!("{error}\n  {}\n", line.chars().take(300).collect::<String>())
    };
    if run.status == Some(0) {
        return String::new();
    }
    run.stdout.lines().map(quoted).collect::<String>() + &run.stderr
}
