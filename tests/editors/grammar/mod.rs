//! The TextMate grammars over VS Code's own YAML grammar: `tests/editors/grammar/*.test.yaml`
//! states the scopes that places must have, `tests/editors/grammar/tricky.tokens` records those
//! that they have.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support;
use crate::support::npm;

/// The package of the test runner.
const RUNNER: &str = "vscode-tmgrammar-test@0.1.3";
/// VS Code's YAML grammars (MIT), as VS Code 1.139 has them. Only the files: its dependency is
/// large, and not needed.
const YAML: &str = "@codingame/monaco-vscode-yaml-default-extension@36.2.7";

#[test]
fn the_grammars_colour_what_they_should() {
    let Some(folder) = packages() else { return };
    // The runner takes paths of grammars relative to `injection.json`, so the grammars are copied
    // into the folder of that file.
    let injected = files(&support::in_package("syntaxes"), ".tmLanguage.json").into_iter().map(|grammar| {
        let text = std::fs::read_to_string(&grammar).expect("the grammar can be read");
        let name = grammar.file_name().expect("a file has a name").to_string_lossy().into_owned();
        std::fs::write(folder.join(&name), &text).expect("the grammar can be copied");
        let scope = serde_json::from_str::<serde_json::Value>(&text).expect("the grammar is JSON")["scopeName"].clone();
        serde_json::json!({"scopeName": scope, "path": format!("./{name}"), "injectTo": ["source.yaml"]})
    });
    let config = serde_json::json!({"contributes": {"grammars": injected.collect::<Vec<_>>()}});
    std::fs::write(folder.join("injection.json"), config.to_string())
        .expect("the configuration can be written");

    let mut command = Command::new("node");
    command
        .arg(folder.join("node_modules/vscode-tmgrammar-test/dist/unit.js"))
        .args(["--config", "injection.json"]);
    for yaml in files(&folder.join("package/resources"), ".tmLanguage.json") {
        command.arg("--grammar").arg(yaml);
    }
    let tests = files(&support::in_package("tests/editors/grammar"), ".test.yaml");
    assert!(!tests.is_empty(), "there is nothing to test");
    let run = support::run(command.args(tests).current_dir(&folder), "");
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    // The tool prints this line for each file; without it, no file may have been checked.
    assert!(run.stdout.contains("run successfuly"), "{}", run.stdout);
}

/// All forms of YAML that grammars often get wrong: the scopes are recorded, and YAML's own scopes
/// are the same without the extension. `HIERA_LS_RECORD=1` writes the record anew.
#[test]
fn tricky_yaml_is_coloured_as_recorded() {
    let Some(folder) = packages() else { return };
    let tokens = tokens(&folder, &[support::in_package("tests/editors/grammar/tricky.yaml")]);
    let record = support::in_package("tests/editors/grammar/tricky.tokens");
    if support::variable("HIERA_LS_RECORD").is_some() {
        std::fs::write(&record, &tokens).expect("the record can be written");
    }
    assert_eq!(
        tokens,
        std::fs::read_to_string(&record).expect("the record can be read"),
        "HIERA_LS_RECORD=1 records anew"
    );
}

/// Real data: no scope of YAML's own differs in any file, and each text with a token's scope is a
/// token.
#[test]
fn the_corpus_has_no_stray_scope() {
    let Some(folder) = packages() else { return };
    let sample = support::in_package("tests/control-repo");
    let corpus = support::variable("HIERA_LS_CORPUS").map(PathBuf::from);
    if corpus.is_none() {
        let _ = support::missing("corpus", "HIERA_LS_CORPUS is not set");
    }
    let mut all = Vec::new();
    for root in [Some(sample), corpus].into_iter().flatten() {
        collect(&root, &mut all);
    }
    let mut regions = 0;
    for file in all.iter().filter(|file| file.ends_with("common.yaml")) {
        let text = std::fs::read_to_string(file).expect("a file of UTF-8");
        let coloured =
            regions_of(&tokens(&folder, std::slice::from_ref(file)), &["meta.interpolation.hiera"]);
        assert_eq!(coloured, interpolations(&text), "{}", file.display());
        regions += coloured.len();
    }
    assert!(regions > 5, "there is nothing to look at");
    // All files are coloured together: the script fails where a scope of YAML's own differs.
    let coloured = tokens(&folder, &all);
    eprintln!("{} files, {} tokens with scopes of ours", all.len(), coloured.lines().count());
}

