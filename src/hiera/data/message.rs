//! The messages of Ruby's parsers for syntax errors, with the places that the messages name.

use super::DataFormat;
use crate::yaml::{SyntaxError, SyntaxErrorKind};

/// Returns the message of Ruby's parser for a syntax error. libyaml names no place for a control
/// character, so the message has that of the start of the text.
pub(super) fn refusal_message(text: &str, problem: &SyntaxError, format: DataFormat) -> String {
    let is_control = problem.kind == SyntaxErrorKind::ControlCharacter;
    let start = if is_control { 0 } else { blamed_offset(problem) };
    let before = &text[..(start as usize).min(text.len())];
    let line = before.matches('\n').count() + 1;
    if format == DataFormat::Yaml {
        let (line, column) = libyaml_place(before);
        return located_message(problem, line, column);
    }
    // The HOCON library names no place for a key that is no path.
    if format == DataFormat::Hocon && problem.kind == SyntaxErrorKind::EmptyKeyElement {
        return problem.message.clone();
    }
    if format == DataFormat::Hocon {
        // Puppet passes the text to the HOCON library as a string, without a file name.
        return format!("String: {line}: {}", problem.message);
    }
    let (line, column) = json_place(before);
    located_message(problem, line, column)
}

/// Returns the line and column that Ruby's JSON names for a place behind this text, counted from 1.
pub(super) fn json_place(before: &str) -> (usize, usize) {
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Returns the line and column that libyaml names for a place behind this text, counted from 1.
fn libyaml_place(before: &str) -> (usize, usize) {
    let (mut line, mut column) = (1, 1);
    let mut chars = before.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_line = match c {
            '\r' => chars.peek() != Some(&'\n'),
            c => matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}'),
        };
        (line, column) = if ends_line { (line + 1, 1) } else { (line, column + 1) };
    }
    (line, column)
}

/// Returns the place that the message names: the start of the construct that was being read, if the
/// parser records it, else that of the error.
pub(super) fn blamed_offset(problem: &SyntaxError) -> u32 {
    problem.context.as_ref().map_or(problem.span.start, |(_, range)| range.start)
}

/// Returns the message for a syntax error at a line and column, both counted from 1.
pub(super) fn located_message(problem: &SyntaxError, line: usize, column: usize) -> String {
    let context =
        problem.context.as_ref().map(|(context, _)| format!(" {context}")).unwrap_or_default();
    format!("{}{context} at line {line} column {column}", problem.message)
}
