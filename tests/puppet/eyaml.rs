//! Decryption against the real `eyaml`: it makes the keys and encrypts, hiera-ls and eyaml decrypt.
//! Also checks which outputs show decrypted text.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Run, hiera_ls, is_required, require, run, scratch};
use hiera_ls::disk::OsFs;
use hiera_ls::eyaml::EyamlConfig;
use hiera_ls::ide::hover::{HoverConfig, hover};
use hiera_ls::ide::refactor::{RefactoringKind, RefactoringRequest, find_refactorings};
use hiera_ls::text::{FilePath, FilePosition, TextEdit, TextRange};
use hiera_ls::workspace::files::scan;
use hiera_ls::workspace::{Change, Workspace, WorkspaceConfig};

/// A control repository with keys of its own beside it, made by eyaml.
struct Repository {
    dir: PathBuf,
}

impl Repository {
    /// `size`: how many bits the repository's keys have.
    fn new(name: &str, size: u32) -> Repository {
        let repository = Repository { dir: scratch(name) };
        let keys = format!("--pkcs7-keysize={size}");
        assert_eq!(repository.eyaml(&["createkeys", &keys], "").status, Some(0));
        std::fs::create_dir_all(repository.root().join("data")).unwrap();
        repository
    }

    fn root(&self) -> PathBuf {
        self.dir.join("repo")
    }

    fn eyaml(&self, arguments: &[&str], input: &str) -> Run {
        run(Command::new("eyaml").args(arguments).current_dir(&self.dir), input)
    }

    fn encrypted(&self, plain: &str, form: &str) -> String {
        let run = self.eyaml(&["encrypt", "--stdin", "--output", form], plain);
        assert_eq!(run.status, Some(0), "{run:?}");
        run.stdout.trim_end().to_owned()
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.root().join(path), text).unwrap();
    }

    /// Writes a `hiera.yaml` whose options name the keys, and the data.
    fn write_all(&self, data: &str) {
        let keys = self.dir.join("keys");
        let keys = keys.display();
        self.write(
            "hiera.yaml",
            &format!(
                "version: 5\nhierarchy:\n  - name: Secrets\n    lookup_key: eyaml_lookup_key\n    path: secrets.eyaml\n    options:\n      \
                 pkcs7_private_key: {keys}/private_key.pkcs7.pem\n      pkcs7_public_key: {keys}/public_key.pkcs7.pem\n"
            ),
        );
        self.write("data/secrets.eyaml", data);
    }

    fn lookup(&self, arguments: &[&str]) -> Run {
        let root = self.root();
        let all =
            ["lookup", "--root"].into_iter().chain([path(&root)]).chain(arguments.iter().copied());
        run(&mut hiera_ls(all), "")
    }
}

fn path(path: &Path) -> &str {
    path.to_str().expect("scratch paths are UTF-8")
}

#[test]
fn values_are_decrypted_as_eyaml_does() {
    if !require("eyaml") {
        return;
    }
    // Each value needs a run of `eyaml`, which takes half a second to start.
    let sizes: &[u32] = if is_required("eyaml") { &[1024, 2048, 4096] } else { &[2048] };
    for &size in sizes {
        let repository = Repository::new(&format!("eyaml-{size}"), size);
        let plain = [
            "hello",
            "",
            "two\nlines",
            "ünïcode 日本語",
            "with: yaml #signs 'and' \"quotes\"",
            &"long ".repeat(2000),
        ];
        let mut data = String::new();
        for (n, plain) in plain.iter().enumerate() {
            data += &format!("string{n}: {}\n", repository.encrypted(plain, "string"));
            data += &format!("block{n}: {}\n", repository.encrypted(plain, "block"));
        }
        data += &format!(
            "parts: a {} b {}\n",
            repository.encrypted("1", "string"),
            repository.encrypted("2", "string")
        );
        repository.write_all(&data);
        let decrypted = repository
            .eyaml(&["decrypt", "--eyaml", path(&repository.root().join("data/secrets.eyaml"))], "")
            .stdout;
        for (n, plain) in plain.iter().enumerate() {
            assert!(decrypted.contains(plain), "eyaml itself decrypts it");
            for form in ["string", "block"] {
                let run = repository.lookup(&[
                    "--decrypt",
                    "--reveal-sensitive",
                    "--render-as",
                    "json",
                    &format!("{form}{n}"),
                ]);
                assert_eq!(
                    run.stdout,
                    format!("{}\n", serde_json::Value::from(*plain)),
                    "{size} {form}{n}: {}",
                    run.stderr
                );
            }
        }
        let run =
            repository.lookup(&["--decrypt", "--reveal-sensitive", "--render-as", "s", "parts"]);
        assert_eq!(run.stdout, "a 1 b 2\n");
    }
}

