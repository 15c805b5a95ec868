//! The system calls of commands and servers over a repository with planted files: the programs that
//! they start, and the files that they open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::planted::{PLANTED, marks, repository};
use super::write;
use crate::support::{self, missing, require};
use crate::transport_client::Server;

/// Folders of the system that every program opens files in: libraries, time zones, the kernel's.
const OF_SYSTEM: [&str; 7] = ["/etc/", "/usr/", "/lib", "/proc/", "/sys/", "/dev/", "/nix/"];

/// A program that was started, and the files that it opened to read.
#[derive(Debug)]
struct Traced {
    program: String,
    opened: BTreeSet<String>,
}

/// Whether processes may be traced here.
fn traces() -> bool {
    let status = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    status.is_ok_and(|status| status.success()) || missing("strace", "it may not trace processes")
}

/// The program under `strace`, which writes to a file; its home is a folder beside the repository.
fn traced(root: &Path, arguments: &[&str]) -> (Command, PathBuf) {
    let trace = root.with_extension("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "--seccomp-bpf", "-s", "4096", "-e"]);
    command.arg("trace=execve,execveat,open,openat,openat2,clone,clone3,fork,vfork").arg("-o");
    command.arg(&trace).arg(env!("CARGO_BIN_EXE_hiera-ls")).args(arguments);
    command.current_dir(root).env("HOME", root.with_extension("home"));
    (command, trace)
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
        let result = whole.rsplit_once(" = ").map_or("", |(_, result)| result);
        if !result.is_empty() && !result.starts_with('-') {
            calls.push((thread.to_owned(), whole));
        }
    }
    calls
}

/// Reads a trace: the programs in the order of their start.
fn read(trace: &Path) -> Vec<Traced> {
    let calls = calls(&std::fs::read_to_string(trace).expect("strace wrote it"));
    // A new thread or process may be seen before the call that makes it returns.
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
        let path = call.split('"').nth(1).unwrap_or_default().to_owned();
        if call.starts_with("exec") {
            started.insert(thread, programs.len());
            programs.push(Traced { program: path, opened: BTreeSet::new() });
        } else if call.starts_with("open")
            && call.contains("O_RDONLY")
            && !call.contains("O_DIRECTORY")
        {
            let mut of = &**thread;
            while !started.contains_key(of) {
                of = parents.get(of).expect("a thread of the first program has a parent");
            }
            programs[started[of]].opened.insert(path);
        }
    }
    programs
}

/// The paths below a folder, relative to it.
fn below(opened: &BTreeSet<String>, root: &Path) -> BTreeSet<String> {
    let root = format!("{}/", root.display());
    opened.iter().filter_map(|path| path.strip_prefix(&root)).map(str::to_owned).collect()
}

/// The paths that are neither below these folders nor the system's.
fn elsewhere<'a>(opened: &'a BTreeSet<String>, folders: &[&Path]) -> Vec<&'a String> {
    let program = env!("CARGO_BIN_EXE_hiera-ls");
    let is_known = |path: &String| {
        OF_SYSTEM.iter().any(|folder| path.starts_with(folder) && !path.starts_with("/etc/puppet"))
            || folders.iter().any(|folder| Path::new(path).starts_with(folder))
            || path == program
    };
    opened.iter().filter(|path| !is_known(path)).collect()
}

/// The planted repository with a level whose data lies outside of it, beside files that nothing names:
/// in that folder's parent and in the user's home.
fn planted(name: &str) -> PathBuf {
    let root = support::scratch(name).join("repository");
    let outside = root.with_extension("outside");
    repository(&root);
    let config = std::fs::read_to_string(root.join("hiera.yaml")).expect("it is written");
    let level = "  - {name: Outside, datadir: '../repository.outside/data', path: named.yaml}\n";
    write(&root, &[("hiera.yaml", &format!("{config}{level}"))]);
    write(
        &outside,
        &[("data/named.yaml", "named: 1\n"), ("hiera.yaml", "version: 5\n"), ("key.pem", "x")],
    );
    let home = root.with_extension("home");
    for path in [
        ".eyaml/config.yaml",
        ".hiera.yaml",
        ".puppetlabs/etc/puppet/hiera.yaml",
        ".puppet/etc/puppet.conf",
    ] {
        write(&home, &[(path, "version: 5\n")]);
    }
    root
}

#[test]
fn nothing_is_started_and_nothing_opened_that_no_config_names() {
    if !require("strace") || !traces() {
        return;
    }
    let root = planted("traced-nothing");
    let data = root.with_extension("outside").join("data");
    let commands: [&[&str]; 8] = [
        &["check"],
        &["lookup", "named"],
        &["lookup", "--explain", "k"],
        &["lookup", "--batch"],
        &["keys"],
        &["nodes"],
        &["debug", "entry", "data/common.yaml"],
        &["server"],
    ];
    let mut count = 0;
    for arguments in commands {
        let (mut command, trace) = traced(&root, arguments);
        if arguments == ["server"] {
            let mut server = Server::spawn(&mut command);
            session(&root, &mut server, false);
        } else {
            support::run(&mut command, "{\"key\":\"k\"}\n");
        }
        let programs = read(&trace);
        let names: Vec<&str> = programs.iter().map(|one| &*one.program).collect();
        assert_eq!(names, [env!("CARGO_BIN_EXE_hiera-ls")], "{arguments:?}");
        let opened = &programs[0].opened;
        assert!(opened.contains(root.join("hiera.yaml").to_str().expect("UTF-8")), "{opened:?}");
        assert_eq!(elsewhere(opened, &[&root, &data]), [""; 0], "{arguments:?}");
        assert_eq!(marks(&root), BTreeSet::new(), "{arguments:?}");
        count += opened.len();
    }
    eprintln!(
        "{} commands, 1 program each, {count} files opened, {PLANTED} files planted",
        commands.len()
    );
}

