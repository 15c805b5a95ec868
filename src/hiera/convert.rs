//! `convert_to`: what a looked-up value becomes, as `new(TYPE, value, arguments…)` of Puppet's language makes it.
//!
//! Source: semantics 7.6, `functions/new.rb` and the `new_function` of each of Puppet's types. A conversion whose outcome only running
//! code could tell (types of modules, object types, `Init[…]`, `URI[…]`) is noted and left out: see [`Conversion::NotApplied`].
//! `tests/convert_oracle.rs` compares results and errors with real Puppet, recorded and at random.

use std::sync::Arc;

use super::lookup_options::ConvertTo;
use super::rich::{Pattern, Rich};
use super::types::{self, DataType, Range, Signature, describe_signatures};
use super::value::{Data, Value};

mod binary;
mod collection;
mod number;
pub mod quote;
mod sprintf;
mod string;
pub mod time;
mod uri;
mod version;

/// What came of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub enum Conversion {
    /// The converted value.
    Done(Value),
    /// Puppet would convert it, or fail; hiera-ls does not know how, and leaves it as it is.
    NotApplied(Value),
    /// Puppet fails with this message.
    Failed(String),
    /// The type's text is none, for this reason.
    NoType(String),
}

/// Why a value was not made.
enum Failure {
    /// Puppet fails with this message.
    Error(String),
    /// Only Puppet can tell.
    Unknown,
}

type Made = Result<Value, Failure>;

fn error<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Error(message.into()))
}

/// Converts a value as an entry of `lookup_options` asks for.
///
/// `may_define` tells whether some module could define a type of this name.
pub fn convert(value: Value, to: &ConvertTo, may_define: impl Fn(&str) -> bool) -> Conversion {
    if let Some(given) = to.no_type {
        return Conversion::Failed(format!("'new' parameter 'type' expects a Type value, got {given}"));
    }
    let data_type = match types::parse(&to.type_text) {
        Ok(data_type) => data_type,
        Err(reason) => return Conversion::NoType(reason.to_string()),
    };
    if data_type.undecided().is_some() || data_type.unresolved().is_some_and(&may_define) {
        return Conversion::NotApplied(value);
    }
    let origin = value.origin;
    let mut arguments = vec![value.clone()];
    arguments.extend(to.arguments.iter().cloned());
    match new(&data_type, &arguments) {
        Ok(made) => Conversion::Done(made.with_origin(origin)),
        Err(Failure::Error(message)) => Conversion::Failed(message),
        Err(Failure::Unknown) => Conversion::NotApplied(value),
    }
}

fn new(data_type: &DataType, arguments: &[Value]) -> Made {
    if let [only] = arguments
        && *data_type != DataType::Init
        && data_type.accepts(only)
    {
        return Ok(only.clone());
    }
    let made = construct(data_type, arguments)?;
    // Types count with 128 bits.
    if matches!(&made.data, Data::BigInteger(digits) if digits.len() > 38) && !data_type.accepts(&made) {
        return Err(Failure::Unknown);
    }
    types::assert_type(&format!("Converted value from {data_type}.new()"), data_type, &made)
        .map_err(|error| Failure::Error(error.message))?;
    Ok(made)
}

/// Calls the constructor of a type.
fn construct(data_type: &DataType, arguments: &[Value]) -> Made {
    match data_type {
        DataType::Integer(_) => number::integer(arguments),
        DataType::Float(_) => number::float(arguments),
        DataType::Numeric => number::numeric(arguments),
        DataType::Boolean(_) => boolean(arguments),
        DataType::String(_) => string::string(arguments),
        DataType::Array(..) | DataType::Tuple(..) => collection::array(arguments),
        DataType::Hash(..) | DataType::Struct(_) => collection::hash(arguments),
        DataType::Sensitive(_) => sensitive(arguments),
        DataType::Timestamp(_) => time::timestamp(arguments),
        DataType::Timespan(_) => time::timespan(arguments),
        DataType::SemVer(_) => version::version(arguments),
        DataType::SemVerRange => version::range(arguments),
        DataType::Regexp(_) => regexp(arguments),
        DataType::Binary => binary::binary(arguments),
        DataType::Uri => uri::uri(arguments),
        DataType::Type(_) => type_of(arguments),
        DataType::Optional(Some(inner)) | DataType::NotUndef(Some(inner)) => construct(inner, arguments),
        DataType::Optional(None) => error("undefined method `new_function' for nil:NilClass"),
        DataType::NotUndef(None) => {
            call("new_unit", &[(&[("from", DataType::Any)], 1)], &[], arguments, |_, arguments| Ok(arguments[0].clone()))
        }
        DataType::Alias(alias) => construct(alias.resolved(), arguments),
        DataType::Foreign { name: "Object" | "TypeSet", .. } => Err(Failure::Unknown),
        other => error(format!("Creation of new instance of type '{other}' is not supported")),
    }
}

