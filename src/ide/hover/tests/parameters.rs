//! Class parameters: their defaults, documentation and other readers, from data and from code.

use expect_test::expect;

use super::{check, check_markdown};

const FILES: &str = r#"
#- levels Role Common
#- scope web01 role=web
#- /modules/web/manifests/init.pp
# @param port
#   The port to listen on.
#   Above 1024 without root.
# @param pin a secret
class web (
  Integer $port = 80,
  Sensitive[String] $pin = Sensitive('hunter2'),
  String $user = $web::params::user,
  String $group = $user,
  $size = fact('size'),
  String $needed,
  Struct[{name => String, Optional[tls] => Hash[String, Integer]}] $site = { 'name' => 'x' },
) inherits web::params { notice("${port}") }
#- /modules/web/manifests/params.pp
class web::params ($user = 'www') { }
#- /manifests/site.pp
class { 'web': port => 8080 }
$x = lookup('web::port', Integer)
$y = lookup("web::${z}")
#- /data/roles/web.yaml
token: "%{lookup('web::port')}"
"#;

fn data(text: &str) -> String {
    format!("{FILES}#- /data/common.yaml\n{text}\n")
}

/// The files with `$0` at a place of code.
fn code(from: &str, to: &str) -> String {
    assert!(FILES.contains(from));
    FILES.replacen(from, to, 1)
}

