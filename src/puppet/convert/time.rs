//! `Timestamp.new` and `Timespan.new`.

use super::{Failure, Made, Parameters, call, is_true, local, member, rich, string_from};
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

fn formats() -> DataType {
    let some = Some(Range { from: Some(1), to: None });
    local("Formats", T::Variant(vec![string_from(2), T::array(string_from(2), some)]))
}

/// One format, or several to be tried in turn.
enum Given {
    One(String),
    Several(Vec<String>),
}

fn given(value: Option<&Value>) -> Option<Given> {
    match value?.data() {
        Data::String(text) => Some(Given::One(text.to_string())),
        Data::Array(items) => {
            Some(Given::Several(items.iter().map(|item| item.to_text().into_owned()).collect()))
        }
        _ => None,
    }
}

fn seconds(value: &Value) -> Result<i128, Failure> {
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

fn number() -> DataType {
    T::Variant(vec![T::INTEGER, T::FLOAT])
}

pub(super) fn timestamp(arguments: &[Value]) -> Made {
    let hash = T::Struct(vec![
        member("string", false, string_from(1)),
        member("format", true, formats()),
        member("timezone", true, string_from(1)),
    ]);
    let signatures: [Parameters<'_>; 4] = [
        (&[], 0),
        (&[("seconds", number())], 1),
        (&[("string", string_from(1)), ("format", formats()), ("timezone", string_from(1))], 1),
        (&[("hash_arg", hash)], 1),
    ];
    call("new_timestamp", &signatures, &[], arguments, |form, arguments| {
        let nanos = match form {
            1 => seconds(&arguments[0])?,
            2 => {
                let zone = arguments.get(2).and_then(Value::as_str);
                stamp::parse(&arguments[0].to_text(), given(arguments.get(1)), zone)?
            }
            _ => {
                let part = |name: &str| arguments[0].get(name);
                let text =
                    part("string").map(|text| text.to_text().into_owned()).unwrap_or_default();
                stamp::parse(
                    &text,
                    given(part("format")),
                    part("timezone").and_then(Value::as_str),
                )?
            }
        };
        Ok(rich(Rich::Timestamp(nanos), arguments))
    })
}

pub(super) fn timespan(arguments: &[Value]) -> Made {
    let fields =
        ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
    let string_hash =
        T::Struct(vec![member("string", false, string_from(1)), member("format", true, formats())]);
    let mut members = vec![member("negative", true, T::BOOLEAN)];
    members.extend(fields.map(|name| member(name, true, T::INTEGER)));
    let signatures: [Parameters<'_>; 5] = [
        (&[("seconds", number())], 1),
        (&[("string", string_from(1)), ("format", formats())], 1),
        (&fields.map(|name| (name, T::INTEGER)), 4),
        (&[("hash_arg", string_hash)], 1),
        (&[("hash_arg", T::Struct(members))], 1),
    ];
    call("new_timespan", &signatures, &[], arguments, |form, arguments| {
        let field = |value: Option<&Value>| match value.map(|value| value.data()) {
            Some(Data::Integer(number)) => Ok(i128::from(*number)),
            None => Ok(0),
            Some(_) => Err(Failure::Unknown),
        };
        let nanos = match form {
            0 => seconds(&arguments[0])?,
            1 => span::parse(&arguments[0].to_text(), given(arguments.get(1)))?,
            3 => {
                let text = arguments[0]
                    .get("string")
                    .map(|text| text.to_text().into_owned())
                    .unwrap_or_default();
                span::parse(&text, given(arguments[0].get("format")))?
            }
            _ => {
                let part = |n: usize| {
                    field(if form == 2 { arguments.get(n) } else { arguments[0].get(fields[n]) })
                };
                let seconds = ((part(0)? * 24 + part(1)?) * 60 + part(2)?) * 60 + part(3)?;
                let nanos = ((seconds * 1000 + part(4)?) * 1000 + part(5)?) * 1000 + part(6)?;
                let negative = is_true(arguments[0].get("negative"));
                if negative { -nanos } else { nanos }
            }
        };
        Ok(rich(Rich::Timespan(nanos), arguments))
    })
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
