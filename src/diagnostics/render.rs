//! Findings as text for people: `path:line:column: severity: message [code]`, then the line with
//! the finding's part underlined, unless the line may hold a secret. `check` prints this, and tests
//! of rules compare it.

use std::io::{self, Write};

use super::Finding;
use super::secret_lines::SecretLines;
use crate::text::escape::escape_terminal;
use crate::text::{Encoding, FilePath, LineCol, Span};
use crate::workspace::Snapshot;

/// Characters of a line that are shown at most.
const LINE_WIDTH: usize = 120;
/// The maximum number of underlined characters: the beginning of a ciphertext identifies it.
const MARK_WIDTH: usize = 60;

/// A span in lines and columns.
pub(crate) struct LineSpan {
    /// Relative to the root if the file lies below it, else absolute.
    pub(crate) path: String,
    /// From 1.
    pub(crate) line: u32,
    /// From 1; in characters, or in the units that [`LineSpans::in_columns`] was given.
    pub(crate) column: u32,
    /// From 1.
    pub(crate) end_line: u32,
    /// From 1, exclusive; in the units of `column`.
    pub(crate) end_column: u32,
    /// The text of the first line, without its line end.
    pub(crate) text: String,
}

/// Converts spans of a snapshot into lines and columns.
pub(crate) struct LineSpans<'a> {
    pub(crate) snapshot: &'a Snapshot,
    /// The folder that paths are relative to.
    pub(crate) root: &'a FilePath,
    /// The lines that must not be quoted.
    secret: SecretLines<'a>,
}

impl<'a> LineSpans<'a> {
    /// Returns the spans of a snapshot as lines and columns; paths are relative to `root`.
    pub(crate) fn new(snapshot: &'a Snapshot, root: &'a FilePath) -> LineSpans<'a> {
        LineSpans { snapshot, root, secret: SecretLines::new(snapshot) }
    }

    /// Returns the span with columns in characters.
    pub(crate) fn line_span(&self, span: Span) -> LineSpan {
        self.in_columns(span, Encoding::Utf32)
    }

    /// Returns the span with columns in the code units of `encoding`.
    pub(crate) fn in_columns(&self, span: Span, encoding: Encoding) -> LineSpan {
        let path = self.snapshot.path_of(span.file);
        let shown = path.map_or_else(String::new, |path| {
            path.relative_to(self.root).unwrap_or(path.as_str()).to_owned()
        });
        let text = path
            .and_then(|path| self.snapshot.file(path))
            .and_then(|file| file.text().cloned())
            .unwrap_or_default();
        let range = self.snapshot.span_bytes(span);
        // Most places begin and end in one line, which is searched for once.
        let line = text.line_of(range.start);
        let line_range = text.line_range(line).unwrap_or_default();
        let start = text.column_in(line_range, range.start, encoding);
        let end = match range.end <= line_range.end {
            true => LineCol { line, column: text.column_in(line_range, range.end, encoding) },
            false => text.line_col(range.end, encoding),
        };
        LineSpan {
            path: shown,
            line: line + 1,
            column: start + 1,
            end_line: end.line + 1,
            end_column: end.column + 1,
            text: text.slice(line_range).into_owned(),
        }
    }
}

/// Writes findings with their lines and carets, in the order given.
pub(crate) fn write_findings(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    findings.iter().try_for_each(|finding| write_finding(finding, spans, out))
}

fn write_finding(finding: &Finding, spans: &LineSpans<'_>, out: &mut dyn Write) -> io::Result<()> {
    let span = spans.line_span(finding.span);
    let (severity, message) = (finding.severity.name(), escape_terminal(&finding.message));
    let LineSpan { path, line, column, .. } = &span;
    let path = escape_terminal(path);
    writeln!(out, "{path}:{line}:{column}: {severity}: {message} [{}]", finding.rule.code)?;
    if !spans.secret.may_hold_secret(finding.span) {
        write_line(&span, out)?;
    }
    for related in &finding.related {
        let LineSpan { path, line, column, text, .. } = spans.line_span(related.span);
        let path = escape_terminal(&path);
        writeln!(out, "    {path}:{line}:{column}: {}", escape_terminal(&related.message))?;
        if related.is_quoted && line != span.line && !spans.secret.may_hold_secret(related.span) {
            let text = text.trim();
            let shown = make_visible(text.chars().take(LINE_WIDTH));
            let more = if text.chars().nth(LINE_WIDTH).is_some() { "…" } else { "" };
            writeln!(out, "      {line} | {shown}{more}")?;
        }
    }
    Ok(())
}

/// Writes a span's first line with carets below the span; nothing if the line is blank.
fn write_line(span: &LineSpan, out: &mut dyn Write) -> io::Result<()> {
    if span.text.trim().is_empty() {
        return Ok(());
    }
    let margin = span.line.to_string();
    let width = match span.line == span.end_line {
        true => span.end_column.saturating_sub(span.column).max(1),
        false => 1,
    };
    let column = span.column as usize - 1;
    // The part of a long line around the span.
    let start = if column > LINE_WIDTH * 3 / 4 { column - LINE_WIDTH / 2 } else { 0 };
    let end = start + LINE_WIDTH;
    let part = |from, to: usize| {
        make_visible(span.text.chars().skip(from).take(to.min(end).saturating_sub(from)))
    };
    let marked_end = column + (width as usize).min(MARK_WIDTH);
    let (before, marked) = (part(start, column), part(column, marked_end));
    let after = match width as usize > MARK_WIDTH {
        true => "…".to_owned(),
        false => part(marked_end, end),
    };
    let carets = "^".repeat(marked.chars().count().max(1));
    writeln!(out, "  {margin} | {before}{marked}{after}")?;
    let indent = " ".repeat(before.chars().count());
    writeln!(out, "  {} | {indent}{carets}", " ".repeat(margin.len()))
}

/// Returns a part of a line as it is shown: a tab takes one column.
fn make_visible(text: impl Iterator<Item = char>) -> String {
    let text: String = text.map(|c| if c == '\t' { ' ' } else { c }).collect();
    escape_terminal(&text).into_owned()
}
