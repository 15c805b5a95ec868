//! Decides whether a type, or a value, belongs to a type. Source: `assignable?` and `instance?` of
//! Puppet's types.

use super::guard::{Known, RecursionGuard};
use super::size::{count, covers, exactly, tuple_size};
use super::{ANY_NUMBER, Alias, DataType, Range, StructMember, Text};
use crate::puppet::rich::Rich;
use crate::puppet::value::{Data, Hash, Value};

use DataType as T;

impl DataType {
    /// Whether every value of type `other` is one of this type.
    pub fn assignable(&self, other: &DataType) -> bool {
        match (self, other) {
            (T::Unit, _) | (_, T::Unit) => true,
            (T::Variant(types), T::Undef) if types.is_empty() => false,
            (T::Variant(types), T::Variant(others)) => {
                types.is_empty()
                    || !others.is_empty() && others.iter().all(|other| self.assignable(other))
            }
            (T::Alias(ours), T::Alias(theirs)) if ours == theirs => true,
            // The comparison of two recursive aliases would not end.
            (
                T::Alias(Alias::RichData | Alias::LookupValue),
                T::Alias(Alias::Data | Alias::LookupValue | Alias::RichData),
            ) => true,
            (_, T::Alias(alias)) => self.assignable(alias.resolved()),
            (_, T::Local(_, resolved)) => self.assignable(resolved),
            (_, T::Named(alias)) => {
                *self == *other || alias.with_target(|target| self.assignable(target))
            }
            (T::Any, T::Variant(_)) => true,
            (T::NotUndef(_), T::Variant(others)) if others.is_empty() => self.takes(other),
            (_, T::Variant(others)) => {
                !others.is_empty() && others.iter().all(|other| self.assignable(other))
            }
            (_, T::Optional(inner)) => {
                self.assignable(&T::Undef)
                    && inner.as_ref().is_none_or(|inner| self.assignable(inner))
            }
            (_, T::NotUndef(Some(inner))) if !inner.assignable(&T::Undef) => self.assignable(inner),
            _ => self.takes(other),
        }
    }

