use super::*;
use crate::text::work;

const FLEET: &str = "#- levels Node Role Common\n#- scope web01 trusted.certname=web01 role=web\n#- node web02 trusted.certname=web02 role=web\n#- node db01 trusted.certname=db01 role=db\n";

fn check_moves(text: &str, expected: Expect) {
    check(RefactoringKind::Move, &format!("{FLEET}{text}"), expected);
}

#[test]
fn a_key_moves_with_its_comments_to_each_level_of_the_node() {
    check_moves(
        "#- /data/roles/web.yaml\na: 1\n\n# of k\n$0k:\n  - 1 # one\n\nz: 1\n#- /data/common.yaml\nb: 1\nl: 1\nx: 1\n",
        expect![[r#"
            Move `k` to data/common.yaml (changes 1 of 3 nodes)
              /data/common.yaml
                b: 1
                # of k
                k:
                  - 1 # one
                l: 1
                x: 1
              /data/roles/web.yaml
                a: 1

                z: 1
            Move `k` to the new file data/nodes/web01.yaml (changes 1 of 3 nodes)
              /data/roles/web.yaml
                a: 1

                z: 1
              /data/nodes/web01.yaml, new
                # of k
                k:
                  - 1 # one
        "#]],
    );
}

#[test]
fn a_value_that_another_level_overrides_moves_without_effect() {
    check_moves(
        "#- /data/nodes/web01.yaml\nk: 1\n#- /data/roles/web.yaml\n$0k: 2\n#- /data/nodes/web02.yaml\nk: 3\n#- /data/common.yaml\nx: 1\n",
        expect![[r#"
            Move `k` to data/common.yaml (changes 1 of 3 nodes)
              /data/common.yaml
                x: 1
                k: 2
              /data/roles/web.yaml
                {}
        "#]],
    );
}

#[test]
fn keys_that_cannot_be_moved_have_a_reason() {
    check_moves(
        "#- /data/roles/web.yaml\n$0k: &a 1\nl: *a\n#- /data/common.yaml\nx: 1\n",
        expect![[r#"
            Move `k` to another level
              refused: the value has an anchor or an alias, which means nothing in another file
        "#]],
    );
    check_moves(
        "#- /data/roles/web.yaml\n$0k: secret\n#- /data/common.yaml\nlookup_options: {k: {convert_to: Sensitive}}\n",
        expect![[r#"
            Move `k` to another level
              refused: the value is Sensitive, and the change would repeat it
        "#]],
    );
}

#[test]
fn a_shared_value_is_pulled_down_to_the_level_of_all_nodes() {
    check_moves(
        "#- /data/roles/web.yaml\n# of k\n$0k: [1, 2]\n#- /data/roles/db.yaml\ny: 1\nk:\n  - 1\n  - 2\n#- /data/common.yaml\nx: 1\n",
        expect![[r#"
            Move `k` to data/common.yaml (changes none of 3 nodes; others may change)
              /data/common.yaml
                x: 1
                # of k
                k: [1, 2]
              /data/roles/web.yaml
                {}
            Move `k` to the new file data/nodes/web01.yaml (changes 1 of 3 nodes)
              /data/roles/web.yaml
                {}
              /data/nodes/web01.yaml, new
                # of k
                k: [1, 2]
            Move `k`, the same in 2 files, to data/common.yaml (changes none of 3 nodes; others may change)
              /data/common.yaml
                x: 1
                # of k
                k: [1, 2]
              /data/roles/db.yaml
                y: 1
              /data/roles/web.yaml
                {}
        "#]],
    );
    check_moves(
        "#- /data/roles/web.yaml\n$0k: 1\n#- /data/common.yaml\nk: 1\nx: \"%{lookup('k')}\"\n",
        expect![[r#"
            Move `k` to the new file data/nodes/web01.yaml
              /data/roles/web.yaml
                {}
              /data/nodes/web01.yaml, new
                k: 1
            Remove `k` from 1 file: data/common.yaml has the same value
              /data/roles/web.yaml
                {}
        "#]],
    );
}

#[test]
fn at_most_four_levels_are_listed_of_eight_that_are_compared() {
    let levels: Vec<String> =
        (0..11).map(|n| format!("  - {{name: L{n}, path: l{n}.yaml}}\n")).collect();
    let files: Vec<String> = (1..11).map(|n| format!("#- /data/l{n}.yaml\nx: 1\n")).collect();
    let text = format!(
        "#- /hiera.yaml\nversion: 5\nhierarchy:\n{}#- /data/l0.yaml\n$0k: 1\n{}k: 2\n",
        levels.concat(),
        files.concat()
    );
    let fixture = Fixture::new(&text);
    work::take();
    let all = found(&fixture, &[RefactoringKind::Move]);
    let titles: Vec<&str> = all.iter().map(|one| &*one.title).collect();
    assert_eq!(
        titles,
        [
            "Move `k` to data/l1.yaml",
            "Move `k` to data/l2.yaml",
            "Move `k` to data/l3.yaml",
            "Move `k` to data/l4.yaml",
        ]
    );
    // Each of eight changes is looked up in three scopes before and after: the scope of any node,
    // and the scopes that the paths of the two files imply.
    assert_eq!(work::take().lookups, 8 * 3 * 2);
}

/// Levels of nodes, of roles by site, of modules by a glob, and common ones.
const SITES: &str = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Secret data, path: 'secrets/%{role}.secrets.yaml'}\n- {name: Nodes, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Roles, path: 'roles/%{role}.yaml'}\n- {name: Modules, glob: 'modules/*.yaml'}\n- {name: Common, path: common.yaml}\n#- node a1 trusted.certname=a1 role=api\n#- node a2 trusted.certname=a2 role=api\n#- node d1 trusted.certname=d1 role=db\n#- /data/nodes/a1.yaml\nx: 1\n#- /data/nodes/d1.yaml\nx: 1\n#- /data/modules/apache.yaml\nx: 1\n#- /data/modules/bird.yaml\ny: 1\n#- /data/modules/web.yaml\nweb::host: h\n#- /data/secrets/api.secrets.yaml\npassword: p\n";

fn titles(text: &str) -> Vec<String> {
    let fixture = Fixture::new(&format!("{SITES}{text}"));
    found(&fixture, &[RefactoringKind::Move]).into_iter().map(|one| one.title).collect()
}

#[test]
fn levels_are_offered_in_place_of_the_files_of_a_glob_and_never_those_of_secrets() {
    let api = "#- /data/roles/api.yaml\n$0web::port: 1\n#- /data/common.yaml\nx: 1\n";
    assert_eq!(
        titles(api),
        [
            "Move `web::port` to data/modules/web.yaml (changes 1 of 3 nodes)",
            "Move `web::port` to data/common.yaml (changes 1 of 3 nodes)",
        ]
    );
    let other = "#- /data/roles/api.yaml\n$0motd: 1\n#- /data/common.yaml\nx: 1\n";
    assert_eq!(titles(other), ["Move `motd` to data/common.yaml (changes 1 of 3 nodes)"]);
}

#[test]
fn a_key_moves_down_to_levels_that_state_its_siblings() {
    let common = "#- /data/roles/api.yaml\nweb::x: 1\n#- /data/roles/db.yaml\nz: 1\n#- /data/common.yaml\n$0web::port: 1\nx: 1\n";
    assert_eq!(
        titles(common),
        [
            "Move `web::port` to data/modules/web.yaml",
            "Move `web::port` to data/roles/api.yaml (changes 1 of 3 nodes)",
        ]
    );
    let role = "#- /data/roles/api.yaml\n$0web::port: 1\nl: 1\n#- /data/nodes/a2.yaml\nweb::x: 1\n#- /data/common.yaml\nweb::x: 1\n";
    assert_eq!(
        titles(role),
        [
            "Move `web::port` to data/modules/web.yaml (changes 1 of 3 nodes)",
            "Move `web::port` to data/common.yaml (changes 1 of 3 nodes)",
            "Move `web::port` to data/nodes/a2.yaml (changes 1 of 3 nodes)",
        ]
    );
}

#[test]
fn files_of_the_first_thousand_siblings_are_preferred() {
    let glob = "Move `web::a` to data/modules/web.yaml (changes 1 of 3 nodes)";
    for (count, is_offered) in [(999, true), (1_000, false)] {
        let keys: String = (0..count).map(|n| format!("web::b{n:04}: 1\n")).collect();
        let common = "#- /data/common.yaml\nx: 1\n";
        let all = titles(&format!("#- /data/roles/api.yaml\n$0web::a: 1\n{keys}{common}"));
        assert_eq!(all.iter().any(|title| title == glob), is_offered, "{all:?}");
    }
}

#[test]
fn the_file_of_a_glob_with_the_most_siblings_is_preferred() {
    for (few, many) in [("bird", "apache"), ("apache", "bird")] {
        let api = format!(
            "#- /data/modules/{few}.yaml\nweb::a: 1\n#- /data/modules/{many}.yaml\nweb::b: 1\nweb::c: 1\n\
             #- /data/modules/web.yaml\ny: 1\n#- /data/roles/api.yaml\n$0web::port: 1\n#- /data/common.yaml\nx: 1\n"
        );
        let all = titles(&api);
        assert!(
            all[0].starts_with(&format!("Move `web::port` to data/modules/{many}.yaml")),
            "{all:?}"
        );
    }
}

#[test]
fn a_key_moves_to_a_file_that_some_of_its_nodes_and_others_read() {
    let text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: OS, path: 'os/%{os}.yaml'}\n- {name: Common, path: common.yaml}\n#- node a1 role=api os=RedHat\n#- node a2 role=api os=Debian\n#- node d1 role=db os=Debian\n#- /data/os/Debian.yaml\nweb::x: 1\n#- /data/roles/api.yaml\n$0web::port: 1\nl: 1\n#- /data/common.yaml\nx: 1\n";
    let fixture = Fixture::new(text);
    let all = found(&fixture, &[RefactoringKind::Move]);
    let titles: Vec<&str> = all.iter().map(|one| &*one.title).collect();
    assert!(titles.iter().any(|title| title.contains(" to data/os/Debian.yaml")), "{titles:?}");
}

#[test]
fn no_file_is_created_where_a_variable_of_its_path_has_no_value() {
    let text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Variants, path: '%{role}-%{variant}.yaml'}\n- {name: Roles, path: '%{role}.yaml'}\n- {name: Common, path: common.yaml}\n#- scope a role=api variant=''\n#- /data/api.yaml\n$0k: 1\n";
    let fixture = Fixture::new(text);
    let titles: Vec<String> =
        found(&fixture, &[RefactoringKind::Move]).into_iter().map(|one| one.title).collect();
    assert_eq!(
        titles,
        ["Move `k` to the new file data/common.yaml (changes none of 1 node; others may change)"]
    );
}

#[test]
fn plain_text_does_not_leave_a_file_of_secrets() {
    let secrets = "#- /data/common.yaml\nx: 1\n#- /data/secrets/db.secrets.yaml\n$0password: 1\n";
    assert_eq!(titles(secrets), [""; 0]);
    let eyaml = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Mixed, path: mixed.yaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: a, pkcs7_public_key: b}}\n- {name: Common, path: common.yaml}\n#- node a role=api\n#- /data/roles/api.yaml\n$0k: 1\n#- /data/mixed.yaml\nx: 1\n#- /data/common.yaml\ns: ENC[PKCS7,aa]\n";
    let fixture = Fixture::new(eyaml);
    assert_eq!(found(&fixture, &[RefactoringKind::Move]), [], "one decrypts, one has ciphertext");
}

#[test]
fn nodes_beyond_the_effort_are_counted_in_the_title() {
    let text = format!("{FLEET}#- /data/roles/web.yaml\n$0k: 1\n#- /data/common.yaml\nx: 1\n");
    let fixture = Fixture::new(&text);
    let all = found_within(&fixture, &[RefactoringKind::Move], Some(0));
    let titles: Vec<&str> = all.iter().map(|one| &*one.title).collect();
    assert!(
        titles.contains(&"Move `k` to data/common.yaml (changes not known for 3 of 3 nodes)"),
        "{titles:?}"
    );
}

#[test]
fn each_of_many_nodes_with_a_value_of_its_own_is_compared() {
    let nodes: String = (0..200)
        .map(|n| format!("#- node n{n} trusted.certname=n{n} role=web facts.x=x{n}\n"))
        .collect();
    let text = format!(
        "#- levels Role Common\n#- scope web01 role=web\n{nodes}#- /data/roles/web.yaml\n$0k: \"%{{facts.x}}\"\n#- /data/common.yaml\nx: 1\n"
    );
    let fixture = Fixture::new(&text);
    let all = found(&fixture, &[RefactoringKind::Move]);
    let titles: Vec<&str> = all.iter().map(|one| &*one.title).collect();
    assert_eq!(
        titles,
        ["Move `k` to data/common.yaml (changes none of 201 nodes; others may change)"]
    );
}

#[test]
fn a_title_counts_kinds_of_nodes_where_no_node_is_known() {
    check(
        RefactoringKind::Move,
        "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Common, path: common.yaml}
#- /data/roles/web.yaml
$0k: 1
#- /data/roles/db.yaml
z: 1
#- /data/common.yaml
a: 1
",
        expect![[r#"
            Move `k` to data/common.yaml (changes 1 of 2 kinds of nodes)
              /data/common.yaml
                a: 1
                k: 1
              /data/roles/web.yaml
                {}
        "#]],
    );
}

/// Nodes with a file each that has the key, and with a value of their own.
fn nodes_with_own_files(count: usize) -> String {
    let node = |n: usize| {
        format!(
            "#- node n{n} trusted.certname=n{n} role=web ip={n}\n#- /data/nodes/n{n}.yaml\n{}k: {{address: \"%{{ip}}\"}}\n",
            if n == 0 { "$0" } else { "" }
        )
    };
    let nodes: String = (0..count).map(node).collect();
    format!(
        "#- levels Node Role Common\n{nodes}#- /data/roles/web.yaml\nx: 1\n#- /data/common.yaml\nk: {{address: none}}\n"
    )
}

#[test]
fn titles_are_known_where_each_node_is_looked_up_once_before_and_once_after_each_change() {
    let titles = |nodes: usize| {
        let fixture = Fixture::new(&nodes_with_own_files(nodes));
        work::take();
        let all = found_within(&fixture, &RefactoringKind::ALL, Some(200));
        let lookups = work::take().lookups;
        // The effort of 200 lookups is spent by keys; the lookups for unknown nodes end the last
        // change.
        assert!(lookups <= 200 + 8, "{lookups}");
        let mut titles: Vec<String> = all.into_iter().map(|one| one.title).collect();
        titles.retain(|title| title.contains("not known"));
        titles
    };
    // 40 nodes are looked up before the changes, and after each of two changes of options. Moves
    // take a few lookups more.
    assert_eq!(titles(40), [""; 0]);
    assert_ne!(titles(80), [""; 0], "the bound is met");
}
