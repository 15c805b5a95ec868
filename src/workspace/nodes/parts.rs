//! The parts of a node that sources state.

use std::sync::Arc;

use crate::hiera::shared::share;
use crate::puppet::value::Value;
use crate::text::FilePath;

/// A part and the file that states it; `None` where no file does. A box, as of most nodes no file
/// states most parts, and a fleet has many nodes.
pub(in crate::workspace) type SourcedPart<T> = Option<Box<Sourced<T>>>;

/// A part and the file that states it.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Sourced<T> {
    pub(in crate::workspace) value: T,
    pub(in crate::workspace) by: FilePath,
}

impl<T> Sourced<T> {
    /// Returns a part that a file states.
    pub(in crate::workspace) fn new_part(value: T, by: &FilePath) -> SourcedPart<T> {
        Some(Box::new(Sourced { value, by: by.clone() }))
    }
}

/// Facts, or some of them.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Facts {
    /// A hash.
    pub(in crate::workspace) values: Value,
    /// Whether the values are all facts of the node, so that another fact does not exist.
    pub(in crate::workspace) are_all: bool,
}

/// A class, or a word for one, that a `node` block gives to its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workspace) struct Included {
    /// The function that is called with the name; `None` for `include` and its like.
    pub(in crate::workspace) function: Option<String>,
    /// The class's name, or the function's argument.
    pub(in crate::workspace) name: String,
}

/// The parts of one node. Each part comes from one file.
#[derive(Clone, Debug)]
pub(in crate::workspace) struct Parts {
    /// The certname.
    pub(in crate::workspace) name: Arc<str>,
    /// Whether `name` is certainly the node's certname, and not another name of the node.
    pub(in crate::workspace) is_certname: bool,
    /// The first file that names the node.
    pub(in crate::workspace) named_by: FilePath,
    pub(in crate::workspace) facts: SourcedPart<Facts>,
    /// The variables and parts of variables, dotted, of which a source that states some facts states
    /// all.
    pub(in crate::workspace) settled: Arc<[Arc<str>]>,
    /// A hash: `$trusted`, or some members of it.
    pub(in crate::workspace) trusted: SourcedPart<Value>,
    /// A hash: the classifier's parameters; each is a variable.
    pub(in crate::workspace) parameters: SourcedPart<Value>,
    /// A hash or a list: the classes that the classifier gives.
    pub(in crate::workspace) classes: SourcedPart<Value>,
    /// The name of the environment that the node is in.
    pub(in crate::workspace) environment: SourcedPart<Arc<str>>,
    /// A hash: the facts of the server about itself.
    pub(in crate::workspace) server_facts: SourcedPart<Value>,
    /// A hash: all variables, literally. All other parts are ignored beside it.
    pub(in crate::workspace) whole: SourcedPart<Value>,
    /// A hash: variables that the node's block in a manifest sets.
    pub(in crate::workspace) block: SourcedPart<Value>,
    /// The classes of the node's block in a manifest.
    pub(in crate::workspace) included: SourcedPart<Arc<[Included]>>,
}

impl Parts {
    /// Creates a node whose certname a file states.
    pub(in crate::workspace) fn of_certname(name: &str, by: &FilePath) -> Parts {
        Parts { is_certname: true, ..Parts::of_name(name, by) }
    }

    /// Creates a node with some name that a file states.
    pub(in crate::workspace) fn of_name(name: &str, by: &FilePath) -> Parts {
        Parts {
            name: share(name),
            is_certname: false,
            named_by: by.clone(),
            facts: None,
            settled: Arc::default(),
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
        fn replace_later<T: Clone>(mine: &mut Option<T>, other: &Option<T>) {
            if other.is_some() {
                mine.clone_from(other);
            }
        }
        if are_all(&other.facts) || !are_all(&self.facts) {
            replace_later(&mut self.facts, &other.facts);
        }
        self.is_certname |= other.is_certname;
        if !other.settled.is_empty() {
            self.settled = other.settled.clone();
        }
        replace_later(&mut self.trusted, &other.trusted);
        replace_later(&mut self.parameters, &other.parameters);
        replace_later(&mut self.classes, &other.classes);
        replace_later(&mut self.environment, &other.environment);
        replace_later(&mut self.server_facts, &other.server_facts);
        replace_later(&mut self.whole, &other.whole);
        replace_later(&mut self.block, &other.block);
        replace_later(&mut self.included, &other.included);
    }

    /// Whether no variable is unknown, except those of the certificate and of the server.
    pub(in crate::workspace) fn is_closed(&self) -> bool {
        self.whole.is_some() || self.facts.as_ref().is_some_and(|facts| facts.value.are_all)
    }

    /// Whether a `node` block of a manifest states anything about the node.
    pub(in crate::workspace) fn has_block(&self) -> bool {
        self.block.is_some() || self.included.is_some()
    }

    /// Returns the file with most parts of the node.
    pub(in crate::workspace) fn main_source(&self) -> &FilePath {
        None.or(self.whole.as_ref().map(|said| &said.by))
            .or(self.facts.as_ref().map(|said| &said.by))
            .or(self.parameters.as_ref().map(|said| &said.by))
            .or(self.classes.as_ref().map(|said| &said.by))
            .or(self.trusted.as_ref().map(|said| &said.by))
            .unwrap_or(&self.named_by)
    }
}

fn are_all(facts: &SourcedPart<Facts>) -> bool {
    facts.as_ref().is_some_and(|it| it.value.are_all)
}
