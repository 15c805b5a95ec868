//! Tokens to a tree, accepting exactly what libyaml 0.2.5's parser accepts, its bugs included.
//!
//! Reads the first document only, as Hiera does. What is wrong with it is a [`SyntaxError`] in
//! libyaml's words; the tree of a text with errors comes from [`super::recover`]. Nothing here
//! recurses, and nothing fails.

use std::collections::HashMap;

use super::recover;
use super::scan::{Result, Scanner, TagDirective, TagName, Token, TokenKind, char_floor};
use super::tree::{
    Node, NodeId, NodeKind, Property, ScalarStyle, SyntaxError, SyntaxErrorKind, Tree,
};
use crate::text::TextRange;

/// How deep collections may be nested. libyaml has no limit; Puppet's stack ends at a few thousand.
const MAX_DEPTH: usize = 1000;
/// What is said of a text that nests deeper.
pub(super) const TOO_DEEP: &str = "nesting too deep";

/// After how many steps somebody is asked whether to go on: some hundred microseconds.
const STEPS: u32 = 1 << 10;

/// libyaml reads its input in pieces of this size and refuses control characters when it reads the
/// piece.
const READER_PIECE: usize = 16_384;

/// Reads the first document of a YAML text. Never fails and never panics.
///
/// `problems` is empty exactly when libyaml 0.2.5 accepts the first document. Otherwise the tree
/// holds the top-level entries that can be read nevertheless; see `recover.rs`. Takes linear time.
pub fn parse(text: &str) -> Tree {
    // It goes on to the end, so there is a tree.
    parse_while(text, &|| true).unwrap_or_default()
}

/// The same as long as `goes_on` says so, which is asked from time to time; `None` when it says no.
pub fn parse_while(text: &str, goes_on: &dyn Fn() -> bool) -> Option<Tree> {
    Some(match attempt(text, goes_on)? {
        Ok(tree) => tree,
        Err(refused) => {
            let (run, error) = *refused;
            recover::recover(run.scanner.text(), run, error)
        }
    })
}

/// Reads the first document of a text that libyaml accepts.
pub(super) fn accepted(text: &str) -> Option<Tree> {
    attempt(text, &|| true)?.ok()
}

/// Reads a text, or finds out why libyaml refuses it. `None` when it does not go on.
fn attempt<'t>(
    text: &'t str,
    goes_on: &dyn Fn() -> bool,
) -> Option<std::result::Result<Tree, Box<(Run<'t>, SyntaxError)>>> {
    let text = &text[..char_floor(text, u32::MAX as usize)];
    let mut run = Run::new(text, 0, text.len(), Builder::default());
    // Data files have a node in about twenty bytes.
    run.builder.nodes.reserve(text.len() / 20);
    let read = whole(text, &mut run, goes_on)?;
    Some(match read {
        Ok(root) => {
            let comments = std::mem::take(&mut run.scanner.comments);
            let second_document = run.second_document();
            Ok(Tree {
                nodes: run.builder.nodes,
                root,
                comments,
                second_document,
                ..Tree::default()
            })
        }
        Err(error) => Err(Box::new((run, *error))),
    })
}

/// The same, but for a text that begins with a lone scalar, its tree holds the entries behind that.
///
/// To libyaml such a scalar is the whole first document, and the rest is not read. In an editor it
/// is a key that is being typed (with a comment below it), and the rest is what everybody else
/// still looks at.
pub fn parse_for_editing(text: &str) -> Tree {
    parse_for_editing_while(text, &|| true).unwrap_or_default()
}

