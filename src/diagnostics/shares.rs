//! The findings of a workspace in shares: each of several processes checks some entries of all files,
//! and the findings of all shares together are those of one process.
//!
//! A key belongs to one share with all entries that define it, as rules look a key up for all readers
//! of these entries, and one process keeps the answers. What a rule reads is the same in each share:
//! the whole workspace. Comments accept findings, and findings are ordered, when the shares are
//! joined.

use std::collections::BTreeMap;
use std::time::Instant;

use super::ignores::apply_ignores;
use super::rule::Needs;
use super::{FileCheck, Finding, RulesConfig, enabled_rules, in_order, of_other_file, prepare};
use crate::fleet::answer_cache::AnswerCache;
use crate::hiera::data::{EntryData, Part};
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::files::parallel::on_all_cores;
use crate::workspace::share::Share;

/// Findings of units of a file, by their numbers: 0 is the file as a whole, then come its entries,
/// and its lookup cycles at last.
type UnitFindings = BTreeMap<usize, Vec<Finding>>;

/// The findings of a share in one file, before comments and settings accept any.
#[derive(Clone, Debug)]
pub struct FileFindings {
    /// The file.
    pub path: FilePath,
    /// The findings by the number of the unit that has them; without units that have none.
    pub units: UnitFindings,
}

/// Returns the findings of a share of the workspace, for files that have any, in the order of their
/// paths.
pub fn check_share(snapshot: &Snapshot, config: &RulesConfig, share: Share) -> Vec<FileFindings> {
    let files: Vec<&FilePath> = snapshot.files().map(|file| &file.path).collect();
    let start = Instant::now();
    let severities = config.environments.values().chain([&config.severities]);
    let mut enabled = severities.flat_map(|it| enabled_rules(it, config.preset));
    if enabled.any(|(rule, _)| rule.needs > Needs::Levels) {
        prepare(snapshot);
    }
    let index_us = start.elapsed().as_micros();
    let answers = AnswerCache::default();
    let found = on_all_cores(&files, |path| {
        let units = check_units(snapshot, path, config, &answers, share);
        FileFindings { path: (*path).clone(), units }
    });
    let found: Vec<FileFindings> =
        found.into_iter().filter(|file| !file.units.is_empty()).collect();
    let findings: usize = found.iter().flat_map(|file| file.units.values()).map(Vec::len).sum();
    let files = files.len();
    tracing::info!(files, findings, index_us, us = start.elapsed().as_micros(), "files checked");
    found
}

/// Returns the findings of the workspace from those of all its shares: without accepted ones, files in
/// the order of their paths.
pub fn join_shares(
    snapshot: &Snapshot,
    config: &RulesConfig,
    shares: impl IntoIterator<Item = FileFindings>,
) -> Vec<Finding> {
    let mut found: BTreeMap<FilePath, UnitFindings> = BTreeMap::new();
    for FileFindings { path, units } in shares {
        found.entry(path).or_default().extend(units);
    }
    let files: Vec<&FilePath> = snapshot.files().map(|file| &file.path).collect();
    let joined = on_all_cores(&files, |path| {
        let units = found.get(*path).cloned().unwrap_or_default();
        join_units(snapshot, path, config, units)
    });
    joined.into_iter().flatten().collect()
}

/// Returns the findings of the units of a file that are in a share; lookups for nodes share `answers`.
pub(super) fn check_units(
    snapshot: &Snapshot,
    path: &FilePath,
    config: &RulesConfig,
    answers: &AnswerCache,
    share: Share,
) -> UnitFindings {
    let is_file_meant = share.has_name(path.name());
    let known = Needs::known_at_most(snapshot);
    let all = |check: &FileCheck<'_>| {
        let mut units = UnitFindings::new();
        let mut number = 0;
        if is_file_meant {
            units.insert(number, check.check_file(known));
        }
        let parts = check.data.parts();
        check.removals.expect_parts(parts.iter().filter(|part| is_part_meant(part, share, path)));
        for part in parts.iter() {
            number += 1;
            if is_part_meant(part, share, path) {
                units.insert(number, check.check_entry(&part.data, known));
            }
        }
        if is_file_meant {
            units.insert(number + 1, check.check_cycles());
        }
        units
    };
    let mut units =
        FileCheck::check_with(snapshot, path, config, answers, all).unwrap_or_else(|| {
            is_file_meant
                .then(|| of_other_file(snapshot, path, config))
                .map(|found| (0, found))
                .into_iter()
                .collect()
        });
    units.retain(|_, findings| !findings.is_empty());
    units
}

fn is_part_meant(part: &Part, share: Share, path: &FilePath) -> bool {
    share == Share::WHOLE || share.has_name(&unit_name(&part.data, path))
}

/// Returns the name by which an entry is in a share: its first key, or the name of its file where it
/// has none.
fn unit_name(entry: &EntryData, path: &FilePath) -> String {
    let key = entry.members.first().map(|(key, _)| key.to_text().into_owned());
    key.unwrap_or_else(|| path.name().to_owned())
}

/// Returns the findings of a file from those of its units: in the order of their places, without
/// those that comments and settings accept.
pub(super) fn join_units(
    snapshot: &Snapshot,
    path: &FilePath,
    config: &RulesConfig,
    units: UnitFindings,
) -> Vec<Finding> {
    let findings = in_order(snapshot, units.into_values().flatten().collect());
    apply_ignores(snapshot, path, config, findings)
}
