//! Types of values: as exact as can be (`infer_set`), or one type for all elements (`infer`).
//! Source: `TypeCalculator`.

use super::size::exactly_size;
use super::{Alias, DataType, Range, StringType, StructMember};
use crate::puppet::rich::{Rich, VersionRange};
use crate::puppet::value::{Data, Hash, Value};

use DataType as T;

/// Returns a long integer; one that exceeds even 128 bits counts as the longest.
pub(super) fn parse_big(digits: &str) -> i128 {
    digits.parse().unwrap_or(if digits.starts_with('-') { i128::MIN } else { i128::MAX })
}

fn infer_single(value: &Value) -> DataType {
    match value.data() {
        Data::Null => T::Undef,
        Data::Bool(truth) => T::Boolean(Some(*truth)),
        Data::Integer(number) => T::Integer(Range::from_single(i128::from(*number))),
        Data::BigInteger(digits) => T::Integer(Range::from_single(parse_big(digits))),
        // Puppet treats an infinite bound as no bound.
        Data::Float(number) => T::Float(Range {
            from: Some(*number).filter(|from| *from != f64::NEG_INFINITY),
            to: Some(*number).filter(|to| *to != f64::INFINITY),
        }),
        Data::String(text) => T::String(StringType::Value(text.to_string())),
        Data::Binary(bytes) => {
            T::String(StringType::Value(String::from_utf8_lossy(bytes).into_owned()))
        }
        Data::Symbol(name) if &**name == "default" => T::Default,
        Data::Symbol(name) if &**name == "undef" => T::Undef,
        Data::Symbol(_) => T::Foreign { name: "Runtime", text: "Runtime[ruby, 'Symbol']".into() },
        Data::Sensitive(inner) => T::Sensitive(Box::new(infer(inner).generalize())),
        Data::Rich(rich) => match &**rich {
            Rich::Timestamp(nanos) => T::Timestamp(Range::from_single(*nanos)),
            Rich::Timespan(nanos) => T::Timespan(Range::from_single(*nanos)),
            Rich::SemVer(_) => T::SemVer(Vec::new()),
            Rich::SemVerRange(_) => T::SemVerRange,
            Rich::Regexp(pattern) => T::Regexp(Some(pattern.clone())),
            Rich::Uri(_) => T::Uri,
            Rich::Binary(_) => T::Binary,
            Rich::Type(inner) => T::Type(Some(Box::new(inner.clone()))),
        },
        Data::Array(_) => T::array_type(T::Unit, Some(exactly_size(0))),
        Data::Hash(_) => T::hash(T::Unit, T::Unit, Some(exactly_size(0))),
    }
}

/// Returns the type of a value, elements of collections being of the type that all have in common.
pub fn infer(value: &Value) -> DataType {
    match value.data() {
        Data::Array(items) if !items.is_empty() => T::array_type(
            reduce_types(items.iter().map(infer).collect()),
            Some(exactly_size(items.len())),
        ),
        Data::Hash(hash) if !hash.is_empty() => {
            let keys = hash.keys().map(|key| infer(&key.to_value(None))).collect();
            let values = hash.values().map(|member| infer(&member.value)).collect();
            T::hash(reduce_types(keys), reduce_types(values), Some(exactly_size(hash.len())))
        }
        _ => infer_single(value),
    }
}

fn reduce_types(types: Vec<DataType>) -> DataType {
    types.into_iter().reduce(|a, b| common_type(&a, &b)).unwrap_or(T::Unit)
}

