//! Types read from text, as Puppet's parser and `TypeParser` read them.

use std::sync::Arc;

use super::expression::{Expression, TypeSyntaxError, expression, invalid_syntax, is_too_deep};
use super::{Alias, DataType, Range, Size, StringType, StructMember, UNSTATED};
use crate::puppet::convert::time::{timespan_bound, timestamp_bound};
use crate::puppet::rich::{RegexPattern, VersionRange};

use DataType as T;

/// Resolves names that are no types of Puppet's own.
pub(super) trait NameResolver {
    /// Returns the type of this name, which stands in the text as `written`, brackets included.
    fn resolve(&self, name: &str, written: &str) -> DataType;
}

/// No name is known.
pub(super) struct NoNames;

impl NameResolver for NoNames {
    fn resolve(&self, _: &str, written: &str) -> DataType {
        T::Reference(written.to_owned())
    }
}

/// Reads a type. A name that is no type of Puppet's own becomes [`DataType::Reference`], as it may
/// be a module's.
pub fn parse(text: &str) -> Result<DataType, TypeSyntaxError> {
    parse_naming(text, &NoNames)
}

/// Reads a type; `names` resolves names that are no types of Puppet's own.
pub(super) fn parse_naming(
    text: &str,
    names: &dyn NameResolver,
) -> Result<DataType, TypeSyntaxError> {
    match expression(text) {
        Ok(Expression::Type { name, parameters, text }) => {
            to_type(&name, parameters.as_deref(), &text, names)
        }
        Err(_) if is_too_deep(text) => Ok(DataType::Undecided(text.to_owned())),
        Err(error) => Err(error),
        Ok(_) => Err(invalid_syntax(text.trim())),
    }
}

/// Types that no value of data has; their parameters are not parsed.
const FOREIGN: [(&str, &str); 6] = [
    ("callable", "Callable"),
    ("catalogentry", "CatalogEntry"),
    ("class", "Class"),
    ("resource", "Resource"),
    ("runtime", "Runtime"),
    ("typeset", "TypeSet"),
];

