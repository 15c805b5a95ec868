//! Hiera's values: data with the place where each part of it was written.
//!
//! A [`Value`] is cheap to clone (collections and strings are shared) and equal to another when
//! Ruby's `eql?` holds: `1`, `1.0` and `"1"` all differ, hashes compare without regard to order,
//! and origins do not count.
//!
//! Each value carries marks that say whether and why it must not be shown ([`Secrecy`]). A value
//! can only be made with a [`Provenance`], which holds the marks: code that derives a value from
//! others takes the provenance of those. [`Provenance::from_source`] is for values that come straight
//! from a file or a request; `tests/architecture.rs` lists the modules that may call it.

use std::hash::{DefaultHasher, Hash as StdHash, Hasher};
use std::sync::Arc;

use indexmap::Equivalent;

use super::rich::Rich;
use crate::text::work::{Work, count_work};
use crate::text::{SmallMap, Span};

mod provenance;

pub use provenance::{Provenance, Secrecy};

/// A value, where it was written, and why it must not be shown.
#[derive(Clone, Debug)]
pub struct Value {
    data: Data,
    /// Where the value was written; `None` for values that no file holds (facts, defaults given on
    /// the command line).
    pub origin: Option<Span>,
    /// How many parts the value has, itself included.
    weight: u32,
    /// The maximum nesting of collections.
    depth: u16,
    marks: Marks,
}

/// Properties of a value with all of its parts, in one byte: a fleet has many values.
#[derive(Clone, Copy, Debug)]
struct Marks(u8);

impl Marks {
    /// Returns the marks of a value of which the secrecy is that of the value as a whole, which each
    /// of its parts and keys has, too, and that of the value and all of its parts.
    fn new(is_live: bool, is_legal: bool, whole: Secrecy, within: Secrecy) -> Marks {
        let secrecy = whole.bits() << 2 | within.bits() << 4;
        Marks(u8::from(is_live) | u8::from(is_legal) << 1 | secrecy)
    }

    fn is_live(self) -> bool {
        self.0 & 1 != 0
    }

    fn is_legal(self) -> bool {
        self.0 & 2 != 0
    }

    fn whole_secrecy(self) -> Secrecy {
        Secrecy::from_bits(self.0 >> 2)
    }

    fn parts_secrecy(self) -> Secrecy {
        Secrecy::from_bits(self.0 >> 4)
    }
}

/// The types that a value can have. Types that YAML cannot express come from `convert_to` or from
/// functions.
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
    /// A Ruby symbol, as in `k: :foo`. `:default` and `:undef` are Puppet's own; any other is no
    /// legal value, but a file may hold it under a key that is never looked up.
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
pub type Hash = SmallMap<Key, Member>;

/// A key of a hash: any value, though only strings and numbers are legal in a value that is looked
/// up. It carries marks as a [`Value`] does.
#[derive(Clone, Debug)]
pub struct Key {
    data: Data,
    secrecy: Secrecy,
}

/// The member of a hash under a key.
#[derive(Clone, Debug)]
pub struct Member {
    /// Where the key was written.
    pub key_origin: Option<Span>,
    /// The member's value.
    pub value: Value,
}

impl Value {
    /// Returns a value made of `data`. A provenance with marks marks all parts of `data`; a hash
    /// with a secret key is secret as a whole.
    pub fn new(data: Data, from: Provenance) -> Value {
        let mut live = false;
        let mut legal = true;
        let mut inner_depth = 0;
        let mut weight = 1u32;
        let mut is_collection = true;
        let mut within = Secrecy::NONE;
        let mut whole = from.secrecy();
        let mut add = |part: &Value| {
            live |= part.is_live();
            legal &= part.is_legal();
            inner_depth = inner_depth.max(part.depth);
            weight = weight.saturating_add(part.weight);
            within = within.union(part.secrecy_of_parts());
        };
        match &data {
            Data::Array(items) => items.iter().for_each(&mut add),
            Data::Hash(hash) => {
                hash.values().for_each(|member| add(&member.value));
                for key in hash.keys() {
                    live |= key.is_live();
                    legal &= key.is_legal();
                    whole = whole.union(key.secrecy);
                    weight = weight.saturating_add(key.weight());
                }
            }
            Data::Sensitive(inner) => {
                inner_depth = inner.depth;
                weight = weight.saturating_add(inner.weight);
                within = inner.secrecy_of_parts();
            }
            Data::String(text) => {
                is_collection = false;
                live = text.contains("%{");
                weight = text_weight(text.len());
            }
            data => {
                is_collection = false;
                legal = !matches!(data, Data::Symbol(name) if !is_literal(name));
            }
        }
        let depth = if is_collection { inner_depth.saturating_add(1) } else { 0 };
        let marks = Marks::new(live, legal, Secrecy::NONE, within);
        let value = Value { data, origin: from.origin(), weight, depth, marks };
        if whole.is_any() { value.into_secret(whole) } else { value }
    }

