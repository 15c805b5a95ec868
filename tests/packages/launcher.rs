//! The launcher of the npm package: what a program's caller sees of a process between.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support;
use crate::{MAIN_JOB, package, packages, succeed};

/// Unpacks the launcher, and the platform's package beside it if asked; returns the launcher.
fn unpacked(folder: &Path, name: &str, with_program: bool) -> PathBuf {
    let modules = support::scratch(name).join("node_modules");
    let unpack = |file: PathBuf, to: PathBuf| {
        std::fs::create_dir_all(&to).expect("a folder is made");
        let mut tar = Command::new("tar");
        succeed(tar.arg("-xzf").arg(file).arg("-C").arg(to).arg("--strip-components=1"));
    };
    let version = env!("CARGO_PKG_VERSION");
    unpack(folder.join(format!("hiera-ls-{version}.tgz")), modules.join("hiera-ls"));
    if with_program {
        let program = package(folder, &format!("64-{version}.tgz"));
        let file = program.file_name().expect("it has a name").to_string_lossy().into_owned();
        let platform = file
            .strip_prefix("hiera-ls-")
            .and_then(|rest| rest.strip_suffix(&format!("-{version}.tgz")))
            .expect("the name of a platform's package");
        unpack(program, modules.join("@hiera-ls").join(platform));
    }
    modules.join("hiera-ls/bin/hiera-ls.js")
}

#[test]
fn the_launcher_names_the_package_that_is_missing() {
    let Some(folder) = packages() else { return };
    let launcher = unpacked(folder, "packages-launcher-alone", false);
    let run = support::run(Command::new("node").arg(launcher).args(MAIN_JOB), "");
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("the package @hiera-ls/linux-"), "{}", run.stderr);
}

/// Arguments, standard input, output and the status are the program's.
#[test]
fn the_launcher_passes_streams_and_the_status_on() {
    let Some(folder) = packages() else { return };
    let launcher = unpacked(folder, "packages-launcher-streams", true);
    let repo = support::scratch("packages-launcher-repo");
    support::copy(&support::in_package("tests/control-repo"), &repo);
    let arguments = ["check", "--stdin", "--stdin-filename", "data/common.yaml"];
    let text = "ntp_servers: []\nx: \"a %{alias('ntp_servers')}\"\n";
    let expected = support::run(support::hiera_ls(arguments).current_dir(&repo), text);
    assert!(expected.stdout.contains("[alias-not-whole-value]"), "{}", expected.stdout);
    assert_eq!(expected.status, Some(1));
    let mut launched = Command::new("node");
    let run = support::run(launched.arg(launcher).args(arguments).current_dir(&repo), text);
    assert_eq!((run.status, run.stdout, run.stderr), (Some(1), expected.stdout, expected.stderr));
}

/// An editor that ends the launcher with a signal ends the server, too. The server holds the pipe
/// of standard output, which closes when it ends.
#[test]
fn a_signal_to_the_launcher_ends_the_server() {
    let Some(folder) = packages() else { return };
    let launcher = unpacked(folder, "packages-launcher-signal", true);
    let mut launched = Command::new("node")
        .arg(launcher)
        .arg("server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node starts");
    let initialize =
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    let mut input = launched.stdin.take().expect("stdin was asked to be a pipe");
    let message = format!("Content-Length: {}\r\n\r\n{initialize}", initialize.len());
    std::io::Write::write_all(&mut input, message.as_bytes()).expect("the launcher reads");
    let mut output = launched.stdout.take().expect("stdout was asked to be a pipe");
    let mut start = [0; 15];
    output.read_exact(&mut start).expect("the server answers");
    assert_eq!(&start, b"Content-Length:");
    succeed(Command::new("kill").args(["-TERM", &launched.id().to_string()]));
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).expect("the pipe is read to its end");
    let status = launched.wait().expect("the launcher ends");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    drop(input);
}
