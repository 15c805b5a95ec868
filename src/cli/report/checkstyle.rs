//! Findings as Checkstyle's XML: a file with its errors.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::escape_xml;
use crate::diagnostics::render::{LineSpan, LineSpans};
use crate::diagnostics::{Finding, Severity};

pub(super) fn write(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut files: BTreeMap<String, Vec<(LineSpan, &Finding)>> = BTreeMap::new();
    for finding in findings {
        let place = spans.line_span(finding.span);
        files.entry(place.path.clone()).or_default().push((place, finding));
    }
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">")?;
    for (path, findings) in files {
        writeln!(out, "  <file name=\"{}\">", escape_xml(&path))?;
        for (place, finding) in findings {
            // Checkstyle has no hints.
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                _ => "info",
            };
            writeln!(
                out,
                "    <error line=\"{}\" column=\"{}\" severity=\"{severity}\" message=\"{}\" source=\"hiera-ls.{}\"/>",
                place.line,
                place.column,
                escape_xml(&finding.message),
                finding.rule.code
            )?;
        }
        writeln!(out, "  </file>")?;
    }
    writeln!(out, "</checkstyle>")
}
