//! The name under the cursor: in data, in a `hiera.yaml`, or in code.

use std::sync::Arc;

use super::code::name_in_code;
use super::variables::variable_at;
use crate::hiera::key::{KeySegment, LookupKey};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::ide::cursor::{KeyPath, KeyStep, SubjectKind, under_cursor};
use crate::puppet::value::{Data, Key};
use crate::text::{FilePosition, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// A name at a place.
#[derive(Clone, Debug)]
pub(in crate::ide) struct Named {
    /// The environments of the name: all that read the file.
    pub(in crate::ide) environments: Vec<Arc<Environment>>,
    /// The bytes of the name; of a key in data with its quotes.
    pub(in crate::ide) range: TextRange,
    /// The thing that the name stands for.
    pub(in crate::ide) name: Name,
}

/// The thing that a name names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ide) enum Name {
    /// A key, or a part of its value.
    Key(KeyPart),
    /// All keys that a pattern of `lookup_options` matches.
    Pattern(Arc<str>),
    /// A variable of a scope, or a part of it.
    Variable(KeyPart),
}

/// A root key, or a part of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ide) struct KeyPart {
    /// The root key.
    pub(in crate::ide) root: Arc<str>,
    /// The way from the root key's value to the part.
    pub(in crate::ide) subkeys: Vec<KeySegment>,
}

impl KeyPart {
    /// Returns a root key as a whole.
    pub(in crate::ide) fn of_root(root: &str) -> KeyPart {
        KeyPart { root: root.into(), subkeys: Vec::new() }
    }

    /// Returns the first parts of a dotted key, up to the one at a byte of its text, and the bytes
    /// of that one.
    pub(in crate::ide) fn up_to(key: &LookupKey, byte: Option<u32>) -> (KeyPart, TextRange) {
        let ranges = key.segment_ranges();
        let last = ranges.len().saturating_sub(1);
        let reached = byte.and_then(|byte| ranges.iter().position(|range| byte <= range.end));
        let number = reached.unwrap_or(last);
        let subkeys = key.subkeys.iter().take(number).cloned().collect();
        let range = ranges.get(number).copied().unwrap_or_default();
        (KeyPart { root: key.root_text(), subkeys }, range)
    }

    fn of_path(path: &KeyPath) -> KeyPart {
        KeyPart {
            root: path.root.clone(),
            subkeys: path
                .steps
                .iter()
                .map(|step| match step {
                    KeyStep::Member(key) => segment_of(key),
                    KeyStep::Element { index, .. } => {
                        KeySegment::Index(i64::try_from(*index).unwrap_or(i64::MAX))
                    }
                })
                .collect(),
        }
    }
}

fn segment_of(key: &Key) -> KeySegment {
    match key.data() {
        Data::Integer(number) => KeySegment::Index(*number),
        _ => KeySegment::Name(key.to_text().as_ref().into()),
    }
}

/// Returns the name at a place; `None` where there is none.
pub(in crate::ide) fn named_at(snapshot: &Snapshot, position: FilePosition) -> Option<Named> {
    let path = snapshot.path_of(position.file)?;
    let environments: Vec<_> =
        snapshot.environments().governing_environments(path).cloned().collect();
    if environments.is_empty() {
        return name_in_code(snapshot, position);
    }
    let subject = under_cursor(snapshot, position)?;
    let (name, range) = match subject.kind {
        SubjectKind::Key(path) => (name_of_path(&path), subject.range),
        SubjectKind::Reference(key) | SubjectKind::Parameter(key) => {
            let (part, range) = part_at(snapshot, position, subject.range, &key);
            (Name::Key(part), range)
        }
        SubjectKind::Variable(key) => {
            let (part, range) = part_at(snapshot, position, subject.range, &key);
            (Name::Variable(part), range)
        }
        SubjectKind::Location { template, .. } => {
            let (key, range) = variable_at(snapshot, &template, position.offset)?;
            let (part, range) = part_at(snapshot, position, range, &key);
            (Name::Variable(part), range)
        }
        SubjectKind::Backend(_) | SubjectKind::Alias { .. } => return None,
    };
    Some(Named { environments, range, name })
}

/// Returns the part of a key that the cursor is at, and its bytes: the whole key where it is
/// written with escapes.
fn part_at(
    snapshot: &Snapshot,
    position: FilePosition,
    range: TextRange,
    key: &LookupKey,
) -> (KeyPart, TextRange) {
    let text = snapshot.file_by_id(position.file).and_then(|file| file.text());
    let is_plain = text.is_some_and(|text| text.slice(range) == *key.text);
    if !is_plain || !range.touches_offset(position.offset) {
        return (KeyPart::up_to(key, None).0, range);
    }
    let (part, segment) = KeyPart::up_to(key, Some(position.offset - range.start));
    (part, segment.offset_by(range.start))
}

/// An entry of `lookup_options` names the key that it is for, or the keys that it matches.
fn name_of_path(path: &KeyPath) -> Name {
    if let (LOOKUP_OPTIONS, [KeyStep::Member(key)]) = (&*path.root, path.steps.as_slice())
        && let Some(key) = key.as_arc()
    {
        return if key.starts_with('^') {
            Name::Pattern(key.clone())
        } else {
            Name::Key(KeyPart::of_root(key))
        };
    }
    Name::Key(KeyPart::of_path(path))
}
