//! The TextMate grammar over VS Code's own YAML grammar: `tests/grammar/*.test.yaml` says which scopes each place must have.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The package of the test runner.
const RUNNER: &str = "vscode-tmgrammar-test@0.1.3";
/// VS Code's YAML grammars (MIT), as VS Code 1.139 has them. Only the files: its dependency is large, and not needed.
const YAML: &str = "@codingame/monaco-vscode-yaml-default-extension@36.2.7";
const GRAMMAR: &str = "hiera.tmLanguage.json";

#[test]
fn the_grammar_colours_what_it_should() {
    let folder = match packages() {
        Ok(folder) => folder,
        Err(obstacle) => {
            support::missing("npm", &obstacle);
            return;
        }
    };
    // The runner takes paths of grammars relative to this file, so the grammar is put beside it.
    let grammar = support::in_package("syntaxes").join(GRAMMAR);
    let text = std::fs::read_to_string(&grammar).expect("the grammar can be read");
    let scope = serde_json::from_str::<serde_json::Value>(&text).expect("the grammar is JSON")["scopeName"].clone();
    let injection = serde_json::json!({"scopeName": scope, "path": format!("./{GRAMMAR}"), "injectTo": ["source.yaml"]});
    let config = serde_json::json!({"contributes": {"grammars": [injection]}});
    std::fs::write(folder.join(GRAMMAR), text).expect("the grammar can be copied");
    std::fs::write(folder.join("injection.json"), config.to_string()).expect("the configuration can be written");

    let mut command = Command::new("node");
    command.arg(folder.join("node_modules/vscode-tmgrammar-test/dist/unit.js")).args(["--config", "injection.json"]);
    for yaml in files(&folder.join("package/resources"), ".tmLanguage.json") {
        command.arg("--grammar").arg(yaml);
    }
    let tests = files(&support::in_package("tests/grammar"), ".test.yaml");
    assert!(!tests.is_empty(), "there is nothing to test");
    let run = support::run(command.args(tests).current_dir(&folder), "");
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    // It says so of each file; without that it may have looked at none.
    assert!(run.stdout.contains("run successfuly"), "{}", run.stdout);
}

/// A folder with both packages, made once below Cargo's directory for tests; or why there is none.
fn packages() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grammar-node");
    let made_from = folder.join("made-from.txt");
    if std::fs::read_to_string(&made_from).is_ok_and(|made_from| made_from == format!("{RUNNER} {YAML}")) {
        return Ok(folder);
    }
    let folder = support::scratch("grammar-node");
    std::fs::write(folder.join("package.json"), "{\"private\": true}").map_err(|error| error.to_string())?;
    let npm = |arguments: &[&str]| succeed(Command::new("npm").args(arguments).current_dir(&folder));
    npm(&["install", "--no-audit", "--no-fund", "--ignore-scripts", RUNNER])?;
    npm(&["pack", YAML])?;
    let archive = files(&folder, ".tgz").pop().ok_or("npm packed nothing")?;
    succeed(Command::new("tar").arg("xzf").arg(archive).arg("package/resources").current_dir(&folder))?;
    std::fs::write(&made_from, format!("{RUNNER} {YAML}")).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?} does not start: {error}"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?} fails: {error}")) }
}

/// The files of a folder whose names end so, sorted.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(end)).collect();
    files.sort();
    files
}
