//! The effective value of a key and of its parts: which level each comes from, how they are merged,
//! and where it is written.

use expect_test::expect;

use super::check;

#[test]
fn merge_of_three_levels() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
users: {ada: {uid: 1}}
#- /data/roles/web.yaml
users: {grace: {uid: 2, shell: zsh}, ada: {uid: 9}}
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
us$0ers: {grace: {shell: bash}, linus: {uid: 3}}
"#,
        expect![[r#"
            <users>
            users
            node web01
            merged deep from 3 files: Node data/nodes/web01.yaml:1, Role data/roles/web.yaml:1, Common data/common.yaml:2 · set in data/common.yaml:1

              grace: {shell: zsh, uid: 2}  # Role
              linus: {uid: 3}              # Common
              ada: {uid: 1}                # Node
        "#]],
    );
}

#[test]
fn a_subkey_of_a_merged_value() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
users: {ada: {uid: 1}}
#- /data/roles/web.yaml
users: {grace: {uid: 2, shell: zsh}, ada: {uid: 9}}
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
users: {gr$0ace: {shell: bash}, linus: {uid: 3}}
"#,
        expect![[r#"
            <grace>
            users.grace
            node web01
            merged deep from 2 files: Role data/roles/web.yaml:1, Common data/common.yaml:2 · set in data/common.yaml:1

              {shell: zsh, uid: 2}  # Role
        "#]],
    );
}

#[test]
fn a_leaf_of_a_merged_value() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
users: {ada: {uid: 1}}
#- /data/roles/web.yaml
users: {grace: {uid: 2, shell: zsh}, ada: {uid: 9}}
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
users: {grace: {she$0ll: bash}, linus: {uid: 3}}
"#,
        expect![[r#"
            <shell>
            users.grace.shell
            node web01
            merged deep from 2 files: Role data/roles/web.yaml:1, Common data/common.yaml:2 · set in data/common.yaml:1

              zsh  # Role
        "#]],
    );
}

#[test]
fn first_found_wins() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
motd: hello
#- /data/common.yaml
mo$0td: welcome
"#,
        expect![[r#"
            <motd>
            motd
            node web01
            from Node data/nodes/web01.yaml:1

              hello

            - overrides the value here: welcome
        "#]],
    );
}

#[test]
fn an_element_of_a_list() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/common.yaml
ports: [80, 44$03]
"#,
        expect![[r#"
            <443>
            ports.1
            node web01
            from Common data/common.yaml:1

              443
        "#]],
    );
}

#[test]
fn an_element_of_a_merged_list() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
ports: [8080]
#- /data/common.yaml
lookup_options: {"^por": {merge: unique}}
ports: [80, 44$03]
"#,
        expect![[r#"
            <443>
            ports.2
            node web01
            from Common data/common.yaml:2 · merge unique · set in data/common.yaml:1 by the pattern ^por

              443
        "#]],
    );
}

#[test]
fn an_element_that_is_overridden() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
ports: [8080]
#- /data/common.yaml
ports: [80, 44$03]
"#,
        expect![[r#"
            <443>
            ports.1
            node web01

            This part is not in the effective value.

            - overrides the value here: 443
        "#]],
    );
}

#[test]
fn a_value_with_tokens_is_interpolated() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: $0"%{role} on %{facts.os.family}, %{lookup('b')}"
b: there
"#,
        expect![[r#"
            <a>
            a
            node web01
            from Common data/common.yaml:1

              web on Debian, there
        "#]],
    );
}

#[test]
fn a_value_that_comes_through_an_alias() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
a: &x {b: 1}
c$0: *x
",
        expect![[r#"
            <c>
            c
            node web01
            from Common data/common.yaml:2

              b: 1
        "#]],
    );
}

#[test]
fn a_key_with_dots() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
hosts:
  db.example$0.net: {port: 1}
",
        expect![[r#"
            <db.example.net>
            hosts.'db.example.net'
            node web01
            from Common data/common.yaml:2

              port: 1
        "#]],
    );
}

#[test]
fn a_lookup_that_fails() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a$0: "%{lookup('a')}"
"#,
        expect![[r#"
            <a>
            a
            node web01

            The lookup fails: Lookup of key 'a' failed: Recursive lookup detected in [a]

            - Common data/common.yaml: fails

            - read by data/common.yaml:1
        "#]],
    );
}

#[test]
fn a_merge_that_fails() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
users: ada
#- /data/common.yaml
lookup_options: {users: {merge: hash}}
us$0ers: {a: 1}
"#,
        expect![[r#"
            <users>
            users
            node web01
            merged hash from 2 files: Node data/nodes/web01.yaml:1, Common data/common.yaml:2 · set in data/common.yaml:1

            The lookup fails: The first element of the merge has wrong type, expects a Hash value, got String
        "#]],
    );
}

#[test]
fn a_long_value_is_cut() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
li$0st: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]
",
        expect![[r#"
            <list>
            list
            node web01
            from Common data/common.yaml:1

              - 0
              - 1
              - 2
              - 3
              - 4
              - 5
              - 6
              - 7
              - 8
              - 9
              # … 20 more lines
        "#]],
    );
}

#[test]
fn hocon_values_have_their_origins() {
    check(
        r#"
#- scope web01 role=web
#- /hiera.yaml
version: 5
defaults: {data_hash: hocon_data}
hierarchy: [{name: Role, path: "%{role}.conf"}, {name: Common, path: common.conf}]
#- /data/web.conf
"profile::web" { port = 8080 }
lookup_options { "profile::web" { merge = deep } }
#- /data/common.conf
shared = ${names.main}
names { main = oslo }
"profile::web" { port = 80, ho$0st = ${shared}".example.net" }
"profile::web".note = "for %{role}"
"#,
        expect![[r#"
            <host>
            profile::web.host
            node web01
            from Common data/common.conf:3 · merge deep · set in data/web.conf:2

              oslo.example.net
        "#]],
    );
    check(
        r#"
#- scope web01 role=web
#- /hiera.yaml
version: 5
defaults: {data_hash: hocon_data}
hierarchy: [{name: Role, path: "%{role}.conf"}, {name: Common, path: common.conf}]
#- /data/web.conf
"profile::web" { port = 8080 }
lookup_options { "profile::web" { merge = deep } }
#- /data/common.conf
shared = ${names.main}
names { main = oslo }
"profile::$0web" { port = 80, host = ${shared}".example.net" }
"profile::web".note = "for %{role}"
"#,
        expect![[r#"
            <"profile::web">
            profile::web
            node web01
            merged deep from 2 files: Role data/web.conf:1, Common data/common.conf:3 · set in data/web.conf:2

              note: for web           # Common
              port: 8080              # Role
              host: oslo.example.net  # Common
        "#]],
    );
}

#[test]
fn a_key_that_is_merged_in_is_the_one_that_it_is_written_in() {
    check(
        "
x: &x {
mer$0ged: 1}
<<: *x
",
        expect![[r#"
            <merged>
            x.merged
            for any node, as none is known
            from Common data/common.yaml:2

              1
        "#]],
    );
}
