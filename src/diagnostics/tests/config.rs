//! hiera.yaml: where each mistake stands. The words are compared with Puppet's in
//! tests/puppet/configs.

use expect_test::expect;

use super::check;
use crate::fixture::Fixture;

#[test]
fn old_versions() {
    check(
        "
#- /hiera.yaml
version: 3
:backends: [yaml]
",
        expect![[r#"
            hiera.yaml:1:10: warning: Use of 'hiera.yaml' version 3 is deprecated. It should be converted to version 5 [config-deprecated]
              1 | version: 3
                |          ^
        "#]],
    );
}

#[test]
fn version_3_without_anything_of_hiera_3() {
    check(
        "
#- /hiera.yaml
version: 3
",
        expect![[r#"
            hiera.yaml:1:10: error: hiera.yaml version 3 cannot be used in an environment, where it must be `version: 5` [config-version]
              1 | version: 3
                |          ^
        "#]],
    );
}

#[test]
fn no_version() {
    check(
        "
#- /hiera.yaml
hierarchy: [{name: A, path: common.yaml}]
",
        expect![[r#"
            hiera.yaml:1:1: error: hiera.yaml version 3 cannot be used in an environment, where it must be `version: 5` [config-version]
              1 | hierarchy: [{name: A, path: common.yaml}]
                | ^^^^^^^^^
        "#]],
    );
}

#[test]
fn a_version_that_is_no_integer() {
    check(
        r#"
#- /hiera.yaml
---
version: "5"
hierarchy: []
"#,
        expect![[r#"
            hiera.yaml:2:10: error: entry 'version' expects an Integer value, got String [config-version]
              2 | version: "5"
                |          ^^^
        "#]],
    );
}

#[test]
fn a_version_of_the_future() {
    check(
        "
#- /hiera.yaml
version: 6
",
        expect![[r#"
            hiera.yaml:1:10: error: This runtime does not support hiera.yaml version 6 [config-version]
              1 | version: 6
                |          ^
        "#]],
    );
}

#[test]
fn version_4() {
    check(
        "
#- /hiera.yaml
version: 4
",
        expect![[r#"
            hiera.yaml:1:10: warning: Use of 'hiera.yaml' version 4 is deprecated. It should be converted to version 5 [config-deprecated]
              1 | version: 4
                |          ^
        "#]],
    );
}

#[test]
fn no_hash_at_all() {
    check(
        "
#- /hiera.yaml
- version: 5
",
        expect![[r#"
            hiera.yaml:1:1: error: the file is no hash, which Puppet takes for version 3: hiera.yaml version 3 cannot be used in an environment [config-version]
              1 | - version: 5
                | ^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn an_empty_file() {
    check(
        "
#- /hiera.yaml
",
        expect![[r#"
            hiera.yaml:1:1: error: the file is no hash, which Puppet takes for version 3: hiera.yaml version 3 cannot be used in an environment [config-version]
        "#]],
    );
}

#[test]
fn a_syntax_error() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - name: A
    path: %{facts.x}.yaml
  - name: Common
    path: common.yaml
#- /data/common.yaml
a: 1
",
        expect![[r#"
            hiera.yaml:4:11: error: found character that cannot start any token while scanning for the next token; quote a value that starts so: Puppet cannot read this file, and lookups of nodes that reach it fail [syntax-error]
              4 |     path: %{facts.x}.yaml
                |           ^
        "#]],
    );
}

#[test]
fn a_key_twice() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - name: A
    path: a.yaml
    path: common.yaml
hierarchy: []
",
        expect![[r#"
            hiera.yaml:5:5: error: duplicate key 'path' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              5 |     path: common.yaml
                |     ^^^^
                hiera.yaml:4:5: the value that is lost
                  4 | path: a.yaml
            hiera.yaml:6:1: error: duplicate key 'hierarchy' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]
              6 | hierarchy: []
                | ^^^^^^^^^
                hiera.yaml:2:1: the value that is lost
                  2 | hierarchy:
        "#]],
    );
}

#[test]
fn unknown_keys() {
    check(
        "
#- /hiera.yaml
version: 5
foo: 1
defaults: {path: x, data_hash: yaml_data}
hierarchy:
  - name: A
    pathz: a.yaml
    path: common.yaml
",
        expect![[r#"
            hiera.yaml:2:1: error: unrecognized key 'foo' [config-error]
              2 | foo: 1
                | ^^^
            hiera.yaml:3:12: error: entry 'defaults' unrecognized key 'path' [config-error]
              3 | defaults: {path: x, data_hash: yaml_data}
                |            ^^^^
            hiera.yaml:6:5: error: entry 'hierarchy' index 0 unrecognized key 'pathz' [config-error]
              6 |     pathz: a.yaml
                |     ^^^^^
        "#]],
    );
}

#[test]
fn wrong_types() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - name: 5
    path: [a.yaml]
  - path: common.yaml
  - name: C
    paths: common.yaml
    options:
  - name: ""
    mapped_paths: [a, b]
  - name: E
    globs: []
    options: {a_: 1}
  - common.yaml
"#,
        expect![[r#"
            hiera.yaml:3:11: error: entry 'hierarchy' index 0 entry 'name' expects a String value, got Integer [config-error]
              3 |   - name: 5
                |           ^
            hiera.yaml:4:11: error: entry 'hierarchy' index 0 entry 'path' expects a String value, got Tuple [config-error]
              4 |     path: [a.yaml]
                |           ^^^^^^^^
            hiera.yaml:5:5: error: entry 'hierarchy' index 1 expects a value for key 'name' [config-error]
              5 |   - path: common.yaml
                |     ^^^^
            hiera.yaml:7:12: error: entry 'hierarchy' index 2 entry 'paths' expects an Array value, got String [config-error]
              7 |     paths: common.yaml
                |            ^^^^^^^^^^^
            hiera.yaml:8:13: error: entry 'hierarchy' index 2 entry 'options' expects a Hash value, got Undef [config-error]
              8 |     options:
                |             ^
            hiera.yaml:9:11: error: entry 'hierarchy' index 3 entry 'name' expects a String[1] value, got String [config-error]
              9 |   - name: ""
                |           ^^
            hiera.yaml:10:19: error: entry 'hierarchy' index 3 entry 'mapped_paths' expects size to be 3, got 2 [config-error]
              10 |     mapped_paths: [a, b]
                 |                   ^^^^^^
            hiera.yaml:12:12: error: entry 'hierarchy' index 4 entry 'globs' expects size to be at least 1, got 0 [config-error]
              12 |     globs: []
                 |            ^^
            hiera.yaml:13:15: error: entry 'hierarchy' index 4 entry 'options' key of entry 'a_' expects a match for Pattern[/\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\z/], got 'a_' [config-error]
              13 |     options: {a_: 1}
                 |               ^^
            hiera.yaml:14:5: error: entry 'hierarchy' index 5 expects a Struct value, got String [config-error]
              14 |   - common.yaml
                 |     ^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn hierarchy_is_a_string() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy: common.yaml
",
        expect![[r#"
            hiera.yaml:2:12: error: entry 'hierarchy' expects an Array value, got String [config-error]
              2 | hierarchy: common.yaml
                |            ^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn keys_that_exclude_each_other() {
    check(
        r#"
#- /hiera.yaml
version: 5
defaults: {data_hash: yaml_data, lookup_key: eyaml_lookup_key}
hierarchy:
  - name: A
    path: common.yaml
    paths: [a.yaml]
  - name: B
    data_hash: yaml_data
    lookup_key: eyaml_lookup_key
    glob: "*.yaml"
"#,
        expect![[r#"
            hiera.yaml:2:46: error: Only one of data_hash, lookup_key, data_dig, or hiera3_backend can be defined in defaults [config-error]
              2 | defaults: {data_hash: yaml_data, lookup_key: eyaml_lookup_key}
                |                                              ^^^^^^^^^^^^^^^^
            hiera.yaml:6:5: error: Only one of path, paths, glob, globs, uri, uris, or mapped_paths can be defined in hierarchy 'A' [config-error]
              6 |     paths: [a.yaml]
                |     ^^^^^
            hiera.yaml:9:17: error: Only one of data_hash, lookup_key, data_dig, or hiera3_backend can be defined in hierarchy 'B' [config-error]
              9 |     lookup_key: eyaml_lookup_key
                |                 ^^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn names_used_twice() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - name: A
    path: a.yaml
  - name: A
    path: common.yaml
",
        expect![[r#"
            hiera.yaml:5:11: error: Hierarchy name 'A' defined more than once [config-error]
              5 |   - name: A
                |           ^
                hiera.yaml:3:5: the first one
        "#]],
    );
}

#[test]
fn reserved_options_and_backends() {
    check(
        "
#- /hiera.yaml
version: 5
defaults: {datadir: data}
hierarchy:
  - name: A
    path: common.yaml
  - name: B
    lookup_key: vault
    options: {uri: x}
  - name: C
    hiera3_backend: foo
    path: c.yaml
default_hierarchy: []
",
        expect![[r#"
            hiera.yaml:4:11: error: One of data_hash, lookup_key, data_dig, or hiera3_backend must be defined in hierarchy 'A' [config-error]
              4 |   - name: A
                |           ^
            hiera.yaml:7:17: hint: Unable to find 'lookup_key' function named 'vault', unless a module that is not here has 'lib/puppet/functions/vault.rb' [unknown-backend]
              7 |     lookup_key: vault
                |                 ^^^^^
            hiera.yaml:8:15: error: Option key 'uri' used in hierarchy 'B' is reserved by Puppet [config-error]
              8 |     options: {uri: x}
                |               ^^^
            hiera.yaml:10:21: error: 'hiera3_backend' is only allowed in the global layer [config-error]
              10 |     hiera3_backend: foo
                 |                     ^^^
        "#]],
    );
}

#[test]
fn functions_without_a_path() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - name: A
  - name: B
    uri: https://example.net/
  - name: C
    path: common.yaml
    options: {a: 1}
",
        expect![[r#"
            hiera.yaml:3:11: error: 'yaml_data' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this data_hash function [config-error]
              3 |   - name: A
                |           ^
            hiera.yaml:4:11: error: 'yaml_data' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this data_hash function [config-error]
              4 |   - name: B
                |           ^
            hiera.yaml:8:14: error: 'yaml_data' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this data_hash function [config-error]
              8 |     options: {a: 1}
                |              ^^^^^^
        "#]],
    );
}

#[test]
fn functions_in_tokens() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - name: "%{lookup('x')}"
    path: "a/%{lookup('x')}.yaml"
  - name: B
    paths: [common.yaml, "%{literal('%')}"]
    datadir: "%{scope('x')}"
  - name: C
    lookup_key: vault
    options: {a: ["%{lookup('x')}"]}
"#,
        expect![[r#"
            hiera.yaml:4:11: error: Interpolation using method syntax is not allowed in this context: hiera.yaml takes variables only [function-in-config]
              4 |     path: "a/%{lookup('x')}.yaml"
                |           ^^^^^^^^^^^^^^^^^^^^^^^
            hiera.yaml:6:26: error: Interpolation using method syntax is not allowed in this context: hiera.yaml takes variables only [function-in-config]
              6 |     paths: [common.yaml, "%{literal('%')}"]
                |                          ^^^^^^^^^^^^^^^^^
            hiera.yaml:7:14: error: Interpolation using method syntax is not allowed in this context: hiera.yaml takes variables only [function-in-config]
              7 |     datadir: "%{scope('x')}"
                |              ^^^^^^^^^^^^^^^
            hiera.yaml:9:17: hint: Unable to find 'lookup_key' function named 'vault', unless a module that is not here has 'lib/puppet/functions/vault.rb' [unknown-backend]
              9 |     lookup_key: vault
                |                 ^^^^^
            hiera.yaml:10:19: error: Interpolation using method syntax is not allowed in this context: hiera.yaml takes variables only [function-in-config]
              10 |     options: {a: ["%{lookup('x')}"]}
                 |                   ^^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn tokens_that_cannot_be_read() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - name: A
    path: "%{a..b}.yaml"
  - name: B
    path: "%{lookup( 'x' )}.yaml"
  - name: C
    path: common.yaml
"#,
        expect![[r#"
            hiera.yaml:4:11: error: Syntax error in string: %{a..b}.yaml [config-error]
              4 |     path: "%{a..b}.yaml"
                |           ^^^^^^^^^^^^^^
            hiera.yaml:6:11: error: Syntax error in string: %{lookup( 'x' )}.yaml [config-error]
              6 |     path: "%{lookup( 'x' )}.yaml"
                |           ^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn configs_of_modules() {
    check(
        "
#- /modules/m/hiera.yaml
version: 5
hierarchy: [{name: A, pathz: a.yaml}]
#- /modules/old/hiera.yaml
version: 3
#- /modules/fine/hiera.yaml
version: 5
default_hierarchy: [{name: A, path: a.yaml}]
",
        expect![[r#"
            modules/m/hiera.yaml:2:23: error: entry 'hierarchy' index 0 unrecognized key 'pathz' [config-error]
              2 | hierarchy: [{name: A, pathz: a.yaml}]
                |                       ^^^^^
            modules/old/hiera.yaml:1:10: error: hiera.yaml version 3 cannot be used in a module, where it must be `version: 5` [config-version]
              1 | version: 3
                |          ^
        "#]],
    );
}

#[test]
fn the_global_layer() {
    check(
        "
#- /.hiera-ls.yaml
globalHieraConfig: /global/hiera.yaml
#- /global/hiera.yaml
version: 5
hierarchy:
  - name: A
    hiera3_backend: yaml
    path: a.yaml
",
        expect![[r#"
            global/hiera.yaml:4:21: error: Use "data_hash: yaml_data" instead of "hiera3_backend: yaml" [config-error]
              4 |     hiera3_backend: yaml
                |                     ^^^^
        "#]],
    );
}

#[test]
fn a_path_that_is_a_folder() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - name: A
    paths: [nodes, common.yaml]
#- /data/nodes/README
text
",
        expect![[r#"
            hiera.yaml:4:13: error: 'nodes' is a folder: Puppet fails with 'Is a directory' when it reads this level [config-error]
              4 |     paths: [nodes, common.yaml]
                |             ^^^^^
        "#]],
    );
}

#[test]
fn an_empty_global_file_is_of_version_3() {
    check(
        "
#- /.hiera-ls.yaml
globalHieraConfig: /global/hiera.yaml
#- /global/hiera.yaml
# nothing
",
        expect![[r#"
            global/hiera.yaml:1:1: warning: File exists but does not contain a valid YAML hash. Falling back to Hiera version 3 default config [config-deprecated]
              1 | # nothing
                | ^
        "#]],
    );
}

#[test]
fn a_backend_of_hiera_3() {
    let text = "
#- /global/hiera.yaml
:backends: [yaml, mysql]
:hierarchy: common
:mysql: {host: db}
";
    check(
        &format!(
            "#- /.hiera-ls.yaml\nglobalHieraConfig: /global/hiera.yaml\npuppet: {{version: 7}}{text}"
        ),
        expect![[r#"
        global/hiera.yaml:1:1: warning: Use of 'hiera.yaml' version 3 is deprecated. It should be converted to version 5 [config-deprecated]
          1 | :backends: [yaml, mysql]
            | ^^^^^^^^^
    "#]],
    );
    check(
        &format!("#- /.hiera-ls.yaml\nglobalHieraConfig: /global/hiera.yaml\n{}", &text[1..]),
        expect![[r#"
            global/hiera.yaml:1:1: warning: Use of 'hiera.yaml' version 3 is deprecated. It should be converted to version 5 [config-deprecated]
              1 | :backends: [yaml, mysql]
                | ^^^^^^^^^
            global/hiera.yaml:1:19: warning: Hiera 3 is not installed: each lookup fails, of any key, unless the gem 'hiera' has been added to this Puppet [hiera3-not-installed]
              1 | :backends: [yaml, mysql]
                |                   ^^^^^
        "#]],
    );
}

#[test]
fn who_reserves_an_option() {
    check(
        "
#- /.hiera-ls.yaml
puppet: {version: 9}
#- /hiera.yaml
version: 5
hierarchy: [{name: A, lookup_key: f, options: {uri: x}}]
",
        expect![[r#"
            hiera.yaml:2:35: hint: Unable to find 'lookup_key' function named 'f', unless a module that is not here has 'lib/puppet/functions/f.rb' [unknown-backend]
              2 | hierarchy: [{name: A, lookup_key: f, options: {uri: x}}]
                |                                   ^
            hiera.yaml:2:48: error: Option key 'uri' used in hierarchy 'A' is reserved by OpenVox [config-error]
              2 | hierarchy: [{name: A, lookup_key: f, options: {uri: x}}]
                |                                                ^^^
        "#]],
    );
}

#[test]
fn configs_beyond_those_that_are_named_are_counted() {
    let with = |count: usize| {
        let config = "version: 5\nhierarchy: [{name: All, path: common.yaml}]";
        let others: String =
            (0..count).map(|n| format!("#- /hiera-{n}.yaml\n{config}\n")).collect();
        let text = format!("#- /hiera.yaml\n{config}\n{others}#- /data/common.yaml\na: 1\n");
        let findings = Fixture::new(&text).findings();
        let told = findings.iter().find(|finding| finding.rule.code == "several-configs");
        told.expect("several read it").message.to_string()
    };
    assert!(with(1).contains("hiera-0.yaml reads data"), "{}", with(1));
    assert!(with(4).contains("hiera-2.yaml and hiera-3.yaml read"), "{}", with(4));
    assert!(with(6).contains("hiera-3.yaml and 2 more read"), "{}", with(6));
}
