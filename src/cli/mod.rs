//! The command line: the input, the work and the output of each command. stdout is for answers,
//! stderr for everything else.

mod answers;
mod check;
mod compare;
mod config;
mod debug;
mod diff;
mod dump;
mod explain;
mod itself;
mod keys;
pub mod logging;
mod lookup;
mod merge;
mod node_names;
mod nodes;
mod progress;
mod report;
mod rules;
mod settled;
mod shard;
mod simplify;
mod unified_diff;
mod watch;

pub use check::CheckArguments;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::disk::{FileSystem, OsFs, Unlisted, UnlistedReason};
use crate::hiera::resolution::Unapplied;
use crate::settings::{self, GivenSettings, Origin, SettingProblem, Settings};
use crate::text::FilePath;
use crate::text::escape::terminal_lines;
use crate::workspace::environments::Environment;
use crate::workspace::files::scan;
use crate::workspace::{Change, Snapshot, Workspace};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A value was found; no finding counts.
    Good,
    /// Nothing was found; a finding counts.
    Bad,
    /// The command could not do its work.
    CouldNotRun,
    /// No value was found, and levels that could not be evaluated may have one.
    NotSettled,
}

impl Status {
    /// The exit status of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            Status::Good => 0,
            Status::Bad => 1,
            Status::CouldNotRun => 2,
            Status::NotSettled => 3,
        }
    }
}

impl From<Status> for std::process::ExitCode {
    fn from(status: Status) -> std::process::ExitCode {
        std::process::ExitCode::from(status.exit_code())
    }
}

/// Language server and checker for Hiera data: what value does this node really get, and which file
/// does it come from?
#[derive(Debug, Parser)]
#[command(name = "hiera-ls", version, disable_help_subcommand = true)]
pub struct Arguments {
    /// Serve the Language Server Protocol over standard input and output, as `server` does.
    #[arg(long, global = true, hide = true)]
    pub stdio: bool,
    /// The level of the log on standard error [default: the variable HIERA_LS_LOG, else off].
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log: Option<logging::Level>,
    /// The command.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the Language Server Protocol over standard input and output.
    Server,
    /// Print the effective value of a key; exit 0 found, 1 not found, 2 could not run, 3 not found
    /// and not settled.
    ///
    /// Where a level cannot be evaluated (a backend that hiera-ls does not know, a file that unknown
    /// variables decide, encrypted text without --decrypt, a file that cannot be read), stderr names
    /// the levels that could change the answer. A value is printed all the same, with exit status 0.
    Lookup(Box<LookupArguments>),
    /// Print all effective data of a node, or of many; exit 0, 2 could not run.
    Dump(Box<dump::DumpArguments>),
    /// Compare the effective values of two nodes; exit 0 same, 1 they differ, 2 could not run.
    Compare(Box<compare::CompareArguments>),
    /// Report what edits change on the known nodes, between two revisions of git; exit 0 same, 1
    /// values differ, 2 could not run.
    Diff(Box<diff::DiffArguments>),
    /// Print the commits at which the effective value of a key changed on the known nodes, the
    /// newest first; exit 0, 1 no commit does and no file defines the key, 2 could not run.
    Log(Box<diff::log::LogArguments>),
    /// Print every finding; exit 0 clean, 1 findings that count, 2 could not run.
    Check(Box<CheckArguments>),
    /// Print the report of `check` or `diff` from the parts that their shards wrote, in the same folder
    /// and commit; exit as the command does.
    Merge(Box<merge::MergeArguments>),
    /// Print patches that make the data smaller and change no value of a node, step by step, or write
    /// them; exit 0 nothing to do or written, 1 there are patches, 2 could not run.
    Simplify(Box<simplify::SimplifyArguments>),
    /// List the nodes that are known, or the variables of one, with their sources.
    Nodes(Box<NodesArguments>),
    /// List the keys of the data and what reads them: class parameters, calls in code, tokens.
    Keys(Box<KeysArguments>),
    /// Print which hiera.yaml governs each environment and why, the other configs with the line of
    /// settings that chooses each, the levels, and what was assumed.
    Config(Box<ConfigArguments>),
    /// Print the catalogue of rules, or explain one.
    Rules {
        /// The rule to explain.
        code: Option<String>,
    },
    /// Print what hiera-ls holds of a file, for people who work on it or report a fault.
    Debug {
        /// Its tree, its entries, what the index says of its keys, or the scope it is read in.
        aspect: debug::Aspect,
        /// The file.
        file: String,
        /// Where the data is.
        #[command(flatten)]
        root: Box<RootArguments>,
    },
    /// Print what makes a shell complete these commands.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print a page for man: of the program, or of one of its commands.
    Man {
        /// The command.
        name: Option<String>,
    },
}

