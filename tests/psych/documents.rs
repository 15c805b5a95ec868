//! Whole documents: verdict, message, place and events.

use hiera_ls::text::TextRange;
use hiera_ls::yaml::{self, Node, NodeId, NodeKind, ScalarStyle, SyntaxError, Tree};
use serde_json::{Value, json};

use crate::random::{self, Random};
use crate::ruby;

/// Compares our reading of the texts with Psych's; panics with the first differences.
fn check(texts: &[String]) {
    let mut differences = Vec::new();
    for (chunk, answers) in texts.chunks(20_000).map(|chunk| (chunk, ruby::ask("reader.rb", chunk))) {
        for (text, theirs) in chunk.iter().zip(answers) {
            let ours = read(text);
            if ours != theirs {
                differences.push((text, ours, theirs));
            }
        }
    }
    differences.sort_by_key(|(text, ..)| text.len());
    for (text, ours, theirs) in differences.iter().take(12) {
        eprintln!("{text:?}\n  ours   {ours}\n  theirs {theirs}");
    }
    assert!(differences.is_empty(), "{} of {} texts are read differently", differences.len(), texts.len());
    eprintln!("{} texts compared", texts.len());
}

/// Our answer, in the form of the script's.
fn read(text: &str) -> Value {
    let tree = yaml::parse(text);
    let verdict = yaml::verdict(text);
    assert_eq!(tree.problems.is_empty(), verdict.is_none(), "{text:?}");
    sound(text, &tree);
    match verdict {
        Some(error) => refused(text, &error),
        None => {
            let mut events = Vec::new();
            if let Some(root) = tree.root {
                event(text, &tree, root, &mut events);
            }
            json!({"ok": true, "events": events})
        }
    }
}

/// What must hold of every tree, broken or not.
fn sound(text: &str, tree: &Tree) {
    let whole = TextRange::from_usize(0..text.len());
    for node in &tree.nodes {
        assert!(whole.contains(node.span) && text.get(node.span.as_usize()).is_some(), "{text:?} {node:?}");
    }
    for problem in &tree.problems {
        assert!(whole.contains(problem.span) && text.get(problem.span.as_usize()).is_some(), "{text:?} {problem:?}");
        assert!(!problem.span.is_empty() || problem.span.start == whole.end, "{text:?} {problem:?}");
    }
    for comment in &tree.comments {
        assert!(text[comment.as_usize()].starts_with('#'), "{text:?} {comment:?}");
    }
}

fn refused(text: &str, error: &SyntaxError) -> Value {
    const WITHOUT_PLACE: [&str; 5] = [
        "control characters are not allowed",
        "did not find expected <document start>",
        "found duplicate %YAML directive",
        "found duplicate %TAG directive",
        "found incompatible YAML document",
    ];
    let (line, column) = match &error.context {
        _ if WITHOUT_PLACE.contains(&error.message.as_str()) => (0, 0),
        // libyaml moves the end of the text to a line of its own.
        Some((_, at)) if at.start as usize == text.len() && place(text, at.start).1 > 0 => (place(text, at.start).0 + 1, 0),
        Some((_, at)) => place(text, at.start),
        None => place(text, error.span.start),
    };
    let context = error.context.as_ref().map(|(context, _)| context);
    json!({"ok": false, "problem": error.message, "context": context, "line": line + 1, "column": column + 1})
}

/// Line and column as libyaml counts them.
fn place(text: &str, offset: u32) -> (usize, usize) {
    let before = &text[..offset as usize];
    let (mut line, mut column) = (0, 0);
    let mut chars = before.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => (line, column) = (line + 1, 0),
            _ => column += 1,
        }
    }
    (line, column)
}

fn event(source: &str, tree: &Tree, id: NodeId, events: &mut Vec<Value>) {
    let node = tree.node(id);
    let anchor = node.anchor.as_ref().map(|anchor| anchor.name.as_str());
    let tag = node.tag.as_ref().map(|tag| tag.name.as_str());
    match &node.kind {
        NodeKind::Scalar { style, text } => {
            let known = number(*style) <= 3 && node.anchor.is_none() && node.tag.is_none() && !node.span.is_empty();
            let places = known.then(|| both_places(source, node));
            events.push(json!(["scalar", text, anchor, tag, number(*style), places]));
        }
        NodeKind::Alias { name, .. } => events.push(json!(["alias", name, both_places(source, node)])),
        NodeKind::Sequence { flow, items } => {
            events.push(json!(["sequence", anchor, tag, flow, start_place(source, node)]));
            items.iter().for_each(|item| event(source, tree, *item, events));
            events.push(json!(["end"]));
        }
        NodeKind::Mapping { flow, entries } => {
            events.push(json!(["mapping", anchor, tag, flow, start_place(source, node)]));
            for (key, value) in entries {
                event(source, tree, *key, events);
                event(source, tree, *value, events);
            }
            events.push(json!(["end"]));
        }
    }
}

