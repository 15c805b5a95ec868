//! The packages of a release, installed as their users install them: each by its own client, from
//! files and an index of this machine, into an empty folder. The main job then prints what the built
//! program prints.
//!
//! The packages hold the program of the tests, so that nothing is built a second time. That program
//! needs a C library, which the released one does not; `.ci/try-packages` installs that one.
//! dpkg and rpm install as root. Runs where `HIERA_LS_REQUIRE` names packages.
#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

mod clients;
mod launcher;
mod registries;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

const MAIN_JOB: [&str; 6] = [
    "lookup",
    "--root",
    "tests/control-repo",
    "--node",
    "web-01.oslo.example.net",
    "profile::web::vhosts",
];

/// The folder with the packages, made once as `.ci/package` makes them; `None` after a message
/// where this machine need not make them.
fn packages() -> Option<&'static Path> {
    static PACKAGES: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let packages = PACKAGES.get_or_init(|| {
        support::may_install("packages")?;
        let folder = support::scratch("packages");
        let mut package = Command::new(support::in_package(".ci/package"));
        package.arg("--out").arg(&folder);
        package.arg("--server").arg(support::stripped_program("packages-program"));
        let said = succeed(package.args(["--kinds", "archive wheel npm deb rpm image"]));
        assert!(said.contains("left out: the image for "), "{said}");
        Ok(folder)
    });
    match packages {
        Ok(folder) => Some(folder),
        Err(obstacle) => {
            support::missing("packages", obstacle);
            None
        }
    }
}

/// The only file of the folder whose name ends so.
fn package(folder: &Path, ending: &str) -> PathBuf {
    let names = std::fs::read_dir(folder).expect("the folder of packages is listed");
    let mut files = names
        .map(|entry| entry.expect("an entry is read").path())
        .filter(|path| path.to_string_lossy().ends_with(ending));
    let file = files.next().unwrap_or_else(|| panic!("no package ends with {ending}"));
    assert_eq!(files.next(), None, "two packages end with {ending}");
    file
}

/// Runs a command that must succeed, and returns its output.
fn succeed(command: &mut Command) -> String {
    let run = support::run(command, "");
    assert_eq!(run.status, Some(0), "{command:?}\n{}\n{}", run.stdout, run.stderr);
    run.stdout + &run.stderr
}

/// Checks that this command, without arguments yet, does the main job as the built program does.
fn assert_main_job(program: &mut Command) {
    let expected = support::run(&mut support::hiera_ls(MAIN_JOB), "");
    assert!(expected.stdout.contains("butikk.example.net"), "{}", expected.stdout);
    let run = support::run(program.args(MAIN_JOB).current_dir(support::in_package("")), "");
    assert_eq!(
        (run.status, run.stdout, run.stderr),
        (expected.status, expected.stdout, expected.stderr)
    );
}

/// Checks that a folder has a manual page of the program and one of each command, with this
/// ending.
fn assert_pages(folder: &Path, ending: &str) {
    for page in ["hiera-ls", "hiera-ls-lookup", "hiera-ls-check", "hiera-ls-nodes", "hiera-ls-keys"]
    {
        let file = folder.join(format!("{page}{ending}"));
        assert!(file.is_file(), "{} is missing", file.display());
    }
}

/// A registry of PyPI's and npm's kinds with the packages of a folder, until it is dropped.
struct Index {
    server: Child,
    address: String,
}

impl Index {
    fn serve(folder: &Path) -> Index {
        let mut server = Command::new("python3")
            .arg(support::in_package("tests/packages/index.py"))
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut port = String::new();
        let stdout = server.stdout.take().expect("stdout was asked to be a pipe");
        BufReader::new(stdout).read_line(&mut port).expect("the server prints its port");
        Index { server, address: format!("http://127.0.0.1:{}", port.trim()) }
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}
