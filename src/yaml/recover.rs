//! Recovery of a broken text: reads every top-level entry that can be read by itself.
//!
//! A data file is a flat mapping, so an entry is the unit of damage: it ends at the latest at the
//! next line that looks like `key:` at the column of the first one. The broken entry keeps its key,
//! and the part of its value that was read before the error. The first problem is libyaml's own
//! where it blames the same entry. Else it is the error of the entry when read alone, with a place
//! where the mistake can be seen. This module does not decide which texts are accepted:
//! [`super::accept`] does.

use super::builder::Builder;
use super::control;
use super::entry::{begins_entry, is_marker};
use super::run::DocumentParser;
use super::scan::TagDirective;
use super::tree::{Node, NodeId, NodeKind, ScalarStyle, SyntaxError, SyntaxErrorKind, Tree};
use crate::text::TextRange;

/// At most this many times the length of the text is read before entries are no longer tried beyond
/// their cut.
const EFFORT: usize = 8;

/// Recovers a text that is not cut into entries, whose first attempt `run` ended with `error`.
pub(super) fn recover_document(text: &str, run: DocumentParser<'_>, error: SyntaxError) -> Tree {
    let mut recovery = Recovery::new(text, run.tags.clone());
    recovery.control_characters();
    let control = error.kind == SyntaxErrorKind::ControlCharacter;
    if control || (error.span.start as usize) < recovery.body {
        let known = recovery.problems.iter().any(|problem| problem.span.contains_range(error.span));
        if !known {
            recovery.problems.push(error);
        }
        recovery.read_from(recovery.body);
    } else {
        let next = recovery.take(run, error);
        recovery.read_from(next);
    }
    recovery.finish()
}

/// An entry that libyaml refuses where it stands.
pub(super) struct RefusedEntry {
    /// The tree that was recovered.
    pub(super) tree: Tree,
    /// Where the next entry begins.
    pub(super) end: usize,
}

/// Recovers the entry that a text begins with, which `run` refuses with `error`; or returns the end
/// of the entry, where the error belongs to the text behind it.
pub(super) fn recover_entry(
    text: &str,
    run: DocumentParser<'_>,
    error: SyntaxError,
) -> Result<RefusedEntry, usize> {
    let mut recovery = Recovery::of_entry(text);
    let done = recovery.complete(&run, &error);
    if !done.pairs.is_empty() && begins_entry(&text[done.end..]) {
        return Err(done.end);
    }
    let end = recovery.take(run, error);
    // A root that is no entry does not matter to the other entries.
    recovery.other_root = None;
    Ok(RefusedEntry { tree: recovery.finish(), end })
}

/// The entries that a run completed before its error.
struct Complete {
    pairs: Vec<(NodeId, NodeId)>,
    /// How many nodes the entries have.
    keep: usize,
    /// Where the broken entry begins.
    end: usize,
}

struct Recovery<'t> {
    text: &'t str,
    tags: Vec<TagDirective>,
    /// Where the content begins, behind directives and a `---` line.
    body: usize,
    /// Where the first document ends.
    end: usize,
    second_document: Option<TextRange>,
    /// The indentation of the top-level entries.
    base: usize,
    effort: usize,
    builder: Builder,
    entries: Vec<(NodeId, NodeId)>,
    /// The root that was read where no mapping was found.
    other_root: Option<NodeId>,
    problems: Vec<SyntaxError>,
    comments: Vec<TextRange>,
}