/// Parameters by name and type, and how many of them must be given.
type Parameters<'a> = (&'a [(&'static str, DataType)], usize);

/// What to say of arguments that no signature takes, where these parameters take them.
type OnMismatch<'a> = (Parameters<'a>, &'a dyn Fn(&[Value]) -> Result<String, String>);

/// Calls a function as Puppet's dispatcher does: the first signature that takes the arguments, then the function's own words for
/// arguments that none takes, else Puppet's account of all signatures.
fn call(
    name: &str,
    signatures: &[Parameters<'_>],
    mismatches: &[OnMismatch<'_>],
    arguments: &[Value],
    body: impl FnOnce(usize, &[Value]) -> Made,
) -> Made {
    let signature = |(parameters, required): &Parameters<'_>| Signature { parameters: parameters.to_vec(), required: *required };
    let signatures: Vec<Signature> = signatures.iter().map(signature).collect();
    if let Some(n) = signatures.iter().position(|signature| signature.takes(arguments)) {
        return body(n, arguments);
    }
    match mismatches.iter().find(|(parameters, _)| signature(parameters).takes(arguments)) {
        Some((_, say)) => match say(arguments) {
            Ok(message) => error(format!("'{name}' {message}")),
            Err(message) => error(message),
        },
        None => error(describe_signatures(name, &signatures, arguments)),
    }
}

fn local(name: &'static str, resolved: DataType) -> DataType {
    DataType::Local(name, Arc::new(resolved))
}

fn pattern(source: &str) -> DataType {
    let compiled = Pattern::new(source).expect("a pattern of Puppet's own");
    DataType::Pattern(vec![Arc::new(compiled)])
}

/// `Integer[from, to]`.
fn within(from: i128, to: Option<i128>) -> DataType {
    DataType::Integer(Range { from: Some(from), to })
}

/// `String[from]`.
fn string_from(from: i128) -> DataType {
    DataType::String(types::Text::Length(Range { from: Some(from), to: None }))
}

fn member(name: &str, optional: bool, value: DataType) -> types::StructMember {
    types::StructMember { name: name.into(), optional, value }
}

/// `Value of type … cannot be converted to WANTED`, or the same of a string.
fn refusal(wanted: &str, arguments: &[Value]) -> String {
    match &arguments[0].data {
        Data::String(text) => format!("The string '{text}' cannot be converted to {wanted}"),
        _ => format!("Value of type {} cannot be converted to {wanted}", types::infer(&arguments[0]).generalized()),
    }
}

fn rich(rich: Rich) -> Value {
    Value::new(Data::Rich(Arc::new(rich)), None)
}

fn boolean(arguments: &[Value]) -> Made {
    let strings = ["false", "no", "n", "true", "yes", "y"];
    let mut values: Vec<String> = strings.map(str::to_owned).to_vec();
    values.sort();
    let convertible =
        DataType::Variant(vec![DataType::INTEGER, DataType::FLOAT, DataType::BOOLEAN, DataType::Enum { values, fold: true }]);
    let on_error = |arguments: &[Value]| Ok(refusal("Boolean", arguments));
    let mismatch: OnMismatch<'_> = ((&[("from", DataType::Any)], 1), &on_error);
    call("new_boolean", &[(&[("from", convertible)], 1)], &[mismatch], arguments, |_, arguments| {
        let truth = match &arguments[0].data {
            Data::Float(number) => *number != 0.0,
            Data::Integer(number) => *number != 0,
            Data::Bool(truth) => *truth,
            Data::String(text) => !matches!(text.to_lowercase().as_str(), "false" | "no" | "n"),
            _ => true,
        };
        Ok(Value::new(Data::Bool(truth), None))
    })
}

fn sensitive(arguments: &[Value]) -> Made {
    let signatures: [Parameters<'_>; 2] =
        [(&[("value", DataType::Sensitive(Box::new(DataType::Any)))], 1), (&[("value", DataType::Any)], 1)];
    call("new_Sensitive", &signatures, &[], arguments, |n, arguments| {
        let value = arguments[0].clone();
        Ok(if n == 0 { value } else { Value::new(Data::Sensitive(Arc::new(value)), None) })
    })
}

fn regexp(arguments: &[Value]) -> Made {
    let signature: Parameters<'_> = (&[("pattern", DataType::STRING), ("escape", DataType::BOOLEAN)], 1);
    call("new_float", &[signature], &[], arguments, |_, arguments| {
        let source = arguments[0].to_text();
        let escape = matches!(arguments.get(1), Some(Value { data: Data::Bool(true), .. }));
        let source = if escape { escaped(&source) } else { source.into_owned() };
        match Pattern::new(&source) {
            Ok(pattern) => Ok(rich(Rich::Regexp(Arc::new(pattern)))),
            Err(reason) => error(reason.message),
        }
    })
}

/// Ruby's `Regexp.escape`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            ' ' | '#' | '$' | '(' | ')' | '*' | '+' | '-' | '.' | '?' | '[' | '\\' | ']' | '^' | '{' | '|' | '}' => {
                out.extend(['\\', c]);
            }
            c => out.push(c),
        }
    }
    out
}

fn type_of(arguments: &[Value]) -> Made {
    call("new_type", &[(&[("type_string", string_from(1))], 1)], &[], arguments, |_, arguments| {
        match types::parse(&arguments[0].to_text()) {
            Ok(found) if found.undecided().is_some() || found.unresolved().is_some() => Err(Failure::Unknown),
            Ok(found) => Ok(rich(Rich::Type(found))),
            // What the parser of the whole language says of such texts is another matter.
            Err(_) => Err(Failure::Unknown),
        }
    })
}
