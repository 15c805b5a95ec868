//! Collections that a tag makes something else: ordered hashes, and strings.

use super::super::Refusal;
use crate::puppet::ruby::inspect::inspect;
use crate::puppet::value::{Data, Hash, Key, Member, Value};

/// Returns the member that an item of an `!!omap` is: Psych takes the first thing in it for a key
/// and the last for its value, be it a mapping or a list. `None` for an item that is neither, or
/// empty, for which Ruby fails.
pub(super) fn member_of_omap(item: &Value) -> Option<(Key, Member)> {
    match item.data() {
        Data::Hash(members) => {
            let ((key, first), (_, last)) = members.first().zip(members.last())?;
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

/// The error of Ruby for an item of an `!!omap` that is no member.
pub(super) fn no_member() -> Refusal {
    Refusal::Ruby("undefined method `first' for nil:NilClass".to_owned())
}

/// Returns the error of Ruby for a mapping tagged as a string, if there is one: Psych takes the
/// member `str` for the string, here `value`, and all others for variables of that object.
pub(super) fn refusal_of_text(hash: &Hash, value: &Value) -> Option<Refusal> {
    let first = hash.keys().find(|key| key.as_str() != Some("str"))?;
    let name = first.to_text();
    let name = name.strip_prefix('@').unwrap_or(&name);
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_' || !c.is_ascii())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || !c.is_ascii());
    if !is_name {
        let message = format!("`@{name}' is not allowed as an instance variable name");
        return Some(Refusal::Ruby(message));
    }
    if matches!(value.data(), Data::String(_) | Data::Array(_) | Data::Hash(_)) {
        return None;
    }
    let mut message = format!("can't modify frozen {}: ", value.class_name());
    inspect(value.data(), &mut message);
    Some(Refusal::Ruby(message))
}
