//! Extracts a repeated value into a key of its own, which `alias` puts back; of text within
//! strings, `lookup` does.

use super::{Document, DocumentEntry, Draft, RefactorContext, RefactoringKind, value};
use crate::hiera::config::Layer;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::escape::is_unprintable;
use crate::text::{SourceChange, TextEdit, TextRange};
use crate::yaml::psych::{Resolved, resolve_plain};
use crate::yaml::{NodeId, NodeKind, PathStep, ScalarStyle};
use std::sync::Arc;

/// The most names that are tried for a key.
const MAX_NAMES: usize = 20;
/// Selected text that is shorter is not worth a key.
const SHORTEST: usize = 4;

/// A value in the file, with the place of its key if it has one.
struct ReplaceableValue {
    key: Option<NodeId>,
    node: NodeId,
    root: Arc<str>,
}

/// Drafts the extraction of the value at the cursor, or of the selected text.
pub(super) fn draft_extraction(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let range = context.wanted.range;
    let document = &context.document;
    let Some(entry) = document.entry_at(range.start) else { return };
    if !context.may_extract_from(entry) || document.find_entry("sops").is_some() {
        return;
    }
    let draft = if range.is_empty() { whole_value(context, entry) } else { selected_text(context) };
    drafts.extend(draft);
}

impl RefactorContext<'_> {
    /// Whether text of an entry may stand in another one.
    fn may_extract_from(&self, entry: &DocumentEntry) -> bool {
        &*entry.name != LOOKUP_OPTIONS
            && &*entry.name != "sops"
            && !self.is_sensitive(&entry.name)
            && !self.is_encrypted(entry)
    }

    /// Returns a name that nothing defines, reads or matches.
    fn free_name(&self, stem: &str) -> Option<Arc<str>> {
        let index = self.snapshot.keys();
        let code = self.snapshot.manifests(self.environment);
        let prefix = match self.environment.layer_of(self.wanted.path) {
            Some(Layer::Module(module)) => format!("{module}::"),
            _ => String::new(),
        };
        let stem: String = stem
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
            .collect();
        let name = |n: usize| match n {
            1 => format!("{prefix}shared_{stem}"),
            _ => format!("{prefix}shared_{stem}_{n}"),
        };
        let name = (1..=MAX_NAMES).map(name).find(|name| {
            index.definitions(name).is_empty()
                && index.asked_by(name).is_empty()
                && index.options_of(name).next().is_none()
                && code.readers_of_key(name).next().is_none()
                && code.pattern_readers(name).next().is_none()
        })?;
        index.open_options().is_none().then(|| name.into())
    }

    /// Returns the values of all entries that may be written otherwise.
    fn replaceable_values(&self) -> Vec<ReplaceableValue> {
        let document = &self.document;
        let mut places = Vec::new();
        for entry in document.entries.iter().filter(|entry| self.may_extract_from(entry)) {
            let root = &entry.name;
            places.push(ReplaceableValue {
                key: Some(entry.key),
                node: entry.value,
                root: root.clone(),
            });
            for node in document.nodes_in(entry.value) {
                match &document.tree.node(node).kind {
                    NodeKind::Sequence { items, .. } => {
                        places
                            .extend(items.iter().map(|item| replaceable_value(None, *item, root)));
                    }
                    NodeKind::Mapping { entries, .. } => {
                        places.extend(
                            entries
                                .iter()
                                .map(|(key, node)| replaceable_value(Some(*key), *node, root)),
                        );
                    }
                    NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
                }
            }
        }
        places
    }
}

fn replaceable_value(key: Option<NodeId>, node: NodeId, root: &Arc<str>) -> ReplaceableValue {
    ReplaceableValue { key, node, root: root.clone() }
}

/// Drafts the extraction of the value at the cursor; `None` where it stands once, or is too small.
fn whole_value(context: &RefactorContext<'_>, entry: &DocumentEntry) -> Option<Draft> {
    let document = &context.document;
    let located = document.tree.node_at(&document.text, context.wanted.range.start)?;
    let (mut node, mut stem) = (document.tree.root?, entry.name.rsplit("::").next()?.to_owned());
    for step in &located.path {
        match (step, &document.tree.node(node).kind) {
            (PathStep::Entry(n), NodeKind::Mapping { entries, .. }) => {
                let (key, value) = entries.get(*n)?;
                stem = document.tree.scalar(*key)?.rsplit("::").next()?.to_owned();
                node = *value;
            }
            (PathStep::Item(n), NodeKind::Sequence { items, .. }) => node = *items.get(*n)?,
            _ => return None,
        }
    }
    if !is_worth_it(document, node) {
        return None;
    }
    let places = context.replaceable_values();
    let same: Vec<&ReplaceableValue> =
        places.iter().filter(|place| document.is_same(place.node, node)).collect();
    if same.len() < 2 || !same.iter().any(|place| place.node == node) {
        return None;
    }
    let name = context.free_name(&stem)?;
    let mut change = SourceChange::default();
    for place in &same {
        change.push(context.wanted.path, document.alias_edit(place, &name, place.node == node)?);
    }
    let text = format!("{name}:{}", document.as_root_value(node));
    change.push(context.wanted.path, document.insertion_edit(&name, &text));
    let title = format!("Extract the value, {} times in this file, into `{name}`", same.len());
    let keys = same.iter().map(|place| place.root.clone());
    Some(Draft::new(RefactoringKind::Extract, title, change, keys).with_new_key(name))
}

