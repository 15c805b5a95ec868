//! Puppet's data types, as far as values of Hiera can have them: read from text, and held against values.
//!
//! What a mismatch is called follows Puppet's own words; `tests/types_oracle.rs` compares them with the real ones.

use std::fmt;

use super::ruby_regex::RubyRegex;
use super::value::{Data, Value, float_text};

mod parse;

pub use parse::{TypeSyntaxError, parse};

/// A data type.
#[derive(Clone, Debug)]
pub enum DataType {
    /// Everything.
    Any,
    /// A type without parameters that is a set of others: `Scalar`, `ScalarData`, `Numeric`, `Data`, `RichData`, `Undef`, `Default`.
    Named(Named),
    /// An integer within bounds.
    Integer(Option<i64>, Option<i64>),
    /// A float within bounds.
    Float(Option<f64>, Option<f64>),
    /// A string whose length in characters is within bounds.
    String(Size),
    /// A boolean, or just one of the two.
    Boolean(Option<bool>),
    /// One of these strings; without any, no string.
    Enum(Vec<String>),
    /// A string that matches one of these.
    Pattern(Vec<(String, std::sync::Arc<RubyRegex>)>),
    /// A list.
    Array(Box<DataType>, Size),
    /// A hash.
    Hash(Box<DataType>, Box<DataType>, Size),
    /// A list with a type for each place; the last one repeats.
    Tuple(Vec<DataType>, Size),
    /// A hash with these members.
    Struct(Vec<StructMember>),
    /// `undef`, or this.
    Optional(Box<DataType>),
    /// This, but not `undef`.
    NotUndef(Box<DataType>),
    /// One of these.
    Variant(Vec<DataType>),
    /// A list or a hash of so many.
    Collection(Size),
    /// A sensitive value of this type.
    Sensitive(Option<Box<DataType>>),
    /// A type that no value of plain data has: `Regexp`, `Timestamp`, `Callable`, as written.
    Other(String),
    /// A name that is no type of Puppet's: perhaps a module's, which cannot be read here.
    Unresolved(String),
}

/// Types without parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Strings, numbers, booleans and their like.
    Scalar,
    /// Strings, numbers and booleans.
    ScalarData,
    /// Numbers.
    Numeric,
    /// All that JSON has a word for.
    Data,
    /// `undef`.
    Undef,
    /// All data.
    RichData,
    /// `default`.
    Default,
}

/// How many: from, to; both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// At least.
    pub min: usize,
    /// At most; `None` for no bound.
    pub max: Option<usize>,
}

/// A member of a `Struct`.
#[derive(Clone, Debug)]
pub struct StructMember {
    /// Its key.
    pub name: String,
    /// Whether it may be missing.
    pub optional: bool,
    /// Its type.
    pub value: DataType,
}

/// Any number.
pub const ANY_SIZE: Size = Size { min: 0, max: None };

impl Size {
    fn holds(self, len: usize) -> bool {
        self.min <= len && self.max.is_none_or(|max| len <= max)
    }

    fn expected(self) -> String {
        match self.max {
            Some(max) if max == self.min => max.to_string(),
            Some(max) if self.min == 0 => format!("at most {max}"),
            Some(max) => format!("between {} and {max}", self.min),
            None => format!("at least {}", self.min),
        }
    }

    /// As parameters of a type, with the comma that goes before them where there are others.
    fn parameters(self, separator: &str) -> String {
        match self {
            ANY_SIZE => String::new(),
            Size { min, max: None } => format!("{separator}{min}"),
            Size { min, max: Some(max) } => format!("{separator}{min}, {max}"),
        }
    }
}

/// Checks a value; the error is Puppet's message about `subject`, such as `Found value has wrong type, expects …`.
pub fn assert_type(subject: &str, data_type: &DataType, value: &Value) -> Result<(), String> {
    if let Some(name) = data_type.unresolved().filter(|_| !data_type.accepts(value)) {
        return Err(format!("{subject} has wrong type, references an unresolved type '{name}'"));
    }
    let mismatches = data_type.mismatches(value, &[]);
    match mismatches.as_slice() {
        [] => Ok(()),
        [one] => Err(format!("{subject} has wrong type, {one}")),
        several => {
            let lines: Vec<String> = several.iter().map(|one| format!("{subject} has wrong type, {one}")).collect();
            Err(format!(" {}", lines.join("\n  ")))
        }
    }
}

