//! The state of a check of a value against a type: the knowledge about the value's parts, and the
//! recursive aliases in progress. Source of the latter: `RecursionGuard`, whose state stays set
//! from the first repetition until the check of the repeated alias or value ends.

use crate::puppet::value::Value;

/// The knowledge about a value or about a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// All of it.
    Whole,
    /// Only that it is a string.
    Kind,
    /// Nothing.
    Nothing,
}

/// The aliases and values being checked, from the outside in.
pub(super) struct RecursionGuard<'a> {
    /// Returns the knowledge about a part of the value.
    known: &'a dyn Fn(&Value) -> Known,
    /// Names of aliases.
    aliases: Vec<String>,
    is_alias_repeated: bool,
    /// Addresses of values.
    values: Vec<usize>,
    is_value_repeated: bool,
}

impl Default for RecursionGuard<'_> {
    fn default() -> Self {
        RecursionGuard::with_knowledge(&|_| Known::Whole)
    }
}

impl<'a> RecursionGuard<'a> {
    /// Checks a value with this knowledge about its parts.
    pub(super) fn with_knowledge(known: &'a dyn Fn(&Value) -> Known) -> RecursionGuard<'a> {
        RecursionGuard {
            known,
            aliases: Vec::new(),
            is_alias_repeated: false,
            values: Vec::new(),
            is_value_repeated: false,
        }
    }

    /// Returns the knowledge about a part of the value.
    pub(super) fn known_part(&self, value: &Value) -> Known {
        (self.known)(value)
    }
    /// Whether an alias is checked again with a value whose check against it is in progress.
    /// `judge` returns whether the value belongs to the alias's target.
    pub(super) fn judge(
        &mut self,
        alias: &str,
        value: &Value,
        judge: &mut dyn FnMut(&mut RecursionGuard<'a>) -> bool,
    ) -> bool {
        self.with_value(value, &mut |guard| {
            guard.with_alias(alias, &mut |guard| {
                !(guard.is_alias_repeated && guard.is_value_repeated) && judge(guard)
            })
        })
    }

    /// Returns the text of an alias from `write`, whose second argument is whether to write the
    /// target, too: not while an alias is repeated.
    pub(super) fn write_out(
        &mut self,
        alias: &str,
        write: &mut dyn FnMut(&mut RecursionGuard<'a>, bool) -> String,
    ) -> String {
        let mut text = String::new();
        self.with_alias(alias, &mut |guard| {
            let is_first = !guard.is_alias_repeated;
            text = write(guard, is_first);
            true
        });
        text
    }

    fn with_alias(
        &mut self,
        alias: &str,
        within: &mut dyn FnMut(&mut RecursionGuard<'a>) -> bool,
    ) -> bool {
        if self.is_alias_repeated {
            return within(self);
        }
        if self.aliases.iter().any(|known| known == alias) {
            self.is_alias_repeated = true;
            return within(self);
        }
        self.aliases.push(alias.to_owned());
        let result = within(self);
        self.is_alias_repeated = false;
        self.aliases.pop();
        result
    }

    fn with_value(
        &mut self,
        value: &Value,
        within: &mut dyn FnMut(&mut RecursionGuard<'a>) -> bool,
    ) -> bool {
        let address = std::ptr::from_ref(value).addr();
        if self.is_value_repeated {
            return within(self);
        }
        if self.values.contains(&address) {
            self.is_value_repeated = true;
            return within(self);
        }
        self.values.push(address);
        let result = within(self);
        self.is_value_repeated = false;
        self.values.pop();
        result
    }
}
