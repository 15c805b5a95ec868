//! Nodes: facts files, whole scopes, and what the names of data files show.

mod inferred;
pub(super) mod list;
mod positions;

use std::sync::Arc;

use crate::hiera::scope::{DeriveRule, Scope, Variable};
use crate::puppet::PuppetVersion;
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::FilePath;

/// Where nodes come from, as the settings say.
#[derive(Clone, Debug, PartialEq)]
pub struct NodesConfig {
    /// Globs of files with facts or scopes, relative to the workspace folder unless absolute.
    pub sources: Vec<String>,
    /// Rules that compute variables.
    pub derive: Arc<[DeriveRule]>,
    /// The certname of the node whose values are shown unless another is chosen.
    pub default: Option<String>,
    /// Whether the names of data files show nodes, too.
    pub infer: bool,
}

impl Default for NodesConfig {
    fn default() -> NodesConfig {
        NodesConfig { sources: Vec::new(), derive: Arc::default(), default: None, infer: true }
    }
}

/// A node with its variables.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its certname, or what stands for it.
    pub name: Arc<str>,
    /// Its variables. Whatever they do not name is undefined for a node whose facts are given, and
    /// unknown for one that is inferred.
    pub scope: Arc<Scope>,
    /// The file that it comes from: facts, or a data file of its own.
    pub source: FilePath,
    /// The folder of the environment whose own settings name that file; `None` where the
    /// workspace's do.
    pub environment: Option<FilePath>,
    /// Whether the file says which environment it is in; the scope has the settings' environment
    /// otherwise.
    pub states_environment: bool,
    /// Where each variable comes from, if the node was inferred from the names of data files;
    /// `None` for one whose facts are given.
    pub inferred: Option<VariableSources>,
}

/// Variables, dotted, and where each comes from.
pub type VariableSources = Arc<[(Arc<str>, VariableSource)]>;

/// Where the variable of an inferred node comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableSource {
    /// The path of its data file.
    Path,
    /// Its name, of which the variable is another spelling or a part by definition.
    Name,
    /// The part of its name at a position at which nearly all nodes have a known value.
    NamePart,
    /// Longer names have a part for it, and this one has none: it is an empty text.
    NoNamePart,
    /// A rule of the settings.
    Derived,
}

impl std::fmt::Display for VariableSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            VariableSource::Path => "path of its data file",
            VariableSource::Name => "its name",
            VariableSource::NamePart => "part of its name",
            VariableSource::NoNamePart => "its name has no such part",
            VariableSource::Derived => "rule in nodes.derive",
        })
    }
}

impl Node {
    /// Its scope in an environment of this name, which is the node's own where nothing else is
    /// said.
    pub fn scope_in(&self, environment: &str) -> Arc<Scope> {
        let is_other = !matches!(self.scope.get("environment"), Variable::Known(name) if name.to_text() == environment);
        if self.states_environment || !is_other {
            return self.scope.clone();
        }
        let mut scope = (*self.scope).clone();
        scope.set("environment", Value::given(environment));
        if scope.get_path("server_facts.environment") != Variable::Undefined {
            scope.set_path("server_facts.environment", Value::given(environment));
        }
        Arc::new(scope)
    }
}

/// Reads the nodes of a source file.
///
/// Understood are hashes of facts (`facter --json`, `facter --yaml`), what `puppet facts` prints
/// (`name` and `values`), whole scopes (with a member `facts`), lists of these, and JSON lines.
/// Errors: why the file is none of them.
pub fn read_nodes(
    path: &FilePath,
    text: &str,
    environment: &str,
    puppet: PuppetVersion,
) -> Result<Vec<Node>, String> {
    let values = read_values(path, text)?;
    let stem = path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem);
    let single = values.len() == 1;
    let node = |(index, value): (usize, Value)| {
        let hash =
            value.as_hash().ok_or_else(|| format!("item {} is no hash of facts", index + 1))?;
        let fallback = if single { stem.to_owned() } else { format!("{stem}#{}", index + 1) };
        let (name, scope) = scope_of(hash, None, &fallback, environment, puppet);
        let states_environment = says_environment(hash);
        Ok(Node {
            name: name.into(),
            scope: Arc::new(scope),
            source: path.clone(),
            environment: None,
            states_environment,
            inferred: None,
        })
    };
    values.into_iter().enumerate().map(node).collect()
}

