//! Processes for functions that begin with Puppet loaded: a suite that needs hundreds of processes
//! would spend most of its time on their start. `hostile` and the command line start theirs as
//! users do.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hiera_ls::backends::BackendsConfig;

use crate::support;

/// A running `ready.rb`, which makes the processes.
pub struct Ready {
    process: Child,
    /// A folder with a short path, as a socket lies in it.
    folder: PathBuf,
}

impl Ready {
    /// Starts `ready.rb`; call only after `require("puppet")`.
    pub fn start() -> Ready {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("hiera-ls-ready-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a temporary folder can be made");
        // `support::ruby()` does not fit: the messages must have the source lines that Ruby adds
        // for users.
        let mut process = support::ruby_with_puppet()
            .arg(support::in_package("tests/puppet/bridge/ready.rb"))
            .arg(folder.join("socket"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Ruby starts: it told its version");
        let mut output = BufReader::new(process.stdout.take().expect("it was asked to be a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it writes a line");
        assert_eq!(line, "ready\n");
        Ready { process, folder }
    }

    /// Settings with which functions run in such processes.
    pub fn config(&self) -> BackendsConfig {
        let path = |path: PathBuf| path.to_str().expect("its path is UTF-8").to_owned();
        let script = support::in_package("tests/puppet/bridge/ready.rb");
        let command = [
            "ruby".into(),
            "--disable=gems".into(),
            path(script),
            path(self.folder.join("socket")),
        ];
        // A call takes longer than a user would wait where the machine has other work.
        let deadline = Duration::from_secs(60);
        BackendsConfig { command: command.into(), deadline, ..BackendsConfig::default() }
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        drop(self.process.wait());
        drop(std::fs::remove_dir_all(&self.folder));
    }
}
