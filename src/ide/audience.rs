//! The audience of a file: the nodes whose values are shown in it. These are one node, the known
//! nodes that read the file, or every node with certain variables.

use crate::hiera::pattern::PatternMatch;
use crate::hiera::scope::Scope;
use crate::puppet::value::Value;
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::code_language;

/// The most readings of a file's path to name.
const MAX_READINGS: usize = 3;

/// The nodes whose values are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The values of one node.
    Node {
        /// The node's certname.
        name: String,
        /// Whether the node's hierarchy includes the file.
        reads: bool,
    },
    /// The values of the nodes of one kind.
    Kind {
        /// The variables of the kind, as `name = value`.
        name: String,
        /// Whether nodes of the kind may read the file.
        reads: bool,
    },
    /// The values of the known nodes that read the file.
    Known {
        /// How many nodes certainly read the file.
        readers: usize,
        /// The certname of the only reader of the file; `None` for several readers.
        only: Option<String>,
        /// How many nodes are known.
        of: usize,
        /// The variables of the readers according to the file's path, as `name = value`.
        variables: Vec<String>,
    },
    /// The values of all nodes, as no node of the environment is known.
    AnyUnknown,
    /// The values of all nodes with these variables, as `name = value`.
    AnyWith(Vec<String>),
    /// The values of all nodes with these variables, where the values depend on other variables,
    /// too.
    KindsWith(Vec<String>),
    /// The values of all nodes with the variables of one of these readings of the file's path, each
    /// as `name = value`.
    AnyReading(Vec<Vec<String>>),
    /// The values of the nodes that read the file, where the nodes are not named.
    Readers,
}

impl Audience {
    /// Returns the audience of the values that `scope` gives in the file at `path`.
    pub fn of_scope(
        snapshot: &Snapshot,
        environment: &Environment,
        scope: &Scope,
        path: &FilePath,
    ) -> Audience {
        let is_code = code_language(path).is_some();
        if scope.is_node {
            let is_config = environment.all_configs().any(|(_, config)| config.path == *path);
            return Audience::Node {
                name: scope.name.to_string(),
                reads: is_config || is_code || snapshot.reads_file(environment, scope, path),
            };
        }
        if let Some(kind) =
            snapshot.selected_reader(environment, path).filter(|it| it.name == scope.name)
        {
            return Audience::Kind {
                name: kind.name.to_string(),
                reads: is_code || snapshot.may_read(environment, scope, path),
            };
        }
        let told = variable_phrases(scope, environment, path);
        match scope.pinned.is_some().then(|| path_readings(environment, path)) {
            Some(Some(readings)) => Audience::AnyReading(readings),
            Some(None) if told.is_empty() => Audience::Readers,
            _ if told.is_empty() && snapshot.nodes_of(environment).is_empty() => {
                Audience::AnyUnknown
            }
            _ => Audience::AnyWith(told),
        }
    }

    /// Returns the audience of these known nodes, given by their numbers, where `scope` is that of
    /// the file's path.
    pub fn of_readers(
        snapshot: &Snapshot,
        environment: &Environment,
        scope: &Scope,
        path: &FilePath,
        readers: &[usize],
    ) -> Audience {
        let nodes = snapshot.nodes_of(environment);
        let only = match readers {
            [number] => Some(nodes[*number].name.to_string()),
            _ => None,
        };
        let variables = variable_phrases(scope, environment, path);
        Audience::Known { readers: readers.len(), only, of: nodes.len(), variables }
    }

    /// Returns this audience for values that depend on further variables: [`Audience::KindsWith`]
    /// for [`Audience::AnyWith`]; any other audience unchanged.
    pub fn of_kinds(self) -> Audience {
        match self {
            Audience::AnyUnknown => Audience::KindsWith(Vec::new()),
            Audience::AnyWith(known) => Audience::KindsWith(known),
            other => other,
        }
    }

    /// Returns the audience in words; `code` marks names up.
    pub fn to_phrase(&self, code: impl Fn(&str) -> String) -> String {
        let list = |texts: &[String]| {
            let texts: Vec<String> = texts.iter().map(|text| code(text)).collect();
            texts.join(", ")
        };
        match self {
            Audience::Node { name, reads: true } => format!("node {}", code(name)),
            Audience::Node { name, reads: false } => {
                format!("node {}, which does not read this file", code(name))
            }
            Audience::Kind { name, reads } => {
                let not = if *reads { "" } else { ", which do not read this file" };
                format!("for nodes with {}{not}", code(name))
            }
            Audience::Known { only: Some(name), of: 1, .. } => {
                format!("in the only known node {}", code(name))
            }
            Audience::Known { only: Some(name), .. } => {
                format!("in node {}, the only known one that reads this file", code(name))
            }
            Audience::Known { readers, of, .. } if readers == of => {
                format!("in all {of} known nodes")
            }
            Audience::Known { readers, variables, .. } => {
                let nodes = format!("in the {readers} known nodes that read this file");
                if variables.is_empty() { nodes } else { format!("{nodes} ({})", list(variables)) }
            }
            Audience::AnyUnknown => "for any node, as none is known".to_owned(),
            Audience::AnyWith(known) if known.is_empty() => "for any node".to_owned(),
            Audience::AnyWith(known) => format!("for nodes with {}", list(known)),
            Audience::KindsWith(known) if known.is_empty() => "by kind of node".to_owned(),
            Audience::KindsWith(known) => format!("by kind of node with {}", list(known)),
            Audience::AnyReading(readings) => {
                let readings: Vec<String> =
                    readings.iter().map(|reading| format!("with {}", list(reading))).collect();
                format!("for nodes {}", readings.join(", or "))
            }
            Audience::Readers => "for the nodes that read this file".to_owned(),
        }
    }
}

/// Returns the variables that each of the most literal locations binds in the path of a file; `None`
/// where the variables of one location are ambiguous, or there are more than [`MAX_READINGS`]
/// readings.
fn path_readings(environment: &Environment, path: &FilePath) -> Option<Vec<Vec<String>>> {
    let mut readings: Vec<Vec<String>> = Vec::new();
    for (_, found) in environment.literal_matches(path) {
        let PatternMatch::Bound(bindings) = found else { return None };
        let reading = bindings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    (readings.len() <= MAX_READINGS).then_some(readings)
}

/// Returns the variables of a scope, as `name = value`; `environment` only if the file's own path
/// contains it.
fn variable_phrases(scope: &Scope, environment: &Environment, path: &FilePath) -> Vec<String> {
    let is_told = environment.tells_environment(path);
    let known = scope.known_variables().filter(|(name, _)| *name != "environment" || is_told);
    let leaves = known.flat_map(|(name, value)| flatten_variable(name, value));
    leaves.map(|(name, value)| format!("{name} = {value}")).collect()
}

/// Returns the leaves of a partial variable with their dotted names.
fn flatten_variable(name: &str, value: &Value) -> Vec<(String, String)> {
    match value.as_hash() {
        Some(hash) => hash
            .iter()
            .flat_map(|(key, member)| {
                flatten_variable(&format!("{name}.{}", key.to_text()), &member.value)
            })
            .collect(),
        None => vec![(name.to_owned(), value.to_text().into_owned())],
    }
}
