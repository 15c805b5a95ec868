//! The anchors of a part while it is read, and the nodes that its aliases stand for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::super::anchors::{Anchored, PartAnchors};
use super::super::{Borrowed, Refusal, TokenUse};
use crate::text::{Span, TextRange};
use crate::yaml::{NodeId, Tree};

/// The anchors that were read so far.
pub(super) struct Aliases<'a> {
    /// The anchor of a name in the parts above.
    above: &'a dyn Fn(&str) -> Option<Anchored>,
    /// The names that aliases take from there.
    used: IndexSet<Arc<str>, foldhash::fast::RandomState>,
    /// The anchored nodes that were read, which aliases share.
    done: HashMap<NodeId, Anchored>,
    /// Anchored nodes being read: an alias to one of them contains itself.
    open: Vec<NodeId>,
}

impl<'a> Aliases<'a> {
    /// Returns those of a part in which nothing was read; `above` returns the anchors of parts
    /// above.
    pub(super) fn new(above: &'a dyn Fn(&str) -> Option<Anchored>) -> Aliases<'a> {
        let (used, done, open) = (IndexSet::default(), HashMap::new(), Vec::new());
        Aliases { above, used, done, open }
    }

    /// Records that an anchored node is being read.
    pub(super) fn begin(&mut self, node: NodeId) {
        self.open.push(node);
    }

    /// Records that the anchored node that was begun last is read.
    pub(super) fn end(&mut self, anchored: Anchored) {
        if let Some(node) = self.open.pop() {
            self.done.insert(node, anchored);
        }
    }

    /// Returns the node that an alias stands for; `None` where it was not read. `target` is the
    /// node, if it is one of the part. An error where Puppet refuses the file for the alias.
    pub(super) fn resolve(
        &mut self,
        name: &str,
        target: Option<NodeId>,
    ) -> Result<Option<Anchored>, Refusal> {
        let Some(target) = target else {
            if !self.used.contains(name) {
                self.used.insert(name.into());
            }
            let found = (self.above)(name);
            return found.map(Some).ok_or_else(|| Refusal::UnknownAlias(name.to_owned()));
        };
        if self.open.contains(&target) {
            return Err(Refusal::Cycle);
        }
        Ok(self.done.get(&target).cloned())
    }

    /// Takes out the anchors that other parts may use, and the names of those that the part uses of
    /// others; `None` where there are neither. `span` gives places in the part.
    pub(super) fn take(
        &mut self,
        tree: &Tree,
        span: impl Fn(TextRange) -> Span,
    ) -> Option<Box<PartAnchors>> {
        let mut defined = IndexMap::default();
        for (node, id) in tree.nodes.iter().zip(0..) {
            let Some(anchor) = &node.anchor else { continue };
            let unread = || Anchored {
                span: span(anchor.span),
                value: None,
                asks: Arc::default(),
                may_be_encrypted: false,
            };
            let anchored = self.done.get(&NodeId(id)).cloned().unwrap_or_else(unread);
            defined.insert(Arc::from(anchor.name.as_str()), anchored);
        }
        let is_used = !defined.is_empty() || !self.used.is_empty();
        let used = std::mem::take(&mut self.used);
        is_used.then(|| Box::new(PartAnchors { defined, used }))
    }
}

/// Returns the root keys that tokens ask for, and values through aliases, each once.
pub(super) fn asked(tokens: &[TokenUse], borrowed: &[Borrowed]) -> Arc<[Arc<str>]> {
    let mut asked: IndexSet<Arc<str>, foldhash::fast::RandomState> =
        tokens.iter().filter_map(|token| Some(token.reference.key()?.root_text())).collect();
    let mut seen = HashSet::new();
    for Borrowed { asks, .. } in borrowed {
        if seen.insert(Arc::as_ptr(asks)) {
            asked.extend(asks.iter().cloned());
        }
    }
    asked.into_iter().collect()
}
