//! Findings that the user accepts: by comments in the file, and by patterns of paths in settings.
//!
//! `# hiera-ls: ignore[code] reason` concerns the line that it ends, or, on a line of its own, the
//! entry below it; `# hiera-ls: ignore-file[code] reason` concerns the file. JSON and HOCON have no
//! such comments here: settings accept findings in these files.

use std::borrow::Borrow;

use super::rule::{Check, IgnoreCode, UnusedIgnore};
use super::rules::merge_conflict;
use super::{Finding, RulesConfig, catalogue, enabled_rules, in_order};
use crate::hiera::data::DataFormat;
use crate::puppet::ruby::glob::matches_path;
use crate::text::similar::nearest_name;
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::files::file::File;
use crate::yaml::{self, NodeKind, Tree};

/// The beginning of the comments.
const MARKER: &str = "hiera-ls:";

/// Findings of some rules that settings accept in some files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredPaths {
    /// A glob below the environment's folder.
    pub pattern: String,
    /// The rules' codes.
    pub codes: Vec<String>,
}

/// Returns findings of a file without those that are accepted, and with those about comments that
/// accept none, in the order of their places.
pub(super) fn accept_findings<F: Borrow<Finding> + From<Finding>>(
    snapshot: &Snapshot,
    path: &FilePath,
    config: &RulesConfig,
    mut findings: Vec<F>,
) -> Vec<F> {
    // The markers of a conflict break the text in several places.
    if findings.iter().any(|it| it.borrow().rule.code == merge_conflict::RULE.code) {
        findings.retain(|finding| !matches!(finding.borrow().rule.check, Check::Problem(_)));
    }
    let codes = snapshot.file(path).map(|file| ignore_codes(file)).unwrap_or_default();
    let mut is_used = vec![false; codes.len()];
    findings.retain(|finding| {
        let finding = finding.borrow();
        let start = snapshot.span_bytes(finding.span).start;
        let mut is_accepted = is_ignored_path(snapshot, path, config, finding.rule.code);
        for (ignore, is_used) in codes.iter().zip(&mut is_used) {
            let is_there = ignore.covers.is_none_or(|range| range.touches_offset(start));
            if ignore.code == finding.rule.code && is_there {
                *is_used = true;
                is_accepted = true;
            }
        }
        !is_accepted
    });
    let file = snapshot.file(path).filter(|_| snapshot.complete && !codes.is_empty());
    let Some(file) = file else { return findings };
    let environment = snapshot.environments().environment_of(path);
    let severities =
        environment.map_or(&config.severities, |found| config.severities_in(&found.root));
    let enabled = enabled_rules(severities, config.preset);
    for (rule, severity) in &enabled {
        let Check::Ignore(check) = rule.check else { continue };
        for (ignore, _) in codes.iter().zip(&is_used).filter(|(_, is_used)| !**is_used) {
            let is_known = catalogue::find(&ignore.code).is_some();
            let similar = if is_known {
                None
            } else {
                nearest_name(&ignore.code, catalogue::RULES.iter().map(|rule| rule.code))
            };
            // A rule that is off finds nothing that could be accepted.
            if is_known && !enabled.iter().any(|(rule, _)| *rule.code == *ignore.code) {
                continue;
            }
            let finding = check(&UnusedIgnore { ignore, is_known, similar }, file);
            let severity = severity.unwrap_or(finding.severity);
            findings.push(F::from(Finding { severity, ..finding }));
        }
    }
    in_order(snapshot, findings)
}

/// Returns findings without those that are accepted.
pub(super) fn drop_accepted<F: Borrow<Finding> + From<Finding>>(
    snapshot: &Snapshot,
    path: &FilePath,
    config: &RulesConfig,
    findings: Vec<F>,
) -> Vec<F> {
    let mut findings = accept_findings(snapshot, path, config, findings);
    findings.retain(|finding| !matches!(finding.borrow().rule.check, Check::Ignore(_)));
    findings
}

