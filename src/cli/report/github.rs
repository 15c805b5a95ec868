//! Findings as commands that a GitHub Actions runner turns into annotations: `::error
//! file=…,line=…::message`.

use std::io::{self, Write};

use crate::diagnostics::render::LineSpans;
use crate::diagnostics::{Finding, Severity};
use crate::text::escape::{workflow_message, workflow_property};

pub(super) fn write(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for finding in findings {
        let place = spans.line_span(finding.span);
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            _ => "notice",
        };
        // Columns count only where a finding is on one line.
        let columns = if place.line == place.end_line {
            format!(",col={},endColumn={}", place.column, place.end_column.max(place.column))
        } else {
            String::new()
        };
        writeln!(
            out,
            "::{command} file={},line={},endLine={}{columns},title={}::{}",
            workflow_property(&place.path),
            place.line,
            place.end_line,
            workflow_property(finding.rule.code),
            workflow_message(&finding.message)
        )?;
    }
    Ok(())
}
