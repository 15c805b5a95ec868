//! The effects of a change of data, before it is made: whether its files stay readable, and which
//! comments it drops. [`super::compare`] compares the values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::hiera::data::{DataFile, DataFormat};
use crate::text::{FilePath, LineEnd, SourceChange};
use crate::workspace::Snapshot;
use crate::yaml;

/// Whether each file can be read as before, has no new problem, and differs in the data of
/// these keys alone; `None`: of any keys.
pub fn keeps_files_whole(
    before: &Snapshot,
    after: &Snapshot,
    change: &SourceChange,
    keys: Option<&[Arc<str>]>,
) -> bool {
    let mut problems = 0;
    for path in change.edits.keys().chain(change.created.keys()) {
        let (old, new) = (file_data(before, path), file_data(after, path));
        let Some(new) = new else { return false };
        if new.refusal().is_some() {
            return false;
        }
        problems += new.problems().count() as isize;
        problems -= old.as_ref().map_or(0, |old| old.problems().count()) as isize;
        let empty = DataFile::default();
        let old = old.as_deref().unwrap_or(&empty);
        let value = |data: &DataFile, key: &str| data.get(key).map(|it| it.value.clone());
        let mut names = old.keys().chain(new.keys()).filter_map(|key| key.as_arc());
        if names.any(|key| {
            !keys.is_none_or(|keys| keys.contains(key)) && value(old, key) != value(&new, key)
        }) {
            return false;
        }
    }
    problems <= 0
}

/// Returns a change whose new text has the ends of lines of each file; of files to create, those of
/// the file at `path`.
pub fn with_own_line_ends(
    snapshot: &Snapshot,
    path: &FilePath,
    mut change: SourceChange,
) -> SourceChange {
    let line_end = |path: &FilePath| match snapshot.file(path).and_then(|file| file.text()) {
        Some(text) => LineEnd::of_text(&text.to_str()),
        None => LineEnd::default(),
    };
    change.set_line_ends(line_end, line_end(path));
    change
}

/// Returns the number of comments that a change removes and puts nowhere else.
pub fn dropped_comments(before: &Snapshot, after: &Snapshot, change: &SourceChange) -> usize {
    let mut removed: BTreeMap<String, usize> = BTreeMap::new();
    let mut added: BTreeSet<String> = BTreeSet::new();
    for path in change.edits.keys().chain(change.created.keys()) {
        let (old, new) = (comments(before, path), comments(after, path));
        for (text, count) in &old {
            let left = new.get(text).copied().unwrap_or_default();
            *removed.entry(text.clone()).or_default() += count.saturating_sub(left);
        }
        added.extend(
            new.iter()
                .filter(|(text, count)| old.get(*text).is_none_or(|it| it < *count))
                .map(|(text, _)| text.clone()),
        );
    }
    removed.iter().filter(|(text, _)| !added.contains(*text)).map(|(_, count)| count).sum()
}

/// Returns the texts of the comments of a file, each with how often it stands there.
fn comments(snapshot: &Snapshot, path: &FilePath) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    let Some(text) = snapshot.file(path).and_then(|file| file.text()) else { return all };
    let text = text.to_str();
    for comment in yaml::parse(&text).comments {
        let comment = text[comment.as_usize()].trim_end();
        *all.entry(comment.to_owned()).or_default() += 1;
    }
    all
}

/// Returns the data of a file, a `hiera.yaml` among them; `None` for one that no environment governs.
pub fn file_data(snapshot: &Snapshot, path: &FilePath) -> Option<Arc<DataFile>> {
    let environments = snapshot.environments();
    if environments.all.iter().any(|environment| environment.config_at(path).is_some()) {
        return snapshot.file(path).map(|file| file.data_as(DataFormat::Yaml));
    }
    let environment = environments.governing_environments(path).next()?;
    snapshot.view(environment).data_of(path)
}