    /// Returns `null`.
    pub fn new_null(origin: Option<Span>) -> Value {
        Value::new(Data::Null, Provenance::from_source(origin))
    }

    /// Returns a string.
    pub fn new_string(text: &str, from: Provenance) -> Value {
        Value::new(Data::String(text.into()), from)
    }

    /// Returns a string that a fact, a setting or an argument gives: no file holds it, and it was
    /// not decrypted.
    pub fn from_argument(text: &str) -> Value {
        Value::new_string(text, Provenance::from_source(None))
    }

    /// Returns a list.
    pub fn new_array(items: Vec<Value>, from: Provenance) -> Value {
        Value::new(Data::Array(Arc::new(items)), from)
    }

    /// Returns a hash.
    pub fn hash(hash: Hash, from: Provenance) -> Value {
        Value::new(Data::Hash(Arc::new(hash)), from)
    }

    /// Returns a list whose marks are those of its elements.
    pub fn array_of(items: Vec<Value>, origin: Option<Span>) -> Value {
        Value::new_array(items, Provenance::from_source(origin))
    }

    /// Returns a hash whose marks are those of its keys and values.
    pub fn hash_of(hash: Hash, origin: Option<Span>) -> Value {
        Value::hash(hash, Provenance::from_source(origin))
    }

    /// Returns the data, for reading.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Returns the data and the provenance that each value made of it must take over.
    pub fn into_parts(self) -> (Data, Provenance) {
        let from = self.provenance();
        (self.data, from)
    }

    /// Returns the provenance for a value that takes over this one's data or its parts. The
    /// provenance of a list with only some secret elements is not secret: the elements carry their
    /// own marks.
    pub fn provenance(&self) -> Provenance {
        Provenance::new(self.origin, self.secrecy())
    }

    /// Returns the provenance for a value that is made of all that this one holds, as its text is:
    /// with the marks of all parts.
    pub fn provenance_of_parts(&self) -> Provenance {
        Provenance::new(self.origin, self.secrecy_of_parts())
    }

    /// Whether interpolation could change the value: a string in it, a key included, contains `%{`.
    pub fn is_live(&self) -> bool {
        self.marks.is_live()
    }

    /// Whether the value may be looked up: symbols but `:default` and `:undef`, and hashes with
    /// keys that are none of these, no strings and no numbers, may not.
    ///
    /// Source: semantics 3.4.
    pub fn is_legal(&self) -> bool {
        self.marks.is_legal()
    }

    /// Returns the maximum nesting of collections; recursion over the value needs a stack for that
    /// many.
    pub fn depth(&self) -> u16 {
        self.depth
    }

    /// Returns the size of the value in parts: each scalar, list and hash is one, a long string one
    /// more for each 64 bytes. A shared value counts as often as it occurs, as it would be printed.
    /// Work over the whole value costs this many parts. Not more than `u32::MAX`.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Returns the value with these marks on itself and on all of its parts.
    pub fn into_secret(mut self, marks: Secrecy) -> Value {
        let whole = self.secrecy().union(marks);
        if self.secrecy() == whole {
            return self;
        }
        let within = self.secrecy_of_parts().union(marks);
        self.marks = Marks::new(self.is_live(), self.is_legal(), whole, within);
        match &mut self.data {
            Data::Array(items) => {
                Arc::make_mut(items).iter_mut().for_each(|item| item.mark_secret(marks));
            }
            Data::Hash(hash) => {
                let marked =
                    std::mem::take(Arc::make_mut(hash)).into_iter().map(|(key, member)| {
                        let value = member.value.into_secret(marks);
                        let secrecy = key.secrecy.union(marks);
                        (Key { secrecy, ..key }, Member { value, ..member })
                    });
                *hash = Arc::new(marked.collect());
            }
            Data::Sensitive(inner) => Arc::make_mut(inner).mark_secret(marks),
            _ => {}
        }
        self
    }

