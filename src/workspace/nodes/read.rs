//! The formats that nodes are written in: the recognition of a hash's format, and the parts of a
//! node that it contains.

use std::sync::Arc;

use indexmap::IndexMap;

use super::build::{NodeSurroundings, trusted_of_lookup};
use super::parts::{Facts, Parts, Sourced};
use super::projected::{self, ProjectedParts};
use super::sources::bolt;
use super::sources::plugins::Plugins;
use super::steps::InferStep;
use super::values::read_values;
use crate::hiera::scope::Scope;
use crate::puppet::PuppetVersion;
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::FilePath;

/// The format of a hash that describes a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeFormat {
    /// PuppetDB's `inventory`: `certname`, `facts`, perhaps `trusted` and `environment`.
    Inventory,
    /// PuppetDB's `inventory` with a projection: `certname`, and parts such as `facts.os.family`;
    /// `null` where the node has no such part.
    Projected,
    /// A row of PuppetDB's `facts`: `certname`, `name`, `value`, perhaps `environment`.
    FactRow,
    /// A whole scope: `facts` and every other variable.
    Scope,
    /// PuppetDB's `factsets`: `facts.data` is a list of names and values.
    Factset,
    /// `puppet facts find`, the server's `facts/NAME.yaml`: `name` and `values`.
    Found,
    /// The server's `node/NAME.yaml`: `name` and `parameters`, which hold facts as well.
    Node,
    /// The output of a node classifier: `classes` or `parameters`, and no name.
    Classified,
    /// A Bolt inventory of version 2.
    Bolt,
    /// `facter --json`, `puppet facts show`: facts alone.
    Facts,
}

impl NodeFormat {
    /// Returns the shape of a hash. Source: the output of the programs, in the order in which their
    /// formats can be distinguished.
    pub(super) fn of_hash(hash: &Value) -> NodeFormat {
        let facts = hash.get("facts");
        if facts.and_then(|facts| facts.get("data")).and_then(Value::as_array).is_some() {
            NodeFormat::Factset
        } else if hash.get("certname").is_some() && is_hash(facts) {
            NodeFormat::Inventory
        } else if hash.get("certname").is_some() && projected::is_projected(hash) {
            NodeFormat::Projected
        } else if ["certname", "name", "value"].into_iter().all(|name| hash.get(name).is_some()) {
            NodeFormat::FactRow
        } else if is_hash(facts) && !bolt::is_inventory(hash) {
            NodeFormat::Scope
        } else if hash.get("name").is_some() && is_hash(hash.get("values")) {
            NodeFormat::Found
        } else if hash.get("name").is_some() && is_hash(hash.get("parameters")) {
            NodeFormat::Node
        } else if bolt::is_inventory(hash) {
            NodeFormat::Bolt
        } else if hash.get("name").is_none() && is_classified(hash) {
            NodeFormat::Classified
        } else {
            NodeFormat::Facts
        }
    }

    /// Returns the step of `nodes.infer` that reads files of this shape unasked.
    pub(super) fn infer_step(self) -> InferStep {
        match self {
            NodeFormat::Inventory
            | NodeFormat::Projected
            | NodeFormat::Factset
            | NodeFormat::FactRow => InferStep::Puppetdb,
            NodeFormat::Scope | NodeFormat::Found | NodeFormat::Facts => InferStep::Facts,
            NodeFormat::Node | NodeFormat::Classified => InferStep::Classifier,
            NodeFormat::Bolt => InferStep::Bolt,
        }
    }
}

fn is_hash(value: Option<&Value>) -> bool {
    value.is_some_and(|it| it.as_hash().is_some())
}

/// Whether a hash has only members of a node classifier's output: other keys would be facts.
fn is_classified(hash: &Value) -> bool {
    let keys = ["classes", "parameters", "environment"];
    let members = hash.as_hash().into_iter().flatten();
    let mut names = members.map(|(key, member)| (key.to_text(), &member.value));
    let has_one = hash.get("classes").is_some() || hash.get("parameters").is_some();
    has_one && names.all(|(name, value)| keys.contains(&&*name) && is_right_type(&name, value))
}

fn is_right_type(name: &str, value: &Value) -> bool {
    matches!(
        (name, value.data()),
        (_, Data::Null)
            | ("classes", Data::Hash(_) | Data::Array(_))
            | ("parameters", Data::Hash(_))
            | ("environment", Data::String(_))
    )
}

