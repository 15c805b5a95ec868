//! `hiera-ls check` where others run it: the hooks of `.pre-commit-hooks.yaml` in the real
//! pre-commit, and the commands of `docs/checks.md`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support;
use crate::support::python;

const PRE_COMMIT: &str = "pre-commit==4.7.0\n";
/// Brings the schemas of GitHub's workflows and GitLab's pipelines.
const SCHEMAS: &str = "check-jsonschema==0.39.0\n";

/// The page's first block of code that has this text.
fn block_with(text: &str) -> String {
    let page = std::fs::read_to_string(support::in_package("docs/checks.md"))
        .expect("a file of this package");
    let mut blocks = page.split("\n```").skip(1).step_by(2);
    let block = blocks.find(|block| block.contains(text)).expect("the page has it");
    block.split_once('\n').expect("the language stands on a line of its own").1.to_owned()
}

/// A commit is refused while an alias is broken, and made when it is mended.
#[test]
fn pre_commit_refuses_a_broken_alias() {
    let interpreter = match python::with_packages("pre-commit", "pre-commit", PRE_COMMIT) {
        Ok(interpreter) if support::require("git") => interpreter,
        Ok(_) => return,
        Err(obstacle) => {
            support::missing("pre-commit", &obstacle);
            return;
        }
    };
    let temporary = support::scratch("pre-commit");
    let (hooks, repo) = (temporary.join("hooks"), temporary.join("control-repo"));
    let tools = Tools {
        path: support::path_with_server(&temporary, interpreter.parent()),
        home: temporary.clone(),
    };
    std::fs::create_dir(&hooks).expect("a folder can be made");
    std::fs::copy(
        support::in_package(".pre-commit-hooks.yaml"),
        hooks.join(".pre-commit-hooks.yaml"),
    )
    .expect("a file can be copied");
    tools.commit_all(&hooks);
    let revision = tools.run(&hooks, &["git", "rev-parse", "HEAD"]).1;

    support::copy(&support::in_package("tests/control-repo"), &repo);
    // git takes the path of a `file://` address as it is.
    let address = format!("file://{}", hooks.display());
    let config =
        block_with("repos:").replace("REPOSITORY", &address).replace("v0.1.0", revision.trim());
    std::fs::write(repo.join(".pre-commit-config.yaml"), config).expect("a file can be written");
    tools.commit_all(&repo);
    let (status, out) = tools.run(&repo, &["pre-commit", "run", "--all-files"]);
    assert_eq!(status, Some(0), "{out}");
    tools.run(&repo, &["pre-commit", "install"]);

    let common = repo.join("data/common.yaml");
    let text = std::fs::read_to_string(&common).expect("a file of the sample");
    let alias = "\"%{alias('ntp_servers')}\"";
    assert!(text.contains(alias));
    std::fs::write(&common, text.replace(alias, "\"pool %{alias('ntp_servers')}\""))
        .expect("a file can be written");
    let (status, out) = tools.run(&repo, &["git", "commit", "--all", "--message", "break"]);
    assert!(
        status == Some(1)
            && out.contains("data/common.yaml:")
            && out.contains("[alias-not-whole-value]"),
        "{out}"
    );
    std::fs::write(&common, text + "more: 1\n").expect("a file can be written");
    let (status, out) = tools.run(&repo, &["git", "commit", "--all", "--message", "mend"]);
    assert_eq!(status, Some(0), "{out}");
    // A commit without data starts no check.
    std::fs::write(repo.join("NOTES.md"), "x\n").expect("a file can be written");
    tools.run(&repo, &["git", "add", "NOTES.md"]);
    let (status, out) = tools.run(&repo, &["git", "commit", "--message", "notes"]);
    assert!(status == Some(0) && out.contains("Skipped"), "{out}");
}

