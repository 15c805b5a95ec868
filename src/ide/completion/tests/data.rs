use expect_test::expect;

use super::{CompletionConfig, accepted, complete_at, labels, words};
use crate::fixture::Fixture;
use crate::text::CancelToken;

const REPO: &str = "
#- scope web01 role=web
#- levels Role Common
#- /modules/profile/manifests/web.pp
# @param port the port to listen on
class profile::web (
  String $title,
  Boolean $tls = true,
  Enum['on', 'off', 'auto'] $cache = 'auto',
  Integer[0, 65535] $port = 80,
  Array[String] $aliases = [],
  Hash[String, Struct[{docroot => String, Optional[port] => Integer, 'mode' => Enum['rw', 'ro']}]] $vhosts = {},
  Sensitive[String] $password,
) {}
#- /modules/ntp/manifests/init.pp
class ntp (Array[String] $servers) {}
#- /data/roles/web.yaml
profile::web::port: 443
profile::web::password: hunter2
profile::web::cache: 'off'
profile::web::vhosts:
  main: {docroot: /srv, port: 80, extra: x}
profile::db::size: 10
motd: hello
users:
  - {name: ada, uid: 1}
groups: [adm, staff]
level: {deep: {er: 1}}
pin: 4711
lookup_options: {pin: {convert_to: Sensitive}}
";

fn in_common(text: &str) -> String {
    format!("{REPO}#- /data/common.yaml\n{text}")
}

