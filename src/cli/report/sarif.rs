//! Findings as SARIF 2.1.0, which GitHub's code scanning and others take.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::fingerprint_findings;
use crate::diagnostics::render::{LineSpan, LineSpans};
use crate::diagnostics::{Finding, Rule, Severity, rules};
use crate::text::Span;
use crate::text::escape::percent_encode;

pub(super) fn write(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let results: Vec<Value> = findings
        .iter()
        .zip(fingerprint_findings(findings, spans))
        .map(|(finding, print)| finding_json(finding, &print, spans))
        .collect();
    let rules: Vec<Value> = rules::RULES.iter().map(|found| rule_json(found)).collect();
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "hiera-ls", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    writeln!(out, "{report:#}")
}

fn rule_json(rule: &Rule) -> Value {
    json!({
        "id": rule.code,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.docs, "markdown": rule.docs},
        "defaultConfiguration": {"enabled": rule.severity != Severity::Off, "level": severity_level(rule.severity)},
    })
}

fn finding_json(finding: &Finding, fingerprint: &str, spans: &LineSpans<'_>) -> Value {
    let related: Vec<Value> = finding
        .related
        .iter()
        .map(|related| {
            let mut location = location_json(related.span, spans);
            location["message"] = json!({"text": related.message});
            location
        })
        .collect();
    json!({
        "ruleId": finding.rule.code,
        "level": severity_level(finding.severity),
        "message": {"text": finding.message},
        "locations": [location_json(finding.span, spans)],
        "relatedLocations": related,
        "partialFingerprints": {"hieraLs/v2": fingerprint},
    })
}

fn severity_level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        _ => "note",
    }
}

fn location_json(span: Span, spans: &LineSpans<'_>) -> Value {
    let LineSpan { path, line, column, end_line, end_column, .. } = spans.line_span(span);
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": relative_uri(&path), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column},
        },
    })
}

/// Returns a path as a relative URI: all characters except RFC 3986's unreserved ones are escaped.
fn relative_uri(path: &str) -> String {
    percent_encode(path, "-._~/")
}
