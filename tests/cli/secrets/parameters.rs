//! Keys that parameters take as Sensitive values, without any `convert_to`: their data are plain
//! text, and no output quotes them unless the user asks for the value of a key.
//!
//! Hovers, explanations and `lookup` answer such a request; they are asked for other keys here.

use serde_json::{Value, json};

use super::marker::{self, TEXT};
use super::repository::{Repository, SENSITIVE};
use super::server::Server;
use super::{Asked, FIXES, PATCHES, REPORTS};
use crate::support::random::{self, Random};
use crate::support::{file_uri, scratch, write_file};

/// The number of secret keys of a repository.
const KEYS: usize = 8;

/// Values for which Puppet refuses the whole file, in words that may quote them.
const BROKEN: [&str; 7] = [
    "\"TEXT7",
    "*TEXT7",
    "!float TEXT7",
    "!ruby/object:TEXT7 # 7",
    "!ruby/class TEXT7",
    "!str {TEXT: x} # 7",
    "{x: !ruby/module TEXT } # 7",
];

/// Writes a repository: a class whose parameters take marked keys, and data with mistakes, so that
/// findings are reported at the lines of these keys.
fn write(folder: std::path::PathBuf, random: &mut Random) -> Repository {
    let (mut head, mut body) = (String::new(), String::new());
    let (mut common, mut role) = (String::new(), String::new());
    for n in 0..KEYS {
        let spelling = random.pick(&SENSITIVE);
        let parameter = match random.below(10) {
            0 => format!("$p{n} = Sensitive('{TEXT}0'),"),
            1 => format!("Sensitive[String] $p{n} = Sensitive('{TEXT}0'),"),
            2 => format!("{spelling} $q{n} = lookup('app::p{n}'),"),
            3 => format!("$q{n} = lookup('app::p{n}', {spelling}),"),
            4 => format!("Sensitive[String] $p{n} = '{TEXT}0',"),
            5 => format!("Variant[Sensitive[Integer], Enum[a]] $p{n},"),
            6 => {
                body.push_str(&format!("  $v{n} = Sensitive(lookup('app::p{n}'))\n"));
                String::new()
            }
            _ => format!("{spelling} $p{n},"),
        };
        head.push_str(&format!("  {}\n", parameter.trim()));
        for text in [&mut common, &mut role] {
            let value = match random.below(8) {
                0 => format!("{TEXT}1"),
                1 => format!("\"{TEXT}2%{{lookup( 'x' )}}\""),
                2 => format!("{{password: {TEXT}3, user: \"%{{lookup('nowhere')}}\"}}"),
                3 => format!("[{TEXT}4, \"%{{\"]"),
                4 => format!("\"{TEXT}5 %{{lookup('app::p{}')}}\"", random.below(KEYS)),
                5 => format!("\"%{{alias('app::p{}')}} {TEXT}6\"", random.below(KEYS)),
                _ => random.pick(&BROKEN).replace("TEXT", TEXT),
            };
            // A broken entry hides all entries below it, and makes Puppet refuse the file.
            let value = if value.ends_with('7') && !random.one_in(6) { "plain" } else { &value };
            text.push_str(&format!("app::p{n}: {value}\n"));
        }
    }
    let files = [
        ("hiera.yaml", "version: 5\nhierarchy:\n  - {name: Role, path: 'role/%{role}.yaml'}\n  - {name: Common, path: common.yaml}\n".to_owned()),
        ("modules/app/manifests/init.pp", format!("class app (\n{head}) {{\n{body}}}\n")),
        ("modules/app/types/secret.pp", "type App::Secret = Variant[Sensitive[String], Integer]\n".to_owned()),
        ("data/common.yaml", format!("{common}open: yes\nurl: \"%{{lookup('app::p0')}}\"\n")),
        ("data/role/web.yaml", role),
    ];
    for (path, text) in &files {
        write_file(folder.join(path), text);
    }
    let asked = (0..KEYS).map(|n| format!("app::p{n}")).collect();
    let data = ["data/common.yaml", "data/role/web.yaml"].map(|path| folder.join(path));
    Repository { keys: folder.clone(), root: folder, asked, files: data.into() }
}

