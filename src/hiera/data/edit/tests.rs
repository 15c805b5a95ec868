//! Random edits: after each edit, a file in parts has the same content as a file that is parsed
//! again as a whole.

use std::fmt::Write as _;

use super::*;
use crate::hiera::data::{Borrowed, Problem, Reference};
use crate::puppet::value::{Data, Value};
use crate::tests::edits::{self, Random};
use crate::text::Span;
use crate::yaml::{parse_for_editing, parse_hocon, parse_json};

const FILE: FileId = FileId::new(7);

const TEXT: &str = "\
# A head.
---
plain: value
profile::web::port: 8080 # a comment
'quoted key': \"text %{lookup('plain')} and
continued at column 0 %{facts.os}\"
list:
- one
- x%{nothing}
flow: {
  a: 1, b: [1, 2]
}
block: |
  line 1 %{alias('plain')}
   line 2

# Between.
folded: >-
  a
  b
anchors: {x: &x [1], y: *x}
shared: &s
  deep: {er: &d \"%{lookup('plain')}\"}
dup: 1
user: {<<: *s, more: *d, own: &x again}
h:
  a: 1
  b: {c: ~, d: 2020-1-1}
dup: \"%{lookup('h.a')}\"
third: [*s, *x, *nowhere]
last: *d
";

const JSON: &str = "\
{ // A head.
  \"plain\": \"value\",
  \"profile::web::port\": 8080, // of the port
  \"list\": [
    \"one\", \"x%{nothing}\",
    {\"in\": 1}
  ],
  \"one\": 1, \"line\": {\"a\": [2, {\"b\": null}]},
  /* Between. */
  \"dup\": \"%{lookup('plain')}\",
  \"h\": {
    \"a\": 1,
  \"b\": true
  },
  \"dup\": \"%{lookup('h.a')}\"
}
";

const JSON_FRAGMENTS: &[&str] = &[
    "\n",
    " ",
    "\"",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "\\",
    "1",
    "x",
    "ä",
    "null",
    "//",
    "/*",
    "*/",
    "\r\n",
    "\"new\": 1,",
    "\n  \"dup\": 2,\n",
    "\n  \"half",
    "  \"plain\": {\"deep\": \"%{alias('list')}\"},\n",
    "%{lookup('",
    "')}",
    "\"<<\": 1, ",
    "}\n",
    "\n  ",
    "\t",
    "\u{feff}",
];

const FRAGMENTS: &[&str] = &[
    "\n",
    " ",
    "  ",
    ":",
    ": ",
    "- ",
    "#",
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
    "&x ",
    "*x",
    "&s ",
    "*s",
    "&d {k: 1}",
    "*d",
    "\nmore: {<<: *s}\n",
    "\nagain: &s {<<: *s}\n",
    "!!str ",
    "%{",
    "}",
    "%{lookup('",
    "')}",
    "%{alias('plain')}",
    "key: value\n",
    "\nnew: 1\n",
    "\n\n",
    "# note\n",
    "\t",
    "\r\n",
    "\r",
    "---\n",
    "...\n",
    "\n---\n",
    "\n...\n",
    "\n--- x\n",
    "\n---x: 1\n",
    "%YAML 1.1\n",
    "%YAML 1.1\n---\n",
    "%",
    "\u{7}",
    "<<: ",
    "ä",
    "𝄞",
    "\u{2028}",
    "? ",
    "x",
    "dup: 2\n",
    "lookup_options:\n  plain: {merge: unique}\n",
    "  nested: 1\n",
    "- item\n",
    "2020-01-01",
    "\u{feff}",
];

/// Prints the whole content of a file, with places relative to its start.
fn told(data: &DataFile) -> String {
    let mut out = String::new();
    let place =
        |span: Option<Span>| span.map(|span| data.part_bytes(span).expect("a place in this file"));
    for (key, member) in data.members() {
        let _ = write!(out, "{} {:?} ", key.to_text(), place(member.key_origin));
        tell(&mut out, &member.value, &place);
        out.push('\n');
    }
    for token in data.tokens() {
        let what = match &token.reference {
            Reference::Variable(key) => key.text.clone(),
            Reference::Key { key, .. } => key.text.clone(),
        };
        let places =
            [token.span(), token.name_span(), token.string_span].map(|span| place(Some(span)));
        let _ = writeln!(out, "token {what} in {} at {places:?}", token.root);
    }
    for part in data.parts().iter() {
        for Borrowed { root, asks } in part.data.borrowed() {
            let _ = writeln!(out, "{root} asks for {asks:?} by an alias");
        }
    }
    let mut problems: Vec<Problem> = data.problems().collect();
    problems.sort_by_key(|problem| (place(Some(problem.span)), format!("{:?}", problem.kind)));
    for problem in problems {
        let _ = writeln!(
            out,
            "{:?} at {:?}, {:?}",
            problem.kind,
            place(Some(problem.span)),
            place(problem.related)
        );
    }
    let mut unused: Vec<String> = data
        .unused_anchors()
        .flat_map(|(name, places)| {
            places
                .into_iter()
                .map(|span| format!("{:?} of {name}", place(Some(span))))
                .collect::<Vec<_>>()
        })
        .collect();
    unused.sort();
    // A part that cannot be read may hold an alias, so that the unused anchors are not known.
    if data.refusal().is_none() {
        let _ = writeln!(out, "unused anchors at {unused:?}");
    }
    let _ = write!(out, "refused: {:?}", data.refusal());
    out
}

