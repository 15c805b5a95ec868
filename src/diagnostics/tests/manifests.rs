//! Findings about keys in data that depend on manifests.

use expect_test::expect;

use super::check;
use crate::fixture::Fixture;

const SITE: &str = "
#- /modules/web/manifests/init.pp
class web($port = 80, Hash $config = {}, $xY = 1) inherits web::params {
  include web::vhosts
  $token = lookup('by_call')
  $hash = lookup('by_dotted.key')
  $item = lookup(\"web::item::${port}\")
}
#- /modules/web/manifests/params.pp
class web::params($owner = 'root') {}
#- /modules/web/manifests/vhosts.pp
class web::vhosts($list = []) {}
#- /modules/web/manifests/vhost.pp
define web::vhost($port) {}
#- /manifests/site.pp
node default { include web }
";

fn with_site(data: &str) -> String {
    format!("{data}{SITE}")
}

#[test]
fn keys_that_something_reads_are_left_alone() {
    check(
        &with_site(
            "
lookup_options: {web::config: {merge: deep}}
web::port: \"%{lookup('by_token')}\"
web::config: {}
web::xY: 2
web::params::owner: me
web::vhosts::list: []
web::item::a: 1
by_call: 1
by_dotted: {key: 1}
by_token: 2
web::vhost::anchored: &anchor {a: 1}
web::item::b: *anchor
",
        ),
        expect![""],
    );
}

#[test]
fn a_key_without_a_parameter() {
    check(
        &with_site(
            "
web::prot: 1
web::owner: 1
web::xy: 1
web::list: 1
web::port.number: 1
",
        ),
        expect![[r#"
            data/common.yaml:1:1: warning: the class 'web' has no parameter 'prot', and nothing else here reads this key; did you mean 'web::port'? [unknown-parameter]
              1 | web::prot: 1
                | ^^^^^^^^^
                modules/web/manifests/init.pp:1:7: the class is defined here
            data/common.yaml:2:1: warning: the class 'web' has no parameter 'owner', and nothing else here reads this key; the class 'web::params' that it inherits has one, which reads 'web::params::owner' [unknown-parameter]
              2 | web::owner: 1
                | ^^^^^^^^^^
                modules/web/manifests/init.pp:1:7: the class is defined here
            data/common.yaml:3:1: warning: the class 'web' has no parameter 'xy', and nothing else here reads this key; did you mean 'web::xY'? [unknown-parameter]
              3 | web::xy: 1
                | ^^^^^^^
                modules/web/manifests/init.pp:1:7: the class is defined here
            data/common.yaml:4:1: warning: the class 'web' has no parameter 'list', and nothing else here reads this key; the class 'web::vhosts' has one [unknown-parameter]
              4 | web::list: 1
                | ^^^^^^^^^
                modules/web/manifests/init.pp:1:7: the class is defined here
        "#]],
    );
}

#[test]
fn a_key_of_a_defined_type_or_of_no_class() {
    check(
        &with_site(
            "
web::vhost::port: 1
web::config::port: 1
web::vhots::list: 1
web::gone::list: 1
",
        ),
        expect![[r#"
            data/common.yaml:1:1: warning: 'web::vhost' is a defined type: Puppet looks up parameters of classes only, and nothing else here reads this key [define-parameter]
              1 | web::vhost::port: 1
                | ^^^^^^^^^^^^^^^^
                modules/web/manifests/vhost.pp:1:8: the defined type is here
            data/common.yaml:2:1: warning: the module 'web' has no class 'web::config', and nothing else here reads this key; the class 'web' has a parameter 'config', whose members stand below its key [unknown-class]
              2 | web::config::port: 1
                | ^^^^^^^^^^^^^^^^^
                modules/web/manifests/init.pp:1:28: the parameter is declared here
            data/common.yaml:3:1: warning: the module 'web' has no class 'web::vhots', and nothing else here reads this key; did you mean 'web::vhosts::list'? [unknown-class]
              3 | web::vhots::list: 1
                | ^^^^^^^^^^^^^^^^
            data/common.yaml:4:1: warning: the module 'web' has no class 'web::gone', and nothing else here reads this key [unknown-class]
              4 | web::gone::list: 1
                | ^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn a_key_of_a_class_that_puppet_does_not_find() {
    check(
        &with_site(
            "
web::lost::port: 1
web::sites::gone::port: 1
web::sites_old::port: 1
web::inner::port: 1
#- /modules/web/manifests/other.pp
class web::lost($port) {}
#- /modules/web/manifests/sites.pp
class web::sites { class inner { } }
class web::sites_old($port) {}
#- /modules/web/manifests/sites/gone/init.pp
class web::sites::gone($port) {}
",
        ),
        expect![[r#"
            data/common.yaml:1:1: warning: Puppet does not find the class 'web::lost', which it expects in 'manifests/lost.pp', and nothing else here reads this key [unknown-class]
              1 | web::lost::port: 1
                | ^^^^^^^^^^^^^^^
                modules/web/manifests/other.pp:1:7: the class is here
            data/common.yaml:2:1: warning: Puppet does not find the class 'web::sites::gone', which it expects in 'manifests/sites/gone.pp', and nothing else here reads this key [unknown-class]
              2 | web::sites::gone::port: 1
                | ^^^^^^^^^^^^^^^^^^^^^^
                modules/web/manifests/sites/gone/init.pp:1:7: the class is here
            data/common.yaml:4:1: warning: the module 'web' has no class 'web::inner', and nothing else here reads this key [unknown-class]
              4 | web::inner::port: 1
                | ^^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn a_key_without_a_reader() {
    check(
        &with_site("plain: 1\nntp::servers: []\n"),
        expect![[r#"
        data/common.yaml:1:1: hint: nothing here reads 'plain': no class parameter, no call and no token [unread-key]
          1 | plain: 1
            | ^^^^^
    "#]],
    );
    check(
        &with_site(
            "
plain: 1
ntp::servers: []
apt::sources: {}
#- /Puppetfile
mod 'puppetlabs-apt'
#- /modules/web/manifests/computed.pp
class web::computed($key) { lookup($key) }
",
        ),
        expect![[r#"
            data/common.yaml:1:1: hint: nothing here reads 'plain', unless a call with a computed key or a module that is not here does [unread-key]
              1 | plain: 1
                | ^^^^^
            data/common.yaml:2:1: hint: nothing here reads 'ntp::servers': the module 'ntp' is neither in the workspace nor in a Puppetfile [unread-key]
              2 | ntp::servers: []
                | ^^^^^^^^^^^^
        "#]],
    );
}

/// While something of the code cannot be read, nothing is claimed of it.
#[test]
fn what_is_half_typed_is_not_judged() {
    for (key, code) in [
        ("web::prot", "class web($port = 80, $) {}"),
        ("web::prot", "class web($port = 'x) {\n}"),
        ("web::gone::x", "class web($port) { $x = [ }\nclass web::other { }"),
    ] {
        let text = format!("{key}: 1\n#- /modules/web/manifests/init.pp\n{code}\n");
        assert_eq!(Fixture::new(&text).rendered_findings(), "", "{code}");
    }
}

#[test]
fn data_without_code_has_no_such_findings() {
    check("plain: 1\nweb::port: 1\n", expect![""]);
}
