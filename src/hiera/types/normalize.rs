//! The simplest type that means the same. Source: `normalize` of Puppet's types, its quirks included.

use super::infer::enumeration;
use super::{DataType, Range, StructMember, Text};

use DataType as T;

impl DataType {
    /// The simplest form: `Optional` around `Variant`, no variant within another, neighbouring ranges as one.
    pub fn normalized(&self) -> DataType {
        let boxed = |inner: &Option<Box<DataType>>| inner.as_ref().map(|inner| Box::new(inner.normalized()));
        match self {
            // A slip of Puppet's: the size is lost.
            T::Collection(_) => T::Collection(None),
            T::Array(element, size) if **element != T::Any => T::array(element.normalized(), *size),
            T::Array(..) => T::array(T::Any, None),
            T::Hash(key, value, size) => T::hash(key.normalized(), value.normalized(), *size),
            T::Tuple(types, size) => T::Tuple(types.iter().map(DataType::normalized).collect(), *size),
            T::Struct(members) => {
                let member = |member: &StructMember| StructMember { value: member.value.normalized(), ..member.clone() };
                T::Struct(members.iter().map(member).collect())
            }
            T::Optional(inner) => optional(boxed(inner)),
            T::NotUndef(inner) => match boxed(inner) {
                Some(inner) => match *inner {
                    T::Optional(inner) => T::NotUndef(inner).normalized(),
                    inner if !inner.assignable(&T::Undef) => inner,
                    inner => T::NotUndef(Some(Box::new(inner))),
                },
                None => T::NotUndef(None),
            },
            T::Variant(types) if !types.is_empty() => variant(types),
            T::Type(inner) => T::Type(boxed(inner)),
            T::Iterable(inner) => T::Iterable(boxed(inner)),
            T::Iterator(inner) => T::Iterator(boxed(inner)),
            T::Sensitive(inner) => T::Sensitive(Box::new(inner.normalized())),
            other => other.clone(),
        }
    }
}

fn optional(inner: Option<Box<DataType>>) -> DataType {
    match inner.map(|inner| *inner) {
        None => T::Optional(None),
        Some(T::NotUndef(inner)) => T::Optional(inner).normalized(),
        Some(inner) if inner.assignable(&T::Undef) => inner,
        Some(inner) => T::optional(inner),
    }
}

fn variant(given: &[DataType]) -> DataType {
    let types: Vec<DataType> = given.iter().map(DataType::normalized).collect();
    let modified = types != given;
    if types.len() == 1 {
        return types.into_iter().next().unwrap_or(T::Any);
    }
    if types.iter().any(|one| matches!(one, T::Undef | T::Optional(_))) {
        let rest = types.into_iter().filter(|one| *one != T::Undef).filter_map(|one| match one {
            T::Optional(inner) => inner.map(|inner| *inner),
            other => Some(other),
        });
        return T::optional(T::variant(rest.collect())).normalized();
    }
    let mut types: Vec<DataType> =
        types.into_iter().flat_map(|one| if let T::Variant(parts) = one { parts } else { vec![one] }).collect();
    let before = types.len();
    join(
        &mut types,
        |one| matches!(one, T::NotUndef(_)),
        |found| {
            let inner = found.into_iter().filter_map(|one| if let T::NotUndef(inner) = one { inner } else { None });
            T::NotUndef(Some(Box::new(T::variant(inner.map(|inner| *inner).collect()).normalized())))
        },
    );
    join(&mut types, is_enum, |found| {
        enumeration(
            found
                .into_iter()
                .flat_map(|one| match one {
                    T::Enum { values, .. } => values,
                    T::String(Text::Value(value)) => vec![value],
                    _ => Vec::new(),
                })
                .collect(),
        )
    });
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
            T::Enum { values, fold: true }
        },
    );
    join(
        &mut types,
        |one| matches!(one, T::Pattern(_)),
        |found| {
            let mut all = Vec::new();
            for pattern in found.into_iter().flat_map(|one| if let T::Pattern(patterns) = one { patterns } else { Vec::new() }) {
                if !all.contains(&pattern) {
                    all.push(pattern);
                }
            }
            T::Pattern(all)
        },
    );
    types = merged(
        types,
        |one| if let T::Integer(range) = one { Some(*range) } else { None },
        |a, b| {
            let near = a.to.zip(b.from).is_some_and(|(to, from)| to.checked_add(1) == Some(from));
            near || b.to.zip(a.from).is_some_and(|(to, from)| to.checked_add(1) == Some(from))
        },
        T::Integer,
    );
    types = merged(types, |one| if let T::Float(range) = one { Some(*range) } else { None }, |_, _| false, T::Float);
    // What nothing was merged in stays as it was, in its own order.
    if modified || types.len() != before { T::variant(types) } else { T::Variant(given.to_vec()) }
}

fn is_enum(one: &DataType) -> bool {
    matches!(one, T::Enum { values, fold: false } if !values.is_empty()) || matches!(one, T::String(Text::Value(_)))
}

/// Puts one type behind the others in place of several of a kind.
fn join(types: &mut Vec<DataType>, of_kind: impl Fn(&DataType) -> bool, make: impl FnOnce(Vec<DataType>) -> DataType) {
    if types.iter().filter(|one| of_kind(one)).count() > 1 {
        let (found, mut rest): (Vec<DataType>, Vec<DataType>) = std::mem::take(types).into_iter().partition(of_kind);
        rest.push(make(found));
        *types = rest;
    }
}

/// Puts merged ranges before the others in place of several of a kind; from the last one on, as Puppet does.
fn merged<T: PartialOrd + Copy>(
    types: Vec<DataType>,
    range: impl Fn(&DataType) -> Option<Range<T>>,
    adjacent: impl Fn(&Range<T>, &Range<T>) -> bool,
    make: impl Fn(Range<T>) -> DataType,
) -> Vec<DataType> {
    if types.iter().filter(|one| range(one).is_some()).count() < 2 {
        return types;
    }
    let (found, rest): (Vec<DataType>, Vec<DataType>) = types.into_iter().partition(|one| range(one).is_some());
    let mut ranges: Vec<Range<T>> = found.iter().filter_map(range).collect();
    let mut result = Vec::new();
    while let Some(mut hull) = ranges.pop() {
        let mut apart = Vec::new();
        for other in ranges {
            if hull.meets(&other) || adjacent(&hull, &other) {
                hull = hull.hull(&other);
            } else {
                apart.push(other);
            }
        }
        result.push(make(hull));
        ranges = apart;
    }
    result.extend(rest);
    result
}