fn tell(out: &mut String, value: &Value, place: &dyn Fn(Option<Span>) -> Option<TextRange>) {
    let _ = write!(out, "{:?}", place(value.origin));
    match value.data() {
        Data::Array(items) => items.iter().for_each(|item| tell(out, item, place)),
        Data::Hash(hash) => {
            for (key, member) in hash.iter() {
                let _ = write!(out, "{}{:?}", key.to_text(), place(member.key_origin));
                tell(out, &member.value, place);
            }
        }
        other => drop(write!(out, "{other:?}")),
    }
}

/// The first line in which two texts differ; one of them may have no such line.
fn first_difference<'t>(
    one: &'t str,
    other: &'t str,
) -> Option<(Option<&'t str>, Option<&'t str>)> {
    let (mut ones, mut others) = (one.lines(), other.lines());
    std::iter::from_fn(|| Some((ones.next(), others.next())).filter(|pair| *pair != (None, None)))
        .find(|(a, b)| a != b)
}

fn whole(text: &str, format: DataFormat) -> DataFile {
    let tree = match format {
        DataFormat::Yaml => parse_for_editing(text),
        DataFormat::Json => parse_json(text),
        DataFormat::Hocon => parse_hocon(text),
    };
    DataFile::read_whole(&tree, text, FILE, format)
}

fn anew(text: &str, format: DataFormat) -> DataFile {
    DataFile::in_parts(text, FILE, format).unwrap_or_else(|| whole(text, format))
}

