//! What `unique` and `hash` take, and Puppet's account of why they do not take a value.

use crate::hiera::convert::quote::puppet_quote;
use crate::hiera::value::{Data, Hash, Value, float_text, inspect};
use crate::text::Span;

use super::{Element, MergeError, Mismatch};

/// Puppet's text for one or more mismatches.
pub(in crate::hiera) fn report(lines: &[String]) -> String {
    match lines {
        [line] => line.clone(),
        lines => lines.iter().map(|line| format!(" {line}")).collect::<Vec<_>>().join("\n "),
    }
}

/// Checks for type `Variant[Scalar, Array[Data]]`.
pub(super) fn check_unique(element: Element, value: &Value) -> Result<(), MergeError> {
    let mut found = Mismatches::default();
    match &value.data {
        Data::Array(items) if items.iter().all(is_data) => return Ok(()),
        Data::Array(items) => {
            found.push("variant 0", "a Scalar value", value);
            found.in_array(items, "variant 1");
        }
        data if is_scalar(data) => return Ok(()),
        _ => found.push("", "a value of type Scalar or Array", value),
    }
    Err(MergeError::WrongType { element, mismatches: found.all })
}

/// Checks for type `Hash[String, Data]`.
pub(super) fn check_hash(element: Element, value: &Value) -> Result<(), MergeError> {
    let mut found = Mismatches::default();
    match &value.data {
        Data::Hash(hash) if is_data_hash(hash) => return Ok(()),
        Data::Hash(hash) if is_struct(hash) => found.in_struct(hash, ""),
        Data::Hash(hash) => {
            let bad_key = hash.iter().find(|(key, _)| key.as_str().is_none());
            let bad_value = hash.values().find(|member| !is_data(&member.value));
            let origin = bad_key.map(|(_, member)| member.key_origin).or(bad_value.map(|member| member.value.origin));
            let (expected, got) = ("a Hash[String, Data] value", hash_type(hash));
            found.all.push(Mismatch { path: String::new(), expected, got, origin: origin.flatten().or(value.origin) });
        }
        _ => found.push("", "a Hash value", value),
    }
    Err(MergeError::WrongType { element, mismatches: found.all })
}

#[derive(Default)]
struct Mismatches {
    all: Vec<Mismatch>,
}

impl Mismatches {
    fn push(&mut self, path: &str, expected: &'static str, value: &Value) {
        self.all.push(Mismatch { path: path.into(), expected, got: short_name(value), origin: value.origin });
    }

    fn in_array(&mut self, items: &[Value], path: &str) {
        for (n, item) in items.iter().enumerate().filter(|(_, item)| !is_data(item)) {
            self.in_data(item, &joined(path, &format!("index {n}")));
        }
    }

    fn in_struct(&mut self, hash: &Hash, path: &str) {
        for (key, member) in hash.iter().filter(|(_, member)| !is_data(&member.value)) {
            self.in_data(&member.value, &joined(path, &format!("entry '{}'", key.to_text())));
        }
    }

    // `Data` is a variant of three types. Puppet lists all three where the value has parts of its own that it can blame.
    fn in_data(&mut self, value: &Value, path: &str) {
        let variant = |n: u8| joined(path, &format!("variant {n}"));
        match &value.data {
            Data::Array(items) => {
                self.push(&variant(0), "a ScalarData value", value);
                self.push(&variant(1), "a Hash value", value);
                self.in_array(items, &variant(2));
            }
            Data::Hash(hash) if is_struct(hash) => {
                self.push(&variant(0), "a ScalarData value", value);
                self.in_struct(hash, &variant(1));
                self.push(&variant(2), "an Array value", value);
            }
            _ => {
                let got = simple_name(&value.data).into();
                self.all.push(Mismatch { path: path.into(), expected: "a Data value", got, origin: offender(value) });
            }
        }
    }
}

fn joined(path: &str, part: &str) -> String {
    if path.is_empty() { part.into() } else { format!("{path} {part}") }
}

/// The key that makes a hash no data, else the value itself.
fn offender(value: &Value) -> Option<Span> {
    let bad_key = value.as_hash().and_then(|hash| hash.iter().find(|(key, _)| key.as_str().is_none()));
    bad_key.and_then(|(_, member)| member.key_origin).or(value.origin)
}