fn is_ignored_path(snapshot: &Snapshot, path: &FilePath, config: &RulesConfig, code: &str) -> bool {
    let Some(environment) = snapshot.environments().environment_of(path) else { return false };
    let root = &environment.root;
    config.ignored_in(root).iter().any(|ignored| {
        ignored.codes.iter().any(|one| one == code)
            && matches_path(root.join(&ignored.pattern).as_str(), path)
    })
}

/// Returns the codes in comments of a file of YAML, in the order of their places.
pub(crate) fn ignore_codes(file: &File) -> Vec<IgnoreCode> {
    let Some(text) = file.text().filter(|_| file.format() == DataFormat::Yaml) else {
        return Vec::new();
    };
    let text = text.to_str();
    if !text.contains(MARKER) {
        return Vec::new(); // as most files
    }
    let tree = yaml::parse(&text);
    let mut codes = Vec::new();
    for comment in &tree.comments {
        read_comment(&text, *comment, &tree, &mut codes);
    }
    codes
}

/// Reads a comment; adds nothing for one that accepts no findings.
fn read_comment(text: &str, comment: TextRange, tree: &Tree, codes: &mut Vec<IgnoreCode>) {
    let whole = &text[comment.as_usize()];
    let words = whole.trim_start_matches('#').trim_start();
    let Some(words) = words.strip_prefix(MARKER).map(str::trim_start) else { return };
    let (is_of_file, rest) = match words.strip_prefix("ignore-file") {
        Some(rest) => (true, rest),
        None => match words.strip_prefix("ignore") {
            Some(rest) => (false, rest),
            None => return,
        },
    };
    let covers = (!is_of_file).then(|| covered_range(text, comment, tree));
    let list = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((list, _)) = list else {
        return codes.push(IgnoreCode { code: String::new(), range: comment, covers });
    };
    for code in list.split(',').map(str::trim) {
        let range =
            TextRange::from_usize(part_offset(code, text)..part_offset(code, text) + code.len());
        codes.push(IgnoreCode { code: code.to_owned(), range, covers });
    }
}

fn part_offset(part: &str, text: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Returns the line that a comment ends; of a comment on a line of its own, the entry below it.
fn covered_range(text: &str, comment: TextRange, tree: &Tree) -> TextRange {
    let at = comment.start as usize;
    let start = text[..at].rfind('\n').map_or(0, |found| found + 1);
    if !text[start..at].trim().is_empty() {
        return TextRange::from_usize(start..at);
    }
    let mut line = at;
    let below = text[at..].split_inclusive('\n').find(|part| {
        let words = part.trim();
        let is_blank = words.is_empty() || words.starts_with('#');
        if is_blank {
            line += part.len();
        }
        !is_blank
    });
    let Some(below) = below else { return TextRange::new_empty(comment.start) };
    let line = TextRange::from_usize(line..line + below.trim_end().len());
    entry_on_line(tree, line).map_or(line, |entry| entry.cover(line))
}

/// Returns the widest entry of a hash or element of a list that begins on a line.
fn entry_on_line(tree: &Tree, line: TextRange) -> Option<TextRange> {
    let mut widest: Option<TextRange> = None;
    let mut offer = |range: TextRange| {
        if line.start <= range.start
            && range.start < line.end.max(line.start + 1)
            && widest.is_none_or(|it| it.len() < range.len())
        {
            widest = Some(range);
        }
    };
    for node in &tree.nodes {
        match &node.kind {
            NodeKind::Mapping { entries, .. } => {
                for (key, value) in entries {
                    let key = tree.whole_span(*key);
                    // The first entry of a hash begins where the hash does, which ends later.
                    offer(key.cover(tree.whole_span(*value)));
                }
            }
            NodeKind::Sequence { items, .. } => {
                items.iter().for_each(|item| offer(tree.whole_span(*item)));
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
        }
    }
    widest
}
