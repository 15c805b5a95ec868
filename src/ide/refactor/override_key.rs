//! Writes a key with its present value into a file above the key's file, for the nodes that read
//! the file above.

use super::targets::MoveTarget;
use super::{Draft, RefactorContext, RefactoringKind};
use crate::text::SourceChange;

/// The most levels that a key can be overridden in.
const MAX_TARGETS: usize = 4;

/// Drafts the entry in the levels above that are most likely to be meant: first those that state
/// keys of its class, then those of the fewest nodes.
pub(super) fn draft_overrides(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let Some(entry) = context.movable_entry() else { return };
    let siblings = context.sibling_files(&entry.name);
    let mut targets = context.best_targets(entry, &siblings);
    targets.retain(|target| context.is_above(target));
    // The draft of a move states the reason.
    if targets.is_empty() || context.reason_against(entry).is_some() {
        return;
    }
    targets.sort_by_key(|target| {
        (!siblings.contains_key(&target.path), context.readers_in(target).len())
    });
    for target in targets.into_iter().take(MAX_TARGETS) {
        let mut change = SourceChange::default();
        let text = context.document.text_of(entry);
        if context.add_to(&target, &entry.name, &text, &mut change).is_none() {
            continue;
        }
        let place = if target.exists {
            context.short_path(&target.path).to_owned()
        } else {
            format!("the new file {}", context.short_path(&target.path))
        };
        let title = format!("Override `{}` in {place}{}", entry.name, context.reach_of(&target));
        let keys = [entry.name.clone()];
        drafts.push(Draft::new(RefactoringKind::Override, title, change, keys));
    }
}

impl RefactorContext<'_> {
    /// Returns the nodes that read a file, or may read it, by their numbers.
    fn readers_in(&self, target: &MoveTarget) -> Vec<usize> {
        let readers = self.snapshot.readers_of(self.environment, &target.path);
        readers.all_nodes().map(|(node, _)| node).collect()
    }

    /// Returns the nodes for which the file counts, in words: `, for node web-01`.
    fn reach_of(&self, target: &MoveTarget) -> String {
        let nodes = self.snapshot.nodes_of(self.environment);
        match &self.readers_in(target)[..] {
            _ if nodes.is_empty() => String::new(),
            [node] => format!(", for node {}", nodes[*node].name),
            readers => format!(", for {} of {} nodes", readers.len(), nodes.len()),
        }
    }
}
