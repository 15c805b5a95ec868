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
            from Common data/common.yaml:1

              - ntp.example.net

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
            from yaml (global) hieradata/web.yaml:1

              '2'

            - overrides the value here: 1
        "#]],
    );
}

#[test]
fn a_level_that_a_function_reads_is_marked() {
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
            from Common data/common.yaml:1

              1

            - Vault: the backend vault::lookup cannot be evaluated here
            - Dug: the backend my::dig cannot be evaluated here
        "#]],
    );
}

#[test]
fn a_module_s_key_outside_its_namespace_has_no_value() {
    check(
        "
#- /modules/ntp/hiera.yaml
version: 5
hierarchy: [{name: Defaults, path: defaults.yaml}]
#- /modules/ntp/data/defaults.yaml
chrony::ser$0vers: [pool.example.net]
",
        expect![[r#"
            <chrony::servers>
            chrony::servers
            for any node, as none is known

            No value is found.

            the value here has no effect: in data of the module ntp, Puppet passes over keys that do not start with ntp::
        "#]],
    );
}

#[test]
fn a_module_s_value_of_an_environment_s_key_has_no_effect() {
    check(
        "
#- /modules/ntp/hiera.yaml
version: 5
hierarchy: [{name: Defaults, path: defaults.yaml}]
#- /modules/ntp/data/defaults.yaml
mo$0td: of the module
#- /data/common.yaml
motd: welcome
",
        expect![[r#"
            <motd>
            motd
            for any node, as none is known
            from Common data/common.yaml:1

              welcome

            the value here has no effect: in data of the module ntp, Puppet passes over keys that do not start with ntp::
        "#]],
    );
}

#[test]
fn a_module_s_secrets_have_no_value_of_a_key_that_only_starts_like_its_name() {
    check(
        "
#- /modules/ntp/hiera.yaml
version: 5
hierarchy: [{name: Secrets, lookup_key: eyaml_lookup_key, path: secrets.eyaml}]
#- /modules/ntp/data/secrets.eyaml
ntp$0d::servers: [pool.example.net]
",
        expect![[r#"
            <ntpd::servers>
            ntpd::servers
            for any node, as none is known

            No value is found.

            the value here has no effect: in data of the module ntp, Puppet passes over keys that do not start with ntp::
        "#]],
    );
}
