//! The entries that differ between two revisions of files, regardless of their effect.

use std::sync::Arc;

use super::keys::keys_with_other_data;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// An edited entry, or an edited file that configures an environment.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The file.
    pub path: FilePath,
    /// The root key; `None` for a config, and for a file that breaks or is mended.
    pub key: Option<Arc<str>>,
    /// The edit's kind.
    pub kind: EditKind,
    /// Where the entry is written: in the revision after the edit, or before the edit where the
    /// entry was removed.
    pub span: Option<Span>,
    /// The words for an edit that is none of the files, with the fix: a place that another version
    /// of Puppet reads otherwise.
    pub note: Option<String>,
}

/// The kind of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EditKind {
    /// An entry that the file did not have.
    Added,
    /// An entry that the file has no longer.
    Removed,
    /// An entry with another value.
    Edited,
    /// The `lookup_options`.
    Options,
    /// A config.
    Config,
    /// The file cannot be read any more: each lookup of its readers fails.
    Broken,
    /// The file could not be read before.
    Mended,
    /// Legacy facts, which nodes have no longer.
    LegacyFact,
    /// A setting that is ignored, or a module that is passed over.
    Setting,
    /// A place at which lookups fail.
    Fails,
    /// Another difference between versions of Puppet.
    Other,
}

impl EditKind {
    /// Returns the kind's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            EditKind::Added => "added",
            EditKind::Removed => "removed",
            EditKind::Edited => "edited",
            EditKind::Options => "options",
            EditKind::Config => "config",
            EditKind::Broken => "broken",
            EditKind::Mended => "mended",
            EditKind::LegacyFact => "legacy-fact",
            EditKind::Setting => "setting",
            EditKind::Fails => "fails",
            EditKind::Other => "other",
        }
    }
}

/// Returns the edits of files in one environment, in the order of the files and of the keys in them.
pub fn find_edits(
    (before, environment): (&Snapshot, &Environment),
    (after, later): (&Snapshot, &Environment),
    files: &[FilePath],
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for path in files {
        let edit = |kind, key, span| Edit { path: path.clone(), key, kind, span, note: None };
        if !environment.reaches_file(path) && !later.reaches_file(path) {
            let governs = environment.governs_file(path) || later.governs_file(path);
            if governs && (before.shapes_environments(path) || after.shapes_environments(path)) {
                edits.push(edit(EditKind::Config, None, None));
            }
            continue;
        }
        let old = before.view(environment).data_of(path).unwrap_or_default();
        let new = after.view(later).data_of(path).unwrap_or_default();
        // The readable parts of a file that Puppet refuses are no entries.
        match (old.refusal().is_some(), new.refusal().is_some()) {
            (false, true) => edits.push(edit(EditKind::Broken, None, None)),
            (true, false) => edits.push(edit(EditKind::Mended, None, None)),
            _ => {}
        }
        if old.refusal().is_some() || new.refusal().is_some() {
            continue;
        }
        for key in keys_with_other_data(&old, &new) {
            let kind = match (old.get(&key), new.get(&key)) {
                (Some(_), Some(_)) if *key == *LOOKUP_OPTIONS => EditKind::Options,
                (Some(_), Some(_)) => EditKind::Edited,
                (None, Some(_)) => EditKind::Added,
                (_, None) => EditKind::Removed,
            };
            let span = new.definition_span(&key).or_else(|| old.definition_span(&key));
            edits.push(edit(kind, Some(key), span));
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_config_that_one_revision_has_is_an_edit() {
        let without = "#- levels Common\n#- /modules/m/manifests/init.pp\nclass m($p) { }\n";
        let with = format!("{without}#- /modules/m/hiera.yaml\nversion: 5\n");
        let files = ["/modules/m/hiera.yaml", "/modules/m/manifests/init.pp"].map(FilePath::new);
        for (before, after) in [(without, &*with), (&*with, without), (&*with, &*with)] {
            let [before, after] = [before, after].map(|text| Fixture::new(text).snapshot);
            let environments = (&before.environments().all[0], &after.environments().all[0]);
            let edits = find_edits((&before, environments.0), (&after, environments.1), &files);
            let [edit] = &edits[..] else { panic!("one edit, not {edits:?}") };
            assert_eq!((&edit.path, edit.kind), (&files[0], EditKind::Config));
        }
    }
}
