//! The `lookup` function with all that it takes: names, a type, a merge, a default, overrides and
//! defaults by name.
//!
//! Source: semantics 0.2, 8.1 and 8.2, and `Puppet::Pops::Lookup.lookup`;
//! `tests/puppet/lookup_function` compares both.

use std::fmt;

use super::error::{LookupError, LookupErrorKind};
use super::merge::{Strategy, StrategyError, parse_strategy};
use super::resolution::RequestAnswer;
use crate::puppet::types::{self, DataType};
use crate::puppet::value::{Data, Hash, Value};

/// The arguments of the `lookup` function. [`Default`] asks for nothing; [`LookupRequest::for_name`] for
/// one name.
#[derive(Clone, Debug, Default)]
pub struct LookupRequest {
    /// The names; the first that is found counts.
    pub names: Vec<String>,
    /// The type that the answer must have, also an answer from a default or an override.
    pub value_type: Option<DataType>,
    /// The merge, in place of that of `lookup_options`. A merge that is none fails only where data
    /// is asked.
    pub merge: Option<Result<Strategy, StrategyError>>,
    /// The answer when nothing is found; `null` is one.
    pub default_value: Option<Value>,
    /// Values by literal name for when nothing is found; tokens see them as variables that nothing
    /// else defines.
    pub default_values_hash: Hash,
    /// Values by literal name that go before all data, as they are; tokens see them as variables,
    /// too.
    pub overrides: Hash,
}

/// Why an options hash is none, in own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError(String);

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RequestError {}

impl LookupRequest {
    /// Returns a request for one name and nothing else.
    pub fn for_name(name: &str) -> LookupRequest {
        LookupRequest { names: vec![name.to_owned()], ..LookupRequest::default() }
    }

    /// Takes over the settings of an options hash of the `lookup` function: `name`, `value_type`
    /// (as text), `default_value`, `default_values_hash`, `override` and `merge`. As in Puppet, a
    /// `null` counts for `default_value` only.
    ///
    /// Errors: no hash, another key, or a value of the wrong kind.
    pub fn apply_options(&mut self, options: &Value) -> Result<(), RequestError> {
        let members =
            options.as_hash().ok_or_else(|| wrong_option("the options must be a hash", options))?;
        for (key, member) in members {
            let value = &member.value;
            let hash = |name: &str| match value.data() {
                Data::Null => Ok(None),
                Data::Hash(hash) => Ok(Some((**hash).clone())),
                _ => Err(wrong_option(&format!("'{name}' must be a hash"), value)),
            };
            match key.as_str() {
                Some("name") => self.names = parse_names(value)?,
                Some("value_type") => match value.data() {
                    Data::Null => {}
                    Data::String(text) => {
                        self.value_type = Some(
                            types::parse(text).map_err(|error| RequestError(error.to_string()))?,
                        );
                    }
                    _ => {
                        return Err(wrong_option("'value_type' must be the text of a type", value));
                    }
                },
                Some("default_value") => self.default_value = Some(value.clone()),
                Some(name @ "default_values_hash") => {
                    self.default_values_hash = hash(name)?.unwrap_or_default()
                }
                Some(name @ "override") => self.overrides = hash(name)?.unwrap_or_default(),
                Some("merge") => self.set_merge(value),
                _ => {
                    return Err(RequestError(format!(
                        "the lookup function has no option '{}'",
                        key.to_text()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Sets the merge from an argument of the function: a name, or a hash with `strategy` and its
    /// options; `null` for none.
    pub fn set_merge(&mut self, given: &Value) {
        self.merge = parse_strategy(given).transpose();
    }

    /// Returns Puppet's message for a request that nothing answers.
    pub fn not_found_message(&self) -> String {
        match self.names.as_slice() {
            [name] => format!("Function lookup() did not find a value for the name '{name}'"),
            names => {
                let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
                format!(
                    "Function lookup() did not find a value for any of the names [{}]",
                    names.join(", ")
                )
            }
        }
    }

    pub(super) fn check_type(
        &self,
        subject: &str,
        value: Value,
    ) -> Result<Option<RequestAnswer>, LookupError> {
        if let Some(value_type) = &self.value_type {
            types::assert_type(subject, value_type, &value).map_err(|error| {
                LookupError::new(LookupErrorKind::WrongType(error.message), error.origin)
                    .mark_quoting(&value)
            })?;
        }
        Ok(Some(RequestAnswer { value, unapplied_conversions: Vec::new() }))
    }
}

fn wrong_option(what: &str, value: &Value) -> RequestError {
    RequestError(format!("{what}, got {}", value.type_name()))
}

fn parse_names(given: &Value) -> Result<Vec<String>, RequestError> {
    match given.data() {
        Data::String(name) => Ok(vec![name.to_string()]),
        Data::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong_names))
            .collect(),
        _ => Err(wrong_names()),
    }
}

fn wrong_names() -> RequestError {
    RequestError("'name' must be a string or a list of strings".into())
}
