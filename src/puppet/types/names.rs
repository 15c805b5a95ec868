//! Type aliases that modules define: `type NAME = TYPE`.
//!
//! A [`TypeTable`] reads types whose names [`TypeNames`] knows, and keeps each alias that it has
//! read. A type holds its aliases by weak references, as an alias may be part of itself; they live
//! as long as the table. Source: `PTypeAliasType`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use super::parse::{NameResolver, parse_naming};
use super::{DataType, TypeSyntaxError};

use DataType as T;

/// The meanings of names that are no types of Puppet's own.
pub trait TypeNames {
    /// Returns the meaning of a name, given in lower case.
    fn type_named(&self, name: &str) -> NamedType;
}

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedType {
    /// An alias.
    Alias {
        /// The alias's name as declared.
        name: String,
        /// The text of the type that the alias stands for.
        text: String,
    },
    /// A type that only Puppet can judge, such as one that is defined in Ruby.
    Opaque,
    /// No alias or type that is known here.
    Unknown,
}

/// The aliases that were read.
#[derive(Debug, Default)]
pub struct TypeTable {
    /// Aliases whose targets have been read completely.
    known: RwLock<HashMap<String, Arc<AliasType>>>,
    /// Held while aliases are read, so that each is read once.
    reading: Mutex<()>,
    /// Types by their texts; those that cannot be judged are `None`.
    judged: RwLock<HashMap<String, Option<Arc<DataType>>>>,
}

/// An alias and its target.
#[derive(Debug)]
struct AliasType {
    name: Arc<str>,
    /// Empty while the alias is being read.
    target: OnceLock<DataType>,
    /// Whether the alias is part of itself; computed once all that it names is read.
    recursive: OnceLock<bool>,
    weight: OnceLock<u64>,
}

/// An alias as a part of a type. Equal to every alias of the same name.
#[derive(Clone, Debug)]
pub struct NamedAlias {
    name: Arc<str>,
    alias: Weak<AliasType>,
}

impl PartialEq for NamedAlias {
    fn eq(&self, other: &NamedAlias) -> bool {
        self.name == other.name
    }
}

/// How many aliases may lead to each other before a type is left to Puppet.
pub(super) const MAX_ALIASES: usize = 40;
/// How many parts a type may have, aliases written out.
const MAX_WEIGHT: u64 = 20_000;

impl TypeTable {
    /// Reads a type. A name that is not known becomes [`DataType::Reference`]; a type that is too
    /// long, and an alias that stands for nothing but itself, [`DataType::Undecided`].
    ///
    /// Errors: the text is no type.
    pub fn parse(&self, text: &str, names: &dyn TypeNames) -> Result<DataType, TypeSyntaxError> {
        let data_type = parse_naming(text, &Outermost { table: self, names })?;
        let is_short = count_parts(&data_type, &mut Vec::new()) <= MAX_WEIGHT;
        Ok(if is_short { data_type } else { T::Undecided(text.to_owned()) })
    }

    /// Returns the type that a text stands for, if values can be held against it here: all names in
    /// it are known, and nothing of it is left to Puppet. Read once.
    pub fn judged_type(&self, text: &str, names: &dyn TypeNames) -> Option<Arc<DataType>> {
        let known = self.judged.read().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = self
            .parse(text, names)
            .ok()
            .filter(|found| found.undecided_part().is_none() && found.unresolved_name().is_none())
            .map(Arc::new);
        let mut judged = self.judged.write().unwrap_or_else(PoisonError::into_inner);
        judged.insert(text.to_owned(), found.clone());
        found
    }

    fn known_alias(&self, name: &str) -> Option<Arc<AliasType>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

/// Names in the text of a type that a caller asked for.
struct Outermost<'a> {
    table: &'a TypeTable,
    names: &'a dyn TypeNames,
}

impl NameResolver for Outermost<'_> {
    fn resolve(&self, name: &str, written: &str) -> DataType {
        let lower = name.to_ascii_lowercase();
        if let Some(alias) = self.table.known_alias(&lower) {
            return T::Named(NamedAlias::to_alias(&alias));
        }
        let _reading = self.table.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = RefCell::default();
        let within = Within { table: self.table, names: self.names, begun: &begun, depth: 0 };
        let found = within.resolve(name, written);
        let mut known = self.table.known.write().unwrap_or_else(PoisonError::into_inner);
        known.extend(begun.into_inner());
        found
    }
}

/// Names in the text of an alias, while the aliases that lead there are being read.
struct Within<'a> {
    table: &'a TypeTable,
    names: &'a dyn TypeNames,
    begun: &'a RefCell<HashMap<String, Arc<AliasType>>>,
    /// How many aliases led here.
    depth: usize,
}

