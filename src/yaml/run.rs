//! Builds a tree from tokens. Accepts exactly the texts that libyaml 0.2.5's parser accepts, with
//! its bugs.
//!
//! A [`DocumentParser`] reads one document. Nothing here recurses, and nothing fails.

use super::builder::{Builder, Properties};
use super::scan::{Result, Scanner, TagDirective, TagName, Token, TokenKind};
use super::tree::{NodeId, NodeKind, Property, SyntaxError, SyntaxErrorKind};
use crate::text::TextRange;

mod collections;

/// How deep collections may be nested. libyaml has no limit; Puppet's stack ends at a few thousand.
const MAX_DEPTH: usize = 1000;
/// The message about a text that nests deeper.
pub(super) const TOO_DEEP: &str = "nesting too deep";

/// Parser steps between two cancellation checks (a few 100 µs).
const STEPS: u32 = 1 << 10;

/// The parser's next expectation; the names are libyaml's.
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

/// One attempt to read a document from a part of a text.
pub(super) struct DocumentParser<'t> {
    pub(super) scanner: Scanner<'t>,
    pub(super) builder: Builder,
    pub(super) tags: Vec<TagDirective>,
    /// Where the last token with characters of its own ended.
    pub(super) last_end: u32,
    /// Where the run began.
    pub(super) start: usize,
    /// How many nodes there were when the run began.
    pub(super) nodes_before: usize,
    states: Vec<State>,
    state: State,
    /// Whether the run continues where others ended, within the root mapping.
    is_behind_entries: bool,
}

