//! The parts of a node that sources state, and the one function that makes its scope of them.
//!
//! Source of the order: what a real compiler with a node terminus made of facts, parameters and
//! server facts.

use std::sync::Arc;

use super::values::without_nulls;
use super::{Node, SaidAs, VariableSource};
use crate::hiera::scope::{DeriveRule, Scope, Variable};
use crate::puppet::PuppetVersion;
use crate::puppet::value::{Hash, Key, Member, Provenance, Value};
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
/// The members of `$trusted` that only the node's certificate, or a command of the server, tells.
const OF_THE_CERTIFICATE: [&str; 2] = ["extensions", "external"];

/// A part and the file that states it.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Said<T> {
    pub(in crate::workspace) value: T,
    pub(in crate::workspace) by: FilePath,
}

/// Facts, or some of them.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Facts {
    /// A hash.
    pub(in crate::workspace) values: Value,
    /// Whether these are all of them, so that another one does not exist.
    pub(in crate::workspace) are_all: bool,
}

/// A class, or a word for one, that a `node` block gives to its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workspace) struct Included {
    /// The function that is called with it; `None` for `include` and its like.
    pub(in crate::workspace) function: Option<String>,
    /// The class's name, or the function's argument.
    pub(in crate::workspace) name: String,
}

/// The parts of one node. Each part comes from one file.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Parts {
    /// The certname.
    pub(in crate::workspace) name: Arc<str>,
    /// Whether that name is certainly its certname, and not another name of its.
    pub(in crate::workspace) is_certname: bool,
    /// The first file that names the node.
    pub(in crate::workspace) named_by: FilePath,
    pub(in crate::workspace) facts: Option<Said<Facts>>,
    /// A hash: `$trusted`, or some members of it.
    pub(in crate::workspace) trusted: Option<Said<Value>>,
    /// A hash: the classifier's parameters; each is a variable.
    pub(in crate::workspace) parameters: Option<Said<Value>>,
    /// A hash or a list: the classes that the classifier gives.
    pub(in crate::workspace) classes: Option<Said<Value>>,
    /// The name of the environment that the node is in.
    pub(in crate::workspace) environment: Option<Said<Arc<str>>>,
    /// A hash: the facts of the server about itself.
    pub(in crate::workspace) server_facts: Option<Said<Value>>,
    /// A hash: all variables, literally. All other parts are ignored beside it.
    pub(in crate::workspace) whole: Option<Said<Value>>,
    /// A hash: variables that the node's block in a manifest sets.
    pub(in crate::workspace) block: Option<Said<Value>>,
    /// The classes of that block.
    pub(in crate::workspace) included: Option<Said<Arc<[Included]>>>,
}

/// A variable that is known of a node by other ways than its parts.
pub(in crate::workspace) type Inferred = (String, String, VariableSource);

/// The input of a scope beyond the node.
pub(in crate::workspace) struct Around<'a> {
    /// The environment's name, for nodes that state none.
    pub(in crate::workspace) environment: &'a str,
    pub(in crate::workspace) puppet: PuppetVersion,
    /// The rules in `nodes.derive`.
    pub(in crate::workspace) rules: &'a Arc<[DeriveRule]>,
}

impl Parts {
    /// Creates a node whose certname a file states.
    pub(in crate::workspace) fn named(name: &str, by: &FilePath) -> Parts {
        Parts { is_certname: true, ..Parts::called(name, by) }
    }

    /// Creates a node with some name that a file states.
    pub(in crate::workspace) fn called(name: &str, by: &FilePath) -> Parts {
        Parts {
            name: name.into(),
            is_certname: false,
            named_by: by.clone(),
            facts: None,
            trusted: None,
            parameters: None,
            classes: None,
            environment: None,
            server_facts: None,
            whole: None,
            block: None,
            included: None,
        }
    }