/// The same as long as `goes_on` says so, which is asked from time to time; `None` when it says no.
pub fn parse_for_editing_while(text: &str, goes_on: &dyn Fn() -> bool) -> Option<Tree> {
    let tree = parse_while(text, goes_on)?;
    let (Some(root), Some(rest)) = (tree.root, tree.second_document) else { return Some(tree) };
    let is_scalar = matches!(tree.node(root).kind, NodeKind::Scalar { .. });
    let is_marker = text[rest.start as usize..].starts_with("---")
        || text[rest.start as usize..].starts_with("...");
    if !is_scalar || is_marker || !tree.problems.is_empty() {
        return Some(tree);
    }
    // With blanks in the scalar's place every other place stays what it is.
    let span = tree.whole_span(root).as_usize();
    let without = format!("{}{}{}", &text[..span.start], " ".repeat(span.len()), &text[span.end..]);
    let rest = parse_while(&without, goes_on)?;
    let is_mapping =
        rest.root.is_some_and(|root| matches!(rest.node(root).kind, NodeKind::Mapping { .. }));
    Some(if is_mapping { Tree { lone_scalar: Some(tree.node(root).span), ..rest } } else { tree })
}

/// The one error with which libyaml 0.2.5 refuses a text: what Puppet reports. `None` when it
/// accepts the first document.
///
/// [`parse`] reports more errors, and may blame another place for the first one.
pub fn verdict(text: &str) -> Option<SyntaxError> {
    let text = &text[..char_floor(text, u32::MAX as usize)];
    let mut run = Run::new(text, 0, text.len(), Builder::default());
    whole(text, &mut run, &|| true)?.err().map(|error| *error)
}

/// Reads the document as libyaml does; control characters are an error as soon as their piece of
/// the input is read. `None` when it does not go on.
fn whole(
    text: &str,
    run: &mut Run<'_>,
    goes_on: &dyn Fn() -> bool,
) -> Option<Result<Option<NodeId>>> {
    let result = run.document_while(goes_on)?;
    Some(match bad_char(text, 0) {
        Some(bad) if run.scanner.position() + 4 > piece_start(text, bad) => {
            Err(Box::new(bad_char_error(text, bad)))
        }
        _ => result,
    })
}

/// The first character at or after `from` that YAML does not allow.
pub(super) fn bad_char(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    for chunk in bytes[from..].chunks(64) {
        // A rough test that compiles to vector code; what it suspects is looked at closely.
        let suspect = chunk.iter().fold(false, |any, &byte| {
            any | (byte < 0x20) & (byte != b'\n') | (byte == 0x7F) | (byte == 0xC2) | (byte == 0xEF)
        });
        if suspect && let Some(found) = (at..at + chunk.len()).find(|at| is_bad(bytes, *at)) {
            return Some(found);
        }
        at += chunk.len();
    }
    None
}

fn is_bad(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'\t' | b'\n' | b'\r' => false,
        0..=0x1F | 0x7F => true,
        0xC2 => matches!(bytes.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9F)),
        0xEF => bytes.get(at + 1) == Some(&0xBF) && matches!(bytes.get(at + 2), Some(0xBE | 0xBF)),
        _ => false,
    }
}

pub(super) fn bad_char_error(text: &str, at: usize) -> SyntaxError {
    let len = text[at..].chars().next().map_or(0, char::len_utf8);
    SyntaxError {
        kind: SyntaxErrorKind::ControlCharacter,
        message: "control characters are not allowed".to_owned(),
        context: None,
        span: TextRange::from_usize(at..at + len),
    }
}

/// Where the piece of input begins with which libyaml reads the byte at `at`. Pieces end with whole
/// characters.
fn piece_start(text: &str, at: usize) -> usize {
    let mut start = 0;
    loop {
        let next = char_floor(text, start + READER_PIECE);
        if next > at || next == start {
            return start;
        }
        start = next;
    }
}

/// What the parser expects next; the names are libyaml's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequenceEntry,
    IndentlessSequenceEntry,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequenceFirstEntry,
    FlowSequenceEntry,
    FlowSequenceEntryMappingKey,
    FlowSequenceEntryMappingValue,
    FlowSequenceEntryMappingEnd,
    FlowMappingFirstKey,
    FlowMappingKey,
    FlowMappingValue,
    FlowMappingEmptyValue,
}

