//! The documents name files that exist, and their links lead somewhere. The pages of `docs` are a
//! book: each has a line in `docs/SUMMARY.md`, and its links stay within the book, so that
//! `.ci/site` can build it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

use crate::generated::read;

const SUMMARY: &str = "docs/SUMMARY.md";

/// A path in code quotes is one from the root of the package if it begins with one of these.
const FOLDERS: [&str; 7] = ["src/", "tests/", "docs/", "benches/", "editors/", ".ci/", ".github/"];

/// The documents of a folder and of those below it, as paths from the root of the package.
pub fn pages(folder: &str) -> Vec<String> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(package().join(folder)).expect("a folder of this package").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let is_ignored = name.starts_with('.') || ["node_modules", "target"].contains(&&*name);
        if entry.path().is_dir() && !is_ignored {
            pages.extend(self::pages(&path));
        } else if name.ends_with(".md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A link in a document.
#[derive(Debug)]
struct Link {
    /// The document that has the link, from the root of the package.
    document: String,
    /// The target, from the root of the package, without `.` and `..`.
    path: String,
    /// The heading in the target, as the address names it.
    anchor: Option<String>,
}

/// The links of a document to files of this package, and to its own headings.
fn links(document: &str) -> Vec<Link> {
    let text = without_code(&read(document));
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.is_empty() && !target.contains("://"));
    let folder = Path::new(document).parent().expect("a document lies in a folder");
    let resolved = |target: &str| {
        let (path, anchor) = match target.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor.to_owned())),
            None => (target, None),
        };
        let path = if path.is_empty() { document.to_owned() } else { joined(folder, path) };
        Link { document: document.to_owned(), path, anchor }
    };
    local.map(resolved).collect()
}

/// The path of a link in a folder, from the root of the package.
fn joined(folder: &Path, link: &str) -> String {
    let mut path = PathBuf::new();
    for component in folder.join(link).components() {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            component => path.push(component),
        }
    }
    path.to_string_lossy().replace('\\', "/")
}

/// A text without its blocks of code and quoted code.
fn without_code(text: &str) -> String {
    let outside: String = text.split("\n```").step_by(2).collect();
    let quoted_link = Regex::new(r"\[`([^`]*)`\]\(").expect("a valid pattern");
    quoted_link.replace_all(&outside, "[$1](").split('`').step_by(2).collect()
}

/// The addresses of a document's headings, as GitHub and mdBook make them.
fn anchors(document: &str) -> BTreeSet<String> {
    let text: String = read(document).split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The pages of the book: those that the summary names, and the pages of the rules, which `.ci/site`
/// adds to it.
fn book() -> BTreeSet<String> {
    let summary = links(SUMMARY).into_iter().map(|link| link.path);
    summary.chain(pages("src/diagnostics/rules")).collect()
}

fn all_documents() -> Vec<String> {
    let documents = pages("");
    assert!(documents.len() > 80, "the documents are found: {}", documents.len());
    documents
}

#[test]
fn every_named_file_exists() {
    let mut missing = Vec::new();
    let mut count = 0;
    for document in all_documents() {
        let text = read(&document);
        let quoted = text.split('`').skip(1).step_by(2);
        let is_path = |quoted: &&str| FOLDERS.iter().any(|folder| quoted.starts_with(folder));
        // The reader chooses a name with `your_…`; a name with a blank has an argument.
        let is_example =
            |path: &&str| path.contains("your_") || path.contains(['*', ' ', '{', '…']);
        for path in quoted.filter(is_path).filter(|path| !is_example(path)) {
            count += 1;
            if !package().join(path).exists() {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(count > 60, "paths are looked for where they are: {count}");
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_of_it() {
    let mut dead = Vec::new();
    let mut count = 0;
    for link in all_documents().iter().flat_map(|document| links(document)) {
        count += 1;
        let is_dead = !package().join(&link.path).exists()
            || link.anchor.as_ref().is_some_and(|anchor| !anchors(&link.path).contains(anchor));
        if is_dead {
            dead.push(format!("{link:?}"));
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    assert!(count > 100, "links are found: {count}");
}

#[test]
fn every_page_is_in_the_summary() {
    let book = book();
    let orphans: Vec<String> =
        pages("docs").into_iter().filter(|page| page != SUMMARY && !book.contains(page)).collect();
    assert!(orphans.is_empty(), "docs/SUMMARY.md has no line for: {}", orphans.join(", "));
}

/// A page of the book does not link to a file that the book has not: `.ci/site` copies the pages and
/// the pictures alone.
#[test]
fn links_of_the_book_stay_in_the_book() {
    let book = book();
    let links = book.iter().flat_map(|page| links(page));
    let outside: Vec<String> = links
        .filter(|link| {
            !book.contains(&link.path)
                && ![".png", ".gif"].iter().any(|end| link.path.ends_with(end))
        })
        .map(|link| format!("{}: {}", link.document, link.path))
        .collect();
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

/// A page of a rule is shown by a shell, an editor and the book, each in another folder: it has no
/// link to a file.
#[test]
fn pages_of_rules_link_to_no_file() {
    let folder = package().join("src/diagnostics/rules");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let links = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
        let of_files: Vec<&str> = links.filter(|link| !link.starts_with("http")).collect();
        assert!(of_files.is_empty(), "{}: {of_files:?}", path.display());
        count += 1;
    }
    assert!(count > 50, "{count} pages");
}

/// The first page answers the first questions of a new user, each with one link; that the links lead
/// somewhere is checked above.
#[test]
fn the_first_page_answers_ten_questions() {
    let first = read("docs/README.md");
    let questions = first.lines().filter(|line| line.starts_with("| ") && line.contains("?"));
    let unanswered: Vec<&str> = questions.clone().filter(|line| !line.contains("](")).collect();
    assert!(unanswered.is_empty(), "{unanswered:?}");
    assert!(questions.count() >= 10);
}
