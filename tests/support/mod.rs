//! Helpers that the integration tests share: the built binary, paths, JSON lines, and the rule for
//! a missing tool. Nothing here depends on Hiera. A suite declares `mod support;` and uses the
//! helpers that it needs.
//!
//! # Tests that need something this machine may not have
//!
//! A test that needs Puppet, Neovim and the like begins with `if !require("puppet") { return; }`.
//! Where the tool is missing, the test prints one line `skipped TEST: …` and passes, so that `cargo
//! test` works everywhere. A machine that must have the tool (CI) names it in `HIERA_LS_REQUIRE`, a
//! list separated by commas or spaces (`HIERA_LS_REQUIRE=puppet,nvim`); then the same test fails.
//!
//! A plain `cargo test` downloads nothing and takes about two minutes. Suites that install packages
//! run only where `HIERA_LS_REQUIRE` names them ([`may_install`]), and suites that ask Puppet or
//! Ruby thousands of questions ask one in [`PLAIN_SHARE`] of them elsewhere ([`is_asked`]).
//!
//! # Variables
//!
//! | | |
//! |---|---|
//! | `HIERA_LS_REQUIRE` | what must not be skipped |
//! | `HIERA_LS_PUPPET_LIB` | `lib/` of the source tree of a Puppet or OpenVox, asked in place of the installed Puppet; hiera-ls answers for its version |
//! | `HIERA_LS_RECORD=1` | write the recorded answers anew |
//! | `HIERA_LS_MANIFESTS` | folders of modules, separated by colons, whose manifests are compared with Puppet's reading |
//! | `HIERA_LS_CORPUS_ROOT`, `HIERA_LS_CORPUS_SCOPES` | a control repository, and a file of scopes (JSON lines) for it |
//! | `HIERA_LS_CORPUS_NODES` | how many of these scopes to ask (20), each with every merge; `all`: the whole fleet, with the configured merges |
//! | `HIERA_LS_NVIM_011`, `HIERA_LS_NVIM_07` | Neovim 0.11 or newer, and one of 0.7 to 0.10 |
//! | `HIERA_LS_ALE` | the folder of ALE, Vim's linter (`/usr/share/vim-ale`) |
//! | `HIERA_LS_SEED` | repeats a run of a suite with random cases, which prints it |
//! | `HIERA_LS_WORDS=1` | print the errors whose words are not Puppet's |
//! | `HIERA_LS_EDITS` | how many random edits `typing` (400) and `equivalence` (1,000) make |
//! | `HIERA_LS_PLACES` | at how many random places `consistency` compares the features (2,000) |
//! | `HIERA_LS_FAULTS=all` | `refused` has each call of the system fail in turn, not four of a kind |
//! | `HIERA_LS_FUZZ` | how many seconds each target of `fuzz` runs (2) |
//! | `HIERA_LS_PATIENCE` | how many seconds the suites of the protocol and of VS Code wait for a message (60) |
#![allow(dead_code, reason = "each suite uses its own part of this module")]

pub mod npm;
pub mod python;
pub mod random;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::Value;

/// Whether `tool` is here; the module's text describes the other case. Knows `puppet` (a Ruby that
/// finds Puppet), `corpus` (its variables are set) and `ptrace` (processes may be traced here; needs
/// the program `strace`); any other name is a program on `PATH`.
pub fn require(tool: &str) -> bool {
    let obstacle = match tool {
        "puppet" => oracle_version().as_ref().err().cloned(),
        "corpus" => ["HIERA_LS_CORPUS_ROOT", "HIERA_LS_CORPUS_SCOPES"]
            .into_iter()
            .find(|name| variable(name).is_none())
            .map(|name| format!("{name} is not set")),
        "ptrace" => refused_trace(),
        program => (!on_path(program)).then(|| format!("no {program} on PATH")),
    };
    match obstacle {
        Some(obstacle) => missing(tool, &obstacle),
        None => true,
    }
}

