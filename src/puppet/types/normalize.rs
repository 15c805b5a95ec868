//! The simplest type that means the same. Source: `normalize` of Puppet's types, its quirks
//! included.

use super::infer::enum_type;
use super::{DataType, Range, StringType, StructMember};
use crate::puppet::ruby::strings::downcase;

use DataType as T;

/// Where Puppet's own code fails, with Ruby's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash(pub &'static str);

const NO_TYPE: Crash = Crash("undefined method `normalize' for nil:NilClass");
const NO_BOUND_TO_ADD_TO: Crash = Crash("undefined method `+' for nil:NilClass");
const NO_BOUND_TO_COMPARE: Crash = Crash("comparison of Float with nil failed");
/// Ruby's message continues with the memory address of the type.
const NOT_ADJACENT: Crash = Crash("undefined method `adjacent?'");

/// How far a type has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The type as its author wrote it.
    Written,
    /// A simplest form, or a part of one.
    Simplest,
}

/// A simplest form, and whether Puppet has another object for it than for the type itself, which
/// decides about the order of variants. Both can be equal.
struct Simplified(DataType, bool);

impl DataType {
    /// Returns the simplest form of a written type: `Optional` around `Variant`, no variant within
    /// another, neighbouring ranges as one.
    ///
    /// Errors: Puppet's crashes on ranges without bounds, or on an `Optional` of nothing.
    pub fn normalize(&self) -> Result<DataType, Crash> {
        self.normalize_at(Stage::Written)
    }

    /// Returns the simplest form. That of a simplest form can be another one: Puppet may put
    /// variants into another order each time.
    pub(super) fn normalize_at(&self, stage: Stage) -> Result<DataType, Crash> {
        Ok(self.simplify(stage)?.0)
    }

    fn simplify(&self, stage: Stage) -> Result<Simplified, Crash> {
        // A written `Tuple` is no `PTupleType::DEFAULT`, and its simplest form is that constant.
        let is_written = stage == Stage::Written;
        let simplify_inner = |inner: &Option<Box<DataType>>, make: fn(Option<Box<T>>) -> T| {
            let Some(inner) = inner else { return Ok(Simplified(make(None), false)) };
            let Simplified(inner, is_new) = inner.simplify(stage)?;
            Ok(Simplified(make(Some(Box::new(inner))), is_new))
        };
        Ok(match self {
            // By a bug Puppet loses the size of a collection.
            T::Collection(size) => Simplified(T::Collection(None), size.is_some()),
            // The array type stays as written: Puppet reports an unknown name in the element type,
            // even where no element can have that type.
            T::Array(element, _) if element.unresolved_name().is_some() => {
                Simplified(self.clone(), false)
            }
            T::Array(element, size) if **element != T::Any => {
                // Puppet drops the element type of a new array for no elements.
                match element.simplify(stage)? {
                    Simplified(element, true) => Simplified(T::array_type(element, *size), true),
                    Simplified(..) => Simplified(self.clone(), false),
                }
            }
            T::Array(_, size) => Simplified(T::array_type(T::Any, None), size.is_some()),
            T::Hash(key, _, Some(size)) if **key == T::Unit && *size == Range::from_single(0) => {
                Simplified(self.clone(), false)
            }
            T::Hash(key, value, size) => {
                let Simplified(key, has_new_key) = key.simplify(stage)?;
                let Simplified(value, has_new_value) = value.simplify(stage)?;
                let is_new = has_new_key || has_new_value || size.is_some();
                Simplified(T::hash(key, value, *size), is_new)
            }
            T::Tuple(types, None) if types.is_empty() => Simplified(self.clone(), is_written),
            T::Tuple(types, size) => {
                let (types, is_new) = simplify_all(types, stage)?;
                Simplified(T::Tuple(types, *size), is_new)
            }
            T::Struct(members) if members.is_empty() => Simplified(self.clone(), is_written),
            T::Struct(members) => {
                let (values, is_new) =
                    simplify_all(members.iter().map(|member| &member.value), stage)?;
                let members = members.iter().zip(values);
                let members =
                    members.map(|(member, value)| StructMember { value, ..member.clone() });
                Simplified(T::Struct(members.collect()), is_new)
            }
            T::Optional(Some(inner)) => match inner.simplify(stage)? {
                Simplified(T::NotUndef(inner), _) => {
                    Simplified(T::Optional(inner).normalize_at(Stage::Simplest)?, true)
                }
                Simplified(inner, _) if inner.is_assignable(&T::Undef) => Simplified(inner, true),
                Simplified(inner, is_new) => Simplified(T::optional_type(inner), is_new),
            },
            T::NotUndef(Some(inner)) => match inner.simplify(stage)? {
                Simplified(T::Optional(inner), _) => {
                    Simplified(T::NotUndef(inner).normalize_at(Stage::Simplest)?, true)
                }
                Simplified(inner, _) if !inner.is_assignable(&T::Undef) => Simplified(inner, true),
                Simplified(inner, is_new) => Simplified(T::NotUndef(Some(Box::new(inner))), is_new),
            },
            T::NotUndef(None) => Simplified(self.clone(), is_written),
            T::Variant(types) if !types.is_empty() => simplify_variant(types, stage)?,
            T::Type(inner) => simplify_inner(inner, T::Type)?,
            T::Iterable(inner) => simplify_inner(inner, T::Iterable)?,
            T::Iterator(inner) => simplify_inner(inner, T::Iterator)?,
            T::Sensitive(inner) => {
                // Where Puppet builds a Sensitive type, it generalizes the inner type. Thus no part
                // of the inner type is as written.
                let Simplified(inner, is_new) = inner.simplify(Stage::Simplest)?;
                let inner = if is_new { inner.generalize() } else { inner };
                Simplified(T::Sensitive(Box::new(inner)), is_new)
            }
            other => Simplified(other.clone(), false),
        })
    }
}

