//! Random repositories of a few small files, and random steps: edits that users make, and texts
//! that break parsers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::steps::{Edit, Session, Step};
use crate::support::random::Random;

/// The keys that entries define and tokens ask for: few, so that they meet.
const KEYS: &[&str] = &["a", "b", "c", "m::x", "m::y", "profile::web::vhosts", "n::z", "'q k'"];

const CONFIGS: &[&str] = &[
    "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n",
    "---\nversion: 5\ndefaults:\n  datadir: data\n  data_hash: yaml_data\nhierarchy:\n  - name: Node\n    path: nodes/%{trusted.certname}.yaml\n  - name: Exported\n    data_hash: json_data\n    path: export.json\n  - name: Rest\n    glob: '*.yaml'\n",
    "version: 5\nhierarchy:\n- name: All\n  paths: [common.yaml, roles/web.yaml, roles/db.yaml, nodes/n1.yaml]\n",
    // The next configs read one file in two formats, and in formats that the names of files do not
    // tell.
    "version: 5\nhierarchy:\n- {name: Export as YAML, path: export.json}\n- {name: Export, path: export.json, data_hash: json_data}\n- {name: Role as JSON, path: roles/web.yaml, data_hash: json_data}\n- {name: Role, path: roles/web.yaml}\n- {name: Common, path: common.yaml}\n",
    "version: 5\nhierarchy:\n- {name: Settings, path: settings.conf, data_hash: hocon_data}\n- {name: Settings as YAML, path: settings.conf}\n- {name: Common as HOCON, path: common.yaml, data_hash: hocon_data}\n- {name: Common, path: common.yaml}\n",
];

const CONFIG_LINES: &[&str] = &[
    "- {name: Extra, path: extra.yaml}\n",
    "- name: Other\n  path: roles/db.yaml\n",
    "- {name: Globbed, glob: 'roles/*.yaml'}\n",
    "- {name: Mapped, mapped_paths: [roles, role, 'roles/%{role}.yaml']}\n",
    "- {name: Opaque, lookup_key: my::backend}\n",
    "defaults: {datadir: data}\n",
    "  datadir: other\n",
    "default_hierarchy: []\n",
    "version: 4\n",
];

/// How many of [`ENTRIES`] are good ones, as most of a file are.
const GOOD: usize = 26;

/// Entries, and texts that are no entry: `K` stands for a key, `L` for another.
const ENTRIES: &[&str] = &[
    "K: 1\n",
    "K: plain text\n",
    "K:\n",
    "K: ~\n",
    "K: 2020-01-01\n",
    "K: \"%{lookup('L')}\"\n",
    "K: \"%{alias('L')}\"\n",
    "K: '%{hiera(\"L\")} and %{lookup(\"L.sub.0\")}'\n",
    "K: \"%{facts.os.family} %{::role} %{literal('%')}{x}\"\n",
    "K: before %{alias('L')}\n",
    "K: \"%{lookup('L'\"\n",
    "K: \"%{unknown('L')} %{lookup('')}\"\n",
    "K:\n  sub: [1, two, 3.0]\n  other: {x: y}\n",
    "K:\n- one\n- two: 2\n  three: 3\n",
    "K: &x {deep: \"%{lookup('L')}\"}\n",
    "K: &y [1, {in: *x}]\n",
    "K:\n  <<: *x\n  own: *y\n",
    "K: *x\n",
    "K: |\n  first %{lookup('L')}\n\n   second\n",
    "K: >-\n  folded\n  text\n\n",
    "K: |2\n    deep\n  less\n",
    "K: {\n  a: 1,\n  b: [x,\n y]\n}\n",
    "K:\n  sub: &x {in: 1}\n  other: {in: *x, far: *y}\n",
    "K: {sub: *x, list: [*x, {y: *y}]}\n",
    "K: {? {hash: key} : value, [list, key]: \"%{lookup('L')}\", 1: *x}\n",
    "? {L: key}\n: K\n",
    "K: [\n  'one', # first\n# at the edge\n  two\n]\n",
    "K: \"begins\ncontinued at the edge %{lookup('L')}\n  ends\"\n",
    "K: 'begins\n  and ends'# a comment\n",
    "K: &x {deep: 1}\nL: *x\n",
    "K:\n  <<: *x\n  more: 2\n",
    "K: *nowhere\n",
    "K: &x\n  self: *x\n",
    "K: 1\nK: 2\n",
    "K: {a: 1, a: 2}\n",
    "? K\n: complex\n",
    "1: number\n",
    ":sym: symbol\n",
    "lookup_options:\n  K: {merge: deep}\n  L: {merge: unique}\n",
    "lookup_options:\n  '^m::.*': {merge: {strategy: hash}, convert_to: Integer}\n",
    "lookup_options:\n  K: {merge: nonsense}\n  '^(': {merge: first}\n",
    "# A comment.\n",
    "\n",
    "K: blåbær フィヨルド 𝄞\n",
    "K: !!str 12\n",
    "K: !ruby/object:Object {}\n",
    "K: text\r\nL: more\r\n",
];