/// Returns the tokens that Hiera sees in lines that are no comments: `%{`, up to the next brace.
fn interpolations(text: &str) -> Vec<String> {
    let token = regex::Regex::new(r"%\{[^}]*\}").expect("a regular expression");
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
    let found = lines.flat_map(|(number, line)| {
        token
            .find_iter(line)
            .map(move |found| format!("{}: {}", number + 1, found.as_str()))
            .collect::<Vec<_>>()
    });
    found.collect()
}

/// The texts that neighbouring tokens with one of these scopes cover, each with its line: `LINE:
/// TEXT`. One begins where a token begins.
fn regions_of(tokens: &str, scopes: &[&str]) -> Vec<String> {
    let mut regions: Vec<(String, usize, String)> = Vec::new();
    for token in tokens.lines() {
        let (place, rest) = token.split_once(' ').expect("a place and more");
        let mut place = place.rsplitn(3, ':');
        let column: usize = place.next().and_then(|column| column.parse().ok()).expect("a column");
        let line = place.next().expect("a line").to_owned();
        let mut json = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let text = json.next().expect("a text").expect("a text in JSON");
        let named = &rest[json.byte_offset()..];
        if !scopes.iter().any(|scope| named.split(' ').any(|name| name == *scope)) {
            continue;
        }
        let end = column + text.encode_utf16().count();
        match regions.last_mut() {
            Some((last, at, region)) if *last == line && *at == column && text != "%{" => {
                region.push_str(&text);
                *at = end;
            }
            _ => regions.push((line, end, text)),
        }
    }
    regions.into_iter().map(|(line, _, text)| format!("{line}: {text}")).collect()
}

/// Returns the output of `tests/editors/grammar/scopes.mjs` for these files. The script fails where
/// a scope of YAML's own differs.
fn tokens(folder: &Path, files: &[PathBuf]) -> String {
    let mut command = Command::new("node");
    command
        .arg(support::in_package("tests/editors/grammar/scopes.mjs"))
        .arg(folder)
        .arg(support::in_package("syntaxes"))
        .args(files);
    let run = support::run(&mut command, "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    run.stdout
}

/// The files of YAML below a folder.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| !path.is_symlink())
        .collect();
    entries.sort();
    for path in entries {
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => collect(&path, found),
            Some("yaml" | "yml" | "eyaml") => found.push(path),
            _ => {}
        }
    }
}

/// Returns the folder with the packages; where there is none, prints the reason.
fn packages() -> Option<PathBuf> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let made = FOLDER.get_or_init(made_packages);
    match made {
        Ok(folder) => Some(folder.clone()),
        Err(obstacle) => {
            support::missing("npm", obstacle);
            None
        }
    }
}

/// A folder with both packages, or why there is none.
fn made_packages() -> Result<PathBuf, String> {
    npm::made_once("npm", "grammar", &format!("{RUNNER} {YAML}"), |folder| {
        npm::run(folder, None, &["install", "--ignore-scripts", RUNNER])?;
        npm::run(folder, None, &["pack", YAML])?;
        let archive = files(folder, ".tgz").pop().ok_or("npm packed nothing")?;
        npm::succeed(
            Command::new("tar")
                .arg("xzf")
                .arg(archive)
                .arg("package/resources")
                .current_dir(folder),
        )
    })
}

/// The files of a folder whose names end so, sorted.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect();
    files.sort();
    files
}
