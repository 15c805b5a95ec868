//! Collections whose tag changes their type: lists that are ordered hashes, and mappings that are
//! strings.

use super::super::FileRefusal;
use crate::puppet::ruby::inspect::inspect;
use crate::puppet::value::{Data, Hash, Key, Member, Value};

/// Returns the member of the ordered hash for an item of an `!!omap`. Psych uses the item's first
/// part as the key and its last part as the value: for a mapping the first key and the last value,
/// for a list the first and the last element. `None` for an item that is neither, or empty; Ruby
/// fails for these.
pub(super) fn member_of_omap(item: &Value) -> Option<(Key, Member)> {
    match item.data() {
        Data::Hash(members) => {
            let (key, first) = members.iter().next()?;
            let (_, last) = members.iter().next_back()?;
            let member = Member { key_origin: first.key_origin, value: last.value.clone() };
            Some((key.clone(), member))
        }
        Data::Array(items) => {
            let (key, value) = items.first().zip(items.last())?;
            let member = Member { key_origin: key.origin, value: value.clone() };
            Some((Key::from(key.clone()), member))
        }
        _ => None,
    }
}

/// Returns Ruby's error for an item of an `!!omap` that gives no member.
pub(super) fn no_member() -> FileRefusal {
    FileRefusal::Ruby("undefined method `first' for nil:NilClass".to_owned())
}

/// Returns Ruby's error for a mapping that is tagged as a string, if there is one. Psych uses the
/// member `str`, here `value`, as the string, and sets all others as instance variables of it.
pub(super) fn refusal_of_text(hash: &Hash, value: &Value) -> Option<FileRefusal> {
    let first = hash.keys().find(|key| key.as_str() != Some("str"))?;
    let name = first.to_text();
    let name = name.strip_prefix('@').unwrap_or(&name);
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_' || !c.is_ascii())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || !c.is_ascii());
    if !is_name {
        let message = format!("`@{name}' is not allowed as an instance variable name");
        return Some(FileRefusal::Ruby(message));
    }
    if matches!(value.data(), Data::String(_) | Data::Array(_) | Data::Hash(_)) {
        return None;
    }
    let mut message = format!("can't modify frozen {}: ", value.class_name());
    inspect(value.data(), &mut message);
    Some(FileRefusal::Ruby(message))
}
