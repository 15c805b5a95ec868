//! Puppet's data types: read from text, inferred from values, compared with each other, and held
//! against values.
//!
//! The description of a mismatch follows from the types alone, as in Puppet: the value's type is
//! inferred and described beside the expected one. Submodules: `parse` (text to type), `names`
//! (aliases of modules), `show` (type to text), `infer` (value to type), `assign` (which types and
//! values belong to a type), `sensitive` (which values are secrets), `normalize` (the simplest
//! form), `describe` (mismatches in Puppet's words), `check` (the wrong parts of a value).
//! `tests/puppet/types` compares verdicts and words with the real ones, recorded and at random.

use std::sync::{Arc, OnceLock};

use super::rich::pattern::RegexPattern;
use super::rich::semver::VersionRange;

mod assign;
mod check;
mod describe;
mod expression;
mod guard;
mod infer;
mod init;
mod kinds;
mod names;
mod normalize;
mod parse;
mod sensitive;
mod show;
mod signatures;
mod size;

pub(crate) use check::report;
pub use check::{WrongPart, WrongType, assert_type, check_parameter, check_partial, type_mismatch};
pub use expression::TypeSyntaxError;
pub use guard::Known;
pub use infer::{infer, infer_set};
pub use init::{InitType, init_of, resource_type};
pub use kinds::ValueKind;
pub use names::{NamedAlias, NamedType, TypeNames, TypeTable};
pub use parse::parse;
pub use sensitive::may_be_sensitive;
pub(crate) use signatures::describe_signatures;
pub use signatures::{ArgumentRefusal, Signature, refuse_arguments};

/// Parses a type of Puppet's own code.
pub(crate) fn parse_known(text: &str) -> DataType {
    parse(text).expect("a type that was written here")
}

/// A data type. `None` for a contained type means that Puppet writes no brackets.
#[derive(Clone, Debug, PartialEq)]
pub enum DataType {
    /// Everything.
    Any,
    /// The type of the elements of an empty collection: assignable to everything.
    Unit,
    /// `undef`.
    Undef,
    /// `default`.
    Default,
    /// Strings, numbers, booleans, regular expressions, times and versions.
    Scalar,
    /// Strings, numbers and booleans.
    ScalarData,
    /// Numbers.
    Numeric,
    /// An integer within bounds.
    Integer(Range<i128>),
    /// A float within bounds.
    Float(Range<f64>),
    /// A string.
    String(StringType),
    /// A boolean, or just one of the two.
    Boolean(Option<bool>),
    /// One of these strings.
    Enum {
        /// The strings, sorted.
        values: Vec<String>,
        /// Whether case does not count.
        fold: bool,
    },
    /// A string that matches one of these patterns.
    Pattern(Vec<Arc<RegexPattern>>),
    /// A regular expression, or just the contained one.
    Regexp(Option<Arc<RegexPattern>>),
    /// A version within one of these ranges.
    SemVer(Vec<VersionRange>),
    /// A range of versions.
    SemVerRange,
    /// A time within bounds, in nanoseconds.
    Timestamp(Range<i128>),
    /// A duration within bounds, in nanoseconds.
    Timespan(Range<i128>),
    /// Bytes.
    Binary,
    /// A URI.
    Uri,
    /// A list or a hash of so many.
    Collection(Size),
    /// A list.
    Array(Box<DataType>, Size),
    /// A hash.
    Hash(Box<DataType>, Box<DataType>, Size),
    /// A list with a type for each place; the last one repeats as the size allows.
    Tuple(Vec<DataType>, Size),
    /// A hash with these members.
    Struct(Vec<StructMember>),
    /// `undef`, or a value of the contained type.
    Optional(Option<Box<DataType>>),
    /// A value of the contained type, but not `undef`.
    NotUndef(Option<Box<DataType>>),
    /// A value of one of these types.
    Variant(Vec<DataType>),
    /// A sensitive value of this type.
    Sensitive(Box<DataType>),
    /// A type that is assignable to the contained type.
    Type(Option<Box<DataType>>),
    /// A value that can be iterated over.
    Iterable(Option<Box<DataType>>),
    /// A value that is being iterated over.
    Iterator(Option<Box<DataType>>),
    /// A value from which a type can be constructed; without brackets only.
    Init,
    /// One of Puppet's own aliases.
    Alias(Alias),
    /// An alias that a module defines.
    Named(NamedAlias),
    /// A name that one of Puppet's functions gives a type of its parameters.
    Local(&'static str, Arc<DataType>),
    /// A type that no value of data has.
    Foreign {
        /// The type's name.
        name: &'static str,
        /// The type as written.
        text: String,
    },
    /// A name that is no type of Puppet's own: perhaps a module's, which cannot be read here.
    Reference(String),
    /// A type that only Puppet can decide, as written: one that is defined on the spot, or that
    /// calls functions.
    Undecided(String),
}

/// The knowledge about a string.
#[derive(Clone, Debug, PartialEq)]
pub enum StringType {
    /// Nothing.
    Any,
    /// How many characters the string has.
    Length(Range<i128>),
    /// The string's exact text.
    Value(String),
}

/// Bounds, both included; `None` for none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<T> {
    /// The least.
    pub from: Option<T>,
    /// The greatest.
    pub to: Option<T>,
}

