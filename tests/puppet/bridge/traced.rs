//! The system calls of commands and servers over a repository with planted files: the programs that
//! they start, the files that they open, and the sockets that they make.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::planted::{PLANTED, marks, repository};
use super::trace::{Traced, id_of_program, read, traced};
use super::write;
use crate::support::{self, request_methods, require};
use crate::transport_client::{Server, parameters};

/// Files and folders of the system that hiera-ls itself opens, with the reasons.
const OF_SYSTEM: [(&str, &str); 12] = [
    ("/etc/ld.so.cache", "the linker finds the C library of a build that is not static"),
    ("/lib", "the C library"),
    ("/lib64", "the C library"),
    ("/usr/lib", "the C library"),
    ("/nix/store", "the C library of a system that keeps it there"),
    ("/proc", "the program's own stack, and its share of the machine"),
    ("/sys/fs/cgroup", "the processors that it may use"),
    ("/sys/devices/system/cpu", "the processors that it may use"),
    ("/etc/localtime", "the time zone of a commit"),
    ("/usr/share/zoneinfo", "the time zone of a commit"),
    ("/dev/null", "an output that has no reader"),
    ("/dev/urandom", "the names of temporary files, and the seeds of hash tables"),
];

/// What the commands about revisions open besides: git's configuration of the machine.
const OF_GIT: &str = "/etc/gitconfig";
/// git's configuration in the user's home, which the commands about revisions open, too.
const OF_GIT_IN_HOME: [&str; 3] = [".gitconfig", ".config/git/config", ".config/git/attributes"];

/// What Ruby and Puppet leave alone: the machine's Puppet may hold the keys of a server.
const OF_PUPPET: [&str; 4] = ["/etc/puppet", "/etc/puppetlabs", "/etc/facter", "/etc/hiera.yaml"];

/// The file of the part that `check --shard` prints.
const PART: &str = "part.json";

/// Every command, in each way that reads or writes other files. Those that make commits come last.
const COMMANDS: [&[&str]; 30] = [
    &["check"],
    &["check", "--preset", "strict", "--format", "json"],
    &["check", "--since", "HEAD"],
    &["check", "--diff", "--unsafe-fixes"],
    &["check", "--show-settings"],
    &["check", "--watch"],
    &["check", "--shard", "1/1"],
    &["merge", PART],
    &["lookup", "named"],
    &["lookup", "--explain", "k"],
    &["lookup", "--batch"],
    &["lookup", "--decrypt", "secret"],
    &["lookup", "--watch", "named"],
    &["dump", "--nodes", "all"],
    &["compare", "a1", "b1"],
    &["diff"],
    &["diff", "--puppet-version", "7..9"],
    &["log", "named"],
    &["nodes"],
    &["keys"],
    &["config"],
    &["rules"],
    &["debug", "entry", "data/common.yaml"],
    &["debug", "scope", "modules/t/data/x.yaml"],
    &["completions", "bash"],
    &["man"],
    &["server"],
    &["check", "--baseline", "baseline.json", "--write-baseline"],
    &["simplify"],
    &["simplify", "--write", "--commit"],
];

/// The paths that are none of these files, and in none of these folders.
fn elsewhere<'a>(reached: &'a BTreeSet<String>, known: &[PathBuf]) -> Vec<&'a String> {
    let is_known = |path: &&String| known.iter().any(|known| Path::new(path).starts_with(known));
    reached.iter().filter(|path| !is_known(path)).collect()
}

/// The paths below a folder, relative to it.
fn below(opened: &BTreeSet<String>, root: &Path) -> BTreeSet<String> {
    let root = format!("{}/", root.display());
    opened.iter().filter_map(|path| path.strip_prefix(&root)).map(str::to_owned).collect()
}