/// Whether facts, what `puppet facts` prints, or a whole scope have a variable `environment`.
fn says_environment(hash: &Hash) -> bool {
    let whole = hash.get("facts").is_some_and(|member| member.value.as_hash().is_some());
    let values = hash.get("values").and_then(|member| member.value.as_hash());
    let variables = values.filter(|_| !whole && hash.get("name").is_some()).unwrap_or(hash);
    variables.get("environment").is_some()
}

/// The hashes in a file of facts or scopes: JSON lines by the extension `jsonl`, else JSON or YAML,
/// a list giving several.
pub fn read_values(path: &FilePath, text: &str) -> Result<Vec<Value>, String> {
    if matches!(path.extension(), Some("jsonl" | "ndjson")) {
        let line = |(number, line): (usize, &str)| {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(line);
            parsed
                .map(|value| from_json(&value))
                .map_err(|error| format!("line {}: {error}", number + 1))
        };
        return text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(line)
            .collect();
    }
    let value = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => from_json(&value),
        Err(_) => from_yaml(
            &serde_yaml::from_str::<serde_yaml::Value>(text).map_err(|error| error.to_string())?,
        ),
    };
    Ok(match value.data() {
        Data::Array(items) => items.to_vec(),
        _ => vec![value],
    })
}

/// The scope of a hash of facts, of `puppet facts` output, or of a whole scope, and the node's
/// name.
///
/// `certname` is what the user says that it is called; otherwise the data say so, and `fallback` if
/// they do not.
pub fn scope_of(
    hash: &Hash,
    certname: Option<&str>,
    fallback: &str,
    environment: &str,
    puppet: PuppetVersion,
) -> (String, Scope) {
    let text_at = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    if let Some(facts) =
        hash.get("facts").map(|member| &member.value).filter(|value| value.as_hash().is_some())
    {
        let member = |hash: Option<&Value>, name: &str| {
            hash.and_then(|value| value.get(name)).and_then(Value::as_str).map(str::to_owned)
        };
        let trusted = hash.get("trusted").map(|member| &member.value);
        let name = certname
            .map(str::to_owned)
            .or_else(|| member(trusted, "certname"))
            .or_else(|| member(Some(facts), "clientcert"));
        let name = name.unwrap_or_else(|| fallback.to_owned());
        return (name.clone(), literal_scope(hash, &name, environment, puppet));
    }
    let (facts, given) =
        match (hash.get("values").and_then(|member| member.value.as_hash()), hash.get("name")) {
            (Some(values), Some(name)) => (values, text_at(Some(&name.value))),
            _ => (hash, None),
        };
    let fact = |name: &str| text_at(facts.get(name).map(|member| &member.value));
    let networking =
        || text_at(facts.get("networking").and_then(|member| member.value.get("fqdn")));
    let name = certname
        .map(str::to_owned)
        .or_else(|| fact("clientcert"))
        .or(given)
        .or_else(|| fact("fqdn"))
        .or_else(networking);
    let name = name.unwrap_or_else(|| fallback.to_owned());
    (name.clone(), facts_scope(facts, &name, environment, puppet))
}

/// A scope whose variables are exactly these, but for those that every scope has.
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