/// The permitted number of elements; `None` where the type states none.
pub type Size = Option<Range<i128>>;

/// A member of a `Struct`.
#[derive(Clone, Debug, PartialEq)]
pub struct StructMember {
    /// The member's key.
    pub name: String,
    /// Whether the member may be missing.
    pub optional: bool,
    /// The type of the member's value.
    pub value: DataType,
}

/// Puppet's own aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// Values that JSON can express.
    Data,
    /// A key of `RichData`.
    RichDataKey,
    /// All data.
    RichData,
    /// A key in looked-up data.
    LookupKey,
    /// A value that may be looked up.
    LookupValue,
}

impl<T: PartialOrd + Copy> Range<T> {
    /// No bounds.
    pub const ANY: Range<T> = Range { from: None, to: None };

    /// Returns the range that holds just `value`.
    pub fn from_single(value: T) -> Range<T> {
        Range { from: Some(value), to: Some(value) }
    }

    /// Whether `value` is within: no range of Puppet's has NaN, as its bounds are infinite where none
    /// is given.
    pub fn holds_value(&self, value: T) -> bool {
        has_order(&value)
            && self.from.is_none_or(|from| from <= value)
            && self.to.is_none_or(|to| value <= to)
    }

    /// Whether all of `other` is within.
    pub fn covers_range(&self, other: &Range<T>) -> bool {
        other.from.as_ref().is_none_or(has_order)
            && self.from.is_none_or(|from| other.from.is_some_and(|other| from <= other))
            && self.to.is_none_or(|to| other.to.is_some_and(|other| other <= to))
    }

    fn meets_range(&self, other: &Range<T>) -> bool {
        let before = |end: Option<T>, start: Option<T>| {
            end.is_some_and(|end| start.is_some_and(|start| end < start))
        };
        !before(self.to, other.from) && !before(other.to, self.from)
    }

    /// Returns the least range that covers both.
    fn hull(&self, other: &Range<T>) -> Range<T> {
        let pick = |a: Option<T>, b: Option<T>, first: fn(T, T) -> bool| {
            Some(if first(a?, b?) { a? } else { b? })
        };
        Range {
            from: pick(self.from, other.from, |a, b| a <= b),
            to: pick(self.to, other.to, |a, b| a >= b),
        }
    }
}

/// Whether a number has an order with others: NaN has none.
fn has_order<T: PartialOrd>(number: &T) -> bool {
    number.partial_cmp(number).is_some()
}