/// Whether a value is what Puppet calls `Data`: null, scalars that JSON has, lists of data, hashes of data with string keys.
fn is_data(value: &Value) -> bool {
    match &value.data {
        Data::Array(items) => items.iter().all(is_data),
        Data::Hash(hash) => is_data_hash(hash),
        Data::Null => true,
        data => is_scalar(data),
    }
}

fn is_data_hash(hash: &Hash) -> bool {
    hash.iter().all(|(key, member)| is_string(&key.0) && is_data(&member.value))
}

fn is_scalar(data: &Data) -> bool {
    is_string(data) || matches!(data, Data::Bool(_) | Data::Integer(_) | Data::BigInteger(_) | Data::Float(_))
}

fn is_string(data: &Data) -> bool {
    matches!(data, Data::String(_) | Data::Binary(_))
}

/// Whether Puppet infers a Struct for a hash that is not empty.
fn is_struct(hash: &Hash) -> bool {
    hash.keys().all(|key| match &key.0 {
        Data::String(text) => !text.is_empty(),
        Data::Binary(bytes) => !bytes.is_empty(),
        _ => false,
    })
}

/// The name of a value's type without parameters; only `Sensitive` shows what is in it.
pub(super) fn short_name(value: &Value) -> String {
    match &value.data {
        Data::Sensitive(inner) => format!("Sensitive[{}]", general_name(&inner.data)),
        data => simple_name(data).into(),
    }
}

fn general_name(data: &Data) -> &'static str {
    match data {
        Data::Array(_) => "Array",
        Data::Hash(_) => "Hash",
        data => simple_name(data),
    }
}

fn simple_name(data: &Data) -> &'static str {
    match data {
        Data::Null => "Undef",
        Data::Bool(_) => "Boolean",
        Data::Integer(_) | Data::BigInteger(_) => "Integer",
        Data::Float(_) => "Float",
        Data::String(_) | Data::Binary(_) => "String",
        Data::Symbol(name) if &**name == "default" => "Default",
        Data::Symbol(_) => "Runtime",
        Data::Array(items) if items.is_empty() => "Array",
        Data::Array(_) => "Tuple",
        Data::Hash(hash) if !hash.is_empty() && is_struct(hash) => "Struct",
        Data::Hash(_) => "Hash",
        Data::Sensitive(_) => "Sensitive",
        Data::Rich(rich) => rich.type_name(),
    }
}

/// The full type of a hash that is no Struct, as Puppet infers and prints it.
pub(super) fn hash_type(hash: &Hash) -> String {
    let keys = variant(hash.keys().map(|key| type_of(&key.0)).collect());
    let values = variant(hash.values().map(|member| type_of(&member.value.data)).collect());
    format!("Hash[{}, {}]", keys.text(), values.text())
}

/// Puppet types, as far as they merge with one another.
#[derive(Clone, PartialEq)]
enum Type {
    Undef,
    Integer(i128, i128),
    Float(f64, f64),
    Strings(Vec<String>),
    Optional(Box<Type>),
    Variant(Vec<Type>),
    /// Any other: its text, and all that tells it from others whose text is the same, as strings have their values in their types.
    Other(String, String),
}

fn type_of(data: &Data) -> Type {
    let other = |text: String| {
        let mut exact = String::new();
        inspect(data, &mut exact);
        Type::Other(text, exact)
    };
    match data {
        Data::Null => Type::Undef,
        Data::Bool(value) => other(format!("Boolean[{value}]")),
        Data::Integer(value) => Type::Integer(i128::from(*value), i128::from(*value)),
        Data::BigInteger(digits) => match digits.parse() {
            Ok(value) => Type::Integer(value, value),
            Err(_) => other(format!("Integer[{digits}, {digits}]")),
        },
        Data::Float(value) => Type::Float(*value, *value),
        Data::String(text) => Type::Strings(vec![text.to_string()]),
        Data::Binary(bytes) => Type::Strings(vec![String::from_utf8_lossy(bytes).into_owned()]),
        Data::Symbol(name) if &**name == "default" => other("Default".into()),
        Data::Symbol(_) => other("Runtime[ruby, 'Symbol']".into()),
        Data::Array(items) if items.is_empty() => other("Array[0, 0]".into()),
        Data::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| type_of(&item.data).text()).collect();
            other(format!("Tuple[{}]", items.join(", ")))
        }
        Data::Hash(hash) if hash.is_empty() => other("Hash[0, 0]".into()),
        Data::Hash(hash) if is_struct(hash) => {
            let members: Vec<String> = hash.iter().map(|(key, member)| struct_member(&key.to_text(), &member.value)).collect();
            other(format!("Struct[{{{}}}]", members.join(", ")))
        }
        Data::Hash(hash) => {
            let text = hash_type(hash);
            let size = hash.len();
            other(format!("{}, {size}, {size}]", &text[..text.len() - 1]))
        }
        Data::Sensitive(inner) => other(format!("Sensitive[{}]", general_name(&inner.data))),
        Data::Rich(rich) => other(rich.type_name().into()),
    }
}

