//! `convert_to`: what a looked-up value becomes. The common types are converted; the rest is noted and left as it is.

use std::sync::Arc;

use super::lookup_options::ConvertTo;
use super::merge::{is_data, quoted};
use super::value::{Data, Hash, Key, Member, Value, float_text, inspect};

/// What came of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub enum Conversion {
    /// The converted value.
    Done(Value),
    /// Puppet would convert it; hiera-ls does not know how, and leaves it as it is.
    NotApplied(Value),
    /// Puppet fails with this message.
    Failed(String),
    /// The type's text is none, for this reason.
    NoType(String),
}

/// Converts a value as `TYPE.new(value, arguments…)` does in Puppet's language.
///
/// Source: semantics 7.6, and what Puppet 7.23 made of 45 values. Known are `Any`, `Data`, `Scalar`, `Sensitive`, `String`, `Integer`,
/// `Float`, `Numeric`, `Boolean`, `Array` and `Hash` without type parameters, and `Optional` of these.
pub fn convert(value: Value, to: &ConvertTo) -> Conversion {
    if let Some(inner) = to.type_text.strip_prefix("Optional[").and_then(|rest| rest.strip_suffix(']')) {
        let inner = ConvertTo { type_text: inner.to_owned(), ..to.clone() };
        return if matches!(value.data, Data::Null) { Conversion::Done(value) } else { convert(value, &inner) };
    }
    if let Some(given) = to.no_type {
        return Conversion::Failed(format!("'new' parameter 'type' expects a Type value, got {given}"));
    }
    if let Some(reason) = syntax_error(&to.type_text) {
        return Conversion::NoType(reason);
    }
    let origin = value.origin;
    let done = |data: Data| Conversion::Done(Value::new(data, origin));
    match (to.type_text.as_str(), to.arguments.as_slice()) {
        ("Sensitive", []) => match value.data {
            Data::Sensitive(_) => Conversion::Done(value),
            _ => done(Data::Sensitive(Arc::new(value))),
        },
        ("Any", []) => Conversion::Done(value),
        ("Data", []) if is_data(&value) => Conversion::Done(value),
        ("Scalar", []) => match value.data {
            Data::Null | Data::Array(_) | Data::Hash(_) => {
                Conversion::Failed("Creation of new instance of type 'Scalar' is not supported".into())
            }
            _ => Conversion::Done(value),
        },
        ("String", []) => string(value),
        ("Integer", []) => integer(&value).map_or_else(Conversion::Failed, done),
        ("Float", []) => float(&value).map_or_else(Conversion::Failed, done),
        ("Numeric", []) => number(&value).map_or_else(|| failed(&value, "new_numeric", "Numeric"), done),
        ("Boolean", []) => {
            boolean(&value).map_or_else(|| failed(&value, "new_boolean", "Boolean"), |truth| done(Data::Bool(truth)))
        }
        ("Array", [wrap]) if matches!(wrap.data, Data::Bool(true)) => match value.data {
            Data::Array(_) => Conversion::Done(value),
            _ => Conversion::Done(Value::array(vec![value], origin)),
        },
        ("Array", []) => array(value),
        ("Hash", []) => hash(value),
        _ => Conversion::NotApplied(value),
    }
}

/// What Puppet's parser says of a text that is obviously no type.
fn syntax_error(type_text: &str) -> Option<String> {
    let is_word =
        type_text.starts_with(|c: char| c.is_ascii_lowercase()) && type_text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_word {
        return Some(format!("The expression <{type_text}> is not a valid type specification."));
    }
    let unclosed = type_text.matches('[').count() > type_text.matches(']').count();
    unclosed.then(|| "Syntax error at end of input".to_owned())
}

fn refusal(value: &Value, function: &str, wanted: &str) -> String {
    let shown = match &value.data {
        Data::String(text) => format!("The string '{text}' cannot be converted to {wanted}"),
        _ => format!("Value of type {} cannot be converted to {wanted}", value.type_name()),
    };
    format!("'{function}' {shown}")
}

fn failed(value: &Value, function: &str, wanted: &str) -> Conversion {
    Conversion::Failed(refusal(value, function, wanted))
}

fn string(value: Value) -> Conversion {
    let text = match &value.data {
        Data::String(_) => return Conversion::Done(value),
        Data::Binary(_) | Data::Symbol(_) | Data::Sensitive(_) => return Conversion::NotApplied(value),
        Data::Float(number) if number.is_infinite() => if *number > 0.0 { "Inf" } else { "-Inf" }.to_owned(),
        Data::Float(number) if number.is_nan() => "NaN".to_owned(),
        Data::Float(number) => format!("{number:.6}"),
        Data::Array(_) | Data::Hash(_) => {
            let mut out = String::new();
            write_literal(&value.data, &mut out);
            out
        }
        _ => value.to_text().into_owned(),
    };
    Conversion::Done(Value::string(&text, value.origin))
}

