//! Whether the key in the file of a hover could be deleted without effect on the values.

use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::Scope;
use crate::ide::cursor::Subject;
use crate::ide::value_part::is_redundant;
use crate::ide::value_sources::ValueSource;

/// The most files to name that have all that a file has.
const MAX_FILES: usize = 3;

impl HoverWriter<'_> {
    /// Whether the lookup certainly gives the same value without the key in the file of the hover.
    pub(super) fn is_redundant(
        &self,
        resolution: &Resolution,
        scope: &Scope,
        asked: &HoverQuestion<'_>,
    ) -> bool {
        let Subject { environment, path, .. } = self.subject;
        asked.is_own
            && asked.is_whole
            && is_redundant((self.snapshot, environment, path), resolution, scope)
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
        let others: Vec<&ValueSource> =
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
            false if self.audience.readers().is_empty() => "",
            false => " for these nodes",
        }
    }
}
