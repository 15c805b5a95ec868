//! Findings as JUnit's XML: a test case for each; one that passes where there are none.

use std::io::{self, Write};

use super::escape_xml;
use crate::diagnostics::render::LineSpans;
use crate::diagnostics::{Finding, Severity};

/// Findings of at least the severity `least` are failures; the others are cases that pass.
pub(super) fn write(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    least: Severity,
    out: &mut dyn Write,
) -> io::Result<()> {
    let failures = findings.iter().filter(|finding| finding.severity >= least).count();
    let counts =
        format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", findings.len().max(1));
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites name=\"hiera-ls\" {counts}>\n  <testsuite name=\"hiera-ls check\" {counts}>"
    )?;
    if findings.is_empty() {
        writeln!(out, "    <testcase classname=\"hiera-ls\" name=\"nothing found\"/>")?;
    }
    for finding in findings {
        let place = spans.line_span(finding.span);
        let path = escape_xml(&place.path);
        let message = escape_xml(&finding.message);
        let at = format!("{path}:{}:{}", place.line, place.column);
        let severity = finding.severity.name();
        writeln!(
            out,
            "    <testcase classname=\"{path}\" name=\"{} at {at}\" file=\"{path}\" line=\"{}\">",
            finding.rule.code, place.line
        )?;
        if finding.severity >= least {
            writeln!(
                out,
                "      <failure type=\"{severity}\" message=\"{message}\">{at}: {severity}: {message}</failure>"
            )?;
        } else {
            writeln!(out, "      <system-out>{at}: {severity}: {message}</system-out>")?;
        }
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}
