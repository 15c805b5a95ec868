//! Describes the mismatches of a value in Puppet's words. Source: `TypeMismatchDescriber`, followed
//! case by case.

use std::borrow::Cow;

use super::normalize::{Crash, Stage};
use super::size::{array_size, bound_of_count, exactly_size, tuple_size};
use super::{ANY_NUMBER, DataType, Range, StringType, StructMember};
use crate::puppet::value::Value;
use crate::text::Span;

use DataType as T;

/// The place of an element. Equal to another that Puppet shows as the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementAt {
    /// The place as Puppet shows it.
    shown: usize,
    /// The place where the element is.
    at: usize,
}

impl ElementAt {
    fn index_step(at: usize) -> ValueStep {
        ValueStep::Index(ElementAt { shown: at, at })
    }
}

impl PartialEq for ElementAt {
    fn eq(&self, other: &ElementAt) -> bool {
        self.shown == other.shown
    }
}

/// A step on the way to a part of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueStep {
    Signature(usize),
    Parameter(Cow<'static, str>),
    Index(ElementAt),
    Entry(String),
    Key(String),
    Variant(usize),
}

/// A part of a value that is not of its type.
#[derive(Clone, Debug)]
pub(super) struct Mismatch {
    pub(super) path: Vec<ValueStep>,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// Too few or too many arguments.
    Count {
        expected: Range<i128>,
        actual: Range<i128>,
    },
    MissingKey(String),
    ExtraneousKey(String),
    Unresolved(String),
    Type {
        expected: DataType,
        actual: DataType,
    },
    Pattern {
        expected: DataType,
        actual: DataType,
    },
    Size {
        expected: Range<i128>,
        actual: Range<i128>,
    },
}

/// The mismatches, unless Puppet crashes during the check.
pub(super) type Described = Result<Vec<Mismatch>, Crash>;

/// An expected type before it was taken apart.
#[derive(Clone, Copy)]
struct Original<'t> {
    data_type: &'t DataType,
    stage: Stage,
}

impl Original<'_> {
    fn normalize(self) -> Result<DataType, Crash> {
        self.data_type.normalize_at(self.stage)
    }
}

fn type_mismatch(path: &[ValueStep], expected: Original<'_>, actual: &DataType) -> Described {
    let what = What::Type { expected: expected.normalize()?, actual: actual.normalize()? };
    Ok(vec![Mismatch { path: path.to_vec(), what }])
}

fn size_mismatch(path: &[ValueStep], expected: Range<i128>, actual: Range<i128>) -> Described {
    Ok(vec![Mismatch { path: path.to_vec(), what: What::Size { expected, actual } }])
}

fn collect_all(described: impl Iterator<Item = Described>) -> Described {
    Ok(described.collect::<Result<Vec<_>, _>>()?.concat())
}

pub(super) fn extend_path(path: &[ValueStep], step: ValueStep) -> Vec<ValueStep> {
    [path, &[step]].concat()
}

/// `expected` is as its author wrote it.
pub(super) fn describe(expected: &DataType, actual: &DataType, path: &[ValueStep]) -> Described {
    describe_original(Original { data_type: expected, stage: Stage::Written }, actual, path)
}

/// `expected` is a part of a simplest form.
fn describe_part(expected: &DataType, actual: &DataType, path: &[ValueStep]) -> Described {
    describe_original(Original { data_type: expected, stage: Stage::Simplest }, actual, path)
}

fn describe_original(expected: Original<'_>, actual: &DataType, path: &[ValueStep]) -> Described {
    match expected.data_type.unresolved_name() {
        Some(name) => Ok(vec![Mismatch { path: path.to_vec(), what: What::Unresolved(name) }]),
        None => describe_as(&expected.normalize()?, expected, actual, path),
    }
}