/// A part of a value that is not of its type.
#[derive(Clone, Debug)]
struct Mismatch {
    /// The way to the part in Puppet's words.
    path: Vec<String>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// The part's type is none of these.
    Type { expected: Vec<DataType>, value: Value },
    /// Anything else, in words.
    Words(String),
}

impl DataType {
    /// Whether the value is of this type.
    pub fn accepts(&self, value: &Value) -> bool {
        match (self, &value.data) {
            (DataType::Any, _) => true,
            (DataType::Named(named), data) => named.accepts(data),
            (DataType::Integer(min, max), Data::Integer(number)) => {
                min.is_none_or(|min| min <= *number) && max.is_none_or(|max| *number <= max)
            }
            (DataType::Integer(min, max), Data::BigInteger(digits)) => {
                if digits.starts_with('-') {
                    min.is_none()
                } else {
                    max.is_none()
                }
            }
            (DataType::Float(min, max), Data::Float(number)) => {
                min.is_none_or(|min| min <= *number) && max.is_none_or(|max| *number <= max)
            }
            (DataType::String(size), Data::String(text)) => size.holds(text.chars().count()),
            (DataType::Boolean(only), Data::Bool(truth)) => only.is_none_or(|only| only == *truth),
            (DataType::Enum(names), Data::String(text)) => names.iter().any(|name| **name == **text),
            (DataType::Pattern(patterns), Data::String(text)) => {
                patterns.is_empty() || patterns.iter().any(|(_, regex)| regex.is_match(text) == Some(true))
            }
            (DataType::Array(inner, size), Data::Array(items)) => {
                size.holds(items.len()) && items.iter().all(|item| inner.accepts(item))
            }
            (DataType::Hash(key, member, size), Data::Hash(hash)) => {
                size.holds(hash.len())
                    && hash
                        .iter()
                        .all(|(name, found)| key.accepts(&Value::new(name.0.clone(), None)) && member.accepts(&found.value))
            }
            (DataType::Tuple(types, size), Data::Array(items)) => {
                size.holds(items.len())
                    && items.iter().enumerate().all(|(n, item)| types.get(n).or(types.last()).is_none_or(|one| one.accepts(item)))
            }
            (DataType::Struct(members), Data::Hash(hash)) => {
                members
                    .iter()
                    .all(|member| hash.get(&*member.name).map_or(member.optional, |found| member.value.accepts(&found.value)))
                    && hash.keys().all(|key| key.as_str().is_some_and(|key| members.iter().any(|member| member.name == key)))
            }
            (DataType::Optional(_), Data::Null) => true,
            (DataType::Optional(inner), _) => inner.accepts(value),
            (DataType::NotUndef(inner), data) => !matches!(data, Data::Null) && inner.accepts(value),
            (DataType::Variant(types), _) => types.iter().any(|one| one.accepts(value)),
            (DataType::Collection(size), Data::Array(items)) => size.holds(items.len()),
            (DataType::Collection(size), Data::Hash(hash)) => size.holds(hash.len()),
            (DataType::Sensitive(inner), Data::Sensitive(value)) => inner.as_ref().is_none_or(|inner| inner.accepts(value)),
            _ => false,
        }
    }

