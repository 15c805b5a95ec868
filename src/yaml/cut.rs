//! A text cut into its top-level entries, each of which can be read by itself and means the same as in its place.
//!
//! That holds for the plain form of data files: one document, a block mapping at column 0, no anchor that another entry refers to.
//! libyaml begins anew at each key at column 0, so a run of lines that is accepted by itself is read the same within its text. Whatever
//! stands at column 0 within quotes or brackets is refused by itself, and belongs to the entry above it. [`cut`] cuts a whole text so,
//! [`cut_piece`] a run of whole entries out of such a text after an edit.

use super::parse::parse;
use super::tree::{NodeKind, Tree};
use crate::text::TextRange;

/// A top-level entry of a text.
#[derive(Debug)]
pub struct Entry {
    /// Its bytes: from the start of its key's line to that of the next entry's.
    pub range: TextRange,
    /// The entry as a text of its own: a mapping, of one entry as a rule. Places are counted from the start of `range`.
    pub tree: Tree,
}

/// How many times as much as the text is read before cutting is given up.
const PATIENCE: usize = 3;

impl Entry {
    fn shifted(self, by: usize) -> Entry {
        Entry { range: self.range.shifted(u32::try_from(by).expect("texts are shorter than 4 GiB")), ..self }
    }
}

/// The entries of a whole text; `None` when it has no such form. What is before the first belongs to none.
pub fn cut(text: &str) -> Option<Vec<Entry>> {
    let mut at = head(text)?;
    if has_markers(&text[at..]) {
        return None;
    }
    let mut entries = Vec::new();
    let mut read = 0;
    while at < text.len() {
        let mut end = next_start(text, at);
        loop {
            let piece = &text[at..end];
            read += piece.len();
            if read > PATIENCE * text.len() {
                return None;
            }
            let tree = parse(piece);
            if tree.problems.is_empty() {
                entries.extend(in_piece(piece, tree)?.into_iter().map(|entry| entry.shifted(at)));
                break;
            }
            if end == text.len() {
                return None;
            }
            end = next_start(text, end);
        }
        at = end;
    }
    (!entries.is_empty()).then_some(entries)
}

/// Where the first entry begins; `None` for a text that begins otherwise: with a directive, a document that has properties, an indented key.
fn head(text: &str) -> Option<usize> {
    let mut has_begun = false;
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let marked = line.strip_prefix("---").filter(|rest| !has_begun && rest.starts_with([' ', '\t', '\n', '\r']));
        let rest = marked.unwrap_or(line).trim_matches([' ', '\t', '\n', '\r']);
        if !rest.is_empty() && !rest.starts_with('#') {
            let is_plain = !has_odd_breaks(&text[..at]) && parse(&text[..at]).problems.is_empty();
            return (is_plain && begins_entry(line)).then_some(at);
        }
        has_begun |= marked.is_some();
        at += line.len();
    }
    None
}

/// Where the next line begins that may begin an entry, behind the line at `at`.
fn next_start(text: &str, at: usize) -> usize {
    let mut from = at;
    while let Some(end) = text[from..].find(['\n', '\r']) {
        from += end + 1;
        if begins_entry(&text[from..]) {
            return from;
        }
    }
    text.len()
}

/// Whether a line may begin an entry. One that is taken for such and is none does no harm: what is above it is refused by itself.
fn begins_entry(line: &str) -> bool {
    let mut chars = line.chars();
    let is_blank = |c: Option<char>| c.is_none_or(|c| c.is_ascii_whitespace());
    match chars.next() {
        None | Some(' ' | '\t' | '\n' | '\r' | '#' | ']' | '}' | ',' | '\u{feff}') => false,
        Some('-' | ':') => !is_blank(chars.next()),
        Some(_) => true,
    }
}

/// The entries of whole lines out of a text that could be cut; `None` when they would not be read the same in their place.
/// None at all for lines without content.
pub fn cut_piece(text: &str) -> Option<Vec<Entry>> {
    if has_markers(text) {
        return None;
    }
    let tree = parse(text);
    if tree.root.is_none() && tree.problems.is_empty() {
        return Some(Vec::new());
    }
    in_piece(text, tree)
}

/// The entries of a text, whose tree this is.
fn in_piece(text: &str, tree: Tree) -> Option<Vec<Entry>> {
    let starts = starts(text, &tree)?;
    match starts.as_slice() {
        [0] => Some(vec![Entry { range: TextRange::from_usize(0..text.len()), tree }]),
        _ => entries(text, &starts),
    }
}

