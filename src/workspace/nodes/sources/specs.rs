//! Hosts of rspec-puppet as nodes.

use super::value_of;
use crate::manifest::model::Literal;
use crate::manifest::{DescribedHost, parse_hosts};
use crate::puppet::value::{Hash, Key, Member, Provenance, Value};
use crate::text::FilePath;
use crate::workspace::nodes::parts::{Facts, Parts, Sourced};

/// Reads the hosts that a spec describes. Their facts are some of the facts: a spec gives those
/// that the code under test needs.
pub(in crate::workspace::nodes) fn nodes_in(path: &FilePath, text: &str) -> Vec<Parts> {
    parse_hosts(text).iter().map(|host| host_parts(host, path)).collect()
}

fn host_parts(host: &DescribedHost, path: &FilePath) -> Parts {
    let mut parts = Parts::of_certname(&host.name, path);
    let value = |literal: &Option<Literal>| literal.as_ref().and_then(value_of);
    parts.facts = value(&host.facts)
        .and_then(|values| Sourced::new_part(Facts { values, are_all: false }, path));
    parts.parameters = value(&host.node_params).and_then(|value| Sourced::new_part(value, path));
    parts.trusted = value(&host.trusted_facts).and_then(|extensions| {
        let member = Member { key_origin: None, value: extensions };
        let hash: Hash = [(Key::new_string("extensions"), member)].into_iter().collect();
        Sourced::new_part(Value::hash(hash, Provenance::from_source(None)), path)
    });
    parts.environment =
        host.environment.as_ref().and_then(|name| Sourced::new_part(name.as_str().into(), path));
    parts
}
