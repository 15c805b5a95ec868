//! Renames in small workspaces: the resulting texts, or the reason of the refusal.

use expect_test::{Expect, expect};

use super::{prepare, rename};
use crate::fixture::Fixture;
use crate::text::{Span, TextEdit};

/// The files that change, with the lines that are new; or the error.
fn check(text: &str, new: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let (snapshot, position) = (&fixture.snapshot, fixture.position());
    let shown = match rename(snapshot, position, new) {
        Err(error) => format!("{error}\n"),
        Ok(renamed) => {
            let note = renamed.comments_note();
            let change = renamed.change;
            let mut shown = String::new();
            for (path, edits) in &change.edits {
                let text = snapshot.file(path).expect("a file").text().expect("a text").to_str();
                let after = TextEdit::apply_all(edits, &text);
                shown.push_str(&format!("{path}\n"));
                let lines = text.lines().zip(after.lines()).filter(|(old, new)| old != new);
                lines.for_each(|(_, line)| shown.push_str(&format!("  {line}\n")));
            }
            note.iter().for_each(|note| shown.push_str(&format!("{note}\n")));
            shown
        }
    };
    expected.assert_eq(&shown);
}

#[test]
fn each_place_keeps_its_way_of_writing() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
'ol$0d': 1
asks: '%{lookup(''old'')} %{lookup("old.x")} %{hiera(''old'')}'
#- /data/roles/web.yaml
{"old": 1, asks: "%{lookup(\"old\")}"}
#- /data/roles/db.yaml
? old
: 1
asks: |
  first %{alias('old')}
#- /data/common.yaml
lookup_options:
  "old": {merge: first}
:old: 1
old: 2
older: 1
folded: >-
  %{lookup('older')}
  %{lookup('old')}
