//! Puts the value that an `alias` of Hiera, or a `*alias` of YAML, stands for in its place.

use super::{Document, Draft, RefactorContext, RefactoringKind, secrets, value};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::Outcome;
use crate::ide::cursor::part_of;
use crate::puppet::print;
use crate::puppet::value::{Data, Value};
use crate::text::escape::is_unprintable;
use crate::text::{SourceChange, TextEdit, TextRange};
use crate::yaml::{NodeId, NodeKind, PathStep, ScalarStyle, Tree};

/// Drafts the inlining of the alias at the cursor.
pub(super) fn draft_inlining(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    drafts.extend(draft_alias(context));
    drafts.extend(draft_of_yaml(context));
}

/// Drafts the inlining of a `*alias`: the text of the anchored node takes its place.
fn draft_of_yaml(context: &RefactorContext<'_>) -> Option<Draft> {
    let document = &context.document;
    let offset = context.wanted.range.start;
    let entry = document.entry_at(offset)?;
    let (key, alias) = value_at(document, offset)?;
    let NodeKind::Alias { name, target: Some(target) } = &document.tree.node(alias).kind else {
        return None;
    };
    let is_merge = key.and_then(|key| document.tree.scalar(key)) == Some("<<");
    if is_merge || document.find_entry("sops").is_some() {
        return None;
    }
    let title = format!("Inline the value of `*{name}`");
    let span = document.tree.node(*target).span;
    let of_target = document.entry_at(span.start)?;
    if context.is_sensitive(&entry.name) || context.is_sensitive(&of_target.name) {
        return refuse_draft(secrets::REASON, &title);
    }
    if document.nodes_in(*target).any(|node| is_own_node(node, *target, &document.tree)) {
        return refuse_draft("the anchored value has anchors, aliases or tags of its own", &title);
    }
    let written = &document.text[span.as_usize()];
    let place = document.tree.node(alias).span;
    if secrets::is_encrypted(written) {
        return None;
    }
    let line = document.text[..place.start as usize].rfind('\n').map_or(0, |at| at + 1);
    let indent = document.text[line..].bytes().take_while(|byte| matches!(byte, b' ' | b'-'));
    let (start, text) = if is_in_flow(document, place.start) {
        (place.start, flow_text(document, *target)?)
    } else {
        // The members of a list element begin on the element's own line.
        let indent = indent.count() + if key.is_some() { 2 } else { 0 };
        let text = document.as_value(*target, indent);
        let start = key.map_or(place.start - 1, |key| document.tree.node(key).span.end + 1);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        match text.strip_prefix('\n').filter(|_| key.is_none()) {
            Some(members) => (start, format!(" {}", members.trim_start())),
            None => (start, text.to_owned()),
        }
    };
    if !document.text[start as usize..place.start as usize].trim().is_empty() {
        return None;
    }
    let mut change = SourceChange::default();
    change.push(context.wanted.path, TextEdit::new(TextRange::new(start, place.end), text));
    Some(Draft::new(RefactoringKind::Inline, title, change, [entry.name.clone()]))
}

fn is_own_node(node: NodeId, target: NodeId, tree: &Tree) -> bool {
    let of = tree.node(node);
    let is_alias = matches!(of.kind, NodeKind::Alias { .. });
    is_alias || of.tag.is_some() || node != target && of.anchor.is_some()
}

fn refuse_draft(reason: &str, title: &str) -> Option<Draft> {
    Some(Draft::new_refused(RefactoringKind::Inline, title.to_owned(), reason))
}

/// Returns the text of a node as it can stand within brackets or braces; `None` for one that goes
/// over lines.
fn flow_text(document: &Document, node: NodeId) -> Option<String> {
    let node = document.tree.node(node);
    let text = &document.text[node.span.as_usize()];
    let (is_flow, is_plain) = match &node.kind {
        NodeKind::Sequence { flow, .. } | NodeKind::Mapping { flow, .. } => (*flow, false),
        NodeKind::Scalar { style, .. } => (true, *style == ScalarStyle::Plain),
        NodeKind::Alias { .. } => return None,
    };
    if !is_flow || text.contains('\n') {
        return None;
    }
    let needs_quotes = is_plain && text.contains([',', '[', ']', '{', '}']);
    Some(if needs_quotes { print::quote_single(text) } else { text.to_owned() })
}

