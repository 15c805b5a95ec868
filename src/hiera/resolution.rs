//! The record of a lookup: its value, the outcome at each location, the origin of the strategy, and
//! its dependencies.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::config::{Backend, Layer, Level, Template};
use super::error::{LookupError, LookupErrorKind};
use super::key::LookupKey;
use super::lookup_options::OptionsEntry;
use super::merge::{MergeError, Strategy};
use super::pattern::Bindings;
use crate::puppet::convert::ConvertTo;
use crate::puppet::value::{Data, Value};
use crate::text::{FilePath, Span};

/// The result of a lookup, with its steps and dependencies.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The key.
    pub key: LookupKey,
    /// The effective value; `None` when nothing was found.
    pub value: Result<Option<Value>, LookupError>,
    /// The strategy that was used.
    pub merge: Strategy,
    /// The origin of the strategy.
    pub merge_source: MergeSource,
    /// The conversion that applies to the value.
    pub convert_to: Option<ConvertTo>,
    /// Whether `lookup_options` cannot be used: their settings for the key are unknown.
    pub lacks_options: bool,
    /// The conversions that were left out: the key's own, and those of keys that it needs.
    pub unapplied_conversions: Vec<Unapplied>,
    /// The outcome at each location, in order; of a resolver without unreached locations only down
    /// to the one that answered.
    pub steps: Vec<LookupStep>,
    /// Files that could change the value if variables that are unknown were known.
    pub unsettled: Vec<Unsettled>,
    /// The levels that could not be evaluated and could change the answer: those that were asked
    /// for the key, or for a key that it needs. Levels that may hold `lookup_options` are not among
    /// them for that alone.
    pub unsettled_levels: Vec<UnsettledLevel>,
    /// The dependencies of the value.
    pub reads: LookupReads,
}

impl Resolution {
    /// Returns whether the value is final: no unknown variable, backend or file can change it.
    pub fn is_settled(&self) -> bool {
        self.unsettled.is_empty()
            && self.unapplied_conversions.is_empty()
            && self.reads.opaque.is_empty()
            && self.steps.iter().all(|step| {
                !matches!(
                    &step.outcome,
                    Outcome::Undetermined { .. }
                        | Outcome::Opaque(_)
                        | Outcome::Unread { .. }
                        | Outcome::Failed(_)
                )
            })
    }

    /// Returns the root keys that tokens asked for, some more than once.
    pub fn asked_roots(&self) -> impl Iterator<Item = Arc<str>> {
        self.reads.keys.iter().chain(&self.reads.unfound_aliases).map(|key| {
            LookupKey::parse(key).map_or_else(|_| key.as_str().into(), |key| key.root_text())
        })
    }

    /// Returns whether tokens were replaced in the value.
    pub fn has_tokens(&self) -> bool {
        !self.reads.keys.is_empty() || !self.reads.variables.is_empty()
    }

    /// Returns the levels that leave open whether there is a value: those that may have one. Where
    /// a level is encrypted, there is one.
    pub fn levels_without_verdict(&self) -> impl Iterator<Item = &UnsettledLevel> {
        self.unsettled_levels
            .iter()
            .filter(|level| !matches!(level.reason, Unevaluated::Encrypted(_)))
    }

    /// Whether the value, or the failure of its merge, rests on an `alias` whose own value is not
    /// settled: then neither the value nor the failure is Puppet's.
    pub fn rests_on_open_alias(&self) -> bool {
        let may_be_alias = match &self.value {
            Ok(Some(value)) => value.as_str().is_some_and(|text| text.contains("%{")),
            Ok(None) => false,
            Err(error) => {
                matches!(&*error.kind, LookupErrorKind::Merge(MergeError::WrongType(_)))
            }
        };
        may_be_alias
            && self.reads.unfound_aliases.iter().any(|alias| {
                let root = LookupKey::parse(alias).map(|key| key.root_text().to_string());
                let root = root.as_deref().unwrap_or(alias);
                self.unsettled_levels.iter().any(|level| *level.key == *root)
            })
    }

    /// Returns whether the value must not be shown, nor the values that it is made of. Where
    /// `lookup_options` cannot be used, it may be a secret.
    pub fn is_secret(&self) -> bool {
        self.lacks_options
            || self.convert_to.as_ref().is_some_and(ConvertTo::may_make_sensitive)
            || matches!(&self.value, Ok(Some(value)) if matches!(value.data(), Data::Sensitive(_)))
    }
}