/// Texts that are typed or pasted anywhere.
const FRAGMENTS: &[&str] = &[
    "x",
    "\",\n  \"",
    "\": ",
    "},\n",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    "\r",
    ":",
    ": ",
    " :",
    "- ",
    "#",
    " #",
    "'",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    "|",
    ">",
    "|+\n",
    "&",
    "&x ",
    "*",
    "*x",
    "&y ",
    "*y",
    "!",
    "!!str ",
    "%",
    "%{",
    "}",
    "%{lookup('",
    "')}",
    "%{alias('a')}",
    "%{lookup('b",
    "---\n",
    "--- ",
    "...\n",
    "\n---\n",
    "\n...\n",
    "\n--- x\n",
    "<<: ",
    "? ",
    "ä",
    "𝄞",
    "\u{2028}",
    "\u{85}",
    "\u{feff}",
    "\u{0}",
    "\\",
    "\\\n",
    "@",
    "`",
    "a: 1\n",
    "\nb: 2\n",
    "\n}\n",
    "\n]\n",
    "\n'\n",
    "\n\"\n",
    "]\n}",
    "%YAML 1.1\n",
];

/// The parameters of classes: `N` stands for a name.
const PARAMETERS: &[&str] = &[
    "$N",
    "$N = 1",
    "Integer $N",
    "Optional[String[1]] $N = undef",
    "Sensitive[String] $N = lookup('m::x')",
    "Enum['a', 'b'] $N = 'a'",
    "M::Kind $N = lookup('b', Integer, 'first', 3)",
    "Struct[{'sub' => Integer}] $N = {'sub' => 1}",
];

/// Texts that are typed into manifests.
const CODE_FRAGMENTS: &[&str] = &[
    "$",
    "$x",
    ", ",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "=",
    "=> ",
    "'",
    "\"",
    "# ",
    "\n",
    "Integer ",
    "lookup('a')",
    "include n\n",
    "class n($z) {}\n",
    "type M::Kind = Integer\n",
];

/// A repository of a few files.
pub fn repo(random: &mut Random) -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([("hiera.yaml".to_owned(), (random.pick(CONFIGS)).to_owned())]);
    for path in ["common.yaml", "roles/web.yaml", "roles/db.yaml", "nodes/n1.yaml", "extra.yaml"] {
        if !random.one_in(5) {
            files.insert(format!("data/{path}"), text(random));
        }
    }
    if random.one_in(3) {
        files.insert("data/export.json".to_owned(), json(random));
    }
    if random.one_in(2) {
        files.insert(
            "modules/m/hiera.yaml".to_owned(),
            "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n".to_owned(),
        );
        files.insert("modules/m/data/common.yaml".to_owned(), text(random));
    }
    if random.one_in(3) {
        files.insert("data/settings.conf".to_owned(), hocon(random));
    }
    if random.one_in(2) {
        files.insert("modules/m/manifests/init.pp".to_owned(), manifest(random));
        files.insert("modules/m/types/kind.pp".to_owned(), "type M::Kind = Integer\n".to_owned());
    }
    files
}

/// A class of the module `m`, whose parameters [`KEYS`] name, with a lookup or two.
fn manifest(random: &mut Random) -> String {
    let parameters: Vec<String> = (0..random.below(4))
        .map(|_| random.pick(PARAMETERS).replace('N', random.pick(&["x", "y", "z"])))
        .collect();
    let body = random.pick(&["", "  include n\n", "  $a = lookup('a')\n", "  hiera('m::y', $x)\n"]);
    format!("class m(\n  {}\n) {{\n{body}}}\n", parameters.join(",\n  "))
}

