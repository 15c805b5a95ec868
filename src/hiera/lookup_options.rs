//! `lookup_options`: the entry that serves a key, and the permitted content of entries.
//!
//! How the entries of many files become one hash is a lookup like any other (a hash merge) and done
//! by [`lookup`](super::lookup).

use std::collections::HashSet;
use std::sync::Arc;

use super::config::Layer;
use super::error::{LookupError, OptionsError};
use super::merge::{Strategy, parse_strategy};
use crate::puppet::convert::ConvertTo;
use crate::puppet::print::PrintOptions;
use crate::puppet::ruby::regex::RubyRegex;
use crate::puppet::value::{Data, Hash, Key, Member, Secrecy, Value};
use crate::text::{Budget, FilePath, Memo, Span};

/// Assembled options of one environment and one state of the data, by the files that they come from.
///
/// Limit: only for lookups that pass over problems of files, call no function and decrypt nothing;
/// and not for options with tokens.
pub type SharedOptions = Memo<OptionsFiles, Arc<Result<LookupOptions, LookupError>>>;

/// The files with `lookup_options` that a lookup reads, in order, each with its layer.
pub type OptionsFiles = Vec<(Layer, FilePath)>;

/// The assembled options of one layer stack, ready to be asked.
#[derive(Debug, Default)]
pub struct LookupOptions {
    entries: Hash,
    patterns: Vec<(RubyRegex, usize)>,
    secrecy: Secrecy,
}

/// The entry that serves a key.
#[derive(Clone, Debug)]
pub struct OptionsEntry {
    /// The entry's key, literal or a pattern.
    pub key: Arc<str>,
    /// Where the key is written.
    pub span: Option<Span>,
    /// Whether the key is a pattern.
    pub pattern: bool,
    /// The value of the entry.
    pub value: Value,
    /// Why the key must not be shown.
    key_secrecy: Secrecy,
}

impl LookupOptions {
    /// Compiles assembled options. Source: semantics 7.1 and 7.2.
    pub fn new(assembled: Option<Value>) -> Result<LookupOptions, OptionsError> {
        let Some(value) = assembled else { return Ok(LookupOptions::default()) };
        let entries = match value.data() {
            Data::Hash(hash) => (**hash).clone(),
            Data::Null => return Ok(LookupOptions::default()),
            _ => return Err(OptionsError::NotAHash(value.origin)),
        };
        let mut patterns = Vec::new();
        for (index, (key, member)) in entries.iter().enumerate() {
            let Some(text) = key.as_str() else { return Err(bad_key(key, member)) };
            if text.starts_with('^') {
                let regex = RubyRegex::new(text)
                    .map_err(|error| OptionsError::BadRegex(error, member.key_origin))?;
                patterns.push((regex, index));
            }
        }
        Ok(LookupOptions { entries, patterns, secrecy: value.secrecy_of_parts() })
    }

    /// Returns why the options, or a part of them, must not be shown.
    pub fn secrecy(&self) -> Secrecy {
        self.secrecy
    }

    /// Returns the entry for a root key: the literal one unless it is `null`, else the first
    /// pattern that matches. Each pattern that is tried is paid for; an error names the one that
    /// needs more steps than are left.
    pub fn find_entry(
        &self,
        root: &str,
        budget: &Budget,
    ) -> Result<Option<OptionsEntry>, LookupError> {
        if !root.starts_with('^')
            && let Some(index) = self.entries.get_index_of(root)
        {
            let entry = self.entry_at(index, false);
            if !matches!(entry.value.data(), Data::Null) {
                return Ok(Some(entry));
            }
        }
        for (regex, index) in &self.patterns {
            let verdict = regex.verdict(root);
            let steps = verdict.is_match.map(|_| verdict.steps);
            if let Err(limit) = budget.pay_match(steps) {
                let entry = self.entry_at(*index, true);
                return Err(LookupError::limit_reached(limit, entry.span));
            }
            if verdict.is_match == Some(true) {
                return Ok(Some(self.entry_at(*index, true)));
            }
        }
        Ok(None)
    }

    fn entry_at(&self, index: usize, pattern: bool) -> OptionsEntry {
        let (key, member) = self.entries.get_index(index).expect("an index of this hash");
        OptionsEntry {
            key: key.to_text().as_ref().into(),
            span: member.key_origin,
            pattern,
            value: member.value.clone(),
            key_secrecy: key.secrecy(),
        }
    }
}

/// The keys for which `lookup_options` of some files ask for something, such as certain merges, for
/// all readers: more than any one lookup sees of them. Quickly rules out most keys.
#[derive(Debug, Default)]
pub struct WrittenOptions {
    names: HashSet<String>,
    patterns: Vec<RubyRegex>,
    /// Whether something depends on tokens.
    is_open: bool,
}