"#,
        "new",
        expect![[r#"
            /data/common.yaml
                "new": {merge: first}
              :new: 1
              new: 2
                %{lookup('new')}
            /data/nodes/web01.yaml
              'new': 1
              asks: '%{lookup(''new'')} %{lookup("new.x")} %{hiera(''new'')}'
            /data/roles/db.yaml
              ? new
                first %{alias('new')}
            /data/roles/web.yaml
              {"new": 1, asks: "%{lookup(\"new\")}"}
        "#]],
    );
    check(
        r#"
#- levels Role Common
#- /data/roles/web.yaml
{"old": 1}
#- /data/common.yaml
lookup_options:
  "old": {merge: first}
old$0: 2
asks: '%{lookup(''old'')} %{lookup("old.x")} %{hiera(''old'')}'
folded: >-
  %{lookup('old')}
"#,
        "new",
        expect![[r#"
            /data/common.yaml
                "new": {merge: first}
              new: 2
              asks: '%{lookup(''new'')} %{lookup("new.x")} %{hiera(''new'')}'
                %{lookup('new')}
            /data/roles/web.yaml
              {"new": 1}
        "#]],
    );
}

#[test]
fn a_name_that_yaml_reads_as_another_type_gets_quotes() {
    let text = "old$0: 1\nflow: {x: \"%{lookup('old')}\"}\n\"quoted\": 1\n";
    check(
        text,
        "yes",
        expect![[r#"
        /data/common.yaml
          'yes': 1
          flow: {x: "%{lookup('yes')}"}
    "#]],
    );
    check(
        text,
        "-x",
        expect![[r#"
        /data/common.yaml
          '-x': 1
          flow: {x: "%{lookup('-x')}"}
    "#]],
    );
    check(
        ":old$0: 1\n",
        "yes",
        expect![[r#"
        not renamed: the name at data/common.yaml:1 is written with escapes, or an anchor shares it
    "#]],
    );
}

#[test]
fn names_that_cannot_be_written_are_refused() {
    for name in ["", "a b", "a.b", "a'b", "a\"b", "a%{b", "a}", ":a", "a:", "12", "lookup_options"]
    {
        let fixture = Fixture::new("old$0: 1\n");
        let error = rename(&fixture.snapshot, fixture.position(), name).unwrap_err();
        assert!(error.to_string().contains("no name for a key"), "{name}: {error}");
    }
}

#[test]
fn names_in_use_are_refused() {
    for other in ["new: 2", "x: \"%{lookup('new')}\"", "lookup_options: {new: {merge: first}}"] {
        let fixture = Fixture::new(&format!("old$0: 1\n{other}\n"));
        let error = rename(&fixture.snapshot, fixture.position(), "new").unwrap_err();
        let expected = "not renamed: `new` is already used in data/common.yaml:2";
        assert_eq!(error.to_string(), expected, "{other}");
    }
}

/// A module with a class and the calls of another, and data for it.
fn module(class: &str, other: &str, data: &str) -> String {
    format!(
        "#- levels Common\n#- /modules/m/manifests/web.pp\n{class}\n\
         #- /modules/m/manifests/init.pp\n{other}\n\
         #- /modules/m/templates/port.erb\n<%= @port %>\n\
         #- /modules/m/templates/other.erb\n<%= @other %> report\n\
         #- /data/common.yaml\n{data}\n"
    )
}

const CLASS: &str = "# @param port The port.\nclass m::web(Integer $port = 80, $other = $port) {\n  notice(\"${port} $port\")\n}";

#[test]
fn a_class_parameter_is_renamed_with_its_uses() {
    let other = "class m {\n  class { 'm::web': port => 1 }\n  notice($m::web::port, lookup('m::web::port'), lookup(\"m::web::port\"))\n}";
    let text = module(CLASS, other, "m::web::$0port: 1\nx: \"%{lookup('m::web::port')}\"");
    check(
        &text,
        "m::web::listen",
        expect![[r#"
        /data/common.yaml
          m::web::listen: 1
          x: "%{lookup('m::web::listen')}"
        /modules/m/manifests/init.pp
            class { 'm::web': listen => 1 }
            notice($m::web::listen, lookup('m::web::listen'), lookup("m::web::listen"))
        /modules/m/manifests/web.pp
          # @param listen The port.
          class m::web(Integer $listen = 80, $other = $listen) {
            notice("${listen} $listen")
    "#]],
    );
    let from_class =
        module(&CLASS.replace("Integer $port", "Integer $po$0rt"), other, "m::web::port: 1");
    check(
        &from_class,
        "listen",
        expect![[r#"
        /data/common.yaml
          m::web::listen: 1
        /modules/m/manifests/init.pp
            class { 'm::web': listen => 1 }
            notice($m::web::listen, lookup('m::web::listen'), lookup("m::web::listen"))
        /modules/m/manifests/web.pp
          # @param listen The port.
          class m::web(Integer $listen = 80, $other = $listen) {
            notice("${listen} $listen")
    "#]],
    );
    check(
        &text,
        "m::db::port",
        expect![[r#"
        not renamed: the key is a parameter of `m::web`: its new name must be one, too
    "#]],
    );
    check(
        &text,
        "m::web::other",
        expect![[r#"
            not renamed: `m::web::other` is already used in modules/m/manifests/web.pp:2
        "#]],
    );
    check(
        &text,
        "m::web::title",
        expect![[r#"
        not renamed: `title` is no name for a parameter
    "#]],
    );
}

#[test]
fn a_class_parameter_that_others_may_use_is_refused() {
    let with = |body: &str, other: &str, expected: Expect| {
        let class = format!("class m::web(Integer $port = 80) {{\n  {body}\n}}");
        check(&module(&class, other, "m::web::$0port: 1"), "m::web::listen", expected);
    };
    with(
        "$x = template('m/other.erb')",
        "",
        expect![[r#"
        /data/common.yaml
          m::web::listen: 1
        /modules/m/manifests/web.pp
          class m::web(Integer $listen = 80) {
    "#]],
    );
    with(
        "$x = template('m/port.erb')",
        "",
        expect![[r#"
            not renamed: modules/m/templates/port.erb:1 may use it
        "#]],
    );
    with(
        "$x = template('m/none.erb')",
        "",
        expect![[r#"
            not renamed: modules/m/templates/none.erb, which modules/m/manifests/web.pp:2 renders and which is not here, may use it
        "#]],
    );
    with(
        "$x = inline_epp($y)",
        "",
        expect![[r#"
            not renamed: modules/m/manifests/web.pp:2 renders a template that is not known
        "#]],
    );
    with(
        "$x.each |$port| { notice($port) }",
        "",
        expect![[r#"
        not renamed: modules/m/manifests/web.pp:2 has another variable of its name
    "#]],
    );
    with(
        "$listen = 1",
        "",
        expect![[r#"
            not renamed: `$listen` is already used in modules/m/manifests/web.pp:2
        "#]],
    );
    with(
        "$x = getvar('port')",
        "",
        expect![[r#"
            not renamed: modules/m/manifests/web.pp:2 names it in a string
        "#]],
    );
    with(
        "",
        "class m inherits m::web { notice($port) }",
        expect![[r#"
        not renamed: modules/m/manifests/init.pp:1 inherits `m::web`
    "#]],
    );
    with(
        "",
        "class m { class { 'm::web': * => $all } }",
        expect![[r#"
        not renamed: modules/m/manifests/init.pp:1 gives `m::web` parameters by a hash
    "#]],
    );
    with(
        "",
        "class m { create_resources('class', $all) }",
        expect![[r#"
        not renamed: modules/m/manifests/init.pp:1 declares classes whose names are computed
    "#]],
    );
    with(
        "",
        "class m { notice(Class['m::web']['port']) }",
        expect![[r#"
        not renamed: modules/m/manifests/init.pp:1 uses parameters of `m::web`
    "#]],
    );
    with(
        "",
        "class m { $key = 'm::web::port' }",
        expect![[r#"
        not renamed: modules/m/manifests/init.pp:1 computes a name that may be this one
    "#]],
    );
}

#[test]
fn keys_that_unknown_code_may_read_are_refused() {
    let data = "m::web::$0port: 1";
    let check_with = |other: &str, data: &str, expected: Expect| {
        check(&module("class m::web {}", other, data), "m::web::listen", expected);
    };
    check_with(
        "class m { lookup(\"m::web::${x}\") }",
        data,
        expect![[r#"
        not renamed: modules/m/manifests/init.pp:1 computes a name that may be this one
    "#]],
    );
    check_with(
        "class m { lookup($x) }",
        data,
        expect![[r#"
        not renamed: modules/m/manifests/init.pp:1 computes a name that may be this one
    "#]],
    );
    check_with(
        "class m { lookup('m::web::listen') }",
        data,
        expect![[r#"
            not renamed: `m::web::listen` is already used in modules/m/manifests/init.pp:1
        "#]],
    );
    check_with(
        "class m { }",
        "n::web::$0port: 1",
        expect![[r#"
        not renamed: the code of the module `n`, which may read the key, is not in the workspace
    "#]],
    );
    let installed = "#- /Puppetfile\nmod 'puppet/n', '1.0.0'\n";
    check(
        &format!("{installed}#- /data/common.yaml\nn::web::$0port: 1\n"),
        "n::web::x",
        expect![[r#"
            not renamed: the code of the module `n`, which may read the key, is not in the workspace
        "#]],
    );
    check(
        &format!("{installed}#- /data/common.yaml\nport$0: 1\n"),
        "n::web::x",
        expect![[r#"
        not renamed: the code of the module `n`, which may read the key, is not in the workspace
    "#]],
    );
}

#[test]
fn options_must_serve_both_names() {
    let text = "lookup_options:\n  '^old': {merge: first}\nold$0: 1\n";
    check(
        text,
        "new",
        expect![[r#"
        not renamed: the pattern `^old` of lookup_options matches only one of both names
    "#]],
    );
    check(
        text,
        "older",
        expect![[r#"
        /data/common.yaml
          older: 1
    "#]],
    );
    check(
        "lookup_options: {'^$0old': {merge: first}}\n",
        "new",
        expect![[r#"
            not renamed: `^old` is a pattern, which may match several keys
        "#]],
    );
    check(
        "lookup_options: {'%{x}': {merge: first}}\nold$0: 1\n",
        "new",
        expect![[r#"
        not renamed: tokens decide the entries of lookup_options in data/common.yaml
    "#]],
    );
}

#[test]
fn places_that_cannot_take_a_name_are_refused() {
    check(
        "&a old$0: 1\nx: *a\n",
        "new",
        expect![[r#"
        not renamed: the name at data/common.yaml:1 is written with escapes, or an anchor shares it
    "#]],
    );
    check(
        "x: &a {old: 1}\n<<: *a\ny: \"%{lookup('ol$0d')}\"\n",
        "new",
        expect![[r#"
        not renamed: the name at data/common.yaml:1 is written with escapes, or an anchor shares it
    "#]],
    );
    check(
        "old$0: 1\nx: \"%{lookup('\\x6fld')}\"\n",
        "new",
        expect![[r#"
        not renamed: the name at data/common.yaml:2 is written with escapes, or an anchor shares it
    "#]],
    );
    check(
        "old$0: 1\nsops: {mac: x}\n",
        "new",
        expect![[r#"
            not renamed: the file of data/common.yaml:1 is sealed with a checksum by SOPS
        "#]],
    );
    check(
        "#- levels Role Common\n#- /data/roles/web.yaml\nold: [\n#- /data/common.yaml\nold$0: 1\n",
        "new",
        expect![[r#"
            not renamed: data/roles/web.yaml cannot be read, and may name the key
        "#]],
    );
    check(
        "old: $01\n",
        "new",
        expect![[r#"
        there is no key here that could be renamed
    "#]],
    );
    check(
        "x: \"%{fa$0ct}\"\n",
        "new",
        expect![[r#"
            not renamed: facts or code set this variable: only keys of data can be renamed
        "#]],
    );
}

#[test]
fn data_of_a_module_keeps_its_namespace() {
    check(
        "#- levels Common\n#- /modules/m/hiera.yaml\nversion: 5\nhierarchy: [{name: Common, path: common.yaml}]\n#- /modules/m/manifests/init.pp\nclass m {}\n#- /modules/m/data/common.yaml\nm::old$0: 1\n",
        "plain",
        expect![[r#"
            not renamed: the data of the module `m` may only have keys of this module
        "#]],
    );
}

#[test]
fn a_member_is_renamed_if_tokens_alone_use_it() {
    let code = "#- levels Role Common\n#- /modules/m/manifests/init.pp\nclass m { lookup('used') }\n#- /data/roles/web.yaml\nk: {'old': {x: 2}}\n#- /data/common.yaml\n";
    let with = |data: &str, expected: Expect| check(&format!("{code}{data}"), "new", expected);
    with(
        "k:\n  $0old: {x: 1}\n  y: 1\na: \"%{lookup('k.old.x')} %{lookup('k.y')}\"\n",
        expect![[r#"
            /data/common.yaml
                new: {x: 1}
              a: "%{lookup('k.new.x')} %{lookup('k.y')}"
            /data/roles/web.yaml
              k: {'new': {x: 2}}
        "#]],
    );
    with(
        "k:\n  $0old: {x: 1}\na: \"%{lookup('k')}\"\n",
        expect![[r#"
        not renamed: data/common.yaml:3 asks for the whole value, whose members it may use
    "#]],
    );
    with(
        "k:\n  $0old: 1\n  new: 1\n",
        expect![[r#"
            not renamed: `new` is already used in data/common.yaml:3
        "#]],
    );
    with(
        "used:\n  $0old: 1\n",
        expect![[r#"
        not renamed: not all uses of this member are known: code reads the value, and may use its members
    "#]],
    );
    with(
        "k:\n  $0old: &x 1\ny: *x\n",
        expect![[r#"
        not renamed: not all uses of this member are known: an anchor shares a part of the value
    "#]],
    );
    with(
        "k: \"%{alias('z')}\"\na: \"%{lookup('k.$0old')}\"\n",
        expect![[r#"
        not renamed: data/common.yaml:1 asks for the whole value, whose members it may use
    "#]],
    );
}

#[test]
fn a_name_is_prepared_within_its_quotes() {
    let prepared = |text: &str| {
        let fixture = Fixture::new(text);
        let found = prepare(&fixture.snapshot, fixture.position()).expect("a name");
        let file = fixture.position().file;
        (fixture.text_at(Span::in_file(file, found.range)).to_string(), found.placeholder)
    };
    let same = |name: &str| (name.to_owned(), name.to_owned());
    assert_eq!(prepared("'ol$0d': 1\n"), same("old"));
    assert_eq!(prepared("old: 1\nx: '%{lookup(\"ol$0d.x\")}'\n"), same("old"));
    let class = CLASS.replace("Integer $port", "Integer $po$0rt");
    assert_eq!(prepared(&module(&class, "", "m::web::port: 1")), same("port"));
    let fixture = Fixture::new("x: [$01]\n");
    assert!(prepare(&fixture.snapshot, fixture.position()).is_err());
}

/// Returns the name with which an editor begins a rename at the cursor of a fixture.
fn initial_name(text: &str) -> String {
    let fixture = Fixture::new(text);
    prepare(&fixture.snapshot, fixture.position()).expect("a name").placeholder
}

#[test]
fn a_rename_begins_with_the_name_as_the_place_writes_the_name() {
    let data = "m::web::a: 1\nb: \"%{lookup('m::web::a')}\"";
    let class = "class m::web ($a) { }";
    let other = "class m { lookup('m::web::a') }";
    let own = module("class m::web ($a$0) { }", other, data);
    assert_eq!(initial_name(&own), "a");
    let call = module(class, "class m { lookup('m::web::a$0') }", data);
    assert_eq!(initial_name(&call), "m::web::a");
    let key = module(class, other, &data.replace("m::web::a: 1", "m::web::a$0: 1"));
    assert_eq!(initial_name(&key), "m::web::a");
    let token = module(class, other, &data.replace("('m::web::a')", "('m::web::a$0')"));
    assert_eq!(initial_name(&token), "m::web::a");
}

/// Within a class `$module_name` is the module of the class.
#[test]
fn templates_of_the_module_are_read() {
    let with = |call: &str, expected: Expect| {
        let class = format!("class m::web(Integer $port = 80) {{\n  $x = {call}\n}}");
        check(&module(&class, "", "m::web::$0port: 1"), "m::web::listen", expected);
    };
    with(
        r#"template("${module_name}/other.erb")"#,
        expect![[r#"
        /data/common.yaml
          m::web::listen: 1
        /modules/m/manifests/web.pp
          class m::web(Integer $listen = 80) {
    "#]],
    );
    with(
        r#"template("${module_name}/port.erb")"#,
        expect![[r#"
        not renamed: modules/m/templates/port.erb:1 may use it
    "#]],
    );
    with(
        r#"template("${x}/other.erb")"#,
        expect![[r#"
        not renamed: modules/m/manifests/web.pp:2 renders a template that is not known
    "#]],
    );
}

#[test]
fn comments_that_keep_the_old_name_are_told() {
    check(
        r#"
#- levels Role Common
#- /data/roles/web.yaml
# url: "%{lookup('old')}"
x: 1 # not older, old
# old: 2
# older
y: 1 # old
#- /data/common.yaml
ol$0d: 2
"#,
        "new",
        expect![[r#"
            /data/common.yaml
              new: 2
            comments keep the old name: data/roles/web.yaml:1, data/roles/web.yaml:2, data/roles/web.yaml:3 and 1 more
        "#]],
    );
}
