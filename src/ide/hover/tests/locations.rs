//! Locations in a `hiera.yaml`: which files they name, for a node and for all.

use expect_test::expect;

use super::check;

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
fn a_location_of_a_function() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Roles, lookup_key: "t::expand", paths: ["ro$0les/%{role}", common]}
#- /data/roles/web/apache.yaml
a: 1
#- /data/roles/db.yaml
a: 1
#- /data/common.yaml
a: 1
"#,
        expect![[r#"
            <"roles/%{role}">
            roles/%{role} of level Roles

            1 existing file fits

            - data/roles/db.yaml:1

            read by t::expand, probably these files:

            - data/roles/db.yaml:1
            - data/roles/web/apache.yaml:1
        "#]],
    );
}
