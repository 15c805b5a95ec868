//! Whether the key in the file of a hover could be deleted without effect on the values.

use super::provenance::Source;
use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::hiera::resolution::{Outcome, Resolution};
use crate::hiera::scope::Scope;
use crate::text::{Bounds, Budget};

/// The most files to name that have all that a file has.
const MAX_FILES: usize = 3;

impl HoverWriter<'_> {
    /// Whether the lookup gives the same value without the key in the file of the hover: in a
    /// merge, the file adds nothing. Else the next lower location that has the key has the same
    /// value, and nothing between them is unknown.
    pub(super) fn is_redundant(
        &self,
        resolution: &Resolution,
        scope: &Scope,
        asked: &HoverQuestion<'_>,
    ) -> bool {
        let Ok(Some(value)) = &resolution.value else { return false };
        // A conversion may make the same of different values, and different values of the same.
        if !asked.is_own || !asked.is_whole || resolution.convert_to.is_some() {
            return false;
        }
        let is_settled = resolution.unsettled.is_empty() && resolution.unsettled_levels.is_empty();
        let is_secret = resolution.is_secret() || value.holds_secret();
        if !is_settled || is_secret {
            return false;
        }
        if !resolution.merge.stops_at_first() {
            let (cancel, budget) = (self.snapshot.cancel_token(), &Budget::of_request());
            return resolution.merges_nothing_of(&self.subject.path, Bounds { cancel, budget })
                && self.calls_note(resolution).is_none()
                && self.open_strategy(resolution, scope).is_none();
        }
        let mut steps = resolution.steps.iter().map(|step| &step.outcome);
        let is_winner = steps.by_ref().any(
            |outcome| matches!(outcome, Outcome::Found { path, .. } if *path == self.subject.path),
        );
        let next = steps.find_map(|outcome| match outcome {
            Outcome::NotReached { is_open: true, .. } => Some(None),
            Outcome::NotReached { shadowed: Some((_, lower)), .. } => Some(Some(lower)),
            _ => None,
        });
        // The overridden value is as written: if it holds a token, its final value may differ.
        is_winner && next.flatten().is_some_and(|lower| lower == value && !lower.is_live())
    }

    /// Returns the note that the file of the hover adds nothing to a merge.
    pub(super) fn merges_nothing(
        &self,
        found: &HoverAnswer<'_>,
        asked: &HoverQuestion<'_>,
    ) -> Option<String> {
        let resolution = found.resolution;
        if !found.is_redundant || resolution.merge.stops_at_first() {
            return None;
        }
        let sources = self.part_sources(resolution, asked.narrow);
        let others: Vec<&Source> =
            sources.iter().filter(|source| source.path != self.subject.path).collect();
        let named = if others.len() <= MAX_FILES {
            let names: Vec<String> =
                others.iter().map(|source| self.source_with_path(source)).collect();
            names.join(" and ")
        } else {
            format!("the other {} files", others.len())
        };
        Some(format!(
            "the value here adds nothing to {named}: deleting it changes nothing{}",
            self.for_whom()
        ))
    }

    /// For which nodes a sentence about an answer holds, where that is not everyone.
    pub(super) fn for_whom(&self) -> &'static str {
        match self.scope.is_node {
            true => " for this node",
            false if self.reading_nodes().is_empty() => "",
            false => " for these nodes",
        }
    }
}
