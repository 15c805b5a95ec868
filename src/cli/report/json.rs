//! Findings as JSON, lines and columns from 1, columns in characters.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::diagnostics::Finding;
use crate::diagnostics::render::{LineSpan, LineSpans};

pub(super) fn write(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let findings: Vec<Value> =
        findings.iter().map(|finding| finding_json(finding, spans)).collect();
    let report =
        json!({"version": 1, "files": spans.snapshot.files().count(), "findings": findings});
    writeln!(out, "{report:#}")
}

pub(super) fn write_lines(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    findings.iter().try_for_each(|finding| writeln!(out, "{}", finding_json(finding, spans)))
}

fn finding_json(finding: &Finding, spans: &LineSpans<'_>) -> Value {
    let related: Vec<Value> = finding
        .related
        .iter()
        .map(|related| {
            let mut place = place_json(&spans.line_span(related.span));
            place["message"] = (*related.message).into();
            place
        })
        .collect();
    let mut object = place_json(&spans.line_span(finding.span));
    object["severity"] = finding.severity.name().into();
    object["code"] = finding.rule.code.into();
    object["message"] = finding.message.as_str().into();
    object["related"] = related.into();
    object
}

fn place_json(place: &LineSpan) -> Value {
    json!({
        "path": place.path, "line": place.line, "column": place.column, "endLine": place.end_line, "endColumn": place.end_column,
    })
}
