//! The command line as scripts see it: exit status, stdout and stderr.

#[path = "../support/mod.rs"]
mod support;

mod baseline;
mod config;
mod debug;
mod diff;
mod facts;
mod fixes;
mod fleet;
mod history;
mod hostile;
mod keys;
mod names;
mod nodes;
mod queries;
mod reports;
mod secrets;
mod settled;
mod shards;
mod simplify;
#[cfg(unix)]
mod unlisted;
mod upgrades;
mod watch;

use std::fs;
use std::path::{Path, PathBuf};

use support::{hiera_ls, in_package, run, scratch, write_file};

/// A folder with these files.
fn repo(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = scratch(name);
    for (path, text) in files {
        write_file(root.join(path), text);
    }
    root
}

/// Status, stdout and stderr of a run in `folder`.
fn at(folder: &Path, args: &[&str], stdin: impl AsRef<[u8]>) -> (i32, String, String) {
    let output = run(hiera_ls(args).current_dir(folder), stdin);
    (output.status.expect("it ends by itself"), output.stdout, output.stderr)
}

const CONFIG: (&str, &str) =
    ("hiera.yaml", "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n");

#[test]
fn lookup_has_a_status_each_for_found_missing_and_broken() {
    let sample = in_package("tests/control-repo");
    let node = ["--node", "db-01.oslo.example.net"];
    let lookup = |args: &[&str]| at(&sample, &[&["lookup"], &node[..], args].concat(), "");
    assert_eq!(
        lookup(&["company", "--render-as", "json"]),
        (0, "\"Fjordkaffe\"\n".into(), String::new())
    );
    let (status, out, err) = lookup(&["nowhere"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("'nowhere'"));
    assert_eq!(lookup(&["nowhere", "--default", "x"]).0, 0);
    assert_eq!(lookup(&["nowhere", "company"]).0, 0, "the first that is found");
    let (status, out, err) = lookup(&["company", "--type", "Integer"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("expects an Integer value, got String"));
    assert_eq!(at(&scratch("cli-empty"), &["lookup", "company"], "").0, 2, "no hiera.yaml");
}

#[test]
fn lookup_takes_what_the_lookup_function_takes() {
    let sample = in_package("tests/control-repo");
    let lookup =
        |args: &[&str]| at(&sample, &[&["lookup", "--render-as", "json"], args].concat(), "");
    let answer = |text: &str| (0, format!("{text}\n"), String::new());
    assert_eq!(lookup(&["company", "--override", r#"{"company":[1]}"#]), answer("[1]"));
    assert_eq!(
        lookup(&["nowhere", "--default-values-hash", r#"{"nowhere":null}"#]),
        answer("null")
    );
    let options =
        r#"{"name":["nowhere","company"],"override":{"nowhere":"x"},"value_type":"Integer"}"#;
    let (status, _, err) = lookup(&["--options", options]);
    assert_eq!(status, 2);
    assert!(err.contains("Value found for key 'nowhere' in override hash has wrong type, expects an Integer value"), "{err}");
    assert_eq!(
        lookup(&["--options", options, "--type", "String"]),
        answer("\"x\""),
        "an argument goes before the options"
    );
    assert_eq!(lookup(&["nowhere", "--options", r#"{"default_value":null}"#]), answer("null"));
    for bad in [
        "[]",
        "{",
        r#"{"nope":1}"#,
        r#"{"name":1}"#,
        r#"{"override":1}"#,
        r#"{"value_type":"Integer["}"#,
    ] {
        assert_eq!(lookup(&["company", "--options", bad]).0, 2, "{bad}");
    }
    assert_eq!(lookup(&["--options", "{}"]).0, 2, "no key");
    let questions =
        "{\"name\":[\"nowhere\",\"k\"],\"override\":{\"k\":1}}\n{\"key\":\"k\",\"nope\":1}\n";
    let (_, out, _) = at(&sample, &["lookup", "--batch"], questions);
    assert_eq!(
        out,
        "{\"key\":[\"nowhere\",\"k\"],\"found\":true,\"value\":1}\n\
         {\"key\":\"k\",\"error\":\"the lookup function has no option 'nope'\"}\n"
    );
}

#[test]
fn check_has_a_status_each_for_clean_findings_and_broken() {
    let clean = in_package("tests/control-repo");
    assert_eq!(at(&clean, &["check"], "").0, 0);
    let broken = repo(
        "cli-check",
        &[CONFIG, ("data/common.yaml", "a: 1\na: 2\nb: \"%{lookup('nope')}\"\n")],
    );
    let (status, out, _) = at(&broken, &["check"], "");
    assert_eq!(status, 1);
    assert!(
        out.contains("data/common.yaml:2:1: error:") && out.contains("[duplicate-key]"),
        "{out}"
    );
    assert_eq!(
        at(&broken, &["check", "--ignore", "duplicate-key"], "").0,
        0,
        "a warning does not count"
    );
    assert_eq!(
        at(&broken, &["check", "--ignore", "duplicate-key", "--fail-on", "warning"], "").0,
        1
    );
    assert_eq!(at(&broken, &["check", "data/nope.yaml"], "").0, 2, "there is no such file");
    assert_eq!(at(&broken, &["check", "--select", "no-such-rule"], "").0, 2);
    let (status, out, _) = at(&broken, &["check", "--select", "unknown-key"], "");
    assert_eq!(status, 0, "the duplicate key is not looked for");
    assert!(out.contains("[unknown-key]") && !out.contains("[duplicate-key]"), "{out}");
    let other = repo("cli-other", &[CONFIG]);
    let other = other.to_str().unwrap();
    assert_eq!(
        at(&broken, &["check", "data", other], "").0,
        2,
        "two environments are two runs, not one and silence"
    );
}

#[test]
fn reports_for_programs_are_whole_without_findings_too() {
    let clean = in_package("tests/control-repo");
    let report: serde_json::Value =
        serde_json::from_str(&at(&clean, &["check", "--format", "json"], "").1).unwrap();
    assert_eq!(report["findings"], serde_json::json!([]));
    let broken = repo("cli-json", &[CONFIG, ("data/common.yaml", "å: 1\n\"å\": 2\n")]);
    let report: serde_json::Value =
        serde_json::from_str(&at(&broken, &["check", "--format", "json"], "").1).unwrap();
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["line"], &finding["endColumn"]),
        (&"duplicate-key".into(), &2.into(), &4.into())
    );
    assert_eq!(finding["related"][0]["line"], 1);
}

/// A repository whose report has everything that reports can get wrong: signs of several bytes, two
/// findings on one line, related places.
fn repo_for_reports(name: &str) -> PathBuf {
    let data = "\"å, %: <x>\": 1\n\"å, %: <x>\": 2\nb: \"å %{lookup('nope')} %{lookup('nope')}\"\n";
    let root = scratch(name);
    for (path, text) in [CONFIG, ("data/å b.yaml", "c: d\n"), ("data/common.yaml", data)] {
        write_file(root.join("env").join(path), text);
    }
    root
}

/// Reports for whole repositories name files by where the command runs.
fn report(root: &Path, format: &str) -> String {
    let (status, out, err) = at(root, &["check", "env", "--format", format], "");
    assert_eq!((status, err.as_str()), (1, ""), "{format}");
    out
}

#[test]
fn annotations_of_github() {
    let out = report(&repo_for_reports("cli-github"), "github");
    let lines: Vec<&str> = out.lines().collect();
    let first = "::error file=env/data/common.yaml,line=2,endLine=2,col=1,endColumn=12,title=duplicate-key::";
    assert!(lines[0].starts_with(first) && lines[0].contains("å, %25: <x>"), "{out}");
    assert!(
        lines[1].starts_with("::warning file=env/data/common.yaml,line=3,endLine=3,col=17,endColumn=21,title=unknown-key::"),
        "{out}"
    );
    assert!(lines[3].starts_with("::notice file=env/data/å b.yaml,") && lines.len() == 4, "{out}");
    assert_eq!(
        at(&in_package("tests/control-repo"), &["check", "--format", "github"], ""),
        (0, String::new(), String::new())
    );
}

#[test]
fn sarif_has_stable_fingerprints() {
    let root = repo_for_reports("cli-sarif");
    let sarif = || {
        serde_json::from_str::<serde_json::Value>(&report(&root, "sarif")).unwrap()["runs"][0]
            .clone()
    };
    let run = sarif();
    let results = run["results"].as_array().unwrap();
    assert_eq!(
        (results.len(), &results[0]["level"], &results[3]["level"]),
        (4, &"error".into(), &"note".into())
    );
    let place = &results[1]["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"],
        serde_json::json!({"uri": "env/data/common.yaml", "uriBaseId": "%SRCROOT%"})
    );
    assert_eq!(
        place["region"],
        serde_json::json!({"startLine": 3, "startColumn": 17, "endLine": 3, "endColumn": 21})
    );
    assert_eq!(
        results[3]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "env/data/%C3%A5%20b.yaml"
    );
    assert_eq!(results[0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 1);
    let rules: Vec<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert!(results.iter().all(|result| rules.contains(&result["ruleId"].as_str().unwrap())));
    let prints = |run: &serde_json::Value| -> Vec<String> {
        run["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| result["partialFingerprints"].to_string())
            .collect()
    };
    let before = prints(&run);
    assert!(
        before.iter().enumerate().all(|(n, print)| !before[..n].contains(print)),
        "two on one line are two: {before:?}"
    );
    let file = root.join("env/data/common.yaml");
    fs::write(&file, format!("# another line\n{}", fs::read_to_string(&file).unwrap())).unwrap();
    let after = sarif();
    assert_eq!(after["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"], 4);
    assert_eq!(prints(&after), before);
    let clean = at(&in_package("tests/control-repo"), &["check", "--format", "sarif"], "").1;
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&clean).unwrap()["runs"][0]["results"],
        serde_json::json!([])
    );
}

#[test]
fn the_code_quality_report_of_gitlab() {
    let issues: serde_json::Value =
        serde_json::from_str(&report(&repo_for_reports("cli-gitlab"), "gitlab")).unwrap();
    let severities: Vec<&str> = issues
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| issue["severity"].as_str().unwrap())
        .collect();
    assert_eq!(severities, ["major", "minor", "minor", "info"]);
    assert_eq!(
        issues[0]["location"],
        serde_json::json!({"path": "env/data/common.yaml", "lines": {"begin": 2, "end": 2}})
    );
    assert_eq!(
        (&issues[1]["check_name"], issues[1]["fingerprint"].as_str().map(str::len)),
        (&"unknown-key".into(), Some(16))
    );
    assert_ne!(issues[1]["fingerprint"], issues[2]["fingerprint"]);
    assert_eq!(
        at(&in_package("tests/control-repo"), &["check", "--format", "gitlab"], "").1,
        "[]\n"
    );
}

#[test]
fn junit_is_xml_that_fails_as_the_command_does() {
    let root = repo_for_reports("cli-junit");
    let out = report(&root, "junit");
    assert!(
        out.contains("<testsuites name=\"hiera-ls\" tests=\"4\" failures=\"1\" errors=\"0\">"),
        "{out}"
    );
    assert!(
        out.contains("file=\"env/data/common.yaml\" line=\"2\"") && out.contains("&lt;x&gt;"),
        "{out}"
    );
    let strict = at(&root, &["check", "env", "--format", "junit", "--fail-on", "warning"], "").1;
    assert!(strict.contains("failures=\"3\""), "{strict}");
    let clean = at(&in_package("tests/control-repo"), &["check", "--format", "junit"], "").1;
    assert!(clean.contains("tests=\"1\" failures=\"0\""), "{clean}");
    if !support::require("python3") {
        return;
    }
    // Python's parser of XML, which this project did not write, reads the reports.
    let read = "import sys, xml.etree.ElementTree as x; t = x.fromstring(sys.stdin.buffer.read()); print(len(t.findall('.//testcase')), len(t.findall('.//failure')))";
    for (xml, counts) in [(&out, "4 1\n"), (&strict, "4 3\n"), (&clean, "1 0\n")] {
        assert_eq!(
            run(std::process::Command::new("python3").args(["-c", read]), xml).stdout,
            counts
        );
    }
}

#[test]
fn columns_of_reviewdog_count_bytes() {
    let report: serde_json::Value =
        serde_json::from_str(&report(&repo_for_reports("cli-rdjson"), "rdjson")).unwrap();
    let range =
        serde_json::json!({"start": {"line": 3, "column": 18}, "end": {"line": 3, "column": 22}});
    let found = &report["diagnostics"][1];
    assert_eq!(
        found["location"],
        serde_json::json!({"path": "env/data/common.yaml", "range": range})
    );
    assert_eq!(
        (&found["severity"], &found["code"]["value"]),
        (&"WARNING".into(), &"unknown-key".into())
    );
    assert_eq!(
        report["diagnostics"][0]["relatedLocations"][0]["location"]["range"]["start"]["line"],
        1
    );
}

/// As `/etc/puppetlabs/code`, or a folder of several control repos.
#[test]
fn an_environment_below_the_folder_that_is_checked_has_its_own_settings() {
    let settings = "rules: {alias-not-whole-value: hint}\nnodes: {default: web01, sources: ['nodes/*.json']}\n";
    let folder = repo(
        "cli-environments",
        &[
            ("production/hiera.yaml", CONFIG.1),
            ("production/data/common.yaml", "a: \"%{alias('b')} x\"\nb: 1\n"),
            ("production/.hiera-ls.yaml", settings),
            ("production/nodes/web01.json", "{}"),
            ("test/hiera.yaml", CONFIG.1),
            ("test/data/common.yaml", "a: 1\n"),
            ("test/.hiera-ls.yaml", "colour: red\neyaml: {decrypt: true}\n"),
        ],
    );
    let (status, out, err) = at(&folder, &["check", "."], "");
    assert_eq!((status, out.matches(": hint: ").count()), (1, 1), "{out}{err}");
    let wrong = "test/.hiera-ls.yaml:1:1: error: setting 'colour': is not known";
    assert!(out.contains(wrong) && out.contains("[setting-without-effect]"), "{out}");
    assert!(
        out.contains("test/.hiera-ls.yaml:2:1: error: setting 'eyaml': is refused here"),
        "{out}"
    );
    let (_, _, err) = at(&folder, &["nodes"], "");
    let said: Vec<&str> = err.lines().collect();
    assert!(said[0].contains("test/.hiera-ls.yaml: setting 'colour': is not known"), "{err}");
    assert!(said[1].contains("test/.hiera-ls.yaml: setting 'eyaml': is refused here"), "{err}");
    // Checked alone, the environment has the same findings.
    let (status, alone, err) = at(&folder, &["check", "production"], "");
    assert_eq!((status, alone.matches(": hint: ").count(), err.as_str()), (0, 1, ""), "{alone}");
}

#[test]
fn a_file_that_is_not_saved_is_checked_in_its_workspace() {
    let saved = "a: 1\na: 2\n";
    let root = repo(
        "cli-stdin",
        &[CONFIG, ("data/common.yaml", saved), ("modules/x/hiera.yaml", "version: 5\n")],
    );
    let check = |path: &str, text: &str| {
        at(&root, &["check", "--format", "jsonl", "--stdin", "--stdin-filename", path], text)
    };
    assert_eq!(check("data/common.yaml", "a: 1\n"), (0, String::new(), String::new()));
    let (status, out, _) = check("data/common.yaml", "b: \"%{alias('a')} x\"\n");
    assert_eq!(status, 1);
    let codes: Vec<serde_json::Value> =
        support::json_lines("findings", &out).iter().map(|found| found["code"].clone()).collect();
    assert_eq!(codes, ["alias-not-whole-value", "unknown-key"], "the saved text has the key");
    assert_eq!(fs::read_to_string(root.join("data/common.yaml")).unwrap(), saved);
    // The command reports findings of the named file only. The named file may be hiera.yaml itself,
    // or may not be on disk, even in a folder that is not on disk.
    assert_eq!(check("data/new/common.yaml", "a: 1\n").1.matches("unreached-file").count(), 1);
    assert!(check("hiera.yaml", "version: 5\nhierarchy: 7\n").1.contains("config-error"));
    assert_eq!(check("modules/x/data/common.yaml", "x::a: 1\n").0, 0);
    // The command runs in another folder, and names the file by an absolute path.
    let path = root.join("data/common.yaml");
    let from_elsewhere = ["check", "--stdin", "--stdin-filename", path.to_str().unwrap()];
    let (status, out, _) = at(&scratch("cli-stdin-elsewhere"), &from_elsewhere, saved);
    assert!(status == 1 && out.starts_with("data/common.yaml:2:1: error:"), "{out}");
}

#[test]
fn a_file_that_is_not_saved_may_be_anything() {
    let other = scratch("cli-stdin-other");
    let check = |args: &[&str], text: &str| {
        at(&other, &[&["check", "--format", "json"], args].concat(), text)
    };
    let (status, out, err) = check(&["--stdin", "--stdin-filename", "compose.yaml"], "a: [\n");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (status, &report["findings"], err.as_str()),
        (0, &serde_json::json!([]), ""),
        "no hiera.yaml governs it"
    );
    for wrong in [
        &["--stdin"][..],
        &["--stdin-filename", "x.yaml"],
        &["--stdin", "--stdin-filename", "x.yaml", "."],
    ] {
        assert_eq!(check(wrong, "").0, 2, "{wrong:?}");
    }
    let mut child = hiera_ls(["check", "--stdin", "--stdin-filename", "data/common.yaml"])
        .current_dir(repo("cli-stdin-bytes", &[CONFIG]))
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"a: \xff\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not UTF-8"));
}

#[test]
fn shells_take_the_completions() {
    for (shell, check) in [
        ("bash", &["-n"][..]),
        ("zsh", &["-n"]),
        ("fish", &["--no-execute"]),
        ("elvish", &[]),
        ("powershell", &[]),
    ] {
        let (status, script, _) = at(&in_package("."), &["completions", shell], "");
        assert!(
            status == 0 && script.contains("stdin-filename") && script.contains("hiera-ls"),
            "{shell}"
        );
        // Where the shell is installed, it reads the script.
        let there = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|folder| folder.join(shell).is_file());
        if there && !check.is_empty() {
            let read = run(std::process::Command::new(shell).args(check), &script);
            assert_eq!((read.status, read.stderr.as_str()), (Some(0), ""), "{shell}");
        }
    }
    if support::require("bash") {
        // The script chooses the name of the completion function, which `complete -p` prints.
        let ask = "source /dev/stdin; set -- $(complete -p hiera-ls); while [ $1 != -F ]; do shift; done; \
                   COMP_WORDS=(hiera-ls check --for); COMP_CWORD=2; $2 hiera-ls --for check; echo ${COMPREPLY[@]}";
        let script = at(&in_package("."), &["completions", "bash"], "").1;
        let read = run(std::process::Command::new("bash").args(["--norc", "-c", ask]), &script);
        assert_eq!(read.stdout, "--format\n", "{}", read.stderr);
    }
}

#[test]
fn pages_for_man() {
    let page = |name: &[&str]| at(&in_package("."), &[&["man"], name].concat(), "");
    let (status, program, _) = page(&[]);
    assert!(
        status == 0
            && program.contains(".TH hiera-ls 1")
            && program.contains("hiera\\-ls\\-check(1)"),
        "{program}"
    );
    let (status, check, _) = page(&["check"]);
    assert!(
        status == 0
            && check.contains(".TH hiera-ls-check 1")
            && check.contains("\\-\\-stdin\\-filename"),
        "{check}"
    );
    assert_eq!(page(&["nope"]).0, 2);
}

#[test]
fn a_message_stays_on_its_line() {
    let hostile = repo(
        "cli-hostile",
        &[
            CONFIG,
            (
                "data/common.yaml",
                "\"a\\n::warning::x\\e[31m\": 1\n\"a\\n::warning::x\\e[31m\": 2\n",
            ),
        ],
    );
    let (_, out, _) = at(&hostile, &["check"], "");
    assert!(!out.lines().any(|line| line.starts_with("::")) && !out.contains('\u{1b}'), "{out}");
}

#[test]
fn a_scope_is_chosen_not_guessed() {
    let scopes = "{\"trusted\":{\"certname\":\"a\"},\"v\":\"A\"}\n{\"trusted\":{\"certname\":\"b\"},\"v\":\"B\"}\n";
    let root =
        repo("cli-scopes", &[CONFIG, ("data/common.yaml", "k: '%{v}'\n"), ("fleet.jsonl", scopes)]);
    let lookup = |args: &[&str]| {
        at(&root, &[&["lookup", "--scope", "fleet.jsonl"], args].concat(), "{\"key\":\"k\"}\n")
    };
    assert_eq!(lookup(&["k", "--node", "b"]).1, "B\n");
    assert_eq!(lookup(&["k", "--node", "c"]).0, 2);
    assert_eq!(lookup(&["k"]).0, 2, "which of the two?");
    let lines = "{\"node\":\"a\",\"key\":\"k\",\"found\":true,\"value\":\"A\"}\n{\"node\":\"b\",\"key\":\"k\",\"found\":true,\"value\":\"B\"}\n";
    assert_eq!(lookup(&["--batch"]).1, lines);
}

#[test]
fn a_batch_answers_every_line() {
    let sample = in_package("tests/control-repo");
    let questions = "{\"key\":\"company\"}\nno json\n{}\n\n{\"key\":\"nowhere\"}\n{\"key\":\"company\",\"merge\":\"odd\"}\n";
    let (status, out, _) =
        at(&sample, &["lookup", "--batch", "--node", "db-01.oslo.example.net"], questions);
    let answers: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, answers.len()), (0, 5));
    assert_eq!((&answers[0]["value"], &answers[3]["found"]), (&"Fjordkaffe".into(), &false.into()));
    assert!([1, 2, 4].iter().all(|n: &usize| answers[*n]["error"].is_string()), "{out}");
}

