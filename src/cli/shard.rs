//! `--shard`: the part of a run that one of several processes writes, and the parts that
//! `hiera-ls merge` joins.
//!
//! A part has places in the files, the messages and fixes of findings, keys, and the numbers of nodes;
//! no effective values and no lines of files. The process that joins parts reads the same files, and
//! prints their lines and values.

mod changes;
mod findings;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

pub(super) use changes::KeyNodes;
pub(super) use findings::FileRecord;

use super::{Failure, absolute_path};
use crate::disk::{FileSystem as _, OsFs};
use crate::puppet::print::{self, PrintOptions};
use crate::text::{FilePath, hex_digits};
use crate::workspace::Snapshot;
use crate::workspace::share::Share;

/// The version of the format of parts.
const VERSION: u32 = 1;

/// The results of one of several processes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Part {
    /// The version of the format.
    version: u32,
    /// The version of hiera-ls that wrote the part.
    program: String,
    /// The share of the work.
    shard: Share,
    /// The digest of each tree that was read.
    trees: Vec<String>,
    /// The arguments of the command, without that of the share.
    arguments: Json,
    /// The results by command.
    results: Results,
}

/// The results of a share of the work of a command.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Results {
    /// The findings in files: of the working tree, and of the revision of `--since`.
    Check(Vec<Vec<FileRecord>>),
    /// The keys that change with their nodes, for each environment of both revisions.
    Diff(Vec<Vec<KeyNodes>>),
}

impl Results {
    /// Returns the name of the command.
    fn command(&self) -> &'static str {
        match self {
            Results::Check(_) => "check",
            Results::Diff(_) => "diff",
        }
    }

    /// Adds the results of another share of the same work.
    fn add(&mut self, other: Results) {
        fn extend<T>(all: &mut [Vec<T>], more: Vec<Vec<T>>) {
            all.iter_mut().zip(more).for_each(|(one, more)| one.extend(more));
        }
        match (self, other) {
            (Results::Check(all), Results::Check(more)) => extend(all, more),
            (Results::Diff(all), Results::Diff(more)) => extend(all, more),
            // Parts of different commands have been refused before they are added.
            (Results::Check(_), _) | (Results::Diff(_), _) => {}
        }
    }
}

/// The parts of all shares of a run, joined.
pub(super) struct Joined {
    pub(super) results: Results,
    arguments: Json,
    trees: Vec<String>,
}

/// Writes the part of a share.
pub(super) fn write_part(
    shard: Share,
    arguments: &impl Serialize,
    trees: &[(&Snapshot, &FilePath)],
    results: Results,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let part = Part {
        version: VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        shard,
        trees: trees.iter().map(|(snapshot, root)| tree_digest(snapshot, root)).collect(),
        arguments: serde_json::to_value(arguments)?,
        results,
    };
    serde_json::to_writer(&mut *out, &part)?;
    writeln!(out)?;
    Ok(())
}

/// Reads the parts in files and joins them.
///
/// Errors: one is no part, they are those of several runs, or a share is missing or there twice.
pub(super) fn read_parts(files: &[String]) -> Result<Joined, Failure> {
    let mut parts: BTreeMap<Share, (&String, Part)> = BTreeMap::new();
    for file in files {
        let part = read_part(file)?;
        if let Some((first, known)) = parts.values().next() {
            match () {
                () if known.results.command() != part.results.command() => {
                    return refuse_parts("the commands", first, file);
                }
                () if known.arguments != part.arguments => {
                    return refuse_parts("the arguments", first, file);
                }
                () if known.shard.count != part.shard.count => {
                    return refuse_parts("the numbers of shards", first, file);
                }
                () if known.trees != part.trees => {
                    return refuse_parts("the files that were read", first, file);
                }
                () => {}
            }
        }
        let shard = part.shard;
        if let Some((known, _)) = parts.insert(shard, (file, part)) {
            return Err(Failure(format!("{known} and {file} are both the shard {shard}")));
        }
    }
    let (count, known): (usize, BTreeSet<usize>) = (
        parts.keys().next().map_or(0, |shard| shard.count),
        parts.keys().map(|shard| shard.number).collect(),
    );
    let missing: Vec<String> = (1..=count)
        .filter(|number| !known.contains(number))
        .map(|number| Share { number, count }.to_string())
        .collect();
    match &missing[..] {
        [] => {}
        [one] => return Err(Failure(format!("the shard {one} is missing"))),
        several => return Err(Failure(format!("the shards {} are missing", several.join(", ")))),
    }
    let mut parts = parts.into_values().map(|(_, part)| part);
    let Part { results, arguments, trees, .. } = parts.next().ok_or("no part is named")?;
    let mut joined = Joined { results, arguments, trees };
    parts.for_each(|part| joined.results.add(part.results));
    Ok(joined)
}

