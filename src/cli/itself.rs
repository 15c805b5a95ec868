//! `hiera-ls completions` and `hiera-ls man`: output that clap generates from the list of commands.

use std::io::Write;

use clap::CommandFactory;

use super::{Arguments, Failure, Status};

pub(super) fn print_completions(
    shell: clap_complete::Shell,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let mut script = Vec::new(); // The generator takes a failed write for a defect of its own.
    clap_complete::generate(shell, &mut Arguments::command(), "hiera-ls", &mut script);
    out.write_all(&script)?;
    Ok(Status::Good)
}

pub(super) fn print_man(name: Option<&str>, mut out: &mut dyn Write) -> Result<Status, Failure> {
    let mut program = Arguments::command();
    program.build(); // So that its commands know whose they are.
    let command = match name {
        None => program,
        Some(name) => {
            let found =
                program.get_subcommands().find(|command| command.get_name() == name).cloned();
            found.ok_or_else(|| Failure(format!("there is no command '{name}'")))?
        }
    };
    clap_mangen::Man::new(command.version(env!("CARGO_PKG_VERSION"))).render(&mut out)?;
    Ok(Status::Good)
}
