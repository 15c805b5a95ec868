//! Random values and random data types, as the suites about types and conversions ask for.

use serde_json::{Value as Json, json};

use crate::support::random::Random;

/// A value of data.
pub fn value(random: &mut Random, depth: usize) -> Json {
    match random.below(if depth == 0 { 8 } else { 11 }) {
        0 => Json::Null,
        1 => json!(random.one_in(2)),
        2..=4 if random.one_in(4) => number_at_a_limit(random),
        2 | 3 => random
            .pick(&[
                json!(0),
                json!(1),
                json!(2),
                json!(3),
                json!(5),
                json!(7),
                json!(-1),
                json!(255),
                json!(1000),
            ])
            .clone(),
        4 => random
            .pick(&[json!(0.0), json!(1.5), json!(-2.25), json!(3.0), json!(1e20), json!(0.0001)])
            .clone(),
        5..=7 if random.one_in(4) => json!(beyond_ascii(random)),
        5..=7 if random.one_in(8) => json!(control_text(random)),
        5..=7 => json!(random.pick(&[
            "", "a", "b", "abc", "foo::bar", "x y", "7", "yes", "1.2.3", "A", "it's", "10"
        ])),
        8 | 9 => Json::Array((0..random.below(4)).map(|_| value(random, depth - 1)).collect()),
        _ => {
            let mut hash = serde_json::Map::new();
            for _ in 0..random.below(4) {
                let key = random.pick(&["a", "b", "c", "ab", "", "7", "é"]);
                if !(key.is_empty() && random.one_in(2)) {
                    hash.insert(key.into(), value(random, depth - 1));
                }
            }
            Json::Object(hash)
        }
    }
}

/// A text with letters of several bytes: letters that upper and lower case change to others or to
/// several, digits and blanks of Unicode, a combining accent, a letter beyond the basic plane.
fn beyond_ascii(random: &mut Random) -> String {
    const PIECES: [&str; 26] = [
        "é", "É", "ß", "ẞ", "ſ", "ı", "İ", "σ", "ς", "Σ", "ŉ", "ﬁ", "ǆ", "\u{301}", "\u{a0}",
        "\u{85}", "\u{2028}", "٣", "５", "²", "日", "😀", "a", "B", "7", " ",
    ];
    (0..1 + random.below(4)).map(|_| random.pick(&PIECES)).collect()
}

/// A number at the limit of a range, of the exact numbers of a float, or of a notation.
fn number_at_a_limit(random: &mut Random) -> Json {
    const INTEGERS: [i64; 16] = [
        i64::MAX,
        i64::MAX - 1,
        i64::MIN,
        i64::MIN + 1,
        1 << 53,
        (1 << 53) + 1,
        -(1 << 53) - 1,
        1 << 31,
        -(1 << 31) - 1,
        1 << 32,
        999_999_999_999_999,
        10_000_000_000_000_000,
        1_000_000_000_000_000_000,
        0x10_ffff,
        0x11_0000,
        0xd800,
    ];
    const FLOATS: [f64; 24] = [
        -0.0,
        1e15,
        1e16,
        123_456_789_012_345_680.0,
        9_223_372_036_854_775_807.0,
        -9_223_372_036_854_775_808.0,
        1e22,
        1e23,
        1e-4,
        1e-5,
        0.000_123_456,
        1.7e308,
        f64::MIN_POSITIVE,
        5e-324,
        0.1,
        0.30000000000000004,
        1.0000000000000002,
        2.5,
        3.5,
        -0.5,
        0.125,
        99.5,
        999_999.5,
        1e100,
    ];
    if random.one_in(2) { json!(random.pick(&INTEGERS)) } else { json!(random.pick(&FLOATS)) }
}

/// A text with control characters, line ends or marks that no display shows, or a long one.
fn control_text(random: &mut Random) -> String {
    const PIECES: [&str; 18] = [
        "\0", "\u{1}", "\u{7}", "\u{8}", "\u{b}", "\u{c}", "\u{1b}", "\u{7f}", "\u{9f}", "\r",
        "\r\n", "\n", "\t", "\u{feff}", "\u{200b}", "\u{ad}", "a", "7",
    ];
    let text: String = (0..1 + random.below(4)).map(|_| random.pick(&PIECES)).collect();
    if random.one_in(6) { text.repeat(1 + random.below(200)) } else { text }
}

