//! Options of a merge that stand beside `merge` in an entry of `lookup_options`, moved into its hash.

use crate::text::{TextEdit, TextRange};
use crate::yaml::document::Document;
use crate::yaml::{NodeId, NodeKind, Tree};

/// Options that belong into the hash of `merge`.
const MERGE_OPTIONS: [&str; 4] =
    ["strategy", "knockout_prefix", "sort_merged_arrays", "merge_hash_arrays"];

/// Whether an option belongs into the hash of `merge`.
pub(in crate::diagnostics) fn is_merge_option(option: &str) -> bool {
    MERGE_OPTIONS.contains(&option)
}

/// Returns the edits that move all merge options of the entry that has one with its key at an
/// offset. `None` where the entry is written in another way than on lines of its own or in one flow
/// hash, and where `merge` is a hash already.
pub(super) fn move_below_merge(document: &Document, option: u32) -> Option<Vec<TextEdit>> {
    let tree = &document.tree;
    let (is_flow, entries) = tree.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Mapping { flow, entries }
            if entries.iter().any(|(key, _)| tree.node(*key).span.start == option) =>
        {
            Some((*flow, entries))
        }
        _ => None,
    })?;
    let moved: Vec<&(NodeId, NodeId)> =
        entries.iter().filter(|(key, _)| tree.scalar(*key).is_some_and(is_merge_option)).collect();
    let is_plain = |(_, value): &&(NodeId, NodeId)| {
        let node = tree.node(*value);
        let is_scalar = matches!(node.kind, NodeKind::Scalar { .. });
        is_scalar
            && node.anchor.is_none()
            && node.tag.is_none()
            && !node_text(*value, tree, &document.text).contains('\n')
    };
    if !moved.iter().copied().all(|entry| is_plain(&entry))
        || moved.iter().any(|it| node_text(it.1, tree, &document.text).is_empty())
    {
        return None;
    }
    let mut members: Vec<String> = moved
        .iter()
        .map(|(key, value)| {
            format!(
                "{}: {}",
                node_text(*key, tree, &document.text),
                node_text(*value, tree, &document.text)
            )
        })
        .collect();
    let names_strategy = moved.iter().any(|(key, _)| tree.scalar(*key) == Some("strategy"));
    let merge = entries.iter().find(|(key, _)| tree.scalar(*key) == Some("merge"));
    let mut edits = Vec::new();
    let kept = match merge {
        Some(entry @ (_, value)) if is_plain(&entry) && !names_strategy => {
            members.insert(0, format!("strategy: {}", node_text(*value, tree, &document.text)));
            let hash = format!("{{{}}}", members.join(", "));
            edits.push(TextEdit::new(tree.node(*value).span, hash));
            None
        }
        // The first of the options becomes `merge`.
        None if names_strategy => {
            let (key, value) = moved.first()?;
            let span = tree.node(*key).span.cover(tree.node(*value).span);
            edits.push(TextEdit::new(span, format!("merge: {{{}}}", members.join(", "))));
            Some(*key)
        }
        _ => return None,
    };
    for (number, (key, value)) in entries.iter().enumerate() {
        if !moved.iter().any(|(one, _)| one == key) || kept == Some(*key) {
            continue;
        }
        edits.push(match (is_flow, number) {
            (false, _) => document.member_removal_edit(tree.node(*key).span.start)?,
            (true, 0) => {
                let next = tree.node(entries.get(1)?.0).span.start;
                TextEdit::new(TextRange::new(tree.node(*key).span.start, next), "")
            }
            (true, _) => {
                let before = tree.node(entries[number - 1].1).span.end;
                TextEdit::new(TextRange::new(before, tree.node(*value).span.end), "")
            }
        });
    }
    Some(edits)
}

fn node_text<'a>(id: NodeId, tree: &Tree, text: &'a str) -> &'a str {
    &text[tree.node(id).span.as_usize()]
}
