//! The changes of a file's data: the parts that went and came, and the keys that they ask for.

use std::sync::Arc;

use super::readings::Readings;
use crate::hiera::data::{EntryData, Part, Parts, Reference};

/// From which root key to which a part's tokens lead, those that aliases bring in included.
pub(super) fn asked_keys(data: &EntryData) -> impl Iterator<Item = (&Arc<str>, Arc<str>)> {
    let written = data.tokens.iter().filter_map(|token| match &token.reference {
        Reference::Key { key, .. } => Some((&token.root, key.root_text())),
        Reference::Variable(_) => None,
    });
    let borrowed = data.borrowed().iter();
    written.chain(borrowed.flat_map(|of| of.asks.iter().map(|key| (&of.root, key.clone()))))
}

/// Whether the parts that came ask for other keys than those that went.
pub(super) fn asks_otherwise(changes: &[Change<'_>]) -> bool {
    sorted_asked_keys(false, changes) != sorted_asked_keys(true, changes)
}

fn sorted_asked_keys<'a>(come: bool, changes: &'a [Change<'_>]) -> Vec<(&'a Arc<str>, Arc<str>)> {
    let parts = changes.iter().filter(|change| matches!(change, Change::Come(_)) == come);
    let mut all: Vec<_> =
        parts.flat_map(|change| asked_keys(&change.changed_part().data)).collect();
    all.sort();
    all
}

/// A part that only one of two indexes has.
pub(super) enum Change<'a> {
    Gone(&'a Part),
    Come(&'a Part),
}

impl<'a> Change<'a> {
    pub(super) fn changed_part(&self) -> &'a Part {
        match self {
            Change::Gone(part) | Change::Come(part) => part,
        }
    }
}

/// Returns the parts that only one of two readings has.
pub(super) fn part_changes<'a>(old: &'a Readings, new: &'a Readings) -> Vec<Change<'a>> {
    let mut all = Vec::new();
    for n in 0..old.0.len().max(new.0.len()) {
        let parts = |readings: &'a Readings| readings.0.get(n).map(|data| data.parts());
        let (old, new) = (parts(old), parts(new));
        let (gone, come) = match (old, new) {
            (Some(old), Some(new)) => old.changes_to(new),
            (old, new) => (
                old.into_iter().flat_map(Parts::iter).collect(),
                new.into_iter().flat_map(Parts::iter).collect(),
            ),
        };
        all.extend(gone.into_iter().map(Change::Gone));
        all.extend(come.into_iter().map(Change::Come));
    }
    all
}
