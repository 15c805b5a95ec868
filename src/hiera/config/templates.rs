//! Strings of `hiera.yaml` that may hold tokens: these may name variables and nothing else.

use std::fmt;
use std::sync::Arc;

use crate::hiera::interpolation::{TokenKind, parse_tokens};
use crate::puppet::value::{Data, Value};
use crate::text::Span;

/// A string of `hiera.yaml` that may hold tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    /// The string as written.
    pub text: Arc<str>,
    /// The place of the string; `None` for a default of Puppet's.
    pub span: Option<Span>,
}

/// Puppet's message for a function call in `hiera.yaml`.
pub const METHOD_SYNTAX: &str = "Interpolation using method syntax is not allowed in this context";

/// An error in the tokens of a string of `hiera.yaml`. `Display` gives Puppet's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// A token calls a function.
    Call,
    /// A token cannot be read; the whole string.
    Malformed(String),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateError::Call => f.write_str(METHOD_SYNTAX),
            TemplateError::Malformed(text) => write!(f, "Syntax error in string: {text}"),
        }
    }
}

/// Returns the first thing that is wrong with the tokens of a string of `hiera.yaml`.
pub fn template_error(text: &str) -> Option<TemplateError> {
    parse_tokens(text).into_iter().find_map(|token| match token.kind {
        TokenKind::Call { .. } => Some(TemplateError::Call),
        TokenKind::Malformed => Some(TemplateError::Malformed(text.to_owned())),
        TokenKind::Empty | TokenKind::Variable { .. } => None,
    })
}

/// Gathers all strings of a value, keys included.
pub(super) fn strings_of(value: &Value, out: &mut Vec<(Arc<str>, Option<Span>)>) {
    match value.data() {
        Data::String(text) => out.push((text.clone(), value.origin)),
        Data::Array(items) => items.iter().for_each(|item| strings_of(item, out)),
        Data::Hash(hash) => hash.iter().for_each(|(key, member)| {
            if let Data::String(text) = key.data() {
                out.push((text.clone(), member.key_origin));
            }
            strings_of(&member.value, out);
        }),
        _ => {}
    }
}

pub(super) fn read_template(value: &Value) -> Option<Template> {
    Some(Template { text: value.as_str()?.into(), span: value.origin })
}
