//! The identity of a finding while lines move: its rule, its file, and the keys that lead to it.
//! Elements of lists are not numbered, as a new element would move the others.

use super::Finding;
use crate::text::{FileId, FilePath};
use crate::workspace::Snapshot;
use crate::workspace::files::file::PartReader;
use crate::yaml::{NodeId, PathStep, Tree};

/// The identity of a finding. Several findings of a file may have the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingIdentity {
    /// The file's path: relative to a folder if the file lies in it, else absolute.
    pub file: String,
    /// The rule's code.
    pub rule: String,
    /// The keys from the root of the file, with dots between them; empty for the whole file.
    pub key: String,
}

/// Returns the identities of findings, with the paths of their files below a folder. Findings in the
/// order of their places cost one parse of each part of a file.
pub fn finding_identities(
    snapshot: &Snapshot,
    findings: &[Finding],
    folder: &FilePath,
) -> Vec<FindingIdentity> {
    let mut last: Option<(FileId, PartReader<'_>)> = None;
    let mut identities = Vec::with_capacity(findings.len());
    for finding in findings {
        let id = finding.span.file;
        if last.as_ref().is_none_or(|(known, _)| *known != id) {
            last = snapshot.file_by_id(id).map(|file| (id, PartReader::new(file)));
        }
        let path = snapshot.path_of(id);
        let file = path.map_or("", |path| path.relative_to(folder).unwrap_or(path.as_str()));
        let reader = last.as_mut().map(|(_, reader)| reader);
        let key = reader.and_then(|reader| keys_to(snapshot, finding, reader));
        identities.push(FindingIdentity {
            file: file.to_owned(),
            rule: finding.rule.code.to_owned(),
            key: key.unwrap_or_default(),
        });
    }
    identities
}

/// Returns the keys that lead to a finding; `None` where the text there belongs to no entry.
fn keys_to(snapshot: &Snapshot, finding: &Finding, reader: &mut PartReader<'_>) -> Option<String> {
    let start = snapshot.span_bytes(finding.span).start;
    let part = reader.part_at(start, snapshot.cancel_token())?;
    let located = part.node_at(start)?;
    Some(key_names(&part.tree, &located.path).join("."))
}

fn key_names(tree: &Tree, path: &[PathStep]) -> Vec<String> {
    let mut names = Vec::new();
    let mut node: Option<NodeId> = tree.root;
    for step in path {
        let Some(current) = node else { break };
        node = match step {
            PathStep::Entry(index) => tree.entries(current).get(*index).map(|(key, value)| {
                names.push(tree.scalar(*key).unwrap_or_default().to_owned());
                *value
            }),
            PathStep::Item(index) => match &tree.node(current).kind {
                crate::yaml::NodeKind::Sequence { items, .. } => items.get(*index).copied(),
                _ => None,
            },
        };
    }
    names
}