    fn takes(&self, other: &DataType) -> bool {
        match (self, other) {
            (T::Any, _) => true,
            (T::Undef, T::Undef)
            | (T::Default, T::Default)
            | (T::Binary, T::Binary)
            | (T::Uri, T::Uri) => true,
            (T::SemVerRange, T::SemVerRange) => true,
            (T::Scalar, other) => other.is_scalar(),
            (T::ScalarData, other) => other.is_scalar_data(),
            (T::Numeric, T::Numeric | T::Integer(_) | T::Float(_)) => true,
            (T::Integer(ours), T::Integer(theirs)) => ours.covers(theirs),
            (T::Timestamp(ours), T::Timestamp(theirs))
            | (T::Timespan(ours), T::Timespan(theirs)) => ours.covers(theirs),
            (T::Float(ours), T::Float(theirs)) => ours.covers(theirs),
            (T::Boolean(ours), T::Boolean(theirs)) => ours.is_none() || ours == theirs,
            (T::String(text), _) => text.takes(other),
            (T::Enum { values, .. }, T::String(_) | T::Enum { .. } | T::Pattern(_))
                if values.is_empty() =>
            {
                true
            }
            (T::Enum { .. }, T::String(Text::Value(value))) => self.has_enum_value(value),
            (T::Enum { fold, .. }, T::Enum { values: others, fold: other_fold }) => {
                self == other
                    || !others.is_empty()
                        && (*fold || !other_fold)
                        && others.iter().all(|one| self.has_enum_value(one))
            }
            (T::Pattern(patterns), T::String(Text::Value(text))) => {
                patterns.is_empty() || patterns.iter().any(|pattern| pattern.is_match(text))
            }
            (T::Pattern(patterns), T::Enum { values, .. }) => {
                patterns.is_empty()
                    || !values.is_empty()
                        && values
                            .iter()
                            .all(|text| patterns.iter().any(|pattern| pattern.is_match(text)))
            }
            (T::Pattern(patterns), T::String(_) | T::Pattern(_)) => {
                patterns.is_empty() || self == other
            }
            (T::Regexp(ours), T::Regexp(theirs)) => ours.is_none() || ours == theirs,
            (T::SemVer(ours), T::SemVer(theirs)) => {
                let covered = |range| ours.iter().any(|ours| ours.covers(range));
                ours.is_empty() || !theirs.is_empty() && theirs.iter().all(covered)
            }
            (
                T::Collection(size),
                T::Collection(other) | T::Array(_, other) | T::Hash(_, _, other),
            ) => covers(*size, *other),
            (T::Collection(size), T::Tuple(types, other)) => {
                covers(*size, other.or(Some(exactly(types.len()))))
            }
            (T::Collection(size), T::Struct(members)) => {
                covers(*size, Some(exactly(members.len())))
            }
            (T::Array(element, size), T::Tuple(types, other)) => {
                covers(*size, other.or(Some(exactly(types.len()))))
                    && types.iter().all(|one| element.assignable(one))
            }
            (T::Array(element, size), T::Array(other, other_size)) => {
                covers(*size, *other_size) && element.assignable(other)
            }
            (T::Hash(_, _, size), T::Hash(_, _, other)) if *other == Some(Range::exactly(0)) => {
                size.is_none_or(|size| size.from == Some(0))
            }
            (T::Hash(key, value, size), T::Hash(other_key, other_value, other)) => {
                key.assignable(other_key) && value.assignable(other_value) && covers(*size, *other)
            }
            (T::Hash(key, value, size), T::Struct(members)) => {
                let name = |member: &StructMember| key.accepts(&Value::given(&member.name));
                size.unwrap_or(ANY_NUMBER).holds(count(members.len()))
                    && members.iter().all(|member| name(member) && value.assignable(&member.value))
            }
            (T::Tuple(types, size), T::Tuple(others, other_size)) => {
                self == other
                    || tuple_size(types, *size).covers(&tuple_size(others, *other_size))
                        && (types.is_empty()
                            || if others.is_empty() {
                                tuple_size(types, *size).from == Some(0)
                            } else {
                                others
                                    .iter()
                                    .enumerate()
                                    .all(|(n, other)| place(types, n).assignable(other))
                            })
            }
            (T::Tuple(types, size), T::Array(element, other_size)) => {
                let other_size = other_size.unwrap_or(ANY_NUMBER);
                let places = other_size
                    .to
                    .map_or(types.len(), |to| types.len().min(usize::try_from(to).unwrap_or(0)));
                tuple_size(types, *size).covers(&other_size)
                    && types.iter().take(places).all(|one| one.assignable(element))
            }
            (T::Struct(members), T::Struct(others)) => {
                let mut matched = 0;
                let fits = members.iter().all(|member| {
                    match others.iter().find(|other| other.name == member.name) {
                        None => member.optional,
                        Some(other) => {
                            matched += 1;
                            (member.optional || !other.optional)
                                && member.value.assignable(&other.value)
                        }
                    }
                });
                fits && matched == others.len()
            }
            (T::Struct(members), T::Hash(key, value, size)) => {
                let required = members.iter().filter(|member| !member.optional).count();
                let fits = members
                    .iter()
                    .filter(|member| !member.optional)
                    .all(|member| member.value.assignable(value) && T::STRING.assignable(key));
                fits && Range { from: Some(count(required)), to: Some(count(members.len())) }
                    .covers(&size.unwrap_or(ANY_NUMBER))
            }
            (T::Optional(_), T::Undef) => true,
            (T::Optional(inner), _) => inner.as_ref().is_none_or(|inner| inner.assignable(other)),
            (T::NotUndef(inner), _) => {
                !other.assignable(&T::Undef)
                    && inner.as_ref().is_none_or(|inner| inner.assignable(other))
            }
            (T::Variant(types), _) => types.iter().any(|one| one.assignable(other)),
            (T::Sensitive(ours), T::Sensitive(theirs)) => ours.assignable(theirs),
            (T::Type(ours), T::Type(theirs)) => match (ours, theirs) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(ours), Some(theirs)) => ours.assignable(theirs),
            },
            (T::Iterable(inner), _) => {
                match inner.as_deref().filter(|inner| !inner.assignable(&T::Any)) {
                    None => other.is_iterable(),
                    Some(inner) => {
                        other.iterated().flatten().is_some_and(|element| inner.assignable(&element))
                    }
                }
            }
            (T::Iterator(ours), T::Iterator(theirs)) => match (ours, theirs) {
                (None, _) => true,
                (Some(ours), Some(theirs)) => ours.assignable(theirs),
                (Some(_), None) => false,
            },
            (T::Init, T::Init) => true,
            (T::Init, _) => T::Alias(Alias::RichData).assignable(other),
            (T::Alias(alias), _) => alias.resolved().assignable(other),
            (T::Local(_, resolved), _) => resolved.assignable(other),
            (T::Named(alias), _) => alias.with_target(|target| target.assignable(other)),
            (T::Foreign { .. } | T::Reference(_), _) => self == other,
            _ => false,
        }
    }

    /// Whether some texts may be of this type and others not, seen from the outside only.
    fn may_take_text(&self) -> bool {
        matches!(
            self,
            T::String(_)
                | T::Enum { .. }
                | T::Pattern(_)
                | T::Iterable(_)
                | T::Iterator(_)
                | T::Init
        )
    }

    fn is_scalar(&self) -> bool {
        self.is_scalar_data()
            || matches!(
                self,
                T::Scalar
                    | T::Regexp(_)
                    | T::SemVer(_)
                    | T::SemVerRange
                    | T::Timestamp(_)
                    | T::Timespan(_)
            )
    }

    fn is_scalar_data(&self) -> bool {
        matches!(
            self,
            T::ScalarData
                | T::Numeric
                | T::Integer(_)
                | T::Float(_)
                | T::String(_)
                | T::Boolean(_)
                | T::Enum { .. }
                | T::Pattern(_)
        )
    }

    fn has_enum_value(&self, text: &str) -> bool {
        let T::Enum { values, fold } = self else { return false };
        // Ruby's `casecmp` folds ASCII only.
        values
            .iter()
            .any(|value| if *fold { value.eq_ignore_ascii_case(text) } else { value == text })
    }

    fn is_iterable(&self) -> bool {
        match self {
            T::Integer(_)
            | T::String(_)
            | T::Enum { .. }
            | T::Collection(_)
            | T::Array(..)
            | T::Hash(..) => true,
            T::Tuple(..) | T::Struct(_) | T::Iterable(_) | T::Iterator(_) => true,
            T::Type(Some(inner)) => match &**inner {
                T::Enum { .. } => true,
                T::Integer(range) => range.from.is_some() && range.to.is_some(),
                _ => false,
            },
            T::Alias(alias) => alias.resolved().is_iterable(),
            T::Named(alias) => alias.with_target(DataType::is_iterable),
            _ => false,
        }
    }

    /// Returns the type of the elements that iteration gives: `None` where the type is not
    /// iterable, `Some(None)` where nothing is known.
    fn iterated(&self) -> Option<Option<DataType>> {
        let pair = |key: DataType, value: DataType| {
            Some(Some(T::Tuple(vec![key, value], Some(exactly(2)))))
        };
        match self {
            T::Integer(_) => Some(Some(T::INTEGER)),
            T::String(_) | T::Enum { .. } => Some(Some(T::String(Text::Length(exactly(1))))),
            T::Array(element, _) if **element == T::Any => Some(None),
            T::Array(element, _) => Some(Some((**element).clone())),
            T::Hash(key, value, size) => {
                let open = size.is_none() && **key == T::Any && **value == T::Any
                    || *size == Some(exactly(0));
                if open { pair(T::Unit, T::Unit) } else { pair((**key).clone(), (**value).clone()) }
            }
            T::Tuple(types, _) => Some(Some(T::variant(types.clone()))),
            T::Struct(members) if members.is_empty() => pair(T::Unit, T::Unit),
            T::Struct(members) => pair(
                T::variant(members.iter().map(StructMember::key_type).collect()),
                T::variant(members.iter().map(|member| member.value.clone()).collect()),
            ),
            T::Iterable(inner) | T::Iterator(inner) => Some(inner.as_deref().cloned()),
            T::Type(Some(inner)) if self.is_iterable() => Some(Some((**inner).clone())),
            _ => None,
        }
    }

    /// Whether the value is of this type.
    pub fn accepts(&self, value: &Value) -> bool {
        self.is_instance(value, &mut RecursionGuard::default())
    }

    /// Whether the value may be of this type. The guard states how much of the value is known.
    pub(super) fn is_instance(&self, value: &Value, guard: &mut RecursionGuard<'_>) -> bool {
        match guard.known(value) {
            Known::Nothing => return true,
            Known::Kind if self.may_take_text() => return true,
            Known::Kind | Known::Whole => {}
        }
        match (self, value.data()) {
            (T::Any | T::Unit, _) => true,
            (T::Undef, Data::Null) => true,
            (T::Undef, Data::Symbol(name)) => &**name == "undef",
            (T::Default, Data::Symbol(name)) => &**name == "default",
            (T::Scalar, Data::Rich(rich)) => {
                super::infer(value).is_scalar() && !matches!(**rich, Rich::Type(_))
            }
            (T::Scalar, data) => is_plain_scalar(data) || matches!(data, Data::Binary(_)),
            (T::ScalarData, data) => is_plain_scalar(data) || matches!(data, Data::Binary(_)),
            (T::Numeric, Data::Integer(_) | Data::BigInteger(_) | Data::Float(_)) => true,
            (T::Integer(range), Data::Integer(number)) => range.holds(i128::from(*number)),
            (T::Integer(range), Data::BigInteger(digits)) => range.holds(super::infer::big(digits)),
            (T::Float(range), Data::Float(number)) => range.holds(*number),
            (T::String(text), Data::String(value)) => match text {
                Text::Any => true,
                Text::Length(range) => range.holds(count(value.chars().count())),
                Text::Value(only) => **only == **value,
            },
            (T::String(Text::Any), Data::Binary(_)) => true,
            (T::Boolean(only), Data::Bool(truth)) => only.is_none_or(|only| only == *truth),
            (T::Enum { .. }, Data::String(text)) => self.has_enum_value(text),
            (T::Pattern(patterns), Data::String(text)) => {
                patterns.is_empty() || patterns.iter().any(|pattern| pattern.is_match(text))
            }
            (T::Array(inner, size), Data::Array(items)) => {
                size.is_none_or(|size| size.holds(count(items.len())))
                    && items.iter().all(|item| inner.is_instance(item, guard))
            }
            (T::Hash(key, member, size), Data::Hash(hash)) => {
                size.is_none_or(|size| size.holds(count(hash.len())))
                    && hash.iter().all(|(name, found)| {
                        key.is_instance(&name.to_value(None), guard)
                            && member.is_instance(&found.value, guard)
                    })
            }
            (T::Tuple(types, size), Data::Array(items)) => {
                size.map_or(types.is_empty() || types.len() == items.len(), |size| {
                    size.holds(count(items.len()))
                }) && (types.is_empty()
                    || items.iter().enumerate().all(|(n, item)| place(types, n).accepts(item)))
            }
            (T::Struct(members), Data::Hash(hash)) => struct_accepts(members, hash, guard),
            (T::Collection(size), Data::Array(items)) => {
                size.is_none_or(|size| size.holds(count(items.len())))
            }
            (T::Collection(size), Data::Hash(hash)) => {
                size.is_none_or(|size| size.holds(count(hash.len())))
            }
            (T::Optional(_), Data::Null) => true,
            (T::Optional(inner), _) => {
                inner.as_ref().is_some_and(|inner| inner.is_instance(value, guard))
            }
            (T::NotUndef(inner), data) => {
                !matches!(data, Data::Null)
                    && inner.as_ref().is_none_or(|inner| inner.is_instance(value, guard))
            }
            (T::Variant(types), _) => types.iter().any(|one| one.is_instance(value, guard)),
            (T::Sensitive(inner), Data::Sensitive(value)) => inner.is_instance(value, guard),
            (T::Iterable(inner), data) => match inner
                .as_deref()
                .filter(|inner| !inner.assignable(&T::Any))
            {
                Some(_) => self.assignable(&super::infer(value)),
                None => match data {
                    Data::String(_) | Data::Array(_) | Data::Hash(_) | Data::Binary(_) => true,
                    Data::Integer(number) => *number >= 0,
                    Data::BigInteger(digits) => !digits.starts_with('-'),
                    Data::Rich(rich) => match &**rich {
                        Rich::Type(T::Enum { .. }) => true,
                        Rich::Type(T::Integer(range)) => range.from.is_some() && range.to.is_some(),
                        _ => false,
                    },
                    _ => false,
                },
            },
            (T::Init, _) => T::Alias(Alias::RichData).is_instance(value, guard),
            (T::Alias(alias), _) => alias.resolved().is_instance(value, guard),
            (T::Local(_, resolved), _) => resolved.is_instance(value, guard),
            (T::Named(alias), _) if alias.is_recursive() => {
                guard.judge(alias.name(), value, &mut |guard| {
                    alias.with_target(|target| target.is_instance(value, guard))
                })
            }
            (T::Named(alias), _) => alias.with_target(|target| target.is_instance(value, guard)),
            (T::Regexp(_), Data::Rich(rich)) => match (self, &**rich) {
                (T::Regexp(only), Rich::Regexp(pattern)) => {
                    only.as_ref().is_none_or(|only| only == pattern)
                }
                _ => false,
            },
            (T::Timestamp(range), Data::Rich(rich)) => {
                matches!(&**rich, Rich::Timestamp(nanos) if range.holds(*nanos))
            }
            (T::Timespan(range), Data::Rich(rich)) => {
                matches!(&**rich, Rich::Timespan(nanos) if range.holds(*nanos))
            }
            (T::SemVer(ranges), Data::Rich(rich)) => {
                let within = |version| {
                    ranges.is_empty() || ranges.iter().any(|range| range.includes(version))
                };
                matches!(&**rich, Rich::SemVer(version) if within(version))
            }
            (T::SemVerRange, Data::Rich(rich)) => matches!(**rich, Rich::SemVerRange(_)),
            (T::Binary, Data::Rich(rich)) => matches!(**rich, Rich::Binary(_)),
            (T::Uri, Data::Rich(rich)) => matches!(**rich, Rich::Uri(_)),
            (T::Type(inner), Data::Rich(rich)) => {
                matches!(&**rich, Rich::Type(found) if inner.as_ref().is_none_or(|inner| inner.assignable(found)))
            }
            _ => false,
        }
    }
}

