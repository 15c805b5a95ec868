//! A data file as the entries of its text: where each begins and ends, with the comments above it.
//! Only block mappings of YAML whose keys begin their lines are taken apart; other files are left
//! to the user.

use std::sync::Arc;

use super::psych::{Resolved, resolve_plain};
use super::tree::{NodeId, NodeKind, ScalarStyle, Tree};
use crate::text::{TextEdit, TextRange};

/// Beginnings of comments that speak of the whole file, and stay at its top.
const OF_FILE: [&str; 8] =
    ["yaml-language-server", "vim:", "-*-", "yamllint", "prettier", "SPDX-", "Copyright", "!"];

/// A data file in pieces.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) tree: Tree,
    pub(crate) entries: Vec<DocumentEntry>,
    /// The `{}` of a file without entries, if it is written.
    braces: Option<TextRange>,
}

/// A top-level entry.
#[derive(Debug)]
pub(crate) struct DocumentEntry {
    /// The key, as lookups know it.
    pub(crate) name: Arc<str>,
    pub(crate) key: NodeId,
    pub(crate) value: NodeId,
    /// The start of the comments directly above the entry; of the key where there are none.
    pub(crate) lead: u32,
    /// The start of the key.
    pub(crate) start: u32,
    /// The end of the entry's last line, the line break included.
    pub(crate) end: u32,
}

impl Document {
    /// Takes a text of YAML apart; `None` for one that Puppet refuses, or that is written in another
    /// way.
    pub(crate) fn parse(text: String) -> Option<Document> {
        let tree = super::parse(&text);
        if !tree.problems.is_empty() || tree.second_document.is_some() {
            return None;
        }
        let mut document = Document { text, tree, entries: Vec::new(), braces: None };
        let Some(root) = document.tree.root else {
            return document.is_blank().then_some(document);
        };
        let root = document.tree.node(root);
        let entries = match &root.kind {
            NodeKind::Mapping { flow: false, entries } => entries,
            NodeKind::Mapping { entries, .. } if entries.is_empty() => {
                return Some(Document { braces: Some(root.span), ..document });
            }
            NodeKind::Scalar { text, .. } if text.is_empty() && document.is_blank() => {
                return Some(document);
            }
            _ => return None,
        };
        if root.anchor.is_some() || root.tag.is_some() {
            return None;
        }
        let mut all = Vec::new();
        for (key, value) in entries {
            all.push(document.read_entry(*key, *value)?);
        }
        document.entries = all;
        document.add_comments();
        Some(document)
    }

    /// Whether a text without content holds nothing but comments and a `---`.
    fn is_blank(&self) -> bool {
        self.text.lines().all(|line| {
            let line = line.trim();
            line.is_empty() || line.starts_with('#') || line == "---"
        })
    }

    /// Returns an entry without its comments; `None` where its key does not begin a line, or is no
    /// plain name.
    fn read_entry(&self, key: NodeId, value: NodeId) -> Option<DocumentEntry> {
        let node = self.tree.node(key);
        let NodeKind::Scalar { style, text } = &node.kind else { return None };
        let is_name = match style {
            ScalarStyle::Plain => resolve_plain(text) == Resolved::String && &**text != "<<",
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => true,
            _ => false,
        };
        let start = node.span.start;
        let begins_line = start == 0 || self.text.as_bytes()[start as usize - 1] == b'\n';
        if !is_name || !begins_line || node.anchor.is_some() || node.tag.is_some() {
            return None;
        }
        let last = self.tree.node(value).span.end.max(node.span.end);
        let end = self.line_end(last);
        Some(DocumentEntry { name: (&**text).into(), key, value, lead: start, start, end })
    }

    /// Returns the end of the line that a byte is in, or ends: the start of the next line.
    pub(crate) fn line_end(&self, at: u32) -> u32 {
        let at = at as usize;
        // A block scalar ends behind its last line break.
        if at > 0 && self.text.as_bytes()[at - 1] == b'\n' {
            return at as u32;
        }
        self.text[at..].find('\n').map_or(self.text.len(), |found| at + found + 1) as u32
    }

    /// Gives each entry the comments directly above it, and those within its value.
    fn add_comments(&mut self) {
        let mut above = 0;
        for number in 0..self.entries.len() {
            let start = self.entries[number].start;
            let lead = self.comments_start(above, start, number == 0);
            self.entries[number].lead = lead;
            if number > 0 {
                let end = self.indented_end(above, lead);
                self.entries[number - 1].end = end;
            }
            above = self.entries[number].end;
        }
        if let Some(last) = self.entries.len().checked_sub(1) {
            let end = self.text.len() as u32;
            self.entries[last].end = self.indented_end(self.entries[last].end, end);
        }
    }

