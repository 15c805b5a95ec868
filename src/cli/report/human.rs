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
    write_findings(findings, spans, out)?;
    writeln!(out, "{}", summarize(findings, spans))?;
    for overview in spans.snapshot.overviews() {
        writeln!(out, "{}", escape_terminal(&overview.status_line(spans.root)))?;
    }
    Ok(())
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
