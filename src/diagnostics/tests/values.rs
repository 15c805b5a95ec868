//! Findings in a data file that need no other file: YAML and JSON that Puppet cannot read, or reads
//! otherwise than it looks.

use expect_test::expect;

use super::check;
use crate::fixture::Fixture;

#[test]
fn syntax_errors_stand_where_the_mistake_is() {
    check(
        "
a: 1
motd: %{facts.hostname}
users: [ada
b: 2
",
        expect![[r#"
            data/common.yaml:2:7: error: found character that cannot start any token while scanning for the next token; quote a value that starts so: Puppet cannot read this file, and lookups of nodes that reach it fail [syntax-error]
              2 | motd: %{facts.hostname}
                |       ^
            data/common.yaml:3:11: error: did not find expected ',' or ']' while parsing a flow sequence: Puppet cannot read this file, and lookups of nodes that reach it fail [syntax-error]
              3 | users: [ada
                |           ^
                data/common.yaml:3:8: while parsing a flow sequence
        "#]],
    );
}

#[test]
fn a_mapping_in_a_plain_value() {
    check(
        "
a: b: c
",
        expect![[r#"
            data/common.yaml:1:5: error: mapping values are not allowed in this context: Puppet cannot read this file, and lookups of nodes that reach it fail [syntax-error]
              1 | a: b: c
                |     ^
        "#]],
    );
}

#[test]
fn tabs() {
    check(
        "
a:
	b: 1
",
        expect![[r#"
            data/common.yaml:2:1: error: found character that cannot start any token while scanning for the next token: Puppet cannot read this file, and lookups of nodes that reach it fail [syntax-error]
              2 |  b: 1
                | ^
        "#]],
    );
}

#[test]
fn text_behind_a_quoted_value() {
    check(
        "
a: 'b' c
",
        expect![[r#"
            data/common.yaml:1:8: error: did not find expected key while parsing a block mapping: Puppet cannot read this file, and lookups of nodes that reach it fail [syntax-error]
              1 | a: 'b' c
                |        ^
                data/common.yaml:1:1: while parsing a block mapping
        "#]],
    );
}

#[test]
fn dates_and_times() {
    check(
        "
a: 2027-01-31
b: [2027-01-31 10:00:00, '2027-01-31']
c: {d: 2027-01-31T10:00:00Z}
2027-01-31: e
f: 2027-13-45
",
        expect![[r#"
            data/common.yaml:1:4: error: Puppet refuses the whole file for this value (Tried to load unspecified class: Date); quote it to make it a string [unloadable-value]
              1 | a: 2027-01-31
                |    ^^^^^^^^^^
            data/common.yaml:2:5: error: Puppet refuses the whole file for this value (Tried to load unspecified class: Time); quote it to make it a string [unloadable-value]
              2 | b: [2027-01-31 10:00:00, '2027-01-31']
                |     ^^^^^^^^^^^^^^^^^^^
            data/common.yaml:3:8: error: Puppet refuses the whole file for this value (Tried to load unspecified class: Time); quote it to make it a string [unloadable-value]
              3 | c: {d: 2027-01-31T10:00:00Z}
                |        ^^^^^^^^^^^^^^^^^^^^
            data/common.yaml:4:1: error: Puppet refuses the whole file for this value (Tried to load unspecified class: Date); quote it to make it a string [unloadable-value]
              4 | 2027-01-31: e
                | ^^^^^^^^^^
        "#]],
    );
}

#[test]
fn aliases_without_anchors() {
    check(
        "
a: &x 1
b: *x
c: *y
y: &y 2
",
        expect![[r#"
            data/common.yaml:3:4: error: Puppet refuses the whole file for this value (Unknown alias: y) [unloadable-value]
              3 | c: *y
                |    ^^
        "#]],
    );
}

#[test]
fn a_structure_that_contains_itself() {
    check(
        "
a: &x
  b: *x
",
        expect![[r#"
            data/common.yaml:2:6: error: Puppet refuses the whole file for this value (stack level too deep) [unloadable-value]
              2 |   b: *x
                |      ^^
        "#]],
    );
}

#[test]
fn tags_of_ruby() {
    check(
        "
a: !ruby/regexp /x/
b: !ruby/object:File {}
c: !foo bar
d: !!set {x}
",
        expect![[r#"
            data/common.yaml:1:4: error: Puppet refuses the whole file for this value (Tried to load unspecified class: Regexp) [unloadable-value]
              1 | a: !ruby/regexp /x/
                |    ^^^^^^^^^^^^
            data/common.yaml:2:4: error: Puppet refuses the whole file for this value (Tried to load unspecified class: File) [unloadable-value]
              2 | b: !ruby/object:File {}
                |    ^^^^^^^^^^^^^^^^^
            data/common.yaml:4:4: error: Puppet refuses the whole file for this value (Tried to load unspecified class: Psych::Set) [unloadable-value]
              4 | d: !!set {x}
                |    ^^^^^
        "#]],
    );
}

#[test]
fn numbers_that_are_none() {
    check(
        "
a: -.e+1
",
        expect![[r#"
            data/common.yaml:1:4: error: Puppet refuses the whole file for this value (invalid value for Float(): "-e+1") [unloadable-value]
              1 | a: -.e+1
                |    ^^^^^
        "#]],
    );
}

#[test]
fn duplicate_keys() {
    check(
        r#"
a: 1
b:
  c: 1
  "c": 2
a: 2
:a: 3
d: {1: x, '1': y, 1: z}
"#,
        expect![[r#"
            data/common.yaml:4:3: error: duplicate key 'c' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              4 |   "c": 2
                |   ^^^
                data/common.yaml:3:3: the value that is lost
                  3 | c: 1
            data/common.yaml:5:1: error: duplicate key 'a' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              5 | a: 2
                | ^
                data/common.yaml:1:1: the value that is lost
                  1 | a: 1
            data/common.yaml:6:1: error: duplicate key 'a' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              6 | :a: 3
                | ^^
                data/common.yaml:5:1: the value that is lost
                  5 | a: 2
            data/common.yaml:7:19: error: duplicate key '1' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              7 | d: {1: x, '1': y, 1: z}
                |                   ^
                data/common.yaml:7:5: the value that is lost
        "#]],
    );
}

#[test]
fn merge_keys_are_no_duplicates() {
    check(
        "
base: &base {a: 1, b: 2}
one:
  <<: *base
  a: 3
two:
  a: 3
  <<: *base
",
        expect![""],
    );
}

#[test]
fn keys_that_no_lookup_reaches() {
    check(
        r#"
80: a
yes: b
~: c
1.5: d
[x]: e
"80": f
n: g
"#,
        expect![[r#"
            data/common.yaml:1:1: warning: the key 80 is no string: no lookup can reach it; quote it [unreachable-key]
              1 | 80: a
                | ^^
            data/common.yaml:2:1: warning: the key yes is no string but true: no lookup can reach it; quote it [unreachable-key]
              2 | yes: b
                | ^^^
            data/common.yaml:3:1: warning: the key ~ is no string but null: no lookup can reach it; quote it [unreachable-key]
              3 | ~: c
                | ^
            data/common.yaml:4:1: warning: the key 1.5 is no string: no lookup can reach it; quote it [unreachable-key]
              4 | 1.5: d
                | ^^^
            data/common.yaml:5:1: warning: the key [x] is no string: no lookup can reach it; quote it [unreachable-key]
              5 | [x]: e
                | ^^^
        "#]],
    );
}

#[test]
fn a_list_is_no_hash() {
    check(
        "
- a: 1
- b: 2
",
        expect![[r#"
            data/common.yaml:1:1: error: a data file must be a hash of keys and values, this is a list [not-a-hash]
              1 | - a: 1
                | ^
        "#]],
    );
}

#[test]
fn a_scalar_is_no_hash() {
    check(
        "
just text
",
        expect![[r#"
            data/common.yaml:1:1: error: a data file must be a hash of keys and values, this is a string [not-a-hash]
              1 | just text
                | ^^^^^^^^^
        "#]],
    );
}

#[test]
fn an_empty_file() {
    check(
        "
#- /data/common.yaml
",
        expect![""],
    );
}

#[test]
fn a_file_of_comments() {
    check(
        "
# nothing
---
# here
",
        expect![""],
    );
}

#[test]
fn null_and_false_are_empty() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy: [{name: All, paths: [a.yaml, b.yaml, c.yaml]}]
#- /data/a.yaml
~
#- /data/b.yaml
false
#- /data/c.yaml
{}
",
        expect![""],
    );
}

#[test]
fn json() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy: [{name: JSON, data_hash: json_data, paths: [a.json, b.json, c.json, d.json, e.json]}]
#- /data/a.json
{"a": 1, "b": "%{lookup('c')}", "a": 2}
#- /data/b.json
{"a": 1,}
#- /data/c.json
[1]
#- /data/d.json
{"b": {"c": 1, "c": 2}, "d": "%{lookup( 'x' )}"}
#- /data/e.json
"#,
        expect![[r#"
            data/a.json:1:26: warning: no level of any layer defines 'c': the token becomes an empty text [unknown-key]
              1 | {"a": 1, "b": "%{lookup('c')}", "a": 2}
                |                          ^
            data/a.json:1:33: error: duplicate key 'a' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              1 | {"a": 1, "b": "%{lookup('c')}", "a": 2}
                |                                 ^^^
                data/a.json:1:2: the value that is lost
            data/b.json:1:9: error: unexpected token: Puppet cannot read this file, and lookups of nodes that reach it fail [syntax-error]
              1 | {"a": 1,}
                |         ^
            data/c.json:1:1: error: a data file must be a hash of keys and values, this is a list [not-a-hash]
              1 | [1]
                | ^^^
            data/d.json:1:16: error: duplicate key 'c' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              1 | {"b": {"c": 1, "c": 2}, "d": "%{lookup( 'x' )}"}
                |                ^^^
                data/d.json:1:8: the value that is lost
            data/d.json:1:31: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              1 | {"b": {"c": 1, "c": 2}, "d": "%{lookup( 'x' )}"}
                |                               ^^^^^^^^^^^^^^^^
            data/e.json:1:1: error: unexpected token: Puppet cannot read this file, and lookups of nodes that reach it fail [syntax-error]
        "#]],
    );
}

#[test]
fn a_file_that_is_not_utf_8() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy: [{name: All, paths: [a.yaml, b.yaml]}]
#- /data/a.yaml latin-1
motd: café
#- /data/b.yaml
motd: café
x: "%{foo('x')}"
"#,
        expect![[r#"
            data/a.yaml:1:1: error: this file cannot be read as data: invalid UTF-8 at byte 9: Puppet reads UTF-8 only [unreadable-file]
            data/b.yaml:2:7: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              2 | x: "%{foo('x')}"
                |       ^^^
        "#]],
    );
}

#[test]
fn data_behind_the_first_document() {
    check(
        "
---
a: 1
---
# Nothing but a comment
---
b: 2
c: 3
",
        expect![[r#"
            data/common.yaml:3:1: error: Puppet reads only the first document of a file: it ignores everything from this line on, with the keys 'b', 'c' [second-document]
              3 | ---
                | ^^^
        "#]],
    );
    check(
        "
---
---
a: 1
b: 2
c: 3
d: 4
e: 5
f: 6
",
        expect![[r#"
            data/common.yaml:2:1: error: Puppet reads only the first document of a file: it ignores everything from this line on, with the keys 'a', 'b', 'c', 'd', 'e' and others [second-document]
              2 | ---
                | ^^^
        "#]],
    );
    // Documents far behind the first one are not read.
    let filler = "# a comment\n".repeat(8_000);
    check(
        &format!("a: 1\n---\nb: 2\n{filler}---\nc: 3\n"),
        expect![[r#"
        data/common.yaml:2:1: error: Puppet reads only the first document of a file: it ignores everything from this line on, with the key 'b' [second-document]
          2 | ---
            | ^^^
    "#]],
    );
    check(
        "{a: 1}\nb: 2\n",
        expect![[r#"
            data/common.yaml:2:1: error: Puppet reads only the first document of a file: it ignores everything from this line on, with the key 'b' [second-document]
              2 | b: 2
                | ^
        "#]],
    );
    check("a: 1\n---\n# Nothing but a comment\n", expect![[r#""#]]);
}

#[test]
fn a_separator_typed_into_a_long_file() {
    let entries =
        |from: u32| (from..from + 300).map(|n| format!("k{n}: {n}\n")).collect::<String>();
    let text = format!("{}---\n{}", entries(0), entries(300));
    let fixture = Fixture::new(&text);
    let told = fixture.rendered_findings();
    assert!(told.contains("the keys 'k300', 'k301', 'k302', 'k303', 'k304' and others"), "{told}");
}

#[test]
fn a_repeated_key_with_the_same_value_and_with_another() {
    check(
        "
a: 1
b: [x]
a: 1
b: [y]
c: {d: 1, d: 2}
",
        expect![[r#"
            data/common.yaml:3:1: warning: duplicate key 'a' in this hash, with the same value [duplicate-key]
              3 | a: 1
                | ^
                data/common.yaml:1:1: the same value, which Puppet ignores
                  1 | a: 1
            data/common.yaml:4:1: error: duplicate key 'b' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              4 | b: [y]
                | ^
                data/common.yaml:2:1: the value that is lost
                  2 | b: [x]
            data/common.yaml:5:11: error: duplicate key 'd' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              5 | c: {d: 1, d: 2}
                |           ^
                data/common.yaml:5:5: the value that is lost
        "#]],
    );
}

#[test]
fn a_long_ciphertext_is_underlined_in_part() {
    let text = format!("a: \"%{{lookup('{}')}}\"\n", "x".repeat(200));
    let told = Fixture::new(&text).rendered_findings();
    assert!(told.contains(&"^".repeat(60)) && !told.contains(&"^".repeat(61)), "{told}");
}
