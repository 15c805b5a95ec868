//! The README is true: its table of rules is the catalogue's, its commands are those that CI runs,
//! and its examples are real output.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use hiera_ls::diagnostics::catalogue::RULES;

fn file(name: &str) -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

/// `HIERA_LS_UPDATE=1 cargo test --test house readme` writes the table anew.
#[test]
fn the_table_of_rules_is_the_catalogue() {
    let (path, text) = file("README.md");
    let mut table = String::from("<!-- rules -->\n| Code | Severity | Finds |\n|---|---|---|\n");
    for rule in RULES {
        table.push_str(&format!(
            "| `{}` | {} | {} |\n",
            rule.code,
            rule.severity.name(),
            rule.summary
        ));
    }
    let (before, rest) = text.split_once("<!-- rules -->").unwrap();
    let (_, after) = rest.split_once("<!-- /rules -->").unwrap();
    let current = format!("{before}{table}<!-- /rules -->{after}");
    if std::env::var_os("HIERA_LS_UPDATE").is_some() {
        fs::write(path, &current).unwrap();
    } else {
        assert!(
            current == text,
            "the table of rules is not current: run `HIERA_LS_UPDATE=1 cargo test --test house readme`"
        );
    }
}

#[test]
fn ci_runs_the_commands_of_the_readme() {
    let (_, readme) = file("README.md");
    let (_, ci) = file(".ci/run");
    assert!(
        readme.contains("```sh\ncargo test\n```")
            && ci.contains(" cargo test --locked --no-fail-fast\n")
    );
    let main_job =
        "lookup --root tests/control-repo --node web-01.oslo.example.net profile::web::vhosts";
    assert!(
        readme.contains(&format!("cargo run --release -- {main_job}")) && ci.contains(main_job)
    );
}

/// The value below the main job is the one that it prints on a terminal.
#[test]
fn the_main_job_prints_what_the_readme_shows() {
    let (_, readme) = file("README.md");
    let arguments = "lookup --root tests/control-repo --node web-01.oslo.example.net --places always profile::web::vhosts";
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(arguments.split(' '))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        readme.contains(&format!("```yaml\n{printed}```")),
        "the README does not show:\n{printed}"
    );
}

/// Its pictures are those that `tests/editors/workbench` and `tests/editors` take, after a check of
/// their content; small enough for a first page.
#[test]
fn the_pictures_are_those_of_the_tests() {
    let (_, readme) = file("README.md");
    let (_, workbench) = file("tests/editors/workbench/checks.mjs");
    let (_, editors) = file("tests/editors/clients.rs");
    let pictures: Vec<&str> = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|at| at.ends_with(".png"))
        .collect();
    assert_eq!(pictures, ["editors/vscode/media/hover.png", "editors/nvim/media/hover.png"]);
    assert!(workbench.contains(pictures[0]) && editors.contains(pictures[1]));
    for picture in pictures {
        let size =
            fs::metadata(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(picture)).unwrap().len();
        assert!((10_000..200_000).contains(&size), "{picture} has {size} bytes");
    }
}

/// The finding in the README's example is the one that `check` reports for that mistake in a copy
/// of the sample.
#[test]
fn the_finding_is_true() {
    let (_, readme) = file("README.md");
    let copy = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readme");
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(copy.join("data")).unwrap();
    let (_, config) = file("tests/control-repo/hiera.yaml");
    // The hierarchy alone would do; levels without any file would turn the warning into a hint.
    let common = config.split("  - name: Secrets").next().unwrap().to_owned()
        + "  - name: Common\n    path: common.yaml\n";
    fs::write(copy.join("hiera.yaml"), common).unwrap();
    let (_, data) = file("tests/control-repo/data/common.yaml");
    fs::write(
        copy.join("data/common.yaml"),
        data.replace("lookup('company')", "lookup('compnay')"),
    )
    .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .current_dir(&copy)
        .args(["check"])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let finding: String = printed
        .split_inclusive('\n')
        .skip_while(|line| !line.contains("'compnay'"))
        .take(3)
        .collect();
    assert!(
        finding.contains("unknown-key") && readme.contains(&finding),
        "the README does not show:\n{printed}"
    );
}
