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

use crate::diagnostics::{Finding, Severity};
use crate::text::{Encoding, FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::fs::current_dir;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
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

impl Format {
    /// Whether those who read it know files by where the command ran, and not by the environment's folder.
    fn is_for_the_repository(self) -> bool {
        !matches!(self, Format::Human | Format::Json | Format::Jsonl)
    }
}

/// Writes findings. Those of at least the severity `least` make the command fail; `root` is the environment's folder.
pub(in crate::cli) fn write(
    format: Format,
    findings: &[Finding],
    least: Severity,
    snapshot: &Snapshot,
    root: &FilePath,
    out: &mut dyn Write,
) -> io::Result<()> {
    let here = current_dir().filter(|here| format.is_for_the_repository() && root.is_within(here));
    let places = Places { snapshot, root: here.as_ref().unwrap_or(root) };
    match format {
        Format::Github => github::write(findings, &places, out),
        Format::Sarif => sarif::write(findings, &places, out),
        Format::Gitlab => gitlab::write(findings, &places, out),
        Format::Junit => junit::write(findings, &places, least, out),
        Format::Rdjson => rdjson::write(findings, &places, out),
        Format::Human => human::write(findings, &places, out),
        Format::Json => json::write(findings, &places, out),
        Format::Jsonl => json::write_lines(findings, &places, out),
    }
}

/// Findings as people see them, without the count at the end.
#[cfg(test)]
pub(crate) fn findings_for_people(findings: &[Finding], snapshot: &Snapshot, root: &FilePath) -> String {
    let mut out = Vec::new();
    human::write_findings(findings, &Places { snapshot, root }, &mut out).expect("writing to memory");
    String::from_utf8(out).expect("reports are UTF-8")
}

/// Where a span is, in people's counting.
struct Place {
    /// Relative to the root where it lies below it.
    path: String,
    /// From 1.
    line: u32,
    /// From 1, in characters unless asked for otherwise.
    column: u32,
    end_line: u32,
    end_column: u32,
    /// The text of the first line.
    text: String,
}

struct Places<'a> {
    snapshot: &'a Snapshot,
    root: &'a FilePath,
}

impl Places<'_> {
    fn of(&self, span: Span) -> Place {
        self.counted(span, Encoding::Utf32)
    }

    /// The place with columns in other units than characters.
    fn counted(&self, span: Span, columns: Encoding) -> Place {
        let path = self.snapshot.path(span.file);
        let shown = path.map_or_else(String::new, |path| path.relative_to(self.root).unwrap_or(path.as_str()).to_owned());
        let text = path.and_then(|path| self.snapshot.file(path)).and_then(|file| file.text().cloned()).unwrap_or_default();
        let range = self.snapshot.place(span);
        let start = text.line_col(range.start, columns);
        let end = text.line_col(range.end, columns);
        let line_text = text.line(start.line).map(|line| line.into_owned()).unwrap_or_default();
        Place {
            path: shown,
            line: start.line + 1,
            column: start.column + 1,
            end_line: end.line + 1,
            end_column: end.column + 1,
            text: line_text,
        }
    }
}

/// For each finding what stays the same when lines are added above it: made of the rule, the file, the line's text, and how many findings
/// before it have the same.
fn fingerprints(findings: &[Finding], places: &Places<'_>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let fingerprint = |finding: &Finding| {
        let place = places.of(finding.span);
        let what = format!("{}\n{}\n{}", finding.rule.code, place.path, place.text.trim());
        let number = seen.entry(what.clone()).or_default();
        *number += 1;
        format!("{:016x}", fnv(format!("{what}\n{number}").as_bytes()))
    };
    findings.iter().map(fingerprint).collect()
}

/// Fowler, Noll and Vo's hash 1a of 64 bits: the same in all versions, which the standard library's is not.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