/// Reads the parts of the nodes in a file, and of those that a Bolt inventory includes: `facter --json`, `facter --yaml`, the output of `puppet
/// facts`, the server's own files, answers of PuppetDB, outputs of node classifiers, whole scopes,
/// Bolt inventories, lists of these, and JSON lines. Errors: why the file is none of them.
pub(super) fn read_parts_with(
    path: &FilePath,
    text: &str,
    plugins: &mut Plugins<'_>,
) -> Result<Vec<Parts>, String> {
    let values = read_values(path, text)?;
    let single = values.len() == 1;
    let mut all = Vec::new();
    let mut rows = FactRows::default();
    for (index, value) in values.iter().enumerate() {
        if value.as_hash().is_none() {
            return Err(format!("item {} is no hash of facts", index + 1));
        }
        let stem = file_stem(path);
        let fallback = if single { stem.to_owned() } else { format!("{stem}#{}", index + 1) };
        match NodeFormat::of_hash(value) {
            NodeFormat::Bolt => all.extend(bolt::read_targets(&plugins.resolve(value), path)?),
            NodeFormat::FactRow => rows.add(value),
            shape => {
                let mut parts = parts_of(value, shape, &fallback, path)?;
                // The rows of one answer have the same parts.
                let before = all.last().map(|last: &Parts| &last.settled);
                if let Some(same) = before.filter(|before| **before == parts.settled) {
                    parts.settled = same.clone();
                }
                all.push(parts);
            }
        }
    }
    all.extend(rows.into_parts(path));
    Ok(all)
}

/// The rows of PuppetDB's `facts`, by node.
#[derive(Default)]
struct FactRows<'a> {
    nodes: IndexMap<&'a str, (Hash, Option<&'a str>)>,
}

impl<'a> FactRows<'a> {
    /// Adds a row; one whose names are no texts is passed over.
    fn add(&mut self, row: &'a Value) {
        let (Some(certname), Some(name)) = (row_text("certname", row), row_text("name", row))
        else {
            return;
        };
        let (facts, environment) = self.nodes.entry(certname).or_default();
        let value = row.get("value").cloned().unwrap_or_else(|| Value::new_null(None));
        facts.insert(Key::new_string(name), Member { key_origin: None, value });
        *environment = row_text("environment", row).or(*environment);
    }

    /// Returns the parts of the nodes. A query may ask for some facts alone; agents send the fact
    /// `clientcert`, so that the facts of a node that has it are all.
    fn into_parts(self, path: &FilePath) -> impl Iterator<Item = Parts> {
        self.nodes.into_iter().map(move |(certname, (facts, environment))| {
            let are_all = facts.contains_key("clientcert");
            let values = Value::hash(facts, Provenance::from_source(None));
            let mut parts = Parts::of_certname(certname, path);
            parts.facts = Sourced::new_part(Facts { values, are_all }, path);
            parts.environment =
                environment.and_then(|name| Sourced::new_part(Arc::from(name), path));
            parts
        })
    }
}

fn row_text<'a>(name: &str, row: &'a Value) -> Option<&'a str> {
    row.get(name).and_then(Value::as_str)
}

/// Returns the shape of the first hash in a file, and that hash; `None` where there is none.
pub(super) fn first_shape(path: &FilePath, text: &str) -> Option<(NodeFormat, Value)> {
    let values = read_values(path, text).ok()?;
    let first = values.into_iter().next().filter(|value| value.as_hash().is_some())?;
    Some((NodeFormat::of_hash(&first), first))
}

/// Returns the name of a file without its extension; a certname keeps its dots.
fn file_stem(path: &FilePath) -> &str {
    path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem)
}

