//! `simplify`: patches, files and commits that make data smaller and change no value.

use std::fs;
use std::path::{Path, PathBuf};

use super::{at, repo};
use crate::support::{hiera_ls, require, run};

const CONFIG: &str = "version: 5\nhierarchy:\n  - {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n  - {name: Role, path: 'roles/%{role}.yaml'}\n  - {name: Common, path: common.yaml}\n";

/// Three nodes of two roles. `kept` has a comment; `motd` is the common one twice; `pool` is the same
/// in both roles; only a removed class read `old`.
fn grown(name: &str) -> PathBuf {
    let node = |name: &str, role: &str| {
        format!(
            "{{\"clientcert\": \"{name}\", \"trusted\": {{\"certname\": \"{name}\"}}, \"role\": \"{role}\"}}\n"
        )
    };
    let nodes = node("a1", "web") + &node("a2", "web") + &node("b1", "db");
    let code = "$x = [lookup('motd'), lookup('pool'), lookup('port'), lookup('kept'), lookup('n')]\nclass nothing { }\n";
    repo(
        name,
        &[
            ("hiera.yaml", CONFIG),
            (".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n"),
            ("fleet.jsonl", &nodes),
            ("manifests/site.pp", code),
            ("data/nodes/a1.yaml", "motd: hello\n"),
            ("data/nodes/b1.yaml", "n: 1\n"),
            ("data/roles/web.yaml", "# the pool\nport: 80\nmotd: hello\npool: ntp\nold: 1\n"),
            ("data/roles/db.yaml", "pool: ntp\nport: 5432\n"),
            ("data/common.yaml", "motd: hello\nkept: 1\nn: 0\n# on purpose\nold: 2\n"),
        ],
    )
}

/// Returns all data of all nodes, but for one key.
fn dump(root: &Path, without: &str) -> String {
    let (status, out, told) = at(root, &["dump", "--nodes", "all"], "");
    assert_eq!(status, 0, "{told}");
    let is_data = |line: &&str| !line.contains(&format!("\"key\":\"{without}\""));
    let without_places = |line: &str| line.split(",\"file\"").next().unwrap_or(line).to_owned();
    out.lines().filter(is_data).map(without_places).collect::<Vec<_>>().join("\n")
}

