//! Decides whether a type, or a value, belongs to a type. Source: `assignable?` and `instance?` of
//! Puppet's types.

use super::guard::{Known, RecursionGuard};
use super::size::{array_size, bound_of_count, covers_size, exactly_size, tuple_size};
use super::{ANY_NUMBER, Alias, DataType, Range, StringType, StructMember};
use crate::puppet::rich::{Rich, SemanticVersion, VersionRange};
use crate::puppet::value::{Data, Hash, Value};

use DataType as T;

impl DataType {
    /// Whether every value of type `other` is one of this type.
    pub fn is_assignable(&self, other: &DataType) -> bool {
        self.covers_type(other, &mut RecursionGuard::default())
    }

    /// Whether every value of type `other` is one of this type, within a check in progress; `true`
    /// where the comparison is nested too deeply. Source: the methods `assignable?`, with the calls
    /// that pass their guard on.
    fn covers_type(&self, other: &DataType, guard: &mut RecursionGuard<'_>) -> bool {
        if !guard.enter_comparison() {
            return true;
        }
        let covers = self.covers_alternatives(other, guard);
        guard.leave_comparison();
        covers
    }

    fn covers_alternatives(&self, other: &DataType, guard: &mut RecursionGuard<'_>) -> bool {
        match (self, other) {
            (T::Named(alias), _) if alias.is_recursive() => {
                guard.judge_alias(alias.name(), &mut |guard| self.covers_kinds(other, guard))
            }
            (T::Alias(alias), _) if alias.is_recursive() => {
                guard.judge_alias(alias.name(), &mut |guard| self.covers_kinds(other, guard))
            }
            (T::Variant(types), T::Undef) if types.is_empty() => false,
            (T::Variant(types), T::Variant(others)) => {
                types.is_empty()
                    || !others.is_empty()
                        && others.iter().all(|other| self.covers_kinds(other, guard))
            }
            _ => self.covers_kinds(other, guard),
        }
    }

    /// Takes the type `other` apart where it stands for others.
    fn covers_kinds(&self, other: &DataType, guard: &mut RecursionGuard<'_>) -> bool {
        match (self, other) {
            (T::Unit, _) | (_, T::Unit) => true,
            (T::Alias(ours), T::Alias(theirs)) if ours == theirs => true,
            // The comparison of two recursive aliases would not end.
            (
                T::Alias(Alias::RichData | Alias::LookupValue),
                T::Alias(Alias::Data | Alias::LookupValue | Alias::RichData),
            ) => true,
            (_, T::Alias(alias)) => {
                alias.is_recursive() && guard.is_other_repeated(alias.name())
                    || self.covers_type(alias.resolved(), guard)
            }
            (_, T::Local(_, resolved)) => self.covers_type(resolved, guard),
            (_, T::Named(alias)) if alias.is_recursive() => {
                guard.is_other_repeated(alias.name())
                    || alias.with_target(|target| self.covers_type(target, guard))
            }
            (_, T::Named(alias)) => alias.with_target(|target| self.covers_type(target, guard)),
            (T::Any, T::Variant(_)) => true,
            (T::NotUndef(_), T::Variant(others)) if others.is_empty() => {
                self.takes_type(other, guard)
            }
            (_, T::Variant(others)) => {
                !others.is_empty() && others.iter().all(|other| self.covers_type(other, guard))
            }
            (_, T::Optional(inner)) => {
                self.is_assignable(&T::Undef)
                    && inner
                        .as_ref()
                        .is_none_or(|inner| self.covers_type(inner, &mut guard.renew()))
            }
            (_, T::NotUndef(Some(inner))) if !inner.is_assignable(&T::Undef) => {
                self.covers_type(inner, guard)
            }
            _ => self.takes_type(other, guard),
        }
    }

