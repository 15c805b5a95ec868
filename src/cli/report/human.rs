//! Findings for people, with their lines and carets, and a count at the end.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::diagnostics::render::{LineSpans, write_findings};
use crate::diagnostics::{Finding, Severity};
use crate::text::escape::escape_terminal;

pub(super) fn write(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let by_cause = common_causes(findings);
    let is_folded = |finding: &&Finding| {
        finding
            .cause
            .as_deref()
            .is_some_and(|cause| by_cause.contains_key(&(finding.rule.code, cause)))
    };
    let single: Vec<Finding> = findings.iter().filter(|it| !is_folded(it)).cloned().collect();
    write_findings(&single, spans, out)?;
    for ((code, cause), found) in &by_cause {
        let first = spans.line_span(found[0].span);
        let severity = found[0].severity.name();
        let count = found.len();
        let text = format!(
            "{severity}[{code}]: {cause}: {count} keys, the first in {}:{}",
            first.path, first.line
        );
        writeln!(out, "{}", escape_terminal(&text))?;
    }
    writeln!(out, "{}", summarize(findings, spans))?;
    for overview in spans.snapshot.overviews() {
        writeln!(out, "{}", escape_terminal(&overview.status_line(spans.root)))?;
    }
    Ok(())
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

fn summarize(findings: &[Finding], spans: &LineSpans<'_>) -> String {
    let mut counts: BTreeMap<std::cmp::Reverse<Severity>, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(std::cmp::Reverse(finding.severity)).or_default() += 1;
    }
    let plural =
        |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let files = plural(spans.snapshot.files().count(), "file");
    if counts.is_empty() {
        return format!("{files} checked, nothing found");
    }
    let counts: Vec<String> =
        counts.iter().map(|(severity, count)| plural(*count, severity.0.name())).collect();
    format!("{files} checked: {}", counts.join(", "))
}