impl<'t> DocumentParser<'t> {
    /// Prepares to read the text's bytes from `start`, which must be the start of a line, to `end`.
    pub(super) fn new(
        text: &'t str,
        start: usize,
        end: usize,
        builder: Builder,
    ) -> DocumentParser<'t> {
        let scanner = Scanner::new(text, start, end);
        let nodes_before = builder.nodes.len();
        let last_end = start as u32;
        DocumentParser {
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

    /// Returns the run with a root mapping already open, whose keys stand in this column.
    pub(super) fn behind_entries(mut self, column: usize) -> DocumentParser<'t> {
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
    pub(super) fn read_document(&mut self) -> Result<Option<NodeId>> {
        // The reading is never cancelled, so there is a result.
        self.document_while(&|| true).unwrap_or(Ok(None))
    }

    /// Reads one document; `None` when `goes_on` returned `false`.
    pub(super) fn document_while(
        &mut self,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Result<Option<NodeId>>> {
        match self.begin_document() {
            Ok(true) => {}
            Ok(false) => return Some(Ok(None)),
            Err(error) => return Some(Err(error)),
        }
        let mut steps = 0_u32;
        while self.state != State::DocumentEnd {
            if let Err(error) = self.parse_next() {
                return Some(Err(error));
            }
            steps += 1;
            if steps.is_multiple_of(STEPS) && !goes_on() {
                return None;
            }
        }
        // libyaml reads the token behind the document before it ends the document.
        Some(match self.scanner.peek() {
            Ok(_) => Ok(self.builder.done.pop()),
            Err(error) => Err(error),
        })
    }

    /// Reads the first entry of the mapping at the root, and returns where the next one begins.
    /// `None` when the root is something else.
    pub(super) fn first_entry(&mut self) -> Result<Option<usize>> {
        if !self.begin_document()? {
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
            self.parse_next()?;
        }
        Ok(None)
    }

    /// Whether there is a document; then its start is read.
    fn begin_document(&mut self) -> Result<bool> {
        self.scanner.next()?;
        Ok(self.is_behind_entries || self.document_start()?)
    }

    /// Whether an error is reported as one of the mapping at the root.
    pub(super) fn is_of_root(&self, error: &SyntaxError) -> bool {
        let Some((_, place)) = &error.context else { return false };
        error.kind == SyntaxErrorKind::BlockMapping
            && self.builder.open.first().is_some_and(|root| root.mark == place.start)
    }

    /// Returns the place of the text that follows the document, if any.
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
                self.read_directives()?;
                let token = self.scanner.peek()?;
                if !matches!(token.kind, TokenKind::DocumentStart) {
                    let start = token.start;
                    return Err(self.new_error(
                        None,
                        start,
                        "did not find expected <document start>",
                    ));
                }
                self.skip();
                self.state = State::DocumentContent;
            }
            _ => self.state = State::BlockNode,
        }
        Ok(true)
    }

    fn read_directives(&mut self) -> Result<()> {
        let mut version_seen = false;
        loop {
            let token = self.scanner.peek()?;
            let start = token.start;
            match &token.kind {
                TokenKind::VersionDirective { .. } if version_seen => {
                    return Err(self.new_error(None, start, "found duplicate %YAML directive"));
                }
                TokenKind::VersionDirective { major: 1, minor: 1 | 2 } => version_seen = true,
                TokenKind::VersionDirective { .. } => {
                    return Err(self.new_error(None, start, "found incompatible YAML document"));
                }
                TokenKind::TagDirective(directive) => {
                    let directive = (**directive).clone();
                    if self.tags.iter().any(|known| known.handle == directive.handle) {
                        return Err(self.new_error(None, start, "found duplicate %TAG directive"));
                    }
                    self.tags.push(directive);
                }
                _ => return Ok(()),
            }
            self.skip();
        }
    }

    fn parse_next(&mut self) -> Result<()> {
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

    fn new_error(&self, context: Option<(&str, u32)>, at: u32, message: &str) -> Box<SyntaxError> {
        let context = context
            .map(|(context, start)| (context.to_owned(), TextRange::new(start, at.max(start))));
        Box::new(SyntaxError {
            kind: SyntaxErrorKind::Grammar,
            message: message.to_owned(),
            context,
            span: self.scanner.char_range(at as usize),
        })
    }

    /// Returns an error within the innermost collection.
    fn collection_error(&mut self, context: &str, message: &str) -> Box<SyntaxError> {
        let mark = self.builder.open.last().map_or(0, |open| open.mark);
        match self.scanner.peek() {
            Ok(token) => {
                let at = token.start;
                self.new_error(Some((context, mark)), at, message)
            }
            Err(error) => error,
        }
    }

    /// An omitted node where the last indicator ended.
    fn empty_then(&mut self, state: State) {
        self.builder.add_empty(self.last_end);
        self.state = state;
    }

    fn pop_state(&mut self) {
        self.state = self.states.pop().expect("a state is pushed for each node");
    }

    /// Reads a node, or its beginning, and pushes `then`, the state behind the node.
    fn node_then(&mut self, then: State, block: bool, indentless: bool) -> Result<()> {
        self.states.push(then);
        self.parse_node(block, indentless)
    }

    fn parse_node(&mut self, block: bool, indentless: bool) -> Result<()> {
        let token = self.scanner.peek()?;
        let start = token.start;
        if matches!(token.kind, TokenKind::Alias) {
            let token = self.skip();
            self.add_alias(&token);
            self.pop_state();
            return Ok(());
        }
        let properties = self.read_properties(start)?;
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
                    self.builder.add_leaf(NodeKind::Scalar { style, text }, mark, properties);
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
                return Err(self.new_error(
                    Some((context, start)),
                    mark.start,
                    "did not find expected node content",
                ));
            }
        };
        if self.builder.open.len() >= MAX_DEPTH {
            return Err(self.new_error(None, mark.start, TOO_DEEP));
        }
        self.builder.open(kind, mark, properties);
        if state != State::IndentlessSequenceEntry {
            self.skip();
        }
        self.state = state;
        Ok(())
    }

    fn add_alias(&mut self, token: &Token) {
        let name = self.anchor_name(token);
        let target = self.builder.anchors.get(name).copied();
        let kind = NodeKind::Alias { name: name.into(), target };
        self.builder.add_leaf(kind, TextRange::new(token.start, token.end), Properties::default());
    }

    /// Returns the name of an anchor or alias.
    fn anchor_name(&self, token: &Token) -> &'t str {
        &self.scanner.source_text()[token.start as usize + 1..token.end as usize]
    }

    /// Reads an anchor and a tag, in either order.
    fn read_properties(&mut self, start: u32) -> Result<Properties> {
        let mut anchor = None;
        let mut tag: Option<(Box<TagName>, TextRange)> = None;
        loop {
            match self.scanner.peek()?.kind {
                TokenKind::Anchor if anchor.is_none() => {
                    let token = self.skip();
                    let span = TextRange::new(token.start, token.end);
                    anchor = Some(Box::new(Property {
                        name: self.anchor_name(&token).to_owned(),
                        span,
                    }));
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
                return Err(self.new_error(
                    Some(("while parsing a node", start)),
                    span.start,
                    "found undefined tag handle",
                ));
            }
        };
        Ok(format!("{prefix}{}", tag.suffix))
    }
}
