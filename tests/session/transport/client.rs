//! A client that knows frames and nothing else.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a server may take for a message, or for its end, before a test fails. A busy machine
/// takes half a minute for Ruby under `strace`.
const PATIENCE: Duration = Duration::from_secs(300);

/// A server's process, and the ends of its pipes that are still open.
pub struct Server {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<BufReader<ChildStdout>>,
    /// Reads standard error to its end: a server that fills a pipe stops.
    stderr: Option<JoinHandle<String>>,
    /// The server's notifications and requests that came while the test waited for an answer.
    calls: VecDeque<Value>,
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
        let mut stderr = child.stderr.take().expect("standard error is a pipe");
        let stderr = std::thread::spawn(move || {
            let mut words = Vec::new();
            stderr.read_to_end(&mut words).expect("standard error can be read");
            String::from_utf8(words).expect("words are UTF-8")
        });
        Server { child, stdin, stdout, stderr: Some(stderr), calls: VecDeque::new() }
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
        await_output(stdout);
        let mut header = String::new();
        stdout.read_line(&mut header).expect("standard output can be read");
        let length = header.strip_prefix("Content-Length: ")?.trim_end().parse().expect("a length");
        let mut body = vec![0; length];
        stdout.read_line(&mut header).expect("standard output can be read");
        stdout.read_exact(&mut body).expect("the body is as long as its header says");
        Some(serde_json::from_slice(&body).expect("the server sends JSON"))
    }

    /// The next notification or request of the server; `None` at the end. The server may send a
    /// request before the answer of the command that leads to the request.
    #[allow(dead_code, reason = "tests/puppet uses it")]
    pub fn call(&mut self) -> Option<Value> {
        if let Some(call) = self.calls.pop_front() {
            return Some(call);
        }
        loop {
            let message = self.read()?;
            if message.get("method").is_some() {
                return Some(message);
            }
        }
    }

    /// The answer with this id, and the ones before it; [`Server::call`] returns the notifications
    /// and requests of the server that came before the answer.
    pub fn answers_until(&mut self, id: &str) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.read().unwrap_or_else(|| panic!("no answer to {id}: {before:?}"));
            match message.get("id") {
                Some(answered) if answered == id => return (before, message),
                _ if message.get("method").is_some() => self.calls.push_back(message),
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
        let stderr = self.stderr.take().expect("a server ends once");
        let words = stderr.join().expect("standard error can be read");
        assert!(!words.contains("panicked"), "{words}");
        (status.code(), words)
    }
}

/// Waits until there is something to read, or the end.
///
/// Panics where there is neither within [`PATIENCE`], on Unix; elsewhere the reader waits for ever.
fn await_output(stdout: &BufReader<ChildStdout>) {
    #[cfg(unix)]
    if stdout.buffer().is_empty() {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let until = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        let ready = loop {
            match poll(&mut [PollFd::new(stdout.get_ref(), PollFlags::IN)], Some(&until)) {
                Err(rustix::io::Errno::INTR) => {}
                ready => break ready.expect("standard output can be waited for"),
            }
        };
        assert!(ready > 0, "the server sends nothing in {PATIENCE:?}");
    }
    #[cfg(not(unix))]
    let _ = stdout;
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves no process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
