//! Levels whose function is asked for some keys only.
//!
//! The published functions for Vault, HTTP and Azure Key Vault share an option, `confine_to_keys`:
//! a list of regular expressions. For a root key that the option excludes they find nothing, even
//! if the service has the key, so the result of the level is known without the service. A key is
//! included if the first match of the union of all expressions is the whole key. Source: semantics
//! 9.6.

use super::config::{BackendKind, Level};
use crate::puppet::ruby::regex::RubyRegex;
use crate::puppet::value::{Data, Value};

/// The functions that have the option.
const CONFINED: [&str; 4] =
    ["azure_key_vault", "azure_key_vault::lookup", "hiera_http", "hiera_vault"];

/// The option.
const OPTION: &str = "confine_to_keys";

impl Level {
    /// Returns whether the level's function is one of those that have the option.
    pub fn may_be_confined(&self) -> bool {
        self.backend.kind == BackendKind::LookupKey && CONFINED.contains(&&*self.backend.name)
    }

    /// Returns whether the level's function finds nothing under a root key, by its option. `false`
    /// where this is not certain: another function, no such option, an expression with an
    /// interpolation token or one that Ruby refuses.
    pub fn excludes_key(&self, root: &str) -> bool {
        self.may_be_confined() && self.includes_key(root) == Some(false)
    }

    /// Returns whether the option includes a root key; `None` where this is not certain.
    fn includes_key(&self, root: &str) -> Option<bool> {
        let Data::Array(patterns) = self.options.as_ref()?.get(OPTION)?.data() else { return None };
        if patterns.is_empty() {
            return Some(false); // Ruby's union of nothing matches nothing.
        }
        let groups: Option<Vec<String>> = patterns.iter().map(group).collect();
        let union = RubyRegex::new(&groups?.join("|")).ok()?;
        union.first_match(root).map(|first| first == Some(root))
    }
}

/// Returns an expression as Ruby's union has it; `None` for a value that is none, or not known.
fn group(pattern: &Value) -> Option<String> {
    let Data::String(text) = pattern.data() else { return None };
    let is_known = !text.contains("%{") && RubyRegex::new(text).is_ok();
    is_known.then(|| format!("(?-mix:{text})"))
}

#[cfg(test)]
mod tests;
