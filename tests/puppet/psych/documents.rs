//! Whole documents: verdict, message, place and events.

use hiera_ls::text::TextRange;
use hiera_ls::yaml::{
    self, Node, NodeId, NodeKind, ScalarStyle, Syntax, SyntaxError, Tree, scalar,
};
use serde_json::{Value, json};

use super::ruby;
use super::values;
use crate::support::random::{self, Random};
use crate::support::{missing, random_cases, require, variable};

/// Compares our reading of the texts with Psych's; panics with the first differences.
pub fn check(texts: &[String]) {
    let mut differences = Vec::new();
    for (chunk, answers) in texts.chunks(20_000).map(|chunk| (chunk, ruby::ask("reader.rb", chunk)))
    {
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
    assert!(
        differences.is_empty(),
        "{} of {} texts are read differently",
        differences.len(),
        texts.len()
    );
    eprintln!("{} texts compared", texts.len());
}

/// Our answer, in the form of the script's.
fn read(text: &str) -> Value {
    let tree = yaml::parse(text);
    let verdict = yaml::refusal_error(text);
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

/// Asserts the properties of every tree, broken or not.
fn sound(text: &str, tree: &Tree) {
    let whole = TextRange::from_usize(0..text.len());
    for node in &tree.nodes {
        assert!(
            whole.contains_range(node.span) && text.get(node.span.as_usize()).is_some(),
            "{text:?} {node:?}"
        );
    }
    for node in tree.nodes.iter().filter(|_| tree.problems.is_empty()) {
        let NodeKind::Scalar { text: decoded, .. } = &node.kind else { continue };
        // The text has each letter as the letter itself or as an escape, and the source map leads
        // from the letter to that place.
        let written = scalar::SourceMap::from_node(text, node);
        for (at, c) in decoded.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
            let offset = written.source_offset(at);
            assert!(text[offset as usize..].starts_with([c, '\\']), "{text:?} {node:?} {at}");
        }
    }
    for (offset, _) in text.char_indices().filter(|_| text.len() < 200) {
        let _ = tree.node_at(text, offset as u32);
    }
    if let Some(entries) = yaml::cut_text(text, Syntax::Yaml) {
        let refused: Vec<_> = entries
            .iter()
            .filter_map(|entry| Some((entry.range, entry.refused.as_ref()?)))
            .collect();
        assert_eq!(tree.problems.is_empty(), refused.is_empty(), "{text:?} {entries:?}");
        if let (Some((range, first)), Some(verdict)) = (refused.first(), yaml::refusal_error(text))
        {
            let span = first.verdict.span.offset_by(range.start);
            assert_eq!(
                (&first.verdict.message, span),
                (&verdict.message, verdict.span),
                "{text:?} {entries:?}"
            );
            let start = if first.is_of_root { entries[0].range.start } else { range.start };
            let context = |error: &SyntaxError, by: u32| {
                error.context.as_ref().map(|(context, at)| (context.clone(), at.start + by))
            };
            assert_eq!(
                context(&first.verdict, start),
                context(&verdict, 0),
                "{text:?} {entries:?}"
            );
        }
        assert!(
            entries.windows(2).all(|pair| pair[0].range.end == pair[1].range.start),
            "{text:?} {entries:?}"
        );
        let alone = entries.iter().filter_map(|entry| Some((entry, entry.tree.root?))).flat_map(
            |(entry, root)| {
                let span = |id| entry.tree.node(id).span.offset_by(entry.range.start);
                entry
                    .tree
                    .entries(root)
                    .iter()
                    .map(move |(key, value)| (span(*key), span(*value)))
                    .collect::<Vec<_>>()
            },
        );
        let within = tree
            .entries(tree.root.expect("it was cut"))
            .iter()
            .map(|(key, value)| (tree.node(*key).span, tree.node(*value).span));
        assert!(alone.eq(within), "{text:?} {entries:?}");
    }
    for problem in &tree.problems {
        assert!(
            whole.contains_range(problem.span) && text.get(problem.span.as_usize()).is_some(),
            "{text:?} {problem:?}"
        );
        assert!(
            !problem.span.is_empty() || problem.span.start == whole.end,
            "{text:?} {problem:?}"
        );
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
        Some((_, at)) if at.start as usize == text.len() && place(text, at.start).1 > 0 => {
            (place(text, at.start).0 + 1, 0)
        }
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
            let known = number(*style) <= 3
                && node.anchor.is_none()
                && node.tag.is_none()
                && !node.span.is_empty();
            let places = known.then(|| both_places(source, node));
            events.push(json!(["scalar", text, anchor, tag, number(*style), places]));
        }
        NodeKind::Alias { name, .. } => {
            events.push(json!(["alias", name, both_places(source, node)]))
        }
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
        ScalarStyle::JsonLiteral | ScalarStyle::Hocon => 0,
    }
}

