//! `Integer.new`, `Float.new` and `Numeric.new`.

use super::{
    ConversionResult, OnMismatch, Parameters, call_function, conversion_error, is_true, local_type,
    made_of, pattern_type, refusal_message, struct_member,
};
use crate::puppet::rich::{NANOS_PER_SECOND, Rich};
use crate::puppet::ruby::inspect::{float_text, inspect_text};
use crate::puppet::ruby::strings::is_space;
use crate::puppet::types::{self, DataType, Range};
use crate::puppet::value::{Data, Value};

use DataType as T;

// Puppet's messages show these patterns, so they stand here as Puppet writes them.
const FLOAT: &str = "\\A[+-]?\\s*(?:(?:(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE]-?\\d+)?)|(?:0[xX][0-9A-Fa-f]+)|(?:0[0-7]+)|(?:0[bB][01]+))\\z";
const INTEGER: &str = "\\A[+-]?\\s*(?:(?:\\d+)|(?:0[xX][0-9A-Fa-f]+)|(?:0[bB][01]+))\\z";

fn convertible_type(numbers: &[DataType], text: &str) -> DataType {
    let rest = [T::BOOLEAN, pattern_type(text), T::Timespan(Range::ANY), T::Timestamp(Range::ANY)];
    local_type("Convertible", T::Variant([numbers, &rest].concat()))
}

/// Returns a value or an argument of a hash with names, at `place` in a call.
fn find_argument(arguments: &[Value], form: usize, place: usize, name: &str) -> Option<Value> {
    let found =
        if form == 0 { arguments.get(place).cloned() } else { arguments[0].get(name).cloned() };
    found.filter(|value| !matches!(value.data(), Data::Null))
}

fn absolute_value(number: Data) -> Data {
    match number {
        Data::Integer(number) => number
            .checked_abs()
            .map_or_else(|| parse_digits(&number.unsigned_abs().to_string()), Data::Integer),
        Data::BigInteger(digits) => {
            Data::BigInteger(digits.strip_prefix('-').unwrap_or(&digits).into())
        }
        Data::Float(number) => Data::Float(number.abs()),
        other => other,
    }
}

/// Returns an integer of any length from its decimal digits.
pub(super) fn parse_digits(digits: &str) -> Data {
    match digits.parse() {
        Ok(number) => Data::Integer(number), // `-0` among them
        Err(_) => Data::BigInteger(digits.into()),
    }
}

pub(super) fn convert_integer(arguments: &[Value]) -> ConversionResult {
    let radix = local_type(
        "Radix",
        T::Variant(vec![
            T::Default,
            single_integer(2),
            single_integer(8),
            single_integer(10),
            single_integer(16),
        ]),
    );
    let convertible = convertible_type(&[T::Numeric], INTEGER);
    let named = local_type(
        "NamedArgs",
        T::Struct(vec![
            struct_member("from", false, convertible.clone()),
            struct_member("radix", true, radix.clone()),
            struct_member("abs", true, T::BOOLEAN),
        ]),
    );
    let signatures: [Parameters<'_>; 2] = [
        (&[("from", convertible.clone()), ("radix", radix), ("abs", T::BOOLEAN)], 1),
        (&[("hash_args", named.clone())], 1),
    ];
    let on_error_hash = |arguments: &[Value]| {
        if let Some(from) = arguments[0].get("from").filter(|from| !convertible.accepts_value(from))
        {
            return Ok(refusal_message("Integer", std::slice::from_ref(from)));
        }
        if let Some(message) = illegal_radix(arguments[0].get("radix")) {
            return Err(message);
        }
        Err(types::assert_type("Integer.new", &named, &arguments[0])
            .map_or_else(|error| error.message, |()| String::new()))
    };
    let on_error = |arguments: &[Value]| match illegal_radix(arguments.get(1)) {
        Some(message) => Err(message),
        None => Ok(refusal_message("Integer", arguments)),
    };
    let mismatches: [OnMismatch<'_>; 2] = [
        ((&[("hash_args", T::hash(T::Any, T::Any, None))], 1), &on_error_hash),
        ((&[("from", T::Any), ("radix", T::INTEGER), ("abs", T::BOOLEAN)], 1), &on_error),
    ];
    call_function("new", &signatures, &mismatches, arguments, |form, arguments| {
        let from =
            find_argument(arguments, form, 0, "from").unwrap_or_else(|| Value::new_null(None));
        let radix =
            match find_argument(arguments, form, 1, "radix").map(|radix| radix.into_parts().0) {
                Some(Data::Integer(radix)) => u32::try_from(radix).ok(),
                _ => None,
            };
        let number = match from.data() {
            Data::Integer(_) | Data::BigInteger(_) => from.data().clone(),
            Data::Float(number) if !number.is_finite() => {
                return conversion_error(float_text(*number));
            }
            // The digits of a float without a fraction are its exact value.
            Data::Float(number) => parse_digits(&format!("{:.0}", number.trunc())),
            Data::Bool(truth) => Data::Integer(i64::from(*truth)),
            Data::Rich(rich) => match &**rich {
                Rich::Timestamp(nanos) | Rich::Timespan(nanos) => {
                    parse_digits(&nanos.div_euclid(NANOS_PER_SECOND).to_string())
                }
                _ => return conversion_error(refusal_message("Integer", &[from])),
            },
            _ => match ruby_integer(&from.to_text(), radix) {
                Ok(number) => number,
                Err(message) => return conversion_error(message),
            },
        };
        let abs = is_true(find_argument(arguments, form, 2, "abs").as_ref());
        Ok(Value::new(if abs { absolute_value(number) } else { number }, made_of(arguments)))
    })
}

