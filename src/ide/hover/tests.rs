//! Hovers over small workspaces, as plain text and, where it matters, as Markdown.

use expect_test::{Expect, expect};

use super::{HoverConfig, Link, hover};
use crate::fixture::Fixture;
use crate::text::{FilePath, Span};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&hovered(text, false, None));
}

fn check_markdown(text: &str, expected: Expect) {
    let link = |path: &FilePath, line: u32| format!("file://{path}#L{line}");
    expected.assert_eq(&hovered(text, true, Some(&link)));
}

/// The hover at the cursor below the text that it is about; `-` where there is none.
fn hovered(text: &str, markdown: bool, link: Option<Link<'_>>) -> String {
    let fixture = Fixture::new(text);
    let config = HoverConfig { markdown, link, max_value_lines: 10, max_locations: 5 };
    let position = fixture.position();
    match hover(&fixture.snapshot, position, &config) {
        Some(hover) => {
            let about = fixture.text_at(Span::in_file(position.file, hover.range));
            format!("<{about}>\n{}", hover.text)
        }
        None => "-".to_owned(),
    }
}

#[test]
fn merge_of_three_levels() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
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

              grace:
                shell: zsh
                uid: 2
              linus:
                uid: 3
              ada:
                uid: 1

            merged deep, set in data/common.yaml:1

            - Node data/nodes/web01.yaml:1: {"ada":{"uid":1}}
            - Role data/roles/web.yaml:1: {"grace":{"uid":2,"shell":"zsh"},"ada":{"uid":9}}
            - Common data/common.yaml:2: {"grace":{"shell":"bash"},"linus":{"uid":3}}
        "#]],
    );
}

#[test]
fn a_subkey_of_a_merged_value() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
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

              shell: zsh
              uid: 2

            merged deep, set in data/common.yaml:1

            - Role data/roles/web.yaml:1: {"uid":2,"shell":"zsh"}
            - Common data/common.yaml:2: {"shell":"bash"}
        "#]],
    );
}

#[test]
fn a_leaf_of_a_merged_value() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
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

              zsh

            merged deep, set in data/common.yaml:1

            - Role data/roles/web.yaml:1: "zsh"
            - Common data/common.yaml:2: "bash"
        "#]],
    );
}

#[test]
fn first_found_wins() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/nodes/web01.yaml
motd: hello
#- /data/common.yaml
mo$0td: welcome
"#,
        expect![[r#"
            <motd>
            motd
            node web01

              hello

            first value found

            - Node data/nodes/web01.yaml:1: "hello"
            - Common data/common.yaml:1: "welcome" (overridden)
        "#]],
    );
}

#[test]
fn an_element_of_a_list() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/common.yaml
ports: [80, 44$03]
"#,
        expect![[r#"
            <443>
            ports.1
            node web01

              443

            first value found

            - Common data/common.yaml:1: 443

            2 locations without a file
        "#]],
    );
}

#[test]
fn an_element_of_a_merged_list() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
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

              443

            merged unique, set by the pattern ^por in data/common.yaml:1

            - Common data/common.yaml:2: 443

            1 location without a file
        "#]],
    );
}

#[test]
fn an_element_that_is_overridden() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
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

            first value found

            - Common data/common.yaml:1: 443 (overridden)
        "#]],
    );
}

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

            first value found

            - Common data/common.yaml:2: {"c":1}
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

            first value found

            - Common data/common.yaml:2: 1
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

            first value found

            - Common data/common.yaml:2: [1,"two"]
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

            first value found
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

              web on Debian, there

            first value found

            - Common data/common.yaml:1: "web on Debian, there"
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
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/nodes/web01.yaml
a: "%{ro$0le}"
"#,
        expect![[r#"
            <role>
            %{role}
            for nodes with trusted.certname = web01

            unknown here: this file's path does not tell it
        "#]],
    );
}

