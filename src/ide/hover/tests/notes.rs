//! Notes of a hover: the class that takes a key, values hidden by an override, the meaning of a
//! null, strategies that unknown variables choose.

use expect_test::expect;

use super::{check, check_markdown, hovered};

const CLASS: &str = "
#- levels Role Common
#- /modules/web/manifests/init.pp
class web(
  Hash[String,   Integer] $ports,
  Integer $workers = 4,
  $note,
) { }
#- /data/roles/db.yaml
web::workers:
#- /data/common.yaml
web::ports: {http: 80}
web::workers: 8
web::note:
";

#[test]
fn the_class_of_a_parameter_and_its_type() {
    check_markdown(
        &CLASS.replace("web::ports", "web::po$0rts"),
        expect![[r#"
            <web::ports>
            **web::ports** · `Hash[String, Integer]` · [class web](file:///modules/web/manifests/init.pp#L2)  
            for any node, as none is known  
            from **Common** [data/common.yaml:1](file:///data/common.yaml#L1)

            ```yaml
            http: 80
            ```
        "#]],
    );
    check(
        &CLASS.replace("{http", "{ht$0tp"),
        expect![[r#"
            <http>
            web::ports.http · class web modules/web/manifests/init.pp:2
            for any node, as none is known
            from Common data/common.yaml:1

              80

            of type Integer
        "#]],
    );
}

#[test]
fn a_null_is_the_default_of_the_class() {
    check(
        &CLASS.replace("db.yaml\nweb::workers", "db.yaml\nweb::wor$0kers"),
        expect![[r#"
            <web::workers>
            web::workers · Integer · class web modules/web/manifests/init.pp:3
            for nodes with role = db
            from Role data/roles/db.yaml:1

              ~

            - overrides Common data/common.yaml:2: 8
            - null: the parameter takes the class's default, 4

            - default 4
        "#]],
    );
    check(
        &CLASS.replace("web::note", "web::no$0te"),
        expect![[r#"
            <web::note>
            web::note · class web modules/web/manifests/init.pp:4
            for any node, as none is known
            from Common data/common.yaml:3

              ~

            - null: the parameter is undef, as the class has no default
        "#]],
    );
}

const LEVELS: &str = "
#- scope web01 role=web
#- levels Node Role Common
";

#[test]
fn a_key_that_equals_the_lower_one_changes_nothing() {
    let data = "#- /data/roles/web.yaml
po$0rt: 80
#- /data/common.yaml
port: 80
";
    check(
        &format!("{LEVELS}{data}"),
        expect![[r#"
        <port>
        port
        node web01
        from Role data/roles/web.yaml:1

          80

        - equals Common data/common.yaml:1: deleting it here changes nothing for this node
    "#]],
    );
    // No level lies between Role and Common.
    check(
        &format!("#- levels Role Common\n{data}"),
        expect![[r#"
        <port>
        port
        for nodes with role = web
        from Role data/roles/web.yaml:1

          80

        - equals Common data/common.yaml:1: deleting it here changes nothing
    "#]],
    );
}

#[test]
fn what_lies_between_may_make_it_matter() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Site, path: 'sites/%{site}.yaml'}
- {name: Common, path: common.yaml}
#- /data/roles/web.yaml
po$0rt: 80
#- /data/sites/oslo.yaml
port: 8080
#- /data/common.yaml
port: 80
",
        expect![[r#"
            <port>
            port
            for nodes with role = web
            from Role data/roles/web.yaml:1

              80

            - overrides Common data/common.yaml:1 with the same value
        "#]],
    );
}

/// A token in the lower value, and a part of a hash whose other members would stay.
#[test]
fn values_that_only_look_equal_get_no_redundancy_note() {
    check(
        &format!(
            "{LEVELS}#- /data/roles/web.yaml
po$0rt: \"%{{literal('%')}}{{x}}\"
#- /data/common.yaml
port: \"%{{x}}\"
"
        ),
        expect![[r#"
            <port>
            port
            node web01
            from Role data/roles/web.yaml:1

              '%{x}'

            - overrides Common data/common.yaml:1: '%{x}'
        "#]],
    );
    check(
        &format!(
            "{LEVELS}#- /data/roles/web.yaml
listen: {{po$0rt: 80}}
#- /data/common.yaml
listen: {{port: 80, host: a}}
"
        ),
        expect![[r#"
            <port>
            listen.port
            node web01
            from Role data/roles/web.yaml:1

              80

            - overrides Common data/common.yaml:1 with the same value
        "#]],
    );
}

#[test]
fn the_keys_that_an_override_hides() {
    check(
        &format!(
            "{LEVELS}#- /data/roles/web.yaml
lis$0ten: {{port: 80}}
#- /data/common.yaml
listen: {{port: 8080, host: a, user: b}}
"
        ),
        expect![[r#"
            <listen>
            listen
            node web01
            from Role data/roles/web.yaml:1

              port: 80

            - overrides Common data/common.yaml:1 and hides its keys host, user
        "#]],
    );
}

#[test]
fn options_that_unknown_variables_decide_on_leave_the_strategy_open() {
    let text = |common: &str| {
        format!(
            "#- levels Role Common
#- /data/roles/web.yaml
lookup_options: {{users: {{merge: deep}}}}
#- /data/roles/db.yaml
lookup_options: {{'^us': {{merge: hash}}, other: {{merge: unique}}}}
#- /data/common.yaml
{common}us$0ers: {{a: 1}}
"
        )
    };
    check(
        &text(""),
        expect![[r#"
            <users>
            users
            for any node, as none is known
            from Common data/common.yaml:1

              a: 1

            - the merge strategy is not settled: lookup_options in data/roles/db.yaml:1 where role = db, data/roles/web.yaml:1 where role = web
        "#]],
    );
    // A literal entry is not replaced by a pattern, not even by one with the same options.
    check(
        &text("lookup_options: {users: {merge: deep}}\n"),
        expect![[r#"
            <users>
            users
            for any node, as none is known
            from Common data/common.yaml:2 · merge deep · set in data/common.yaml:1

              a: 1
        "#]],
    );
}

#[test]
fn a_token_whose_key_is_not_settled_keeps_its_text() {
    check(
        "
#- levels Role Common
#- /data/roles/web.yaml
port: 80
#- /data/common.yaml
ur$0l: \"http://localhost:%{lookup('port')}/%{lookup('nothing')}\"
",
        expect![[r#"
            <url>
            url
            by kind of node:

            - http://localhost:80/ where role = web
            - http://localhost:/ otherwise

            role is unknown: the values are those in the names of files

            first value found
        "#]],
    );
}

/// A level whose function is not evaluated may hold `lookup_options`. It is named once: not where
/// the hover already lists it as not evaluated.
#[test]
fn a_level_that_may_hold_options_leaves_the_strategy_open() {
    let note = |vault: &str, options: &str, levels: [&str; 2]| {
        let vault = format!(
            "{{name: Vault, lookup_key: hiera_vault, uri: 'https://vault.example'{vault}}}"
        );
        let level = |name: &str| match name {
            "Vault" => vault.clone(),
            _ => "{name: Common, path: common.yaml}".to_owned(),
        };
        let [first, second] = levels.map(level);
        let text = hovered(
            &format!(
                "
#- scope web01 role=web
#- /hiera.yaml
version: 5
hierarchy: [{first}, {second}]
#- /data/common.yaml
{options}us$0ers: {{a: 1}}
"
            ),
            false,
            None,
        );
        let lines = text.lines().filter(|line| line.contains("Vault"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let open = "- the merge strategy is not settled: level Vault may hold lookup_options";
    let confined = |patterns: &str| format!(", options: {{confine_to_keys: [{patterns}]}}");
    let excluded = "- Vault: hiera_vault is not asked, its option confine_to_keys excludes the key";
    let (below, above) = (["Common", "Vault"], ["Vault", "Common"]);
    assert_eq!(note("", "", below), [open]);
    assert_eq!(note(&confined("'^secret_.*'"), "", below), [] as [&str; 0]);
    assert_eq!(note(&confined("'^secret_.*'"), "", above), [excluded]);
    assert_eq!(note(&confined("'lookup_.*'"), "", above), [excluded, open]);
    let not_evaluated = "- Vault: the backend hiera_vault asks HashiCorp Vault at https://vault.example, and is not evaluated here";
    assert_eq!(note("", "", above), [not_evaluated]);
    // Options of the level do not replace an entry for exactly this key in a level above. They do
    // replace a pattern.
    let (literal, pattern) =
        ("lookup_options: {users: {merge: hash}}\n", "lookup_options: {'^us': {merge: first}}\n");
    assert_eq!(note("", literal, below), [not_evaluated]);
    assert_eq!(note("", pattern, below), [open]);
    let asked = confined("'lookup_.*'");
    assert_eq!(note(&asked, literal, above), [excluded, open]);
}

#[test]
fn the_strategy_of_nodes_with_several_values_may_be_open() {
    check(
        "
#- node web01.x role=web
#- node db01.x role=db
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Role, path: 'roles/%{role}.yaml'}
  - {name: Common, path: common.yaml}
  - {name: Vault, lookup_key: hiera_vault, uri: 'https://vault.example'}
#- /data/roles/db.yaml
users: {b: 2}
#- /data/common.yaml
us$0ers: {a: 1}
",
        expect![[r#"
            <users>
            users
            in all 2 known nodes:

            - {a: 1} in web01.x
            - {b: 2} in db01.x ← Role data/roles/db.yaml:1

            first value found

            the merge strategy is not settled: level Vault may hold lookup_options
        "#]],
    );
}

#[test]
fn options_of_a_lower_level_replace_none_for_exactly_the_key() {
    let text = |entry: &str| {
        format!(
            "#- levels Common Role
#- /data/roles/web.yaml
lookup_options: {{users: {{merge: hash}}}}
#- /data/common.yaml
lookup_options: {{{entry}: {{merge: deep}}}}
us$0ers: {{a: 1}}
"
        )
    };
    let note = "the merge strategy is not settled: lookup_options in data/roles/web.yaml:1";
    assert!(!hovered(&text("users"), false, None).contains(note));
    assert!(hovered(&text("'^us'"), false, None).contains(note), "a pattern is replaced");
}
