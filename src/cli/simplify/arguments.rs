//! The arguments of `hiera-ls simplify`.

use clap::{Args, ValueEnum};

use crate::cli::RootArguments;

/// The arguments of `simplify`.
#[derive(Debug, Args)]
pub struct SimplifyArguments {
    #[command(flatten)]
    pub(super) root: RootArguments,
    /// Write the changes, in place of printing them as patches.
    #[arg(long)]
    pub(super) write: bool,
    /// With --write: make a commit of each step, on the branch that is checked out. Tracked files must
    /// have no other changes. No hook runs.
    #[arg(long, requires = "write")]
    pub(super) commit: bool,
    /// The steps to take, in this order: overrides (entries that no value needs), pull-down (a value
    /// that all files of a key share, moved to the lowest level), dead-keys (keys that nothing here
    /// reads), empty-files.
    #[arg(
        long,
        value_name = "STEP",
        value_delimiter = ',',
        default_value = "overrides,pull-down,empty-files"
    )]
    pub(super) steps: Vec<StepKind>,
}

/// A kind of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StepKind {
    /// Entries whose removal changes no value are removed, level by level.
    Overrides,
    /// A value that all files which define a key share is moved to the lowest level for all nodes.
    PullDown,
    /// Keys that nothing reads are removed, level by level.
    DeadKeys,
    /// Files without data and without comments are removed.
    EmptyFiles,
}
