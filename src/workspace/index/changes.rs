//! The changes from one index to another: the parts that went and came, and the keys that they
//! concern.

use std::collections::HashSet;
use std::sync::Arc;

use super::KeyIndex;
use super::readings::Readings;
use super::siblings::group;
use crate::hiera::data::{EntryData, Part, Parts, Reference};
use crate::text::FilePath;

/// The changes between two indexes.
#[derive(Debug, Default)]
pub struct KeyChanges {
    /// The files whose data differs.
    pub files: HashSet<FilePath>,
    /// The root keys whose definitions, or readers, may differ.
    pub keys: HashSet<Arc<str>>,
    /// Whether tokens that ask for keys came or went.
    pub questions: bool,
}

impl KeyChanges {
    /// Adds later changes.
    pub fn extend(&mut self, later: &KeyChanges) {
        self.files.extend(later.files.iter().cloned());
        self.keys.extend(later.keys.iter().cloned());
        self.questions |= later.questions;
    }

    /// Whether anything changed.
    pub fn is_any(&self) -> bool {
        self.questions || !self.keys.is_empty() || !self.files.is_empty()
    }
}

impl KeyIndex {
    /// Returns the changes from this index to a later one.
    pub fn changes_to(&self, later: &KeyIndex) -> KeyChanges {
        use imbl::ordmap::DiffItem;
        let mut all = KeyChanges::default();
        let none = Readings::default();
        for change in self.readings.diff(&later.readings) {
            let (path, old, new) = match change {
                DiffItem::Add(path, new) => (path, &none, new),
                DiffItem::Update { old: (path, old), new: (_, new) } => (path, old, new),
                DiffItem::Remove(path, old) => (path, old, &none),
            };
            all.files.insert(path.clone());
            let changes = changes(old, new);
            let members = changes.iter().flat_map(|change| &change.part().data.members);
            let keys = members.filter_map(|(key, _)| key.as_arc());
            all.keys.extend(keys.clone().cloned());
            let came_or_went = |key: &&Arc<str>| {
                self.keys.defined.contains(&***key) != later.keys.defined.contains(&***key)
            };
            all.keys.extend(keys.filter(came_or_went).filter_map(|key| group(key)));
            if asks_otherwise(&changes) {
                all.questions = true;
                // Whether anything reads the keys that tokens ask for is another matter now.
                let asked = changes.iter().flat_map(|change| questions(&change.part().data));
                all.keys.extend(asked.map(|(_, target)| target));
            }
        }
        all
    }
}

/// From which root key to which a part's tokens lead, those that aliases bring in included.
pub(super) fn questions(data: &EntryData) -> impl Iterator<Item = (&Arc<str>, Arc<str>)> {
    let written = data.tokens.iter().filter_map(|token| match &token.reference {
        Reference::Key { key, .. } => Some((&token.root, key.root_text())),
        Reference::Variable(_) => None,
    });
    let borrowed = data.borrowed.iter();
    written.chain(borrowed.flat_map(|of| of.asks.iter().map(|key| (&of.root, key.clone()))))
}

/// Whether the parts that came ask for other keys than those that went.
pub(super) fn asks_otherwise(changes: &[Change<'_>]) -> bool {
    let asked = |come: bool| {
        let parts = changes.iter().filter(|change| matches!(change, Change::Come(_)) == come);
        let mut all: Vec<_> = parts.flat_map(|change| questions(&change.part().data)).collect();
        all.sort();
        all
    };
    asked(false) != asked(true)
}

/// A part that only one of two indexes has.
pub(super) enum Change<'a> {
    Gone(&'a Part),
    Come(&'a Part),
}

impl<'a> Change<'a> {
    pub(super) fn part(&self) -> &'a Part {
        match self {
            Change::Gone(part) | Change::Come(part) => part,
        }
    }
}

/// Returns the parts that only one of two has.
pub(super) fn changes<'a>(old: &'a Readings, new: &'a Readings) -> Vec<Change<'a>> {
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
