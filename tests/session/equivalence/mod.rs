//! An incremental workspace equals a new one: after each random edit, everything that a workspace
//! returns (facts of files, layers, index, findings, hovers, definitions) equals the result of a
//! new workspace with the same texts.
//!
//! `HIERA_LS_EDITS` sets the number of steps (1,000), `HIERA_LS_SEED` repeats a run; a million
//! steps take `cargo test --release`. With `HIERA_LS_CORPUS_ROOT` a part of the steps happens in
//! that repository. A difference is shrunk to a small case and printed in the form of
//! `equivalence/cases.yaml`, where it goes once it is understood, to stay.

pub mod generate;
mod shrink;
pub mod steps;
pub mod told;
mod unindexed;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::support;
use crate::support::random::{self, Random};
use steps::{Case, Edit, Session, Step};

/// How many steps a repository lives for.
const STEPS: usize = 30;

#[test]
fn cases_hold() {
    let cases: Vec<Case> =
        serde_yaml::from_str(include_str!("cases.yaml")).expect("cases.yaml is a list of cases");
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            Some(format!("{}: {}", case.name, difference(case, told::Width::Everything)?))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Each edit breaks a config, or leaves it as it is for most readers, and is then undone.
#[test]
fn each_character_of_a_config_can_go_and_come() {
    check_each_character(
        "# The levels.\n---\nversion: 5\nhierarchy:\n  # Of one role.\n  # Few.\n  - name: Role\n    path: \"roles/%{role}.yaml\"\n  - {name: Common, path: common.yaml}\n",
    );
    check_each_character(
        "version: 5\n\n# For all.\n# Or most.\ndefaults:\n  datadir: data\n\nhierarchy:\n  - name: All\n    paths: [\n      'roles/%{role}.yaml',\n      common.yaml,\n    ]\n# The end.\n# Of it.\n",
    );
}

/// Removes each character of a config, and inserts one before it; compares the results before and
/// after the file is saved.
fn check_each_character(config: &str) {
    let files = BTreeMap::from(
        [
            ("hiera.yaml", config),
            ("data/common.yaml", "a: 1\nb: \"%{lookup('a')}\"\n"),
            ("data/roles/web.yaml", "a: 2\n"),
        ]
        .map(|(path, text)| (path.to_owned(), text.to_owned())),
    );
    let mut session = Session::new(&files);
    session.look(told::Width::Everything);
    let mut failures = Vec::new();
    let path = "hiera.yaml".to_owned();
    let edit = |start, end, insert: &str| Step::Edit {
        path: path.clone(),
        edits: vec![Edit { start, end, insert: insert.to_owned() }],
    };
    for at in 0..config.len() {
        let come = ["x", ":", "\"", "\n", " ", "#", "-", "{"][at % 8];
        let gone = &config[at..=at];
        for steps in
            [[edit(at, at + 1, ""), edit(at, at, gone)], [edit(at, at, come), edit(at, at + 1, "")]]
        {
            for step in steps {
                session.happen(&step);
                let unsaved = session.difference_to_opened(told::Width::Everything);
                let text = Some(session.open()[&path].clone());
                session.happen(&Step::Disk { path: path.clone(), text });
                let saved = session.difference(told::Width::Everything);
                let differences = unsaved.into_iter().chain(saved);
                failures.extend(differences.map(|difference| format!("{step:?}: {difference}")));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures[..failures.len().min(20)].join("\n")
    );
}

#[test]
fn generated_files() {
    run("generated_files", edits(), told::Width::Everything, generate::repo);
}

#[test]
fn the_control_repo() {
    let files = read(&support::in_package("tests/control-repo"));
    run("the_control_repo", edits() / 40, told::Width::Everything, |_| files.clone());
}

#[test]
fn the_corpus() {
    let Some(root) = support::variable("HIERA_LS_CORPUS_ROOT") else {
        eprintln!("skipped: HIERA_LS_CORPUS_ROOT is not set");
        return;
    };
    let files = read(Path::new(&root));
    run("the_corpus", edits() / 100, told::Width::Open, |_| files.clone());
}

/// A lookup for an editor reads only the files that define its key according to the index.
#[test]
fn the_index_knows_what_looking_into_files_tells() {
    let mut random = Random::new(random::seed("the_index_knows_what_looking_into_files_tells"));
    let mut repos: Vec<BTreeMap<String, String>> =
        (0..6).map(|_| generate::repo(&mut random)).collect();
    repos.push(read(&support::in_package("tests/control-repo")));
    let owned = |files: &[(&str, &str)]| {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    };
    // Some of these keys are in a file only as one of two levels reads the file. Others are in a
    // file that no pattern stands for.
    repos.push(owned(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: Json, path: odd.txt, data_hash: json_data}\n- {name: Yaml, path: odd.txt}\n- {name: Common, path: common.yaml}\n",
        ),
        ("data/odd.txt", "odd: 1\nboth: 2\n"),
        ("data/common.yaml", "both: \"%{lookup('odd')}\"\nasks: \"%{lookup('both')}\"\n"),
    ]));
    repos.push(owned(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: Far, path: '../%{x}/../odd/./far.yaml'}, {name: Common, path: common.yaml}]\n",
        ),
        ("data/common.yaml", "far: 1\nasks: \"%{lookup('far')}\"\n"),
        ("odd/far.yaml", "far: 2\n"),
    ]));
    repos.push(owned(&[
        ("hiera.yaml", "version: 5\nhierarchy: [{name: Empty, path: 'n/%{x}/common.yaml'}, {name: Base, path: base.yaml}]\n"),
        ("data/n/common.yaml", "k: 1\n"),
        ("data/base.yaml", "k: 2\nasks: \"%{lookup('k')}\"\n"),
    ]));
    repos.push(owned(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: Opaque, path: base.conf, lookup_key: 'mine::fancy'}\n- {name: Hocon, path: base.conf, data_hash: hocon_data}\n",
        ),
        ("data/base.conf", "k = 1\nasks = \"%{lookup('k')}\"\n"),
    ]));
    let mut count = 0;
    for files in &repos {
        let (lookups, difference) = unindexed::compare(&Session::new(files).snapshot());
        assert_eq!(difference, None, "in {files:#?}");
        count += lookups;
    }
    assert!(count > 1_000, "only {count} lookups");
}

