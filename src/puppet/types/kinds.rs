//! Whether a type accepts some value of a kind (text, list, hash).

use super::DataType;
use super::names::MAX_ALIASES;

use DataType as T;

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A string.
    Text,
    /// A list.
    List,
    /// A hash.
    Hash,
}

impl DataType {
    /// Returns whether some value of a kind may be of this type. `true` where the type cannot be
    /// decided here.
    pub fn may_take(&self, kind: ValueKind) -> bool {
        self.takes_kind(kind, 0)
    }

    fn takes_kind(&self, kind: ValueKind, depth: usize) -> bool {
        if depth > MAX_ALIASES {
            return true;
        }
        match self {
            T::Any | T::Unit | T::Init | T::Iterable(_) | T::Reference(_) | T::Undecided(_) => true,
            T::Scalar | T::ScalarData | T::String(_) | T::Enum { .. } | T::Pattern(_) => {
                kind == ValueKind::Text
            }
            T::Array(..) | T::Tuple(..) => kind == ValueKind::List,
            T::Hash(..) | T::Struct(_) => kind == ValueKind::Hash,
            T::Collection(_) => kind != ValueKind::Text,
            T::Optional(inner) | T::NotUndef(inner) => {
                inner.as_deref().is_none_or(|one| inner_takes_kind(one, kind, depth))
            }
            T::Variant(types) => {
                types.is_empty() || types.iter().any(|one| inner_takes_kind(one, kind, depth))
            }
            T::Alias(alias) => inner_takes_kind(alias.resolved(), kind, depth),
            T::Named(alias) => alias.with_target(|one| inner_takes_kind(one, kind, depth)),
            T::Local(_, resolved) => inner_takes_kind(resolved, kind, depth),
            _ => false,
        }
    }
}

fn inner_takes_kind(one: &DataType, kind: ValueKind, depth: usize) -> bool {
    one.takes_kind(kind, depth + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puppet::types::parse;

    #[test]
    fn a_type_takes_the_kinds_of_its_values() {
        for (text, kinds) in [
            ("Any", "Text List Hash"),
            ("Data", "Text List Hash"),
            ("String[20]", "Text"),
            ("Enum[a]", "Text"),
            ("Optional[Array]", "List"),
            ("Variant[Numeric, Struct[{a => String}]]", "Hash"),
            ("Collection", "List Hash"),
            ("Sensitive[String]", ""),
            ("Integer", ""),
            ("Undef", ""),
        ] {
            let data_type = parse(text).expect("a type");
            let taken = [ValueKind::Text, ValueKind::List, ValueKind::Hash].into_iter();
            let taken: Vec<String> = taken
                .filter(|kind| data_type.may_take(*kind))
                .map(|it| format!("{it:?}"))
                .collect();
            assert_eq!(taken.join(" "), kinds, "{text}");
        }
    }
}
