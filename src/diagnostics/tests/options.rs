//! lookup_options: shapes, strategies, patterns, and merges that cannot work.

use expect_test::expect;

use super::check;
use crate::diagnostics::{RulesConfig, check_file};
use crate::fixture::Fixture;
use crate::text::work;

#[test]
fn options_must_be_a_hash() {
    check(
        "
lookup_options: [users]
",
        expect![[r#"
            data/common.yaml:1:17: error: lookup_options must be a hash, this is a list: every lookup fails [options-shape]
              1 | lookup_options: [users]
                |                 ^^^^^^^
        "#]],
    );
}

#[test]
fn null_options_are_none() {
    check(
        "
lookup_options:
",
        expect![[r#"
            data/common.yaml:1:16: warning: lookup_options is null: as soon as another file has some, every lookup fails [options-shape]
              1 | lookup_options:
                |                ^
        "#]],
    );
}

#[test]
fn shapes_of_entries() {
    check(
        "
lookup_options:
  a: deep
  b: [merge, deep]
  c: 5
  d: true
  e:
  f: {}
  1: {merge: deep}
  yes: {merge: deep}
",
        expect![[r#"
            data/common.yaml:2:6: warning: the options of 'a' are a string, which Puppet passes over without a word: `merge: …` is missing [options-shape]
              2 |   a: deep
                |      ^^^^
            data/common.yaml:3:6: error: the options of 'b' must be a hash, this is a list: lookups of it fail [options-shape]
              3 |   b: [merge, deep]
                |      ^^^^^^^^^^^^^
            data/common.yaml:4:6: error: the options of 'c' must be a hash, this is an integer: lookups of it fail [options-shape]
              4 |   c: 5
                |      ^
            data/common.yaml:5:6: error: the options of 'd' must be a hash, this is a boolean: lookups of it fail [options-shape]
              5 |   d: true
                |      ^^^^
            data/common.yaml:8:3: error: the key 1 is no string: every lookup in this layer fails for it; quote it [options-shape]
              8 |   1: {merge: deep}
                |   ^
            data/common.yaml:9:3: error: the key true is no string: every lookup in this layer fails for it; quote it [options-shape]
              9 |   yes: {merge: deep}
                |   ^^^
        "#]],
    );
}

#[test]
fn strategies() {
    check(
        "
lookup_options:
  a: {merge: first}
  b: {merge: Deep}
  c: {merge: deeper}
  d: {merge: ''}
  e: {merge: true}
  f: {merge: [deep]}
  g: {merge: {}}
  h: {merge: {knockout_prefix: '--'}}
  i: {merge: {strategy: 1}}
  j: {merge: false}
  k: {merge: }
  l: {merge: unconstrained_deep}
",
        expect![[r#"
            data/common.yaml:3:14: error: Unknown merge strategy: 'Deep': lookups of 'b' fail for it [unknown-strategy]
              3 |   b: {merge: Deep}
                |              ^^^^
            data/common.yaml:4:14: error: Unknown merge strategy: 'deeper': lookups of 'c' fail for it [unknown-strategy]
              4 |   c: {merge: deeper}
                |              ^^^^^^
            data/common.yaml:5:14: error: Unknown merge strategy: '': lookups of 'd' fail for it [unknown-strategy]
              5 |   d: {merge: ''}
                |              ^^
            data/common.yaml:6:14: error: Unknown merge strategy: 'true': lookups of 'e' fail for it [unknown-strategy]
              6 |   e: {merge: true}
                |              ^^^^
            data/common.yaml:7:14: error: Unknown merge strategy: '["deep"]': lookups of 'f' fail for it [unknown-strategy]
              7 |   f: {merge: [deep]}
                |              ^^^^^^
            data/common.yaml:8:14: error: The hash given as 'merge' must contain the name of a strategy in string form for the key 'strategy': lookups of 'g' fail for it [unknown-strategy]
              8 |   g: {merge: {}}
                |              ^^
            data/common.yaml:9:14: error: The hash given as 'merge' must contain the name of a strategy in string form for the key 'strategy': lookups of 'h' fail for it [unknown-strategy]
              9 |   h: {merge: {knockout_prefix: '--'}}
                |              ^^^^^^^^^^^^^^^^^^^^^^^
            data/common.yaml:10:25: error: Unknown merge strategy: '1': lookups of 'i' fail for it [unknown-strategy]
              10 |   i: {merge: {strategy: 1}}
                 |                         ^
        "#]],
    );
}

#[test]
fn options_of_strategies() {
    check(
        "
lookup_options:
  a: {merge: {strategy: deep, knockout_prefix: '--', sort_merged_arrays: true, merge_hash_arrays: true, merge_debug: false}}
  b: {merge: {strategy: deep, overwrite_arrays: true}}
  c: {merge: {strategy: deep, sort_merged_arrays: 'yes'}}
  d: {merge: {strategy: unique, knockout_prefix: '--'}}
  e: {merge: {strategy: hash, foo: 1}}
  f: {merge: {strategy: unconstrained_deep, overwrite_arrays: true}}
  g: {merge: {strategy: deep, knockout_prefix: 5}}
",
        expect![[r#"
            data/common.yaml:3:31: error: The merge options has wrong type, unrecognized key 'overwrite_arrays': lookups of 'b' fail for it [unknown-strategy]
              3 |   b: {merge: {strategy: deep, overwrite_arrays: true}}
                |                               ^^^^^^^^^^^^^^^^
            data/common.yaml:4:51: error: The merge options has wrong type, entry 'sort_merged_arrays' expects a value of type Undef or Boolean, got String: lookups of 'c' fail for it [unknown-strategy]
              4 |   c: {merge: {strategy: deep, sort_merged_arrays: 'yes'}}
                |                                                   ^^^^^
            data/common.yaml:5:33: error: The merge options has wrong type, unrecognized key 'knockout_prefix': lookups of 'd' fail for it [unknown-strategy]
              5 |   d: {merge: {strategy: unique, knockout_prefix: '--'}}
                |                                 ^^^^^^^^^^^^^^^
            data/common.yaml:6:31: error: The merge options has wrong type, unrecognized key 'foo': lookups of 'e' fail for it [unknown-strategy]
              6 |   e: {merge: {strategy: hash, foo: 1}}
                |                               ^^^
            data/common.yaml:8:48: error: The merge options has wrong type, entry 'knockout_prefix' expects a value of type Undef or String, got Integer: lookups of 'g' fail for it [unknown-strategy]
              8 |   g: {merge: {strategy: deep, knockout_prefix: 5}}
                |                                                ^
        "#]],
    );
}

#[test]
fn options_without_a_reader() {
    check(
        r#"
lookup_options:
  a: {merge: deep, knockout_prefix: '--'}
  b: {strategy: deep}
  "%{facts.x}": {"%{facts.y}": 1}
"#,
        expect![[r#"
            data/common.yaml:2:20: warning: 'knockout_prefix' is no option of lookup_options, and Puppet passes over it; 'a' can have merge and convert_to [unknown-option]
              2 |   a: {merge: deep, knockout_prefix: '--'}
                |                    ^^^^^^^^^^^^^^^
            data/common.yaml:3:7: warning: 'strategy' is no option of lookup_options, and Puppet passes over it; 'b' can have merge and convert_to [unknown-option]
              3 |   b: {strategy: deep}
                |       ^^^^^^^^
        "#]],
    );
}

#[test]
fn tokens_are_taken_on_trust() {
    check(
        r#"
lookup_options:
  a: {merge: "%{facts.merge}"}
  b: "%{facts.entry}"
  "^%{facts.x}(": {merge: deep}
"#,
        expect![""],
    );
}

#[test]
fn patterns() {
    check(
        r#"
lookup_options:
  "^a(": {merge: deep}
  "a(": {merge: deep}
  "^a.*(?i)(?=b)": {merge: deep}
  "^[": {merge: deep}
  "^*": {merge: deep}
"#,
        expect![[r#"
            data/common.yaml:2:3: error: end pattern with unmatched parenthesis: /^a(/: every lookup in this layer fails for it [bad-options-regex]
              2 |   "^a(": {merge: deep}
                |   ^^^^^
            data/common.yaml:5:3: error: premature end of char-class: /^[/: every lookup in this layer fails for it [bad-options-regex]
              5 |   "^[": {merge: deep}
                |   ^^^^
        "#]],
    );
}

#[test]
fn conversions() {
    check(
        "
lookup_options:
  a: {convert_to: Sensitive}
  b: {convert_to: [Array, true]}
  c: {convert_to: []}
  d: {convert_to: 5}
  e: {convert_to: false}
  f: {convert_to: {type: Integer}}
  g: {convert_to: }
",
        expect![[r#"
            data/common.yaml:4:19: error: the convert_to of 'c' must name a type, or list one and its arguments: lookups of it fail [options-shape]
              4 |   c: {convert_to: []}
                |                   ^^
            data/common.yaml:5:19: error: the convert_to of 'd' must name a type, or list one and its arguments: lookups of it fail [options-shape]
              5 |   d: {convert_to: 5}
                |                   ^
            data/common.yaml:6:19: error: the convert_to of 'e' must name a type, or list one and its arguments: lookups of it fail [options-shape]
              6 |   e: {convert_to: false}
                |                   ^^^^^
            data/common.yaml:7:19: error: the convert_to of 'f' must name a type, or list one and its arguments: lookups of it fail [options-shape]
              7 |   f: {convert_to: {type: Integer}}
                |                   ^^^^^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn options_of_a_module() {
    check(
        r#"
#- /modules/m/hiera.yaml
version: 5
hierarchy: [{name: Defaults, path: defaults.yaml}]
#- /modules/m/data/defaults.yaml
lookup_options:
  m::a: {merge: deep}
  m: {merge: deep}
  mm::a: {merge: deep}
  "^m::.*": {merge: deep}
  "^(m::a)": {merge: deep}
  "^m\\:\\:a": {merge: deep}
  "^m::x|.*": {merge: deep}
m::a: 1
"#,
        expect![[r#"
            modules/m/data/defaults.yaml:3:3: error: lookup_options of the module m must start with 'm::': every lookup of its keys fails for this one [foreign-options]
              3 |   m: {merge: deep}
                |   ^
            modules/m/data/defaults.yaml:4:3: error: lookup_options of the module m must start with 'm::': every lookup of its keys fails for this one [foreign-options]
              4 |   mm::a: {merge: deep}
                |   ^^^^^
            modules/m/data/defaults.yaml:6:3: error: lookup_options of the module m must start with '^m::': every lookup of its keys fails for this one [foreign-options]
              6 |   "^(m::a)": {merge: deep}
                |   ^^^^^^^^^
            modules/m/data/defaults.yaml:7:3: error: lookup_options of the module m must start with '^m::': every lookup of its keys fails for this one [foreign-options]
              7 |   "^m\\:\\:a": {merge: deep}
                |   ^^^^^^^^^^^
        "#]],
    );
}

#[test]
fn hash_merge_of_a_string() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
users: ada
#- /data/roles/web.yaml
users: {grace: 1}
#- /data/common.yaml
lookup_options: {users: {merge: hash}}
users: {ada: 1}
"#,
        expect![[r#"
            data/nodes/web01.yaml:1:8: error: 'users' is merged with strategy 'hash', which fails here: The first element of the merge has wrong type, expects a Hash value, got String [merge-type-conflict]
              1 | users: ada
                |        ^^^
                data/common.yaml:1:18: the strategy is set here
                data/common.yaml:2:1: to be merged with this
        "#]],
    );
}

/// The alias has a value where the role is dns, and the role of the node is not known.
#[test]
fn an_alias_that_no_tried_combination_has_is_no_conflict() {
    let with_node = |node: &str| {
        format!(
            "{node}
#- levels Node Role Common
#- /data/nodes/dns1.yaml
vips: \"%{{alias('other')}}\"
#- /data/roles/lb.yaml
vips: {{b: 2}}
#- /data/roles/dns.yaml
other: {{a: 1}}
#- /data/common.yaml
lookup_options: {{vips: {{merge: hash}}}}
"
        )
    };
    let conflicts = |node: &str| {
        Fixture::new(&with_node(node)).rendered_findings().contains("[merge-type-conflict]")
    };
    assert!(!conflicts(""));
    assert!(conflicts("#- node dns1 role=lb"), "for this node Puppet's lookup fails");
}

#[test]
fn a_merge_that_tokens_in_keys_ask_for() {
    for options in [
        r#"{users: {"%{literal('merge')}": hash}}"#,
        r#"{users: {merge: {"%{literal('strategy')}": hash}}}"#,
        r#"{"%{literal('users')}": {merge: hash}}"#,
    ] {
        let text = format!(
            "
#- /hiera.yaml
version: 5
hierarchy: [{{name: Both, paths: [one.yaml, two.yaml]}}]
#- /data/one.yaml
lookup_options: {options}
users: ada
#- /data/two.yaml
users: {{grace: 1}}
"
        );
        let found = Fixture::new(&text).rendered_findings();
        assert!(found.contains("[merge-type-conflict]"), "{options}: {found}");
    }
}

#[test]
fn a_key_that_is_merged_for_more_roles_than_are_tried() {
    let with_roles = |count: usize| {
        let mut text = "
#- /hiera.yaml
version: 5
hierarchy: [{name: Role, path: 'roles/%{role}.yaml'}, {name: Common, path: common.yaml}]
#- /data/common.yaml
lookup_options: {users: {merge: hash}}
people: {ada: 1}
users: \"%{alias('people')}\"
"
        .to_owned();
        for n in 0..count {
            text.push_str(&format!("#- /data/roles/r{n}.yaml\nusers: {{grace: {n}}}\n"));
        }
        Fixture::new(&text).rendered_findings()
    };
    assert_eq!(with_roles(50), "");
    let found = with_roles(51);
    assert!(found.contains("data/common.yaml:3:1: hint: 'users' is merged with so many other files that it was tried with 50 of them [limit-reached]"), "{found}");
}

#[test]
fn unique_merge_of_a_hash() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
ports: [80]
#- /data/common.yaml
lookup_options: {"^port": {merge: unique}}
ports: {http: 80}
"#,
        expect![[r#"
            data/common.yaml:2:8: error: 'ports' is merged with strategy 'unique', which fails here: The second element of the merge has wrong type, expects a value of type Scalar or Array, got Struct [merge-type-conflict]
              2 | ports: {http: 80}
                |        ^^^^^^^^^^
                data/common.yaml:1:18: the strategy is set here
                data/nodes/web01.yaml:1:1: to be merged with this
        "#]],
    );
}

#[test]
fn a_hash_found_first_is_wrapped_by_unique() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
ports: {http: 80}
#- /data/common.yaml
lookup_options: {"^port": {merge: unique}}
ports: [80]
"#,
        expect![""],
    );
}

#[test]
fn no_conflict_where_only_one_level_has_the_key() {
    check(
        r#"
#- levels Node Role Common
#- /data/common.yaml
lookup_options: {users: {merge: hash}, ports: {merge: unique}}
users: ada
ports: {http: 80}
"#,
        expect![""],
    );
}

#[test]
fn no_conflict_where_no_node_sees_both() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
users: ada
#- /data/nodes/db01.yaml
users: {grace: 1}
#- /data/common.yaml
lookup_options: {users: {merge: hash}}
"#,
        expect![""],
    );
}

#[test]
fn deep_and_first_take_anything() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
users: ada
ports: [80]
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
users: {ada: 1}
ports: {http: 80}
"#,
        expect![""],
    );
}

#[test]
fn null_in_unique_and_hash() {
    check(
        r#"
#- levels Node Role Common
#- /data/nodes/web01.yaml
ports: [80]
users: {a: 1}
#- /data/common.yaml
lookup_options: {users: {merge: hash}, ports: {merge: unique}}
users:
ports:
"#,
        expect![[r#"
            data/common.yaml:2:7: error: 'users' is merged with strategy 'hash', which fails here: The second element of the merge has wrong type, expects a Hash value, got Undef [merge-type-conflict]
              2 | users:
                |       ^
                data/common.yaml:1:18: the strategy is set here
                data/nodes/web01.yaml:2:1: to be merged with this
            data/common.yaml:3:7: error: 'ports' is merged with strategy 'unique', which fails here: The second element of the merge has wrong type, expects a value of type Scalar or Array, got Undef [merge-type-conflict]
              3 | ports:
                |       ^
                data/common.yaml:1:40: the strategy is set here
                data/nodes/web01.yaml:1:1: to be merged with this
        "#]],
    );
}

/// The lookups that a check of all files needs, and the findings.
fn checked(text: &str) -> (usize, usize) {
    let fixture = Fixture::new(text);
    let (mut lookups, mut findings) = (0, 0);
    for file in fixture.snapshot.files() {
        work::take();
        findings += check_file(&fixture.snapshot, &file.path, &RulesConfig::default()).len();
        lookups += work::take().lookups;
    }
    (lookups, findings)
}

#[test]
fn values_that_any_merge_takes_are_not_looked_up_in_each_of_their_files() {
    let with = |levels: usize, last: &str| {
        let name = |n: usize| format!("- {{name: L{n}, path: l{n}.yaml}}\n");
        let names: String = (0..levels).map(name).collect();
        let file = |n: usize| format!("#- /data/l{n}.yaml\nk: [a{n}, \"b%{{role}}\"]\n");
        let files: String = (0..levels - 1).map(file).collect();
        checked(&format!(
            "#- /hiera.yaml\nversion: 5\nhierarchy:\n{names}{files}#- /data/l{}.yaml\n\
             lookup_options: {{k: {{merge: unique}}}}\nk: {last}\n",
            levels - 1
        ))
    };
    assert_eq!(with(20, "[c]"), (0, 0));
    assert_eq!(with(40, "[c]"), (0, 0));
    let (lookups, findings) = with(40, "{c: 1}");
    assert!(lookups <= 3 && findings == 1, "{lookups} lookups, {findings} findings");
}