/// An object of HOCON, one member a line.
fn hocon(random: &mut Random) -> String {
    let lines: Vec<String> = (0..random.below(6))
        .map(|_| {
            let member = random.pick(&[
                "\"K\" = 1\n",
                "\"K\" : { sub : [1, two], sub.deep = true }\n",
                "a.b = 1\na.c = ${?a.b}\n",
                "\"K\" = \"%{lookup('L')}\"\n",
                "b += 1\n",
                "# a comment\n",
            ]);
            filled(random, member)
        })
        .collect();
    lines.concat()
}

/// An object, one member a line as exports have them, or all in one line.
fn json(random: &mut Random) -> String {
    if random.one_in(4) {
        return "{\"a\": 1, \"m::x\": [\"%{lookup('b')}\"]}".to_owned();
    }
    let members: Vec<String> = (0..1 + random.below(8))
        .map(|_| {
            let value = random.pick(&[
                "1",
                "\"%{lookup('L')}\"",
                "\"%{alias('L')}\"",
                "{\n    \"sub\": [1, \"two\"],\n    \"b\": null\n  }",
                "[\"x\", {\"y\": \"%{role}\"}]",
                "{\"K\": {\"merge\": \"deep\"}}",
            ]);
            filled(random, &format!("  \"K\": {value}"))
        })
        .collect();
    format!("{{\n{}\n}}\n", members.join(",\n"))
}

fn text(random: &mut Random) -> String {
    let mut text = String::from(random.pick(&["---\n", "", "---\n", "", "%YAML 1.1\n---\n"]));
    for _ in 0..random.below(9) {
        // Most entries are good ones: a file that is broken throughout can show no fault.
        let entry =
            if random.one_in(3) { random.pick(ENTRIES) } else { random.pick(&ENTRIES[..GOOD]) };
        text.push_str(&filled(random, entry));
    }
    if random.one_in(5) {
        // The text is so long that the version on disk is read in parts, and that the opened text
        // counts as an edit of that version.
        let _ = writeln!(text, "# {}", "long ".repeat(2_000));
        let entry = random.pick(&ENTRIES[..GOOD]);
        text.push_str(&filled(random, entry));
    }
    if random.one_in(8) {
        text.push_str(random.pick(&["...\n", "---\na: 1\n", "... # the end\nb: [\n"]));
    }
    text
}

fn filled(random: &mut Random, entry: &str) -> String {
    let (key, other) = (random.pick(KEYS), random.pick(KEYS));
    let plain = |key: &str| key.trim_matches('\'').to_owned();
    // A token has no room for the quotes of a key.
    let other = if entry.contains("('L") || entry.contains("(\"L") {
        plain(other)
    } else {
        other.to_owned()
    };
    let mut out = String::new();
    let mut left = entry;
    while let Some(at) = left.find(['K', 'L']) {
        out.push_str(&left[..at]);
        out.push_str(if left[at..].starts_with('K') { key } else { &other });
        left = &left[at + 1..];
    }
    out + left
}

fn text_for(random: &mut Random, path: &str) -> String {
    match path.rsplit('.').next() {
        Some("json") => json(random),
        Some("conf") => hocon(random),
        Some("pp") => manifest(random),
        _ => text(random),
    }
}

/// The next step in a session.
pub fn step(random: &mut Random, session: &Session) -> Step {
    let texts = session.texts();
    let open = session.open();
    // People stay in a file for a while.
    let path = match (open.keys().last(), random.below(8)) {
        (Some(_), 0..=5) => random.pick(&open.keys().collect::<Vec<_>>()).to_string(),
        _ => {
            // The facts of nodes count as they are on disk: no step edits their files.
            let is_edited = |path: &&&str| {
                let is_read = |ending: &&str| path.ends_with(ending);
                ["yaml", ".json", ".conf", ".pp"].iter().any(is_read) && !path.contains("facts/")
            };
            let edited: Vec<&&str> = texts.keys().filter(is_edited).collect();
            if edited.is_empty() {
                "data/common.yaml".to_owned()
            } else {
                random.pick(&edited).to_string()
            }
        }
    };
    let text = texts.get(path.as_str()).copied().unwrap_or_default();
    if path.ends_with(".pp") {
        return code_step(random, path, text);
    }
    match random.below(60) {
        0 => Step::Close { path },
        1 => Step::Disk { text: (!random.one_in(3)).then(|| text_for(random, &path)), path },
        2 => Step::Replace { text: text_for(random, &path), path },
        3 => Step::Edit {
            edits: vec![Edit { start: 0, end: text.len(), insert: text_for(random, &path) }],
            path,
        },
        4..=9 => Step::Edit {
            path,
            edits: (0..2 + random.below(3)).map(|_| edit(random, text)).collect(),
        },
        15 | 16 => Step::Replace { path, text: replaced_everywhere(random, text) },
        // Broken texts get mended, or else everything would be broken soon.
        10..=14 if is_broken(text) => Step::Replace { path, text: mended(text) },
        _ => Step::Edit { edits: edits(random, &path, text), path },
    }
}

