//! Values against the types of the class parameters that take them.

use expect_test::expect;

use super::check;

#[test]
fn the_part_at_fault_is_marked_in_puppets_words() {
    check(
        "
web::port: '80'
web::ratio: 1
web::mode: fast
web::list:
  - 1
  - two
web::site:
  name: a
  ports: {http: 80, https: '443'}
  extra: 1
web::any: anything
web::opt: ~
#- /modules/web/manifests/init.pp
# @param port the port
class web(
  Integer[1, 65535] $port = 80,
  Float $ratio = 1.0,
  Enum['slow', 'medium'] $mode = 'slow',
  Array[Integer] $list = [],
  Struct[{name => String[1], ports => Hash[String, Web::Port], Optional[tls] => Boolean}] $site = {},
  $any = undef,
  String $opt = 'default',
) {}
#- /modules/web/types/port.pp
type Web::Port = Integer[1, 65535]
",
        expect![[r#"
            data/common.yaml:1:12: error: parameter 'port' expects an Integer value, got String: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              1 | web::port: '80'
                |            ^^^^
                modules/web/manifests/init.pp:3:21: the parameter is declared here
            data/common.yaml:2:13: error: parameter 'ratio' expects a Float value, got Integer: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              2 | web::ratio: 1
                |             ^
                modules/web/manifests/init.pp:4:9: the parameter is declared here
            data/common.yaml:3:12: error: parameter 'mode' expects a match for Enum['medium', 'slow'], got 'fast': Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              3 | web::mode: fast
                |            ^^^^
                modules/web/manifests/init.pp:5:26: the parameter is declared here
            data/common.yaml:6:5: error: parameter 'list' index 1 expects an Integer value, got String: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              6 |   - two
                |     ^^^
                modules/web/manifests/init.pp:6:18: the parameter is declared here
            data/common.yaml:9:28: error: parameter 'site' entry 'ports' entry 'https' expects a Web::Port = Integer[1, 65535] value, got String: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              9 |   ports: {http: 80, https: '443'}
                |                            ^^^^^
                modules/web/manifests/init.pp:7:91: the parameter is declared here
            data/common.yaml:10:3: error: parameter 'site' unrecognized key 'extra': Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              10 |   extra: 1
                 |   ^^^^^
                modules/web/manifests/init.pp:7:91: the parameter is declared here
            data/common.yaml:12:1: hint: a null is no value for a parameter: 'opt' of the class 'web' keeps its default, and no lower level is searched [null-keeps-default]
              12 | web::opt: ~
                 | ^^^^^^^^
                modules/web/manifests/init.pp:9:10: the parameter is declared here
        "#]],
    );
}

#[test]
fn tokens_and_ciphertexts_are_strings_of_unknown_text() {
    check(
        "
web::port: \"%{lookup('a')}\"
web::mode: \"%{lookup('a')}\"
web::user: \"%{facts.user}\"
web::list: [\"%{alias('b')}\", 1]
web::either: \"%{lookup('a')}\"
web::whole: \"%{alias('b')}\"
web::site: {\"%{facts.x}\": 1}
web::deep: {mode: \"%{lookup('a')}\", port: \"%{lookup('a')}\"}
a: x
b: 5
#- /modules/web/manifests/init.pp
class web(
  Integer $port,
  Enum['slow', 'fast'] $mode,
  Pattern[/\\Ax/] $user,
  Array[Integer] $list,
  Variant[Integer, Enum['a']] $either,
  Integer $whole,
  Struct[{name => String}] $site,
  Struct[{mode => Enum['slow'], port => Integer}] $deep,
) {}
",
        expect![[r#"
            data/common.yaml:1:12: error: parameter 'port' expects an Integer value, got String: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              1 | web::port: "%{lookup('a')}"
                |            ^^^^^^^^^^^^^^^^
                modules/web/manifests/init.pp:2:11: the parameter is declared here
            data/common.yaml:8:43: error: parameter 'deep' entry 'port' expects an Integer value, got String: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              8 | web::deep: {mode: "%{lookup('a')}", port: "%{lookup('a')}"}
                |                                           ^^^^^^^^^^^^^^^^
                modules/web/manifests/init.pp:9:51: the parameter is declared here
        "#]],
    );
}

/// A level's part of a merged value need not fit by itself.
#[test]
fn what_is_merged_or_converted_is_judged_in_the_end() {
    check(
        "
#- levels Role Common
#- /data/roles/web.yaml
web::site: {name: 1}
web::lists: x
#- /data/common.yaml
lookup_options:
  web::site: {merge: deep}
  web::lists: {merge: unique}
  web::number: {convert_to: Integer}
  web::secret: {convert_to: Sensitive}
  web::only: {merge: deep}
web::site: {port: 80}
web::lists: [y]
web::number: '5'
web::secret: s
web::plain: s
web::only: {port: x}
#- /modules/web/manifests/init.pp
class web(
  Struct[{name => String, port => Integer}] $site,
  Array[String] $lists,
  Integer $number,
  Sensitive[String] $secret,
  Sensitive[String] $plain,
  Hash[String, Integer] $only,
  Hash[String, Sensitive[String]] $nested = {},
) {}
",
        expect![[r#"
            data/common.yaml:11:13: error: the parameter takes Sensitive values, and values in data are plain: set `convert_to: Sensitive` for 'web::plain' in lookup_options; else Puppet refuses the class 'web' for nodes that take it from here [unwrapped-secret]
                modules/web/manifests/init.pp:6:21: the parameter is declared here
            data/roles/web.yaml:1:19: error: parameter 'site' entry 'name' expects a String value, got Integer: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              1 | web::site: {name: 1}
                |                   ^
                modules/web/manifests/init.pp:2:45: the parameter is declared here
        "#]],
    );
}

#[test]
fn secrets_are_wrapped() {
    check(
        "
db::password: s
db::both: s
db::nested: {a: b}
db::optional: s
#- /modules/db/manifests/init.pp
class db(
  Sensitive[String] $password,
  Variant[Sensitive[String], String] $both,
  Hash[String, Sensitive[String]] $nested,
  Optional[Db::Secret] $optional,
) {}
#- /modules/db/types/secret.pp
type Db::Secret = Sensitive[String[1]]
",
        expect![[r#"
            data/common.yaml:1:15: error: the parameter takes Sensitive values, and values in data are plain: set `convert_to: Sensitive` for 'db::password' in lookup_options; else Puppet refuses the class 'db' for nodes that take it from here [unwrapped-secret]
                modules/db/manifests/init.pp:2:21: the parameter is declared here
            data/common.yaml:3:17: error: the parameter takes Sensitive values, and values in data are plain: data cannot hold such a part, and `convert_to` wraps the whole value only; else Puppet refuses the class 'db' for nodes that take it from here [unwrapped-secret]
                modules/db/manifests/init.pp:4:35: the parameter is declared here
            data/common.yaml:4:15: error: the parameter takes Sensitive values, and values in data are plain: set `convert_to: Sensitive` for 'db::optional' in lookup_options; else Puppet refuses the class 'db' for nodes that take it from here [unwrapped-secret]
                modules/db/manifests/init.pp:5:24: the parameter is declared here
        "#]],
    );
}

#[test]
fn nodes_that_take_the_value_are_named() {
    check(
        "
#- node web01 role=web
#- node web02 role=web
#- node db01 role=db
#- levels Node Role Common
#- /data/nodes/web01.yaml
web::port: 80
#- /data/roles/web.yaml
web::port: x
#- /data/roles/db.yaml
web::port: 81
#- /data/common.yaml
web::port: y
#- /modules/web/manifests/init.pp
class web(Integer $port) {}
",
        expect![[r#"
            data/common.yaml:1:12: info: parameter 'port' expects an Integer value, got String: no known node takes it from here [parameter-type]
              1 | web::port: y
                |            ^
                modules/web/manifests/init.pp:1:19: the parameter is declared here
            data/roles/web.yaml:1:12: error: parameter 'port' expects an Integer value, got String: Puppet refuses the class 'web' for web02 [parameter-type]
              1 | web::port: x
                |            ^
                modules/web/manifests/init.pp:1:19: the parameter is declared here
        "#]],
    );
}

/// Values of unknown types are left to Puppet.
#[test]
fn types_of_modules_that_are_not_here_are_not_judged() {
    check(
        "
web::a: 1
web::b: [1]
web::c: 1
web::d: 1
web::e: 1
web::f: 1
#- /modules/web/manifests/init.pp
class web(
  Stdlib::Port $a,
  Array[Stdlib::Absolutepath] $b,
  Enum[$facts['os']['family']] $c,
  Web::Ruby $d,
  Web::Itself $e,
  Web::Gone $f,
) {}
#- /modules/web/lib/puppet/datatypes/ruby.rb
Puppet::DataTypes.create_type('Web::Ruby') { }
#- /modules/web/types/itself.pp
type Web::Itself = Web::Itself
",
        expect![""],
    );
}

#[test]
fn types_may_be_recursive() {
    check(
        "
web::good: {a: {b: [1]}}
web::bad: {a: {b: [x]}}
#- /modules/web/manifests/init.pp
class web(Web::Tree $good, Web::Tree $bad) {}
#- /modules/web/types/tree.pp
type Web::Tree = Variant[Integer, Array[Web::Tree], Hash[String, Web::Tree]]
",
        expect![[r#"
            data/common.yaml:2:20: error: parameter 'bad' variant 2 entry 'a' variant 2 entry 'b' variant 1 index 0 expects a Web::Tree = Variant[Integer, Array[Web::Tree], Hash[String, Web::Tree]] value, got String: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
              2 | web::bad: {a: {b: [x]}}
                |                    ^
                modules/web/manifests/init.pp:1:38: the parameter is declared here
        "#]],
    );
}

/// Source: Puppet 7.23, `include web`: "parameter 'token' expects a value of type Undef or
/// Sensitive[String], got Sensitive[Undef]".
#[test]
fn a_null_that_is_converted_is_no_default() {
    check(
        "
lookup_options:
  '^web::': {convert_to: Sensitive}
web::token: ~
web::any: ~
web::plain: ~
#- /modules/web/manifests/init.pp
class web(
  Optional[Sensitive[String]] $token = undef,
  Sensitive $any = undef,
  Optional[String] $plain = undef,
) {}
",
        expect![[r#"
            data/common.yaml:3:13: error: parameter 'token' expects Optional[Sensitive[String]]: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
                modules/web/manifests/init.pp:2:31: the parameter is declared here
            data/common.yaml:5:13: error: parameter 'plain' expects Optional[String]: Puppet refuses the class 'web' for nodes that take it from here [parameter-type]
                modules/web/manifests/init.pp:4:20: the parameter is declared here
        "#]],
    );
    check(
        "
web::token: ~
#- /modules/web/manifests/init.pp
class web(Optional[Sensitive[String]] $token = undef) {}
",
        expect![""],
    );
}
