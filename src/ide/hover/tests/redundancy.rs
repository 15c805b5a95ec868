//! Files that add nothing to a merge, and files that only seem to add nothing.

use expect_test::expect;

use super::{check, check_markdown, hovered};
use crate::fixture::Fixture;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::puppet::print::{PrintOptions, print_json};
use crate::text::FilePath;

const NODES: &str = "
#- levels Node Role Common
#- node web01 trusted.certname=web01 role=web
#- node web02 trusted.certname=web02 role=web
";

const SAYS: &str = "adds nothing";

/// The note on a role's value above a common one, under a merge strategy.
fn notes(merge: &str, role: &str, common: &str) -> bool {
    let text = format!(
        "{NODES}#- /data/roles/web.yaml\n$0k: {role}\n#- /data/common.yaml\nlookup_options: {{k: {{merge: {merge}}}}}\nk: {common}\n"
    );
    hovered(&text, false, None).contains(SAYS)
}

#[test]
fn a_file_whose_part_of_a_merge_is_in_another_one() {
    check_markdown(
        &format!(
            "{NODES}#- /data/roles/web.yaml
us$0ers: {{ada: {{uid: 1}}}}
#- /data/common.yaml
lookup_options: {{users: {{merge: deep}}}}
users: {{ada: {{uid: 1, shell: zsh}}, grace: {{uid: 2}}}}
"
        ),
        expect![[r#"
            <users>
            **users**  
            in all 2 known nodes  
            merged deep from 2 files: [Role](file:///data/roles/web.yaml#L1), [Common](file:///data/common.yaml#L2) · set in [data/common.yaml:1](file:///data/common.yaml#L1)

            ```yaml
            ada:
              uid: 1         # Role
              shell: zsh     # Common
            grace: {uid: 2}  # Common
            ```

            - the value here adds nothing to **Common** [data/common.yaml:2](file:///data/common.yaml#L2): deleting it changes nothing for these nodes
        "#]],
    );
    check(
        "
#- levels Node Role Common
#- scope web01 trusted.certname=web01 role=web
#- /data/nodes/web01.yaml
packages: [vim, git]
#- /data/roles/web.yaml
pack$0ages: [git]
#- /data/common.yaml
lookup_options: {packages: {merge: unique}}
packages: [curl]
",
        expect![[r#"
            <packages>
            packages
            node web01
            merged unique from 3 files: Node data/nodes/web01.yaml:1, Role data/roles/web.yaml:1, Common data/common.yaml:2 · set in data/common.yaml:1

              - vim   # Node
              - git   # Node
              - curl  # Common

            - the value here adds nothing to Node data/nodes/web01.yaml:1 and Common data/common.yaml:2: deleting it changes nothing for this node
        "#]],
    );
}

#[test]
fn each_strategy_decides_what_is_nothing() {
    assert!(notes("hash", "{a: 1}", "{a: 1, b: 2}"));
    assert!(!notes("hash", "{a: {x: 1}}", "{a: {x: 1, y: 2}, b: 2}"));
    assert!(notes("deep", "{a: {x: 1}}", "{a: {x: 1, y: 2}, b: 2}"));
    assert!(!notes("deep", "{a: 2}", "{a: 1, b: 2}"));
    assert!(notes("unique", "[a]", "[a, b]"));
    assert!(!notes("unique", "[b]", "[a, b]"), "the order changes");
    assert!(!notes("unique", "[c]", "[a, b]"));
    assert!(!notes("first", "[a]", "[a, b]"));
}

/// The value of `k` for the node web01, as JSON.
fn effective(text: &str) -> String {
    let fixture = Fixture::new(text);
    let path = FilePath::new("/data/common.yaml");
    let snapshot = &fixture.snapshot;
    let environment = snapshot.environments().environment_of(&path).expect("it is governed");
    let scope = snapshot.scope_for(environment, &path);
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
    match resolver.lookup(&LookupKey::of_root("k"), None).value {
        Ok(value) => value.map_or_else(String::new, |it| print_json(&it, &PrintOptions::default())),
        Err(error) => error.to_string(),
    }
}

/// Several files of a level, and several levels, with all of these values: where a hover reports
/// that the key may be deleted, a lookup without it has the same value.
#[test]
fn a_lookup_without_the_key_agrees() {
    let lists = ["[a]", "[a, b]", "[b, a]", "[[a], b]", "[a, a]", "c"];
    let hashes = ["{a: 1}", "{a: 2, b: 1}", "{b: 1, a: 1}", "{a: {x: [1]}}", "{a: {x: [1, 2]}}"];
    let mut said = 0;
    for (merge, values) in [
        ("unique", &lists[..]),
        ("deep", &lists[..]),
        ("deep", &hashes[..]),
        ("hash", &hashes[..]),
        ("{strategy: deep, sort_merged_arrays: true}", &lists[..]),
        ("{strategy: deep, merge_hash_arrays: true}", &hashes[..]),
    ] {
        for (node, role) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
            for common in values.iter().copied().chain([""]) {
                let common = if common.is_empty() { String::new() } else { format!("k: {common}") };
                let text = |own: &str| {
                    format!(
                        "
#- scope web01 role=web
#- /hiera.yaml
version: 5
hierarchy:
- {{name: Own, paths: [node.yaml, role.yaml, none.yaml]}}
- {{name: Common, path: common.yaml}}
#- /data/node.yaml
k: {node}
#- /data/role.yaml
{own}: {role}
#- /data/common.yaml
lookup_options: {{k: {{merge: {merge}}}}}
{common}
"
                    )
                };
                if hovered(&text("$0k"), false, None).contains(SAYS) {
                    said += 1;
                    assert_eq!(effective(&text("k")), effective(&text("other")), "{}", text("k"));
                }
            }
        }
    }
    assert!(said > 100, "it is said {said} times");
}

/// Alone, a list keeps its duplicates where several levels are asked.
#[test]
fn a_merge_that_another_file_needs_as_such_is_not_nothing() {
    assert!(!notes("unique", "[a]", "[a, a]"));
    assert!(!notes("unique", "[a]", "[[a], b]"));
}

#[test]
fn knockouts_and_conversions_are_not_judged() {
    let knockout = "{strategy: deep, knockout_prefix: '--'}";
    assert!(!notes(knockout, "{a: 1}", "{a: 1, b: 2}"));
    assert!(!notes("deep, convert_to: Sensitive", "{a: 1}", "{a: 1, b: 2}"));
}

/// The file adds to the value of one node.
#[test]
fn notes_that_hold_in_one_group_alone_are_left_out() {
    let text = |own: &str| {
        format!(
            "{NODES}#- /data/nodes/web02.yaml\n{own}\n#- /data/roles/web.yaml\n$0k: [a]\n#- /data/common.yaml\nlookup_options: {{k: {{merge: unique}}}}\nk: [a, b]\n"
        )
    };
    assert!(hovered(&text("k: [a]"), false, None).contains(SAYS));
    assert!(!hovered(&text("k: [b]"), false, None).contains(SAYS));
}

#[test]
fn a_file_that_unknown_variables_may_merge_in_leaves_it_open() {
    let text = |file: &str| {
        format!(
            "
#- /hiera.yaml
version: 5
hierarchy:
- {{name: Role, path: 'roles/%{{role}}.yaml'}}
- {{name: Site, path: 'sites/%{{site}}.yaml'}}
- {{name: Common, path: common.yaml}}
#- /data/roles/web.yaml
$0k: [a]
#- /data/sites/west.yaml
{file}
#- /data/common.yaml
lookup_options: {{k: {{merge: unique}}}}
k: [a, b]
"
        )
    };
    assert!(hovered(&text("other: 1"), false, None).contains(SAYS));
    assert!(!hovered(&text("k: [c, a]"), false, None).contains(SAYS));
    let options = "lookup_options: {k: {merge: hash}}";
    assert!(!hovered(&text(options), false, None).contains(SAYS));
}

/// Without the module's value, Puppet would ask the levels of `default_hierarchy`.
#[test]
fn a_module_s_value_is_not_judged() {
    let text = "
#- scope web01 role=web
#- /modules/ntp/hiera.yaml
version: 5
hierarchy: [{name: Defaults, path: defaults.yaml}]
default_hierarchy: [{name: Last, path: last.yaml}]
#- /modules/ntp/data/last.yaml
ntp::servers: [c]
#- /modules/ntp/data/defaults.yaml
$0ntp::servers: [a]
#- /data/common.yaml
lookup_options: {ntp::servers: {merge: unique}}
ntp::servers: [a, b]
";
    assert!(!hovered(text, false, None).contains(SAYS));
}
