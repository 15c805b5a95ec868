//! The caches of lookups for nodes: the levels of a node are located once, whatever the number of
//! keys that are looked up for the node.

use std::rc::Rc;

use super::questions::KeyQuestions;
use crate::hiera::lookup::{Context, LookupCache, Resolver};
use crate::text::{FilePath, Memo};

/// The caches by scope, for lookups in one environment of one snapshot.
#[derive(Default)]
pub(super) struct NodeCaches<'a> {
    caches: Memo<CachedScope, Rc<LookupCache>>,
    /// The caches of a snapshot in which the same files exist.
    base: Option<&'a NodeCaches<'a>>,
    /// The questions by which lookups tell nodes apart.
    pub(super) asked: KeyQuestions,
}

/// A scope that many keys are looked up in. All contexts with one of these scopes lead to the same
/// files, and give `lookup_options` the same values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum CachedScope {
    /// The scope of the node, or of the kind of nodes, with this number.
    Node(usize),
    /// The scope of a node without any known variable.
    AnyNode,
    /// The scope of a node of which only the path of a file is known.
    ReaderOf(FilePath),
}

impl<'a> NodeCaches<'a> {
    /// Creates caches for an environment in a later snapshot. Where the environment is the same one,
    /// and the same files exist in it, levels that are located in `base` are not located again.
    pub(super) fn of_later(base: &'a NodeCaches<'a>, has_same_files: bool) -> NodeCaches<'a> {
        NodeCaches { base: has_same_files.then_some(base), ..NodeCaches::default() }
    }

    /// Returns a resolver for lookups in a scope; `None` for one that shares nothing.
    pub(super) fn resolver<'c>(
        &self,
        context: Context<'c>,
        scope: Option<&CachedScope>,
    ) -> Resolver<'c> {
        let Some(scope) = scope else { return Resolver::new(context) };
        Resolver::resume(
            context,
            self.caches.get_or(scope, || {
                let located = self.base.and_then(|base| base.caches.get(scope));
                Rc::new(located.map(|it| it.with_other_data()).unwrap_or_default())
            }),
        )
    }
}