/// A value as Puppet's language writes it.
fn write_literal(data: &Data, out: &mut String) {
    match data {
        Data::Null => out.push_str("undef"),
        Data::String(text) => out.push_str(&quoted(text)),
        Data::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                write_literal(&item.data, out);
            }
            out.push(']');
        }
        Data::Hash(hash) => {
            out.push('{');
            for (n, (key, member)) in hash.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                write_literal(&key.0, out);
                out.push_str(" => ");
                write_literal(&member.value.data, out);
            }
            out.push('}');
        }
        other => inspect(other, out),
    }
}

fn integer(value: &Value) -> Result<Data, String> {
    let refused = || refusal(value, "new", "Integer");
    match &value.data {
        Data::Integer(_) | Data::BigInteger(_) => Ok(value.data.clone()),
        Data::Float(number) if !number.is_finite() => Err(float_text(*number)),
        // The digits of a float without a fraction are its exact value.
        Data::Float(number) => Ok(whole(&format!("{:.0}", number.trunc()))),
        Data::Bool(truth) => Ok(Data::Integer(i64::from(*truth))),
        Data::String(text) => match integer_text(text) {
            Some(number) => Ok(Data::Integer(number)),
            None if is_bad_octal(text) => Err(format!("invalid value for Integer(): \"{text}\"")),
            None => Err(refused()),
        },
        _ => Err(refused()),
    }
}

fn whole(digits: &str) -> Data {
    match digits.parse() {
        Ok(number) => Data::Integer(number),
        Err(_) => Data::BigInteger(digits.into()),
    }
}