/// The planted repository with a level whose data lies outside of it, beside files that nothing may
/// open: in that folder's parent, in the repository's parent, behind links, and in the user's home.
fn planted(name: &str) -> PathBuf {
    let root = support::scratch(name).canonicalize().expect("it is there").join("repository");
    let outside = root.with_extension("outside");
    repository(&root);
    let config = std::fs::read_to_string(root.join("hiera.yaml")).expect("it is written");
    let levels = "  - {name: Outside, datadir: '../repository.outside/data', path: named.yaml}
  - {name: Linked, glob: 'linked/*.yaml'}
  - {name: Secret, lookup_key: eyaml_lookup_key, path: secret.eyaml, options: {pkcs7_private_key: '../repository.outside/key.pem', pkcs7_public_key: '../repository.outside/key.pem'}}
";
    let nodes = ["a1", "b1"].map(|name| format!("{{\"clientcert\": \"{name}\"}}\n")).concat();
    write(
        &root,
        &[
            ("hiera.yaml", &format!("{config}{levels}")),
            (".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n"),
            ("fleet.jsonl", &nodes),
            ("data/linked/empty.yaml", "\n"),
            ("data/secret.eyaml", "secret: ENC[PKCS7,TUlJQg==]\n"),
            ("data/linked/own.yaml", "own: 1\n"),
            ("modules/t/hiera.yaml", "version: 5\n"),
            ("modules/t/data/x.yaml", "t::x: 1\n"),
        ],
    );
    write(
        &outside,
        &[
            ("data/named.yaml", "named: 1\n"),
            ("hiera.yaml", "version: 5\n"),
            ("key.pem", "x"),
            ("linked.yaml", "linked: 1\n"),
            ("modules/v/lib/puppet/functions/v/fn.rb", "exit\n"),
        ],
    );
    for (link, target) in [
        ("data/linked/out.yaml", "linked.yaml"),
        ("modules/v", "modules/v"),
        ("facts.json", "linked.yaml"),
    ] {
        std::os::unix::fs::symlink(outside.join(target), root.join(link)).expect("it is new");
    }
    // A repository, its settings and its nodes are found by files of these names.
    let around = root.parent().expect("it has one");
    for name in ["hiera.yaml", ".hiera-ls.yaml", "metadata.json", "inventory.yaml", "facts.json"] {
        write(around, &[(name, "version: 5\n")]);
    }
    let home = root.with_extension("home");
    for path in [
        ".eyaml/config.yaml",
        ".hiera.yaml",
        ".hiera-ls.yaml",
        ".config/hiera-ls/settings.yaml",
        ".puppetlabs/etc/puppet/hiera.yaml",
        ".puppet/etc/puppet.conf",
    ] {
        write(&home, &[(path, "version: 5\n")]);
    }
    root
}

/// Makes a git repository of a folder with one commit. What git runs by its configuration, its hooks
/// and its attributes adds a line to the file `marks`.
fn plant_in_git(root: &Path) {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Test", "-c", "user.email=test@example.net"]);
        let done = support::run(command.args(arguments).current_dir(root), "");
        assert_eq!(done.status, Some(0), "{arguments:?}: {}", done.stderr);
    };
    git(&["init", "-q"]);
    git(&["add", "--all"]);
    git(&["commit", "-q", "-m", "first"]);
    let program = root.join(".git/planted");
    let script = format!("#!/bin/sh\necho git >> '{}'\n", root.join("marks").display());
    let program_text = program.display();
    let names = [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "diff.external",
        "diff.all.textconv",
        "diff.all.command",
        "merge.all.driver",
        "filter.all.clean",
        "filter.all.smudge",
        "filter.all.process",
        "gpg.program",
        "credential.helper",
    ];
    names.iter().for_each(|name| git(&["config", name, &program_text.to_string()]));
    git(&["config", "commit.gpgSign", "true"]);
    git(&["config", "log.showSignature", "true"]);
    git(&["config", "user.name", "Test"]);
    git(&["config", "user.email", "test@example.net"]);
    let hooks = ["pre-commit", "commit-msg", "post-commit", "post-index-change", "post-checkout"];
    let hooks = hooks.map(|name| format!(".git/hooks/{name}"));
    for path in hooks.iter().map(String::as_str).chain([".git/planted"]) {
        write(root, &[(path, &script)]);
        support::run(Command::new("chmod").arg("+x").arg(root.join(path)), "");
    }
    write(root, &[(".git/info/attributes", "* filter=all diff=all merge=all\n")]);
}

