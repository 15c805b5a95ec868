//! Findings that need other files: undefined keys, files that no level reads, data of modules.

use expect_test::expect;

use super::check;
use crate::diagnostics::Findings;
use crate::fixture::Fixture;
use crate::text::FilePath;
use crate::workspace::Change;
use crate::workspace::files::scan;

#[test]
fn unknown_keys() {
    check(
        r#"
a: "%{lookup('b')} %{alias('b')}"
c: "%{hiera('nope')}"
"#,
        expect![[r#"
            data/common.yaml:1:15: warning: no level of any layer defines 'b': the token becomes an empty text [unknown-key]
              1 | a: "%{lookup('b')} %{alias('b')}"
                |               ^
            data/common.yaml:1:20: error: `alias` is only permitted when the token is the entire string; `lookup` inserts a value into a text [alias-not-whole-value]
              1 | a: "%{lookup('b')} %{alias('b')}"
                |                    ^^^^^^^^^^^^^
            data/common.yaml:1:29: warning: no level of any layer defines 'b': the token becomes an empty text [unknown-key]
              1 | a: "%{lookup('b')} %{alias('b')}"
                |                             ^
            data/common.yaml:2:14: warning: no level of any layer defines 'nope': the token becomes an empty text [unknown-key]
              2 | c: "%{hiera('nope')}"
                |              ^^^^
        "#]],
    );
}

#[test]
fn unknown_subkeys() {
    check(
        r#"
h: {x: {y: 1}, l: [1, 2]}
s: text
a: "%{lookup('h.x.y')} %{lookup('h.l.1')}"
b: "%{lookup('h.z')} %{lookup('h.x.q.r')}"
c: "%{lookup('h.l.9')}"
d: "%{lookup('s.x')}"
e: "%{lookup('h.\"x\".y')} %{lookup('h.\"x.y\"')}"
"#,
        expect![[r#"
            data/common.yaml:4:15: warning: no level of any layer defines 'h.z': 'h' has no 'z', and the token becomes an empty text [unknown-key]
              4 | b: "%{lookup('h.z')} %{lookup('h.x.q.r')}"
                |               ^^^
                data/common.yaml:1:1: 'h' is set here
            data/common.yaml:4:32: warning: no level of any layer defines 'h.x.q.r': 'h' has no 'q', and the token becomes an empty text [unknown-key]
              4 | b: "%{lookup('h.z')} %{lookup('h.x.q.r')}"
                |                                ^^^^^^^
                data/common.yaml:1:1: 'h' is set here
            data/common.yaml:6:15: error: the lookup of 's.x' fails: Puppet finds a string where 'x' should be looked for [unknown-key]
              6 | d: "%{lookup('s.x')}"
                |               ^^^
                data/common.yaml:2:1: 's' is set here
            data/common.yaml:7:38: warning: no level of any layer defines 'h."x.y"': 'h' has no 'x.y', and the token becomes an empty text [unknown-key]
              7 | e: "%{lookup('h.\"x\".y')} %{lookup('h.\"x.y\"')}"
                |                                      ^^^^^^^^
                data/common.yaml:1:1: 'h' is set here
        "#]],
    );
}

#[test]
fn subkeys_of_interpolated_values() {
    check(
        r#"
h: "%{alias('g')}"
g: {x: 1}
k: {"%{facts.a}": 1}
a: "%{lookup('h.x')} %{lookup('h.nope')} %{lookup('k.nope')}"
"#,
        expect![""],
    );
}

#[test]
fn subkeys_of_any_level_count() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
h: {x: 1}
l: [1, 2, 3]
#- /data/common.yaml
h: {y: 1}
l: [1]
a: "%{lookup('h.x')} %{lookup('h.y')} %{lookup('l.2')}"
b: "%{lookup('h.z')}"
#- /data/roles/web.yaml
x: 1
"#,
        expect![[r#"
            data/common.yaml:4:15: warning: no level of any layer defines 'h.z': 'h' has no 'z', and the token becomes an empty text [unknown-key]
              4 | b: "%{lookup('h.z')}"
                |               ^^^
                data/common.yaml:1:1: 'h' is set here
        "#]],
    );
}

#[test]
fn levels_whose_files_are_not_here() {
    check(
        r#"
#- levels Node Role Common
#- /data/common.yaml
a: "%{lookup('nope')}"
"#,
        expect![[r#"
            data/common.yaml:1:15: hint: no file here defines 'nope': the token becomes an empty text, unless it is in the data of levels 'Node', 'Role', of which files are missing here [unknown-key]
              1 | a: "%{lookup('nope')}"
                |               ^^^^
        "#]],
    );
}

/// A level of a published function, whose option excludes keys that do not begin with `vault_`.
const CONFINED: &str = r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Vault, lookup_key: hiera_vault, uri: 'https://vault.example.net', options: {confine_to_keys: ['^vault_.*']}}
  - {name: Common, path: common.yaml}
#- /data/common.yaml
excluded: "%{lookup('nope')}"
counted: "%{lookup('vault_nope')}"
"#;

#[test]
fn a_published_function_has_no_key_that_its_option_excludes() {
    check(
        CONFINED,
        expect![[r#"
            data/common.yaml:1:22: warning: no level of any layer defines 'nope': the token becomes an empty text [unknown-key]
              1 | excluded: "%{lookup('nope')}"
                |                      ^^^^
        "#]],
    );
}

#[test]
fn a_function_whose_source_is_here_may_have_the_keys_that_its_option_excludes() {
    let mut fixture = Fixture::new(CONFINED);
    let path = FilePath::new("/data/common.yaml");
    let text = CONFINED.split_once("#- /data/common.yaml\n").expect("the file is the last one").1;
    fixture.workspace.apply(Change::Open(path.clone(), text.to_owned()));
    let mut findings = Findings::default();
    findings.update(&fixture.workspace.snapshot(), &fixture.settings.rules);
    let source = "/lib/puppet/functions/hiera_vault.rb";
    for (is_here, count) in [(true, 0), (false, 1)] {
        match is_here {
            true => {
                fixture.fs.write(source, "Puppet::Functions.create_function(:hiera_vault) do end")
            }
            false => fixture.fs.remove(source),
        }
        let scanned = scan::scan(&fixture.workspace.scan_request(), &fixture.fs, &|_| {});
        fixture.workspace.apply(Change::Scanned(Box::new(scanned)));
        fixture.snapshot = fixture.workspace.snapshot();
        assert_eq!(fixture.findings().len(), count, "{}", fixture.rendered_findings());
        let told = findings.update(&fixture.snapshot, &fixture.settings.rules);
        let of_file = told.iter().find(|(told, _)| *told == path).expect("it is told anew");
        assert_eq!(of_file.1.len(), count, "in a session");
    }
}

#[test]
fn modules_that_are_not_here() {
    check(
        r#"
a: "%{lookup('apache::port')}"
"#,
        expect![[r#"
            data/common.yaml:1:15: hint: no level of any layer defines 'apache::port' (the module apache is not on the module path here, so its own data was not seen): the token becomes an empty text [unknown-key]
              1 | a: "%{lookup('apache::port')}"
                |               ^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn opaque_backends_may_know_any_key() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Vault, lookup_key: vault_lookup}
  - {name: Common, path: common.yaml}
#- /data/common.yaml
a: "%{lookup('nope')}"
"#,
        expect![[r#"
            hiera.yaml:3:31: hint: Unable to find 'lookup_key' function named 'vault_lookup', unless a module that is not here has 'lib/puppet/functions/vault_lookup.rb' [unknown-backend]
              3 |   - {name: Vault, lookup_key: vault_lookup}
                |                               ^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn the_module_own_data_defines_keys() {
    check(
        r#"
#- /modules/m/hiera.yaml
version: 5
hierarchy: [{name: Defaults, path: defaults.yaml}]
#- /modules/m/data/defaults.yaml
m::a: "%{lookup('m::b')} %{lookup('m::c')}"
m::b: 1
#- /data/common.yaml
b: "%{lookup('m::a')} %{lookup('m::nope')}"
"#,
        expect![[r#"
            data/common.yaml:1:33: warning: no level of any layer defines 'm::nope': the token becomes an empty text [unknown-key]
              1 | b: "%{lookup('m::a')} %{lookup('m::nope')}"
                |                                 ^^^^^^^
            modules/m/data/defaults.yaml:1:36: warning: no level of any layer defines 'm::c': the token becomes an empty text [unknown-key]
              1 | m::a: "%{lookup('m::b')} %{lookup('m::c')}"
                |                                    ^^^^
        "#]],
    );
}

#[test]
fn files_that_no_level_reaches() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Sites, glob: "sites/*/*.yaml"}
  - {name: Roles, path: "roles/%{role}/all.yaml"}
#- /data/roles/all.yaml
# read by nodes whose role is empty
a: 1
#- /data/nodes/web01.yaml
a: 1
#- /data/nodes/web02.yml
a: 1
#- /data/node/web01.yaml
a: [
#- /data/sites/oslo/a.yaml
a: 1
#- /data/sites/b.yaml
a: 1
#- /data/README.md
text
#- /spec/x.yaml
text
"#,
        expect![[r#"
            data/node/web01.yaml:1:1: info: no level of hiera.yaml can reach this file, whatever the node's variables are [unreached-file]
              1 | a: [
                | ^
            data/nodes/web02.yml:1:1: warning: no level reads this file: levels read 'web02.yaml', and the ending is a part of the name [unread-extension]
              1 | a: 1
                | ^
            data/sites/b.yaml:1:1: info: no level of hiera.yaml can reach this file, whatever the node's variables are [unreached-file]
              1 | a: 1
                | ^
        "#]],
    );
}

#[test]
fn a_conf_is_data_where_a_level_reads_hocon() {
    let files = "
#- /data/app.conf
a: 1
#- /data/orphan.conf
b: 1
#- /data/orphan.hocon
c: 1
";
    let config = |level: &str| {
        format!("\n#- /hiera.yaml\nversion: 5\nhierarchy:\n  - {{name: One, {level}}}{files}")
    };
    check(
        &config("path: app.conf, data_hash: hocon_data"),
        expect![[r#"
            data/orphan.conf:1:1: info: no level of hiera.yaml can reach this file, whatever the node's variables are [unreached-file]
              1 | b: 1
                | ^
            data/orphan.hocon:1:1: info: no level of hiera.yaml can reach this file, whatever the node's variables are [unreached-file]
              1 | c: 1
                | ^
        "#]],
    );
    check(
        &config("path: nodes.yaml"),
        expect![[r#"
            data/orphan.hocon:1:1: info: no level of hiera.yaml can reach this file, whatever the node's variables are [unreached-file]
              1 | c: 1
                | ^
        "#]],
    );
}

#[test]
fn module_data() {
    check(
        "
#- /modules/m/hiera.yaml
version: 5
hierarchy: [{name: Defaults, path: defaults.yaml}]
#- /modules/m/data/defaults.yaml
m::a: 1
m: 2
mm::k: 3
k: 4
lookup_options: {m::a: {merge: first}}
5: x
",
        expect![[r#"
            modules/m/data/defaults.yaml:2:1: warning: data of the module m must have keys that start with 'm::': Puppet passes over this one [foreign-module-key]
              2 | m: 2
                | ^
            modules/m/data/defaults.yaml:3:1: warning: data of the module m must have keys that start with 'm::': Puppet passes over this one [foreign-module-key]
              3 | mm::k: 3
                | ^^^^^
            modules/m/data/defaults.yaml:4:1: warning: data of the module m must have keys that start with 'm::': Puppet passes over this one [foreign-module-key]
              4 | k: 4
                | ^
            modules/m/data/defaults.yaml:6:1: error: the key 5 is no string: Puppet crashes on it in a module's data; quote it [unreachable-key]
              6 | 5: x
                | ^
        "#]],
    );
}

#[test]
fn keys_of_an_eyaml_level_are_not_held_to_the_module() {
    check(
        "
#- /modules/m/hiera.yaml
version: 5
hierarchy: [{name: Secrets, lookup_key: eyaml_lookup_key, path: secrets.eyaml}]
#- /modules/m/data/secrets.eyaml
m::a: 1
k: 4
",
        expect![""],
    );
}

#[test]
fn encrypted_values_that_no_level_decrypts() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Keyless, lookup_key: eyaml_lookup_key, path: keyless.eyaml, options: {pkcs7_private_key: /k.pem}}
  - {name: Secrets, lookup_key: eyaml_lookup_key, paths: [a.eyaml, both.yaml], options: {pkcs7_private_key: /k.pem, pkcs7_public_key_env_var: K}}
  - {name: Own, lookup_key: mymod::vault, path: own.yaml}
  - {name: Plain, paths: [plain.yaml, both.yaml]}
#- /data/keyless.eyaml
k: 'ENC[PKCS7,MIIB]'
gpg: 'ENC[GPG,hQEM]'
#- /data/a.eyaml
k: 'ENC[PKCS7,MIIB]'
#- /data/both.yaml
k: 'ENC[PKCS7,MIIB]'
#- /data/own.yaml
k: 'ENC[PKCS7,MIIB]'
#- /data/plain.yaml
k: {user: u, password: ['x', 'y ENC[PKCS7,MIIB]', 'ENC[PKCS7,MIIC]']}
block: >
  ENC[PKCS7,MIIB
  MIIC]
gpg: 'ENC[GPG,hQEM]'
prose: 'values look like ENC[PKCS7,...] or ENC[text]'
",
        expect![[r#"
            data/keyless.eyaml:1:4: error: 'k' is encrypted, and level 'Keyless' names no key to decrypt it with (pkcs7_public_key is not defined): its lookups fail [undecrypted-value]
              1 | k: 'ENC[PKCS7,MIIB]'
                |    ^^^^^^^^^^^^^^^^^
                hiera.yaml:3:33: this level reads the file
            data/plain.yaml:1:30: warning: 'k' is encrypted, and level 'Plain' hands out the ciphertext: yaml_data decrypts nothing, eyaml_lookup_key does [undecrypted-value]
              1 | k: {user: u, password: ['x', 'y ENC[PKCS7,MIIB]', 'ENC[PKCS7,MIIC]']}
                |                              ^^^^^^^^^^^^^^^^^^^
                hiera.yaml:6:5: this level reads the file
            data/plain.yaml:2:8: warning: 'block' is encrypted, and level 'Plain' hands out the ciphertext: yaml_data decrypts nothing, eyaml_lookup_key does [undecrypted-value]
              2 | block: >
                |        ^
                hiera.yaml:6:5: this level reads the file
            data/plain.yaml:5:6: warning: 'gpg' is encrypted, and level 'Plain' hands out the ciphertext: yaml_data decrypts nothing, eyaml_lookup_key does [undecrypted-value]
              5 | gpg: 'ENC[GPG,hQEM]'
                |      ^^^^^^^^^^^^^^^
                hiera.yaml:6:5: this level reads the file
        "#]],
    );
}

#[test]
fn a_default_hierarchy_is_read() {
    check(
        r#"
#- /modules/m/hiera.yaml
version: 5
hierarchy: []
default_hierarchy: [{name: Last, path: last.yaml}]
#- /modules/m/data/last.yaml
m::a: "%{lookup('m::b')}"
k: 1
#- /data/common.yaml
c: "%{lookup('m::a')}"
"#,
        expect![[r#"
            modules/m/data/last.yaml:1:18: warning: no level of any layer defines 'm::b': the token becomes an empty text [unknown-key]
              1 | m::a: "%{lookup('m::b')}"
                |                  ^^^^
            modules/m/data/last.yaml:2:1: warning: data of the module m must have keys that start with 'm::': Puppet passes over this one [foreign-module-key]
              2 | k: 1
                | ^
        "#]],
    );
}

#[test]
fn settings_change_severities_and_turn_rules_off() {
    check(
        r#"
#- /.hiera-ls.yaml
rules: {duplicate-key: off, unknown-key: error, not-yaml-1-2: hint}
#- /data/common.yaml
a: 1
a: "%{lookup('nope')}"
l: [
1
]
"#,
        expect![[r#"
            data/common.yaml:2:15: error: no level of any layer defines 'nope': the token becomes an empty text [unknown-key]
              2 | a: "%{lookup('nope')}"
                |               ^^^^
            data/common.yaml:4:1: hint: Puppet reads this, tools that follow YAML 1.2 do not: invalid indentation [not-yaml-1-2]
              4 | 1
                | ^
        "#]],
    );
}

#[test]
fn a_file_in_a_format_of_its_own_is_left_alone() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Own, data_hash: my::toml, path: common.toml}
  - {name: Common, path: common.yaml}
#- /data/common.toml
[a]
b = '%{
",
        expect![""],
    );
}

#[test]
fn unknown_keys_beside_known_ones() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Secrets, paths: [secrets.yaml, other.yaml]}
  - {name: Common, path: common.yaml}
#- /data/other.yaml
other: 1
#- /data/common.yaml
net_a: 1
net_b: 2
net_c: 3
a: "%{lookup('net_d')}"
b: "%{lookup('net_password')}"
c: "%{lookup('host_a')}"
d: ["%{lookup('peer_asn')}", "%{lookup('peer_md5')}"]
e: ["%{lookup('other_asn')}", "%{lookup('other_md5')}"]
f: "%{lookup('ntp::password')}"
other_a: 1
"#,
        expect![[r#"
            data/common.yaml:4:15: warning: no file here defines 'net_d', though 'net_a', 'net_b' and 1 more with the same prefix are: the token becomes an empty text, unless it is in the data of level 'Secrets', of which files are missing here [unknown-key]
              4 | a: "%{lookup('net_d')}"
                |               ^^^^^
            data/common.yaml:6:15: hint: no file here defines 'host_a': the token becomes an empty text, unless it is in the data of level 'Secrets', of which files are missing here [unknown-key]
              6 | c: "%{lookup('host_a')}"
                |               ^^^^^^
            data/common.yaml:8:16: hint: no file here defines 'other_asn': the token becomes an empty text, unless it is in the data of level 'Secrets', of which files are missing here [unknown-key]
              8 | e: ["%{lookup('other_asn')}", "%{lookup('other_md5')}"]
                |                ^^^^^^^^^
            data/common.yaml:9:15: hint: no file here defines 'ntp::password' (the module ntp is not on the module path here, so its own data was not seen): the token becomes an empty text, unless it is in the data of level 'Secrets', of which files are missing here [unknown-key]
              9 | f: "%{lookup('ntp::password')}"
                |               ^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn modules_that_a_tool_installed() {
    const FILES: &str = r#"
#- /Puppetfile
mod 'puppetlabs-ntp', '1.0.0'
mod 'puppetlabs-own', '1.0.0'
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Common, path: common.yaml}
#- /data/common.yaml
a: "%{nope('a')}"
#- /modules/ntp/hiera.yaml
version: 5
hierarchy:
  - {name: Common, path: common.yaml}
#- /modules/ntp/data/common.yaml
ntp::a: "%{nope('a')}"
#- /modules/local/hiera.yaml
version: 5
hierarchy:
  - {name: Common, path: common.yaml}
#- /modules/local/data/common.yaml
local::a: "%{nope('a')}"
#- /site-modules/own/hiera.yaml
version: 5
hierarchy:
  - {name: Common, path: common.yaml}
#- /site-modules/own/data/common.yaml
own::a: "%{nope('a')}"
"#;
    let files_with = |rules: &str| {
        let settings = format!("#- /.hiera-ls.yaml\n{rules}\n");
        let told = Fixture::new(&format!("{settings}{}", FILES.trim_start())).rendered_findings();
        let places = told.lines().filter(|line| line.contains("unknown-function"));
        places.map(|line| line.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let own =
        ["data/common.yaml", "modules/local/data/common.yaml", "site-modules/own/data/common.yaml"];
    assert_eq!(files_with("{}"), own);
    let all = files_with("checkThirdPartyModules: true");
    assert_eq!(all.len(), 4, "{all:?}");
}

#[test]
fn modules_that_puppet_passes_over() {
    const WHOLE: &str = r#"{"name": "me-app", "version": "1", "author": "me", "license": "x", "source": "x", "dependencies": []}"#;
    let with = |metadata: &str| {
        format!(
            "#- /modules/app/metadata.json\n{metadata}\n#- /modules/app/hiera.yaml\nversion: 5\n\
             #- /modules/app/data/common.yaml\napp::port: 80\n"
        )
    };
    check(
        &with(r#"{"name": "me-app", "version": "1.0.0"}"#),
        expect![[r#"
            modules/app/metadata.json:1:1: error: it has no 'source', 'author', 'license', 'dependencies': Puppet passes over the module 'app' with an error in its log, and looks up nothing in its data [refused-module]
              1 | {"name": "me-app", "version": "1.0.0"}
                | ^
        "#]],
    );
    check(
        &with(&WHOLE.replace("[]", "{}")),
        expect![[r#"
            modules/app/metadata.json:1:1: error: its 'dependencies' is no list: Puppet passes over the module 'app' with an error in its log, and looks up nothing in its data [refused-module]
              1 | {"name": "me-app", "version": "1", "author": "me", "license": "x", "source": "x", "dependencies": {}}
                | ^
        "#]],
    );
    check(
        &with("{"),
        expect![[r#"
            modules/app/metadata.json:1:1: error: it is no JSON: Puppet passes over the module 'app' with an error in its log, and looks up nothing in its data [refused-module]
              1 | {
                | ^
        "#]],
    );
    for taken in [WHOLE, "{}"] {
        assert_eq!(Fixture::new(&with(taken)).rendered_findings(), "", "{taken}");
    }
    let lenient = with("{") + "#- /.hiera-ls.yaml\npuppet: {strict: warning}\n";
    assert_eq!(Fixture::new(&lenient).rendered_findings(), "");
    // In a session the findings of the file follow the text in the editor.
    let mut fixture = Fixture::new(&with(WHOLE));
    let mut findings = Findings::default();
    findings.update(&fixture.snapshot, &fixture.settings.rules);
    let path = FilePath::new("/modules/app/metadata.json");
    for (text, count) in [(&*WHOLE.replace("license", "licence"), 1), (WHOLE, 0)] {
        fixture.fs.write(path.as_str(), text);
        let scanned = scan::scan(&fixture.workspace.scan_request(), &fixture.fs, &|_| {});
        fixture.workspace.apply(Change::Scanned(Box::new(scanned)));
        let snapshot = fixture.workspace.snapshot();
        let mut told = findings.update(&snapshot, &fixture.settings.rules);
        while findings.has_deferred() {
            told.extend(findings.update(&snapshot, &fixture.settings.rules));
        }
        let of_file = told.iter().find(|(told, _)| *told == path).expect("it is told anew");
        assert_eq!(of_file.1.len(), count);
    }
}
