//! `check --shard` and `diff --shard`: the parts of all shards, joined by `merge`, print what one
//! process prints, byte for byte, and exit as it does.

use std::fs;
use std::path::{Path, PathBuf};

use super::diff::{change, commit, git, repository, write, write_fleet};
use super::support::{copy, in_package, random, random::Random, require, scratch};
use super::{CONFIG, at};

const CHECK_FORMATS: [&str; 11] = [
    "full",
    "concise",
    "grouped",
    "json",
    "jsonl",
    "github",
    "sarif",
    "gitlab",
    "junit",
    "rdjson",
    "checkstyle",
];
const DIFF_FORMATS: [&str; 5] = ["human", "markdown", "json", "github", "html"];

/// Faults of several rules in one file, one of them accepted.
const FAULTS: &str = "same: {a: 1, b: 2, a: 1}
typo: \"%{lookup('nowhere_at_all')}\" # hiera-ls: ignore[unknown-key] as it was
other_typo: \"%{lookup('compani')}\"
cycle_a: \"%{lookup('cycle_b')}\"
cycle_b: \"%{lookup('cycle_a')}\"
unused: 1 # hiera-ls: ignore[duplicate-key] nothing is twice
";

/// Copies the sample repository, with faults in it.
fn faulty_repository(name: &str) -> PathBuf {
    let root = scratch(name).join("repository");
    copy(&in_package("tests/control-repo"), &root);
    let path = root.join("data/common.yaml");
    fs::write(&path, fs::read_to_string(&path).unwrap() + FAULTS).unwrap();
    root
}

/// Writes the parts of a command; returns their paths.
fn write_parts(root: &Path, command: &[&str], count: usize) -> Vec<String> {
    let mut files = Vec::new();
    for number in 1..=count {
        let share = format!("{number}/{count}");
        let (status, part, told) = at(root, &[command, &["--shard", &share]].concat(), "");
        assert_eq!(status, 0, "{command:?} --shard {share}: {told}");
        let file = root.with_file_name(format!("part-{number}-of-{count}.json"));
        fs::write(&file, part).unwrap();
        files.push(file.to_str().unwrap().to_owned());
    }
    files
}

/// Runs `merge` on parts, the last of them first.
fn merge(root: &Path, parts: &[String], more: &[&str]) -> (i32, String, String) {
    let files: Vec<&str> = parts.iter().rev().map(String::as_str).collect();
    at(root, &[&["merge"], &files[..], more].concat(), "")
}

/// Compares a command with its shards, joined, in these formats. Returns the status of the command.
fn compare_shards(root: &Path, command: &[&str], formats: &[&str], count: usize) -> i32 {
    let parts = write_parts(root, command, count);
    let mut status = None;
    for format in formats {
        let whole = at(root, &[command, &["--format", format]].concat(), "");
        assert_ne!(whole.0, 2, "{command:?} {format}: {}", whole.2);
        let joined = merge(root, &parts, &["--format", format]);
        assert_eq!(joined, whole, "{command:?} --format {format}, {count} shards");
        status = Some(whole.0);
    }
    status.expect("there is a format")
}

#[test]
fn joined_shards_of_check_print_what_one_process_prints() {
    let root = faulty_repository("shards-check");
    let command = ["check", "--preset", "strict", "--fail-on", "hint"];
    for count in 1..=5 {
        assert_eq!(compare_shards(&root, &command, &CHECK_FORMATS, count), 1, "there are findings");
    }
    let few = ["check", "--select", "duplicate-key", "--fail-on", "error", "data/nodes"];
    assert_eq!(compare_shards(&root, &few, &["full"], 3), 0, "the faults are in another file");
    for form in [&["--statistics"][..], &["--group-by", "cause"], &["--color", "always"]] {
        let command = [&command, form].concat();
        let whole = at(&root, &command, "");
        assert_eq!(merge(&root, &write_parts(&root, &command, 3), &[]), whole, "{form:?}");
    }
}

