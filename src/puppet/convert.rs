//! `convert_to`: converts a looked-up value as `new(TYPE, value, arguments…)` of Puppet's language
//! does.
//!
//! Source: semantics 7.6, `functions/new.rb` and the `new_function` of each of Puppet's types. A
//! conversion whose result depends on running code (types of modules, object types, `URI[…]`,
//! `Init[…]` within others) is not applied, and reported as [`Conversion::NotApplied`].
//! `tests/puppet/conversions` compares results and errors with real Puppet, recorded and at random.

use std::sync::Arc;

use super::print::PrintOptions;
use super::rich::{RegexPattern, Rich};
use super::ruby::strings::downcase;
use super::types::{self, DataType, Range, Signature, TypeSyntaxError, describe_signatures};
use super::value::{Data, Provenance, Secrecy, Value};
use crate::text::Span;

mod binary;
mod collection;
mod init;
mod number;
pub mod quote;

mod string;
pub mod time;
mod uri;
mod version;

/// A conversion that `lookup_options` ask for.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvertTo {
    target: ConversionTarget,
    /// The text that names the type, if it is a text.
    written: String,
    /// Why the text must not be shown.
    secrecy: Secrecy,
    /// The provenance of values that the text names.
    provenance: Provenance,
    may_make_sensitive: bool,
    /// Further arguments of the type's constructor.
    pub arguments: Vec<Value>,
    /// Where the conversion is written.
    pub span: Option<Span>,
}

/// The target that a conversion names as its type.
#[derive(Clone, Debug, PartialEq)]
enum ConversionTarget {
    Type(DataType),
    /// A text that is no type, and why.
    NoType(TypeSyntaxError),
    /// Something else than a text, by the name of its type.
    NoText(&'static str),
}

impl ConvertTo {
    /// Reads the `convert_to` of an entry of `lookup_options`: a type, or a list of a type and
    /// arguments. `None` for `null`, which asks for no conversion.
    pub fn from_option(given: &Value) -> Option<ConvertTo> {
        let (named, arguments) = match given.data() {
            Data::Null => return None,
            Data::Array(items) => (items.first(), items.get(1..).unwrap_or_default().to_vec()),
            _ => (Some(given), Vec::new()),
        };
        let text = named.and_then(Value::as_str);
        let target = match text.map(types::parse) {
            Some(Ok(data_type)) => ConversionTarget::Type(data_type),
            Some(Err(reason)) => ConversionTarget::NoType(reason),
            None => ConversionTarget::NoText(named.map_or("Undef", Value::type_name)),
        };
        Some(ConvertTo {
            target,
            written: text.unwrap_or_default().to_owned(),
            secrecy: named.map_or(Secrecy::NONE, Value::secrecy_of_parts),
            provenance: Provenance::of_all(named.map(std::slice::from_ref).unwrap_or_default())
                .with_origin(None),
            may_make_sensitive: text.is_some_and(types::may_be_sensitive),
            arguments,
            span: given.origin,
        })
    }

    /// Whether the converted value may be Sensitive, or hold a Sensitive value: then neither the
    /// value nor its source may be shown. Decided by the parsed type, see
    /// [`types::may_be_sensitive`].
    pub fn may_make_sensitive(&self) -> bool {
        self.may_make_sensitive
    }

    /// Returns the marks of all values of the conversion.
    pub fn secrecy_of_values(&self) -> Secrecy {
        if self.may_make_sensitive { Secrecy::SENSITIVE } else { Secrecy::NONE }
    }

    /// Returns the type as written, such as `Sensitive` or `Array[String]`; empty if it is no text.
    /// It may be decrypted text: only for Puppet's own messages.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Returns the type as written, or a mark in place of decrypted text.
    pub fn type_text(&self) -> &str {
        PrintOptions::default().mark_for(self.secrecy).unwrap_or(&self.written)
    }

    /// Returns the type as Puppet writes it, or a mark in place of decrypted text.
    pub fn type_shown(&self) -> String {
        match &self.target {
            ConversionTarget::Type(data_type) if !self.secrecy.is_any() => data_type.to_string(),
            _ => self.type_text().to_owned(),
        }
    }