#[test]
fn no_output_quotes_what_a_sensitive_parameter_takes() {
    let seed = random::seed("no_output_quotes_what_a_sensitive_parameter_takes");
    let questions = random::count(600);
    let mut random = Random::new(seed);
    let folder = scratch("secrets-parameters");
    let mut asked = Asked::default();
    let mut n = 0;
    while asked.questions < questions {
        let repository = write(folder.join(format!("r{n}")), &mut random);
        for format in REPORTS {
            asked.output(
                &["check", "--format", format, "--fail-on", "hint"],
                &repository.root,
                "",
                1,
            );
        }
        asked.output(&PATCHES, &repository.root, "", 1);
        asked.output(&FIXES, &repository.root, "", 1);
        asked.output(&["lookup", "open"], &repository.root, "", 1);
        asked.output(&["lookup", "--explain", "open"], &repository.root, "", 1);
        for aspect in ["tree", "entry", "index", "scope"] {
            let path = repository.files[0].display().to_string();
            asked.output(&["debug", aspect, &path], &repository.root, "", 1);
        }
        asked.output(&["keys"], &repository.root, "", 1);
        asked.output(&["keys", "--class", "app"], &repository.root, "", 1);
        for file in &repository.files {
            let path = file.display().to_string();
            let text = std::fs::read_to_string(file).expect("it was written");
            assert!(marker::told(&text).is_some(), "each file has a mark");
            let arguments = ["check", "--stdin", "--stdin-filename", &path];
            asked.output(&arguments, &repository.root, &text, 1);
        }
        asked.unasked_answers(&repository, random.one_in(2));
        assert!(asked.leaks.is_empty(), "HIERA_LS_SEED={seed}, repository {n}:\n{}", asked.told());
        n += 1;
    }
    println!("{} questions of {n} repositories", asked.questions);
}

impl Asked {
    /// A session with requests whose answers quote values that no one asked for.
    fn unasked_answers(&mut self, repository: &Repository, pulls: bool) {
        let mut server = Server::start(repository, &json!({}), pulls);
        for file in &repository.files {
            let document = json!({"uri": file_uri(file)});
            let text = std::fs::read_to_string(file).expect("it was written");
            let opened =
                json!({"uri": file_uri(file), "languageId": "yaml", "version": 1, "text": text});
            server.tell("textDocument/didOpen", &json!({"textDocument": opened}));
            let end = json!({"line": text.lines().count() + 1, "character": 0});
            let all = json!({"start": {"line": 0, "character": 0}, "end": end});
            server.ask("textDocument/inlayHint", &json!({"textDocument": document, "range": all}));
            let lenses = server.ask("textDocument/codeLens", &json!({"textDocument": document}));
            for lens in lenses["result"].as_array().into_iter().flatten() {
                server.ask("codeLens/resolve", lens);
                self.questions += 1;
            }
            if pulls {
                server.ask("textDocument/diagnostic", &json!({"textDocument": document}));
            }
            self.questions += 2;
            self.titles(&mut server, &document, &text);
        }
        self.half_typed(&mut server, &repository.files[0]);
        server.ask("workspace/symbol", &json!({"query": "app"}));
        let (_, leaks) = server.end();
        self.leaks.extend(leaks);
    }

    /// Code actions at each line. The text of a change that moves the user's own line is the user's.
    fn titles(&mut self, server: &mut Server, document: &Value, text: &str) {
        for (line, content) in text.lines().enumerate() {
            for character in [0, content.chars().count() / 2] {
                let place = json!({"line": line, "character": character});
                server.ask(
                    "textDocument/codeAction",
                    &json!({
                        "textDocument": document,
                        "range": {"start": place, "end": place},
                        "context": {"diagnostics": [], "triggerKind": 1},
                    }),
                );
                self.questions += 1;
            }
        }
    }

    /// Completions of keys, values and tokens in a line above the others. Explanations of items are
    /// hovers, and not asked for.
    fn half_typed(&mut self, server: &mut Server, file: &std::path::Path) {
        let document = json!({"uri": file_uri(file)});
        for (number, typed) in ["app::p", "app::p0: ", "n: \"%{lookup('app::p"].iter().enumerate() {
            let change = json!({
                "textDocument": {"uri": document["uri"], "version": number + 2},
                "contentChanges": [{
                    "range": {"start": {"line": 0, "character": 0}, "end": {"line": usize::from(number > 0), "character": 0}},
                    "text": format!("{typed}\n"),
                }],
            });
            server.tell("textDocument/didChange", &change);
            let position = json!({"line": 0, "character": typed.len()});
            server.ask(
                "textDocument/completion",
                &json!({"textDocument": document, "position": position}),
            );
            self.questions += 1;
        }
    }
}