/// Returns the simplest forms, and whether one is new.
fn simplify_all<'t>(
    types: impl IntoIterator<Item = &'t DataType>,
    stage: Stage,
) -> Result<(Vec<DataType>, bool), Crash> {
    let mut has_new = false;
    let mut all = Vec::new();
    for one in types {
        let Simplified(one, is_new) = one.simplify(stage)?;
        has_new |= is_new;
        all.push(one);
    }
    Ok((all, has_new))
}

fn simplify_variant(given: &[DataType], stage: Stage) -> Result<Simplified, Crash> {
    let (types, modified) = simplify_all(given, stage)?;
    if types.len() == 1 {
        return Ok(Simplified(types.into_iter().next().unwrap_or(T::Any), true));
    }
    if types.iter().any(|one| matches!(one, T::Undef | T::Optional(_))) {
        return Ok(Simplified(optional_variant(types)?, true));
    }
    let mut types: Vec<DataType> = types
        .into_iter()
        .flat_map(|one| if let T::Variant(parts) = one { parts } else { vec![one] })
        .collect();
    let before = types.len();
    join(
        &mut types,
        |one| matches!(one, T::NotUndef(_)),
        |found| {
            let inner = found
                .into_iter()
                .map(|one| if let T::NotUndef(inner) = one { inner } else { None });
            let inner: Vec<DataType> = inner
                .map(|inner| inner.map(|inner| *inner).ok_or(NO_TYPE))
                .collect::<Result<_, _>>()?;
            let inner = T::variant_type(inner).normalize_at(Stage::Simplest)?;
            Ok(T::NotUndef(Some(Box::new(inner))))
        },
    )?;
    join(&mut types, is_enum, |found| {
        let values = found.into_iter().flat_map(|one| match one {
            T::Enum { values, .. } => values,
            T::String(StringType::Value(value)) => vec![value],
            _ => Vec::new(),
        });
        Ok(enum_type(values.collect()))
    })?;
    join(
        &mut types,
        |one| matches!(one, T::Enum { values, fold: true } if !values.is_empty()),
        |found| {
            let mut values: Vec<String> = Vec::new();
            for one in found {
                if let T::Enum { values: more, .. } = one {
                    values.extend(more.iter().map(|value| downcase(value)));
                }
            }
            values.sort();
            values.dedup();
            Ok(T::Enum { values, fold: true })
        },
    )?;
    join(
        &mut types,
        |one| matches!(one, T::Pattern(_)),
        |found| {
            let mut all = Vec::new();
            for pattern in found
                .into_iter()
                .flat_map(|one| if let T::Pattern(patterns) = one { patterns } else { Vec::new() })
            {
                if !all.contains(&pattern) {
                    all.push(pattern);
                }
            }
            Ok(T::Pattern(all))
        },
    )?;
    let found: Vec<_> = types
        .iter()
        .filter_map(|one| if let T::SemVer(ranges) = one { Some(ranges.clone()) } else { None })
        .collect();
    if found.len() > 1 {
        types.retain(|one| !matches!(one, T::SemVer(_)));
        types.insert(0, T::SemVer(found.concat()));
    }
    types = merge_ranges(
        types,
        |one: &DataType| if let T::Integer(range) = one { Some(*range) } else { None },
        join_integers,
        T::Integer,
    )?;
    types = merge_ranges(
        types,
        |one| if let T::Float(range) = one { Some(*range) } else { None },
        join_floats,
        T::Float,
    )?;
    types = merge_ranges(
        types,
        |one| if let T::Timespan(range) = one { Some(*range) } else { None },
        join_times,
        T::Timespan,
    )?;
    types = merge_ranges(
        types,
        |one| if let T::Timestamp(range) = one { Some(*range) } else { None },
        join_times,
        T::Timestamp,
    )?;
    // A variant in which no types were merged stays as it was, in its own order.
    Ok(if modified || types.len() != before {
        Simplified(T::variant_type(types), true)
    } else {
        Simplified(T::Variant(given.to_vec()), false)
    })
}