/// A `convert_to` that was left out, as hiera-ls does not know its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unapplied {
    /// The key whose value was not converted.
    pub key: Arc<str>,
    /// The type.
    pub to: String,
}

/// An answer to a request.
#[derive(Clone, Debug)]
pub struct RequestAnswer {
    /// The value.
    pub value: Value,
    /// The conversions that were left out: of the key, and of those that it needs.
    pub unapplied_conversions: Vec<Unapplied>,
}

/// The origin of a merge strategy.
#[derive(Clone, Debug)]
pub enum MergeSource {
    /// Nothing chooses the strategy: the first value found is taken.
    Default,
    /// The caller.
    Argument,
    /// An entry of `lookup_options`.
    Options(OptionsEntry),
}

/// One location and the outcome there.
#[derive(Clone, Debug)]
pub struct LookupStep {
    /// The layer.
    pub layer: Layer,
    /// The level, as written.
    pub level: Arc<Level>,
    /// The location as written; `None` when the level names none.
    pub template: Option<Template>,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcomes that a location can have.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The root key is there.
    Found {
        /// The file.
        path: FilePath,
        /// Where the key is written.
        key: Option<Span>,
        /// The candidate, interpolated.
        value: Value,
    },
    /// The file does not have the key.
    NoSuchKey(FilePath),
    /// There is no such file.
    NoSuchFile,
    /// A higher location had answered before.
    NotReached {
        /// The file, if there is one.
        path: Option<FilePath>,
        /// The place of the key in the file and the raw value there, if the file has the key.
        shadowed: Option<(Option<Span>, Value)>,
        /// Whether the location may have the key all the same: unknown variables decide its file,
        /// or the file cannot be read here.
        is_open: bool,
    },
    /// Unknown variables decide which file the location is.
    Undetermined {
        /// The variables.
        variables: Vec<String>,
        /// The files among the candidates that have the key.
        candidates: Vec<Unsettled>,
    },
    /// A backend that cannot be evaluated would be asked.
    Opaque(Backend),
    /// The function of the level was called and has a value.
    Answered {
        /// The function.
        backend: Backend,
        /// The candidate; of a dotted key within the value of its root key.
        value: Value,
    },
    /// The function of the level was called and does not have the key.
    NotAnswered(Backend),
    /// A backend that cannot be evaluated finds nothing, for its options exclude the key.
    Excluded(Backend),
    /// hiera-ls could not read the file, which Puppet may be able to.
    Unread {
        /// The file.
        path: FilePath,
        /// Why hiera-ls could not read the file.
        message: String,
    },
    /// The file or the value in it makes the lookup fail.
    Failed(FilePath),
}

/// A file that could change an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// The root key that the file defines.
    pub key: Arc<str>,
    /// The file.
    pub path: FilePath,
    /// Where the file defines the key.
    pub span: Option<Span>,
    /// The values that the unknown variables need for the file to be read.
    pub when: Bindings,
    /// How many bytes of the location's path are literal once known variables are interpolated. Of
    /// two locations that may name the file, the one with more literal bytes is the more specific
    /// one.
    pub literal_len: usize,
}

/// A level that could not be evaluated here. Puppet may find another value in it, or one where none
/// is found here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsettledLevel {
    /// The layer.
    pub layer: Layer,
    /// The name of the level.
    pub level: Arc<str>,
    /// The root key that the level was asked for.
    pub key: Arc<str>,
    /// Why the level could not be evaluated.
    pub reason: Unevaluated,
}

/// Why a level could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unevaluated {
    /// The level's backend is unknown to hiera-ls.
    Backend(Backend),
    /// Unknown variables decide the level's file, and existing files that it could be have the key.
    Undetermined {
        /// The variables.
        variables: Vec<String>,
        /// The files.
        files: Vec<FilePath>,
    },
    /// The file could not be read, for this reason.
    Unread(FilePath, String),
    /// The value in this file is encrypted, and nothing decrypts it here.
    Encrypted(FilePath),
}

/// The dependencies of a lookup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookupReads {
    /// Variables, as named in tokens, without a leading `::`.
    pub variables: BTreeSet<String>,
    /// The unknown variables among `variables`: their tokens were left standing.
    pub unknown: BTreeSet<String>,
    /// Keys that tokens asked for.
    pub keys: BTreeSet<String>,
    /// The keys among `keys` that `alias` tokens insert and for which no value was found. The token
    /// of such a key was left standing where a level that could not be evaluated may have the key.
    pub unfound_aliases: BTreeSet<String>,
    /// Backends that could not be evaluated.
    pub opaque: BTreeSet<String>,
}
