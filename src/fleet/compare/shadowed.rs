//! Answers that a change of files cannot reach: a lookup ends at its first value, and each location
//! that can name one of the files lies below the location that has the value.
//!
//! Locations are compared by their order in the hierarchy, so that the proof holds for all nodes of
//! an answer, and for each value of an unknown variable.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ComparedSide;
use crate::fleet::ways::ReadWay;
use crate::hiera::config::Layer;
use crate::hiera::resolution::{Outcome, Resolution};
use crate::text::FilePath;
use crate::workspace::nodes::NodesReading;

/// The location that a lookup ended at, and the other keys that the lookup read.
#[derive(Debug)]
pub(super) struct FirstFound {
    /// The number of the location among those of the environment.
    location: usize,
    /// The root keys that the lookup's tokens asked for.
    asked: Vec<Arc<str>>,
}

impl FirstFound {
    /// Returns the location that a lookup ended at; `None` for a lookup that merges, fails or finds
    /// nothing.
    pub(super) fn of_lookup(resolution: &Resolution, side: ComparedSide<'_>) -> Option<FirstFound> {
        if !resolution.merge.stops_at_first() || !matches!(resolution.value, Ok(Some(_))) {
            return None;
        }
        let step =
            resolution.steps.iter().find(|step| matches!(&step.outcome, Outcome::Found { .. }))?;
        let template = step.template.as_ref()?;
        let location = side.environment.reach.iter().position(|reach| {
            reach.layer == step.layer
                && Arc::ptr_eq(&reach.level, &step.level)
                && reach.template.text == template.text
        })?;
        Some(FirstFound { location, asked: resolution.asked_roots().collect() })
    }
}

/// The files that a change edits, as far as they can give a key another value.
pub(super) struct EditedFiles<'a> {
    /// The keys whose data differ.
    keys: &'a BTreeSet<Arc<str>>,
    files: Vec<EditedFile<'a>>,
}

struct EditedFile<'a> {
    /// The known nodes that read the file; `None` where none is known.
    readers: Option<Arc<NodesReading>>,
    /// The locations that can name the file, by their layers and numbers.
    locations: Vec<(&'a Layer, usize)>,
}

impl<'a> EditedFiles<'a> {
    /// Returns the files of a change that concerns the data in them alone.
    pub(super) fn new(
        before: ComparedSide<'a>,
        keys: &'a BTreeSet<Arc<str>>,
        files: &[&FilePath],
    ) -> EditedFiles<'a> {
        let ComparedSide { snapshot, environment, .. } = before;
        let (_, are_kinds) = before.compared_nodes();
        let files = files
            .iter()
            .map(|path| EditedFile {
                readers: (!are_kinds).then(|| snapshot.readers_of(environment, path)),
                locations: environment
                    .locations_leading_to(path)
                    .into_iter()
                    .map(|number| (&environment.reach[number].layer, number))
                    .collect(),
            })
            .collect();
        EditedFiles { keys, files }
    }

    /// Whether the answer of a node stays the same, as all edited files that the node reads lie
    /// below the one that the answer comes from. `None` stands for an answer that may come from
    /// several.
    pub(super) fn lie_below(
        &self,
        side: ComparedSide<'_>,
        way: &ReadWay<'_>,
        (node, found): (usize, Option<&FirstFound>),
    ) -> bool {
        let Some(found) = found else { return false };
        let layer = &side.environment.reach[found.location].layer;
        way.deciding_parameter().is_none()
            && self.files.iter().filter(|file| file.may_be_read_by(node)).all(|file| {
                file.locations.iter().all(|(of, number)| *of == layer && *number > found.location)
            })
            && !found.asked.iter().any(|key| self.keys.contains(key))
    }
}

impl EditedFile<'_> {
    fn may_be_read_by(&self, node: usize) -> bool {
        self.readers.as_ref().is_none_or(|readers| readers.way_of(node).is_some())
    }
}