    /// Returns the start of the comment lines that end where a key starts.
    fn comments_start(&self, from: u32, start: u32, is_first: bool) -> u32 {
        let mut lead = start;
        let between = &self.text[from as usize..start as usize];
        for line in between.split_inclusive('\n').rev() {
            let is_of_file =
                is_first && line.starts_with('#') && OF_FILE.iter().any(|it| line.contains(it));
            if !line.starts_with('#') || is_of_file {
                break;
            }
            lead -= line.len() as u32;
        }
        lead
    }

    /// Returns the end of the last indented comment in a range, or its start.
    fn indented_end(&self, from: u32, to: u32) -> u32 {
        let mut end = from;
        let mut at = from;
        for line in self.text[from as usize..to as usize].split_inclusive('\n') {
            at += line.len() as u32;
            let inner = line.trim_start_matches(' ');
            if line.starts_with('#') {
                break;
            }
            if inner.starts_with('#') {
                end = at;
            }
        }
        end
    }

    /// Returns the entry with a name.
    pub(crate) fn find_entry(&self, name: &str) -> Option<&DocumentEntry> {
        self.entries.iter().find(|entry| &*entry.name == name)
    }

    /// Returns the entry that a byte is in, its comments included.
    pub(crate) fn entry_at(&self, offset: u32) -> Option<&DocumentEntry> {
        self.entries
            .iter()
            .find(|it| it.lead <= offset && offset < it.end.max(it.start + 1))
            .or_else(|| self.entries.last().filter(|it| offset == it.end))
    }

