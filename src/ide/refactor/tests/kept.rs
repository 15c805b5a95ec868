//! The parts of a text that a refactoring keeps: comments, and the ends of lines.

use super::*;

const FLEET: &str = "#- levels Role Common\n#- scope web01 role=web\n#- node db01 role=db\n#- node app01 role=app\n";

#[test]
fn comments_above_several_entries_stay_where_one_is_pulled_down() {
    check(
        RefactoringKind::Move,
        &format!(
            "{FLEET}#- /data/roles/web.yaml\n# Packages\n$0k: 1\nl: 1\n#- /data/roles/db.yaml\n# Packages\nk: 1\nm: 1\n#- /data/common.yaml\nx: 1\nk: 1\n"
        ),
        expect![[r#"
            Remove `k` from 2 files: data/common.yaml has the same value
              /data/roles/db.yaml
                # Packages
                m: 1
              /data/roles/web.yaml
                # Packages
                l: 1
        "#]],
    );
}

#[test]
fn the_title_counts_comments_that_are_dropped() {
    check(
        RefactoringKind::Move,
        &format!(
            "{FLEET}#- /data/roles/web.yaml\n# why\n$0k: 1 # web\n\nl: 1\n#- /data/roles/db.yaml\n# of old\nk: 1\n\nm: 1\n#- /data/common.yaml\nx: 1\n"
        ),
        expect![[r#"
            Move `k` to data/common.yaml (changes 1 of 3 nodes)
              /data/common.yaml
                x: 1
                # why
                k: 1 # web
              /data/roles/web.yaml
                l: 1
            Move `k`, the same in 2 files, to data/common.yaml (changes 1 of 3 nodes), drops 1 comment
              /data/common.yaml
                x: 1
                # why
                k: 1 # web
              /data/roles/db.yaml
                m: 1
              /data/roles/web.yaml
                l: 1
        "#]],
    );
}

/// Returns the new texts of the first refactoring of a kind.
fn texts_after(kind: RefactoringKind, text: &str) -> Vec<String> {
    let fixture = Fixture::new(text);
    let all = found(&fixture, &[kind]);
    let change = all[0].change.as_ref().expect("it can be made");
    let edited = change.edits.iter().map(|(path, edits)| {
        let text = fixture.snapshot.file(path).and_then(|file| file.text()).expect("a text");
        TextEdit::apply_all(edits, &text.to_str())
    });
    edited.chain(change.created.values().cloned()).collect()
}

#[test]
fn new_text_has_the_ends_of_lines_of_its_file() {
    let to_lf = "#- levels Role Common\n#- scope a role=web\n#- /data/roles/web.yaml\nx: 1\r\n$0k:\r\n  - 1\r\n#- /data/common.yaml\ny: 1\n";
    assert_eq!(texts_after(RefactoringKind::Move, to_lf), ["y: 1\nk:\n  - 1\n", "x: 1\r\n"]);
    let to_crlf = "#- levels Role Common\n#- scope a role=web\n#- /data/roles/web.yaml\nx: 1\n$0k:\n  - 1\n#- /data/common.yaml\ny: 1\r\n";
    assert_eq!(texts_after(RefactoringKind::Move, to_crlf), ["y: 1\r\nk:\r\n  - 1\r\n", "x: 1\n"]);
    let created = "#- levels Node Role\n#- scope a role=web trusted.certname=a\n#- /data/roles/web.yaml\nx: 1\r\n$0k: 1\r\n";
    assert_eq!(texts_after(RefactoringKind::Move, created), ["x: 1\r\n", "k: 1\r\n"]);
    let repeated = "$0a: [one, two]\r\nb: [one, two]\r\n";
    assert_eq!(
        texts_after(RefactoringKind::Extract, repeated),
        ["a: \"%{alias('shared_a')}\"\r\nb: \"%{alias('shared_a')}\"\r\nshared_a: [one, two]\r\n"]
    );
    let alias = "a: \"%{ali$0as('b')}\"\r\nb:\r\n  - one\r\n  - two\r\n";
    assert_eq!(
        texts_after(RefactoringKind::Inline, alias),
        ["a:\r\n  - one\r\n  - two\r\nb:\r\n  - one\r\n  - two\r\n"]
    );
    let options = "$0k: [1]\r\n";
    assert_eq!(
        texts_after(RefactoringKind::Rewrite, options),
        ["lookup_options:\r\n  k:\r\n    merge: unique\r\n\r\nk: [1]\r\n"]
    );
    let unsorted = "$0b: 1\r\na: 1\r\n";
    assert_eq!(texts_after(RefactoringKind::Sort, unsorted), ["a: 1\r\nb: 1\r\n"]);
}
