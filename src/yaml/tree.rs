//! The spanned tree of one YAML (or JSON) file: its nodes with their places and styles.
//!
//! The tree does not hold the *meaning* of a scalar (see [`super::psych`]) and knows no Hiera.

use crate::text::TextRange;

/// A node's number within its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A file's first document as a tree, with all that was wrong on the way.
///
/// Only the first document counts for Hiera; the text behind it is not read.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// All nodes; parents come before or after their children, only [`NodeId`]s connect them.
    pub nodes: Vec<Node>,
    /// The root, or `None` for a file without content.
    pub root: Option<NodeId>,
    /// Syntax errors in the order of their place. Empty exactly when Puppet's own reader (libyaml)
    /// accepts the text.
    pub problems: Vec<SyntaxError>,
    /// libyaml's own error for a text that it refuses; `problems` may have other places and words
    /// for it.
    pub verdict: Option<SyntaxError>,
    /// Comments with their `#`, in order, without the line break.
    pub comments: Vec<TextRange>,
    /// Where a second document starts (its `---`), if there is one: Hiera does not read it.
    pub second_document: Option<TextRange>,
    /// A lone scalar that is the whole first document although more follows it; the tree holds that
    /// instead. Only [`parse_for_editing`](super::parse_for_editing) looks for it.
    pub lone_scalar: Option<TextRange>,
    /// Whether nodes may stand anywhere, as they do in HOCON: children in no order, or outside of
    /// their parents.
    pub scattered: bool,
    /// Nodes that stand for a substitution of HOCON, in order: their places are those of its
    /// target.
    pub copies: Vec<NodeId>,
}

/// One node: a scalar, a collection or an alias.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The node's kind.
    pub kind: NodeKind,
    /// All of the node, quotes and brackets included, anchors and tags not. A block collection ends
    /// with its last child; a block scalar with its last line's content. An empty (omitted) scalar
    /// is an empty range where the value would stand.
    pub span: TextRange,
    /// `&name`, with its place including the `&`.
    pub anchor: Option<Box<Property>>,
    /// The tag as written (`!!str`, `!vault`, `!<tag:...>`), with its place.
    pub tag: Option<Box<Property>>,
}

/// An anchor or a tag of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The anchor's name without `&`; the tag in full form, `!!str` resolved to
    /// `tag:yaml.org,2002:str`.
    pub name: String,
    /// The place of the anchor or the tag.
    pub span: TextRange,
}

/// The kinds of node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A scalar; its text is decoded (escapes, folding) but not resolved.
    Scalar {
        /// How the scalar is written.
        style: ScalarStyle,
        /// The decoded text.
        text: Box<str>,
    },
    /// A list.
    Sequence {
        /// Whether the list is written `[…]`.
        flow: bool,
        /// The list's elements in order.
        items: Vec<NodeId>,
    },
    /// A hash, with every entry as written: duplicates and merge keys included.
    Mapping {
        /// Whether the hash is written `{…}`.
        flow: bool,
        /// Key and value of each entry, in order.
        entries: Vec<(NodeId, NodeId)>,
    },
    /// `*name`.
    Alias {
        /// The name without `*`.
        name: Box<str>,
        /// The node that bears the anchor last defined before the alias; `None` when there is
        /// none.
        target: Option<NodeId>,
    },
}

/// How a scalar is written; it decides whether its text is resolved to a type or is a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// A number, `true`, `false` or `null` of a JSON or HOCON file.
    JsonLiteral,
    /// A string of a HOCON file: quoted, not quoted, or joined of several values.
    Hocon,
}

/// The kinds of syntax error that are treated otherwise than all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// Any other.
    #[default]
    Grammar,
    /// A block mapping does not go on as one.
    BlockMapping,
    /// A character that libyaml refuses anywhere in a text. libyaml names no place.
    ControlCharacter,
    /// A key of HOCON that is a path with an empty element. The library names no place.
    EmptyKeyElement,
}

/// Why a text is not YAML (or JSON), in the words of the reader that Puppet uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The kind of error.
    pub kind: SyntaxErrorKind,
    /// libyaml's problem, such as `did not find expected key`.
    pub message: String,
    /// libyaml's context, such as `while parsing a block mapping`, with the place where that began.
    pub context: Option<(String, TextRange)>,
    /// The place of the problem; never empty unless it is the end of the text.
    pub span: TextRange,
}

/// One step on the way from the root to a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// Into a mapping's entry, by number.
    Entry(usize),
    /// Into a sequence's element, by number.
    Item(usize),
}

impl Node {
    /// Returns the node as one of a tree in which others are before it, and of a text that so many
    /// bytes are before.
    pub(super) fn shift(mut self, others: u32, by: u32) -> Node {
        let id = |id: &mut NodeId| id.0 += others;
        match &mut self.kind {
            NodeKind::Sequence { items, .. } => items.iter_mut().for_each(id),
            NodeKind::Mapping { entries, .. } => {
                entries.iter_mut().flat_map(|(key, value)| [key, value]).for_each(id)
            }
            NodeKind::Alias { target, .. } => target.iter_mut().for_each(id),
            NodeKind::Scalar { .. } => {}
        }
        for property in [&mut self.anchor, &mut self.tag].into_iter().flatten() {
            property.span = property.span.offset_by(by);
        }
        Node { span: self.span.offset_by(by), ..self }
    }
}

impl SyntaxError {
    /// Returns the error as one of a text that so many bytes are before.
    pub(super) fn shift(self, by: u32) -> SyntaxError {
        let context = self.context.map(|(context, place)| (context, place.offset_by(by)));
        SyntaxError { context, span: self.span.offset_by(by), ..self }
    }
}

impl Tree {
    /// Adds a mapping of these entries, at least one, and returns its number. The caller makes it
    /// the root.
    pub(super) fn add_root(&mut self, entries: Vec<(NodeId, NodeId)>, flow: bool) -> NodeId {
        let span = |id: NodeId| self.nodes[id.0 as usize].span;
        let span = entries.iter().fold(span(entries[0].0), |all, (key, value)| {
            all.cover(span(*key)).cover(span(*value))
        });
        let kind = NodeKind::Mapping { flow, entries };
        self.nodes.push(Node { kind, span, anchor: None, tag: None });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Returns the node with this number.
    ///
    /// # Panics
    /// If `id` belongs to another tree and is out of range.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Returns the entries of a mapping; none for any other node.
    pub fn entries(&self, id: NodeId) -> &[(NodeId, NodeId)] {
        match &self.node(id).kind {
            NodeKind::Mapping { entries, .. } => entries,
            _ => &[],
        }
    }

    /// Returns the decoded text of a scalar.
    pub fn scalar(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).kind {
            NodeKind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Returns the node itself, or the target of an alias. `None` for an alias without target.
    ///
    /// Aliases point to nodes, never to other aliases, so one step suffices.
    pub fn resolve(&self, id: NodeId) -> Option<NodeId> {
        match &self.node(id).kind {
            NodeKind::Alias { target, .. } => *target,
            _ => Some(id),
        }
    }
}