    fn takes_type(&self, other: &DataType, guard: &mut RecursionGuard<'_>) -> bool {
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
            (T::Integer(ours), T::Integer(theirs)) => ours.covers_range(theirs),
            (T::Timestamp(ours), T::Timestamp(theirs))
            | (T::Timespan(ours), T::Timespan(theirs)) => ours.covers_range(theirs),
            (T::Float(ours), T::Float(theirs)) => ours.covers_range(theirs),
            (T::Boolean(ours), T::Boolean(theirs)) => ours.is_none() || ours == theirs,
            (T::String(text), _) => text.takes_text(other),
            (T::Enum { values, .. }, T::String(_) | T::Enum { .. } | T::Pattern(_))
                if values.is_empty() =>
            {
                true
            }
            (T::Enum { .. }, T::String(StringType::Value(value))) => self.has_enum_value(value),
            (T::Enum { fold, .. }, T::Enum { values: others, fold: other_fold }) => {
                self == other
                    || !others.is_empty()
                        && (*fold || !other_fold)
                        && others.iter().all(|one| self.has_enum_value(one))
            }
            (T::Pattern(patterns), T::String(StringType::Value(text))) => {
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
                ours.is_empty()
                    || !theirs.is_empty()
                        && theirs
                            .iter()
                            .all(|range| ours.iter().any(|ours| ours.covers_range(range)))
            }
            (
                T::Collection(size),
                T::Collection(other) | T::Array(_, other) | T::Hash(_, _, other),
            ) => covers_size(*size, *other),
            (T::Collection(size), T::Tuple(types, other)) => {
                covers_size(*size, other.or(Some(exactly_size(types.len()))))
            }
            (T::Collection(size), T::Struct(members)) => {
                covers_size(*size, Some(exactly_size(members.len())))
            }
            (T::Array(element, size), T::Tuple(types, other)) => {
                covers_size(*size, other.or(Some(exactly_size(types.len()))))
                    && types.iter().all(|one| element.covers_type(one, guard))
            }
            (T::Array(element, size), T::Array(other, other_size)) => {
                covers_size(*size, *other_size) && element.covers_type(other, guard)
            }
            (T::Hash(_, _, size), T::Hash(_, _, other))
                if *other == Some(Range::from_single(0)) =>
            {
                size.is_none_or(|size| size.from == Some(0))
            }
            (T::Hash(key, value, size), T::Hash(other_key, other_value, other)) => {
                key.covers_type(other_key, guard)
                    && value.covers_type(other_value, guard)
                    && covers_size(*size, *other)
            }
            (T::Hash(key, value, size), T::Struct(members)) => {
                size.unwrap_or(ANY_NUMBER).holds_value(bound_of_count(members.len()))
                    && members.iter().all(|member| {
                        key.is_instance(&Value::from_argument(&member.name), guard)
                            && value.covers_type(&member.value, guard)
                    })
            }
            (T::Tuple(types, size), T::Tuple(others, other_size)) => {
                self == other
                    || tuple_size(types, *size).covers_range(&tuple_size(others, *other_size))
                        && (types.is_empty()
                            || if others.is_empty() {
                                tuple_size(types, *size).from == Some(0)
                            } else {
                                others
                                    .iter()
                                    .enumerate()
                                    .all(|(n, other)| type_at(types, n).covers_type(other, guard))
                            })
            }
            (T::Tuple(types, size), T::Array(element, other_size)) => {
                let other_size = array_size(*other_size);
                let places = other_size
                    .to
                    .map_or(types.len(), |to| types.len().min(usize::try_from(to).unwrap_or(0)));
                tuple_size(types, *size).covers_range(&other_size)
                    && types.iter().take(places).all(|one| one.covers_type(element, guard))
            }
            (T::Struct(members), T::Struct(others)) => {
                let mut matched = 0;
                let fits = members.iter().all(|member| {
                    match others.iter().find(|other| other.name == member.name) {
                        None => member.optional,
                        Some(other) => {
                            matched += 1;
                            (member.optional || !other.optional)
                                && member.value.covers_type(&other.value, guard)
                        }
                    }
                });
                fits && matched == others.len()
            }
            (T::Struct(members), T::Hash(key, value, size)) => {
                let required = members.iter().filter(|member| !member.optional).count();
                let fits = members.iter().filter(|member| !member.optional).all(|member| {
                    member.value.covers_type(value, guard) && T::STRING.is_assignable(key)
                });
                fits && Range {
                    from: Some(bound_of_count(required)),
                    to: Some(bound_of_count(members.len())),
                }
                .covers_range(&size.unwrap_or(ANY_NUMBER))
            }
            (T::Optional(_), T::Undef) => true,
            (T::Optional(inner), _) => {
                inner.as_ref().is_none_or(|inner| inner.covers_type(other, guard))
            }
            (T::NotUndef(inner), _) => {
                !other.covers_type(&T::Undef, guard)
                    && inner.as_ref().is_none_or(|inner| inner.covers_type(other, guard))
            }
            (T::Variant(types), _) => types.iter().any(|one| one.covers_type(other, guard)),
            (T::Sensitive(ours), T::Sensitive(theirs)) => ours.covers_type(theirs, guard),
            (T::Type(ours), T::Type(theirs)) => match (ours, theirs) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(ours), Some(theirs)) => ours.covers_type(theirs, guard),
            },
            (T::Iterable(inner), _) => {
                match inner.as_deref().filter(|inner| !inner.covers_type(&T::Any, guard)) {
                    None => other.is_iterable(),
                    Some(inner) => other
                        .iterated_type()
                        .flatten()
                        .is_some_and(|element| inner.covers_type(&element, guard)),
                }
            }
            (T::Iterator(ours), T::Iterator(theirs)) => match (ours, theirs) {
                (None, _) => true,
                (Some(ours), Some(theirs)) => ours.covers_type(theirs, guard),
                (Some(_), None) => false,
            },
            (T::Init, T::Init) => true,
            (T::Init, _) => T::Alias(Alias::RichData).covers_type(other, guard),
            (T::Alias(alias), _) => alias.resolved().covers_type(other, guard),
            (T::Local(_, resolved), _) => resolved.covers_type(other, guard),
            (T::Named(alias), _) => alias.with_target(|target| target.covers_type(other, guard)),
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
    fn iterated_type(&self) -> Option<Option<DataType>> {
        match self {
            T::Integer(_) => Some(Some(T::INTEGER)),
            T::String(_) | T::Enum { .. } => {
                Some(Some(T::String(StringType::Length(exactly_size(1)))))
            }
            T::Array(element, _) if **element == T::Any => Some(None),
            T::Array(element, _) => Some(Some((**element).clone())),
            T::Hash(key, value, size) => {
                let open = size.is_none() && **key == T::Any && **value == T::Any
                    || *size == Some(exactly_size(0));
                if open {
                    pair_type(T::Unit, T::Unit)
                } else {
                    pair_type((**key).clone(), (**value).clone())
                }
            }
            T::Tuple(types, _) => Some(Some(T::variant_type(types.clone()))),
            T::Struct(members) if members.is_empty() => pair_type(T::Unit, T::Unit),
            T::Struct(members) => pair_type(
                T::variant_type(members.iter().map(StructMember::key_type).collect()),
                T::variant_type(members.iter().map(|member| member.value.clone()).collect()),
            ),
            T::Iterable(inner) | T::Iterator(inner) => Some(inner.as_deref().cloned()),
            T::Type(Some(inner)) if self.is_iterable() => Some(Some((**inner).clone())),
            _ => None,
        }
    }

    /// Whether the value is of this type.
    pub fn accepts_value(&self, value: &Value) -> bool {
        self.is_instance(value, &mut RecursionGuard::default())
    }

    /// Whether the value may be of this type. The guard states how much of the value is known.
    pub(super) fn is_instance(&self, value: &Value, guard: &mut RecursionGuard<'_>) -> bool {
        match guard.known_part(value) {
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
            (T::Numeric, Data::Integer(_) | Data::BigInteger(_)) => true,
            (T::Numeric, Data::Float(number)) => super::has_order(number),
            (T::Integer(range), Data::Integer(number)) => range.holds_value(i128::from(*number)),
            (T::Integer(range), Data::BigInteger(digits)) => {
                range.holds_value(super::infer::parse_big(digits))
            }
            (T::Float(range), Data::Float(number)) => range.holds_value(*number),
            (T::String(text), Data::String(value)) => match text {
                StringType::Any => true,
                StringType::Length(range) => {
                    range.holds_value(bound_of_count(value.chars().count()))
                }
                StringType::Value(only) => **only == **value,
            },
            (T::String(StringType::Any), Data::Binary(_)) => true,
            (T::Boolean(only), Data::Bool(truth)) => only.is_none_or(|only| only == *truth),
            (T::Enum { .. }, Data::String(text)) => self.has_enum_value(text),
            (T::Pattern(patterns), Data::String(text)) => {
                patterns.is_empty() || patterns.iter().any(|pattern| pattern.is_match(text))
            }
            (T::Array(inner, size), Data::Array(items)) => {
                items.iter().all(|item| inner.is_instance(item, guard))
                    && size.is_none_or(|size| size.holds_value(bound_of_count(items.len())))
            }
            (T::Hash(key, member, size), Data::Hash(hash)) => {
                hash.iter().all(|(name, _)| key.is_instance(&name.to_value(None), guard))
                    && hash.iter().all(|(_, found)| member.is_instance(&found.value, guard))
                    && size.is_none_or(|size| size.holds_value(bound_of_count(hash.len())))
            }
            (T::Tuple(types, size), Data::Array(items)) => {
                size.map_or(types.is_empty() || types.len() == items.len(), |size| {
                    size.holds_value(bound_of_count(items.len()))
                }) && (types.is_empty()
                    || items
                        .iter()
                        .enumerate()
                        .all(|(n, item)| type_at(types, n).is_instance(item, guard)))
            }
            (T::Struct(members), Data::Hash(hash)) => struct_accepts(members, hash, guard),
            (T::Collection(size), Data::Array(items)) => {
                size.is_none_or(|size| size.holds_value(bound_of_count(items.len())))
            }
            (T::Collection(size), Data::Hash(hash)) => {
                size.is_none_or(|size| size.holds_value(bound_of_count(hash.len())))
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
                .filter(|inner| !inner.covers_type(&T::Any, guard))
            {
                Some(_) => self.covers_type(&super::infer(value), guard),
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
                matches!(&**rich, Rich::Timestamp(nanos) if range.holds_value(*nanos))
            }
            (T::Timespan(range), Data::Rich(rich)) => {
                matches!(&**rich, Rich::Timespan(nanos) if range.holds_value(*nanos))
            }
            (T::SemVer(ranges), Data::Rich(rich)) => {
                matches!(&**rich, Rich::SemVer(version) if is_in_ranges(version, ranges))
            }
            (T::SemVerRange, Data::Rich(rich)) => matches!(**rich, Rich::SemVerRange(_)),
            (T::Binary, Data::Rich(rich)) => matches!(**rich, Rich::Binary(_)),
            (T::Uri, Data::Rich(rich)) => matches!(**rich, Rich::Uri(_)),
            (T::Type(inner), Data::Rich(rich)) => {
                matches!(&**rich, Rich::Type(found) if inner.as_ref().is_none_or(|inner| inner.is_assignable(found)))
            }
            _ => false,
        }
    }
}