#[test]
fn a_variable_that_the_path_tells() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
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
fn an_inferred_scope_and_what_could_override() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/nodes/web01.yaml
motd: hello
#- /data/nodes/web02.yaml
motd: hi
#- /data/roles/web.yaml
mo$0td: role
#- /data/common.yaml
motd: welcome
"#,
        expect![[r#"
            <motd>
            motd
            for nodes with role = web

              role

            first value found

            - Role data/roles/web.yaml:1: "role"
            - Common data/common.yaml:1: "welcome" (overridden)

            could be overridden in:

            - data/nodes/web01.yaml:1 where trusted.certname = web01
            - data/nodes/web02.yaml:1 where trusted.certname = web02
        "#]],
    );
}

#[test]
fn the_common_level_for_any_node() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/nodes/web01.yaml
motd: hello
#- /data/common.yaml
mo$0td: welcome
"#,
        expect![[r#"
            <motd>
            motd
            for any node

              welcome

            first value found

            - Common data/common.yaml:1: "welcome"

            could be overridden in:

            - data/nodes/web01.yaml:1 where trusted.certname = web01
        "#]],
    );
}

#[test]
fn a_node_that_does_not_see_the_file() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/roles/db.yaml
mo$0td: db
#- /data/common.yaml
motd: welcome
"#,
        expect![[r#"
            <motd>
            motd
            node web01, which does not read this file

              welcome

            first value found

            - Common data/common.yaml:1: "welcome"

            2 locations without a file
        "#]],
    );
}

#[test]
fn hocon_tells_where_each_part_is_written() {
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

              oslo.example.net

            merged deep, set in data/web.conf:2

            - Common data/common.conf:3: "oslo.example.net"
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

              note: for web
              port: 8080
              host: oslo.example.net

            merged deep, set in data/web.conf:2

            - Role data/web.conf:1: {"port":8080}
            - Common data/common.conf:3: {"note":"for web","port":80,"host":"oslo.example.net"}
        "#]],
    );
}

#[test]
fn encrypted_values_are_masked() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
pass$0word: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAxggEhMIIBHQ==]
",
        expect![[r#"
            <password>
            password
            node web01

              ENC[encrypted]

            first value found

            - Common data/common.yaml:1: "ENC[encrypted]"
        "#]],
    );
}

#[test]
fn encrypted_values_are_masked_on_one_line() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/nodes/web01.yaml
db: {password: "ENC[PKCS7,MIIBeQYJKoZI]"}
#- /data/common.yaml
d$0b: {password: x}
"#,
        expect![[r#"
            <db>
            db
            node web01

              password: ENC[encrypted]

            first value found

            - Node data/nodes/web01.yaml:1: {"password":"ENC[encrypted]"}
            - Common data/common.yaml:1: {"password":"x"} (overridden)
        "#]],
    );
}