    /// Returns the text of an entry with its comments, a line break at its end.
    pub(crate) fn text_of(&self, entry: &DocumentEntry) -> String {
        let mut text = self.text[entry.lead as usize..entry.end as usize].to_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// Whether an anchor, or an alias, stands in an entry, so that its text means nothing
    /// elsewhere.
    pub(crate) fn has_anchors(&self, entry: &DocumentEntry) -> bool {
        self.nodes_in(entry.value).any(|node| {
            let node = self.tree.node(node);
            node.anchor.is_some() || matches!(node.kind, NodeKind::Alias { .. })
        })
    }

    /// Returns a node and all nodes in it; targets of aliases are not in it.
    pub(crate) fn nodes_in(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut open = vec![node];
        std::iter::from_fn(move || {
            let node = open.pop()?;
            match &self.tree.node(node).kind {
                NodeKind::Sequence { items, .. } => open.extend(items.iter().rev()),
                NodeKind::Mapping { entries, .. } => {
                    open.extend(entries.iter().rev().flat_map(|(key, value)| [*value, *key]));
                }
                NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
            }
            Some(node)
        })
    }

    /// Whether the comments above an entry may speak of the entries below it, too: the entry is the
    /// first of several lines without another comment or a blank line.
    fn heads_others(&self, entry: &DocumentEntry) -> bool {
        let before = &self.text[..entry.lead as usize];
        let begins_paragraph = before.lines().next_back().is_none_or(|line| {
            let line = line.trim_end();
            line.is_empty() || line == "---" || line.starts_with('#')
        });
        let below = self.entries.iter().skip_while(|it| it.start <= entry.start);
        let mut end = entry.end;
        let below = below.take_while(|it| {
            let is_next = it.lead == end;
            end = it.end;
            is_next
        });
        let mut below = below.peekable();
        let has_comments = entry.lead < entry.start;
        has_comments
            && begins_paragraph
            && below.peek().is_some()
            && below.all(|it| it.lead == it.start)
    }

    /// Returns the edit that removes an entry with the comments that speak of it alone, and a blank
    /// line that would be left beside another one. A file that loses its only entry keeps an empty
    /// hash, as Puppet warns of a file without data.
    pub(crate) fn removal_edit(&self, entry: &DocumentEntry) -> TextEdit {
        if self.entries.len() == 1 {
            return TextEdit::new(TextRange::new(entry.lead, entry.end), "{}\n");
        }
        let start = if self.heads_others(entry) { entry.start } else { entry.lead };
        let (start, mut end) = (start as usize, entry.end as usize);
        let before = &self.text[..start];
        let is_open = before.is_empty() || before.ends_with("\n\n") || before.ends_with("\r\n\r\n");
        let blank = [("\n"), ("\r\n")].into_iter().find(|it| self.text[end..].starts_with(it));
        if let Some(blank) = blank.filter(|_| is_open) {
            end += blank.len();
        }
        TextEdit::new(TextRange::from_usize(start..end), "")
    }

    /// Whether a part of a comment stands in a range.
    pub(crate) fn has_comment_in(&self, range: TextRange) -> bool {
        let comments = &self.tree.comments;
        let next = comments.partition_point(|comment| comment.end < range.start);
        comments.get(next).is_some_and(|comment| comment.meets_range(range))
    }

    /// Returns the edit that removes the member of a hash whose key starts at an offset. `None` where
    /// other text shares its lines, its hash has no other member, or an alias may need it.
    pub(crate) fn member_removal_edit(&self, key_start: u32) -> Option<TextEdit> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.start == key_start) {
            let is_free = !self.has_anchors(entry) && self.find_entry("sops").is_none();
            return is_free.then(|| self.removal_edit(entry));
        }
        let (key, value) = self.tree.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Mapping { flow: false, entries } if entries.len() > 1 => entries
                .iter()
                .find(|(key, _)| self.tree.node(*key).span.start == key_start)
                .copied(),
            _ => None,
        })?;
        let start = self.text[..key_start as usize].rfind('\n').map_or(0, |found| found + 1);
        let last = self.tree.node(value).span.end.max(self.tree.node(key).span.end);
        let end = self.line_end(last) as usize;
        let is_alone = self.text[start..key_start as usize].trim().is_empty()
            && self.text.get(last as usize..end).is_none_or(|rest| {
                let rest = rest.trim();
                rest.is_empty() || rest.starts_with('#')
            });
        let holds_anchor = self.nodes_in(value).any(|node| {
            let node = self.tree.node(node);
            node.anchor.is_some() || matches!(node.kind, NodeKind::Alias { .. })
        });
        (is_alone && !holds_anchor && self.find_entry("sops").is_none())
            .then(|| TextEdit::new(TextRange::from_usize(start..end), ""))
    }

    /// Returns the edit that adds an entry: in its place where the keys are in order, and else
    /// below the last one.
    pub(crate) fn insertion_edit(&self, name: &str, text: &str) -> TextEdit {
        if let Some(braces) = self.braces {
            return TextEdit::new(braces, text.strip_suffix('\n').unwrap_or(text));
        }
        let is_sorted =
            self.entries.len() > 2 && self.entries.windows(2).all(|two| two[0].name < two[1].name);
        let next = self.entries.iter().find(|entry| is_sorted && *entry.name > *name);
        let at = match (next, self.entries.last()) {
            (Some(next), _) => next.lead,
            (None, Some(last)) => last.end,
            (None, None) => self.text.len() as u32,
        };
        let is_line_start = at == 0 || self.text.as_bytes()[at as usize - 1] == b'\n';
        let text = if is_line_start { text.to_owned() } else { format!("\n{text}") };
        TextEdit::new(TextRange::new_empty(at), text)
    }

    /// Whether the file begins with a marker of documents.
    pub(crate) fn has_marker(&self) -> bool {
        self.text.lines().any(|line| line.trim_end() == "---")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Option<Document> {
        Document::parse(text.to_owned())
    }

    #[test]
    fn entries_have_the_comments_that_speak_of_them() {
        let text = "# vim: ft=yaml\n---\n# section\n\n# of a\na:\n  x: 1 # inside\n  # below x\n\nb: |\n  text\n\n# at the end\n";
        let document = document(text).expect("it can be taken apart");
        let texts: Vec<String> =
            document.entries.iter().map(|entry| document.text_of(entry)).collect();
        assert_eq!(texts, ["# of a\na:\n  x: 1 # inside\n  # below x\n", "b: |\n  text\n"]);
    }

    #[test]
    fn a_comment_above_several_entries_stays_where_one_is_removed() {
        let left = |text: &str, name: &str| {
            let document = document(text).expect("it can be taken apart");
            let edit = document.removal_edit(document.find_entry(name).expect("it is there"));
            TextEdit::apply_all(&[edit], text)
        };
        assert_eq!(left("x: 1\n\n# Packages\na: 1\nb: 2\n", "a"), "x: 1\n\n# Packages\nb: 2\n");
        assert_eq!(left("# Packages\na: 1\nb: 2\n\nc: 1\n", "b"), "# Packages\na: 1\n\nc: 1\n");
        assert_eq!(left("# of a\na: 1\n# of b\nb: 2\n", "a"), "# of b\nb: 2\n");
        assert_eq!(left("# of a\na: 1\n\nb: 2\n", "a"), "b: 2\n");
        assert_eq!(left("x: 1\n# of a\na: 1\nb: 2\n", "a"), "x: 1\nb: 2\n");
    }

    #[test]
    fn a_removed_entry_leaves_no_gap_and_an_added_one_finds_its_place() {
        let document = document("a: 1\n\nb: 2\n\nc: 3\n").expect("it can be taken apart");
        let edit = document.removal_edit(document.find_entry("b").expect("it is there"));
        assert_eq!(TextEdit::apply_all(&[edit], &document.text), "a: 1\n\nc: 3\n");
        let edit = document.insertion_edit("bb", "bb: 1\n");
        assert_eq!(TextEdit::apply_all(&[edit], &document.text), "a: 1\n\nb: 2\n\nbb: 1\nc: 3\n");
    }

    #[test]
    fn other_files_are_left_alone() {
        for text in
            ["{a: 1}\n", "? a\n: 1\n", "a: 1\n---\nb: 2\n", "<<: {x: 1}\n", "1: x\n", "a: [\n"]
        {
            assert!(document(text).is_none(), "{text}");
        }
        assert!(document("---\n# nothing\n").is_some_and(|it| it.entries.is_empty()));
    }
}