fn illegal_radix(radix: Option<&Value>) -> Option<String> {
    match radix.map(|radix| radix.data()) {
        None | Some(Data::Null) => None,
        Some(Data::Symbol(name)) if &**name == "default" => None,
        Some(Data::Integer(2 | 8 | 10 | 16)) => None,
        Some(_) => Some(format!(
            "Illegal radix: {}, expected 2, 8, 10, 16, or default",
            radix.map(|radix| radix.to_text()).unwrap_or_default()
        )),
    }
}

fn single_integer(n: i128) -> DataType {
    T::Integer(Range::from_single(n))
}

/// The most digits of another radix that are turned into decimal ones, which takes time by the
/// square.
const MAX_DIGITS: usize = 100_000;

/// Ruby's `Integer(text, radix)`; blanks between sign and digits are dropped, as Puppet then tries
/// again.
fn ruby_integer(text: &str, radix: Option<u32>) -> Result<Data, String> {
    let trimmed = text.trim_matches(is_space);
    let (negative, rest) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let rest = rest.trim_start_matches([' ', '\t']);
    let lower = rest.to_ascii_lowercase();
    let prefixed = [("0x", 16), ("0b", 2), ("0o", 8)]
        .into_iter()
        .find(|(prefix, own)| lower.starts_with(prefix) && radix.is_none_or(|radix| radix == *own));
    let (digits, radix) = match (prefixed, radix) {
        (Some((prefix, own)), _) => (&rest[prefix.len()..], own),
        (None, Some(radix)) => (rest, radix),
        (None, None) if rest.len() > 1 && rest.starts_with('0') => (&rest[1..], 8),
        (None, None) => (rest, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(format!("invalid value for Integer(): {}", inspect_text(text)));
    }
    if digits.len() > MAX_DIGITS && radix != 10 {
        return Err(format!(
            "an integer of more than {MAX_DIGITS} digits, and hiera-ls goes no further"
        ));
    }
    let sign = if negative { "-" } else { "" };
    Ok(match i128::from_str_radix(digits, radix) {
        Ok(number) => parse_digits(&format!("{sign}{number}")),
        Err(_) => parse_digits(&format!("{sign}{}", in_decimal(digits, radix))),
    })
}

/// Digits of any length in another radix, in decimal. Counts in billions, several digits at a time.
fn in_decimal(digits: &str, radix: u32) -> String {
    if radix == 10 {
        let digits = digits.trim_start_matches('0');
        return if digits.is_empty() { "0".into() } else { digits.into() };
    }
    const BILLION: u64 = 1_000_000_000;
    let values: Vec<u64> =
        digits.chars().filter_map(|c| c.to_digit(radix)).map(u64::from).collect();
    let mut billions: Vec<u64> = Vec::new();
    // The product of a billion and 2 to the power of 30 fits in 64 bits.
    let at_a_time = (30 / radix.ilog2().saturating_add(1)).max(1) as usize;
    for some in values.chunks(at_a_time) {
        let scale = u64::from(radix).pow(some.len() as u32);
        let mut carry = some.iter().fold(0, |sum, digit| sum * u64::from(radix) + digit);
        for place in &mut billions {
            let value = *place * scale + carry;
            (*place, carry) = (value % BILLION, value / BILLION);
        }
        while carry > 0 {
            billions.push(carry % BILLION);
            carry /= BILLION;
        }
    }
    let Some((first, rest)) = billions.split_last() else { return "0".into() };
    let rest = rest.iter().rev().map(|place| format!("{place:09}"));
    std::iter::once(first.to_string()).chain(rest).collect()
}

pub(super) fn convert_float(arguments: &[Value]) -> ConversionResult {
    let convertible = convertible_type(&[T::Numeric], FLOAT);
    float_or_numeric("new_float", "Float", convertible, arguments, |from| match from.data() {
        Data::Float(_) => Ok(from.data().clone()),
        Data::Integer(number) => Ok(Data::Float(*number as f64)),
        Data::BigInteger(digits) => Ok(Data::Float(digits.parse().unwrap_or(f64::INFINITY))),
        Data::Bool(truth) => Ok(Data::Float(f64::from(u8::from(*truth)))),
        _ => {
            let text = from.to_text();
            if text == "0" {
                return Err("undefined method `casecmp' for nil:NilClass".into());
            }
            if text.len() > 1 && text.starts_with('0') && text[1..].starts_with(['b', 'B']) {
                return ruby_integer(&text, None).map(as_float);
            }
            ruby_float(&text)
        }
    })
}

pub(super) fn convert_numeric(arguments: &[Value]) -> ConversionResult {
    let convertible = convertible_type(&[T::INTEGER, T::FLOAT], FLOAT);
    float_or_numeric("new_numeric", "Numeric", convertible, arguments, |from| match from.data() {
        Data::Float(_) | Data::Integer(_) | Data::BigInteger(_) => Ok(from.data().clone()),
        Data::Bool(truth) => Ok(Data::Integer(i64::from(*truth))),
        _ => {
            let text = from.to_text();
            let lower = text.to_ascii_lowercase();
            if lower.starts_with("0b") || lower.starts_with("0x") {
                return ruby_integer(&text, None);
            }
            // A text of digits only is an integer. Puppet makes null of a number that its own
            // pattern does not take.
            let unsigned = text.trim_start_matches(['+', '-']).trim_start_matches([' ', '\t']);
            let digits = unsigned.bytes().all(|byte| byte.is_ascii_digit());
            let hex = unsigned.get(1..).is_some_and(|rest| rest.starts_with(['x', 'X']));
            match (digits || hex, unsigned.contains(['\n', '\r', '\u{b}', '\u{c}'])) {
                (_, true) => Ok(Data::Null),
                (true, _) => ruby_integer(&text, None),
                _ if unsigned.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0b")) => {
                    Ok(Data::Null)
                }
                _ => ruby_float(&text),
            }
        }
    })
}

