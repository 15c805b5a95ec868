//! For whom a value holds: a node, the nodes that a path tells of, any node.

use expect_test::expect;

use super::check;

#[test]
fn an_inferred_scope_and_what_could_override() {
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
#- levels Node Role Common
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
#- levels Node Role Common
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
