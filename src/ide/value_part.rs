//! The part that one file's definition of a root key has in the effective value of the key.

use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::{Outcome, Resolution};
use crate::hiera::scope::Scope;
use crate::text::{Bounds, Budget, FilePath};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::manifests::CalledMerge;

/// The part of a definition in one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValuePart<'a> {
    /// The lookup does not meet the definition.
    NotRead,
    /// The value is that of the definition, which overrides those below.
    Wins {
        /// The files of the definitions below, highest priority first.
        below: Vec<&'a FilePath>,
    },
    /// The value is merged from the definition and others; from the definition alone where there are
    /// no others.
    Merged {
        /// The files of the other definitions, highest priority first.
        others: Vec<&'a FilePath>,
    },
    /// The value is that of a higher definition, or the lookup fails at one.
    Overridden {
        /// The files of the definitions above, highest priority first.
        above: Vec<&'a FilePath>,
    },
}

/// Returns the part that the definition in the file at `path` has in an answer. A file that several
/// levels read counts once, where it has the highest priority.
pub(super) fn value_part<'a>(resolution: &'a Resolution, path: &FilePath) -> ValuePart<'a> {
    let mut met: Vec<&'a FilePath> = Vec::new();
    for step in &resolution.steps {
        let definition = match &step.outcome {
            Outcome::Found { path, .. }
            | Outcome::Failed(path)
            | Outcome::NotReached { path: Some(path), shadowed: Some(_), .. } => path,
            _ => continue,
        };
        if !met.contains(&definition) {
            met.push(definition);
        }
    }
    let Some(own) = met.iter().position(|met| *met == path) else {
        return ValuePart::NotRead;
    };
    if !resolution.merge.stops_at_first() {
        met.remove(own);
        return ValuePart::Merged { others: met };
    }
    match own {
        0 => ValuePart::Wins { below: met.split_off(1) },
        _ => {
            met.truncate(own);
            ValuePart::Overridden { above: met }
        }
    }
}

/// Whether a lookup in `scope` certainly gives the same value without the root key in the file at
/// `path`: in a merge, the file adds nothing. Else the next lower location that has the key has the
/// same value, and nothing between them is unknown.
pub(super) fn is_redundant(
    (snapshot, environment, path): (&Snapshot, &Environment, &FilePath),
    resolution: &Resolution,
    scope: &Scope,
) -> bool {
    let Ok(Some(value)) = &resolution.value else { return false };
    // A conversion may turn different values into the same value, and the same value into different
    // values.
    let is_settled = resolution.unsettled.is_empty() && resolution.unsettled_levels.is_empty();
    let is_secret = resolution.is_secret() || value.holds_secret();
    if resolution.convert_to.is_some() || !is_settled || is_secret {
        return false;
    }
    if !resolution.merge.stops_at_first() {
        let (cancel, budget) = (snapshot.cancel_token(), &Budget::of_request());
        return resolution.merges_nothing_of(path, Bounds { cancel, budget })
            && has_one_strategy(snapshot, environment, resolution, scope);
    }
    let mut steps = resolution.steps.iter().map(|step| &step.outcome);
    let is_winner = steps
        .by_ref()
        .any(|outcome| matches!(outcome, Outcome::Found { path: found, .. } if found == path));
    let next = steps.find_map(|outcome| match outcome {
        // Another level reads the same definition.
        Outcome::NotReached { path: Some(lower), .. } if lower == path => None,
        Outcome::NotReached { is_open: true, .. } => Some(None),
        Outcome::NotReached { shadowed: Some((_, lower)), .. } => Some(Some(lower)),
        _ => None,
    });
    // The overridden value is as written: if it holds a token, its final value may differ.
    is_winner && next.flatten().is_some_and(|lower| lower == value && !lower.is_live())
}

/// Whether the merge strategy of an answer is certain: calls in code ask for one at most, and no
/// `lookup_options` that are not known may choose another one.
fn has_one_strategy(
    snapshot: &Snapshot,
    environment: &Environment,
    resolution: &Resolution,
    scope: &Scope,
) -> bool {
    let root: LookupKey = LookupKey::of_root(&resolution.key.root_text());
    let index = snapshot.manifests(environment);
    if matches!(index.called_merge(&root.text), CalledMerge::Several(_)) {
        return false;
    }
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, scope));
    let is_open = scope.open && !resolver.options_left_open(resolution).is_empty();
    !is_open && resolver.levels_that_may_hold_options(resolution).is_empty()
}
