//! Rows of PuppetDB's `inventory` with a projection: a member for each part that the query asks
//! for, such as `facts.os.family`.
//!
//! Source: the answers of PuppetDB 7.12. A part that the node does not have is `null`.

use std::sync::Arc;

use crate::hiera::key::{KeySegment, LookupKey};
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};

/// The members of a row that are no parts of facts.
const OTHERS: [&str; 4] = ["certname", "environment", "timestamp", TRUSTED];
const FACTS: &str = "facts";
const TRUSTED: &str = "trusted";

/// Whether a hash is a row with a projection: it has the members that a query can ask for, and no
/// others.
pub(super) fn is_projected(row: &Value) -> bool {
    row.as_hash().into_iter().flatten().all(|(key, _)| is_node_part(&key.to_text()))
}

fn is_node_part(name: &str) -> bool {
    let root = name.split_once('.').map(|(root, _)| root);
    OTHERS.contains(&name) || matches!(root, Some(FACTS | TRUSTED))
}

/// The parts of a node in a row.
pub(super) struct ProjectedParts {
    /// A hash: some facts, or parts of facts.
    pub(super) facts: Value,
    /// A hash: some members of `$trusted`; `None` where the row has none.
    pub(super) trusted: Option<Value>,
    /// The variables and parts of variables, dotted, that the query asked for.
    pub(super) settled: Arc<[Arc<str>]>,
}

impl ProjectedParts {
    /// Reads a row.
    pub(super) fn from_row(row: &Value) -> ProjectedParts {
        let (mut facts, mut trusted) = (Hash::default(), Hash::default());
        let mut settled: Vec<Arc<str>> = Vec::new();
        for (key, member) in row.as_hash().into_iter().flatten() {
            let Ok(path) = LookupKey::parse(&key.to_text()) else { continue };
            let root = path.root_text();
            let hash = match &*root {
                FACTS => &mut facts,
                TRUSTED => &mut trusted,
                _ => continue,
            };
            let names: Vec<Arc<str>> = path.subkeys.iter().map(segment_name).collect();
            settled.push([std::slice::from_ref(&root), &names[..]].concat().join(".").into());
            match (&*root, &names[..]) {
                (FACTS, [fact]) => settled.push(fact.clone()),
                (_, []) => hash.extend(member.value.as_hash().cloned().unwrap_or_default()),
                _ => {}
            }
            if !matches!(member.value.data(), Data::Null) {
                insert_at(hash, &names, &member.value);
            }
        }
        ProjectedParts {
            facts: hash_value(facts),
            trusted: (!trusted.is_empty()).then(|| hash_value(trusted)),
            settled: settled.into(),
        }
    }
}

fn hash_value(hash: Hash) -> Value {
    Value::hash(hash, Provenance::from_source(None))
}

fn segment_name(segment: &KeySegment) -> Arc<str> {
    match segment {
        KeySegment::Name(name) => name.clone(),
        KeySegment::Index(number) => number.to_string().into(),
    }
}

/// Puts a value below these names into a hash, with hashes on the way.
fn insert_at(hash: &mut Hash, names: &[Arc<str>], value: &Value) {
    let Some((name, rest)) = names.split_first() else { return };
    let key = Key::new_string(name);
    let value = if rest.is_empty() {
        value.clone()
    } else {
        let known = hash.get(&**name).and_then(|member| member.value.as_hash());
        let mut inner = known.cloned().unwrap_or_default();
        insert_at(&mut inner, rest, value);
        Value::hash(inner, Provenance::from_source(None))
    };
    hash.insert(key, Member { key_origin: None, value });
}