fn bounds(random: &mut Random) -> String {
    let (from, to) = (random.below(4), random.below(4));
    match random.below(4) {
        0 => format!("{from}"),
        1 => format!("default, {to}"),
        _ => format!("{}, {}", from.min(to), from.max(to)),
    }
}

fn types(random: &mut Random, depth: usize, most: usize) -> String {
    (0..=random.below(most)).map(|_| data_type(random, depth)).collect::<Vec<_>>().join(", ")
}

/// A data type.
pub fn data_type(random: &mut Random, depth: usize) -> String {
    const PLAIN: [&str; 46] = [
        "Any",
        "Undef",
        "Default",
        "Scalar",
        "ScalarData",
        "Numeric",
        "Integer",
        "Float",
        "String",
        "Boolean",
        "Array",
        "Hash",
        "Tuple",
        "Struct",
        "Collection",
        "Data",
        "RichData",
        "Optional",
        "NotUndef",
        "Variant",
        "Enum",
        "Pattern",
        "Regexp",
        "Timestamp",
        "Timespan",
        "SemVer",
        "SemVerRange",
        "Binary",
        "URI",
        "Type",
        "Callable",
        "CatalogEntry",
        "Class",
        "Resource",
        "Sensitive",
        "Iterable",
        "Iterator",
        "Init",
        "RichDataKey",
        "Nope",
        "Nopé",
        "Array\u{a0}[Any]",
        "Array[\u{85}Any]",
        "Enum[\u{2028}a]",
        "Nope::Other",
        "Runtime",
    ];
    // Types as people write them: numbers in all forms, escapes, blanks, comments, arguments that the
    // other types of this function lack.
    const SPELLED: [&str; 65] = [
        "Integer[-5, 0x1F]",
        "Integer[010]",
        "Integer[default, -1]",
        "Integer[3, 1]",
        "Float[1e3]",
        "Float[-1.5, 2]",
        "Float[.5]",
        "Numeric[1, 2]",
        "String[default]",
        "String[2, default]",
        "String['a']",
        "Collection[1]",
        "Collection[default, default]",
        "Array[String, 1]",
        "Array[1, 2]",
        "Array[String, default, default]",
        "Array[0, 0]",
        "Array[String, Integer]",
        "Hash[String, Integer, 1]",
        "Hash[1, 2]",
        "Hash[String]",
        "Hash[String, Integer, default, default]",
        "Tuple[1]",
        "Tuple[String, Integer, 1, default]",
        "Tuple[String, default]",
        "Struct[{}]",
        "Struct[{'a b' => Any}]",
        "Struct[{Optional['a'] => Optional[String]}]",
        "Struct[{a => Any, a => String}]",
        "Struct[{1 => Any}]",
        "Struct[a => Integer]",
        "Enum[]",
        "Enum[a, a]",
        "Enum['a', 1]",
        "Enum[\"a\\tb\"]",
        "Enum['it\\'s', \"\\u{e9}\", \"\\$x\"]",
        "Enum[a-b, a::b]",
        "Enum[A]",
        "Enum[true]",
        "Pattern['a.c']",
        "Pattern[/a\\/b/]",
        "Pattern[Regexp[/a/]]",
        "Pattern[]",
        "Regexp['a']",
        "Regexp[/(?i)a/]",
        "SemVer['>=1.0.0 <2.0.0']",
        "Timestamp['2020-01-01', '2021-01-01']",
        "Timestamp[5]",
        "Timespan[1, 5]",
        "Timespan['1-00:00:00']",
        "URI['http://a']",
        "Optional['a']",
        "Optional[a]",
        "Optional[String, Integer]",
        "NotUndef[a]",
        "Variant[]",
        "Sensitive[a]",
        "Type[Integer[1, 2]]",
        "Class[foo]",
        "Class['foo::bar']",
        "File['/x']",
        "Any[1]",
        "Boolean['true']",
        " String # a comment\n",
        "Array[String,]",
    ];
    if depth == 0 || random.one_in(4) {
        return match random.below(7) {
            6 => random.pick(&SPELLED).to_owned(),
            0..=2 => (random.pick(&PLAIN)).to_owned(),
            3 => (random.pick(&[
                "Enum[a, b]",
                "Enum[abc]",
                "Enum['A', true]",
                "Pattern[/a/]",
                "Pattern[/^x/, /7$/]",
                "Pattern[/^\\w+$/]",
                "Pattern[/\\A[[:alpha:]\\d]+\\z/, /\\s/]",
                "Pattern[/(?i)É|ss/, /\\W\\b/]",
                "Enum['é', 'ß']",
                "Enum['É', 'ss', 'İ', true]",
                "Regexp[/a/]",
            ]))
            .to_owned(),
            4 => format!(
                "{}[{}]",
                random.pick(&["Integer", "String", "Float", "Collection"]),
                bounds(random)
            ),
            _ => format!("Boolean[{}]", random.pick(&["true", "false"])),
        };
    }
    let depth = depth - 1;
    match random.below(12) {
        0 => format!("Array[{}]", data_type(random, depth)),
        1 => format!("Array[{}, {}]", data_type(random, depth), bounds(random)),
        2 => format!(
            "Hash[{}, {}]",
            random.pick(&["String", "Enum[a, b]", "Pattern[/a/]", "Scalar", "String[1]"]),
            data_type(random, depth)
        ),
        3 => format!("Hash[String, {}, {}]", data_type(random, depth), bounds(random)),
        4 => format!("Tuple[{}]", types(random, depth, 3)),
        5 => format!("Tuple[{}, {}]", types(random, depth, 2), bounds(random)),
        6 | 7 => {
            let mut members = Vec::new();
            for key in ["a", "b", "c"].iter().take(1 + random.below(3)) {
                let key = match random.below(4) {
                    0 => format!("Optional[{key}]"),
                    1 => format!("NotUndef['{key}']"),
                    _ => format!("'{key}'"),
                };
                members.push(format!("{key} => {}", data_type(random, depth)));
            }
            format!("Struct[{{{}}}]", members.join(", "))
        }
        8 => format!("Optional[{}]", data_type(random, depth)),
        9 => format!(
            "{}[{}]",
            random.pick(&["NotUndef", "Sensitive", "Type", "Iterable", "Iterator"]),
            data_type(random, depth)
        ),
        _ => format!("Variant[{}]", types(random, depth, 3)),
    }
}

