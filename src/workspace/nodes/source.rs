//! The sources of nodes, and of their variables.

use std::sync::Arc;

use super::parts::Parts;
use super::steps::InferStep;
use crate::disk::Stamp;
use crate::text::FilePath;

/// Variables, dotted, each with its source.
pub type VariableSources = Arc<[(Arc<str>, VariableSource)]>;

/// The source of a node's variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VariableSource {
    /// A file states the variable.
    Said(SaidAs, FilePath),
    /// The path of the node's data file.
    Path,
    /// The node's name: the variable is another spelling or a part of it by definition.
    Name,
    /// The part of the node's name at a position at which nearly all nodes have a known value.
    NamePart,
    /// Longer names have a part for the variable, and the node's name has none: the variable is an
    /// empty text.
    NoNamePart,
    /// A rule of the settings.
    Derived,
    /// The names of data files, which show the variable of a kind of nodes.
    FileNames,
}

/// The role in which a file states a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// A variable of the node's `node` block.
    Variable,
    /// A class that the node's `node` block includes.
    Class,
}

impl VariableSource {
    /// Returns the source in words: `part of its name`, `fact in facts/web01.json`, with paths
    /// relative to `root`.
    pub fn source_phrase(&self, root: &FilePath) -> String {
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

/// A file that nodes come from.
#[derive(Clone, Debug)]
pub struct NodeSource {
    /// The file.
    pub path: FilePath,
    /// The folder of the environment whose own settings name the file; `None` where the workspace's
    /// do.
    pub environment: Option<FilePath>,
    /// The step of `nodes.infer` that found the file; `None` where settings name it.
    pub step: Option<InferStep>,
    /// The version of the file that was read.
    pub stamp: Option<Stamp>,
    /// The file's content, or why it has none.
    pub(in crate::workspace) nodes: Result<SourceContent, String>,
}

/// The content of a file that nodes come from.
#[derive(Clone, Debug, Default)]
pub(in crate::workspace) struct SourceContent {
    /// The parts of the file's nodes.
    pub(in crate::workspace) nodes: Vec<Arc<Parts>>,
    /// The blocks for nodes by patterns of their names, in the order of the file.
    pub(in crate::workspace) patterns: Vec<NodePattern>,
    /// The files that the source includes, with the versions that were read; `None` for a missing
    /// one.
    pub(in crate::workspace) included: Vec<(FilePath, Option<Stamp>)>,
    /// The plugins whose part of the file is unknown, each once.
    pub(in crate::workspace) plugins: Vec<String>,
}

/// A `node` block for names that a regular expression matches.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct NodePattern {
    /// The expression, as written.
    pub(in crate::workspace) regex: String,
    /// The parts that the block states; their name is empty.
    pub(in crate::workspace) parts: Arc<Parts>,
}

impl NodeSource {
    /// Returns the reason why no nodes were read from the file.
    pub fn read_error(&self) -> Option<&str> {
        self.nodes.as_ref().err().map(String::as_str)
    }

    /// Returns the plugins whose part of the file is unknown.
    pub fn unread_plugins(&self) -> &[String] {
        self.nodes.as_ref().map_or(&[], |found| &found.plugins)
    }

    /// Returns the file's blocks for nodes by patterns.
    pub(in crate::workspace) fn patterns(&self) -> &[NodePattern] {
        self.nodes.as_ref().map_or(&[], |found| &found.patterns)
    }

    /// Returns the parts of the file's nodes.
    pub(in crate::workspace) fn parts(&self) -> &[Arc<Parts>] {
        self.nodes.as_ref().map_or(&[], |found| &found.nodes)
    }
}