/// Where the data is.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub struct RootArguments {
    /// The environment's folder [default: the nearest one upwards with a hiera.yaml].
    #[arg(long, value_name = "DIR")]
    root: Option<String>,
    /// Use FILE in place of the environment's hiera.yaml.
    #[arg(long, value_name = "FILE")]
    hiera_config: Option<String>,
    /// The global layer's hiera.yaml.
    #[arg(long, value_name = "FILE")]
    global_hiera_config: Option<String>,
    /// The environment's name.
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// The version of Puppet to agree with; 9 is OpenVox 9.
    #[arg(long, value_name = "VERSION", value_parser = PuppetVersions::parse_one)]
    puppet_version: Option<PuppetVersions>,
    /// Puppet's setting `strict` [default: that of the version].
    #[arg(long, value_name = "LEVEL", value_parser = ["off", "warning", "error"])]
    strict: Option<String>,
    /// Ask the PuppetDB at this address (`https://HOST:8081`) for its nodes, with the facts that the
    /// data and its hierarchy read.
    #[arg(long, value_name = "URL", help_heading = "PuppetDB")]
    puppetdb: Option<String>,
    /// The certificate of the CA that signs PuppetDB's: certs/ca.pem in `puppet config print ssldir`.
    #[arg(long, value_name = "FILE", requires = "puppetdb", help_heading = "PuppetDB")]
    puppetdb_ca: Option<String>,
    /// The certificate that names this client: certs/NAME.pem there.
    #[arg(long, value_name = "FILE", requires = "puppetdb", help_heading = "PuppetDB")]
    puppetdb_cert: Option<String>,
    /// The private key of that certificate: private_keys/NAME.pem there.
    #[arg(long, value_name = "FILE", requires = "puppetdb", help_heading = "PuppetDB")]
    puppetdb_key: Option<String>,
    /// A file with a token of Puppet Enterprise, such as ~/.puppetlabs/token.
    #[arg(long, value_name = "FILE", requires = "puppetdb", help_heading = "PuppetDB")]
    puppetdb_token_file: Option<String>,
    /// Ask for the nodes with this condition alone: `facts.os.family = "Debian"`.
    #[arg(long, value_name = "PQL", requires = "puppetdb", help_heading = "PuppetDB")]
    puppetdb_query: Option<String>,
    /// Leave out nodes whose facts are older: `7d`, `12h`.
    #[arg(long, value_name = "AGE", requires = "puppetdb", help_heading = "PuppetDB")]
    puppetdb_max_age: Option<String>,
    /// How many seconds PuppetDB may send nothing.
    #[arg(long, value_name = "SECONDS", requires = "puppetdb", default_value = "30", value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = "PuppetDB")]
    puppetdb_timeout: u64,
}

/// A version of Puppet, or two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PuppetVersions {
    /// The version before an upgrade; `None` for one version.
    from: Option<u8>,
    /// The version, or that after the upgrade.
    to: u8,
}

