//! Findings as text for people: `path:line:column: severity: message [code]`, then the line with
//! the finding's part underlined, unless the line may hold a secret. `check` prints this, and tests
//! of rules compare it.

use std::io::{self, Write};

use super::secret_lines::SecretLines;
use super::{Finding, Severity};
use crate::text::escape::escape_terminal;
use crate::text::paint::{Ink, Paint};
use crate::text::{Encoding, FilePath, LineCol, Span};
use crate::workspace::Snapshot;

/// Characters of a line that are shown at most.
const LINE_WIDTH: usize = 120;
/// The maximum number of underlined characters: the beginning of a ciphertext identifies it.
const MARK_WIDTH: usize = 60;

/// A span in lines and columns.
pub(crate) struct LineSpan {
    /// The file's path: relative to the root if the file lies below it, else absolute.
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
    /// The colours and links of texts for people.
    pub(crate) paint: Paint,
    /// The lines that must not be quoted.
    secret: SecretLines<'a>,
}

impl<'a> LineSpans<'a> {
    /// Returns the spans of a snapshot as lines and columns; paths are relative to `root`.
    pub(crate) fn new(snapshot: &'a Snapshot, root: &'a FilePath) -> LineSpans<'a> {
        LineSpans { snapshot, root, paint: Paint::default(), secret: SecretLines::new(snapshot) }
    }

    /// Returns the spans with these colours and links in texts for people.
    pub(crate) fn with_paint(self, paint: Paint) -> LineSpans<'a> {
        LineSpans { paint, ..self }
    }

    /// Whether reports must not quote the lines of a span.
    pub(crate) fn may_hold_secret(&self, span: Span) -> bool {
        self.secret.may_hold_secret(span)
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
        let end = if range.end <= line_range.end {
            LineCol { line, column: text.column_in(line_range, range.end, encoding) }
        } else {
            text.line_col(range.end, encoding)
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
#[cfg(test)]
pub(crate) fn write_findings(
    findings: &[Finding],
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    findings.iter().try_for_each(|finding| write_finding(finding, false, spans, out))
}

/// Returns a finding on one line: its place, unless a heading has the file, its severity, message and
/// code; one that `--fix` mends is marked.
pub(crate) fn finding_line(
    finding: &Finding,
    is_fixable: bool,
    has_heading: bool,
    spans: &LineSpans<'_>,
) -> String {
    line_at(finding, &spans.line_span(finding.span), (is_fixable, has_heading), spans)
}

fn line_at(
    finding: &Finding,
    span: &LineSpan,
    (is_fixable, has_heading): (bool, bool),
    spans: &LineSpans<'_>,
) -> String {
    let paint = spans.paint;
    let place = place_text(spans, (finding.span, span), has_heading);
    let severity = paint.color(severity_ink(finding.severity), finding.severity.name());
    let message = escape_terminal(&finding.message);
    let code = paint.color(Ink::Dim, &format!("[{}]", finding.rule.code));
    let mark =
        if is_fixable { format!(" {}", paint.color(Ink::Cyan, "[*]")) } else { String::new() };
    format!("{place}: {severity}: {message} {code}{mark}")
}

/// Returns a place with its link: `path:line:column`, or `line:column` below a heading.
fn place_text(
    spans: &LineSpans<'_>,
    (span, LineSpan { path, line, column, .. }): (Span, &LineSpan),
    has_heading: bool,
) -> String {
    let place = if has_heading {
        format!("{line}:{column}")
    } else {
        format!("{}:{line}:{column}", escape_terminal(path))
    };
    let file = spans.snapshot.path_of(span.file).map_or("", FilePath::as_str);
    spans.paint.link(file, &spans.paint.color(Ink::Bold, &place))
}

fn severity_ink(severity: Severity) -> Ink {
    match severity {
        Severity::Error => Ink::Red,
        Severity::Warning => Ink::Yellow,
        Severity::Info => Ink::Blue,
        Severity::Hint | Severity::Off => Ink::Cyan,
    }
}

/// Writes a finding with its line and carets; one that `--fix` mends is marked.
pub(crate) fn write_finding(
    finding: &Finding,
    is_fixable: bool,
    spans: &LineSpans<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let span = spans.line_span(finding.span);
    writeln!(out, "{}", line_at(finding, &span, (is_fixable, false), spans))?;
    if !spans.secret.may_hold_secret(finding.span) {
        write_line(&span, (spans.paint, severity_ink(finding.severity)), out)?;
    }
    for related in &finding.related {
        let related_span = spans.line_span(related.span);
        let place = place_text(spans, (related.span, &related_span), false);
        let LineSpan { line, text, .. } = related_span;
        writeln!(out, "    {place}: {}", escape_terminal(&related.message))?;
        if related.is_quoted && line != span.line && !spans.secret.may_hold_secret(related.span) {
            let text = text.trim();
            let shown = make_visible(text.chars().take(LINE_WIDTH));
            let more = if text.chars().nth(LINE_WIDTH).is_some() { "…" } else { "" };
            let margin = spans.paint.color(Ink::Dim, &format!("{line} |"));
            writeln!(out, "      {margin} {shown}{more}")?;
        }
    }
    Ok(())
}

/// Writes a span's first line with carets below the span; nothing if the line is blank.
fn write_line(span: &LineSpan, (paint, ink): (Paint, Ink), out: &mut dyn Write) -> io::Result<()> {
    if span.text.trim().is_empty() {
        return Ok(());
    }
    let margin = span.line.to_string();
    let width = if span.line == span.end_line {
        span.end_column.saturating_sub(span.column).max(1)
    } else {
        1
    };
    let column = span.column as usize - 1;
    // Of a long line, only the part around the span is shown.
    let start = if column > LINE_WIDTH * 3 / 4 { column - LINE_WIDTH / 2 } else { 0 };
    let end = start + LINE_WIDTH;
    let part = |from, to: usize| {
        make_visible(span.text.chars().skip(from).take(to.min(end).saturating_sub(from)))
    };
    let marked_end = column + (width as usize).min(MARK_WIDTH);
    let (before, marked) = (part(start, column), part(column, marked_end));
    let after = if width as usize > MARK_WIDTH { "…".to_owned() } else { part(marked_end, end) };
    let carets = "^".repeat(marked.chars().count().max(1));
    let indent = " ".repeat(before.chars().count());
    let carets = paint.color(ink, &carets);
    writeln!(out, "  {} {before}{marked}{after}", margin_bar(&margin, paint))?;
    writeln!(out, "  {} {indent}{carets}", margin_bar(&" ".repeat(margin.len()), paint))
}

fn margin_bar(margin: &str, paint: Paint) -> String {
    paint.color(Ink::Dim, &format!("{margin} |"))
}

/// Returns a part of a line as it is shown: a tab takes one column.
fn make_visible(text: impl Iterator<Item = char>) -> String {
    let text: String = text.map(|c| if c == '\t' { ' ' } else { c }).collect();
    escape_terminal(&text).into_owned()
}