/// A conversion that only Puppet can do is reported for the key that it belongs to, even if another
/// key asks for it.
#[test]
fn conversions_left_out_are_reported_for_their_own_keys() {
    let data = "lookup_options: {inner: {convert_to: 'Object[{}]'}}\ninner: 1\nouter: \"%{alias('inner')}\"\n\
                twice: [\"%{lookup('inner')}\", \"%{lookup('inner')}\", \"%{lookup('plain')}\"]\nplain: 1\n";
    let root = repo("cli-unapplied", &[CONFIG, ("data/common.yaml", data)]);
    let told = "hiera-ls: convert_to Object[{}] of 'inner' is noted, but not applied\n";
    for (args, expected) in [
        (&["outer"][..], told),
        (&["twice"], told),
        (&["twice", "--explain"], told),
        (&["plain"], ""),
    ] {
        assert_eq!(at(&root, &[&["lookup"], args].concat(), "").2, expected, "{args:?}");
    }
    let (_, out, _) =
        at(&root, &["lookup", "--batch"], "{\"key\":\"outer\"}\n{\"key\":\"plain\"}\n");
    let expected = "{\"key\":\"outer\",\"found\":true,\"value\":1,\"unapplied_convert_to\":{\"inner\":\"Object[{}]\"}}\n\
                    {\"key\":\"plain\",\"found\":true,\"value\":1}\n";
    assert_eq!(out, expected);
}