impl NameResolver for Within<'_> {
    fn resolve(&self, name: &str, written: &str) -> DataType {
        let lower = name.to_ascii_lowercase();
        let known =
            self.table.known_alias(&lower).or_else(|| self.begun.borrow().get(&lower).cloned());
        if let Some(alias) = known {
            return T::Named(NamedAlias::to_alias(&alias));
        }
        match self.names.type_named(&lower) {
            NamedType::Alias { name, text } if self.depth < MAX_ALIASES => {
                self.read(lower, &name, &text)
            }
            NamedType::Alias { .. } | NamedType::Opaque => T::Undecided(written.to_owned()),
            NamedType::Unknown => T::Reference(written.to_owned()),
        }
    }
}

impl Within<'_> {
    fn read(&self, lower: String, name: &str, text: &str) -> DataType {
        let alias = Arc::new(AliasType {
            name: name.into(),
            target: OnceLock::new(),
            recursive: OnceLock::new(),
            weight: OnceLock::new(),
        });
        self.begun.borrow_mut().insert(lower, alias.clone());
        let within = Within { depth: self.depth + 1, ..*self };
        let read = parse_naming(text, &within).ok().and_then(|read| read.normalize().ok());
        let target = read.and_then(|read| alias.without_itself(read));
        // The check of a value against a target that leads back would return to the alias with the
        // same value for ever.
        let target = target.filter(|target| !leads_back(target, name, &mut Vec::new()));
        let _ = alias.target.set(target.unwrap_or_else(|| T::Undecided(name.to_owned())));
        T::Named(NamedAlias::to_alias(&alias))
    }
}

impl AliasType {
    /// Returns the type that the alias stands for, without the variants that are nothing but the
    /// alias itself; `None` where nothing else is left.
    fn without_itself(&self, read: DataType) -> Option<DataType> {
        match read {
            T::Variant(types) => {
                let real: Vec<DataType> =
                    types.into_iter().filter(|one| self.is_real_type(one)).collect();
                (!real.is_empty()).then(|| T::variant_type(real))
            }
            other => self.is_real_type(&other).then_some(other),
        }
    }

    fn is_real_type(&self, one: &DataType) -> bool {
        !matches!(one, T::Named(named) if named.name == self.name)
            && has_other(one, &mut Vec::new())
    }
}

impl NamedAlias {
    fn to_alias(alias: &Arc<AliasType>) -> NamedAlias {
        NamedAlias { name: alias.name.clone(), alias: Arc::downgrade(alias) }
    }

    /// The alias's name as declared.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the type that the alias stands for. While the alias is being read, and after its
    /// table is dropped, that type is undecided.
    pub fn target_type(&self) -> DataType {
        self.with_target(DataType::clone)
    }

    /// Returns the answer of `ask` for the type that the alias stands for.
    pub(super) fn with_target<R>(&self, ask: impl FnOnce(&DataType) -> R) -> R {
        let alias = self.alias.upgrade();
        match alias.as_ref().and_then(|alias| alias.target.get()) {
            Some(target) => ask(target),
            None => ask(&T::Undecided(self.name.to_string())),
        }
    }

    /// Whether the alias is part of itself.
    pub(super) fn is_recursive(&self) -> bool {
        let Some(alias) = self.alias.upgrade() else { return false };
        let Some(target) = alias.target.get() else { return false };
        *alias.recursive.get_or_init(|| leads_to(target, &self.name, &mut Vec::new()))
    }
}

/// Whether an alias is part of a type.
fn leads_to(one: &DataType, name: &str, seen: &mut Vec<Arc<str>>) -> bool {
    match one {
        T::Named(alias) if &*alias.name == name => true,
        T::Named(alias) if seen.contains(&alias.name) => false,
        T::Named(alias) => {
            seen.push(alias.name.clone());
            alias.with_target(|target| leads_to(target, name, seen))
        }
        _ => one.inner_types().into_iter().any(|part| leads_to(part, name, seen)),
    }
}

/// Whether a type holds anything but aliases and variants.
fn has_other(one: &DataType, seen: &mut Vec<Arc<str>>) -> bool {
    match one {
        T::Named(alias) if seen.contains(&alias.name) => false,
        T::Named(alias) => {
            seen.push(alias.name.clone());
            alias.with_target(|target| has_other(target, seen))
        }
        T::Variant(types) => types.iter().any(|one| has_other(one, seen)),
        _ => true,
    }
}

