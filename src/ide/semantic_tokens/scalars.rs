//! Colored parts that are found in scalars themselves: encrypted blocks, and `literal` tokens,
//! which refer to nothing.

use super::{ColorKind, Coloring, FileColoring, SemanticToken};
use crate::hiera::interpolation::{self, Method};
use crate::text::TextRange;
use crate::workspace::files::file::TextPart;
use crate::yaml::scalar::SourceMap;
use crate::yaml::{Node, NodeKind};

impl Coloring<'_> {
    /// Adds the tokens in the scalars of an entry, or of the whole file, where the file is read as a
    /// whole.
    pub(super) fn color_scalars(&self, range: TextRange, out: &mut Vec<SemanticToken>) {
        let FileColoring { file, snapshot, .. } = self.file;
        for part in file.text_parts_in(range, snapshot.cancel_token()) {
            self.scalars_of(&part, out);
        }
    }

    fn scalars_of(&self, part: &TextPart<'_>, out: &mut Vec<SemanticToken>) {
        for (id, node) in part.tree.nodes.iter().enumerate() {
            let NodeKind::Scalar { text, .. } = &node.kind else { continue };
            if part.tree.copies.binary_search_by_key(&id, |copy| copy.0 as usize).is_err()
                && (text.contains("literal(") || text.contains("ENC["))
            {
                self.color_scalar(part, node, text, out);
            }
        }
    }

    fn color_scalar(
        &self,
        part: &TextPart<'_>,
        node: &Node,
        text: &str,
        out: &mut Vec<SemanticToken>,
    ) {
        let written = SourceMap::from_node(&part.text, node);
        let source = |range: TextRange| {
            let start = written.source_offset(range.start as usize);
            // The end of the range is the end of the last byte: behind this byte a line may be
            // folded.
            let end = written.source_offset((range.end as usize).saturating_sub(1)) + 1;
            self.in_run(part.file_range(TextRange::new(start, end.max(start))))
        };
        for token in interpolation::parse_tokens(text) {
            let interpolation::TokenKind::Call { method, argument_range, .. } = &token.kind else {
                continue;
            };
            if Method::from_name(method) == Some(Method::Literal)
                && let (Some(all), Some(argument)) = (source(token.range), source(*argument_range))
            {
                self.color_delimiters(all, argument, out);
                let kind = ColorKind::Literal;
                out.push(SemanticToken { range: argument, kind, is_unresolved: false });
            }
        }
        for range in encrypted_blocks(text).filter_map(source) {
            out.push(SemanticToken { range, kind: ColorKind::Encrypted, is_unresolved: false });
        }
    }
}

/// Returns the places of `ENC[…]` in a text.
fn encrypted_blocks(text: &str) -> impl Iterator<Item = TextRange> + '_ {
    text.match_indices("ENC[").filter_map(|(start, _)| {
        let end = start + text[start..].find(']')? + 1;
        Some(TextRange::from_usize(start..end))
    })
}