/// The tree under construction.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) nodes: Vec<Node>,
    /// The node that bears each anchor by now.
    pub(super) anchors: HashMap<Box<str>, NodeId>,
    /// Collections that are not closed yet.
    pub(super) open: Vec<Open>,
    /// Finished nodes that wait for the end of their collection.
    pub(super) done: Vec<NodeId>,
}

/// A collection that is not closed yet.
pub(super) struct Open {
    pub(super) node: NodeId,
    /// Its children begin here in [`Builder::done`].
    pub(super) first: usize,
    /// Where it began: its first token.
    mark: u32,
    /// Where its last indicator ended, lest it be cut off behind its last child.
    end: u32,
}

/// An anchor and a tag, met before their node.
#[derive(Default)]
struct Properties {
    anchor: Option<Box<Property>>,
    tag: Option<Box<Property>>,
}

impl Builder {
    fn add(&mut self, kind: NodeKind, span: TextRange, properties: Properties) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        if let Some(anchor) = &properties.anchor {
            self.anchors.insert(anchor.name.as_str().into(), id);
        }
        self.nodes.push(Node { kind, span, anchor: properties.anchor, tag: properties.tag });
        id
    }

    fn leaf(&mut self, kind: NodeKind, span: TextRange, properties: Properties) {
        let id = self.add(kind, span, properties);
        self.done.push(id);
    }

    /// An omitted scalar at `at`.
    pub(super) fn empty(&mut self, at: u32) {
        self.empty_with(at, Properties::default());
    }

    fn empty_with(&mut self, at: u32, properties: Properties) {
        self.leaf(
            NodeKind::Scalar { style: ScalarStyle::Plain, text: "".into() },
            TextRange::empty(at),
            properties,
        );
    }

    fn open(&mut self, kind: NodeKind, mark: TextRange, properties: Properties) {
        let node = self.add(kind, mark, properties);
        self.open.push(Open { node, first: self.done.len(), mark: mark.start, end: mark.end });
    }

    /// Closes the innermost collection; `end` where it has a bracket.
    fn close(&mut self, end: Option<u32>) {
        let Some(open) = self.open.pop() else { return };
        let children = &self.done[open.first..];
        let last = children.last().map_or(open.end, |id| self.nodes[id.0 as usize].span.end);
        let node = &mut self.nodes[open.node.0 as usize];
        node.span = TextRange::new(node.span.start, end.unwrap_or(last.max(open.end)));
        match &mut node.kind {
            NodeKind::Sequence { items, .. } => *items = children.to_vec(),
            NodeKind::Mapping { entries, .. } => {
                *entries = children.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
        }
        self.done.truncate(open.first);
        self.done.push(open.node);
    }

    /// Forgets the nodes from `keep` on, and all that is under construction.
    pub(super) fn forget_from(&mut self, keep: usize) {
        self.nodes.truncate(keep);
        self.anchors.retain(|_, id| (id.0 as usize) < keep);
        self.open.clear();
        self.done.clear();
    }

    /// Closes all that is open where the text ends or cannot be read on; gives the root.
    pub(super) fn close_all(&mut self, last_end: u32) -> Option<NodeId> {
        while let Some(open) = self.open.last() {
            let count = self.done.len() - open.first;
            let mapping = matches!(self.nodes[open.node.0 as usize].kind, NodeKind::Mapping { .. });
            if mapping && count % 2 == 1 {
                let key_end = self.nodes[self.done[self.done.len() - 1].0 as usize].span.end;
                self.empty(last_end.max(key_end));
            }
            let flow = matches!(
                self.nodes[open_id(&self.open).0 as usize].kind,
                NodeKind::Mapping { flow: true, .. } | NodeKind::Sequence { flow: true, .. }
            );
            self.close(flow.then_some(last_end));
        }
        self.done.pop()
    }
}

fn open_id(open: &[Open]) -> NodeId {
    open.last().expect("checked by the caller").node
}

