//! `check --fix` and `check --diff`: the fixes of findings, made in rounds until none is left.

use std::collections::{BTreeMap, HashSet};
use std::io::{IsTerminal as _, Write};

use super::{CheckArguments, CheckTarget, CheckedTree};
use crate::cli::unified_diff::write_file_diff;
use crate::cli::{Failure, Status, print_note};
use crate::diagnostics::Finding;
use crate::diagnostics::fix::{Safety, accept_with_comments, choose_fixes};
use crate::diagnostics::render::LineSpans;
use crate::disk::replace_text;
use crate::fleet::compare::{Comparer, Comparison, Effort};
use crate::text::{FilePath, SourceChange, count_phrase, fnv_hash};
use crate::workspace::Snapshot;

/// The result of fixes, before it is written.
pub(super) struct FixedFiles {
    /// The snapshot with all changes.
    pub(super) after: Snapshot,
    /// The texts of each changed file: before and after.
    texts: BTreeMap<FilePath, (String, String)>,
    /// How many findings of each rule are fixed.
    counts: BTreeMap<&'static str, usize>,
    /// The values that differ; `None` if no file changes.
    comparison: Option<Comparison>,
}

/// Makes the fixes of the findings that the arguments ask for.
pub(super) fn fix_findings(
    arguments: &CheckArguments,
    target: &CheckTarget,
) -> Result<FixedFiles, Failure> {
    let before = &target.opened.snapshot;
    let most = if arguments.unsafe_fixes { Safety::ChangesValues } else { Safety::KeepsValues };
    let (mut after, mut counts) = (before.clone(), BTreeMap::new());
    let mut touched = SourceChange::default();
    let mut states: HashSet<BTreeMap<FilePath, u64>> = HashSet::new();
    loop {
        let findings = target.find(arguments, &after, CheckedTree::Working)?;
        let fixable: Vec<&Finding> = findings.iter().filter(|it| it.fix.is_some()).collect();
        let chosen = choose_fixes(&after, &fixable, most);
        if chosen.findings.is_empty() {
            break;
        }
        // A fix may uncover another finding, however many rounds there were. Rounds of fixes that
        // undo each other would never end.
        let hashes = touched.edits.keys().map(|path| {
            let text = after.file_text(path).unwrap_or_default();
            (path.clone(), fnv_hash(text.as_bytes()))
        });
        if !states.insert(hashes.collect()) {
            print_note("some fixes undo others: the findings of these are left");
            break;
        }
        let next = after.after_change(&chosen.change);
        after = next.ok_or("a file cannot be changed")?;
        for number in &chosen.findings {
            *counts.entry(fixable[*number].rule.code).or_default() += 1;
        }
        touched.edits.extend(chosen.change.edits.into_keys().map(|path| (path, Vec::new())));
    }
    let texts = touched.edits.keys().filter_map(|path| {
        let (old, new) = (before.file_text(path)?, after.file_text(path)?);
        (old != new).then(|| (path.clone(), (old, new)))
    });
    let texts: BTreeMap<FilePath, (String, String)> = texts.collect();
    let comparison = if texts.is_empty() {
        None
    } else {
        Comparer::new(before, Effort::new(None)).compare(&after, &touched, &[])
    };
    Ok(FixedFiles { after, texts, counts, comparison })
}

/// Writes the changed files, and states what was fixed. Errors: a file that changed meanwhile, or
/// that the disk refuses; files before it are written.
pub(super) fn write_files(fixed: &FixedFiles, target: &CheckTarget) -> Result<(), Failure> {
    for (path, (old, new)) in &fixed.texts {
        let shown = path.relative_to(&target.opened.root).unwrap_or(path.as_str());
        replace_text(path, old, new)
            .map_err(|error| Failure(format!("{shown} is not written: {error}")))?;
    }
    print_note(&summarize(fixed, "fixed"));
    Ok(())
}

/// Prints the changes as a patch.
pub(super) fn write_diff(
    fixed: &FixedFiles,
    target: &CheckTarget,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let root = &target.opened.root;
    let sides = [&target.opened.snapshot, &fixed.after].map(|side| LineSpans::new(side, root));
    let escapes = std::io::stdout().is_terminal();
    for (path, (old, new)) in &fixed.texts {
        write_file_diff(path, (old, Some(new)), &sides, escapes, out)?;
    }
    print_note(&summarize(fixed, "would be fixed"));
    Ok(if fixed.texts.is_empty() { Status::Good } else { Status::Bad })
}

/// Writes comments that accept all findings; returns the snapshot with them.
pub(super) fn write_ignores(
    arguments: &CheckArguments,
    target: &CheckTarget,
    reason: &str,
) -> Result<Snapshot, Failure> {
    let before = &target.opened.snapshot;
    let findings = target.find(arguments, before, CheckedTree::Working)?;
    let findings: Vec<&Finding> =
        findings.iter().filter(|finding| finding.rule.code != "unused-ignore").collect();
    let change = accept_with_comments(before, &findings, reason);
    before
        .allow_change(change.clone())
        .map_err(|path| Failure(format!("{path} must not be changed")))?;
    let after = before.after_change(&change).ok_or("a file cannot be changed")?;
    for path in change.edits.keys() {
        let texts = (before.file_text(path), after.file_text(path));
        let (Some(old), Some(new)) = texts else { continue };
        replace_text(path, &old, &new)
            .map_err(|error| Failure(format!("{path} is not written: {error}")))?;
    }
    let comments: usize = change.edits.values().map(Vec::len).sum();
    print_note(&format!("{comments} comments written in {} files", change.edits.len()));
    Ok(after)
}

fn summarize(fixed: &FixedFiles, verb: &str) -> String {
    let total: usize = fixed.counts.values().sum();
    if total == 0 {
        return format!("nothing {verb}");
    }
    let rules: Vec<String> =
        fixed.counts.iter().map(|(code, count)| format!("{count} {code}")).collect();
    let effect = match &fixed.comparison {
        Some(found) if found.is_neutral() && found.nodes > 0 => {
            format!("; no value of {} changes", found.nodes_phrase())
        }
        Some(found) => found.effect_phrase(),
        None => String::new(),
    };
    format!(
        "{} {verb} in {}: {}{effect}",
        count_phrase(total, "finding"),
        count_phrase(fixed.texts.len(), "file"),
        rules.join(", ")
    )
}