/// `original` is `expected` before it was taken apart.
fn describe_as(
    expected: &DataType,
    original: Original<'_>,
    actual: &DataType,
    path: &[ValueStep],
) -> Described {
    let simplest = Original { data_type: expected, stage: Stage::Simplest };
    match expected {
        T::Variant(types) => describe_variant(types, original, actual, path),
        T::Struct(members) => describe_struct(members, original, actual, path),
        T::Hash(key, value, size) => match actual {
            T::Struct(members) => {
                let actual_size = Range {
                    from: Some(required_count(members)),
                    to: Some(bound_of_count(members.len())),
                };
                let expected_size = size.unwrap_or(ANY_NUMBER);
                if !expected_size.covers_range(&actual_size) {
                    return size_mismatch(path, expected_size, actual_size);
                }
                let mut all = Vec::new();
                for member in members {
                    all.extend(describe_unless_assignable(
                        key,
                        &member.key_type(),
                        extend_path(path, ValueStep::Key(member.name.clone())),
                    )?);
                    all.extend(describe_unless_assignable(
                        value,
                        &member.value,
                        extend_path(path, ValueStep::Entry(member.name.clone())),
                    )?);
                }
                Ok(all)
            }
            T::Hash(actual_key, actual_value, actual_size) => {
                match size.zip(Some(actual_size.unwrap_or(ANY_NUMBER))) {
                    Some((expected, actual)) if !expected.covers_range(&actual) => {
                        size_mismatch(path, expected, actual)
                    }
                    _ => type_mismatch(
                        path,
                        original,
                        &T::hash((**actual_key).clone(), (**actual_value).clone(), None),
                    ),
                }
            }
            _ => type_mismatch(path, original, actual),
        },
        T::Tuple(types, size) => {
            if expected == actual || types.is_empty() && matches!(actual, T::Array(..)) {
                return Ok(Vec::new());
            }
            let expected_size = tuple_size(types, *size);
            let last = types.len().saturating_sub(1);
            match actual {
                T::Tuple(others, other_size) => {
                    let actual_size = tuple_size(others, *other_size);
                    if !expected_size.covers_range(&actual_size) {
                        return size_mismatch(path, expected_size, actual_size);
                    }
                    // Where the last type of the tuple repeats, Puppet gives the place of that
                    // type, and not the place of the element.
                    collect_all(others.iter().enumerate().map(|(at, other)| {
                        let shown = usize::min(at, last);
                        let step = ValueStep::Index(ElementAt { shown, at });
                        types.get(shown).map_or(Ok(Vec::new()), |one| {
                            describe_part(one, other, &extend_path(path, step))
                        })
                    }))
                }
                T::Array(element, other_size) => {
                    let actual_size = array_size(*other_size);
                    if !expected_size.covers_range(&actual_size) {
                        return size_mismatch(path, expected_size, actual_size);
                    }
                    collect_all(types.iter().enumerate().map(|(n, one)| {
                        describe_part(one, element, &extend_path(path, ElementAt::index_step(n)))
                    }))
                }
                _ => type_mismatch(path, original, actual),
            }
        }
        T::Array(element, size) => match actual {
            T::Tuple(types, other_size) => {
                let expected_size = array_size(*size);
                let actual_size = other_size.unwrap_or(exactly_size(types.len()));
                if !expected_size.covers_range(&actual_size) {
                    return size_mismatch(path, expected_size, actual_size);
                }
                collect_all(types.iter().enumerate().map(|(n, one)| {
                    describe_unless_assignable(
                        element,
                        one,
                        extend_path(path, ElementAt::index_step(n)),
                    )
                }))
            }
            T::Array(other, other_size) => match size.zip(Some(array_size(*other_size))) {
                Some((expected, actual)) if !expected.covers_range(&actual) => {
                    size_mismatch(path, expected, actual)
                }
                _ => type_mismatch(path, original, &T::array_type((**other).clone(), None)),
            },
            _ => type_mismatch(path, original, actual),
        },
        T::Optional(inner) => match (actual, inner) {
            (T::Undef, _) | (_, None) => Ok(Vec::new()),
            (_, Some(inner)) => {
                let original = if is_alias(original.data_type) { original } else { simplest };
                describe_as(inner, original, actual, path)
            }
        },
        T::Pattern(_) | T::Enum { .. } => {
            let what =
                What::Pattern { expected: original.normalize()?, actual: actual.normalize()? };
            Ok(vec![Mismatch { path: path.to_vec(), what }])
        }
        T::Alias(alias) => describe_as(&alias.resolved().normalize()?, simplest, actual, path),
        T::Local(_, resolved) => describe_as(&resolved.normalize()?, simplest, actual, path),
        // The table of names holds the simplest form of the target type.
        T::Named(alias) => describe_as(&alias.target_type(), simplest, actual, path),
        // Puppet asks for a callable before it asks whether the type can be assigned, and no value of
        // data is callable.
        T::Foreign { name: "Callable", .. } => type_mismatch(path, original, actual),
        _ if expected.is_assignable(actual) => Ok(Vec::new()),
        _ => type_mismatch(path, original, actual),
    }
}