/// One attempt to read a document from a part of a text.
pub(super) struct Run<'t> {
    pub(super) scanner: Scanner<'t>,
    pub(super) builder: Builder,
    pub(super) tags: Vec<TagDirective>,
    /// Where the last token with characters of its own ended.
    pub(super) last_end: u32,
    /// Where the run began.
    pub(super) start: usize,
    /// How many nodes there were then.
    pub(super) nodes_before: usize,
    states: Vec<State>,
    state: State,
    /// Whether it goes on where others left off, within the root mapping.
    is_behind_entries: bool,
}

impl<'t> Run<'t> {
    /// Prepares to read the text's bytes from `start`, which must be the start of a line, to `end`.
    pub(super) fn new(text: &'t str, start: usize, end: usize, builder: Builder) -> Run<'t> {
        let scanner = Scanner::new(text, start, end);
        let nodes_before = builder.nodes.len();
        let last_end = start as u32;
        Run {
            scanner,
            builder,
            tags: Vec::new(),
            last_end,
            start,
            nodes_before,
            states: Vec::new(),
            state: State::BlockNode,
            is_behind_entries: false,
        }
    }

    /// The same, as behind other entries of the mapping at the root, whose keys stand in this
    /// column.
    pub(super) fn behind_entries(mut self, column: usize) -> Run<'t> {
        self.scanner.enter_block(column);
        let mark = TextRange::from_usize(self.start..self.start);
        self.builder.open(
            NodeKind::Mapping { flow: false, entries: Vec::new() },
            mark,
            Properties::default(),
        );
        self.states.push(State::DocumentEnd);
        self.state = State::BlockMappingKey;
        self.is_behind_entries = true;
        self
    }

    /// Reads one document; `None` when there is none.
    pub(super) fn document(&mut self) -> Result<Option<NodeId>> {
        // It goes on to the end.
        self.document_while(&|| true).unwrap_or(Ok(None))
    }

    /// The same as long as `goes_on` says so; `None` when it says no.
    fn document_while(&mut self, goes_on: &dyn Fn() -> bool) -> Option<Result<Option<NodeId>>> {
        match self.begin() {
            Ok(true) => {}
            Ok(false) => return Some(Ok(None)),
            Err(error) => return Some(Err(error)),
        }
        let mut steps = 0_u32;
        while self.state != State::DocumentEnd {
            if let Err(error) = self.step() {
                return Some(Err(error));
            }
            steps += 1;
            if steps.is_multiple_of(STEPS) && !goes_on() {
                return None;
            }
        }
        // libyaml looks at the token behind the document before it ends it.
        Some(match self.scanner.peek() {
            Ok(_) => Ok(self.builder.done.pop()),
            Err(error) => Err(error),
        })
    }

    /// Reads the first entry of the mapping at the root, and tells where the next one begins.
    /// `None` when the root is something else.
    pub(super) fn first_entry(&mut self) -> Result<Option<usize>> {
        if !self.begin()? {
            return Ok(None);
        }
        while self.state != State::DocumentEnd {
            if self.state == State::BlockMappingKey
                && self.builder.open.len() == 1
                && self.builder.done.len() == 2
            {
                match self.scanner.peek()? {
                    Token { kind: TokenKind::Key, start, .. } => return Ok(Some(*start as usize)),
                    Token { kind: TokenKind::BlockEnd, start, .. } => {
                        return Ok(Some(*start as usize));
                    }
                    _ => {}
                }
            }
            self.step()?;
        }
        Ok(None)
    }

    /// Whether there is a document; then its start is read.
    fn begin(&mut self) -> Result<bool> {
        self.scanner.next()?;
        Ok(self.is_behind_entries || self.document_start()?)
    }

    /// Whether an error is told as one of the mapping at the root.
    pub(super) fn is_of_root(&self, error: &SyntaxError) -> bool {
        let Some((_, place)) = &error.context else { return false };
        error.kind == SyntaxErrorKind::BlockMapping
            && self.builder.open.first().is_some_and(|root| root.mark == place.start)
    }