/// A conversion that only Puppet can do is told beside the key that it belongs to.
#[test]
fn values_that_are_not_converted_here() {
    let data = |hovered: &str| {
        let data = "
#- scope web01 role=web facts.os.family=Debian
lookup_options: {inner: {convert_to: 'Object[{}]'}}
inner: 1
outer: \"%{alias('inner')}\"
";
        data.replace(&format!("\n{hovered}:"), &format!("\n{}$0{}:", &hovered[..1], &hovered[1..]))
    };
    check(
        &data("inner"),
        expect![[r#"
        <inner>
        inner
        node web01

          1

        first value found, converted to Object[{}] (not shown here)

        - Common data/common.yaml:2: 1
    "#]],
    );
    check(
        &data("outer"),
        expect![[r#"
        <outer>
        outer
        node web01

          1

        first value found

        inner is converted to Object[{}] (not shown here)

        - Common data/common.yaml:3: 1
    "#]],
    );
}

#[test]
fn sensitive_values_are_masked() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
lookup_options: {secret: {convert_to: Sensitive}}
sec$0ret: geheim
",
        expect![[r#"
            <secret>
            secret
            node web01

              Sensitive [value redacted]

            first value found, converted to Sensitive

            - Common data/common.yaml:2: Sensitive [value redacted]
        "#]],
    );
}

#[test]
fn a_token_of_a_sensitive_value() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
lookup_options: {secret: {convert_to: Sensitive}}
secret: geheim
url: "https://x:%{lookup('sec$0ret')}@y"
"#,
        expect![[r#"
            <secret>
            secret
            node web01

              Sensitive [value redacted]

            first value found, converted to Sensitive

            - Common data/common.yaml:2: Sensitive [value redacted]
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
        "#]],
    );
}

#[test]
fn a_merge_that_fails() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
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

            The lookup fails: The first element of the merge has wrong type, expects a Hash value, got String

            merged hash, set in data/common.yaml:1

            - Node data/nodes/web01.yaml:1: "ada"
            - Common data/common.yaml:2: {"a":1}

            1 location without a file
        "#]],
    );
}

#[test]
fn lookup_options_themselves() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
lookup_op$0tions:
  users: {merge: deep}
users: 1
",
        expect![[r#"
            <lookup_options>
            lookup_options

            How keys are merged and converted: literal keys, and patterns that start with `^`. A lookup does not return it.
        "#]],
    );
}

#[test]
fn an_entry_of_lookup_options() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
lookup_options:
  "^us$0ers": {merge: deep}
users: 1
users2: 2
"#,
        expect![[r#"
            <"^users">
            lookup_options

            ^users serves 2 known keys

            - users
            - users2
        "#]],
    );
}

#[test]
fn a_location_of_hiera_yaml() {
    check(
        r#"
#- scope web01 role=web
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Role, path: "roles/%{ro$0le}.yaml"}
#- /data/roles/web.yaml
a: 1
#- /data/roles/db.yaml
a: 1
"#,
        expect![[r#"
            <"roles/%{role}.yaml">
            roles/%{role}.yaml of level Role

            2 existing files fit

            for node web01:

            - data/roles/web.yaml:1
        "#]],
    );
}

#[test]
fn a_glob_of_hiera_yaml() {
    check(
        r#"
#- scope web01 role=web
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Role, glob: "roles/*$0.yaml"}
#- /data/roles/web.yaml
a: 1
#- /data/roles/db.yaml
a: 1
"#,
        expect![[r#"
            <"roles/*.yaml">
            roles/*.yaml of level Role

            2 existing files fit

            for node web01:

            - data/roles/db.yaml:1
            - data/roles/web.yaml:1
        "#]],
    );
}

#[test]
fn a_location_without_a_node() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/$0%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/roles/web.yaml
a: 1
"#,
        expect![[r#"
            <"roles/%{role}.yaml">
            roles/%{role}.yaml of level Role

            1 existing file fits

            - data/roles/web.yaml:1
        "#]],
    );
}

#[test]
fn module_data() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
#- /modules/ntp/hiera.yaml
version: 5
hierarchy: [{name: Defaults, path: defaults.yaml}]
#- /modules/ntp/data/defaults.yaml
ntp::ser$0vers: [pool.example.net]
#- /data/common.yaml
ntp::servers: [ntp.example.net]
",
        expect![[r#"
            <ntp::servers>
            ntp::servers
            node web01

              - ntp.example.net

            first value found

            - Common data/common.yaml:1: ["ntp.example.net"]
            - Defaults (module ntp) modules/ntp/data/defaults.yaml:1: ["pool.example.net"] (overridden)
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
              # …

            first value found

            - Common data/common.yaml:1: [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29…
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

              b: 1

            first value found

            - Common data/common.yaml:2: {"b":1}
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

              port: 1

            first value found

            - Common data/common.yaml:2: {"port":1}
        "#]],
    );
}

#[test]
fn markdown_of_a_merge() {
    check_markdown(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Common, path: common.yaml}
#- /data/nodes/web01.yaml
users: {ada: {uid: 1}}
#- /data/roles/web.yaml
users: {grace: {uid: 2, shell: zsh}, ada: {uid: 9}}
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
us$0ers: {grace: {shell: bash}}
"#,
        expect![[r#"
            <users>
            **users**  
            node `web01`

            ```yaml
            grace:
              shell: zsh
              uid: 2
            ada:
              uid: 1
            ```

            merged `deep`, set in [data/common.yaml:1](file:///data/common.yaml#L1)

            - **Node** [data/nodes/web01.yaml:1](file:///data/nodes/web01.yaml#L1): `{"ada":{"uid":1}}`
            - **Role** [data/roles/web.yaml:1](file:///data/roles/web.yaml#L1): `{"grace":{"uid":2,"shell":"zsh"},"ada":{"uid":9}}`
            - **Common** [data/common.yaml:2](file:///data/common.yaml#L2): `{"grace":{"shell":"bash"}}`
        "#]],
    );
}

/// Some clients hide addresses and wrap lines as if they did not, and show each backslash.
#[test]
fn markdown_without_links() {
    let text = r#"
#- scope web01 role=web facts.os.family=Debian
#- /data/common.yaml
lookup_options: {my_users: {merge: {strategy: deep, knockout_prefix: "--"}}}
my_us$0ers: {"*ada_l*": 1}
"#;
    let expected = expect![[r#"
        <my_users>
        **my_users**  
        node `web01`

        ```yaml
        '*ada_l*': 1
        ```

        merged `deep` (knockout_prefix '--'), set in data/common.yaml:1

        - **Common** data/common.yaml:2: `{"*ada_l*":1}`
    "#]];
    expected.assert_eq(&hovered(text, true, None));
}

#[test]
fn markdown_escapes_hostile_names() {
    check_markdown(
        r#"
#- scope web01 role=web facts.os.family=Debian
"[x](http://evil) <b>*$0": "```"
"#,
        expect![[r#"
            <"[x](http://evil) <b>*">
            **\[x\](http://evil) \<b\>\***  
            node `web01`

            ````yaml
            '```'
            ````

            first value found

            - **Common** [data/common.yaml:1](file:///data/common.yaml#L1): ````"```"````
        "#]],
    );
}

#[test]
fn a_location_of_version_3_is_that_of_every_backend() {
    check(
        "
#- /.hiera-ls.yaml
globalHieraConfig: /hiera.yaml
#- /hiera.yaml
:backends: [yaml, json]
:hierarchy:
  - \"%{facts.os}\"
  - com$0mon
#- /hieradata/common.yaml
a: 1
#- /hieradata/common.json
{\"a\": 2}
",
        expect![[r#"
            <common>
            common of levels yaml, json

            2 existing files fit

            - hieradata/common.json:1
            - hieradata/common.yaml:1
        "#]],
    );
}

#[test]
fn a_value_below_a_config_of_version_3() {
    check(
        "
#- scope web01 role=web
#- /.hiera-ls.yaml
globalHieraConfig: /hiera.yaml
#- /hiera.yaml
:backends: [yaml, custom]
:hierarchy: [\"%{role}\", common]
#- /hieradata/web.yaml
a: \"%{lookup('b')}\"
#- /hieradata/common.yaml
a$0: 1
b: 2
",
        expect![[r#"
            <a>
            a
            node web01

              '2'

            first value found

            - yaml (global) hieradata/web.yaml:1: "2"
            - yaml (global) hieradata/common.yaml:1: 1 (overridden)
        "#]],
    );
}

#[test]
fn a_level_that_a_function_reads_says_so() {
    check(
        "
#- scope web01 role=web
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Vault, lookup_key: vault::lookup, uri: \"https://vault/\"}
  - {name: Dug, data_dig: my::dig}
  - {name: Common, path: common.yaml}
#- /data/common.yaml
a$0: 1
",
        expect![[r#"
            <a>
            a
            node web01

              1

            first value found

            - Vault: the backend vault::lookup cannot be evaluated here
            - Dug: the backend my::dig cannot be evaluated here
            - Common data/common.yaml:1: 1
        "#]],
    );
}