/// Where a node starts and ends, as the script reports it.
fn both_places(source: &str, node: &Node) -> [usize; 4] {
    let (start, end) = (place(source, node.span.start), place(source, node.span.end));
    [start.0, start.1, end.0, end.1]
}

/// Where a collection without anchor and tag starts.
fn start_place(source: &str, node: &Node) -> Option<[usize; 2]> {
    let (line, column) = place(source, node.span.start);
    (node.anchor.is_none() && node.tag.is_none()).then_some([line, column])
}

fn number(style: ScalarStyle) -> u8 {
    match style {
        ScalarStyle::Plain => 1,
        ScalarStyle::SingleQuoted => 2,
        ScalarStyle::DoubleQuoted => 3,
        ScalarStyle::Literal => 4,
        ScalarStyle::Folded => 5,
        ScalarStyle::JsonLiteral => 0,
    }
}

const PIECES: &[&str] = &[
    "a", "b", "key", "key:", "key: ", "k: v", ": ", ":", "- ", "-", "? ", "?", "[", "]", "{", "}", ", ", ",", "\"", "'", "\"q\"", "'s'",
    "\"a\\n\"", "\\", "\\\"", "''", "|", ">", "|-", ">+", "|2", ">1-", "|0", "# c", " # c", "#", "&a ", "&b", "*a", "*b ", "!t ", "!!str ",
    "!<x> ", "!", "!e!x ", "!a%20b ", "%", "%{x}", "@", "`", "~", "\t", " ", "  ", "    ", "\n", "\n", "\n", "\n  ", "\n    ", "\n- ",
    "\n  - ", "\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}", "---", "--- ", "...", "\n---\n", "\n...\n", "\n--- ", "%YAML 1.1\n---\n",
    "%YAML 1.2 # c\n", "%YAML 1.3\n", "%TAG !e! tag:x,\n---\n", "%TAG ! !y\n", "%FOO", "\u{feff}", "ä", "日本", "𝄞", "\u{a0}", "\u{0}",
    "\u{7f}", "\u{1b}", "\u{9f}", "\u{fffe}", "<<: ", "=", "x: y\n", "\nx: ", "\n  x: ", "- - ", "- k: v\n", "  v\n", "text of words",
    "\\x41", "\\u00e4", "\\ud83d", "\\U0010ffff", "\\U00110000", "\\q", "\\\n", "\\ ", "\\\t", "a:b", "http://x:80/", "a #b", "a\t#b", "{a:1}",
    "{\"a\":1}", "[a, b]", "{a: 1, b}", "[a: b]", "[? a : b]", "{? a : b}", "|\n  text\n  more\n", ">\n  folded\n  text\n\n   more\n",
    "'a\n  b'", "\"a\n\n  b\"", "1", "-1", "--", "-a", "?a", ":a", ".", "$", "^", "%TAG", "\n\n", " \n", "\t\n", "\n\t",
];

fn random_text(random: &mut Random) -> String {
    if random.below(3) == 0 { block_text(random) } else { (0..1 + random.below(12)).map(|_| random.pick(PIECES)).collect() }
}

/// Something near a data file: lines of keys at a few indentations, now and then damaged.
fn block_text(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(7) {
        text.push_str(random.pick(&["", "", "", "  ", "  ", "    ", " ", "\t"]));
        text.push_str(random.pick(&["a: ", "b: ", "- ", "- c: ", "a:", "'q': ", "\"d\" : ", "&x k: ", "? ", ": ", "", "a::b: "]));
        for _ in 0..random.below(3) {
            text.push_str(random.pick(PIECES));
        }
        text.push_str(random.pick(&["\n", "\n", "\n", "\n\n", "\r\n", "", " # c\n"]));
    }
    text
}

#[test]
fn random_texts() {
    if !ruby::available("random_texts") {
        return;
    }
    let mut random = Random::new("random_texts");
    let texts: Vec<String> = (0..random::count(3000)).map(|_| random_text(&mut random)).collect();
    check(&texts);
}
