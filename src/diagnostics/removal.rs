//! Entries that can be removed: an entry is deleted in a copy of the snapshot, and no value of any
//! node may change. `redundant-override`, `merge-adds-nothing` and `shadowed-definition` report these
//! entries, and share one proof an entry. The entries of a file share the lookups in the snapshot as it is.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::anchors::carries_anchor;
use super::fix::FixDrafter;
use super::rule::{EntryContext, EntryEffect, Fix, RemovableEntry};
use crate::fleet::audience::{FileAudience, ValueLimits};
use crate::fleet::compare::{Comparer, Effort};
use crate::fleet::groups::Group;
use crate::fleet::ways::ReadWay;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::pattern::{Bindings, PatternMatch};
use crate::hiera::resolution::{LookupStep, Outcome, Resolution};
use crate::puppet::value::Member;
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// The proofs about the entries of one file.
pub(super) struct RemovalProofs<'a> {
    snapshot: &'a Snapshot,
    tools: OnceCell<(RefCell<FixDrafter<'a>>, Comparer<'a>)>,
    /// The proved entries by the place of the key; `None` for one that has to stay.
    known: RefCell<HashMap<Span, Option<Rc<RemovableEntry>>>>,
}

impl<'a> RemovalProofs<'a> {
    /// Creates the proofs of a file, of which none is made yet.
    pub(super) fn new(snapshot: &'a Snapshot) -> RemovalProofs<'a> {
        RemovalProofs { snapshot, tools: OnceCell::new(), known: RefCell::default() }
    }

    /// Returns the entry of a root key of the file if it can be removed: proved for all known nodes,
    /// or kinds of nodes, and for unknown ones.
    pub(super) fn removable_entry(
        &self,
        context: &EntryContext<'_>,
        key: &Arc<str>,
        member: &Member,
    ) -> Option<Rc<RemovableEntry>> {
        let span = member.key_origin?;
        if let Some(known) = self.known.borrow().get(&span) {
            return known.clone();
        }
        let prove = || {
            let after = self.snapshot_without(key, span)?;
            let path = &context.file.file.path;
            let (is_merged, places) = sources_of_values(&after, path, key);
            let effect = match is_merged {
                true => EntryEffect::MergesNothing,
                false if is_shadowed(context, key) => EntryEffect::NeverWins,
                false => EntryEffect::RepeatsValue,
            };
            Some(Rc::new(RemovableEntry { key: key.clone(), span, effect, places }))
        };
        let found = is_candidate(context, key, member).then(prove).flatten();
        self.known.borrow_mut().insert(span, found.clone());
        found
    }

    /// Returns the snapshot without an entry; `None` where that may change a value.
    fn snapshot_without(&self, key: &str, span: Span) -> Option<Snapshot> {
        let snapshot = self.snapshot;
        let (drafter, comparer) = self.tools.get_or_init(|| {
            let comparer = Comparer::new(snapshot, Effort::default());
            (RefCell::new(FixDrafter::new(snapshot)), comparer)
        });
        let change = drafter.borrow_mut().draft_fix(span.file, &Fix::delete_entry(key, span))?;
        let after = snapshot.after_change(&change)?;
        comparer.keeps_values(&after, &change).then_some(after)
    }
}

/// Whether an entry may be removable: another file of the environment has the same value, or is read
/// before by all readers, or values may be merged.
fn is_candidate(context: &EntryContext<'_>, key: &str, member: &Member) -> bool {
    let (snapshot, environment) = (context.file.snapshot, context.file.environment);
    let own = &context.file.file.path;
    let is_other = |path: &&FilePath| *path != own && environment.reaches_file(path);
    let others: Vec<&FilePath> = snapshot.keys().definitions(key).iter().filter(is_other).collect();
    // Reports would reveal that secrets are equal.
    if key == LOOKUP_OPTIONS
        || others.is_empty()
        || carries_anchor(snapshot, member)
        || snapshot.may_be_sensitive(key)
    {
        return false;
    }
    let Some(strategy) = (context.strategy)(key) else { return false };
    let has_same = |path: &&FilePath| {
        let data = context.file.view.data_of(path);
        data.is_some_and(|data| data.get(key).is_some_and(|other| other.value == member.value))
    };
    !strategy.stops_at_first()
        || ReadWay::ways_of_key(snapshot, environment, key).iter().any(|way| !way.is_plain())
        || others.iter().any(has_same)
        || is_shadowed(context, key)
}

/// Whether each node that reads the file, known or unknown, reads another file with the key before.
fn is_shadowed(context: &EntryContext<'_>, key: &str) -> bool {
    let own = &context.file.file.path;
    let definitions = context.file.snapshot.keys().definitions(key);
    let mut others = definitions.iter().filter(|path| *path != own);
    others.any(|other| is_read_before(context.file.environment, other, own))
}

/// Whether each node that reads the file `own` reads the file `other` before: some location names
/// `other`, above all locations of the same layer that name `own`, and has no variable but those of
/// `own`'s location. The data of a module has defaults for any environment.
fn is_read_before(environment: &Environment, other: &FilePath, own: &FilePath) -> bool {
    let locate = |path: &FilePath| -> Vec<(usize, Bindings)> {
        let numbers = environment.locations_leading_to(path).into_iter();
        let bound = numbers.filter_map(|number| {
            match environment.reach[number].pattern.bind(path.as_str())? {
                PatternMatch::Bound(bindings) => Some((number, bindings)),
                PatternMatch::Ambiguous(_) => None,
            }
        });
        bound.collect()
    };
    let (own, other) = (locate(own), locate(other));
    let layer = |number: usize| &environment.reach[number].layer;
    let is_above = |own: &(usize, Bindings), other: &(usize, Bindings)| {
        other.0 < own.0
            && layer(other.0) == layer(own.0)
            && other.1.iter().all(|(name, value)| own.1.get(name) == Some(value))
    };
    !own.is_empty() && own.iter().all(|own| other.iter().any(|other| is_above(own, other)))
}

/// Returns whether all readers of a file merge the values of a key, and the places that they get them
/// from, each once, in the order of levels.
fn sources_of_values(snapshot: &Snapshot, path: &FilePath, key: &str) -> (bool, Vec<Span>) {
    let mut environments = snapshot.environments().governing_environments(path);
    let Some(environment) = environments.next() else { return (false, Vec::new()) };
    let audience = FileAudience::new(snapshot, environment, path);
    let root = LookupKey::of_root(key);
    let found = audience.effective_value(&root, ValueLimits::OF_KEY, false);
    let resolutions: Vec<&Resolution> = found.groups.iter().flat_map(Group::resolutions).collect();
    let is_merged = resolutions.iter().all(|resolution| !resolution.merge.stops_at_first());
    let place = |step: &LookupStep| match &step.outcome {
        Outcome::Found { key, .. } => *key,
        _ => None,
    };
    let mut places: Vec<Span> = Vec::new();
    for span in resolutions.iter().flat_map(|it| it.steps.iter().filter_map(place)) {
        if !places.contains(&span) {
            places.push(span);
        }
    }
    (is_merged, places)
}
