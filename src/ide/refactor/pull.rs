//! Pulls a value that all levels share down to the lowest level that every node reads.

use super::{Draft, RefactorContext, RefactoringKind};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::puppet::value::Value;
use crate::text::{FilePath, SourceChange};
use crate::workspace::EnvironmentView;

/// Drafts the move of a key from all files that define it with one value.
pub(super) fn draft_pull(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let Some(entry) = context.entry_of_key().filter(|entry| &*entry.name != LOOKUP_OPTIONS) else {
        return;
    };
    let view = context.snapshot.view(context.environment);
    let index = context.snapshot.keys();
    let layer = context.environment.layer_of(context.wanted.path);
    let files: Vec<&FilePath> = index
        .definitions(&entry.name)
        .iter()
        .filter(|path| context.environment.layer_of(path) == layer && layer.is_some())
        .collect();
    let Some(target) = context.located_targets().into_iter().rev().find(|it| it.is_for_all) else {
        return;
    };
    let own = entry_value(context.wanted.path, &view, &entry.name);
    if files.len() < 2
        || own.is_none()
        || files.iter().any(|path| entry_value(path, &view, &entry.name) != own)
    {
        return;
    }
    let others: Vec<&FilePath> = files.into_iter().filter(|path| **path != target.path).collect();
    let has_it = entry_value(&target.path, &view, &entry.name).is_some();
    let (count, noun) = match others.len() {
        1 => (1, "file"),
        count => (count, "files"),
    };
    let to = context.short_path(&target.path);
    let title = if has_it {
        format!("Remove `{}` from {count} {noun}: {to} has the same value", entry.name)
    } else {
        format!("Move `{}`, the same in {count} {noun}, to {to}", entry.name)
    };
    // The title would reveal that secrets are equal.
    if context.is_encrypted(entry) || context.is_sensitive(&entry.name) {
        return;
    }
    if let Some(reason) = context.reason_against(entry) {
        return drafts.push(Draft::new_refused(RefactoringKind::Move, title, reason));
    }
    let mut change = SourceChange::default();
    for path in others {
        let removal = context
            .snapshot
            .file(path)
            .and_then(|file| file.document())
            .filter(|it| it.find_entry("sops").is_none())
            .and_then(|document| {
                let own = document.find_entry(&entry.name)?;
                (!document.has_anchors(own)).then(|| document.removal_edit(own))
            });
        let is_installed = context.snapshot.is_third_party(context.environment, path);
        let Some(removal) = removal.filter(|_| !is_installed) else { return };
        change.push(path, removal);
    }
    if !has_it {
        let text = context.document.text_of(entry);
        if context.add_to(&target, &entry.name, &text, &mut change).is_none() {
            return;
        }
    }
    drafts.push(Draft::new(RefactoringKind::Move, title, change, [entry.name.clone()]));
}

fn entry_value(path: &FilePath, view: &EnvironmentView<'_>, name: &str) -> Option<Value> {
    Some(view.data_of(path)?.get(name)?.value.clone())
}
