//! Quotes a plain scalar that reads as text and is another type to Puppet: `0750`, `yes`, `1.10`,
//! `12:30`, a date.

use super::{Draft, RefactorContext, RefactoringKind};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::puppet::ruby::inspect::float_text;
use crate::text::{SourceChange, TextEdit, TextRange};
use crate::yaml::psych::{Resolved, resolve_plain};
use crate::yaml::{NodeKind, ScalarStyle};

/// Drafts the quoting of the scalar at the cursor.
pub(super) fn draft_quotes(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let document = &context.document;
    let offset = context.wanted.range.start;
    let Some(entry) = document.entry_at(offset).filter(|it| &*it.name != LOOKUP_OPTIONS) else {
        return;
    };
    let Some(located) = document.tree.node_at(&document.text, offset) else { return };
    let node = document.tree.node(located.node);
    let NodeKind::Scalar { style: ScalarStyle::Plain, text } = &node.kind else { return };
    let is_bare = node.tag.is_none() && node.anchor.is_none();
    let (true, Some(read_as)) = (is_bare && document.find_entry("sops").is_none(), read_as(text))
    else {
        return;
    };
    let mut change = SourceChange::default();
    for at in [node.span.start, node.span.end] {
        change.push(context.wanted.path, TextEdit::new(TextRange::new_empty(at), "'"));
    }
    let noun = if located.on_key { "key" } else { "value" };
    let title = format!("Quote the {noun}, which Puppet reads as {read_as}");
    drafts.push(Draft::new(RefactoringKind::Rewrite, title, change, [entry.name.clone()]));
}

/// Returns the type that a text is read as, where printing that would give another text.
fn read_as(text: &str) -> Option<&'static str> {
    match resolve_plain(text) {
        Resolved::Bool(truth) => (truth.to_string() != text).then_some("a Boolean"),
        Resolved::Integer(number) => (number.to_string() != text).then_some("an Integer"),
        Resolved::BigInteger(digits) => (digits != text).then_some("an Integer"),
        Resolved::Float(number) => {
            let printed = float_text(number);
            (printed != text).then_some("a Float")
        }
        Resolved::Symbol(_) => Some("a symbol"),
        Resolved::Date => Some("a date"),
        Resolved::Time => Some("a time"),
        Resolved::Null | Resolved::String | Resolved::BadNumber(_) => None,
    }
}