    /// Returns the outcome of the conversion of a value.
    fn convert_result(&self, made: ConversionResult, value: Value) -> Conversion {
        match made {
            Ok(made) => Conversion::Done(self.mark_value(made.with_origin(value.origin))),
            Err(Failure::Error(message)) => Conversion::Failed(message),
            Err(Failure::Unknown) => Conversion::NotApplied(self.mark_value(value)),
        }
    }

    /// Returns the value with the marks that the type gives all values that are not Sensitive.
    fn mark_value(&self, value: Value) -> Value {
        match value.data() {
            Data::Sensitive(_) => value,
            _ => value.into_secret(self.secrecy_of_values()),
        }
    }
}

/// The outcome of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub enum Conversion {
    /// The converted value.
    Done(Value),
    /// Puppet would convert the value, or fail. hiera-ls cannot predict the result, and keeps the
    /// value unconverted.
    NotApplied(Value),
    /// Puppet fails with this message.
    Failed(String),
    /// The type's text is no type, for this reason.
    NoType(String),
}

/// Why a value was not made.
enum Failure {
    /// Puppet fails with this message.
    Error(String),
    /// Only Puppet can decide.
    Unknown,
}

type ConversionResult = Result<Value, Failure>;

fn conversion_error<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Error(message.into()))
}

/// Converts a value as an entry of `lookup_options` asks for.
///
/// `may_define` returns whether some module could define a type of this name.
pub fn convert(value: Value, to: &ConvertTo, may_define: impl Fn(&str) -> bool) -> Conversion {
    let data_type = match &to.target {
        ConversionTarget::Type(data_type) => data_type,
        ConversionTarget::NoType(reason) => return Conversion::NoType(reason.to_string()),
        ConversionTarget::NoText(given) => {
            return Conversion::Failed(format!(
                "'new' parameter 'type' expects a Type value, got {given}"
            ));
        }
    };
    let mut arguments = vec![value.clone()];
    arguments.extend(to.arguments.iter().cloned());
    let is_undef = arguments.len() == 1 && matches!(value.data(), Data::Null);
    if is_undef && matches!(data_type, DataType::Optional(Some(_))) {
        return to.convert_result(Ok(value.clone()), value); // undef is an instance of any `Optional`.
    }
    let of_undecided = match data_type.constructed_type() {
        DataType::Undecided(text) => match types::init_of(text, to.provenance) {
            Some(named) => Some(init::convert_init(&named, &arguments)),
            None => types::resource_type(text)
                .map(|_| init::unsupported_type(data_type.constructed_type())),
        },
        _ => None,
    };
    if let Some(made) = of_undecided {
        return to.convert_result(made, value);
    }
    if data_type.undecided_part().is_some()
        || data_type.unresolved_name().is_some_and(|name| may_define(&name))
    {
        return Conversion::NotApplied(to.mark_value(value));
    }
    to.convert_result(new(data_type, &arguments), value)
}

fn new(data_type: &DataType, arguments: &[Value]) -> ConversionResult {
    if let [only] = arguments
        && *data_type != DataType::Init
        && data_type.accepts_value(only)
    {
        return Ok(only.clone());
    }
    let made = construct(data_type, arguments)?;
    // The bounds of integer types have 128 bits.
    if matches!(made.data(), Data::BigInteger(digits) if digits.len() > 38)
        && !data_type.accepts_value(&made)
    {
        return Err(Failure::Unknown);
    }
    types::assert_type(&format!("Converted value from {data_type}.new()"), data_type, &made)
        .map_err(|error| Failure::Error(error.message))?;
    Ok(made)
}