/// How Puppet writes `TypeSet` out.
const TYPE_SET: &str = "TypeSet[{pcore_uri => 'http://puppet.com/2016.1/pcore', pcore_version => '1.0.0', name_authority => \
                        'http://puppet.com/2016.1/runtime', name => 'DefaultTypeSet', version => '0.0.0'}]";

/// Any number of elements.
const ANY_NUMBER: Range<i128> = Range { from: Some(0), to: None };
/// The size of a written `Array[Any]`, which states none: unlike `Array`, a constant of Puppet, it is
/// an object of its own. Both are shown as `Array`, `Array[Any, 0]` is not.
const UNSTATED: Range<i128> = Range { from: None, to: None };

impl DataType {
    /// `Integer` without bounds.
    pub const INTEGER: DataType = DataType::Integer(Range::ANY);
    /// `Float` without bounds.
    pub const FLOAT: DataType = DataType::Float(Range::ANY);
    /// `String` of any length.
    pub const STRING: DataType = DataType::String(StringType::Any);
    /// `Boolean`.
    pub const BOOLEAN: DataType = DataType::Boolean(None);

    /// Returns `Array[element, size]`. The elements of an empty array have no type.
    pub fn array_type(element: DataType, size: Size) -> DataType {
        let none = size == Some(Range::from_single(0));
        DataType::Array(Box::new(if none { DataType::Unit } else { element }), size)
    }

    /// Returns `Hash[key, value, size]`.
    pub fn hash(key: DataType, value: DataType, size: Size) -> DataType {
        let none = size == Some(Range::from_single(0));
        let (key, value) = if none { (DataType::Unit, DataType::Unit) } else { (key, value) };
        DataType::Hash(Box::new(key), Box::new(value), size)
    }

    /// Returns one of `types`; just the type if it is only one.
    pub fn variant_type(types: Vec<DataType>) -> DataType {
        let mut flat: Vec<DataType> = Vec::new();
        for one in types {
            let parts = if let DataType::Variant(parts) = one { parts } else { vec![one] };
            parts.into_iter().for_each(|part| {
                if !flat.iter().any(|known| known.is_equal(&part)) {
                    flat.push(part);
                }
            });
        }
        if flat.len() == 1 { flat.remove(0) } else { DataType::Variant(flat) }
    }

    /// Whether Puppet drops one of two types of a variant: equal ones, where the outermost
    /// `Array[Any]` equals `Array`. Each bound in time is an object of its own, equal to no other.
    fn is_equal(&self, other: &DataType) -> bool {
        self == other && !self.has_time_bound() || self.is_any_array() && other.is_any_array()
    }

    fn has_time_bound(&self) -> bool {
        match self {
            DataType::Timespan(range) | DataType::Timestamp(range) => *range != Range::ANY,
            _ => self.inner_types().into_iter().any(DataType::has_time_bound),
        }
    }

    fn is_any_array(&self) -> bool {
        match self {
            DataType::Array(element, None | Some(UNSTATED)) => **element == DataType::Any,
            _ => false,
        }
    }

    /// Returns `undef` or `inner`.
    pub fn optional_type(inner: DataType) -> DataType {
        DataType::Optional(Some(Box::new(inner)))
    }

