//! `lookup_options` and the conversions that they ask for.

use expect_test::expect;

use super::check;

#[test]
fn lookup_options_themselves() {
    check(
        "
#- scope web01 role=web facts.os.family=Debian
lookup_op$0tions:
  users: {merge: deep}
users: 1
",
        expect![[r#"
            <lookup_options>
            lookup_options

            How keys are merged and converted: literal keys, and patterns that start with `^`. A lookup does not return it.
        "#]],
    );
}

#[test]
fn an_entry_of_lookup_options() {
    check(
        r#"
#- scope web01 role=web facts.os.family=Debian
lookup_options:
  "^us$0ers": {merge: deep}
users: 1
users2: 2
"#,
        expect![[r#"
            <"^users">
            lookup_options

            ^users serves 2 known keys

            - users
            - users2
        "#]],
    );
}

/// A conversion that only Puppet can do is named beside the key that it belongs to.
#[test]
fn values_that_are_not_converted_here() {
    let data = |hovered: &str| {
        let data = "
#- scope web01 role=web facts.os.family=Debian
lookup_options: {inner: {convert_to: 'Object[{}]'}}
inner: 1
outer: \"%{alias('inner')}\"
";
        data.replace(&format!("\n{hovered}:"), &format!("\n{}$0{}:", &hovered[..1], &hovered[1..]))
    };
    check(
        &data("inner"),
        expect![[r#"
            <inner>
            inner
            node web01
            from Common data/common.yaml:2 · converted to Object[{}] (not shown here)

              1

            - read by data/common.yaml:3
        "#]],
    );
    check(
        &data("outer"),
        expect![[r#"
            <outer>
            outer
            node web01
            from Common data/common.yaml:3

              1

            inner is converted to Object[{}] (not shown here)
        "#]],
    );
}
