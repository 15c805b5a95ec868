//! The code that `ARCHITECTURE.md` and `CONTRIBUTING.md` name exists: each module, type, function
//! and constant in code quotes is defined in `src`, and below the module that its path begins with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use crate::generated::read;

/// Names in code quotes that the sources do not define: those of Rust, of packages, of Puppet, and
/// variables of the environment.
const FOREIGN: [&str; 6] =
    ["None", "Display", "Sensitive", "UPDATE_EXPECT", "hiera_ls", "lsp_types"];

/// The names that the sources define: each with the paths of the modules that define it, such as
/// `src/hiera/lookup`.
type Definitions = BTreeMap<String, BTreeSet<String>>;

#[test]
fn named_code_exists() {
    let mut definitions = Definitions::new();
    collect(Path::new(env!("CARGO_MANIFEST_DIR")), "src", &mut definitions);
    let mut unknown = Vec::new();
    let mut count = 0;
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for name in named(&read(document)) {
            count += 1;
            if !is_defined(&name, &definitions) {
                unknown.push(format!("{document}: {name}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(count > 60, "names are found: {count}");
}

/// The names of code in a document: paths (`ide::hover`), types (`FilePosition`), functions with a
/// `_` in their name, constants.
fn named(text: &str) -> BTreeSet<String> {
    let name = Regex::new(r"^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$").expect("valid");
    let variable = Regex::new(r"^(HIERA_LS|CARGO)_").expect("valid");
    let outside: String = text.split("\n```").step_by(2).collect();
    let quoted = outside.split('`').skip(1).step_by(2).map(|quoted| quoted.trim_end_matches("()"));
    quoted
        .filter(|quoted| name.is_match(quoted) && !variable.is_match(quoted))
        .filter(|quoted| {
            quoted.contains("::") || quoted.contains('_') || quoted.contains(char::is_uppercase)
        })
        .filter(|quoted| !FOREIGN.contains(quoted) && !quoted.contains("your_"))
        .map(str::to_owned)
        .collect()
}

/// Whether each part of a path is defined, the last one below the module of the first one.
fn is_defined(path: &str, definitions: &Definitions) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    let Some(places) = parts.last().and_then(|last| definitions.get(*last)) else { return false };
    let root = format!("src/{}", parts[0]);
    let is_below_root = |place: &String| place == &root || place.starts_with(&format!("{root}/"));
    let is_root = definitions.get(parts[0]).is_some_and(|places| places.contains(&root));
    parts.iter().all(|part| definitions.contains_key(*part))
        && (!is_root || places.iter().any(is_below_root))
}

/// Adds the definitions of a folder's sources, and the modules that its files and folders are.
fn collect(package: &Path, folder: &str, definitions: &mut Definitions) {
    let definition = Regex::new(
        r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:async |const |unsafe )*(?:fn|struct|enum|trait|type|const|static|mod) ([A-Za-z_][A-Za-z0-9_]*)",
    )
    .expect("valid");
    let variant = Regex::new(r"(?m)^    ([A-Z][A-Za-z0-9]*)(?:,|\(| \{)").expect("valid");
    for entry in std::fs::read_dir(package.join(folder)).expect("sources are there").flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let module = format!("{folder}/{}", file.trim_end_matches(".rs"));
        let mut add = |name: &str| {
            definitions.entry(name.to_owned()).or_default().insert(module.clone());
        };
        add(file.trim_end_matches(".rs"));
        if entry.path().is_dir() {
            collect(package, &module, definitions);
        } else if file.ends_with(".rs") {
            let text = std::fs::read_to_string(entry.path()).expect("a source is text");
            for found in definition.captures_iter(&text).chain(variant.captures_iter(&text)) {
                add(&found[1]);
            }
        }
    }
}

#[test]
fn a_name_that_is_gone_is_found() {
    let mut definitions = Definitions::new();
    collect(Path::new(env!("CARGO_MANIFEST_DIR")), "src", &mut definitions);
    assert!(is_defined("hiera::lookup::Resolver", &definitions));
    assert!(!is_defined("ide::lookup::Resolver", &definitions));
    assert!(!is_defined("hiera::lookup::Resolver::resolve_all_at_once", &definitions));
    assert_eq!(named("`ide::hover` and `a word`, `HIERA_LS_SEED`").len(), 1);
}
