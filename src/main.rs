//! The `hiera-ls` program: parses the arguments, runs the server or a command, and returns an exit
//! status. Configures the memory allocator.

use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use hiera_ls::cli::{self, Arguments, Command, Status};

/// The memory allocator. The server allocates and frees the memory for a keystroke within a
/// millisecond, on any of its threads. jemalloc keeps allocations of different sizes apart, so that
/// long-lived allocations do not fragment the heap between short-lived ones.
#[cfg(all(target_os = "linux", feature = "jemalloc"))]
mod allocator {
    use tikv_jemallocator::Jemalloc;

    #[global_allocator]
    static ALLOCATOR: Jemalloc = Jemalloc;

    /// jemalloc's options: two heaps for all threads, and a small cache for each thread. A
    /// background thread returns pages that are unused for 200 ms to the system, so that no answer
    /// waits for it.
    #[expect(
        unsafe_code,
        reason = "the allocator looks for its settings under this name before the program begins"
    )]
    // SAFETY: jemalloc reads its options from this symbol and expects a pointer to a text that ends
    // with a zero byte.
    #[unsafe(export_name = "_rjem_malloc_conf")]
    static SETTINGS: &[u8; 112] =
        b"background_thread:true,narenas:2,dirty_decay_ms:200,muzzy_decay_ms:0,lg_tcache_max:8,tcache_nslots_small_max:50\0";
}

/// The stack of the thread that runs the program, in bytes. Nested lookups and nested values
/// recurse; the system chooses the size of the main thread's stack.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => error.exit(),
        // The answers to `--help` and `--version` are printed here: clap itself does not report a
        // full disk.
        Err(answer) => return print(|out| write!(out, "{}", answer.render())).into(),
    };
    std::panic::set_hook(Box::new(report_panic));
    cli::logging::start(arguments.log);
    #[cfg(unix)]
    hiera_ls::backends::own_all_children();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || run(arguments));
    match worker {
        // A panic has printed its place; its status must not look like a finding.
        Ok(worker) => worker.join().unwrap_or_else(|_| Status::CouldNotRun.into()),
        Err(error) => {
            cli::print_note(&format!("no thread can be started: {error}"));
            Status::CouldNotRun.into()
        }
    }
}

/// Reports a panic by its place in the source. The message of a panic may quote the text of a file,
/// which may hold a secret, so it is left out.
fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
    cli::print_note(&format!("hiera-ls {} has failed{place}", env!("CARGO_PKG_VERSION")));
    let trace = std::backtrace::Backtrace::capture();
    if trace.status() == std::backtrace::BacktraceStatus::Captured {
        cli::print_note(&trace.to_string());
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
    let mut out = BufWriter::new(WhileRead { inner: std::io::stdout().lock(), is_read: true });
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Status::Good,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Status::Good,
        Err(error) => {
            cli::print_note(&format!("standard output cannot be written: {error}"));
            Status::CouldNotRun
        }
    }
}

/// An output whose reader may go away (`| head`): that is no failure, what follows is just not
/// wanted. Only `flush` tells that the reader has gone, for commands that never end by themselves.
struct WhileRead<W> {
    inner: W,
    is_read: bool,
}

impl<W: Write> Write for WhileRead<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.inner.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_read = false;
                Ok(bytes.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.is_read { self.inner.flush() } else { Err(ErrorKind::BrokenPipe.into()) }
    }
}

fn server() -> ExitCode {
    hiera_ls::server::run()
}
