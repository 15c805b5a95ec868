//! `check --baseline`: a file of findings that the user has accepted. Findings that it has are not
//! reported; entries that fit no finding are stated, and `--prune-baseline` removes them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{CheckArguments, CheckTarget};
use crate::cli::{Failure, absolute_path, print_note};
use crate::diagnostics::{Finding, FindingIdentity, finding_identities};
use crate::disk::{FileSystem as _, OsFs, write_text};
use crate::text::FilePath;
use crate::workspace::WorkspaceConfig;

/// How many findings have an identity.
pub(super) type IdentityCounts = BTreeMap<FindingIdentity, usize>;

/// Removes the findings that are counted; `identities` are those of the findings, in their order.
/// Returns the counts that fit no finding.
pub(super) fn remove_counted(
    counts: &IdentityCounts,
    identities: &[FindingIdentity],
    findings: &mut Vec<Finding>,
) -> IdentityCounts {
    let mut left = counts.clone();
    let mut identities = identities.iter();
    findings.retain(|_| {
        let known = identities.next().and_then(|identity| left.get_mut(identity));
        let is_known = known.as_ref().is_some_and(|count| **count > 0);
        known.into_iter().for_each(|count| *count = count.saturating_sub(1));
        !is_known
    });
    left.retain(|_, count| *count > 0);
    left
}

/// The accepted findings.
pub(super) struct Baseline {
    path: FilePath,
    counts: IdentityCounts,
}

#[derive(Deserialize)]
struct BaselineFile {
    version: u64,
    findings: Vec<BaselineEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineEntry {
    file: String,
    rule: String,
    key: String,
    #[serde(default = "single_count", skip_serializing_if = "is_single")]
    count: usize,
}

fn single_count() -> usize {
    1
}

fn is_single(count: &usize) -> bool {
    *count == 1
}

impl Baseline {
    /// Reads the file that the arguments name; `None` where they name none. With --write-baseline it
    /// need not exist.
    pub(super) fn open(arguments: &CheckArguments) -> Result<Option<Baseline>, Failure> {
        let Some(path) = &arguments.baseline else { return Ok(None) };
        let path = absolute_path(path)?;
        if arguments.write_baseline && OsFs.entry(&path).is_none() {
            return Ok(Some(Baseline { path, counts: BTreeMap::new() }));
        }
        let bytes =
            OsFs.read(&path, WorkspaceConfig::default().max_file_size).map_err(|error| {
                Failure(format!(
                    "the baseline {path} cannot be read: {error}; --write-baseline writes it"
                ))
            })?;
        let file: BaselineFile = serde_json::from_slice(&bytes)
            .map_err(|error| Failure(format!("{path} is no baseline: {error}")))?;
        if file.version != 1 {
            return Err(Failure(format!(
                "{path} is a baseline of version {}, not 1",
                file.version
            )));
        }
        let mut counts = IdentityCounts::new();
        for BaselineEntry { file, rule, key, count } in file.findings {
            *counts.entry(FindingIdentity { file, rule, key }).or_default() += count;
        }
        Ok(Some(Baseline { path, counts }))
    }

    /// Removes the findings that the baseline has, and does what the arguments ask for with those that
    /// it lacks, and with entries that fit no finding.
    pub(super) fn accept(
        mut self,
        arguments: &CheckArguments,
        target: &CheckTarget,
        findings: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let folder = self.path.parent().unwrap_or_else(|| FilePath::new("/"));
        let identities = finding_identities(&target.opened.snapshot, findings, &folder);
        // A run that looks at some files or rules knows nothing about the others.
        let is_seen = |identity: &FindingIdentity| {
            target.covers_path(&folder.join(&identity.file))
                && super::is_wanted_code(&identity.rule, arguments)
        };
        if arguments.write_baseline {
            self.counts.retain(|identity, _| !is_seen(identity));
            for identity in identities {
                *self.counts.entry(identity).or_default() += 1;
            }
            self.write()?;
            let count = findings.len();
            print_note(&format!("{count} findings are in the baseline {}", self.path));
            findings.clear();
            return Ok(());
        }
        let mut left = remove_counted(&self.counts, &identities, findings);
        left.retain(|identity, _| is_seen(identity));
        let unused: usize = left.values().sum();
        if unused == 0 {
            return Ok(());
        }
        if !arguments.prune_baseline {
            print_note(&format!(
                "{unused} findings of the baseline are gone: --prune-baseline removes them from it"
            ));
            return Ok(());
        }
        for (identity, count) in &left {
            if let Some(known) = self.counts.get_mut(identity) {
                *known -= count;
            }
        }
        self.counts.retain(|_, count| *count > 0);
        self.write()?;
        print_note(&format!("{unused} findings removed from the baseline {}", self.path));
        Ok(())
    }

    /// Writes the file: a finding on each line, in order, so that differences are short.
    fn write(&self) -> Result<(), Failure> {
        let entries: Vec<String> = self
            .counts
            .iter()
            .map(|(identity, count)| {
                let FindingIdentity { file, rule, key } = identity.clone();
                let entry = BaselineEntry { file, rule, key, count: *count };
                format!("    {}", json!(entry))
            })
            .collect();
        let findings = if entries.is_empty() {
            "[]".to_owned()
        } else {
            format!("[\n{}\n  ]", entries.join(",\n"))
        };
        let text = format!("{{\n  \"version\": 1,\n  \"findings\": {findings}\n}}\n");
        write_text(&self.path, &text)
            .map_err(|error| Failure(format!("{} is not written: {error}", self.path)))
    }
}