impl<'t> Recovery<'t> {
    fn new(text: &'t str, tags: Vec<TagDirective>) -> Recovery<'t> {
        let body = body_start(text);
        let (end, second_document) = document_end(text, body);
        let base = lines_between(text, body, end)
            .find(|line| is_content(line.1))
            .map_or(0, |line| indent_width(line.1));
        Recovery { tags, body, end, second_document, base, ..Recovery::of_entry(text) }
    }

    /// For an entry of a text that is cut: it has no marks of documents, so none are looked for in
    /// all that follows each entry.
    fn of_entry(text: &'t str) -> Recovery<'t> {
        Recovery {
            text,
            tags: Vec::new(),
            body: 0,
            end: text.len(),
            second_document: None,
            base: 0,
            effort: EFFORT * text.len(),
            builder: Builder::default(),
            entries: Vec::new(),
            other_root: None,
            problems: Vec::new(),
            comments: Vec::new(),
        }
    }

    /// Every control character is a problem; the tree is read as if they were letters.
    fn control_characters(&mut self) {
        let mut at = 0;
        while let Some(bad) = control::bad_char(&self.text[..self.end], at) {
            let error = control::bad_char_error(self.text, bad);
            at = error.span.end as usize;
            match self.problems.last_mut().filter(|last| last.span.end == error.span.start) {
                Some(last) => last.span.end = error.span.end,
                None => self.problems.push(error),
            }
        }
    }

    fn read_from(&mut self, mut from: usize) {
        while from < self.end {
            let end = if self.effort == 0 { self.next_key(from) } else { self.end };
            let mut run = self.run(from, end);
            let result = run.read_document();
            self.effort = self.effort.saturating_sub(run.scanner.position() - from);
            from = match result {
                Ok(root) => {
                    self.comments.append(&mut run.scanner.comments);
                    self.builder = run.builder;
                    self.add(root);
                    end
                }
                Err(error) => self.take(run, *error),
            };
        }
    }

    fn run(&mut self, from: usize, end: usize) -> DocumentParser<'t> {
        let mut run = DocumentParser::new(self.text, from, end, std::mem::take(&mut self.builder));
        run.tags.clone_from(&self.tags);
        run
    }

    /// Keeps the entries that a run read before its error, reads the broken entry by itself, and
    /// returns where to continue.
    fn take(&mut self, run: DocumentParser<'t>, error: SyntaxError) -> usize {
        let is_of_root = run.is_of_root(&error);
        let Complete { mut pairs, keep, end: bad } = self.complete(&run, &error);
        // A line that cannot begin an entry belongs to the entry above it.
        let above = pairs.last().filter(|_| {
            !begins_entry(self.text[bad..].trim_start_matches(' ')) || self.is_orphan(bad)
        });
        let entry = above
            .map_or(bad, |(key, _)| line_start(self.text, first_byte(&run.builder.nodes, *key)));
        self.entries.append(&mut pairs);
        self.comments
            .extend(run.scanner.comments.iter().filter(|comment| (comment.start as usize) < bad));
        self.builder = run.builder;
        self.builder.forget_from(keep);
        let next = self.next_key(bad);
        let mut piece = self.run(bad, next);
        let result = piece.read_document();
        let root = match &result {
            Ok(root) => *root,
            Err(_) => piece.builder.close_all(piece.last_end),
        };
        self.comments.append(&mut piece.scanner.comments);
        self.builder = piece.builder;
        let here = (bad..next).contains(&(error.span.start as usize));
        let mut problem = match result {
            Err(own) if !here => *own,
            _ => error,
        };
        if let Some((_, place)) = problem.context.as_mut().filter(|_| is_of_root) {
            // The context of the error is the start of the mapping, but the first entry there is
            // not at fault.
            *place = TextRange::from_usize(entry..entry);
        }
        if let Some((context, place)) = &problem.context
            && matches!(
                context.as_str(),
                "while scanning a simple key" | "while scanning a quoted scalar"
            )
        {
            // libyaml notices a missing `:` or quote far behind; the place of interest is the word
            // that lacks it.
            let start = place.start as usize;
            let line = &self.text[start..next_line(self.text, start)];
            problem.span = TextRange::from_usize(start..start + line.trim_end().len());
        }
        problem.span = self.visible_span(problem.span);
        self.problems.push(problem);
        if !self.is_orphan(bad) {
            self.add(root);
        }
        next
    }

    fn is_orphan(&self, line: usize) -> bool {
        indent_width(&self.text[line..]) > self.base
    }

    /// Returns the range itself, or the last character before it that is no white space if it is
    /// the empty end of a piece.
    fn visible_span(&self, span: TextRange) -> TextRange {
        let (at, len) = (span.start as usize, self.text.len());
        if !span.is_empty() || at == len {
            return span;
        }
        let before = self.text[..at].trim_end();
        let start = before.char_indices().next_back().map_or(0, |(at, _)| at);
        let width = self.text[start..].chars().next().map_or(0, char::len_utf8);
        TextRange::from_usize(start..start + width)
    }

    /// Returns the entries of a run's root mapping that ended before the error.
    fn complete(&self, run: &DocumentParser<'_>, error: &SyntaxError) -> Complete {
        let (mut pairs, rest) = complete_entries(&run.builder);
        let mut keep = rest.map_or(run.nodes_before, |id| id.0 as usize);
        let nodes = &run.builder.nodes;
        let mut end = pairs.last().map_or(run.start, |(_, value)| {
            next_line(self.text, nodes[value.0 as usize].span.end as usize)
        });
        // An error on the line where an entry ends belongs to that entry.
        if (error.span.start as usize) < end
            && let Some((key, _)) = pairs.pop()
        {
            keep = key.0 as usize;
            end = line_start(self.text, first_byte(nodes, key));
        }
        Complete { pairs, keep, end: self.content_line(end.max(run.start)) }
    }

    /// Adds the result of reading a piece of the text.
    fn add(&mut self, root: Option<NodeId>) {
        let Some(root) = root else { return };
        let node = &self.builder.nodes[root.0 as usize];
        match &node.kind {
            NodeKind::Mapping { flow: false, entries } => self.entries.extend(entries),
            NodeKind::Scalar { style: ScalarStyle::Plain, text } if looks_like_name(text) => {
                let end = node.span.end;
                self.builder.add_empty(end);
                let value = self.builder.done.pop().expect("just added");
                self.entries.push((root, value));
            }
            _ => self.other_root = self.other_root.or(Some(root)),
        }
    }

    /// Returns the start of the first line at or behind `from` that is neither empty nor a comment.
    fn content_line(&self, from: usize) -> usize {
        lines_between(self.text, from, self.end)
            .find(|line| is_content(line.1))
            .map_or(self.end, |line| line.0)
    }

    /// Returns the start of the next line behind that of `from` that looks like an entry.
    fn next_key(&self, from: usize) -> usize {
        lines_between(self.text, from, self.end)
            .skip(1)
            .find(|(_, line)| {
                indent_width(line) <= self.base && looks_like_key(line.trim_start_matches(' '))
                    || is_marker(line)
            })
            .map_or(self.end, |line| line.0)
    }

    fn finish(mut self) -> Tree {
        let entries = std::mem::take(&mut self.entries);
        let root = if entries.is_empty() {
            self.other_root
        } else {
            let nodes = std::mem::take(&mut self.builder.nodes);
            let mut tree = Tree { nodes, ..Tree::default() };
            let root = tree.add_root(entries, false);
            self.builder.nodes = tree.nodes;
            Some(root)
        };
        self.problems.sort_by_key(|problem| problem.span);
        self.comments.sort();
        self.comments.dedup();
        let second_document = self.second_document;
        Tree {
            nodes: self.builder.nodes,
            root,
            problems: self.problems,
            comments: self.comments,
            second_document,
            ..Tree::default()
        }
    }
}

/// Returns the entries of the root that are complete, if the root is a block mapping, and the first
/// node behind them.
///
/// Without such a root there are none, and nothing is worth keeping.
fn complete_entries(builder: &Builder) -> (Vec<(NodeId, NodeId)>, Option<NodeId>) {
    let Some(root) = builder.open.first() else { return (Vec::new(), None) };
    if !matches!(builder.nodes[root.node.0 as usize].kind, NodeKind::Mapping { flow: false, .. }) {
        return (Vec::new(), None);
    }
    let end = builder.open.get(1).map_or(builder.done.len(), |open| open.first);
    let children = &builder.done[root.first..end];
    let pairs: Vec<_> = children.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let pending = children.get(pairs.len() * 2).copied();
    let rest = pending
        .or(builder.open.get(1).map(|open| open.node))
        .unwrap_or(NodeId(builder.nodes.len() as u32));
    (pairs, Some(rest))
}

/// Returns the first byte of a node or of its anchor and tag.
fn first_byte(nodes: &[Node], id: NodeId) -> usize {
    let node = &nodes[id.0 as usize];
    let properties = [&node.anchor, &node.tag];
    let starts = properties.into_iter().flatten().map(|property| property.span.start);
    starts.chain([node.span.start]).min().unwrap_or_default() as usize
}

/// Returns the lines from `from`, which is the start of one, to `end`: where each starts, and its
/// text without the break.
///
/// Only LF and CR end a line here; an entry that begins behind another break is not found.
fn lines_between(text: &str, from: usize, end: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let start = at;
        at = next_line(text, start).min(end);
        Some((start, text[start..at].trim_end_matches(['\n', '\r'])))
    })
}