const PIECES: &[&str] = &[
    "a",
    "b",
    "key",
    "key:",
    "key: ",
    "k: v",
    ": ",
    ":",
    "- ",
    "-",
    "? ",
    "?",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ",",
    "\"",
    "'",
    "\"q\"",
    "'s'",
    "\"a\\n\"",
    "\\",
    "\\\"",
    "''",
    "|",
    ">",
    "|-",
    ">+",
    "|2",
    ">1-",
    "|0",
    "# c",
    " # c",
    "#",
    "&a ",
    "&b",
    "*a",
    "*b ",
    "!t ",
    "!!str ",
    "!<x> ",
    "!",
    "!e!x ",
    "!a%20b ",
    "%",
    "%{x}",
    "@",
    "`",
    "~",
    "\t",
    " ",
    "  ",
    "    ",
    "\n",
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    "\r\n",
    "\r",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "---",
    "--- ",
    "...",
    "\n---\n",
    "\n...\n",
    "\n--- ",
    "%YAML 1.1\n---\n",
    "%YAML 1.2 # c\n",
    "%YAML 1.3\n",
    "%TAG !e! tag:x,\n---\n",
    "%TAG ! !y\n",
    "%FOO",
    "\u{feff}",
    "ä",
    "日本",
    "𝄞",
    "\u{a0}",
    "\u{0}",
    "\u{7f}",
    "\u{1b}",
    "\u{9f}",
    "\u{fffe}",
    "<<: ",
    "=",
    "x: y\n",
    "\nx: ",
    "\n  x: ",
    "- - ",
    "- k: v\n",
    "  v\n",
    "text of words",
    "\\x41",
    "\\u00e4",
    "\\ud83d",
    "\\U0010ffff",
    "\\U00110000",
    "\\q",
    "\\\n",
    "\\ ",
    "\\\t",
    "a:b",
    "http://x:80/",
    "a #b",
    "a\t#b",
    "{a:1}",
    "{\"a\":1}",
    "[a, b]",
    "{a: 1, b}",
    "[a: b]",
    "[? a : b]",
    "{? a : b}",
    "|\n  text\n  more\n",
    ">\n  folded\n  text\n\n   more\n",
    "'a\n  b'",
    "\"a\n\n  b\"",
    "1",
    "-1",
    "--",
    "-a",
    "?a",
    ":a",
    ".",
    "$",
    "^",
    "%TAG",
    "\n\n",
    " \n",
    "\t\n",
    "\n\t",
];

fn random_text(random: &mut Random) -> String {
    if random.below(3) == 0 {
        block_text(random)
    } else {
        (0..1 + random.below(12)).map(|_| random.pick(PIECES)).collect()
    }
}

/// Something near a data file: lines of keys at a few indentations, now and then damaged.
fn block_text(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(7) {
        text.push_str(random.pick(&["", "", "", "  ", "  ", "    ", " ", "\t"]));
        text.push_str(random.pick(&[
            "a: ", "b: ", "- ", "- c: ", "a:", "'q': ", "\"d\" : ", "&x k: ", "? ", ": ", "",
            "a::b: ",
        ]));
        for _ in 0..random.below(3) {
            text.push_str(random.pick(PIECES));
        }
        text.push_str(random.pick(&["\n", "\n", "\n", "\n\n", "\r\n", "", " # c\n"]));
    }
    text
}

