//! Bolt inventories of version 2: groups, targets, facts and vars.
//!
//! Values that a plugin of Bolt would compute are not literal; nothing is taken from them. Files that
//! an inventory includes are read before, see [`plugins`](super::plugins).

use indexmap::IndexMap;

use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::FilePath;
use crate::workspace::nodes::inferred::is_host_name;
use crate::workspace::nodes::parts::{Facts, Parts, Sourced};

/// The greatest depth of groups in each other; Bolt's own inventories have two or three.
const MAX_DEPTH: usize = 32;

/// Whether a hash is an inventory: it has groups or targets, and states no other version.
pub(in crate::workspace::nodes) fn is_inventory(hash: &Value) -> bool {
    let is_2 = match hash.get("version").map(Value::data) {
        None | Some(Data::Null) => true,
        Some(Data::Integer(version)) => *version == 2,
        Some(_) => false,
    };
    is_2 && (has_list("groups", hash) || has_list("targets", hash))
}

fn has_list(name: &str, hash: &Value) -> bool {
    let value = hash.get(name);
    value.is_some_and(|value| value.as_array().is_some() || value.get("_plugin").is_some())
}

/// The facts and vars of a target so far.
#[derive(Default)]
struct BoltTarget {
    facts: Hash,
    vars: Hash,
}

/// Reads the targets of an inventory, as nodes. Their facts are some of the facts, merged deeply,
/// those of a target over those of its groups; vars are variables in code that Bolt applies.
///
/// Facts and vars of a target are left out where two groups contradict each other and neither
/// contains the other. Errors: groups nest deeper than [`MAX_DEPTH`], so that not all targets would
/// be known.
pub(in crate::workspace::nodes) fn read_targets(
    inventory: &Value,
    path: &FilePath,
) -> Result<Vec<Parts>, String> {
    let mut found = IndexMap::new();
    group(inventory, &BoltTarget::default(), &mut found, MAX_DEPTH)?;
    Ok(found
        .into_iter()
        .map(|(name, target): (String, BoltTarget)| {
            let mut parts = Parts::of_certname(&name, path);
            if !target.facts.is_empty() {
                let facts = Facts { values: hash_value(target.facts), are_all: false };
                parts.facts = Sourced::new_part(facts, path);
            }
            if !target.vars.is_empty() {
                parts.parameters = Sourced::new_part(hash_value(target.vars), path);
            }
            parts
        })
        .collect())
}

fn hash_value(hash: Hash) -> Value {
    Value::hash(hash, Provenance::from_source(None))
}

fn group(
    group_of: &Value,
    above: &BoltTarget,
    found: &mut IndexMap<String, BoltTarget>,
    depth: usize,
) -> Result<(), String> {
    let facts = merge_deep(&above.facts, literal_members(group_of.get("facts")));
    let vars = merge_members(&above.vars, literal_members(group_of.get("vars")));
    for target in group_of.get("targets").and_then(Value::as_array).unwrap_or_default() {
        let (Some(name), own) = (target_name(target), target) else { continue };
        let said = BoltTarget {
            facts: merge_deep(&facts, literal_members(own.get("facts"))),
            vars: merge_members(&vars, literal_members(own.get("vars"))),
        };
        match found.get_mut(&name) {
            None => drop(found.insert(name, said)),
            Some(known) => {
                known.facts = agreed_members(&known.facts, &said.facts);
                known.vars = agreed_members(&known.vars, &said.vars);
            }
        }
    }
    let here = BoltTarget { facts, vars };
    for inner in group_of.get("groups").and_then(Value::as_array).unwrap_or_default() {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(format!("its groups are nested more than {MAX_DEPTH} deep"));
        };
        group(inner, &here, found, depth)?;
    }
    Ok(())
}

/// Returns the name of a target: its `name`, or the host of its `uri`; `None` for one that is no
/// host, such as a container or an address.
fn target_name(target: &Value) -> Option<String> {
    let name = target.get("name").and_then(Value::as_str).or_else(|| {
        target.as_str().or_else(|| target.get("uri").and_then(Value::as_str)).and_then(uri_host)
    })?;
    let is_address = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_host_name(name) && !is_address && name != "localhost").then(|| name.to_owned())
}

/// Returns the host of `ssh://user@host:22`, of `host:22`, or of `host`.
fn uri_host(uri: &str) -> Option<&str> {
    let rest = match uri.split_once("://") {
        Some(("ssh" | "winrm" | "pcp", rest)) => rest,
        Some(_) => return None,
        None => uri,
    };
    let rest = rest.split_once('/').map_or(rest, |(host, _)| host);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    Some(rest.split_once(':').map_or(rest, |(host, _)| host)).filter(|host| !host.is_empty())
}

/// Returns a hash without the members that a plugin computes.
fn literal_members(value: Option<&Value>) -> Hash {
    let mut hash = value.and_then(Value::as_hash).cloned().unwrap_or_default();
    if hash.get("_plugin").is_some() {
        return Hash::default();
    }
    hash.retain(|_, member| !holds_plugin(&member.value));
    hash
}

fn holds_plugin(value: &Value) -> bool {
    match value.data() {
        Data::Hash(hash) => {
            hash.get("_plugin").is_some() || hash.values().any(|member| holds_plugin(&member.value))
        }
        Data::Array(items) => items.iter().any(holds_plugin),
        _ => false,
    }
}

/// Merges two hashes recursively; `higher` wins.
fn merge_deep(lower: &Hash, higher: Hash) -> Hash {
    let mut all = lower.clone();
    for (key, member) in higher {
        let both =
            all.get(&key).and_then(|known| known.value.as_hash()).zip(member.value.as_hash());
        let value = match both {
            Some((known, more)) => {
                Value::hash(merge_deep(known, more.clone()), Provenance::from_source(None))
            }
            None => member.value,
        };
        all.insert(key, Member { key_origin: None, value });
    }
    all
}

/// Merges both hashes; `higher` wins.
fn merge_members(lower: &Hash, higher: Hash) -> Hash {
    let mut all = lower.clone();
    all.extend(higher);
    all
}

/// Returns the members of both hashes that the other hash does not contradict.
fn agreed_members(one: &Hash, other: &Hash) -> Hash {
    let of_one = one.iter().filter(|(key, member)| !contradicts(key, member, other));
    let of_other = other.iter().filter(|(key, member)| !contradicts(key, member, one));
    of_one.chain(of_other).map(|(key, member)| (key.clone(), member.clone())).collect()
}

fn contradicts(key: &Key, member: &Member, of: &Hash) -> bool {
    of.get(key).is_some_and(|known| known.value != member.value)
}
