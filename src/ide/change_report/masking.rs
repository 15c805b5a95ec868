//! Values in reports that are pasted in public places: no secret, no text that may be one.

use crate::hiera::resolution::Resolution;
use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::Value;
use crate::workspace::Snapshot;

/// Parts of names of keys whose values may be secrets that nothing marks.
const SECRET_NAMES: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "private",
    "apikey",
    "salt",
];
/// The ends of such names.
const SECRET_ENDS: [&str; 3] = ["_key", "_pw", "_pass"];
/// The text in place of such a value.
pub(crate) const HIDDEN: &str = "(hidden)";
/// The longest value on a line, in bytes.
const SHOWN_BYTES: usize = 200;

/// Prints values without those that may be secrets.
#[derive(Clone, Copy)]
pub(crate) struct Masking<'a> {
    pub(crate) snapshots: [&'a Snapshot; 2],
    /// Whether values are shown that only their keys' names call secrets.
    pub(crate) reveals: bool,
}

impl Masking<'_> {
    /// Whether the whole value of a lookup is hidden: by the name of its key or of a key that it
    /// reads, or as a type or `convert_to` may make one of them Sensitive.
    pub(crate) fn hides(&self, key: &str, resolution: &Resolution) -> bool {
        let mut keys = std::iter::once(key).chain(resolution.reads.keys.iter().map(String::as_str));
        resolution.is_secret()
            || keys.any(|key| {
                self.hides_name(key)
                    || self.snapshots.iter().any(|snapshot| {
                        snapshot.may_be_sensitive(key.split('.').next().unwrap_or(key))
                    })
            })
    }

    /// Whether a name is that of a secret.
    pub(crate) fn hides_name(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        !self.reveals
            && (SECRET_NAMES.iter().any(|part| name.contains(part))
                || SECRET_ENDS.iter().any(|end| name.ends_with(end)))
    }

    /// Returns a value on one line. Members with names of secrets are hidden.
    pub(crate) fn text(&self, value: &Value) -> String {
        if self.holds_hidden(value) {
            return HIDDEN.to_owned();
        }
        let options = PrintOptions {
            mask_encrypted: true,
            max_json: Some(SHOWN_BYTES),
            ..PrintOptions::default()
        };
        let mut text = print::print_inline(value, &options);
        if text.len() > SHOWN_BYTES {
            let end = (0..=SHOWN_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
            text.push('…');
        }
        text
    }

    /// Returns a value as JSON, whole.
    pub(crate) fn json(&self, value: &Value) -> serde_json::Value {
        if self.holds_hidden(value) {
            return HIDDEN.into();
        }
        let options = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
        serde_json::from_str(&print::print_json(value, &options)).unwrap_or_default()
    }

    /// Whether a member at any depth has the name of a secret.
    fn holds_hidden(&self, value: &Value) -> bool {
        if let Some(hash) = value.as_hash() {
            return hash.iter().any(|(key, member)| {
                self.hides_name(&key.to_text()) || self.holds_hidden(&member.value)
            });
        }
        value.as_array().is_some_and(|items| items.iter().any(|item| self.holds_hidden(item)))
    }
}
