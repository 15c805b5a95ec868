//! `hiera-ls config`: the config that governs each environment, the reason, and the others.

use super::{at, repo};
use crate::support::{hiera_ls, json_lines, run};

const PRODUCTION: &str = "version: 5
defaults: {datadir: '/etc/puppetlabs/code/environments/%{environment}/hieradata', data_hash: yaml_data}
hierarchy:
- {name: Customer, path: 'customers/%{customer}.yaml'}
- {name: Vault, lookup_key: hiera_vault, uri: 'https://vault'}
- {name: Common, path: common.yaml}
";
const SAMPLE: &str = "version: 5
defaults: {datadir: ../hieradata, data_hash: yaml_data}
hierarchy:
- {name: Box, path: 'boxes/%{box}.yaml'}
- {name: Customer, path: 'customers/%{customer}.yaml'}
- {name: Common, path: common.yaml}
";
const FILES: [(&str, &str); 6] = [
    ("site/profile/files/hiera.yaml", PRODUCTION),
    ("site/profile/manifests/init.pp", "class profile {}\n"),
    ("vagrant/hiera.yaml", SAMPLE),
    ("hieradata/common.yaml", "a: 1\n"),
    ("hieradata/customers/acme.yaml", "a: 2\n"),
    ("hieradata/boxes/dev.yaml", "a: 3\n"),
];

#[test]
fn the_choice_is_printed_with_its_reason_and_the_line_that_changes_it() {
    let root = repo("cli-config", &FILES);
    let (status, out, err) = at(&root, &["config"], "");
    assert_eq!((status, err.as_str()), (0, ""));
    for line in [
        "site/profile/files/hiera.yaml governs 2 data files of this folder",
        "because the other configs belong to tests or examples",
        "vagrant/hiera.yaml: reads 2 of these files, and 1 more, belongs to tests or examples",
        "`hieraConfig: vagrant/hiera.yaml` in .hiera-ls.yaml chooses it",
        "Customer  yaml_data    1 file",
        "Common    yaml_data    1 file",
        "/etc/puppetlabs/code/environments/%{environment}/hieradata is hieradata (found by",
    ] {
        assert!(out.contains(line), "{line} is not in\n{out}");
    }
    assert!(out.contains("Vault     hiera_vault  "), "{out}");
    let (_, out, _) = at(&root, &["config", "--json"], "");
    let lines = json_lines("config", &out);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["config"], "site/profile/files/hiera.yaml");
    assert_eq!(lines[0]["others"][0]["hieraConfig"], "vagrant/hiera.yaml");
}

#[test]
fn the_line_that_is_printed_chooses_the_other_config() {
    let line = (".hiera-ls.yaml", "hieraConfig: vagrant/hiera.yaml\n");
    let root = repo("cli-config-chosen", &[&FILES[..], &[line]].concat());
    let (status, out, _) = at(&root, &["config"], "");
    assert_eq!(status, 0);
    assert!(
        out.starts_with("vagrant/hiera.yaml governs 3 data files of this folder\n  because the setting hieraConfig names it\n"),
        "{out}"
    );
    let (_, out, _) = at(&root, &["lookup", "a", "--environment", "production"], "");
    assert_eq!(out, "1\n");
}

#[test]
fn the_state_of_puppetdb_is_told() {
    let root = repo("cli-config-puppetdb", &FILES);
    let config = |arguments: &[&str]| {
        // Nothing listens at this port.
        let puppetdb = ["config", "--puppetdb", "http://127.0.0.1:9"];
        let mut command = hiera_ls([&puppetdb[..], arguments].concat());
        let run = run(command.current_dir(&root).env("XDG_CACHE_HOME", root.join("cache")), "");
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        run.stdout
    };
    let page = config(&[]);
    let (_, told) = page.split_once("\nPuppetDB at ").expect("a part about PuppetDB");
    assert!(told.starts_with("http://127.0.0.1:9\n  no answer of it is kept\n"), "{told}");
    let age = told
        .split_once("\n  the last request, ")
        .and_then(|(_, rest)| rest.split_once(" s ago, failed: "));
    assert!(age.is_some_and(|(age, _)| age.parse::<u8>().is_ok()), "{told}");
    let json = config(&["--json"]);
    let line = &json_lines("config", &json)[0]["puppetdb"];
    assert_eq!((&line["url"], &line["answer"]), (&"http://127.0.0.1:9".into(), &().into()));
    assert!(line["failure"]["reason"].is_string(), "{line}");
    let (_, plain, _) = at(&root, &["config"], "");
    assert!(!plain.contains("PuppetDB"), "{plain}");
}

#[test]
fn without_any_config_it_says_so() {
    let root = repo("cli-config-none", &[("a.txt", "")]);
    let (status, _, err) = at(&root, &["config"], "");
    assert_eq!(status, 2);
    assert!(err.contains("there is no hiera.yaml in "), "{err}");
}

#[test]
fn a_setting_that_describes_a_function_is_proposed_and_works() {
    let config = "version: 5
hierarchy:
- {name: Split, lookup_key: 't::expand', path: 'common'}
";
    let files = [
        ("hiera.yaml", config),
        ("data/common.yaml", "a: 1\n"),
        ("data/common/profile/web.yaml", "profile::web::port: 80\n"),
    ];
    let root = repo("cli-config-function", &files);
    let (_, out, _) = at(&root, &["config", "--json"], "");
    let lines = json_lines("config", &out);
    let proposed = lines[0]["levels"][0]["describedBy"].as_str().expect("a proposal");
    assert_eq!(
        proposed,
        "backends: {'t::expand': {files: ['%{path}.yaml', '%{path}/%{class}.yaml']}}"
    );
    let with =
        repo("cli-config-described", &[&files[..], &[(".hiera-ls.yaml", proposed)]].concat());
    assert_eq!(at(&with, &["lookup", "profile::web::port"], "").1, "80\n");
    assert_eq!(at(&with, &["lookup", "a"], "").1, "1\n");
    assert_eq!(at(&with, &["lookup", "other::web::port"], "").0, 1);
}
