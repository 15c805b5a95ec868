//! Builds a node from its parts.
//!
//! Source of the precedence: the scope that a real compiler with a node terminus built from facts,
//! parameters and server facts.

use std::sync::Arc;

use super::node::Node;
use super::parts::{Facts, Parts, Sourced};
use super::source::{SaidAs, VariableSource};
use super::values::without_nulls;
use crate::hiera::scope::{DeriveRule, Scope, Variable};
use crate::hiera::shared::{share, share_value};
use crate::puppet::value::{Hash, Key, Member, Provenance, Value};
use crate::puppet::{LegacyFacts, PuppetVersion};
use crate::text::FilePath;

/// Variables that neither a fact nor a parameter of the classifier sets.
const RESERVED: [&str; 4] = ["environment", "facts", "trusted", "server_facts"];
/// The facts that a compiling Puppet may have about itself, without the environment; the last one
/// is OpenVox 9's.
const SERVER_FACTS: [&str; 6] = [
    "serverversion",
    "servername",
    "serverip",
    "serverip6",
    "pe_serverversion",
    "serverimplementation",
];
/// The members of `$trusted` that come only from the node's certificate, or from a command of the
/// server.
const OF_THE_CERTIFICATE: [&str; 2] = ["extensions", "external"];

/// A variable that is known of a node by other ways than its parts.
pub(in crate::workspace) type Inferred = (String, String, VariableSource);

/// The input of a scope beyond the node.
pub(in crate::workspace) struct NodeSurroundings<'a> {
    /// The environment's name, for nodes that state none.
    pub(in crate::workspace) environment: &'a str,
    pub(in crate::workspace) puppet: PuppetVersion,
    /// The rules in `nodes.derive`.
    pub(in crate::workspace) rules: &'a Arc<[DeriveRule]>,
}

impl Parts {
    /// Returns the node: its scope is that which Puppet makes of the parts. Variables that were
    /// inferred, and those that rules of the settings derive, come after them and replace nothing
    /// that is known; a rule counts more than a part of the name.
    ///
    /// The scope is open unless all facts, or all variables, are given.
    pub(in crate::workspace) fn build_node(
        self: Arc<Parts>,
        inferred: Vec<Inferred>,
        around: &NodeSurroundings<'_>,
    ) -> Node {
        let mut making =
            NodeBuilder { scope: Scope::open_node(self.name.clone()), told: Vec::new() };
        match &self.whole {
            Some(said) => {
                let hash = said.value.as_hash().cloned().unwrap_or_default();
                making.scope = literal_scope(&hash, &self.name, around.environment, around.puppet);
            }
            None => making.add_parts(&self, around),
        }
        making.scope.set_settled(self.settled.clone());
        if around.puppet.legacy_facts == LegacyFacts::LeftOut {
            let parameters = self.parameters.as_ref().map(|said| variables_of(&said.value));
            let parameters = parameters.unwrap_or_default();
            making
                .scope
                .leave_out_legacy_facts(|name| parameters.iter().any(|(known, _)| known == name));
        }
        let (of_name, certain): (Vec<_>, Vec<_>) =
            inferred.into_iter().partition(|(_, _, source)| {
                matches!(source, VariableSource::NamePart | VariableSource::NoNamePart)
            });
        making.set_all_unknown(certain);
        making.derive(around.rules);
        making.set_all_unknown(of_name);
        let states_environment = self.environment.is_some()
            || self.whole.as_ref().is_some_and(|said| said.value.get("environment").is_some());
        Node {
            name: self.name.clone(),
            scope: Arc::new(making.scope.shrink()),
            source: self.main_source().clone(),
            environment: None,
            states_environment,
            is_given: false,
            is_stated: true,
            told: making.told.into(),
            parts: self,
        }
    }
}

/// A scope that is being made, with the sources of its variables.
struct NodeBuilder {
    scope: Scope,
    told: Vec<(Arc<str>, VariableSource)>,
}

impl NodeBuilder {
    /// Sets a variable that nothing has set.
    fn set_new(&mut self, name: &str, value: Value, source: &VariableSource) {
        if !matches!(self.scope.get(name), Variable::Known(_)) {
            self.scope.set_variable(name, value);
            self.told.push((name.into(), source.clone()));
        }
    }

