//! The effects of tags, and all else that only the loaded value shows.

use super::values;
use crate::support::random::{self, Random};
use crate::support::{random_cases, require};

const TAGS: &[&str] = &[
    "",
    "!",
    "!!str ",
    "!str ",
    "!ruby/string ",
    "!!int ",
    "!!float ",
    "!float ",
    "!!bool ",
    "!!null ",
    "!!binary ",
    "!binary ",
    "!!set ",
    "!!omap ",
    "!!pairs ",
    "!!map ",
    "!!seq ",
    "!!merge ",
    "!!timestamp ",
    "!!value ",
    "!foo ",
    "!vault ",
    "!ruby/sym ",
    "!ruby/symbol ",
    "!ruby/regexp ",
    "!ruby/range ",
    "!ruby/class ",
    "!ruby/object:Hash ",
    "!ruby/object:X ",
    "!ruby/hash:X ",
    "!ruby/array:X ",
    "!ruby/struct:X ",
    "!ruby/hash ",
    "!ruby/array ",
    "!map:Hash ",
    "!ruby/object:Set ",
    "!ruby/hash:Hash ",
    "!seq:Array ",
    "!ruby/object:Complex ",
    "!ruby/exception:X ",
    "!ruby/object ",
    "!ruby/encoding ",
    "!ruby/module ",
    "!struct:X ",
    "!ruby/string:X ",
    "!!ruby/sym ",
    "!<tag:yaml.org,2002:str> ",
    "!<tag:ruby.yaml.org,2002:sym> ",
    "!<!foo> ",
    "!tag:yaml.org,2002:str ",
    "!ruby/object:BigDecimal ",
    "!ruby/object:Rational ",
];
const CONTENTS: &[&str] = &[
    "",
    "5",
    "'5'",
    "\"12\"",
    "010",
    "yes",
    "'yes'",
    "~",
    "x",
    "2020-01-01",
    "2020-01-01T10:00:00Z",
    ":s",
    "'a b'",
    "1.5",
    "1_000",
    "YWJj",
    "/8=",
    "'YW Jj'",
    "*",
    "[]",
    "{}",
    "[a, b]",
    "[a: 1, b: 2]",
    "[{a: 1}, {b: 2}]",
    "{a: 1}",
    "{a: ~, b: ~}",
    "[[a, 1]]",
    "{1: 2}",
    "/a/",
    "1..2",
    "String",
    "1:30",
    ".inf",
    "0x1F",
    "1e3",
    "foo",
    "|\n  12\n",
    "|\n  YWJj\n",
    ">-\n  yes\n",
    "'1.5'",
    "{name: a}",
    "{string: a, x: 1}",
    "&a x",
];
const FRAMES: &[&str] = &[
    "k: @",
    "- @",
    "@",
    "k: [@]",
    "k: {a: @}",
    "? @\n: 1",
    "k: &x @\nj: *x",
    "<<: @\na: 1",
    "k:\n  a: 1\n  <<: @\n  b: 2",
];

#[test]
fn every_tag_on_everything() {
    if !require("ruby") {
        return;
    }
    let contents =
        |tag: &'static str| CONTENTS.iter().map(move |content| format!("{tag}{content}"));
    let framed = |frame: &'static str| {
        TAGS.iter()
            .copied()
            .flat_map(contents)
            .map(move |text| frame.replace('@', &text))
            .collect::<Vec<String>>()
    };
    values::check(&FRAMES.iter().copied().flat_map(framed).collect::<Vec<String>>());
}

const PIECES: &[&str] = &[
    "a: ",
    "b: ",
    "<<: ",
    "'<<': ",
    "? ",
    "- ",
    "&x ",
    "*x",
    "&y ",
    "*y",
    "{a: 1}",
    "{a: 2, b: 3}",
    "[{a: 1}, {b: 2}]",
    "{<<: {a: 1}}",
    "[*x, *y]",
    "1",
    "x",
    "~",
    "\n",
    "\n",
    "\n",
    "  ",
    "  ",
    "!!str ",
    "!foo ",
    ":s",
    ":s: ",
    "1: ",
    "true: ",
    "!!str <<: ",
    "{a: 1, a: 2}",
    "{",
    "}",
    ", ",
    "[",
    "]",
];

/// Anchors, merge keys, duplicates and tags, thrown together.
#[test]
fn random_structures() {
    if !require("ruby") {
        return;
    }
    let mut random = Random::new(random::seed("random_structures"));
    let text = |random: &mut Random| {
        (0..2 + random.below(14)).map(|_| random.pick(PIECES)).collect::<String>()
    };
    values::check(
        &(0..random_cases("ruby", 20_000)).map(|_| text(&mut random)).collect::<Vec<String>>(),
    );
}