/// The suite can fail: the results for two texts differ in each of these ways.
#[test]
fn differences_are_seen() {
    let told = |common: &str, config: &str| {
        let files = [
            ("hiera.yaml", config),
            ("data/common.yaml", common),
            ("data/other.yaml", "other: \"%{lookup('a')}\"\n"),
        ];
        let mut session =
            Session::new(&files.map(|(path, text)| (path.to_owned(), text.to_owned())).into());
        session.look(told::Width::Everything)
    };
    let config = "version: 5\nhierarchy: [{name: Both, paths: [common.yaml, other.yaml]}]\n";
    let same = told("a: 1\n", config);
    assert_eq!(same, told("a: 1\n", config));
    let changed = [
        "a: 2\n",
        " a: 1\n",
        "b: 1\n",
        "a: '1'\n",
        "a: 1\na: 1\n",
        "a: \"%{x}\"\n",
        "a: \"%{lookup('other')}\"\n",
        "a: [\n",
    ];
    for text in changed {
        assert_ne!(same, told(text, config), "{text}");
    }
    assert_ne!(same, told("a: 1\n", "version: 5\nhierarchy: [{name: One, path: common.yaml}]\n"));
}

fn edits() -> usize {
    support::variable("HIERA_LS_EDITS")
        .map_or(1_000, |edits| edits.parse().expect("HIERA_LS_EDITS is a number"))
}

/// The texts of a folder, by path below it.
fn read(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be listed") {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let below = path
                    .strip_prefix(root)
                    .expect("it was found there")
                    .to_str()
                    .expect("paths here are UTF-8");
                files.insert(below.to_owned(), text);
            }
        }
    }
    files
}

fn run(
    test: &str,
    steps: usize,
    width: told::Width,
    mut files: impl FnMut(&mut Random) -> BTreeMap<String, String>,
) {
    let seed = random::seed(test);
    let mut random = Random::new(seed);
    let mut done = 0;
    while done < steps {
        let mut case = Case {
            name: format!("{test}, seed {seed}"),
            files: files(&mut random),
            steps: Vec::new(),
        };
        let mut session = Session::new(&case.files);
        session.look(width);
        for _ in 0..STEPS.min(steps - done) {
            let step = generate::step(&mut random, &session);
            case.steps.push(step.clone());
            let seen = catch_unwind(AssertUnwindSafe(|| {
                session.apply(&step);
                session.difference(width)
            }));
            if !matches!(seen, Ok(None)) {
                let case = shrink::shrunk(case, |case| difference(case, width).is_some());
                let difference = difference(&case, width)
                    .unwrap_or_else(|| "gone when the case is repeated".into());
                let text = serde_yaml::to_string(&[&case]).expect("a case can be written");
                panic!(
                    "after {done} steps of seed {seed}: {difference}\n\nfor tests/session/equivalence/cases.yaml:\n\n{text}"
                );
            }
            done += 1;
        }
    }
}

/// The first difference that a case shows, if any; a panic is one.
fn difference(case: &Case, width: told::Width) -> Option<String> {
    let replay = || {
        let mut session = Session::new(&case.files);
        session.look(width);
        case.steps.iter().find_map(|step| {
            session.apply(step);
            session.difference(width)
        })
    };
    catch_unwind(AssertUnwindSafe(replay)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(panic.downcast_ref::<&str>().copied());
        Some(format!("a panic: {}", message.unwrap_or("without words")))
    })
}
