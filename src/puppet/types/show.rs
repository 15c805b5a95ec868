//! Types as text. Source: `TypeFormatter`.

use std::fmt;

use super::guard::RecursionGuard;
use super::size::exactly_size;
use super::{DataType, NamedAlias, Range, Size, StringType, StructMember, UNSTATED};
use crate::puppet::convert::quote::puppet_quote;
use crate::puppet::rich::{timespan_text, timestamp_text};
use crate::puppet::ruby::inspect::float_text;

use DataType as T;

impl DataType {
    /// Returns the name without brackets, as Puppet's messages give it.
    pub fn name(&self) -> &str {
        if let T::Named(alias) = self { alias.name() } else { self.own_name() }
    }

    /// Returns the name of a type of Puppet's own; `TypeAlias` for others.
    pub(super) fn own_name(&self) -> &'static str {
        match self {
            T::Any => "Any",
            T::Unit => "Unit",
            T::Undef => "Undef",
            T::Default => "Default",
            T::Scalar => "Scalar",
            T::ScalarData => "ScalarData",
            T::Numeric => "Numeric",
            T::Integer(_) => "Integer",
            T::Float(_) => "Float",
            T::String(_) => "String",
            T::Boolean(_) => "Boolean",
            T::Enum { .. } => "Enum",
            T::Pattern(_) => "Pattern",
            T::Regexp(_) => "Regexp",
            T::SemVer(_) => "SemVer",
            T::SemVerRange => "SemVerRange",
            T::Timestamp(_) => "Timestamp",
            T::Timespan(_) => "Timespan",
            T::Binary => "Binary",
            T::Uri => "URI",
            T::Collection(_) => "Collection",
            T::Array(..) => "Array",
            T::Hash(..) => "Hash",
            T::Tuple(..) => "Tuple",
            T::Struct(_) => "Struct",
            T::Optional(_) => "Optional",
            T::NotUndef(_) => "NotUndef",
            T::Variant(_) => "Variant",
            T::Sensitive(_) => "Sensitive",
            T::Type(_) => "Type",
            T::Iterable(_) => "Iterable",
            T::Iterator(_) => "Iterator",
            T::Init => "Init",
            T::Alias(alias) => alias.name(),
            T::Local(name, _) => name,
            T::Named(_) => "TypeAlias",
            T::Foreign { name, .. } => name,
            T::Reference(_) => "TypeReference",
            T::Undecided(_) => "Object",
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_expanded = matches!(self, T::Local(..) | T::Named(_));
        f.write_str(&self.render(is_expanded, &mut RecursionGuard::default()))
    }
}

impl DataType {
    /// Returns the type's text with each alias, and each local type of a function, as `name =
    /// target`.
    pub(super) fn expanded_text(&self) -> String {
        self.render(true, &mut RecursionGuard::default())
    }

