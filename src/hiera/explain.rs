//! The explanation of a request, as Puppet prints it: a tree of the search, with the outcome of
//! each part.
//!
//! The tree is Puppet's own (`Puppet::Pops::Lookup::Explainer`), so that [`render_text`] and [`render_json`] can
//! print the same as `puppet lookup --explain`; semantics 8.6 and 8.7 describe both. Findings for
//! which Puppet has no words (a location that an unknown variable decides, a backend that cannot be
//! evaluated) stand among the [texts](Node::texts) of their node, where Puppet has the remarks of a
//! backend.

mod json;
mod text;

use std::sync::Arc;

use super::config::{ConfigVersion, Layer};
use super::error::LookupError;
use super::key::KeySegment;
use super::merge::Strategy;
use super::resolution::{RequestAnswer, UnsettledLevel};
use crate::puppet::print::PrintOptions;
use crate::puppet::value::{Secrecy, Value};
use crate::text::CancelToken;
use crate::text::{FilePath, Span};

pub use json::render_json;
pub use text::render_text;

/// The outcome of a request and the tree of its search.
#[derive(Debug)]
pub struct Explanation {
    /// The request's own node, a [`Kind::Request`].
    pub tree: Node,
    /// The answer; of options, `null`.
    pub answer: Result<Option<RequestAnswer>, LookupError>,
    /// The levels that could not be evaluated and could change the answer.
    pub unsettled_levels: Vec<UnsettledLevel>,
}

/// The subject of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The lookup, and the assembly of `lookup_options` before it.
    Lookup,
    /// The assembly of `lookup_options` alone.
    Options,
}

/// A part of the search.
#[derive(Debug)]
pub struct Node {
    /// The part.
    pub kind: Kind,
    /// The parts within the part, in the order of the search.
    pub branches: Vec<Node>,
    /// The outcome of the part.
    pub event: Option<Event>,
    /// The other texts about the part.
    pub texts: Vec<EventText>,
}

/// A text beside an event.
#[derive(Debug)]
pub enum EventText {
    /// A remark.
    Remark(String),
    /// The text of a function about itself. It carries the marks of values that it may quote.
    Told(Value),
    /// The error that ended the search. Its message may quote decrypted text.
    Failure(LookupError),
}

impl EventText {
    fn render(&self, shown: &ExplainOptions<'_>) -> String {
        match self {
            EventText::Remark(text) => text.clone(),
            EventText::Told(text) => match shown.mark_for(text.secrecy()) {
                Some(mark) => mark.to_owned(),
                None => text.to_text().into_owned(),
            },
            EventText::Failure(error) if shown.reveal => error.revealed_message(),
            EventText::Failure(error) => error.to_string(),
        }
    }
}

/// The parts of a search.
#[derive(Debug)]
pub enum Kind {
    /// The whole request.
    Request,
    /// The search for one key.
    Lookup {
        /// The key as asked for.
        key: Arc<str>,
        /// Whether the key's value must not be shown.
        secret: bool,
    },
    /// A key that is not looked up: `lookup_options`.
    InvalidKey,
    /// The strategy comes from `lookup_options`.
    MergeSource,
    /// A module that cannot be asked.
    Module(Arc<str>),
    /// A string with tokens.
    Interpolation {
        /// The string.
        expression: Arc<str>,
        /// Why the string must not be shown.
        secrecy: Secrecy,
    },
    /// Several places whose values become one.
    Merge(Strategy),
    /// A layer.
    Provider {
        /// The layer.
        layer: Layer,
        /// The version of the layer's config.
        version: ConfigVersion,
        /// The layer's config; `None` for one that no file holds.
        config: Option<FilePath>,
    },
    /// A level of a hierarchy, by name.
    Level(Arc<str>),
    /// A location of a level.
    Location {
        /// Whether the location is a URI and not a path.
        uri: bool,
        /// The place as written, or the whole pattern of a glob with its tokens replaced.
        original: Arc<str>,
        /// The place itself.
        place: Arc<str>,
    },
    /// The subkeys that are dug out of a value.
    SubKey(Vec<KeySegment>),
    /// One subkey.
    Segment,
    /// A part with a name of its own: the variables, the two sides of a merge of options, the
    /// default hierarchy.
    Scope(String),
}

