//! Moves a key with its value and its comments to another level.

use super::targets::{MoveTarget, SiblingFiles};
use super::{DocumentEntry, Draft, RefactorContext, Refactoring, RefactoringKind, secrets};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::SourceChange;

/// The most levels that a key can be moved to without a choice from all of them.
const MAX_TARGETS: usize = 4;
/// The most levels that are compared to choose those to offer.
const MAX_TRIED: usize = 8;

/// Drafts a move to the levels that are likely to be meant.
pub(super) fn draft_moves(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let Some(entry) = context.movable_entry() else { return };
    let siblings = context.sibling_files(&entry.name);
    let mut targets = context.best_targets(entry, &siblings);
    if let Some(reason) = targets.first().and_then(|_| context.reason_against(entry)) {
        let title = format!("Move `{}` to another level", entry.name);
        return drafts.push(Draft::new_refused(RefactoringKind::Move, title, reason));
    }
    targets.sort_by_key(|target| {
        (!context.is_likely_target(target, entry, &siblings), !target.exists)
    });
    for target in targets.into_iter().take(MAX_TRIED) {
        if let Some(draft) = context.draft_move(entry, &target) {
            drafts.push(Draft {
                is_likely: context.is_likely_target(&target, entry, &siblings),
                ..draft
            });
        }
    }
}

/// Returns the moves to offer, the best ones first: to a level that states the key or keys of its
/// class, without effect on a node; then those that change the fewest nodes.
pub(super) fn choose_moves(mut moves: Vec<(bool, Refactoring)>) -> Vec<Refactoring> {
    moves.sort_by_key(|(is_likely, one)| {
        let is_refused = one.change.is_err();
        (is_refused, one.changed > 0, !is_likely, one.changed)
    });
    moves.into_iter().map(|(_, one)| one).take(MAX_TARGETS).collect()
}

impl RefactorContext<'_> {
    /// Returns the entry at the cursor's key that moves may be drafted for.
    pub(super) fn movable_entry(&self) -> Option<&DocumentEntry> {
        self.entry_of_key().filter(|entry| &*entry.name != LOOKUP_OPTIONS)
    }

    /// Whether a level is likely to be meant: the file has other keys of the class or the prefix of
    /// the key, or another file of the level has the key.
    fn is_likely_target(
        &self,
        target: &MoveTarget,
        entry: &DocumentEntry,
        siblings: &SiblingFiles,
    ) -> bool {
        siblings.contains_key(&target.path)
            || self.snapshot.keys().definitions(&entry.name).iter().any(|path| {
                let mut matches = self.environment.path_matches(path);
                matches.any(|(reach, _)| reach.level.name == target.level.name)
            })
    }

    /// Drafts the move of an entry to a file.
    pub(super) fn draft_move(&self, entry: &DocumentEntry, target: &MoveTarget) -> Option<Draft> {
        let new = if target.exists { "" } else { "the new file " };
        let title = format!("Move `{}` to {new}{}", entry.name, self.short_path(&target.path));
        let mut change = SourceChange::default();
        self.add_to(target, &entry.name, &self.document.text_of(entry), &mut change)?;
        change.push(self.wanted.path, self.document.removal_edit(entry));
        Some(Draft::new(RefactoringKind::Move, title, change, [entry.name.clone()]))
    }

    /// Returns the reason why an entry cannot leave its file.
    pub(super) fn reason_against(&self, entry: &DocumentEntry) -> Option<&'static str> {
        if self.is_sensitive(&entry.name) {
            return Some(secrets::REASON);
        }
        if self.document.has_anchors(entry) {
            return Some(
                "the value has an anchor or an alias, which means nothing in another file",
            );
        }
        if self.document.find_entry("sops").is_some() {
            return Some("the file is sealed with a checksum by SOPS");
        }
        let is_third_party = self.snapshot.is_third_party(self.environment, self.wanted.path);
        is_third_party.then_some("the file belongs to a module that a tool installed")
    }

    /// Adds an entry to a file that exists or is created.
    pub(super) fn add_to(
        &self,
        target: &MoveTarget,
        name: &str,
        text: &str,
        change: &mut SourceChange,
    ) -> Option<()> {
        if target.exists {
            let document = self.snapshot.file(&target.path).and_then(|file| file.document())?;
            if document.find_entry("sops").is_some() {
                return None;
            }
            change.push(&target.path, document.insertion_edit(name, text));
        } else {
            let marker = if self.document.has_marker() { "---\n" } else { "" };
            change.created.insert(target.path.clone(), format!("{marker}{text}"));
        }
        Some(())
    }
}
