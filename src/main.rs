//! The `hiera-ls` command: arguments to server or command line to exit status, and where its memory
//! comes from.

use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use hiera_ls::cli::{self, Arguments, Command, Status};

/// Where the program's memory comes from. What a keystroke needs is allocated and given back within
/// a millisecond, by whichever thread is free: an allocator that keeps sizes apart does not scatter
/// what stays between what goes.
#[cfg(all(target_os = "linux", feature = "jemalloc"))]
mod allocator {
    use tikv_jemallocator::Jemalloc;

    #[global_allocator]
    static ALLOCATOR: Jemalloc = Jemalloc;

    /// Two heaps for all threads, a small cache of each before them. What nobody used for a fifth
    /// of a second goes back to the system, on a thread of its own: no answer waits for that.
    #[expect(
        unsafe_code,
        reason = "the allocator looks for its settings under this name before the program begins"
    )]
    // SAFETY: the name is the allocator's own, for just this: a pointer to text that ends with a
    // zero.
    #[unsafe(export_name = "_rjem_malloc_conf")]
    static SETTINGS: &[u8; 112] =
        b"background_thread:true,narenas:2,dirty_decay_ms:200,muzzy_decay_ms:0,lg_tcache_max:8,tcache_nslots_small_max:50\0";
}

/// Lookups may nest, and values too: the main thread's stack is the system's choice, this one is
/// ours.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => error.exit(),
        // `--help` and `--version`: clap would not tell of a full disk.
        Err(answer) => return print(|out| write!(out, "{}", answer.render())).into(),
    };
    cli::logging::start(arguments.log);
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || run(arguments));
    match worker {
        // A panic has printed its message; its status must not look like a finding.
        Ok(worker) => worker.join().unwrap_or_else(|_| Status::CouldNotRun.into()),
        Err(error) => {
            cli::note(&format!("no thread can be started: {error}"));
            Status::CouldNotRun.into()
        }
    }
}

fn run(arguments: Arguments) -> ExitCode {
    let status = match arguments.command {
        Some(Command::Server) => return server(),
        None if arguments.stdio => return server(),
        Some(command) => {
            let mut status = Status::CouldNotRun;
            let printed = print(|out| {
                status = cli::run(command, out);
                Ok(())
            });
            if printed == Status::Good { status } else { printed }
        }
        None => {
            let _ = writeln!(std::io::stderr(), "{}", Arguments::command().render_help());
            Status::CouldNotRun
        }
    };
    status.into()
}

/// Prints to standard output. Says why not all of it could be written.
fn print(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Status {
    let mut out = BufWriter::new(WhileRead(std::io::stdout().lock()));
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Status::Good,
        Err(error) => {
            cli::note(&format!("standard output cannot be written: {error}"));
            Status::CouldNotRun
        }
    }
}

/// An output whose reader may go away (`| head`): that is no failure, what follows is just not
/// wanted.
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
