//! `diff --puppet-version 7..9`: an upgrade of Puppet rehearsed on one tree.
//! `tests/puppet/rehearsals` compares the answers.

use std::path::PathBuf;

use super::{at, repo};
use crate::diff::{commit, git};
use crate::support::require;

const CONFIG: &str = "version: 5
hierarchy:
- {name: OS, path: 'os/%{facts.osfamily}.yaml'}
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Common, path: common.yaml}
";
const FLEET: &str = r#"{"facts":{"osfamily":"Debian","os":{"family":"Debian"}},"osfamily":"Debian","trusted":{"certname":"web-01"},"role":"web"}
{"facts":{"osfamily":"Debian"},"osfamily":"Debian","trusted":{"certname":"web-02"},"role":"web"}
{"facts":{"osfamily":"RedHat"},"osfamily":"RedHat","trusted":{"certname":"db-01"},"role":"db"}
"#;
const COMMON: &str = "package: none
plain: 1
legacy: \"on %{osfamily}\"
undefined: \"x %{nope} y\"
asks: \"%{lookup('undefined')}\"
db_password: \"%{osfamily} hunter2\"
";

fn fleet(name: &str, settings: &str) -> PathBuf {
    repo(
        name,
        &[
            ("hiera.yaml", CONFIG),
            (".hiera-ls.yaml", &format!("nodes: {{sources: [fleet.jsonl]}}\n{settings}")),
            ("fleet.jsonl", FLEET),
            ("data/common.yaml", COMMON),
            ("data/os/Debian.yaml", "package: apt\n"),
            ("data/os/RedHat.yaml", "repository: \"https://x/%{::osfamily}\"\n"),
            ("data/roles/db.yaml", "- no hash\n"),
            ("data/roles/web.yaml", "port: 80\n"),
        ],
    )
}

#[test]
fn an_upgrade_names_the_cause_and_the_fix_of_each_change() {
    let root = fleet("upgrade", "");
    let (status, out, err) = at(&root, &["diff", "--puppet-version", "7..8"], "");
    let expected = "Effective changes from Puppet 7 to Puppet 8 (the working tree), for 3 nodes, from fleet.jsonl
  ! now fails   - no value any more   ~ other value   + new value   ? unknown variables decide

data/common.yaml:3  'osfamily' is gone, 'facts.os.family' has its value (rule legacy-fact: check --fix --unsafe-fixes)
  ! legacy  on Debian (data/common.yaml:3) -> the lookup fails: Undefined variable 'osfamily';     2 nodes: web-[01,02]

data/common.yaml:6  'osfamily' is gone, 'facts.os.family' has its value (rule legacy-fact: check --fix --unsafe-fixes)
  ! db_password  (hidden) (data/common.yaml:6) -> the lookup fails    2 nodes: web-[01,02]

data/common.yaml:4  variable 'nope' is undefined, which fails with strict=error: define it, or set strict=warning
  ! asks  x  y (data/common.yaml:5) -> the lookup fails: Undefined variable 'nope';     2 nodes: web-[01,02]
  ! undefined  x  y (data/common.yaml:4) -> the lookup fails: Undefined variable 'nope';     the same 2

data/roles/db.yaml  the file is refused (rule not-a-hash)
";
    assert_eq!((status, err.as_str()), (1, ""));
    assert!(out.starts_with(expected), "{out}");
    let level = "hiera.yaml:3  level 'OS': 'facts.osfamily' is gone, 'facts.os.family' has its value (code action 'Use structured facts')
  ~ package  apt (data/os/Debian.yaml:1) -> none    2 nodes: web-[01,02]
";
    assert!(out.contains(level), "{out}");
    for format in ["human", "markdown", "json", "github", "html"] {
        let arguments = ["diff", "--puppet-version", "7..9", "--format", format];
        let (status, out, _) = at(&root, &arguments, "");
        assert_eq!(status, 1, "{format}");
        assert!(out.contains("legacy-fact") && !out.contains("hunter2"), "{format}: {out}");
    }
}

