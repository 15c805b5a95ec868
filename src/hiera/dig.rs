//! Subkeys: the parts of a value that a dotted key, or a dotted variable, asks for.

use super::error::{LookupError, LookupErrorKind};
use super::key::{KeySegment, LookupKey};
use crate::puppet::ruby::inspect::inspect;
use crate::puppet::value::{Data, Value};

/// Digs the subkeys of `key` out of its root value.
///
/// `None` when a part is missing. Errors: a part of a value that is neither hash nor list. Source:
/// semantics 3.3.
pub fn dig(root: &Value, key: &LookupKey) -> Result<Option<Value>, LookupError> {
    dig_watched(root, key, &mut |_, _| {})
}

/// The outcome of digging for a subkey.
pub enum DigOutcome<'a> {
    /// A part of the value.
    Part(&'a Value),
    /// Nothing.
    Missing,
    /// A value without parts of that kind; digging fails.
    Mismatch,
}

/// Like [`dig`]; also reports the outcome for each subkey to `watch`.
pub fn dig_watched(
    root: &Value,
    key: &LookupKey,
    watch: &mut dyn FnMut(&KeySegment, DigOutcome<'_>),
) -> Result<Option<Value>, LookupError> {
    let mut current = root.clone();
    for segment in &key.subkeys {
        let next = match (current.data(), segment) {
            (Data::Null, _) => None,
            (Data::Array(items), KeySegment::Index(index)) => {
                usize::try_from(*index).ok().and_then(|index| items.get(index)).cloned()
            }
            (Data::Hash(hash), KeySegment::Name(name)) => {
                hash.get(&**name).map(|member| member.value.clone())
            }
            (Data::Hash(hash), KeySegment::Index(index)) => {
                hash.get(index).map(|member| member.value.clone())
            }
            // Ruby's numbers and symbols have parts but no members, and lack the method `include?`.
            (Data::Integer(_) | Data::BigInteger(_) | Data::Symbol(_), _) => {
                watch(segment, DigOutcome::Mismatch);
                let mut text = String::new();
                inspect(current.data(), &mut text);
                return Err(LookupError::crash(format!(
                    "undefined method `include?' for {text}:{}",
                    current.class_name()
                )));
            }
            _ => {
                watch(segment, DigOutcome::Mismatch);
                let (class, segment) = (current.class_name(), segment.to_string());
                let kind =
                    LookupErrorKind::DigMismatch { class, segment, key: key.text.to_string() };
                return Err(LookupError::new(kind, current.origin));
            }
        };
        watch(segment, next.as_ref().map_or(DigOutcome::Missing, DigOutcome::Part));
        match next {
            Some(value) => current = value,
            None => return Ok(None),
        }
    }
    Ok(Some(current))
}
