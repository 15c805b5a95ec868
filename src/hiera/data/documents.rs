//! The documents behind the first one of a YAML file: Puppet ignores them.

use super::{EntryData, Problem, ProblemKind, RareData};
use crate::text::{FileId, PartId, Span, TextRange};
use crate::yaml::{self, Tree};

/// The most keys of ignored documents that a problem names.
const MAX_IGNORED_KEYS: usize = 5;
/// How many bytes of ignored documents are read to name their keys.
const MAX_IGNORED_BYTES: usize = 64 << 10;

/// Reads the text behind the first document, from the marker of the second one on, as a part of its
/// own: without data, and with a problem if the text has keys or values. Source: semantics 4.1,
/// Psych reads one document.
pub(super) fn read_ignored(tree: &Tree, text: &str, (file, part): (FileId, PartId)) -> EntryData {
    let found =
        tree.second_document.and_then(|marker| Some((marker, ignored_problem(text, marker)?)));
    let problem = found.map(|(range, kind)| Problem {
        kind,
        span: Span { file, part, range },
        related: None,
    });
    let rare = RareData::of_problems(problem.into_iter().collect());
    EntryData { is_behind_document: true, rare: rare.into_box(), ..EntryData::default() }
}

/// Returns the problem of documents that follow the first one; `marker` is that of the second one.
/// `None` if they have no content.
pub(super) fn ignored_problem(text: &str, marker: TextRange) -> Option<ProblemKind> {
    let rest = &text[marker.start as usize..];
    let cut = yaml::char_floor(rest, MAX_IGNORED_BYTES.min(rest.len()));
    let mut rest = &rest[..cut];
    let (mut keys, mut has_data) = (Vec::new(), false);
    loop {
        let tree = yaml::parse(rest);
        has_data |= tree
            .root
            .as_ref()
            .is_some_and(|root| !matches!(tree.scalar(*root), Some("" | "~" | "null")))
            || !tree.problems.is_empty();
        let entries = tree.root.map(|root| tree.entries(root)).unwrap_or_default();
        keys.extend(entries.iter().filter_map(|(key, _)| tree.scalar(*key).map(str::to_owned)));
        match tree.second_document {
            Some(next) if next.start > 0 && keys.len() <= MAX_IGNORED_KEYS => {
                rest = &rest[next.start as usize..];
            }
            _ => break,
        }
    }
    let has_more = keys.len() > MAX_IGNORED_KEYS;
    keys.truncate(MAX_IGNORED_KEYS);
    has_data.then_some(ProblemKind::IgnoredDocuments { keys, has_more })
}
