//! A tree under construction: nodes, anchors, and the collections that are not closed yet.

use std::collections::HashMap;

use super::tree::{Node, NodeId, NodeKind, Property, ScalarStyle};
use crate::text::TextRange;

/// The tree under construction.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) nodes: Vec<Node>,
    /// The node that bears each anchor by now.
    pub(super) anchors: HashMap<Box<str>, NodeId>,
    /// Collections that are not closed yet.
    pub(super) open: Vec<Open>,
    /// Finished nodes that wait for the end of their collection.
    pub(super) done: Vec<NodeId>,
}

/// A collection that is not closed yet.
pub(super) struct Open {
    pub(super) node: NodeId,
    /// Where the collection's children begin in [`Builder::done`].
    pub(super) first: usize,
    /// Where the collection began: its first token.
    pub(super) mark: u32,
    /// Where the collection's last indicator ended, so that the collection is not cut off behind
    /// its last child.
    pub(super) end: u32,
}

/// An anchor and a tag, read before their node.
#[derive(Default)]
pub(super) struct Properties {
    pub(super) anchor: Option<Box<Property>>,
    pub(super) tag: Option<Box<Property>>,
}

impl Builder {
    pub(super) fn add(
        &mut self,
        kind: NodeKind,
        span: TextRange,
        properties: Properties,
    ) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        if let Some(anchor) = &properties.anchor {
            self.anchors.insert(anchor.name.as_str().into(), id);
        }
        self.nodes.push(Node { kind, span, anchor: properties.anchor, tag: properties.tag });
        id
    }

    pub(super) fn add_leaf(&mut self, kind: NodeKind, span: TextRange, properties: Properties) {
        let id = self.add(kind, span, properties);
        self.done.push(id);
    }

    /// An omitted scalar at `at`.
    pub(super) fn add_empty(&mut self, at: u32) {
        self.empty_with(at, Properties::default());
    }

    pub(super) fn empty_with(&mut self, at: u32, properties: Properties) {
        self.add_leaf(
            NodeKind::Scalar { style: ScalarStyle::Plain, text: "".into() },
            TextRange::new_empty(at),
            properties,
        );
    }

    pub(super) fn open(&mut self, kind: NodeKind, mark: TextRange, properties: Properties) {
        let node = self.add(kind, mark, properties);
        self.open.push(Open { node, first: self.done.len(), mark: mark.start, end: mark.end });
    }

    /// Closes the innermost collection; `end` where it has a bracket.
    pub(super) fn close(&mut self, end: Option<u32>) {
        let Some(open) = self.open.pop() else { return };
        let children = &self.done[open.first..];
        let last = children.last().map_or(open.end, |id| self.nodes[id.0 as usize].span.end);
        let node = &mut self.nodes[open.node.0 as usize];
        node.span = TextRange::new(node.span.start, end.unwrap_or(last.max(open.end)));
        match &mut node.kind {
            NodeKind::Sequence { items, .. } => *items = children.to_vec(),
            NodeKind::Mapping { entries, .. } => {
                *entries = children.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
        }
        self.done.truncate(open.first);
        self.done.push(open.node);
    }

    /// Forgets the nodes from `keep` on, and all that is under construction.
    pub(super) fn forget_from(&mut self, keep: usize) {
        self.nodes.truncate(keep);
        self.anchors.retain(|_, id| (id.0 as usize) < keep);
        self.open.clear();
        self.done.clear();
    }

    /// Closes all that is open where the text ends or cannot be read on; gives the root.
    pub(super) fn close_all(&mut self, last_end: u32) -> Option<NodeId> {
        while let Some(open) = self.open.last() {
            let count = self.done.len() - open.first;
            let mapping = matches!(self.nodes[open.node.0 as usize].kind, NodeKind::Mapping { .. });
            if mapping && count % 2 == 1 {
                let key_end = self.nodes[self.done[self.done.len() - 1].0 as usize].span.end;
                self.add_empty(last_end.max(key_end));
            }
            let flow = matches!(
                self.nodes[open_id(&self.open).0 as usize].kind,
                NodeKind::Mapping { flow: true, .. } | NodeKind::Sequence { flow: true, .. }
            );
            self.close(flow.then_some(last_end));
        }
        self.done.pop()
    }
}

fn open_id(open: &[Open]) -> NodeId {
    open.last().expect("checked by the caller").node
}
