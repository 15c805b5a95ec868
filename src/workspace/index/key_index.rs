//! The index of keys.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use super::changes::{Change, asked_keys, asks_otherwise, part_changes};
use super::keys::{Keys, KeysBuilder};
use super::options_memo::OptionsMemo;
use super::readings::Readings;
use super::siblings::Siblings;
use crate::hiera::data::FileRefusal;
use crate::hiera::hierarchy::located::SharedCandidates;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::work::{self, Work};
use crate::text::{FilePath, Memo};

/// The index of one snapshot.
#[derive(Clone, Debug, Default)]
pub struct KeyIndex {
    pub(super) keys: Keys,
    /// The data of each file, in each way in which some level reads it.
    pub(super) readings: imbl::OrdMap<FilePath, Readings>,
    /// The files in the index that Puppet refuses or that could not be read, with whether the
    /// latter is the reason.
    refused: imbl::OrdMap<FilePath, bool>,
    /// The cycles of keys, computed when a search for a cycle exceeds its bound; shared between
    /// revisions until a key asks for another one.
    pub(super) circles: Arc<OnceLock<HashMap<Arc<str>, usize>>>,
    /// The facts about the options, shared between revisions until `lookup_options` change.
    pub(super) options: Arc<OptionsMemo>,
    /// The candidates that lookups have found, by the folder of the environment; shared between
    /// revisions until a definition comes or goes, or environments are laid out anew.
    pub(super) candidates: Arc<Memo<FilePath, Arc<SharedCandidates>>>,
}

impl KeyIndex {
    /// Returns the index of these files.
    pub(super) fn from_files(files: Vec<(&FilePath, Readings)>) -> KeyIndex {
        let mut index = KeyIndex::default();
        let mut keys = KeysBuilder::default();
        for (path, readings) in files {
            if readings.0.is_empty() {
                continue;
            }
            let parts = readings.0.iter().flat_map(|file| file.parts().iter());
            for data in parts.map(|part| &part.data) {
                let members = data.members.iter().filter_map(|(key, _)| key.as_str());
                members.for_each(|key| keys.add_definition(key, path));
                asked_keys(data).for_each(|(root, target)| keys.add_question(root, &target));
            }
            index.put_readings(path, readings);
        }
        index.keys = keys.build();
        index
    }

    /// Replaces the entries of a file.
    pub(super) fn replace_file(&mut self, path: &FilePath, old: &Readings, new: &Readings) {
        let changes = part_changes(old, new);
        let come = changes.iter().filter(|change| matches!(change, Change::Come(_)));
        come.for_each(|_| work::count_work(Work::Index));
        let has_options = changes.iter().any(|change| {
            let members = &change.changed_part().data.members;
            members.iter().any(|(key, _)| key.as_str() == Some(LOOKUP_OPTIONS))
        });
        if has_options {
            self.options = Arc::default();
        }
        if asks_otherwise(&changes) {
            self.circles = Arc::default();
            for change in &changes {
                for (root, target) in asked_keys(&change.changed_part().data) {
                    self.keys.count_question(root, &target, matches!(change, Change::Come(_)));
                }
            }
        }
        for change in &changes {
            for key in change.changed_part().data.members.iter().filter_map(|(key, _)| key.as_str())
            {
                let is_defined = has_key(new, key);
                if is_defined == has_key(old, key) {
                    continue; // as with most keys of a file that is read again
                }
                self.candidates = Arc::default();
                self.keys.count_definition(key, path, is_defined);
                self.keys.forget_unused(key);
            }
        }
    }

    /// Returns the files that define a root key, in the order of their paths.
    pub fn definitions(&self, key: &str) -> &[FilePath] {
        self.keys.definitions(key)
    }

    /// Returns the candidates that lookups in the environment in this folder have found.
    pub fn shared_candidates(&self, environment: &FilePath) -> Arc<SharedCandidates> {
        self.candidates.get_or(environment, Arc::default)
    }

    /// Returns an identity of all definitions: the same as long as none comes or goes.
    pub(super) fn definitions_id(&self) -> &Arc<()> {
        &self.keys.definitions_id
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

    /// Returns the files that some level reads and that Puppet refuses, or that could not be read, in
    /// order.
    pub fn refused_files(&self) -> impl Iterator<Item = &FilePath> {
        self.refused.keys()
    }

    /// Returns the files that some level reads and that could not be read, in order.
    pub fn unread_files(&self) -> impl Iterator<Item = &FilePath> {
        self.refused.iter().filter(|(_, is_unread)| **is_unread).map(|(path, _)| path)
    }

    /// Whether a file is one that some level reads and that could not be read.
    pub fn is_unread(&self, path: &FilePath) -> bool {
        self.refused.get(path).is_some_and(|is_unread| *is_unread)
    }

    /// Takes the data of a file, empty for a file that no level reads. Returns the data before.
    pub(super) fn put_readings(&mut self, path: &FilePath, readings: Readings) -> Readings {
        let refusals = readings.0.iter().filter_map(|data| data.refusal());
        match refusals.map(FileRefusal::is_ours).reduce(|one, other| one || other) {
            Some(is_unread) => drop(self.refused.insert(path.clone(), is_unread)),
            None => drop(self.refused.remove(path)),
        }
        let before = if readings.0.is_empty() {
            self.readings.remove(path)
        } else {
            self.readings.insert(path.clone(), readings)
        };
        before.unwrap_or_default()
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
    pub fn siblings_of(&self, key: &str) -> Siblings {
        Siblings::find_siblings(&self.keys.defined, key)
    }

    /// Returns the defined root key that was probably meant by another one of the same class or
    /// prefix.
    pub fn nearest_key(&self, key: &str) -> Option<Arc<str>> {
        Siblings::nearest_name(&self.keys.defined, key)
    }
}

fn has_key(readings: &Readings, key: &str) -> bool {
    readings.0.iter().any(|data| data.get(key).is_some())
}
