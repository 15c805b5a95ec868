//! The merge key `<<`.

use crate::puppet::value::{Data, Hash, Value};
use crate::yaml::psych::{TagMeaning, tag_meaning};
use crate::yaml::{Node, NodeKind};

/// Whether a key with this node and value is a merge key. A `<<` that is tagged as a string is an
/// ordinary key.
pub(super) fn is_key(node: &Node, value: &Value) -> bool {
    value.as_str() == Some("<<") && !is_text_node(node)
}

fn is_text_node(node: &Node) -> bool {
    let meaning = node.tag.as_ref().map(|tag| tag_meaning(&tag.name, &node.kind));
    matches!(meaning, Some(TagMeaning::Text))
}

/// The content that a merge key adds to its hash.
pub(super) enum Merge<'a> {
    /// The members of these hashes; an earlier hash wins.
    Hashes(Vec<&'a Hash>),
    /// Nothing: an `!!omap` without members.
    Nothing,
}

impl Merge<'_> {
    /// Returns the content that a key `<<` adds, for the node and the value behind it; `None` where
    /// the key is an ordinary one.
    pub(super) fn merge_content<'a>(node: &NodeKind, value: &'a Value) -> Option<Merge<'a>> {
        match (node, value.data()) {
            (NodeKind::Sequence { .. }, Data::Array(items)) => {
                items.iter().map(Value::as_hash).collect::<Option<_>>().map(Merge::Hashes)
            }
            // A sequence whose value is a hash is an `!!omap`. Psych merges an empty one, and keeps
            // any other as the value of the key `<<`.
            (NodeKind::Sequence { .. }, Data::Hash(hash)) => {
                hash.is_empty().then_some(Merge::Nothing)
            }
            (NodeKind::Mapping { .. } | NodeKind::Alias { .. }, Data::Hash(hash)) => {
                Some(Merge::Hashes(vec![hash]))
            }
            _ => None,
        }
    }
}

/// Adds the members of these hashes to `into`. Members keep their origins.
///
/// Source: semantics 4.2: entries before a merge key are overwritten, those after it overwrite; of
/// a list of hashes, an earlier one wins.
pub(super) fn add(hashes: &[&Hash], into: &mut Hash) {
    if let [hash] = hashes {
        into.extend((*hash).clone());
        return;
    }
    let mut merged = Hash::default();
    hashes.iter().rev().for_each(|hash| merged.extend((*hash).clone()));
    into.extend(merged);
}