impl PuppetVersions {
    /// Errors: the text is none of the versions.
    fn parse_one(text: &str) -> Result<PuppetVersions, String> {
        match text.parse() {
            Ok(to @ 7..=9) => Ok(PuppetVersions { from: None, to }),
            _ => Err("must be 7, 8 or 9".to_owned()),
        }
    }

    /// Reads also two versions, as in `7..9`.
    ///
    /// Errors: one is none of the versions, or they are the same.
    fn parse_two(text: &str) -> Result<PuppetVersions, String> {
        let Some((from, to)) = text.split_once("..") else {
            return PuppetVersions::parse_one(text);
        };
        let (from, to) = (PuppetVersions::parse_one(from)?.to, PuppetVersions::parse_one(to)?.to);
        if from == to {
            Err("must be two versions".to_owned())
        } else {
            Ok(PuppetVersions { from: Some(from), to })
        }
    }
}

/// The arguments of `lookup`.
#[derive(Debug, Args)]
pub struct LookupArguments {
    /// The keys; the first that is found counts.
    #[arg(value_name = "KEY", required_unless_present_any = ["batch", "options", "explain_options"])]
    keys: Vec<String>,
    #[command(flatten)]
    root: RootArguments,
    /// The node: one of the settings' sources, or the certname of the facts given.
    #[arg(long, value_name = "CERTNAME")]
    node: Option<String>,
    /// Facts as JSON or YAML: each is a variable, and all are in `facts`.
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    facts: Option<String>,
    /// The whole top scope as JSON or YAML, taken literally; with --batch also JSON lines, one
    /// scope each.
    #[arg(long, value_name = "FILE")]
    scope: Option<String>,
    /// first, unique, hash, deep, or a JSON hash with `strategy` and its options.
    #[arg(long, value_name = "STRATEGY")]
    merge: Option<String>,
    /// With --merge deep: what a string starts with that removes an element or blanks a value.
    #[arg(long, value_name = "PREFIX")]
    knock_out_prefix: Option<String>,
    /// With --merge deep: sort the lists that are merged.
    #[arg(long)]
    sort_merged_arrays: bool,
    /// With --merge deep: merge lists of hashes position by position.
    #[arg(long)]
    merge_hash_arrays: bool,
    /// Puppet's data type that the value must have, such as 'Array[String]'.
    #[arg(long = "type", value_name = "TYPE")]
    value_type: Option<String>,
    /// The value to print when nothing is found; always a string.
    #[arg(long, value_name = "VALUE")]
    default: Option<String>,
    /// Values by name, as a JSON hash, that go before all data; tokens see them, too.
    #[arg(long = "override", value_name = "JSON")]
    overrides: Option<String>,
    /// Values by name, as a JSON hash, for what nothing defines; tokens see them, too.
    #[arg(long, value_name = "JSON")]
    default_values_hash: Option<String>,
    /// The options hash of Puppet's `lookup` function as JSON: name, value_type (as text),
    /// default_value, default_values_hash, override, merge. What other arguments say goes before
    /// it.
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    /// Tell how the lookup goes instead of printing the value, as `puppet lookup --explain` does:
    /// as text, or with --render-as json as a tree. What cannot be looked up is told as well; the
    /// exit status is 0.
    #[arg(long)]
    explain: bool,
    /// Tell how lookup_options come about for the keys, and nothing else.
    #[arg(long)]
    explain_options: bool,
    /// Print the value of one key on many nodes, those of most nodes first: `all`, names and globs
    /// with commas between them, or @FILE with one a line. The exit status is that of the node that
    /// fares worst.
    #[arg(long, value_name = "NODES", conflicts_with_all = ["node", "facts", "scope", "batch", "explain", "explain_options", "run_backends", "decrypt", "options", "overrides", "default", "default_values_hash", "value_type"])]
    nodes: Option<String>,
    /// With --explain: add the line at which a location has the key, which Puppet does not tell.
    /// With --nodes: name the nodes that get a value.
    #[arg(long)]
    lines: bool,
    /// How to print the value [default: yaml; explanations: s].
    #[arg(long, value_name = "FORMAT")]
    render_as: Option<Render>,
    /// Whether to write the file and line of each part of the value as a comment; auto: on a
    /// terminal. Not with --render-as.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    places: Places,
    /// Print what Sensitive values hold, and what was decrypted.
    #[arg(long)]
    reveal_sensitive: bool,
    /// Decrypt values of eyaml with the keys that the options in hiera.yaml name; see
    /// --reveal-sensitive.
    #[arg(long)]
    decrypt: bool,
    /// With --decrypt: the private key to use in place of those in hiera.yaml.
    #[arg(long, value_name = "FILE", requires = "decrypt")]
    eyaml_private_key: Option<String>,
    /// With --decrypt: the certificate with the public key to use in place of those in hiera.yaml.
    #[arg(long, value_name = "FILE", requires = "decrypt")]
    eyaml_public_key: Option<String>,
    /// Run the functions of levels that hiera-ls cannot evaluate itself, and backends of Hiera 3,
    /// with the Puppet of this machine and the rights of the user; with names, only these. They are
    /// code of the repository; a name with a slash is a file that they may load beside those that
    /// their code names.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, value_delimiter = ',', default_missing_value = "")]
    run_backends: Option<Vec<String>>,
    /// With --run-backends: the Ruby that has Puppet, its name or its path [default: that of Puppet's
    /// packages, or `ruby`].
    #[arg(long, value_name = "FILE", requires = "run_backends")]
    ruby: Option<String>,
    /// With --run-backends: an environment variable that functions see beside the usual ones, such
    /// as VAULT_TOKEN; may be repeated.
    #[arg(long, value_name = "NAME", requires = "run_backends")]
    pass_env: Vec<String>,
    /// With --run-backends: how many seconds a function may work on one call.
    #[arg(long, value_name = "SECONDS", requires = "run_backends", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    backend_timeout: u64,
    /// Answer JSON lines on standard input with JSON lines: {"key":"k"} with any member of an
    /// options hash, or with `name` in place of `key`. Each answer tells whether its key was found,
    /// or what is wrong; with "settled":false it names the levels that could not be evaluated and
    /// could change it. The exit status is 0 once all are answered.
    #[arg(long, conflicts_with_all = ["keys", "explain", "explain_options", "lines", "render_as"])]
    batch: bool,
    /// Print the answer again after each change of a file, until Ctrl+C.
    #[arg(long, conflicts_with_all = ["batch", "run_backends"])]
    watch: bool,
}

