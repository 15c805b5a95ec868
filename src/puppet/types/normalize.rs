//! The simplest type that means the same. Source: `normalize` of Puppet's types, its quirks
//! included.

use super::infer::enum_type;
use super::{DataType, Range, StringType, StructMember};

use DataType as T;

/// Where Puppet's own code fails, with Ruby's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash(pub &'static str);

const NO_TYPE: Crash = Crash("undefined method `normalize' for nil:NilClass");
const NO_BOUND_TO_ADD_TO: Crash = Crash("undefined method `+' for nil:NilClass");
const NO_BOUND_TO_COMPARE: Crash = Crash("comparison of Float with nil failed");
/// Ruby's message continues with the memory address of the type.
const NOT_ADJACENT: Crash = Crash("undefined method `adjacent?'");

impl DataType {
    /// Returns the simplest form: `Optional` around `Variant`, no variant within another,
    /// neighbouring ranges as one.
    ///
    /// Errors: Puppet's crashes on ranges without bounds, or on an `Optional` of nothing.
    pub fn normalize(&self) -> Result<DataType, Crash> {
        let boxed = |inner: &Option<Box<DataType>>| {
            inner.as_ref().map(|inner| inner.normalize().map(Box::new)).transpose()
        };
        Ok(match self {
            // A bug of Puppet: the size is lost.
            T::Collection(_) => T::Collection(None),
            // Kept as written: Puppet reports an unknown name within, even where no element can
            // have the type.
            T::Array(element, _) if element.unresolved_name().is_some() => self.clone(),
            T::Array(element, size) if **element != T::Any => {
                T::array_type(element.normalize()?, *size)
            }
            T::Array(..) => T::array_type(T::Any, None),
            T::Hash(key, value, size) => T::hash(key.normalize()?, value.normalize()?, *size),
            T::Tuple(types, size) => {
                T::Tuple(types.iter().map(DataType::normalize).collect::<Result<_, _>>()?, *size)
            }
            T::Struct(members) => {
                let member = |member: &StructMember| {
                    Ok(StructMember { value: member.value.normalize()?, ..member.clone() })
                };
                T::Struct(members.iter().map(member).collect::<Result<_, _>>()?)
            }
            T::Optional(inner) => return normalize_optional(boxed(inner)?),
            T::NotUndef(inner) => match boxed(inner)? {
                Some(inner) => match *inner {
                    T::Optional(inner) => return T::NotUndef(inner).normalize(),
                    inner if !inner.is_assignable(&T::Undef) => inner,
                    inner => T::NotUndef(Some(Box::new(inner))),
                },
                None => T::NotUndef(None),
            },
            T::Variant(types) if !types.is_empty() => return normalize_variant(types),
            T::Type(inner) => T::Type(boxed(inner)?),
            T::Iterable(inner) => T::Iterable(boxed(inner)?),
            T::Iterator(inner) => T::Iterator(boxed(inner)?),
            T::Sensitive(inner) => {
                // Where Puppet builds a new Sensitive type, it generalizes the inner type.
                let new = inner.normalize()?;
                let is_new = new != **inner || inner.is_made_anew();
                T::Sensitive(Box::new(if is_new { new.generalize() } else { new }))
            }
            other => other.clone(),
        })
    }

    /// Whether Puppet builds a new type for the simplest form even where that is the same: for a
    /// hash with a size, and for a type that contains one.
    fn is_made_anew(&self) -> bool {
        matches!(self, T::Hash(_, _, Some(size)) if *size != Range::from_single(0))
            || self.inner_types().into_iter().any(DataType::is_made_anew)
    }
}

fn normalize_optional(inner: Option<Box<DataType>>) -> Result<DataType, Crash> {
    Ok(match inner.map(|inner| *inner) {
        None => T::Optional(None),
        Some(T::NotUndef(inner)) => return T::Optional(inner).normalize(),
        Some(inner) if inner.is_assignable(&T::Undef) => inner,
        Some(inner) => T::optional_type(inner),
    })
}

fn normalize_variant(given: &[DataType]) -> Result<DataType, Crash> {
    let types: Vec<DataType> = given.iter().map(DataType::normalize).collect::<Result<_, _>>()?;
    let modified = types != given || given.iter().any(DataType::is_made_anew);
    if types.len() == 1 {
        return Ok(types.into_iter().next().unwrap_or(T::Any));
    }
    if types.iter().any(|one| matches!(one, T::Undef | T::Optional(_))) {
        return optional_variant(types);
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
            Ok(T::NotUndef(Some(Box::new(T::variant_type(inner).normalize()?))))
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
                    values.extend(more.iter().map(|value| value.to_lowercase()));
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
    let versions =
        |one: &DataType| if let T::SemVer(ranges) = one { Some(ranges.clone()) } else { None };
    let found: Vec<_> = types.iter().filter_map(versions).collect();
    if found.len() > 1 {
        types.retain(|one| !matches!(one, T::SemVer(_)));
        types.insert(0, T::SemVer(found.concat()));
    }
    let integer = |one: &DataType| if let T::Integer(range) = one { Some(*range) } else { None };
    types = merge_ranges(types, integer, join_integers, T::Integer)?;
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
        T::variant_type(types)
    } else {
        T::Variant(given.to_vec())
    })
}

/// Returns `Optional` around those of the types that are neither `Undef` nor `Optional`, and the
/// types within these.
fn optional_variant(types: Vec<DataType>) -> Result<DataType, Crash> {
    let rest = types.into_iter().filter(|one| *one != T::Undef).map(|one| match one {
        T::Optional(inner) => inner.map(|inner| *inner),
        other => Some(other),
    });
    let rest: Vec<Option<DataType>> = rest.collect();
    if rest.iter().all(Option::is_none) {
        return Ok(T::Optional(None));
    }
    let rest: Option<Vec<DataType>> = rest.into_iter().collect();
    T::optional_type(T::variant_type(rest.ok_or(NO_TYPE)?)).normalize()
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

/// Both as one where they overlap or are neighbours.
fn join_integers(one: &Range<i128>, other: &Range<i128>) -> Result<Option<Range<i128>>, Crash> {
    let is_next = |to: Option<i128>, from: Option<i128>| {
        to.zip(from).is_some_and(|(to, from)| to.checked_add(1) == Some(from))
    };
    if one.meets_range(other) || is_next(one.to, other.from) {
        return Ok(Some(one.hull(other)));
    }
    let to = other.to.ok_or(NO_BOUND_TO_ADD_TO)?;
    Ok(is_next(Some(to), one.from).then(|| one.hull(other)))
}

/// Both as one where they overlap.
fn join_floats(one: &Range<f64>, other: &Range<f64>) -> Result<Option<Range<f64>>, Crash> {
    if !one.meets_range(other) {
        return Ok(None);
    }
    other.from.and(other.to).ok_or(NO_BOUND_TO_COMPARE)?;
    Ok(Some(one.hull(other)))
}

/// Both as one where they overlap; Puppet fails where they do not.
fn join_times(one: &Range<i128>, other: &Range<i128>) -> Result<Option<Range<i128>>, Crash> {
    if one.meets_range(other) { Ok(Some(one.hull(other))) } else { Err(NOT_ADJACENT) }
}
