//! The arguments of `diff`.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::cli::{PuppetVersions, RootArguments};
use crate::workspace::share::Share;

/// The arguments of `diff`.
#[derive(Debug, Args, Serialize, Deserialize)]
#[command(mut_arg("puppet_version", |arg| arg
    .value_name("VERSION|FROM..TO")
    .value_parser(PuppetVersions::parse_two)
    .help("The version of Puppet to agree with; 9 is OpenVox 9. Of two, as in 7..9: rehearse the upgrade from the first to the second on one tree, that of --head")))]
pub struct DiffArguments {
    /// The revisions as git writes them: BASE..HEAD, BASE...HEAD from their merge base, or BASE, which
    /// is compared with the working tree.
    #[arg(value_name = "RANGE", conflicts_with_all = ["base", "head"])]
    pub(super) revisions: Vec<String>,
    /// The revision before [default: the merge base with the branch that the current one follows,
    /// else HEAD].
    #[arg(long, value_name = "REV")]
    pub(super) base: Option<String>,
    /// The revision after, or `worktree` for the files on disk [default: worktree].
    #[arg(long, value_name = "REV")]
    pub(super) head: Option<String>,
    /// Only these nodes: `all`, names and globs with commas between them, or @FILE with one a line.
    #[arg(long, value_name = "NODES")]
    pub(super) nodes: Option<String>,
    /// How to print the report.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(super) format: DiffFormat,
    /// With markdown: the most characters; the report is cut between edits.
    #[arg(long, value_name = "COUNT", default_value_t = 60_000)]
    pub(super) max_chars: usize,
    /// Report changes of the order of a hash's members, too.
    #[arg(long)]
    pub(super) order: bool,
    /// Show values that only the names of their keys call secrets, such as `*password*`. Sensitive
    /// and encrypted values are never shown.
    #[arg(long)]
    pub(super) reveal: bool,
    /// Exit with 0 although values differ.
    #[arg(long)]
    pub(super) exit_zero: bool,
    /// Exit with 1 for these kinds of changes only: error, lost, value, found, mended, open, order.
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = ["error", "lost", "value", "found", "mended", "open", "order"])]
    pub(super) fail_on: Vec<String>,
    /// Compare one share of the nodes alone, such as 1/4, and write a part of the report: `hiera-ls
    /// merge` prints the report of all parts, as these arguments without this one would.
    #[arg(long, value_name = "I/N", conflicts_with = "git_driver")]
    #[serde(skip)]
    pub(super) shard: Option<Share>,
    /// Run as the command of a diff driver of git: `git config diff.hiera.command 'hiera-ls diff
    /// --git-driver'`, and `*.yaml diff=hiera` in .gitattributes.
    #[arg(long, conflicts_with_all = ["base", "head"])]
    pub(super) git_driver: bool,
    #[command(flatten)]
    pub(super) root: RootArguments,
}

impl DiffArguments {
    /// Prints the report in this format.
    pub(in crate::cli) fn print_as(&mut self, format: DiffFormat) {
        self.format = format;
    }
}

/// How the report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(in crate::cli) enum DiffFormat {
    /// For people.
    Human,
    /// For a comment on a pull request.
    Markdown,
    /// One document, stable and complete.
    Json,
    /// Commands of a GitHub workflow.
    Github,
    /// One file for a browser.
    Html,
}