/// The arguments of `nodes`.
#[derive(Debug, Args)]
pub struct NodesArguments {
    /// The node whose variables to print.
    name: Option<String>,
    #[command(flatten)]
    root: RootArguments,
    /// Print a line of JSON for each node: name, environment and its folder, source, whether it
    /// is inferred from the names of data files, and its variables.
    #[arg(long)]
    json: bool,
}

/// The arguments of `config`.
#[derive(Debug, Args)]
pub struct ConfigArguments {
    #[command(flatten)]
    root: RootArguments,
    /// Print a line of JSON for each environment.
    #[arg(long)]
    json: bool,
}

/// The arguments of `keys`.
#[derive(Debug, Args)]
pub struct KeysArguments {
    /// Only keys that nothing here reads, with all places that define them.
    #[arg(long, group = "question")]
    unread: bool,
    /// The readers of this key; exit 1 if there are none here.
    #[arg(long, value_name = "KEY", group = "question")]
    readers: Option<String>,
    /// The parameters of this class, and where data sets them; exit 1 if it is not here.
    #[arg(long, value_name = "CLASS", group = "question")]
    class: Option<String>,
    /// The classes that are here, with the number of their parameters.
    #[arg(long, group = "question")]
    classes: bool,
    /// The parameters of classes that no data here sets.
    #[arg(long, group = "question")]
    unset: bool,
    /// For people, or a line of JSON each.
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = ["human", "json"])]
    format: String,
    #[command(flatten)]
    root: RootArguments,
}

