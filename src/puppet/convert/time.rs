//! `Timestamp.new` and `Timespan.new`.

use super::{
    ConversionResult, Failure, Parameters, call_function, is_true, local_type, rich_value,
    string_from, struct_member,
};
use crate::puppet::rich::{NANOS_PER_SECOND, Rich};
use crate::puppet::ruby::inspect::float_text;
use crate::puppet::types::{DataType, Range};
use crate::puppet::value::{Data, Value};

mod span;
mod stamp;

use DataType as T;

/// Reads a bound of the type `Timestamp` from text.
pub fn timestamp_bound(text: &str) -> Option<i128> {
    stamp::parse(text, None, None).ok()
}

/// Reads a bound of the type `Timespan` from text.
pub fn timespan_bound(text: &str) -> Option<i128> {
    span::parse(text, None).ok()
}

fn formats_type() -> DataType {
    let some = Some(Range { from: Some(1), to: None });
    local_type("Formats", T::Variant(vec![string_from(2), T::array_type(string_from(2), some)]))
}

/// One format, or several to be tried in turn.
enum TimeFormats {
    One(String),
    Several(Vec<String>),
}

fn read_formats(value: Option<&Value>) -> Option<TimeFormats> {
    match value?.data() {
        Data::String(text) => Some(TimeFormats::One(text.to_string())),
        Data::Array(items) => Some(TimeFormats::Several(
            items.iter().map(|item| item.to_text().into_owned()).collect(),
        )),
        _ => None,
    }
}

fn read_seconds(value: &Value) -> Result<i128, Failure> {
    match value.data() {
        Data::Integer(seconds) => Ok(i128::from(*seconds) * NANOS_PER_SECOND),
        Data::BigInteger(digits) => digits
            .parse::<i128>()
            .ok()
            .and_then(|seconds| seconds.checked_mul(NANOS_PER_SECOND))
            .ok_or(Failure::Unknown),
        Data::Float(seconds) => match seconds * 1e9 {
            nanos if !nanos.is_finite() => Err(Failure::Error(float_text(nanos))),
            nanos if nanos.abs() < 1e38 => Ok(nanos.trunc() as i128),
            _ => Err(Failure::Unknown),
        },
        _ => Err(Failure::Unknown),
    }
}

fn number_type() -> DataType {
    T::Variant(vec![T::INTEGER, T::FLOAT])
}

pub(super) fn convert_timestamp(arguments: &[Value]) -> ConversionResult {
    let hash = T::Struct(vec![
        struct_member("string", false, string_from(1)),
        struct_member("format", true, formats_type()),
        struct_member("timezone", true, string_from(1)),
    ]);
    let signatures: [Parameters<'_>; 4] = [
        (&[], 0),
        (&[("seconds", number_type())], 1),
        (
            &[("string", string_from(1)), ("format", formats_type()), ("timezone", string_from(1))],
            1,
        ),
        (&[("hash_arg", hash)], 1),
    ];
    call_function("new_timestamp", &signatures, &[], arguments, |form, arguments| {
        let nanos = match form {
            1 => read_seconds(&arguments[0])?,
            2 => {
                let zone = arguments.get(2).and_then(Value::as_str);
                stamp::parse(&arguments[0].to_text(), read_formats(arguments.get(1)), zone)?
            }
            _ => {
                let text = arguments[0]
                    .get("string")
                    .map(|text| text.to_text().into_owned())
                    .unwrap_or_default();
                stamp::parse(
                    &text,
                    read_formats(arguments[0].get("format")),
                    arguments[0].get("timezone").and_then(Value::as_str),
                )?
            }
        };
        Ok(rich_value(Rich::Timestamp(nanos), arguments))
    })
}

pub(super) fn convert_timespan(arguments: &[Value]) -> ConversionResult {
    let fields =
        ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
    let string_hash = T::Struct(vec![
        struct_member("string", false, string_from(1)),
        struct_member("format", true, formats_type()),
    ]);
    let mut members = vec![struct_member("negative", true, T::BOOLEAN)];
    members.extend(fields.map(|name| struct_member(name, true, T::INTEGER)));
    let signatures: [Parameters<'_>; 5] = [
        (&[("seconds", number_type())], 1),
        (&[("string", string_from(1)), ("format", formats_type())], 1),
        (&fields.map(|name| (name, T::INTEGER)), 4),
        (&[("hash_arg", string_hash)], 1),
        (&[("hash_arg", T::Struct(members))], 1),
    ];
    call_function("new_timespan", &signatures, &[], arguments, |form, arguments| {
        let nanos = match form {
            0 => read_seconds(&arguments[0])?,
            1 => span::parse(&arguments[0].to_text(), read_formats(arguments.get(1)))?,
            3 => {
                let text = arguments[0]
                    .get("string")
                    .map(|text| text.to_text().into_owned())
                    .unwrap_or_default();
                span::parse(&text, read_formats(arguments[0].get("format")))?
            }
            _ => {
                let part = |n: usize| {
                    timespan_field(if form == 2 {
                        arguments.get(n)
                    } else {
                        arguments[0].get(fields[n])
                    })
                };
                let seconds = ((part(0)? * 24 + part(1)?) * 60 + part(2)?) * 60 + part(3)?;
                let nanos = ((seconds * 1000 + part(4)?) * 1000 + part(5)?) * 1000 + part(6)?;
                let negative = is_true(arguments[0].get("negative"));
                if negative { -nanos } else { nanos }
            }
        };
        Ok(rich_value(Rich::Timespan(nanos), arguments))
    })
}

fn timespan_field(value: Option<&Value>) -> Result<i128, Failure> {
    match value.map(|value| value.data()) {
        Some(Data::Integer(number)) => Ok(i128::from(*number)),
        None => Ok(0),
        Some(_) => Err(Failure::Unknown),
    }
}

/// Returns Puppet's message where no format fits.
fn no_format_fits(text: &str, formats: &[String]) -> Failure {
    Failure::Error(format!(
        "Unable to parse '{text}' using any of the formats {}",
        formats.join(", ")
    ))
}

fn format_does_not_fit(text: &str, format: &str) -> Failure {
    Failure::Error(format!("Unable to parse '{text}' using format '{format}'"))
}
