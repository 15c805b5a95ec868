//! Merge strategies: how the values that several locations, levels or layers hold for one key
//! become one value.
//!
//! Knows values and nothing of files or lookups. Every rule here follows Puppet 7.23 with
//! deep_merge 1.1.1, defects included; `tests/puppet/merges` compares both on random values.

use std::fmt;
use std::sync::Arc;

use crate::puppet::types::WrongType;
use crate::puppet::value::{Data, Hash, Member, Value};
use crate::text::budget::MAX_VALUE_PARTS;
use crate::text::{Bounds, Limit, Span};

mod accept;
mod deep;
mod folding;
mod order;
mod strategy;

pub use accept::may_refuse;
use folding::MergeFold;
pub use strategy::{DeepOptions, Strategy, StrategyError, parse_strategy};

/// Why two values could not be merged. `Display` gives Puppet's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// A value has a type that `unique` or `hash` does not take.
    WrongType(WrongType),
    /// `knockout_prefix` is no regular expression; found out only when a string has to be compared
    /// with it.
    BadKnockout {
        /// Ruby's message about the regular expression.
        message: String,
    },
    /// `knockout_prefix` is the empty string.
    EmptyKnockout,
    /// `knockout_prefix` together with `preserve_unmergeables`, which only the unconstrained
    /// strategies take.
    KnockoutPreserves,
    /// `sort_merged_arrays` compared two values that have no order.
    NotComparable {
        /// Ruby's class of the left value.
        left: &'static str,
        /// The right value as Ruby's message names it: its class, or itself where it is a number, a
        /// boolean or null.
        right: String,
        /// Where the left value was written.
        left_origin: Option<Span>,
        /// Where the right value was written.
        right_origin: Option<Span>,
    },
    /// The merge was cancelled, as no caller waits for it any more.
    Cancelled,
    /// The merge would have been more work, or a larger value, than one lookup may need.
    Exhausted(Limit),
}

/// One of the two values of a merge.
#[derive(Clone, Copy)]
enum Element {
    /// The value of higher priority.
    First,
    /// The value of lower priority.
    Second,
}

impl MergeError {
    /// Returns where the offending part was written; `None` when it is an option of the strategy,
    /// or no file holds it.
    pub fn origin(&self) -> Option<Span> {
        match self {
            MergeError::WrongType(error) => error.origin,
            MergeError::NotComparable { left_origin, right_origin, .. } => {
                left_origin.or(*right_origin)
            }
            MergeError::BadKnockout { .. }
            | MergeError::EmptyKnockout
            | MergeError::KnockoutPreserves
            | MergeError::Cancelled
            | MergeError::Exhausted(_) => None,
        }
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::WrongType(error) => error.fmt(f),
            MergeError::BadKnockout { message } => f.write_str(message),
            MergeError::EmptyKnockout => {
                f.write_str("knockout_prefix cannot be an empty string in deep_merge!")
            }
            MergeError::KnockoutPreserves => f.write_str(
                "overwrite_unmergeable must be true if knockout_prefix is specified in deep_merge!",
            ),
            MergeError::NotComparable { left, right, .. } => {
                write!(f, "comparison of {left} with {right} failed")
            }
            MergeError::Cancelled => f.write_str("left off: no caller waits for the merge"),
            MergeError::Exhausted(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for MergeError {}

/// Returns the merged value of `variants` places. The places are locations of a level, levels of a
/// layer, or layers: all three are folded alike, each with the results of the one below.
///
/// `next` is asked for the place of a number, highest priority first, and answers `None` when
/// nothing is found there. The strategies `first` and `default` ask no further once they have a
/// value, even `null`; all others ask for every place. The *number* of places decides what happens
/// to a lone value: with `unique`, the only place's list loses duplicates, while the only value of
/// several places is flattened and keeps them.
///
/// `None` when no place has a value. Errors: those of `next`, and the first merge that fails, is
/// cancelled or costs more than is left. Source: `MergeStrategy#lookup` of Puppet 7.23.
pub fn fold<E: From<MergeError>>(
    strategy: &Strategy,
    variants: usize,
    bounds: Bounds<'_>,
    next: &mut dyn FnMut(usize) -> Result<Option<Value>, E>,
) -> Result<Option<Value>, E> {
    if strategy.stops_at_first() {
        return (0..variants).find_map(|n| next(n).transpose()).transpose();
    }
    if variants == 1 {
        return Ok(next(0)?.map(|value| merge_single(strategy, value)));
    }
    bounds.budget.pay_steps(variants).map_err(MergeError::Exhausted)?;
    let mut folding = MergeFold::new(strategy, bounds);
    for n in 0..variants {
        if let Some(value) = next(n)? {
            folding.add(value)?;
        }
    }
    Ok(folding.into_value()?)
}

/// Applies a strategy to the value of the only place there is.
fn merge_single(strategy: &Strategy, value: Value) -> Value {
    match (strategy, value.data()) {
        (Strategy::Unique, Data::Array(items)) => {
            Value::new_array(order::without_duplicates(items.to_vec()), value.provenance())
        }
        _ => value,
    }
}

/// Applies a strategy to the first value of several places.
fn convert(strategy: &Strategy, value: Value) -> Value {
    match strategy {
        Strategy::Unique => {
            let mut items = Vec::new();
            flatten(&value, &mut items);
            Value::new_array(items, value.provenance())
        }
        _ => value,
    }
}

fn flatten(value: &Value, into: &mut Vec<Value>) {
    match value.data() {
        Data::Array(items) => items.iter().for_each(|item| flatten(item, into)),
        _ => into.push(value.clone()),
    }
}

fn into_hash(value: Value) -> Hash {
    match value.into_parts().0 {
        Data::Hash(hash) => Arc::unwrap_or_clone(hash),
        _ => Hash::default(),
    }
}

/// Returns the member that a key has once `value` is put under it; `key_origin` is where the
/// winning key was written.
fn new_member(key_origin: Option<Span>, value: Value) -> Member {
    Member { key_origin, value }
}

#[cfg(test)]
mod tests;
