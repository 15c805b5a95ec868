//! The caches of lookups for nodes: the levels of a node are located once, whatever the number of
//! keys that are looked up for the node.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;

use crate::hiera::lookup::{Context, LookupCache, Resolver};

/// The most caches to keep; each has the located levels of one node.
const KEPT: usize = 1024;

/// The caches by the numbers of nodes, for lookups in one environment of one snapshot.
#[derive(Default)]
pub(super) struct NodeCaches {
    kept: RefCell<HashMap<usize, Rc<LookupCache>>>,
}

impl NodeCaches {
    /// Returns a resolver for the node with this number; `None` for one that shares nothing. All
    /// contexts of a node are equal.
    pub(super) fn resolver<'c>(&self, context: Context<'c>, node: Option<usize>) -> Resolver<'c> {
        let Some(node) = node else { return Resolver::new(context) };
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= KEPT && !kept.contains_key(&node) {
            kept.clear();
        }
        Resolver::resume(context, kept.entry(node).or_default().clone())
    }
}
