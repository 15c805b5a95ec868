//! `check --baseline`, and comments that accept findings.

use std::fs;

use super::{CONFIG, at, repo};

#[test]
fn accepted_findings_stay_known_while_lines_move_and_new_ones_fail() {
    let data = "a: {x: 1, x: 2}\nlist:\n  - {y: 1, y: 2}\n";
    let root = repo("cli-baseline", &[CONFIG, ("data/common.yaml", data)]);
    let baseline = ["--baseline", "accepted.json"];
    let check = |more: &[&str]| at(&root, &[&["check"], &baseline[..], more].concat(), "");
    let (status, _, told) = check(&[]);
    assert_eq!(status, 2);
    assert!(told.contains("accepted.json cannot be read"), "{told}");
    assert_eq!(check(&["--write-baseline"]).0, 0);
    let written = fs::read_to_string(root.join("accepted.json")).unwrap();
    assert!(
        written
            .contains("{\"file\":\"data/common.yaml\",\"rule\":\"duplicate-key\",\"key\":\"a.x\"}"),
        "{written}"
    );
    assert_eq!(check(&[]).0, 0);
    let path = root.join("data/common.yaml");
    let moved = format!("{}list: [{{y: 0}}]\na: {{x: 1, x: 2}}\n", "# a line\n".repeat(40));
    fs::write(&path, format!("{}{data}", "# a line\n".repeat(40))).unwrap();
    assert_eq!(check(&[]).0, 0, "40 lines further down");
    fs::write(&path, format!("{moved}b: {{x: 1, x: 2}}\n")).unwrap();
    let (status, out, told) = check(&[]);
    assert_eq!(status, 1);
    assert!(out.contains("data/common.yaml:43:11: error: duplicate key 'x'"), "{out}");
    assert_eq!(out.matches("[duplicate-key]").count(), 1, "{out}");
    assert!(told.contains("1 findings of the baseline are gone"), "{told}");
    let (_, _, told) = check(&["--prune-baseline"]);
    assert!(told.contains("1 findings removed from the baseline"), "{told}");
    assert_eq!(
        fs::read_to_string(root.join("accepted.json")).unwrap().matches("\"file\"").count(),
        1
    );
    // A second finding of a known identity is new.
    fs::write(&path, "a: {x: 1, x: 2, x: 3}\n").unwrap();
    assert_eq!(check(&[]).0, 1);
}

#[test]
fn a_run_for_some_files_leaves_the_entries_of_others_alone() {
    let files = [
        ("hiera.yaml", "version: 5\nhierarchy: [{name: A, paths: [a.yaml, b.yaml]}]\n"),
        ("data/a.yaml", "a: {x: 1, x: 2}\n"),
        ("data/b.yaml", "b: {x: 1, x: 2}\n"),
    ];
    let root = repo("cli-baseline-part", &files);
    let check = |more: &[&str]| at(&root, &[&["check", "--baseline", "b.json"], more].concat(), "");
    check(&["--write-baseline"]);
    fs::write(root.join("data/a.yaml"), "a: 1\n").unwrap();
    let (_, _, told) = check(&["data/b.yaml", "--prune-baseline"]);
    assert_eq!(told, "");
    check(&["data/a.yaml", "--prune-baseline"]);
    let (status, out, told) = check(&[]);
    assert_eq!((status, told.as_str()), (0, ""));
    assert!(out.starts_with("3 files checked, nothing found\n"), "{out}");
    fs::write(root.join("b.json"), "[]").unwrap();
    let (status, _, told) = check(&[]);
    assert!(status == 2 && told.contains("is no baseline"), "{told}");
}

#[test]
fn comments_are_written_with_their_reason() {
    let root = repo("cli-add-ignore", &[CONFIG, ("data/common.yaml", "a:\n  b: {x: 1, x: 2}\n")]);
    let (status, _, told) = at(&root, &["check", "--add-ignore", "as it was"], "");
    assert_eq!((status, told.as_str()), (0, "hiera-ls: 1 comments written in 1 files\n"));
    assert_eq!(
        fs::read_to_string(root.join("data/common.yaml")).unwrap(),
        "a:\n  # hiera-ls: ignore[duplicate-key] as it was\n  b: {x: 1, x: 2}\n"
    );
    assert_eq!(at(&root, &["check"], "").0, 0);
    fs::write(root.join("data/common.yaml"), "# hiera-ls: ignore[duplicate-key] x\na: 1\n")
        .unwrap();
    let (_, out, _) = at(&root, &["check"], "");
    assert!(out.contains("[unused-ignore] [*]"), "{out}");
    at(&root, &["check", "--fix"], "");
    assert_eq!(fs::read_to_string(root.join("data/common.yaml")).unwrap(), "a: 1\n");
}
