//! Duplicates and order of list elements as Ruby sees them.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher};

use super::MergeError;
use crate::puppet::ruby::inspect::float_text;
use crate::puppet::value::{Data, Hash, Value};

/// How many values are compared one by one with each other sooner than remembered.
const FEW: usize = 8;

/// Returns whether the values are but a few, and all distinct.
pub(super) fn are_few_and_distinct(items: &[Value]) -> bool {
    items.len() <= FEW && items.iter().enumerate().all(|(n, item)| !items[..n].contains(item))
}

/// Returns the values without those that equal an earlier one.
pub(super) fn without_duplicates(items: Vec<Value>) -> Vec<Value> {
    if are_few_and_distinct(&items) {
        return items;
    }
    let mut distinct = Distinct::default();
    items.into_iter().for_each(|item| distinct.add(item));
    distinct.kept
}

/// Distinct values, in the order in which they came.
#[derive(Default)]
pub(super) struct Distinct {
    seen: HashSet<Digested>,
    /// The values.
    pub(super) kept: Vec<Value>,
}

impl Distinct {
    /// Adds a value, unless there is one that equals it.
    pub(super) fn add(&mut self, value: Value) {
        if self.kept.len() < FEW {
            if !self.kept.contains(&value) {
                self.kept.push(value);
            }
            return;
        }
        if self.seen.is_empty() {
            self.seen.extend(self.kept.iter().map(digest_value));
        }
        if self.seen.insert(digest_value(&value)) {
            self.kept.push(value);
        }
    }
}

fn digest_value(value: &Value) -> Digested {
    Digested { digest: hash_data(value.data()), value: value.clone() }
}

/// A value with a hash code of its full content. The hash code of a [`Value`] ignores the members
/// of a hash, and long lists of similar hashes are common.
struct Digested {
    digest: u64,
    value: Value,
}

impl PartialEq for Digested {
    fn eq(&self, other: &Digested) -> bool {
        self.digest == other.digest && self.value == other.value
    }
}

impl Eq for Digested {}

impl std::hash::Hash for Digested {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest);
    }
}

fn hash_data(data: &Data) -> u64 {
    let mut state = DefaultHasher::new();
    match data {
        Data::Array(items) => items.iter().for_each(|item| state.write_u64(hash_data(item.data()))),
        // The order of members does not count, so their digests are summed.
        Data::Hash(hash) => {
            state.write_u64(hash.iter().fold(0, |sum: u64, (key, entry)| {
                sum.wrapping_add(hash_member(key.data(), entry.value.data()))
            }));
        }
        other => other.hash(&mut state),
    }
    state.finish()
}

fn hash_member(key: &Data, value: &Data) -> u64 {
    hash_data(key).rotate_left(1) ^ hash_data(value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns the values in Ruby's order.
///
/// Errors: [`MergeError::NotComparable`] with the pair that Ruby stumbles over first, which depends
/// on the algorithm: the merge sort of the GNU C library, which halves a list and compares the
/// heads of the sorted halves.
pub(super) fn sort(mut items: Vec<Value>) -> Result<Vec<Value>, MergeError> {
    if items.len() < 2 {
        return Ok(items);
    }
    let right = items.split_off(items.len() / 2);
    merge_halves(sort(items)?, sort(right)?)
}

fn merge_halves(left: Vec<Value>, right: Vec<Value>) -> Result<Vec<Value>, MergeError> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let ordering = compare(a, b).ok_or_else(|| MergeError::NotComparable {
            left: a.class_name(),
            right: name_in_message(b),
            left_origin: a.origin,
            right_origin: b.origin,
        })?;
        merged.extend(if ordering == Ordering::Greater { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

/// Ruby's `<=>`; `None` where it gives nil.
fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a.data(), b.data()) {
        (Data::String(a), Data::String(b)) | (Data::Symbol(a), Data::Symbol(b)) => {
            Some(a.as_bytes().cmp(b.as_bytes()))
        }
        (Data::Binary(a), Data::Binary(b)) => Some(a.cmp(b)),
        (Data::Binary(a), Data::String(b)) => Some((**a).cmp(b.as_bytes())),
        (Data::String(a), Data::Binary(b)) => Some(a.as_bytes().cmp(b)),
        (Data::Array(a), Data::Array(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                match compare(a, b)? {
                    Ordering::Equal => {}
                    ordering => return Some(ordering),
                }
            }
            Some(a.len().cmp(&b.len()))
        }
        (a, b) if is_number(a) && is_number(b) => compare_numbers(a, b),
        (a, b) => loosely_equal(a, b).then_some(Ordering::Equal),
    }
}

fn is_number(data: &Data) -> bool {
    matches!(data, Data::Integer(_) | Data::BigInteger(_) | Data::Float(_))
}

fn compare_numbers(a: &Data, b: &Data) -> Option<Ordering> {
    match (a, b) {
        (Data::Integer(a), Data::Integer(b)) => Some(a.cmp(b)),
        (Data::Float(a), Data::Float(b)) => a.partial_cmp(b),
        (Data::Float(a), b) => compare_float(*a, b),
        (a, Data::Float(b)) => compare_float(*b, a).map(Ordering::reverse),
        (a, b) => {
            let (a, b) = (decimal_text(a), decimal_text(b));
            let (a_negative, b_negative) = (a.starts_with('-'), b.starts_with('-'));
            let magnitude = a.len().cmp(&b.len()).then_with(|| a.cmp(&b));
            Some(match (a_negative, b_negative) {
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => magnitude,
                (true, true) => magnitude.reverse(),
            })
        }
    }
}

fn decimal_text(data: &Data) -> String {
    match data {
        Data::Integer(value) => value.to_string(),
        Data::BigInteger(digits) => digits.to_string(),
        _ => String::new(),
    }
}

/// Compares a float with an integer without rounding the integer.
fn compare_float(float: f64, integer: &Data) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.is_infinite() {
        return Some(if float > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    let whole = format!("{:.0}", float.trunc());
    let whole = if whole == "-0" { "0".into() } else { whole };
    let ordering = compare_numbers(
        &Data::BigInteger(whole.into()),
        &Data::BigInteger(decimal_text(integer).into()),
    )?;
    Some(ordering.then_with(|| float.fract().partial_cmp(&0.0).unwrap_or(Ordering::Equal)))
}

/// Ruby's `==`, which calls `1` and `1.0` equal where `eql?` does not.
fn loosely_equal(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (a, b) if is_number(a) && is_number(b) => compare_numbers(a, b) == Some(Ordering::Equal),
        (Data::Array(a), Data::Array(b)) => {
            a.len() == b.len()
                && a.iter().zip(b.iter()).all(|(a, b)| loosely_equal(a.data(), b.data()))
        }
        (Data::Hash(a), Data::Hash(b)) => loosely_equal_hashes(a, b),
        (a, b) => a == b,
    }
}

fn loosely_equal_hashes(a: &Hash, b: &Hash) -> bool {
    a.len() == b.len()
        && a.iter().all(|(key, member)| {
            b.get(key).is_some_and(|other| loosely_equal(member.value.data(), other.value.data()))
        })
}

/// Returns the name of Y in Ruby's "comparison of X with Y failed".
fn name_in_message(value: &Value) -> String {
    match value.data() {
        Data::Null => "nil".into(),
        Data::Bool(value) => value.to_string(),
        // Ruby names longer integers by their class, as they are objects of their own.
        Data::Integer(value) if (-(1 << 62)..1 << 62).contains(value) => value.to_string(),
        Data::Float(value) => float_text(*value),
        Data::Symbol(name) => format!(":{name}"),
        _ => value.class_name().into(),
    }
}
