//! Findings as GitLab's code quality report.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::fingerprint_findings;
use crate::diagnostics::render::LineSpans;
use crate::diagnostics::{Finding, Severity};

pub(super) fn write(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let issues: Vec<Value> =
        findings.iter().zip(fingerprint_findings(findings, spans)).map(|(finding, fingerprint): (&Finding, String)| {
        let place = spans.line_span(finding.span);
        json!({
            "description": finding.message,
            "check_name": finding.rule.code,
            "fingerprint": fingerprint,
            "severity": severity_name(finding.severity),
            "location": {"path": place.path, "lines": {"begin": place.line, "end": place.end_line}},
        })
    }).collect();
    writeln!(out, "{:#}", Value::from(issues))
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        _ => "info",
    }
}
