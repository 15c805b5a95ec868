//! `hiera-ls merge`: the parts that `check --shard` and `diff --shard` wrote, joined into the report of
//! one run.

use std::io::Write;

use clap::{Args, ValueEnum};

use super::diff::DiffArguments;
use super::shard::{Results, read_parts};
use super::{CheckArguments, Failure, Status, check, diff};

/// The arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// The parts of all shards of one run.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// How to print the report: a format of the command that wrote the parts [default: the format
    /// that the shards were given, or that of the command].
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
}

pub(super) fn run(arguments: &MergeArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let joined = read_parts(&arguments.files)?;
    let format = arguments.format.as_deref();
    match &joined.results {
        Results::Check(_) => {
            let mut of_shards: CheckArguments = joined.arguments()?;
            if let Some(format) = format {
                of_shards.print_as(parse_format(format)?);
            }
            check::run_joined(&of_shards, joined, out)
        }
        Results::Diff(_) => {
            let mut of_shards: DiffArguments = joined.arguments()?;
            if let Some(format) = format {
                of_shards.print_as(parse_format(format)?);
            }
            diff::run_joined(&of_shards, &joined, out)
        }
    }
}

/// Errors: the text is no format of the command.
fn parse_format<F: ValueEnum>(text: &str) -> Result<F, Failure> {
    let known = F::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
    F::from_str(text, false)
        .map_err(|_| Failure(format!("'{text}' is none of the formats: {}", known.join(", "))))
}
