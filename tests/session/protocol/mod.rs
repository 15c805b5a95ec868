//! The server with a client of another project: runs the suite in `tests/session/protocol` with
//! pytest-lsp, which announces the capabilities of VS Code, Neovim and Emacs and checks each answer
//! against the protocol's own types. `types` then checks all messages against those of another
//! implementation.

mod types;

use std::process::Command;

use crate::support;
use crate::support::python;

#[test]
fn the_typed_client_is_content() {
    let requirements =
        std::fs::read_to_string(support::in_package("tests/session/protocol/requirements.txt"))
            .expect("the list of packages");
    let interpreter = match python::with_packages("pytest-lsp", "protocol", &requirements) {
        Ok(interpreter) => interpreter,
        Err(obstacle) => {
            support::missing("pytest-lsp", &obstacle);
            return;
        }
    };
    let temporary = support::scratch("protocol");
    let recorded = temporary.join("messages");
    std::fs::create_dir(&recorded).expect("the scratch folder can be written to");
    let mut pytest = Command::new(interpreter);
    pytest
        .args(["-m", "pytest", "--quiet", "--tb=short", "--basetemp"])
        .arg(temporary.join("files"))
        .arg(support::in_package("tests/session/protocol"))
        .env("HIERA_LS", env!("CARGO_BIN_EXE_hiera-ls"))
        .env("HIERA_LS_MESSAGES", &recorded)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let run = support::run(&mut pytest, "");
    assert_eq!(run.status, Some(0), "{}\n{}", run.stdout, run.stderr);
    eprintln!("{}", run.stdout.lines().last().unwrap_or_default());
    types::check(&recorded);
}