fn float_or_numeric(
    function: &str,
    wanted: &str,
    convertible: DataType,
    arguments: &[Value],
    from_convertible: impl FnOnce(&Value) -> Result<Data, String>,
) -> ConversionResult {
    let named = local_type(
        "NamedArgs",
        T::Struct(vec![
            struct_member("from", false, convertible.clone()),
            struct_member("abs", true, T::BOOLEAN),
        ]),
    );
    let signatures: [Parameters<'_>; 2] =
        [(&[("from", convertible), ("abs", T::BOOLEAN)], 1), (&[("hash_args", named)], 1)];
    let on_error = |arguments: &[Value]| Ok(refusal_message(wanted, arguments));
    let mismatch: OnMismatch<'_> = ((&[("from", T::Any), ("abs", T::BOOLEAN)], 1), &on_error);
    call_function(function, &signatures, &[mismatch], arguments, |form, arguments| {
        let from =
            find_argument(arguments, form, 0, "from").unwrap_or_else(|| Value::new_null(None));
        let number = match from.data() {
            Data::Rich(rich) => match &**rich {
                Rich::Timestamp(nanos) | Rich::Timespan(nanos) => Data::Float(*nanos as f64 / 1e9),
                _ => return conversion_error(refusal_message(wanted, &[from])),
            },
            _ => from_convertible(&from).or_else(conversion_error)?,
        };
        let abs = is_true(find_argument(arguments, form, 1, "abs").as_ref());
        if abs && number == Data::Null {
            return conversion_error("undefined method `abs' for nil:NilClass");
        }
        Ok(Value::new(if abs { absolute_value(number) } else { number }, made_of(arguments)))
    })
}

fn as_float(number: Data) -> Data {
    match number {
        Data::Integer(number) => Data::Float(number as f64),
        Data::BigInteger(digits) => Data::Float(digits.parse().unwrap_or(f64::INFINITY)),
        other => other,
    }
}

/// Ruby's `Float(text)`, tried again without the blanks between sign and digits.
fn ruby_float(text: &str) -> Result<Data, String> {
    let trimmed = text.trim_start_matches(is_space);
    let (negative, rest) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let rest = rest.trim_start_matches([' ', '\t']);
    let hex = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    let number = match hex {
        Some(digits) => {
            digits.chars().try_fold(0.0, |sum, c| Some(sum * 16.0 + f64::from(c.to_digit(16)?)))
        }
        None => rest.parse::<f64>().ok().filter(|_| rest.starts_with(|c: char| c.is_ascii_digit())),
    };
    match number {
        Some(number) => Ok(Data::Float(if negative { -number } else { number })),
        None => Err(format!("invalid value for Float(): {}", inspect_text(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::in_decimal;

    #[test]
    fn digits_of_any_length_become_decimal_ones() {
        for radix in [2, 3, 7, 8, 10, 16, 36] {
            for number in
                [0_u128, 1, 999_999_999, 1_000_000_000, u64::MAX.into(), u128::MAX, 10_u128.pow(36)]
            {
                let mut digits = Vec::new();
                let mut rest = number;
                while rest > 0 || digits.is_empty() {
                    digits.push(
                        char::from_digit((rest % u128::from(radix)) as u32, radix)
                            .expect("a digit"),
                    );
                    rest /= u128::from(radix);
                }
                let digits: String = digits.iter().rev().collect();
                assert_eq!(in_decimal(&format!("00{digits}"), radix), number.to_string());
            }
        }
    }
}
