//! Makes one text of others: pieces taken out, doubled, moved, joined with pieces of other texts,
//! and words that readers take for syntax put in.

use crate::support::random::Random;

/// Texts that mean something to some reader.
const WORDS: &[&str] = &[
    "&a ",
    "*a",
    "<<: ",
    "<<: *a\n",
    "%{",
    "}",
    "%{}",
    "%{lookup('a')}",
    "%{alias(\"b\")}",
    "%{facts.os.family}",
    "%{literal('%')}",
    "%{::x}",
    "hiera(",
    "'",
    "\"",
    "''",
    "\\",
    "\\u{1}",
    "\\x41",
    "!!binary ",
    "!!set",
    "!ruby/sym a",
    "!<tag:yaml.org,2002:str> ",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "\t",
    "? ",
    ": ",
    ":",
    "- ",
    "|2-\n",
    ">+\n",
    "|\n",
    "{",
    "}",
    "[",
    "]",
    ", ",
    ",",
    "#",
    " #",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "\r",
    "\r\n",
    "\n",
    "\0",
    "\u{7f}",
    "é",
    "\u{1F600}",
    "0x1F",
    "0o17",
    "1_000",
    "1:30",
    "1e400",
    "-.inf",
    ".nan",
    "~",
    "null",
    "yes",
    "2020-01-01",
    "99999999999999999999",
    "-0",
    "lookup_options: ",
    "merge: ",
    "deep",
    "{strategy: deep, knockout_prefix: '--'}",
    "convert_to: ",
    "Sensitive",
    "Integer",
    "Array[",
    "Struct[{a => Optional[",
    "Enum['",
    "Pattern[/",
    "Variant[",
    "Tuple[",
    "Hash[",
    "Timestamp",
    "**/",
    "*",
    "?",
    "[a-",
    "{a,b}",
    "..",
    "../",
    "/",
    "~/",
    "${a}",
    "${?a}",
    "a.b.c",
    "+=",
    "include \"",
    "//",
    "/*",
    "\"\"\"",
    "hierarchy:\n",
    "version: 5\n",
    "version: 3\n",
    "datadir: ",
    "path: ",
    "paths: ",
    "glob: ",
    "mapped_paths: ",
    "data_hash: yaml_data",
    "lookup_key: ",
    "options: ",
    "nodes: ",
    "sources: ",
    "derive: ",
    "match: '(?<a>",
    "class a::b(",
    "lookup('a')",
    "modulepath = ",
    "$",
    "ENC[PKCS7,",
    "Content-Length: ",
    "{\"jsonrpc\":\"2.0\"",
    "\"id\":1",
];

/// The longest text that is made.
pub const MAX_TEXT: usize = 6_000;

/// A text made of `seeds`.
pub fn text(random: &mut Random, seeds: &[String]) -> String {
    let mut text = random.pick(seeds);
    for _ in 0..=random.below(5) {
        change(random, &mut text, seeds);
    }
    let end = floor(&text, MAX_TEXT);
    text.truncate(end);
    text
}

/// One change at one place.
pub fn change(random: &mut Random, text: &mut String, seeds: &[String]) {
    let at = place(random, text);
    match random.below(12) {
        0..=4 => text.insert_str(at, random.pick(WORDS)),
        5 | 6 => {
            let end = floor(text, at + random.below(12));
            text.replace_range(at..end.max(at), "");
        }
        7 => {
            let end = floor(text, at + random.below(60)).max(at);
            let piece = text[at..end].repeat(1 + random.below(40));
            text.insert_str(at, &piece);
        }
        8 => {
            let end = floor(text, at + random.below(80)).max(at);
            let piece = text[at..end].to_owned();
            text.replace_range(at..end, "");
            let to = place(random, text);
            text.insert_str(to, &piece);
        }
        9 => {
            let other = random.pick(seeds);
            let (from, length) = (place(random, &other), random.below(200));
            let end = floor(&other, from + length).max(from);
            text.insert_str(at, &other[from..end]);
        }
        10 => text.truncate(at),
        _ => text.insert(at, char::from(random.below(128) as u8)),
    }
}

fn place(random: &mut Random, text: &str) -> usize {
    floor(text, random.below(text.len() + 1))
}

/// The nearest place at or before this one that does not lie within a character.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
