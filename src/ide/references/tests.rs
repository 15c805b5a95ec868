//! References in small workspaces.

use expect_test::{Expect, expect};

use super::find_references;
use crate::fixture::Fixture;
use crate::ide::highlight::find_highlights;
use crate::text::{Encoding, Span};

/// The name that was asked about, and `role path:line:column text` of each reference; `-` where
/// there is none.
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let position = fixture.position();
    let Some(found) = find_references(&fixture.snapshot, position, true) else {
        expected.assert_eq("-");
        return;
    };
    let mut lines = format!("<{}>\n", fixture.text_at(Span::in_file(position.file, found.origin)));
    for one in &found.all {
        let file = fixture.snapshot.file(&one.path).expect("they are in files of the workspace");
        let at = file.text().expect("a text").line_col(one.range.start, Encoding::Utf32);
        let text = fixture.text_at(Span::in_file(file.id, one.range));
        let (line, column) = (at.line + 1, at.column + 1);
        lines.push_str(&format!("{:?} {}:{line}:{column} {text}\n", one.role, one.path));
    }
    expected.assert_eq(&lines);
    let highlighted = find_highlights(&fixture.snapshot, position).expect("a name");
    let here =
        found.all.iter().filter(|one| Some(&one.path) == fixture.snapshot.path_of(position.file));
    assert_eq!(highlighted.len(), here.count());
}

/// A module with a class, its data, and data of the environment.
const MODULE: &str = r#"
#- levels Role Common
#- /modules/m/manifests/web.pp
# @param port The port.
class m::web (
  Integer $port = 80,
) {
  notice("${port} $port ${port + 1} ${x.map |$y| { $port }}")
  $other = $m::web::port
}
#- /modules/m/manifests/init.pp
class m {
  class { 'm::web': port => 1 }
  notice($::m::web::port, lookup('m::web::port'), lookup("m::web::port.x"), $port)
}
#- /data/common.yaml
lookup_options:
  "m::web::port": {merge: first}
  '^m::': {merge: first}
'm::web::port': 1
other: "%{lookup('m::web::port')} %{lookup(\"m::web::port\")}"
"#;

#[test]
fn a_key_has_references_in_data_options_and_code() {
    let text = MODULE.replace("other: \"%{lookup('m::w", "other: \"%{lookup('m::$0w");
    check(
        &text,
        expect![[r#"
        <m::web::port>
        Definition /data/common.yaml:4:1 'm::web::port'
        Parameter /modules/m/manifests/web.pp:3:12 port
        OptionsEntry /data/common.yaml:2:3 "m::web::port"
        OptionsPattern /data/common.yaml:3:3 '^m::'
        Token /data/common.yaml:5:19 m::web::port
        Token /data/common.yaml:5:46 m::web::port
        Call /modules/m/manifests/init.pp:3:35 m::web::port
        Call /modules/m/manifests/init.pp:3:59 m::web::port
        Attribute /modules/m/manifests/init.pp:2:21 port
        Variable /modules/m/manifests/init.pp:3:21 port
        Variable /modules/m/manifests/web.pp:5:13 port
        Variable /modules/m/manifests/web.pp:5:20 port
        Variable /modules/m/manifests/web.pp:5:53 port
        Variable /modules/m/manifests/web.pp:6:21 port
        Documentation /modules/m/manifests/web.pp:1:10 port
    "#]],
    );
}

#[test]
fn a_parameter_in_code_is_the_key() {
    for (written, with_cursor) in [
        ("Integer $port", "Integer $po$0rt"),
        ("param port", "param po$0rt"),
        ("${port} $p", "${port} $p$0"),
        ("::m::web::port,", "::m::web::po$0rt,"),
        ("{ 'm::web': port", "{ 'm::web': po$0rt"),
        ("lookup('m::web::port'), l", "lookup('m::$0web::port'), l"),
    ] {
        let fixture = Fixture::new(&MODULE.replacen(written, with_cursor, 1));
        let found = find_references(&fixture.snapshot, fixture.position(), true);
        let count = found.map_or(0, |found| found.all.len());
        assert_eq!(count, 15, "{with_cursor}");
    }
}

#[test]
fn a_part_of_a_key_has_its_own_references() {
    check(
        r#"
#- levels Role Common
#- /data/roles/web.yaml
k: {a: {b: 2}, c: 1}
asks: "%{lookup('k.a')} %{lookup('k.a.b')} %{lookup('k')} %{lookup('k.c')} %{lookup('ka.a')}"
#- /data/common.yaml
k:
  $0a:
    b: 1
"#,
        expect![[r#"
            <a>
            Definition /data/common.yaml:2:3 a
            Definition /data/roles/web.yaml:1:5 a
            Token /data/roles/web.yaml:2:20 a
            Token /data/roles/web.yaml:2:37 a
        "#]],
    );
}

#[test]
fn the_part_under_the_cursor_is_meant() {
    let text = r#"
#- levels Role Common
#- /data/roles/web.yaml
asks: "%{lookup('k.a.b')}"
#- /data/common.yaml
k: {a: {b: 1}}
"#;
    let count = |token: &str| {
        let fixture = Fixture::new(&text.replace("k.a.b", token));
        let found = find_references(&fixture.snapshot, fixture.position(), true).expect("a name");
        fixture.text_at(Span::in_file(fixture.position().file, found.origin)).to_string()
    };
    assert_eq!([count("$0k.a.b"), count("k.$0a.b"), count("k.a.b$0")], ["k", "a", "b"]);
}

#[test]
fn keys_that_a_module_passes_over_are_no_definitions() {
    check(
        r#"
#- levels Common
#- /modules/m/hiera.yaml
version: 5
hierarchy: [{name: Common, path: common.yaml}]
#- /modules/m/data/common.yaml
m::k: 1
k: 1
#- /data/common.yaml
k$0: 2
m::k: 2
"#,
        expect![[r#"
            <k>
            Definition /data/common.yaml:1:1 k
        "#]],
    );
}

#[test]
fn a_pattern_has_the_keys_that_it_matches() {
    check(
        r#"
lookup_options:
  '^m$0::': {merge: first}
m::a: 1
m::b: 1
n::a: 1
"#,
        expect![[r#"
            <'^m::'>
            Definition /data/common.yaml:3:1 m::a
            Definition /data/common.yaml:4:1 m::b
            OptionsPattern /data/common.yaml:2:3 '^m::'
        "#]],
    );
}

#[test]
fn a_variable_has_tokens_in_data_and_locations() {
    check(
        r#"
#- /hiera.yaml
version: 5
hierarchy:
- {name: Os, path: "os/%{facts.os.family}.yaml"}
- {name: Common, path: common.yaml}
#- /data/os/Debian.yaml
a: "%{::facts.os.name} %{facts.os}"
#- /data/common.yaml
b: "%{facts.o$0s.family} %{scope('facts.os')} %{os.family}"
"#,
        expect![[r#"
            <os>
            Token /data/common.yaml:1:13 os
            Token /data/common.yaml:1:39 os
            Token /data/os/Debian.yaml:1:15 os
            Token /data/os/Debian.yaml:1:32 os
            Token /hiera.yaml:3:32 os
        "#]],
    );
}

#[test]
fn references_without_declarations() {
    let fixture = Fixture::new("k$0: 1\na: \"%{lookup('k')}\"\n");
    let found = find_references(&fixture.snapshot, fixture.position(), false).expect("a name");
    assert_eq!(found.all.len(), 1);
}
