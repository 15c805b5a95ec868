//! The states within block and flow collections.

use super::{DocumentParser, MAX_DEPTH, State, TOO_DEEP};
use crate::text::TextRange;
use crate::yaml::builder::Properties;
use crate::yaml::scan::{Result, TokenKind};
use crate::yaml::tree::{NodeKind, SyntaxError, SyntaxErrorKind};

impl DocumentParser<'_> {
    pub(super) fn block_sequence_entry(&mut self) -> Result<()> {
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

    pub(super) fn indentless_sequence_entry(&mut self) -> Result<()> {
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

    pub(super) fn block_mapping_key(&mut self) -> Result<()> {
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

    pub(super) fn block_mapping_value(&mut self) -> Result<()> {
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
    pub(super) fn entry_indicator(&mut self) {
        let token = self.skip();
        if let Some(open) = self.builder.open.last_mut() {
            open.end = open.end.max(token.end);
        }
    }

    pub(super) fn end_block(&mut self) {
        self.skip();
        self.builder.close(None);
        self.pop_state();
    }

    pub(super) fn end_flow(&mut self) {
        let token = self.skip();
        self.builder.close(Some(token.end));
        self.pop_state();
    }

    pub(super) fn flow_sequence_entry(&mut self, first: bool) -> Result<()> {
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
                    return Err(self.new_error(None, mark.start, TOO_DEEP));
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

    pub(super) fn flow_sequence_entry_mapping_key(&mut self) -> Result<()> {
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

    pub(super) fn flow_sequence_entry_mapping_value(&mut self) -> Result<()> {
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

    pub(super) fn flow_mapping_key(&mut self, first: bool) -> Result<()> {
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

    pub(super) fn flow_mapping_value(&mut self) -> Result<()> {
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
