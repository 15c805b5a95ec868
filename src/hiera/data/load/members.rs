//! The members of one mapping while it is read, and the problems of its repeated keys.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::{DataFormat, ProblemKind};
use crate::puppet::value::{Data, Hash, Key, Member, Value};
use crate::text::Span;

/// The hash of a mapping that is being read.
pub(super) struct MappingMembers {
    /// The members so far, those of merge keys among them.
    pub(super) hash: Hash,
    /// The places of the keys that are written in the mapping itself.
    written: HashMap<Key, Option<Span>, foldhash::fast::RandomState>,
}

impl MappingMembers {
    /// Returns an empty collection with room for `count` members.
    pub(super) fn with_capacity(count: usize) -> MappingMembers {
        MappingMembers {
            hash: Hash::with_capacity(count),
            written: HashMap::with_capacity_and_hasher(count, Default::default()),
        }
    }

    /// Adds a member; the last one of a key wins. For a key that the mapping already has, returns
    /// the problem and the place of the earlier key.
    pub(super) fn add(&mut self, key: Key, member: Member) -> Option<(ProblemKind, Option<Span>)> {
        let repeated = self.written.insert(key.clone(), member.key_origin).map(|first| {
            let before = self.hash.get(&key);
            let is_equal = before.is_some_and(|before| before.value == member.value);
            let key = key.to_text().into_owned();
            (ProblemKind::DuplicateKey { key, is_equal }, first)
        });
        self.hash.insert(key, member);
        repeated
    }
}

/// Returns a value as the key of a mapping: in YAML, a symbol becomes a string.
pub(super) fn mapping_key(value: Value, format: DataFormat) -> Key {
    let (data, from) = value.into_parts();
    let data = match (data, format) {
        (Data::Symbol(name), DataFormat::Yaml) => Data::String(name),
        (data, _) => data,
    };
    Key::new(data, from)
}

/// Returns the text of a key, for a value that may be of any type.
pub(super) fn key_text(value: &Value) -> Arc<str> {
    match value.data() {
        Data::String(name) => name.clone(),
        _ => Key::from(value.clone()).to_text().as_ref().into(),
    }
}