#[test]
fn nothing_is_started_and_nothing_opened_that_no_config_names() {
    if !require("strace") || !require("git") || !require("ptrace") {
        return;
    }
    let asked: BTreeSet<&str> = COMMANDS.iter().map(|arguments| arguments[0]).collect();
    for command in support::commands() {
        assert!(asked.contains(command.as_str()), "this test does not trace the command {command}");
    }
    let root = planted("traced-nothing");
    plant_in_git(&root);
    let home = root.with_extension("home");
    let mut known = vec![
        root.clone(),
        root.with_extension("outside").join("data"),
        PathBuf::from(env!("CARGO_BIN_EXE_hiera-ls")),
        PathBuf::from(OF_GIT),
    ];
    known.extend(OF_GIT_IN_HOME.map(|path| home.join(path)));
    known.extend(OF_SYSTEM.map(|(path, _)| PathBuf::from(path)));
    let key = root.with_extension("outside").join("key.pem");
    let mut count = 0;
    for arguments in COMMANDS {
        let (mut command, trace) = traced(&root, arguments);
        if arguments == ["server"] {
            session(&root, Server::spawn(&mut command), false);
        } else if arguments.contains(&"--watch") {
            watch_a_change(&mut command, &trace, &root);
        } else {
            let run = support::run(&mut command, "{\"key\":\"k\"}\n");
            // All statuses below 4 are right: a lookup of an encrypted value without a key is not
            // settled, and one level is opaque.
            assert!(run.status.is_some_and(|it| it < 4), "{arguments:?}: {}", run.stderr);
            if arguments.contains(&"--shard") {
                write(&root, &[(PART, &run.stdout)]);
            }
            assert!(
                arguments[0] != "merge" || run.stdout.contains(" files checked"),
                "{}",
                run.stderr
            );
        }
        let programs = read(&trace, &root);
        let names: Vec<&str> = programs.iter().map(|one| &*one.program).collect();
        assert_eq!(names, [env!("CARGO_BIN_EXE_hiera-ls")], "{arguments:?}");
        let Traced { opened, reached, sockets, .. } = &programs[0];
        let reads = !["rules", "completions", "man"].contains(&arguments[0]);
        let config = root.join("hiera.yaml").display().to_string();
        assert_eq!(opened.contains(&config), reads, "{arguments:?}: {opened:?}");
        // With `--decrypt` the user lets hiera.yaml name keys anywhere.
        let key = arguments.contains(&"--decrypt").then(|| key.clone());
        let known: Vec<PathBuf> = known.iter().cloned().chain(key).collect();
        assert_eq!(elsewhere(reached, &known), [""; 0], "{arguments:?}");
        assert_eq!(sockets, &[""; 0], "{arguments:?}");
        assert_eq!(marks(&root), BTreeSet::new(), "{arguments:?}");
        count += reached.len();
    }
    let log = support::run(Command::new("git").args(["log", "--oneline"]).current_dir(&root), "");
    assert_eq!(log.stdout.lines().count(), 2, "`simplify --commit` makes one: {}", log.stdout);
    eprintln!(
        "{} command lines, 1 program each, {count} paths reached, {PLANTED} files planted",
        COMMANDS.len()
    );
}

/// Runs a command that watches a folder until it has reported a change.
fn watch_a_change(command: &mut Command, trace: &Path, root: &Path) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let stderr = BufReader::new(child.stderr.take().expect("it is a pipe"));
    let mut waits = stderr
        .lines()
        .filter(|line| line.as_ref().is_ok_and(|line| line.contains("watching for changes")));
    waits.next().expect("it has read the folder").expect("stderr can be read");
    let path = root.join("data/common.yaml");
    let text = std::fs::read_to_string(&path).expect("it is there");
    std::fs::write(&path, &text).expect("it can be written");
    waits.next().expect("it has seen the change").expect("stderr can be read");
    let id = id_of_program(trace).expect("it has begun");
    support::run(Command::new("kill").args(["-TERM", &id]), "");
    child.wait().expect("it can be waited for");
}

