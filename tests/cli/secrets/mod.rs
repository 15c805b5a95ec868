//! No output reveals a secret unless the user asks for it: random repositories with a marker in
//! each secret, and every command, request, log and report searched for it.
//!
//! Secrets are values that hiera-eyaml encrypted, however they are merged, interpolated, aliased
//! and converted, and values whose `convert_to` may make them Sensitive, however that is spelled.
//! `HIERA_LS_RANDOM` sets how many questions are asked.

mod marker;
mod parameters;
mod repository;
mod server;

use std::panic::resume_unwind;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::random::{self, Random};
use crate::support::{commands, file_uri, hiera_ls, require, run, scratch};
use repository::{CLASS, Pool, Repository};
use server::Server;

/// The commands that this suite asks, or that read no data.
const COMMANDS: [&str; 16] = [
    "server",
    "lookup",
    "dump",
    "compare",
    "diff",
    "log",
    "check",
    "merge",
    "simplify",
    "nodes",
    "config",
    "keys",
    "rules",
    "debug",
    "completions",
    "man",
];

/// The commands that print patches of all kinds.
const PATCHES: [&str; 3] = ["simplify", "--steps", "overrides,pull-down,dead-keys,empty-files"];
const FIXES: [&str; 5] = ["check", "--preset", "strict", "--diff", "--unsafe-fixes"];

/// The announced capabilities that this suite asks for, and those that answer nothing.
const CAPABILITIES: &[&str] = &[
    "callHierarchyProvider",
    "codeActionProvider",
    "completionProvider",
    "codeLensProvider",
    "definitionProvider",
    "diagnosticProvider",
    "documentHighlightProvider",
    "documentLinkProvider",
    "documentSymbolProvider",
    "executeCommandProvider",
    "experimental",
    "foldingRangeProvider",
    "hoverProvider",
    "implementationProvider",
    "inlayHintProvider",
    "positionEncoding",
    "referencesProvider",
    "renameProvider",
    "selectionRangeProvider",
    "semanticTokensProvider",
    "textDocumentSync",
    "workspace",
    "workspaceSymbolProvider",
];

/// The requests about a whole document.
const OF_DOCUMENTS: [&str; 4] = [
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/documentLink",
    "textDocument/semanticTokens/full",
];

/// The requests about the name at a place.
const OF_NAMES: [&str; 4] = [
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
];

/// The most items of a list whose explanations are asked for.
const MOST_EXPLAINED: usize = 6;

/// The messages of hiera-ls's own that this suite asks for, or that come unasked.
const OWN_MESSAGES: [&str; 10] = [
    "config",
    "effectiveData",
    "explain",
    "hierarchy",
    "nodes",
    "override",
    "overrideTargets",
    "reach",
    "selectNode",
    "status",
];

/// Arguments of `lookup`: how an answer is made and printed.
const FORMS: [&[&str]; 25] = [
    &["--places", "always"],
    &["--render-as", "json"],
    &["--render-as", "yaml"],
    &["--render-as", "s"],
    &["--explain"],
    &["--explain", "--lines"],
    &["--explain", "--render-as", "json"],
    &["--explain-options"],
    &["--explain-options", "--render-as", "json"],
    &["--type", "Enum['x']"],
    &["--type", "Integer"],
    &["--type", "Struct[{a => Integer}]"],
    &["--type", "Array[Enum['x']]"],
    &["--type", "Sensitive[Integer]"],
    &["--merge", "deep"],
    &["--merge", "unique"],
    &["--merge", "hash"],
    &["--merge", "first"],
    &["--merge", "deep", "--knock-out-prefix", "--", "--explain"],
    &["--merge", "deep", "--sort-merged-arrays", "--merge-hash-arrays"],
    &["--merge", "{\"strategy\": \"unconstrained_deep\", \"unpack_arrays\": \",\"}"],
    &["--merge", "deep", "--explain", "--render-as", "json"],
    &["--puppet-version", "7", "--explain"],
    &["--strict", "error"],
    &["--default", "x", "--override", "{\"k1\": \"y\"}", "--explain"],
];

