//! Keys of class parameters whose effect depends on declarations and defaults in code.

use expect_test::expect;

use super::check;

#[test]
fn a_null_keeps_the_default_of_the_class() {
    check(
        "
#- levels Role Common
#- /data/roles/web.yaml
web::port: ~
web::owner:
web::opt: ~
web::required: ~
web::list: ~
web::pin: ~
#- /data/common.yaml
lookup_options: {web::list: {merge: unique}, '^web::p[i]n$': {convert_to: Sensitive}}
given::port: ~
#- /manifests/site.pp
class { 'given': port => $port }
#- /modules/given/manifests/init.pp
class given($port = 80) {}
#- /modules/web/manifests/init.pp
class web($port = 80, $owner = 'root', $opt = undef, $required, $list = [1], $pin = 'x') {}
",
        expect![[r#"
            data/roles/web.yaml:1:1: hint: a null is no value for a parameter: 'port' of the class 'web' keeps its default, and no lower level is searched [null-keeps-default]
              1 | web::port: ~
                | ^^^^^^^^^
                modules/web/manifests/init.pp:1:11: the parameter is declared here
            data/roles/web.yaml:2:1: hint: a null is no value for a parameter: 'owner' of the class 'web' keeps its default, and no lower level is searched [null-keeps-default]
              2 | web::owner:
                | ^^^^^^^^^^
                modules/web/manifests/init.pp:1:23: the parameter is declared here
        "#]],
    );
}

#[test]
fn a_merge_in_a_default_is_reported_where_data_has_the_key() {
    check(
        "
#- levels Role Common
#- /data/roles/web.yaml
web::admins: [a]
#- /data/common.yaml
web::admins: [b]
web::alone: [a]
web::first: [a]
web::other: [a]
web::asked: [a]
shared: [a]
#- /modules/web/manifests/init.pp
class web(
  $admins = lookup('web::admins', Array, 'unique'),
  $alone = lookup('web::alone', {merge => {strategy => deep}}),
  $first = lookup('web::first', Array, 'first'),
  $other = lookup('shared', Array, 'unique'),
  $asked = lookup('web::asked'),
) {}
",
        expect![[r#"
            data/common.yaml:1:1: warning: the default of the parameter 'admins' looks 'web::admins' up with the merge strategy 'unique', but Puppet looks it up before, without a merge, and takes what it finds: set the strategy in lookup_options [merge-in-default]
              1 | web::admins: [b]
                | ^^^^^^^^^^^
                modules/web/manifests/init.pp:2:13: the default is here
            data/common.yaml:2:1: hint: the default of the parameter 'alone' looks 'web::alone' up with the merge strategy 'deep', but Puppet looks it up before, without a merge, and takes what it finds: set the strategy in lookup_options [merge-in-default]
              2 | web::alone: [a]
                | ^^^^^^^^^^
                modules/web/manifests/init.pp:3:12: the default is here
            data/roles/web.yaml:1:1: warning: the default of the parameter 'admins' looks 'web::admins' up with the merge strategy 'unique', but Puppet looks it up before, without a merge, and takes what it finds: set the strategy in lookup_options [merge-in-default]
              1 | web::admins: [a]
                | ^^^^^^^^^^^
                modules/web/manifests/init.pp:2:13: the default is here
        "#]],
    );
}

const DECLARED: &str = "
#- /data/common.yaml
given::port: 1
given::owner: 2
undef::port: 1
splat::port: 1
both::port: 1
parent::port: 1
read::port: 1
twice::port: 1
named::port: 1
computed::a::port: 1
#- /manifests/site.pp
node default {
  class { 'given': port => 80 }
  class { 'undef': port => undef }
  class { 'splat': * => $options }
  class { 'both': port => 80 }
  class { 'read': port => lookup('read::port') }
  class { 'named': port => $port }
  class { 'computed::a': port => 80 }
  include \"computed::${role}\"
}
node 'a' { class { 'twice': port => 80 } }
node 'b' { class { 'twice': port => 81 } }
node 'c' { include both }
class child inherits parent { }
node 'd' { class { 'parent': port => 80 } }
#- /modules/given/manifests/init.pp
class given($port, $owner = 1) {}
#- /modules/undef/manifests/init.pp
class undef($port = 1) {}
#- /modules/splat/manifests/init.pp
class splat($port) {}
#- /modules/both/manifests/init.pp
class both($port) {}
#- /modules/parent/manifests/init.pp
class parent($port) {}
#- /modules/read/manifests/init.pp
class read($port) {}
#- /modules/twice/manifests/init.pp
class twice($port) {}
#- /modules/named/manifests/init.pp
class named($port) {}
#- /modules/computed/manifests/a.pp
class computed::a($port) {}
";

#[test]
fn a_parameter_that_every_declaration_gives_is_not_looked_up() {
    check(
        DECLARED,
        expect![[r#"
        data/common.yaml:1:1: hint: the only declaration of the class 'given' here gives the parameter 'port', so that Puppet does not look this key up, unless a computed name or a node classifier declares the class [never-consulted]
          1 | given::port: 1
            | ^^^^^^^^^^^
            manifests/site.pp:2:11: declared here
        data/common.yaml:8:1: hint: each of the 2 declarations of the class 'twice' here gives the parameter 'port', so that Puppet does not look this key up, unless a computed name or a node classifier declares the class [never-consulted]
          8 | twice::port: 1
            | ^^^^^^^^^^^
            manifests/site.pp:11:20: declared here
            manifests/site.pp:12:20: declared here
    "#]],
    );
}

#[test]
fn modules_that_are_not_here_may_declare_an_installed_class() {
    let site = "
#- /data/common.yaml
given::port: 1
own::port: 1
#- /Puppetfile
mod 'puppetlabs-given', '1.0.0'
mod 'puppetlabs-absent', '1.0.0'
#- /manifests/site.pp
class { 'given': port => 80 }
class { 'own': port => 80 }
#- /modules/given/manifests/init.pp
class given($port) {}
#- /modules/own/manifests/init.pp
class own($port) {}
";
    check(
        site,
        expect![[r#"
        data/common.yaml:2:1: hint: the only declaration of the class 'own' here gives the parameter 'port', so that Puppet does not look this key up, unless a node classifier declares the class [never-consulted]
          2 | own::port: 1
            | ^^^^^^^^^
            manifests/site.pp:2:9: declared here
    "#]],
    );
}

#[test]
fn calls_that_merge_can_fail() {
    check(
        "
#- levels Role Common
#- /data/roles/web.yaml
config: {a: 1}
plain: {a: 1}
#- /data/common.yaml
config: [x]
plain: [x]
#- /manifests/site.pp
$config = lookup('config', Hash, 'hash')
$plain = lookup('plain')
",
        expect![[r#"
            data/common.yaml:1:9: warning: 'config' is merged with strategy 'hash', which fails here: The second element of the merge has wrong type, expects a Hash value, got Tuple [merge-type-conflict]
              1 | config: [x]
                |         ^^^
                manifests/site.pp:1:11: this call asks for the strategy
                data/roles/web.yaml:1:1: to be merged with this
        "#]],
    );
}

#[test]
fn a_required_parameter_that_no_level_has() {
    check(
        "
#- /.hiera-ls.yaml
rules: {missing-parameter: warning}
#- levels Node Role Common
#- node web01 role=web
#- node web02 role=web
#- /data/nodes/web01.yaml
web::owner: me
#- /data/roles/web.yaml
classes: [web, '::other', absent, given]
#- /data/common.yaml
web::port: 80
names: [web]
#- /manifests/site.pp
lookup('classes', Array, 'unique').include
class { 'given': port => 80 }
#- /modules/web/manifests/init.pp
class web($port, $owner, $opt = 1) {}
#- /modules/other/manifests/init.pp
class other(Optional[String] $x) {}
#- /modules/given/manifests/init.pp
class given($port) {}
",
        expect![[r#"
            data/common.yaml:2:1: hint: nothing here reads 'names': no class parameter, no call and no token [unread-key]
              2 | names: [web]
                | ^^^^^
            data/roles/web.yaml:1:11: warning: no level has 'web::owner', and the parameter 'owner' has no default: Puppet refuses the class 'web' for web02 [missing-parameter]
              1 | classes: [web, '::other', absent, given]
                |           ^^^
                modules/web/manifests/init.pp:1:18: the parameter is declared here
            data/roles/web.yaml:1:16: warning: no level has 'other::x', and the parameter 'x' has no default: Puppet refuses the class 'other' for web01, web02 [missing-parameter]
              1 | classes: [web, '::other', absent, given]
                |                ^^^^^^^^^
                modules/other/manifests/init.pp:1:30: the parameter is declared here
        "#]],
    );
}
