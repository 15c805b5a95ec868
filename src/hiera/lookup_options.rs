//! `lookup_options`: which entry serves a key, and what entries may hold.
//!
//! How the entries of many files become one hash is a lookup like any other (a hash merge) and done by [`lookup`](super::lookup).

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::config::Layer;
use super::merge::{Strategy, StrategyError, parse_strategy};
use super::ruby_regex::{RegexError, RubyRegex};
use super::value::{Data, Hash, Key, Member, Value};
use crate::text::Span;

/// The assembled options of one layer stack, ready to be asked.
#[derive(Debug, Default)]
pub struct LookupOptions {
    entries: Hash,
    patterns: Vec<(RubyRegex, usize)>,
}

/// The entry that serves a key.
#[derive(Clone, Debug)]
pub struct OptionsEntry {
    /// Its key, literal or a pattern.
    pub key: Arc<str>,
    /// Where the key is written.
    pub span: Option<Span>,
    /// Whether it is a pattern.
    pub pattern: bool,
    /// What it says.
    pub value: Value,
}

/// A conversion asked for by an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvertTo {
    /// The type as written, such as `Sensitive` or `Array[String]`.
    pub type_text: String,
    /// What is given in place of a type's text, in Puppet's words.
    pub no_type: Option<&'static str>,
    /// Further arguments of the type's constructor.
    pub arguments: Vec<Value>,
    /// Where it is written.
    pub span: Option<Span>,
}

/// Why options make lookups fail.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionsError {
    /// The value of `lookup_options` is no hash.
    NotAHash(Option<Span>),
    /// A key of an entry is no string.
    BadKey {
        /// The key as Ruby shows it.
        key: String,
        /// Its type.
        class: &'static str,
        /// Its place.
        span: Option<Span>,
    },
    /// A pattern is no regular expression.
    BadRegex(RegexError, Option<Span>),
    /// An entry of a module's data is not about that module.
    ForeignKey {
        /// The module.
        module: Arc<str>,
        /// Whether it is a pattern.
        pattern: bool,
        /// Its place.
        span: Option<Span>,
    },
    /// An entry is no hash where one is needed.
    BadEntry(String, Option<Span>),
    /// Its `merge` is none.
    Strategy(StrategyError),
}

impl OptionsError {
    /// The place of the offending part.
    pub fn span(&self) -> Option<Span> {
        match self {
            OptionsError::NotAHash(span) | OptionsError::BadRegex(_, span) | OptionsError::BadEntry(_, span) => *span,
            OptionsError::BadKey { span, .. } | OptionsError::ForeignKey { span, .. } => *span,
            OptionsError::Strategy(error) => error.origin(),
        }
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionsError::NotAHash(_) => f.write_str("value of lookup_options must be a hash"),
            OptionsError::BadKey { key, class, .. } => write!(f, "undefined method `start_with?' for {key}:{class}"),
            OptionsError::BadRegex(error, _) => error.fmt(f),
            OptionsError::ForeignKey { module, pattern: false, .. } => {
                write!(f, "all lookup_options keys must start with module name '{module}'")
            }
            OptionsError::ForeignKey { module, pattern: true, .. } => {
                write!(f, "all lookup_options patterns must match a key starting with module name '{module}'")
            }
            OptionsError::BadEntry(message, _) => f.write_str(message),
            OptionsError::Strategy(error) => error.fmt(f),
        }
    }
}

impl LookupOptions {
    /// Compiles assembled options. Source: semantics 7.1 and 7.2.
    pub fn new(assembled: Option<Value>) -> Result<LookupOptions, OptionsError> {
        let Some(value) = assembled else { return Ok(LookupOptions::default()) };
        let entries = match value.data {
            Data::Hash(hash) => Arc::unwrap_or_clone(hash),
            Data::Null => return Ok(LookupOptions::default()),
            _ => return Err(OptionsError::NotAHash(value.origin)),
        };
        let mut patterns = Vec::new();
        for (index, (key, member)) in entries.iter().enumerate() {
            let Some(text) = key.as_str() else { return Err(bad_key(key, member)) };
            if text.starts_with('^') {
                let regex = RubyRegex::new(text).map_err(|error| OptionsError::BadRegex(error, member.key_origin))?;
                patterns.push((regex, index));
            }
        }
        Ok(LookupOptions { entries, patterns })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry for a root key: the literal one unless it is `null`, else the first pattern that matches.
    pub fn entry(&self, root: &str) -> Option<OptionsEntry> {
        let literal = if root.starts_with('^') { None } else { self.entries.get_full(root) };
        if let Some((index, _, member)) = literal
            && !matches!(member.value.data, Data::Null)
        {
            return Some(self.entry_at(index, false));
        }
        let (_, index) = self.patterns.iter().find(|(regex, _)| regex.is_match(root) == Some(true))?;
        Some(self.entry_at(*index, true))
    }

    fn entry_at(&self, index: usize, pattern: bool) -> OptionsEntry {
        let (key, member) = self.entries.get_index(index).expect("an index of this hash");
        OptionsEntry { key: key.to_text().as_ref().into(), span: member.key_origin, pattern, value: member.value.clone() }
    }
}

/// For which keys `lookup_options` of some files ask for certain merges, whoever reads them: more than any one lookup sees of them. Tells
/// quickly of most keys that nothing is said.
#[derive(Debug, Default)]
pub struct WrittenOptions {
    names: HashSet<String>,
    patterns: Vec<RubyRegex>,
    /// Whether something depends on tokens.
    is_open: bool,
}

impl WrittenOptions {
    /// Gathers the entries of these `lookup_options` that ask for a `wanted` strategy.
    pub fn gather<'v>(all: impl Iterator<Item = &'v Value>, wanted: impl Fn(&Strategy) -> bool) -> WrittenOptions {
        let mut gathered = WrittenOptions::default();
        for options in all {
            gathered.is_open |= options.as_str().is_some(); // an alias to other options
            for (key, member) in options.as_hash().into_iter().flatten() {
                let Some(name) = key.as_str() else { continue };
                gathered.is_open |= name.contains("%{");
                let merge = member.value.get("merge");
                let has_token = |text: Option<&str>| text.is_some_and(|text| text.contains("%{"));
                let is_open = |value: &Value| {
                    has_token(value.as_str()) || value.as_hash().into_iter().flatten().any(|(key, _)| has_token(key.as_str()))
                };
                let asks = match merge {
                    None => is_open(&member.value),
                    Some(merge) => {
                        let named = merge.get("strategy").unwrap_or(merge);
                        [&member.value, merge, named].into_iter().any(is_open)
                            || parse_strategy(merge).is_ok_and(|strategy| strategy.is_some_and(|it| wanted(&it)))
                    }
                };
                match asks {
                    true if name.starts_with('^') => gathered.patterns.extend(RubyRegex::new(name)),
                    true => drop(gathered.names.insert(name.to_owned())),
                    false => {}
                }
            }
        }
        gathered
    }

