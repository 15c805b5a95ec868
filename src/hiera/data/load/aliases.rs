//! The anchors of a part while the part is read, and the targets of its aliases.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::super::anchors::{Anchored, PartAnchors};
use super::super::{Borrowed, FileRefusal, TokenUse};
use crate::text::{Span, TextRange};
use crate::yaml::{NodeId, NodeKind, Tree};

/// The anchors of a part that were read so far, and the uses of anchors above the part.
pub(super) struct Aliases<'a> {
    /// Returns the anchor of a name in the parts above.
    above: &'a dyn Fn(&str) -> Option<Anchored>,
    /// The names of the anchors above the part, as far as aliases use them.
    used: IndexSet<Arc<str>, foldhash::fast::RandomState>,
    /// The anchored nodes that were read, which aliases share.
    done: HashMap<NodeId, Anchored>,
    /// Anchored nodes being read: an alias to one of them contains itself.
    open: Vec<NodeId>,
}

impl<'a> Aliases<'a> {
    /// Returns the state before anything of a part is read; `above` returns the anchor of a name
    /// in the parts above.
    pub(super) fn new(above: &'a dyn Fn(&str) -> Option<Anchored>) -> Aliases<'a> {
        let (used, done, open) = (IndexSet::default(), HashMap::new(), Vec::new());
        Aliases { above, used, done, open }
    }

    /// Records that the reading of an anchored node begins.
    pub(super) fn begin_node(&mut self, node: NodeId) {
        self.open.push(node);
    }

    /// Records the result for the anchored node that was begun last.
    pub(super) fn end_node(&mut self, anchored: Anchored) {
        if let Some(node) = self.open.pop() {
            self.done.insert(node, anchored);
        }
    }

    /// Returns the anchored node that an alias refers to; `None` where that was not read. `target`
    /// is the node, if it is in this part. Errors: Puppet refuses the file for the alias.
    pub(super) fn resolve(
        &mut self,
        name: &str,
        target: Option<NodeId>,
    ) -> Result<Option<Anchored>, FileRefusal> {
        let Some(target) = target else {
            if !self.used.contains(name) {
                self.used.insert(name.into());
            }
            let found = (self.above)(name);
            return found.map(Some).ok_or_else(|| FileRefusal::UnknownAlias(name.to_owned()));
        };
        if self.open.contains(&target) {
            return Err(FileRefusal::Cycle);
        }
        Ok(self.done.get(&target).cloned())
    }

    /// Returns the anchors that other parts may use, and the names of anchors in other parts that
    /// this part uses; `None` where there are neither. `span` returns the place of a range in the
    /// part.
    pub(super) fn take(
        &mut self,
        tree: &Tree,
        span: impl Fn(TextRange) -> Span,
    ) -> Option<PartAnchors> {
        let mut defined = IndexMap::default();
        let mut hidden = Vec::new();
        let mut aliased = BTreeSet::new();
        for (node, id) in tree.nodes.iter().zip(0..) {
            if let NodeKind::Alias { name, target: Some(_) } = &node.kind {
                aliased.insert(Arc::from(&**name));
            }
            let Some(anchor) = &node.anchor else { continue };
            let anchored = self.done.get(&NodeId(id)).cloned().unwrap_or_else(|| Anchored {
                span: span(anchor.span),
                value: None,
                asks: Arc::default(),
                may_be_encrypted: false,
            });
            let name: Arc<str> = Arc::from(anchor.name.as_str());
            if let Some(earlier) = defined.insert(name.clone(), anchored) {
                hidden.push((name, earlier.span));
            }
        }
        let is_used = !defined.is_empty() || !self.used.is_empty();
        let used = std::mem::take(&mut self.used);
        is_used.then_some(PartAnchors { defined, hidden, aliased, used })
    }
}

/// Returns the root keys that these tokens, and values inserted by aliases, ask for, each once.
pub(super) fn asked_keys(tokens: &[TokenUse], borrowed: &[Borrowed]) -> Arc<[Arc<str>]> {
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
