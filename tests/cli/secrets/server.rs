//! A server process whose every message is searched for secrets.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::marker;
use super::repository::Repository;
use crate::support::{file_uri, hiera_ls};

/// A running server.
pub struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The file that the server's stderr goes to.
    log: PathBuf,
    last_id: u64,
    /// The answer to `initialize`.
    pub capabilities: Value,
    /// How many messages were searched.
    pub messages: usize,
    /// Whether the user agrees to the server's questions.
    pub agrees: bool,
    /// How many messages for the user came.
    pub told: usize,
    /// Messages that reveal a secret.
    pub leaks: Vec<String>,
    /// The last messages sent, for the report of a leak.
    sent: VecDeque<String>,
}

impl Server {
    /// Starts a server on a repository; `eyaml` are its settings for encrypted values, and the client
    /// asks for findings or is sent them.
    pub fn start(repository: &Repository, eyaml: &Value, pulls: bool) -> Server {
        let log = repository.root.with_extension("log");
        let stderr = std::fs::File::create(&log).expect("the log can be made");
        let mut child = hiera_ls(["server"])
            .env("HIERA_LS_LOG", "trace")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("stdin was asked to be a pipe");
        let output = BufReader::new(child.stdout.take().expect("stdout was asked to be a pipe"));
        let mut server = Server {
            child,
            input,
            output,
            log,
            last_id: 0,
            capabilities: Value::Null,
            agrees: false,
            told: 0,
            messages: 0,
            leaks: Vec::new(),
            sent: VecDeque::new(),
        };
        let mut capabilities = json!({
            "general": {"positionEncodings": ["utf-8"]},
            "textDocument": {
                "hover": {"contentFormat": ["markdown"]},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                "codeAction": {
                    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
                    "disabledSupport": true,
                },
            },
            "workspace": {"workspaceEdit": {
                "documentChanges": true, "resourceOperations": ["create"],
            }},
            "experimental": {"hiera": {"status": true}},
        });
        if pulls {
            capabilities["textDocument"]["diagnostic"] = json!({"relatedDocumentSupport": true});
            capabilities["workspace"]["diagnostics"] = json!({"refreshSupport": true});
        }
        let folder = json!({"uri": file_uri(&repository.root), "name": "repository"});
        let answer = server.ask(
            "initialize",
            &json!({
                "processId": null, "rootUri": file_uri(&repository.root), "workspaceFolders": [folder],
                "capabilities": capabilities,
                "initializationOptions": {
                    "eyaml": eyaml,
                    "runBackends": {"enabled": true},
                    "inlayHints": {"parameterTypes": true},
                    "codeLens": {"allOverrides": true, "readers": true, "nodes": true},
                },
            }),
        );
        server.capabilities = answer["result"]["capabilities"].clone();
        server.tell("initialized", &json!({}));
        server
    }

    /// Sends a notification.
    pub fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and waits for its answer; all messages before it are searched, too.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.read().expect("the server answers");
            match (message.get("method"), message.get("id")) {
                (Some(_), Some(_)) => self.answer(&message),
                (None, Some(answered)) if *answered == json!(id) => return message,
                _ => {}
            }
        }
    }

    /// Waits until so many messages for the user came.
    pub fn until_told(&mut self, count: usize) {
        while self.told < count {
            let message = self.read().expect("the server tells the outcome");
            if message.get("method").is_some() && message.get("id").is_some() {
                self.answer(&message);
            }
        }
    }

    /// Answers a request of the server.
    fn answer(&mut self, request: &Value) {
        let agrees = self.agrees && request["method"] == "window/showMessageRequest";
        let result = if agrees { json!({"title": "Run"}) } else { Value::Null };
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Ends the server, and searches its log, too.
    pub fn end(mut self) -> (usize, Vec<String>) {
        self.ask("shutdown", &Value::Null);
        self.tell("exit", &Value::Null);
        while self.read().is_some() {}
        self.child.wait().expect("it was started");
        let log = std::fs::read_to_string(&self.log).expect("the log is there");
        if let Some(secret) = marker::told(&log) {
            self.leaks.push(format!("the log tells {secret}: {log}"));
        }
        (self.messages, self.leaks)
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
        self.input.flush().expect("it reads");
        self.sent.push_back(crate::support::shortened(&body, 300));
        if self.sent.len() > 2 {
            self.sent.pop_front();
        }
    }

    fn read(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).expect("headers are text") == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().expect("a number"),
                _ if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("the whole message comes");
        let message: Value = serde_json::from_slice(&body).expect("a server sends JSON");
        self.messages += 1;
        self.told += usize::from(message["method"] == "window/showMessage");
        if let Some(secret) = marker::told_in(&message) {
            self.leaks.push(format!("{:?}: the server tells {secret}: {message}", self.sent));
        }
        Some(message)
    }
}
