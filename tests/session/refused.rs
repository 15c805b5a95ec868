//! Calls that the operating system refuses to the built program, one at a time: `strace` makes the
//! n-th call of a kind fail. Nothing hangs, and nothing is missing without a word.
//!
//! A kind is a system call with an error. Of each kind a few calls fail in turn, other ones with
//! each error; with `HIERA_LS_FAULTS=all` every call.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{TRACE_OPTIONS, file_uri, in_package, require, scratch, variable};
use crate::transport::client::frame;

/// System calls, and the errors that each is refused with.
const CALLS: [(&str, &[&str]); 16] = [
    ("openat", &["EACCES", "EIO", "EMFILE", "ENFILE", "ENOMEM", "ESTALE", "ENOENT", "ELOOP"]),
    ("read", &["EIO", "EINTR", "ENOMEM", "ESTALE", "EISDIR", "EAGAIN"]),
    ("statx", &["EACCES", "EIO", "ENOMEM", "ELOOP", "ESTALE", "ENOENT", "ENOSYS"]),
    ("newfstatat", &["EACCES", "EIO", "ENOMEM", "ELOOP"]),
    ("getdents64", &["EIO", "EBADF", "ENOMEM", "ESTALE"]),
    ("readlink", &["EACCES", "EIO", "ENOMEM", "ELOOP"]),
    ("write", &["ENOSPC", "EIO", "EPIPE", "EINTR", "EDQUOT", "EFBIG"]),
    ("clone3", &["EAGAIN", "ENOMEM", "EPERM"]),
    ("mmap", &["ENOMEM", "EAGAIN"]),
    ("mprotect", &["ENOMEM", "EACCES"]),
    ("getcwd", &["ENOENT", "EACCES", "ENOMEM"]),
    ("lseek", &["ESPIPE", "EINVAL"]),
    ("close", &["EIO", "EINTR"]),
    ("brk", &["ENOMEM"]),
    ("epoll_create1", &["EMFILE", "ENOMEM"]),
    ("eventfd2", &["EMFILE", "ENFILE"]),
];

/// The time after which a command counts as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many calls of a kind fail in turn, unless all do.
const SAMPLE: usize = 4;

/// A way to use the program.
struct Session {
    name: &'static str,
    arguments: Vec<&'static str>,
    input: Vec<u8>,
}

/// The end of a command: its status, where no signal ended it, and its output.
struct End {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl End {
    /// Whether the command ended at once with a failure and a message. Where `write` was refused,
    /// the message may be the refused text: then the status alone counts.
    fn is_failure(&self, call: &str) -> bool {
        let is_other = self.status.is_none_or(|status| !matches!(status, 0 | 1 | 3));
        is_other && (!self.stderr.trim().is_empty() || call == "write")
    }
}

fn sessions() -> [Session; 3] {
    let keys = ["company", "profile::base::motd", "profile::web::vhosts", "ntp_servers", "nowhere"];
    let questions: String = keys.map(|key| format!("{{\"key\":\"{key}\"}}\n")).concat();
    let root = file_uri(in_package("tests/control-repo"));
    let params = json!({"processId": null, "rootUri": root, "capabilities": {}});
    let place = json!({"textDocument": {"uri": format!("{root}/data/common.yaml")},
                       "position": {"line": 0, "character": 0}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "textDocument/hover", "params": place}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "hiera/nodes", "params": {}}),
    ];
    // The end of the input ends the session.
    let input = messages.iter().flat_map(|message| frame(message.to_string())).collect();
    [
        Session {
            name: "check",
            arguments: vec!["check", "--format", "jsonl", "--fail-on", "hint"],
            input: Vec::new(),
        },
        Session {
            name: "batch",
            arguments: vec!["lookup", "--batch", "--node", "web-01.oslo.example.net"],
            input: questions.into_bytes(),
        },
        Session { name: "server", arguments: vec!["server"], input },
    ]
}

