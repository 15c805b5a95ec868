//! The lookup's half of interpolation: replacing each token.

use super::{Invocation, Resolver, enter_frame};
use crate::hiera::error::{LookupError, LookupErrorKind, LookupFrame};
use crate::hiera::explain::{Event, Kind};
use crate::hiera::interpolation::{Method, TokenKind, parse_tokens};
use crate::hiera::key::LookupKey;
use crate::hiera::pattern::variable_name;
use crate::hiera::scope::{CALLER_MODULE, Variable, is_of_match};
use crate::puppet::Strict;
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::budget::MAX_VALUE_PARTS;
use crate::text::{Limit, Span};

/// The deepest value that an `alias` may insert: the next one could add as much again.
const MAX_ALIASED_DEPTH: u16 = 2_000;

impl Invocation {
    /// Writes the text of a value for a token at `origin`, and takes its cost from the budget.
    fn push_text(
        &mut self,
        out: &mut String,
        value: &Value,
        origin: Option<Span>,
    ) -> Result<(), LookupError> {
        let exhausted = |limit| LookupError::limit_reached(limit, origin);
        self.budget.text_of(value.weight()).map_err(exhausted)?;
        let text = value.to_text();
        self.budget.pay_bytes(text.len()).map_err(exhausted)?;
        out.push_str(&text);
        Ok(())
    }
}

/// Counts a value and its members, without the parts of these.
fn own_parts(value: &Value) -> u64 {
    1 + match value.data() {
        Data::Array(items) => items.len() as u64,
        Data::Hash(hash) => hash.len() as u64,
        _ => 0,
    }
}