#[test]
fn random_texts() {
    if !require("ruby") {
        return;
    }
    let mut random = Random::new(random::seed("random_texts"));
    let texts: Vec<String> =
        (0..random_cases("ruby", 100_000)).map(|_| random_text(&mut random)).collect();
    check(&texts);
    values::check(&texts);
}

/// The named cases: forms that data files use, and forms on which YAML's parsers disagree.
const CASES: &[&str] = &[
    "",
    " ",
    "# only a comment",
    "---",
    "---\n",
    "--- # c\n",
    "...",
    "k: {a:1}",
    "{\"a\":1}",
    "k: [a:b]",
    "k: a:b",
    "k: http://x/y:8080",
    "k: [a: b]",
    "{a: 1, b}",
    "k: [a,]",
    "{a: 1,}",
    "[a,,b]",
    "[,a]",
    "k: a: b",
    "k:\n  a: 1\n    b: 2",
    "k: 1\n j: 2",
    "k: 'x' y",
    "k: [a] b",
    "k: *a b",
    "k: - 1",
    "k: -",
    "k: %x",
    "k: @x",
    "k: `x`",
    "k: %{x}",
    "k: a%{facts.os.family}",
    "[x%{y}]",
    "{a: x%{y}}",
    "k: ENC[PKCS7,x]",
    "[ENC[A,B]]",
    "k: b#c",
    "k: b #c",
    "k: b\t#c",
    "k: #c",
    "k:\tv",
    "-\tv",
    "- \tv",
    "k:\n\tv: 1",
    "k: |\n \tx",
    "[\ta,\t b]",
    "k: \"\\/\"",
    "k: \"\\'\"",
    "k: \"\\d\"",
    "k: \"\\ud83d\\ude00\"",
    "k: \"a\n--- b\"",
    "--- k: 1",
    "--- {k: 1}",
    "%YAML 1.1\n---\nk: yes",
    "%YAML 1.2\n---\nk: 1",
    "%YAML 1.3\n---\nk: 1",
    "%YAML 2.0\n---\nk: 1",
    "%FOO x\n---\nk: 1",
    "%TAG !e! tag:x,2000:\n---\nk: !e!y 1",
    "%TAG !e! a\n%TAG !e! b\n---\n",
    "%YAML 1.1\n%YAML 1.1\n---\n",
    "%YAML 1.1\n",
    "%YAML 1.1 k\n---\n",
    "%YAML 1.1234567890\n---\n",
    "\u{feff}k: 1",
    "\u{feff}---\nk: 1",
    "\u{feff}k: 1\nj: 2",
    "k: 1\n\u{feff}j: 2",
    "k: 1\r\nj: |\r\n  a\r\n  b\r\n",
    "k: 1\rj: 2\r",
    "k: a\u{0}b",
    "# \u{1b}",
    "k: \u{7f}",
    "k: a\u{85}  b",
    "k: a\u{2028}  b",
    "k: \"a\u{2029}  b\"",
    "k: a\u{a0}b",
    "k: a\u{feff}b",
    "k: \u{fffe}",
    "k:\n- 1\n- 2\nj: 3",
    "k: 'x'# c",
    "'pkg': {\n  'a': 1,\n}\n",
    "'pkg': {\n  'a': 1,\n# c\n}\nb: 1\n",
    "k: \"a\nb\"\n",
    "k: 1\n---\nbroken: [\n",
    "k: 1\n...\n]: {\n",
    " k: 1\nj: 2\n",
    "- a\nb: 1",
    "b: 1\n- a",
    "key",
    "a: 1\nkey\n",
    "a: 1\nkey\nb: 2\n",
    "a: \"x\nb: 1\n",
    "a: [x,\nb: 1\n",
    "a: {x\n",
    "? a\n: b\n? c\n",
    "? a",
    ": b",
    "? - a\n: - b\n",
    "&a k: &b v\nj: *b",
    "k: &a\nj: *a",
    "k: &a [*a]",
    "*a : 1",
    "k: *",
    "k: &",
    "k: &a &b c",
    "k: &a *a",
    "k: !t !u v",
    "k: !<tag:x> v",
    "k: !<> v",
    "k: !<x v",
    "k: !!str 1",
    "k: !a%C3%A4 v",
    "k: !a%C3v v",
    "k: !a%FF v",
    "k: !a% v",
    "k: !e!x v",
    "k: !! v",
    "k: ! v",
    "k: !a,b v",
    "[!a,b]",
    "<<: *x\n<<: {a: 1}",
    "k: |\n",
    "k: |",
    "k: |-\n  a\n\n",
    "k: |+\n  a\n\n",
    "k: >\n  a\n  b\n\n  c\n   d\n  e\n",
    "k: |2\n    a\n   b\n",
    "k: |0\n",
    "k: |10\n",
    "k: | x\n",
    "k: |# c\n",
    "k: | # c\n  a\n",
    "k: >-2\n    a\n",
    "k: |\n    a\n  b\n c\n",
    "k: |\n\n\n   a\n",
    "k: |\n     \n  a\n",
    "- |\n a\n- >\n b\n",
    "--- |\nfoo\n",
    "--- >\n foo\n",
    "[?a]",
    "{? a}",
    "[? a]",
    "[? : b]",
    "[?]",
    "{?}",
    "[a?b]",
    "[a:]",
    "[a:, b]",
    "[:a]",
    "{a: :b}",
    "[- a]",
    "[-]",
    "[a, -]",
    "[|]",
    "[>\n a]",
    "[%]",
    "[\"a\":b]",
    "[\"a\"b]",
    "{a b: c d}",
    "{a\n: b}",
    "[a\n: b]",
    "[a, b]: c",
    "{a: b}: c",
    "[a\n]: c",
    "\"a\": 1",
    "\"a\n b\": 1",
    "'a' : 1",
    "k: ]",
    "k: }",
    "]",
    "}",
    ",",
    "k: [}",
    "k: {]",
    "[[[[]]]]",
    "[[[",
];

