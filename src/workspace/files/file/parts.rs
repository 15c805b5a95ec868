//! The text of a file, part by part: each part is parsed by itself, and its tree counts places from the
//! start of the part. Bytes of the file come from [`TextPart`] alone.

use std::borrow::Cow;
use std::sync::Arc;

use super::File;
use crate::hiera::data::Part;
use crate::text::{CancelToken, FileId, PartId, Span, Text, TextRange};
use crate::yaml::{self, Located, NodeId, Tree};

/// A piece of a file's text with its tree.
#[derive(Debug)]
pub struct TextPart<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// The tree of the text, whose places are counted from the start of the text.
    pub tree: Arc<Tree>,
    file: FileId,
    id: PartId,
    start: u32,
    is_behind_document: bool,
}

impl TextPart<'_> {
    /// Returns the bytes of the part in the file.
    pub fn range(&self) -> TextRange {
        self.file_range(TextRange::from_usize(0..self.text.len()))
    }

    /// Returns the bytes of the file for a place of the part's tree.
    pub fn file_range(&self, range: TextRange) -> TextRange {
        range.offset_by(self.start)
    }

    /// Returns the bytes of a node in the file, without its anchor and its tag.
    pub fn node_range(&self, node: NodeId) -> TextRange {
        self.file_range(self.tree.node(node).span)
    }

    /// Returns the bytes of a node in the file, with its anchor and its tag.
    pub fn whole_node_range(&self, node: NodeId) -> TextRange {
        self.file_range(self.tree.whole_span(node))
    }

    /// Returns the bytes of an entry of a hash in the file: its key, its value and what is between.
    pub fn entry_range(&self, (key, value): (NodeId, NodeId)) -> TextRange {
        self.whole_node_range(key).cover(self.whole_node_range(value))
    }

    /// Returns the innermost node at a byte of the file, as [`Tree::node_at`] does.
    pub fn node_at(&self, offset: u32) -> Option<Located> {
        self.tree.node_at(&self.text, offset.checked_sub(self.start)?)
    }

    /// Returns a place of the part's tree as a place that an edit above the part does not move.
    pub fn span(&self, range: TextRange) -> Span {
        Span { file: self.file, part: self.id, range }
    }
}

/// Reads parts of a file, and keeps the last one: places in the order of the text cost one parse of each
/// part.
#[derive(Debug)]
pub struct PartReader<'a> {
    file: &'a File,
    last: Option<TextPart<'a>>,
}

impl<'a> PartReader<'a> {
    /// Returns a reader of a file that has read no part.
    pub fn new(file: &'a File) -> PartReader<'a> {
        PartReader { file, last: None }
    }

    /// Returns the part around a byte, as [`File::part_at`] does.
    pub fn part_at(&mut self, offset: u32, cancel: &CancelToken) -> Option<&TextPart<'a>> {
        let is_last = |part: &TextPart<'_>| {
            let TextRange { start, end } = part.range();
            // An offset at the first byte of the text behind the document means the part before
            // that text.
            start <= offset && offset < end && !(start == offset && part.is_behind_document)
        };
        if !self.last.as_ref().is_some_and(is_last) {
            self.last = self.file.part_at(offset, cancel);
        }
        self.last.as_ref()
    }
}

impl File {
    /// Returns the part of the file's text that holds the byte at `offset`, with its tree, in the
    /// format of the file's name: the smallest part that can be parsed alone. `None` before the
    /// first part, for a file without text, and when cancelled.
    pub fn part_at(&self, offset: u32, cancel: &CancelToken) -> Option<TextPart<'_>> {
        let text = self.text()?;
        let data = self.data_as(self.format());
        let parts = data.parts();
        // A value may end where the closing brace of JSON, or the marker of a second document, begins.
        let at = parts.part_at_offset(offset).map(|part| match offset.checked_sub(1) {
            Some(before) if part.is_behind_document() && parts.start(part.id) == Some(offset) => {
                parts.part_at_offset(before).unwrap_or(part)
            }
            _ => part,
        });
        let id = match at {
            Some(part) => part.id,
            None if data.parts().is_empty() => PartId::WHOLE,
            // Before the first entry there is no data.
            None => return None,
        };
        let range =
            data.parts().part_range(id, text.len()).unwrap_or(TextRange::new(0, text.len()));
        let is_behind_document = at.is_some_and(Part::is_behind_document);
        let part_text = text.slice(range);
        let tree = match (id, self.read.tree.get()) {
            (PartId::WHOLE, Some(tree)) => tree.clone(),
            (PartId::WHOLE, None) => {
                let tree =
                    Arc::new(self.format().parse_while(&part_text, &|| !cancel.is_cancelled())?);
                self.read.tree.get_or_init(|| tree).clone()
            }
            _ if is_behind_document => Arc::default(),
            _ => Arc::new(match data.entry_in_place(id, text) {
                Some(entry) => entry.tree,
                None => yaml::parse_while(&part_text, &|| !cancel.is_cancelled())?,
            }),
        };
        let (text, start) = (part_text, range.start);
        Some(TextPart { text, tree, file: self.id, id, start, is_behind_document })
    }

    /// Returns the parts of the file's text in order, each with its tree, without the text behind
    /// the first document. Ends early when cancelled.
    pub fn text_parts<'a>(
        &'a self,
        cancel: &'a CancelToken,
    ) -> impl Iterator<Item = TextPart<'a>> + 'a {
        let length = self.text().map_or(0, Text::len);
        self.text_parts_in(TextRange::new(0, length), cancel)
    }

    /// Returns the parts of the file's text that begin in a range, as [`File::text_parts`] does.
    pub fn text_parts_in<'a>(
        &'a self,
        range: TextRange,
        cancel: &'a CancelToken,
    ) -> impl Iterator<Item = TextPart<'a>> + 'a {
        let data = self.data_as(self.format());
        let read = data.parts().parts_in(range).filter(|(_, part)| !part.is_behind_document());
        let mut starts: Vec<u32> = read.map(|(start, _)| start).collect();
        if data.parts().is_empty() && range.start == 0 {
            starts.push(0);
        }
        starts.into_iter().map_while(|start| self.part_at(start, cancel))
    }

    /// Returns the bytes of the anchor that an alias of this name in a part stands for, if the anchor
    /// is in another part.
    pub fn anchor_above(&self, name: &str, part: &TextPart<'_>) -> Option<TextRange> {
        self.part_bytes(self.data_as(self.format()).anchor_above(name, part.id)?)
    }
}
