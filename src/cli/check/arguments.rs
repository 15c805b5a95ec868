//! The arguments of `hiera-ls check`.

use std::io::IsTerminal as _;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::cli::RootArguments;
use crate::cli::report::{Grouping, ReportFormat};
use crate::diagnostics::Preset;
use crate::disk::environment_variable;
use crate::text::paint::Paint;
use crate::workspace::share::Share;

/// The arguments of `check`.
#[derive(Debug, Args, Serialize, Deserialize)]
pub struct CheckArguments {
    /// Folders, or files to report on within the folder that governs them [default: the current
    /// folder].
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<String>,
    /// Check one file only, whose text is on standard input: for editors that run a program on what
    /// is not saved yet.
    #[arg(long, requires = "stdin_filename")]
    pub(super) stdin: bool,
    /// With --stdin: the file's path. In a file that no hiera.yaml governs there is nothing to
    /// find.
    #[arg(long, value_name = "PATH", requires = "stdin", conflicts_with = "paths")]
    pub(super) stdin_filename: Option<String>,
    #[command(flatten)]
    pub(super) root: RootArguments,
    /// How to print the findings.
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(super) format: ReportFormat,
    /// Print each finding on one line below the heading of its group: file, or, the largest group
    /// first, rule or cause (the fact behind the findings, such as a module that is not here).
    #[arg(long, value_name = "WHAT", conflicts_with = "format")]
    pub(super) group_by: Option<Grouping>,
    /// Whether reports for people have colours and links; auto: on a terminal, unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(super) color: ColorChoice,
    /// Print how many findings each rule has, in place of the findings.
    #[arg(long, conflicts_with_all = ["format", "group_by"])]
    pub(super) statistics: bool,
    /// Print the files that are checked, and check nothing.
    #[arg(long, conflicts_with_all = ["stdin", "fix", "diff"])]
    pub(super) show_files: bool,
    /// Print the settings in force with the places that they come from, and check nothing.
    #[arg(long, conflicts_with_all = ["stdin", "fix", "diff", "show_files"])]
    pub(super) show_settings: bool,
    /// Check one share of the work alone, such as 1/4, and write a part of the report: `hiera-ls merge`
    /// prints the report of all parts, as these arguments without this one would.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["stdin", "fixing", "add_ignore", "show_files", "show_settings", "watch"])]
    #[serde(skip)]
    pub(super) shard: Option<Share>,
    /// Check again after each change of a file, until Ctrl+C.
    #[arg(long, conflicts_with_all = ["stdin", "show_files", "show_settings", "fixing", "add_ignore", "write_baseline", "prune_baseline"])]
    pub(super) watch: bool,
    /// The rules that are on where settings give no severity: minimal (what breaks), recommended, or
    /// strict (all) [default: the setting `preset`].
    #[arg(long, value_name = "NAME", value_parser = Preset::NAMES)]
    pub(super) preset: Option<String>,
    /// Report only these rules.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub(super) select: Vec<String>,
    /// Do not report these rules.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
    /// The least severity that makes the command exit with 1.
    #[arg(long, value_name = "SEVERITY", default_value = "error", value_parser = ["hint", "info", "warning", "error"])]
    pub(super) fail_on: String,
    /// Make the fixes that change no node's value, and report what is left. Each is proved before a
    /// file is written: the values of all known nodes are looked up before and after.
    #[arg(long, group = "fixing", conflicts_with = "stdin")]
    pub(super) fix: bool,
    /// Print the changes that --fix would make, and change nothing; exit 1 if there are any. Lines
    /// that may hold a secret are left out.
    #[arg(long, group = "fixing", conflicts_with = "stdin")]
    pub(super) diff: bool,
    /// With --fix or --diff: also make fixes that change values, or drop a comment.
    #[arg(long, requires = "fixing")]
    pub(super) unsafe_fixes: bool,
    /// Write comments that accept all findings, each with this reason, and report what is left.
    #[arg(long, value_name = "REASON", conflicts_with_all = ["stdin", "diff"])]
    pub(super) add_ignore: Option<String>,
    /// Report only the findings that the tree of this git revision has not, wherever they are: also
    /// those that a change causes in other files. `NAME...` is the merge base of NAME and HEAD.
    #[arg(long, value_name = "REV", conflicts_with_all = ["stdin", "fixing", "add_ignore", "write_baseline", "prune_baseline"])]
    pub(super) since: Option<String>,
    /// Do not report the findings that are in this file. Its entries are known by rule, file and key:
    /// lines may move.
    #[arg(long, value_name = "FILE", conflicts_with = "stdin")]
    pub(super) baseline: Option<String>,
    /// With --baseline: write all findings into the file, and report none.
    #[arg(long, requires = "baseline", conflicts_with = "diff")]
    pub(super) write_baseline: bool,
    /// With --baseline: remove the findings that are gone from the file.
    #[arg(long, requires = "baseline", conflicts_with_all = ["diff", "write_baseline"])]
    pub(super) prune_baseline: bool,
}

/// When reports have colours and links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(super) enum ColorChoice {
    /// Where standard output is a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl CheckArguments {
    /// Prints the report in this format, and in no other form.
    pub(in crate::cli) fn print_as(&mut self, format: ReportFormat) {
        (self.format, self.group_by, self.statistics) = (format, None, false);
    }
}

impl ColorChoice {
    /// Returns the colours and links for standard output. With `auto`, NO_COLOR and FORCE_COLOR decide
    /// where they are set and not empty, and then the terminal: a dumb one has none.
    pub(super) fn paint(self) -> Paint {
        let is_on = match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                !is_variable_set("NO_COLOR")
                    && (is_variable_set("FORCE_COLOR") || is_capable_terminal())
            }
        };
        Paint { has_colors: is_on, has_links: is_on }
    }
}

fn is_capable_terminal() -> bool {
    std::io::stdout().is_terminal()
        && environment_variable("TERM").is_none_or(|term| term != "dumb")
}

fn is_variable_set(name: &str) -> bool {
    environment_variable(name).is_some_and(|value| !value.is_empty())
}
