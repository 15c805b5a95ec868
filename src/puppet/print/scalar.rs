//! Scalars of YAML in the plainest style that Psych reads back as the same.

use super::json::json_text;
use super::{PrintOptions, REDACTED, mask_encrypted};
use crate::puppet::ruby::base64;
use crate::puppet::ruby::inspect::float_text;
use crate::puppet::value::{Data, Value};
use crate::text::escape::is_unprintable;
use crate::yaml::psych::{Resolved, resolve_plain};

/// Returns a scalar (or an empty collection) in the plainest style that Psych reads back as the
/// same.
pub(super) fn print_scalar(
    value: &Value,
    options: &PrintOptions<'_>,
    indent: usize,
    blocks: bool,
) -> String {
    match value.data() {
        Data::Null => "~".into(),
        Data::Bool(value) => value.to_string(),
        Data::Integer(value) => value.to_string(),
        Data::BigInteger(digits) => digits.to_string(),
        Data::Float(value) if value.is_nan() => ".nan".into(),
        Data::Float(value) if value.is_infinite() => {
            if *value > 0.0 { ".inf" } else { "-.inf" }.into()
        }
        Data::Float(value) => float_text(*value),
        Data::Symbol(text) => format!(":{text}"),
        Data::Binary(bytes) => format!("!!binary {}", base64::encode(bytes)),
        Data::Array(_) => "[]".into(),
        Data::Hash(_) => "{}".into(),
        Data::Sensitive(_) => REDACTED.into(),
        Data::Rich(rich) => print_string(&rich.to_text(), indent, blocks),
        Data::String(text) if options.masks_parts_of(text) => mask_encrypted(text),
        Data::String(text) => print_string(text, indent, blocks),
    }
}

/// Returns a text as a scalar of YAML on one line that Psych reads as the same string.
pub fn quote_scalar(text: &str) -> String {
    print_string(text, 0, false)
}

fn print_string(text: &str, indent: usize, blocks: bool) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let blocky = blocks
        && lines.contains('\n')
        && !lines.starts_with([' ', '\n', '\t'])
        && !lines.ends_with('\n')
        && !lines.contains(|c: char| is_unprintable(c) && c != '\n');
    if blocky {
        let mark = if text.ends_with('\n') { "|" } else { "|-" };
        let pad = " ".repeat(indent.max(2));
        let body: Vec<String> = lines
            .split('\n')
            .map(|line| if line.is_empty() { String::new() } else { format!("{pad}{line}") })
            .collect();
        return format!("{mark}\n{}", body.join("\n"));
    }
    quote_single(text)
}

/// Returns a text as a scalar of YAML in single quotes; in double quotes where it needs escapes.
pub fn quote_single(text: &str) -> String {
    match text.contains(is_unprintable) {
        true => json_text(text),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

/// Whether a string can stand without quotes and still be that string.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let indicator = "-?:,[]{}#&*!|>'\"%@`";
    let starts_well = !indicator.contains(first)
        || (matches!(first, '-' | '?' | ':')
            && text[1..].starts_with(|c: char| !c.is_whitespace()));
    starts_well
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.contains(is_unprintable)
        && text.trim() == text
        && !text.starts_with("---")
        && !text.starts_with("...")
        && text != "<<"
        && text != "="
        && matches!(resolve_plain(text), Resolved::String)
}
