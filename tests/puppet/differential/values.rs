//! Random values for the keys of data files.

use serde_json::json;

use super::generator::{KEYS, Making};

/// A value as it will be written.
#[derive(Clone)]
pub enum Node {
    /// A string, in any style of quotes.
    Text(String),
    /// A scalar or an alias just as written in YAML.
    Plain(&'static str),
    List(Vec<Node>),
    Hash(Vec<(Node, Node)>),
}

/// Scalars that YAML may type otherwise than they look.
const PLAIN: &[&str] = &[
    "~",
    "null",
    "true",
    "false",
    "0",
    "1",
    "2",
    "3",
    "-7",
    "5",
    "1.0",
    "2.5",
    "-0.5",
    "1.0e+20",
    "1.0e-07",
    "yes",
    "Off",
    "010",
    "08",
    "1_000",
    "0x1F",
    "1:30",
    "12:30:45",
    "1.0e+10",
    "1e3",
    ".5",
    "-.inf",
    "12345678901234567890123",
    "+1",
    "-0",
    "-0.0",
    "1.",
    "0b101",
    "0o7",
    "y",
    "2020-13-45",
    "1.2.3.4",
    "!!str 5",
    "!!str yes",
    "!!int '7'",
    "!!float 1",
    "!foo 12",
    "!!binary YWJj",
    "a b",
    "k:v",
    "&y 1",
    "100%",
    "-a",
    "2020-01",
    "1:60",
    "1_",
    "0.",
    "9223372036854775808",
    "9223372036854775807",
    "-9223372036854775808",
    "-9223372036854775809",
    "9007199254740993",
    "9007199254740993.0",
    "123456789012345678.0",
    "1.0e+15",
    "1.0e+16",
    "1e22",
    "1e-4",
    "1e-5",
    "1e400",
    "1.7976931348623157e+308",
    "4.9e-324",
    "1e-400",
    "0.30000000000000004",
    ".inf",
    ".NaN",
    "0x7fffffffffffffff",
    "0xffffffffffffffffffff",
    "-1:30",
    "1:59:59",
    "1,000",
    "685.230_15e+03",
    "1__0",
    "0b_1",
    "-010",
    "0_8",
];
const ODD_PLAIN: &[&str] = &[
    "2020-01-01",
    ":symbol",
    "*nope",
    "!ruby/regexp /a/",
    "!!set {a}",
    "-.e+1",
    "2020-01-01T10:00:00Z",
    "@x",
    "!e!x 1",
];
const VARIABLES: &[&str] = &[
    "hn",
    "letter",
    "::letter",
    "facts.os.family",
    "facts.os",
    "facts.list",
    "facts.list.0",
    "facts.list.9",
    "facts.h.a",
    "facts.tok",
    "facts.nope",
    "facts.null",
    "trusted.certname",
    "environment",
    "nope",
    "nope.x",
    "server_facts",
    "own",
    "'own'",
    "facts.\"os\".family",
    "facts.flag",
    "facts.num",
    "facts.float",
    "a::own",
    "::nope",
    "trusted.extensions.pp_role",
    " hn ",
    "module_name",
    "facts.empty",
    "facts.wrapped",
    "facts.lk",
    "facts.al",
    "facts.é",
    "facts.h.日",
];
const ODD_VARIABLES: &[&str] = &[
    "facts.hn.x",
    "facts.num.x",
    "facts.list.x",
    "facts.loop1",
    "facts..os",
    "\"facts",
    ".",
    "facts.os.",
    "facts.bad",
    "facts.flag.x",
    "own.x",
];
const STRANGE_TOKENS: &[&str] = &[
    "%{}",
    "%{::}",
    "%%{hn}",
    "%{hiera(\"b\")}",
    "%{ lookup(\"f\") }",
    "%{literal('%')}{hn}",
    "%{{hn}}",
    "\\%{hn}",
    "%{\"\"}",
    "%{facts.os.family",
    "%{\nhn\n}",
    "%{foo\nlookup('f')}",
    "%{SERVER_NAME}",
    "%{settings::environment}",
    "%{::name}-%{title}",
];
const BROKEN_TOKENS: &[&str] = &[
    "%{foo('x')}",
    "%{lookup('a','b')}",
    "%{lookup(b)}",
    "x%{alias('a')}",
    "%{alias('')}",
    "%{lookup( 'b')}",
    "%{Lookup('b')}",
    "%{a.}",
    "%{lookup('a.')}",
    "%{scope('a..b')}",
    "%{scope('')}",
    "%{lookup('%{hn}')}",
];

/// A text of 400 letters, which many printers would break into lines.
const LONG: &str = concat!(
    "a long text, which a printer breaks into lines of eighty or a hundred letters: 0123456789 012345678 ",
    "a long text, which a printer breaks into lines of eighty or a hundred letters: 0123456789 012345678 ",
    "a long text, which a printer breaks into lines of eighty or a hundred letters: 0123456789 012345678 ",
    "a long text, which a printer breaks into lines of eighty or a hundred letters: 0123456789 012345678 ",
);

/// A value for the root key `key`.
pub fn value(making: &mut Making, key: &str, depth: usize) -> Node {
    let collections = [6, 4, 2, 0][depth.min(3)];
    if making.random.below(10) < collections {
        let size = making.random.below(4) + usize::from(depth == 0);
        if making.random.one_in(2) {
            return Node::List((0..size).map(|_| value(making, key, depth + 1)).collect());
        }
        return Node::Hash(
            (0..size).map(|_| (member_key(making, key), value(making, key, depth + 1))).collect(),
        );
    }
    match making.random.below(20) {
        0..=4 => Node::Plain(making.random.pick(PLAIN)),
        _ if making.odd(150) => Node::Plain(making.random.pick(ODD_PLAIN)),
        5 | 6 => {
            Node::Text(making.random.pick(&["--a", "--", "--x", "5", "yes", "010", "1.5"]).into())
        }
        7..=12 => Node::Text(
            making
                .random
                .pick(&[
                    "a",
                    "b",
                    "c",
                    "x",
                    "",
                    "é\n",
                    "q\"#{x}",
                    " a ",
                    "a: b",
                    "it's",
                    "A\tB",
                    "日本",
                    "\u{a0}é",
                    "\u{85}5",
                    "😀\u{301}",
                    "\0",
                    "\u{1}\u{7f}\u{1b}[0m",
                    "\u{9f}\u{378}",
                    "\u{feff}x",
                    "\u{200b}\u{2028}",
                    "\r\n",
                    "\u{e000}\u{10ffff}",
                    "\\u0041\\",
                    LONG,
                ])
                .into(),
        ),
        _ => Node::Text(text(making, key)),
    }
}

fn member_key(making: &mut Making, key: &str) -> Node {
    match making.random.below(24) {
        0 => Node::Text(text(making, key)),
        1 => Node::Plain(making.random.pick(&["1", "2.5", "0x1", "010", "y"])),
        2 if making.odd(6) => {
            Node::Plain(making.random.pick(&["true", "~", "[1]", "1.5e+3", "{a: 1}"]))
        }
        3 => Node::Text(making.random.pick(&["\u{1}", "\u{1b}é", "\t", LONG]).into()),
        _ => Node::Text(making.random.pick(&["a", "b", "c", "1", "x.y", "p", "é"]).into()),
    }
}

/// A key for a token in the value of `asked_by`: mostly one further down the list, so that few
/// chains are circles.
fn key(making: &mut Making, asked_by: &str) -> String {
    let own = KEYS.iter().position(|key| *key == asked_by).unwrap_or(0);
    let later =
        if making.random.one_in(40) { KEYS } else { &KEYS[(own + 1).min(KEYS.len() - 1)..] };
    let key = making.random.pick(later);
    let key = if key == "x.y" && !making.odd(4) { "\"x.y\"" } else { key };
    match making.random.below(14) {
        0 => format!("{key}.a"),
        1 => format!("{key}.{}", making.random.pick(&["b", "0", "1", "\"1\"", "a.b", "-1"])),
        2 => "nokey".into(),
        3 if making.odd(8) => making
            .random
            .pick(&["a.", "lookup_options", "\"lookup_options\"", "1.a", "", "lookup_options.a"])
            .into(),
        _ => key.into(),
    }
}

fn variable(making: &mut Making) -> &'static str {
    if making.odd(16) { making.random.pick(ODD_VARIABLES) } else { making.random.pick(VARIABLES) }
}

