//! The Ruby process: the only file that starts one. It begins with a clean environment, in an empty
//! folder, in a process group of its own, and ends with all that it started.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::{BackendsConfig, Permit};
use crate::disk::{PrivateFolder, environment_variable};
use crate::text::CancelToken;

/// The script that the process runs.
const SCRIPT: &str = include_str!("bridge.rb");
/// The part of the script that keeps other code of the repository from being loaded.
const GATE: &str = include_str!("gate.rb");
/// The variable by which processes are recognised that left their group.
const COOKIE: &str = "HIERA_LS_BRIDGE";
/// The variables that are passed on; those that the user names are added. No other is: an editor's
/// environment holds tokens, and a repository's may hold options for Ruby.
const PASSED_ON: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TMPDIR",
    "SystemRoot",
    "TEMP",
    "TMP",
    "USERPROFILE",
];
/// The most bytes of a message of the process.
const MAX_MESSAGE: u64 = 65 << 20;
/// The most memory of the process and of each of its children, in MiB, where the platform has a
/// bound (Linux).
const MAX_MEMORY: u64 = 2048;
/// The most processes and threads of the user's beside those that there are when Ruby starts, where
/// the platform has a bound (Linux; not for root).
const MAX_PROCESSES: u64 = 256;
/// How much of the standard error is kept, in bytes.
const KEPT_ERRORS: usize = 64 << 10;
/// How many messages wait until they are taken.
const WAITING: usize = 64;
/// How often it is asked whether an answer is still wanted.
const TURN: Duration = Duration::from_millis(50);
/// The most seconds until Puppet is loaded.
const START: Duration = Duration::from_secs(120);

/// The lines that came in.
pub(super) enum Received {
    /// A message.
    Message(Json),
    /// A message that is none: the process is not to be trusted any more.
    Garbage,
    /// Nothing, within the time.
    Nothing,
    /// The process is gone.
    End,
    /// The caller has cancelled the call.
    Cancelled,
}

/// A Ruby process with Puppet loaded.
pub(super) struct Process {
    child: Child,
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Option<Vec<u8>>>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    cookie: String,
    _folder: PrivateFolder,
    /// The first message: the versions.
    pub(super) hello: Json,
}

impl Process {
    /// Starts Ruby and waits until Puppet is loaded.
    ///
    /// Errors: why there is none, for the user.
    pub(super) fn start(
        config: &BackendsConfig,
        permit: &Permit,
        strict: &str,
        cancel: &CancelToken,
    ) -> Result<Process, String> {
        let folder = PrivateFolder::new("hiera-ls")
            .map_err(|error| format!("no folder for Ruby: {error}"))?;
        let cookie = folder.name().to_owned();
        let script = write_source("bridge.rb", SCRIPT, &folder)?;
        write_source("gate.rb", GATE, &folder)?;
        let files = write_source("files.json", &permit.to_json().to_string(), &folder)?;
        let [home, empty] = ["home", "empty"].map(|name| folder.create_folder(name));
        let (home, empty) = home
            .and_then(|home| Ok((home, empty?)))
            .map_err(|error| format!("no folder for Ruby: {error}"))?;
        let (program, arguments) =
            config.command.split_first().ok_or("no command is set that starts Ruby")?;
        let mut command = Command::new(program);
        command.args(arguments).arg(&script).arg(&home).arg(&files).current_dir(&empty).env_clear();
        let mut passed: Vec<(&str, String)> = PASSED_ON
            .into_iter()
            .chain(config.environment.iter().map(String::as_str))
            .filter_map(|name| Some((name, environment_variable(name)?)))
            .collect();
        if !passed.iter().any(|(name, _)| matches!(*name, "LANG" | "LC_ALL" | "LC_CTYPE")) {
            passed.push(("LANG", "C.UTF-8".into())); // Ruby takes texts for ASCII otherwise.
        }
        command.envs(passed).env(COOKIE, &cookie).env("HIERA_LS_STRICT", strict);
        command.env("HIERA_LS_MEMORY", MAX_MEMORY.to_string());
        command.env("HIERA_LS_PROCESSES", MAX_PROCESSES.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child =
            spawn(command).map_err(|error| format!("{program} does not start: {error}"))?;
        tracing::info!(program, "started Ruby for functions of levels");
        let outgoing = spawn_writer(&mut child);
        let incoming = spawn_reader(&mut child);
        let errors = error_reader(&mut child);
        let mut process = Process {
            child,
            outgoing,
            incoming,
            errors,
            cookie,
            _folder: folder,
            hello: Json::Null,
        };
        process.hello = process.read_greeting(program, cancel)?;
        Ok(process)
    }

    fn read_greeting(&mut self, program: &str, cancel: &CancelToken) -> Result<Json, String> {
        let first = match self.receive(START, cancel) {
            Received::Message(message) => message,
            Received::Nothing => {
                return Err(format!("Puppet was not loaded in {} s", START.as_secs()));
            }
            Received::Garbage => return Err(format!("{program} is no Ruby")),
            Received::Cancelled => return Err("the start of Ruby was cancelled".to_owned()),
            Received::End => {
                let last = self.last_error();
                return Err(format!("{program} ended before Puppet was loaded{last}"));
            }
        };
        match (first["refused"].as_str(), first.get("hello")) {
            (Some(reason), _) => Err(reason.to_owned()),
            (None, Some(hello)) => Ok(hello.clone()),
            (None, None) => Err(format!("{program} is no Ruby")),
        }
    }

    /// Returns the last line of the standard error, to be appended to a message.
    fn last_error(&self) -> String {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = errors.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        line.map(|line| format!(": {line}")).unwrap_or_default()
    }

    /// Sends a message; one that cannot be sent shows when the answer does not come.
    pub(super) fn send(&self, message: &Json) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        let _ = self.outgoing.send(line);
    }