/// The two hooks differ in where the program comes from, and in nothing else.
#[test]
fn the_hooks_are_one() {
    let text = std::fs::read_to_string(support::in_package(".pre-commit-hooks.yaml"))
        .expect("a file of this package");
    let lines = |id: &str| -> Vec<String> {
        let hook = text
            .split("\n- id: ")
            .find_map(|hook| hook.strip_prefix(&format!("{id}\n")))
            .expect("the hook is there");
        let own = |line: &&str| {
            !line.starts_with("  description:")
                && !line.starts_with("  language:")
                && !line.is_empty()
        };
        hook.lines().filter(own).map(str::to_owned).collect()
    };
    assert_eq!(lines("hiera-ls"), lines("hiera-ls-system"));
}

/// The page's workflows are such by the schemas of GitHub and GitLab; and a slip in them is no such
/// thing.
#[test]
fn the_workflows_are_valid() {
    let interpreter = match python::with_packages("pre-commit", "schemas", SCHEMAS) {
        Ok(interpreter) => interpreter,
        Err(obstacle) => {
            support::missing("pre-commit", &obstacle);
            return;
        }
    };
    let temporary = support::scratch("workflows");
    let verdict = |schema: &str, text: &str| {
        let file = temporary.join(format!("{schema}.yaml"));
        std::fs::write(&file, text).expect("a file can be written");
        let mut check = Command::new(&interpreter);
        check
            .args(["-m", "check_jsonschema", "--builtin-schema", &format!("vendor.{schema}")])
            .arg(&file);
        let run = support::run(&mut check, "");
        (run.status, run.stdout + &run.stderr)
    };
    let workflow = block_with("runs-on:");
    let scanning = format!("{workflow}\n{}", block_with("upload-sarif"));
    let pipeline = block_with("codequality:");
    let (matrix, parallel) = (block_with("matrix:"), block_with("parallel:"));
    for (schema, text) in [
        ("github-workflows", &workflow),
        ("github-workflows", &scanning),
        ("github-workflows", &matrix),
        ("gitlab-ci", &pipeline),
        ("gitlab-ci", &parallel),
    ] {
        let (status, out) = verdict(schema, text);
        assert_eq!(status, Some(0), "{text}\n{out}");
    }
    for (schema, text, slip) in [
        ("github-workflows", &workflow, ("steps:", "step:")),
        ("gitlab-ci", &pipeline, ("script:", "scripts:")),
    ] {
        let (status, out) = verdict(schema, &text.replace(slip.0, slip.1));
        assert_eq!(status, Some(1), "{out}");
    }
}

#[test]
fn the_commands_of_the_page_run() {
    let temporary = support::scratch("checks-page");
    support::copy(&support::in_package("tests/control-repo"), &temporary);
    let page = std::fs::read_to_string(support::in_package("docs/checks.md"))
        .expect("a file of this package");
    let starts =
        ["      - run: hiera-ls ", "    - hiera-ls ", "hiera-ls ", "    lint-command: hiera-ls "];
    let command = |line: &str| {
        starts.iter().find_map(|start| Some(format!("hiera-ls {}", line.strip_prefix(start)?)))
    };
    let commands: Vec<String> = page.lines().filter_map(command).collect();
    assert_eq!(commands.len(), 9, "{commands:?}");
    if !support::require("sh") {
        return;
    }
    let shards = ["1", "2", "3", "4"];
    for command in commands {
        // Each job of a matrix runs the command for one shard.
        let jobs = if command.contains("--shard") { &shards[..] } else { &shards[..1] };
        for job in jobs {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", &command])
                .current_dir(&temporary)
                .env("PATH", support::path_with_server(&temporary, None))
                .env("INPUT", "data/common.yaml")
                .envs([("SHARD", job), ("CI_NODE_INDEX", job), ("CI_NODE_TOTAL", &"4")]);
            let run = support::run(&mut shell, "a: 1\n");
            assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{command}");
        }
    }
    let sarif =
        std::fs::read_to_string(temporary.join("hiera.sarif")).expect("the command wrote it");
    assert!(sarif.contains("\"results\": []"));
}

/// Programs that keep their files in a folder of the test.
struct Tools {
    path: std::ffi::OsString,
    home: PathBuf,
}