    /// Sets the inferred variables, or parts of variables, that are unknown.
    fn set_all_unknown(&mut self, inferred: Vec<Inferred>) {
        for (path, text, source) in inferred {
            if self.scope.get_path(&path) == Variable::Unknown {
                self.scope.set_path(&path, share_value(&text));
                self.told.push((share(&path), source));
            }
        }
    }

    fn add_parts(&mut self, parts: &Parts, around: &NodeSurroundings<'_>) {
        if parts.is_closed() {
            self.scope = Scope::new_closed(parts.name.clone(), []);
        }
        let certificate = parts.stated_trusted();
        if let Some(said) = &parts.parameters {
            let source = VariableSource::Said(SaidAs::Parameter, said.by.clone());
            for (name, value) in variables_of(&said.value) {
                self.set_new(&name, value, &source);
            }
        }
        if let Some(said) = &parts.facts {
            self.add_facts(said, certificate.is_some());
        }
        if let Some(said) = &parts.server_facts {
            let source = VariableSource::Said(SaidAs::ServerFact, said.by.clone());
            for (name, value) in variables_of(&said.value) {
                self.set_new(&name, value, &source);
            }
            self.scope.set_variable("server_facts", said.value.clone());
            self.told.push(("server_facts".into(), source));
        }
        self.add_trusted(parts, certificate);
        let environment =
            parts.environment.as_ref().map_or(around.environment, |said| &*said.value);
        self.scope.set_variable("environment", share_value(environment));
        if let Some(said) = &parts.environment {
            let source = VariableSource::Said(SaidAs::Environment, said.by.clone());
            self.told.push(("environment".into(), source));
        }
        if parts.is_closed() {
            complete(&mut self.scope, Some(&parts.name), environment, around.puppet);
        }
    }

    /// Each fact is a variable; of 200 facts one source is kept, as that of `facts`.
    fn add_facts(&mut self, said: &Sourced<Facts>, without_trusted: bool) {
        let source = VariableSource::Said(SaidAs::Fact, said.by.clone());
        for (name, value) in variables_of(&said.value.values) {
            if !matches!(self.scope.get(&name), Variable::Known(_)) {
                self.scope.set_variable(&name, value);
            }
        }
        let mut facts = without_nulls(&said.value.values);
        if without_trusted && let Some(hash) = facts.as_hash() {
            let mut hash = hash.clone();
            hash.shift_remove("trusted");
            facts = Value::hash(hash, Provenance::from_source(None));
        }
        self.scope.set_variable("facts", facts);
        self.told.push(("facts".into(), source));
    }

    /// Sets `$trusted`: the value that a source states, or one made from the certname. The latter's
    /// extensions are unknown, not empty: the certificate may have some.
    fn add_trusted(&mut self, parts: &Parts, said: Option<(Value, FilePath)>) {
        let is_said = said.is_some();
        if !is_said && !parts.is_certname {
            return;
        }
        let mut trusted = made_of_certname(&parts.name);
        if let Some((value, by)) = said {
            let source = VariableSource::Said(SaidAs::Trusted, by);
            if parts.is_closed() {
                trusted = value.as_hash().cloned().unwrap_or_default();
            } else if let Some(hash) = value.as_hash() {
                trusted.extend(hash.iter().map(|(key, member)| (key.clone(), member.clone())));
            }
            self.told.push(("trusted".into(), source));
        } else {
            self.told.push(("trusted".into(), VariableSource::Name));
        }
        self.scope.set_variable("trusted", Value::hash(trusted, Provenance::from_source(None)));
        if parts.is_closed() && !is_said {
            self.scope.set_partial("trusted", &OF_THE_CERTIFICATE);
        }
    }

    fn derive(&mut self, rules: &Arc<[DeriveRule]>) {
        let before: Vec<Arc<str>> =
            self.scope.known_variables().map(|(name, _)| name.into()).collect();
        self.scope.derive(rules.clone());
        let names: Vec<Arc<str>> = self
            .scope
            .known_variables()
            .map(|(name, _)| name)
            .filter(|name| !before.iter().any(|known| **known == **name))
            .map(Arc::from)
            .collect();
        self.told.extend(names.into_iter().map(|name| (name, VariableSource::Derived)));
    }
}

impl Parts {
    /// Returns `$trusted` as a source states it: by itself, or among the facts, where PuppetDB
    /// keeps it. Source: `Puppet::Node#sanitize`.
    pub(super) fn stated_trusted(&self) -> Option<(Value, FilePath)> {
        if let Some(said) = &self.trusted {
            return Some((said.value.clone(), said.by.clone()));
        }
        let said = self.facts.as_ref()?;
        let trusted = said.value.values.get("trusted")?;
        let is_one = ["authenticated", "certname", "extensions"]
            .iter()
            .all(|name| trusted.get(name).is_some());
        is_one.then(|| (trusted.clone(), said.by.clone()))
    }
}