/// Returns the start of the line behind the one that holds the byte at `at`.
fn next_line(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let Some(len) = bytes[at..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
        return text.len();
    };
    let end = at + len;
    end + if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// Returns how many spaces a line begins with.
fn indent_width(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

fn is_content(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '\u{feff}']);
    !line.is_empty() && !line.starts_with('#')
}

/// Whether a line, its indentation removed, begins with a key as data files have them: one word, or
/// in quotes.
fn looks_like_key(line: &str) -> bool {
    let after = match line.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => {
            let Some(len) = line[1..].bytes().position(|byte| byte == *quote) else { return false };
            line[len + 2..].trim_start_matches([' ', '\t'])
        }
        Some(_) => {
            let Some(colon) =
                line.match_indices(':').map(|(at, _)| at).find(|at| ends_key(*at, line))
            else {
                return false;
            };
            if !looks_like_name(&line[..colon]) {
                return false;
            }
            &line[colon..]
        }
        None => return false,
    };
    after.strip_prefix(':').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn ends_key(at: usize, line: &str) -> bool {
    line[at + 1..].is_empty() || line[at + 1..].starts_with([' ', '\t'])
}

/// Whether a text may be a key that is still being typed: one word without YAML's indicators.
fn looks_like_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['-', '?', '@', '`', '%', '|', '>'])
        && !text.contains([' ', '\t', '"', '\'', '{', '}', '[', ']', ',', '#', '&', '*', '!', '\n'])
}