/// Whether a value is a collection with content, or a text of more than a word, that can be moved.
fn is_worth_it(document: &Document, node: NodeId) -> bool {
    let is_plain = document.nodes_in(node).all(|node| {
        let node = document.tree.node(node);
        let is_merge = matches!(&node.kind, NodeKind::Scalar { text, .. } if &**text == "<<");
        node.anchor.is_none()
            && node.tag.is_none()
            && !is_merge
            && !matches!(node.kind, NodeKind::Alias { .. })
    });
    let is_large = match &document.tree.node(node).kind {
        NodeKind::Sequence { items, .. } => !items.is_empty(),
        NodeKind::Mapping { entries, .. } => !entries.is_empty(),
        NodeKind::Scalar { style, text } => {
            let is_string = *style != ScalarStyle::Plain || resolve_plain(text) == Resolved::String;
            is_string && !is_word(text) && !text.starts_with("%{alias(")
        }
        NodeKind::Alias { .. } => false,
    };
    is_plain && is_large
}

/// Whether a text is a single word or a number, or nothing.
fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        || text.parse::<f64>().is_ok()
}

impl Document {
    /// Returns the edit that puts an alias in the place of a value; `None` where a comment would be
    /// lost that stands nowhere else.
    fn alias_edit(
        &self,
        place: &ReplaceableValue,
        name: &str,
        keeps_comments: bool,
    ) -> Option<TextEdit> {
        let node = self.tree.node(place.node);
        let alias = format!("\"%{{alias('{name}')}}\"");
        if self.holds_comment(node.span) && !keeps_comments {
            return None;
        }
        let Some(key) = place.key.map(|key| self.tree.node(key).span) else {
            return Some(TextEdit::new(node.span, alias));
        };
        let gap = TextRange::new(key.end, node.span.start);
        let between = &self.text[gap.as_usize()];
        if self.holds_comment(gap) || between.trim() != ":" {
            return None;
        }
        let colon = gap.start + between.find(':')? as u32 + 1;
        Some(TextEdit::new(TextRange::new(colon, node.span.end), format!(" {alias}")))
    }

    fn holds_comment(&self, range: TextRange) -> bool {
        self.tree.comments.iter().any(|comment| range.contains_range(*comment))
    }
}

/// Drafts the extraction of a selected part of a string that others have, too.
fn selected_text(context: &RefactorContext<'_>) -> Option<Draft> {
    let (document, range) = (&context.document, context.wanted.range);
    let selected = document.text.get(range.as_usize())?;
    if selected.trim() != selected
        || selected.len() < SHORTEST
        || selected.contains(is_special_char)
    {
        return None;
    }
    let strings: Vec<(ReplaceableValue, String, usize)> = context
        .replaceable_values()
        .into_iter()
        .filter_map(|place| {
            let text = document.string_on_a_line(place.node)?;
            let count = outside_of_tokens(text, selected).len();
            (count > 0).then(|| (text.to_owned(), count)).map(|(text, count)| (place, text, count))
        })
        .collect();
    let count: usize = strings.iter().map(|(_, _, count)| count).sum();
    if count < 2
        || !strings.iter().any(|(place, ..)| {
            let span = document.tree.node(place.node).span;
            span.contains_range(range) && span != range
        })
    {
        return None;
    }
    let name = context.free_name("text")?;
    let mut change = SourceChange::default();
    for (place, text, _) in &strings {
        let token = format!("%{{lookup('{name}')}}");
        let mut new = text.clone();
        for at in outside_of_tokens(text, selected).into_iter().rev() {
            new.replace_range(at..at + selected.len(), &token);
        }
        let span = document.tree.node(place.node).span;
        change.push(context.wanted.path, TextEdit::new(span, value::render_string(&new)));
    }
    let text = format!("{name}: {}\n", value::render_string(selected));
    change.push(context.wanted.path, document.insertion_edit(&name, &text));
    let title = format!("Extract the text, {count} times in this file, into `{name}`");
    let keys = strings.iter().map(|(place, ..)| place.root.clone());
    Some(Draft::new(RefactoringKind::Extract, title, change, keys).with_new_key(name))
}

fn is_special_char(c: char) -> bool {
    is_unprintable(c) || matches!(c, '%' | '{' | '}' | '\'' | '"' | '\\' | '#')
}

impl Document {
    /// Returns a string that is written on one line as it is read.
    fn string_on_a_line(&self, node: NodeId) -> Option<&str> {
        let node = self.tree.node(node);
        let NodeKind::Scalar { style, text } = &node.kind else { return None };
        let is_string = match style {
            ScalarStyle::Plain => resolve_plain(text) == Resolved::String,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => true,
            _ => false,
        };
        let written = &self.text[node.span.as_usize()];
        let is_bare = node.anchor.is_none() && node.tag.is_none();
        (is_string && is_bare && !written.contains('\n')).then_some(text)
    }
}

/// Returns where a text stands in a string, outside of tokens, without overlaps.
fn outside_of_tokens(text: &str, part: &str) -> Vec<usize> {
    text.match_indices(part)
        .map(|(at, _)| at)
        .filter(|at| {
            let open = text[..*at].rfind("%{");
            open.is_none_or(|open| text[open..*at].contains('}'))
        })
        .collect()
}