/// Returns the members of a hash of facts or parameters that are variables.
fn variables_of(hash: &Value) -> Vec<(String, Value)> {
    let members = hash.as_hash().into_iter().flatten();
    members
        .map(|(key, member)| (key.to_text().into_owned(), without_nulls(&member.value)))
        .filter(|(name, _)| !RESERVED.contains(&name.as_str()))
        .collect()
}

/// Returns the members of `$trusted` that follow from the certname.
fn made_of_certname(name: &str) -> Hash {
    let (hostname, domain) = match name.split_once('.') {
        Some((hostname, domain)) => (hostname, Some(domain)),
        None => (name, None),
    };
    [
        ("authenticated", share_value("remote")),
        ("certname", share_value(name)),
        ("hostname", share_value(hostname)),
        ("domain", domain.map_or_else(|| Value::new_null(None), share_value)),
    ]
    .into_iter()
    .map(|(key, value)| (Key::from(share_value(key)), new_member(value)))
    .collect()
}

fn new_member(value: Value) -> Member {
    Member { key_origin: None, value }
}

/// Returns `$trusted` as `puppet lookup` makes it of a certname alone: of a certificate without
/// extensions.
pub(super) fn trusted_of_lookup(name: &str) -> Value {
    let mut trusted = made_of_certname(name);
    trusted.insert(Key::new_string("authenticated"), new_member("local".into()));
    let none = Value::hash(Hash::default(), Provenance::from_source(None));
    trusted.insert(Key::new_string("extensions"), new_member(none));
    Value::hash(trusted, Provenance::from_source(None))
}

/// Creates a scope whose variables are exactly the members of a hash, but for those that every
/// scope has.
pub fn literal_scope(hash: &Hash, name: &str, environment: &str, puppet: PuppetVersion) -> Scope {
    let variables =
        hash.iter().map(|(key, member)| (Arc::from(key.to_text()), member.value.clone()));
    let mut scope = Scope::new_closed(name, variables);
    let facts = match scope.get("facts") {
        Variable::Known(facts) => facts,
        _ => Value::hash(Hash::default(), Provenance::from_source(None)),
    };
    let clientcert = facts.get("clientcert").and_then(Value::as_str).map(str::to_owned);
    complete(&mut scope, clientcert.as_deref(), environment, puppet);
    scope
}

/// Sets the variables that every closed scope has and this one lacks.
fn complete(scope: &mut Scope, certname: Option<&str>, environment: &str, puppet: PuppetVersion) {
    if !matches!(scope.get("trusted"), Variable::Known(_)) {
        let trusted = match certname {
            Some(certname) => trusted_of_lookup(certname),
            None => {
                let mut hash = made_of_certname("");
                for name in ["certname", "hostname", "domain"] {
                    hash.insert(Key::new_string(name), new_member(Value::new_null(None)));
                }
                hash.insert(Key::new_string("authenticated"), new_member("local".into()));
                let none = Value::hash(Hash::default(), Provenance::from_source(None));
                hash.insert(Key::new_string("extensions"), new_member(none));
                Value::hash(hash, Provenance::from_source(None))
            }
        };
        scope.set_variable("trusted", trusted);
    }
    // `puppet lookup` of version 7 leaves `server_facts` empty. Source: semantics 0.1,
    // `Puppet::Node#add_server_facts`.
    let mut server_facts = Hash::default();
    if puppet.major >= 8 && !matches!(scope.get("server_facts"), Variable::Known(_)) {
        server_facts
            .insert(Key::new_string("environment"), new_member(Value::from_argument(environment)));
        let known_to = if puppet.major >= 9 { &SERVER_FACTS[..] } else { &SERVER_FACTS[..5] };
        scope.set_partial("server_facts", known_to);
    }
    for (name, value) in [
        ("facts", Value::hash(Hash::default(), Provenance::from_source(None))),
        ("server_facts", Value::hash(server_facts, Provenance::from_source(None))),
        ("environment", share_value(environment)),
        ("module_name", share_value("")),
    ] {
        if !matches!(scope.get(name), Variable::Known(_)) {
            scope.set_variable(name, value);
        }
    }
}
