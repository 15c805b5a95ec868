//! What a finding is known by while lines move: its rule, its file, and the keys that lead to it.
//! Elements of lists are not numbered, as a new element would move the others.

use super::Finding;
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::yaml::{NodeId, PathStep, Tree};

/// The identity of a finding. Several findings of a file may have the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingIdentity {
    /// The file: relative to a folder if it lies in it, else absolute.
    pub file: String,
    /// The rule's code.
    pub rule: String,
    /// The keys from the root of the file, with dots between them; empty for the whole file.
    pub key: String,
}

impl FindingIdentity {
    /// Returns the identity of a finding, with the path of its file below a folder.
    pub fn new(snapshot: &Snapshot, finding: &Finding, folder: &FilePath) -> FindingIdentity {
        let path = snapshot.path_of(finding.span.file);
        let file = path.map_or("", |path| path.relative_to(folder).unwrap_or(path.as_str()));
        let key = keys_to(snapshot, finding).unwrap_or_default();
        FindingIdentity { file: file.to_owned(), rule: finding.rule.code.to_owned(), key }
    }
}

/// Returns the keys that lead to a finding; `None` where the text there belongs to no entry.
fn keys_to(snapshot: &Snapshot, finding: &Finding) -> Option<String> {
    let file = snapshot.file_by_id(finding.span.file)?;
    let start = snapshot.span_bytes(finding.span).start;
    let part = file.part_at(start, snapshot.cancel_token())?;
    let located = part.tree.node_at(&part.text, start - part.start)?;
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
