//! Small trees, with order, dots, braces, sets, links and hostile patterns.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::pattern::{MAX_ALTERNATIVES, expand_braces};
use super::{EntryKind, Listing, glob_files, matches_path};
use crate::text::FilePath;

/// Folders by path, with their entries.
#[derive(Default)]
struct Tree(BTreeMap<String, BTreeMap<String, EntryKind>>);

impl Tree {
    fn new(files: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for file in files {
            let mut folder = String::from("/data");
            let mut names: Vec<&str> = file.split('/').collect();
            let name = names.pop().unwrap();
            for part in names {
                tree.0.entry(folder.clone()).or_default().insert(part.into(), EntryKind::Folder);
                folder = format!("{folder}/{part}");
            }
            tree.0.entry(folder).or_default().insert(name.into(), EntryKind::File);
        }
        tree
    }
}

impl Listing for Tree {
    fn list_folder(&self, folder: &FilePath) -> Cow<'_, [(String, EntryKind)]> {
        let entries = self.0.get(folder.as_str());
        entries
            .map(|names| names.iter().map(|(name, kind)| (name.clone(), *kind)).collect())
            .unwrap_or_default()
    }
}

fn check(files: &[&str], pattern: &str, expected: &[&str]) {
    let tree = Tree::new(files);
    let found = glob_files(&format!("/data/{pattern}"), &tree);
    let found: Vec<&str> =
        found.iter().map(|path| path.as_str().strip_prefix("/data/").unwrap()).collect();
    assert_eq!(found, expected, "{pattern}");
    for file in files {
        let path = FilePath::new(&format!("/data/{file}"));
        assert_eq!(
            matches_path(&format!("/data/{pattern}"), &path),
            expected.contains(file),
            "{pattern} and {file}"
        );
    }
}

#[test]
fn order_is_by_bytes_per_folder() {
    let files = [
        "a.yaml",
        "a/z.yaml",
        "a-b/y.yaml",
        "b/b.yaml",
        "b.yaml",
        "a/sub/q.yaml",
        "Z.yaml",
        "a/sub.yaml",
    ];
    let expected = [
        "Z.yaml",
        "a/sub/q.yaml",
        "a/sub.yaml",
        "a/z.yaml",
        "a-b/y.yaml",
        "a.yaml",
        "b/b.yaml",
        "b.yaml",
    ];
    check(&files, "**/*.yaml", &expected);
    check(&files, "**/*", &expected);
    let names = [
        "10.yaml", "9.yaml", "B.yaml", "[x].yaml", "a-b.yaml", "a.yaml", "a_b.yaml", "b.yaml",
        "é.yaml",
    ];
    check(&names, "*.yaml", &names);
    check(&names, "**.yaml", &names);
}

#[test]
fn stars_do_not_match_a_leading_dot() {
    let files = [".hid.yaml", "a.yaml", ".d/x.yaml"];
    check(&files, "*.yaml", &["a.yaml"]);
    check(&files, "?hid.yaml", &[]);
    check(&files, "[.]hid.yaml", &[]);
    check(&files, ".*.yaml", &[".hid.yaml"]);
    check(&files, "{.hid,a}.yaml", &[".hid.yaml", "a.yaml"]);
    check(&files, "**/*.yaml", &["a.yaml"]);
    check(&files, ".d/*.yaml", &[".d/x.yaml"]);
}

#[test]
fn braces_are_expanded_first_and_keep_duplicates() {
    let files = ["a.yaml", "b.yaml", "c/d.yaml"];
    check(&files, "{b,a}.yaml", &["b.yaml", "a.yaml"]);
    check(&files, "{b.yaml,a.yaml,b.yaml}", &["b.yaml", "a.yaml", "b.yaml"]);
    check(&files, "{c/{d,e},{a}}.yaml", &["c/d.yaml", "a.yaml"]);
    check(&files, "**/{b,b,a}.yaml", &["a.yaml", "b.yaml"]);
    check(&files, "**/{c/d,b}.yaml", &["c/d.yaml", "b.yaml"]);
    check(&["d/a", "d/b", "e/a", "e/b"], "*/{b,a}", &["d/b", "d/a", "e/b", "e/a"]);
    check(&files, "{a.yaml", &[]);
    check(&files, "[a.yaml", &[]);
}

#[test]
fn sets_escapes_and_plain_names() {
    let files = ["[x].yaml", "a.yaml", "b.yaml", "x.yaml"];
    check(&files, r"\[x\].yaml", &["[x].yaml"]);
    check(&files, "[x].yaml", &["x.yaml"]);
    check(&files, "[^ab[].yaml", &["x.yaml"]);
    check(&files, "[!ab].yaml", &["x.yaml"]);
    check(&files, "[a-b].yaml", &["a.yaml", "b.yaml"]);
    check(&files, "[x-a].yaml", &["a.yaml", "x.yaml"]);
    check(&files, "a.yaml", &["a.yaml"]);
    check(&files, "A.yaml", &[]);
    check(&files, "*.YAML", &[]);
    check(&files, "missing.yaml", &[]);
}

#[test]
fn folders_are_no_results() {
    check(&["a/b.yaml"], "*", &[]);
    check(&["a/b.yaml"], "a", &[]);
    check(&["a/b.yaml"], "a/", &[]);
    check(&["a/b.yaml"], "**/", &[]);
    check(&["a/b.yaml"], "a/b.yaml/", &[]);
}

#[test]
fn only_a_star_goes_through_a_linked_folder() {
    let mut tree = Tree::new(&["d/x.yaml", "l/x.yaml"]);
    tree.0.get_mut("/data").unwrap().insert("l".into(), EntryKind::LinkedFolder);
    let found = |pattern| {
        glob_files(pattern, &tree).iter().map(|path| path.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("/data/*/x.yaml"), ["/data/d/x.yaml", "/data/l/x.yaml"]);
    assert_eq!(found("/data/**/x.yaml"), ["/data/d/x.yaml"]);
}

#[test]
fn hostile_patterns_end() {
    let name = "a".repeat(2_000);
    check(&[&name], &format!("{}b", "*a".repeat(200)), &[]);
    check(&[&name], &"{a,a}".repeat(64), &[]);
    check(&[&name], &format!("{}{{", "{a,a}".repeat(64)), &[]);
    check(&[&name], &"{".repeat(100_000), &[]);
    check(&["b"], &format!("{}{}", "{".repeat(50_000), "}".repeat(50_000)), &[]);
    check(&["b"], &"**/*/".repeat(500), &[]);
    check(&["b"], &"a/".repeat(100_000), &[]);
}

/// A few thousand alternatives of a long pattern would be megabytes, and compiled far more.
#[test]
fn alternatives_are_held_one_at_a_time() {
    for (braces, letters, expected) in [(12, 1_500, 4_096), (16, 100, MAX_ALTERNATIVES)] {
        let pattern = format!("{}{}", "{a,b}".repeat(braces), "x".repeat(letters));
        let mut expansion = expand_braces(&pattern);
        let (mut found, mut held) = (0, 0);
        while let Some(alternative) = expansion.next() {
            assert_eq!(alternative.len(), braces + letters);
            found += 1;
            held = held.max(expansion.held_bytes());
        }
        assert_eq!(found, expected);
        assert!(held <= (braces + 1) * pattern.len(), "{held} bytes of {braces} pairs of braces");
    }
}