#[test]
fn joined_shards_of_check_know_the_baseline_and_older_findings() {
    if !require("git") {
        return;
    }
    let root = faulty_repository("shards-older");
    git(&root, &["init", "-q", "-b", "main"]);
    commit(&root, "first");
    let path = root.join("data/common.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("same:", "new_typo: \"%{lookup('compny')}\"\nsame:")).unwrap();
    let since = ["check", "--preset", "strict", "--since", "HEAD"];
    compare_shards(&root, &since, &["full", "json"], 4);
    let known = root.with_file_name("accepted.json");
    let baseline = ["check", "--preset", "strict", "--baseline", known.to_str().unwrap()];
    let parts = write_parts(&root, &[&baseline[..], &["--write-baseline"]].concat(), 2);
    assert!(!known.exists(), "a shard writes its part alone");
    assert_eq!(merge(&root, &parts, &[]).0, 0);
    let written = fs::read_to_string(&known).unwrap();
    assert_eq!(at(&root, &[&baseline[..], &["--write-baseline"]].concat(), "").0, 0);
    assert_eq!(fs::read_to_string(&known).unwrap(), written);
    fs::write(&path, text.replace("same:", "other_new: \"%{lookup('compny')}\"\nsame:")).unwrap();
    compare_shards(&root, &baseline, &["full"], 3);
}

#[test]
fn joined_shards_of_random_repositories_print_what_one_process_prints() {
    if !require("git") {
        return;
    }
    let seed = random::seed("joined_shards_of_random_repositories_print_what_one_process_prints");
    let mut random = Random::new(seed);
    let folder = scratch("shards-random");
    let mut changed = 0;
    for number in 0..random::count(12) {
        let root = folder.join(format!("r{number}/repository"));
        write_fleet(&root, &mut random);
        git(&root, &["init", "-q", "-b", "main"]);
        commit(&root, "first");
        let told = change(&root, &mut random);
        commit(&root, "second");
        println!("HIERA_LS_SEED={seed}, repository {number}: {told}");
        let count = 1 + random.below(5);
        let diff = ["diff", "HEAD^..HEAD", "--order"];
        changed += compare_shards(&root, &diff, &DIFF_FORMATS, count);
        let upgrade = ["diff", "--puppet-version", "7..8"];
        compare_shards(&root, &upgrade, &[random.pick(&DIFF_FORMATS)], count);
        let check = ["check", "--preset", "strict"];
        compare_shards(&root, &check, &[random.pick(&CHECK_FORMATS)], count);
    }
    assert!(changed > 3, "{changed} of the commits change a value");
}