/// How values are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Render {
    /// The text that the value has within a string.
    S,
    /// One line of JSON.
    Json,
    /// YAML.
    Yaml,
}

/// When places are written beside a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Places {
    /// Where standard output is a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Runs a command of the command line. Writes the answer to `out`, and notes to stderr.
pub fn run(command: Command, out: &mut dyn Write) -> Status {
    let start = Instant::now();
    let result = match command {
        Command::Server => return Status::CouldNotRun, // main starts the server itself
        Command::Lookup(arguments) => lookup::run(&arguments, out),
        Command::Dump(arguments) => dump::run(&arguments, out),
        Command::Compare(arguments) => compare::run(&arguments, out),
        Command::Diff(arguments) => diff::run(&arguments, out),
        Command::Log(arguments) => diff::log::run(&arguments, out),
        Command::Check(arguments) => check::run(&arguments, out),
        Command::Merge(arguments) => merge::run(&arguments, out),
        Command::Simplify(arguments) => simplify::run(&arguments, out),
        Command::Debug { aspect, file, root } => debug::run(aspect, &file, &root, out),
        Command::Nodes(arguments) => nodes::run(&arguments, out),
        Command::Keys(arguments) => keys::run(&arguments, out),
        Command::Config(arguments) => config::run(&arguments, out),
        Command::Rules { code } => rules::run(code.as_deref(), out),
        Command::Completions { shell } => itself::print_completions(shell, out),
        Command::Man { name } => itself::print_man(name.as_deref(), out),
    };
    let status = result.unwrap_or_else(|failure| {
        print_note(&failure.0);
        Status::CouldNotRun
    });
    tracing::info!(status = status.exit_code(), us = start.elapsed().as_micros(), "command ended");
    status
}

/// Why a command could not run.
struct Failure(String);

impl<E: std::fmt::Display> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

/// Prints a note for people on standard error, if that still has a reader.
pub fn print_note(message: &str) {
    let _ = writeln!(std::io::stderr(), "hiera-ls: {}", terminal_lines(message));
}

fn note_unapplied(conversions: &[Unapplied]) {
    for Unapplied { key, to } in conversions {
        print_note(&format!("convert_to {to} of '{key}' is noted, but not applied"));
    }
}

/// A workspace that was read for one command.
struct Opened {
    workspace: Workspace,
    snapshot: Snapshot,
    settings: Settings,
    root: FilePath,
    /// The settings that the arguments make.
    given: Vec<GivenSettings>,
    /// The problems of the settings.
    problems: Vec<SettingProblem>,
    /// Whether the disk refused to list a folder of some environment.
    lacks_folders: bool,
}

impl Opened {
    /// Returns the environments that all commands answer for.
    ///
    /// Errors: there is none.
    fn environments(&self) -> Result<&[Arc<Environment>], Failure> {
        match &self.snapshot.environments().all[..] {
            [] => Err(Failure(format!("there is no hiera.yaml in {} or below", self.root))),
            all => Ok(all),
        }
    }

    /// Returns the environment that `lookup` answers for: that of the opened folder or around it,
    /// or else the only one below the folder, the one that is `named`, or `production`.
    ///
    /// Errors: there is none, or there are several.
    fn single_environment(&self, named: Option<&str>) -> Result<&Arc<Environment>, Failure> {
        let all = self.environments()?;
        let single = match all {
            [only] => Some(only),
            _ => all.iter().find(|one| one.root == self.root).or_else(|| {
                let around = all.iter().filter(|one| self.root.is_within(&one.root));
                around.max_by_key(|one| one.root.as_str().len())
            }),
        };
        single
            .or_else(|| {
                let mut called = all.iter().filter(|one| one.name == named.unwrap_or("production"));
                called.next().filter(|_| called.next().is_none())
            })
            .ok_or_else(|| {
                let roots: Vec<&str> =
                    all.iter().take(10).map(|one| self.snapshot.shown_path(&one.root)).collect();
                let count = all.len();
                Failure(format!(
                    "there are {count} environments in {}; name one with --root: {}",
                    self.root,
                    roots.join(", ")
                ))
            })
    }

