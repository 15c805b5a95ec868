//! `Init[…]` and types of resources, which no value of data has and which `convert_to` may name.

use std::sync::Arc;

use super::DataType;
use super::expression::{Expression, expression};
use super::parse::{BUILT_IN_RESOURCES, NoNames, parse_naming};
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};

/// The target and the arguments of `Init[TYPE, ARGUMENT…]`.
#[derive(Clone, Debug, PartialEq)]
pub struct InitType {
    /// The type that the values are converted to.
    pub target: DataType,
    /// The arguments for the target's constructor behind the value.
    pub arguments: Vec<Value>,
}

/// Reads the text of an `Init` with brackets; `None` for any other text, and where an argument is a
/// type or a regular expression. The arguments have the provenance `from`.
pub fn init_of(text: &str, from: Provenance) -> Option<InitType> {
    let Ok(Expression::Type { name, parameters: Some(parameters), .. }) = expression(text) else {
        return None;
    };
    let (Expression::Type { text: target, .. }, arguments) = parameters.split_first()? else {
        return None;
    };
    if !name.eq_ignore_ascii_case("init") {
        return None;
    }
    let arguments: Option<Vec<Value>> =
        arguments.iter().map(|argument| value_of(argument, from)).collect();
    Some(InitType { target: parse_naming(target, &NoNames).ok()?, arguments: arguments? })
}

/// Returns the name of the type of resources that a text is, as Puppet writes it, if Puppet brings
/// it along.
pub fn resource_type(text: &str) -> Option<String> {
    let Ok(Expression::Type { name, parameters, .. }) = expression(text) else { return None };
    let lower = name.to_ascii_lowercase();
    let title = match parameters.as_deref() {
        None => String::new(),
        Some([Expression::Text(title)]) => format!("['{title}']"),
        Some(_) => return None,
    };
    let (first, rest) = lower.split_at_checked(1)?;
    let is_known = BUILT_IN_RESOURCES.split(' ').any(|known| known == lower);
    is_known.then(|| format!("{}{rest}{title}", first.to_ascii_uppercase()))
}

fn value_of(expression: &Expression, from: Provenance) -> Option<Value> {
    let data = match expression {
        Expression::Text(text) => Data::String(text.as_str().into()),
        Expression::Integer(number) => Data::Integer(i64::try_from(*number).ok()?),
        Expression::Float(number) => Data::Float(*number),
        Expression::Bool(truth) => Data::Bool(*truth),
        Expression::Default => Data::Symbol("default".into()),
        Expression::Undef => Data::Null,
        Expression::List(items) => {
            let items: Option<Vec<Value>> = items.iter().map(|item| value_of(item, from)).collect();
            Data::Array(Arc::new(items?))
        }
        Expression::Hash(members) => Data::Hash(Arc::new(
            members
                .iter()
                .map(|(key, value)| {
                    let value = value_of(value, from)?;
                    Some((Key::from(value_of(key, from)?), Member { key_origin: None, value }))
                })
                .collect::<Option<Hash>>()?,
        )),
        Expression::Regex(_) | Expression::Type { .. } => return None,
    };
    Some(Value::new(data, from))
}
