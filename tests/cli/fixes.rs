//! `check --fix`, `--unsafe-fixes` and `--diff`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{at, repo};

const LEVELS: (&str, &str) = (
    "hiera.yaml",
    "version: 5\nhierarchy: [{name: Node, path: 'nodes/%{trusted.certname}.yaml'}, {name: Common, path: common.yaml}]\n",
);
const COMMON: &str = "# The head\n\na:   1   # kept\nb: {x: 1}\n\"a\": 1\nc::d:e: [1,  2]\nlookup_options:\n  b: # of b\n    merge: deep\n    knockout_prefix: '--'\nb: {x: 1} # dropped\n";

fn text(root: &Path) -> String {
    fs::read_to_string(root.join("data/common.yaml")).unwrap()
}

#[test]
fn safe_fixes_change_no_other_line_and_are_made_once() {
    let root = repo(
        "cli-fix",
        &[
            LEVELS,
            ("data/common.yaml", COMMON),
            ("data/nodes/web01.example.net.yaml", "b: {y: 2}\n"),
        ],
    );
    let (_, before, _) = at(&root, &["check"], "");
    assert!(before.contains("with the same value [duplicate-key] [*]\n"), "{before}");
    assert!(before.contains("\n[*] 1 fixable with --fix; with --unsafe-fixes also 2 that change values, 1 that drops a comment"), "{before}");
    let (_, _, told) = at(&root, &["check", "--fix"], "");
    assert_eq!(
        told,
        "hiera-ls: 1 finding fixed in 1 file: 1 duplicate-key; no value of 1 node changes\n"
    );
    assert_eq!(text(&root), COMMON.replace("\"a\": 1\n", ""));
    let (_, after, told) = at(&root, &["check", "--fix"], "");
    assert_eq!(told, "hiera-ls: nothing fixed\n");
    assert!(
        after.contains(
            "\nfixable with --fix --unsafe-fixes: 2 that change values, 1 that drops a comment"
        ),
        "{after}"
    );
}

#[test]
fn other_fixes_are_made_on_request_and_state_their_effect() {
    let root = repo(
        "cli-unsafe-fix",
        &[
            LEVELS,
            ("data/common.yaml", COMMON),
            ("data/nodes/web01.example.net.yaml", "b: {y: --, z: 1}\n"),
        ],
    );
    let (_, _, told) = at(&root, &["check", "--fix", "--unsafe-fixes"], "");
    assert!(told.starts_with("hiera-ls: 4 findings fixed in 1 file: 2 duplicate-key, 1 single-colon-key, 1 unknown-option"), "{told}");
    assert_eq!(
        text(&root),
        "# The head\n\na:   1   # kept\nb: {x: 1}\nc::d::e: [1,  2]\nlookup_options:\n  b: # of b\n    merge: {strategy: deep, knockout_prefix: '--'}\n"
    );
    assert_eq!(at(&root, &["check", "--diff", "--unsafe-fixes"], "").0, 0);
}

#[test]
fn the_difference_is_what_a_fix_writes() {
    let files = [LEVELS, ("data/common.yaml", COMMON)];
    let [root, copy] = ["cli-fix-diff", "cli-fix-copy"].map(|name| repo(name, &files));
    for arguments in [&["--diff"][..], &["--diff", "--unsafe-fixes"]] {
        let (status, patch, _) = at(&root, &[&["check"], arguments].concat(), "");
        assert_eq!(status, 1);
        assert_eq!(text(&root), text(&copy), "nothing is written");
        let mut apply = Command::new("git")
            .args(["apply", "-p1", "-"])
            .current_dir(&copy)
            .env("GIT_CEILING_DIRECTORIES", copy.parent().unwrap())
            .stdin(Stdio::piped())
            .spawn()
            .expect("git is there");
        std::io::Write::write_all(&mut apply.stdin.take().unwrap(), patch.as_bytes()).unwrap();
        assert!(apply.wait().unwrap().success(), "{patch}");
        let fix = [&["check", "--fix"], &arguments[1..]].concat();
        at(&root, &fix, "");
        assert_eq!(text(&root), text(&copy), "{patch}");
    }
}

#[test]
fn a_difference_shows_no_line_of_a_secret() {
    let data = "lookup_options: {pin: {convert_to: Sensitive}, z: {convert_to: Sensitive}}\na: 1\npin: hunter2\na: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\nz: {x: hunter2, y: 1}\nz: {x: hunter2, y: 1}\n";
    let root = repo("cli-fix-secret", &[LEVELS, ("data/common.yaml", data)]);
    let (_, patch, _) = at(&root, &["check", "--diff"], "");
    assert!(patch.contains("\n-a: 1\n+") || patch.contains("\n-a: 1\n b: 2\n"), "{patch}");
    assert!(patch.contains("# a change at line 9 is not shown"), "{patch}");
    assert!(!patch.contains("hunter2"), "{patch}");
}