#[test]
fn what_was_decrypted_is_shown_only_when_asked_for() {
    if !require("eyaml") {
        return;
    }
    let repository = Repository::new("eyaml-secrecy", 2048);
    let secret = repository.encrypted("hunter2", "string");
    let token = repository.encrypted("%{hunter2('x')}", "string");
    let variable = repository.encrypted("a%{hunter2}b", "string");
    repository.write_all(&format!(
        "db: {{user: app, password: \"{secret}\"}}\nurl: \"x://%{{lookup('db.password')}}@y\"\nalias: \"%{{alias('db')}}\"\n\
         keyed: {{\"%{{lookup('db.password')}}\": 1}}\nnumber: \"{secret}\"\nlist: \"{secret}\"\nbroken: \"{token}\"\n\
         variable: \"{variable}\"\n\
         lookup_options: {{number: {{convert_to: Integer}}, list: {{convert_to: Array}}}}\n"
    ));
    let ways: [&[&str]; 6] = [
        &["--render-as", "json"],
        &["--render-as", "yaml"],
        &["--render-as", "s"],
        &["--explain"],
        &["--explain", "--render-as", "json"],
        &["--type", "Enum['x']"],
    ];
    for key in
        ["db", "db.password", "url", "alias", "keyed", "number", "list", "broken", "variable"]
    {
        for way in ways {
            let mut arguments = vec!["--decrypt"];
            arguments.extend(way);
            arguments.push(key);
            let hidden = repository.lookup(&arguments);
            let all = format!("{}{}", hidden.stdout, hidden.stderr);
            assert!(
                !all.contains("hunter2") && !all.contains("h\", \"u\""),
                "{arguments:?} tells the secret: {all}"
            );
            arguments.push("--reveal-sensitive");
            let shown = repository.lookup(&arguments);
            let told = format!("{}{}", shown.stdout, shown.stderr);
            assert!(
                way.contains(&"--type") || told.contains("hunter2") || key == "list",
                "{arguments:?}: {told}"
            );
        }
    }
    assert_eq!(
        repository.lookup(&["--decrypt", "--render-as", "json", "db"]).stdout,
        "{\"user\":\"app\",\"password\":\"ENC[decrypted]\"}\n"
    );
    // Without `--decrypt` nothing is decrypted, regardless of the repository's settings.
    repository.write(".hiera-ls.yaml", "eyaml: {decrypt: true, reveal: true, keyFolders: [/]}\n");
    let run = repository.lookup(&["--reveal-sensitive", "--render-as", "json", "db.password"]);
    assert_eq!(run.stdout, format!("{}\n", serde_json::Value::from(secret)));
    assert!(
        run.stderr
            .contains("setting 'eyaml': is refused here: only the user may switch decryption on"),
        "{}",
        run.stderr
    );
}

