//! Findings for people, with their lines and carets, and a count at the end.

use std::collections::BTreeMap;
use std::io::{self, Write};

use indexmap::IndexMap;

use super::Grouping;
use crate::diagnostics::fix::FixDrafter;
use crate::diagnostics::render::{LineSpans, finding_line, write_finding};
use crate::diagnostics::rule::Safety;
use crate::diagnostics::{Finding, Severity};
use crate::text::count_phrase;
use crate::text::escape::escape_terminal;
use crate::text::paint::Ink;

/// The layouts of reports for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each finding with its line.
    Full,
    /// Each finding on one line.
    Concise,
    /// Each finding on one line below the heading of its group.
    Grouped(Grouping),
}

pub(super) fn write(
    layout: Layout,
    (findings, files): (&[Finding], usize),
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let by_cause = common_causes(findings);
    // Below the heading of their cause, findings stand one by one.
    let folds = layout != Layout::Grouped(Grouping::Cause);
    let mut drafter = FixDrafter::new(spans.snapshot);
    let mut counts = FixCounts::default();
    let mut heading: Option<String> = None;
    for finding in in_groups(layout, findings, spans) {
        let is_safe = drafter.is_safe(finding);
        match &finding.fix {
            _ if is_safe => counts.safe += 1,
            Some(fix) if drafter.draft(finding).is_some() => match fix.safety {
                Safety::ChangesValues => counts.changing += 1,
                Safety::KeepsValues => counts.uncommenting += 1,
            },
            _ => {}
        }
        if folds && has_common_cause(finding, &by_cause) {
            continue;
        }
        match layout {
            Layout::Full => write_finding(finding, is_safe, spans, out)?,
            Layout::Concise => writeln!(out, "{}", finding_line(finding, is_safe, false, spans))?,
            Layout::Grouped(grouping) => {
                let of_finding = grouping.heading(finding, spans);
                if heading.as_ref() != Some(&of_finding) {
                    let blank = if heading.is_some() { "\n" } else { "" };
                    let text = escape_terminal(&of_finding).into_owned();
                    writeln!(out, "{blank}{}", spans.paint.color(Ink::Bold, &text))?;
                    heading = Some(of_finding);
                }
                let is_below_path = grouping == Grouping::File;
                writeln!(out, "  {}", finding_line(finding, is_safe, is_below_path, spans))?;
            }
        }
    }
    if heading.is_some() {
        writeln!(out)?;
    }
    for ((code, cause), found) in by_cause.iter().filter(|_| folds) {
        let first = spans.line_span(found[0].span);
        let severity = found[0].severity.name();
        let count = found.len();
        let text = format!(
            "{severity}[{code}]: {cause}: {count} keys, the first in {}:{}",
            first.path, first.line
        );
        writeln!(out, "{}", escape_terminal(&text))?;
    }
    writeln!(out, "{}", summarize(findings, files))?;
    if let Some(hint) = counts.phrase() {
        writeln!(out, "{hint}")?;
    }
    for overview in spans.snapshot.overviews() {
        writeln!(out, "{}", escape_terminal(&overview.status_line(spans.root)))?;
    }
    Ok(())
}

fn has_common_cause(finding: &Finding, by_cause: &BTreeMap<(&str, &str), Vec<&Finding>>) -> bool {
    finding.cause.as_deref().is_some_and(|cause| by_cause.contains_key(&(finding.rule.code, cause)))
}

impl Grouping {
    /// Returns the heading of a finding's group.
    fn heading(self, finding: &Finding, spans: &LineSpans<'_>) -> String {
        let rule = finding.rule;
        match (self, &finding.cause) {
            (Grouping::File, _) => spans.line_span(finding.span).path,
            (Grouping::Cause, Some(cause)) => cause.clone(),
            (Grouping::Rule | Grouping::Cause, _) => format!("{}: {}", rule.code, rule.summary),
        }
    }
}

