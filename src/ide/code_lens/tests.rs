//! The lenses of small files, a line for each.

use std::collections::HashMap;

use expect_test::{Expect, expect};

use super::{FileLenses, LensConfig, code_lenses, lens_text};
use crate::fixture::Fixture;
use crate::tests::edits::{self, Random};
use crate::text::{FilePath, Span, TextRange};
use crate::workspace::Change;

const ALL: LensConfig =
    LensConfig { overrides: true, all_overrides: true, readers: true, nodes: true, reach: true };

/// The lenses of overrides, whether they are news or not.
const EACH: LensConfig =
    LensConfig { overrides: true, all_overrides: true, readers: false, nodes: false, reach: true };

fn check(text: &str, path: &str, config: LensConfig, expected: Expect) {
    let fixture = Fixture::new(text);
    let path = FilePath::new(path);
    let file = fixture.snapshot.file(&path).expect("the file is there");
    let mut shown = String::new();
    for lens in code_lenses(&fixture.snapshot, &path, config, None).lenses {
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
        EACH,
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
            motd: overridden by data/nodes/web01.yaml, data/roles/web.yaml for 1 of 2 nodes [3]
            other: overridden by data/roles/db.yaml for 1 of 2 nodes [2]
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
        EACH,
        expect![[r#"
            list: merged with data/common.yaml [2]
            nothing: adds nothing to data/common.yaml: redundant [2]
        "#]],
    );
}

#[test]
fn overrides_as_the_hierarchy_has_them_are_no_news() {
    let news = LensConfig::default();
    check(
        DATA,
        "/data/nodes/web01.yaml",
        news,
        expect![[r#"
            same: same as data/roles/web.yaml: redundant [2]
        "#]],
    );
    let text = "
#- scope web01 role=web
#- levels Role Common
#- /data/roles/web.yaml
list: [b]
nothing: [a]
#- /data/common.yaml
lookup_options: {list: {merge: unique}, nothing: {merge: unique}}
list: [a]
nothing: [a, c]
";
    check(
        text,
        "/data/roles/web.yaml",
        news,
        expect![[r#"
            nothing: adds nothing to data/common.yaml: redundant [2]
        "#]],
    );
}

#[test]
fn behind_many_lookups_each_key_has_a_lens() {
    let keys = |value: &str| -> String {
        (0..=super::MAX_LOOKUPS).map(|n| format!("k{n}: {value}\n")).collect()
    };
    let text = format!(
        "#- scope web01 role=web\n#- levels Role Common\n#- /data/roles/web.yaml\n{}#- /data/common.yaml\n{}",
        keys("1"),
        keys("2")
    );
    let fixture = Fixture::new(&text);
    let path = FilePath::new("/data/roles/web.yaml");
    let found = code_lenses(&fixture.snapshot, &path, LensConfig::default(), None).lenses;
    let keys: Vec<&str> = found.iter().map(|lens| &*lens.key).collect();
    assert_eq!(keys, [format!("k{}", super::MAX_LOOKUPS)]);
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
    let none = LensConfig { overrides: false, ..LensConfig::default() };
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
        check(&text(count), "/data/l0.yaml", EACH, expected);
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
            k: overrides 4 files [5]
        "#]],
    );
}

/// Sites with roles, as many repositories have them: each node has a file of its own.
const SITES: &str = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Nodes, path: 'nodes/%{site}/%{trusted.certname}.yaml'}
- {name: Site roles, path: '%{site}/roles/%{role}.yaml'}
- {name: Site, path: '%{site}/common.yaml'}
- {name: Common roles, path: 'common/roles/%{role}.yaml'}
- {name: Common modules, glob: 'common/modules/*.yaml'}
- {name: Common, path: common/common.yaml}
#- node east-api-01 site=east role=api
#- node west-api-01 site=west role=api
#- node west-db-01 site=west role=db
#- /data/nodes/east/east-api-01.yaml
x: 1
#- /data/nodes/west/west-api-01.yaml
agent::tags: [west]
#- /data/nodes/west/west-db-01.yaml
agent::tags: [own]
#- /data/east/common.yaml
net_prefix: '10.1.0'
#- /data/west/common.yaml
net_prefix: '10.2.0'
#- /data/common/common.yaml
net_prefix: '10.0.0'
agent::tags: [common]
#- /data/common/roles/api.yaml
agent::tags: [api]
#- /data/common/roles/db.yaml
agent::tags: [db]
x: 1
#- /data/common/modules/apache.yaml
port: 1
#- /data/common/modules/bird.yaml
port: 1
";

#[test]
fn only_files_that_readers_of_the_file_read_are_named() {
    let lenses = |path: &str, expected: Expect| check(SITES, path, EACH, expected);
    lenses(
        "/data/common/roles/api.yaml",
        expect![[r#"
        agent::tags: overridden by data/nodes/west/west-api-01.yaml for 1 of 2 nodes · overrides data/common/common.yaml [3]
    "#]],
    );
    lenses(
        "/data/common/roles/db.yaml",
        expect![[r#"
        agent::tags: overridden by data/nodes/west/west-db-01.yaml [2]
    "#]],
    );
    lenses(
        "/data/east/common.yaml",
        expect![[r#"
        net_prefix: overrides data/common/common.yaml [2]
    "#]],
    );
    lenses(
        "/data/common/common.yaml",
        expect![[r#"
        net_prefix: overridden by data/west/common.yaml, data/east/common.yaml [3]
        agent::tags: overridden by 4 files [5]
    "#]],
    );
    lenses(
        "/data/common/modules/apache.yaml",
        expect![[r#"
        port: same as data/common/modules/bird.yaml: redundant [2]
    "#]],
    );
    lenses("/data/nodes/east/east-api-01.yaml", expect![[r#""#]]);
}

/// Classes by stack and role, where no node is known.
const STACKS: &str = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Stack, path: 'class/%{stack}/%{role}.yaml'}
- {name: Role, path: 'class/%{role}.yaml'}
- {name: Common, path: common.yaml}
#- /data/class/production/web.yaml
shop::hosts: [db1]
#- /data/class/staging/web.yaml
shop::hosts: [db1]
#- /data/class/web.yaml
shop::hosts: [m1, m2]
#- /data/common.yaml
other: 1
";

#[test]
fn a_value_that_deletion_would_change_is_not_redundant() {
    let lenses = |path: &str, expected: Expect| check(STACKS, path, EACH, expected);
    lenses(
        "/data/class/staging/web.yaml",
        expect![[r#"
        shop::hosts: overrides data/class/web.yaml [2]
    "#]],
    );
    lenses(
        "/data/class/web.yaml",
        expect![[r#"
        shop::hosts: overridden by data/class/production/web.yaml, data/class/staging/web.yaml for some nodes [3]
    "#]],
    );
}

#[test]
fn a_level_without_files_does_not_hide_that_a_value_is_redundant() {
    let text = "
#- levels Role Node Common
#- /data/roles/db.yaml
net::mtu: 9000
net::dns: [a]
#- /data/common.yaml
net::mtu: 9000
net::dns: [b]
";
    check(
        text,
        "/data/roles/db.yaml",
        EACH,
        expect![[r#"
            net::mtu: same as data/common.yaml: redundant [2]
            net::dns: overrides data/common.yaml [2]
        "#]],
    );
}

#[test]
fn a_redundant_value_is_news_where_more_nodes_read_the_lower_file() {
    let text = "
#- levels Role Common
#- node web01 role=web
#- node web02 role=web
#- node db01 role=db
#- /data/roles/web.yaml
net::mtu: 9000
net::dns: [a]
#- /data/common.yaml
net::mtu: 9000
net::dns: [b]
";
    check(
        text,
        "/data/roles/web.yaml",
        LensConfig::default(),
        expect![[r#"
            net::mtu: same as data/common.yaml: redundant [2]
        "#]],
    );
}

#[test]
fn a_definition_is_redundant_only_for_all_readers() {
    let text = "
#- levels Role Node Common
#- node db1 role=db
#- node db2 role=db
#- /data/roles/db.yaml
net::mtu: 9000
#- /data/nodes/db1.yaml
net::mtu: 1500
#- /data/roles/web.yaml
net::mtu: 1400
#- /data/common.yaml
net::mtu: 9000
";
    let lenses = |path: &str, expected: Expect| check(text, path, EACH, expected);
    lenses(
        "/data/roles/db.yaml",
        expect![[r#"
        net::mtu: overrides data/nodes/db1.yaml, data/common.yaml [3]
    "#]],
    );
    lenses(
        "/data/nodes/db1.yaml",
        expect![[r#"
        net::mtu: overridden by data/roles/db.yaml [2]
    "#]],
    );
    lenses(
        "/data/roles/web.yaml",
        expect![[r#"
        net::mtu: overrides data/common.yaml [2]
    "#]],
    );
}

#[test]
fn an_edit_looks_up_the_keys_that_read_it() {
    let keys: String = (0..50).map(|n| format!("k{n}: {n}\n")).collect();
    let text = format!(
        "#- node web01 role=web\n#- node db01 role=db\n#- levels Role Common\n#- /data/roles/web.yaml\n{keys}a: 1\nb: 1\n#- /data/common.yaml\n{keys}a: x\nb: \"%{{lookup('a')}}\"\nd: 1\n"
    );
    let mut fixture = Fixture::new(&text);
    let path = FilePath::new("/data/common.yaml");
    let text = fixture.snapshot.file(&path).and_then(|file| file.text()).expect("it is there");
    let text = text.to_str().into_owned();
    fixture.workspace.apply(Change::Open(path.clone(), text.clone()));
    let before = code_lenses(&fixture.workspace.snapshot(), &path, LensConfig::default(), None);
    let value_of = |entry: &str| {
        let start = text.find(entry).expect("it is there") + "k: ".len();
        TextRange::new_empty(start as u32)
    };
    let mut lookups = |range: TextRange| {
        fixture.workspace.apply(Change::Edit(path.clone(), vec![(range, "y".to_owned())]));
        let snapshot = fixture.workspace.snapshot();
        snapshot.keys();
        crate::text::work::take();
        let after = code_lenses(&snapshot, &path, LensConfig::default(), Some(&before));
        let counts = crate::text::work::take();
        assert_eq!(after.lenses, code_lenses(&snapshot, &path, LensConfig::default(), None).lenses);
        counts.lookups
    };
    let of_none = lookups(value_of("d: 1"));
    let of_two = lookups(value_of("a: x"));
    assert_eq!(of_none, 0);
    assert!((1..20).contains(&of_two), "{of_two}");
}

/// The lookups that an edit cannot concern are not made again, and the lenses are the same.
#[test]
fn lenses_after_random_edits_are_those_of_a_new_look() {
    const FILES: [&str; 4] = [
        "/data/roles/web.yaml",
        "/data/nodes/web01.yaml",
        "/data/common.yaml",
        "/modules/profile/manifests/init.pp",
    ];
    const REPOSITORY: &str = "
#- node web01 trusted.certname=web01 role=web
#- node web02 trusted.certname=web02 role=web
#- node db01 trusted.certname=db01 role=db
#- levels Node Role Common
#- /data/nodes/web01.yaml
a: 1
list: [n]
t: \"%{lookup('a')}\"
#- /data/roles/web.yaml
a: 1
b: 2
list: [r]
profile::x: 1
t: t
#- /data/common.yaml
lookup_options: {list: {merge: unique}}
a: 1
b: \"%{lookup('c')}\"
c: 3
list: [c]
t: \"%{alias('b')}\"
profile::x: 1
#- /modules/profile/manifests/init.pp
class profile($x, $how = 'first') { lookup('b', Array, 'unique') lookup('list', Data, $how) }
";
    const PIECES: &[&str] = &[
        "\na: 2\n",
        "\nb: 2\n",
        "\nc: 3\n",
        "\nt: t\n",
        "\nprofile::x: 2\n",
        "\nprofile::how: deep\n",
        "\nprofile::how: first\n",
        "\nlist: [r, c]\n",
        "lookup_options: {list: {merge: first}}\n",
        "lookup_options: {'^[ab]': {merge: \"%{lookup('c')}\"}}\n",
        "\nc: unique\n",
        "\nb: \"%{lookup('a')}\"\n",
        "\na: \"%{lookup('b')}\"\n",
        " lookup('list', Array, 'deep') ",
        "$x, ",
        "{",
        "'",
        "\n",
        " ",
        "#",
        "x",
        "1",
    ];
    let mut random = Random::new(20_261_127);
    let mut changes = 0;
    for _ in 0..edits::rounds(60) {
        let mut fixture = Fixture::new(REPOSITORY);
        let paths = FILES.map(FilePath::new);
        for path in &paths {
            let text = fixture.snapshot.file(path).unwrap().text().unwrap().to_str().into_owned();
            fixture.workspace.apply(Change::Open(path.clone(), text));
        }
        let mut known: HashMap<FilePath, FileLenses> = HashMap::new();
        for _ in 0..edits::STEPS {
            let edited = random.pick(&paths);
            let text = fixture.workspace.open_text(&edited).unwrap().to_str().into_owned();
            let (range, insert) = edits::edit(&mut random, &text, PIECES);
            fixture.workspace.apply(Change::Edit(edited.clone(), vec![(range, insert.to_owned())]));
            let snapshot = fixture.workspace.snapshot();
            for path in &paths {
                // A client need not ask for the code lenses after each edit.
                if random.one_in(3) {
                    continue;
                }
                let lenses = |before| code_lenses(&snapshot, path, LensConfig::default(), before);
                let (found, anew) = (lenses(known.get(path)), lenses(None));
                assert_eq!(
                    found.lenses, anew.lenses,
                    "{path} after {range:?} {insert:?} in {edited}"
                );
                let keys = |it: &FileLenses| {
                    it.lenses.iter().map(|lens| lens.key.clone()).collect::<Vec<_>>()
                };
                changes += usize::from(known.get(path).is_some_and(|it| keys(it) != keys(&found)));
                known.insert(path.clone(), found);
            }
        }
    }
    assert!(changes > 100, "lenses changed only {changes} times");
}

#[test]
fn a_file_that_no_fact_names_may_override() {
    let text = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Mapped, mapped_paths: [list, it, 'x/%{it}.yaml']}
- {name: Common, path: common.yaml}
#- /data/x/a.yaml
k: a
#- /data/common.yaml
k: common
";
    check(
        text,
        "/data/common.yaml",
        EACH,
        expect![[r#"
            k: overridden by data/x/a.yaml for some nodes [2]
        "#]],
    );
}
