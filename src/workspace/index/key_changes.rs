//! The keys that differ between two indexes.

use std::collections::HashSet;
use std::sync::Arc;

use super::changes::{asked_keys, asks_otherwise, part_changes};
use super::key_index::KeyIndex;
use super::readings::Readings;
use super::siblings::group;
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
            let changes = part_changes(old, new);
            let members = changes.iter().flat_map(|change| &change.changed_part().data.members);
            let keys = members.filter_map(|(key, _)| key.as_arc());
            all.keys.extend(keys.clone().cloned());
            all.keys.extend(
                keys.filter(|key| {
                    self.keys.defined.contains(&***key) != later.keys.defined.contains(&***key)
                })
                .filter_map(|key| group(key)),
            );
            if asks_otherwise(&changes) {
                all.questions = true;
                // The keys that tokens ask for may have gained or lost readers.
                let asked =
                    changes.iter().flat_map(|change| asked_keys(&change.changed_part().data));
                all.keys.extend(asked.map(|(_, target)| target));
            }
        }
        all
    }
}