fn struct_member(key: &str, value: &Value) -> String {
    let key = puppet_quote(key);
    let value_type = type_of(&value.data);
    if value_type == Type::Undef { format!("NotUndef[{key}] => Undef") } else { format!("{key} => {}", value_type.text()) }
}

/// Puppet's normalised variant of some types.
fn variant(types: Vec<Type>) -> Type {
    let mut types = unique(types);
    if types.len() == 1 {
        return types.remove(0);
    }
    if types.contains(&Type::Undef) {
        types.retain(|given| *given != Type::Undef);
        return Type::Optional(Box::new(variant(types)));
    }
    let before = types.len();
    let mut merged = merged_strings(types.clone());
    for is_kind in [|given: &Type| matches!(given, Type::Integer(..)), |given: &Type| matches!(given, Type::Float(..))] {
        if merged.iter().filter(|given| is_kind(given)).count() > 1 {
            merged = merged_numbers(merged, is_kind);
        }
    }
    match merged.len() {
        1 => merged.remove(0),
        // Nothing was joined: Puppet keeps the variant as it was, with its order.
        len if len == before => Type::Variant(types),
        _ => Type::Variant(merged),
    }
}

/// Makes one sorted Enum of all strings and puts it last.
fn merged_strings(types: Vec<Type>) -> Vec<Type> {
    let (strings, mut others): (Vec<Type>, Vec<Type>) =
        types.iter().cloned().partition(|given| matches!(given, Type::Strings(_)));
    if strings.len() < 2 {
        return types;
    }
    let mut values: Vec<String> = Vec::new();
    for given in strings {
        if let Type::Strings(texts) = given {
            values.extend(texts);
        }
    }
    values.sort();
    values.dedup();
    others.push(Type::Strings(values));
    others
}

fn unique(types: Vec<Type>) -> Vec<Type> {
    let mut kept: Vec<Type> = Vec::new();
    for given in types {
        if !kept.contains(&given) {
            kept.push(given);
        }
    }
    kept
}

/// Joins ranges that overlap or touch. Puppet takes the last one first, and moves all to the front.
fn merged_numbers(types: Vec<Type>, is_kind: impl Fn(&Type) -> bool) -> Vec<Type> {
    let (mut numbers, others): (Vec<Type>, Vec<Type>) = types.into_iter().partition(|given| is_kind(given));
    let mut merged = Vec::new();
    while let Some(mut range) = numbers.pop() {
        numbers.retain(|other| match join(&range, other) {
            Some(joined) => {
                range = joined;
                false
            }
            None => true,
        });
        merged.push(range);
    }
    merged.extend(others);
    merged
}

fn join(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (Type::Integer(a, b), Type::Integer(c, d)) if *c <= b + 1 && *a <= d + 1 => Some(Type::Integer(*a.min(c), *b.max(d))),
        _ => None,
    }
}

impl Type {
    fn text(&self) -> String {
        match self {
            Type::Undef => "Undef".into(),
            Type::Integer(from, to) => format!("Integer[{from}, {to}]"),
            Type::Float(from, to) if *to == f64::INFINITY => format!("Float[{}]", float_text(*from)),
            Type::Float(from, to) => format!("Float[{}, {}]", float_text(*from), float_text(*to)),
            Type::Strings(texts) if texts.len() == 1 => "String".into(),
            Type::Strings(texts) => {
                format!("Enum[{}]", texts.iter().map(|text| puppet_quote(text)).collect::<Vec<_>>().join(", "))
            }
            Type::Optional(inner) => match &**inner {
                Type::Strings(texts) if texts.len() == 1 => format!("Optional[{}]", puppet_quote(&texts[0])),
                inner => format!("Optional[{}]", inner.text()),
            },
            Type::Variant(types) => format!("Variant[{}]", types.iter().map(Type::text).collect::<Vec<_>>().join(", ")),
            Type::Other(text, _) => text.clone(),
        }
    }
}
