//! Definitions in small workspaces, in the order in which they are offered.

use expect_test::{Expect, expect};

use super::{find_definitions, find_implementations};
use crate::fixture::Fixture;
use crate::text::{Encoding, Span};

/// The text that was asked about, and `path:line:column text` of each target; `-` where there is
/// none.
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let position = fixture.position();
    let Some(found) = find_definitions(&fixture.snapshot, position) else {
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

const CODE: &str = "
#- /hiera.yaml
version: 5
hierarchy: [{name: Common, path: common.yaml}]
#- /modules/web/manifests/init.pp
class web (Web::Port $port = 80, $tls = lookup('web::tls'), $none = 1) inherits ::web::params {
  notice($port)
}
#- /modules/web/manifests/params.pp
class web::params { }
#- /modules/web/types/port.pp
type Web::Port = Variant[Web::Number, String]
#- /modules/web/types/number.pp
type Web::Number = Integer[0, 65535]
#- /manifests/site.pp
include web
class { 'web': port => 1 }
lookup('classes').include
#- /data/common.yaml
web::port: 443
web::tls: true
classes: ['::web', web::params]
other: [web, web::params]
role: web::params
";

fn in_code(from: &str, to: &str) -> String {
    assert!(CODE.contains(from));
    CODE.replacen(from, to, 1)
}

#[test]
fn a_key_leads_to_the_parameter_that_takes_it() {
    check(
        &in_code("web::port: 443", "web::po$0rt: 443"),
        expect![[r#"
            <web::port>
            /modules/web/manifests/init.pp:1:23 port
        "#]],
    );
}

#[test]
fn a_class_in_data_leads_to_its_declaration() {
    check(
        &in_code("'::web'", "'::w$0eb'"),
        expect![[r#"
        <'::web'>
        /modules/web/manifests/init.pp:1:7 web
    "#]],
    );
    check(
        &in_code("role: web::params", "role: web::par$0ams"),
        expect![[r#"
        <web::params>
        /modules/web/manifests/params.pp:1:7 web::params
    "#]],
    );
    // Code does not include the classes that the key `other` names.
    check(
        &in_code("other: [web,", "other: [w$0eb,"),
        expect![[r#"
        <web>
        /data/common.yaml:4:9 web
    "#]],
    );
    check(
        &in_code("other: [web, web", "other: [web, w$0eb"),
        expect![[r#"
        <web::params>
        /modules/web/manifests/params.pp:1:7 web::params
    "#]],
    );
    // The key `web::params` of a hash is not a value.
    check(
        &in_code("web::tls: true", "web::params: {we$0b::params: 1}"),
        expect![[r#"
        <web::params>
        /data/common.yaml:2:15 web::params
    "#]],
    );
}

#[test]
fn a_call_leads_to_data_and_a_variable_to_its_parameter() {
    check(
        &in_code("lookup('web::tls')", "lookup('web::t$0ls')"),
        expect![[r#"
        <web::tls>
        /data/common.yaml:2:1 web::tls
    "#]],
    );
    check(
        &in_code("Port $port", "Port $po$0rt"),
        expect![[r#"
        <port>
        /data/common.yaml:1:1 web::port
    "#]],
    );
    check(
        &in_code("notice($port)", "notice($po$0rt)"),
        expect![[r#"
        <port>
        /modules/web/manifests/init.pp:1:23 port
        /data/common.yaml:1:1 web::port
    "#]],
    );
    check(
        &in_code("port => 1", "po$0rt => 1"),
        expect![[r#"
        <port>
        /modules/web/manifests/init.pp:1:23 port
        /data/common.yaml:1:1 web::port
    "#]],
    );
    check(&in_code("$none = 1", "$no$0ne = 1"), expect![["-"]]);
}

#[test]
fn classes_and_aliases_in_code_lead_to_their_declarations() {
    check(
        &in_code("include web", "include w$0eb"),
        expect![[r#"
        <web>
        /modules/web/manifests/init.pp:1:7 web
    "#]],
    );
    check(
        &in_code("inherits ::web::params", "inherits ::web::pa$0rams"),
        expect![[r#"
        <::web::params>
        /modules/web/manifests/params.pp:1:7 web::params
    "#]],
    );
    check(
        &in_code("(Web::Port", "(Web::Po$0rt"),
        expect![[r#"
        <Web::Port>
        /modules/web/types/port.pp:1:6 Web::Port
    "#]],
    );
    check(
        &in_code("Variant[Web::Number", "Variant[Web::Num$0ber"),
        expect![[r#"
        <Web::Number>
        /modules/web/types/number.pp:1:6 Web::Number
    "#]],
    );
    check(&in_code("(Web::Port", "(Web::Nope$0"), expect![["-"]]);
}

#[test]
fn letters_of_several_bytes_before_a_word_of_a_type_are_no_part_of_the_word() {
    let manifest = |types: &str| {
        format!(
            "#- /hiera.yaml\nversion: 5\n#- /environment.conf\n#- /modules/m/manifests/init.pp\n{types}"
        )
    };
    check(&manifest("class m (Enum['Bodø$0', 'Tromsø'] $a) {}\n"), expect!["-"]);
    check(&manifest("class m (Enum['Bodø', 'Tromsø😀$0'] $a) {}\n"), expect!["-"]);
    check(&manifest("class m (Enum['ø'$0] $a) {}\n"), expect!["-"]);
}

/// Levels of nodes, sites with roles, sites, roles and all nodes; each site has a prefix.
const SITES: &str = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Nodes, path: 'nodes/%{site}/%{trusted.certname}.yaml'}
- {name: Site roles, path: '%{site}/roles/%{role}.yaml'}
- {name: Site, path: '%{site}/common.yaml'}
- {name: Common roles, path: 'common/roles/%{role}.yaml'}
- {name: Common, path: common/common.yaml}
#- /data/nodes/west/west-api-01.yaml
x: 1
#- /data/nodes/west/west-db-01.yaml
agent::tags: [own]
#- /data/nodes/east/east-db-01.yaml
x: 1
#- /data/east/common.yaml
x: 1
net_prefix: '10.1.0'
#- /data/west/common.yaml
net_prefix: '10.2.0'
#- /data/common/common.yaml
net_prefix: '10.0.0'
agent::tags: [common]
lookup_options: {agent::tags: {merge: unique}}
#- /data/common/roles/db.yaml
agent::tags: [db]
#- /data/nodes/east/east-api-01.yaml
net::addr: \"%{lookup('net_prefix')}.7\"
";

#[test]
fn a_token_leads_to_the_place_that_its_value_comes_from() {
    let text = SITES.replace("lookup('net_prefix", "lookup('net_pre$0fix");
    check(
        &text,
        expect![[r#"
        <net_prefix>
        /data/east/common.yaml:2:1 net_prefix
    "#]],
    );
    let fixture = Fixture::new(&text);
    let all = find_implementations(&fixture.snapshot, fixture.position()).expect("definitions");
    assert_eq!(all.targets.len(), 3);
}

#[test]
fn a_merged_key_leads_to_all_places_that_are_merged() {
    check(
        &SITES.replace("agent::tags: [own]", "agent::ta$0gs: [own]"),
        expect![[r#"
            <agent::tags>
            /data/nodes/west/west-db-01.yaml:1:1 agent::tags
            /data/common/roles/db.yaml:1:1 agent::tags
            /data/common/common.yaml:2:1 agent::tags
        "#]],
    );
}

/// Roles with a slash in their names.
const NESTED_ROLES: &str = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Role, path: 'role/%{role}.yaml'}
- {name: Common, path: common.yaml}
#- /data/role/db.yaml
k: 2
#- /data/role/web/edge.yaml
k$0: 3
#- /data/common.yaml
k: 1
";

#[test]
fn a_file_of_a_role_with_a_slash_is_the_place_of_its_own_value() {
    check(
        NESTED_ROLES,
        expect![[r#"
            <k>
            /data/role/web/edge.yaml:1:1 k
        "#]],
    );
}