    /// Takes the parts that `other`, a later source, states for the same node: part by part, never
    /// member by member. Of facts, all of them win over some.
    pub(in crate::workspace) fn join(&mut self, other: &Parts) {
        fn later<T: Clone>(mine: &mut Option<T>, other: &Option<T>) {
            if other.is_some() {
                mine.clone_from(other);
            }
        }
        let are_all =
            |facts: &Option<Said<Facts>>| facts.as_ref().is_some_and(|it| it.value.are_all);
        if are_all(&other.facts) || !are_all(&self.facts) {
            later(&mut self.facts, &other.facts);
        }
        self.is_certname |= other.is_certname;
        later(&mut self.trusted, &other.trusted);
        later(&mut self.parameters, &other.parameters);
        later(&mut self.classes, &other.classes);
        later(&mut self.environment, &other.environment);
        later(&mut self.server_facts, &other.server_facts);
        later(&mut self.whole, &other.whole);
        later(&mut self.block, &other.block);
        later(&mut self.included, &other.included);
    }

    /// Whether no variable is unknown, except those of the certificate and of the server.
    pub(in crate::workspace) fn is_closed(&self) -> bool {
        self.whole.is_some() || self.facts.as_ref().is_some_and(|facts| facts.value.are_all)
    }

    /// Returns the file with most parts of the node.
    pub(in crate::workspace) fn source(&self) -> &FilePath {
        None.or(self.whole.as_ref().map(|said| &said.by))
            .or(self.facts.as_ref().map(|said| &said.by))
            .or(self.parameters.as_ref().map(|said| &said.by))
            .or(self.classes.as_ref().map(|said| &said.by))
            .or(self.trusted.as_ref().map(|said| &said.by))
            .unwrap_or(&self.named_by)
    }

    /// Returns the node: its scope is that which Puppet makes of the parts. Variables that were
    /// inferred, and those that rules of the settings derive, come after them and replace nothing
    /// that is known; a rule counts more than a part of the name.
    ///
    /// The scope is open unless all facts, or all variables, are given.
    pub(in crate::workspace) fn node(
        self: Arc<Parts>,
        inferred: Vec<Inferred>,
        around: &Around<'_>,
    ) -> Node {
        let mut making = Making { scope: Scope::open_node(&self.name), told: Vec::new() };
        match &self.whole {
            Some(said) => {
                let hash = said.value.as_hash().cloned().unwrap_or_default();
                making.scope = literal_scope(&hash, &self.name, around.environment, around.puppet);
            }
            None => making.parts(&self, around),
        }
        let is_part = |(_, _, source): &Inferred| {
            matches!(source, VariableSource::NamePart | VariableSource::NoNamePart)
        };
        let (of_name, certain): (Vec<_>, Vec<_>) = inferred.into_iter().partition(is_part);
        making.set_all_unknown(certain);
        making.derive(around.rules);
        making.set_all_unknown(of_name);
        let states_environment = self.environment.is_some()
            || self.whole.as_ref().is_some_and(|said| said.value.get("environment").is_some());
        Node {
            name: self.name.clone(),
            scope: Arc::new(making.scope),
            source: self.source().clone(),
            environment: None,
            states_environment,
            is_given: false,
            told: making.told.into(),
            parts: self,
        }
    }
}

/// A scope that is being made, with the sources of its variables.
struct Making {
    scope: Scope,
    told: Vec<(Arc<str>, VariableSource)>,
}

impl Making {
    /// Sets a variable that nothing has set.
    fn set_new(&mut self, name: &str, value: Value, source: &VariableSource) {
        if !matches!(self.scope.get(name), Variable::Known(_)) {
            self.scope.set(name, value);
            self.told.push((name.into(), source.clone()));
        }
    }

    /// Sets those variables, or parts of variables, that are unknown.
    fn set_all_unknown(&mut self, inferred: Vec<Inferred>) {
        for (path, text, source) in inferred {
            if self.scope.get_path(&path) == Variable::Unknown {
                self.scope.set_path(&path, Value::given(&text));
                self.told.push((path.into(), source));
            }
        }
    }