/// Lookups of 20 keys in 12 forms over two encrypted levels: each strategy takes values apart and
/// makes new ones.
#[test]
fn merges_keep_decrypted_text_hidden() {
    if !require("eyaml") {
        return;
    }
    let repository = Repository::new("eyaml-merges", 1024);
    let secret = repository.encrypted("hunter2", "string");
    let marker = repository.encrypted("--hunter2", "string");
    let number = repository.encrypted("47114711", "string");
    let data = format!(
        "db: {{password: {secret}, nested: {{list: [{secret}, plain], number: {number}}}}}\n\
         plain: {secret}\nlist: [{secret}, a, {marker}]\nhashes: [{{name: {secret}}}, {{name: b}}]\n\
         keyed: {{\"%{{lookup('plain')}}\": {{a: 1}}}}\nalias: \"%{{alias('db')}}\"\n\
         text: \"x%{{lookup('plain')}}y\"\nmarked: {marker}\nnumber: {number}\n\
         unpacked: [\"{secret},b\", c]\nsorted: [{secret}, \"%{{alias('number')}}\", 3]\n\
         as_integer: {{a: {secret}}}\nas_list: {secret}\nas_text: {{a: {secret}}}\n\
         as_tree: [[[{secret}, a], {secret}]]\nas_pairs: [{secret}, {secret}]\nas_enum: [{secret}]\n\
         lookup_options:\n  db: {{merge: deep}}\n  list: {{merge: {{strategy: deep, knockout_prefix: '--'}}}}\n  \
         hashes: {{merge: {{strategy: deep, merge_hash_arrays: true}}}}\n  keyed: {{merge: deep}}\n  \
         marked: {{merge: {{strategy: deep, knockout_prefix: '--'}}}}\n  number: {{convert_to: Integer}}\n  \
         unpacked: {{merge: {{strategy: unconstrained_deep, unpack_arrays: ','}}}}\n  \
         sorted: {{merge: {{strategy: deep, sort_merged_arrays: true}}}}\n  \
         as_integer: {{merge: deep, convert_to: Integer}}\n  as_list: {{merge: unique, convert_to: Array}}\n  \
         as_text: {{merge: hash, convert_to: String}}\n  as_tree: {{merge: unique, convert_to: [Hash, tree]}}\n  \
         as_pairs: {{merge: unique, convert_to: Hash}}\n  as_enum: {{merge: unique, convert_to: \"Array[Enum[x]]\"}}\n"
    );
    repository.write_all(&data);
    let config = std::fs::read_to_string(repository.root().join("hiera.yaml")).unwrap();
    let level = config.split_once("hierarchy:\n").expect("it has a hierarchy").1;
    let lower = level.replace("secrets.eyaml", "lower.eyaml").replace("Secrets", "Lower");
    repository.write("hiera.yaml", &format!("{config}{lower}"));
    repository.write("data/lower.eyaml", &data);
    let forms: [&[&str]; 12] = [
        &["--render-as", "json"],
        &["--render-as", "yaml"],
        &["--render-as", "s"],
        &["--explain"],
        &["--explain", "--render-as", "json"],
        &["--explain", "--lines"],
        &["--explain-options"],
        &["--type", "Enum['x']"],
        &["--merge", "deep"],
        &["--merge", "unique"],
        &["--merge", "hash"],
        &["--merge", "deep", "--knock-out-prefix", "--", "--explain"],
    ];
    let keys = "db db.password db.nested plain list hashes keyed alias text marked number unpacked \
                sorted as_integer as_list as_text as_tree as_pairs as_enum list.0";
    for key in keys.split_whitespace() {
        for form in forms {
            let mut arguments = vec!["--decrypt"];
            arguments.extend(form);
            arguments.push(key);
            let run = repository.lookup(&arguments);
            let all = format!("{}{}", run.stdout, run.stderr);
            assert!(
                !all.contains("hunter2") && !all.contains("47114711"),
                "{arguments:?} tells a secret: {all}"
            );
        }
    }
}

#[test]
fn hover_hides_decrypted_text_unless_the_user_reveals_it() {
    if !require("eyaml") {
        return;
    }
    let repository = Repository::new("eyaml-hover", 2048);
    let secret = repository.encrypted("hunter2", "string");
    repository.write_all(&format!("db: {{password: \"{secret}\"}}\nbroken: \"ENC[PKCS7,abc]\"\n"));
    let hover = |key: &str, eyaml: EyamlConfig| {
        let root = FilePath::new(path(&repository.root()));
        let folders = vec![FilePath::new(path(&repository.dir))];
        let mut workspace =
            Workspace::new(WorkspaceConfig { eyaml, ..WorkspaceConfig::default() }, folders);
        let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        let snapshot = workspace.snapshot();
        let file = snapshot.file(&root.join("data/secrets.eyaml")).expect("it is read");
        let offset =
            file.text().expect("it is a text").to_str().find(key).expect("it has the key") as u32;
        let position = FilePosition { file: file.id, offset };
        let link = |_: &FilePath, _: u32| String::new();
        let config = HoverConfig {
            link: Some(&link),
            max_value_lines: 20,
            max_locations: 9,
            ..HoverConfig::default()
        };
        hover(&snapshot, position, &config).expect("there is a key").text
    };
    let decrypt = EyamlConfig { decrypt: true, ..EyamlConfig::default() };
    assert!(hover("db:", EyamlConfig::default()).contains("password: ENC[encrypted]"));
    let hidden = hover("db:", decrypt.clone());
    assert!(hidden.contains("password: ENC[decrypted]") && !hidden.contains("hunter2"), "{hidden}");
    let shown = hover("db:", EyamlConfig { reveal: true, ..decrypt.clone() });
    assert!(shown.contains("password: hunter2"), "{shown}");
    let broken = hover("broken:", decrypt);
    assert!(broken.contains("error decrypting ENC[encrypted] when looking up broken"), "{broken}");
}

