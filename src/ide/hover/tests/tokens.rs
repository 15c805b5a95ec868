//! Hovers over the keys and variables that tokens name, and over places of YAML that name nothing.

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
            from Common data/common.yaml:2

              c: 1
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
            from Common data/common.yaml:2

              1
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
            from Common data/common.yaml:2

              [1, two]
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

#[test]
fn a_token_of_a_key_that_open_levels_may_have() {
    let files = |token: &str| {
        format!(
            r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {{name: Vault, lookup_key: vault_lookup, uri: 'https://vault.example'}}
  - {{name: Role, path: 'roles/%{{role}}.yaml'}}
  - {{name: Common, path: common.yaml}}
#- /data/roles/db.yaml
only_db: 1
#- /data/common.yaml
a: "%{{lookup('{token}')}}"
hash: {{b: 1}}
"#
        )
    };
    check(
        &files("only$0_db"),
        expect![[r#"
            <only_db>
            only_db
            by kind of node:

            - 1 where role = db ← Role data/roles/db.yaml:1
            - not settled by Vault otherwise

            role is unknown: the values are those in the names of files

            - Vault: the backend vault_lookup cannot be evaluated here

            first value found
        "#]],
    );
    check(
        &files("hash.$0c"),
        expect![[r#"
            <hash.c>
            hash.c
            for any node, as none is known

            Whether there is a value is not settled: Vault could not be evaluated.

            - Vault: the backend vault_lookup cannot be evaluated here
        "#]],
    );
}

#[test]
fn a_token_of_a_key_that_a_file_may_have_which_is_not_read() {
    check(
        &format!(
            r#"
#- /.hiera-ls.yaml
maxFileSize: 200
#- /hiera.yaml
version: 5
hierarchy: [{{name: Large, path: large.yaml}}, {{name: Common, path: common.yaml}}]
#- /data/large.yaml
port: 1
# {}
#- /data/common.yaml
a: "%{{lookup('po$0rt')}}"
"#,
            "x".repeat(200)
        ),
        expect![[r#"
            <port>
            port
            for any node, as none is known

            Whether there is a value is not settled: Large could not be evaluated.

            - Large data/large.yaml: not read: the file is too large to be read here: 0 MB
        "#]],
    );
}