    fn mismatches(&self, value: &Value, path: &[String]) -> Vec<Mismatch> {
        if self.accepts(value) {
            return Vec::new();
        }
        let words = |text: String| vec![Mismatch { path: path.to_vec(), what: What::Words(text) }];
        let below = |step: String| [path, &[step]].concat();
        match (self, &value.data) {
            (DataType::Optional(inner), _) => optional(inner.mismatches(value, path), path),
            (DataType::NotUndef(inner), data) if !matches!(data, Data::Null) || !matches!(**inner, DataType::Any) => {
                inner.mismatches(value, path)
            }
            (DataType::Variant(types), _) => variants(types, value, path),
            (DataType::Array(_, size) | DataType::Tuple(_, size), Data::Array(items)) if !size.holds(items.len()) => {
                words(format!("expects size to be {}, got {}", size.expected(), items.len()))
            }
            (DataType::Array(inner, _), Data::Array(items)) => {
                items.iter().enumerate().flat_map(|(n, item)| inner.mismatches(item, &below(format!("index {n}")))).collect()
            }
            (DataType::Tuple(types, _), Data::Array(items)) => {
                let one = |(n, item): (usize, &Value)| {
                    // Where the last type repeats, Puppet gives its place, not the element's.
                    let n = n.min(types.len().saturating_sub(1));
                    types.get(n).map(|one| one.mismatches(item, &below(format!("index {n}")))).unwrap_or_default()
                };
                items.iter().enumerate().flat_map(one).collect()
            }
            (DataType::Hash(_, _, size), Data::Hash(hash)) if !size.holds(hash.len()) => {
                words(format!("expects size to be {}, got {}", size.expected(), hash.len()))
            }
            (DataType::Hash(key, member, _), Data::Hash(hash)) => {
                let one = |(name, found): (&super::value::Key, &super::value::Member)| {
                    let text = name.to_text();
                    let mut all = key.mismatches(&Value::new(name.0.clone(), None), &below(format!("key of entry '{text}'")));
                    all.extend(member.mismatches(&found.value, &below(format!("entry '{text}'"))));
                    all
                };
                hash.iter().flat_map(one).collect()
            }
            (DataType::Struct(members), Data::Hash(hash)) => {
                if hash.is_empty() {
                    let size = Size { min: members.iter().filter(|member| !member.optional).count(), max: Some(members.len()) };
                    return words(format!("expects size to be {}, got 0", size.expected()));
                }
                let mut all = Vec::new();
                for member in members {
                    match hash.get(&*member.name) {
                        Some(found) => {
                            all.extend(member.value.mismatches(&found.value, &below(format!("entry '{}'", member.name))))
                        }
                        None if member.optional => {}
                        None => all.extend(words(format!("expects a value for key '{}'", member.name))),
                    }
                }
                for key in hash.keys().map(|key| key.to_text()).filter(|key| !members.iter().any(|member| member.name == **key)) {
                    all.extend(words(format!("unrecognized key '{key}'")));
                }
                all
            }
            _ => vec![Mismatch { path: path.to_vec(), what: What::Type { expected: vec![self.clone()], value: value.clone() } }],
        }
    }

    /// The first name in it that is no type; Puppet then says so of the whole type, not of a part.
    fn unresolved(&self) -> Option<&str> {
        let inner: Vec<&DataType> = match self {
            DataType::Unresolved(name) => return Some(name),
            DataType::Array(inner, _) | DataType::Optional(inner) | DataType::NotUndef(inner) => vec![inner],
            DataType::Hash(key, member, _) => vec![key, member],
            DataType::Tuple(types, _) | DataType::Variant(types) => types.iter().collect(),
            DataType::Struct(members) => members.iter().map(|member| &member.value).collect(),
            DataType::Sensitive(inner) => inner.iter().map(|inner| &**inner).collect(),
            _ => return None,
        };
        inner.into_iter().find_map(DataType::unresolved)
    }

    /// Whether Puppet names it with its parameters beside this value: the value is of the type but for those.
    fn is_close_to(&self, value: &Value) -> bool {
        matches!(
            (self, &value.data),
            (DataType::Integer(..), Data::Integer(_) | Data::BigInteger(_))
                | (DataType::Float(..), Data::Float(_))
                | (DataType::String(_), Data::String(_))
                | (DataType::Boolean(_), Data::Bool(_))
                | (DataType::Sensitive(_) | DataType::Other(_), _)
        )
    }

    fn is_pattern(&self) -> bool {
        matches!(self, DataType::Enum(_) | DataType::Pattern(_))
    }

    /// The name without parameters.
    fn short_name(&self) -> String {
        let text = self.to_string();
        text.split('[').next().unwrap_or_default().to_owned()
    }
}

