//! The lenses of small files, a line for each.

use expect_test::{Expect, expect};

use super::{LensConfig, code_lenses, lens_text};
use crate::fixture::Fixture;
use crate::text::{FilePath, Span};

const ALL: LensConfig = LensConfig { overrides: true, readers: true, nodes: true };

fn check(text: &str, path: &str, config: LensConfig, expected: Expect) {
    let fixture = Fixture::new(text);
    let path = FilePath::new(path);
    let file = fixture.snapshot.file(&path).expect("the file is there");
    let mut shown = String::new();
    for lens in code_lenses(&fixture.snapshot, &path, config) {
        let text = lens_text(&fixture.snapshot, &path, &lens.key, lens.kind).expect("it is there");
        let above = fixture.text_at(Span::in_file(file.id, lens.range));
        shown.push_str(&format!("{above}: {} [{}]\n", text.title, text.places.len()));
    }
    expected.assert_eq(&shown);
}

const DATA: &str = "
#- scope web01 role=web
#- node db01 role=db
#- levels Node Role Common
#- /data/nodes/web01.yaml
motd: hello
same: 1
#- /data/roles/web.yaml
motd: role
same: 1
only: 1
#- /data/roles/db.yaml
other: 2
#- /data/common.yaml
lookup_options: {list: {merge: unique}}
motd: welcome
other: 1
list: [a]
alone: 1
";

#[test]
fn a_key_overrides_those_below() {
    check(
        DATA,
        "/data/nodes/web01.yaml",
        LensConfig::default(),
        expect![[r#"
            motd: overrides data/roles/web.yaml, data/common.yaml [3]
            same: same as data/roles/web.yaml: redundant [2]
        "#]],
    );
}

#[test]
fn a_key_is_overridden_by_those_above() {
    check(
        DATA,
        "/data/common.yaml",
        LensConfig::default(),
        expect![[r#"
            motd: overridden by data/nodes/web01.yaml, data/roles/web.yaml [3]
            other: also in data/roles/db.yaml [2]
        "#]],
    );
}

#[test]
fn without_a_node_files_that_may_override_are_counted() {
    check(
        &DATA.replace("#- scope", "#- node"),
        "/data/common.yaml",
        LensConfig::default(),
        expect![[r#"
            motd: overridden in 2 files for some nodes [3]
            other: overridden in 1 file for some nodes [2]
        "#]],
    );
}

#[test]
fn merged_files_are_named() {
    check(
        "
#- scope web01 role=web
#- levels Role Common
#- /data/roles/web.yaml
list: [b]
nothing: [a]
#- /data/common.yaml
lookup_options: {list: {merge: unique}, nothing: {merge: unique}}
list: [a]
nothing: [a, c]
",
        "/data/roles/web.yaml",
        LensConfig::default(),
        expect![[r#"
            list: merged with data/common.yaml [2]
            nothing: adds nothing to data/common.yaml: redundant [2]
        "#]],
    );
}

#[test]
fn readers_and_nodes_have_switches_of_their_own() {
    let text = "
#- scope web01 role=web
#- node db01 role=db
#- levels Role Common
#- /modules/web/manifests/init.pp
class web(Integer $port) {}
#- /data/roles/web.yaml
web::port: 1
name: x
greeting: \"%{lookup('name')}\"
";
    check(
        text,
        "/data/roles/web.yaml",
        ALL,
        expect![[r#"
            : 1 of 2 nodes [0]
            web::port: read by web [1]
            name: read by greeting [1]
        "#]],
    );
    let none = LensConfig { overrides: false, readers: false, nodes: false };
    check(text, "/data/roles/web.yaml", none, expect![""]);
}

#[test]
fn many_levels_are_counted() {
    let text = |count: usize| {
        let name = |n: usize| format!("- {{name: L{n}, path: l{n}.yaml}}\n");
        let levels: String = (0..=count).map(name).collect();
        let files: String = (0..=count).map(|n| format!("#- /data/l{n}.yaml\nk: {n}\n")).collect();
        format!("#- /hiera.yaml\nversion: 5\nhierarchy:\n{levels}{files}")
    };
    let with = |count: usize, expected: Expect| {
        check(&text(count), "/data/l0.yaml", LensConfig::default(), expected);
    };
    with(
        3,
        expect![[r#"
        k: overrides data/l1.yaml, data/l2.yaml, data/l3.yaml [4]
    "#]],
    );
    with(
        4,
        expect![[r#"
        k: overrides 4 levels [5]
    "#]],
    );
}
