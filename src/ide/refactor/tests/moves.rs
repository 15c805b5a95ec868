use super::*;

const FLEET: &str = "#- levels Node Role Common\n#- scope web01 trusted.certname=web01 role=web\n#- node web02 trusted.certname=web02 role=web\n#- node db01 trusted.certname=db01 role=db\n";

fn check_moves(text: &str, expected: Expect) {
    check(RefactoringKind::Move, &format!("{FLEET}{text}"), expected);
}

#[test]
fn a_key_moves_with_its_comments_to_each_level_of_the_node() {
    check_moves(
        "#- /data/roles/web.yaml\na: 1\n\n# of k\n$0k:\n  - 1 # one\n\nz: 1\n#- /data/common.yaml\nb: 1\nl: 1\nx: 1\n",
        expect![[r#"
            Move `k` to the new file data/nodes/web01.yaml (changes 1 of 3 nodes)
              /data/roles/web.yaml
                a: 1

                z: 1
              /data/nodes/web01.yaml, new
                # of k
                k:
                  - 1 # one
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
            Move `k` to the new file data/nodes/web01.yaml (changes 1 of 3 nodes)
              /data/roles/web.yaml
                {}
              /data/nodes/web01.yaml, new
                # of k
                k: [1, 2]
            Move `k` to data/common.yaml (changes none of 3 nodes; others may change)
              /data/common.yaml
                x: 1
                # of k
                k: [1, 2]
              /data/roles/web.yaml
                {}
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
fn more_levels_than_are_listed_are_counted() {
    let levels: Vec<String> =
        (0..11).map(|n| format!("  - {{name: L{n}, path: l{n}.yaml}}\n")).collect();
    let files: Vec<String> = (1..11).map(|n| format!("#- /data/l{n}.yaml\nx: 1\n")).collect();
    let text = format!(
        "#- /hiera.yaml\nversion: 5\nhierarchy:\n{}#- /data/l0.yaml\n$0k: 1\n{}",
        levels.concat(),
        files.concat()
    );
    let fixture = Fixture::new(&text);
    let all = found(&fixture, &[RefactoringKind::Move]);
    assert_eq!(all.len(), 8);
    assert_eq!(all[7].title, "Move `k` to data/l8.yaml (2 more levels are not listed)");
}

#[test]
fn nodes_beyond_the_time_are_counted_in_the_title() {
    let text = format!("{FLEET}#- /data/roles/web.yaml\n$0k: 1\n#- /data/common.yaml\nx: 1\n");
    let fixture = Fixture::new(&text);
    let all = found_within(&fixture, &[RefactoringKind::Move], Some(Duration::ZERO));
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