impl Named {
    fn name(self) -> &'static str {
        match self {
            Named::Scalar => "Scalar",
            Named::ScalarData => "ScalarData",
            Named::Numeric => "Numeric",
            Named::Data => "Data",
            Named::Undef => "Undef",
            Named::RichData => "RichData",
            Named::Default => "Default",
        }
    }

    fn accepts(self, data: &Data) -> bool {
        let number = matches!(data, Data::Integer(_) | Data::BigInteger(_) | Data::Float(_));
        match self {
            Named::Undef => matches!(data, Data::Null),
            Named::Default => false,
            Named::Numeric => number,
            Named::Scalar | Named::ScalarData => number || matches!(data, Data::String(_) | Data::Bool(_)),
            Named::Data => match data {
                Data::Array(items) => items.iter().all(|item| self.accepts(&item.data)),
                Data::Hash(hash) => hash.iter().all(|(key, member)| key.as_str().is_some() && self.accepts(&member.value.data)),
                Data::Null => true,
                _ => Named::Scalar.accepts(data),
            },
            Named::RichData => !matches!(data, Data::Symbol(_)),
        }
    }
}

/// `Undef` joins what is expected at the value itself; what is expected of its parts stays.
fn optional(mut mismatches: Vec<Mismatch>, path: &[String]) -> Vec<Mismatch> {
    for mismatch in mismatches.iter_mut().filter(|mismatch| mismatch.path == path) {
        if let What::Type { expected, .. } = &mut mismatch.what {
            expected.insert(0, DataType::Named(Named::Undef));
        }
    }
    mismatches
}

/// All variants' complaints: as one where they are about the same part, else each with its variant.
fn variants(types: &[DataType], value: &Value, path: &[String]) -> Vec<Mismatch> {
    let each: Vec<Vec<Mismatch>> = types.iter().map(|one| one.mismatches(value, path)).collect();
    let mut merged: Vec<DataType> = Vec::new();
    let mut place: Option<(&[String], &Value)> = None;
    let same_place = each.iter().all(|list| match list.as_slice() {
        [Mismatch { path, what: What::Type { expected, value } }] => {
            merged.extend(expected.iter().cloned());
            place.get_or_insert((path, value)).0 == path.as_slice()
        }
        _ => false,
    });
    if let (true, Some((path, value))) = (same_place, place) {
        let what = What::Type { expected: merged, value: value.clone() };
        return vec![Mismatch { path: path.to_vec(), what }];
    }
    let with_variant = |(n, list): (usize, Vec<Mismatch>)| {
        list.into_iter().map(move |mut mismatch| {
            mismatch.path.insert(path.len(), format!("variant {n}"));
            mismatch
        })
    };
    each.into_iter().enumerate().flat_map(with_variant).collect()
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            write!(f, "{step} ")?;
        }
        match &self.what {
            What::Words(text) => f.write_str(text),
            What::Type { expected, value } => f.write_str(&expectation(expected, value)),
        }
    }
}

