//! Values of layers and backends beyond those of an environment's own files.

use expect_test::expect;

use super::check;

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

            from Common data/common.yaml:1

            - overrides the value here: [pool.example.net]
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

            from yaml (global) hieradata/web.yaml:1

            - overrides the value here: 1
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

            from Common data/common.yaml:1

            - Vault: the backend vault::lookup cannot be evaluated here
            - Dug: the backend my::dig cannot be evaluated here
        "#]],
    );
}