fn to_type(
    name: &str,
    parameters: Option<&[Expression]>,
    text: &str,
    names: &dyn NameResolver,
) -> Result<DataType, TypeSyntaxError> {
    let lower = name.to_ascii_lowercase();
    let Some(given) = parameters else {
        return Ok(bare_type(lower.trim_start_matches("::"), name, names));
    };
    // Puppet looks for a parameterized type by the name as written.
    if lower.starts_with("::") {
        return Err(TypeSyntaxError(format!("Not a parameterized type <{name}>")));
    }
    let boxed = |expression: &Expression| nested_type(expression, names, text).map(Box::new);
    let only =
        |kind: &str| if let [one] = given { Ok(one) } else { Err(wrong_count(kind, "1", given)) };
    Ok(match lower.as_str() {
        "array" => match given {
            [one] => match nested_type(one, names, text)? {
                // Puppet's `Array[Any]` and `Array` are two objects, which `normalize` tells apart.
                T::Any => T::array_type(T::Any, Some(UNSTATED)),
                element => T::array_type(element, None),
            },
            [Expression::Type { .. }, length] => {
                T::array_type(nested_type(&given[0], names, text)?, parse_size(length, None, text)?)
            }
            // Puppet takes `Default` for the missing element type.
            [from, to] => T::array_type(T::Default, size_between(from, to, text)?),
            // With `default` as the lower bound, an upper bound of zero does not remove the element
            // type.
            [one, Expression::Default, to] => {
                T::Array(boxed(one)?, size_between(&Expression::Default, to, text)?)
            }
            [one, from, to] => {
                T::array_type(nested_type(one, names, text)?, size_between(from, to, text)?)
            }
            _ => return Err(wrong_count("Array", "1 to 3", given)),
        },
        "hash" => match given {
            [key @ Expression::Type { .. }, value @ Expression::Type { .. }] => {
                T::hash(nested_type(key, names, text)?, nested_type(value, names, text)?, None)
            }
            [from, to] => T::hash(T::Default, T::Default, size_between(from, to, text)?),
            [key, value, length] => T::hash(
                nested_type(key, names, text)?,
                nested_type(value, names, text)?,
                parse_size(length, None, text)?,
            ),
            [key, value, Expression::Default, to] => {
                T::Hash(boxed(key)?, boxed(value)?, size_between(&Expression::Default, to, text)?)
            }
            [key, value, from, to] => T::hash(
                nested_type(key, names, text)?,
                nested_type(value, names, text)?,
                size_between(from, to, text)?,
            ),
            _ => return Err(wrong_count("Hash", "2 to 4", given)),
        },
        "collection" => match given {
            [length] => T::Collection(parse_size(length, None, text)?),
            [from, to] => T::Collection(size_between(from, to, text)?),
            _ => return Err(wrong_count("Collection", "1 to 2", given)),
        },
        "string" => match given {
            [length] => T::String(
                parse_size(length, None, text)?.map_or(StringType::Any, StringType::Length),
            ),
            [from, to] => {
                T::String(size_between(from, to, text)?.map_or(StringType::Any, StringType::Length))
            }
            _ => return Err(wrong_count("String", "1 to 2", given)),
        },
        "integer" => match given {
            [Expression::Default] => T::INTEGER,
            [Expression::Integer(from)] => T::Integer(Range { from: Some(*from), to: None }),
            [_] => return Err(invalid_syntax(text)),
            [from, to] => match integer_bound(from).zip(integer_bound(to)) {
                Some((from, to)) => {
                    T::Integer(ordered_range(from, to, |number| number.to_string())?)
                }
                None => T::Undecided(text.to_owned()),
            },
            _ => return Err(wrong_count("Integer", "1 or 2", given)),
        },
        "float" => match given {
            [Expression::Default] => T::FLOAT,
            [one] => match float_bound(one) {
                Some(from) => T::Float(Range { from, to: None }),
                None => return Err(invalid_syntax(text)),
            },
            [from, to] => match float_bound(from).zip(float_bound(to)) {
                Some((from, to)) => T::Float(ordered_range(from, to, |number| {
                    crate::puppet::ruby::inspect::float_text(*number)
                })?),
                None => T::Undecided(text.to_owned()),
            },
            _ => return Err(wrong_count("Float", "1 or 2", given)),
        },
        "boolean" => match only("Boolean")? {
            Expression::Bool(truth) => T::Boolean(Some(*truth)),
            _ => return Err(TypeSyntaxError("Boolean parameter must be true or false".into())),
        },
        "enum" => {
            let (strings, fold) = match given {
                [strings @ .., Expression::Bool(fold)] => (strings, *fold),
                strings => (strings, false),
            };
            if strings.is_empty() {
                return Err(TypeSyntaxError(
                    "Invalid number of type parameters specified: Enum requires 1 or more, 0 provided".into(),
                ));
            }
            let values = strings.iter().map(|one| {
                if let Expression::Text(text) = one { Some(text.clone()) } else { None }
            });
            let Some(mut values) = values.collect::<Option<Vec<String>>>() else {
                return Err(TypeSyntaxError(
                    "Enum parameters must be identifiers or strings".into(),
                ));
            };
            values.sort();
            values.dedup();
            T::Enum { values, fold }
        }
        "pattern" if given.is_empty() => return Err(wrong_count("Pattern", "1 or more", given)),
        "pattern" => match parse_patterns(given)? {
            Some(patterns) => T::Pattern(patterns),
            None => T::Undecided(text.to_owned()),
        },
        "regexp" => match parse_patterns(std::slice::from_ref(only("Regexp")?))? {
            Some(patterns) => T::Regexp(patterns.into_iter().next()),
            None => T::Undecided(text.to_owned()),
        },
        "tuple" => {
            let is_bound =
                |one: &Expression| matches!(one, Expression::Integer(_) | Expression::Default);
            let (types, size) = match given {
                [] => return Err(wrong_count("Tuple", "1 or more", given)),
                [types @ .., from, to] if is_bound(from) => (types, size_between(from, to, text)?),
                [types @ .., from] if is_bound(from) => (types, parse_size(from, None, text)?),
                types => (types, None),
            };
            T::Tuple(
                types
                    .iter()
                    .map(|expression| nested_type(expression, names, text))
                    .collect::<Result<_, _>>()?,
                size,
            )
        }
        "struct" => match only("Struct")? {
            Expression::Hash(pairs) => {
                // Of members with the same key the last one counts, at the position of the first one.
                let mut members: Vec<StructMember> = Vec::new();
                for (key, value) in pairs {
                    let member = parse_member(key, nested_type(value, names, text)?, text)?;
                    let key = member.shown_key();
                    let mut named = members.iter_mut().filter(|known| known.name == member.name);
                    match named.find(|known| known.shown_key() == key) {
                        Some(known) => *known = member,
                        None => members.push(member),
                    }
                }
                T::Struct(members)
            }
            _ => return Err(invalid_syntax(text)),
        },
        "optional" | "notundef" => {
            let kind = if lower == "optional" { "Optional" } else { "NotUndef" };
            let inner = match only(kind)? {
                Expression::Text(value) => T::String(StringType::Value(value.clone())),
                one => nested_type(one, names, text)?,
            };
            match lower.as_str() {
                "optional" => T::optional_type(inner),
                _ => T::NotUndef(Some(inner).filter(|inner| *inner != T::Any).map(Box::new)),
            }
        }
        "variant" if given.is_empty() => return Err(wrong_count("Variant", "1 or more", given)),
        "variant" => T::variant_type(
            given
                .iter()
                .map(|expression| nested_type(expression, names, text))
                .collect::<Result<_, _>>()?,
        ),
        "sensitive" => match given {
            [] => T::Sensitive(Box::new(T::Any)),
            [one] => T::Sensitive(Box::new(nested_type(one, names, text)?.generalize())),
            _ => return Err(wrong_count("Sensitive", "0 to 1", given)),
        },
        "type" => T::Type(Some(boxed(only("Type")?)?)),
        "iterable" => T::Iterable(Some(boxed(only("Iterable")?)?)),
        "iterator" => T::Iterator(Some(boxed(only("Iterator")?)?)),
        "timestamp" | "timespan" => {
            let kind = if lower == "timestamp" { "Timestamp" } else { "Timespan" };
            if given.len() > 2 {
                return Err(wrong_count(kind, "0 to 2", given));
            }
            match time_bound_at(0, kind, given).zip(time_bound_at(1, kind, given)) {
                Some((from, to)) if from.zip(to).is_none_or(|(from, to)| from <= to) => {
                    let range = Range { from, to };
                    if kind == "Timestamp" { T::Timestamp(range) } else { T::Timespan(range) }
                }
                _ => T::Undecided(text.to_owned()),
            }
        }
        "semver" => {
            let range = |one: &Expression| {
                if let Expression::Text(text) = one { VersionRange::parse(text).ok() } else { None }
            };
            // Puppet merges several ranges by special rules.
            match given {
                [one] => range(one)
                    .map_or_else(|| T::Undecided(text.to_owned()), |range| T::SemVer(vec![range])),
                _ => T::Undecided(text.to_owned()),
            }
        }
        "any" | "data" | "catalogentry" | "scalar" | "undef" | "numeric" | "default"
        | "semverrange" => {
            return Err(not_parameterized(name));
        }
        "binary" | "scalardata" | "richdata" | "richdatakey" => {
            return Err(not_parameterized(text));
        }
        "uri" | "init" | "object" | "typealias" | "typereference" => T::Undecided(text.to_owned()),
        foreign => match FOREIGN.iter().find(|(known, _)| *known == foreign) {
            Some((_, name)) => T::Foreign { name, text: foreign_text(name, given, text) },
            None if is_resource(foreign) || is_object(foreign) => T::Undecided(text.to_owned()),
            // An alias takes no parameters; Puppet's error for that does not concern a value.
            None => match names.resolve(name, text) {
                T::Named(_) => T::Undecided(text.to_owned()),
                found => found,
            },
        },
    })
}