/// Nothing in a line ends a batch: the next question is answered as if it stood alone.
#[test]
fn a_batch_goes_on_behind_lines_that_are_none() {
    let deep: String = (0..300).map(|n| format!("k{n}: \"%{{lookup('k{}')}}\"\n", n + 1)).collect();
    let root = repo("cli-batch", &[CONFIG, ("data/common.yaml", &format!("k: v\n{deep}"))]);
    let long = format!("{{\"key\":\"k\",\"default_value\":\"{}\"}}", "x".repeat(3 << 20));
    // This line of 1 MiB is no question. Its length does not count the line end.
    let longest = "x".repeat(1 << 20);
    let bad: [(&[u8], &str); 6] = [
        (b"{\"key\":\"\xff\"}", "invalid unicode"),
        (b"\xff\xfe{\0", "this line is no question"),
        (b"\0", "this line is no question"),
        (long.as_bytes(), "this line is too long: it has more than 1048576 bytes"),
        (longest.as_bytes(), "this line is no question"),
        (b"{\"key\":\"k0\"}", "given up"),
    ];
    let mut input = Vec::new();
    for (line, _) in &bad {
        input.extend([line, b"\n{\"key\":\"k\"}\r\n".as_slice()].concat());
    }
    input.extend(long.as_bytes()); // and the end
    let (status, out, err) = at(&root, &["lookup", "--batch"], input);
    let answers: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, answers.len(), err.as_str()), (0, 13, ""));
    for (pair, (_, expected)) in answers.chunks(2).zip(&bad) {
        let message = pair[0]["error"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{expected}: {message}");
        assert_eq!(pair[1]["value"], "v", "after {message}");
    }
    assert!(answers[12]["error"].as_str().is_some_and(|message| message.contains("too long")));
}

