//! The log on standard error: the work of the program, for debugging.
//!
//! Events carry names, counts and times, never values of data; `tests/session/logging.rs` looks for
//! values in the log of a session. Events of other crates are left out, since those quote messages.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::time::Instant;

use clap::ValueEnum;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::print_note;
use crate::disk::environment_variable;
use crate::text::escape::escape_terminal;

/// Sets the level where `--log` does not.
const VARIABLE: &str = "HIERA_LS_LOG";

/// The levels of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Nothing.
    Off,
    /// Errors that end the program or a request.
    Error,
    /// Omissions from answers, such as files that cannot be read.
    Warn,
    /// The large steps: folders read, commands and sessions ended.
    Info,
    /// Each request and each round of findings.
    Debug,
    /// Each file and each notification.
    Trace,
}

impl Level {
    fn level_filter(self) -> LevelFilter {
        match self {
            Level::Off => LevelFilter::OFF,
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
            Level::Trace => LevelFilter::TRACE,
        }
    }
}

/// Starts the log at the level of `--log`, else at that of the variable `HIERA_LS_LOG`, else not at
/// all.
pub fn start(argument: Option<Level>) {
    let max = argument
        .or_else(|| {
            let name = environment_variable(VARIABLE).filter(|name| !name.is_empty())?;
            let level = Level::from_str(&name, true);
            level
                .map_err(|_| print_note(&format!("{VARIABLE} is no level of the log: {name}")))
                .ok()
        })
        .unwrap_or(Level::Off)
        .level_filter();
    if max != LevelFilter::OFF {
        // Only a second call could fail.
        let _ = tracing::subscriber::set_global_default(Log { max, start: Instant::now() });
    }
}

/// Writes each event as a line.
struct Log {
    max: LevelFilter,
    start: Instant,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.max && metadata.target().starts_with("hiera_ls")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.max)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let seconds = self.start.elapsed().as_secs_f64();
        let metadata = event.metadata();
        let line = format!(
            "{seconds:9.4} {:5} {}: {}{}",
            metadata.level(),
            metadata.target(),
            fields.message,
            fields.others
        );
        // The line is written in one piece, because other threads write, too. Without a reader
        // there is no log.
        let _ = std::io::stderr().write_all(format!("{}\n", escape_terminal(&line)).as_bytes());
    }

    // The program logs events only, and no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The fields of an event, ` name=value` each but for the message.
#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.others, " {name}={value:?}"),
        };
    }
}