fn read(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn each_step_is_printed_as_a_patch_and_written_only_on_demand() {
    let root = grown("simplify-patches");
    let before = dump(&root, "");
    let (status, out, told) = at(&root, &["simplify"], "");
    assert_eq!(status, 1);
    assert_eq!(
        out.lines().filter(|line| line.starts_with("# ")).collect::<Vec<_>>(),
        [
            "# 1. remove 1 entry that no value needs from 'Node'",
            "# 2. remove 1 entry that no value needs from 'Role'",
            "# 3. move 1 value that all files share to the lowest level",
            "# 4. remove 1 file without data",
        ],
        "{out}"
    );
    assert!(out.contains("--- a/data/nodes/a1.yaml\n+++ /dev/null\n"), "{out}");
    assert!(told.contains("the 3 known nodes are all nodes"), "{told}");
    assert_eq!(read(&root, "data/nodes/a1.yaml"), "motd: hello\n");
    let (status, written, _) = at(&root, &["simplify", "--write"], "");
    assert_eq!((status, written.lines().count()), (0, 4));
    assert!(!root.join("data/nodes/a1.yaml").exists());
    assert_eq!(read(&root, "data/roles/web.yaml"), "# the pool\nport: 80\nold: 1\n");
    assert_eq!(read(&root, "data/roles/db.yaml"), "port: 5432\n");
    assert!(read(&root, "data/common.yaml").contains("pool: ntp"));
    assert_eq!(dump(&root, ""), before);
    let (status, out, told) = at(&root, &["simplify"], "");
    assert_eq!((status, &*out), (0, ""));
    assert!(told.contains("nothing can be simplified"), "{told}");
}

#[test]
fn the_patches_apply_one_after_the_other() {
    if !require("git") {
        return;
    }
    let (patched, written) = (grown("simplify-patched"), grown("simplify-written"));
    let (_, out, _) = at(&patched, &["simplify"], "");
    let mut patches: Vec<String> = Vec::new();
    for line in out.split_inclusive('\n') {
        match patches.last_mut() {
            Some(patch) if !line.starts_with("# ") => patch.push_str(line),
            _ => patches.push(String::new()),
        }
    }
    for patch in patches {
        let mut git = std::process::Command::new("git");
        let applied = run(git.args(["apply", "-"]).current_dir(&patched), &patch);
        assert_eq!(applied.status, Some(0), "{}\n{patch}", applied.stderr);
    }
    at(&written, &["simplify", "--write"], "");
    for file in ["data/roles/web.yaml", "data/roles/db.yaml", "data/common.yaml"] {
        assert_eq!(read(&patched, file), read(&written, file));
    }
    assert_eq!(
        patched.join("data/nodes/a1.yaml").exists(),
        written.join("data/nodes/a1.yaml").exists()
    );
}

#[test]
fn dead_keys_are_removed_only_on_demand_and_never_with_a_comment() {
    let root = grown("simplify-dead");
    let before = dump(&root, "old");
    let (_, out, told) = at(&root, &["simplify", "--steps", "dead-keys"], "");
    assert!(out.contains("remove 1 entry that nothing reads from 'Role'"), "{out}");
    assert!(told.contains("calls with computed keys"), "{told}");
    at(&root, &["simplify", "--steps", "dead-keys", "--write"], "");
    assert!(!read(&root, "data/roles/web.yaml").contains("old"));
    assert!(read(&root, "data/common.yaml").contains("# on purpose\nold: 2\n"));
    assert_eq!(dump(&root, "old"), before);
}

#[test]
fn a_dead_key_with_the_name_of_a_read_one_nearly_is_left_alone() {
    let data = "lookup_options: {ports: {convert_to: Sensitive}}\nfirst: \"%{lookup('second')}\"\nsecond: 1\nports: open-sesame\n";
    let root = repo(
        "simplify-misnamed",
        &[
            ("hiera.yaml", CONFIG),
            (".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n"),
            ("fleet.jsonl", "{\"clientcert\": \"a1\", \"role\": \"web\"}\n"),
            ("manifests/site.pp", "$x = lookup('port')\nclass nothing { }\n"),
            ("data/common.yaml", data),
        ],
    );
    let (_, out, _) = at(&root, &["simplify", "--steps", "dead-keys"], "");
    assert!(out.contains("# 2. remove 1 entry that nothing reads"), "{out}");
    assert!(!out.contains("open-sesame"), "{out}");
    at(&root, &["simplify", "--steps", "dead-keys", "--write"], "");
    let (options, _) = data.split_once("first").unwrap();
    assert_eq!(read(&root, "data/common.yaml"), format!("{options}ports: open-sesame\n"));
}

#[test]
fn each_step_is_a_commit_and_other_changes_are_no_part_of_it() {
    if !require("git") {
        return;
    }
    let root = grown("simplify-commits");
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        let run = run(command.args(args).current_dir(&root), "");
        assert_eq!(run.status, Some(0), "{args:?}: {}", run.stderr);
        run.stdout
    };
    // The folder of the tests may lie in the repository of hiera-ls.
    let mut alone = hiera_ls(["simplify", "--write", "--commit"]);
    alone.current_dir(&root).env("GIT_CEILING_DIRECTORIES", root.parent().unwrap());
    let alone = run(&mut alone, "");
    assert_eq!(alone.status, Some(2));
    assert!(alone.stderr.contains("lies in no git repository"), "{}", alone.stderr);
    git(&["init", "-q"]);
    let (status, _, told) = at(&root, &["simplify", "--write", "--commit"], "");
    assert_eq!(status, 2);
    assert!(told.contains("git does not track data/"), "{told}");
    git(&["config", "user.name", "Tester"]);
    git(&["config", "user.email", "tester@example.com"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "one"]);
    fs::write(root.join("data/common.yaml"), read(&root, "data/common.yaml") + "new: 1\n").unwrap();
    let (status, _, told) = at(&root, &["simplify", "--write", "--commit"], "");
    assert_eq!(status, 2);
    assert!(told.contains("data/common.yaml is not committed"), "{told}");
    git(&["checkout", "-q", "data/common.yaml"]);
    fs::write(root.join("untracked"), "").unwrap();
    let (status, out, told) = at(&root, &["simplify", "--write", "--commit"], "");
    assert_eq!((status, out.lines().count()), (0, 4), "{told}");
    let log = git(&["log", "--format=%s", "--name-only", "-1"]);
    assert_eq!(log, "hiera: remove 1 file without data\n\ndata/nodes/a1.yaml\n");
    assert_eq!(git(&["log", "--format=%an"]).lines().filter(|name| *name == "Tester").count(), 5);
    assert_eq!(git(&["status", "--short"]), "?? untracked\n");
}

#[test]
fn entries_that_the_team_has_accepted_stay() {
    let root = grown("simplify-accepted");
    let settings =
        "nodes: {sources: [fleet.jsonl]}\nignore: {'data/nodes/**': redundant-override}\n";
    fs::write(root.join(".hiera-ls.yaml"), settings).unwrap();
    let (_, out, told) = at(&root, &["simplify", "--steps", "overrides"], "");
    assert!(!out.contains("data/nodes") && out.contains("data/roles/web.yaml"), "{out}{told}");
}
