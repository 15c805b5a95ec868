//! Output that a repository or the system turns against the reader: control characters of a
//! terminal in every name, a disk without room, and little memory.

use super::{at, repo};

/// Sets the title, clears the screen, colours the text behind it, moves the cursor up.
const ATTACK: &str = "x\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[31m\u{1b}[5A\u{9b}2J\u{202e}y";

/// The hostile text in YAML.
const QUOTED: &str = r#""x\e]0;title\a\e[2J\e[31m\e[5A\x9b2J\u202ey""#;

/// Wider than every line.
const COLUMNS: u16 = 1_000;

/// Feeds a terminal, and checks that it shows every line where it belongs and obeyed nothing.
#[track_caller]
fn check_shown(what: &str, output: &str) {
    assert!(output.contains(r"\u{1b}[31m"), "{what} has the hostile name: {output}");
    let rows = u16::try_from(output.lines().count() + 2).expect("few lines");
    let size = |count| std::num::NonZero::new(count).expect("not zero");
    let mut terminal = vt100::Parser::new(size(rows), size(COLUMNS), 0);
    terminal.process(output.replace('\n', "\r\n").as_bytes());
    let screen = terminal.screen();
    let shown: Vec<String> = screen.rows(0, COLUMNS).collect();
    let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
    assert_eq!(shown[..lines.len()], lines, "{what}");
    assert_eq!(screen.fgcolor(), vt100::Color::Default, "{what}");
    let hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!output.contains(hidden), "{what}: {output:?}");
}

#[test]
fn terminals_show_hostile_names_and_obey_none() {
    let config = format!(
        "version: 5\nhierarchy: [{{name: {QUOTED}, path: common.yaml}}, {{name: G, glob: '*.yaml'}}]\n"
    );
    let data = format!("{QUOTED}: 1\n{QUOTED}: 2\nunused: {QUOTED}\n");
    let bad_name = format!("data/{ATTACK}.yaml");
    let good = [("hiera.yaml", &*config), ("data/common.yaml", &*data)];
    let root = repo("cli-hostile", &[good[0], good[1], (&bad_name, "a: [\n")]);
    let readable = repo("cli-hostile-readable", &good);
    for format in ["human", "github"] {
        let (status, out, _) = at(&root, &["check", "--format", format], "");
        assert_eq!(status, 1, "{out}");
        check_shown(format, &out);
    }
    let (_, out, _) = at(&readable, &["lookup", "--explain", "unused"], "");
    check_shown("explain", &out);
    let (_, _, err) = at(&root, &["lookup", "nowhere"], "");
    check_shown("stderr", &err);
    let (_, _, err) = at(&root, &["check", ATTACK], "");
    check_shown("stderr of check", &err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_with_a_word() {
    use std::process::{Command, Stdio};
    let root = crate::support::in_package("tests/control-repo");
    let formats = ["human", "json", "jsonl", "github", "sarif", "gitlab", "junit", "rdjson"];
    let checks = formats.map(|format| format!("check --select unknown-key --format {format} ."));
    let others = [
        "lookup company",
        "lookup company --render-as json",
        "lookup company --render-as s",
        "lookup company --explain",
        "rules",
        "rules syntax-error",
        "man",
        "completions bash",
        "--help",
        "--version",
        "check --help",
    ];
    for arguments in checks.iter().map(String::as_str).chain(others) {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
        let run = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .args(arguments.split(' '))
            .current_dir(&root)
            .stdout(Stdio::from(full))
            .output()
            .expect("it starts");
        let words = String::from_utf8(run.stderr).expect("words are UTF-8");
        let is_empty_report = arguments.contains("jsonl") || arguments.contains("github");
        if is_empty_report && words.is_empty() && run.status.success() {
            continue; // Nothing was found, and nothing to be written.
        }
        assert_eq!(run.status.code(), Some(2), "{arguments}: {words}");
        assert!(words.starts_with("hiera-ls: ") && words.contains("space"), "{arguments}: {words}");
    }
}

/// 400,000 KiB hold the stacks of the threads and some 100 MB.
#[cfg(target_os = "linux")]
#[test]
fn a_glob_of_many_long_alternatives_takes_little_memory() {
    let glob = format!("{}{}*.yaml", "{a,b}".repeat(12), "x".repeat(1_500));
    let config = format!(
        "version: 5\nhierarchy: [{{name: G, glob: '{glob}'}}, {{name: C, path: common.yaml}}]\n"
    );
    let root = repo("cli-glob-memory", &[("hiera.yaml", &config), ("data/common.yaml", "k: 1\n")]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -d 400000; exec \"$0\" lookup k"]);
    limited.arg(env!("CARGO_BIN_EXE_hiera-ls")).current_dir(root);
    let output = crate::support::run(&mut limited, "");
    assert_eq!((output.status, &*output.stdout), (Some(0), "1\n"), "{}", output.stderr);
}

#[cfg(unix)]
#[test]
fn a_settings_file_that_is_a_link_out_of_the_repository_is_not_read() {
    let files = [("hiera.yaml", "version: 5\n"), ("data/common.yaml", "a: 1\n")];
    let root = repo("cli-settings-link", &files);
    let outside = repo("cli-settings-link-outside", &[("secret.yaml", "hidden_name: 1\n")]);
    std::os::unix::fs::symlink(outside.join("secret.yaml"), root.join(".hiera-ls.yaml"))
        .expect("a link");
    let (_, out, err) = at(&root, &["check"], "");
    assert!(err.contains("leads out of its folder") && !err.contains("hidden_name"), "{out}{err}");
}