/// A value that conversions are tried with: often a text that means something to one of them.
pub fn convertible(random: &mut Random) -> Json {
    const TEXTS: [&str; 76] = [
        "5",
        "010",
        "08",
        "0x1f",
        "0X1F",
        "0b101",
        "-5",
        "+7",
        "- 5",
        "+ 0x1f",
        " 5",
        "5 ",
        "1_000",
        "1.5",
        "-1.5",
        "1e3",
        "1e-3",
        "1E+3",
        "01.5",
        ".5",
        "5.",
        "0",
        "00",
        "-0",
        "0.0",
        "99999999999999999999",
        "true",
        "True",
        "FALSE",
        "yes",
        "No",
        "y",
        "N",
        "on",
        "",
        "abc",
        "Foo::bar::baz",
        "  trim me\t",
        "it's",
        "a\\b",
        "line\nbreak",
        "cost $5",
        "%d",
        "2020-01-31",
        "2020-02-30",
        "2020-01-31T12:34:56",
        "2020-01-31 12:34:56.789",
        "2020-01-31T12:34:56 UTC",
        "1-02:03:04.5",
        "12:34:56",
        "1:2",
        "-90",
        "90",
        "1.2.3",
        "1.2.3-rc.1+b2",
        "1.2",
        ">=1.0.0 <2.0.0",
        "1.x || 3.x",
        "1.x \u{a0}|| 3.x",
        ">\u{85}1.2",
        "\u{a0}5",
        "５",
        "1\u{2028}2",
        "^a+(b|c)$",
        "(?i)x/é",
        "(?im-x:a|b)",
        "(?i:a)(b)",
        "(?mx)(?-m)é",
        "(?=a)b",
        "(",
        "http://example.com:80/a?b=c#d",
        "not a uri",
        "x:y?a'b|c",
        "//h?a 'b'\t|{}#d",
        "aGVsbG8=",
        "æøå",
    ];
    match random.below(6) {
        0..=2 if random.one_in(6) => json!(beyond_ascii(random)),
        0..=2 if random.one_in(10) => json!(control_text(random)),
        // A number as a text, and a number.
        0..=2 if random.one_in(8) => json!(number_at_a_limit(random).to_string()),
        3 if random.one_in(2) => number_at_a_limit(random),
        0..=2 => json!(random.pick(&TEXTS)),
        3 => random
            .pick(&[
                json!(-17),
                json!(0),
                json!(3),
                json!(255),
                json!(65),
                json!(1e15),
                json!(-1.5),
                json!(0.1),
                json!(2.5),
                json!(1e300),
            ])
            .clone(),
        4 => match random.below(6) {
            0 => json!([["a", 1], ["b", [1, 2]]]),
            1 => json!([[["a"], 1], [["a2", "b"], [7, 8]], [[0], {"x": 1}]]),
            2 => json!([1, 2, 255]),
            3 if random.one_in(4) => json!({"from": beyond_ascii(random), "radix": 16}),
            3 => json!({"from": random.pick(&TEXTS), "radix": 16}),
            4 => json!({"string": random.pick(&TEXTS)}),
            _ => json!({"days": 1, "hours": 2, "negative": true}),
        },
        _ => value(random, 3),
    }
}

