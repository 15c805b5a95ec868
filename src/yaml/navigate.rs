//! From a place in the text to the node there, and the way to it from the root.

use super::tree::{NodeId, NodeKind, PathStep, Tree};
use crate::text::TextRange;

/// The node that a cursor touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The innermost node.
    pub node: NodeId,
    /// The way to the node from the root. A key has the path of its entry.
    pub path: Vec<PathStep>,
    /// Whether `node` is the key of the entry that `path` ends with.
    pub on_key: bool,
}

impl Tree {
    /// Returns the innermost node whose span touches `offset`; `None` when not even the root does.
    ///
    /// Anchor and tag belong to their node here. White space between `key:` or `-` and its value on
    /// the same line, and behind `key:` when the value is omitted, belongs to the value. Nodes
    /// inside a key are not looked for. `source` is the text of this tree. Wide collections are
    /// searched by halves.
    pub fn node_at(&self, source: &str, offset: u32) -> Option<Located> {
        if self.scattered {
            let mut search = NodeSearch { tree: self, offset, path: Vec::new(), best: None };
            search.visit(self.root?);
            return search.best.map(|(_, located)| located);
        }
        let mut node = self.root?;
        let mut path = Vec::new();
        let mut best = None;
        loop {
            if self.whole_span(node).touches_offset(offset) {
                best = Some(Located { node, path: path.clone(), on_key: false });
            }
            let (step, key, value) = match self.child_before(node, offset) {
                Some(child) => child,
                None => return best,
            };
            path.push(step);
            if let Some(key) = key
                && self.whole_span(key).touches_offset(offset)
            {
                return Some(Located { node: key, path, on_key: true });
            }
            let span = self.whole_span(value);
            let gap = if span.start >= offset {
                key.map_or(offset, |key| self.whole_span(key).end)
            } else {
                span.end
            };
            if span.touches_offset(offset) {
                node = value;
            } else if !is_blank(
                source,
                TextRange::new(gap, offset),
                key.is_some() && span.start >= offset,
            ) {
                return best;
            } else if span.start > offset || self.node(value).span.is_empty() {
                return Some(Located { node: value, path, on_key: false });
            } else {
                node = value;
            }
        }
    }

    /// Returns the span of a node with its anchor and tag.
    pub fn whole_span(&self, id: NodeId) -> TextRange {
        let node = self.node(id);
        let properties = [&node.anchor, &node.tag];
        properties.into_iter().flatten().fold(node.span, |span, property| span.cover(property.span))
    }

    /// Returns the last child that begins at or before `offset`: its step, its key, its value.
    fn child_before(&self, id: NodeId, offset: u32) -> Option<(PathStep, Option<NodeId>, NodeId)> {
        match &self.node(id).kind {
            NodeKind::Mapping { entries, .. } => {
                let index = entries
                    .partition_point(|(key, _)| self.whole_span(*key).start <= offset)
                    .checked_sub(1)?;
                Some((PathStep::Entry(index), Some(entries[index].0), entries[index].1))
            }
            NodeKind::Sequence { items, .. } => {
                let index = items
                    .partition_point(|id| self.whole_span(*id).start <= offset)
                    .checked_sub(1)?;
                Some((PathStep::Item(index), None, items[index]))
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => None,
        }
    }
}

/// A search through a whole tree for the innermost node at a place.
struct NodeSearch<'t> {
    tree: &'t Tree,
    offset: u32,
    path: Vec<PathStep>,
    best: Option<(u32, Located)>,
}

impl NodeSearch<'_> {
    fn visit(&mut self, id: NodeId) {
        if self.tree.copies.binary_search(&id).is_ok() {
            return;
        }
        self.offer_node(id, false);
        match &self.tree.node(id).kind {
            NodeKind::Mapping { entries, .. } => {
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.path.push(PathStep::Entry(index));
                    self.offer_node(*key, true);
                    self.visit(*value);
                    self.path.pop();
                }
            }
            NodeKind::Sequence { items, .. } => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(PathStep::Item(index));
                    self.visit(*item);
                    self.path.pop();
                }
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
        }
    }

    fn offer_node(&mut self, node: NodeId, on_key: bool) {
        let span = self.tree.node(node).span;
        let is_closer = self.best.as_ref().is_none_or(|(len, _)| span.len() < *len);
        if span.touches_offset(self.offset) && is_closer {
            self.best = Some((span.len(), Located { node, path: self.path.clone(), on_key }));
        }
    }
}

/// Whether only blanks stand in the range, and a `:` among them if `colon` is set.
fn is_blank(source: &str, range: TextRange, colon: bool) -> bool {
    let Some(text) = source.get(range.as_usize()) else { return false };
    if colon {
        text.split_once(':')
            .is_some_and(|(before, after)| is_blank_text(before) && is_blank_text(after))
    } else {
        is_blank_text(text)
    }
}

fn is_blank_text(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    /// Where the `$0` in the text is: the path, `key` if on a key, and the node's text or kind.
    fn check(text: &str, expected: &str) {
        let offset = text.find("$0").expect("the text has a cursor");
        let text = text.replacen("$0", "", 1);
        let tree = parse(&text);
        let found = tree.node_at(&text, offset as u32).map(|located| {
            let path: Vec<_> = located.path.iter().map(|step| format!("{step:?}")).collect();
            let what = match &tree.node(located.node).kind {
                NodeKind::Scalar { text, .. } => format!("{text:?}"),
                NodeKind::Sequence { .. } => "sequence".to_owned(),
                NodeKind::Mapping { .. } => "mapping".to_owned(),
                NodeKind::Alias { name, .. } => format!("*{name}"),
            };
            format!("{} {}{what}", path.join("."), if located.on_key { "key " } else { "" })
        });
        assert_eq!(found.as_deref().unwrap_or("nothing"), expected, "{text:?} at {offset}");
    }

    #[test]
    fn keys_and_values() {
        check("a: 1\nb$0b: 2\n", "Entry(1) key \"bb\"");
        check("a: 1\nbb$0: 2\n", "Entry(1) key \"bb\"");
        check("a: 1\nbb: $02\n", "Entry(1) \"2\"");
        check("a: 1\nbb: 2$0\n", "Entry(1) \"2\"");
        check("a:\n  - x\n  - y: z$0\n", "Entry(0).Item(1).Entry(0) \"z\"");
        check("a: &x $0!t\n  b\n", "Entry(0) \"b\"");
        check("a: [x, $0y]", "Entry(0).Item(1) \"y\"");
        check("a: {k: v}$0", "Entry(0) mapping");
        check("a: *$0x", "Entry(0) *x");
    }

    #[test]
    fn omitted_values_and_blanks() {
        check("a:$0\nb: 1\n", "Entry(0) \"\"");
        check("a: $0\nb: 1\n", "Entry(0) \"\"");
        check("a:\n  b:   $0", "Entry(0).Entry(0) \"\"");
        check("a:  $0  x\n", "Entry(0) \"x\"");
        check("a: $0\n  b: 1\n", "Entry(0) mapping");
        check("a: $0\n  - b\n", "Entry(0) sequence");
        check("a:\n  - $0\n", "Entry(0).Item(0) \"\"");
        check("a:\n$0  b: 1\n", " mapping");
        check("a: 1  $0\nb: 1\n", " mapping");
        check("a: 1\n$0\n", "nothing");
        check("$0", "nothing");
    }
}