#[test]
fn required_parameters_of_the_files_classes_come_first() {
    expect![[r#"
        profile::web::title: String, required
        profile::web::password: Sensitive[String], required
        profile::web::cache: Enum['on', 'off', 'auto']
        profile::web::port: Integer[0, 65535]
        profile::web::aliases: Array[String]
        profile::web::vhosts: Hash[String, Struct[{docroot => String, …
        lookup_options: how keys are merged and converted
        ntp::servers: Array[String], required
        groups
        level
        motd
        pin
        profile::db::size
        users
    "#]]
    .assert_eq(&words(&in_common("profile::web::tls: true\n$0")));
}

#[test]
fn a_half_typed_key_finds_those_that_begin_with_it_then_those_that_contain_it() {
    expect![[r#"
        profile::web::cache: Enum['on', 'off', 'auto']
        profile::web::password: Sensitive[String]
        profile::web::port: Integer[0, 65535]
        profile::web::vhosts: Hash[String, Struct[{docroot => String, …
        profile::web::title: String, required
        profile::web::tls: Boolean
        profile::web::aliases: Array[String]
    "#]]
    .assert_eq(&words(&in_common("web$0")));
    expect![[r#"
        profile::db::size
    "#]]
    .assert_eq(&words(&in_common("profile::d$0")));
    assert_eq!(labels(&in_common("motd: 1\nmot$0")), [""; 0]);
}

#[test]
fn a_key_brings_the_beginning_of_its_value() {
    expect![[r#"
        profile::web::tls:·
        snippet profile::web::tls: ${1|true,false|}
        profile::web::cache:·
        snippet profile::web::cache: ${1|auto,'off','on'|}
        profile::web::port:·
        snippet profile::web::port: ${1:80}
        profile::web::aliases:
        snippet profile::web::aliases:
          -·
        profile::web::vhosts:
        snippet profile::web::vhosts:
        ··
        profile::web::title:·
    "#]]
    .assert_eq(
        &["tls", "cache", "port", "aliases", "vhosts", "title"]
            .map(|name| accepted(&in_common("prof$0"), &format!("profile::web::{name}")))
            .concat(),
    );
    expect![[r#"
        profile::web::port: 3
    "#]]
    .assert_eq(&accepted(&in_common("prof$0ile::we: 3"), "profile::web::port"));
    expect![[r#"
        "profile::web::port":·
        snippet "profile::web::port": ${1:80}
    "#]]
    .assert_eq(&accepted(&in_common("\"prof$0\""), "profile::web::port"));
}

#[test]
fn no_value_of_a_secret_is_beside_a_key() {
    let all = words(&in_common("$0"));
    assert!(all.contains("pin\n") && all.contains("password: Sensitive[String]"), "{all}");
    assert!(!all.contains("4711") && !all.contains("hunter2"), "{all}");
    assert!(labels(&in_common("profile::web::password: $0")).is_empty());
}

#[test]
fn data_of_a_module_has_keys_of_the_module_alone() {
    let text = format!(
        "{REPO}#- /modules/ntp/hiera.yaml\nversion: 5\n#- /modules/ntp/data/common.yaml\n$0"
    );
    assert_eq!(labels(&text), ["lookup_options", "ntp::servers"]);
}

#[test]
fn members_come_from_the_type_and_from_other_definitions() {
    expect![[r#"
        docroot: String, required
        mode: Enum['ro', 'rw'], required
        port: Integer
        extra: data/roles/web.yaml
    "#]]
    .assert_eq(&words(&in_common("profile::web::vhosts:\n  main:\n    $0")));
    expect![[r#"
        main: data/roles/web.yaml
    "#]]
    .assert_eq(&words(&in_common("profile::web::vhosts:\n  $0")));
    expect![[r#"
        mode: Enum['ro', 'rw'], required
        port: Integer
        extra: data/roles/web.yaml
    "#]]
    .assert_eq(&words(&in_common("profile::web::vhosts: {shop: {docroot: /x, $0}}")));
    expect![[r#"
        uid: data/roles/web.yaml
    "#]]
    .assert_eq(&words(&in_common("users:\n  - name: bob\n    $0")));
    expect![[r#"
          deep:
        snippet   deep:
        ····
    "#]]
    .assert_eq(&accepted(&in_common("level:\n  $0"), "deep"));
}

#[test]
fn values_are_the_types_words_and_those_of_other_levels() {
    expect![[r#"
        true: Boolean
        false: Boolean
    "#]]
    .assert_eq(&words(&in_common("profile::web::tls: $0")));
    expect![[r#"
        auto: Enum['auto', 'off', 'on']
        off: Enum['auto', 'off', 'on']
        on: Enum['auto', 'off', 'on']
    "#]]
    .assert_eq(&words(&in_common("profile::web::cache: $0")));
    expect![[r#"
        443: data/roles/web.yaml
    "#]]
    .assert_eq(&words(&in_common("profile::web::port: $0")));
    expect![[r#"
        adm: data/roles/web.yaml
        staff: data/roles/web.yaml
    "#]]
    .assert_eq(&words(&in_common("groups:\n  - $0")));
    expect![[r#"
        ro: Enum['ro', 'rw']
        rw: Enum['ro', 'rw']
    "#]]
    .assert_eq(&words(&in_common("profile::web::vhosts: {a: {mode: $0}}")));
    expect![[r#"
        profile::web::cache: 'off'
    "#]]
    .assert_eq(&accepted(&in_common("profile::web::cache: $0"), "off"));
    expect![[r#"
        profile::web::cache: "off"
    "#]]
    .assert_eq(&accepted(&in_common("profile::web::cache: \"o$0\""), "off"));
}

#[test]
fn json_gets_json() {
    let levels = "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: R, path: 'roles/%{role}.yaml'}, {name: J, path: c.json, data_hash: json_data}]\n";
    let json = |text: &str| {
        format!("{}{levels}#- /data/c.json\n{text}", REPO.replace("#- levels Role Common\n", ""))
    };
    expect![[r#"
        {"profile::web::port": }
        snippet {"profile::web::port": ${1:80}}
    "#]]
    .assert_eq(&accepted(&json("{\"prof$0\"}"), "profile::web::port"));
    expect![[r#"
        {"a": 1, "profile::web::aliases": []}
        snippet {"a": 1, "profile::web::aliases": [$1]}
    "#]]
    .assert_eq(&accepted(&json("{\"a\": 1, $0}"), "profile::web::aliases"));
    expect![[r#"
        {"profile::web::cache": "off"}
    "#]]
    .assert_eq(&accepted(&json("{\"profile::web::cache\": $0}"), "off"));
}

#[test]
fn of_very_many_keys_few_are_listed_and_more_are_announced() {
    let many: String =
        (0..20_000).map(|number| format!("many::key_{number}: {number}\n")).collect();
    let fixture = Fixture::new(&format!(
        "#- levels Role Common\n#- /data/roles/web.yaml\n{many}#- /data/common.yaml\nmany$0\n"
    ));
    let config = CompletionConfig::default();
    let found = complete_at(&fixture.snapshot, fixture.position(), &config).expect("words");
    assert_eq!((found.items.len(), found.is_incomplete), (50, true));
    let fixture = Fixture::new(&format!(
        "#- levels Role Common\n#- /data/roles/web.yaml\n{many}#- /data/common.yaml\nmany::key_1999$0\n"
    ));
    let found = complete_at(&fixture.snapshot, fixture.position(), &config).expect("words");
    assert_eq!(found.items[0].label, "many::key_1999");
    assert_eq!(found.items.len(), 11);
}

#[test]
fn a_cancelled_request_has_no_words() {
    let fixture = Fixture::new(&in_common("prof$0"));
    let cancel = CancelToken::new(|| true);
    let position = fixture.position();
    let snapshot = fixture.snapshot.with_cancel_token(cancel);
    assert_eq!(complete_at(&snapshot, position, &CompletionConfig::default()), None);
}

#[test]
fn quotes_and_braces_ask_for_nothing_outside_of_tokens() {
    let asked = |text: &str, trigger: char| {
        let fixture = Fixture::new(&in_common(text));
        let config = CompletionConfig { trigger: Some(trigger), ..CompletionConfig::default() };
        complete_at(&fixture.snapshot, fixture.position(), &config).is_some()
    };
    assert!(!asked("profile::web::cache: \"$0", '"'));
    assert!(!asked("a: {$0", '{'));
    assert!(!asked("a: x.$0", '.'));
    assert!(asked("a: \"%{$0", '{'));
    assert!(asked("a: \"%{lookup('$0", '\''));
    assert!(asked("profile::$0", ':'));
}

/// The cursor is before a value that is there: YAML has no text behind a scalar.
#[test]
fn a_value_takes_the_place_of_the_one_that_follows() {
    let text = |line: &str| {
        format!(
            "#- levels Role Common\n#- /data/roles/web.yaml\nport: \"%{{lookup('base')}}\"\n\
             #- /data/common.yaml\nother: \"x\"\n{line}\n"
        )
    };
    let label = "%{lookup('base')}";
    for line in
        ["port: $0\"old\"", "port: $0 'old one'", "port: $0old one", "port: $0", "port: '$0it''s'"]
    {
        let expected = if line.contains("'$0") {
            "port: '%{lookup(''base'')}'\n"
        } else {
            "port: \"%{lookup('base')}\"\n"
        };
        assert_eq!(accepted(&text(line), label), expected, "{line}");
    }
    let line = "port: $0old # why";
    assert_eq!(accepted(&text(line), label), "port: \"%{lookup('base')}\" # why\n");
    let line = "port: [$0old, new]";
    let list = text(line).replace("port: \"%{lookup('base')}\"", "port: [\"%{lookup('base')}\"]");
    assert_eq!(accepted(&list, label), "port: [\"%{lookup('base')}\", new]\n");
}

/// The value stands once, in the explanation: the detail is the type.
#[test]
fn details_are_types_and_no_values() {
    let text = "
#- levels Role Common
#- /modules/web/manifests/init.pp
class web (
  Variant[Integer[1, 65535], Array[Integer[1, 65535], 1], Hash[String, Integer]] $port,
  Integer $size = 3,
) {}
#- /data/roles/web.yaml
web::port: 443
web::other: 4711
#- /data/common.yaml
web::$0
";
    expect![[r#"
        web::port: Variant[Integer[1, 65535], Array[Integer…, required
        web::size: Integer
        web::other
    "#]]
    .assert_eq(&words(text));
}
