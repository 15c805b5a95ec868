//! `check --fix` on random repositories with faults that it mends: no value of any node changes, the
//! other lines stay byte for byte, a second run mends nothing, and `--diff` prints what is written.
//!
//! `HIERA_LS_RANDOM` sets how many repositories are mended.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hiera_ls::diagnostics::{Finding, Preset, RulesConfig, Severity, check_file, check_range};
use hiera_ls::disk::OsFs;
use hiera_ls::settings::open;
use hiera_ls::text::{FilePath, Span, Text, TextRange};
use hiera_ls::workspace::Snapshot;

use crate::refactorings::{differing_nodes, write_repository};
use crate::support::{copy, hiera_ls, random, random::Random, require, run, scratch};

/// The comment that the tests add where it accepts nothing.
const IGNORE: &str = "# hiera-ls: ignore[unreachable-key] mended";

#[test]
fn fixes_of_random_repositories_keep_values_and_other_lines() {
    let seed = random::seed("fixes_of_random_repositories_keep_values_and_other_lines");
    let mut random = Random::new(seed);
    let folder = scratch("fixes");
    let (mut counts, mut roots) = (BTreeMap::new(), Vec::new());
    for number in 0..random::count(12) {
        let root = folder.join(format!("r{number}"));
        write_repository(&root, number, &mut random);
        data_files(&root).iter().for_each(|path| add_faults(path, &mut random));
        mend(&root, &format!("HIERA_LS_SEED={seed}, repository {number}"), &mut counts);
        roots.push(root);
    }
    eprintln!("{} repositories: {counts:?}", roots.len());
    for code in ["duplicate-key", "redundant-override", "unused-ignore"] {
        assert!(counts.get(code).is_some_and(|count| *count > 0), "{code}: {counts:?}");
    }
    if require("ruby") {
        let load = "ARGV.each { |path| YAML.respond_to?(:unsafe_load_file) ? YAML.unsafe_load_file(path) : YAML.load_file(path) }";
        let files = roots.iter().flat_map(|root| data_files(root));
        let read = run(Command::new("ruby").args(["-ryaml", "-e", load]).args(files), "");
        assert_eq!(read.status, Some(0), "{}", read.stderr);
    }
}

/// A fix may uncover as many findings as it mends: of these, too, none is left.
#[test]
fn findings_that_fixes_uncover_are_fixed() {
    // In the second of these repositories, an entry is redundant once one above it is gone.
    const SEED: u64 = 1_753_776_949_201_071;
    let mut random = Random::new(SEED);
    let folder = scratch("uncovered");
    for number in 0..2 {
        let root = folder.join(format!("r{number}"));
        write_repository(&root, number, &mut random);
        data_files(&root).iter().for_each(|path| add_faults(path, &mut random));
        mend(&root, &format!("repository {number}"), &mut BTreeMap::new());
    }
}

/// Entries share a proof where a whole file is checked, and have one each where a range is.
#[test]
fn entries_are_removable_whether_they_are_proved_together_or_alone() {
    let seed = random::seed("entries_are_removable_whether_they_are_proved_together_or_alone");
    let mut random = Random::new(seed);
    let folder = scratch("removals");
    let codes = ["redundant-override", "merge-adds-nothing", "shadowed-definition"];
    let mut rules = RulesConfig { preset: Preset::Minimal, ..RulesConfig::default() };
    rules.severities.extend(codes.map(|code| (code.to_owned(), Severity::Warning)));
    let mut found = 0;
    for number in 0..random::count(24) {
        let root = folder.join(format!("r{number}"));
        write_repository(&root, number, &mut random);
        data_files(&root).iter().for_each(|path| add_faults(path, &mut random));
        let snapshot = snapshot(&root);
        for path in data_files(&root) {
            let path = FilePath::new(&path.display().to_string());
            let length = snapshot.file(&path).and_then(|file| file.text()).map_or(0, Text::len);
            let places = |findings: Vec<Finding>| -> Vec<(&str, TextRange, Vec<TextRange>)> {
                let range = |span: Span| snapshot.span_bytes(span);
                let findings = findings.into_iter().filter(|it| codes.contains(&it.rule.code));
                findings
                    .map(|it| {
                        let related = it.related.iter().map(|it| range(it.span)).collect();
                        (it.rule.code, range(it.span), related)
                    })
                    .collect()
            };
            let together = places(check_file(&snapshot, &path, &rules));
            let all = TextRange::new(0, length);
            let alone = places(check_range(&snapshot, &path, all, &rules));
            assert_eq!(together, alone, "HIERA_LS_SEED={seed}, repository {number}, {path}");
            found += together.len();
        }
    }
    eprintln!("{found} removable entries");
    assert!(found > 0);
}