fn describe_unless_assignable(
    expected: &DataType,
    actual: &DataType,
    path: Vec<ValueStep>,
) -> Described {
    if expected.is_assignable(actual) {
        Ok(Vec::new())
    } else {
        describe_part(expected, actual, &path)
    }
}

fn required_count(members: &[StructMember]) -> i128 {
    bound_of_count(members.iter().filter(|member| !member.optional).count())
}

fn describe_struct(
    members: &[StructMember],
    original: Original<'_>,
    actual: &DataType,
    path: &[ValueStep],
) -> Described {
    match actual {
        T::Struct(others) => {
            let mut all = Vec::new();
            for member in members {
                match others.iter().find(|other| other.name == member.name) {
                    None if member.optional => {}
                    None => all.push(Mismatch {
                        path: path.to_vec(),
                        what: What::MissingKey(member.name.clone()),
                    }),
                    Some(other) => {
                        let path = extend_path(path, ValueStep::Entry(member.name.clone()));
                        all.extend(describe_unless_assignable(&member.value, &other.value, path)?);
                    }
                }
            }
            all.extend(
                others
                    .iter()
                    .filter(|other| !members.iter().any(|member| member.name == other.name))
                    .map(|other| Mismatch {
                        path: path.to_vec(),
                        what: What::ExtraneousKey(other.name.clone()),
                    }),
            );
            Ok(all)
        }
        T::Hash(key, value, size) => {
            let actual_size = size.unwrap_or(ANY_NUMBER);
            let expected_size = Range {
                from: Some(required_count(members)),
                to: Some(bound_of_count(members.len())),
            };
            if expected_size.covers_range(&actual_size) {
                type_mismatch(path, original, &T::hash((**key).clone(), (**value).clone(), None))
            } else {
                size_mismatch(path, expected_size, actual_size)
            }
        }
        _ => type_mismatch(path, original, actual),
    }
}

fn describe_variant(
    types: &[DataType],
    original: Original<'_>,
    actual: &DataType,
    path: &[ValueStep],
) -> Described {
    let undef = matches!(original.data_type, T::Optional(_)).then_some(&T::Undef);
    let mut each = Vec::new();
    for (n, one) in undef.into_iter().chain(types).enumerate() {
        let found = describe_part(one, actual, &extend_path(path, ValueStep::Variant(n)))?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        each.push(found);
    }
    let merged = merge(path.len(), each)?;
    if is_alias(original.data_type) && merged.len() == 1 {
        type_mismatch(path, original, actual)
    } else {
        Ok(merged)
    }
}

