//! `hiera-ls debug`: prints the program's own data about a file.

use std::io::Write;

use clap::ValueEnum;

use super::{ArgumentSettings, Failure, RootArguments, Status, absolute_path, open};
use crate::disk::{FileSystem, OsFs};
use crate::ide::inspect::{self, inspect};
use crate::text::escape::terminal_lines;

/// The aspect of a file to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Aspect {
    /// The nodes of its tree, entry by entry, with places and styles.
    Tree,
    /// The keys, tokens and problems of each entry.
    Entry,
    /// Each of its root keys with all its definitions, and the keys that ask for it.
    Index,
    /// The environment and the levels that read a file, its scope and its nodes.
    Scope,
}

pub(super) fn run(
    aspect: Aspect,
    file: &str,
    root: &RootArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let path = absolute_path(file)?;
    if OsFs.entry(&path).is_none() {
        return Err(Failure(format!("there is no {path}")));
    }
    let folder = path.parent().unwrap_or_else(|| path.clone());
    let opened = open(root, Some(&folder), ArgumentSettings::new(), None)?;
    opened.note_settings();
    let aspect = match aspect {
        Aspect::Tree => inspect::Aspect::Tree,
        Aspect::Entry => inspect::Aspect::Entry,
        Aspect::Index => inspect::Aspect::Index,
        Aspect::Scope => inspect::Aspect::Scope,
    };
    let text = inspect(&opened.snapshot, &path, aspect)
        .ok_or_else(|| Failure(format!("no hiera.yaml in {} governs {path}", opened.root)))?;
    write!(out, "{}", terminal_lines(&text))?;
    Ok(Status::Good)
}