fn refuse_parts(what: &str, first: &str, file: &str) -> Result<Joined, Failure> {
    Err(Failure(format!("{first} and {file} are parts of different runs: {what} differ")))
}

fn read_part(file: &str) -> Result<Part, Failure> {
    /// The members of a part in all versions of the format.
    #[derive(Deserialize)]
    struct PartVersion {
        version: u32,
        program: String,
    }
    let bytes = OsFs
        .read(&absolute_path(file)?, u64::MAX)
        .map_err(|error| Failure(format!("{file} cannot be read: {error}")))?;
    let PartVersion { version, program } =
        serde_json::from_slice(&bytes).map_err(|error| no_part_failure(error, file))?;
    let here = env!("CARGO_PKG_VERSION");
    if version != VERSION || program != here {
        return Err(Failure(format!(
            "{file} was written by hiera-ls {program} (version {version} of the format), and this is hiera-ls {here} (version {VERSION})"
        )));
    }
    serde_json::from_slice(&bytes).map_err(|error| no_part_failure(error, file))
}

fn no_part_failure(error: serde_json::Error, file: &str) -> Failure {
    Failure(format!("{file} is no part that `--shard` wrote: {error}"))
}

impl Joined {
    /// Returns the arguments of the runs.
    ///
    /// Errors: the parts hold no arguments of the command.
    pub(super) fn arguments<A: for<'a> Deserialize<'a>>(&self) -> Result<A, Failure> {
        let read = serde_json::from_value(self.arguments.clone());
        read.map_err(|error| Failure(format!("the arguments in the parts are wrong: {error}")))
    }

    /// Refuses a tree that is not the one of this number that the shards read.
    pub(super) fn require_tree(
        &self,
        number: usize,
        (snapshot, root): (&Snapshot, &FilePath),
    ) -> Result<(), Failure> {
        if self.trees.get(number) == Some(&tree_digest(snapshot, root)) {
            return Ok(());
        }
        Err(Failure(format!(
            "the files in {root} are not those that the shards read: join parts in the same commit, folder and settings as the shards"
        )))
    }
}

/// Returns a digest of all that an answer may depend on: the files with their texts, and the nodes of
/// the settings' sources.
fn tree_digest(snapshot: &Snapshot, root: &FilePath) -> String {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    for file in snapshot.files_and_code() {
        add(file.path.relative_to(root).unwrap_or(file.path.as_str()));
        match file.text() {
            Some(text) => add(&text.to_str()),
            None => add("unread"),
        }
    }
    for environment in &snapshot.environments().all {
        add(environment.root.relative_to(root).unwrap_or(environment.root.as_str()));
        add(&environment.name);
        for node in snapshot.nodes_of(environment) {
            add(&node.name);
        }
    }
    for node in snapshot.given_nodes() {
        for (name, value) in node.scope.known_variables() {
            add(name);
            add(&print::print_json(value, &PrintOptions::default()));
        }
    }
    hex_digits(&digest.finalize())
}
