//! A small client of the protocol over stdio: the caller writes, a thread of its own reads and
//! records the time of each message. All messages of the server are kept, so that none is lost that
//! arrives while the caller waits for another.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::file_uri;

/// How long a message is waited for; a server that takes longer is as good as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// The protocol's error for a request that was cancelled.
const REQUEST_CANCELLED: i64 = -32800;

/// A running server, and the messages that it has sent.
pub struct Client {
    child: Child,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    arrivals: Receiver<(Instant, Value)>,
    /// When the process was started.
    pub started: Instant,
    last_id: i64,
    responses: HashMap<i64, (Instant, Value)>,
    published: HashMap<String, Published>,
    sent: HashMap<String, i64>,
    /// Answers for a version older than one that was answered for before, or for one that was never
    /// sent.
    pub stale: usize,
    /// How many times findings were published, for any document.
    pub answers: usize,
    progress_ended: Option<Instant>,
    requests: HashMap<String, usize>,
}

/// The findings that were last published for a document.
#[derive(Clone, Debug)]
pub struct Published {
    /// The version that the findings are for; `None` for a document that is not open.
    pub version: Option<i64>,
    /// When the findings came.
    pub at: Instant,
    /// The findings.
    pub diagnostics: Vec<Value>,
}

impl Published {
    /// Whether some finding is of this rule.
    pub fn has(&self, code: &str) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic["code"] == code)
    }

    /// Whether some finding's message contains `text`.
    pub fn says(&self, text: &str) -> bool {
        self.diagnostics.iter().any(|diagnostic| {
            diagnostic["message"].as_str().is_some_and(|message| message.contains(text))
        })
    }
}

/// A replacement within one line, columns in bytes.
#[derive(Clone, Debug)]
pub struct LineEdit {
    /// The line, from 0.
    pub line: usize,
    /// The first column that is replaced.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// The text that stands there then.
    pub text: String,
}

impl LineEdit {
    fn json(&self) -> Value {
        let place = |column: usize| json!({"line": self.line, "character": column});
        json!({"range": {"start": place(self.start), "end": place(self.end)}, "text": self.text})
    }
}

impl Client {
    /// Starts a server.
    pub fn spawn(command: &mut Command) -> Client {
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let stdin = Arc::new(Mutex::new(child.stdin.take()));
        let mut stdout = BufReader::with_capacity(
            1 << 16,
            child.stdout.take().expect("stdout was asked to be a pipe"),
        );
        let (sender, arrivals) = channel();
        let answering = stdin.clone();
        std::thread::spawn(move || {
            while let Some(body) = read_message(&mut stdout) {
                let at = Instant::now();
                let message: Value = serde_json::from_slice(&body).expect("a server sends JSON");
                if message.get("method").is_some() && message.get("id").is_some() {
                    // The client accepts each request of the server (progress, watching).
                    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": null});
                    write_message(&answering, &answer.to_string());
                }
                if sender.send((at, message)).is_err() {
                    return;
                }
            }
        });
        Client {
            child,
            stdin,
            arrivals,
            started,
            last_id: 0,
            responses: HashMap::new(),
            published: HashMap::new(),
            sent: HashMap::new(),
            stale: 0,
            answers: 0,
            progress_ended: None,
            requests: HashMap::new(),
        }
    }

    /// Starts a server in a folder and initializes it; returns the time of the answer to
    /// `initialize`.
    pub fn initialized(
        command: &mut Command,
        root: &std::path::Path,
        options: &Value,
    ) -> (Client, Instant) {
        Client::initialized_with(command, root, options, &json!({}))
    }

    /// Like [`Client::initialized`], for a client that has more `capabilities`.
    pub fn initialized_with(
        command: &mut Command,
        root: &std::path::Path,
        options: &Value,
        more: &Value,
    ) -> (Client, Instant) {
        let mut client = Client::spawn(command);
        let mut capabilities = json!({
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "window": {"workDoneProgress": true},
            "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}},
            "textDocument": {
                "completion": {
                    // The capabilities are those of VS Code.
                    "completionItem": {
                        "snippetSupport": true,
                        "resolveSupport": {"properties": ["documentation", "detail", "additionalTextEdits"]},
                    },
                    "completionList": {"itemDefaults": ["editRange", "insertTextFormat", "data"]},
                },
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                "hover": {"contentFormat": ["markdown"]},
                "publishDiagnostics": {"relatedInformation": true, "versionSupport": true},
            },
        });
        merge(&mut capabilities, more);
        let folder = json!({"uri": file_uri(root), "name": "bench"});
        let id = client.request(
            "initialize",
            &json!({
                "processId": null, "rootUri": file_uri(root), "workspaceFolders": [folder],
                "capabilities": capabilities, "initializationOptions": options,
            }),
        );
        let (answered, _) = client.response(id);
        client.notify("initialized", &json!({}));
        (client, answered)
    }