#[test]
fn secrets_are_printed_only_on_demand() {
    let data = "lookup_options: {pw: {convert_to: Sensitive}}\npw: hunter2\n";
    let root = repo("cli-secret", &[CONFIG, ("data/common.yaml", data)]);
    for args in [
        &["lookup", "pw"][..],
        &["lookup", "pw", "--explain"],
        &["lookup", "pw", "--explain", "--render-as", "json"],
    ] {
        let (status, out, err) = at(&root, args, "");
        assert!(
            status == 0 && !out.contains("hunter2") && !err.contains("hunter2"),
            "{args:?}: {out}"
        );
    }
    assert!(at(&root, &["lookup", "pw", "--reveal-sensitive"], "").1.contains("hunter2"));
}

#[test]
fn every_rule_is_listed_and_explained() {
    let (status, out, _) = at(&in_package("."), &["rules"], "");
    assert!(status == 0 && out.lines().count() > 20);
    for line in out.lines() {
        let code = line.split_whitespace().next().unwrap();
        let (status, page, _) = at(&in_package("."), &["rules", code], "");
        assert!(status == 0 && page.starts_with(&format!("# {code}\n")), "{code}");
    }
    assert_eq!(at(&in_package("."), &["rules", "nope"], "").0, 2);
}

/// Returns the status and the standard output of `puppet lookup` with the same folder and facts.
fn puppet_lookup(root: &Path, args: &[&str]) -> (i32, String) {
    let name = root.file_name().and_then(|name| name.to_str()).expect("scratch names are UTF-8");
    let away = scratch(&format!("{name}-puppet"));
    let mut command = std::process::Command::new("puppet");
    command
        .arg("lookup")
        .args(args)
        .args(["--environment", name, "--environmentpath"])
        .arg(root.parent().expect("it lies in a folder"));
    for setting in ["--confdir", "--vardir", "--codedir"] {
        command.arg(setting).arg(away.join(setting.trim_matches('-')));
    }
    let output = run(&mut command, "");
    (output.status.expect("it ends by itself"), output.stdout)
}

