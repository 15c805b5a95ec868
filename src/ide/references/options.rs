//! Entries of `lookup_options`.

use super::{ReferenceSearch, Role};
use crate::puppet::ruby::regex::RubyRegex;

impl ReferenceSearch<'_> {
    /// Finds the entries that name a root key or match it.
    pub(super) fn options_of(&mut self, root: &str) {
        for entry in self.snapshot.keys().options_of(root) {
            if self.snapshot.path_of(entry.span.file).is_some_and(|path| self.is_searched(path)) {
                let role = if entry.is_pattern { Role::OptionsPattern } else { Role::OptionsEntry };
                self.add_span(role, entry.span);
            }
        }
    }

    /// Finds the keys that a pattern matches, and the entries with this pattern.
    pub(super) fn find_pattern(&mut self, pattern: &str) -> Option<()> {
        for entry in self.snapshot.keys().options_with_pattern(pattern) {
            if self.snapshot.path_of(entry.span.file).is_some_and(|path| self.is_searched(path)) {
                self.add_span(Role::OptionsPattern, entry.span);
            }
        }
        let Ok(regex) = RubyRegex::new(pattern) else { return Some(()) };
        self.definitions_of(&|key| regex.is_match(key) == Some(true))
    }
}