/// Returns the type of a value with the type of each of its parts.
pub fn infer_set(value: &Value) -> DataType {
    match value.data() {
        Data::Array(items) if !items.is_empty() => {
            T::Tuple(items.iter().map(infer_set).collect(), None)
        }
        Data::Hash(hash) if !hash.is_empty() => {
            if is_struct(hash) {
                return T::Struct(
                    hash.iter()
                        .map(|(key, member)| StructMember {
                            name: key.to_text().into_owned(),
                            optional: false,
                            value: infer_set(&member.value),
                        })
                        .collect(),
                );
            }
            let keys = hash.keys().map(|key| infer_set(&key.to_value(None))).collect();
            let values = hash.values().map(|member| infer_set(&member.value)).collect();
            T::hash(T::variant_type(keys), T::variant_type(values), Some(exactly_size(hash.len())))
        }
        Data::Rich(rich) => match &**rich {
            Rich::SemVer(version) => T::SemVer(vec![VersionRange::exactly_version(version)]),
            _ => infer_single(value),
        },
        _ => infer_single(value),
    }
}

/// Whether a hash that is not empty is a `Struct` to Puppet: all its keys are strings, none of them
/// empty.
fn is_struct(hash: &Hash) -> bool {
    hash.keys().all(|key| key.as_str().is_some_and(|key| !key.is_empty()))
}

impl Value {
    /// Returns the short name of the value's type, as the messages of type mismatches give it: that
    /// of [`infer_set`], without a look at the value's parts.
    pub fn type_name(&self) -> &'static str {
        let shallow = match self.data() {
            Data::Array(items) if !items.is_empty() => T::Tuple(Vec::new(), None),
            Data::Hash(hash) if !hash.is_empty() && is_struct(hash) => T::Struct(Vec::new()),
            _ => infer_single(self),
        };
        shallow.own_name()
    }
}

fn common_type(a: &DataType, b: &DataType) -> DataType {
    match (a, b) {
        (T::Undef, other) | (other, T::Undef) | (T::Unit, other) | (other, T::Unit) => {
            return other.clone();
        }
        _ if a.is_assignable(b) => return a.clone(),
        _ if b.is_assignable(a) => return b.clone(),
        (T::Array(a, _), T::Array(b, _)) => return T::array_type(common_type(a, b), None),
        (T::Hash(key, value, _), T::Hash(other_key, other_value, _)) => {
            return T::hash(common_type(key, other_key), common_type(value, other_value), None);
        }
        (T::Integer(a), T::Integer(b)) => return T::Integer(a.hull(b)),
        (T::Float(a), T::Float(b)) => return T::Float(a.hull(b)),
        (T::String(StringType::Value(a)), T::String(StringType::Value(b))) => {
            return enum_type(vec![a.clone(), b.clone()]);
        }
        (T::Enum { values, .. }, T::String(StringType::Value(text)))
        | (T::String(StringType::Value(text)), T::Enum { values, .. }) => {
            return enum_type([values.as_slice(), std::slice::from_ref(text)].concat());
        }
        (T::Enum { values, .. }, T::Enum { values: others, .. }) => {
            return enum_type([values.as_slice(), others.as_slice()].concat());
        }
        (T::Variant(types), T::Variant(others)) => {
            return T::variant_type([types.as_slice(), others.as_slice()].concat());
        }
        (T::Regexp(_), T::Regexp(_)) => return T::Regexp(None),
        _ => {}
    }
    let plain = fitting_type(T::Numeric, a, b)
        .or_else(|| fitting_type(T::ScalarData, a, b))
        .or_else(|| fitting_type(T::Scalar, a, b))
        .or_else(|| fitting_type(T::Alias(Alias::Data), a, b));
    if let (None, T::Type(a), T::Type(b)) = (&plain, a, b) {
        let inner = a.as_ref().zip(b.as_ref()).map(|(a, b)| Box::new(common_type(a, b)));
        return T::Type(inner);
    }
    plain.or_else(|| fitting_type(T::Alias(Alias::RichData), a, b)).unwrap_or(T::Any)
}

fn fitting_type(common: DataType, a: &DataType, b: &DataType) -> Option<DataType> {
    (common.is_assignable(a) && common.is_assignable(b)).then_some(common)
}