#[test]
fn a_key_has_the_documentation_the_default_and_the_other_readers() {
    check(
        &data("web::po$0rt: 443"),
        expect![[r#"
        <web::port>
        web::port · Integer · class web modules/web/manifests/init.pp:6
        node web01
        from Common data/common.yaml:1

          443

        The port to listen on.
        Above 1024 without root.

        - default 80
        - given by 1 declaration: manifests/site.pp:1
        - also read by lookup manifests/site.pp:2, data/roles/web.yaml:1; perhaps by web::* manifests/site.pp:3
    "#]],
    );
}

#[test]
fn places_are_links_in_markdown() {
    check_markdown(
        &data("web::po$0rt: 443"),
        expect![[r#"
            <web::port>
            **web::port** · `Integer` · [class web](file:///modules/web/manifests/init.pp#L6)  
            node `web01`  
            from **Common** [data/common.yaml:1](file:///data/common.yaml#L1)

            ```yaml
            443
            ```

            The port to listen on.  
            Above 1024 without root.

            - default `80`
            - given by 1 declaration: [manifests/site.pp:1](file:///manifests/site.pp#L1)
            - also read by `lookup` [manifests/site.pp:2](file:///manifests/site.pp#L2), [data/roles/web.yaml:1](file:///data/roles/web.yaml#L1); perhaps by `web::*` [manifests/site.pp:3](file:///manifests/site.pp#L3)
        "#]],
    );
}

#[test]
fn a_sensitive_default_is_not_shown() {
    check(
        &data("web::pi$0n: x"),
        expect![[r#"
        <web::pin>
        web::pin · Sensitive[String] · class web modules/web/manifests/init.pp:7
        node web01
        from Common data/common.yaml:1

          x

        a secret

        - perhaps also read by web::* manifests/site.pp:3
    "#]],
    );
}

#[test]
fn a_member_has_its_type() {
    check(
        &data("web::site: {na$0me: x}"),
        expect![[r#"
        <name>
        web::site.name · class web modules/web/manifests/init.pp:12
        node web01
        from Common data/common.yaml:1

          x

        of type String, required
    "#]],
    );
    check(
        &data("web::site: {name: x, tls: {versi$0on: 1}}"),
        expect![[r#"
        <version>
        web::site.tls.version · class web modules/web/manifests/init.pp:12
        node web01
        from Common data/common.yaml:1

          1

        of type Integer
    "#]],
    );
}

#[test]
fn the_hash_of_facts_is_no_default_that_is_known() {
    check(
        "#- scope web01 facts.os.family=Debian
#- /modules/web/manifests/init.pp
class web($al$0l = $facts, $os = $facts['os']) {}
#- /data/common.yaml
k: 1
",
        expect![[r#"
            <all>
            web::all · class web modules/web/manifests/init.pp:1
            node web01

            No level has it; the parameter takes the default of the class, $facts.

            - default $facts
        "#]],
    );
}

#[test]
fn a_parameter_that_no_level_has_takes_its_default() {
    check(
        &code("Integer $port", "Integer $po$0rt"),
        expect![[r#"
            <port>
            web::port · Integer · class web modules/web/manifests/init.pp:6
            node web01

            No level has it; this is the default of the class:

              80

            The port to listen on.
            Above 1024 without root.

            - default 80
            - given by 1 declaration: manifests/site.pp:1
            - also read by lookup manifests/site.pp:2, data/roles/web.yaml:1; perhaps by web::* manifests/site.pp:3
        "#]],
    );
    check(
        &code("String $user", "String $us$0er"),
        expect![[r#"
            <user>
            web::user · String · class web modules/web/manifests/init.pp:8
            node web01

            No level has it; this is the default of the class:

              www

            - default $web::params::user
            - perhaps also read by web::* manifests/site.pp:3
        "#]],
    );
    check(
        &code("String $group", "String $gr$0oup"),
        expect![[r#"
            <group>
            web::group · String · class web modules/web/manifests/init.pp:9
            node web01

            No level has it; this is the default of the class:

              www

            - default $user
            - perhaps also read by web::* manifests/site.pp:3
        "#]],
    );
    check(
        &code("$size =", "$si$0ze ="),
        expect![[r#"
            <size>
            web::size · class web modules/web/manifests/init.pp:10
            node web01

            No level has it; the parameter takes the default of the class, fact('size').

            - default fact('size')
            - perhaps also read by web::* manifests/site.pp:3
        "#]],
    );
    check(
        &code("$pin =", "$pi$0n ="),
        expect![[r#"
            <pin>
            web::pin · Sensitive[String] · class web modules/web/manifests/init.pp:7
            node web01

            No level has it; the parameter takes the default of the class.

            a secret

            - perhaps also read by web::* manifests/site.pp:3
        "#]],
    );
}

#[test]
fn a_required_parameter_that_no_level_has_is_an_error_of_puppet() {
    check(
        &code("$needed", "$nee$0ded"),
        expect![[r#"
            <needed>
            web::needed · String · class web modules/web/manifests/init.pp:11
            node web01

            No level has it, and the parameter has no default: Puppet refuses the class web.

            - perhaps also read by web::* manifests/site.pp:3
        "#]],
    );
}

#[test]
fn code_shows_the_value_of_data() {
    let with =
        |from: &str, to: &str| format!("{}#- /data/common.yaml\nweb::port: 443\n", code(from, to));
    check(
        &with("lookup('web::port'", "lookup('web::po$0rt'"),
        expect![[r#"
            <web::port>
            web::port · Integer · class web modules/web/manifests/init.pp:6
            node web01
            from Common data/common.yaml:1

              443
        "#]],
    );
    check(
        &with("port => 8080", "po$0rt => 8080"),
        expect![[r#"
            <port>
            web::port · Integer · class web modules/web/manifests/init.pp:6
            node web01
            from Common data/common.yaml:1

              443

            The port to listen on.
            Above 1024 without root.

            - default 80
            - given by 1 declaration: manifests/site.pp:1
            - also read by lookup manifests/site.pp:2, data/roles/web.yaml:1; perhaps by web::* manifests/site.pp:3
        "#]],
    );
    check(
        &with("${port}", "${po$0rt}"),
        expect![[r#"
            <port>
            web::port · Integer · class web modules/web/manifests/init.pp:6
            node web01
            from Common data/common.yaml:1

              443

            The port to listen on.
            Above 1024 without root.

            - default 80
            - given by 1 declaration: manifests/site.pp:1
            - also read by lookup manifests/site.pp:2, data/roles/web.yaml:1; perhaps by web::* manifests/site.pp:3
        "#]],
    );
}

/// The default of a parameter takes no part in a call or a token.
#[test]
fn a_call_gets_no_default() {
    check(
        &code("lookup('web::port'", "lookup('web::po$0rt'"),
        expect![[r#"
            <web::port>
            web::port · Integer · class web modules/web/manifests/init.pp:6
            node web01

            No value is found, unless it is in the data of level 'Common', of which files are missing here.
        "#]],
    );
    check(
        &code("%{lookup('web::port')}", "%{lookup('web::po$0rt')}"),
        expect![[r#"
            <web::port>
            web::port · Integer · class web modules/web/manifests/init.pp:6
            node web01

            No value is found, unless it is in the data of level 'Common', of which files are missing here.
        "#]],
    );
}

#[test]
fn code_that_names_no_key_has_no_hover() {
    check(&code("notice(", "not$0ice("), expect![["-"]]);
}

const TYPED: &str = r#"
#- levels Common
#- /modules/net/types/address.pp
# @summary An address.
#
# Of either version.
type Net::Address = Variant[
  Pattern[/^\d+(\.\d+){3}$/],
  Net::Ipv6,
]
#- /modules/net/types/ipv6.pp
type Net::Ipv6 = Pattern[/^[0-9a-f:]+$/]
#- /modules/net/types/secret.pp
type Net::Secret = Sensitive[String]
#- /modules/net/manifests/init.pp
class net (
  Array[::Net::Address] $servers = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'],
  Hash[String, Integer] $limits = {
    'soft' => 1024,
    'hard' => 4096,
  },
  Net::Secret $pin = Sensitive('hunter2'),
  Array[Integer] $ports = [80],
) { }
"#;

#[test]
fn a_long_declaration_and_type_aliases_are_spelt_out() {
    let data = |text: &str| format!("{TYPED}#- /data/common.yaml\n{text}\n");
    check(
        &data("net::ser$0vers: []"),
        expect![[r#"
            <net::servers>
            net::servers · Array[::Net::Address] · class net modules/net/manifests/init.pp:2
            for any node, as none is known
            from Common data/common.yaml:1

              []

              Array[::Net::Address] $servers = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']
              type Net::Address = Variant[
                Pattern[/^\d+(\.\d+){3}$/],
                Net::Ipv6,
              ]
              type Net::Ipv6 = Pattern[/^[0-9a-f:]+$/]
        "#]],
    );
    check_markdown(
        &data("net::lim$0its: {}"),
        expect![[r#"
            <net::limits>
            **net::limits** · `Hash[String, Integer]` · [class net](file:///modules/net/manifests/init.pp#L3)  
            for any node, as none is known  
            from **Common** [data/common.yaml:1](file:///data/common.yaml#L1)

            ```yaml
            {}
            ```

            - default `{ 'soft' => 1024, 'hard' => 4096, }`
        "#]],
    );
    check(
        &data("net::pi$0n: x"),
        expect![[r#"
            <net::pin>
            net::pin · Net::Secret · class net modules/net/manifests/init.pp:7
            for any node, as none is known
            from Common data/common.yaml:1

              x

              Net::Secret $pin
              type Net::Secret = Sensitive[String]
        "#]],
    );
    check(
        &data("net::po$0rts: []"),
        expect![[r#"
            <net::ports>
            net::ports · Array[Integer] · class net modules/net/manifests/init.pp:8
            for any node, as none is known
            from Common data/common.yaml:1

              []

            - default [80]
        "#]],
    );
}

#[test]
fn a_type_alias_in_code_has_its_definition() {
    let code = |from: &str, to: &str| {
        assert!(TYPED.contains(from));
        TYPED.replacen(from, to, 1) + "#- /data/common.yaml\na: 1\n"
    };
    check(
        &code("[::Net::Address]", "[::Net::Add$0ress]"),
        expect![[r#"
        <::Net::Address>
          type Net::Address = Variant[
            Pattern[/^\d+(\.\d+){3}$/],
            Net::Ipv6,
          ]
          type Net::Ipv6 = Pattern[/^[0-9a-f:]+$/]

        An address.

        Of either version.
    "#]],
    );
    check_markdown(
        &code("type Net::Ipv6", "type Net::Ip$0v6"),
        expect![[r#"
        <Net::Ipv6>
        ```puppet
        type Net::Ipv6 = Pattern[/^[0-9a-f:]+$/]
        ```
    "#]],
    );
}
