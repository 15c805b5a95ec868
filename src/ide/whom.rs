//! For whom values are shown in a file: a node, or whoever reads it.

use crate::hiera::scope::Scope;
use crate::hiera::value::Value;
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::layers::Environment;

/// For whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// A node.
    Node {
        /// Its certname.
        name: String,
        /// Whether its hierarchy includes the file.
        reads: bool,
    },
    /// All nodes whose variables are these, as `name = value`.
    AnyWith(Vec<String>),
}

impl Whom {
    /// For whom the values are that `scope` gives in the file at `path`.
    pub fn of(snapshot: &Snapshot, environment: &Environment, scope: &Scope, path: &FilePath) -> Whom {
        if !scope.open {
            let is_config = environment.configs().any(|(_, config)| config.path == *path);
            return Whom::Node { name: scope.name.to_string(), reads: is_config || snapshot.sees(environment, scope, path) };
        }
        let known = scope.variables().filter(|(name, _)| *name != "environment");
        let leaves = known.flat_map(|(name, value)| flattened(name, value));
        Whom::AnyWith(leaves.map(|(name, value)| format!("{name} = {value}")).collect())
    }

    /// As words; `code` sets names apart.
    pub fn phrase(&self, code: impl Fn(&str) -> String) -> String {
        match self {
            Whom::Node { name, reads: true } => format!("node {}", code(name)),
            Whom::Node { name, reads: false } => format!("node {}, which does not read this file", code(name)),
            Whom::AnyWith(known) if known.is_empty() => "for any node".to_owned(),
            Whom::AnyWith(known) => {
                let known: Vec<String> = known.iter().map(|text| code(text)).collect();
                format!("for nodes with {}", known.join(", "))
            }
        }
    }
}

/// The leaves of a partial variable with their dotted names.
fn flattened(name: &str, value: &Value) -> Vec<(String, String)> {
    match value.as_hash() {
        Some(hash) => {
            hash.iter().flat_map(|(key, member)| flattened(&format!("{name}.{}", key.to_text()), &member.value)).collect()
        }
        None => vec![(name.to_owned(), value.to_text().into_owned())],
    }
}
