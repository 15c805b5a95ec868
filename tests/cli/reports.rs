//! The layouts of `check` for people, and reports for other programs.

use std::fs;

use super::{CONFIG, at, repo};
use crate::support::{file_uri, hiera_ls, run};

const DATA: &str = "a: 1\na: 1\nx: {b: 1, b: 2}\nc::d:e: 1\n";

#[test]
fn layouts_for_people_have_the_same_findings() {
    let root = repo("cli-layouts", &[CONFIG, ("data/common.yaml", DATA)]);
    let check = |args: &[&str]| at(&root, &[&["check"], args].concat(), "").1;
    assert_eq!(check(&["--format", "full"]), check(&["--format", "human"]));
    assert_eq!(
        check(&["--format", "concise"]),
        "data/common.yaml:2:1: warning: duplicate key 'a' in this hash, with the same value [duplicate-key] [*]\n\
         data/common.yaml:3:11: error: duplicate key 'b' in this hash: Puppet keeps this value and silently loses the one before [duplicate-key]\n\
         data/common.yaml:4:1: warning: 'c::d:e' is not 'c::d::e': with one colon no class parameter asks for it [single-colon-key]\n\
         2 files checked: 1 error, 2 warnings\n\
         [*] 1 fixable with --fix; with --unsafe-fixes also 1 that changes values\n\
         hiera.yaml governs 1 data file; no nodes\n"
    );
    let grouped = check(&["--format", "grouped"]);
    assert!(grouped.starts_with("data/common.yaml\n  2:1: warning: duplicate key"), "{grouped}");
    assert_eq!(
        check(&["--statistics"]),
        "2  duplicate-key     [*]  a duplicate key in one hash\n\
         1  single-colon-key       a key with one colon where two belong\n\
         2 files checked: 1 error, 2 warnings\n"
    );
    assert_eq!(check(&["--show-files"]), "data/common.yaml\nhiera.yaml\n");
}

#[test]
fn colors_follow_the_argument_and_the_variables() {
    let root = repo("cli-colors", &[CONFIG, ("data/common.yaml", DATA)]);
    let is_colored = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = hiera_ls([&["check"], args].concat());
        command.current_dir(&root).env_remove("NO_COLOR").env_remove("FORCE_COLOR");
        command.envs(variables.iter().copied());
        run(&mut command, "").stdout.contains('\x1b')
    };
    assert!(!is_colored(&[], &[]), "a pipe is no terminal");
    assert!(is_colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(is_colored(&[], &[("FORCE_COLOR", "1")]));
    assert!(!is_colored(&[], &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]));
    assert!(!is_colored(&["--color", "never"], &[("FORCE_COLOR", "1")]));
    let output = at(&root, &["check", "--color", "always"], "").1;
    let file = fs::canonicalize(root.join("data/common.yaml")).unwrap();
    let address = format!("\x1b]8;;{}\x1b\\", file_uri(file));
    assert!(output.contains(&address), "{output:?}");
    assert!(!at(&root, &["check", "--color", "always", "--format", "json"], "").1.contains('\x1b'));
}

#[test]
fn checkstyle_has_a_file_with_its_errors() {
    let root = repo("cli-checkstyle", &[CONFIG, ("data/common.yaml", "'<&\"': {b: 1, b: 2}\n")]);
    let (status, out, _) = at(&root, &["check", "--format", "checkstyle"], "");
    assert_eq!(status, 1);
    assert_eq!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n  <file name=\"data/common.yaml\">\n    \
         <error line=\"1\" column=\"15\" severity=\"error\" message=\"duplicate key 'b' in this hash: Puppet keeps this value and silently loses the one before\" source=\"hiera-ls.duplicate-key\"/>\n  \
         </file>\n</checkstyle>\n"
    );
}

#[test]
fn presets_choose_the_rules() {
    let files = [
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: A, path: a.yaml}, {name: B, path: b.yaml}]\n",
        ),
        ("data/a.yaml", "k: 1\nc::d:e: 1\n"),
        ("data/b.yaml", "k: 1\n"),
    ];
    let root = repo("cli-presets", &files);
    let codes = |args: &[&str]| {
        let out = at(&root, &[&["check", "--format", "concise"], args].concat(), "").1;
        ["single-colon-key", "redundant-override"].map(|code| out.contains(code))
    };
    assert_eq!(codes(&[]), [true, false]);
    assert_eq!(codes(&["--preset", "minimal"]), [false, false]);
    assert_eq!(codes(&["--preset", "strict"]), [true, true]);
    fs::write(root.join(".hiera-ls.yaml"), "preset: strict\nrules: {single-colon-key: off}\n")
        .unwrap();
    assert_eq!(codes(&[]), [false, true]);
    assert_eq!(codes(&["--preset", "recommended"]), [false, false]);
}

