//! Definitions in small workspaces, in the order in which they are offered.

use expect_test::{Expect, expect};

use super::definition;
use crate::fixture::Fixture;
use crate::text::{Encoding, Span};

/// The text that was asked about, and `path:line:column text` of each target; `-` where there is
/// none.
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let position = fixture.position();
    let Some(found) = definition(&fixture.snapshot, position) else {
        expected.assert_eq("-");
        return;
    };
    let mut lines = format!("<{}>\n", fixture.text_at(Span::in_file(position.file, found.origin)));
    for target in &found.targets {
        let file = fixture.snapshot.file(&target.path).expect("targets are files of the workspace");
        let at = file.text().expect("a text").line_col(target.range.start, Encoding::Utf32);
        let text = fixture.text_at(Span::in_file(file.id, target.range));
        lines.push_str(&format!("{}:{}:{} {text}\n", target.path, at.line + 1, at.column + 1));
    }
    expected.assert_eq(&lines);
}

#[test]
fn the_winner_comes_first() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
motd: hello
#- /data/roles/web.yaml
motd: role
#- /data/roles/db.yaml
motd: other
#- /data/common.yaml
mo$0td: welcome
"#,
        expect![[r#"
            <motd>
            /data/nodes/web01.yaml:1:1 motd
            /data/roles/web.yaml:1:1 motd
            /data/common.yaml:1:1 motd
            /data/roles/db.yaml:1:1 motd
        "#]],
    );
}

#[test]
fn without_a_node_the_file_itself_and_all_others() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
motd: hello
#- /data/common.yaml
mo$0td: welcome
"#,
        expect![[r#"
            <motd>
            /data/common.yaml:1:1 motd
            /data/nodes/web01.yaml:1:1 motd
        "#]],
    );
}

#[test]
fn a_leaf_from_another_level() {
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
            /data/roles/web.yaml:1:25 shell
            /data/common.yaml:2:17 shell
        "#]],
    );
}

#[test]
fn a_member_of_a_merged_hash() {
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
            /data/roles/web.yaml:1:9 grace
            /data/common.yaml:2:9 grace
        "#]],
    );
}

#[test]
fn a_lookup_token() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
a: "x %{lookup('b$0b')}"
#- /data/roles/web.yaml
bb: 1
#- /data/common.yaml
bb: 2
"#,
        expect![[r#"
            <bb>
            /data/roles/web.yaml:1:1 bb
            /data/common.yaml:1:1 bb
        "#]],
    );
}

#[test]
fn a_subkey_of_a_token() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "x %{lookup('bb.$0c.1')}"
bb: {c: [1, 2]}
"#,
        expect![[r#"
            <bb.c.1>
            /data/common.yaml:2:13 2
        "#]],
    );
}

#[test]
fn an_alias_token() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{alias('b$0b')}"
bb: [1]
"#,
        expect![[r#"
            <bb>
            /data/common.yaml:2:1 bb
        "#]],
    );
}

#[test]
fn a_token_of_nothing() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{lookup('no$0pe')}"
"#,
        expect!["-"],
    );
}

#[test]
fn a_variable() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: "%{ro$0le}"
"#,
        expect!["-"],
    );
}

#[test]
fn a_yaml_alias_leads_to_its_anchor() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
a: &x {b: 1}
c: *$0x
",
        expect![[r#"
            <*x>
            /data/common.yaml:1:4 &x
        "#]],
    );
}

#[test]
fn a_location_leads_to_its_files() {
    check(
        r#"
#- scope web01 role=web
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Role, path: "roles/%{ro$0le}.yaml"}
#- /data/roles/db.yaml
a: 1
#- /data/roles/web.yaml
a: 1
"#,
        expect![[r#"
            <"roles/%{role}.yaml">
            /data/roles/web.yaml:1:1 
            /data/roles/db.yaml:1:1 
        "#]],
    );
}

#[test]
fn a_location_without_files() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Role, path: "roles/%{ro$0le}.yaml"}
"#,
        expect!["-"],
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
            /data/common.yaml:1:1 ntp::servers
            /modules/ntp/data/defaults.yaml:1:1 ntp::servers
        "#]],
    );
}

#[test]
fn an_element_of_a_list() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
ports: [80, 44$03]
",
        expect![[r#"
            <443>
            /data/common.yaml:1:13 443
        "#]],
    );
}

#[test]
fn a_value_that_comes_through_an_alias() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
a: &x {b: 1}
c: *x
d: "%{lookup('c.$0b')}"
"#,
        expect![[r#"
            <c.b>
            /data/common.yaml:1:8 b
        "#]],
    );
}

#[test]
fn keys_of_hocon() {
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
"profile::web" { port = 80, host = ${shared}".example.net" }
"profile::web".note = "%{lookup('pro$0file::web.host')}"
"#,
        expect![[r#"
            <profile::web.host>
            /data/common.conf:3:29 host
        "#]],
    );
}

#[test]
fn a_location_of_version_3_names_the_files_of_every_backend() {
    check(
        r#"
#- /.hiera-ls.yaml
globalHieraConfig: /hiera.yaml
#- /hiera.yaml
:backends: [yaml, json]
:hierarchy: [com$0mon]
#- /hieradata/common.yaml
a: 1
#- /hieradata/common.json
{"a": 2}
"#,
        expect![[r#"
            <common>
            /hieradata/common.json:1:1 
            /hieradata/common.yaml:1:1 
        "#]],
    );
}

#[test]
fn a_function_of_a_level_leads_to_its_source() {
    let text = |function: &str| {
        format!(
            "
#- /hiera.yaml
version: 5
hierarchy:
  - {{name: Ruby, lookup_key: {function}}}
  - {{name: Puppet, data_hash: own}}
#- /modules/store/lib/puppet/functions/store/find.rb
# Finds a key.
Puppet::Functions.create_function(:'store::find') {{ }}
#- /modules/store/lib/puppet/functions/odd.rb
Puppet::Functions.create_function(NAME) {{ }}
#- /functions/own.pp
function own() {{ }}
"
        )
    };
    check(
        &text("sto$0re::find"),
        expect![[r#"
        <store::find>
        /modules/store/lib/puppet/functions/store/find.rb:2:35 :'store::find'
    "#]],
    );
    check(
        &text("od$0d"),
        expect![[r#"
        <odd>
        /modules/store/lib/puppet/functions/odd.rb:1:1 
    "#]],
    );
    check(&text("none$0"), expect!["-"]);
    check(
        &text("none").replace("own}", "o$0wn}"),
        expect![[r#"
        <own>
        /functions/own.pp:1:10 own
    "#]],
    );
}
