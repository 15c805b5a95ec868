//! A fold in progress: the cost of each added value depends on its own size, not on the values
//! merged before.
//!
//! Puppet merges two values at a time, and so reads its merged value again for each further one.
//! Lists of distinct elements and hashes are kept open here until the last value has come. Only
//! `deep` reads the merged value again, as its result depends on the order of the steps.

use std::cell::OnceCell;

use super::strategy::Strategy;
use super::{
    Bounds, Element, MAX_VALUE_PARTS, MergeError, accept, convert, deep, flatten, into_hash, order,
};
use crate::puppet::value::{Hash, Provenance, Value};
use crate::text::Limit;

/// The values so far.
pub(super) enum Memo {
    /// None.
    Empty,
    /// One value, converted as the strategy converts a single value.
    One(Value),
    /// The elements so far, for `unique`.
    List(order::Distinct, Provenance),
    /// The hashes so far, highest first, for `hash`.
    Hashes(Vec<Value>, Provenance),
}

/// A strategy in use; keeps costly parts from one merge to the next.
pub(super) struct MergeFold<'s> {
    strategy: &'s Strategy,
    bounds: Bounds<'s>,
    knockout: OnceCell<Result<deep::Knockout, MergeError>>,
    pub(super) memo: Memo,
}

impl<'s> MergeFold<'s> {
    pub(super) fn new(strategy: &'s Strategy, bounds: Bounds<'s>) -> MergeFold<'s> {
        MergeFold { strategy, bounds, knockout: OnceCell::new(), memo: Memo::Empty }
    }

    /// Adds the value of a lower priority than all before.
    pub(super) fn add(&mut self, lower: Value) -> Result<(), MergeError> {
        let higher = match &self.memo {
            Memo::One(value) => u64::from(value.weight()),
            _ => 0,
        };
        let parts = higher + u64::from(lower.weight());
        self.bounds.budget.pay_parts(parts).map_err(MergeError::Exhausted)?;
        self.memo = match std::mem::replace(&mut self.memo, Memo::Empty) {
            Memo::Empty => Memo::One(convert(self.strategy, lower)),
            memo => self.merge_lower(memo, lower)?,
        };
        Ok(())
    }

    /// `unique`: lists without their nesting, the higher first, each element once. A scalar counts
    /// as a list of it. Elements are equal where Ruby's `eql?` holds: `1`, `1.0` and `"1"` are
    /// three elements. Of equal elements the first stays, with its origin. `hash`: the higher wins
    /// for keys that both have; the lower's keys come first, then those that only the higher has.
    /// Not recursive.
    ///
    /// The merged value has the origin of the highest. Errors: [`MergeError::WrongType`] for a
    /// value that `unique` or `hash` does not accept. Source: `UniqueMergeStrategy` and
    /// `HashMergeStrategy` of Puppet 7.23.
    fn merge_lower(&self, memo: Memo, lower: Value) -> Result<Memo, MergeError> {
        let bounds = self.bounds;
        Ok(match (self.strategy, memo) {
            (_, Memo::Empty) => Memo::One(lower),
            (Strategy::Unique, Memo::One(higher)) => {
                accept::check_unique(Element::First, &higher)?;
                let from = higher.provenance();
                let mut items = Vec::new();
                flatten(&higher, &mut items);
                let mut list = order::Distinct::default();
                items.into_iter().for_each(|item| list.add(item));
                self.merge_lower(Memo::List(list, from), lower)?
            }
            (_, Memo::List(mut list, from)) => {
                accept::check_unique(Element::Second, &lower)?;
                let mut items = Vec::new();
                flatten(&lower, &mut items);
                items.into_iter().for_each(|item| list.add(item));
                Memo::List(list, from.with_marks(lower.provenance()))
            }
            (Strategy::Hash, Memo::One(higher)) => {
                accept::check_hash(Element::First, &higher)?;
                let from = higher.provenance();
                self.merge_lower(Memo::Hashes(vec![higher], from), lower)?
            }
            (_, Memo::Hashes(mut hashes, from)) => {
                accept::check_hash(Element::Second, &lower)?;
                let from = from.with_marks(lower.provenance());
                hashes.push(lower);
                Memo::Hashes(hashes, from)
            }
            (Strategy::First | Strategy::Default, higher) => higher,
            (Strategy::Deep(options) | Strategy::UnconstrainedDeep(options), Memo::One(higher)) => {
                let merge = deep::DeepMerge::new(options, &self.knockout, bounds.cancel)?;
                Memo::One(check_size(merge.merge(higher, lower)?)?)
            }
            (Strategy::ReverseDeep(options), Memo::One(higher)) => {
                let merge = deep::DeepMerge::new(options, &self.knockout, bounds.cancel)?;
                Memo::One(check_size(merge.merge(lower, higher)?)?)
            }
        })
    }

    /// Returns the merged value; `None` where none was added.
    pub(super) fn into_value(self) -> Result<Option<Value>, MergeError> {
        match self.memo {
            Memo::Empty => Ok(None),
            Memo::One(value) => Ok(Some(value)),
            Memo::List(list, from) => check_size(Value::new_array(list.kept, from)).map(Some),
            Memo::Hashes(hashes, from) => {
                // Ruby calls `lower.merge(higher)` for one hash after the other, so that the keys
                // of the lowest hash come first.
                let mut merged = Hash::default();
                hashes.into_iter().rev().for_each(|hash| {
                    if merged.is_empty() {
                        merged = into_hash(hash)
                    } else {
                        merged.extend(into_hash(hash))
                    }
                });
                check_size(Value::hash(merged, from)).map(Some)
            }
        }
    }
}

fn check_size(value: Value) -> Result<Value, MergeError> {
    if value.weight() > MAX_VALUE_PARTS {
        Err(MergeError::Exhausted(Limit::ValueParts))
    } else {
        Ok(value)
    }
}
