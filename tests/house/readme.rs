//! The README is a door: short, with commands that CI runs and examples that are real output.

use std::fs;
use std::path::PathBuf;

use crate::generated::read;
use crate::support;

/// The README's length. What does not fit belongs to a page of `docs`.
const MAX_LINES: usize = 150;
const MAX_WORDS: usize = 1_500;

#[test]
fn the_readme_is_short() {
    let readme = read("README.md");
    let (lines, words) = (readme.lines().count(), readme.split_whitespace().count());
    assert!(lines <= MAX_LINES && words <= MAX_WORDS, "{lines} lines, {words} words");
}

#[test]
fn ci_runs_the_commands_of_the_readme() {
    let (readme, ci) = (read("README.md"), read(".ci/run"));
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
    let arguments = "lookup --root tests/control-repo --node web-01.oslo.example.net --places always profile::web::vhosts";
    let printed = support::run(&mut support::hiera_ls(arguments.split(' ')), "").stdout;
    assert!(
        read("README.md").contains(&format!("```yaml\n{printed}```")),
        "the README does not show:\n{printed}"
    );
}

/// The README's pictures are those that `tests/editors/workbench` and `tests/editors` take, after a
/// check of their content; small enough for a first page.
#[test]
fn the_pictures_are_those_of_the_tests() {
    let readme = read("README.md");
    let pictures: Vec<&str> = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|at| at.ends_with(".png"))
        .collect();
    assert_eq!(pictures, ["editors/vscode/media/hover.png", "editors/nvim/media/hover.png"]);
    assert!(read("tests/editors/workbench/checks.mjs").contains(pictures[0]));
    assert!(read("tests/editors/clients.rs").contains(pictures[1]));
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
    let copy = support::scratch("readme");
    fs::create_dir_all(copy.join("data")).unwrap();
    // The hierarchy of the sample would be enough, but levels without any file would turn the
    // warning into a hint.
    let common =
        read("tests/control-repo/hiera.yaml").split("  - name: Secrets").next().unwrap().to_owned()
            + "  - name: Common\n    path: common.yaml\n";
    fs::write(copy.join("hiera.yaml"), common).unwrap();
    let data = read("tests/control-repo/data/common.yaml");
    fs::write(
        copy.join("data/common.yaml"),
        data.replace("lookup('company')", "lookup('compnay')"),
    )
    .unwrap();
    let printed = support::run(support::hiera_ls(["check"]).current_dir(&copy), "").stdout;
    let finding: String = printed
        .split_inclusive('\n')
        .skip_while(|line| !line.contains("'compnay'"))
        .take(3)
        .collect();
    assert!(
        finding.contains("unknown-key") && read("README.md").contains(&finding),
        "the README does not show:\n{printed}"
    );
}
