//! Files of a data directory that cannot be read are reported, and `check` fails where the disk
//! refused.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::{at, repo};
use crate::support;

const CONFIG: &str = "version: 5\nhierarchy: [{name: Nodes, glob: 'nodes/**.yaml'}, {name: Common, path: common.yaml}]\n";
/// A user without rights of its own, on every system.
const NOBODY: u32 = 65_534;

/// `hiera-ls check` as a user that modes of files bind: status, standard output and error.
fn check(root: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
    if fs::read_dir(root.join("data/nodes")).is_ok() {
        // The modes of files do not bind this user. Such a user may run the program as another
        // user.
        let program = root.join("hiera-ls");
        fs::copy(env!("CARGO_BIN_EXE_hiera-ls"), &program).expect("a copy of the program");
        support::make_program(&program);
        command = Command::new(program);
        command.uid(NOBODY);
    }
    let run = support::run(command.arg("check").current_dir(root), "");
    (run.status, run.stdout, run.stderr)
}

#[test]
fn a_folder_that_cannot_be_listed_fails_the_check() {
    let below = std::env::temp_dir().join(format!("hiera-ls-unlisted-{}", std::process::id()));
    fs::create_dir_all(below.join("data/nodes")).expect("a scratch folder");
    fs::write(below.join("hiera.yaml"), CONFIG).expect("a scratch file");
    fs::write(below.join("data/common.yaml"), "a: \"%{nope('x')}\"\n").expect("a scratch file");
    fs::set_permissions(&below, Permissions::from_mode(0o755)).expect("a mode");
    let nodes = below.join("data/nodes");
    fs::set_permissions(&nodes, Permissions::from_mode(0o000)).expect("a mode");
    let (status, out, err) = check(&below);
    fs::set_permissions(&nodes, Permissions::from_mode(0o755)).expect("a mode");
    let _ = fs::remove_dir_all(&below);
    assert_eq!(status, Some(2), "{out}{err}");
    assert!(out.contains("unknown-function"), "the other findings are told: {out}");
    assert!(err.contains("data/nodes: cannot be listed: Permission denied"), "{err}");
}

#[test]
fn names_links_and_depths_that_are_passed_over_are_told() {
    let root = repo("cli-unlisted", &[("hiera.yaml", CONFIG), ("data/common.yaml", "a: 1\n")]);
    let data = root.join("data");
    fs::write(data.join(OsStr::from_bytes(b"n\xffde.yaml")), "a: 1\n").expect("a scratch file");
    symlink("/etc/hostname", data.join("out.yaml")).expect("a link");
    fs::create_dir_all(data.join("d/".repeat(70))).expect("scratch folders");
    let (status, _, err) = at(&root, &["check"], "");
    assert_eq!(status, 0, "{err}");
    assert!(err.contains("data/n\u{fffd}de.yaml: not read, as its name is not UTF-8"), "{err}");
    assert!(err.contains("data/out.yaml: not read, as this link leads out"), "{err}");
    assert!(err.contains("/d: nested too deeply, its files are not read"), "{err}");
}
