//! Puppet's results for HOCON are in `tests/puppet/conformance/hocon.yaml`; these tests cover
//! places in the text, and input that never ends.

use super::*;
use crate::yaml::tree::{NodeKind, PathStep};
use crate::yaml::{NodeId, ScalarStyle};

/// Returns the nodes of a tree with the text at their places.
fn written(text: &str) -> Vec<(String, String)> {
    let tree = parse_hocon(text);
    assert_eq!(tree.problems, [], "{text}");
    let scalar = |node: &crate::yaml::Node| match &node.kind {
        NodeKind::Scalar { text, .. } => Some(text.to_string()),
        _ => None,
    };
    tree.nodes
        .iter()
        .filter_map(|node| Some((scalar(node)?, text[node.span.as_usize()].to_owned())))
        .collect()
}

#[test]
fn everything_keeps_its_place() {
    let text = "# c\na.b = x\n\"q\" : [1, two words]\nr = ${a.b}\ns = ${a.b} more\n";
    let pairs = written(text);
    let find = |text: &str| {
        pairs
            .iter()
            .filter(|(value, _)| value == text)
            .map(|(_, place)| place.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(find("b"), ["b"]);
    assert_eq!(find("q"), ["\"q\""]);
    assert_eq!(find("two words"), ["two words"]);
    assert_eq!(
        find("x"),
        ["x", "x"],
        "what a substitution stands for is written where it is written"
    );
    assert_eq!(find("x more"), ["${a.b} more"]);
}

#[test]
fn a_cursor_finds_what_is_written_there() {
    let text = "k { a = 1 }\nc = ${k}\nk { b = 2, d = 3 }\nlist = [x, \"y z\"]\n";
    let tree = parse_hocon(text);
    let at = |what: &str| {
        let located =
            tree.node_at(text, text.find(what).expect("it is there") as u32).expect("a node");
        let steps: Vec<String> = located
            .path
            .iter()
            .map(|step| match step {
                PathStep::Entry(n) => format!("entry {n}"),
                PathStep::Item(n) => format!("item {n}"),
            })
            .collect();
        (
            tree.scalar(located.node).unwrap_or("no scalar").to_owned(),
            steps.join(", "),
            located.on_key,
        )
    };
    // In a merged object the entries of the later definition come first.
    assert_eq!(tree.problems, []);
    assert_eq!(at("b = 2"), ("b".into(), "entry 0, entry 0".into(), true));
    assert_eq!(at("a = 1"), ("a".into(), "entry 0, entry 2".into(), true));
    assert_eq!(at("y z"), ("y z".into(), "entry 2, item 1".into(), false));
}

#[test]
fn no_text_makes_it_panic_or_run_away() {
    let deep = [
        "{a:".repeat(10_000),
        "[".repeat(10_000),
        "a".to_owned() + &".a".repeat(10_000) + "=1",
        "${".repeat(10_000),
        "\"\"\"".repeat(9_999),
        "a{".repeat(150) + "b.c.d.e.f.g=1" + &"}".repeat(150),
    ];
    for text in &deep {
        drop(parse_hocon(text));
        drop(parse_hocon(&format!("a={text}")));
    }
    // In `doubling` each value holds the next value twice. In `chain` each value stands for the
    // next value.
    let doubling: String =
        (0..60).map(|n| format!("a{n} = [${{a{}}}, ${{a{}}}]\n", n + 1, n + 1)).collect();
    assert!(!parse_hocon(&(doubling + "a60 = 1\n")).problems.is_empty());
    let chain: String = (0..5_000).map(|n| format!("a{n} = ${{a{}}}\n", n + 1)).collect();
    assert!(!parse_hocon(&(chain + "a5000 = 1\n")).problems.is_empty());
    let texts: String =
        (0..60).map(|n| format!("a{n} = ${{a{}}}${{a{}}}\n", n + 1, n + 1)).collect();
    assert!(!parse_hocon(&(texts + "a60 = xxxxxxxx\n")).problems.is_empty());
    let sample = "a = ${b} x, b { c += [1, \"\\u00e9\", \"\"\"t\"\"\"] # c\n d.e = -1.5e3 }\ninclude \"x\"\n";
    for start in (0..sample.len()).filter(|at| sample.is_char_boundary(*at)) {
        for end in (start..=sample.len()).filter(|at| sample.is_char_boundary(*at)) {
            let text = &sample[start..end];
            let tree = parse_hocon(text);
            for offset in 0..=text.len() as u32 {
                drop(tree.node_at(text, offset));
            }
        }
    }
}

#[test]
fn includes_are_reported_as_unread() {
    let text = "a = 1\ninclude file(\"/etc/passwd\")\n";
    let tree = parse_hocon(text);
    let problem = &tree.problems[0];
    assert_eq!(problem.message, "hiera-ls does not read include of other files in HOCON");
    assert_eq!(&text[problem.span.as_usize()], "include file(");
    assert!(
        tree.entries(tree.root.expect("a root"))
            .iter()
            .any(|(key, _)| tree.scalar(*key) == Some("a")),
        "the rest is read"
    );
    let home = parse_hocon("a = ${HOME}\nb = 2\n");
    assert!(home.problems[0].message.ends_with("(hiera-ls reads no environment variables)"));
    assert_eq!(home.entries(home.root.expect("a root")).len(), 1);
}

#[test]
fn numbers() {
    for (text, value) in [
        ("010", Resolved::Integer(8)),
        ("-0", Resolved::Integer(0)),
        ("-0.0", Resolved::Integer(0)),
        ("1e3", Resolved::Integer(1000)),
        ("0.5", Resolved::Float(0.5)),
        ("1e22", Resolved::BigInteger("10000000000000000000000".into())),
    ] {
        assert_eq!(resolve_hocon(text), value, "{text}");
    }
    let tree = parse_hocon("a = 08");
    let style = |id: NodeId| match &tree.node(id).kind {
        NodeKind::Scalar { style, .. } => *style,
        _ => panic!("a scalar"),
    };
    assert_eq!(style(tree.entries(tree.root.expect("a root"))[0].1), ScalarStyle::Hocon);
}
