//! The ranges that a selection grows by: from the word at a place through token, scalar, value and
//! entry to the file.

use crate::text::{FilePosition, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::files::file::{File, TextPart};
use crate::yaml::{NodeId, NodeKind, PathStep, ScalarStyle};

/// Returns the ranges around a place, the innermost first; each lies within the next and is
/// shorter. The last one is the whole file. `None` where the file has no text.
pub fn selection_ranges(snapshot: &Snapshot, position: FilePosition) -> Option<Vec<TextRange>> {
    let file = snapshot.file_by_id(position.file)?;
    let text = file.text()?;
    // `ranges` begins with the outermost range and ends with the innermost.
    let mut ranges = vec![TextRange::new(0, text.len())];
    if let Some(part) = file.part_at(position.offset, snapshot.cancel_token()) {
        add_nodes(&part, position.offset, &mut ranges);
    }
    ranges.extend(token_ranges(snapshot, file, position.offset));
    ranges.extend(word_range(file, position.offset));
    let mut nested: Vec<TextRange> = Vec::new();
    for range in ranges {
        let is_around = range.touches_offset(position.offset) && !range.is_empty();
        if nested
            .last()
            .is_none_or(|outer| is_around && outer.contains_range(range) && *outer != range)
        {
            nested.push(range);
        }
    }
    nested.reverse();
    Some(nested)
}

/// Adds the entries and values on the way to a place.
fn add_nodes(part: &TextPart<'_>, offset: u32, ranges: &mut Vec<TextRange>) {
    let tree = &part.tree;
    let Some(located) = part.node_at(offset) else { return };
    let Some(mut current) = tree.root else { return };
    if let NodeKind::Mapping { entries, .. } = &tree.node(current).kind
        && located.node == current
    {
        // The outermost collection has no range of its own: where a file is read by its entries,
        // each entry has a collection around it alone.
        let mut around = entries.iter().map(|entry| part.entry_range(*entry));
        ranges.extend(around.find(|range| range.touches_offset(offset)));
        return;
    }
    for step in &located.path {
        match (step, &tree.node(current).kind) {
            (PathStep::Entry(n), NodeKind::Mapping { entries, .. }) => {
                let Some((key, value)) = entries.get(*n).copied() else { return };
                ranges.push(part.entry_range((key, value)));
                current = value;
            }
            (PathStep::Item(n), NodeKind::Sequence { items, .. }) => {
                let Some(item) = items.get(*n).copied() else { return };
                current = item;
            }
            _ => return,
        }
        ranges.push(part.whole_node_range(current));
    }
    ranges.push(part.node_range(located.node));
    ranges.extend(between_quotes(part, located.node));
}

/// Returns the text of a quoted scalar without its quotes.
fn between_quotes(part: &TextPart<'_>, node: NodeId) -> Option<TextRange> {
    let node = part.tree.node(node);
    let NodeKind::Scalar { style, .. } = &node.kind else { return None };
    let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    let range = (is_quoted && node.span.len() >= 2)
        .then(|| TextRange::new(node.span.start + 1, node.span.end - 1))?;
    Some(part.file_range(range))
}

/// Returns the token at a place, then the name in it.
fn token_ranges(snapshot: &Snapshot, file: &File, offset: u32) -> Vec<TextRange> {
    let environment = snapshot.environments().governing_environments(&file.path).next();
    let data = environment.and_then(|it| snapshot.view(it).data_of(&file.path));
    let Some(data) = data else { return Vec::new() };
    let Some(part) = data.parts().part_at_offset(offset) else { return Vec::new() };
    let places =
        part.data.tokens.iter().map(|token| {
            [snapshot.span_bytes(token.span()), snapshot.span_bytes(token.name_span())]
        });
    places.filter(|[token, _]| token.touches_offset(offset)).flatten().collect()
}

/// Returns the letters, digits and underscores around a place.
fn word_range(file: &File, offset: u32) -> Option<TextRange> {
    let text = file.text()?;
    let line = text.line_range(text.line_of(offset))?;
    let at = offset.checked_sub(line.start)? as usize;
    let line_text = text.slice(line);
    let (before, behind) = line_text.split_at_checked(at)?;
    let start = before.trim_end_matches(is_word_char).len();
    let end = at + behind.len() - behind.trim_start_matches(is_word_char).len();
    (start < end).then(|| TextRange::from_usize(start..end).offset_by(line.start))
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;
    use crate::text::Span;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let position = fixture.position();
        let mut shown = String::new();
        for range in selection_ranges(&fixture.snapshot, position).expect("a text") {
            let text = fixture.text_at(Span::in_file(position.file, range));
            shown.push_str(&format!("{}\n", text.replace('\n', "⏎")));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_selection_grows_from_the_word_in_a_token_to_the_file() {
        check(
            "a: 1\nb:\n  c: 'x %{lookup('pro$0file::d')} y'\n  e: 2\n"
                .replace("'x", "\"x")
                .replace("y'", "y\"")
                .as_str(),
            expect![[r#"
                profile
                profile::d
                %{lookup('profile::d')}
                x %{lookup('profile::d')} y
                "x %{lookup('profile::d')} y"
                c: "x %{lookup('profile::d')} y"
                c: "x %{lookup('profile::d')} y"⏎  e: 2
                b:⏎  c: "x %{lookup('profile::d')} y"⏎  e: 2
                a: 1⏎b:⏎  c: "x %{lookup('profile::d')} y"⏎  e: 2⏎
            "#]],
        );
    }

    #[test]
    fn a_key_grows_to_its_entry() {
        check(
            "profile::$0web: [x, y]\nb: 1\n",
            expect![[r#"
                web
                profile::web
                profile::web: [x, y]
                profile::web: [x, y]⏎b: 1⏎
            "#]],
        );
    }

    #[test]
    fn an_element_grows_to_its_list() {
        check(
            "a:\n  - x\n  - {k: $0v}\n",
            expect![[r#"
                v
                k: v
                {k: v}
                - x⏎  - {k: v}
                a:⏎  - x⏎  - {k: v}
                a:⏎  - x⏎  - {k: v}⏎
            "#]],
        );
    }

    #[test]
    fn outside_of_all_entries_there_is_the_file() {
        check(
            "$0\n\na: 1\n",
            expect![["
            ⏎⏎a: 1⏎
        "]],
        );
    }
}