/// A format of `String` with random flags, width and precision.
fn format(random: &mut Random) -> String {
    let mut text = "%".to_owned();
    for flag in ["-", "+", " ", "#", "0"] {
        text += if random.one_in(4) { flag } else { "" };
    }
    if random.one_in(12) {
        text += random.pick(&["\t", "\n", "\u{b}", "<", "|", "{", "\u{a0}", "é"]);
    }
    if random.one_in(2) {
        text += random.pick(&["1", "3", "8", "25", "64", "300"]);
    }
    if random.one_in(3) {
        text += random.pick(&[".0", ".1", ".3", ".17", ".30", "."]);
    }
    text + random.pick(&[
        "d", "x", "X", "o", "b", "B", "e", "E", "f", "g", "G", "a", "A", "s", "p", "t", "c", "C",
        "u",
    ])
}

/// Returns a random value of `convert_to`.
pub fn convert_to(random: &mut Random) -> Json {
    const BARE: [&str; 26] = [
        "Integer",
        "Float",
        "Numeric",
        "Boolean",
        "String",
        "Array",
        "Hash",
        "Tuple",
        "Struct",
        "Sensitive",
        "Timestamp",
        "Timespan",
        "SemVer",
        "SemVerRange",
        "Binary",
        "URI",
        "Regexp",
        "Any",
        "Data",
        "Scalar",
        "Enum",
        "Optional[Integer]",
        "NotUndef",
        "Nope",
        "integer",
        "RichData",
    ];
    const FORMATS: [&str; 56] = [
        "%d", "%x", "%X", "%o", "%b", "%B", "%e", "%E", "%f", "%g", "%G", "%a", "%A", "%s", "%p",
        "%t", "%T", "%c", "%C", "%u", "%y", "%Y", "%n", "%v", "%V", "%h", "%D", "%q", "%#x", "%#o",
        "%#b", "%#s", "%#p", "%#c", "%#u", "%#t", "%05d", "%-8s", "%8s", "%+d", "% d", "%.2f",
        "%10.3e", "%.3s", "%-10.2p", "%#a", "%#h", "%#8a", "%(a", "%[s", "%<h", "%|p", "%+x",
        "%08b", "%.4x", "%#.0f",
    ];
    match random.below(10) {
        0..=2 => json!(random.pick(&BARE)),
        3 | 4 if random.one_in(3) => json!(["String", format(random)]),
        3 | 4 => json!(["String", random.pick(&FORMATS)]),
        5 => match random.below(10) {
            0 | 1 => json!([
                "Integer",
                random.pick(&[json!(2), json!(8), json!(10), json!(16), json!(7), json!("x")])
            ]),
            2 => json!(["Integer", 16, random.one_in(2)]),
            3 => json!([random.pick(&["Float", "Numeric"]), random.one_in(2)]),
            4 => json!(["Array", random.one_in(2)]),
            5 => json!(["Hash", random.pick(&["tree", "hash_tree", "nope"])]),
            6 => json!(["Binary", random.pick(&["%b", "%B", "%u", "%s", "%x"])]),
            7 => json!([
                "Timestamp",
                random.pick(&[
                    json!("%Y-%m-%d"),
                    json!("%H:%M"),
                    json!(["%d.%m.%Y", "%F"]),
                    json!("x")
                ])
            ]),
            8 => json!([
                "Timespan",
                random.pick(&[json!("%H:%M"), json!("%S"), json!(["%D", "%M:%S"]), json!("%q")])
            ]),
            _ => json!(["Regexp", random.one_in(2)]),
        },
        6 => json!([random.pick(&BARE), value(random, 1)]),
        _ => json!(data_type(random, 2)),
    }
}