    /// Returns the types within.
    fn inner_types(&self) -> Vec<&DataType> {
        match self {
            DataType::Array(inner, _) | DataType::Sensitive(inner) => vec![inner],
            DataType::Optional(inner)
            | DataType::NotUndef(inner)
            | DataType::Type(inner)
            | DataType::Iterable(inner)
            | DataType::Iterator(inner) => inner.iter().map(|inner| &**inner).collect(),
            DataType::Hash(key, value, _) => vec![key, value],
            DataType::Tuple(types, _) | DataType::Variant(types) => types.iter().collect(),
            DataType::Struct(members) => members.iter().map(|member| &member.value).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the first unknown name in the type, or in the targets of its aliases.
    pub fn unresolved_name(&self) -> Option<String> {
        self.find(&mut Vec::new(), &|one| match one {
            DataType::Reference(name) => Some(name.clone()),
            _ => None,
        })
    }

    /// Returns the first part of the type, or of the targets of its aliases, that only Puppet can
    /// decide.
    pub fn undecided_part(&self) -> Option<String> {
        self.find(&mut Vec::new(), &|one| match one {
            DataType::Undecided(text) => Some(text.clone()),
            _ => None,
        })
    }

    /// Returns the type whose constructor is called for this type: the type within an `Optional` or
    /// a `NotUndef`.
    pub fn constructed_type(&self) -> &DataType {
        match self {
            DataType::Optional(Some(inner)) | DataType::NotUndef(Some(inner)) => {
                inner.constructed_type()
            }
            other => other,
        }
    }

    /// Whether the type, or the target of one of its aliases, names Sensitive values.
    pub fn holds_sensitive(&self) -> bool {
        let found = self.find(&mut Vec::new(), &|one| match one {
            DataType::Sensitive(_) => Some(String::new()),
            _ => None,
        });
        found.is_some()
    }

    /// Returns the first answer that `ask` gives for a part of the type. `seen` holds the aliases
    /// that were looked into.
    fn find(
        &self,
        seen: &mut Vec<NamedAlias>,
        ask: &dyn Fn(&DataType) -> Option<String>,
    ) -> Option<String> {
        match self {
            DataType::Named(alias) if seen.contains(alias) => None,
            DataType::Named(alias) => {
                seen.push(alias.clone());
                alias.with_target(|target| target.find(seen, ask))
            }
            _ => ask(self)
                .or_else(|| self.inner_types().into_iter().find_map(|part| part.find(seen, ask))),
        }
    }
}

impl Alias {
    /// The alias's name.
    pub fn name(self) -> &'static str {
        match self {
            Alias::Data => "Data",
            Alias::RichDataKey => "RichDataKey",
            Alias::RichData => "RichData",
            Alias::LookupKey => "Puppet::LookupKey",
            Alias::LookupValue => "Puppet::LookupValue",
        }
    }

    /// Whether the alias is part of itself.
    pub(super) fn is_recursive(self) -> bool {
        match self {
            Alias::Data | Alias::RichData | Alias::LookupValue => true,
            Alias::RichDataKey | Alias::LookupKey => false,
        }
    }

    /// Returns the type that the alias stands for.
    pub fn resolved(self) -> &'static DataType {
        static TYPES: [OnceLock<DataType>; 5] = [const { OnceLock::new() }; 5];
        TYPES[self as usize].get_or_init(|| match self {
            Alias::Data => DataType::Variant(vec![
                DataType::ScalarData,
                DataType::Undef,
                DataType::hash(DataType::STRING, DataType::Alias(Alias::Data), None),
                DataType::array_type(DataType::Alias(Alias::Data), None),
            ]),
            Alias::RichDataKey => DataType::Variant(vec![DataType::STRING, DataType::Numeric]),
            Alias::RichData => DataType::Variant(vec![
                DataType::Scalar,
                DataType::SemVerRange,
                DataType::Binary,
                DataType::Sensitive(Box::new(DataType::Any)),
                DataType::Type(None),
                DataType::Foreign { name: "TypeSet", text: TYPE_SET.into() },
                DataType::Uri,
                DataType::Foreign { name: "Object", text: "Object".into() },
                DataType::Undef,
                DataType::Default,
                DataType::hash(
                    DataType::Alias(Alias::RichDataKey),
                    DataType::Alias(Alias::RichData),
                    None,
                ),
                DataType::array_type(DataType::Alias(Alias::RichData), None),
            ]),
            Alias::LookupKey => DataType::Alias(Alias::RichDataKey),
            Alias::LookupValue => DataType::Alias(Alias::RichData),
        })
    }
}