#[test]
fn settings_in_force_have_their_places() {
    let settings = "preset: minimal\nrules:\n  unread-key: warning\n  nonsense: error\npuppet: {version: 7, strict: oops}\n";
    let own = "puppet:\n  version: 8\nrules: {unread-key: \"off\"}\n";
    let files = [
        (".hiera-ls.yaml", settings),
        ("environments/a/hiera.yaml", CONFIG.1),
        ("environments/a/data/common.yaml", "a: 1\n"),
        ("environments/b/hiera.yaml", CONFIG.1),
        ("environments/b/data/common.yaml", "a: 1\n"),
        ("environments/b/.hiera-ls.yaml", own),
    ];
    let root = repo("show-settings", &files);
    let (status, stdout, stderr) =
        at(&root, &["check", "--root", ".", "--show-settings", "--strict", "warning"], "");
    assert_eq!((status, &*stderr), (0, ""));
    let (a, b) = stdout.split_once("\nb (").expect("two environments");
    let row = |block: &str, name: &str| -> String {
        let mut rows = block.lines().filter_map(|line| line.trim_start().strip_prefix(name));
        rows.next().unwrap_or("no row").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(a.starts_with("a (environments/a)\n"), "{a}");
    for (block, name, expected) in [
        (a, "puppet.version ", ".hiera-ls.yaml:5 7"),
        (a, "puppet.strict ", "command line warning"),
        (a, "preset ", ".hiera-ls.yaml:1 minimal"),
        (a, "rules.unread-key ", ".hiera-ls.yaml:3 warning"),
        (a, "rules.nonsense ", "no row"),
        (a, "nodes.sources ", "default none"),
        (b, "puppet.version ", "environments/b/.hiera-ls.yaml:2 8"),
        (b, "rules.unread-key ", "environments/b/.hiera-ls.yaml:3 off"),
        (b, "preset ", ".hiera-ls.yaml:1 minimal"),
    ] {
        assert_eq!(row(block, name), expected, "{name}");
    }
}

#[test]
fn findings_are_grouped_by_cause_file_or_rule() {
    let data = "ntp::a: 1\nntp::b: 1\nntp::c: 1\nx: {b: 1, b: 2}\nx: {c: 1, c: 2}\n";
    let files = [
        CONFIG,
        ("data/common.yaml", data),
        ("Puppetfile", "mod 'puppetlabs/stdlib', '9.0.0'\n"),
        ("manifests/site.pp", "$x = lookup('x')\nclass nothing { }\n"),
    ];
    let root = repo("group-by", &files);
    let grouped = |by: &str| at(&root, &["check", "--group-by", by], "").1;
    let headings = |by: &str| -> Vec<String> {
        let out = grouped(by);
        let lines = out.lines().take_while(|line| !line.contains("files checked"));
        let is_heading = |line: &&str| !line.is_empty() && !line.starts_with(' ');
        lines.filter(is_heading).map(str::to_owned).collect()
    };
    let module = "the module 'ntp' is neither in the workspace nor in a Puppetfile";
    assert_eq!(headings("file")[0], "data/common.yaml");
    let by_rule = headings("rule");
    assert!(by_rule[0].starts_with("duplicate-key: "), "{by_rule:?}");
    let by_cause = headings("cause");
    assert!(by_cause.iter().any(|heading| heading == module), "{by_cause:?}");
    let out = grouped("cause");
    for key in ["ntp::a", "ntp::b", "ntp::c"] {
        assert!(out.contains(&format!("nothing here reads '{key}'")), "{out}");
    }
    assert!(!out.contains("3 keys, the first in"), "{out}");
    assert!(grouped("rule").contains("3 keys, the first in data/common.yaml:1"));
    assert!(out.contains("  data/common.yaml:1:1: "), "{out}");
}
