//! The state of a check of a value against a type: the knowledge about the value's parts, and the
//! recursive aliases in progress. Source of the latter: `RecursionGuard`, whose state stays set
//! from the first repetition until the check of the repeated alias or value ends.

use crate::puppet::value::Value;

/// The most comparisons of types within each other. In comparisons of some recursive aliases Puppet
/// renews its guard at each repetition, so that its own stack ends.
const MAX_COMPARISONS: usize = 400;

/// The knowledge about a value or about a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// All of the value.
    Whole,
    /// Only that the value is a string.
    Kind,
    /// Nothing.
    Nothing,
}

/// A value, or the alias of a type, that is compared with a type.
#[derive(PartialEq)]
enum Other {
    /// The address of a value.
    Value(usize),
    /// The name of an alias.
    Alias(String),
}

/// The aliases and values being checked, from the outside in.
pub(super) struct RecursionGuard<'a> {
    /// Returns the knowledge about a part of the value.
    known: &'a dyn Fn(&Value) -> Known,
    /// Names of aliases.
    aliases: Vec<String>,
    is_alias_repeated: bool,
    /// The values, and the aliases of types, that are compared with the aliases.
    others: Vec<Other>,
    is_other_repeated: bool,
    /// How many comparisons of types are in progress.
    comparisons: usize,
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
            others: Vec::new(),
            is_other_repeated: false,
            comparisons: 0,
        }
    }

    /// Returns a guard without aliases and values for a comparison within this check.
    pub(super) fn renew(&self) -> RecursionGuard<'static> {
        RecursionGuard { comparisons: self.comparisons, ..RecursionGuard::default() }
    }

    /// Records that a comparison of types begins; `false` where too many are in progress.
    pub(super) fn enter_comparison(&mut self) -> bool {
        let may_enter = self.comparisons < MAX_COMPARISONS;
        self.comparisons += usize::from(may_enter);
        may_enter
    }

    /// Records that a comparison of types ends.
    pub(super) fn leave_comparison(&mut self) {
        self.comparisons -= 1;
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
            guard.with_alias(alias, &mut |guard| !guard.are_both_repeated() && judge(guard))
        })
    }

    /// Whether a type is assignable to an alias; `judge` compares it with the alias's target. A
    /// comparison that repeats both sides holds.
    pub(super) fn judge_alias(
        &mut self,
        alias: &str,
        judge: &mut dyn FnMut(&mut RecursionGuard<'a>) -> bool,
    ) -> bool {
        self.with_alias(alias, &mut |guard| guard.are_both_repeated() || judge(guard))
    }

    /// Whether the comparison with an alias repeats both sides. The alias stays in progress until
    /// the whole check ends, as it does in Puppet (`add_that`).
    pub(super) fn is_other_repeated(&mut self, alias: &str) -> bool {
        if !self.is_other_repeated {
            self.add_other(Other::Alias(alias.to_owned()));
        }
        self.are_both_repeated()
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
        if self.is_other_repeated || !self.add_other(Other::Value(address(value))) {
            return within(self);
        }
        let result = within(self);
        self.is_other_repeated = false;
        self.others.retain(|other| *other != Other::Value(address(value)));
        result
    }

    /// Adds a value or an alias. Returns whether it is new; one that is not is repeated from now on.
    fn add_other(&mut self, other: Other) -> bool {
        if self.others.contains(&other) {
            self.is_other_repeated = true;
            return false;
        }
        self.others.push(other);
        true
    }

    fn are_both_repeated(&self) -> bool {
        self.is_alias_repeated && self.is_other_repeated
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}