/// Returns all variants' complaints: as one where they are about the same part, else each with its
/// variant.
pub(super) fn merge(position: usize, each: Vec<Vec<Mismatch>>) -> Described {
    let variants = each.len();
    let mut all: Vec<Mismatch> = each.into_iter().flatten().collect();
    let kinds: [fn(&What) -> bool; 2] = [
        // Mismatches of variants are about sizes, and mismatches of function signatures are about
        // numbers of arguments: one merge never has both.
        |what| matches!(what, What::Size { .. } | What::Count { .. }),
        |what| matches!(what, What::Type { .. } | What::Pattern { .. }),
    ];
    for kind in kinds {
        let found: Vec<&Mismatch> = all.iter().filter(|one| kind(&one.what)).collect();
        if found.len() != variants {
            continue;
        }
        let same_place =
            found.windows(2).all(|pair| pair[0].canonical_path() == pair[1].canonical_path());
        if let (true, Some((first, rest))) = (same_place, found.split_first()) {
            let joined = rest
                .iter()
                .try_fold((*first).clone(), |joined, other| joined.join_mismatch(&other.what))?;
            all = vec![joined];
            break;
        }
    }
    // Puppet means to drop repeated mismatches here, but its comparison finds no repetition.
    if let [only] = all.as_mut_slice()
        && position < only.path.len()
    {
        only.path.remove(position);
    }
    Ok(all)
}

impl Mismatch {
    /// Returns the part of the value that the mismatch is about; `None` where it is a key.
    pub(super) fn mismatched_part<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        let mut part = value;
        for step in &self.path {
            part = match step {
                ValueStep::Index(place) => part.as_array()?.get(place.at)?,
                ValueStep::Entry(key) => part.get(key)?,
                ValueStep::Key(_) => return None,
                ValueStep::Signature(_) | ValueStep::Parameter(_) | ValueStep::Variant(_) => part,
            };
        }
        Some(part)
    }

    /// Returns the expected type, if the mismatch is about a type.
    pub(super) fn expected_type(&self) -> Option<&DataType> {
        match &self.what {
            What::Type { expected, .. } | What::Pattern { expected, .. } => Some(expected),
            _ => None,
        }
    }

    /// Returns the place of the part of the value that the mismatch is about.
    pub(super) fn origin(&self, value: &Value) -> Option<Span> {
        let mut part = value;
        for step in &self.path {
            part = match step {
                ValueStep::Index(place) => part.as_array()?.get(place.at)?,
                ValueStep::Entry(key) => part.get(key)?,
                ValueStep::Key(key) => return part.as_hash()?.get(key.as_str())?.key_origin,
                ValueStep::Signature(_) | ValueStep::Parameter(_) | ValueStep::Variant(_) => part,
            };
        }
        part.as_hash()
            .and_then(|hash| {
                hash.iter()
                    .find(|(key, _)| match &self.what {
                        What::ExtraneousKey(name) => key.as_str() == Some(name),
                        _ => key.as_str().is_none_or(str::is_empty),
                    })
                    .and_then(|(_, member)| member.key_origin)
            })
            .or(part.origin)
    }

    fn canonical_path(&self) -> Vec<&ValueStep> {
        self.path
            .iter()
            .filter(|step| !matches!(step, ValueStep::Variant(_) | ValueStep::Signature(_)))
            .collect()
    }

    fn join_mismatch(self, other: &What) -> Result<Mismatch, Crash> {
        let Mismatch { path, what } = self;
        let what = match (what, other) {
            (
                What::Type { expected, actual },
                What::Type { expected: more, .. } | What::Pattern { expected: more, .. },
            ) => What::Type { expected: join_types(expected, more)?, actual },
            (
                What::Pattern { expected, actual },
                What::Type { expected: more, .. } | What::Pattern { expected: more, .. },
            ) => What::Pattern { expected: join_types(expected, more)?, actual },
            (What::Size { expected, actual }, What::Size { expected: more, .. }) => {
                What::Size { expected: expected.hull(more), actual }
            }
            (What::Count { expected, actual }, What::Count { expected: more, .. }) => {
                What::Count { expected: expected.hull(more), actual }
            }
            (what, _) => what,
        };
        Ok(Mismatch { path, what })
    }

    /// Returns the message with the blank that Puppet begins it with. `name` goes before the path;
    /// it may be empty.
    pub(super) fn format_message(&self, name: &str) -> String {
        let mut position = if name.is_empty() { String::new() } else { format!(" {name}") };
        for step in &self.path {
            position.push(' ');
            position.push_str(&match step {
                ValueStep::Signature(n) => format!("{}.", n + 1),
                ValueStep::Parameter(name) => format!("parameter '{name}'"),
                ValueStep::Index(place) => format!("index {}", place.shown),
                ValueStep::Entry(key) => format!("entry '{key}'"),
                ValueStep::Key(key) => format!("key of entry '{key}'"),
                ValueStep::Variant(n) => format!("variant {n}"),
            });
        }
        match &self.what {
            What::MissingKey(key) => format!("{position} expects a value for key '{key}'"),
            What::ExtraneousKey(key) => format!("{position} unrecognized key '{key}'"),
            What::Unresolved(name) => format!("{position} references an unresolved type '{name}'"),
            What::Type { expected, actual } => {
                format!("{position} expects {}", expectation_phrase(expected, actual))
            }
            What::Pattern { expected, actual } => {
                let (undef, expected) = match expected {
                    T::Optional(Some(inner)) => ("an undef value or ", &**inner),
                    other => ("", other),
                };
                let got = match actual {
                    T::String(StringType::Value(text)) => format!("'{text}'"),
                    other => short_name(other),
                };
                format!(
                    "{position} expects {undef}a match for {}, got {got}",
                    expected.expanded_text()
                )
            }
            What::Count { expected, actual } => {
                let single = matches!(
                    (expected.from, expected.to),
                    (Some(1), Some(1) | None) | (Some(0), Some(1))
                );
                let plural = if single { "" } else { "s" };
                format!(
                    "{position} expects {} argument{plural}, got {}",
                    range_words(expected, "no"),
                    range_words(actual, "none")
                )
            }
            What::Size { expected, actual } => {
                format!(
                    "{position} expects size to be {}, got {}",
                    range_text(expected),
                    range_text(actual)
                )
            }
        }
    }
}