fn entries(text: &str, starts: &[usize]) -> Option<Vec<Entry>> {
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let entry = |(start, end): (&usize, usize)| {
        let tree = parse(&text[*start..end]);
        let stands_alone = tree.problems.is_empty() && tree.root.is_some_and(|root| !tree.entries(root).is_empty());
        stands_alone.then(|| Entry { range: TextRange::from_usize(*start..end), tree })
    };
    starts.iter().zip(ends).map(entry).collect()
}

/// Where the lines of the root's keys begin, if the root is a mapping that can be cut.
fn starts(text: &str, tree: &Tree) -> Option<Vec<usize>> {
    let root = tree.root?;
    let node = tree.node(root);
    let is_plain = matches!(node.kind, NodeKind::Mapping { flow: false, .. }) && node.anchor.is_none() && node.tag.is_none();
    if !is_plain || !tree.problems.is_empty() || tree.second_document.is_some() || tree.lone_scalar.is_some() {
        return None;
    }
    let mut starts: Vec<usize> = Vec::with_capacity(tree.entries(root).len());
    for (key, _) in tree.entries(root) {
        let start = line_start(text, tree.whole_span(*key).start as usize);
        // A merge key takes its entries from elsewhere, and puts them among the others.
        if text[start..].starts_with([' ', '\t', '\u{feff}']) || tree.scalar(*key) == Some("<<") {
            return None;
        }
        if starts.last() != Some(&start) {
            starts.push(start);
        }
    }
    let entry_of = |offset: u32| starts.partition_point(|start| *start <= offset as usize);
    let is_bound = |node: &super::Node| match &node.kind {
        NodeKind::Alias { target: Some(target), .. } => entry_of(node.span.start) == entry_of(tree.node(*target).span.start),
        NodeKind::Alias { target: None, .. } => false,
        _ => true,
    };
    tree.nodes.iter().all(is_bound).then_some(starts)
}

/// Whether a line could begin or end a document, or is written so that lines are not what they seem.
fn has_markers(text: &str) -> bool {
    let is_marker = |rest: &[u8]| rest.starts_with(b"---") || rest.starts_with(b"...") || rest.starts_with(b"%");
    let bytes = text.as_bytes();
    let after_break =
        || bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'\n' | b'\r')).map(|(at, _)| &bytes[at + 1..]);
    is_marker(bytes) || after_break().any(is_marker) || has_odd_breaks(text)
}

/// Whether there are breaks that only YAML 1.1 knows, or marks of byte order.
fn has_odd_breaks(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_odd = |window: &[u8]| matches!(window, [0xc2, 0x85, _] | [0xe2, 0x80, 0xa8 | 0xa9] | [0xef, 0xbb, 0xbf]);
    !bytes.is_ascii() && (bytes.windows(3).any(is_odd) || bytes.ends_with("\u{85}".as_bytes()))
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Option<Vec<&str>> {
        let cut = cut(text)?;
        Some(cut.iter().map(|entry| &text[entry.range.as_usize()]).collect())
    }

    #[test]
    fn what_stands_at_column_0_within_an_entry_is_its_own() {
        let text = "# head\n---\na: 1\n# of a\nb: {\n}\nc: 'x\ny'\nd:\n- 1\n- |\n z\n\n? e\n: 2\n\"f\": 3";
        let expected = ["a: 1\n# of a\n", "b: {\n}\n", "c: 'x\ny'\n", "d:\n- 1\n- |\n z\n\n", "? e\n: 2\n", "\"f\": 3"];
        assert_eq!(pieces(text).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_cut() {
        for text in [
            "",
            "- a\n",
            "{a: 1}\n",
            " a: 1\n b: 2\n",
            "a: 1\nb: [\n",
            "a: &x 1\nb: *x\n",
            "a: 1\n<<: {b: 2}\n",
            "a: 1\n---\nb: 2\n",
            "%YAML 1.1\n---\na: 1\n...\n",
            "a: 1\u{2028}b: 2\n",
            "--- !!map\na: 1\n",
            "%TAG !! tag:example.com,2000:\n---\na: !!binary aGk=\nb: !!str 5\n",
        ] {
            assert!(pieces(text).is_none(), "{text:?}");
        }
        assert!(pieces("a: {x: &x 1, y: *x}\nb: 2\n").is_some(), "an anchor for its own entry");
    }

    #[test]
    fn a_piece_is_whole_entries() {
        assert_eq!(cut_piece("# nothing\n\n").unwrap().len(), 0);
        assert_eq!(cut_piece("a: 1\n# x\nb: 2\n").unwrap().len(), 2);
        for piece in ["word\n", "  a: 1\n", "a: 'x\n", "a: 1\n---\n", "a: *x\n", "\u{feff}a: 1\n"] {
            assert!(cut_piece(piece).is_none(), "{piece:?}");
        }
    }
}
