//! `check --since`: the findings that the working tree has and a revision has not. The findings of
//! two trees are compared, not lines: a change may cause a finding in another file.

use super::baseline::{IdentityCounts, remove_counted};
use super::{CheckArguments, CheckTarget, CheckedTree};
use crate::cli::diff::{Revisions, require_contents};
use crate::cli::{Failure, print_note, progress};
use crate::diagnostics::{Finding, finding_identities};
use crate::settings::FolderReading;
use crate::workspace::{Snapshot, Workspace, WorkspaceConfig};

/// Reads the tree of a revision, with the settings and the nodes of the working tree.
///
/// Errors: the folder is in no git repository, there is no such revision, or the clone lacks files
/// of the revision.
pub(super) fn read_revision(revision: &str, target: &mut CheckTarget) -> Result<Snapshot, Failure> {
    let root = target.opened.root.clone();
    let tree = Revisions::base_and_worktree(revision, &root)?.base_tree(&root)?;
    let unread = Workspace::new(WorkspaceConfig::default(), Vec::new());
    let mut reading = FolderReading::new(std::mem::replace(&mut target.opened.workspace, unread));
    let before = progress::while_reading(&root, || reading.read(&tree));
    require_contents(&tree)?;
    Ok(before)
}

/// Removes the findings that the tree of a revision has, too, with the settings and the nodes of
/// the working tree. A note states their number.
///
/// Errors: the revision cannot be read, or the findings in parts are those of other files.
pub(super) fn remove_older(
    revision: &str,
    arguments: &CheckArguments,
    target: &mut CheckTarget,
    findings: &mut Vec<Finding>,
) -> Result<(), Failure> {
    let before = read_revision(revision, target)?;
    let root = &target.opened.root;
    let mut counts = IdentityCounts::new();
    let older = target.find(arguments, &before, CheckedTree::Since)?;
    for identity in finding_identities(&before, &older, root) {
        *counts.entry(identity).or_default() += 1;
    }
    let number = findings.len();
    let known = finding_identities(&target.opened.snapshot, findings, root);
    let gone: usize = remove_counted(&counts, &known, findings).values().sum();
    let older = number - findings.len();
    print_note(&format!("findings of {revision}: {older} left, {gone} gone"));
    Ok(())
}
