//! Hiera's values: data with the place where each part of it was written.
//!
//! A [`Value`] is cheap to clone (collections and strings are shared) and equal to another when Ruby's `eql?` says so:
//! `1`, `1.0` and `"1"` all differ, hashes compare without regard to order, and origins do not count.

use std::hash::{DefaultHasher, Hash as StdHash, Hasher};
use std::sync::Arc;

use indexmap::{Equivalent, IndexMap};

use super::rich::Rich;
use crate::text::Span;

mod ruby;

pub use ruby::{float_text, inspect, inspected};

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Value {
    /// The value itself.
    pub data: Data,
    /// Where this part was written; `None` for what no file holds (facts, defaults given on the command line).
    pub origin: Option<Span>,
    /// Whether some string in it, a key included, contains `%{`: all others need no interpolation.
    live: bool,
    /// Whether it is data in Puppet's sense: no symbol in it, and only strings and numbers as keys.
    legal: bool,
    /// How many collections are within each other at most.
    depth: u16,
    /// Whether it was made of decrypted text.
    secrecy: Secrecy,
}

/// How far a value comes from decrypted text. Wherever a value goes, it takes this along, so that only whoever prints it need ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secrecy {
    /// Not at all.
    None,
    /// Some part of it does.
    Within,
    /// All of it does.
    Whole,
}

/// The types that a value can have. What YAML cannot express comes from `convert_to` or from functions.
#[derive(Clone, Debug)]
pub enum Data {
    /// `null`, Puppet's `undef`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Integer(i64),
    /// A longer integer, in decimal digits.
    BigInteger(Arc<str>),
    /// A float, infinities and not-a-number included.
    Float(f64),
    /// A string.
    String(Arc<str>),
    /// A Ruby symbol: what `k: :foo` is. Not a legal value, but a file may hold it under a key nobody asks for.
    Symbol(Arc<str>),
    /// Bytes that are not UTF-8 (`!!binary`).
    Binary(Arc<[u8]>),
    /// A list.
    Array(Arc<Vec<Value>>),
    /// A hash.
    Hash(Arc<Hash>),
    /// A value that must not be shown.
    Sensitive(Arc<Value>),
    /// A value that only `convert_to` makes.
    Rich(Arc<Rich>),
}

/// A hash in Ruby's order: an overwritten key keeps its place.
pub type Hash = IndexMap<Key, Member, foldhash::fast::RandomState>;

/// A key of a hash: any value, though only strings and numbers are legal in a value that is looked up.
#[derive(Clone, Debug)]
pub struct Key(pub Data);

/// What a hash holds under a key.
#[derive(Clone, Debug)]
pub struct Member {
    /// Where the key was written.
    pub key_origin: Option<Span>,
    /// Its value.
    pub value: Value,
}

impl Value {
    /// A value that holds no other and no text.
    pub fn new(data: Data, origin: Option<Span>) -> Value {
        let live = match &data {
            Data::String(text) => text.contains("%{"),
            Data::Array(items) => items.iter().any(|item| item.live),
            Data::Hash(hash) => hash.iter().any(|(key, member)| key.is_live() || member.value.live),
            _ => false,
        };
        let legal = match &data {
            Data::Symbol(_) => false,
            Data::Array(items) => items.iter().all(|item| item.legal),
            Data::Hash(hash) => hash.iter().all(|(key, member)| key.is_legal() && member.value.legal),
            _ => true,
        };
        let holds_secret = match &data {
            Data::Array(items) => items.iter().any(Value::holds_secret),
            Data::Hash(hash) => hash.values().any(|member| member.value.holds_secret()),
            Data::Sensitive(value) => value.holds_secret(),
            _ => false,
        };
        let inner = match &data {
            Data::Array(items) => items.iter().map(|item| item.depth).max(),
            Data::Hash(hash) => hash.values().map(|member| member.value.depth).max(),
            Data::Sensitive(value) => Some(value.depth),
            _ => None,
        };
        let is_collection = matches!(data, Data::Array(_) | Data::Hash(_) | Data::Sensitive(_));
        let depth = if is_collection { inner.unwrap_or(0).saturating_add(1) } else { 0 };
        let secrecy = if holds_secret { Secrecy::Within } else { Secrecy::None };
        Value { data, origin, live, legal, depth, secrecy }
    }

    /// `null`.
    pub fn null(origin: Option<Span>) -> Value {
        Value::new(Data::Null, origin)
    }

    /// A string.
    pub fn string(text: &str, origin: Option<Span>) -> Value {
        Value::new(Data::String(text.into()), origin)
    }

    /// A list.
    pub fn array(items: Vec<Value>, origin: Option<Span>) -> Value {
        Value::new(Data::Array(Arc::new(items)), origin)
    }

    /// A hash.
    pub fn hash(hash: Hash, origin: Option<Span>) -> Value {
        Value::new(Data::Hash(Arc::new(hash)), origin)
    }