fn is_in_ranges(version: &SemanticVersion, ranges: &[VersionRange]) -> bool {
    ranges.is_empty() || ranges.iter().any(|range| range.includes_version(version))
}

fn pair_type(key: DataType, value: DataType) -> Option<Option<DataType>> {
    Some(Some(T::Tuple(vec![key, value], Some(exactly_size(2)))))
}

impl StructMember {
    /// Returns the type of the member's key.
    pub(super) fn key_type(&self) -> DataType {
        let name = T::String(StringType::Value(self.name.clone()));
        if self.optional { T::optional_type(name) } else { name }
    }
}

impl StringType {
    fn takes_text(&self, other: &DataType) -> bool {
        match (self, other) {
            (StringType::Any, T::String(_) | T::Enum { .. } | T::Pattern(_)) => true,
            (StringType::Length(range), T::String(text)) => {
                range.covers_range(&text.length_range())
            }
            (StringType::Length(range), T::Enum { values, .. }) if values.is_empty() => {
                range.covers_range(&ANY_NUMBER)
            }
            (StringType::Length(range), T::Enum { values, .. }) => {
                values.iter().all(|value| range.holds_value(bound_of_count(value.chars().count())))
            }
            (StringType::Length(range), T::Pattern(_)) => range.covers_range(&ANY_NUMBER),
            (StringType::Value(_), T::String(other)) => self == other,
            (StringType::Value(_), T::Enum { values, fold }) => values.len() == 1 && !fold,
            _ => false,
        }
    }

