//! Findings in the formats of `check --format`. A run without findings writes a valid report, too.

mod human;
mod json;

use std::io::{self, Write};

use clap::ValueEnum;

use crate::diagnostics::Finding;
use crate::text::{Encoding, FilePath, Span};
use crate::workspace::Snapshot;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// For people: each finding with its line, and a count.
    Human,
    /// One JSON document with all findings.
    Json,
    /// A JSON document a finding, one on each line.
    Jsonl,
}

pub(in crate::cli) fn write(
    format: Format,
    findings: &[Finding],
    snapshot: &Snapshot,
    root: &FilePath,
    out: &mut dyn Write,
) -> io::Result<()> {
    let places = Places { snapshot, root };
    match format {
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
    /// From 1, in characters.
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
        let path = self.snapshot.path(span.file);
        let shown = path.map_or_else(String::new, |path| path.relative_to(self.root).unwrap_or(path.as_str()).to_owned());
        let text = path.and_then(|path| self.snapshot.file(path)).and_then(|file| file.text().cloned()).unwrap_or_default();
        let range = self.snapshot.place(span);
        let start = text.line_col(range.start, Encoding::Utf32);
        let end = text.line_col(range.end, Encoding::Utf32);
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
