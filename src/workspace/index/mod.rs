//! The index of keys, for rules and features across files: the files that define each key, the keys
//! that each key asks for and those that ask for it, and the entries of `lookup_options`.
//!
//! An index is patched, not rebuilt: entries of a file's parts are removed and added as the parts
//! go and come, and all other entries are shared with the index before it. It has files and keys;
//! places within the files come from the data of their entries (`hiera::data::EntryData`).

mod changes;
mod circles;
mod dependents;
mod keys;
mod lazy;
mod options;
mod readings;
mod siblings;

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

pub use changes::KeyChanges;
use changes::{Change, asks_otherwise, changes, questions};
use keys::{Keys, KeysBuilder};
use lazy::Changed;
pub(super) use lazy::LazyIndex;
use options::OptionsMemo;
pub use options::OptionsPlace;
use readings::{Readings, all_readings, readings};
pub use siblings::{Siblings, key_prefix};

use super::parallel::on_all_cores;
use super::snapshot::Snapshot;
use crate::hiera::data::Part;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::FilePath;
use crate::text::work::{self, Work};

/// The index of one snapshot.
#[derive(Clone, Debug, Default)]
pub struct KeyIndex {
    keys: Keys,
    /// The data of each file, in each way in which some level reads it.
    readings: imbl::OrdMap<FilePath, Readings>,
    /// Computed when a search has to go far; the same as long as no key asks for another one.
    circles: Arc<OnceLock<HashMap<Arc<str>, usize>>>,
    /// The same as long as no `lookup_options` change.
    options: Arc<OptionsMemo>,
}

impl KeyIndex {
    /// Reads all data files of a snapshot that some level can reach.
    pub fn new(snapshot: &Snapshot) -> KeyIndex {
        KeyIndex::of(all_readings(snapshot))
    }

    fn of(files: Vec<(&FilePath, Readings)>) -> KeyIndex {
        let mut index = KeyIndex::default();
        let mut keys = KeysBuilder::default();
        for (path, readings) in files {
            if readings.0.is_empty() {
                continue;
            }
            let parts = readings.0.iter().flat_map(|file| file.parts().iter());
            for data in parts.map(|part| &part.data) {
                let members = data.members.iter().filter_map(|(key, _)| key.as_str());
                members.for_each(|key| keys.define(key, path));
                questions(data).for_each(|(root, target)| keys.ask(root, &target));
            }
            index.readings.insert(path.clone(), readings);
        }
        index.keys = keys.build();
        index
    }

    /// Returns the index after these changes.
    fn patched(&self, snapshot: &Snapshot, changed: &Changed) -> KeyIndex {
        let files = match changed {
            Changed::Files(changed) => {
                let paths: Vec<&FilePath> = changed.iter().collect();
                let new = on_all_cores(&paths, |path| readings(snapshot, path));
                paths.into_iter().zip(new).collect()
            }
            Changed::Layout => {
                let all = all_readings(snapshot);
                let is_other = |path: &FilePath, new: &Readings| {
                    self.readings.get(path).map_or(!new.0.is_empty(), |old| old != new)
                };
                let others = all.iter().filter(|(path, new)| is_other(path, new)).count();
                if others > all.len() / 2 {
                    return KeyIndex::of(all);
                }
                let gone = self.readings.keys().filter(|path| snapshot.file(path).is_none());
                let gone = gone.map(|path| (path, Readings::default()));
                all.into_iter()
                    .filter(|(path, new)| is_other(path, new))
                    .chain(gone)
                    .collect::<Vec<_>>()
            }
        };
        let mut index = self.clone();
        for (path, new) in files {
            let old = if new.0.is_empty() {
                index.readings.remove(path)
            } else {
                index.readings.insert(path.clone(), new.clone())
            };
            index.replace(path, &old.unwrap_or_default(), &new);
        }
        index
    }

    fn replace(&mut self, path: &FilePath, old: &Readings, new: &Readings) {
        let changes = changes(old, new);
        let come = changes.iter().filter(|change| matches!(change, Change::Come(_)));
        come.for_each(|_| work::count(Work::Index));
        let is_of_options = |part: &Part| {
            part.data.members.iter().any(|(key, _)| key.as_str() == Some(LOOKUP_OPTIONS))
        };
        if changes.iter().any(|change| is_of_options(change.part())) {
            self.options = Arc::default();
        }
        if asks_otherwise(&changes) {
            self.circles = Arc::default();
            for change in &changes {
                for (root, target) in questions(&change.part().data) {
                    self.keys.ask(root, &target, matches!(change, Change::Come(_)));
                }
            }
        }
        for change in &changes {
            for key in change.part().data.members.iter().filter_map(|(key, _)| key.as_str()) {
                let defines =
                    |readings: &Readings| readings.0.iter().any(|data| data.get(key).is_some());
                let is_defined = defines(new);
                if is_defined == defines(old) {
                    continue; // as with most keys of a file that is read again
                }
                self.keys.define(key, path, is_defined);
                self.keys.forget_unused(key);
            }
        }
    }

    /// Returns the files that define a root key, in the order of their paths.
    pub fn definitions(&self, key: &str) -> &[FilePath] {
        self.keys.definitions(key)
    }

    /// Returns the number of root keys that some file defines.
    pub fn key_count(&self) -> usize {
        self.keys.defined.len()
    }

    /// Returns the number of files that some level reads.
    pub fn file_count(&self) -> usize {
        self.readings.len()
    }

    /// Returns the files that some level reads, in order.
    pub fn files(&self) -> impl Iterator<Item = &FilePath> {
        self.readings.keys()
    }

    /// Returns all root keys that some file defines, in the order of their bytes.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.keys.defined.iter()
    }

    /// Returns the root keys that some file defines and that start with this text, in the order of
    /// their bytes.
    pub fn keys_with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let keys = self.keys.defined.range::<(Bound<&str>, Bound<&str>), str>(from);
        keys.take_while(move |key| key.starts_with(prefix))
    }

    /// Returns the other root keys of a key's class or prefix that some file defines.
    pub fn siblings(&self, key: &str) -> Siblings {
        Siblings::among(&self.keys.defined, key)
    }

    /// Returns the defined root key that was probably meant by another one of the same class or
    /// prefix.
    pub fn nearest(&self, key: &str) -> Option<Arc<str>> {
        Siblings::nearest(&self.keys.defined, key)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    fn keys<'a>(keys: impl Iterator<Item = &'a std::sync::Arc<str>>) -> Vec<&'a str> {
        keys.map(|key| &**key).collect()
    }

    #[test]
    fn keys_are_found_by_their_prefix() {
        let fixture = Fixture::new("a::b: 1\na::bc: 1\na: 1\nb: 1\n");
        let index = fixture.snapshot.keys();
        assert_eq!(keys(index.keys_with_prefix("a::")), ["a::b", "a::bc"]);
        assert_eq!(keys(index.keys_with_prefix("c")), [""; 0]);
    }

    #[test]
    fn options_are_found_by_name_and_by_pattern() {
        let text = "lookup_options:\n  a::b: {merge: deep}\n  '^a::': {merge: first}\na::b: 1\n";
        let fixture = Fixture::new(text);
        let index = fixture.snapshot.keys();
        let written = |key| {
            let places = index.options_of(key).map(|it| fixture.snapshot.place(it.span));
            places.map(|range| &text[range.as_usize()]).collect::<Vec<_>>()
        };
        assert_eq!(written("a::b"), ["a::b", "'^a::'"]);
        assert_eq!(written("a::c"), ["'^a::'"]);
        assert_eq!(written("b"), [""; 0]);
    }
}