/// Calls the constructor of a type.
fn construct(data_type: &DataType, arguments: &[Value]) -> ConversionResult {
    match data_type {
        DataType::Integer(_) => number::convert_integer(arguments),
        DataType::Float(_) => number::convert_float(arguments),
        DataType::Numeric => number::convert_numeric(arguments),
        DataType::Boolean(_) => convert_boolean(arguments),
        DataType::String(_) => string::convert_string(arguments),
        DataType::Array(..) | DataType::Tuple(..) => collection::convert_array(arguments),
        DataType::Hash(..) | DataType::Struct(_) => collection::hash(arguments),
        DataType::Sensitive(_) => convert_sensitive(arguments),
        DataType::Timestamp(_) => time::convert_timestamp(arguments),
        DataType::Timespan(_) => time::convert_timespan(arguments),
        DataType::SemVer(_) => version::convert_version(arguments),
        DataType::SemVerRange => version::convert_range(arguments),
        DataType::Regexp(_) => convert_regexp(arguments),
        DataType::Binary => binary::convert_binary(arguments),
        DataType::Uri => uri::convert_uri(arguments),
        DataType::Type(_) => type_of(arguments),
        DataType::Optional(Some(inner)) | DataType::NotUndef(Some(inner)) => {
            construct(inner, arguments)
        }
        DataType::Optional(None) => {
            conversion_error("undefined method `new_function' for nil:NilClass")
        }
        DataType::NotUndef(None) => call_function(
            "new_unit",
            &[(&[("from", DataType::Any)], 1)],
            &[],
            arguments,
            |_, arguments| Ok(arguments[0].clone()),
        ),
        DataType::Alias(alias) => construct(alias.resolved(), arguments),
        DataType::Foreign { name: "Object" | "TypeSet", .. } => Err(Failure::Unknown),
        other => {
            conversion_error(format!("Creation of new instance of type '{other}' is not supported"))
        }
    }
}

