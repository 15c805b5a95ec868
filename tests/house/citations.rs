//! Comments cite the rules of Hiera by section: "semantics 3.4" is a section of docs/semantics.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

/// A file that cites sections.
struct Citing {
    /// Below the package, with `/`.
    path: String,
    text: String,
}

/// The numbers of the headings: `3` of "## 3. Keys", `3.4` of "### 3.4 Legal values".
fn sections(document: &str) -> BTreeSet<String> {
    let heading = Regex::new(r"(?m)^#{2,3} (\d+(?:\.\d+)?)\.? ").expect("a valid pattern");
    heading.captures_iter(document).map(|found| found[1].to_owned()).collect()
}

/// The numbers that a text cites: "semantics 3.4", "semantics section 4", "Semantics 1.6 to 1.11",
/// also across lines of a comment.
fn citations(text: &str) -> Vec<String> {
    let cited = Regex::new(
        r"^semantics(?: sections?)? (\d+(?:\.\d+)?(?:(?:, (?:and )?| and | to | or )\d+(?:\.\d+)?)*)",
    )
    .expect("a valid pattern");
    let number = Regex::new(r"\d+(?:\.\d+)?").expect("a valid pattern");
    let mut found = Vec::new();
    for word in ["semantics", "Semantics"] {
        for (start, _) in text.match_indices(word) {
            let flowing = flowing(&text[start..]).to_lowercase();
            if let Some(numbers) = cited.captures(&flowing) {
                found.extend(number.find_iter(&numbers[1]).map(|n| n.as_str().to_owned()));
            }
        }
    }
    found
}

/// The beginning of a text in one line, without the signs of comments.
fn flowing(text: &str) -> String {
    let lines =
        text.lines().take(3).map(|line| line.trim_start().trim_start_matches(['/', '!', '#']));
    let words = lines.flat_map(str::split_whitespace).take(12);
    words.collect::<Vec<_>>().join(" ")
}

/// One line for each citation of a section that does not exist.
fn dangling(files: &[Citing], sections: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for file in files {
        for section in citations(&file.text).iter().filter(|cited| !sections.contains(*cited)) {
            wrong.push(format!("{} cites semantics {section}, which does not exist", file.path));
        }
    }
    wrong
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn semantics() -> String {
    fs::read_to_string(package().join("docs/semantics.md")).expect("docs/semantics.md is there")
}

/// The sources, tests and benches, and the documents at the top.
fn citing_files() -> Vec<Citing> {
    let mut found = Vec::new();
    for folder in ["src", "tests", "benches"] {
        collect(&package().join(folder), &mut found);
    }
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        read(&package().join(document), &mut found);
    }
    found
}

fn collect(folder: &Path, found: &mut Vec<Citing>) {
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the entry is readable").path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            collect(&path, found);
        } else if path.ends_with("house/citations.rs") {
            // The tests in this file cite sections that do not exist.
        } else if matches!(extension, Some("rs" | "yaml" | "md" | "rb" | "py")) {
            read(&path, found);
        }
    }
}

fn read(path: &Path, found: &mut Vec<Citing>) {
    // Some fixtures are no UTF-8.
    if let Ok(text) = fs::read_to_string(path) {
        let path = path.strip_prefix(package()).expect("it is below the package");
        found.push(Citing { path: path.to_string_lossy().replace('\\', "/"), text });
    }
}

#[test]
fn every_cited_section_of_the_semantics_exists() {
    let files = citing_files();
    let count: usize = files.iter().map(|file| citations(&file.text).len()).sum();
    assert!(count > 40, "only {count} citations found: the pattern is wrong");
    assert_eq!(dangling(&files, &sections(&semantics())), Vec::<String>::new());
}

#[test]
fn references_within_the_semantics_exist() {
    let document = semantics();
    let known = sections(&document);
    let reference =
        Regex::new(r"\bsections? (\d+(?:\.\d+)?)|\((\d+(?:\.\d+)?)(?:, (\d+\.\d+))?\)\.")
            .expect("a valid pattern");
    let cited: Vec<&str> = reference
        .captures_iter(&document)
        .flat_map(|found| {
            found.iter().skip(1).flatten().map(|group| group.as_str()).collect::<Vec<_>>()
        })
        .collect();
    assert!(cited.len() > 60, "only {} references found: the pattern is wrong", cited.len());
    let unknown: Vec<&&str> = cited.iter().filter(|section| !known.contains(**section)).collect();
    assert_eq!(unknown, Vec::<&&str>::new());
}

#[test]
fn citations_are_found_across_lines_and_in_lists() {
    let text = "/// Source: semantics\n    /// 3.3. See semantics 7.1 and 7.2, semantics section 4.\n\
                # Semantics 2 and 0: layers\n//! semantics 1.6 to 1.11.";
    assert_eq!(citations(text), ["3.3", "7.1", "7.2", "4", "1.6", "1.11", "2", "0"]);
}

#[test]
fn a_missing_section_is_reported() {
    let known = sections("## 3. Keys\n\n### 3.1 Grammar\n");
    let file = Citing { path: "src/x.rs".into(), text: "// semantics 3.1, 3 and 3.2".into() };
    assert_eq!(dangling(&[file], &known), ["src/x.rs cites semantics 3.2, which does not exist"]);
}