    /// The number of the process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a notification; returns the time just before it was written.
    pub fn notify(&mut self, method: &str, params: &Value) -> Instant {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if !params.is_null() {
            message["params"] = params.clone();
        }
        let message = message.to_string();
        let at = Instant::now();
        write_message(&self.stdin, &message);
        at
    }

    /// Sends a request; gives its number.
    pub fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.last_id += 1;
        let mut message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method});
        if !params.is_null() {
            message["params"] = params.clone();
        }
        let message = message.to_string();
        write_message(&self.stdin, &message);
        self.last_id
    }

    /// Cancels a request; returns the time.
    pub fn cancel(&mut self, id: i64) -> Instant {
        self.notify("$/cancelRequest", &json!({"id": id}))
    }

    /// Waits for the answer to a request that was cancelled; returns its time, and whether it is
    /// the error of a cancelled request.
    pub fn cancelled(&mut self, id: i64) -> (Instant, bool) {
        loop {
            if let Some((at, message)) = self.responses.remove(&id) {
                return (at, message["error"]["code"] == REQUEST_CANCELLED);
            }
            self.listen("the answer to a request that was taken back");
        }
    }

    /// Asks about a place in a document and waits; gives how long that took, and the answer.
    pub fn ask(
        &mut self,
        method: &str,
        uri: &str,
        line: usize,
        column: usize,
    ) -> (Duration, Value) {
        let at = Instant::now();
        let id = self.ask_only(method, uri, line, column);
        let (answered, answer) = self.response(id);
        (answered - at, answer)
    }

    /// Asks about a place in a document; gives the request's number.
    pub fn ask_only(&mut self, method: &str, uri: &str, line: usize, column: usize) -> i64 {
        self.request(
            method,
            &json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}),
        )
    }

    /// Opens a document.
    pub fn open(&mut self, uri: &str, version: i64, text: &str) -> Instant {
        self.sent.insert(uri.to_owned(), version);
        // Findings that were published before the document was closed belong to another text.
        self.published.remove(uri);
        let document = json!({"uri": uri, "languageId": "yaml", "version": version, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}))
    }

    /// Closes a document.
    pub fn close(&mut self, uri: &str) {
        self.sent.remove(uri);
        self.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
    }

    /// Changes an open document; gives its new version and when it was sent.
    pub fn change(&mut self, uri: &str, edit: &LineEdit) -> (i64, Instant) {
        self.change_with(uri, edit.json())
    }

    /// Changes an open document by one content change of the protocol.
    pub fn change_with(&mut self, uri: &str, change: Value) -> (i64, Instant) {
        let version = self.sent.get_mut(uri).expect("a document is opened before it is changed");
        *version += 1;
        let version = *version;
        let document = json!({"uri": uri, "version": version});
        let at = self.notify(
            "textDocument/didChange",
            &json!({"textDocument": document, "contentChanges": [change]}),
        );
        (version, at)
    }

    /// Waits for the answer to a request; gives when it came.
    ///
    /// # Panics
    /// If the answer is an error, or does not come.
    pub fn response(&mut self, id: i64) -> (Instant, Value) {
        loop {
            if let Some((at, mut message)) = self.responses.remove(&id) {
                assert!(message.get("error").is_none(), "a request fails: {message}");
                return (at, message["result"].take());
            }
            self.listen("the answer to a request");
        }
    }

    /// Like [`Client::response`], but an error is given back, as `None`: requests about a text that
    /// has changed since may fail.
    pub fn response_or_error(&mut self, id: i64) -> (Instant, Option<Value>) {
        loop {
            if let Some((at, mut message)) = self.responses.remove(&id) {
                return (at, message.get_mut("result").map(Value::take));
            }
            self.listen("the answer to a request");
        }
    }

    /// Waits for the answer to a request that fails; returns the message.
    pub fn error(&mut self, id: i64) -> String {
        loop {
            if let Some((_, message)) = self.responses.remove(&id) {
                return message["error"]["message"].as_str().unwrap_or_default().to_owned();
            }
            self.listen("the answer to a request");
        }
    }

    /// Waits for the findings of a document at this version.
    pub fn diagnostics(&mut self, uri: &str, version: i64) -> Published {
        self.diagnostics_that(uri, version, |_| true)
    }

    /// Waits for findings of a document at this version that are as they should be.
    pub fn diagnostics_that(
        &mut self,
        uri: &str,
        version: i64,
        right: impl Fn(&Published) -> bool,
    ) -> Published {
        loop {
            if let Some(published) =
                self.published.get(uri).filter(|it| it.version == Some(version) && right(it))
            {
                return published.clone();
            }
            self.listen(&format!("the findings of {uri} at version {version}"));
        }
    }

    /// The latest findings of a document, if any came.
    pub fn latest(&self, uri: &str) -> Option<&Published> {
        self.published.get(uri)
    }

    /// Waits until the server's progress report has ended.
    pub fn progress_end(&mut self) -> Instant {
        loop {
            if let Some(at) = self.progress_ended {
                return at;
            }
            self.listen("the end of the progress report");
        }
    }

    /// Returns how many times the server has sent a request so far.
    pub fn requests(&self, method: &str) -> usize {
        self.requests.get(method).copied().unwrap_or_default()
    }

    /// Waits until the server has sent a request more than so many times.
    pub fn more_requests(&mut self, method: &str, seen: usize) {
        while self.requests(method) <= seen {
            self.listen(&format!("the request {method}"));
        }
    }

    /// Listens until nothing has come for a while.
    pub fn quiet(&mut self, pause: Duration) {
        while self.hear(pause) {}
    }

    /// Returns the findings that were last published for a document: lines (from 0) and messages,
    /// as the library's `findings` returns them.
    pub fn told(&self, uri: &str) -> Vec<(u64, String)> {
        let line =
            |it: &Value| it["range"]["start"]["line"].as_u64().expect("a finding has a place");
        let message = |it: &Value| it["message"].as_str().unwrap_or_default().to_owned();
        self.latest(uri).map_or_else(Vec::new, |last| {
            last.diagnostics.iter().map(|it| (line(it), message(it))).collect()
        })
    }

    /// Waits until these findings of these documents were published, at most for the patience, and
    /// then until no message has arrived for a while, as the server may still replace correct
    /// findings. Other work on the machine causes pauses of any length, so that a pause alone
    /// proves nothing.
    pub fn settle(&mut self, pause: Duration, expected: &[(String, Vec<(u64, String)>)]) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE
            && expected.iter().any(|(uri, findings)| self.told(uri) != *findings)
        {
            self.hear(pause);
        }
        self.quiet(pause);
    }

    fn listen(&mut self, awaited: &str) {
        assert!(self.hear(PATIENCE), "{awaited} has not come within {PATIENCE:?}");
    }

    /// Takes one message, if one comes in time.
    fn hear(&mut self, patience: Duration) -> bool {
        let (at, message) = match self.arrivals.recv_timeout(patience) {
            Ok(arrival) => arrival,
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
        };
        match message["method"].as_str() {
            Some("textDocument/publishDiagnostics") => self.published(at, &message["params"]),
            Some("$/progress") if message["params"]["value"]["kind"] == "end" => {
                self.progress_ended = Some(at)
            }
            Some(method) if message.get("id").is_some() => {
                *self.requests.entry(method.to_owned()).or_default() += 1;
            }
            Some(_) => {}
            None => drop(
                self.responses
                    .insert(message["id"].as_i64().expect("our ids are numbers"), (at, message)),
            ),
        }
        true
    }

    fn published(&mut self, at: Instant, params: &Value) {
        self.answers += 1;
        let uri = params["uri"].as_str().expect("findings name their document").to_owned();
        let version = params["version"].as_i64();
        let diagnostics = params["diagnostics"].as_array().cloned().unwrap_or_default();
        let before = self.published.get(&uri);
        let went_back =
            before.is_some_and(|before| before.version.is_some() && version < before.version);
        let unknown = version > self.sent.get(&uri).copied();
        if version.is_some() && self.sent.contains_key(&uri) && (went_back || unknown) {
            self.stale += 1;
        }
        self.published.insert(uri, Published { version, at, diagnostics });
    }

    /// Resident memory in bytes, now and at its highest, as Linux counts it; `None` elsewhere.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim_start_matches(':').trim().strip_suffix(" kB")?.parse::<u64>().ok()
        };
        Some((field("VmRSS")? << 10, field("VmHWM")? << 10))
    }

    /// Ends the server as the protocol wants it, and closes its input: some wait for that.
    pub fn stop(mut self) {
        let id = self.request("shutdown", &Value::Null);
        self.response(id);
        self.notify("exit", &Value::Null);
        drop(self.stdin.lock().expect("no thread panics while writing").take());
        self.child.wait().expect("a child that was started can be waited for");
    }
}

/// Adds the members of a hash to another, at every depth.
fn merge(one: &mut Value, more: &Value) {
    match (one, more) {
        (Value::Object(one), Value::Object(more)) => {
            for (name, member) in more {
                merge(one.entry(name.clone()).or_insert(Value::Null), member);
            }
        }
        (one, more) => *one = more.clone(),
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // After a panic the server must not stay behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_message(stdout: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                if let Some(number) = header.strip_prefix("Content-Length: ") {
                    length = number.parse::<usize>().ok();
                }
            }
        }
    }
    let mut body = vec![0; length?];
    stdout.read_exact(&mut body).ok()?;
    Some(body)
}

fn write_message(stdin: &Mutex<Option<ChildStdin>>, message: &str) {
    let mut stdin = stdin.lock().expect("no thread panics while writing");
    let Some(stdin) = stdin.as_mut() else { return };
    // If the server has ended, the caller that waits for its answer fails.
    let _ = stdin
        .write_all(format!("Content-Length: {}\r\n\r\n{message}", message.len()).as_bytes())
        .and_then(|()| stdin.flush());
}
