//! Keys whose values need themselves.

use expect_test::expect;

use super::check;
use crate::diagnostics::{Finding, RulesConfig, check_file};
use crate::fixture::Fixture;
use crate::text::{FilePath, work};

#[test]
fn a_key_that_asks_for_itself() {
    check(
        r#"
a: "%{lookup('a')}"
b: "%{alias('b')}"
"#,
        expect![[r#"
            data/common.yaml:1:5: error: lookups go round in a circle: a -> a; Puppet fails with a recursive lookup [lookup-loop]
              1 | a: "%{lookup('a')}"
                |     ^^^^^^^^^^^^^^
                data/common.yaml:1:5: 'a' asks for 'a' here
            data/common.yaml:2:5: error: lookups go round in a circle: b -> b; Puppet fails with a recursive lookup [lookup-loop]
              2 | b: "%{alias('b')}"
                |     ^^^^^^^^^^^^^
                data/common.yaml:2:5: 'b' asks for 'b' here
        "#]],
    );
}

#[test]
fn two_keys() {
    check(
        r#"
a: "x %{lookup('b')}"
b: "%{lookup('a')}"
"#,
        expect![[r#"
            data/common.yaml:1:7: error: lookups go round in a circle: a -> b -> a; Puppet fails with a recursive lookup [lookup-loop]
              1 | a: "x %{lookup('b')}"
                |       ^^^^^^^^^^^^^^
                data/common.yaml:1:7: 'a' asks for 'b' here
                data/common.yaml:2:5: 'b' asks for 'a' here
            data/common.yaml:2:5: error: lookups go round in a circle: b -> a -> b; Puppet fails with a recursive lookup [lookup-loop]
              2 | b: "%{lookup('a')}"
                |     ^^^^^^^^^^^^^^
                data/common.yaml:2:5: 'b' asks for 'a' here
                data/common.yaml:1:7: 'a' asks for 'b' here
        "#]],
    );
}

#[test]
fn a_member_of_the_same_hash() {
    check(
        r#"
a:
  b: "%{lookup('a.c')}"
  c: 1
"#,
        expect![[r#"
            data/common.yaml:2:7: error: lookups go round in a circle: a -> a.c -> a.c; Puppet fails with a recursive lookup [lookup-loop]
              2 |   b: "%{lookup('a.c')}"
                |       ^^^^^^^^^^^^^^^^
                data/common.yaml:2:7: 'a' asks for 'a.c' here
                data/common.yaml:2:7: 'a.c' asks for 'a.c' here
        "#]],
    );
}

#[test]
fn a_key_that_leads_into_a_circle() {
    check(
        r#"
start: "%{lookup('a')}"
a: "%{lookup('b')}"
b: "%{lookup('a')}"
"#,
        expect![[r#"
            data/common.yaml:2:5: error: lookups go round in a circle: a -> b -> a; Puppet fails with a recursive lookup [lookup-loop]
              2 | a: "%{lookup('b')}"
                |     ^^^^^^^^^^^^^^
                data/common.yaml:2:5: 'a' asks for 'b' here
                data/common.yaml:3:5: 'b' asks for 'a' here
            data/common.yaml:3:5: error: lookups go round in a circle: b -> a -> b; Puppet fails with a recursive lookup [lookup-loop]
              3 | b: "%{lookup('a')}"
                |     ^^^^^^^^^^^^^^
                data/common.yaml:3:5: 'b' asks for 'a' here
                data/common.yaml:2:5: 'a' asks for 'b' here
        "#]],
    );
}

#[test]
fn diamonds_are_fine() {
    check(
        r#"
a: "%{lookup('b')} %{lookup('c')} %{lookup('b')}"
b: "%{lookup('d')}"
c: "%{lookup('d')}"
d: 1
"#,
        expect![""],
    );
}

#[test]
fn through_three_files() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
a: "%{lookup('b')}"
#- /data/roles/web.yaml
b: "%{lookup('c')}"
#- /data/common.yaml
c: "%{lookup('a')}"
"#,
        expect![[r#"
            data/common.yaml:1:5: error: lookups go round in a circle: c -> a -> b -> c; Puppet fails with a recursive lookup [lookup-loop]
              1 | c: "%{lookup('a')}"
                |     ^^^^^^^^^^^^^^
                data/common.yaml:1:5: 'c' asks for 'a' here
                data/nodes/web01.yaml:1:5: 'a' asks for 'b' here
                data/roles/web.yaml:1:5: 'b' asks for 'c' here
            data/nodes/web01.yaml:1:5: error: lookups go round in a circle: a -> b -> c -> a; Puppet fails with a recursive lookup [lookup-loop]
              1 | a: "%{lookup('b')}"
                |     ^^^^^^^^^^^^^^
                data/nodes/web01.yaml:1:5: 'a' asks for 'b' here
                data/roles/web.yaml:1:5: 'b' asks for 'c' here
                data/common.yaml:1:5: 'c' asks for 'a' here
            data/roles/web.yaml:1:5: error: lookups go round in a circle: b -> c -> a -> b; Puppet fails with a recursive lookup [lookup-loop]
              1 | b: "%{lookup('c')}"
                |     ^^^^^^^^^^^^^^
                data/roles/web.yaml:1:5: 'b' asks for 'c' here
                data/common.yaml:1:5: 'c' asks for 'a' here
                data/nodes/web01.yaml:1:5: 'a' asks for 'b' here
        "#]],
    );
}

#[test]
fn the_same_key_in_a_lower_level() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
a: "x %{lookup('a')}"
#- /data/common.yaml
a: 1
"#,
        expect![[r#"
            data/nodes/web01.yaml:1:7: error: lookups go round in a circle: a -> a; Puppet fails with a recursive lookup [lookup-loop]
              1 | a: "x %{lookup('a')}"
                |       ^^^^^^^^^^^^^^
                data/nodes/web01.yaml:1:7: 'a' asks for 'a' here
        "#]],
    );
}

#[test]
fn no_alarm_where_no_node_sees_both_files() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
a: "%{lookup('b')}"
#- /data/nodes/db01.yaml
b: "%{lookup('a')}"
#- /data/common.yaml
a: 1
b: 1
"#,
        expect![""],
    );
}

#[test]
fn no_alarm_between_roles() {
    check(
        r#"
#- levels Node Role Common
#- /data/roles/web.yaml
a: "%{lookup('b')}"
b: 1
#- /data/roles/db.yaml
b: "%{lookup('a')}"
a: 2
"#,
        expect![""],
    );
}

#[test]
fn no_alarm_where_a_higher_level_breaks_the_circle() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
a: 1
#- /data/common.yaml
a: "%{lookup('b')}"
b: 2
"#,
        expect![""],
    );
}

#[test]
fn a_node_level_closes_a_circle_of_common_data() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
b: "%{lookup('a')}"
#- /data/common.yaml
a: "%{lookup('b')}"
b: 2
"#,
        expect![[r#"
            data/common.yaml:1:5: error: lookups go round in a circle: a -> b -> a; Puppet fails with a recursive lookup [lookup-loop]
              1 | a: "%{lookup('b')}"
                |     ^^^^^^^^^^^^^^
                data/common.yaml:1:5: 'a' asks for 'b' here
                data/nodes/web01.yaml:1:5: 'b' asks for 'a' here
            data/nodes/web01.yaml:1:5: error: lookups go round in a circle: b -> a -> b; Puppet fails with a recursive lookup [lookup-loop]
              1 | b: "%{lookup('a')}"
                |     ^^^^^^^^^^^^^^
                data/nodes/web01.yaml:1:5: 'b' asks for 'a' here
                data/common.yaml:1:5: 'a' asks for 'b' here
        "#]],
    );
}

#[test]
fn merged_keys_go_round_in_any_level() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
a: {x: 1}
#- /data/common.yaml
lookup_options: {a: {merge: hash}}
a: {y: "%{lookup('b')}"}
b: "%{lookup('a.x')}"
"#,
        expect![[r#"
            data/common.yaml:2:9: error: lookups go round in a circle: a -> b -> a.x -> b; Puppet fails with a recursive lookup [lookup-loop]
              2 | a: {y: "%{lookup('b')}"}
                |         ^^^^^^^^^^^^^^
                data/common.yaml:2:9: 'a' asks for 'b' here
                data/common.yaml:3:5: 'b' asks for 'a.x' here
                data/common.yaml:2:9: 'a.x' asks for 'b' here
            data/common.yaml:3:5: error: lookups go round in a circle: b -> a.x -> b; Puppet fails with a recursive lookup [lookup-loop]
              3 | b: "%{lookup('a.x')}"
                |     ^^^^^^^^^^^^^^^^
                data/common.yaml:3:5: 'b' asks for 'a.x' here
                data/common.yaml:2:9: 'a.x' asks for 'b' here
        "#]],
    );
}

#[test]
fn literal_is_no_lookup() {
    check(
        r#"
a: "%{literal('b')}"
b: "%{lookup('a')}"
"#,
        expect![""],
    );
}

#[test]
fn a_module_asks_for_itself() {
    check(
        r#"
#- /modules/m/hiera.yaml
version: 5
hierarchy: [{name: Defaults, path: defaults.yaml}]
#- /modules/m/data/defaults.yaml
m::k: "%{lookup('m::k')}"
#- /data/common.yaml
m::j: "%{lookup('m::k')}"
"#,
        expect![[r#"
            modules/m/data/defaults.yaml:1:8: error: lookups go round in a circle: m::k -> m::k; Puppet fails with a recursive lookup [lookup-loop]
              1 | m::k: "%{lookup('m::k')}"
                |        ^^^^^^^^^^^^^^^^^
                modules/m/data/defaults.yaml:1:8: 'm::k' asks for 'm::k' here
        "#]],
    );
}

#[test]
fn a_literal_that_is_the_key_itself() {
    check(
        r#"
abc: "%{literal('abc')}"
"#,
        expect![""],
    );
}

/// The findings of the only data file, and how many keys were looked up for them.
fn counted(fixture: &Fixture) -> (Vec<Finding>, usize) {
    work::take();
    let path = FilePath::new("/data/common.yaml");
    let findings = check_file(&fixture.snapshot, &path, &RulesConfig::default());
    (findings, work::take().lookups)
}

/// A cycle of so many keys in one file.
fn circle_of(count: usize) -> String {
    (0..count).map(|n| format!("k{n}: \"%{{lookup('k{}')}}\"\n", (n + 1) % count)).collect()
}

#[test]
fn a_circle_is_found_whatever_its_length() {
    let mut work = Vec::new();
    for count in [300, 3_000] {
        let fixture = Fixture::new(&circle_of(count));
        let (findings, lookups) = counted(&fixture);
        assert_eq!(findings.len(), count, "each token has its finding");
        assert!(findings.iter().all(|finding| finding.rule.code == "lookup-loop"));
        assert!(findings.iter().all(|finding| finding.related.len() == 2));
        work.push(lookups / count);
    }
    assert_eq!(work, [1, 1], "a key is looked up once");
}

#[test]
fn keys_that_all_ask_for_each_other_are_looked_up_once_or_twice() {
    let tokens: String = (0..60).map(|n| format!("%{{lookup('k{n}')}}")).collect();
    let text: String = (0..60).map(|n| format!("k{n}: \"{tokens}\"\n")).collect();
    let fixture = Fixture::new(&text);
    let (findings, lookups) = counted(&fixture);
    assert_eq!(findings.len(), 60 * 60);
    assert!(lookups <= 5 * 60, "{lookups}");
}

#[test]
fn a_long_circle_through_two_files_is_found_in_both() {
    let (one, other): (Vec<_>, Vec<_>) = (0..400).partition(|n| n % 2 == 0);
    let lines = |numbers: Vec<usize>| -> String {
        let line = |n: usize| format!("k{n}: \"%{{lookup('k{}')}}\"\n", (n + 1) % 400);
        numbers.into_iter().map(line).collect()
    };
    let text = format!(
        "#- levels Role Common\n#- /data/roles/web.yaml\n{}#- /data/common.yaml\n{}",
        lines(one),
        lines(other)
    );
    let findings = Fixture::new(&text).findings();
    let of = |code: &str| findings.iter().filter(|finding| finding.rule.code == code).count();
    assert_eq!((of("lookup-loop"), findings.len()), (400, 400));
}