fn draft_alias(context: &RefactorContext<'_>) -> Option<Draft> {
    let document = &context.document;
    let offset = context.wanted.range.start;
    let entry = document.entry_at(offset)?;
    let (key, node) = value_at(document, offset)?;
    let target = alias_of(document.tree.scalar(node)?)?;
    let key_asked = LookupKey::parse(target).ok()?;
    let title = format!("Inline the value of `{target}`");
    let root = key_asked.root_text();
    if context.is_sensitive(&root) || context.is_sensitive(&entry.name) {
        let kind = RefactoringKind::Inline;
        return Some(Draft::new_refused(kind, title, secrets::REASON));
    }
    if document.find_entry("sops").is_some() {
        return None;
    }
    let found = context.written_value(&key_asked)?;
    if holds_ciphertext(&found) {
        return None;
    }
    let node = document.tree.node(node);
    let is_flow = is_in_flow(document, node.span.start);
    let line = document.text[..node.span.start as usize].rfind('\n').map_or(0, |at| at + 1);
    let indent = document.text[line..].bytes().take_while(|byte| matches!(byte, b' ' | b'-'));
    let text =
        if is_flow { flow_value(&found)? } else { value::render_value(&found, indent.count() + 2) };
    let start = match key {
        _ if is_flow => node.span.start,
        Some(key) => document.tree.node(key).span.end + 1,
        None => node.span.start - 1,
    };
    // The user has to edit a value behind an anchor, a tag or a comment.
    if !document.text[start as usize..node.span.start as usize].trim().is_empty() {
        return None;
    }
    let mut change = SourceChange::default();
    change.push(context.wanted.path, TextEdit::new(TextRange::new(start, node.span.end), text));
    Some(Draft::new(RefactoringKind::Inline, title, change, [entry.name.clone()]))
}

/// Returns the scalar at a place, with its key if it is a member.
pub(super) fn value_at(document: &Document, offset: u32) -> Option<(Option<NodeId>, NodeId)> {
    let located = document.tree.node_at(&document.text, offset)?;
    let (mut node, mut own_key) = (document.tree.root?, None);
    for step in &located.path {
        (own_key, node) = match (step, &document.tree.node(node).kind) {
            (PathStep::Entry(n), NodeKind::Mapping { entries, .. }) => {
                let (key, value) = *entries.get(*n)?;
                (Some(key), value)
            }
            (PathStep::Item(n), NodeKind::Sequence { items, .. }) => (None, *items.get(*n)?),
            _ => return None,
        };
    }
    let node_of = document.tree.node(node);
    (node_of.anchor.is_none() && node_of.tag.is_none()).then_some((own_key, node))
}

/// Returns the key of a string that is one `alias` and nothing else.
fn alias_of(text: &str) -> Option<&str> {
    let call = text.strip_prefix("%{alias(")?.strip_suffix(")}")?;
    let quote = call.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let key = call.strip_prefix(quote)?.strip_suffix(quote)?;
    (!key.contains(['\'', '"', '{', '}'])).then_some(key)
}

/// Whether a place lies within brackets or braces of its line's value.
pub(super) fn is_in_flow(document: &Document, at: u32) -> bool {
    document.tree.nodes.iter().any(|node| {
        let is_flow = matches!(
            node.kind,
            NodeKind::Sequence { flow: true, .. } | NodeKind::Mapping { flow: true, .. }
        );
        is_flow && node.span.start < at && at < node.span.end
    })
}

/// Returns a value in flow style; `None` for strings that would need care there.
fn flow_value(value: &Value) -> Option<String> {
    Some(match value.data() {
        Data::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(flow_value).collect();
            format!("[{}]", items?.join(", "))
        }
        Data::Hash(hash) => {
            let members: Option<Vec<String>> = hash
                .iter()
                .map(|(key, member)| {
                    Some(format!(
                        "{}: {}",
                        flow_value(&key.to_value(None))?,
                        flow_value(&member.value)?
                    ))
                })
                .collect();
            format!("{{{}}}", members?.join(", "))
        }
        Data::String(text) if text.contains(|c: char| is_unprintable(c) || c == '\'') => {
            value::render_string(text).starts_with('"').then(|| value::render_string(text))?
        }
        Data::String(text) => format!("'{text}'"),
        _ => value::render_value(value, 0).trim_start().to_owned(),
    })
}

fn holds_ciphertext(value: &Value) -> bool {
    match value.data() {
        Data::String(text) => secrets::is_encrypted(text),
        Data::Array(items) => items.iter().any(holds_ciphertext),
        Data::Hash(hash) => hash.values().any(|member| holds_ciphertext(&member.value)),
        _ => false,
    }
}

impl RefactorContext<'_> {
    /// Returns the value of a key as one file has it, if no other file contributes to it in the
    /// scope of this file.
    fn written_value(&self, key: &LookupKey) -> Option<Value> {
        let scope = self.snapshot.scope_for(self.environment, self.wanted.path);
        let view = self.snapshot.view(self.environment);
        let resolver = Resolver::new(self.snapshot.lookup_context(self.environment, &view, &scope));
        let root = LookupKey::of_root(&key.root_text());
        let resolution = resolver.lookup(&root, None);
        let mut found = resolution.steps.iter().filter_map(|step| match &step.outcome {
            Outcome::Found { path, .. } => Some(path),
            _ => None,
        });
        let path = found.next()?;
        if found.next().is_some() || resolution.convert_to.is_some() {
            return None;
        }
        let raw = view.data_of(path)?.get(&key.root_text())?.value.clone();
        if key.subkeys.is_empty() { Some(raw) } else { Some(part_of(key, &raw)?.1) }
    }
}
