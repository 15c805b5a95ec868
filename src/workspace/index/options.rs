//! The `lookup_options` of all files: the entries that name or match a root key, and the keys for
//! which entries ask for something.

use std::sync::Arc;

use super::key_index::KeyIndex;
use super::options_memo::{OptionsPlace, OptionsPlaces};
use crate::hiera::data::{DataFile, TokenUse};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::lookup_options::SharedOptions;
use crate::hiera::lookup_options::WrittenOptions;
use crate::hiera::merge::Strategy;
use crate::puppet::value::{Member, Value};
use crate::text::FilePath;

impl KeyIndex {
    /// Returns the strategies that `lookup_options` of any file may ask for in a merge of this root
    /// key, and that fail for values of some type.
    pub fn strict_merges(&self, key: &str) -> impl Iterator<Item = Strategy> {
        let strategies = [
            (Strategy::Unique, &self.options.merged_uniquely),
            (Strategy::Hash, &self.options.merged_as_hashes),
        ];
        strategies.into_iter().filter_map(move |(strategy, memo)| {
            memo.get_or_init(|| {
                WrittenOptions::of_merges(self.written_options(), |other: &Strategy| {
                    *other == strategy
                })
            })
            .may_concern(key)
            .then_some(strategy)
        })
    }

    /// Whether each lookup of this root key ends at the first value; `merge` is the strategy of the
    /// lookup, `None` where `lookup_options` decide it.
    pub fn ends_at_first(&self, key: &str, merge: Option<&Strategy>) -> bool {
        merge.map_or_else(|| !self.may_be_merged(key), Strategy::stops_at_first)
    }

    /// Whether `lookup_options` of any file may ask for a merge of this root key that goes on behind
    /// the first value.
    fn may_be_merged(&self, key: &str) -> bool {
        self.options
            .merged
            .get_or_init(|| {
                WrittenOptions::of_merges(self.written_options(), |strategy: &Strategy| {
                    !strategy.stops_at_first()
                })
            })
            .may_concern(key)
    }

    /// Whether `lookup_options` of any file may make values of this root key Sensitive. The
    /// `lookup_options` themselves are no values.
    pub fn may_be_sensitive(&self, key: &str) -> bool {
        key != LOOKUP_OPTIONS && self.sensitive_keys().may_concern(key)
    }

    fn sensitive_keys(&self) -> &WrittenOptions {
        self.options.sensitive.get_or_init(|| WrittenOptions::of_secrets(self.written_options()))
    }

    /// Returns the entries of `lookup_options` that name a root key, then those whose pattern
    /// matches it; each in the order of the files' paths.
    pub fn options_of<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a OptionsPlace> {
        let places = self.options_places();
        let patterns = places
            .patterns
            .iter()
            .filter(move |(regex, _)| regex.is_match(key) == Some(true))
            .map(|(_, place)| place);
        places.literal.get(key).into_iter().flatten().chain(patterns)
    }

    /// Whether an entry of `lookup_options` may say more of a root key than its `merge`.
    pub fn has_options_beyond_merge(&self, key: &str) -> bool {
        if self.has_live_options() {
            return true;
        }
        let names: Vec<&str> = self.options_of(key).map(|place| &*place.key).collect();
        self.written_options().any(|value| match value.as_hash() {
            Some(entries) => entries.iter().any(|(name, member)| {
                name.as_str().is_some_and(|name| names.contains(&name))
                    && !member.value.as_hash().is_some_and(|entry| {
                        entry.keys().all(|option| option.as_str() == Some("merge"))
                    })
            }),
            None => true,
        })
    }

    /// Returns the entries of `lookup_options` whose key is this pattern.
    pub fn options_with_pattern<'a>(
        &'a self,
        pattern: &'a str,
    ) -> impl Iterator<Item = &'a OptionsPlace> {
        let places = self.options_places().patterns.iter().map(|(_, place)| place);
        places.filter(move |place| *place.key == *pattern)
    }

    /// Returns a file whose tokens decide which keys entries of `lookup_options` are for, if there
    /// is one.
    pub fn open_options(&self) -> Option<&FilePath> {
        self.definitions(LOOKUP_OPTIONS).iter().find(|path| {
            let data = self.readings.get(*path).into_iter().flat_map(|readings| readings.0.iter());
            let mut members = data.filter_map(|data| data.get(LOOKUP_OPTIONS));
            members.any(|member| {
                member.value.as_str().is_some()
                    || member
                        .value
                        .as_hash()
                        .into_iter()
                        .flatten()
                        .any(|(key, _)| key.to_text().contains("%{"))
            })
        })
    }

    /// Returns the options that lookups in the environment in this folder have assembled.
    pub fn shared_options(&self, environment: &FilePath) -> Arc<SharedOptions> {
        self.options.assembled.get_or(environment, Arc::default)
    }

    /// Whether tokens decide some `lookup_options`, or a part of them.
    pub fn has_live_options(&self) -> bool {
        *self.options.are_live.get_or_init(|| self.written_options().any(Value::is_live))
    }

    /// Returns the tokens in `lookup_options` of all files.
    pub fn tokens_of_options(&self) -> impl Iterator<Item = &TokenUse> {
        let files = self.definitions(LOOKUP_OPTIONS).iter().filter(|_| self.has_live_options());
        let data = files.filter_map(|path| self.readings.get(path)).flat_map(|it| it.0.iter());
        data.flat_map(|data| data.tokens()).filter(|token| *token.root == *LOOKUP_OPTIONS)
    }

    fn options_places(&self) -> &OptionsPlaces {
        self.options.places.get_or_init(|| OptionsPlaces::from_values(self.written_options()))
    }

    /// Returns the values of `lookup_options` in all files.
    fn written_options(&self) -> impl Iterator<Item = &Value> {
        let files = self.definitions(LOOKUP_OPTIONS).iter();
        let data = files.filter_map(|path| self.readings.get(path)).flat_map(|it| it.0.iter());
        let members = data.filter_map(|data: &Arc<DataFile>| data.get(LOOKUP_OPTIONS));
        members.map(|member: &Member| &member.value)
    }
}