/// A string that may hold tokens.
fn text(making: &mut Making, asked_by: &str) -> String {
    if making.random.one_in(4) {
        return making.random.pick(&["a", "b", "x", "1", "%", "%{", "100%", "p q"]).into();
    }
    let mut text = String::new();
    for _ in 0..1 + making.random.below(2) {
        let token = match making.random.below(12) {
            0..=3 => format!("%{{{}}}", variable(making)),
            4..=6 => format!("%{{lookup('{}')}}", key(making, asked_by)),
            7 | 8 if text.is_empty() => return format!("%{{alias('{}')}}", key(making, asked_by)),
            9 => format!("%{{literal('{}')}}", making.random.pick(&["%", "zz", "%{", "ab"])),
            10 => format!("%{{scope('{}')}}", variable(making)),
            11 => making.random.pick(STRANGE_TOKENS).into(),
            _ if making.odd(10) => making.random.pick(BROKEN_TOKENS).into(),
            _ => "-".into(),
        };
        text.push_str(&token);
        if making.random.one_in(4) {
            text.push_str(making.random.pick(&["x", " ", "-", "é", "日", "\u{a0}"]));
        }
    }
    text
}

/// The subkeys of something inside a value, as they are appended to its key: `.a.0`; nothing where
/// there is nothing inside.
pub fn path_into(making: &mut Making, value: &Node) -> String {
    let (step, next) = match value {
        Node::List(items) if !items.is_empty() => {
            let index = making.random.below(items.len());
            (index.to_string(), &items[index])
        }
        Node::Hash(members) if !members.is_empty() => {
            let (key, value) = &members[making.random.below(members.len())];
            let step = match key {
                Node::Text(name) if name.contains(['"', '\'']) => return String::new(),
                Node::Text(name) if name.contains('.') || name == "1" || name.is_empty() => {
                    format!("{:?}", name)
                }
                Node::Text(name) => name.clone(),
                Node::Plain(name) => (*name).to_owned(),
                _ => return String::new(),
            };
            (step, value)
        }
        _ => return String::new(),
    };
    let further = if making.random.one_in(3) { String::new() } else { path_into(making, next) };
    format!(".{step}{further}")
}

