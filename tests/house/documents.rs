//! The documents name files that exist.

use std::fs;
use std::path::{Path, PathBuf};

const DOCUMENTS: [&str; 9] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "benches/README.md",
    "editors/README.md",
    "editors/CHECKS.md",
    "editors/PROTOCOL.md",
    "tests/control-repo/README.md",
    "tests/puppet/oracle/README.md",
];

/// A path in code quotes is one from the root of the package if it begins with one of these.
const FOLDERS: [&str; 6] = ["src/", "tests/", "docs/", "benches/", "editors/", ".ci/"];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The paths in code quotes, and the targets of links as seen from the document.
fn named_paths(document: &Path, text: &str) -> Vec<PathBuf> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |quoted: &&str| FOLDERS.iter().any(|folder| quoted.starts_with(folder));
    // `your_…` is for the reader to choose; a name with a blank has an argument.
    let is_example = |path: &&str| path.contains("your_") || path.contains(['*', ' ', '{', '…']);
    let from_root = quoted.filter(is_path).filter(|path| !is_example(path));
    let folder = document.parent().expect("a document lies in a folder");
    let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let local = links.filter(|link| !link.is_empty() && !link.contains("://"));
    from_root.map(|path| package().join(path)).chain(local.map(|link| folder.join(link))).collect()
}

#[test]
fn every_named_file_exists() {
    let mut missing = Vec::new();
    let mut count = 0;
    for name in DOCUMENTS {
        let document = package().join(name);
        let text = fs::read_to_string(&document).unwrap_or_else(|error| panic!("{name}: {error}"));
        for path in named_paths(&document, &text) {
            count += 1;
            if !path.exists() {
                missing.push(format!("{name}: {}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(count > 60, "paths are looked for where they are: {count}");
}