fn expectation(expected: &[DataType], value: &Value) -> String {
    let is_undef = |one: &DataType| matches!(one, DataType::Named(Named::Undef));
    let all_patterns = expected.iter().filter(|one| !is_undef(one)).all(DataType::is_pattern);
    // Beside other types a pattern is only spoken of where it was tried: with a string.
    if expected.iter().any(DataType::is_pattern) && (all_patterns || value.as_str().is_some()) {
        return pattern_expectation(expected, value);
    }
    let detailed = expected.iter().any(|one| one.is_close_to(value));
    let mut names: Vec<String> = Vec::new();
    for one in expected {
        let name = if detailed { one.to_string() } else { one.short_name() };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let got = if detailed { detailed_type(value) } else { value.type_name().to_owned() };
    match names.as_slice() {
        [one] => format!("expects {} {one} value, got {got}", article(one)),
        [first, second] => format!("expects a value of type {first} or {second}, got {got}"),
        [others @ .., last] => format!("expects a value of type {}, or {last}, got {got}", others.join(", ")),
        [] => String::new(),
    }
}

fn pattern_expectation(expected: &[DataType], value: &Value) -> String {
    let (undefs, others): (Vec<&DataType>, Vec<&DataType>) =
        expected.iter().partition(|one| matches!(one, DataType::Named(Named::Undef)));
    let names: Option<Vec<String>> = others
        .iter()
        .map(|one| if let DataType::Enum(names) = one { Some(names.clone()) } else { None })
        .collect::<Option<Vec<_>>>()
        .map(|lists| lists.concat());
    let wanted = match (names, others.as_slice()) {
        (Some(names), _) => DataType::Enum(names).to_string(),
        (None, [one]) => one.to_string(),
        (None, several) => DataType::Variant(several.iter().map(|one| (*one).clone()).collect()).to_string(),
    };
    let got = value.as_str().map_or_else(|| value.type_name().to_owned(), |text| format!("'{text}'"));
    let undef = if undefs.is_empty() { "" } else { "an undef value or " };
    format!("expects {undef}a match for {wanted}, got {got}")
}

fn detailed_type(value: &Value) -> String {
    match &value.data {
        Data::Integer(_) | Data::BigInteger(_) | Data::Float(_) => format!("{0}[{1}, {1}]", value.type_name(), value.to_text()),
        Data::Bool(truth) => format!("Boolean[{truth}]"),
        _ => value.type_name().to_owned(),
    }
}

fn article(name: &str) -> &'static str {
    if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |value: Option<String>| value.unwrap_or_else(|| "default".into());
        let range = |name: &str, min: Option<String>, max: Option<String>| match (min, max) {
            (None, None) => name.to_owned(),
            (Some(min), None) => format!("{name}[{min}]"),
            (min, max) => format!("{name}[{}, {}]", bound(min), bound(max)),
        };
        let list = |types: &[DataType]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let text = match self {
            DataType::Any => "Any".to_owned(),
            DataType::Named(named) => named.name().to_owned(),
            DataType::Integer(min, max) => range("Integer", min.map(|n| n.to_string()), max.map(|n| n.to_string())),
            DataType::Float(min, max) => range("Float", min.map(float_text), max.map(float_text)),
            DataType::String(ANY_SIZE) => "String".to_owned(),
            DataType::String(size) => format!("String[{}]", size.parameters("")),
            DataType::Boolean(None) => "Boolean".to_owned(),
            DataType::Boolean(Some(only)) => format!("Boolean[{only}]"),
            DataType::Enum(names) if names.is_empty() => "Enum".to_owned(),
            DataType::Enum(names) => {
                format!("Enum[{}]", names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "))
            }
            DataType::Pattern(patterns) if patterns.is_empty() => "Pattern".to_owned(),
            DataType::Pattern(patterns) => {
                format!("Pattern[{}]", patterns.iter().map(|(source, _)| format!("/{source}/")).collect::<Vec<_>>().join(", "))
            }
            DataType::Array(inner, ANY_SIZE) if matches!(**inner, DataType::Any) => "Array".to_owned(),
            DataType::Array(inner, size) => format!("Array[{inner}{}]", size.parameters(", ")),
            DataType::Hash(key, member, ANY_SIZE) if matches!((&**key, &**member), (DataType::Any, DataType::Any)) => {
                "Hash".to_owned()
            }
            DataType::Hash(key, member, size) => format!("Hash[{key}, {member}{}]", size.parameters(", ")),
            DataType::Tuple(types, _) if types.is_empty() => "Tuple".to_owned(),
            DataType::Tuple(types, size) => {
                let exact = Size { min: types.len(), max: Some(types.len()) };
                format!("Tuple[{}{}]", list(types), if *size == exact { String::new() } else { size.parameters(", ") })
            }
            DataType::Struct(members) if members.is_empty() => "Struct".to_owned(),
            DataType::Struct(members) => {
                let member = |member: &StructMember| match (member.optional, &member.value) {
                    (true, DataType::Optional(_)) | (false, _) => format!("'{}' => {}", member.name, member.value),
                    (true, value) => format!("Optional['{}'] => {value}", member.name),
                };
                format!("Struct[{{{}}}]", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
            DataType::Optional(inner) => format!("Optional[{inner}]"),
            DataType::NotUndef(inner) if matches!(**inner, DataType::Any) => "NotUndef".to_owned(),
            DataType::NotUndef(inner) => format!("NotUndef[{inner}]"),
            DataType::Variant(types) => format!("Variant[{}]", list(types)),
            DataType::Collection(ANY_SIZE) => "Collection".to_owned(),
            DataType::Collection(size) => format!("Collection[{}]", size.parameters("")),
            DataType::Sensitive(None) => "Sensitive".to_owned(),
            DataType::Sensitive(Some(inner)) => format!("Sensitive[{inner}]"),
            DataType::Other(name) | DataType::Unresolved(name) => name.clone(),
        };
        f.write_str(&text)
    }
}
