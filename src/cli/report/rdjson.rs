//! Findings as reviewdog's Diagnostic Format. Its columns count bytes of UTF-8.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::diagnostics::render::LineSpans;
use crate::diagnostics::{Finding, Severity};
use crate::text::{Encoding, Span};

pub(super) fn write(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let diagnostics: Vec<Value> =
        findings.iter().map(|finding| finding_json(finding, spans)).collect();
    let report = json!({"source": {"name": "hiera-ls"}, "diagnostics": diagnostics});
    writeln!(out, "{report:#}")
}

fn finding_json(finding: &Finding, spans: &LineSpans<'_>) -> Value {
    let related: Vec<Value> = finding
        .related
        .iter()
        .map(|related| json!({"message": related.message, "location": location_json(related.span, spans)}))
        .collect();
    json!({
        "message": finding.message,
        "location": location_json(finding.span, spans),
        "severity": severity_name(finding.severity),
        "code": {"value": finding.rule.code},
        "relatedLocations": related,
    })
}

fn location_json(span: Span, spans: &LineSpans<'_>) -> Value {
    let place = spans.in_columns(span, Encoding::Utf8);
    json!({
        "path": place.path,
        "range": {
            "start": {"line": place.line, "column": place.column},
            "end": {"line": place.end_line, "column": place.end_column},
        },
    })
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        _ => "INFO",
    }
}