#[test]
fn named_cases() {
    if !require("ruby") {
        return;
    }
    let mut texts: Vec<String> = CASES.iter().map(|text| (*text).to_owned()).collect();
    for length in [1022, 1023, 1024, 1025, 1026] {
        for letter in ["a", "ä"] {
            let key = letter.repeat(length);
            texts.extend([
                format!("{key}: 1"),
                format!("[{key}: 1]"),
                format!("? {key}\n: 1"),
                format!("'{key}': 1"),
                format!("a: 1\n{key}: 1"),
            ]);
        }
    }
    // libyaml refuses a control character when it reads the piece of input that holds the
    // character.
    for length in [16_360, 16_378, 16_379, 16_380, 16_384, 16_390, 40_000] {
        for start in ["k: [\n", "k: 1\n---\n", "k: %\n"] {
            texts.push(format!("{start}#{}\n\u{1}", "x".repeat(length)));
            texts.push(format!("{start}#{}\n\u{1}", "ä".repeat(length / 2)));
        }
    }
    check(&texts);
    values::check(&texts);
}

#[test]
fn every_prefix() {
    if !require("ruby") {
        return;
    }
    let sample = include_str!("sample.yaml");
    let texts: Vec<String> = sample.char_indices().map(|(at, _)| sample[..at].to_owned()).collect();
    check(&texts);
    values::check(&texts);
    let crlf: Vec<String> = texts.iter().map(|text| text.replace('\n', "\r\n")).collect();
    check(&crlf);
}

#[test]
fn corpus() {
    let Some(folder) = variable("HIERA_LS_CORPUS") else {
        missing("corpus", "HIERA_LS_CORPUS is not set");
        return;
    };
    if !require("ruby") {
        return;
    }
    let mut texts = Vec::new();
    let mut folders = vec![std::path::PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "yaml" || extension == "yml")
            {
                texts.extend(std::fs::read_to_string(path));
            }
        }
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    let start = std::time::Instant::now();
    let nodes: usize = texts.iter().map(|text| yaml::parse(text).nodes.len()).sum();
    let seconds = start.elapsed().as_secs_f64();
    eprintln!(
        "{} files, {bytes} bytes, {nodes} nodes, {:.0} MB/s",
        texts.len(),
        bytes as f64 / seconds / 1e6
    );
    check(&texts);
    values::check(&texts);
}