const REPORTS: [&str; 7] = ["human", "json", "github", "gitlab", "junit", "rdjson", "sarif"];

/// The most repositories to ask of, where the first ones show nothing on purpose.
const MOST_REPOSITORIES: usize = 30;

/// The questions so far, and the answers that showed a secret.
#[derive(Default)]
struct Asked {
    questions: usize,
    leaks: Vec<String>,
    /// Answers in which a secret was asked for by the documented flag, and shown.
    shown: usize,
    /// Shown answers with a secret that functions gave, or could have given.
    functions_shown: usize,
    /// Hovers with the answers of functions that the editor's user asked for.
    evaluated: usize,
}

#[test]
fn no_output_tells_a_secret() {
    if !require("ruby") {
        return;
    }
    let has_puppet = require("puppet");
    let seed = random::seed("no_output_tells_a_secret");
    let questions = random::count(1_500);
    let mut random = Random::new(seed);
    let folder = scratch("secrets");
    let pool = Pool::new(&folder, 300, &mut random);
    let mut asked = Asked::default();
    let mut n = 0;
    // In a repository with a broken file every lookup fails, so that none of its secrets is shown.
    while asked.questions < questions || !asked.has_shown_some() && n < MOST_REPOSITORIES {
        let root = folder.join(format!("r{n}/repository"));
        let repository = Repository::write(root, &pool, &mut random);
        // The functions run in a copy of the repository: levels whose functions do not run would
        // leave the other questions open.
        let copy = folder.join(format!("r{n}-functions/repository"));
        let with_functions = has_puppet.then(|| repository.copy_with_functions(copy, &mut random));
        let mut own_random = Random::new(seed.wrapping_add(n as u64 + 1));
        // Ruby takes about as long for its questions as hiera-ls for the others.
        std::thread::scope(|scope| {
            let of_functions = with_functions.map(|repository| {
                scope.spawn(move || {
                    let mut asked = Asked::default();
                    asked.functions(&repository, &mut own_random);
                    asked.evaluations(&repository);
                    asked
                })
            });
            // The starts of processes cost most: a batch and a server answer many questions with
            // one start.
            asked.batches(&repository, &mut random);
            asked.server(&repository, &mut random);
            asked.commands(&repository, &mut random);
            if let Some(of_functions) = of_functions {
                asked.add(of_functions.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
        });
        assert!(asked.leaks.is_empty(), "HIERA_LS_SEED={seed}, repository {n}:\n{}", asked.told());
        n += 1;
    }
    assert!(asked.has_shown_some(), "{} of {}", asked.shown, asked.questions);
    assert!(!has_puppet || asked.functions_shown > 0, "no function told a secret on purpose");
    assert!(!has_puppet || asked.evaluated > 0, "no hover had what a function answered");
    println!(
        "{} questions of {n} repositories, {} answers shown on purpose",
        asked.questions, asked.shown
    );
}

#[test]
fn every_door_is_known() {
    for command in commands() {
        assert!(
            COMMANDS.contains(&command.as_str()),
            "make tests/cli/secrets ask the command `{command}`, and list it there"
        );
    }
    let root = scratch("secrets-doors");
    let repository = Repository { keys: root.clone(), root, asked: Vec::new(), files: Vec::new() };
    let server = Server::start(&repository, &json!({}), true);
    let names = |value: &Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    for (name, known) in
        names(&server.capabilities).into_iter().map(|name| (name, CAPABILITIES)).chain(
            names(&server.capabilities["experimental"]["hiera"])
                .into_iter()
                .map(|name| (name, &OWN_MESSAGES[..])),
        )
    {
        assert!(
            known.contains(&name.as_str()),
            "make tests/cli/secrets ask what a server announces as `{name}`, and list it there"
        );
    }
    server.end();
}

impl Asked {
    fn add(&mut self, other: Asked) {
        let Asked { questions, leaks, shown, functions_shown, evaluated } = other;
        self.questions += questions;
        self.leaks.extend(leaks);
        self.shown += shown;
        self.functions_shown += functions_shown;
        self.evaluated += evaluated;
    }

    /// Whether enough secrets were shown on purpose to know that the marks are found.
    fn has_shown_some(&self) -> bool {
        self.shown * 50 > self.questions
    }

    fn told(&self) -> String {
        let shown = self.leaks.iter().take(3).map(|leak| crate::support::shortened(leak, 3_000));
        format!("{} leaks\n{}", self.leaks.len(), shown.collect::<Vec<_>>().join("\n\n"))
    }

    fn output(&mut self, arguments: &[&str], root: &Path, input: &str, questions: usize) -> String {
        let done = run(hiera_ls(arguments).current_dir(root).env("HIERA_LS_LOG", "trace"), input);
        self.questions += questions;
        for output in [&done.stdout, &done.stderr] {
            if let Some(secret) = marker::told(output) {
                self.leaks.push(format!("{arguments:?} in {root:?} tells {secret}:\n{output}"));
            }
        }
        done.stdout
    }

    /// A command in two shards, and the report of their parts.
    fn shards(&mut self, command: &[&str], repository: &Repository) {
        let parts = ["1/2", "2/2"].map(|share| {
            let part =
                self.output(&[command, &["--shard", share]].concat(), &repository.root, "", 1);
            assert!(part.starts_with("{\"version\":1"), "{command:?} --shard {share}: {part}");
            let file = repository.root.with_extension(format!("part{}", &share[..1]));
            std::fs::write(&file, part).expect("it can be written");
            file.display().to_string()
        });
        self.output(&["merge", &parts[0], &parts[1]], &repository.root, "", 1);
    }

    /// All keys with the requests of a batch.
    fn batches(&mut self, repository: &Repository, random: &mut Random) {
        self.batch(repository, random, &[]);
    }

    /// The keys of functions, which run: a batch, and explanations.
    fn functions(&mut self, repository: &Repository, random: &mut Random) {
        let before = self.shown;
        let flags = ["--run-backends", "--global-hiera-config", "global.yaml"];
        self.batch(repository, random, &flags);
        // In a repository with a broken file every lookup fails.
        self.functions_shown += self.shown - before;
        for _ in 0..4 {
            let (key, form) = (random.pick(&repository.asked), random.pick(&FORMS));
            let mut arguments = vec!["lookup", "--node", "web01"];
            arguments.extend(flags);
            if !random.one_in(3) {
                arguments.push("--decrypt");
            }
            arguments.extend(form);
            arguments.push(&key);
            self.output(&arguments, &repository.root, "", 1);
        }
        let explained = ["lookup", "--node", "web01", "--decrypt", "--explain"];
        for key in ["v0", "o2", "l3", "e0", "p1", "b1", "b3", "c3"] {
            let arguments = [explained.as_slice(), &flags, &[key]].concat();
            self.output(&arguments, &repository.root, "", 1);
        }
    }

    /// The keys of functions, which run at the request of an editor's user: each outcome, the hover
    /// over the key and over a token, and the page about it.
    fn evaluations(&mut self, repository: &Repository) {
        let eyaml = json!({"decrypt": true, "keyFolders": [repository.keys.display().to_string()]});
        let mut server = Server::start(repository, &eyaml, false);
        server.agrees = true;
        server.ask("hiera/selectNode", &json!({"name": "web01"}));
        let mut keys: Vec<&str> =
            repository.asked.iter().filter_map(|key| key.split('.').next()).collect();
        keys.dedup();
        let file = &repository.root.join("data/a-options.yaml");
        let document = json!({"uri": file_uri(file)});
        let line = |key: &&str| format!("\"{key}\": \"%{{lookup('{key}')}}\"\n");
        let lookups: String = keys.iter().map(line).collect();
        // The file keeps its options, as they make some of the values Sensitive.
        let options = std::fs::read_to_string(file).expect("the repository has it");
        let options: Value = serde_json::from_str(&options).expect("it was written as JSON");
        let text = format!("{lookups}lookup_options: {}\n", options["lookup_options"]);
        let opened =
            json!({"uri": file_uri(file), "languageId": "yaml", "version": 1, "text": text});
        server.tell("textDocument/didOpen", &json!({"textDocument": opened}));
        for (line, key) in keys.iter().enumerate() {
            let before = server.told;
            let argument = json!({"uri": file_uri(file), "key": key});
            let command = json!({"command": "hiera.runBackends", "arguments": [argument]});
            server.ask("workspace/executeCommand", &command);
            server.until_told(before + 1);
            for character in [1, 18] {
                let place = json!({"line": line, "character": character});
                let asked = json!({"textDocument": document, "position": place});
                let hover = server.ask("textDocument/hover", &asked).to_string();
                self.evaluated += usize::from(hover.contains("as evaluated at"));
            }
            server.ask("hiera/explain", &json!({"textDocument": document, "key": key}));
            self.questions += 4;
        }
        let (_, leaks) = server.end();
        self.leaks.extend(leaks);
    }

    fn batch(&mut self, repository: &Repository, random: &mut Random, flags: &[&str]) {
        let merges = [
            Value::Null,
            json!("unique"),
            json!("hash"),
            json!("deep"),
            json!({"strategy": "deep", "knockout_prefix": "--", "sort_merged_arrays": true}),
            json!({"strategy": "reverse_deep", "merge_hash_arrays": true}),
        ];
        let mut lines = Vec::new();
        for key in &repository.asked {
            let merge = random.pick(&merges);
            let value_type =
                random.pick(&["Any", "Enum['x']", "Integer", "Array[String]", "Sensitive"]);
            lines.push(json!({"key": key}).to_string());
            lines.push(json!({"key": key, "merge": merge}).to_string());
            lines.push(json!({"key": key, "merge": merge, "value_type": value_type}).to_string());
        }
        let questions = format!("{}\n", lines.join("\n"));
        let scope = repository.root.join("nodes/web01.json");
        let facts = ["--facts", scope.to_str().expect("it is UTF-8")];
        let common = [&["lookup", "--batch", "--decrypt", facts[0], facts[1]][..], flags].concat();
        self.output(&common, &repository.root, &questions, lines.len());
        let revealed = [common.as_slice(), &["--reveal-sensitive"]].concat();
        let shown = run(hiera_ls(revealed).current_dir(&repository.root), &questions).stdout;
        self.shown += shown.lines().filter(|line| marker::told(line).is_some()).count();
    }

    /// Commands with arguments drawn at random.
    fn commands(&mut self, repository: &Repository, random: &mut Random) {
        for _ in 0..8 {
            let (key, form) = (random.pick(&repository.asked), random.pick(&FORMS));
            let mut arguments = vec!["lookup", "--node", "web01"];
            if !random.one_in(8) {
                arguments.push("--decrypt");
            }
            arguments.extend(form);
            arguments.push(&key);
            self.output(&arguments, &repository.root, "", 1);
        }
        let format = random.pick(&REPORTS);
        self.output(&["check", "--format", format, "--fail-on", "hint"], &repository.root, "", 1);
        let check = ["check", "--preset", "strict", "--format", format];
        self.shards(&check, repository);
        let file = random.pick(&repository.files);
        let (path, text) =
            (file.display().to_string(), std::fs::read_to_string(&file).expect("it is there"));
        let aspect = random.pick(&["tree", "entry", "index", "scope"]);
        self.output(&["debug", aspect, &path], &repository.root, "", 1);
        self.output(&["config"], &repository.root, "", 1);
        self.output(&["nodes"], &repository.root, "", 1);
        self.output(&["nodes", "--json"], &repository.root, "", 1);
        for arguments in [
            &["dump", "--node", "web01"][..],
            &PATCHES,
            &FIXES,
            &["dump", "--node", "web01", "--format", "jsonl"],
            &["dump", "--nodes", "all", "--format", "jsonl"],
            &["dump", "--nodes", "all", "--groups"],
            &["compare", "web01", "db01"],
            &["compare", "web01", "db01", "--format", "json"],
            &["lookup", "--nodes", "all", "--places", "always", &random.pick(&repository.asked)],
        ] {
            self.output(arguments, &repository.root, "", 1);
        }
        if crate::support::on_path("git") {
            self.revisions(repository, random);
        }
        let format = random.pick(&["human", "json"]);
        let key = random.pick(&repository.asked);
        self.output(&["keys", "--format", format], &repository.root, "", 1);
        self.output(&["keys", "--unread", "--format", format], &repository.root, "", 1);
        self.output(&["keys", "--readers", &key, "--format", format], &repository.root, "", 1);
        self.output(&["keys", "--class", "app", "--format", format], &repository.root, "", 1);
        let arguments = ["check", "--stdin", "--stdin-filename", &path, "--format", format];
        self.output(&arguments, &repository.root, &text, 1);
    }

    /// The data as an edit: the revision before has the configs alone, and all keys are new.
    fn revisions(&mut self, repository: &Repository, random: &mut Random) {
        let git = |arguments: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.args(["-c", "user.name=Test", "-c", "user.email=test@example.net"]);
            run(command.args(arguments).current_dir(&repository.root), "")
        };
        if !repository.root.join(".git").exists() {
            git(&["init", "-q"]);
            git(&["add", "hiera.yaml"]);
            let done = git(&["commit", "-q", "-m", "first"]);
            assert_eq!(done.status, Some(0), "{}", done.stderr);
        }
        let format = random.pick(&["human", "markdown", "json", "github", "html"]);
        self.output(&["diff", "--format", format, "--reveal"], &repository.root, "", 1);
        let upgrade = ["diff", "--puppet-version", "7..9", "--format", format, "--reveal"];
        self.output(&upgrade, &repository.root, "", 1);
        self.shards(&["diff", "--format", format, "--reveal"], repository);
        self.shards(&upgrade, repository);
        git(&["add", "-A"]);
        let done = git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        assert_eq!(done.status, Some(0), "{}", done.stderr);
        for _ in 0..3 {
            let (key, format) = (random.pick(&repository.asked), random.pick(&["human", "json"]));
            self.output(&["log", &key, "--format", format, "--reveal"], &repository.root, "", 1);
        }
        git(&["reset", "-q", "--soft", "HEAD~1"]);
    }

    /// Code actions at each key of the lines, and at several places of their values.
    fn refactorings(&mut self, server: &mut Server, document: &Value, text: &str) {
        for (line, content) in text.lines().enumerate() {
            let length = content.chars().count();
            for character in [0, length / 3, length / 2, length.saturating_sub(2)] {
                let place = json!({"line": line, "character": character});
                server.ask(
                    "textDocument/codeAction",
                    &json!({
                        "textDocument": document,
                        "range": {"start": place, "end": place},
                        "context": {"diagnostics": [], "triggerKind": 1},
                    }),
                );
            }
            self.questions += 1;
        }
    }

    /// Half-typed lines at the top of a document: keys, values, members and tokens, each list with
    /// the explanations of its first items.
    fn completions(&mut self, server: &mut Server, repository: &Repository, document: &Value) {
        let mut lines: Vec<String> = vec!["".into(), "n: \"%{lookup('".into(), "n: \"%{".into()];
        for key in repository.asked.iter().take(6) {
            let outer = ["", ": ", ":\n  ", ":\n  - "];
            lines.extend(outer.map(|end| format!("{key}{end}")));
            lines.push(format!("n: \"%{{lookup('{key}."));
        }
        let mut before = 0;
        for (number, lines) in lines.iter().enumerate() {
            let last = lines.lines().count().max(1) - 1;
            let character = lines.rsplit('\n').next().map_or(0, str::len);
            let change = json!({
                "textDocument": {"uri": document["uri"], "version": number + 3},
                "contentChanges": [{
                    "range": {"start": {"line": 0, "character": 0}, "end": {"line": before, "character": 0}},
                    "text": format!("{lines}\n"),
                }],
            });
            before = last + 1;
            server.tell("textDocument/didChange", &change);
            let place = json!({
                "textDocument": document,
                "position": {"line": last, "character": character},
            });
            let found = server.ask("textDocument/completion", &place);
            let items = found["result"]["items"].as_array().cloned().unwrap_or_default();
            for item in items.iter().take(MOST_EXPLAINED) {
                server.ask("completionItem/resolve", item);
            }
            self.questions += 1 + items.len().min(MOST_EXPLAINED);
        }
    }

    /// Requests at every parameter and key that a manifest names.
    fn code(&mut self, server: &mut Server, repository: &Repository) {
        let (path, text) = CLASS;
        let document = json!({"uri": file_uri(repository.root.join(path))});
        let opened =
            json!({"uri": document["uri"], "languageId": "puppet", "version": 1, "text": text});
        server.tell("textDocument/didOpen", &json!({"textDocument": opened}));
        for (line, text) in text.lines().enumerate() {
            for (character, _) in text.match_indices(['$', '(']) {
                let place = json!({
                    "textDocument": document,
                    "position": {"line": line, "character": character + 2},
                });
                for request in ["textDocument/hover", "textDocument/definition"] {
                    server.ask(request, &place);
                    self.questions += 1;
                }
            }
        }
    }

    /// A session: requests at every key and token of every file, before and after edits.
    fn server(&mut self, repository: &Repository, random: &mut Random) {
        let eyaml = json!({"decrypt": true, "keyFolders": [repository.keys.display().to_string()]});
        let pulls = random.one_in(2);
        let mut server = Server::start(repository, &eyaml, pulls);
        server.ask("hiera/selectNode", &json!({"name": "web01"}));
        for request in ["hiera/nodes", "hiera/config", "hiera/status"] {
            server.ask(request, &json!({}));
        }
        let of_node = json!({"uri": "hiera:/effective/web01.yaml"});
        server.ask("workspace/textDocumentContent", &of_node);
        for file in &repository.files {
            let document = json!({"uri": file_uri(file)});
            let text = std::fs::read_to_string(file).expect("it is there");
            let opened =
                json!({"uri": file_uri(file), "languageId": "yaml", "version": 1, "text": text});
            server.tell("textDocument/didOpen", &json!({"textDocument": opened}));
            for (line, text) in text.lines().enumerate() {
                let tokens = text.match_indices("%{").map(|(at, _)| at + 11);
                let keys = text.match_indices("\":").map(|(at, _)| at - 1);
                for character in std::iter::once(1).chain(tokens).chain(keys) {
                    let place = json!({
                        "textDocument": document,
                        "position": {"line": line, "character": character},
                    });
                    server.ask("textDocument/hover", &place);
                    let other = random.pick(&[
                        "textDocument/completion",
                        "textDocument/definition",
                        "textDocument/implementation",
                        "hiera/explain",
                        "hiera/hierarchy",
                    ]);
                    server.ask(other, &place);
                    if random.one_in(4) {
                        server.ask("hiera/overrideTargets", &place);
                        let mut of_node = place.clone();
                        of_node["node"] = json!(random.pick(&["web01", "db02"]));
                        server.ask("hiera/override", &of_node);
                        self.questions += 2;
                    }
                    let places =
                        json!({"textDocument": document, "positions": [place["position"]]});
                    server.ask("textDocument/selectionRange", &places);
                    let request = random.pick(&OF_NAMES);
                    let mut of_name = place.clone();
                    of_name["context"] = json!({"includeDeclaration": true});
                    of_name["newName"] = json!("app::renamed");
                    server.ask(request, &of_name);
                    self.questions += 4 + calls(&mut server, &place);
                }
            }
            server.ask("hiera/effectiveData", &json!({"textDocument": document}));
            let page = |path: &str| json!({"uri": format!("hiera:/{path}?{}", file_uri(file))});
            for path in ["effective.yaml", "hierarchy/k0.txt", "explain/k0.txt"] {
                server.ask("workspace/textDocumentContent", &page(path));
                self.questions += 1;
            }
            // The first edit removes all values of the file, and the second edit takes the first
            // one back. The options stay, because without them the values of other files would be
            // no secrets.
            let options = text.lines().find(|line| line.starts_with("lookup_options:"));
            for later in [options.unwrap_or_default(), &text] {
                let change = json!({
                    "textDocument": {"uri": document["uri"], "version": 2},
                    "contentChanges": [{"text": later}],
                });
                server.tell("textDocument/didChange", &change);
                server.ask("hiera/reach", &json!({}));
                self.questions += 1;
            }
            let end = json!({"line": text.lines().count() + 1, "character": 0});
            let all = json!({"start": {"line": 0, "character": 0}, "end": end});
            server.ask("textDocument/inlayHint", &json!({"textDocument": document, "range": all}));
            let lenses = server.ask("textDocument/codeLens", &json!({"textDocument": document}));
            // The text of each lens costs a lookup: some of the lenses are enough.
            for lens in lenses["result"].as_array().into_iter().flatten().step_by(3) {
                server.ask("codeLens/resolve", lens);
                self.questions += 1;
            }
            if pulls {
                server.ask("textDocument/diagnostic", &json!({"textDocument": document}));
                self.questions += 1;
            }
            for request in OF_DOCUMENTS {
                server.ask(request, &json!({"textDocument": document}));
                self.questions += 1;
            }
            let all =
                json!({"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}});
            server.ask(
                "textDocument/codeAction",
                &json!({"textDocument": document, "range": all, "context": {"diagnostics": []}}),
            );
            self.questions += 1;
            self.refactorings(&mut server, &document, &text);
            let edit = json!({"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "new: \"%{lookup('k0')} %{alias('k1')}\"\n"});
            let version = json!({"uri": file_uri(file), "version": 2});
            server.tell(
                "textDocument/didChange",
                &json!({"textDocument": version, "contentChanges": [edit]}),
            );
            for key in repository.asked.iter().take(8) {
                server.ask("hiera/explain", &json!({"textDocument": document, "key": key}));
            }
            server.ask(
                "textDocument/hover",
                &json!({"textDocument": document, "position": {"line": 0, "character": 1}}),
            );
            self.questions += 10;
            self.completions(&mut server, repository, &document);
        }
        self.code(&mut server, repository);
        if pulls {
            server.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
        }
        for query in ["", "k", "app"] {
            server.ask("workspace/symbol", &json!({"query": query}));
        }
        server.ask("hiera/selectNode", &json!({"name": null}));
        let (messages, leaks) = server.end();
        assert!(messages > 0);
        self.leaks.extend(leaks);
    }
}

/// Asks for the readers of the key at a place, and for the keys that it reads; returns the number
/// of requests.
fn calls(server: &mut Server, place: &Value) -> usize {
    let prepared = server.ask("textDocument/prepareCallHierarchy", place);
    let items = prepared["result"].as_array().cloned().unwrap_or_default();
    for item in &items {
        for request in ["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"] {
            server.ask(request, &json!({"item": item}));
        }
    }
    1 + 2 * items.len()
}