/// Returns `Optional` around those of the types that are neither `Undef` nor `Optional`, and the
/// types within these.
fn optional_variant(types: Vec<DataType>) -> Result<DataType, Crash> {
    let rest = types.into_iter().filter(|one| *one != T::Undef).flat_map(|one| {
        let inner = if let T::Optional(inner) = one { inner.map(|it| *it) } else { Some(one) };
        match inner {
            Some(T::Variant(parts)) => parts.into_iter().map(Some).collect(),
            inner => vec![inner],
        }
    });
    let rest: Vec<Option<DataType>> = rest.collect();
    if !rest.is_empty() && rest.iter().all(Option::is_none) {
        return Ok(T::Optional(None));
    }
    let rest: Option<Vec<DataType>> = rest.into_iter().collect();
    T::optional_type(T::variant_type(rest.ok_or(NO_TYPE)?)).normalize_at(Stage::Simplest)
}

fn is_enum(one: &DataType) -> bool {
    matches!(one, T::Enum { values, fold: false } if !values.is_empty())
        || matches!(one, T::String(StringType::Value(_)))
}

/// Puts one type behind the others in place of several of a kind.
fn join(
    types: &mut Vec<DataType>,
    of_kind: impl Fn(&DataType) -> bool,
    make: impl FnOnce(Vec<DataType>) -> Result<DataType, Crash>,
) -> Result<(), Crash> {
    if types.iter().filter(|one| of_kind(one)).count() > 1 {
        let (found, mut rest): (Vec<DataType>, Vec<DataType>) =
            std::mem::take(types).into_iter().partition(of_kind);
        rest.push(make(found)?);
        *types = rest;
    }
    Ok(())
}

/// Puts merged ranges before the others in place of several of a kind; from the last one on, as
/// Puppet does.
fn merge_ranges<T: Copy>(
    types: Vec<DataType>,
    range: impl Fn(&DataType) -> Option<Range<T>>,
    join: impl Fn(&Range<T>, &Range<T>) -> Result<Option<Range<T>>, Crash>,
    make: impl Fn(Range<T>) -> DataType,
) -> Result<Vec<DataType>, Crash> {
    let (found, rest): (Vec<DataType>, Vec<DataType>) =
        types.iter().cloned().partition(|one| range(one).is_some());
    if found.len() < 2 {
        return Ok(types);
    }
    let mut ranges: Vec<Range<T>> = found.iter().filter_map(range).collect();
    let mut result = Vec::new();
    while let Some(mut hull) = ranges.pop() {
        let mut apart = Vec::new();
        for other in ranges {
            match join(&hull, &other)? {
                Some(joined) => hull = joined,
                None => apart.push(other),
            }
        }
        result.push(make(hull));
        ranges = apart;
    }
    result.extend(rest);
    Ok(result)
}

/// Returns both ranges as one where they overlap or are neighbours.
fn join_integers(one: &Range<i128>, other: &Range<i128>) -> Result<Option<Range<i128>>, Crash> {
    if one.meets_range(other) || is_next_range(one.to, other.from) {
        return Ok(Some(one.hull(other)));
    }
    let to = other.to.ok_or(NO_BOUND_TO_ADD_TO)?;
    Ok(is_next_range(Some(to), one.from).then(|| one.hull(other)))
}

fn is_next_range(to: Option<i128>, from: Option<i128>) -> bool {
    to.zip(from).is_some_and(|(to, from)| to.checked_add(1) == Some(from))
}

/// Returns both ranges as one where they overlap.
fn join_floats(one: &Range<f64>, other: &Range<f64>) -> Result<Option<Range<f64>>, Crash> {
    if !one.meets_range(other) {
        return Ok(None);
    }
    other.from.and(other.to).ok_or(NO_BOUND_TO_COMPARE)?;
    Ok(Some(one.hull(other)))
}

/// Returns both ranges as one where they overlap; Puppet fails where they do not.
fn join_times(one: &Range<i128>, other: &Range<i128>) -> Result<Option<Range<i128>>, Crash> {
    if one.meets_range(other) { Ok(Some(one.hull(other))) } else { Err(NOT_ADJACENT) }
}