/// Returns the place where the document's content begins: behind directives, comments and `---` if
/// that stands alone on its line.
fn body_start(text: &str) -> usize {
    for (start, line) in lines_between(text, 0, text.len()) {
        let line = line.trim_start_matches('\u{feff}');
        if is_directive(line) || !is_content(line) {
            continue;
        }
        let alone = line.strip_prefix("---").is_some_and(|rest| {
            !is_content(rest) && (rest.is_empty() || rest.starts_with([' ', '\t']))
        });
        return if alone { next_line(text, start) } else { start };
    }
    0
}

fn is_directive(line: &str) -> bool {
    line.strip_prefix('%').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Returns the place where the document ends, and the marker of the next one if there is one.
fn document_end(text: &str, body: usize) -> (usize, Option<TextRange>) {
    for (number, (start, line)) in lines_between(text, body, text.len()).enumerate() {
        let Some(rest) = line.strip_prefix("---").or_else(|| line.strip_prefix("...")) else {
            continue;
        };
        if number == 0 || !rest.is_empty() && !rest.starts_with([' ', '\t']) {
            continue;
        }
        let again =
            line.starts_with("---") || text[next_line(text, start)..].lines().any(is_content);
        return (start, again.then(|| TextRange::from_usize(start..start + 3)));
    }
    (text.len(), None)
}

#[cfg(test)]
mod tests;
