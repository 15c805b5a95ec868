//! Findings in the formats of `check --format`. A run without findings writes a valid report, too.

mod checkstyle;
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
use serde::{Deserialize, Serialize};

use crate::diagnostics::render::LineSpans;
use crate::diagnostics::{Finding, FindingIdentity, Severity, finding_identities};
use crate::disk::current_dir;
use crate::text::paint::Paint;
use crate::text::{FilePath, fnv_hash};
use crate::workspace::Snapshot;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(in crate::cli) enum ReportFormat {
    /// For people: each finding with its line, and a count.
    #[value(alias = "human")]
    Full,
    /// For people: each finding on one line, and a count.
    Concise,
    /// For people: each finding on one line below the name of its file, and a count.
    Grouped,
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
    /// Checkstyle's XML.
    Checkstyle,
}

/// The property by which a report for people groups findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(in crate::cli) enum Grouping {
    /// The fact behind them, such as a module that is not here; else the rule.
    Cause,
    /// The file.
    File,
    /// The rule.
    Rule,
}

impl ReportFormat {
    /// Whether readers of the format know files by where the command ran, and not by the
    /// environment's folder.
    fn is_for_the_repository(self) -> bool {
        use ReportFormat::{Concise, Full, Grouped, Json, Jsonl};
        !matches!(self, Full | Concise | Grouped | Json | Jsonl)
    }
}

/// How findings are reported.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct ReportOptions {
    /// The format.
    pub(in crate::cli) format: ReportFormat,
    /// How findings are grouped; `None`: as the format has it.
    pub(in crate::cli) group_by: Option<Grouping>,
    /// Whether a count of each rule takes the place of the findings.
    pub(in crate::cli) has_statistics: bool,
    /// The least severity that makes the command fail.
    pub(in crate::cli) least: Severity,
    /// The colours and links of reports for people.
    pub(in crate::cli) paint: Paint,
    /// How many files were looked at.
    pub(in crate::cli) files: usize,
}

/// Writes findings; `root` is the environment's folder.
pub(in crate::cli) fn write(
    options: ReportOptions,
    findings: &[Finding],
    snapshot: &Snapshot,
    root: &FilePath,
    out: &mut dyn Write,
) -> io::Result<()> {
    let ReportOptions { format, least, paint, group_by, has_statistics, files } = options;
    let counted = (findings, files);
    let here = current_dir().filter(|here| format.is_for_the_repository() && root.is_within(here));
    let spans = LineSpans::new(snapshot, here.as_ref().unwrap_or(root)).with_paint(paint);
    if has_statistics {
        return human::write_statistics(counted, &spans, out);
    }
    if let Some(grouping) = group_by {
        return human::write(human::Layout::Grouped(grouping), counted, &spans, out);
    }
    match format {
        ReportFormat::Github => github::write(findings, &spans, out),
        ReportFormat::Sarif => sarif::write(findings, &spans, out),
        ReportFormat::Gitlab => gitlab::write(findings, &spans, out),
        ReportFormat::Junit => junit::write(findings, &spans, least, out),
        ReportFormat::Rdjson => rdjson::write(findings, &spans, out),
        ReportFormat::Checkstyle => checkstyle::write(findings, &spans, out),
        ReportFormat::Full => human::write(human::Layout::Full, counted, &spans, out),
        ReportFormat::Concise => human::write(human::Layout::Concise, counted, &spans, out),
        ReportFormat::Grouped => {
            human::write(human::Layout::Grouped(Grouping::File), counted, &spans, out)
        }
        ReportFormat::Json => json::write(findings, &spans, out),
        ReportFormat::Jsonl => json::write_lines(findings, &spans, out),
    }
}

/// Returns an identifier for each finding that stays the same when lines move: a hash of its identity,
/// and of the number of findings before it with the same one.
fn fingerprint_findings(findings: &[Finding], spans: &LineSpans<'_>) -> Vec<String> {
    let mut seen: HashMap<FindingIdentity, usize> = HashMap::new();
    finding_identities(spans.snapshot, findings, spans.root)
        .into_iter()
        .map(|identity| {
            let FindingIdentity { file, rule, key } = &identity;
            let text = format!("{rule}\n{file}\n{key}");
            let number = seen.entry(identity).or_default();
            *number += 1;
            format!("{:016x}", fnv_hash(format!("{text}\n{number}").as_bytes()))
        })
        .collect()
}

/// Escapes a text for XML 1.0, which permits few control characters.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
