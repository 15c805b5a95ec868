//! The audience of a value: a node, the nodes with the variables of a path, any node.

use expect_test::expect;

use super::{check, hovered};
use crate::text::FilePath;

#[test]
fn an_inferred_scope_lists_possible_overrides() {
    check(
        r#"
#- levels Node Role Common
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
            from Role data/roles/web.yaml:1

              role

            - overrides Common data/common.yaml:1: welcome

            could be overridden by data/nodes/web01.yaml:1 where trusted.certname = web01, data/nodes/web02.yaml:1 where trusted.certname = web02
        "#]],
    );
}

#[test]
fn the_common_level_for_any_node() {
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
            motd
            in the only known node web01, and in others:

            - hello in web01 ← Node data/nodes/web01.yaml:1
            - welcome in other nodes

            first value found
        "#]],
    );
}

#[test]
fn a_node_that_does_not_see_the_file() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/roles/db.yaml
mo$0td: db
#- /data/common.yaml
motd: welcome
"#,
        expect![[r#"
            <motd>
            motd
            for nodes with role = db
            from Role data/roles/db.yaml:1

              db

            - overrides Common data/common.yaml:1: welcome

            web01, which you chose, does not read this file
        "#]],
    );
}

const FLEET: &str = r#"
#- levels Node Role Common
#- node web01 trusted.certname=web01 role=web
#- node web02 trusted.certname=web02 role=web
#- node web03 trusted.certname=web03 role=web
#- node db01 trusted.certname=db01 role=db
#- /data/nodes/web02.yaml
servers: [192.0.2.53]
#- /data/roles/web.yaml
motd: web
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
servers: [192.0.2.53, 192.0.2.54]
motd: welcome
same: "%{role}"
"#;

