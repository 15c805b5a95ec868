//! Findings as commands that a GitHub Actions runner turns into annotations: `::error file=…,line=…::message`.

use std::io::{self, Write};

use super::Places;
use crate::diagnostics::{Finding, Severity};

pub(super) fn write(findings: &[Finding], places: &Places<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let place = places.of(finding.span);
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
            property(&place.path),
            place.line,
            place.end_line,
            property(finding.rule.code),
            message(&finding.message)
        )?;
    }
    Ok(())
}

/// What the runner reads back to one text, line breaks included.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// In a property its separators are escaped, too.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
