//! Cuts a JSON object into its members. Each member can be parsed alone and has the same meaning as
//! within the object.
//!
//! A member begins with its key and ends where the next one begins, comma and comments included.
//! One that is refused ends at the next line that begins with a key in the same column, so that a
//! mistake hides one member and not all that follow. The end of the object, with all text behind
//! it, is an entry of its own.

use super::JsonReader;
use crate::text::TextRange;
use crate::yaml::entry::{Refused, Stop, TopEntry};
use crate::yaml::tree::{NodeId, SyntaxError, Tree};

/// How many bytes behind a place the reader inspects.
const LOOKAHEAD: usize = 16;

/// Returns the place where the first member begins; `None` for a text that is no object with
/// members.
pub(in crate::yaml) fn find_head(text: &str, is_all: bool) -> Result<usize, Stop> {
    let mut reader = JsonReader::new(text);
    reader.skip_ignored();
    let opens = reader.peek_byte() == Some(b'{');
    if opens {
        reader.pos += 1;
        reader.skip_ignored();
    }
    if is_short(&reader, is_all) {
        return Err(Stop::Short);
    }
    // A comment before the first member may be unfinished: the comment would end wherever its end
    // is typed.
    let has_members = reader.peek_byte().is_some_and(|byte| !matches!(byte, b'}' | b'/'));
    if opens && has_members { Ok(reader.pos) } else { Err(Stop::Other) }
}

/// Reads the member that a text begins with; the text goes on behind the given piece unless that
/// `is_all`. `column` is that of its key, if nothing stands before it in its line.
pub(in crate::yaml) fn read_entry(
    text: &str,
    column: Option<usize>,
    is_all: bool,
) -> Result<TopEntry, Stop> {
    if text.starts_with('}') {
        return if is_all { Ok(rest_entry(text)) } else { Err(Stop::Short) };
    }
    let mut reader = JsonReader { depth: 1, ..JsonReader::new(text) };
    let mut entries = Vec::new();
    reader.read_entry(&mut entries);
    let comma = reader.read_comma();
    if is_short(&reader, is_all) {
        return Err(Stop::Short);
    }
    let end = reader.pos;
    if reader.peek_byte() == Some(b'}') && (comma || reader.tree.problems.is_empty()) {
        if !is_all {
            return Err(Stop::Short);
        }
        let junk = rest_entry(&text[end..]).refused;
        match junk {
            // The end of the object is reported by itself.
            None if comma => return Ok(refused_entry(text, &reader, end, end + 1)),
            None => {}
            Some(junk) if !comma && next_member(text, column).is_some() => {
                reader.tree.problems.push(junk.verdict.shift(end as u32));
            }
            Some(_) => {}
        }
    }
    if reader.tree.problems.is_empty() {
        return Ok(TopEntry::new(&text[..end], with_root(reader.tree, entries)));
    }
    let next = next_member(text, column);
    if next.is_none() && !is_all {
        return Err(Stop::Short);
    }
    let end = next.unwrap_or(text.len());
    let line = text[end..].find(['\n', '\r']).map_or(text.len(), |len| end + len);
    let looked_at = reader.pos.max(end) + LOOKAHEAD;
    if line == text.len() && !is_all {
        return Err(Stop::Short);
    }
    Ok(refused_entry(text, &reader, end, looked_at.max(line)))
}

/// Whether the reader might go on otherwise with more text.
fn is_short(reader: &JsonReader<'_>, is_all: bool) -> bool {
    let rest = &reader.bytes[reader.pos..];
    !is_all && (rest.len() <= LOOKAHEAD || rest.starts_with(b"/"))
}

/// Returns a member that `reader` refused, with the reader's error.
fn refused_entry(text: &str, reader: &JsonReader<'_>, end: usize, reach: usize) -> TopEntry {
    let verdict = reader.tree.problems[0].clone();
    let is_unfinished = text[verdict.span.start as usize..].starts_with("/*");
    let reach = if is_unfinished { text.len() } else { reach };
    let piece = &text[..end];
    let mut alone = JsonReader { depth: 1, ..JsonReader::new(piece) };
    let mut entries = Vec::new();
    alone.read_entry(&mut entries);
    let mut tree = with_root(alone.tree, entries);
    tree.problems = match tree.problems.pop() {
        Some(own) if verdict.span.start as usize >= end && end < text.len() => {
            vec![move_visible(own, piece)]
        }
        _ => vec![verdict.clone()],
    };
    let refused = Refused { verdict, is_of_root: false, reach: reach as u32 };
    TopEntry { refused: Some(refused), ..TopEntry::new(piece, tree) }
}

/// Returns the error with a place that can be seen: the last character before the end of the text.
fn move_visible(error: SyntaxError, piece: &str) -> SyntaxError {
    if !error.span.is_empty() {
        return error;
    }
    let before = piece.trim_end();
    let start = before.char_indices().next_back().map_or(0, |(at, _)| at);
    SyntaxError { span: TextRange::from_usize(start..before.len()), ..error }
}