impl Resolver<'_> {
    /// Replaces all tokens in a value, in keys of hashes too. Source: semantics section 5.
    pub(super) fn interpolate(
        &self,
        inv: &mut Invocation,
        value: &Value,
    ) -> Result<Value, LookupError> {
        if !value.is_live() {
            return Ok(value.clone());
        }
        self.check_cancelled()?;
        let exhausted = |limit| LookupError::limit_reached(limit, value.origin);
        inv.budget.pay_parts(own_parts(value)).map_err(exhausted)?;
        let interpolated = self.interpolate_live(inv, value)?;
        if interpolated.weight() > MAX_VALUE_PARTS {
            return Err(exhausted(Limit::ValueParts));
        }
        Ok(interpolated)
    }

    fn interpolate_live(&self, inv: &mut Invocation, value: &Value) -> Result<Value, LookupError> {
        match value.data() {
            Data::String(text) if value.is_secret() => {
                self.interpolate_secret(inv, text, value.provenance())
            }
            Data::String(text) => self.interpolate_string(inv, text, value.provenance()),
            Data::Array(items) => {
                let items: Result<Vec<Value>, LookupError> =
                    items.iter().map(|item| self.interpolate(inv, item)).collect();
                Ok(Value::new_array(items?, value.provenance()))
            }
            Data::Hash(hash) => {
                let mut out = Hash::with_capacity(hash.len());
                for (key, member) in hash.iter() {
                    let key = if key.is_live() {
                        Key::from(self.interpolate(inv, &key.to_value(member.key_origin))?)
                    } else {
                        key.clone()
                    };
                    let value = self.interpolate(inv, &member.value)?;
                    out.insert(key, Member { key_origin: member.key_origin, value });
                }
                Ok(Value::hash(out, value.provenance()))
            }
            _ => Ok(value.clone()),
        }
    }

    /// Replaces the tokens of decrypted text: neither errors nor the recorded names of variables
    /// and keys may reveal its content.
    fn interpolate_secret(
        &self,
        inv: &mut Invocation,
        text: &str,
        from: Provenance,
    ) -> Result<Value, LookupError> {
        let reads = inv.trace.reads.take();
        let result = self.interpolate_string(inv, text, from);
        inv.trace.reads = reads;
        let marks = from.secrecy();
        result.map(|value| value.into_secret(marks)).map_err(|error| error.into_secret(marks))
    }

    fn interpolate_string(
        &self,
        inv: &mut Invocation,
        text: &str,
        from: Provenance,
    ) -> Result<Value, LookupError> {
        inv.record_part(
            || Kind::Interpolation { expression: text.into(), secrecy: from.secrecy() },
            |inv| self.replace_tokens(inv, text, from),
        )
    }

    fn replace_tokens(
        &self,
        inv: &mut Invocation,
        text: &str,
        written: Provenance,
    ) -> Result<Value, LookupError> {
        let origin = written.origin();
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        let mut made_of = written;
        for token in parse_tokens(text) {
            let range = token.range.as_usize();
            out.push_str(&text[from..range.start]);
            from = range.end;
            let (value, name) = match &token.kind {
                TokenKind::Empty => continue,
                TokenKind::Malformed => {
                    return Err(LookupError::new(
                        LookupErrorKind::TokenSyntax(text.to_owned()),
                        origin,
                    ));
                }
                TokenKind::Variable { key, .. } => {
                    (self.evaluate_variable(inv, key, origin)?, format!("scope:{}", key.text))
                }
                TokenKind::Call { method, argument, .. } => {
                    let Some(function) = Method::from_name(method) else {
                        return Err(LookupError::new(
                            LookupErrorKind::UnknownMethod(method.clone()),
                            origin,
                        ));
                    };
                    let key = LookupKey::parse(argument);
                    let syntax =
                        || LookupError::new(LookupErrorKind::KeySyntax(argument.clone()), origin);
                    match function {
                        Method::Literal => {
                            (Some(Value::new_string(argument, written)), argument.clone())
                        }
                        Method::Scope => {
                            let key = key.map_err(|_| {
                                LookupError::new(
                                    LookupErrorKind::TokenSyntax(text.to_owned()),
                                    origin,
                                )
                            })?;
                            (
                                self.evaluate_variable(inv, &key, origin)?,
                                format!("scope:{argument}"),
                            )
                        }
                        Method::Alias if range != (0..text.len()) => {
                            return Err(LookupError::new(LookupErrorKind::AliasNotWhole, origin));
                        }
                        Method::Alias => {
                            inv.trace.record_reads(|reads| reads.keys.insert(argument.clone()));
                            let found = self.find(inv, &key.map_err(|_| syntax())?, origin)?;
                            if found.is_none() {
                                inv.trace.record_reads(|reads| {
                                    reads.unfound_aliases.insert(argument.clone())
                                });
                            }
                            let found = match found {
                                Some(found) => found,
                                None if inv.trace.may_be_open(argument) => {
                                    Value::new_string(text, written)
                                }
                                None => Value::from(""),
                            };
                            if found.depth() > MAX_ALIASED_DEPTH {
                                let limit = Limit::Nesting(MAX_ALIASED_DEPTH);
                                return Err(LookupError::limit_reached(limit, origin));
                            }
                            return Ok(found.with_origin(origin));
                        }
                        Method::Lookup => {
                            inv.trace.record_reads(|reads| reads.keys.insert(argument.clone()));
                            let found = self.find(inv, &key.map_err(|_| syntax())?, origin)?;
                            let is_open = found.is_none() && inv.trace.may_be_open(argument);
                            let empty = (!is_open).then(|| Value::from(""));
                            (found.or(empty), argument.clone())
                        }
                    }
                }
            };
            if let Some(value) = &value {
                made_of = made_of.with_marks(value.provenance_of_parts());
            }
            match value {
                // A token without a known value stays in the text.
                None => out.push_str(&text[range]),
                Some(value) if value.is_live() => {
                    let frame = LookupFrame { text: name.into(), asked_by: origin };
                    let again = enter_frame(inv, frame, |inv| self.interpolate(inv, &value))?;
                    made_of = made_of.with_marks(again.provenance_of_parts());
                    inv.push_text(&mut out, &again, origin)?;
                }
                Some(value) => {
                    let frame = LookupFrame { text: name.into(), asked_by: origin };
                    // Puppet checks for recursion even when the value has no token to replace.
                    enter_frame(inv, frame, |_| Ok(()))?;
                    inv.push_text(&mut out, &value, origin)?;
                }
            }
        }
        out.push_str(&text[from..]);
        Ok(Value::new_string(&out, made_of))
    }

    /// Returns the value of a variable; `None` when it is unknown.
    fn evaluate_variable(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        origin: Option<Span>,
    ) -> Result<Option<Value>, LookupError> {
        inv.trace.record_reads(|reads| reads.variables.insert(variable_name(&key.text)));
        let root = key.root_text();
        let scope = self.ctx.scope;
        let found = inv.record_part(
            || Kind::Scope("Global Scope".into()),
            |inv| match key.number_with_subkeys() {
                Some(number) => Err(LookupError::number_as_variable(number).or_at(origin)),
                None => Ok(self.explained_variable(inv, &root)),
            },
        )?;
        let found = scope
            .find_part(found, key, |value| inv.dig(value, key))
            .map_err(|error| error.or_at(origin))?;
        match found {
            Variable::Known(value) => Ok(Some(value)),
            Variable::Unknown => {
                inv.trace.record_reads(|reads| reads.unknown.insert(variable_name(&key.text)));
                Ok(None)
            }
            Variable::Undefined
                if self.ctx.puppet.strict == Strict::Error && !is_of_match(&root) =>
            {
                Err(LookupError::undefined_variable(&root, origin))
            }
            Variable::Undefined => Ok(Some(Value::new_null(None))),
        }
    }

    /// Returns the whole variable, and records it for the explanation.
    fn explained_variable(&self, inv: &mut Invocation, root: &str) -> Variable {
        let scope = self.ctx.scope;
        let mut found = scope.get_in_data(root);
        if inv.reading.is_classic {
            found = scope.classic_value(root, found);
        }
        match &found {
            Variable::Known(value) => inv.record_event(|| {
                let (key, value) = (root.into(), value.clone());
                if scope.override_of(root).is_some() {
                    Event::FoundInOverrides(key, value)
                } else if scope.get(root) == Variable::Undefined && scope.default_of(root).is_some()
                {
                    Event::FoundInDefaults(key, value)
                } else {
                    Event::Found { key, value, at: None }
                }
            }),
            Variable::Unknown => inv.record_text(|| format!("Nothing is known of \"{root}\"")),
            // Puppet's `Scope#exist?` knows this name, `Scope#[]` does not.
            Variable::Undefined
                if root.strip_prefix("::") == Some(CALLER_MODULE)
                    && self.ctx.puppet.strict != Strict::Error =>
            {
                inv.record_event(|| Event::Found {
                    key: root.into(),
                    value: Value::new_null(None),
                    at: None,
                });
            }
            Variable::Undefined => {}
        }
        found
    }
}