    /// Whether interpolation could change it.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Whether it may be looked up: symbols, and hashes with keys that are no strings or numbers, may not.
    ///
    /// Source: semantics 3.4.
    pub fn is_legal(&self) -> bool {
        self.legal
    }

    /// How many collections are within each other at most; whoever walks through a value needs a stack for that many.
    pub fn depth(&self) -> u16 {
        self.depth
    }

    /// The same value, said to be made of decrypted text.
    pub fn into_secret(mut self) -> Value {
        self.secrecy = Secrecy::Whole;
        self
    }

    /// Whether all of it must be kept from view, as it was made of decrypted text.
    pub fn is_secret(&self) -> bool {
        self.secrecy == Secrecy::Whole
    }

    /// Whether it or some part of it was made of decrypted text.
    pub fn holds_secret(&self) -> bool {
        self.secrecy != Secrecy::None
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub fn as_array(&self) -> Option<&[Value]> {
        match &self.data {
            Data::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The hash, if it is one.
    pub fn as_hash(&self) -> Option<&Hash> {
        match &self.data {
            Data::Hash(hash) => Some(hash),
            _ => None,
        }
    }

    /// The member of a hash under a string key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_hash()?.get(key).map(|member| &member.value)
    }

    /// The same value, said to be written elsewhere.
    pub fn with_origin(mut self, origin: Option<Span>) -> Value {
        self.origin = origin;
        self
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::string(text, None)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.data == other.data
    }
}

impl Eq for Value {}

impl StdHash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Key::hash_data(&self.data, state);
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::Null, Data::Null) => true,
            (Data::Bool(a), Data::Bool(b)) => a == b,
            (Data::Integer(a), Data::Integer(b)) => a == b,
            (Data::Float(a), Data::Float(b)) => a == b,
            (Data::BigInteger(a), Data::BigInteger(b))
            | (Data::String(a), Data::String(b))
            | (Data::Symbol(a), Data::Symbol(b)) => a == b,
            (Data::Binary(a), Data::Binary(b)) => a == b,
            (Data::Array(a), Data::Array(b)) => Arc::ptr_eq(a, b) || a == b,
            (Data::Hash(a), Data::Hash(b)) => Arc::ptr_eq(a, b) || a == b,
            (Data::Sensitive(a), Data::Sensitive(b)) => a == b,
            (Data::Rich(a), Data::Rich(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Data {}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        self.value == other.value
    }
}

impl Eq for Member {}

impl Key {
    /// A string key.
    pub fn string(text: &str) -> Key {
        Key(Data::String(text.into()))
    }

    /// The key, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// The string that it is, if it is one, to be shared.
    pub fn as_arc(&self) -> Option<&Arc<str>> {
        match &self.0 {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    fn is_live(&self) -> bool {
        self.as_str().is_some_and(|text| text.contains("%{"))
    }

    fn is_legal(&self) -> bool {
        matches!(self.0, Data::String(_) | Data::Integer(_) | Data::BigInteger(_) | Data::Float(_))
    }

    // Strings hash as `str` does, so that a hash can be asked with a `&str`.
    fn hash_data<H: Hasher>(data: &Data, state: &mut H) {
        match data {
            Data::String(text) => text.hash(state),
            Data::Null => 0u8.hash(state),
            Data::Bool(value) => value.hash(state),
            Data::Integer(value) => value.hash(state),
            Data::BigInteger(digits) => (1u8, digits).hash(state),
            Data::Float(value) => (2u8, if *value == 0.0 { 0 } else { value.to_bits() }).hash(state),
            Data::Symbol(text) => (3u8, text).hash(state),
            Data::Binary(bytes) => bytes.hash(state),
            Data::Array(items) => {
                state.write_usize(items.len());
                items.iter().for_each(|item| item.hash(state));
            }
            // Order must not count: the sum of what each member gives by itself.
            Data::Hash(hash) => {
                let member = |(key, member): (&Key, &Member)| {
                    let mut own = DefaultHasher::new();
                    key.hash(&mut own);
                    member.value.hash(&mut own);
                    own.finish()
                };
                (4u8, hash.len(), hash.iter().map(member).fold(0, u64::wrapping_add)).hash(state);
            }
            Data::Sensitive(value) => value.hash(state),
            // Versions with other builds, ranges with other texts may be equal: only the kind is sure to be the same.
            Data::Rich(rich) => rich.type_name().hash(state),
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.0 == other.0
    }
}

impl Eq for Key {}

impl StdHash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Key::hash_data(&self.0, state);
    }
}

impl Equivalent<Key> for str {
    fn equivalent(&self, key: &Key) -> bool {
        key.as_str() == Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_rubys() {
        let key = |data| Key(data);
        assert_ne!(key(Data::Integer(1)), key(Data::Float(1.0)));
        assert_ne!(key(Data::Integer(1)), Key::string("1"));
        let one = Value::hash([(Key::string("a"), Member { key_origin: None, value: "x".into() })].into_iter().collect(), None);
        assert_eq!(one.get("a"), Some(&"x".into()));
    }
}