    fn render(&self, expanded: bool, guard: &mut RecursionGuard<'_>) -> String {
        let mut show = |one: &DataType| one.render(expanded, guard);
        let parameters: Vec<String> = match self {
            T::Foreign { text, .. } | T::Undecided(text) => return text.clone(),
            T::Local(name, resolved) if expanded => return format!("{name} = {}", show(resolved)),
            T::Named(alias) => return shown_alias(alias, expanded, guard),
            T::Reference(text) => vec![puppet_quote(text)],
            T::Integer(range) => bound_texts(range, |number| number.to_string()),
            T::Float(range) => bound_texts(range, |number| float_text(*number)),
            T::Timestamp(range) => time_bounds(range, timestamp_text),
            T::Timespan(range) => time_bounds(range, timespan_text),
            T::String(StringType::Length(range)) => size_bounds(Some(*range)),
            T::Boolean(Some(only)) => vec![only.to_string()],
            T::Enum { values, fold } => {
                let mut shown: Vec<String> =
                    values.iter().map(|value| puppet_quote(value)).collect();
                shown.extend(fold.then(|| "true".to_owned()));
                shown
            }
            T::Pattern(patterns) => {
                patterns.iter().map(|pattern| pattern.with_delimiters()).collect()
            }
            T::Regexp(pattern) => pattern.iter().map(|pattern| pattern.with_delimiters()).collect(),
            T::SemVer(ranges) => ranges.iter().map(|range| format!("'{range}'")).collect(),
            T::Collection(some) => size_bounds(*some),
            T::Array(_, Some(none)) | T::Hash(_, _, Some(none)) if *none == exactly_size(0) => {
                vec!["0".into(), "0".into()]
            }
            T::Array(inner, None | Some(UNSTATED)) if **inner == T::Any => Vec::new(),
            T::Array(inner, some) => [vec![show(inner)], size_bounds(*some)].concat(),
            T::Hash(key, value, None) if (&**key, &**value) == (&T::Any, &T::Any) => Vec::new(),
            T::Hash(key, value, some) => {
                [vec![show(key), show(value)], size_bounds(*some)].concat()
            }
            T::Tuple(types, _) if types.is_empty() => Vec::new(),
            T::Tuple(types, some) => {
                [types.iter().map(show).collect(), size_bounds(*some)].concat()
            }
            T::Struct(members) if members.is_empty() => Vec::new(),
            T::Struct(members) => {
                vec![format!(
                    "{{{}}}",
                    members
                        .iter()
                        .map(|member| member.render(expanded, guard))
                        .collect::<Vec<_>>()
                        .join(", ")
                )]
            }
            T::Variant(types) => types.iter().map(show).collect(),
            T::Optional(Some(inner)) | T::NotUndef(Some(inner)) => match &**inner {
                T::String(StringType::Value(value)) => vec![puppet_quote(value)],
                T::Any if matches!(self, T::NotUndef(_)) => Vec::new(),
                inner => vec![show(inner)],
            },
            T::Sensitive(inner) if **inner == T::Any => Vec::new(),
            T::Sensitive(inner) => vec![show(inner)],
            T::Type(inner) | T::Iterable(inner) | T::Iterator(inner) => {
                inner.iter().map(|inner| show(inner)).collect()
            }
            _ => Vec::new(),
        };
        if parameters.is_empty() {
            self.name().to_owned()
        } else {
            format!("{}[{}]", self.name(), parameters.join(", "))
        }
    }
}

/// Returns an alias, with its target if requested and if the alias is not part of itself.
fn shown_alias(alias: &NamedAlias, expanded: bool, guard: &mut RecursionGuard<'_>) -> String {
    let name = alias.name();
    let mut write = |guard: &mut RecursionGuard<'_>, is_expanded: bool| {
        if !is_expanded {
            return name.to_owned();
        }
        alias.with_target(|target| format!("{name} = {}", target.render(true, guard)))
    };
    if expanded && alias.is_recursive() {
        guard.write_out(name, &mut write)
    } else {
        write(guard, expanded)
    }
}

impl StructMember {
    fn render(&self, expanded: bool, guard: &mut RecursionGuard<'_>) -> String {
        format!("{} => {}", self.shown_key(), self.value.render(expanded, guard))
    }

    /// Returns the key as Puppet writes it: `'a'`, `Optional['a']` or `NotUndef['a']`.
    pub(super) fn shown_key(&self) -> String {
        let name = puppet_quote(&self.name);
        match (self.optional, self.value.is_assignable(&T::Undef)) {
            (true, false) => format!("Optional[{name}]"),
            (false, true) => format!("NotUndef[{name}]"),
            _ => name,
        }
    }
}

fn bound_texts<N>(range: &Range<N>, text: impl Fn(&N) -> String) -> Vec<String> {
    match (&range.from, &range.to) {
        (None, None) => Vec::new(),
        (Some(from), None) => vec![text(from)],
        (from, Some(to)) => {
            vec![from.as_ref().map_or_else(|| "default".to_owned(), &text), text(to)]
        }
    }
}

fn time_bounds(range: &Range<i128>, text: impl Fn(i128) -> String) -> Vec<String> {
    let mut shown = bound_texts(range, |nanos| format!("'{}'", text(*nanos)));
    if range.from == range.to {
        shown.truncate(1);
    }
    shown
}

fn size_bounds(size: Size) -> Vec<String> {
    size.map_or_else(Vec::new, |range| bound_texts(&range, |number| number.to_string()))
}