/// Parameters by name and type, and how many of them must be given.
type Parameters<'a> = (&'a [(&'static str, DataType)], usize);

/// The message about arguments that no signature takes, where these parameters take them.
type OnMismatch<'a> = (Parameters<'a>, &'a dyn Fn(&[Value]) -> Result<String, String>);

/// Calls a function as Puppet's dispatcher does: the first signature that takes the arguments, then
/// the function's own words for arguments that none takes, else Puppet's account of all signatures.
fn call_function(
    name: &str,
    signatures: &[Parameters<'_>],
    mismatches: &[OnMismatch<'_>],
    arguments: &[Value],
    body: impl FnOnce(usize, &[Value]) -> ConversionResult,
) -> ConversionResult {
    let signature = |(parameters, required): &Parameters<'_>| Signature {
        parameters: parameters.iter().map(|(name, one)| ((*name).into(), one.clone())).collect(),
        required: *required,
        repeats: false,
    };
    let signatures: Vec<Signature> = signatures.iter().map(signature).collect();
    if let Some(n) = signatures.iter().position(|signature| signature.takes_arguments(arguments)) {
        return body(n, arguments);
    }
    match mismatches.iter().find(|(parameters, _)| signature(parameters).takes_arguments(arguments))
    {
        Some((_, say)) => match say(arguments) {
            Ok(message) => conversion_error(format!("'{name}' {message}")),
            Err(message) => conversion_error(message),
        },
        None => conversion_error(describe_signatures(name, &signatures, arguments)),
    }
}

fn local_type(name: &'static str, resolved: DataType) -> DataType {
    DataType::Local(name, Arc::new(resolved))
}

fn pattern_type(source: &str) -> DataType {
    let compiled = RegexPattern::new(source).expect("a pattern of Puppet's own");
    DataType::Pattern(vec![Arc::new(compiled)])
}

/// Returns `Integer[from, to]`.
fn integer_type(from: i128, to: Option<i128>) -> DataType {
    DataType::Integer(Range { from: Some(from), to })
}

/// Returns `String[from]`.
fn string_from(from: i128) -> DataType {
    DataType::String(types::StringType::Length(Range { from: Some(from), to: None }))
}

fn struct_member(name: &str, optional: bool, value: DataType) -> types::StructMember {
    types::StructMember { name: name.into(), optional, value }
}

/// Returns `Value of type … cannot be converted to WANTED`, or the same of a string.
fn refusal_message(wanted: &str, arguments: &[Value]) -> String {
    match arguments[0].data() {
        Data::String(text) => format!("The string '{text}' cannot be converted to {wanted}"),
        _ => format!(
            "Value of type {} cannot be converted to {wanted}",
            types::infer(&arguments[0]).generalize()
        ),
    }
}

/// Returns the provenance of a value that is made of these, without an origin.
fn made_of(values: &[Value]) -> Provenance {
    Provenance::of_all(values).with_origin(None)
}

/// Returns a rich value, made of `from`.
fn rich_value(rich: Rich, from: &[Value]) -> Value {
    Value::new(Data::Rich(Arc::new(rich)), made_of(from))
}

fn is_true(value: Option<&Value>) -> bool {
    value.is_some_and(|value| matches!(value.data(), Data::Bool(true)))
}

fn convert_boolean(arguments: &[Value]) -> ConversionResult {
    let strings = ["false", "no", "n", "true", "yes", "y"];
    let mut values: Vec<String> = strings.map(str::to_owned).to_vec();
    values.sort();
    let convertible = DataType::Variant(vec![
        DataType::INTEGER,
        DataType::FLOAT,
        DataType::BOOLEAN,
        DataType::Enum { values, fold: true },
    ]);
    let on_error = |arguments: &[Value]| Ok(refusal_message("Boolean", arguments));
    let mismatch: OnMismatch<'_> = ((&[("from", DataType::Any)], 1), &on_error);
    call_function(
        "new_boolean",
        &[(&[("from", convertible)], 1)],
        &[mismatch],
        arguments,
        |_, arguments| {
            let truth = match arguments[0].data() {
                Data::Float(number) => *number != 0.0,
                Data::Integer(number) => *number != 0,
                Data::Bool(truth) => *truth,
                Data::String(text) => !matches!(downcase(text).as_str(), "false" | "no" | "n"),
                _ => true,
            };
            Ok(Value::new(Data::Bool(truth), made_of(arguments)))
        },
    )
}

fn convert_sensitive(arguments: &[Value]) -> ConversionResult {
    let signatures: [Parameters<'_>; 2] = [
        (&[("value", DataType::Sensitive(Box::new(DataType::Any)))], 1),
        (&[("value", DataType::Any)], 1),
    ];
    call_function("new_Sensitive", &signatures, &[], arguments, |n, arguments| {
        let value = arguments[0].clone();
        let from = value.provenance().with_origin(None);
        Ok(if n == 0 { value } else { Value::new(Data::Sensitive(Arc::new(value)), from) })
    })
}

fn convert_regexp(arguments: &[Value]) -> ConversionResult {
    let signature: Parameters<'_> =
        (&[("pattern", DataType::STRING), ("escape", DataType::BOOLEAN)], 1);
    call_function("new_float", &[signature], &[], arguments, |_, arguments| {
        let source = arguments[0].to_text();
        let escape = is_true(arguments.get(1));
        let source = if escape { escape_regexp(&source) } else { source.into_owned() };
        match RegexPattern::new(&source) {
            Ok(pattern) => Ok(rich_value(Rich::Regexp(Arc::new(pattern)), arguments)),
            Err(reason) => conversion_error(reason.message),
        }
    })
}

/// Ruby's `Regexp.escape`.
fn escape_regexp(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            ' ' | '#' | '$' | '(' | ')' | '*' | '+' | '-' | '.' | '?' | '[' | '\\' | ']' | '^'
            | '{' | '|' | '}' => {
                out.extend(['\\', c]);
            }
            c => out.push(c),
        }
    }
    out
}

fn type_of(arguments: &[Value]) -> ConversionResult {
    call_function(
        "new_type",
        &[(&[("type_string", string_from(1))], 1)],
        &[],
        arguments,
        |_, arguments| {
            match types::parse(&arguments[0].to_text()) {
                Ok(found)
                    if found.undecided_part().is_some() || found.unresolved_name().is_some() =>
                {
                    Err(Failure::Unknown)
                }
                Ok(found) => Ok(rich_value(Rich::Type(found), arguments)),
                // The verdict of the parser of the whole language on such texts is not known here.
                Err(_) => Err(Failure::Unknown),
            }
        },
    )
}
