//! The state of [`options`](super::options): computed on first use, kept while no `lookup_options`
//! change.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::hiera::lookup_options::{SharedOptions, WrittenOptions};
use crate::puppet::ruby::regex::RubyRegex;
use crate::puppet::value::Value;
use crate::text::Memo;
use crate::text::{FilePath, Span};

/// Facts about the options of all files, computed on first use; the same as long as no
/// `lookup_options` change.
#[derive(Debug, Default)]
pub(super) struct OptionsMemo {
    /// The keys that may be merged with `unique`.
    pub(super) merged_uniquely: OnceLock<WrittenOptions>,
    /// The keys that may be merged with `hash`.
    pub(super) merged_as_hashes: OnceLock<WrittenOptions>,
    /// The keys that may be merged with any strategy.
    pub(super) merged: OnceLock<WrittenOptions>,
    /// The keys whose values may be Sensitive.
    pub(super) sensitive: OnceLock<WrittenOptions>,
    /// The options that lookups have assembled, by the folder of the environment.
    pub(super) assembled: Memo<FilePath, Arc<SharedOptions>>,
    /// Whether tokens decide some of the options.
    pub(super) are_live: OnceLock<bool>,
    pub(super) places: OnceLock<OptionsPlaces>,
}

/// The places of all entries.
#[derive(Debug, Default)]
pub(super) struct OptionsPlaces {
    /// The entries that name a key.
    pub(super) literal: HashMap<Arc<str>, Vec<OptionsPlace>>,
    /// The entries whose key is a pattern.
    pub(super) patterns: Vec<(RubyRegex, OptionsPlace)>,
}

/// An entry of `lookup_options` in some file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsPlace {
    /// The place of the entry's key. It may be written in another file's entry that an anchor
    /// shares.
    pub span: Span,
    /// The entry's key, as a pattern or literally.
    pub key: Arc<str>,
    /// Whether the entry's key is a pattern.
    pub is_pattern: bool,
}

impl OptionsPlaces {
    /// Gathers the entries of these values of `lookup_options`.
    pub(super) fn from_values<'v>(all: impl Iterator<Item = &'v Value>) -> OptionsPlaces {
        let mut found = OptionsPlaces::default();
        let entries = all.filter_map(Value::as_hash).flatten();
        for (key, member) in entries {
            let (Some(key), Some(span)) = (key.as_arc(), member.key_origin) else { continue };
            let is_pattern = key.starts_with('^');
            let place = OptionsPlace { span, key: key.clone(), is_pattern };
            if is_pattern {
                found.patterns.extend(RubyRegex::new(key).ok().map(|regex| (regex, place)));
            } else {
                found.literal.entry(key.clone()).or_default().push(place);
            }
        }
        found
    }
}