/// eyaml decrypts the refactoring's ciphertext to the same text. The refactoring has no private
/// key, and only its change contains the text or the ciphertext.
#[test]
fn eyaml_decrypts_what_the_refactoring_encrypts() {
    if !require("eyaml") {
        return;
    }
    let repository = Repository::new("eyaml-encrypt", 2048);
    let values = [
        ("plain", "hunter2", "hunter2"),
        ("quoted", "\"hunter2 \\t \\u00e9 '\"", "hunter2 \t \u{e9} '"),
        ("list", "[a, 'hunter2, b']", "hunter2, b"),
        ("block", "|\n  hunter2\n  日本語\n", "hunter2\n日本語\n"),
        (
            "long",
            &*format!("hunter2{}", "x".repeat(5000)),
            &*format!("hunter2{}", "x".repeat(5000)),
        ),
    ];
    let data: String = values.iter().map(|(key, text, _)| format!("{key}: {text}\n")).collect();
    let private = repository.dir.join("keys/private_key.pkcs7.pem");
    let away = repository.dir.join("private.pem");
    for (key, _, plain) in values {
        repository.write_all(&data);
        std::fs::rename(&private, &away).unwrap();
        let (title, text) = encrypted_by_refactoring(&repository, key, "hunter2");
        std::fs::rename(&away, &private).unwrap();
        assert_eq!(title, format!("Encrypt the value in `{key}`"));
        repository.write("data/secrets.eyaml", &text);
        let shown = repository.lookup(&[
            "--decrypt",
            "--reveal-sensitive",
            "--render-as",
            "json",
            if key == "list" { "list.1" } else { key },
        ]);
        assert_eq!(shown.stdout, format!("{}\n", serde_json::Value::from(plain)), "{text}");
        let start = text.find("ENC[PKCS7,").expect("it is encrypted");
        let end = start + text[start..].find(']').expect("it ends") + 1;
        let run = repository.eyaml(&["decrypt", "--stdin"], &text[start..end]);
        assert_eq!(run.stdout.trim_end_matches('\n'), plain.trim_end_matches('\n'));
        assert!(!text[start..end].contains("hunter2"));
        // Each ciphertext has a key of its own, so that two ciphertexts of one value differ.
        std::fs::rename(&private, &away).unwrap();
        repository.write_all(&data);
        assert_ne!(encrypted_by_refactoring(&repository, key, "hunter2").1, text);
        std::fs::rename(&away, &private).unwrap();
    }
}

/// Returns the title of the refactoring that encrypts the value of a key that begins at a word, and
/// the text that it leaves.
fn encrypted_by_refactoring(repository: &Repository, key: &str, word: &str) -> (String, String) {
    let folders = vec![FilePath::new(path(&repository.dir))];
    let mut workspace = Workspace::new(WorkspaceConfig::default(), folders);
    let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    let snapshot = workspace.snapshot();
    let file = FilePath::new(path(&repository.root())).join("data/secrets.eyaml");
    let text = snapshot.file(&file).expect("it is read").text().expect("a text").to_str();
    let entry = text.find(&format!("{key}:")).expect("it has the key");
    let at = entry + text[entry..].find(word).expect("it has the word");
    let wanted = RefactoringRequest {
        path: &file,
        range: TextRange::new_empty(at as u32),
        creates_files: true,
        is_by_user: true,
        lookups: None,
        kinds: &|kind| kind == RefactoringKind::Rewrite,
    };
    let mut all = find_refactorings(&snapshot, wanted).into_iter();
    let one = all.find(|one| one.title.starts_with("Encrypt")).expect("it is offered");
    let change = one.change.expect("it can be made");
    (one.title, TextEdit::apply_all(&change.edits[&file], &text))
}

#[test]
fn keys_named_on_the_command_line_take_the_place_of_those_in_hiera_yaml() {
    if !require("eyaml") {
        return;
    }
    let repository = Repository::new("eyaml-own-keys", 2048);
    repository.write_all(&format!("k: {}\n", repository.encrypted("hello", "string")));
    let moved = repository.dir.join("moved");
    std::fs::rename(repository.dir.join("keys"), &moved).unwrap();
    let run = repository.lookup(&["--decrypt", "--reveal-sensitive", "k"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("No such file or directory @ rb_sysopen"), "{}", run.stderr);
    let private = moved.join("private_key.pkcs7.pem");
    let public = moved.join("public_key.pkcs7.pem");
    let own = ["--decrypt", "--reveal-sensitive", "--eyaml-private-key", path(&private), "k"];
    assert_eq!(repository.lookup(&own).stdout, "hello\n");
    let both = [
        "--decrypt",
        "--reveal-sensitive",
        "--eyaml-private-key",
        path(&private),
        "--eyaml-public-key",
        path(&public),
        "k",
    ];
    assert_eq!(repository.lookup(&both).stdout, "hello\n");
    // A private key may also be in PKCS#8.
    let pkcs8 = repository.dir.join("pkcs8.pem");
    let converted =
        run_openssl(&["pkcs8", "-topk8", "-nocrypt", "-in", path(&private), "-out", path(&pkcs8)]);
    if converted {
        let own = ["--decrypt", "--reveal-sensitive", "--eyaml-private-key", path(&pkcs8), "k"];
        assert_eq!(repository.lookup(&own).stdout, "hello\n");
    }
}

fn run_openssl(arguments: &[&str]) -> bool {
    require("openssl") && run(Command::new("openssl").args(arguments), "").status == Some(0)
}
