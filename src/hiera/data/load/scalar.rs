//! The values of scalars, by their style, their tag and the file's format.

use super::super::{DataFormat, FileRefusal};
use crate::puppet::ruby::base64;
use crate::puppet::ruby::inspect::inspect_text;
use crate::puppet::ruby::strings::is_space;
use crate::puppet::value::Data;
use crate::yaml::psych::{Resolved, TagMeaning, resolve_plain};
use crate::yaml::{ScalarStyle, resolve_hocon, resolve_json};

/// The value of a scalar.
pub(super) enum Scalar {
    /// The text itself, which may have tokens.
    Text,
    /// Another value.
    Data(Data),
    /// None: Puppet refuses the file.
    Refused(FileRefusal),
}

/// Reads a scalar. `text` is its decoded text.
pub(super) fn read(
    style: ScalarStyle,
    text: &str,
    tag: Option<TagMeaning>,
    format: DataFormat,
) -> Scalar {
    let resolved = match (tag, style) {
        (Some(TagMeaning::Text), _) => Resolved::String,
        (Some(TagMeaning::Binary), _) => return Scalar::Data(decode_binary(text)),
        (Some(TagMeaning::Symbol), _) => Resolved::Symbol(text.to_owned()),
        (Some(TagMeaning::Float), _) => as_float(text),
        (Some(TagMeaning::RefusedByText), _) if text.is_empty() => Resolved::Null,
        (Some(TagMeaning::NormalRules), _) | (None, ScalarStyle::Plain) => resolve_plain(text),
        (_, ScalarStyle::JsonLiteral) if format == DataFormat::Hocon => resolve_hocon(text),
        (_, ScalarStyle::JsonLiteral) => resolve_json(text),
        _ => Resolved::String,
    };
    Scalar::Data(match resolved {
        Resolved::Null => Data::Null,
        Resolved::Bool(value) => Data::Bool(value),
        Resolved::Integer(value) => Data::Integer(value),
        Resolved::BigInteger(digits) => Data::BigInteger(digits.into()),
        Resolved::Float(value) => Data::Float(value),
        Resolved::Symbol(name) => Data::Symbol(name.into()),
        Resolved::String => return Scalar::Text,
        Resolved::Date => return Scalar::Refused(FileRefusal::Class("Date".into())),
        Resolved::Time => return Scalar::Refused(FileRefusal::Class("Time".into())),
        Resolved::BadNumber(message) => return Scalar::Refused(FileRefusal::Ruby(message)),
    })
}

/// Decodes a `!!binary` scalar: text when its bytes are UTF-8.
fn decode_binary(text: &str) -> Data {
    match String::from_utf8(base64::decode(text)) {
        Ok(text) => Data::String(text.into()),
        Err(error) => Data::Binary(error.into_bytes().into()),
    }
}

/// Reads a scalar tagged as a float: the result of Ruby's `Float()` for its plain meaning.
fn as_float(text: &str) -> Resolved {
    match resolve_plain(text) {
        Resolved::Integer(value) => Resolved::Float(value as f64),
        Resolved::BigInteger(digits) => digits.parse().map_or(Resolved::String, Resolved::Float),
        Resolved::Null => refuse_float("nil"),
        Resolved::Bool(value) => refuse_float(if value { "true" } else { "false" }),
        Resolved::Symbol(_) => refuse_float("Symbol"),
        Resolved::String => {
            let number = text.trim_matches(is_space);
            let is_number = number
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
                && number.ends_with(|c: char| c.is_ascii_digit())
                && number.bytes().all(|byte| {
                    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'e' | b'E' | b'.')
                });
            match number.parse() {
                Ok(value) if is_number => Resolved::Float(value),
                _ => Resolved::BadNumber(format!(
                    "invalid value for Float(): {}",
                    inspect_text(text)
                )),
            }
        }
        other => other,
    }
}

fn refuse_float(what: &str) -> Resolved {
    Resolved::BadNumber(format!("can't convert {what} into Float"))
}