    fn length_range(&self) -> Range<i128> {
        match self {
            StringType::Any => ANY_NUMBER,
            StringType::Length(range) => *range,
            StringType::Value(text) => exactly_size(text.chars().count()),
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

fn type_at(types: &[DataType], n: usize) -> &DataType {
    types.get(n).or(types.last()).unwrap_or(&T::Any)
}

#[cfg(test)]
mod tests {
    use crate::puppet::types::names::{NamedType, TypeNames, TypeTable};

    struct Recursive;

    impl TypeNames for Recursive {
        fn type_named(&self, name: &str) -> NamedType {
            let text = match name {
                "a" => "Variant[ScalarData, Undef, Hash[String, A], Array[A]]",
                "b" => "Variant[ScalarData, Undef, Hash[String, Optional[B]]]",
                "c" => "Array[C]",
                "d" => "Variant[RichData, Hash[RichDataKey, D], Array[D]]",
                "e" => "Hash[String, Variant[E, String]]",
                _ => return NamedType::Unknown,
            };
            NamedType::Alias { name: name.to_uppercase(), text: text.to_owned() }
        }
    }

    fn is_assignable(ours: &str, theirs: &str) -> bool {
        let table = TypeTable::default();
        let [ours, theirs] =
            [ours, theirs].map(|text| table.parse(text, &Recursive).expect("a type"));
        ours.is_assignable(&theirs)
    }

    /// The verdicts are those of Puppet 7.23 (`Data <= A`).
    #[test]
    fn recursive_aliases_are_compared_with_those_of_puppet() {
        for (theirs, ours, verdict) in [
            ("Data", "A", true),
            // The comparison meets both types again before it compares the lists.
            ("Data", "B", true),
            ("C", "Data", true),
            ("Data", "C", false),
            ("RichData", "D", true),
            ("D", "RichData", true),
            ("Data", "E", false),
            ("E", "Data", true),
            ("D", "Data", false),
            ("Data", "D", true),
        ] {
            assert_eq!(is_assignable(ours, theirs), verdict, "{theirs} <= {ours}");
        }
    }

    /// Puppet's own stack ends in these comparisons.
    #[test]
    fn comparisons_that_puppet_does_not_end_have_an_end() {
        assert!(is_assignable("Data", "A"));
        assert!(is_assignable("Data", "B"));
    }
}
