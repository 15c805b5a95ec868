//! `lookup_options`, `hiera.yaml` and the settings.

use expect_test::expect;

use super::super::MAX_ITEMS;
use super::super::item::Items;
use super::super::place::CursorContext;
use super::super::settings;
use super::{SettingWord, accepted, labels, words};
use crate::fixture::Fixture;
use crate::text::Text;

const REPO: &str = "
#- levels Role Common
#- /modules/profile/manifests/web.pp
class profile::web (Integer $port) {}
#- /data/roles/web.yaml
motd: hello
#- /data/common.yaml
";

fn in_common(text: &str) -> String {
    format!("{REPO}{text}")
}

#[test]
fn lookup_options_by_place() {
    expect![[r#"
        motd
        profile::web::port: Integer, required
        ^profile::: all keys of the module
    "#]]
    .assert_eq(&words(&in_common("lookup_options:\n  $0")));
    expect![[r#"
        merge: how the values of several levels become one
        convert_to: the type that the value is converted to
    "#]]
    .assert_eq(&words(&in_common("lookup_options:\n  motd:\n    $0")));
    expect![[r#"
        first: the value of the highest level
        unique: all elements of lists, without duplicates
        hash: hashes merged by their keys, not recursively
        deep: hashes merged recursively, lists united
    "#]]
    .assert_eq(&words(&in_common("lookup_options:\n  motd:\n    merge: $0")));
    expect![[r#"
        knockout_prefix: the prefix of texts that remove an element or a member
        sort_merged_arrays: whether merged lists are sorted
        merge_hash_arrays: whether lists of hashes are merged position by position
    "#]]
    .assert_eq(&words(&in_common(
        "lookup_options:\n  motd:\n    merge:\n      strategy: deep\n      $0",
    )));
    expect![[r#"
        first: the value of the highest level
        unique: all elements of lists, without duplicates
        hash: hashes merged by their keys, not recursively
        deep: hashes merged recursively, lists united
    "#]]
    .assert_eq(&words(&in_common("lookup_options: {motd: {merge: {strategy: $0}}}")));
    expect![[r#"
        Sensitive
        String
        Hash
        Timespan
        SemVer
    "#]]
    .assert_eq(&words(&in_common("lookup_options:\n  motd:\n    convert_to: S$0")));
    expect![[r#"
          profile::web::port:
        snippet   profile::web::port:
        ····
    "#]]
    .assert_eq(&accepted(&in_common("lookup_options:\n  $0"), "profile::web::port"));
    assert_eq!(labels(&in_common("lookup_options:\n  \"^$0\"")), ["^profile::"]);
}

fn in_config(text: &str) -> String {
    format!("#- /data/common.yaml\na: 1\n#- /data/nodes/web01.yaml\na: 1\n#- /hiera.yaml\n{text}")
}

#[test]
fn hiera_yaml_of_version_4_by_place() {
    expect![[r#"
        datadir: the folder that paths are relative to
        hierarchy: the levels, the highest priority first
    "#]]
    .assert_eq(&words(&in_config("version: 4\n$0")));
    let level = "version: 4\nhierarchy:\n  - name: x\n    ";
    expect![[r#"
        backend: the format of its files
        path: the file, below the datadir, without its extension
        paths: the files, below the datadir, without their extensions
        datadir: the folder that paths are relative to
    "#]]
    .assert_eq(&words(&in_config(&format!("{level}$0"))));
    expect![[r#"
        yaml: reads .yaml
        json: reads .json
        hocon: reads .conf
    "#]]
    .assert_eq(&words(&in_config(&format!("{level}backend: $0"))));
}

#[test]
fn globs_and_addresses_name_files() {
    let level = "version: 5\nhierarchy:\n  - name: x\n    ";
    expect![[r#"
        *.yaml: in data
        nodes/*.yaml: in data
        common.yaml: in data
        nodes/web01.yaml: in data
    "#]]
    .assert_eq(&words(&in_config(&format!("{level}glob: $0"))));
    expect![[r#"
        file:///data/common.yaml: in data
        file:///data/nodes/web01.yaml: in data
    "#]]
    .assert_eq(&words(&in_config(&format!("{level}uri: $0"))));
}

#[test]
fn functions_that_take_a_context_are_backends() {
    let functions = "
#- /modules/net/functions/all.pp
function net::all(Hash $options, Puppet::LookupContext $context) >> Hash { {} }
#- /modules/net/functions/other.pp
function net::other(Hash $options, String $text) >> Hash { {} }
#- /modules/net/lib/puppet/functions/net/one.rb
Puppet::Functions.create_function(:'net::one') do
  dispatch :one do
    param 'String', :key
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end
end
#- /hiera.yaml
version: 5
hierarchy:
  - name: x
    ";
    let config = |kind: &str| format!("#- /data/common.yaml\na: 1\n{functions}{kind}: $0");
    expect![[r#"
        yaml_data: reads YAML
        json_data: reads JSON
        hocon_data: reads HOCON
        net::all: modules/net/functions/all.pp
    "#]]
    .assert_eq(&words(&config("data_hash")));
    expect![[r#"
        eyaml_lookup_key: reads YAML and decrypts values of eyaml
        net::one: modules/net/lib/puppet/functions/net/one.rb
    "#]]
    .assert_eq(&words(&config("lookup_key")));
    expect![[r#"
        net::one: modules/net/lib/puppet/functions/net/one.rb
    "#]]
    .assert_eq(&words(&config("data_dig")));
}

#[test]
fn hiera_yaml_by_place() {
    expect![[r#"
        defaults: the backend and the datadir of levels that name none
        hierarchy: the levels, the highest priority first
        default_hierarchy: levels for keys that no other has; in modules only
    "#]]
    .assert_eq(&words(&in_config("version: 5\n$0")));
    expect![[r#"
        datadir: the folder that paths are relative to
        options: options of the function
    "#]]
    .assert_eq(&words(&in_config("version: 5\ndefaults:\n  data_hash: yaml_data\n  $0")));
    expect![[r#"
        datadir: the folder that paths are relative to
        data_hash: the function that reads whole files
        lookup_key: the function that is asked for one root key
        data_dig: the function that is asked for one dotted key
        hiera3_backend: a backend of Hiera 3; in the global layer only
        options: options of the function
    "#]]
    .assert_eq(&words(&in_config("version: 5\nhierarchy:\n  - name: x\n    path: x.yaml\n    $0")));
    expect![[r#"
        common.yaml: in data
        nodes/web01.yaml: in data
    "#]]
    .assert_eq(&words(&in_config("version: 5\nhierarchy:\n  - name: x\n    path: $0")));
    expect![[r#"
        common.yaml: in data
        nodes/web01.yaml: in data
    "#]]
    .assert_eq(&words(&in_config("version: 5\nhierarchy:\n  - name: x\n    paths:\n      - $0")));
    expect![[r#"
        yaml_data: reads YAML
        json_data: reads JSON
        hocon_data: reads HOCON
    "#]]
    .assert_eq(&words(&in_config("version: 5\nhierarchy:\n  - name: x\n    data_hash: $0")));
    expect![[r#"
        certname
        hostname
        domain
        extensions
        authenticated
    "#]]
    .assert_eq(&words(&in_config(
        "version: 5\nhierarchy:\n  - name: x\n    path: \"nodes/%{trusted.$0}.yaml\"",
    )));
    expect![[r#"
        hierarchy:
        snippet hierarchy:
          -·
    "#]]
    .assert_eq(&accepted(&in_config("version: 5\nh$0"), "hierarchy"));
    assert_eq!(labels(&in_config("version: $0")), ["5"]);
    assert!(
        !labels(&in_config("hierarchy:\n  - name: x\n    path: '%{$0}'"))
            .contains(&"lookup".to_owned())
    );
}

#[test]
fn settings_by_place() {
    let word = |name: &'static str, values: &[&str]| SettingWord {
        name,
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        default: "8".to_owned(),
        meaning: "meaning",
    };
    let all =
        [word("puppet.version", &["7", "8"]), word("puppet.strict", &[]), word("environment", &[])];
    let complete = |text: &str, settings: &[SettingWord]| {
        let offset = text.find("$0").expect("a cursor") as u32;
        let place =
            CursorContext::find_place(&Text::new(&text.replacen("$0", "", 1)), offset, false)
                .expect("a place");
        let mut items = Items::for_place(&place);
        settings::complete(&place, settings, &mut items);
        items.into_completions(&Fixture::new("a: 1").snapshot).unwrap_or_default()
    };
    let at = |text: &str| {
        let found = complete(text, &all);
        found.items.into_iter().map(|item| item.edit.text).collect::<Vec<_>>()
    };
    assert_eq!(at("$0"), ["puppet:", "environment: "]);
    assert_eq!(at("puppet:\n  strict: error\n  $0"), ["version: "]);
    assert_eq!(at("puppet:\n  version: $0"), ["7", "8"]);
    assert_eq!(at("pu$0ppet:\n  strict: error"), ["puppet"], "the colon is there");
    let many: Vec<String> = (0..=MAX_ITEMS).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let found = complete("many: $0", &[word("many", &many)]);
    assert_eq!((found.items.len(), found.is_incomplete), (MAX_ITEMS, true));
    let found = complete("many: $0", &[word("many", &many[1..])]);
    assert_eq!((found.items.len(), found.is_incomplete), (MAX_ITEMS, false));
}

#[test]
fn hiera_yaml_of_version_3_by_place() {
    let config = |text: &str| in_config(&format!("---\n:yaml:\n  :datadir: /data\n{text}"));
    expect![[r#"
        :backends: the backends, each of which goes through the whole hierarchy
        :hierarchy: the sources, the highest priority first
        :merge_behavior: how hiera_hash() in manifests merges
        :deep_merge_options: options of that merge
        :logger: has no effect in Puppet
        :json: settings of the backend
        :hocon: settings of the backend
        :eyaml: settings of the backend
    "#]]
    .assert_eq(&words(&config("$0")));
    expect![[r#"
        :hierarchy: the sources, the highest priority first
        :merge_behavior: how hiera_hash() in manifests merges
    "#]]
    .assert_eq(&words(&config(":hi$0")));
    assert_eq!(
        accepted(&config(":hi$0"), ":hierarchy"),
        ":hierarchy:\nsnippet :hierarchy:\n  -·\n"
    );
    expect![[""]].assert_eq(&words(&config(":hierarchy:\n  - $0")));
    expect![[r#"
        yaml: reads .yaml
        json: reads .json
        hocon: reads .conf
        eyaml: reads .eyaml with encrypted values
    "#]]
    .assert_eq(&words(&config(":backends:\n  - $0")));
    expect![[r#"
        native: by the keys of hashes; the default
        deep: recursively; the lower level wins
        deeper: recursively; the higher level wins
    "#]]
    .assert_eq(&words(&config(":merge_behavior: $0")));
    expect![[r#"
        :datadir: the folder of the files, an absolute path
        :extension: the extension of the files, without a dot
        :pkcs7_private_key: the private key's file
        :pkcs7_public_key: the public key's file
    "#]]
    .assert_eq(&words(&config(":eyaml:\n  $0")));
    expect![[r#"
        /etc/puppetlabs/code/environments/%{::environment}/hieradata: where Puppet looks if none is given
    "#]].assert_eq(&words(&config(":json:\n  :datadir: $0")));
    let plain = |text: &str| in_config(&format!("version: 3\nyaml: {{datadir: /data}}\n{text}"));
    expect![[r#"
        backends: the backends, each of which goes through the whole hierarchy
        hierarchy: the sources, the highest priority first
        merge_behavior: how hiera_hash() in manifests merges
        deep_merge_options: options of that merge
        logger: has no effect in Puppet
        json: settings of the backend
        hocon: settings of the backend
        eyaml: settings of the backend
    "#]]
    .assert_eq(&words(&plain("$0")));
    let sources = |text: &str| {
        let files = "#- /data/roles/web.yaml\na: 1\n#- /hieradata/old.yaml\na: 1\n";
        labels(&format!("{files}{}", config(text)))
    };
    assert_eq!(sources(":hierarchy:\n  - roles/web\n  - r$0"), ["roles/web"]);
    assert_eq!(sources(":hierarchy:\n  - $0"), ["old"]);
    let trusted = config(":hierarchy:\n  - 'nodes/%{::trusted.$0}'");
    assert_eq!(accepted(&trusted, "certname"), "  - 'nodes/%{::trusted.certname}'\n");
}

/// An empty `hiera.yaml` becomes one of version 5.
#[test]
fn an_empty_hiera_yaml_has_the_words_of_version_5() {
    let words = labels(&in_config("$0"));
    assert!(words.contains(&"hierarchy".to_owned()) && words.contains(&"defaults".to_owned()));
}