    /// The place of what follows the document, if anything does.
    pub(super) fn second_document(&mut self) -> Option<TextRange> {
        loop {
            let token = self.scanner.next().ok()?;
            match token.kind {
                TokenKind::StreamStart | TokenKind::DocumentEnd | TokenKind::BlockEnd => {}
                TokenKind::StreamEnd => return None,
                _ if token.start == token.end => {
                    return Some(self.scanner.char_range(token.start as usize));
                }
                _ => return Some(TextRange::new(token.start, token.end)),
            }
        }
    }

    fn skip(&mut self) -> Token {
        let token = self.scanner.skip();
        let simple_key = token.start == token.end;
        if !token.kind.is_virtual() && !simple_key {
            self.last_end = token.end;
        }
        token
    }

    fn document_start(&mut self) -> Result<bool> {
        let token = self.scanner.peek()?;
        match token.kind {
            TokenKind::StreamEnd => return Ok(false),
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective(_)
            | TokenKind::DocumentStart => {
                self.directives()?;
                let token = self.scanner.peek()?;
                if !matches!(token.kind, TokenKind::DocumentStart) {
                    let start = token.start;
                    return Err(self.error(None, start, "did not find expected <document start>"));
                }
                self.skip();
                self.state = State::DocumentContent;
            }
            _ => self.state = State::BlockNode,
        }
        Ok(true)
    }

    fn directives(&mut self) -> Result<()> {
        let mut version_seen = false;
        loop {
            let token = self.scanner.peek()?;
            let start = token.start;
            match &token.kind {
                TokenKind::VersionDirective { .. } if version_seen => {
                    return Err(self.error(None, start, "found duplicate %YAML directive"));
                }
                TokenKind::VersionDirective { major: 1, minor: 1 | 2 } => version_seen = true,
                TokenKind::VersionDirective { .. } => {
                    return Err(self.error(None, start, "found incompatible YAML document"));
                }
                TokenKind::TagDirective(directive) => {
                    let directive = (**directive).clone();
                    if self.tags.iter().any(|known| known.handle == directive.handle) {
                        return Err(self.error(None, start, "found duplicate %TAG directive"));
                    }
                    self.tags.push(directive);
                }
                _ => return Ok(()),
            }
            self.skip();
        }
    }

    fn step(&mut self) -> Result<()> {
        match self.state {
            State::DocumentContent => self.document_content(),
            State::BlockNode => self.node_then(State::DocumentEnd, true, false),
            State::BlockSequenceEntry => self.block_sequence_entry(),
            State::IndentlessSequenceEntry => self.indentless_sequence_entry(),
            State::BlockMappingKey => self.block_mapping_key(),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequenceFirstEntry => self.flow_sequence_entry(true),
            State::FlowSequenceEntry => self.flow_sequence_entry(false),
            State::FlowSequenceEntryMappingKey => self.flow_sequence_entry_mapping_key(),
            State::FlowSequenceEntryMappingValue => self.flow_sequence_entry_mapping_value(),
            State::FlowSequenceEntryMappingEnd => {
                self.builder.close(None);
                self.state = State::FlowSequenceEntry;
                Ok(())
            }
            State::FlowMappingFirstKey => self.flow_mapping_key(true),
            State::FlowMappingKey => self.flow_mapping_key(false),
            State::FlowMappingValue => self.flow_mapping_value(),
            State::FlowMappingEmptyValue => {
                self.scanner.peek()?;
                self.empty_then(State::FlowMappingKey);
                Ok(())
            }
            State::DocumentEnd => Ok(()),
        }
    }