impl StructMember {
    /// Returns the type of its key.
    pub(super) fn key_type(&self) -> DataType {
        let name = T::String(Text::Value(self.name.clone()));
        if self.optional { T::optional(name) } else { name }
    }
}

impl Text {
    fn takes(&self, other: &DataType) -> bool {
        match (self, other) {
            (Text::Any, T::String(_) | T::Enum { .. } | T::Pattern(_)) => true,
            (Text::Length(range), T::String(text)) => range.covers(&text.length()),
            (Text::Length(range), T::Enum { values, .. }) if values.is_empty() => {
                range.covers(&ANY_NUMBER)
            }
            (Text::Length(range), T::Enum { values, .. }) => {
                values.iter().all(|value| range.holds(count(value.chars().count())))
            }
            (Text::Length(range), T::Pattern(_)) => range.covers(&ANY_NUMBER),
            (Text::Value(_), T::String(other)) => self == other,
            (Text::Value(_), T::Enum { values, fold }) => values.len() == 1 && !fold,
            _ => false,
        }
    }

    fn length(&self) -> Range<i128> {
        match self {
            Text::Any => ANY_NUMBER,
            Text::Length(range) => *range,
            Text::Value(text) => exactly(text.chars().count()),
        }
    }
}

fn struct_accepts(members: &[StructMember], hash: &Hash, guard: &mut RecursionGuard<'_>) -> bool {
    let mut matched = 0;
    let fits = members.iter().all(|member| match hash.get(member.name.as_str()) {
        None => member.optional,
        Some(found) => {
            matched += 1;
            member.value.is_instance(&found.value, guard)
        }
    });
    fits && matched == hash.len()
}

fn is_plain_scalar(data: &Data) -> bool {
    matches!(
        data,
        Data::String(_) | Data::Integer(_) | Data::BigInteger(_) | Data::Float(_) | Data::Bool(_)
    )
}

fn place(types: &[DataType], n: usize) -> &DataType {
    types.get(n).or(types.last()).unwrap_or(&T::Any)
}
