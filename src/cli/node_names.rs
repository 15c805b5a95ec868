//! The nodes that an argument names.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::Regex;

use super::{Failure, absolute_path};
use crate::disk::{FileSystem as _, OsFs};
use crate::fleet::node_values::NodeValues;
use crate::text::similar::suggestion;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::Node;

/// The longest list of names that is read, in bytes.
const LIST_SIZE: u64 = 64 << 20;

/// Returns the known nodes of an environment, or its kinds of nodes where none is known, and whether
/// these are kinds.
///
/// Errors: there is neither.
pub(super) fn known_nodes<'a>(
    snapshot: &Snapshot,
    environment: &'a Environment,
) -> Result<(&'a [Arc<Node>], bool), Failure> {
    match NodeValues::all_nodes(snapshot, environment) {
        ([], _) => {
            Err(Failure("no nodes are known: name files of facts with nodes.sources".into()))
        }
        known => Ok(known),
    }
}

/// Returns the numbers of the nodes that an argument chooses: `all`, names and globs (`web-*,db-01`)
/// with commas between them, or `@FILE` with one of them a line.
///
/// Errors: the file cannot be read; a name or glob that no node has.
pub(super) fn choose_nodes(
    argument: &str,
    environment: &Environment,
    nodes: &[Arc<Node>],
) -> Result<Vec<usize>, Failure> {
    if argument == "all" {
        return Ok((0..nodes.len()).collect());
    }
    let patterns: Vec<String> = match argument.strip_prefix('@') {
        Some(file) => lines_of(file)?,
        // The names of kinds of nodes have commas.
        None if nodes.iter().any(|node| *node.name == *argument) => vec![argument.to_owned()],
        None => argument.split(',').map(|part| part.trim().to_owned()).collect(),
    };
    let mut chosen = BTreeSet::new();
    for pattern in patterns {
        let glob = glob_regex(&pattern)?;
        let mut found = nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| *node.name == *pattern || glob.is_match(&node.name.to_lowercase()))
            .map(|(number, _)| number)
            .peekable();
        if found.peek().is_none() {
            return Err(Failure(format!(
                "no node of environment {} is named '{pattern}'{}; `hiera-ls nodes` lists those that are known",
                environment.name,
                suggestion(&pattern, nodes.iter().map(|node| &*node.name))
            )));
        }
        chosen.extend(found);
    }
    Ok(chosen.into_iter().collect())
}

/// Returns the lines of a file but for empty ones and comments.
fn lines_of(file: &str) -> Result<Vec<String>, Failure> {
    let path = absolute_path(file)?;
    let bytes = OsFs.read(&path, LIST_SIZE).map_err(|error| Failure(format!("{path}: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure(format!("{path}: it is not UTF-8")))?;
    let lines = text.lines().map(str::trim);
    Ok(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect())
}

/// Returns a glob as a regular expression: `*` for any text, `?` for any character. Names of nodes
/// are in lower case.
pub(super) fn glob_regex(glob: &str) -> Result<Regex, Failure> {
    let escaped = regex::escape(&glob.to_lowercase()).replace(r"\*", ".*").replace(r"\?", ".");
    Regex::new(&format!("^(?s:{escaped})$")).map_err(|error| Failure(format!("{glob}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names_in_any_case() {
        let is_match =
            |glob: &str, name: &str| glob_regex(glob).is_ok_and(|glob| glob.is_match(name));
        assert!(is_match("web-*", "web-01.x.net") && is_match("WEB-0?", "web-01"));
        assert!(!is_match("web", "web-01") && !is_match("a.c", "abc"));
    }
}