impl Tools {
    fn run(&self, folder: &Path, command: &[&str]) -> (Option<i32>, String) {
        let on_path = std::env::split_paths(&self.path)
            .map(|folder| folder.join(command[0]))
            .find(|program| program.is_file());
        let mut program = Command::new(on_path.expect("it is on the path"));
        program.args(&command[1..]).current_dir(folder).env("PATH", &self.path);
        for variable in ["HOME", "PRE_COMMIT_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            program.env(variable, &self.home);
        }
        for (role, variable) in
            [("AUTHOR", "NAME"), ("AUTHOR", "EMAIL"), ("COMMITTER", "NAME"), ("COMMITTER", "EMAIL")]
        {
            program.env(format!("GIT_{role}_{variable}"), "test@example.com");
        }
        let run = support::run(&mut program, "");
        (run.status, run.stdout + &run.stderr)
    }

    /// Makes the folder a repository with one commit of everything.
    fn commit_all(&self, folder: &Path) {
        for command in [
            &["git", "init", "--quiet"][..],
            &["git", "add", "--all"],
            &["git", "commit", "--quiet", "--message", "all"],
        ] {
            let (status, out) = self.run(folder, command);
            assert_eq!(status, Some(0), "{command:?}: {out}");
        }
    }
}

/// A problem as VS Code reads it from a line.
type Problem = (String, u64, u64, String, String, String);

/// The problem matcher of the extension reads each finding of the report, and nothing else.
#[test]
fn the_problem_matcher_reads_each_finding() {
    let manifest = std::fs::read_to_string(support::in_package("editors/vscode/package.json"))
        .expect("a file of this package");
    let manifest: Value = serde_json::from_str(&manifest).expect("it is JSON");
    let matcher = &manifest["contributes"]["problemMatchers"][0];
    let pattern = &matcher["pattern"];
    let regexp = regex::Regex::new(pattern["regexp"].as_str().expect("a regular expression"));
    let regexp = regexp.expect("the syntax is that of JavaScript and of Rust");
    let group = |name: &str| pattern[name].as_u64().expect("the number of a group") as usize;

    let repo = support::scratch("problem-matcher");
    support::copy(&support::in_package("tests/control-repo"), &repo);
    let data = "slip: \"%{lokup('a: b [c]')}\"\nslip: 1\n\"%{x\": 1\nopen: [1\n";
    std::fs::write(repo.join("data/os/Odd: 1 [x].yaml"), data).expect("a file can be written");
    let report = |format: &str| {
        let mut check = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
        check.args(["check", "--format", format, "--preset", "strict"]).current_dir(&repo);
        support::run(&mut check, "").stdout
    };
    let concise = report("concise");
    let read = |line: &str| -> Option<Problem> {
        let found = regexp.captures(line)?;
        let text = |name: &str| found[group(name)].to_owned();
        let number = |name: &str| text(name).parse().expect("digits");
        let places = (number("line"), number("column"));
        Some((text("file"), places.0, places.1, text("severity"), text("message"), text("code")))
    };
    let problems: Vec<Problem> = concise.lines().filter_map(read).collect();
    let expected: Vec<Problem> = report("jsonl").lines().filter_map(problem_of_json).collect();
    assert!(expected.len() > 5, "{concise}");
    assert_eq!(problems, expected, "{concise}");
    // Findings of the program and of the server replace each other.
    assert_eq!((&matcher["owner"], &matcher["name"]), (&"hiera-ls".into(), &"hiera-ls".into()));
    let task: Value = serde_json::from_str(&block_with("$hiera-ls")).expect("the task is JSON");
    assert_eq!(task["tasks"][0]["args"], serde_json::json!(["check", "--format", "concise"]));
}

/// Returns the problem that a line of `--format jsonl` is about; `None` for other lines.
fn problem_of_json(line: &str) -> Option<Problem> {
    let finding: Value = serde_json::from_str(line).expect("it is JSON");
    let text = |name: &str| Some(finding[name].as_str()?.to_owned());
    let (line, column) = (finding["line"].as_u64()?, finding["column"].as_u64()?);
    Some((text("path")?, line, column, text("severity")?, text("message")?, text("code")?))
}
