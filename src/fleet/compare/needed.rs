//! Entries that a reader of their file certainly needs: one lookup tells, and no copy of the
//! snapshot without the entry is made.

use super::{ComparedSide, Comparer};
use crate::fleet::node_caches::CachedScope;
use crate::hiera::merge::{DeepOptions, MergeError, Strategy, fold};
use crate::hiera::resolution::{LookupStep, Outcome, Resolution};
use crate::puppet::value::Value;
use crate::text::{Bounds, Budget, FilePath};
use crate::workspace::environments::Environment;

impl Comparer<'_> {
    /// Whether the least reader of a file, a node with the variables of the file's path alone,
    /// certainly gets another value of a root key without the file's entry, in one of the ways in
    /// which the key is read.
    pub fn is_needed(&self, environment: &Environment, key: &str, path: &FilePath) -> bool {
        let all = self.before.environments().all.iter().zip(&self.caches);
        let mut governing = all.filter(|(one, _)| std::ptr::eq(&***one, environment));
        let Some((_, caches)) = governing.next() else { return false };
        let side = ComparedSide { snapshot: self.before, environment, caches };
        let scope = self.before.inferred_scope(environment, path);
        let cached = CachedScope::ReaderOf(path.clone());
        side.ways(key).iter().any(|way| {
            self.effort.spend_shared_lookup();
            let found = side.lookup_whole(key, way, (&scope, &cached));
            let rest = self.value_without(&found, path);
            rest.is_some_and(|rest| found.value.is_ok_and(|value| value != Some(rest)))
        })
    }

    /// Returns the value that a lookup has without the entry of a file; `None` where the steps of
    /// the lookup do not decide the value.
    fn value_without(&self, found: &Resolution, path: &FilePath) -> Option<Value> {
        let value = |step: &LookupStep| match &step.outcome {
            Outcome::Found { path, value, .. } => {
                Some((step.layer.clone(), path.clone(), value.clone()))
            }
            _ => None,
        };
        let values: Vec<_> = found.steps.iter().filter_map(value).collect();
        let (layer, ..) = values.first()?;
        let is_decided = found.convert_to.is_none()
            && values.iter().all(|(of, ..)| of == layer)
            && values.iter().any(|(_, of, _)| of == path)
            && found.steps.iter().all(is_of_data);
        if !is_decided {
            return None;
        }
        let rest = values.into_iter().filter(|(_, of, _)| of != path);
        let mut rest: Vec<Option<Value>> = rest.map(|(.., value)| Some(value)).collect();
        match &found.merge {
            Strategy::First => {
                found.steps.iter().find_map(shadowed_value).filter(|value| !value.is_live())
            }
            // Places without values decide whether a single list keeps its duplicates or loses
            // them.
            Strategy::Unique if rest.len() < 2 => None,
            Strategy::Deep(options) if *options != DeepOptions::default() => None,
            strategy => {
                let budget = Budget::default();
                let bounds = Bounds { cancel: self.before.cancel_token(), budget: &budget };
                let count = rest.len();
                let next = &mut |n: usize| Ok(rest[n].take());
                fold::<MergeError>(strategy, count, bounds, next).ok()?
            }
        }
    }
}

/// Whether a step reads no more than data.
fn is_of_data(step: &LookupStep) -> bool {
    matches!(
        step.outcome,
        Outcome::Found { .. }
            | Outcome::NoSuchKey(_)
            | Outcome::NoSuchFile
            | Outcome::NotReached { .. }
            | Outcome::Undetermined { .. }
    )
}

/// Returns the raw value of a location below the one that a lookup ended at. A location that unknown
/// variables decide has no value in such a lookup.
fn shadowed_value(step: &LookupStep) -> Option<Value> {
    match &step.outcome {
        Outcome::NotReached { shadowed: Some((_, value)), is_open: false, .. } => {
            Some(value.clone())
        }
        _ => None,
    }
}