    fn mark_secret(&mut self, marks: Secrecy) {
        *self = std::mem::replace(self, Value::new_null(None)).into_secret(marks);
    }

    /// Returns the reason why all of the value must not be shown.
    pub fn secrecy(&self) -> Secrecy {
        self.marks.whole_secrecy()
    }

    /// Returns the reason why the value, or some part of it, must not be shown.
    pub fn secrecy_of_parts(&self) -> Secrecy {
        self.marks.parts_secrecy()
    }

    /// Whether all of the value must not be shown.
    pub fn is_secret(&self) -> bool {
        self.secrecy().is_any()
    }

    /// Whether the value or some part of it must not be shown.
    pub fn holds_secret(&self) -> bool {
        self.secrecy_of_parts().is_any()
    }

    /// Returns the string, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the list, if the value is one.
    pub fn as_array(&self) -> Option<&[Value]> {
        match &self.data {
            Data::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the hash, if the value is one.
    pub fn as_hash(&self) -> Option<&Hash> {
        match &self.data {
            Data::Hash(hash) => Some(hash),
            _ => None,
        }
    }

    /// Returns the member of a hash under a string key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_hash()?.get(key).map(|member| &member.value)
    }

    /// Returns the same value with another origin.
    pub fn with_origin(mut self, origin: Option<Span>) -> Value {
        self.origin = origin;
        self
    }
}

/// Returns the parts that a string of so many bytes counts for.
fn text_weight(bytes: usize) -> u32 {
    u32::try_from(bytes / 64).unwrap_or(u32::MAX).saturating_add(1)
}

/// A text of the program's own, which cannot have been decrypted.
impl From<&'static str> for Value {
    fn from(text: &'static str) -> Value {
        Value::new_string(text, Provenance::from_source(None))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        count_work(Work::Compare);
        self.data == other.data
    }
}

impl Eq for Value {}

impl StdHash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.data.hash(state);
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::Null, Data::Null) => true,
            (Data::Bool(a), Data::Bool(b)) => a == b,
            (Data::Integer(a), Data::Integer(b)) => a == b,
            // All not-a-numbers of YAML are one object, which equals itself.
            (Data::Float(a), Data::Float(b)) => a == b || a.is_nan() && b.is_nan(),
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

impl StdHash for Data {
    // Strings hash as `str` does, so that a hash can be asked with a `&str`.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Data::String(text) => text.hash(state),
            Data::Null => 0u8.hash(state),
            Data::Bool(value) => value.hash(state),
            Data::Integer(value) => value.hash(state),
            Data::BigInteger(digits) => (1u8, digits).hash(state),
            Data::Float(value) => {
                let value = match value {
                    _ if *value == 0.0 => 0.0,
                    _ if value.is_nan() => f64::NAN,
                    value => *value,
                };
                (2u8, value.to_bits()).hash(state)
            }
            Data::Symbol(text) => (3u8, text).hash(state),
            Data::Binary(bytes) => bytes.hash(state),
            Data::Array(items) => {
                state.write_usize(items.len());
                items.iter().for_each(|item| item.hash(state));
            }
            // The order of the members must not count, so their hashes are summed.
            Data::Hash(hash) => {
                (
                    4u8,
                    hash.len(),
                    hash.iter()
                        .map(|(key, member)| {
                            let mut own = DefaultHasher::new();
                            key.hash(&mut own);
                            member.value.hash(&mut own);
                            own.finish()
                        })
                        .fold(0, u64::wrapping_add),
                )
                    .hash(state);
            }
            Data::Sensitive(value) => value.hash(state),
            // Versions with different builds may be equal, and ranges with different texts may be
            // equal: only the kind is sure to be the same.
            Data::Rich(rich) => rich.type_name().hash(state),
        }
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        self.value == other.value
    }
}

impl Eq for Member {}

impl Key {
    /// Returns a key made of `data`.
    pub fn new(data: Data, from: Provenance) -> Key {
        Key { data, secrecy: from.secrecy() }
    }

    /// Returns a string key that is not made of other values.
    pub fn new_string(text: &str) -> Key {
        Key::new(Data::String(text.into()), Provenance::from_source(None))
    }

    /// How much the key holds, as [`Value::weight`] counts; a key that is no string counts as one.
    fn weight(&self) -> u32 {
        match &self.data {
            Data::String(text) => text_weight(text.len()),
            _ => 1,
        }
    }

