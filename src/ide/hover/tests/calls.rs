//! Merge strategies that calls in code ask for.

use expect_test::expect;

use super::check;

const FILES: &str = r#"
#- levels Node Role Common
#- scope web01 role=web
#- /data/nodes/web01.yaml
users: {ada: 1}
#- /data/roles/web.yaml
users: {grace: 2}
web::users: {grace: 2}
#- /data/common.yaml
#- /manifests/site.pp
class site($strategy = 'deep') {
  $users = lookup('users', Hash, MERGE)
}
#- /modules/web/manifests/init.pp
class web($users) { $again = lookup('web::users', Hash, 'deep') }
"#;

fn with(merge: &str, data: &str) -> String {
    let common = format!("#- /data/common.yaml\n{data}\n");
    FILES.replace("#- /data/common.yaml\n", &common).replace("MERGE", merge)
}

#[test]
fn the_call_decides_and_is_named() {
    check(
        &with("'deep'", "us$0ers: {joan: 3}"),
        expect![[r#"
            <users>
            users
            node web01
            merged deep from 3 files: Node data/nodes/web01.yaml:1, Role data/roles/web.yaml:1, Common data/common.yaml:1 · asked for by lookup in manifests/site.pp:2

              joan: 3   # Common
              grace: 2  # Role
              ada: 1    # Node

            - read by lookup manifests/site.pp:2
        "#]],
    );
}

#[test]
fn a_call_beats_lookup_options() {
    let data = "lookup_options: {users: {merge: deep}}\nus$0ers: {joan: 3}";
    check(
        &with("'first'", data),
        expect![[r#"
            <users>
            users
            node web01
            from Node data/nodes/web01.yaml:1 · asked for by lookup in manifests/site.pp:2

              ada: 1

            - overrides Role data/roles/web.yaml:1 and hides its key grace
            - overrides the value here and hides its key joan

            - read by lookup manifests/site.pp:2
        "#]],
    );
}

#[test]
fn a_class_parameter_is_looked_up_without() {
    check(
        &with("'deep'", "web::us$0ers: {joan: 3}"),
        expect![[r#"
            <web::users>
            web::users · class web modules/web/manifests/init.pp:1
            node web01
            from Role data/roles/web.yaml:2

              grace: 2

            - overrides the value here and hides its key joan

            - also read by lookup modules/web/manifests/init.pp:1
        "#]],
    );
}

#[test]
fn a_strategy_in_a_parameter_is_its_default() {
    check(
        &with("$strategy", "us$0ers: {joan: 3}"),
        expect![[r#"
            <users>
            users
            node web01
            merged deep from 3 files: Node data/nodes/web01.yaml:1, Role data/roles/web.yaml:1, Common data/common.yaml:1 · asked for by lookup in manifests/site.pp:2

              joan: 3   # Common
              grace: 2  # Role
              ada: 1    # Node

            - read by lookup manifests/site.pp:2
        "#]],
    );
}

#[test]
fn a_strategy_in_a_parameter_has_the_value_of_data() {
    check(
        &with("$strategy", "us$0ers: {joan: 3}\nsite::strategy: first"),
        expect![[r#"
            <users>
            users
            node web01
            from Node data/nodes/web01.yaml:1 · asked for by lookup in manifests/site.pp:2

              ada: 1

            - overrides Role data/roles/web.yaml:1 and hides its key grace
            - overrides the value here and hides its key joan

            - read by lookup manifests/site.pp:2
        "#]],
    );
}

#[test]
fn calls_that_disagree_are_reported() {
    let more = "us$0ers: {joan: 3}\n#- /manifests/more.pp\n$more = hiera('users')";
    check(
        &with("'deep'", more),
        expect![[r#"
            <users>
            users
            node web01
            from Node data/nodes/web01.yaml:1

              ada: 1

            - overrides Role data/roles/web.yaml:1 and hides its key grace
            - overrides the value here and hides its key joan
            - asked for with no merge by hiera in manifests/more.pp:1, merge deep by lookup in manifests/site.pp:2

            - read by hiera manifests/more.pp:1, lookup manifests/site.pp:2
        "#]],
    );
    check(
        &with("$facts['merge']", "us$0ers: {joan: 3}"),
        expect![[r#"
            <users>
            users
            node web01
            from Node data/nodes/web01.yaml:1

              ada: 1

            - overrides Role data/roles/web.yaml:1 and hides its key grace
            - overrides the value here and hides its key joan
            - asked for with a computed merge by lookup in manifests/site.pp:2

            - read by lookup manifests/site.pp:2
        "#]],
    );
}