/// Why the system refuses to let `strace` trace a process, as containers may; `None` where it does
/// not.
fn refused_trace() -> Option<String> {
    let probe =
        Command::new("strace").args(TRACE_OPTIONS).args(["-o", "/dev/null", "true"]).output();
    let reason = match probe {
        Ok(output) if output.status.success() => return None,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    Some(format!("processes may not be traced here: {reason}"))
}

/// How `strace` follows the threads and children of a program: it stops at the wanted calls alone.
pub const TRACE_OPTIONS: [&str; 2] = ["-f", "--seccomp-bpf"];

/// The major version of the Puppet whose answers are recorded.
const RECORDED_PUPPET: u8 = 7;

/// The major version of the Puppet that the oracle asks, for which hiera-ls answers in the tests
/// that ask it. Call only after `require("puppet")`.
pub fn puppet_major() -> u8 {
    let version = oracle_version().as_ref().expect("require(\"puppet\") said so");
    let major = version["puppet"].as_str().and_then(|text| text.split('.').next()?.parse().ok());
    major.unwrap_or_else(|| panic!("no version of Puppet: {version}"))
}

/// Whether the recorded answers are those of the oracle's version of Puppet. Call only after
/// `require("puppet")`.
pub fn is_recorded_puppet() -> bool {
    puppet_major() == RECORDED_PUPPET
}

/// `require("puppet")` for a test that compares recordings with what Puppet says, and writes them.
pub fn require_recorded_puppet() -> bool {
    require("puppet") && (is_recorded_puppet() || is_of_another_version("recorded-puppet"))
}

/// `require("puppet")` for a test that compares hiera-ls with a Puppet whose answers are not
/// recorded.
pub fn require_unrecorded_puppet() -> bool {
    require("puppet") && (!is_recorded_puppet() || is_of_another_version("unrecorded-puppet"))
}

fn is_of_another_version(tool: &str) -> bool {
    missing(tool, &format!("the oracle asks Puppet {} (HIERA_LS_PUPPET_LIB)", puppet_major()))
}

/// Returns the address of a file or folder, as a client writes it.
pub fn file_uri(path: impl AsRef<Path>) -> String {
    let uri = tower_lsp::lsp_types::Url::from_file_path(path).expect("the path is absolute");
    uri.into()
}

/// For suites that find out about their tool themselves: reports `tool` as missing. Returns
/// `false`, or panics if `HIERA_LS_REQUIRE` names it.
pub fn missing(tool: &str, obstacle: &str) -> bool {
    assert!(!is_required(tool), "HIERA_LS_REQUIRE names {tool}, but {obstacle}");
    let thread = std::thread::current();
    // `eprintln!` does not fit: the test harness shows its output for failing tests only.
    let line = format!("skipped {}: {obstacle}\n", thread.name().unwrap_or(tool));
    drop(std::io::stderr().write_all(line.as_bytes()));
    false
}

/// Whether `HIERA_LS_REQUIRE` names `tool`.
pub fn is_required(tool: &str) -> bool {
    let required = variable("HIERA_LS_REQUIRE").unwrap_or_default();
    required.split([',', ' ']).any(|name| name == tool)
}

/// An error, unless `HIERA_LS_REQUIRE` names `tool`: a suite that downloads packages runs only
/// where it is asked for.
pub fn may_install(tool: &str) -> Result<(), String> {
    if is_required(tool) {
        return Ok(());
    }
    Err(format!("it downloads packages, and runs where HIERA_LS_REQUIRE names {tool}"))
}

/// One in how many cases a plain `cargo test` asks Puppet or Ruby about.
pub const PLAIN_SHARE: usize = 20;

/// Whether the case with this number is asked of `tool`: every one where `HIERA_LS_REQUIRE` names
/// it, and where answers are recorded; else one in [`PLAIN_SHARE`].
pub fn is_asked(tool: &str, number: usize) -> bool {
    is_required(tool) || variable("HIERA_LS_RECORD").is_some() || number.is_multiple_of(PLAIN_SHARE)
}

/// An environment variable; empty is absent.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The value of `HIERA_LS_RECORD`: the topic to record anew, or `1` for all. Panics where the oracle
/// asks a Puppet whose answers are not recorded: they would take the place of those of the recorded one.
pub fn topic_to_record() -> Option<String> {
    let topic = variable("HIERA_LS_RECORD")?;
    assert!(
        is_recorded_puppet(),
        "HIERA_LS_RECORD records Puppet {RECORDED_PUPPET}, and the oracle asks Puppet {} (HIERA_LS_PUPPET_LIB)",
        puppet_major()
    );
    Some(topic)
}

/// The oracle, which answers lookups with real Puppet: `tests/puppet/oracle/README.md` has its
/// protocol. Call only after `require("puppet")`.
pub fn oracle() -> Command {
    oracle_of(variable("HIERA_LS_PUPPET_LIB"))
}

/// The oracle of the Puppet with this `lib/`; of the installed one without it.
pub fn oracle_of(lib: Option<String>) -> Command {
    // `ruby()` does not fit: recorded messages of Ruby's own have the source lines that Ruby adds.
    let mut command = ruby_with_puppet_of(lib);
    command.arg(in_package("tests/puppet/oracle/oracle.rb"));
    command
}

/// The versions of the programs behind the oracle's answers (`{"puppet":"7.23.0",…}`), or why it
/// cannot be used. Asked once per test program.
pub fn oracle_version() -> &'static Result<Value, String> {
    static VERSION: OnceLock<Result<Value, String>> = OnceLock::new();
    VERSION.get_or_init(|| {
        let output = oracle()
            .arg("--version")
            .output()
            .map_err(|error| format!("Ruby does not start: {error}"))?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the oracle does not start: {}", reason.trim()));
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("the oracle's version is not JSON: {error}"))
    })
}

