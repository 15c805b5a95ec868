//! `convert_to`: what a looked-up value becomes. The common types are converted; the rest is noted and left as it is.

use std::sync::Arc;

use super::lookup_options::ConvertTo;
use super::value::{Data, Hash, Key, Member, Value};

/// What came of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub enum Conversion {
    /// The converted value.
    Done(Value),
    /// Puppet would convert it; hiera-ls does not know how, and leaves it as it is.
    NotApplied(Value),
    /// Puppet fails with this message.
    Failed(String),
}

/// Converts a value as `TYPE.new(value, arguments…)` does in Puppet's language.
///
/// Source: semantics 7.6. Known are `Sensitive`, `String`, `Integer`, `Float`, `Numeric`, `Boolean`, `Array` and `Hash` without type parameters.
pub fn convert(value: Value, to: &ConvertTo) -> Conversion {
    let origin = value.origin;
    let done = |data: Data| Conversion::Done(Value::new(data, origin));
    match (to.type_text.as_str(), to.arguments.as_slice()) {
        ("Sensitive", []) => match value.data {
            Data::Sensitive(_) => Conversion::Done(value),
            _ => done(Data::Sensitive(Arc::new(value))),
        },
        ("Any", []) => Conversion::Done(value),
        ("String", []) => match &value.data {
            Data::String(_) => Conversion::Done(value),
            Data::Null | Data::Bool(_) | Data::Integer(_) | Data::BigInteger(_) | Data::Float(_) => {
                done(Data::String(value.to_text().as_ref().into()))
            }
            _ => Conversion::NotApplied(value),
        },
        ("Integer", []) => match integer(&value) {
            Some(data) => done(data),
            None => failed(&value, "Integer"),
        },
        ("Float", []) => match number(&value) {
            Some(Data::Integer(number)) => done(Data::Float(number as f64)),
            Some(data @ Data::Float(_)) => done(data),
            _ => failed(&value, "Float"),
        },
        ("Numeric", []) => match number(&value) {
            Some(data) => done(data),
            None => failed(&value, "Numeric"),
        },
        ("Boolean", []) => match boolean(&value) {
            Some(truth) => done(Data::Bool(truth)),
            None => failed(&value, "Boolean"),
        },
        ("Array", [wrap]) if matches!(wrap.data, Data::Bool(true)) => match value.data {
            Data::Array(_) => Conversion::Done(value),
            _ => Conversion::Done(Value::array(vec![value], origin)),
        },
        ("Array", []) => array(value),
        ("Hash", []) => hash(value),
        _ => Conversion::NotApplied(value),
    }
}

fn failed(value: &Value, wanted: &str) -> Conversion {
    let shown = match &value.data {
        Data::String(text) => format!("The string '{text}' cannot be converted to {wanted}"),
        _ => format!("Value of type {} cannot be converted to {wanted}", value.type_name()),
    };
    Conversion::Failed(shown)
}

fn integer(value: &Value) -> Option<Data> {
    match &value.data {
        Data::Integer(_) | Data::BigInteger(_) => Some(value.data.clone()),
        Data::Float(number) if number.is_finite() => Some(Data::Integer(*number as i64)),
        Data::Bool(truth) => Some(Data::Integer(i64::from(*truth))),
        Data::String(text) => integer_text(text).map(Data::Integer),
        _ => None,
    }
}

/// `0x1f`, `0b11`, `010` (octal), `-5`, a blank between sign and digits allowed; underscores are not.
fn integer_text(text: &str) -> Option<i64> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = rest.trim_start();
    let lower = rest.to_ascii_lowercase();
    let (digits, radix) = match lower.as_str() {
        hex if hex.starts_with("0x") => (&rest[2..], 16),
        binary if binary.starts_with("0b") => (&rest[2..], 2),
        octal if octal.len() > 1 && octal.starts_with('0') => (&rest[1..], 8),
        _ => (rest, 10),
    };
    let value = digits.chars().all(|c| c.is_digit(radix)).then(|| i64::from_str_radix(digits, radix).ok()).flatten()?;
    Some(if negative { -value } else { value })
}

fn number(value: &Value) -> Option<Data> {
    match &value.data {
        Data::Float(_) | Data::Integer(_) | Data::BigInteger(_) => Some(value.data.clone()),
        Data::String(text) => integer_text(text).map(Data::Integer).or_else(|| {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
            text.parse().ok().filter(|_| plain).map(Data::Float)
        }),
        _ => integer(value),
    }
}

fn boolean(value: &Value) -> Option<bool> {
    match &value.data {
        Data::Bool(truth) => Some(*truth),
        Data::Integer(number) => Some(*number != 0),
        Data::Float(number) => Some(*number != 0.0),
        Data::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" => Some(true),
            "false" | "no" | "n" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn array(value: Value) -> Conversion {
    let origin = value.origin;
    match &value.data {
        Data::Array(_) => Conversion::Done(value),
        Data::Integer(count @ 0..=100_000) => {
            Conversion::Done(Value::array((0..*count).map(|n| Value::new(Data::Integer(n), origin)).collect(), origin))
        }
        Data::String(text) => Conversion::Done(Value::array(
            text.chars().map(|c| Value::string(c.encode_utf8(&mut [0; 4]), origin)).collect(),
            origin,
        )),
        Data::Hash(hash) => {
            let pair = |(key, member): (&Key, &Member)| {
                Value::array(vec![Value::new(key.0.clone(), member.key_origin), member.value.clone()], member.key_origin)
            };
            Conversion::Done(Value::array(hash.iter().map(pair).collect(), origin))
        }
        Data::Null => Conversion::Done(Value::array(Vec::new(), origin)),
        _ => Conversion::NotApplied(value),
    }
}

fn hash(value: Value) -> Conversion {
    let origin = value.origin;
    match &value.data {
        Data::Hash(_) => Conversion::Done(value),
        Data::Array(items) if items.iter().all(|item| item.as_array().is_some_and(|pair| pair.len() == 2)) => {
            let pair = |item: &Value| {
                let pair = item.as_array().expect("checked above");
                (Key(pair[0].data.clone()), Member { key_origin: pair[0].origin, value: pair[1].clone() })
            };
            Conversion::Done(Value::hash(items.iter().map(pair).collect::<Hash>(), origin))
        }
        _ => Conversion::NotApplied(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(value: Data, type_text: &str) -> Conversion {
        convert(Value::new(value, None), &ConvertTo { type_text: type_text.into(), arguments: Vec::new(), span: None })
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