/// Returns the text that Puppet prints for a type that no value of data has: the written text, but the
/// name of a class without quotes.
fn foreign_text(name: &str, given: &[Expression], text: &str) -> String {
    match (name, given) {
        ("Class", [Expression::Text(class)]) => {
            format!("Class[{}]", class.strip_prefix("::").unwrap_or(class))
        }
        _ => text.to_owned(),
    }
}

fn time_bound_at(n: usize, kind: &str, given: &[Expression]) -> Option<Option<i128>> {
    match given.get(n) {
        None | Some(Expression::Default) => Some(None),
        Some(one) => time_bound(one, kind == "Timestamp").map(Some),
    }
}

fn not_parameterized(qualified: &str) -> TypeSyntaxError {
    TypeSyntaxError(format!("Not a parameterized type <{qualified}>"))
}

fn wrong_count(kind: &str, required: &str, given: &[Expression]) -> TypeSyntaxError {
    TypeSyntaxError(format!(
        "Invalid number of type parameters specified: {kind} requires {required}, {} provided",
        given.len()
    ))
}

fn nested_type(
    expression: &Expression,
    names: &dyn NameResolver,
    text: &str,
) -> Result<DataType, TypeSyntaxError> {
    match expression {
        Expression::Type { name, parameters, text } => {
            to_type(name, parameters.as_deref(), text, names)
        }
        _ => Err(invalid_syntax(text)),
    }
}

