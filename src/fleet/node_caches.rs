//! The caches of lookups for nodes: the levels of a node are located once, whatever the number of
//! keys that are looked up for the node.

use std::rc::Rc;

use crate::hiera::lookup::{Context, LookupCache, Resolver};
use crate::text::Memo;

/// The caches by the numbers of nodes, for lookups in one environment of one snapshot.
#[derive(Default)]
pub(super) struct NodeCaches(Memo<usize, Rc<LookupCache>>);

impl NodeCaches {
    /// Returns a resolver for the node with this number; `None` for one that shares nothing. All
    /// contexts of a node are equal.
    pub(super) fn resolver<'c>(&self, context: Context<'c>, node: Option<usize>) -> Resolver<'c> {
        match node {
            Some(node) => Resolver::resume(context, self.0.get_or(&node, Rc::default)),
            None => Resolver::new(context),
        }
    }
}