/// Makes the entry for the end of the object and all text behind it.
fn rest_entry(text: &str) -> TopEntry {
    let mut reader = JsonReader { pos: 1, ..JsonReader::new(text) };
    reader.skip_ignored();
    if reader.pos < text.len() {
        reader.record_error("unexpected token");
    }
    let refused = reader.tree.problems.first().map(|error| Refused {
        verdict: error.clone(),
        is_of_root: false,
        reach: text.len() as u32,
    });
    TopEntry { refused, is_behind_document: true, ..TopEntry::new(text, reader.tree) }
}

fn with_root(mut tree: Tree, entries: Vec<(NodeId, NodeId)>) -> Tree {
    if !entries.is_empty() {
        tree.root = Some(tree.add_root(entries, true));
    }
    tree
}

/// Returns the place where the next line begins, behind the first one, that has a key in this
/// column.
fn next_member(text: &str, column: Option<usize>) -> Option<usize> {
    let column = column?;
    let mut from = 0;
    while let Some(end) = text[from..].find(['\n', '\r']) {
        from += end + 1;
        let indent = text[from..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if indent == column && is_key(&text[from + indent..]) {
            return Some(from + indent);
        }
    }
    None
}

/// Whether a text begins with a string and a colon.
fn is_key(text: &str) -> bool {
    if !text.starts_with('"') {
        return false;
    }
    let line = &text[..text.find(['\n', '\r']).unwrap_or(text.len())];
    let mut reader = JsonReader::new(line);
    let is_string = reader.read_string().is_some();
    reader.skip_ignored();
    is_string && reader.peek_byte() == Some(b':')
}

#[cfg(test)]
mod tests {
    use crate::yaml::{Syntax, cut_text, parse_json};

    /// Returns the pieces that a text is cut into; `!` stands before those that are refused.
    fn pieces(text: &str) -> Vec<String> {
        let cut = cut_text(text, Syntax::Json).unwrap_or_else(|| panic!("{text:?} is cut"));
        let first = cut.iter().find_map(|entry| Some((entry.range, entry.refused.as_ref()?)));
        let verdict = first.map(|(range, refused)| refused.verdict.clone().shift(range.start));
        let tree = parse_json(text);
        assert_eq!(verdict, tree.verdict, "{text:?}");
        assert_eq!(verdict.is_some(), !tree.problems.is_empty(), "{text:?}");
        cut.iter()
            .map(|entry| {
                let mark = if entry.refused.is_some() { "!" } else { "" };
                format!("{mark}{}", &text[entry.range.as_usize()])
            })
            .collect()
    }

    #[test]
    fn members_end_where_the_next_one_begins() {
        let text = " // head\n{ \"a\": 1, // of a\n  \"b\": {\n  \"c\": [2]\n},\"d\":null\n}\n";
        let expected =
            ["\"a\": 1, // of a\n  ", "\"b\": {\n  \"c\": [2]\n},", "\"d\":null\n", "}\n"];
        assert_eq!(pieces(text), expected);
    }

    #[test]
    fn a_refused_member_ends_at_the_next_key_in_its_column() {
        for (broken, rest) in [
            ("!  \"a\": \"open,\n  ", "\"b\": 1\n"),
            ("!  \"a\": {\"x\": [1,\n  ", "\"b\": 1\n"),
            ("!  \"a\": 1\n  ", "\"b\": 1\n"),
            ("!  half\n  ", "\"b\": 1\n"),
            ("!  \"a\": {}},\n  ", "\"b\": 1\n"),
            ("!  \"a\"\n  ", "\"b\": 1\n"),
            ("!  \"a\": tru,\n    \"in\": 1,\n  ", "\"b\": 1\n"),
        ] {
            let text = format!("{{\n{}{rest}}}\n", &broken[1..]);
            let broken = format!("!{}", broken[1..].trim_start_matches(' '));
            assert_eq!(pieces(&text), [&broken, rest, "}\n"], "{text:?}");
        }
    }

    #[test]
    fn what_is_behind_a_mistake_in_one_line_is_part_of_it() {
        assert_eq!(
            pieces("{\"a\": 1, \"b\": x, \"c\": 3}"),
            ["\"a\": 1, ", "!\"b\": x, \"c\": 3}"]
        );
        assert_eq!(pieces("{\"a\": 1, \"b\": 2,}"), ["\"a\": 1, ", "!\"b\": 2,", "}"]);
        assert_eq!(pieces("{\"a\": 1} x"), ["\"a\": 1", "!} x"]);
        assert_eq!(pieces("{\"a\": 1, "), ["!\"a\": 1, "]);
    }

    #[test]
    fn what_cannot_be_cut() {
        for text in ["", "{}", "[1]", "{", "\u{feff}{\"a\": 1}", "1", "/* {", "{ // x"] {
            assert!(cut_text(text, Syntax::Json).is_none(), "{text:?}");
        }
    }
}