/// A repository for the traps of semantics 13 that are about the command line; Puppet wants names
/// of environments without dashes.
fn trap_repo(name: &str) -> PathBuf {
    let config = "version: 5\nhierarchy: [{name: Common, paths: ['nodes/%{trusted.certname}.yaml', common.yaml]}]\n";
    let data = "lookup_options: {s: {convert_to: Sensitive}}\ns: secret\nbad: \"%{foo('x')}\"\nc: '%{trusted.certname}'\n";
    let whole =
        r#"{"clientcert":"n1.example","hostname":"n1","domain":"example","fqdn":"n1.example"}"#;
    repo(
        name,
        &[
            ("hiera.yaml", config),
            ("data/common.yaml", data),
            ("data/nodes/.yaml", "k: of nobody\n"),
            ("some.json", r#"{"os":"x"}"#),
            ("whole.json", whole),
        ],
    )
}

#[test]
fn trap_39_an_error_is_said_where_puppet_is_silent() {
    let root = trap_repo("trap39");
    let facts = root.join("whole.json");
    let facts = facts.to_str().expect("scratch paths are UTF-8");
    let (status, out, err) = at(&root, &["lookup", "bad", "--facts", facts], "");
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("Unknown interpolation method 'foo'"), "{err}");
    let (status, out, _) = at(&root, &["lookup", "bad", "--explain", "--facts", facts], "");
    assert!(
        status == 0 && out.ends_with("Unknown interpolation method 'foo'\n"),
        "explained, the error is part of it: {out}"
    );
    if support::require("puppet") {
        assert_eq!(puppet_lookup(&root, &["bad", "--facts", facts]), (1, String::new()));
        let (status, out) = puppet_lookup(&root, &["bad", "--explain", "--facts", facts]);
        assert!(
            status == 0 && out.trim_end().ends_with("Unknown interpolation method 'foo'"),
            "{out}"
        );
    }
}