/// How many random cases to ask of `tool`: `HIERA_LS_RANDOM`, else `default` where
/// `HIERA_LS_REQUIRE` names the tool, else one in [`PLAIN_SHARE`] of that.
pub fn random_cases(tool: &str, default: usize) -> usize {
    random::count(if is_required(tool) { default } else { default / PLAIN_SHARE })
}

/// A path below the root of this package: `in_package("tests/control-repo")`.
pub fn in_package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A new empty directory for one test, below Cargo's directory for that; files of an earlier run
/// are removed.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    make_empty(&dir);
    dir
}

/// Returns the program without its symbols, in a directory of this name below Cargo's directory for
/// tests. Symbols are most of the program that Cargo builds for tests: packages of it would take three
/// times as long to make and to install.
pub fn stripped_program(folder: &str) -> PathBuf {
    let program = scratch(folder).join("hiera-ls");
    let mut strip = Command::new("strip");
    let run = run(strip.arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_hiera-ls")), "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    program
}

/// Makes a folder, or removes what is in it.
fn make_empty(folder: &Path) {
    if folder.exists() {
        std::fs::remove_dir_all(folder).expect("a scratch directory can be removed");
    }
    std::fs::create_dir_all(folder).expect("a scratch directory can be made");
}

/// Returns `folder` once `make` has filled it, which is done where `HIERA_LS_REQUIRE` names `tool`, and
/// again when the recipe changes. An incomplete folder is not used: the recipe is written last.
///
/// Tests that ask at the same time wait for each other; `make` calls this function for no other folder.
pub fn make_once(
    tool: &str,
    folder: PathBuf,
    recipe: &str,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    static MAKING: Mutex<()> = Mutex::new(());
    may_install(tool)?;
    let made_from = folder.join("made-from.txt");
    let is_made = || std::fs::read_to_string(&made_from).is_ok_and(|made_from| made_from == recipe);
    if is_made() {
        return Ok(folder);
    }
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_made() {
        make_empty(&folder);
        make(&folder)?;
        let written = std::fs::write(&made_from, recipe);
        written.map_err(|error| format!("{} cannot be written: {error}", made_from.display()))?;
    }
    Ok(folder)
}

/// Makes a file that this process has written a program. A child that another test starts may still
/// have the file open for writing, and then it cannot be started; its copy is no such file.
pub fn make_program(path: &Path) {
    let script = r#"cp "$1" "$1.copy" && chmod 755 "$1.copy" && mv "$1.copy" "$1""#;
    let copied = run(Command::new("sh").args(["-c", script, "sh"]).arg(path), "");
    assert_eq!(copied.status, Some(0), "{}", copied.stderr);
}

/// `PATH` with a folder first, below `temporary`, that holds only the built server, so that the
/// shipped files are tested unchanged; and with another folder behind it.
pub fn path_with_server(temporary: &Path, other: Option<&Path>) -> OsString {
    let folder = temporary.join("bin");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let program = folder.join(format!("hiera-ls{}", std::env::consts::EXE_SUFFIX));
    // A copy would be a program that this process writes (see `make_program`).
    let built = env!("CARGO_BIN_EXE_hiera-ls");
    if !program.exists() {
        std::fs::hard_link(built, program).expect("the built server is in the same file system");
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let before = [Some(folder.as_path()), other].into_iter().flatten().map(Path::to_owned);
    std::env::join_paths(before.chain(std::env::split_paths(&path))).expect("what PATH was made of")
}

/// Writes a file, and makes the folders that it is in.
pub fn write_file(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    let path = path.as_ref();
    std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("it can be made");
    std::fs::write(path, text).expect("it can be written");
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("a folder can be read") {
        let entry = entry.expect("a folder can be read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}

/// The built `hiera-ls` with arguments, to be run in the root of this package.
pub fn hiera_ls<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// The names of the program's commands, as `--help` lists them.
pub fn commands() -> Vec<String> {
    let help = run(&mut hiera_ls(["--help"]), "").stdout;
    let commands = help.split("Commands:\n").nth(1).expect("it lists commands");
    commands
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// The methods of all requests that the server answers from a workspace, as `src/server/dispatch.rs`
/// has them.
pub fn request_methods() -> Vec<String> {
    let path = in_package("src/server/dispatch.rs");
    let text = std::fs::read_to_string(path).expect("the package has its sources");
    let is_request = |call: &&str| ["(", "_async(", "_list("].iter().any(|it| call.starts_with(it));
    let requests = text.split("all.add").skip(1).filter(is_request);
    let methods: Vec<String> = requests
        .map(|call| call.split('"').nth(1).expect("the first argument is the method").to_owned())
        .collect();
    assert!(methods.len() > 30, "the methods are where this function looks for them: {methods:?}");
    methods
}

/// Ruby without the source lines that it may add to messages, and in UTF-8 wherever the test runs.
pub fn ruby() -> Command {
    let mut command = ruby_with_puppet();
    command.arg("--disable=error_highlight");
    command
}

/// Ruby that finds the Puppet of `HIERA_LS_PUPPET_LIB`, else the installed one.
pub fn ruby_with_puppet() -> Command {
    ruby_with_puppet_of(variable("HIERA_LS_PUPPET_LIB"))
}

fn ruby_with_puppet_of(lib: Option<String>) -> Command {
    let mut command = Command::new("ruby");
    command.env("LC_ALL", "C.UTF-8");
    if let Some(folder) = lib {
        // The path is absolute, as some tests run Ruby in another folder. OpenVox 9 expects Ruby
        // 3.2, which needs no `require 'set'`.
        command.arg("-I").arg(in_package(&folder)).arg("-rset");
    }
    command
}

/// How a program ended.
#[derive(Debug)]
pub struct Run {
    /// The exit status; `None` after a signal.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `command` to its end with `stdin` as its input. Never blocks on full pipes: input is
/// written while output is read.
pub fn run(command: &mut Command, stdin: impl AsRef<[u8]>) -> Run {
    let stdin = stdin.as_ref();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let mut pipe = child.stdin.take().expect("stdin was asked to be a pipe");
    let output = std::thread::scope(|scope| {
        // A program may end without reading all of its input: the caller judges such an end by the
        // program's status.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().expect("a child that was started can be waited for")
    });
    Run {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The values of a text of JSON lines; `what` names it in the panic when a line is not JSON. Blank
/// lines are skipped.
pub fn json_lines(what: &str, text: &str) -> Vec<Value> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(i, line)| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{what}:{}: {error}: {line}", i + 1))
        })
        .collect()
}

/// Whether two values are the same to the byte once written: unlike `==` this also compares the
/// order of hash keys, and `1` differs from `1.0`. Numbers go through `i64`, `u64` or `f64`:
/// integers of more than 64 bits are compared as floats.
pub fn same_json(a: &Value, b: &Value) -> bool {
    let written = Value::to_string;
    a == b && written(a) == written(b)
}

/// `text` cut after `max` characters, with an ellipsis if anything was cut.
pub fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// Whether a program is on `PATH`.
pub fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}