/// A session with every request at places of several documents. At its end the user asks for a key to
/// be evaluated, and agrees to the question whether functions may run, or declines.
fn session(root: &Path, mut server: Server, agrees: bool) {
    let uri = |path: &str| support::file_uri(root.join(path));
    let options = json!({
        "runBackends": {"enabled": true, "functions": ["t::fn"]},
        "eyaml": {"decrypt": true},
        "codeLens": {"allOverrides": true, "readers": true, "nodes": true},
    });
    let capabilities = json!({
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
    });
    let params = json!({"processId": null, "rootUri": uri(""), "capabilities": capabilities, "initializationOptions": options});
    server.send(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}));
    server.answers_until("i");
    server.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let mut requests = Requests::default();
    for (path, language, places) in [
        ("hiera.yaml", "yaml", &[(2, 5), (2, 30)][..]),
        ("data/common.yaml", "yaml", &[(0, 1), (0, 12), (1, 0)]),
        ("data/secret.eyaml", "yaml", &[(0, 1), (0, 12)]),
        ("manifests/site.pp", "puppet", &[(0, 1), (0, 8)]),
        ("modules/t/lib/puppet/functions/t/fn.rb", "ruby", &[(1, 26)]),
    ] {
        let text = std::fs::read_to_string(root.join(path)).expect("it is written");
        let document =
            json!({"uri": uri(path), "languageId": language, "version": 1, "text": text});
        server.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}));
        let end = text.lines().count();
        let change = json!({"range": {"start": {"line": end, "character": 0}, "end": {"line": end, "character": 0}}, "text": "# new\n"});
        let change =
            json!({"textDocument": {"uri": uri(path), "version": 2}, "contentChanges": [change]});
        server
            .send(&json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change}));
        for (line, character) in places {
            let mut params = parameters(&uri(path), *line, *character);
            params["files"] = json!([{"oldUri": uri("data/linked"), "newUri": uri("data/moved")}]);
            requests.ask_all(&mut server, &params);
        }
    }
    let file = uri("data/common.yaml");
    for page in ["explain/k.txt", "hierarchy.txt", "hierarchy/k.txt", "effective.yaml"] {
        let params = json!({"uri": format!("hiera:/{page}?{file}")});
        requests.ask(&mut server, "workspace/textDocumentContent", &params);
    }
    for page in ["effective/a1.yaml", "reach.txt", "governing.txt"] {
        let params = json!({"uri": format!("hiera:/{page}")});
        requests.ask(&mut server, "workspace/textDocumentContent", &params);
    }
    let unanswered: Vec<String> =
        request_methods().into_iter().filter(|it| !requests.answered.contains(it)).collect();
    // Only the request for commands is left, as a command belongs to no place. The server has one
    // command.
    assert_eq!(unanswered, ["workspace/executeCommand"], "these requests have never had a result");
    let argument = json!({"uri": uri("data/common.yaml"), "key": "k"});
    let params = json!({"command": "hiera.runBackends", "arguments": [argument]});
    requests.ask(&mut server, "workspace/executeCommand", &params);
    loop {
        let message: Value = server.call().expect("a question, and an outcome");
        match message["method"].as_str() {
            Some("window/showMessageRequest") => {
                let answer = if agrees { json!({"title": "Run"}) } else { Value::Null };
                server.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
                if !agrees {
                    break;
                }
            }
            Some("window/showMessage") => {
                let told = message["params"]["message"].as_str().unwrap_or_default();
                assert!(agrees && told.contains("'k' is evaluated;"), "{told}");
                break;
            }
            _ => {}
        }
    }
    server.send(&json!({"jsonrpc": "2.0", "id": "s", "method": "shutdown"}));
    server.answers_until("s");
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    drop(server.stdin.take());
    let (status, words) = server.end();
    assert_eq!(status, Some(0), "{words}");
}