/// Runs `--fix` in a repository, and adds the number of mended findings of each rule.
fn mend(root: &Path, context: &str, counts: &mut BTreeMap<String, usize>) {
    let check = |more: &[&str]| {
        let arguments = [&["check", "--preset", "strict"], more].concat();
        run(hiera_ls(arguments).current_dir(root), "")
    };
    let before = texts(root);
    let old = snapshot(root);
    let patch = check(&["--diff"]).stdout;
    assert_eq!(texts(root), before, "--diff writes: {context}");
    let patched = root.with_extension("patched");
    copy(root, &patched);
    apply_patch(&patched, &patch, context);
    let told = check(&["--fix"]).stderr;
    let after = texts(root);
    assert_eq!(texts(&patched), after, "{context}\n{patch}");
    for (path, text) in &after {
        assert_keeps_lines(&before[path], text, &format!("{context}, {}\n{patch}", path.display()));
    }
    let differing = differing_nodes(&old, &snapshot(root));
    assert!(differing.is_empty(), "{differing:?}: {context}\n{patch}");
    let again = check(&["--fix"]).stderr;
    assert_eq!(texts(root), after, "a second run: {context}\n{told}{again}");
    let Some((_, list)) = told.split_once(": ").and_then(|(_, rest)| rest.split_once(": ")) else {
        return;
    };
    for counted in list.split(';').next().unwrap_or_default().split(", ") {
        if let Some((count, code)) = counted.split_once(' ') {
            *counts.entry(code.trim().to_owned()).or_default() +=
                count.parse::<usize>().expect("a number");
        }
    }
}

fn snapshot(root: &Path) -> Snapshot {
    let root = FilePath::new(&root.display().to_string());
    open(vec![root], &[], Vec::new(), &OsFs).workspace.snapshot()
}

/// Returns the data files of a repository in the order of their names.
fn data_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("data")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Returns the texts of the data files by their paths below the repository.
fn texts(root: &Path) -> BTreeMap<PathBuf, String> {
    let below = |path: &PathBuf| path.strip_prefix(root).expect("it is below").to_owned();
    let text = |path: &PathBuf| fs::read_to_string(path).expect("a text");
    data_files(root).iter().map(|path| (below(path), text(path))).collect()
}

/// Adds what `--fix` mends to a file: members that stand twice with one value, values of other files,
/// and comments that accept nothing.
fn add_faults(path: &Path, random: &mut Random) {
    let text = fs::read_to_string(path).expect("a text");
    let is_entry = |line: &&str| {
        line.starts_with('k') && !line.contains('&') && !line.trim_end().ends_with([':', '|'])
    };
    let entries: Vec<String> = text.lines().filter(is_entry).map(str::to_owned).collect();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if !entries.is_empty() && random.one_in(2) {
        lines.push(random.pick(&entries));
    }
    if random.one_in(3) {
        lines.extend(["own:", "  x: 1", "  y: [1,  2]   # kept", "  x: 1"].map(str::to_owned));
    }
    for key in 20..26 {
        if !random.one_in(3) {
            lines
                .push(format!("k{key}: {}", random.pick(&["same", "same", "other", "[one, two]"])));
        }
    }
    if random.one_in(2) {
        let after_head = lines.iter().position(|line| line.starts_with('k')).unwrap_or(0);
        lines.insert(after_head, IGNORE.to_owned());
    }
    let line_end = random.pick(&["\n", "\n", "\r\n"]);
    fs::write(path, lines.join(line_end) + line_end).expect("it can be written");
}

fn apply_patch(folder: &Path, patch: &str, context: &str) {
    if patch.is_empty() {
        return;
    }
    let mut apply = Command::new("git");
    apply.args(["apply", "-p1", "--whitespace=nowarn", "-"]).current_dir(folder);
    apply.env("GIT_CEILING_DIRECTORIES", folder.parent().expect("a folder above"));
    let applied = run(&mut apply, patch);
    assert_eq!(applied.status, Some(0), "{}: {context}\n{patch}", applied.stderr);
}

/// Asserts that all lines of a text are lines of an earlier one, in the same order.
fn assert_keeps_lines(before: &str, after: &str, context: &str) {
    let mut earlier = before.split_inclusive('\n');
    for line in after.split_inclusive('\n') {
        let is_there = earlier.any(|one| one == line);
        assert!(is_there, "the line {line:?} is new: {context}");
    }
}