/// The scope that a node with these facts has before any manifest is evaluated: `facts`, each fact,
/// `trusted`, `server_facts`, `environment`.
pub fn facts_scope(
    facts: &Hash,
    certname: &str,
    environment: &str,
    puppet: PuppetVersion,
) -> Scope {
    // A fact without a value is an empty text to Puppet.
    let text_for_null = |value: &Value| {
        if matches!(value.data(), Data::Null) { Value::from("") } else { value.clone() }
    };
    let variables =
        facts.iter().map(|(key, member)| (Arc::from(key.to_text()), text_for_null(&member.value)));
    let mut scope = Scope::closed(certname, variables);
    scope.set("facts", Value::hash(facts.clone(), Provenance::written(None)));
    complete(&mut scope, Some(certname), environment, puppet);
    scope
}

/// What a Puppet that compiles may know of itself, but for the environment; the last one is OpenVox
/// 9's.
const SERVER_FACTS: [&str; 6] = [
    "serverversion",
    "servername",
    "serverip",
    "serverip6",
    "pe_serverversion",
    "serverimplementation",
];

fn complete(scope: &mut Scope, certname: Option<&str>, environment: &str, puppet: PuppetVersion) {
    let member = |value: Value| Member { key_origin: None, value };
    if !matches!(scope.get("trusted"), Variable::Known(_)) {
        let certname_value = certname.map_or_else(|| Value::null(None), Value::given);
        let (hostname, domain) = certname.map_or((None, None), |name| match name.split_once('.') {
            Some((hostname, domain)) => (Some(hostname), Some(domain)),
            None => (Some(name), None),
        });
        let or_null = |text: Option<&str>| text.map_or_else(|| Value::null(None), Value::given);
        let trusted: Hash = [
            (Key::string("authenticated"), member("local".into())),
            (Key::string("certname"), member(certname_value)),
            (
                Key::string("extensions"),
                member(Value::hash(Hash::default(), Provenance::written(None))),
            ),
            (Key::string("hostname"), member(or_null(hostname))),
            (Key::string("domain"), member(or_null(domain))),
        ]
        .into_iter()
        .collect();
        scope.set("trusted", Value::hash(trusted, Provenance::written(None)));
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

/// A JSON value as one of Hiera's.
pub fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::null(None),
        serde_json::Value::Bool(value) => Value::new(Data::Bool(*value), Provenance::written(None)),
        serde_json::Value::Number(number) => Value::new(
            match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Data::Integer(value),
                (None, Some(value)) if number.is_f64() => Data::Float(value),
                _ => Data::BigInteger(number.to_string().into()),
            },
            Provenance::written(None),
        ),
        serde_json::Value::String(text) => Value::string(text, Provenance::written(None)),
        serde_json::Value::Array(items) => {
            Value::array(items.iter().map(from_json).collect(), Provenance::written(None))
        }
        serde_json::Value::Object(members) => {
            let member = |(key, value): (&String, &serde_json::Value)| {
                (Key::string(key), Member { key_origin: None, value: from_json(value) })
            };
            Value::hash(members.iter().map(member).collect(), Provenance::written(None))
        }
    }
}