    /// Prints the problems of settings files; `check` reports them as findings.
    fn note_settings(&self) {
        self.note_settings_in(&|_| true);
    }

    /// Prints the problems of settings files that were not read, and so have no findings: links
    /// that lead out of the repository, and files that are too long.
    fn note_unread_settings(&self) {
        self.note_settings_in(&|file| self.snapshot.file(file).is_none());
    }

    fn note_settings_in(&self, is_meant: &dyn Fn(&FilePath) -> bool) {
        for problem in &self.problems {
            let Some(file) = problem.file.as_ref().filter(|file| is_meant(file)) else { continue };
            print_note(&format!(
                "{}: {problem}",
                file.relative_to(&self.root).unwrap_or(file.as_str())
            ));
        }
    }
}

/// An absolute path for one given on the command line.
fn absolute_path(path: &str) -> Result<FilePath, Failure> {
    if Path::new(path).is_absolute() {
        return Ok(FilePath::new(path));
    }
    let here = crate::disk::current_dir().ok_or("the current folder is gone")?;
    Ok(here.join(path))
}

/// Settings that a command's arguments make.
type ArgumentSettings = serde_json::Map<String, serde_json::Value>;

/// The most files and folders of a current folder that is no environment, and lies in none: a
/// command in a home folder, or in the root of the disk, is a mistake.
const MAX_UNNAMED: usize = 100_000;

/// Refuses a folder that no argument names and that holds more than so many files and folders.
fn refuse_many_files(most: usize, folder: &FilePath) -> Result<(), Failure> {
    if !scan::holds_more_than(most, folder, &OsFs) {
        return Ok(());
    }
    Err(Failure(format!(
        "there is no hiera.yaml in {folder} or above it, and more than {most} files and folders are in it: name the folder of the environment, or run the command there"
    )))
}

/// Returns the folder that a command reads.
///
/// Errors: it is not there, or no argument names it and it has too many files.
fn find_root(arguments: &RootArguments, near: Option<&FilePath>) -> Result<FilePath, Failure> {
    let start = match (&arguments.root, near) {
        (Some(root), _) => absolute_path(root)?,
        (None, Some(near)) => near.clone(),
        (None, None) => absolute_path(".")?,
    };
    let root = if arguments.root.is_some() || arguments.hiera_config.is_some() {
        start
    } else {
        scan::environment_above(&start, &OsFs).unwrap_or(start)
    };
    if OsFs.entry(&root).is_none() {
        return Err(Failure(format!("no such folder: {root}")));
    }
    let is_named = near.is_some() || arguments.root.is_some() || arguments.hiera_config.is_some();
    if !is_named && scan::environment_above(&root, &OsFs).is_none() {
        refuse_many_files(MAX_UNNAMED, &root)?;
    }
    Ok(root)
}