    /// Whether one of the entries may be that of a root key.
    pub fn may_concern(&self, root: &str) -> bool {
        self.is_open || self.names.contains(root) || self.patterns.iter().any(|regex| regex.is_match(root) == Some(true))
    }
}

fn bad_key(key: &Key, member: &Member) -> OptionsError {
    let class = Value::new(key.0.clone(), None).class_name();
    OptionsError::BadKey { key: key.to_text().into_owned(), class, span: member.key_origin }
}

impl OptionsEntry {
    /// The strategy that the entry asks for; `None` when it leaves that open.
    pub fn merge(&self) -> Result<Option<Strategy>, OptionsError> {
        match self.options()?.and_then(|options| options.get("merge")) {
            Some(member) => parse_strategy(&member.value).map_err(OptionsError::Strategy),
            None => Ok(None),
        }
    }

    /// Whether it says anything of a merge, be it `false`.
    pub fn says_merge(&self) -> bool {
        self.value.get("merge").is_some_and(|merge| !matches!(merge.data, Data::Null))
    }

    /// The hash that the entry should be; `None` for what Puppet takes for one without members.
    fn options(&self) -> Result<Option<&Hash>, OptionsError> {
        match &self.value.data {
            Data::Hash(hash) => Ok(Some(hash)),
            Data::String(_) | Data::Null | Data::Bool(false) => Ok(None),
            Data::Array(_) | Data::Integer(_) => {
                Err(OptionsError::BadEntry("no implicit conversion of String into Integer".into(), self.value.origin))
            }
            _ => {
                let (text, class) = (self.value.to_text(), self.value.class_name());
                Err(OptionsError::BadEntry(format!("undefined method `[]' for {text}:{class}"), self.value.origin))
            }
        }
    }

    /// The conversion that the entry asks for.
    pub fn convert_to(&self) -> Result<Option<ConvertTo>, OptionsError> {
        let Some(member) = self.options()?.and_then(|options| options.get("convert_to")) else { return Ok(None) };
        let (given, arguments) = match &member.value.data {
            Data::Null => return Ok(None),
            Data::Array(items) => (items.first(), items.get(1..).unwrap_or_default().to_vec()),
            _ => (Some(&member.value), Vec::new()),
        };
        let type_text = given.and_then(Value::as_str);
        let no_type = type_text.is_none().then(|| given.map_or("Undef", Value::type_name));
        let type_text = type_text.unwrap_or_default().to_owned();
        Ok(Some(ConvertTo { type_text, no_type, arguments, span: member.value.origin }))
    }
}

/// Checks the options of one layer before they are merged: they are a hash, and a module's are about its own keys.
///
/// Source: semantics 7.1 and 7.4, `LookupAdapter#validate_lookup_options`.
pub fn check_layer_options(options: &Value, layer: &Layer) -> Result<(), OptionsError> {
    let Some(hash) = options.as_hash() else { return Err(OptionsError::NotAHash(options.origin)) };
    let Layer::Module(module) = layer else { return Ok(()) };
    let (prefix, pattern_prefix) = (format!("{module}::"), format!("^{module}::"));
    for (key, member) in hash {
        let Some(text) = key.as_str() else { return Err(bad_key(key, member)) };
        let pattern = text.starts_with('^');
        if !text.starts_with(if pattern { &pattern_prefix } else { &prefix }) {
            return Err(OptionsError::ForeignKey { module: module.clone(), pattern, span: member.key_origin });
        }
    }
    Ok(())
}
