//! A top-level entry of a text, which is read by itself, and the tree that several entries make.

use std::collections::HashMap;

use super::tree::{NodeId, NodeKind, SyntaxError, Tree};
use crate::text::TextRange;

/// A top-level entry of a text.
#[derive(Debug)]
pub struct TopEntry {
    /// The entry's bytes: from the start of its key's line to that of the next entry's.
    pub range: TextRange,
    /// The entry as a text of its own: a mapping, of one entry as a rule. Places are counted from
    /// the start of `range`.
    pub tree: Tree,
    /// Why the entry is refused, if it is; then `tree` is the recovered part.
    pub refused: Option<Refused>,
    /// Whether `range` is no entry, but all that stands behind the first document; then `tree` is
    /// empty.
    pub is_behind_document: bool,
}

/// The syntax of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// YAML, as libyaml reads it.
    #[default]
    Yaml,
    /// JSON, as Ruby's library reads it.
    Json,
}

/// Why libyaml, or Ruby's JSON, refuses an entry where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// libyaml's error for the text if this is the first entry that it refuses. Places are counted
    /// from the entry's start.
    pub verdict: SyntaxError,
    /// Whether libyaml was reading the mapping that the entries are members of: that began with the
    /// first one.
    pub is_of_root: bool,
    /// How many bytes from the entry's start on were read to see that it is refused, and where it
    /// ends.
    pub reach: u32,
}

impl TopEntry {
    /// Returns an entry that is all of a text.
    pub(super) fn new(text: &str, tree: Tree) -> TopEntry {
        let range = TextRange::from_usize(0..text.len());
        TopEntry { range, tree, refused: None, is_behind_document: false }
    }

    /// Whether a key can be read in the entry.
    pub fn has_keys(&self) -> bool {
        self.tree.root.is_some()
    }
}

/// Why there is no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text is too short to decide.
    Short,
    /// The text is to be read as a whole.
    Other,
}

/// Returns the tree of a text that was cut into these entries. `comments` are those of the text as
/// far as it was read as a whole: the ones above its first entry belong to no entry.
pub(super) fn join_entries(cut: Vec<TopEntry>, flow: bool, mut comments: Vec<TextRange>) -> Tree {
    let head_end = cut.first().map_or(0, |entry| entry.range.start);
    comments.retain(|comment| comment.start < head_end);
    let mut all = Tree { comments, ..Tree::default() };
    let mut entries = Vec::new();
    let mut anchors: HashMap<String, NodeId> = HashMap::new();
    for TopEntry { range, mut tree, .. } in cut {
        let (by, first) = (range.start, all.nodes.len() as u32);
        // An alias of an anchor in the entry itself has its target already.
        let mut above = Vec::new();
        for (node, id) in tree.nodes.iter().zip(0..) {
            if let NodeKind::Alias { name, target: None } = &node.kind {
                above.extend(anchors.get(&**name).map(|target| (id, *target)));
            }
        }
        for (node, id) in tree.nodes.iter().zip(0..) {
            if let Some(anchor) = &node.anchor {
                anchors.insert(anchor.name.clone(), NodeId(NodeId(id).0 + first));
            }
        }
        entries.extend(
            tree.root
                .into_iter()
                .flat_map(|root| tree.entries(root))
                .map(|(key, value)| (NodeId(key.0 + first), NodeId(value.0 + first))),
        );
        all.nodes.extend(tree.nodes.drain(..).map(|node| node.shift(first, by)));
        for (alias, found) in above {
            if let NodeKind::Alias { target, .. } =
                &mut all.nodes[NodeId(NodeId(alias).0 + first).0 as usize].kind
            {
                *target = Some(found);
            }
        }
        all.second_document = tree.second_document.map(|marker| marker.offset_by(by));
        all.problems.extend(tree.problems.into_iter().map(|problem| problem.shift(by)));
        all.comments.extend(tree.comments.into_iter().map(|comment| comment.offset_by(by)));
    }
    all.root = Some(all.add_root(entries, flow));
    all
}

/// Whether a line may begin an entry. A line taken for one by mistake does no harm: the text above
/// it is refused by itself.
pub(super) fn begins_entry(line: &str) -> bool {
    let mut chars = line.chars();
    match chars.next() {
        // A block scalar is no key: at column 0, too, it is the value of the key above it.
        None | Some(' ' | '\t' | '\n' | '\r' | '#' | ']' | '}' | ',' | '|' | '>' | '\u{feff}') => {
            false
        }
        Some('-' | ':') => !is_blank_char(chars.next()),
        Some(_) => true,
    }
}

fn is_blank_char(c: Option<char>) -> bool {
    c.is_none_or(|c| c.is_ascii_whitespace())
}

/// How long a mark of a document's start or end is.
pub(super) const MARKER: usize = 3;

/// Whether a document ends with this line, and another may begin. libyaml looks for such lines
/// before anything else, so none is part of an entry.
pub(super) fn is_marker(line: &str) -> bool {
    (line.starts_with("---") || line.starts_with("..."))
        && line[MARKER..].chars().next().is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
}