#[test]
fn one_value_for_all_known_nodes() {
    check(
        &(FLEET.to_owned() + "plai$0n: 1\n"),
        expect![[r#"
            <plain>
            plain
            in all 4 known nodes
            from Common data/common.yaml:5

              1
        "#]],
    );
}

#[test]
fn a_value_for_each_group_of_nodes() {
    check(
        &FLEET.replace("\nservers: [192.0.2.53, ", "\nserv$0ers: [192.0.2.53, "),
        expect![[r#"
            <servers>
            servers
            in all 4 known nodes:

            - [192.0.2.53, 192.0.2.54] in 3 nodes: web01, web03, db01
            - [192.0.2.53] in web02 ← Node data/nodes/web02.yaml:1

            first value found
        "#]],
    );
    check(
        &FLEET.replace("same", "sa$0me"),
        expect![[r#"
        <same>
        same
        in all 4 known nodes:

        - web in 3 nodes: web01, web02, web03
        - db in db01

        first value found
    "#]],
    );
}

#[test]
fn a_file_that_some_nodes_read() {
    check(
        &FLEET.replace("motd: web\n", "mo$0td: web\n"),
        expect![[r#"
            <motd>
            motd
            in the 3 known nodes that read this file (role = web)
            from Role data/roles/web.yaml:1

              web

            - overrides Common data/common.yaml:3: welcome
        "#]],
    );
}

/// A value that is long in most nodes is shown in lines, the others beside it.
#[test]
fn a_long_value_that_differs() {
    check(
        &format!(
            "{}us$0ers: {{ada: {{uid: 1, shell: zsh}}, grace: {{uid: 2, shell: bash}}, linus: {{uid: 3}}}}\n",
            FLEET.replace("servers: [192.0.2.53]", "users: {ada: {uid: 9}}")
        ),
        expect![[r#"
            <users>
            users
            in all 4 known nodes:

            3 nodes: web01, web03, db01
            from Common data/common.yaml:5 · merge deep · set in data/common.yaml:1

              ada: {uid: 1, shell: zsh}
              grace: {uid: 2, shell: bash}
              linus: {uid: 3}

            - in web02 · differs in ada.uid ← Node data/nodes/web02.yaml:1
        "#]],
    );
}

#[test]
fn a_variable_that_differs_between_nodes() {
    check(
        &FLEET.replace("%{role}", "%{ro$0le}"),
        expect![[r#"
        <role>
        %{role}
        for any node

        differs between the known nodes that read this file:

        - web in 3 nodes
        - db in 1 node
    "#]],
    );
}

#[test]
fn a_variable_takes_no_slashes_where_another_location_names_the_file_without() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
- {name: Role, path: 'site/%{site}/role/%{role}.yaml'}
- {name: Site, path: 'site/%{site}.yaml'}
- {name: Common, path: common.yaml}
#- /data/site/x.yaml
a: 1
#- /data/site/x/role/y.yaml
a: 2
#- /data/common.yaml
$0a: 3
"#,
        expect![[r#"
            <a>
            a
            by kind of node:

            - 2 where site = x and role = y ← Role data/site/x/role/y.yaml:1
            - 1 otherwise, where site = x ← Site data/site/x.yaml:1
            - 3 otherwise

            role, site are unknown: the values are those in the names of files

            first value found
        "#]],
    );
}

#[test]
fn an_environment_in_the_path_is_named() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
- {name: Environment, path: '%{environment}.yaml'}
- {name: Common, path: common.yaml}
#- /data/staging.yaml
$0a: 1
#- /data/common.yaml
a: 2
"#,
        expect![[r#"
            <a>
            a
            for nodes with environment = staging
            from Environment data/staging.yaml:1

              1

            - overrides Common data/common.yaml:1: 2
        "#]],
    );
}

#[test]
fn a_file_that_two_locations_name_belongs_to_the_most_literal_one() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Role and system, path: '%{role}-%{facts.os.name}.yaml'}
- {name: Role, path: '%{role}.yaml'}
- {name: Common, path: common/all.yaml}
#- /data/web-Debian.yaml
$0a: 1
#- /data/common/all.yaml
a: 2
",
        expect![[r#"
            <a>
            a
            for nodes with facts.os.name = Debian, role = web
            from Role and system data/web-Debian.yaml:1

              1

            - overrides Common data/common/all.yaml:1: 2
        "#]],
    );
}

/// Files that unknown variables decide on are counted in the words of the data.
#[test]
fn what_could_override_is_counted_by_nodes_and_variables() {
    let files = |folder: &str, names: &[&str]| -> String {
        names.iter().map(|name| format!("#- /data/{folder}/{name}.yaml\nmotd: {name}\n")).collect()
    };
    let text = format!(
        "
#- /.hiera-ls.yaml
nodes: {{infer: []}}
#- /hiera.yaml
version: 5
hierarchy:
  - {{name: Node, path: 'nodes/%{{trusted.certname}}.yaml'}}
  - {{name: Role, path: 'roles/%{{role}}.yaml'}}
  - {{name: System, path: 'os/%{{facts.os.name}}.yaml'}}
  - {{name: Release, path: 'release/%{{facts.os.name}}-%{{facts.os.release.major}}.yaml'}}
  - {{name: Site, path: 'site/%{{site}}.yaml'}}
  - {{name: Common, path: common.yaml}}
{}{}{}{}{}
#- /data/common.yaml
mo$0td: welcome
",
        files("nodes", &["a.x", "b.x", "c.x", "d.x", "e.x", "f.x"]),
        files("roles", &["api", "db", "web"]),
        files("os", &["Debian", "RedHat", "Suse"]),
        files("release", &["Debian-12", "RedHat-8", "RedHat-9"]),
        files("site", &["west"]),
    );
    check(
        &text,
        expect![[r#"
            <motd>
            motd
            for any node, as none is known
            from Common data/common.yaml:1

              welcome

            could be overridden by 6 nodes (a.x, b.x, c.x, d.x, e.x, … and 1 more), 3 files by facts.os.name (Debian, RedHat, Suse), 3 files by facts.os.name, facts.os.release.major (data/release/Debian-12.yaml:1, data/release/RedHat-8.yaml:1, data/release/RedHat-9.yaml:1), 3 roles (api, db, web), data/site/west.yaml:1 where site = west
        "#]],
    );
    let linked = |path: &FilePath, line: u32| format!("file://{path}#L{line}");
    let text = hovered(&text, true, Some(&linked));
    let line = text.lines().find(|line| line.starts_with("could be")).unwrap_or_default();
    assert!(line.contains("3 roles ([api](file:///data/roles/api.yaml#L1), "), "{line}");
}

/// The file of a known node that does not read the file of the hover changes nothing for those that
/// do.
#[test]
fn files_of_known_nodes_that_read_other_files_are_left_out() {
    check(
        "
#- node db01.x trusted.certname=db01.x role=db
#- levels Node Role Common
#- /data/nodes/db01.x.yaml
motd: own
#- /data/roles/web.yaml
mo$0td: role
#- /data/roles/db.yaml
motd: db
#- /data/common.yaml
motd: welcome
",
        expect![[r#"
        <motd>
        motd
        for nodes with role = web
        from Role data/roles/web.yaml:1

          role

        - overrides Common data/common.yaml:1: welcome
    "#]],
    );
}

/// Nodes with one value may differ in the files that could change it: those of all of them count.
#[test]
fn what_could_override_counts_for_each_of_several_nodes() {
    check(
        "
#- /.hiera-ls.yaml
nodes: {infer: [fileNames]}
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: 'nodes/%{site}/%{trusted.certname}.yaml'}
  - {name: Zone, path: 'zones/%{site}/%{zone}.yaml'}
  - {name: Common, path: common.yaml}
#- /data/nodes/east/a.x.yaml
other: 1
#- /data/nodes/west/b.x.yaml
other: 1
#- /data/zones/east/dmz.yaml
motd: east
#- /data/zones/west/lan.yaml
motd: west
#- /data/common.yaml
mo$0td: welcome
",
        expect![[r#"
            <motd>
            motd
            in all 2 known nodes
            from Common data/common.yaml:1

              welcome

            could be overridden by data/zones/east/dmz.yaml:1 where zone = dmz, data/zones/west/lan.yaml:1 where zone = lan
        "#]],
    );
}

/// A file that the chosen node does not read shows the values of the nodes that read the file.
#[test]
fn a_chosen_node_that_does_not_read_the_file_is_left_out() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
- {name: Nodes, path: 'nodes/%{site}/%{trusted.certname}.yaml'}
- {name: Site, path: '%{site}/common.yaml'}
#- scope west-db-01 trusted.certname=west-db-01 site=west
#- /data/nodes/east/east-api-01.yaml
net::addr: "%{lookup('net_$0prefix')}.7"
#- /data/east/common.yaml
net_prefix: '10.1.0'
#- /data/west/common.yaml
net_prefix: '10.2.0'
"#,
        expect![[r#"
            <net_prefix>
            net_prefix
            node east-api-01
            from Site data/east/common.yaml:1

              10.1.0

            west-db-01, which you chose, does not read this file
        "#]],
    );
}

/// Only files of several environments lie here, so that no environment is assumed.
#[test]
fn an_environment_that_no_path_shows_is_unknown() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
- {name: Keys, path: '%{environment}_keys.yaml'}
- {name: Environment, path: '%{environment}.yaml'}
- {name: Common, path: common.yaml}
#- /data/box_keys.yaml
shop::secret: box
#- /data/box.yaml
shop::se$0cret: plain
#- /data/common.yaml
a: 1
"#,
        expect![[r#"
            <shop::secret>
            shop::secret
            for nodes with environment = box
            from Keys data/box_keys.yaml:1

              box

            - overrides the value here: plain
        "#]],
    );
}

/// A literal folder is no value of a variable.
#[test]
fn a_literal_folder_is_no_value_of_a_variable() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
- {name: Site roles, path: '%{location}/roles/%{role}.yaml'}
- {name: Common roles, path: 'common/roles/%{role}.yaml'}
#- /data/common/roles/api.yaml
po$0rt: 1
#- /data/east/roles/api.yaml
port: 2
"#,
        expect![[r#"
            <port>
            port
            by kind of node with role = api:

            - 2 where location = east ← Site roles data/east/roles/api.yaml:1
            - 1 otherwise

            location is unknown: the values are those in the names of files

            first value found
        "#]],
    );
}

#[test]
fn a_file_that_no_level_reads_has_a_word() {
    check(
        r#"
#- levels Role Common
#- /data/other/x.yaml
mo$0td: hello
#- /data/common.yaml
motd: welcome
"#,
        expect![[r#"
            <motd>
            No level of hiera.yaml reads this file, so that no node gets a value from here.
        "#]],
    );
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy: [{name: Secrets, lookup_key: vault::get, path: secrets}, {name: Common, path: common.yaml}]
#- /data/secrets/x.yaml
a: {mo$0td: hello}
#- /data/common.yaml
motd: welcome
"#,
        expect![[r#"
            <motd>
            It is not known how the function vault::get of the level Secrets reads this file. The setting backends describes functions.
        "#]],
    );
}

#[test]
fn files_of_one_level_are_told_apart() {
    check(
        r#"
#- scope web01 role=web
#- /hiera.yaml
version: 5
hierarchy: [{name: public, paths: ['roles/%{role}.yaml', common.yaml]}]
#- /data/roles/web.yaml
us$0ers: {ada: 1}
#- /data/common.yaml
lookup_options: {users: {merge: hash}}
users: {bob: 2}
"#,
        expect![[r#"
            <users>
            users
            node web01
            merged hash from 2 files: public data/roles/web.yaml:1, public data/common.yaml:2 · set in data/common.yaml:1

              bob: 2  # data/common.yaml
              ada: 1  # data/roles/web.yaml
        "#]],
    );
}

#[test]
fn a_value_that_a_higher_level_gives_under_any_other_assumption_has_one_line() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Systems of sites, path: '%{site}/os/%{os}.yaml'}
- {name: Sites, path: '%{site}/common.yaml'}
- {name: Systems, path: 'common/os/%{os}.yaml'}
- {name: Roles, path: 'common/role/%{role}.yaml'}
#- /data/east/os/el8.yaml
port: 2
#- /data/east/common.yaml
port: 2
#- /data/common/os/el8.yaml
port: 3
#- /data/common/os/el9.yaml
port: 4
#- /data/common/role/web.yaml
po$0rt: 1
",
        expect![[r#"
            <port>
            port
            by kind of node with role = web:

            - 2 where site = east ← Sites data/east/common.yaml:1, Systems of sites data/east/os/el8.yaml:1
            - 3 otherwise, where os = el8 ← Systems data/common/os/el8.yaml:1
            - 4 otherwise, where os = el9 ← Systems data/common/os/el9.yaml:1
            - 1 otherwise

            os, site are unknown: the values are those in the names of files

            first value found
        "#]],
    );
}