/// Returns a type without brackets.
pub(super) fn bare_type(lower: &str, name: &str, names: &dyn NameResolver) -> DataType {
    match lower {
        "any" => T::Any,
        "undef" => T::Undef,
        "default" => T::Default,
        "scalar" => T::Scalar,
        "scalardata" => T::ScalarData,
        "numeric" => T::Numeric,
        "integer" => T::INTEGER,
        "float" => T::FLOAT,
        "string" => T::STRING,
        "boolean" => T::BOOLEAN,
        "enum" => T::Enum { values: Vec::new(), fold: false },
        "pattern" => T::Pattern(Vec::new()),
        "regexp" => T::Regexp(None),
        "semver" => T::SemVer(Vec::new()),
        "semverrange" => T::SemVerRange,
        "timestamp" => T::Timestamp(Range::ANY),
        "timespan" => T::Timespan(Range::ANY),
        "binary" => T::Binary,
        "uri" => T::Uri,
        "collection" => T::Collection(None),
        "array" => T::array_type(T::Any, None),
        "hash" => T::hash(T::Any, T::Any, None),
        "tuple" => T::Tuple(Vec::new(), None),
        "struct" => T::Struct(Vec::new()),
        "optional" => T::Optional(None),
        "notundef" => T::NotUndef(None),
        "variant" => T::Variant(Vec::new()),
        "sensitive" => T::Sensitive(Box::new(T::Any)),
        "type" => T::Type(None),
        "iterable" => T::Iterable(None),
        "iterator" => T::Iterator(None),
        "init" => T::Init,
        "data" => T::Alias(Alias::Data),
        "richdata" => T::Alias(Alias::RichData),
        "richdatakey" => T::Alias(Alias::RichDataKey),
        "puppet::lookupkey" => T::Alias(Alias::LookupKey),
        "puppet::lookupvalue" => T::Alias(Alias::LookupValue),
        "object" => T::Foreign { name: "Object", text: "Object".into() },
        other => match FOREIGN.iter().find(|(known, _)| *known == other) {
            Some((_, "TypeSet")) => {
                T::Foreign { name: "TypeSet", text: super::TYPE_SET.to_owned() }
            }
            Some((_, name)) => T::Foreign { name, text: (*name).to_owned() },
            None if is_resource(other) || is_object(other) => T::Undecided(name.to_owned()),
            None => names.resolve(name.trim_start_matches("::"), name),
        },
    }
}

/// The types of resources that Puppet itself brings along.
pub(super) const BUILT_IN_RESOURCES: &str = "component exec file filebucket group node notify package resources schedule service stage tidy user whit";

/// Whether the named type is a resource type that Puppet itself brings along.
fn is_resource(lower: &str) -> bool {
    BUILT_IN_RESOURCES.split(' ').any(|name| name == lower)
}

/// Whether the named type is an object type that Puppet itself brings along, or in a set of such
/// types.
fn is_object(lower: &str) -> bool {
    let known = "error target deferred task plan applyresult resourceinstance resultset result";
    known.split(' ').any(|name| name == lower)
        || ["pcore::", "puppet::ast::", "puppet::datatypes::"]
            .iter()
            .any(|set| lower.starts_with(set))
        || matches!(lower, "typealias" | "typereference")
}

