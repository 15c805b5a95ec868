//! Sources of nodes that are recognized by their shape, without any setting: the choice of the
//! files, and a reader for each kind.

pub(super) mod blocks;
pub(super) mod bolt;
pub(super) mod plugins;
pub(in crate::workspace) mod shapes;
pub(super) mod specs;

use crate::manifest::model::Literal;
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};

/// Converts a literal of code to a value; `None` for one that is no value of a fact or a variable.
fn value_of(literal: &Literal) -> Option<Value> {
    Some(match literal {
        Literal::Undef => Value::new_null(None),
        Literal::Default => return None,
        Literal::Boolean(flag) => new_value(Data::Bool(*flag)),
        Literal::Integer(number) => new_value(match i64::try_from(*number) {
            Ok(number) => Data::Integer(number),
            Err(_) => Data::BigInteger(number.to_string().into()),
        }),
        Literal::Float(number) => new_value(Data::Float(*number)),
        Literal::String(text) => Value::from_argument(text),
        Literal::List(items) => {
            let items: Option<Vec<Value>> = items.iter().map(value_of).collect();
            Value::new_array(items?, Provenance::from_source(None))
        }
        Literal::Hash(pairs) => {
            let hash: Option<Hash> = pairs
                .iter()
                .map(|(key, value)| {
                    let key = value_of(key)?.to_text().into_owned();
                    Some((
                        Key::new_string(&key),
                        Member { key_origin: None, value: value_of(value)? },
                    ))
                })
                .collect();
            Value::hash(hash?, Provenance::from_source(None))
        }
    })
}

fn new_value(data: Data) -> Value {
    Value::new(data, Provenance::from_source(None))
}

#[cfg(test)]
mod tests;
