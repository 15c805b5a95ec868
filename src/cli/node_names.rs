//! The nodes that an argument names, and the names of many nodes in few words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::Regex;

use super::{Failure, absolute_path};
use crate::disk::{FileSystem as _, OsFs};
use crate::text::similar::suggestion;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::Node;

/// The longest list of names that is read, in bytes.
const LIST_SIZE: u64 = 64 << 20;

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
        let is_it = |(_, node): &(usize, &Arc<Node>)| {
            *node.name == *pattern || glob.is_match(&node.name.to_lowercase())
        };
        let mut found = nodes.iter().enumerate().filter(is_it).map(|(number, _)| number).peekable();
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

/// Returns names in few words: those that differ in one number alone as a range
/// (`web-[01-03,07].example.net`), at most so many parts, the rest counted.
pub(super) fn name_ranges(names: &[&str], most: usize) -> String {
    let mut series: BTreeMap<(&str, &str, usize), Vec<u64>> = BTreeMap::new();
    let mut parts: Vec<String> = Vec::new();
    for name in names {
        match number_in(name) {
            Some((before, digits, behind)) => {
                let number = digits.parse().unwrap_or_default();
                series.entry((before, behind, digits.len())).or_default().push(number);
            }
            None => parts.push((*name).to_owned()),
        }
    }
    let mut counts: Vec<usize> = vec![1; parts.len()];
    for ((before, behind, width), mut numbers) in series {
        numbers.sort_unstable();
        numbers.dedup();
        counts.push(numbers.len());
        parts.push(match &numbers[..] {
            [number] => format!("{before}{number:0width$}{behind}"),
            numbers => format!("{before}[{}]{behind}", number_ranges(numbers, width)),
        });
    }
    let rest: usize = counts.iter().skip(most).sum();
    parts.truncate(most);
    if rest > 0 {
        parts.push(format!("{rest} more"));
    }
    parts.join(", ")
}

/// Cuts a name at the last number of its first label; `None` without one, or for a number that is
/// too long.
fn number_in(name: &str) -> Option<(&str, &str, &str)> {
    let label = name.split('.').next()?;
    let end = label.rfind(|c: char| c.is_ascii_digit())? + 1;
    let is_other = |c: char| !c.is_ascii_digit();
    let start = label[..end]
        .rfind(is_other)
        .map_or(0, |at| at + label[at..].chars().next().map_or(1, char::len_utf8));
    (end - start <= 18).then(|| (&name[..start], &name[start..end], &name[end..]))
}

/// Returns sorted numbers as `01-03,07`.
fn number_ranges(numbers: &[u64], width: usize) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u64, u64)| match last - first {
        0 => format!("{first:0width$}"),
        1 => format!("{first:0width$},{last:0width$}"),
        _ => format!("{first:0width$}-{last:0width$}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_a_number_are_ranges() {
        let names =
            ["osl-web-01.x.net", "osl-web-02.x.net", "osl-web-03.x.net", "osl-web-07.x.net"];
        assert_eq!(name_ranges(&names, 10), "osl-web-[01-03,07].x.net");
        assert_eq!(name_ranges(&["web-1", "web-02", "proxy"], 10), "proxy, web-1, web-02");
        assert_eq!(name_ranges(&["a", "b", "c", "d1", "d2"], 2), "a, b, 3 more");
        assert_eq!(name_ranges(&["é7ö", "é8ö"], 9), "é[7,8]ö");
        assert_eq!(name_ranges(&["n99999999999999999999999"], 9), "n99999999999999999999999");
    }

    #[test]
    fn globs_match_whole_names_in_any_case() {
        let is_match =
            |glob: &str, name: &str| glob_regex(glob).is_ok_and(|glob| glob.is_match(name));
        assert!(is_match("web-*", "web-01.x.net") && is_match("WEB-0?", "web-01"));
        assert!(!is_match("web", "web-01") && !is_match("a.c", "abc"));
    }
}