/// `tests/puppet/explanations` runs the command's code in a process of its own; here is the command
/// itself.
#[test]
fn explanations_are_those_of_the_real_command() {
    if !support::require("puppet") {
        return;
    }
    let root = trap_repo("explained");
    let facts = root.join("whole.json");
    let facts = facts.to_str().expect("scratch paths are UTF-8");
    let asks: [&[&str]; 7] = [
        &["k", "--explain"],
        &["k.x", "--explain", "--render-as", "json"],
        &["bad", "--explain"],
        &["nope", "k", "--explain", "--render-as", "json"],
        &["k", "--explain-options"],
        &["k", "--explain", "--merge", "deep"],
        &["--explain-options", "--render-as", "json"],
    ];
    for (_, ask) in asks.into_iter().enumerate().filter(|(n, _)| support::is_asked("puppet", *n)) {
        let ask = [ask, &["--facts", facts]].concat();
        let (status, out, _) =
            at(&root, &[&["lookup", "--puppet-version", "7"], &ask[..]].concat(), "");
        let (expected_status, expected) = puppet_lookup(&root, &ask);
        assert_eq!((status, out.trim_end()), (expected_status, expected.trim_end()), "{ask:?}");
    }
}

#[test]
fn trap_40_the_certname_is_the_fact_clientcert() {
    let root = trap_repo("trap40");
    let facts = root.join("whole.json");
    let args =
        ["c", "--facts", facts.to_str().expect("scratch paths are UTF-8"), "--render-as", "json"];
    assert_eq!(at(&root, &[&["lookup"], &args[..]].concat(), "").1, "\"n1.example\"\n");
    if support::require("puppet") {
        assert_eq!(puppet_lookup(&root, &args), (0, "\"n1.example\"\n".into()));
        // Puppet does not use the name of the node here.
        assert_eq!(
            puppet_lookup(&root, &[&args[..], &["--node", "other"]].concat()),
            (0, "\"n1.example\"\n".into())
        );
    }
}

