//! `node` blocks for regular expressions, matched against the names of nodes that are known otherwise.

use std::collections::HashSet;
use std::sync::Arc;

use super::parts::Parts;
use super::source::NodeSource;
use crate::puppet::ruby::regex::RubyRegex;

/// The blocks of manifests for nodes by patterns of their names.
#[derive(Default)]
pub(super) struct PatternBlocks {
    /// The names that a block states literally: no pattern decides about these nodes.
    literal: HashSet<Arc<str>>,
    /// The expressions with the parts of their blocks, in Puppet's order; `None` for an expression
    /// that cannot be matched.
    patterns: Vec<(Option<RubyRegex>, Arc<Parts>)>,
}

impl PatternBlocks {
    /// Adds the blocks of a manifest, which come after the blocks of manifests before.
    pub(super) fn add_source(&mut self, source: &NodeSource) {
        self.literal.extend(source.parts().iter().map(|parts| parts.name.clone()));
        let patterns = source.patterns().iter();
        self.patterns
            .extend(patterns.map(|one| (RubyRegex::new(&one.regex).ok(), one.parts.clone())));
    }

    /// Returns the parts of the first block whose pattern matches the name of a node. `None` where a
    /// block names the node, no pattern matches, or one that comes before cannot be decided.
    ///
    /// Source: `Puppet::Resource::TypeCollection#node`; a literal name also stands for the names
    /// that it begins, up to a dot.
    pub(super) fn block_for(&self, name: &str) -> Option<&Arc<Parts>> {
        let mut starts = name.match_indices('.').map(|(at, _)| &name[..at]).chain([name]);
        if starts.any(|start| self.literal.contains(start)) {
            return None;
        }
        for (regex, parts) in &self.patterns {
            if regex.as_ref().and_then(|regex| regex.is_match(name))? {
                return Some(parts);
            }
        }
        None
    }

    /// Whether a block other than `default` names the node, or may do so: a pattern that cannot be
    /// decided counts.
    pub(super) fn may_name(&self, name: &str) -> bool {
        let mut starts = name.match_indices('.').map(|(at, _)| &name[..at]).chain([name]);
        starts.any(|start| self.literal.contains(start))
            || self.patterns.iter().any(|(regex, _)| {
                regex.as_ref().and_then(|regex| regex.is_match(name)).unwrap_or(true)
            })
    }
}