    fn parts(&mut self, parts: &Parts, around: &Around<'_>) {
        if parts.is_closed() {
            self.scope = Scope::closed(&parts.name, []);
        }
        let certificate = parts.certificate();
        if let Some(said) = &parts.parameters {
            let source = VariableSource::Said(SaidAs::Parameter, said.by.clone());
            for (name, value) in variables_of(&said.value) {
                self.set_new(&name, value, &source);
            }
        }
        if let Some(said) = &parts.facts {
            self.facts(said, certificate.is_some());
        }
        if let Some(said) = &parts.server_facts {
            let source = VariableSource::Said(SaidAs::ServerFact, said.by.clone());
            for (name, value) in variables_of(&said.value) {
                self.set_new(&name, value, &source);
            }
            self.scope.set("server_facts", said.value.clone());
            self.told.push(("server_facts".into(), source));
        }
        self.trusted(parts, certificate);
        let environment =
            parts.environment.as_ref().map_or(around.environment, |said| &*said.value);
        self.scope.set("environment", Value::given(environment));
        if let Some(said) = &parts.environment {
            let source = VariableSource::Said(SaidAs::Environment, said.by.clone());
            self.told.push(("environment".into(), source));
        }
        if parts.is_closed() {
            complete(&mut self.scope, Some(&parts.name), environment, around.puppet);
        }
    }

    /// Each fact is a variable; of 200 facts one source is kept, as that of `facts`.
    fn facts(&mut self, said: &Said<Facts>, without_trusted: bool) {
        let source = VariableSource::Said(SaidAs::Fact, said.by.clone());
        for (name, value) in variables_of(&said.value.values) {
            if !matches!(self.scope.get(&name), Variable::Known(_)) {
                self.scope.set(&name, value);
            }
        }
        let mut facts = without_nulls(&said.value.values);
        if without_trusted && let Some(hash) = facts.as_hash() {
            let mut hash = hash.clone();
            hash.shift_remove("trusted");
            facts = Value::hash(hash, Provenance::written(None));
        }
        self.scope.set("facts", facts);
        self.told.push(("facts".into(), source));
    }

    /// `$trusted`: as a source says, or else made of the certname. Then its extensions are unknown,
    /// and not empty: the certificate may have some.
    fn trusted(&mut self, parts: &Parts, said: Option<(Value, FilePath)>) {
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
        self.scope.set("trusted", Value::hash(trusted, Provenance::written(None)));
        if parts.is_closed() && !is_said {
            self.scope.set_partial("trusted", &OF_THE_CERTIFICATE);
        }
    }

    fn derive(&mut self, rules: &Arc<[DeriveRule]>) {
        let before: Vec<Arc<str>> = self.scope.variables().map(|(name, _)| name.into()).collect();
        self.scope.derive(rules.clone());
        let is_new = |name: &&str| !before.iter().any(|known| **known == **name);
        let names: Vec<Arc<str>> =
            self.scope.variables().map(|(name, _)| name).filter(is_new).map(Arc::from).collect();
        self.told.extend(names.into_iter().map(|name| (name, VariableSource::Derived)));
    }
}

