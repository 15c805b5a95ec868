//! Values as text in a data file: new text, or text that is moved to another indentation.

use super::Document;
use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::{Data, Value};
use crate::text::escape::is_unprintable;
use crate::yaml::{NodeId, NodeKind, ScalarStyle};

/// Returns a value as YAML behind `key:` or `-`, with a line break and the indentation of its
/// members where it is a collection; no line break at its end.
pub(super) fn render_value(value: &Value, indent: usize) -> String {
    let pad = " ".repeat(indent);
    match value.data() {
        Data::Array(items) if !items.is_empty() => items
            .iter()
            .map(|item| {
                let text = render_value(item, indent + 2);
                let nested = text.strip_prefix('\n').map(|text| &text[indent + 2..]);
                match nested {
                    Some(text) => format!("\n{pad}- {text}"),
                    None => format!("\n{pad}-{text}"),
                }
            })
            .collect(),
        Data::Hash(hash) if !hash.is_empty() => hash
            .iter()
            .map(|(key, member)| {
                let key = print::print_inline(&key.to_value(None), &PrintOptions::default());
                let text = render_value(&member.value, indent + 2);
                format!("\n{pad}{key}:{text}")
            })
            .collect(),
        Data::String(text) => format!(" {}", render_string(text)),
        _ => format!(" {}", print::print_inline(value, &PrintOptions::default())),
    }
}

/// Returns a string as a scalar on one line: in double quotes where it has tokens with single ones.
pub(super) fn render_string(text: &str) -> String {
    let is_simple = !text.contains(|c: char| is_unprintable(c) || matches!(c, '"' | '\\'));
    if is_simple && text.contains("%{") { format!("\"{text}\"") } else { print::quote_scalar(text) }
}

impl Document {
    /// Returns the text of a node behind `key:`, indented for a root key, a line break at its end.
    pub(super) fn as_root_value(&self, node: NodeId) -> String {
        self.as_value(node, 2)
    }

    /// Returns the text of a node behind `key:`, with the members of a block collection indented by
    /// `indent`.
    pub(super) fn as_value(&self, node: NodeId, indent: usize) -> String {
        let node = self.tree.node(node);
        let text = &self.text[node.span.as_usize()];
        let is_block = matches!(
            node.kind,
            NodeKind::Sequence { flow: false, .. } | NodeKind::Mapping { flow: false, .. }
        );
        if !is_block && !text.contains('\n') {
            return format!(" {text}\n");
        }
        let start = node.span.start as usize;
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let column = if is_block { start - line } else { self.line_indent(line) };
        let mut lines = text.lines();
        let mut out = if is_block {
            format!("\n{}{}\n", " ".repeat(indent), lines.next().unwrap_or_default())
        } else {
            format!(" {}\n", lines.next().unwrap_or_default())
        };
        for line in lines {
            let own = line.len() - line.trim_start_matches(' ').len();
            let pad = (own + indent).saturating_sub(column);
            let content = &line[own..];
            out.push_str(&if content.is_empty() {
                "\n".to_owned()
            } else {
                format!("{}{content}\n", " ".repeat(pad))
            });
        }
        out
    }

    fn line_indent(&self, line: usize) -> usize {
        self.text[line..].bytes().take_while(|byte| *byte == b' ').count()
    }

    /// Whether two nodes are the same value, written alike or not.
    pub(super) fn is_same(&self, one: NodeId, other: NodeId) -> bool {
        match (&self.tree.node(one).kind, &self.tree.node(other).kind) {
            (
                NodeKind::Scalar { style: one, text: a },
                NodeKind::Scalar { style: other, text: b },
            ) => a == b && (*one == ScalarStyle::Plain) == (*other == ScalarStyle::Plain),
            (NodeKind::Sequence { items: a, .. }, NodeKind::Sequence { items: b, .. }) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.is_same(*a, *b))
            }
            (NodeKind::Mapping { entries: a, .. }, NodeKind::Mapping { entries: b, .. }) => {
                a.len() == b.len()
                    && a.iter()
                        .zip(b)
                        .all(|((a, x), (b, y))| self.is_same(*a, *b) && self.is_same(*x, *y))
            }
            _ => false,
        }
    }
}
