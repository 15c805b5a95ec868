//! Compact JSON.

use std::fmt::Write as _;

use super::{PrintOptions, REDACTED, mask_encrypted};
use crate::puppet::ruby::base64;
use crate::puppet::ruby::inspect::float_text;
use crate::puppet::value::{Data, Value};
use crate::text::escape::is_unprintable;

/// Returns the value as compact JSON, order kept.
///
/// A value that JSON cannot express becomes `{"__ptype": TYPE, "__pvalue": TEXT}`; keys that are no
/// strings become text.
pub fn print_json(value: &Value, options: &PrintOptions<'_>) -> String {
    let mut out = String::new();
    write_json(value, options, &mut out);
    out
}

fn write_json(value: &Value, options: &PrintOptions<'_>, out: &mut String) {
    if let Some(mark) = options.mark_for(value.secrecy()) {
        return json_string(mark, out);
    }
    match value.data() {
        Data::Null => out.push_str("null"),
        Data::Bool(value) => write!(out, "{value}").expect("writing to a string"),
        Data::Integer(value) => write!(out, "{value}").expect("writing to a string"),
        Data::BigInteger(digits) => out.push_str(digits),
        Data::Float(value) if value.is_finite() => out.push_str(&float_text(*value)),
        Data::Float(value) => write_tagged("Float", &float_text(*value), out),
        Data::String(text) if options.masks_parts_of(text) => {
            json_string(&mask_encrypted(text), out)
        }
        Data::String(text) => json_string(text, out),
        Data::Symbol(text) => json_string(text, out),
        Data::Binary(bytes) => write_tagged("Binary", &base64::encode(bytes), out),
        Data::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if options.is_enough_json(out) {
                    return;
                }
                out.push_str(if n > 0 { "," } else { "" });
                write_json(item, options, out);
            }
            out.push(']');
        }
        Data::Hash(hash) => {
            out.push('{');
            for (n, (key, member)) in hash.iter().enumerate() {
                if options.is_enough_json(out) {
                    return;
                }
                let key_text = key.to_text();
                out.push_str(if n > 0 { "," } else { "" });
                // Ruby's JSON library writes a key that is null as an empty text.
                json_string(if matches!(key.data(), Data::Null) { "" } else { &key_text }, out);
                out.push(':');
                write_json(&member.value, options, out);
            }
            out.push('}');
        }
        Data::Sensitive(inner) if options.reveal_sensitive => {
            out.push_str("{\"__ptype\":\"Sensitive\",\"__pvalue\":");
            write_json(inner, options, out);
            out.push('}');
        }
        Data::Sensitive(_) => json_string(REDACTED, out),
        Data::Rich(rich) => {
            out.push_str("{\"__ptype\":");
            json_string(rich.type_name(), out);
            out.push_str(",\"__pvalue\":");
            json_string(&rich.to_text(), out);
            out.push('}');
        }
    }
}

fn write_tagged(kind: &str, text: &str, out: &mut String) {
    write!(out, "{{\"__ptype\":\"{kind}\",\"__pvalue\":\"{text}\"}}").expect("writing to a string");
}

/// Returns a text as a string of JSON, which is one of YAML, too: unprintable characters are escapes,
/// those among them that JSON takes unescaped.
pub fn json_text(text: &str) -> String {
    let mut json = String::new();
    json_string(text, &mut json);
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            c if is_unprintable(c) => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string");
            }
            c => out.push(c),
        }
    }
    out
}

/// Writes a string as JSON.
pub fn json_string(text: &str, out: &mut String) {
    // Most texts have nothing to escape, and need no string of their own.
    let is_escaped = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
    if text.bytes().any(is_escaped) {
        out.push_str(&serde_json::to_string(text).expect("a text has a form in JSON"));
    } else {
        out.extend(["\"", text, "\""]);
    }
}