impl Session {
    /// Runs the session in the sample repository below a prefix of a command line.
    fn run(&self, prefix: &[String]) -> End {
        let words: Vec<&str> = prefix.iter().map(String::as_str).collect();
        let program = [&words[..], &[env!("CARGO_BIN_EXE_hiera-ls")], &self.arguments].concat();
        let mut child = Command::new(program[0])
            .args(&program[1..])
            .current_dir(in_package("tests/control-repo"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let id = child.id();
        let mut stdin = child.stdin.take().expect("it is a pipe");
        let input = self.input.clone();
        // The input stays open until it was read, or the program has ended.
        let writer =
            std::thread::spawn(move || drop(std::io::Write::write_all(&mut stdin, &input)));
        let started = Instant::now();
        let reader = std::thread::spawn(move || child.wait_with_output());
        while !reader.is_finished() {
            assert!(started.elapsed() < PATIENCE, "{}: process {id} hangs: {prefix:?}", self.name);
            std::thread::sleep(Duration::from_millis(2));
        }
        writer.join().expect("no panic");
        let output = reader.join().expect("no panic").expect("it can be waited for");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        End {
            status: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// How often each thread makes a call, at most.
    fn count(&self, call: &str, trace: &Path) -> usize {
        self.run(&strace(trace, &[format!("trace={call}")]));
        let text = std::fs::read_to_string(trace).unwrap_or_default();
        let mut by_thread: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines().filter(|line| line.contains(&format!("{call}("))) {
            *by_thread.entry(line.split(' ').next().unwrap_or_default()).or_default() += 1;
        }
        by_thread.into_values().max().unwrap_or_default()
    }

    /// Returns the loss that no message reports after a fault; `None` where there is none.
    fn lost(&self, sound: &End, end: &End, (call, error): (&str, &str)) -> Option<String> {
        let own_panic = end.stderr.contains("panicked at src/");
        if own_panic {
            return Some(format!("a panic: {}", end.stderr));
        }
        let is_same = end.status == sound.status && end.stdout == sound.stdout;
        // A signal ends a program that has no memory (no status). A file that is gone when it is
        // opened was deleted in the meantime, and a reader that closes the pipe needs no more of
        // the report.
        let is_gone = error == "ENOENT" || error == "EPIPE" && self.name != "server";
        if is_same || end.is_failure(call) || is_gone || end.status.is_none() {
            return None;
        }
        let is_told = match self.name {
            "server" => (1..=3).all(|id| end.stdout.contains(&format!("\"id\":{id}"))),
            "batch" => {
                let is_open =
                    |line: &str| line.contains("\"error\":") || line.contains("\"settled\":false");
                let lines = end.stdout.lines().zip(sound.stdout.lines());
                end.stdout.lines().count() == sound.stdout.lines().count()
                    && lines.into_iter().all(|(now, before)| now == before || is_open(now))
            }
            _ => end.stdout.lines().any(|line| !sound.stdout.contains(line)),
        };
        let has_words = !end.stderr.trim().is_empty() && end.stderr != sound.stderr;
        (!is_told && !has_words).then(|| format!("status {:?}: {}", end.status, end.stdout))
    }
}

/// The command line of `strace`, which writes to a file.
fn strace(trace: &Path, expressions: &[String]) -> Vec<String> {
    let fixed = ["strace"].into_iter().chain(TRACE_OPTIONS).chain(["-o"]).map(str::to_owned);
    let file = trace.display().to_string();
    let each = expressions.iter().flat_map(|one| ["-e".to_owned(), one.clone()]);
    fixed.chain([file]).chain(each).collect()
}

/// The numbers of the calls that fail in turn; other ones for each kind.
fn chosen(count: usize, kind: usize) -> Vec<usize> {
    if variable("HIERA_LS_FAULTS").is_some_and(|it| it == "all") || count <= SAMPLE {
        return (1..=count).collect();
    }
    let step = count.div_ceil(SAMPLE);
    (1..=count).filter(|number| number % step == kind % step).collect()
}

#[test]
fn what_the_system_refuses_is_told_or_changes_nothing() {
    // Where a process may not be traced, the test cannot make calls fail.
    if !require("strace") || !require("ptrace") {
        return;
    }
    let dir = scratch("refused");
    let mut jobs = Vec::new();
    let mut kinds = 0;
    let sessions = sessions();
    let sound: Vec<End> = sessions.iter().map(|session| session.run(&["env".into()])).collect();
    for (call, errors) in CALLS {
        for (n, session) in sessions.iter().enumerate() {
            let count = session.count(call, &dir.join("count"));
            for (kind, error) in errors.iter().enumerate() {
                jobs.extend(chosen(count, kind).into_iter().map(|at| (n, call, *error, at)));
            }
        }
        kinds += errors.len();
    }
    let next = AtomicUsize::new(0);
    let injected = AtomicUsize::new(0);
    let work = || {
        let mut silent = Vec::new();
        while let Some((n, call, error, at)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let trace = dir.join(format!("{n}-{call}-{error}-{at}"));
            let inject = format!("inject={call}:error={error}:when={at}");
            let end = sessions[*n].run(&strace(&trace, &[format!("trace={call}"), inject]));
            let told = std::fs::read_to_string(&trace).unwrap_or_default();
            let Some(line) = told.lines().find(|line| line.contains("(INJECTED)")) else {
                continue;
            };
            injected.fetch_add(1, Ordering::Relaxed);
            let lost = sessions[*n].lost(&sound[*n], &end, (call, error));
            silent.extend(lost.map(|lost| format!("{}: {line}\n  {lost}", sessions[*n].name)));
            drop(std::fs::remove_file(&trace));
        }
        silent
    };
    let silent: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let injected = injected.into_inner();
    eprintln!("{kinds} kinds of faults, {injected} calls refused");
    assert!(silent.is_empty(), "{} of {injected}:\n{}", silent.len(), silent.join("\n"));
    assert!(kinds >= 54 && injected > 300, "{kinds} kinds, {injected} calls");
}
