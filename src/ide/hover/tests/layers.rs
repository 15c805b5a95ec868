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

            first value found

            - Common data/common.yaml:1: ["ntp.example.net"]
            - Defaults (module ntp) modules/ntp/data/defaults.yaml:1: ["pool.example.net"] (overridden)
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
