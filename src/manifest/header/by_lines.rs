//! Headers that do not parse, read line by line.

use crate::manifest::model::{Excerpt, Parameter};
use crate::manifest::strings::variable_length;
use crate::text::TextRange;

/// Reads the parameters that the lines of a header show, and where the header ends. `from` is the
/// byte behind the list's opening bracket.
///
/// The header ends before the first line that begins with `)`, or that can only belong to a body or
/// to another definition. Then each part of a line, cut at commas outside of brackets, is parsed
/// alone: `[type] $name [= default]`.
pub(crate) fn by_lines(text: &str, from: usize) -> (Vec<Parameter>, usize) {
    let mut parameters = Vec::new();
    let mut start = from;
    for line in text[from..].split_inclusive('\n') {
        if start > from && ends_header(line) {
            return (parameters, start);
        }
        match part_of_line(text, start, line, &mut parameters) {
            Some(end) => return (parameters, end),
            None => start += line.len(),
        }
    }
    (parameters, text.len())
}

/// Whether a line cannot be part of a parameter list.
fn ends_header(line: &str) -> bool {
    let trimmed = line.trim_start();
    trimmed.starts_with([')', '{'])
        || line.starts_with('}')
        || ["class", "define", "function", "node", "type"]
            .into_iter()
            .any(|word| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t'])))
}

/// Takes the parameters of a line; where the header ends within it, the byte of its `)`.
fn part_of_line(
    text: &str,
    start: usize,
    line: &str,
    parameters: &mut Vec<Parameter>,
) -> Option<usize> {
    let mut depth = 0_usize;
    let mut part = 0;
    let (mut string_end, mut in_bars) = (0, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if at < string_end => {}
            b'\'' | b'"' => string_end = string_end_on_line(line, at, byte),
            b'#' if line[..at].ends_with([' ', '\t']) || at == 0 => {
                parameters.extend(parse_parameter(text, start + part..start + at));
                return None;
            }
            b'|' => in_bars = !in_bars,
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 && closes_list(&line[at + 1..]) => {
                parameters.extend(parse_parameter(text, start + part..start + at));
                return Some(start + at);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 && !in_bars => {
                parameters.extend(parse_parameter(text, start + part..start + at));
                part = at + 1;
            }
            _ => {}
        }
    }
    parameters.extend(parse_parameter(text, start + part..start + line.len()));
    None
}

/// Returns the byte behind the string that a quote begins; that behind the quote if the line does
/// not end the string.
fn string_end_on_line(line: &str, at: usize, quote: u8) -> usize {
    let mut escaped = false;
    for (end, byte) in line.bytes().enumerate().skip(at + 1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => return end + 1,
            _ => {}
        }
    }
    at + 1
}

/// Whether the text behind a `)` shows that it was the list's.
fn closes_list(rest: &str) -> bool {
    let rest = rest.trim();
    rest.starts_with('{') || rest.starts_with("inherits ") || rest.starts_with(">>")
}

/// Reads the parameter that a part of a line shows: the first `$name` before any `=`.
fn parse_parameter(text: &str, part: std::ops::Range<usize>) -> Option<Parameter> {
    let within = &text[part.clone()];
    let dollar = dollar_of_name(within)?;
    let name = &within[dollar + 1..];
    let length = variable_length(name.as_bytes());
    let (name, rest) = name.split_at(length);
    let before = within[..dollar].trim_end();
    let (before, captures_rest) = match before.strip_suffix('*') {
        Some(before) => (before.trim_end(), true),
        None => (before, false),
    };
    let behind = rest.trim_start();
    let follows = behind.is_empty() || behind.starts_with('=') && !behind.starts_with("=>");
    if name.is_empty() || name.contains("::") || !follows || !before_parameter(before) {
        return None;
    }
    let start = part.start + dollar;
    let default_start = part.end - behind.len() + 1;
    Some(Parameter {
        name: name.to_owned(),
        range: TextRange::from_usize(start..start + 1 + length),
        data_type: new_excerpt(before, part.start).filter(|found| is_type(&found.text)),
        default: behind.strip_prefix('=').and_then(|rest| new_excerpt(rest, default_start)),
        value: None,
        captures_rest,
        documentation: None,
    })
}

fn new_excerpt(text: &str, start: usize) -> Option<Excerpt> {
    let start = start + text.len() - text.trim_start().len();
    let text = text.trim();
    let range = TextRange::from_usize(start..start + text.len());
    (!text.is_empty()).then(|| Excerpt { range, text: text.to_owned() })
}

/// Returns the `$` of the parameter: the first one outside of brackets, else the first one at all,
/// with no `=` before it.
fn dollar_of_name(part: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in part.bytes().enumerate() {
        match byte {
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => depth = (depth - 1).max(0),
            b'=' if depth == 0 => return None,
            b'$' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    part.find('$').filter(|dollar| !part[..*dollar].contains('='))
}

/// Whether a text may stand before a parameter: nothing, a type, or the end of a type that was
/// begun on a line before.
fn before_parameter(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.ends_with(']') || text.ends_with('}') || is_type(text)
}

/// Whether a text can be a type: a name in upper case, perhaps with brackets that fit.
fn is_type(text: &str) -> bool {
    let (name, rest) = text.split_at(text.find('[').unwrap_or(text.len()));
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase() || c == ':')
        && name.trim_end().bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':'));
    let opened = rest.matches('[').count();
    is_name && (rest.is_empty() || rest.ends_with(']') && opened == rest.matches(']').count())
}