/// Returns `Enum` of these strings.
pub(super) fn enum_type(mut values: Vec<String>) -> DataType {
    values.sort();
    values.dedup();
    T::Enum { values, fold: false }
}

impl DataType {
    /// Returns the type without bounds, lengths and single values.
    pub fn generalize(&self) -> DataType {
        match self {
            T::Integer(_) => T::INTEGER,
            T::Float(_) => T::FLOAT,
            T::String(_) => T::STRING,
            T::Boolean(_) => T::BOOLEAN,
            T::Timestamp(_) => T::Timestamp(Range::ANY),
            T::Timespan(_) => T::Timespan(Range::ANY),
            T::Enum { values, .. } if values.is_empty() => T::STRING,
            T::Enum { values, .. } => {
                let lengths = values.iter().map(|value| value.chars().count());
                let bounds = exactly_size(lengths.clone().min().unwrap_or(0))
                    .hull(&exactly_size(lengths.max().unwrap_or(0)));
                T::String(StringType::Length(bounds))
            }
            T::Collection(_) => T::Collection(None),
            T::Array(element, _) => T::array_type(element.generalize(), None),
            T::Hash(key, _, size) if **key == T::Unit && *size == Some(exactly_size(0)) => {
                self.clone()
            }
            T::Hash(key, value, _) => T::hash(key.generalize(), value.generalize(), None),
            T::Tuple(types, size) => {
                T::Tuple(types.iter().map(DataType::generalize).collect(), *size)
            }
            T::Struct(members) => T::Struct(
                members
                    .iter()
                    .map(|member| StructMember {
                        value: member.value.generalize(),
                        ..member.clone()
                    })
                    .collect(),
            ),
            T::Variant(types) if !types.is_empty() => {
                T::variant_type(types.iter().map(DataType::generalize).collect())
            }
            T::Optional(inner) => T::Optional(generalize_inner(inner)),
            T::NotUndef(inner) => T::NotUndef(generalize_inner(inner)),
            T::Type(inner) => T::Type(generalize_inner(inner)),
            T::Iterable(inner) => T::Iterable(generalize_inner(inner)),
            T::Iterator(inner) => T::Iterator(generalize_inner(inner)),
            T::Sensitive(inner) => T::Sensitive(Box::new(inner.generalize())),
            other => other.clone(),
        }
    }
}

fn generalize_inner(inner: &Option<Box<DataType>>) -> Option<Box<DataType>> {
    inner.as_ref().map(|inner| Box::new(inner.generalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puppet::value::{Key, Member, Provenance};

    #[test]
    fn the_short_name_is_that_of_the_inferred_type() {
        let hash = |key: Data| {
            let member = Member { key_origin: None, value: "x".into() };
            let key = Key::new(key, Provenance::from_source(None));
            Value::hash([(key, member)].into_iter().collect(), Provenance::from_source(None))
        };
        let symbol = |name: &str| Data::Symbol(name.into());
        let new = |data: Data| Value::new(data, Provenance::from_source(None));
        for (value, name) in [
            (Value::new_null(None), "Undef"),
            ("x".into(), "String"),
            (new(symbol("x")), "Runtime"),
            (new(symbol("default")), "Default"),
            (new(Data::Array(Vec::new().into())), "Array"),
            (new(Data::Array(vec!["x".into()].into())), "Tuple"),
            (new(Data::Hash(Hash::default().into())), "Hash"),
            (hash(Data::String("a".into())), "Struct"),
            (hash(Data::String("".into())), "Hash"),
            (hash(Data::Integer(1)), "Hash"),
            (new(Data::Sensitive(std::sync::Arc::new("x".into()))), "Sensitive"),
            (new(Data::Rich(std::sync::Arc::new(Rich::Timespan(1)))), "Timespan"),
        ] {
            assert_eq!((value.type_name(), infer_set(&value).name()), (name, name));
        }
    }
}