    /// Returns the data, for reading.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Returns the key as a value; `origin` is where it was written.
    pub fn to_value(&self, origin: Option<Span>) -> Value {
        Value::new(self.data.clone(), Provenance::new(origin, self.secrecy))
    }

    /// Returns the reason why the key must not be shown.
    pub fn secrecy(&self) -> Secrecy {
        self.secrecy
    }

    /// Returns the key, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the string that the key is, if it is one, to be shared.
    pub fn as_arc(&self) -> Option<&Arc<str>> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the key contains a token: in its text, or in a part of the list or hash that an
    /// alias has made of it.
    pub fn is_live(&self) -> bool {
        match &self.data {
            Data::String(text) => text.contains("%{"),
            Data::Array(items) => items.iter().any(Value::is_live),
            Data::Hash(hash) => {
                hash.iter().any(|(key, member)| key.is_live() || member.value.is_live())
            }
            _ => false,
        }
    }

    fn is_legal(&self) -> bool {
        match &self.data {
            Data::String(_) | Data::Integer(_) | Data::BigInteger(_) => true,
            Data::Float(value) => !value.is_nan(),
            Data::Symbol(name) => is_literal(name),
            _ => false,
        }
    }
}

/// Whether a symbol stands for the literal `default` or `undef` of Puppet's language.
fn is_literal(symbol: &str) -> bool {
    matches!(symbol, "default" | "undef")
}

/// The value as a key, with its marks.
impl From<Value> for Key {
    fn from(value: Value) -> Key {
        Key { secrecy: value.secrecy_of_parts(), data: value.data }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.data == other.data
    }
}

impl Eq for Key {}

impl StdHash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.data.hash(state);
    }
}

impl Equivalent<Key> for str {
    fn equivalent(&self, key: &Key) -> bool {
        key.as_str() == Some(self)
    }
}

impl Equivalent<Key> for i64 {
    fn equivalent(&self, key: &Key) -> bool {
        matches!(key.data, Data::Integer(number) if number == *self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash_of(key: Key, value: Value) -> Value {
        let member = Member { key_origin: None, value };
        Value::hash(Hash::from_iter([(key, member)]), Provenance::from_source(None))
    }

    fn secret() -> Value {
        Value::from("x").into_secret(Secrecy::DECRYPTED)
    }

    #[test]
    fn a_value_is_small() {
        assert!(size_of::<Value>() <= 48 && size_of::<Member>() <= 64);
    }

    #[test]
    fn equality_is_rubys() {
        let key = |data| Key::new(data, Provenance::from_source(None));
        assert_ne!(key(Data::Integer(1)), key(Data::Float(1.0)));
        assert_ne!(key(Data::Integer(1)), Key::new_string("1"));
        assert_eq!(hash_of(Key::new_string("a"), "x".into()).get("a"), Some(&"x".into()));
    }

    #[test]
    fn a_derived_value_keeps_the_mark() {
        let (data, from) = secret().into_parts();
        assert!(Value::new(data, from).is_secret());
        let (data, from) = Value::from("y").into_parts();
        assert!(Value::new(data, from.with_marks(secret().provenance())).is_secret());
        assert!(Key::from(secret()).to_value(None).is_secret());
    }

    #[test]
    fn a_secret_element_marks_the_list_in_part() {
        let list = Value::new_array(vec![secret(), "y".into()], Provenance::from_source(None));
        assert!(list.holds_secret() && !list.is_secret());
        assert!(list.provenance_of_parts().is_secret() && !list.provenance().is_secret());
        assert!(!list.as_array().expect("a list")[1].holds_secret());
    }

    #[test]
    fn both_marks_are_kept() {
        let both = secret().into_secret(Secrecy::SENSITIVE);
        assert_eq!(both.secrecy(), Secrecy { decrypted: true, sensitive: true });
        let list = Value::array_of(vec![secret(), "y".into()], None);
        let list = list.into_secret(Secrecy::SENSITIVE);
        assert_eq!(list.secrecy(), Secrecy::SENSITIVE);
        assert_eq!(list.secrecy_of_parts(), both.secrecy());
        assert_eq!(list.as_array().expect("a list")[0].secrecy(), both.secrecy());
    }

    #[test]
    fn a_secret_key_marks_all_of_its_hash() {
        let hash = hash_of(Key::from(secret()), hash_of(Key::new_string("a"), "y".into()));
        assert!(hash.is_secret());
        let inner = hash.get("x").expect("the key is equal to its text");
        assert!(inner.is_secret() && inner.get("a").expect("it is there").is_secret());
    }
}
