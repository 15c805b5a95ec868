//! `check --baseline`, and comments that accept findings.

use std::fs;
use std::path::Path;

use super::diff::{commit, git};
use super::support::{copy, in_package, random, random::Random, scratch};
use super::{CONFIG, at, repo};

/// Faults as ten years leave them, below what the sample repository has.
const OLD: &str = "old_same:
  a: 1
  b: [1,  2]   # kept
  a: 1
old_lost: {a: 1, a: 2}
old_list:
  - {b: 1, b: 2}
  - {c: 1}
# the next one stands on two lines
old_typo: \"%{lookup('nowhere_at_all')}\"
old_word: [tree, tree, wood]
old_text: |
  # no comment
  text
old_last: {d: 1, d: 2}
";

/// Copies the sample repository, with old faults.
fn grown_repository(name: &str) -> std::path::PathBuf {
    let root = scratch(name);
    copy(&in_package("tests/control-repo"), &root);
    let path = root.join("data/common.yaml");
    fs::write(&path, fs::read_to_string(&path).unwrap() + OLD).unwrap();
    root
}

/// Runs `check` with all rules, where each finding counts.
fn check_strictly(root: &Path, more: &[&str]) -> (i32, String, String) {
    at(root, &[&["check", "--preset", "strict", "--fail-on", "hint"], more].concat(), "")
}

#[test]
fn a_grown_repository_is_green_after_three_commands() {
    let root = grown_repository("cli-grown");
    let path = root.join("data/common.yaml");
    let text = || fs::read_to_string(&path).unwrap();
    let known = ["--baseline", "accepted.json"];
    assert_eq!(check_strictly(&root, &[]).0, 1);
    let before = text();
    let (status, _, told) = check_strictly(&root, &["--fix"]);
    assert_eq!(status, 1, "not all can be fixed");
    assert!(told.contains("1 finding fixed in 1 file: 1 duplicate-key; no value of"), "{told}");
    assert_eq!(text(), before.replace("# kept\n  a: 1\n", "# kept\n"));
    assert_eq!(check_strictly(&root, &[&known[..], &["--write-baseline"]].concat()).0, 0);
    assert_eq!(check_strictly(&root, &known).0, 0);
    let moved = text().replace("old_lost", &format!("{}old_lost", "# a line\n".repeat(40)));
    fs::write(&path, &moved).unwrap();
    let (status, out, told) = check_strictly(&root, &known);
    assert_eq!((status, told.as_str()), (0, ""), "a known finding is 40 lines further down: {out}");
    fs::write(&path, moved.replace("old_text: |", "old_text: \"%{lookup('compani')}\"\nother: |"))
        .unwrap();
    let (status, out, _) = check_strictly(&root, &known);
    assert_eq!(status, 1);
    assert!(out.contains("'compani'") && !out.contains("nowhere_at_all"), "{out}");
}

#[test]
fn accepted_findings_stay_accepted_after_random_edits_elsewhere() {
    let seed = random::seed("accepted_findings_stay_accepted_after_random_edits_elsewhere");
    let mut random = Random::new(seed);
    let root = grown_repository("cli-grown-edits");
    let path = root.join("data/common.yaml");
    let duplicates = ["--select", "duplicate-key", "--add-ignore", "as it was"];
    let (_, _, told) = check_strictly(&root, &duplicates);
    assert!(told.contains("comments written in 1 files"), "{told}");
    let known = ["--baseline", "accepted.json"];
    check_strictly(&root, &[&known[..], &["--write-baseline"]].concat());
    for edit in 0..random::count(12) {
        let text = fs::read_to_string(&path).unwrap();
        let edited = edit_elsewhere(&text, &mut random);
        fs::write(&path, &edited).unwrap();
        let (status, out, told) = check_strictly(&root, &known);
        let result = (status, told.as_str());
        assert_eq!(result, (0, ""), "HIERA_LS_SEED={seed}, edit {edit}: {out}\n{edited}");
    }
}

/// Adds a comment or a blank line between entries, swaps two entries with the comments above them, or
/// adds an element to the list that holds a finding.
fn edit_elsewhere(text: &str, random: &mut Random) -> String {
    let mut entries: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.split_inclusive('\n') {
        let is_above = line.starts_with('#') || line.trim().is_empty() || line.starts_with("---");
        if entries.is_empty() || (!line.starts_with([' ', '-', '}', ']']) && !is_open) {
            entries.push(String::new());
        }
        entries.last_mut().expect("it was added").push_str(line);
        is_open = is_above;
    }
    let at = 1 + random.below(entries.len() - 1);
    match random.below(4) {
        0 => entries.insert(at, "# a remark: {x: 1, x: 2}\n".to_owned()),
        1 => entries.insert(at, "\n".to_owned()),
        2 if at > 1 => entries.swap(at, at - 1),
        _ => {
            let list = entries.iter_mut().find(|entry| entry.contains("old_list:\n"));
            let list = list.expect("it is there");
            *list = list.replace("old_list:\n", "old_list:\n  - {e: 1}\n");
        }
    }
    entries.concat()
}

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

/// The key that a change removes is read by a line that the change does not touch.
#[test]
fn findings_since_a_revision_are_those_that_a_change_causes_anywhere() {
    let root = grown_repository("cli-since");
    let (common, role) = (root.join("data/common.yaml"), root.join("data/roles/web.yaml"));
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let reader = "fresh: \"%{lookup('old_shared')}\"\n";
    fs::write(&common, read(&common) + "old_shared: x\n").unwrap();
    fs::write(&role, read(&role) + reader).unwrap();
    git(&root, &["init", "--quiet"]);
    commit(&root, "a grown repository");
    let since = |revision: &str| check_strictly(&root, &["--since", revision]);

    let moved = read(&common).replace("old_lost", &format!("{}old_lost", "# a line\n".repeat(40)));
    fs::write(&common, &moved).unwrap();
    let (status, out, told) = since("HEAD");
    assert_eq!(status, 0, "{out}");
    assert!(told.contains("findings of HEAD: ") && told.contains(" left, 0 gone"), "{told}");

    fs::write(&common, moved.replace("old_shared: x\n", "").replace("nowhere_at_all", "company"))
        .unwrap();
    let (status, out, told) = since("HEAD");
    assert_eq!(status, 1);
    let line = read(&role).lines().count();
    let found: Vec<&str> = out.lines().filter(|line| line.contains(": warning: ")).collect();
    assert!(
        found.len() == 1 && found[0].starts_with(&format!("data/roles/web.yaml:{line}:")),
        "{out}"
    );
    assert!(told.contains(" left, 1 gone"), "{told}");
    assert_eq!(since("HEAD...").1, out, "HEAD is the merge base");

    commit(&root, "the key is gone");
    assert_eq!(since("HEAD").0, 0);
    assert_eq!(since("HEAD~1").1, out);

    let (status, _, told) = since("no-such-branch");
    assert!(status == 2 && told.contains("no-such-branch"), "{told}");
}

#[test]
fn findings_since_a_revision_need_a_git_repository() {
    let root = std::env::temp_dir().join(format!("hiera-ls-since-{}", std::process::id()));
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("hiera.yaml"), "version: 5\n").unwrap();
    let (status, _, told) = check_strictly(&root, &["--since", "HEAD"]);
    fs::remove_dir_all(&root).unwrap();
    assert!(status == 2 && told.contains("git"), "{told}");
}
