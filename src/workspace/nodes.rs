//! Nodes: their parts in files, the variables that the names of data files show, and the scope made
//! of both.

pub(super) mod given;
mod inferred;
pub(super) mod kinds;
pub(super) mod list;
pub(super) mod parts;
mod positions;
mod read;
pub(super) mod sources;
mod steps;
mod values;

use std::sync::Arc;

pub(super) use inferred::node_variables;
pub use kinds::{Kinds, same_fact};
pub use parts::literal_scope;
pub(super) use read::read_parts;
pub use read::{scope_of, scope_of_name};
pub use steps::{Step, Steps};
pub use values::{from_json, read_values};

use crate::hiera::scope::{DeriveRule, Scope, Variable};
use crate::puppet::Value;
use crate::text::FilePath;

/// The sources of nodes, as the settings name them.
#[derive(Clone, Debug, PartialEq)]
pub struct NodesConfig {
    /// Globs of files with facts or scopes, relative to the workspace folder unless absolute.
    pub sources: Vec<String>,
    /// Rules that compute variables.
    pub derive: Arc<[DeriveRule]>,
    /// The certname of the node whose values are shown unless another is chosen.
    pub default: Option<String>,
    /// The ways in which nodes become known beyond those files.
    pub infer: Steps,
}

impl Default for NodesConfig {
    fn default() -> NodesConfig {
        NodesConfig {
            sources: Vec::new(),
            derive: Arc::default(),
            default: None,
            infer: Steps::ALL,
        }
    }
}

/// A node with its variables.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its certname, or the name used in its place.
    pub name: Arc<str>,
    /// Its variables. A variable that is not among them is undefined for a node whose facts are all
    /// known, and unknown for others: their scope is open.
    pub scope: Arc<Scope>,
    /// The file with most of its parts: facts, the classifier's output, a data file of its own.
    pub source: FilePath,
    /// The folder of the environment whose own settings name that file; `None` where the
    /// workspace's do, or none does.
    pub environment: Option<FilePath>,
    /// Whether a file says which environment it is in; the scope has the settings' environment
    /// otherwise.
    pub states_environment: bool,
    /// Whether the settings name a file that it is in. A fleet of such nodes is taken for complete.
    pub is_given: bool,
    /// The source of each variable; facts have one source together.
    pub told: VariableSources,
    /// Its parts, as files state them.
    pub(super) parts: Arc<parts::Parts>,
}

/// Variables, dotted, each with its source.
pub type VariableSources = Arc<[(Arc<str>, VariableSource)]>;

/// The source of a node's variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableSource {
    /// A file states it.
    Said(SaidAs, FilePath),
    /// The path of its data file.
    Path,
    /// Its name: the variable is another spelling or a part of it by definition.
    Name,
    /// The part of its name at a position at which nearly all nodes have a known value.
    NamePart,
    /// Longer names have a part for it, and this one has none: it is an empty text.
    NoNamePart,
    /// A rule of the settings.
    Derived,
    /// The names of data files, which show it of a kind of nodes.
    FileNames,
}

/// The role in which a file states a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaidAs {
    /// A fact.
    Fact,
    /// A part of the certificate.
    Trusted,
    /// A parameter of the node classifier.
    Parameter,
    /// The environment that the classifier or the agent chose.
    Environment,
    /// A fact of the server about itself.
    ServerFact,
    /// A variable of its `node` block.
    Variable,
    /// A class that its `node` block includes.
    Class,
}

impl VariableSource {
    /// In words: `part of its name`, `fact in facts/web01.json`, with paths relative to `root`.
    pub fn phrase(&self, root: &FilePath) -> String {
        match self {
            VariableSource::Said(said_as, path) => {
                let what = match said_as {
                    SaidAs::Fact => "fact",
                    SaidAs::Trusted => "certificate",
                    SaidAs::Parameter => "parameter",
                    SaidAs::Environment => "environment",
                    SaidAs::ServerFact => "server fact",
                    SaidAs::Variable => "variable in its node block",
                    SaidAs::Class => "class in its node block",
                };
                format!("{what} in {}", path.relative_to(root).unwrap_or(path.as_str()))
            }
            VariableSource::Path => "path of its data file".into(),
            VariableSource::Name => "its name".into(),
            VariableSource::NamePart => "part of its name".into(),
            VariableSource::NoNamePart => "its name has no such part".into(),
            VariableSource::FileNames => "names of data files".into(),
            VariableSource::Derived => "rule in nodes.derive".into(),
        }
    }
}

impl Node {
    /// Whether this is a kind of nodes: variables that several nodes may have in common.
    pub fn is_kind(&self) -> bool {
        !self.scope.is_node
    }

    /// Returns its scope in an environment of this name, which is the node's own where nothing else
    /// is said.
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

#[cfg(test)]
mod tests;
