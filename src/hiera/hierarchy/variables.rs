//! The tokens of a `hiera.yaml`: variables only, evaluated as far as they are known.

use crate::hiera::config::METHOD_SYNTAX;
use crate::hiera::dig::dig;
use crate::hiera::error::{LookupError, LookupErrorKind, LookupFrame};
use crate::hiera::fold::normalize_pieces;
use crate::hiera::interpolation::{Token, TokenKind, parse_tokens};
use crate::hiera::key::LookupKey;
use crate::hiera::pattern::{PatternPiece, variable_name};
use crate::hiera::scope::{Scope, Variable, is_of_match};
use crate::puppet::value::{Data, Hash, Key, Member, Value};

/// The outcome of evaluating a template that may name variables only.
#[derive(Clone)]
pub(super) enum Evaluated {
    /// All variables are known.
    Text(String),
    /// Some variable is unknown: the text with its unknown variables.
    Partial(Vec<PatternPiece>),
}

impl Evaluated {
    pub(super) fn into_pieces(self) -> Vec<PatternPiece> {
        match self {
            Evaluated::Text(text) => vec![PatternPiece::Literal(text)],
            Evaluated::Partial(pieces) => pieces,
        }
    }
}

/// The variables that tokens in a `hiera.yaml` see.
#[derive(Clone, Copy)]
pub(super) struct Variables<'a> {
    pub(super) scope: &'a Scope,
    /// The variable of `mapped_paths`, which shadows all others.
    pub(super) local: Option<(&'a str, &'a Value)>,
    /// Whether the variables are those of Hiera 3.
    pub(super) classic: bool,
    /// Whether an undefined variable makes Puppet fail; otherwise it is an empty text. Source:
    /// semantics 0.1 and 1.13.
    pub(super) undefined_fails: bool,
}

impl Variables<'_> {
    /// Replaces the tokens of a string.
    pub(super) fn evaluate(&self, text: &str) -> Result<Evaluated, LookupError> {
        self.evaluate_within(text, &mut Vec::new())
    }

    /// Looks for errors in all strings of a value, keys included.
    pub(super) fn check(&self, value: &Value) -> Result<(), LookupError> {
        match value.data() {
            Data::String(text) => self.evaluate(text).map(drop),
            Data::Array(items) => items.iter().try_for_each(|item| self.check(item)),
            Data::Hash(hash) => hash.iter().try_for_each(|(key, member)| {
                key.as_str().map_or(Ok(()), |key| self.evaluate(key).map(drop))?;
                self.check(&member.value)
            }),
            _ => Ok(()),
        }
    }

    /// Replaces the tokens of all strings of a value, keys included; `None` where an unknown
    /// variable takes part.
    pub(super) fn replace_tokens(&self, value: &Value) -> Result<Option<Value>, LookupError> {
        Ok(match value.data() {
            Data::String(text) => match self.evaluate(text)? {
                Evaluated::Text(text) => Some(Value::new_string(&text, value.provenance())),
                Evaluated::Partial(_) => None,
            },
            Data::Array(items) => {
                let items: Result<Option<Vec<Value>>, LookupError> =
                    items.iter().map(|item| self.replace_tokens(item)).collect();
                items?.map(|items| Value::new_array(items, value.provenance()))
            }
            Data::Hash(hash) => {
                let mut out = Hash::default();
                for (key, member) in hash.iter() {
                    let key = self.replace_tokens(&key.to_value(member.key_origin))?;
                    let (Some(key), Some(inner)) = (key, self.replace_tokens(&member.value)?)
                    else {
                        return Ok(None);
                    };
                    let member = Member { key_origin: member.key_origin, value: inner };
                    out.insert(Key::from(key), member);
                }
                Some(Value::hash(out, value.provenance()))
            }
            _ => Some(value.clone()),
        })
    }

    /// `open` are the variables in whose values `text` was found: a value that holds tokens is
    /// replaced again.
    fn evaluate_within(
        &self,
        text: &str,
        open: &mut Vec<LookupFrame>,
    ) -> Result<Evaluated, LookupError> {
        let found = parse_tokens(text);
        if found.is_empty() {
            return Ok(Evaluated::Text(text.to_owned()));
        }
        let mut out: Vec<PatternPiece> = Vec::new();
        let mut known = true;
        let mut from = 0;
        for Token { range, kind } in found {
            let range = range.as_usize();
            out.push(PatternPiece::Literal(text[from..range.start].to_owned()));
            from = range.end;
            let key = match kind {
                TokenKind::Empty => continue,
                TokenKind::Variable { key, .. } => key,
                TokenKind::Call { .. } => return Err(LookupError::invalid_config(METHOD_SYNTAX)),
                TokenKind::Malformed => {
                    return Err(LookupError::new(
                        LookupErrorKind::TokenSyntax(text.to_owned()),
                        None,
                    ));
                }
            };
            match self.value_of(&key)? {
                Variable::Known(value) => {
                    let frame =
                        LookupFrame { text: format!("scope:{}", key.text).into(), asked_by: None };
                    if open.iter().any(|known| known.text == frame.text) {
                        return Err(LookupError::new(
                            LookupErrorKind::Recursion { frames: open.clone(), again: frame },
                            None,
                        ));
                    }
                    open.push(frame);
                    let again = self.evaluate_within(&value.to_text(), open)?;
                    open.pop();
                    match again {
                        Evaluated::Text(text) => out.push(PatternPiece::Literal(text)),
                        Evaluated::Partial(mut pieces) => {
                            known = false;
                            out.append(&mut pieces);
                        }
                    }
                }
                Variable::Undefined => {}
                Variable::Unknown => {
                    known = false;
                    out.push(PatternPiece::Variable(variable_name(&key.text)));
                }
            }
        }
        out.push(PatternPiece::Literal(text[from..].to_owned()));
        if !known {
            return Ok(Evaluated::Partial(normalize_pieces(out)));
        }
        Ok(Evaluated::Text(
            out.into_iter()
                .map(|piece| match piece {
                    PatternPiece::Literal(text) => text,
                    PatternPiece::Glob(_) | PatternPiece::Variable(_) | PatternPiece::Any => {
                        String::new()
                    }
                })
                .collect(),
        ))
    }

    fn value_of(&self, key: &LookupKey) -> Result<Variable, LookupError> {
        if let Some(number) = key.number_with_subkeys() {
            return Err(LookupError::number_as_variable(number));
        }
        let root = key.root_text();
        let found = match self.local {
            Some((name, value)) if *name == *root => Variable::Known(value.clone()),
            _ if self.classic => self.scope.classic_value(&root, self.scope.get(&root)),
            _ => self.scope.get(&root),
        };
        if self.undefined_fails && found == Variable::Undefined && !is_of_match(&root) {
            return Err(LookupError::undefined_variable(&root, None));
        }
        self.scope.find_part(found, key, |value| dig(value, key))
    }

    /// Returns the variable that `mapped_paths` names without a token.
    pub(super) fn named_variable(&self, text: &str) -> Result<Variable, LookupError> {
        match LookupKey::parse(text) {
            Ok(key) => self.value_of(&key),
            Err(_) => {
                Err(LookupError::new(LookupErrorKind::TokenSyntax("mapped_path[0]".into()), None))
            }
        }
    }
}