/// Edits a text at random, time and again; of all edits at least one in `parts` is to be read in
/// parts, and one in `broken` so although the text is broken.
fn edits(
    start: &str,
    format: DataFormat,
    fragments: &[&'static str],
    (parts, broken): (usize, usize),
) {
    let mut random = Random::new(20_261_121);
    let (mut in_parts, mut of_broken, mut count) = (0, 0, 0);
    for _ in 0..edits::rounds(100) {
        let mut text = Text::new(start);
        let mut data = anew(start, format);
        for _ in 0..edits::STEPS {
            let all = text.to_str().into_owned();
            let (range, insert) = edits::edit(&mut random, &all, fragments);
            let edited = text.replace_range(range, insert);
            let new = edited.to_str();
            let whole = whole(&new, format);
            let next = data.apply_edit(Edited::new(range, insert.len() as u32), &edited, FILE);
            in_parts += usize::from(next.is_some());
            of_broken += usize::from(next.is_some() && whole.refusal().is_some());
            count += 1;
            data = next.unwrap_or_else(|| anew(&new, format));
            let (got, expected) = (told(&data), told(&whole));
            assert!(
                got == expected,
                "after {insert:?} in place of {range:?} of {all:?}: {:?}",
                first_difference(&got, &expected)
            );
            text = edited;
            // A broken text is repaired now and then, as by an editor's undo.
            if data.refusal().is_some() && random.below(8) == 0 {
                text = Text::new(start);
                data = anew(start, format);
            }
        }
    }
    assert!(in_parts * parts > count, "only {in_parts} of {count} edits were read in parts");
    assert!(of_broken * broken > count, "only {of_broken} of {count} were of broken texts");
}

#[test]
fn an_edited_file_equals_a_new_one() {
    edits(TEXT, DataFormat::Yaml, FRAGMENTS, (5, 10));
}

#[test]
fn an_edited_json_file_equals_a_new_one() {
    edits(JSON, DataFormat::Json, JSON_FRAGMENTS, (3, 4));
}

#[test]
fn an_edit_of_a_broken_file_leaves_the_other_entries_alone() {
    let lines: String = (0..200).map(|n| format!("key_{n}:\n  - 'x'\n  - {n}\n")).collect();
    let start = |text: &str, key: &str| text.find(&format!("\n{key}:")).unwrap() as u32 + 1;
    for half_typed in [
        "half: \"open\n",
        "half: 'open\n",
        "half: [open\n",
        "half: {\n",
        "half: 'x'\n  y: 1\n",
        "half\n",
        "half: @x\n",
    ] {
        let at = start(&lines, "key_100");
        let text = Text::new(&lines).replace_range(TextRange::new_empty(at), half_typed);
        let whole = anew(&lines, DataFormat::Yaml).apply_edit(
            Edited::new(TextRange::new_empty(at), half_typed.len() as u32),
            &text,
            FILE,
        );
        let mut data = whole.unwrap_or_else(|| panic!("{half_typed:?} was read as a whole"));
        assert!(data.refusal().is_some());
        let mut text = text;
        for (key, others) in [("key_50", 1), ("key_150", 1), ("key_99", 1), ("key_100", 2)] {
            // The edit adds one letter to a value, as typing does.
            let place = start(&text.to_str(), key) + key.len() as u32 + 6;
            let longer = text.replace_range(TextRange::new_empty(place), "z");
            let next = data
                .apply_edit(Edited::new(TextRange::new_empty(place), 1), &longer, FILE)
                .unwrap();
            let (gone, come) = data.parts().changes_to(next.parts());
            assert!(
                gone.len() <= others && come.len() <= others,
                "{half_typed:?}: {key} took {} others along",
                gone.len() - 1
            );
            let all = longer.to_str();
            assert_eq!(
                told(&next),
                told(&DataFile::read_whole(&parse_for_editing(&all), &all, FILE, DataFormat::Yaml)),
                "{half_typed:?}"
            );
            (text, data) = (longer, next);
        }
    }
}

#[test]
fn numbers_of_entries_that_went_are_given_to_others() {
    let all: String = (0..300).map(|n| format!("key_{n}: value\n")).collect();
    let [inner, end] = ["key_5:", "key_20:"].map(|key| all.find(key).unwrap() as u32);
    let mut text = Text::new(&all);
    let mut data = anew(&all, DataFormat::Yaml);
    let mut edit = |range: TextRange, insert: &str| {
        text = text.replace_range(range, insert);
        data = data
            .apply_edit(Edited::new(range, insert.len() as u32), &text, FILE)
            .expect("it can be read in parts");
        let all = text.to_str();
        assert_eq!(
            told(&data),
            told(&DataFile::read_whole(&parse_for_editing(&all), &all, FILE, DataFormat::Yaml))
        );
        assert!(data.parts().iter().all(|part| part.id != PartId::WHOLE));
        data.parts().id_count()
    };
    let most = edit(TextRange::new(end, all.len() as u32), "");
    let typed = "one: 1\ntwo: \"%{lookup('nowhere')}\"\n";
    for _ in 0..100 {
        edit(TextRange::new_empty(inner), typed);
        let now = edit(TextRange::new(inner, inner + typed.len() as u32), "");
        assert_eq!(now, most, "no number is new");
    }
}

#[test]
fn edits_in_a_row_are_one_edit() {
    let mut random = Random::new(5);
    for _ in 0..2_000 {
        let old: String = (0..30).map(|n| char::from(b'a' + n % 26)).collect();
        let mut text = old.clone();
        let mut all: Option<Edited> = None;
        for _ in 0..3 {
            let start = random.below(text.len() + 1);
            let end = start + random.below(text.len() - start + 1);
            let insert = &"XYZXYZ"[..random.below(7)];
            text.replace_range(start..end, insert);
            let edit = Edited::new(TextRange::from_usize(start..end), insert.len() as u32);
            all = Some(all.map_or(edit, |all| all.combine(edit)));
        }
        let all = all.expect("three edits");
        let (start, old_end, new_end) =
            (all.start as usize, all.old_end as usize, all.new_end as usize);
        assert_eq!(old[..start], text[..start]);
        assert_eq!(old[old_end..], text[new_end..], "{all:?} {old} {text}");
    }
}

#[test]
fn a_file_without_refused_entries_keeps_no_memory_for_them() {
    let text = (0..500).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "k{number}: 1");
        text
    });
    let data = DataFile::in_parts(&text, FILE, DataFormat::Yaml).expect("it can be cut");
    assert_eq!((data.parts().len(), data.broken.capacity()), (500, 0));
}

/// The computed old place of an entry within a replacement may be the start of a part above it.
#[test]
fn an_entry_within_a_replacement_is_no_old_one() {
    let start = "open: [\"\nkey_1: 1\nkey_2: 2\nkey_3: 3\n";
    let (text, data) = (Text::new(start), anew(start, DataFormat::Yaml));
    let mut in_parts = 0;
    for length in 0..40 {
        let insert = format!("\"]\nlast: {}\n", "x".repeat(length));
        let range = TextRange::new_empty(text.len());
        let edited = text.replace_range(range, &insert);
        let next = data.apply_edit(Edited::new(range, insert.len() as u32), &edited, FILE);
        if let Some(next) = next {
            in_parts += 1;
            assert_eq!(told(&next), told(&whole(&edited.to_str(), DataFormat::Yaml)), "{insert:?}");
        }
    }
    assert!(in_parts > 30, "only {in_parts} edits were read in parts");
}