#[test]
fn joined_shards_of_diff_have_the_groups_of_a_fleet_in_one() {
    if !require("git") {
        return;
    }
    let nodes: String = (0..60)
        .map(|n| {
            let role = ["web", "db", "mail"][n % 3];
            format!("{{\"facts\":{{}},\"role\":\"{role}\",\"trusted\":{{\"certname\":\"{role}-{n:02}\"}}}}\n")
        })
        .collect();
    let config = "version: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n";
    let files = [
        ("hiera.yaml", config),
        (".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n"),
        ("fleet.jsonl", &nodes),
        (
            "data/common.yaml",
            "port: 1\nasks: \"%{lookup('port')}\"\nname: \"%{trusted.certname}\"\n",
        ),
        ("data/roles/web.yaml", "port: 80\n"),
    ];
    let root = repository("shards-groups", &files);
    write(
        &root,
        "data/common.yaml",
        "port: 2\nasks: \"%{lookup('port')}\"\nname: \"x-%{trusted.certname}\"\n",
    );
    write(&root, "data/roles/web.yaml", "port: 81\n");
    for count in 1..=5 {
        assert_eq!(compare_shards(&root, &["diff", "HEAD"], &DIFF_FORMATS, count), 1);
        let some = ["diff", "HEAD", "--nodes", "web-*", "--exit-zero"];
        assert_eq!(compare_shards(&root, &some, &["human"], count), 0);
    }
    let part = fs::read_to_string(&write_parts(&root, &["diff", "HEAD"], 1)[0]).unwrap();
    assert_eq!(
        part.matches("\"key\":\"port\"").count(),
        2,
        "an answer for 40 nodes, and one for 20"
    );
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let root = scratch("shards-refused").join("repository");
    let text = "k: {a: 1, a: 1}\nl: 1\n";
    write(&root, CONFIG.0, CONFIG.1);
    write(&root, "data/common.yaml", text);
    let refused = |parts: &[String], words: &str| {
        let (status, out, told) = merge(&root, parts, &[]);
        assert_eq!((status, out.as_str()), (2, ""), "{told}");
        assert!(told.contains(words), "{words}: {told}");
    };
    let of_three = write_parts(&root, &["check"], 3);
    refused(&of_three[..1], "the shards 2/3, 3/3 are missing");
    refused(&of_three[1..], "the shard 1/3 is missing");
    refused(&[&of_three[..], &of_three[..1]].concat(), "are both the shard 1/3");
    let of_two = write_parts(&root, &["check"], 2);
    refused(&[&of_three[..], &of_two[..]].concat(), "the numbers of shards differ");
    let strict = write_parts(&root, &["check", "--preset", "strict"], 2);
    refused(&strict[..1], "the shard 2/2 is missing");
    let kept = root.with_file_name("kept.json");
    fs::copy(&strict[1], &kept).unwrap();
    let kept = kept.to_str().unwrap().to_owned();
    let of_two = write_parts(&root, &["check"], 2);
    refused(&[of_two[0].clone(), kept], "the arguments differ");
    write(&root, "data/common.yaml", "k: {a: 1, a: 2}\nl: 1\n");
    refused(&of_two, "are not those that the shards read");
    let later = write_parts(&root, &["check"], 2);
    write(&root, "data/common.yaml", text);
    let earlier = at(&root, &["check", "--shard", "1/2"], "").1;
    fs::write(&later[0], earlier).unwrap();
    refused(&later, "the files that were read differ");
    let file = &of_two[0];
    let part = fs::read_to_string(file).unwrap();
    fs::write(file, part.replace("\"program\":\"", "\"program\":\"9")).unwrap();
    refused(&of_two, "was written by hiera-ls 9");
    fs::write(file, "{}").unwrap();
    refused(&of_two, "is no part that `--shard` wrote");
    let (status, _, told) = at(&root, &["merge", "nowhere.json"], "");
    assert!(status == 2 && told.contains("nowhere.json cannot be read"), "{told}");
    let parts = write_parts(&root, &["check"], 2);
    let (status, _, told) = merge(&root, &parts, &["--format", "html"]);
    assert!(status == 2 && told.contains("'html' is none of the formats: full,"), "{told}");
    for wrong in ["0/2", "3/2", "2"] {
        let (status, _, told) = at(&root, &["check", "--shard", wrong], "");
        assert!(status == 2 && told.contains("such as 1/4"), "{told}");
    }
}

#[test]
fn parts_of_check_and_of_diff_are_not_joined() {
    if !require("git") {
        return;
    }
    let root = repository("shards-both", &[CONFIG, ("data/common.yaml", "k: 1\n")]);
    let check = at(&root, &["check", "--shard", "1/2"], "").1;
    let diff = at(&root, &["diff", "HEAD", "--shard", "2/2"], "").1;
    let parts = [("one.json", check), ("two.json", diff)].map(|(name, text)| {
        let file = root.with_file_name(format!("shards-both-{name}"));
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    });
    let (status, _, told) = merge(&root, &parts, &[]);
    assert!(status == 2 && told.contains("the commands differ"), "{told}");
}