fn ordered_range<N: PartialOrd + Copy>(
    from: Option<N>,
    to: Option<N>,
    text: impl Fn(&N) -> String,
) -> Result<Range<N>, TypeSyntaxError> {
    match from.zip(to) {
        Some((from, to)) if from > to => Err(TypeSyntaxError(format!(
            "'from' must be less or equal to 'to'. Got ({}, {}",
            text(&from),
            text(&to)
        ))),
        _ => Ok(Range { from, to }),
    }
}

/// `Some(None)` is no bound, `None` is no integer.
fn integer_bound(expression: &Expression) -> Option<Option<i128>> {
    match expression {
        Expression::Default => Some(None),
        Expression::Integer(number) => Some(Some(*number)),
        _ => None,
    }
}

fn float_bound(expression: &Expression) -> Option<Option<f64>> {
    match expression {
        Expression::Float(number) => Some(Some(*number)),
        other => integer_bound(other).map(|bound| bound.map(|number| number as f64)),
    }
}

/// Reads a size of at least `from`, or a type of integers as a size.
fn parse_size(from: &Expression, to: Option<i128>, text: &str) -> Result<Size, TypeSyntaxError> {
    let range = match from {
        Expression::Type { name, parameters, text } => {
            match to_type(name, parameters.as_deref(), text, &NoNames)? {
                T::Integer(range) => range,
                _ => return Err(invalid_syntax(text)),
            }
        }
        one => Range { from: integer_bound(one).ok_or_else(|| invalid_syntax(text))?, to },
    };
    Ok(Some(to_size(range)))
}

fn size_between(from: &Expression, to: &Expression, text: &str) -> Result<Size, TypeSyntaxError> {
    let (from, to) =
        integer_bound(from).zip(integer_bound(to)).ok_or_else(|| invalid_syntax(text))?;
    Ok(Some(to_size(ordered_range(from, to, |number| number.to_string())?)))
}

/// No size is less than none.
fn to_size(range: Range<i128>) -> Range<i128> {
    if range.from.is_some_and(|from| from >= 0) {
        return range;
    }
    Range { from: Some(0), to: range.to.map(|to| to.max(0)) }
}

fn time_bound(expression: &Expression, timestamp: bool) -> Option<i128> {
    match expression {
        Expression::Integer(seconds) => seconds.checked_mul(1_000_000_000),
        Expression::Text(text) if timestamp => timestamp_bound(text),
        Expression::Text(text) => timespan_bound(text),
        _ => None,
    }
}

/// `None` where a pattern is named by another type.
fn parse_patterns(given: &[Expression]) -> Result<Option<Vec<Arc<RegexPattern>>>, TypeSyntaxError> {
    let mut all = Vec::new();
    for one in given {
        let (Expression::Regex(source) | Expression::Text(source)) = one else { return Ok(None) };
        all.push(Arc::new(
            RegexPattern::new(source).map_err(|error| TypeSyntaxError(error.message))?,
        ));
    }
    Ok(Some(all))
}

fn parse_member(
    key: &Expression,
    value: DataType,
    text: &str,
) -> Result<StructMember, TypeSyntaxError> {
    let (name, optional) = match key {
        Expression::Text(name) if name.is_empty() => {
            return Err(TypeSyntaxError("Struct element key cannot be an empty String".into()));
        }
        Expression::Text(name) => (Some(name.clone()), value.is_assignable(&T::Undef)),
        Expression::Type { name: kind, parameters: Some(inner), .. } => (
            inner.first().and_then(|inner| {
                if let Expression::Text(name) = inner { Some(name.clone()) } else { None }
            }),
            kind.eq_ignore_ascii_case("optional"),
        ),
        other => match other.ruby_class() {
            None => (None, false),
            Some(class) => {
                return Err(TypeSyntaxError(format!(
                    "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: {class}"
                )));
            }
        },
    };
    let name = name.ok_or_else(|| invalid_syntax(text))?;
    Ok(StructMember { name, optional, value })
}
