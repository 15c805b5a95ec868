//! The checks of types that every version of `hiera.yaml` needs, in the words of Puppet's type
//! system.

use super::ConfigProblemKind;
use super::reading::ConfigReader;
use crate::puppet::value::{Data, Hash, Value};

impl ConfigReader<'_> {
    pub(super) fn unknown_keys(&mut self, hash: &Hash, subject: &str, known: &[&str]) {
        for (key, member) in hash {
            if !key.as_str().is_some_and(|key| known.contains(&key)) {
                self.report(
                    ConfigProblemKind::Structure,
                    member.key_origin,
                    format!("{subject}unrecognized key '{}'", key.to_text()),
                );
            }
        }
    }

    pub(super) fn check_strings(&mut self, hash: &Hash, subject: &str, keys: &[&str]) {
        for key in keys {
            if let Some(member) = hash.get(*key) {
                self.check_string(&member.value, &format!("{subject}entry '{key}'"));
            }
        }
    }

    pub(super) fn check_string(&mut self, value: &Value, subject: &str) {
        match value.data() {
            Data::String(text) if text.is_empty() => {
                self.report_mismatch(value, subject, "a String[1]")
            }
            Data::String(_) => {}
            _ => self.report_mismatch(value, subject, "a String"),
        }
    }

    pub(super) fn expect_hash<'v>(&mut self, value: &'v Value, subject: &str) -> Option<&'v Hash> {
        let hash = value.as_hash();
        if hash.is_none() {
            self.report_mismatch(value, subject, "a Hash");
        }
        hash
    }

    /// Like `expect_hash`, for a value whose expected type Puppet's message calls a `Struct`.
    pub(super) fn expect_struct<'v>(
        &mut self,
        value: &'v Value,
        subject: &str,
    ) -> Option<&'v Hash> {
        let hash = value.as_hash();
        if hash.is_none() {
            self.report_mismatch(value, subject, "a Struct");
        }
        hash
    }

    pub(super) fn expect_array<'v>(
        &mut self,
        value: &'v Value,
        subject: &str,
    ) -> Option<&'v [Value]> {
        let items = value.as_array();
        if items.is_none() {
            self.report_mismatch(value, subject, "an Array");
        }
        items
    }

    pub(super) fn report_mismatch(&mut self, value: &Value, subject: &str, wanted: &str) {
        self.mismatch_of(value, subject, &format!("{wanted} value"));
    }

    /// Like `mismatch`, with `wanted` in full, for messages with several types.
    pub(super) fn mismatch_of(&mut self, value: &Value, subject: &str, wanted: &str) {
        let message = format!("{subject} expects {wanted}, got {}", value.type_name());
        self.report(ConfigProblemKind::Structure, value.origin, message);
    }
}

/// Ruby takes `null` and `false` for a member that is not there.
pub(super) fn is_absent(value: &Value) -> bool {
    matches!(value.data(), Data::Null | Data::Bool(false))
}