#[test]
fn trap_41_no_output_reveals_a_sensitive_value() {
    let root = trap_repo("trap41");
    let facts = root.join("whole.json");
    let facts = facts.to_str().expect("scratch paths are UTF-8");
    for format in ["yaml", "json", "s"] {
        let (status, out, err) =
            at(&root, &["lookup", "s", "--facts", facts, "--render-as", format], "");
        assert!(
            status == 0
                && out.contains("Sensitive [value redacted]")
                && !format!("{out}{err}").contains("secret"),
            "{out}"
        );
    }
    if support::require("puppet") {
        let (status, out) = puppet_lookup(&root, &["s", "--facts", facts, "--render-as", "yaml"]);
        assert!(status == 0 && out.contains("value: secret"), "{out}");
    }
}

#[test]
fn the_config_that_a_setting_names_governs_every_command() {
    let live = "version: 5\ndefaults: {datadir: ../data, data_hash: yaml_data}\nhierarchy: [{name: Live, path: live.yaml}]\n";
    let root = repo(
        "cli-named-config",
        &[
            CONFIG,
            (".hiera-ls.yaml", "hieraConfig: conf/live.yaml\n"),
            ("conf/live.yaml", live),
            ("data/live.yaml", "motd: live\ntoken: \"%{lookup('nowhere')}\"\n"),
            ("data/common.yaml", "motd: common\n"),
        ],
    );
    for folder in [".", "data", "conf"] {
        let folder = root.join(folder);
        assert_eq!(at(&folder, &["lookup", "motd"], "").1, "live\n", "{}", folder.display());
        let (_, out, _) = at(&folder, &["check"], "");
        assert!(out.contains("[unknown-key]") && out.contains("live.yaml:2"), "{out}");
    }
}