impl WrittenOptions {
    /// Gathers the entries of these `lookup_options` that ask for a `wanted` strategy.
    pub fn of_merges<'v>(
        all: impl Iterator<Item = &'v Value>,
        wanted: impl Fn(&Strategy) -> bool,
    ) -> WrittenOptions {
        WrittenOptions::gather(all, |entry| match entry.get("merge") {
            None => is_open(entry),
            Some(merge) => {
                let named = merge.get("strategy").unwrap_or(merge);
                [entry, merge, named].into_iter().any(is_open)
                    || parse_strategy(merge)
                        .is_ok_and(|strategy| strategy.is_some_and(|it| wanted(&it)))
            }
        })
    }

    /// Gathers the entries of these `lookup_options` whose `convert_to` may make values Sensitive.
    pub fn of_secrets<'v>(all: impl Iterator<Item = &'v Value>) -> WrittenOptions {
        WrittenOptions::gather(all, |entry| {
            let conversion = entry.get("convert_to").and_then(ConvertTo::from_option);
            is_open(entry) || conversion.is_some_and(|to| to.may_make_sensitive())
        })
    }

    /// Gathers the entries that ask for something.
    fn gather<'v>(
        all: impl Iterator<Item = &'v Value>,
        asks: impl Fn(&Value) -> bool,
    ) -> WrittenOptions {
        let mut gathered = WrittenOptions::default();
        for options in all {
            gathered.is_open |= options.as_str().is_some(); // an alias to other options
            for (key, member) in options.as_hash().into_iter().flatten() {
                let Some(name) = key.as_str() else { continue };
                gathered.is_open |= name.contains("%{");
                match asks(&member.value) {
                    true if name.starts_with('^') => gathered.patterns.extend(RubyRegex::new(name)),
                    true => drop(gathered.names.insert(name.to_owned())),
                    false => {}
                }
            }
        }
        gathered
    }

    /// Returns whether one of the entries may be that of a root key. A pattern that the engine gave
    /// up may match.
    pub fn may_concern(&self, root: &str) -> bool {
        self.is_open
            || self.names.contains(root)
            || self.patterns.iter().any(|regex| regex.is_match(root) != Some(false))
    }
}

/// Returns whether tokens decide the settings of an entry, or a part of them.
fn is_open(value: &Value) -> bool {
    let has_token = |text: Option<&str>| text.is_some_and(|text| text.contains("%{"));
    has_token(value.as_str())
        || value.as_hash().into_iter().flatten().any(|(key, _)| has_token(key.as_str()))
}

fn bad_key(key: &Key, member: &Member) -> OptionsError {
    let class = key.to_value(None).class_name();
    OptionsError::BadKey { key: key.to_text().into_owned(), class, span: member.key_origin }
}

impl OptionsEntry {
    /// Returns the entry's key, or a mark in place of decrypted text.
    pub fn shown_key(&self) -> &str {
        PrintOptions::default().mark_for(self.key_secrecy).unwrap_or(&self.key)
    }

    /// Returns the strategy that the entry asks for; `None` when it leaves that open.
    pub fn merge(&self) -> Result<Option<Strategy>, OptionsError> {
        match self.find_option("merge")? {
            Some(merge) => parse_strategy(&merge).map_err(OptionsError::Strategy),
            None => Ok(None),
        }
    }

    /// Returns whether the entry has a `merge` other than `null`.
    pub fn says_merge(&self) -> bool {
        self.find_option("merge")
            .is_ok_and(|merge| merge.is_some_and(|merge| !matches!(merge.data(), Data::Null)))
    }

    /// Returns the option of this name. For a string in place of a hash, Ruby returns the name
    /// itself if the string holds it.
    fn find_option(&self, name: &str) -> Result<Option<Value>, OptionsError> {
        match self.value.data() {
            Data::Hash(hash) => Ok(hash.get(name).map(|member| member.value.clone())),
            Data::String(text) if text.contains(name) => {
                Ok(Some(Value::new_string(name, self.value.provenance())))
            }
            Data::String(_) | Data::Null | Data::Bool(false) => Ok(None),
            Data::Array(_) | Data::Integer(_) => Err(OptionsError::BadEntry(
                "no implicit conversion of String into Integer".into(),
                self.value.origin,
            )),
            _ => {
                let (text, class) = (self.value.to_text(), self.value.class_name());
                Err(OptionsError::BadEntry(
                    format!("undefined method `[]' for {text}:{class}"),
                    self.value.origin,
                ))
            }
        }
    }

    /// Returns the conversion that the entry asks for.
    pub fn convert_to(&self) -> Result<Option<ConvertTo>, OptionsError> {
        Ok(self.find_option("convert_to")?.as_ref().and_then(ConvertTo::from_option))
    }
}

/// Checks the options of one layer before they are merged: they are a hash, and a module's are
/// about its own keys.
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
            return Err(OptionsError::ForeignKey {
                module: module.clone(),
                pattern,
                span: member.key_origin,
            });
        }
    }
    Ok(())
}
