//! Comments above definitions and beside parameters.

use super::model::{Definition, Documentation, DocumentedParameter, Parameter};
use crate::text::TextRange;

/// A line of a comment: its text without `#` and one blank, and where that begins.
struct CommentLine<'t> {
    text: &'t str,
    start: usize,
}

/// Returns the comment whose lines stand right above the byte at `at`, each a comment of its own.
pub(super) fn documentation_above(text: &str, at: usize) -> Documentation {
    read(&comment_above(text, at))
}

/// Returns the lines of a comment above a place, the first one first.
fn comment_above(text: &str, at: usize) -> Vec<CommentLine<'_>> {
    let mut lines = Vec::new();
    let mut end = text[..at].rfind('\n').unwrap_or(0);
    while end > 0 {
        let start = text[..end].rfind('\n').map_or(0, |found| found + 1);
        let Some(line) = comment_line(text, start, end) else { break };
        if !is_directive(line.text) {
            lines.push(line);
        }
        end = start.saturating_sub(1);
    }
    lines.reverse();
    lines
}

/// Returns the text of a comment line; `None` for a line that is no comment.
fn comment_line(text: &str, start: usize, end: usize) -> Option<CommentLine<'_>> {
    let line = text[start..end].trim_end();
    let content = line.trim_start().trim_start_matches('#');
    if content.len() == line.trim_start().len() {
        return None;
    }
    let content = content.strip_prefix([' ', '\t']).unwrap_or(content);
    Some(CommentLine { text: content, start: start + line.len() - content.len() })
}

/// Whether a comment is meant for a linter (M35).
fn is_directive(text: &str) -> bool {
    text.starts_with("lint:") || text.starts_with("puppet-lint:")
}

/// The part of a comment that the next lines belong to.
enum Current {
    Text,
    /// A tag: indented lines go on with it.
    Tag(CommentTarget),
    /// `[*name*]` or `$name::`: lines go on with it that are indented deeper than this.
    Older(usize),
}

enum CommentTarget {
    Parameter,
    Summary,
    Other,
}

