//! Findings in the formats of `check --format`. A run without findings writes a valid report, too.

mod github;
mod gitlab;
mod human;
mod json;
mod junit;
mod rdjson;
mod sarif;

use std::collections::HashMap;
use std::io::{self, Write};

use clap::ValueEnum;

use crate::diagnostics::render::LineSpans;
use crate::diagnostics::{Finding, Severity};
use crate::disk::current_dir;
use crate::text::FilePath;
use crate::workspace::Snapshot;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ReportFormat {
    /// For people: each finding with its line, and a count.
    Human,
    /// One JSON document with all findings.
    Json,
    /// A JSON document a finding, one on each line.
    Jsonl,
    /// Annotations of GitHub Actions.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// GitLab's code quality report.
    Gitlab,
    /// JUnit's XML.
    Junit,
    /// reviewdog's Diagnostic Format.
    Rdjson,
}

impl ReportFormat {
    /// Whether those who read it know files by where the command ran, and not by the environment's
    /// folder.
    fn is_for_the_repository(self) -> bool {
        !matches!(self, ReportFormat::Human | ReportFormat::Json | ReportFormat::Jsonl)
    }
}

/// Writes findings. Those of at least the severity `least` make the command fail; `root` is the
/// environment's folder.
pub(in crate::cli) fn write(
    format: ReportFormat,
    findings: &[Finding],
    least: Severity,
    snapshot: &Snapshot,
    root: &FilePath,
    out: &mut dyn Write,
) -> io::Result<()> {
    let here = current_dir().filter(|here| format.is_for_the_repository() && root.is_within(here));
    let spans = LineSpans::new(snapshot, here.as_ref().unwrap_or(root));
    match format {
        ReportFormat::Github => github::write(findings, &spans, out),
        ReportFormat::Sarif => sarif::write(findings, &spans, out),
        ReportFormat::Gitlab => gitlab::write(findings, &spans, out),
        ReportFormat::Junit => junit::write(findings, &spans, least, out),
        ReportFormat::Rdjson => rdjson::write(findings, &spans, out),
        ReportFormat::Human => human::write(findings, &spans, out),
        ReportFormat::Json => json::write(findings, &spans, out),
        ReportFormat::Jsonl => json::write_lines(findings, &spans, out),
    }
}

/// Returns an identifier for each finding that stays the same when lines are added above it: a hash
/// of the rule, the file, the line's text, and the number of findings before it with the same ones.
fn fingerprint_findings(findings: &[Finding], spans: &LineSpans<'_>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let fingerprint = |finding: &Finding| {
        let span = spans.line_span(finding.span);
        let what = format!("{}\n{}\n{}", finding.rule.code, span.path, span.text.trim());
        let number = seen.entry(what.clone()).or_default();
        *number += 1;
        format!("{:016x}", fnv_hash(format!("{what}\n{number}").as_bytes()))
    };
    findings.iter().map(fingerprint).collect()
}

/// Fowler, Noll and Vo's hash 1a of 64 bits: the same in all versions, which the standard library's
/// is not.
fn fnv_hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
