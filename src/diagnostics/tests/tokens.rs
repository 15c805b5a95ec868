//! Interpolation tokens, each with Puppet's result.

use expect_test::expect;

use super::check;

#[test]
fn variables_and_empty_tokens_are_fine() {
    check(
        r#"
a: "%{facts.os.family} %{ facts.os.family } %{::hn} %{'hn'} %{\"hn\"} %{facts.\"os\".family} %{facts . os}"
b: '%{} %{ } %{""} %{::} %{"::"}'
c: "%{:} %{hn:} %{:hn} %{-1} %{$hn} %{@hn} %{SERVER_NAME} %%{hn} %{hn}}"
d: "%{scope('hn')} %{ scope('hn') } %{literal('%')} %{literal('abc')}"
e: "% {hn} 100% %h }"
"#,
        expect![""],
    );
}

#[test]
fn an_unquoted_argument_is_a_strange_variable() {
    check(
        r#"
a: "%{scope(hn)} %{lookup(str)} %{literal(%)} %{foo()}"
"#,
        expect![""],
    );
}

#[test]
fn unclosed() {
    check(
        r#"
a: "%{facts.os.family"
b: "%{hn} %{hn"
c: |
  first %{x
  second
"#,
        expect![[r#"
            data/common.yaml:1:5: warning: this `%{` has no `}`: Puppet leaves the text as it is [unclosed-token]
              1 | a: "%{facts.os.family"
                |     ^^
            data/common.yaml:2:11: warning: this `%{` has no `}`: Puppet leaves the text as it is [unclosed-token]
              2 | b: "%{hn} %{hn"
                |           ^^
            data/common.yaml:4:9: warning: this `%{` has no `}`: Puppet leaves the text as it is [unclosed-token]
              4 |   first %{x
                |         ^^
        "#]],
    );
}

#[test]
fn malformed() {
    check(
        r#"
a: "%{.}"
b: "%{.hn}"
c: "%{hn.}"
d: "%{facts..os}"
e: '%{"facts}'
f: "%{::.}"
"#,
        expect![[r#"
            data/common.yaml:1:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              1 | a: "%{.}"
                |     ^^^^
            data/common.yaml:2:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              2 | b: "%{.hn}"
                |     ^^^^^^
            data/common.yaml:3:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              3 | c: "%{hn.}"
                |     ^^^^^^
            data/common.yaml:4:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              4 | d: "%{facts..os}"
                |     ^^^^^^^^^^^^
            data/common.yaml:5:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              5 | e: '%{"facts}'
                |     ^^^^^^^^^
            data/common.yaml:6:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              6 | f: "%{::.}"
                |     ^^^^^^
        "#]],
    );
}

#[test]
fn malformed_calls() {
    check(
        r#"
a: "%{scope( 'hn' )}"
b: "%{scope ('hn')}"
c: "%{scope('hn')x}"
d: "%{lookup('a','b')}"
e: '%{scope("h''n")}'
f: "%{scope('')}"
g: "%{foo(\"bar')}"
"#,
        expect![[r#"
            data/common.yaml:1:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              1 | a: "%{scope( 'hn' )}"
                |     ^^^^^^^^^^^^^^^^
            data/common.yaml:2:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              2 | b: "%{scope ('hn')}"
                |     ^^^^^^^^^^^^^^^
            data/common.yaml:3:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              3 | c: "%{scope('hn')x}"
                |     ^^^^^^^^^^^^^^^
            data/common.yaml:4:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              4 | d: "%{lookup('a','b')}"
                |     ^^^^^^^^^^^^^^^^^^
            data/common.yaml:5:14: error: 'h'n' is no variable that scope could look up [bad-argument]
              5 | e: '%{scope("h''n")}'
                |              ^^^^
            data/common.yaml:6:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              6 | f: "%{scope('')}"
                |     ^^^^^^^^^^^^
            data/common.yaml:7:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              7 | g: "%{foo(\"bar')}"
                |     ^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn tokens_do_not_nest() {
    check(
        r#"
a: "%{lookup('%{hn}')}"
b: "%{literal('%{hn}')}"
c: "%{%{hn}}"
d: "%{facts.os.%{hn}}"
"#,
        expect![[r#"
            data/common.yaml:1:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              1 | a: "%{lookup('%{hn}')}"
                |     ^^^^^^^^^^^^^^^
            data/common.yaml:2:5: error: syntax error in this token: it is neither a variable nor `function('argument')` with one quoted argument [malformed-token]
              2 | b: "%{literal('%{hn}')}"
                |     ^^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn unknown_functions() {
    check(
        r#"
a: "%{Scope('hn')}"
b: "%{foo('bar')} %{hiera_hash('h')}"
c: "%{env('HOME')}"
"#,
        expect![[r#"
            data/common.yaml:1:7: error: unknown interpolation method 'Scope': there are lookup, hiera, alias, literal and scope [unknown-function]
              1 | a: "%{Scope('hn')}"
                |       ^^^^^
            data/common.yaml:2:7: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              2 | b: "%{foo('bar')} %{hiera_hash('h')}"
                |       ^^^
            data/common.yaml:2:21: error: unknown interpolation method 'hiera_hash': there are lookup, hiera, alias, literal and scope [unknown-function]
              2 | b: "%{foo('bar')} %{hiera_hash('h')}"
                |                     ^^^^^^^^^^
            data/common.yaml:3:7: error: unknown interpolation method 'env': there are lookup, hiera, alias, literal and scope [unknown-function]
              3 | c: "%{env('HOME')}"
                |       ^^^
        "#]],
    );
}

#[test]
fn arguments_that_are_no_keys() {
    check(
        r#"
a: "%{lookup('b.')}"
b: "%{alias('b..c')}"
c: "%{hiera('.b')}"
d: "%{scope('facts.')}"
e: "%{literal('b.')}"
f: '%{lookup("b.''c")}'
"#,
        expect![[r#"
            data/common.yaml:1:15: error: 'b.' is no key that lookup could look up [bad-argument]
              1 | a: "%{lookup('b.')}"
                |               ^^
            data/common.yaml:2:14: error: 'b..c' is no key that alias could look up [bad-argument]
              2 | b: "%{alias('b..c')}"
                |              ^^^^
            data/common.yaml:3:14: error: '.b' is no key that hiera could look up [bad-argument]
              3 | c: "%{hiera('.b')}"
                |              ^^
            data/common.yaml:4:14: error: 'facts.' is no variable that scope could look up [bad-argument]
              4 | d: "%{scope('facts.')}"
                |              ^^^^^^
            data/common.yaml:6:15: error: 'b.'c' is no key that lookup could look up [bad-argument]
              6 | f: '%{lookup("b.''c")}'
                |               ^^^^^
        "#]],
    );
}

#[test]
fn aliases_are_the_whole_string() {
    check(
        r#"
k: [1]
a: "%{alias('k')}"
b: " %{alias('k')}"
c: "%{alias('k')} "
d: "%{ alias('k') }"
e: ["%{alias('k')}", "x%{alias('k')}"]
f: {"%{alias('k')}x": 1}
"#,
        expect![[r#"
            data/common.yaml:3:6: error: `alias` is only permitted when the token is the entire string; `lookup` inserts a value into a text [alias-not-whole-value]
              3 | b: " %{alias('k')}"
                |      ^^^^^^^^^^^^^
            data/common.yaml:4:5: error: `alias` is only permitted when the token is the entire string; `lookup` inserts a value into a text [alias-not-whole-value]
              4 | c: "%{alias('k')} "
                |     ^^^^^^^^^^^^^
            data/common.yaml:6:24: error: `alias` is only permitted when the token is the entire string; `lookup` inserts a value into a text [alias-not-whole-value]
              6 | e: ["%{alias('k')}", "x%{alias('k')}"]
                |                        ^^^^^^^^^^^^^
            data/common.yaml:7:6: error: `alias` is only permitted when the token is the entire string; `lookup` inserts a value into a text [alias-not-whole-value]
              7 | f: {"%{alias('k')}x": 1}
                |      ^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn places_in_blocks_and_folded_text() {
    check(
        r#"
a: |
  first
  the %{foo('x')} second
b: >
  folded
  text %{foo('x')}
c: "esc\taped \u00e9 %{foo('x')}"
d: 'it''s %{foo(''x'')}'
e: plain
  text %{foo('x')}
"#,
        expect![[r#"
            data/common.yaml:3:9: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              3 |   the %{foo('x')} second
                |         ^^^
            data/common.yaml:6:10: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              6 |   text %{foo('x')}
                |          ^^^
            data/common.yaml:7:24: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              7 | c: "esc\taped \u00e9 %{foo('x')}"
                |                        ^^^
            data/common.yaml:8:13: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              8 | d: 'it''s %{foo(''x'')}'
                |             ^^^
            data/common.yaml:10:10: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              10 |   text %{foo('x')}
                 |          ^^^
        "#]],
    );
}

#[test]
fn root_keys_have_no_tokens() {
    check(
        r#"
"%{foo('x')}": 1
a: {"%{foo('x')}": 1}
"#,
        expect![[r#"
            data/common.yaml:2:8: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              2 | a: {"%{foo('x')}": 1}
                |        ^^^
        "#]],
    );
}

#[test]
fn tokens_in_every_place() {
    check(
        r#"
a: ["%{foo('x')}", {b: "%{foo('y')}"}]
"#,
        expect![[r#"
            data/common.yaml:1:8: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              1 | a: ["%{foo('x')}", {b: "%{foo('y')}"}]
                |        ^^^
            data/common.yaml:1:27: error: unknown interpolation method 'foo': there are lookup, hiera, alias, literal and scope [unknown-function]
              1 | a: ["%{foo('x')}", {b: "%{foo('y')}"}]
                |                           ^^^
        "#]],
    );
}
