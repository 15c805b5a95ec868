//! The `hiera-ls` command: arguments to server or command line to exit status, and nothing else.

use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use hiera_ls::cli::{self, Arguments, Command, Status};

/// Lookups may nest, and values too: the main thread's stack is the system's choice, this one is ours.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let worker =
        std::thread::Builder::new().stack_size(STACK).spawn(move || run(arguments)).expect("the first thread can be started");
    // A panic has printed its message; its status must not look like a finding.
    worker.join().unwrap_or_else(|_| ExitCode::from(Status::CouldNotRun.code()))
}

fn run(arguments: Arguments) -> ExitCode {
    let status = match arguments.command {
        Some(Command::Server) => return server(),
        None if arguments.stdio => return server(),
        Some(command) => {
            let mut out = BufWriter::new(WhileRead(std::io::stdout().lock()));
            let status = cli::run(command, &mut out);
            if out.flush().is_err() { Status::CouldNotRun } else { status }
        }
        None => {
            eprintln!("{}", Arguments::command().render_help());
            Status::CouldNotRun
        }
    };
    ExitCode::from(status.code())
}

/// An output whose reader may go away (`| head`): that is no failure, what follows is just not wanted.
struct WhileRead<W>(W);

impl<W: Write> Write for WhileRead<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            other => other,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

fn server() -> ExitCode {
    hiera_ls::server::run()
}
