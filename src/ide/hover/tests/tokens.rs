//! What tokens name: keys and variables. And places of YAML that name nothing.

use expect_test::expect;

use super::check;

#[test]
fn a_lookup_token() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "x %{lookup('b$0b')}"
bb: {c: 1}
"#,
        expect![[r#"
            <bb>
            bb
            node web01

              c: 1

            from Common data/common.yaml:2
        "#]],
    );
}

#[test]
fn a_lookup_token_of_a_subkey() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "x %{lookup('bb.$0c')}"
bb: {c: 1}
"#,
        expect![[r#"
            <bb.c>
            bb.c
            node web01

              1

            from Common data/common.yaml:2
        "#]],
    );
}

#[test]
fn an_alias_token() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{alias('b$0b')}"
bb: [1, two]
"#,
        expect![[r#"
            <bb>
            bb
            node web01

              - 1
              - two

            from Common data/common.yaml:2
        "#]],
    );
}

#[test]
fn a_hiera_token_of_nothing() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{hiera('no$0pe')}"
"#,
        expect![[r#"
            <nope>
            nope
            node web01

            No value is found.
        "#]],
    );
}

#[test]
fn a_subkey_that_is_not_there() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{lookup('b.no$0pe')}"
b: {c: 1}
"#,
        expect![[r#"
            <b.nope>
            b.nope
            node web01

            This part is not in the effective value.
        "#]],
    );
}

#[test]
fn a_known_variable() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{facts.os.fam$0ily}"
"#,
        expect![[r#"
            <facts.os.family>
            %{facts.os.family}
            node web01

              Debian
        "#]],
    );
}

#[test]
fn a_scope_token() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{scope('ro$0le')}"
"#,
        expect![[r#"
            <role>
            %{role}
            node web01

              web
        "#]],
    );
}

#[test]
fn an_undefined_variable() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{no$0pe}"
"#,
        expect![[r#"
            <nope>
            %{nope}
            node web01

            undefined: an empty text, or an error where Puppet is strict
        "#]],
    );
}

#[test]
fn an_unknown_variable() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
a: "%{ro$0le}"
"#,
        expect![[r#"
            <role>
            %{role}
            node web01

            unknown here: this file's path does not tell it
        "#]],
    );
}

#[test]
fn a_variable_that_the_path_tells() {
    check(
        r#"
#- levels Node Role Common
#- /data/roles/web.yaml
a: "%{ro$0le}"
"#,
        expect![[r#"
            <role>
            %{role}
            for nodes with role = web

              web
        "#]],
    );
}

#[test]
fn a_yaml_alias_has_no_hover() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
a: &x {b: 1}
c: *$0x
",
        expect!["-"],
    );
}

#[test]
fn a_comment_has_no_hover() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
a: 1 # com$0ment
",
        expect!["-"],
    );
}