/// Returns the settings that a command's arguments make, with `given`.
fn command_settings(
    arguments: &RootArguments,
    mut given: ArgumentSettings,
    root: &FilePath,
) -> Result<ArgumentSettings, Failure> {
    if let Some(name) = &arguments.environment {
        given.insert("environment".into(), name.as_str().into());
    }
    if let Some(file) = &arguments.global_hiera_config {
        given.insert("globalHieraConfig".into(), absolute_path(file)?.as_str().into());
    }
    if let Some(file) = &arguments.hiera_config {
        let path = absolute_path(file)?;
        let relative = path.relative_to(root).unwrap_or(path.as_str());
        given.insert("hieraConfig".into(), relative.into());
    }
    let mut puppet = serde_json::Map::new();
    puppet.extend(arguments.puppet_version.map(|version| ("version".into(), version.to.into())));
    puppet
        .extend(arguments.strict.as_ref().map(|strict| ("strict".into(), strict.as_str().into())));
    given.insert("puppet".into(), puppet.into());
    if let Some(url) = &arguments.puppetdb {
        let mut puppetdb = serde_json::Map::new();
        puppetdb.insert("url".into(), url.as_str().into());
        puppetdb.insert("timeout".into(), arguments.puppetdb_timeout.into());
        let texts = [("query", &arguments.puppetdb_query), ("maxAge", &arguments.puppetdb_max_age)];
        for (name, text) in texts {
            puppetdb.extend(text.as_deref().map(|text| (name.to_owned(), text.into())));
        }
        let files = [
            ("ca", &arguments.puppetdb_ca),
            ("cert", &arguments.puppetdb_cert),
            ("key", &arguments.puppetdb_key),
            ("tokenFile", &arguments.puppetdb_token_file),
        ];
        for (name, file) in files {
            if let Some(file) = file {
                puppetdb.insert(name.into(), absolute_path(file)?.as_str().into());
            }
        }
        given.insert("nodes".into(), serde_json::json!({ "puppetdb": puppetdb }));
    }
    Ok(given)
}

/// Reads the settings and the folder of a command; `given` are the command's settings besides those
/// of `arguments`; `unsaved` is a file, with the text to use in place of the one on disk.
fn open(
    arguments: &RootArguments,
    near: Option<&FilePath>,
    given: ArgumentSettings,
    unsaved: Option<(FilePath, String)>,
) -> Result<Opened, Failure> {
    let root = find_root(arguments, near)?;
    let given = command_settings(arguments, given, &root)?;
    let unsaved = unsaved.map(|(path, text)| Change::Open(path, text));
    let given = vec![GivenSettings::new(given.into(), Origin::User)];
    let opened = progress::while_reading(&root, || {
        settings::open(vec![root.clone()], &given, unsaved.into_iter().collect(), &OsFs)
    });
    for problem in opened.problems.iter().filter(|problem| problem.file.is_none()) {
        print_note(&problem.to_string());
    }
    if opened.cut_short {
        print_note("there are too many files in this folder; some were not read");
    }
    opened.unlisted.iter().for_each(|one| print_note(&unlisted_line(one, &root)));
    let lacks_folders =
        opened.unlisted.iter().any(|one| matches!(one.reason, UnlistedReason::Io(_)));
    let snapshot = opened.workspace.snapshot();
    for (path, error) in snapshot.source_errors() {
        print_note(&format!("{path}: no nodes read from it: {error}"));
    }
    let settings::Opened { workspace, settings, problems, .. } = opened;
    Ok(Opened { workspace, snapshot, settings, root, given, problems, lacks_folders })
}

fn unlisted_line(one: &Unlisted, root: &FilePath) -> String {
    let path = FilePath::new(one.path.relative_to(root).unwrap_or(one.path.as_str()));
    Unlisted { path, ..one.clone() }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_many_files_that_no_argument_names_is_refused() {
        let root = std::env::temp_dir().join(format!("hiera-ls-many-{}", std::process::id()));
        std::fs::create_dir_all(root.join("below")).expect("a scratch folder");
        std::fs::write(root.join("below/a.yaml"), "").expect("a scratch file");
        let folder = FilePath::new(root.to_str().expect("it is UTF-8"));
        let [enough, one_more] = [3, 2].map(|most| refuse_many_files(most, &folder));
        std::fs::remove_dir_all(&root).expect("it is there");
        assert!(enough.is_ok());
        let words = one_more.expect_err("the folder, one in it, and a file").0;
        assert!(
            words.contains("more than 2 files and folders") && words.contains("name the folder")
        );
    }
}