    fn document_content(&mut self) -> Result<()> {
        match self.scanner.peek()?.kind {
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective(_)
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                self.empty_then(State::DocumentEnd);
                Ok(())
            }
            _ => self.node_then(State::DocumentEnd, true, false),
        }
    }

    fn error(&self, context: Option<(&str, u32)>, at: u32, message: &str) -> Box<SyntaxError> {
        let context = context
            .map(|(context, start)| (context.to_owned(), TextRange::new(start, at.max(start))));
        Box::new(SyntaxError {
            kind: SyntaxErrorKind::Grammar,
            message: message.to_owned(),
            context,
            span: self.scanner.char_range(at as usize),
        })
    }

    /// An error within the innermost collection.
    fn collection_error(&mut self, context: &str, message: &str) -> Box<SyntaxError> {
        let mark = self.builder.open.last().map_or(0, |open| open.mark);
        match self.scanner.peek() {
            Ok(token) => {
                let at = token.start;
                self.error(Some((context, mark)), at, message)
            }
            Err(error) => error,
        }
    }

    /// An omitted node where the last indicator ended.
    fn empty_then(&mut self, state: State) {
        self.builder.empty(self.last_end);
        self.state = state;
    }

    fn pop_state(&mut self) {
        self.state = self.states.pop().expect("a state is pushed for each node");
    }

    /// Reads a node, or its beginning, and says how to go on behind it.
    fn node_then(&mut self, then: State, block: bool, indentless: bool) -> Result<()> {
        self.states.push(then);
        self.node(block, indentless)
    }

    fn node(&mut self, block: bool, indentless: bool) -> Result<()> {
        let token = self.scanner.peek()?;
        let start = token.start;
        if matches!(token.kind, TokenKind::Alias) {
            let token = self.skip();
            self.alias(&token);
            self.pop_state();
            return Ok(());
        }
        let properties = self.properties(start)?;
        let token = self.scanner.peek()?;
        let mark = TextRange::new(token.start, token.end);
        let (kind, state) = match token.kind {
            TokenKind::BlockEntry if indentless => (
                NodeKind::Sequence { flow: false, items: Vec::new() },
                State::IndentlessSequenceEntry,
            ),
            TokenKind::Scalar { .. } => {
                let token = self.skip();
                if let TokenKind::Scalar { style, text } = token.kind {
                    self.builder.leaf(NodeKind::Scalar { style, text }, mark, properties);
                }
                self.pop_state();
                return Ok(());
            }
            TokenKind::FlowSequenceStart => (
                NodeKind::Sequence { flow: true, items: Vec::new() },
                State::FlowSequenceFirstEntry,
            ),
            TokenKind::FlowMappingStart => {
                (NodeKind::Mapping { flow: true, entries: Vec::new() }, State::FlowMappingFirstKey)
            }
            TokenKind::BlockSequenceStart if block => {
                (NodeKind::Sequence { flow: false, items: Vec::new() }, State::BlockSequenceEntry)
            }
            TokenKind::BlockMappingStart if block => {
                (NodeKind::Mapping { flow: false, entries: Vec::new() }, State::BlockMappingKey)
            }
            _ if properties.anchor.is_some() || properties.tag.is_some() => {
                self.builder.empty_with(self.last_end, properties);
                self.pop_state();
                return Ok(());
            }
            _ => {
                let context =
                    if block { "while parsing a block node" } else { "while parsing a flow node" };
                return Err(self.error(
                    Some((context, start)),
                    mark.start,
                    "did not find expected node content",
                ));
            }
        };
        if self.builder.open.len() >= MAX_DEPTH {
            return Err(self.error(None, mark.start, TOO_DEEP));
        }
        self.builder.open(kind, mark, properties);
        if state != State::IndentlessSequenceEntry {
            self.skip();
        }
        self.state = state;
        Ok(())
    }

    fn alias(&mut self, token: &Token) {
        let name = self.name(token);
        let target = self.builder.anchors.get(name).copied();
        let kind = NodeKind::Alias { name: name.into(), target };
        self.builder.leaf(kind, TextRange::new(token.start, token.end), Properties::default());
    }

    /// The name of an anchor or alias.
    fn name(&self, token: &Token) -> &'t str {
        &self.scanner.text()[token.start as usize + 1..token.end as usize]
    }

    /// Reads an anchor and a tag, in either order.
    fn properties(&mut self, start: u32) -> Result<Properties> {
        let mut anchor = None;
        let mut tag: Option<(Box<TagName>, TextRange)> = None;
        loop {
            match self.scanner.peek()?.kind {
                TokenKind::Anchor if anchor.is_none() => {
                    let token = self.skip();
                    let span = TextRange::new(token.start, token.end);
                    anchor = Some(Box::new(Property { name: self.name(&token).to_owned(), span }));
                }
                TokenKind::Tag(_) if tag.is_none() => {
                    let token = self.skip();
                    if let TokenKind::Tag(name) = token.kind {
                        tag = Some((name, TextRange::new(token.start, token.end)));
                    }
                }
                _ => break,
            }
        }
        let tag = match tag {
            Some((name, span)) => {
                Some(Box::new(Property { name: self.full_tag(*name, span, start)?, span }))
            }
            None => None,
        };
        Ok(Properties { anchor, tag })
    }

    fn full_tag(&self, tag: TagName, span: TextRange, start: u32) -> Result<String> {
        if tag.handle.is_empty() {
            return Ok(tag.suffix);
        }
        let declared = self
            .tags
            .iter()
            .find(|known| known.handle == tag.handle)
            .map(|known| known.prefix.as_str());
        let prefix = match (declared, tag.handle.as_str()) {
            (Some(prefix), _) => prefix,
            (None, "!") => "!",
            (None, "!!") => "tag:yaml.org,2002:",
            (None, _) => {
                return Err(self.error(
                    Some(("while parsing a node", start)),
                    span.start,
                    "found undefined tag handle",
                ));
            }
        };
        Ok(format!("{prefix}{}", tag.suffix))
    }

    fn block_sequence_entry(&mut self) -> Result<()> {
        match self.scanner.peek()?.kind {
            TokenKind::BlockEntry => {
                self.entry_indicator();
                match self.scanner.peek()?.kind {
                    TokenKind::BlockEntry | TokenKind::BlockEnd => {
                        self.empty_then(State::BlockSequenceEntry)
                    }
                    _ => self.node_then(State::BlockSequenceEntry, true, false)?,
                }
                Ok(())
            }
            TokenKind::BlockEnd => {
                self.end_block();
                Ok(())
            }
            _ => Err(self.collection_error(
                "while parsing a block collection",
                "did not find expected '-' indicator",
            )),
        }
    }

    fn indentless_sequence_entry(&mut self) -> Result<()> {
        match self.scanner.peek()?.kind {
            TokenKind::BlockEntry => {
                self.entry_indicator();
                match self.scanner.peek()?.kind {
                    TokenKind::BlockEntry
                    | TokenKind::Key
                    | TokenKind::Value
                    | TokenKind::BlockEnd => {
                        self.empty_then(State::IndentlessSequenceEntry);
                    }
                    _ => self.node_then(State::IndentlessSequenceEntry, true, false)?,
                }
            }
            _ => {
                self.builder.close(None);
                self.pop_state();
            }
        }
        Ok(())
    }

    fn block_mapping_key(&mut self) -> Result<()> {
        match self.scanner.peek()?.kind {
            TokenKind::Key => {
                self.entry_indicator();
                match self.scanner.peek()?.kind {
                    TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                        self.empty_then(State::BlockMappingValue)
                    }
                    _ => self.node_then(State::BlockMappingValue, true, true)?,
                }
                Ok(())
            }
            TokenKind::BlockEnd => {
                self.end_block();
                Ok(())
            }
            _ => {
                let context = "while parsing a block mapping";
                let error = self.collection_error(context, "did not find expected key");
                Err(Box::new(SyntaxError { kind: SyntaxErrorKind::BlockMapping, ..*error }))
            }
        }
    }

    fn block_mapping_value(&mut self) -> Result<()> {
        match self.scanner.peek()?.kind {
            TokenKind::Value => {
                self.entry_indicator();
                match self.scanner.peek()?.kind {
                    TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                        self.empty_then(State::BlockMappingKey)
                    }
                    _ => self.node_then(State::BlockMappingKey, true, true)?,
                }
            }
            _ => self.empty_then(State::BlockMappingKey),
        }
        Ok(())
    }

    /// Takes a `-`, `?` or `:`, or the place of a key.
    fn entry_indicator(&mut self) {
        let token = self.skip();
        if let Some(open) = self.builder.open.last_mut() {
            open.end = open.end.max(token.end);
        }
    }

    fn end_block(&mut self) {
        self.skip();
        self.builder.close(None);
        self.pop_state();
    }

    fn end_flow(&mut self) {
        let token = self.skip();
        self.builder.close(Some(token.end));
        self.pop_state();
    }

    fn flow_sequence_entry(&mut self, first: bool) -> Result<()> {
        if matches!(self.scanner.peek()?.kind, TokenKind::FlowSequenceEnd) {
            self.end_flow();
            return Ok(());
        }
        if !first {
            if !matches!(self.scanner.peek()?.kind, TokenKind::FlowEntry) {
                return Err(self.collection_error(
                    "while parsing a flow sequence",
                    "did not find expected ',' or ']'",
                ));
            }
            self.skip();
        }
        let token = self.scanner.peek()?;
        match token.kind {
            TokenKind::Key => {
                let mark = TextRange::new(token.start, token.end);
                if self.builder.open.len() >= MAX_DEPTH {
                    return Err(self.error(None, mark.start, TOO_DEEP));
                }
                self.skip();
                self.builder.open(
                    NodeKind::Mapping { flow: true, entries: Vec::new() },
                    mark,
                    Properties::default(),
                );
                self.state = State::FlowSequenceEntryMappingKey;
            }
            TokenKind::FlowSequenceEnd => self.end_flow(),
            _ => self.node_then(State::FlowSequenceEntry, false, false)?,
        }
        Ok(())
    }

    fn flow_sequence_entry_mapping_key(&mut self) -> Result<()> {
        match self.scanner.peek()?.kind {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                // libyaml loses this token; `[? : x]` is an error because of it.
                self.empty_then(State::FlowSequenceEntryMappingValue);
                self.skip();
                Ok(())
            }
            _ => self.node_then(State::FlowSequenceEntryMappingValue, false, false),
        }
    }

    fn flow_sequence_entry_mapping_value(&mut self) -> Result<()> {
        if matches!(self.scanner.peek()?.kind, TokenKind::Value) {
            self.skip();
            if !matches!(
                self.scanner.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
            ) {
                return self.node_then(State::FlowSequenceEntryMappingEnd, false, false);
            }
        }
        self.empty_then(State::FlowSequenceEntryMappingEnd);
        Ok(())
    }

    fn flow_mapping_key(&mut self, first: bool) -> Result<()> {
        if matches!(self.scanner.peek()?.kind, TokenKind::FlowMappingEnd) {
            self.end_flow();
            return Ok(());
        }
        if !first {
            if !matches!(self.scanner.peek()?.kind, TokenKind::FlowEntry) {
                return Err(self.collection_error(
                    "while parsing a flow mapping",
                    "did not find expected ',' or '}'",
                ));
            }
            self.skip();
        }
        match self.scanner.peek()?.kind {
            TokenKind::Key => {
                self.skip();
                match self.scanner.peek()?.kind {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                        self.empty_then(State::FlowMappingValue);
                    }
                    _ => self.node_then(State::FlowMappingValue, false, false)?,
                }
            }
            TokenKind::FlowMappingEnd => self.end_flow(),
            _ => self.node_then(State::FlowMappingEmptyValue, false, false)?,
        }
        Ok(())
    }

    fn flow_mapping_value(&mut self) -> Result<()> {
        if matches!(self.scanner.peek()?.kind, TokenKind::Value) {
            self.skip();
            if !matches!(
                self.scanner.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowMappingEnd
            ) {
                return self.node_then(State::FlowMappingKey, false, false);
            }
        }
        self.empty_then(State::FlowMappingKey);
        Ok(())
    }
}
