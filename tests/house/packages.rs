//! What packages need: allowed licences, one address of the repository, one version, and notes of a
//! release.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support;

fn text(path: &str) -> String {
    std::fs::read_to_string(support::in_package(path))
        .unwrap_or_else(|error| panic!("{path} is read: {error}"))
}

/// The licences that `deny.toml` allows.
fn allowed() -> BTreeSet<String> {
    let file = text("deny.toml");
    let (_, list) = file.split_once("allow = [").expect("the file has the list");
    let (list, _) = list.split_once(']').expect("the list ends");
    list.split(',')
        .map(|entry| entry.trim().trim_matches('"').to_owned())
        .filter(|entry| !entry.is_empty())
        .collect()
}

/// Whether the allowed licences satisfy an expression of SPDX without nested parentheses, which no
/// crate has. A slash is an old way to write `OR`, a plus means later versions, too.
fn is_satisfied(expression: &str, allowed: &BTreeSet<String>) -> bool {
    if let Some((group, rest)) =
        expression.strip_prefix('(').and_then(|expression| expression.split_once(") AND "))
    {
        return is_satisfied(group, allowed) && is_satisfied(rest, allowed);
    }
    expression.replace('/', " OR ").split(" OR ").any(|part| {
        part.split(" AND ").all(|name| allowed.contains(name.trim().trim_end_matches('+')))
    })
}

#[test]
fn an_expression_is_satisfied_by_one_alternative_with_all_of_its_parts() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "Zlib".to_owned()]);
    for expression in
        ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "MIT AND Zlib", "(MIT OR GPL-3.0) AND Zlib"]
    {
        assert!(is_satisfied(expression, &allowed), "{expression}");
    }
    for expression in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND GPL-3.0", ""] {
        assert!(!is_satisfied(expression, &allowed), "{expression}");
    }
}

/// Of the crates for this platform: those of others are not downloaded.
#[test]
fn the_licences_of_all_crates_are_allowed() {
    let host = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let host = String::from_utf8_lossy(&host.stdout).into_owned();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).expect("it has a host");
    let mut metadata = Command::new(env!("CARGO"));
    metadata
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--offline",
            "--filter-platform",
            host,
        ])
        .current_dir(support::in_package(""));
    let run = support::run(&mut metadata, "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let metadata: Value = serde_json::from_str(&run.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    assert!(packages.len() > 100, "only {} packages", packages.len());
    let allowed = allowed();
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(
            is_satisfied(licence, &allowed),
            "{} {} has the licence '{licence}', which deny.toml does not allow",
            package["name"],
            package["version"]
        );
    }
}

/// The files below a folder, or the file itself.
fn files(path: &Path, found: &mut Vec<std::path::PathBuf>) {
    let names = ["node_modules", "target", "dist", "package-lock.json"];
    if path.file_name().is_some_and(|name| names.iter().any(|ignored| name == *ignored)) {
        return;
    }
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| files(&entry.path(), found)),
        Err(_) => found.push(path.to_owned()),
    }
}

/// Cargo.toml alone has the address, once there is one; packages take it from there, and pages say
/// REPOSITORY.
#[test]
fn no_file_has_an_example_address_of_the_repository() {
    let mut found = Vec::new();
    for path in ["editors", "docs", ".ci", ".github", "README.md", ".pre-commit-hooks.yaml"] {
        files(&support::in_package(path), &mut found);
    }
    assert!(found.len() > 50, "only {} files", found.len());
    for file in found {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for host in ["example.com", "example.org", "github.com", "gitlab.com"] {
            assert!(
                !text.contains(&format!("{host}/hiera-ls")),
                "{} has an address of hiera-ls at {host}",
                file.display()
            );
        }
    }
}

/// Pages and files that name a version of the package name this one.
#[test]
fn copied_lines_name_the_version() {
    let version = env!("CARGO_PKG_VERSION");
    let mut named = 0;
    let mut found = Vec::new();
    for path in ["docs", "editors"] {
        files(&support::in_package(path), &mut found);
    }
    for file in found {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for start in ["hiera-ls==", "rev: v", "pkg:pypi/hiera-ls@"] {
            for rest in text.split(start).skip(1).filter(|rest| rest.starts_with(char::is_numeric))
            {
                let is_current = rest
                    .strip_prefix(version)
                    .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric()));
                assert!(is_current, "{}: {start}{}", file.display(), &rest[..8.min(rest.len())]);
                named += 1;
            }
        }
    }
    assert!(named > 1, "{named} files name a version");
    assert!(text("editors/zed/extension.toml").contains(&format!("\nversion = \"{version}\"\n")));
}

#[cfg(unix)]
#[test]
fn the_notes_of_a_release_are_its_section_of_the_changelog() {
    let folder = support::scratch("release-notes");
    let changelog = folder.join("CHANGELOG.md");
    let version = env!("CARGO_PKG_VERSION");
    let write = |heading: &str| {
        let text = format!(
            "# Changelog\n\n## [Unreleased]\n\n- later\n\n{heading}\n\n- first\n\n### Fixed\n\n- second\n\n## [0.0.1]\n\n- old\n\n[Unreleased]: x\n"
        );
        std::fs::write(&changelog, text).expect("a file of the test is written");
    };
    let notes = |tag: &str| {
        let mut command = Command::new(support::in_package(".ci/release-notes"));
        support::run(command.arg(tag).arg(&changelog), "")
    };
    write(&format!("## [{version}] - 2026-01-31"));
    let wrong = notes("v0.0.1");
    assert!(wrong.status == Some(1) && wrong.stderr.contains("is not v"), "{}", wrong.stderr);
    let run = notes(&format!("v{version}"));
    // A release needs the repository's address.
    if !text("Cargo.toml").contains("\nrepository = ") {
        assert!(run.status == Some(1) && run.stderr.contains("`repository`"), "{}", run.stderr);
        return;
    }
    assert_eq!((run.status, run.stdout.trim()), (Some(0), "- first\n\n### Fixed\n\n- second"));
    write("## [9.9.9]");
    let run = notes(&format!("v{version}"));
    assert!(run.status == Some(1) && run.stderr.contains("no section"), "{}", run.stderr);
}
