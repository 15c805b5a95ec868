//! Whole-process runs over stdio: the latency of an edit, a hover and a start for the user, beside
//! that of a server that only echoes.
//!
//! `cargo bench --bench session` measures everything, `cargo bench --bench session -- edits
//! requests` some rows. On Linux `--features jemalloc` gives the server the allocator that it ships
//! with. `HIERA_LS_BENCH=quick` takes fewer and smaller samples.
//! `HIERA_LS_CORPUS_ROOT` and `HIERA_LS_CORPUS_SCOPES` name a control repository and the scopes of
//! its nodes (JSON lines) for the rows that have room for one. Nothing is asserted about time:
//! other work on the machine would decide it. Each row measures the floor and the real server in
//! turns, so that their ratio holds when the machine's speed drifts.

#[allow(dead_code, reason = "the tests use all of it")]
mod client;
mod fleet_shape;
mod floor;
mod generate;
mod library;
mod report;
mod rows;
#[path = "../../tests/support/mod.rs"]
mod support;
mod typing;

use std::path::{Path, PathBuf};
use std::process::Command;

use client::Client;
use generate::{Repo, Shape};
use report::Figure;

/// The argument that makes this program the floor: the floor and its client are one program, so
/// that both are of the same build.
const FLOOR: &str = "--floor";

/// The programs and settings that the rows share.
pub struct Bench {
    quick: bool,
    corpus: Option<(PathBuf, Option<PathBuf>)>,
    scratch: PathBuf,
}

impl Bench {
    /// One number for the full run, another for the quick one.
    fn either<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// A synthetic repository.
    fn repo(&self, files: usize, lines: usize) -> Repo {
        Shape { seed: 1, files, lines }.write(&self.scratch)
    }

    /// The real server.
    fn ours(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
        command.arg("server");
        command
    }

    /// The server that only echoes.
    fn floor(&self) -> Command {
        let mut command =
            Command::new(std::env::current_exe().expect("a running program has a path"));
        command.arg(FLOOR);
        command
    }

    /// Both servers in a folder, initialized and at rest.
    fn both(&self, root: &Path, options: &serde_json::Value) -> [Client; 2] {
        let [mut ours, floor] = [self.ours(), self.floor()]
            .map(|mut command| Client::initialized(&mut command, root, options).0);
        ours.progress_end();
        [ours, floor]
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == FLOOR) {
        return floor::run();
    }
    // Cargo adds a flag of its own.
    let wanted: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let bench = Bench {
        quick: std::env::var("HIERA_LS_BENCH").is_ok_and(|mode| mode == "quick"),
        corpus: variable("HIERA_LS_CORPUS_ROOT")
            .map(|root| (root, variable("HIERA_LS_CORPUS_SCOPES"))),
        scratch: std::env::temp_dir().join(format!("hiera-ls-bench-{}", std::process::id())),
    };
    for name in &wanted {
        assert!(
            rows::ROWS.iter().any(|row| row.0 == *name),
            "no row is called {name}; there are {:?}",
            rows::ROWS.map(|row| row.0)
        );
    }
    let mut figures: Vec<Figure> = Vec::new();
    for (name, row) in rows::ROWS
        .iter()
        .filter(|row| wanted.is_empty() || wanted.iter().any(|name| *name == row.0))
    {
        eprintln!("measuring {name}");
        let measured = row(&bench);
        eprint!("{}", report::markdown(&measured));
        figures.extend(measured);
    }
    println!("{}\n\n{}", report::place(), report::markdown(&figures));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("session.json");
    match std::fs::create_dir_all(env!("CARGO_TARGET_TMPDIR"))
        .and_then(|()| std::fs::write(&file, format!("{:#}\n", report::json(&figures))))
    {
        Ok(()) => println!("also in {}", file.display()),
        Err(error) => eprintln!("{}: {error}", file.display()),
    }
}