impl Parts {
    /// Returns `$trusted` as a source states it: by itself, or among the facts, where PuppetDB
    /// keeps it. Source: `Puppet::Node#sanitize`.
    pub(super) fn certificate(&self) -> Option<(Value, FilePath)> {
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
    let member = |value: Value| Member { key_origin: None, value };
    [
        (Key::string("authenticated"), member("remote".into())),
        (Key::string("certname"), member(Value::given(name))),
        (Key::string("hostname"), member(Value::given(hostname))),
        (Key::string("domain"), member(domain.map_or_else(|| Value::null(None), Value::given))),
    ]
    .into_iter()
    .collect()
}

/// `$trusted` as `puppet lookup` makes it of a certname alone: of a certificate without extensions.
pub(super) fn trusted_of_lookup(name: &str) -> Value {
    let mut trusted = made_of_certname(name);
    let member = |value: Value| Member { key_origin: None, value };
    trusted.insert(Key::string("authenticated"), member("local".into()));
    let none = Value::hash(Hash::default(), Provenance::written(None));
    trusted.insert(Key::string("extensions"), member(none));
    Value::hash(trusted, Provenance::written(None))
}

/// Creates a scope whose variables are exactly these, but for those that every scope has.
pub fn literal_scope(hash: &Hash, name: &str, environment: &str, puppet: PuppetVersion) -> Scope {
    let variables =
        hash.iter().map(|(key, member)| (Arc::from(key.to_text()), member.value.clone()));
    let mut scope = Scope::closed(name, variables);
    let facts = match scope.get("facts") {
        Variable::Known(facts) => facts,
        _ => Value::hash(Hash::default(), Provenance::written(None)),
    };
    let clientcert = facts.get("clientcert").and_then(Value::as_str).map(str::to_owned);
    complete(&mut scope, clientcert.as_deref(), environment, puppet);
    scope
}

/// Sets what every closed scope has and this one lacks.
fn complete(scope: &mut Scope, certname: Option<&str>, environment: &str, puppet: PuppetVersion) {
    let member = |value: Value| Member { key_origin: None, value };
    if !matches!(scope.get("trusted"), Variable::Known(_)) {
        let trusted = match certname {
            Some(certname) => trusted_of_lookup(certname),
            None => {
                let mut hash = made_of_certname("");
                for name in ["certname", "hostname", "domain"] {
                    hash.insert(Key::string(name), member(Value::null(None)));
                }
                hash.insert(Key::string("authenticated"), member("local".into()));
                let none = Value::hash(Hash::default(), Provenance::written(None));
                hash.insert(Key::string("extensions"), member(none));
                Value::hash(hash, Provenance::written(None))
            }
        };
        scope.set("trusted", trusted);
    }
    // `puppet lookup` of version 7 leaves it empty. Source: semantics 0.1,
    // `Puppet::Node#add_server_facts`.
    let mut server_facts = Hash::default();
    if puppet.major >= 8 && !matches!(scope.get("server_facts"), Variable::Known(_)) {
        server_facts.insert(Key::string("environment"), member(Value::given(environment)));
        let known_to = if puppet.major >= 9 { &SERVER_FACTS[..] } else { &SERVER_FACTS[..5] };
        scope.set_partial("server_facts", known_to);
    }
    for (name, value) in [
        ("facts", Value::hash(Hash::default(), Provenance::written(None))),
        ("server_facts", Value::hash(server_facts, Provenance::written(None))),
        ("environment", Value::given(environment)),
        ("module_name", Value::null(None)),
    ] {
        if !matches!(scope.get(name), Variable::Known(_)) {
            scope.set(name, value);
        }
    }
}

impl Node {
    /// Returns the classes that the node classifier gives, and the file that states them. Hiera is
    /// not asked for the parameters that it gives to them.
    pub fn classes(&self) -> Option<(&Value, &FilePath)> {
        self.parts.classes.as_ref().map(|said| (&said.value, &said.by))
    }

    /// Where a variable comes from; a part of one, from where the whole does. `None` for what every
    /// scope has, and for the variables of a whole scope.
    pub fn source_of(&self, name: &str) -> Option<&VariableSource> {
        let told = |name: &str| {
            self.told.iter().find(|(known, _)| **known == *name).map(|(_, source)| source)
        };
        let above = std::iter::successors(Some(name), |name| Some(name.rsplit_once('.')?.0));
        above.into_iter().find_map(told).or_else(|| {
            let root = name.split('.').next().unwrap_or(name);
            let is_fact = self.scope.get_path(&format!("facts.{root}"));
            told("facts").filter(|_| matches!(is_fact, Variable::Known(_)))
        })
    }
}
