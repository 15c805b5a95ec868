//! Values as Ruby sees them: the names of their classes, `to_s` and `inspect`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use crate::puppet::rich::Rich;
use crate::puppet::value::{Data, Key, Value};

impl Value {
    /// Returns the text that takes a token's place when this value is interpolated into a string:
    /// Ruby's `to_s`.
    ///
    /// Source: semantics 5.5.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self.data() {
            Data::String(text) => Cow::Borrowed(text),
            Data::Null => Cow::Borrowed(""),
            Data::Symbol(text) => Cow::Borrowed(text),
            Data::Sensitive(_) => Cow::Borrowed("Sensitive [value redacted]"),
            Data::Rich(rich) => Cow::Owned(rich.to_string()),
            other => {
                let mut out = String::new();
                inspect(other, &mut out);
                Cow::Owned(out)
            }
        }
    }

    /// Ruby's name for the class of this value, as Puppet's messages give it.
    pub fn class_name(&self) -> &'static str {
        match self.data() {
            Data::Null => "NilClass",
            Data::Bool(true) => "TrueClass",
            Data::Bool(false) => "FalseClass",
            Data::Integer(_) | Data::BigInteger(_) => "Integer",
            Data::Float(_) => "Float",
            Data::String(_) | Data::Binary(_) => "String",
            Data::Symbol(_) => "Symbol",
            Data::Array(_) => "Array",
            Data::Hash(_) => "Hash",
            Data::Sensitive(_) => "Puppet::Pops::Types::PSensitiveType::Sensitive",
            Data::Rich(rich) => rich.class_name(),
        }
    }
}

impl Key {
    /// Returns the key as people read it: a string as it is, anything else as Ruby shows it.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self.data() {
            Data::String(text) | Data::Symbol(text) => Cow::Borrowed(text),
            Data::Sensitive(_) => Cow::Borrowed("Sensitive [value redacted]"),
            other => {
                let mut out = String::new();
                inspect(other, &mut out);
                Cow::Owned(out)
            }
        }
    }
}

/// Writes `data` as Ruby's `inspect` does (Ruby up to 3.3: `{"a"=>1}`).
pub fn inspect(data: &Data, out: &mut String) {
    match data {
        Data::Null => out.push_str("nil"),
        Data::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Data::Integer(value) => write!(out, "{value}").expect("writing to a string"),
        Data::BigInteger(digits) => out.push_str(digits),
        Data::Float(value) => out.push_str(&float_text(*value)),
        Data::String(text) => inspect_string(text, out),
        Data::Symbol(text) => write!(out, ":{text}").expect("writing to a string"),
        Data::Binary(bytes) => inspect_string(&String::from_utf8_lossy(bytes), out),
        Data::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                inspect(item.data(), out);
            }
            out.push(']');
        }
        Data::Hash(hash) => {
            out.push('{');
            for (n, (key, member)) in hash.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                inspect(key.data(), out);
                out.push_str("=>");
                inspect(member.value.data(), out);
            }
            out.push('}');
        }
        Data::Sensitive(_) => out.push_str("#<Sensitive [value redacted]>"),
        Data::Rich(rich) => match &**rich {
            Rich::Regexp(pattern) => out.push_str(&pattern.with_delimiters()),
            rich => write!(out, "{rich}").expect("writing to a string"),
        },
    }
}

/// Returns a string as Ruby's `inspect` writes it.
pub fn inspect_text(text: &str) -> String {
    let mut out = String::new();
    inspect_string(text, &mut out);
    out
}

/// Returns a string as Ruby's `dump` writes it, in ASCII.
pub fn dump_text(text: &str) -> String {
    let mut out = String::new();
    quote(text, &mut out, |c| match c {
        ' '..='~' => None,
        c if c.is_ascii() => Some(format!("\\x{:02X}", u32::from(c))),
        c => Some(unicode_escape(c)),
    });
    out
}

fn inspect_string(text: &str, out: &mut String) {
    quote(text, out, |c| (!is_printable(c)).then(|| unicode_escape(c)));
}

/// Whether Ruby's `inspect` writes a character as it is: no control character but U+0085, no line
/// end, no character that Unicode has not assigned. Ruby 3.1 knows the assignments of
/// Unicode 13, hiera-ls those of the regex crate, which are later ones.
fn is_printable(c: char) -> bool {
    static UNPRINTABLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[[\p{Cc}--\x{85}]\p{Zl}\p{Zp}\p{Cn}]").expect("the pattern is valid")
    });
    matches!(c, ' '..='~') || !UNPRINTABLE.is_match(c.encode_utf8(&mut [0; 4]))
}

fn unicode_escape(c: char) -> String {
    match u32::from(c) {
        code if code <= 0xffff => format!("\\u{code:04X}"),
        code => format!("\\u{{{code:X}}}"),
    }
}

/// Writes a string within quotes. `escape` returns the escape of a character that has no escape of
/// a single letter; `None` where the character stands for itself.
fn quote(text: &str, out: &mut String, escape: impl Fn(char) -> Option<String>) {
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\u{8}' => out.push_str("\\b"),
            '\u{7}' => out.push_str("\\a"),
            '\u{1b}' => out.push_str("\\e"),
            '#' if matches!(chars.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            c => match escape(c) {
                Some(escape) => out.push_str(&escape),
                None => out.push(c),
            },
        }
    }
    out.push('"');
}

/// Returns a float as Ruby's `to_s` writes it: shortest digits that read back, plain from 1e-4 up
/// to 1e15, with an exponent elsewhere.
pub fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e15).contains(&magnitude) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').expect("Rust writes an exponent");
    let exponent: i32 = exponent.parse().expect("Rust writes a number");
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puppet::value::Provenance;

    #[test]
    fn floats_are_written_as_ruby_writes_them() {
        for (value, text) in [
            (100.0, "100.0"),
            (0.0001, "0.0001"),
            (1e-5, "1.0e-05"),
            (100_000_000_000_000.0, "100000000000000.0"),
            (1e15, "1.0e+15"),
            (1e16, "1.0e+16"),
            (1.234567890123456e+25, "1.234567890123456e+25"),
            (-0.0, "-0.0"),
        ] {
            assert_eq!(float_text(value), text);
        }
    }

    /// Source: Ruby 3.1.
    #[test]
    fn characters_without_a_glyph_are_escaped() {
        let text =
            "\u{1}\u{7f}\u{85}\u{9f}\u{378}\u{feff}\u{2028}\u{e000}\u{ffff}\u{1f600}\u{10ffff}é#{";
        assert_eq!(
            inspect_text(text),
            "\"\\u0001\\u007F\u{85}\\u009F\\u0378\u{feff}\\u2028\u{e000}\\uFFFF\u{1f600}\\u{10FFFF}é\\#{\""
        );
        assert_eq!(
            dump_text(text),
            r##""\x01\x7F\u0085\u009F\u0378\uFEFF\u2028\uE000\uFFFF\u{1F600}\u{10FFFF}\u00E9\#{""##
        );
    }

    #[test]
    fn inspect_escapes_what_ruby_escapes() {
        let list = Value::new_array(
            vec![
                "a\"\n#{x}".into(),
                Value::new_null(None),
                Value::new(Data::Integer(5), Provenance::from_source(None)),
            ],
            Provenance::from_source(None),
        );
        assert_eq!(list.to_text(), r##"["a\"\n\#{x}", nil, 5]"##);
    }
}
