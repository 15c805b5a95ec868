//! The values that `unique` and `hash` accept.

use std::sync::LazyLock;

use super::{Element, MergeError, Strategy};
use crate::puppet::types::{self, DataType};
use crate::puppet::value::{Data, Hash, Value};

static UNIQUE: LazyLock<DataType> =
    LazyLock::new(|| types::parse_known("Variant[Scalar,Array[Data]]"));
static HASH: LazyLock<DataType> = LazyLock::new(|| types::parse_known("Hash[String,Data]"));

/// Whether a strategy could refuse a value as it is written. Tokens leave a text a text, but for
/// `alias`, which stands for a value of any type.
pub fn may_refuse(strategy: &Strategy, value: &Value) -> bool {
    let is_refused = match strategy {
        Strategy::Unique => check_unique(Element::First, value).is_err(),
        Strategy::Hash => check_hash(Element::First, value).is_err(),
        _ => return false,
    };
    is_refused || value.is_live() && may_hold_alias(value)
}

fn may_hold_alias(value: &Value) -> bool {
    match value.data() {
        Data::String(text) => text.contains("alias"),
        Data::Array(items) => items.iter().any(may_hold_alias),
        Data::Hash(hash) => hash.values().any(|member| may_hold_alias(&member.value)),
        _ => false,
    }
}

pub(super) fn check_unique(element: Element, value: &Value) -> Result<(), MergeError> {
    let is_plain = match value.data() {
        Data::Array(items) => items.iter().all(is_data),
        data => is_scalar(data),
    };
    if is_plain { Ok(()) } else { check(element, &UNIQUE, value) }
}

pub(super) fn check_hash(element: Element, value: &Value) -> Result<(), MergeError> {
    let is_plain = value.as_hash().is_some_and(is_data_hash);
    if is_plain { Ok(()) } else { check(element, &HASH, value) }
}

fn check(element: Element, data_type: &DataType, value: &Value) -> Result<(), MergeError> {
    let subject = match element {
        Element::First => "The first element of the merge",
        Element::Second => "The second element of the merge",
    };
    types::assert_type(subject, data_type, value).map_err(MergeError::WrongType)
}

// The next functions decide most checks quickly, as nearly all values are data.

fn is_data(value: &Value) -> bool {
    match value.data() {
        Data::Array(items) => items.iter().all(is_data),
        Data::Hash(hash) => is_data_hash(hash),
        Data::Null => true,
        data => is_scalar(data),
    }
}

fn is_data_hash(hash: &Hash) -> bool {
    hash.iter().all(|(key, member)| matches!(key.data(), Data::String(_)) && is_data(&member.value))
}

fn is_scalar(data: &Data) -> bool {
    matches!(
        data,
        Data::String(_) | Data::Bool(_) | Data::Integer(_) | Data::BigInteger(_) | Data::Float(_)
    )
}