/// Returns the findings in the order in which a layout has them: those of the largest group first
/// where groups are no files.
fn in_groups<'f>(
    layout: Layout,
    findings: &'f [Finding],
    spans: &LineSpans<'_>,
) -> Vec<&'f Finding> {
    let Layout::Grouped(grouping @ (Grouping::Rule | Grouping::Cause)) = layout else {
        return findings.iter().collect();
    };
    let mut groups: IndexMap<String, Vec<&Finding>> = IndexMap::new();
    for finding in findings {
        groups.entry(grouping.heading(finding, spans)).or_default().push(finding);
    }
    groups.sort_by(|_, one, _, other| other.len().cmp(&one.len()));
    groups.into_values().flatten().collect()
}

/// The fewest findings with one cause that are told as one fact.
const FEWEST: usize = 3;

/// Returns the causes that several findings of a rule have in common, with these findings.
fn common_causes(findings: &[Finding]) -> BTreeMap<(&str, &str), Vec<&Finding>> {
    let mut by_cause: BTreeMap<(&str, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        if let Some(cause) = &finding.cause {
            by_cause.entry((finding.rule.code, cause)).or_default().push(finding);
        }
    }
    by_cause.retain(|_, found| found.len() >= FEWEST);
    by_cause
}

/// Writes how many findings each rule has, the most frequent rules first; `[*]` marks rules with
/// findings that `--fix` mends.
pub(super) fn write_statistics(
    (findings, files): (&[Finding], usize),
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut drafter = FixDrafter::new(spans.snapshot);
    let mut counts: BTreeMap<&str, (usize, usize, &Finding)> = BTreeMap::new();
    for finding in findings {
        let count = counts.entry(finding.rule.code).or_insert((0, 0, finding));
        count.0 += 1;
        count.1 += usize::from(drafter.is_safe(finding));
    }
    let mut rules: Vec<(usize, usize, &Finding)> = counts.into_values().collect();
    rules.sort_by_key(|(count, _, _)| std::cmp::Reverse(*count));
    let width = rules.first().map_or(0, |(count, _, _)| count.to_string().len());
    let code_width = rules.iter().map(|(_, _, it)| it.rule.code.len()).max().unwrap_or(0);
    for (count, fixable, finding) in rules {
        let mark = if fixable > 0 { "[*]" } else { "   " };
        let code = spans.paint.color(Ink::Bold, &format!("{:code_width$}", finding.rule.code));
        writeln!(out, "{count:width$}  {code}  {mark}  {}", finding.rule.summary)?;
    }
    writeln!(out, "{}", summarize(findings, files))
}

/// How many findings the program can mend.
#[derive(Default)]
struct FixCounts {
    safe: usize,
    /// By fixes that change values.
    changing: usize,
    /// By fixes that keep values, and drop a comment.
    uncommenting: usize,
}

impl FixCounts {
    /// Returns the counts in words; `None` where no finding can be mended.
    fn phrase(&self) -> Option<String> {
        let others =
            [(self.changing, "change", "values"), (self.uncommenting, "drop", "a comment")];
        let others: Vec<String> = others
            .iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, verb, object)| {
                let ending = if *count == 1 { "s" } else { "" };
                format!("{count} that {verb}{ending} {object}")
            })
            .collect();
        let others = others.join(", ");
        Some(match (self.safe, others.is_empty()) {
            (0, true) => return None,
            (0, false) => format!("fixable with --fix --unsafe-fixes: {others}"),
            (safe, true) => format!("[*] {safe} fixable with --fix"),
            (safe, false) => {
                format!("[*] {safe} fixable with --fix; with --unsafe-fixes also {others}")
            }
        })
    }
}

fn summarize(findings: &[Finding], files: usize) -> String {
    let mut counts: BTreeMap<std::cmp::Reverse<Severity>, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(std::cmp::Reverse(finding.severity)).or_default() += 1;
    }
    let files = count_phrase(files, "file");
    if counts.is_empty() {
        return format!("{files} checked, nothing found");
    }
    let counts: Vec<String> =
        counts.iter().map(|(severity, count)| count_phrase(*count, severity.0.name())).collect();
    format!("{files} checked: {}", counts.join(", "))
}