fn range_words(range: &Range<i128>, none: &str) -> String {
    match range_text(range).as_str() {
        "0" => none.to_owned(),
        text => text.to_owned(),
    }
}

fn join_types(ours: DataType, theirs: &DataType) -> Result<DataType, Crash> {
    T::variant_type(vec![ours, theirs.clone()]).normalize_at(Stage::Simplest)
}

fn range_text(range: &Range<i128>) -> String {
    match (range.from.unwrap_or(0), range.to) {
        (from, Some(to)) if from == to => from.to_string(),
        (0, None) => "unlimited".into(),
        (0, Some(to)) => format!("at most {to}"),
        (from, None) => format!("at least {from}"),
        (from, Some(to)) => format!("between {from} and {to}"),
    }
}

fn is_alias(one: &DataType) -> bool {
    matches!(one, T::Alias(_) | T::Local(..) | T::Named(_))
}

/// Returns `an Integer value, got String`.
fn expectation_phrase(expected: &DataType, actual: &DataType) -> String {
    let (optional, inner) = match expected {
        T::Optional(Some(inner)) => (true, &**inner),
        other => (false, other),
    };
    let list: &[DataType] =
        if let T::Variant(types) = inner { types } else { std::slice::from_ref(inner) };
    let detailed = list.iter().any(|one| is_detailed(one, actual) || default_takes(one, actual));
    let (names, got) = if detailed {
        (list.iter().map(DataType::expanded_text).collect(), detailed_actual(list, actual))
    } else {
        let mut names: Vec<String> = Vec::new();
        for name in list.iter().map(short_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (names, short_name(actual))
    };
    let names: Vec<String> =
        optional.then(|| "Undef".to_owned()).into_iter().chain(names).collect();
    match names.as_slice() {
        [one] => format!("{} {one} value, got {got}", indefinite_article(one)),
        [first, second] => format!("a value of type {first} or {second}, got {got}"),
        [others @ .., last] => {
            format!("a value of type {}, or {last}, got {got}", others.join(", "))
        }
        [] => format!(" value, got {got}"),
    }
}

fn indefinite_article(name: &str) -> &'static str {
    if name.starts_with(['A', 'E', 'I', 'O', 'U', 'a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn short_name(one: &DataType) -> String {
    match one {
        T::Optional(Some(inner)) | T::NotUndef(Some(inner)) | T::Type(Some(inner)) => {
            named_with(one, inner)
        }
        T::Iterable(Some(inner)) | T::Iterator(Some(inner)) | T::Sensitive(inner) => {
            named_with(one, inner)
        }
        _ => one.name().to_owned(),
    }
}

fn named_with(one: &DataType, inner: &DataType) -> String {
    if *inner == T::Any {
        one.name().to_owned()
    } else {
        format!("{}[{}]", one.name(), inner.name())
    }
}

fn is_detailed(expected: &DataType, actual: &DataType) -> bool {
    let same_kind = match (expected, actual) {
        (T::Foreign { name, .. }, T::Foreign { name: other, .. }) => name == other,
        _ => std::mem::discriminant(expected) == std::mem::discriminant(actual),
    };
    let special =
        matches!((expected, actual), (T::Struct(_), T::Hash(..)) | (T::Tuple(..), T::Array(..)));
    same_kind || special || is_alias(expected) || is_alias(actual)
}

/// Whether the type without its brackets would take the value's type.
fn default_takes(expected: &DataType, actual: &DataType) -> bool {
    let default = match expected {
        T::Alias(alias) => return default_takes_resolved(alias.resolved(), actual),
        T::Local(_, resolved) => return default_takes_resolved(resolved, actual),
        T::Named(alias) => {
            return alias.with_target(|target| default_takes_resolved(target, actual));
        }
        T::Integer(_) => T::INTEGER,
        T::Float(_) => T::FLOAT,
        T::String(_) => T::STRING,
        T::Boolean(_) => T::BOOLEAN,
        T::Enum { .. } => T::Enum { values: Vec::new(), fold: false },
        T::Pattern(_) => T::Pattern(Vec::new()),
        T::Regexp(_) => T::Regexp(None),
        T::SemVer(_) => T::SemVer(Vec::new()),
        T::Timestamp(_) => T::Timestamp(Range::ANY),
        T::Timespan(_) => T::Timespan(Range::ANY),
        T::Collection(_) => T::Collection(None),
        T::Array(..) => T::array_type(T::Any, None),
        T::Hash(..) => T::hash(T::Any, T::Any, None),
        T::Tuple(..) => T::Tuple(Vec::new(), None),
        T::Struct(_) => T::Struct(Vec::new()),
        T::Optional(_) => T::Optional(None),
        T::NotUndef(_) => T::NotUndef(None),
        T::Variant(_) => T::Variant(Vec::new()),
        T::Sensitive(_) => T::Sensitive(Box::new(T::Any)),
        T::Type(_) => T::Type(None),
        T::Iterable(_) => T::Iterable(None),
        T::Iterator(_) => T::Iterator(None),
        other => other.clone(),
    };
    default.is_assignable(actual)
}

fn default_takes_resolved(resolved: &DataType, actual: &DataType) -> bool {
    !is_alias(resolved) && default_takes(resolved, actual)
}

fn detailed_actual(expected: &[DataType], actual: &DataType) -> String {
    let resolved: Vec<DataType> = expected.iter().map(resolve).collect();
    let in_full = resolved.iter().any(|one| is_detailed(one, actual))
        || resolved.iter().any(|one| one.is_assignable(&actual.generalize()));
    if in_full { actual.to_string() } else { actual.name().to_owned() }
}

fn resolve(one: &DataType) -> DataType {
    match one {
        T::Alias(alias) => resolve(alias.resolved()),
        T::Local(_, resolved) => resolve(resolved),
        T::Named(alias) => resolve(&alias.target_type()),
        other => other.clone(),
    }
}