/// A YAML value of a facts file as one of Hiera's. Tags are passed over; keys that are not strings
/// become strings, as facts have no other.
fn from_yaml(value: &serde_yaml::Value) -> Value {
    match value {
        serde_yaml::Value::Null => Value::null(None),
        serde_yaml::Value::Bool(value) => Value::new(Data::Bool(*value), Provenance::written(None)),
        serde_yaml::Value::Number(number) => Value::new(
            number
                .as_i64()
                .map_or_else(|| Data::Float(number.as_f64().unwrap_or(f64::NAN)), Data::Integer),
            Provenance::written(None),
        ),
        serde_yaml::Value::String(text) => Value::string(text, Provenance::written(None)),
        serde_yaml::Value::Sequence(items) => {
            Value::array(items.iter().map(from_yaml).collect(), Provenance::written(None))
        }
        serde_yaml::Value::Mapping(members) => {
            let key = |key: &serde_yaml::Value| match from_yaml(key) {
                value if value.as_str().is_some_and(|text| text.starts_with(':')) => {
                    Key::string(&value.to_text()[1..])
                }
                value => Key::string(&value.to_text()),
            };
            let member = |(k, value): (&serde_yaml::Value, &serde_yaml::Value)| {
                (key(k), Member { key_origin: None, value: from_yaml(value) })
            };
            Value::hash(members.iter().map(member).collect(), Provenance::written(None))
        }
        serde_yaml::Value::Tagged(tagged) => from_yaml(&tagged.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(name: &str, text: &str) -> Vec<Node> {
        read_nodes(&FilePath::new(name), text, "production", PuppetVersion::of_major(7)).unwrap()
    }

    fn path(node: &Node, path: &str) -> String {
        match node.scope.get_path(path) {
            Variable::Known(value) => value.to_text().into_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn facts_as_facter_prints_them() {
        for (file, text) in [
            (
                "web01.json",
                r#"{"os": {"family": "Debian"}, "networking": {"fqdn": "web01.example.net"}, "gone": null}"#,
            ),
            (
                "web01.yaml",
                "os:\n  family: Debian\nnetworking:\n  fqdn: web01.example.net\ngone:\n",
            ),
        ] {
            let found = nodes(file, text);
            assert_eq!(&*found[0].name, "web01.example.net");
            assert_eq!(path(&found[0], "facts.os.family"), "Debian");
            assert_eq!(path(&found[0], "os.family"), "Debian");
            assert_eq!(path(&found[0], "trusted.hostname"), "web01");
            assert_eq!(path(&found[0], "gone"), "");
            assert_eq!(path(&found[0], "nope"), "Undefined");
        }
    }

    #[test]
    fn what_puppet_facts_prints_and_whole_scopes() {
        let found = nodes(
            "x.json",
            r#"{"name": "db01.example.net", "values": {"kernel": "Linux"}, "timestamp": "now"}"#,
        );
        assert_eq!(
            (&*found[0].name, path(&found[0], "facts.kernel").as_str()),
            ("db01.example.net", "Linux")
        );
        let scopes = "{\"facts\": {\"kernel\": \"Linux\"}, \"role\": \"web\", \"trusted\": {\"certname\": \"a\"}}\n\n{\"facts\": {}, \"trusted\": {\"certname\": \"b\"}}\n";
        let found = nodes("fleet.jsonl", scopes);
        assert_eq!(found.iter().map(|node| &*node.name).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(path(&found[0], "role"), "web");
        assert_eq!(
            path(&found[0], "kernel"),
            "Undefined",
            "the facts of a whole scope are not spread out"
        );
    }

    #[test]
    fn server_facts_are_there_from_version_8_on() {
        let read = |version: u8, text: &str| {
            let found = read_nodes(
                &FilePath::new("n.json"),
                text,
                "prod",
                PuppetVersion::of_major(version),
            )
            .unwrap()
            .remove(0);
            let scope = found.scope_in("test");
            ["environment", "servername", "serverimplementation", "x"]
                .map(|name| scope.get_path(&format!("server_facts.{name}")))
        };
        let known = |name: &str| Variable::Known(Value::given(name));
        assert_eq!(read(7, "{}"), [const { Variable::Undefined }; 4]);
        assert_eq!(
            read(8, "{}"),
            [known("test"), Variable::Unknown, Variable::Undefined, Variable::Undefined]
        );
        assert_eq!(
            read(9, "{}"),
            [known("test"), Variable::Unknown, Variable::Unknown, Variable::Undefined]
        );
        let given = r#"{"facts": {}, "server_facts": {"servername": "puppet"}}"#;
        assert_eq!(
            read(8, given),
            [Variable::Undefined, known("puppet"), Variable::Undefined, Variable::Undefined]
        );
    }

    #[test]
    fn a_file_that_is_none_of_these_says_why() {
        let error = |name: &str, text: &str| {
            read_nodes(&FilePath::new(name), text, "production", PuppetVersion::default())
                .unwrap_err()
        };
        assert!(error("x.yaml", "just text").contains("no hash of facts"));
        assert!(error("x.jsonl", "{}\n{").starts_with("line 2"));
    }
}
