//! The report about what edits between two revisions change on the known nodes, before it has a
//! format, and as a page for people.

pub(crate) mod masking;
pub(crate) mod model;
pub(crate) mod page;
pub(crate) mod phrases;

use model::{ChangeKind, EnvironmentReport};

use crate::text::FilePath;
use crate::workspace::Snapshot;

/// A report about all environments.
pub(crate) struct ChangeReport<'a> {
    /// The revision before.
    pub(crate) before: &'a Snapshot,
    /// The revision after.
    pub(crate) after: &'a Snapshot,
    /// The folder that shown paths are relative to.
    pub(crate) root: &'a FilePath,
    /// The name of the revision before, for people.
    pub(crate) base: &'a str,
    /// The name of the revision after, for people.
    pub(crate) head: &'a str,
    /// The report about each environment.
    pub(crate) environments: Vec<EnvironmentReport<'a>>,
}

impl ChangeReport<'_> {
    /// Returns the kind of each change.
    pub(crate) fn change_kinds(&self) -> impl Iterator<Item = ChangeKind> {
        self.environments.iter().flat_map(EnvironmentReport::change_kinds)
    }

    /// Whether any answer changes.
    pub(crate) fn has_changes(&self) -> bool {
        self.change_kinds().next().is_some()
    }

    /// Whether a lookup fails afterwards, or finds nothing any more.
    pub(crate) fn has_losses(&self) -> bool {
        self.change_kinds().any(|kind| matches!(kind, ChangeKind::Error | ChangeKind::Lost))
    }
}
