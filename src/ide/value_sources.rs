//! The places that an effective value, or a part of the value, comes from.

use super::phrases::level_title;
use crate::hiera::resolution::{LookupStep, Outcome, Resolution};
use crate::puppet::value::Value;
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;

/// The part of a root value that a feature is about, with the place of its key: given the root value
/// and the place of the root key.
pub(super) type Narrow<'a> = &'a dyn Fn(&Value, Option<Span>) -> Option<(Option<Span>, Value)>;

/// A place that a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueSource {
    /// The level, with the layer where it is not the environment's.
    pub(super) level: String,
    /// The file.
    pub(super) path: FilePath,
    /// The place of the key, or of the part.
    pub(super) place: Option<Span>,
    /// Whether the file is the source of a function that gave the value.
    pub(super) is_function: bool,
}

impl ValueSource {
    /// Whether both sources are the same definition: two levels may read one file. A function may
    /// give several levels different values.
    pub(super) fn is_same_place(&self, other: &ValueSource) -> bool {
        self.path == other.path && (!self.is_function || self.level == other.level)
    }
}

/// Returns the places that have the part, highest priority first; a file that several levels read
/// once.
pub(super) fn value_sources(
    snapshot: &Snapshot,
    resolution: &Resolution,
    narrow: Narrow<'_>,
) -> Vec<ValueSource> {
    let mut sources = Vec::new();
    let found = resolution.steps.iter().filter_map(|step| source_of(snapshot, step, narrow));
    add_sources(&mut sources, found);
    sources
}

/// Adds those sources whose place is not among `known`.
pub(super) fn add_sources(
    known: &mut Vec<ValueSource>,
    more: impl IntoIterator<Item = ValueSource>,
) {
    for source in more {
        if !known.iter().any(|other| other.is_same_place(&source)) {
            known.push(source);
        }
    }
}

fn source_of(snapshot: &Snapshot, step: &LookupStep, narrow: Narrow<'_>) -> Option<ValueSource> {
    match &step.outcome {
        Outcome::Found { path, key, value } => {
            let place = narrow(value, *key)?.0.or(*key);
            Some(ValueSource {
                level: level_title(&step.layer, &step.level.name),
                path: path.clone(),
                place,
                is_function: false,
            })
        }
        // The place of the value is the place of the function's name.
        Outcome::Answered { backend, value } => {
            narrow(value, None)?;
            let path = snapshot.path_of(backend.span?.file)?.clone();
            Some(ValueSource {
                level: level_title(&step.layer, &step.level.name),
                path,
                place: backend.span,
                is_function: true,
            })
        }
        _ => None,
    }
}
