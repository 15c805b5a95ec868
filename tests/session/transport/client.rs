//! A client that knows frames and nothing else.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a server may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server's process, and the ends of its pipes that are still open.
pub struct Server {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<BufReader<ChildStdout>>,
}

/// A body with its header.
pub fn frame(body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// A request for which the server need not read any folder.
pub fn ping(id: &str) -> Vec<u8> {
    let place = json!({"textDocument": {"uri": "file:///nowhere.yaml"},
                       "position": {"line": 0, "character": 0}});
    frame(
        json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": place})
            .to_string(),
    )
}

/// Parameters that serve most requests about a place in a document.
pub fn parameters(uri: &str, line: usize, character: usize) -> Value {
    let place = json!({"line": line, "character": character});
    json!({
        "textDocument": {"uri": uri},
        "position": place,
        "positions": [place],
        "range": {"start": place, "end": place},
        "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1},
        "previousResultId": "0",
        "previousResultIds": [],
        "newName": "new",
        "query": "",
        "files": [],
        "command": "hiera.unknown",
        "node": "a1",
    })
}

impl Server {
    /// Starts a command with pipes.
    pub fn spawn(command: &mut Command) -> Server {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server can be started");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        Server { child, stdin, stdout }
    }

    /// Starts the server.
    pub fn start() -> Server {
        Server::spawn(Command::new(env!("CARGO_BIN_EXE_hiera-ls")).arg("server"))
    }

    /// Starts the server and introduces a client whose process is `process`.
    pub fn initialized(process: Option<u32>) -> Server {
        let mut server = Server::start();
        server.initialize(process);
        server
    }

    /// Introduces a client whose process is `process`, and reports that the client is ready.
    pub fn initialize(&mut self, process: Option<u32>) {
        self.introduce(process);
        self.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    }

    /// Introduces a client whose process is `process`.
    pub fn introduce(&mut self, process: Option<u32>) {
        let params = json!({"processId": process, "rootUri": null, "capabilities": {}});
        self.send(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}));
        assert!(self.answers_until("i").1["result"]["capabilities"].is_object());
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        stdin.write_all(bytes).expect("the server reads its standard input");
    }

    pub fn send(&mut self, message: &Value) {
        self.write(&frame(message.to_string()));
    }

    /// The next message; `None` at the end.
    pub fn read(&mut self) -> Option<Value> {
        let stdout = self.stdout.as_mut().expect("standard output is open");
        let mut header = String::new();
        stdout.read_line(&mut header).expect("standard output can be read");
        let length = header.strip_prefix("Content-Length: ")?.trim_end().parse().expect("a length");
        let mut body = vec![0; length];
        stdout.read_line(&mut header).expect("standard output can be read");
        stdout.read_exact(&mut body).expect("the body is as long as its header says");
        Some(serde_json::from_slice(&body).expect("the server sends JSON"))
    }

    /// The answer with this id, and the ones before it; notifications and requests of the server
    /// are left out.
    pub fn answers_until(&mut self, id: &str) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.read().unwrap_or_else(|| panic!("no answer to {id}: {before:?}"));
            match message.get("id") {
                Some(answered) if answered == id => return (before, message),
                _ if message.get("method").is_some() => {}
                _ => before.push(message),
            }
        }
    }

    /// The exit status and standard error of a server that ends by itself.
    pub fn end(mut self) -> (Option<i32>, String) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            assert!(started.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut words = String::new();
        let stderr = self.child.stderr.take().expect("standard error is a pipe");
        BufReader::new(stderr).read_to_string(&mut words).expect("words are UTF-8");
        assert!(!words.contains("panicked"), "{words}");
        (status.code(), words)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves no process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
