//! Functions of levels that run: their answers against Puppet's, and that nothing runs unless the
//! user asks.
//!
//! `*.yaml` has topics of scenarios, written as those of `tests/puppet/conformance`; Puppet's
//! recorded answers stand beside them in `*.jsonl`. Both sides need a Puppet, as functions of levels
//! run in it.

mod answers;
mod doors;
mod hostile;
mod planted;
mod published;
mod ready;
mod shapes;
#[cfg(target_os = "linux")]
mod trace;
#[cfg(target_os = "linux")]
mod traced;

use std::path::Path;

use crate::support;

/// Writes files below a folder.
fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        support::write_file(root.join(path), text);
    }
}

/// Returns the outcome of `hiera-ls lookup --run-backends` with these arguments in a folder. Calls of
/// functions may take long, as on a busy machine, unless the arguments bound their time.
fn lookup(root: &Path, arguments: &[&str]) -> support::Run {
    let timeout: &[_] = match arguments.contains(&"--backend-timeout") {
        true => &[],
        false => &["--backend-timeout", "1000"],
    };
    let all = ["lookup", "--run-backends"].iter().chain(timeout).chain(arguments).copied();
    support::run(support::hiera_ls(all).current_dir(root), "")
}

/// Waits until something holds; it must do so some time.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{what} never came to be");
}