/// The requests of a session.
#[derive(Default)]
struct Requests {
    count: usize,
    /// The methods that had a result.
    answered: BTreeSet<String>,
}

impl Requests {
    /// Sends every request with these parameters, and those that need the result of another one with
    /// each member of that.
    fn ask_all(&mut self, server: &mut Server, params: &Value) {
        let mut results: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        // Each pair is a request about an item, and the request that returns such items.
        const OF_ITEMS: [(&str, &str); 4] = [
            ("callHierarchy/incomingCalls", "textDocument/prepareCallHierarchy"),
            ("callHierarchy/outgoingCalls", "textDocument/prepareCallHierarchy"),
            ("codeLens/resolve", "textDocument/codeLens"),
            ("completionItem/resolve", "textDocument/completion"),
        ];
        let methods = request_methods();
        let of_items = |method: &str| OF_ITEMS.iter().find(|(of, _)| *of == method);
        for method in methods.iter().filter(|method| of_items(method).is_none()) {
            let result = self.ask(server, method, params);
            if let Some((_, source)) = OF_ITEMS.iter().find(|(_, source)| source == method) {
                let items = result.get("items").unwrap_or(&result);
                results.insert(source, items.as_array().cloned().unwrap_or_default());
            }
        }
        for (method, source) in OF_ITEMS {
            for item in results.get(source).into_iter().flatten().take(3) {
                let is_call = method.starts_with("callHierarchy/");
                let params = if is_call { json!({"item": item}) } else { item.clone() };
                self.ask(server, method, &params);
            }
        }
    }

    fn ask(&mut self, server: &mut Server, method: &str, params: &Value) -> Value {
        self.count += 1;
        let id = format!("request {}", self.count);
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let (_, answer) = server.answers_until(&id);
        if answer.get("error").is_none() {
            self.answered.insert(method.to_owned());
        }
        answer["result"].clone()
    }
}

#[test]
fn ruby_opens_the_files_of_the_named_function_alone() {
    if !require("puppet") || !require("strace") || !require("ptrace") {
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
            session(&root, Server::spawn(&mut command), true);
        } else {
            let run = support::run(&mut command, "");
            assert_eq!(run.stdout, "x\n", "{}", run.stderr);
        }
        let programs = read(&trace, &root);
        let rubies: Vec<&Traced> =
            programs.iter().filter(|one| one.program.contains("ruby")).collect();
        let names: Vec<&str> = programs.iter().map(|one| &*one.program).collect();
        let [ruby] = rubies[..] else { panic!("one Ruby: {names:?}") };
        // Facter, which Puppet asks for the name of the machine, starts some programs of the
        // system.
        let is_of_system =
            |name: &&&str| ["/bin/", "/usr/"].iter().any(|folder| name.starts_with(folder));
        assert_eq!(names[1..].iter().find(|name| !is_of_system(name)), None, "{names:?}");
        let expected = FILES.map(str::to_owned);
        assert_eq!(below(&ruby.opened, &root), BTreeSet::from(expected), "{arguments:?}");
        // The gems in the user's home are those of the Ruby that the user has chosen.
        let home = root.with_extension("home");
        let known = [root.clone(), home.join(".local/share/gem"), home.join(".gem")];
        let around = root.parent().expect("it has one");
        for program in &programs[1..] {
            let is_here = |path: &&String| Path::new(path).starts_with(around);
            let here = program.reached.iter().filter(is_here).cloned().collect();
            assert_eq!(elsewhere(&here, &known), [""; 0], "{}", program.program);
            let is_of_puppet =
                |path: &&String| OF_PUPPET.iter().any(|it| Path::new(path).starts_with(it));
            assert_eq!(program.reached.iter().find(is_of_puppet), None, "{}", program.program);
        }
        let ran = marks(&root);
        assert_eq!(ran.len(), FILES.len(), "{ran:?}");
        eprintln!(
            "{arguments:?}: {} files opened by Ruby, of the repository {FILES:?}",
            ruby.opened.len()
        );
    }
}