#[test]
fn a_level_that_falls_silent_without_the_key_is_no_cause() {
    let config = CONFIG
        .replace("- {name: OS", "- {name: Host, path: 'host/%{facts.hostname}.yaml'}\n- {name: OS");
    let node = |name: &str| {
        format!(
            "{{\"facts\":{{\"osfamily\":\"Debian\",\"hostname\":\"{name}\"}},\"trusted\":{{\"certname\":\"{name}\"}},\"role\":\"web\"}}\n"
        )
    };
    let root = repo(
        "upgrade-silent",
        &[
            ("hiera.yaml", &config),
            (".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n"),
            ("fleet.jsonl", &["a", "b", "c"].map(node).concat()),
            ("data/host/a.yaml", "motd: a\n"),
            ("data/host/c.yaml", "package: own\nmotd: c\n"),
            ("data/os/Debian.yaml", "package: apt\n"),
            ("data/common.yaml", "package: none\nmotd: all\n"),
        ],
    );
    let (status, out, err) = at(&root, &["diff", "--puppet-version", "7..8"], "");
    assert_eq!((status, err.as_str()), (1, ""));
    // The nodes `a` and `b` have one answer before, and all three nodes have one answer after. Node
    // `a` has a file of its own without the key, which says nothing about node `b`.
    let expected = "
hiera.yaml:3  level 'Host': 'facts.hostname' is gone, 'facts.networking.hostname' has its value (code action 'Use structured facts')
  ~ motd    2 nodes: a, c
      a (data/host/a.yaml:1) -> all    1 node: a
      c (data/host/c.yaml:2) -> all    1 node: c
  ~ package  own (data/host/c.yaml:1) -> none    1 node: c

hiera.yaml:4  level 'OS': 'facts.osfamily' is gone, 'facts.os.family' has its value (code action 'Use structured facts')
  ~ package  apt (data/os/Debian.yaml:1) -> none    2 nodes: a, b
";
    assert!(out.contains(expected), "{out}");
}

#[test]
fn settings_keep_legacy_facts_and_strict_after_an_upgrade() {
    let kept = fleet("upgrade-kept", "puppet: {includeLegacyFacts: true, strict: warning}\n");
    let arguments = ["diff", "--puppet-version", "7..8"];
    let (status, out, _) = at(&kept, &arguments, "");
    assert!(status == 0 && out.contains("0 keys change on 0 of 3 nodes"), "{out}");
    let left_out = fleet("upgrade-left-out", "puppet: {includeLegacyFacts: false}\n");
    let (_, out, _) = at(&left_out, &["lookup", "package", "--node", "web-01"], "");
    assert_eq!(out, "none\n", "every command leaves them out");
    let (_, out, _) = at(&left_out, &arguments, "");
    assert!(!out.contains("level 'OS'"), "they are gone before: {out}");
}

#[test]
fn an_upgrade_is_of_one_tree() {
    if !require("git") {
        return;
    }
    let root = fleet("upgrade-tree", "");
    git(&root, &["init", "-q", "-b", "main"]);
    commit(&root, "first");
    std::fs::write(root.join("data/common.yaml"), "plain: 1\n").expect("it can be written");
    let refused = "--puppet-version 7..8 compares one tree under two versions of Puppet, not two revisions: name the tree with --head";
    for more in [&["--base", "HEAD"][..], &["HEAD"], &["HEAD..HEAD"]] {
        let arguments = [&["diff", "--puppet-version", "7..8"], more].concat();
        let (status, _, err) = at(&root, &arguments, "");
        assert!(status == 2 && err.contains(refused), "{arguments:?}: {err}");
    }
    let (_, out, _) = at(&root, &["diff", "--puppet-version", "7..8"], "");
    assert!(!out.contains("! legacy"), "{out}");
    let (_, out, _) = at(&root, &["diff", "--puppet-version", "7..8", "--head", "HEAD"], "");
    assert!(out.contains("to Puppet 8 (HEAD), for 3 nodes") && out.contains("! legacy"), "{out}");
    for versions in ["8..8", "6..8", "7..", "7..8..9"] {
        assert_eq!(at(&root, &["diff", "--puppet-version", versions], "").0, 2, "{versions}");
    }
    assert_eq!(at(&root, &["check", "--puppet-version", "7..8"], "").0, 2, "of one version");
}

#[test]
fn an_upgrade_names_settings_that_die() {
    let root = repo(
        "upgrade-settings",
        &[
            ("environment.conf", "environment_data_provider = hiera\n"),
            ("data/common.yaml", "k: 1\n"),
            ("fleet.jsonl", FLEET),
            (".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n"),
            ("modules/m/hiera.yaml", ":backends: [yaml]\n"),
            ("modules/m/data/common.yaml", "m::k: 1\n"),
            ("modules/broken/metadata.json", "no JSON"),
            ("modules/short/metadata.json", "{\"name\": \"x-short\"}"),
        ],
    );
    let (_, out, _) = at(&root, &["diff", "--puppet-version", "8..9"], "");
    assert!(out.contains("environment.conf  environment_data_provider = hiera is ignored: a hiera.yaml of version 5 takes its place\n  - k  1 (data/common.yaml:1) -> not found    all 3 nodes\n"), "{out}");
    let (_, out, _) = at(&root, &["diff", "--puppet-version", "7..8"], "");
    assert!(out.contains("modules/m/hiera.yaml:1  hiera.yaml version 3 cannot be used in a module (code action 'Convert to version 5 of hiera.yaml')\n  nothing changes: each node"), "{out}");
    assert!(out.contains("the module 'broken' is passed over (rule refused-module)"), "{out}");
    assert!(!out.contains("'short'"), "Puppet 7 passes over it, too: {out}");
}
