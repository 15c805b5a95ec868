use super::*;
use crate::yaml::parse;

/// A tree on one line: keys and values, `~` for an omitted scalar.
fn shown(tree: &Tree, id: NodeId) -> String {
    match &tree.node(id).kind {
        NodeKind::Scalar { text, .. } if tree.node(id).span.is_empty() && text.is_empty() => {
            "~".to_owned()
        }
        NodeKind::Scalar { text, .. } => text.to_string(),
        NodeKind::Alias { name, target } => {
            format!("*{name}{}", if target.is_some() { "" } else { "?" })
        }
        NodeKind::Sequence { items, .. } => {
            format!(
                "[{}]",
                items.iter().map(|item| shown(tree, *item)).collect::<Vec<_>>().join(", ")
            )
        }
        NodeKind::Mapping { entries, .. } => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", shown(tree, *key), shown(tree, *value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Checks the recovered tree of a text, and the lines (from 1) of its problems.
#[track_caller]
fn check(text: &str, expected: &str, problem_lines: &[usize]) {
    let tree = parse(text);
    let found = tree.root.map_or_else(|| "nothing".to_owned(), |root| shown(&tree, root));
    let lines: Vec<_> = tree
        .problems
        .iter()
        .map(|problem| text[..problem.span.start as usize].matches('\n').count() + 1)
        .collect();
    assert_eq!((found.as_str(), lines.as_slice()), (expected, problem_lines), "{text:?}");
}

#[test]
fn a_half_typed_entry_harms_no_other() {
    check("a: 1\nkey\nb: 2\n", "{a: 1, key: ~, b: 2}", &[2]);
    check("a: 1\nb: 2\nkey\n", "{a: 1, b: 2, key: ~}", &[3]);
    check("a: 1\nkey: \"unclosed\nb: 2\n", "{a: 1, key: ~, b: 2}", &[2]);
    check("a: 1\nkey: \"unclosed\nb: \"x\"\nc: 3\n", "{a: 1, key: ~, b: x, c: 3}", &[2]);
    check("a: 1\nkey: 'unclosed\nb: 2\n", "{a: 1, key: ~, b: 2}", &[2]);
    check("a: 1\nkey: [a, \nb: 2\nc: 3\n", "{a: 1, key: [a], b: 2, c: 3}", &[2]);
    check("a: 1\nkey: {x: 1,\nb: 2\n", "{a: 1, key: {x: 1}, b: 2}", &[2]);
    check("a: 1\nkey: %{x}\nb: 2\n", "{a: 1, key: ~, b: 2}", &[2]);
    check("a: 1\nkey: @x\nb: 2\n", "{a: 1, key: ~, b: 2}", &[2]);
    check("a:\n\tx: 1\nb: 2\n", "{a: ~, b: 2}", &[2]);
    check("a: 1\n  x: 1\nb: 2\n", "{a: 1 x, b: 2}", &[2]);
    check("a: 'y'\n  x: 1\nb: 2\n", "{a: y, b: 2}", &[2]);
    check("a: 1\nb: x: y\nc: 3\n", "{a: 1, b: x, c: 3}", &[2]);
    check("a: 1\nb: 'x' y\nc: 3\n", "{a: 1, b: x, c: 3}", &[2]);
    check("a:\n  x: 1\n  half\n  y: 2\nb: 2\n", "{a: {x: 1}, b: 2}", &[3]);
    check("a: 1\n]: x\nb: 2\n", "{a: 1, b: 2}", &[2]);
    check("a: [1]\n", "{a: [1]}", &[]);
}

#[test]
fn several_errors() {
    check(
        "a: \"x\nb: 1\nc: [\nd: 2\ne: %\nf: 3\n",
        "{a: ~, b: 1, c: [], d: 2, e: ~, f: 3}",
        &[1, 3, 5],
    );
}

#[test]
fn the_rest_of_the_document_is_kept_in_mind() {
    check("---\na: &x 1\nb: [\nc: *x\nd: *y\n", "{a: 1, b: [], c: *x, d: *y?}", &[3]);
    check(
        "# c\na: {\n}\nb: \"\n# d\nc: |\n  k: v\n  '\nd: 1\n",
        "{a: {}, b: ~, c: k: v\n'\n, d: 1}",
        &[4],
    );
    check("a: 1\nb: [\n---\nc: 1\n", "{a: 1, b: []}", &[2]);
    check("%FOO\n---\na: 1\n", "{a: 1}", &[1]);
    check("a: x\u{1}y\nb: 2\n", "{a: x\u{1}y, b: 2}", &[1]);
    check("  a: 1\n  b: \"\n  c: 2\n", "{a: 1, b: ~, c: 2}", &[2]);
}

#[test]
fn a_flow_collection_over_several_lines_is_not_cut() {
    check("a: {\nx: 1,\ny: [2]\n}\nb: %\nc: 1\n", "{a: {x: 1, y: [2]}, b: ~, c: 1}", &[5]);
    check("a: \"one\nnote: two\"\nb: %\nc: 1\n", "{a: one note: two, b: ~, c: 1}", &[3]);
}

#[test]
fn problems_are_visible_and_in_order() {
    let text = "a: \"x\nb: 1\nc: [1\nd: 1\n";
    let tree = parse(text);
    let messages: Vec<_> = tree.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(tree.problems.iter().all(|problem| !problem.span.is_empty()));
}
