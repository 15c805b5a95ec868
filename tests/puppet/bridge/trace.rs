//! A program under `strace`: what it and its children start, open, change and connect to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::support::TRACE_OPTIONS;

/// The traced calls, those of other kinds of machines among them.
const CALLS: &str = "trace=?execve,?execveat,?open,?openat,?openat2,?creat,?mkdir,?mkdirat,?rename,?renameat,?renameat2,?unlink,?unlinkat,?rmdir,?link,?linkat,?symlink,?symlinkat,?truncate,?chmod,?fchmodat,?socket,?connect,?bind,?sendto,?clone,?clone3,?fork,?vfork";

/// A program that was started.
#[derive(Debug)]
pub(super) struct Traced {
    pub(super) program: String,
    /// The files that the program opened to read.
    pub(super) opened: BTreeSet<String>,
    /// The paths that the program opened, made, changed or removed, or tried to. Of those that it
    /// opened, the real ones.
    pub(super) reached: BTreeSet<String>,
    /// The program's calls that make or use sockets, as strace prints them.
    pub(super) sockets: Vec<String>,
}

/// Returns the built program with arguments in a folder, under `strace`, and the file that the trace
/// goes to. Its home is a folder beside that folder.
pub(super) fn traced(root: &Path, arguments: &[&str]) -> (Command, PathBuf) {
    let trace = root.with_extension("trace");
    let mut command = Command::new("strace");
    command.args(TRACE_OPTIONS).args(["-y", "-s", "4096", "-e", CALLS, "-o"]);
    command.arg(&trace).arg(env!("CARGO_BIN_EXE_hiera-ls")).args(arguments);
    command.current_dir(root).env("HOME", root.with_extension("home"));
    // The program must read neither Cargo's libraries nor configurations of git that its home does
    // not have.
    for name in ["LD_LIBRARY_PATH", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"] {
        command.env_remove(name);
    }
    (command, trace)
}

/// The id of the traced program itself; `None` before it has begun.
pub(super) fn id_of_program(trace: &Path) -> Option<String> {
    let text = std::fs::read_to_string(trace).ok()?;
    Some(text.split_once(" execve(")?.0.trim().to_owned())
}

/// The calls of a trace with their threads, in order; one that was interrupted is whole again.
fn calls(text: &str) -> Vec<(String, String)> {
    let mut unfinished: BTreeMap<&str, &str> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let (thread, call) = line.split_once(' ').expect("a number and a call");
        let call = call.trim_start();
        if let Some(begun) = call.strip_suffix("<unfinished ...>") {
            unfinished.insert(thread, begun);
            continue;
        }
        let whole = match call.split_once(" resumed>") {
            Some((_, rest)) => format!("{}{rest}", unfinished.remove(thread).unwrap_or_default()),
            None => call.to_owned(),
        };
        if whole.contains(" = ") {
            calls.push((thread.to_owned(), whole));
        }
    }
    calls
}

/// Reads the trace of a program that ran in a folder: the programs in the order of their start.
pub(super) fn read(trace: &Path, folder: &Path) -> Vec<Traced> {
    let calls = calls(&std::fs::read_to_string(trace).expect("strace wrote it"));
    // The trace may show a new thread or process before the call that makes it returns.
    let makes = ["clone", "fork", "vfork"];
    let parents: BTreeMap<&str, &str> = calls
        .iter()
        .filter(|(_, call)| makes.iter().any(|name| call.starts_with(name)))
        .filter_map(|(parent, call)| {
            Some((call.rsplit(" = ").next()?.split(' ').next()?, &**parent))
        })
        .collect();
    let mut programs: Vec<Traced> = Vec::new();
    let mut started: BTreeMap<&str, usize> = BTreeMap::new();
    for (thread, call) in &calls {
        let (_, result) = call.rsplit_once(" = ").expect("it has a result");
        let is_done = !result.starts_with('-');
        let name = call.split('(').next().unwrap_or_default();
        if name.starts_with("exec") {
            if is_done {
                let program = call.split('"').nth(1).unwrap_or_default().to_owned();
                let (opened, reached) = (BTreeSet::new(), BTreeSet::new());
                started.insert(thread, programs.len());
                programs.push(Traced { program, opened, reached, sockets: Vec::new() });
            }
            continue;
        }
        if makes.iter().any(|make| name.starts_with(make)) {
            continue;
        }
        let mut of = &**thread;
        while !started.contains_key(of) {
            of = parents.get(of).expect("a thread of the first program has a parent");
        }
        let program = &mut programs[started[of]];
        if ["socket", "connect", "bind", "sendto"].contains(&name) {
            program.sockets.push(call.clone());
            continue;
        }
        let real = real_path(result);
        let paths = real.map_or_else(|| named_paths(call, folder), |path| vec![path]);
        if is_done && call.contains("O_RDONLY") && !call.contains("O_DIRECTORY") {
            program.opened.extend(paths.iter().cloned());
        }
        program.reached.extend(paths);
    }
    programs
}

/// The path of the opened file in a result such as `3</etc/hosts>`; `None` in any other result.
fn real_path(result: &str) -> Option<String> {
    Some(result.split_once('<')?.1.rsplit_once('>')?.0.to_owned())
}

/// The paths in the arguments of a call. Relative ones are in the folder that stands before them, as in
/// `openat(4</srv>, "data", …)`, or else in the folder that the program was started in.
fn named_paths(call: &str, folder: &Path) -> Vec<String> {
    let parts: Vec<&str> = call.split('"').collect();
    let quoted = parts.chunks_exact(2).map(|two| (two[0], two[1]));
    quoted
        .map(|(before, path)| {
            let base = before.rsplit_once('<').and_then(|(_, base)| Some(base.rsplit_once('>')?.0));
            without_dots(&base.map_or(folder, Path::new).join(path))
        })
        .collect()
}

/// A path without `.` and `..`, taken by its text.
fn without_dots(path: &Path) -> String {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain.display().to_string()
}

#[test]
fn a_trace_has_the_paths_that_each_program_reached() {
    let folder = crate::support::scratch("trace-read");
    let trace = folder.join("trace");
    let text = r#"10 execve("/bin/a", ["a"], 0x7 /* 3 vars */) = 0
10 openat(AT_FDCWD</r>, "/r/link", O_RDONLY|O_CLOEXEC) = 3</out/real>
10 openat(AT_FDCWD</r>, "../up", O_RDONLY) = -1 ENOENT (No such file or directory)
10 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
11 rename("x", "/r/y") = 0
10 <... clone resumed>) = 11
11 execve("/bin/b", ["b"], 0x7 /* 3 vars */) = 0
11 mkdirat(5</tmp>, "d", 0777) = 0
11 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 3<socket:[1]>
11 +++ exited with 0 +++
"#;
    std::fs::write(&trace, text).expect("it can be written");
    let programs = read(&trace, Path::new("/start"));
    let [a, b] = &programs[..] else { panic!("{programs:?}") };
    let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!((&*a.program, &a.opened), ("/bin/a", &set(&["/out/real"])));
    assert_eq!(a.reached, set(&["/out/real", "/up", "/start/x", "/r/y"]));
    assert_eq!((&*b.program, &b.reached), ("/bin/b", &set(&["/tmp/d"])));
    assert_eq!((a.sockets.len(), b.sockets.len()), (0, 1));
    assert_eq!(id_of_program(&trace).as_deref(), Some("10"));
}