/// The next step in a manifest.
fn code_step(random: &mut Random, path: String, text: &str) -> Step {
    match random.below(12) {
        0 => Step::Close { path },
        1 => Step::Disk { text: Some(manifest(random)), path },
        2..=4 => Step::Replace { text: manifest(random), path },
        _ => {
            let Edit { start, end, .. } = edit(random, text);
            let insert = if random.one_in(4) {
                random.pick(PARAMETERS).replace('N', "x")
            } else {
                (random.pick(CODE_FRAGMENTS)).to_owned()
            };
            Step::Edit { path, edits: vec![Edit { start, end, insert }] }
        }
    }
}

/// The text with another word for one of its words.
fn replaced_everywhere(random: &mut Random, text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let word = if words.is_empty() { "-" } else { random.pick(&words) };
    text.replace(word, random.pick(&["x", "värde", "much_longer", "0"]))
}

fn is_broken(text: &str) -> bool {
    !hiera_ls::yaml::parse(text).problems.is_empty()
}

/// The text without the lines that break it.
fn mended(text: &str) -> String {
    let mut good = String::new();
    for line in text.split_inclusive('\n') {
        let longer = format!("{good}{line}");
        if !is_broken(&longer) {
            good = longer;
        }
    }
    good
}

fn edits(random: &mut Random, path: &str, text: &str) -> Vec<Edit> {
    let lines: Vec<(usize, &str)> = text
        .split_inclusive('\n')
        .map(|line| (line.as_ptr() as usize - text.as_ptr() as usize, line))
        .collect();
    if lines.is_empty() || random.one_in(3) {
        return vec![edit(random, text)];
    }
    let (start, line) = random.pick(&lines);
    let (target, _) = random.pick(&lines);
    let insert = |start: usize, insert: &str| Edit { start, end: start, insert: insert.to_owned() };
    let delete = Edit { start, end: start + line.len(), insert: String::new() };
    match random.below(12) {
        0 => vec![delete],
        1 => vec![insert(target, line)],
        2 if target > start => vec![insert(target, line), delete],
        2 => vec![delete, insert(target, line)],
        3 => {
            // The edit removes a whole block of lines, or repeats the block.
            let (from, to) = (start.min(target), start.max(target));
            let again = if random.one_in(2) { text[from..to].repeat(2) } else { String::new() };
            vec![Edit { start: from, end: to, insert: again }]
        }
        4 => vec![insert(start, "  ")],
        5 => vec![Edit {
            start,
            end: start + (line.len() - line.trim_start_matches(' ').len()).min(2),
            insert: String::new(),
        }],
        6 => vec![insert(start, "# ")],
        7 => vec![Edit {
            start: start + line.trim_end_matches(['\r', '\n']).len(),
            end: start + line.len(),
            insert: "\r\n".into(),
        }],
        8 => {
            // The line gets another key.
            let end = line.find(':').unwrap_or(0);
            vec![Edit { start, end: start + end, insert: (random.pick(KEYS)).to_owned() }]
        }
        _ if path.ends_with("hiera.yaml") => vec![insert(start, random.pick(CONFIG_LINES))],
        _ => {
            let entry = random.pick(ENTRIES);
            vec![insert(start, &filled(random, entry))]
        }
    }
}

fn edit(random: &mut Random, text: &str) -> Edit {
    let start = random.below(text.len() + 1);
    let end = start + random.pick(&[0, 0, 0, 1, 1, 2, 5, 20, 60]);
    let insert = if end > start && random.one_in(2) { "" } else { random.pick(FRAGMENTS) };
    Edit { start, end, insert: insert.to_owned() }
}