/// Returns the parts of a node that a hash states; the node is called `fallback` where the hash
/// does not name it. Errors: why it is no hash of facts.
fn parts_of(
    hash: &Value,
    shape: NodeFormat,
    fallback: &str,
    path: &FilePath,
) -> Result<Parts, String> {
    let at = |value: &Value, names: &[&str]| {
        plain_text(names.iter().try_fold(value, |value, name| value.get(name)))
    };
    let own_name = match shape {
        NodeFormat::Inventory
        | NodeFormat::Projected
        | NodeFormat::Factset
        | NodeFormat::FactRow => at(hash, &["certname"]),
        NodeFormat::Scope => {
            at(hash, &["trusted", "certname"]).or_else(|| at(hash, &["facts", "clientcert"]))
        }
        NodeFormat::Found => at(hash, &["values", "clientcert"]).or_else(|| at(hash, &["name"])),
        NodeFormat::Node => at(hash, &["name"]),
        NodeFormat::Classified | NodeFormat::Bolt => None,
        NodeFormat::Facts if path.extension() == Some("facts") => None, // all are `foo.example.com`
        NodeFormat::Facts => at(hash, &["clientcert"])
            .or_else(|| at(hash, &["fqdn"]))
            .or_else(|| at(hash, &["networking", "fqdn"])),
    };
    let mut parts = Parts::of_certname(&own_name.unwrap_or_else(|| fallback.to_owned()), path);
    let environment = || {
        plain_text(given_part("environment", hash))
            .and_then(|name| Sourced::new_part(Arc::from(name), path))
    };
    let facts = |values: Value| Sourced::new_part(Facts { values, are_all: true }, path);
    match shape {
        NodeFormat::Scope => parts.whole = Sourced::new_part(hash.clone(), path),
        NodeFormat::Inventory => {
            parts.facts = given_part("facts", hash).cloned().and_then(facts);
            parts.trusted = given_part("trusted", hash)
                .cloned()
                .and_then(|value| Sourced::new_part(value, path));
            parts.environment = environment();
        }
        NodeFormat::Projected => {
            let read = ProjectedParts::from_row(hash);
            let facts = Facts { values: read.facts, are_all: false };
            parts.facts = Sourced::new_part(facts, path);
            parts.trusted = read.trusted.and_then(|value| Sourced::new_part(value, path));
            parts.settled = read.settled;
            parts.environment = environment();
        }
        NodeFormat::Factset => {
            parts.facts = hash.get("facts").and_then(of_data).and_then(facts);
            parts.environment = environment();
        }
        NodeFormat::Found => parts.facts = given_part("values", hash).cloned().and_then(facts),
        NodeFormat::Node | NodeFormat::Classified => {
            parts.parameters = given_part("parameters", hash)
                .cloned()
                .and_then(|value| Sourced::new_part(value, path));
            parts.classes = given_part("classes", hash)
                .cloned()
                .and_then(|value| Sourced::new_part(value, path));
            parts.environment = environment();
        }
        NodeFormat::Facts => {
            let members = hash.as_hash().into_iter().flatten();
            let dotted = members.map(|(key, _)| key.to_text()).find(|name| name.contains('.'));
            if let Some(name) = dotted {
                return Err(format!(
                    "'{name}' is a part of a fact: `facter` prints whole facts when no fact is named"
                ));
            }
            parts.facts = facts(hash.clone());
        }
        NodeFormat::Bolt | NodeFormat::FactRow => {}
    }
    Ok(parts)
}

fn given_part<'a>(name: &str, hash: &'a Value) -> Option<&'a Value> {
    hash.get(name).filter(|value| !matches!(value.data(), Data::Null))
}

fn plain_text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}

/// Returns the facts of PuppetDB's factset: a list of hashes with `name` and `value`.
fn of_data(facts: &Value) -> Option<Value> {
    let hash: Option<Hash> = facts
        .get("data")?
        .as_array()?
        .iter()
        .map(|item| {
            let name = Key::new_string(item.get("name")?.as_str()?);
            Some((name, Member { key_origin: None, value: item.get("value")?.clone() }))
        })
        .collect();
    Some(Value::hash(hash?, Provenance::from_source(None)))
}

/// Returns the scopes of hashes in these formats, with the nodes' names, as `puppet lookup` sees
/// them: where a hash does not describe its certificate, the certificate has no extensions.
///
/// `certname` is the name that the user gives, which is that of a single node; of several, and
/// without it, each has the name in the data, or else `fallback`. Errors: the reason why a value is
/// no hash of facts.
pub fn scopes_of(
    values: &[Value],
    certname: Option<&str>,
    fallback: &str,
    environment: &str,
    puppet: PuppetVersion,
) -> Result<Vec<(String, Scope)>, String> {
    let path = FilePath::new(&format!("/{fallback}"));
    let mut all = Vec::new();
    let mut rows = FactRows::default();
    for value in values {
        if value.as_hash().is_none() {
            return Err("facts must be a hash".into());
        }
        match NodeFormat::of_hash(value) {
            NodeFormat::FactRow => rows.add(value),
            shape => all.push(parts_of(value, shape, fallback, &path)?),
        }
    }
    all.extend(rows.into_parts(&path));
    if let ([single], Some(certname)) = (&mut all[..], certname) {
        single.name = certname.into();
    }
    Ok(all.into_iter().map(|parts| scope_of_parts(parts, &path, environment, puppet)).collect())
}

fn scope_of_parts(
    mut parts: Parts,
    path: &FilePath,
    environment: &str,
    puppet: PuppetVersion,
) -> (String, Scope) {
    if parts.whole.is_none() && parts.stated_trusted().is_none() {
        let value = trusted_of_lookup(&parts.name);
        parts.trusted = Sourced::new_part(value, path);
    }
    let around = NodeSurroundings { environment, puppet, rules: &Arc::default() };
    let node = Arc::new(parts).build_node(Vec::new(), &around);
    (node.name.to_string(), (*node.scope).clone())
}

/// Returns the scope of a node whose certname alone is known, as `puppet lookup` sees it.
pub fn scope_of_name(certname: &str, environment: &str, puppet: PuppetVersion) -> Scope {
    let no_facts = Value::hash(Hash::default(), Provenance::from_source(None));
    let scopes = scopes_of(&[no_facts], Some(certname), certname, environment, puppet);
    let first = scopes.ok().and_then(|scopes| scopes.into_iter().next());
    first.map_or_else(|| Scope::open_node(certname), |(_, scope)| scope)
}