/// A session with a hover and a change; with `runs`, the user has a key evaluated and agrees.
fn session(root: &Path, server: &mut Server, runs: bool) {
    let uri = |path: &str| format!("file://{}/{path}", root.display());
    let options = json!({"runBackends": {"enabled": runs, "functions": ["t::fn"]}});
    let params = json!({"processId": null, "rootUri": uri(""), "capabilities": {}, "initializationOptions": options});
    server.send(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}));
    server.answers_until("i");
    server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    for path in ["hiera.yaml", "data/common.yaml", "modules/t/lib/puppet/functions/t/fn.rb"] {
        let text = std::fs::read_to_string(root.join(path)).expect("it is written");
        let document = json!({"uri": uri(path), "languageId": "yaml", "version": 1, "text": text});
        server.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}));
        for (number, method) in
            ["hover", "definition", "codeLens", "documentSymbol"].iter().enumerate()
        {
            let id = format!("{path} {number}");
            let params = json!({"textDocument": {"uri": uri(path)}, "position": {"line": 2, "character": 5}});
            server.send(&json!({"jsonrpc": "2.0", "id": id, "method": format!("textDocument/{method}"), "params": params}));
            server.answers_until(&id);
        }
    }
    if runs {
        let argument = json!({"uri": uri("data/common.yaml"), "key": "k"});
        let params = json!({"command": "hiera.runBackends", "arguments": [argument]});
        server.send(&json!({"jsonrpc": "2.0", "id": "run", "method": "workspace/executeCommand", "params": params}));
        loop {
            let message: Value = server.read().expect("a question, and an outcome");
            match message["method"].as_str() {
                Some("window/showMessageRequest") => {
                    let answer = json!({"title": "Run"});
                    server.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
                }
                Some("window/showMessage") => {
                    let told = message["params"]["message"].as_str().unwrap_or_default();
                    assert!(told.contains("'k' is evaluated;"), "{told}");
                    break;
                }
                _ => {}
            }
        }
    }
    server.send(&json!({"jsonrpc": "2.0", "id": "s", "method": "shutdown"}));
    server.answers_until("s");
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    drop(server.stdin.take());
    server.child.wait().expect("it can be waited for");
}

#[test]
fn ruby_opens_the_files_of_the_named_function_alone() {
    if !require("puppet") || !require("strace") || !traces() {
        return;
    }
    const FILES: [&str; 3] = [
        "modules/t/lib/puppet/functions/t/fn.rb",
        "modules/t/lib/puppet_x/t/help.rb",
        "modules/t/lib/puppet_x/t/inner.rb",
    ];
    let root = planted("traced-named");
    for is_server in [false, true] {
        let of_command = ["lookup", "--run-backends=t::fn", "--scope", "scope.json", "k"];
        let arguments: &[&str] = if is_server { &["server"] } else { &of_command };
        let (mut command, trace) = traced(&root, arguments);
        // Ruby takes its time under strace.
        if is_server {
            session(&root, &mut Server::spawn(&mut command), true);
        } else {
            let run = support::run(&mut command, "");
            assert_eq!(run.stdout, "x\n", "{}", run.stderr);
        }
        let programs = read(&trace);
        let rubies: Vec<&Traced> =
            programs.iter().filter(|one| one.program.contains("ruby")).collect();
        let names: Vec<&str> = programs.iter().map(|one| &*one.program).collect();
        let [ruby] = rubies[..] else { panic!("one Ruby: {names:?}") };
        // Facter, which Puppet asks for the name of the machine, starts some of the system's.
        let is_of_system =
            |name: &&&str| ["/bin/", "/usr/"].iter().any(|folder| name.starts_with(folder));
        assert_eq!(names[1..].iter().find(|name| !is_of_system(name)), None, "{names:?}");
        let expected = FILES.map(str::to_owned);
        assert_eq!(below(&ruby.opened, &root), BTreeSet::from(expected), "{arguments:?}");
        let of_home = below(&ruby.opened, &root.with_extension("home"));
        assert_eq!(of_home, BTreeSet::new(), "{arguments:?}");
        let ran = marks(&root);
        assert_eq!(ran.len(), FILES.len(), "{ran:?}");
        eprintln!(
            "{arguments:?}: {} files opened by Ruby, of the repository {FILES:?}",
            ruby.opened.len()
        );
    }
}
