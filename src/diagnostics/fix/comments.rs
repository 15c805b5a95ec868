//! Comments that accept findings: removed, and written.

use crate::text::{TextEdit, TextRange};
use crate::yaml::{NodeKind, Tree};

/// Returns the edit that removes a code from a comment: with its comma, or with the comment and the
/// line where nothing else is left.
pub(super) fn remove_code(text: &str, code: TextRange) -> Option<TextEdit> {
    let range = code.as_usize();
    let line_start = text[..range.start].rfind('\n').map_or(0, |found| found + 1);
    let line_end = text[range.end..].find('\n').map_or(text.len(), |found| range.end + found + 1);
    let before = text[line_start..range.start].trim_end();
    let after = text[range.end..line_end].trim_start();
    if before.ends_with(',') {
        let start = line_start + before.len() - 1;
        return Some(TextEdit::new(TextRange::from_usize(start..range.end), ""));
    }
    if let Some(rest) = after.strip_prefix(',') {
        let end = line_end - rest.trim_start_matches(' ').len();
        return Some(TextEdit::new(TextRange::from_usize(range.start..end), ""));
    }
    let comment = line_start + text[line_start..range.start].rfind('#')?;
    if text[line_start..comment].trim().is_empty() {
        return Some(TextEdit::new(TextRange::from_usize(line_start..line_end), ""));
    }
    let start = text[..comment].trim_end_matches([' ', '\t']).len();
    let end = text[..line_end].trim_end_matches(['\r', '\n']).len();
    Some(TextEdit::new(TextRange::from_usize(start..end), ""))
}

/// A place for a comment that accepts findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CommentPlace {
    /// The start of the line below the comment.
    pub(super) start: u32,
    /// The width of the comment's indentation.
    pub(super) indent: u32,
    /// Whether the comment accepts findings in the whole file.
    is_of_file: bool,
}

/// Returns the place above the innermost entry that begins a line and holds an offset; where there is
/// none, as in a text that cannot be parsed, the top of the file.
pub(super) fn place_above(text: &str, tree: &Tree, offset: u32) -> CommentPlace {
    let mut innermost: Option<TextRange> = None;
    for node in &tree.nodes {
        let NodeKind::Mapping { flow: false, entries } = &node.kind else { continue };
        for (key, value) in entries {
            let key = tree.whole_span(*key);
            let entry = key.cover(tree.whole_span(*value));
            let is_inner = innermost.is_none_or(|it| entry.len() <= it.len());
            if text[line_start(key.start, text) as usize..key.start as usize]
                .chars()
                .all(|c| c == ' ')
                && entry.touches_offset(offset)
                && is_inner
            {
                innermost = Some(entry);
            }
        }
    }
    if let Some(entry) = innermost {
        let start = line_start(entry.start, text);
        return CommentPlace { start, indent: entry.start - start, is_of_file: false };
    }
    // The mark of the byte order, and directives, go before all comments.
    let mut start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    if text[start..].starts_with('%') {
        start = text.find("\n---").map_or(start, |found| found + 1);
    }
    CommentPlace { start: start as u32, indent: 0, is_of_file: true }
}

fn line_start(at: u32, text: &str) -> u32 {
    text[..at as usize].rfind('\n').map_or(0, |found| found + 1) as u32
}

/// Returns the edit that writes a comment which accepts findings of these rules.
pub(super) fn comment_edit(place: CommentPlace, codes: &[&str], reason: &str) -> TextEdit {
    let indent = " ".repeat(place.indent as usize);
    let word = if place.is_of_file { "ignore-file" } else { "ignore" };
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let comment = format!("{indent}# hiera-ls: {word}[{}] {reason}", codes.join(", "));
    TextEdit::new(TextRange::new_empty(place.start), format!("{}\n", comment.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_removed_with_its_comma_or_with_the_comment() {
        for (text, code, expected) in [
            ("a: 1 # hiera-ls: ignore[x, y]\n", "y", "a: 1 # hiera-ls: ignore[x]\n"),
            ("a: 1 # hiera-ls: ignore[x, y]\n", "x", "a: 1 # hiera-ls: ignore[y]\n"),
            ("a: 1 # hiera-ls: ignore[x, y, z]\n", "y", "a: 1 # hiera-ls: ignore[x, z]\n"),
            ("a: 1 # hiera-ls: ignore[y]\r\nb: 2\n", "y", "a: 1\r\nb: 2\n"),
            ("# hiera-ls: ignore[y]\na: 1\n", "y", "a: 1\n"),
        ] {
            let start = text.rfind(code).expect("the code is there");
            let edit = remove_code(text, TextRange::from_usize(start..start + 1));
            assert_eq!(TextEdit::apply_all(&[edit.expect("an edit")], text), expected, "{text}");
        }
    }
}