    /// Waits up to `at_most` for the next message of Ruby. Returns [`Received::End`] when Ruby has ended,
    /// also where a process that Ruby started keeps the connection open.
    pub(super) fn receive(&mut self, at_most: Duration, cancel: &CancelToken) -> Received {
        let until = Instant::now() + at_most;
        let mut has_ended = false;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let received = match self.incoming.recv_timeout(left.min(TURN)) {
                Ok(Some(line)) => match serde_json::from_slice(&line) {
                    Ok(message) => Received::Message(message),
                    Err(_) => Received::Garbage,
                },
                Ok(None) => Received::Garbage,
                Err(RecvTimeoutError::Disconnected) => Received::End,
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => Received::Cancelled,
                // The reader had one turn to deliver what Ruby wrote before its end.
                Err(RecvTimeoutError::Timeout) if has_ended => Received::End,
                Err(RecvTimeoutError::Timeout) if left <= TURN => Received::Nothing,
                Err(RecvTimeoutError::Timeout) => {
                    has_ended = matches!(self.child.try_wait(), Ok(Some(_)));
                    continue;
                }
            };
            return received;
        }
    }

    /// Returns how the process ended, as a phrase; waits a little for it to do so.
    pub(super) fn end_phrase(&mut self) -> String {
        let until = Instant::now() + Duration::from_secs(1);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let lacks_memory = self.last_error().contains("failed to allocate memory");
                    let bound = if lacks_memory {
                        format!(", which has at most {MAX_MEMORY} MiB of memory,")
                    } else {
                        String::new()
                    };
                    return format!("Ruby{bound} ended ({status})");
                }
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
                _ => return "Ruby closed the connection".to_owned(),
            }
        }
    }
}

fn write_source(name: &str, text: &str, folder: &PrivateFolder) -> Result<PathBuf, String> {
    let written = folder.write(name, text.as_bytes());
    written.map_err(|error| format!("no file for Ruby: {error}"))
}

impl Drop for Process {
    /// Ends the process and all that it started.
    fn drop(&mut self) {
        #[cfg(unix)]
        super::ending::end(&mut self.child, (COOKIE, &self.cookie));
        #[cfg(not(unix))]
        {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        tracing::info!("ended Ruby for functions of levels");
    }
}

/// Starts a command. Not even root's processes may lift the limits that Ruby sets for itself.
fn spawn(mut command: Command) -> std::io::Result<Child> {
    let start = move || {
        #[cfg(target_os = "linux")]
        give_up_limits();
        command.spawn()
    };
    // The processes of a thread lack the rights that the thread gives up; other threads keep them.
    let start = || match thread::Builder::new().spawn(start)?.join() {
        Ok(child) => child,
        Err(_) => Err(std::io::ErrorKind::Other.into()),
    };
    #[cfg(unix)]
    return super::ending::begin(start);
    #[cfg(not(unix))]
    start()
}

/// Gives up the right to lift limits of memory and processes, for this thread and all processes that
/// it starts. Only root's threads have it.
#[cfg(target_os = "linux")]
fn give_up_limits() {
    use rustix::thread::{
        CapabilitySet, capabilities, remove_capability_from_bounding_set, set_capabilities,
    };
    let right = CapabilitySet::SYS_RESOURCE;
    // A thread that may not change the bounding set does not have the right either.
    let _ = remove_capability_from_bounding_set(right);
    if let Ok(mut sets) = capabilities(None) {
        sets.inheritable.remove(right);
        let _ = set_capabilities(None, sets);
    }
}

/// Writes messages from a thread, so that a process that does not read stops no one.
fn spawn_writer(child: &mut Child) -> Sender<Vec<u8>> {
    let (outgoing, messages) = channel::<Vec<u8>>();
    let mut stdin = child.stdin.take();
    thread::spawn(move || {
        for message in messages {
            let Some(stdin) = &mut stdin else { return };
            if stdin.write_all(&message).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    outgoing
}

/// Reads lines in a thread; `None` for one that is too long, after which nothing is read.
fn spawn_reader(child: &mut Child) -> Receiver<Option<Vec<u8>>> {
    let (lines, incoming): (SyncSender<Option<Vec<u8>>>, _) = sync_channel(WAITING);
    let stdout = child.stdout.take();
    thread::spawn(move || {
        let Some(stdout) = stdout else { return };
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut line = Vec::new();
            let read = stdout.by_ref().take(MAX_MESSAGE).read_until(b'\n', &mut line);
            if read.is_err() || line.is_empty() {
                return;
            }
            let is_whole = line.ends_with(b"\n");
            if lines.send(is_whole.then_some(line)).is_err() || !is_whole {
                return;
            }
        }
    });
    incoming
}

/// Keeps the end of the standard error, and reads all of it so that a function that prints goes on.
fn error_reader(child: &mut Child) -> Arc<Mutex<VecDeque<u8>>> {
    let errors = Arc::new(Mutex::new(VecDeque::new()));
    let kept = errors.clone();
    let stderr = child.stderr.take();
    thread::spawn(move || {
        let Some(mut stderr) = stderr else { return };
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&buffer[..read]);
            let excess = kept.len().saturating_sub(KEPT_ERRORS);
            kept.drain(..excess);
        }
    });
    errors
}
