use super::*;

const FLEET: &str = "#- levels Node Role Common\n#- scope web01 trusted.certname=web01 role=web\n#- node web02 trusted.certname=web02 role=web\n#- node db01 trusted.certname=db01 role=db\n";

fn check_overrides(text: &str, expected: Expect) {
    check(RefactoringKind::Override, &format!("{FLEET}{text}"), expected);
}

#[test]
fn a_key_is_repeated_in_the_levels_above_with_the_nodes_that_read_them() {
    check_overrides(
        "#- /data/roles/web.yaml\na: 1\nz: 1\n#- /data/common.yaml\nb: 1\n$0k: [1]\n",
        expect![[r#"
            Override `k` in the new file data/nodes/web01.yaml, for node web01
              /data/nodes/web01.yaml, new
                k: [1]
            Override `k` in data/roles/web.yaml, for 2 of 3 nodes
              /data/roles/web.yaml
                a: 1
                z: 1
                k: [1]
        "#]],
    );
}

#[test]
fn a_level_that_has_the_key_and_levels_below_are_left_out() {
    check_overrides(
        "#- /data/nodes/web01.yaml\nk: 1\n#- /data/roles/web.yaml\n$0k: 2\n#- /data/common.yaml\nx: 1\n",
        expect![[r#""#]],
    );
}

#[test]
fn a_value_between_the_levels_is_another_one_and_its_nodes_are_counted() {
    check_overrides(
        "#- /data/nodes/web02.yaml\nx: 1\n#- /data/roles/web.yaml\nk: 2\n#- /data/common.yaml\n$0k: 1\n",
        expect![[r#"
            Override `k` in the new file data/nodes/web01.yaml, for node web01 (changes 1 of 3 nodes)
              /data/nodes/web01.yaml, new
                k: 1
        "#]],
    );
}

#[test]
fn secrets_and_anchors_are_not_repeated() {
    check_overrides(
        "#- /data/roles/web.yaml\na: 1\n#- /data/common.yaml\n$0k: &a 1\nl: *a\n",
        expect![[r#""#]],
    );
}

#[test]
fn at_most_four_levels_are_offered() {
    let levels = ["a", "b", "c", "d", "e", "common"]
        .map(|name| format!("- {{name: {name}, path: {name}.yaml}}\n"));
    let files = ["a", "b", "c", "d", "e"].map(|name| format!("#- /data/{name}.yaml\nx: 1\n"));
    let fixture = Fixture::new(&format!(
        "#- /hiera.yaml\nversion: 5\nhierarchy:\n{}{}#- /data/common.yaml\n$0k: 1\n",
        levels.concat(),
        files.concat()
    ));
    let titles = found(&fixture, &[RefactoringKind::Override]).into_iter().map(|one| one.title);
    let expected = ["a", "b", "c", "d"].map(|name| format!("Override `k` in data/{name}.yaml"));
    assert_eq!(titles.collect::<Vec<_>>(), expected);
}