fn read(lines: &[CommentLine<'_>]) -> Documentation {
    let mut doc = Documentation::default();
    let mut text: Vec<&str> = Vec::new();
    let mut current = Current::Text;
    for line in lines {
        let indent = line.text.len() - line.text.trim_start().len();
        if let Some(tag) = line.text.strip_prefix('@') {
            current = Current::Tag(begin_tag(&mut doc, tag, line.start + 1));
            continue;
        }
        if let Some(parameter) = older_parameter(line) {
            doc.parameters.push(parameter);
            current = Current::Older(indent);
            continue;
        }
        let blank = line.text.trim().is_empty();
        match &current {
            Current::Tag(target) if blank || indent > 0 => {
                go_on(&mut doc, target, line.text.trim());
            }
            Current::Older(outer) if blank || indent > *outer => {
                go_on(&mut doc, &CommentTarget::Parameter, line.text.trim());
            }
            _ => {
                current = Current::Text;
                text.push(line.text);
            }
        }
    }
    doc.text = text.join("\n").trim().to_owned();
    for parameter in &mut doc.parameters {
        parameter.text = parameter.text.trim().to_owned();
    }
    doc.summary = doc.summary.map(|summary| summary.trim().to_owned());
    doc
}

fn go_on(doc: &mut Documentation, target: &CommentTarget, line: &str) {
    let text = match target {
        CommentTarget::Parameter => doc.parameters.last_mut().map(|parameter| &mut parameter.text),
        CommentTarget::Summary => doc.summary.as_mut(),
        CommentTarget::Other => None,
    };
    if let Some(text) = text {
        text.push('\n');
        text.push_str(line);
    }
}

/// Begins the tag that stands behind an `@`.
fn begin_tag(doc: &mut Documentation, tag: &str, start: usize) -> CommentTarget {
    let name_length =
        tag.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(tag.len());
    let (name, rest) = tag.split_at(name_length);
    match name {
        "summary" => {
            doc.summary = Some(rest.trim().to_owned());
            CommentTarget::Summary
        }
        "param" => match tagged_parameter(rest, start + name_length) {
            Some(parameter) => {
                doc.parameters.push(parameter);
                CommentTarget::Parameter
            }
            None => CommentTarget::Other,
        },
        _ => CommentTarget::Other,
    }
}

/// Reads `NAME [Type] text` or `[Type] NAME text`.
fn tagged_parameter(rest: &str, start: usize) -> Option<DocumentedParameter> {
    let behind_type = skip_brackets(rest.trim_start());
    let at = behind_type.strip_prefix('$').unwrap_or(behind_type);
    let length = at.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')));
    let (name, text) = at.split_at(length.unwrap_or(at.len()));
    let start = start + rest.len() - at.len();
    (!name.is_empty()).then(|| DocumentedParameter {
        name: name.to_owned(),
        range: TextRange::from_usize(start..start + name.len()),
        text: skip_brackets(text.trim_start()).to_owned(),
    })
}

/// Returns the text behind a type in brackets at the beginning.
fn skip_brackets(text: &str) -> &str {
    if !text.starts_with('[') {
        return text;
    }
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 1 => return text[at + 1..].trim_start(),
            b']' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// Reads `[*name*]` or `$name::`, the forms of older documentation.
fn older_parameter(line: &CommentLine<'_>) -> Option<DocumentedParameter> {
    let trimmed = line.text.trim_start();
    let (name, (length, behind)) = match trimmed.strip_prefix("[*") {
        Some(rest) => {
            let rest = rest.strip_prefix('$').unwrap_or(rest);
            (rest, read_name(rest, "*]")?)
        }
        None => {
            let rest = trimmed.strip_prefix('$')?;
            (rest, read_name(rest, "::")?)
        }
    };
    let start = line.start + line.text.len() - name.len();
    Some(DocumentedParameter {
        name: name[..length].to_owned(),
        range: TextRange::from_usize(start..start + length),
        text: name[behind..].trim().to_owned(),
    })
}

fn read_name(rest: &str, close: &str) -> Option<(usize, usize)> {
    let length =
        rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    (length > 0 && rest[length..].starts_with(close)).then_some((length, length + close.len()))
}

/// Gives each parameter its documentation: from the comment of the definition, else the comment
/// right above it or behind it on its line.
pub(super) fn document_parameters(text: &str, definition: &mut Definition) {
    let documented = &definition.documentation.parameters;
    let mut last_line = line_start(text, definition.name_range.start as usize);
    for parameter in definition.parameters.iter_mut() {
        let said = documented.iter().find(|said| said.name == parameter.name);
        let said = said.map(|said| said.text.clone()).filter(|said| !said.is_empty());
        let line = line_start(text, first_byte(parameter));
        // A comment above the list's first line is the definition's, not a parameter's.
        parameter.documentation = said
            .or_else(|| (line > last_line).then(|| parameter_comment(text, parameter)).flatten());
        last_line = line;
    }
}

fn first_byte(parameter: &Parameter) -> usize {
    parameter.data_type.as_ref().map_or(parameter.range.start, |written| written.range.start)
        as usize
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |found| found + 1)
}

/// Returns the comment above a parameter or behind it.
fn parameter_comment(text: &str, parameter: &Parameter) -> Option<String> {
    let above = comment_above(text, first_byte(parameter));
    let lines: Vec<&str> = above.iter().map(|line| line.text.trim()).collect();
    let above = lines.join("\n").trim().to_owned();
    if !above.is_empty() {
        return Some(above);
    }
    let end = parameter.default.as_ref().map_or(parameter.range, |default| default.range).end;
    let rest = text[end as usize..].lines().next()?.trim_start_matches([',', ' ', '\t']);
    let comment = rest.strip_prefix('#')?.trim_start_matches('#').trim();
    (!comment.is_empty() && !is_directive(comment)).then(|| comment.to_owned())
}
