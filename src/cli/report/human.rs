//! Findings for people: `path:line:column: severity: message [code]`, the line with its part underlined, and a count.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Places;
use crate::diagnostics::{Finding, Severity};

pub(super) fn write(findings: &[Finding], places: &Places<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_findings(findings, places, out)?;
    writeln!(out, "{}", summary(findings, places))
}

/// The findings without the count.
pub(super) fn write_findings(findings: &[Finding], places: &Places<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let place = places.of(finding.span);
        let severity = finding.severity.name();
        writeln!(
            out,
            "{}:{}:{}: {severity}: {} [{}]",
            place.path,
            place.line,
            place.column,
            printable(finding.message.chars()),
            finding.rule.code
        )?;
        if !place.text.trim().is_empty() {
            let margin = place.line.to_string();
            let (shown, before) = shortened(&place.text, place.column as usize - 1);
            let width = if place.line == place.end_line { place.end_column.saturating_sub(place.column).max(1) } else { 1 };
            let room = (shown.chars().count() - before.min(shown.chars().count())).max(1);
            writeln!(out, "  {margin} | {shown}")?;
            writeln!(out, "  {} | {}{}", " ".repeat(margin.len()), " ".repeat(before), "^".repeat((width as usize).min(room)))?;
        }
        for related in &finding.related {
            let place = places.of(related.span);
            writeln!(out, "    {}:{}:{}: {}", place.path, place.line, place.column, printable(related.message.chars()))?;
        }
    }
    Ok(())
}

/// A message on one line: what a repository wrote into a key must not start another, or steer a terminal.
fn printable(message: impl Iterator<Item = char>) -> String {
    message.map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The part of a long line around the column, tabs as blanks, and where the column is in it.
fn shortened(line: &str, column: usize) -> (String, usize) {
    const WIDTH: usize = 120;
    let start = if column > WIDTH * 3 / 4 { column - WIDTH / 2 } else { 0 };
    (printable(line.chars().skip(start).take(WIDTH)), column - start)
}

fn summary(findings: &[Finding], places: &Places<'_>) -> String {
    let mut counts: BTreeMap<std::cmp::Reverse<Severity>, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(std::cmp::Reverse(finding.severity)).or_default() += 1;
    }
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let files = plural(places.snapshot.files().count(), "file");
    if counts.is_empty() {
        return format!("{files} checked, nothing found");
    }
    let counts: Vec<String> = counts.iter().map(|(severity, count)| plural(*count, severity.0.name())).collect();
    format!("{files} checked: {}", counts.join(", "))
}
