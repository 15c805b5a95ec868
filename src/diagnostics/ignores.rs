//! Findings that the user accepts: by comments in the file, and by patterns of paths in settings.
//!
//! `# hiera-ls: ignore[code] reason` concerns the line that it ends, or, on a line of its own, the
//! entry below it; `# hiera-ls: ignore-file[code] reason` concerns the file. JSON and HOCON have no
//! such comments here: settings accept findings in these files.

use std::borrow::Borrow;
use std::sync::Arc;

use super::rule::{Check, IgnoreCode, UnusedIgnore};
use super::rules::merge_conflict;
use super::{Finding, RulesConfig, catalogue, enabled_rules, in_order};
use crate::hiera::data::DataFormat;
use crate::puppet::ruby::glob::matches_path;
use crate::text::similar::nearest_name;
use crate::text::{CancelToken, FilePath, Text, TextRange};
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

/// Returns the codes in comments of a file of YAML, in the order of their places. Only the parts of the
/// file around such comments are parsed.
pub(crate) fn ignore_codes(file: &File) -> Vec<IgnoreCode> {
    let Some(text) = file.text().filter(|_| file.format() == DataFormat::Yaml) else {
        return Vec::new();
    };
    let mut codes = Vec::new();
    for marker in text.find_all(MARKER) {
        let (start, tree) = part_tree(file, text, marker);
        let comments = tree.comments.iter().map(|comment| comment.shift_left(start));
        let begun = comments.filter(|comment| comment.touches_offset(marker)).find(|comment| {
            let before = text.slice(TextRange::new(comment.start, marker));
            before.trim_start_matches('#').trim().is_empty()
        });
        begun.into_iter().for_each(|comment| read_comment(file, text, comment, marker, &mut codes));
    }
    codes
}

/// Returns the tree of the part of a file around a byte, and the start of the part. The lines above the
/// first entry are a part here.
fn part_tree(file: &File, text: &Text, offset: u32) -> (u32, Arc<Tree>) {
    match file.part_at(offset, &CancelToken::default()) {
        Some(part) => (part.start, part.tree),
        None => {
            let end = text.line_range(text.line_of(offset)).map_or(text.len(), |line| line.end);
            (0, Arc::new(yaml::parse(&text.slice(TextRange::new(0, end)))))
        }
    }
}

/// Reads a comment with a marker; adds nothing for one that accepts no findings.
fn read_comment(
    file: &File,
    text: &Text,
    comment: TextRange,
    marker: u32,
    codes: &mut Vec<IgnoreCode>,
) {
    let whole = text.slice(TextRange::new(marker, comment.end));
    let words = whole[MARKER.len()..].trim_start();
    let (is_of_file, rest) = match words.strip_prefix("ignore-file") {
        Some(rest) => (true, rest),
        None => match words.strip_prefix("ignore") {
            Some(rest) => (false, rest),
            None => return,
        },
    };
    let covers = (!is_of_file).then(|| covered_range(file, text, comment));
    let list = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((list, _)) = list else {
        return codes.push(IgnoreCode { code: String::new(), range: comment, covers });
    };
    for code in list.split(',').map(str::trim) {
        let start = code.as_ptr() as usize - whole.as_ptr() as usize;
        let range = TextRange::from_usize(start..start + code.len()).shift_left(marker);
        codes.push(IgnoreCode { code: code.to_owned(), range, covers });
    }
}

/// Returns the line that a comment ends; of a comment on a line of its own, the entry below it.
fn covered_range(file: &File, text: &Text, comment: TextRange) -> TextRange {
    let number = text.line_of(comment.start);
    let start = text.line_range(number).map_or(comment.start, |line| line.start);
    let before = TextRange::new(start, comment.start);
    if !text.slice(before).trim().is_empty() {
        return before;
    }
    let mut below = (number + 1..).map_while(|number| text.line_range(number));
    let Some(line) = below.find(|line| has_words(&text.slice(*line))) else {
        return TextRange::new_empty(comment.start);
    };
    let words = text.slice(line);
    let indent = (words.len() - words.trim_start().len()) as u32;
    let line = TextRange::new(line.start, line.start + words.trim_end().len() as u32);
    let (start, tree) = part_tree(file, text, line.start + indent);
    let entry = entry_on_line(&tree, start, line);
    entry.map_or(line, |entry| entry.cover(line))
}

/// Whether a line is neither blank nor a comment.
fn has_words(line: &str) -> bool {
    let words = line.trim_start();
    !words.is_empty() && !words.starts_with('#')
}

/// Returns the widest entry of a hash or element of a list that begins on a line. The tree is that of
/// the part that starts at this byte.
fn entry_on_line(tree: &Tree, start: u32, line: TextRange) -> Option<TextRange> {
    let mut widest: Option<TextRange> = None;
    let mut offer = |range: TextRange| {
        let range = range.shift_left(start);
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
