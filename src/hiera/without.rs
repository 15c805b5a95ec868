//! The value of a merge without the part that one file gives to it.
//!
//! The candidates of a lookup that was made are merged once more. No file is looked into, so that
//! this answers nothing where the locations that were asked might be others without that file.

use std::sync::Arc;

use super::config::Layer;
use super::merge::{MergeError, Strategy, fold};
use super::resolution::{LookupStep, Outcome, Resolution};
use crate::puppet::value::{Data, Value};
use crate::text::{Bounds, FilePath};

impl Resolution {
    /// Returns whether the file at `path` gives the value nothing, neither a part nor the order of
    /// the keys: another file has the key, and the candidates of the others merge to the same.
    ///
    /// `false` where this is not certain: where the first value found is taken, where the value is
    /// converted or in doubt, where members are knocked out, and for files of modules, without
    /// whose candidate Puppet would ask the levels of `default_hierarchy`.
    pub fn merges_nothing_of(&self, path: &FilePath, bounds: Bounds<'_>) -> bool {
        let Ok(Some(value)) = &self.value else { return false };
        let is_settled = self.unsettled.is_empty() && self.unsettled_levels.is_empty();
        let is_plain = self.convert_to.is_none() && !knocks_out(&self.merge);
        if self.merge.stops_at_first() || !is_settled || !is_plain {
            return false;
        }
        let own = self.steps.iter().filter(|step| is_of(step, path));
        let (mut is_there, mut is_of_module) = (false, false);
        for step in own {
            is_there = true;
            is_of_module |= matches!(step.layer, Layer::Module(_));
        }
        if !is_there || is_of_module {
            return false;
        }
        let others: Vec<&Value> =
            self.steps.iter().filter(|step| !is_of(step, path)).filter_map(found_value).collect();
        // The number of places that a merge asks decides whether the merge changes a lone value.
        let is_alone_the_same = match &others[..] {
            [] => false,
            [only] => is_same_in_order(only, value),
            _ => true,
        };
        // The first merge makes sure that the candidates are merged here as the lookup did.
        is_alone_the_same
            && is_merged_value(self.merged_again(bounds, &|_| true), value)
            && is_merged_value(self.merged_again(bounds, &|step| !is_of(step, path)), value)
    }

    /// Merges the candidates of the steps that `counts` names: locations to levels, levels to
    /// layers, and layers.
    fn merged_again(
        &self,
        bounds: Bounds<'_>,
        counts: &dyn Fn(&LookupStep) -> bool,
    ) -> Result<Option<Value>, MergeError> {
        let merge = &self.merge;
        let layers: Vec<&[LookupStep]> = self.steps.chunk_by(|a, b| a.layer == b.layer).collect();
        fold(merge, layers.len(), bounds, &mut |layer| {
            let levels: Vec<&[LookupStep]> =
                layers[layer].chunk_by(|a, b| Arc::ptr_eq(&a.level, &b.level)).collect();
            fold(merge, levels.len(), bounds, &mut |level| {
                let steps = levels[level];
                fold(merge, steps.len(), bounds, &mut |number| {
                    let step = Some(&steps[number]).filter(|step| counts(step));
                    Ok::<_, MergeError>(step.and_then(found_value).cloned())
                })
            })
        })
    }
}

fn is_merged_value(merged: Result<Option<Value>, MergeError>, value: &Value) -> bool {
    matches!(merged, Ok(Some(merged)) if is_same_in_order(&merged, value))
}

fn found_value(step: &LookupStep) -> Option<&Value> {
    match &step.outcome {
        Outcome::Found { value, .. } => Some(value),
        _ => None,
    }
}

fn is_of(step: &LookupStep, path: &FilePath) -> bool {
    matches!(&step.outcome, Outcome::Found { path: found, .. } if found == path)
}

fn knocks_out(strategy: &Strategy) -> bool {
    match strategy {
        Strategy::Deep(options)
        | Strategy::UnconstrainedDeep(options)
        | Strategy::ReverseDeep(options) => options.knockout_prefix.is_some(),
        _ => false,
    }
}

/// Returns whether two values are equal and their hashes have their keys in the same order.
fn is_same_in_order(one: &Value, other: &Value) -> bool {
    match (one.data(), other.data()) {
        (Data::Hash(one), Data::Hash(other)) => {
            one.len() == other.len()
                && one.iter().zip(&**other).all(|((key, a), (known, b))| {
                    key == known && is_same_in_order(&a.value, &b.value)
                })
        }
        (Data::Array(one), Data::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(&**other).all(|(a, b)| is_same_in_order(a, b))
        }
        _ => one == other,
    }
}