/// Whether a check of a value against the type checks the same value against an alias.
fn leads_back(one: &DataType, name: &str, seen: &mut Vec<Arc<str>>) -> bool {
    match one {
        T::Named(alias) if &*alias.name == name => true,
        T::Named(alias) if seen.contains(&alias.name) => false,
        T::Named(alias) => {
            seen.push(alias.name.clone());
            alias.with_target(|target| leads_back(target, name, seen))
        }
        // To check a value against an iterable, Puppet asks whether the element type accepts `Any`,
        // which asks the aliases in that type.
        T::Variant(_) | T::Optional(_) | T::NotUndef(_) | T::Iterable(_) | T::Iterator(_) => {
            one.inner_types().into_iter().any(|part| leads_back(part, name, seen))
        }
        _ => false,
    }
}

/// Returns how many parts a type has, aliases written out.
fn count_parts(one: &DataType, path: &mut Vec<Arc<str>>) -> u64 {
    match one {
        T::Named(alias) if path.contains(&alias.name) => 1,
        T::Named(alias) => {
            let Some(known) = alias.alias.upgrade() else { return 1 };
            if let Some(weight) = known.weight.get() {
                return *weight;
            }
            path.push(alias.name.clone());
            let found = alias.with_target(|target| count_parts(target, path)).saturating_add(1);
            path.pop();
            *known.weight.get_or_init(|| found)
        }
        _ => one
            .inner_types()
            .into_iter()
            .map(|part| count_parts(part, path))
            .fold(1, u64::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puppet::types::check_parameter;
    use crate::puppet::types::parse::NoNames;
    use crate::puppet::value::Value;

    struct Chain;

    /// `t0` to `t99`: each is twice the one before it.
    impl TypeNames for Chain {
        fn type_named(&self, name: &str) -> NamedType {
            let alias = |text: String| NamedType::Alias { name: name.to_uppercase(), text };
            match name {
                "tn" => alias("Integer".to_owned()),
                "ruby" => NamedType::Opaque,
                "a" => alias("Variant[Integer, B]".to_owned()),
                "b" => alias("Variant[String, A]".to_owned()),
                "left" => alias("Variant[Integer, Array[Left]]".to_owned()),
                "right" => alias("Variant[Integer, Array[Right]]".to_owned()),
                "other" => alias("Variant[String, Array[Other]]".to_owned()),
                _ => match name.strip_prefix('t').and_then(|number| number.parse().ok()) {
                    Some(0) => alias("Integer".to_owned()),
                    Some(number) if number < 100_u32 => {
                        let below = number - 1;
                        alias(format!("Variant[T{below}, Array[T{below}]]"))
                    }
                    _ => NamedType::Unknown,
                },
            }
        }
    }

    #[test]
    fn what_cannot_be_judged_is_left_to_puppet() {
        let table = TypeTable::default();
        let is_judged = |text: &str| table.judged_type(text, &Chain).is_some();
        assert!(is_judged("T8") && is_judged("Array[Tn]") && is_judged("Hash[String, T0]"));
        // These types are too long when written out, have too many aliases, are nothing but aliases
        // of each other, belong to Ruby, or are unknown.
        for text in ["T30", "T99", "A", "Optional[B]", "Ruby", "Array[Nope::It]", "T1[2]", "T1["] {
            assert!(!is_judged(text), "{text}");
        }
    }

    #[test]
    fn object_types_of_puppet_are_left_to_puppet() {
        for text in ["Error", "Target", "Array[Result]", "Pcore::Entity", "TypeAlias"] {
            let found = parse_naming(text, &NoNames).expect("a type");
            assert!(found.undecided_part().is_some(), "{text}");
        }
        let unknown = parse_naming("Results", &NoNames).expect("a type");
        assert_eq!(unknown.unresolved_name().as_deref(), Some("Results"));
    }

    #[test]
    fn aliases_are_shared_by_threads_and_outlive_none_of_them() {
        let table = TypeTable::default();
        let judge = || {
            let found = table.judged_type("T6", &Chain).expect("a type");
            check_parameter("x", &found, &Value::from("a")).len()
        };
        let counts: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(judge)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(counts.iter().all(|count| *count == counts[0] && *count > 0), "{counts:?}");
        let found = table.judged_type("T6", &Chain).unwrap();
        drop(table);
        assert_eq!(check_parameter("x", &found, &Value::from("a")), [], "nothing is claimed");
    }

    /// The answers of Puppet's `<=`.
    #[test]
    fn types_that_are_part_of_themselves_are_compared() {
        let table = TypeTable::default();
        let found = |text: &str| table.judged_type(text, &Chain).expect("a type");
        let is_below = |one: &str, other: &str| found(other).is_assignable(&found(one));
        assert!(is_below("Right", "Left") && is_below("Left", "Right"));
        assert!(is_below("Array[Right]", "Left"));
        assert!(!is_below("Other", "Left"));
    }
}