/// The outcomes of a part.
#[derive(Debug)]
pub enum Event {
    /// A key was found.
    Found {
        /// The key.
        key: Arc<str>,
        /// The value of the key.
        value: Value,
        /// Where a location has the key.
        at: Option<Span>,
    },
    /// A variable is given by the overrides of the request.
    FoundInOverrides(Arc<str>, Value),
    /// A variable is given by the defaults of the request.
    FoundInDefaults(Arc<str>, Value),
    /// A key was not found.
    NotFound(Arc<str>),
    /// There is nothing at the location.
    LocationNotFound,
    /// The result of a merge.
    Result(Value),
    /// There is no such module.
    ModuleNotFound,
    /// The module has no data.
    ModuleProviderNotFound,
}

/// How a tree is shown.
#[derive(Clone, Copy, Default)]
pub struct ExplainOptions<'a> {
    /// Show the values of keys that become Sensitive, and decrypted text, as Puppet does: it
    /// converts a value only after it has shown it.
    pub reveal: bool,
    /// Show a mark in place of encrypted text.
    pub mask_encrypted: bool,
    /// Returns the line of a place; `None` to leave lines out, as Puppet does.
    pub line: Option<&'a dyn Fn(Span) -> u32>,
    /// Cancels the printing; `None` for never.
    pub cancel: Option<&'a CancelToken>,
}

impl ExplainOptions<'_> {
    /// Returns the text in place of a value with these marks; `None` where the value may be shown.
    fn mark_for(&self, secrecy: Secrecy) -> Option<&'static str> {
        self.print_options().mark_for(secrecy)
    }

    fn print_options(&self) -> PrintOptions<'_> {
        PrintOptions {
            reveal_marked: self.reveal,
            reveal_decrypted: self.reveal,
            mask_encrypted: self.mask_encrypted,
            ..PrintOptions::default()
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(CancelToken::is_cancelled)
    }
}

impl Node {
    /// Takes the search for a key out of a request that goes on to another key: that of
    /// `lookup_options`. `None` where the request does not begin with it, or ends there.
    pub fn take_first_search(&mut self, of: &str) -> Option<Node> {
        let goes_on = self.branches.last().is_some_and(|last| !is_lookup_of(last, of));
        let is_first = goes_on && self.branches.first().is_some_and(|node| is_lookup_of(node, of));
        is_first.then(|| self.branches.remove(0))
    }

    fn new(kind: Kind) -> Node {
        Node { kind, branches: Vec::new(), event: None, texts: Vec::new() }
    }

    /// Returns the only branch of a node that is not shown for itself: a merge of one place, a
    /// request of one part.
    fn only_branch(&self) -> Option<&Node> {
        match (&self.kind, self.branches.as_slice()) {
            (Kind::Merge(_) | Kind::Request, [only]) => Some(only),
            _ => None,
        }
    }

    /// Returns the node's name, as Puppet calls layers, levels and scopes.
    fn name(&self) -> Option<String> {
        Some(match &self.kind {
            Kind::Provider { layer, version, .. } => {
                let place = match layer {
                    Layer::Global => "Global".to_owned(),
                    Layer::Environment => "Environment".to_owned(),
                    Layer::Module(module) => format!("Module \"{module}\""),
                };
                format!("{place} Data Provider (hiera configuration version {version})")
            }
            Kind::Level(name) => format!("Hierarchy entry \"{name}\""),
            Kind::Scope(name) => name.clone(),
            _ => return None,
        })
    }

    /// Returns the line of the key that was found here.
    fn found_line(&self, shown: ExplainOptions<'_>) -> Option<u32> {
        match (&self.event, shown.line) {
            (Some(Event::Found { at: Some(at), .. }), Some(line)) => Some(line(*at)),
            _ => None,
        }
    }
}

fn is_lookup_of(node: &Node, of: &str) -> bool {
    matches!(&node.kind, Kind::Lookup { key, .. } if **key == *of)
}

/// Records the tree while a request runs: the nodes that are open, the request's own first.
#[derive(Debug)]
pub(super) struct Explainer {
    open: Vec<Node>,
}

impl Explainer {
    pub(super) fn new() -> Explainer {
        Explainer { open: vec![Node::new(Kind::Request)] }
    }

    pub(super) fn push(&mut self, kind: Kind) {
        self.open.push(Node::new(kind));
    }

    pub(super) fn pop(&mut self) {
        if self.open.len() > 1 {
            let done = self.open.pop().expect("there are two");
            self.current_node().branches.push(done);
        }
    }

    /// Returns the innermost open node.
    pub(super) fn current_node(&mut self) -> &mut Node {
        self.open.last_mut().expect("the request's own node is open to the end")
    }

    /// Returns the tree, all nodes closed.
    pub(super) fn finish(mut self) -> Node {
        while self.open.len() > 1 {
            self.pop();
        }
        self.open.remove(0)
    }
}