/// Returns a text in JSON, without the control characters that YAML's reader refuses.
fn quoted(text: &str) -> String {
    let refused = |c: &char| matches!(c, '\u{7f}'..='\u{9f}' if *c != '\u{85}');
    let quoted = json!(text).to_string();
    text.chars()
        .filter(refused)
        .fold(quoted, |text, c| text.replace(c, &format!("\\u{:04x}", u32::from(c))))
}

/// Returns the value on one line: JSON, except for parts with a fixed spelling.
pub fn flow(making: &mut Making, node: &Node) -> String {
    match node {
        Node::Text(text)
            if making.random.one_in(6) && (!text.contains(char::is_control) || making.odd(60)) =>
        {
            format!("'{}'", text.replace('\'', "''"))
        }
        Node::Text(text) => quoted(text),
        Node::Plain(text) => (*text).to_owned(),
        Node::List(items) => format!(
            "[{}]",
            items.iter().map(|item| flow(making, item)).collect::<Vec<_>>().join(", ")
        ),
        Node::Hash(members) => {
            let member = |(key, value): &(Node, Node)| {
                format!("{}: {}", flow(making, key), flow(making, value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The value in JSON, where a scalar of YAML's own is a string.
pub fn as_json(node: &Node) -> String {
    match node {
        Node::Text(text) => json!(text).to_string(),
        Node::Plain(text) if matches!(*text, "~" | "null") => "null".into(),
        Node::Plain(text)
            if matches!(*text, "true" | "false" | "0" | "1" | "-7" | "2.5" | "1e3" | "-0.0") =>
        {
            (*text).to_owned()
        }
        Node::Plain("12345678901234567890123") => "12345678901234567890123".into(),
        Node::Plain(text) => json!(text).to_string(),
        Node::List(items) => {
            format!("[{}]", items.iter().map(as_json).collect::<Vec<_>>().join(", "))
        }
        Node::Hash(members) => {
            let key = |key: &Node| match key {
                Node::Text(text) => json!(text).to_string(),
                Node::Plain(text) => json!(text).to_string(),
                _ => "\"k\"".into(),
            };
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{}: {}", key(name), as_json(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// The value after `key:`, in block style, one part a line.
pub fn block(making: &mut Making, node: &Node, indent: usize) -> String {
    let pad = " ".repeat(indent);
    match node {
        Node::List(items) if !items.is_empty() => items
            .iter()
            .map(|item| format!("\n{pad}-{}", block(making, item, indent + 2)))
            .collect(),
        Node::Hash(members) if !members.is_empty() => {
            let member = |(key, value): &(Node, Node)| {
                let key = flow(making, key);
                format!("\n{pad}{key}:{}", block(making, value, indent + 2))
            };
            members.iter().map(member).collect()
        }
        Node::Text(text) if making.random.one_in(4) && is_plain(text) => {
            let header = making.random.pick(&["|", ">", "|-", ">-", "|+", ">+"]);
            format!(" {header}\n{pad}{text}\n{pad}{text}\n")
        }
        Node::Text(text) if making.random.one_in(3) && is_plain(text) => format!(" {text}"),
        other => format!(" {}", flow(making, other)),
    }
}

/// Whether the text reads as itself without quotes: a word first, and nothing that ends it.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic())
        && text.chars().all(|c| c.is_alphanumeric() || "%{}()'._".contains(c))
}
