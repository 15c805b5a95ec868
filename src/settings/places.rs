//! The places of settings in a settings file.

use super::problem::SettingProblem;
use crate::text::TextRange;
use crate::yaml::{self, Node, NodeId, NodeKind, Tree};

/// Gives each problem its place in the text of the settings file that it was found in.
pub(super) fn locate_all(text: &str, problems: &mut [SettingProblem]) {
    if problems.is_empty() {
        return;
    }
    let tree = yaml::parse_for_editing(text);
    for problem in problems {
        problem.range = locate_setting(&tree, &problem.key, problem.part.as_deref());
    }
}

/// Returns the place of a dotted setting in the text of its file: its name.
pub(super) fn locate_name(text: &str, key: &str) -> TextRange {
    locate_setting(&yaml::parse_for_editing(text), key, None)
}

/// Returns the place of a dotted setting: its name, as far as it is written; or that of a part of
/// its value, which is an element of a list, or the value of a member with this name.
fn locate_setting(tree: &Tree, key: &str, part: Option<&str>) -> TextRange {
    let mut range = TextRange::new_empty(0);
    let (mut node, mut rest) = (tree.root, key);
    while let Some((name, value)) = node.and_then(|node| find_member(tree, node, rest)) {
        range = tree.nodes[name.0 as usize].span;
        rest = rest[node_text(tree, name).map_or(0, str::len)..].trim_start_matches('.');
        node = Some(value);
    }
    let Some((node, part)) = node.zip(part) else { return range };
    match &node_at(tree, node).kind {
        NodeKind::Sequence { items, .. } => {
            let item = items.iter().find(|item| node_text(tree, **item) == Some(part));
            item.map_or(range, |item| node_at(tree, *item).span)
        }
        NodeKind::Mapping { entries, .. } => entries
            .iter()
            .find(|(name, value)| {
                node_text(tree, *name) == Some(part) || node_text(tree, *value) == Some(part)
            })
            .map_or(range, |(_, value)| node_at(tree, *value).span),
        NodeKind::Scalar { .. } => node_at(tree, node).span,
        NodeKind::Alias { .. } => range,
    }
}

/// Returns the member of a hash whose name a dotted key is, or starts with.
fn find_member(tree: &Tree, hash: NodeId, key: &str) -> Option<(NodeId, NodeId)> {
    let NodeKind::Mapping { entries, .. } = &node_at(tree, hash).kind else { return None };
    entries
        .iter()
        .filter(|(name, _)| {
            let rest = node_text(tree, *name).and_then(|name| key.strip_prefix(name));
            !key.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .max_by_key(|(name, _)| node_text(tree, *name).map_or(0, str::len))
        .copied()
}

fn node_at(tree: &Tree, node: NodeId) -> &Node {
    &tree.nodes[node.0 as usize]
}

fn node_text(tree: &Tree, node: NodeId) -> Option<&str> {
    match &node_at(tree, node).kind {
        NodeKind::Scalar { text, .. } => Some(text),
        _ => None,
    }
}