/// `08`: digits that Puppet's pattern takes, and Ruby's `Integer()` does not.
fn is_bad_octal(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']).trim_start();
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `0x1f`, `0b11`, `010` (octal), `-5`, blanks before the sign and behind it allowed; underscores are not.
fn integer_text(text: &str) -> Option<i64> {
    let (negative, rest) = sign(text.trim_start());
    let (digits, radix) = match radix_prefix(rest) {
        Some(found) => found,
        None if rest.len() > 1 && rest.starts_with('0') => (&rest[1..], 8),
        None => (rest, 10),
    };
    let value = digits.chars().all(|c| c.is_digit(radix)).then(|| i64::from_str_radix(digits, radix).ok()).flatten()?;
    Some(if negative { -value } else { value })
}

fn sign(text: &str) -> (bool, &str) {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    (negative, rest.trim_start())
}

fn radix_prefix(text: &str) -> Option<(&str, u32)> {
    let digits = |prefix: [&str; 2]| prefix.into_iter().find_map(|prefix| text.strip_prefix(prefix));
    digits(["0x", "0X"]).map(|digits| (digits, 16)).or_else(|| digits(["0b", "0B"]).map(|digits| (digits, 2)))
}

fn float(value: &Value) -> Result<Data, String> {
    let refused = || refusal(value, "new_float", "Float");
    match &value.data {
        Data::Float(_) => Ok(value.data.clone()),
        Data::Integer(number) => Ok(Data::Float(*number as f64)),
        Data::BigInteger(digits) => digits.parse().map(Data::Float).map_err(|_| refused()),
        Data::Bool(truth) => Ok(Data::Float(f64::from(u8::from(*truth)))),
        Data::String(text) if &**text == "0" => Err("undefined method `casecmp' for nil:NilClass".into()),
        Data::String(text) => float_from_text(text).map(Data::Float).ok_or_else(refused),
        _ => Err(refused()),
    }
}

/// Decimal digits, with a leading zero only where Ruby's `Integer()` would take it for octal; a fraction needs digits on both sides.
fn float_from_text(text: &str) -> Option<f64> {
    let (negative, rest) = sign(text.trim_start());
    if radix_prefix(rest).is_some() || is_bad_octal(rest) && integer_text(rest).is_none() {
        return integer_text(text).map(|number| number as f64);
    }
    let number: f64 = decimal(rest)?.parse().ok()?;
    Some(if negative { -number } else { number })
}

fn decimal(text: &str) -> Option<&str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) =
        text.split_once(['e', 'E']).map_or((text, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
    let fits = digits(whole)
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    fits.then_some(text)
}

fn number(value: &Value) -> Option<Data> {
    match &value.data {
        Data::Float(_) | Data::Integer(_) | Data::BigInteger(_) => Some(value.data.clone()),
        Data::Bool(truth) => Some(Data::Integer(i64::from(*truth))),
        Data::String(text) => integer_text(text).map(Data::Integer).or_else(|| float_from_text(text).map(Data::Float)),
        _ => None,
    }
}

fn boolean(value: &Value) -> Option<bool> {
    match &value.data {
        Data::Bool(truth) => Some(*truth),
        Data::Integer(number) => Some(*number != 0),
        Data::BigInteger(_) => Some(true),
        Data::Float(number) => Some(*number != 0.0),
        Data::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" => Some(true),
            "false" | "no" | "n" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The most elements that an integer becomes. Puppet makes any number of them, and so never ends.
const MAX_ELEMENTS: i64 = 100_000;

/// What `Array.new` makes of a value that is not negative, nor of another type that has no elements.
fn elements(value: &Value) -> Option<Vec<Value>> {
    let origin = value.origin;
    match &value.data {
        Data::Array(items) => Some(items.to_vec()),
        Data::Integer(count @ 0..=MAX_ELEMENTS) => Some((0..*count).map(|n| Value::new(Data::Integer(n), origin)).collect()),
        Data::String(text) => Some(text.chars().map(|c| Value::string(c.encode_utf8(&mut [0; 4]), origin)).collect()),
        Data::Hash(hash) => {
            let pair = |(key, member): (&Key, &Member)| {
                Value::array(vec![Value::new(key.0.clone(), member.key_origin), member.value.clone()], member.key_origin)
            };
            Some(hash.iter().map(pair).collect())
        }
        _ => None,
    }
}

fn array(value: Value) -> Conversion {
    match (&value.data, elements(&value)) {
        (Data::Array(_), _) => Conversion::Done(value),
        (_, Some(items)) => Conversion::Done(Value::array(items, value.origin)),
        (Data::Integer(MAX_ELEMENTS..) | Data::BigInteger(_) | Data::Binary(_) | Data::Sensitive(_), None) => {
            Conversion::NotApplied(value)
        }
        (_, None) => failed(&value, "new_array", "Array"),
    }
}

/// A list of pairs, or keys and values in turn; of other values, what `Array.new` makes of them.
fn hash(value: Value) -> Conversion {
    if value.as_hash().is_some() {
        return Conversion::Done(value);
    }
    let Some(items) = elements(&value) else {
        return match value.data {
            Data::Integer(0..) | Data::BigInteger(_) | Data::Binary(_) | Data::Sensitive(_) => Conversion::NotApplied(value),
            _ => Conversion::Failed(format!("Value of type {} cannot be converted to Hash", value.type_name())),
        };
    };
    let member = |key: &Value, value: &Value| (Key(key.data.clone()), Member { key_origin: key.origin, value: value.clone() });
    let pairs: Option<Vec<&[Value]>> =
        items.iter().map(|item| item.as_array().filter(|pair| pair.len() == 2)).collect::<Option<Vec<_>>>();
    let hash: Hash = match pairs {
        Some(pairs) => pairs.iter().map(|pair| member(&pair[0], &pair[1])).collect(),
        None if items.len() % 2 == 1 => return Conversion::Failed("odd number of arguments for Hash".into()),
        None => items.chunks(2).map(|pair| member(&pair[0], &pair[1])).collect(),
    };
    Conversion::Done(Value::hash(hash, value.origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(value: Data, type_text: &str) -> Conversion {
        convert(
            Value::new(value, None),
            &ConvertTo { type_text: type_text.into(), no_type: None, arguments: Vec::new(), span: None },
        )
    }

    fn done(data: Data) -> Conversion {
        Conversion::Done(Value::new(data, None))
    }

    #[test]
    fn the_common_types() {
        for (from, integer) in [("5", 5), ("010", 8), ("0x1f", 31), ("-5", -5), ("0b11", 3)] {
            assert_eq!(to(Data::String(from.into()), "Integer"), done(Data::Integer(integer)), "{from}");
        }
        assert!(matches!(to(Data::String("1.7".into()), "Integer"), Conversion::Failed(_)));
        assert_eq!(to(Data::Bool(true), "Integer"), done(Data::Integer(1)));
        assert_eq!(to(Data::String("1.5".into()), "Float"), done(Data::Float(1.5)));
        assert_eq!(to(Data::String("yes".into()), "Boolean"), done(Data::Bool(true)));
        assert_eq!(to(Data::Integer(5), "String"), done(Data::String("5".into())));
        assert_eq!(to(Data::Null, "String"), done(Data::String("".into())));
        assert!(matches!(to(Data::Integer(5), "Timestamp"), Conversion::NotApplied(_)));
        assert!(matches!(to(Data::Null, "Sensitive"), Conversion::Done(Value { data: Data::Sensitive(_), .. })));
    }
}
