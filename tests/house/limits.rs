//! `docs/limits.md` lists every limit of the source.

use std::collections::BTreeSet;
use std::path::Path;

/// The limits of a folder's sources: each constant whose name begins with `MAX_`, with its file.
fn limits(folder: &Path, root: &Path, found: &mut BTreeSet<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("sources are there").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            limits(&path, root, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).expect("a source is text");
            let file = path.strip_prefix(root).expect("it lies there").display().to_string();
            let constants = text.lines().filter_map(|line| line.split_once("const MAX_"));
            for (_, rest) in constants {
                let name = rest.split(':').next().unwrap_or_default();
                found.insert((file.replace('\\', "/"), format!("MAX_{name}")));
            }
        }
    }
}

/// The rows of the page, as the file and the names of the constants.
fn rows(page: &str) -> BTreeSet<(String, String)> {
    let rows = page.lines().filter(|line| line.starts_with("| `MAX_"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let names = cells[1].replace('`', "").replace(", ", ",");
        (cells[2].trim_matches('`').to_owned(), names)
    };
    rows.map(row).collect()
}

/// `limits.tests` has a line for each row: the file, the names of the constants, and the file and the
/// name of the test that builds input beyond them.
#[test]
fn rows_of_the_page_name_the_tests_that_go_beyond_their_limits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("the file is there");
    let rows = rows(&read("docs/limits.md"));
    let mut driven = BTreeSet::new();
    for line in include_str!("limits.tests").lines() {
        let parts: Vec<&str> = line.split(' ').collect();
        let [file, names, test_file, test] = parts[..] else { panic!("four parts: {line}") };
        assert!(read(test_file).contains(&format!("fn {test}()")), "no {test} in {test_file}");
        let row = (file.to_owned(), names.to_owned());
        assert!(rows.contains(&row), "no row of the page: {line}");
        assert!(driven.insert(row), "repeated: {line}");
    }
    let others: Vec<_> = rows.difference(&driven).collect();
    assert!(others.is_empty(), "rows of the page without a test: {others:?}");
}

#[test]
fn every_limit_is_on_the_page_and_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut of_source = BTreeSet::new();
    limits(&root.join("src"), root, &mut of_source);
    assert!(of_source.len() > 30, "the constants are found");
    let page = std::fs::read_to_string(root.join("docs/limits.md")).expect("the page is there");
    let mut of_page = BTreeSet::new();
    for line in page.lines().filter(|line| line.starts_with("| `MAX_")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let file = cells[2].trim_matches('`');
        for name in cells[1].split(", ") {
            of_page.insert((file.to_owned(), name.trim_matches('`').to_owned()));
        }
    }
    let missing: Vec<_> = of_source.difference(&of_page).collect();
    let gone: Vec<_> = of_page.difference(&of_source).collect();
    assert!(missing.is_empty() && gone.is_empty(), "missing: {missing:?}; gone: {gone:?}");
}
